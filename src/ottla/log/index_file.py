"""What the three indexes of a segment have in common: a file of fixed-size, rising entries.

New entries are gathered in memory and written a few kilobytes at a time, so an append to the log costs no
second system call. A rolled segment keeps nothing in memory but the number of its entries; a lookup reads
the file by bisection, block by block. Keys are big-endian and not negative, so they compare as bytes and
nothing is unpacked during a search.

After a crash nobody trusts an index of a segment that lies past the recovery point: it is built again from
the log. For the others the checks here (whole entries, and in the subclasses: entries within the segment)
find what a bad disk left, and `DamagedIndex` makes the segment build it again.
"""

from __future__ import annotations

from typing import Final

from ottla.log.file_names import DELETED_SUFFIX, segment_path
from ottla.ports.disk import Disk, File

_PENDING_BYTES_MAX: Final = 2048
"""Entries held in memory before they are written: with 16 KB batches one write in 256 appends."""

_BLOCK_ENTRIES: Final = 256
"""Once a search is narrowed to this many entries, they are read at once."""

_RECENT_BLOCKS_MAX: Final = 64
"""A consumer that catches up looks into the same block again and again: the last ones are kept (200 KB)."""

_NOT_LOADED: Final = -1


class DamagedIndex(Exception):
    """The index file cannot be what was written; build it again from the log."""


_recent_blocks: dict[IndexFile, tuple[int, bytes]] = {}
"""Index -> number of the block's first entry, and its bytes. Entries on disk never change, only end."""


def _floor_in(entries: bytes | bytearray, key: bytes, key_at: int, size: int) -> int:
    """The last entry whose key is at most `key`, or -1."""
    key_end = key_at + len(key)
    low, high = 0, len(entries) // size
    while low < high:
        middle = (low + high) >> 1
        at = middle * size
        if entries[at + key_at : at + key_end] <= key:
            low = middle + 1
        else:
            high = middle
    return low - 1


class IndexFile:
    __slots__ = ("_disk", "_dir_path", "base_offset", "entries", "_file", "_on_disk", "_pending", "unsynced")

    SUFFIX: str
    ENTRY_BYTES: int

    def __init__(self, disk: Disk, dir_path: str, base_offset: int, *, fresh: bool) -> None:
        self._disk = disk
        self._dir_path = dir_path
        self.base_offset = base_offset
        self._file: File | None = None
        self._on_disk = 0 if fresh else _NOT_LOADED
        self._pending: bytearray | None = None
        self.entries = 0
        """How many there are, once loaded."""
        self.unsynced = False
        """Whether the file has bytes that no flush has made durable."""

    @property
    def path(self) -> str:
        return segment_path(self._dir_path, self.base_offset, self.SUFFIX)

    @property
    def loaded(self) -> bool:
        return self._on_disk != _NOT_LOADED

    def load(self) -> None:
        """Looks at the file; a missing one is damage. Does nothing the second time."""
        if self._on_disk != _NOT_LOADED:
            return
        try:
            file = self._disk.open(self.path)
        except FileNotFoundError:
            raise DamagedIndex(f"{self.path} is missing") from None
        size = file.size()
        if size % self.ENTRY_BYTES:
            raise DamagedIndex(
                f"{self.path} has {size} bytes, not a whole number of {self.ENTRY_BYTES}-byte entries"
            )
        self._file = file
        self._on_disk = self.entries = size // self.ENTRY_BYTES
        self._check_loaded()

    def _check_loaded(self) -> None:
        """Subclasses look for entries that cannot be."""

    def reset(self) -> None:
        """Empties the index, whatever is in the file."""
        _recent_blocks.pop(self, None)
        self._pending = None
        self._on_disk = self.entries = 0
        if self._file is None and self._disk.exists(self.path):
            self._file = self._disk.open(self.path)
        if self._file is not None:
            self._file.truncate(0)

    # --- writing

    def _append(self, entry: bytes) -> None:
        pending = self._pending
        if pending is None:
            pending = self._pending = bytearray()
        pending += entry
        self.entries += 1
        if len(pending) >= _PENDING_BYTES_MAX:
            try:
                self.write_pending()
            except OSError:
                # The entries stay in memory and are written later: at the next full block, flush or roll.
                # A disk that has no room for them refuses the appends too, so they do not pile up.
                if len(pending) > 64 * _PENDING_BYTES_MAX:
                    raise

    def write_pending(self) -> None:
        """Writes what is held in memory. On an error nothing is lost: file and memory stay as they were."""
        pending = self._pending
        if not pending:
            return
        file = self.ensure_file()
        expected = self._on_disk * self.ENTRY_BYTES
        if file.size() != expected:
            file.truncate(expected)
        written = file.append((pending,))
        self.unsynced = True
        if written != len(pending):
            file.truncate(expected)
            raise OSError(28, "no space left on device", self.path)
        self._on_disk += len(pending) // self.ENTRY_BYTES
        self._pending = None

    def ensure_file(self) -> File:
        """The file, created when there is none. A fresh index takes over no bytes of an older file."""
        file = self._file
        if file is None:
            file = self._file = self._disk.open(self.path, create=True)
            expected = self._on_disk * self.ENTRY_BYTES
            if file.size() != expected:
                file.truncate(expected)
            self.unsynced = True
        return file

    def _truncate_entries(self, keep: int) -> None:
        if keep >= self.entries:
            return
        on_disk = self._on_disk
        if keep > on_disk:
            assert self._pending is not None
            del self._pending[(keep - on_disk) * self.ENTRY_BYTES :]
        else:
            self._pending = None
            if keep < on_disk:
                assert self._file is not None
                _recent_blocks.pop(self, None)
                self._file.truncate(keep * self.ENTRY_BYTES)
                self._on_disk = keep
                self.unsynced = True
        self.entries = keep

    # --- reading

    def _entry(self, n: int) -> bytes:
        size = self.ENTRY_BYTES
        if n >= self._on_disk:
            assert self._pending is not None
            at = (n - self._on_disk) * size
            return bytes(self._pending[at : at + size])
        cached = _recent_blocks.get(self)
        if cached is not None:
            at = (n - cached[0]) * size
            if 0 <= at < len(cached[1]):
                return cached[1][at : at + size]
        assert self._file is not None
        entry = self._file.pread(size, n * size)
        if len(entry) != size:
            raise DamagedIndex(f"{self.path} ends before entry {n}")
        return entry

    def _floor(self, key: bytes, key_at: int) -> int:
        """The last entry whose key (the bytes at `key_at`) is at most `key`, or -1."""
        size = self.ENTRY_BYTES
        key_end = key_at + len(key)
        on_disk = self._on_disk
        pending = self._pending
        if pending:
            last_at = len(pending) - size
            if pending[last_at + key_at : last_at + key_end] <= key:
                return self.entries - 1
            if pending[key_at:key_end] <= key:
                return on_disk + _floor_in(pending, key, key_at, size)
        if on_disk == 0:
            return -1
        cached = _recent_blocks.get(self)
        if cached is not None:
            low, block = cached
            at = len(block) - size
            if block[key_at:key_end] <= key and (
                key < block[at + key_at : at + key_end] or low + at // size + 1 == on_disk
            ):
                return low + _floor_in(block, key, key_at, size)
        file = self._file
        assert file is not None
        low, high = 0, on_disk
        while high - low > _BLOCK_ENTRIES:
            middle = (low + high) >> 1
            if file.pread(len(key), middle * size + key_at) <= key:
                low = middle
            else:
                high = middle
        block = file.pread((high - low) * size, low * size)
        if len(block) != (high - low) * size:
            raise DamagedIndex(f"{self.path} is shorter than it was")
        if len(_recent_blocks) >= _RECENT_BLOCKS_MAX:
            del _recent_blocks[next(iter(_recent_blocks))]
        _recent_blocks[self] = (low, block)
        return low + _floor_in(block, key, key_at, size)

    # --- the file itself

    def rest(self) -> None:
        """Gives back the descriptor: the segment is rolled and will be read seldom."""
        _recent_blocks.pop(self, None)
        if self._file is not None:
            self._file.close()

    def sync(self) -> None:
        if self._file is not None:
            self._file.sync()

    def file_for_sync(self) -> File | None:
        return self._file if self.unsynced else None

    def mark_deleted(self) -> File | None:
        """Renames the file so that a restart removes it; None when there is none."""
        _recent_blocks.pop(self, None)
        file = self._file
        if file is None:
            try:
                file = self._disk.open(self.path)
            except FileNotFoundError:
                return None
        file.rename(self.path + DELETED_SUFFIX)
        self._file = None
        self._pending = None
        return file

    def move_to(self, dir_path: str) -> None:
        """The directory was renamed: whatever is opened from now on is there."""
        self._dir_path = dir_path
        if self._file is not None:
            self._file.close()
            self._file = self._disk.open(self.path)
