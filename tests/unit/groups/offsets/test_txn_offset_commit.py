"""TxnOffsetCommit and the markers that follow it, in one shard: what counts, when, and for whom."""

from __future__ import annotations

import pytest
from offsets_world import (
    RETENTION_MS,
    World,
    commit_by_id,
    delete_of,
    topic_id_of,
    txn_commit_of,
)

from ottla.groups.offsets import expiry
from ottla.groups.offsets.pieces import chunks, merge
from ottla.groups.offsets.txn_commit import names_a_partition
from ottla.groups.offsets.txn_commit import refusal as txn_refusal
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

A, B = 7, 8
"""Producers."""


@pytest.fixture
def world() -> World:
    return World()


def fetched(
    world: World, *partitions: int, require_stable: bool = True, group: str = "g"
) -> list[tuple[int, int, int]]:
    """(partition, offset, error) of `orders`; of all topics when no partition is named."""
    topics = [OffsetFetchRequestTopics(name="orders", partition_indexes=list(partitions))]
    asked = OffsetFetchRequestGroup(group_id=group, topics=topics if partitions else None)
    answer = world.offsets.fetch(asked, 9, require_stable=require_stable)
    assert answer.error_code == 0
    return [
        (each.partition_index, each.committed_offset, each.error_code)
        for topic in answer.topics
        for each in topic.partitions
    ]


# --- markers ------------------------------------------------------------------------------------------------


def test_offsets_of_a_transaction_count_with_its_commit(world: World) -> None:
    world.txn_put(A, "g", "orders", 0, 10)
    assert world.offset("g", "orders", 0) is None
    world.end(A, committed=True)
    assert world.offset("g", "orders", 0) == 10
    assert not world.offsets.pending


def test_offsets_of_an_aborted_transaction_never_count(world: World) -> None:
    world.put("g", "orders", 0, 3)
    world.txn_put(A, "g", "orders", 0, 10)
    world.end(A, committed=False)
    assert world.offset("g", "orders", 0) == 3
    assert not world.offsets.pending


def test_the_batch_is_the_producers(world: World) -> None:
    outcome, _ = world.txn_commit_outcome(txn_commit_of(A, "g", ("orders", 0, 1), ("clicks", 1, 2), epoch=5))
    assert (outcome.producer, len(outcome.records)) == ((A, 5), 2)


def test_what_a_producer_commits_again_takes_the_place_of_what_it_committed_before(world: World) -> None:
    world.txn_put(A, "g", "orders", 0, 10)
    world.txn_put(A, "g", "orders", 0, 8)
    world.end(A, committed=True)
    assert world.offset("g", "orders", 0) == 8


@pytest.mark.parametrize("first", [A, B])
def test_of_two_transactions_the_one_whose_record_is_newer_wins(world: World, first: int) -> None:
    """Kafka compares where the records are in the log, not where the markers are."""
    world.txn_put(A, "g", "orders", 0, 10)
    world.txn_put(B, "g", "orders", 0, 20)
    world.end(first, committed=True)
    world.end(A + B - first, committed=True)
    assert world.offset("g", "orders", 0) == 20


def test_an_aborted_transaction_does_not_hide_the_older_one(world: World) -> None:
    world.txn_put(A, "g", "orders", 0, 10)
    world.txn_put(B, "g", "orders", 0, 20)
    world.end(B, committed=False)
    world.end(A, committed=True)
    assert world.offset("g", "orders", 0) == 10


def test_a_commit_outside_of_transactions_wins_over_what_was_pending_before_it(world: World) -> None:
    world.txn_put(A, "g", "orders", 0, 10)
    world.put("g", "orders", 0, 4)
    world.end(A, committed=True)
    assert world.offset("g", "orders", 0) == 4


def test_what_becomes_pending_after_a_commit_wins_over_it(world: World) -> None:
    world.txn_put(A, "g", "orders", 0, 10)
    world.put("g", "orders", 0, 4)
    world.txn_put(A, "g", "orders", 0, 11)
    world.end(A, committed=True)
    assert world.offset("g", "orders", 0) == 11


def test_a_marker_ends_only_its_producers_transaction(world: World) -> None:
    world.txn_put(A, "g", "orders", 0, 10)
    world.txn_put(B, "h", "orders", 0, 20)
    world.end(B, committed=True)
    assert (world.offset("g", "orders", 0), world.offset("h", "orders", 0)) == (None, 20)
    world.end(A + B, committed=True)  # somebody who has committed nothing here
    assert world.offsets.pending.to_dict().keys() == {(A, "g", "orders", 0)}


def test_a_shard_that_is_loaded_between_commit_and_marker_goes_on(world: World) -> None:
    world.put("g", "orders", 0, 3)
    world.txn_put(A, "g", "orders", 0, 10)
    world.txn_put(A, "new", "orders", 1, 11)
    again = world.reloaded()
    assert again.offsets.pending.to_dict() == world.offsets.pending.to_dict()
    again.end(A, committed=True)
    assert (again.offset("g", "orders", 0), again.offset("new", "orders", 1)) == (10, 11)
    assert "new" in again.state.groups


# --- who may commit -----------------------------------------------------------------------------------------


def test_a_commit_without_a_generation_makes_a_group(world: World) -> None:
    world.txn_put(A, "new", "orders", 0, 1)
    assert "new" in world.state.groups


def test_a_generation_of_an_unknown_group_is_illegal(world: World) -> None:
    """Kafka answers ILLEGAL_GENERATION in every version, unlike OffsetCommit from 9 on."""
    request = txn_commit_of(A, "new", ("orders", 0, 1), generation=0, member_id="m")
    outcome, errors = world.txn_commit_outcome(request)
    assert errors == [("orders", 0, ErrorCode.ILLEGAL_GENERATION)]
    assert outcome.records == [] and outcome.producer is None


def test_the_empty_group_id_is_invalid(world: World) -> None:
    request = txn_commit_of(A, "", ("orders", 0, 1))
    assert world.txn_commit(request) == [("orders", 0, ErrorCode.INVALID_GROUP_ID)]


@pytest.mark.parametrize(
    ("said", "answered"),
    [
        (ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.ILLEGAL_GENERATION),
        (ErrorCode.ILLEGAL_GENERATION, ErrorCode.ILLEGAL_GENERATION),
        (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.UNKNOWN_MEMBER_ID),
        (ErrorCode.FENCED_INSTANCE_ID, ErrorCode.FENCED_INSTANCE_ID),
        (ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_NOT_AVAILABLE),
    ],
)
def test_the_group_refuses_in_words_that_producers_know(
    world: World, said: ErrorCode, answered: ErrorCode
) -> None:
    world.new_group("g").commit_error = said
    assert world.txn_commit(txn_commit_of(A, "g", ("orders", 0, 1))) == [("orders", 0, answered)]
    assert world.log == []


def test_the_group_hears_in_whose_name_the_producer_commits(world: World) -> None:
    """KIP-447."""
    group = world.new_group("g")
    request = txn_commit_of(
        A, "g", ("orders", 0, 1), ("orders", 1, 1), member_id="m", generation=4, instance_id="i"
    )
    world.txn_commit(request, version=3)
    assert group.asked == [("m", "i", 4, 3, True)]


def test_a_producers_commit_is_no_sign_of_life_of_the_member(world: World) -> None:
    group = world.new_group("g")
    group.session_ms = 1_000
    world.state.timers.set(("session", "g", "m"), 10.0, lambda: pytest.fail("nobody waits"))
    world.txn_commit(txn_commit_of(A, "g", ("orders", 0, 1), member_id="m", generation=1))
    assert world.state.timers.deadline_of(("session", "g", "m")) == 10.0


def test_unknown_partitions_have_their_error_and_the_others_are_committed(world: World) -> None:
    request = txn_commit_of(A, "g", ("orders", 4, 1), ("orders", 0, 1), ("nothing", 0, 1), ("orders", -1, 1))
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert world.txn_commit(request) == [
        ("orders", 4, unknown),
        ("orders", 0, 0),
        ("nothing", 0, unknown),
        ("orders", -1, unknown),
    ]
    assert len(world.log) == 1
    assert names_a_partition(request, world.topics)
    assert not names_a_partition(txn_commit_of(A, "g", ("orders", 4, 1)), world.topics)


def test_metadata_that_is_too_long_is_refused_and_the_rest_is_kept(world: World) -> None:
    small = World(metadata_max=3)
    request = txn_commit_of(A, "g", ("orders", 0, 1), metadata="four")
    assert small.txn_commit(request) == [("orders", 0, ErrorCode.OFFSET_METADATA_TOO_LARGE)]
    assert small.log == []
    request = txn_commit_of(A, "g", ("orders", 0, 1), metadata="abc", leader_epoch=6)
    assert small.txn_commit(request) == [("orders", 0, 0)]
    small.end(A, committed=True)
    committed = small.offsets.store.get("g", "orders", 0)
    assert committed is not None and committed[:3] == (1, 6, "abc")


# --- OffsetFetch --------------------------------------------------------------------------------------------


def test_who_wants_stable_offsets_is_told_which_are_not(world: World) -> None:
    """KIP-447: UNSTABLE_OFFSET_COMMIT for a partition as long as a transaction has an offset for it."""
    unstable = ErrorCode.UNSTABLE_OFFSET_COMMIT
    world.put("g", "orders", 0, 3)
    world.put("g", "orders", 1, 4)
    world.txn_put(A, "g", "orders", 0, 10)
    world.txn_put(A, "g", "orders", 2, 12)
    assert fetched(world, 0, 1, 2, 3) == [(0, -1, unstable), (1, 4, 0), (2, -1, unstable), (3, -1, 0)]
    assert fetched(world, 0, 2, require_stable=False) == [(0, 3, 0), (2, -1, 0)]
    assert fetched(world) == [(0, -1, unstable), (1, 4, 0)]
    assert fetched(world, 0, group="h") == [(0, -1, 0)]
    world.end(A, committed=True)
    assert fetched(world, 0, 1, 2) == [(0, 10, 0), (1, 4, 0), (2, 12, 0)]


def test_an_offset_is_unstable_until_the_last_transaction_has_ended(world: World) -> None:
    world.txn_put(A, "g", "orders", 0, 10)
    world.txn_put(B, "g", "orders", 0, 11)
    world.put("g", "orders", 0, 12)
    world.end(A, committed=True)
    assert fetched(world, 0) == [(0, -1, ErrorCode.UNSTABLE_OFFSET_COMMIT)]
    world.end(B, committed=False)
    assert fetched(world, 0) == [(0, 12, 0)]


# --- deleting and expiring ----------------------------------------------------------------------------------


def test_deleting_an_offset_takes_away_what_is_pending(world: World) -> None:
    """Kafka writes the tombstone also where only a transaction has an offset."""
    world.txn_put(A, "g", "orders", 0, 10)
    world.txn_put(B, "g", "orders", 0, 11)
    world.txn_put(A, "g", "orders", 1, 12)
    assert world.delete(delete_of("g", ("orders", 0))).topics[0].partitions[0].error_code == 0
    assert world.log[-1][1] is None
    world.end(A, committed=True)
    world.end(B, committed=True)
    assert (world.offset("g", "orders", 0), world.offset("g", "orders", 1)) == (None, 12)
    assert world.reloaded().offsets.store == world.offsets.store


def test_a_deleted_groups_pending_offsets_go_with_it(world: World) -> None:
    world.put("g", "orders", 0, 1)
    world.txn_put(A, "g", "orders", 0, 10)
    world.txn_put(A, "g", "clicks", 1, 10)
    world.txn_put(A, "h", "clicks", 1, 10)
    records = list(world.offsets.tombstones_of("g"))
    assert [(each.key.topic, each.key.partition) for each in records] == [("orders", 0), ("clicks", 1)]
    for record in records:
        world.replay(record)
    assert world.offsets.pending.to_dict().keys() == {(A, "h", "clicks", 1)}


def test_nothing_expires_where_a_transaction_is_open(world: World) -> None:
    """KAFKA-16371 and its neighbours: neither the offset nor the group may go."""
    world.put("g", "orders", 0, 1)
    world.put("g", "orders", 1, 1)
    world.txn_put(A, "g", "orders", 0, 10)
    world.txn_put(A, "h", "orders", 0, 10)
    world.clock.advance(2 * RETENTION_MS)
    world.expire()
    assert (world.offset("g", "orders", 0), world.offset("g", "orders", 1)) == (1, None)
    assert set(world.state.groups) == {"g", "h"}
    world.end(A, committed=False)
    world.expire()
    assert len(world.offsets.store) == 0 and not world.state.groups


def test_offsets_of_a_deleted_topic_go_with_what_is_pending(world: World) -> None:
    world.put("g", "orders", 0, 1)
    world.txn_put(A, "g", "orders", 0, 10)
    world.txn_put(A, "g", "orders", 1, 10)
    world.txn_put(A, "only", "orders", 2, 10)
    world.txn_put(A, "only", "clicks", 0, 10)
    world.set_topics(("clicks", topic_id_of(2), 2))
    world.run(world.offsets.topics_deleted([("orders", topic_id_of(1))]))
    assert world.offsets.pending.to_dict().keys() == {(A, "only", "clicks", 0)}
    assert world.offset("g", "orders", 0) is None


def test_what_is_pending_for_a_new_topic_survives_the_deletion_of_the_old_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The walk over a deleted topic's offsets takes several turns; its name may be in use again by then."""
    monkeypatch.setattr(expiry, "SLICE_VISITS_MAX", 1)
    world.put("f", "orders", 0, 1)
    world.put("g", "orders", 0, 1)
    outcome = world.offsets.topics_deleted([("orders", topic_id_of(1))])
    world.clock.advance(5)
    world.set_topics(("orders", topic_id_of(9), 4))
    world.txn_put(A, "g", "orders", 0, 10)
    world.run(outcome)
    assert world.offset("f", "orders", 0) is None
    world.end(A, committed=True)
    assert world.offset("g", "orders", 0) == 10


def test_pending_offsets_of_topics_that_are_gone_are_found_when_the_shard_is_loaded(world: World) -> None:
    assert world.commit(commit_by_id("g", topic_id_of(1), 0, 1), version=10) == [("", 0, 0)]
    world.txn_put(A, "g", "orders", 1, 10)
    world.txn_put(A, "g", "clicks", 0, 10)
    again = world.reloaded()
    again.set_topics(("clicks", topic_id_of(2), 2))
    again.run(again.offsets.loaded())
    assert again.offsets.pending.to_dict().keys() == {(A, "g", "clicks", 0)}
    assert len(again.offsets.store) == 0


# --- pieces -------------------------------------------------------------------------------------------------


def test_a_request_is_cut_into_pieces_and_their_answers_are_put_together() -> None:
    topics = [("a", 3), ("b", 0), ("c", 4)]
    request = TxnOffsetCommitRequest(
        transactional_id="t",
        group_id="g",
        producer_id=A,
        producer_epoch=3,
        generation_id=5,
        member_id="m",
        group_instance_id="i",
        topics=[
            TxnOffsetCommitRequestTopic(
                name=name,
                partitions=[TxnOffsetCommitRequestPartition(partition_index=index) for index in range(count)],
            )
            for name, count in topics
        ],
    )
    cut = list(chunks(request, 2))
    assert [sum(len(topic.partitions) for topic in each.topics) for each in cut] == [2, 2, 2, 1]
    for each in cut:
        assert (each.transactional_id, each.group_id, each.producer_id, each.producer_epoch) == (
            "t",
            "g",
            A,
            3,
        )
        assert (each.generation_id, each.member_id, each.group_instance_id) == (5, "m", "i")
    answers = [
        TxnOffsetCommitResponse(
            topics=[
                TxnOffsetCommitResponseTopic(
                    name=topic.name,
                    partitions=[
                        TxnOffsetCommitResponsePartition(
                            partition_index=each.partition_index, error_code=number
                        )
                        for each in topic.partitions
                    ],
                )
                for topic in piece.topics
            ]
        )
        for number, piece in enumerate(cut)
    ]
    merged = merge(request, answers)
    assert [
        (topic.name, [(each.partition_index, each.error_code) for each in topic.partitions])
        for topic in merged.topics
    ] == [("a", [(0, 0), (1, 0), (2, 1)]), ("b", []), ("c", [(0, 1), (1, 2), (2, 2), (3, 3)])]
    assert list(chunks(request, 7)) == [request]


def test_a_refusal_names_every_partition() -> None:
    request = txn_commit_of(A, "g", ("orders", 0, 1), ("clicks", 1, 2))
    response = txn_refusal(request, KafkaError(ErrorCode.NOT_COORDINATOR))
    assert [
        (topic.name, each.partition_index, each.error_code)
        for topic in response.topics
        for each in topic.partitions
    ] == [("orders", 0, ErrorCode.NOT_COORDINATOR), ("clicks", 1, ErrorCode.NOT_COORDINATOR)]
