"""The classic group protocol as a state machine: answers go in by hand, effects come out."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.client.consumer_protocol import (
    read_assignment,
    read_subscription,
    write_assignment,
    write_subscription,
)
from ottla.client.effects import Versioned
from ottla.client.errors import BrokerUnavailable, InvalidArgument, ProtocolError, ServerError
from ottla.client.membership import (
    FOREVER,
    Assign,
    CountPartitions,
    GroupSettings,
    Left,
    Revoke,
    Send,
    Wait,
)
from ottla.client.membership_classic import ClassicMembership, State
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember
from ottla.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse

T0, T1, T2 = (TopicPartition("t", n) for n in range(3))


def membership(**settings: Any) -> ClassicMembership:
    settings.setdefault("assignors", ("range",))
    return ClassicMembership(GroupSettings("g", **settings), ["t"], lambda: 0.5)


def sent(step: Any, kind: type) -> Any:
    assert isinstance(step, Send)
    request = step.request.build(99) if isinstance(step.request, Versioned) else step.request
    assert isinstance(request, kind), request
    return request


def joined(
    member_id: str = "m1", generation: int = 1, leader: str = "other", protocol: str = "range", **fields: Any
) -> JoinGroupResponse:
    return JoinGroupResponse(
        generation_id=generation,
        protocol_type="consumer",
        protocol_name=protocol,
        leader=leader,
        member_id=member_id,
        **fields,
    )


def follow(m: ClassicMembership, *partitions: TopicPartition, now: float = 0, generation: int = 1) -> None:
    """Through join and sync to a stable member that owns these."""
    sent(m.step(now), JoinGroupRequest)
    m.answered(joined(generation=generation, protocol=m.settings.assignors[0]), now)
    sent(m.step(now), SyncGroupRequest)
    m.answered(SyncGroupResponse(assignment=write_assignment(partitions)), now)
    settle(m, now)
    assert m.owned == set(partitions)


def settle(m: ClassicMembership, now: float) -> list[Revoke | Assign]:
    """Carries out what concerns partitions, as a driver would."""
    seen: list[Revoke | Assign] = []
    while m.state is State.STABLE and not m.joined:
        step = m.step(now)
        assert isinstance(step, Revoke | Assign), step
        seen.append(step)
        (m.revoked if isinstance(step, Revoke) else m.assigned)(now)
    return seen


def test_a_member_joins_again_under_the_name_it_is_given() -> None:
    """KIP-394: MEMBER_ID_REQUIRED."""
    m = membership()
    assert sent(m.step(0), JoinGroupRequest).member_id == ""
    m.answered(JoinGroupResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED, member_id="m1"), 0)
    again = sent(m.step(0), JoinGroupRequest)
    assert again.member_id == "m1"
    assert [p.name for p in again.protocols] == ["range"]
    assert read_subscription(again.protocols[0].metadata).topics == ("t",)


def test_while_a_request_is_under_way_nothing_else_is_asked_for() -> None:
    m = membership()
    m.step(0)
    assert m.step(1e9) == Wait(FOREVER)


def test_a_follower_syncs_with_nothing_and_takes_what_it_gets() -> None:
    m = membership()
    sent(m.step(0), JoinGroupRequest)
    m.answered(joined(generation=4), 0)
    sync = sent(m.step(0), SyncGroupRequest)
    assert (sync.generation_id, sync.member_id, sync.assignments) == (4, "m1", [])
    m.answered(SyncGroupResponse(assignment=write_assignment([T0, T1])), 0)
    assert m.step(0) == Assign(frozenset({T0, T1}))
    assert m.owned == set()
    m.assigned(0)
    assert m.joined and m.owned == {T0, T1}
    assert m.identity == ("m1", 4, None)


def test_the_leader_counts_the_topics_of_all_members_and_assigns() -> None:
    m = membership()
    sent(m.step(0), JoinGroupRequest)
    members = [
        JoinGroupResponseMember(member_id="m1", metadata=write_subscription(["t"])),
        JoinGroupResponseMember(member_id="m2", metadata=write_subscription(["t", "u"])),
    ]
    m.answered(joined(leader="m1", members=members), 0)
    assert m.step(0) == CountPartitions(frozenset({"t", "u"}))
    m.partition_counts({"t": 4}, 0)  # `u` does not exist yet
    sync = sent(m.step(0), SyncGroupRequest)
    parts = {a.member_id: read_assignment(a.assignment) for a in sync.assignments}
    assert parts == {"m1": [T0, T1], "m2": [T2, TopicPartition("t", 3)]}


def test_a_leader_that_may_skip_the_assignment_sends_none() -> None:
    """KIP-814: a static leader came back; the coordinator keeps the assignment that stands."""
    m = membership(instance_id="i")
    sent(m.step(0), JoinGroupRequest)
    mine = JoinGroupResponseMember(member_id="m1", metadata=write_subscription(["t"]))
    m.answered(joined(leader="m1", members=[mine], skip_assignment=True), 0)
    assert m.step(0) == CountPartitions(frozenset({"t"}))
    m.partition_counts({"t": 3}, 0)
    assert sent(m.step(0), SyncGroupRequest).assignments == []


def test_the_leader_looks_for_new_partitions_now_and_then_and_joins_again() -> None:
    m = membership(metadata_max_age_ms=1000, heartbeat_interval_ms=50_000)
    sent(m.step(0), JoinGroupRequest)
    mine = JoinGroupResponseMember(member_id="m1", metadata=write_subscription(["t"]))
    m.answered(joined(leader="m1", members=[mine]), 0)
    m.step(0)
    m.partition_counts({"t": 1}, 0)
    m.step(0)
    m.answered(SyncGroupResponse(assignment=write_assignment([T0])), 0)
    settle(m, 0)
    assert m.step(0) == Wait(1000)
    assert m.step(1000) == CountPartitions(frozenset({"t"}))
    m.partition_counts({"t": 1}, 1000)
    assert m.step(1000) == Wait(2000)
    assert isinstance(m.step(2000), CountPartitions)
    m.partition_counts({"t": 2}, 2000)
    assert m.step(2000) == Revoke(frozenset({T0}))


def test_heartbeats_are_sent_at_the_interval() -> None:
    m = membership(heartbeat_interval_ms=3000)
    follow(m, T0)
    assert m.step(0) == Wait(3000)
    beat = sent(m.step(3000), HeartbeatRequest)
    assert (beat.member_id, beat.generation_id) == ("m1", 1)
    m.answered(HeartbeatResponse(), 3001)
    assert m.step(3001) == Wait(6000)


def test_an_eager_member_gives_everything_up_before_it_joins_again() -> None:
    m = membership()
    follow(m, T0, T1)
    m.step(3000)
    m.answered(HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS), 3000)
    assert m.step(3000) == Revoke(frozenset({T0, T1}))
    assert m.identity.generation == 1  # what is committed in the callback carries it
    m.revoked(3000)
    again = sent(m.step(3000), JoinGroupRequest)
    assert again.member_id == "m1"
    assert read_subscription(again.protocols[0].metadata).owned == ()


def test_a_cooperative_member_keeps_what_it_has_and_gives_up_only_what_has_moved() -> None:
    """KIP-429: and joins once more, so that the others can have it."""
    m = membership(assignors=("cooperative-sticky",))
    follow(m, T0, T1)
    m.step(3000)
    m.answered(HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS), 3000)
    again = sent(m.step(3000), JoinGroupRequest)
    told = read_subscription(again.protocols[0].metadata)
    assert (set(told.owned), told.generation) == ({T0, T1}, 1)
    m.answered(joined(generation=2, protocol="cooperative-sticky"), 3000)
    m.step(3000)
    m.answered(SyncGroupResponse(assignment=write_assignment([T0])), 3000)
    assert settle(m, 3000) == [Revoke(frozenset({T1})), Assign(frozenset())]
    assert m.owned == {T0}
    once_more = sent(m.step(3000), JoinGroupRequest)
    assert read_subscription(once_more.protocols[0].metadata).owned == (T0,)


def test_an_offer_of_eager_and_cooperative_assignors_is_eager() -> None:
    assert not membership(assignors=("range", "cooperative-sticky")).cooperative
    assert membership(assignors=("cooperative-sticky",)).cooperative


def test_a_sticky_member_tells_what_it_had_although_it_gave_it_up() -> None:
    """KIP-54."""
    from ottla.assignors.user_data import decode_previous_assignment

    m = membership(assignors=("sticky",))
    follow(m, T0, T2, generation=5)
    m.step(3000)
    m.answered(HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS), 3000)
    m.step(3000)
    m.revoked(3000)
    again = sent(m.step(3000), JoinGroupRequest)
    told = decode_previous_assignment(read_subscription(again.protocols[0].metadata).user_data)
    assert told == ((T0, T2), 5)


@pytest.mark.parametrize(
    ("code", "member_id"), [(ErrorCode.UNKNOWN_MEMBER_ID, ""), (ErrorCode.ILLEGAL_GENERATION, "m1")]
)
def test_a_member_that_was_thrown_out_loses_its_partitions_and_joins_anew(
    code: ErrorCode, member_id: str
) -> None:
    m = membership()
    follow(m, T0)
    m.step(3000)
    m.answered(HeartbeatResponse(error_code=code), 3000)
    assert m.step(3000) == Revoke(frozenset({T0}), lost=True)
    m.revoked(3000)
    assert sent(m.step(3000), JoinGroupRequest).member_id == member_id


def test_a_sync_that_meets_a_new_rebalance_joins_again() -> None:
    m = membership()
    m.step(0)
    m.answered(joined(), 0)
    m.step(0)
    m.answered(SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS), 0)
    wait = m.step(0)
    assert isinstance(wait, Wait) and wait.until_ms == 100
    assert sent(m.step(100), JoinGroupRequest).member_id == "m1"


@pytest.mark.parametrize(
    ("code", "rediscover"),
    [
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, False),
        (ErrorCode.COORDINATOR_NOT_AVAILABLE, True),
        (ErrorCode.NOT_COORDINATOR, True),
    ],
)
def test_a_coordinator_that_cannot_help_now_is_asked_again_after_a_back_off(
    code: ErrorCode, rediscover: bool
) -> None:
    m = membership()
    m.step(0)
    m.answered(JoinGroupResponse(error_code=code), 0)
    assert m.step(0) == Wait(100)
    step = m.step(100)
    assert isinstance(step, Send) and step.rediscover is rediscover


def test_a_heartbeat_that_is_lost_costs_nothing_but_another_one() -> None:
    m = membership()
    follow(m, T0)
    m.step(3000)
    m.failed(BrokerUnavailable("a:1"), 3000)
    assert m.owned == {T0} and m.step(3000) == Wait(3100)
    step = m.step(3100)
    sent(step, HeartbeatRequest)
    assert isinstance(step, Send) and step.rediscover
    m.answered(HeartbeatResponse(), 3100)
    assert m.step(3100) == Wait(6100)


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
        ErrorCode.GROUP_MAX_SIZE_REACHED,
        ErrorCode.INVALID_SESSION_TIMEOUT,
    ],
)
def test_what_cannot_be_cured_is_raised_with_what_to_do(code: ErrorCode) -> None:
    m = membership()
    m.step(0)
    with pytest.raises(ServerError, match="group g: ") as caught:
        m.answered(JoinGroupResponse(error_code=code), 0)
    assert caught.value.code is code and code.name not in str(caught.value)
    assert m.step(0) == Left()


def test_a_leaving_member_gives_up_its_partitions_first_and_then_says_so() -> None:
    m = membership()
    follow(m, T0)
    m.leave()
    assert m.step(0) == Revoke(frozenset({T0}))
    m.revoked(0)
    request = sent(m.step(0), LeaveGroupRequest)
    assert [member.member_id for member in request.members] == ["m1"]
    m.answered(LeaveGroupResponse(), 0)
    assert m.step(0) == Left()


def test_an_old_broker_is_told_of_the_leaving_in_the_old_form() -> None:
    m = membership()
    follow(m)
    m.leave()
    step = m.step(0)
    assert isinstance(step, Send) and isinstance(step.request, Versioned)
    request: Any = step.request.build(2)
    assert (request.member_id, request.members) == ("m1", [])


def test_a_static_member_does_not_leave() -> None:
    """KIP-345: it keeps its place until its session ends."""
    m = membership(instance_id="i1")
    assert sent(m.step(0), JoinGroupRequest).group_instance_id == "i1"
    m.answered(joined(), 0)
    m.step(0)
    m.answered(SyncGroupResponse(assignment=write_assignment([T0])), 0)
    settle(m, 0)
    m.leave()
    assert m.step(0) == Revoke(frozenset({T0}))
    m.revoked(0)
    assert m.step(0) == Left()


def test_a_driver_that_was_interrupted_in_a_join_can_still_leave() -> None:
    m = membership()
    m.step(0)
    m.answered(JoinGroupResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED, member_id="m1"), 0)
    m.step(0)
    m.abandon()
    m.leave()
    assert sent(m.step(0), LeaveGroupRequest).members[0].member_id == "m1"
    m.failed(BrokerUnavailable("a:1"), 0)
    assert m.step(0) == Left()


def test_a_long_callback_does_not_cost_the_membership() -> None:
    m = membership()
    follow(m, T0)
    m.step(3000)
    m.answered(HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS), 3000)
    assert isinstance(m.step(3000), Revoke)
    assert m.step(3000) == Wait(6000)
    sent(m.step(6000), HeartbeatRequest)
    m.answered(HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS), 6000)
    m.revoked(6500)
    sent(m.step(6500), JoinGroupRequest)


def test_a_changed_subscription_is_told_by_joining_again() -> None:
    m = membership()
    follow(m, T0)
    m.subscribe(["t"])
    assert m.step(0) == Wait(3000)
    m.subscribe(["t", "u"])
    assert isinstance(m.step(0), Revoke)
    m.revoked(0)
    again = sent(m.step(0), JoinGroupRequest)
    assert read_subscription(again.protocols[0].metadata).topics == ("t", "u")


def test_a_rebalance_can_be_asked_for_with_a_reason() -> None:
    """KIP-568; the reason goes along with JoinGroup (KIP-800)."""
    m = membership()
    follow(m, T0)
    m.rejoin("a disk was added")
    assert isinstance(m.step(0), Revoke)
    m.revoked(0)
    assert sent(m.step(0), JoinGroupRequest).reason == "a disk was added"


def test_assignors_that_do_not_exist_and_bytes_that_cannot_be_read_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="there is no assignor 'best'"):
        membership(assignors=("best",))
    m = membership()
    m.step(0)
    bad = JoinGroupResponseMember(member_id="m2", metadata=b"\x00")
    with pytest.raises(ProtocolError):
        m.answered(joined(leader="m1", members=[bad]), 0)
