"""Compaction in a real broker with real clients: what is left is the last value of each key, at its offset.

Segments of 1 MiB (the least that Kafka allows), a cleaner that looks every 100 ms; and a producer, readers
and kill -9 beside it.
"""

from __future__ import annotations

import os
import random
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from support.broker_process import BrokerFactory, BrokerProcess
from support.java_client import JavaClient
from support.peers.confluent import Confluent
from support.peers.event import Event
from support.peers.java import Java
from support.raw_client import RawClient
from support.waiting import wait_until

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]

EAGER = {
    "log.cleaner.backoff.ms": "100",
    "log.cleaner.min.cleanable.ratio": "0.01",
    "log.segment.delete.delay.ms": "0",
    "log.initial.task.delay.ms": "100",
}
KEYS = 150
EVENTS = 6_000


def events(seed: int, count: int = EVENTS, keys: int = KEYS) -> list[Event]:
    chance = random.Random(seed)
    return [
        Event(
            b"key-%d" % chance.randrange(keys),
            None if chance.random() < 0.02 else b"%d " % number + chance.randbytes(300) + bytes(300),
            (("number", b"%d" % number),),
        )
        for number in range(count)
    ]


def create(broker: BrokerProcess, topic: str, **configs: str) -> None:
    with RawClient(broker.port) as client:
        client.create_topic(topic, cleanup_policy="compact", segment_bytes="1048576", **configs)


def noted(broker: BrokerProcess, topic: str) -> int:
    """How far the topic is clean, by the checkpoint."""
    path = broker.data_dir / "cleaner-offset-checkpoint"
    lines = path.read_text().splitlines() if path.exists() else []
    return next((int(line.split()[2]) for line in lines if line.startswith(f"{topic} 0 ")), 0)


def active_base(broker: BrokerProcess, topic: str) -> int:
    return max(int(file.name[:20]) for file in (broker.data_dir / f"{topic}-0").glob("*.log"))


def wait_until_clean(broker: BrokerProcess, topic: str, timeout_s: float = 60.0) -> None:
    wait_until(
        lambda: noted(broker, topic) >= active_base(broker, topic) > 0,
        f"{topic} to be compacted",
        timeout_s=timeout_s,
    )


def cleaners(broker: BrokerProcess) -> list[int]:
    """The ids of its cleaner processes."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == broker.pid and fields[0] != "Z":
            found.append(int(status.parent.name))
    return found


@pytest.fixture(scope="module")
def compacted(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[BrokerProcess, list[Event], dict[bytes, int]]]:
    """A compacted topic, what was written to it, and the last offset of each key."""
    broker = BrokerProcess(tmp_path_factory.mktemp("compacted") / "data", settings=EAGER).start()
    try:
        create(broker, "table")
        written: list[Event] = []
        for number, codec in enumerate(("none", "zstd", "lz4", "gzip", "snappy")):
            more = events(number)
            acks = Confluent().write(broker.bootstrap, "table", more, codec, **{"batch.size": "30000"})
            assert [ack.offset for ack in acks] == list(range(len(written), len(written) + len(more)))
            written += more
        # Enough, with nothing to compress, that all of the above is in closed segments.
        padding = [Event(b"padding", random.Random(9).randbytes(60_000), ()) for _ in range(20)]
        Confluent().write(broker.bootstrap, "table", padding, "none")
        written += padding
        wait_until_clean(broker, "table")
        last = {event.key: offset for offset, event in enumerate(written) if event.key is not None}
        yield broker, written, last
        assert broker.running
    finally:
        broker.kill()


def check(seen: list[tuple[int, bytes | None, bytes | None]], written: list[Event], clean_upto: int) -> None:
    """Offsets and contents are as they were written, and of each key the last one is there."""
    assert [offset for offset, _, _ in seen] == sorted({offset for offset, _, _ in seen})
    for offset, key, value in seen:
        assert (key, value) == (written[offset].key, written[offset].value), offset
    there = {key: offset for offset, key, _ in seen}
    last = {event.key: offset for offset, event in enumerate(written)}
    assert there == last
    in_clean_part = [key for offset, key, _ in seen if offset < clean_upto]
    assert len(in_clean_part) == len(set(in_clean_part)), "a key is twice in what was compacted"


def read_all(broker: BrokerProcess, topic: str) -> list[tuple[int, bytes | None, bytes | None]]:
    """With librdkafka, to the end of the partition."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "reader",
            "enable.partition.eof": True,
            "check.crcs": True,
            "isolation.level": "read_committed",
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    seen: list[tuple[int, bytes | None, bytes | None]] = []
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for message in consumer.consume(1000, 0.5):
                if message.error() is not None:
                    assert message.error().code() == -191, message.error()  # the end of the partition
                    return seen
                seen.append((message.offset(), message.key(), message.value()))
    finally:
        consumer.close()
    raise AssertionError("the end was not reached")


def check_topic(broker: BrokerProcess, topic: str, written: list[Event]) -> None:
    clean_upto = noted(broker, topic)  # before it is read: it may be compacted meanwhile
    check(read_all(broker, topic), written, clean_upto)


def test_librdkafka_reads_the_last_value_of_every_key(
    compacted: tuple[BrokerProcess, list[Event], dict[bytes, int]],
) -> None:
    broker, written, last = compacted
    seen = read_all(broker, "table")
    check(seen, written, noted(broker, "table"))
    assert len(seen) < len(last) + 200 < len(written) / 20
    with RawClient(broker.port) as client:
        assert client.end_offset("table") == len(written)


def test_java_reads_the_same(
    compacted: tuple[BrokerProcess, list[Event], dict[bytes, int]], java: JavaClient
) -> None:
    broker, written, _ = compacted
    seen = Java(java).read(broker.bootstrap, {"table": len(written)})["table"]
    check([(each.offset, each.key, each.value) for each in seen], written, noted(broker, "table"))
    assert all(each.headers == written[each.offset].headers for each in seen)


def test_kafkas_tool_finds_the_cleaned_segments_and_indexes_sound(
    compacted: tuple[BrokerProcess, list[Event], dict[bytes, int]], java: JavaClient
) -> None:
    broker, _, last = compacted
    folder = broker.data_dir / "table-0"
    logs = [file for file in sorted(folder.glob("*.log")) if file.stat().st_size]
    text = java.call("dump", args=["--deep-iteration", "--files", ",".join(map(str, logs))])
    assert text.count("isvalid: true") == text.count("baseOffset:") > 0
    assert "isvalid: false" not in text
    offsets = [int(found) for found in re.findall(r"^\| offset: (\d+) ", text, re.M)]
    assert set(last.values()) <= set(offsets)
    for file in (*folder.glob("*.index"), *folder.glob("*.timeindex")):
        if file.stat().st_size:
            told = java.call("dump", args=["--files", str(file)])
            assert "Mismatches" not in told and "Found" not in told, told


def test_it_is_the_same_after_kill_nine_and_a_clean_restart(
    compacted: tuple[BrokerProcess, list[Event], dict[bytes, int]],
) -> None:
    broker, written, _ = compacted
    for end in (broker.kill, broker.stop):
        end()
        broker.start()
        check_topic(broker, "table", written)


def test_an_idempotent_producer_goes_on_across_compaction(start_broker: BrokerFactory) -> None:
    """Its last batch was superseded by another producer's, and it comes with the next sequence."""
    broker = start_broker(settings=EAGER)
    create(broker, "table")
    early = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True})
    early.produce("table", b"old", b"key-0", partition=0)
    assert early.flush(30) == 0
    Confluent().write(broker.bootstrap, "table", events(1, 4_000), "none")
    wait_until_clean(broker, "table")
    broker.kill()
    broker.start()
    errors = []
    early.produce("table", b"new", b"key-0", partition=0, on_delivery=lambda error, _: errors.append(error))
    assert early.flush(60) == 0 and errors == [None]
    assert {key: value for _, key, value in read_all(broker, "table")}[b"key-0"] == b"new"


def test_kill_nine_again_and_again_while_it_compacts_loses_nothing(start_broker: BrokerFactory) -> None:
    broker = start_broker(settings=EAGER)
    create(broker, "table")
    written: list[Event] = []
    chance = random.Random(5)
    for life in range(6):
        more = events(100 + life, 4_000)
        acks = Confluent().write(broker.bootstrap, "table", more, chance.choice(("none", "zstd", "lz4")))
        assert acks[0].offset == len(written)
        written += more
        before = noted(broker, "table")
        if life % 2:
            wait_until(
                lambda: cleaners(broker) or noted(broker, "table") > before,  # noqa: B023
                "a cleaner at work",
                timeout_s=30,
            )
            time.sleep(chance.random() * 0.1)  # somewhere in its work: which moment is left to chance
        broker.kill()
        broker.start()
        check_topic(broker, "table", written)
    wait_until_clean(broker, "table")
    check_topic(broker, "table", written)
    folder = broker.data_dir / "table-0"
    assert not [file for file in folder.iterdir() if file.name.endswith((".cleaned", ".swap"))]


def test_a_cleaner_that_is_killed_is_replaced_and_none_outlives_the_broker(
    start_broker: BrokerFactory,
) -> None:
    # Slow enough to be caught, and quick to try again once it is let go.
    broker = start_broker(settings={**EAGER, "log.cleaner.io.max.bytes.per.second": "400000"})
    create(broker, "table")
    written = events(7, 4_000)
    Confluent().write(broker.bootstrap, "table", written, "none")
    (pid,) = wait_until(lambda: cleaners(broker), "a cleaner", timeout_s=30)
    mark = broker.log_mark()
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: "next try" in broker.log_since(mark), "a word about it")
    check_topic(broker, "table", written)
    again = wait_until(lambda: [each for each in cleaners(broker) if each != pid], "another", timeout_s=60)
    broker.kill()
    wait_until(lambda: not Path(f"/proc/{again[0]}").exists(), "its end with the broker's")


def test_a_damaged_segment_stops_the_compaction_of_its_topic_only(start_broker: BrokerFactory) -> None:
    broker = start_broker(settings={**EAGER, "log.cleaner.backoff.ms": "1000"})
    for topic in ("bad", "good"):
        create(broker, topic, **({"min_compaction_lag_ms": "3000"} if topic == "bad" else {}))
    written = events(8, 4_000)
    for topic in ("bad", "good"):
        Confluent().write(broker.bootstrap, topic, written, "none")
    victim = sorted((broker.data_dir / "bad-0").glob("*.log"))[1]
    with victim.open("r+b") as file:
        file.seek(3_000)
        byte = file.read(1)
        file.seek(3_000)
        file.write(bytes([byte[0] ^ 0xFF]))
    wait_until_clean(broker, "good")
    check_topic(broker, "good", written)
    mark = 0
    wait_until(lambda: "bad-0 is not compacted any more" in broker.log_since(mark), "a word", timeout_s=60)
    line = next(each for each in broker.log_lines_since(mark) if "bad-0 is not compacted any more" in each)
    assert re.search(r"at offset \d+", line)
    acks = Confluent().write(broker.bootstrap, "bad", events(9, 10), "none")
    assert acks[0].offset == len(written)


def test_committed_offsets_survive_the_compaction_of_their_topic(start_broker: BrokerFactory) -> None:
    """`__consumer_offsets` is really compacted, and the coordinator loads what is left of it."""
    broker = start_broker(
        settings={
            **EAGER,
            "offsets.topic.num.partitions": "1",
            "offsets.topic.replication.factor": "1",
            "offsets.topic.segment.bytes": "1048576",
        }
    )
    with RawClient(broker.port) as client:
        client.create_topic("orders")
    groups = [f"group-{number}" for number in range(5)]
    consumers = [
        Consumer(
            {
                "bootstrap.servers": broker.bootstrap,
                "group.id": group,
                "enable.auto.commit": False,
                "log_level": 0,
            }
        )
        for group in groups
    ]
    metadata = "m" * 3_000  # so that a thousand commits fill some segments
    for offset in range(1, 201):
        for consumer in consumers:
            consumer.commit(
                offsets=[TopicPartition("orders", 0, offset, metadata=metadata)], asynchronous=False
            )
    wait_until_clean(broker, "__consumer_offsets")
    size = sum(file.stat().st_size for file in (broker.data_dir / "__consumer_offsets-0").glob("*.log"))
    assert size < 5 * 200 * 3_000 / 2
    broker.kill()
    broker.start()
    for consumer in consumers:
        (found,) = consumer.committed([TopicPartition("orders", 0)], timeout=30)
        assert found.error is None and found.offset == 200
        consumer.close()


def test_tombstones_go_after_delete_retention_ms_and_never_before(start_broker: BrokerFactory) -> None:
    """KIP-534: a tombstone gets its time when it is first compacted, and goes with a later compaction."""
    broker = start_broker(settings=EAGER)
    create(broker, "kept")
    create(broker, "short", delete_retention_ms="100")
    gone = [Event(b"gone", b"value", ()), Event(b"gone", None, ())]
    for topic in ("kept", "short"):
        Confluent().write(broker.bootstrap, topic, gone, "none")

    def tombstones(topic: str) -> int:
        return sum(key == b"gone" for _, key, _ in read_all(broker, topic))

    for seed in range(3):
        for topic in ("kept", "short"):
            Confluent().write(broker.bootstrap, topic, events(seed, 2_500), "none")
            wait_until_clean(broker, topic)
    assert tombstones("kept") == 1, "the value is gone, its tombstone stays for a day"

    def is_gone() -> bool:
        Confluent().write(broker.bootstrap, "short", events(99, 2_500), "none")
        wait_until_clean(broker, "short")
        return tombstones("short") == 0

    wait_until(is_gone, "the end of the tombstone", timeout_s=60)
