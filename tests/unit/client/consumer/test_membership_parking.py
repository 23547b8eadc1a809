"""Memberships whose application does not poll, or closes: leaving, staying, and coming back."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.client.effects import Versioned
from ottla.client.errors import BrokerUnavailable
from ottla.client.membership import Assign, CountPartitions, GroupSettings, Left, Revoke, Send, Wait
from ottla.client.membership_classic import ClassicMembership
from ottla.client.membership_consumer import ConsumerMembership
from ottla.model.types import TopicPartition
from ottla.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupHeartbeatResponseTopicPartitions,
)
from ottla.wire.messages.heartbeat import HeartbeatRequest
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember
from ottla.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse

T0 = TopicPartition("t", 0)
TOPIC_ID = b"t" * 16


def request_of(step: Any, kind: type[Any]) -> Any:
    """What a Send sends, which has to be of this kind."""
    assert isinstance(step, Send)
    request = step.request
    if isinstance(request, Versioned):
        request = request.build(5)
    assert isinstance(request, kind), request
    return request


def classic(instance_id: str | None = None, **options: Any) -> ClassicMembership:
    """A member that has joined and owns t-0."""
    member = ClassicMembership(GroupSettings("g", instance_id, **options), ["t"], lambda: 0.5)
    join = request_of(member.step(0), JoinGroupRequest)
    metadata = join.protocols[0].metadata
    member.answered(
        JoinGroupResponse(
            generation_id=3,
            protocol_name="range",
            leader="m",
            member_id="m",
            members=[JoinGroupResponseMember(member_id="m", metadata=metadata)],
        ),
        0,
    )
    assert isinstance(member.step(0), CountPartitions)
    member.partition_counts({"t": 1}, 0)
    sync = request_of(member.step(0), SyncGroupRequest)
    member.answered(SyncGroupResponse(assignment=sync.assignments[0].assignment), 0)
    assert member.step(0) == Assign(frozenset({T0}))
    member.assigned(0)
    return member


def consumer(instance_id: str | None = None) -> ConsumerMembership:
    member = ConsumerMembership(GroupSettings("g", instance_id), "m", lambda: 0.5, topics=["t"])
    request_of(member.step(0), ConsumerGroupHeartbeatRequest)
    member.answered(
        ConsumerGroupHeartbeatResponse(
            member_id="m",
            member_epoch=4,
            heartbeat_interval_ms=1000,
            assignment=Assignment(
                topic_partitions=[
                    ConsumerGroupHeartbeatResponseTopicPartitions(topic_id=TOPIC_ID, partitions=[0])
                ]
            ),
        ),
        0,
    )
    member.step(0)
    member.topic_names({TOPIC_ID: "t"}, 0)
    assert member.step(0) == Assign(frozenset({T0}))
    member.assigned(0)
    request_of(member.step(0), ConsumerGroupHeartbeatRequest)
    member.answered(ConsumerGroupHeartbeatResponse(member_epoch=4, heartbeat_interval_ms=1000), 0)
    return member


def test_a_parked_classic_member_leaves_tells_the_loss_and_joins_again_when_resumed() -> None:
    """KIP-62: max.poll.interval.ms."""
    member = classic()
    member.park()
    leave = request_of(member.step(10), LeaveGroupRequest)
    assert leave.members[0].member_id == "m" and "max.poll.interval.ms" in leave.members[0].reason
    member.answered(LeaveGroupResponse(), 10)
    assert member.lost and member.identity.generation == -1 and member.identity.member_id == ""
    assert member.step(11) == Revoke(frozenset({T0}), lost=True)
    assert member.step(12) == Wait(float("inf"))  # no heartbeats, no join
    member.revoked(20)
    assert member.step(21) == Wait(float("inf"))
    member.resume()
    assert request_of(member.step(30), JoinGroupRequest).member_id == ""


@pytest.mark.parametrize("make", [classic, consumer])
def test_what_a_parked_member_owns_counts_as_lost_before_the_coordinator_has_answered(make: Any) -> None:
    """A poll that comes just then may not hand out what is buffered."""
    member = make()
    member.park()
    assert isinstance(member.step(0), Send) and member.lost and member.owned


def test_a_resume_that_comes_while_the_leave_is_under_way_joins_after_it() -> None:
    member = classic()
    member.park()
    request_of(member.step(10), LeaveGroupRequest)
    member.resume()
    member.failed(BrokerUnavailable("b"), 11)  # the coordinator will notice by the session
    assert member.step(11) == Revoke(frozenset({T0}), lost=True)
    member.revoked(12)
    request_of(member.step(12), JoinGroupRequest)


def test_a_parked_static_member_goes_silent_and_keeps_its_place() -> None:
    """As in Java: only its session ends the membership."""
    member = classic("name")
    member.park()
    assert not isinstance(member.step(10), Send)
    assert member.step(10) == Revoke(frozenset({T0}), lost=True)


@pytest.mark.parametrize(("instance_id", "epoch"), [(None, -1), ("name", -2)])
def test_a_parked_member_of_kip_848_says_that_it_goes(instance_id: str | None, epoch: int) -> None:
    member = consumer(instance_id)
    member.park()
    assert request_of(member.step(10), ConsumerGroupHeartbeatRequest).member_epoch == epoch
    member.answered(ConsumerGroupHeartbeatResponse(member_epoch=epoch), 10)
    assert member.step(11) == Revoke(frozenset({T0}), lost=True)
    assert member.step(60_000) == Wait(float("inf"))  # while the loss was not told, and nobody polls
    member.revoked(60_001)
    assert member.step(60_002) == Wait(float("inf"))
    member.resume()
    joining = request_of(member.step(60_003), ConsumerGroupHeartbeatRequest)
    assert joining.member_epoch == 0 and joining.topic_partitions == []


@pytest.mark.parametrize(
    ("instance_id", "remain", "leaves"),
    [
        (None, None, True),
        ("name", None, False),
        (None, False, True),
        ("name", False, True),
        (None, True, False),
    ],
)
def test_who_closes_leaves_unless_it_is_static_or_told_otherwise_in_the_classic_protocol(
    instance_id: str | None, remain: bool | None, leaves: bool
) -> None:
    """KIP-345 and KIP-1092."""
    member = classic(instance_id)
    member.leave(remain)
    assert member.step(10) == Revoke(frozenset({T0}))
    member.revoked(10)
    step = member.step(11)
    if not leaves:
        assert isinstance(step, Left)
        return
    request = request_of(step, LeaveGroupRequest)
    assert request.members[0].group_instance_id == instance_id
    member.answered(LeaveGroupResponse(), 12)
    assert isinstance(member.step(12), Left)


@pytest.mark.parametrize(
    ("instance_id", "remain", "epoch"),
    [(None, None, -1), ("name", None, -2), ("name", False, -1), ("name", True, -2), (None, True, None)],
)
def test_the_epoch_with_which_a_member_of_kip_848_leaves(
    instance_id: str | None, remain: bool | None, epoch: int | None
) -> None:
    member = consumer(instance_id)
    member.leave(remain)
    assert member.step(10) == Revoke(frozenset({T0}))
    member.revoked(10)
    step = member.step(11)
    if epoch is None:
        assert isinstance(step, Left)
    else:
        assert request_of(step, ConsumerGroupHeartbeatRequest).member_epoch == epoch


def test_heartbeats_go_on_while_partitions_wait_to_be_given_up() -> None:
    member = classic()
    member.subscribe(["t", "u"])
    assert member.step(10_000) == Revoke(frozenset({T0}))
    request_of(member.step(10_001), HeartbeatRequest)


def test_the_leader_looks_soon_for_a_topic_that_is_missing() -> None:
    """Java asks for a missing topic's metadata again and again; an existing one only after
    metadata.max.age.ms."""
    member = classic(heartbeat_interval_ms=1_000_000)
    assert member.step(100_000) == Wait(300_000)
    missing = ClassicMembership(GroupSettings("g", heartbeat_interval_ms=1_000_000), ["t"], lambda: 0.5)
    join = request_of(missing.step(0), JoinGroupRequest)
    missing.answered(
        JoinGroupResponse(
            generation_id=1,
            protocol_name="range",
            leader="m",
            member_id="m",
            members=[JoinGroupResponseMember(member_id="m", metadata=join.protocols[0].metadata)],
        ),
        0,
    )
    missing.step(0)
    missing.partition_counts({}, 0)
    missing.step(0)
    missing.answered(SyncGroupResponse(), 0)
    assert missing.step(0) == Assign(frozenset())
    missing.assigned(0)
    assert missing.step(1) == Wait(1000)
    assert missing.step(1000) == CountPartitions(frozenset({"t"}))
    missing.partition_counts({"t": 3}, 1000)
    assert isinstance(missing.step(1001), Send)  # it joins again
