"""kafka-python, whose producer is idempotent by default since version 3."""

from __future__ import annotations

import time
from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition  # type: ignore[import-untyped]

from support.peers.event import DEADLINE_S, Ack, Event, Seen


class KafkaPython:
    name = "kafka-python"
    sets_timestamps = True

    def write(self, bootstrap: str, topic: str, events: list[Event], codec: str, **config: Any) -> list[Ack]:
        producer = KafkaProducer(
            bootstrap_servers=bootstrap,
            compression_type=None if codec == "none" else codec,
            linger_ms=20,
            **config,
        )
        try:
            sent = [
                producer.send(
                    topic,
                    value=event.value,
                    key=event.key,
                    partition=0,
                    headers=list(event.headers),
                    timestamp_ms=event.timestamp,
                )
                for event in events
            ]
            producer.flush(DEADLINE_S)
            done = [future.get(DEADLINE_S) for future in sent]
        finally:
            producer.close(5)
        return [Ack(each.offset, each.timestamp) for each in done]

    def read(self, bootstrap: str, counts: dict[str, int]) -> dict[str, list[Seen]]:
        consumer = KafkaConsumer(
            bootstrap_servers=bootstrap, group_id=None, enable_auto_commit=False, auto_offset_reset="earliest"
        )
        seen: dict[str, list[Seen]] = {topic: [] for topic in counts}
        try:
            partitions = [TopicPartition(topic, 0) for topic in counts]
            consumer.assign(partitions)
            consumer.seek_to_beginning(*partitions)
            missing = sum(counts.values())
            deadline = time.monotonic() + DEADLINE_S
            while missing and time.monotonic() < deadline:
                for records in consumer.poll(200).values():
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
            consumer.close()
        return seen
