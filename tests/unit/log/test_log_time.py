"""Offsets by time: ListOffsets by timestamp and by the largest one, against a scan of all records."""

from __future__ import annotations

import random

from log_bench import NOW, append, batch, open_log

from ottla.model.log_config import LogConfig
from ottla.testing.disk import VirtualDisk
from ottla.wire.record_batch import Codec, Record, encode_batch


def test_the_first_record_that_is_not_older_is_found_whatever_the_order_of_times() -> None:
    rng = random.Random(4)
    log = open_log(config=LogConfig(segment_bytes=600, index_interval_bytes=100))
    records: list[tuple[int, int]] = []
    for _ in range(60):
        times = [NOW + rng.randrange(-500, 500) for _ in range(rng.randrange(1, 5))]
        codec = rng.choice((Codec.NONE, Codec.LZ4))
        info = append(
            log, encode_batch([Record(0, time, b"k", b"v") for time in times], codec=codec), epoch=2
        )
        records += [(info.first_offset + n, time) for n, time in enumerate(times)]
    log.update_high_watermark(log.log_end_offset)
    for start in (0, 37):
        log.advance_log_start(start)
        visible = [record for record in records if record[0] >= start]
        for wanted in range(NOW - 510, NOW + 510, 7):
            first = next(((offset, time, 2) for offset, time in visible if time >= wanted), None)
            assert log.offset_for_timestamp(wanted) == first
        largest = max(time for _, time in visible)
        offset = next(offset for offset, time in visible if time == largest)
        found = log.offset_of_max_timestamp()
        if max(time for _, time in records) == largest:
            assert found == (offset, largest, 2)


def test_an_empty_log_and_records_without_times_have_no_such_offset() -> None:
    log = open_log()
    assert log.offset_for_timestamp(0) is None
    assert log.offset_of_max_timestamp() is None
    append(log, batch(timestamp=-1))
    assert log.offset_of_max_timestamp() is None
    assert log.offset_for_timestamp(NOW) is None


def test_the_earliest_offset_comes_with_its_epoch() -> None:
    log = open_log()
    assert log.earliest() == (0, -1)
    for epoch in (1, 1, 5):
        append(log, epoch=epoch)
    assert log.earliest() == (0, 1)
    log.update_high_watermark(3)
    log.advance_log_start(2)
    assert log.earliest() == (2, 5)


def test_times_survive_a_clean_and_an_unclean_restart() -> None:
    for clean in (True, False):
        disk = VirtualDisk()
        log = open_log(disk, LogConfig(segment_bytes=300, index_interval_bytes=1))
        for number in range(12):
            append(log, batch(timestamp=NOW + number * 10))
        log.close(NOW)
        again = open_log(disk, LogConfig(segment_bytes=300, index_interval_bytes=1), clean_shutdown=clean)
        assert [again.offset_for_timestamp(NOW + 10 * n - 5) for n in range(12)] == [
            (n, NOW + 10 * n, 0) for n in range(12)
        ]
        assert again.offset_of_max_timestamp() == (11, NOW + 110, 0)
