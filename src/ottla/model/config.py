"""Every configuration key, by name, and what can be said about a set of them.

`BROKER_KEYS` are the keys of `server.properties`, `TOPIC_KEYS` those of a topic, `GROUP_KEYS` of a group.
Each is declared once, in `config_keys_*.py`. Only those who start or configure a broker import this: building
the tables takes about a millisecond.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from ottla.model.config_key import ConfigError, ConfigKey, ConfigValue
from ottla.model.config_keys_coordinators import COORDINATOR_KEYS
from ottla.model.config_keys_group import GROUP_KEYS as _GROUP_KEYS
from ottla.model.config_keys_log import LOG_KEYS
from ottla.model.config_keys_node import NODE_KEYS
from ottla.model.config_keys_security import SECURITY_KEYS
from ottla.model.config_keys_topic import TOPIC_KEYS as _TOPIC_KEYS

__all__ = [
    "BROKER_KEYS",
    "GROUP_KEYS",
    "RETIRED_KEYS",
    "TOPIC_KEYS",
    "ConfigError",
    "ConfigKey",
    "ConfigValue",
    "broker_key",
    "check_topic_values",
    "nearest_name",
    "parse_topic_configs",
    "unit_ms",
    "unknown_key_message",
]

BROKER_KEYS: Final[Mapping[str, ConfigKey]] = {
    key.name: key for keys in (NODE_KEYS, LOG_KEYS, COORDINATOR_KEYS, SECURITY_KEYS) for key in keys
}
TOPIC_KEYS: Final[Mapping[str, ConfigKey]] = {key.name: key for key in _TOPIC_KEYS}
GROUP_KEYS: Final[Mapping[str, ConfigKey]] = {key.name: key for key in _GROUP_KEYS}

RETIRED_KEYS: Final[Mapping[str, str]] = {
    "zookeeper.connect": "metadata is kept in a log of its own, no other service is needed",
    "zookeeper.connection.timeout.ms": "metadata is kept in a log of its own, no other service is needed",
    "zookeeper.session.timeout.ms": "metadata is kept in a log of its own, no other service is needed",
    "inter.broker.protocol.version": "the feature metadata.version takes its place",
    "log.message.format.version": "records are always written in version 2",
    "log.message.downconversion.enable": "records are always sent in version 2",
    "log.message.timestamp.difference.max.ms": (
        "log.message.timestamp.before.max.ms and log.message.timestamp.after.max.ms take its place"
    ),
    "host.name": "listeners takes its place",
    "port": "listeners takes its place",
    "advertised.host.name": "advertised.listeners takes its place",
    "advertised.port": "advertised.listeners takes its place",
    "broker.id.generation.enable": "node ids are always given",
    "delegation.token.master.key": "delegation.token.secret.key takes its place",
    "offsets.commit.required.acks": "commits always wait for the in-sync replicas",
    "password.encoder.secret": "the metadata log keeps no encoded passwords",
}
"""Keys of older Kafka versions that files in use still have, and why they have no effect."""

_LISTENER_PREFIX = re.compile(r"listener\.name\.[^.]+\.(.+)\Z")
_FREE_PREFIXES: Final = ("rsm.config.", "rlmm.config.", "config.providers.")
"""Keys below these belong to plug-ins; nothing here can say whether they are right."""


def broker_key(name: str) -> ConfigKey | None:
    """The declaration of a broker key; `listener.name.<listener>.<key>` (and, below it, a SASL mechanism
    in front of the key) has that of the key itself.
    """
    key = BROKER_KEYS.get(name)
    if key is not None:
        return key
    match = _LISTENER_PREFIX.match(name)
    if match is None:
        return None
    base = match[1]
    return BROKER_KEYS.get(base) or BROKER_KEYS.get(base.partition(".")[2])


def is_free_key(name: str) -> bool:
    return name.startswith(_FREE_PREFIXES)


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """The known name that somebody who typed `name` most likely meant."""
    from difflib import get_close_matches  # costs some milliseconds, and only mistakes need it

    found = get_close_matches(name, list(names), n=1, cutoff=0.75)
    return found[0] if found else None


def unknown_key_message(name: str) -> str:
    """The warning for a key of a file that is not a key of a broker."""
    if name in RETIRED_KEYS:
        return f"configuration {name} is of an older Kafka and has no effect: {RETIRED_KEYS[name]}"
    if name in TOPIC_KEYS:
        synonyms = TOPIC_KEYS[name].synonyms
        if synonyms:
            return (
                f"unknown configuration {name} is ignored: it is a topic's key, a broker's is {synonyms[0]}"
            )
    near = nearest_name(name, BROKER_KEYS)
    return f"unknown configuration {name} is ignored" + (f"; did you mean {near}?" if near else "")


def parse_topic_configs(configs: Mapping[str, str]) -> dict[str, ConfigValue]:
    """The values of a topic's own configs. Raises ConfigError for an unknown name or a bad value."""
    values: dict[str, ConfigValue] = {}
    for name, text in configs.items():
        key = TOPIC_KEYS.get(name)
        if key is None:
            near = nearest_name(name, TOPIC_KEYS)
            hint = f"; did you mean {near}?" if near else ""
            raise ConfigError(f"Unknown topic config name: {name}{hint}", name)
        values[name] = key.parse(text)
    check_topic_values(values)
    return values


def check_topic_values(values: Mapping[str, ConfigValue]) -> None:
    """Rules that join several keys of one topic."""
    low = values.get("min.compaction.lag.ms", TOPIC_KEYS["min.compaction.lag.ms"].default)
    high = values.get("max.compaction.lag.ms", TOPIC_KEYS["max.compaction.lag.ms"].default)
    assert isinstance(low, int) and isinstance(high, int)
    if low > high:
        raise ConfigError(
            f"min.compaction.lag.ms ({low}) is greater than max.compaction.lag.ms ({high}): a record would"
            " have to be compacted before it may be",
            "min.compaction.lag.ms",
        )


def unit_ms(name: str) -> int:
    """How many milliseconds (or plain units) one of a key's units is, by the key's last word."""
    if name.endswith(".hours"):
        return 3_600_000
    if name.endswith(".minutes"):
        return 60_000
    return 1
