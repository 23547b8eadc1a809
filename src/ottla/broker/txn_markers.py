"""Writes the markers that end a transaction in each partition it touched.

The coordinator has decided, and its decision is committed: from now on the markers are written, however often
that has to be tried, until every partition that still exists has one; only then is the transaction complete.
A restart begins again with the decision in the log, so a partition may be asked for a marker that it has
already: it then says yes and writes nothing new.

Here every partition is led by this node, so a marker is an append; a marker of another coordinator arrives
through WriteTxnMarkers and takes the same way (`write_marker`).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

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
COMMIT_TIMEOUT_MS = 30_000

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


def end_transaction(node: Node, host: TransactionHost, job: TxnToEnd) -> Steps[None]:
    """Writes every marker of a decided transaction, then lets the coordinator complete it."""
    marker = EndTxnMarker(job.committed, job.coordinator_epoch)
    left = list(job.partitions)
    refusals: list[tuple[TopicPartition, KafkaError]] = []
    delay_ms = RETRY_MS_MIN
    turn = Turn(node.clock)
    while left and not host.over:
        again: list[TopicPartition] = []
        written: list[tuple[Partition, int]] = []
        for tp in left:
            if turn.over():
                yield turn.rest()
                if host.has_ended():
                    return  # whoever loads the shard ends it, and its producer may begin the next one then
            topic = node.image.topics.get(tp.topic)
            if topic is None or tp.partition not in topic.partitions:
                continue  # deleted: there is nothing to end
            try:
                partition = node.leader_of(tp.topic, tp.partition)
                info = write_marker(
                    node, partition, job.producer_id, job.producer_epoch, marker, job.transaction_version
                )
            except KafkaError as error:
                if error.code in _FENCED:
                    refusals.append((tp, error))
                    continue
                again.append(tp)
            else:
                written.append((partition, info.last_offset))
        for partition, offset in written:
            if not (yield from replicated(node, partition, offset, COMMIT_TIMEOUT_MS)):
                again.append(partition.tp)
        turn.begin()
        left = again
        if left:
            yield Sleep(delay_ms)
            delay_ms = min(delay_ms * 2, RETRY_MS_MAX)
    if refusals:
        logger.warning(
            "the markers of transaction %.100r are refused by %d partitions, first by %s: %s",
            *(job.transactional_id, len(refusals), *refusals[0]),
        )
    delay_ms = RETRY_MS_MIN
    while not host.over and not (yield from _complete(node, host, job)):
        yield Sleep(delay_ms)
        delay_ms = min(delay_ms * 2, RETRY_MS_MAX)


def replicated(node: Node, partition: Partition, offset: int, timeout_ms: int) -> Steps[bool]:
    """Waits until `offset` is below the high watermark; False when it is not in time, or not led here."""
    if partition.log.high_watermark <= offset and partition.is_leader:
        waiter = Waiter(node.clock.monotonic_ms() + timeout_ms)
        partition.wait_for_high_watermark(offset, waiter)
        yield waiter
    return partition.log.high_watermark > offset


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
