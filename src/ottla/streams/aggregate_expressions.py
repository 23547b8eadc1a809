"""Aggregates as expressions: `avg_of(value["delay"])`, or several at once, `struct(n=count_of(),
late=max_of(...))`.

In Spark they are its own aggregates. In Python each is a leaf of the expression that keeps a small state,
changed by `add` and `merge`; the expression around it is computed from the states (`Row.aggregates`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ottla.streams import ddl
from ottla.streams.errors import TopologyError
from ottla.streams.expressions import Expression, Row, Types, expression


@dataclass(frozen=True, eq=False)
class AggregateExpression(Expression):
    """One aggregate over the records of a group. Its state in Python is (count, sum), or (extreme,)."""

    function: str
    of: Expression | None = field(default=None)

    @property
    def children(self) -> tuple[Expression, ...]:
        return () if self.of is None else (self.of,)

    @property
    def sql(self) -> str:
        return f"{self.function}({'*' if self.of is None else self.of.sql})"

    @property
    def whole(self) -> bool:
        return True

    @property
    def subtractable(self) -> bool:
        """Whether a value can be taken out again, which a grouped table needs."""
        return self.function in ("count", "sum", "avg")

    def type_in(self, types: Types) -> str:
        if self.of is None:
            return "bigint"
        if any(leaf.whole for leaf in self.of.leaves()):
            raise TopologyError(f"an aggregate of an aggregate cannot be: {self.sql}")
        of = self.of.type_in(types)
        if self.function == "count":
            return "bigint"
        if self.function in ("min", "max"):
            return of
        if not ddl.numeric(of):
            raise TopologyError(f"{self.function} wants numbers, not {of}: {self.sql}")
        digits = ddl.decimal(of)
        if self.function == "avg":
            if digits:
                raise TopologyError(f"{self.sql} is of decimals: .cast('double') first")
            return "double"
        if digits:
            return f"decimal({min(38, digits[0] + 10)},{digits[1]})"
        return "bigint" if ddl.integral(of) else "double"

    def start(self) -> Any:
        return None if self.function in ("min", "max") else (0, 0)

    def add(self, state: Any, row: Row, sign: int = 1) -> Any:
        item = 1 if self.of is None else self.of.compute(row)
        if item is None:
            return state
        if self.function in ("min", "max"):
            return item if state is None else (min if self.function == "min" else max)(state, item)
        return state[0] + sign, state[1] + sign * (0 if self.function == "count" else item)

    def merge(self, one: Any, two: Any) -> Any:
        if self.function in ("min", "max"):
            if one is None or two is None:
                return two if one is None else one
            return (min if self.function == "min" else max)(one, two)
        return one[0] + two[0], one[1] + two[1]

    def compute(self, row: Row) -> Any:
        if row.aggregates is None:
            raise TopologyError(f"{self.sql} is an aggregate: it belongs into aggregate(...)")
        state = row.aggregates[id(self)]
        if self.function in ("min", "max"):
            return state
        if self.function == "count":
            return state[0]
        if state[0] == 0:
            return None  # the sum of no values is null in SQL
        return state[1] if self.function == "sum" else state[1] / state[0]


def aggregates_in(tree: Expression) -> Sequence[AggregateExpression]:
    """The aggregates among an expression's leaves, each once."""
    return list({id(leaf): leaf for leaf in tree.leaves() if isinstance(leaf, AggregateExpression)}.values())


def count_of(of: Any = None) -> Expression:
    """How many records, or (with an expression) how many of which it is not null."""
    return AggregateExpression("count", None if of is None else expression(of))


def sum_of(of: Any) -> Expression:
    return AggregateExpression("sum", expression(of))


def min_of(of: Any) -> Expression:
    return AggregateExpression("min", expression(of))


def max_of(of: Any) -> Expression:
    return AggregateExpression("max", expression(of))


def avg_of(of: Any) -> Expression:
    return AggregateExpression("avg", expression(of))
