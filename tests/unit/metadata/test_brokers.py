"""Registration, fencing and unfencing, leader epochs, blocks of producer ids."""

from __future__ import annotations

import pytest
from metadata_cluster import Cluster, directory_id

from ottla.metadata.brokers import register_broker
from ottla.metadata.features import supported_features
from ottla.metadata.image import Endpoint
from ottla.metadata.producer_ids import BLOCK_IDS, PRODUCER_ID_MAX
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.cluster_metadata import PartitionChangeRecord, ProducerIdsRecord


def register(cluster: Cluster, node_id: int, incarnation: int, **changes: object) -> None:
    arguments: dict[str, object] = {
        "node_id": node_id,
        "broker_epoch": 500,
        "incarnation_id": bytes([incarnation] * 16),
        "endpoints": [Endpoint("PLAINTEXT", "elsewhere", 9999, 0)],
        "features": supported_features(),
        "rack": "r",
        "log_dirs": [directory_id(node_id)],
    }
    arguments.update(changes)
    cluster.replay(register_broker(cluster.image, **arguments))  # type: ignore[arg-type]


def test_a_broker_registers_fenced_and_is_then_unfenced() -> None:
    cluster = Cluster(0)
    register(cluster, 3, 1)
    broker = cluster.image.brokers[3]
    assert broker.fenced and not broker.active
    assert broker.listeners["PLAINTEXT"] == ("PLAINTEXT", "elsewhere", 9999, 0)
    assert (broker.rack, broker.epoch, broker.log_dirs) == ("r", 500, (directory_id(3),))
    cluster.replay(cluster.controller.unfence_broker(3))
    assert cluster.image.brokers[3].active
    assert cluster.delta is not None and cluster.delta.changed_brokers == {3}
    assert cluster.controller.unfence_broker(3) == []


def test_a_second_broker_with_the_id_of_a_running_one_is_refused() -> None:
    cluster = Cluster(1)
    with pytest.raises(KafkaError) as caught:
        register(cluster, 1, 99)
    assert caught.value.code is ErrorCode.DUPLICATE_BROKER_REGISTRATION
    cluster.replay(cluster.controller.fence_broker(1))
    register(cluster, 1, 99)
    assert cluster.image.brokers[1].incarnation_id == bytes([99] * 16)


def test_a_broker_that_cannot_do_what_the_cluster_uses_is_refused() -> None:
    cluster = Cluster(1)
    with pytest.raises(KafkaError) as caught:
        register(cluster, 2, 2, features={"metadata.version": (1, 28)})
    assert caught.value.code is ErrorCode.UNSUPPORTED_VERSION


def test_fencing_moves_leadership_to_another_replica_in_sync() -> None:
    cluster = Cluster(3)
    cluster.create("a", 6, 3)
    before = cluster.image.topics["a"].partitions
    cluster.replay(cluster.controller.fence_broker(1))
    for partition_id, state in cluster.image.topics["a"].partitions.items():
        assert 1 not in state.isr and state.leader in state.isr
        moved = before[partition_id].leader == 1
        assert state.leader_epoch == (1 if moved else 0)
        assert state.partition_epoch == 1


def test_the_last_replica_in_sync_stays_eligible_and_leads_again_when_it_is_back() -> None:
    cluster = Cluster(1)  # KIP-966
    cluster.create("a", 2)
    cluster.replay(cluster.controller.fence_broker(1))
    for state in cluster.image.topics["a"].partitions.values():
        assert (state.leader, state.isr, state.leader_epoch) == (-1, (), 1)
        assert (state.eligible_leader_replicas, state.last_known_elr) == ((1,), (1,))
    cluster.replay(cluster.controller.unfence_broker(1))
    for state in cluster.image.topics["a"].partitions.values():
        assert (state.leader, state.isr, state.leader_epoch) == (1, (1,), 2)
        assert (state.eligible_leader_replicas, state.last_known_elr) == ((), ())
        assert state.leader_recovery_state == 0


def test_without_eligible_replicas_the_last_one_in_sync_stays_so() -> None:
    cluster = Cluster(1, features={"eligible.leader.replicas.version": 0})
    cluster.create("a", 2)
    cluster.replay(cluster.controller.fence_broker(1))
    for state in cluster.image.topics["a"].partitions.values():
        assert (state.leader, state.isr, state.leader_epoch) == (-1, (1,), 1)
        assert (state.eligible_leader_replicas, state.last_known_elr) == ((), ())
    cluster.replay(cluster.controller.unfence_broker(1))
    for state in cluster.image.topics["a"].partitions.values():
        assert (state.leader, state.isr, state.leader_epoch) == (1, (1,), 2)


def test_after_an_unclean_stop_every_led_partition_gets_a_new_epoch() -> None:
    cluster = Cluster(2)
    cluster.create("a", 4, 2)
    records = cluster.controller.raise_leader_epochs(1)
    assert all(isinstance(record, PartitionChangeRecord) and record.leader == 1 for record in records)
    led = {key for key, state in cluster.image.topics["a"].partitions.items() if state.leader == 1}
    cluster.replay(records)
    assert len(led) == 2
    for key, state in cluster.image.topics["a"].partitions.items():
        assert state.leader_epoch == (1 if key in led else 0)


@pytest.mark.parametrize("decision", ["fence_broker", "unfence_broker"])
def test_an_unknown_broker_is_an_error(decision: str) -> None:
    with pytest.raises(KafkaError) as caught:
        getattr(Cluster(1).controller, decision)(9)
    assert caught.value.code is ErrorCode.BROKER_ID_NOT_REGISTERED


def test_producer_ids_come_in_blocks_that_never_overlap() -> None:
    cluster = Cluster(2)
    firsts = []
    for node_id in (1, 2, 1):
        decision = cluster.controller.allocate_producer_ids(node_id, 100 + node_id)
        cluster.apply(decision)  # type: ignore[arg-type]
        firsts.append((decision.response.first_id, decision.response.next_first_id))
    assert firsts == [(0, 1000), (1000, 2000), (2000, 3000)]
    assert cluster.image.next_producer_id == 3 * BLOCK_IDS
    assert cluster.delta is not None and cluster.delta.producer_ids_changed


def test_producer_ids_need_the_registered_epoch_and_can_run_out() -> None:
    cluster = Cluster(1)
    for node_id, epoch, code in (
        (1, 7, ErrorCode.STALE_BROKER_EPOCH),
        (9, 7, ErrorCode.BROKER_ID_NOT_REGISTERED),
    ):
        with pytest.raises(KafkaError) as caught:
            cluster.controller.allocate_producer_ids(node_id, epoch)
        assert caught.value.code is code
    cluster.replay([ProducerIdsRecord(broker_id=1, broker_epoch=101, next_producer_id=PRODUCER_ID_MAX - 10)])
    with pytest.raises(KafkaError, match="used"):
        cluster.controller.allocate_producer_ids(1, 101)
