"""How fast one core cleans a log: MB of log a second, for several sizes of records and codecs.

    .venv/bin/python benchmarks/cleaner_speed.py [--megabytes 1000] [--keys 1000000] [--dir DIR] [--only TEXT]

Writes a log of that size with keys chosen at random, in batches of about 16 KB and segments of 100 MB, as one
dirty whole, and cleans it in this process. The CPU time is of both passes, syncs included in the wall time.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from array import array
from itertools import accumulate
from pathlib import Path

from ottla.log.cleaner.cleaner import clean
from ottla.log.cleaning_job import CleaningJob, SegmentToClean
from ottla.net.disk import OsDisk
from ottla.wire.record_batch import BinaryColumn, Codec, encode_columns

BATCH_BYTES = 16 * 1024
SEGMENT_BYTES = 100_000_000

CASES = [
    ("1 KB, uncompressed", 1000, Codec.NONE, BATCH_BYTES),
    ("1 KB, lz4", 1000, Codec.LZ4, BATCH_BYTES),
    ("150 B, uncompressed", 150, Codec.NONE, BATCH_BYTES),
    ("150 B, lz4", 150, Codec.LZ4, BATCH_BYTES),
    ("150 B, one record a batch", 150, Codec.NONE, 1),
]


def write_log(
    dir_path: Path, log_bytes: int, keys: int, value_bytes: int, codec: Codec, batch_bytes: int
) -> tuple[SegmentToClean, ...]:
    """The segments of a log that has so many bytes of records before compression."""
    chance = random.Random(1)
    rows = max(1, batch_bytes // (value_bytes + 24))
    # Half chance, half repetition: it compresses to about a half, as events do.
    pool = b"".join(
        chance.randbytes(value_bytes // 2) + bytes(value_bytes - value_bytes // 2) for _ in range(64 + rows)
    )
    key_offsets = array("i", accumulate([12] * rows, initial=0))
    value_offsets = array("i", accumulate([value_bytes] * rows, initial=0))
    segments: list[SegmentToClean] = []
    offset = base = written = size = 0
    timestamp = 1_700_000_000_000
    file = (dir_path / f"{base:020d}.log").open("wb")
    while written < log_bytes:
        chosen = chance.choices(range(keys), k=rows)
        start = chance.randrange(64) * value_bytes
        batch = encode_columns(
            memoryview(array("q", [timestamp] * rows)),
            BinaryColumn(memoryview(key_offsets), b"".join([b"key %08d" % key for key in chosen])),
            BinaryColumn(memoryview(value_offsets), pool[start : start + rows * value_bytes]),
            base_offset=offset,
            codec=codec,
        )
        file.write(batch)
        offset += rows
        size += len(batch)
        written += rows * (value_bytes + 24)
        timestamp += 1
        if size >= SEGMENT_BYTES or written >= log_bytes:
            file.close()
            segments.append(SegmentToClean(base, offset, size, False))
            base, size = offset, 0
            if written < log_bytes:
                file = (dir_path / f"{base:020d}.log").open("wb")
    return tuple(segments)


def measure(
    name: str, megabytes: int, keys: int, value_bytes: int, codec: Codec, batch_bytes: int, where: str | None
) -> None:
    directory = Path(tempfile.mkdtemp(prefix="cleaner-", dir=where))
    try:
        segments = write_log(directory, megabytes * 1_000_000, keys, value_bytes, codec, batch_bytes)
        end = segments[-1].end_offset
        job = CleaningJob(
            topic="speed",
            partition=0,
            dir_path=str(directory),
            segments=segments,
            log_start_offset=0,
            first_dirty_offset=0,
            first_uncleanable_offset=end,
            last_offsets_of_producers={},
            now_ms=1_800_000_000_000,
            delete_retention_ms=86_400_000,
            segment_bytes_max=1 << 30,
            index_bytes_max=10 << 20,
            index_interval_bytes=4096,
            message_bytes_max=1_048_588,
            map_bytes=128 << 20,
            map_load_factor=0.9,
            io_buffer_bytes=512 << 10,
            io_bytes_per_s_max=float("inf"),
        )
        cpu = time.process_time()
        result = clean(job, OsDisk(), now=time.monotonic, pause=time.sleep)
        cpu = time.process_time() - cpu
        stats = result.stats
        read = stats.bytes_read / 1e6
        print(
            f"{name:26} {read:6.0f} MB, {stats.records_read:8,} records, "
            f"{stats.map_entries:9,} keys -> {stats.bytes_written / 1e6:5.0f} MB in {stats.seconds:5.2f} s "
            f"(map {stats.map_seconds:4.2f} s), CPU {cpu:5.2f} s: "
            f"{read / stats.seconds:5.0f} MB/s by the clock, {read / cpu:5.0f} MB/s of one core"
        )
        assert stats.records_written == stats.map_entries
    finally:
        shutil.rmtree(directory)


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast one core cleans a log.")
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--dir", help="where the log is written; a temporary directory otherwise")
    parser.add_argument("--only", default="", help="only cases whose name has this in it")
    options = parser.parse_args()
    for name, value_bytes, codec, batch_bytes in CASES:
        if options.only in name:
            measure(name, options.megabytes, options.keys, value_bytes, codec, batch_bytes, options.dir)


if __name__ == "__main__":
    main()
