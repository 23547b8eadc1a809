"""Groups: streams and tables by key, on the way to becoming an aggregate.

`KStream.group_by...` makes a `KGroupedStream`; `windowed_by` cuts it by time; `cogroup` puts several groups
into one aggregate; `KTable.group_by` makes a `KGroupedTable`, whose aggregates lose the values that the
table loses. All of them end in one `Aggregate` node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ottla.streams.aggregate_expressions import AggregateExpression, aggregates_in
from ottla.streams.builder import StreamsBuilder, returned
from ottla.streams.errors import TopologyError
from ottla.streams.expressions import Expression, Types
from ottla.streams.functions import checked
from ottla.streams.ktable import KTable
from ottla.streams.plan import Aggregate, Aggregation, Function, Node
from ottla.streams.shapes import check_key_kinds, key_converted
from ottla.streams.steps import check_same_builder, types_of
from ottla.streams.windows import JoinWindows, SessionWindows, Windows

_COUNT = Aggregation(kind="count")


def _builtin_type(expression: Expression, types: Types, where: str) -> str:
    """The type of an expression that makes an aggregate, in which values only occur inside of aggregates."""
    if not aggregates_in(expression):
        raise TopologyError(
            f"{where} takes an expression with aggregates in it, such as sum_of(value['delay']), not "
            f"{expression.sql}"
        )
    for leaf in expression.leaves():
        if not isinstance(leaf, AggregateExpression) and leaf.sql in ("value", "timestamp"):
            raise TopologyError(f"{where}: {leaf.sql} is used outside of an aggregate: {expression.sql}")
    try:
        return expression.type_in(types)
    except TopologyError as error:
        raise TopologyError(f"{where}: {error}") from None


class _Grouped:
    """What all kinds of groups do in the end."""

    def __init__(self, builder: StreamsBuilder, node: Node, windows: Windows | None = None) -> None:
        self._builder = builder
        self.node = node
        self._windows = windows

    def _made(
        self,
        kind: str,
        parents: tuple[Node, ...],
        aggregations: tuple[Aggregation, ...],
        value_type: str,
        name: str | None,
    ) -> KTable:
        name = self._builder.name_for(kind, name)
        node = Aggregate(
            name=name,
            parents=parents,
            aggregations=aggregations,
            windows=self._windows,
            of_table=kind.startswith("KTABLE"),
            store=f"{name}-store",
            key_type=parents[0].key_type,
            value_type=value_type,
            windowed=self._windows is not None or parents[0].windowed,
            table=True,
        )
        return KTable(self._builder, node)


class KGroupedStream(_Grouped):
    """A stream by key. Records with a null key or a null value are not part of any group."""

    def windowed_by(self, windows: Windows) -> WindowedKStream:
        """Aggregates per key and window."""
        _check_windows(self.node, windows)
        return WindowedKStream(self._builder, self.node, windows)

    def count(self, *, name: str | None = None) -> KTable:
        """How many records each key has."""
        return self._made("KSTREAM-AGGREGATE", (self.node,), (_COUNT,), "bigint", name)

    def reduce(self, reducer: Function, *, name: str | None = None) -> KTable:
        """The values of each key as one, of the same type: (aggregate, value) -> aggregate. It begins with
        the first value.
        """
        aggregation = Aggregation(kind="reduce", adder=checked(reducer, "(aggregate, value)", "reduce"))
        return self._made("KSTREAM-REDUCE", (self.node,), (aggregation,), self.node.value_type, name)

    def aggregate(
        self,
        initializer: Callable[[], Any] | Expression,
        adder: Function | None = None,
        merger: Function | None = None,
        *,
        returns: str | None = None,
        name: str | None = None,
    ) -> KTable:
        """The values of each key as one, of any type: `initializer()` and (key, value, aggregate) ->
        aggregate, or an expression with aggregates, such as `avg_of(value["delay"])`.
        """
        aggregation, value_type = self._aggregation(initializer, adder, merger, returns)
        return self._made("KSTREAM-AGGREGATE", (self.node,), (aggregation,), value_type, name)

    def _aggregation(
        self, initializer: Any, adder: Function | None, merger: Function | None, returns: str | None
    ) -> tuple[Aggregation, str]:
        if isinstance(initializer, Expression):
            if adder is not None or merger is not None:
                raise TopologyError("aggregate takes either an expression, or an initializer and an adder")
            value_type = _builtin_type(initializer, types_of(self.node), "aggregate")
            return Aggregation(kind="builtin", builtin=initializer), value_type
        checked(initializer, "()", "aggregate, as its initializer,")
        checked(adder, "(key, value, aggregate)", "aggregate, as its adder,")
        sessions = isinstance(self._windows, SessionWindows)
        if sessions:
            if merger is None:
                raise TopologyError(
                    "aggregate over sessions needs a merger, a function of (key, aggregate, aggregate): a "
                    "record can "
                    "make one session of two"
                )
            checked(merger, "(key, aggregate, aggregate)", "aggregate, as its merger,")
        elif merger is not None:
            raise TopologyError("aggregate: only sessions are merged; leave the merger out")
        return Aggregation(kind="aggregate", initializer=initializer, adder=adder, merger=merger), returned(
            returns
        )

    def cogroup(self, adder: Function) -> CogroupedKStream:
        """The first of several groups that make one aggregate: (key, value, aggregate) -> aggregate."""
        if self._windows is not None:
            raise TopologyError("cogroup comes first, windowed_by after it")
        return CogroupedKStream(self._builder, self.node).cogroup(self, adder)


class WindowedKStream(KGroupedStream):
    """A stream by key and window. The table that it becomes has keys of type `Windowed`."""

    def windowed_by(self, windows: Windows) -> WindowedKStream:
        raise TopologyError("windowed_by is called once: a group has one kind of windows")


def _check_windows(node: Node, windows: Any) -> None:
    if isinstance(windows, JoinWindows) or not isinstance(windows, Windows):
        raise TopologyError(
            f"windowed_by takes TimeWindows, SlidingWindows or SessionWindows, not {windows!r}"
        )
    if node.windowed:
        raise TopologyError("windowed_by: the keys are windowed already; give each record a plain key first")


class CogroupedKStream(_Grouped):
    """Several groups with one aggregate: each has an adder of its own."""

    def __init__(
        self,
        builder: StreamsBuilder,
        node: Node,
        windows: Windows | None = None,
        groups: tuple[tuple[Node, Function], ...] = (),
    ) -> None:
        super().__init__(builder, node, windows)
        self._groups = groups

    def cogroup(self, grouped: KGroupedStream, adder: Function) -> CogroupedKStream:
        """Another group: its records are added by (key, value, aggregate) -> aggregate."""
        if not isinstance(grouped, KGroupedStream) or isinstance(grouped, WindowedKStream):
            raise TopologyError(
                f"cogroup takes a grouped stream, not {grouped!r}; windowed_by comes after it"
            )
        if self._windows is not None:
            raise TopologyError("cogroup comes first, windowed_by after it")
        check_same_builder(self, grouped, "cogroup")
        check_key_kinds(self.node, grouped.node, "cogroup")
        checked(adder, "(key, value, aggregate)", "cogroup")
        return CogroupedKStream(self._builder, self.node, None, (*self._groups, (grouped.node, adder)))

    def windowed_by(self, windows: Windows) -> CogroupedKStream:
        """The aggregate per key and window."""
        _check_windows(self.node, windows)
        return CogroupedKStream(self._builder, self.node, windows, self._groups)

    def aggregate(
        self,
        initializer: Callable[[], Any],
        merger: Function | None = None,
        *,
        returns: str | None = None,
        name: str | None = None,
    ) -> KTable:
        """One aggregate of all groups; `merger` for sessions."""
        checked(initializer, "()", "aggregate, as its initializer,")
        if isinstance(self._windows, SessionWindows):
            if merger is None:
                raise TopologyError(
                    "aggregate over sessions needs a merger, a function of (key, aggregate, aggregate)"
                )
            checked(merger, "(key, aggregate, aggregate)", "aggregate, as its merger,")
        elif merger is not None:
            raise TopologyError("aggregate: only sessions are merged; leave the merger out")
        aggregations = tuple(
            Aggregation(kind="aggregate", initializer=initializer, adder=adder, merger=merger)
            for _, adder in self._groups
        )
        name = self._builder.name_for("COGROUPKSTREAM-AGGREGATE", name)
        known = [node for node, _ in self._groups if node.key_type != "object"]
        parents = tuple(
            key_converted(node, known[0] if known else node, f"{name}-{number}", "cogroup")
            for number, (node, _) in enumerate(self._groups)
        )
        node = Aggregate(
            name=name,
            parents=parents,
            aggregations=aggregations,
            windows=self._windows,
            store=f"{name}-store",
            key_type=parents[0].key_type,
            value_type=returned(returns),
            windowed=self._windows is not None or parents[0].windowed,
            table=True,
        )
        return KTable(self._builder, node)


class KGroupedTable(_Grouped):
    """A table by another key: each change takes the old value from its group and adds the new one to its
    own.
    """

    def count(self, *, name: str | None = None) -> KTable:
        """How many rows of the table each group has."""
        return self._made("KTABLE-AGGREGATE", (self.node,), (_COUNT,), "bigint", name)

    def reduce(self, adder: Function, subtractor: Function, *, name: str | None = None) -> KTable:
        """(aggregate, value) -> aggregate, for a value that comes and for one that goes."""
        aggregation = Aggregation(
            kind="reduce",
            adder=checked(adder, "(aggregate, value)", "reduce, as its adder,"),
            subtractor=checked(subtractor, "(aggregate, value)", "reduce, as its subtractor,"),
        )
        return self._made("KTABLE-REDUCE", (self.node,), (aggregation,), self.node.value_type, name)

    def aggregate(
        self,
        initializer: Callable[[], Any] | Expression,
        adder: Function | None = None,
        subtractor: Function | None = None,
        *,
        returns: str | None = None,
        name: str | None = None,
    ) -> KTable:
        """`initializer()`, and (key, value, aggregate) -> aggregate for a value that comes and for one that
        goes; or an expression of counts, sums and averages.
        """
        if isinstance(initializer, Expression):
            if adder is not None or subtractor is not None:
                raise TopologyError(
                    "aggregate takes either an expression, or an initializer, an adder and a subtractor"
                )
            value_type = _builtin_type(initializer, types_of(self.node), "aggregate")
            for leaf in aggregates_in(initializer):
                if not leaf.subtractable:
                    raise TopologyError(
                        f"aggregate: {leaf.sql} of a table cannot be kept, since values also leave it: use "
                        "counts, "
                        f"sums and averages, or functions"
                    )
            aggregation = Aggregation(kind="builtin", builtin=initializer)
        else:
            value_type = returned(returns)
            aggregation = Aggregation(
                kind="aggregate",
                initializer=checked(initializer, "()", "aggregate, as its initializer,"),
                adder=checked(adder, "(key, value, aggregate)", "aggregate, as its adder,"),
                subtractor=checked(subtractor, "(key, value, aggregate)", "aggregate, as its subtractor,"),
            )
        return self._made("KTABLE-AGGREGATE", (self.node,), (aggregation,), value_type, name)
