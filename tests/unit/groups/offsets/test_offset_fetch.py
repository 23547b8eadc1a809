"""OffsetFetch: committed offsets by group, in all its versions."""

from __future__ import annotations

import pytest
from offsets_world import World, commit_by_id, commit_of, topic_id_of

from ottla.groups.offsets.fetch import group_refusal, groups_of, response_of
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
)
from ottla.wire.primitives import ZERO_UUID, Encoder

NOTHING = (-1, -1, "", 0)


@pytest.fixture
def world() -> World:
    world = World()
    world.commit(commit_of("g", ("orders", 0, 7), ("orders", 1, 8), metadata="note", leader_epoch=3))
    world.commit(commit_of("g", ("clicks", 1, 9)))
    return world


def ask(group_id: str, *topics: tuple[str, list[int]]) -> OffsetFetchRequestGroup:
    return OffsetFetchRequestGroup(
        group_id=group_id,
        topics=[OffsetFetchRequestTopics(name=name, partition_indexes=indexes) for name, indexes in topics],
    )


def ask_by_id(group_id: str, topic_id: bytes, indexes: list[int]) -> OffsetFetchRequestGroup:
    return OffsetFetchRequestGroup(
        group_id=group_id,
        topics=[OffsetFetchRequestTopics(topic_id=topic_id, partition_indexes=indexes)],
    )


def found(group: OffsetFetchResponseGroup) -> dict[tuple[str, int], tuple[int, int, str | None, int]]:
    return {
        (topic.name, each.partition_index): (
            each.committed_offset,
            each.committed_leader_epoch,
            each.metadata,
            each.error_code,
        )
        for topic in group.topics
        for each in topic.partitions
    }


def test_offset_epoch_and_metadata_come_back_for_the_partitions_asked_for(world: World) -> None:
    answer = world.offsets.fetch(ask("g", ("orders", [1, 0])), 9)
    assert answer.error_code == 0 and answer.group_id == "g"
    assert found(answer) == {("orders", 1): (8, 3, "note", 0), ("orders", 0): (7, 3, "note", 0)}
    assert [each.partition_index for each in answer.topics[0].partitions] == [1, 0]


def test_a_partition_without_an_offset_is_minus_one_and_no_error(world: World) -> None:
    answer = world.offsets.fetch(ask("g", ("orders", [3]), ("nowhere", [0])), 9)
    assert found(answer) == {("orders", 3): NOTHING, ("nowhere", 0): NOTHING}


def test_an_unknown_group_has_no_offsets_and_no_error(world: World) -> None:
    answer = world.offsets.fetch(ask("stranger", ("orders", [0])), 9)
    assert answer.error_code == 0
    assert found(answer) == {("orders", 0): NOTHING}


def test_null_topics_ask_for_everything_the_group_has(world: World) -> None:
    answer = world.offsets.fetch(OffsetFetchRequestGroup(group_id="g", topics=None), 9)
    assert found(answer) == {
        ("orders", 0): (7, 3, "note", 0),
        ("orders", 1): (8, 3, "note", 0),
        ("clicks", 1): (9, -1, "", 0),
    }


def test_an_empty_list_of_topics_asks_for_nothing(world: World) -> None:
    assert world.offsets.fetch(OffsetFetchRequestGroup(group_id="g", topics=[]), 9).topics == []


def test_everything_of_an_unknown_group_is_nothing(world: World) -> None:
    answer = world.offsets.fetch(OffsetFetchRequestGroup(group_id="stranger", topics=None), 9)
    assert answer == OffsetFetchResponseGroup(group_id="stranger")


def test_the_group_is_asked_with_the_member_and_its_epoch(world: World) -> None:
    group = world.new_group("g")
    asked = ask("g", ("orders", [0]))
    asked.member_id, asked.member_epoch = "m", 5
    world.offsets.fetch(asked, 9)
    assert group.asked == [("m", 5)]


@pytest.mark.parametrize("code", [ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID])
def test_a_refusal_of_the_group_is_its_error_and_nothing_else_is_told(world: World, code: ErrorCode) -> None:
    world.new_group("g").fetch_error = code
    answer = world.offsets.fetch(ask("g", ("orders", [0])), 9)
    assert answer == OffsetFetchResponseGroup(group_id="g", error_code=code)


def test_a_dead_group_has_no_offsets_and_no_error(world: World) -> None:
    """Kafka's ClassicGroup says GROUP_ID_NOT_FOUND, and the fetch makes "nothing" of it."""
    world.new_group("g").fetch_error = ErrorCode.GROUP_ID_NOT_FOUND
    assert found(world.offsets.fetch(ask("g", ("orders", [0])), 9)) == {("orders", 0): NOTHING}
    everything = world.offsets.fetch(OffsetFetchRequestGroup(group_id="g", topics=None), 9)
    assert everything == OffsetFetchResponseGroup(group_id="g")


# --- topic ids --------------------------------------------------------------------------------------------


def test_version_10_asks_by_topic_id_and_finds_what_was_committed_by_name(world: World) -> None:
    answer = world.offsets.fetch(ask_by_id("g", topic_id_of(1), [0, 2]), 10)
    assert answer.topics[0].topic_id == topic_id_of(1)
    assert found(answer) == {("", 0): (7, 3, "note", 0), ("", 2): NOTHING}


@pytest.mark.parametrize("topic_id", [topic_id_of(99), ZERO_UUID])
def test_an_unknown_topic_id_is_an_error_of_its_partitions(world: World, topic_id: bytes) -> None:
    answer = world.offsets.fetch(ask_by_id("g", topic_id, [0, 1]), 10)
    assert answer.error_code == 0 and answer.topics[0].topic_id == topic_id
    unknown = (-1, -1, "", ErrorCode.UNKNOWN_TOPIC_ID)
    assert found(answer) == {("", 0): unknown, ("", 1): unknown}


def test_an_offset_of_a_former_topic_of_the_same_name_is_not_given_by_id(world: World) -> None:
    world.commit(commit_by_id("g", topic_id_of(1), 0, 70), version=10)
    world.set_topics(("orders", topic_id_of(11), 4))
    answer = world.offsets.fetch(ask_by_id("g", topic_id_of(11), [0, 1]), 10)
    assert found(answer) == {("", 0): NOTHING, ("", 1): (8, 3, "note", 0)}


def test_who_asks_by_name_gets_the_offset_whatever_id_it_has(world: World) -> None:
    world.commit(commit_by_id("g", topic_id_of(1), 0, 70), version=10)
    assert found(world.offsets.fetch(ask("g", ("orders", [0])), 9)) == {("orders", 0): (70, -1, "", 0)}


def test_version_10_leaves_topics_out_that_have_no_id_any_more(world: World) -> None:
    world.set_topics(("orders", topic_id_of(1), 4))
    answer = world.offsets.fetch(OffsetFetchRequestGroup(group_id="g", topics=None), 10)
    assert [(topic.name, topic.topic_id) for topic in answer.topics] == [("orders", topic_id_of(1))]


# --- old versions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(1, 8))
def test_up_to_version_7_one_group_is_in_the_request_itself(world: World, version: int) -> None:
    request = OffsetFetchRequest(
        group_id="g", topics=[OffsetFetchRequestTopic(name="orders", partition_indexes=[0, 3])]
    )
    (asked,) = groups_of(request, version)
    assert (asked.group_id, asked.member_id, asked.member_epoch) == ("g", None, -1)
    response = response_of([world.offsets.fetch(asked, version)], version)
    out = Encoder()
    response.encode(out, version)
    data = out.to_bytes()
    decoded, _ = OffsetFetchResponse.decode(data, 0, len(data), version)
    (topic,) = decoded.topics
    epoch = 3 if version >= 5 else -1
    assert topic.name == "orders"
    assert [
        (each.partition_index, each.committed_offset, each.committed_leader_epoch, each.metadata)
        for each in topic.partitions
    ] == [(0, 7, epoch, "note"), (3, -1, -1, "")]


def test_from_version_2_null_asks_for_all_topics(world: World) -> None:
    (asked,) = groups_of(OffsetFetchRequest(group_id="g", topics=None), 2)
    assert asked.topics is None
    response = response_of([world.offsets.fetch(asked, 2)], 2)
    assert {topic.name for topic in response.topics} == {"orders", "clicks"}


@pytest.mark.parametrize("version", [8, 9, 10])
def test_from_version_8_there_are_several_groups(world: World, version: int) -> None:
    request = OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(group_id=name, topics=None) for name in ("g", "h")]
    )
    asked = groups_of(request, version)
    response = response_of([world.offsets.fetch(each, version) for each in asked], version)
    assert [group.group_id for group in response.groups] == ["g", "h"]
    assert len(response.groups[0].topics) == 2 and response.groups[1].topics == []


def test_an_error_of_the_group_is_on_top_from_version_2_and_in_every_partition_below_8(world: World) -> None:
    """aiokafka asks with version 3 and never looks at the top."""
    error = KafkaError(ErrorCode.NOT_COORDINATOR)
    asked = ask("g", ("orders", [0, 1]))
    for version in range(1, 8):
        answer = response_of([group_refusal(asked, error, version)], version)
        assert answer.error_code == (ErrorCode.NOT_COORDINATOR if version >= 2 else ErrorCode.NONE)
        found = [
            (each.partition_index, each.committed_offset, each.error_code)
            for each in answer.topics[0].partitions
        ]
        assert found == [(0, -1, 16), (1, -1, 16)]
    newest = group_refusal(asked, error, 8)
    assert newest.error_code == ErrorCode.NOT_COORDINATOR and newest.topics == []
