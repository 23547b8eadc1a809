"""Aggregates: counts and other built-in ones over tumbling and hopping windows by Spark's own operators, all
others by `python_aggregates.py`.

Spark's own are several times faster and keep small states. Theirs is the update mode: a key's (or window's)
aggregate comes out once per micro-batch that changed it; with `emit_final` the append mode, in which a window
comes out once, when the watermark has passed its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ottla.streams.lowering import python_aggregates
from ottla.streams.lowering.frames import HEADERS_TYPE, Frame, of_node
from ottla.streams.plan import Aggregate, Node, StreamJoin
from ottla.streams.windows import TimeWindows

if TYPE_CHECKING:
    from ottla.streams.lowering.query import Lowering

GRACE_MS_MAX: Final = 10**15
"""What Spark can still compute with; thirty thousand years are for ever."""


_NESTED: Final = ("struct<", "array<", "map<")
"""Types of keys that Spark groups by and Arrow does not."""


def is_builtin(node: Aggregate) -> bool:
    """Whether Spark's own aggregation does it."""
    return (
        len(node.aggregations) == 1
        and node.aggregations[0].kind in ("count", "builtin")
        and not node.of_table
        and (node.windows is None or isinstance(node.windows, TimeWindows))
    )


def output_mode(node: Node | None) -> str:
    """The output mode of a query whose stateful node this is."""
    if node is None or isinstance(node, StreamJoin):
        return "append"
    if isinstance(node, Aggregate) and is_builtin(node) and node.emit_final:
        return "append"
    return "update"


def lower(node: Aggregate, inputs: tuple[Frame, ...], context: Lowering) -> Frame:
    if not is_builtin(node):
        return python_aggregates.lower(node, inputs, context)
    from pyspark.sql import functions

    frame = inputs[0]
    aggregation = node.aggregations[0]
    if aggregation.kind == "count":
        aggregate = functions.count(functions.lit(1))
        if frame.chain is None:
            df = frame.df
        elif node.windows is None and not frame.windowed and not frame.key_type.startswith(_NESTED):
            df = frame.chain.counted(frame)
            aggregate = functions.sum("value")
        else:
            df = frame.chain.presence(frame)
    else:
        assert aggregation.builtin is not None
        aggregate = functions.expr(aggregation.builtin.sql)
        df = frame.df
    df = df.where("key is not null and value is not null")
    group = ["key", "window"] if frame.windowed else ["key"]
    windows = node.windows
    if isinstance(windows, TimeWindows):
        grace_ms = min(windows.grace_ms, GRACE_MS_MAX)
        span = functions.window(
            "timestamp", f"{windows.size_ms} milliseconds", f"{windows.advance_ms} milliseconds"
        )
        # As in Kafka Streams, no window begins before 1970.
        df = (
            df.withWatermark("timestamp", f"{grace_ms} milliseconds")
            .withColumn("window", span)
            .where("window.start >= timestamp_millis(0)")
        )
        group = ["key", "window"]
    out = df.groupBy(*group).agg(
        aggregate.cast(node.value_type).alias("value"), functions.max("timestamp").alias("timestamp")
    )
    return of_node(node, out.withColumn("headers", functions.lit(None).cast(HEADERS_TYPE)))
