"""DescribeTopicPartitions (key 75): topics in pages, by name, with eligible leader replicas (KIP-966).

A page ends after `max.request.partition.size.limit` partitions; the cursor names the first partition of the
next one.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.handlers.metadata import ALL_TOPIC_OPERATIONS
from ottla.broker.metadata_cache import NO_LEADER, offline_replicas, reachable_leader
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
    names = {topic.name for topic in request.topics}
    asked = bool(names)
    if not asked:
        names = set(image.topics)
    first_partition = 0
    cursor = request.cursor
    response = DescribeTopicPartitionsResponse()
    if cursor is not None:
        if cursor.partition_index < 0:
            response.topics = [_refused(name, ErrorCode.INVALID_REQUEST) for name in sorted(names)]
            return response
        names = {name for name in names if name >= cursor.topic_name}
        if asked:
            names.add(cursor.topic_name)
        first_partition = cursor.partition_index
    limit = node.config.get_int("max.request.partition.size.limit")
    room = max(1, min(limit, request.response_partition_limit))
    for name in sorted(names):
        if room <= 0:
            response.next_cursor = DescribeTopicPartitionsResponseCursor(topic_name=name, partition_index=0)
            break
        if cursor is not None and name != cursor.topic_name:
            first_partition = 0
        topic = image.topics.get(name)
        if topic is None:
            if asked:
                response.topics.append(_unknown(name))
            continue
        indexes = [index for index in sorted(topic.partitions) if index >= first_partition]
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
    return _refused(name, code)


def _refused(name: str, code: ErrorCode) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        error_code=code, name=name, is_internal=name in INTERNAL_TOPICS
    )


def _described(
    ctx: RequestContext, topic: TopicImage, indexes: list[int]
) -> DescribeTopicPartitionsResponseTopic:
    brokers = ctx.node.image.brokers
    listener_name = ctx.peer.listener_name
    described = DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        topic_authorized_operations=ALL_TOPIC_OPERATIONS,
    )
    for index in indexes:
        state = topic.partitions[index]
        leader = reachable_leader(brokers, state, listener_name)
        described.partitions.append(
            DescribeTopicPartitionsResponsePartition(
                error_code=ErrorCode.LEADER_NOT_AVAILABLE if leader == NO_LEADER else ErrorCode.NONE,
                partition_index=index,
                leader_id=leader,
                leader_epoch=state.leader_epoch,
                replica_nodes=list(state.replicas),
                isr_nodes=list(state.isr),
                eligible_leader_replicas=list(state.eligible_leader_replicas),
                last_known_elr=list(state.last_known_elr),
                offline_replicas=offline_replicas(brokers, state, listener_name),
            )
        )
    return described
