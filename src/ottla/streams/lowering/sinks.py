"""Ends of a plan: frames as rows of the sink (key, value, topic, partition, headers, timestamp).

Where both serdes are SQL the rows are made in the JVM; else the chain before ends with writing bytes. A
`ForEach` is a chain whose last function is called for its effect and that has no rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ottla.streams.fused import FusedStep, Where
from ottla.streams.lowering import serdes_sql
from ottla.streams.lowering.chains import Job, arrow_schema, chain_of, taken
from ottla.streams.lowering.columns import Reader, Writer, each
from ottla.streams.lowering.frames import HEADERS_TYPE, Frame, ddl
from ottla.streams.plan import ForEach, Function, Sink, Step
from ottla.streams.serdes import ChangeSerde

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ottla.streams.lowering.query import Lowering

SINK_SCHEMA = {
    "key": "binary",
    "value": "binary",
    "topic": "string",
    "partition": "int",
    "headers": HEADERS_TYPE,
    "timestamp": "timestamp",
}


def rows(node: Sink | ForEach, frame: Frame, context: Lowering) -> DataFrame:
    """The rows that this end writes."""
    if isinstance(node, ForEach):
        return _for_each(node, frame)
    key = serdes_sql.write(node.key_serde, "key", frame.key_type, windowed=frame.windowed)
    value = serdes_sql.write(node.value_serde, "value", frame.value_type, windowed=False)
    plain = frame.chain is None and isinstance(node.topic, str) and node.partitioner is None
    if not plain or key is None or value is None:
        return _in_python(node, frame, context)
    from pyspark.sql import functions

    return frame.df.select(
        functions.expr(key).alias("key"),
        functions.expr(value).alias("value"),
        functions.lit(node.topic).alias("topic"),
        functions.lit(None).cast("int").alias("partition"),
        "headers",
        "timestamp",
    )


def _in_python(node: Sink, frame: Frame, context: Lowering) -> DataFrame:
    chain = chain_of(frame)
    job = chain.job
    if isinstance(node.value_serde, ChangeSerde) and frame.chain is None:
        job = Job(job.name, job.read_key, Reader(frame.value_type, change=True), job.windowed, job.fused)
    schema = arrow_schema(chain.df, SINK_SCHEMA)
    sink = SinkJob(
        node.name,
        job,
        Writer("binary", pa.binary(), node.key_serde),
        Writer("binary", pa.binary(), node.value_serde),
        node.topic,
        node.partitioner,
        dict(context.settings.options) if node.partitioner is not None else {},
        schema,
    )
    return chain.df.mapInArrow(sink.run, ddl(SINK_SCHEMA))


@dataclass(frozen=True, slots=True)
class SinkJob:
    """Batches of a frame into batches of bytes."""

    name: str
    job: Job
    write_key: Writer
    write_value: Writer
    topic: str | Function
    partitioner: Function | None
    options: Mapping[str, str] = field(repr=False)  # a password may be among them
    schema: pa.Schema

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            (rows, keys, values), where = self.job.run(batch)
            topics = self._topics(keys, values, where)
            partitions = self._partitions(topics, keys, values, where)
            kept = taken(batch, rows, ["headers", "timestamp"])
            yield pa.RecordBatch.from_arrays(
                [
                    self.write_key(keys, f"{self.name}: the key", where),
                    self.write_value(values, f"{self.name}: the value", where),
                    pa.array(topics, pa.string()),
                    pa.array(partitions, pa.int32()),
                    kept["headers"],
                    kept["timestamp"],
                ],
                schema=self.schema,
            )

    def _topics(self, keys: list[Any], values: list[Any], where: Where) -> list[str]:
        choose = self.topic
        if isinstance(choose, str):
            return [choose] * len(keys)
        records = list(zip(keys, values, strict=True))
        return each(
            lambda record: _topic(choose(*record)), records, f"{self.name}: no topic for the record", where
        )

    def _partitions(
        self, topics: list[str], keys: list[Any], values: list[Any], where: Where
    ) -> list[int | None]:
        partitioner = self.partitioner
        if partitioner is None:
            return [None] * len(topics)
        counts: dict[str, int] = {}
        for topic in set(topics):
            counts[topic] = partition_count(topic, self.options)
        records = list(zip(topics, keys, values, strict=True))
        return each(
            lambda record: _partition(partitioner(*record, counts[record[0]]), counts[record[0]]),
            records,
            f"{self.name}: no partition for the record",
            where,
        )


def _topic(chosen: Any) -> str:
    if not isinstance(chosen, str) or not chosen:
        raise TypeError(f"a topic's name was expected, not {chosen!r}")
    return chosen


def _partition(chosen: Any, count: int) -> int | None:
    if chosen is not None and (not isinstance(chosen, int) or not 0 <= chosen < count):
        raise ValueError(f"a partition from 0 to {count - 1} was expected, not {chosen!r}")
    return chosen


def partition_count(topic: str, options: Mapping[str, str]) -> int:
    """How many partitions the topic has, asked of the cluster."""
    from ottla.pipelines import connections
    from ottla.pipelines.options import client_settings

    described = connections.admin(client_settings(options)).describe_topics([topic]).all()
    return len(described[topic].partitions)


def _for_each(node: ForEach, frame: Frame) -> DataFrame:
    chain = chain_of(frame).then(FusedStep(node.name, Step.PEEK, (node.function,), True, False))
    job = chain.job
    schema = arrow_schema(chain.df, SINK_SCHEMA)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            job.run(batch)
        yield from (schema.empty_table().to_batches() or [pa.RecordBatch.from_pylist([], schema=schema)])

    function: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]] = run
    return chain.df.mapInArrow(function, ddl(SINK_SCHEMA))
