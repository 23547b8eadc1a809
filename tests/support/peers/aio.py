"""aiokafka."""

from __future__ import annotations

import asyncio
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition  # type: ignore[import-untyped]

from support.peers.event import DEADLINE_S, Ack, Event, Seen


class Aiokafka:
    name = "aiokafka"
    sets_timestamps = True

    def write(self, bootstrap: str, topic: str, events: list[Event], codec: str, **config: Any) -> list[Ack]:
        async def run() -> list[Ack]:
            options = {"enable_idempotence": True, **config}
            producer = AIOKafkaProducer(
                bootstrap_servers=bootstrap,
                compression_type=None if codec == "none" else codec,
                linger_ms=20,
                **options,
            )
            await producer.start()
            try:
                sent = [
                    await producer.send(
                        topic,
                        event.value,
                        event.key,
                        partition=0,
                        timestamp_ms=event.timestamp,
                        headers=list(event.headers),
                    )
                    for event in events
                ]
                # Of a batch with timestamps of its own it reports the first one for every record.
                return [
                    Ack(done.offset, done.timestamp if done.timestamp_type == 1 else None)
                    for done in await asyncio.gather(*sent)
                ]
            finally:
                await producer.stop()

        return asyncio.run(asyncio.wait_for(run(), DEADLINE_S))

    def read(self, bootstrap: str, counts: dict[str, int]) -> dict[str, list[Seen]]:
        seen: dict[str, list[Seen]] = {topic: [] for topic in counts}

        async def run() -> None:
            consumer = AIOKafkaConsumer(
                bootstrap_servers=bootstrap,
                group_id=None,
                enable_auto_commit=False,
                auto_offset_reset="earliest",
            )
            await consumer.start()
            try:
                partitions = [TopicPartition(topic, 0) for topic in counts]
                consumer.assign(partitions)
                await consumer.seek_to_beginning(*partitions)
                missing = sum(counts.values())
                while missing:
                    for records in (await consumer.getmany(timeout_ms=200)).values():
                        missing -= len(records)
                        for record in records:
                            seen[record.topic].append(
                                Seen(
                                    record.offset,
                                    record.timestamp,
                                    record.timestamp_type,
                                    record.key,
                                    record.value,
                                    tuple(record.headers),
                                )
                            )
            finally:
                await consumer.stop()

        asyncio.run(asyncio.wait_for(run(), DEADLINE_S))
        return seen
