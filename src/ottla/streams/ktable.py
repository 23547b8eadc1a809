"""`KTable`: the newest value of each key, and what can be done with it.

A table is its changelog: each change is a record that goes through the steps below, a null value deletes. A
filter that drops a row deletes it from the table that follows; functions never see a deletion.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ottla.streams.builder import StreamsBuilder, returned
from ottla.streams.errors import TopologyError
from ottla.streams.expressions import Expression, Types
from ottla.streams.functions import checked
from ottla.streams.kstream import KStream
from ottla.streams.plan import (
    Aggregate,
    Apply,
    Function,
    GlobalSource,
    How,
    Node,
    Step,
    SuppressTime,
    TableGroup,
    TableJoin,
    ToStream,
    ToTable,
)
from ottla.streams.shapes import check_key_kinds, check_partitions, key_converted
from ottla.streams.steps import check_joiner, check_same_builder, filter_step, values_step
from ottla.streams.windows import Suppressed

if TYPE_CHECKING:
    from ottla.streams.kgrouped import KGroupedTable


class GlobalKTable:
    """A table that every task has whole: the other side of `KStream.join(..., selector=...)`."""

    def __init__(self, builder: StreamsBuilder, node: GlobalSource) -> None:
        self._builder = builder
        self.node = node


class KTable:
    """A table. Not made by hand: `StreamsBuilder.table` and aggregates are the beginnings."""

    def __init__(self, builder: StreamsBuilder, node: Node) -> None:
        self._builder = builder
        self.node = node

    def __repr__(self) -> str:
        return f"<KTable {self.node.name}: {self.node.key_type}, {self.node.value_type}>"

    def _next(self, node: Node) -> KTable:
        return KTable(self._builder, node)

    def filter(self, predicate: Function | Expression, *, name: str | None = None) -> KTable:
        """The rows for which the predicate of (key, value) holds."""
        node = filter_step(self.node, Step.FILTER, predicate)
        return self._next(replace(node, name=self._builder.name_for("KTABLE-FILTER", name)))

    def filter_not(self, predicate: Function | Expression, *, name: str | None = None) -> KTable:
        """The rows for which it does not."""
        node = filter_step(self.node, Step.FILTER_NOT, predicate)
        return self._next(replace(node, name=self._builder.name_for("KTABLE-FILTER", name)))

    def map_values(
        self, mapper: Function | Expression, *, returns: str | None = None, name: str | None = None
    ) -> KTable:
        """A new value: a function of (value) or (key, value), or an expression."""
        node = values_step(self.node, Step.MAP_VALUES, mapper, "map_values", returns)
        return self._next(replace(node, name=self._builder.name_for("KTABLE-MAPVALUES", name)))

    def to_stream(
        self,
        selector: Function | Expression | None = None,
        *,
        returns: str | None = None,
        name: str | None = None,
    ) -> KStream:
        """The changes as a stream, deletions as null values; with `selector`, under a new key."""
        node = ToStream(
            name=self._builder.name_for("KTABLE-TOSTREAM", name),
            parents=(self.node,),
            key_type=self.node.key_type,
            value_type=self.node.value_type,
            windowed=self.node.windowed,
        )
        stream = KStream(self._builder, node)
        return stream if selector is None else stream.select_key(selector, returns=returns)

    def group_by(
        self,
        selector: Function,
        *,
        key_type: str | None = None,
        value_type: str | None = None,
        name: str | None = None,
    ) -> KGroupedTable:
        """By another key: a function of (key, value) to (key, value)."""
        from ottla.streams.kgrouped import KGroupedTable

        if isinstance(selector, Expression):
            raise TopologyError("group_by of a table takes a function of (key, value) to (key, value)")
        node = TableGroup(
            name=self._builder.name_for("KTABLE-SELECT", name),
            parents=(self.node,),
            selector=checked(selector, "(key, value)", "group_by"),
            key_type=returned(key_type),
            value_type=returned(value_type),
        )
        return KGroupedTable(self._builder, node)

    # --- joins ---

    def join(
        self,
        other: KTable,
        joiner: Function | Expression,
        *,
        foreign_key: Function | None = None,
        returns: str | None = None,
        name: str | None = None,
    ) -> KTable:
        """With the rows of another table of the same key, or of the key that `foreign_key(value)` says."""
        return self._join("inner", other, joiner, foreign_key, returns, name)

    def left_join(
        self,
        other: KTable,
        joiner: Function | Expression,
        *,
        foreign_key: Function | None = None,
        returns: str | None = None,
        name: str | None = None,
    ) -> KTable:
        """As `join`, and rows of this table without a partner join None."""
        return self._join("left", other, joiner, foreign_key, returns, name)

    def outer_join(
        self,
        other: KTable,
        joiner: Function | Expression,
        *,
        returns: str | None = None,
        name: str | None = None,
    ) -> KTable:
        """As `join`, and rows of either table without a partner join None."""
        return self._join("outer", other, joiner, None, returns, name)

    def _join(
        self,
        how: How,
        other: Any,
        joiner: Any,
        foreign_key: Function | None,
        returns: str | None,
        name: str | None,
    ) -> KTable:
        where = {"inner": "join", "left": "left_join", "outer": "outer_join"}[how]
        if not isinstance(other, KTable):
            hint = "; to_stream() first" if isinstance(other, (KStream, GlobalKTable)) else ""
            raise TopologyError(f"{where} of a table takes another table, not {other!r}{hint}")
        check_same_builder(self, other, where)
        name = self._builder.name_for(
            {"inner": "KTABLE-JOIN", "left": "KTABLE-LEFTJOIN", "outer": "KTABLE-OUTERJOIN"}[how], name
        )
        left, right = self.node, other.node
        if foreign_key is None:
            check_key_kinds(left, right, where)
            check_partitions(left, right, where)
            key_converted(left, right, name, where)
            key_converted(right, left, name, where)
        else:
            if left.windowed or right.windowed:
                raise TopologyError(f"{where}: a join by foreign_key is of tables without windows")
            checked(foreign_key, "(value)", f"{where}(foreign_key=...)")
        types = Types(key=left.key_type, left=left.value_type, right=right.value_type, windowed=left.windowed)
        value_type, _ = check_joiner(joiner, types, where, returns, key_allowed=False)
        return self._next(
            TableJoin(
                name=name,
                parents=(left, right),
                how=how,
                joiner=joiner,
                foreign_key=foreign_key,
                key_type=left.key_type,
                value_type=value_type,
                windowed=left.windowed,
                table=True,
            )
        )

    # --- fewer updates ---

    def suppress(self, suppressed: Suppressed, *, name: str | None = None) -> KTable:
        """Holds updates back: until the window is closed, or for a time."""
        if not isinstance(suppressed, Suppressed):
            raise TopologyError(
                "suppress takes Suppressed.until_window_closes() or Suppressed.until_time_limit(...), not "
                f"{suppressed!r}"
            )
        if suppressed.wait_ms is not None:
            return self._next(
                SuppressTime(
                    name=self._builder.name_for("KTABLE-SUPPRESS", name),
                    parents=(self.node,),
                    wait_ms=suppressed.wait_ms,
                    key_type=self.node.key_type,
                    value_type=self.node.value_type,
                    windowed=self.node.windowed,
                    table=True,
                )
            )
        if not self.node.windowed:
            raise TopologyError(
                "suppress(until_window_closes) is for windowed tables; this one has no windows that could "
                "close: use "
                "windowed_by(...) before the aggregate, or Suppressed.until_time_limit(...)"
            )
        name = self._builder.name_for("KTABLE-SUPPRESS", name)
        return self._next(_final(self.node, name))


def _final(node: Node, name: str) -> Node:
    """The windowed table with only final results: the aggregate emits them, and the steps between follow
    again.

    A window has one result then, so what a filter drops is just not there, without a deletion.
    """
    steps: list[Apply] = []
    at = node
    while isinstance(at, Apply):
        steps.append(at)
        at = at.parents[0]
    if not isinstance(at, Aggregate) or at.windows is None:
        raise TopologyError(
            "suppress(until_window_closes) follows a windowed aggregate, with filter and map_values "
            "between them at "
            f"most; {at.name} is not one"
        )
    final: Node = replace(at, name=name, store=f"{name}-store", emit_final=True)
    for number, step in enumerate(reversed(steps)):
        final = replace(step, name=f"{name}-{number}", parents=(final,), table=False)
    if not steps:
        return final
    return ToTable(
        name=f"{name}-table",
        parents=(final,),
        key_type=final.key_type,
        value_type=final.value_type,
        windowed=True,
        table=True,
    )
