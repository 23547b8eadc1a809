"""The rules that join several keys of groups: bounds that fit each other, heartbeats that fit the session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ottla.model.config_key import ConfigError

SERVER_ASSIGNORS: Final[Mapping[str, str]] = {
    "uniform": "uniform",
    "range": "range",
    "org.apache.kafka.coordinator.group.assignor.UniformAssignor": "uniform",
    "org.apache.kafka.coordinator.group.assignor.RangeAssignor": "range",
}
"""What `group.consumer.assignors` may name: the assignors' own names, or Kafka's classes of the same."""


def check_broker(get_int: Callable[[str], int], assignors: tuple[str, ...]) -> None:
    """Raises ConfigError when the broker's keys contradict each other."""
    for name in ("session.timeout.ms", "heartbeat.interval.ms"):
        _check_between(
            f"group.consumer.{name}",
            get_int(f"group.consumer.{name}"),
            f"group.consumer.min.{name}",
            f"group.consumer.max.{name}",
            get_int,
        )
    _check_between(
        "group.min.session.timeout.ms",
        get_int("group.min.session.timeout.ms"),
        None,
        "group.max.session.timeout.ms",
        get_int,
    )
    _check_shorter(
        "group.consumer.heartbeat.interval.ms",
        get_int("group.consumer.heartbeat.interval.ms"),
        "group.consumer.session.timeout.ms",
        get_int("group.consumer.session.timeout.ms"),
    )
    server_assignors(assignors)


def check_group(own: Mapping[str, int], get_int: Callable[[str], int]) -> None:
    """Raises ConfigError when a group's own values are outside what the broker allows."""
    values = {}
    for name in ("session.timeout.ms", "heartbeat.interval.ms"):
        value = own.get(f"consumer.{name}")
        if value is not None:
            _check_between(
                f"consumer.{name}", value, f"group.consumer.min.{name}", f"group.consumer.max.{name}", get_int
            )
        values[name] = get_int(f"group.consumer.{name}") if value is None else value
    _check_shorter(
        "consumer.heartbeat.interval.ms",
        values["heartbeat.interval.ms"],
        "consumer.session.timeout.ms",
        values["session.timeout.ms"],
    )


def server_assignors(names: tuple[str, ...]) -> tuple[str, ...]:
    """The assignors' own names, in order; the first is the default."""
    key = "group.consumer.assignors"
    if not names:
        raise ConfigError(f"{key} is empty: name at least one of uniform, range", key)
    found = []
    for name in names:
        if name not in SERVER_ASSIGNORS:
            raise ConfigError(f"{key} names {name}, which is not known: use uniform, range or both", key)
        if SERVER_ASSIGNORS[name] in found:
            raise ConfigError(f"{key} names {SERVER_ASSIGNORS[name]} twice", key)
        found.append(SERVER_ASSIGNORS[name])
    return tuple(found)


def _check_between(
    name: str, value: int, low_name: str | None, high_name: str, get_int: Callable[[str], int]
) -> None:
    if low_name is not None and value < get_int(low_name):
        raise ConfigError(f"{name} must be greater than or equal to {low_name} ({get_int(low_name)})", name)
    if value > get_int(high_name):
        raise ConfigError(f"{name} must be less than or equal to {high_name} ({get_int(high_name)})", name)


def _check_shorter(name: str, value: int, than_name: str, than: int) -> None:
    if value >= than:
        raise ConfigError(f"{name} ({value}) must be less than {than_name} ({than})", name)
