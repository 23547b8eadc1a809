"""What both passes over the log share: damage as an exception, the bound on a batch, its records unpacked."""

from __future__ import annotations

from ottla.log.cleaner.segment_reader import SegmentReader
from ottla.log.cleaning_job import CleaningFailed, CleaningJob
from ottla.model.limits import DECOMPRESSED_BATCH_BYTES_MAX
from ottla.wire.compaction_codec import DAMAGE
from ottla.wire.compression import ReadableBuffer, decompress
from ottla.wire.record_batch import HEADER_BYTES, BatchHeader


def batch_bytes_max(job: CleaningJob) -> int:
    """What is longer is no batch. The topic's bound may have been higher when a batch was written."""
    return max(job.message_bytes_max, DECOMPRESSED_BATCH_BYTES_MAX)


def damaged(reader: SegmentReader, offset: int, what: int | Exception) -> CleaningFailed:
    """The batch at the reader's position, where `offset` is due, makes no sense."""
    text = DAMAGE[what] if isinstance(what, int) else str(what)
    return CleaningFailed(
        f"the batch at position {reader.position} of {reader.path} is damaged: {text}", corrupt_offset=offset
    )


def unpacked_records(view: memoryview, at: int, header: BatchHeader) -> ReadableBuffer:
    """The bytes of a compressed batch's records. InvalidRecord or UnsupportedCodec where there are none."""
    packed = view[at + HEADER_BYTES : at + header.size_bytes]
    return decompress(header.codec, packed, DECOMPRESSED_BATCH_BYTES_MAX)
