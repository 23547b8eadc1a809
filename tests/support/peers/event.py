"""What is written, what was acknowledged, and what was read back."""

from __future__ import annotations

from typing import NamedTuple, Protocol

Headers = tuple[tuple[str, bytes | None], ...]

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
DEADLINE_S = 40.0


class Event(NamedTuple):
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    timestamp: int | None = None


class Ack(NamedTuple):
    """What a producer learned; None where the client does not tell."""

    offset: int | None
    timestamp: int | None


class Seen(NamedTuple):
    offset: int
    timestamp: int
    timestamp_type: int
    key: bytes | None
    value: bytes | None
    headers: Headers


class Peer(Protocol):
    name: str
    sets_timestamps: bool

    def write(self, bootstrap: str, topic: str, events: list[Event], codec: str, **config: str) -> list[Ack]:
        """All events to partition 0, in order, from one producer with the client's idempotence."""

    def read(self, bootstrap: str, counts: dict[str, int]) -> dict[str, list[Seen]]:
        """Partition 0 of each topic from the beginning, until that many records are there."""
