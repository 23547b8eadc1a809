"""Where a node listens, and what each listener speaks: `NAME://host:port` and `NAME:PROTOCOL`.

A listener's name is free text; `listener.security.protocol.map` says which protocol it stands for. Names are
compared in upper case, as in Kafka.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import NamedTuple

from ottla.model.config_key import ConfigError

PORT_MAX = 65_535


class SecurityProtocol(IntEnum):
    """The numbers are those of the registration records."""

    PLAINTEXT = 0
    SSL = 1
    SASL_PLAINTEXT = 2
    SASL_SSL = 3


class Listener(NamedTuple):
    name: str
    host: str
    """Empty: every interface."""
    port: int
    """0: a free one."""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name}://{host}:{self.port}"


class Voter(NamedTuple):
    """One entry of `controller.quorum.voters`."""

    node_id: int
    host: str
    port: int


_LISTENER = re.compile(r"([^:/\s]+)://(?:\[([0-9a-zA-Z\-%._:]*)\]|([0-9a-zA-Z\-%._]*)):([0-9]{1,5})\Z")
_VOTER = re.compile(r"([0-9]{1,10})@(?:\[([0-9a-zA-Z\-%._:]+)\]|([0-9a-zA-Z\-%._]+)):([0-9]{1,5})\Z")


def parse_listeners(texts: Iterable[str], key: str = "listeners") -> tuple[Listener, ...]:
    """Raises ConfigError for one that cannot be read, a name used twice, or a port used twice on one host."""
    listeners: list[Listener] = []
    for text in texts:
        match = _LISTENER.match(text)
        if match is None or int(match[4]) > PORT_MAX:
            raise ConfigError(
                f"Invalid value {text!r} for configuration {key}: expected NAME://host:port with a port from"
                f" 0 to {PORT_MAX}, for instance PLAINTEXT://localhost:9092",
                key,
            )
        listeners.append(Listener(match[1].upper(), match[2] or match[3] or "", int(match[4])))
    names = [listener.name for listener in listeners]
    if len(set(names)) != len(names):
        raise ConfigError(f"{key}: each listener needs a name of its own, found {', '.join(names)}", key)
    return tuple(listeners)


def check_ports_differ(listeners: Iterable[Listener], key: str = "listeners") -> None:
    """Two listeners may share a port only as the IPv4 and the IPv6 side of one address; 0 is always free."""
    taken: dict[tuple[int, bool], Listener] = {}
    for listener in listeners:
        if listener.port == 0:
            continue
        place = (listener.port, ":" in listener.host)
        if place in taken:
            raise ConfigError(f"{key}: {taken[place]} and {listener} have the same port", key)
        taken[place] = listener


def parse_protocol_map(
    text: str, key: str = "listener.security.protocol.map"
) -> Mapping[str, SecurityProtocol]:
    protocols: dict[str, SecurityProtocol] = {}
    for pair in text.split(","):
        pair = pair.strip()
        if not pair:
            continue
        name, separator, protocol = pair.rpartition(":")
        if not separator or not name or protocol.strip().upper() not in SecurityProtocol.__members__:
            raise ConfigError(
                f"Invalid value {pair!r} for configuration {key}: expected NAME:PROTOCOL, PROTOCOL being one"
                f" of: {', '.join(SecurityProtocol.__members__)}",
                key,
            )
        name = name.strip().upper()
        if name in protocols:
            raise ConfigError(f"{key}: the listener {name} is given twice", key)
        protocols[name] = SecurityProtocol[protocol.strip().upper()]
    return protocols


def parse_voters(texts: Iterable[str], key: str = "controller.quorum.voters") -> tuple[Voter, ...]:
    voters: list[Voter] = []
    for text in texts:
        match = _VOTER.match(text)
        if match is None or not 0 < int(match[4]) <= PORT_MAX or int(match[1]) >= 2**31:
            raise ConfigError(
                f"Invalid value {text!r} for configuration {key}: expected id@host:port, for instance"
                " 1@localhost:9093",
                key,
            )
        voters.append(Voter(int(match[1]), match[2] or match[3], int(match[4])))
    ids = [voter.node_id for voter in voters]
    if len(set(ids)) != len(ids):
        raise ConfigError(f"{key}: each voter needs an id of its own, found {ids}", key)
    return tuple(voters)
