"""BrokerRegistration, UnregisterBroker, ControllerRegistration (KIP-631, KIP-858, KIP-919, KIP-966)."""

from __future__ import annotations

from typing import Any

import pytest
from metadata_cluster import Cluster, directory_id

from ottla.metadata.features import METADATA_VERSION, supported_features
from ottla.model.errors import ErrorCode
from ottla.wire.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
)
from ottla.wire.messages.controller_registration import (
    ControllerRegistrationRequest,
)
from ottla.wire.messages.controller_registration import (
    Feature as ControllerFeature,
)
from ottla.wire.messages.controller_registration import (
    Listener as ControllerListener,
)
from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest

SESSION_MS = 9000


def request(node_id: int, incarnation: int, **changes: Any) -> BrokerRegistrationRequest:
    made = BrokerRegistrationRequest(
        broker_id=node_id,
        cluster_id="ours",
        incarnation_id=bytes([incarnation] * 16),
        listeners=[Listener(name="PLAINTEXT", host="h", port=9092, security_protocol=0)],
        features=[
            Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in supported_features().items()
        ],
        rack=None,
        log_dirs=[directory_id(node_id)],
        previous_broker_epoch=-1,
    )
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def active(brokers: int = 3, **options: Any) -> Cluster:
    cluster = Cluster(brokers, **options)
    cluster.controller.cluster_id = "ours"
    cluster.controller.activate(cluster.view, 0)
    return cluster


def register(
    cluster: Cluster, wanted: BrokerRegistrationRequest, now_ms: float
) -> BrokerRegistrationResponse:
    response = cluster.ask(wanted, 4, now_ms)
    assert isinstance(response, BrokerRegistrationResponse)
    return response


def test_the_epoch_is_the_offset_of_the_registration_and_the_broker_begins_fenced() -> None:
    cluster = active(2)
    offset = cluster.offset
    response = register(cluster, request(3, 1), 0)
    assert (response.error_code, response.broker_epoch) == (0, offset)
    broker = cluster.image.brokers[3]
    assert (broker.epoch, broker.fenced, broker.log_dirs) == (offset, True, (directory_id(3),))


def test_a_taken_id_is_refused_until_the_session_of_the_other_has_run_out() -> None:
    cluster = active()
    early = register(cluster, request(1, 50), SESSION_MS - 1)
    assert early.error_code == ErrorCode.DUPLICATE_BROKER_REGISTRATION
    assert early.broker_epoch == -1
    late = register(cluster, request(1, 50), SESSION_MS)
    assert late.error_code == 0
    assert cluster.image.brokers[1].incarnation_id == bytes([50] * 16)


def test_a_broker_that_has_been_fenced_makes_room_at_once() -> None:
    cluster = active()
    cluster.replay(cluster.controller.fence_broker(1))
    assert register(cluster, request(1, 50), 1).error_code == 0


def test_the_same_incarnation_may_ask_again_and_keeps_its_epoch() -> None:
    cluster = active()
    first = register(cluster, request(4, 9), 0)
    offset = cluster.offset
    again = register(cluster, request(4, 9), 10)
    assert again.broker_epoch == first.broker_epoch
    assert cluster.offset == offset
    moved = register(cluster, request(4, 9, rack="r2"), 20)
    assert moved.broker_epoch == first.broker_epoch
    assert cluster.image.brokers[4].rack == "r2"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"cluster_id": "theirs"}, ErrorCode.INCONSISTENT_CLUSTER_ID),
        ({"features": []}, ErrorCode.UNSUPPORTED_VERSION),
        ({"log_dirs": []}, ErrorCode.INVALID_REGISTRATION),
        ({"log_dirs": [directory_id(4), directory_id(4)]}, ErrorCode.INVALID_REGISTRATION),
        ({"log_dirs": [directory_id(2)]}, ErrorCode.INVALID_REGISTRATION),
        ({"log_dirs": [bytes(16)]}, ErrorCode.INVALID_REGISTRATION),
        ({"listeners": []}, ErrorCode.INVALID_REGISTRATION),
        ({"is_migrating_zk_broker": True}, ErrorCode.BROKER_ID_NOT_REGISTERED),
    ],
)
def test_a_broker_that_does_not_fit_is_refused(changes: dict[str, Any], code: ErrorCode) -> None:
    cluster = active()
    response = register(cluster, request(4, 4, **changes), 0)
    assert (response.error_code, response.broker_epoch) == (code, -1)
    assert 4 not in cluster.image.brokers


def test_a_broker_that_stopped_cleanly_stays_eligible_when_it_is_back() -> None:
    cluster = active()
    cluster.create_on("a", [1, 2], **{"min.insync.replicas": "2"})
    cluster.replay(cluster.controller.fence_broker(2))
    assert cluster.state("a").eligible_leader_replicas == (2,)
    register(cluster, request(2, 50, previous_broker_epoch=102), 0)
    assert cluster.state("a").eligible_leader_replicas == (2,)


def test_a_broker_that_stopped_uncleanly_is_neither_in_sync_nor_eligible() -> None:
    cluster = active()
    cluster.create_on("led", [1, 2, 3], **{"min.insync.replicas": "3"})
    cluster.create_on("lost", [2, 1], **{"min.insync.replicas": "2"})
    cluster.replay(cluster.controller.fence_broker(2))
    assert cluster.state("lost").eligible_leader_replicas == (2,)
    register(cluster, request(2, 50, previous_broker_epoch=17), SESSION_MS)
    assert (cluster.state("led").isr, cluster.state("led").leader) == ((1, 3), 1)
    assert cluster.state("led").eligible_leader_replicas == ()
    assert cluster.state("lost").isr == (1,)
    assert cluster.state("lost").eligible_leader_replicas == ()


def test_only_the_last_known_leader_gets_a_partition_back_that_lost_all_clean_replicas() -> None:
    cluster = active(2)
    cluster.create_on("a", [1, 2])
    cluster.replay(cluster.controller.fence_broker(2))
    cluster.replay(cluster.controller.fence_broker(1))
    assert cluster.state("a").last_known_elr == (1,)
    for node_id in (1, 2):
        register(cluster, request(node_id, 50 + node_id), 0)
    assert (cluster.state("a").isr, cluster.state("a").eligible_leader_replicas) == ((), ())
    cluster.replay(cluster.controller.unfence_broker(2))
    assert cluster.state("a").leader == -1
    cluster.replay(cluster.controller.unfence_broker(1))
    after = cluster.state("a")
    assert (after.leader, after.isr, after.leader_recovery_state) == (1, (1,), 1)
    assert after.last_known_elr == ()


def test_a_second_life_takes_over_the_partitions_of_one_that_was_not_yet_fenced() -> None:
    cluster = active()
    cluster.create_on("a", [1, 2, 3])
    register(cluster, request(1, 50), SESSION_MS)
    after = cluster.state("a")
    assert (after.leader, after.isr, after.leader_epoch) == (2, (2, 3), 1)


def test_an_unregistered_broker_is_forgotten_and_leads_nothing() -> None:
    cluster = active()
    cluster.create_on("a", [1, 2])
    assert cluster.ask(UnregisterBrokerRequest(broker_id=1)).error_code == 0
    assert 1 not in cluster.image.brokers
    after = cluster.state("a")
    assert (after.leader, after.isr, after.replicas) == (2, (2,), (1, 2))
    again = cluster.ask(UnregisterBrokerRequest(broker_id=1))
    assert again.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED
    # The replica that is gone is in nobody's way.
    cluster.replay(cluster.controller.fence_broker(2))
    cluster.replay(cluster.controller.unfence_broker(2))
    assert cluster.state("a").leader == 2


def test_the_only_broker_that_serves_is_not_forgotten() -> None:
    cluster = active()
    for node_id in (1, 2):
        assert cluster.ask(UnregisterBrokerRequest(broker_id=node_id)).error_code == 0
    assert cluster.ask(UnregisterBrokerRequest(broker_id=3)).error_code == ErrorCode.INVALID_REQUEST
    assert list(cluster.image.brokers) == [3]


def controller_request(high: int = 29) -> ControllerRegistrationRequest:
    ranges = {**supported_features(), METADATA_VERSION: (25, high)}
    return ControllerRegistrationRequest(
        controller_id=8,
        incarnation_id=b"c" * 16,
        listeners=[ControllerListener(name="CONTROLLER", host="h", port=9093, security_protocol=0)],
        features=[
            ControllerFeature(name=name, min_supported_version=low, max_supported_version=top)
            for name, (low, top) in ranges.items()
        ],
    )


def test_controllers_are_kept_in_the_image_and_recorded_once() -> None:
    cluster = active()
    assert cluster.ask(controller_request()).error_code == 0
    kept = cluster.image.controllers[8]
    assert [(each.name, each.port) for each in kept.end_points] == [("CONTROLLER", 9093)]
    offset = cluster.offset
    assert cluster.ask(controller_request()).error_code == 0
    assert cluster.offset == offset
    refused = cluster.ask(controller_request(high=28))
    assert refused.error_code == ErrorCode.UNSUPPORTED_VERSION and "28" in refused.error_message
