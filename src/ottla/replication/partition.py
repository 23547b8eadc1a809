"""One partition as this broker serves it: its log, its leader's epoch, its high watermark, and who waits
for it.

The leader appends, and the high watermark follows the slowest member of the in-sync set (`leader.py`,
`isr.py`). Where the set is this broker alone, it follows the log's end, or the last flush where the flush
policy asks for one before the acknowledgement. A follower copies (`follower.py`) and keeps the smaller of its
leader's high watermark and its own end. Nothing here waits: whoever must wait leaves a `Waiter` or registers
a `Watch`, and is told: readers when something becomes readable, replicas when something was appended.

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
from ottla.replication.isr import (
    RECOVERED,
    InSync,
    IsrProposal,
    consider_joining,
    propose,
    reconsider,
    take_sets,
)
from ottla.replication.leader import Leading
from ottla.wire.record_batch import CheckedBatch

READ_UNCOMMITTED = 0
READ_COMMITTED = 1


class Watch(Protocol):
    """Somebody who wants to hear of new readable data, for as long as it stays in `Partition.watches`."""

    def data_arrived(self, partition: Partition, size_bytes: int) -> None: ...


class ReplicaWatch(Watch, Protocol):
    """A follower that waits for appends. That the high watermark moved is for its next answer to tell."""

    def high_watermark_moved(self, partition: Partition) -> None: ...


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
        "leader_recovery_state",
        "leading",
        "proposal",
        "_shared",
        "watches",
        "replica_watches",
        "produce_replies",
        "fetch_replies",
        "_acks",
        "_flush_acks",
        "_start_waiters",
        "_held_bytes",
        "flush_wanted",
        "flush_running",
        "deleted",
    )

    def __init__(self, tp: TopicPartition, topic_id: bytes, log: Log, shared: InSync | None = None) -> None:
        """`shared` is needed for a partition that has other replicas."""
        self.tp = tp
        self.topic_id = topic_id
        self.log = log
        self.leader_id = -1
        self.leader_epoch = -1
        self.partition_epoch = -1
        self.replicas: tuple[int, ...] = ()
        self.isr: tuple[int, ...] = ()
        self.is_leader = False
        self.leader_recovery_state = RECOVERED
        self.leading: Leading | None = None
        """The followers; None for a sole replica, and for a follower."""
        self.proposal: IsrProposal | None = None
        self._shared = shared
        # Insertion-ordered so that notification order is deterministic; None until somebody watches, because
        # ten thousand idle partitions should not hold ten thousand empty dicts.
        self.watches: dict[Watch, None] | None = None
        self.replica_watches: dict[ReplicaWatch, None] | None = None
        self.produce_replies: dict[int, tuple[bytes, int]] | None = None
        """By version, the reply to an accepted batch and the place of its numbers (`handlers/produce.py`)."""
        self.fetch_replies: dict[int, tuple[bytes, int, bytes]] | None = None
        """By version, what stands before and behind the records of a reply (`broker/fetch_replies.py`)."""
        self._acks: deque[tuple[int, Waiter]] | None = None
        self._flush_acks: list[Waiter] | None = None
        self._start_waiters: list[Waiter] | None = None
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
        leader_recovery_state: int = RECOVERED,
    ) -> None:
        """Takes the role that the metadata image gives; a new epoch begins at the log's end."""
        is_new_epoch = leader_epoch != self.leader_epoch or not self.is_leader
        if not is_new_epoch and partition_epoch <= self.partition_epoch:
            return  # the answer to a proposal was here before the image that it made
        self.leader_id = node_id
        self.partition_epoch = partition_epoch
        self.replicas = replicas
        self.isr = isr
        self.leader_recovery_state = leader_recovery_state
        self.is_leader = True
        self.proposal = None
        if leader_epoch != self.leader_epoch:
            self.leader_epoch = leader_epoch
            self.log.epochs.assign(leader_epoch, self.log.log_end_offset)
        self._take_followers(tuple(each for each in replicas if each != node_id), is_new_epoch)
        if is_new_epoch:
            self._tell_watches(0)  # who was told that its epoch is wrong may find it right now
        if self.leading is None and not self.flush_running:
            self._advance_high_watermark(0)
        elif self.leading is not None:
            self.advance_high_watermark()
            self._tell_if_below_min_isr()
            if not is_new_epoch:
                self.reconsider_followers()
            if leader_recovery_state != RECOVERED and self.proposal is None:
                assert self._shared is not None
                propose(self, self._shared, isr)

    def _take_followers(self, others: tuple[int, ...], is_new_epoch: bool) -> None:
        if not others:
            self.leading = None
            return
        assert self._shared is not None, f"{self.tp} has other replicas, and nobody who minds them"
        leading = self.leading
        if leading is None:
            leading = self.leading = Leading()
            leading.own_end_offset = (
                self.log.high_watermark if self.flush_running else self.log.log_end_offset
            )
        leading.take_replicas(others)
        if is_new_epoch:
            now_ms = self._shared.clock.monotonic_ms()
            leading.epoch_start_offset = self.log.log_end_offset
            for follower in leading.followers.values():
                follower.begin_epoch(now_ms, in_isr=follower.node_id in self.isr)
            self._shared.lagging[self] = None
        take_sets(self)

    def resign(
        self, leader_id: int, leader_epoch: int, partition_epoch: int, replicas: tuple[int, ...]
    ) -> None:
        """The metadata image names another leader, or none: whoever waits here is told. The log stays as it
        is: what the new leader does not have, its answers will show.
        """
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.partition_epoch = partition_epoch
        self.replicas = replicas
        self.leading = None
        self.proposal = None
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
        if acks == -1 and len(self.isr) < log.config.min_insync_replicas and self.is_below_min_isr:
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
        if self.leading is not None:
            self._appended(self.leading, info)
        elif self.flush_running or log.config.flush_messages <= log.unflushed_messages:
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

    def _appended(self, leading: Leading, info: AppendInfo) -> None:
        """As the leader of other replicas: they are told at once, readers when enough have it."""
        log = self.log
        was_end_offset = info.first_offset
        fell_behind = False
        for follower in leading.followers.values():
            if follower.log_end_offset == was_end_offset:
                assert self._shared is not None
                follower.fell_behind(self._shared.clock.monotonic_ms())
                fell_behind = True
        if fell_behind:
            assert self._shared is not None
            self._shared.lagging[self] = None
        leading.held_bytes += info.size_bytes
        if self.flush_running or log.config.flush_messages <= log.unflushed_messages:
            self.flush_wanted = True
        else:
            leading.own_end_offset = log.log_end_offset
            if not leading.counted:
                self.advance_high_watermark()
        if self.replica_watches:
            for watch in tuple(self.replica_watches):
                watch.data_arrived(self, info.size_bytes)

    def copy(self, records: memoryview, high_watermark: int, log_start_offset: int, now_ms: int) -> int:
        """Appends what the leader sent, as a follower, and follows its high watermark and log start. The
        number of bytes that were appended. Raises KafkaError as the log does.
        """
        log = self.log
        size_bytes = 0
        if records:
            size_bytes = log.append_as_follower(records, now_ms=now_ms).size_bytes
        if log.update_high_watermark(high_watermark) and self.watches:
            self._tell_readers(size_bytes or 1)
        if log.log_start_offset < log_start_offset <= log.high_watermark:
            log.advance_log_start(log_start_offset)
            self.log_start_moved()
        return size_bytes

    # --- acknowledging ------------------------------------------------------------------------------------

    def must_wait(self, info: AppendInfo, acks: int) -> bool:
        """acks=all waits for the high watermark; acks=1 only while the flush policy holds the leader back."""
        if self.log.high_watermark > info.last_offset:
            return False
        return acks == -1 or self.flush_wanted or self.flush_running

    def wait(self, info: AppendInfo, acks: int, waiter: Waiter) -> None:
        """`waiter` is fired when `outcome` has something else to say than that it takes time."""
        if acks == -1 or self.leading is None:
            self.wait_for_high_watermark(info.last_offset, waiter)
            return
        if self._flush_acks is None:
            self._flush_acks = []
        self._flush_acks.append(waiter)

    def outcome(self, info: AppendInfo, acks: int) -> ErrorCode:
        """What to tell the producer once its wait is over. REQUEST_TIMED_OUT: nothing is decided."""
        leading = self.leading
        if acks != -1:
            if self.log.high_watermark > info.last_offset or (
                leading is not None and leading.own_end_offset > info.last_offset
            ):
                return ErrorCode.NONE
        elif not self.is_leader or self.deleted:
            # What is committed stays so, but whether it is, only the next leader knows.
            if self.log.high_watermark > info.last_offset:
                return ErrorCode.NONE
        elif self.is_below_min_isr:
            return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        elif self.log.high_watermark > info.last_offset:
            return ErrorCode.NONE
        return ErrorCode.REQUEST_TIMED_OUT if self.is_leader else ErrorCode.NOT_LEADER_OR_FOLLOWER

    @property
    def is_below_min_isr(self) -> bool:
        """Whether acks=all cannot be had. A partition cannot have more in-sync replicas than replicas."""
        return len(self.isr) < min(self.log.config.min_insync_replicas, len(self.replicas))

    def wait_for_high_watermark(self, offset: int, waiter: Waiter) -> None:
        """`waiter` is fired once the high watermark is past `offset`."""
        if self._acks is None:
            self._acks = deque()
        acks = self._acks
        # While the high watermark stands still, those that gave up waiting must not pile up.
        while acks and acks[-1][1].done:
            acks.pop()
        while acks and acks[0][1].done:
            acks.popleft()
        acks.append((offset, waiter))

    def flushed(self, upto_offset: int) -> None:
        """The flush that the policy asked for is done: what it covered may be read and acknowledged."""
        leading = self.leading
        if leading is not None:
            leading.own_end_offset = max(leading.own_end_offset, upto_offset)
            if self._flush_acks:
                waiters, self._flush_acks = self._flush_acks, None
                for waiter in waiters:
                    waiter.fire()
            self.advance_high_watermark()
            return
        held = self._held_bytes
        if upto_offset >= self.log.log_end_offset:
            self._held_bytes = 0
        # Perhaps more than became readable: who is woken too early looks and waits again.
        self._advance_high_watermark(held, upto_offset)

    def advance_high_watermark(self) -> None:
        """To where all that count have come."""
        leading = self.leading
        assert leading is not None and self._shared is not None
        if self._shared.holds_below_min_isr and self.is_below_min_isr:
            return
        log = self.log
        end = leading.committed_end_offset()
        if end <= log.high_watermark:
            return
        held = leading.held_bytes
        if end >= log.log_end_offset:
            leading.held_bytes = 0
        self._advance_high_watermark(held, end)
        if self.replica_watches:
            for watch in tuple(self.replica_watches):
                watch.high_watermark_moved(self)

    def _advance_high_watermark(self, size_bytes: int, upto_offset: int | None = None) -> None:
        log = self.log
        end = log.log_end_offset if upto_offset is None else upto_offset
        before = log.high_watermark
        if end <= before:
            return
        log.update_high_watermark(end)
        self._acknowledge(end)
        if self.watches:
            self._tell_readers(size_bytes or 1)

    def _acknowledge(self, high_watermark: int) -> None:
        acks = self._acks
        if acks:
            # Appends are acknowledged in offset order, so the head of the queue is always the first to be
            # due.
            while acks and acks[0][0] < high_watermark:
                acks.popleft()[1].fire()

    def _tell_if_below_min_isr(self) -> None:
        """Whoever waits for acks=all would wait in vain."""
        if self._acks and self.is_below_min_isr:
            acks, self._acks = self._acks, None
            for _, waiter in acks:
                waiter.fire()

    # --- followers ----------------------------------------------------------------------------------------

    def follower_fetched(
        self, node_id: int, offset: int, log_start_offset: int, broker_epoch: int, now_ms: float
    ) -> None:
        """A replica asks for what follows `offset`. The caller has checked that it may: that it is one of
        `replicas`, speaks of this epoch, and that its log does not diverge from this one below `offset`.
        """
        leading = self.leading
        assert leading is not None and self._shared is not None
        follower = leading.followers[node_id]
        start_moved = log_start_offset != follower.log_start_offset
        follower.fetched(offset, log_start_offset, broker_epoch, self.log.log_end_offset, now_ms)
        if offset > self.log.high_watermark:
            self.advance_high_watermark()
        if not follower.in_isr:
            consider_joining(self, self._shared, node_id)
        if start_moved and self._start_waiters:
            waiters, self._start_waiters = self._start_waiters, None
            for waiter in waiters:
                waiter.fire()

    def wait_for_log_starts(self, waiter: Waiter) -> None:
        """`waiter` is fired when a replica has moved its log start, or leadership changes."""
        if self._start_waiters is None:
            self._start_waiters = []
        self._start_waiters.append(waiter)

    def low_watermark(self, alive: frozenset[int]) -> int:
        """The smallest log start over the replicas whose brokers live: DeleteRecords is done below it."""
        if self.leading is None:
            return self.log.log_start_offset
        return self.leading.low_watermark(self.log.log_start_offset, alive)

    def isr_accepted(
        self, proposal: IsrProposal, isr: tuple[int, ...], partition_epoch: int, leader_recovery_state: int
    ) -> None:
        """The controller's word on a proposal. If an image was faster, it has said more than this."""
        if self.proposal is not proposal:
            return
        self.proposal = None
        self.isr = isr
        self.partition_epoch = partition_epoch
        self.leader_recovery_state = leader_recovery_state
        take_sets(self)
        if self.leading is not None:
            self.advance_high_watermark()
            self._tell_if_below_min_isr()
            self.reconsider_followers()

    def reconsider_followers(self) -> None:
        """Another proposal stood in a follower's way, or its broker was fenced: perhaps it may join now."""
        if self._shared is not None:
            reconsider(self, self._shared)

    def isr_rejected(self, proposal: IsrProposal) -> None:
        """The controller says that it was not, and never will be, applied: the committed set holds."""
        if self.proposal is proposal:
            self.proposal = None
            take_sets(self)
            if self.leading is not None:
                self.advance_high_watermark()
                assert self._shared is not None
                self._shared.lagging[self] = None  # looked at again, but not at once: that would be a loop

    # --- telling ------------------------------------------------------------------------------------------

    def _tell_readers(self, size_bytes: int) -> None:
        if self.watches:
            for watch in tuple(self.watches):
                watch.data_arrived(self, size_bytes)

    def _tell_watches(self, size_bytes: int) -> None:
        self._tell_readers(size_bytes)
        if self.replica_watches:
            for watch in tuple(self.replica_watches):
                watch.data_arrived(self, size_bytes)

    def log_start_moved(self) -> None:
        """Readers may stand before it now, and replicas follow it."""
        self._tell_watches(0)

    def wake(self) -> None:
        """Leadership changed, or the partition is gone: whoever waits looks again."""
        acks, self._acks = self._acks, None
        waiters = [waiter for _, waiter in acks or ()]
        waiters += (*(self._flush_acks or ()), *(self._start_waiters or ()))
        self._flush_acks = self._start_waiters = None
        for waiter in waiters:
            waiter.fire()
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

    def watch_as_replica(self, watch: ReplicaWatch) -> None:
        if self.replica_watches is None:
            self.replica_watches = {}
        self.replica_watches[watch] = None

    def unwatch_as_replica(self, watch: ReplicaWatch) -> None:
        if self.replica_watches is not None:
            self.replica_watches.pop(watch, None)
            if not self.replica_watches:
                self.replica_watches = None


def batch_size_bytes(records: Buffer) -> int:
    """The size that the first batch claims; the caller has checked that twelve bytes are there."""
    return 12 + int.from_bytes(records[8:12], "big", signed=True)
