"""The history of leader epochs (KIP-101, KIP-279)."""

from __future__ import annotations

import pytest
from log_bench import DIR, NOW, append, open_log, overwrite

from ottla.log.leader_epochs import LeaderEpochCache
from ottla.testing.disk import VirtualDisk


def cache_of(*entries: tuple[int, int]) -> LeaderEpochCache:
    cache = LeaderEpochCache()
    for epoch, start in entries:
        cache.assign(epoch, start)
    return cache


def test_an_epoch_is_noted_once_with_its_first_offset() -> None:
    assert cache_of((1, 0), (1, 5), (3, 9), (3, 12)).entries() == [(1, 0), (3, 9)]


def test_what_contradicts_a_new_entry_goes() -> None:
    assert cache_of((1, 0), (3, 9), (5, 20), (4, 15)).entries() == [(1, 0), (3, 9), (4, 15)]
    assert cache_of((1, 0), (3, 9), (5, 20), (6, 9)).entries() == [(1, 0), (6, 9)]
    assert cache_of((1, 4), (1, 2)).entries() == [(1, 2)]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (-1, (-1, -1)),
        (0, (0, 10)),
        (1, (1, 20)),
        (2, (1, 20)),
        (4, (4, 30)),
        (6, (4, 30)),
        (7, (7, 35)),
        (8, (-1, -1)),
    ],
)
def test_the_end_of_an_epoch_is_the_start_of_the_next_known_one(asked: int, answer: tuple[int, int]) -> None:
    assert cache_of((1, 10), (4, 20), (7, 30)).end_offset_for(asked, 35) == answer


def test_without_any_epoch_nothing_can_be_said() -> None:
    assert LeaderEpochCache().end_offset_for(3, 10) == (-1, -1)
    assert LeaderEpochCache().epoch_for_offset(3) == -1


def test_the_epoch_of_an_offset() -> None:
    cache = cache_of((1, 10), (4, 20))
    assert [cache.epoch_for_offset(offset) for offset in (9, 10, 19, 20, 99)] == [-1, 1, 1, 4, 4]


def test_truncation_from_both_ends() -> None:
    cache = cache_of((1, 10), (4, 20), (7, 30))
    cache.truncate_from_end(30)
    assert cache.entries() == [(1, 10), (4, 20)]
    cache.truncate_from_end(21)
    assert cache.entries() == [(1, 10), (4, 20)]
    cache.truncate_from_start(5)
    assert cache.entries() == [(1, 10), (4, 20)]
    cache.truncate_from_start(15)
    assert cache.entries() == [(1, 15), (4, 20)]
    cache.truncate_from_start(20)
    assert cache.entries() == [(4, 20)]
    cache.truncate_from_start(50)
    assert cache.entries() == [(4, 50)]
    cache.clear()
    assert cache.entries() == []


def test_the_file_is_kafkas_text_and_is_read_back() -> None:
    cache = cache_of((1, 10), (4, 20))
    assert cache.to_text() == "0\n2\n1 10\n4 20\n"
    again = LeaderEpochCache.from_text(cache.to_text())
    assert again.entries() == cache.entries()
    assert not again.dirty


@pytest.mark.parametrize(
    "text", ["", "0", "1\n0\n", "0\nx\n", "0\n2\n1 10\n", "0\n1\n1 10\n2 20\n", "0\n1\n1\n", "0\n1\n-1 4\n"]
)
def test_a_damaged_file_is_recognised(text: str) -> None:
    with pytest.raises(ValueError):
        LeaderEpochCache.from_text(text)


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("damage", ["nothing", "missing", "nonsense"])
def test_a_log_reads_its_epochs_again_from_the_batches_if_need_be(clean: bool, damage: str) -> None:
    disk = VirtualDisk()
    log = open_log(disk)
    for epoch in (1, 1, 4, 4, 9):
        append(log, epoch=epoch)
    log.close(NOW)
    path = f"{DIR}/leader-epoch-checkpoint"
    if damage == "missing":
        disk.remove(path)
    elif damage == "nonsense":
        overwrite(disk, path, b"0\n7\nwhat")
    again = open_log(disk, clean_shutdown=clean)
    assert again.epochs.entries() == [(1, 0), (4, 2), (9, 4)]
    assert again.end_offset_for_epoch(6) == (4, 4)
    assert again.end_offset_for_epoch(9) == (9, 5)


def test_a_leader_notes_its_epoch_before_it_writes_and_a_truncation_takes_it_back() -> None:
    log = open_log()
    append(log, epoch=1)
    log.assign_epoch(3, 1)
    assert log.latest_epoch == 3
    assert log.end_offset_for_epoch(2) == (1, 1)
    assert not log.truncate_to(1), "there is no record to remove"
    assert log.latest_epoch == 1


def test_deleted_records_take_their_epochs_along() -> None:
    log = open_log()
    for epoch in (1, 2, 3):
        append(log, epoch=epoch)
    log.update_high_watermark(3)
    log.advance_log_start(1)
    assert log.epochs.entries() == [(2, 1), (3, 2)]
