"""Fixtures for tests against real processes: a broker, and Kafka's Java clients."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from support.broker_process import BrokerFactory, BrokerProcess
from support.java_client import JavaClient
from support.raw_client import RawClient

# Time is no property: a busy machine would make tests fail that are right. And a run tests the same cases as
# the one before; to look for new ones, say HYPOTHESIS=explore.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS", "steady"))

# A shell that runs the tests in the background makes them ignore Ctrl-C, and every program they start, too;
# some tests are about what a program does when it comes.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_numbers = itertools.count()


@pytest.fixture
def start_broker(tmp_path: Path) -> Iterator[BrokerFactory]:
    """Starts brokers that live as long as the test; `start=False` gives one that was not started yet."""
    brokers: list[BrokerProcess] = []

    def make(*, start: bool = True, data_dir: Path | None = None, **options: Any) -> BrokerProcess:
        number = len(brokers)
        options.setdefault("log_path", tmp_path / f"broker-{number}.out")
        broker = BrokerProcess(data_dir or tmp_path / f"data-{number}", **options)
        brokers.append(broker)
        return broker.start() if start else broker

    yield make
    for broker in brokers:
        broker.kill()


@pytest.fixture(scope="module")
def shared_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """One broker for a module's tests, which keep apart by the names of their topics."""
    broker = BrokerProcess(tmp_path_factory.mktemp("broker") / "data").start()
    yield broker
    assert broker.running, f"the broker died during the tests:\n{broker.log_since(0)[-4000:]}"
    code = broker.stop()
    log = broker.log_since(0)
    assert code == 0, f"the broker stopped with {code}:\n{log[-4000:]}"
    assert "Traceback" not in log, f"an internal error of the broker:\n{log[-8000:]}"


@pytest.fixture
def raw(shared_broker: BrokerProcess) -> Iterator[RawClient]:
    with RawClient(shared_broker.port) as client:
        yield client


@pytest.fixture
def topic_name() -> str:
    """A name that no other test of this process uses."""
    return f"topic-{next(_numbers)}"


@pytest.fixture(scope="session")
def java(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaClient]:
    """Kafka's Java clients; tests that use it need a timeout that allows for a first download."""
    client = JavaClient(tmp_path_factory.mktemp("java") / "stderr.txt")
    yield client
    client.close()
