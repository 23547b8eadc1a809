"""Which neighbouring segments become one: what is left of them together fits where one of them would.

Kafka's rule: the sizes as they are now, of the logs and of both indexes, may not add up to more than a
segment and an index may have, and the offsets have to be within reach of a 32-bit index entry.
"""

from __future__ import annotations

from ottla.log.cleaning_job import CleaningJob, SegmentToClean
from ottla.log.file_names import OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX, segment_path
from ottla.log.offset_index import RELATIVE_OFFSET_MAX
from ottla.ports.disk import Disk


def group_segments(job: CleaningJob, disk: Disk, end_offset: int) -> list[list[SegmentToClean]]:
    """The segments that begin below `end_offset`, in groups that each become one."""
    groups: list[list[SegmentToClean]] = []
    log_bytes = offset_index_bytes = time_index_bytes = 0
    for segment in job.segments:
        if segment.base_offset >= end_offset:
            break
        offset_index = _size(disk, segment_path(job.dir_path, segment.base_offset, OFFSET_INDEX_SUFFIX))
        time_index = _size(disk, segment_path(job.dir_path, segment.base_offset, TIME_INDEX_SUFFIX))
        if (
            groups
            and log_bytes + segment.size_bytes <= job.segment_bytes_max
            and offset_index_bytes + offset_index <= job.index_bytes_max
            and time_index_bytes + time_index <= job.index_bytes_max
            # An empty segment has no offsets to reach; else one would be left behind every 2^31 offsets.
            and (
                segment.size_bytes == 0
                or segment.end_offset - 1 - groups[-1][0].base_offset <= RELATIVE_OFFSET_MAX
            )
        ):
            groups[-1].append(segment)
        else:
            groups.append([segment])
            log_bytes = offset_index_bytes = time_index_bytes = 0
        log_bytes += segment.size_bytes
        offset_index_bytes += offset_index
        time_index_bytes += time_index
    return groups


def _size(disk: Disk, path: str) -> int:
    try:
        return disk.open(path).size()
    except FileNotFoundError:
        return 0  # it is made again when somebody needs it; the log's size is the bound that matters
