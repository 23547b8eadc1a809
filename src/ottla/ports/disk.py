"""The disk as pure code sees it: synchronous, small, and the same for the real one and the simulated one.

A `File` is cheap and may exist by the ten thousand: it is a name, not a descriptor. The real disk opens a
descriptor when the file is used and closes the least recently used ones, so that idle segments hold none.
Whoever needs the bytes of a file to stay reachable across turns of the loop (a reply being sent) holds a
`FileSlice`, which pins the descriptor until it is released: a number closed and reused under a pending
sendfile would send another topic's bytes.

All calls raise OSError as the operating system does (ENOSPC, EIO, EMFILE, ENOENT). Nothing here is safe to
call from a thread except `File.sync`, `File.pread` and `sync_dir`, which are single system calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview


class File(Protocol):
    path: str

    def size(self) -> int: ...

    def append(self, parts: Sequence[Buffer]) -> int:
        """Writes the parts at the end of the file with one system call; returns how many bytes were
        written, which may be fewer than asked (a full disk): the caller truncates back.
        """
        ...

    def write_at(self, data: Buffer, position: int) -> int: ...

    def pread(self, length: int, position: int) -> bytes:
        """Up to `length` bytes from `position`; shorter only at the end of the file."""
        ...

    def pread_into(self, buffer: bytearray | memoryview, position: int) -> int: ...

    def newest(self, length: int, position: int) -> bytes | None:
        """These bytes, if they are what was appended last to the whole disk and were few; else None. For
        readers that wait for a record: they need not ask the operating system for what it was just given.
        """
        ...

    def truncate(self, size: int) -> None: ...

    def sync(self) -> None:
        """Returns when the contents are on stable storage (fdatasync or better)."""
        ...

    def pin(self) -> int:
        """Opens the descriptor if need be, keeps it open until `unpin`, and returns it (the simulated disk
        returns -1).
        """
        ...

    def unpin(self) -> None: ...

    def rename(self, path: str) -> None:
        """Moves the file to another name atomically, replacing what is there; open descriptors and slices
        stay valid.
        """
        ...

    def close(self) -> None:
        """Drops the descriptor unless it is pinned (then it is dropped at the last unpin). The object may
        be used again.
        """
        ...

    def delete(self) -> None:
        """Removes the name; pinned readers keep reading. Missing files are not an error."""
        ...


class Disk(Protocol):
    def open(self, path: str, *, create: bool = False) -> File:
        """`create=False` raises FileNotFoundError when there is no such file. Creating does not truncate."""
        ...

    def exists(self, path: str) -> bool: ...

    def is_dir(self, path: str) -> bool: ...

    def list_dir(self, path: str) -> list[str]:
        """The names in a directory, sorted."""
        ...

    def make_dirs(self, path: str) -> None: ...

    def rename(self, old: str, new: str) -> None:
        """Atomic; replaces a file, and moves a whole directory (open `File`s below it keep their old path:
        reopen them).
        """
        ...

    def remove(self, path: str) -> None: ...

    def remove_tree(self, path: str) -> None: ...

    def sync_dir(self, path: str) -> None:
        """Makes renames, creations and deletions in the directory durable."""
        ...

    def sync_volume(self, path: str) -> None:
        """Makes everything durable that was written on the volume that holds `path`, names included: one call
        where thousands of files would each need their own.
        """
        ...

    def read_file(self, path: str) -> bytes: ...

    def write_file_atomic(self, path: str, data: bytes) -> None:
        """Writes `path`.tmp, syncs it, renames it over `path`, syncs the directory: afterwards old or new,
        never a mixture.
        """
        ...

    def lock(self, path: str) -> DirLock | None:
        """Takes an exclusive advisory lock on the file, or returns None when another process (or node)
        holds it.
        """
        ...

    def total_and_usable_bytes(self, path: str) -> tuple[int, int]: ...


class DirLock(Protocol):
    def release(self) -> None: ...


class FileSlice:
    """A range of a file that stays readable until `release`. Has a length, so it can stand where reply
    bytes stand.

    Made only through `FileSlice(file, position, length)`, which pins. `release` is idempotent. `read` is
    for sinks that cannot sendfile.
    """

    __slots__ = ("file", "fd", "position", "length", "_pinned")

    def __init__(self, file: File, position: int, length: int) -> None:
        self.file = file
        self.fd = file.pin()
        self.position = position
        self.length = length
        self._pinned = True

    def __len__(self) -> int:
        return self.length

    def read(self) -> bytes:
        return self.file.pread(self.length, self.position)

    def release(self) -> None:
        if self._pinned:
            self._pinned = False
            self.file.unpin()
