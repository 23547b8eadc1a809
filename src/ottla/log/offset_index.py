"""`.index`: from an offset to a position in the segment, one entry every `index.interval.bytes`.

An entry is eight bytes: the offset minus the segment's base offset, and the position, both as 32-bit
integers. The offset is the *last* one of the batch at the position (that is what Kafka writes), so a lookup
finds a batch at or before the wanted one and the caller steps on from there.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from ottla.log.file_names import OFFSET_INDEX_SUFFIX
from ottla.log.index_file import DamagedIndex, IndexFile

_ENTRY: Final = Struct(">II")
RELATIVE_OFFSET_MAX: Final = 2**31 - 1


class OffsetIndex(IndexFile):
    __slots__ = ()

    SUFFIX = OFFSET_INDEX_SUFFIX
    ENTRY_BYTES = 8

    def append(self, last_offset: int, position: int) -> None:
        self._append(_ENTRY.pack(last_offset - self.base_offset, position))

    def entry(self, n: int) -> tuple[int, int]:
        """`(offset, position)`."""
        relative, position = _ENTRY.unpack(self._entry(n))
        return self.base_offset + relative, position

    def lookup(self, offset: int) -> int:
        """A position at or before the batch that holds `offset`: 0 when no entry is that low."""
        relative = offset - self.base_offset
        if relative < 0:
            return 0
        if relative > RELATIVE_OFFSET_MAX:
            relative = RELATIVE_OFFSET_MAX
        found = self._floor(relative.to_bytes(4, "big"), 0)
        if found < 0:
            return 0
        return int.from_bytes(self._entry(found)[4:], "big")

    def offset_at_or_after(self, position: int) -> int | None:
        """The offset of the first entry at or after a position: a bound for what lies before the position."""
        found = self._floor((position - 1).to_bytes(4, "big"), 4) + 1 if position > 0 else 0
        return self.entry(found)[0] if found < self.entries else None

    def last_position(self) -> int:
        """Where to begin a search for the end of the segment."""
        return self.entry(self.entries - 1)[1] if self.entries else 0

    def truncate_to(self, offset: int) -> None:
        """Drops entries at or after `offset`."""
        relative = offset - self.base_offset
        if relative <= 0:
            self._truncate_entries(0)
        else:
            self._truncate_entries(
                self._floor(min(relative - 1, RELATIVE_OFFSET_MAX).to_bytes(4, "big"), 0) + 1
            )

    def check(self, segment_bytes: int) -> None:
        """A cheap look at both ends: DamagedIndex when they cannot belong to a segment of this size."""
        if not self.entries:
            return
        first_offset, first_position = self.entry(0)
        last_offset, last_position = self.entry(self.entries - 1)
        if (
            first_position >= segment_bytes
            or last_position >= segment_bytes
            or last_offset - self.base_offset > RELATIVE_OFFSET_MAX
            or (self.entries > 1 and (last_offset <= first_offset or last_position <= first_position))
        ):
            raise DamagedIndex(
                f"{self.path} points from {first_offset}@{first_position} to {last_offset}@{last_position} "
                f"in a segment of {segment_bytes} bytes"
            )
