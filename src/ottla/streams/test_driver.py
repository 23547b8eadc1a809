"""`TopologyTestDriver`: runs a topology in memory, without Spark and without a broker.

    driver = TopologyTestDriver(builder)
    driver.pipe_input("clicks", "anna", "/home", timestamp_ms=1_000)
    assert driver.read_output("clicks-by-user") == [Record("anna", 1, 1_000)]

Records are processed one after the other with the rules of Kafka Streams, so that what comes out is known
exactly. Spark works in micro-batches: of several updates of a table's row in one batch, only the last comes
out there. A test that looks at final contents (`read_table`, or the last record of each key) means the same
in both.

What is piped in goes through the serdes of the source, what comes out through those of the sink, as it
would in a topic.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Any

from ottla.streams.builder import StreamsBuilder
from ottla.streams.casts import EPOCH
from ottla.streams.driving.aggregates import aggregate_operator
from ottla.streams.driving.joins import (
    ForeignKeyJoinOperator,
    StreamJoinOperator,
    StreamTableJoinOperator,
    TableJoinOperator,
)
from ottla.streams.driving.operators import (
    Change,
    Clock,
    EffectOperator,
    GlobalJoinOperator,
    Headers,
    Item,
    Operator,
    SinkOperator,
    StepOperator,
)
from ottla.streams.driving.processes import ProcessOperator
from ottla.streams.driving.tables import SuppressOperator, TableGroupOperator
from ottla.streams.errors import RecordError, SerdeError, TopologyError
from ottla.streams.expressions import Expression
from ottla.streams.plan import (
    Aggregate,
    Apply,
    Branch,
    ForEach,
    GlobalJoin,
    GlobalSource,
    Node,
    Process,
    Repartition,
    Sink,
    Source,
    StreamJoin,
    StreamTableJoin,
    SuppressTime,
    TableGroup,
    TableJoin,
    Topology,
)
from ottla.streams.processor import Record
from ottla.streams.serdes import Serde
from ottla.streams.windows import Duration, milliseconds


@dataclass(frozen=True, slots=True)
class _Written:
    """A record in a topic: bytes, and what they read as."""

    key: bytes | None
    value: bytes | None
    record: Record


class TopologyTestDriver:
    def __init__(self, program: StreamsBuilder | Topology, *, start_ms: int = 0) -> None:
        """`start_ms` is the clock's time at the beginning: the timestamp of records that are piped in
        without one.
        """
        topology = program.build() if isinstance(program, StreamsBuilder) else program
        self._clock = Clock(start_ms)
        self._operators: dict[int, Operator] = {}
        self._outputs: dict[str, list[_Written]] = {}
        self._queue: deque[tuple[Operator, str, bytes | None, bytes | None, int, Headers]] = deque()
        self._offsets: dict[str, int] = {}
        nodes = topology.nodes()
        for node in nodes:
            self._operators[id(node)] = self._operator(node)
        for node in nodes:
            for side, parent in enumerate(node.parents):
                self._operators[id(parent)].children.append((self._operators[id(node)], side))
        self._through = {
            id(node): Operator(node, self._clock, children=self._operators[id(node)].children)
            for node in nodes
            if isinstance(node, Repartition)
        }

    def _operator(self, node: Node) -> Operator:
        clock = self._clock
        match node:
            case Apply() | Branch():
                return StepOperator(node, clock)
            case ForEach():
                return EffectOperator(node, clock)
            case Sink() | Repartition():
                return SinkOperator(node, clock, write=self._write)
            case Aggregate():
                return aggregate_operator(node, clock)
            case TableGroup():
                return TableGroupOperator(node, clock)
            case SuppressTime():
                return SuppressOperator(node, clock)
            case StreamJoin():
                return StreamJoinOperator(node, clock)
            case StreamTableJoin():
                return StreamTableJoinOperator(node, clock)
            case TableJoin(foreign_key=None):
                return TableJoinOperator(node, clock)
            case TableJoin():
                return ForeignKeyJoinOperator(node, clock)
            case GlobalJoin():
                return GlobalJoinOperator(node, clock)
            case Process():
                return ProcessOperator(node, clock)
        return Operator(node, clock)

    # --- in ---

    def pipe_input(
        self,
        topic: str,
        key: Any = None,
        value: Any = None,
        timestamp_ms: int | None = None,
        headers: Iterable[tuple[str, bytes | None]] = (),
    ) -> None:
        """One record into a topic, and through all that follows. Bytes are taken as what is in the topic,
        anything else goes through the serde of the source.
        """
        readers = self._readers(topic)
        if not readers:
            raise TopologyError(f"nothing in the topology reads the topic {topic!r}")
        first = readers[0].node
        assert isinstance(first, (Source, GlobalSource))
        time_ms = self._clock.wall_ms if timestamp_ms is None else timestamp_ms
        self._arrive(
            topic, _bytes(first.key_serde, key), _bytes(first.value_serde, value), time_ms, tuple(headers)
        )
        self._work()

    def pipe_records(self, topic: str, records: Iterable[tuple[Any, ...]]) -> None:
        """Several records, each (key, value) or (key, value, timestamp_ms)."""
        for record in records:
            self.pipe_input(topic, *record)

    def advance_time(self, duration: Duration) -> None:
        """Moves the clock: timers of processors with `punctuation = "wall_clock"` go off."""
        self._clock.wall_ms += milliseconds(duration, "the time to advance", least_ms=0)
        self._punctuate(by_clock=True)
        self._work()

    def _readers(self, topic: str) -> list[Operator]:
        found = []
        for operator in self._operators.values():
            node = operator.node
            if (
                (isinstance(node, Source) and _subscribed(node, topic))
                or (isinstance(node, GlobalSource) and node.topic == topic)
                # what is written through a topic is read by its own node, see _write
            ):
                found.append(operator)
        return found

    def _arrive(
        self, topic: str, key: bytes | None, value: bytes | None, time_ms: int, headers: Headers
    ) -> None:
        for operator in self._readers(topic):
            self._queue.append((operator, topic, key, value, time_ms, headers))

    def _work(self) -> None:
        """All that waits: what was piped in, and what the topology wrote to topics that it reads."""
        while self._queue:
            operator, topic, key, value, time_ms, headers = self._queue.popleft()
            offset = self._offsets[topic] = self._offsets.get(topic, -1) + 1
            self._clock.record = f"topic {topic}, partition 0, offset {offset}"
            try:
                self._process(operator, key, value, time_ms, headers)
                self._punctuate(by_clock=False)
            except SerdeError as error:  # of a key that has no canonical form
                raise RecordError(f"what came of the record of {self._clock.record}: {error}") from error

    def _process(
        self,
        operator: Operator,
        key_data: bytes | None,
        value_data: bytes | None,
        time_ms: int,
        headers: Headers,
    ) -> None:
        node = operator.node
        assert isinstance(node, (Source, GlobalSource, Repartition))
        key = self._read(node.key_serde, key_data, node, "key")
        value = self._read(node.value_serde, value_data, node, "value")
        extractor = node.timestamp_extractor if isinstance(node, Source) else None
        if isinstance(extractor, Expression):
            moment = operator.call(lambda: extractor.evaluate(key, value, time_ms))
            if moment is None:
                return
            time_ms = moment if isinstance(moment, int) else (moment - EPOCH) // timedelta(milliseconds=1)
        elif extractor is not None:
            time_ms = operator.call(extractor, key, value, time_ms)
        if time_ms < 0:
            return  # Kafka Streams drops records without a valid timestamp
        if not isinstance(node, GlobalSource):
            self._clock.stream_ms = max(self._clock.stream_ms, time_ms)
        if node.table and key is None:
            return
        if isinstance(node, Source) and node.change:
            changed, added = value
            value = Change(changed, None) if added else Change(None, changed)
        operator.forward(Item(key, value, time_ms, headers))

    def _read(self, serde: Serde, data: bytes | None, node: Node, which: str) -> Any:
        try:
            return serde.deserialize(data)
        except Exception as error:
            raise RecordError(
                f"{node.name} cannot read the {which} of {self._clock.record}: {error}"
            ) from error

    def _punctuate(self, *, by_clock: bool) -> None:
        for operator in self._operators.values():
            if isinstance(operator, ProcessOperator):
                wanted = "wall_clock" if by_clock else "stream_time"
                while operator.processor.punctuation == wanted and operator.punctuate():
                    pass  # a timer may set another one that is due as well

    # --- out ---

    def read_output(self, topic: str, *, raw: bool = False) -> list[Record]:
        """The records that were written to a topic since it was last read; `raw`: with keys and values as
        bytes.
        """
        written = self._outputs.pop(topic, [])
        if raw:
            return [
                Record(each.key, each.value, each.record.timestamp_ms, each.record.headers)
                for each in written
            ]
        return [each.record for each in written]

    def read_table(self, table: Any) -> dict[Any, Any]:
        """What a table has now: the `KTable`, or its name."""
        node = getattr(table, "node", None)
        for operator in self._operators.values():
            if operator.node is node or operator.node.name == table:
                if not operator.node.table:
                    raise TopologyError(f"{operator.node.name} is a stream, not a table")
                return dict(operator.contents.values())
        raise TopologyError(f"{table!r} is not part of the topology: no end of the program depends on it")

    @property
    def stream_time_ms(self) -> int:
        """The highest timestamp so far; -1 before the first record."""
        return self._clock.stream_ms

    def _write(self, node: Node, item: Item) -> None:
        assert isinstance(node, (Sink, Repartition))
        if isinstance(item.value, Change):  # into the internal topic of a grouped table: first what leaves it
            for changed, added in ((item.value.old, False), (item.value.new, True)):
                if changed is not None:
                    self._write(node, item.but(value=(changed, added)))
            return
        operator = self._operators[id(node)]
        if isinstance(node, Sink) and callable(node.topic):
            topic = operator.call(node.topic, item.key, item.value)
            if not isinstance(topic, str):
                raise RecordError(f"{node.name}: the function that names the topic returned {topic!r}")
        else:
            topic = str(node.topic)
        try:
            key, value = node.key_serde.serialize(item.key), node.value_serde.serialize(item.value)
            read_key = node.key_serde.deserialize(key) if node.key_serde.reads else item.key
            read_value = node.value_serde.deserialize(value) if node.value_serde.reads else item.value
        except SerdeError as error:
            raise RecordError(
                f"{node.name} cannot write what came of {self._clock.record}: {error}"
            ) from error
        if isinstance(node, Repartition):
            internal = node.name if node.topic is None else topic
            self._queue.append(
                (self._through[id(node)], internal, key, value, item.timestamp_ms, item.headers)
            )
            if node.topic is None:
                return
        record = Record(read_key, read_value, item.timestamp_ms, item.headers)
        self._outputs.setdefault(topic, []).append(_Written(key, value, record))
        self._arrive(topic, key, value, item.timestamp_ms, item.headers)

    # --- the end ---

    def close(self) -> None:
        for operator in self._operators.values():
            if isinstance(operator, ProcessOperator):
                operator.call(operator.processor.close)

    def __enter__(self) -> TopologyTestDriver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _subscribed(node: Source, topic: str) -> bool:
    return topic in node.topics or (
        node.pattern is not None and re.fullmatch(node.pattern, topic) is not None
    )


def _bytes(serde: Serde, thing: Any) -> bytes | None:
    return bytes(thing) if isinstance(thing, (bytes, bytearray)) else serde.serialize(thing)
