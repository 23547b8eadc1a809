"""Memory of batches that were stored, kept for the next ones.

A table's batches are large, and the allocator gets memory of that size from the system and gives it back
every time: clearing fresh pages took a third of a producer's time at 1 KB a record.
"""

from __future__ import annotations

from typing import Final

SPARE_BYTES_MIN: Final = 128 * 1024
"""Smaller pieces stay with the allocator anyway."""
SPARES_MAX: Final = 16


class SpareBytes:
    def __init__(self) -> None:
        self._spares: list[bytearray] = []

    def take(self) -> bytearray | None:
        """Bytes to write over; None when there are none to spare."""
        return self._spares.pop() if self._spares else None

    def give(self, data: bytearray) -> None:
        """Bytes that nobody reads any more: they left once, and the broker has answered."""
        if len(data) >= SPARE_BYTES_MIN and len(self._spares) < SPARES_MAX:
            self._spares.append(data)
