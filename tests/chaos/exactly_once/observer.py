"""What is asked from outside in an exactly-once run: offsets, features, whole topics, and the batches as they
lie in the log.

Questions of a few numbers go over a plain connection (`RawClient`), so that they do not depend on the clients
that are under test; topics are read with confluent-kafka under either isolation level.
"""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, KafkaError, TopicPartition

from chaos.exactly_once.checker import Ends
from chaos.exactly_once.follower import seen
from chaos.exactly_once.records import GROUP, INPUT, PARTITIONS, Seen
from ottla.model.errors import ErrorCode
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from support.raw_client import ConnectionEnded, RawClient, whole_batches

READ_TIMEOUT_S = 180.0
LATEST = -1
_HEADER = struct.Struct(">qiibIhiqqqhi")
"""Of a batch: base offset, length, leader epoch, magic, CRC, attributes, last offset delta, two timestamps,
producer id and epoch, base sequence.
"""
_CONTROL = 0x20
_COMMIT = 1


def unanswered(error: BaseException) -> bool:
    return isinstance(error, (OSError, ConnectionEnded))


def committed_offsets(port: int) -> dict[int, int]:
    """Of the group, as far as the coordinator says; empty while it does not answer."""
    topic = OffsetFetchRequestTopics(name=INPUT, partition_indexes=list(range(PARTITIONS)))
    request = OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(group_id=GROUP, topics=[topic])], require_stable=True
    )
    try:
        with RawClient(port, timeout_s=5) as client:
            (group,) = client.call(request, 8).groups
    except (OSError, ConnectionEnded):
        return {}
    if group.error_code != ErrorCode.NONE:
        return {}
    return {
        each.partition_index: each.committed_offset
        for found in group.topics
        for each in found.partitions
        if each.error_code == ErrorCode.NONE and each.committed_offset >= 0
    }


def ends_of(port: int, topic: str) -> dict[str, Ends]:
    with RawClient(port) as client:
        (found,) = client.call(MetadataRequest(topics=[MetadataRequestTopic(name=topic)]), 12).topics
        partitions = sorted(each.partition_index for each in found.partitions)
        ends = [_latest(client, topic, partitions, isolation) for isolation in (1, 0)]
    return {f"{topic}-{partition}": Ends(ends[0][partition], ends[1][partition]) for partition in partitions}


def _latest(client: RawClient, topic: str, partitions: list[int], isolation: int) -> dict[int, int]:
    asked = [
        ListOffsetsPartition(partition_index=partition, current_leader_epoch=-1, timestamp=LATEST)
        for partition in partitions
    ]
    request = ListOffsetsRequest(
        replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=asked)], isolation_level=isolation
    )
    (answer,) = client.call(request, 6).topics
    for each in answer.partitions:
        assert each.error_code == ErrorCode.NONE, f"{topic}-{each.partition_index}: error {each.error_code}"
    return {each.partition_index: each.offset for each in answer.partitions}


def finalized_features(port: int) -> dict[str, int]:
    request = ApiVersionsRequest(client_software_name="observer", client_software_version="1")
    with RawClient(port) as client:
        answer = client.call(request, 4)
    return {each.name: each.max_version_level for each in answer.finalized_features}


def read_topic(bootstrap: str, topic: str, isolation: str) -> list[Seen]:
    """Everything from the beginning to the end of every partition."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "observer-unused",
            "enable.auto.commit": False,
            "isolation.level": isolation,
            "enable.partition.eof": True,
            "check.crcs": True,
            "auto.offset.reset": "error",
            "log_level": 4,
        }
    )
    found: list[Seen] = []
    open_partitions = set(range(PARTITIONS))
    consumer.assign([TopicPartition(topic, partition, 0) for partition in open_partitions])
    deadline = time.monotonic() + READ_TIMEOUT_S
    try:
        while open_partitions:
            assert time.monotonic() < deadline, f"{topic} was not read to its end in {READ_TIMEOUT_S} s"
            for message in consumer.consume(5_000, 0.2):
                error = message.error()
                if error is None:
                    found.append(seen(message))
                elif error.code() == KafkaError._PARTITION_EOF:
                    open_partitions.discard(message.partition() or 0)
                else:
                    raise AssertionError(f"reading {topic}: {error}")
    finally:
        consumer.close()
    return found


@dataclass
class LogFacts:
    """What the batches of a topic say about the transactions that wrote them."""

    data_batches: int = 0
    commit_marks: int = 0
    abort_marks: int = 0
    commits_of_old_generation: int = 0
    """Marks with the epoch of the data: the producer keeps its epoch from transaction to transaction."""
    commits_of_kip_890: int = 0
    """Marks with the next epoch: each end of a transaction raises it (`transaction.version=2`)."""
    producers: set[int] = field(default_factory=set)


def log_facts(port: int, topic: str) -> LogFacts:
    facts = LogFacts()
    with RawClient(port) as client:
        for partition in range(PARTITIONS):
            epochs: dict[int, int] = {}
            offset = 0
            while True:
                part: Any = client.fetch(topic, offset, partition=partition, max_wait_ms=0)
                assert part.error_code == ErrorCode.NONE, part.error_code
                if offset >= part.high_watermark:
                    break
                data = bytes(part.records)
                for position in whole_batches(data):
                    offset = _count(data, position, epochs, facts)
    return facts


def _count(data: bytes, position: int, epochs: dict[int, int], facts: LogFacts) -> int:
    """Counts one batch and returns the offset behind it."""
    base, _, _, _, _, attributes, last_delta, _, _, producer_id, epoch, _ = _HEADER.unpack_from(
        data, position
    )
    if not attributes & _CONTROL:
        facts.data_batches += 1
        facts.producers.add(producer_id)
        epochs[producer_id] = epoch
    elif _mark_type(data, position) == _COMMIT:
        facts.commit_marks += 1
        if epochs.get(producer_id) == epoch:
            facts.commits_of_old_generation += 1
        elif epochs.get(producer_id) == epoch - 1:
            facts.commits_of_kip_890 += 1
    else:
        facts.abort_marks += 1
    return int(base + last_delta + 1)


def _mark_type(data: bytes, position: int) -> int:
    """The type in the key of a control record: after the header come the record's length, attributes, two
    deltas and the key's length, a byte each in a record this small; then the key's version and type.
    """
    return int.from_bytes(data[position + 61 + 5 + 2 : position + 61 + 5 + 4], "big")
