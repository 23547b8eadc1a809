"""UpdateFeatures (KIP-584, KIP-778): all or nothing, and down only when asked to."""

from __future__ import annotations

import pytest
from metadata_cluster import Cluster

from ottla.metadata.features import (
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
from ottla.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest

MORE: dict[str, Feature] = {
    **FEATURES,
    "share.version": Feature("share.version", 0, 1, {}),
    "eligible.leader.replicas.version": Feature("eligible.leader.replicas.version", 0, 1, {1: 30}),
}


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
    cluster = Cluster()
    down = UpdateFeaturesRequest(feature_updates=[update(METADATA_VERSION, 27, SAFE_DOWNGRADE)])
    cluster.apply(update_features(cluster.image, down, 2))
    assert cluster.image.metadata_version == 27
    up = UpdateFeaturesRequest(feature_updates=[update(METADATA_VERSION, 29), update("share.version", 1)])
    cluster.apply(update_features(cluster.image, up, 2, MORE))
    assert dict(cluster.image.features) == {
        METADATA_VERSION: 29,
        "transaction.version": 2,
        "group.version": 1,
        "share.version": 1,
    }
    off = UpdateFeaturesRequest(feature_updates=[update("share.version", 0, SAFE_DOWNGRADE)])
    cluster.apply(update_features(cluster.image, off, 2, MORE))
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
            update("eligible.leader.replicas.version", 1),
            ErrorCode.INVALID_UPDATE_VERSION,
            "needs metadata.version 30",
        ),
        (update("", 1), ErrorCode.INVALID_REQUEST, "empty"),
    ],
)
def test_an_update_that_cannot_be_refuses_them_all(
    change: FeatureUpdateKey, code: ErrorCode, message: str
) -> None:
    cluster = Cluster()
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
