"""The table of keys: each declared once, with Kafka's names, defaults and bounds (STYLE.md, principle 10)."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from ottla.model.config import (
    BROKER_KEYS,
    GROUP_KEYS,
    TOPIC_KEYS,
    broker_key,
    parse_topic_configs,
    unknown_key_message,
)
from ottla.model.config_key import ConfigError, ConfigType, Password
from ottla.model.config_keys_coordinators import COORDINATOR_KEYS
from ottla.model.config_keys_log import LOG_KEYS
from ottla.model.config_keys_node import NODE_KEYS
from ottla.model.config_keys_security import SECURITY_KEYS
from ottla.model.log_config import LogConfig

ALL_KEYS = [*BROKER_KEYS.values(), *TOPIC_KEYS.values(), *GROUP_KEYS.values()]


def test_no_broker_key_is_declared_twice() -> None:
    declared = len(NODE_KEYS) + len(LOG_KEYS) + len(COORDINATOR_KEYS) + len(SECURITY_KEYS)
    assert declared == len(BROKER_KEYS)


@pytest.mark.parametrize("key", ALL_KEYS, ids=lambda key: key.name)
def test_every_default_is_a_value_that_the_key_itself_accepts(key: Any) -> None:
    assert key.doc.endswith(".") and key.doc[0].isupper()
    if key.default is None or key.name == "node.id":  # no default; -1 stands for "not set"
        return
    text = key.default_text
    if key.type is ConfigType.LIST and not key.default:
        text = ""
    assert key.parse(text) == key.default


def test_every_synonym_is_a_broker_key() -> None:
    for key in ALL_KEYS:
        for synonym in key.synonyms:
            assert synonym in BROKER_KEYS


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("num.partitions", 1),
        ("log.segment.bytes", 1_073_741_824),
        ("log.retention.hours", 168),
        ("log.retention.ms", None),
        ("message.max.bytes", 1_048_588),
        ("socket.request.max.bytes", 104_857_600),
        ("fetch.max.bytes", 57_671_680),
        ("offsets.topic.num.partitions", 50),
        ("producer.id.expiration.ms", 86_400_000),
        ("auto.create.topics.enable", True),
        ("log.cleanup.policy", ("delete",)),
        ("listeners", ("PLAINTEXT://:9092",)),
        ("log.cleaner.min.cleanable.ratio", 0.5),
    ],
)
def test_defaults_are_those_of_kafka_4_2(name: str, default: object) -> None:
    assert BROKER_KEYS[name].default == default


def test_the_topic_defaults_are_those_of_the_log() -> None:
    log_config = LogConfig()
    for key in TOPIC_KEYS.values():
        field = key.name.replace(".", "_")
        if field == "cleanup_policy":
            assert log_config.cleanup_policy == frozenset(("delete",))
        elif hasattr(log_config, field):
            assert getattr(log_config, field) == key.default, key.name


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("segment.bytes", " 2000000 ", 2_000_000),
        ("segment.bytes", "+2000000", 2_000_000),
        ("retention.ms", "-1", -1),
        ("retention.bytes", "-5", -5),
        ("preallocate", "TRUE", True),
        ("cleanup.policy", " compact , delete ", ("compact", "delete")),
        ("cleanup.policy", "compact,compact", ("compact",)),
        ("cleanup.policy", "", ()),
        ("min.cleanable.dirty.ratio", "1e-1", 0.1),
        ("compression.gzip.level", "-1", -1),
        ("leader.replication.throttled.replicas", "*", ("*",)),
        ("leader.replication.throttled.replicas", "0:1,1:2", ("0:1", "1:2")),
    ],
)
def test_a_good_value_is_read_as_kafka_reads_it(name: str, text: str, value: object) -> None:
    assert parse_topic_configs({name: text}) == {name: value}


@pytest.mark.parametrize(
    ("name", "text", "bounds"),
    [
        ("segment.bytes", "10", "from 1048576 to 2147483647"),
        ("segment.bytes", "abc", "a whole number"),
        ("segment.bytes", "99999999999", "from 1048576 to 2147483647"),
        ("segment.bytes", "", "a whole number"),
        ("segment.bytes", "1_048_576", "a whole number"),
        ("retention.ms", "-2", "from -1 to"),
        ("compression.type", "GZIP", "uncompressed, zstd, lz4, snappy, gzip, producer"),
        ("compression.gzip.level", "0", "from 1 to 9, or -1"),
        ("min.cleanable.dirty.ratio", "2", "from 0 to 1"),
        ("min.cleanable.dirty.ratio", "NaN", "a number"),
        ("preallocate", "yes", "true or false"),
        ("cleanup.policy", "Delete", "compact, delete"),
        ("cleanup.policy", "compact,,delete", "empty"),
        ("leader.replication.throttled.replicas", "0:1,x", "partition:broker"),
        ("message.timestamp.type", "createtime", "CreateTime, LogAppendTime"),
    ],
)
def test_a_bad_value_is_an_error_that_names_key_value_and_bounds(name: str, text: str, bounds: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_topic_configs({name: text})
    assert caught.value.key == name
    assert name in caught.value.message
    assert repr(text) in caught.value.message
    assert bounds in caught.value.message


def test_an_unknown_topic_key_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match=r"did you mean retention\.ms"):
        parse_topic_configs({"retention.m": "5"})


def test_compaction_lags_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"greater than max\.compaction\.lag\.ms"):
        parse_topic_configs({"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("log.retention.hour", "did you mean log.retention.hours?"),
        ("retention.ms", "a broker's is log.retention.ms"),
        ("zookeeper.connect", "older Kafka"),
        ("my.own.thing.entirely", "is ignored"),
    ],
)
def test_an_unknown_broker_key_gets_a_warning_that_helps(name: str, expected: str) -> None:
    assert expected in unknown_key_message(name)


def test_a_key_under_a_listener_has_the_declaration_of_the_key() -> None:
    assert broker_key("listener.name.internal.ssl.keystore.location") is BROKER_KEYS["ssl.keystore.location"]
    assert (
        broker_key("listener.name.internal.scram-sha-256.sasl.jaas.config") is BROKER_KEYS["sasl.jaas.config"]
    )
    assert broker_key("listener.name.internal.nonsense") is None


def test_a_password_never_shows() -> None:
    key = BROKER_KEYS["ssl.key.password"]
    value = key.parse("secret")
    assert isinstance(value, Password) and value.secret == "secret"
    assert "secret" not in f"{value} {value!r}"
    assert key.format(value) is None
    assert key.sensitive


def test_a_long_value_is_cut_in_the_error_message() -> None:
    with pytest.raises(ConfigError) as caught:
        TOPIC_KEYS["segment.bytes"].parse("x" * 1_000_000)
    assert len(caught.value.message) < 500


def test_importing_a_key_does_not_import_the_tables() -> None:
    """The command line must start fast: only those who configure a broker pay for the tables."""
    code = "import sys, ottla.model.config_key; print([m for m in sys.modules if 'config_keys' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
