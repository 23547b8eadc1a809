"""Static membership of classic groups (KIP-345, KIP-814)."""

from __future__ import annotations

import pytest

from ottla.groups.classic.states import ClassicState
from ottla.model.errors import ErrorCode, KafkaError
from support.classic_group import Stage, subscription


def test_a_static_member_joins_at_once_and_is_named_after_its_instance(stage: Stage) -> None:
    reply = stage.join(instance="one")
    stage.advance_until(reply)
    assert reply.value.member_id.startswith("one-")
    assert stage.group.static_ids == {"one": reply.value.member_id}


def test_a_static_member_that_restarts_in_a_stable_group_causes_no_rebalance(stage: Stage) -> None:
    leader, follower = stage.stable_static("one", "two")
    reply = stage.join(instance="two")
    new_id = reply.value.member_id
    assert new_id != follower
    assert (reply.value.generation_id, reply.value.leader) == (1, leader)
    assert reply.value.members == []
    assert stage.group.state is ClassicState.STABLE
    assert stage.sync(new_id, 1, instance="two").value.assignment == b"1", "it has what it had"
    assert stage.heartbeat(leader, 1) is ErrorCode.NONE
    assert stage.restarted().group.static_ids["two"] == new_id, "the log knows the new id"


def test_a_static_leader_that_restarts_learns_the_members_and_need_not_assign(stage: Stage) -> None:
    """KIP-814, from version 9 on."""
    stage.stable_static("one", "two")
    reply = stage.join(instance="one")
    assert reply.value.skip_assignment
    assert reply.value.leader == reply.value.member_id
    assert len(reply.value.members) == 2


def test_before_version_9_a_static_leader_that_restarts_is_told_that_it_does_not_lead(stage: Stage) -> None:
    leader, _ = stage.stable_static("one", "two")
    reply = stage.join(instance="one", version=8)
    assert (reply.value.leader, reply.value.members) == (leader, [])
    assert stage.group.leader_id == reply.value.member_id
    assert stage.sync(reply.value.member_id, 1, {"x": b"y"}).value.assignment == b"0"


def test_the_old_process_of_a_static_member_is_fenced(stage: Stage) -> None:
    old, _ = stage.stable_static("one", "two")
    new = stage.join(instance="one").value.member_id
    assert stage.heartbeat(old, 1, instance="one") is ErrorCode.FENCED_INSTANCE_ID
    assert stage.sync(old, 1, instance="one").error is ErrorCode.FENCED_INSTANCE_ID
    assert stage.join(old, instance="one").error is ErrorCode.FENCED_INSTANCE_ID
    assert stage.leave((old, "one")).members[0].error_code == ErrorCode.FENCED_INSTANCE_ID
    with pytest.raises(KafkaError) as caught:
        stage.group.check_offset_commit(old, "one", 1, 9, is_txn=False)
    assert caught.value.code is ErrorCode.FENCED_INSTANCE_ID
    assert stage.heartbeat(old, 1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert stage.heartbeat(new, 1, instance="one") is ErrorCode.NONE


def test_an_unknown_instance_id_is_an_unknown_member(stage: Stage) -> None:
    (member_id,) = stage.stable(1)
    assert stage.heartbeat(member_id, 1, instance="one") is ErrorCode.UNKNOWN_MEMBER_ID
    assert stage.join(member_id, instance="one").error is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_duplicate_that_joins_while_the_first_waits_fences_it(stage: Stage) -> None:
    first = stage.join(instance="one", version=6)
    second = stage.join(instance="one")
    assert first.error is ErrorCode.FENCED_INSTANCE_ID
    stage.advance_until(second)
    assert second.value.generation_id == 1
    assert len(stage.group.members) == 1


def test_a_duplicate_that_joins_while_the_first_waits_for_its_assignment_fences_it(stage: Stage) -> None:
    joins = [stage.join(instance=instance) for instance in ("one", "two")]
    stage.advance_until(joins[0])
    waiting = stage.sync(joins[1].value.member_id, 1)
    again = stage.join(instance="two")
    assert waiting.error is ErrorCode.FENCED_INSTANCE_ID
    assert stage.group.state is ClassicState.PREPARING_REBALANCE, "the leader assigns for the old id"
    stage.join(joins[0].value.member_id, instance="one")
    assert again.value.generation_id == 2


def test_a_restart_that_changes_the_chosen_protocol_makes_the_group_rebalance(stage: Stage) -> None:
    both = {"range": b"", "sticky": b""}
    stage.stable_static("one", "two", protocols=both)
    assert stage.group.protocol_name == "range"
    reply = stage.join(instance="two", protocols={"sticky": b""})
    assert not reply.done
    assert stage.group.state is ClassicState.PREPARING_REBALANCE


def test_a_restart_with_another_order_of_equal_votes_does_not_change_the_protocol(stage: Stage) -> None:
    first = stage.join(instance="one", protocols={"range": b"", "sticky": b""})
    stage.join(instance="two", protocols={"sticky": b"", "range": b""})
    stage.advance_until(first)
    stage.sync(first.value.member_id, 1, {})
    assert stage.group.protocol_name == "range"
    assert stage.join(instance="one", protocols={"range": b"", "sticky": b""}).done


def test_a_restart_with_another_subscription_is_written(stage: Stage) -> None:
    stage.stable_static("one", protocols={"range": subscription("a")})
    stage.join(instance="one", protocols={"range": subscription("b")})
    assert stage.group.subscribed_topics == frozenset({"b"})
    assert stage.restarted().group.subscribed_topics == frozenset({"b"})


def test_the_session_of_a_static_member_goes_on_while_it_restarts(stage: Stage) -> None:
    leader, follower = stage.stable_static("one", "two", session_ms=10_000)
    stage.advance(9_000)
    stage.heartbeat(leader, 1)
    new = stage.join(instance="two", session_ms=10_000).value.member_id
    stage.advance(9_000)
    assert set(stage.group.members) == {leader, new}
    assert ("session", "g", follower) not in stage.state.timers
    stage.advance(1_000)
    assert stage.group.members.keys() == set(), "both were silent for a session"


def test_a_restart_in_a_full_group_takes_its_own_place(stage: Stage) -> None:
    stage.stable_static("one", "two")
    stage.change_settings(max_size=2)
    assert stage.join(instance="two").error is ErrorCode.NONE
    assert stage.join(instance="three").error is ErrorCode.GROUP_MAX_SIZE_REACHED


def test_static_members_that_miss_a_rebalance_stay_until_their_session_ends(stage: Stage) -> None:
    leader, absent = stage.stable_static("one", "two", session_ms=100_000, rebalance_ms=20_000)
    reply = stage.join(leader, instance="one", session_ms=100_000, rebalance_ms=20_000)
    stage.advance(20_000)
    assert reply.value.generation_id == 2
    assert absent in stage.group.members
    stage.sync(leader, 2, {leader: b"", absent: b"kept"})
    assert stage.join(instance="two", session_ms=100_000).value.generation_id == 2


def test_when_only_static_members_are_left_and_none_rejoins_their_sessions_decide(stage: Stage) -> None:
    joins = [
        stage.join(instance=instance, session_ms=30_000, rebalance_ms=rebalance_ms)
        for instance, rebalance_ms in (("one", 20_000), ("two", 0))
    ]
    stage.advance_until(joins[0])
    leader, follower = (join.value.member_id for join in joins)
    stage.sync(leader, 1, {})
    stage.sync(follower, 1)
    stage.leave((leader, None))  # the rebalance timeout of who is left is 0: that must not spin
    stage.advance(29_000)
    assert stage.group.state_name == "PreparingRebalance"
    stage.advance(1_000)
    assert stage.group.state_name == "Empty"


def test_an_administrator_removes_a_static_member_by_its_instance_id(stage: Stage) -> None:
    leader, _ = stage.stable_static("one", "two")
    assert stage.leave(("", "two")).members[0].error_code == ErrorCode.NONE
    assert list(stage.group.members) == [leader]
    assert "two" not in stage.group.static_ids


def test_a_member_that_restarts_before_it_synced_is_waited_for_under_its_new_id(stage: Stage) -> None:
    joins = [stage.join(instance=i, session_ms=60_000, rebalance_ms=20_000) for i in ("one", "two")]
    stage.advance_until(joins[0])
    stage.sync(joins[0].value.member_id, 1, {joins[1].value.member_id: b"2"})
    new = stage.join(instance="two", session_ms=60_000, rebalance_ms=20_000).value.member_id
    assert stage.sync(new, 1).value.assignment == b"2"
    stage.advance(20_000)
    assert stage.group.state is ClassicState.STABLE
