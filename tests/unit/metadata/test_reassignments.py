"""AlterPartitionReassignments and ListPartitionReassignments (KIP-455)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from metadata_cluster import Cluster

from ottla.model.errors import ErrorCode
from ottla.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.wire.messages.cluster_metadata import PartitionChangeRecord
from ottla.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)


def request(
    wanted: Mapping[int, list[int] | None], topic: str = "a", allow: bool = True
) -> AlterPartitionReassignmentsRequest:
    return AlterPartitionReassignmentsRequest(
        allow_replication_factor_change=allow,
        topics=[
            ReassignableTopic(
                name=topic,
                partitions=[
                    ReassignablePartition(partition_index=index, replicas=replicas)
                    for index, replicas in wanted.items()
                ],
            )
        ],
    )


def reassign(
    cluster: Cluster, wanted: Mapping[int, list[int] | None], topic: str = "a", allow: bool = True
) -> list[int]:
    response = cluster.ask(request(wanted, topic, allow), 1)
    assert response.error_code == 0 and response.allow_replication_factor_change == allow
    return [each.error_code for each in response.responses[0].partitions]


def ongoing(cluster: Cluster, **asked: list[int]) -> dict[str, list[tuple[int, ...]]]:
    topics = [
        ListPartitionReassignmentsTopics(name=name, partition_indexes=indexes)
        for name, indexes in asked.items()
    ]
    response = cluster.ask(ListPartitionReassignmentsRequest(topics=topics or None))
    assert response.error_code == 0
    return {
        each.name: [
            (part.partition_index, *part.adding_replicas, *part.removing_replicas) for part in each.partitions
        ]
        for each in response.topics
    }


def in_sync(cluster: Cluster, isr: list[int], leader: int = -2) -> None:
    topic_id = cluster.image.topics["a"].topic_id
    cluster.replay([PartitionChangeRecord(topic_id=topic_id, partition_id=0, isr=isr, leader=leader)])


def test_a_reassignment_lists_new_and_old_replicas_until_the_new_ones_are_in_sync() -> None:
    cluster = Cluster(4)
    cluster.create_on("a", [1, 2], [2, 3])
    assert reassign(cluster, {0: [1, 3]}) == [0]
    state = cluster.state("a")
    assert (state.replicas, state.adding_replicas, state.removing_replicas) == ((1, 3, 2), (3,), (2,))
    assert (state.isr, state.leader, state.leader_epoch) == ((1, 2), 1, 0)
    assert len(state.directories) == 3
    assert ongoing(cluster) == {"a": [(0, 3, 2)]}
    assert ongoing(cluster, a=[1]) == {}
    assert ongoing(cluster, a=[0, 9], nothing=[0]) == {"a": [(0, 3, 2)]}


def test_fewer_replicas_that_are_all_in_sync_need_no_waiting() -> None:
    cluster = Cluster(3)
    cluster.create_on("a", [1, 2, 3])
    assert reassign(cluster, {0: [2, 3]}) == [0]
    state = cluster.state("a")
    assert (state.replicas, state.isr, state.leader, state.leader_epoch) == ((2, 3), (2, 3), 2, 1)
    assert ongoing(cluster) == {}


def test_another_order_changes_the_preferred_leader_and_nothing_else() -> None:
    cluster = Cluster(2)
    cluster.create_on("a", [1, 2])
    assert reassign(cluster, {0: [2, 1]}) == [0]
    state = cluster.state("a")
    assert (state.replicas, state.leader, state.leader_epoch) == ((2, 1), 1, 0)
    assert len(set(state.directories)) == 2
    assert cluster.controller.decide(request({0: [2, 1]}), 1, 0).records == []


def test_a_reassignment_can_be_changed_while_it_runs() -> None:
    cluster = Cluster(5)
    cluster.create_on("a", [1, 2])
    reassign(cluster, {0: [1, 3]})
    assert reassign(cluster, {0: [1, 4]}) == [0]
    state = cluster.state("a")
    assert (state.replicas, state.adding_replicas) == ((1, 4, 2, 3), (4,))
    assert set(state.removing_replicas) == {2, 3}


def test_a_cancelled_reassignment_gives_the_old_replicas_back() -> None:
    cluster = Cluster(4)
    cluster.create_on("a", [1, 2])
    reassign(cluster, {0: [3, 4]})
    in_sync(cluster, [1, 2, 3])
    assert reassign(cluster, {0: None}) == [0]
    state = cluster.state("a")
    assert (state.replicas, state.isr, state.leader) == ((1, 2), (1, 2), 1)
    assert (state.adding_replicas, state.removing_replicas, state.leader_epoch) == ((), (), 1)
    assert reassign(cluster, {0: None}) == [ErrorCode.NO_REASSIGNMENT_IN_PROGRESS]


def test_a_cancellation_that_would_lose_records_is_refused_unless_the_topic_allows_it() -> None:
    for unclean in (False, True):
        cluster = Cluster(4)
        cluster.create_on("a", [1, 2], **{"unclean.leader.election.enable": str(unclean).lower()})
        reassign(cluster, {0: [3, 4]})
        in_sync(cluster, [3], leader=3)
        code = reassign(cluster, {0: None})[0]
        state = cluster.state("a")
        if unclean:
            assert (code, state.leader, state.isr, state.leader_recovery_state) == (0, 1, (1,), 1)
        else:
            assert (code, state.leader) == (ErrorCode.INVALID_REPLICA_ASSIGNMENT, 3)


@pytest.mark.parametrize(
    ("replicas", "allow", "code"),
    [
        ([], True, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ([1, 1], True, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ([1, 9], True, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ([1, -1], True, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ([1, 2, 3], False, ErrorCode.INVALID_REPLICATION_FACTOR),
        ([1], False, ErrorCode.INVALID_REPLICATION_FACTOR),
        ([1, 3], False, ErrorCode.NONE),
        ([1, 2, 3], True, ErrorCode.NONE),
    ],
)
def test_an_assignment_is_checked_before_it_begins(replicas: list[int], allow: bool, code: ErrorCode) -> None:
    cluster = Cluster(3)
    cluster.create_on("a", [1, 2])
    assert reassign(cluster, {0: replicas}, allow=allow) == [code]


def test_unknown_topics_and_partitions_fail_alone() -> None:
    cluster = Cluster(3)
    cluster.create_on("a", [1, 2])
    assert reassign(cluster, {0: [2, 3], 7: [2, 3], 8: None}) == [
        0,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert reassign(cluster, {0: [1]}, topic="gone") == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    twice = request({0: [1, 3]})
    twice.topics *= 2
    answers = cluster.ask(twice, 1).responses
    assert [each.partitions[0].error_code for each in answers] == [0, ErrorCode.INVALID_REQUEST]


def test_a_topic_deleted_during_its_reassignment_takes_it_along() -> None:
    cluster = Cluster(3)
    cluster.create_on("a", [1, 2])
    reassign(cluster, {0: [2, 3]})
    cluster.ask(DeleteTopicsRequest(topics=[DeleteTopicState(name="a")]), 6)
    assert ongoing(cluster) == {}
    assert reassign(cluster, {0: None}) == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


def test_partitions_added_during_a_reassignment_have_the_topics_own_replication_factor() -> None:
    cluster = Cluster(4)
    cluster.create_on("a", [1, 2])
    reassign(cluster, {0: [3, 4]})
    add = CreatePartitionsRequest(topics=[CreatePartitionsTopic(name="a", count=3, assignments=None)])
    assert cluster.ask(add, 3).results[0].error_code == 0
    assert [len(cluster.state("a", index).replicas) for index in (1, 2)] == [2, 2]


def test_a_new_replica_that_dies_holds_a_reassignment_up_and_does_not_end_it() -> None:
    cluster = Cluster(3)
    cluster.create_on("a", [1, 2])
    reassign(cluster, {0: [1, 3]})
    cluster.replay(cluster.controller.fence_broker(3))
    assert ongoing(cluster) == {"a": [(0, 3, 2)]}
    cluster.replay(cluster.controller.fence_broker(1))
    state = cluster.state("a")
    assert (state.leader, state.isr, state.removing_replicas) == (2, (2,), (2,))
