"""The group coordinator of a node: the shards of `__consumer_offsets` that it leads.

What it shares with the transaction coordinator is in `coordinator`; here is what groups need besides: the
view of topics, which follows the metadata image, a group's own settings, and the expiry of offsets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ottla.broker.coordinator import Coordinator, answer
from ottla.broker.group_host import GroupHost
from ottla.broker.group_topics import ImageTopics
from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.groups.environment import Environment
from ottla.groups.group import Client
from ottla.groups.shard import Shard
from ottla.log.turn import Turn
from ottla.metadata.image import GROUP_RESOURCE, ImageDelta, MetadataImage
from ottla.model.config import GROUP_KEYS
from ottla.model.errors import KafkaError
from ottla.model.types import CONSUMER_OFFSETS_TOPIC
from ottla.ports.effects import Sleep, Steps
from ottla.replication.partition import Partition

if TYPE_CHECKING:
    from ottla.broker.context import RequestContext
    from ottla.broker.node import Node

R = TypeVar("R")


class GroupCoordinator(Coordinator[GroupHost]):
    topic = CONSUMER_OFFSETS_TOPIC
    what = "groups"

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self._env = Environment(
            node.clock, node.chance, ImageTopics(node.image), node.settings.groups, self._group_config
        )
        self._env.metadata_bytes = lambda: sum(
            each.shard.state.metadata.size_bytes for each in self.hosts.values()
        )

    def make_host(self, partition: Partition) -> GroupHost:
        return GroupHost(self._node, self._env, partition, self._jobs, self._host_failed)

    def start(self) -> None:
        super().start()
        self._node.driver.spawn(self._expire_offsets(), "offset expiry")

    # --- what the node tells ------------------------------------------------------------------------------

    def take_settings(self) -> None:
        self._env.settings = self._node.settings.groups

    def take_first_image(self, image: MetadataImage) -> None:
        """What the metadata log says at start; the shards are not there yet."""
        self._env.topics = ImageTopics(image)

    def take_image(self, image: MetadataImage, delta: ImageDelta) -> Steps[None]:
        """Groups hear of topics that came, changed or went, one shard in a turn where offsets have to go."""
        if not (delta.created_topics or delta.changed_topics or delta.deleted_topics):
            return
        self._env.topics = ImageTopics(image)
        deleted = [(name, topic_id) for topic_id, name in delta.deleted_topics.items()]
        for index in list(self.hosts):
            host = self.hosts.get(index)  # another one, perhaps, after a rest
            if host is None:
                continue
            before = host.last_offset
            host.topics_changed(deleted)
            if host.last_offset != before:
                yield Sleep(0)

    def _group_config(self, group_id: str, name: str) -> int | None:
        text = self._node.image.config(GROUP_RESOURCE, group_id).get(name)
        if text is None:
            return None
        value = GROUP_KEYS[name].parse(text)
        assert isinstance(value, int), name
        return value

    # --- what handlers ask --------------------------------------------------------------------------------

    def submit(
        self,
        ctx: RequestContext,
        group_id: str,
        decision: Callable[[Shard, Client, Promise[R]], Outcome],
        refusal: Callable[[KafkaError], R],
    ) -> R | Steps[R]:
        """The response to a request about one group: at once where that is possible, else as steps."""
        promise = self._promised(ctx, group_id, decision, refusal)
        return promise.kept() if promise.done else answer(ctx, promise)

    def ask(
        self,
        ctx: RequestContext,
        group_id: str,
        decision: Callable[[Shard, Client, Promise[R]], Outcome],
        refusal: Callable[[KafkaError], R],
    ) -> Steps[R]:
        """As `submit`, for a handler that asks more than once and so consists of steps itself."""
        promise = self._promised(ctx, group_id, decision, refusal)
        if not promise.done:
            return (yield from answer(ctx, promise))
        return promise.kept()

    def _promised(
        self,
        ctx: RequestContext,
        group_id: str,
        decision: Callable[[Shard, Client, Promise[R]], Outcome],
        refusal: Callable[[KafkaError], R],
    ) -> Promise[R]:
        client = Client(ctx.client_id or "", f"/{ctx.peer.peer_host}", ctx.version)
        return self.promised(
            group_id,
            lambda host, promise: host.decide(lambda shard: decision(shard, client, promise)),
            refusal,
        )

    # --- time ---------------------------------------------------------------------------------------------

    def _expire_offsets(self) -> Steps[None]:
        turn = Turn(self._node.clock)
        while not self._stopping:
            yield Sleep(self._env.settings.offsets_retention_check_interval_ms)
            for host in list(self.hosts.values()):
                more = not host.loading
                while more and not host.over:
                    if turn.over():
                        yield turn.rest()
                    more = self._expire_some(host)

    def _expire_some(self, host: GroupHost) -> bool:
        more = False

        def decision(shard: Shard) -> Outcome:
            nonlocal more
            outcome, more = shard.offsets.expire()
            return outcome

        host.decide_alone(decision)
        return more
