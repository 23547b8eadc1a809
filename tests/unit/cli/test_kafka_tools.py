"""The parts of Kafka's tools that need no broker: patterns, formats, files."""

from __future__ import annotations

import json
import os
import struct
from typing import Any

import pytest

from ottla.cli.kafka.arguments import UsageError
from ottla.cli.kafka.broker_api_versions import api_lines
from ottla.cli.kafka.configs import entry_line, parse_pairs
from ottla.cli.kafka.console_producer import line_parser
from ottla.cli.kafka.delete_records import parse_offsets
from ottla.cli.kafka.features import feature_line
from ottla.cli.kafka.get_offsets import parse_time, partition_rule
from ottla.cli.kafka.message_formatter import default_formatter
from ottla.cli.kafka.server_stop import RunningServer, chosen, running_servers
from ottla.cli.kafka.topic_filter import TopicFilter
from ottla.cli.kafka.topics import arguments, assignment, description, partition_line
from ottla.client.admin import (
    ConfigEntry,
    ConfigSource,
    ConfigSynonym,
    FeatureDescription,
    PartitionDescription,
    TopicDescription,
)
from ottla.client.records import ConsumerRecord, OutgoingRecord
from ottla.model.types import TopicPartition
from ottla.model.uuids import uuid_from_text

RECORD = ConsumerRecord("t", 3, 42, 1_700, 0, b"key", b"value", (("a", b"1"), ("b", None)), 7)


def test_topics_are_chosen_by_regular_expressions_in_which_a_comma_means_or() -> None:
    names = ["a", "ab", "b", "c.d", "__consumer_offsets"]
    assert TopicFilter("a,b").select(names) == ["a", "b"]
    assert TopicFilter("a.*|c\\.d").select(names) == ["a", "ab", "c.d"]
    assert TopicFilter(".*", exclude_internal=True).select(names) == ["a", "ab", "b", "c.d"]
    with pytest.raises(UsageError, match="not a valid regular expression"):
        TopicFilter("(")


def test_a_described_topic_has_the_lines_that_scripts_cut_by_tabs() -> None:
    item = TopicDescription(
        "events",
        uuid_from_text("NPmZHyhbR9y00wMglMH2sg"),
        False,
        (
            PartitionDescription(0, 1, 5, (1, 2), (1,), (2,), (), (2,)),
            PartitionDescription(1, -1, 5, (2, 1), (), (2,)),
        ),
    )

    def lines(*flags: str, values: dict[str, str] | None = None) -> list[str]:
        options = arguments().parse_args(["--bootstrap-server", "a:1", "--describe", *flags])
        return description(item, values or {}, {"min.insync.replicas": "1"}, {1, 2}, options)

    head = (
        "Topic: events\tTopicId: NPmZHyhbR9y00wMglMH2sg\tPartitionCount: 2\tReplicationFactor: 2\t"
        "Configs: a=1,b=2"
    )
    first = "\tTopic: events\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1\tElr: \tLastKnownElr: 2"
    second = "\tTopic: events\tPartition: 1\tLeader: none\tReplicas: 2,1\tIsr: \tElr: N/A\tLastKnownElr: N/A"
    assert lines(values={"a": "1", "b": "2"}) == [head, first, second]
    assert partition_line("events", item.partitions[0]) == first
    assert lines("--under-replicated-partitions") == [first, second]
    assert lines("--unavailable-partitions") == [second]
    assert lines("--under-min-isr-partitions") == [second]
    assert lines("--at-min-isr-partitions") == [first]
    assert lines("--topics-with-overrides") == []
    assert lines("--topics-with-overrides", values={"a": "1", "b": "2"}) == [head]


def test_replica_assignments_are_lists_of_brokers() -> None:
    assert assignment("1:2,2:3") == {0: [1, 2], 1: [2, 3]}
    for wrong in ("1:1", "a", ""):
        with pytest.raises(UsageError):
            assignment(wrong)


def test_config_values_with_commas_stand_in_brackets() -> None:
    text = "cleanup.policy=[compact,delete],retention.ms=1,x="
    assert parse_pairs(text) == {"cleanup.policy": "compact,delete", "retention.ms": "1", "x": ""}
    with pytest.raises(UsageError, match="expected key=value"):
        parse_pairs("retention.ms")


def test_a_described_config_names_its_synonyms() -> None:
    entry = ConfigEntry(
        "retention.ms",
        "1",
        ConfigSource.DYNAMIC_TOPIC_CONFIG,
        False,
        False,
        (
            ConfigSynonym("retention.ms", "1", ConfigSource.DYNAMIC_TOPIC_CONFIG),
            ConfigSynonym("log.retention.ms", None, ConfigSource.DEFAULT_CONFIG),
        ),
    )
    assert entry_line(entry) == (
        "  retention.ms=1 sensitive=false "
        "synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=1, DEFAULT_CONFIG:log.retention.ms=null}"
    )


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({}, b"value\n"),
        ({"print.key": "true"}, b"key\tvalue\n"),
        ({"print.key": "true", "key.separator": ":", "line.separator": "|"}, b"key:value|"),
        (
            {
                f"print.{name}": "true"
                for name in ("timestamp", "partition", "offset", "headers", "key", "epoch")
            },
            b"CreateTime:1700\tPartition:3\tOffset:42\tEpoch:7\ta:1,b:null\tkey\tvalue\n",
        ),
        ({"print.value": "false", "print.headers": "true", "headers.separator": "|"}, b"a:1|b:null\n"),
    ],
)
def test_the_default_formatter_prints_in_kafkas_order(properties: dict[str, str], expected: bytes) -> None:
    assert default_formatter(properties)(RECORD) == expected


def test_nulls_and_missing_headers_have_their_words() -> None:
    bare = ConsumerRecord("t", 0, 0, -1, 0, None, None)
    shape = default_formatter({"print.key": "true", "print.headers": "true", "print.timestamp": "true"})
    assert shape(bare) == b"NO_TIMESTAMP\tNO_HEADERS\tnull\tnull\n"
    assert default_formatter({"null.literal": "-"})(bare) == b"-\n"


def test_numbers_are_read_by_the_deserializer_that_is_asked_for() -> None:
    # The word count of the streams quickstart prints its counts with LongDeserializer.
    shape = default_formatter(
        {"value.deserializer": "org.apache.kafka.common.serialization.LongDeserializer"}
    )
    assert shape(RECORD._replace(value=struct.pack(">q", -5))) == b"-5\n"
    with pytest.raises(UsageError, match="not a number of 8 bytes"):
        shape(RECORD)
    with pytest.raises(UsageError, match="is not available"):
        default_formatter({"value.deserializer": "com.example.Mine"})


def test_the_console_producer_reads_lines_by_kafkas_properties(capsys: pytest.CaptureFixture[str]) -> None:
    parse = line_parser({"parse.key": "true", "key.separator": ":", "parse.headers": "true"})
    assert parse(b"h:1\tk:v", 1) == OutgoingRecord(b"v", b"k", (("h", b"1"),))
    assert line_parser({"parse.key": "true", "ignore.error": "true"})(b"v", 1) == OutgoingRecord(b"v")
    assert line_parser({"null.marker": "NULL"})(b"NULL", 1) == OutgoingRecord(None)
    line_parser({"nonsense": "1"})
    assert "nonsense is unknown" in capsys.readouterr().err
    with pytest.raises(UsageError, match=r"key\.separator is empty"):
        line_parser({"parse.key": "true", "key.separator": ""})


@pytest.mark.parametrize(
    ("rule", "matching"),
    [
        ("t", [0, 1, 2, 3, 4]),
        ("t:2", [2]),
        ("t:1-3", [1, 2]),
        ("t:3-", [3, 4]),
        ("t:-2", [0, 1]),
        (":1", [1]),
        ("other", []),
    ],
)
def test_partitions_are_chosen_by_ranges_without_their_end(rule: str, matching: list[int]) -> None:
    chosen_by = partition_rule(rule)
    assert [p for p in range(5) if chosen_by("t", p)] == matching


def test_times_have_names() -> None:
    assert [parse_time(text) for text in ("latest", "earliest", "max-timestamp", "-2", "1700")] == [
        -1,
        -2,
        -3,
        -2,
        1700,
    ]
    with pytest.raises(UsageError):
        parse_time("yesterday")


def test_offsets_to_delete_are_read_from_kafkas_file() -> None:
    item = {"topic": "t", "partition": 1, "offset": 5}
    assert parse_offsets(json.dumps({"partitions": [item], "version": 1})) == {TopicPartition("t", 1): 5}
    wrong: list[tuple[Any, str]] = [
        ([], "not a valid JSON object"),
        ({"version": 2, "partitions": []}, "Not supported version field value 2"),
        ({"partitions": {}}, "Missing partitions field"),
        ({"partitions": [{"topic": "t"}]}, "No such field exists: `partition`"),
        ({"partitions": [7]}, "No such field exists: `topic`"),
        ({"partitions": [{**item, "partition": True}]}, "Expected `partition` to be a int"),
        ({"partitions": [{**item, "offset": 2**63}]}, "64 bits"),
        ({"partitions": [item, item]}, "duplicate topic partitions: t-1"),
    ]
    for document, problem in wrong:
        with pytest.raises(ValueError, match=problem):
            parse_offsets(json.dumps(document))
    with pytest.raises(ValueError, match="not a valid JSON"):
        parse_offsets("{")


def test_features_are_shown_with_the_names_of_metadata_versions() -> None:
    line = feature_line(FeatureDescription("metadata.version", 25, 29, 29), 8)
    assert line == (
        "Feature: metadata.version\tSupportedMinVersion: 4.0-IV3\tSupportedMaxVersion: 4.2-IV1\t"
        "FinalizedVersionLevel: 4.2-IV1\tEpoch: 8"
    )
    assert "FinalizedVersionLevel: 1\tEpoch: -" in feature_line(
        FeatureDescription("group.version", 0, 1, 1), -1
    )


def test_api_versions_say_what_can_be_used() -> None:
    lines = api_lines({0: (0, 99), 3: (5, 5), 1: (90, 99), 999: (0, 1)})
    assert "Produce(0): 0 to 99 [usable: 13]" in lines
    assert "Metadata(3): 5 [usable: 5]" in lines
    assert "Fetch(1): 90 to 99 [usable: none]" in lines
    assert "ListOffsets(2): UNSUPPORTED" in lines
    assert "UNKNOWN(999): 0 to 1 [usable: none]" in lines


def test_running_servers_are_found_by_their_command_line(tmp_path: Any) -> None:
    config = tmp_path / "server.properties"
    config.write_text("node.id=5\nprocess.roles=broker\n")
    listing = (
        "    1 /sbin/init\n"
        f"  123 /venv/bin/python -m ottla.cli.kafka server-start {config} --override num.partitions=3\n"
        "  124 /venv/bin/python -m ottla.cli.kafka topics --list\n"
    )
    (server,) = running_servers(listing)
    assert server.pid == 123
    here = RunningServer(os.getpid(), server.arguments)
    assert chosen(here, None, None)
    assert chosen(here, "broker", 5)
    assert not chosen(here, "controller", None)
    assert not chosen(here, None, 6)
    assert chosen(here._replace(arguments=[*server.arguments, "--override", "node.id=6"]), None, 6)
