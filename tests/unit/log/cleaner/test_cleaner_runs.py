"""A run as a whole: how far the map reaches, which segments become one, what is left when it fails."""

from __future__ import annotations

import errno
import pickle
import random
import struct
from pathlib import Path
from typing import Any

import pytest
from crc32c import crc32c

from ottla.log.cleaner.cleaner import clean
from ottla.log.cleaning_job import CleaningFailed, CleaningJob
from ottla.log.file_names import CLEANED_SUFFIX
from ottla.net.disk import OsDisk
from ottla.testing.disk import SimulatedCrash, VirtualDisk
from ottla.wire.record_batch import (
    ATTRIBUTES_AT,
    BATCH_LENGTH_AT,
    CRC_AT,
    HEADER_BYTES,
    MAGIC_AT,
    Codec,
    Record,
    encode_batch,
)
from support.cleaning_bench import DIR, NOW, CleaningBench


def run(job: CleaningJob, disk: Any, now: Any = lambda: 0.0, pause: Any = lambda _: None) -> Any:
    return clean(job, disk, now=now, pause=pause)


# --- the map


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.ZSTD])
def test_a_map_that_is_full_ends_between_batches_and_the_next_run_goes_on_there(codec: Codec) -> None:
    """24 bytes an entry: 240 bytes with a load factor of 0.9 have room for nine keys."""
    bench = CleaningBench(map_bytes=240)
    expected = {}
    for n in range(60):
        pairs = [(b"key %d" % ((3 * n + i) % 50), b"%d" % n) for i in range(3)]
        for offset, (key, value) in zip(bench.put(*pairs, codec=codec), pairs, strict=True):
            expected[key] = (offset, value)
        if n % 13 == 12:
            bench.roll()
    ends = []
    while True:
        before = bench.first_dirty_offset
        result = bench.clean()
        ends.append(result.next_dirty_offset)
        assert result.next_dirty_offset > before and result.next_dirty_offset % 3 == 0
        assert result.stats.map_entries <= 9
        assert bench.latest() == expected, "no run may lose what another has not mapped"
        if not result.stats.map_full:
            break
        assert result.stats.map_utilization == 1.0
    assert len(ends) == 20 and ends[-1] == 180
    assert bench.offsets() == sorted(offset for offset, _ in expected.values())


def test_keys_that_repeat_do_not_fill_the_map() -> None:
    bench = CleaningBench(map_bytes=240)
    for n in range(300):
        bench.put((b"key %d" % (n % 9), b"%d" % n))
    result = bench.clean()
    assert not result.stats.map_full and result.next_dirty_offset == 300
    assert bench.offsets() == list(range(291, 300))


def test_a_batch_with_more_keys_than_the_map_has_room_for_fails_with_the_settings_name() -> None:
    bench = CleaningBench(map_bytes=240)
    bench.put(*[(b"key %d" % n, b"") for n in range(10)])
    job = bench.job()
    with pytest.raises(CleaningFailed, match=r"log\.cleaner\.dedupe\.buffer\.size") as failed:
        run(job, bench.disk)
    assert failed.value.corrupt_offset is None
    assert not bench.leftovers()


def test_a_map_without_room_for_one_key_fails_with_the_settings_name() -> None:
    bench = CleaningBench(map_bytes=24)
    bench.put((b"a", b"1"))
    with pytest.raises(CleaningFailed, match=r"log\.cleaner\.dedupe\.buffer\.size"):
        run(bench.job(), bench.disk)


def test_segments_behind_the_end_of_the_map_are_not_touched() -> None:
    bench = CleaningBench(map_bytes=240, segment_bytes_max=1)
    for n in range(12):
        bench.put((b"key %d" % n, b""))
        bench.roll()
    result = bench.clean()
    assert [segment.base_offset for segment in result.cleaned] == list(range(9))
    assert result.next_dirty_offset == 9


# --- groups (Kafka's groupSegmentsBySize)


def replaced(bench: CleaningBench, **changes: Any) -> list[tuple[int, ...]]:
    return [segment.replaced for segment in bench.clean(**changes).cleaned]


def one_batch_a_segment(count: int) -> tuple[CleaningBench, int]:
    bench = CleaningBench()
    for n in range(count):
        bench.put((b"key %d" % n, b"value"))
        bench.roll()
    return bench, bench.segments[0].size_bytes


def test_segments_are_grouped_up_to_the_size_of_one() -> None:
    bench, size = one_batch_a_segment(7)
    assert replaced(bench, segment_bytes_max=3 * size) == [(0, 1, 2), (3, 4, 5), (6,)]
    assert [segment.base_offset for segment in bench.segments] == [0, 3, 6]
    assert bench.offsets() == list(range(7))


def test_a_segment_that_is_larger_than_allowed_now_stays_alone() -> None:
    bench, size = one_batch_a_segment(3)
    assert replaced(bench, segment_bytes_max=size - 1) == [(0,), (1,), (2,)]


def test_the_indexes_bound_a_group_too() -> None:
    """The time index of each has one entry of twelve bytes."""
    bench, _ = one_batch_a_segment(4)
    assert replaced(bench, index_bytes_max=24) == [(0, 1), (2, 3)]


def test_the_offsets_of_a_group_stay_within_31_bits() -> None:
    bench = CleaningBench()
    bench.put((b"a", b"1"))
    bench.roll()
    bench.next_offset = 2**31 - 1
    bench.put((b"b", b"1"))
    bench.roll()
    bench.put((b"c", b"1"))
    assert replaced(bench) == [(0, 2**31 - 1), (2**31,)]


# --- damage


def overwrite(disk: Any, name: str, at: int, data: bytes) -> None:
    disk.open(f"{DIR}/{name}").write_at(data, at)


def three_segments() -> CleaningBench:
    bench = CleaningBench(segment_bytes_max=1)
    for n in range(9):
        bench.put((b"a", b"%d" % n), (b"b%d" % n, b"value"))
        if n % 3 == 2:
            bench.roll()
    return bench


DAMAGES = {
    "a flipped bit": lambda at, size: (at + size - 2, b"\xff"),
    "no magic": lambda at, size: (at + MAGIC_AT, b"\x01"),
    "a length of nothing": lambda at, size: (at + BATCH_LENGTH_AT, struct.pack(">i", 5)),
    "a negative length": lambda at, size: (at + BATCH_LENGTH_AT, struct.pack(">i", -1)),
    "a length beyond all": lambda at, size: (at + BATCH_LENGTH_AT, struct.pack(">i", 2**31 - 1)),
    "a length beyond the segment": lambda at, size: (at + BATCH_LENGTH_AT, struct.pack(">i", 5000)),
    "offsets of before": lambda at, size: (at, struct.pack(">q", 1)),
    "offsets of a later segment": lambda at, size: (at, struct.pack(">q", 12)),
    "a block of zeros": lambda at, size: (at, bytes(size)),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("first_dirty_offset", [0, 12], ids=["dirty", "clean"])
def test_a_damaged_batch_is_named_and_nothing_is_left_behind(damage: str, first_dirty_offset: int) -> None:
    bench = three_segments()
    job = bench.job(first_dirty_offset=first_dirty_offset)
    size = bench.segments[1].size_bytes // 3
    at, data = DAMAGES[damage](size, size)  # the second batch of the second segment
    overwrite(bench.disk, f"{6:020}.log", at, data)
    before = bench.disk.list_dir(DIR)
    with pytest.raises(CleaningFailed) as failed:
        run(job, bench.disk)
    assert failed.value.corrupt_offset == 8
    assert f"position {size} of {DIR}/{6:020}.log" in failed.value.message
    assert bench.disk.list_dir(DIR) == before
    assert pickle.loads(pickle.dumps(failed.value)).corrupt_offset == 8, "it comes back from a process"


@pytest.mark.parametrize("cut", [1, HEADER_BYTES, 80])
def test_a_segment_that_ends_inside_a_batch_is_damaged(cut: int) -> None:
    bench = three_segments()
    job = bench.job()
    file = bench.disk.open(f"{DIR}/{12:020}.log")
    file.truncate(file.size() - cut)
    with pytest.raises(CleaningFailed) as failed:
        run(job, bench.disk)
    assert failed.value.corrupt_offset is not None and failed.value.corrupt_offset >= 12


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec != Codec.NONE])
def test_compressed_records_that_make_no_sense_are_damage(codec: Codec) -> None:
    """The CRC is right: somebody wrote nonsense."""
    bench = CleaningBench()
    bench.put((b"a", b"1"))
    bench.put((b"b", b"2"))
    nonsense = encode_batch([Record(0, NOW, b"key", b"a record that is not compressed")], base_offset=2)
    nonsense[ATTRIBUTES_AT + 1] |= codec
    nonsense[CRC_AT:ATTRIBUTES_AT] = crc32c(memoryview(nonsense)[ATTRIBUTES_AT:]).to_bytes(4, "big")
    bench.append(nonsense)
    with pytest.raises(CleaningFailed) as failed:
        run(bench.job(), bench.disk)
    assert failed.value.corrupt_offset == 2


def test_a_batch_that_expands_beyond_the_bound_is_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ottla.log.cleaner.segment_pass.DECOMPRESSED_BATCH_BYTES_MAX", 10_000)
    bench = CleaningBench()
    bench.put((b"a", bytes(20_000)), codec=Codec.ZSTD)
    with pytest.raises(CleaningFailed, match="10000") as failed:
        run(bench.job(), bench.disk)
    assert failed.value.corrupt_offset == 0


def test_a_damaged_transaction_index_fails_the_run() -> None:
    """Without it aborted records would be taken for committed ones."""
    bench = CleaningBench()
    bench.put((b"a", b"1"), producer=7, txn=True)
    bench.end_txn(7, commit=False)
    job = bench.job()
    bench.disk.open(f"{DIR}/{0:020}.txnindex").truncate(33)
    with pytest.raises(CleaningFailed, match="txnindex"):
        run(job, bench.disk)


@pytest.mark.parametrize("position", [None, 37, 74, -30, -75, 2**31], ids=str)
def test_an_offset_index_that_lies_only_costs_time(position: int | None) -> None:
    """Missing, into the middle of a batch, to a batch that is too late, to the end, and beyond."""
    bench = CleaningBench()
    for n in range(40):
        bench.put((b"key %d" % (n % 3), b"%02d" % n))
    bench.roll()
    size = bench.segments[0].size_bytes
    index = bench.disk.open(f"{DIR}/{0:020}.index")
    index.truncate(0)
    if position is not None:
        index.append([struct.pack(">II", 20, position if position >= 0 else size + position)])
    bench.clean(first_dirty_offset=33)
    assert [offset for offset in bench.offsets() if offset >= 33] == [37, 38, 39]


# --- the disk


def test_a_disk_that_fills_up_in_the_middle_leaves_the_log_as_it_was() -> None:
    disk = VirtualDisk()
    bench = CleaningBench(disk, segment_bytes_max=1)
    for n in range(60):
        bench.put((b"key %d" % n, bytes(300)))
        if n % 20 == 19:
            bench.roll()
    job = bench.job()
    before = {name: disk.read_file(f"{DIR}/{name}") for name in disk.list_dir(DIR)}
    used = disk.used_bytes()
    for room in (0, 100, 5_000, 9_000, 15_000, 21_000):
        disk.capacity_bytes = used + room
        with pytest.raises(CleaningFailed) as failed:
            run(job, disk)
        assert failed.value.errno == errno.ENOSPC and failed.value.corrupt_offset is None
        assert {name: disk.read_file(f"{DIR}/{name}") for name in disk.list_dir(DIR)} == before
    disk.capacity_bytes = used + 100_000
    bench.run(job)
    assert bench.offsets() == list(range(60))


@pytest.mark.parametrize("kind", ["read", "append", "sync", "create", "sync_dir"])
def test_a_disk_that_fails_is_reported_with_its_error(kind: str) -> None:
    disk = VirtualDisk()
    bench = CleaningBench(disk)
    bench.put((b"a", b"1"))
    job = bench.job()
    disk.fail(DIR, kind, error=errno.EIO)
    with pytest.raises(CleaningFailed) as failed:
        run(job, disk)
    assert failed.value.errno == errno.EIO
    assert not bench.leftovers()


def test_everything_is_durable_when_the_result_is_there() -> None:
    """A power loss right after the run leaves whole `.cleaned` files."""
    disk = VirtualDisk()
    bench = CleaningBench(disk, segment_bytes_max=1)
    for n in range(30):
        bench.put((b"key %d" % (n % 11), b"%d" % n), producer=7, txn=True)
        bench.end_txn(7, commit=n % 3 != 0)
        if n % 10 == 9:
            bench.roll()
    disk.sync_volume("/")
    result = run(bench.job(), disk)
    names = bench.leftovers()
    assert len(names) == 4 * len(result.cleaned)
    contents = {name: disk.read_file(f"{DIR}/{name}") for name in names}
    disk.crash()
    after = disk.restart(random.Random(1))
    assert {name: after.read_file(f"{DIR}/{name}") for name in contents} == contents


def test_files_that_a_run_left_when_it_died_do_not_disturb_the_next() -> None:
    disk = VirtualDisk()
    bench = CleaningBench(disk)
    bench.put((b"a", b"1"))
    bench.put((b"a", b"2"))
    job = bench.job()
    for suffix in (".log", ".index", ".timeindex", ".txnindex"):
        disk.open(f"{DIR}/{0:020}{suffix}{CLEANED_SUFFIX}", create=True).append([b"left behind"])
    bench.run(job)
    assert bench.offsets() == [1]


def test_a_crash_is_not_survived() -> None:
    disk = VirtualDisk()
    bench = CleaningBench(disk)
    bench.put((b"a", b"1"))
    job = bench.job()
    disk.crash_at(disk.operations + 3)
    with pytest.raises(SimulatedCrash):
        run(job, disk)


def test_the_real_disk_holds_the_same(tmp_path: Path) -> None:
    bench = CleaningBench(
        OsDisk(), str(tmp_path / "events-0"), index_interval_bytes=500, io_buffer_bytes=1 << 16
    )
    for n in range(400):
        bench.put((b"key %d" % (n % 60), b"%d" % n), codec=Codec(n % 5))
        if n % 140 == 139:
            bench.roll()
    bench.clean(segment_bytes_max=12_000)
    assert bench.offsets() == list(range(340, 400))


# --- I/O


def test_a_batch_larger_than_the_buffers_is_cleaned() -> None:
    bench = CleaningBench(io_buffer_bytes=512)
    bench.put((b"a", bytes(100_000)), (b"b", bytes(10)))
    bench.put((b"b", bytes(50_000)), (b"t", None), (b"c", bytes(70_000)))
    bench.put((b"c", bytes(80_000)), codec=Codec.LZ4)
    bench.clean()
    assert bench.offsets() == [0, 2, 3, 5]


def test_reads_and_writes_are_throttled_together() -> None:
    """log.cleaner.io.max.bytes.per.second"""
    bench = CleaningBench(io_bytes_per_s_max=1000.0)
    for n in range(100):
        bench.put((b"key %d" % n, bytes(100)))
    time_s = [50.0]

    def pause(seconds: float) -> None:
        assert seconds > 0
        time_s[0] += seconds

    result = run(bench.job(), bench.disk, lambda: time_s[0], pause)
    moved = result.stats.map_bytes_read + result.stats.bytes_read + result.stats.bytes_written
    assert moved == 3 * bench.segments[0].size_bytes
    assert moved / 1000 - 0.4 <= time_s[0] - 50 <= moved / 1000 + 0.1
    assert result.stats.seconds == pytest.approx(time_s[0] - 50)


def test_every_byte_is_read_once_for_the_map_and_once_for_the_copy() -> None:
    bench = CleaningBench(io_buffer_bytes=300)
    for n in range(50):
        bench.put((b"key %d" % n, bytes(n)))
    result = bench.clean()
    size = bench.segments[0].size_bytes
    assert result.stats.map_bytes_read == result.stats.bytes_read == size == result.stats.bytes_written
