"""Bytes that Kafka's own classes wrote (4.2.0), for records and headers: kio has no schemas for most of them.

Each vector is the hexadecimal form of what Kafka's serializer gave for the values shown beside it.
"""

from __future__ import annotations

from typing import Any

import pytest

from ottla.wire import framing
from ottla.wire.messages import cluster_metadata, consumer_offsets, transaction_state
from ottla.wire.messages.cluster_metadata import (
    BrokerEndpoint,
    BrokerFeature,
    ConfigRecord,
    FeatureLevelRecord,
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    TopicRecord,
)
from ottla.wire.messages.consumer_offsets import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
)
from ottla.wire.messages.control_records import (
    KRaftVersionRecord,
    LeaderChangeMessage,
    LeaderChangeMessageVoter,
    SnapshotHeaderRecord,
)
from ottla.wire.messages.headers import RequestHeader
from ottla.wire.messages.transaction_state import PartitionsSchema, TransactionLogKey, TransactionLogValue
from ottla.wire.primitives import Encoder


def uuid(high: int, low: int) -> bytes:
    return high.to_bytes(8, "big") + low.to_bytes(8, "big")


KEYS = [
    (OffsetCommitKey(group="shop", topic="orders", partition=7), "0001000473686f7000066f726465727300000007"),
    (GroupMetadataKey(group="shop"), "0002000473686f70"),
    (ConsumerGroupMemberMetadataKey(group_id="shop", member_id="m-1"), "0005000473686f7000036d2d31"),
    (TransactionLogKey(transactional_id="tx"), "000000027478"),
]


def committed(**more: Any) -> OffsetCommitValue:
    return OffsetCommitValue(offset=123456789012, metadata="m", commit_timestamp=1700000000123, **more)


def transaction(**more: Any) -> TransactionLogValue:
    return TransactionLogValue(
        producer_id=4000,
        producer_epoch=3,
        transaction_timeout_ms=60000,
        transaction_status=1,
        transaction_partitions=[PartitionsSchema(topic="orders", partition_ids=[0, 2])],
        transaction_last_update_timestamp_ms=11,
        transaction_start_timestamp_ms=10,
        **more,
    )


VALUES = [
    (committed(), 0, "00000000001cbe991a1400016d0000018bcfe5687b"),
    (
        committed(expire_timestamp=1700000099999),
        1,
        "00010000001cbe991a1400016d0000018bcfe5687b0000018bcfe6ee9f",
    ),
    (committed(), 2, "00020000001cbe991a1400016d0000018bcfe5687b"),
    (committed(leader_epoch=5), 3, "00030000001cbe991a140000000500016d0000018bcfe5687b"),
    (
        committed(leader_epoch=5, topic_id=uuid(1, 2)),
        4,
        "00040000001cbe991a1400000005026d0000018bcfe5687b01001000000000000000010000000000000002",
    ),
    (
        GroupMetadataValue(
            protocol_type="consumer",
            generation=4,
            protocol="range",
            leader="m-1",
            current_state_timestamp=99,
            members=[
                MemberMetadata(
                    member_id="m-1",
                    group_instance_id=None,
                    client_id="c",
                    client_host="/127.0.0.1",
                    rebalance_timeout=300000,
                    session_timeout=45000,
                    subscription=b"\x01\x02",
                    assignment=b"\x03",
                )
            ],
        ),
        3,
        "00030008636f6e73756d657200000004000572616e676500036d2d3100000000000000630000000100036d2d31ffff000163"
        "000a2f3132372e302e302e31000493e00000afc80000000201020000000103",
    ),
    (
        ConsumerGroupMemberMetadataValue(
            instance_id=None,
            rack_id="r",
            client_id="c",
            client_host="h",
            subscribed_topic_names=["a", "b"],
            subscribed_topic_regex=None,
            rebalance_timeout_ms=45000,
            server_assignor="uniform",
            classic_member_metadata=None,
        ),
        0,
        "0000000272026302680302610262000000afc808756e69666f726d01000100",
    ),
    (
        ConsumerGroupMemberMetadataValue(
            instance_id="i",
            rack_id=None,
            client_id="c",
            client_host="h",
            subscribed_topic_names=[],
            subscribed_topic_regex="a.*",
            rebalance_timeout_ms=1,
            server_assignor=None,
            classic_member_metadata=ClassicMemberMetadata(
                session_timeout_ms=45000,
                supported_protocols=[ClassicProtocol(name="range", metadata=b"\x09")],
            ),
        ),
        0,
        "0000026900026302680104612e2a0000000100010010010000afc8020672616e676502090000",
    ),
    (
        transaction(),
        0,
        "00000000000000000fa000030000ea60010000000100066f7264657273000000020000000000000002"
        "000000000000000b000000000000000a",
    ),
    (
        transaction(previous_producer_id=3999, next_producer_epoch=4, client_transaction_version=2),
        1,
        "00010000000000000fa000030000ea600102076f72646572730300000000000000020000000000000000"
        "0b000000000000000a0300080000000000000f9f0202000203020004",
    ),
]

METADATA_RECORDS = [
    (
        TopicRecord(name="orders", topic_id=uuid(1, 2)),
        0,
        "010200076f72646572730000000000000001000000000000000200",
    ),
    (
        PartitionRecord(
            partition_id=1,
            topic_id=uuid(1, 2),
            replicas=[1, 2, 3],
            isr=[1, 2],
            leader=1,
            leader_epoch=5,
            partition_epoch=6,
            directories=[uuid(3, 4), uuid(5, 6), uuid(7, 8)],
            eligible_leader_replicas=[3],
        ),
        2,
        "0103020000000100000000000000010000000000000002040000000100000002000000030300000001000000020101000000"
        "01000000050000000604000000000000000300000000000000040000000000000005000000000000000600000000000000"
        "0700000000000000080101050200000003",
    ),
    (
        PartitionChangeRecord(
            partition_id=1, topic_id=uuid(1, 2), isr=[1], leader=1, leader_recovery_state=0
        ),
        1,
        "01050100000001000000000000000100000000000000020300050200000001010400000001050100",
    ),
    (
        ConfigRecord(resource_type=2, resource_name="orders", name="retention.ms", value="1000"),
        0,
        "01040002076f72646572730d726574656e74696f6e2e6d73053130303000",
    ),
    (
        ConfigRecord(resource_type=2, resource_name="orders", name="retention.ms", value=None),
        0,
        "01040002076f72646572730d726574656e74696f6e2e6d730000",
    ),
    (
        FeatureLevelRecord(name="metadata.version", feature_level=29),
        0,
        "010c00116d657461646174612e76657273696f6e001d00",
    ),
    (
        ProducerIdsRecord(broker_id=1, broker_epoch=77, next_producer_id=2000),
        0,
        "010f0000000001000000000000004d00000000000007d000",
    ),
    (NoOpRecord(), 0, "01140000"),
    (
        RegisterBrokerRecord(
            broker_id=1,
            incarnation_id=uuid(9, 10),
            broker_epoch=12,
            end_points=[BrokerEndpoint(name="PLAINTEXT", host="localhost", port=9092, security_protocol=0)],
            features=[
                BrokerFeature(name="metadata.version", min_supported_version=7, max_supported_version=29)
            ],
            rack=None,
            fenced=True,
            log_dirs=[uuid(3, 4)],
        ),
        3,
        "01000300000001000000000000000009000000000000000a000000000000000c020a504c41494e544558540a6c6f63616c68"
        "6f7374238400000002116d657461646174612e76657273696f6e0007001d0000010001001102000000000000000300000000"
        "00000004",
    ),
]

PLAIN = [
    (
        LeaderChangeMessage(
            version=1,
            leader_id=1,
            voters=[LeaderChangeMessageVoter(voter_id=1, voter_directory_id=uuid(3, 4))],
        ),
        1,
        "000100000001020000000100000000000000030000000000000004000100",
    ),
    (SnapshotHeaderRecord(last_contained_log_timestamp=1700000000123), 0, "00000000018bcfe5687b00"),
    (KRaftVersionRecord(kraft_version=1), 0, "0000000100"),
    (
        RequestHeader(request_api_key=1, request_api_version=17, correlation_id=99, client_id="sarama"),
        2,
        "00010011000000630006736172616d6100",
    ),
]


def name_of(value: object) -> str | None:
    return type(value).__name__ if hasattr(value, "MIN_VERSION") else None


@pytest.mark.parametrize(("key", "expected"), KEYS, ids=name_of)
def test_a_coordinator_key_is_the_bytes_that_kafka_writes(key: Any, expected: str) -> None:
    assert framing.encode_coordinator_key(key).hex() == expected
    module = transaction_state if isinstance(key, TransactionLogKey) else consumer_offsets
    assert framing.decode_coordinator_key(module.KEY_TYPES, bytes.fromhex(expected)) == key


@pytest.mark.parametrize(("value", "version", "expected"), VALUES, ids=name_of)
def test_a_coordinator_value_is_the_bytes_that_kafka_writes(value: Any, version: int, expected: str) -> None:
    assert framing.encode_coordinator_value(value, version).hex() == expected
    module = transaction_state if isinstance(value, TransactionLogValue) else consumer_offsets
    read = framing.decode_coordinator_value(module.VALUE_TYPES, value.RECORD_TYPE, bytes.fromhex(expected))
    assert read == (value, version)


@pytest.mark.parametrize(("record", "version", "expected"), METADATA_RECORDS, ids=name_of)
def test_a_metadata_record_is_the_bytes_that_kafka_writes(record: Any, version: int, expected: str) -> None:
    assert framing.encode_metadata_record(record, version).hex() == expected
    assert framing.decode_metadata_record(bytes.fromhex(expected)) == (record, version)


@pytest.mark.parametrize(("message", "version", "expected"), PLAIN, ids=name_of)
def test_control_records_and_headers_are_the_bytes_that_kafka_writes(
    message: Any, version: int, expected: str
) -> None:
    out = Encoder()
    message.encode(out, version)
    assert out.to_bytes().hex() == expected
    data = bytes.fromhex(expected)
    assert type(message).decode(data, 0, len(data), version) == (message, len(data))


def test_every_record_type_of_the_metadata_log_has_a_class() -> None:
    # Kafka 4.2 has types 0 to 28; these three numbers are unused.
    assert set(range(29)) - set(cluster_metadata.RECORD_TYPES) == {6, 13, 16}
    assert all(number == found.RECORD_TYPE for number, found in cluster_metadata.RECORD_TYPES.items())
