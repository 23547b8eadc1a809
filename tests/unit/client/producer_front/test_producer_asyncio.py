"""`ottla.aio.Producer` against a real broker: the same as for threads, awaited."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any

import pyarrow
import pytest
from read_back import read_back, values_of

from ottla.aio.producer import Producer
from ottla.client.errors import (
    ClientClosed,
    IllegalState,
    InvalidArgument,
    OttlaError,
    ProducerFenced,
    RecordTooLarge,
    SerializationFailed,
)
from ottla.client.producing.future import AwaitableRecord
from ottla.client.records import RecordMetadata
from ottla.model.types import TopicPartition
from support.broker_process import BrokerProcess
from support.raw_client import RawClient


def on_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @wraps(test)
    def run(*args: Any, **more: Any) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **more), 60))

    return run


@on_a_loop
async def test_a_record_is_sent_awaited_and_read_back(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name, 3)
    async with Producer(shared_broker.bootstrap, value_serializer="json") as producer:
        future = await producer.send(
            topic_name, {"user": 7}, "7", headers={"h": "1"}, partition=2, timestamp=1_700_000_000_123
        )
        assert await future == RecordMetadata(topic_name, 2, 0, 1_700_000_000_123)
        assert await future == future.result()  # as often as one likes
        assert (await producer.send_and_wait(topic_name, {}, partition=2)).offset == 1
        assert [p.index for p in await producer.partitions_for(topic_name)] == [0, 1, 2]
        assert producer.metrics()["producer-metrics"]["record-send-total"] == 2
    message, _ = read_back(shared_broker.bootstrap, topic_name, 2, partitions=3)
    assert (message.key(), message.value(), message.headers()) == (b"7", b'{"user":7}', [("h", b"1")])


@on_a_loop
async def test_what_nobody_waits_for_is_sent_by_the_end_of_the_block(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    async with Producer(shared_broker.bootstrap, batch_size=1_000, buffer_memory=20_000) as producer:
        for i in range(2_000):  # more than fits into the memory: `send` waits in between
            await producer.send(topic_name, b"%d" % i)
    assert values_of(shared_broker.bootstrap, topic_name) == [b"%d" % i for i in range(2_000)]


@on_a_loop
async def test_a_loop_of_sends_lets_other_tasks_run(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    async with Producer(shared_broker.bootstrap) as producer:
        await producer.partitions_for(topic_name)
        ticking = asyncio.create_task(tick())
        for _ in range(5_000):
            await producer.send(topic_name, bytes(100))
        assert ticks > 5
        ticking.cancel()


@on_a_loop
async def test_futures_can_be_gathered_and_a_cancelled_wait_takes_nothing_back(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    async with Producer(shared_broker.bootstrap, linger_ms=60_000) as producer:
        futures = [await producer.send(topic_name, b"x") for _ in range(50)]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(futures[0], 0.01)
        with pytest.raises(IllegalState):
            futures[0].result()
        assert not futures[0].cancel() and not futures[0].cancelled()
        waiting = asyncio.gather(*futures)
        await producer.flush(timeout=10)
        assert [stored.offset for stored in await waiting] == list(range(50))
        assert futures[0].exception() is None


@on_a_loop
async def test_callbacks_run_in_the_loop_and_may_raise(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str, caplog: pytest.LogCaptureFixture
) -> None:
    raw.create_topic(topic_name)
    heard: list[Any] = []

    def on_delivery(metadata: RecordMetadata | None, error: Exception | None) -> None:
        assert asyncio.get_running_loop()
        heard.append(metadata and metadata.offset)
        raise RuntimeError("a bad callback")

    with caplog.at_level(logging.ERROR):
        async with Producer(shared_broker.bootstrap) as producer:
            future = await producer.send(topic_name, b"x", on_delivery=on_delivery)
            future.add_done_callback(heard.append)
            await future
            await asyncio.sleep(0)
    assert heard == [0, future]
    assert "a bad callback" in caplog.text


@on_a_loop
async def test_many_tasks_may_send_at_once(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name, 2)

    async def work(number: int) -> None:
        for i in range(200):
            await producer.send(topic_name, b"%d:%d" % (number, i), b"%d" % number)

    async with Producer(shared_broker.bootstrap, buffer_memory=50_000) as producer:
        await asyncio.gather(*(work(number) for number in range(20)))
    found = read_back(shared_broker.bootstrap, topic_name, 4_000, partitions=2)
    seen: dict[bytes, list[int]] = {}
    for message in found:
        number, i = message.value().split(b":")
        seen.setdefault(number, []).append(int(i))
    assert seen == {b"%d" % number: list(range(200)) for number in range(20)}


@on_a_loop
async def test_what_cannot_be_sent_is_refused_by_send(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    async with Producer(
        shared_broker.bootstrap, max_request_size=10_000, partitioner=lambda *given: 7
    ) as producer:
        with pytest.raises(SerializationFailed):
            await producer.send(topic_name, {})
        with pytest.raises(InvalidArgument):
            await producer.send("no topic", b"")
        with pytest.raises(InvalidArgument):
            await producer.send(topic_name, b"")
        with pytest.raises(RecordTooLarge):
            await producer.send(topic_name, bytes(20_000), partition=0)
        assert (await producer.send_and_wait(topic_name, b"", partition=0)).offset == 0


@on_a_loop
async def test_a_closed_producer_says_so(shared_broker: BrokerProcess) -> None:
    producer = Producer(shared_broker.bootstrap, transactional_id="closed")
    await producer.close()
    await producer.close()
    calls: list[Callable[[], Awaitable[Any]]] = [
        lambda: producer.send("t", b""),
        producer.flush,
        lambda: producer.partitions_for("t"),
        producer.init_transactions,
        producer.begin_transaction,
        producer.commit_transaction,
        producer.abort_transaction,
        lambda: producer.send_offsets_to_transaction({}, "g"),
    ]
    for call in calls:
        with pytest.raises(ClientClosed):
            await call()


@on_a_loop
async def test_closing_without_time_fails_what_was_not_acknowledged(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    producer = Producer(shared_broker.bootstrap, linger_ms=60_000)
    future = await producer.send(topic_name, b"x")
    waiting = asyncio.ensure_future(future)
    await producer.close(timeout=0)
    with pytest.raises(ClientClosed):
        await waiting


# --- transactions ---------------------------------------------------------------------------------------


@on_a_loop
async def test_a_transaction_is_committed_at_the_end_of_its_block_and_aborted_by_an_exception(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)

    async def fail(producer: Producer) -> None:
        async with producer.transaction():
            await producer.send_and_wait(topic_name, b"dropped")
            raise ZeroDivisionError

    async with Producer(shared_broker.bootstrap, transactional_id=topic_name) as producer:
        await producer.init_transactions()
        async with producer.transaction():
            await producer.send(topic_name, b"kept")
            await producer.send_offsets_to_transaction({TopicPartition(topic_name, 0): 7}, "some-group")
        with pytest.raises(ZeroDivisionError):
            await fail(producer)
        await producer.begin_transaction()
        await producer.send(topic_name, b"kept, too")
        await producer.commit_transaction()
    found = values_of(shared_broker.bootstrap, topic_name, isolation_level="read_committed")
    assert found == [b"kept", b"kept, too"]


@on_a_loop
async def test_a_task_that_is_cancelled_within_a_transaction_aborts_it(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    inside = asyncio.Event()

    async def hang(producer: Producer) -> None:
        async with producer.transaction():
            await producer.send_and_wait(topic_name, b"dropped")
            inside.set()
            await asyncio.Event().wait()

    async with Producer(shared_broker.bootstrap, transactional_id=topic_name) as producer:
        await producer.init_transactions()
        task = asyncio.create_task(hang(producer))
        await inside.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with producer.transaction():
            await producer.send(topic_name, b"kept")
    found = values_of(shared_broker.bootstrap, topic_name, isolation_level="read_committed")
    assert found == [b"kept"]


@on_a_loop
async def test_a_fenced_producer_is_told_so(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    async with (
        Producer(shared_broker.bootstrap, transactional_id=topic_name) as older,
        Producer(shared_broker.bootstrap, transactional_id=topic_name) as newer,
    ):
        await older.init_transactions()
        await older.begin_transaction()
        await older.send_and_wait(topic_name, b"x")
        await newer.init_transactions()
        with pytest.raises(ProducerFenced):
            await older.commit_transaction()


def test_without_a_running_loop_it_cannot_be_made() -> None:
    with pytest.raises(OttlaError, match="coroutine"):
        Producer("127.0.0.1:1")


def test_the_awaitable_is_no_larger_than_a_delivery() -> None:
    assert AwaitableRecord.__slots__ == ()


# --- tables ---------------------------------------------------------------------------------------------


@on_a_loop
async def test_the_rows_of_a_table_are_awaited_together(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name, 2)
    table = pyarrow.table({"value": [b"%d" % i for i in range(1_000)], "partition": [0, 1] * 500})
    async with Producer(shared_broker.bootstrap) as producer:
        future = await producer.send_batch(topic_name, table)
        stored = await future
        assert stored.partitions == {0: (500, 0, 499), 1: (500, 0, 499)}
        with pytest.raises(InvalidArgument):
            await producer.send_batch(topic_name, [b"no table"])
