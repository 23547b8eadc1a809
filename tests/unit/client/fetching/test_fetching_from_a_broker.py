"""The fetcher and the simple consumer against a real broker."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import ottla
from ottla.client.config import consumer_settings
from ottla.client.consuming.arrow import ArrowForm
from ottla.client.consuming.decode import Decoder
from ottla.client.consuming.fetcher import Fetcher
from ottla.client.effects import ClientSteps, Wait
from ottla.client.errors import ClientClosed, OperationTimedOut, PositionLost, ServerError
from ottla.client.session import Session, ThreadedSession
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from support.broker_process import BrokerFactory, BrokerProcess

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


class Reading:
    """A fetcher on threads."""

    def __init__(self, broker: BrokerProcess, **settings: Any) -> None:
        self.settings = consumer_settings(None, {"bootstrap_servers": broker.bootstrap, **settings})
        self.session: ThreadedSession = Session.threaded(self.settings)
        self.runtime = self.session.runtime
        self.fetcher = Fetcher(self.session, self.settings, Decoder.of(self.settings))
        with self.runtime.lock:
            self.fetcher.start()

    def begin(self, tps: list[TopicPartition], at: int = 0) -> None:
        with self.runtime.lock:
            self.fetcher.assign(tps)
            for tp in tps:
                self.fetcher.seek(tp, at)

    def poll(self, count: int = 500, timeout_ms: float = 10_000) -> list[Any]:
        """What is there, waiting for the first; [] when the time is up."""
        clock = self.runtime.clock
        fetcher = self.fetcher
        deadline_ms = clock.monotonic_ms() + timeout_ms

        def steps() -> ClientSteps[list[Any]]:
            while True:
                records = fetcher.take(count)
                left_ms = deadline_ms - clock.monotonic_ms()
                if records or left_ms <= 0:
                    return records
                yield Wait(fetcher.arrived, left_ms)

        return self.runtime.run(steps())

    def poll_until(self, count: int, batch: int = 500) -> list[Any]:
        found: list[Any] = []
        while len(found) < count:
            records = self.poll(batch)
            assert records, f"only {len(found)} of {count} records came"
            found += records
        return found

    def close(self) -> None:
        self.runtime.run(self.fetcher.close())
        self.session.close()


@pytest.fixture
def reading(shared_broker: BrokerProcess) -> Iterator[Any]:
    opened: list[Reading] = []

    def make(**settings: Any) -> Reading:
        opened.append(Reading(shared_broker, **settings))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


@pytest.fixture
def admin(shared_broker: BrokerProcess) -> Iterator[ottla.Admin]:
    with ottla.Admin(shared_broker.bootstrap) as client:
        yield client


@pytest.fixture
def simple(shared_broker: BrokerProcess) -> Iterator[ottla.SimpleConsumer]:
    with ottla.SimpleConsumer(shared_broker.bootstrap) as client:
        yield client


def create(admin: ottla.Admin, name: str, partitions: int = 1) -> list[TopicPartition]:
    admin.create_topics([ottla.NewTopic(name, partitions=partitions)]).all()
    return [TopicPartition(name, i) for i in range(partitions)]


def produce(
    broker: BrokerProcess, tps: list[TopicPartition], count: int, size: int = 100, **settings: Any
) -> None:
    """`count` records in each partition, whose values name their place."""
    with ottla.Producer(broker.bootstrap, **settings) as producer:
        for i in range(count):
            for tp in tps:
                value = b"%d-%d-" % (tp.partition, i)
                producer.send(tp.topic, value.ljust(size, b"x"), key=b"%d" % i, partition=tp.partition)


def test_twelve_partitions_with_all_codecs_come_complete_and_in_order(
    shared_broker: BrokerProcess, admin: ottla.Admin, reading: Any, topic_name: str
) -> None:
    tps = create(admin, topic_name, 12)
    for codec in CODECS:
        produce(shared_broker, tps, 100, compression_type=codec)
    consumer = reading(max_partition_fetch_bytes=5_000, queued_max_bytes=100_000)
    consumer.begin(tps)
    found: dict[int, list[Any]] = {tp.partition: [] for tp in tps}
    for record in consumer.poll_until(12 * 500):
        found[record.partition].append(record)
    for partition, records in found.items():
        assert [r.offset for r in records] == list(range(500))
        assert all(
            r.value.startswith(b"%d-%d-" % (partition, r.offset % 100)) and r.key == b"%d" % (r.offset % 100)
            for r in records
        )
    assert consumer.fetcher.at_end()
    assert (
        consumer.session.metrics.snapshot()["consumer-fetch-manager-metrics"]["records-consumed-total"]
        == 6000
    )


def test_memory_stays_bounded_whatever_there_is_to_fetch(
    shared_broker: BrokerProcess, admin: ottla.Admin, reading: Any, topic_name: str
) -> None:
    tps = create(admin, topic_name, 12)
    produce(shared_broker, tps, 300, size=1_000, batch_size=16_384)
    consumer = reading(queued_max_bytes=300_000)
    consumer.begin(tps)
    held, count = [], 0
    while count < 12 * 300:
        records = consumer.poll(20)
        assert records
        count += len(records)
        held.append(consumer.fetcher.buffered_bytes)
        consumer.runtime.turn()
        held.append(consumer.fetcher.buffered_bytes)
    assert 150_000 < max(held) <= 300_000


def test_one_byte_at_a_time_still_gets_whole_batches(
    shared_broker: BrokerProcess, admin: ottla.Admin, reading: Any, topic_name: str
) -> None:
    tps = create(admin, topic_name, 3)
    produce(shared_broker, tps, 30, size=200, batch_size=1_000)
    consumer = reading(max_partition_fetch_bytes=1, fetch_max_bytes=1)
    consumer.begin(tps)
    records = consumer.poll_until(90)
    for tp in tps:
        assert [r.offset for r in records if r.partition == tp.partition] == list(range(30))


def test_a_batch_of_many_megabytes_comes_whole(
    shared_broker: BrokerProcess, admin: ottla.Admin, reading: Any, topic_name: str
) -> None:
    tps = create(admin, topic_name)
    admin_settings = {"max.message.bytes": "20000000"}
    admin.delete_topics([topic_name]).all()
    admin.create_topics([ottla.NewTopic(topic_name, partitions=1, configs=admin_settings)]).all()
    with ottla.Producer(shared_broker.bootstrap, max_request_size=20_000_000) as producer:
        producer.send(topic_name, b"a" * 9_000_000)
        producer.send(topic_name, b"b" * 9_000_000)
        producer.send(topic_name, b"c")
    consumer = reading(queued_max_bytes=1_000_000)
    consumer.begin(tps)
    records = consumer.poll_until(3)
    assert [(r.value[:1], len(r.value)) for r in records] == [(b"a", 9_000_000), (b"b", 9_000_000), (b"c", 1)]


def test_aborted_transactions_are_seen_by_read_uncommitted_only(
    shared_broker: BrokerProcess, admin: ottla.Admin, reading: Any, topic_name: str
) -> None:
    tps = create(admin, topic_name, 2)
    with ottla.Producer(
        shared_broker.bootstrap, transactional_id=f"{topic_name}-id", linger_ms=0
    ) as producer:
        producer.init_transactions()
        for i in range(6):
            producer.begin_transaction()
            for _ in range(3):
                for tp in tps:
                    producer.send(topic_name, b"%d" % i, partition=tp.partition)
            producer.flush()
            if i % 2:
                producer.abort_transaction()
            else:
                producer.commit_transaction()
        committed = reading(isolation_level="read_committed", max_partition_fetch_bytes=200)
        committed.begin(tps)
        records = committed.poll_until(18)
        assert {r.value for r in records} == {b"0", b"2", b"4"} and len(records) == 18
        uncommitted = reading()
        uncommitted.begin(tps)
        assert len(uncommitted.poll_until(36)) == 36
        producer.begin_transaction()
        producer.send(topic_name, b"open", partition=0)
        producer.flush()
        assert [r.value for r in uncommitted.poll()] == [b"open"]
        assert not committed.poll(timeout_ms=700)
        assert committed.fetcher.at_end(), "up to the last stable offset"
        ends = committed.runtime.run(committed.fetcher.lookup.end_offsets(tps))
        assert ends == dict.fromkeys(tps, 24)
        assert uncommitted.runtime.run(uncommitted.fetcher.lookup.end_offsets(tps)) == {
            tps[0]: 25,
            tps[1]: 24,
        }
        producer.commit_transaction()
        assert [r.value for r in committed.poll()] == [b"open"]


@pytest.mark.parametrize(("policy", "first"), [("earliest", 60), ("latest", 101), ("by_duration:PT1H", 60)])
def test_deleted_records_are_stepped_over_by_the_policy(
    shared_broker: BrokerProcess, admin: ottla.Admin, reading: Any, topic_name: str, policy: str, first: int
) -> None:
    (tp,) = create(admin, topic_name)
    produce(shared_broker, [tp], 101, linger_ms=0, batch_size=200)
    consumer = reading(auto_offset_reset=policy, max_partition_fetch_bytes=300)
    consumer.begin([tp])
    assert [r.offset for r in consumer.poll(5)] == [0, 1, 2, 3, 4][: consumer.fetcher.position(tp).offset]
    admin.delete_records({tp: 60}).all()
    seen: list[int] = []
    if policy == "latest":
        while (consumer.fetcher.position(tp) or (0,))[0] < first:
            seen += [r.offset for r in consumer.poll(timeout_ms=50)]
        produce(shared_broker, [tp], 1)
    while first not in seen:
        records = consumer.poll()
        assert records
        seen += [r.offset for r in records]
    assert seen == sorted(seen)
    assert not [offset for offset in seen if 50 < offset < first], (
        "only what was buffered, then the new start"
    )


def test_without_a_policy_deleted_records_are_raised(
    shared_broker: BrokerProcess, admin: ottla.Admin, reading: Any, topic_name: str
) -> None:
    (tp,) = create(admin, topic_name)
    produce(shared_broker, [tp], 100)
    admin.delete_records({tp: 60}).all()
    consumer = reading(auto_offset_reset="none")
    consumer.begin([tp], at=10)
    with pytest.raises(PositionLost) as raised:
        consumer.poll()
    assert (raised.value.topic, raised.value.partition, raised.value.offset) == (topic_name, 0, 10)
    with consumer.runtime.lock:
        consumer.fetcher.seek(tp, 60)
    assert consumer.poll_until(40)[0].offset == 60


def test_pausing_seeking_and_reassigning_while_records_are_read_ahead(
    shared_broker: BrokerProcess, admin: ottla.Admin, reading: Any, topic_name: str
) -> None:
    tps = create(admin, topic_name, 4)
    produce(shared_broker, tps, 400)
    consumer = reading(max_partition_fetch_bytes=4_000)
    consumer.begin(tps)
    fetcher, lock = consumer.fetcher, consumer.runtime.lock
    expected = {tp.partition: 0 for tp in tps}
    for turn in range(120):
        with lock:
            moved = tps[turn % 4]
            if turn % 3 == 0:
                fetcher.pause([moved])
                paused = moved.partition
            elif turn % 3 == 1:
                fetcher.resume(fetcher.paused())
                paused = -1
            else:
                offset = (turn * 37) % 390
                fetcher.seek(moved, offset)
                expected[moved.partition] = offset
        for record in consumer.poll(17, timeout_ms=2_000):
            assert record.partition != paused
            assert record.offset == expected[record.partition], "nothing twice, nothing left out"
            expected[record.partition] += 1
    with lock:
        fetcher.assign(tps[:2])
        fetcher.resume(fetcher.paused())
        for tp in tps[:2]:
            fetcher.seek(tp, 0)
    records = consumer.poll_until(800)
    assert {r.partition for r in records} == {0, 1}


def test_closing_does_not_wait_for_a_long_poll(
    shared_broker: BrokerProcess, admin: ottla.Admin, reading: Any, topic_name: str
) -> None:
    (tp,) = create(admin, topic_name)
    consumer = Reading(shared_broker, fetch_max_wait_ms=20_000)
    consumer.begin([tp])
    consumer.poll(timeout_ms=300)
    began = time.monotonic()
    consumer.close()
    assert time.monotonic() - began < 2
    with pytest.raises(ClientClosed):
        consumer.poll()


def test_offsets_are_found_by_time(
    shared_broker: BrokerProcess, admin: ottla.Admin, reading: Any, topic_name: str
) -> None:
    (tp, empty) = create(admin, topic_name, 2)
    with ottla.Producer(shared_broker.bootstrap) as producer:
        for i in range(10):
            producer.send(topic_name, b"v", partition=0, timestamp=1_000_000 + i * 1_000)
    consumer = reading()
    lookup, run = consumer.fetcher.lookup, consumer.runtime.run
    found = run(lookup.offsets_for_times({tp: 1_004_500, empty: 0}))
    assert found[tp].offset == 5 and found[tp].timestamp == 1_005_000 and found[empty] is None
    assert run(lookup.offsets_for_times({tp: 2_000_000})) == {tp: None}
    assert run(lookup.beginning_offsets([tp, empty])) == {tp: 0, empty: 0}
    assert run(lookup.end_offsets([tp, empty])) == {tp: 10, empty: 0}
    assert run(lookup.offsets({tp: -3}))[tp].offset == 9
    with pytest.raises(ServerError) as raised:
        run(lookup.end_offsets([TopicPartition("nowhere-at-all", 0)]))
    assert raised.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_broker_that_is_killed_and_comes_back_is_read_on_where_it_was_left(
    start_broker: BrokerFactory, topic_name: str
) -> None:
    broker = start_broker()
    with ottla.Admin(broker.bootstrap) as admin:
        tps = create(admin, topic_name, 3)
    produce(broker, tps, 100)
    consumer = Reading(broker, max_partition_fetch_bytes=2_000)
    consumer.begin(tps)
    records = consumer.poll_until(120, batch=20)
    broker.kill()
    records += consumer.poll(timeout_ms=300)
    broker.start()
    produce(broker, tps, 50)
    while len(records) < 450:
        found = consumer.poll(timeout_ms=30_000)
        assert found
        records += found
    for tp in tps:
        offsets = [r.offset for r in records if r.partition == tp.partition]
        assert offsets == list(range(150)), "each once, in order"
    consumer.close()


# -- the simple consumer --


def test_the_simple_consumer_walks_through_a_partition(
    shared_broker: BrokerProcess, admin: ottla.Admin, simple: ottla.SimpleConsumer, topic_name: str
) -> None:
    tps = create(admin, topic_name, 3)
    for codec in CODECS:
        produce(shared_broker, tps, 50, compression_type=codec)
    offset, seen = 0, []
    while offset < simple.latest(topic_name, 1):
        fetched = simple.fetch(topic_name, 1, offset, max_bytes=2_000)
        seen += [record.offset for record in fetched]
        assert fetched.columns.row_count == len(fetched.records)
        offset = fetched.next_offset
    assert seen == list(range(250))
    found = simple.multifetch([(topic_name, i, 100) for i in range(3)])
    assert [len(f.records) for f in found] == [150] * 3
    assert simple.partitions(topic_name) == [0, 1, 2]
    with pytest.raises(ServerError) as raised:
        simple.fetch(topic_name, 0, 1_000)
    assert raised.value.code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_range_has_the_columns_and_types_that_a_form_asks_for(
    shared_broker: BrokerProcess, admin: ottla.Admin, simple: ottla.SimpleConsumer, topic_name: str
) -> None:
    create(admin, topic_name)
    with ottla.Producer(shared_broker.bootstrap) as producer:
        for i in range(100):
            producer.send(topic_name, b"v%d" % i, timestamp=1_700_000_000_000 + i, headers=[("h", None)])
    names = ["timestamp", "timestampType", "value", "headers"]
    form = ArrowForm.for_spark(names)
    batches = simple.read_range(topic_name, 0, 10, 90, max_bytes=500, form=form)
    table = pa.Table.from_batches(list(batches))
    assert batches.next_offset >= 90
    assert table.schema == form.schema and table.schema.names == names
    assert table.schema.field("timestamp").type == pa.timestamp("us", "UTC")
    assert table.column("timestamp").cast(pa.int64()).to_pylist() == [
        (1_700_000_000_000 + i) * 1_000 for i in range(10, 90)
    ]
    # The end is cut off although the offsets themselves are not among the columns.
    assert table.column("value").to_pylist() == [b"v%d" % i for i in range(10, 90)]
    assert table.column("headers").to_pylist() == [[{"key": "h", "value": None}]] * 80


def test_a_partition_that_was_added_is_found_by_who_knows_the_topic_from_before(
    shared_broker: BrokerProcess, admin: ottla.Admin, simple: ottla.SimpleConsumer, topic_name: str
) -> None:
    create(admin, topic_name)
    assert simple.latest(topic_name, 0) == 0
    admin.create_partitions({topic_name: 3}).all()
    produce(shared_broker, [TopicPartition(topic_name, 2)], 5)
    assert len(simple.fetch(topic_name, 2, 0).records) == 5
    admin.create_partitions({topic_name: 4}).all()
    assert simple.latest(topic_name, 3) == 0
    with pytest.raises(ServerError) as raised:
        simple.fetch(topic_name, 4, 0)
    assert raised.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_range_becomes_arrow_batches(
    shared_broker: BrokerProcess, admin: ottla.Admin, simple: ottla.SimpleConsumer, topic_name: str
) -> None:
    (tp,) = create(admin, topic_name)
    for codec in CODECS:
        produce(shared_broker, [tp], 400, compression_type=codec)
    batches = list(simple.read_range(topic_name, 0, 7, 1_993, max_bytes=20_000))
    table = pa.Table.from_batches(batches)
    assert table.column("offset").to_pylist() == list(range(7, 1_993))
    assert table.column("value").to_pylist()[0].startswith(b"0-7-")
    assert table.schema.names[:3] == ["key", "value", "topic"]
    assert sum(b.num_rows for b in simple.read_range(topic_name, 0, 0)) == 2_000
    abandoned = simple.read_range(topic_name, 0, 0, max_bytes=1_000)
    next(abandoned)
    abandoned.close()
    assert list(abandoned) == []
    assert list(simple.read_range(topic_name, 0, 2_000)) == []


def test_offsets_before_a_time_on_a_broker(
    shared_broker: BrokerProcess, admin: ottla.Admin, simple: ottla.SimpleConsumer, topic_name: str
) -> None:
    create(admin, topic_name)
    with ottla.Producer(shared_broker.bootstrap) as producer:
        for i in range(100):
            producer.send(topic_name, b"v", timestamp=1_000_000 + i * 1_000)
    assert simple.offset_before(topic_name, 0, ottla.LATEST, 5) == [100, 75, 50, 25, 0]
    assert simple.offset_before(topic_name, 0, ottla.EARLIEST, 5) == [0]
    assert simple.offset_before(topic_name, 0, 1_050_000) == [50]
    assert simple.offset_after(topic_name, 0, 1_050_001) == 51
    assert simple.offset_after(topic_name, 0, 9_000_000) is None
    assert (simple.earliest(topic_name, 0), simple.latest(topic_name, 0)) == (0, 100)


def test_threads_that_fetch_beside_each_other_do_not_wait_for_each_other(
    shared_broker: BrokerProcess, admin: ottla.Admin, simple: ottla.SimpleConsumer, topic_name: str
) -> None:
    tps = create(admin, topic_name, 2)
    produce(shared_broker, tps[:1], 10)
    simple.fetch(topic_name, 0, 0)
    began = threading.Event()
    ended: list[int] = []

    def wait_for_nothing() -> None:
        began.set()
        ended.append(simple.fetch(topic_name, 1, 0, max_wait=8).next_offset)

    waiting = threading.Thread(target=wait_for_nothing)
    waiting.start()
    began.wait(5)
    begin = time.monotonic()
    for _ in range(20):
        assert len(simple.fetch(topic_name, 0, 0).records) == 10
    assert time.monotonic() - begin < 5 and not ended
    produce(shared_broker, tps[1:], 1)
    waiting.join(10)
    assert ended == [1]


def test_the_simple_consumer_under_asyncio(
    shared_broker: BrokerProcess, admin: ottla.Admin, topic_name: str
) -> None:
    tps = create(admin, topic_name, 2)
    produce(shared_broker, tps, 100)

    async def work() -> None:
        async with ottla.aio.SimpleConsumer(shared_broker.bootstrap) as consumer:
            fetched = await consumer.fetch(topic_name, 0, 20)
            assert [r.offset for r in fetched] == list(range(20, 100))
            both = await consumer.multifetch([(topic_name, 0, 0), (topic_name, 1, 99)])
            assert [len(f.records) for f in both] == [100, 1]
            rows = [b.num_rows async for b in consumer.read_range(topic_name, 1, 10, max_bytes=1_000)]
            assert sum(rows) == 90
            assert await consumer.partitions(topic_name) == [0, 1]
            assert await consumer.offset_before(topic_name, 0, ottla.LATEST, 2) == [100, 0]
            assert await consumer.offset_after(topic_name, 0, 0) == 0
            assert (await consumer.earliest(topic_name, 0), await consumer.latest(topic_name, 0)) == (0, 100)
        with pytest.raises(ClientClosed):
            await consumer.fetch(topic_name, 0, 0)

    asyncio.run(work())


def test_nobody_at_the_address_is_said_in_time() -> None:
    with ottla.SimpleConsumer("127.0.0.1:1", default_api_timeout_ms=400) as consumer:
        began = time.monotonic()
        with pytest.raises(ottla.OttlaError) as raised:
            consumer.fetch("t", 0, 0)
        assert isinstance(raised.value, OperationTimedOut) and "127.0.0.1:1" in str(raised.value)
        with pytest.raises(OperationTimedOut):
            consumer.latest("t", 0)
        assert time.monotonic() - began < 10
    with pytest.raises(ClientClosed):
        consumer.fetch("t", 0, 0)
