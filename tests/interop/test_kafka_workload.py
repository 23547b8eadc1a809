"""Transactions, sends and polls of real clients under faults: the small sister of `make txn-chaos`. What is
checked, and what exactly it means, is in `chaos/kafka_workload/checker.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from chaos.kafka_workload.session import Session

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

PLAN = ["cut", "lose_reply", "kill", "reconfigure", "keep_back", "fence", "restart", "delay", "kill"]


def test_nothing_committed_is_lost_and_nothing_aborted_is_seen_while_the_broker_is_disturbed(
    tmp_path: Path,
) -> None:
    """No anomaly of Jepsen's Kafka workload: lost, doubled, misplaced, aborted, reordered or skipped
    records.
    """
    outcome = Session("ottla", 1, tmp_path, print).run(0, is_small=True, plan=PLAN)
    print(outcome.summary())
    assert not outcome.problems(), "\n".join(outcome.problems()[:20])
    report = outcome.report
    assert report.keys_decided == {"committed": 8, "uncommitted": 8}
    assert report.transactions["ok"] > 0 and report.transactions["fail"] > 0
    assert report.values_acknowledged > 0 and report.records_polled > report.values_acknowledged
    assert report.fetches_followed > 0
    assert outcome.faults["kill"] == 2 and outcome.faults["connections cut"] > 0
