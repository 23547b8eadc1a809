"""What a read gives: a slice of one segment's file."""

from __future__ import annotations

from typing import NamedTuple

from ottla.ports.disk import FileSlice


class ReadResult(NamedTuple):
    slice: FileSlice | None
    """Pinned until the caller releases it; None when there is nothing to read."""
    segment_base_offset: int
    position: int
    """Where in the segment the slice begins: at the first byte of the batch that holds the asked offset."""

    @property
    def size_bytes(self) -> int:
        return 0 if self.slice is None else self.slice.length


NOTHING = ReadResult(None, -1, -1)
