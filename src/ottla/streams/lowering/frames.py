"""A frame: the DataFrame between two nodes of a plan, and the names of its columns.

Columns of every frame, in this order:

    key        the node's key_type; OBJECT is binary, in the encoding of `objects.py`
    value      the node's value_type; likewise
    timestamp  the record's time
    headers    array<struct<key: string, value: binary>>, or null
    window     struct<start: timestamp, end: timestamp>; only when the node is windowed
    topic, partition, offset
               of the record it came from, so that errors can name it; only up to a stateful node

A frame of a streaming DataFrame and one of a micro-batch's rows look the same: lowering does not ask which.

Python functions are not run one after the other: a frame may be a `Chain` that has not become a DataFrame yet
(`chains.py`). The next function is added to it, and whoever asks for `df` makes one mapInArrow of it all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ottla.streams.plan import OBJECT

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from ottla.streams.lowering.chains import Chain
    from ottla.streams.plan import Node

HEADERS_TYPE: Final = "array<struct<key:string,value:binary>>"
WINDOW_TYPE: Final = "struct<start:timestamp,end:timestamp>"
ORIGIN: Final = {"topic": "string", "partition": "int", "offset": "bigint"}


def spark_type(type_name: str) -> str:
    """The column type of a node's type: objects travel as bytes."""
    return "binary" if type_name == OBJECT else type_name


class Frame:
    """Rows with the columns above, and what they mean."""

    def __init__(
        self,
        *,
        df: DataFrame | None = None,
        chain: Chain | None = None,
        key_type: str,
        value_type: str,
        windowed: bool = False,
        origin: bool = False,
    ) -> None:
        if (df is None) == (chain is None):
            raise ValueError("a frame is a DataFrame or a chain")
        self._df = df
        self.chain = chain
        """Python work on an earlier DataFrame that nobody has asked the rows of yet."""
        self.key_type = key_type
        self.value_type = value_type
        self.windowed = windowed
        self.origin = origin
        """Whether topic, partition and offset are there."""

    @property
    def df(self) -> DataFrame:
        if self._df is None:
            assert self.chain is not None
            self._df = self.chain.rows(self)
            self.chain = None  # from now on the rows are what others read: the functions run once
        return self._df

    @property
    def schema(self) -> dict[str, str]:
        """Column name to Spark type, in the order of the columns."""
        return frame_schema(self.key_type, self.value_type, windowed=self.windowed, origin=self.origin)

    @property
    def ddl(self) -> str:
        return ddl(self.schema)

    def with_columns(
        self, columns: Mapping[str, Column], *, key_type: str | None = None, value_type: str | None = None
    ) -> Frame:
        """The same rows with some columns replaced (all at once: each expression sees the old ones)."""
        df = self.df.select(*(columns.get(name, self.df[name]).alias(name) for name in self.schema))
        return Frame(
            df=df,
            key_type=self.key_type if key_type is None else key_type,
            value_type=self.value_type if value_type is None else value_type,
            windowed=self.windowed,
            origin=self.origin,
        )

    def with_df(self, df: DataFrame) -> Frame:
        """Other rows of the same form (a filter, a union)."""
        return Frame(
            df=df,
            key_type=self.key_type,
            value_type=self.value_type,
            windowed=self.windowed,
            origin=self.origin,
        )


def frame_schema(key_type: str, value_type: str, *, windowed: bool, origin: bool) -> dict[str, str]:
    """The columns of a frame with these types."""
    schema = {
        "key": spark_type(key_type),
        "value": spark_type(value_type),
        "timestamp": "timestamp",
        "headers": HEADERS_TYPE,
    }
    if windowed:
        schema["window"] = WINDOW_TYPE
    if origin:
        schema |= ORIGIN
    return schema


def of_node(node: Node, df: DataFrame, *, origin: bool = False) -> Frame:
    """The frame of a node's output; `df` has at least the columns, in any order."""
    schema = frame_schema(node.key_type, node.value_type, windowed=node.windowed, origin=origin)
    return Frame(
        df=df.select(*schema),
        key_type=node.key_type,
        value_type=node.value_type,
        windowed=node.windowed,
        origin=origin,
    )


def ddl(schema: Mapping[str, str]) -> str:
    """The schema in the text that Spark takes ("key binary, value string, ...")."""
    return ", ".join(f"{name} {type_name}" for name, type_name in schema.items())


def union(frames: Sequence[Frame]) -> Frame:
    """All rows of frames with the same types."""
    first = frames[0]
    origin = all(frame.origin for frame in frames)
    columns = list(frame_schema(first.key_type, first.value_type, windowed=first.windowed, origin=origin))
    df = first.df.select(*columns)
    for other in frames[1:]:
        df = df.unionByName(other.df.select(*columns))
    return Frame(
        df=df,
        key_type=first.key_type,
        value_type=first.value_type,
        windowed=first.windowed,
        origin=origin,
    )
