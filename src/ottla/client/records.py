"""A record on its way: as a producer is given it, and as a consumer gets it."""

from __future__ import annotations

from typing import NamedTuple

CREATE_TIME = 0
LOG_APPEND_TIME = 1
NO_TIMESTAMP = -1


class OutgoingRecord(NamedTuple):
    """What to publish. Without a partition the key decides; without a timestamp, the clock."""

    value: bytes | None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    partition: int | None = None
    timestamp_ms: int | None = None

    def size_bytes(self) -> int:
        """About what the record takes in a batch before compression (an upper bound, as Java estimates)."""
        size = 21 + len(self.key or b"") + len(self.value or b"")
        for name, value in self.headers:
            size += 10 + len(name) * 3 + len(value or b"")
        return size


class ConsumedRecord(NamedTuple):
    """What was read. `timestamp_type` is CREATE_TIME or LOG_APPEND_TIME."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    timestamp_type: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    leader_epoch: int = -1
