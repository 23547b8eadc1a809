"""One partition as this broker serves it: its log, its leader's epoch, its high watermark, and who waits
for it.

The leader appends, and the high watermark follows the slowest member of the in-sync set; here the set is
this broker alone, so the high watermark follows the log's end, or the last flush where the flush policy
asks for one before the acknowledgement. Nothing here waits: whoever must wait leaves a `Waiter` or
registers a `Watch`, and is told.

Absent on purpose: clocks (time is passed in), sockets, and any work for a partition that nothing happens to.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

from ottla.log.append import AppendInfo
from ottla.log.append_origin import AppendOrigin
from ottla.log.log import Log
from ottla.log.verification import Verification
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.types import TopicPartition
from ottla.ports.disk import Buffer
from ottla.ports.effects import Waiter
from ottla.wire.record_batch import CheckedBatch

READ_UNCOMMITTED = 0
READ_COMMITTED = 1


class Watch(Protocol):
    """Somebody who wants to hear of new readable data, for as long as it stays in `Partition.watches`."""

    def data_arrived(self, partition: Partition, size_bytes: int) -> None: ...


class Partition:
    __slots__ = (
        "tp",
        "topic_id",
        "log",
        "leader_id",
        "leader_epoch",
        "partition_epoch",
        "replicas",
        "isr",
        "is_leader",
        "watches",
        "produce_replies",
        "_acks",
        "_held_bytes",
        "flush_wanted",
        "flush_running",
        "deleted",
    )

    def __init__(self, tp: TopicPartition, topic_id: bytes, log: Log) -> None:
        self.tp = tp
        self.topic_id = topic_id
        self.log = log
        self.leader_id = -1
        self.leader_epoch = -1
        self.partition_epoch = -1
        self.replicas: tuple[int, ...] = ()
        self.isr: tuple[int, ...] = ()
        self.is_leader = False
        # Insertion-ordered so that notification order is deterministic; None until somebody watches, because
        # ten thousand idle partitions should not hold ten thousand empty dicts.
        self.watches: dict[Watch, None] | None = None
        self.produce_replies: dict[int, tuple[bytes, int]] | None = None
        """By version, the reply to an accepted batch and the place of its numbers (`handlers/produce.py`)."""
        self._acks: deque[tuple[int, Waiter]] | None = None
        self._held_bytes = 0  # appended, and not yet below the high watermark: a flush is awaited
        self.flush_wanted = False
        self.flush_running = False
        self.deleted = False

    # --- leadership ---------------------------------------------------------------------------------------

    def become_leader(
        self,
        node_id: int,
        leader_epoch: int,
        partition_epoch: int,
        replicas: tuple[int, ...],
        isr: tuple[int, ...],
    ) -> None:
        """Takes the role that the metadata image gives; a new epoch begins at the log's end."""
        self.leader_id = node_id
        self.partition_epoch = partition_epoch
        self.replicas = replicas
        self.isr = isr
        self.is_leader = True
        if leader_epoch != self.leader_epoch:
            self.leader_epoch = leader_epoch
            self.log.epochs.assign(leader_epoch, self.log.log_end_offset)
            self._tell_watches(0)  # who was told that its epoch is wrong may find it right now
        if not self.flush_running:
            self._advance_high_watermark(0)

    def resign(
        self, leader_id: int, leader_epoch: int, partition_epoch: int, replicas: tuple[int, ...]
    ) -> None:
        """The metadata image names another leader, or none: whoever waits here is told."""
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.partition_epoch = partition_epoch
        self.replicas = replicas
        if self.is_leader:
            self.is_leader = False
            self.log.producers.forget_verifications()
            self.wake()

    def check_leader_epoch(self, current_leader_epoch: int) -> None:
        """A client that knows a newer epoch must wait for us to learn it; one with an older must refresh
        (KIP-320).
        """
        if current_leader_epoch >= 0 and current_leader_epoch != self.leader_epoch:
            if current_leader_epoch < self.leader_epoch:
                raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH)
            raise KafkaError(ErrorCode.UNKNOWN_LEADER_EPOCH)

    # --- writing ------------------------------------------------------------------------------------------

    def append(
        self,
        records: bytearray | memoryview,
        now_ms: int,
        *,
        acks: int,
        origin: AppendOrigin = AppendOrigin.CLIENT,
        prepared: CheckedBatch | None = None,
        verification: Verification | None = None,
        transaction_version: int = 0,
    ) -> AppendInfo:
        """Appends as the leader. Afterwards `must_wait` says whether the acknowledgement has to wait.

        Raises NeedsWorker for a client's batch that a thread has to check first; it comes again as
        `prepared`. What a coordinator appends cannot wait: its next decision rests on it. The first batch of
        a transaction shows its `verification`, a marker has its `transaction_version`.
        """
        if not self.is_leader:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        log = self.log
        if acks == -1 and len(self.isr) < log.config.min_insync_replicas:
            raise KafkaError(
                ErrorCode.NOT_ENOUGH_REPLICAS,
                f"{self.tp} has {len(self.isr)} in-sync replicas, min.insync.replicas asks for "
                f"{log.config.min_insync_replicas}",
            )
        info = log.append_as_leader(
            records,
            self.leader_epoch,
            now_ms,
            origin=origin,
            on_loop=origin is AppendOrigin.CLIENT,
            prepared=prepared,
            verification=verification,
            transaction_version=transaction_version,
        )
        if info.is_duplicate:
            return info
        if self.flush_running or log.config.flush_messages <= log.unflushed_messages:
            self.flush_wanted = True
            self._held_bytes += info.size_bytes
        else:
            self._advance_high_watermark(info.size_bytes)
        return info

    def begin_verification(
        self, producer_id: int, epoch: int, first_sequence: int, *, bumps_epochs: bool, now_ms: int
    ) -> Verification | None:
        """As the log's, for the leader only."""
        if not self.is_leader:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return self.log.begin_verification(
            producer_id, epoch, first_sequence, bumps_epochs=bumps_epochs, now_ms=now_ms
        )

    def must_wait(self, info: AppendInfo, acks: int) -> bool:
        """acks=all waits for the high watermark; so does acks=1 while the flush policy holds it back."""
        if self.log.high_watermark > info.last_offset:
            return False
        return acks == -1 or self.flush_wanted or self.flush_running

    def wait_for_high_watermark(self, offset: int, waiter: Waiter) -> None:
        """`waiter` is fired once the high watermark is past `offset`."""
        if self._acks is None:
            self._acks = deque()
        self._acks.append((offset, waiter))

    def flushed(self, upto_offset: int) -> None:
        """The flush that the policy asked for is done: what it covered may be read and acknowledged."""
        held = self._held_bytes
        if upto_offset >= self.log.log_end_offset:
            self._held_bytes = 0
        # Perhaps more than became readable: who is woken too early looks and waits again.
        self._advance_high_watermark(held, upto_offset)

    def _advance_high_watermark(self, size_bytes: int, upto_offset: int | None = None) -> None:
        log = self.log
        end = log.log_end_offset if upto_offset is None else upto_offset
        before = log.high_watermark
        if end <= before:
            return
        log.update_high_watermark(end)
        acks = self._acks
        if acks:
            # Appends are acknowledged in offset order, so the head of the queue is always the first to be
            # due.
            while acks and acks[0][0] < end:
                acks.popleft()[1].fire()
        if self.watches:
            self._tell_watches(size_bytes or 1)

    def _tell_watches(self, size_bytes: int) -> None:
        if self.watches:
            for watch in tuple(self.watches):
                watch.data_arrived(self, size_bytes)

    def wake(self) -> None:
        """Something other than data changed (leadership, deletion, log start): whoever waits looks again."""
        if self._acks:
            for _, waiter in self._acks:
                waiter.fire()
            self._acks.clear()
        self._tell_watches(0)

    # --- reading ------------------------------------------------------------------------------------------

    def readable_end(self, isolation_level: int) -> int:
        """Consumers see nothing past the high watermark, and with read_committed nothing undecided."""
        return self.log.last_stable_offset if isolation_level == READ_COMMITTED else self.log.high_watermark

    def watch(self, watch: Watch) -> None:
        if self.watches is None:
            self.watches = {}
        self.watches[watch] = None

    def unwatch(self, watch: Watch) -> None:
        if self.watches is not None:
            self.watches.pop(watch, None)
            if not self.watches:
                self.watches = None


def batch_size_bytes(records: Buffer) -> int:
    """The size that the first batch claims; the caller has checked that twelve bytes are there."""
    return 12 + int.from_bytes(records[8:12], "big", signed=True)
