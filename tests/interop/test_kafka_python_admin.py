"""kafka-python's KafkaAdminClient: a third reading of the same protocol."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from kafka import KafkaConsumer, TopicPartition  # type: ignore[import-untyped]
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient  # type: ignore[import-untyped]
from kafka.errors import InvalidTopicError, TopicAlreadyExistsError  # type: ignore[import-untyped]

from support.broker_process import BrokerProcess
from support.peers.event import Event
from support.peers.kafka_python import KafkaPython

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def admin(shared_broker: BrokerProcess) -> Iterator[Any]:
    client = KafkaAdminClient(bootstrap_servers=shared_broker.bootstrap)
    yield client
    client.close()


def test_a_topic_lives_from_creation_to_deletion(admin: Any, topic_name: str) -> None:
    admin.create_topics({topic_name: {"num_partitions": 2, "replication_factor": 1}}, wait_for_metadata=True)
    (described,) = admin.describe_topics([topic_name])
    assert [each["partition_index"] for each in described["partitions"]] == [0, 1]
    assert {each["leader_id"] for each in described["partitions"]} == {1}
    with pytest.raises(TopicAlreadyExistsError):
        admin.create_topics([topic_name])
    admin.create_partitions({topic_name: 4})
    paged = admin.describe_topic_partitions([topic_name], response_partition_limit=10)
    assert len(paged["topics"][0]["partitions"]) == 4
    admin.delete_topics([topic_name])
    assert topic_name not in admin.list_topics()


def test_a_bad_name_is_refused(admin: Any) -> None:
    with pytest.raises(InvalidTopicError):
        admin.create_topics(["no spaces"])


def test_configurations_are_read_and_changed(admin: Any, topic_name: str) -> None:
    admin.create_topics([topic_name])
    changes = {"retention.ms": "1000", "cleanup.policy": ("APPEND", "compact")}
    result = admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic_name, changes)])
    assert result == {"topic": {topic_name: "OK"}}
    resource = ConfigResource(ConfigResourceType.TOPIC, topic_name)
    modified = admin.describe_configs([resource])["topic"][topic_name]
    assert {name: each["value"] for name, each in modified.items()} == {
        "retention.ms": "1000",
        "cleanup.policy": "delete,compact",
    }
    everything = admin.describe_configs([resource], include_synonyms=True, config_filter="all")["topic"][
        topic_name
    ]
    assert everything["segment.bytes"]["value"] == "1073741824"
    # The older AlterConfigs replaces the whole set.
    admin.alter_configs(
        [ConfigResource(ConfigResourceType.TOPIC, topic_name, {"retention.ms": "7"})], incremental=False
    )
    modified = admin.describe_configs([resource])["topic"][topic_name]
    assert modified["retention.ms"]["value"] == "7"


def test_the_cluster_its_disks_and_features_are_described(
    admin: Any, shared_broker: BrokerProcess, topic_name: str
) -> None:
    cluster = admin.describe_cluster()
    assert cluster["controller_id"] == 1
    assert [each["port"] for each in cluster["brokers"]] == [shared_broker.port]
    KafkaPython().write(shared_broker.bootstrap, topic_name, [Event(b"k", b"v")], "gzip")
    (disk,) = admin.describe_log_dirs()
    assert disk["log_dirs"][0]["log_dir"] == str(shared_broker.data_dir)
    feature = admin.describe_features()["metadata.version"]
    assert feature["supported"][0] <= feature["finalized"][1] <= feature["supported"][1]


def test_records_are_deleted_and_offsets_listed(
    admin: Any, shared_broker: BrokerProcess, topic_name: str
) -> None:
    now = int(time.time() * 1000)
    events = [Event(None, b"%d" % index, timestamp=now + index) for index in range(5)]
    KafkaPython().write(shared_broker.bootstrap, topic_name, events, "none")
    partition = TopicPartition(topic_name, 0)
    admin.delete_records({partition: 3})
    consumer = KafkaConsumer(bootstrap_servers=shared_broker.bootstrap, group_id=None)
    try:
        assert consumer.beginning_offsets([partition]) == {partition: 3}
        assert consumer.end_offsets([partition]) == {partition: 5}
        found = consumer.offsets_for_times({partition: now + 4})[partition]
        assert (found.offset, found.timestamp) == (4, now + 4)
    finally:
        consumer.close()


@pytest.mark.parametrize("acks", [0, 1])
def test_a_producer_without_idempotence_works(
    shared_broker: BrokerProcess, topic_name: str, acks: int
) -> None:
    events = [Event(None, b"%d" % index) for index in range(50)]
    KafkaPython().write(
        shared_broker.bootstrap, topic_name, events, "lz4", acks=acks, enable_idempotence=False
    )
    read = KafkaPython().read(shared_broker.bootstrap, {topic_name: 50})
    assert [each.value for each in read[topic_name]] == [event.value for event in events]
