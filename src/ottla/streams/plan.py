"""The plan of a topology: what a program written with the DSL means, before anything of Spark exists.

A plan is a graph of the immutable nodes below, each knowing its parents; sinks and effects are its ends. The
DSL (`builder.py`, `kstream.py`, `ktable.py`) makes nodes, `describe.py` prints them, `stages.py` cuts the
graph into stages with at most one stateful node each, `test_driver.py` runs it in memory, and `lowering/` is
the one place that turns it into Spark. Nothing here imports Spark.

A stream of a KTable is its changelog: a null value is a tombstone. Types are Spark's names of them ("string",
"bigint", "struct<a:int>"), or OBJECT for what a Python function returned without saying what it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from ottla.streams.expressions import Expression
    from ottla.streams.serdes import Serde
    from ottla.streams.windows import JoinWindows, Windows

OBJECT: Final = "object"
"""The type of a Python object; it crosses a shuffle in the encoding of `objects.py`."""

Function = Callable[..., Any]
How = Literal["inner", "left", "outer"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Node:
    """One step. Nodes are compared by identity: the same step written twice is two nodes."""

    name: str
    """Unique within the topology, as Kafka Streams names them (KSTREAM-FILTER-0000000003), or the user's."""
    parents: tuple[Node, ...] = ()
    key_type: str = OBJECT
    value_type: str = OBJECT
    windowed: bool = False
    """Whether the key is one of a window (`Windowed`)."""
    table: bool = False
    """Whether this is a changelog: the newest value of a key replaces the earlier one, null deletes it."""

    @property
    def stateful(self) -> bool:
        return False


# --- where records come from ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Source(Node):
    """Topics, or a pattern of topics, as a stream (table=False) or as a changelog (table=True)."""

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    key_serde: Serde
    value_serde: Serde
    offset_reset: Literal["earliest", "latest"] = "earliest"
    timestamp_extractor: Function | Expression | None = None
    """(key, value, record timestamp in ms) -> ms, or an expression that is a timestamp or milliseconds."""
    internal: bool = False
    """Made by `stages.py` for a topic between two stages."""
    change: bool = False
    """An internal topic of `TableGroup`s: values are (old or new value, whether it is added)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class GlobalSource(Node):
    """A topic whose whole table every task has: the right side of `GlobalJoin` only."""

    topic: str
    key_serde: Serde
    value_serde: Serde


# --- one record after the other ----------------------------------------------------------------------------


class Step(Enum):
    """What an `Apply` does; the function takes (value) for *_values of one argument, else (key, value)."""

    MAP = "map"  # (k, v) -> (k, v)
    MAP_VALUES = "map_values"  # v or (k, v) -> v
    FLAT_MAP = "flat_map"  # (k, v) -> iterable of (k, v)
    FLAT_MAP_VALUES = "flat_map_values"  # v or (k, v) -> iterable of v
    FILTER = "filter"  # (k, v) -> bool
    FILTER_NOT = "filter_not"
    SELECT_KEY = "select_key"  # (k, v) -> k
    PEEK = "peek"  # (k, v) -> ignored


@dataclass(frozen=True, eq=False, kw_only=True)
class Apply(Node):
    """A step with a Python function, or with expressions that run in the JVM.

    On a table, a record that FILTER drops becomes a tombstone, and tombstones pass every step unseen by the
    function.
    """

    step: Step
    function: Function | None = None
    value: Expression | None = None
    """The new value, the predicate, or (FLAT_MAP_VALUES) an array."""
    key: Expression | None = None
    """The new key (MAP, SELECT_KEY)."""
    with_key: bool = False
    """Whether the function of a *_VALUES step takes (key, value)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Branch(Node):
    """The records of which predicate `index` is the first to hold; index None: those of which none does."""

    predicates: tuple[Function | Expression, ...]
    index: int | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Merge(Node):
    """All parents' records; order only within each parent."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Repartition(Node):
    """Through a topic: an internal one, or (`through`) one of the user's."""

    topic: str | None
    partitions: int | None
    key_serde: Serde
    value_serde: Serde


@dataclass(frozen=True, eq=False, kw_only=True)
class ToTable(Node):
    """A stream read as a changelog; ToStream is the other way. Both only change how the records are meant."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ToStream(Node):
    pass


# --- stateful: at most one of these in a stage -------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Aggregation:
    """How values become an aggregate. Exactly one of the forms."""

    kind: Literal["count", "reduce", "aggregate", "builtin"]
    initializer: Callable[[], Any] | None = None
    adder: Function | None = None
    """reduce: (aggregate, value) -> aggregate; aggregate: (key, value, aggregate) -> aggregate."""
    subtractor: Function | None = None
    """The same, for a value that a table no longer has."""
    merger: Function | None = None
    """(key, aggregate, aggregate) -> aggregate: sessions that meet."""
    builtin: Expression | None = None
    """An aggregate that runs in the JVM, such as `sum_of(value["delay"])`."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Aggregate(Node):
    """A grouped stream (or, with `of_table`, a grouped table behind `TableGroup`) as a table.

    One parent and one aggregation each; more than one parent is a cogroup. Records with a null key are
    left out; with a null value, too, unless the parent is a TableGroup.
    """

    aggregations: tuple[Aggregation, ...]
    windows: Windows | None = None
    of_table: bool = False
    store: str = ""
    emit_final: bool = False
    """Set by `suppress(until_window_closes)`: one result per window, when it can no longer change."""

    @property
    def stateful(self) -> bool:
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class TableGroup(Node):
    """`KTable.group_by`: of each change of the table, the old value is taken from its group and the new one
    added to its own. Keeps the table to know the old values; what follows reads `change` records.
    """

    selector: Function
    """(key, value) -> (key, value)."""

    @property
    def stateful(self) -> bool:
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class SuppressTime(Node):
    """`suppress(until_time_limit)`: at most one update of a key in so long."""

    wait_ms: int

    @property
    def stateful(self) -> bool:
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class StreamJoin(Node):
    """Two streams, records of the same key that lie within the windows of each other."""

    how: How
    joiner: Function | Expression
    """(left value, right value) -> value, the absent one None."""
    windows: JoinWindows
    with_key: bool = False

    @property
    def stateful(self) -> bool:
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class StreamTableJoin(Node):
    """parents: stream, table. Each record of the stream with the table's value at that time."""

    how: Literal["inner", "left"]
    joiner: Function | Expression
    with_key: bool = False

    @property
    def stateful(self) -> bool:
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class TableJoin(Node):
    """parents: table, table, of the same key (or `foreign_key`: left value -> key of the right)."""

    how: How
    joiner: Function | Expression
    foreign_key: Function | None = None

    @property
    def stateful(self) -> bool:
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class GlobalJoin(Node):
    """parents: stream, GlobalSource. Stateless here: every task has the whole table."""

    how: Literal["inner", "left"]
    selector: Function | Expression
    """(key, value) of the stream -> key of the table."""
    joiner: Function | Expression


@dataclass(frozen=True, eq=False, kw_only=True)
class Process(Node):
    """A processor of the user's with state and timers, on transformWithState."""

    processor: Any
    """A zero-argument factory of `ottla.streams.processor.Processor`, or a pyspark StatefulProcessor."""
    output_schema: str | None = None
    """For a pyspark StatefulProcessor: the rows that it returns."""

    @property
    def stateful(self) -> bool:
        return True


# --- where records go --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Sink(Node):
    """A topic, or a function (key, value) -> topic."""

    topic: str | Function
    key_serde: Serde
    value_serde: Serde
    partitioner: Function | None = None
    """(topic, key, value, number of partitions) -> partition."""
    internal: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class ForEach(Node):
    """An end without output: the function is called for its effect, at least once for each record."""

    function: Function


@dataclass(frozen=True, kw_only=True)
class Topology:
    """All ends of a program's graph, in the order in which they were written."""

    ends: tuple[Node, ...] = ()

    def nodes(self) -> list[Node]:
        """Every node, parents before children, in the order of the program."""
        found: dict[int, Node] = {}

        def visit(node: Node) -> None:
            if id(node) not in found:
                for parent in node.parents:
                    visit(parent)
                found[id(node)] = node

        for end in self.ends:
            visit(end)
        return list(found.values())


@dataclass(frozen=True, kw_only=True)
class InternalTopic:
    """A topic between two stages, made before the first query starts."""

    name: str
    partitions: int | None
    """None: as many as the most that a topic upstream has."""
    compacted: bool


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What becomes one streaming query: a plan of its own, from sources to ends, with at most one stateful
    node. Where the program's graph was cut, an internal Sink ends one stage and a Source begins another.
    """

    number: int
    name: str
    """Stable over restarts as long as the program does not change: the checkpoint is named after it."""
    ends: tuple[Node, ...]
    stateful: Node | None
    internal_topics: tuple[InternalTopic, ...] = field(default=())
    """Those that this stage writes."""
