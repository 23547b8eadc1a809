"""One segment: a `.log` file of batches, one after the other, and the indexes that find things in it.

The segment that a log appends to keeps its size, its largest timestamp and the bytes since its last index
entry in memory, so an append is one write and some arithmetic. All others are mostly names. Index entries
are made as Kafka makes them: after more than `index.interval.bytes` since the last one, the next batch gets
an entry.

What is looked up is checked against the log: an index that is missing, or points at something that is not
the batch it names, is built again on the spot (`rebuild_indexes`). The log itself is checked by recovery.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from typing import Final

from ottla.log.file_names import DELETED_SUFFIX, LOG_SUFFIX, segment_path
from ottla.log.index_file import DamagedIndex
from ottla.log.offset_index import RELATIVE_OFFSET_MAX, OffsetIndex
from ottla.log.time_index import NO_TIMESTAMP, TimeIndex
from ottla.log.txn_index import AbortedTxn, TxnIndex
from ottla.model.limits import DECOMPRESSED_BATCH_BYTES_MAX
from ottla.ports.disk import Buffer, Disk, File
from ottla.wire.record_batch import (
    BATCH_LENGTH_MIN,
    HEADER_BYTES,
    LOG_OVERHEAD,
    MAGIC,
    BatchHeader,
    ControlType,
    CorruptBatch,
    EndTxnMarker,
    check_crc,
    control_type,
    decode_batch,
    decode_end_txn_marker,
    read_header,
)
from ottla.wire.record_codec import find_batch, find_batch_by_timestamp, scan_batches

_LOOKUP_BYTES: Final = 8192
"""Read at a time when stepping from header to header: two index intervals, so one read usually does."""

_WALK_BYTES_MAX: Final = 256 * 1024
_WALK_BYTES_MIN: Final = 4096
"""Read at a time when the whole segment is passed over; the less, the larger the batches are."""

_UNKNOWN: Final = -2
"""A timestamp that was not asked for yet."""


class UnrepairedWrite(OSError):
    """A write failed and could not be taken back: the end of the file is not known any more."""


class Segment:
    __slots__ = (
        "_disk",
        "_dir_path",
        "base_offset",
        "file",
        "size",
        "offset_index",
        "time_index",
        "txn_index",
        "_max_timestamp",
        "_max_timestamp_offset",
        "_first_timestamp",
        "created_ms",
        "bytes_since_index",
        "roll_jitter_ms",
        "unsynced",
    )

    def __init__(
        self,
        disk: Disk,
        dir_path: str,
        base_offset: int,
        file: File,
        *,
        fresh: bool,
        now_ms: int,
        has_txn_index: bool = False,
        roll_jitter_ms: int = 0,
    ) -> None:
        self._disk = disk
        self._dir_path = dir_path
        self.base_offset = base_offset
        self.file = file
        self.size = file.size()
        """Bytes in the log file. Kept here: it is looked at in every append and every fetch."""
        self.offset_index = OffsetIndex(disk, dir_path, base_offset, fresh=fresh)
        self.time_index = TimeIndex(disk, dir_path, base_offset, fresh=fresh)
        self.txn_index: TxnIndex | None = (
            TxnIndex(disk, dir_path, base_offset, fresh=False) if has_txn_index else None
        )
        self._max_timestamp = NO_TIMESTAMP if fresh else _UNKNOWN
        self._max_timestamp_offset = base_offset
        self._first_timestamp = _UNKNOWN
        self.created_ms = now_ms
        """When it was made or opened: its age when its records have no timestamps."""
        self.bytes_since_index = 0
        self.roll_jitter_ms = roll_jitter_ms
        self.unsynced = False

    @classmethod
    def create(
        cls, disk: Disk, dir_path: str, base_offset: int, *, now_ms: int, roll_jitter_ms: int = 0
    ) -> Segment:
        file = disk.open(segment_path(dir_path, base_offset, LOG_SUFFIX), create=True)
        if file.size():
            file.truncate(0)
        segment = cls(
            disk, dir_path, base_offset, file, fresh=True, now_ms=now_ms, roll_jitter_ms=roll_jitter_ms
        )
        segment.unsynced = True
        return segment

    @classmethod
    def open(
        cls,
        disk: Disk,
        dir_path: str,
        base_offset: int,
        *,
        now_ms: int,
        has_txn_index: bool,
        roll_jitter_ms: int = 0,
    ) -> Segment:
        file = disk.open(segment_path(dir_path, base_offset, LOG_SUFFIX))
        return cls(
            disk,
            dir_path,
            base_offset,
            file,
            fresh=file.size() == 0,
            now_ms=now_ms,
            has_txn_index=has_txn_index,
            roll_jitter_ms=roll_jitter_ms,
        )

    def __repr__(self) -> str:
        return f"Segment(base_offset={self.base_offset}, size={self.size})"

    # --- timestamps

    @property
    def max_timestamp(self) -> int:
        """The largest of its records, -1 when none has one."""
        if self._max_timestamp == _UNKNOWN:
            self._load_max_timestamp()
        return self._max_timestamp

    @property
    def max_timestamp_offset(self) -> int:
        """The last offset of the batch that brought `max_timestamp`."""
        if self._max_timestamp == _UNKNOWN:
            self._load_max_timestamp()
        return self._max_timestamp_offset

    def _load_max_timestamp(self) -> None:
        self._load_indexes()
        if self._max_timestamp == _UNKNOWN:
            self._max_timestamp, self._max_timestamp_offset = self.time_index.last_entry()

    @property
    def largest_timestamp(self) -> int:
        """By which retention counts its age: that of its records, or when they have none, its own."""
        largest = self.max_timestamp
        return largest if largest >= 0 else self.created_ms

    @property
    def first_timestamp(self) -> int:
        """The largest of its first batch, -1 for an empty segment: where `segment.ms` counts from."""
        if self._first_timestamp == _UNKNOWN:
            if self.size < HEADER_BYTES:
                return NO_TIMESTAMP
            self._first_timestamp = self.header_at(0).max_timestamp
        return self._first_timestamp

    def age_for_roll_ms(self, now_ms: int, next_timestamp: int) -> int:
        """How long records have been gathered here, by their own time; by the clock when they have none."""
        first = self.first_timestamp
        return next_timestamp - first if first >= 0 else now_ms - self.created_ms

    # --- appending

    def append(self, data: Buffer, last_offset: int, max_timestamp: int, index_interval_bytes: int) -> None:
        """Writes one batch at the end. OSError means that nothing was appended; UnrepairedWrite that it is
        not known.
        """
        position = self.size
        size = len(data)
        self._write(data, size)
        if position == 0:
            self._first_timestamp = max_timestamp
        if max_timestamp > self._max_timestamp:
            self._max_timestamp = max_timestamp
            self._max_timestamp_offset = last_offset
        since = self.bytes_since_index
        if since > index_interval_bytes:
            self.offset_index.append(last_offset, position)
            self.time_index.maybe_append(self._max_timestamp, self._max_timestamp_offset)
            since = 0
        self.bytes_since_index = since + size

    def append_many(
        self, data: Buffer, batches: list[tuple[int, int, int]], index_interval_bytes: int
    ) -> None:
        """Writes several batches at once: `batches` holds size, last offset and largest timestamp of each."""
        position = self.size
        self._write(data, len(data))
        if position == 0:
            self._first_timestamp = batches[0][2]
        for size, last_offset, max_timestamp in batches:
            self._note_batch(position, size, last_offset, max_timestamp, index_interval_bytes)
            position += size

    def _write(self, data: Buffer, size: int) -> None:
        file = self.file
        position = self.size
        try:
            written = file.append((data,))
        except OSError as error:
            self._take_back(position, error)
            raise
        if written != size:
            short = OSError(errno.ENOSPC, f"{written} of {size} bytes were written", file.path)
            self._take_back(position, short)
            raise short
        self.size = position + size
        self.unsynced = True

    def _take_back(self, size: int, cause: OSError) -> None:
        """A failed write may have left some bytes: back to the last whole batch."""
        self.unsynced = True  # else a crash could bring them back behind what was flushed
        try:
            self.file.truncate(size)
        except OSError as error:
            raise UnrepairedWrite(error.errno, f"{error.strerror} after {cause}", self.file.path) from cause

    def _note_batch(
        self, position: int, size: int, last_offset: int, max_timestamp: int, index_interval_bytes: int
    ) -> None:
        if max_timestamp > self._max_timestamp:
            self._max_timestamp = max_timestamp
            self._max_timestamp_offset = last_offset
        if self.bytes_since_index > index_interval_bytes:
            self.offset_index.append(last_offset, position)
            self.time_index.maybe_append(self._max_timestamp, self._max_timestamp_offset)
            self.bytes_since_index = 0
        self.bytes_since_index += size

    def add_aborted_txn(self, txn: AbortedTxn) -> None:
        if self.txn_index is None:
            self.txn_index = TxnIndex(self._disk, self._dir_path, self.base_offset, fresh=True)
        elif not self.txn_index.loaded:
            self.txn_index.load()
        self.txn_index.append(txn)

    def fits(self, last_offset: int) -> bool:
        """Whether the indexes can name this offset."""
        return last_offset - self.base_offset <= RELATIVE_OFFSET_MAX

    # --- finding

    def _load_indexes(self) -> None:
        """Opens the indexes of a segment that was not touched yet; bad ones are made again."""
        if self.offset_index.loaded and self.time_index.loaded:
            return
        try:
            self.offset_index.load()
            self.offset_index.check(self.size)
            self.time_index.load()
            self.time_index.check()
            if self.size and not self.time_index.entries:
                raise DamagedIndex("a segment that has batches has at least one entry when it is closed")
        except DamagedIndex:
            self.rebuild_indexes()

    def load(self) -> None:
        """Makes a segment that was opened ready to be appended to."""
        self._load_max_timestamp()

    def find(self, offset: int) -> tuple[int, BatchHeader] | None:
        """Position and header of the first batch that ends at or after `offset`, None when all end before."""
        if not self.offset_index.loaded:
            self._load_indexes()
        try:
            start = self.offset_index.lookup(offset)
            found = self._step(start, offset, find_batch)
            # An entry names the last offset of its batch, so the batch that it points at is the wanted one
            # only when it ends exactly there.
            if start == 0 or found is None or found[0] != start or found[1].last_offset == offset:
                return found
        except (CorruptBatch, DamagedIndex):
            if self.offset_index.entries == 0:
                raise
        self.rebuild_indexes()
        return self._step(self.offset_index.lookup(offset), offset, find_batch)

    def _step(
        self, position: int, target: int, find: Callable[[bytes, int, int, int], int]
    ) -> tuple[int, BatchHeader] | None:
        """Goes from batch to batch, from `position` on, until `find` says that this is it."""
        size = self.size
        pread = self.file.pread
        while position < size:
            chunk = pread(min(_LOOKUP_BYTES, size - position), position)
            at = find(chunk, 0, len(chunk), target)
            if at >= 0:
                header = read_header(chunk, at)
                if header.magic != MAGIC:
                    raise CorruptBatch(f"no batch at position {position + at} of {self.file.path}")
                return position + at, header
            _, whole_end, _ = scan_batches(chunk, 0, len(chunk))
            if len(chunk) - whole_end >= HEADER_BYTES:
                header = self._sane_header(chunk, whole_end, position)
                position += whole_end + header.size_bytes
            elif whole_end:
                position += whole_end
            else:
                raise CorruptBatch(f"no whole batch header at position {position} of {self.file.path}")
        return None

    def _sane_header(self, chunk: Buffer, at: int, position: int) -> BatchHeader:
        header = read_header(chunk, at)
        if header.magic != MAGIC or header.batch_length < BATCH_LENGTH_MIN:
            raise CorruptBatch(f"no batch at position {position + at} of {self.file.path}")
        return header

    def header_at(self, position: int) -> BatchHeader:
        return self._sane_header(self.file.pread(HEADER_BYTES, position), 0, position)

    def find_by_timestamp(self, timestamp: int, start_offset: int) -> tuple[int, int, int] | None:
        """`(offset, timestamp, leader epoch)` of the first record at or after `start_offset` that is not
        older than `timestamp`.
        """
        self._load_indexes()
        # All before the entry's batch is older; that batch itself may begin before the offset that it names.
        bound = self.time_index.lookup(timestamp)
        position = self.offset_index.lookup(max(bound, start_offset))
        while True:
            found = self._step(position, timestamp, find_batch_by_timestamp)
            if found is None:
                return None
            position, header = found
            if header.last_offset >= start_offset:
                records = decode_batch(
                    self.read_batch(position, header), decompressed_bytes_max=DECOMPRESSED_BATCH_BYTES_MAX
                )
                for record in records:
                    if record.timestamp >= timestamp and record.offset >= start_offset:
                        return record.offset, record.timestamp, header.leader_epoch
            position += header.size_bytes

    def read_batch(self, position: int, header: BatchHeader) -> bytes:
        data = self.file.pread(header.size_bytes, position)
        if len(data) != header.size_bytes:
            raise CorruptBatch(f"the batch at position {position} of {self.file.path} is cut short")
        return data

    def read_marker(self, position: int, header: BatchHeader) -> EndTxnMarker | None:
        """The end-of-transaction marker in the control batch at `position`."""
        return marker_in(self.read_batch(position, header), 0)

    def offset_bound(self, position: int) -> int | None:
        """An offset at or after everything that lies before `position`, by the index alone."""
        self._load_indexes()
        return self.offset_index.offset_at_or_after(position)

    def next_offset(self) -> int:
        """The offset after its last record. Reads headers from the last index entry on."""
        if self.size == 0:
            return self.base_offset
        self._load_indexes()
        try:
            return self._next_offset_from(self.offset_index.last_position())
        except CorruptBatch:
            self.rebuild_indexes()
            return self._next_offset_from(self.offset_index.last_position())

    def _next_offset_from(self, position: int) -> int:
        offset = self.base_offset
        for _, header in self.headers(position):
            offset = header.next_offset
        return offset

    # --- passing over everything

    def headers(self, start: int = 0) -> Iterator[tuple[int, BatchHeader]]:
        """`(position, header)` of every batch from `start` on; CorruptBatch where there is none."""
        return self.walk(start, RELATIVE_OFFSET_MAX << 32)

    def walk(self, start: int, check_from_offset: int) -> Iterator[tuple[int, BatchHeader]]:
        """The same, with the CRC of batches that end at or after `check_from_offset` checked.

        Where nothing is checked, large batches are stepped over without being read.
        """
        size = self.size
        position = start
        read_bytes = _WALK_BYTES_MAX
        while position < size:
            chunk: bytes = self.file.pread(min(read_bytes, size - position), position)
            at = 0
            while len(chunk) - at >= HEADER_BYTES:
                header = self._sane_header(chunk, at, position)
                total = LOG_OVERHEAD + header.batch_length
                if total > size - position - at:
                    raise CorruptBatch(
                        f"the batch at position {position + at} of {self.file.path} is cut short"
                    )
                checked = header.base_offset + header.last_offset_delta >= check_from_offset
                if checked:
                    if total > len(chunk) - at:
                        if at == 0:
                            chunk = self.file.pread(total, position)
                            if len(chunk) != total:
                                raise CorruptBatch(f"{self.file.path} ended while it was read")
                            continue
                        break
                    check_crc(chunk, at, at + total)
                yield position + at, header
                at += total
            if at == 0:
                raise CorruptBatch(f"no whole batch header at position {position} of {self.file.path}")
            # A batch that reaches far beyond what was read, and need not be read: smaller steps from now on.
            read_bytes = _WALK_BYTES_MIN if at > len(chunk) + _WALK_BYTES_MIN else _WALK_BYTES_MAX
            position += at

    def begin_rebuild(self) -> None:
        """Forgets what is known about the contents; `note_existing` and `end_rebuild` bring it back."""
        self.offset_index.reset()
        self.time_index.reset()
        self._max_timestamp = NO_TIMESTAMP
        self._max_timestamp_offset = self.base_offset
        self._first_timestamp = _UNKNOWN
        self.bytes_since_index = 0

    def note_existing(self, position: int, header: BatchHeader, index_interval_bytes: int) -> None:
        if position == 0:
            self._first_timestamp = header.max_timestamp
        self._note_batch(
            position, header.size_bytes, header.last_offset, header.max_timestamp, index_interval_bytes
        )

    def end_rebuild(self) -> None:
        self.time_index.maybe_append(self._max_timestamp, self._max_timestamp_offset)
        self.write_indexes()

    def rebuild_indexes(self, index_interval_bytes: int = 4096) -> None:
        """Makes offset and time index again from the headers in the log."""
        self.begin_rebuild()
        for position, header in self.headers():
            self.note_existing(position, header, index_interval_bytes)
        self.end_rebuild()

    # --- cutting

    def truncate_at(self, position: int, offset: int) -> None:
        """Cuts the file at a batch boundary, and from the indexes what is at or after `offset`."""
        self._load_indexes()
        self.offset_index.truncate_to(offset)
        self.time_index.truncate_to(offset)
        if self.txn_index is not None:
            self.txn_index.load()
            self.txn_index.truncate_to(offset)
        self.cut_file(position)
        self.bytes_since_index = 0
        if position == 0:
            self._first_timestamp = _UNKNOWN
        # The last entry of the time index is the largest timestamp up to its own batch; look at the rest.
        self._max_timestamp, self._max_timestamp_offset = self.time_index.last_entry()
        for _, header in self.headers(self.offset_index.lookup(self._max_timestamp_offset)):
            if header.max_timestamp > self._max_timestamp:
                self._max_timestamp = header.max_timestamp
                self._max_timestamp_offset = header.last_offset

    def cut_file(self, position: int) -> None:
        """Cuts the file and makes that durable: otherwise a crash could mix what was cut off with what is
        written in its place, and offset and epoch of a batch are not covered by its CRC.
        """
        self.file.truncate(position)
        self.file.sync()
        self.size = position

    # --- the files

    def write_indexes(self) -> None:
        """Brings the index files up to date, as a segment needs before it is closed or rolled."""
        if self.size == 0 and not self.offset_index.entries:
            return
        self.offset_index.ensure_file()
        self.offset_index.write_pending()
        self.time_index.ensure_file()
        self.time_index.write_pending()
        if self.txn_index is not None:
            self.txn_index.write_pending()

    def finish(self) -> None:
        """No more batches come: the largest timestamp becomes the last entry of the time index."""
        if self._max_timestamp != _UNKNOWN:
            self.time_index.maybe_append(self._max_timestamp, self._max_timestamp_offset)
            self.write_indexes()

    def files_to_sync(self, *, with_indexes: bool) -> list[File]:
        files = [self.file] if self.unsynced else []
        if with_indexes:
            for index in (self.offset_index, self.time_index, self.txn_index):
                file = index.file_for_sync() if index is not None else None
                if file is not None:
                    files.append(file)
        return files

    def mark_synced(self, *, with_indexes: bool) -> None:
        self.unsynced = False
        if with_indexes:
            self.offset_index.unsynced = self.time_index.unsynced = False
            if self.txn_index is not None:
                self.txn_index.unsynced = False

    def close(self) -> None:
        self.file.close()
        self.offset_index.rest()
        self.time_index.rest()
        if self.txn_index is not None:
            self.txn_index.rest()

    def mark_deleted(self) -> list[File]:
        """Renames the files to `*.deleted`; who is still reading goes on reading."""
        # The log first: a crash in between then leaves indexes without a log, which the next start removes.
        self.file.rename(self.file.path + DELETED_SUFFIX)
        files = [self.file]
        for index in (self.offset_index, self.time_index, self.txn_index):
            file = index.mark_deleted() if index is not None else None
            if file is not None:
                files.append(file)
        return files

    def mark_log_deleted(self) -> tuple[File, list[str]]:
        """As `mark_deleted`, for the log alone; and the paths of the indexes, for which there is time:
        without a log they mean nothing, also to a start.
        """
        self.file.rename(self.file.path + DELETED_SUFFIX)
        paths = []
        for index in (self.offset_index, self.time_index, self.txn_index):
            if index is not None:
                index.rest()
                paths.append(index.path)
        return self.file, paths

    def move_to(self, dir_path: str) -> None:
        self._dir_path = dir_path
        self.file.close()
        self.file = self._disk.open(segment_path(dir_path, self.base_offset, LOG_SUFFIX))
        self.offset_index.move_to(dir_path)
        self.time_index.move_to(dir_path)
        if self.txn_index is not None:
            self.txn_index.move_to(dir_path)


def marker_in(data: Buffer, at: int) -> EndTxnMarker | None:
    """The end-of-transaction marker of a control batch; None for one that compaction emptied, or that is of
    another kind (the metadata log has them).
    """
    records = decode_batch(data, at, decompressed_bytes_max=DECOMPRESSED_BATCH_BYTES_MAX)
    if not records or control_type(records[0].key) not in (ControlType.ABORT, ControlType.COMMIT):
        return None
    return decode_end_txn_marker(records[0])
