"""Finding a group's coordinator (KIP-699): in batches, one by one, again, and with patience."""

from __future__ import annotations

from typing import Any

import pytest
from client_script import Script

from ottla.client.coordinator import GROUPS_PER_REQUEST_MAX, Coordinators
from ottla.client.errors import BrokerUnavailable, ServerError
from ottla.model.errors import ErrorCode
from ottla.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from ottla.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse


class CoordinatorScript(Script):
    """Groups live on the node that `homes` says (1 where it says nothing)."""

    def __init__(self) -> None:
        super().__init__()
        self.topics = {"t": [1, 2]}
        self.homes: dict[str, int] = {}
        self.codes: dict[str, list[int]] = {}
        self.handlers["FindCoordinator"] = self._find
        self.coordinators = Coordinators(self.cluster)

    def _find(self, node_id: int, request: Any) -> FindCoordinatorResponse:
        def answer(group: str) -> Coordinator:
            left = self.codes.get(group, [])
            code = left.pop(0) if left else 0
            home = -1 if code else self.homes.get(group, 1)
            return Coordinator(key=group, node_id=home, host="h", port=1, error_code=code)

        if request.coordinator_keys:
            return FindCoordinatorResponse(coordinators=[answer(g) for g in request.coordinator_keys])
        one = answer(request.key)
        return FindCoordinatorResponse(node_id=one.node_id, error_code=one.error_code)


def test_many_groups_are_looked_up_in_one_request_and_remembered() -> None:
    script = CoordinatorScript()
    script.homes = {"b": 2}
    found = script.run(script.coordinators.locate(["a", "b", "c"]))
    assert found == {"a": 1, "b": 2, "c": 1}
    assert script.names().count("FindCoordinator") == 1
    script.run(script.coordinators.locate(["a", "b"]))
    assert script.names().count("FindCoordinator") == 1


def test_an_old_broker_is_asked_about_one_group_at_a_time() -> None:
    script = CoordinatorScript()
    script.versions["FindCoordinator"] = 3
    script.homes = {"b": 2}
    assert script.run(script.coordinators.locate(["a", "b", "c"])) == {"a": 1, "b": 2, "c": 1}
    asked = [request for name, _, request in script.calls if name == "FindCoordinator"]
    assert [request.key for request in asked] == ["a", "b", "c"]
    assert all(request.coordinator_keys == [] for request in asked)


def test_no_request_asks_about_more_groups_than_the_limit() -> None:
    script = CoordinatorScript()
    groups = [f"g{n}" for n in range(GROUPS_PER_REQUEST_MAX * 2 + 1)]
    script.run(script.coordinators.locate(groups))
    sizes = [len(r.coordinator_keys) for name, _, r in script.calls if name == "FindCoordinator"]
    assert sizes == [GROUPS_PER_REQUEST_MAX, GROUPS_PER_REQUEST_MAX, 1]


def test_a_coordinator_that_is_not_there_yet_is_waited_for_with_back_off() -> None:
    script = CoordinatorScript()
    script.codes["a"] = [ErrorCode.COORDINATOR_NOT_AVAILABLE] * 3
    assert script.run(script.coordinators.locate(["a"])) == {"a": 1}
    assert script.pauses == [100.0, 200.0, 400.0]  # KIP-580


def test_a_group_id_that_is_refused_for_good_stays_with_that_group() -> None:
    script = CoordinatorScript()
    script.codes[""] = [ErrorCode.INVALID_GROUP_ID]
    found = script.run(script.coordinators.locate(["", "a"]))
    assert found["a"] == 1
    assert isinstance(found[""], ServerError) and found[""].code is ErrorCode.INVALID_GROUP_ID


@pytest.mark.parametrize("code", [ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE])
def test_a_group_that_has_moved_is_looked_up_again(code: ErrorCode) -> None:
    script = CoordinatorScript()
    codes = [int(code), 0]

    def heartbeat(node_id: int, request: Any) -> HeartbeatResponse:
        script.homes["g"] = 2
        return HeartbeatResponse(error_code=codes.pop(0))

    def check(response: Any) -> None:
        if response.error_code:
            raise ServerError(response.error_code)

    script.handlers["Heartbeat"] = heartbeat
    script.run(script.coordinators.ask("g", HeartbeatRequest(group_id="g"), check=check))
    assert [node for name, node, _ in script.calls if name == "Heartbeat"] == [1, 2]
    assert script.names().count("FindCoordinator") == 2


def test_a_coordinator_that_is_loading_is_asked_again_and_not_looked_up() -> None:
    script = CoordinatorScript()
    codes = [int(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)] * 2 + [0]

    def check(response: Any) -> None:
        if response.error_code:
            raise ServerError(response.error_code)

    script.handlers["Heartbeat"] = lambda node, request: HeartbeatResponse(error_code=codes.pop(0))
    script.run(script.coordinators.ask("g", HeartbeatRequest(group_id="g"), check=check))
    assert script.names().count("Heartbeat") == 3
    assert script.names().count("FindCoordinator") == 1


def test_a_lost_coordinator_is_forgotten_and_a_refusal_is_not_retried() -> None:
    script = CoordinatorScript()
    outcomes: list[Any] = [BrokerUnavailable("host1:9092"), HeartbeatResponse()]

    def heartbeat(node_id: int, request: Any) -> Any:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    script.handlers["Heartbeat"] = heartbeat
    script.run(script.coordinators.ask("g", HeartbeatRequest(group_id="g")))
    assert script.names().count("FindCoordinator") == 2

    def refuse(response: Any) -> None:
        raise ServerError(ErrorCode.UNKNOWN_MEMBER_ID)

    outcomes.append(HeartbeatResponse())
    with pytest.raises(ServerError):
        script.run(script.coordinators.ask("g", HeartbeatRequest(group_id="g"), check=refuse))
    assert script.names().count("Heartbeat") == 3


def test_a_coordinator_that_the_metadata_does_not_know_is_not_called() -> None:
    script = CoordinatorScript()
    script.homes["g"] = 99

    def metadata(node_id: int, request: Any) -> Any:
        if script.pauses:  # the broker shows up meanwhile
            script.topics["late"] = [99]
        return script._metadata(node_id, request)

    script.handlers["Metadata"] = metadata
    assert script.run(script.coordinators.locate(["g"])) == {"g": 99}
    assert len(script.pauses) == 1
