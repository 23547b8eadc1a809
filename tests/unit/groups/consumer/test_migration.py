"""Groups that change their protocol while they work (KIP-848's online migration), and classic members in
consumer groups.
"""

from __future__ import annotations

import pytest

from ottla.groups.classic.states import ClassicState
from ottla.groups.consumer.member import STATIC_LEAVE_EPOCH, MemberState
from ottla.model.errors import ErrorCode
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from support.consumer_group import (
    GROUP,
    ClassicConsumer,
    Consumer,
    World,
    assignment,
    settle,
)


def classic_group(world: World, *members: ClassicConsumer) -> None:
    """Lets them form a stable classic group."""
    for _ in range(4):
        for member in members:
            member.beat()
        world.advance(3_000)
    assert world.classic_group.state is ClassicState.STABLE


# --- up -----------------------------------------------------------------------------------------------------


def test_the_first_consumer_member_turns_a_classic_group_into_a_consumer_group(world: World) -> None:
    old = ClassicConsumer(world, "a")
    classic_group(world, old)
    generation = world.classic_group.generation
    new = Consumer(world, "m1", "a")
    records = world.records_of(new.beat)
    assert (type(records[0].key).__name__, records[0].value) == ("GroupMetadataKey", None)
    assert world.is_consumer_group
    member = old.state
    assert (member.epoch, member.state) == (generation, MemberState.STABLE)
    assert world.named(member.assigned) == {"a": [0, 1, 2, 3, 4, 5]}
    assert world.group.epoch == generation + 1
    settle(old, new)
    assert (old.reads, new.reads) == ({"a": [0, 1, 2]}, {"a": [3, 4, 5]})
    assert {m.member_type for m in world.describe().members} == {0, 1}


def test_an_empty_classic_group_becomes_a_consumer_group(world: World) -> None:
    world.classic.create_for_offsets(GROUP)
    assert Consumer(world, "m1", "a").beat().member_epoch == 1
    assert world.is_consumer_group


def test_those_who_wait_in_the_classic_group_are_told_to_rejoin(world: World) -> None:
    waiting = ClassicConsumer(world, "a")
    assert waiting.join() is None
    new = Consumer(world, "m1", "a")
    assert new.beat().error_code == 0
    assert waiting.join() is ErrorCode.REBALANCE_IN_PROGRESS
    settle(waiting, new)
    assert sorted(waiting.reads["a"] + new.reads["a"]) == [0, 1, 2, 3, 4, 5]


def test_a_group_that_was_rebalancing_gets_a_new_target_whoever_converts_it(world: World) -> None:
    """A static member with the same subscription moves no epoch by itself."""
    first, second, static = (
        ClassicConsumer(world, "a"),
        ClassicConsumer(world, "b"),
        ClassicConsumer(world, "a", instance="i1"),
    )
    classic_group(world, first)
    second.beat()
    static.beat()
    assert world.classic_group.state is ClassicState.PREPARING_REBALANCE
    back = Consumer(world, "m1", "a", instance="i1")
    settle(first, second, back)
    assert second.reads == {"b": [0, 1, 2]}
    assert sorted(first.reads["a"] + back.reads["a"]) == [0, 1, 2, 3, 4, 5]
    assert len(back.reads["a"]) == 3


@pytest.mark.parametrize("policy", ["disabled", "downgrade"])
def test_the_policy_may_forbid_the_upgrade(world: World, policy: str) -> None:
    world.change_settings(consumer_migration_policy=policy)
    old = ClassicConsumer(world, "a")
    classic_group(world, old)
    response = Consumer(world, "m1", "a").beat()
    assert response.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert old.heartbeat() is ErrorCode.NONE


def test_a_group_of_another_protocol_type_is_not_converted(world: World) -> None:
    request = JoinGroupRequest(
        group_id=GROUP,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        protocol_type="connect",
        protocols=[JoinGroupRequestProtocol(name="sessioned", metadata=b"?")],
    )
    world.join(request, version=3)
    response = Consumer(world, "m1", "a").beat()
    assert response.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert world.classic_group.state is ClassicState.PREPARING_REBALANCE


@pytest.mark.parametrize(
    "bad", [b"", b"\0", b"\xff\xff\0\0\0\0", b"\0\0\x7f\xff\xff\xff", b"\0\1\0\0\0\1\0\5a"]
)
def test_a_group_with_malformed_subscriptions_is_not_converted(world: World, bad: bytes) -> None:
    request = JoinGroupRequest(
        group_id=GROUP,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=bad)],
    )
    reply = world.join(request, version=3)
    response = Consumer(world, "m1", "a").beat()
    assert response.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    world.advance(10_000)
    assert reply.error is ErrorCode.NONE  # its own rebalance goes on


def assigned_by_hand(world: World, *assignments: bytes) -> list[ClassicConsumer]:
    """A classic group whose leader hands out these bytes."""
    members = [ClassicConsumer(world, "a") for _ in assignments]
    classic_group(world, *members)
    ids = [member.member_id for member in members]
    leader = next(m for m in members if m.member_id == world.classic_group.leader_id)
    for member in members:
        member.joining = world.join(member.join_request())
    for member in members:
        assert member.join() is ErrorCode.NONE
    world.sync(
        SyncGroupRequest(
            group_id=GROUP,
            generation_id=leader.generation,
            member_id=leader.member_id,
            assignments=[
                SyncGroupRequestAssignment(member_id=member_id, assignment=data)
                for member_id, data in zip(ids, assignments, strict=True)
            ],
        )
    )
    return members


def test_a_custom_assignors_data_would_be_lost_so_the_group_is_not_converted(world: World) -> None:
    assigned_by_hand(world, assignment({"a": [0]}, user_data=b"mine"))
    response = Consumer(world, "m1", "a").beat()
    assert response.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert not world.is_consumer_group


def test_a_partition_that_a_leader_gave_to_two_members_has_one_owner_afterwards(world: World) -> None:
    assigned_by_hand(world, assignment({"a": [0, 1]}), assignment({"a": [1, 2], "nowhere": [0]}))
    Consumer(world, "m1", "a").beat()
    world.check()
    owned = [world.named(m.assigned) for m in world.group.members.values() if m.classic is not None]
    assert owned == [{"a": [0, 1]}, {"a": [2]}]


# --- classic members ----------------------------------------------------------------------------------------


def mixed(world: World) -> tuple[Consumer, ClassicConsumer]:
    new, old = Consumer(world, "m1", "a"), ClassicConsumer(world, "a")
    settle(new, old)
    assert (new.reads, old.reads) == ({"a": [0, 1, 2]}, {"a": [3, 4, 5]})
    return new, old


def test_a_classic_member_may_join_a_consumer_group_and_is_answered_at_once(world: World) -> None:
    new = Consumer(world, "m1", "a")
    settle(new)
    old = ClassicConsumer(world, "a")
    first = world.join(old.join_request())
    assert first.error is ErrorCode.MEMBER_ID_REQUIRED
    old.member_id = first.value.member_id
    joined = world.join(old.join_request())
    assert (joined.error, joined.value.generation_id, joined.value.leader) == (ErrorCode.NONE, 2, "")
    assert (joined.value.protocol_type, joined.value.protocol_name) == ("consumer", "cooperative-sticky")
    assert old.state.classic is not None


def test_a_classic_member_is_told_to_rejoin_when_the_group_moves_on(world: World) -> None:
    new, old = mixed(world)
    assert old.heartbeat() is ErrorCode.NONE
    third = Consumer(world, "m3", "a")
    third.beat()
    assert old.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS
    assert old.join() is ErrorCode.NONE
    assert old.state.state is MemberState.UNREVOKED_PARTITIONS
    assert old.sync() is ErrorCode.NONE
    assert old.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS  # now it has let go, and says so by joining
    settle(new, old, third)
    assert sorted(new.reads["a"] + old.reads["a"] + third.reads["a"]) == [0, 1, 2, 3, 4, 5]
    assert old.heartbeat() is ErrorCode.NONE


def test_a_classic_member_waits_for_release_without_being_sent_to_join(world: World) -> None:
    new = Consumer(world, "m1", "a")
    settle(new)
    old = ClassicConsumer(world, "a")
    old.beat()
    assert old.state.state is MemberState.UNRELEASED_PARTITIONS
    assert old.heartbeat() is ErrorCode.NONE
    new.beat()
    new.beat()
    assert old.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS
    settle(old)
    assert old.reads == {"a": [3, 4, 5]}


def test_a_classic_member_that_does_not_rejoin_in_time_is_out(world: World) -> None:
    _, old = mixed(world)
    old.rebalance_ms = 10_000
    old.join()
    old.sync()
    Consumer(world, "m3", "a").beat()
    assert old.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS
    world.advance(5_000)
    assert old.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS  # asking again gives no more time
    world.advance(5_000)
    assert old.member_id not in world.group.members
    assert old.heartbeat() is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_classic_member_that_joins_and_never_syncs_is_out(world: World) -> None:
    _, old = mixed(world)
    old.rebalance_ms = 10_000
    old.join()
    world.advance(9_999)
    assert old.member_id in world.group.members
    world.advance(1)
    assert old.member_id not in world.group.members


def test_a_classic_members_session_is_its_own(world: World) -> None:
    new, old = Consumer(world, "m1", "a"), ClassicConsumer(world, "a", session_ms=10_000)
    settle(new, old)
    world.advance(9_999)
    assert old.member_id in world.group.members
    world.advance(1)
    assert old.member_id not in world.group.members


def test_what_does_not_match_the_member_is_refused(world: World) -> None:
    new, old = mixed(world)

    def sync(**fields: object) -> ErrorCode:
        request = SyncGroupRequest(
            **{  # type: ignore[arg-type]
                "group_id": GROUP,
                "member_id": old.member_id,
                "generation_id": old.generation,
                **fields,
            }
        )
        return world.sync(request).error

    assert sync() is ErrorCode.NONE
    assert sync(generation_id=old.generation + 1) is ErrorCode.ILLEGAL_GENERATION
    assert sync(member_id="m1", generation_id=new.epoch) is ErrorCode.UNKNOWN_MEMBER_ID
    assert sync(member_id="nobody") is ErrorCode.UNKNOWN_MEMBER_ID
    assert sync(group_instance_id="i9") is ErrorCode.UNKNOWN_MEMBER_ID
    assert sync(protocol_type="connect") is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert sync(protocol_name="range") is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    Consumer(world, "m3", "a").beat()
    assert sync() is ErrorCode.REBALANCE_IN_PROGRESS


def test_joins_that_make_no_sense_are_refused(world: World) -> None:
    _, old = mixed(world)

    def join(member: ClassicConsumer, **fields: object) -> ErrorCode:
        request = member.join_request()
        for name, value in fields.items():
            setattr(request, name, value)
        return world.join(request).error

    stranger = ClassicConsumer(world, "a", protocols=("range",))
    assert join(stranger) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert join(old, protocol_type="connect") is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert join(old, protocols=[]) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert join(old, session_timeout_ms=1) is ErrorCode.INVALID_SESSION_TIMEOUT
    bad = [JoinGroupRequestProtocol(name="cooperative-sticky", metadata=b"\0\1\x7f")]
    assert join(old, protocols=bad) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    world.change_settings(consumer_max_size=2)
    assert join(ClassicConsumer(world, "a")) is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert join(old) is ErrorCode.NONE


def test_members_of_both_protocols_may_be_removed_with_leave_group(world: World) -> None:
    new, old = mixed(world)
    static = Consumer(world, "m3", "a", instance="i3")
    settle(new, old, static)
    response = world.leave(("", "i3"), (old.member_id, None), ("nobody", None), ("x", "i3"), ("x", "i9"))
    assert [member.error_code for member in response.members] == [
        ErrorCode.NONE,
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
    ]
    assert list(world.group.members) == ["m1"]
    assert world.leave(("nobody", None), version=2).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_group_of_classic_members_alone_notices_new_partitions(world: World) -> None:
    world.change_settings(consumer_migration_policy="upgrade")
    new, old = mixed(world)
    new.leave()
    settle(old)
    assert world.is_consumer_group
    world.grow("a", 8)
    settle(old)
    assert old.reads == {"a": [0, 1, 2, 3, 4, 5, 6, 7]}


def test_a_member_may_change_its_protocol(world: World) -> None:
    old = ClassicConsumer(world, "a", instance="i1")
    other = Consumer(world, "m1", "a")
    settle(other, old)
    back = Consumer(world, "m2", "a", instance="i1")
    epoch = world.group.epoch
    assert back.beat().error_code == 0  # a classic static member need not have left before
    assert back.reads == old.reads
    assert world.group.epoch == epoch
    assert old.heartbeat() is ErrorCode.FENCED_INSTANCE_ID


# --- down ---------------------------------------------------------------------------------------------------


def test_when_the_last_consumer_member_leaves_the_group_is_classic_again(world: World) -> None:
    new, old = mixed(world)
    epoch = world.group.epoch
    records = world.records_of(lambda: new.leave())
    assert type(records[-1].key).__name__ == "GroupMetadataKey"
    assert records[-1].value is not None
    assert world.classic_group.state is ClassicState.PREPARING_REBALANCE
    assert world.classic_group.generation == epoch
    assert old.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS
    settle(old)
    assert old.reads == {"a": [0, 1, 2, 3, 4, 5]}
    assert world.classic_group.state is ClassicState.STABLE
    assert not [key for key in world.state.timers._timers if key[0] == "rebalance"]


def test_when_the_last_consumer_member_is_silent_the_group_is_classic_again(world: World) -> None:
    _, old = mixed(world)
    world.advance(20_000)
    old.heartbeat()
    world.advance(25_000)
    assert not world.is_consumer_group
    settle(old)
    assert old.reads == {"a": [0, 1, 2, 3, 4, 5]}


@pytest.mark.parametrize("policy", ["disabled", "upgrade"])
def test_the_policy_may_forbid_the_downgrade(world: World, policy: str) -> None:
    new, old = mixed(world)
    world.change_settings(consumer_migration_policy=policy)
    new.leave()
    assert world.is_consumer_group
    settle(old)
    assert old.reads == {"a": [0, 1, 2, 3, 4, 5]}


def test_a_group_too_large_for_the_classic_protocol_stays(world: World) -> None:
    new, _ = mixed(world)
    world.change_settings(max_size=0)
    new.leave()
    assert world.is_consumer_group


def test_a_classic_static_member_takes_the_last_consumer_members_place_without_a_rebalance(
    world: World,
) -> None:
    new, old = Consumer(world, "m1", "a", instance="i1"), ClassicConsumer(world, "a")
    settle(new, old)
    reads = new.reads
    new.leave(STATIC_LEAVE_EPOCH)
    back = ClassicConsumer(world, "a", instance="i1")
    assert back.join() is ErrorCode.NONE
    assert world.classic_group.state is ClassicState.STABLE
    assert back.sync() is ErrorCode.NONE
    assert back.reads == reads
    assert old.heartbeat() is ErrorCode.NONE


def test_a_classic_static_member_in_an_unsettled_group_brings_a_rebalance(world: World) -> None:
    new, old = Consumer(world, "m1", "a", instance="i1"), ClassicConsumer(world, "a")
    settle(new, old)
    world.grow("a", 9)
    new.beat()  # a new epoch, which the classic member has not reached
    back = ClassicConsumer(world, "a", instance="i1")
    assert back.join() is ErrorCode.NONE
    assert world.classic_group.state is ClassicState.PREPARING_REBALANCE


def test_a_classic_member_in_an_empty_consumer_group_makes_it_classic(world: World) -> None:
    new = Consumer(world, "m1", "a")
    settle(new)
    new.leave()
    old = ClassicConsumer(world, "a")
    classic_group(world, old)
    assert old.reads == {"a": [0, 1, 2, 3, 4, 5]}


def test_up_and_down_and_up_again(world: World) -> None:
    old = ClassicConsumer(world, "a")
    classic_group(world, old)
    for number in range(3):
        new = Consumer(world, f"m{number}", "a")
        settle(old, new)
        assert (old.reads, new.reads) == ({"a": [0, 1, 2]}, {"a": [3, 4, 5]})
        new.leave()
        settle(old)
        assert old.reads == {"a": [0, 1, 2, 3, 4, 5]}
