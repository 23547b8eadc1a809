"""Stateful Python on Spark's transformWithState: records by key, in order, one state of bytes per key.

    keyed.transform(inputs, MyProcessor(...), node, watermark_ms=grace)

packs the records of all inputs by key (`chains.py`), brings each key's to one task, and calls
`KeyedProcessor.on_records(key, records, clock)` once per key and micro-batch. A record is a tuple of the
fields TIME_MS to HEADERS. As in Kafka Streams, records of one partition keep the order of their offsets,
and those of several partitions (and sides) are merged by the smallest time at their heads; of equal times,
the lower side comes first.

Time is event time: `clock.watermark_ms` is the highest timestamp of earlier micro-batches less `watermark_ms`
of `transform`; nothing is dropped as late but by the processor itself, and timers fire by the same watermark.
"""

from __future__ import annotations

import heapq
import itertools
import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import Row, functions
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from ottla.streams import objects
from ottla.streams.errors import RecordError
from ottla.streams.lowering.chains import SIMPLE_KEYS, packed
from ottla.streams.lowering.frames import Frame, ddl, frame_schema, of_node
from ottla.streams.plan import OBJECT
from ottla.streams.windows import Windowed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ottla.streams.plan import Node

Record = tuple[int, int, str | None, int, int, Any, Any]
TIME_MS: Final = 0
SIDE: Final = 1
TOPIC: Final = 2
PARTITION: Final = 3
OFFSET: Final = 4
VALUE: Final = 5
HEADERS: Final = 6


@dataclass(frozen=True, slots=True)
class Clock:
    """The times of a micro-batch."""

    watermark_ms: int
    """0 in the first one: no time is known."""
    processing_ms: int


@dataclass(frozen=True, slots=True)
class Shape:
    """How a node's keys and rows are in Spark."""

    group_key_type: str
    """Of the records' keys; those of the rows that come out may be others."""
    key_type: str
    value_type: str
    grouped_by_window: bool
    """Whether the records' keys are windowed."""
    windowed: bool
    """Whether the rows that come out are."""

    def key_of(self, group: Sequence[Any]) -> Any:
        """The key that functions see, of the columns that Spark grouped by."""
        key = group[0]
        if key is not None and (self.group_key_type == OBJECT or self.group_key_type not in SIMPLE_KEYS):
            key = objects.decode(bytes(key))
        return Windowed(key, group[1], group[2]) if self.grouped_by_window else key

    def row(self, key: Any, value: Any, timestamp_ms: int, headers: Any = None) -> Row:
        """An output row; the key is `Windowed` where the node is."""
        window = None
        if self.windowed:
            window = {"start": key.start_ms * 1000, "end": key.end_ms * 1000}
            key = key.key
        if key is not None and self.key_type == OBJECT:
            key = objects.encode_key(key)
        if value is not None and self.value_type == OBJECT:
            value = objects.encode(value)
        # Arrow takes a number for a timestamp as its microseconds, which spares making a datetime of it.
        row = {"key": key, "value": value, "timestamp": timestamp_ms * 1000, "headers": headers}
        if self.windowed:
            row["window"] = window
        return Row(**row)


class KeyedProcessor(StatefulProcessor):
    """A processor with one state of bytes per key. Subclasses have `on_records`, and `on_timer` with
    timers.
    """

    shape: Shape
    """Set by `transform`."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.handle = handle
        self._state = handle.getValueState("state", "state binary")

    def close(self) -> None:
        pass

    # --- for subclasses

    def on_records(self, key: Any, records: list[Record], clock: Clock) -> Iterable[Row]:
        """All records of a key in this micro-batch."""
        raise NotImplementedError

    def on_timer(self, key: Any, time_ms: int, clock: Clock) -> Iterable[Row]:
        """A timer that was set for this key."""
        return ()

    def load(self) -> Any:
        """The key's state, or None."""
        found = self._state.get()
        return None if found is None else pickle.loads(found[0])

    def save(self, state: Any) -> None:
        if state is None:
            self._state.clear()
        else:
            self._state.update((objects.pickled(state),))

    def set_timer(self, time_ms: int) -> None:
        """Fires once the watermark (or the clock, by the time mode) has passed it, after the records."""
        self.handle.registerTimer(time_ms)

    def delete_timer(self, time_ms: int) -> None:
        self.handle.deleteTimer(time_ms)

    # --- what Spark calls

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        yield from self.on_records(self.shape.key_of(key), ordered(rows), _clock(timerValues))

    def handleExpiredTimer(
        self,
        key: Any,
        timerValues: Any,
        expiredTimerInfo: Any,
    ) -> Iterator[Row]:
        time_ms = expiredTimerInfo.getExpiryTimeInMs()
        yield from self.on_timer(self.shape.key_of(key), time_ms, _clock(timerValues))


def _clock(timer_values: Any) -> Clock:
    return Clock(timer_values.getCurrentWatermarkInMs(), timer_values.getCurrentProcessingTimeInMs())


def ordered(rows: Iterable[Any]) -> list[Record]:
    """A key's records in the order in which Kafka Streams would process them."""
    records: list[Record] = []
    for row in rows:
        records += pickle.loads(row["records"])
    if len(records) == 1:
        return records
    # Of one input record several may have been made: sorting is stable and keeps them as they are.
    records.sort(key=lambda record: (record[SIDE], record[TOPIC] or "", record[PARTITION], record[OFFSET]))
    partitions = [
        list(part)
        for _, part in itertools.groupby(
            records, key=lambda record: (record[SIDE], record[TOPIC], record[PARTITION])
        )
    ]
    if len(partitions) == 1:
        return records
    return list(heapq.merge(*partitions, key=lambda record: (record[TIME_MS], record[SIDE])))


def failed(node_name: str, record: Record, error: Exception) -> RecordError:
    """The error of a function that raised on a record, naming it."""
    text = repr(record[VALUE])
    short = text if len(text) <= 100 else text[:97] + "..."
    origin = f"topic {record[TOPIC]}, partition {record[PARTITION]}, offset {record[OFFSET]}"
    return RecordError(
        f"{node_name} failed on the record of {origin} (value {short}): {type(error).__name__}: {error}"
    )


def transform(
    inputs: Sequence[Frame],
    processor: KeyedProcessor,
    node: Node,
    *,
    watermark_ms: int | None = None,
    time_mode: str | None = None,
    null_keys: bool = False,
    null_values: bool = False,
    headers: bool = False,
) -> Frame:
    """The node's output: the processor over the records of all inputs, which are its sides 0, 1, ...

    watermark_ms: how far the watermark stays behind the highest timestamp; None: no event time.
    time_mode: "none", "eventTime" or "processingTime"; by default event time where there is a watermark.
    null_keys, null_values: whether such records reach the processor, or are left out.
    """
    first = inputs[0]
    processor.shape = Shape(first.key_type, node.key_type, node.value_type, first.windowed, node.windowed)
    df: DataFrame | None = None
    for side, frame in enumerate(inputs):
        part = packed(frame, side=side, null_keys=null_keys, null_values=null_values, headers=headers)
        df = part if df is None else df.unionByName(part)
    assert df is not None
    group = ["key", "window_start", "window_end"] if first.windowed else ["key"]
    if watermark_ms is not None:
        df = df.withWatermark("timestamp", f"{watermark_ms} milliseconds")
    # Without the column Spark does not drop rows as late by itself: their windows may well be open.
    df = df.select(*group, functions.col("records"))
    schema = frame_schema(node.key_type, node.value_type, windowed=node.windowed, origin=False)
    mode = time_mode or ("none" if watermark_ms is None else "eventTime")
    out = df.groupBy(*group).transformWithState(processor, ddl(schema), "update", mode)
    return of_node(node, out)
