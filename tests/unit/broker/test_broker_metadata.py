"""Metadata (key 3) and DescribeCluster (key 60)."""

from __future__ import annotations

from typing import Any

import pytest
from broker_bench import NODE_ID, Bench, versions_of

from ottla.broker.handlers import metadata
from ottla.broker.metadata_cache import topic_response
from ottla.model.errors import ErrorCode
from ottla.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from ottla.wire.messages.describe_cluster import DescribeClusterRequest
from ottla.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from ottla.wire.primitives import Encoder

VERSIONS = versions_of(MetadataRequest)
TOPIC_OPERATIONS = {3, 4, 5, 6, 7, 8, 10, 11}
"""AclOperation codes: read, write, create, delete, alter, describe, describe and alter configs."""
CLUSTER_OPERATIONS = {5, 7, 8, 9, 10, 11, 12}


def named(*names: str, **options: Any) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names], **options)


def codes(reply: Any) -> dict[str, int]:
    return {topic.name: topic.error_code for topic in reply.topics}


def bits(mask: int) -> set[int]:
    return {bit for bit in range(32) if mask >> bit & 1}


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.create("one", 1)
    bench.create("three", 3)
    return bench


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_names_the_broker_the_topics_and_their_leaders(bench: Bench, version: int) -> None:
    reply = bench.call(named("three", "one"), version)
    (broker,) = reply.brokers
    assert (broker.node_id, broker.host, broker.port) == (NODE_ID, "broker", 9092)
    assert [topic.name for topic in reply.topics] == ["three", "one"]
    for topic in reply.topics:
        assert topic.error_code == ErrorCode.NONE
        for index, partition in enumerate(topic.partitions):
            assert partition.partition_index == index
            assert partition.leader_id == NODE_ID
            assert partition.replica_nodes == partition.isr_nodes == [NODE_ID]
            if version >= 7:
                assert partition.leader_epoch == 0
        if version >= 10:
            assert topic.topic_id == bench.node.image.topics[topic.name].topic_id
    assert [len(topic.partitions) for topic in reply.topics] == [3, 1]
    if version >= 1:
        assert reply.controller_id == NODE_ID
    if version >= 2:
        assert reply.cluster_id == bench.node.cluster_id


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("operations", [False, True])
def test_the_spliced_answer_is_byte_for_byte_the_generated_encoding(
    bench: Bench, version: int, operations: bool
) -> None:
    request = named("one", "three", "missing", "not/valid")
    if version >= 4:
        request.allow_auto_topic_creation = True
    if version >= 8:
        request.include_topic_authorized_operations = operations
        if version <= 10:
            request.include_cluster_authorized_operations = operations
    image = bench.node.image
    topics = [topic_response(image, image.topics[name], version, "PLAINTEXT") for name in ("one", "three")]
    for topic in topics:
        if operations and version >= 8:
            topic.topic_authorized_operations = metadata.ALL_TOPIC_OPERATIONS
    for name, code in (
        ("missing", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("not/valid", ErrorCode.INVALID_TOPIC_EXCEPTION),
    ):
        topics.append(MetadataResponseTopic(error_code=code, name=name))
    expected = MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=NODE_ID, host="broker", port=9092, rack=None)],
        cluster_id=bench.node.cluster_id,
        controller_id=NODE_ID,
        topics=topics,
    )
    if operations and 8 <= version <= 10:
        expected.cluster_authorized_operations = metadata.ALL_CLUSTER_OPERATIONS
    out = Encoder()
    expected.encode(out, version)
    bench.peer.send(request, version)
    assert bench.peer.replies[-1][4 + (version >= 9) :] == out.to_bytes()


@pytest.mark.parametrize("count", [0, 1, 126, 127, 128, 300])
@pytest.mark.parametrize("version", [0, 8, 9, 13])
def test_the_count_of_spliced_topics_has_any_length(bench: Bench, version: int, count: int) -> None:
    names = [f"unknown-{index}" for index in range(count)]
    if version == 0 and not count:
        return  # in version 0 the empty list asks for all
    reply = bench.call(named(*names), version)
    assert [topic.name for topic in reply.topics] == names


def test_null_asks_for_all_topics_and_an_empty_list_for_none(bench: Bench) -> None:
    for version in VERSIONS:
        if version == 0:
            assert set(codes(bench.call(named(), 0))) == {"one", "three"}
        else:
            assert set(codes(bench.call(MetadataRequest(topics=None), version))) == {"one", "three"}
            assert bench.call(named(), version).topics == []


def test_a_topic_named_a_thousand_times_is_answered_once(bench: Bench) -> None:
    """A set of names, as in Kafka: the answer must not be a thousand times the question."""
    reply = bench.call(named(*["three"] * 1000, "one"))
    assert [topic.name for topic in reply.topics] == ["three", "one"]
    topic_id = bench.node.image.topics["one"].topic_id
    request = MetadataRequest(topics=[MetadataRequestTopic(topic_id=topic_id, name=None)] * 500)
    assert len(bench.call(request).topics) == 1


@pytest.mark.parametrize("version", [12, 13])
def test_topics_are_found_by_id_from_version_12_on(bench: Bench, version: int) -> None:
    known = bench.node.image.topics["three"].topic_id
    unknown = b"u" * 16
    request = MetadataRequest(
        topics=[
            MetadataRequestTopic(topic_id=known, name=None),
            MetadataRequestTopic(topic_id=unknown, name=None),
        ],
        allow_auto_topic_creation=True,
    )
    found, missing = bench.call(request, version).topics
    assert (found.name, found.error_code, len(found.partitions)) == ("three", 0, 3)
    assert (missing.name, missing.error_code) == (None, ErrorCode.UNKNOWN_TOPIC_ID)
    assert missing.topic_id == unknown


@pytest.mark.parametrize("version", [10, 11])
def test_ids_and_null_names_are_invalid_requests_before_version_12(bench: Bench, version: int) -> None:
    known = bench.node.image.topics["three"].topic_id
    for topic in (
        MetadataRequestTopic(topic_id=known, name="three"),
        MetadataRequestTopic(topic_id=bytes(16), name=None),
    ):
        (answer,) = bench.call(MetadataRequest(topics=[topic]), version).topics
        assert answer.error_code == ErrorCode.INVALID_REQUEST
        assert not answer.partitions


def test_the_operations_that_are_allowed_are_those_of_a_broker_without_access_rules(bench: Bench) -> None:
    """The bits are AclOperation's codes (KIP-430)."""
    reply = bench.call(
        named("one", include_topic_authorized_operations=True, include_cluster_authorized_operations=True),
        10,
    )
    assert bits(reply.topics[0].topic_authorized_operations) == TOPIC_OPERATIONS
    assert bits(reply.cluster_authorized_operations) == CLUSTER_OPERATIONS
    silent = bench.call(named("one"), 10)
    assert silent.topics[0].topic_authorized_operations == silent.cluster_authorized_operations == -(2**31)


def test_each_listener_is_told_its_own_address(bench: Bench) -> None:
    reply = bench.call(named("one"), peer=bench.connect("OTHER"))
    assert [(each.host, each.port) for each in reply.brokers] == [("elsewhere", 9095)]


def test_an_answer_is_encoded_once_and_again_when_the_topic_changes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def counting(image: Any, topic: Any, version: int, listener_name: str) -> Any:
        made.append(topic.name)
        return topic_response(image, topic, version, listener_name)

    monkeypatch.setattr("ottla.broker.metadata_cache.topic_response", counting)
    for _ in range(3):
        bench.call(MetadataRequest(topics=None), 12)
    assert sorted(made) == ["one", "three"]
    bench.create("new")
    bench.call(MetadataRequest(topics=None), 12)
    assert sorted(made) == ["new", "one", "three"]
    grow = CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name="one", count=4, assignments=None)], timeout_ms=1000
    )
    assert bench.call(grow).results[0].error_code == 0
    made.clear()
    reply = bench.call(MetadataRequest(topics=None), 12)
    assert made == ["one"]
    assert {topic.name: len(topic.partitions) for topic in reply.topics} == {"one": 4, "three": 3, "new": 1}


def test_a_deleted_topic_leaves_the_cache(bench: Bench) -> None:
    bench.call(MetadataRequest(topics=None), 12)
    bench.call(MetadataRequest(topics=None), 5)
    bench.delete("three")
    for version in (5, 12):
        assert set(codes(bench.call(MetadataRequest(topics=None), version))) == {"one"}
    assert all(len(each) <= 1 for each in bench.node.metadata_cache._cached.values())


@pytest.mark.parametrize("version", VERSIONS)
def test_a_missing_topic_is_made_where_the_broker_and_the_client_allow_it(version: int) -> None:
    bench = Bench({"auto.create.topics.enable": "true", "num.partitions": "3"})
    request = named("fresh", "bad/name", "fresh")
    if version >= 4:
        request.allow_auto_topic_creation = False
        refused = bench.call(request, version)
        assert codes(refused)["fresh"] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        request.allow_auto_topic_creation = True
    reply = bench.call(request, version)
    assert codes(reply) == {"fresh": ErrorCode.NONE, "bad/name": ErrorCode.INVALID_TOPIC_EXCEPTION}
    assert len(reply.topics[0].partitions) == 3
    bench.produce("fresh", partition=2)


def test_a_broker_that_makes_no_topics_says_that_the_topic_is_unknown(bench: Bench) -> None:
    request = named("fresh", allow_auto_topic_creation=True)
    assert codes(bench.call(request)) == {"fresh": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert "fresh" not in bench.node.image.topics


def test_why_a_topic_cannot_be_made_is_told() -> None:
    """Kafka answers INVALID_REPLICATION_FACTOR when there are too few brokers; after
    UNKNOWN_TOPIC_OR_PARTITION a client tries again for ever.
    """
    bench = Bench({"auto.create.topics.enable": "true", "default.replication.factor": "3"})
    request = named("fresh", allow_auto_topic_creation=True)
    assert codes(bench.call(request)) == {"fresh": ErrorCode.INVALID_REPLICATION_FACTOR}
    bench = Bench({"auto.create.topics.enable": "true"})
    bench.create("a.b")
    request = named("a_b", allow_auto_topic_creation=True)
    assert codes(bench.call(request)) == {"a_b": ErrorCode.INVALID_TOPIC_EXCEPTION}


def test_two_clients_that_miss_the_same_topic_at_once_both_get_it() -> None:
    bench = Bench({"auto.create.topics.enable": "true"})
    request = named("fresh", allow_auto_topic_creation=True)
    other = bench.connect()
    first = bench.peer.send(request)
    second = other.send(request)
    bench.scheduler.run_until(lambda: bool(bench.peer.replies and other.replies), within_ms=1000)
    for correlation_id, peer in ((first, bench.peer), (second, other)):
        assert codes(bench.reply(request, correlation_id, peer=peer)) == {"fresh": ErrorCode.NONE}


def test_more_missing_topics_than_one_request_may_make_are_all_refused() -> None:
    bench = Bench({"auto.create.topics.enable": "true"})
    request = named(*[f"t{index}" for index in range(10_001)], allow_auto_topic_creation=True)
    assert set(codes(bench.call(request)).values()) == {ErrorCode.POLICY_VIOLATION}
    assert not bench.node.image.topics


@pytest.mark.parametrize("version", versions_of(DescribeClusterRequest))
def test_describe_cluster_names_the_brokers(bench: Bench, version: int) -> None:
    reply = bench.call(DescribeClusterRequest(include_cluster_authorized_operations=True), version)
    assert reply.error_code == 0
    assert (reply.cluster_id, reply.controller_id) == (bench.node.cluster_id, NODE_ID)
    assert [(each.broker_id, each.host, each.port) for each in reply.brokers] == [(NODE_ID, "broker", 9092)]
    assert bits(reply.cluster_authorized_operations) == CLUSTER_OPERATIONS


def test_a_listener_describes_its_own_kind_of_node(bench: Bench) -> None:
    """KIP-919."""
    assert (
        bench.call(DescribeClusterRequest(endpoint_type=2)).error_code == ErrorCode.MISMATCHED_ENDPOINT_TYPE
    )
    assert (
        bench.call(DescribeClusterRequest(endpoint_type=9)).error_code == ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
    )
    controller = bench.connect("CONTROLLER")
    assert bench.call(DescribeClusterRequest(endpoint_type=2), peer=controller).error_code == 0
    assert (
        bench.call(DescribeClusterRequest(endpoint_type=1), peer=controller).error_code
        == ErrorCode.MISMATCHED_ENDPOINT_TYPE
    )
