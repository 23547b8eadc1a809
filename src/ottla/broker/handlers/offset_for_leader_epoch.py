"""OffsetForLeaderEpoch (key 23): where an epoch ended, so that a reader can tell that its log was cut
(KIP-101, KIP-320).
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.model.errors import KafkaError
from ottla.wire.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)


def handle(ctx: RequestContext, request: OffsetForLeaderEpochRequest) -> OffsetForLeaderEpochResponse:
    response = OffsetForLeaderEpochResponse()
    for topic in request.topics:
        answers = OffsetForLeaderTopicResult(topic=topic.topic)
        response.topics.append(answers)
        for asked in topic.partitions:
            answer = EpochEndOffset(partition=asked.partition)
            try:
                partition = ctx.node.leader_of(topic.topic, asked.partition)
                partition.check_leader_epoch(asked.current_leader_epoch)
                answer.leader_epoch, answer.end_offset = partition.log.end_offset_for_epoch(
                    asked.leader_epoch
                )
            except KafkaError as error:
                answer.error_code = error.code
            answers.partitions.append(answer)
    return response
