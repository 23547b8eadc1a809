"""AlterPartition (KIP-497, KIP-704, KIP-841, KIP-903): leaders change the in-sync set, and nobody else."""

from __future__ import annotations

from typing import Any

import pytest
from metadata_cluster import Cluster
from test_reassignments import reassign

from ottla.model.errors import ErrorCode
from ottla.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    AlterPartitionResponsePartitionData,
    BrokerState,
)
from ottla.wire.messages.cluster_metadata import PartitionChangeRecord
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState


def request(
    cluster: Cluster, isr: list[int], *, index: int = 0, leader: int = 1, version: int = 3, **changes: Any
) -> AlterPartitionRequest:
    """What the leader of a partition of the topic `a` sends, as it knows the newest state."""
    topic = cluster.image.topics["a"]
    state = topic.partitions.get(index, topic.partitions[0])
    partition = AlterPartitionRequestPartitionData(
        partition_index=index,
        leader_epoch=changes.get("leader_epoch", state.leader_epoch),
        partition_epoch=changes.get("partition_epoch", state.partition_epoch),
        leader_recovery_state=changes.get("recovery", 0),
    )
    if version >= 3:
        epochs = changes.get("epochs", {})
        partition.new_isr_with_epochs = [
            BrokerState(broker_id=each, broker_epoch=epochs.get(each, 100 + each)) for each in isr
        ]
    else:
        partition.new_isr = isr
    return AlterPartitionRequest(
        broker_id=leader,
        broker_epoch=changes.get("broker_epoch", 100 + leader),
        topics=[
            AlterPartitionRequestTopicData(
                topic_id=changes.get("topic_id", topic.topic_id), partitions=[partition]
            )
        ],
    )


def alter(
    cluster: Cluster, isr: list[int], *, version: int = 3, **changes: Any
) -> AlterPartitionResponsePartitionData:
    response = cluster.ask(request(cluster, isr, version=version, **changes), version)
    assert response.error_code == 0
    answer = response.topics[0].partitions[0]
    assert isinstance(answer, AlterPartitionResponsePartitionData)
    return answer


@pytest.mark.parametrize("version", [2, 3])
def test_the_in_sync_set_shrinks_and_grows_without_a_new_leader_epoch(version: int) -> None:
    cluster = Cluster(3)
    cluster.create_on("a", [1, 2, 3])
    smaller = alter(cluster, [1, 3], version=version)
    assert (smaller.error_code, smaller.isr) == (0, [1, 3])
    assert (smaller.leader_id, smaller.leader_epoch, smaller.partition_epoch) == (1, 0, 1)
    larger = alter(cluster, [1, 3, 2], version=version)
    assert (larger.isr, larger.leader_epoch, larger.partition_epoch) == ([1, 3, 2], 0, 2)
    assert cluster.state("a").isr == (1, 3, 2)


def test_below_the_minimum_whoever_leaves_stays_eligible_until_there_are_enough_again() -> None:
    cluster = Cluster(3)  # KIP-966
    cluster.create_on("a", [1, 2, 3], **{"min.insync.replicas": "2"})
    alter(cluster, [1, 2])
    assert cluster.state("a").eligible_leader_replicas == ()
    alter(cluster, [1])
    assert cluster.state("a").eligible_leader_replicas == (2,)
    alter(cluster, [1, 3])
    assert cluster.state("a").eligible_leader_replicas == ()


def test_what_is_said_already_writes_nothing_and_is_answered_with_the_state() -> None:
    cluster = Cluster(2)
    cluster.create_on("a", [1, 2])
    offset = cluster.offset
    answer = alter(cluster, [1, 2])
    assert (answer.error_code, answer.partition_epoch, cluster.offset) == (0, 0, offset)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"leader_epoch": 4}, ErrorCode.FENCED_LEADER_EPOCH),
        ({"leader_epoch": 6}, ErrorCode.NOT_CONTROLLER),
        ({"partition_epoch": 4}, ErrorCode.INVALID_UPDATE_VERSION),
        ({"partition_epoch": 6}, ErrorCode.NOT_CONTROLLER),
        ({"leader": 2}, ErrorCode.INVALID_REQUEST),
        ({"isr": [2, 3]}, ErrorCode.INVALID_REQUEST),
        ({"isr": [1, 1]}, ErrorCode.INVALID_REQUEST),
        ({"isr": [1, 4]}, ErrorCode.INVALID_REQUEST),
        ({"isr": []}, ErrorCode.INVALID_REQUEST),
        ({"recovery": 1, "isr": [1]}, ErrorCode.INVALID_REQUEST),
        ({"recovery": 7, "isr": [1]}, ErrorCode.INVALID_REQUEST),
        ({"epochs": {2: 7}}, ErrorCode.INELIGIBLE_REPLICA),
        ({"index": 9}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"topic_id": b"?" * 16}, ErrorCode.UNKNOWN_TOPIC_ID),
        ({"topic_id": bytes(16)}, ErrorCode.UNKNOWN_TOPIC_ID),
    ],
)
def test_a_leader_that_is_behind_or_wrong_is_told_why(changes: dict[str, Any], code: ErrorCode) -> None:
    cluster = Cluster(4)
    topic_id = cluster.create_on("a", [1, 2, 3])
    cluster.replay([PartitionChangeRecord(topic_id=topic_id, partition_id=0, leader=1)] * 5)
    before = cluster.state("a")
    isr = changes.pop("isr", [1, 2])
    assert alter(cluster, isr, **changes).error_code == code
    assert cluster.state("a") == before


@pytest.mark.parametrize("version", [2, 3])
def test_a_broker_that_is_fenced_stopping_or_unknown_is_not_taken_in_sync(version: int) -> None:
    cluster = Cluster(3)
    cluster.create_on("a", [1, 2, 3])
    cluster.replay(cluster.controller.fence_broker(2))
    assert alter(cluster, [1, 2], version=version).error_code == ErrorCode.INELIGIBLE_REPLICA
    assert cluster.state("a").isr == (1, 3)


def test_the_epoch_of_the_broker_is_checked_before_anything() -> None:
    cluster = Cluster(2)
    cluster.create_on("a", [1, 2])
    stale = cluster.ask(request(cluster, [1], broker_epoch=7), 3)
    assert (stale.error_code, stale.topics) == (ErrorCode.STALE_BROKER_EPOCH, [])
    unknown = cluster.ask(request(cluster, [1], leader=9), 3)
    assert unknown.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED


def test_a_replica_that_restarted_meanwhile_is_told_by_its_epoch_and_unknown_epochs_pass() -> None:
    cluster = Cluster(3)  # KIP-903
    cluster.create_on("a", [1, 2, 3])
    alter(cluster, [1])
    assert alter(cluster, [1, 2], epochs={2: 55}).error_code == ErrorCode.INELIGIBLE_REPLICA
    assert alter(cluster, [1, 2], epochs={2: -1}).error_code == 0


def test_a_partition_named_twice_is_changed_once() -> None:
    cluster = Cluster(2)
    cluster.create_on("a", [1, 2])
    twice = request(cluster, [1])
    twice.topics[0].partitions *= 2
    answers = cluster.ask(twice, 3).topics[0].partitions
    assert [each.error_code for each in answers] == [0, ErrorCode.INVALID_UPDATE_VERSION]
    assert cluster.state("a").partition_epoch == 1


def test_a_leader_that_was_elected_uncleanly_says_when_it_has_recovered() -> None:
    cluster = Cluster(2)  # KIP-704
    topic_id = cluster.create_on("a", [1, 2])
    cluster.replay(
        [PartitionChangeRecord(topic_id=topic_id, partition_id=0, leader=1, isr=[1], leader_recovery_state=1)]
    )
    assert alter(cluster, [1, 2], recovery=1).error_code == ErrorCode.INVALID_REQUEST
    answer = alter(cluster, [1, 2], recovery=0)
    assert (answer.error_code, answer.leader_recovery_state, answer.isr) == (0, 0, [1, 2])
    assert cluster.state("a").leader_recovery_state == 0


def test_the_change_that_completes_a_reassignment_says_who_leads_now() -> None:
    cluster = Cluster(4)  # KIP-455, KIP-841
    cluster.create_on("a", [1, 2])
    reassign(cluster, {0: [3, 4]})
    assert cluster.state("a").replicas == (3, 4, 1, 2)
    assert alter(cluster, [1, 2, 3]).error_code == 0
    assert alter(cluster, [1, 2, 3, 4]).error_code == ErrorCode.NEW_LEADER_ELECTED
    after = cluster.state("a")
    assert (after.replicas, after.isr, after.leader, after.leader_epoch) == ((3, 4), (3, 4), 3, 1)
    assert (after.adding_replicas, after.removing_replicas, len(after.directories)) == ((), (), 2)


def test_a_leader_that_stays_through_a_reassignment_gets_a_new_epoch() -> None:
    cluster = Cluster(3)
    cluster.create_on("a", [1, 2])
    reassign(cluster, {0: [1, 3]})
    answer = alter(cluster, [1, 2, 3])
    assert (answer.error_code, answer.isr, answer.leader_id, answer.leader_epoch) == (0, [1, 3], 1, 1)


def test_a_topic_deleted_during_its_reassignment_is_unknown_to_the_leader_that_reports() -> None:
    cluster = Cluster(3)
    cluster.create_on("a", [1, 2])
    reassign(cluster, {0: [2, 3]})
    late = request(cluster, [1, 2, 3])
    cluster.ask(DeleteTopicsRequest(topics=[DeleteTopicState(name="a")]), 6)
    assert "a" not in cluster.image.topics
    answer = cluster.ask(late, 3).topics[0].partitions[0]
    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_ID
