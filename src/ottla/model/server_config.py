"""What `server.properties` says: the static layer of a broker's configuration, parsed and checked as a whole.

`ServerConfig(pairs)` takes the pairs of the file (and of `--set`), parses every known key, collects a warning
for each unknown one, and checks the rules that join several keys. The dynamic layers are put on top of it in
`metadata/config.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ottla.model.config import BROKER_KEYS, broker_key, is_free_key, unknown_key_message
from ottla.model.config_key import ConfigError, ConfigKey, ConfigValue
from ottla.model.group_rules import check_broker
from ottla.model.listeners import (
    Listener,
    SecurityProtocol,
    Voter,
    check_ports_differ,
    parse_listeners,
    parse_protocol_map,
    parse_voters,
)

DEFAULT_NODE_ID = 1
_OWN_HOSTS = ("localhost", "127.0.0.1", "::1")


class ServerConfig:
    """The static configuration of one node. Raises ConfigError when it cannot work."""

    __slots__ = (
        "texts",
        "values",
        "warnings",
        "without_effect",
        "node_id",
        "roles",
        "listeners",
        "advertised_listeners",
        "protocols",
        "controller_listener_names",
        "inter_broker_listener_name",
        "voters",
        "log_dirs",
        "metadata_log_dir",
        "max_connections_per_ip_overrides",
    )

    def __init__(self, pairs: Mapping[str, str]) -> None:
        self.texts: Mapping[str, str] = dict(pairs)
        self.values: dict[str, ConfigValue] = {}
        self.warnings: list[str] = []
        self.without_effect: list[str] = []
        """Keys that were set and that Ottla knows, but does not act on."""
        for name, text in pairs.items():
            key = broker_key(name)
            if key is None:
                if not is_free_key(name):
                    self.warnings.append(unknown_key_message(name))
                continue
            self.values[name] = self._parse(key, name, text)
            if not key.honoured:
                self.without_effect.append(name)
        self.node_id = self._find_node_id()
        self.values["node.id"] = self.node_id  # what DescribeConfigs has to show, however it was found
        self.roles = frozenset(self.get_list("process.roles"))
        self.controller_listener_names = tuple(
            name.upper() for name in self.get_list("controller.listener.names")
        )
        self.listeners = parse_listeners(self.get_list("listeners"))
        check_ports_differ(self.listeners)
        self.protocols = self._find_protocols()
        self.advertised_listeners = self._find_advertised()
        self.inter_broker_listener_name = self._find_inter_broker_listener_name()
        self.voters = self._find_voters()
        self.log_dirs = self.get_list("log.dirs") or self.get_list("log.dir")
        metadata_log_dir = self.value("metadata.log.dir")
        assert metadata_log_dir is None or isinstance(metadata_log_dir, str)
        self.metadata_log_dir = metadata_log_dir or self.log_dirs[0]
        self.max_connections_per_ip_overrides = self._parse_overrides()
        self._check_together()

    @staticmethod
    def _parse(key: ConfigKey, name: str, text: str) -> ConfigValue:
        try:
            return key.parse(text)
        except ConfigError as error:
            if name == key.name:
                raise
            raise ConfigError(error.message.replace(key.name, name, 1), name) from None

    # Values: what was set, or the default.

    def value(self, name: str) -> ConfigValue:
        if name in self.values:
            return self.values[name]
        return BROKER_KEYS[name].default

    def get_int(self, name: str) -> int:
        value = self.value(name)
        assert isinstance(value, int), name
        return value

    def get_bool(self, name: str) -> bool:
        value = self.value(name)
        assert isinstance(value, bool), name
        return value

    def get_str(self, name: str) -> str:
        value = self.value(name)
        assert isinstance(value, str), name
        return value

    def get_list(self, name: str) -> tuple[str, ...]:
        """Empty when it has neither value nor default."""
        value = self.value(name)
        assert value is None or isinstance(value, tuple), name
        return value or ()

    @property
    def is_broker(self) -> bool:
        return "broker" in self.roles

    @property
    def is_controller(self) -> bool:
        return "controller" in self.roles

    @property
    def is_alone(self) -> bool:
        """Whether this node is its whole cluster: both roles, and no other voter."""
        return self.is_broker and self.is_controller and self.knows_no_other

    @property
    def knows_no_other(self) -> bool:
        """Whether no other controller is named, as a voter or as a place to find the quorum."""
        own = {(each.host, each.port) for each in self.controller_listeners}
        own |= {(host, each.port) for each in self.controller_listeners for host in _OWN_HOSTS}
        places = [each.rpartition(":") for each in self.get_list("controller.quorum.bootstrap.servers")]
        return all(voter.node_id == self.node_id for voter in self.voters) and all(
            (host.strip("[]"), int(port) if port.isdecimal() else -1) in own for host, _, port in places
        )

    @property
    def broker_listeners(self) -> tuple[Listener, ...]:
        """The listeners for clients and other brokers: those that are not the controller's."""
        return tuple(each for each in self.listeners if each.name not in self.controller_listener_names)

    @property
    def controller_listeners(self) -> tuple[Listener, ...]:
        return tuple(each for each in self.listeners if each.name in self.controller_listener_names)

    # What follows from several keys.

    def _find_node_id(self) -> int:
        node_id, broker_id = self.values.get("node.id"), self.values.get("broker.id")
        if broker_id == -1:
            broker_id = None
        if node_id is not None and broker_id is not None and node_id != broker_id:
            raise ConfigError(
                f"node.id is {node_id} and broker.id is {broker_id}: set only node.id", "node.id"
            )
        found = node_id if node_id is not None else broker_id
        assert found is None or isinstance(found, int)
        return DEFAULT_NODE_ID if found is None else found

    def _find_protocols(self) -> Mapping[str, SecurityProtocol]:
        protocols = dict(parse_protocol_map(self.get_str("listener.security.protocol.map")))
        if "listener.security.protocol.map" not in self.values and all(
            protocols.get(each.name, SecurityProtocol.PLAINTEXT) is SecurityProtocol.PLAINTEXT
            for each in self.listeners
        ):
            # Kafka's rule: with the default map and nothing secured, a controller's listener is plain text.
            for name in self.controller_listener_names:
                protocols.setdefault(name, SecurityProtocol.PLAINTEXT)
        for listener in self.listeners:
            if listener.name not in protocols:
                raise ConfigError(
                    f"listeners: no security protocol is known for the listener {listener.name}; add"
                    f" {listener.name}:PLAINTEXT (or SSL, SASL_PLAINTEXT, SASL_SSL) to"
                    " listener.security.protocol.map",
                    "listener.security.protocol.map",
                )
        return protocols

    def _find_advertised(self) -> tuple[Listener, ...]:
        texts = self.get_list("advertised.listeners")
        if not texts:
            return tuple(each for each in self.listeners if each.name not in self.controller_listener_names)
        key = "advertised.listeners"
        advertised = parse_listeners(texts, key)
        names = {each.name for each in self.listeners}
        for listener in advertised:
            if listener.host in ("0.0.0.0", "::"):
                raise ConfigError(
                    f"{key}: clients cannot reach {listener.host}; give a host name or address", key
                )
            if listener.name not in names and listener.name not in self.controller_listener_names:
                raise ConfigError(
                    f"{key} has the listener {listener.name}, which listeners does not have:"
                    f" {', '.join(sorted(names))}",
                    key,
                )
        return tuple(each for each in advertised if each.name not in self.controller_listener_names)

    def _find_inter_broker_listener_name(self) -> str:
        key = "inter.broker.listener.name"
        name = self.value(key)
        if name is not None and "security.inter.broker.protocol" in self.values:
            raise ConfigError(f"set only one of {key} and security.inter.broker.protocol", key)
        if name is None:
            name, key = self.get_str("security.inter.broker.protocol"), "security.inter.broker.protocol"
        assert isinstance(name, str)
        name = name.upper()
        names = [each.name for each in self.advertised_listeners]
        if self.is_broker and name not in names:
            raise ConfigError(
                f"the brokers' listener {name} (from {key}) is not among the advertised listeners"
                f" {', '.join(names) or '(none)'}; set inter.broker.listener.name to one of them",
                key,
            )
        return name

    def _find_voters(self) -> tuple[Voter, ...]:
        key = "controller.quorum.voters"
        voters = parse_voters(self.get_list(key))
        ids = sorted(voter.node_id for voter in voters)
        if not self.roles:
            raise ConfigError("process.roles is empty: set broker, controller or both", "process.roles")
        if voters and self.is_controller and self.node_id not in ids:
            raise ConfigError(
                f"{key} has the ids {ids}, but not this controller's node.id {self.node_id}", key
            )
        if voters and not self.is_controller and self.node_id in ids:
            raise ConfigError(
                f"{key} has this node's id {self.node_id}, but process.roles says broker only", key
            )
        if not self.is_controller and not voters and not self.get_list("controller.quorum.bootstrap.servers"):
            raise ConfigError(
                f"a node that is only a broker needs {key} or controller.quorum.bootstrap.servers", key
            )
        return voters

    def _parse_overrides(self) -> Mapping[str, int]:
        key = "max.connections.per.ip.overrides"
        overrides: dict[str, int] = {}
        for pair in self.get_str(key).split(","):
            pair = pair.strip()
            if not pair:
                continue
            host, separator, count = pair.rpartition(":")
            if not separator or not host.strip() or not count.strip().isdecimal():
                raise ConfigError(f"Invalid value {pair!r} for configuration {key}: expected host:count", key)
            overrides[host.strip()] = int(count)
        return overrides

    def _check_together(self) -> None:
        names = {each.name for each in self.listeners}
        missing = [name for name in self.controller_listener_names if name not in names]
        if self.is_controller and missing:
            raise ConfigError(
                f"controller.listener.names has {', '.join(missing)}, which listeners does not have:"
                f" {', '.join(sorted(names))}",
                "controller.listener.names",
            )
        if not self.is_controller and self.controller_listeners:
            raise ConfigError(
                f"listeners has the controller's listener {self.controller_listeners[0].name}, but"
                " process.roles says broker only",
                "listeners",
            )
        if self.get_str("authorizer.class.name") and not BROKER_KEYS["authorizer.class.name"].honoured:
            raise ConfigError(
                "authorizer.class.name is set, but this version cannot enforce access rules: leave it empty"
                " and protect the port by other means",
                "authorizer.class.name",
            )
        wait_ms = self.get_int("replica.fetch.wait.max.ms")
        for name in ("replica.socket.timeout.ms", "replica.lag.time.max.ms"):
            if wait_ms > self.get_int(name):
                raise ConfigError(
                    f"replica.fetch.wait.max.ms ({wait_ms}) is greater than {name} ({self.get_int(name)})",
                    "replica.fetch.wait.max.ms",
                )
        if self.get_int("log.cleaner.min.compaction.lag.ms") > self.get_int(
            "log.cleaner.max.compaction.lag.ms"
        ):
            raise ConfigError(
                "log.cleaner.min.compaction.lag.ms is greater than log.cleaner.max.compaction.lag.ms",
                "log.cleaner.min.compaction.lag.ms",
            )
        threads = self.get_int("log.cleaner.threads")
        if threads > 0 and self.get_int("log.cleaner.dedupe.buffer.size") // threads <= 1024 * 1024:
            raise ConfigError(
                "log.cleaner.dedupe.buffer.size has to be more than 1 MiB for each of log.cleaner.threads",
                "log.cleaner.dedupe.buffer.size",
            )
        check_broker(self.get_int, self.get_list("group.consumer.assignors"))
