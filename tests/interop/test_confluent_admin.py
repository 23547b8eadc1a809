"""confluent-kafka's AdminClient (librdkafka): the same administration in its words."""

from __future__ import annotations

import time
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from support.broker_process import BrokerProcess
from support.peers.confluent import Confluent
from support.peers.event import Event
from support.waiting import wait_until

pytestmark = pytest.mark.interop

TIMEOUT_S = 15


@pytest.fixture(scope="module")
def admin(shared_broker: BrokerProcess) -> AdminClient:
    return AdminClient({"bootstrap.servers": shared_broker.bootstrap})


def only(futures: dict[Any, Any]) -> Any:
    (future,) = futures.values()
    return future.result(TIMEOUT_S)


def test_a_topic_lives_from_creation_to_deletion(admin: AdminClient, topic_name: str) -> None:
    only(admin.create_topics([NewTopic(topic_name, 3, 1, config={"retention.ms": "5000"})]))
    described = only(admin.describe_topics(TopicCollection([topic_name])))
    assert [each.id for each in described.partitions] == [0, 1, 2]
    assert all(each.leader.id == 1 and [n.id for n in each.isr] == [1] for each in described.partitions)
    with pytest.raises(KafkaException, match="TOPIC_ALREADY_EXISTS"):
        only(admin.create_topics([NewTopic(topic_name, 1, 1)]))
    only(admin.create_partitions([NewPartitions(topic_name, 5)]))
    wait_until(
        lambda: len(admin.list_topics(topic_name, TIMEOUT_S).topics[topic_name].partitions) == 5,
        "5 partitions",
    )
    only(admin.delete_topics([topic_name]))
    wait_until(lambda: topic_name not in admin.list_topics(timeout=TIMEOUT_S).topics, "the topic's end")


def test_configurations_are_read_and_changed(admin: AdminClient, topic_name: str) -> None:
    only(admin.create_topics([NewTopic(topic_name, 1, 1)]))
    resource = ConfigResource(
        ResourceType.TOPIC,
        topic_name,
        incremental_configs=[
            ConfigEntry("retention.ms", "1000", incremental_operation=AlterConfigOpType.SET),
            ConfigEntry("cleanup.policy", "compact", incremental_operation=AlterConfigOpType.APPEND),
        ],
    )
    only(admin.incremental_alter_configs([resource]))
    configs = only(admin.describe_configs([ConfigResource(ResourceType.TOPIC, topic_name)]))
    assert configs["retention.ms"].value == "1000"
    assert configs["cleanup.policy"].value == "delete,compact"
    assert configs["segment.bytes"].value == "1073741824"
    broker = only(admin.describe_configs([ConfigResource(ResourceType.BROKER, "1")]))
    assert broker["node.id"].value == "1"


def test_offsets_and_deleted_records(
    admin: AdminClient, shared_broker: BrokerProcess, topic_name: str
) -> None:
    only(admin.create_topics([NewTopic(topic_name, 1, 1)]))
    now = int(time.time() * 1000)
    events = [Event(None, b"%d" % index, timestamp=now + index) for index in range(6)]
    Confluent().write(shared_broker.bootstrap, topic_name, events, "none")
    partition = TopicPartition(topic_name, 0)

    def offset(spec: Any) -> int:
        return int(only(admin.list_offsets({partition: spec})).offset)

    specs: Any = OffsetSpec
    assert offset(specs.earliest()) == 0
    assert offset(specs.latest()) == 6
    assert offset(specs.max_timestamp()) == 5
    assert offset(specs.for_timestamp(now + 3)) == 3
    only(admin.delete_records([TopicPartition(topic_name, 0, 2)]))
    assert offset(specs.earliest()) == 2


def test_the_cluster_is_described(admin: AdminClient, shared_broker: BrokerProcess) -> None:
    cluster = admin.describe_cluster().result(TIMEOUT_S)
    assert len(cluster.cluster_id) == 22
    assert [(node.id, node.port) for node in cluster.nodes] == [(1, shared_broker.port)]


def test_a_consumer_finds_offsets_by_time_and_watermarks(
    admin: AdminClient, shared_broker: BrokerProcess, topic_name: str
) -> None:
    only(admin.create_topics([NewTopic(topic_name, 1, 1)]))
    now = int(time.time() * 1000)
    events = [Event(None, b"%d" % index, timestamp=now + index * 10) for index in range(4)]
    Confluent().write(shared_broker.bootstrap, topic_name, events, "lz4")
    consumer = Consumer({"bootstrap.servers": shared_broker.bootstrap, "group.id": "unused"})
    try:
        assert consumer.get_watermark_offsets(TopicPartition(topic_name, 0), TIMEOUT_S) == (0, 4)
        (found,) = consumer.offsets_for_times([TopicPartition(topic_name, 0, now + 15)], TIMEOUT_S)
        assert found.offset == 2
    finally:
        consumer.close()


def test_producing_to_a_topic_that_does_not_exist_creates_it(
    shared_broker: BrokerProcess, topic_name: str
) -> None:
    """auto.create.topics.enable, with num.partitions."""
    acks = Confluent().write(shared_broker.bootstrap, topic_name, [Event(b"k", b"v")], "none")
    assert [ack.offset for ack in acks] == [0]


@pytest.mark.parametrize("acks", ["0", "1"])
def test_a_producer_without_idempotence_works(
    shared_broker: BrokerProcess, topic_name: str, acks: str
) -> None:
    events = [Event(None, b"%d" % index) for index in range(200)]
    Confluent().write(
        shared_broker.bootstrap, topic_name, events, "snappy", acks=acks, **{"enable.idempotence": "false"}
    )
    read = Confluent().read(shared_broker.bootstrap, {topic_name: 200})
    assert [each.value for each in read[topic_name]] == [event.value for event in events]
