"""Carries out what one shard of a coordinator decides: append, replay, answer.

A host lives as long as this broker leads the shard's partition (of `__consumer_offsets`, or of
`__transaction_state`) in one go. It loads the shard from the log, a slice at a time, and from then on every
outcome goes through `carry_out`: its records become one batch of the log, are replayed at once, and its
answers (also those of decisions that only read) wait until everything appended so far is below the high
watermark. The high watermark may be behind for long, when a follower is slow or there are too few: one task
serves all that waits, in the order of the log, and refuses what has waited for `commit_timeout_ms`. What may
only follow a committed decision (`Outcome.then`) goes on waiting, since the decision stands.

A shard is never rolled back in place. When soft state ran ahead of a batch that could not be written, when
the leadership is lost, or when a decision fails on a bug of ours, the host is over: whoever waits is told to
look for the coordinator again, and the next host starts from the log.

What differs between the coordinators is in a few methods: see `GroupHost` and `TransactionHost`.
"""

from __future__ import annotations

import errno
import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from ottla.coordination.outcome import Job, Outcome
from ottla.coordination.promise import Promise
from ottla.coordination.record import CoordinatorRecord
from ottla.coordination.timers import Timers
from ottla.log.append_origin import AppendOrigin
from ottla.log.segment import marker_in
from ottla.log.turn import Turn
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import DECOMPRESSED_BATCH_BYTES_MAX
from ottla.ports.effects import DiskJob, Steps, Waiter
from ottla.replication.partition import Partition
from ottla.wire.primitives import DecodeError
from ottla.wire.record_batch import Codec, CorruptBatch, Record, decode_batch, encode_batch, iter_headers

if TYPE_CHECKING:
    from ottla.broker.coordinator_jobs import CoordinatorJobs
    from ottla.broker.node import Node

logger = logging.getLogger(__name__)

_NOT_COORDINATOR = frozenset((ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.KAFKA_STORAGE_ERROR))
_NOT_AVAILABLE = frozenset(
    (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.REQUEST_TIMED_OUT,
    )
)
_OF_THE_PRODUCER = frozenset((ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.INVALID_TXN_STATE))
"""Refusals that a client brings about as often as it likes."""
_TOO_LARGE = frozenset(
    (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.INVALID_FETCH_SIZE)
)


class HostedShard(Protocol):
    """What a host asks of its shard, besides the decisions that requests ask for."""

    @property
    def timers(self) -> Timers: ...

    def replay(self, record: CoordinatorRecord, offset: int, producer_id: int) -> None:
        """`producer_id` is -1, unless the record is part of a transaction."""
        ...

    def parked(self) -> list[Promise[Any]]:
        """Everybody who waits for others; a shard that is given up refuses them."""
        ...


S = TypeVar("S", bound=HostedShard)


class HostSettings(NamedTuple):
    load_buffer_bytes: int
    commit_timeout_ms: int
    codec: Codec


class _Parked(NamedTuple):
    """An outcome whose answers wait until everything up to `offset` is below the high watermark."""

    offset: int
    deadline_ms: float
    outcome: Outcome


class CoordinatorHost(ABC, Generic[S]):
    """`over` is asked after every wait: it is set for good when this host serves no more."""

    __slots__ = (
        "shard",
        "partition",
        "leader_epoch",
        "loading",
        "over",
        "last_offset",
        "_node",
        "_jobs",
        "_on_fault",
        "_parked",
        "_overdue",
        "_answering",
        "_commit_waiter",
    )

    def __init__(
        self,
        node: Node,
        shard: S,
        partition: Partition,
        jobs: CoordinatorJobs,
        on_fault: Callable[[CoordinatorHost[S], BaseException | None], None],
    ) -> None:
        """`on_fault` is called when the shard has to be loaded anew; with the exception, if it was a bug."""
        self.shard = shard
        self.partition = partition
        self.leader_epoch = partition.leader_epoch
        self.loading = True
        self.over = False
        self.last_offset = -1
        """Of the last record that the shard's state rests on."""
        self._node = node
        self._jobs = jobs
        self._on_fault = on_fault
        self._parked: deque[_Parked] = deque()
        """By offset, which is the order of their deadlines, too."""
        self._overdue: deque[_Parked] = deque()
        """Those whose answers were refused, and whose `then` is still to be begun."""
        self._answering = False
        self._commit_waiter: Waiter | None = None

    # --- what differs -------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def settings(self) -> HostSettings: ...

    @abstractmethod
    def decode(self, key: bytes, value: bytes | None) -> CoordinatorRecord | None:
        """A record of this topic; None for a type that this version does not know."""

    @abstractmethod
    def loaded(self, replayed: int, duration_ms: float) -> None:
        """The log has been replayed to its end, and requests are served from now on."""

    def replay_put_off(self) -> Iterator[bool]:
        """Replays what `replay_bytes` put off; for each record, whether it made sense."""
        return iter(())

    def replay_marker(self, producer_id: int, committed: bool) -> None:
        """A producer's transaction has ended in this partition."""

    def begin(self, work: object) -> None:
        """Begins what `Outcome.then` asked for: its records are below the high watermark."""
        raise AssertionError(f"nobody here does {work!r}")

    # --- loading ------------------------------------------------------------------------------------------

    def load(self) -> Steps[None]:
        """Replays the log; whoever asks meanwhile is answered COORDINATOR_LOAD_IN_PROGRESS."""
        clock = self._node.clock
        began_ms = clock.monotonic_ms()
        log = self.partition.log
        upto = log.log_end_offset
        turn = Turn(clock)
        replayed = unreadable = 0
        offset = log.log_start_offset
        while offset < upto:
            offset = max(offset, log.log_start_offset)  # somebody may delete records meanwhile
            found = log.read(offset, self.settings.load_buffer_bytes, upto_offset=upto)
            before = offset
            if found.slice is not None:
                try:
                    data: bytes = yield DiskJob(found.slice.read)
                finally:
                    found.slice.release()
                turn.begin()
                for position, header in iter_headers(data, 0, len(data)):
                    if position + header.size_bytes > len(data):
                        break
                    if header.next_offset <= offset:
                        continue
                    offset = header.next_offset
                    if header.is_control:
                        marker = marker_in(data, position)
                        if marker is not None:
                            self.replay_marker(header.producer_id, marker.committed)
                        continue
                    producer_id = header.producer_id if header.is_transactional else -1
                    for record in decode_batch(
                        data, position, decompressed_bytes_max=DECOMPRESSED_BATCH_BYTES_MAX
                    ):
                        replayed += 1
                        unreadable += not self.replay_bytes(record, producer_id)
                        if turn.over():
                            yield turn.rest()
                if self.has_ended():
                    return
            else:
                break  # compaction has taken the last batches below, and nothing came after them
            if offset == before:
                raise OSError(errno.EIO, f"{self.partition.tp} cannot be read past offset {offset}")
        for is_readable in self.replay_put_off():
            unreadable += not is_readable
            if turn.over():
                yield turn.rest()
        if self.has_ended():
            return
        self.last_offset = upto - 1
        self.loading = False
        if unreadable:
            logger.error("%s: %d records make no sense and were skipped", self.partition.tp, unreadable)
        self.loaded(replayed, clock.monotonic_ms() - began_ms)

    def has_ended(self) -> bool:
        """`over`, for who has asked before a wait: the type checker takes the attribute for unchanged."""
        return self.over

    def replay_bytes(self, record: Record, producer_id: int) -> bool:
        """Whether the record made sense. One that does not must not keep the others from being served:
        administrators' tools may write here.
        """
        if record.key is None:
            return False
        try:
            typed = self.decode(record.key, record.value)
            if typed is not None:
                self.shard.replay(typed, record.offset, producer_id)
        except DecodeError:
            return False
        except Exception:
            logger.exception("%s: the record at offset %d cannot be taken", self.partition.tp, record.offset)
            return False
        return True

    # --- deciding -----------------------------------------------------------------------------------------

    def decide(self, decision: Callable[[S], Outcome]) -> None:
        """Lets the shard decide and carries it out. Raises the KafkaError that refuses the whole request."""
        try:
            outcome = decision(self.shard)
        except KafkaError:
            raise
        except Exception as error:
            self.give_up(error)
            raise
        self.carry_out(outcome)

    def decide_alone(self, decision: Callable[[S], Outcome]) -> None:
        """As `decide`, for what no request asked for; a failure is noted by `give_up` and goes no further."""
        with suppress(Exception):
            self.decide(decision)

    def carry_out(self, outcome: Outcome) -> None:
        """Raises what a bug of ours raises; the shard is given up then."""
        records = outcome.records
        if records:
            try:
                first_offset = self._append(outcome)
            except KafkaError as error:
                self._append_failed(outcome, error)
                return
            except Exception as error:
                self.give_up(error)
                raise
            if not outcome.replayed:
                try:
                    producer_id = -1 if outcome.producer is None else outcome.producer[0]
                    for offset, record in enumerate(records, first_offset):
                        self.shard.replay(record, offset, producer_id)
                except Exception as error:
                    self.give_up(error)
                    raise
        if outcome.answers or outcome.then:
            if self.partition.log.high_watermark > self.last_offset:
                self._follow_up(outcome)
            else:
                self._park(outcome)
        for job in outcome.jobs:
            self._jobs.add(self, job)

    def _follow_up(self, outcome: Outcome) -> None:
        for promise, response in outcome.answers:
            promise.complete(response)
        for work in outcome.then:
            self.begin(work)

    def _append(self, outcome: Outcome) -> int:
        """Returns the offset of the first record."""
        node = self._node
        now_ms = node.clock.now_ms()
        producer = outcome.producer
        producer_id, producer_epoch = (-1, -1) if producer is None else producer
        batch = encode_batch(
            [Record(0, now_ms, each.key_bytes(), each.value_bytes()) for each in outcome.records],
            codec=self.settings.codec,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            transactional=producer is not None,
        )
        info = node.append(
            self.partition,
            batch,
            now_ms,
            -1,
            origin=AppendOrigin.COORDINATOR,
            verification=outcome.verification,
        )
        self.last_offset = info.last_offset
        return info.first_offset

    def _append_failed(self, outcome: Outcome, error: KafkaError) -> None:
        if error.code not in _OF_THE_PRODUCER:
            logger.warning("%s: a decision could not be written: %s", self.partition.tp, error)
        refusal = _refusal(error)
        for promise, _ in outcome.answers:
            promise.refuse(refusal)
        if outcome.soft_changed:
            self.give_up(None)

    # --- waiting for the high watermark -------------------------------------------------------------------

    def _park(self, outcome: Outcome) -> None:
        if self.over:  # given up while it was carried out
            _refuse(outcome, ErrorCode.NOT_COORDINATOR)
            return
        deadline_ms = self._node.clock.monotonic_ms() + self.settings.commit_timeout_ms
        self._parked.append(_Parked(self.last_offset, deadline_ms, outcome))
        if not self._answering:
            self._answering = True
            self._node.driver.spawn(self._answer_parked(), f"commits of {self.partition.tp}")

    def _answer_parked(self) -> Steps[None]:
        partition = self.partition
        parked, overdue = self._parked, self._overdue  # `close` empties them
        while True:
            while overdue and overdue[0].offset < partition.log.high_watermark:
                for work in overdue.popleft().outcome.then:
                    self.begin(work)
            while parked and parked[0].offset < partition.log.high_watermark:
                self._follow_up(parked.popleft().outcome)
            now_ms = self._node.clock.monotonic_ms()
            while parked and parked[0].deadline_ms <= now_ms:
                late = parked.popleft()
                _refuse(late.outcome, ErrorCode.COORDINATOR_NOT_AVAILABLE)
                if late.outcome.then:
                    # The decision stands all the same if its records are committed later.
                    overdue.append(late)
            if not parked and not overdue:
                break
            first = overdue[0] if overdue else parked[0]
            waiter = self._commit_waiter = Waiter(parked[0].deadline_ms if parked else inf)
            partition.wait_for_high_watermark(first.offset, waiter)
            yield waiter
            self._commit_waiter = None
        self._answering = False

    def committed(self) -> Steps[bool]:
        """Waits until everything that the state rests on now is below the high watermark; False when it was
        not in time, or the leadership is gone.
        """
        if self.over:
            return False
        if self.partition.log.high_watermark <= self.last_offset:
            promise: Promise[bool] = Promise(lambda error: False)
            outcome = Outcome()
            outcome.answer(promise, True)
            self._park(outcome)
            if not promise.done:
                waiter = Waiter(inf)
                promise.on_done = waiter.fire
                yield waiter
            return promise.kept()
        return True

    def run_some(self, job: Job, turn: Turn) -> bool:
        """Goes on with a long piece of work until it, or the turn, is over; its end is a decision like any
        other. Whether there is more.
        """
        if self.over:
            job.close()
            return False
        try:
            while not turn.over():
                next(job)
        except StopIteration as stop:
            outcome: Outcome = stop.value
            self.decide_alone(lambda _: outcome)
            return False
        except Exception as error:
            self.give_up(error)
            return False
        return True

    def run_due(self, now_ms: float) -> bool:
        """Lets one timer that is due decide; False when none is."""
        action = self.shard.timers.pop_due(now_ms)
        if action is None:
            return False
        self.decide_alone(lambda _: action())
        return True

    # --- the end ------------------------------------------------------------------------------------------

    def close(self) -> None:
        """The leadership is gone, or the broker stops: whoever waits looks for the coordinator again."""
        if self.over:
            return
        self.over = True
        self.shard.timers.clear()
        for promise in self.shard.parked():
            promise.refuse(KafkaError(ErrorCode.NOT_COORDINATOR))
        for each in self._parked:
            _refuse(each.outcome, ErrorCode.NOT_COORDINATOR)
        self._parked.clear()
        self._overdue.clear()
        if self._commit_waiter is not None:
            self._commit_waiter.fire()

    def give_up(self, error: BaseException | None) -> None:
        """The state may not be what the log says any more: the next host starts from the log."""
        if not self.over:
            self.close()
            self._on_fault(self, error)


def _refuse(outcome: Outcome, code: ErrorCode) -> None:
    for promise, _ in outcome.answers:
        promise.refuse(KafkaError(code))


def _refusal(error: KafkaError) -> KafkaError:
    """An error of the log, as the coordinator's clients understand it."""
    if error.code in _NOT_COORDINATOR:
        return KafkaError(ErrorCode.NOT_COORDINATOR, error.message)
    if error.code in _NOT_AVAILABLE:
        return KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, error.message)
    if error.code in _TOO_LARGE:
        return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, error.message)
    return error


LOAD_FAILURES = (OSError, CorruptBatch, KafkaError)
"""What a log that cannot be read raises from `load`."""
