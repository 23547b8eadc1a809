"""Reading: a slice of one segment from the batch that holds the offset, bounded by bytes and by an offset."""

from __future__ import annotations

import pytest
from log_bench import NOW, append, batch, offsets, open_log, read_all, read_from

from ottla.log.log import Log
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.log_config import LogConfig
from ottla.testing.disk import VirtualDisk, VirtualFile
from ottla.wire.record_batch import HEADER_BYTES

SIZE = len(batch(2))


def log_of(batches: int, *, per_segment: int = 1000, **config: int) -> Log:
    log = open_log(config=LogConfig(segment_bytes=per_segment * SIZE, index_interval_bytes=SIZE, **config))  # type: ignore[arg-type]
    for _ in range(batches):
        append(log, batch(2))
    return log


def test_a_read_inside_a_batch_gives_that_whole_batch() -> None:
    log = log_of(5)
    assert offsets(read_from(log, 3)) == [(2, 3), (4, 5), (6, 7), (8, 9)]
    assert offsets(read_from(log, 2)) == offsets(read_from(log, 3))


def test_reads_outside_of_the_log_are_out_of_range_and_at_its_end_there_is_nothing() -> None:
    log = log_of(3)
    log.update_high_watermark(6)
    log.advance_log_start(2)
    for offset in (-1, 1, 7):
        with pytest.raises(KafkaError) as refused:
            read_from(log, offset)
        assert refused.value.code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert read_from(log, 6) == []


def test_max_bytes_may_cut_a_later_batch_but_never_the_first() -> None:
    log = log_of(4)
    result = log.read(0, SIZE + 10, upto_offset=8)
    assert result.size_bytes == SIZE + 10
    assert result.slice is not None
    result.slice.release()
    assert offsets(read_from(log, 2, max_bytes=1)) == [(2, 3)]
    assert read_from(log, 2, max_bytes=SIZE - 1, min_one_batch=False) == []
    assert offsets(read_from(log, 2, max_bytes=SIZE, min_one_batch=False)) == [(2, 3)]


def test_nothing_at_or_above_the_bound_is_read() -> None:
    log = log_of(6, per_segment=4)
    for upto in range(13):
        for offset in range(13):
            headers = read_from(log, offset, upto_offset=upto)
            if offset >= upto:
                assert headers == []
            else:
                # A bound inside a batch (it cannot be one of Kafka's, but must do no harm) leaves it out.
                assert all(header.last_offset < upto for header in headers)
                assert offset // 2 == upto // 2 or headers[0].base_offset == offset // 2 * 2


def test_one_read_stays_within_one_segment() -> None:
    log = log_of(6, per_segment=2)
    assert [segment.base_offset for segment in log.segments] == [0, 4, 8]
    assert offsets(read_from(log, 1)) == [(0, 1), (2, 3)]
    assert offsets(read_all(log)) == [(2 * n, 2 * n + 1) for n in range(6)]


def test_remembered_positions_agree_with_the_index_after_appends_rolls_and_truncations() -> None:
    log = log_of(0, per_segment=3)
    for step in range(40):
        end = log.log_end_offset
        assert read_from(log, end) == []  # a consumer waits at the end, which is remembered
        append(log, batch(2))
        if step % 3 == 0:
            append(log, batch(2))
        assert read_from(log, end)[0].base_offset == end
        for offset in range(end + 2):
            assert read_from(log, offset)[0].base_offset == offset // 2 * 2
        if step % 7 == 6:
            log.truncate_to(log.log_end_offset - 4)


def test_readers_go_from_batch_to_batch_also_where_the_next_one_is_not_where_it_was() -> None:
    log = log_of(12, per_segment=4)
    log.update_high_watermark(24)
    first = [log.read(2 * n, SIZE, upto_offset=24).position for n in range(12)]
    assert first == [n % 4 * SIZE for n in range(12)]
    for n in range(12):  # two readers, and one that comes to offsets inside of batches
        for offset in (2 * n, 2 * n, 2 * n + 1):
            assert offsets(read_from(log, offset, max_bytes=SIZE)) == [(2 * n, 2 * n + 1)]
    # What was remembered of a log that is then cut, or in whose segment something else lies, is not believed.
    read_from(log, 18, max_bytes=SIZE)
    log.truncate_to(20)
    assert read_from(log, 20) == []
    append(log, batch(1))
    append(log, batch(3))
    assert offsets(read_all(log, max_bytes=SIZE))[-2:] == [(20, 20), (21, 23)]
    for wrong in ((16, 1), (16, 2 * SIZE), (16, 100 * SIZE), (8, SIZE), (999, 0)):
        log._next_batches = {18: wrong}
        assert offsets(read_from(log, 18, max_bytes=SIZE)) == [(18, 19)]


def test_a_large_batch_behind_another_is_found_with_one_read_of_its_header(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = open_log(config=LogConfig(segment_bytes=1 << 20, index_interval_bytes=1))
    for _ in range(8):
        append(log, batch(1, value=bytes(20_000)))
    size = log.segments[0].size // 8
    read_from(log, 1, max_bytes=size)
    reads: list[tuple[int, int]] = []
    pread = VirtualFile.pread

    def noted(file: VirtualFile, length: int, position: int) -> bytes:
        reads.append((length, position))
        return pread(file, length, position)

    monkeypatch.setattr(VirtualFile, "pread", noted)
    for offset in range(2, 7):
        found = log.read(offset, size, upto_offset=8).slice
        assert found is not None and found.position == offset * size
        found.release()
    assert reads == [(HEADER_BYTES, offset * size) for offset in range(2, 7)]


def test_a_slice_of_a_deleted_segment_stays_readable() -> None:
    """The segment list is copy-on-write and a slice pins its file: a delete does not disturb a reader."""
    log = log_of(6, per_segment=2, retention_bytes=0)
    result = log.read(0, 1000, upto_offset=12)
    before = log.segments
    assert result.slice is not None
    expected = result.slice.read()
    log.update_high_watermark(12)
    assert log.apply_retention(NOW) == 3
    for file, _ in log.take_deleted_files():
        file.delete()
    assert result.slice.read() == expected
    assert len(before) == 3, "who holds the old list sees the old list"
    result.slice.release()


def test_a_slice_pins_its_file_until_it_is_released() -> None:
    log = log_of(1)
    result = log.read(0, 1000, upto_offset=2)
    assert result.slice is not None
    file = result.slice.file
    assert file.pins == 1  # type: ignore[attr-defined]
    result.slice.release()
    result.slice.release()
    assert file.pins == 0  # type: ignore[attr-defined]


def test_the_upper_bound_of_a_read_is_above_all_that_it_gave() -> None:
    log = log_of(9, per_segment=4)
    for offset in range(18):
        for max_bytes in (1, SIZE * 2, SIZE * 3 + 5, 10_000):
            result = log.read(offset, max_bytes, upto_offset=17)
            headers = read_from(log, offset, max_bytes, upto_offset=17)
            bound = log.upper_bound_offset(result, 17)
            assert bound <= 17
            if result.slice is not None:
                result.slice.release()
                assert all(header.last_offset < bound for header in headers)


def test_a_disk_that_cannot_be_read_is_a_storage_error() -> None:
    disk = VirtualDisk()
    log = open_log(disk)
    for _ in range(3):
        append(log)
    disk.fail("/data", "read")
    with pytest.raises(KafkaError) as refused:
        log.read(1, 1000, upto_offset=3)
    assert refused.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    disk.heal("/data")
    assert offsets(read_from(log, 1)) == [(1, 1), (2, 2)]
