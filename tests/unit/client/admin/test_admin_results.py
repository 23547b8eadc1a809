"""The form in which administration answers about many things, and what its parts share."""

from __future__ import annotations

from typing import Any

import pytest
from admin_script import AdminScript

from ottla.client.admin_part import (
    ITEMS_PER_REQUEST_MAX,
    PARTITIONS_PER_REQUEST_MAX,
    broker_timeout_ms,
)
from ottla.client.admin_partitions import ElectionType
from ottla.client.admin_results import Results
from ottla.client.admin_topics import NewTopic
from ottla.client.errors import BrokerUnavailable, OttlaError, ProtocolError, ServerError, UnsupportedVersion
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages.create_delegation_token import CreateDelegationTokenResponse
from ottla.wire.messages.create_topics import CreatableTopicResult, CreateTopicsResponse
from ottla.wire.messages.elect_leaders import ElectLeadersResponse
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)


@pytest.fixture
def script() -> AdminScript:
    return AdminScript()


def offsets(request: Any, codes: dict[TopicPartition, int]) -> ListOffsetsResponse:
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=t.name,
                partitions=[
                    ListOffsetsPartitionResponse(
                        partition_index=p.partition_index,
                        offset=7,
                        error_code=codes.get(TopicPartition(t.name, p.partition_index), 0),
                    )
                    for p in t.partitions
                ],
            )
            for t in request.topics
        ]
    )


def test_results_keep_the_order_of_the_question_and_tell_values_from_errors() -> None:
    error = ServerError(ErrorCode.TOPIC_ALREADY_EXISTS)
    found: dict[str, int | OttlaError] = {"c": 3, "a": error}
    results: Results[str, int] = Results.of(["a", "c"], found)
    assert list(results) == ["a", "c"]
    assert results.succeeded == {"c": 3}
    assert results.failed == {"a": error}
    with pytest.raises(ServerError) as caught:
        results.all()
    assert caught.value is error
    assert Results.of(["c"], found).all() == {"c": 3}


def test_what_the_broker_says_nothing_about_is_an_error_and_no_success() -> None:
    results: Results[str, None] = Results.of(["a", "b"], {"a": None})
    assert results["a"] is None
    assert isinstance(results["b"], ProtocolError) and "about b" in str(results["b"])


def test_many_changes_are_sent_in_bounded_pieces(script: AdminScript) -> None:
    script.handlers["CreateTopics"] = lambda node, request: CreateTopicsResponse(
        topics=[CreatableTopicResult(name=t.name) for t in request.topics]
    )
    names = [f"t{n}" for n in range(ITEMS_PER_REQUEST_MAX + 1)]
    results = script.run(script.admin.create_topics([NewTopic(name) for name in names]))
    assert list(results.all()) == names
    assert [len(r.topics) for _, r in script.asked("CreateTopics")] == [ITEMS_PER_REQUEST_MAX, 1]


def test_what_a_quota_held_back_is_sent_again_after_the_time_that_the_broker_names(
    script: AdminScript,
) -> None:
    """KIP-599: THROTTLING_QUOTA_EXCEEDED concerns only the topics that have it."""
    codes = [{"y": 89}, {}]

    def answer(node: int, request: Any) -> CreateTopicsResponse:
        held = codes.pop(0)
        return CreateTopicsResponse(
            throttle_time_ms=700 if held else 0,
            topics=[
                CreatableTopicResult(name=t.name, error_code=held.get(t.name, 0)) for t in request.topics
            ],
        )

    script.handlers["CreateTopics"] = answer
    script.run(script.admin.create_topics([NewTopic("x"), NewTopic("y")])).all()
    assert [[t.name for t in r.topics] for _, r in script.asked("CreateTopics")] == [["x", "y"], ["y"]]
    assert script.pauses == [700]


def test_a_change_that_met_no_controller_is_sent_to_the_one_that_metadata_names(script: AdminScript) -> None:
    codes = [41, 0]
    script.handlers["CreateTopics"] = lambda node, request: CreateTopicsResponse(
        topics=[CreatableTopicResult(name="x", error_code=codes.pop(0))]
    )
    script.run(script.admin.create_topics([NewTopic("x")])).all()
    assert script.names() == ["Metadata", "CreateTopics", "Metadata", "CreateTopics"]


def test_an_answer_that_names_another_controller_is_not_the_last_word(script: AdminScript) -> None:
    codes = [41, 41, 31]
    script.handlers["ElectLeaders"] = lambda node, request: ElectLeadersResponse(error_code=codes.pop(0))
    with pytest.raises(ServerError) as caught:
        script.run(script.admin.elect_leaders(ElectionType.PREFERRED))
    assert caught.value.code is ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert len(script.pauses) == 2


def test_a_timeout_that_the_broker_tells_is_left_to_the_caller(script: AdminScript) -> None:
    """REQUEST_TIMED_OUT is retriable by Kafka's table; but a second token would be a second token."""
    script.answer("CreateDelegationToken", CreateDelegationTokenResponse(error_code=7))
    with pytest.raises(ServerError):
        script.run(script.access.create_delegation_token())
    assert len(script.asked("CreateDelegationToken")) == 1


def test_a_quota_that_never_lets_go_ends_with_its_error(script: AdminScript) -> None:
    script.handlers["CreateTopics"] = lambda node, request: CreateTopicsResponse(
        throttle_time_ms=10_000,
        topics=[CreatableTopicResult(name=t.name, error_code=89) for t in request.topics],
    )
    error = script.run(script.admin.create_topics([NewTopic("x")]))["x"]
    assert error.code is ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert script.clock.elapsed_ms <= script.cluster.operation_timeout_ms


def test_partitions_are_asked_of_their_leaders_and_again_when_one_has_moved(script: AdminScript) -> None:
    tried: list[int] = []

    def answer(node: int, request: Any) -> ListOffsetsResponse:
        tried.append(node)
        if node == 2:  # it was the leader of a-1 when the metadata was made
            script.topics = {"a": [1, 1], "b": [1]}
            return offsets(request, {A1: ErrorCode.NOT_LEADER_OR_FOLLOWER, B0: 6})
        return offsets(request, {})

    script.handlers["ListOffsets"] = answer
    results = script.run(script.admin.list_offsets(dict.fromkeys([A0, A1, B0], -1)))
    assert {tp: r.offset for tp, r in results.all().items()} == {A0: 7, A1: 7, B0: 7}
    assert tried == [1, 2, 1]
    last = script.asked("ListOffsets")[-1][1]
    assert {(t.name, p.partition_index) for t in last.topics for p in t.partitions} == {("a", 1), ("b", 0)}


def test_a_partition_without_a_leader_has_its_error_when_the_time_is_up(script: AdminScript) -> None:
    script.topics = {"a": [1, -1]}
    script.handlers["ListOffsets"] = lambda node, request: offsets(request, {})
    results = script.run(script.admin.list_offsets({A0: -1, A1: -1, TopicPartition("gone", 0): -1}))
    assert results[A0].offset == 7
    assert results[A1].code is ErrorCode.LEADER_NOT_AVAILABLE
    assert results[TopicPartition("gone", 0)].code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert script.clock.elapsed_ms > script.cluster.operation_timeout_ms / 2
    assert len(script.asked("ListOffsets")) == 1  # what was answered is not asked again


def test_asking_once_does_not_wait_for_a_leader(script: AdminScript) -> None:
    script.topics = {"a": [1, -1]}
    script.handlers["ListOffsets"] = lambda node, request: offsets(request, {})
    results = script.run(script.admin.list_offsets_once({A0: -1, A1: -1}))
    assert list(results.succeeded) == [A0]
    assert script.pauses == []


def test_a_leader_is_asked_about_bounded_numbers_of_partitions(script: AdminScript) -> None:
    count = PARTITIONS_PER_REQUEST_MAX + 1
    script.topics = {"a": [1] * count}
    script.handlers["ListOffsets"] = lambda node, request: offsets(request, {})
    wanted = [TopicPartition("a", n) for n in range(count)]
    assert len(script.run(script.admin.list_offsets(dict.fromkeys(wanted, -1))).all()) == count
    assert [len(r.topics[0].partitions) for _, r in script.asked("ListOffsets")] == [count - 1, 1]


def test_an_api_that_no_broker_has_is_the_failure_of_the_whole(script: AdminScript) -> None:
    def unknown(node: int, request: Any) -> Any:
        raise UnsupportedVersion("the broker does not offer ListOffsets")

    script.handlers["ListOffsets"] = unknown
    with pytest.raises(UnsupportedVersion, match="does not offer ListOffsets"):
        script.run(script.admin.list_offsets({A0: -1}))


def test_nobody_at_the_address_is_raised_at_once_and_not_put_into_results(script: AdminScript) -> None:
    def nobody(node: int, request: Any) -> Any:
        raise BrokerUnavailable("seed:9092")

    script.handlers["Metadata"] = nobody
    with pytest.raises(BrokerUnavailable):
        script.run(script.admin.list_offsets({A0: -1}))
    assert script.pauses == []


def test_questions_about_nothing_ask_nobody(script: AdminScript) -> None:
    assert script.run(script.admin.create_topics([])) == {}
    assert script.run(script.admin.list_offsets({})) == {}
    assert script.run(script.access.create_acls([])) == {}
    assert script.run(script.access.describe_user_scram_credentials([])) == {}
    assert script.run(script.groups.delete_groups([])) == {}
    assert script.calls == []


@pytest.mark.parametrize(
    ("timeout", "sent"), [(None, 30_000), (1.5, 1_500), (0, 0), (-1, 0), (10**9, 2**31 - 1)]
)
def test_a_timeout_in_seconds_is_told_to_the_broker_within_what_the_field_holds(
    timeout: float | None, sent: int
) -> None:
    assert broker_timeout_ms(timeout) == sent
