"""Features: what a cluster has agreed to use, as levels that only UpdateFeatures changes.

`FEATURES` names every feature of Kafka 4.2 with the levels that Ottla implements. A feature whose highest
implemented level is 0 is neither announced nor accepted; whoever implements it raises `high` here. The agreed
("finalized") levels are records in the metadata log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from ottla.metadata.decision import Decision
from ottla.metadata.image import MetadataImage
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.cluster_metadata import FeatureLevelRecord
from ottla.wire.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

METADATA_VERSION: Final = "metadata.version"
METADATA_VERSION_LEVELS: Final[Mapping[int, str]] = {
    25: "4.0-IV3",
    26: "4.1-IV0",
    27: "4.1-IV1",
    28: "4.2-IV0",
    29: "4.2-IV1",
}
"""The levels that are understood, and the Kafka release each belongs to. None of them changed a record's
format, so every step down among them loses nothing.
"""
METADATA_VERSION_LOW: Final = min(METADATA_VERSION_LEVELS)
METADATA_VERSION_HIGH: Final = max(METADATA_VERSION_LEVELS)

KRAFT_VERSION: Final = "kraft.version"
ELIGIBLE_LEADER_REPLICAS: Final = "eligible.leader.replicas.version"

UPGRADE: Final = 1
SAFE_DOWNGRADE: Final = 2
UNSAFE_DOWNGRADE: Final = 3


class Feature(NamedTuple):
    name: str
    low: int
    high: int
    """The highest level that is implemented; 0 while none is."""
    needs_metadata_version: Mapping[int, int]
    """By level, the `metadata.version` that it depends on."""


FEATURES: Final[Mapping[str, Feature]] = {
    feature.name: feature
    for feature in (
        Feature(METADATA_VERSION, METADATA_VERSION_LOW, METADATA_VERSION_HIGH, {}),
        Feature(KRAFT_VERSION, 0, 0, {}),  # Kafka: 1, voters recorded in the metadata log
        Feature("transaction.version", 0, 2, {}),  # 2: transactions of KIP-890
        Feature("group.version", 0, 1, {}),  # 1: groups of KIP-848
        Feature(ELIGIBLE_LEADER_REPLICAS, 0, 1, {1: 23}),  # 1: KIP-966
        Feature("share.version", 0, 0, {}),  # Kafka: 1, share groups
        Feature("streams.version", 0, 0, {}),  # Kafka: 1, streams groups
    )
}


def supported_features(features: Mapping[str, Feature] = FEATURES) -> dict[str, tuple[int, int]]:
    """What a node announces: lowest and highest level by name."""
    return {feature.name: (feature.low, feature.high) for feature in features.values() if feature.high > 0}


def bootstrap_records(features: Mapping[str, Feature] = FEATURES) -> list[FeatureLevelRecord]:
    """What a new cluster's metadata log begins with: every feature at its highest level."""
    return [
        FeatureLevelRecord(name=feature.name, feature_level=feature.high)
        for feature in features.values()
        if feature.high > 0
    ]


def update_features(
    image: MetadataImage,
    request: UpdateFeaturesRequest,
    version: int,
    features: Mapping[str, Feature] = FEATURES,
) -> Decision[UpdateFeaturesResponse]:
    """All updates of a request happen, or none does."""
    records: list[FeatureLevelRecord] = []
    levels = dict(image.features)
    seen: set[str] = set()
    try:
        for update in request.feature_updates:
            if not update.feature or update.feature in seen:
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST, f"the feature {update.feature!r} is empty or given twice"
                )
            seen.add(update.feature)
            _check_update(levels, update, version, features)
            _check_nodes(image, update)
            if levels.get(update.feature, 0) != update.max_version_level:
                levels[update.feature] = update.max_version_level
                records.append(
                    FeatureLevelRecord(name=update.feature, feature_level=update.max_version_level)
                )
        _check_dependencies(levels, features)
    except KafkaError as error:
        message = f"The update failed for all features since one had an error: {error.message}"
        return Decision(
            UpdateFeaturesResponse(
                error_code=error.code, error_message=message, results=_results(request, error.code, message)
            ),
            [],
        )
    response = UpdateFeaturesResponse(
        error_code=0, error_message=None, results=_results(request, ErrorCode.NONE, None)
    )
    return Decision(response, [] if request.validate_only else records)


def _results(
    request: UpdateFeaturesRequest, code: ErrorCode, message: str | None
) -> list[UpdatableFeatureResult]:
    return [
        UpdatableFeatureResult(feature=update.feature, error_code=code, error_message=message)
        for update in request.feature_updates
    ]


def _check_update(
    levels: Mapping[str, int], update: FeatureUpdateKey, version: int, features: Mapping[str, Feature]
) -> None:
    name, level = update.feature, update.max_version_level
    if version == 0:
        upgrade_type = SAFE_DOWNGRADE if update.allow_downgrade else UPGRADE
    else:
        upgrade_type = update.upgrade_type
    if upgrade_type not in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
        raise _refused(name, level, f"the upgrade type {upgrade_type} is unknown")
    if level < 0:
        raise _refused(name, level, "a level is never less than 0")
    current = levels.get(name, 0)
    if name == KRAFT_VERSION:
        # Which level the quorum itself is at is in its own records.
        if level == current:
            return
        raise _refused(name, level, f"it is at {current}, and only the quorum itself changes it")
    feature = features.get(name)
    if feature is None or feature.high == 0:
        raise _refused(name, level, "this feature is not supported here")
    if not feature.low <= level <= feature.high:
        raise _refused(name, level, f"levels {feature.low} to {feature.high} are supported")
    if level < current and upgrade_type == UPGRADE:
        raise _refused(name, level, f"it is at {current}; going down needs a downgrade as upgrade type")
    if level > current and upgrade_type != UPGRADE:
        raise _refused(name, level, f"it is at {current}; a downgrade cannot go up")


def _check_nodes(image: MetadataImage, update: FeatureUpdateKey) -> None:
    """Every node that is registered has to support the level, fenced brokers too: they come back."""
    name, level = update.feature, update.max_version_level
    for broker in image.brokers.values():
        low, high = broker.features.get(name, (0, 0))
        if not low <= level <= high:
            raise _refused(name, level, f"broker {broker.node_id} supports {low} to {high}")
    for controller in image.controllers.values():
        ranges = {
            each.name: (each.min_supported_version, each.max_supported_version)
            for each in controller.features
        }
        low, high = ranges.get(name, (0, 0))
        if not low <= level <= high:
            raise _refused(name, level, f"controller {controller.controller_id} supports {low} to {high}")


def _check_dependencies(levels: Mapping[str, int], features: Mapping[str, Feature]) -> None:
    metadata_version = levels.get(METADATA_VERSION, 0)
    for name, level in levels.items():
        feature = features.get(name)
        needed = feature.needs_metadata_version.get(level, 0) if feature is not None else 0
        if metadata_version < needed:
            raise _refused(
                name, level, f"it needs {METADATA_VERSION} {needed}, which is at {metadata_version}"
            )


def _refused(name: str, level: int, why: str) -> KafkaError:
    return KafkaError(
        ErrorCode.INVALID_UPDATE_VERSION, f"Invalid update version {level} for feature {name}: {why}"
    )
