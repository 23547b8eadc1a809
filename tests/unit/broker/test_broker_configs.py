"""Configuration through the broker: changes take effect without a restart and survive one; and the APIs that
describe it (keys 32, 33, 44, 74), the directories (35) and the features (57).
"""

from __future__ import annotations

from typing import Any

import pytest
from broker_bench import BROKER_RESOURCE, NODE_ID, TOPIC_RESOURCE, Bench, batch, produce_request, versions_of

from ottla.metadata.config import ConfigSource
from ottla.metadata.features import METADATA_VERSION, METADATA_VERSION_HIGH, METADATA_VERSION_LOW
from ottla.model.errors import ErrorCode
from ottla.wire.messages import alter_configs as legacy
from ottla.wire.messages import incremental_alter_configs as incremental
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from ottla.wire.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from ottla.wire.messages.list_config_resources import ListConfigResourcesRequest
from ottla.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest

LOGGER, CLIENT_METRICS, GROUP = 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.create("events")
    return bench


def change(
    bench: Bench,
    kind: int,
    name: str,
    *changes: tuple[str, int, str | None],
    version: int = 1,
    **options: Any,
) -> ErrorCode:
    request = incremental.IncrementalAlterConfigsRequest(
        resources=[
            incremental.AlterConfigsResource(
                resource_type=kind,
                resource_name=name,
                configs=[
                    incremental.AlterableConfig(name=key, config_operation=operation, value=value)
                    for key, operation, value in changes
                ],
            )
        ],
        **options,
    )
    (answer,) = bench.call(request, version).responses
    assert (answer.resource_type, answer.resource_name) == (kind, name)
    return ErrorCode(answer.error_code)


def describe(bench: Bench, kind: int, name: str, keys: Any = None, version: int = 4, **options: Any) -> Any:
    request = DescribeConfigsRequest(
        resources=[DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)],
        **options,
    )
    (answer,) = bench.call(request, version).results
    return answer


def described(bench: Bench, kind: int, name: str, key: str) -> tuple[str | None, int]:
    (entry,) = describe(bench, kind, name, [key]).configs
    return entry.value, entry.config_source


# --- changes


@pytest.mark.parametrize("version", versions_of(incremental.IncrementalAlterConfigsRequest))
def test_a_topics_config_is_set_changed_and_deleted_while_it_is_used(bench: Bench, version: int) -> None:
    def alter(*changes: tuple[str, int, str | None]) -> ErrorCode:
        return change(bench, TOPIC_RESOURCE, "events", *changes, version=version)

    log = bench.log("events")
    assert alter(("retention.ms", SET, "77"), ("cleanup.policy", APPEND, "compact")) == 0
    assert log.config.retention_ms == 77
    assert log.config.cleanup_policy == {"delete", "compact"}
    assert alter(("cleanup.policy", SUBTRACT, "delete"), ("retention.ms", DELETE, None)) == 0
    assert log.config.cleanup_policy == {"compact"}
    assert log.config.retention_ms == 7 * 24 * 3600 * 1000
    assert alter(("retention.ms", SET, "x")) == ErrorCode.INVALID_CONFIG
    assert alter(("retentoin.ms", SET, "5")) == ErrorCode.INVALID_CONFIG
    assert alter(("retention.ms", APPEND, "5")) == ErrorCode.INVALID_CONFIG
    assert alter(("retention.ms", 9, "5")) == ErrorCode.INVALID_REQUEST
    assert alter(("retention.ms", SET, "5"), ("retention.ms", SET, "6")) == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("version", versions_of(legacy.AlterConfigsRequest))
def test_the_older_api_replaces_all_configs_of_a_resource(bench: Bench, version: int) -> None:
    bench.alter(TOPIC_RESOURCE, "events", retention_ms="5", segment_ms="9999")
    request = legacy.AlterConfigsRequest(
        resources=[
            legacy.AlterConfigsResource(
                resource_type=TOPIC_RESOURCE,
                resource_name="events",
                configs=[legacy.AlterableConfig(name="retention.ms", value="6")],
            )
        ]
    )
    (answer,) = bench.call(request, version).responses
    assert answer.error_code == 0
    assert bench.log("events").config.retention_ms == 6
    assert bench.log("events").config.segment_ms == 7 * 24 * 3600 * 1000


def test_a_check_changes_nothing(bench: Bench) -> None:
    assert change(bench, TOPIC_RESOURCE, "events", ("retention.ms", SET, "5"), validate_only=True) == 0
    assert bench.log("events").config.retention_ms != 5


def test_changes_of_what_is_not_there_are_refused(bench: Bench) -> None:
    for kind, name, code in (
        (TOPIC_RESOURCE, "missing", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC_RESOURCE, "a/b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (BROKER_RESOURCE, "99", ErrorCode.BROKER_ID_NOT_REGISTERED),
        (BROKER_RESOURCE, "x", ErrorCode.INVALID_REQUEST),
        (77, "x", ErrorCode.INVALID_REQUEST),
    ):
        assert change(bench, kind, name, ("retention.ms", SET, "5")) == code


def test_a_read_only_broker_config_cannot_be_changed(bench: Bench) -> None:
    assert change(bench, BROKER_RESOURCE, "", ("log.dirs", SET, "/x")) == ErrorCode.INVALID_REQUEST
    assert change(bench, BROKER_RESOURCE, "1", ("node.id", SET, "5")) == ErrorCode.INVALID_REQUEST


def test_the_brokers_layers_reach_every_log_and_the_nearer_one_counts(bench: Bench) -> None:
    bench.create("own", retention_ms="5")
    bench.alter(BROKER_RESOURCE, "", log_retention_ms="1000")
    assert bench.log("events").config.retention_ms == 1000
    bench.alter(BROKER_RESOURCE, str(NODE_ID), log_retention_ms="2000")
    assert bench.log("events").config.retention_ms == 2000
    assert bench.log("own").config.retention_ms == 5
    assert change(bench, BROKER_RESOURCE, str(NODE_ID), ("log.retention.ms", DELETE, None)) == 0
    assert bench.log("events").config.retention_ms == 1000
    bench.create("late")
    assert bench.log("late").config.retention_ms == 1000


def test_retention_that_was_shortened_deletes_at_the_next_check(bench: Bench) -> None:
    bench.produce("events", batch(5))
    bench.log("events").roll(bench.clock.now_ms())
    bench.alter(TOPIC_RESOURCE, "events", retention_ms="1000")
    bench.scheduler.run_for(400_000)
    assert bench.log("events").log_start_offset == 5


def test_settings_reach_the_network_layer(bench: Bench) -> None:
    seen: list[int] = []
    bench.node.on_settings = lambda settings: seen.append(settings.net.connections_max)
    bench.alter(BROKER_RESOURCE, "", max_connections="123")
    assert seen == [123]
    assert bench.node.settings.net.connections_max == 123


@pytest.mark.parametrize("clean", [True, False])
def test_dynamic_configs_survive_a_restart_and_are_in_force_from_its_beginning(
    bench: Bench, clean: bool
) -> None:
    bench.alter(TOPIC_RESOURCE, "events", max_message_bytes="500")
    bench.alter(BROKER_RESOURCE, "", log_retention_ms="1000", max_connections="123")
    bench.alter(BROKER_RESOURCE, str(NODE_ID), message_max_bytes="4000")
    bench.create("plain")
    bench.restart(clean=clean)
    assert bench.node.settings.net.connections_max == 123
    assert bench.node.logs.settings is bench.node.settings.logs
    assert bench.log("events").config.max_message_bytes == 500
    assert bench.log("events").config.retention_ms == 1000
    assert bench.log("plain").config.max_message_bytes == 4000
    large = produce_request("events", batch(value=bytes(1000)))
    answer = bench.call(large, 12).responses[0].partition_responses[0]
    assert answer.error_code == ErrorCode.MESSAGE_TOO_LARGE


def test_settings_of_the_last_life_reach_the_network_layer_at_the_start() -> None:
    bench = Bench()
    bench.alter(BROKER_RESOURCE, "", max_connections="123")
    bench.node.shutdown()
    disk = bench.disk.restart(bench.scheduler.random, power_loss=False)
    again = Bench(disk=disk, start=False)
    seen: list[int] = []
    again.node.on_settings = lambda settings: seen.append(settings.net.connections_max)
    from broker_bench import ENDPOINTS

    again.node.start(ENDPOINTS)
    assert seen[-1] == 123


# --- DescribeConfigs


@pytest.mark.parametrize("version", versions_of(DescribeConfigsRequest))
def test_every_version_describes_topics_and_brokers_with_their_sources(bench: Bench, version: int) -> None:
    bench.alter(TOPIC_RESOURCE, "events", retention_ms="5")
    bench.alter(BROKER_RESOURCE, "", log_retention_ms="1000")
    options: dict[str, Any] = {"include_synonyms": True}
    if version >= 3:
        options["include_documentation"] = True
    answer = describe(bench, TOPIC_RESOURCE, "events", version=version, **options)
    entry = {each.name: each for each in answer.configs}["retention.ms"]
    assert (answer.error_code, entry.value, entry.config_source) == (
        0,
        "5",
        ConfigSource.DYNAMIC_TOPIC_CONFIG,
    )
    assert [(each.name, each.value, each.source) for each in entry.synonyms[:2]] == [
        ("retention.ms", "5", ConfigSource.DYNAMIC_TOPIC_CONFIG),
        ("log.retention.ms", "1000", ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
    ]
    if version >= 3:
        assert entry.documentation and entry.config_type == 5
    answer = describe(bench, BROKER_RESOURCE, str(NODE_ID), version=version)
    values = {each.name: each.value for each in answer.configs}
    assert values["log.retention.ms"] == "1000" and values["node.id"] == str(NODE_ID)
    assert all(not each.synonyms for each in answer.configs)


def test_only_the_keys_that_are_asked_for_are_described(bench: Bench) -> None:
    answer = describe(bench, TOPIC_RESOURCE, "events", ["retention.ms", "no.such.key"])
    assert [each.name for each in answer.configs] == ["retention.ms"]
    assert describe(bench, TOPIC_RESOURCE, "events", []).configs == []


def test_descriptions_of_what_is_not_there_are_refused(bench: Bench) -> None:
    for kind, name, code in (
        (TOPIC_RESOURCE, "missing", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC_RESOURCE, "a/b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (BROKER_RESOURCE, "99", ErrorCode.INVALID_REQUEST),
        (GROUP, "", ErrorCode.INVALID_REQUEST),
        (77, "x", ErrorCode.INVALID_REQUEST),
    ):
        answer = describe(bench, kind, name)
        assert answer.error_code == code and answer.error_message and not answer.configs
    assert describe(bench, GROUP, "some-group").error_code == 0


def test_secrets_are_never_described() -> None:
    bench = Bench({"ssl.keystore.password": "hush", "unknown.key": "hush too"})
    answer = describe(bench, BROKER_RESOURCE, str(NODE_ID), include_synonyms=True)
    texts = [each.value for each in answer.configs]
    texts += [synonym.value for each in answer.configs for synonym in each.synonyms]
    assert not [text for text in texts if text is not None and "hush" in text]
    secret = next(each for each in answer.configs if each.name == "ssl.keystore.password")
    assert secret.is_sensitive and secret.value is None


def test_a_resource_named_a_thousand_times_is_described_once(bench: Bench) -> None:
    resources = [DescribeConfigsResource(resource_type=TOPIC_RESOURCE, resource_name="events")] * 1000
    assert len(bench.call(DescribeConfigsRequest(resources=resources)).results) == 1


def test_many_resources_are_described_in_slices_of_the_loop(bench: Bench) -> None:
    for index in range(20):
        bench.create(f"topic-{index}")
    request = DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(
                resource_type=TOPIC_RESOURCE, resource_name=f"topic-{index}", configuration_keys=None
            )
            for index in range(20)
        ]
    )
    peer = bench.connect()
    correlation_id = peer.send(request)
    assert not peer.replies  # others come in between
    bench.scheduler.run_until(lambda: bool(peer.replies), within_ms=1)
    results = bench.reply(request, correlation_id, peer=peer).results
    assert [each.resource_name for each in results] == [f"topic-{index}" for index in range(20)]
    assert all(each.configs for each in results)


# --- ListConfigResources


def test_version_0_lists_client_metrics_and_version_1_every_kind(bench: Bench) -> None:
    """KIP-1142."""
    assert bench.call(ListConfigResourcesRequest(), 0).config_resources == []
    reply = bench.call(ListConfigResourcesRequest(resource_types=[]), 1)
    assert {(each.resource_type, each.resource_name) for each in reply.config_resources} == {
        (TOPIC_RESOURCE, "events"),
        (BROKER_RESOURCE, "1"),
        (LOGGER, "1"),
    }
    change(bench, GROUP, "readers", ("consumer.session.timeout.ms", SET, "50000"))
    reply = bench.call(ListConfigResourcesRequest(resource_types=[GROUP, GROUP]), 1)
    assert [(each.resource_type, each.resource_name) for each in reply.config_resources] == [
        (GROUP, "readers")
    ]
    refused = bench.call(ListConfigResourcesRequest(resource_types=[TOPIC_RESOURCE, 99]), 1)
    assert refused.error_code == ErrorCode.UNSUPPORTED_VERSION and not refused.config_resources


# --- DescribeLogDirs


@pytest.mark.parametrize("version", versions_of(DescribeLogDirsRequest))
def test_every_version_describes_the_directories_and_their_partitions(version: int) -> None:
    bench = Bench({"log.dirs": "/one,/two"})
    bench.create("events", 4)
    bench.produce("events", batch(5), partition=3)
    reply = bench.call(DescribeLogDirsRequest(topics=None), version)
    found = {
        (topic.name, partition.partition_index): partition
        for each in reply.results
        for topic in each.topics
        for partition in topic.partitions
    }
    assert {each.log_dir for each in reply.results} == {"/one", "/two"}
    assert set(found) == {("events", index) for index in range(4)}
    assert found[("events", 3)].partition_size == bench.log("events", 3).size_bytes > 0
    assert (found[("events", 3)].offset_lag, found[("events", 3)].is_future_key) == (0, False)
    if version >= 4:
        assert all(each.total_bytes >= each.usable_bytes > 0 for each in reply.results)
    some = DescribeLogDirsRequest(topics=[DescribableLogDirTopic(topic="events", partitions=[1, 9])])
    reply = bench.call(some, version)
    assert [
        (topic.name, partition.partition_index)
        for each in reply.results
        for topic in each.topics
        for partition in topic.partitions
    ] == [("events", 1)]


def test_a_failed_directory_is_described_as_such() -> None:
    bench = Bench({"log.dirs": "/meta,/two", "metadata.log.dir": "/meta"})
    bench.create("events", 2)
    bench.node.logs.fail_dir("/two", OSError(5, "broken"))
    reply = bench.call(DescribeLogDirsRequest(topics=None))
    assert {each.log_dir: each.error_code for each in reply.results} == {
        "/meta": 0,
        "/two": ErrorCode.KAFKA_STORAGE_ERROR,
    }


# --- UpdateFeatures


@pytest.mark.parametrize("version", versions_of(UpdateFeaturesRequest))
def test_a_feature_goes_down_and_up_and_is_announced(bench: Bench, version: int) -> None:
    def update(level: int, upgrade_type: int, **options: Any) -> int:
        key = FeatureUpdateKey(feature=METADATA_VERSION, max_version_level=level)
        if version == 0:
            key.allow_downgrade = upgrade_type != 1
        else:
            key.upgrade_type = upgrade_type
        reply = bench.call(UpdateFeaturesRequest(feature_updates=[key], timeout_ms=1000, **options), version)
        code: int = reply.error_code
        return code

    assert update(METADATA_VERSION_LOW, 1) == ErrorCode.INVALID_UPDATE_VERSION
    if version >= 1:
        assert update(METADATA_VERSION_LOW, 2, validate_only=True) == 0
        assert bench.node.image.features[METADATA_VERSION] == METADATA_VERSION_HIGH
    assert update(METADATA_VERSION_LOW, 2) == 0
    assert update(METADATA_VERSION_HIGH + 1, 1) == ErrorCode.INVALID_UPDATE_VERSION
    versions = bench.call(ApiVersionsRequest(client_software_name="b", client_software_version="1"))
    finalized = {each.name: each.max_version_level for each in versions.finalized_features}
    assert finalized[METADATA_VERSION] == METADATA_VERSION_LOW
    bench.restart(clean=False)
    assert bench.node.image.features[METADATA_VERSION] == METADATA_VERSION_LOW
    assert update(METADATA_VERSION_HIGH, 1) == 0
    assert bench.node.image.features[METADATA_VERSION] == METADATA_VERSION_HIGH
