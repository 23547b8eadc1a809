"""OffsetCommit: what is accepted and what is refused, partition by partition, as in Kafka 4.2."""

from __future__ import annotations

import pytest
from offsets_world import BEGIN_MS, World, commit_by_id, commit_of, errors_of, topic_id_of

from ottla.coordination.outcome import Outcome
from ottla.groups.offsets.commit import refusal
from ottla.groups.offsets.pieces import chunks, merge
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.wire.primitives import ZERO_UUID


@pytest.fixture
def world() -> World:
    return World()


# --- simple groups ----------------------------------------------------------------------------------------


def test_a_commit_without_a_generation_makes_a_simple_group(world: World) -> None:
    assert world.commit(commit_of("g", ("orders", 0, 7))) == [("orders", 0, 0)]
    assert "g" in world.state.groups
    assert world.offset("g", "orders", 0) == 7


def test_deciding_changes_nothing_until_the_records_are_replayed(world: World) -> None:
    outcome, _ = world.commit_outcome(commit_of("g", ("orders", 0, 7)))
    assert "g" not in world.state.groups
    assert world.offset("g", "orders", 0) is None
    world.run(outcome)
    assert world.offset("g", "orders", 0) == 7


@pytest.mark.parametrize("version", range(2, 9))
def test_before_version_9_a_generation_of_an_unknown_group_is_illegal(world: World, version: int) -> None:
    request = commit_of("g", ("orders", 0, 7), member_id="m", generation=1)
    assert world.commit(request, version=version) == [("orders", 0, ErrorCode.ILLEGAL_GENERATION)]
    assert world.log == [] and "g" not in world.state.groups


def test_from_version_9_the_unknown_group_itself_is_the_error(world: World) -> None:
    request = commit_of("g", ("orders", 0, 7), member_id="m", generation=1)
    assert world.commit(request, version=9) == [("orders", 0, ErrorCode.GROUP_ID_NOT_FOUND)]
    by_id = commit_by_id("g", topic_id_of(1), 0, 7)
    by_id.generation_id_or_member_epoch = 1
    assert world.commit(by_id, version=10) == [("", 0, ErrorCode.GROUP_ID_NOT_FOUND)]


def test_the_empty_group_id_may_commit(world: World) -> None:
    """Kafka keeps this for clients older than group management."""
    assert world.commit(commit_of("", ("orders", 1, 3))) == [("orders", 1, 0)]
    assert world.offset("", "orders", 1) == 3


# --- what the group says ----------------------------------------------------------------------------------


def test_the_group_is_asked_with_member_instance_generation_and_version(world: World) -> None:
    group = world.new_group("g")
    world.commit(commit_of("g", ("orders", 0, 7), member_id="m", generation=4, instance_id="i"), version=8)
    assert group.asked == [("m", "i", 4, 8, False)]


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.REBALANCE_IN_PROGRESS,
        ErrorCode.STALE_MEMBER_EPOCH,
        ErrorCode.UNSUPPORTED_VERSION,
    ],
)
def test_a_refusal_of_the_group_is_the_error_of_every_partition(world: World, code: ErrorCode) -> None:
    group = world.new_group("g")
    group.commit_error = code
    request = commit_of("g", ("orders", 0, 7), ("clicks", 1, 8), member_id="m", generation=4)
    assert world.commit(request) == [("orders", 0, code), ("clicks", 1, code)]
    assert world.log == []
    assert len(group.asked) == 1


def test_a_partition_that_does_not_exist_keeps_its_own_error_beside_a_refusal_of_the_group(
    world: World,
) -> None:
    world.new_group("g").commit_error = ErrorCode.ILLEGAL_GENERATION
    request = commit_of("g", ("nowhere", 0, 1), ("orders", 0, 7), generation=4)
    assert world.commit(request) == [
        ("nowhere", 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("orders", 0, ErrorCode.ILLEGAL_GENERATION),
    ]


def test_the_group_is_not_asked_when_no_partition_exists(world: World) -> None:
    """As in Kafka, where the topics are checked before the coordinator hears of the request."""
    group = world.new_group("g")
    world.commit(commit_of("g", ("nowhere", 0, 1)))
    assert group.asked == []


def test_a_commit_begins_the_session_of_its_member_anew(world: World) -> None:
    group = world.new_group("g")
    group.session_ms = 10_000
    now_ms = world.clock.monotonic_ms()
    world.state.timers.set(("session", "g", "m"), now_ms + 10_000, Outcome)
    world.clock.advance(6_000)
    world.commit(commit_of("g", ("orders", 0, 7), member_id="m", generation=1))
    assert world.state.timers.deadline_of(("session", "g", "m")) == now_ms + 16_000


def test_a_refused_commit_is_no_sign_of_life(world: World) -> None:
    group = world.new_group("g")
    group.session_ms = 10_000
    group.commit_error = ErrorCode.ILLEGAL_GENERATION
    world.state.timers.set(("session", "g", "m"), 15_000, Outcome)
    world.clock.advance(6_000)
    world.commit(commit_of("g", ("orders", 0, 7), member_id="m", generation=1))
    assert world.state.timers.deadline_of(("session", "g", "m")) == 15_000


def test_a_commit_sets_no_timer_where_the_member_has_none(world: World) -> None:
    world.new_group("g").session_ms = 10_000
    world.commit(commit_of("g", ("orders", 0, 7), member_id="m", generation=1))
    assert len(world.state.timers) == 0


# --- topics and partitions --------------------------------------------------------------------------------


@pytest.mark.parametrize(("topic", "partition"), [("nowhere", 0), ("orders", 4), ("orders", -1)])
def test_the_rest_is_committed_beside_an_unknown_partition(world: World, topic: str, partition: int) -> None:
    request = commit_of("g", ("orders", 0, 1), (topic, partition, 2), ("orders", 3, 4))
    assert world.commit(request) == [
        ("orders", 0, 0),
        (topic, partition, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("orders", 3, 0),
    ]
    assert len(world.log) == 2


def test_version_10_commits_by_topic_id_and_remembers_it(world: World) -> None:
    request = commit_by_id("g", topic_id_of(1), 2, 9)
    outcome, response = world.commit_outcome(request, version=10)
    world.run(outcome)
    assert errors_of(response) == [("", 2, 0)]
    assert response.topics[0].topic_id == topic_id_of(1)
    committed = world.offsets.store.get("g", "orders", 2)
    assert committed is not None and committed[5] == topic_id_of(1)


@pytest.mark.parametrize("topic_id", [topic_id_of(99), ZERO_UUID])
def test_version_10_has_an_error_of_its_own_for_an_unknown_topic_id(world: World, topic_id: bytes) -> None:
    request = commit_by_id("g", topic_id, 0, 9)
    assert world.commit(request, version=10) == [("", 0, ErrorCode.UNKNOWN_TOPIC_ID)]


def test_an_unknown_partition_of_a_known_topic_id_is_an_unknown_partition(world: World) -> None:
    request = commit_by_id("g", topic_id_of(1), 4, 9)
    assert world.commit(request, version=10) == [("", 4, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]


def test_a_commit_by_name_remembers_no_topic_id(world: World) -> None:
    """Kafka writes only the id that the client gave."""
    world.put("g", "orders", 0, 1)
    committed = world.offsets.store.get("g", "orders", 0)
    assert committed is not None and committed[5] == ZERO_UUID


# --- values -----------------------------------------------------------------------------------------------


def test_metadata_of_the_greatest_length_is_kept_and_one_more_is_too_large() -> None:
    world = World(metadata_max=10)
    assert world.commit(commit_of("g", ("orders", 0, 1), metadata="m" * 10)) == [("orders", 0, 0)]
    assert world.commit(commit_of("g", ("orders", 1, 1), metadata="m" * 11)) == [
        ("orders", 1, ErrorCode.OFFSET_METADATA_TOO_LARGE)
    ]
    assert world.offset("g", "orders", 1) is None


def test_too_large_metadata_of_one_partition_leaves_the_others_alone() -> None:
    world = World(metadata_max=10)
    request = commit_of("g", ("orders", 0, 1), ("orders", 1, 2), metadata="x" * 11)
    request.topics[1].partitions[0].committed_metadata = "fine"
    assert world.commit(request) == [("orders", 0, ErrorCode.OFFSET_METADATA_TOO_LARGE), ("orders", 1, 0)]


@pytest.mark.parametrize(
    ("metadata", "fits"), [("é" * 10, True), ("é" * 11, False), ("\U0001f600" * 5, True)]
)
def test_metadata_is_measured_in_utf_16_code_units_as_java_does(metadata: str, fits: bool) -> None:
    world = World(metadata_max=10)
    expected = 0 if fits else ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert world.commit(commit_of("g", ("orders", 0, 1), metadata=metadata)) == [("orders", 0, expected)]


def test_a_character_outside_the_basic_plane_counts_twice() -> None:
    world = World(metadata_max=10)
    assert world.commit(commit_of("g", ("orders", 0, 1), metadata="\U0001f600" * 6)) == [
        ("orders", 0, ErrorCode.OFFSET_METADATA_TOO_LARGE)
    ]


def test_null_metadata_becomes_the_empty_string(world: World) -> None:
    world.commit(commit_of("g", ("orders", 0, 1), metadata=None))
    assert world.offsets.store.get("g", "orders", 0) == (1, -1, "", BEGIN_MS, -1, ZERO_UUID)


def test_metadata_and_leader_epoch_are_kept(world: World) -> None:
    world.commit(commit_of("g", ("orders", 0, 1), metadata="from host 7", leader_epoch=5))
    assert world.offsets.store.get("g", "orders", 0) == (1, 5, "from host 7", BEGIN_MS, -1, ZERO_UUID)


@pytest.mark.parametrize("offset", [-1, -(2**63), 2**63 - 1])
def test_any_offset_is_accepted_as_in_kafka(world: World, offset: int) -> None:
    world.put("g", "orders", 0, offset)
    assert world.reloaded().offset("g", "orders", 0) == offset


def test_a_later_commit_replaces_an_earlier_one_and_may_go_back(world: World) -> None:
    """A reset of offsets is a commit too."""
    world.put("g", "orders", 0, 10)
    world.put("g", "orders", 0, 4)
    assert world.offset("g", "orders", 0) == 4
    assert len(world.offsets.store) == 1


@pytest.mark.parametrize("version", [2, 3, 4])
def test_an_old_client_may_give_its_offsets_a_retention_of_their_own(world: World, version: int) -> None:
    world.commit(commit_of("g", ("orders", 0, 1), retention_time_ms=500), version=version)
    committed = world.offsets.store.get("g", "orders", 0)
    assert committed is not None and committed[4] == BEGIN_MS + 500


def test_a_retention_beyond_all_time_is_the_end_of_time(world: World) -> None:
    assert world.commit(commit_of("g", ("orders", 0, 1), retention_time_ms=2**63 - 1), version=2) == [
        ("orders", 0, 0)
    ]
    committed = world.reloaded().offsets.store.get("g", "orders", 0)
    assert committed is not None and committed[4] == 2**63 - 1


def test_a_retention_before_all_time_can_be_written_too(world: World) -> None:
    world.commit(commit_of("g", ("orders", 0, 1), retention_time_ms=-(2**63)), version=2)
    assert world.reloaded().offsets.store == world.offsets.store


# --- many partitions --------------------------------------------------------------------------------------


def big_request(counts: list[int]) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id="g",
        member_id="m",
        generation_id_or_member_epoch=3,
        group_instance_id="i",
        retention_time_ms=77,
        topics=[
            OffsetCommitRequestTopic(
                name=f"t{number}",
                topic_id=topic_id_of(200 + number),
                partitions=[
                    OffsetCommitRequestPartition(partition_index=i, committed_offset=i) for i in range(count)
                ],
            )
            for number, count in enumerate(counts)
        ],
    )


def test_a_small_request_is_its_own_only_chunk() -> None:
    request = big_request([3, 2])
    (only,) = chunks(request, 5)
    assert only is request


@pytest.mark.parametrize("counts", [[7], [3, 3], [0, 9, 0, 1], [5, 5, 5], [1] * 11])
@pytest.mark.parametrize("partitions_max", [1, 3, 5])
def test_chunks_name_every_partition_once_in_order(counts: list[int], partitions_max: int) -> None:
    request = big_request(counts)
    parts = list(chunks(request, partitions_max))
    sizes = [sum(len(topic.partitions) for topic in part.topics) for part in parts]
    assert all(0 < size <= partitions_max for size in sizes)
    flat = [(t.name, t.topic_id, p) for part in parts for t in part.topics for p in t.partitions]
    assert flat == [(t.name, t.topic_id, p) for t in request.topics for p in t.partitions]
    for part in parts:
        assert (part.group_id, part.member_id, part.group_instance_id) == ("g", "m", "i")
        assert (part.generation_id_or_member_epoch, part.retention_time_ms) == (3, 77)


def test_the_merged_response_is_the_one_to_the_whole_request() -> None:
    request = big_request([4, 0, 7, 1])
    request.generation_id_or_member_epoch = -1
    whole, parts = World(), World()
    for world in (whole, parts):
        world.set_topics(("t0", topic_id_of(200), 3), ("t2", topic_id_of(202), 5))
    _, expected = whole.commit_outcome(request, version=9)
    responses = [parts.commit_outcome(part, version=9)[1] for part in chunks(request, 3)]
    assert len(responses) == 4
    assert merge(request, responses) == expected


def test_a_request_without_topics_has_an_empty_answer(world: World) -> None:
    request = OffsetCommitRequest(group_id="g")
    (only,) = chunks(request, 500)
    outcome, response = world.commit_outcome(only)
    assert outcome.records == [] and merge(request, [response]).topics == []


def test_ten_thousand_partitions_are_committed_in_chunks(world: World) -> None:
    world.set_topics(("big", topic_id_of(9), 10_000))
    request = OffsetCommitRequest(
        group_id="g",
        topics=[
            OffsetCommitRequestTopic(
                name="big",
                partitions=[
                    OffsetCommitRequestPartition(partition_index=i, committed_offset=i) for i in range(10_000)
                ],
            )
        ],
    )
    responses = []
    for part in chunks(request, 500):
        outcome, response = world.commit_outcome(part)
        assert len(outcome.records) == 500
        world.run(outcome)
        responses.append(response)
    assert errors_of(merge(request, responses)) == [("big", i, 0) for i in range(10_000)]
    assert len(world.offsets.store) == 10_000


def test_a_refusal_of_the_whole_request_is_in_every_partition() -> None:
    request = big_request([2, 1])
    response = refusal(request, KafkaError(ErrorCode.NOT_COORDINATOR))
    assert errors_of(response) == [("t0", 0, 16), ("t0", 1, 16), ("t1", 0, 16)]
    assert [topic.topic_id for topic in response.topics] == [topic_id_of(200), topic_id_of(201)]
