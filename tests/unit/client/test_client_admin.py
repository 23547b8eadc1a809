"""Administration: which request goes to whom, and what its answer becomes."""

from __future__ import annotations

from typing import Any

import pytest
from client_script import Script

from ottla.client.admin import (
    Admin,
    ConfigChange,
    ConfigOperation,
    ConfigResourceType,
    ConfigSource,
    NewTopic,
)
from ottla.client.errors import BrokerUnavailable, ServerError, UnsupportedVersion
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages.create_topics import CreatableTopicResult, CreateTopicsResponse
from ottla.wire.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from ottla.wire.messages.delete_topics import DeletableTopicResult, DeleteTopicsResponse
from ottla.wire.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from ottla.wire.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)


@pytest.fixture
def script() -> Script:
    made = Script()
    made.topics = {"a": [1, 2], "b": [2]}
    return made


def test_a_new_topic_with_assignments_says_minus_one_for_both_counts(script: Script) -> None:
    script.handlers["CreateTopics"] = lambda node, request: CreateTopicsResponse(
        topics=[CreatableTopicResult(name=topic.name) for topic in request.topics]
    )
    topic = NewTopic("x", 5, 2, {0: [1, 2], 1: [2, 1]}, {"retention.ms": "1"})
    results = script.run(Admin(script.cluster).create_topics([topic]))
    assert results.all()["x"].name == "x"
    sent = script.calls[-1][2].topics[0]
    assert (sent.num_partitions, sent.replication_factor) == (-1, -1)
    assert [(a.partition_index, a.broker_ids) for a in sent.assignments] == [(0, [1, 2]), (1, [2, 1])]
    assert [(c.name, c.value) for c in sent.configs] == [("retention.ms", "1")]


def test_a_refused_topic_is_a_result_with_the_brokers_words(script: Script) -> None:
    script.handlers["CreateTopics"] = lambda node, request: CreateTopicsResponse(
        topics=[CreatableTopicResult(name="x", error_code=36, error_message="Topic 'x' already exists.")]
    )
    error = script.run(Admin(script.cluster).create_topics([NewTopic("x")]))["x"]
    assert error.code is ErrorCode.TOPIC_ALREADY_EXISTS
    assert str(error) == "Topic 'x' already exists."


@pytest.mark.parametrize("version", [5, 6])
def test_topics_are_deleted_by_the_field_that_the_version_has(script: Script, version: int) -> None:
    script.versions["DeleteTopics"] = version
    script.handlers["DeleteTopics"] = lambda node, request: DeleteTopicsResponse(
        responses=[DeletableTopicResult(name="a")]
    )
    script.run(Admin(script.cluster).delete_topics(["a"]))
    request = script.calls[-1][2]
    assert [topic.name for topic in request.topics] == (["a"] if version == 6 else [])
    assert request.topic_names == (["a"] if version == 5 else [])


def test_the_controller_is_asked_anew_for_after_it_was_lost(script: Script) -> None:
    attempts: list[int] = []

    def answer(node_id: int, request: Any) -> CreateTopicsResponse:
        attempts.append(node_id)
        if len(attempts) == 1:
            raise BrokerUnavailable("host1:9092")
        return CreateTopicsResponse(topics=[CreatableTopicResult(name="x")])

    script.handlers["CreateTopics"] = answer
    script.run(Admin(script.cluster).create_topics([NewTopic("x")]))
    assert script.names() == ["Metadata", "CreateTopics", "Metadata", "CreateTopics"]


def test_a_brokers_configuration_is_asked_of_that_broker_and_a_topics_of_any(script: Script) -> None:
    def answer(node_id: int, request: Any) -> DescribeConfigsResponse:
        resource = request.resources[0]
        entries = [DescribeConfigsResourceResult(name=n, value="1", config_source=99) for n in ("z", "a")]
        return DescribeConfigsResponse(
            results=[
                DescribeConfigsResult(
                    resource_type=resource.resource_type,
                    resource_name=resource.resource_name,
                    configs=entries,
                )
            ]
        )

    script.handlers["DescribeConfigs"] = answer
    script.run(script.cluster.discover(None))
    admin = Admin(script.cluster)
    found = script.run(admin.describe_configs(ConfigResourceType.BROKER, ["2"]))
    assert script.calls[-1][1] == 2
    assert [(e.name, e.source) for e in found["2"]] == [
        ("a", ConfigSource.UNKNOWN),
        ("z", ConfigSource.UNKNOWN),
    ]
    script.run(admin.describe_configs(ConfigResourceType.TOPIC, ["a"]))
    assert script.calls[-1][1] == -1
    with pytest.raises(ServerError, match=r"no broker 9 \(brokers: 1, 2\)"):
        script.run(admin.describe_configs(ConfigResourceType.BROKER, ["9"])).all()


def test_changes_of_a_configuration_keep_their_operation(script: Script) -> None:
    script.handlers["IncrementalAlterConfigs"] = lambda node, request: IncrementalAlterConfigsResponse(
        responses=[AlterConfigsResourceResponse(resource_name="a", error_code=40, error_message="no good")]
    )
    changes = [ConfigChange("a", ConfigOperation.APPEND, "x"), ConfigChange("b", ConfigOperation.DELETE)]
    with pytest.raises(ServerError, match="no good"):
        script.run(Admin(script.cluster).alter_configs(ConfigResourceType.TOPIC, "a", changes))
    sent = script.calls[-1][2].resources[0].configs
    assert [(c.name, c.config_operation, c.value) for c in sent] == [("a", 2, "x"), ("b", 1, None)]


def test_each_leader_is_asked_about_its_own_partitions_and_a_lost_one_fails_only_those(
    script: Script,
) -> None:
    def answer(node_id: int, request: Any) -> DeleteRecordsResponse:
        if node_id == 2:
            raise BrokerUnavailable("host2:9092")
        return DeleteRecordsResponse(
            topics=[
                DeleteRecordsTopicResult(
                    name=topic.name,
                    partitions=[
                        DeleteRecordsPartitionResult(
                            partition_index=p.partition_index, low_watermark=p.offset
                        )
                        for p in topic.partitions
                    ],
                )
                for topic in request.topics
            ]
        )

    script.handlers["DeleteRecords"] = answer
    before = {TopicPartition("a", 0): 5, TopicPartition("a", 1): 6, TopicPartition("b", 0): 7}
    results = script.run(Admin(script.cluster).delete_records(before))
    assert results.succeeded == {TopicPartition("a", 0): 5}
    assert set(results.failed) == set(before) - {TopicPartition("a", 0)}


def test_a_broker_without_describe_cluster_is_described_by_its_metadata(script: Script) -> None:
    def unknown(node_id: int, request: Any) -> Any:
        raise UnsupportedVersion("the broker does not offer DescribeCluster")

    script.handlers["DescribeCluster"] = unknown
    described = script.run(Admin(script.cluster).describe_cluster())
    assert described.cluster_id == "cluster"
    assert [broker.node_id for broker in described.brokers] == [1, 2]


def test_topics_are_described_without_eligible_leaders_where_the_broker_cannot_tell(script: Script) -> None:
    def unknown(node_id: int, request: Any) -> Any:
        raise UnsupportedVersion("the broker does not offer DescribeTopicPartitions")

    script.handlers["DescribeTopicPartitions"] = unknown
    described = script.run(Admin(script.cluster).describe_topics(["a"])).all()["a"]
    assert [(p.partition, p.leader, p.elr) for p in described.partitions] == [(0, 1, None), (1, 2, None)]
