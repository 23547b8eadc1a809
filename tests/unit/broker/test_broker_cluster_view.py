"""What clients of a cluster are told: brokers, leaders, coordinators, by the listener they have come to."""

from __future__ import annotations

from typing import Any

import pytest
from broker_bench import NODE_ID, Bench, produce_request
from cluster_bench import FENCE, UNFENCE, move, register, set_fenced
from group_bench import GroupBench, find_request, fitted

from ottla.model.errors import ErrorCode
from ottla.model.types import CONSUMER_OFFSETS_TOPIC
from ottla.ports.effects import Sleep, Steps
from ottla.wire.framing import decode_response
from ottla.wire.messages.create_topics import CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse
from ottla.wire.messages.describe_cluster import DescribeClusterRequest
from ottla.wire.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic


@pytest.fixture
def bench() -> GroupBench:
    bench = GroupBench()
    register(bench, 2)
    return bench


def told(bench: GroupBench, listener_name: str = "PLAINTEXT", version: int = 12) -> tuple[set[int], Any]:
    """The brokers, and the second partition of `events`."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name="events")])
    reply = bench.call(request, version, peer=bench.connect(listener_name))
    (topic,) = reply.topics
    (partition,) = [each for each in topic.partitions if each.partition_index == 1]
    return {each.node_id for each in reply.brokers}, partition


def test_a_leader_elsewhere_is_named_with_its_endpoint_for_the_listener(bench: GroupBench) -> None:
    state = move(bench, "events", 1, 2)
    brokers, partition = told(bench)
    assert brokers == {1, 2}
    assert (partition.error_code, partition.leader_id) == (ErrorCode.NONE, 2)
    assert partition.leader_epoch == state.leader_epoch
    assert (partition.replica_nodes, partition.isr_nodes) == ([1, 2], [2])
    request = MetadataRequest(topics=[])
    for listener, port in (("PLAINTEXT", 9092), ("OTHER", 9093)):
        reply = bench.call(request, 12, peer=bench.connect(listener))
        (other,) = [each for each in reply.brokers if each.node_id == 2]
        assert (other.host, other.port, other.rack) == ("broker-2", port, "rack-2")


def test_fenced_brokers_are_left_out_and_their_replicas_offline_until_they_are_back(
    bench: GroupBench,
) -> None:
    move(bench, "events", 1, 1)
    assert told(bench)[1].offline_replicas == []
    set_fenced(bench, 2, FENCE)
    brokers, partition = told(bench)
    assert (brokers, partition.offline_replicas) == ({1}, [2])
    set_fenced(bench, 2, UNFENCE)
    brokers, partition = told(bench)
    assert (brokers, partition.offline_replicas) == ({1, 2}, [])


def test_a_client_whose_batches_waited_for_a_dead_replica_is_told_of_the_leaders_that_are_then(
    bench: GroupBench,
) -> None:
    """As in Kafka, where a request is handled when those before it on its connection are answered."""
    move(bench, "events", 0, 1, isr=[1, 2])
    move(bench, "events", 1, 2)
    move(bench, CONSUMER_OFFSETS_TOPIC, 0, 2)
    peer = bench.connect()
    topics = [MetadataRequestTopic(name="events")]
    requests = [
        (produce_request("events"), 12),
        (MetadataRequest(topics=topics), 12),
        (fitted(find_request("g"), 4), 4),
        (DescribeClusterRequest(), 1),
        (DescribeTopicPartitionsRequest(topics=[TopicRequest(name="events")]), 0),
    ]
    for request, version in requests:
        peer.send(request, version)
    bench.scheduler.run_for(100)
    assert peer.answered == []  # the batch waits for broker 2, and so do the answers behind it
    set_fenced(bench, 2, FENCE)
    move(bench, CONSUMER_OFFSETS_TOPIC, 0, 1)
    move(bench, "events", 1, 1)
    move(bench, "events", 0, 1)
    bench.scheduler.run_for(100)
    produced, metadata, found, cluster, described = (
        decode_response(request.API_KEY, version, reply)[1]
        for (request, version), reply in zip(requests, peer.replies, strict=True)
    )
    assert produced.responses[0].partition_responses[0].error_code == ErrorCode.NONE
    assert [each.node_id for each in metadata.brokers] == [1]
    assert {each.leader_id for each in metadata.topics[0].partitions} == {1}
    assert found.coordinators[0].node_id == 1
    assert [each.broker_id for each in cluster.brokers] == [1]
    assert {each.leader_id for each in described.topics[0].partitions} == {1}


@pytest.mark.parametrize(
    ("version", "code"), [(5, ErrorCode.LEADER_NOT_AVAILABLE), (12, ErrorCode.LISTENER_NOT_FOUND)]
)
def test_a_leader_without_the_clients_listener_is_none(
    bench: GroupBench, version: int, code: ErrorCode
) -> None:
    register(bench, 2, listeners=("PLAINTEXT",))
    move(bench, "events", 1, 2)
    brokers, partition = told(bench, "OTHER", version)
    assert (brokers, partition.error_code, partition.leader_id) == ({1}, code, -1)
    assert told(bench, "PLAINTEXT", version)[1].leader_id == 2


def test_a_partition_without_a_leader_says_so(bench: GroupBench) -> None:
    move(bench, "events", 1, -1)
    assert told(bench)[1].error_code == ErrorCode.LEADER_NOT_AVAILABLE
    request = DescribeTopicPartitionsRequest(topics=[TopicRequest(name="events")])
    partition = bench.call(request).topics[0].partitions[1]
    assert (partition.error_code, partition.leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)


def test_the_oldest_clients_are_named_only_what_they_can_reach(bench: GroupBench) -> None:
    move(bench, "events", 1, 1)
    set_fenced(bench, 2, FENCE)
    partition = told(bench, version=0)[1]
    assert (partition.error_code, partition.replica_nodes) == (ErrorCode.REPLICA_NOT_AVAILABLE, [1])


def test_fenced_brokers_are_described_to_those_who_ask(bench: GroupBench) -> None:
    set_fenced(bench, 2, FENCE)
    for with_fenced, expected in ((False, {1: False}), (True, {1: False, 2: True})):
        reply = bench.call(DescribeClusterRequest(include_fenced_brokers=with_fenced), 2)
        assert {each.broker_id: each.is_fenced for each in reply.brokers} == expected


def test_a_controllers_listener_describes_the_controllers(bench: GroupBench) -> None:
    reply = bench.call(DescribeClusterRequest(endpoint_type=2), 1, peer=bench.connect("CONTROLLER"))
    assert [(each.broker_id, each.host, each.port) for each in reply.brokers] == [(NODE_ID, "broker", 9093)]
    assert reply.controller_id == NODE_ID


def test_the_coordinator_is_whoever_leads_its_partition(bench: GroupBench) -> None:
    move(bench, CONSUMER_OFFSETS_TOPIC, 0, 2)
    (found,) = bench.call(find_request("g"), 4, peer=bench.connect("OTHER")).coordinators
    assert (found.node_id, found.host, found.port) == (2, "broker-2", 9093)
    assert bench.commit("g", {("events", 0): 1}) == [ErrorCode.NOT_COORDINATOR]
    assert bench.listed() == {}
    move(bench, CONSUMER_OFFSETS_TOPIC, 0, -1)
    (found,) = bench.call(find_request("g"), 4).coordinators
    assert (found.error_code, found.node_id) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, -1)


def test_groups_go_on_where_the_coordinator_has_moved_to(bench: GroupBench) -> None:
    assert bench.commit("g", {("events", 0): 5}) == [ErrorCode.NONE]
    move(bench, CONSUMER_OFFSETS_TOPIC, 0, 2)
    move(bench, CONSUMER_OFFSETS_TOPIC, 0, 1)
    bench.loaded()
    assert bench.committed("g") == {("events", 0): 5}


# --- creation by a controller elsewhere -------------------------------------------------------------------


def controller_elsewhere(
    bench: GroupBench, monkeypatch: pytest.MonkeyPatch, code: ErrorCode, *, comes: bool
) -> list[CreateTopicsRequest]:
    """A controller that answers after a while; what it has created comes into this node's image later."""
    asked: list[CreateTopicsRequest] = []

    def ask(request: Any, version: int, timeout_ms: float = 0, *, lane: str = "") -> Steps[Any]:
        asked.append(request)
        yield Sleep(10)
        if comes:
            bench.driver.spawn(publish(request), "publish")
        return CreateTopicsResponse(
            topics=[CreatableTopicResult(name=each.name, error_code=code) for each in request.topics]
        )

    def publish(request: CreateTopicsRequest) -> Steps[None]:
        yield Sleep(200)
        yield from bench.node.controllers.decide(request, 7)

    monkeypatch.setattr(bench.node, "ask_controller", ask)
    return asked


def test_many_that_look_for_a_coordinator_create_its_topic_once(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = GroupBench.without_topic()
    asked = controller_elsewhere(bench, monkeypatch, ErrorCode.NONE, comes=True)
    peers = [bench.connect() for _ in range(5)]
    for peer in peers:
        peer.send(fitted(find_request("g"), 4), 4)
    bench.scheduler.run_until(lambda: all(peer.answered for peer in peers), within_ms=10_000)
    for peer in peers:
        (found,) = bench.reply(find_request("g"), 1, 4, peer).coordinators
        assert (found.error_code, found.node_id) == (ErrorCode.NONE, NODE_ID)
    (request,) = asked
    assert [(each.name, each.num_partitions) for each in request.topics] == [(CONSUMER_OFFSETS_TOPIC, 50)]


@pytest.mark.parametrize("code", [ErrorCode.NONE, ErrorCode.INVALID_REPLICATION_FACTOR])
def test_a_coordinators_topic_that_does_not_come_is_retriable(
    monkeypatch: pytest.MonkeyPatch, code: ErrorCode
) -> None:
    bench = GroupBench.without_topic()
    controller_elsewhere(bench, monkeypatch, code, comes=False)
    (found,) = bench.call(find_request("g"), 4, within_ms=20_000).coordinators
    assert found.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_the_earlier_life_of_the_active_controllers_own_broker_is_fenced_when_its_session_ends() -> None:
    """A node that was killed, comes back and is elected at once has yet to register: nobody sends heartbeats
    for the registration that is still there, and it must not keep the broker out for ever.
    """
    bench = Bench()
    me = bench.node.image.brokers[NODE_ID]
    bench.scheduler.run_for(60_000)
    assert not bench.node.image.brokers[NODE_ID].fenced, "the broker of a cluster of one needs no heartbeats"
    bench.node.broker_epoch = -1
    bench.scheduler.run_for(60_000)
    assert bench.node.image.brokers[NODE_ID].fenced
    assert bench.node.image.brokers[NODE_ID].epoch == me.epoch
