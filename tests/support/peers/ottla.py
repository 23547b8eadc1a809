"""Our own client: record by record under threads, and with Arrow's columns under asyncio."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pyarrow as pa

import ottla
from ottla import TopicPartition, aio
from support.peers.event import DEADLINE_S, Ack, Event, Seen

HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


class OttlaRecords:
    name = "ottla"
    sets_timestamps = True

    def write(self, bootstrap: str, topic: str, events: list[Event], codec: str, **config: Any) -> list[Ack]:
        with ottla.Producer(bootstrap, compression_type=codec, linger_ms=20, **config) as producer:
            futures = [
                producer.send(
                    topic,
                    event.value,
                    event.key,
                    headers=event.headers,
                    timestamp=event.timestamp,
                    partition=0,
                )
                for event in events
            ]
            stored = [future.result(DEADLINE_S) for future in futures]
        return [Ack(each.offset, each.timestamp) for each in stored]

    def read(self, bootstrap: str, counts: dict[str, int]) -> dict[str, list[Seen]]:
        seen: dict[str, list[Seen]] = {topic: [] for topic in counts}
        until = time.monotonic() + DEADLINE_S
        with ottla.Consumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest") as consumer:
            consumer.assign([TopicPartition(topic, 0) for topic in counts])
            missing = sum(counts.values())
            while missing > 0 and time.monotonic() < until:
                records = consumer.poll(0.2)
                missing -= len(records)
                for record in records:
                    seen[record.topic].append(
                        Seen(
                            record.offset,
                            record.timestamp,
                            record.timestamp_type,
                            record.key,
                            record.value,
                            record.headers,
                        )
                    )
        return seen


class OttlaColumns:
    name = "ottla-columns"
    sets_timestamps = True

    def write(self, bootstrap: str, topic: str, events: list[Event], codec: str, **config: Any) -> list[Ack]:
        table = pa.table(
            {
                "key": pa.array([event.key for event in events], pa.binary()),
                "value": pa.array([event.value for event in events], pa.binary()),
                "headers": pa.array(
                    [[{"key": name, "value": value} for name, value in event.headers] for event in events],
                    HEADERS,
                ),
                "timestamp": pa.array([event.timestamp for event in events], pa.int64()),
                "partition": pa.array([0] * len(events), pa.int32()),
            }
        )

        async def run() -> list[Ack]:
            async with aio.Producer(bootstrap, compression_type=codec, **config) as producer:
                stored = await (await producer.send_batch(topic, table))
            rows = stored.partitions[0]
            assert stored.row_count == rows.row_count == rows.last_offset - rows.first_offset + 1
            return [Ack(offset, None) for offset in range(rows.first_offset, rows.last_offset + 1)]

        return asyncio.run(asyncio.wait_for(run(), DEADLINE_S))

    def read(self, bootstrap: str, counts: dict[str, int]) -> dict[str, list[Seen]]:
        seen: dict[str, list[Seen]] = {topic: [] for topic in counts}

        async def run() -> None:
            async with aio.Consumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest") as consumer:
                consumer.assign([TopicPartition(topic, 0) for topic in counts])
                missing = sum(counts.values())
                while missing > 0:
                    batch = await consumer.poll_arrow(0.2)
                    batch.validate(full=True)
                    missing -= batch.num_rows
                    times = batch.column("timestamp").cast(pa.int64())
                    batch = batch.set_column(5, "timestamp", times)
                    for row in batch.to_pylist():
                        seen[row["topic"]].append(
                            Seen(
                                row["offset"],
                                row["timestamp"],
                                row["timestamp_type"],
                                row["key"],
                                row["value"],
                                tuple((pair["key"], pair["value"]) for pair in row["headers"]),
                            )
                        )

        asyncio.run(asyncio.wait_for(run(), DEADLINE_S))
        return seen
