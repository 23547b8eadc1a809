"""Recovery after a crash: torn tails, nonsense, bad CRCs, lost files; indexes that are missing or damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_bench import (
    DIR,
    NOW,
    append,
    batch,
    log_path,
    offsets,
    open_log,
    overwrite,
    read_all,
    read_from,
    sent,
)

from ottla.log.log import Log
from ottla.model.log_config import LogConfig
from ottla.model.types import TopicPartition
from ottla.net.disk import OsDisk
from ottla.testing.disk import VirtualDisk

SIZE = len(batch())
CONFIG = LogConfig(segment_bytes=4 * SIZE, index_interval_bytes=1)


def crashed_log(count: int, config: LogConfig = CONFIG) -> VirtualDisk:
    """The disk of a log that was not closed: offsets 0 … count - 1, each a batch of its own."""
    disk = VirtualDisk()
    log = open_log(disk, config)
    for number in range(count):
        append(log, batch(timestamp=NOW + number), epoch=number // 3)
    return disk


def check(log: Log, count: int) -> None:
    """The log holds offsets 0 … count - 1, finds each of them, and goes on."""
    assert log.log_end_offset == count
    assert offsets(read_all(log)) == [(n, n) for n in range(count)]
    for offset in range(count):
        assert read_from(log, offset)[0].base_offset == offset
        assert log.offset_for_timestamp(NOW + offset) == (offset, NOW + offset, offset // 3)
    assert log.epochs.entries() == [(epoch, 3 * epoch) for epoch in range((count + 2) // 3)]
    assert append(log, epoch=99).first_offset == count
    assert offsets(read_from(log, count)) == [(count, count)]


def test_a_torn_tail_is_cut_at_the_last_whole_batch() -> None:
    whole = crashed_log(3).read_file(log_path(0))
    for length in range(len(whole) + 1):
        disk = crashed_log(3)
        overwrite(disk, log_path(0), whole[:length])
        log = open_log(disk, CONFIG)
        kept = length // SIZE
        assert log.active_segment.size == kept * SIZE
        check(log, kept)


def test_what_recovery_cuts_off_is_told(caplog: pytest.LogCaptureFixture) -> None:
    open_log(crashed_log(3), CONFIG)
    assert not caplog.records
    disk = crashed_log(3)
    disk.open(log_path(0)).append((b"x" * 17,))
    open_log(disk, CONFIG)
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "cut off 17 bytes" in record.getMessage() and "ends at offset 3" in record.getMessage()


def test_every_flipped_bit_of_the_tail_is_found_or_outside_of_the_crc() -> None:
    whole = crashed_log(3).read_file(log_path(0))
    for at in range(SIZE, 2 * SIZE):
        if SIZE + 12 <= at < SIZE + 16:
            continue  # the leader epoch: only its order protects it
        disk = crashed_log(3)
        damaged = bytearray(whole)
        damaged[at] ^= 1 << at % 8
        overwrite(disk, log_path(0), bytes(damaged))
        check(open_log(disk, CONFIG), 1)


@pytest.mark.parametrize(
    ("epochs", "kept"),
    [
        ((0, 0, 8, 0, 0), 2),  # the one that is alone with its epoch is wrong,
        ((0, 5, 5, 1, 5), 3),  # or the one that goes back behind two others,
        ((-(2**31), 0, 0, 0), 0),
        ((7, 2, 2), 0),
        ((0, 0, 1, 1, 2), 5),
        ((0, 3, 7), 3),
    ],
)
def test_a_leader_epoch_that_is_out_of_order_ends_the_log(epochs: tuple[int, ...], kept: int) -> None:
    """The CRC does not cover it. With it, a replica could part from its leader without a trace."""
    disk = VirtualDisk()
    log = open_log(disk)
    for _ in epochs:
        append(log)
    data = bytearray(disk.read_file(log_path(0)))
    for number, epoch in enumerate(epochs):
        data[number * SIZE + 12 : number * SIZE + 16] = epoch.to_bytes(4, "big", signed=True)
    overwrite(disk, log_path(0), bytes(data))
    again = open_log(disk)
    assert again.log_end_offset == kept
    assert again.latest_epoch == max(epochs[:kept], default=-1)


@pytest.mark.parametrize("nonsense", [bytes(500), b"\xff" * 500, bytes(range(256)) * 2, b"x"])
def test_a_nonsense_block_after_the_batches_is_cut_off(nonsense: bytes) -> None:
    disk = crashed_log(3)
    disk.open(log_path(0)).append((nonsense,))
    check(open_log(disk, CONFIG), 3)


def test_a_length_that_reaches_beyond_the_file_allocates_nothing_and_is_cut_off() -> None:
    disk = crashed_log(3)
    data = bytearray(disk.read_file(log_path(0)))
    data[2 * SIZE + 8 : 2 * SIZE + 12] = (2**31 - 1).to_bytes(4, "big")
    overwrite(disk, log_path(0), bytes(data))
    check(open_log(disk, CONFIG), 2)


def test_after_a_bad_batch_later_segments_are_dropped() -> None:
    disk = crashed_log(11)
    data = bytearray(disk.read_file(log_path(4)))
    data[SIZE + 30] ^= 1
    overwrite(disk, log_path(4), bytes(data))
    log = open_log(disk, CONFIG)
    assert [segment.base_offset for segment in log.segments] == [0, 4]
    assert {file.path for file, _ in log.take_deleted_files()} >= {log_path(8, ".log.deleted")}
    check(log, 5)


def test_a_segment_that_lost_its_tail_at_a_batch_boundary_leaves_no_hole() -> None:
    disk = crashed_log(11)
    disk.open(log_path(4)).truncate(SIZE)
    check(open_log(disk, CONFIG), 5)


def test_a_compacted_log_may_have_holes_between_segments() -> None:
    config = LogConfig(segment_bytes=4 * SIZE, cleanup_policy=frozenset({"compact"}))
    disk = crashed_log(11, config)
    disk.open(log_path(4)).truncate(SIZE)
    log = open_log(disk, config)
    assert log.log_end_offset == 11
    assert [first for first, _ in offsets(read_all(log))] == [0, 1, 2, 3, 4, 8, 9, 10]


def test_only_what_lies_past_the_recovery_point_is_checked() -> None:
    disk = crashed_log(11)
    data = bytearray(disk.read_file(log_path(0)))
    data[30] ^= 1
    overwrite(disk, log_path(0), bytes(data))
    assert open_log(disk, CONFIG, recovery_point=4).log_end_offset == 11
    assert open_log(disk, CONFIG, recovery_point=3).log_end_offset == 11, "the bad batch is below it"
    assert open_log(disk, CONFIG, recovery_point=0).log_end_offset == 0


def test_a_clean_shutdown_skips_the_scan() -> None:
    disk = VirtualDisk()
    log = open_log(disk, CONFIG)
    for number in range(11):
        append(log, batch(timestamp=NOW + number), epoch=number // 3)
    log.close(NOW)
    for base_offset in (0, 4):
        data = bytearray(disk.read_file(log_path(base_offset)))
        data[30] ^= 1
        overwrite(disk, log_path(base_offset), bytes(data))
    again = open_log(disk, CONFIG, clean_shutdown=True)
    assert (again.log_end_offset, again.recovery_point) == (11, 11)


def test_a_torn_tail_is_cut_even_if_the_shutdown_is_called_clean() -> None:
    disk = VirtualDisk()
    log = open_log(disk, CONFIG)
    for number in range(6):
        append(log, batch(timestamp=NOW + number), epoch=number // 3)
    log.close(NOW)
    disk.open(log_path(4)).truncate(SIZE + 7)
    check(open_log(disk, CONFIG, clean_shutdown=True), 5)


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
@pytest.mark.parametrize("base_offset", [0, 4, 8])
@pytest.mark.parametrize("damage", ["missing", "odd", "zeros", "ones", "flipped", "short", "empty"])
@pytest.mark.parametrize("clean", [True, False])
def test_a_missing_or_damaged_index_is_made_again(
    suffix: str, base_offset: int, damage: str, clean: bool
) -> None:
    disk = VirtualDisk()
    log = open_log(disk, CONFIG)
    for number in range(11):
        append(log, batch(timestamp=NOW + number), epoch=number // 3)
    log.close(NOW)
    path = log_path(base_offset, suffix)
    good = disk.read_file(path)
    entry = 8 if suffix == ".index" else 12
    if damage == "missing":
        disk.remove(path)
    else:
        overwrite(
            disk,
            path,
            {
                "odd": good + b"x",
                "zeros": bytes(len(good)),
                "ones": b"\xff" * len(good),
                "flipped": bytes(byte ^ 0x04 for byte in good),
                "short": good[:entry],
                "empty": b"",
            }[damage],
        )
    again = open_log(disk, CONFIG, clean_shutdown=clean)
    assert offsets(read_all(again)) == [(n, n) for n in range(11)]
    for offset in range(11):
        assert read_from(again, offset)[0].base_offset == offset
    if suffix == ".index" or not clean or damage in ("missing", "odd"):
        # A time index with plausible entries that lie is believed after a clean shutdown, as by Kafka.
        for offset in range(11):
            assert again.offset_for_timestamp(NOW + offset) == (offset, NOW + offset, offset // 3)
    assert append(again, epoch=99).first_offset == 11


def test_orphaned_indexes_and_temporary_files_are_removed() -> None:
    disk = crashed_log(3)
    for name in (
        "00000000000000000777.index",
        "00000000000000000000.log.deleted",
        "leader-epoch-checkpoint.tmp",
    ):
        overwrite(disk, f"{DIR}/{name}", b"x")
    overwrite(disk, f"{DIR}/00000000000000000000.log.cleaned", b"x")
    check(open_log(disk, CONFIG), 3)
    assert not [name for name in disk.list_dir(DIR) if name.endswith((".tmp", ".cleaned", ".deleted"))]
    assert not disk.exists(log_path(777, ".index"))


def test_a_swap_that_compaction_had_begun_is_finished() -> None:
    config = LogConfig(segment_bytes=4 * SIZE, cleanup_policy=frozenset({"compact"}))
    disk = crashed_log(11, config)
    kept = disk.read_file(log_path(0))[SIZE : 2 * SIZE] + disk.read_file(log_path(4))[3 * SIZE :]
    overwrite(disk, log_path(0, ".log.swap"), kept)
    log = open_log(disk, config)
    assert [first for first, _ in offsets(read_all(log))] == [1, 7, 8, 9, 10]
    assert [segment.base_offset for segment in log.segments] == [0, 8]
    assert not disk.exists(log_path(0, ".log.swap"))


def test_a_swap_beside_cleaned_files_is_thrown_away() -> None:
    disk = crashed_log(6)
    overwrite(disk, log_path(4, ".log.swap"), b"half")
    overwrite(disk, log_path(0, ".log.cleaned"), b"half")
    check(open_log(disk, CONFIG), 6)


def test_when_files_are_missing_below_the_log_start_the_log_begins_there() -> None:
    disk = crashed_log(6)
    log = open_log(disk, CONFIG, log_start_offset=40)
    assert (log.log_start_offset, log.log_end_offset) == (40, 40)
    assert append(log).first_offset == 40


def test_a_missing_recovery_point_means_that_everything_is_checked() -> None:
    disk = crashed_log(11)
    check(open_log(disk, CONFIG), 11)


def test_a_recovery_point_above_the_end_is_brought_down() -> None:
    disk = crashed_log(6)
    log = open_log(disk, CONFIG, recovery_point=500)
    assert log.recovery_point == 6


def test_a_damaged_topic_id_is_replaced_and_a_good_one_kept() -> None:
    disk = VirtualDisk()
    first, second = bytes(range(16)), bytes(range(16, 32))
    assert open_log(disk, topic_id=first).topic_id == first
    assert open_log(disk, topic_id=second).topic_id == first
    assert open_log(disk).topic_id == first
    overwrite(disk, f"{DIR}/partition.metadata", b"version: 0\ntopic_")
    assert open_log(disk).topic_id is None
    assert open_log(disk, topic_id=second).topic_id == second
    assert open_log(disk).topic_id == second


def test_the_state_of_producers_is_that_of_the_batches_that_survived() -> None:
    disk = VirtualDisk()
    size = len(sent(1, 0))
    config = LogConfig(segment_bytes=4 * size)
    log = open_log(disk, config)
    for sequence in range(11):
        append(log, sent(1, sequence))
    disk.open(log_path(8)).truncate(2 * size - 1)
    again = open_log(disk, config, recovery_point=4)
    entry = again.producers.get(1)
    assert entry is not None and (entry.last_sequence, entry.last_offset) == (8, 8)
    assert append(again, sent(1, 8)).is_duplicate
    assert append(again, sent(1, 9)).first_offset == 9


def test_the_same_on_the_real_disk(tmp_path: Path) -> None:
    disk = OsDisk(open_files_max=4)
    tp = TopicPartition("events", 0)
    path = str(tmp_path / "events-0")
    config = LogConfig(segment_bytes=2000, index_interval_bytes=100)
    log = Log.open(disk, path, tp, config, now_ms=NOW, clean_shutdown=False, topic_id=bytes(range(16)))
    for number in range(100):
        append(log, sent(1, number, value=b"v" * 50))
    assert disk.open_count <= 4
    assert offsets(read_all(log, max_bytes=300)) == [(n, n) for n in range(100)]
    log.flush(NOW)
    with open(log.active_segment.file.path, "ab") as file:
        file.write(b"torn")
    again = Log.open(disk, path, tp, config, now_ms=NOW, clean_shutdown=False)
    assert (again.log_end_offset, again.topic_id) == (100, bytes(range(16)))
    assert append(again, sent(1, 99, value=b"v" * 50)).is_duplicate
    again.close(NOW)
    last = Log.open(disk, path, tp, config, now_ms=NOW, clean_shutdown=True)
    assert offsets(read_all(last)) == [(n, n) for n in range(100)]
    last.delete_files()
    assert not (tmp_path / "events-0").exists()


def test_an_open_transaction_whose_first_segment_was_deleted_is_known_after_a_crash() -> None:
    """What retention deleted is in the snapshot where the first segment that is left begins."""
    disk = VirtualDisk()
    log = open_log(disk, CONFIG)
    append(log, sent(7, 0, transactional=True))
    log.roll(NOW)
    append(log, sent(7, 1, transactional=True))
    log.update_high_watermark(log.log_end_offset)
    log.advance_log_start(1)
    assert log.apply_retention(NOW) == 1
    again = open_log(disk, CONFIG, log_start_offset=1)
    assert again.segments[0].base_offset == 1
    assert again.producers.has_open_transaction(7)
    assert again.producers.first_undecided_offset == 0
    assert append(again, sent(7, 2, transactional=True)).first_offset == 2
