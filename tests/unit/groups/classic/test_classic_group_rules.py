"""What a classic group allows in each state, how it is replayed, how it changes its kind (Kafka 4.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ottla.coordination.outcome import Outcome
from ottla.coordination.record import CoordinatorRecord
from ottla.groups.classic.group import ClassicGroup
from ottla.groups.classic.member import ClassicMember
from ottla.groups.classic.states import TRANSITIONS, ClassicState
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.consumer_offsets import (
    ConsumerGroupMetadataKey,
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
)
from support.classic_group import BEGINS_MS, Stage, subscription


def refusal(check: Callable[[], None]) -> ErrorCode:
    try:
        check()
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE


def commit(
    stage: Stage, member_id: str, generation: int, instance: str | None = None, *, is_txn: bool = False
) -> ErrorCode:
    return refusal(lambda: stage.group.check_offset_commit(member_id, instance, generation, 9, is_txn=is_txn))


# --- states -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ClassicState)
@pytest.mark.parametrize("then", ClassicState)
def test_only_the_ways_in_the_table_can_be_gone(state: ClassicState, then: ClassicState) -> None:
    group = ClassicGroup("g", state=state, since_ms=0)
    if then in TRANSITIONS[state]:
        group.transition_to(then, 5)
        assert (group.state, group.previous_state, group.since_ms) == (then, state, 5)
    else:
        with pytest.raises(AssertionError):
            group.transition_to(then, 5)


def test_the_table_is_the_one_that_kafka_has() -> None:
    before = {state: {s.value for s in ClassicState if state in TRANSITIONS[s]} for state in ClassicState}
    assert before == {
        ClassicState.EMPTY: {"PreparingRebalance"},
        ClassicState.PREPARING_REBALANCE: {"Stable", "CompletingRebalance", "Empty"},
        ClassicState.COMPLETING_REBALANCE: {"PreparingRebalance"},
        ClassicState.STABLE: {"CompletingRebalance"},
        ClassicState.DEAD: {"Stable", "PreparingRebalance", "CompletingRebalance", "Empty", "Dead"},
    }


# --- commits ----------------------------------------------------------------------------------------------


def test_commits_without_a_member_are_taken_while_the_group_is_empty(stage: Stage) -> None:
    stage.groups.create_for_offsets("g")
    assert commit(stage, "", -1) is ErrorCode.NONE
    assert commit(stage, "anybody", -1) is ErrorCode.NONE
    assert commit(stage, "anybody", 0) is ErrorCode.UNKNOWN_MEMBER_ID
    stage.state.groups.clear()


def test_commits_of_a_stable_group_need_its_generation_and_a_member(stage: Stage) -> None:
    (member_id,) = stage.stable(1)
    assert commit(stage, member_id, 1) is ErrorCode.NONE
    assert commit(stage, member_id, 0) is ErrorCode.ILLEGAL_GENERATION
    assert commit(stage, member_id, -1) is ErrorCode.ILLEGAL_GENERATION
    assert commit(stage, "nobody", 1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert commit(stage, "", -1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert commit(stage, "", -1, "instance") is ErrorCode.UNKNOWN_MEMBER_ID


def test_commits_of_the_old_generation_are_taken_while_members_join(stage: Stage) -> None:
    leader, follower = stage.stable(2)
    stage.join(leader)
    assert stage.group.state is ClassicState.PREPARING_REBALANCE
    assert commit(stage, follower, 1) is ErrorCode.NONE


def test_commits_while_the_assignment_is_awaited_are_refused_unless_transactional(stage: Stage) -> None:
    reply = stage.join(version=3)
    stage.advance_until(reply)
    member_id = reply.value.member_id
    assert commit(stage, member_id, 1) is ErrorCode.REBALANCE_IN_PROGRESS
    assert commit(stage, member_id, 1, is_txn=True) is ErrorCode.NONE
    assert commit(stage, member_id, 0) is ErrorCode.ILLEGAL_GENERATION


def test_a_transactional_commit_may_name_nobody(stage: Stage) -> None:
    stage.stable(1)
    assert commit(stage, "", -1, is_txn=True) is ErrorCode.NONE


def test_a_commit_is_a_sign_of_life_in_a_stable_or_joining_group(stage: Stage) -> None:
    reply = stage.join(version=3, session_ms=8_000)
    stage.advance_until(reply)
    member_id = reply.value.member_id
    assert stage.group.session_after_commit_ms(member_id) is None
    stage.sync(member_id, 1)
    assert stage.group.session_after_commit_ms(member_id) == 8_000
    assert stage.group.session_after_commit_ms("") is None


# --- offsets and deletion ---------------------------------------------------------------------------------


def test_only_an_empty_group_may_be_deleted(stage: Stage) -> None:
    (member_id,) = stage.stable(1)
    assert refusal(stage.group.check_delete) is ErrorCode.NON_EMPTY_GROUP
    stage.leave((member_id, None))
    assert refusal(stage.group.check_delete) is ErrorCode.NONE


def test_offsets_of_a_group_with_members_may_be_deleted_when_it_is_known_what_they_read(stage: Stage) -> None:
    stage.stable(1)
    assert refusal(stage.group.check_offset_delete) is ErrorCode.NONE


def test_offsets_of_another_kind_of_group_with_members_may_not_be_deleted(stage: Stage) -> None:
    (member_id,) = stage.stable(1, protocol_type="connect")
    assert refusal(stage.group.check_offset_delete) is ErrorCode.NON_EMPTY_GROUP
    stage.leave((member_id, None))
    assert refusal(stage.group.check_offset_delete) is ErrorCode.NONE


def test_a_deleted_group_is_dead_and_gone_with_its_timers(stage: Stage) -> None:
    stage.new_id()
    group = stage.group
    outcome = Outcome()
    outcome.records += group.tombstones()
    stage.run(outcome)
    assert not stage.state.groups
    assert not len(stage.state.timers)
    assert group.state is ClassicState.DEAD
    for check in (group.check_delete, group.check_offset_delete, lambda: group.check_offset_fetch(None, -1)):
        assert refusal(check) is ErrorCode.GROUP_ID_NOT_FOUND
    assert (
        refusal(lambda: group.check_offset_commit("", None, -1, 9, is_txn=False))
        is ErrorCode.COORDINATOR_NOT_AVAILABLE
    )


def test_offsets_expire_from_the_moment_the_group_is_empty(stage: Stage) -> None:
    """KIP-211."""
    (member_id,) = stage.stable(1, protocols={"range": subscription("a")})
    stage.advance(1_000)
    stage.leave((member_id, None))
    assert stage.group.expires_from_ms(5) == stage.clock.now_ms()
    assert not stage.group.is_subscribed_to("a")
    assert stage.restarted().group.expires_from_ms(5) == stage.clock.now_ms()


def test_offsets_of_a_stable_consumer_group_expire_from_their_commit(stage: Stage) -> None:
    leader, _ = stage.stable(2, protocols={"range": subscription("a")})
    assert stage.group.is_subscribed_to("a")
    assert not stage.group.is_subscribed_to("b")
    assert stage.group.expires_from_ms(5) == 5
    stage.join(leader, protocols={"range": subscription("a")})
    assert stage.group.expires_from_ms(5) is None, "not while it rebalances"


def test_offsets_of_a_connect_group_with_members_do_not_expire(stage: Stage) -> None:
    stage.stable(1, protocol_type="connect")
    assert stage.group.expires_from_ms(5) is None


def test_offsets_of_a_simple_group_expire_from_their_commit(stage: Stage) -> None:
    group = stage.groups.create_for_offsets("g")
    assert group.expires_from_ms(5) == 5
    assert not group.is_subscribed_to("a")
    assert (group.protocol_type, group.state_name, group.is_empty) == ("", "Empty", True)
    stage.state.groups.clear()


# --- replay -----------------------------------------------------------------------------------------------


def test_a_loaded_group_goes_on_where_it_was(stage: Stage) -> None:
    leader, follower = stage.stable(2, session_ms=10_000)
    stage.advance(9_000)
    other = stage.restarted()
    other.run(other.groups.loaded())
    other.advance(9_000)
    assert other.heartbeat(leader, 1) is ErrorCode.NONE, "its session began when the log was loaded"
    other.advance(1_000)
    assert follower not in other.group.members
    assert other.group.state is ClassicState.PREPARING_REBALANCE
    assert other.join(leader).value.generation_id == 2


def test_a_generation_that_was_not_written_is_forgotten_and_formed_again(stage: Stage) -> None:
    leader, follower = stage.stable(2)
    stage.join(leader)
    stage.join(follower)
    assert stage.group.generation == 2
    other = stage.restarted()
    other.run(other.groups.loaded())
    assert other.heartbeat(leader, 2) is ErrorCode.ILLEGAL_GENERATION
    joins = [other.join(member_id) for member_id in (leader, follower)]
    assert [join.value.generation_id for join in joins] == [2, 2]


def test_ids_of_loaded_members_are_not_handed_out_again(stage: Stage) -> None:
    """The chance of a simulation that restarts with its seed, and of nobody else."""
    stage.stable(2)
    other = stage.restarted()
    ids = {other.new_id() for _ in range(3)}
    assert len(ids) == 3
    assert not ids & other.group.members.keys()


def test_a_record_of_version_0_is_understood(stage: Stage) -> None:
    """No rebalance timeout, no timestamp, no instance ids."""
    value = GroupMetadataValue(
        protocol_type="consumer",
        generation=3,
        protocol="range",
        leader="m",
        members=[MemberMetadata(member_id="m", session_timeout=9_000, subscription=subscription("a"))],
    )
    record = CoordinatorRecord(GroupMetadataKey(group="g"), value, 0)
    stage.log.append((record.key_bytes(), record.value_bytes()))
    group = stage.restarted().group
    assert group.since_ms is None
    assert group.members["m"].rebalance_timeout_ms == 9_000
    assert group.subscribed_topics == frozenset({"a"})
    stage.log.clear()


def test_the_group_is_written_in_the_version_that_kafka_writes(stage: Stage) -> None:
    stage.stable(1)
    assert all(value is not None and value[:2] == b"\0\3" for _, value in stage.log)


def test_descriptions_show_metadata_of_stable_groups_only(stage: Stage) -> None:
    leader, _ = stage.stable(2)
    described = stage.groups.describe(stage.group)
    assert (described.group_state, described.protocol_type, described.protocol_data) == (
        "Stable",
        "consumer",
        "range",
    )
    assert [member.member_metadata for member in described.members] == [b"any", b"any"]
    stage.join(leader)
    described = stage.groups.describe(stage.group)
    assert (described.group_state, described.protocol_data) == ("PreparingRebalance", "")
    assert [member.member_metadata for member in described.members] == [b"", b""]


def test_a_shard_that_is_given_up_knows_everybody_who_waits(stage: Stage) -> None:
    joining = stage.join(version=3, group="other")
    member = stage.join(version=3)
    stage.advance_until(member)
    stage.join(version=3)
    assert {id(promise) for promise in stage.groups.parked("other")} <= {id(joining)}
    assert len(stage.groups.parked()) == len(stage.unanswered())


# --- other kinds of groups --------------------------------------------------------------------------------


def member(name: str, **protocols: bytes) -> ClassicMember:
    return ClassicMember(
        name,
        rebalance_timeout_ms=20_000,
        session_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=protocols,
        assignment=name.encode(),
    )


def made_elsewhere() -> ClassicGroup:
    return ClassicGroup(
        "g",
        state=ClassicState.STABLE,
        since_ms=BEGINS_MS,
        generation=7,
        protocol_type="consumer",
        members=[member("a", range=subscription("t"), sticky=b""), member("b", range=subscription("t"))],
    )


def test_a_group_made_from_another_kind_is_whole(stage: Stage) -> None:
    group = made_elsewhere()
    assert (group.protocol_name, group.leader_id, group.subscribed_topics) == ("range", "a", frozenset({"t"}))


def test_an_adopted_group_is_written_and_rebalances_when_told_to(stage: Stage) -> None:
    stage.run(stage.groups.adopt(made_elsewhere()))
    assert stage.heartbeat("a", 7) is ErrorCode.NONE
    assert stage.sync("b", 7).value.assignment == b"b"
    other = Stage()
    other.run(other.groups.adopt(made_elsewhere(), "it was a consumer group"))
    assert other.heartbeat("a", 7) is ErrorCode.REBALANCE_IN_PROGRESS
    assert other.restarted().group.generation == 7
    first = other.join("a", protocols={"range": subscription("t")})
    other.advance(9_999)
    other.join("b", protocols={"range": subscription("t")})
    assert first.value.generation_id == 8


def test_adopting_takes_over_session_timers_of_the_other_kind(stage: Stage) -> None:
    def foreign() -> Outcome:
        raise AssertionError("the group is classic now")

    stage.state.timers.set(("session", "g", "a"), 1, foreign)
    stage.run(stage.groups.adopt(made_elsewhere()))
    stage.advance(10_000)
    assert stage.group.is_empty


def test_a_rebalance_can_be_begun_from_outside(stage: Stage) -> None:
    leader, follower = stage.stable(2)
    stage.run(stage.groups.begin_rebalance(stage.group, "the test says so"))
    stage.run(stage.groups.begin_rebalance(stage.group, "and again"))
    assert stage.heartbeat(leader, 1) is ErrorCode.REBALANCE_IN_PROGRESS
    joins = [stage.join(leader), stage.join(follower)]
    assert joins[0].value.generation_id == 2


def test_a_dissolved_group_lets_go_of_everybody(stage: Stage) -> None:
    leader, _ = stage.stable(2)
    waiting = stage.join(leader)
    group = stage.group
    outcome = stage.groups.dissolve(group)
    assert stage.heartbeat(leader, 1) is ErrorCode.COORDINATOR_NOT_AVAILABLE, (
        "until the tombstone is replayed"
    )
    assert len(group.members) == 2, "whoever takes them over can still read them"
    stage.run(outcome)
    assert waiting.error is ErrorCode.REBALANCE_IN_PROGRESS
    assert not stage.state.groups
    assert not len(stage.state.timers)


class OtherGroup:
    """A group of another kind, as far as the classic part looks at it."""

    def __init__(self, *, is_empty: bool) -> None:
        self.group_id = "g"
        self.is_empty = is_empty

    def tombstones(self) -> list[CoordinatorRecord]:
        return [CoordinatorRecord(ConsumerGroupMetadataKey(group_id="g"), None)]


def put_other_group(stage: Stage, *, is_empty: bool) -> None:
    other: Any = OtherGroup(is_empty=is_empty)
    stage.state.groups["g"] = other


def test_a_group_of_another_kind_with_members_is_left_alone(stage: Stage) -> None:
    put_other_group(stage, is_empty=False)
    assert stage.join().error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert stage.sync("m", 1).error is ErrorCode.UNKNOWN_MEMBER_ID
    assert stage.heartbeat("m", 1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert stage.leave(("m", None)).members[0].error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert not stage.log
    assert isinstance(stage.state.groups["g"], OtherGroup)


def test_an_empty_group_of_another_kind_makes_room_for_a_classic_one(stage: Stage) -> None:
    put_other_group(stage, is_empty=True)
    assert stage.join("m").error is ErrorCode.UNKNOWN_MEMBER_ID
    assert isinstance(stage.state.groups["g"], OtherGroup)
    assert stage.join().error is ErrorCode.MEMBER_ID_REQUIRED
    assert [value is None for _, value in stage.log] == [True, False], "its tombstone, then the new group"
    assert stage.group.is_empty


def test_the_tombstone_of_a_classic_group_does_not_touch_another_kind(stage: Stage) -> None:
    put_other_group(stage, is_empty=True)
    stage.groups.replay(CoordinatorRecord(GroupMetadataKey(group="g"), None))
    assert "g" in stage.state.groups
