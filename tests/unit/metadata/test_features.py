"""UpdateFeatures (KIP-584, KIP-778): all or nothing, and down only when asked to."""

from __future__ import annotations

import pytest
from metadata_cluster import Cluster

from ottla.metadata.brokers import register_broker
from ottla.metadata.features import (
    ELIGIBLE_LEADER_REPLICAS,
    FEATURES,
    METADATA_VERSION,
    SAFE_DOWNGRADE,
    UPGRADE,
    Feature,
    bootstrap_records,
    supported_features,
    update_features,
)
from ottla.model.errors import ErrorCode
from ottla.wire.messages.cluster_metadata import ControllerFeature, RegisterControllerRecord
from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest
from ottla.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest

SHARING: dict[str, Feature] = {**FEATURES, "share.version": Feature("share.version", 0, 1, {})}
MORE: dict[str, Feature] = {
    **SHARING,
    ELIGIBLE_LEADER_REPLICAS: Feature(ELIGIBLE_LEADER_REPLICAS, 0, 1, {1: 30}),
}


ANNOUNCED = {name: (each.low, each.high) for name, each in MORE.items() if each.high > 0}


def update(name: str, level: int, kind: int = UPGRADE, allow_downgrade: bool = False) -> FeatureUpdateKey:
    return FeatureUpdateKey(
        feature=name, max_version_level=level, upgrade_type=kind, allow_downgrade=allow_downgrade
    )


def test_only_what_is_implemented_is_announced_and_finalized() -> None:
    announced = supported_features()
    assert announced[METADATA_VERSION] == (25, 29)
    assert all(high > 0 for _, high in announced.values())
    cluster = Cluster()
    assert dict(cluster.image.features) == {name: high for name, (_, high) in announced.items()}
    assert {record.name for record in bootstrap_records()} == set(announced)


def test_every_feature_of_kafka_4_2_is_named() -> None:
    assert set(FEATURES) == {
        "metadata.version",
        "kraft.version",
        "transaction.version",
        "group.version",
        "eligible.leader.replicas.version",
        "share.version",
        "streams.version",
    }


def test_a_feature_goes_up_and_safely_down() -> None:
    cluster = Cluster(announced=ANNOUNCED)
    down = UpdateFeaturesRequest(feature_updates=[update(METADATA_VERSION, 27, SAFE_DOWNGRADE)])
    cluster.apply(update_features(cluster.image, down, 2))
    assert cluster.image.metadata_version == 27
    up = UpdateFeaturesRequest(feature_updates=[update(METADATA_VERSION, 29), update("share.version", 1)])
    cluster.apply(update_features(cluster.image, up, 2, SHARING))
    assert dict(cluster.image.features) == {
        METADATA_VERSION: 29,
        "transaction.version": 2,
        "group.version": 1,
        ELIGIBLE_LEADER_REPLICAS: 1,
        "share.version": 1,
    }
    off = UpdateFeaturesRequest(feature_updates=[update("share.version", 0, SAFE_DOWNGRADE)])
    cluster.apply(update_features(cluster.image, off, 2, SHARING))
    assert "share.version" not in cluster.image.features


def test_version_0_says_downgrade_with_its_own_flag() -> None:
    cluster = Cluster()
    refused = UpdateFeaturesRequest(feature_updates=[update(METADATA_VERSION, 27)])
    assert update_features(cluster.image, refused, 0).response.error_code == ErrorCode.INVALID_UPDATE_VERSION
    allowed = UpdateFeaturesRequest(feature_updates=[update(METADATA_VERSION, 27, allow_downgrade=True)])
    decision = update_features(cluster.image, allowed, 0)
    assert decision.response.error_code == 0
    assert [each.error_code for each in decision.response.results] == [0]


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (update("nonsense", 1), ErrorCode.INVALID_UPDATE_VERSION, "not supported"),
        (update("transaction.version", 3), ErrorCode.INVALID_UPDATE_VERSION, "levels 0 to 2"),
        (update(METADATA_VERSION, 30), ErrorCode.INVALID_UPDATE_VERSION, "25 to 29"),
        (update(METADATA_VERSION, 7, SAFE_DOWNGRADE), ErrorCode.INVALID_UPDATE_VERSION, "25 to 29"),
        (update(METADATA_VERSION, -1), ErrorCode.INVALID_UPDATE_VERSION, "less than 0"),
        (update(METADATA_VERSION, 27), ErrorCode.INVALID_UPDATE_VERSION, "needs a downgrade"),
        (update("share.version", 1, SAFE_DOWNGRADE), ErrorCode.INVALID_UPDATE_VERSION, "cannot go up"),
        (update(METADATA_VERSION, 29, 9), ErrorCode.INVALID_UPDATE_VERSION, "upgrade type 9"),
        (
            update(ELIGIBLE_LEADER_REPLICAS, 1),
            ErrorCode.INVALID_UPDATE_VERSION,
            "needs metadata.version 30",
        ),
        (update("", 1), ErrorCode.INVALID_REQUEST, "empty"),
    ],
)
def test_an_update_that_cannot_be_refuses_them_all(
    change: FeatureUpdateKey, code: ErrorCode, message: str
) -> None:
    cluster = Cluster(announced=ANNOUNCED, features={ELIGIBLE_LEADER_REPLICAS: 0})
    good = update("share.version", 1)
    others = [] if change.feature == "share.version" else [good]
    request = UpdateFeaturesRequest(feature_updates=[*others, change])
    decision = update_features(cluster.image, request, 1, MORE)
    assert decision.response.error_code == code
    assert message in (decision.response.error_message or "")
    assert {each.error_code for each in decision.response.results} == {code}
    assert decision.records == []


def test_an_update_can_be_only_validated() -> None:
    cluster = Cluster()
    request = UpdateFeaturesRequest(
        feature_updates=[update(METADATA_VERSION, 27, SAFE_DOWNGRADE)], validate_only=True
    )
    decision = cluster.controller.update_features(request, 2)
    assert decision.response.error_code == 0
    assert decision.records == []


def test_a_level_is_reached_only_when_every_broker_and_controller_supports_it() -> None:
    cluster = Cluster(2, features={METADATA_VERSION: 28})
    up = UpdateFeaturesRequest(feature_updates=[update(METADATA_VERSION, 29)])
    older = RegisterControllerRecord(
        controller_id=8,
        features=[
            ControllerFeature(name=METADATA_VERSION, min_supported_version=25, max_supported_version=28)
        ],
    )
    cluster.replay([older])
    refused = cluster.ask(up, 2)
    assert refused.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert "controller 8 supports 25 to 28" in refused.error_message
    older.features[0].max_supported_version = 29
    cluster.replay([older])
    # A fenced broker counts as well: it comes back.
    cluster.replay(cluster.controller.fence_broker(2))
    before = cluster.image.brokers[2]
    records = register_broker(
        cluster.image,
        node_id=2,
        broker_epoch=before.epoch,
        incarnation_id=before.incarnation_id,
        endpoints=list(before.listeners.values()),
        features={**supported_features(), METADATA_VERSION: (25, 28)},
        rack=None,
        log_dirs=before.log_dirs,
    )
    cluster.replay(records)
    assert "broker 2 supports 25 to 28" in cluster.ask(up, 2).error_message
    cluster.replay(cluster.controller.decide(UnregisterBrokerRequest(broker_id=2), 0, 0).records)
    assert cluster.ask(up, 2).error_code == 0
    assert cluster.image.metadata_version == 29


def test_the_level_of_the_quorum_itself_is_not_changed_here() -> None:
    cluster = Cluster()
    same = UpdateFeaturesRequest(feature_updates=[update("kraft.version", 0)])
    assert cluster.ask(same, 2).error_code == 0
    other = UpdateFeaturesRequest(feature_updates=[update("kraft.version", 1)])
    assert cluster.ask(other, 2).error_code == ErrorCode.INVALID_UPDATE_VERSION
