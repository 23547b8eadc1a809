"""Administration of the cluster: configurations, brokers, quorum, replicas, directories."""

from __future__ import annotations

from typing import Any

import pytest
from admin_script import AdminScript

from ottla.client.admin_acls import AclOperation
from ottla.client.admin_cluster import EndpointType, RaftEndpoint
from ottla.client.admin_configs import ConfigChange, ConfigOperation, ConfigResource, ConfigResourceType
from ottla.client.admin_log_dirs import ReplicaLogDir, TopicPartitionReplica
from ottla.client.admin_part import PARTITIONS_PER_REQUEST_MAX
from ottla.client.admin_partitions import ElectionType, PartitionReassignment
from ottla.client.errors import (
    BrokerUnavailable,
    InvalidArgument,
    ProtocolError,
    ServerError,
    UnsupportedVersion,
)
from ottla.model.errors import ErrorCode
from ottla.model.types import METADATA_TOPIC, TopicPartition
from ottla.wire.messages import describe_quorum as dq
from ottla.wire.messages import elect_leaders as el
from ottla.wire.messages.add_raft_voter import AddRaftVoterResponse
from ottla.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from ottla.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from ottla.wire.messages.describe_cluster import DescribeClusterBroker, DescribeClusterResponse
from ottla.wire.messages.describe_configs import DescribeConfigsResponse, DescribeConfigsResult
from ottla.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from ottla.wire.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from ottla.wire.messages.list_config_resources import ConfigResource as ListedResource
from ottla.wire.messages.list_config_resources import ListConfigResourcesResponse
from ottla.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from ottla.wire.messages.unregister_broker import UnregisterBrokerResponse

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
SET = ConfigOperation.SET


@pytest.fixture
def script() -> AdminScript:
    return AdminScript()


# -- configurations


def test_changes_of_many_resources_go_to_whom_they_belong(script: AdminScript) -> None:
    """A broker's own configuration is the broker's business; topics, groups and client metrics are the
    controller's, and so are the defaults of all brokers."""

    def answer(node: int, request: Any) -> IncrementalAlterConfigsResponse:
        return IncrementalAlterConfigsResponse(
            responses=[
                AlterConfigsResourceResponse(
                    resource_type=r.resource_type,
                    resource_name=r.resource_name,
                    error_code=40 if r.resource_name == "bad" else 0,
                )
                for r in request.resources
            ]
        )

    script.handlers["IncrementalAlterConfigs"] = answer
    kinds = ConfigResourceType
    changes = {
        ConfigResource(kind, name): [ConfigChange("k", SET, "v")]
        for kind, name in (
            *((kinds.TOPIC, "a"), (kinds.TOPIC, "bad"), (kinds.BROKER, "2"), (kinds.BROKER, "")),
            *((kinds.BROKER, "9"), (kinds.GROUP, "g"), (kinds.CLIENT_METRICS, "m")),
        )
    }
    results = script.run(script.admin.incremental_alter_configs(changes, validate_only=True))
    assert list(results) == list(changes)
    assert {(r.type.name, r.name): e.code.name for r, e in results.failed.items()} == {
        ("TOPIC", "bad"): "INVALID_CONFIG",
        ("BROKER", "9"): "INVALID_REQUEST",
    }
    sent = script.asked("IncrementalAlterConfigs")
    assert [(node, [r.resource_name for r in request.resources]) for node, request in sent] == [
        (1, ["a", "bad"]),
        (2, ["2"]),
        (1, [""]),
        (1, ["g"]),
        (1, ["m"]),
    ]
    assert all(request.validate_only for _, request in sent)


def test_a_broker_that_is_away_does_not_hide_the_configurations_of_others(script: AdminScript) -> None:
    def answer(node: int, request: Any) -> DescribeConfigsResponse:
        if node == 2:
            raise BrokerUnavailable("host2:9092")
        return DescribeConfigsResponse(results=[DescribeConfigsResult(resource_name="1")])

    script.handlers["DescribeConfigs"] = answer
    script.run(script.cluster.discover(None))
    results = script.run(script.admin.describe_configs(ConfigResourceType.BROKER, ["2", "1"]))
    assert results["1"] == []
    assert isinstance(results["2"], BrokerUnavailable)


def test_resources_are_listed_by_type_and_an_old_broker_knows_client_metrics_only(
    script: AdminScript,
) -> None:
    script.answer(
        "ListConfigResources",
        ListConfigResourcesResponse(
            config_resources=[
                ListedResource(resource_name="z", resource_type=32),
                ListedResource(resource_name="m"),
                ListedResource(resource_name="new", resource_type=64),
            ]
        ),
    )
    found = script.run(script.admin.list_config_resources([ConfigResourceType.GROUP]))
    assert [(r.type.name, r.name) for r in found] == [
        ("UNKNOWN", "new"),
        ("CLIENT_METRICS", "m"),
        ("GROUP", "z"),
    ]
    assert script.asked("ListConfigResources")[0][1].resource_types == [32]
    script.versions["ListConfigResources"] = 0
    with pytest.raises(UnsupportedVersion, match="client metrics only"):
        script.run(script.admin.list_config_resources())
    assert "m" in script.run(script.admin.list_client_metrics_resources())
    assert script.asked("ListConfigResources")[-1][1].resource_types == []


# -- the cluster


def test_a_cluster_is_described_with_fenced_brokers_and_what_the_caller_may_do(script: AdminScript) -> None:
    script.answer(
        "DescribeCluster",
        DescribeClusterResponse(
            cluster_id="c",
            controller_id=1,
            brokers=[
                DescribeClusterBroker(broker_id=2, host="two", port=2, is_fenced=True),
                DescribeClusterBroker(broker_id=1, host="one", port=1, rack="r"),
            ],
            cluster_authorized_operations=1 << 7,
        ),
    )
    described = script.run(
        script.admin.describe_cluster(include_authorized_operations=True, include_fenced_brokers=True)
    )
    assert [(b.node_id, b.fenced, b.rack) for b in described.brokers] == [(1, False, "r"), (2, True, None)]
    assert described.authorized_operations == {AclOperation.ALTER}
    request = script.asked("DescribeCluster")[0][1]
    assert (request.include_fenced_brokers, request.endpoint_type) == (True, EndpointType.BROKER)
    assert script.run(script.admin.describe_cluster()).authorized_operations is None


def test_what_metadata_cannot_say_is_not_made_up_for_an_old_broker(script: AdminScript) -> None:
    def unknown(node: int, request: Any) -> Any:
        raise UnsupportedVersion("the broker does not offer DescribeCluster")

    script.handlers["DescribeCluster"] = unknown
    assert script.run(script.admin.describe_cluster()).cluster_id == "cluster"
    for wanted in (
        {"include_fenced_brokers": True},
        {"include_authorized_operations": True},
        {"endpoint_type": EndpointType.CONTROLLER},
    ):
        with pytest.raises(UnsupportedVersion, match="DescribeCluster"):
            script.run(script.admin.describe_cluster(**wanted))


def test_the_quorum_is_described_with_voters_observers_and_their_addresses(script: AdminScript) -> None:
    def replica(number: int, fetched: int) -> dq.ReplicaState:
        return dq.ReplicaState(
            replica_id=number, replica_directory_id=bytes([number] * 16), last_fetch_timestamp=fetched
        )

    part = dq.DescribeQuorumResponsePartitionData(
        leader_id=3,
        leader_epoch=7,
        high_watermark=99,
        current_voters=[replica(3, 5), replica(1, -1)],
        observers=[replica(9, 4)],
    )
    topic = dq.DescribeQuorumResponseTopicData(topic_name=METADATA_TOPIC, partitions=[part])
    listener = dq.Listener(name="CONTROLLER", host="h", port=9093)
    script.answer(
        "DescribeQuorum",
        dq.DescribeQuorumResponse(topics=[topic], nodes=[dq.Node(node_id=3, listeners=[listener])]),
    )
    found = script.run(script.admin.describe_metadata_quorum())
    assert (found.leader_id, found.leader_epoch, found.high_watermark) == (3, 7, 99)
    assert [(v.replica_id, v.last_fetch_ms) for v in found.voters] == [(1, None), (3, 5)]
    assert [o.directory_id for o in found.observers] == [bytes([9] * 16)]
    assert found.nodes == {3: (RaftEndpoint("CONTROLLER", "h", 9093),)}
    request = script.asked("DescribeQuorum")[0][1]
    assert [t.topic_name for t in request.topics] == [METADATA_TOPIC]
    part.error_code = 6  # another controller leads by now: it is looked for, until the time is up
    with pytest.raises(ServerError) as caught:
        script.run(script.admin.describe_metadata_quorum())
    assert caught.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert script.clock.elapsed_ms > script.cluster.operation_timeout_ms / 2
    part.error_code, topic.topic_name = 0, "another"
    with pytest.raises(ProtocolError, match="something else"):
        script.run(script.admin.describe_metadata_quorum())


def test_a_voter_is_named_by_id_and_directory(script: AdminScript) -> None:
    script.answer("AddRaftVoter", AddRaftVoterResponse(error_code=35, error_message="kraft.version is 0"))
    endpoint = RaftEndpoint("CONTROLLER", "h", 9093)
    with pytest.raises(ServerError, match=r"voter 5: kraft.version is 0"):
        script.run(script.admin.add_raft_voter(5, b"d" * 16, [endpoint], cluster_id="c"))
    request = script.asked("AddRaftVoter")[0][1]
    assert (request.voter_id, request.voter_directory_id, request.cluster_id) == (5, b"d" * 16, "c")
    assert [(e.name, e.host, e.port) for e in request.listeners] == [endpoint]
    with pytest.raises(InvalidArgument, match="sixteen bytes"):
        script.run(script.admin.remove_raft_voter(5, b"short"))


def test_a_broker_that_is_not_registered_cannot_be_unregistered(script: AdminScript) -> None:
    script.answer("UnregisterBroker", UnregisterBrokerResponse(error_code=102, error_message="not there"))
    with pytest.raises(ServerError, match="broker 7: not there") as caught:
        script.run(script.admin.unregister_broker(7))
    assert caught.value.code is ErrorCode.BROKER_ID_NOT_REGISTERED


# -- replicas and leaders


def test_reassignments_name_their_replicas_and_none_cancels(script: AdminScript) -> None:
    def answer(node: int, request: Any) -> AlterPartitionReassignmentsResponse:
        return AlterPartitionReassignmentsResponse(
            responses=[
                ReassignableTopicResponse(
                    name=t.name,
                    partitions=[
                        ReassignablePartitionResponse(
                            partition_index=p.partition_index,
                            error_code=85 if p.replicas is None else 0,
                        )
                        for p in t.partitions
                    ],
                )
                for t in request.topics
            ]
        )

    script.handlers["AlterPartitionReassignments"] = answer
    results = script.run(
        script.admin.alter_partition_reassignments({A0: [2, 1], B0: None, A1: (1,)}, timeout_ms=5)
    )
    assert list(results) == [A0, B0, A1]
    assert results[A0] is None and results[A1] is None
    assert results[B0].code is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
    ((node, request),) = script.asked("AlterPartitionReassignments")
    assert (node, request.timeout_ms, request.allow_replication_factor_change) == (1, 5, True)
    assert {(t.name, p.partition_index): p.replicas for t in request.topics for p in t.partitions} == {
        ("a", 0): [2, 1],
        ("a", 1): [1],
        ("b", 0): None,
    }
    count = PARTITIONS_PER_REQUEST_MAX + 1
    script.run(
        script.admin.alter_partition_reassignments({TopicPartition("a", n): [1] for n in range(count)})
    ).all()
    assert len(script.asked("AlterPartitionReassignments")) == 3


def test_reassignments_under_way_are_listed(script: AdminScript) -> None:
    ongoing = OngoingPartitionReassignment(
        partition_index=1, replicas=[1, 2], adding_replicas=[2], removing_replicas=[1]
    )
    script.answer(
        "ListPartitionReassignments",
        ListPartitionReassignmentsResponse(topics=[OngoingTopicReassignment(name="a", partitions=[ongoing])]),
    )
    expected = {A1: PartitionReassignment((1, 2), (2,), (1,))}
    assert script.run(script.admin.list_partition_reassignments()) == expected
    assert script.asked("ListPartitionReassignments")[0][1].topics is None
    assert script.run(script.admin.list_partition_reassignments([A1, A0])) == expected
    request = script.asked("ListPartitionReassignments")[1][1]
    assert [(t.name, t.partition_indexes) for t in request.topics] == [("a", [0, 1])]


def test_elections_tell_each_partition_or_only_those_that_were_needed(script: AdminScript) -> None:
    def answer(node: int, request: Any) -> el.ElectLeadersResponse:
        part = el.PartitionResult(partition_id=0, error_code=84, error_message="not needed")
        return el.ElectLeadersResponse(
            replica_election_results=[el.ReplicaElectionResult(topic="a", partition_result=[part])]
        )

    script.handlers["ElectLeaders"] = answer
    results = script.run(script.admin.elect_leaders(ElectionType.UNCLEAN, [A0]))
    assert results[A0].code is ErrorCode.ELECTION_NOT_NEEDED
    request = script.asked("ElectLeaders")[0][1]
    assert request.election_type == 1
    assert [(t.topic, t.partitions) for t in request.topic_partitions] == [("a", [0])]
    assert list(script.run(script.admin.elect_leaders(ElectionType.PREFERRED))) == [A0]
    assert script.asked("ElectLeaders")[1][1].topic_partitions is None
    script.answer("ElectLeaders", el.ElectLeadersResponse(error_code=31))
    with pytest.raises(ServerError, match="not allowed on this cluster"):
        script.run(script.admin.elect_leaders(ElectionType.PREFERRED))


# -- log directories


def directories(node: int, request: Any) -> DescribeLogDirsResponse:
    def directory(path: str, future: bool) -> DescribeLogDirsResult:
        part = DescribeLogDirsPartition(partition_index=0, offset_lag=4, is_future_key=future)
        topic = DescribeLogDirsTopic(name="a", partitions=[part])
        return DescribeLogDirsResult(log_dir=path, topics=[topic])

    return DescribeLogDirsResponse(results=[directory("/one", False), directory("/two", True)])


def test_a_broker_that_cannot_be_reached_does_not_hide_the_directories_of_others(script: AdminScript) -> None:
    def answer(node: int, request: Any) -> DescribeLogDirsResponse:
        if node == 2:
            raise BrokerUnavailable("host2:9092")
        return directories(node, request)

    script.handlers["DescribeLogDirs"] = answer
    script.run(script.cluster.discover(None))
    results = script.run(script.admin.describe_log_dirs())
    assert [directory.path for directory in results[1]] == ["/one", "/two"]
    assert isinstance(results[2], BrokerUnavailable)
    results = script.run(script.admin.describe_log_dirs([7]))
    assert "no broker 7" in str(results[7])


def test_a_replica_that_moves_is_in_two_directories(script: AdminScript) -> None:
    script.handlers["DescribeLogDirs"] = directories
    moving, absent = TopicPartitionReplica("a", 0, 1), TopicPartitionReplica("b", 0, 1)
    results = script.run(script.admin.describe_replica_log_dirs([moving, absent])).all()
    assert results[moving] == ReplicaLogDir("/one", 4, "/two", 4)
    assert results[absent] == ReplicaLogDir()
    request = script.asked("DescribeLogDirs")[0][1]
    assert [(t.topic, t.partitions) for t in request.topics] == [("a", [0]), ("b", [0])]


def test_replicas_are_moved_by_their_own_brokers(script: AdminScript) -> None:
    def answer(node: int, request: Any) -> AlterReplicaLogDirsResponse:
        return AlterReplicaLogDirsResponse(
            results=[
                AlterReplicaLogDirTopicResult(
                    topic_name=t.name,
                    partitions=[
                        AlterReplicaLogDirPartitionResult(partition_index=p, error_code=57 if p else 0)
                        for p in t.partitions
                    ],
                )
                for d in request.dirs
                for t in d.topics
            ]
        )

    script.handlers["AlterReplicaLogDirs"] = answer
    script.run(script.cluster.discover(None))
    one, two = TopicPartitionReplica("a", 0, 1), TopicPartitionReplica("a", 1, 2)
    nowhere = TopicPartitionReplica("a", 0, 9)
    results = script.run(script.admin.alter_replica_log_dirs({one: "/x", two: "/y", nowhere: "/z"}))
    assert results[one] is None
    assert results[two].code is ErrorCode.LOG_DIR_NOT_FOUND
    assert "no broker 9" in str(results[nowhere])
    sent = script.asked("AlterReplicaLogDirs")
    assert [(node, r.dirs[0].path) for node, r in sent] == [(1, "/x"), (2, "/y")]


def test_a_client_of_controllers_finds_the_active_one_without_metadata() -> None:
    script = AdminScript()
    script.cluster.of_controllers = True
    nodes = [DescribeClusterBroker(broker_id=n, host=f"c{n}", port=9093) for n in (1, 2)]
    script.handlers["DescribeCluster"] = lambda node, request: DescribeClusterResponse(
        cluster_id="id", controller_id=2, endpoint_type=request.endpoint_type, brokers=nodes
    )
    script.handlers["UnregisterBroker"] = lambda node, request: UnregisterBrokerResponse()
    script.run(script.admin.unregister_broker(9))
    described = script.run(script.admin.describe_cluster())
    assert [broker.node_id for broker in described.brokers] == [1, 2]
    assert [(name, node) for name, node, _ in script.calls][1] == ("UnregisterBroker", 2)
    assert {request.endpoint_type for name, _, request in script.calls if name == "DescribeCluster"} == {2}
    assert "Metadata" not in script.names()
