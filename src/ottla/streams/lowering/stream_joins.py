"""Windowed joins of two streams, as Spark's own join of streams: state and matching stay in the JVM.

A record of the right side joins one of the left with the same key when its time lies in [left - before,
left + after]. Both sides get a watermark that lags by the larger half of the window and the grace, which is
how long Kafka Streams takes in a record for a window: what comes later is left out. A record's state is
freed once no record can come that it would join; for left and outer joins, one that found no partner is put
out then, with None on the other side.

What Kafka Streams does to null keys and null values (KIP-962): a null value is nothing to join and is left
out; a null key joins nothing, and is put out with None on the other side where the join is outer on its side.

The joiner runs behind the join: as an expression in the same query, or as a Python function in a pass of its
own over Arrow batches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from ottla.streams.lowering.frames import Frame
from ottla.streams.lowering.joiners import joined

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ottla.streams.lowering.query import Lowering
    from ottla.streams.plan import StreamJoin
    from ottla.streams.windows import JoinWindows

_LONG_MS = 200 * 365 * 86_400_000
_RIGHT_IS_LAST = "left_timestamp is null or right_timestamp > left_timestamp"
_KINDS = {"inner": "inner", "left": "left_outer", "outer": "full_outer"}


def lower(node: StreamJoin, inputs: tuple[Frame, ...], context: Lowering) -> Frame:
    left, right = inputs
    lateness_ms = admitted_ms(node.windows)
    lefts = _side(left, "left", outer=node.how != "inner", lateness_ms=lateness_ms)
    rights = _side(right, "right", outer=node.how == "outer", lateness_ms=lateness_ms)
    pairs = lefts.join(rights, F.expr(_condition(node.windows, windowed=left.windowed)), _KINDS[node.how])
    columns = {
        "key": "coalesce(left_key, right_key)",
        "left_value": "left_value",
        "right_value": "right_value",
        "timestamp": "greatest(left_timestamp, right_timestamp)",
        # Those of the record that completed the pair, if records came in the order of their times.
        "headers": f"if({_RIGHT_IS_LAST}, right_headers, left_headers)",
    }
    if left.windowed:
        columns["window"] = "coalesce(left_window, right_window)"
    rows = pairs.select(*(F.expr(sql).alias(name) for name, sql in columns.items()))
    return joined(node, rows, left.value_type, right.value_type)


def admitted_ms(windows: JoinWindows) -> int:
    """How far behind the newest a record may be and still join: until its window, seen from either side, is
    closed.
    """
    return min(max(windows.before_ms, windows.after_ms, 0) + windows.grace_ms, _LONG_MS)


def _side(frame: Frame, side: str, *, outer: bool, lateness_ms: int) -> DataFrame:
    names = ["key", "value", "timestamp", "headers", *(["window"] if frame.windowed else [])]
    rows = frame.df.where("value is not null" if outer else "value is not null and key is not null")
    # Spark's full outer join takes null for equal to null; this column is what keeps them apart.
    keyless = F.when(F.col("key").isNull(), side).otherwise("")
    rows = rows.select(
        *(F.col(name).alias(f"{side}_{name}") for name in names), keyless.alias(f"{side}_keyless")
    )
    # Spark leaves out what is at the watermark as well: the one millisecond keeps the last one that may join.
    return rows.withWatermark(f"{side}_timestamp", f"{lateness_ms + 1} milliseconds")


def _condition(windows: JoinWindows, *, windowed: bool) -> str:
    parts = [
        "left_key = right_key",
        "left_keyless = right_keyless",
        f"right_timestamp >= left_timestamp - {_interval(windows.before_ms)}",
        f"right_timestamp <= left_timestamp + {_interval(windows.after_ms)}",
    ]
    if windowed:
        parts.append("left_window = right_window")
    return " and ".join(parts)


def _interval(duration_ms: int) -> str:
    # Longer ones lead out of the time that Spark can count in, and join nothing more.
    return f"interval '{max(-_LONG_MS, min(duration_ms, _LONG_MS))}' millisecond"
