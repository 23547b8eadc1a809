"""What clients do with the flights: publish them, read them back, share them in a group, copy them as tables,
pick the late ones out in transactions. The clients are confluent-kafka, unmodified, and Ottla's own.
"""

from __future__ import annotations

import json
import sys
import time

import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from events import PARTITIONS, TOPIC, fingerprint, flights

import ottla

GROUP = "departures"
COPY_TOPIC = "flights-copy"
LATE_TOPIC = "late-flights"
LATE_MINUTES = 60
BATCH = 25_000
"""Flights that one transaction looks at."""


def publish(bootstrap: str) -> tuple[int, int, str, float]:
    """Publishes every flight with an idempotent producer; counts what the broker acknowledged."""
    producer = Producer(
        {"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 20, "log_level": 0}
    )
    acknowledged = 0
    failures: list[str] = []

    def delivered(error: KafkaError | None, message: object) -> None:
        nonlocal acknowledged
        if error is None:
            acknowledged += 1
        else:
            failures.append(str(error))

    events = list(flights())
    size_bytes = sum(len(key) + len(value) for key, value, _ in events)
    digest = 0
    began = time.monotonic()
    for key, value, timestamp in events:
        while True:
            try:
                producer.produce(TOPIC, value, key, timestamp=timestamp, on_delivery=delivered)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    left = producer.flush(60)
    seconds = time.monotonic() - began
    if left or failures:
        sys.exit(f"demo: {left} events were not delivered, {len(failures)} failed: {failures[:1]}")
    for event in events:
        digest ^= fingerprint(*event)
    return acknowledged, size_bytes, f"{digest:032x}", seconds


def read_back(bootstrap: str, expected: int) -> tuple[int, str, float]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "demo",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
        }
    )
    consumer.assign([TopicPartition(TOPIC, partition, 0) for partition in range(PARTITIONS)])
    messages = []
    began = time.monotonic()
    deadline = began + 60
    while len(messages) < expected and time.monotonic() < deadline:
        messages.extend(consumer.consume(10_000, timeout=0.2))
    seconds = time.monotonic() - began
    consumer.close()
    digest = 0
    last: dict[int, int] = {}
    for message in messages:
        if message.error():
            sys.exit(f"demo: reading failed: {message.error()}")
        partition, offset = message.partition(), message.offset()
        if offset != last.get(partition, -1) + 1:
            sys.exit(f"demo: partition {partition} jumps from offset {last.get(partition)} to {offset}")
        last[partition] = offset
        digest ^= fingerprint(message.key(), message.value(), message.timestamp()[1])
    return len(messages), f"{digest:032x}", seconds


def read_as_group(bootstrap: str, expected: int) -> tuple[list[int], float]:
    """Two members share the partitions and commit what they have read; how much each of them got."""
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": GROUP,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    }
    began = time.monotonic()
    deadline = began + 60
    members = [Consumer(settings) for _ in range(2)]
    for member in members:
        member.subscribe([TOPIC])
    counts = [0, 0]
    while sum(counts) < expected and time.monotonic() < deadline:
        for index, member in enumerate(members):
            counts[index] += len(member.consume(10_000, timeout=0.05))
    for member, count in zip(members, counts, strict=True):
        if count:
            member.commit(asynchronous=False)
        member.close()
    seconds = time.monotonic() - began
    left = Consumer(settings)
    committed = left.committed([TopicPartition(TOPIC, partition) for partition in range(PARTITIONS)], 10)
    left.close()
    if sum(each.offset for each in committed) != expected:
        sys.exit(
            f"demo: the group has committed {[each.offset for each in committed]}, not all of {expected}"
        )
    return counts, seconds


def read_table(bootstrap: str, topic: str, expected: int) -> pa.Table:
    """A whole topic as an Arrow table, without an object per record."""
    batches, count = [], 0
    with ottla.Consumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([ottla.TopicPartition(topic, partition) for partition in range(PARTITIONS)])
        deadline = time.monotonic() + 60
        while count < expected and time.monotonic() < deadline:
            batches.append(consumer.poll_arrow(timeout=1))
            count += batches[-1].num_rows
    return pa.Table.from_batches(batches)


def copy_as_tables(bootstrap: str, expected: int) -> tuple[bool, float, float]:
    """Reads the topic as columns and publishes the table to another one, each row to the partition it was
    in. Whether the copy is equal, and the seconds that reading and publishing took.
    """
    began = time.monotonic()
    table = read_table(bootstrap, TOPIC, expected)
    read_s = time.monotonic() - began
    with ottla.Producer(bootstrap_servers=bootstrap) as producer:
        began = time.monotonic()
        producer.send_batch(COPY_TOPIC, table.select(["key", "value", "timestamp", "partition"]))
        producer.flush()
        published_s = time.monotonic() - began
    order = [("partition", "ascending"), ("offset", "ascending")]
    columns = ["partition", "offset", "key", "value", "timestamp"]
    copy = read_table(bootstrap, COPY_TOPIC, expected)
    same = copy.sort_by(order).select(columns).equals(table.sort_by(order).select(columns))
    return same, read_s, published_s


def is_late(value: bytes) -> bool:
    delay = json.loads(value)["dep_delay"]
    return delay is not None and delay > LATE_MINUTES


def pick_late_ones(bootstrap: str, expected: int) -> tuple[int, int, int, float]:
    """Consume, transform, produce: each transaction holds the late flights and the offsets they come from.
    Every fourth is aborted at its end and done again. How many were committed, how many aborted, how many
    late flights a reader sees, and in what time.
    """
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "late-picker",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "late-picker"})
    began = time.monotonic()
    deadline = began + 60
    consumer.subscribe([TOPIC])
    producer.init_transactions(30)
    done = committed = aborted = 0
    while done < expected and time.monotonic() < deadline:
        flights = consumer.consume(min(BATCH, expected - done), timeout=1)
        if not flights:
            continue
        firsts: dict[int, int] = {}
        producer.begin_transaction()
        for flight in flights:
            firsts.setdefault(flight.partition(), flight.offset())
            value = flight.value()
            if value is not None and is_late(value):
                producer.produce(LATE_TOPIC, value, flight.key())
                producer.poll(0)
        places = consumer.position(consumer.assignment())
        producer.send_offsets_to_transaction(places, consumer.consumer_group_metadata(), 30)
        if (committed + aborted) % 4 == 2:
            producer.abort_transaction(30)
            aborted += 1
            for partition, offset in firsts.items():
                consumer.seek(TopicPartition(TOPIC, partition, offset))
        else:
            producer.commit_transaction(30)
            committed += 1
            done += len(flights)
    seconds = time.monotonic() - began
    consumer.close()
    return committed, aborted, count_committed(bootstrap, LATE_TOPIC), seconds


def count_committed(bootstrap: str, topic: str) -> int:
    """What a reader with read_committed sees of a topic with one partition."""
    reader = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "auditor",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    reader.assign([TopicPartition(topic, 0, 0)])
    count = 0
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for message in reader.consume(10_000, timeout=1):
            error = message.error()
            if error is None:
                count += 1
            elif error.code() == KafkaError._PARTITION_EOF:
                reader.close()
                return count
    sys.exit(f"demo: the end of {topic} was not reached")
