"""What is in a topic, for tests of sinks: all records, as a reader with an isolation level gets them."""

from __future__ import annotations

from typing import NamedTuple

import ottla


class Found(NamedTuple):
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


def records(bootstrap: str, topic: str, *, isolation_level: str = "read_committed") -> list[Found]:
    """By partition and offset, up to the end (with read_committed: the last stable offset)."""
    found = []
    with ottla.SimpleConsumer(bootstrap, isolation_level=isolation_level) as consumer:
        for partition in consumer.partitions(topic):
            offset, end = 0, consumer.latest(topic, partition)
            while offset < end:
                fetched = consumer.fetch(topic, partition, offset)
                found += [
                    Found(partition, r.offset, r.timestamp, r.key, r.value, r.headers)
                    for r in fetched
                    if r.offset < end
                ]
                offset = fetched.next_offset
    return found
