"""Compaction as one would explain it: all segments in memory, a dict of the last offset of each key.

It stands where the cleaner stands in tests of everything around it. Transactions are left as they are,
tombstones stay, nothing is throttled.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import pack

from ottla.log.cleaning_job import (
    CleanedSegment,
    CleaningFailed,
    CleaningJob,
    CleaningResult,
    CleaningStats,
    SegmentToClean,
)
from ottla.log.file_names import segment_path
from ottla.ports.disk import Disk
from ottla.wire.record_batch import (
    HEADER_BYTES,
    BatchHeader,
    CorruptBatch,
    _assemble,
    check_crc,
    decode_batch,
    empty_batch,
    encode_batch,
    iter_headers,
    read_header,
)

_BYTES_MAX = 1 << 26


def clean(
    job: CleaningJob, disk: Disk, *, now: Callable[[], float], pause: Callable[[float], None]
) -> CleaningResult:
    began = now()
    contents = {each.base_offset: _read(job, disk, each) for each in job.segments}
    latest: dict[bytes, int] = {}
    records_read = 0
    for data in contents.values():
        for position, header in iter_headers(data, 0, len(data)):
            if header.is_control or header.last_offset < job.first_dirty_offset:
                continue
            for record in decode_batch(data, position, decompressed_bytes_max=_BYTES_MAX):
                records_read += 1
                if record.key is not None:
                    latest[record.key] = record.offset
    cleaned = []
    for group in _groups(job):
        kept: list[tuple[BatchHeader, bytes]] = []
        for each in group:
            data = contents[each.base_offset]
            for position, header in iter_headers(data, 0, len(data)):
                whole = data[position : position + header.size_bytes]
                left = _filter(job, whole, header, latest)
                if left:
                    kept.append((read_header(left), left))
        cleaned.append(_write(job, disk, group, kept))
        pause(0)
    stats = CleaningStats(
        bytes_read=sum(len(data) for data in contents.values()),
        bytes_written=sum(each.size_bytes for each in cleaned),
        records_read=records_read,
        records_written=0,
        map_entries=len(latest),
        map_full=False,
        invalid_records=0,
        seconds=now() - began,
    )
    return CleaningResult(tuple(cleaned), job.first_uncleanable_offset, stats)


def _read(job: CleaningJob, disk: Disk, segment: SegmentToClean) -> bytes:
    data = disk.read_file(segment_path(job.dir_path, segment.base_offset, ".log"))
    at = 0
    for position, header in iter_headers(data, 0, len(data)):
        try:
            check_crc(data, position, len(data))
        except CorruptBatch as error:
            raise CleaningFailed(str(error), header.base_offset) from error
        at = position + header.size_bytes
    if at != len(data):
        raise CleaningFailed(f"no batch at position {at}", segment.base_offset)
    return data


def _groups(job: CleaningJob) -> list[list[SegmentToClean]]:
    groups: list[list[SegmentToClean]] = []
    size = 0
    for each in job.segments:
        if not groups or size + each.size_bytes > job.segment_bytes_max:
            groups.append([])
            size = 0
        groups[-1].append(each)
        size += each.size_bytes
    return groups


def _filter(job: CleaningJob, batch: bytes, header: BatchHeader, latest: dict[bytes, int]) -> bytes:
    if header.is_control or header.is_transactional:
        return batch
    records = decode_batch(batch, decompressed_bytes_max=_BYTES_MAX)
    kept = [
        each for each in records if each.key is not None and each.offset >= latest.get(each.key, each.offset)
    ]
    if len(kept) == len(records):
        return batch
    if not kept:
        last = job.last_offsets_of_producers.get(header.producer_id)
        return bytes(empty_batch(header)) if last is not None and last[0] == header.last_offset else b""
    again = encode_batch(kept, base_offset=header.base_offset, keep_offsets=True, codec=header.codec)
    made = read_header(again)
    return bytes(
        _assemble(
            header._replace(
                record_count=made.record_count,
                base_timestamp=made.base_timestamp,
                max_timestamp=made.max_timestamp,
            ),
            bytes(again[HEADER_BYTES:]),
        )
    )


def _write(
    job: CleaningJob, disk: Disk, group: list[SegmentToClean], kept: list[tuple[BatchHeader, bytes]]
) -> CleanedSegment:
    base_offset = group[0].base_offset
    log, index, times, aborted = bytearray(), bytearray(), bytearray(), bytearray()
    largest, largest_offset, since = -1, base_offset, 0
    for header, data in kept:
        if header.max_timestamp > largest:
            largest, largest_offset = header.max_timestamp, header.last_offset
        if since > job.index_interval_bytes:
            index += pack(">II", header.last_offset - base_offset, len(log))
            if not times or largest > int.from_bytes(times[-12:-4], "big"):
                times += pack(">QI", largest, largest_offset - base_offset)
            since = 0
        since += len(data)
        log += data
    if largest >= 0 and (not times or largest > int.from_bytes(times[-12:-4], "big")):
        times += pack(">QI", largest, largest_offset - base_offset)
    for each in group:
        if each.has_txn_index:
            aborted += disk.read_file(segment_path(job.dir_path, each.base_offset, ".txnindex"))
    has_txn_index = any(each.has_txn_index for each in group)
    files = [(".log", log), (".index", index), (".timeindex", times)]
    for suffix, data in [*files, *([(".txnindex", aborted)] if has_txn_index else [])]:
        file = disk.open(segment_path(job.dir_path, base_offset, suffix) + ".cleaned", create=True)
        file.truncate(0)
        file.append((bytes(data),))
        file.sync()
    return CleanedSegment(
        base_offset,
        tuple(each.base_offset for each in group),
        len(log),
        largest,
        largest_offset,
        has_txn_index,
    )
