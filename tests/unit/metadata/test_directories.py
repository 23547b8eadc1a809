"""AssignReplicasToDirs (KIP-858)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from metadata_cluster import Cluster, directory_id

from ottla.metadata.brokers import earlier_life_ended, register_broker
from ottla.metadata.features import supported_features
from ottla.metadata.image import LEADER_RECOVERING, NO_LEADER, Endpoint
from ottla.model.errors import ErrorCode
from ottla.wire.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsRequestDirectoryData,
    AssignReplicasToDirsRequestPartitionData,
    AssignReplicasToDirsRequestTopicData,
    AssignReplicasToDirsResponse,
)

NEW_DISK = b"new-disk--------"


def assignment(
    cluster: Cluster, node_id: int, wanted: Mapping[bytes, Sequence[int]], topic_id: bytes | None = None
) -> AssignReplicasToDirsRequest:
    """Puts partitions of the topic `a` into directories."""
    return AssignReplicasToDirsRequest(
        broker_id=node_id,
        broker_epoch=100 + node_id,
        directories=[
            AssignReplicasToDirsRequestDirectoryData(
                id=directory,
                topics=[
                    AssignReplicasToDirsRequestTopicData(
                        topic_id=topic_id or cluster.image.topics["a"].topic_id,
                        partitions=[
                            AssignReplicasToDirsRequestPartitionData(partition_index=index)
                            for index in indexes
                        ],
                    )
                ],
            )
            for directory, indexes in wanted.items()
        ],
    )


def codes(response: AssignReplicasToDirsResponse) -> list[int]:
    return [
        partition.error_code
        for directory in response.directories
        for topic in directory.topics
        for partition in topic.partitions
    ]


def test_a_broker_says_which_directories_it_chose_and_nothing_else_changes() -> None:
    cluster = Cluster(2, log_dirs=2)
    cluster.create_on("a", [1, 2], [2, 1])
    first, second = directory_id(1, 0), directory_id(1, 1)
    response = cluster.ask(assignment(cluster, 1, {first: [0], second: [1]}))
    assert codes(response) == [0, 0]
    assert cluster.state("a", 0).directories == (first, bytes(16))
    assert cluster.state("a", 1).directories == (bytes(16), second)
    assert [cluster.state("a", index).leader_epoch for index in (0, 1)] == [0, 0]
    assert cluster.state("a", 0).isr == (1, 2)
    assert cluster.controller.decide(assignment(cluster, 1, {first: [0]}), 0, 0).records == []


def test_a_replica_in_a_directory_that_its_broker_lacks_is_out_of_sync() -> None:
    cluster = Cluster(2, log_dirs=2)
    cluster.create_on("a", [1, 2])
    response = cluster.ask(assignment(cluster, 1, {b"elsewhere-------": [0]}))
    assert codes(response) == [0]
    state = cluster.state("a")
    assert (state.leader, state.isr, state.directories[0]) == (2, (2,), b"elsewhere-------")


def test_the_only_replica_leads_again_once_its_broker_has_put_it_on_a_new_disk() -> None:
    """Its broker lost its disk with the records: the partition is empty, but it can be used."""
    cluster = Cluster(1, log_dirs=2)
    cluster.create_on("a", [1])
    cluster.ask(assignment(cluster, 1, {directory_id(1, 0): [0]}))
    cluster.replay(cluster.controller.fence_broker(1))
    cluster.replay(earlier_life_ended(cluster.view, 1, clean=False))
    cluster.replay(
        register_broker(
            cluster.image,
            node_id=1,
            broker_epoch=101,
            incarnation_id=bytes([99] * 16),
            endpoints=[Endpoint("PLAINTEXT", "host-1", 9092, 0)],
            features=supported_features(),
            rack=None,
            log_dirs=[NEW_DISK, directory_id(1, 1)],
        )
    )
    cluster.replay(cluster.controller.unfence_broker(1))
    assert cluster.state("a").leader == NO_LEADER
    assert codes(cluster.ask(assignment(cluster, 1, {NEW_DISK: [0]}))) == [0]
    state = cluster.state("a")
    assert (state.leader, state.isr, state.directories) == (1, (1,), (NEW_DISK,))
    assert state.leader_recovery_state == LEADER_RECOVERING


def test_what_is_not_the_brokers_own_is_refused_one_by_one() -> None:
    cluster = Cluster(3, log_dirs=2)
    cluster.create_on("a", [1, 2], [2, 3])
    mine = directory_id(1, 0)
    assert codes(cluster.ask(assignment(cluster, 1, {mine: [1, 7, 0, 0]}))) == [
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NONE,
        ErrorCode.INVALID_REQUEST,
    ]
    unknown = cluster.ask(assignment(cluster, 1, {mine: [0]}, topic_id=b"?" * 16))
    assert codes(unknown) == [ErrorCode.UNKNOWN_TOPIC_ID]


@pytest.mark.parametrize(
    ("node_id", "epoch", "code"),
    [(1, 7, ErrorCode.STALE_BROKER_EPOCH), (9, 7, ErrorCode.BROKER_ID_NOT_REGISTERED)],
)
def test_a_stale_epoch_refuses_the_whole_request(node_id: int, epoch: int, code: ErrorCode) -> None:
    cluster = Cluster(1)
    cluster.create_on("a", [1])
    request = assignment(cluster, node_id, {directory_id(1): [0]})
    request.broker_epoch = epoch
    assert cluster.ask(request).error_code == code
