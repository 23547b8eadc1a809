"""Chains: Python work on a DataFrame as ONE mapInArrow, whatever the number of functions.

A chain begins with how key and value are read (a column of Spark's, an object, the bytes of a serde), goes on
with fused steps, and ends in one of three ways: rows of a frame, rows of the sink, or records packed by key
for a stateful processor. So bytes from a topic may be parsed, mapped, filtered and serialized again in one
pass.

The functions are sent to the workers as a `Job`, which holds no DataFrame and no node of the plan.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ottla.streams import objects
from ottla.streams.errors import RecordError
from ottla.streams.fused import Columns, Fused, FusedStep, Where
from ottla.streams.lowering import columns as arrow_columns
from ottla.streams.lowering.columns import Reader, Writer
from ottla.streams.lowering.frames import Frame, ddl, frame_schema, spark_type
from ottla.streams.plan import OBJECT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


_NONE: Final = type(None)


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker does with a batch up to the end of the chain."""

    name: str
    read_key: Reader
    read_value: Reader
    windowed: bool
    """Whether the keys that are read have a window beside them."""
    fused: Fused

    def run(self, batch: pa.RecordBatch) -> tuple[Columns, Where]:
        where = arrow_columns.record_of(batch)
        keys = self.read_key(batch.column("key"), "the key", where)
        values = self.read_value(batch.column("value"), "the value", where)
        if self.windowed and "window" in batch.schema.names:
            keys = arrow_columns.windowed(keys, batch.column("window"))
        result = self.fused(keys, values, where)
        return result, arrow_columns.record_of(batch, result.rows)


@dataclass(frozen=True, kw_only=True)
class Chain:
    """A DataFrame with the columns of a frame, and the Python work to be done on it."""

    df: DataFrame
    read_key: Reader
    read_value: Reader
    windowed: bool
    origin: bool
    steps: tuple[FusedStep, ...] = ()

    def then(self, step: FusedStep) -> Chain:
        return replace(self, steps=(*self.steps, step))

    @property
    def bare(self) -> DataFrame:
        """The rows without their headers, which cost more than all the rest where nobody looks at them."""
        return self.df.drop("headers")

    @property
    def job(self) -> Job:
        name = " > ".join(step.name for step in self.steps)
        return Job(name, self.read_key, self.read_value, self.windowed, Fused(self.steps))

    def rows(self, frame: Frame) -> DataFrame:
        """The end that makes rows of a frame with these types."""
        schema = arrow_schema(self.df, frame.schema)
        job = RowsJob(
            self.job,
            Writer(frame.key_type, schema.field("key").type, is_key=True),
            Writer(frame.value_type, schema.field("value").type),
            frame.windowed,
            schema,
        )
        return self.df.mapInArrow(job.run, ddl(frame.schema))

    def presence(self, frame: Frame) -> DataFrame:
        """As `rows`, for who wants to know of the value only whether there is one (a count)."""
        schema = frame_schema(frame.key_type, "boolean", windowed=frame.windowed, origin=False)
        del schema["headers"]
        arrow = arrow_schema(self.df, schema)
        job = RowsJob(
            self.job,
            Writer(frame.key_type, arrow.field("key").type, is_key=True),
            None,
            frame.windowed,
            arrow,
        )
        return self.bare.mapInArrow(job.run, ddl(schema))

    def counted(self, frame: Frame) -> DataFrame:
        """Rows (key, value, timestamp): in each batch of Arrow, a key's number of records and last time."""
        schema = {"key": spark_type(frame.key_type), "value": "bigint", "timestamp": "timestamp"}
        arrow = arrow_schema(self.df, schema)
        job = CountJob(self.job, Writer(frame.key_type, arrow.field("key").type, is_key=True), arrow)
        return self.bare.mapInArrow(job.run, ddl(schema))


@functools.lru_cache(maxsize=256)
def _arrow_schema(schema: tuple[tuple[str, str], ...]) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    struct = StructType.fromDDL(ddl(dict(schema)))
    assert isinstance(struct, StructType)
    return to_arrow_schema(struct, timezone="UTC")


def arrow_schema(df: DataFrame, schema: dict[str, str]) -> pa.Schema:
    """The schema in Arrow's types, as mapInArrow has to return it."""
    return _arrow_schema(tuple(schema.items()))


@dataclass(frozen=True, slots=True)
class RowsJob:
    """Batches of one frame into batches of another."""

    job: Job
    write_key: Writer
    write_value: Writer | None
    """None: only whether there is a value."""
    windowed: bool
    schema: pa.Schema

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            result, where = self.job.run(batch)
            keys = result.keys
            made: dict[str, pa.Array] = {}
            if self.windowed:
                keys, made["window"] = arrow_columns.unwindowed(keys)
            made["key"] = self.write_key(keys, f"{self.job.name}: the key", where)
            if self.write_value is None:
                made["value"] = pa.array(
                    [None if item is None else True for item in result.values], pa.bool_()
                )
            else:
                made["value"] = self.write_value(result.values, f"{self.job.name}: the value", where)
            others = [name for name in self.schema.names if name not in made]
            rows = taken(batch, result.rows, others)
            yield pa.RecordBatch.from_arrays(
                [made[name] if name in made else rows[name] for name in self.schema.names], schema=self.schema
            )


@dataclass(frozen=True, slots=True)
class CountJob:
    """Batches into counts by key: what Spark then gets to group is a row per key, not one per record."""

    job: Job
    write_key: Writer
    schema: pa.Schema

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            (rows, keys, values), where = self.job.run(batch)
            times = taken(batch, rows, ["timestamp"])["timestamp"]
            if _NONE in set(map(type, values)) or _NONE in set(map(type, keys)):
                here = [
                    key is not None and value is not None for key, value in zip(keys, values, strict=True)
                ]
                keys = [key for key, keep in zip(keys, here, strict=True) if keep]
                where = arrow_columns.record_of(
                    batch, [row for row, keep in zip(rows, here, strict=True) if keep]
                )
                times = times.filter(pa.array(here, pa.bool_()))
            texts = self._texts(keys)
            column = self._written(keys, where) if texts is None else texts
            table = pa.Table.from_arrays([column, times], names=["key", "time"])
            # A record without a time is one, too.
            totals: list[Any] = [("time", "max"), ("time", "count", pc.CountOptions(mode="all"))]
            groups = table.group_by("key").aggregate(totals).combine_chunks()
            found = groups.column("key").combine_chunks()
            if texts is not None:  # few are left to be encoded
                found = self._written(found.to_pylist(), where)
            counts = groups.column("time_count").combine_chunks()
            last = groups.column("time_max").combine_chunks().cast(self.schema.field("timestamp").type)
            yield pa.RecordBatch.from_arrays([found, counts, last], schema=self.schema)

    def _texts(self, keys: list[Any]) -> pa.Array | None:
        """The keys as Arrow's texts, if they are objects and all of them texts."""
        if self.write_key.type_name != OBJECT or set(map(type, keys)) - {str}:
            return None
        try:
            return pa.array(keys, pa.string())
        except (UnicodeEncodeError, pa.ArrowInvalid):  # half a surrogate: the encoding of objects takes it
            return None

    def _written(self, keys: list[Any], where: Where) -> pa.Array:
        return self.write_key(keys, f"{self.job.name}: the key", where)


def taken(batch: pa.RecordBatch, rows: list[int], names: list[str]) -> dict[str, pa.Array]:
    """The columns of the rows that are left, each as often as the steps made it."""
    if len(rows) == batch.num_rows and rows == list(range(batch.num_rows)):
        return {name: batch.column(name) for name in names}
    index = pa.array(rows, pa.int64())
    return {name: batch.column(name).take(index) for name in names}


def chain_of(frame: Frame) -> Chain:
    """The frame's chain, or a new one that begins with its rows."""
    if frame.chain is not None:
        return frame.chain
    return Chain(
        df=frame.df,
        read_key=Reader(frame.key_type),
        read_value=Reader(frame.value_type),
        windowed=frame.windowed,
        origin=frame.origin,
    )


# --- packed by key: what stateful processors read ----------------------------------------------------------

SIMPLE_KEYS = frozenset({"string", "binary", "boolean", "tinyint", "smallint", "int", "bigint", OBJECT})
"""Types of keys that Spark hands to a processor and takes back unchanged; others travel as objects."""


def group_type(key_type: str) -> str:
    """The type of the column that records are grouped by."""
    return "binary" if key_type not in SIMPLE_KEYS or key_type == OBJECT else key_type


@dataclass(frozen=True, slots=True)
class PackJob:
    """Batches into one row per key, with all records of it in one binary.

    A stateful processor reads each cell of its rows by a call of its own; a row per key instead of one per
    record makes that small. The row's timestamp is the highest, so that the watermark is that of the records.
    """

    job: Job
    side: int
    write_key: Writer
    windowed: bool
    null_keys: bool
    null_values: bool
    headers: bool
    schema: pa.Schema

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            (rows, keys, values), where = self.job.run(batch)
            times = arrow_columns.milliseconds(batch.column("timestamp"))
            count = batch.num_rows
            names = batch.schema.names
            if "offset" in names:
                topics = batch.column("topic").to_pylist()
                partitions = batch.column("partition").to_pylist()
                offsets = batch.column("offset").to_pylist()
            else:
                topics, partitions, offsets = [None] * count, [0] * count, [0] * count
            headers = batch.column("headers").to_pylist() if self.headers else [None] * count
            groups: dict[Any, list[tuple[Any, ...]]] = {}
            latest: list[int] = []
            positions: list[int] = []
            unhashable = self.write_key.type_name == OBJECT or self.write_key.type_name not in SIMPLE_KEYS
            group_keys: list[Any] = keys
            if unhashable:  # by their bytes, as Spark groups them
                group_keys = arrow_columns.each(_group_bytes, keys, f"{self.job.name}: the key", where)
            places: dict[Any, int] = {}
            for at, (row, key, value) in enumerate(zip(rows, group_keys, values, strict=True)):
                if (key is None and not self.null_keys) or (value is None and not self.null_values):
                    continue
                time_ms = times[row]
                record = (time_ms, self.side, topics[row], partitions[row], offsets[row], value, headers[row])
                place = places.get(key)
                if place is None:
                    places[key] = len(latest)
                    groups[key] = [record]
                    latest.append(time_ms)
                    positions.append(at)
                else:
                    groups[key].append(record)
                    if time_ms > latest[place]:
                        latest[place] = time_ms
            where = arrow_columns.record_of(batch, [rows[at] for at in positions])
            yield self._batch(groups, latest, [keys[at] for at in positions], where)

    def _batch(
        self, groups: dict[Any, list[tuple[Any, ...]]], latest: list[int], keys: list[Any], where: Where
    ) -> pa.RecordBatch:
        made: dict[str, pa.Array] = {}
        if self.windowed:
            made["window_start"] = pa.array([key and key.start_ms for key in keys], pa.int64())
            made["window_end"] = pa.array([key and key.end_ms for key in keys], pa.int64())
            keys = [key and key.key for key in keys]
        made["key"] = self.write_key(keys, f"{self.job.name}: the key", where)
        made["timestamp"] = pa.array([time * 1000 for time in latest], pa.int64()).cast(
            pa.timestamp("us", "UTC")
        )
        try:
            payloads = [objects.pickled(records) for records in groups.values()]
        except Exception as error:
            raise RecordError(
                f"{self.job.name}: a value cannot be sent to another process: {type(error).__name__}: {error}"
            ) from error
        made["records"] = pa.array(payloads, pa.binary())
        return pa.RecordBatch.from_arrays([made[name] for name in self.schema.names], schema=self.schema)


def _group_bytes(key: Any) -> bytes | None:
    return None if key is None else objects.encode_key(key)


def packed(
    frame: Frame, *, side: int = 0, null_keys: bool = False, null_values: bool = False, headers: bool = False
) -> DataFrame:
    """Rows (key, [window_start, window_end,] timestamp, records): one per key and batch of Arrow."""
    chain = chain_of(frame)
    column_type = group_type(frame.key_type)
    schema = {"key": column_type}
    if frame.windowed:
        schema |= {"window_start": "bigint", "window_end": "bigint"}
    schema |= {"timestamp": "timestamp", "records": "binary"}
    arrow = arrow_schema(chain.df, schema)
    as_object = column_type == "binary" and frame.key_type != "binary"
    job = PackJob(
        chain.job,
        side,
        Writer(OBJECT if as_object else frame.key_type, arrow.field("key").type, is_key=True),
        frame.windowed,
        null_keys,
        null_values,
        headers,
        arrow,
    )
    return (chain.df if headers else chain.bare).mapInArrow(job.run, ddl(schema))
