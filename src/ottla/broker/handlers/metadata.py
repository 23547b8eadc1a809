"""Metadata (key 3): brokers, topics, partitions and their leaders.

v1 null asks for all topics and an empty list for none (v0: the empty list asks for all); v4 may forbid
auto-creation; v5 offline replicas; v7 leader epochs; v8 authorised operations; v9 flexible; v10 topic ids;
v12 topics by id alone; v13 a top-level error.

A topic's answer is encoded once per version and listener, and kept until the topic or the brokers change: a
response for ten thousand partitions is then a join of bytes. Brokers that are fenced, or have no endpoint for
the client's listener, are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.broker.context import RequestContext
from ottla.broker.metadata_cache import shown_controller, topic_response
from ottla.broker.replies import Encoded
from ottla.metadata.image import BrokerImage, TopicImage
from ottla.model.errors import ErrorCode
from ottla.model.topics import topic_name_problem
from ottla.model.types import INTERNAL_TOPICS, NO_TOPIC_ID
from ottla.ports.effects import Sleep, Steps
from ottla.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from ottla.wire.primitives import Encoder, write_uvarint

FLEXIBLE_SINCE: Final = 9

ALL_TOPIC_OPERATIONS: Final = 0b110111111000
"""Everything that may be done to a topic (bit n = operation code n), for brokers without access rules:
read, write, create, delete, alter, describe, and describe and alter its configs.
"""
ALL_CLUSTER_OPERATIONS: Final = 0b1111110100000
"""Create, alter, describe, cluster action, describe and alter configs, idempotent write."""
NOT_ASKED: Final = -(2**31)
NAMES_PER_TURN: Final = 500
"""Names that are looked up before the loop gets a turn: two to five milliseconds where none is known."""
TELLING_CODES: Final = frozenset(
    {ErrorCode.INVALID_REPLICATION_FACTOR, ErrorCode.INVALID_TOPIC_EXCEPTION, ErrorCode.POLICY_VIOLATION}
)
"""Why a topic was not created, where trying again does not help; otherwise it is just unknown yet."""
NO_REFUSALS: Final[Mapping[str, ErrorCode]] = {}


def handle(ctx: RequestContext, request: MetadataRequest) -> Encoded | Steps[Encoded]:
    node = ctx.node
    asked = request.topics
    if asked is None or (ctx.version == 0 and not asked):
        return _respond(ctx, request, None)
    # Each once, as in Kafka: the same name a million times would be a million times its answer.
    asked = list({(topic.topic_id, topic.name): topic for topic in asked}.values())
    missing = [
        topic.name
        for topic in asked
        if topic.name is not None
        and topic.topic_id == NO_TOPIC_ID
        and topic.name not in node.image.topics
        and topic_name_problem(topic.name) is None
    ]
    may_create = request.allow_auto_topic_creation or ctx.version < 4
    if missing and may_create and node.settings.auto_create_topics:
        return _create_and_respond(ctx, request, asked, missing)
    if len(asked) > NAMES_PER_TURN:
        return _respond_in_slices(ctx, request, asked, NO_REFUSALS)
    return _respond(ctx, request, asked)


def _create_and_respond(
    ctx: RequestContext, request: MetadataRequest, asked: list[MetadataRequestTopic], missing: list[str]
) -> Steps[Encoded]:
    """Kafka answers UNKNOWN_TOPIC_OR_PARTITION first and creates meanwhile; here the answer waits, and is
    final.
    """
    refused = yield from ctx.node.auto_creation.create(missing)
    refusals = {name: error.code for name, error in refused.items() if error.code in TELLING_CODES}
    return (yield from _respond_in_slices(ctx, request, asked, refusals))


def _respond_in_slices(
    ctx: RequestContext,
    request: MetadataRequest,
    asked: list[MetadataRequestTopic],
    refusals: Mapping[str, ErrorCode],
) -> Steps[Encoded]:
    """So that many names, most of them unknown, are no other connection's delay."""
    operations = request.include_topic_authorized_operations and ctx.version >= 8
    pieces: list[bytes | bytearray] = []
    for done, wanted in enumerate(asked):
        if done and done % NAMES_PER_TURN == 0:
            yield Sleep(0)
        pieces.append(_answer(ctx, wanted, operations, refusals))
    return _assemble(ctx, request, pieces)


def _respond(
    ctx: RequestContext, request: MetadataRequest, asked: list[MetadataRequestTopic] | None
) -> Encoded:
    operations = request.include_topic_authorized_operations and ctx.version >= 8
    if asked is None:
        pieces = [_encoded_topic(ctx, each, operations) for each in ctx.node.image.topics.values()]
    else:
        pieces = [_answer(ctx, wanted, operations, NO_REFUSALS) for wanted in asked]
    return _assemble(ctx, request, pieces)


def _assemble(ctx: RequestContext, request: MetadataRequest, pieces: list[bytes | bytearray]) -> Encoded:
    node = ctx.node
    listener_name = ctx.peer.listener_name
    response = MetadataResponse(
        brokers=[
            _broker(broker, listener_name)
            for broker in node.image.brokers.values()
            if not broker.fenced and listener_name in broker.listeners
        ],
        cluster_id=node.cluster_id,
        controller_id=shown_controller(node),
        cluster_authorized_operations=(
            ALL_CLUSTER_OPERATIONS if request.include_cluster_authorized_operations else NOT_ASKED
        ),
    )
    return splice_topics(response, pieces, ctx.version)


def splice_topics(response: MetadataResponse, topics: list[bytes | bytearray], version: int) -> Encoded:
    """Encodes a response that has no topics and puts the encoded ones where the empty array stands."""
    out = Encoder()
    response.encode(out, version)
    whole = out.to_bytes()
    flexible = version >= FLEXIBLE_SINCE
    # Behind the array: cluster operations in 8 to 10, an error code from 13 on, the tagged fields.
    tail_bytes = (4 if 8 <= version <= 10 else 0) + (2 if version >= 13 else 0) + (1 if flexible else 0)
    tail_at = len(whole) - tail_bytes
    count = bytearray()
    if flexible:
        write_uvarint(count, len(topics) + 1)
    else:
        count += len(topics).to_bytes(4, "big")
    head_end = tail_at - (1 if flexible else 4)
    return Encoded([whole[:head_end], count, *topics, whole[tail_at:]], flexible)


def _answer(
    ctx: RequestContext,
    wanted: MetadataRequestTopic,
    operations: bool,
    refusals: Mapping[str, ErrorCode],
) -> bytes | bytearray:
    image = ctx.node.image
    version = ctx.version
    by_id = wanted.topic_id != NO_TOPIC_ID
    topic: TopicImage | None
    if version < 12 and (by_id or wanted.name is None):
        topic = None  # the field is there from version 10 on, its use from 12
        code = ErrorCode.INVALID_REQUEST
    elif by_id:
        topic = image.topics_by_id.get(wanted.topic_id)
        code = ErrorCode.UNKNOWN_TOPIC_ID
    else:
        name = wanted.name or ""
        topic = image.topics.get(name)
        code = (
            refusals.get(name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            if topic_name_problem(name) is None
            else ErrorCode.INVALID_TOPIC_EXCEPTION
        )
    if topic is not None:
        return _encoded_topic(ctx, topic, operations)
    name_or_null = wanted.name if not by_id or version < 12 else None
    out = Encoder()
    MetadataResponseTopic(
        error_code=code,
        name=name_or_null if version >= 12 else name_or_null or "",
        topic_id=wanted.topic_id,
        is_internal=wanted.name in INTERNAL_TOPICS,
    ).encode(out, version)
    return out.to_bytes()


def _encoded_topic(ctx: RequestContext, topic: TopicImage, operations: bool) -> bytes | bytearray:
    node, version, listener_name = ctx.node, ctx.version, ctx.peer.listener_name
    if not operations:
        return node.metadata_cache.encoded(node.image, topic, version, listener_name)
    out = Encoder()
    response = topic_response(node.image, topic, version, listener_name)
    response.topic_authorized_operations = ALL_TOPIC_OPERATIONS
    response.encode(out, version)
    return out.to_bytes()


def _broker(broker: BrokerImage, listener_name: str) -> MetadataResponseBroker:
    endpoint = broker.listeners[listener_name]
    return MetadataResponseBroker(
        node_id=broker.node_id, host=endpoint.host, port=endpoint.port, rack=broker.rack
    )
