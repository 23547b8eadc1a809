"""The group coordinator of a node: which shard a group belongs to, and everything that moves the shards.

A group's records are in one partition of `__consumer_offsets`, chosen by a hash of its id; whoever leads that
partition coordinates the group. The node tells the coordinator of partitions that it begins and ceases to
lead and of every new metadata image; handlers come with `submit`. One background task serves the timers of
all shards, another expires offsets.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from math import inf
from typing import TYPE_CHECKING, TypeVar

from ottla.broker.group_host import LOAD_FAILURES, ShardHost
from ottla.broker.group_jobs import GroupJobs
from ottla.broker.group_topics import ImageTopics
from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.groups.environment import Environment
from ottla.groups.group import Client
from ottla.groups.partitioner import partition_of_group
from ottla.groups.shard import Shard
from ottla.log.turn import Turn
from ottla.metadata.image import GROUP_RESOURCE, ImageDelta, MetadataImage
from ottla.model.config import GROUP_KEYS
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.types import CONSUMER_OFFSETS_TOPIC
from ottla.ports.effects import Sleep, Steps, Waiter
from ottla.replication.partition import Partition

if TYPE_CHECKING:
    from ottla.broker.context import RequestContext
    from ottla.broker.node import Node

logger = logging.getLogger(__name__)

R = TypeVar("R")

RELOAD_MS_MIN = 50.0
RELOAD_MS_MAX = 10_000.0
"""Between loadings of a shard that is given up again and again: a full disk, or a bug in every load."""
RELOAD_FORGOTTEN_MS = 60_000.0
FAULTS_MAX = 100


class GroupCoordinator:
    def __init__(self, node: Node) -> None:
        self.hosts: dict[int, ShardHost] = {}
        """By partition of `__consumer_offsets`, what is led here."""
        self.faults: list[BaseException] = []
        """Bugs of ours that cost a shard its soft state; there should be none."""
        self._node = node
        self._env = Environment(
            node.clock, node.chance, ImageTopics(node.image), node.settings.groups, self._group_config
        )
        self._env.metadata_bytes = lambda: sum(
            each.shard.state.metadata.size_bytes for each in self.hosts.values()
        )
        self._jobs = GroupJobs(node.driver, node.clock)
        self._timer: Waiter | None = None
        self._stopping = False
        self._given_up: dict[int, tuple[float, float]] = {}
        """By partition, when its shard was last given up, and how long loading waits if it is again."""

    def start(self) -> None:
        self._node.driver.spawn(self._run_timers(), "group timers")
        self._node.driver.spawn(self._expire_offsets(), "offset expiry")

    def stop(self) -> None:
        """Tells everybody who waits, so that the connections can drain."""
        self._stopping = True
        for host in self.hosts.values():
            host.close()
        self.hosts.clear()

    # --- what the node tells ------------------------------------------------------------------------------

    def leads(self, partition: Partition) -> None:
        """This node leads the partition. An epoch that goes on changes nothing; any other loads anew."""
        index = partition.tp.partition
        host = self.hosts.get(index)
        if host is not None:
            if host.partition is partition and host.leader_epoch == partition.leader_epoch:
                return
            host.close()
        self._load(partition)

    def leads_no_more(self, index: int) -> None:
        host = self.hosts.pop(index, None)
        if host is not None:
            host.close()

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

    # --- shards -------------------------------------------------------------------------------------------

    def _load(self, partition: Partition, delay_ms: float = 0.0) -> None:
        if self._stopping:
            return
        host = ShardHost(self._node, self._env, partition, self._jobs, self._host_failed)
        host.shard.timers.on_earlier = self._earlier
        self.hosts[partition.tp.partition] = host
        if not delay_ms and partition.log.log_start_offset == partition.log.log_end_offset:
            host.loading = False  # nothing to load: most shards, most of the time
        else:
            self._node.driver.spawn(self._loading(host, delay_ms), f"loading of {partition.tp}")

    def _loading(self, host: ShardHost, delay_ms: float) -> Steps[None]:
        if delay_ms:
            yield Sleep(delay_ms)
        try:
            yield from host.load()
        except LOAD_FAILURES as error:
            logger.error("%s cannot be loaded; its groups are not served: %s", host.partition.tp, error)
            if self.hosts.get(host.partition.tp.partition) is host:
                self.leads_no_more(host.partition.tp.partition)
            if isinstance(error, OSError):
                self._node.read_failed(host.partition, error)

    def _host_failed(self, host: ShardHost, error: BaseException | None) -> None:
        if error is not None:
            logger.error("%s: a group decision failed", host.partition.tp, exc_info=error)
            if len(self.faults) < FAULTS_MAX:
                self.faults.append(error)
        if self.hosts.get(host.partition.tp.partition) is host:
            del self.hosts[host.partition.tp.partition]
            if host.partition.is_leader and not host.partition.deleted:
                self._load(host.partition, self._reload_delay_ms(host.partition.tp.partition))

    def _reload_delay_ms(self, index: int) -> float:
        """None the first time, longer and longer when it happens again soon."""
        now_ms = self._node.clock.monotonic_ms()
        last_ms, next_ms = self._given_up.get(index, (-inf, 0.0))
        delay_ms = 0.0 if now_ms - last_ms > RELOAD_FORGOTTEN_MS else next_ms
        self._given_up[index] = now_ms, min(max(delay_ms * 2, RELOAD_MS_MIN), RELOAD_MS_MAX)
        return delay_ms

    def partition_of(self, group_id: str) -> int:
        """The partition of `__consumer_offsets` that a group's records are in."""
        topic = self._node.image.topics.get(CONSUMER_OFFSETS_TOPIC)
        if topic is None:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        return partition_of_group(group_id, len(topic.partitions))

    def host_of(self, group_id: str) -> ShardHost:
        """Raises the KafkaError that a client retries after looking for the coordinator."""
        host = self.hosts.get(self.partition_of(group_id))
        if host is None:
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        if host.loading:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return host

    def hosts_in_order(self) -> Iterator[ShardHost]:
        """Every shard led here; raises COORDINATOR_LOAD_IN_PROGRESS when one is not there yet."""
        for index in sorted(self.hosts):
            host = self.hosts[index]
            if host.loading:
                raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
            yield host

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
        return promise.kept() if promise.done else _answer(ctx, promise)

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
            return (yield from _answer(ctx, promise))
        return promise.kept()

    def _promised(
        self,
        ctx: RequestContext,
        group_id: str,
        decision: Callable[[Shard, Client, Promise[R]], Outcome],
        refusal: Callable[[KafkaError], R],
    ) -> Promise[R]:
        promise = Promise(refusal)
        client = Client(ctx.client_id or "", f"/{ctx.peer.peer_host}", ctx.version)
        try:
            self.host_of(group_id).decide(lambda shard: decision(shard, client, promise))
        except KafkaError as error:
            promise.refuse(error)
        return promise

    # --- time ---------------------------------------------------------------------------------------------

    def _earlier(self, deadline_ms: float) -> None:
        timer = self._timer
        if timer is not None and deadline_ms < timer.deadline_ms:
            timer.fire()

    def _run_timers(self) -> Steps[None]:
        clock = self._node.clock
        turn = Turn(clock)
        while not self._stopping:
            deadline_ms = min(
                (each.shard.timers.next_deadline_ms() for each in self.hosts.values()), default=inf
            )
            if deadline_ms > clock.monotonic_ms():
                self._timer = Waiter(deadline_ms)
                yield self._timer
                self._timer = None
                turn.begin()
            now_ms = clock.monotonic_ms()
            for host in list(self.hosts.values()):
                while not host.over and host.run_due(now_ms):
                    if turn.over():
                        yield turn.rest()

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

    def _expire_some(self, host: ShardHost) -> bool:
        more = False

        def decision(shard: Shard) -> Outcome:
            nonlocal more
            outcome, more = shard.offsets.expire()
            return outcome

        host.decide_alone(decision)
        return more


def _answer(ctx: RequestContext, promise: Promise[R]) -> Steps[R]:
    waiter = Waiter(inf)
    promise.on_done = waiter.fire
    if promise.done:
        waiter.fire()
    ctx.peer.add_waiter(waiter)
    yield waiter
    ctx.peer.discard_waiter(waiter)
    promise.on_done = None
    if not promise.done:
        # The connection is gone, and nobody reads this: the member's fate is its session's.
        return promise.refusal(KafkaError(ErrorCode.NOT_COORDINATOR))
    return promise.kept()
