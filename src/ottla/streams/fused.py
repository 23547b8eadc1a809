"""A chain of stateless Python steps as one pass over columns of Python values.

`fuse(nodes)` takes the `Apply` and `Branch` nodes of a chain, the first one first, and makes a `Fused`:
called with a list of keys and one of values, it returns which input row each output row comes from, and its
key and value. The caller (a mapInArrow function) takes all other columns by those rows. Each step runs over
the whole column before the next one begins, so the cost per record and step is little more than the call of
the function.

A step that raises becomes a `RecordError` that names the step and, through `where`, the record. A `Fused`
holds functions, not nodes: it is what is sent to the workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ottla.streams.errors import RecordError, TopologyError
from ottla.streams.expressions import Expression
from ottla.streams.plan import Apply, Branch, Function, Node, Step
from ottla.streams.shapes import same_key


class Columns(NamedTuple):
    """Rows between two steps: the input row of each, its key and its value."""

    rows: list[int]
    keys: list[Any]
    values: list[Any]


Where = Callable[[int], str]
"""What an input row is, for an error: "topic clicks, partition 0, offset 17"."""


@dataclass(frozen=True, slots=True)
class FusedStep:
    """One node, without the graph around it."""

    name: str
    step: Step | None
    """None: a branch."""
    functions: tuple[Function, ...]
    """Called with (key, value, ...), or (value) for values without a key."""
    with_key: bool
    table: bool
    index: int | None = None
    """Of a branch: which predicate."""


def _callable(thing: Function | Expression, timestamp_ms: int) -> Function:
    if not isinstance(thing, Expression):
        return thing
    evaluate = thing.evaluate
    return lambda key, value: evaluate(key, value, timestamp_ms)


def _value_of(key: Any, value: Any) -> Any:
    return value


def step_of(node: Node, timestamp_ms: int = 0) -> FusedStep:
    """The step of an `Apply` or a `Branch`. Expressions are computed in Python, for one timestamp."""
    if isinstance(node, Branch):
        predicates = tuple(_callable(predicate, timestamp_ms) for predicate in node.predicates)
        return FusedStep(node.name, None, predicates, True, node.table, node.index)
    if not isinstance(node, Apply):
        raise TopologyError(f"{node.name} is not a step that can be fused")
    if node.function is not None:
        with_key = node.with_key or node.step not in (Step.MAP_VALUES, Step.FLAT_MAP_VALUES)
        return FusedStep(node.name, node.step, (node.function,), with_key, node.table)
    new_key: Function = same_key if node.key is None else _callable(node.key, timestamp_ms)
    new_value: Function = _value_of if node.value is None else _callable(node.value, timestamp_ms)
    if node.step is Step.MAP:
        function: Function = lambda key, value: (new_key(key, value), new_value(key, value))  # noqa: E731
    elif node.step is Step.SELECT_KEY:
        function = new_key
    elif node.step is Step.FILTER_NOT:
        # null is neither true nor false: what is not known to be false is dropped, as SQL's NOT does
        function = lambda key, value: new_value(key, value) is not False  # noqa: E731
    else:
        function = new_value
    return FusedStep(node.name, node.step, (function,), True, node.table)


@dataclass(frozen=True, slots=True)
class Fused:
    steps: tuple[FusedStep, ...]

    def __call__(self, keys: list[Any], values: list[Any], where: Where | None = None) -> Columns:
        columns = Columns(list(range(len(keys))), keys, values)
        for step in self.steps:
            columns = run_step(step, columns, where)
        return columns


def fuse(nodes: Iterable[Node]) -> Fused:
    """One function of a chain of nodes, the first one first."""
    return Fused(tuple(step_of(node) for node in nodes))


def run_step(step: FusedStep, columns: Columns, where: Where | None = None) -> Columns:
    """One step over all rows."""
    done: list[Any] = []
    try:
        if step.step is None:
            return _branch(step, columns, done)
        if step.table:
            return _of_table(step, columns, done)
        return _of_stream(step, columns, done)
    except RecordError:
        raise
    except Exception as error:
        at = len(done)
        raise _explained(step, columns, at, error, where) from error


def _explained(
    step: FusedStep, columns: Columns, at: int, error: Exception, where: Where | None
) -> RecordError:
    record = f" (key {_short(columns.keys[at])}, value {_short(columns.values[at])})"
    of = "" if where is None else f" of {where(columns.rows[at])}"
    return RecordError(f"{step.name} failed on the record{of}{record}: {type(error).__name__}: {error}")


def _short(thing: Any) -> str:
    try:
        text = repr(thing)
    except Exception:
        return f"a {type(thing).__name__}"
    return text if len(text) <= 100 else text[:97] + "..."


def _of_stream(step: FusedStep, columns: Columns, done: list[Any]) -> Columns:
    """`done` grows by one for each row that is finished: where a function raises, its length is the row."""
    rows, keys, values = columns
    function = step.functions[0]
    finished = done.append
    match step.step:
        case Step.MAP_VALUES:
            if step.with_key:
                for key, value in zip(keys, values, strict=True):
                    finished(function(key, value))
            else:
                for value in values:
                    finished(function(value))
            return Columns(rows, keys, done)
        case Step.SELECT_KEY:
            for key, value in zip(keys, values, strict=True):
                finished(function(key, value))
            return Columns(rows, done, values)
        case Step.MAP:
            new_values: list[Any] = []
            for key, value in zip(keys, values, strict=True):
                new_key, new_value = function(key, value)
                finished(new_key)
                new_values.append(new_value)
            return Columns(rows, done, new_values)
        case Step.FILTER | Step.FILTER_NOT:
            wanted = step.step is Step.FILTER
            for key, value in zip(keys, values, strict=True):
                finished(bool(function(key, value)) is wanted)
            return _chosen(columns, done)
        case Step.PEEK:
            for key, value in zip(keys, values, strict=True):
                function(key, value)
                finished(None)
            return columns
    return _flat(step, columns, done)


def _flat(step: FusedStep, columns: Columns, done: list[Any]) -> Columns:
    function, with_key = step.functions[0], step.with_key
    out = Columns([], [], [])
    for row, key, value in zip(*columns, strict=True):
        results: Iterable[Any] | None = function(key, value) if with_key else function(value)
        if results is not None:
            if isinstance(results, (str, bytes)):
                raise TypeError(
                    f"a list (or another iterable) of results was expected, not {_short(results)}"
                )
            if step.step is Step.FLAT_MAP:
                for new_key, new_value in results:
                    out.rows.append(row)
                    out.keys.append(new_key)
                    out.values.append(new_value)
            else:
                new_values = list(results)
                out.rows.extend([row] * len(new_values))
                out.keys.extend([key] * len(new_values))
                out.values.extend(new_values)
        done.append(None)
    return out


def _of_table(step: FusedStep, columns: Columns, done: list[Any]) -> Columns:
    """A tombstone passes unseen; what a filter drops becomes one."""
    function = step.functions[0]
    for key, value in zip(columns.keys, columns.values, strict=True):
        if value is None:
            done.append(None)
            continue
        result = function(key, value) if step.with_key else function(value)
        match step.step:
            case Step.MAP_VALUES:
                done.append(result)
            case Step.FILTER:
                done.append(value if result else None)
            case Step.FILTER_NOT:
                done.append(None if result else value)
            case _:
                done.append(value)
    return Columns(columns.rows, columns.keys, done)


def _branch(step: FusedStep, columns: Columns, done: list[Any]) -> Columns:
    predicates: Sequence[Function] = step.functions
    for key, value in zip(columns.keys, columns.values, strict=True):
        first = next((index for index, predicate in enumerate(predicates) if predicate(key, value)), None)
        done.append(first == step.index)
    return _chosen(columns, done)


def _chosen(columns: Columns, chosen: list[Any]) -> Columns:
    return Columns(*([item for item, keep in zip(column, chosen, strict=True) if keep] for column in columns))
