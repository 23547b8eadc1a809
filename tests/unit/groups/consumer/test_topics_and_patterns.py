"""Topics that come, grow and go under a group, and subscriptions by regular expression."""

from __future__ import annotations

import time

from ottla.assignors.steps import drain
from ottla.coordination.record import CoordinatorRecord
from ottla.groups.consumer.records import partition_metadata_tombstone
from ottla.groups.consumer.regex import resolve_steps
from ottla.wire.messages.consumer_offsets import (
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
)
from support.consumer_group import Consumer, World, settle


def test_new_partitions_are_assigned_at_the_next_heartbeat(world: World) -> None:
    member = Consumer(world, "m1", "a")
    settle(member)
    world.grow("a", 8)
    member.beat()
    assert member.reads == {"a": [0, 1, 2, 3, 4, 5, 6, 7]}
    assert world.group.epoch == 2


def test_a_topic_that_is_created_later_is_assigned_then(world: World) -> None:
    member = Consumer(world, "m1", "a", "later")
    settle(member)
    world.create(later=2)
    member.beat()
    assert member.reads == {"a": [0, 1, 2, 3, 4, 5], "later": [0, 1]}


def test_a_topic_that_nobody_reads_changes_nothing(world: World) -> None:
    member = Consumer(world, "m1", "a")
    settle(member)
    world.grow("b", 9)
    assert world.records_of(member.beat) == []


def test_the_partitions_of_a_deleted_topic_vanish(world: World) -> None:
    members = [Consumer(world, f"m{n}", "a", "b") for n in (1, 2)]
    settle(*members)
    world.delete("a")
    settle(*members)
    assert sorted(p for member in members for p in member.reads["b"]) == [0, 1, 2]
    assert all(set(member.reads) == {"b"} for member in members)
    assert len(world.group.owners) == 1


def test_a_recreated_topic_is_another_topic(world: World) -> None:
    member = Consumer(world, "m1", "a")
    settle(member)
    world.delete("a")
    world.create(a=2)
    settle(member)
    assert member.reads == {"a": [0, 1]}
    assert list(world.group.owners) == [world.topic_id("a")]


def test_another_rack_of_a_replica_moves_the_epoch(world: World) -> None:
    member = Consumer(world, "m1", "a")
    settle(member)
    world.set_rack("a", "r1")
    member.beat()
    assert world.group.epoch == 2


def test_a_group_whose_hash_was_compared_is_not_compared_again_after_a_restart_that_changes_nothing(
    world: World,
) -> None:
    member = Consumer(world, "m1", "a")
    settle(member)
    member.world = world.restart()
    assert member.world.records_of(member.beat) == []


def test_the_metadata_record_of_older_versions_is_removed_with_the_next_change(world: World) -> None:
    """Kafka 4.1 replaced it with the hash in the group's own record."""
    member = Consumer(world, "m1", "a")
    settle(member)
    old = CoordinatorRecord(
        ConsumerGroupPartitionMetadataKey(group_id="g"), ConsumerGroupPartitionMetadataValue()
    )
    world.consumer.replay(old)
    world._twin_consumer.replay(old)
    world.log.append((old.key_bytes(), old.value_bytes()))
    assert world.group.has_partition_metadata
    assert world.records_of(member.beat) == []
    world.grow("a", 7)
    assert partition_metadata_tombstone("g") in world.records_of(member.beat)
    assert not world.group.has_partition_metadata


# --- regular expressions ------------------------------------------------------------------------------------


def test_an_expression_is_matched_against_whole_names_in_a_job(world: World) -> None:
    world.create(ab=1, xa=1, __a=1)
    member = Consumer(world, "m1", regex="a.*|__a")
    response = member.beat()
    assert response.assignment.topic_partitions == []
    assert (len(world.jobs), world.group.epoch) == (1, 1)
    world.work()
    assert world.group.resolutions["a.*|__a"].topics == {"a", "ab", "__a"}
    assert world.group.epoch == 2
    member.beat()
    assert member.reads == {"a": [0, 1, 2, 3, 4, 5], "ab": [0], "__a": [0]}
    assert world.group.is_subscribed_to("ab")
    assert not world.group.is_subscribed_to("xa")


def test_names_and_an_expression_add_up(world: World) -> None:
    member = Consumer(world, "m1", "b", regex="a")
    settle(member)
    assert sorted(member.reads) == ["a", "b"]


def test_a_second_member_with_the_same_expression_needs_no_matching(world: World) -> None:
    first, second = Consumer(world, "m1", regex="a"), Consumer(world, "m2", regex="a")
    settle(first)
    second.beat()
    assert world.jobs == []
    settle(first, second)
    assert (first.reads, second.reads) == ({"a": [0, 1, 2]}, {"a": [3, 4, 5]})


def test_a_new_topic_is_found_by_the_expression(world: World) -> None:
    member = Consumer(world, "m1", regex="a.*")
    settle(member)
    world.create(abc=1)
    member.beat()
    assert world.jobs == []  # at most every ten seconds
    world.advance(10_001)
    settle(member)
    assert sorted(member.reads) == ["a", "abc"]


def test_expressions_are_matched_again_after_the_refresh_interval(world: World) -> None:
    member = Consumer(world, "m1", regex="a.*")
    settle(member)
    for _ in range(60):
        world.advance(10_000)
        member.beat()
        assert world.jobs == []
    world.advance(1)
    member.beat()
    assert len(world.jobs) == 1
    epoch = world.group.epoch
    world.work()
    assert world.group.epoch == epoch  # the same topics
    assert world.group.resolutions["a.*"].timestamp_ms == world.clock.now_ms()


def test_an_expression_that_nobody_uses_is_deleted(world: World) -> None:
    first, second = Consumer(world, "m1", regex="a"), Consumer(world, "m2", regex="a")
    settle(first, second)
    first.leave()
    assert list(world.group.resolutions) == ["a"]
    second.subscribe("b", regex="")
    settle(second)
    assert world.group.resolutions == {}
    assert world.group.patterns == {}
    assert second.reads == {"b": [0, 1, 2]}
    third = Consumer(world, "m3", regex="b")
    settle(second, third)
    third.leave()
    assert world.group.resolutions == {}


def test_a_result_for_a_group_that_was_deleted_meanwhile_is_dropped(world: World) -> None:
    member = Consumer(world, "m1", regex="a")
    member.beat()
    member.leave()
    for record in world.group.tombstones():
        world.log.append((record.key_bytes(), record.value_bytes()))
        world.consumer.replay(record)
        world._twin_consumer.replay(record)
    again = Consumer(world, "m2", "b")
    again.beat()
    assert world.records_of(world.work) == []


def test_expressions_that_match_too_much_for_one_batch_are_written_in_several(world: World) -> None:
    world.check_every_event = False
    world.create(**{f"t{number:03}" + "x" * 240: 1 for number in range(400)})
    members = [Consumer(world, f"m{number}", regex=f"t.*x{{1,{number + 1}}}") for number in range(12)]
    for _ in range(4):
        settle(*members, rounds=1)
        world.advance(10_001)
    assert len(world.group.resolutions) == 12
    assert all(len(each.topics) == 400 for each in world.group.resolutions.values())


def test_a_pathological_expression_over_ten_thousand_topics_runs_in_small_steps() -> None:
    """Counted in CPU time, so that a busy machine does not make it fail."""
    names = [f"{'x' * 200}-{number}" for number in range(10_000)]
    steps = resolve_steps(["(x+x+)+y", "(.*x.{8}){1,20}y", "((x?){20}){20}z"], names)
    slowest_ms = 0.0
    for _ in range(1_000):
        before = time.process_time()
        if next(steps, "end") == "end":
            break
        slowest_ms = max(slowest_ms, (time.process_time() - before) * 1_000)
    assert slowest_ms < 50


def test_an_expression_of_an_older_log_that_cannot_be_compiled_matches_nothing() -> None:
    assert drain(resolve_steps(["(", "a+"], ["a", "aa", "b"])) == {
        "(": frozenset(),
        "a+": frozenset(["a", "aa"]),
    }
