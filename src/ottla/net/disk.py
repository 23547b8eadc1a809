"""The real disk: `ports.disk` on the operating system, with a bounded number of open descriptors.

An `OsFile` is a name and a size. It opens a descriptor at its first use and gives it back when the disk has
too many of them: files that nobody has pinned stand in a ring; an append or a read marks its file as
recent; whoever needs a descriptor takes it from the first file of the ring that was not used since the ring
last came round (the second-chance algorithm: as good as LRU here, and marking costs one store instead of
moving an entry). A pinned file leaves the ring, so its descriptor cannot be closed, even if that means
exceeding the bound for a while.

Sizes are kept in memory and writes are positioned (`pwritev` at the known end), so an append is one system
call and does not depend on a file offset that a closed descriptor forgets. Hence two `OsFile`s that write
to one path would not see each other's appends: one path has one writer.

A file that grows beyond `RESERVE_FROM_BYTES` has its blocks reserved some megabytes ahead. ext4 otherwise
accounts for every block of every write by itself: 0.20 CPU-seconds per GB instead of 0.14. Nobody sees it in
the file's size, and what was not filled is given back with the descriptor; a killed process leaves at most
`RESERVE_AHEAD_BYTES` behind its newest segments, until they are written on or deleted.

Threads: `sync` works in any thread. `pread` works in a thread while the file is pinned. `sync_dir` works in
any thread. All else belongs to the loop.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress

from ottla.ports.disk import Buffer

OPEN_FILES_MAX_DEFAULT = 1024
"""Enough for the active segments of a busy broker; idle ones give theirs back."""

RESERVE_FROM_BYTES = 8 * 1024 * 1024
"""Small files stay as small on the disk as they are: there may be ten thousand of them."""
RESERVE_AHEAD_BYTES = 4 * 1024 * 1024
"""8 µs each time, and 0.3 ms where the file system begins another group of blocks."""
_RESERVE_MARGIN_BYTES = RESERVE_AHEAD_BYTES // 4
_RESERVE_AGAIN_BYTES = 256 * 1024 * 1024
"""After so much it is tried again where it failed: a file system without it costs one vain call then."""

NEWEST_BYTES_MAX = 4 * 1024
"""What is kept of the last append: a batch whose readers wait for it is small."""

_libc = ctypes.CDLL(None, use_errno=True)  # Python offers no syncfs, and no fallocate that keeps the size
_reserve = getattr(_libc, "fallocate64", None)  # Linux only
_FALLOC_FL_KEEP_SIZE = 1
_IOV_MAX = 1024  # Linux's limit on the buffers of one writev
_CLOSED = -1


def _fallocate(fd: int, position: int, length: int) -> bool:
    """Reserves blocks without a change of the file's size; whether that was possible."""
    if _reserve is None:
        return False
    result: int = _reserve(fd, _FALLOC_FL_KEEP_SIZE, ctypes.c_longlong(position), ctypes.c_longlong(length))
    return result == 0


class OsFile:
    """Implements `ports.disk.File`. Made by `OsDisk.open`."""

    __slots__ = (
        "path",
        "_disk",
        "_fd",
        "_size",
        "_pins",
        "_recent",
        "_close_at_unpin",
        "_deleted",
        "_reserved",
        "_reserve_at",
    )

    def __init__(self, disk: OsDisk, path: str, size: int) -> None:
        self.path = path
        self._disk = disk
        self._fd = _CLOSED
        self._size = size
        self._pins = 0
        self._recent = False
        self._close_at_unpin = False
        self._deleted = False
        self._reserved = 0  # up to where there are blocks, if that is beyond the end
        self._reserve_at = RESERVE_FROM_BYTES  # the size from which on more are wanted

    def __repr__(self) -> str:
        return f"OsFile({self.path!r}, size={self._size}, fd={self._fd}, pins={self._pins})"

    def size(self) -> int:
        return self._size

    def append(self, parts: Sequence[Buffer]) -> int:
        fd = self._fd
        if fd < 0:
            fd = self._disk._descriptor(self)
        self._recent = True
        if self._size >= self._reserve_at:
            self._reserve_ahead(fd)
        if len(parts) == 1:
            part = parts[0]
            written = os.pwrite(fd, part, self._size)
            if written <= NEWEST_BYTES_MAX:
                disk = self._disk
                disk._newest_file = self
                disk._newest_position = self._size
                disk._newest = bytes(part)
        elif len(parts) <= _IOV_MAX:
            written = os.pwritev(fd, parts, self._size)
        else:
            # One system call is promised, and it takes no more buffers than this: so they are joined.
            written = os.pwrite(fd, b"".join(parts), self._size)
        self._size += written
        return written

    def write_at(self, data: Buffer, position: int) -> int:
        fd = self._fd
        if fd < 0:
            fd = self._disk._descriptor(self)
        self._recent = True
        self._forget_newest()
        written = os.pwrite(fd, data, position)
        if position + written > self._size:
            self._size = position + written
        return written

    def pread(self, length: int, position: int) -> bytes:
        fd = self._fd
        if fd < 0:
            fd = self._disk._descriptor(self)
        self._recent = True
        data = os.pread(fd, length, position)
        if len(data) < length and position + len(data) < self._size:
            return self._pread_rest(fd, data, length, position)
        return data

    def _pread_rest(self, fd: int, data: bytes, length: int, position: int) -> bytes:
        """A read may stop early (the kernel moves at most 2 GiB at a time): this one goes on to the end."""
        pieces = [data]
        done = len(data)
        while done < length:
            piece = os.pread(fd, length - done, position + done)
            if not piece:
                break
            pieces.append(piece)
            done += len(piece)
        return b"".join(pieces)

    def pread_into(self, buffer: bytearray | memoryview, position: int) -> int:
        fd = self._fd
        if fd < 0:
            fd = self._disk._descriptor(self)
        self._recent = True
        length = len(buffer)
        done = os.preadv(fd, (buffer,), position)
        while 0 < done < length and position + done < self._size:
            more = os.preadv(fd, (memoryview(buffer)[done:],), position + done)
            if more == 0:
                break
            done += more
        return done

    def newest(self, length: int, position: int) -> bytes | None:
        disk = self._disk
        data = disk._newest
        if disk._newest_file is self and disk._newest_position == position and len(data) == length:
            return data
        return None

    def _forget_newest(self) -> None:
        if self._disk._newest_file is self:
            self._disk._newest_file = None

    def truncate(self, size: int) -> None:
        fd = self._fd
        if fd < 0:
            fd = self._disk._descriptor(self)
        self._recent = True
        self._forget_newest()
        os.ftruncate(fd, size)
        self._size = size
        self._forget_reserved()

    def _reserve_ahead(self, fd: int) -> None:
        begin = max(self._size, self._reserved)
        if _fallocate(fd, begin, RESERVE_AHEAD_BYTES):
            self._reserved = begin + RESERVE_AHEAD_BYTES
            self._reserve_at = self._reserved - _RESERVE_MARGIN_BYTES
        else:
            # A full disk, or a file system that cannot: a write is taken, or refused, as ever.
            self._reserve_at = self._size + _RESERVE_AGAIN_BYTES

    def _give_back_reserved(self) -> None:
        if self._reserved > self._size and not self._deleted:
            with suppress(OSError):  # nothing depends on it
                os.ftruncate(self._fd, self._size)
        self._forget_reserved()

    def _forget_reserved(self) -> None:
        self._reserved = 0
        self._reserve_at = max(self._size, RESERVE_FROM_BYTES)

    def sync(self) -> None:
        if self._pins > 0:
            os.fdatasync(self._fd)
            return
        # Not pinned: the loop may close our descriptor while a thread is in here, so the thread opens its
        # own. What is synced is the file, whichever descriptor wrote it.
        fd = os.open(self.path, os.O_RDWR)
        try:
            os.fdatasync(fd)
        finally:
            os.close(fd)

    def pin(self) -> int:
        fd = self._fd
        if fd < 0:
            fd = self._disk._descriptor(self)
        if self._pins == 0:
            del self._disk._ring[self]
        self._pins += 1
        return fd

    def unpin(self) -> None:
        assert self._pins > 0, f"{self.path} is unpinned more often than pinned"
        self._pins -= 1
        if self._pins == 0:
            self._disk._ring[self] = None
            self._recent = True
            if self._close_at_unpin:
                self._disk._close_descriptor(self)

    def rename(self, path: str) -> None:
        os.rename(self.path, path)
        self.path = path

    def close(self) -> None:
        if self._fd < 0:
            return
        if self._pins:
            self._close_at_unpin = True
        else:
            self._disk._close_descriptor(self)

    def delete(self) -> None:
        if self._deleted:
            return  # a file of the same name that was made later is another file
        with suppress(FileNotFoundError):
            os.unlink(self.path)
        self._deleted = True
        self.close()


class OsDirLock:
    """Implements `ports.disk.DirLock`. The file stays: were it removed, two holders could lock two files."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def release(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, _CLOSED
            os.close(fd)


class OsDisk:
    """Implements `ports.disk.Disk`."""

    __slots__ = ("open_files_max", "_ring", "_open_count", "_newest_file", "_newest_position", "_newest")

    def __init__(self, open_files_max: int = OPEN_FILES_MAX_DEFAULT) -> None:
        if open_files_max < 1:
            raise ValueError(f"open_files_max is {open_files_max}, at least 1 is needed")
        self.open_files_max = open_files_max
        self._ring: OrderedDict[OsFile, None] = OrderedDict()
        """The files with a descriptor and no pin, in the order in which they may lose it."""
        self._open_count = 0
        self._newest_file: OsFile | None = None
        self._newest_position = 0
        self._newest = b""

    @property
    def open_count(self) -> int:
        """How many descriptors are open, pinned ones included."""
        return self._open_count

    def close_idle(self) -> None:
        """Gives back every descriptor that is not pinned."""
        while self._ring:
            self._close_descriptor(next(iter(self._ring)))

    def sweep(self, count: int) -> None:
        """Looks at the next `count` files of the ring and takes the descriptor of each that was not used
        since the last look. Called now and then, it leaves idle segments without one.
        """
        ring = self._ring
        for _ in range(min(count, len(ring))):
            file = next(iter(ring))
            ring.move_to_end(file)
            if file._recent:
                file._recent = False
            else:
                self._close_descriptor(file)

    # --- descriptors

    def _descriptor(self, file: OsFile) -> int:
        """Opens a descriptor for a file that has none."""
        if file._deleted:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file.path)
        fd = self._open_descriptor(file.path, os.O_RDWR)
        self._adopt(file, fd)
        return fd

    def _open_descriptor(self, path: str, flags: int) -> int:
        if self._open_count >= self.open_files_max:
            self._evict(self._open_count - self.open_files_max + 1)
        while True:
            try:
                return os.open(path, flags, 0o644)
            except OSError as error:
                # Sockets share the process's limit: files that are not in use give way to those that are.
                if error.errno not in (errno.EMFILE, errno.ENFILE) or not self._ring:
                    raise
                self._evict(max(1, len(self._ring) // 4))

    def _adopt(self, file: OsFile, fd: int) -> None:
        file._fd = fd
        file._recent = False
        file._close_at_unpin = False
        self._ring[file] = None
        self._open_count += 1

    def _evict(self, count: int) -> None:
        ring = self._ring
        while count > 0 and ring:
            file, _ = ring.popitem(last=False)
            ring[file] = None
            if file._recent:
                file._recent = False
            else:
                self._close_descriptor(file)
                count -= 1

    def _close_descriptor(self, file: OsFile) -> None:
        fd = file._fd
        if file._reserved:
            file._give_back_reserved()
        del self._ring[file]
        file._fd = _CLOSED
        file._close_at_unpin = False
        self._open_count -= 1
        os.close(fd)

    # --- files

    def open(self, path: str, *, create: bool = False) -> OsFile:
        if not create:
            return OsFile(self, path, os.stat(path).st_size)
        try:
            fd = self._open_descriptor(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            return OsFile(self, path, os.stat(path).st_size)
        file = OsFile(self, path, 0)
        self._adopt(file, fd)
        return file

    def read_file(self, path: str) -> bytes:
        fd = os.open(path, os.O_RDONLY)
        try:
            pieces = []
            while piece := os.read(fd, 1 << 20):
                pieces.append(piece)
            return b"".join(pieces)
        finally:
            os.close(fd)

    def write_file_atomic(self, path: str, data: bytes) -> None:
        temporary = path + ".tmp"
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(fd, rest) :]
                os.fdatasync(fd)
            finally:
                os.close(fd)
            os.rename(temporary, path)
        except OSError:
            with suppress(OSError):  # the first error is the one to report
                os.unlink(temporary)
            raise
        self.sync_dir(os.path.dirname(path) or ".")

    # --- names

    def exists(self, path: str) -> bool:
        try:
            os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def is_dir(self, path: str) -> bool:
        return os.path.isdir(path)

    def list_dir(self, path: str) -> list[str]:
        return sorted(os.listdir(path))

    def make_dirs(self, path: str) -> None:
        try:
            os.mkdir(path)  # the usual case: only the last name is missing
        except OSError:
            os.makedirs(path, exist_ok=True)

    def rename(self, old: str, new: str) -> None:
        os.rename(old, new)

    def remove(self, path: str) -> None:
        os.unlink(path)

    def remove_tree(self, path: str) -> None:
        """Removes a directory and what is below it; what is missing already is not an error."""
        try:
            with os.scandir(path) as entries:
                below = [(entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries]
            for name, is_dir in below:
                if is_dir:
                    self.remove_tree(name)
                else:
                    os.unlink(name)
            os.rmdir(path)
        except FileNotFoundError:
            pass

    def sync_dir(self, path: str) -> None:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    # --- the volume

    def sync_volume(self, path: str) -> None:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            if _libc.syncfs(fd) != 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number), path)
        finally:
            os.close(fd)

    def lock(self, path: str) -> OsDirLock | None:
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            # Two kinds, which do not know of each other: flock also refuses a second node in this process,
            # the POSIX one is what a JVM takes, so that Kafka itself and Ottla refuse each other.
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(fd)
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                return None
            raise
        return OsDirLock(fd)

    def total_and_usable_bytes(self, path: str) -> tuple[int, int]:
        volume = os.statvfs(path)
        return volume.f_blocks * volume.f_frsize, volume.f_bavail * volume.f_frsize
