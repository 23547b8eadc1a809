"""The bytes that classic members of a consumer group exchange through the coordinator, which does not read
them: subscriptions to the leader, assignments back.

Both begin with a version of two bytes. Whoever reads a newer version than it knows reads what it knows of it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Final

from ottla.assignors.subscription import Subscription
from ottla.model.types import TopicPartition
from ottla.wire.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolAssignmentTopicPartition,
    ConsumerProtocolSubscription,
    ConsumerProtocolSubscriptionTopicPartition,
)
from ottla.wire.primitives import DecodeError, Encoder

PROTOCOL_TYPE: Final = "consumer"
_VERSION: Final = struct.Struct(">h")


class ForeignBytes(ValueError):
    """Another member, or a tool, wrote something that is not the consumer protocol."""


def write_subscription(
    topics: Sequence[str],
    owned: Iterable[TopicPartition] = (),
    *,
    generation: int = -1,
    rack: str | None = None,
    user_data: bytes | None = None,
) -> bytes:
    message = ConsumerProtocolSubscription(
        topics=sorted(topics),
        user_data=user_data,
        owned_partitions=[
            ConsumerProtocolSubscriptionTopicPartition(topic=topic, partitions=indexes)
            for topic, indexes in _by_topic(owned).items()
        ],
        generation_id=generation,
        rack_id=rack,
    )
    return _written(message, ConsumerProtocolSubscription.MAX_VERSION)


def read_subscription(data: bytes, *, group_instance_id: str | None = None) -> Subscription:
    version = _version(data, ConsumerProtocolSubscription.MAX_VERSION)
    try:
        message, _ = ConsumerProtocolSubscription.decode(data, _VERSION.size, len(data), version)
    except DecodeError as error:
        raise ForeignBytes(str(error)) from error
    return Subscription(
        tuple(message.topics),
        tuple(TopicPartition(t.topic, index) for t in message.owned_partitions for index in t.partitions),
        message.generation_id,
        message.rack_id,
        group_instance_id,
        message.user_data,
    )


def write_assignment(partitions: Iterable[TopicPartition]) -> bytes:
    message = ConsumerProtocolAssignment(
        assigned_partitions=[
            ConsumerProtocolAssignmentTopicPartition(topic=topic, partitions=indexes)
            for topic, indexes in _by_topic(partitions).items()
        ]
    )
    return _written(message, ConsumerProtocolAssignment.MAX_VERSION)


def read_assignment(data: bytes) -> list[TopicPartition]:
    """What a member was given; nothing where the bytes are empty."""
    if not data:
        return []
    version = _version(data, ConsumerProtocolAssignment.MAX_VERSION)
    try:
        message, _ = ConsumerProtocolAssignment.decode(data, _VERSION.size, len(data), version)
    except DecodeError as error:
        raise ForeignBytes(str(error)) from error
    return [TopicPartition(t.topic, index) for t in message.assigned_partitions for index in t.partitions]


def _version(data: bytes, newest: int) -> int:
    if len(data) < _VERSION.size:
        raise ForeignBytes(f"{len(data)} bytes are too few for a version")
    version: int = _VERSION.unpack_from(data)[0]
    if version < 0:
        raise ForeignBytes(f"there is no version {version}")
    return min(version, newest)


def _written(message: ConsumerProtocolSubscription | ConsumerProtocolAssignment, version: int) -> bytes:
    out = Encoder()
    message.encode(out, version)
    return _VERSION.pack(version) + bytes(out.buf)


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for tp in sorted(partitions):
        found.setdefault(tp.topic, []).append(tp.partition)
    return found
