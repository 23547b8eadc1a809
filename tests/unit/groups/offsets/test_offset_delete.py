"""OffsetDelete (KIP-496): an admin takes offsets back."""

from __future__ import annotations

import pytest
from offsets_world import World, delete_of

from ottla.model.errors import ErrorCode
from ottla.wire.messages.offset_delete import OffsetDeleteResponse


@pytest.fixture
def world() -> World:
    world = World()
    world.put("g", "orders", 0, 7)
    world.put("g", "clicks", 1, 8)
    return world


def errors_of(response: OffsetDeleteResponse) -> list[tuple[str, int, int]]:
    assert response.error_code == 0
    return [
        (topic.name, each.partition_index, each.error_code)
        for topic in response.topics
        for each in topic.partitions
    ]


def test_a_deleted_offset_is_gone_from_the_log_too(world: World) -> None:
    assert errors_of(world.delete(delete_of("g", ("orders", 0)))) == [("orders", 0, 0)]
    assert world.log[-1][1] is None
    assert world.offset("g", "orders", 0) is None
    assert world.offset("g", "clicks", 1) == 8
    assert world.reloaded().offsets.store == world.offsets.store


def test_an_offset_that_is_not_there_is_deleted_without_a_record(world: World) -> None:
    before = len(world.log)
    assert errors_of(world.delete(delete_of("g", ("orders", 3)))) == [("orders", 3, 0)]
    assert len(world.log) == before


def test_a_topic_that_the_group_reads_keeps_its_offsets(world: World) -> None:
    group = world.state.groups["g"]
    group.subscribed = {"orders"}  # type: ignore[attr-defined]
    assert errors_of(world.delete(delete_of("g", ("orders", 0), ("clicks", 1)))) == [
        ("orders", 0, ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC),
        ("clicks", 1, 0),
    ]
    assert world.offset("g", "orders", 0) == 7 and world.offset("g", "clicks", 1) is None


@pytest.mark.parametrize(("topic", "partition"), [("nowhere", 0), ("orders", 4), ("orders", -1)])
def test_an_unknown_partition_is_an_error_of_its_own(world: World, topic: str, partition: int) -> None:
    assert errors_of(world.delete(delete_of("g", (topic, partition), ("orders", 0)))) == [
        (topic, partition, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("orders", 0, 0),
    ]


def test_an_unknown_group_is_an_error_of_the_whole_request(world: World) -> None:
    response = world.delete(delete_of("stranger", ("orders", 0)))
    assert response == OffsetDeleteResponse(error_code=ErrorCode.GROUP_ID_NOT_FOUND)


def test_the_empty_group_id_is_invalid(world: World) -> None:
    response = world.delete(delete_of("", ("orders", 0)))
    assert response == OffsetDeleteResponse(error_code=ErrorCode.INVALID_GROUP_ID)


def test_a_group_with_members_that_are_no_consumers_keeps_its_offsets(world: World) -> None:
    """Nobody can tell which topics a Connect worker reads, so the group itself refuses."""
    world.new_group("g").offset_delete_error = ErrorCode.NON_EMPTY_GROUP
    response = world.delete(delete_of("g", ("orders", 0)))
    assert response == OffsetDeleteResponse(error_code=ErrorCode.NON_EMPTY_GROUP)
    assert world.offset("g", "orders", 0) == 7


def test_all_offsets_of_a_group_have_their_tombstones(world: World) -> None:
    world.put("h", "orders", 0, 1)
    records = list(world.offsets.tombstones_of("g"))
    assert {(r.key.group, r.key.topic, r.key.partition, r.value) for r in records} == {
        ("g", "orders", 0, None),
        ("g", "clicks", 1, None),
    }
    for record in records:
        world.replay(record)
    assert "g" not in world.offsets.store and "h" in world.offsets.store
    assert list(world.offsets.tombstones_of("g")) == []
