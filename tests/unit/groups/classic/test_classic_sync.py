"""SyncGroup, Heartbeat and LeaveGroup of the classic protocol, and the timers (Kafka 4.2)."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.groups.classic.states import ClassicState
from ottla.model.errors import ErrorCode
from ottla.model.limits import GROUP_LEAVING_MEMBERS_MAX
from ottla.wire.messages.join_group import JoinGroupResponse
from support.classic_group import Reply, Stage


def completing(
    stage: Stage, count: int = 2, **options: Any
) -> tuple[list[str], list[Reply[JoinGroupResponse]]]:
    """A group that waits for its leader's assignment; the leader is the first."""
    ids = [stage.new_id(**options) for _ in range(count)]
    joins = [stage.join(member_id, **options) for member_id in ids]
    stage.advance_until(joins[0])
    assert stage.group.state is ClassicState.COMPLETING_REBALANCE
    return ids, joins


# --- sync -------------------------------------------------------------------------------------------------


def test_followers_wait_for_the_leader_and_everybody_gets_its_own_assignment(stage: Stage) -> None:
    (leader, follower), _ = completing(stage)
    waiting = stage.sync(follower, 1)
    assert not waiting.done
    reply = stage.sync(leader, 1, {leader: b"mine", follower: b"yours"})
    assert (reply.value.assignment, waiting.value.assignment) == (b"mine", b"yours")
    assert (reply.value.protocol_type, reply.value.protocol_name) == ("consumer", "range")
    assert stage.group.state is ClassicState.STABLE


def test_a_follower_that_syncs_late_gets_the_assignment_at_once(stage: Stage) -> None:
    (leader, follower), _ = completing(stage)
    stage.sync(leader, 1, {follower: b"yours"})
    assert stage.sync(follower, 1).value.assignment == b"yours"
    assert stage.sync(follower, 1).value.assignment == b"yours", "as often as it asks"


def test_members_that_the_leader_forgot_get_an_empty_assignment(stage: Stage) -> None:
    (leader, follower), _ = completing(stage)
    waiting = stage.sync(follower, 1)
    stage.sync(leader, 1, {leader: b"all", "stranger": b"what"})
    assert waiting.error is ErrorCode.NONE
    assert waiting.value.assignment == b""
    assert set(stage.group.members) == {leader, follower}


def test_the_assignment_is_written_with_the_group(stage: Stage) -> None:
    leader, follower = stage.stable(2)
    twin = stage.restarted().group
    assert (twin.state, twin.generation, twin.leader_id) == (ClassicState.STABLE, 1, leader)
    assert twin.members[follower].assignment == stage.group.members[follower].assignment
    assert twin.members[follower].client_host == "/127.0.0.1"


@pytest.mark.parametrize("generation", [-1, 0, 2])
def test_a_sync_of_another_generation_is_refused(stage: Stage, generation: int) -> None:
    (leader, _), _ = completing(stage)
    assert stage.sync(leader, generation).error is ErrorCode.ILLEGAL_GENERATION


def test_a_sync_of_somebody_unknown_is_refused(stage: Stage) -> None:
    assert stage.sync("nobody", 1).error is ErrorCode.UNKNOWN_MEMBER_ID
    completing(stage)
    assert stage.sync("nobody", 1).error is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_sync_to_an_empty_group_is_refused(stage: Stage) -> None:
    (member_id,) = stage.stable(1)
    stage.leave((member_id, None))
    assert stage.sync(member_id, 2).error is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_sync_with_another_protocol_is_refused(stage: Stage) -> None:
    """KIP-559."""
    (leader, _), _ = completing(stage)
    assert stage.sync(leader, 1, protocol_type="connect").error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert stage.sync(leader, 1, protocol_name="sticky").error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert stage.sync(leader, 1, protocol_type="consumer", protocol_name="range").error is ErrorCode.NONE


def test_a_sync_while_others_join_says_that_a_rebalance_is_under_way(stage: Stage) -> None:
    leader, _ = stage.stable(2)
    stage.join(version=3)
    assert stage.sync(leader, 1).error is ErrorCode.REBALANCE_IN_PROGRESS


@pytest.mark.parametrize("version", range(6))
def test_every_version_of_sync_is_answered_in_its_form(stage: Stage, version: int) -> None:
    (leader, follower), _ = completing(stage)
    waiting = stage.sync(follower, 1, version=version)
    reply = stage.sync(leader, 1, {leader: b"1", follower: b"2"}, version=version)
    assert (reply.value.assignment, waiting.value.assignment) == (b"1", b"2")
    assert reply.value.protocol_name == ("range" if version >= 5 else None)


def test_a_retried_sync_takes_the_place_of_the_first(stage: Stage) -> None:
    (leader, follower), _ = completing(stage)
    first = stage.sync(follower, 1)
    second = stage.sync(follower, 1)
    assert first.error is ErrorCode.REBALANCE_IN_PROGRESS
    stage.sync(leader, 1, {follower: b"2"})
    assert second.value.assignment == b"2"


def test_members_that_join_and_never_sync_are_removed_after_the_rebalance_timeout(stage: Stage) -> None:
    (leader, lazy), _ = completing(stage, session_ms=30_000, rebalance_ms=20_000)
    stage.sync(leader, 1, {leader: b"1", lazy: b"2"})
    stage.advance(10_000)
    for member_id in (leader, lazy):
        assert stage.heartbeat(member_id, 1) is ErrorCode.NONE
    stage.advance(9_999)
    assert stage.group.state is ClassicState.STABLE
    stage.advance(1)
    assert stage.heartbeat(leader, 1) is ErrorCode.REBALANCE_IN_PROGRESS
    assert stage.heartbeat(lazy, 1) is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_leader_that_never_syncs_does_not_hold_up_the_others_for_ever(stage: Stage) -> None:
    (leader, follower), _ = completing(stage, session_ms=30_000, rebalance_ms=20_000)
    waiting = stage.sync(follower, 1)
    stage.advance(19_999)
    assert not waiting.done
    assert stage.heartbeat(leader, 1) is ErrorCode.NONE
    stage.advance(1)
    assert waiting.error is ErrorCode.REBALANCE_IN_PROGRESS
    assert list(stage.group.members) == [follower]
    assert stage.join(follower).value.leader == follower


def test_when_all_have_synced_no_timer_is_left_but_sessions(stage: Stage) -> None:
    ids = stage.stable(3)
    assert len(stage.state.timers) == 3
    assert all(("session", "g", member_id) in stage.state.timers for member_id in ids)


def test_a_member_that_waits_for_its_assignment_is_not_expired(stage: Stage) -> None:
    (leader, follower), _ = completing(stage, session_ms=6_000, rebalance_ms=60_000)
    waiting = stage.sync(follower, 1)
    for _ in range(10):
        stage.advance(5_000)
        stage.heartbeat(leader, 1)
    stage.sync(leader, 1, {follower: b"2"})
    assert waiting.value.assignment == b"2"
    stage.advance(5_999)
    assert follower in stage.group.members, "its session began with the answer"


def test_an_assignment_too_large_for_the_log_is_refused_and_the_group_rebalances(stage: Stage) -> None:
    """Kafka answers UNKNOWN_SERVER_ERROR when the group's record is too large; no other group notices."""
    (leader, follower), _ = completing(stage)
    waiting = stage.sync(follower, 1)
    written = len(stage.log)
    reply = stage.sync(leader, 1, {leader: b"x" * 1_000_001})
    assert reply.error is waiting.error is ErrorCode.UNKNOWN_SERVER_ERROR
    assert stage.group.state is ClassicState.PREPARING_REBALANCE
    assert len(stage.log) == written
    assert all(member.assignment == b"" for member in stage.group.members.values())


# --- heartbeat --------------------------------------------------------------------------------------------


def test_heartbeats_are_answered_by_the_state_of_the_group(stage: Stage) -> None:
    assert stage.heartbeat("nobody", 0) is ErrorCode.UNKNOWN_MEMBER_ID
    (leader, follower), _ = completing(stage)
    assert stage.heartbeat(leader, 1) is ErrorCode.NONE, "clients begin with the join response"
    stage.sync(leader, 1, {})
    assert stage.heartbeat(leader, 1) is ErrorCode.NONE
    assert stage.heartbeat(leader, 0) is ErrorCode.ILLEGAL_GENERATION
    assert stage.heartbeat("nobody", 1) is ErrorCode.UNKNOWN_MEMBER_ID
    stage.join(leader)
    assert stage.heartbeat(follower, 1) is ErrorCode.REBALANCE_IN_PROGRESS
    stage.leave((leader, None), (follower, None))
    assert stage.heartbeat(leader, 2) is ErrorCode.UNKNOWN_MEMBER_ID


def test_heartbeats_keep_a_session_alive_and_silence_ends_it(stage: Stage) -> None:
    leader, silent = stage.stable(2, session_ms=10_000)
    for _ in range(3):
        stage.advance(4_000)
        assert stage.heartbeat(leader, 1) in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS)
    assert silent not in stage.group.members
    assert stage.group.state is ClassicState.PREPARING_REBALANCE
    reply = stage.join(leader)
    assert reply.value.generation_id == 2


def test_when_the_last_session_ends_the_group_is_written_as_empty(stage: Stage) -> None:
    stage.stable(1, session_ms=10_000)
    stage.advance(10_000)
    twin = stage.restarted().group
    assert (twin.state, twin.generation, twin.protocol_name) == (ClassicState.EMPTY, 2, None)
    assert twin.protocol_type == "consumer"
    assert twin.since_ms == stage.clock.now_ms()


# --- leave ------------------------------------------------------------------------------------------------


def test_a_member_leaves_and_the_others_rebalance(stage: Stage) -> None:
    leader, follower = stage.stable(2)
    response = stage.leave((follower, None))
    assert [(member.member_id, member.error_code) for member in response.members] == [(follower, 0)]
    assert stage.heartbeat(leader, 1) is ErrorCode.REBALANCE_IN_PROGRESS
    assert stage.join(leader).value.generation_id == 2
    assert ("session", "g", follower) not in stage.state.timers


def test_when_the_leader_leaves_the_next_one_leads(stage: Stage) -> None:
    leader, follower = stage.stable(2)
    stage.leave((leader, None))
    assert stage.join(follower).value.leader == follower


def test_when_the_last_member_leaves_the_generation_goes_on_and_the_group_is_empty(stage: Stage) -> None:
    ids = stage.stable(2)
    stage.leave(*((member_id, None) for member_id in ids))
    assert (stage.group.state, stage.group.generation) == (ClassicState.EMPTY, 2)
    assert stage.restarted().group.generation == 2
    assert not len(stage.state.timers)
    reply = stage.join(version=3)
    stage.advance_until(reply)
    assert reply.value.generation_id == 3


def test_up_to_version_2_the_error_of_the_only_member_is_the_response(stage: Stage) -> None:
    (member_id,) = stage.stable(1)
    assert stage.leave_v2("nobody").error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert stage.leave_v2(member_id).error_code == ErrorCode.NONE
    assert stage.leave_v2(member_id).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert stage.leave_v2(member_id, group="other").error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_in_a_batch_every_member_has_its_own_error(stage: Stage) -> None:
    (one,) = stage.stable_static("one")
    response = stage.leave(
        (one, "other"), ("nobody", None), ("", None), ("", "two"), ("wrong", "one"), ("", "one")
    )
    assert response.error_code == ErrorCode.NONE
    assert [member.error_code for member in response.members] == [
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.NONE,
    ]
    assert stage.group.is_empty


def test_leaving_an_unknown_group_is_answered_for_every_member(stage: Stage) -> None:
    response = stage.leave(("a", None), ("", "i"), group="none")
    assert response.error_code == ErrorCode.NONE
    assert [member.error_code for member in response.members] == [ErrorCode.UNKNOWN_MEMBER_ID] * 2


def test_a_batch_of_more_members_than_a_group_has_is_refused(stage: Stage) -> None:
    too_many = [("m", None)] * (GROUP_LEAVING_MEMBERS_MAX + 1)
    assert stage.leave(*too_many).error_code == ErrorCode.INVALID_REQUEST


def test_a_pending_id_may_leave_and_disturbs_nobody(stage: Stage) -> None:
    stage.stable(1)
    pending = stage.new_id()
    assert stage.leave((pending, None)).members[0].error_code == ErrorCode.NONE
    assert not stage.group.pending_join
    assert stage.group.state is ClassicState.STABLE
    assert ("session", "g", pending) not in stage.state.timers


def test_the_last_one_to_be_waited_for_leaves_and_the_join_phase_is_over(stage: Stage) -> None:
    leader, follower = stage.stable(2)
    reply = stage.join(leader)
    stage.leave((follower, None))
    assert reply.value.generation_id == 2


def test_a_member_that_is_removed_while_it_waits_is_told(stage: Stage) -> None:
    waiting = stage.join(version=3)
    (member_id,) = stage.group.members
    stage.leave((member_id, None))
    assert waiting.error is ErrorCode.UNKNOWN_MEMBER_ID
    stage.advance(3_000)
    assert stage.group.is_empty

    (_, follower), _ = completing(stage)
    syncing = stage.sync(follower, stage.group.generation)
    stage.leave((follower, None))
    assert syncing.error is ErrorCode.UNKNOWN_MEMBER_ID
