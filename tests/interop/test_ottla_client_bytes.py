"""What our client puts on the wire, to the byte, and where it puts it.

That every other client reads it, and that it reads every other's, is in
test_every_client_reads_every_client.py; that its hash of keys is Java's, in java_assignors/.
"""

from __future__ import annotations

import asyncio
import random
import time
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Consumer as ConfluentConsumer
from confluent_kafka import Producer as ConfluentProducer
from confluent_kafka import TopicPartition as ConfluentPartition

import ottla
from ottla import TopicPartition, aio
from ottla.wire import record_batch as rb
from ottla.wire.compression import Codec
from ottla.wire.record_batch import Record
from support.broker_process import BrokerProcess
from support.raw_client import RawClient, whole_batches

pytestmark = [pytest.mark.interop, pytest.mark.timeout(180)]

PARTITIONS = 7
DEADLINE_S = 40.0
CODECS = [codec.name.lower() for codec in Codec]

_chance = random.Random(5)
NOW_MS = int(time.time() * 1000)
RECORDS = [
    Record(
        i,
        NOW_MS - i * i,
        None if i % 3 == 0 else _chance.randbytes(i % 11),
        None if i % 7 == 0 else b"value " * (i % 50),
        (("trace", _chance.randbytes(8)), ("null", None), ("Größe", b"")) if i % 4 == 0 else (),
    )
    for i in range(300)
]
HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


def table(records: list[Record], **columns: Any) -> Any:
    return pa.table(
        {
            "key": pa.array([record.key for record in records], pa.binary()),
            "value": pa.array([record.value for record in records], pa.binary()),
            "headers": pa.array(
                [[{"key": name, "value": value} for name, value in record.headers] for record in records],
                HEADERS,
            ),
            "timestamp": pa.array([record.timestamp for record in records], pa.timestamp("ms", "UTC")),
            **columns,
        }
    )


def send_all(bootstrap: str, topic: str, codec: str) -> None:
    # One batch: it lingers until it is flushed, and all records fit.
    with ottla.Producer(
        bootstrap, compression_type=codec, linger_ms=60_000, batch_size=1_000_000
    ) as producer:
        for record in RECORDS:
            producer.send(topic, record.value, record.key, headers=record.headers, timestamp=record.timestamp)
        producer.flush(DEADLINE_S)


def send_batch(bootstrap: str, topic: str, codec: str) -> None:
    with ottla.Producer(bootstrap, compression_type=codec) as producer:
        producer.send_batch(topic, table(RECORDS)).result(DEADLINE_S)


def aio_send_all(bootstrap: str, topic: str, codec: str) -> None:
    async def run() -> None:
        options = {"compression_type": codec, "linger_ms": 60_000, "batch_size": 1_000_000}
        async with aio.Producer(bootstrap, **options) as producer:
            for record in RECORDS:
                await producer.send(
                    topic, record.value, record.key, headers=record.headers, timestamp=record.timestamp
                )
            await producer.flush(DEADLINE_S)

    asyncio.run(run())


def aio_send_batch(bootstrap: str, topic: str, codec: str) -> None:
    async def run() -> None:
        async with aio.Producer(bootstrap, compression_type=codec) as producer:
            await (await producer.send_batch(topic, table(RECORDS)))

    asyncio.run(run())


WAYS = {
    "send": send_all,
    "send_batch": send_batch,
    "aio send": aio_send_all,
    "aio send_batch": aio_send_batch,
}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_send_stores_the_same_batch_byte_for_byte(
    shared_broker: BrokerProcess, way: str, codec: str
) -> None:
    topic = f"bytes.{way.replace(' ', '.')}.{codec}"
    with RawClient(shared_broker.port) as client:
        client.create_topic(topic)
        WAYS[way](shared_broker.bootstrap, topic, codec)
        stored = bytes(client.fetch(topic, 0).records or b"")
    assert len(list(whole_batches(stored))) == 1
    header = rb.read_header(stored)
    assert header.producer_id >= 0 and header.base_sequence == 0, "idempotent by default"
    expected = rb.encode_batch(
        RECORDS,
        codec=Codec[codec.upper()],
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=0,
    )
    rb.patch_base_offset_and_epoch(expected, 0, 0, header.leader_epoch)
    assert stored == bytes(expected)


def keys_by_partition(
    bootstrap: str, topic: str, count: int
) -> list[list[tuple[bytes | None, bytes | None]]]:
    """What librdkafka finds in each partition, in order."""
    found: list[list[tuple[bytes | None, bytes | None]]] = [[] for _ in range(PARTITIONS)]
    consumer = ConfluentConsumer({"bootstrap.servers": bootstrap, "group.id": topic})
    consumer.assign([ConfluentPartition(topic, i, 0) for i in range(PARTITIONS)])
    until = time.monotonic() + DEADLINE_S
    while count > 0 and time.monotonic() < until:
        for message in consumer.consume(1_000, 0.2):
            assert message.error() is None
            found[message.partition()].append((message.key(), message.value()))
            count -= 1
    consumer.close()
    return found


def test_keys_go_to_the_partitions_to_which_librdkafka_sends_them_with_javas_hash(
    shared_broker: BrokerProcess, raw: RawClient
) -> None:
    keyed = [(_chance.randbytes(_chance.randrange(40)), b"%d" % i) for i in range(2_000)]
    bootstrap = shared_broker.bootstrap
    for topic in ("keys.confluent", "keys.send", "keys.columns"):
        raw.create_topic(topic, partitions=PARTITIONS)
    theirs = ConfluentProducer({"bootstrap.servers": bootstrap, "partitioner": "murmur2_random"})
    for key, value in keyed:
        theirs.produce("keys.confluent", value, key)
    assert theirs.flush(DEADLINE_S) == 0
    with ottla.Producer(bootstrap) as producer:
        for key, value in keyed:
            producer.send("keys.send", value, key)
        columns = {"key": [key for key, _ in keyed], "value": [value for _, value in keyed]}
        producer.send_batch("keys.columns", pa.table(columns)).result(DEADLINE_S)
    expected = keys_by_partition(bootstrap, "keys.confluent", 2_000)
    assert sum(map(len, expected)) == 2_000 and all(expected)
    assert keys_by_partition(bootstrap, "keys.send", 2_000) == expected
    assert keys_by_partition(bootstrap, "keys.columns", 2_000) == expected


def test_a_polled_batch_can_be_sent_on_as_it_is(shared_broker: BrokerProcess, raw: RawClient) -> None:
    """From topic to topic in columns: nothing of a record changes on the way."""
    bootstrap = shared_broker.bootstrap
    raw.create_topic("on.from", partitions=PARTITIONS)
    raw.create_topic("on.to", partitions=PARTITIONS)
    with ottla.Producer(bootstrap) as producer:
        producer.send_batch("on.from", table(RECORDS)).result(DEADLINE_S)

    def polled(topic: str) -> Any:
        batches, missing = [], len(RECORDS)
        until = time.monotonic() + DEADLINE_S
        with ottla.Consumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest") as consumer:
            consumer.assign([TopicPartition(topic, i) for i in range(PARTITIONS)])
            while missing > 0 and time.monotonic() < until:
                batches.append(consumer.poll_arrow(0.2))
                missing -= batches[-1].num_rows
        return pa.Table.from_batches(batches).sort_by([("partition", "ascending"), ("offset", "ascending")])

    first = polled("on.from")
    with ottla.Producer(bootstrap) as producer:
        kept = first.select(["key", "value", "headers", "timestamp", "partition"])
        producer.send_batch("on.to", kept).result(DEADLINE_S)
    second = polled("on.to")
    assert first.num_rows == len(RECORDS)
    assert second.drop_columns(["topic"]).equals(first.drop_columns(["topic"]))


def test_read_committed_columns_hold_what_was_committed_and_nothing_else(
    shared_broker: BrokerProcess, raw: RawClient
) -> None:
    bootstrap = shared_broker.bootstrap
    raw.create_topic("committed", partitions=1)
    with ottla.Producer(bootstrap, transactional_id="columns") as producer:
        producer.init_transactions()
        for number, commit in enumerate((True, False, True)):
            producer.begin_transaction()
            producer.send_batch("committed", pa.table({"value": [b"%d.%d" % (number, i) for i in range(50)]}))
            if commit:
                producer.commit_transaction()
            else:
                producer.flush(DEADLINE_S)
                producer.abort_transaction()
    values: list[bytes] = []
    until = time.monotonic() + DEADLINE_S
    with ottla.Consumer(
        bootstrap_servers=bootstrap, auto_offset_reset="earliest", isolation_level="read_committed"
    ) as consumer:
        consumer.assign([TopicPartition("committed", 0)])
        while len(values) < 100 and time.monotonic() < until:
            values += consumer.poll_arrow(0.2).column("value").to_pylist()
        assert consumer.poll_arrow(0.1).num_rows == 0
        assert consumer.position(TopicPartition("committed", 0)) == 153, "past the last marker"
    assert values == [b"%d.%d" % (number, i) for number in (0, 2) for i in range(50)]
