"""Replicas go to different hosts first, then different racks, then in turn."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from metadata_cluster import Cluster, topic

from ottla.metadata.brokers import fence_broker
from ottla.metadata.placement import place_replicas
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from ottla.wire.messages.create_topics import CreateTopicsRequest
from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest


def test_replicas_never_share_a_host_while_there_are_enough_hosts() -> None:
    hosts = ["a", "a", "a", "b", "b", "c"]
    cluster = Cluster(6, hosts=hosts)
    for seed in range(20):
        for replicas in place_replicas(list(cluster.image.brokers.values()), 12, 3, Random(seed)):
            assert len({hosts[each - 1] for each in replicas}) == 3


def test_replicas_spread_over_racks_when_hosts_differ_anyway() -> None:
    racks = ["r1", "r1", "r2", "r2", "r3", "r3"]
    cluster = Cluster(6, racks=racks)
    for replicas in place_replicas(list(cluster.image.brokers.values()), 12, 3, Random(1)):
        assert len({racks[each - 1] for each in replicas}) == 3


def test_leaders_and_replicas_are_spread_evenly() -> None:
    cluster = Cluster(4)
    placed = place_replicas(list(cluster.image.brokers.values()), 40, 3, Random(3))
    leaders = Counter(replicas[0] for replicas in placed)
    everything = Counter(each for replicas in placed for each in replicas)
    assert set(leaders.values()) == {10}
    assert max(everything.values()) - min(everything.values()) <= 1
    assert all(len(set(replicas)) == 3 for replicas in placed)


def test_two_brokers_do_not_always_go_together() -> None:
    cluster = Cluster(4)
    placed = place_replicas(list(cluster.image.brokers.values()), 24, 2, Random(3))
    followers: dict[int, set[int]] = {}
    for leader, follower in placed:
        followers.setdefault(leader, set()).add(follower)
    assert all(len(each) >= 2 for each in followers.values())


def test_a_fenced_broker_never_leads() -> None:
    cluster = Cluster(3)
    cluster.replay(fence_broker(cluster.view, 2))
    placed = place_replicas(list(cluster.image.brokers.values()), 10, 3, Random(3))
    assert all(replicas[0] != 2 for replicas in placed)


def test_too_few_brokers_and_only_fenced_ones_are_errors() -> None:
    cluster = Cluster(1)
    brokers = list(cluster.image.brokers.values())
    for factor in (0, 2):
        with pytest.raises(KafkaError) as caught:
            place_replicas(brokers, 1, factor, Random(1))
        assert caught.value.code is ErrorCode.INVALID_REPLICATION_FACTOR
    cluster.replay(fence_broker(cluster.view, 1))
    with pytest.raises(KafkaError, match="fenced"):
        place_replicas(list(cluster.image.brokers.values()), 1, 1, Random(1))


def test_a_hundred_brokers_on_ten_hosts_are_used_evenly_and_no_host_twice() -> None:
    hosts = [f"h{position % 10}" for position in range(100)]
    cluster = Cluster(100, hosts=hosts, racks=[f"r{position % 5}" for position in range(100)])
    placed = place_replicas(list(cluster.image.brokers.values()), 300, 3, Random(5))
    everything = Counter(each for replicas in placed for each in replicas)
    assert len(everything) == 100 and max(everything.values()) - min(everything.values()) <= 6
    for replicas in placed:
        assert len({hosts[each - 1] for each in replicas}) == 3


def test_a_factor_above_the_brokers_that_are_registered_is_refused_for_each_way_of_asking() -> None:
    cluster = Cluster(2)
    decision = cluster.controller.create_topics(CreateTopicsRequest(topics=[topic("a", 1, 3)]))
    assert decision.response.topics[0].error_code == ErrorCode.INVALID_REPLICATION_FACTOR
    assert decision.records == []
    cluster.create("b", 1, 2)
    cluster.ask(UnregisterBrokerRequest(broker_id=2))
    more = CreatePartitionsRequest(topics=[CreatePartitionsTopic(name="b", count=2, assignments=None)])
    assert cluster.ask(more, 3).results[0].error_code == ErrorCode.INVALID_REPLICATION_FACTOR
