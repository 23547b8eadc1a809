"""ListOffsets (key 2): where a partition begins and ends, and which offset a timestamp has.

v4 leader epochs; v7 the record with the largest timestamp (-3); v8 the earliest local offset (-4); v9 the
latest tiered offset (-5); v11 the earliest offset that waits for upload (-6). Without tiered storage the
log is local as a whole: -4 is the log's start, and -5 and -6 have no answer (-1).
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.log.turn import Turn
from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.effects import Steps, run_now
from ottla.replication.partition import Partition
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ottla.wire.record_batch import CorruptBatch

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6

PARTITIONS_AT_ONCE = 16

CONSUMER = -1
"""The replica id of clients. Replicas, and tools that read like one (-2), see the log up to its end."""

_SINCE_VERSION = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING_UPLOAD: 11}


def handle(
    ctx: RequestContext, request: ListOffsetsRequest
) -> ListOffsetsResponse | Steps[ListOffsetsResponse]:
    seen: set[tuple[str, int]] = set()
    twice: set[tuple[str, int]] = set()
    for topic in request.topics:
        for asked in topic.partitions:
            key = (topic.name, asked.partition_index)
            (twice if key in seen else seen).add(key)
    steps = _list(ctx, request, twice)
    return steps if len(seen) > PARTITIONS_AT_ONCE else run_now(steps)


def _list(
    ctx: RequestContext, request: ListOffsetsRequest, twice: set[tuple[str, int]]
) -> Steps[ListOffsetsResponse]:
    """A lookup by time reads from the disk, so many of them take turns with the other connections."""
    turn = Turn(ctx.node.clock)
    response = ListOffsetsResponse()
    for topic in request.topics:
        answers = ListOffsetsTopicResponse(name=topic.name)
        response.topics.append(answers)
        for asked in topic.partitions:
            if turn.over():
                yield turn.rest()
            if (topic.name, asked.partition_index) in twice:
                answer = ListOffsetsPartitionResponse(error_code=ErrorCode.INVALID_REQUEST)
            else:
                answer = _answer(ctx, request, topic.name, asked)
            answer.partition_index = asked.partition_index
            if ctx.version < 4:
                answer.leader_epoch = -1
            answers.partitions.append(answer)
    return response


def _answer(
    ctx: RequestContext, request: ListOffsetsRequest, topic: str, asked: ListOffsetsPartition
) -> ListOffsetsPartitionResponse:
    try:
        partition = ctx.node.leader_of(topic, asked.partition_index)
        end_offset = (
            partition.readable_end(request.isolation_level)
            if request.replica_id == CONSUMER
            else partition.log.log_end_offset
        )
        try:
            return _look_up(ctx, partition, asked, end_offset)
        except (OSError, CorruptBatch) as error:
            raise ctx.node.read_failed(partition, error) from error
    except KafkaError as error:
        return ListOffsetsPartitionResponse(error_code=error.code)


def _look_up(
    ctx: RequestContext, partition: Partition, asked: ListOffsetsPartition, end_offset: int
) -> ListOffsetsPartitionResponse:
    partition.check_leader_epoch(asked.current_leader_epoch)
    log = partition.log
    timestamp = asked.timestamp
    if timestamp < 0:
        if timestamp < EARLIEST_PENDING_UPLOAD or ctx.version < _SINCE_VERSION.get(timestamp, 0):
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
        if timestamp == LATEST:
            return ListOffsetsPartitionResponse(offset=end_offset, leader_epoch=partition.leader_epoch)
        if timestamp in (EARLIEST, EARLIEST_LOCAL):
            start = log.log_start_offset
            epoch = log.epochs.epoch_for_offset(start)
            return ListOffsetsPartitionResponse(offset=start, leader_epoch=epoch)
        if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
            return ListOffsetsPartitionResponse()
    found = (
        log.offset_of_max_timestamp() if timestamp == MAX_TIMESTAMP else log.offset_for_timestamp(timestamp)
    )
    if found is None or found[0] >= end_offset:
        return ListOffsetsPartitionResponse()
    offset, at_ms, epoch = found
    return ListOffsetsPartitionResponse(timestamp=at_ms, offset=offset, leader_epoch=epoch)
