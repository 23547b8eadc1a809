"""Which heartbeats are refused, and in what words (Kafka 4.2's GroupCoordinatorService and
GroupMetadataManager).
"""

from __future__ import annotations

from typing import Any

import pytest

from ottla.coordination.promise import Promise
from ottla.groups.group import Client
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatRequestTopicPartitions,
    ConsumerGroupHeartbeatResponse,
)
from support.consumer_group import Consumer, World


def refused(world: World, version: int = 1, **fields: Any) -> KafkaError:
    request = ConsumerGroupHeartbeatRequest(**{"group_id": "g", "member_id": "m", **fields})
    before = len(world.log)
    promise: Promise[ConsumerGroupHeartbeatResponse] = Promise(lambda error: ConsumerGroupHeartbeatResponse())
    with pytest.raises(KafkaError) as caught:
        world.consumer.heartbeat(request, Client("client", "/127.0.0.1", version), promise)
    assert len(world.log) == before
    return caught.value


JOINING: dict[str, Any] = {
    "member_epoch": 0,
    "rebalance_timeout_ms": 1000,
    "subscribed_topic_names": ["a"],
    "topic_partitions": [],
}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"member_id": ""}, "MemberId can't be empty."),
        ({"member_id": " "}, "MemberId can't be empty."),
        ({"group_id": ""}, "GroupId can't be empty."),
        ({"instance_id": ""}, "InstanceId can't be empty."),
        ({"rack_id": ""}, "RackId can't be empty."),
        ({"rebalance_timeout_ms": -1}, "RebalanceTimeoutMs must be provided in first request."),
        ({"topic_partitions": None}, "TopicPartitions must be empty when (re-)joining."),
        (
            {"topic_partitions": [ConsumerGroupHeartbeatRequestTopicPartitions(partitions=[1])]},
            "TopicPartitions must be empty when (re-)joining.",
        ),
        (
            {"subscribed_topic_names": None},
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        ),
        ({"member_epoch": -2}, "InstanceId can't be null."),
        ({"member_epoch": -3}, "MemberEpoch is invalid."),
        (
            {"subscribed_topic_names": ["x"] * 20_001},
            "SubscribedTopicNames has 20001 names, 20000 are allowed.",
        ),
    ],
)
def test_a_request_that_makes_no_sense_is_an_invalid_request(
    world: World, fields: dict[str, Any], message: str
) -> None:
    error = refused(world, **{**JOINING, **fields})
    assert (error.code, error.message) == (ErrorCode.INVALID_REQUEST, message)


def test_an_assignor_that_is_not_configured_is_unsupported(world: World) -> None:
    error = refused(world, **JOINING, server_assignor="sticky")
    assert error.code is ErrorCode.UNSUPPORTED_ASSIGNOR
    assert error.message == "ServerAssignor sticky is not supported. Supported assignors: uniform, range."


def test_in_version_0_the_server_makes_the_member_id(world: World) -> None:
    request = ConsumerGroupHeartbeatRequest(group_id="g", **JOINING)
    response = world.heartbeat(request, version=0)
    assert response.error_code == 0
    assert len(response.member_id) == 22
    assert list(world.group.members) == [response.member_id]


def test_in_version_0_only_a_joining_member_may_lack_its_id(world: World) -> None:
    for epoch in (1, -1):
        assert (
            refused(world, version=0, member_id="", member_epoch=epoch).message == "MemberId can't be empty."
        )


def test_a_group_that_is_not_there_is_not_found(world: World) -> None:
    error = refused(world, member_epoch=3)
    assert (error.code, error.message) == (ErrorCode.GROUP_ID_NOT_FOUND, "Consumer group g not found.")
    assert refused(world, member_epoch=-1).code is ErrorCode.GROUP_ID_NOT_FOUND


def test_somebody_unknown_is_told_so(world: World) -> None:
    Consumer(world, "m1", "a").beat()
    error = refused(world, member_epoch=1)
    assert (error.code, error.message) == (
        ErrorCode.UNKNOWN_MEMBER_ID,
        "Member m is not a member of group g.",
    )
    assert refused(world, member_epoch=-1).code is ErrorCode.UNKNOWN_MEMBER_ID
    assert refused(world, member_epoch=1, instance_id="i").message == "Instance id i is unknown."


def test_a_full_group_takes_nobody_else(world: World) -> None:
    world.change_settings(consumer_max_size=1)
    first = Consumer(world, "m1", "a")
    first.beat()
    error = refused(world, **JOINING)
    assert error.code is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert error.message == "The consumer group has reached its maximum capacity of 1 members."
    assert first.beat().error_code == 0


def test_a_disabled_protocol_is_an_unsupported_version(world: World) -> None:
    world.change_settings(consumer_protocol_enabled=False)
    assert refused(world, **JOINING).code is ErrorCode.UNSUPPORTED_VERSION


@pytest.mark.parametrize("regex", ["(", "a{2000}", "(?=x)", "\\pL{500}", "x" * 5000, "((a{30}){30}){30}"])
def test_an_expression_that_is_wrong_or_too_large_is_refused(world: World, regex: str) -> None:
    fields = {**JOINING, "subscribed_topic_names": None, "subscribed_topic_regex": regex}
    error = refused(world, **fields)
    assert error.code is ErrorCode.INVALID_REGULAR_EXPRESSION
    assert error.message.startswith("SubscribedTopicRegex `")
    assert not world.jobs


def test_a_group_has_a_bounded_number_of_expressions(world: World) -> None:
    world.check_every_event = False
    for number in range(100):
        assert Consumer(world, f"m{number}", regex=f"x{number}").beat().error_code == 0
    response = Consumer(world, "one-more", regex="y").beat()
    assert response.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert Consumer(world, "shares", regex="x7").beat().error_code == 0


def test_a_greater_epoch_than_the_members_is_fenced(world: World) -> None:
    Consumer(world, "m", "a").beat()
    error = refused(world, member_epoch=2)
    assert error.code is ErrorCode.FENCED_MEMBER_EPOCH
    assert error.message == (
        "The consumer group member has a greater member epoch (2) than the one known by the group "
        "coordinator (1). The member must abandon all its partitions and rejoin."
    )


def test_the_epoch_before_is_heard_when_a_reply_was_lost(world: World) -> None:
    """KIP-848: and only with owned partitions that the member may have."""
    member, other = Consumer(world, "m", "a"), Consumer(world, "other", "a")
    member.beat()
    other.beat()
    member.beat()
    assert member.beat(lose_reply=True).member_epoch == 2
    assert member.epoch == 1
    response = member.beat()
    assert (response.error_code, response.member_epoch) == (0, 2)
    assert response.assignment is not None
    smaller = refused(world, member_epoch=1)
    assert smaller.code is ErrorCode.FENCED_MEMBER_EPOCH
    assert "has a smaller member epoch (1)" in smaller.message
    too_much = ConsumerGroupHeartbeatRequestTopicPartitions(
        topic_id=world.topic_id("a"), partitions=[0, 1, 2, 3, 4, 5]
    )
    assert refused(world, member_epoch=1, topic_partitions=[too_much]).code is ErrorCode.FENCED_MEMBER_EPOCH


def test_a_join_whose_reply_was_lost_is_repeated_without_effect(world: World) -> None:
    member = Consumer(world, "m", "a")
    member.beat(lose_reply=True)
    records = world.records_of(lambda: member.beat())
    assert records == []
    assert member.reads == {"a": [0, 1, 2, 3, 4, 5]}
