"""A topology run in phases: put records into topics, run until all of them are done, look at what came out.

Each phase is a run with availableNow from the same checkpoint, so every phase is a restart, too, and what its
micro-batch sees is what was put since the phase before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topic_reading import records

import ottla
from ottla.streams import StreamsBuilder, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Put = tuple[str | None, str | None, int]
"""Key, value, timestamp in ms."""


class Phases:
    def __init__(self, spark: SparkSession, bootstrap: str, folder: Path, name: str) -> None:
        self.spark = spark
        self.bootstrap = bootstrap
        self.folder = folder
        self.name = name
        self._seen: dict[str, set[tuple[int, int]]] = {}

    def topic(self, name: str, partitions: int = 2) -> str:
        """A topic of this test, which keeps records however old they are."""
        full = f"{self.name}-{name}"
        with ottla.Admin(self.bootstrap) as admin:
            new = ottla.NewTopic(full, partitions=partitions, configs={"retention.ms": "-1"})
            admin.create_topics([new]).all()
        return full

    def put(self, topic: str, puts: Iterable[Put]) -> None:
        with ottla.Producer(self.bootstrap) as producer:
            for key, value, timestamp_ms in puts:
                producer.send(
                    topic,
                    key=None if key is None else key.encode(),
                    value=None if value is None else value.encode(),
                    timestamp=timestamp_ms,
                )

    def run(
        self,
        builder: StreamsBuilder,
        application: str = "app",
        options: Mapping[str, Any] | None = None,
        **conf: Any,
    ) -> None:
        """One phase: until everything that is in the topics is processed."""
        application = f"{self.name}-{application}"
        started = run(
            builder,
            application_id=application,
            bootstrap_servers=self.bootstrap,
            checkpoint=self.folder / application,
            trigger={"availableNow": True},
            spark=self.spark,
            conf={"spark.sql.shuffle.partitions": "1", **conf},
            options=options,
        )
        assert started.await_termination(200)

    def stored(self, application: str, stage: str, **options: str) -> int:
        """How many entries Spark has in the state of a stage."""
        path = str(self.folder / f"{self.name}-{application}" / stage)
        return self.spark.read.format("statestore").options(**options).load(path).count()

    def internal(self, kind: str) -> list[str]:
        """The topics that applications of this test have made for themselves."""
        with ottla.Admin(self.bootstrap) as admin:
            names = sorted(admin.list_topics())
        return [name for name in names if name.startswith(f"{self.name}-") and name.endswith(f"-{kind}")]

    def left(self, topic: str) -> int:
        """How many records are still in a topic."""
        with ottla.SimpleConsumer(self.bootstrap) as consumer:
            return sum(
                consumer.latest(topic, partition) - consumer.earliest(topic, partition)
                for partition in consumer.partitions(topic)
            )

    def fresh(self, topic: str) -> list[tuple[str | None, str | None, int]]:
        """What has come into a topic since it was last asked, as (key, value, time)."""
        seen = self._seen.setdefault(topic, set())
        found = [r for r in records(self.bootstrap, topic) if (r.partition, r.offset) not in seen]
        seen |= {(r.partition, r.offset) for r in found}
        return [(_text(r.key), _text(r.value), r.timestamp_ms) for r in found]


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()
