"""Writes the markers that end a transaction in each partition it touched.

The coordinator has decided, and its decision is committed: from now on the markers are written, however often
that has to be tried, until every partition that still exists has one; only then is the transaction complete.
A restart, or the next coordinator, begins again with the decision in the log, so a partition may be asked for
a marker that it has already: it then says yes, and nothing is ended twice.

A partition that is led here gets its marker by an append (`write_marker`); one that is led elsewhere is an
errand to its leader (`txn_marker_channels`). An ending follows the metadata image: what a leader refuses, or
what has got another leader meanwhile, is handed out again.
"""

from __future__ import annotations

import logging
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from ottla.broker.txn_marker_channels import MarkerChannels, MarkerErrand
from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.log.append import AppendInfo
from ottla.log.append_origin import AppendOrigin
from ottla.log.turn import Turn
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.types import CONSUMER_OFFSETS_TOPIC, TopicPartition
from ottla.ports.effects import Sleep, Steps, Waiter
from ottla.replication.partition import Partition
from ottla.transactions.markers import TxnToEnd
from ottla.transactions.shard import TransactionShard
from ottla.wire.record_batch import EndTxnMarker, encode_end_txn_batch

if TYPE_CHECKING:
    from ottla.broker.node import Node
    from ottla.broker.transaction_host import TransactionHost

logger = logging.getLogger(__name__)

RETRY_MS_MIN = 20.0
RETRY_MS_MAX = 1_000.0
LEADERS_CHECK_MS = 1_000.0
"""How often an ending that waits for other brokers looks whether they still lead what they were asked for."""
COMMIT_TIMEOUT_MS = 30_000
ERRAND_PARTITIONS_MAX = 1_000

_FENCED = frozenset((ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED))
"""Somebody newer ends this producer's transactions: this decision is not ours to carry out any more."""


def write_marker(
    node: Node,
    partition: Partition,
    producer_id: int,
    producer_epoch: int,
    marker: EndTxnMarker,
    transaction_version: int,
) -> AppendInfo:
    """Appends a marker; raises KafkaError. Offsets that the transaction committed are settled with it."""
    if partition.tp.topic == CONSUMER_OFFSETS_TOPIC:
        host = node.groups.hosts.get(partition.tp.partition)
        if host is None:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return host.write_marker(producer_id, producer_epoch, marker, transaction_version)
    now_ms = node.clock.now_ms()
    batch = encode_end_txn_batch(
        marker, producer_id=producer_id, producer_epoch=producer_epoch, timestamp=now_ms
    )
    return node.append(
        partition,
        batch,
        now_ms,
        -1,
        origin=AppendOrigin.COORDINATOR,
        transaction_version=transaction_version,
    )


def end_transaction(
    node: Node, host: TransactionHost, channels: MarkerChannels, job: TxnToEnd
) -> Steps[None]:
    """Writes every marker of a decided transaction, then lets the coordinator complete it."""
    yield from _Ending(node, host, channels, job).write_all()
    delay_ms = RETRY_MS_MIN
    while not host.over and not (yield from _complete(node, host, job)):
        yield Sleep(delay_ms)
        delay_ms = min(delay_ms * 2, RETRY_MS_MAX)


class _Written(NamedTuple):
    """A marker in a log here. It counts once it is below the high watermark of the same leadership: after
    another one, something else may be at its offset.
    """

    partition: Partition
    leader_epoch: int
    offset: int


class _Ending:
    """A partition of the transaction is in one of three places until it has its marker."""

    __slots__ = (
        "_node",
        "_host",
        "_channels",
        "_job",
        "_left",
        "_errands",
        "_written",
        "_refusals",
        "_delay_ms",
        "_next_ms",
        "_waiter",
    )

    def __init__(self, node: Node, host: TransactionHost, channels: MarkerChannels, job: TxnToEnd) -> None:
        self._node = node
        self._host = host
        self._channels = channels
        self._job = job
        self._left: list[TopicPartition] = list(job.partitions)
        """To be handed out."""
        self._errands: list[MarkerErrand] = []
        self._written: list[_Written] = []
        self._refusals: list[tuple[TopicPartition, ErrorCode]] = []
        self._delay_ms = RETRY_MS_MIN
        self._next_ms = -inf
        """When `_left` is handed out."""
        self._waiter: Waiter | None = None

    def write_all(self) -> Steps[None]:
        """Until every marker is written and replicated, or the host is over: whoever loads the shard then
        ends the transaction, and its producer may begin the next one.
        """
        while not self._host.over:
            if self._left and self._node.clock.monotonic_ms() >= self._next_ms:
                yield from self._hand_out()
                if self._host.has_ended():
                    break
            self._collect()
            if not (self._left or self._errands or self._written):
                break
            self._waiter = Waiter(self._look_again_ms())
            if self._written:
                # All of them are waited for, so the first is as good as any.
                partition, _, offset = self._written[0]
                partition.wait_for_high_watermark(offset, self._waiter)
            yield self._waiter
            self._waiter = None
        for errand in self._errands:
            errand.dropped = True
        if self._refusals:
            tp, code = self._refusals[0]
            logger.warning(
                "the markers of transaction %.100r are refused by %d partitions, first by %s: %s",
                *(self._job.transactional_id, len(self._refusals), tp, code.name),
            )

    def _hand_out(self) -> Steps[None]:
        node = self._node
        turn = Turn(node.clock)
        elsewhere: dict[int, list[TopicPartition]] = {}
        left, self._left = self._left, []
        for tp in left:
            if turn.over():
                yield turn.rest()
                if self._host.has_ended():
                    return
            state = node.image.partition(*tp)
            if state is None:
                continue  # deleted: there is nothing to end
            if state.leader == node.node_id:
                self._write(tp)
            elif state.leader >= 0:
                elsewhere.setdefault(state.leader, []).append(tp)
            else:
                self._again(tp)
        for broker_id, tps in elsewhere.items():
            for begin in range(0, len(tps), ERRAND_PARTITIONS_MAX):
                some = tps[begin : begin + ERRAND_PARTITIONS_MAX]
                errand = MarkerErrand(self._host, self._job, broker_id, some, self._wake)
                self._errands.append(errand)
                self._channels.put(errand)

    def _write(self, tp: TopicPartition) -> None:
        job = self._job
        marker = EndTxnMarker(job.committed, job.coordinator_epoch)
        try:
            partition = self._node.leader_of(*tp)
            info = write_marker(
                self._node, partition, job.producer_id, job.producer_epoch, marker, job.transaction_version
            )
        except KafkaError as error:
            self._refused(tp, error.code)
        else:
            self._written.append(_Written(partition, partition.leader_epoch, info.last_offset))

    def _refused(self, tp: TopicPartition, code: ErrorCode) -> None:
        if code in _FENCED:
            self._refusals.append((tp, code))
        else:
            self._again(tp)

    def _again(self, tp: TopicPartition) -> None:
        now_ms = self._node.clock.monotonic_ms()
        if now_ms >= self._next_ms:
            self._next_ms = now_ms + self._delay_ms
            self._delay_ms = min(self._delay_ms * 2, RETRY_MS_MAX)
        self._left.append(tp)

    def _collect(self) -> None:
        """Looks what became of what was handed out."""
        under_way: list[MarkerErrand] = []
        for errand in self._errands:
            if errand.codes is not None:
                for tp, code in errand.codes.items():
                    if code != ErrorCode.NONE:
                        self._refused(tp, code)
            elif self._has_moved(errand):
                errand.dropped = True
                for tp in errand.partitions:
                    self._again(tp)
            else:
                under_way.append(errand)
        self._errands = under_way
        waiting: list[_Written] = []
        for each in self._written:
            partition = each.partition
            if not partition.is_leader or partition.leader_epoch != each.leader_epoch:
                self._again(partition.tp)
            elif partition.log.high_watermark <= each.offset:
                waiting.append(each)
        self._written = waiting

    def _has_moved(self, errand: MarkerErrand) -> bool:
        """Whether the errand's broker leads none of its partitions any more: it may never answer."""
        partition = self._node.image.partition
        return all(
            (state := partition(*tp)) is None or state.leader != errand.broker_id for tp in errand.partitions
        )

    def _look_again_ms(self) -> float:
        now_ms = self._node.clock.monotonic_ms()
        if self._left:
            return self._next_ms
        return now_ms + (LEADERS_CHECK_MS if self._errands else COMMIT_TIMEOUT_MS)

    def _wake(self) -> None:
        if self._waiter is not None:
            self._waiter.fire()


def replicated(
    node: Node, partition: Partition, offset: int, leader_epoch: int, timeout_ms: float
) -> Steps[bool]:
    """Waits until what was appended at `offset` under this leadership is below the high watermark; False when
    it is not in time, or when the leadership has ended: something else may be at the offset then.
    """
    deadline_ms = node.clock.monotonic_ms() + timeout_ms
    while partition.is_leader and partition.leader_epoch == leader_epoch:
        if partition.log.high_watermark > offset:
            return True
        if node.clock.monotonic_ms() >= deadline_ms:
            break
        waiter = Waiter(deadline_ms)
        partition.wait_for_high_watermark(offset, waiter)
        yield waiter
    return False


def _complete(node: Node, host: TransactionHost, job: TxnToEnd) -> Steps[bool]:
    """Notes that all markers are written; False when the note could not be written."""
    promise: Promise[bool] = Promise(lambda error: False)

    def decision(shard: TransactionShard) -> Outcome:
        outcome = shard.marked(job)
        outcome.answer(promise, True)
        return outcome

    host.decide_alone(decision)
    if not promise.done and not host.over:
        waiter = Waiter(node.clock.monotonic_ms() + COMMIT_TIMEOUT_MS)
        promise.on_done = waiter.fire
        yield waiter
    return promise.done and promise.kept()
