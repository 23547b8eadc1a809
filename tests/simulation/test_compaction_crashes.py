"""Compacted logs through several lives: written, read and compacted at once, with crashes at every step.

The last committed value of each key survives, no offset moves, readers end with the right state, a producer's
last sequence is known; whatever the crash fell into.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from ottla.broker import cleaner
from ottla.log import recovery, swap
from ottla.log.file_names import SWAP_SUFFIX
from ottla.log.log import Log
from ottla.testing.compaction_run import CompactionRun

FRESH_SEED = random.SystemRandom().getrandbits(32)


@pytest.mark.timeout(600)
def test_compaction_loses_no_last_value_whatever_happens() -> None:
    total: Counter[str] = Counter()
    for seed in (*range(1, 16), FRESH_SEED):
        total += CompactionRun(seed).run()
    for what in (
        "crashes",
        "crashes_in_swaps",
        "swaps_completed",
        "clean_shutdowns",
        "kills",
        "power_losses",
        "logs_cleaned",
        "logs_checked",
        "readers",
        "truncations",
        "deletions",
        "full_disks",
        "commits",
        "aborts",
    ):
        assert total[what] > 0, f"no run had any {what}: {dict(total)}"


# --- the checker can fail


def finds_a_bug(likely_seed: int = 1) -> str:
    """likely_seed: one that found the bug before, and is tried first."""
    for seed in (likely_seed, *range(1, 40)):
        try:
            CompactionRun(seed).run()
        except AssertionError as error:
            found = str(error)
            assert f"--seed {seed}" in found, "a failure has to say how to repeat it"
            return found
    pytest.fail("no seed found the planted bug")


@pytest.mark.timeout(600)
def test_old_segments_that_go_before_the_new_ones_have_their_names_are_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = swap.swap_in

    def wrong(disk, dir_path, base_offset, *, take_out, **options):  # type: ignore[no-untyped-def]
        take_out()
        return right(disk, dir_path, base_offset, take_out=lambda: None, **options)

    monkeypatch.setattr("ottla.log.log.swap_in", wrong)
    finds_a_bug(likely_seed=5)


@pytest.mark.timeout(600)
def test_a_start_that_throws_a_begun_swap_away_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    right = recovery._finish_interrupted_work

    def wrong(disk, dir_path, names):  # type: ignore[no-untyped-def]
        for name in names:
            if name.endswith(SWAP_SUFFIX):
                disk.remove(f"{dir_path}/{name}")
        return right(disk, dir_path, [name for name in names if not name.endswith(SWAP_SUFFIX)])

    monkeypatch.setattr(recovery, "_finish_interrupted_work", wrong)
    finds_a_bug(likely_seed=15)


@pytest.mark.timeout(600)
def test_markers_that_are_not_durable_before_what_they_decide_is_cleaned_are_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nothing(self, log: Log, turn):  # type: ignore[no-untyped-def]
        return
        yield

    monkeypatch.setattr(cleaner.LogCleaner, "_make_markers_durable", nothing)
    finds_a_bug(likely_seed=14)
