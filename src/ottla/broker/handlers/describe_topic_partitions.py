"""DescribeTopicPartitions (key 75): topics in pages, by name, with eligible leader replicas (KIP-966).

A page ends after `max.request.partition.size.limit` partitions; the cursor names the first partition of the
next one.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.handlers.metadata import ALL_TOPIC_OPERATIONS
from ottla.broker.metadata_cache import offline_replicas
from ottla.metadata.image import TopicImage
from ottla.model.errors import ErrorCode
from ottla.model.topics import topic_name_problem
from ottla.model.types import INTERNAL_TOPICS
from ottla.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseCursor,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)


def handle(ctx: RequestContext, request: DescribeTopicPartitionsRequest) -> DescribeTopicPartitionsResponse:
    node = ctx.node
    image = node.image
    names = sorted({topic.name for topic in request.topics}) or sorted(image.topics)
    asked = bool(request.topics)
    first_partition = 0
    cursor = request.cursor
    if cursor is not None:
        names = [name for name in names if name >= cursor.topic_name]
        if names and names[0] == cursor.topic_name:
            first_partition = max(cursor.partition_index, 0)
    limit = max(1, node.config.get_int("max.request.partition.size.limit"))
    room = min(limit, request.response_partition_limit) if request.response_partition_limit > 0 else limit
    response = DescribeTopicPartitionsResponse()
    for name in names:
        topic = image.topics.get(name)
        if topic is None:
            if asked:
                response.topics.append(_unknown(name))
            continue
        if room <= 0:
            response.next_cursor = DescribeTopicPartitionsResponseCursor(topic_name=name, partition_index=0)
            break
        indexes = [index for index in sorted(topic.partitions) if index >= first_partition]
        first_partition = 0
        page = indexes[:room]
        room -= len(page)
        response.topics.append(_described(ctx, topic, page))
        if len(page) < len(indexes):
            response.next_cursor = DescribeTopicPartitionsResponseCursor(
                topic_name=name, partition_index=indexes[len(page)]
            )
            break
    return response


def _unknown(name: str) -> DescribeTopicPartitionsResponseTopic:
    code = (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if topic_name_problem(name) is None
        else ErrorCode.INVALID_TOPIC_EXCEPTION
    )
    return DescribeTopicPartitionsResponseTopic(error_code=code, name=name)


def _described(
    ctx: RequestContext, topic: TopicImage, indexes: list[int]
) -> DescribeTopicPartitionsResponseTopic:
    brokers = ctx.node.image.brokers
    described = DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        topic_authorized_operations=ALL_TOPIC_OPERATIONS,
    )
    for index in indexes:
        state = topic.partitions[index]
        described.partitions.append(
            DescribeTopicPartitionsResponsePartition(
                error_code=ErrorCode.NONE if state.leader >= 0 else ErrorCode.LEADER_NOT_AVAILABLE,
                partition_index=index,
                leader_id=state.leader,
                leader_epoch=state.leader_epoch,
                replica_nodes=list(state.replicas),
                isr_nodes=list(state.isr),
                eligible_leader_replicas=list(state.eligible_leader_replicas),
                last_known_elr=list(state.last_known_elr),
                offline_replicas=offline_replicas(brokers, state.replicas),
            )
        )
    return described
