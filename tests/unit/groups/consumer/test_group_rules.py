"""What a consumer group allows others to do with its offsets and with itself, and how it survives its log."""

from __future__ import annotations

import pytest

from ottla.groups.consumer.group import ConsumerGroup
from ottla.groups.group import CONSUMER
from ottla.groups.record import decode_record
from ottla.model.errors import ErrorCode, KafkaError
from support.consumer_group import GROUP, ClassicConsumer, Consumer, World, settle


def refusal(world: World, member_id: str, epoch: int, *, version: int = 9, is_txn: bool = False) -> ErrorCode:
    try:
        world.group.check_offset_commit(member_id, None, epoch, version, is_txn=is_txn)
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE


def test_a_commit_needs_the_members_epoch(world: World) -> None:
    new, old = Consumer(world, "m1", "a"), ClassicConsumer(world, "a")
    settle(new, old)
    assert refusal(world, "m1", new.epoch) is ErrorCode.NONE
    assert refusal(world, "m1", new.epoch - 1) is ErrorCode.STALE_MEMBER_EPOCH
    assert refusal(world, "m1", new.epoch + 1) is ErrorCode.STALE_MEMBER_EPOCH
    assert refusal(world, "nobody", 1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert refusal(world, old.member_id, old.generation, version=2) is ErrorCode.NONE
    assert refusal(world, old.member_id, old.generation - 1) is ErrorCode.ILLEGAL_GENERATION


def test_old_versions_of_commits_cannot_carry_member_epochs(world: World) -> None:
    settle(Consumer(world, "m1", "a"))
    assert refusal(world, "m1", 1, version=8) is ErrorCode.UNSUPPORTED_VERSION
    assert refusal(world, "m1", 1, version=3, is_txn=True) is ErrorCode.NONE


def test_a_commit_of_nobody_needs_an_empty_group_unless_it_is_transactional(world: World) -> None:
    member = Consumer(world, "m1", "a")
    settle(member)
    assert refusal(world, "", -1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert refusal(world, "", -1, is_txn=True) is ErrorCode.NONE
    member.leave()
    assert refusal(world, "", -1) is ErrorCode.NONE
    assert refusal(world, "m1", 1) is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_fetch_may_name_a_member_or_nobody(world: World) -> None:
    settle(Consumer(world, "m1", "a"))
    group = world.group
    group.check_offset_fetch(None, -1)
    group.check_offset_fetch("m1", 1)
    with pytest.raises(KafkaError) as stale:
        group.check_offset_fetch("m1", 0)
    assert stale.value.code is ErrorCode.STALE_MEMBER_EPOCH
    with pytest.raises(KafkaError) as unknown:
        group.check_offset_fetch("", 0)
    assert unknown.value.code is ErrorCode.UNKNOWN_MEMBER_ID


def test_offsets_of_subscribed_topics_are_kept_and_others_age_from_their_commit(world: World) -> None:
    settle(Consumer(world, "m1", "a"))
    group = world.group
    assert group.is_subscribed_to("a")
    assert not group.is_subscribed_to("b")
    assert group.expires_from_ms(123) == 123
    assert group.session_after_commit_ms("m1") is None
    group.check_offset_delete()
    assert (group.type, group.protocol_type) == (CONSUMER, "consumer")


def test_only_an_empty_group_is_deleted_and_nothing_is_left_of_it(world: World) -> None:
    member = Consumer(world, "m1", regex="a.*")
    settle(member)
    with pytest.raises(KafkaError) as refused:
        world.group.check_delete()
    assert refused.value.code is ErrorCode.NON_EMPTY_GROUP
    member.leave()
    world.group.check_delete()
    records = world.group.tombstones()
    assert [type(record.key).__name__ for record in records] == [
        "ConsumerGroupTargetAssignmentMetadataKey",
        "ConsumerGroupPartitionMetadataKey",
        "ConsumerGroupMetadataKey",
    ]
    for record in records:
        world.log.append((record.key_bytes(), record.value_bytes()))
        world.consumer.replay(record)
        world._twin_consumer.replay(record)
    assert world.state.groups == {}


def test_the_tombstones_of_a_group_with_members_come_in_kafkas_order(world: World) -> None:
    settle(Consumer(world, "m1", regex="a.*"))
    assert [
        type(record.key).__name__.removeprefix("ConsumerGroup") for record in world.group.tombstones()
    ] == [
        "CurrentMemberAssignmentKey",
        "TargetAssignmentMemberKey",
        "TargetAssignmentMetadataKey",
        "MemberMetadataKey",
        "RegularExpressionKey",
        "PartitionMetadataKey",
        "MetadataKey",
    ]


def test_a_compacted_log_gives_the_same_group(world: World) -> None:
    """Of each key only the last record is left, and tombstones may be gone."""
    new, old, static = (
        Consumer(world, "m1", "a", regex="b"),
        ClassicConsumer(world, "a"),
        Consumer(world, "m3", "a", instance="i3"),
    )
    settle(new, old, static)
    world.grow("a", 9)
    new.beat()
    static.leave(-2)
    Consumer(world, "m4", "a", instance="i3").beat()
    old.leave()
    settle(new)
    last = {key: number for number, (key, _) in enumerate(world.log)}
    other = World({"a": 9, "b": 3})
    for number in sorted(last.values()):
        key, value = world.log[number]
        record = decode_record(key, value)
        if record is not None and value is not None and hasattr(record.key, "group_id"):
            other.consumer.replay(record)
    group = other.state.groups[GROUP]
    assert isinstance(group, ConsumerGroup)
    assert group.hard_state() == world.group.hard_state()


def test_tombstones_of_a_group_that_is_not_there_say_nothing(world: World) -> None:
    settle(Consumer(world, "m1", regex="a.*"))
    other = World()
    for record in world.group.tombstones():
        other.consumer.replay(record)
    assert other.state.groups == {}


def test_after_a_restart_sessions_and_revocations_have_their_whole_time(world: World) -> None:
    first, second = Consumer(world, "m1", "a", rebalance_ms=20_000), Consumer(world, "m2", "a")
    first.beat()
    second.beat()
    first.beat(adopt=False)
    world.advance(15_000)
    again = world.restart()
    again.advance(19_999)
    assert sorted(again.group.members) == ["m1", "m2"]
    again.advance(1)
    assert sorted(again.group.members) == ["m2"]
    again.advance(25_000)
    assert again.group.is_empty


def test_after_a_restart_members_go_on_where_they_were(world: World) -> None:
    new, old = Consumer(world, "m1", "a"), ClassicConsumer(world, "a", session_ms=10_000)
    settle(new, old)
    again = new.world = old.world = world.restart()
    assert new.beat().error_code == 0
    assert old.heartbeat() is ErrorCode.NONE
    assert again.group.state_name == "Stable"
    again.advance(10_000)  # a classic member has its own session timeout after a restart too
    assert list(again.group.members) == ["m1"]


def test_nobody_is_ever_parked(world: World) -> None:
    settle(Consumer(world, "m1", "a"))
    assert world.consumer.parked() == world.consumer.parked(GROUP) == []
