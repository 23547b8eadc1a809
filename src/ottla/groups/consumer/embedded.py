"""The consumer protocol that classic members embed in their joins and assignments: bytes to topic ids and
back.

The bytes come from clients, or from the log of a group whose clients wrote them: everything may be wrong
with them.
"""

from __future__ import annotations

from typing import Final

from ottla.groups.consumer.member import Partitions
from ottla.model.limits import GROUP_SUBSCRIBED_TOPICS_MAX
from ottla.ports.topic_view import TopicView
from ottla.wire.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolAssignmentTopicPartition,
    ConsumerProtocolSubscription,
)
from ottla.wire.primitives import DecodeError, Encoder

_VERSION_BYTES: Final = 2
_COUNT_BYTES: Final = 4


def decode_subscription(metadata: bytes) -> ConsumerProtocolSubscription:
    """Raises DecodeError."""
    version = _version(metadata)
    count_end = _VERSION_BYTES + _COUNT_BYTES
    if int.from_bytes(metadata[_VERSION_BYTES:count_end], "big") > GROUP_SUBSCRIBED_TOPICS_MAX:
        raise DecodeError("a subscription to too many topics")
    known = min(version, ConsumerProtocolSubscription.MAX_VERSION)
    return ConsumerProtocolSubscription.decode(metadata, _VERSION_BYTES, len(metadata), known)[0]


def decode_assignment(data: bytes) -> ConsumerProtocolAssignment:
    """Raises DecodeError."""
    known = min(_version(data), ConsumerProtocolAssignment.MAX_VERSION)
    return ConsumerProtocolAssignment.decode(data, _VERSION_BYTES, len(data), known)[0]


def _version(data: bytes) -> int:
    """A version newer than ours begins with what ours knows; there are no negative ones."""
    if len(data) < _VERSION_BYTES:
        raise DecodeError("no version")
    version = int.from_bytes(data[:_VERSION_BYTES], "big", signed=True)
    if version < 0:
        raise DecodeError(f"version {version}")
    return version


def owned_partitions(subscription: ConsumerProtocolSubscription, topics: TopicView) -> Partitions:
    return _by_id([(each.topic, each.partitions) for each in subscription.owned_partitions], topics)


def assigned_partitions(assignment: ConsumerProtocolAssignment, topics: TopicView) -> Partitions:
    return _by_id([(each.topic, each.partitions) for each in assignment.assigned_partitions], topics)


def _by_id(entries: list[tuple[str, list[int]]], topics: TopicView) -> Partitions:
    found: dict[bytes, frozenset[int]] = {}
    for name, partitions in entries:
        facts = topics.topic(name)
        if facts is not None and partitions:
            found[facts.topic_id] = found.get(facts.topic_id, frozenset()) | frozenset(partitions)
    return found


def encode_assignment(assigned: Partitions, metadata: bytes, topics: TopicView) -> bytes:
    """What a classic member with this subscription is handed: the version is the subscription's."""
    version = min(_version(metadata), ConsumerProtocolAssignment.MAX_VERSION)
    entries: list[ConsumerProtocolAssignmentTopicPartition] = []
    for topic_id, partitions in assigned.items():
        facts = topics.topic_by_id(topic_id)
        if facts is not None:
            entries.append(
                ConsumerProtocolAssignmentTopicPartition(topic=facts.name, partitions=sorted(partitions))
            )
    entries.sort(key=lambda entry: entry.topic)
    out = Encoder()
    out.buf += version.to_bytes(_VERSION_BYTES, "big")
    ConsumerProtocolAssignment(assigned_partitions=entries).encode(out, version)
    return bytes(out.buf)
