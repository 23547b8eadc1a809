"""Columns of Arrow and lists of Python values, both ways, a column at a time.

How a column is read or written depends on what it is: bytes of a serde, an object in the encoding of
`objects.py`, or one of Spark's types, which Arrow knows. Where one row cannot be read or written, the error
names its record: the column is gone through again, row by row, only then. This runs in Spark's workers and
does not import Spark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ottla.streams import objects
from ottla.streams.errors import RecordError
from ottla.streams.fused import Where
from ottla.streams.plan import OBJECT
from ottla.streams.serdes import ChangeSerde, Serde
from ottla.streams.windows import Windowed


@dataclass(frozen=True, slots=True)
class Reader:
    """A column as Python values."""

    type_name: str
    serde: Serde | None = None
    """Set: the column has the bytes that this serde reads."""
    change: bool = False
    """The column is struct<value, added>: read as the pair of them."""

    def __call__(self, column: pa.Array, name: str, where: Where) -> list[Any]:
        items: list[Any] = column.to_pylist(maps_as_pydicts="lossy")
        if self.change:
            decode = objects.decode if self.type_name == OBJECT else None
            return [None if item is None else _change(item, decode) for item in items]
        if self.serde is not None:
            return each(self.serde.deserialize, items, f"{name} cannot be read", where)
        if self.type_name == OBJECT:
            decode = objects.decode
            return [None if item is None else decode(item) for item in items]
        return items


def _change(item: dict[str, Any], decode: Callable[[bytes], Any] | None) -> tuple[Any, bool]:
    value = item["value"]
    return (value if decode is None or value is None else decode(value)), item["added"]


@dataclass(frozen=True, slots=True)
class Writer:
    """Python values as a column."""

    type_name: str
    arrow_type: pa.DataType
    serde: Serde | None = None
    """Set: the column gets the bytes that this serde writes."""
    is_key: bool = False
    """Keys are grouped by their bytes, so they need an encoding that is the same for equal ones."""

    def __call__(self, items: list[Any], name: str, where: Where) -> pa.Array:
        if self.serde is not None:
            return pa.array(
                each(self.serde.serialize, items, f"{name} cannot be written", where), pa.binary()
            )
        if self.type_name == OBJECT:
            encode = objects.encode_key if self.is_key else objects.encode
            encoded = each(lambda item: None if item is None else encode(item), items, f"{name}", where)
            return pa.array(encoded, pa.binary())
        try:
            return pa.array(items, self.arrow_type)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, TypeError, ValueError):
            each(
                lambda item: pa.array([item], self.arrow_type),
                items,
                f"{name}: not a {self.type_name}",
                where,
            )
            raise


def each(function: Callable[[Any], Any], items: list[Any], problem: str, where: Where) -> list[Any]:
    """The function of each item; where it raises, the error says for which record."""
    done: list[Any] = []
    finished = done.append
    try:
        for item in items:
            finished(function(item))
    except RecordError:
        raise
    except Exception as error:
        at = len(done)
        text = repr(items[at])
        short = text if len(text) <= 100 else text[:97] + "..."
        raise RecordError(f"{problem}: {short} of {where(at)}: {type(error).__name__}: {error}") from error
    return done


def change_reader(serde: Serde) -> bool:
    """Whether what this serde writes are changes of a table, (value, added)."""
    return isinstance(serde, ChangeSerde)


def milliseconds(column: pa.Array) -> list[int]:
    """A column of timestamps as milliseconds since 1970 (a null, which a record never has, as 0)."""
    micros = column.cast(pa.int64()).to_pylist()
    return [0 if item is None else item // 1000 for item in micros]


def windowed(keys: list[Any], window: pa.StructArray) -> list[Any]:
    """Keys and their windows as the keys that functions see."""
    starts = milliseconds(window.field("start"))
    ends = milliseconds(window.field("end"))
    return [
        None if key is None else Windowed(key, start, end)
        for key, start, end in zip(keys, starts, ends, strict=True)
    ]


def unwindowed(keys: list[Any]) -> tuple[list[Any], pa.StructArray]:
    """The other way: keys, and the column of their windows."""
    moment = pa.timestamp("us", "UTC")
    fields = [pa.field("start", moment), pa.field("end", moment)]
    bare = [None if key is None else key.key for key in keys]
    starts = pa.array([None if key is None else key.start_ms * 1000 for key in keys], pa.int64()).cast(moment)
    ends = pa.array([None if key is None else key.end_ms * 1000 for key in keys], pa.int64()).cast(moment)
    return bare, pa.StructArray.from_arrays([starts, ends], fields=fields)


def record_of(batch: pa.RecordBatch, rows: list[int] | None = None) -> Where:
    """Names the record of a row (of `rows`, where rows were dropped or multiplied since) by its origin."""
    names = batch.schema.names

    def where(at: int) -> str:
        row = at if rows is None else rows[at]
        if "offset" not in names:
            return "an aggregate or join" if "timestamp" not in names else f"time {batch['timestamp'][row]}"
        topic, partition, offset = (batch[name][row].as_py() for name in ("topic", "partition", "offset"))
        return f"topic {topic}, partition {partition}, offset {offset}"

    return where
