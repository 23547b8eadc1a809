"""What is in a topic, read by another client (librdkafka)."""

from __future__ import annotations

import time

from confluent_kafka import Consumer, Message, TopicPartition


def read_back(
    bootstrap: str, topic: str, count: int, *, partitions: int = 1, timeout_s: float = 20.0, **settings: str
) -> list[Message]:
    """The first `count` records, or what has come of them by the end of all partitions."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "read-back",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 50,
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
    )
    try:
        consumer.assign([TopicPartition(topic, index, 0) for index in range(partitions)])
        found: list[Message] = []
        ended: set[int] = set()
        deadline = time.monotonic() + timeout_s
        while len(ended) < partitions and len(found) < count:
            assert time.monotonic() < deadline, f"{len(found)} of {count} records after {timeout_s} s"
            for message in consumer.consume(1_000, 0.2):
                error = message.error()
                if error is None:
                    found.append(message)
                    ended.discard(message.partition())
                else:
                    assert error.name() == "_PARTITION_EOF", error
                    ended.add(message.partition())
        return found
    finally:
        consumer.close()


def values_of(bootstrap: str, topic: str, **options: object) -> list[bytes]:
    """All values of a topic, in the order of one partition."""
    found = read_back(bootstrap, topic, 1 << 30, **options)  # type: ignore[arg-type]
    return [message.value() for message in found]
