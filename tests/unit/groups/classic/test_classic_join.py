"""JoinGroup of the classic protocol, rule by rule (Kafka 4.2's group coordinator, KIP-394, KIP-800)."""

from __future__ import annotations

import pytest

from ottla.groups.classic.states import ClassicState
from ottla.model.errors import ErrorCode
from ottla.model.limits import GROUP_PENDING_MEMBERS_MAX, GROUP_PROTOCOLS_MAX
from ottla.wire.messages.join_group import JoinGroupRequestProtocol
from support.classic_group import Stage, subscription


def test_an_empty_group_id_is_refused(stage: Stage) -> None:
    assert stage.join(group="").error is ErrorCode.INVALID_GROUP_ID
    assert stage.sync("m", 1, group="").error is ErrorCode.INVALID_GROUP_ID
    assert stage.heartbeat("m", 1, group="") is ErrorCode.INVALID_GROUP_ID
    assert stage.leave(("m", None), group="").error_code == ErrorCode.INVALID_GROUP_ID
    assert not stage.state.groups


@pytest.mark.parametrize("session_ms", [-1, 0, 5_999, 1_800_001])
def test_a_session_timeout_outside_the_bounds_is_refused(stage: Stage, session_ms: int) -> None:
    assert stage.join(session_ms=session_ms).error is ErrorCode.INVALID_SESSION_TIMEOUT
    assert not stage.state.groups


def test_a_dynamic_member_gets_its_id_first_from_version_4_on(stage: Stage) -> None:
    """KIP-394."""
    reply = stage.join(version=4, client_id="app")
    assert reply.error is ErrorCode.MEMBER_ID_REQUIRED
    prefix, _, uuid = reply.value.member_id.partition("-")
    assert prefix == "app"
    assert len(uuid) == 36
    assert stage.group.pending_join == {reply.value.member_id}
    assert stage.group.state is ClassicState.EMPTY


def test_before_version_4_a_member_joins_without_an_id(stage: Stage) -> None:
    reply = stage.join(version=3)
    stage.advance_until(reply)
    assert reply.value.member_id in stage.group.members
    assert reply.value.generation_id == 1


def test_the_first_join_of_a_group_writes_the_group_as_empty(stage: Stage) -> None:
    stage.join()
    assert len(stage.log) == 1
    twin = stage.restarted().group
    assert (twin.state, twin.generation, twin.protocol_type) == (ClassicState.EMPTY, 0, "")


def test_an_id_that_is_not_used_within_the_session_timeout_is_forgotten(stage: Stage) -> None:
    member_id = stage.new_id(session_ms=10_000)
    stage.advance(10_000)
    assert not stage.group.pending_join
    assert stage.join(member_id).error is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_pending_id_with_an_instance_id_is_refused_without_harm(stage: Stage) -> None:
    member_id = stage.new_id()
    assert stage.join(member_id, instance="i").error is ErrorCode.UNKNOWN_SERVER_ERROR
    assert not stage.join(member_id).done


def test_member_ids_stay_short_whatever_the_client_calls_itself(stage: Stage) -> None:
    reply = stage.join(client_id="x" * 32_767, version=4)
    assert len(reply.value.member_id) == 255 + 1 + 36


def test_an_unknown_member_id_is_refused(stage: Stage) -> None:
    assert stage.join("nobody").error is ErrorCode.UNKNOWN_MEMBER_ID
    assert not stage.state.groups, "no group is made for it"
    stage.stable(1)
    assert stage.join("nobody").error is ErrorCode.UNKNOWN_MEMBER_ID


def test_another_protocol_type_is_refused(stage: Stage) -> None:
    stage.stable(1)
    assert stage.join(protocol_type="connect").error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_a_member_without_a_common_protocol_is_refused(stage: Stage) -> None:
    stage.stable(1, protocols={"range": b"", "roundrobin": b""})
    assert stage.join(protocols={"sticky": b""}).error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert stage.join(protocols={"sticky": b"", "roundrobin": b""}).error is ErrorCode.MEMBER_ID_REQUIRED


@pytest.mark.parametrize(("protocol_type", "protocols"), [("", {"range": b""}), ("consumer", {})])
def test_a_join_without_protocols_makes_no_group(
    stage: Stage, protocol_type: str, protocols: dict[str, bytes]
) -> None:
    reply = stage.join(protocol_type=protocol_type, protocols=protocols)
    assert reply.error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert not stage.state.groups
    assert not stage.log


def test_an_empty_group_takes_members_of_another_protocol_type(stage: Stage) -> None:
    (member_id,) = stage.stable(1)
    stage.leave((member_id, None))
    assert stage.group.protocol_type == "consumer"
    stage.stable(1, protocol_type="connect", protocols={"sessioned": b"\xff"})
    assert stage.group.protocol_type == "connect"


def test_more_protocols_than_anybody_needs_are_refused(stage: Stage) -> None:
    many = {str(number): b"" for number in range(GROUP_PROTOCOLS_MAX + 1)}
    assert stage.join(protocols=many).error is ErrorCode.INVALID_REQUEST


def test_of_a_protocol_named_twice_the_first_counts(stage: Stage) -> None:
    """Kafka counts such a member twice, and then finds no protocol that all members speak."""
    from ottla.groups.classic.member import protocols_of

    twice = [JoinGroupRequestProtocol(name="a", metadata=m) for m in (b"1", b"2")]
    assert protocols_of(twice) == {"a": b"1"}


# --- size -------------------------------------------------------------------------------------------------


def test_a_full_group_takes_nobody_else(stage: Stage) -> None:
    stage.stable(2)
    stage.change_settings(max_size=2)
    reply = stage.join()
    assert reply.error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert reply.value.member_id == ""
    assert stage.group.state is ClassicState.STABLE


def test_a_waiting_group_takes_as_many_as_may_wait(stage: Stage) -> None:
    stage.change_settings(max_size=2)
    replies = [stage.join(version=3) for _ in range(3)]
    assert [reply.done for reply in replies] == [False, False, True]
    assert replies[2].error is ErrorCode.GROUP_MAX_SIZE_REACHED


def test_an_id_for_which_there_is_no_room_any_more_is_forgotten(stage: Stage) -> None:
    stage.change_settings(max_size=1)
    ids = [stage.new_id(), stage.new_id()]
    first = stage.join(ids[0])
    assert stage.join(ids[1]).error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert not stage.group.pending_join
    stage.advance_until(first)
    assert list(stage.group.members) == [ids[0]]


def test_after_the_size_was_lowered_the_first_to_rejoin_stay(stage: Stage) -> None:
    leader, *followers = stage.stable(3)
    stage.change_settings(max_size=2)
    joins = [stage.join(member_id) for member_id in (leader, *followers)]
    assert joins[2].error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert joins[0].error is ErrorCode.NONE
    assert set(stage.group.members) == {leader, followers[0]}


def test_a_loaded_group_that_is_too_large_rebalances(stage: Stage) -> None:
    ids = stage.stable(3)
    other = stage.restarted()
    other.change_settings(max_size=2)
    other.run(other.groups.loaded())
    assert other.group.state is ClassicState.PREPARING_REBALANCE
    assert other.heartbeat(ids[0], 1) is ErrorCode.REBALANCE_IN_PROGRESS
    replies = [other.join(member_id) for member_id in ids]
    assert [reply.error for reply in replies].count(ErrorCode.GROUP_MAX_SIZE_REACHED) == 1
    assert len(other.group.members) == 2


def test_ids_that_are_handed_out_are_bounded(stage: Stage) -> None:
    stage.new_id()
    stage.group.pending_join.update(str(number) for number in range(GROUP_PENDING_MEMBERS_MAX))
    assert stage.join().error is ErrorCode.GROUP_MAX_SIZE_REACHED


# --- the join phase ---------------------------------------------------------------------------------------


def test_the_initial_rebalance_waits_for_its_delay(stage: Stage) -> None:
    """`group.initial.rebalance.delay.ms`."""
    reply = stage.join(version=3)
    stage.advance(2_999)
    assert not reply.done
    assert stage.group.state is ClassicState.PREPARING_REBALANCE
    stage.advance(1)
    assert reply.value.generation_id == 1


def test_the_initial_delay_is_extended_while_members_come_up_to_the_rebalance_timeout(stage: Stage) -> None:
    first = stage.join(version=3, rebalance_ms=8_000)
    stage.advance(2_000)
    stage.join(version=3, rebalance_ms=8_000)
    stage.advance(1_500)  # past the first delay: somebody has come, so another delay begins at 3,000
    assert not first.done
    stage.join(version=3, rebalance_ms=8_000)
    stage.advance(2_500)  # at 6,000: and another, of the 2,000 ms that are left
    assert not first.done
    stage.join(version=3, rebalance_ms=8_000)
    stage.advance(2_000)  # at 8,000: the rebalance timeout
    assert first.value.generation_id == 1
    assert len(first.value.members) == 4


def test_the_initial_delay_is_not_extended_when_nobody_else_comes(stage: Stage) -> None:
    first = stage.join(version=3)
    stage.advance(3_000)
    assert len(first.value.members) == 1


def test_only_the_leader_gets_the_members_with_their_metadata(stage: Stage) -> None:
    ids = [stage.new_id(), stage.new_id()]
    joins = [
        stage.join(member_id, protocols={"range": metadata})
        for member_id, metadata in zip(ids, (b"one", b"two"), strict=True)
    ]
    stage.advance_until(joins[0])
    leader, follower = (join.value for join in joins)
    assert leader.leader == follower.leader == ids[0]
    assert {member.member_id: member.metadata for member in leader.members} == {
        ids[0]: b"one",
        ids[1]: b"two",
    }
    assert follower.members == []
    assert (leader.protocol_type, leader.protocol_name) == ("consumer", "range")
    assert not leader.skip_assignment


def test_instance_ids_are_in_the_members_list_from_version_5_on(stage: Stage) -> None:
    """KIP-345."""
    leader = stage.join(instance="one", version=5)
    stage.join(instance="two", version=5)
    stage.advance_until(leader)
    assert [member.group_instance_id for member in leader.value.members] == ["one", "two"]


@pytest.mark.parametrize("version", range(10))
def test_every_version_gets_a_form_that_it_knows(stage: Stage, version: int) -> None:
    """A protocol name may be null from version 7 on, and is empty before."""
    refused = stage.join("nobody", version=version)
    assert refused.value.protocol_name == (None if version >= 7 else "")
    member_id = stage.new_id(version=version) if version >= 4 else ""
    reply = stage.join(member_id, version=version)
    stage.advance_until(reply)
    assert reply.value.protocol_type == ("consumer" if version >= 7 else None)
    assert reply.value.protocol_name == "range"
    assert reply.value.leader == reply.value.member_id


def test_in_version_0_the_session_timeout_is_the_rebalance_timeout(stage: Stage) -> None:
    stage.join(version=0, session_ms=7_000)
    (member,) = stage.group.members.values()
    assert member.rebalance_timeout_ms == 7_000


def test_the_protocol_with_the_most_votes_wins_among_those_that_all_speak(stage: Stage) -> None:
    preferences = (("a", "b", "c"), ("b", "c", "x"), ("c", "b"))
    replies = [stage.join(version=3, protocols=dict.fromkeys(names, b"")) for names in preferences]
    stage.advance_until(replies[0])
    # Everybody speaks b and c: votes are b, b, c.
    assert {reply.value.protocol_name for reply in replies} == {"b"}


def test_a_new_member_makes_a_stable_group_rebalance_and_old_ones_learn_it_by_heartbeat(stage: Stage) -> None:
    leader, follower = stage.stable(2)
    newcomer = stage.new_id()
    stage.heartbeat(leader, 1)
    new = stage.join(newcomer)
    assert stage.group.state is ClassicState.PREPARING_REBALANCE
    assert stage.heartbeat(leader, 1) is ErrorCode.REBALANCE_IN_PROGRESS
    again = [stage.join(member_id) for member_id in (follower, leader)]
    assert new.value.generation_id == 2, "all have joined: no need to wait"
    assert again[1].value.leader == leader, "the leader stays the leader"
    assert len(again[1].value.members) == 3


def test_members_that_do_not_rejoin_within_the_rebalance_timeout_are_removed(stage: Stage) -> None:
    leader, follower = stage.stable(2, session_ms=60_000, rebalance_ms=20_000)
    newcomer = stage.new_id(session_ms=60_000)
    new = stage.join(newcomer, session_ms=60_000, rebalance_ms=20_000)
    stage.join(leader, session_ms=60_000, rebalance_ms=20_000)
    stage.advance(19_999)
    assert not new.done
    stage.advance(1)
    assert new.value.generation_id == 2
    assert set(stage.group.members) == {leader, newcomer}
    assert stage.heartbeat(follower, 1) is ErrorCode.UNKNOWN_MEMBER_ID


def test_when_the_leader_does_not_rejoin_another_one_leads(stage: Stage) -> None:
    leader, follower = stage.stable(2, session_ms=60_000, rebalance_ms=20_000)
    stage.join(version=3, session_ms=60_000, rebalance_ms=20_000)
    reply = stage.join(follower, session_ms=60_000, rebalance_ms=20_000)
    stage.advance(20_000)
    assert leader not in stage.group.members
    assert reply.value.leader == follower
    assert len(reply.value.members) == 2


def test_a_pending_id_holds_up_the_join_phase_until_it_joins_or_expires(stage: Stage) -> None:
    leader, _ = stage.stable(2)
    stage.new_id(session_ms=6_000)
    joins = [stage.join(member_id) for member_id in stage.group.members]
    assert not joins[0].done
    assert stage.group.is_leader(leader)
    stage.advance(6_000)
    assert [join.value.generation_id for join in joins] == [2, 2]


def test_a_follower_that_rejoins_unchanged_gets_the_stable_generation_at_once(stage: Stage) -> None:
    leader, follower = stage.stable(2)
    reply = stage.join(follower)
    assert (reply.value.generation_id, reply.value.leader, reply.value.members) == (1, leader, [])
    assert stage.group.state is ClassicState.STABLE


def test_a_follower_that_rejoins_with_other_metadata_makes_the_group_rebalance(stage: Stage) -> None:
    _, follower = stage.stable(2)
    assert not stage.join(follower, protocols={"range": b"other"}).done
    assert stage.group.state is ClassicState.PREPARING_REBALANCE


def test_a_leader_that_rejoins_makes_the_group_rebalance(stage: Stage) -> None:
    leader, follower = stage.stable(2)
    reply = stage.join(leader)
    assert stage.heartbeat(follower, 1) is ErrorCode.REBALANCE_IN_PROGRESS
    stage.join(follower)
    assert reply.value.generation_id == 2


def test_a_lost_join_response_is_given_again_while_the_rebalance_completes(stage: Stage) -> None:
    ids = [stage.new_id(), stage.new_id()]
    joins = [stage.join(member_id) for member_id in ids]
    stage.advance_until(joins[0])
    assert stage.group.state is ClassicState.COMPLETING_REBALANCE
    assert stage.join(ids[0]).value == joins[0].value
    assert stage.join(ids[1]).value == joins[1].value


def test_other_metadata_while_the_rebalance_completes_begins_it_anew(stage: Stage) -> None:
    ids = [stage.new_id(), stage.new_id()]
    joins = [stage.join(member_id) for member_id in ids]
    stage.advance_until(joins[0])
    waiting = stage.sync(ids[1], 1)
    stage.join(ids[0], protocols={"range": b"other"})
    assert waiting.error is ErrorCode.REBALANCE_IN_PROGRESS
    assert stage.group.state is ClassicState.PREPARING_REBALANCE


def test_a_retry_while_the_first_try_waits_takes_its_place(stage: Stage) -> None:
    member_id = stage.new_id()
    first = stage.join(member_id, version=6)
    second = stage.join(member_id)
    assert first.error is ErrorCode.REBALANCE_IN_PROGRESS
    stage.advance_until(second)
    assert second.value.generation_id == 1
    assert len(second.value.members) == 1


def test_somebody_new_is_given_up_when_the_join_phase_takes_too_long(stage: Stage) -> None:
    """Five minutes, as in Kafka: it may never have learnt its member id."""
    stage.stable(1, session_ms=1_800_000, rebalance_ms=1_800_000)
    reply = stage.join(version=3, rebalance_ms=1_800_000)
    stage.advance(299_999)
    assert not reply.done
    stage.advance(1)
    assert reply.error is ErrorCode.UNKNOWN_MEMBER_ID
    assert reply.value.member_id == ""
    assert len(stage.group.members) == 1


def test_a_member_that_waits_to_join_is_not_expired(stage: Stage) -> None:
    leader, _ = stage.stable(2, session_ms=6_000, rebalance_ms=60_000)
    other = next(member_id for member_id in stage.group.members if member_id != leader)
    reply = stage.join(leader, session_ms=6_000, rebalance_ms=60_000)
    for _ in range(10):
        stage.advance(5_000)
        stage.heartbeat(other, 1)
    assert not reply.done
    assert leader in stage.group.members
    stage.join(other, session_ms=6_000, rebalance_ms=60_000)
    assert reply.value.generation_id == 2


def test_after_the_join_completes_the_session_begins(stage: Stage) -> None:
    reply = stage.join(version=3, session_ms=6_000)
    stage.advance_until(reply)
    stage.advance(5_999)
    assert stage.group.members
    stage.advance(1)
    assert not stage.group.members
    assert stage.group.state is ClassicState.EMPTY


def test_the_client_may_say_why_it_joins(stage: Stage) -> None:
    """KIP-800; the reason goes to the log file, however long and odd it is."""
    assert stage.join(reason="\n" * 30_000).error is ErrorCode.MEMBER_ID_REQUIRED


def test_metadata_of_a_connect_group_is_opaque(stage: Stage) -> None:
    stage.stable(2, protocol_type="connect", protocols={"compatible": b"\xff\xff\xff"})
    assert stage.group.subscribed_topics is None
    assert not stage.group.is_subscribed_to("t")
    assert stage.groups.describe(stage.group).members[0].member_metadata == b"\xff\xff\xff"


@pytest.mark.parametrize(
    "garbage", [b"", b"\0", b"\0\0\x7f\xff\xff\xff", b"\0\0\xff\xff\xff\xff", b"\0\0\0\0\0\1\0\2\xff\xff\xff"]
)
def test_garbage_in_a_subscription_breaks_nothing(stage: Stage, garbage: bytes) -> None:
    stage.stable(2, protocols={"range": garbage})
    assert stage.group.subscribed_topics is None
    assert stage.group.is_subscribed_to("anything"), "a consumer group of which nobody knows what it reads"


def test_subscribed_topics_are_read_from_all_members(stage: Stage) -> None:
    for topics in (("a", "b"), ("b", "c")):
        stage.join(version=3, protocols={"range": subscription(*topics)})
    stage.advance(6_000)
    assert stage.group.subscribed_topics == frozenset({"a", "b", "c"})
    assert stage.group.is_subscribed_to("c")
    assert not stage.group.is_subscribed_to("d")


def test_the_metadata_of_a_group_is_bounded(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ottla.groups.classic.join.GROUP_METADATA_BYTES_MAX", 1_000)
    stage.join(version=3, protocols={"range": b"x" * 600})
    assert stage.join(version=3, protocols={"range": b"x" * 600}).error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert stage.group.metadata_bytes == 600 + len("range")
