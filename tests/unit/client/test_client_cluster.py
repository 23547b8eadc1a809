"""Keeping the view of a cluster, and trying again."""

from __future__ import annotations

import pytest
from client_script import Script

from ottla.client.errors import BrokerUnavailable, RequestTimedOut, ServerError
from ottla.model.errors import ErrorCode


def test_nobody_at_the_first_address_is_reported_at_once() -> None:
    script = Script()

    def refuse(node_id: int, request: object) -> object:
        raise BrokerUnavailable("seed:9092", "refused")

    script.handlers["Metadata"] = refuse
    with pytest.raises(BrokerUnavailable):
        script.run(script.cluster.discover(None))
    assert script.pauses == []


def test_a_broker_that_goes_away_after_it_has_answered_is_waited_for() -> None:
    script = Script()
    script.topics = {"t": [1]}
    script.run(script.cluster.discover(["t"]))
    answer = script.handlers["Metadata"]
    failures = [BrokerUnavailable("a"), RequestTimedOut("slow")]

    def flaky(node_id: int, request: object) -> object:
        if failures:
            raise failures.pop()
        return answer(node_id, request)

    script.handlers["Metadata"] = flaky
    script.run(script.cluster.discover(["t"]))
    assert script.pauses == [100, 200]


def test_waiting_ends_at_the_deadline_with_the_last_error() -> None:
    script = Script()
    script.topics = {"t": [1]}
    script.topic_errors = {"t": ErrorCode.LEADER_NOT_AVAILABLE}
    with pytest.raises(ServerError) as caught:
        script.run(script.cluster.discover(["t"], timeout_ms=5_000))
    assert caught.value.code is ErrorCode.LEADER_NOT_AVAILABLE
    assert script.clock.elapsed_ms == 5_000


def test_a_topic_that_does_not_exist_is_reported_at_once_although_kafka_calls_it_retriable() -> None:
    script = Script()
    with pytest.raises(ServerError, match="topic nope: this topic or partition does not exist"):
        script.run(script.cluster.discover(["nope"]))
    assert script.pauses == []


def test_a_partial_answer_leaves_what_is_known_of_other_topics() -> None:
    script = Script()
    script.topics = {"a": [1], "b": [2]}
    script.run(script.cluster.discover(["a"]))
    script.run(script.cluster.discover(["b"]))
    assert script.cluster.view.leader("a", 0) == 1
    assert script.cluster.view.leader("b", 0) == 2


def test_a_partition_that_is_not_there_is_named_with_how_many_are() -> None:
    script = Script()
    script.topics = {"a": [1, 1]}
    script.run(script.cluster.discover(["a"]))
    with pytest.raises(ServerError, match="no partition 7, the topic has 2"):
        script.cluster.view.partition("a", 7)


def test_an_error_code_of_a_newer_broker_is_an_error_and_not_a_crash() -> None:
    error = ServerError(9_999)
    assert error.code is ErrorCode.UNKNOWN_SERVER_ERROR
    assert "9999" in str(error)
