"""The second pass: over every segment, copying what stays into new ones.

A batch of which all stays is copied as it is; of the others the records that stay, with the bytes that they
have (only a delete horizon changes them), and compressed batches are compressed again with their codec. A
batch without records stays as a bare header where it is the last one of a live producer, whose sequence would
be forgotten, or the last one that may be cleaned, so that the offsets still end where they did.
"""

from __future__ import annotations

from array import array

from ottla.log.cleaner.cleaned_segment import CleanedSegmentWriter
from ottla.log.cleaner.key_pass import KeyMap
from ottla.log.cleaner.segment_pass import batch_bytes_max, damaged, unpacked_records
from ottla.log.cleaner.segment_reader import SegmentReader
from ottla.log.cleaner.transactions import TransactionTracker, marker_kind
from ottla.log.cleaning_job import CleaningJob, SegmentToClean
from ottla.log.txn_index import AbortedTxn
from ottla.wire.compaction_codec import ASK, FLUSH, GROWTH_MAX, MORE, BatchFilter, OffsetTable
from ottla.wire.compression import ReadableBuffer, compress
from ottla.wire.crc import crc32c
from ottla.wire.mapped_memory import mapped_memory
from ottla.wire.record_batch import (
    ATTRIBUTES_AT,
    CODEC_MASK,
    CRC_AT,
    DELETE_HORIZON_BIT,
    HEADER,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    NO_TIMESTAMP,
    BatchHeader,
    Codec,
    CorruptBatch,
    InvalidRecord,
    UnsupportedCodec,
    read_header,
)

_NOTHING_KNOWN = memoryview(bytearray(2 * 24)).cast("Q")


class CopyPass:
    def __init__(
        self,
        job: CleaningJob,
        reader: SegmentReader,
        keys: KeyMap,
        aborted: list[AbortedTxn],
        buffer_bytes: int,
    ) -> None:
        self._job = job
        self._reader = reader
        self._keys = keys
        self._aborted = aborted
        self._tracker = TransactionTracker(aborted, 0)
        self._horizon_ms = min(job.now_ms + job.delete_retention_ms, 2**63 - 1)
        last = sorted(
            (offset, producer_id) for producer_id, (offset, _) in job.last_offsets_of_producers.items()
        )
        self.filter = BatchFilter(
            keys.table,
            keys.end_offset,
            job.first_uncleanable_offset,
            job.now_ms,
            self._horizon_ms,
            memoryview(array("q", [offset for offset, _ in last])),
            memoryview(array("q", [producer_id for _, producer_id in last])),
        )
        # Markers are no records of a key: nothing that the map says concerns them.
        self._marker_filter = BatchFilter(
            OffsetTable(_NOTHING_KNOWN, 0, 0, 0),
            keys.end_offset,
            -1,
            job.now_ms,
            self._horizon_ms,
            memoryview(b"").cast("q"),
            memoryview(b"").cast("q"),
        )
        self._out = memoryview(bytearray(max(buffer_bytes, GROWTH_MAX * HEADER_BYTES)))
        self._filled = 0
        self._scratch = memoryview(b"")

    def copy(self, group: list[SegmentToClean], writer: CleanedSegmentWriter) -> list[AbortedTxn]:
        """Copies the segments into one; returns what its transaction index has to hold."""
        self._tracker.still_aborted.clear()
        for segment in group:
            self._reader.open(segment)
            self.filter.begin_segment(segment.base_offset, segment.end_offset, batch_bytes_max(self._job))
            self._copy_segment(writer)
        self._flush(writer)
        # Markers past the map were copied as they are, so their transactions stay in the index.
        first = max(self._keys.end_offset, group[0].base_offset)
        return self._tracker.still_aborted + [
            txn for txn in self._aborted if first <= txn.last_offset < group[-1].end_offset
        ]

    def _copy_segment(self, writer: CleanedSegmentWriter) -> None:
        reader, filter_ = self._reader, self.filter
        while True:
            reason = filter_.run(reader.view, reader.start, reader.end, self._out, self._filled)
            reader.start = filter_.position
            self._filled = filter_.written_to
            if reason == ASK:
                self._decide(writer)
            elif reason == MORE:
                if not reader.read_on(filter_.next_offset):
                    return
            elif reason == FLUSH:
                if self._filled:
                    self._flush(writer)
                else:
                    size = read_header(reader.view, reader.start).size_bytes
                    self._out = mapped_memory(GROWTH_MAX * size)
            else:
                raise damaged(reader, filter_.next_offset, reason)

    def _flush(self, writer: CleanedSegmentWriter) -> None:
        if self._filled:
            writer.write(self._out[: self._filled])
            self._filled = 0

    def _put(self, batch: ReadableBuffer, writer: CleanedSegmentWriter) -> None:
        if len(batch) > len(self._out) - self._filled:
            self._flush(writer)
            if len(batch) > len(self._out):
                writer.write(memoryview(batch))
                return
        self._out[self._filled : self._filled + len(batch)] = batch
        self._filled += len(batch)

    # --- batches that the codec leaves to us

    def _decide(self, writer: CleanedSegmentWriter) -> None:
        """Copies what stays of the batch at the reader's start, and goes on behind it."""
        reader, filter_ = self._reader, self.filter
        view, at = reader.view, reader.start
        header = read_header(view, at)
        try:
            if header.is_control:
                self._copy_marker(view, at, header, writer)
            else:
                discard = header.is_transactional and self._tracker.meets_batch(
                    header.producer_id, header.last_offset
                )
                if header.codec == Codec.NONE:
                    reason = filter_.copy_plain(view, discard, self._out, self._filled)
                    if reason:
                        raise damaged(reader, filter_.next_offset, reason)
                    self._filled = filter_.written_to
                else:
                    self._copy_compressed(view, at, header, discard, writer)
        except (InvalidRecord, UnsupportedCodec, CorruptBatch) as error:
            raise damaged(reader, filter_.next_offset, error) from error
        filter_.skip(view)
        reader.start = filter_.position

    def _copy_marker(
        self, view: memoryview, at: int, header: BatchHeader, writer: CleanedSegmentWriter
    ) -> None:
        """A marker stays while batches of its transaction do, and from then on until its delete horizon."""
        may_go = self._tracker.meets_marker(header.producer_id, header.last_offset, marker_kind(view, at))
        batch = view[at : at + header.size_bytes]
        count = header.record_count
        if count and not may_go:
            self._put(batch, writer)
        elif count and not header.has_delete_horizon:
            records = batch[HEADER_BYTES:]
            if header.codec != Codec.NONE:
                records = memoryview(unpacked_records(view, at, header))
            self._put(self._with_horizon(self._marker_filter, header, records), writer)
        elif count and self._job.now_ms < header.base_timestamp:
            self._put(batch, writer)
        else:
            self.filter.count(count, 0, 0)
            if self._keeps_fencing(header) or self.filter.stays_empty(
                header.base_offset, header.last_offset_delta, header.producer_id
            ):
                self._put(_emptied(header), writer)
            return
        self.filter.count(count, count, 0)

    def _keeps_fencing(self, header: BatchHeader) -> bool:
        """Whether a marker is all that is known of a live producer: its epoch fences older ones."""
        return self._job.last_offsets_of_producers.get(header.producer_id) == (-1, header.producer_epoch)

    def _copy_compressed(
        self, view: memoryview, at: int, header: BatchHeader, discard: bool, writer: CleanedSegmentWriter
    ) -> None:
        filter_ = self.filter
        count = header.record_count
        kept = 0
        if count and not discard:
            records = memoryview(unpacked_records(view, at, header))
            keep_tombstones = not header.has_delete_horizon or self._job.now_ms < header.base_timestamp
            size = self._filtered(
                filter_, header, records, keep_tombstones, header.base_timestamp, len(records)
            )
            kept = filter_.kept
            filter_.count(0, 0, filter_.invalid)
        filter_.count(count, kept, 0)
        if not kept:
            if filter_.stays_empty(header.base_offset, header.last_offset_delta, header.producer_id):
                self._put(_emptied(header), writer)
        elif filter_.kept_tombstone and not header.has_delete_horizon:
            self._put(self._with_horizon(filter_, header, records), writer)
        elif kept == count:
            self._put(view[at : at + header.size_bytes], writer)
        else:
            self._put(self._with_records(header, self._scratch[:size], filter_), writer)

    def _with_horizon(self, filter_: BatchFilter, header: BatchHeader, records: memoryview) -> bytearray:
        """The batch with the records that stay, and with the time after which its tombstones or its marker
        may go in the place of the base timestamp.
        """
        size = self._filtered(filter_, header, records, True, self._horizon_ms, GROWTH_MAX * len(records))
        header = header._replace(
            attributes=header.attributes | DELETE_HORIZON_BIT, base_timestamp=self._horizon_ms
        )
        return self._with_records(header, self._scratch[:size], filter_)

    def _filtered(
        self,
        filter_: BatchFilter,
        header: BatchHeader,
        records: memoryview,
        keep_tombstones: bool,
        base_timestamp: int,
        room: int,
    ) -> int:
        """Leaves the records that stay in `_scratch`, with timestamps that count from `base_timestamp`; how
        many bytes they are.
        """
        if room > len(self._scratch):
            self._scratch = mapped_memory(room)
        size: int = filter_.filter_records(
            records,
            header.record_count,
            header.base_offset,
            header.last_offset_delta,
            header.base_timestamp,
            keep_tombstones,
            base_timestamp,
            self._scratch,
        )
        if size < 0:
            raise damaged(self._reader, self.filter.next_offset, size)
        return size

    def _with_records(self, header: BatchHeader, records: memoryview, filter_: BatchFilter) -> bytearray:
        max_timestamp = header.max_timestamp
        if header.timestamp_type != LOG_APPEND_TIME:
            max_timestamp = filter_.kept_max_timestamp
        return _batch(
            header._replace(max_timestamp=max_timestamp, record_count=filter_.kept),
            compress(header.codec, records),
        )


def _emptied(header: BatchHeader) -> bytearray:
    """The header alone, as Kafka leaves it: no codec, no horizon, no base timestamp; the rest as it was."""
    attributes = header.attributes & ~(CODEC_MASK | DELETE_HORIZON_BIT)
    return _batch(header._replace(attributes=attributes, base_timestamp=NO_TIMESTAMP, record_count=0), b"")


def _batch(header: BatchHeader, records: ReadableBuffer) -> bytearray:
    """A batch with its length and CRC made right."""
    batch = bytearray(HEADER_BYTES + len(records))
    batch[HEADER_BYTES:] = records
    HEADER.pack_into(batch, 0, *header._replace(batch_length=len(batch) - LOG_OVERHEAD))
    batch[CRC_AT:ATTRIBUTES_AT] = crc32c(memoryview(batch)[ATTRIBUTES_AT:]).to_bytes(4, "big")
    return batch
