"""What is in the files of a partition's directory, read without trusting them.

Each reader is a generator over one file that gives its contents in order and raises `Damaged`, with the
position, at the first place that cannot be right. Nothing here writes, locks or needs a broker.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from struct import Struct
from typing import Final, NamedTuple

from ottla.log.checkpoints import (
    CLEANER_CHECKPOINT,
    HIGH_WATERMARK_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
    CorruptCheckpoint,
    decode_checkpoint,
)
from ottla.log.file_names import (
    CLEANED_SUFFIX,
    DELETED_SUFFIX,
    LEADER_EPOCH_CHECKPOINT,
    LOG_SUFFIX,
    OFFSET_INDEX_SUFFIX,
    SNAPSHOT_SUFFIX,
    SWAP_SUFFIX,
    TIME_INDEX_SUFFIX,
    TXN_INDEX_SUFFIX,
    split_name,
)
from ottla.log.leader_epochs import LeaderEpochCache
from ottla.log.producer_snapshot import DamagedSnapshot, SnapshotEntry, decode_snapshot
from ottla.log.txn_index import AbortedTxn
from ottla.model.limits import DECOMPRESSED_BATCH_BYTES_MAX
from ottla.wire.crc import crc32c
from ottla.wire.record_batch import (
    ATTRIBUTES_AT,
    CRC_AT,
    HEADER_BYTES,
    LOG_OVERHEAD,
    MAGIC,
    BatchHeader,
    CorruptBatch,
    InvalidRecord,
    Record,
    UnsupportedCodec,
    check_crc,
    decode_batch,
    read_header,
)

_OFFSET_ENTRY: Final = Struct(">II")
_TIME_ENTRY: Final = Struct(">qI")
_TXN_ENTRY: Final = Struct(">hqqqq")

CHECKPOINTS: Final = (
    RECOVERY_POINT_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    HIGH_WATERMARK_CHECKPOINT,
    CLEANER_CHECKPOINT,
)

SNAPSHOT_BYTES_MAX: Final = 512 * 1024 * 1024
"""A producer snapshot is read whole; ten million producers fit in this."""


class Damaged(Exception):
    """A file that is not what was written. `position` is the byte where it stops making sense."""

    def __init__(self, path: str, position: int, problem: str) -> None:
        super().__init__(f"{path} is damaged at position {position}: {problem}")
        self.path = path
        self.position = position
        self.problem = problem


class TornTail(Damaged):
    """The file ends within a batch, as after a crash. `left_bytes` lie behind the last whole one."""

    def __init__(self, path: str, position: int, problem: str, left_bytes: int) -> None:
        super().__init__(path, position, problem)
        self.left_bytes = left_bytes


class NotASegmentFile(ValueError):
    """The name is not one of the files that can be shown."""


class PlacedBatch(NamedTuple):
    position: int
    header: BatchHeader
    records: list[Record] | None
    """None unless they were asked for."""
    is_valid: bool = True
    """Whether the CRC is right; where it has to be, a wrong one is raised as `Damaged` instead."""


class OffsetEntry(NamedTuple):
    position: int
    """In the index file."""
    offset: int
    log_position: int


class EpochEntry(NamedTuple):
    epoch: int
    start_offset: int


class CheckpointEntry(NamedTuple):
    topic: str
    partition: int
    offset: int


class TimeEntry(NamedTuple):
    position: int
    timestamp: int
    offset: int


def file_kind(path: str) -> tuple[str, int]:
    """`(suffix, base offset)` of a file by its name; what deletion or compaction put behind it is overlooked.
    A checkpoint, which has no suffix, is named whole.

    Snapshots of the metadata log (`….checkpoint`) hold batches like a `.log`.
    """
    name = os.path.basename(path)
    for passing in (DELETED_SUFFIX, CLEANED_SUFFIX, SWAP_SUFFIX):
        name = name.removesuffix(passing)
    if name == LEADER_EPOCH_CHECKPOINT or name in CHECKPOINTS:
        return name, 0
    if name.endswith(".checkpoint"):
        digits = name[:20]
        return LOG_SUFFIX, int(digits) if digits.isdecimal() else 0
    split = split_name(name)
    known = (LOG_SUFFIX, OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX, TXN_INDEX_SUFFIX, SNAPSHOT_SUFFIX)
    if split is None or split[1] not in known:
        raise NotASegmentFile(
            f"{path}: expected the name of a segment's file, 20 digits and {' '.join(known)}, or a checkpoint"
        )
    return split[1], split[0]


def read_batches(
    path: str,
    *,
    with_records: bool,
    with_control: bool = False,
    crc_must_hold: bool = True,
    limit_bytes: int | None = None,
) -> Iterator[PlacedBatch]:
    """The batches of a `.log`, each with its CRC checked; with their records, or those of control batches,
    when asked for.

    A preallocated tail of zeros is the end of the file, not damage. `limit_bytes` ends the reading before the
    batch that reaches beyond it.
    """
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        end = size if limit_bytes is None else min(size, limit_bytes)
        position = 0
        while position < end:
            head = os.pread(file.fileno(), HEADER_BYTES, position)
            if not any(head) and _zeros_to_end(file.fileno(), position, size):
                return
            left_bytes = size - position
            if len(head) < HEADER_BYTES:
                problem = f"{len(head)} bytes are too few for a batch header"
                raise TornTail(path, position, problem, left_bytes)
            header = read_header(head)
            if header.magic != MAGIC:
                raise Damaged(path, position, f"magic {header.magic} is not {MAGIC}")
            if not HEADER_BYTES - LOG_OVERHEAD <= header.batch_length <= left_bytes - LOG_OVERHEAD:
                problem = f"batch length {header.batch_length} does not fit: {left_bytes} bytes are left"
                if header.batch_length < HEADER_BYTES - LOG_OVERHEAD:
                    raise Damaged(path, position, problem)
                raise TornTail(path, position, problem, left_bytes)
            if position + header.size_bytes > end:
                return
            data = bytearray(os.pread(file.fileno(), header.size_bytes, position))
            records, is_valid = None, True
            try:
                check_crc(data, 0, len(data))
            except CorruptBatch as error:
                if crc_must_hold:
                    raise Damaged(path, position, str(error)) from None
                is_valid = False
                # What it holds is shown all the same, as far as it makes sense.
                data[CRC_AT:ATTRIBUTES_AT] = crc32c(memoryview(data)[ATTRIBUTES_AT:]).to_bytes(4, "big")
            try:
                if with_records or (header.is_control and with_control):
                    records = decode_batch(data, decompressed_bytes_max=DECOMPRESSED_BATCH_BYTES_MAX)
            except (CorruptBatch, InvalidRecord, UnsupportedCodec) as error:
                raise Damaged(path, position, str(error)) from None
            yield PlacedBatch(position, header, records, is_valid)
            position += header.size_bytes


def _zeros_to_end(fd: int, position: int, size: int) -> bool:
    while position < size:
        chunk = os.pread(fd, 1 << 20, position)
        if any(chunk):
            return False
        position += len(chunk)
    return True


class LogBeside:
    """The headers of the log that an index belongs to, to compare with what the index says."""

    def __init__(self, index_path: str) -> None:
        directory, name = os.path.split(index_path)
        path = os.path.join(directory, name.partition(".")[0] + LOG_SUFFIX)
        self._fd = os.open(path, os.O_RDONLY) if os.path.exists(path) else None

    def __enter__(self) -> LogBeside:
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd is not None:
            os.close(self._fd)

    @property
    def exists(self) -> bool:
        return self._fd is not None

    def header_at(self, position: int) -> BatchHeader | None:
        """None where there is no whole header, or no log."""
        if self._fd is None:
            return None
        head = os.pread(self._fd, HEADER_BYTES, position)
        return read_header(head) if len(head) == HEADER_BYTES else None

    def headers(self) -> Iterator[BatchHeader]:
        position = 0
        while (header := self.header_at(position)) is not None and header.batch_length > 0:
            yield header
            position += header.size_bytes


def read_offset_index(path: str, base_offset: int) -> Iterator[OffsetEntry]:
    """The entries of an `.index`; they have to rise, and to point at batches of the `.log` beside it."""
    data = _whole_entries(path, _OFFSET_ENTRY.size)
    log_path = path.removesuffix(DELETED_SUFFIX).removesuffix(OFFSET_INDEX_SUFFIX) + LOG_SUFFIX
    log_fd = os.open(log_path, os.O_RDONLY) if os.path.exists(log_path) else None
    try:
        last = OffsetEntry(-1, -1, -1)
        for number, (relative, log_position) in enumerate(_OFFSET_ENTRY.iter_unpack(data)):
            entry = OffsetEntry(number * _OFFSET_ENTRY.size, base_offset + relative, log_position)
            if number > 0 and relative == 0 and log_position == 0:
                return  # preallocated
            if entry.offset <= last.offset or entry.log_position <= last.log_position:
                raise Damaged(path, entry.position, f"offset {entry.offset} does not rise")
            if log_fd is not None:
                problem = _mismatch(log_fd, entry)
                if problem is not None:
                    raise Damaged(path, entry.position, problem)
            yield entry
            last = entry
    finally:
        if log_fd is not None:
            os.close(log_fd)


def _mismatch(log_fd: int, entry: OffsetEntry) -> str | None:
    head = os.pread(log_fd, HEADER_BYTES, entry.log_position)
    if len(head) < HEADER_BYTES or read_header(head).magic != MAGIC:
        return f"no batch at position {entry.log_position} of the log"
    header = read_header(head)
    if header.base_offset > entry.offset:
        return f"offset {entry.offset} lies before the batch at position {entry.log_position} of the log"
    return None


def read_time_index(path: str, base_offset: int) -> Iterator[TimeEntry]:
    """The entries of a `.timeindex`; timestamps and offsets have to rise."""
    data = _whole_entries(path, _TIME_ENTRY.size)
    last = TimeEntry(-1, -1, -1)
    for number, (timestamp, relative) in enumerate(_TIME_ENTRY.iter_unpack(data)):
        entry = TimeEntry(number * _TIME_ENTRY.size, timestamp, base_offset + relative)
        if number > 0 and timestamp == 0 and relative == 0:
            return  # preallocated
        if entry.timestamp < last.timestamp or entry.offset < last.offset:
            raise Damaged(path, entry.position, f"timestamp {timestamp} or its offset does not rise")
        yield entry
        last = entry


def read_txn_index(path: str) -> Iterator[AbortedTxn]:
    data = _whole_entries(path, _TXN_ENTRY.size)
    for number, (version, *fields) in enumerate(_TXN_ENTRY.iter_unpack(data)):
        if version != 0:
            raise Damaged(path, number * _TXN_ENTRY.size, f"entry version {version} is not known")
        yield AbortedTxn(*fields)


def read_snapshot(path: str) -> Iterator[SnapshotEntry]:
    if os.stat(path).st_size > SNAPSHOT_BYTES_MAX:
        raise Damaged(path, 0, f"it is larger than {SNAPSHOT_BYTES_MAX} bytes")
    with open(path, "rb") as file:
        data = file.read()
    try:
        yield from decode_snapshot(data)
    except DamagedSnapshot as error:
        raise Damaged(path, 0, str(error)) from None


def read_leader_epochs(path: str) -> Iterator[EpochEntry]:
    with open(path, "rb") as file:
        data = file.read()
    try:
        cache = LeaderEpochCache.from_text(data.decode("utf-8"))
    except ValueError as error:
        raise Damaged(path, 0, str(error)) from None
    for epoch, start_offset in cache.entries():
        yield EpochEntry(epoch, start_offset)


def read_checkpoint(path: str) -> Iterator[CheckpointEntry]:
    """The lines of a log directory's checkpoint: an offset for each partition."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        offsets = decode_checkpoint(data)
    except CorruptCheckpoint as error:
        raise Damaged(path, 0, str(error)) from None
    for tp, offset in offsets.items():
        yield CheckpointEntry(tp.topic, tp.partition, offset)


def _whole_entries(path: str, entry_bytes: int) -> bytes:
    with open(path, "rb") as file:
        data = file.read()
    odd = len(data) % entry_bytes
    if odd:
        raise Damaged(path, len(data) - odd, f"{odd} bytes are not a whole entry of {entry_bytes}")
    return data


def first_sequence(entry: SnapshotEntry) -> int:
    """Of the producer's last batch; sequences begin anew after the largest int32."""
    return (entry.last_sequence - entry.offset_delta) & 0x7FFFFFFF
