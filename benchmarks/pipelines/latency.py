"""End to end: a record is published, a streaming query reads it, changes it and writes it, somebody reads it.

The record carries the time at which it was given to the producer; late is how long after that the reader had
it in hand. Publisher and reader are the same for every system, at a rate far below what any can do: what is
measured is how long micro-batches take.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ottla
from pipelines import topics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

RECORDS_PER_S = 50
PARTITIONS = 2
ANSWER_S_MAX = 60

_numbers = itertools.count()


def _stream(spark: SparkSession, format: str, address: str, topic: str) -> DataFrame:
    from pyspark.sql import functions as F

    df = (
        spark.readStream.format(format)
        .option("kafka.bootstrap.servers", address)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .load()
    )
    return df.select("key", F.concat(F.col("value").cast("string"), F.lit(" seen")).alias("value"))


def _at_least_once(format: str) -> Callable[[SparkSession, str, str, str, Path], StreamingQuery]:
    def start(
        spark: SparkSession, address: str, source: str, target: str, checkpoint: Path
    ) -> StreamingQuery:
        writer = _stream(spark, format, address, source).writeStream.format(format)
        return (
            writer.option("kafka.bootstrap.servers", address)
            .option("topic", target)
            .option("checkpointLocation", str(checkpoint))
            .start()
        )

    return start


def _exactly_once(
    spark: SparkSession, address: str, source: str, target: str, checkpoint: Path
) -> StreamingQuery:
    from ottla.pipelines import write_stream

    return write_stream(
        _stream(spark, "ottla", address, source),
        topic=target,
        exactly_once=True,
        bootstrap_servers=address,
        checkpoint=str(checkpoint),
        application_id=target,
    )


WAYS: dict[str, Callable[[SparkSession, str, str, str, Path], StreamingQuery]] = {
    "ottla": _at_least_once("ottla"),
    "kafka": _at_least_once("kafka"),
    "ottla, exactly once": _exactly_once,
}


class _Publisher(threading.Thread):
    """Sends a record every so often, and knows how many it sent."""

    def __init__(self, address: str, topic: str) -> None:
        super().__init__(daemon=True)
        self._address = address
        self._topic = topic
        self._done = threading.Event()
        self.sent = 0

    def run(self) -> None:
        with ottla.Producer(bootstrap_servers=self._address, linger_ms=0) as producer:
            began_s = time.monotonic()
            while not self._done.is_set():
                producer.send(self._topic, b"%d" % time.monotonic_ns(), key=b"%d" % self.sent)
                self.sent += 1
                self._done.wait(max(0.0, began_s + self.sent / RECORDS_PER_S - time.monotonic()))
            producer.flush()

    def stop(self) -> None:
        self._done.set()
        self.join()


def measured(
    spark: SparkSession, way: str, address: str, folder: Path, warm_s: float, measured_s: float
) -> list[float]:
    """How late each record was, in milliseconds, from `warm_s` after the first answer on."""
    number = next(_numbers)
    source, target = f"published-{number}", f"answers-{number}"
    topics.create(address, [source, target], PARTITIONS)
    query = WAYS[way](spark, address, source, target, folder / f"checkpoint-{number}")
    publisher = _Publisher(address, source)
    publisher.start()
    late_ms: list[float] = []
    seen = 0
    settings: dict[str, Any] = {"auto_offset_reset": "earliest", "isolation_level": "read_committed"}
    try:
        with ottla.Consumer(bootstrap_servers=address, **settings) as consumer:
            consumer.assign([ottla.TopicPartition(target, index) for index in range(PARTITIONS)])
            first_s, last_s = 0.0, time.monotonic()
            while publisher.is_alive() or seen < publisher.sent:
                records = consumer.poll(0.1)
                now_ns, now_s = time.monotonic_ns(), time.monotonic()
                for record in records:
                    seen += 1
                    first_s = first_s or now_s
                    if now_s - first_s >= warm_s:
                        late_ms.append((now_ns - int(record.value.split()[0])) / 1e6)
                last_s = now_s if records else last_s
                if now_s - last_s > ANSWER_S_MAX or not query.isActive:
                    raise RuntimeError(f"{way}: no answers any more; {query.exception()}")
                if first_s and now_s - first_s > warm_s + measured_s and publisher.is_alive():
                    publisher.stop()
        query.processAllAvailable()  # to be stopped between two batches
    finally:
        publisher.stop()
        query.stop()
    if seen != publisher.sent:
        raise RuntimeError(f"{way}: {publisher.sent} records published, {seen} came out")
    return late_ms
