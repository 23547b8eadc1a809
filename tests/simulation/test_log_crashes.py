"""A log on a disk that loses what was not synced: crashes at every operation, and what must hold after each.

Promise 2 of the design: nothing acknowledged is lost. For one log: what a finished flush covered is there
byte for byte after any crash, nothing is there that was not appended, offsets are dense, and producers,
epochs and indexes say what the batches say. Each failure names its seed and the command that repeats it.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from ottla.log.flush import FlushTicket
from ottla.log.log import Log
from ottla.testing.log_run import LogRun

SEEDS = range(1, 12)
FRESH_SEED = random.SystemRandom().getrandbits(32)
"""One seed that nobody has tried, in every run of the suite; a failure prints it."""


@pytest.mark.parametrize("seed", SEEDS)
def test_a_crash_at_any_operation_keeps_what_was_flushed_and_makes_up_nothing(seed: int) -> None:
    report = LogRun(seed, steps=40, images_per_point=0.35).run()
    assert report["crashes_tried"] > 20 and report["appends"] > 10


def test_a_crash_at_any_operation_of_a_seed_that_nobody_tried() -> None:
    LogRun(FRESH_SEED, steps=40, images_per_point=0.35).run()


def test_the_runs_exercise_what_they_are_meant_to() -> None:
    """Idle runs prove nothing, so the things that matter have to have happened in some of them."""
    total: Counter[str] = Counter()
    for seed in (11, 12, 13, 14):
        total += LogRun(seed, steps=60, images_per_point=0.15).run()
    for what in (
        "torn_writes",
        "sector_losses",
        "zero_tails",
        "bits_flipped",
        "name_changes_lost",
        "records_lost_unflushed",
        "crashes_in_recovery",
        "flushes",
        "flushes_overlapped",
        "truncations",
        "rolls",
        "segments_retired",
        "deleted_records",
        "clean_restarts",
        "kills",
        "duplicates_answered",
        "gaps_refused",
        "checkpoints",
    ):
        assert total[what] > 0, f"no run had any {what}: {dict(total)}"


# --- the checker can fail: a log with a planted bug is found out


def finds_a_bug(log_class: type[Log], *symptoms: str) -> None:
    for seed in range(1, 30):
        found = failure_of(LogRun(seed, steps=40, images_per_point=0.5, log_class=log_class))
        if found is not None:
            assert any(symptom in found for symptom in symptoms), found
            assert f"--seed {seed}" in found, "a failure has to say how to repeat it"
            return
    pytest.fail("no seed found the planted bug")


def failure_of(run: LogRun) -> str | None:
    try:
        run.run()
    except AssertionError as error:
        return str(error)
    return None


def test_a_flush_that_does_not_sync_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(self: FlushTicket) -> None:
        self.done = True

    monkeypatch.setattr(FlushTicket, "run", run)
    finds_a_bug(Log, "was flushed", "after a restart")


class RecoveryPointBeforeTheSync(Log):
    """Reports its records as durable as soon as the flush begins."""

    __slots__ = ()

    def begin_flush(self, *, rolled_only: bool = False) -> FlushTicket | None:
        ticket = super().begin_flush(rolled_only=rolled_only)
        if ticket is not None:
            self.recovery_point = ticket.upto_offset
        return ticket


def test_a_recovery_point_that_runs_ahead_of_the_sync_is_found_out() -> None:
    """The run asserts the recovery point at the moment of each crash, so moving it early shows."""
    finds_a_bug(RecoveryPointBeforeTheSync, "was flushed")


class TrustsTheCheckpoint(Log):
    """Takes every start for a clean one, and so scans nothing."""

    __slots__ = ()

    @classmethod
    def open(cls, *arguments, **keywords):  # type: ignore[no-untyped-def]
        return super().open(*arguments, **{**keywords, "clean_shutdown": True})


def test_a_recovery_that_trusts_an_unclean_shutdown_is_found_out() -> None:
    finds_a_bug(TrustsTheCheckpoint, "")


class ForgetsProducers(Log):
    """Comes back from a restart without its producers."""

    __slots__ = ()

    @classmethod
    def open(cls, *arguments, **keywords):  # type: ignore[no-untyped-def]
        log = super().open(*arguments, **keywords)
        log.producers.clear(log.log_end_offset)
        return log


def test_a_recovery_that_forgets_producers_is_found_out() -> None:
    finds_a_bug(ForgetsProducers, "is forgotten")
