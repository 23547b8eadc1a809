"""The records of `__consumer_offsets`."""

from __future__ import annotations

from ottla.coordination.record import CoordinatorRecord, decode_typed
from ottla.wire.messages.consumer_offsets import KEY_TYPES, VALUE_TYPES
from ottla.wire.primitives import Buffer


def decode_record(key: Buffer, value: Buffer | None) -> CoordinatorRecord | None:
    """As `decode_typed`, with the types of this topic."""
    return decode_typed(KEY_TYPES, VALUE_TYPES, key, value)
