"""Appending: what a leader checks, assigns and refuses (Kafka's LogValidator and UnifiedLog.append)."""

from __future__ import annotations

import errno

import pytest
from log_bench import NOW, append, batch, offsets, open_log, read_all, read_from, sent

from ottla.log.append import UnexpectedOffset
from ottla.log.append_origin import AppendOrigin
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.log_config import LogConfig
from ottla.testing.disk import VirtualDisk
from ottla.wire.record_batch import (
    CRC_AT,
    CREATE_TIME,
    LOG_APPEND_TIME,
    MAGIC_AT,
    Codec,
    Record,
    check_crc,
    decode_batch,
    encode_batch,
    patch_base_offset_and_epoch,
    set_max_timestamp,
)


def test_offsets_are_dense_and_the_epoch_is_stamped() -> None:
    log = open_log()
    infos = [append(log, batch(count), epoch=4) for count in (3, 1, 2)]
    assert [(i.first_offset, i.last_offset, i.record_count) for i in infos] == [
        (0, 2, 3),
        (3, 3, 1),
        (4, 5, 2),
    ]
    headers = read_all(log)
    assert offsets(headers) == [(0, 2), (3, 3), (4, 5)]
    assert {header.leader_epoch for header in headers} == {4}
    assert log.log_end_offset == 6
    assert log.latest_epoch == 4


def test_the_buffer_of_the_request_is_patched_in_place_and_its_crc_still_holds() -> None:
    log = open_log()
    append(log, batch(2))
    data = batch(2)
    log.append_as_leader(memoryview(data), 7, NOW)
    header = check_crc(data, 0, len(data))
    assert (header.base_offset, header.leader_epoch) == (2, 7)


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda data: data.__setitem__(CRC_AT, data[CRC_AT] ^ 1), ErrorCode.CORRUPT_MESSAGE),
        (lambda data: data.__setitem__(70, data[70] ^ 1), ErrorCode.CORRUPT_MESSAGE),
        (lambda data: data.__setitem__(MAGIC_AT, 3), ErrorCode.CORRUPT_MESSAGE),
        (lambda data: data.__setitem__(MAGIC_AT, 1), ErrorCode.INVALID_RECORD),
        (lambda data: patch_base_offset_and_epoch(data, 0, 5, 0), ErrorCode.INVALID_RECORD),
        (lambda data: data.__delitem__(slice(-1, None)), ErrorCode.CORRUPT_MESSAGE),
        (lambda data: data.clear(), ErrorCode.CORRUPT_MESSAGE),
        (lambda data: data.extend(batch()), ErrorCode.INVALID_RECORD),
    ],
    ids=["crc", "body", "magic 3", "magic 1", "base offset", "cut", "empty", "two batches"],
)
def test_a_bad_batch_is_refused_with_kafkas_code_and_leaves_no_trace(damage: object, code: ErrorCode) -> None:
    log = open_log()
    append(log)
    data = batch(2)
    assert callable(damage)
    damage(data)
    with pytest.raises(KafkaError) as refused:
        append(log, data)
    assert refused.value.code == code
    assert log.log_end_offset == 1
    assert append(log).first_offset == 1


def test_a_batch_above_max_message_bytes_is_too_large_and_one_above_segment_bytes_too() -> None:
    data = batch(value=b"x" * 500)
    with pytest.raises(KafkaError) as refused:
        append(open_log(config=LogConfig(max_message_bytes=len(data) - 1)), bytearray(data))
    assert refused.value.code == ErrorCode.MESSAGE_TOO_LARGE
    append(open_log(config=LogConfig(max_message_bytes=len(data))), bytearray(data))
    with pytest.raises(KafkaError) as refused:
        append(open_log(config=LogConfig(segment_bytes=len(data) - 1)), bytearray(data))
    assert refused.value.code == ErrorCode.RECORD_LIST_TOO_LARGE


def test_a_compacted_topic_refuses_records_without_a_key() -> None:
    log = open_log(config=LogConfig(cleanup_policy=frozenset({"compact"})))
    append(log, batch(key=b"k"))
    with pytest.raises(KafkaError) as refused:
        append(log, batch(key=None))
    assert refused.value.code == ErrorCode.INVALID_RECORD


def test_create_time_must_lie_within_the_configured_bounds() -> None:
    config = LogConfig(message_timestamp_before_max_ms=1000, message_timestamp_after_max_ms=50)
    log = open_log(config=config)
    for timestamp in (NOW - 1000, NOW + 50, -1):
        append(log, batch(timestamp=timestamp))
    for timestamp in (NOW - 1001, NOW + 51):
        with pytest.raises(KafkaError) as refused:
            append(log, batch(timestamp=timestamp))
        assert refused.value.code == ErrorCode.INVALID_TIMESTAMP
    one_old = encode_batch([Record(0, NOW, b"k", b"v"), Record(0, NOW - 2000, b"k", b"v")])
    with pytest.raises(KafkaError):
        append(log, one_old)


def test_log_append_time_replaces_the_timestamps_and_is_reported() -> None:
    log = open_log(config=LogConfig(message_timestamp_type="LogAppendTime"))
    info = append(log, batch(3, timestamp=5), now_ms=NOW + 9)
    assert info.log_append_time_ms == info.max_timestamp == NOW + 9
    slice_ = log.read(0, 1000, upto_offset=3).slice
    assert slice_ is not None
    data = slice_.read()
    slice_.release()
    assert {record.timestamp for record in decode_batch(data, decompressed_bytes_max=1000)} == {NOW + 9}
    with pytest.raises(KafkaError) as refused:
        append(log, batch(timestamp_type=LOG_APPEND_TIME))
    assert refused.value.code == ErrorCode.INVALID_TIMESTAMP


def test_create_time_is_reported_as_no_append_time() -> None:
    assert append(open_log()).log_append_time_ms == -1


@pytest.mark.parametrize(
    ("compression_type", "codec"),
    [
        ("gzip", Codec.GZIP),
        ("snappy", Codec.SNAPPY),
        ("lz4", Codec.LZ4),
        ("zstd", Codec.ZSTD),
        ("uncompressed", Codec.NONE),
    ],
)
def test_compression_type_rewrites_batches_of_another_codec(compression_type: str, codec: Codec) -> None:
    log = open_log(config=LogConfig(compression_type=compression_type))
    for source in Codec:
        append(log, sent(9, 3 * source, 3, value=b"abc" * 50, codec=source))
    headers = read_all(log)
    assert {header.codec for header in headers} == {codec}
    assert offsets(headers) == [(3 * n, 3 * n + 2) for n in range(len(Codec))]
    assert [header.base_sequence for header in headers] == [3 * n for n in range(len(Codec))]
    slice_ = log.read(3, 10_000, upto_offset=log.log_end_offset).slice
    assert slice_ is not None
    records = decode_batch(slice_.read(), decompressed_bytes_max=10_000)
    slice_.release()
    assert [(record.offset, record.value) for record in records] == [(n, b"abc" * 50) for n in (3, 4, 5)]


def test_the_producers_codec_is_kept_by_default() -> None:
    log = open_log()
    append(log, batch(codec=Codec.ZSTD))
    assert read_all(log)[0].codec == Codec.ZSTD


def test_a_wrong_max_timestamp_in_the_header_is_corrected() -> None:
    data = batch(2, timestamp=NOW)
    set_max_timestamp(data, 0, CREATE_TIME, NOW + 77)
    log = open_log()
    assert append(log, data).max_timestamp == NOW
    assert read_all(log)[0].max_timestamp == NOW


def test_a_coordinator_appends_several_batches_at_once_or_none() -> None:
    log = open_log()
    data = batch(2) + batch(3)
    info = log.append_as_leader(data, 1, NOW, origin=AppendOrigin.COORDINATOR)
    assert (info.first_offset, info.last_offset, info.record_count) == (0, 4, 5)
    assert offsets(read_all(log)) == [(0, 1), (2, 4)]
    broken = batch(1) + batch(1)
    broken[-1] ^= 1
    with pytest.raises(KafkaError):
        log.append_as_leader(broken, 1, NOW, origin=AppendOrigin.COORDINATOR)
    assert log.log_end_offset == 5


def test_the_raft_leader_brings_its_own_offsets_and_epochs() -> None:
    log = open_log()
    log.append_as_leader(batch(2, base_offset=0, leader_epoch=6), 6, NOW, origin=AppendOrigin.RAFT_LEADER)
    for offset, epoch in ((1, 6), (3, 6), (2, 5)):
        with pytest.raises(KafkaError) as refused:
            log.append_as_leader(
                batch(base_offset=offset, leader_epoch=epoch), 6, NOW, origin=AppendOrigin.RAFT_LEADER
            )
        assert refused.value.code == ErrorCode.INVALID_RECORD
    assert log.log_end_offset == 2


# --- followers


def follower_bytes(*ends: tuple[int, int, int]) -> bytearray:
    """Batches of (base offset, count, epoch)."""
    data = bytearray()
    for base_offset, count, epoch in ends:
        data += batch(count, base_offset=base_offset, leader_epoch=epoch)
    return data


def test_a_follower_takes_offsets_and_epochs_as_they_are_and_leaves_out_a_cut_batch() -> None:
    log = open_log()
    data = follower_bytes((0, 3, 1), (3, 2, 1), (5, 1, 4))
    info = log.append_as_follower(data + batch()[:-5], now_ms=NOW)
    assert (info.first_offset, info.last_offset, info.size_bytes) == (0, 5, len(data))
    assert log.epochs.entries() == [(1, 0), (4, 5)]
    assert log.log_end_offset == 6


def test_a_follower_refuses_offsets_that_its_log_has_and_bad_bytes() -> None:
    log = open_log()
    log.append_as_follower(follower_bytes((0, 3, 1)), now_ms=NOW)
    with pytest.raises(UnexpectedOffset):
        log.append_as_follower(follower_bytes((2, 3, 1)), now_ms=NOW)
    bad = follower_bytes((3, 3, 1))
    bad[-1] ^= 1
    with pytest.raises(KafkaError) as refused:
        log.append_as_follower(bad, now_ms=NOW)
    assert refused.value.code == ErrorCode.CORRUPT_MESSAGE
    for no_batch in (bytes(100), batch()[:30], follower_bytes((3, 3, 1))[:-1]):
        with pytest.raises(KafkaError) as refused:  # a leader's first batch is whole, whatever its size
            log.append_as_follower(no_batch, now_ms=NOW)
        assert refused.value.code == ErrorCode.CORRUPT_MESSAGE
    assert log.log_end_offset == 3


def test_a_follower_takes_what_comes_before_a_bad_batch() -> None:
    log = open_log()
    good, bad = follower_bytes((0, 3, 1), (3, 2, 1)), follower_bytes((5, 1, 1), (6, 1, 1))
    bad[70] ^= 1
    info = log.append_as_follower(good + bad, now_ms=NOW)
    assert (info.last_offset, info.size_bytes, log.log_end_offset) == (4, len(good), 5)
    assert offsets(read_all(log)) == [(0, 2), (3, 4)]


def test_a_follower_splits_a_fetch_between_segments_and_keeps_the_gaps_of_compaction() -> None:
    one = len(follower_bytes((0, 1, 1)))
    log = open_log(config=LogConfig(segment_bytes=2 * one))
    log.append_as_follower(
        follower_bytes((0, 1, 1), (4, 1, 1), (9, 1, 1), (10, 1, 1), (30, 1, 1)), now_ms=NOW
    )
    assert [s.base_offset for s in log.segments] == [0, 9, 30]
    assert offsets(read_all(log)) == [(0, 0), (4, 4), (9, 9), (10, 10), (30, 30)]
    assert offsets(read_from(log, 5)) == [(9, 9), (10, 10)]
    assert offsets(read_from(log, 2, max_bytes=1)) == [(4, 4)]


# --- a disk that is full, or worse


def test_a_full_disk_refuses_the_write_and_loses_nothing() -> None:
    disk = VirtualDisk()
    log = open_log(disk)
    append(log, sent(1, 0, 2))
    disk.capacity_bytes = disk.used_bytes() + 40
    with pytest.raises(KafkaError) as refused:
        append(log, sent(1, 2, 2))
    assert refused.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert isinstance(refused.value.__cause__, OSError) and refused.value.__cause__.errno == errno.ENOSPC
    assert log.failure is None
    assert (log.log_end_offset, log.active_segment.size) == (
        2,
        disk.open(log.active_segment.file.path).size(),
    )
    assert offsets(read_all(log)) == [(0, 1)]
    disk.capacity_bytes = None
    info = append(log, sent(1, 2, 2))
    assert (info.first_offset, info.is_duplicate) == (2, False)
    again = open_log(disk)
    assert offsets(read_all(again)) == [(0, 1), (2, 3)]


def test_a_full_disk_refuses_the_roll_and_the_log_goes_on_when_there_is_room() -> None:
    disk = VirtualDisk()
    log = open_log(disk, LogConfig(segment_bytes=200))
    append(log, batch(value=b"x" * 100))
    disk.fail("/data/events-3", "create", error=errno.ENOSPC)
    with pytest.raises(KafkaError) as refused:
        append(log, batch(value=b"x" * 100))
    assert refused.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    disk.heal("/data/events-3")
    assert append(log, batch(value=b"x" * 100)).first_offset == 1
    assert len(log.segments) == 2


def test_a_write_that_cannot_be_taken_back_makes_the_log_fail() -> None:
    disk = VirtualDisk()
    log = open_log(disk)
    append(log)
    disk.fail("/data/events-3", "append", "write", "truncate", error=errno.EIO)
    with pytest.raises(KafkaError):
        append(log)
    assert log.failure is not None
    disk.heal("/data/events-3")
    for operation in (
        lambda: append(log),
        lambda: log.flush(NOW),
        lambda: read_from(log, 0),
        lambda: log.roll(NOW),
    ):
        with pytest.raises(KafkaError) as refused:
            operation()
        assert refused.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert offsets(read_all(open_log(disk))) == [(0, 0)]
