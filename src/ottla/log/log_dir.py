"""One directory of `log.dirs`: its lock, its identity, its checkpoints, its logs, and whether it works.

A directory fails alone. Once `error` is set it stays offline until the next start: what a disk holds after it
has failed to read or sync is anybody's guess.

Checkpoints are written in two ways. On the loop in one go, where something must be true on disk before the
next step (a truncation, a new log under an old name). In the background as steps, with the syncs off the
loop; such a write is dropped when the directory's logs changed under it (`changes`), for it would put stale
numbers over fresh ones. `written` is what the files hold, so that nothing is written twice.
"""

from __future__ import annotations

import logging
import os.path
import re
from typing import Final

from ottla.log.checkpoints import (
    CLEAN_SHUTDOWN_FILE,
    CLEANER_CHECKPOINT,
    HIGH_WATERMARK_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    NO_BROKER_EPOCH,
    RECOVERY_POINT_CHECKPOINT,
    CorruptCheckpoint,
    checkpoint_line,
    decode_clean_shutdown,
    encode_checkpoint_lines,
    encode_clean_shutdown,
    read_checkpoint,
    write_checkpoint,
)
from ottla.log.log import Log
from ottla.log.turn import Turn
from ottla.model.types import TopicPartition
from ottla.ports.disk import DirLock, Disk
from ottla.ports.effects import DiskJob, Steps

logger = logging.getLogger(__name__)

LOCK_FILE: Final = ".lock"
DELETE_SUFFIX: Final = "-delete"
STRAY_SUFFIX: Final = "-stray"
FUTURE_SUFFIX: Final = "-future"

CHECKPOINTS: Final = (
    RECOVERY_POINT_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    HIGH_WATERMARK_CHECKPOINT,
    CLEANER_CHECKPOINT,
)
"""The files whose numbers belong to this directory's logs and are kept by the manager."""

_NAME_BYTES_MAX: Final = 255
_PARTITION_DIR: Final = re.compile(r"([a-zA-Z0-9._-]+)-(\d+)\Z", re.ASCII)
_MARKED_DIR: Final = re.compile(r".*\.[0-9a-f]{32}-(delete|stray|future)\Z", re.ASCII | re.DOTALL)


class LogDir:
    __slots__ = (
        "disk",
        "path",
        "directory_id",
        "error",
        "logs",
        "written",
        "changes",
        "names_changed",
        "had_clean_shutdown",
        "broker_epoch",
        "_lock",
        "_under_way",
    )

    def __init__(self, disk: Disk, path: str) -> None:
        self.disk = disk
        self.path = path
        self.directory_id: bytes | None = None
        self.error: OSError | None = None
        self.logs: dict[TopicPartition, Log] = {}
        self.written: dict[str, dict[TopicPartition, int]] = {name: {} for name in CHECKPOINTS}
        self.changes = 0
        self.names_changed = False
        """Whether a log was made whose name is not yet durable."""
        self.had_clean_shutdown = False
        self.broker_epoch = NO_BROKER_EPOCH
        self._lock: DirLock | None = None
        self._under_way: set[str] = set()
        """Checkpoints that are being written as steps: one at a time for each file."""

    def __repr__(self) -> str:
        return f"LogDir({self.path!r}, {len(self.logs)} logs{', offline' if self.error else ''})"

    @property
    def online(self) -> bool:
        return self.error is None

    def make(self) -> None:
        """Makes the directory if it is missing, and durable, with the missing ones above it."""
        missing: list[str] = []
        path = self.path
        while not self.disk.is_dir(path):
            missing.append(path)
            path = os.path.dirname(path) or "."
        if missing:
            self.disk.make_dirs(self.path)
            for made in missing:
                self.disk.sync_dir(os.path.dirname(made) or ".")

    # --- the lock

    def lock(self) -> bool:
        """False when another process holds it."""
        self._lock = self.disk.lock(f"{self.path}/{LOCK_FILE}")
        return self._lock is not None

    def unlock(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    # --- clean shutdown

    def take_clean_shutdown(self) -> None:
        """Notes whether the last process ended well, and removes its word durably: the next may not."""
        path = f"{self.path}/{CLEAN_SHUTDOWN_FILE}"
        try:
            data = self.disk.read_file(path)
        except FileNotFoundError:
            return
        self.had_clean_shutdown = True
        self.broker_epoch = decode_clean_shutdown(data)
        self.disk.remove(path)
        self.disk.sync_dir(self.path)

    def put_clean_shutdown(self, broker_epoch: int) -> None:
        self.disk.write_file_atomic(f"{self.path}/{CLEAN_SHUTDOWN_FILE}", encode_clean_shutdown(broker_epoch))

    # --- checkpoints

    def read_checkpoints(self) -> None:
        """A damaged one counts as empty, as in Kafka: recovery then scans more, and nothing is lost by it."""
        for name in CHECKPOINTS:
            try:
                self.written[name] = read_checkpoint(self.disk, f"{self.path}/{name}")
            except CorruptCheckpoint as error:
                logger.warning("%s/%s is damaged and counts as empty: %s", self.path, name, error)

    def offsets_now(self, name: str) -> dict[TopicPartition, int]:
        """What the checkpoint should hold."""
        return {tp: offset for tp, log in self.logs.items() if (offset := offset_of(log, name)) is not None}

    def write_checkpoint_now(self, name: str) -> None:
        offsets = self.offsets_now(name)
        self.changes += 1
        if offsets != self.written[name]:
            write_checkpoint(self.disk, f"{self.path}/{name}", offsets)
            self.written[name] = offsets

    def checkpoint_steps(self, name: str, turn: Turn) -> Steps[bool]:
        """Brings the file up to date in slices, with the syncs as disk jobs. Gives False when there was
        nothing to write, when what was gathered went stale meanwhile, or when somebody else is at it.
        """
        if name in self._under_way:
            return False
        self._under_way.add(name)
        try:
            return (yield from self._checkpoint_steps(name, turn))
        finally:
            self._under_way.discard(name)

    def _checkpoint_steps(self, name: str, turn: Turn) -> Steps[bool]:
        changes = self.changes
        offsets: dict[TopicPartition, int] = {}
        turn.begin()
        for tp, log in list(self.logs.items()):
            if turn.over():
                yield turn.rest()
            if (offset := offset_of(log, name)) is not None:
                offsets[tp] = offset
        if offsets == self.written[name] or self.changes != changes:
            return False
        lines: list[str] = []
        for tp, offset in offsets.items():
            if turn.over():
                yield turn.rest()
            lines.append(checkpoint_line(tp, offset))
        path = f"{self.path}/{name}"
        temporary = f"{path}.next"  # not .tmp, which write_checkpoint_now may be using
        file = self.disk.open(temporary, create=True)
        data = encode_checkpoint_lines(lines)
        file.truncate(0)
        file.pin()
        try:
            if file.append([data]) < len(data):
                file.append([memoryview(data)[file.size() :]])  # raises what made the first write short
            yield DiskJob(file.sync)
        finally:
            file.unpin()
            file.close()
        if self.changes != changes or not self.online:
            return False
        self.disk.rename(temporary, path)
        self.written[name] = offsets
        yield DiskJob(lambda: self.disk.sync_dir(self.path))
        return True

    def forget_stale(self, tp: TopicPartition) -> None:
        """Before a new log takes the name of an old one: numbers of the old one must not be read as its own.

        With a log start from its predecessor, a new log would lose its first records at the next start.
        """
        if any(tp in offsets for offsets in self.written.values()):
            for name in CHECKPOINTS:
                self.write_checkpoint_now(name)


def offset_of(log: Log, name: str) -> int | None:
    """The number that a checkpoint keeps for the log; None when no line is needed."""
    if name == RECOVERY_POINT_CHECKPOINT:
        return log.recovery_point
    if name == HIGH_WATERMARK_CHECKPOINT:
        return log.high_watermark
    if name == CLEANER_CHECKPOINT:
        return log.first_dirty_offset if log.first_dirty_offset >= 0 else None
    start = log.log_start_offset
    # Where the first segment begins at the log's start, its name says so.
    return start if start > log.segments[0].base_offset else None


def partition_of_dir(name: str) -> TopicPartition | None:
    """Which partition a directory's name means; None when it is no partition's, or marked for something."""
    found = _PARTITION_DIR.match(name)
    if found is None:
        return None
    tp = TopicPartition(found[1], int(found[2]))
    return tp if str(tp) == name else None  # `orders-007` is nobody's: `orders-7` would be


def is_marked(name: str, suffix: str) -> bool:
    """Whether the directory was renamed to be deleted (`-delete`) or set aside (`-stray`, `-future`)."""
    return name.endswith(suffix) and _MARKED_DIR.match(name) is not None


def marked_dir_name(tp: TopicPartition, unique: bytes, suffix: str) -> str:
    """`<topic>-<partition>.<32 hex digits>-delete`; a long topic is cut so that it fits in a file name."""
    tail = f"-{tp.partition}.{unique.hex()}{suffix}"
    return tp.topic[: _NAME_BYTES_MAX - len(tail)] + tail
