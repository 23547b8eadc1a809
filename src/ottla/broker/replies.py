"""What a handler may return instead of a message."""

from __future__ import annotations

from typing import Any, Final


class Close:
    """Close the connection; the reason becomes one log line."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


class Encoded:
    """A response whose body is already bytes, for answers that are put together from cached pieces."""

    __slots__ = ("flexible", "pieces")

    def __init__(self, pieces: list[bytes | bytearray], flexible: bool) -> None:
        self.pieces = pieces
        self.flexible = flexible

    def frame(self, correlation_id: int) -> list[Any]:
        head = correlation_id.to_bytes(4, "big", signed=True) + (b"\x00" if self.flexible else b"")
        size = len(head) + sum(map(len, self.pieces))
        return [b"".join((size.to_bytes(4, "big"), head, *self.pieces))]


NO_REPLY: Final = object()
"""acks=0: the request is done and the peer expects nothing."""
