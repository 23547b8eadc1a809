"""Decisions about configuration: IncrementalAlterConfigs and AlterConfigs.

Each resource of a request succeeds or fails alone. What is stored is the text as it was given; it is checked
against the key's declaration, and the resource's configs are checked as a whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ottla.metadata.config import ConfigView
from ottla.metadata.decision import Decision
from ottla.metadata.features import ELIGIBLE_LEADER_REPLICAS
from ottla.metadata.image import BROKER_RESOURCE, GROUP_RESOURCE, TOPIC_RESOURCE, MetadataImage
from ottla.metadata.records import MetadataRecord
from ottla.model.config import (
    BROKER_KEYS,
    GROUP_KEYS,
    TOPIC_KEYS,
    broker_key,
    is_free_key,
    nearest_name,
    parse_topic_configs,
)
from ottla.model.config_key import LIST, PER_BROKER, READ_ONLY, ConfigError, ConfigKey
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.group_rules import check_group
from ottla.model.topics import topic_name_problem
from ottla.wire.messages import alter_configs as legacy
from ottla.wire.messages import incremental_alter_configs as incremental
from ottla.wire.messages.cluster_metadata import ConfigRecord

SET: Final = 0
DELETE: Final = 1
APPEND: Final = 2
SUBTRACT: Final = 3

_ANSWERED: Final = -1
_VALUE_CHARS_MAX: Final = 32_767
"""A stored value's length: Kafka's bound, since older records wrote it as a 16-bit length."""


def incremental_alter_configs(
    view: ConfigView, request: incremental.IncrementalAlterConfigsRequest
) -> Decision[incremental.IncrementalAlterConfigsResponse]:
    results, records = _each_resource(
        request.resources, lambda resource: _decide_incremental(view, resource), request.validate_only
    )
    responses = [
        incremental.AlterConfigsResourceResponse(
            error_code=code, error_message=message, resource_type=kind, resource_name=name
        )
        for kind, name, code, message in results
    ]
    return Decision(incremental.IncrementalAlterConfigsResponse(responses=responses), records)


def alter_configs(
    view: ConfigView, request: legacy.AlterConfigsRequest
) -> Decision[legacy.AlterConfigsResponse]:
    """The older API: what the request does not name is deleted."""
    results, records = _each_resource(
        request.resources, lambda resource: _decide_replacement(view, resource), request.validate_only
    )
    responses = [
        legacy.AlterConfigsResourceResponse(
            error_code=code, error_message=message, resource_type=kind, resource_name=name
        )
        for kind, name, code, message in results
    ]
    return Decision(legacy.AlterConfigsResponse(responses=responses), records)


def _each_resource(
    resources: Sequence[Any],
    decide: Callable[[Any], list[MetadataRecord]],
    validate_only: bool,
) -> tuple[list[tuple[int, str, ErrorCode, str | None]], list[MetadataRecord]]:
    times = Counter((each.resource_type, each.resource_name) for each in resources)
    results: list[tuple[int, str, ErrorCode, str | None]] = []
    records: list[MetadataRecord] = []
    for resource in resources:
        place = (resource.resource_type, resource.resource_name)
        if times[place] != 1:
            if times[place] != _ANSWERED:
                times[place] = _ANSWERED
                results.append((*place, ErrorCode.INVALID_REQUEST, "Each resource must appear at most once."))
            continue
        try:
            changes = decide(resource)
        except KafkaError as error:
            results.append((*place, error.code, error.message))
            continue
        results.append((*place, ErrorCode.NONE, None))
        if not validate_only:
            records += changes
    return results, records


def _decide_incremental(view: ConfigView, resource: incremental.AlterConfigsResource) -> list[MetadataRecord]:
    kind, name = resource.resource_type, resource.resource_name
    _check_resource(view, kind, name)
    _check_names([each.name for each in resource.configs])
    before = view.image.config(kind, name)
    after = dict(before)
    for change in resource.configs:
        if change.config_operation not in (SET, DELETE, APPEND, SUBTRACT):
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"Unknown config operation {change.config_operation}."
            )
        key = _known_key(kind, change.name) if change.config_operation != DELETE else None
        if change.config_operation == DELETE:
            after.pop(change.name, None)
            continue
        if change.value is None:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {change.name}")
        if change.config_operation == SET:
            after[change.name] = change.value
        else:
            after[change.name] = _changed_list(view, kind, change, key, after.get(change.name))
    return _checked_records(view, kind, name, before, after)


def _decide_replacement(view: ConfigView, resource: legacy.AlterConfigsResource) -> list[MetadataRecord]:
    kind, name = resource.resource_type, resource.resource_name
    _check_resource(view, kind, name)
    _check_names([each.name for each in resource.configs])
    after: dict[str, str] = {}
    for change in resource.configs:
        if change.value is None:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {change.name}")
        after[change.name] = change.value
    return _checked_records(view, kind, name, view.image.config(kind, name), after)


def _check_resource(view: ConfigView, kind: int, name: str) -> None:
    """Whether there is such a thing to configure."""
    if kind == TOPIC_RESOURCE:
        problem = topic_name_problem(name)
        if problem is not None:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
        if name not in view.image.topics:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
    elif kind == BROKER_RESOURCE:
        if name == "":
            return
        if not name.isdecimal() or not name.isascii():
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"The broker name {name!r} is neither empty nor a node id."
            )
        if int(name) not in view.image.brokers:
            raise KafkaError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"No broker with id {name} found.")
    elif kind == GROUP_RESOURCE:
        if not name:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
    else:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"Configs of resource type {kind} cannot be changed, only topics (2), brokers (4), groups (32).",
        )


def _check_names(names: Sequence[str]) -> None:
    if len(set(names)) != len(names):
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")


_NAMES: Final[Mapping[int, Mapping[str, ConfigKey]]] = {
    TOPIC_RESOURCE: TOPIC_KEYS,
    BROKER_RESOURCE: BROKER_KEYS,
    GROUP_RESOURCE: GROUP_KEYS,
}
_NOUNS: Final = {TOPIC_RESOURCE: "topic", BROKER_RESOURCE: "broker", GROUP_RESOURCE: "group"}
_SECURITY_PREFIXES: Final = ("ssl.keystore.", "ssl.truststore.", "ssl.key.")
_BAD_VALUE: Final = {
    TOPIC_RESOURCE: ErrorCode.INVALID_CONFIG,
    BROKER_RESOURCE: ErrorCode.INVALID_REQUEST,
    GROUP_RESOURCE: ErrorCode.INVALID_CONFIG,
}
"""Kafka answers a bad broker config with INVALID_REQUEST and the others with INVALID_CONFIG."""


def _known_key(kind: int, name: str) -> ConfigKey | None:
    key = broker_key(name) if kind == BROKER_RESOURCE else _NAMES[kind].get(name)
    if key is None and not (kind == BROKER_RESOURCE and is_free_key(name)):
        near = nearest_name(name, _NAMES[kind])
        hint = f"; did you mean {near}?" if near else ""
        raise KafkaError(_BAD_VALUE[kind], f"Unknown {_NOUNS[kind]} config name: {name}{hint}")
    return key


def _changed_list(
    view: ConfigView,
    kind: int,
    change: incremental.AlterableConfig,
    key: ConfigKey | None,
    current: str | None,
) -> str:
    if key is None or key.type is not LIST:
        verb = "append to" if change.config_operation == APPEND else "subtract from"
        raise KafkaError(
            ErrorCode.INVALID_CONFIG, f"Can't {verb} key {change.name} because its type is not LIST."
        )
    if current is None:
        if kind == TOPIC_RESOURCE:
            inherited = view.inherited_topic_value(change.name)
        elif kind == BROKER_RESOURCE:
            inherited = view.broker_value(change.name)
        else:
            inherited = key.default
        current = key.format(inherited) or ""
    assert change.value is not None
    elements = [each.strip() for each in current.split(",") if each.strip()]
    changes = [each.strip() for each in change.value.split(",") if each.strip()]
    if change.config_operation == APPEND:
        elements += [each for each in dict.fromkeys(changes) if each not in elements]
    else:
        elements = [each for each in elements if each not in changes]
    return ",".join(elements)


def _checked_records(
    view: ConfigView, kind: int, name: str, before: Mapping[str, str], after: Mapping[str, str]
) -> list[MetadataRecord]:
    check_configs(kind, name, {key: text for key, text in after.items() if before.get(key) != text}, after)
    if kind == GROUP_RESOURCE:
        _check_group(view, after)
    if kind == BROKER_RESOURCE and name:
        _check_own_min_isr(view.image, before, after)
    records: list[MetadataRecord] = [
        ConfigRecord(resource_type=kind, resource_name=name, name=key, value=None)
        for key in before
        if key not in after
    ]
    records += [
        ConfigRecord(resource_type=kind, resource_name=name, name=key, value=text)
        for key, text in after.items()
        if before.get(key) != text
    ]
    return records


def check_configs(kind: int, name: str, new: Mapping[str, str], whole: Mapping[str, str]) -> None:
    """Raises KafkaError unless the new values, and all values together, can be taken."""
    for config_name, text in new.items():
        if len(text) > _VALUE_CHARS_MAX:
            raise KafkaError(
                _BAD_VALUE[kind],
                f"The value of {config_name} has {len(text)} characters, {_VALUE_CHARS_MAX} are allowed.",
            )
    try:
        if kind == TOPIC_RESOURCE:
            parse_topic_configs(whole)
            return
        for config_name, text in new.items():
            key = _known_key(kind, config_name)
            if key is None:
                continue
            if kind == BROKER_RESOURCE:
                _check_may_change(key, config_name, name)
            key.parse(text)
    except ConfigError as error:
        raise KafkaError(_BAD_VALUE[kind], error.message) from None


def _check_group(view: ConfigView, own: Mapping[str, str]) -> None:
    values = {
        name: value for name, text in own.items() if isinstance(value := GROUP_KEYS[name].parse(text), int)
    }
    try:
        check_group(values, view.get_int)
    except ConfigError as error:
        raise KafkaError(ErrorCode.INVALID_CONFIG, error.message) from None


def _check_own_min_isr(image: MetadataImage, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Which replicas are eligible to lead (KIP-966) follows from the value that all brokers use."""
    key = "min.insync.replicas"
    if image.features.get(ELIGIBLE_LEADER_REPLICAS, 0) and key in after and before.get(key) != after[key]:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG,
            f"{key} cannot be set for one broker while eligible leader replicas are kept"
            f" ({ELIGIBLE_LEADER_REPLICAS}): set it for all brokers, or for a topic.",
        )


def _check_may_change(key: ConfigKey, config_name: str, resource: str) -> None:
    if key.dynamic == READ_ONLY:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"Cannot update {config_name} dynamically: set it in server.properties and restart the broker.",
        )
    if config_name.startswith(_SECURITY_PREFIXES):
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"Cannot update {config_name} for all listeners: put listener.name.<listener>. before it.",
        )
    if key.dynamic == PER_BROKER and resource == "":
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"Cannot update {config_name} at default cluster level: name a broker.",
        )
