"""server.properties as a whole: Kafka's rules for roles, listeners, voters, and what becomes of mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.model.config import BROKER_KEYS
from ottla.model.config_key import ConfigError
from ottla.model.listeners import Listener, SecurityProtocol, Voter, parse_listeners, parse_voters
from ottla.model.properties import decode_properties
from ottla.model.server_config import ServerConfig

CONFIG = Path(__file__).parents[3] / "config"
KRAFT = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.voters": "1@localhost:9093",
    "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "controller.listener.names": "CONTROLLER",
}


def test_an_empty_file_is_a_whole_cluster_of_one_node() -> None:
    server = ServerConfig({})
    assert server.node_id == 1
    assert server.roles == {"broker", "controller"}
    assert server.is_alone
    assert server.listeners == (Listener("PLAINTEXT", "", 9092),)
    assert server.advertised_listeners == server.listeners
    assert server.inter_broker_listener_name == "PLAINTEXT"
    assert server.log_dirs == ("/tmp/kafka-logs",)
    assert server.metadata_log_dir == "/tmp/kafka-logs"
    assert server.warnings == []


def test_a_kraft_file_separates_the_controllers_listener_from_the_brokers() -> None:
    server = ServerConfig(KRAFT)
    assert server.broker_listeners == (Listener("PLAINTEXT", "", 9092),)
    assert server.controller_listeners == (Listener("CONTROLLER", "", 9093),)
    assert server.voters == (Voter(1, "localhost", 9093),)
    assert server.protocols["CONTROLLER"] is SecurityProtocol.PLAINTEXT
    assert server.advertised_listeners == (Listener("PLAINTEXT", "", 9092),)
    assert server.is_alone


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"listeners": "PLAINTEXT://:9092,PLAINTEXT://:9093"}, "name of its own"),
        ({"listeners": "PLAINTEXT://:9092,CONTROLLER://:9092"}, "same port"),
        ({"listeners": "FOO://:9092,CONTROLLER://:9093"}, "no security protocol"),
        ({"listeners": "PLAINTEXT:9092"}, "expected NAME://host:port"),
        ({"listeners": "PLAINTEXT://:99999,CONTROLLER://:9093"}, "0 to 65535"),
        ({"listeners": ""}, "not empty"),
        ({"advertised.listeners": "PLAINTEXT://0.0.0.0:9092"}, "clients cannot reach"),
        ({"advertised.listeners": "FOO://h:9092"}, "which listeners does not have"),
        ({"process.roles": "broker"}, "says broker only"),
        ({"process.roles": ""}, "broker, controller"),
        ({"process.roles": "zookeeper"}, "broker, controller"),
        ({"controller.quorum.voters": "2@localhost:9093"}, "not this controller's node.id 1"),
        ({"controller.quorum.voters": "x@y"}, "expected id@host:port"),
        ({"controller.quorum.voters": "1@a:1,1@b:1"}, "id of its own"),
        ({"controller.listener.names": "CONTROLLER,OTHER"}, "which listeners does not have"),
        ({"node.id": "-1"}, "from 0 to"),
        ({"broker.id": "2"}, "set only node.id"),
        ({"log.retention.ms": "0"}, "or -1"),
        ({"log.roll.ms": "0"}, "from 1 to"),
        ({"log.dirs": ""}, "not empty"),
        ({"offsets.topic.compression.codec": "9"}, "from 0 to 4"),
        ({"max.connections.per.ip.overrides": "a:1,b"}, "expected host:count"),
        ({"listener.security.protocol.map": "PLAINTEXT:FOO"}, "PLAINTEXT, SSL"),
        ({"listener.security.protocol.map": "A:SSL,A:SSL"}, "given twice"),
        ({"inter.broker.listener.name": "X"}, "set inter.broker.listener.name to one of them"),
        (
            {"inter.broker.listener.name": "PLAINTEXT", "security.inter.broker.protocol": "PLAINTEXT"},
            "only one of",
        ),
        ({"replica.fetch.wait.max.ms": "40000"}, "greater than replica.socket.timeout.ms"),
        ({"num.partitions": "0"}, "from 1 to"),
        ({"compression.type": "none"}, "uncompressed"),
        (
            {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"},
            "cannot enforce",
        ),
        ({"listener.name.plaintext.ssl.client.auth": "maybe"}, "listener.name.plaintext.ssl.client.auth"),
    ],
)
def test_a_file_that_cannot_work_is_refused_with_the_reason(changes: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ServerConfig({**KRAFT, **changes})
    assert message in caught.value.message
    assert "\n" not in caught.value.message


def test_a_broker_alone_needs_to_know_its_controllers() -> None:
    with pytest.raises(ConfigError, match=r"needs controller\.quorum\.voters"):
        ServerConfig({"process.roles": "broker"})
    server = ServerConfig(
        {"process.roles": "broker", "node.id": "2", "controller.quorum.voters": "1@localhost:9093"}
    )
    assert not server.is_alone and not server.is_controller


def test_an_unknown_key_does_not_stop_the_start() -> None:
    server = ServerConfig({"log.retention.hour": "1", "rsm.config.bucket": "x", "num.io.threads": "8"})
    assert server.warnings == [
        "unknown configuration log.retention.hour is ignored; did you mean log.retention.hours?"
    ]
    assert server.without_effect == ["num.io.threads"]


def test_overrides_of_connections_per_address_are_read() -> None:
    server = ServerConfig({"max.connections.per.ip.overrides": "localhost:1, 127.0.0.1:3"})
    assert server.max_connections_per_ip_overrides == {"localhost": 1, "127.0.0.1": 3}


def test_listeners_with_ipv6_addresses_are_read_and_written() -> None:
    (listener,) = parse_listeners(["internal://[::1]:9092"])
    assert listener == Listener("INTERNAL", "::1", 9092)
    assert str(listener) == "INTERNAL://[::1]:9092"
    assert parse_voters(["3@[::1]:9093"]) == (Voter(3, "::1", 9093),)


def test_one_port_serves_both_kinds_of_address() -> None:
    server = ServerConfig(
        {
            "listeners": "PLAINTEXT://0.0.0.0:9092,SIX://[::]:9092",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SIX:PLAINTEXT",
        }
    )
    assert len(server.listeners) == 2


@pytest.mark.parametrize(
    "name",
    [
        "server.properties",
        "kraft/server.properties",
        "kraft/broker.properties",
        "kraft/controller.properties",
    ],
)
def test_the_files_we_ship_are_right(name: str) -> None:
    server = ServerConfig(decode_properties((CONFIG / name).read_bytes()))
    assert server.warnings == []


def test_the_quickstart_file_is_the_one_that_the_quickstart_needs() -> None:
    """Seed 003: data in /tmp/kraft-combined-logs, a broker on 9092 that is its own controller."""
    server = ServerConfig(decode_properties((CONFIG / "kraft/server.properties").read_bytes()))
    assert server.log_dirs == ("/tmp/kraft-combined-logs",)
    assert server.is_alone
    assert [each.port for each in server.broker_listeners] == [9092]
    assert server.get_int("offsets.topic.replication.factor") == 1


def test_the_complete_file_mentions_every_key_that_has_an_effect() -> None:
    text = (CONFIG / "server.properties").read_text()
    for key in BROKER_KEYS.values():
        if key.honoured and not key.internal:
            assert f"{key.name}=" in text, key.name
