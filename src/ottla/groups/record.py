"""One record of `__consumer_offsets`: a typed key and a typed value, or no value, which is a tombstone.

Decisions return these, the log holds their bytes in Kafka's own formats, and `replay` takes them back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ottla.wire.framing import (
    UnknownRecordType,
    decode_coordinator_key,
    decode_coordinator_value,
    encode_coordinator_key,
    encode_coordinator_value,
)
from ottla.wire.messages.consumer_offsets import KEY_TYPES, VALUE_TYPES
from ottla.wire.primitives import Buffer


class GroupRecord(NamedTuple):
    key: Any
    value: Any
    """None is a tombstone."""
    version: int = 0
    """Of the value's encoding."""

    def key_bytes(self) -> bytes:
        return encode_coordinator_key(self.key)

    def value_bytes(self) -> bytes | None:
        return None if self.value is None else encode_coordinator_value(self.value, self.version)


def decode_record(key: Buffer, value: Buffer | None) -> GroupRecord | None:
    """The record in these bytes; None when its type is unknown (a newer version wrote it), which is skipped.

    Raises DecodeError for bytes that do not make sense.
    """
    try:
        typed_key = decode_coordinator_key(KEY_TYPES, key)
        if value is None:
            return GroupRecord(typed_key, None)
        typed_value, version = decode_coordinator_value(VALUE_TYPES, typed_key.RECORD_TYPE, value)
    except UnknownRecordType:
        return None
    return GroupRecord(typed_key, typed_value, version)
