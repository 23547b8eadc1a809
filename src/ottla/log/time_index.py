"""`.timeindex`: from a timestamp to an offset.

An entry is twelve bytes: the largest timestamp seen so far (64 bits) and the offset, relative to the
segment's base, of the batch that brought it (its last offset). Timestamps rise from entry to entry, although
those of the records need not: everything before the entry's batch is older than the entry says. When a
segment is rolled or closed its largest timestamp becomes the last entry, so that the age of a segment is
known without reading it.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from ottla.log.file_names import TIME_INDEX_SUFFIX
from ottla.log.index_file import DamagedIndex, IndexFile
from ottla.log.offset_index import RELATIVE_OFFSET_MAX
from ottla.ports.disk import Disk

_ENTRY: Final = Struct(">QI")
NO_TIMESTAMP: Final = -1


class TimeIndex(IndexFile):
    __slots__ = ("last_timestamp",)

    SUFFIX = TIME_INDEX_SUFFIX
    ENTRY_BYTES = 12

    last_timestamp: int
    """Of the last entry, or -1."""

    def __init__(self, disk: Disk, dir_path: str, base_offset: int, *, fresh: bool) -> None:
        super().__init__(disk, dir_path, base_offset, fresh=fresh)
        self.last_timestamp = NO_TIMESTAMP

    def _check_loaded(self) -> None:
        self.last_timestamp = self.entry(self.entries - 1)[0] if self.entries else NO_TIMESTAMP

    def reset(self) -> None:
        super().reset()
        self.last_timestamp = NO_TIMESTAMP

    def maybe_append(self, timestamp: int, offset: int) -> None:
        """Only a timestamp above all earlier ones makes an entry."""
        if timestamp > self.last_timestamp:
            self._append(_ENTRY.pack(timestamp, offset - self.base_offset))
            self.last_timestamp = timestamp

    def entry(self, n: int) -> tuple[int, int]:
        """`(timestamp, offset)`."""
        timestamp, relative = _ENTRY.unpack(self._entry(n))
        return timestamp, self.base_offset + relative

    def last_entry(self) -> tuple[int, int]:
        return self.entry(self.entries - 1) if self.entries else (NO_TIMESTAMP, self.base_offset)

    def lookup(self, timestamp: int) -> int:
        """An offset before which every record is older than `timestamp`."""
        if timestamp < 0:
            return self.base_offset
        found = self._floor(min(timestamp, 2**63 - 1).to_bytes(8, "big"), 0)
        return self.base_offset if found < 0 else self.entry(found)[1]

    def truncate_to(self, offset: int) -> None:
        """Drops entries whose batch is at or after `offset`."""
        relative = offset - self.base_offset
        if relative <= 0:
            self._truncate_entries(0)
        else:
            self._truncate_entries(
                self._floor(min(relative - 1, RELATIVE_OFFSET_MAX).to_bytes(4, "big"), 8) + 1
            )
        self.last_timestamp = self.entry(self.entries - 1)[0] if self.entries else NO_TIMESTAMP

    def check(self) -> None:
        """Raises DamagedIndex when the ends of the index cannot be: a cheap look, the log is the truth."""
        if not self.entries:
            return
        first_timestamp, first_offset = self.entry(0)
        last_timestamp, last_offset = self.entry(self.entries - 1)
        if (
            last_timestamp > 2**63 - 1
            or last_offset - self.base_offset > RELATIVE_OFFSET_MAX
            or (self.entries > 1 and (last_timestamp <= first_timestamp or last_offset <= first_offset))
        ):
            raise DamagedIndex(
                f"{self.path} goes from {first_timestamp}@{first_offset} to {last_timestamp}@{last_offset}"
            )
