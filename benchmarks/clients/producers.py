"""The producing loops, one function per client and way: as its users write it, with the same settings.

Each takes the address, the topic and the values, sends one record to be connected and know the topic, calls
`clock.begin()`, sends all values, waits until everything was acknowledged, and calls `clock.end()`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from clients.stopwatch import Stopwatch
from clients.workload import BATCH_BYTES, BUFFER_BYTES, LINGER_MS

TABLE_ROWS = 250_000
"""Rows of one `send_batch`."""


def _ottla_settings() -> dict[str, Any]:
    return {
        "acks": "all",
        "linger_ms": LINGER_MS,
        "batch_size": BATCH_BYTES,
        "buffer_memory": BUFFER_BYTES,
    }


def ottla_send(address: str, topic: str, values: list[bytes], clock: Stopwatch) -> None:
    import ottla

    with ottla.Producer(address, **_ottla_settings()) as producer:
        producer.send(topic, values[0])
        producer.flush()
        send = producer.send
        clock.begin()
        for value in values:
            send(topic, value)
        producer.flush()
        clock.end()


def ottla_send_batch(address: str, topic: str, values: list[bytes], clock: Stopwatch) -> None:
    import ottla

    tables = _tables(values)
    with ottla.Producer(address, **_ottla_settings()) as producer:
        producer.send(topic, values[0])
        producer.flush()
        clock.begin()
        for table in tables:
            producer.send_batch(topic, table)
        producer.flush()
        clock.end()


def ottla_aio_send(address: str, topic: str, values: list[bytes], clock: Stopwatch) -> None:
    from ottla import aio

    async def go() -> None:
        async with aio.Producer(address, **_ottla_settings()) as producer:
            await producer.send(topic, values[0])
            await producer.flush()
            send = producer.send
            clock.begin()
            for value in values:
                await send(topic, value)
            await producer.flush()
            clock.end()

    asyncio.run(go())


def ottla_aio_send_batch(address: str, topic: str, values: list[bytes], clock: Stopwatch) -> None:
    from ottla import aio

    tables = _tables(values)

    async def go() -> None:
        async with aio.Producer(address, **_ottla_settings()) as producer:
            await producer.send(topic, values[0])
            await producer.flush()
            clock.begin()
            for table in tables:
                await producer.send_batch(topic, table)
            await producer.flush()
            clock.end()

    asyncio.run(go())


def _tables(values: list[bytes]) -> list[Any]:
    import pyarrow as pa

    return [
        pa.table({"value": pa.array(values[start : start + TABLE_ROWS], pa.binary())})
        for start in range(0, len(values), TABLE_ROWS)
    ]


def confluent(address: str, topic: str, values: list[bytes], clock: Stopwatch) -> None:
    from confluent_kafka import Producer

    producer = Producer(
        {
            "bootstrap.servers": address,
            "acks": "all",
            "enable.idempotence": True,
            "linger.ms": LINGER_MS,
            "batch.size": BATCH_BYTES,
            "queue.buffering.max.kbytes": BUFFER_BYTES // 1024,
            "queue.buffering.max.messages": 1_000_000,
        }
    )
    producer.produce(topic, values[0])
    producer.flush()
    produce, poll = producer.produce, producer.poll
    clock.begin()
    for i, value in enumerate(values):
        while True:
            try:
                produce(topic, value)
                break
            except BufferError:
                poll(0.01)
        if not i & 1023:
            poll(0)
    producer.flush()
    clock.end()


def kafka_python(address: str, topic: str, values: list[bytes], clock: Stopwatch) -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(
        bootstrap_servers=address,
        acks="all",
        enable_idempotence=True,
        linger_ms=LINGER_MS,
        batch_size=BATCH_BYTES,
        max_in_flight_requests_per_connection=5,
    )
    producer.send(topic, values[0])
    producer.flush()
    send = producer.send
    clock.begin()
    for value in values:
        send(topic, value)
    producer.flush()
    clock.end()
    producer.close()


def aiokafka(address: str, topic: str, values: list[bytes], clock: Stopwatch) -> None:
    from aiokafka import AIOKafkaProducer

    async def go() -> None:
        producer = AIOKafkaProducer(
            bootstrap_servers=address,
            acks="all",
            enable_idempotence=True,
            linger_ms=LINGER_MS,
            max_batch_size=BATCH_BYTES,
        )
        await producer.start()
        await producer.send_and_wait(topic, values[0])
        send = producer.send
        clock.begin()
        for value in values:
            await send(topic, value)
        await producer.flush()
        clock.end()
        await producer.stop()

    asyncio.run(go())


PRODUCERS: dict[str, Callable[[str, str, list[bytes], Stopwatch], None]] = {
    "ottla send": ottla_send,
    "ottla send_batch": ottla_send_batch,
    "ottla.aio send": ottla_aio_send,
    "ottla.aio send_batch": ottla_aio_send_batch,
    "confluent-kafka produce": confluent,
    "kafka-python send": kafka_python,
    "aiokafka send": aiokafka,
}
