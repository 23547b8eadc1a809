"""The log manager through several lives: crashes in appends, in the background and in recovery itself.

What the logs called durable at the moment of a crash is there at the next start, in whichever directory it
was; a clean shutdown loses nothing even when the power fails right after it.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from ottla.log import log_dir
from ottla.log.checkpoints import RECOVERY_POINT_CHECKPOINT
from ottla.log.log import Log
from ottla.testing.manager_run import ManagerRun

FRESH_SEED = random.SystemRandom().getrandbits(32)


def test_logs_survive_crashes_as_far_as_they_were_durable() -> None:
    total: Counter[str] = Counter()
    for seed in (*range(1, 29), FRESH_SEED):
        total += ManagerRun(seed).run()
    for what in (
        "crashes",
        "clean_shutdowns",
        "kills",
        "power_losses",
        "deletions",
        "truncations",
        "torn_writes",
        "name_changes_lost",
        "logs_checked",
    ):
        assert total[what] > 0, f"no run had any {what}: {dict(total)}"


# --- the checker can fail


def finds_a_bug() -> str:
    for seed in range(1, 60):
        found = failure_of(ManagerRun(seed))
        if found is not None:
            assert f"--seed {seed}" in found, "a failure has to say how to repeat it"
            return found
    pytest.fail("no seed found the planted bug")


def failure_of(run: ManagerRun) -> str | None:
    try:
        run.run()
    except AssertionError as error:
        return str(error)
    return None


def test_a_recovery_point_checkpoint_ahead_of_the_sync_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recovery believes what lies below the checkpoint and does not look at its CRCs."""
    right = log_dir.offset_of

    def ahead(log: Log, name: str) -> int | None:
        return log.log_end_offset if name == RECOVERY_POINT_CHECKPOINT else right(log, name)

    monkeypatch.setattr(log_dir, "offset_of", ahead)
    finds_a_bug()


def test_a_clean_shutdown_that_flushes_nothing_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Log, "close", lambda self, now_ms: self.release_files())
    finds_a_bug()
