"""The partitions of this node, kept as the metadata image says: which have a log here, and in which role.

The quorum publishes an image; `apply` then removes what was deleted, gives every new partition of this node
its log, makes the names durable, and only then hands out roles, so that nobody writes to a log which a crash
could take away. It works a slice at a time: an image may change ten thousand partitions at once.

A leader of other replicas minds their progress (`replication/`) and proposes changes of the in-sync set
(`isr_changes.py`); a follower copies (`replica_fetcher.py`). A replica that a reassignment has taken away is
removed with its log.

A directory that fails takes its partitions with it, and the others serve on.
"""

from __future__ import annotations

import logging
import os.path
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ottla.broker.directory_reports import DirectoryReports
from ottla.broker.fetch_sessions import HighWatermarkNews
from ottla.broker.isr_changes import IsrChanges
from ottla.broker.replica_fetcher import ReplicaFetchers
from ottla.log.log_dir import LogDir
from ottla.log.turn import Turn
from ottla.metadata.image import ImageDelta, MetadataImage, PartitionState, TopicImage
from ottla.model.errors import KafkaError
from ottla.model.log_config import LONG_MAX
from ottla.model.types import TopicPartition
from ottla.ports.effects import Steps, Waiter, run_now
from ottla.replication.isr import InSync
from ottla.replication.partition import Partition
from ottla.replication.throttle import Throttle, is_listed

if TYPE_CHECKING:
    from ottla.broker.node import Node

logger = logging.getLogger(__name__)


class _Change(NamedTuple):
    """A partition with its new state, and whether it is new on this node."""

    topic: TopicImage
    partition_id: int
    state: PartitionState
    is_new: bool


class Replicas:
    """`node.replicas`. Handlers find partitions in `by_name` and `by_id`, which the node shows as its own."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.by_name: dict[tuple[str, int], Partition] = {}
        self.by_id: dict[tuple[bytes, int], Partition] = {}
        self.isr_changes = IsrChanges(node)
        self.directory_reports = DirectoryReports(node)
        self.fetchers = ReplicaFetchers(node)
        self.high_watermark_news = HighWatermarkNews(node.driver)
        self.in_sync = InSync(
            node.clock,
            lag_max_ms=float("inf"),
            may_join=self._may_join,
            propose=self.isr_changes.propose,
        )
        self._lag_waiter: Waiter | None = None
        self.leader_throttle: Throttle | None = None
        self.follower_throttle: Throttle | None = None
        self._stopped = False

    def _may_join(self, node_id: int, broker_epoch: int) -> bool:
        """Whether the controller would let a replica into an in-sync set."""
        broker = self._node.image.brokers.get(node_id)
        return broker is not None and broker.active and broker.epoch == broker_epoch

    def take_settings(self) -> None:
        settings = self._node.settings.replication
        self.in_sync.lag_max_ms = settings.lag_max_ms
        self.in_sync.holds_below_min_isr = settings.holds_below_min_isr
        self.leader_throttle = _throttle(self.leader_throttle, settings.leader_bytes_per_s)
        self.follower_throttle = _throttle(self.follower_throttle, settings.follower_bytes_per_s)
        self.fetchers.settings_changed()

    def is_throttled(self, side: str, tp: TopicPartition, node_id: int) -> bool:
        """Whether a topic's list names a node's replica; `side` is `leader` or `follower`."""
        listed = self._node.config.topic_value(tp.topic, f"{side}.replication.throttled.replicas")
        return isinstance(listed, tuple) and is_listed(listed, tp.partition, node_id)

    def start(self) -> None:
        self._node.driver.spawn(self._check_lag(), "check of lagging replicas")

    def stop(self) -> None:
        """Ends what copies and what proposes, before the logs are closed."""
        self._stopped = True
        self.fetchers.stop()
        self.isr_changes.stop()
        self.directory_reports.stop()
        if self._lag_waiter is not None:
            self._lag_waiter.fire()

    def _check_lag(self) -> Steps[None]:
        clock = self._node.clock
        while not self._stopped:
            waiter = self._lag_waiter = Waiter(clock.monotonic_ms() + self.in_sync.lag_max_ms / 2)
            yield waiter
            if not self._stopped:
                self.in_sync.check_lag()

    # --- the start ----------------------------------------------------------------------------------------

    def take_all(self) -> None:
        """Every partition of the image that is this node's gets its log and its role; other logs are set
        aside.
        """
        node = self._node
        node.logs.set_aside_strays(self.is_wanted)
        for topic in node.image.topics_by_id.values():
            for index, state in topic.partitions.items():
                self._make(topic, index, state, is_new=False)
                self._give_role(topic, index, state)
        run_now(node.logs.sync_names_steps())

    def is_wanted(self, tp: TopicPartition, topic_id: bytes | None) -> bool:
        """Whether a log that was found belongs to a topic that is there."""
        image = self._node.image
        topic = image.topics.get(tp.topic) if topic_id is None else image.topics_by_id.get(topic_id)
        if topic is None or topic.name != tp.topic:
            return False
        state = topic.partitions.get(tp.partition)
        return state is not None and self._node.node_id in state.replicas

    # --- a new image --------------------------------------------------------------------------------------

    def apply(self, image: MetadataImage, delta: ImageDelta) -> Steps[None]:
        """Makes the partitions that changed match the new image: first those that this node leads no more,
        since their clients wait for its word to go elsewhere; then those that it leads.
        """
        node = self._node
        turn = Turn(node.clock, fair=True)
        for topic_id, name in delta.deleted_topics.items():
            for index in delta.before.topics_by_id[topic_id].partitions:
                if turn.over():
                    yield turn.rest()
                self.remove(topic_id, name, index)
        if delta.deleted_topics:
            yield from node.logs.sync_names_steps()
            turn.begin()
        lost: list[_Change] = []
        led: list[_Change] = []
        followed: list[_Change] = []
        for change in self._changes(image, delta):
            if change.state.leader == node.node_id:
                led.append(change)
            else:
                partition = self.by_id.get((change.topic.topic_id, change.partition_id))
                (lost if partition is not None and partition.is_leader else followed).append(change)
        for topic, index, state, _ in lost:
            if turn.over():
                yield turn.rest()
            if node.node_id in state.replicas:
                self._give_role(topic, index, state)
        for topic, index, state, is_new in (*lost, *led, *followed):
            if turn.over():
                yield turn.rest()
            if node.node_id in state.replicas:
                self._make(topic, index, state, is_new=is_new)
            else:
                self.remove(topic.topic_id, topic.name, index)  # reassigned to others
        # Nobody may write before the names are durable: a flush vouches for a log's bytes, not for the name
        # under which the next start finds them.
        yield from node.logs.sync_names_steps()
        turn.begin()
        for topic, index, state, _ in (*led, *followed):
            if turn.over():
                yield turn.rest()
            self._give_role(topic, index, state)
        if delta.changed_brokers:
            yield from self._brokers_changed(turn)

    def _changes(self, image: MetadataImage, delta: ImageDelta) -> Iterator[_Change]:
        """The partitions that are not what they were."""
        node_id = self._node.node_id
        # In an order that does not change from run to run: a seed of the simulator has to tell one story.
        for topic_id in (*sorted(delta.created_topics), *sorted(delta.changed_topics)):
            topic = image.topics_by_id[topic_id]
            before = delta.before.topics_by_id.get(topic_id)
            for index, state in topic.partitions.items():
                known = None if before is None else before.partitions.get(index)
                if known is not state and known != state:
                    # One that was there before and has no log here is in a directory that failed: an empty
                    # log in its place would be served as the truth.
                    yield _Change(topic, index, state, known is None or node_id not in known.replicas)

    def _brokers_changed(self, turn: Turn) -> Steps[None]:
        """A broker that is no longer fenced may join the sets of which it was kept out."""
        for partition in tuple(self.by_id.values()):
            if turn.over():
                yield turn.rest()
            if partition.leading is not None:
                partition.reconsider_followers()

    def _make(self, topic: TopicImage, index: int, state: PartitionState, *, is_new: bool) -> None:
        """Gives a partition its log, unless it has one; the caller makes new names durable."""
        node = self._node
        if node.node_id not in state.replicas or (topic.topic_id, index) in self.by_id:
            return
        tp = TopicPartition(topic.name, index)
        try:
            log = node.logs.get_or_create(tp, topic.topic_id, is_new=is_new, sync_names=False)
            if log.flush_due(now_ms := node.clock.now_ms()):
                # Records that a killed process left in the page cache: their flush policy wants them on disk
                # before anybody sees them or is told, on a retry, that they are there.
                log.flush(now_ms)
        except (OSError, KafkaError) as error:
            logger.error("%s is offline: %s", tp, error)
            return
        self.by_name[tp] = self.by_id[(topic.topic_id, index)] = Partition(
            tp, topic.topic_id, log, self.in_sync
        )

    def _give_role(self, topic: TopicImage, index: int, state: PartitionState) -> None:
        partition = self.by_id.get((topic.topic_id, index))
        if partition is None:
            return
        node = self._node
        coordinator = node.coordinators.get(topic.name)
        if state.leader == node.node_id:
            self.fetchers.unfollow(partition)
            partition.become_leader(
                node.node_id,
                state.leader_epoch,
                state.partition_epoch,
                state.replicas,
                state.isr,
                state.leader_recovery_state,
            )
            if coordinator is not None:
                coordinator.leads(partition)
        else:
            if coordinator is not None:
                coordinator.leads_no_more(index)
            partition.resign(state.leader, state.leader_epoch, state.partition_epoch, state.replicas)
            if state.leader >= 0 and not self._is_parting_with(state):
                self.fetchers.follow(partition)
            else:
                self.fetchers.unfollow(partition)
        self.directory_reports.look(partition, state)

    def _is_parting_with(self, state: PartitionState) -> bool:
        """A broker that is about to stop does not copy what it is not in sync with any more, as in Kafka."""
        node_id = self._node.node_id
        me = self._node.image.brokers.get(node_id)
        return me is not None and me.in_controlled_shutdown and node_id not in state.isr

    def remove(self, topic_id: bytes, name: str, index: int) -> None:
        """The partition is not this node's any more: its log goes, and who waits for it is told."""
        logs = self._node.logs
        partition = self.by_id.pop((topic_id, index), None)
        if partition is None:
            logs.offline.pop(TopicPartition(name, index), None)
            return
        if self.by_name.get((name, index)) is partition:
            del self.by_name[(name, index)]
        self._retire(partition)
        self.directory_reports.forget(partition)
        logs.delete(partition.tp)

    def _retire(self, partition: Partition) -> None:
        partition.deleted = True
        partition.is_leader = False
        self.fetchers.unfollow(partition)
        coordinator = self._node.coordinators.get(partition.tp.topic)
        if coordinator is not None:
            coordinator.leads_no_more(partition.tp.partition)
        partition.wake()

    # --- a directory fails --------------------------------------------------------------------------------

    def dir_failed(self, log_dir: LogDir, lost: Sequence[TopicPartition]) -> None:
        """The other directories serve on; what was in this one answers KAFKA_STORAGE_ERROR."""
        for tp in lost:
            partition = self.by_name.pop(tp, None)
            if partition is not None:
                self.by_id.pop((partition.topic_id, tp.partition), None)
                self._retire(partition)
        node = self._node
        metadata_dir = os.path.normpath(node.server_config.metadata_log_dir)
        if log_dir.path == metadata_dir or not node.logs.online_dirs:
            node.fatal(log_dir.error or OSError(f"{log_dir.path} failed"))


def _throttle(before: Throttle | None, bytes_per_s: int) -> Throttle | None:
    """None without a limit. One whose rate changes keeps what was spent."""
    if bytes_per_s >= LONG_MAX:
        return None
    if before is None:
        return Throttle(bytes_per_s)
    before.rate_bytes_per_s = bytes_per_s
    return before
