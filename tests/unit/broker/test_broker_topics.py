"""CreateTopics, DeleteTopics, CreatePartitions and DescribeTopicPartitions through the broker: the decisions
are tested with `metadata/`; here that they take effect, in every version, and when the reply leaves.
"""

from __future__ import annotations

from typing import Any

import pytest
from broker_bench import NODE_ID, Bench, batch, produce_request, versions_of

from ottla.model.errors import ErrorCode
from ottla.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from ottla.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequestCursor as Cursor,
)
from ottla.wire.messages.metadata import MetadataRequest


@pytest.fixture
def bench() -> Bench:
    return Bench()


def creation(*topics: CreatableTopic, **options: Any) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=list(topics), timeout_ms=1000, **options)


def plain(name: str, partitions: int = 1, replicas: int = 1) -> CreatableTopic:
    return CreatableTopic(name=name, num_partitions=partitions, replication_factor=replicas)


def codes(reply: Any) -> dict[str, int]:
    return {topic.name: topic.error_code for topic in reply.topics}


# --- CreateTopics


@pytest.mark.parametrize("version", versions_of(CreateTopicsRequest))
def test_every_version_creates_a_topic_that_serves_at_once(bench: Bench, version: int) -> None:
    topic = plain("events", 3)
    topic.configs = [CreatableTopicConfig(name="retention.ms", value="1234")]
    (answer,) = bench.call(creation(topic), version).topics
    assert (answer.name, answer.error_code) == ("events", 0)
    if version >= 5:
        assert (answer.num_partitions, answer.replication_factor) == (3, 1)
        assert {each.name: each.value for each in answer.configs}["retention.ms"] == "1234"
    if version >= 7:
        assert answer.topic_id == bench.node.image.topics["events"].topic_id
    assert bench.produce("events", partition=2) == 0
    assert bench.log("events").config.retention_ms == 1234


def test_the_reply_leaves_when_the_topic_is_durable(bench: Bench) -> None:
    correlation_id = bench.peer.send(creation(plain("events")))
    path = bench.node.quorum.log.active_segment.file.path
    assert bench.disk.unsynced_bytes(path) > 0
    assert "events" not in bench.node.image.topics and not bench.peer.replies
    bench.scheduler.run_until(lambda: correlation_id in bench.peer.answered, within_ms=1000)
    assert bench.disk.unsynced_bytes(path) == 0


def test_exists_already_is_said_only_of_what_a_crash_cannot_undo(bench: Bench) -> None:
    """Kafka's QuorumController: an answer from uncommitted state waits until that is committed."""
    bench.peer.send(creation(plain("events")))
    other = bench.connect()
    correlation_id = other.send(creation(plain("events")))
    assert not other.replies
    bench.scheduler.run_until(lambda: bool(other.replies), within_ms=1000)
    reply = bench.reply(creation(), correlation_id, peer=other)
    assert codes(reply) == {"events": ErrorCode.TOPIC_ALREADY_EXISTS}
    assert "events" in bench.node.image.topics
    assert bench.disk.unsynced_bytes(bench.node.quorum.log.active_segment.file.path) == 0


def test_each_topic_of_a_request_succeeds_or_fails_alone(bench: Bench) -> None:
    bench.create("there")
    manual = CreatableTopic(
        name="manual",
        num_partitions=-1,
        replication_factor=-1,
        assignments=[CreatableReplicaAssignment(partition_index=0, broker_ids=[NODE_ID])],
    )
    stranger = CreatableTopic(
        name="stranger",
        num_partitions=-1,
        replication_factor=-1,
        assignments=[CreatableReplicaAssignment(partition_index=0, broker_ids=[99])],
    )
    bad = plain("bad-config")
    bad.configs = [CreatableTopicConfig(name="retention.ms", value="soon")]
    reply = bench.call(
        creation(
            plain("there"),
            plain("a/b"),
            plain(".."),
            plain("x" * 250),
            plain("none", 0),
            plain("many", 1, 3),
            plain("twice"),
            plain("twice"),
            bad,
            stranger,
            manual,
            plain("fine"),
        )
    )
    assert codes(reply) == {
        "there": ErrorCode.TOPIC_ALREADY_EXISTS,
        "a/b": ErrorCode.INVALID_TOPIC_EXCEPTION,
        "..": ErrorCode.INVALID_TOPIC_EXCEPTION,
        "x" * 250: ErrorCode.INVALID_TOPIC_EXCEPTION,
        "none": ErrorCode.INVALID_PARTITIONS,
        "many": ErrorCode.INVALID_REPLICATION_FACTOR,
        "twice": ErrorCode.INVALID_REQUEST,
        "bad-config": ErrorCode.INVALID_CONFIG,
        "stranger": ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        "manual": ErrorCode.NONE,
        "fine": ErrorCode.NONE,
    }
    assert set(bench.node.image.topics) == {"there", "manual", "fine"}


def test_a_check_changes_nothing(bench: Bench) -> None:
    end = bench.node.quorum.log.log_end_offset
    assert codes(bench.call(creation(plain("events"), validate_only=True))) == {"events": 0}
    assert not bench.node.image.topics and bench.node.quorum.log.log_end_offset == end


def test_ten_thousand_partitions_are_one_request_and_more_are_refused(bench: Bench) -> None:
    reply = bench.call(creation(plain("huge", 10_001)))
    assert codes(reply) == {"huge": ErrorCode.POLICY_VIOLATION}
    reply = bench.call(creation(plain("huge", 2**31 - 1)))
    assert codes(reply) == {"huge": ErrorCode.POLICY_VIOLATION}


def test_a_topic_that_cannot_be_recorded_is_not_there(bench: Bench) -> None:
    bench.disk.capacity_bytes = bench.disk.used_bytes()
    assert codes(bench.call(creation(plain("events")))) == {"events": ErrorCode.KAFKA_STORAGE_ERROR}
    assert "events" not in bench.node.quorum.tip.topics and not bench.node.image.topics
    bench.disk.capacity_bytes = None
    assert codes(bench.call(creation(plain("events")))) == {"events": 0}


# --- DeleteTopics


@pytest.mark.parametrize("version", versions_of(DeleteTopicsRequest))
def test_every_version_deletes_by_name(bench: Bench, version: int) -> None:
    bench.create("events", 2)
    if version >= 6:
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name="events")], timeout_ms=1000)
    else:
        request = DeleteTopicsRequest(topic_names=["events"], timeout_ms=1000)
    for code in (0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION):
        (answer,) = bench.call(request, version).responses
        assert (answer.name, answer.error_code) == ("events", code)
    assert not bench.node.partitions and not bench.node.partitions_by_id and not bench.node.logs.logs


def test_a_topic_is_deleted_by_its_id(bench: Bench) -> None:
    topic_id = bench.create("events")
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=None, topic_id=topic_id)], timeout_ms=1000)
    (answer,) = bench.call(request).responses
    assert (answer.error_code, answer.name, answer.topic_id) == (0, "events", topic_id)
    (answer,) = bench.call(request).responses
    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_where_deletion_is_forbidden_it_is_refused() -> None:
    bench = Bench({"delete.topic.enable": "false"})
    bench.create("events")
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name="events")], timeout_ms=1000)
    assert bench.call(request).responses[0].error_code == ErrorCode.TOPIC_DELETION_DISABLED
    old = DeleteTopicsRequest(topic_names=["events"], timeout_ms=1000)
    assert bench.call(old, 2).responses[0].error_code == ErrorCode.INVALID_REQUEST
    assert bench.produce("events") == 0


def test_the_files_of_a_deleted_topic_go_after_their_delay(bench: Bench) -> None:
    bench.create("events", file_delete_delay_ms="1000")
    bench.produce("events")
    bench.delete("events")
    (doomed,) = [name for name in bench.disk.list_dir("/data") if name.endswith("-delete")]
    assert doomed.startswith("events-0.")
    bench.scheduler.run_for(120_000)
    assert not [name for name in bench.disk.list_dir("/data") if name.startswith("events")]


def test_a_topic_can_be_deleted_and_made_again_many_times(bench: Bench) -> None:
    ids = set()
    for _ in range(20):
        ids.add(bench.create("events", 2))
        assert bench.produce("events", batch(3)) == 0
        bench.delete("events")
    assert len(ids) == 20
    bench.restart()
    assert not bench.node.image.topics and not bench.node.logs.logs


# --- CreatePartitions


@pytest.mark.parametrize("version", versions_of(CreatePartitionsRequest))
def test_every_version_adds_partitions_that_serve_at_once(bench: Bench, version: int) -> None:
    bench.create("events", 1)
    bench.produce("events", batch(5))
    request = CreatePartitionsRequest(
        topics=[
            CreatePartitionsTopic(name="events", count=3, assignments=None),
            CreatePartitionsTopic(name="missing", count=3, assignments=None),
        ],
        timeout_ms=1000,
    )
    reply = bench.call(request, version)
    assert {each.name: each.error_code for each in reply.results} == {
        "events": 0,
        "missing": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert bench.produce("events", partition=2) == 0
    assert bench.produce("events") == 5


@pytest.mark.parametrize(
    ("count", "assignments", "code"),
    [
        (2, None, ErrorCode.INVALID_PARTITIONS),
        (1, None, ErrorCode.INVALID_PARTITIONS),
        (-5, None, ErrorCode.INVALID_PARTITIONS),
        (2**31 - 1, None, ErrorCode.POLICY_VIOLATION),
        (3, [[NODE_ID], [NODE_ID]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (3, [[99]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (3, [[NODE_ID]], ErrorCode.NONE),
    ],
)
def test_partitions_only_grow_and_only_as_asked(
    bench: Bench, count: int, assignments: Any, code: ErrorCode
) -> None:
    bench.create("events", 2)
    request = CreatePartitionsRequest(
        topics=[
            CreatePartitionsTopic(
                name="events",
                count=count,
                assignments=None
                if assignments is None
                else [CreatePartitionsAssignment(broker_ids=each) for each in assignments],
            )
        ],
        timeout_ms=1000,
    )
    assert bench.call(request).results[0].error_code == code
    assert len(bench.node.image.topics["events"].partitions) == (3 if code == 0 else 2)


# --- DescribeTopicPartitions


def page(bench: Bench, *names: str, limit: int = 2000, cursor: Cursor | None = None) -> Any:
    return bench.call(
        DescribeTopicPartitionsRequest(
            topics=[TopicRequest(name=name) for name in names],
            response_partition_limit=limit,
            cursor=cursor,
        )
    )


def shape(reply: Any) -> list[tuple[str, list[int]]]:
    return [
        (topic.name, [partition.partition_index for partition in topic.partitions]) for topic in reply.topics
    ]


def test_topics_come_in_pages_by_name(bench: Bench) -> None:
    """KIP-966."""
    for name, count in (("b", 3), ("a", 2), ("c", 1)):
        bench.create(name, count)
    whole = page(bench)
    assert shape(whole) == [("a", [0, 1]), ("b", [0, 1, 2]), ("c", [0])]
    assert whole.next_cursor is None
    partition = whole.topics[0].partitions[0]
    assert (partition.leader_id, partition.replica_nodes, partition.isr_nodes) == (NODE_ID, [1], [1])
    gathered: list[tuple[str, int]] = []
    cursor = None
    pages = 0
    while True:
        reply = page(bench, limit=2, cursor=cursor)
        rows = [(name, index) for name, indexes in shape(reply) for index in indexes]
        assert 0 < len(rows) <= 2
        gathered += rows
        pages += 1
        if reply.next_cursor is None:
            break
        cursor = Cursor(
            topic_name=reply.next_cursor.topic_name, partition_index=reply.next_cursor.partition_index
        )
    assert gathered == [("a", 0), ("a", 1), ("b", 0), ("b", 1), ("b", 2), ("c", 0)]
    assert pages == 3


def test_the_brokers_own_bound_cuts_pages_too() -> None:
    bench = Bench({"max.request.partition.size.limit": "2"})
    bench.create("a", 5)
    reply = page(bench)
    assert shape(reply) == [("a", [0, 1])]
    assert (reply.next_cursor.topic_name, reply.next_cursor.partition_index) == ("a", 2)


@pytest.mark.parametrize("limit", [0, -7])
def test_a_page_has_at_least_one_partition(bench: Bench, limit: int) -> None:
    bench.create("a", 3)
    assert shape(page(bench, limit=limit)) == [("a", [0])]


def test_named_topics_that_are_missing_are_told_and_repeated_ones_are_told_once(bench: Bench) -> None:
    bench.create("a", 1)
    reply = page(bench, "b", "a", "a", "x y")
    assert [(topic.name, topic.error_code) for topic in reply.topics] == [
        ("a", 0),
        ("b", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("x y", ErrorCode.INVALID_TOPIC_EXCEPTION),
    ]


def test_a_cursor_at_a_topic_that_is_gone_goes_on_behind_it(bench: Bench) -> None:
    bench.create("a")
    bench.create("c", 2)
    assert shape(page(bench, cursor=Cursor(topic_name="b", partition_index=4))) == [("c", [0, 1])]
    named = page(bench, "a", "c", cursor=Cursor(topic_name="b", partition_index=0))
    assert [(topic.name, topic.error_code) for topic in named.topics] == [
        ("b", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("c", 0),
    ]


def test_a_cursor_must_name_a_partition(bench: Bench) -> None:
    bench.create("a")
    reply = page(bench, "a", cursor=Cursor(topic_name="a", partition_index=-1))
    assert [topic.error_code for topic in reply.topics] == [ErrorCode.INVALID_REQUEST]


def test_everything_is_there_again_after_any_restart(bench: Bench) -> None:
    bench.create("kept", 3)
    bench.create("gone")
    bench.produce("kept", batch(4), partition=1)
    bench.delete("gone")
    before = bench.node.image.topics["kept"]
    for clean in (True, False):
        bench.restart(clean=clean)
        after = bench.node.image.topics
        assert set(after) == {"kept"}
        assert after["kept"].topic_id == before.topic_id
        assert bench.log("kept", 1).log_end_offset == 4
        assert {topic.name for topic in bench.call(MetadataRequest(topics=None)).topics} == {"kept"}
    assert bench.call(produce_request("gone"), 12).responses[0].partition_responses[0].error_code
