"""Carries out what one shard of the group coordinator decides: append, replay, answer.

A host lives as long as this broker leads the shard's partition of `__consumer_offsets` in one go. It loads
the shard from the log, a slice at a time, and from then on every outcome goes through `carry_out`: its
records become one batch of the log, are replayed at once, and its answers (also those of decisions that only
read) wait until everything appended so far is below the high watermark.

A shard is never rolled back in place. When soft state ran ahead of a batch that could not be written, when
the leadership is lost, or when a decision fails on a bug of ours, the host is over: whoever waits is told to
look for the coordinator again, and the next host starts from the log.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from ottla.coordination.outcome import Job, Outcome
from ottla.coordination.record import CoordinatorRecord
from ottla.groups.environment import Environment
from ottla.groups.record import decode_record
from ottla.groups.shard import Shard
from ottla.log.append_origin import AppendOrigin
from ottla.log.turn import Turn
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import DECOMPRESSED_BATCH_BYTES_MAX
from ottla.ports.effects import DiskJob, Steps, Waiter
from ottla.replication.partition import Partition
from ottla.wire.primitives import DecodeError
from ottla.wire.record_batch import Codec, CorruptBatch, Record, decode_batch, encode_batch, iter_headers

if TYPE_CHECKING:
    from ottla.broker.group_jobs import GroupJobs
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
_TOO_LARGE = frozenset(
    (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.INVALID_FETCH_SIZE)
)


class ShardHost:
    """`over` is asked after every wait: it is set for good when this host serves no more."""

    __slots__ = (
        "shard",
        "partition",
        "leader_epoch",
        "loading",
        "over",
        "last_offset",
        "_deleted_topics",
        "_node",
        "_env",
        "_jobs",
        "_on_fault",
    )

    def __init__(
        self,
        node: Node,
        env: Environment,
        partition: Partition,
        jobs: GroupJobs,
        on_fault: Callable[[ShardHost, BaseException | None], None],
    ) -> None:
        """`on_fault` is called when the shard has to be loaded anew; with the exception, if it was a bug."""
        self.shard = Shard(env)
        self.partition = partition
        self.leader_epoch = partition.leader_epoch
        self.loading = True
        self.over = False
        self.last_offset = -1
        """Of the last record that the shard's state rests on."""
        self._deleted_topics: list[tuple[str, bytes]] = []
        self._node = node
        self._env = env
        self._jobs = jobs
        self._on_fault = on_fault

    # --- loading ------------------------------------------------------------------------------------------

    def load(self) -> Steps[None]:
        """Replays the log; whoever asks meanwhile is answered COORDINATOR_LOAD_IN_PROGRESS."""
        began_ms = self._env.clock.monotonic_ms()
        log = self.partition.log
        upto = log.log_end_offset
        turn = Turn(self._env.clock)
        replayed = unreadable = 0
        offset = log.log_start_offset
        while offset < upto:
            offset = max(offset, log.log_start_offset)  # somebody may delete records meanwhile
            found = log.read(offset, self._env.settings.offsets_load_buffer_bytes, upto_offset=upto)
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
                        continue
                    for record in decode_batch(
                        data, position, decompressed_bytes_max=DECOMPRESSED_BATCH_BYTES_MAX
                    ):
                        replayed += 1
                        unreadable += not self._replay(record)
                        if turn.over():
                            yield turn.rest()
                if self._is_over():
                    return
            if offset == before:
                raise OSError(errno.EIO, f"{self.partition.tp} cannot be read past offset {offset}")
        self.last_offset = upto - 1
        self.loading = False
        if unreadable:
            logger.error("%s: %d records make no sense and were skipped", self.partition.tp, unreadable)
        if replayed:
            logger.info(
                "%s: %d groups loaded from %d records in %.0f ms",
                self.partition.tp,
                len(self.shard.state.groups),
                replayed,
                self._env.clock.monotonic_ms() - began_ms,
            )
        self.decide_alone(Shard.loaded)
        if not self._is_over():
            self.decide_alone(Shard.loaded_offsets)
        self.topics_changed([])

    def _is_over(self) -> bool:
        return self.over

    def _replay(self, record: Record) -> bool:
        """One record that nobody can read, or that makes no sense, must not keep the others from being
        served: administrators' tools may write here.
        """
        if record.key is None:
            return False
        try:
            typed = decode_record(record.key, record.value)
            if typed is not None:
                self.shard.replay(typed)
        except DecodeError:
            return False
        except Exception:
            logger.exception("%s: the record at offset %d cannot be taken", self.partition.tp, record.offset)
            return False
        return True

    # --- deciding -----------------------------------------------------------------------------------------

    def decide(self, decision: Callable[[Shard], Outcome]) -> None:
        """Lets the shard decide and carries it out. Raises the KafkaError that refuses the whole request."""
        try:
            outcome = decision(self.shard)
        except KafkaError:
            raise
        except Exception as error:
            self.give_up(error)
            raise
        self.carry_out(outcome)

    def decide_alone(self, decision: Callable[[Shard], Outcome]) -> None:
        """As `decide`, for what no request asked for; a failure is noted by `give_up` and goes no further."""
        with suppress(Exception):
            self.decide(decision)

    def topics_changed(self, deleted: list[tuple[str, bytes]]) -> None:
        """Topics came, changed or went; a shard that is loading hears of it when it is there."""
        self._deleted_topics += deleted
        if not self.loading and not self.over:
            gone, self._deleted_topics = self._deleted_topics, []
            self.decide_alone(lambda shard: shard.topics_changed(gone))

    def carry_out(self, outcome: Outcome) -> None:
        """Raises what a bug of ours raises; the shard is given up then."""
        records = outcome.records
        if records:
            try:
                self._append(records)
            except KafkaError as error:
                self._append_failed(outcome, error)
                return
            except Exception as error:
                self.give_up(error)
                raise
            if not outcome.replayed:
                try:
                    for record in records:
                        self.shard.replay(record)
                except Exception as error:
                    self.give_up(error)
                    raise
        if outcome.answers:
            if self.partition.log.high_watermark > self.last_offset:
                for promise, response in outcome.answers:
                    promise.complete(response)
            else:
                self._node.driver.spawn(
                    self._answer_when_committed(outcome), f"commit of {self.partition.tp}"
                )
        for job in outcome.jobs:
            self._jobs.add(self, job)

    def _append(self, records: list[CoordinatorRecord]) -> None:
        node = self._node
        now_ms = node.clock.now_ms()
        batch = encode_batch(
            [Record(0, now_ms, each.key_bytes(), each.value_bytes()) for each in records],
            codec=Codec(node.settings.groups_codec),
        )
        info = node.append(self.partition, batch, now_ms, -1, origin=AppendOrigin.COORDINATOR)
        self.last_offset = info.last_offset

    def _append_failed(self, outcome: Outcome, error: KafkaError) -> None:
        logger.warning("%s: a decision could not be written: %s", self.partition.tp, error)
        refusal = _refusal(error)
        for promise, _ in outcome.answers:
            promise.refuse(refusal)
        if outcome.soft_changed:
            self.give_up(None)

    def _answer_when_committed(self, outcome: Outcome) -> Steps[None]:
        offset = self.last_offset
        if (yield from self.committed(offset)):
            for promise, response in outcome.answers:
                promise.complete(response)
            return
        code = ErrorCode.NOT_COORDINATOR if self.over else ErrorCode.COORDINATOR_NOT_AVAILABLE
        for promise, _ in outcome.answers:
            promise.refuse(KafkaError(code))

    def committed(self, offset: int) -> Steps[bool]:
        """Waits until everything up to `offset` is below the high watermark; False when it was not in
        time, or the leadership is gone.
        """
        partition = self.partition
        if partition.log.high_watermark <= offset:
            waiter = Waiter(self._env.clock.monotonic_ms() + self._env.settings.offsets_commit_timeout_ms)
            partition.wait_for_high_watermark(offset, waiter)
            yield waiter
        return not self.over and partition.log.high_watermark > offset

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

    def give_up(self, error: BaseException | None) -> None:
        """The state may not be what the log says any more: the next host starts from the log."""
        if not self.over:
            self.close()
            self._on_fault(self, error)


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
