"""The metadata quorum in virtual time: elections, replication, snapshots and voters under faults.

`python -c "from ottla.testing.raft_run import run_seeds; print(run_seeds(range(10_000)))"` runs on.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import pytest

from ottla.testing.raft_run import BUGS, PLANS, RIVALRY, RaftPlan, RaftRun, Violation, run_seed

SEEDS = 100
SEEDS_FOR_A_BUG = 60


def test_raft_holds_its_promises_under_every_fault() -> None:
    total: Counter[str] = Counter()
    for seed in range(SEEDS):
        total += run_seed(seed).stats
    # Idle virtual hours would prove nothing.
    assert total["epochs with a leader"] > 3 * SEEDS
    assert total["committed"] > 20 * SEEDS
    for what in (
        *("crashes", "cuts", "messages lost", "messages doubled", "truncations", "resignations"),
        *("snapshots taken", "snapshots installed", "entries lost in crashes", "elections forced"),
        *("voter change: ok", "disks wiped"),
    ):
        assert total[what] > 0, what


@pytest.mark.parametrize("bug", sorted(BUGS))
def test_a_planted_mistake_is_found(bug: str) -> None:
    plans = [PLANS[RIVALRY]] if "vote" in bug and "log" not in bug else PLANS
    for seed in range(SEEDS_FOR_A_BUG):
        with suppress(Violation):
            RaftRun(seed, plans[seed % len(plans)], bug).run()
            continue
        return
    pytest.fail(f"{SEEDS_FOR_A_BUG} seeds, and nobody noticed: {bug}")


def test_one_seed_is_one_run() -> None:
    assert run_seed(3).stats == run_seed(3).stats


@pytest.mark.parametrize("voters", [1, 3, 5])
def test_without_faults_one_leader_commits_everything_in_one_epoch(voters: int) -> None:
    plan = RaftPlan(voters=voters, observers=1, loss=0, doubling=0, disturbance_ms=1e9)
    stats = RaftRun(1, plan).run().stats
    assert stats["epochs with a leader"] == 1
    assert stats["committed"] > stats["proposed"]
    assert not stats["truncations"]
