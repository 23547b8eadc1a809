"""`ottla.aio.Consumer`: the same core on an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

import pytest

from ottla.aio.consumer import Consumer
from ottla.client.errors import BrokerUnavailable, ClientClosed, IllegalState, WokenUp
from ottla.client.records import ConsumerRecord
from ottla.model.types import TopicPartition
from support.broker_process import BrokerProcess
from unit.client.consumer.stage import create, group_broker, write

__all__ = ["group_broker"]  # fixture

pytestmark = pytest.mark.timeout(120)

BOTH = pytest.mark.parametrize("protocol", ["classic", "consumer"])


def run(steps: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(steps, 60))


def consumer_at(broker: BrokerProcess, *topics: str, group: str, **settings: Any) -> Consumer:
    options = {
        "auto_offset_reset": "earliest",
        "fetch_max_wait_ms": 50,
        "metadata_max_age_ms": 500,
        **settings,
    }
    return Consumer(*topics, bootstrap_servers=broker.bootstrap, group_id=group, **options)


async def until(condition: Callable[[], Any], poll: Callable[[], Awaitable[Any]], what: str) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await poll()


@BOTH
def test_async_iteration_reads_and_close_commits(
    protocol: str, group_broker: BrokerProcess, topic_name: str
) -> None:
    create(group_broker, topic_name, 2)
    write(group_broker, topic_name, 0, 99)

    async def main() -> None:
        seen: list[ConsumerRecord] = []
        async with consumer_at(
            group_broker, topic_name, group=topic_name, group_protocol=protocol, max_poll_records=30
        ) as consumer:
            async for record in consumer:
                seen.append(record)
                if len(seen) == 150:
                    break
        assert len({(r.partition, r.offset) for r in seen}) == 150
        async with consumer_at(
            group_broker, topic_name, group=topic_name, group_protocol=protocol
        ) as consumer:
            rest: list[ConsumerRecord] = []

            async def poll() -> None:
                rest.extend(await consumer.poll(timeout=0.1))

            await until(lambda: len(rest) >= 50, poll, "the rest")
            assert len(rest) == 50 and consumer.at_end()
            assert {(r.partition, r.offset) for r in rest}.isdisjoint((r.partition, r.offset) for r in seen)

    run(main())


def test_listeners_may_be_coroutines_that_use_the_consumer(
    group_broker: BrokerProcess, topic_name: str
) -> None:
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 9, partitions=1)
    tp = TopicPartition(topic_name, 0)

    async def main() -> None:
        told: list[str] = []
        consumer = consumer_at(group_broker, group=topic_name, enable_auto_commit=False)

        async def assigned(partitions: list[TopicPartition]) -> None:
            assert await consumer.position(tp) == 0
            told.append("assigned")

        async def revoked(partitions: list[TopicPartition]) -> None:
            await consumer.commit()
            told.append("revoked")

        consumer.subscribe([topic_name], on_assigned=assigned, on_revoked=revoked)
        records = await consumer.poll(timeout=20)
        assert [r.offset for r in records] == list(range(10))
        await consumer.close()
        assert told == ["assigned", "revoked"]
        async with consumer_at(group_broker, group=topic_name) as witness:
            committed = await witness.committed(tp)
            assert committed[tp] is not None and committed[tp].offset == 10  # type: ignore[union-attr]

    run(main())


def test_seeking_pausing_and_questions(group_broker: BrokerProcess, topic_name: str) -> None:
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 9, partitions=1)
    tp = TopicPartition(topic_name, 0)

    async def main() -> None:
        async with Consumer(
            bootstrap_servers=group_broker.bootstrap, consumer_timeout_ms=400, fetch_max_wait_ms=50
        ) as consumer:
            consumer.assign([tp])
            consumer.seek(tp, 4)
            seen = []
            async for record in consumer:
                seen.append(record.offset)
                if record.offset == 5:
                    consumer.seek(tp, 8)
            assert seen == [4, 5, 8, 9]
            consumer.seek_to_beginning()
            consumer.pause(tp)
            assert await consumer.poll(timeout=0.2) == [] and consumer.paused() == {tp}
            consumer.resume(tp)
            assert len(await consumer.poll(timeout=10)) == 10
            assert await consumer.position(tp) == 10 and consumer.lag(tp) == 0
            assert await consumer.end_offsets([tp]) == {tp: 10}
            assert await consumer.beginning_offsets([tp]) == {tp: 0}
            assert topic_name in await consumer.topics()
            assert len(await consumer.partitions_for(topic_name)) == 1
            consumer.seek_to_beginning(tp)
            batch = await consumer.poll_arrow(timeout=10)
            assert batch.num_rows == 10
            assert (await anext(aiter(consumer), None)) is None

    run(main())


def test_a_second_task_is_told_and_wakeup_ends_the_first(
    group_broker: BrokerProcess, topic_name: str
) -> None:
    create(group_broker, topic_name)

    async def main() -> None:
        async with consumer_at(group_broker, topic_name, group=topic_name) as consumer:
            polling = asyncio.create_task(consumer.poll(timeout=50))
            await asyncio.sleep(0)
            with pytest.raises(IllegalState, match="another task"):
                await consumer.poll(timeout=0)
            consumer.wakeup()
            with pytest.raises(WokenUp):
                await polling
            cancelled = asyncio.create_task(consumer.poll(timeout=50))
            await asyncio.sleep(0)
            cancelled.cancel()
            with pytest.raises(asyncio.CancelledError):
                await cancelled
            assert await consumer.poll(timeout=0.01) == []  # usable after both
        with pytest.raises(ClientClosed):
            await consumer.poll()

    run(main())


def test_nobody_there(topic_name: str) -> None:
    async def main() -> None:
        async with Consumer(topic_name, bootstrap_servers="127.0.0.1:1", group_id="g") as consumer:
            with pytest.raises(BrokerUnavailable):
                await consumer.poll(timeout=0.3)

    run(main())


def test_asynchronous_commits_call_back_in_the_loop(group_broker: BrokerProcess, topic_name: str) -> None:
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 4, partitions=1)
    tp = TopicPartition(topic_name, 0)

    async def main() -> None:
        async with consumer_at(
            group_broker, topic_name, group=topic_name, enable_auto_commit=False
        ) as consumer:
            records = await consumer.poll(timeout=20)
            answers: list[Any] = []
            for record in records:
                consumer.commit_async(
                    record, lambda offsets, error: answers.append((offsets[tp].offset, error))
                )
            await until(lambda: len(answers) == 5, lambda: consumer.poll(timeout=0.01), "the callbacks")
            assert answers == [(n, None) for n in range(1, 6)]

    run(main())


@pytest.mark.parametrize("columns", [False, True])
def test_polls_that_are_cancelled_at_any_moment_lose_nothing_and_hand_out_nothing_twice(
    columns: bool, group_broker: BrokerProcess, topic_name: str
) -> None:
    """`asyncio.wait_for(consumer.poll(), ...)` cancels where it likes, also when the records are there."""
    create(group_broker, topic_name, 1)
    for first in range(0, 300, 10):
        write(group_broker, topic_name, first, first + 9, partitions=1)

    async def main() -> None:
        seen: list[int] = []
        rounds = cancelled = 0
        async with consumer_at(group_broker, topic_name, group=topic_name, max_poll_records=5) as consumer:

            async def poll() -> list[int]:
                if columns:
                    batch = await consumer.poll_arrow(timeout=0.05, max_bytes=100)
                    return list(batch.column("offset").to_pylist())
                return [record.offset for record in await consumer.poll(timeout=0.05)]

            async with asyncio.timeout(30):
                while len(seen) < 300:
                    task = asyncio.ensure_future(poll())
                    rounds += 1
                    if not seen or rounds % 2:
                        await asyncio.wait([task])  # one in two is left alone
                    else:
                        await asyncio.sleep(0)
                        cancelled += task.cancel()
                    with suppress(asyncio.CancelledError):
                        seen += await task
        assert seen == list(range(300))
        assert cancelled > 10

    run(main())
