"""Groups of real clients lose members and brokers, and every record is delivered: the small sisters of
`make groups-chaos`. What is checked, and what exactly it means, is in `chaos/groups/checker.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from chaos.groups.driver import Run, Scenario, broker_settings
from chaos.groups.scenarios import SHORT
from support.broker_process import BrokerFactory

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]


@pytest.mark.parametrize("scenario", SHORT, ids=lambda scenario: scenario.name)
def test_every_record_is_delivered_while_members_and_broker_come_and_go(
    scenario: Scenario, start_broker: BrokerFactory, tmp_path: Path
) -> None:
    """Nothing skipped, one owner at a time, redelivery only from the last commit, commits never go back."""
    broker = start_broker(settings=broker_settings(scenario.session_ms))
    outcome = Run(broker, scenario, 1, tmp_path / "members", say=print).run()
    print(outcome.summary())
    assert not outcome.problems(), "\n".join(outcome.problems()[:20])
    assert outcome.produced > 0 and outcome.report.commits > 0 and outcome.report.samples > 0
    log = broker.log_since(0)
    assert "Traceback" not in log, log[-6000:]
