"""Sources: topics as frames. Bytes become values in the JVM where it can, else in the first Python pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ottla.streams.expressions import Expression, Types
from ottla.streams.fused import Fused
from ottla.streams.lowering import serdes_sql
from ottla.streams.lowering.chains import Chain, Job, arrow_schema
from ottla.streams.lowering.columns import Reader, each, milliseconds
from ottla.streams.lowering.frames import HEADERS_TYPE, Frame, ddl, frame_schema
from ottla.streams.plan import Source
from ottla.streams.serdes import WindowedSerde

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ottla.streams.lowering.query import Lowering

RAW_COLUMNS = ("key", "value", "topic", "partition", "offset", "timestamp", "headers")


def read_stream(node: Source, context: Lowering) -> DataFrame:
    """The rows of the source as they are in the topics."""
    from pyspark.sql import functions

    options = {"includeHeaders": str(context.headers).lower(), "startingOffsets": node.offset_reset}
    options |= context.settings.source_options
    # Lag tools see the application under its id, as they do with Kafka Streams.
    options.setdefault("kafka.group.id", context.settings.application_id)
    if node.pattern is not None:
        options["subscribePattern"] = node.pattern
    else:
        options["subscribe"] = ",".join(node.topics)
    df = context.spark.readStream.format("ottla").options(**options).load()
    if "headers" not in df.columns:
        df = df.withColumn("headers", functions.lit(None).cast(HEADERS_TYPE))
    return df.select(*RAW_COLUMNS)


def lower(node: Source, inputs: tuple[Frame, ...], context: Lowering) -> Frame:
    return decode(node, read_stream(node, context))


def decode(node: Source, raw: DataFrame) -> Frame:
    """The frame of a source, of its raw rows (a stream's, or those of a micro-batch)."""
    from pyspark.sql import functions

    if node.table:
        raw = raw.where("key is not null")
    columns: dict[str, Any] = {name: functions.col(name) for name in RAW_COLUMNS}
    key_sql = serdes_sql.read(node.key_serde, "key", "the key")
    value_sql = serdes_sql.read(node.value_serde, "value", "the value")
    windowed_serde = node.key_serde if isinstance(node.key_serde, WindowedSerde) else None
    read_key, read_value = Reader(node.key_type), Reader(node.value_type)
    if key_sql is None:
        read_key = Reader(node.key_type, node.key_serde)
    else:
        columns["key"] = functions.expr(key_sql)
        if windowed_serde is not None:
            columns["window"] = functions.expr(serdes_sql.read_window(windowed_serde, "key"))
    if value_sql is None:
        read_value = Reader(node.value_type, node.value_serde)
    else:
        columns["value"] = functions.expr(value_sql)
    in_python = key_sql is None or value_sql is None
    if not in_python:
        order = frame_schema(node.key_type, node.value_type, windowed=node.windowed, origin=True)
        df = raw.select(*(columns[name].alias(name) for name in order))
        frame = _frame(node, df=df)
    else:
        df = raw.select(*(column.alias(name) for name, column in columns.items()))
        # A windowed key that Python reads comes out of its serde with its window.
        chain = Chain(
            df=df,
            read_key=read_key,
            read_value=read_value,
            windowed=key_sql is not None and node.windowed,
            origin=True,
        )
        frame = _frame(node, chain=chain)
    return frame if node.timestamp_extractor is None else _with_times(node, frame)


def _frame(node: Source, *, df: DataFrame | None = None, chain: Chain | None = None) -> Frame:
    return Frame(
        df=df,
        chain=chain,
        key_type=node.key_type,
        value_type=node.value_type,
        windowed=node.windowed,
        origin=True,
    )


# --- a time of the user's ----------------------------------------------------------------------------------


def _with_times(node: Source, frame: Frame) -> Frame:
    """As in Kafka Streams, a record with a negative time is left out."""
    from pyspark.sql import functions

    extractor = node.timestamp_extractor
    if isinstance(extractor, Expression):
        found = extractor.type_in(Types(node.key_type, node.value_type, windowed=node.windowed))
        time = functions.expr(extractor.sql)
        if found != "timestamp":
            time = functions.timestamp_millis(time.cast("bigint"))
        frame = frame.with_columns({"timestamp": time})
    else:
        df = frame.df
        schema = arrow_schema(df, frame.schema)
        job = TimesJob(
            node.name,
            Job(node.name, Reader(frame.key_type), Reader(frame.value_type), frame.windowed, Fused(())),
            extractor,
            schema,
        )
        frame = frame.with_df(df.mapInArrow(job.run, ddl(frame.schema)))
    return frame.with_df(frame.df.where("timestamp >= timestamp_millis(0)"))


@dataclass(frozen=True, slots=True)
class TimesJob:
    """Batches with the times that a Python function finds in their records."""

    name: str
    job: Job
    extractor: Any
    schema: pa.Schema

    def _time(self, record: tuple[Any, Any, int]) -> Any:
        return self.extractor(*record)

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            (_, keys, values), where = self.job.run(batch)
            records = list(zip(keys, values, milliseconds(batch.column("timestamp")), strict=True))
            times = each(self._time, records, f"{self.name}: no time of the record", where)
            micros = pa.array([None if time is None else int(time) * 1000 for time in times], pa.int64())
            at = self.schema.get_field_index("timestamp")
            yield pa.RecordBatch.from_arrays(
                [
                    micros.cast(pa.timestamp("us", "UTC")) if index == at else batch.column(name)
                    for index, name in enumerate(self.schema.names)
                ],
                schema=self.schema,
            )
