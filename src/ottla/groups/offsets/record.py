"""The record of one committed offset, and the tombstone that removes it.

A commit may carry thousands of these, so they are encoded by hand: the part of the key that a topic's
partitions share is made once, and the common value takes two `pack`s. The bytes are those of the generated
code, which a test compares.

The value has the version that Kafka 4.2 writes: 4, or 1 where an old client gave the offset a retention of
its own, since only version 1 can carry that. Version 1 has no leader epoch and no topic id; they are left
out of the value itself, so that replaying what was decided and replaying what was written are the same.
"""

from __future__ import annotations

from functools import lru_cache
from struct import Struct
from typing import Final

from ottla.coordination.record import CoordinatorRecord
from ottla.groups.offsets.store import NO_EXPIRY
from ottla.wire.messages.consumer_offsets import OffsetCommitKey, OffsetCommitValue
from ottla.wire.primitives import ZERO_UUID

VALUE_VERSION: Final = 4
EXPIRING_VALUE_VERSION: Final = 1

_int16 = Struct(">h").pack
_int32 = Struct(">i").pack
_value_head = Struct(">hqiB").pack
_value_tail = Struct(">qB").pack
_value_tail_with_topic_id = Struct(">qBBB16s").pack

_SHORT_STRING_BYTES_MAX: Final = 126
"""Longer strings have a length of more than one byte."""

_make = tuple.__new__  # half the price of the named tuple's own constructor


@lru_cache(maxsize=256)
def _key_prefix(group_id: str, topic: str) -> bytes:
    group_bytes = group_id.encode()
    topic_bytes = topic.encode()
    return b"".join(
        (
            _int16(OffsetCommitKey.RECORD_TYPE),
            _int16(len(group_bytes)),
            group_bytes,
            _int16(len(topic_bytes)),
            topic_bytes,
        )
    )


class OffsetRecord(CoordinatorRecord):
    """A CoordinatorRecord with an OffsetCommitKey that encodes itself faster."""

    __slots__ = ()

    def key_bytes(self) -> bytes:
        key = self.key
        return _key_prefix(key.group, key.topic) + _int32(key.partition)

    def value_bytes(self) -> bytes | None:
        value: OffsetCommitValue | None = self.value
        if value is None:
            return None
        metadata = value.metadata.encode()
        if self.version != VALUE_VERSION or len(metadata) > _SHORT_STRING_BYTES_MAX:
            return super().value_bytes()
        head = _value_head(VALUE_VERSION, value.offset, value.leader_epoch, len(metadata) + 1)
        if value.topic_id == ZERO_UUID:
            return head + metadata + _value_tail(value.commit_timestamp, 0)
        # One tagged field: number 0, sixteen bytes.
        return head + metadata + _value_tail_with_topic_id(value.commit_timestamp, 1, 0, 16, value.topic_id)


def offset_record(
    group_id: str,
    topic: str,
    partition: int,
    offset: int,
    leader_epoch: int,
    metadata: str,
    commit_ms: int,
    expire_ms: int,
    topic_id: bytes,
) -> OffsetRecord:
    key = OffsetCommitKey(group=group_id, topic=topic, partition=partition)
    if expire_ms == NO_EXPIRY:
        value = OffsetCommitValue(
            offset=offset,
            leader_epoch=leader_epoch,
            metadata=metadata,
            commit_timestamp=commit_ms,
            topic_id=topic_id,
        )
        return _make(OffsetRecord, (key, value, VALUE_VERSION))
    value = OffsetCommitValue(
        offset=offset, metadata=metadata, commit_timestamp=commit_ms, expire_timestamp=expire_ms
    )
    return OffsetRecord(key, value, EXPIRING_VALUE_VERSION)


def offset_tombstone(group_id: str, topic: str, partition: int) -> OffsetRecord:
    return OffsetRecord(OffsetCommitKey(group=group_id, topic=topic, partition=partition), None)
