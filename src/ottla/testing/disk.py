"""A disk in memory that behaves as badly as real ones may: what was not synced need not survive.

How it works. A file has two contents: the page cache (what the program reads back) and what stable storage
holds; the writes between the two are kept as a list until `sync`. A directory is the same: creations, renames
and deletions take effect at once for the program and are certain to survive only after `sync_dir` on that
directory (pessimistic: ext4 would order them, POSIX does not promise it). `write_file_atomic` is made of the
same small steps, so its atomicity is a result here, not an assumption.

Every operation that changes something has a number. A crash can be planned before, in the middle of, or after
any of them (`crash_at`): `SimulatedCrash` is raised and the disk is dead, whatever `except` and `finally` do.
`restart(rng)` then gives the disk that the next boot finds: each file's unsynced writes lost, kept, torn at a
byte, or kept by 512-byte sectors in any combination with zeros in the holes, and perhaps with flipped bits;
each unsynced change of a name kept or lost. `restart(rng, power_loss=False)` is `kill -9`: the page cache
survives.

`observer` sees the same points without crashing. It may call `image(rng)` for a copy of what a crash at that
very point would leave, so that one run of a workload explores all its crash points.

Other faults: a full disk (`capacity_bytes`: short writes, then ENOSPC), errors on chosen paths (`fail`), an
fsync that fails and drops the dirty pages as Linux does, an fsync that lies (`lying_sync_rate`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ottla.ports.disk import Buffer
from ottla.wire.record_batch import HEADER_BYTES, LOG_OVERHEAD, MAGIC, MAGIC_AT

SECTOR_BYTES: Final = 512

When: TypeAlias = Literal["before", "torn", "after"]


class SimulatedCrash(BaseException):
    """The machine is gone. Not an Exception: code that survives errors must not survive this."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One change of the disk: its number, what it is, and where."""

    number: int
    kind: str  # create, append, write, truncate, sync, rename, delete, mkdir, sync_dir
    path: str


@dataclass(frozen=True, slots=True)
class Survival:
    """What a power loss may do to what was not synced.

    Changes of names survive up to some point of time in each directory, as journals keep them;
    `names_in_any_order` lets any of them survive without the earlier ones, which POSIX permits and no common
    file system does.
    """

    torn_bytes: bool = True
    sectors: bool = True
    bit_flips: bool = True
    unseen_flips: bool = True
    """Also those outside of what a batch's CRC covers: its base offset and its leader epoch. Where neither a
    hole between offsets nor an epoch that goes back gives them away, nothing does, nor in Kafka.
    """
    names_in_any_order: bool = False


WORST: Final = Survival()

_UNCOVERED: Final = (*range(8), *range(12, 16))
"""Bytes of a batch that its CRC does not cover; those of its length and format are told by nonsense."""


class _Inode:
    """A file's bytes: as the program sees them, as stable storage has them, and the writes between."""

    __slots__ = ("cache", "durable", "pending")

    def __init__(self) -> None:
        self.cache = bytearray()
        self.durable = bytearray()
        # (position, data) is a write; (size, None) is a truncation or an extension to that size.
        self.pending: list[tuple[int, bytes | None]] = []

    def write(self, position: int, data: bytes) -> None:
        _apply(self.cache, position, data)
        self.pending.append((position, data))

    def truncate(self, size: int) -> None:
        _apply(self.cache, size, None)
        self.pending.append((size, None))

    def sync(self) -> None:
        for position, data in self.pending:
            _apply(self.durable, position, data)
        self.pending.clear()

    def copy(self) -> _Inode:
        twin = _Inode()
        twin.cache = bytearray(self.cache)
        twin.durable = bytearray(self.durable)
        twin.pending = list(self.pending)
        return twin


class _Directory:
    __slots__ = ("entries", "durable")

    def __init__(self) -> None:
        self.entries: dict[str, _Node] = {}
        self.durable: dict[str, _Node] = {}


_Node: TypeAlias = _Inode | _Directory


@dataclass(slots=True)
class _NameChange:
    """Entries that change together, atomically: (directory, name, node or None for gone)."""

    edits: tuple[tuple[_Directory, str, _Node | None], ...]


def _apply(content: bytearray, position: int, data: bytes | None) -> None:
    if data is None:
        if position <= len(content):
            del content[position:]
        else:
            content.extend(bytes(position - len(content)))
        return
    if position > len(content):
        content.extend(bytes(position - len(content)))
    content[position : position + len(data)] = data


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part and part != "."]


class VirtualFile:
    """A name on the virtual disk. While it is pinned it keeps its bytes, whatever happens to the name."""

    __slots__ = ("path", "_disk", "_held", "_pins", "_deleted")

    def __init__(self, disk: VirtualDisk, path: str) -> None:
        self.path = path
        self._deleted = False
        self._disk = disk
        self._held: _Inode | None = None
        self._pins = 0

    def _inode(self) -> _Inode:
        if self._disk.dead:
            raise SimulatedCrash(self.path)
        if self._held is not None:
            return self._held
        if self._deleted:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.path)
        return self._disk._file_at(self.path)

    def size(self) -> int:
        return len(self._inode().cache)

    def append(self, parts: Sequence[Buffer]) -> int:
        data = b"".join(parts)
        return self._disk._write("append", self.path, self._inode(), None, data)

    def write_at(self, data: Buffer, position: int) -> int:
        return self._disk._write("write", self.path, self._inode(), position, bytes(data))

    def pread(self, length: int, position: int) -> bytes:
        inode = self._inode()
        self._disk._check_fault("read", self.path)
        return bytes(memoryview(inode.cache)[position : position + length])

    def pread_into(self, buffer: bytearray | memoryview, position: int) -> int:
        data = self.pread(len(buffer), position)
        buffer[: len(data)] = data
        return len(data)

    def newest(self, length: int, position: int) -> bytes | None:
        return None  # reads are the simulator's to watch, and to spoil

    def truncate(self, size: int) -> None:
        inode = self._inode()
        self._disk._change("truncate", self.path, lambda: inode.truncate(size))

    def sync(self) -> None:
        self._disk._sync_file(self.path, self._inode())

    def pin(self) -> int:
        if self._held is None:
            self._held = self._inode()
        self._pins += 1
        return -1

    def unpin(self) -> None:
        assert self._pins > 0, f"{self.path} is unpinned more often than pinned"
        self._pins -= 1
        if self._pins == 0:
            self._held = None

    @property
    def pins(self) -> int:
        return self._pins

    def rename(self, path: str) -> None:
        self._disk.rename(self.path, path)
        self.path = path

    def close(self) -> None:
        pass  # there is no descriptor; a pinned file keeps its bytes until the last unpin

    def delete(self) -> None:
        if self._deleted:
            return  # a file of the same name that was made later is another file
        if self._disk.exists(self.path):
            self._disk.remove(self.path)
        self._deleted = True


class VirtualLock:
    __slots__ = ("_disk", "_path")

    def __init__(self, disk: VirtualDisk, path: str) -> None:
        self._disk = disk
        self._path = path

    def release(self) -> None:
        if self._disk._locks.get(self._path) is self:
            del self._disk._locks[self._path]


class VirtualDisk:
    def __init__(self, *, capacity_bytes: int | None = None, stats: Counter[str] | None = None) -> None:
        self.capacity_bytes = capacity_bytes
        self.operations = 0
        self.dead = False
        self.observer: Callable[[Operation, When], None] | None = None
        self.stats: Counter[str] = Counter() if stats is None else stats
        self.lying_sync_rate = 0.0
        self.fault_random = random.Random(0)
        self._root = _Directory()
        self._changes: list[_NameChange] = []
        self._locks: dict[str, VirtualLock] = {}
        self._faults: list[tuple[str, frozenset[str], int]] = []
        self._crash: tuple[int, When] | None = None

    # -- the Disk port --

    def open(self, path: str, *, create: bool = False) -> VirtualFile:
        self._alive()
        node = self._find(path)
        if isinstance(node, _Directory):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if node is None:
            if not create:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            self._link("create", path, _Inode())
        return VirtualFile(self, path)

    def exists(self, path: str) -> bool:
        self._alive()
        return self._find(path) is not None

    def is_dir(self, path: str) -> bool:
        self._alive()
        return isinstance(self._find(path), _Directory)

    def list_dir(self, path: str) -> list[str]:
        self._alive()
        self._check_fault("list", path)
        return sorted(self._directory_at(path).entries)

    def make_dirs(self, path: str) -> None:
        self._alive()
        walked = ""
        for part in _parts(path):
            walked += "/" + part
            node = self._find(walked)
            if node is None:
                self._link("mkdir", walked, _Directory())
            elif isinstance(node, _Inode):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), walked)

    def rename(self, old: str, new: str) -> None:
        self._alive()
        source, source_name = self._parent_of(old)
        node = source.entries.get(source_name)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), old)
        target, target_name = self._parent_of(new)
        replaced = target.entries.get(target_name)
        if replaced is node:
            return
        if isinstance(replaced, _Directory):
            if isinstance(node, _Inode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), new)
            if replaced.entries:
                raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), new)
        elif isinstance(replaced, _Inode) and isinstance(node, _Directory):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), new)
        change = _NameChange(((source, source_name, None), (target, target_name, node)))
        self._change("rename", f"{old} -> {new}", lambda: self._apply_change(change), fault_path=old)

    def remove(self, path: str) -> None:
        self._alive()
        parent, name = self._parent_of(path)
        node = parent.entries.get(name)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if isinstance(node, _Directory) and node.entries:
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
        change = _NameChange(((parent, name, None),))
        self._change("delete", path, lambda: self._apply_change(change))

    def remove_tree(self, path: str) -> None:
        self._alive()
        node = self._find(path)
        if node is None:
            return
        if isinstance(node, _Inode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        for name, child in sorted(node.entries.items(), key=lambda entry: entry[0]):
            if isinstance(child, _Directory):
                self.remove_tree(f"{path}/{name}")
            else:
                self.remove(f"{path}/{name}")
        self.remove(path)

    def sync_dir(self, path: str) -> None:
        self._alive()
        directory = self._directory_at(path)

        def sync() -> None:
            if self._lies():
                return
            kept: list[_NameChange] = []
            for change in self._changes:
                if any(edited is directory for edited, _, _ in change.edits):
                    for edited, name, node in change.edits:
                        _set_entry(edited.durable, name, node)
                else:
                    kept.append(change)
            self._changes = kept

        self._change("sync_dir", path, sync)

    def sync_volume(self, path: str) -> None:
        self._alive()
        self._directory_at(path)

        def sync() -> None:
            if self._lies():
                return
            for change in self._changes:
                for edited, name, node in change.edits:
                    _set_entry(edited.durable, name, node)
            self._changes = []
            directories = [self._root]
            while directories:
                for node in directories.pop().entries.values():
                    if isinstance(node, _Directory):
                        directories.append(node)
                    else:
                        node.sync()

        self._change("sync_volume", path, sync)

    def read_file(self, path: str) -> bytes:
        self._alive()
        self._check_fault("read", path)
        return bytes(self._file_at(path).cache)

    def write_file_atomic(self, path: str, data: bytes) -> None:
        temporary = path + ".tmp"
        file = self.open(temporary, create=True)
        try:
            file.truncate(0)
            rest = data
            while rest:
                rest = rest[file.append([rest]) :]
            file.sync()
            self.rename(temporary, path)
        except OSError:
            with contextlib.suppress(OSError):  # the first error is the one to report
                file.delete()
            raise
        self.sync_dir(os.path.dirname(path) or "/")

    def lock(self, path: str) -> VirtualLock | None:
        self._alive()
        key = "/".join(_parts(path))
        if key in self._locks:
            return None
        self.open(path, create=True)
        lock = self._locks[key] = VirtualLock(self, key)
        return lock

    def total_and_usable_bytes(self, path: str) -> tuple[int, int]:
        self._alive()
        total = self.capacity_bytes if self.capacity_bytes is not None else 1 << 40
        return total, max(0, total - self.used_bytes())

    # -- crashes --

    def crash_at(self, number: int, when: When = "before") -> None:
        """The operation with this number is the last one that this disk begins."""
        self._crash = (number, when)

    def cancel_crash(self) -> None:
        self._crash = None

    def crash(self) -> None:
        """Power off, now: from here on every call raises `SimulatedCrash`."""
        self.dead = True

    def restart(
        self, rng: random.Random, *, power_loss: bool = True, survival: Survival = WORST
    ) -> VirtualDisk:
        """The disk that the next process finds; this object stays dead, with every lock and file of it."""
        self.dead = True
        self.stats["power_losses" if power_loss else "kills"] += 1
        return self.image(rng, power_loss=power_loss, survival=survival)

    def image(
        self, rng: random.Random, *, power_loss: bool = True, survival: Survival = WORST
    ) -> VirtualDisk:
        """A copy as `restart` would give it, without ending this one."""
        twin = VirtualDisk(capacity_bytes=self.capacity_bytes, stats=self.stats)
        twin.lying_sync_rate = self.lying_sync_rate
        twin.fault_random = self.fault_random
        if power_loss:
            twin._root = self._after_power_loss(rng, survival)
        else:
            copies: dict[int, _Node] = {}
            twin._root = _copy_directory(self._root, copies)
            twin._changes = [
                _NameChange(
                    tuple(
                        (_copy_directory(edited, copies), name, None if node is None else _copy(node, copies))
                        for edited, name, node in change.edits
                    )
                )
                for change in self._changes
            ]
        return twin

    def _after_power_loss(self, rng: random.Random, survival: Survival) -> _Directory:
        entries: dict[int, dict[str, _Node]] = {}

        def of(directory: _Directory) -> dict[str, _Node]:
            return entries.setdefault(id(directory), dict(directory.durable))

        fate = rng.choice(("all", "none", "prefix", "any" if survival.names_in_any_order else "prefix"))
        cuts: dict[int, int] = {}  # of each directory's changes, how many survive
        if fate == "prefix":
            touched = Counter(id(change.edits[0][0]) for change in self._changes)
            cuts = {directory: rng.randrange(count + 1) for directory, count in touched.items()}
        # A change that is lost takes with it the later ones on the same name or the same file: a rename does
        # not survive the creation of what it renames, nor does a file get two names.
        lost: set[object] = set()
        for change in self._changes:
            keys: set[object] = {(id(edited), name) for edited, name, _ in change.edits}
            keys |= {id(node) for _, _, node in change.edits if node is not None}
            if fate == "all":
                keep = True
            elif fate == "none":
                keep = False
            elif fate == "prefix":
                directory = id(change.edits[0][0])
                keep = cuts[directory] > 0
                cuts[directory] -= 1
            else:
                keep = rng.random() < 0.5
            if not keep or keys & lost:
                lost |= keys
                self.stats["name_changes_lost"] += 1
                continue
            for edited, name, node in change.edits:
                _set_entry(of(edited), name, node)

        def rebuild(directory: _Directory) -> _Directory:
            fresh = _Directory()
            for name, node in of(directory).items():
                if isinstance(node, _Directory):
                    fresh.entries[name] = rebuild(node)
                else:
                    fresh.entries[name] = self._file_after_power_loss(node, rng, survival)
            fresh.durable = dict(fresh.entries)
            return fresh

        return rebuild(self._root)

    def _file_after_power_loss(self, inode: _Inode, rng: random.Random, survival: Survival) -> _Inode:
        content = bytearray(inode.durable)
        if inode.pending:
            fates = ["lost", "kept", "kept"]
            fates += ["torn"] * 3 if survival.torn_bytes else []
            fates += ["sectors"] * 2 if survival.sectors else []
            fate = rng.choice(fates)
            dirty: list[tuple[int, int]] = []
            if fate == "kept":
                for position, data in inode.pending:
                    _apply(content, position, data)
                    if data:
                        dirty.append((position, len(data)))
            elif fate == "torn":
                whole = rng.randrange(len(inode.pending))
                for position, data in inode.pending[:whole]:
                    _apply(content, position, data)
                    if data:
                        dirty.append((position, len(data)))
                position, data = inode.pending[whole]
                if data:
                    written = rng.randrange(len(data) + 1)
                    _apply(content, position, data[:written])
                    if written:
                        dirty.append((position, written))
                        self.stats["torn_writes"] += 1
            elif fate == "sectors":
                self._keep_some_sectors(content, inode, rng, dirty)
            if survival.bit_flips and dirty and rng.random() < 0.2:
                position, length = rng.choice(dirty[-3:])
                for _ in range(rng.randint(1, 3)):
                    at = position + rng.randrange(length)
                    if at < len(content) and (survival.unseen_flips or _is_covered(content, at)):
                        content[at] ^= 1 << rng.randrange(8)
                        self.stats["bits_flipped"] += 1
            self.stats["bytes_lost"] += max(0, len(inode.cache) - len(content))
        survivor = _Inode()
        survivor.cache = content
        survivor.durable = bytearray(content)
        return survivor

    def _keep_some_sectors(
        self, content: bytearray, inode: _Inode, rng: random.Random, dirty: list[tuple[int, int]]
    ) -> None:
        """Any subset of the written sectors; the size may already cover what was never written, which then
        reads as zeros.
        """
        chance = rng.choice((0.3, 0.7, 0.95))
        for position, data in inode.pending:
            if data is None:
                # Sizes change in the order of the journal: what came after a lost truncation is lost.
                if rng.random() < 0.3:
                    return
                _apply(content, position, None)
                continue
            end = position + len(data)
            at = position
            while at < end:
                stop = min(end, (at // SECTOR_BYTES + 1) * SECTOR_BYTES)
                if rng.random() < chance:
                    _apply(content, at, data[at - position : stop - position])
                    dirty.append((at, stop - at))
                at = stop
        if len(content) < len(inode.cache) and rng.random() < 0.5:
            self.stats["zero_tails"] += 1
            content.extend(bytes(len(inode.cache) - len(content)))
        self.stats["sector_losses"] += 1

    # -- faults --

    def fail(self, prefix: str, *kinds: str, error: int = errno.EIO) -> None:
        """Operations of these kinds (all when none is named) on paths below `prefix` raise OSError(`error`).

        Kinds are those of `Operation` and also `read` and `list`. A failing `sync` drops the dirty pages:
        they stay readable and will never be durable, as on Linux.
        """
        self._faults.append((prefix, frozenset(kinds), error))

    def heal(self, prefix: str) -> None:
        self._faults = [fault for fault in self._faults if fault[0] != prefix]

    def used_bytes(self) -> int:
        seen: dict[int, int] = {}
        stack: list[_Directory] = [self._root]
        while stack:
            for node in stack.pop().entries.values():
                if isinstance(node, _Directory):
                    stack.append(node)
                else:
                    seen[id(node)] = len(node.cache)
        return sum(seen.values())

    def unsynced_bytes(self, path: str) -> int:
        return sum(len(data) for _, data in self._file_at(path).pending if data is not None)

    # -- inside --

    def _alive(self) -> None:
        if self.dead:
            raise SimulatedCrash("the disk is off")

    def _check_fault(self, kind: str, path: str) -> None:
        for prefix, kinds, error in self._faults:
            if path.startswith(prefix) and (not kinds or kind in kinds):
                self.stats[f"errors_{kind}"] += 1
                raise OSError(error, os.strerror(error), path)

    def _lies(self) -> bool:
        if self.lying_sync_rate and self.fault_random.random() < self.lying_sync_rate:
            self.stats["syncs_lied"] += 1
            return True
        return False

    def _point(self, operation: Operation, when: When) -> None:
        if self.observer is not None:
            self.observer(operation, when)
        if self._crash == (operation.number, when):
            self.dead = True
            raise SimulatedCrash(f"{when} operation {operation.number}: {operation.kind} {operation.path}")

    def _begin(self, kind: str, path: str) -> Operation:
        operation = Operation(self.operations, kind, path)
        self.operations += 1
        self._point(operation, "before")
        return operation

    def _change(
        self, kind: str, path: str, action: Callable[[], None], *, fault_path: str | None = None
    ) -> None:
        self._alive()
        self._check_fault(kind, fault_path if fault_path is not None else path)
        operation = self._begin(kind, path)
        action()
        self._point(operation, "after")

    def _write(self, kind: str, path: str, inode: _Inode, position: int | None, data: bytes) -> int:
        self._alive()
        self._check_fault(kind, path)
        start = len(inode.cache) if position is None else position
        if self.capacity_bytes is not None:
            grows = max(0, start + len(data) - len(inode.cache))
            room = self.capacity_bytes - self.used_bytes()
            if grows > room:
                fits = len(data) - (grows - max(0, room))
                self.stats["disk_full"] += 1
                if fits <= 0:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
                data = data[:fits]
        operation = self._begin(kind, path)
        if len(data) > 1 and (self.observer is not None or self._crash == (operation.number, "torn")):
            # One write becomes two, so that there is a moment between them at which to crash.
            split = 1 + operation.number * 7919 % (len(data) - 1)
            inode.write(start, data[:split])
            self._point(operation, "torn")
            inode.write(start + split, data[split:])
        elif data:
            inode.write(start, data)
        self._point(operation, "after")
        return len(data)

    def _sync_file(self, path: str, inode: _Inode) -> None:
        self._alive()
        try:
            self._check_fault("sync", path)
        except OSError:
            inode.pending.clear()
            raise
        operation = self._begin("sync", path)
        if not self._lies():
            inode.sync()
        self._point(operation, "after")

    def _find(self, path: str) -> _Node | None:
        node: _Node = self._root
        for part in _parts(path):
            if not isinstance(node, _Directory):
                return None
            child = node.entries.get(part)
            if child is None:
                return None
            node = child
        return node

    def _file_at(self, path: str) -> _Inode:
        node = self._find(path)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if isinstance(node, _Directory):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        return node

    def _directory_at(self, path: str) -> _Directory:
        node = self._find(path)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if isinstance(node, _Inode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return node

    def _parent_of(self, path: str) -> tuple[_Directory, str]:
        parts = _parts(path)
        if not parts:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), path)
        return self._directory_at("/".join(parts[:-1])), parts[-1]

    def _link(self, kind: str, path: str, node: _Node) -> None:
        parent, name = self._parent_of(path)
        change = _NameChange(((parent, name, node),))
        self._change(kind, path, lambda: self._apply_change(change))

    def _apply_change(self, change: _NameChange) -> None:
        for edited, name, node in change.edits:
            _set_entry(edited.entries, name, node)
        self._changes.append(change)


def _set_entry(entries: dict[str, _Node], name: str, node: _Node | None) -> None:
    if node is None:
        entries.pop(name, None)
    else:
        entries[name] = node


def _copy(node: _Node, copies: dict[int, _Node]) -> _Node:
    if isinstance(node, _Directory):
        return _copy_directory(node, copies)
    twin = copies.get(id(node))
    if twin is None:
        twin = copies[id(node)] = node.copy()
    return twin


def _copy_directory(directory: _Directory, copies: dict[int, _Node]) -> _Directory:
    twin = copies.get(id(directory))
    if twin is None:
        twin = copies[id(directory)] = _Directory()
        assert isinstance(twin, _Directory)
        twin.entries = {name: _copy(node, copies) for name, node in directory.entries.items()}
        twin.durable = {name: _copy(node, copies) for name, node in directory.durable.items()}
    assert isinstance(twin, _Directory)
    return twin


def _is_covered(content: bytearray, at: int) -> bool:
    """Whether damage to a byte shows, if these are batches; of other files every byte counts as covered."""
    begin = 0
    while begin + HEADER_BYTES <= len(content) and content[begin + MAGIC_AT] == MAGIC:
        end = begin + LOG_OVERHEAD + int.from_bytes(content[begin + 8 : begin + 12], "big", signed=True)
        if end < begin + HEADER_BYTES:
            return True
        if at < end:
            return at - begin not in _UNCOVERED
        begin = end
    return True
