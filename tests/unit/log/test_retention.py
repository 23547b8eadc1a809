"""Retention: whole segments by time, by size and before the log start; policies can be plugged in."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from log_bench import DIR, NOW, append, batch, log_path, offsets, open_log, read_all, read_from

from ottla.log.log import Log
from ottla.log.retention import RetentionView
from ottla.log.segment import Segment
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.log_config import LogConfig
from ottla.testing.disk import VirtualDisk

HOUR_MS = 3_600_000
SIZE = len(batch())


def log_of(count: int, *, step_ms: int = 0, disk: VirtualDisk | None = None, **config: object) -> Log:
    """One batch for each offset, two in a segment, all below the high watermark."""
    settings = LogConfig(segment_bytes=2 * SIZE, segment_ms=10**12, **config)  # type: ignore[arg-type]
    log = open_log(disk, settings)
    for number in range(count):
        append(log, batch(timestamp=NOW + number * step_ms), now_ms=NOW + number * step_ms)
    log.update_high_watermark(count)
    return log


def bases(log: Log) -> list[int]:
    return [segment.base_offset for segment in log.segments]


def test_segments_go_when_their_newest_record_is_older_than_retention_ms() -> None:
    log = log_of(7, step_ms=HOUR_MS, retention_ms=3 * HOUR_MS)
    # The segments' newest records: 1 h, 3 h, 5 h, 6 h after the beginning.
    assert log.apply_retention(NOW + 4 * HOUR_MS) == 0
    assert log.apply_retention(NOW + 4 * HOUR_MS + 1) == 1
    assert (bases(log), log.log_start_offset) == ([2, 4, 6], 2)
    with pytest.raises(KafkaError) as refused:
        read_from(log, 1)
    assert refused.value.code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_when_even_the_active_segment_has_expired_the_log_rolls_and_keeps_its_offsets() -> None:
    log = log_of(7, step_ms=HOUR_MS, retention_ms=3 * HOUR_MS)
    assert log.apply_retention(NOW + 100 * HOUR_MS) == 4
    assert (bases(log), log.log_start_offset, log.log_end_offset) == ([7], 7, 7)
    assert log.size_bytes == 0
    assert log.apply_retention(NOW + 200 * HOUR_MS) == 0, "an empty active segment stays"
    assert append(log).first_offset == 7


def test_by_size_the_oldest_go_as_long_as_enough_remains() -> None:
    log = log_of(9, retention_bytes=5 * SIZE)
    assert log.apply_retention(NOW) == 2
    assert bases(log) == [4, 6, 8]
    assert log.size_bytes == 5 * SIZE
    assert log.apply_retention(NOW) == 0


def test_nothing_above_the_high_watermark_goes() -> None:
    log = open_log(config=LogConfig(segment_bytes=2 * SIZE, retention_bytes=0, retention_ms=0))
    for _ in range(7):
        append(log)
    log.update_high_watermark(5)
    assert log.apply_retention(NOW + HOUR_MS) == 2
    assert bases(log) == [4, 6]


def test_minus_one_keeps_everything() -> None:
    log = log_of(9, retention_ms=-1, retention_bytes=-1)
    assert log.apply_retention(NOW + 10**12) == 0


def test_deleted_records_go_by_segments_and_on_compacted_topics_too() -> None:
    compacted = frozenset({"compact"})
    log = log_of(9, retention_ms=0, retention_bytes=0, cleanup_policy=compacted)
    log.advance_log_start(5)
    assert offsets(read_from(log, 5)) == [(5, 5)]
    assert log.apply_retention(NOW + HOUR_MS) == 2
    assert (bases(log), log.log_start_offset) == ([4, 6, 8], 5)
    with pytest.raises(KafkaError):
        read_from(log, 4)


def test_the_log_start_moves_forward_only_and_not_above_the_high_watermark() -> None:
    log = log_of(4)
    assert log.advance_log_start(3)
    assert not log.advance_log_start(2)
    assert log.log_start_offset == 3
    with pytest.raises(KafkaError) as refused:
        log.advance_log_start(5)
    assert refused.value.code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.advance_log_start(4)
    assert read_from(log, 4) == []


def test_the_log_start_survives_a_restart_through_its_checkpoint() -> None:
    disk = VirtualDisk()
    log = log_of(9, disk=disk)
    log.advance_log_start(5)
    log.close(NOW)
    again = open_log(disk, log.config, clean_shutdown=True, log_start_offset=5)
    assert again.log_start_offset == 5
    assert again.epochs.entries() == [(0, 5)]
    assert offsets(read_all(again)) == [(n, n) for n in range(5, 9)]


def test_files_of_a_removed_segment_wait_under_another_name_for_their_time() -> None:
    disk = VirtualDisk()
    log = log_of(5, disk=disk, retention_bytes=3 * SIZE, file_delete_delay_ms=60_000)
    log.apply_retention(NOW)
    waiting = log.take_deleted_files()
    assert log.take_deleted_files() == []
    assert {at for _, at in waiting} == {NOW + 60_000}
    assert {file.path for file, _ in waiting} == {
        log_path(0, suffix + ".deleted") for suffix in (".log", ".index", ".timeindex")
    }
    assert not disk.exists(log_path(0))
    again = open_log(disk, log.config)
    assert bases(again) == [2, 4]
    assert not [name for name in disk.list_dir(DIR) if name.endswith(".deleted")], "a restart removes them"


def test_a_policy_of_ones_own_can_be_plugged_in() -> None:
    class KeepTheLastTwo:
        def count_deletable(self, log: RetentionView, segments: Sequence[Segment], now_ms: int) -> int:
            return len(segments) - 2

    log = log_of(9)
    log.deletion_policies = (KeepTheLastTwo(),)
    assert log.apply_retention(NOW) == 3
    assert bases(log) == [6, 8]


def test_a_changed_configuration_takes_effect_at_once() -> None:
    log = log_of(9)
    assert log.apply_retention(NOW) == 0
    log.update_config(LogConfig(retention_bytes=SIZE, segment_bytes=4 * SIZE))
    assert log.apply_retention(NOW) == 4
    for _ in range(5):
        append(log)
    assert bases(log) == [8, 12]
