"""DeleteRecords (key 21): move a partition's log start forward; -1 means "up to the high watermark".

It is done when the replicas of all live brokers have moved theirs, too: until then one that becomes leader
would show the records again.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.types import INTERNAL_TOPICS
from ottla.ports.effects import Steps, Waiter
from ottla.replication.partition import Partition
from ottla.wire.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

_Wait = tuple[Partition, int, DeleteRecordsPartitionResult]


def handle(
    ctx: RequestContext, request: DeleteRecordsRequest
) -> DeleteRecordsResponse | Steps[DeleteRecordsResponse]:
    response = DeleteRecordsResponse()
    waits: list[_Wait] = []
    for topic in request.topics:
        answers = DeleteRecordsTopicResult(name=topic.name)
        response.topics.append(answers)
        for asked in topic.partitions:
            answer = DeleteRecordsPartitionResult(partition_index=asked.partition_index, low_watermark=-1)
            try:
                if topic.name in INTERNAL_TOPICS:
                    raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION)
                partition, offset = _delete(ctx, topic.name, asked.partition_index, asked.offset)
                answer.low_watermark = partition.log.log_start_offset
                if partition.leading is not None:
                    waits.append((partition, offset, answer))
            except KafkaError as error:
                answer.error_code = error.code
            answers.partitions.append(answer)
    return _wait_for_replicas(ctx, response, waits, request.timeout_ms) if waits else response


def _wait_for_replicas(
    ctx: RequestContext, response: DeleteRecordsResponse, waits: list[_Wait], timeout_ms: int
) -> Steps[DeleteRecordsResponse]:
    node = ctx.node
    deadline_ms = node.clock.monotonic_ms() + max(timeout_ms, 0)
    for partition, offset, answer in waits:
        in_time = True
        while True:
            if partition.deleted or not partition.is_leader:
                answer.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
                answer.low_watermark = -1
                break
            alive = frozenset(broker.node_id for broker in node.image.active_brokers())
            answer.low_watermark = partition.low_watermark(alive)
            if answer.low_watermark >= offset:
                break
            if not in_time:
                answer.error_code = ErrorCode.REQUEST_TIMED_OUT
                break
            waiter = Waiter(deadline_ms)
            partition.wait_for_log_starts(waiter)
            ctx.peer.add_waiter(waiter)
            in_time = yield waiter
            ctx.peer.discard_waiter(waiter)
    return response


def _delete(ctx: RequestContext, topic: str, index: int, offset: int) -> tuple[Partition, int]:
    """The partition, and what its log start was moved to."""
    partition = ctx.node.leader_of(topic, index)
    log = partition.log
    if log.config.compact and not log.config.delete:
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION, f"{topic} is compacted: only cleanup.policy=delete allows this"
        )
    if offset == -1:
        offset = log.high_watermark
    if offset < 0 or offset > log.high_watermark:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
    ctx.node.advance_log_start(partition, offset)
    return partition, offset
