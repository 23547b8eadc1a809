"""Static members of consumer groups (KIP-345 in KIP-848): leaving for a while, returning, being fenced."""

from __future__ import annotations

from ottla.groups.consumer.member import STATIC_LEAVE_EPOCH
from ottla.model.errors import ErrorCode
from support.consumer_group import Consumer, World, settle


def test_a_static_member_that_leaves_for_a_while_keeps_its_partitions(world: World) -> None:
    first, second = Consumer(world, "m1", "a", instance="i1"), Consumer(world, "m2", "a", instance="i2")
    settle(first, second)
    epoch = world.group.epoch
    response = first.leave(STATIC_LEAVE_EPOCH)
    assert (response.error_code, response.member_id, response.member_epoch) == (0, "m1", -2)
    assert world.member("m1").epoch == -2
    settle(second)
    assert world.group.epoch == epoch
    assert second.reads == {"a": [3, 4, 5]}


def test_a_returning_static_member_gets_the_same_partitions_without_a_new_epoch(world: World) -> None:
    first, second = Consumer(world, "m1", "a", instance="i1"), Consumer(world, "m2", "a", instance="i2")
    settle(first, second)
    epoch = world.group.epoch
    first.leave(STATIC_LEAVE_EPOCH)
    back = Consumer(world, "m3", "a", instance="i1")
    records = world.records_of(back.beat)
    assert [(type(r.key).__name__, r.value is None) for r in records] == [
        ("ConsumerGroupCurrentMemberAssignmentKey", True),
        ("ConsumerGroupTargetAssignmentMemberKey", True),
        ("ConsumerGroupMemberMetadataKey", True),
        ("ConsumerGroupMemberMetadataKey", False),
        ("ConsumerGroupTargetAssignmentMemberKey", False),
        ("ConsumerGroupCurrentMemberAssignmentKey", False),
        ("ConsumerGroupCurrentMemberAssignmentKey", False),
    ]
    assert back.reads == {"a": [0, 1, 2]}
    assert world.group.epoch == epoch
    assert back.epoch == epoch
    assert sorted(world.group.members) == ["m2", "m3"]
    settle(second)
    assert second.reads == {"a": [3, 4, 5]}


def test_a_returning_static_member_with_another_subscription_moves_the_epoch(world: World) -> None:
    first, second = Consumer(world, "m1", "a", instance="i1"), Consumer(world, "m2", "a", instance="i2")
    settle(first, second)
    epoch = world.group.epoch
    first.leave(STATIC_LEAVE_EPOCH)
    back = Consumer(world, "m3", "b", instance="i1")
    settle(back, second)
    assert world.group.epoch == epoch + 1
    assert (back.reads, second.reads) == ({"b": [0, 1, 2]}, {"a": [0, 1, 2, 3, 4, 5]})


def test_the_same_process_may_return_under_the_same_member_id(world: World) -> None:
    member = Consumer(world, "m1", "a", instance="i1")
    settle(member)
    member.leave(STATIC_LEAVE_EPOCH)
    assert member.beat().error_code == 0
    assert member.reads == {"a": [0, 1, 2, 3, 4, 5]}


def test_an_instance_id_in_use_is_not_given_to_another(world: World) -> None:
    settle(Consumer(world, "m1", "a", instance="i1"))
    response = Consumer(world, "m2", "a", instance="i1").beat()
    assert response.error_code == ErrorCode.UNRELEASED_INSTANCE_ID
    assert response.assignment is None
    assert list(world.group.members) == ["m1"]


def test_the_one_that_was_replaced_is_fenced(world: World) -> None:
    old = Consumer(world, "m1", "a", instance="i1")
    settle(old)
    epoch = old.epoch
    old.leave(STATIC_LEAVE_EPOCH)
    Consumer(world, "m2", "a", instance="i1").beat()
    old.epoch = epoch
    assert old.beat().error_code == ErrorCode.FENCED_INSTANCE_ID
    assert old.leave().error_code == ErrorCode.FENCED_INSTANCE_ID
    old.epoch = epoch
    old.instance = None
    assert old.beat().error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_static_member_that_does_not_return_is_out_after_its_session(world: World) -> None:
    first, second = Consumer(world, "m1", "a", instance="i1"), Consumer(world, "m2", "a")
    settle(first, second)
    first.leave(STATIC_LEAVE_EPOCH)
    for _ in range(10):
        world.advance(5_000)
        second.beat()
    assert list(world.group.members) == ["m2"]
    assert second.reads == {"a": [0, 1, 2, 3, 4, 5]}


def test_the_session_of_the_replaced_id_does_not_end_the_new_one(world: World) -> None:
    first = Consumer(world, "m1", "a", instance="i1")
    settle(first)
    world.advance(40_000)
    first.leave(STATIC_LEAVE_EPOCH)
    back = Consumer(world, "m2", "a", instance="i1")
    back.beat()
    world.advance(44_999)
    assert list(world.group.members) == ["m2"]


def test_a_static_member_may_leave_for_good(world: World) -> None:
    first, second = Consumer(world, "m1", "a", instance="i1"), Consumer(world, "m2", "a")
    settle(first, second)
    first.leave()
    assert list(world.group.members) == ["m2"]
    assert world.group.static_members == {}


def test_what_was_being_given_up_is_free_when_a_static_member_leaves_for_a_while(world: World) -> None:
    first, second = Consumer(world, "m1", "a", instance="i1"), Consumer(world, "m2", "a")
    first.beat()
    second.beat()
    first.beat(adopt=False)
    assert first.state.pending_revocation
    first.leave(STATIC_LEAVE_EPOCH)
    settle(second)
    assert second.reads == {"a": [3, 4, 5]}
    back = Consumer(world, "m3", "a", instance="i1")
    settle(back, second)
    assert back.reads == {"a": [0, 1, 2]}
