"""`poll_arrow`: fetched columns as an Arrow record batch, without a Python object for each record.

The records are decoded into buffers in Arrow's layout, those of all partitions into the same ones, and the
buffers are given their names and types.
The columns are those of Spark's Kafka connector: key, value, topic, partition, offset, timestamp,
timestamp_type, headers. Records of several partitions follow each other, each partition's in their order.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

from ottla.client.extras import pyarrow_for
from ottla.model.types import TopicPartition
from ottla.wire.record_batch import NO_TIMESTAMP, BinaryColumn, Columns, PendingColumns, joined_columns

_INT32 = struct.Struct("=i")


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


def record_batch(fetched: Iterable[tuple[TopicPartition, PendingColumns]]) -> Any:
    """What was fetched as one `pyarrow.RecordBatch`; without rows when nothing was."""
    pa = pyarrow_for("poll_arrow")
    form = schema()
    parts = [(tp, pending) for tp, pending in fetched if pending.row_count]
    if not parts:
        return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in form], schema=form)
    columns = joined_columns([pending for _, pending in parts])
    rows = columns.row_count
    times = _numbers(pa, form.field("timestamp").type, rows, columns.timestamps)
    numbers = _numbers(pa, pa.int64(), rows, columns.timestamps)
    if pa.compute.min(numbers).as_py() <= NO_TIMESTAMP:
        # -1 says that there is none; it is not the last millisecond of 1969.
        missing = pa.compute.equal(numbers, NO_TIMESTAMP)
        times = pa.compute.if_else(missing, pa.scalar(None, times.type), times)
    return pa.RecordBatch.from_arrays(
        [
            _bytes(pa, pa.binary(), rows, columns.keys),
            _bytes(pa, pa.binary(), rows, columns.values),
            _repeated(pa, pa.string(), [(_text(tp.topic), part.row_count) for tp, part in parts]),
            _repeated(pa, pa.int32(), [([_INT32.pack(tp.partition)], part.row_count) for tp, part in parts]),
            _numbers(pa, pa.int64(), rows, columns.offsets),
            times,
            _numbers(pa, pa.int32(), rows, columns.timestamp_types),
            _headers(pa, form.field("headers").type, rows, columns),
        ],
        schema=form,
    )


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
    return pa.Array.from_buffers(
        kind, rows, [None, pa.py_buffer(columns.headers.offsets)], 0, children=[pairs]
    )
