"""When a log begins a new segment, and what the files of a segment hold (Kafka's names and bytes)."""

from __future__ import annotations

import struct

import pytest
from log_bench import DIR, NOW, TP, append, batch, log_path, marker, offsets, open_log, read_all, sent

from ottla.log.append_origin import AppendOrigin
from ottla.log.log import Log
from ottla.log.offset_index import RELATIVE_OFFSET_MAX
from ottla.log.producer_snapshot import DamagedSnapshot, decode_snapshot
from ottla.model.log_config import LogConfig
from ottla.model.uuids import uuid_to_text
from ottla.testing.disk import VirtualDisk

HOUR_MS = 3_600_000


def bases(log: Log) -> list[int]:
    return [segment.base_offset for segment in log.segments]


def test_a_segment_is_rolled_when_the_next_batch_would_exceed_segment_bytes() -> None:
    size = len(batch())
    log = open_log(config=LogConfig(segment_bytes=3 * size))
    for _ in range(7):
        append(log)
    assert bases(log) == [0, 3, 6]
    assert [segment.size for segment in log.segments] == [3 * size, 3 * size, size]


def test_a_segment_is_rolled_by_the_time_of_its_records() -> None:
    log = open_log(config=LogConfig(segment_ms=HOUR_MS, message_timestamp_after_max_ms=10 * HOUR_MS))
    append(log, batch(timestamp=NOW))
    append(log, batch(timestamp=NOW + HOUR_MS))
    assert bases(log) == [0]
    append(log, batch(timestamp=NOW + HOUR_MS + 1))
    assert bases(log) == [0, 2]


def test_records_without_a_time_are_rolled_by_the_clock() -> None:
    log = open_log(config=LogConfig(segment_ms=HOUR_MS))
    append(log, batch(timestamp=-1))
    append(log, batch(timestamp=-1), now_ms=NOW + HOUR_MS)
    assert bases(log) == [0]
    append(log, batch(timestamp=-1), now_ms=NOW + HOUR_MS + 1)
    assert bases(log) == [0, 2]


def test_jitter_makes_a_segment_roll_earlier_within_its_bound() -> None:
    config = LogConfig(
        segment_ms=HOUR_MS, segment_jitter_ms=HOUR_MS // 2, message_timestamp_after_max_ms=10 * HOUR_MS
    )
    jitters = set()
    for partition in range(20):
        log = Log.open(
            VirtualDisk(), DIR, TP._replace(partition=partition), config, now_ms=NOW, clean_shutdown=False
        )
        jitter = log.active_segment.roll_jitter_ms
        assert 0 <= jitter < HOUR_MS // 2
        jitters.add(jitter)
        append(log, batch(timestamp=NOW))
        append(log, batch(timestamp=NOW + HOUR_MS - jitter))
        assert bases(log) == [0]
        append(log, batch(timestamp=NOW + HOUR_MS - jitter + 1))
        assert bases(log) == [0, 2]
    assert len(jitters) > 10


def test_maybe_roll_closes_a_segment_that_nobody_writes_to() -> None:
    log = open_log(config=LogConfig(segment_ms=HOUR_MS))
    assert not log.maybe_roll(NOW + 2 * HOUR_MS)
    append(log)
    assert not log.maybe_roll(NOW + HOUR_MS)
    assert log.maybe_roll(NOW + HOUR_MS + 1)
    assert bases(log) == [0, 1]
    assert not log.maybe_roll(NOW + 9 * HOUR_MS), "an empty segment stays"


def test_a_full_index_rolls_the_segment() -> None:
    log = open_log(config=LogConfig(index_interval_bytes=0, segment_index_bytes=8 * 4))
    for number in range(12):
        append(log, batch(timestamp=NOW + number))
    # The time index has room for two entries, of which the roll needs one.
    assert all(segment.time_index.entries <= 2 for segment in log.segments)
    assert all(segment.offset_index.entries <= 4 for segment in log.segments)
    assert len(log.segments) > 3
    assert offsets(read_all(log)) == [(n, n) for n in range(12)]


def test_an_offset_that_the_index_cannot_name_rolls_the_segment() -> None:
    log = open_log()
    log.append_as_follower(batch(base_offset=0, leader_epoch=0), now_ms=NOW)
    log.append_as_follower(batch(base_offset=RELATIVE_OFFSET_MAX, leader_epoch=0), now_ms=NOW)
    assert bases(log) == [0]
    log.append_as_follower(batch(base_offset=RELATIVE_OFFSET_MAX + 1, leader_epoch=0), now_ms=NOW)
    assert bases(log) == [0, RELATIVE_OFFSET_MAX + 1]


def test_an_empty_segment_gives_way_to_a_first_batch_that_begins_too_far_above_it() -> None:
    disk = VirtualDisk()
    log = open_log(disk)
    log.append_as_follower(batch(base_offset=2**40, leader_epoch=0), now_ms=NOW)
    assert bases(log) == [2**40]
    assert not disk.exists(log_path(0))


def test_rolling_twice_makes_no_second_empty_segment() -> None:
    log = open_log()
    log.roll(NOW)
    append(log)
    log.roll(NOW)
    log.roll(NOW)
    assert bases(log) == [0, 1]


# --- bytes


def test_the_files_have_kafkas_names_and_bytes() -> None:
    disk = VirtualDisk()
    topic_id = bytes(range(16))
    first, second = sent(5, 0, 2, timestamp=NOW + 1), sent(5, 2, 3, timestamp=NOW + 2)
    size = len(first)
    log = open_log(disk, LogConfig(index_interval_bytes=size - 1), topic_id=topic_id)
    for number, data in enumerate((first, second, sent(5, 5, 1, timestamp=NOW))):
        append(log, data, epoch=number // 2)
    log.roll(NOW)
    append(log, sent(5, 6, 1, timestamp=NOW + 9), epoch=1)
    log.close(NOW)
    assert disk.list_dir(DIR) == [
        "00000000000000000000.index",
        "00000000000000000000.log",
        "00000000000000000000.timeindex",
        "00000000000000000006.index",
        "00000000000000000006.log",
        "00000000000000000006.snapshot",
        "00000000000000000006.timeindex",
        "00000000000000000007.snapshot",
        "leader-epoch-checkpoint",
        "partition.metadata",
    ]
    # Entries of the offset index: relative last offset and position, of every batch after enough bytes.
    assert disk.read_file(log_path(0, ".index")) == struct.pack(">iiii", 4, size, 5, size + len(second))
    # Of the time index: the largest timestamp so far and its batch's last offset; the third brings none.
    assert disk.read_file(log_path(0, ".timeindex")) == struct.pack(">qi", NOW + 2, 4)
    assert disk.read_file(log_path(6, ".index")) == b""
    assert disk.read_file(log_path(6, ".timeindex")) == struct.pack(">qi", NOW + 9, 0)
    assert disk.read_file(f"{DIR}/leader-epoch-checkpoint") == b"0\n2\n0 0\n1 5\n"
    assert (
        disk.read_file(f"{DIR}/partition.metadata")
        == f"version: 0\ntopic_id: {uuid_to_text(topic_id)}".encode()
    )
    snapshot = disk.read_file(log_path(6, ".snapshot"))
    assert snapshot[:2] == b"\x00\x01"
    assert snapshot[6:] == struct.pack(">iqhiqiqiq", 1, 5, 0, 5, 5, 0, NOW, -1, -1)


def test_an_aborted_transaction_is_34_bytes_in_the_transaction_index() -> None:
    disk = VirtualDisk()
    log = open_log(disk)
    append(log)
    append(log, sent(8, 0, 2, transactional=True))
    log.append_as_leader(marker(8, committed=False), 0, NOW, origin=AppendOrigin.COORDINATOR)
    log.close(NOW)
    assert disk.read_file(log_path(0, ".txnindex")) == struct.pack(">hqqqq", 0, 8, 1, 3, 4)


def test_an_empty_log_costs_one_file() -> None:
    disk = VirtualDisk()
    open_log(disk)
    assert disk.list_dir(DIR) == ["00000000000000000000.log"]


def test_a_damaged_snapshot_is_recognised() -> None:
    disk = VirtualDisk()
    log = open_log(disk)
    append(log, sent(5, 0))
    log.close(NOW)
    data = disk.read_file(log_path(1, ".snapshot"))
    assert [entry.producer_id for entry in decode_snapshot(data)] == [5]
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 0x40
        with pytest.raises(DamagedSnapshot):
            decode_snapshot(bytes(damaged))
        with pytest.raises(DamagedSnapshot):
            decode_snapshot(data[:at])


def test_a_moved_directory_takes_its_segments_along_and_readers_go_on() -> None:
    disk = VirtualDisk()
    log = open_log(disk, LogConfig(segment_bytes=2 * len(batch())))
    for _ in range(5):
        append(log)
    held = log.read(0, 1000, upto_offset=5).slice
    assert held is not None
    expected = held.read()
    log.rename_dir("/data/events-3.0123-delete")
    assert not disk.exists(DIR)
    assert held.read() == expected
    held.release()
    append(log)
    assert offsets(read_all(log)) == [(n, n) for n in range(6)]
    log.delete_files()
    assert disk.list_dir("/data") == []
