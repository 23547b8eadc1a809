"""What a user may write as configuration of a client, and what becomes of it (`ottla.client.config`)."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from ottla.client.config import admin_settings, consumer_settings, producer_settings
from ottla.client.config_tables import ADMIN, CONSUMER, KAFKA_PYTHON, LIBRDKAFKA, PRODUCER, TABLES, Setting
from ottla.client.errors import InvalidConfig
from ottla.client.settings import AdminSettings, ConsumerSettings, ProducerSettings
from ottla.wire.compression import Codec

ROOT = Path(__file__).parents[4]
WHERE = {"bootstrap_servers": "localhost:9092"}


def producer(**given: Any) -> ProducerSettings:
    return producer_settings(None, {**WHERE, **given})


def consumer(**given: Any) -> ConsumerSettings:
    return consumer_settings(None, {**WHERE, **given})


def refused(call: Callable[..., Any], **given: Any) -> str:
    with pytest.raises(InvalidConfig) as caught:
        call(**given)
    return str(caught.value)


def test_dotted_and_underscored_names_texts_and_numbers_are_the_same() -> None:
    written = {
        "bootstrap.servers": "a:1,b:2",
        "linger.ms": "7",
        "batch.size": "65536",
        "enable.idempotence": "TRUE",
        "client.id": "c",
    }
    spoken = {
        "bootstrap_servers": ["a:1", "b:2"],
        "linger_ms": 7,
        "batch_size": 65_536,
        "enable_idempotence": True,
        "client_id": "c",
    }
    assert producer_settings(written, {}) == producer_settings(None, spoken)
    assert producer_settings(written, {}).linger_ms == 7


def test_a_keyword_outdoes_the_mapping_and_none_is_as_if_nothing_was_given() -> None:
    settings = producer_settings({"bootstrap.servers": "a:1", "linger.ms": 3}, {"linger_ms": 9, "acks": None})
    assert (settings.linger_ms, settings.acks) == (9, -1)
    assert producer_settings({"bootstrap.servers": "a:1", "linger.ms": 3}, {"linger_ms": None}).linger_ms == 5


def test_a_setting_written_twice_in_one_place_is_an_error() -> None:
    message = refused(producer_settings, config={**WHERE, "linger.ms": 3, "linger_ms": 4}, kwargs={})
    assert message == "linger.ms is given twice: as linger.ms and as linger_ms"


def test_defaults_are_those_of_kafkas_java_clients() -> None:
    sender, reader = producer(), consumer(group_id="g")
    assert (sender.acks, sender.linger_ms, sender.batch_size, sender.enable_idempotence) == (
        -1,
        5,
        16_384,
        True,
    )
    assert (sender.delivery_timeout_ms, sender.max_block_ms, sender.retries) == (120_000, 60_000, 2**31 - 1)
    assert (reader.session_timeout_ms, reader.max_poll_records) == (45_000, 500)
    assert reader.partition_assignment_strategy == ("range", "cooperative-sticky")
    assert reader.auto_offset_reset == "latest" and reader.enable_auto_commit
    assert admin_settings(None, WHERE).connections_max_idle_ms == 300_000


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("linger_mss", "linger_mss: there is no such setting; did you mean linger.ms?"),
        ("lingerms", "lingerms: there is no such setting; did you mean linger.ms?"),
        ("compresion_type", "compresion_type: there is no such setting; did you mean compression.type?"),
        ("interceptor", "interceptor: there is no such setting; did you mean interceptors?"),
        ("xyzzy", "xyzzy: there is no such setting"),
        ("group_id", "group_id is a setting of consumers, not of producers"),
        ("queue_buffering_max_ms", "queue_buffering_max_ms is librdkafka's name for linger.ms"),
        ("message.max.bytes", "message.max.bytes is librdkafka's name for max.request.size"),
        ("ssl_cafile", "ssl_cafile is kafka-python's name for ssl.ca.location"),
    ],
)
def test_an_unknown_name_is_an_error_that_says_what_was_meant(name: str, message: str) -> None:
    assert refused(producer, **{name: "1"}) == message


def test_a_producers_setting_is_not_one_of_a_consumer_or_an_admin_client() -> None:
    assert refused(consumer, linger_ms=1) == "linger_ms is a setting of producers, not of consumers"
    said = refused(lambda **given: admin_settings(None, given), **WHERE, group_id="g")
    assert said == "group_id is a setting of consumers, not of admin clients"


def test_a_client_must_be_told_where_the_cluster_is() -> None:
    assert "bootstrap.servers" in refused(lambda: producer_settings(None, {}))
    for wrong in ("", "host:port", ":9092", [], ["a:1", "b:x"], 9092, b"a:1"):
        assert "bootstrap.servers" in refused(producer, bootstrap_servers=wrong)


@pytest.mark.parametrize("given", ["all", "ALL", "-1", -1])
def test_acks_all_has_four_spellings(given: object) -> None:
    assert producer(acks=given).acks == -1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("acks", 2),
        ("acks", "some"),
        ("acks", True),
        ("batch_size", -1),
        ("batch_size", True),
        ("batch_size", 1.5),
        ("batch_size", "ten"),
        ("batch_size", float("nan")),
        ("linger_ms", -1),
        ("linger_ms", "nan"),
        ("linger_ms", float("inf")),
        ("linger_ms", []),
        ("linger_ms", "1e400"),
        ("request_timeout_ms", 2**31),
        ("enable_idempotence", 1),
        ("enable_idempotence", "yes"),
        ("compression_type", "brotli"),
        ("compression_gzip_level", 0),
        ("compression_lz4_level", 18),
        ("compression_zstd_level", 23),
        ("max_in_flight_requests_per_connection", 0),
        ("transactional_id", ""),
        ("security_protocol", "TELNET"),
        ("value_serializer", 5),
        ("key_serializer", ""),
        ("client_dns_lookup", "maybe"),
        ("client_dns_lookup", "resolve_canonical_bootstrap_servers_only"),
    ],
)
def test_a_value_that_does_not_fit_is_an_error_that_names_the_setting(name: str, value: object) -> None:
    assert name.replace("_", ".") in refused(producer, **{name: value})


def test_sizes_may_have_units_and_whole_floats_are_numbers() -> None:
    settings = producer(
        batch_size="64 KiB", buffer_memory="1g", max_request_size="2MB", retries=3.0, linger_ms=0.5
    )
    assert (settings.batch_size, settings.buffer_memory) == (65_536, 1 << 30)
    assert (settings.max_request_size, settings.retries, settings.linger_ms) == (2 << 20, 3, 0.5)
    assert "linger.ms" in refused(producer, linger_ms="5k")


def test_the_compression_level_is_that_of_the_chosen_codec() -> None:
    given = {"compression_gzip_level": 2, "compression_zstd_level": 7}
    assert producer(compression_type="zstd", **given).compression_level == 7
    assert producer(compression_type="gzip", **given).compression_level == 2
    chosen = producer(compression_type="lz4", **given)
    assert (chosen.compression_type, chosen.compression_level) == (Codec.LZ4, None)
    assert producer(compression_gzip_level=-1, compression_type="gzip").compression_level == -1


@pytest.mark.parametrize(
    ("name", "java", "ours"),
    [
        ("key_serializer", "org.apache.kafka.common.serialization.StringSerializer", "string"),
        ("value_serializer", "org.apache.kafka.common.serialization.ByteArraySerializer", "bytes"),
        ("value_serializer", "org.apache.kafka.common.serialization.LongSerializer", "long"),
        ("value_serializer", "io.confluent.kafka.serializers.KafkaJsonSerializer", "json"),
        ("value_serializer", "json", "json"),
    ],
)
def test_java_class_names_are_understood_where_there_is_the_same_thing_here(
    name: str, java: str, ours: str
) -> None:
    assert getattr(producer(**{name: java}), name) == ours


def test_java_class_names_of_partitioners_and_assignors_are_understood() -> None:
    java = "org.apache.kafka.clients.producer.RoundRobinPartitioner"
    assert producer(**{"partitioner.class": java}).partitioner == "round-robin"
    strategy = "org.apache.kafka.clients.consumer.StickyAssignor, range"
    assert consumer(partition_assignment_strategy=strategy).partition_assignment_strategy == (
        "sticky",
        "range",
    )


def test_other_java_classes_are_refused_with_advice() -> None:
    said = refused(producer, value_serializer="io.confluent.kafka.serializers.KafkaAvroSerializer")
    assert "Java class" in said and "string" in said and "Python object" in said
    assert "Java class" in refused(producer, interceptor_classes="com.example.Audit")


def test_functions_and_objects_pass_through() -> None:
    def encode(value: object) -> bytes:
        return repr(value).encode()

    spy = object()
    settings = producer(value_serializer=encode, partitioner=encode, interceptors=[spy])
    assert settings.value_serializer is encode and settings.partitioner is encode
    assert settings.interceptors == (spy,)
    assert producer(interceptors=spy).interceptors == (spy,)
    assert consumer(partition_assignment_strategy=[spy, "range"]).partition_assignment_strategy == (
        spy,
        "range",
    )


def test_idempotence_that_nobody_asked_for_gives_way_as_in_java(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "ottla.client"):
        assert not producer(acks=1).enable_idempotence
    assert "acks=1" in caplog.text
    assert not producer(retries=0).enable_idempotence
    assert not producer(acks=0, enable_idempotence=False).enable_idempotence
    assert producer(max_in_flight_requests_per_connection=5).enable_idempotence


def test_idempotence_that_was_asked_for_contradicts_other_settings_as_in_java() -> None:
    assert "acks=1" in refused(producer, enable_idempotence=True, acks=1)
    assert "retries=0" in refused(producer, enable_idempotence="true", retries=0)
    assert "at most 5" in refused(producer, max_in_flight_requests_per_connection=6)
    settings = producer(max_in_flight_requests_per_connection=6, enable_idempotence=False)
    assert settings.max_in_flight_requests_per_connection == 6


def test_a_transactional_id_needs_idempotence() -> None:
    assert producer(transactional_id="t").enable_idempotence
    assert "transactional.id" in refused(producer, transactional_id="t", acks=1)
    assert "transactional.id" in refused(producer, transactional_id="t", enable_idempotence=False)
    assert "two phases" in refused(producer, transaction_two_phase_commit_enable=True)


def test_the_delivery_timeout_covers_linger_and_request_timeout() -> None:
    assert "delivery.timeout.ms" in refused(producer, delivery_timeout_ms=1_000, request_timeout_ms=1_000)
    assert producer(delivery_timeout_ms=1_005, request_timeout_ms=1_000).delivery_timeout_ms == 1_005
    raised = producer(linger_ms=100_000)  # not asked for: Java raises it
    assert raised.delivery_timeout_ms == 130_000


def test_heartbeats_come_more_often_than_sessions_end() -> None:
    said = refused(consumer, group_id="g", session_timeout_ms=3_000)
    assert "heartbeat.interval.ms" in said
    assert consumer(group_id="g", session_timeout_ms=3_001).session_timeout_ms == 3_001


@pytest.mark.parametrize(
    "given",
    [
        {"session_timeout_ms": 10_000},
        {"heartbeat_interval_ms": 100},
        {"partition_assignment_strategy": "range"},
    ],
)
def test_the_brokers_part_cannot_be_set_with_the_new_protocol(given: dict[str, Any]) -> None:
    said = refused(consumer, group_id="g", group_protocol="consumer", **given)
    assert "group.protocol=consumer" in said and next(iter(given)).replace("_", ".") in said


def test_a_remote_assignor_belongs_to_the_new_protocol() -> None:
    assert "group.remote.assignor" in refused(consumer, group_id="g", group_remote_assignor="uniform")
    settings = consumer(group_id="g", group_protocol="CONSUMER", group_remote_assignor="uniform")
    assert (settings.group_protocol, settings.group_remote_assignor) == ("consumer", "uniform")


def test_auto_commit_is_off_without_a_group_and_an_error_where_it_was_asked_for() -> None:
    assert not consumer().enable_auto_commit
    assert consumer(group_id="g").enable_auto_commit
    assert "enable.auto.commit" in refused(consumer, enable_auto_commit=True)


@pytest.mark.parametrize("value", ["earliest", "latest", "none", "by_duration:PT1H", "by_duration:P1DT0.5S"])
def test_where_to_begin_may_be_said_as_in_kafka(value: str) -> None:
    assert consumer(auto_offset_reset=value).auto_offset_reset == value


@pytest.mark.parametrize(
    "value",
    [
        "smallest",
        "EARLIEST",
        "by_duration:",
        "by_duration:P",
        "by_duration:-PT1H",
        "by_duration:PT",
        "none:1",
    ],
)
def test_where_to_begin_must_not_be_said_otherwise(value: str) -> None:
    assert "auto.offset.reset" in refused(consumer, auto_offset_reset=value)


@pytest.mark.parametrize("value", ["", ".", "..", "a b", "x" * 250])
def test_an_instance_id_is_a_name_like_a_topics(value: str) -> None:
    assert "group.instance.id" in refused(consumer, group_id="g", group_instance_id=value)


def test_clients_without_a_name_get_kafkas() -> None:
    first, second = producer(), producer()
    assert first.client_id.startswith("producer-") and first.client_id != second.client_id
    assert producer(transactional_id="t").client_id == "producer-t"
    assert consumer(group_id="g", group_instance_id="i").client_id == "consumer-g-i"
    assert consumer(group_id="g", client_id="mine").client_id == "mine"


def test_a_reconnect_backoff_alone_does_not_grow_as_in_java() -> None:
    assert producer(reconnect_backoff_ms=20).reconnect_backoff_max_ms == 20
    assert producer(reconnect_backoff_ms=20, reconnect_backoff_max_ms=90).reconnect_backoff_max_ms == 90


def test_tls_and_sasl_pass_through_and_secrets_are_never_shown() -> None:
    settings = producer(
        security_protocol="sasl_ssl",
        sasl_mechanism="SCRAM-SHA-512",
        sasl_username="alice",
        sasl_password="wonderland",
        ssl_truststore_location=Path("/certs/ca.pem"),
    )
    security = settings.security
    options = dict(security.options)
    assert security.protocol == "SASL_SSL"
    assert options["sasl.mechanism"] == "SCRAM-SHA-512"
    assert options["ssl.truststore.location"] == "/certs/ca.pem"
    assert options["sasl.password"].secret == "wonderland"
    assert "wonderland" not in repr(settings) and "[hidden]" in repr(settings)
    assert "wonderland" not in refused(producer, sasl_password=["wonderland"])


def test_sasl_needs_a_mechanism() -> None:
    assert "sasl.mechanism" in refused(producer, security_protocol="SASL_PLAINTEXT", sasl_mechanism="")


def test_settings_of_kafkas_that_change_nothing_are_checked_and_left_alone() -> None:
    assert producer(enable_metrics_push="false", client_id="c") == producer(client_id="c")
    assert "metrics.num.samples" in refused(producer, metrics_num_samples=0)


@pytest.mark.parametrize(
    ("table", "kind"),
    [(PRODUCER, ProducerSettings), (CONSUMER, ConsumerSettings), (ADMIN, AdminSettings)],
)
def test_every_row_of_a_table_fills_a_field_and_every_field_has_a_row(
    table: Mapping[str, Setting], kind: type[ProducerSettings]
) -> None:
    there = {field.name for field in fields(kind)}
    filled = {each.field for each in table.values() if each.field and not each.security}
    levels = {"compression_gzip_level", "compression_lz4_level", "compression_zstd_level"}
    assert filled - levels <= there
    unset = there - filled - {"security", "compression_level"}
    # Common fields that only one kind of client uses.
    assert unset <= {"client_rack", "metadata_max_idle_ms"}


def test_no_hint_shadows_a_setting() -> None:
    for table in TABLES.values():
        assert not {*LIBRDKAFKA, *KAFKA_PYTHON} & set(table)


def test_the_reference_of_settings_is_up_to_date() -> None:
    tool = ROOT / "tools" / "generate_client_config_docs.py"
    done = subprocess.run([sys.executable, str(tool), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
