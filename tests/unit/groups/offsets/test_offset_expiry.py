"""Expiry by `offsets.retention.minutes` (KIP-211), by retentions of old commits, and with deleted topics."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from offsets_world import RETENTION_MS, Ward, World, commit_by_id, commit_of, topic_id_of

from ottla.coordination.outcome import Outcome
from ottla.groups.offsets.expiry import SLICE_TOMBSTONES_MAX, SLICE_VISITS_MAX
from ottla.wire.messages.consumer_offsets import GroupMetadataKey
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)


@pytest.fixture
def world() -> World:
    return World()


def ward(world: World, group_id: str) -> Ward:
    group = world.state.groups[group_id]
    assert isinstance(group, Ward)
    return group


def test_an_offset_expires_when_its_retention_has_passed_and_not_before(world: World) -> None:
    world.put("g", "orders", 0, 7)
    world.clock.advance(RETENTION_MS - 1)
    world.expire()
    assert world.offset("g", "orders", 0) == 7
    world.clock.advance(1)
    world.expire()
    assert world.offset("g", "orders", 0) is None


def test_the_retention_counts_from_the_moment_that_the_group_names(world: World) -> None:
    world.put("g", "orders", 0, 7)
    world.clock.advance(RETENTION_MS * 3)
    ward(world, "g").empty_since_ms = world.clock.now_ms()
    world.expire()
    assert world.offset("g", "orders", 0) == 7
    world.clock.advance(RETENTION_MS)
    world.expire()
    assert world.offset("g", "orders", 0) is None


def test_a_group_that_is_in_use_keeps_its_offsets(world: World) -> None:
    world.commit(commit_of("g", ("orders", 0, 7)))
    world.commit(commit_of("g", ("orders", 1, 7), retention_time_ms=1), version=2)
    ward(world, "g").may_expire = False
    world.clock.advance(RETENTION_MS * 10)
    world.expire()
    assert world.offset("g", "orders", 0) == 7
    assert world.offset("g", "orders", 1) == 7


def test_a_topic_that_the_group_reads_keeps_its_offsets_and_others_expire(world: World) -> None:
    world.put("g", "orders", 0, 7)
    world.put("g", "clicks", 0, 8)
    ward(world, "g").subscribed = {"orders"}
    world.clock.advance(RETENTION_MS)
    world.expire()
    assert world.offset("g", "orders", 0) == 7
    assert world.offset("g", "clicks", 0) is None
    assert "g" in world.state.groups


def test_the_retention_of_an_old_commit_counts_alone(world: World) -> None:
    world.commit(commit_of("g", ("orders", 0, 1), retention_time_ms=500), version=2)
    world.commit(commit_of("g", ("orders", 1, 2), retention_time_ms=RETENTION_MS * 5), version=2)
    world.clock.advance(499)
    world.expire()
    assert world.offset("g", "orders", 0) == 1
    world.clock.advance(1)
    world.expire()
    assert world.offset("g", "orders", 0) is None
    world.clock.advance(RETENTION_MS * 4)
    world.expire()
    assert world.offset("g", "orders", 1) == 2


def test_an_empty_group_goes_with_its_last_offset_in_the_same_batch(world: World) -> None:
    world.put("g", "orders", 0, 7)
    world.clock.advance(RETENTION_MS)
    outcome, more = world.offsets.expire()
    assert more
    assert [type(record.key).__name__ for record in outcome.records] == [
        "OffsetCommitKey",
        "GroupMetadataKey",
    ]
    world.run(outcome)
    assert "g" not in world.state.groups
    assert world.offsets.expire()[1] is False


def test_several_groups_may_end_in_one_slice(world: World) -> None:
    for group_id in ("g", "h", "i"):
        world.put(group_id, "orders", 0, 7)
    world.clock.advance(RETENTION_MS)
    outcome, _ = world.offsets.expire()
    world.run(outcome)
    assert len(outcome.records) == 6
    assert world.state.groups == {}


def test_a_group_with_members_stays_when_its_last_offset_expires(world: World) -> None:
    world.put("g", "orders", 0, 7)
    ward(world, "g").is_empty = False
    world.clock.advance(RETENTION_MS)
    world.expire()
    assert world.offset("g", "orders", 0) is None
    assert "g" in world.state.groups


def test_an_empty_group_that_never_had_offsets_goes_at_the_next_round(world: World) -> None:
    world.new_group("g")
    world.expire()
    assert "g" not in world.state.groups


def test_a_round_without_anything_to_do_writes_nothing(world: World) -> None:
    world.put("g", "orders", 0, 7)
    before = list(world.log)
    assert world.expire() == 0
    assert world.log == before


def test_a_commit_after_the_decision_of_an_earlier_slice_keeps_the_group(world: World) -> None:
    fill(world, "g", SLICE_TOMBSTONES_MAX + 1)
    world.clock.advance(RETENTION_MS)
    outcome, more = world.offsets.expire()
    world.run(outcome)
    assert more and len(outcome.records) == SLICE_TOMBSTONES_MAX
    world.put("g", "big", 0, 77)
    world.expire()
    assert world.offset("g", "big", 0) == 77
    assert len(world.offsets.store) == 1
    assert "g" in world.state.groups


def test_a_group_deleted_between_two_slices_is_stepped_over(world: World) -> None:
    fill(world, "g", SLICE_TOMBSTONES_MAX + 1)
    world.put("h", "big", 0, 1)
    world.clock.advance(RETENTION_MS)
    outcome, _ = world.offsets.expire()
    world.run(outcome)
    for record in [*world.offsets.tombstones_of("g"), *ward(world, "g").tombstones()]:
        world.replay(record)
    world.expire()
    assert len(world.offsets.store) == 0 and world.state.groups == {}


def test_a_slice_whose_append_failed_is_tried_again_in_the_next_round(world: World) -> None:
    fill(world, "g", SLICE_TOMBSTONES_MAX + 1)
    world.clock.advance(RETENTION_MS)
    world.offsets.expire()  # not carried out
    world.expire()
    assert "g" in world.state.groups and world.offsets.store.count("g") == SLICE_TOMBSTONES_MAX
    world.expire()
    assert "g" not in world.state.groups and "g" not in world.offsets.store


def fill(world: World, group_id: str, count: int, topic: str = "big") -> None:
    world.set_topics(("orders", topic_id_of(1), 4), (topic, topic_id_of(9), count))
    world.commit(
        OffsetCommitRequest(
            group_id=group_id,
            topics=[
                OffsetCommitRequestTopic(
                    name=topic,
                    partitions=[
                        OffsetCommitRequestPartition(partition_index=i, committed_offset=i)
                        for i in range(count)
                    ],
                )
            ],
        )
    )


def test_the_work_of_a_slice_is_bounded_however_many_offsets_expire(world: World) -> None:
    for number in range(5):
        fill(world, f"g{number}", 3_000)
    world.clock.advance(RETENTION_MS)
    outcomes = 0
    while True:
        outcome, more = world.offsets.expire()
        if not more:
            break
        outcomes += 1
        assert len(outcome.records) <= SLICE_TOMBSTONES_MAX + 1
        world.run(outcome)
    assert outcomes >= 15_000 // SLICE_TOMBSTONES_MAX
    assert len(world.offsets.store) == 0 and world.state.groups == {}


def test_looking_at_offsets_that_stay_is_bounded_too(world: World) -> None:
    fill(world, "g", 3 * SLICE_VISITS_MAX)
    asked: list[int] = []
    group = ward(world, "g")
    group.expires_from_ms = lambda commit_ms: asked.append(commit_ms)  # type: ignore[method-assign, assignment]
    outcome, more = world.offsets.expire()
    assert more and outcome.records == []
    assert 0 < len(asked) <= SLICE_VISITS_MAX
    world.expire()
    assert len(asked) == 3 * SLICE_VISITS_MAX


def test_many_groups_without_offsets_are_bounded_too(world: World) -> None:
    for number in range(3 * SLICE_TOMBSTONES_MAX):
        world.new_group(f"g{number}")
    assert world.expire() >= 3
    assert world.state.groups == {}
    for number in range(2 * SLICE_VISITS_MAX):
        world.new_group(f"g{number}").is_empty = False
    assert world.expire() == 1


# --- deleted topics ---------------------------------------------------------------------------------------


def test_the_offsets_of_a_deleted_topic_go_in_all_groups(world: World) -> None:
    world.put("g", "orders", 0, 7)
    world.put("g", "clicks", 0, 8)
    world.commit(commit_by_id("h", topic_id_of(1), 2, 9), version=10)
    world.run(world.offsets.topics_deleted([("orders", topic_id_of(1))]))
    assert world.offset("g", "orders", 0) is None and world.offset("h", "orders", 2) is None
    assert world.offset("g", "clicks", 0) == 8
    assert world.reloaded().offsets.store == world.offsets.store


def test_offsets_of_a_new_topic_of_the_same_name_stay(world: World) -> None:
    world.commit(commit_by_id("g", topic_id_of(1), 0, 7), version=10)
    world.set_topics(("orders", topic_id_of(11), 4))
    world.commit(commit_by_id("g", topic_id_of(11), 1, 8), version=10)
    world.run(world.offsets.topics_deleted([("orders", topic_id_of(1))]))
    assert world.offset("g", "orders", 0) is None
    assert world.offset("g", "orders", 1) == 8


def test_two_deleted_topics_of_one_name_lose_the_offsets_of_both(world: World) -> None:
    world.commit(commit_by_id("g", topic_id_of(1), 0, 7), version=10)
    world.set_topics(("orders", topic_id_of(11), 4))
    world.commit(commit_by_id("g", topic_id_of(11), 1, 8), version=10)
    world.run(world.offsets.topics_deleted([("orders", topic_id_of(1)), ("orders", topic_id_of(11))]))
    assert len(world.offsets.store) == 0


def test_a_deletion_that_concerns_nobody_writes_nothing(world: World) -> None:
    world.put("g", "orders", 0, 7)
    before = list(world.log)
    world.run(world.offsets.topics_deleted([("elsewhere", topic_id_of(50))]))
    assert world.offsets.topics_deleted([]).records == []
    assert world.log == before


def test_a_deleted_topic_with_many_offsets_goes_slice_by_slice(world: World) -> None:
    fill(world, "g", 3 * SLICE_TOMBSTONES_MAX)
    pieces = []
    for outcome in walk(world, world.offsets.topics_deleted([("big", topic_id_of(9))])):
        pieces.append(len(outcome.records))
        assert len(outcome.records) <= SLICE_TOMBSTONES_MAX
    assert sum(pieces) == 3 * SLICE_TOMBSTONES_MAX and len(pieces) >= 3
    assert len(world.offsets.store) == 0


def test_a_commit_by_name_to_a_new_topic_survives_the_later_slices_of_the_deletion(world: World) -> None:
    fill(world, "g", 2 * SLICE_TOMBSTONES_MAX)
    last = 2 * SLICE_TOMBSTONES_MAX - 1
    slices = walk(world, world.offsets.topics_deleted([("big", topic_id_of(9))]))
    next(slices)
    world.clock.advance(1)
    world.put("g", "big", last, 5)
    for _ in slices:
        pass
    assert world.offset("g", "big", last) == 5 and len(world.offsets.store) == 1


def walk(world: World, outcome: Outcome) -> Iterator[Outcome]:
    """Carries out an outcome and, one at a time, what its jobs become."""
    while True:
        jobs, outcome.jobs = outcome.jobs, []
        world.run(outcome)
        yield outcome
        if not jobs:
            return
        (job,) = jobs
        try:
            while True:
                next(job)
        except StopIteration as stop:
            outcome = stop.value


def test_the_group_of_a_deleted_topic_goes_at_the_next_round_of_expiry(world: World) -> None:
    world.put("g", "orders", 0, 7)
    world.run(world.offsets.topics_deleted([("orders", topic_id_of(1))]))
    assert "g" in world.state.groups
    outcome, _ = world.offsets.expire()
    assert [type(record.key) for record in outcome.records] == [GroupMetadataKey]


def test_offsets_of_a_topic_that_is_gone_go_with_the_next_round_at_the_latest(world: World) -> None:
    """Their removal may have failed when the topic was deleted, on a full disk for one."""
    world.set_topics(("orders", topic_id_of(1), 4), ("big", topic_id_of(2), 4))
    world.put("g", "orders", 0, 7)
    world.put("g", "big", 0, 9)
    world.set_topics(("big", topic_id_of(2), 4))
    assert world.expire() == 1
    assert world.offset("g", "orders", 0) is None
    assert world.offset("g", "big", 0) == 9
