"""One record of a coordinator's topic: a typed key and a typed value, or no value, which is a tombstone.

Decisions return these, the log holds their bytes in Kafka's own formats, and `replay` takes them back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ottla.wire.framing import (
    UnknownRecordType,
    decode_coordinator_key,
    decode_coordinator_value,
    encode_coordinator_key,
    encode_coordinator_value,
)
from ottla.wire.primitives import Buffer


class CoordinatorRecord(NamedTuple):
    key: Any
    value: Any
    """None is a tombstone."""
    version: int = 0
    """Of the value's encoding."""

    def key_bytes(self) -> bytes:
        return encode_coordinator_key(self.key)

    def value_bytes(self) -> bytes | None:
        return None if self.value is None else encode_coordinator_value(self.value, self.version)


def decode_typed(
    key_types: Mapping[int, Any], value_types: Mapping[int, Any], key: Buffer, value: Buffer | None
) -> CoordinatorRecord | None:
    """The record in these bytes; None when its type is unknown (a newer version wrote it), which is skipped.

    Raises DecodeError for bytes that do not make sense.
    """
    try:
        typed_key = decode_coordinator_key(key_types, key)
        if value is None:
            return CoordinatorRecord(typed_key, None)
        typed_value, version = decode_coordinator_value(value_types, typed_key.RECORD_TYPE, value)
    except UnknownRecordType:
        return None
    return CoordinatorRecord(typed_key, typed_value, version)
