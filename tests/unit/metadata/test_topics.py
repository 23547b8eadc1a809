"""CreateTopics, DeleteTopics, CreatePartitions: Kafka's answers, and records only where the answer is yes."""

from __future__ import annotations

import time

import pytest
from metadata_cluster import Cluster, directory_id, topic

from ottla.metadata.brokers import fence_broker
from ottla.metadata.config import ConfigSource
from ottla.model.errors import ErrorCode
from ottla.model.uuids import is_reserved
from ottla.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState


def test_a_topic_is_created_with_its_partitions_and_configs() -> None:
    cluster = Cluster()
    decision = cluster.controller.create_topics(
        CreateTopicsRequest(topics=[topic("a", 3, 1, {"retention.ms": "1000"})])
    )
    assert "a" not in cluster.image.topics  # decided, not yet done
    cluster.apply(decision)
    (result,) = decision.response.topics
    created = cluster.image.topics["a"]
    assert (result.error_code, result.num_partitions, result.replication_factor) == (0, 3, 1)
    assert result.topic_id == created.topic_id
    assert not is_reserved(created.topic_id)
    assert created.topic_id[6] >> 4 == 4  # a random UUID
    assert list(created.partitions) == [0, 1, 2]
    state = created.partitions[2]
    assert (state.replicas, state.isr, state.leader, state.leader_epoch) == ((1,), (1,), 1, 0)
    assert state.directories == (directory_id(1),)
    configs = {each.name: each for each in result.configs or []}
    assert configs["retention.ms"].value == "1000"
    assert configs["retention.ms"].config_source == ConfigSource.DYNAMIC_TOPIC_CONFIG
    assert configs["cleanup.policy"].value == "delete"
    assert configs["cleanup.policy"].config_source == ConfigSource.DEFAULT_CONFIG


def test_minus_one_takes_the_brokers_defaults() -> None:
    cluster = Cluster(3, properties={"num.partitions": "4", "default.replication.factor": "2"})
    cluster.create("a", -1, -1)
    partitions = cluster.image.topics["a"].partitions
    assert len(partitions) == 4
    assert all(len(state.replicas) == 2 for state in partitions.values())


@pytest.mark.parametrize(
    ("asked", "code", "message"),
    [
        (topic(""), ErrorCode.INVALID_TOPIC_EXCEPTION, "empty"),
        (topic(".."), ErrorCode.INVALID_TOPIC_EXCEPTION, "'..'"),
        (topic("x" * 250), ErrorCode.INVALID_TOPIC_EXCEPTION, "249"),
        (topic("a/b"), ErrorCode.INVALID_TOPIC_EXCEPTION, "ASCII"),
        (topic("there"), ErrorCode.TOPIC_ALREADY_EXISTS, "already exists"),
        (topic("my.name"), ErrorCode.INVALID_TOPIC_EXCEPTION, "collides with existing topic: my_name"),
        (topic("__cluster_metadata"), ErrorCode.INVALID_REQUEST, "prohibited"),
        (topic("a", 0), ErrorCode.INVALID_PARTITIONS, "larger than 0"),
        (topic("a", -2), ErrorCode.INVALID_PARTITIONS, "larger than 0"),
        (topic("a", 2**31 - 1), ErrorCode.POLICY_VIOLATION, "10000"),
        (topic("a", 1, 0), ErrorCode.INVALID_REPLICATION_FACTOR, "larger than 0"),
        (topic("a", 1, 3), ErrorCode.INVALID_REPLICATION_FACTOR, "only 2 broker(s)"),
        (topic("a", configs={"retention.mss": "1"}), ErrorCode.INVALID_CONFIG, "did you mean retention.ms"),
        (topic("a", configs={"retention.ms": "x"}), ErrorCode.INVALID_CONFIG, "a whole number"),
        (topic("a", configs={"retention.ms": None}), ErrorCode.INVALID_CONFIG, "Null value"),  # type: ignore[dict-item]
        (topic("a", 1, -1, None, {0: [1]}), ErrorCode.INVALID_REQUEST, "numPartitions"),
        (topic("a", -1, 1, None, {0: [1]}), ErrorCode.INVALID_REQUEST, "replication factor"),
        (topic("a", -1, -1, None, {1: [1]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "partition 0 is missing"),
        (topic("a", -1, -1, None, {0: []}), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "empty replica list"),
        (topic("a", -1, -1, None, {0: [9]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "broker 9"),
        (topic("a", -1, -1, None, {0: [1, 1]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "more than once"),
        (topic("a", -1, -1, None, {0: [1], 1: [1, 2]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "2 replica(s)"),
    ],
    ids=lambda value: value.name[:20] if isinstance(value, CreatableTopic) else None,
)
def test_a_topic_that_cannot_be_gets_kafkas_error_and_the_others_are_made(
    asked: CreatableTopic, code: ErrorCode, message: str
) -> None:
    cluster = Cluster(2)
    cluster.create("there")
    cluster.create("my_name")
    decision = cluster.controller.create_topics(CreateTopicsRequest(topics=[asked, topic("good")]))
    bad, good = decision.response.topics
    assert (bad.name, bad.error_code) == (asked.name, code)
    assert message in (bad.error_message or "")
    if code is not ErrorCode.POLICY_VIOLATION:  # that one refuses the whole request
        assert good.error_code == 0
    cluster.apply(decision)
    assert asked.name == "there" or asked.name not in cluster.image.topics


def test_a_name_given_twice_in_a_request_is_refused_once() -> None:
    cluster = Cluster()
    decision = cluster.controller.create_topics(
        CreateTopicsRequest(topics=[topic("a"), topic("b"), topic("a")])
    )
    assert [(each.name, each.error_code) for each in decision.response.topics] == [
        ("a", ErrorCode.INVALID_REQUEST),
        ("b", 0),
    ]


def test_names_that_collide_within_one_request_are_noticed() -> None:
    cluster = Cluster()
    decision = cluster.controller.create_topics(CreateTopicsRequest(topics=[topic("a.b"), topic("a_b")]))
    assert [each.error_code for each in decision.response.topics] == [0, ErrorCode.INVALID_TOPIC_EXCEPTION]


def test_validate_only_answers_the_same_and_does_nothing() -> None:
    cluster = Cluster()
    decision = cluster.controller.create_topics(
        CreateTopicsRequest(topics=[topic("a", 3), topic("b", 0)], validate_only=True)
    )
    good, bad = decision.response.topics
    assert (good.error_code, good.num_partitions, good.topic_id) == (0, 3, bytes(16))
    assert bad.error_code == ErrorCode.INVALID_PARTITIONS
    assert decision.records == []


def test_manual_assignments_are_taken_as_they_are() -> None:
    cluster = Cluster(3)
    cluster.apply(
        cluster.controller.create_topics(
            CreateTopicsRequest(topics=[topic("a", -1, -1, None, {1: [3, 1], 0: [2, 3]})])
        )
    )
    partitions = cluster.image.topics["a"].partitions
    assert [partitions[0].replicas, partitions[1].replicas] == [(2, 3), (3, 1)]
    assert [partitions[0].leader, partitions[1].leader] == [2, 3]


def test_a_fenced_broker_is_neither_leader_nor_in_sync() -> None:
    cluster = Cluster(2)
    cluster.replay(fence_broker(cluster.view, 1))
    cluster.apply(
        cluster.controller.create_topics(CreateTopicsRequest(topics=[topic("a", -1, -1, None, {0: [1, 2]})]))
    )
    state = cluster.image.partition("a", 0)
    assert state is not None and (state.leader, state.isr, state.replicas) == (2, (2,), (1, 2))


def test_ten_thousand_topics_in_one_request_are_decided_in_a_moment() -> None:
    cluster = Cluster()
    request = CreateTopicsRequest(topics=[topic(f"t.{number}") for number in range(10_000)])
    began = time.process_time()
    decision = cluster.controller.create_topics(request)
    assert time.process_time() - began < 2.0
    assert len(decision.records) == 20_000
    more = CreateTopicsRequest(topics=[*request.topics, topic("one-more")])
    refused = cluster.controller.create_topics(more)
    assert {each.error_code for each in refused.response.topics} == {ErrorCode.POLICY_VIOLATION}
    assert refused.records == []


# Automatic creation


def test_an_automatic_topic_has_the_brokers_defaults() -> None:
    cluster = Cluster(properties={"num.partitions": "2"})
    decision = cluster.controller.auto_create_topics(["a", "a", "bad/name"])
    cluster.apply(decision)
    assert [each.error_code for each in decision.response.topics] == [0, ErrorCode.INVALID_TOPIC_EXCEPTION]
    assert len(cluster.image.topics["a"].partitions) == 2


def test_internal_topics_are_compacted_and_work_on_a_node_that_is_alone() -> None:
    cluster = Cluster()
    cluster.apply(cluster.controller.auto_create_topics(["__consumer_offsets", "__transaction_state"]))
    for name in ("__consumer_offsets", "__transaction_state"):
        assert len(cluster.image.topics[name].partitions) == 50
        config = cluster.view.topic_log_config(name)
        assert config.compact and config.segment_bytes == 104_857_600
        assert config.min_insync_replicas == 1


def test_internal_topics_wait_for_enough_brokers_in_a_larger_cluster() -> None:
    voters = "1@a:1,2@b:1,3@c:1"
    cluster = Cluster(
        1,
        properties={
            "controller.quorum.voters": voters,
            "listeners": "PLAINTEXT://:9092,CONTROLLER://:1",
            "controller.listener.names": "CONTROLLER",
        },
    )
    decision = cluster.controller.auto_create_topics(["__consumer_offsets"])
    assert decision.response.topics[0].error_code == ErrorCode.INVALID_REPLICATION_FACTOR


# DeleteTopics


def test_topics_are_deleted_by_name_and_by_id() -> None:
    cluster = Cluster()
    cluster.create("a")
    b_id = cluster.create("b")
    decision = cluster.controller.delete_topics(
        DeleteTopicsRequest(topics=[DeleteTopicState(name="a"), DeleteTopicState(name=None, topic_id=b_id)]),
        6,
    )
    assert [(each.name, each.error_code) for each in decision.response.responses] == [("a", 0), ("b", 0)]
    cluster.apply(decision)
    assert not cluster.image.topics and not cluster.image.topics_by_id
    assert cluster.create("a") != b_id  # the name is free again


def test_older_versions_delete_by_name() -> None:
    cluster = Cluster()
    cluster.create("a")
    decision = cluster.controller.delete_topics(DeleteTopicsRequest(topic_names=["a", "x"]), 5)
    assert [each.error_code for each in decision.response.responses] == [
        0,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (DeleteTopicState(name="x"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (DeleteTopicState(name=None, topic_id=b"x" * 16), ErrorCode.UNKNOWN_TOPIC_ID),
        (DeleteTopicState(name=None), ErrorCode.INVALID_REQUEST),
        (DeleteTopicState(name="a", topic_id=b"x" * 16), ErrorCode.INVALID_REQUEST),
    ],
    ids=["unknown name", "unknown id", "neither", "both"],
)
def test_a_deletion_that_cannot_be_gets_kafkas_error(state: DeleteTopicState, code: ErrorCode) -> None:
    cluster = Cluster()
    cluster.create("a")
    decision = cluster.controller.delete_topics(DeleteTopicsRequest(topics=[state]), 6)
    assert [each.error_code for each in decision.response.responses] == [code]
    assert decision.records == []


def test_one_topic_named_twice_in_a_deletion_is_refused() -> None:
    cluster = Cluster()
    topic_id = cluster.create("a")
    by_both = DeleteTopicsRequest(
        topics=[DeleteTopicState(name="a"), DeleteTopicState(name=None, topic_id=topic_id)]
    )
    decision = cluster.controller.delete_topics(by_both, 6)
    assert {each.error_code for each in decision.response.responses} == {ErrorCode.INVALID_REQUEST}
    assert decision.records == []


@pytest.mark.parametrize(
    ("version", "code"), [(1, ErrorCode.INVALID_REQUEST), (3, ErrorCode.TOPIC_DELETION_DISABLED)]
)
def test_deletion_can_be_disabled(version: int, code: ErrorCode) -> None:
    cluster = Cluster(properties={"delete.topic.enable": "false"})
    cluster.create("a")
    decision = cluster.controller.delete_topics(DeleteTopicsRequest(topic_names=["a"]), version)
    assert decision.response.responses[0].error_code == code
    assert decision.records == []


# CreatePartitions


def more(name: str, count: int, assignments: list[list[int]] | None = None) -> CreatePartitionsTopic:
    return CreatePartitionsTopic(
        name=name,
        count=count,
        assignments=None
        if assignments is None
        else [CreatePartitionsAssignment(broker_ids=each) for each in assignments],
    )


def test_partitions_are_added_with_the_topics_replication_factor() -> None:
    cluster = Cluster(3)
    cluster.create("a", 2, 2)
    decision = cluster.controller.create_partitions(CreatePartitionsRequest(topics=[more("a", 5)]))
    cluster.apply(decision)
    partitions = cluster.image.topics["a"].partitions
    assert list(partitions) == [0, 1, 2, 3, 4]
    assert all(len(state.replicas) == 2 for state in partitions.values())


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (more("x", 5), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (more("a", 2), ErrorCode.INVALID_PARTITIONS),
        (more("a", 1), ErrorCode.INVALID_PARTITIONS),
        (more("a", -1), ErrorCode.INVALID_PARTITIONS),
        (more("a", 2**31 - 1), ErrorCode.POLICY_VIOLATION),
        (more("a", 4, [[1]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (more("a", 3, [[9]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (more("a", 3, [[1, 2]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
    ids=["unknown", "same", "fewer", "negative", "too many", "count", "broker", "factor"],
)
def test_partitions_that_cannot_be_added_get_kafkas_error(
    asked: CreatePartitionsTopic, code: ErrorCode
) -> None:
    cluster = Cluster(2)
    cluster.create("a", 2)
    decision = cluster.controller.create_partitions(CreatePartitionsRequest(topics=[asked]))
    (result,) = decision.response.results
    assert (result.name, result.error_code) == (asked.name, code)
    assert result.error_message
    assert decision.records == []


def test_adding_partitions_can_be_only_validated() -> None:
    cluster = Cluster()
    cluster.create("a")
    decision = cluster.controller.create_partitions(
        CreatePartitionsRequest(topics=[more("a", 3)], validate_only=True)
    )
    assert decision.response.results[0].error_code == 0
    assert decision.records == []
