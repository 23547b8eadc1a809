"""DeleteRecords (key 21): move a partition's log start forward; -1 means "up to the high watermark"."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.types import INTERNAL_TOPICS
from ottla.wire.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)


def handle(ctx: RequestContext, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
    response = DeleteRecordsResponse()
    for topic in request.topics:
        answers = DeleteRecordsTopicResult(name=topic.name)
        response.topics.append(answers)
        for asked in topic.partitions:
            answer = DeleteRecordsPartitionResult(partition_index=asked.partition_index, low_watermark=-1)
            try:
                if topic.name in INTERNAL_TOPICS:
                    raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION)
                answer.low_watermark = _delete(ctx, topic.name, asked.partition_index, asked.offset)
            except KafkaError as error:
                answer.error_code = error.code
            answers.partitions.append(answer)
    return response


def _delete(ctx: RequestContext, topic: str, index: int, offset: int) -> int:
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
    return log.log_start_offset
