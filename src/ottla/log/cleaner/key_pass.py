"""The first pass: over the dirty part of the log, noting the latest offset of every key.

It ends at the first uncleanable offset or, when the map is full, before the batch whose keys did not fit any
more; the next run goes on there. Records of aborted transactions are not noted: they supersede nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from ottla.log.cleaner.offset_map import make_offset_map
from ottla.log.cleaner.segment_pass import batch_bytes_max, damaged, unpacked_records
from ottla.log.cleaner.segment_reader import SegmentReader
from ottla.log.cleaner.transactions import TransactionTracker, marker_kind
from ottla.log.cleaning_job import CleaningFailed, CleaningJob, SegmentToClean
from ottla.log.index_file import DamagedIndex
from ottla.log.offset_index import OffsetIndex
from ottla.log.txn_index import AbortedTxn
from ottla.ports.disk import Disk
from ottla.wire.compaction_codec import ASK, END, FULL, MORE, KeyIndexer, OffsetTable
from ottla.wire.record_batch import (
    HEADER_BYTES,
    Codec,
    CorruptBatch,
    InvalidRecord,
    UnsupportedCodec,
    read_header,
)


@dataclass(frozen=True, slots=True)
class KeyMap:
    table: OffsetTable
    end_offset: int
    """One past what the map covers; always between two batches."""
    full: bool


def map_keys(job: CleaningJob, disk: Disk, reader: SegmentReader, aborted: list[AbortedTxn]) -> KeyMap:
    """Passes over the dirty part once."""
    assert job.segments, "a job is about segments"
    limit = min(job.first_uncleanable_offset, job.segments[-1].end_offset)
    table = make_offset_map(job, limit)
    mapper = _KeyPass(job, disk, reader, table, aborted, limit)
    for segment in job.segments:
        if segment.end_offset > job.first_dirty_offset and segment.base_offset < limit:
            ended = mapper.map_segment(segment)
            if ended is not None:
                end_offset, full = ended
                if full and end_offset <= job.first_dirty_offset:
                    raise CleaningFailed(
                        f"log.cleaner.dedupe.buffer.size has room for {table.capacity} keys, fewer than the "
                        f"batch at offset {end_offset} of {job.topic}-{job.partition} has: raise it, or "
                        "lower log.cleaner.threads"
                    )
                return KeyMap(table, end_offset, full)
    return KeyMap(table, limit, False)


class _KeyPass:
    def __init__(
        self,
        job: CleaningJob,
        disk: Disk,
        reader: SegmentReader,
        table: OffsetTable,
        aborted: list[AbortedTxn],
        limit: int,
    ) -> None:
        self._job = job
        self._disk = disk
        self._reader = reader
        self._tracker = TransactionTracker(aborted, job.first_dirty_offset)
        self._indexer = KeyIndexer(table, job.first_dirty_offset, limit)

    def map_segment(self, segment: SegmentToClean) -> tuple[int, bool] | None:
        """None, or where the map ends and whether because it is full."""
        position = self._first_position(segment)
        if position:
            self._begin(segment, position)
            try:
                if self._is_before_dirty(segment):
                    return self._map()
            except CleaningFailed:
                if self._indexer.next_offset != segment.base_offset:
                    raise
            # Where the offset index points, there is no right batch that the dirty part could begin with: it
            # lies, and only the log is the truth.
        self._begin(segment, 0)
        return self._map()

    def _begin(self, segment: SegmentToClean, position: int) -> None:
        self._reader.open(segment, position)
        self._indexer.begin_segment(segment.base_offset, segment.end_offset, batch_bytes_max(self._job))

    def _first_position(self, segment: SegmentToClean) -> int:
        """Where the first dirty batch is, or shortly before."""
        if segment.base_offset >= self._job.first_dirty_offset:
            return 0
        index = OffsetIndex(self._disk, self._job.dir_path, segment.base_offset, fresh=False)
        try:
            index.load()
            index.check(segment.size_bytes)
            return index.lookup(self._job.first_dirty_offset)
        except DamagedIndex:
            return 0
        finally:
            index.rest()

    def _is_before_dirty(self, segment: SegmentToClean) -> bool:
        """Whether no dirty batch lies before the one that the reader was opened at."""
        reader = self._reader
        reader.read_on(segment.base_offset)
        return read_header(reader.view, reader.start).base_offset <= self._job.first_dirty_offset

    def _map(self) -> tuple[int, bool] | None:
        reader, indexer = self._reader, self._indexer
        while True:
            reason = indexer.run(reader.view, reader.start, reader.end)
            reader.start = indexer.position
            if reason == ASK:
                reason = self._decide()
                if not reason:
                    continue
            if reason == MORE:
                if not reader.read_on(indexer.next_offset):
                    return None
            elif reason in (END, FULL):
                return read_header(reader.view, reader.start).base_offset, reason == FULL
            elif reason < 0:
                raise damaged(reader, indexer.next_offset, reason)

    def _decide(self) -> int:
        """Indexes the batch that the codec asked about and goes on behind it: 0, FULL, or damage."""
        reader, indexer = self._reader, self._indexer
        view, at = reader.view, reader.start
        header = read_header(view, at)
        try:
            if header.is_control:
                self._tracker.meets_marker(header.producer_id, header.last_offset, marker_kind(view, at))
            elif not (
                header.is_transactional and self._tracker.meets_batch(header.producer_id, header.last_offset)
            ):
                records, start, stop = view, at + HEADER_BYTES, at + header.size_bytes
                if header.codec != Codec.NONE and header.record_count:
                    records = memoryview(unpacked_records(view, at, header))
                    start, stop = 0, len(records)
                reason: int = indexer.index_records(
                    records, start, stop, header.record_count, header.base_offset, header.last_offset_delta
                )
                if reason:
                    return reason
        except (InvalidRecord, UnsupportedCodec, CorruptBatch) as error:
            raise damaged(reader, indexer.next_offset, error) from error
        indexer.skip(view)
        reader.start = indexer.position
        return 0
