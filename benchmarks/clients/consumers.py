"""The consuming loops, one function per client and way: each reads so many records and adds up their bytes.

Partitions are assigned by hand and read from the beginning. The clock runs from the first poll to the last
record; what is returned is (records, bytes of their values), which the caller checks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from clients.stopwatch import Stopwatch
from clients.workload import POLL_RECORDS

Read = tuple[int, int]


def _ottla_consumer(kind: Any, address: str) -> Any:
    return kind(bootstrap_servers=address, auto_offset_reset="earliest", max_poll_records=POLL_RECORDS)


def _ottla_partitions(topic: str, partitions: int) -> list[Any]:
    from ottla import TopicPartition

    return [TopicPartition(topic, i) for i in range(partitions)]


def ottla_iterate(address: str, topic: str, partitions: int, records: int, clock: Stopwatch) -> Read:
    import ottla

    count = size = 0
    with _ottla_consumer(ottla.Consumer, address) as consumer:
        consumer.assign(_ottla_partitions(topic, partitions))
        clock.begin()
        for record in consumer:
            count += 1
            size += len(record.value)
            if count == records:
                break
        clock.end()
    return count, size


def ottla_poll(address: str, topic: str, partitions: int, records: int, clock: Stopwatch) -> Read:
    import ottla

    count = size = 0
    with _ottla_consumer(ottla.Consumer, address) as consumer:
        consumer.assign(_ottla_partitions(topic, partitions))
        clock.begin()
        while count < records:
            for record in consumer.poll(1.0):
                count += 1
                size += len(record.value)
        clock.end()
    return count, size


def ottla_poll_arrow(address: str, topic: str, partitions: int, records: int, clock: Stopwatch) -> Read:
    import pyarrow.compute as pc

    import ottla

    count = size = 0
    with _ottla_consumer(ottla.Consumer, address) as consumer:
        consumer.assign(_ottla_partitions(topic, partitions))
        clock.begin()
        while count < records:
            batch = consumer.poll_arrow(1.0)
            if batch.num_rows:
                count += batch.num_rows
                size += pc.sum(pc.binary_length(batch.column("value"))).as_py()
        clock.end()
    return count, size


def ottla_aio_iterate(address: str, topic: str, partitions: int, records: int, clock: Stopwatch) -> Read:
    from ottla import aio

    async def go() -> Read:
        count = size = 0
        async with _ottla_consumer(aio.Consumer, address) as consumer:
            consumer.assign(_ottla_partitions(topic, partitions))
            clock.begin()
            async for record in consumer:
                count += 1
                size += len(record.value)
                if count == records:
                    break
            clock.end()
        return count, size

    return asyncio.run(go())


def ottla_aio_poll(address: str, topic: str, partitions: int, records: int, clock: Stopwatch) -> Read:
    from ottla import aio

    async def go() -> Read:
        count = size = 0
        async with _ottla_consumer(aio.Consumer, address) as consumer:
            consumer.assign(_ottla_partitions(topic, partitions))
            clock.begin()
            while count < records:
                for record in await consumer.poll(1.0):
                    count += 1
                    size += len(record.value)
            clock.end()
        return count, size

    return asyncio.run(go())


def ottla_aio_poll_arrow(address: str, topic: str, partitions: int, records: int, clock: Stopwatch) -> Read:
    import pyarrow.compute as pc

    from ottla import aio

    async def go() -> Read:
        count = size = 0
        async with _ottla_consumer(aio.Consumer, address) as consumer:
            consumer.assign(_ottla_partitions(topic, partitions))
            clock.begin()
            while count < records:
                batch = await consumer.poll_arrow(1.0)
                if batch.num_rows:
                    count += batch.num_rows
                    size += pc.sum(pc.binary_length(batch.column("value"))).as_py()
            clock.end()
        return count, size

    return asyncio.run(go())


def _confluent_consumer(address: str, topic: str, partitions: int) -> Any:
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "bench",
            "enable.auto.commit": False,
            "enable.partition.eof": False,
            "fetch.message.max.bytes": 1_048_576,
            "fetch.queue.backoff.ms": 5,  # by far the fastest of what was tried
        }
    )
    consumer.assign([TopicPartition(topic, i, OFFSET_BEGINNING) for i in range(partitions)])
    return consumer


def confluent_poll(address: str, topic: str, partitions: int, records: int, clock: Stopwatch) -> Read:
    consumer = _confluent_consumer(address, topic, partitions)
    count = size = 0
    poll = consumer.poll
    clock.begin()
    while count < records:
        message = poll(1.0)
        if message is not None:
            if message.error():
                raise RuntimeError(message.error())
            count += 1
            size += len(message.value())
    clock.end()
    consumer.close()
    return count, size


def confluent_consume(address: str, topic: str, partitions: int, records: int, clock: Stopwatch) -> Read:
    consumer = _confluent_consumer(address, topic, partitions)
    count = size = 0
    clock.begin()
    while count < records:
        for message in consumer.consume(min(POLL_RECORDS, records - count), 1.0):
            if message.error():
                raise RuntimeError(message.error())
            count += 1
            size += len(message.value())
    clock.end()
    consumer.close()
    return count, size


def _kafka_python_consumer(address: str, topic: str, partitions: int) -> Any:
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(
        bootstrap_servers=address,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        max_poll_records=POLL_RECORDS,
    )
    assigned = [TopicPartition(topic, i) for i in range(partitions)]
    consumer.assign(assigned)
    consumer.seek_to_beginning()
    return consumer


def kafka_python_iterate(address: str, topic: str, partitions: int, records: int, clock: Stopwatch) -> Read:
    consumer = _kafka_python_consumer(address, topic, partitions)
    count = size = 0
    clock.begin()
    for record in consumer:
        count += 1
        size += len(record.value)
        if count == records:
            break
    clock.end()
    consumer.close()
    return count, size


def kafka_python_poll(address: str, topic: str, partitions: int, records: int, clock: Stopwatch) -> Read:
    consumer = _kafka_python_consumer(address, topic, partitions)
    count = size = 0
    clock.begin()
    while count < records:
        for found in consumer.poll(1000).values():
            for record in found:
                count += 1
                size += len(record.value)
    clock.end()
    consumer.close()
    return count, size


def _aiokafka(
    address: str, topic: str, partitions: int, read: Callable[[Any], Any], clock: Stopwatch
) -> Read:
    from aiokafka import AIOKafkaConsumer, TopicPartition

    async def go() -> Read:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=address, auto_offset_reset="earliest", max_poll_records=POLL_RECORDS
        )
        await consumer.start()
        consumer.assign([TopicPartition(topic, i) for i in range(partitions)])
        await consumer.seek_to_beginning()
        clock.begin()
        found: Read = await read(consumer)
        clock.end()
        await consumer.stop()
        return found

    return asyncio.run(go())


def aiokafka_iterate(address: str, topic: str, partitions: int, records: int, clock: Stopwatch) -> Read:
    async def read(consumer: Any) -> Read:
        count = size = 0
        async for record in consumer:
            count += 1
            size += len(record.value)
            if count == records:
                break
        return count, size

    return _aiokafka(address, topic, partitions, read, clock)


def aiokafka_getmany(address: str, topic: str, partitions: int, records: int, clock: Stopwatch) -> Read:
    async def read(consumer: Any) -> Read:
        count = size = 0
        while count < records:
            found = await consumer.getmany(timeout_ms=1000, max_records=POLL_RECORDS)
            for of_partition in found.values():
                for record in of_partition:
                    count += 1
                    size += len(record.value)
        return count, size

    return _aiokafka(address, topic, partitions, read, clock)


CONSUMERS: dict[str, Callable[[str, str, int, int, Stopwatch], Read]] = {
    "ottla iteration": ottla_iterate,
    "ottla poll": ottla_poll,
    "ottla poll_arrow": ottla_poll_arrow,
    "ottla.aio iteration": ottla_aio_iterate,
    "ottla.aio poll": ottla_aio_poll,
    "ottla.aio poll_arrow": ottla_aio_poll_arrow,
    "confluent-kafka poll": confluent_poll,
    "confluent-kafka consume": confluent_consume,
    "kafka-python iteration": kafka_python_iterate,
    "kafka-python poll": kafka_python_poll,
    "aiokafka iteration": aiokafka_iterate,
    "aiokafka getmany": aiokafka_getmany,
}
