"""What every node is in the test driver, and the nodes without state.

An `Operator` receives one item after the other and forwards any number of them to its children at once,
depth first, as a task of Kafka Streams does. Where a node is a table, its contents are kept, so that they
can be looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ottla.streams import objects
from ottla.streams.errors import RecordError
from ottla.streams.expressions import Expression
from ottla.streams.fused import Columns, run_step, step_of
from ottla.streams.plan import ForEach, Function, GlobalJoin, Node, ToTable

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A record between two nodes."""

    key: Any
    value: Any
    timestamp_ms: int
    headers: Headers = ()

    def but(self, **changes: Any) -> Item:
        return replace(self, **changes)


class Change(NamedTuple):
    """What a grouped table sends on as a value: the new value, the old one, or both."""

    new: Any
    old: Any


@dataclass
class Clock:
    """Times that all operators share."""

    wall_ms: int
    stream_ms: int = -1
    """The highest timestamp of any record so far."""
    record: str = ""
    """Which record is being worked on, for errors."""


@dataclass(eq=False)
class Operator:
    """A node that passes on what it gets: sources, merges, changes between stream and table."""

    node: Node
    clock: Clock
    children: list[tuple[Operator, int]] = field(default_factory=list)
    """Who is next, and as which of its parents."""
    contents: dict[bytes, tuple[Any, Any]] = field(default_factory=dict)
    """Of a table: key and value by the key's bytes."""

    def receive(self, side: int, item: Item) -> None:
        if item.key is not None or not isinstance(self.node, ToTable):  # a table has no row without a key
            self.forward(item)

    def forward(self, item: Item) -> None:
        if self.node.table and item.key is not None:
            if item.value is None:
                self.contents.pop(identity(item.key), None)
            else:
                self.contents[identity(item.key)] = (item.key, item.value)
        for child, side in self.children:
            child.receive(side, item)

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """A function of the user's; what it raises is said with the node and the record."""
        try:
            return function(*arguments)
        except RecordError:
            raise
        except Exception as error:
            raise RecordError(
                f"{self.node.name} failed on the record of {self.clock.record}: {type(error).__name__}: "
                f"{error}"
            ) from error


def identity(key: Any) -> bytes:
    """What makes two keys the same: their bytes, as in Spark."""
    return objects.encode_key(key)


class StepOperator(Operator):
    """`Apply` and `Branch`, by the very code that runs in the workers, one row at a time."""

    def receive(self, side: int, item: Item) -> None:
        rows = Columns([0], [item.key], [item.value])
        _, keys, values = run_step(step_of(self.node, item.timestamp_ms), rows, lambda row: self.clock.record)
        for key, value in zip(keys, values, strict=True):
            self.forward(item.but(key=key, value=value))


class EffectOperator(Operator):
    def receive(self, side: int, item: Item) -> None:
        assert isinstance(self.node, ForEach)
        self.call(self.node.function, item.key, item.value)


@dataclass(eq=False)
class SinkOperator(Operator):
    """Hands what arrives to the driver: a sink, or a node through a topic."""

    write: Callable[[Node, Item], None] = field(default=lambda node, item: None)

    def receive(self, side: int, item: Item) -> None:
        self.write(self.node, item)


def joined(
    operator: Operator,
    joiner: Function | Expression,
    with_key: bool,
    key: Any,
    left: Any,
    right: Any,
    time_ms: int,
) -> Any:
    """The value that a joiner makes of two."""
    if isinstance(joiner, Expression):
        return operator.call(lambda: joiner.evaluate(key, None, time_ms, left=left, right=right))
    if with_key:
        return operator.call(joiner, key, left, right)
    return operator.call(joiner, left, right)


class GlobalJoinOperator(Operator):
    """Side 1 are the table's records: they are known before any that follows, and join nothing by
    themselves.
    """

    def __init__(self, node: GlobalJoin, clock: Clock) -> None:
        super().__init__(node, clock)
        self.join = node
        self.rows: dict[bytes, Any] = {}

    def receive(self, side: int, item: Item) -> None:
        if side == 1:
            if item.key is not None:
                self.rows[identity(item.key)] = item.value
            return
        selector = self.join.selector
        if item.value is None:
            return
        if isinstance(selector, Expression):
            wanted = self.call(lambda: selector.evaluate(item.key, item.value, item.timestamp_ms))
        else:
            wanted = self.call(selector, item.key, item.value)
        left_join = self.join.how == "left"
        if wanted is None and not (left_join and item.key is None):
            return  # there is nothing to look for; only a left join keeps records that have no key at all
        found = None if wanted is None else self.rows.get(identity(wanted))
        if found is not None or left_join:
            value = joined(self, self.join.joiner, False, item.key, item.value, found, item.timestamp_ms)
            self.forward(item.but(value=value))
