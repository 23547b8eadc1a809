"""Consume-transform-produce stays exactly once while instances, loaders, followers and the broker are killed
with -9: the small sisters of `make exactly-once`. What is checked, and what exactly it means, is in
`chaos/exactly_once/checker.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from chaos.exactly_once.children import JAVA
from chaos.exactly_once.driver import Run
from chaos.exactly_once.scenarios import KILL_APP, KILL_BROKER, SHORT, Scenario
from chaos.exactly_once.systems import settings
from support.broker_process import BrokerFactory

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]


@pytest.mark.parametrize("scenario", SHORT, ids=lambda scenario: scenario.name)
def test_the_output_equals_the_input_exactly_once_while_everybody_is_killed(
    scenario: Scenario, start_broker: BrokerFactory, tmp_path: Path
) -> None:
    """KIP-98, KIP-447 (offsets of the group in the transaction) and, with Kafka's Java client, KIP-890."""
    broker = start_broker(settings=settings(scenario.session_ms))
    outcome = Run(broker, scenario, 1, tmp_path / "processes", say=print).run()
    print(outcome.table())
    assert not outcome.problems(), "\n".join(outcome.problems()[:20])
    assert outcome.done[KILL_APP] >= 1 and outcome.done[KILL_BROKER] >= 1
    assert outcome.report.committed > 0 and outcome.report.aborted_on_purpose > 0
    generation = "commits_of_kip_890" if scenario.seats[0].kind == JAVA else "commits_of_old_generation"
    assert getattr(outcome.facts, generation) > 0, outcome.facts
    log = broker.log_since(0)
    assert "Traceback" not in log, log[-6000:]
