"""Kafka's Java Admin client: topics, configurations, records, offsets, cluster, disks and features."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from support.broker_process import BrokerProcess
from support.java_client import JavaClient, JavaError, to_base64

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]

Call = Callable[..., Any]


@pytest.fixture
def call(java: JavaClient, shared_broker: BrokerProcess) -> Call:
    return lambda op, **arguments: java.call(op, shared_broker.bootstrap, **arguments)


def write(call: Call, topic: str, *values: bytes, timestamps: list[int] | None = None) -> None:
    records = [
        {
            "key": None,
            "value": to_base64(value),
            "timestamp": None if timestamps is None else timestamps[index],
        }
        for index, value in enumerate(values)
    ]
    call("produce", topic=topic, records=records)


def test_a_topic_is_created_described_listed_and_deleted(call: Call, topic_name: str) -> None:
    made = call(
        "create_topic", topic=topic_name, partitions=3, replication=1, configs={"retention.ms": "86400000"}
    )
    assert (made["partitions"], made["replication"]) == (3, 1)
    assert made["configs"]["retention.ms"] == "86400000"
    assert made["configs"]["cleanup.policy"] == "delete"

    described = call("describe_topic", topic=topic_name)
    assert (described["name"], described["id"], described["internal"]) == (topic_name, made["id"], False)
    assert [each["partition"] for each in described["partitions"]] == [0, 1, 2]
    assert all(
        each["leader"] == 1 and each["replicas"] == [1] == each["isr"] for each in described["partitions"]
    )
    assert topic_name in call("list_topics")

    call("delete_topic", topic=topic_name)
    assert topic_name not in call("list_topics")
    with pytest.raises(JavaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
        call("describe_topic", topic=topic_name)


def test_a_topic_made_anew_has_another_id_and_is_deleted_by_it(call: Call, topic_name: str) -> None:
    first = call("create_topic", topic=topic_name)
    call("delete_topic", id=first["id"])
    second = call("create_topic", topic=topic_name)
    assert first["id"] != second["id"]
    with pytest.raises(JavaError, match="UNKNOWN_TOPIC_ID"):
        call("delete_topic", id=first["id"])
    assert call("describe_topic", topic=topic_name)["id"] == second["id"]


def test_explicit_assignments_and_validate_only(call: Call, topic_name: str) -> None:
    checked = call("create_topic", topic=topic_name, partitions=2, validate_only=True)
    assert checked["partitions"] == 2
    assert topic_name not in call("list_topics")
    call("create_topic", topic=topic_name, assignment={"0": [1], "1": [1]})
    assert len(call("describe_topic", topic=topic_name)["partitions"]) == 2
    with pytest.raises(JavaError, match="INVALID_REPLICA_ASSIGNMENT"):
        call("create_topic", topic=topic_name + "-b", assignment={"0": [99]})


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"topic": "..", "partitions": 1}, "INVALID_TOPIC_EXCEPTION"),
        ({"topic": "a/b", "partitions": 1}, "INVALID_TOPIC_EXCEPTION"),
        ({"topic": "x" * 250, "partitions": 1}, "INVALID_TOPIC_EXCEPTION"),
        ({"topic": "refused", "partitions": 0}, "INVALID_PARTITIONS"),
        ({"topic": "refused", "partitions": 1, "replication": 2}, "INVALID_REPLICATION_FACTOR"),
        ({"topic": "refused", "configs": {"retention.ms": "soon"}}, "INVALID_CONFIG"),
        ({"topic": "refused", "configs": {"no.such.key": "1"}}, "INVALID_CONFIG"),
    ],
)
def test_what_cannot_be_a_topic_is_refused_with_kafkas_error(
    call: Call, arguments: dict[str, Any], error: str
) -> None:
    with pytest.raises(JavaError) as refused:
        call("create_topic", **arguments)
    assert refused.value.code == error
    assert "refused" not in call("list_topics")


def test_a_topic_cannot_be_created_twice(call: Call, topic_name: str) -> None:
    call("create_topic", topic=topic_name)
    with pytest.raises(JavaError, match="TOPIC_ALREADY_EXISTS"):
        call("create_topic", topic=topic_name)


def test_partitions_are_added_but_never_removed(call: Call, topic_name: str) -> None:
    call("create_topic", topic=topic_name, partitions=1)
    call("create_partitions", topic=topic_name, count=4)
    assert len(call("describe_topic", topic=topic_name)["partitions"]) == 4
    call("produce", topic=topic_name, records=[{"key": None, "value": "eA==", "partition": 3}])
    with pytest.raises(JavaError, match="INVALID_PARTITIONS"):
        call("create_partitions", topic=topic_name, count=2)


def test_many_partitions_are_described_page_by_page(call: Call, topic_name: str) -> None:
    """KIP-966: DescribeTopicPartitions answers with a cursor when the page is full."""
    call("create_topic", topic=topic_name, partitions=25)
    described = call("describe_topic", topic=topic_name, page=10)
    assert [each["partition"] for each in described["partitions"]] == list(range(25))


def test_topic_configurations_change_incrementally(call: Call, topic_name: str) -> None:
    """KIP-339: set, delete, append and subtract."""
    call("create_topic", topic=topic_name)
    before = call("describe_configs", type="TOPIC", name=topic_name)
    assert before["retention.ms"]["value"] == "604800000"
    assert before["retention.ms"]["source"] == "DEFAULT_CONFIG"
    assert before["retention.ms"]["type"] == "LONG" and before["retention.ms"]["documentation"]

    ops: list[list[str | None]] = [["SET", "retention.ms", "1000"], ["APPEND", "cleanup.policy", "compact"]]
    call("alter_configs", type="TOPIC", name=topic_name, ops=ops)
    changed = call("describe_configs", type="TOPIC", name=topic_name)
    assert (changed["retention.ms"]["value"], changed["retention.ms"]["source"]) == (
        "1000",
        "DYNAMIC_TOPIC_CONFIG",
    )
    assert changed["retention.ms"]["synonyms"][0] == "retention.ms=1000"
    assert changed["cleanup.policy"]["value"] == "delete,compact"

    ops = [["DELETE", "retention.ms", None], ["SUBTRACT", "cleanup.policy", "delete"]]
    call("alter_configs", type="TOPIC", name=topic_name, ops=ops)
    again = call("describe_configs", type="TOPIC", name=topic_name)
    assert again["retention.ms"] == before["retention.ms"]
    assert again["cleanup.policy"]["value"] == "compact"
    with pytest.raises(JavaError, match="INVALID_CONFIG"):
        call("alter_configs", type="TOPIC", name=topic_name, ops=[["SET", "segment.bytes", "-5"]])


def test_broker_configurations_are_described_and_changed(call: Call) -> None:
    before = call("describe_configs", type="BROKER", name="1")
    assert before["node.id"]["value"] == "1" and before["node.id"]["read_only"]
    assert not before["log.retention.ms"]["read_only"]
    call("alter_configs", type="BROKER", name="", ops=[["SET", "log.retention.ms", "7200000"]])
    changed = call("describe_configs", type="BROKER", name="1")["log.retention.ms"]
    assert (changed["value"], changed["source"]) == ("7200000", "DYNAMIC_DEFAULT_BROKER_CONFIG")
    call("alter_configs", type="BROKER", name="1", ops=[["SET", "log.retention.ms", "3600000"]])
    changed = call("describe_configs", type="BROKER", name="1")["log.retention.ms"]
    assert (changed["value"], changed["source"]) == ("3600000", "DYNAMIC_BROKER_CONFIG")
    resources = call("list_config_resources")
    assert "BROKER:1" in resources
    for name in ("", "1"):
        call("alter_configs", type="BROKER", name=name, ops=[["DELETE", "log.retention.ms", None]])
    assert call("describe_configs", type="BROKER", name="1")["log.retention.ms"] == before["log.retention.ms"]


def test_offsets_are_found_by_kind_and_by_timestamp(call: Call, topic_name: str) -> None:
    """KIP-734 (max timestamp) and ListOffsets by timestamp."""
    call("create_topic", topic=topic_name)
    now = int(time.time() * 1000)
    write(call, topic_name, b"a", b"b", b"c", b"d", timestamps=[now, now + 300, now + 100, now + 200])
    ask = {"topic": topic_name}
    assert call("list_offsets", spec="earliest", **ask)["offset"] == 0
    assert call("list_offsets", spec="latest", **ask)["offset"] == 4
    assert call("list_offsets", spec="earliest_local", **ask)["offset"] == 0
    found = call("list_offsets", spec="max_timestamp", **ask)
    assert (found["offset"], found["timestamp"]) == (1, now + 300)
    found = call("list_offsets", spec=str(now + 50), **ask)
    assert (found["offset"], found["timestamp"]) == (1, now + 300)
    assert call("list_offsets", spec=str(now + 301), **ask)["offset"] == -1
    assert call("offsets_for_times", timestamp=now, **ask) == {"offset": 0, "timestamp": now}
    assert call("offsets_for_times", timestamp=now + 301, **ask) is None


def test_deleted_records_are_gone_and_offsets_stay(call: Call, topic_name: str) -> None:
    """KIP-107: DeleteRecords moves the log start; -1 means up to the high watermark."""
    call("create_topic", topic=topic_name)
    write(call, topic_name, *(b"%d" % i for i in range(10)))
    assert call("delete_records", topic=topic_name, before=4) == 4
    assert call("list_offsets", topic=topic_name, spec="earliest")["offset"] == 4
    left = call("consume", partitions=[[topic_name, 0]])
    assert [each["offset"] for each in left] == [4, 5, 6, 7, 8, 9]
    with pytest.raises(JavaError, match="OFFSET_OUT_OF_RANGE"):
        call("delete_records", topic=topic_name, before=11)
    assert call("delete_records", topic=topic_name, before=-1) == 10


def test_the_cluster_and_its_disks_are_described(
    call: Call, shared_broker: BrokerProcess, topic_name: str
) -> None:
    cluster = call("describe_cluster")
    assert len(cluster["cluster_id"]) == 22
    assert cluster["controller"] == 1
    assert [(node["id"], node["port"]) for node in cluster["nodes"]] == [(1, shared_broker.port)]

    call("create_topic", topic=topic_name, partitions=2)
    write(call, topic_name, b"some bytes")
    (directory,) = call("describe_log_dirs", broker=1)
    assert directory["path"] == str(shared_broker.data_dir) and directory["error"] is None
    assert directory["total_bytes"] > 0
    assert directory["replicas"][f"{topic_name}-0"] == (
        (shared_broker.data_dir / f"{topic_name}-0" / f"{0:020}.log").stat().st_size
    )
    assert directory["replicas"][f"{topic_name}-1"] == 0


def test_features_are_announced_and_checked(call: Call) -> None:
    """KIP-584: finalized features with their epoch; an impossible level is refused."""
    features = call("describe_features")
    assert features["epoch"] >= 0
    level = features["finalized"]["metadata.version"]
    low, high = features["supported"]["metadata.version"]
    assert low <= level <= high
    with pytest.raises(JavaError) as refused:
        call(
            "update_feature",
            feature="metadata.version",
            level=high + 50,
            upgrade_type="UPGRADE",
            validate_only=True,
        )
    assert refused.value.code in ("INVALID_UPDATE_VERSION", "FEATURE_UPDATE_FAILED")


def test_a_consumer_that_asks_for_a_lost_offset_is_told(call: Call, topic_name: str) -> None:
    call("create_topic", topic=topic_name)
    write(call, topic_name, b"a", b"b")
    call("delete_records", topic=topic_name, before=1)
    with pytest.raises(JavaError, match="OffsetOutOfRangeException"):
        call("consume", partitions=[[topic_name, 0]], offset=0)
    assert [r["offset"] for r in call("consume", partitions=[[topic_name, 0]], offset=1)] == [1]


def test_a_record_above_the_topics_limit_is_refused(call: Call, topic_name: str) -> None:
    call("create_topic", topic=topic_name, configs={"max.message.bytes": "2000"})
    with pytest.raises(JavaError) as refused:
        write(call, topic_name, bytes(5000))
    assert refused.value.code in ("MESSAGE_TOO_LARGE", "RECORD_TOO_LARGE")
    call("alter_configs", type="TOPIC", name=topic_name, ops=[["SET", "max.message.bytes", "10000"]])
    write(call, topic_name, bytes(5000))


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_a_producer_works_with_every_kind_of_acknowledgement(call: Call, topic_name: str, acks: str) -> None:
    call("create_topic", topic=topic_name)
    config = {"acks": acks, "enable.idempotence": "false"}
    records = [{"key": None, "value": to_base64(b"%d" % index)} for index in range(50)]
    offsets = [each["offset"] for each in call("produce", topic=topic_name, records=records, config=config)]
    assert offsets == ([-1] * 50 if acks == "0" else list(range(50)))
    deadline = time.monotonic() + 10
    while len(read := call("consume", partitions=[[topic_name, 0]])) < 50:
        assert time.monotonic() < deadline, f"{len(read)} of 50 records"
    assert [each["value"] for each in read] == [each["value"] for each in records]
