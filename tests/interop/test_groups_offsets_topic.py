"""`__consumer_offsets` is a topic like others: consumers read it, Kafka's dump tool decodes its records."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from kafka import KafkaConsumer
from kafka.structs import TopicPartition as KafkaPythonPartition

from chaos.groups.driver import broker_settings
from support.broker_process import BrokerProcess
from support.group_members.fixtures import SESSION_MS, write
from support.group_members.process import MemberProcess
from support.java_client import JavaClient, from_base64
from support.raw_client import RawClient
from support.waiting import wait_until

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]

PARTITIONS = 4
TOPIC = "counted"
Pair = tuple[bytes | None, bytes | None]


def committed_all(member: MemberProcess) -> bool:
    return member.committed() == {0: 10, 1: 10}


@pytest.fixture(scope="module")
def used(
    tmp_path_factory: pytest.TempPathFactory, java: JavaClient
) -> Iterator[tuple[BrokerProcess, set[Pair]]]:
    """A broker that has seen a classic and a KIP-848 group come and go and one be deleted; and everything
    that then lies in `__consumer_offsets`, as our own wire code reads it.
    """
    folder = tmp_path_factory.mktemp("offsets")
    broker = BrokerProcess(folder / "data", settings=broker_settings(SESSION_MS)).start()
    try:
        with RawClient(broker.port) as client:
            client.create_topic(TOPIC, 2)
        write(broker, TOPIC, 0, 9)
        for group, protocol in (("classic", "classic"), ("newer", "consumer"), ("deleted", "classic")):
            member = MemberProcess(
                "confluent-kafka",
                folder,
                name=f"member-of-{group}",
                bootstrap=broker.bootstrap,
                group=group,
                topic=TOPIC,
                protocol=protocol,
                session_ms=SESSION_MS,
            )
            wait_until(partial(committed_all, member), f"the commits of {group}", timeout_s=30)
            assert member.stop() == 0
        java.call("delete_group", broker.bootstrap, group="deleted")
        with RawClient(broker.port) as client:
            stored: set[Pair] = {
                (bytes(each.key or b""), None if each.value is None else bytes(each.value))
                for partition in range(PARTITIONS)
                for each in client.read_all("__consumer_offsets", partition)
            }
        assert len(stored) > 10 and any(value is None for _, value in stored)
        yield broker, stored
        assert broker.running
    finally:
        broker.kill()


def test_the_topic_is_internal_and_compacted(used: tuple[BrokerProcess, set[Pair]], java: JavaClient) -> None:
    broker, _ = used
    described = java.call("describe_topic", broker.bootstrap, topic="__consumer_offsets")
    assert described["internal"] is True and len(described["partitions"]) == PARTITIONS
    configs = java.call("describe_configs", broker.bootstrap, type="TOPIC", name="__consumer_offsets")
    assert configs["cleanup.policy"]["value"] == "compact"
    assert configs["compression.type"]["value"] == "producer"


def test_librdkafka_reads_it(used: tuple[BrokerProcess, set[Pair]]) -> None:
    broker, stored = used
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap, "group.id": "unused", "enable.auto.commit": False}
    )
    consumer.assign([TopicPartition("__consumer_offsets", p, OFFSET_BEGINNING) for p in range(PARTITIONS)])
    seen: set[Any] = set()

    def read() -> bool:
        for message in consumer.consume(500, 0.2):
            assert message.error() is None, message.error()
            seen.add((message.key(), message.value()))
        return seen >= stored

    try:
        wait_until(read, "every record was read", timeout_s=20)
    finally:
        consumer.close()


def test_kafka_python_reads_it_by_subscription(used: tuple[BrokerProcess, set[Pair]]) -> None:
    """With exclude_internal_topics=False a pattern finds it."""
    broker, stored = used
    consumer = KafkaConsumer(
        bootstrap_servers=broker.bootstrap,
        group_id="reads-offsets",
        exclude_internal_topics=False,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    consumer.subscribe(pattern="^__consumer_.*")
    seen: set[Any] = set()

    def read() -> bool:
        for batch in consumer.poll(timeout_ms=200).values():
            seen.update((each.key, each.value) for each in batch)
        return seen >= stored

    try:
        wait_until(read, "every record was read", timeout_s=30)
        assert {each.topic for each in consumer.assignment()} == {"__consumer_offsets"}
        assert KafkaPythonPartition("__consumer_offsets", 0) in consumer.assignment()
    finally:
        consumer.close()


async def read_with_aiokafka(bootstrap: str, stored: set[Pair]) -> None:
    consumer = AIOKafkaConsumer(
        "__consumer_offsets",
        bootstrap_servers=bootstrap,
        group_id="reads-offsets-too",
        exclude_internal_topics=False,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    await consumer.start()
    seen: set[Any] = set()
    try:
        while not seen >= stored:
            for batch in (await consumer.getmany(timeout_ms=200)).values():
                seen.update((each.key, each.value) for each in batch)
    finally:
        await consumer.stop()


def test_aiokafka_reads_it(used: tuple[BrokerProcess, set[Pair]]) -> None:
    broker, stored = used
    asyncio.run(asyncio.wait_for(read_with_aiokafka(broker.bootstrap, stored), 30))


def test_java_reads_it(used: tuple[BrokerProcess, set[Pair]], java: JavaClient) -> None:
    broker, stored = used
    read = java.call(
        "consume",
        broker.bootstrap,
        partitions=[["__consumer_offsets", partition] for partition in range(PARTITIONS)],
        config={"exclude.internal.topics": "false"},
    )
    assert {(from_base64(each["key"]), from_base64(each["value"])) for each in read} >= stored


def dumped(text: str) -> list[tuple[Any, Any]]:
    """Key and payload of each dumped record; a tombstone's payload is None."""
    found = re.findall(r" key: (\{.*\}) payload: (\{.*\}|<DELETE>)$", text, re.M)
    return [
        (json.loads(key), None if payload == "<DELETE>" else json.loads(payload)) for key, payload in found
    ]


def test_kafkas_dump_tool_decodes_it(used: tuple[BrokerProcess, set[Pair]], java: JavaClient) -> None:
    """The record formats are Kafka's own: offset commits, classic groups, and those of KIP-848."""
    broker, _ = used
    logs = sorted(Path(broker.data_dir).glob("__consumer_offsets-*/*.log"))
    assert len(logs) == PARTITIONS
    text = java.call("dump", args=["--offsets-decoder", "--files", ",".join(map(str, logs))])
    assert "isvalid: false" not in text
    records = dumped(text)
    assert len(records) == len(re.findall(r"^\| offset: ", text, re.M)), "some record was not decoded"
    last = {json.dumps(key): payload for key, payload in records}

    for group in ("classic", "newer", "deleted"):
        for partition in (0, 1):
            key = {"type": "1", "data": {"group": group, "topic": TOPIC, "partition": partition}}
            commits = [payload for each, payload in records if each == key]
            assert commits[0]["data"]["offset"] == 10 and commits[0]["data"]["metadata"] == ""
            assert (commits[-1] is None) == (group == "deleted")

    classic = [p["data"] for k, p in records if k == {"type": "2", "data": {"group": "classic"}}]
    stable = [each for each in classic if each["members"]]
    assert {(each["protocolType"], each["protocol"]) for each in stable} == {("consumer", "range")}
    assert {each["clientId"] for state in stable for each in state["members"]} == {"member-of-classic"}
    assert classic[-1]["members"] == [] and classic[-1]["generation"] > stable[-1]["generation"]
    assert last[json.dumps({"type": "2", "data": {"group": "deleted"}})] is None

    # KIP-848: group epoch, member, target assignment of group and member, current assignment of a member.
    newer = [(k["type"], p) for k, p in records if k["data"].get("groupId") == "newer"]
    assert {kind for kind, _ in newer} == {"3", "5", "6", "7", "8"}
    assert all(any(kind == each and p is None for each, p in newer) for kind in ("5", "7", "8"))
    epochs = [p["data"]["epoch"] for kind, p in newer if kind == "3"]
    assert epochs == sorted(epochs) and epochs[-1] > epochs[0]
