"""Looks into all nodes of a simulated cluster while it runs, and holds them to what a cluster promises.

Nothing here asks the code that is checked whether it is right. Often:

- an epoch of the quorum has one leader, an epoch of a partition has one leader;
- a log's high watermark does not go back while its broker leads in one epoch, and is not past the log's end;
- what any replica once called committed stays: the same bytes at the same offsets on every replica that has
  them below its high watermark, and on every new leader from the moment it leads.

At the end (`settled`, `check_at_the_end`): one controller, every broker there, every partition with its
leader and all its replicas in sync, the same metadata everywhere, replicas equal to the byte.

Compacted topics are compared by what is left of them: the newest value of each key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from ottla.broker.node import Node
from ottla.log.log import Log
from ottla.metadata.image import NO_LEADER, MetadataImage, TopicImage
from ottla.replication.partition import Partition
from ottla.testing.ledger import Violation
from ottla.testing.sim_cluster import SimCluster, SimNode
from ottla.testing.txn_checker import batches_of

METADATA: Final = (b"", 0)
"""In the place of a topic's id and partition: the metadata log."""

Key = tuple[bytes, int]


class Stamp(NamedTuple):
    """What identifies a batch: equal stamps are equal bytes."""

    next_offset: int
    size_bytes: int
    leader_epoch: int
    crc: int


class _Committed:
    """The batches of one partition that some replica has called committed, by their first offset."""

    __slots__ = ("batches", "ends")

    def __init__(self) -> None:
        self.batches: dict[int, tuple[Stamp, str]] = {}
        self.ends: dict[int, int] = {}
        """By leader epoch, the highest high watermark that was seen at its leader."""

    def end_before(self, epoch: int) -> int:
        return max((end for each, end in self.ends.items() if each < epoch), default=0)


class ClusterChecker:
    def __init__(self, cluster: SimCluster, report: Counter[str]) -> None:
        self._cluster = cluster
        self._report = report
        self._committed: dict[Key, _Committed] = {}
        self._leaders: dict[tuple[Key, int], int] = {}
        """By partition and epoch, the node that led in it."""
        self._checked: dict[tuple[int, int, Key], int] = {}
        """By node, life and partition, up to where its log was compared."""
        self._high_watermarks: dict[tuple[int, int, Key, int], int] = {}
        self._offsets: dict[tuple[int, int], int] = {}
        self._controller: tuple[int, int] | None = None
        self._image: MetadataImage | None = None
        self.cleaned: set[str] = set()
        """Topics whose logs are rewritten."""

    # -- while it runs --

    def look(self) -> None:
        for each in self._cluster.nodes.values():
            if each.up and each.node is not None and each.node.controls:
                self._look_at_quorum(each, each.node)
                if each.is_broker:
                    for partition in each.node.partitions.values():
                        self._look_at_partition(each, partition)
        self._count_changes()

    def _look_at_quorum(self, sim: SimNode, node: Node) -> None:
        quorum = node.quorum
        if quorum.is_active:
            if self._is_leader(METADATA, quorum.epoch, sim):
                self._report["controllers_elected"] += 1
            now = (quorum.epoch, sim.node_id)
            if self._controller is None or now > self._controller:
                if self._controller is not None and now[1] != self._controller[1]:
                    self._report["controller_changes"] += 1
                self._controller = now
        life = (sim.node_id, sim.lives)
        if quorum.offset < self._offsets.get(life, -1):
            raise Violation(
                f"{sim.name}: its metadata went back from {self._offsets[life]} to {quorum.offset}"
            )
        self._offsets[life] = quorum.offset
        self._compare(sim, METADATA, "the metadata log", quorum.log, quorum.log.high_watermark)

    def _is_leader(self, key: Key, epoch: int, sim: SimNode) -> bool:
        """Whether this is news."""
        leader = self._leaders.get((key, epoch))
        if leader is None:
            self._leaders[key, epoch] = sim.node_id
        elif leader != sim.node_id:
            what = "the quorum" if key == METADATA else f"partition {key[1]} of {key[0].hex()}"
            raise Violation(f"n{leader} and {sim.name} both lead {what} in epoch {epoch}")
        return leader is None

    def _look_at_partition(self, sim: SimNode, partition: Partition) -> None:
        log = partition.log
        if partition.deleted:
            return
        key = (partition.topic_id, partition.tp.partition)
        committed = self._committed.setdefault(key, _Committed())
        high_watermark = log.high_watermark
        if high_watermark > log.log_end_offset:
            raise Violation(
                f"{sim.name}: {partition.tp} ends at {log.log_end_offset}, its high watermark is "
                f"{high_watermark}"
            )
        upto = high_watermark
        if partition.is_leader:
            epoch = partition.leader_epoch
            place = (sim.node_id, sim.lives, key, epoch)
            self._is_leader(key, epoch, sim)
            before = self._high_watermarks.get(place)
            if before is None:
                due = committed.end_before(epoch)
                if log.log_end_offset < due:
                    raise Violation(
                        f"{sim.name} leads {partition.tp} in epoch {epoch} with records up to "
                        f"{log.log_end_offset}, but {due} was committed before"
                    )
                upto = max(upto, due)
            elif high_watermark < before:
                raise Violation(
                    f"{sim.name}: the high watermark of {partition.tp} went back from {before} to "
                    f"{high_watermark} in epoch {epoch}"
                )
            self._high_watermarks[place] = high_watermark
            committed.ends[epoch] = max(high_watermark, committed.ends.get(epoch, 0))
        if partition.tp.topic not in self.cleaned:
            self._compare(sim, key, str(partition.tp), log, upto)

    def _compare(self, sim: SimNode, key: Key, name: str, log: Log, upto: int) -> None:
        """The log's batches below `upto` with what others had there."""
        place = (sim.node_id, sim.lives, key)
        begin = min(self._checked.get(place, 0), log.log_end_offset)
        if begin >= upto:
            return
        committed = self._committed.setdefault(key, _Committed())
        for batch in batches_of(log, begin):
            header = batch.header
            if header.next_offset > upto:
                break
            stamp = Stamp(header.next_offset, header.size_bytes, header.leader_epoch, header.crc)
            known = committed.batches.setdefault(header.base_offset, (stamp, sim.name))
            if known[0] != stamp:
                raise Violation(
                    f"{name}@{header.base_offset} is {stamp} at {sim.name}, but was {known[0]} at "
                    f"{known[1]}, and committed"
                )
            begin = header.next_offset
        self._checked[place] = begin

    def _count_changes(self) -> None:
        """What the controllers decided since the last look."""
        newest = max(
            (each.image for each in self._cluster.running()),
            key=lambda image: image.last_offset,
            default=None,
        )
        before, self._image = self._image, newest
        if newest is None or before is None or newest is before or newest.last_offset < before.last_offset:
            self._image = newest if before is None else max(before, newest or before, key=_age)
            return
        report = self._report
        for topic in newest.topics_by_id.values():
            old = before.topics_by_id.get(topic.topic_id)
            if old is not None and old is not topic:
                _count_topic(report, old, topic)
        for broker in newest.brokers.values():
            was = before.brokers.get(broker.node_id)
            if was is not None and was.fenced != broker.fenced:
                report["brokers_fenced" if broker.fenced else "brokers_unfenced"] += 1

    # -- the end --

    def unsettled(self) -> str | None:
        """What is not yet as it should be, once nothing disturbs it any more and nobody writes."""
        return self.unsettled_cluster() or self.unsettled_metadata() or self._unsettled_logs()

    def is_safe(self) -> bool:
        """Whether one broker may lose what it has not yet written to its disk: every other replica is in
        sync, for the controller, too, and none is about to be fenced. Where one replica is enough for an
        acknowledgement, nobody else would have the records.
        """
        controller = self._cluster.active_controller()
        if controller is None or self.unsettled_cluster() is not None:
            return False
        decided = controller.quorum.tip
        heartbeats = controller.controllers.controller.heartbeats
        timeout_ms = controller.server_config.get_int("broker.session.timeout.ms")
        soon_ms = controller.clock.monotonic_ms() + timeout_ms / 2
        return self._unsettled_image(decided) is None and all(
            heartbeats.has_session(decided.brokers[each.node_id], soon_ms, timeout_ms)
            for each in self._cluster.brokers
        )

    def unsettled_cluster(self) -> str | None:
        """Whether somebody is missing, or some replica is not in sync."""
        cluster = self._cluster
        controller = cluster.active_controller()
        if controller is None:
            return "there is no controller"
        for each in cluster.nodes.values():
            if not each.serving:
                return f"{each.name} does not serve"
        return self._unsettled_image(controller.quorum.image)

    def _unsettled_image(self, image: MetadataImage) -> str | None:
        for sim in self._cluster.brokers:
            broker = image.brokers.get(sim.node_id)
            if broker is None or not broker.active:
                return f"{sim.name} is not active: {broker}"
        for topic in image.topics_by_id.values():
            for index, state in topic.partitions.items():
                name = f"{topic.name}-{index}"
                if state.leader == NO_LEADER:
                    return f"{name} has no leader: {state}"
                if set(state.isr) != set(state.replicas) or state.adding_replicas or state.removing_replicas:
                    return f"{name} is not in sync: {state}"
        return None

    def unsettled_metadata(self) -> str | None:
        controller = self._cluster.active_controller()
        assert controller is not None
        image = controller.quorum.image
        for node in self._cluster.running():
            if node.quorum.offset != controller.quorum.offset or node.image != image:
                return (
                    f"n{node.node_id} is at {node.quorum.offset} of the metadata, not at "
                    f"{controller.quorum.offset}"
                )
        return None

    def _unsettled_logs(self) -> str | None:
        cluster = self._cluster
        controller = cluster.active_controller()
        assert controller is not None
        for topic in controller.quorum.image.topics_by_id.values():
            for index, state in topic.partitions.items():
                name = f"{topic.name}-{index}"
                ends = set()
                for node_id in state.replicas:
                    node = cluster.nodes[node_id].node
                    partition = None if node is None else node.partitions.get((topic.name, index))
                    if partition is None:
                        return f"{name} is not at n{node_id}"
                    ends |= {partition.log.log_end_offset, partition.log.high_watermark}
                    if partition.is_leader != (node_id == state.leader):
                        return f"{name}: n{node_id} does not have its role"
                if len(ends) != 1:
                    return f"{name} ends differently: {sorted(ends)}"
        return None

    def check_at_the_end(self) -> None:
        """After `unsettled` has found nothing."""
        controller = self._cluster.active_controller()
        assert controller is not None
        image = controller.quorum.image
        for each in self._cluster.running():
            if each.quorum.image != image:
                raise Violation(
                    f"n{each.node_id} has another image of the metadata than n{controller.node_id}"
                )
            self._report["images_compared"] += 1
        for topic in image.topics_by_id.values():
            for index, state in topic.partitions.items():
                self._compare_replicas(topic, index, state.replicas)

    def _compare_replicas(self, topic: TopicImage, index: int, replicas: tuple[int, ...]) -> None:
        logs = {each: self.log_at(each, topic.name, index) for each in replicas}
        first, *others = replicas
        if topic.name in self.cleaned:
            values = _newest_values(logs[first])
            for each in others:
                if _newest_values(logs[each]) != values:
                    raise Violation(f"{topic.name}-{index}: n{each} has other values than n{first}")
        else:
            begin = max(log.log_start_offset for log in logs.values())
            bytes_ = _bytes_of(logs[first], begin)
            for each in others:
                if _bytes_of(logs[each], begin) != bytes_:
                    raise Violation(f"{topic.name}-{index}: n{each} has other bytes than n{first}")
            self._report["bytes_compared"] += len(bytes_)
        self._report["replicas_compared"] += len(replicas)

    def log_at(self, node_id: int, topic: str, index: int) -> Log:
        node = self._cluster.nodes[node_id].node
        assert node is not None
        return node.partitions[topic, index].log


def _age(image: MetadataImage) -> int:
    return image.last_offset


def _count_topic(report: Counter[str], old: TopicImage, new: TopicImage) -> None:
    for index, state in new.partitions.items():
        was = old.partitions.get(index)
        if was is None or was is state:
            continue
        if state.leader_epoch != was.leader_epoch:
            report["partition_elections"] += 1
        if state.leader not in (was.leader, NO_LEADER):
            report["leader_changes"] += 1
        if state.leader == NO_LEADER != was.leader:
            report["partitions_offline"] += 1
        report["isr_shrinks"] += len(set(was.isr) - set(state.isr)) > 0
        report["isr_expands"] += len(set(state.isr) - set(was.isr)) > 0
        report["elr_uses"] += bool(state.eligible_leader_replicas) and not was.eligible_leader_replicas
        if (was.adding_replicas or was.removing_replicas) and not (
            state.adding_replicas or state.removing_replicas
        ):
            report["reassignments_done"] += 1


def _bytes_of(log: Log, begin: int) -> bytes:
    return b"".join(
        batch.data[batch.at : batch.at + batch.header.size_bytes] for batch in batches_of(log, begin)
    )


def _newest_values(log: Log) -> dict[bytes | None, tuple[int, bytes | None]]:
    found: dict[bytes | None, tuple[int, bytes | None]] = {}
    for batch in batches_of(log, 0):
        if not batch.header.is_control:
            for record in batch.records():
                key = None if record.key is None else bytes(record.key)
                found[key] = (record.offset, None if record.value is None else bytes(record.value))
    return {key: each for key, each in found.items() if each[1] is not None}


@contextmanager
def counted_truncations(report: Counter[str]) -> Iterator[None]:
    """Counts what replicas throw away, in the logs of partitions and of the quorum."""
    truncate = Log.truncate_to

    def counted(self: Log, offset: int) -> bool:
        before = self.size_bytes
        done = truncate(self, offset)
        if done:
            report["truncations"] += 1
            report["truncated_bytes"] += before - self.size_bytes
        return done

    Log.truncate_to = counted  # type: ignore[method-assign]
    try:
        yield
    finally:
        Log.truncate_to = truncate  # type: ignore[method-assign]
