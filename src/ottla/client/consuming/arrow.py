"""`poll_arrow`: fetched columns as an Arrow record batch, without a Python object for each record.

The records are decoded into buffers in Arrow's layout, those of all partitions into the same ones, and the
buffers are given their names and types.
The columns are those of Spark's Kafka connector: key, value, topic, partition, offset, timestamp,
timestamp_type, headers. Records of several partitions follow each other, each partition's in their order.
An `ArrowForm` chooses among them and gives them Spark's types, so that nothing is converted a second time.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any

from ottla.client.extras import pyarrow_for
from ottla.model.types import TopicPartition
from ottla.wire.record_batch import NO_TIMESTAMP, BinaryColumn, Columns, PendingColumns, joined_columns

_INT32 = struct.Struct("=i")
_INT64 = struct.Struct("=q")


def schema() -> Any:
    """The `pyarrow.Schema` of what `poll_arrow` returns."""
    pa = pyarrow_for("poll_arrow")
    header = pa.struct([pa.field("key", pa.string(), nullable=False), pa.field("value", pa.binary())])
    return pa.schema(
        [
            pa.field("key", pa.binary()),
            pa.field("value", pa.binary()),
            pa.field("topic", pa.string(), nullable=False),
            pa.field("partition", pa.int32(), nullable=False),
            pa.field("offset", pa.int64(), nullable=False),
            pa.field("timestamp", pa.timestamp("ms", "UTC")),
            pa.field("timestamp_type", pa.int32(), nullable=False),
            pa.field("headers", pa.list_(pa.field("item", header, nullable=False)), nullable=False),
        ]
    )


class ArrowForm:
    """Which columns a record batch has, under which names and in which order."""

    __slots__ = ("schema", "columns")

    def __init__(self, schema: Any, columns: Sequence[str]) -> None:
        self.schema = schema
        self.columns = columns
        """Our name of each column of the schema."""

    @classmethod
    def whole(cls) -> ArrowForm:
        """What `poll_arrow` returns."""
        form = schema()
        return cls(form, form.names)

    @classmethod
    def for_spark(cls, names: Sequence[str]) -> ArrowForm:
        """Columns under the names that Spark's connector has for them, with the types that Spark has for
        binary, string, int, bigint, timestamp and the headers' array: microseconds, and everything nullable.
        """
        pa = pyarrow_for("Spark")
        header = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
        types = {
            "timestamp": pa.timestamp("us", "UTC"),
            "headers": pa.list_(pa.field("element", header)),
        }
        columns = ["timestamp_type" if name == "timestampType" else name for name in names]
        own = schema()
        fields = [
            pa.field(name, types.get(column) or own.field(column).type)
            for name, column in zip(names, columns, strict=True)
        ]
        return cls(pa.schema(fields), columns)


def record_batch(
    fetched: Iterable[tuple[TopicPartition, PendingColumns]],
    form: ArrowForm | None = None,
    end_offset: int | None = None,
) -> Any:
    """What was fetched as one `pyarrow.RecordBatch`; without rows when nothing was. With an end, which is for
    a single partition, without the records from there on.
    """
    pa = pyarrow_for("poll_arrow")
    if form is None:
        form = ArrowForm.whole()
    parts = [(tp, pending) for tp, pending in fetched if pending.row_count]
    if not parts:
        arrays = [pa.array([], field.type) for field in form.schema]
        return pa.RecordBatch.from_arrays(arrays, schema=form.schema)
    columns = joined_columns([pending for _, pending in parts])
    arrays = [
        _column(pa, name, field.type, columns, parts)
        for name, field in zip(form.columns, form.schema, strict=True)
    ]
    batch = pa.RecordBatch.from_arrays(arrays, schema=form.schema)
    if end_offset is None or parts[-1][1].next_offset <= end_offset:
        return batch
    offsets: Sequence[int] = memoryview(columns.offsets).cast("B").cast("q")
    return batch.slice(0, bisect_left(offsets, end_offset, 0, columns.row_count))


def _column(
    pa: Any, name: str, kind: Any, columns: Columns, parts: Sequence[tuple[TopicPartition, PendingColumns]]
) -> Any:
    rows = columns.row_count
    match name:
        case "key":
            return _bytes(pa, kind, rows, columns.keys)
        case "value":
            return _bytes(pa, kind, rows, columns.values)
        case "topic":
            return _repeated(pa, kind, [(_text(tp.topic), part.row_count) for tp, part in parts])
        case "partition":
            numbers = [([_INT32.pack(tp.partition)], part.row_count) for tp, part in parts]
            return _repeated(pa, kind, numbers)
        case "offset":
            return _numbers(pa, kind, rows, columns.offsets)
        case "timestamp":
            return _times(pa, kind, rows, columns)
        case "timestamp_type":
            return _numbers(pa, kind, rows, columns.timestamp_types)
        case _:
            return _headers(pa, kind, rows, columns)


def _times(pa: Any, kind: Any, rows: int, columns: Columns) -> Any:
    numbers = _numbers(pa, pa.int64(), rows, columns.timestamps)
    times = _numbers(pa, pa.timestamp("ms", kind.tz), rows, columns.timestamps)
    if kind.unit == "us":
        # What does not fit into microseconds (the year 294247) wraps around, as in Spark itself.
        times = pa.compute.multiply(numbers, _int64(pa, 1_000)).view(kind)
    if pa.compute.min(numbers).as_py() <= NO_TIMESTAMP:
        # -1 says that there is none; it is not the last millisecond of 1969.
        missing = pa.compute.equal(numbers, NO_TIMESTAMP)
        times = pa.compute.if_else(missing, pa.scalar(None, times.type), times)
    return times


def _int64(pa: Any, value: int) -> Any:
    """A scalar out of a buffer, for the reason that `_repeated` gives."""
    buffer = pa.py_buffer(_INT64.pack(value))
    return pa.Array.from_buffers(pa.int64(), 1, [None, buffer], 0)[0]


def _text(text: str) -> list[bytes]:
    data = text.encode()
    return [_INT32.pack(0) + _INT32.pack(len(data)), data]


def _repeated(pa: Any, kind: Any, values: list[tuple[list[bytes], int]]) -> Any:
    """Each value, given as the buffers of an array, so many times. Made of buffers, since the first
    `pa.scalar` of a process imports pandas, which takes a good part of a second.
    """
    arrays = []
    for buffers, rows in values:
        one = pa.Array.from_buffers(kind, 1, [None, *(pa.py_buffer(buffer) for buffer in buffers)], 0)
        arrays.append(pa.repeat(one[0], rows))
    return arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)


def _numbers(pa: Any, kind: Any, rows: int, buffer: Any) -> Any:
    return pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(buffer)], 0)


def _bytes(pa: Any, kind: Any, rows: int, column: BinaryColumn) -> Any:
    validity = None if column.validity is None else pa.py_buffer(column.validity)
    return pa.Array.from_buffers(
        kind, rows, [validity, pa.py_buffer(column.offsets), pa.py_buffer(column.data)], column.null_count
    )


def _headers(pa: Any, kind: Any, rows: int, columns: Columns) -> Any:
    names = _bytes(pa, pa.string(), columns.header_count, columns.headers.keys)
    if columns.header_count:
        try:
            names.validate(full=True)
        except pa.ArrowInvalid:
            # Not UTF-8. Java's client reads such names leniently, and so do we.
            raw = _bytes(pa, pa.binary(), columns.header_count, columns.headers.keys)
            names = pa.array([str(name, "utf-8", "replace") for name in raw.to_pylist()], pa.string())
    values = _bytes(pa, pa.binary(), columns.header_count, columns.headers.values)
    pairs = pa.StructArray.from_arrays([names, values], fields=list(kind.value_type))
    offsets = pa.py_buffer(columns.headers.offsets)
    headers = pa.Array.from_buffers(kind, rows, [None, offsets], 0, children=[pairs])
    if not kind.value_field.nullable:
        return headers
    # Spark's form. Its connector says null of a record without headers.
    some = pa.compute.not_equal(pa.compute.list_value_length(headers), 0)
    return pa.Array.from_buffers(kind, rows, [some.buffers()[1], offsets], children=[pairs])
