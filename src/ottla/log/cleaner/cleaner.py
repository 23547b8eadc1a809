"""Cleaning one log: from a job, which says what may be cleaned, to `.cleaned` files beside the segments.

Two passes. The first reads the dirty part and notes the latest offset of every key (`key_pass`); the second
reads all segments from the first one on and copies what stays (`copy_pass`), neighbours that became small
into one (`grouping`). Nothing is renamed and no file of the log is written to: who asked swaps the new
segments in. A run that fails leaves none of its files.
"""

from __future__ import annotations

from collections.abc import Callable

from ottla.log.cleaner.cleaned_segment import CleanedSegmentWriter
from ottla.log.cleaner.copy_pass import CopyPass
from ottla.log.cleaner.grouping import group_segments
from ottla.log.cleaner.key_pass import map_keys
from ottla.log.cleaner.offset_map import capacity_of
from ottla.log.cleaner.segment_reader import SegmentReader
from ottla.log.cleaner.throttle import Throttle
from ottla.log.cleaner.transactions import read_aborted
from ottla.log.cleaning_job import CleanedSegment, CleaningFailed, CleaningJob, CleaningResult, CleaningStats
from ottla.ports.disk import Disk


def clean(
    job: CleaningJob, disk: Disk, *, now: Callable[[], float], pause: Callable[[float], None]
) -> CleaningResult:
    """Cleans what the job describes. `now` counts seconds, `pause` waits so many (the I/O throttle).

    CleaningFailed when a batch makes no sense, the map has no room for even one batch, or the disk refuses.
    """
    begun = now()
    throttle = Throttle(job.io_bytes_per_s_max, now, pause)
    # As in Kafka, the I/O buffers are one half for reading and one for writing.
    buffer_bytes = job.io_buffer_bytes // 2
    reader = SegmentReader(disk, job.dir_path, throttle, buffer_bytes)
    writers: list[CleanedSegmentWriter] = []
    try:
        aborted = read_aborted(job, disk)
        keys = map_keys(job, disk, reader, aborted)
        map_bytes_read = reader.bytes_read
        mapped = now()
        copying = CopyPass(job, reader, keys, aborted, buffer_bytes)
        cleaned: list[CleanedSegment] = []
        for group in group_segments(job, disk, keys.end_offset):
            writer = CleanedSegmentWriter(
                disk, job.dir_path, group[0].base_offset, throttle, job.index_interval_bytes
            )
            writers.append(writer)
            still_aborted = copying.copy(group, writer)
            cleaned.append(writer.finish(still_aborted, tuple(segment.base_offset for segment in group)))
        if cleaned:
            disk.sync_dir(job.dir_path)
    except BaseException as error:
        reader.close()
        for writer in writers:
            writer.discard()
        if isinstance(error, OSError):
            raise CleaningFailed(
                f"{job.topic}-{job.partition} was not cleaned: {error}", errno=error.errno
            ) from error
        raise
    reader.close()
    return CleaningResult(
        cleaned=tuple(cleaned),
        next_dirty_offset=max(keys.end_offset, job.first_dirty_offset),
        stats=CleaningStats(
            bytes_read=reader.bytes_read - map_bytes_read,
            bytes_written=sum(segment.size_bytes for segment in cleaned),
            records_read=copying.filter.records_read,
            records_written=copying.filter.records_written,
            map_entries=keys.table.entries,
            map_full=keys.full,
            invalid_records=copying.filter.invalid_records,
            seconds=now() - begun,
            map_bytes_read=map_bytes_read,
            map_seconds=mapped - begun,
            map_utilization=keys.table.entries / capacity_of(job),
        ),
    )
