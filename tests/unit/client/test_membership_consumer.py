"""Membership by KIP-848 as a state machine: heartbeat answers go in by hand, effects come out."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.client.errors import BrokerUnavailable, ServerError
from ottla.client.membership import FOREVER, Assign, GroupSettings, Left, NameTopics, Revoke, Send, Wait
from ottla.client.membership_consumer import ConsumerMembership
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupHeartbeatResponseTopicPartitions,
)

T0, T1, T2 = (TopicPartition("t", n) for n in range(3))
ID = b"t".ljust(16, b"\0")


def membership(topics: Any = ("t",), regex: str | None = None, **settings: Any) -> ConsumerMembership:
    return ConsumerMembership(GroupSettings("g", **settings), "me", lambda: 0.5, topics=topics, regex=regex)


def sent(step: Any) -> ConsumerGroupHeartbeatRequest:
    assert isinstance(step, Send), step
    assert isinstance(step.request, ConsumerGroupHeartbeatRequest)
    return step.request


def answer(epoch: int = 1, indexes: list[int] | None = None, **fields: Any) -> ConsumerGroupHeartbeatResponse:
    given = None
    if indexes is not None:
        parts = [ConsumerGroupHeartbeatResponseTopicPartitions(topic_id=ID, partitions=indexes)]
        given = Assignment(topic_partitions=parts if indexes else [])
    return ConsumerGroupHeartbeatResponse(
        member_id="me", member_epoch=epoch, heartbeat_interval_ms=5000, assignment=given, **fields
    )


def owned_in(request: ConsumerGroupHeartbeatRequest) -> list[tuple[bytes, list[int]]] | None:
    if request.topic_partitions is None:
        return None
    return [(bytes(t.topic_id), t.partitions) for t in request.topic_partitions]


def stable(m: ConsumerMembership, *indexes: int) -> None:
    """Joins and takes these partitions, up to the acknowledging heartbeat's answer."""
    sent(m.step(0))
    m.answered(answer(1, list(indexes)), 0)
    if indexes:
        assert m.step(0) == NameTopics(frozenset({ID}))
        m.topic_names({ID: "t"}, 0)
        assert isinstance(m.step(0), Assign)
        m.assigned(0)
        sent(m.step(0))
        m.answered(answer(1), 0)
    assert m.owned == {TopicPartition("t", index) for index in indexes}
    assert m.step(0) == Wait(5000) and m.joined


def test_the_first_heartbeat_says_everything_with_epoch_0_and_owns_nothing() -> None:
    m = membership(instance_id="i", rack_id="r", remote_assignor="range", rebalance_timeout_ms=7)
    request = sent(m.step(0))
    assert (request.member_id, request.member_epoch, request.instance_id) == ("me", 0, "i")
    assert (request.rack_id, request.server_assignor, request.rebalance_timeout_ms) == ("r", "range", 7)
    assert (request.subscribed_topic_names, owned_in(request)) == (["t"], [])
    assert m.step(1e9) == Wait(FOREVER)


def test_a_target_is_taken_and_acknowledged_at_once() -> None:
    m = membership()
    m.step(0)
    m.answered(answer(1, [0, 1]), 0)
    assert m.step(0) == NameTopics(frozenset({ID}))
    m.topic_names({ID: "t"}, 0)
    assert m.step(0) == Assign(frozenset({T0, T1}))
    m.assigned(0)
    acknowledgement = sent(m.step(0))
    assert owned_in(acknowledgement) == [(ID, [0, 1])]
    assert acknowledgement.member_epoch == 1
    assert acknowledgement.subscribed_topic_names is None and acknowledgement.rebalance_timeout_ms == -1


def test_a_heartbeat_without_news_says_only_who_it_is() -> None:
    m = membership()
    stable(m, 0)
    request = sent(m.step(5000))
    assert (request.subscribed_topic_names, owned_in(request), request.rebalance_timeout_ms) == (
        None,
        None,
        -1,
    )
    m.answered(answer(1), 5000)
    assert m.step(5000) == Wait(10_000)


def test_what_has_moved_is_given_up_before_new_ones_are_taken_and_then_acknowledged() -> None:
    m = membership()
    stable(m, 0, 1)
    m.step(5000)
    m.answered(answer(2, [1, 2]), 5000)
    assert m.step(5000) == Revoke(frozenset({T0}))
    assert m.identity == ("me", 2, None)
    m.revoked(5000)
    assert m.step(5000) == Assign(frozenset({T2}))
    m.assigned(5000)
    assert owned_in(sent(m.step(5000))) == [(ID, [1, 2])]


def test_heartbeats_go_on_while_a_callback_takes_its_time() -> None:
    m = membership()
    stable(m, 0, 1)
    m.step(5000)
    m.answered(answer(2, [1]), 5000)
    assert isinstance(m.step(5000), Revoke)
    assert m.step(5000) == Wait(10_000)
    assert owned_in(sent(m.step(10_000))) is None
    m.answered(answer(2), 10_000)
    m.revoked(11_000)
    assert owned_in(sent(m.step(11_000))) == [(ID, [1])]


def test_after_a_lost_heartbeat_everything_is_said_again() -> None:
    m = membership()
    stable(m, 0)
    m.step(5000)
    m.failed(BrokerUnavailable("a:1"), 5000)
    assert m.step(5000) == Wait(5100)
    step = m.step(5100)
    request = sent(step)
    assert isinstance(step, Send) and step.rediscover
    assert (request.subscribed_topic_names, owned_in(request)) == (["t"], [(ID, [0])])


@pytest.mark.parametrize(
    "code", [ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.GROUP_ID_NOT_FOUND]
)
def test_a_member_that_was_thrown_out_loses_its_partitions_and_joins_with_epoch_0(code: ErrorCode) -> None:
    m = membership()
    stable(m, 0)
    m.step(5000)
    m.answered(ConsumerGroupHeartbeatResponse(error_code=code), 5000)
    assert m.step(5000) == Revoke(frozenset({T0}), lost=True)
    m.revoked(5000)
    request = sent(m.step(5000))
    assert (request.member_id, request.member_epoch, owned_in(request)) == ("me", 0, [])


@pytest.mark.parametrize(
    ("code", "rediscover"),
    [(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, False), (ErrorCode.NOT_COORDINATOR, True)],
)
def test_a_coordinator_that_cannot_help_now_is_asked_again(code: ErrorCode, rediscover: bool) -> None:
    m = membership()
    m.step(0)
    m.answered(ConsumerGroupHeartbeatResponse(error_code=code), 0)
    assert m.step(0) == Wait(100)
    step = m.step(100)
    assert isinstance(step, Send) and step.rediscover is rediscover


def test_what_cannot_be_cured_is_raised() -> None:
    m = membership(instance_id="i")
    m.step(0)
    with pytest.raises(ServerError, match="give each its own"):
        m.answered(ConsumerGroupHeartbeatResponse(error_code=ErrorCode.UNRELEASED_INSTANCE_ID), 0)
    assert m.step(0) == Left()


def test_a_group_of_another_type_cannot_be_joined() -> None:
    m = membership()
    m.step(0)
    with pytest.raises(ServerError, match="of another type"):
        m.answered(ConsumerGroupHeartbeatResponse(error_code=ErrorCode.GROUP_ID_NOT_FOUND), 0)
    assert m.step(0) == Left()


def test_a_regular_expression_is_passed_on_and_the_brokers_words_come_back() -> None:
    m = membership(topics=(), regex="a(")
    request = sent(m.step(0))
    assert (request.subscribed_topic_regex, request.subscribed_topic_names) == ("a(", [])
    refusal = ConsumerGroupHeartbeatResponse(
        error_code=ErrorCode.INVALID_REGULAR_EXPRESSION, error_message="missing )"
    )
    with pytest.raises(ServerError, match=r"missing \)"):
        m.answered(refusal, 0)


def test_a_changed_subscription_is_said_at_once_and_a_regular_expression_taken_back() -> None:
    m = membership(topics=(), regex="a.*")
    m.step(0)
    m.answered(answer(1, []), 0)
    assert m.step(0) == Wait(5000)
    m.subscribe(["b"])
    request = sent(m.step(10))
    assert (request.subscribed_topic_names, request.subscribed_topic_regex) == (["b"], "")


def test_a_topic_without_a_name_yet_is_asked_for_again_while_the_rest_is_taken() -> None:
    other = b"o".ljust(16, b"\0")
    m = membership()
    m.step(0)
    given = answer(1, [0])
    assert given.assignment is not None
    given.assignment.topic_partitions.append(
        ConsumerGroupHeartbeatResponseTopicPartitions(topic_id=other, partitions=[0])
    )
    m.answered(given, 0)
    assert m.step(0) == NameTopics(frozenset({ID, other}))
    m.topic_names({ID: "t"}, 0)
    assert m.step(0) == Assign(frozenset({T0}))
    m.assigned(0)
    sent(m.step(0))
    m.answered(answer(1), 0)
    assert m.step(0) == Wait(1000) and not m.joined
    assert m.step(1000) == NameTopics(frozenset({other}))
    m.topic_names({other: "o"}, 1000)
    assert m.step(1000) == Assign(frozenset({TopicPartition("o", 0)}))


@pytest.mark.parametrize(("instance_id", "epoch"), [(None, -1), ("i", -2)])
def test_a_leaving_member_gives_up_its_partitions_and_says_whether_it_comes_back(
    instance_id: str | None, epoch: int
) -> None:
    m = membership(instance_id=instance_id)
    stable(m, 0)
    m.leave()
    assert m.step(1) == Revoke(frozenset({T0}))
    m.revoked(1)
    assert sent(m.step(1)).member_epoch == epoch
    m.answered(answer(epoch), 1)
    assert m.step(1) == Left()


def test_a_member_that_nobody_has_heard_of_leaves_without_a_word() -> None:
    m = membership()
    m.leave()
    assert m.step(0) == Left()


def test_a_topic_that_was_made_anew_while_it_was_owned_is_acknowledged_under_its_new_id() -> None:
    """The partitions have kept their names, so nothing is revoked, as in Java; the coordinator waits for the
    new id until the rebalance timeout.
    """
    m = membership()
    stable(m, 0, 1)
    new = b"u" * 16
    parts = [ConsumerGroupHeartbeatResponseTopicPartitions(topic_id=new, partitions=[0, 1])]
    assert owned_in(sent(m.step(5000))) is None
    m.answered(
        ConsumerGroupHeartbeatResponse(
            member_id="me",
            member_epoch=2,
            heartbeat_interval_ms=5000,
            assignment=Assignment(topic_partitions=parts),
        ),
        5000,
    )
    assert m.step(5000) == NameTopics(frozenset({new}))
    m.topic_names({new: "t"}, 5000)
    assert owned_in(sent(m.step(5000))) == [(new, [0, 1])]
    m.answered(answer(2), 5000)
    assert m.step(5000) == Wait(10_000) and m.joined
