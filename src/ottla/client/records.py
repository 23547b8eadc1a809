"""A record on its way: as a producer is given it, and as a consumer gets it."""

from __future__ import annotations

from typing import Any, NamedTuple

CREATE_TIME = 0
LOG_APPEND_TIME = 1
NO_TIMESTAMP = -1


class OutgoingRecord(NamedTuple):
    """What to publish, as a command line says it. Without a partition the key decides; without a timestamp,
    the clock.
    """

    value: bytes | None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    partition: int | None = None
    timestamp_ms: int | None = None


class ConsumerRecord(NamedTuple):
    """What a consumer gets. `timestamp` is milliseconds since 1970; key and value are what the deserializers
    made of them.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    timestamp_type: int
    key: Any
    value: Any
    headers: tuple[tuple[str, bytes | None], ...] = ()
    leader_epoch: int = -1


class RecordMetadata(NamedTuple):
    """Where a record was stored. The offset is -1 with acks=0, and when the broker no longer knew it (a
    repeated batch).
    """

    topic: str
    partition: int
    offset: int
    timestamp: int


class OffsetAndMetadata(NamedTuple):
    """What is committed for a partition: the offset of the next record to read."""

    offset: int
    metadata: str = ""
    leader_epoch: int = -1


class OffsetAndTimestamp(NamedTuple):
    """The first record at or after a time."""

    offset: int
    timestamp: int
    leader_epoch: int = -1


class GroupMetadata(NamedTuple):
    """Who a consumer is in its group, for `send_offsets_to_transaction`."""

    group_id: str
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None
