"""ElectLeaders (KIP-183, KIP-460), and the elections and fencing that the controller does by itself."""

from __future__ import annotations

from typing import Any

import pytest
from metadata_cluster import Cluster

from ottla.metadata import controller as controller_module
from ottla.metadata.image import BROKER_RESOURCE, TOPIC_RESOURCE
from ottla.model.errors import ErrorCode
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.wire.messages.cluster_metadata import (
    BrokerRegistrationChangeRecord,
    ConfigRecord,
    PartitionChangeRecord,
)
from ottla.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest

PREFERRED, UNCLEAN = 0, 1


def elect(cluster: Cluster, kind: int, version: int = 2, **asked: list[int]) -> dict[tuple[str, int], int]:
    partitions = [TopicPartitions(topic=name, partitions=indexes) for name, indexes in asked.items()]
    response = cluster.ask(
        ElectLeadersRequest(election_type=kind, topic_partitions=partitions or None), version
    )
    assert response.error_code == 0
    return {
        (each.topic, part.partition_id): part.error_code
        for each in response.replica_election_results
        for part in each.partition_result
    }


def bounce(cluster: Cluster, node_id: int, rejoin: str = "a") -> None:
    """Fenced and back, and in sync again with the topic's first partition, but not its leader."""
    cluster.replay(cluster.controller.fence_broker(node_id))
    cluster.replay(cluster.controller.unfence_broker(node_id))
    topic = cluster.image.topics[rejoin]
    for index, state in topic.partitions.items():
        if node_id in state.replicas and node_id not in state.isr:
            cluster.replay(
                [
                    PartitionChangeRecord(
                        topic_id=topic.topic_id, partition_id=index, isr=[*state.isr, node_id]
                    )
                ]
            )


def heartbeat(node_id: int) -> BrokerHeartbeatRequest:
    return BrokerHeartbeatRequest(
        broker_id=node_id, broker_epoch=100 + node_id, current_metadata_offset=10_000
    )


def test_the_preferred_leader_is_elected_when_it_is_in_sync() -> None:
    cluster = Cluster(2)
    cluster.create_on("a", [1, 2], [2, 1])
    bounce(cluster, 1)
    assert cluster.state("a").leader == 2
    assert elect(cluster, PREFERRED, a=[0, 1, 7], b=[0]) == {
        ("a", 0): 0,
        ("a", 1): ErrorCode.ELECTION_NOT_NEEDED,
        ("a", 7): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ("b", 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert (cluster.state("a").leader, cluster.state("a").leader_epoch) == (1, 2)


def test_for_all_partitions_only_those_that_needed_it_are_answered() -> None:
    cluster = Cluster(2)
    cluster.create_on("a", [1, 2], [2, 1])
    bounce(cluster, 1)
    assert elect(cluster, UNCLEAN, version=0) == {("a", 0): 0}  # version 0 knows only preferred leaders
    assert cluster.state("a").leader == 1
    assert elect(cluster, PREFERRED) == {}


def test_a_preferred_leader_that_is_not_in_sync_or_gone_is_not_available() -> None:
    cluster = Cluster(2)
    cluster.create_on("a", [1, 2])
    cluster.replay(cluster.controller.fence_broker(1))
    assert elect(cluster, PREFERRED, a=[0]) == {("a", 0): ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE}
    cluster.replay(cluster.controller.unfence_broker(1))
    assert elect(cluster, PREFERRED, a=[0]) == {("a", 0): ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE}
    assert cluster.state("a").leader == 2


def lose_all_in_sync(cluster: Cluster) -> None:
    """Broker 1 has fallen behind, broker 2 is gone."""
    cluster.replay(cluster.controller.fence_broker(1))
    cluster.replay(cluster.controller.fence_broker(2))
    cluster.replay(cluster.controller.unfence_broker(1))


@pytest.mark.parametrize("elr", [0, 1])
def test_an_unclean_election_takes_whoever_is_there_and_marks_it_as_recovering(elr: int) -> None:
    cluster = Cluster(2, features={"eligible.leader.replicas.version": elr})
    cluster.create_on("a", [1, 2])
    assert elect(cluster, UNCLEAN, a=[0]) == {("a", 0): ErrorCode.ELECTION_NOT_NEEDED}
    lose_all_in_sync(cluster)
    assert cluster.state("a").leader == -1
    assert elect(cluster, UNCLEAN, a=[0]) == {("a", 0): 0}
    state = cluster.state("a")
    assert (state.leader, state.isr, state.leader_recovery_state) == (1, (1,), 1)
    assert (state.eligible_leader_replicas, state.last_known_elr) == ((), ())


def test_no_replica_at_all_is_nobody_to_elect() -> None:
    cluster = Cluster(3)
    cluster.create_on("a", [1, 2])
    for node_id in (1, 2):
        cluster.replay(cluster.controller.fence_broker(node_id))
    assert elect(cluster, UNCLEAN, a=[0]) == {("a", 0): ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE}
    assert cluster.ask(ElectLeadersRequest(election_type=9, topic_partitions=None), 2).error_code == (
        ErrorCode.INVALID_REQUEST
    )


def test_an_eligible_replica_is_elected_cleanly_when_nobody_is_in_sync() -> None:
    cluster = Cluster(3)  # KIP-966
    cluster.create_on("a", [1, 2, 3], **{"min.insync.replicas": "3"})
    for node_id in (1, 2, 3):
        cluster.replay(cluster.controller.fence_broker(node_id))
    state = cluster.state("a")
    assert (state.isr, set(state.eligible_leader_replicas), state.leader) == ((), {1, 2, 3}, -1)
    cluster.replay(cluster.controller.unfence_broker(2))
    state = cluster.state("a")
    assert (state.leader, state.isr, state.leader_recovery_state) == (2, (2,), 0)
    assert set(state.eligible_leader_replicas) == {1, 3}


# What is due


def active(brokers: int = 3, **properties: str) -> Cluster:
    cluster = Cluster(brokers, properties={key.replace("_", "."): value for key, value in properties.items()})
    cluster.controller.activate(cluster.view, 0)
    assert cluster.controller.periodic(0) == []
    return cluster


def run(cluster: Cluster, now_ms: float) -> int:
    """Everything that is due, as the owner does it; returns the batches."""
    batches = 0
    while cluster.controller.next_deadline_ms() <= now_ms:
        cluster.replay(cluster.controller.periodic(now_ms))
        batches += 1
        assert batches < 50
    return batches


def test_silent_brokers_are_fenced_together_so_that_none_is_elected_for_another() -> None:
    cluster = active()
    cluster.create_on("a", [1, 2, 3], [2, 1, 3])
    cluster.ask(heartbeat(3), 1, 5000)
    assert cluster.controller.next_deadline_ms() == 9000
    assert cluster.controller.periodic(8999) == []
    cluster.replay(cluster.controller.periodic(9000))
    assert [cluster.image.brokers[each].fenced for each in (1, 2, 3)] == [True, True, False]
    for index in (0, 1):
        state = cluster.state("a", index)
        assert (state.leader, state.isr, state.leader_epoch) == (3, (3,), 1)
    assert cluster.controller.next_deadline_ms() == 14_000


def test_a_new_controller_gives_every_broker_a_whole_session() -> None:
    cluster = active()
    cluster.controller.activate(cluster.view, 8000)
    assert cluster.controller.periodic(16_999) == []
    assert cluster.controller.periodic(17_000) != []


def test_a_large_batch_is_cut_and_goes_on_at_once_even_with_another_controller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(controller_module, "BATCH_RECORDS_MAX", 10)
    for failover in (False, True):
        cluster = active()
        cluster.create("a", 25, 3)
        for node_id in (2, 3):
            cluster.ask(heartbeat(node_id), 1, 5000)
        first = cluster.controller.periodic(9000)
        assert len(first) == 10
        assert isinstance(first[0], BrokerRegistrationChangeRecord)
        cluster.replay(first)
        if failover:
            cluster.controller.activate(cluster.view, 9000)
        assert cluster.controller.next_deadline_ms() <= 9000
        assert run(cluster, 9000) >= 2
        for state in cluster.image.topics["a"].partitions.values():
            assert state.leader in (2, 3) and 1 not in state.isr


def test_leadership_goes_back_to_preferred_leaders_from_time_to_time() -> None:
    cluster = active(2, **{"leader.imbalance.check.interval.seconds": "5"})
    cluster.create_on("a", [1, 2])
    bounce(cluster, 1)
    assert cluster.controller.next_deadline_ms() == 5000
    assert cluster.controller.periodic(4999) == []
    run(cluster, 5000)
    assert cluster.state("a").leader == 1
    assert cluster.controller.next_deadline_ms() == 9000


def test_leadership_stays_where_it_is_when_rebalancing_is_off() -> None:
    cluster = active(
        2,
        **{"leader.imbalance.check.interval.seconds": "5", "auto.leader.rebalance.enable": "false"},
    )
    cluster.create_on("a", [1, 2])
    bounce(cluster, 1)
    run(cluster, 5000)
    assert cluster.state("a").leader == 2


def set_config(cluster: Cluster, name: str, value: str, kind: int = TOPIC_RESOURCE, of: str = "a") -> int:
    resource = AlterConfigsResource(
        resource_type=kind,
        resource_name=of,
        configs=[AlterableConfig(name=name, config_operation=0, value=value)],
    )
    response = cluster.ask(IncrementalAlterConfigsRequest(resources=[resource]), 1, 100)
    code = response.responses[0].error_code
    assert isinstance(code, int)
    return code


def test_a_topic_that_allows_it_while_it_has_no_leader_gets_one_at_once() -> None:
    cluster = active(2)
    cluster.create_on("a", [1, 2])
    lose_all_in_sync(cluster)
    assert set_config(cluster, "unclean.leader.election.enable", "true") == 0
    assert cluster.controller.next_deadline_ms() <= 100
    run(cluster, 100)
    assert (cluster.state("a").leader, cluster.state("a").leader_recovery_state) == (1, 1)


def test_fencing_elects_uncleanly_where_the_topic_allows_it() -> None:
    cluster = active(2)
    cluster.create_on("a", [1, 2], **{"unclean.leader.election.enable": "true"})
    cluster.create_on("b", [1, 2])
    lose_all_in_sync(cluster)
    assert (cluster.state("a").leader, cluster.state("b").leader) == (1, -1)


def test_a_smaller_minimum_ends_eligibility_but_not_while_nobody_is_in_sync() -> None:
    cluster = active(2)
    cluster.create_on("a", [1, 2], **{"min.insync.replicas": "2"})
    cluster.create_on("b", [1, 2], **{"min.insync.replicas": "2"})
    cluster.replay(cluster.controller.fence_broker(2))
    assert set_config(cluster, "min.insync.replicas", "1") == 0
    assert cluster.state("a").eligible_leader_replicas == ()
    assert cluster.state("b").eligible_leader_replicas == (2,)
    cluster.replay(cluster.controller.fence_broker(1))
    # In the middle of an election of `b`: its replicas stay what they can come back from.
    assert set_config(cluster, "min.insync.replicas", "1", of="b") == 0
    assert set(cluster.state("b").eligible_leader_replicas) == {1, 2}


def test_while_eligible_replicas_are_kept_no_broker_has_a_minimum_of_its_own() -> None:
    cluster = active(2)
    code = set_config(cluster, "min.insync.replicas", "2", kind=BROKER_RESOURCE, of="1")
    assert code == ErrorCode.INVALID_CONFIG
    assert set_config(cluster, "min.insync.replicas", "2", kind=BROKER_RESOURCE, of="") == 0


def test_with_the_feature_all_brokers_get_one_minimum() -> None:
    cluster = Cluster(
        2, features={"eligible.leader.replicas.version": 0}, properties={"min.insync.replicas": "2"}
    )
    cluster.replay(
        [
            ConfigRecord(
                resource_type=BROKER_RESOURCE, resource_name="2", name="min.insync.replicas", value="1"
            )
        ]
    )
    update: Any = FeatureUpdateKey(
        feature="eligible.leader.replicas.version", max_version_level=1, upgrade_type=1
    )
    assert cluster.ask(UpdateFeaturesRequest(feature_updates=[update]), 2).error_code == 0
    assert cluster.image.features["eligible.leader.replicas.version"] == 1
    assert dict(cluster.image.config(BROKER_RESOURCE, "")) == {"min.insync.replicas": "2"}
    assert dict(cluster.image.config(BROKER_RESOURCE, "2")) == {}
