"""confluent-kafka, which is librdkafka."""

from __future__ import annotations

import time
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, TIMESTAMP_LOG_APPEND_TIME, Consumer, Producer, TopicPartition

from support.peers.event import DEADLINE_S, Ack, Event, Seen


class Confluent:
    name = "confluent-kafka"
    sets_timestamps = True

    def write(self, bootstrap: str, topic: str, events: list[Event], codec: str, **config: str) -> list[Ack]:
        producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "compression.type": codec,
                "enable.idempotence": True,
                "linger.ms": 20,
                **config,
            }
        )
        acks: dict[int, Ack] = {}
        errors: list[Any] = []

        def delivered(index: int) -> Any:
            def callback(error: Any, message: Any) -> None:
                if error is not None:
                    errors.append(error)
                else:
                    acks[index] = Ack(message.offset(), message.timestamp()[1])

            return callback

        for index, event in enumerate(events):
            producer.produce(
                topic,
                value=event.value,
                key=event.key,
                partition=0,
                headers=list(event.headers) or None,
                timestamp=event.timestamp or 0,
                on_delivery=delivered(index),
            )
        left = producer.flush(DEADLINE_S)
        assert not errors and left == 0, errors or f"{left} records were not acknowledged"
        return [acks[index] for index in range(len(events))]

    def read(self, bootstrap: str, counts: dict[str, int]) -> dict[str, list[Seen]]:
        consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "unused",
                "enable.auto.commit": False,
                "check.crcs": True,
            }
        )
        seen: dict[str, list[Seen]] = {topic: [] for topic in counts}
        missing = sum(counts.values())
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING) for topic in counts])
        deadline = time.monotonic() + DEADLINE_S
        try:
            while missing and time.monotonic() < deadline:
                messages: list[Any] = consumer.consume(1000, 0.2)
                for message in messages:
                    assert message.error() is None, message.error()
                    kind, timestamp = message.timestamp()
                    seen[message.topic()].append(
                        Seen(
                            message.offset(),
                            timestamp,
                            1 if kind == TIMESTAMP_LOG_APPEND_TIME else 0,
                            message.key(),
                            message.value(),
                            tuple(message.headers() or ()),
                        )
                    )
                    missing -= 1
        finally:
            consumer.close()
        return seen
