"""Around every misbehaviour: a bystander that must not notice, memory that must not grow, a log that must
not flood.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from lying_broker import LyingBroker, truth

from support.broker_process import BrokerProcess
from support.bystander import Bystander
from support.raw_client import RawClient
from support.undisturbed import Undisturbed
from support.waiting import wait_until

BYSTANDER_TOPIC = "bystander"


@pytest.fixture(scope="module")
def bystander_topic(shared_broker: BrokerProcess) -> str:
    with RawClient(shared_broker.port) as client:
        client.create_topic(BYSTANDER_TOPIC)
    return BYSTANDER_TOPIC


@pytest.fixture
def undisturbed(shared_broker: BrokerProcess, bystander_topic: str) -> Undisturbed:
    """`with undisturbed():` around something hostile. Afterwards the broker holds no more memory than
    before, within bounds, never held more than `peak_mb` on the way, and said no more than `lines` in its
    log.
    """

    @contextmanager
    def watch(
        *,
        grown_mb: float = 24,
        peak_mb: float = 64,
        lines: int | None = 1,
        worst_ms: float = 2_000,
        median_ms: float = 100,
    ) -> Iterator[Bystander]:
        mark = shared_broker.log_mark()
        shared_broker.forget_peak()
        before_kb = shared_broker.memory_kb()
        with Bystander(shared_broker, bystander_topic, worst_ms=worst_ms, median_ms=median_ms) as bystander:
            yield bystander
        peak_kb = shared_broker.memory_kb("VmHWM") - before_kb
        assert peak_kb < peak_mb * 1024, f"{peak_kb} KB more at the worst moment"
        wait_until(
            lambda: shared_broker.memory_kb() - before_kb < grown_mb * 1024,
            f"the memory to be back within {grown_mb} MB of before",
        )
        said = [line for line in shared_broker.log_lines_since(mark) if "event loop was late" not in line]
        assert not any("Traceback" in line for line in said), "\n".join(said)
        if lines is not None:
            assert len(said) <= lines, "\n".join(said)

    return watch


@pytest.fixture(scope="module")
def liar_of_module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LyingBroker]:
    liar = LyingBroker()
    broker = BrokerProcess(
        tmp_path_factory.mktemp("liar") / "data", settings={"group.initial.rebalance.delay.ms": "0"}
    )
    try:
        yield liar.put_before(broker)
    finally:
        liar.close()
        broker.kill()


@pytest.fixture
def liar(liar_of_module: LyingBroker) -> Iterator[LyingBroker]:
    """A broker behind a proxy that may change its answers; one for a module, honest at first."""
    yield liar_of_module
    liar_of_module.lie = truth
    liar_of_module.intercept = lambda api_key, request: None
    # A long poll of a client that has ended would be answered during the next test, and take its lie.
    liar_of_module.break_connections()
