"""A program of `ottla.streams` run for tests: put records into topics, run it to their end, read what came
out.

Each run is one with availableNow from the same checkpoint, so every run after the first is a restart, and
what is late is decided by what earlier runs have seen.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topic_reading import Found, records

import ottla
from ottla.streams import StreamsBuilder
from ottla.streams.runtime import StreamsApplication, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Put = tuple[str | None, str | None, int]
"""Key, value, timestamp in ms."""
END_S = 300.0


class Program:
    def __init__(self, spark: SparkSession, bootstrap: str, checkpoint: Path, name: str) -> None:
        self.spark = spark
        self.bootstrap = bootstrap
        self.checkpoint = checkpoint
        self.name = name
        self._seen: dict[str, set[tuple[int, int]]] = {}

    def topic(self, name: str, partitions: int = 2) -> str:
        """A topic of this test, whatever the age of its records."""
        full = f"{self.name}-{name}"
        with ottla.Admin(self.bootstrap) as admin:
            new = ottla.NewTopic(full, partitions=partitions, configs={"retention.ms": "-1"})
            admin.create_topics([new]).all()
        return full

    def put(self, topic: str, puts: Iterable[Put], *, partition: int | None = None) -> None:
        with ottla.Producer(self.bootstrap) as producer:
            for key, value, timestamp_ms in puts:
                producer.send(topic, value, key, timestamp=timestamp_ms, partition=partition)

    def start(self, builder: StreamsBuilder, **settings: Any) -> StreamsApplication:
        settings.setdefault("trigger", {"availableNow": True})
        settings.setdefault("conf", {"spark.sql.shuffle.partitions": "1"})
        return run(
            builder,
            application_id=self.name,
            bootstrap_servers=self.bootstrap,
            checkpoint=self.checkpoint,
            spark=self.spark,
            **settings,
        )

    def run(self, builder: StreamsBuilder, **settings: Any) -> None:
        """Until everything that is in the topics is processed."""
        application = self.start(builder, **settings)
        try:
            assert application.await_termination(END_S), application.progress()
        finally:
            application.stop(timeout=0)

    def all(self, topic: str) -> list[Found]:
        return records(self.bootstrap, topic)

    def new(self, topic: str) -> list[Found]:
        """What has come into a topic since it was last asked, in no order over partitions."""
        seen = self._seen.setdefault(topic, set())
        fresh = [each for each in self.all(topic) if (each.partition, each.offset) not in seen]
        seen |= {(each.partition, each.offset) for each in fresh}
        return fresh


def text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


def number(data: bytes | None) -> int | None:
    """What Kafka's Serdes.Long reads."""
    return None if data is None else int(struct.unpack(">q", data)[0])


def windowed_key(data: bytes | None) -> tuple[str, int]:
    """A key of Kafka's TimeWindowedSerde over strings: the key and the window's start."""
    assert data is not None
    return data[:-8].decode(), int(struct.unpack(">q", data[-8:])[0])


def session_key(data: bytes | None) -> tuple[str, int, int]:
    """A key of Kafka's SessionWindowedSerde over strings: the key, start and end of the session."""
    assert data is not None
    end, start = struct.unpack(">qq", data[-16:])
    return data[:-16].decode(), start, end
