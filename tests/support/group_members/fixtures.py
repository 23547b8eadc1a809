"""Fixtures of the group tests: one broker for a module whose groups settle fast, and members that live as
long as a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chaos.groups.driver import broker_settings
from ottla.model.errors import ErrorCode
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from support.broker_process import BrokerProcess
from support.group_members.process import MemberProcess
from support.raw_client import RawClient, batch_of
from support.waiting import wait_until

SESSION_MS = 6000

Join = Callable[..., MemberProcess]


@pytest.fixture(scope="module")
def group_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    broker = BrokerProcess(
        tmp_path_factory.mktemp("groups") / "data", settings=broker_settings(SESSION_MS)
    ).start()
    yield broker
    assert broker.running and broker.stop() == 0
    assert "Traceback" not in broker.log_since(0), broker.log_since(0)[-6000:]


@pytest.fixture
def join(tmp_path: Path) -> Iterator[Join]:
    """Starts a member: `join(broker, kind, protocol, topic, **options of MemberProcess)`."""
    members: list[MemberProcess] = []

    def start(broker: BrokerProcess, kind: str, protocol: str, topic: str, **options: Any) -> MemberProcess:
        member = MemberProcess(
            kind,
            tmp_path,
            name=f"{kind}-{len(members)}",
            bootstrap=broker.bootstrap,
            group=options.pop("group", f"group-of-{topic}"),
            topic=topic,
            protocol=protocol,
            session_ms=options.pop("session_ms", SESSION_MS),
            **options,
        )
        members.append(member)
        return member

    yield start
    for member in members:
        member.kill()


def write(broker: BrokerProcess, topic: str, first: int, last: int, partitions: int = 2) -> None:
    """Records from offset `first` to `last` of every partition; each holds its offset."""
    with RawClient(broker.port) as client:
        for partition in range(partitions):
            batch = batch_of(*(b"%d" % offset for offset in range(first, last + 1)))
            answer = client.produce(topic, batch, partition=partition)
            assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, first)


def find_coordinator(client: RawClient, group: str) -> None:
    """What every client asks first; the first question of all makes `__consumer_offsets`."""
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=[group])

    def found() -> bool:
        (answer,) = client.call(request, 4).coordinators
        assert answer.error_code in (ErrorCode.NONE, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        return bool(answer.error_code == ErrorCode.NONE)

    wait_until(found, "the group has a coordinator")
