"""A partition's closed segments on a disk, written batch by batch, cleaned, and swapped as the log would.

After every swap the new files are checked: rising offsets, right CRCs, and indexes that name what is there.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ottla.log.cleaner.cleaner import clean
from ottla.log.cleaning_job import CleaningJob, CleaningResult, SegmentToClean
from ottla.log.file_names import (
    CLEANED_SUFFIX,
    LOG_SUFFIX,
    OFFSET_INDEX_SUFFIX,
    TIME_INDEX_SUFFIX,
    TXN_INDEX_SUFFIX,
    segment_path,
)
from ottla.log.offset_index import OffsetIndex
from ottla.log.segment import Segment
from ottla.log.time_index import TimeIndex
from ottla.log.txn_index import AbortedTxn, TxnIndex
from ottla.ports.disk import Disk
from ottla.testing.disk import VirtualDisk
from ottla.wire.record_batch import (
    BatchHeader,
    EndTxnMarker,
    Record,
    check_crc,
    decode_batch,
    encode_batch,
    encode_end_txn_batch,
)

NOW = 1_700_000_000_000
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
DIR = "/data/events-0"
BYTES_MAX = 1 << 26

Pair = tuple[bytes | None, bytes | None]


@dataclass(frozen=True, slots=True)
class Stored:
    """One batch as it is in a file."""

    header: BatchHeader
    records: tuple[Record, ...]
    data: bytes


class CleaningBench:
    def __init__(
        self, disk: Disk | None = None, dir_path: str = DIR, *, index_interval_bytes: int = 0, **job: Any
    ) -> None:
        self.disk: Disk = VirtualDisk() if disk is None else disk
        self.dir_path = dir_path
        self.disk.make_dirs(dir_path)
        self.index_interval_bytes = index_interval_bytes
        self.job_fields = job
        self.segments: list[SegmentToClean] = []
        self.next_offset = 0
        self.first_dirty_offset = 0
        self.now_ms = NOW
        self.open_txns: dict[int, int] = {}
        self.sequences: dict[int, int] = {}
        self._active: Segment | None = None

    # --- writing

    def put(
        self,
        *pairs: Pair | Record,
        producer: int = -1,
        epoch: int = 0,
        txn: bool = False,
        timestamps: Sequence[int] | None = None,
        **options: Any,
    ) -> range:
        """Appends one batch; the offsets of its records."""
        records = [
            pair
            if isinstance(pair, Record)
            else Record(0, self.now_ms if timestamps is None else timestamps[i], *pair)
            for i, pair in enumerate(pairs)
        ]
        if producer >= 0:
            options |= {"producer_id": producer, "producer_epoch": epoch}
            options["base_sequence"] = self.sequences.get(producer, 0)
            self.sequences[producer] = options["base_sequence"] + len(records)
            if txn:
                self.open_txns.setdefault(producer, self.next_offset)
        data = encode_batch(
            records, base_offset=self.next_offset, transactional=txn, leader_epoch=3, **options
        )
        return self.append(data, len(records))

    def append(self, data: bytes | bytearray, count: int = 1) -> range:
        """Appends a batch as it is, with offsets that the caller made right."""
        offsets = range(self.next_offset, self.next_offset + count)
        header = check_crc(data, 0, len(data))
        self._segment().append(
            bytes(data), header.last_offset, header.max_timestamp, self.index_interval_bytes
        )
        self.next_offset = header.last_offset + 1
        return offsets

    def end_txn(self, producer: int, *, commit: bool, epoch: int = 0) -> int:
        """Appends a marker; its offset."""
        offset = self.next_offset
        self.append(
            encode_end_txn_batch(
                EndTxnMarker(commit, 0),
                producer_id=producer,
                producer_epoch=epoch,
                timestamp=self.now_ms,
                base_offset=offset,
                leader_epoch=3,
            )
        )
        first = self.open_txns.pop(producer, None)
        if first is not None and not commit:
            stable = min(self.open_txns.values(), default=offset + 1)
            self._segment().add_aborted_txn(AbortedTxn(producer, first, offset, stable))
        return offset

    def _segment(self) -> Segment:
        if self._active is None:
            self._active = Segment.create(self.disk, self.dir_path, self.next_offset, now_ms=self.now_ms)
        return self._active

    def roll(self) -> None:
        """Closes the segment that is being written."""
        active = self._active
        if active is not None:
            active.finish()
            active.close()
            self.segments.append(
                SegmentToClean(
                    active.base_offset,
                    self.next_offset,
                    active.size,
                    active.txn_index is not None,
                )
            )
            self._active = None

    # --- cleaning

    def job(self, **changes: Any) -> CleaningJob:
        self.roll()
        fields: dict[str, Any] = {
            "topic": "events",
            "partition": 0,
            "dir_path": self.dir_path,
            "segments": tuple(self.segments),
            "log_start_offset": 0,
            "first_dirty_offset": self.first_dirty_offset,
            "first_uncleanable_offset": self.next_offset,
            "last_offsets_of_producers": {},
            "now_ms": self.now_ms,
            "delete_retention_ms": DAY_MS,
            "segment_bytes_max": 1 << 30,
            "index_bytes_max": 10 << 20,
            "index_interval_bytes": self.index_interval_bytes,
            "message_bytes_max": 1 << 20,
            "map_bytes": 1 << 20,
            "map_load_factor": 0.9,
            "io_buffer_bytes": 4096,
            "io_bytes_per_s_max": float("inf"),
        }
        return CleaningJob(**(fields | self.job_fields | changes))

    def clean(self, **changes: Any) -> CleaningResult:
        """Cleans everything that is closed and swaps the result in."""
        return self.run(self.job(**changes))

    def run(self, job: CleaningJob) -> CleaningResult:
        result = clean(job, self.disk, now=time.monotonic, pause=lambda _: None)
        self.swap(result)
        return result

    def swap(self, result: CleaningResult) -> None:
        for cleaned in result.cleaned:
            old = [segment for segment in self.segments if segment.base_offset in cleaned.replaced]
            assert tuple(segment.base_offset for segment in old) == cleaned.replaced
            for segment in old:
                for suffix in (LOG_SUFFIX, OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX, TXN_INDEX_SUFFIX):
                    path = segment_path(self.dir_path, segment.base_offset, suffix)
                    if self.disk.exists(path):
                        self.disk.remove(path)
            suffixes = [LOG_SUFFIX, OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX]
            if cleaned.has_txn_index:
                suffixes.append(TXN_INDEX_SUFFIX)
            for suffix in suffixes:
                path = segment_path(self.dir_path, cleaned.base_offset, suffix)
                self.disk.rename(path + CLEANED_SUFFIX, path)
            at = self.segments.index(old[0])
            self.segments[at : at + len(old)] = [
                replace(
                    old[-1],
                    base_offset=cleaned.base_offset,
                    size_bytes=cleaned.size_bytes,
                    has_txn_index=cleaned.has_txn_index,
                )
            ]
        self.first_dirty_offset = result.next_dirty_offset
        assert not self.leftovers(), "files that belong to nothing"
        self.check()

    def leftovers(self) -> list[str]:
        return [name for name in self.disk.list_dir(self.dir_path) if name.endswith(CLEANED_SUFFIX)]

    # --- reading

    def stored(self, segment: SegmentToClean) -> list[Stored]:
        data = self.disk.read_file(segment_path(self.dir_path, segment.base_offset, LOG_SUFFIX))
        assert len(data) == segment.size_bytes
        found = []
        at = 0
        while at < len(data):
            header = check_crc(data, at, len(data))
            records = decode_batch(data, at, decompressed_bytes_max=BYTES_MAX)
            found.append(Stored(header, tuple(records), data[at : at + header.size_bytes]))
            at += header.size_bytes
        return found

    def batches(self) -> list[Stored]:
        self.roll()
        return [batch for segment in self.segments for batch in self.stored(segment)]

    def records(self) -> list[Record]:
        """Of batches with data."""
        return [record for batch in self.batches() if not batch.header.is_control for record in batch.records]

    def offsets(self) -> list[int]:
        return [record.offset for record in self.records()]

    def latest(self) -> dict[bytes | None, tuple[int, bytes | None]]:
        return {record.key: (record.offset, record.value) for record in self.records()}

    def markers(self) -> list[int]:
        """The offsets of the markers that are there."""
        return [
            batch.header.base_offset for batch in self.batches() if batch.header.is_control and batch.records
        ]

    def aborted(self) -> list[AbortedTxn]:
        found: list[AbortedTxn] = []
        for segment in self.segments:
            if segment.has_txn_index:
                index = TxnIndex(self.disk, self.dir_path, segment.base_offset, fresh=False)
                index.load()
                index.check()
                found += index.all()
        return found

    def check(self) -> None:
        """The files are what a log may have."""
        next_offset = 0
        for segment in self.segments:
            assert segment.base_offset >= next_offset
            next_offset = segment.base_offset
            at: dict[int, BatchHeader] = {}
            position = 0
            for batch in self.stored(segment):
                assert batch.header.base_offset >= next_offset
                next_offset = batch.header.next_offset
                for record in batch.records:
                    assert batch.header.base_offset <= record.offset <= batch.header.last_offset
                at[position] = batch.header
                position += batch.header.size_bytes
            assert next_offset <= segment.end_offset
            offset_index = OffsetIndex(self.disk, self.dir_path, segment.base_offset, fresh=False)
            offset_index.load()
            offset_index.check(segment.size_bytes)
            for n in range(offset_index.entries):
                offset, position = offset_index.entry(n)
                assert at[position].last_offset == offset
            time_index = TimeIndex(self.disk, self.dir_path, segment.base_offset, fresh=False)
            time_index.load()
            time_index.check()
            largest = max((header.max_timestamp for header in at.values()), default=-1)
            assert time_index.last_entry()[0] == largest
            if segment.has_txn_index:
                assert self.disk.exists(segment_path(self.dir_path, segment.base_offset, TXN_INDEX_SUFFIX))
