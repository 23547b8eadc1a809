"""WriteTxnMarkers (key 27): a coordinator, or an administrator, ends a transaction in some partitions.

v1 flexible; v2 the transaction's generation (KIP-890). Brokers send it to each other, and
`kafka-transactions.sh --abort` sends it to end a transaction that nobody else will end (KIP-664).
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.txn_markers import replicated, write_marker
from ottla.log.turn import Turn
from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.effects import Steps
from ottla.replication.partition import Partition
from ottla.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from ottla.wire.record_batch import EndTxnMarker

COMMIT_TIMEOUT_MS = 30_000

_COORDINATOR_IS_AWAY = frozenset(
    (
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    )
)
"""Of `__consumer_offsets`: whoever writes markers knows partitions, not groups, and comes again."""

_Wait = tuple[Partition, int, int, WritableTxnMarkerPartitionResult]
"""A marker's partition, its leader epoch and its offset, and the answer about it."""


def handle(ctx: RequestContext, request: WriteTxnMarkersRequest) -> Steps[WriteTxnMarkersResponse]:
    node = ctx.node
    response = WriteTxnMarkersResponse()
    waits: list[_Wait] = []
    turn = Turn(node.clock)
    for wanted in request.markers:
        marker = EndTxnMarker(wanted.transaction_result, wanted.coordinator_epoch)
        result = WritableTxnMarkerResult(producer_id=wanted.producer_id)
        response.markers.append(result)
        for topic in wanted.topics:
            answers: list[WritableTxnMarkerPartitionResult] = []
            result.topics.append(WritableTxnMarkerTopicResult(name=topic.name, partitions=answers))
            for index in topic.partition_indexes:
                if turn.over():
                    yield turn.rest()
                answer = WritableTxnMarkerPartitionResult(partition_index=index)
                answers.append(answer)
                try:
                    _check_producer(wanted)
                    partition = node.leader_of(topic.name, index)
                    info = write_marker(
                        node,
                        partition,
                        wanted.producer_id,
                        wanted.producer_epoch,
                        marker,
                        wanted.transaction_version,
                    )
                except KafkaError as error:
                    answer.error_code = (
                        ErrorCode.NOT_LEADER_OR_FOLLOWER if error.code in _COORDINATOR_IS_AWAY else error.code
                    )
                else:
                    waits.append((partition, partition.leader_epoch, info.last_offset, answer))
    deadline_ms = node.clock.monotonic_ms() + COMMIT_TIMEOUT_MS
    for partition, leader_epoch, offset, answer in waits:
        left_ms = max(deadline_ms - node.clock.monotonic_ms(), 0.0)
        if not (yield from replicated(node, partition, offset, leader_epoch, left_ms)):
            leads_on = partition.is_leader and partition.leader_epoch == leader_epoch
            answer.error_code = ErrorCode.REQUEST_TIMED_OUT if leads_on else ErrorCode.NOT_LEADER_OR_FOLLOWER
    return response


def _check_producer(wanted: WritableTxnMarker) -> None:
    """A marker of nobody would be in the log for ever. Kafka fails on it (UNKNOWN_SERVER_ERROR)."""
    if wanted.producer_id < 0:
        raise KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if wanted.producer_epoch < 0:
        raise KafkaError(ErrorCode.INVALID_PRODUCER_EPOCH)
