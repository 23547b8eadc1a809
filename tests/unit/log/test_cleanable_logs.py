"""What of a log may be compacted, and how cleaned segments take the place of the old ones (Kafka's
LogCleanerManager and `replaceSegments`).
"""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from log_bench import DIR, NOW, append, batch, log_path, marker, open_log, overwrite, read_from, sent

from ottla.log.append_origin import AppendOrigin
from ottla.log.cleaning_job import CleaningFailed, CleaningJob, CleaningResult
from ottla.log.compaction import Candidate, CleaningLimits, candidate_of, describe, still_replaced_by
from ottla.log.log import Log
from ottla.log.swap import remove_cleaned
from ottla.log.turn import Turn
from ottla.model.log_config import LogConfig
from ottla.ports.effects import run_now
from ottla.testing.clock import VirtualClock
from ottla.testing.disk import SimulatedCrash, VirtualDisk
from ottla.testing.scheduler import Scheduler
from ottla.wire.record_batch import Record, decode_batch
from support import naive_cleaner

SIZE = len(batch())
HOUR_MS = 3_600_000
COMPACT = LogConfig(
    segment_bytes=2 * SIZE, cleanup_policy=frozenset({"compact"}), index_interval_bytes=1, segment_ms=10**12
)


def new_disk() -> VirtualDisk:
    disk = VirtualDisk()
    disk.make_dirs(DIR)
    for path in ("/", "/data"):
        disk.sync_dir(path)
    return disk


def log_of(keys: str, config: LogConfig = COMPACT, disk: VirtualDisk | None = None) -> Log:
    """A batch for each letter, which is its key; all durable and below the high watermark."""
    log = open_log(disk or new_disk(), config)
    for number, key in enumerate(keys):
        append(log, batch(key=3 * key.encode(), value=b"%05d" % number, timestamp=NOW + number))
    settle(log)
    return log


def settle(log: Log) -> None:
    log.update_high_watermark(log.log_end_offset)
    log.flush(NOW)


def transact(log: Log, data: bytearray) -> None:
    log.append_as_leader(data, 0, NOW, origin=AppendOrigin.COORDINATOR)


def job_of(log: Log, *, now_ms: int = NOW, **limits: Any) -> tuple[Candidate, CleaningJob]:
    candidate = candidate_of(log, now_ms)
    turn = Turn(VirtualClock(Scheduler(1)))
    return candidate, run_now(describe(candidate, CleaningLimits(**limits), now_ms, turn))


def clean(log: Log, disk: VirtualDisk) -> tuple[Candidate, CleaningResult]:
    candidate, job = job_of(log)
    return candidate, naive_cleaner.clean(job, disk, now=lambda: 0.0, pause=lambda _: None)


def compact(log: Log, disk: VirtualDisk) -> CleaningResult:
    candidate, result = clean(log, disk)
    for cleaned in result.cleaned:
        replaced = still_replaced_by(candidate, cleaned)
        assert replaced is not None
        for path in log.replace_segments(
            replaced, cleaned.base_offset, has_txn_index=cleaned.has_txn_index, now_ms=NOW
        ):
            with suppress(FileNotFoundError):
                disk.remove(path)
    disk.sync_dir(DIR)
    log.first_dirty_offset = result.next_dirty_offset
    return result


def records_of(log: Log) -> list[Record]:
    found: list[Record] = []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        result = log.read(offset, 1 << 20, upto_offset=log.log_end_offset)
        if result.slice is None:
            break
        data = result.slice.read()
        result.slice.release()
        for header in read_from(log, offset):
            offset = header.next_offset
        position = 0
        while position < len(data):
            found += decode_batch(data, position, decompressed_bytes_max=1 << 20)
            position += 12 + int.from_bytes(data[position + 8 : position + 12], "big")
    return [record for record in found if record.offset >= log.log_start_offset]


def letter(record: Record) -> str:
    assert record.key is not None
    return record.key[:1].decode()


def kept(log: Log) -> str:
    return " ".join(f"{letter(record)}{record.offset}" for record in records_of(log))


def bases(log: Log) -> list[int]:
    return [segment.base_offset for segment in log.segments]


# --- the range


def test_the_active_segment_is_never_cleaned() -> None:
    log = log_of("aaaaa")
    candidate = candidate_of(log, NOW)
    assert bases(log) == [0, 2, 4]
    assert [segment.base_offset for segment in candidate.segments] == [0, 2]
    assert (candidate.first_dirty_offset, candidate.first_uncleanable_offset) == (0, 4)
    assert (candidate.clean_bytes, candidate.cleanable_bytes) == (0, 4 * SIZE)
    assert candidate.dirty_ratio == 1.0


def test_the_segment_that_holds_the_first_undecided_transaction_is_not_cleaned() -> None:
    """Kafka: nothing at or above the last stable offset."""
    log = open_log(config=COMPACT)
    for _ in range(3):
        append(log)
    transact(log, sent(7, 0, transactional=True))
    for _ in range(5):
        append(log)
    settle(log)
    assert log.last_stable_offset == 3
    candidate = candidate_of(log, NOW)
    assert candidate.first_uncleanable_offset == 2
    assert not candidate.settled, "the end of the transaction changes it, and no segment does"


def test_what_is_above_the_high_watermark_or_not_durable_is_not_cleaned() -> None:
    log = log_of("aaaaaaa")
    log.high_watermark = 3
    assert candidate_of(log, NOW).first_uncleanable_offset == 2
    log.high_watermark = 7
    log.recovery_point = 5
    assert candidate_of(log, NOW).first_uncleanable_offset == 4


def test_records_younger_than_the_lag_hold_their_segment_and_all_later_ones_back() -> None:
    """KIP-58."""
    log = log_of("aaaaaaa", replace(COMPACT, min_compaction_lag_ms=100))
    assert candidate_of(log, NOW + 50).first_uncleanable_offset == 0
    assert candidate_of(log, NOW + 101).first_uncleanable_offset == 2
    assert candidate_of(log, NOW + 103).first_uncleanable_offset == 4
    assert candidate_of(log, NOW + 1000).first_uncleanable_offset == 6


def test_a_log_is_wanted_above_the_dirty_ratio_or_when_the_largest_lag_has_passed() -> None:
    """KIP-354; the ratio has to be above `min.cleanable.dirty.ratio`, as in Kafka."""
    log = log_of("aaaaaaa")
    assert candidate_of(log, NOW).wanted
    log.first_dirty_offset = 4
    halved = candidate_of(log, NOW)
    assert (halved.clean_bytes, halved.cleanable_bytes) == (4 * SIZE, 2 * SIZE)
    assert not halved.wanted
    log.update_config(replace(COMPACT, min_cleanable_dirty_ratio=0.33))
    assert candidate_of(log, NOW).wanted
    log.update_config(replace(COMPACT, max_compaction_lag_ms=HOUR_MS))
    assert not candidate_of(log, NOW + HOUR_MS).overdue
    late = candidate_of(log, NOW + HOUR_MS + 5)
    assert late.overdue and late.wanted
    log.first_dirty_offset = 6
    assert not candidate_of(log, NOW + 2 * HOUR_MS).wanted, "there is nothing that may be cleaned"


@pytest.mark.parametrize(
    ("noted", "start", "found"), [(-1, 0, 0), (3, 0, 3), (3, 5, 5), (8, 5, 5), (7, 5, 7)]
)
def test_a_noted_offset_outside_the_log_makes_all_of_it_dirty(noted: int, start: int, found: int) -> None:
    """LogCleanerManager.cleanableOffsets."""
    log = log_of("aaaaaaa")
    log.advance_log_start(start)
    log.first_dirty_offset = noted
    assert candidate_of(log, NOW).first_dirty_offset == found


def test_a_compacted_log_rolls_when_the_largest_lag_has_passed_for_its_first_record() -> None:
    """KIP-354: otherwise what has to be compacted would stay in the active segment."""
    roomy = replace(COMPACT, segment_bytes=1 << 20, max_compaction_lag_ms=HOUR_MS)
    log = open_log(config=roomy)
    append(log)
    append(log, batch(timestamp=NOW + HOUR_MS), now_ms=NOW + HOUR_MS)
    assert bases(log) == [0]
    append(log, batch(timestamp=NOW + HOUR_MS + 1), now_ms=NOW + HOUR_MS + 1)
    assert bases(log) == [0, 2]
    other = open_log(config=replace(roomy, cleanup_policy=frozenset({"delete"})))
    append(other)
    append(other, batch(timestamp=NOW + HOUR_MS + 1), now_ms=NOW + HOUR_MS + 1)
    assert bases(other) == [0]


def test_the_job_names_the_segments_and_the_last_batches_of_the_producers() -> None:
    log = open_log(config=replace(COMPACT, segment_bytes=1 << 20))
    append(log, sent(7, 0))
    append(log, sent(8, 0, 3))
    append(log, sent(7, 1, epoch=0))
    log.roll(NOW)
    append(log, sent(9, 0))
    transact(log, marker(11, committed=False, epoch=4))
    settle(log)
    _, job = job_of(log, map_bytes=1 << 33, io_bytes_per_s_max=5.0)
    assert [(each.base_offset, each.end_offset) for each in job.segments] == [(0, 5)]
    assert job.segments[0].size_bytes == log.segments[0].size
    assert job.last_offsets_of_producers == {7: (4, 0), 8: (3, 0), 11: (-1, 4)}
    assert (job.map_bytes, job.io_bytes_per_s_max) == (2**31 - 1, 5.0)
    assert (job.topic, job.partition, job.dir_path) == ("events", 3, DIR)


# --- the swap


def test_cleaned_segments_take_the_place_of_the_old_ones_and_offsets_stay() -> None:
    disk = new_disk()
    log = log_of("abacabaca", disk=disk)
    result = compact(log, disk)
    assert [each.replaced for each in result.cleaned] == [(0,), (2,), (4,), (6,)]
    assert kept(log) == "b5 a6 c7 a8"
    assert (log.log_start_offset, log.log_end_offset, log.first_dirty_offset) == (0, 9, 8)
    assert append(log).first_offset == 9
    assert not [name for name in disk.list_dir(DIR) if name.endswith((".cleaned", ".swap"))]
    assert len(log.take_deleted_files()) == 4 * 3


def test_small_segments_are_joined_and_the_snapshots_of_the_joined_ones_go() -> None:
    disk = new_disk()
    log = log_of("abcabcabc", disk=disk)
    assert bases(log) == [0, 2, 4, 6, 8]
    assert disk.exists(log_path(6, ".snapshot"))
    log.update_config(replace(COMPACT, segment_bytes=1 << 20))
    compact(log, disk)
    assert bases(log) == [0, 8]
    assert kept(log) == "c5 a6 b7 c8"
    assert [name for name in disk.list_dir(DIR) if name.endswith(".snapshot")] == [
        "00000000000000000008.snapshot"
    ]
    log.close(NOW)
    assert kept(open_log(disk, COMPACT, clean_shutdown=True)) == "c5 a6 b7 c8"


def test_a_reader_that_holds_a_slice_of_an_old_segment_reads_on() -> None:
    disk = new_disk()
    log = log_of("aaaaa", disk=disk)
    slice_ = log.read(0, 1 << 20, upto_offset=5).slice
    assert slice_ is not None
    before = slice_.read()
    compact(log, disk)
    for file, _ in log.take_deleted_files():
        file.delete()
    assert slice_.read() == before
    slice_.release()
    assert [header.base_offset for header in read_from(log, 0)] == [3]


def test_a_remembered_position_does_not_point_into_a_segment_that_was_replaced() -> None:
    disk = new_disk()
    log = log_of("abaab", replace(COMPACT, segment_bytes=4 * SIZE), disk)
    assert [h.base_offset for h in read_from(log, 0, upto_offset=3)] == [0, 1, 2]
    compact(log, disk)
    assert [h.base_offset for h in read_from(log, 0, upto_offset=3)] == [1]
    assert [h.base_offset for h in read_from(log, 0, upto_offset=4)] == [1, 3]


def test_a_log_whose_last_closed_batches_are_gone_reads_on_at_the_next_segment() -> None:
    disk = new_disk()
    log = log_of("abaabba", replace(COMPACT, segment_bytes=3 * SIZE), disk)
    append(log, batch(key=b"bbb"))
    settle(log)
    compact(log, disk)
    assert bases(log) == [0, 3, 6]
    assert log.segments[0].size == 0
    assert kept(log) == "a3 b5 a6 b7"
    assert [h.base_offset for h in read_from(log, 1)] == [3, 5]
    log.update_high_watermark(8)
    assert log.offset_for_timestamp(NOW + 4) == (5, NOW + 5, 0)


def test_a_producer_keeps_its_last_sequence_over_compaction_and_restart() -> None:
    disk = new_disk()
    log = open_log(disk, COMPACT)
    append(log, sent(7, 0))
    for _ in range(4):
        append(log)
    settle(log)
    compact(log, disk)
    disk = disk.restart(random.Random(1), power_loss=False)
    again = open_log(disk, COMPACT)
    entry = again.producers.get(7)
    assert entry is not None and entry.last_sequence == 0
    assert append(again, sent(7, 0)).is_duplicate
    assert append(again, sent(7, 1)).first_offset == 5


@pytest.mark.parametrize("change", ["truncated", "emptied", "deleted", "replaced", "failed"])
def test_what_was_cleaned_is_thrown_away_when_the_log_has_changed_meanwhile(change: str) -> None:
    disk = new_disk()
    log = log_of("aaaaaaa", disk=disk)
    candidate, result = clean(log, disk)
    if change == "truncated":
        log.truncate_to(5)
    elif change == "emptied":
        log.truncate_fully_and_start_at(0)
    elif change == "deleted":
        log.advance_log_start(2)
        assert log.apply_retention(NOW) == 1
    elif change == "replaced":
        compact(log, disk)
    else:
        log.failure = OSError(5, "no more")
    assert still_replaced_by(candidate, result.cleaned[0]) is None


def test_a_result_that_names_other_segments_is_refused() -> None:
    disk = new_disk()
    log = log_of("aaaaaaa", disk=disk)
    candidate, result = clean(log, disk)
    for wrong in ((4, 0), (), (0, 6), (99,), (0, 4)):
        assert still_replaced_by(candidate, replace(result.cleaned[0], replaced=wrong)) is None


def test_a_swap_whose_files_are_missing_changes_nothing() -> None:
    disk = new_disk()
    log = log_of("aaaaaaa", disk=disk)
    candidate, result = clean(log, disk)
    disk.remove(log_path(0, ".log.cleaned"))
    replaced = still_replaced_by(candidate, result.cleaned[0])
    assert replaced is not None
    with pytest.raises(CleaningFailed):
        log.replace_segments(replaced, 0, has_txn_index=False, now_ms=NOW)
    remove_cleaned(disk, DIR)
    assert log.failure is None
    assert not [name for name in disk.list_dir(DIR) if name.endswith((".cleaned", ".swap"))]
    assert kept(log) == "a0 a1 a2 a3 a4 a5 a6"


def test_half_a_swap_fails_the_log() -> None:
    disk = new_disk()
    log = log_of("aaaaaaa", disk=disk)
    candidate, result = clean(log, disk)
    replaced = still_replaced_by(candidate, result.cleaned[0])
    assert replaced is not None
    disk.fail(log_path(0, ".log.swap"), "rename")
    with pytest.raises(Exception, match="failed"):
        log.replace_segments(replaced, 0, has_txn_index=False, now_ms=NOW)
    assert log.failure is not None


# --- a crash in the middle


def swap_points(keys: str, *, together: bool) -> int:
    """How many changes of the disk a compaction of this log makes."""
    disk = new_disk()
    log = log_of(keys, disk=disk)
    if together:
        log.update_config(replace(COMPACT, segment_bytes=1 << 20))
    before = disk.operations
    compact(log, disk)
    return disk.operations - before


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("power_loss", [False, True])
def test_a_crash_at_any_step_of_a_swap_leaves_the_last_value_of_every_key(
    together: bool, power_loss: bool
) -> None:
    keys = "abacabaacabc"
    last = {key: keys.rindex(key) for key in keys}
    points = swap_points(keys, together=together)
    assert points > 20
    for point in range(points):
        for seed in range(3 if power_loss else 1):
            disk = new_disk()
            log = log_of(keys, disk=disk)
            if together:
                log.update_config(replace(COMPACT, segment_bytes=1 << 20))
            disk.crash_at(disk.operations + point, "before")
            with pytest.raises(SimulatedCrash):
                compact(log, disk)
            disk = disk.restart(random.Random(seed), power_loss=power_loss)
            again = open_log(disk, COMPACT, recovery_point=10)
            found = {letter(record): record for record in records_of(again)}
            context = f"point {point}, seed {seed}: {kept(again)}"
            assert {key: record.offset for key, record in found.items()} == last, context
            for record in records_of(again):
                assert keys[record.offset] == letter(record), context
                assert record.value == b"%05d" % record.offset, context
            offsets = [record.offset for record in records_of(again)]
            assert offsets == sorted(set(offsets)), context
            assert again.log_end_offset == len(keys)
            assert not [n for n in disk.list_dir(DIR) if n.endswith((".cleaned", ".swap", ".deleted"))]
            settle(again)
            compact(again, disk)
            assert {letter(record): record.offset for record in records_of(again)} == last


def test_a_crash_while_a_swap_is_completed_is_completed_by_the_next_start() -> None:
    keys = "abacabaacabc"
    last = {key: keys.rindex(key) for key in keys}
    for at in range(4, 40):
        disk = new_disk()
        log = log_of(keys, disk=disk)
        log.update_config(replace(COMPACT, segment_bytes=1 << 20))
        candidate, result = clean(log, disk)
        replaced = still_replaced_by(candidate, result.cleaned[0])
        assert replaced is not None
        disk.crash_at(disk.operations + 6, "before")  # the swap files are there, and one old one is not
        with pytest.raises(SimulatedCrash):
            log.replace_segments(replaced, 0, has_txn_index=False, now_ms=NOW)
        disk = disk.restart(random.Random(at), power_loss=False)
        disk.crash_at(disk.operations + at - 4, "after")
        try:
            open_log(disk, COMPACT, recovery_point=10)
        except SimulatedCrash:
            disk = disk.restart(random.Random(at), power_loss=at % 2 == 0)
        else:
            disk.cancel_crash()
        again = open_log(disk, COMPACT, recovery_point=10)
        assert {letter(record): record.offset for record in records_of(again)} == last


def test_the_aborted_transactions_of_a_replaced_segment_are_still_known_after_a_crash() -> None:
    disk = new_disk()
    log = open_log(disk, replace(COMPACT, segment_bytes=1 << 20))
    transact(log, sent(7, 0, transactional=True))
    transact(log, marker(7, committed=False))
    log.roll(NOW)
    append(log)
    settle(log)
    for point in range(9):
        twin = disk.restart(random.Random(1), power_loss=False)
        opened = open_log(twin, COMPACT, recovery_point=3)
        settle(opened)
        assert opened.aborted_transactions(0, 2) == [(7, 0)]
        twin.crash_at(twin.operations + 12 + point, "before")
        with pytest.raises(SimulatedCrash):
            compact(opened, twin)
        twin = twin.restart(random.Random(1), power_loss=False)
        assert open_log(twin, COMPACT, recovery_point=3).aborted_transactions(0, 2) == [(7, 0)], point


def test_damage_is_told_with_its_offset() -> None:
    """The stand-in keeps the contract that the cleaner has."""
    disk = new_disk()
    log = log_of("aaaaaaa", disk=disk)
    data = bytearray(disk.read_file(log_path(2)))
    data[-1] ^= 1
    overwrite(disk, log_path(2), bytes(data))
    with pytest.raises(CleaningFailed) as failed:
        clean(log, disk)
    assert failed.value.corrupt_offset == 3
