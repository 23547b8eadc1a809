"""Cutting a log back, as a follower does that has parted from its leader."""

from __future__ import annotations

import pytest
from log_bench import NOW, append, batch, log_path, offsets, open_log, read_all

from ottla.log.log import Log
from ottla.model.log_config import LogConfig
from ottla.testing.disk import VirtualDisk

SIZE = len(batch(2))


def log_of(count: int, disk: VirtualDisk | None = None) -> Log:
    log = open_log(disk, LogConfig(segment_bytes=3 * SIZE, index_interval_bytes=SIZE))
    for number in range(count):
        append(log, batch(2, timestamp=NOW + number), epoch=number // 4)
    return log


@pytest.mark.parametrize("offset", range(20))
def test_everything_at_or_above_the_offset_goes_and_the_log_goes_on_there(offset: int) -> None:
    disk = VirtualDisk()
    log = log_of(10, disk)
    log.update_high_watermark(16)
    log.flush(NOW)
    kept = offset // 2
    assert log.truncate_to(offset)
    assert log.log_end_offset == 2 * kept
    assert log.high_watermark == min(16, 2 * kept)
    assert log.recovery_point == 2 * kept
    assert offsets(read_all(log)) == [(2 * n, 2 * n + 1) for n in range(kept)]
    assert log.latest_epoch == ((kept - 1) // 4 if kept else -1)
    latest = log.offset_of_max_timestamp()
    assert latest == (None if kept == 0 else (2 * kept - 2, NOW + kept - 1, (kept - 1) // 4))
    assert append(log, batch(2), epoch=7).first_offset == 2 * kept
    expected = [(2 * n, 2 * n + 1) for n in range(kept + 1)]
    assert offsets(read_all(log)) == expected
    again = open_log(disk, log.config, recovery_point=log.recovery_point)
    assert offsets(read_all(again)) == expected
    assert again.epochs.entries() == log.epochs.entries()


def test_truncating_at_or_above_the_end_changes_nothing() -> None:
    log = log_of(3)
    assert not log.truncate_to(6)
    assert not log.truncate_to(60)
    assert log.log_end_offset == 6


def test_truncating_below_the_log_start_moves_it_back() -> None:
    log = log_of(6)
    log.update_high_watermark(12)
    log.advance_log_start(8)
    log.apply_retention(NOW)
    assert [segment.base_offset for segment in log.segments] == [6]
    log.truncate_to(4)
    assert (log.log_start_offset, log.log_end_offset) == (4, 4)
    assert append(log).first_offset == 4


def test_starting_over_at_an_offset_leaves_nothing_behind() -> None:
    disk = VirtualDisk()
    log = log_of(6, disk)
    log.flush(NOW)
    log.truncate_fully_and_start_at(1000)
    assert (log.log_start_offset, log.log_end_offset, log.high_watermark) == (1000, 1000, 1000)
    assert log.latest_epoch == -1
    assert append(log).first_offset == 1000
    assert disk.exists(log_path(1000))
    for file, _ in log.take_deleted_files():
        file.delete()
    again = open_log(disk, log.config)
    assert offsets(read_all(again)) == [(1000, 1000)]


def test_starting_over_at_the_offset_of_a_segment_that_is_there_empties_it() -> None:
    log = log_of(6)
    log.truncate_fully_and_start_at(6)
    for file, _ in log.take_deleted_files():
        file.delete()
    assert append(log).first_offset == 6
    assert offsets(read_all(log)) == [(6, 6)]


def test_the_high_watermark_moves_forward_and_stays_within_the_log() -> None:
    log = log_of(3)
    assert log.high_watermark == 0
    assert log.update_high_watermark(4)
    assert not log.update_high_watermark(2)
    assert log.update_high_watermark(99)
    assert log.high_watermark == 6
