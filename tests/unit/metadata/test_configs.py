"""IncrementalAlterConfigs, AlterConfigs, and the layers that DescribeConfigs shows."""

from __future__ import annotations

import pytest
from metadata_cluster import Cluster

from ottla.metadata.config import ConfigSource, ConfigView
from ottla.metadata.configs import APPEND, DELETE, SET, SUBTRACT
from ottla.metadata.image import BROKER_RESOURCE, EMPTY_IMAGE, GROUP_RESOURCE, TOPIC_RESOURCE
from ottla.model.config_key import ConfigType
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.log_config import LogConfig
from ottla.model.server_config import ServerConfig
from ottla.wire.messages import alter_configs as legacy
from ottla.wire.messages import incremental_alter_configs as incremental

Change = tuple[str, int, str | None]


def resource(kind: int, name: str, *changes: Change) -> incremental.AlterConfigsResource:
    return incremental.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            incremental.AlterableConfig(name=key, config_operation=operation, value=value)
            for key, operation, value in changes
        ],
    )


def alter(cluster: Cluster, kind: int, name: str, *changes: Change) -> tuple[ErrorCode, str]:
    decision = cluster.controller.incremental_alter_configs(
        incremental.IncrementalAlterConfigsRequest(resources=[resource(kind, name, *changes)])
    )
    cluster.apply(decision)
    (response,) = decision.response.responses
    return ErrorCode(response.error_code), response.error_message or ""


def test_set_and_delete_change_a_topics_log_config() -> None:
    cluster = Cluster()
    cluster.create("a")
    assert cluster.view.topic_log_config("a") == LogConfig()
    assert alter(cluster, TOPIC_RESOURCE, "a", ("retention.ms", SET, "1000")) == (ErrorCode.NONE, "")
    assert cluster.view.topic_log_config("a").retention_ms == 1000
    assert cluster.delta is not None and cluster.delta.changed_configs == {(TOPIC_RESOURCE, "a")}
    alter(cluster, TOPIC_RESOURCE, "a", ("retention.ms", DELETE, None))
    assert cluster.view.topic_log_config("a") == LogConfig()
    assert (TOPIC_RESOURCE, "a") not in cluster.image.configs


def test_append_and_subtract_change_a_list_that_may_be_inherited() -> None:
    cluster = Cluster()
    cluster.create("a")
    alter(cluster, TOPIC_RESOURCE, "a", ("cleanup.policy", APPEND, "compact"))
    assert cluster.image.config(TOPIC_RESOURCE, "a") == {"cleanup.policy": "delete,compact"}
    alter(cluster, TOPIC_RESOURCE, "a", ("cleanup.policy", APPEND, "compact"))
    assert cluster.image.config(TOPIC_RESOURCE, "a") == {"cleanup.policy": "delete,compact"}
    alter(cluster, TOPIC_RESOURCE, "a", ("cleanup.policy", SUBTRACT, "delete"))
    assert cluster.view.topic_log_config("a").cleanup_policy == {"compact"}


def test_a_value_that_stays_the_same_writes_no_record() -> None:
    cluster = Cluster()
    cluster.create("a", configs={"retention.ms": "5"})
    decision = cluster.controller.incremental_alter_configs(
        incremental.IncrementalAlterConfigsRequest(
            resources=[resource(TOPIC_RESOURCE, "a", ("retention.ms", SET, "5"), ("flush.ms", DELETE, None))]
        )
    )
    assert decision.response.responses[0].error_code == 0
    assert decision.records == []


@pytest.mark.parametrize(
    ("kind", "name", "change", "code", "message"),
    [
        (TOPIC_RESOURCE, "x", ("retention.ms", SET, "1"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "not exist"),
        (TOPIC_RESOURCE, "a/b", ("retention.ms", SET, "1"), ErrorCode.INVALID_TOPIC_EXCEPTION, "ASCII"),
        (TOPIC_RESOURCE, "a", ("retention.mss", SET, "1"), ErrorCode.INVALID_CONFIG, "did you mean"),
        (TOPIC_RESOURCE, "a", ("retention.ms", SET, "-2"), ErrorCode.INVALID_CONFIG, "from -1"),
        (TOPIC_RESOURCE, "a", ("retention.ms", SET, None), ErrorCode.INVALID_REQUEST, "Null value"),
        (TOPIC_RESOURCE, "a", ("retention.ms", APPEND, "1"), ErrorCode.INVALID_CONFIG, "not LIST"),
        (TOPIC_RESOURCE, "a", ("retention.ms", 9, "1"), ErrorCode.INVALID_REQUEST, "operation 9"),
        (
            TOPIC_RESOURCE,
            "a",
            ("cleanup.policy", APPEND, "shred"),
            ErrorCode.INVALID_CONFIG,
            "compact, delete",
        ),
        (TOPIC_RESOURCE, "a", ("compression.type", SET, "x" * 40_000), ErrorCode.INVALID_CONFIG, "32767"),
        (BROKER_RESOURCE, "9", ("log.retention.ms", SET, "1"), ErrorCode.BROKER_ID_NOT_REGISTERED, "id 9"),
        (BROKER_RESOURCE, "one", ("log.retention.ms", SET, "1"), ErrorCode.INVALID_REQUEST, "node id"),
        (BROKER_RESOURCE, "1", ("log.dirs", SET, "/x"), ErrorCode.INVALID_REQUEST, "restart"),
        (BROKER_RESOURCE, "1", ("log.retention.mss", SET, "1"), ErrorCode.INVALID_REQUEST, "did you mean"),
        (BROKER_RESOURCE, "1", ("log.retention.ms", SET, "x"), ErrorCode.INVALID_REQUEST, "whole number"),
        (BROKER_RESOURCE, "", ("listeners", SET, "A://:1"), ErrorCode.INVALID_REQUEST, "name a broker"),
        (
            BROKER_RESOURCE,
            "1",
            ("ssl.keystore.location", SET, "x"),
            ErrorCode.INVALID_REQUEST,
            "listener.name",
        ),
        (GROUP_RESOURCE, "", ("consumer.session.timeout.ms", SET, "1"), ErrorCode.INVALID_REQUEST, "group"),
        (GROUP_RESOURCE, "g", ("nonsense", SET, "1"), ErrorCode.INVALID_CONFIG, "Unknown group config"),
        (16, "m", ("interval.ms", SET, "1"), ErrorCode.INVALID_REQUEST, "type 16"),
        (99, "m", ("x", SET, "1"), ErrorCode.INVALID_REQUEST, "type 99"),
    ],
)
def test_a_change_that_cannot_be_gets_kafkas_error_and_no_record(
    kind: int, name: str, change: Change, code: ErrorCode, message: str
) -> None:
    cluster = Cluster()
    cluster.create("a")
    before = cluster.image.configs
    found, text = alter(cluster, kind, name, change)
    assert found is code
    assert message in text
    assert cluster.image.configs == before


def test_resources_succeed_and_fail_alone() -> None:
    cluster = Cluster()
    cluster.create("a")
    decision = cluster.controller.incremental_alter_configs(
        incremental.IncrementalAlterConfigsRequest(
            resources=[
                resource(TOPIC_RESOURCE, "x", ("retention.ms", SET, "1")),
                resource(TOPIC_RESOURCE, "a", ("retention.ms", SET, "1")),
                resource(BROKER_RESOURCE, "1", ("log.retention.ms", SET, "1")),
                resource(BROKER_RESOURCE, "1", ("log.retention.ms", SET, "2")),
            ]
        )
    )
    assert [(each.resource_name, each.error_code) for each in decision.response.responses] == [
        ("x", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("a", 0),
        ("1", ErrorCode.INVALID_REQUEST),
    ]
    assert len(decision.records) == 1


def test_one_key_twice_in_a_resource_is_refused() -> None:
    cluster = Cluster()
    cluster.create("a")
    code, message = alter(cluster, TOPIC_RESOURCE, "a", ("flush.ms", SET, "1"), ("flush.ms", DELETE, None))
    assert code is ErrorCode.INVALID_REQUEST and "duplicate" in message


def test_validate_only_changes_nothing() -> None:
    cluster = Cluster()
    cluster.create("a")
    decision = cluster.controller.incremental_alter_configs(
        incremental.IncrementalAlterConfigsRequest(
            resources=[resource(TOPIC_RESOURCE, "a", ("flush.ms", SET, "1"))], validate_only=True
        )
    )
    assert decision.response.responses[0].error_code == 0
    assert decision.records == []


def test_the_older_api_replaces_everything() -> None:
    cluster = Cluster()
    cluster.create("a", configs={"retention.ms": "5", "flush.ms": "6"})
    decision = cluster.controller.alter_configs(
        legacy.AlterConfigsRequest(
            resources=[
                legacy.AlterConfigsResource(
                    resource_type=TOPIC_RESOURCE,
                    resource_name="a",
                    configs=[
                        legacy.AlterableConfig(name="flush.ms", value="7"),
                        legacy.AlterableConfig(name="segment.ms", value="8"),
                    ],
                )
            ]
        )
    )
    cluster.apply(decision)
    assert decision.response.responses[0].error_code == 0
    assert cluster.image.config(TOPIC_RESOURCE, "a") == {"flush.ms": "7", "segment.ms": "8"}


# Layers


def test_a_brokers_value_comes_from_the_nearest_layer() -> None:
    cluster = Cluster(properties={"log.retention.ms": "3", "message.max.bytes": "100"})
    view = lambda: cluster.view  # noqa: E731
    assert view().broker_value("log.retention.ms") == 3
    alter(cluster, BROKER_RESOURCE, "", ("log.retention.ms", SET, "2"), ("message.max.bytes", SET, "200"))
    assert view().broker_value("log.retention.ms") == 2
    alter(cluster, BROKER_RESOURCE, "1", ("log.retention.ms", SET, "1"))
    assert view().broker_value("log.retention.ms") == 1
    assert view().broker_value("message.max.bytes") == 200
    cluster.create("a")
    cluster.create("b", configs={"retention.ms": "0"})
    assert view().topic_log_config("a").retention_ms == 1
    assert view().topic_log_config("b").retention_ms == 0
    assert view().topic_log_config("b").max_message_bytes == 200
    alter(cluster, BROKER_RESOURCE, "1", ("log.retention.ms", DELETE, None))
    assert view().topic_log_config("a").retention_ms == 2


@pytest.mark.parametrize(
    ("properties", "retention_ms"),
    [
        ({}, 604_800_000),
        ({"log.retention.hours": "1"}, 3_600_000),
        ({"log.retention.hours": "1", "log.retention.minutes": "2"}, 120_000),
        ({"log.retention.hours": "1", "log.retention.minutes": "2", "log.retention.ms": "3"}, 3),
        ({"log.retention.hours": "-1"}, -1),
        ({"log.retention.hours": "1", "log.retention.ms": "-1"}, -1),
    ],
)
def test_milliseconds_go_before_minutes_before_hours(properties: dict[str, str], retention_ms: int) -> None:
    view = ConfigView(ServerConfig(properties), EMPTY_IMAGE)
    assert view.topic_log_config("any").retention_ms == retention_ms


def test_rolling_and_flushing_have_their_synonyms_too() -> None:
    view = ConfigView(
        ServerConfig(
            {"log.roll.hours": "2", "log.roll.jitter.hours": "1", "log.flush.scheduler.interval.ms": "77"}
        ),
        EMPTY_IMAGE,
    )
    config = view.topic_log_config("any")
    assert (config.segment_ms, config.segment_jitter_ms, config.flush_ms) == (7_200_000, 3_600_000, 77)


def test_topics_that_say_the_same_share_one_log_config_across_images() -> None:
    cluster = Cluster()
    cluster.create("a", configs={"retention.ms": "5"})
    first = cluster.view.topic_log_config("a")
    cluster.create("b", configs={"retention.ms": "5"})
    assert cluster.view.topic_log_config("b") is first
    alter(cluster, BROKER_RESOURCE, "", ("log.segment.bytes", SET, "2000000"))
    assert cluster.view.topic_log_config("b").segment_bytes == 2_000_000


def test_a_stored_value_that_this_version_refuses_falls_back_to_the_next_layer() -> None:
    from ottla.wire.messages.cluster_metadata import ConfigRecord

    cluster = Cluster()
    cluster.create("a")
    cluster.replay(
        [
            ConfigRecord(resource_type=TOPIC_RESOURCE, resource_name="a", name="retention.ms", value="soon"),
            ConfigRecord(
                resource_type=BROKER_RESOURCE, resource_name="", name="log.flush.interval.ms", value="x"
            ),
        ]
    )
    assert cluster.view.topic_log_config("a") == LogConfig()
    assert cluster.view.topic_value("a", "retention.ms") == 604_800_000


# Descriptions


def test_a_topics_description_says_where_each_value_comes_from() -> None:
    cluster = Cluster(properties={"log.retention.hours": "1", "compression.type": "lz4"})
    cluster.create("a", configs={"segment.bytes": "2000000"})
    alter(cluster, BROKER_RESOURCE, "", ("message.max.bytes", SET, "200"))
    entries = {entry.name: entry for entry in cluster.view.describe_topic("a", synonyms=True, docs=True)}
    own = entries["segment.bytes"]
    assert (own.value, own.source, own.read_only) == ("2000000", ConfigSource.DYNAMIC_TOPIC_CONFIG, False)
    assert [each.name for each in own.synonyms] == ["segment.bytes", "log.segment.bytes"]
    assert own.type is ConfigType.INT and own.doc
    assert entries["compression.type"].source is ConfigSource.STATIC_BROKER_CONFIG
    assert entries["compression.type"].value == "lz4"
    assert entries["max.message.bytes"].source is ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG
    assert entries["max.message.bytes"].value == "200"
    assert entries["retention.ms"].value == "3600000"
    assert entries["retention.ms"].synonyms[0] == (
        "log.retention.hours",
        "1",
        ConfigSource.STATIC_BROKER_CONFIG,
    )
    assert entries["cleanup.policy"].source is ConfigSource.DEFAULT_CONFIG
    assert entries["min.cleanable.dirty.ratio"].value == "0.5"


def test_a_description_can_be_of_some_keys_only() -> None:
    cluster = Cluster()
    cluster.create("a")
    entries = cluster.view.describe_topic("a", ["retention.ms", "no.such.key"])
    assert [(entry.name, entry.synonyms, entry.doc) for entry in entries] == [("retention.ms", (), None)]
    entries = cluster.view.describe_broker("1", ["log.dirs", "log.retention.ms"])
    assert sorted(entry.name for entry in entries) == ["log.dirs", "log.retention.ms"]


def test_a_brokers_description_hides_secrets_and_knows_what_is_read_only() -> None:
    cluster = Cluster(
        properties={
            "ssl.key.password": "hunter2",
            "some.unknown.password": "hunter2",
            "listener.name.plaintext.ssl.keystore.password": "hunter2",
            "log.dirs": "/data/a,/data/b",
        }
    )
    alter(cluster, BROKER_RESOURCE, "1", ("log.retention.ms", SET, "9"))
    described = cluster.view.describe_broker("1", synonyms=True)
    assert "hunter2" not in repr(described)
    entries = {entry.name: entry for entry in described}
    for name in (
        "ssl.key.password",
        "some.unknown.password",
        "listener.name.plaintext.ssl.keystore.password",
    ):
        assert entries[name].sensitive and entries[name].value is None
    assert entries["log.dirs"].value == "/data/a,/data/b"
    assert entries["log.dirs"].read_only
    assert entries["log.dirs"].source is ConfigSource.STATIC_BROKER_CONFIG
    changed = entries["log.retention.ms"]
    assert (changed.value, changed.read_only, changed.source) == (
        "9",
        False,
        ConfigSource.DYNAMIC_BROKER_CONFIG,
    )
    assert entries["num.partitions"].source is ConfigSource.DEFAULT_CONFIG
    assert entries["log.cleaner.io.max.bytes.per.second"].value == "1.7976931348623157E308"


def test_the_empty_broker_name_shows_only_what_all_brokers_share() -> None:
    cluster = Cluster()
    assert cluster.view.describe_broker("") == []
    alter(cluster, BROKER_RESOURCE, "", ("log.retention.ms", SET, "9"))
    (entry,) = cluster.view.describe_broker("", synonyms=True)
    assert (entry.name, entry.value, entry.source) == (
        "log.retention.ms",
        "9",
        ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG,
    )


def test_another_brokers_configs_are_not_described_here() -> None:
    with pytest.raises(KafkaError, match="expected 1 or empty string"):
        Cluster().view.describe_broker("2")


def test_a_group_has_configs_of_its_own() -> None:
    cluster = Cluster(properties={"group.consumer.session.timeout.ms": "46000"})
    alter(cluster, GROUP_RESOURCE, "g", ("consumer.heartbeat.interval.ms", SET, "6000"))
    entries = {entry.name: entry for entry in cluster.view.describe_group("g")}
    assert entries["consumer.heartbeat.interval.ms"].value == "6000"
    assert entries["consumer.heartbeat.interval.ms"].source is ConfigSource.GROUP_CONFIG
    assert entries["consumer.session.timeout.ms"].value == "46000"
