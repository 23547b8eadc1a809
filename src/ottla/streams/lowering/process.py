"""`process`: the user's own processor with state and timers, on transformWithState.

A `Processor` of ours is made in each task and given a context whose stores and timers are Spark's, by the
key at hand (`process_stores.py`). Within a micro-batch a key's records come in the order in which Kafka
Streams would take them. Timers follow the stream's time, which here is Spark's watermark without a lag (it
moves between micro-batches, and drops nothing), or the clock.

A pyspark StatefulProcessor is taken as it is: it gets the frame's rows (key, value, timestamp, headers ...)
and returns rows of its output schema, of which key, value and, where there are any, timestamp and headers
go on. Its attribute `time_mode` ("none", "eventTime", "processingTime") says what its timers follow; with
event time Spark drops rows that are more than `watermark_ms` (0) behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from ottla.streams import ddl
from ottla.streams.errors import TopologyError
from ottla.streams.lowering import keyed
from ottla.streams.lowering.frames import HEADERS_TYPE, Frame, of_node
from ottla.streams.lowering.keyed import Clock, KeyedProcessor
from ottla.streams.lowering.process_stores import (
    NAME_SCHEMA,
    SCHEMA,
    ListStateStore,
    MapStateStore,
    ValueStateStore,
)
from ottla.streams.processor import Processor, Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Row
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

    from ottla.streams.lowering.query import Lowering
    from ottla.streams.plan import Node, Process


def lower(node: Process, inputs: tuple[Frame, ...], context: Lowering) -> Frame:
    if node.output_schema is not None:
        return _native(node, inputs[0])
    wall_clock = _made(node).punctuation == "wall_clock"
    return keyed.transform(
        inputs,
        HostedProcessor(node.name, node.processor),
        node,
        watermark_ms=None if wall_clock else 0,
        time_mode="processingTime" if wall_clock else "eventTime",
        null_values=True,
        headers=True,
    )


def needs_no_empty_batches(node: Node) -> bool:
    """Whether a query with this node and the trigger availableNow would never end: for timers of the clock,
    Spark makes batches without data as long as it runs (spark.sql.streaming.noDataMicroBatches.enabled).
    """
    from ottla.streams.plan import Process

    if not isinstance(node, Process):
        return False
    if node.output_schema is not None:
        return _time_mode(_native_processor(node)) == "processingtime"
    return _made(node).punctuation == "wall_clock"


def _made(node: Process) -> Processor:
    made = node.processor()
    if not isinstance(made, Processor):
        raise TopologyError(
            f"{node.name}: process takes a Processor class, or a function that makes one, not {made!r}"
        )
    return made


class _Context:
    """Spark's state and timers as a `ProcessorContext`."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._stores: list[ValueStateStore | ListStateStore | MapStateStore] = []
        self.key: Any = None
        self.stream_time_ms = -1
        self._forwarded: list[Record] = []

    def value_store(self, name: str) -> ValueStateStore:
        store = ValueStateStore(self._handle.getValueState(name, SCHEMA))
        self._stores.append(store)
        return store

    def list_store(self, name: str) -> ListStateStore:
        store = ListStateStore(self._handle.getListState(name, SCHEMA))
        self._stores.append(store)
        return store

    def map_store(self, name: str) -> MapStateStore:
        store = MapStateStore(self._handle.getMapState(name, NAME_SCHEMA, SCHEMA))
        self._stores.append(store)
        return store

    def forward(self, record: Record) -> None:
        self._forwarded.append(record)

    def schedule(self, at_ms: int) -> None:
        self._handle.registerTimer(at_ms)

    def cancel(self, at_ms: int) -> None:
        self._handle.deleteTimer(at_ms)

    def begin_turn(self, key: Any, clock: Clock) -> None:
        self.key = key
        self.stream_time_ms = clock.watermark_ms if clock.watermark_ms > 0 else -1

    def end_turn(self) -> list[Record]:
        for store in self._stores:
            store.end_turn()
        forwarded, self._forwarded = self._forwarded, []
        return forwarded


class HostedProcessor(KeyedProcessor):
    """A processor of the user's within Spark's."""

    def __init__(self, name: str, factory: Callable[[], Processor]) -> None:
        self._name = name
        self._factory = factory

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._context = _Context(handle)
        self._processor = self._factory()
        self._processor.init(self._context)

    def close(self) -> None:
        self._processor.close()

    def on_records(self, key: Any, records: list[keyed.Record], clock: Clock) -> list[Row]:
        self._context.begin_turn(key, clock)
        for record in records:
            time_ms, _, _, _, _, value, headers = record
            pairs = tuple((header["key"], header["value"]) for header in headers or ())
            try:
                self._processor.process(Record(key, value, time_ms, pairs))
            except Exception as error:
                raise keyed.failed(self._name, record, error) from error
        return self._forwarded()

    def on_timer(self, key: Any, time_ms: int, clock: Clock) -> list[Row]:
        self._context.begin_turn(key, clock)
        self._processor.punctuate(time_ms)
        return self._forwarded()

    def _forwarded(self) -> list[Row]:
        rows = []
        for record in self._context.end_turn():
            headers = [{"key": name, "value": value} for name, value in record.headers] or None
            rows.append(self.shape.row(record.key, record.value, record.timestamp_ms, headers))
        return rows


# --- pyspark's own -----------------------------------------------------------------------------------------


def _native_processor(node: Process) -> Any:
    made = node.processor() if isinstance(node.processor, type) else node.processor
    if not isinstance(made, StatefulProcessor):
        raise TopologyError(
            f"{node.name}: output_schema is for a StatefulProcessor of pyspark's, which {made!r} is not"
        )
    return made


def _time_mode(processor: Any) -> str:
    return str(getattr(processor, "time_mode", "none")).lower()


def _native(node: Process, frame: Frame) -> Frame:
    processor = _native_processor(node)
    assert node.output_schema is not None
    columns = ddl.fields(node.output_schema) or {}
    mode = _time_mode(processor)
    rows = frame.df.where("key is not null")
    if mode == "eventtime":
        rows = rows.withWatermark("timestamp", f"{int(getattr(processor, 'watermark_ms', 0))} milliseconds")
    out = rows.groupBy("key").transformWithState(processor, node.output_schema, "update", mode)
    missing = {
        "timestamp": F.current_timestamp(),
        "headers": F.lit(None).cast(HEADERS_TYPE),
    }
    return of_node(
        node, out.select("*", *(made.alias(name) for name, made in missing.items() if name not in columns))
    )
