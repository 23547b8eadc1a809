"""Expressions over a record: written in Python, run in the JVM.

`value["delay"] > 15` is not computed when it is written: it is an object that knows its SQL text (`.sql`,
over the columns `key`, `value`, `timestamp` and `window`; in a joiner `left_value` and `right_value`), its
type given the types of key and value (`type_in`), and how to compute itself in Python (`evaluate`), which
is what the test driver does. The meaning is Spark's: null makes everything null, and `&`, `|` are
three-valued. Only `sql(...)` cannot be computed without Spark.

Those made of several (`struct`, `coalesce` ...) are in `compound_expressions.py`, aggregates in
`aggregate_expressions.py`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple, NoReturn

from ottla.streams import ddl
from ottla.streams.casts import EPOCH, cast_to, moment_of
from ottla.streams.errors import TopologyError
from ottla.streams.plan import OBJECT
from ottla.streams.windows import Windowed


class Types(NamedTuple):
    """What the columns of a record are, where an expression stands. None: there is no such column."""

    key: str | None = None
    value: str | None = None
    left: str | None = None
    right: str | None = None
    windowed: bool = False


class Row(NamedTuple):
    """A record, where an expression is computed in Python."""

    key: Any = None
    value: Any = None
    timestamp_ms: int = 0
    left: Any = None
    right: Any = None
    aggregates: dict[int, Any] | None = None
    """The states of the aggregates among the leaves, by their identity."""


@dataclass(frozen=True, eq=False)
class Expression:
    """A column, a constant, or something made of them. Compared, added and so on, it makes a new one."""

    @property
    def sql(self) -> str:
        raise NotImplementedError

    def type_in(self, types: Types) -> str:
        """The type of the result; a TopologyError where the expression makes no sense."""
        raise NotImplementedError

    def compute(self, row: Row) -> Any:
        raise NotImplementedError

    @property
    def children(self) -> tuple[Expression, ...]:
        return ()

    @property
    def whole(self) -> bool:
        """Whether it is a leaf, although it is made of others: an aggregate."""
        return False

    def evaluate(
        self, key: Any, value: Any, timestamp_ms: int = 0, *, left: Any = None, right: Any = None
    ) -> Any:
        """The result for one record, in Python, with the meaning it has in Spark."""
        return self.compute(Row(key, value, timestamp_ms, left, right))

    def leaves(self) -> Iterator[Expression]:
        """Everything in it that is not made of something else, and the aggregates."""
        if self.whole or not self.children:
            yield self
        else:
            for child in self.children:
                yield from child.leaves()

    # --- what can be written with it ---

    def __getitem__(self, name: str | int) -> Expression:
        return Item(self, name)

    def __add__(self, other: Any) -> Expression:
        return Arithmetic("+", self, expression(other))

    def __radd__(self, other: Any) -> Expression:
        return Arithmetic("+", expression(other), self)

    def __sub__(self, other: Any) -> Expression:
        return Arithmetic("-", self, expression(other))

    def __rsub__(self, other: Any) -> Expression:
        return Arithmetic("-", expression(other), self)

    def __mul__(self, other: Any) -> Expression:
        return Arithmetic("*", self, expression(other))

    def __rmul__(self, other: Any) -> Expression:
        return Arithmetic("*", expression(other), self)

    def __truediv__(self, other: Any) -> Expression:
        return Arithmetic("/", self, expression(other))

    def __rtruediv__(self, other: Any) -> Expression:
        return Arithmetic("/", expression(other), self)

    def __mod__(self, other: Any) -> Expression:
        return Arithmetic("%", self, expression(other))

    def __rmod__(self, other: Any) -> Expression:
        return Arithmetic("%", expression(other), self)

    def __neg__(self) -> Expression:
        return Arithmetic("-", lit(0), self)

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return Comparison("=", self, expression(other))

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return Comparison("<>", self, expression(other))

    def __lt__(self, other: Any) -> Expression:
        return Comparison("<", self, expression(other))

    def __le__(self, other: Any) -> Expression:
        return Comparison("<=", self, expression(other))

    def __gt__(self, other: Any) -> Expression:
        return Comparison(">", self, expression(other))

    def __ge__(self, other: Any) -> Expression:
        return Comparison(">=", self, expression(other))

    def __and__(self, other: Any) -> Expression:
        return Logic("AND", self, expression(other))

    def __rand__(self, other: Any) -> Expression:
        return Logic("AND", expression(other), self)

    def __or__(self, other: Any) -> Expression:
        return Logic("OR", self, expression(other))

    def __ror__(self, other: Any) -> Expression:
        return Logic("OR", expression(other), self)

    def __invert__(self) -> Expression:
        return Not(self)

    __hash__ = object.__hash__

    def __bool__(self) -> NoReturn:
        raise TopologyError(
            "an expression is neither true nor false while the program is written: "
            "use & for and, | for or, ~ for not, or a lambda"
        )

    def __iter__(self) -> NoReturn:
        raise TopologyError("an expression cannot be looped over while the program is written: use a lambda")

    def __contains__(self, item: object) -> NoReturn:
        raise TopologyError(
            "`in` cannot be asked of an expression: use .contains(...), .is_in(...) or a lambda"
        )

    def lower(self) -> Expression:
        return Call("lower", (self,), "string", ("string",), str.lower)

    def upper(self) -> Expression:
        return Call("upper", (self,), "string", ("string",), str.upper)

    def strip(self) -> Expression:
        """Without the spaces at both ends."""
        return Call("trim", (self,), "string", ("string",), lambda text: text.strip(" "))

    def length(self) -> Expression:
        return Call("length", (self,), "int", ("string",), len)

    def contains(self, part: Any) -> Expression:
        return Call("contains", (self, expression(part)), "boolean", ("string", "string"), operator.contains)

    def startswith(self, part: Any) -> Expression:
        return Call("startswith", (self, expression(part)), "boolean", ("string", "string"), str.startswith)

    def endswith(self, part: Any) -> Expression:
        return Call("endswith", (self, expression(part)), "boolean", ("string", "string"), str.endswith)

    def replace(self, old: str, new: str) -> Expression:
        if not old:
            raise TopologyError("replace needs a text to look for that is not empty")
        return Call("replace", (self, lit(old), lit(new)), "string", ("string",) * 3, str.replace)

    def split(self, separator: str) -> Expression:
        """The parts between the separators (a text, not a pattern) as an array."""
        if not separator:
            raise TopologyError("split needs a separator that is not empty")
        return Split(self, separator)

    def cast(self, type_name: str) -> Expression:
        return Cast(self, ddl.type_of(type_name))

    def is_null(self) -> Expression:
        return IsNull(self)

    def is_not_null(self) -> Expression:
        return Not(IsNull(self))

    def is_in(self, *members: Any) -> Expression:
        if not members:
            raise TopologyError("is_in needs at least one member")
        found: Expression = self == members[0]
        for member in members[1:]:
            found = found | (self == member)
        return found


def expression(thing: Any) -> Expression:
    """An expression as it is, anything else as a constant."""
    return thing if isinstance(thing, Expression) else lit(thing)


# --- columns and constants ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Column(Expression):
    """The key, the value, the timestamp of the record, or the start or end of its window."""

    name: str

    @property
    def sql(self) -> str:
        return {"left": "left_value", "right": "right_value"}.get(self.name, self.name)

    def type_in(self, types: Types) -> str:
        if self.name == "timestamp":
            return "timestamp"
        if self.name.startswith("window."):
            if not types.windowed:
                raise TopologyError(f"{self.name.replace('.', '_')} is only there where keys are windowed")
            return "timestamp"
        of: str | None = getattr(types, self.name)
        if of is None:
            inside, outside = (
                ("key, left and right", "value") if types.left else ("key, value and timestamp", self.name)
            )
            raise TopologyError(f"there is no {outside!r} here: this expression may use {inside}")
        if of == OBJECT:
            raise TopologyError(
                f"the {self.name} is a Python object, which an expression cannot look into: say its type "
                "with "
                "returns= (or key_type=, value_type=) at the function that makes it, give the serde that "
                "reads it a "
                f"schema (json('user string, delay int')), or use a lambda here"
            )
        return of

    def compute(self, row: Row) -> Any:
        match self.name:
            case "key":
                return row.key.key if isinstance(row.key, Windowed) else row.key
            case "timestamp":
                return moment_of(row.timestamp_ms)
            case "window.start" | "window.end" if isinstance(row.key, Windowed):
                return moment_of(row.key.start_ms if self.name == "window.start" else row.key.end_ms)
            case "value" | "left" | "right":
                return getattr(row, self.name)
        raise TopologyError(f"{self.name} is only there where keys are windowed")


key: Final = Column("key")
"""The record's key; of a windowed one, the key within the window."""
value: Final = Column("value")
timestamp: Final = Column("timestamp")
window_start: Final = Column("window.start")
window_end: Final = Column("window.end")
left: Final = Column("left")
"""In a joiner: the value of the side on which `join` was called."""
right: Final = Column("right")
"""In a joiner: the value of the other side."""


@dataclass(frozen=True, eq=False)
class Literal(Expression):
    constant: Any

    @property
    def sql(self) -> str:
        constant = self.constant
        if constant is None:
            return "NULL"
        if isinstance(constant, bool):
            return "true" if constant else "false"
        if isinstance(constant, int):
            return str(constant) if -(1 << 31) <= constant < 1 << 31 else f"{constant}L"
        if isinstance(constant, float):
            return f"{constant!r}D" if constant - constant == 0 else f"double('{constant}')"
        if isinstance(constant, bytes):
            return f"X'{constant.hex()}'"
        if isinstance(constant, datetime):
            return f"timestamp_micros({(constant - EPOCH) // timedelta(microseconds=1)}L)"
        if isinstance(constant, Decimal):
            return f"{constant:f}BD"
        return text_literal(constant)

    def type_in(self, types: Types) -> str:
        match self.constant:
            case None:
                return "void"
            case bool():
                return "boolean"
            case int():
                return "int" if -(1 << 31) <= self.constant < 1 << 31 else "bigint"
            case float():
                return "double"
            case bytes():
                return "binary"
            case datetime():
                return "timestamp"
            case Decimal():
                _, digits, exponent = self.constant.as_tuple()
                scale = max(0, -int(exponent))
                return f"decimal({max(len(digits) + max(0, int(exponent)), scale)},{scale})"
        return "string"

    def compute(self, row: Row) -> Any:
        return self.constant


def lit(constant: Any) -> Expression:
    """A constant."""
    if isinstance(constant, datetime) and constant.tzinfo is None:
        raise TopologyError(
            f"the constant {constant!r} has no time zone: give it one, such as tzinfo=timezone.utc"
        )
    if isinstance(constant, int) and not -(1 << 63) <= constant < 1 << 63:
        raise TopologyError(f"the constant {constant} does not fit into 64 bits")
    if isinstance(constant, Decimal) and not constant.is_finite():
        raise TopologyError(f"the constant {constant} is not a number that a decimal can be")
    if constant is not None and not isinstance(constant, (bool, int, float, str, bytes, datetime, Decimal)):
        raise TopologyError(
            f"{constant!r} cannot be a constant of an expression: those are text, numbers, bytes and times"
        )
    return Literal(constant)


def text_literal(text: str) -> str:
    """A text as Spark's parser reads it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


@dataclass(frozen=True, eq=False)
class Sql(Expression):
    """SQL of the user's, over the columns that are there."""

    text: str
    returns: str

    @property
    def sql(self) -> str:
        return f"({self.text})"

    def type_in(self, types: Types) -> str:
        for name in ("key", "value", "left", "right"):
            column = Column(name).sql
            if getattr(types, name) == OBJECT and re.search(rf"\b{column}\b", self.text):
                raise TopologyError(
                    f"sql({self.text!r}) seems to use the {name}, which is a Python object here: say its "
                    "type with "
                    f"returns= (or key_type=, value_type=) at the function that makes it"
                )
        return self.returns

    def compute(self, row: Row) -> Any:
        raise TopologyError(
            f"sql({self.text!r}) can only be computed by Spark: the test driver cannot run it"
        )


def sql(text: str, *, returns: str) -> Expression:
    """Any SQL expression of Spark's, with the type of its result: `sql("upper(value)", returns="string")`."""
    return Sql(text, ddl.type_of(returns))


# --- made of others ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Item(Expression):
    """A field of a struct, an element of an array (counted from 0), a value of a map."""

    of: Expression
    name: str | int

    def __post_init__(self) -> None:
        if isinstance(self.name, bool) or not isinstance(self.name, (str, int)):
            raise TopologyError(f"[{self.name!r}]: the name of a field or the index of an element is wanted")
        if isinstance(self.name, int) and self.name < 0:
            raise TopologyError(
                f"[{self.name}]: elements of an array are counted from its beginning, from 0 on"
            )

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.of,)

    @property
    def sql(self) -> str:
        if isinstance(self.name, int):
            return f"get({self.of.sql}, {self.name})"
        return f"{self.of.sql}[{text_literal(self.name)}]"

    def type_in(self, types: Types) -> str:
        of = self.of.type_in(types)
        if isinstance(self.name, int):
            found = ddl.element(of)
            if found is None:
                raise TopologyError(f"[{self.name}] is asked of {of}, which is not an array")
            return found
        if (of_map := ddl.map_types(of)) is not None and of_map[0] == "string":
            return of_map[1]
        inside = ddl.fields(of)
        if inside is None:
            raise TopologyError(f"[{self.name!r}] is asked of {of}, which has no fields")
        if self.name not in inside:
            raise TopologyError(
                f"there is no field {self.name!r} in {of}: it has {', '.join(inside) or 'none'}"
            )
        return inside[self.name]

    def compute(self, row: Row) -> Any:
        of = self.of.compute(row)
        if of is None:
            return None
        if isinstance(self.name, int):
            return of[self.name] if self.name < len(of) else None
        return of.get(self.name) if isinstance(of, dict) else of[self.name]


@dataclass(frozen=True, eq=False)
class _Two(Expression):
    sign: str
    one: Expression
    two: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.one, self.two)

    @property
    def sql(self) -> str:
        return f"({self.one.sql} {self.sign} {self.two.sql})"


def _remainder(one: Any, two: Any) -> Any:
    rest = abs(one) % abs(two)  # the sign is the dividend's, as in Java
    return -rest if one < 0 else rest


_ARITHMETIC: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": _remainder,
}


@dataclass(frozen=True, eq=False)
class Arithmetic(_Two):
    def type_in(self, types: Types) -> str:
        one, two = self.one.type_in(types), self.two.type_in(types)
        if self.sign == "+" and "string" in (one, two):
            raise TopologyError(f"texts are joined by concat(...), not by +: {self.sql}")
        if not (ddl.numeric(one) and ddl.numeric(two)):
            raise TopologyError(f"{self.sign!r} wants two numbers, not {one} and {two}: {self.sql}")
        if ddl.decimal(one) or ddl.decimal(two):
            raise TopologyError(
                f"each operation on decimals has digits of its own in Spark: say them, sql({self.sql!r}, "
                f"returns='decimal(...)'), or .cast('double') first"
            )
        if self.sign == "/":
            return "double"
        return ddl.wider(one, two)

    def compute(self, row: Row) -> Any:
        one, two = self.one.compute(row), self.two.compute(row)
        return None if one is None or two is None else _ARITHMETIC[self.sign](one, two)


_COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, eq=False)
class Comparison(_Two):
    def __post_init__(self) -> None:
        for side in (self.one, self.two):
            if isinstance(side, Literal) and side.constant is None:
                raise TopologyError("nothing is equal to null: use .is_null() or .is_not_null()")

    def type_in(self, types: Types) -> str:
        one, two = self.one.type_in(types), self.two.type_in(types)
        if one != two and not (ddl.numeric(one) and ddl.numeric(two)):
            raise TopologyError(f"{one} cannot be compared with {two}: {self.sql}")
        return "boolean"

    def compute(self, row: Row) -> Any:
        one, two = self.one.compute(row), self.two.compute(row)
        return None if one is None or two is None else _COMPARISONS[self.sign](one, two)


@dataclass(frozen=True, eq=False)
class Logic(_Two):
    def type_in(self, types: Types) -> str:
        for side in (self.one, self.two):
            if (of := side.type_in(types)) != "boolean":
                raise TopologyError(
                    f"{self.sign} wants two conditions; {side.sql} is of type {of} (mind the brackets)"
                )
        return "boolean"

    def compute(self, row: Row) -> Any:
        decides = self.sign == "OR"
        one, two = self.one.compute(row), self.two.compute(row)
        if one is decides or two is decides:
            return decides
        return None if one is None or two is None else not decides


@dataclass(frozen=True, eq=False)
class Not(Expression):
    of: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.of,)

    @property
    def sql(self) -> str:
        return f"(NOT {self.of.sql})"

    def type_in(self, types: Types) -> str:
        if (of := self.of.type_in(types)) != "boolean":
            raise TopologyError(f"~ wants a condition; {self.of.sql} is of type {of}")
        return "boolean"

    def compute(self, row: Row) -> Any:
        of = self.of.compute(row)
        return None if of is None else not of


@dataclass(frozen=True, eq=False)
class IsNull(Expression):
    of: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.of,)

    @property
    def sql(self) -> str:
        return f"({self.of.sql} IS NULL)"

    def type_in(self, types: Types) -> str:
        self.of.type_in(types)
        return "boolean"

    def compute(self, row: Row) -> Any:
        return self.of.compute(row) is None


@dataclass(frozen=True, eq=False)
class Call(Expression):
    """A function of Spark's that is null when an argument is, with its twin in Python."""

    name: str
    arguments: tuple[Expression, ...]
    returns: str
    wants: tuple[str, ...]
    twin: Callable[..., Any]

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.arguments

    @property
    def sql(self) -> str:
        return f"{self.name}({', '.join(argument.sql for argument in self.arguments)})"

    def type_in(self, types: Types) -> str:
        for argument, wanted in zip(self.arguments, self.wants, strict=True):
            if (of := argument.type_in(types)) not in (wanted, "void"):
                raise TopologyError(f"{self.name} wants a {wanted}, not {of}: {self.sql}")
        return self.returns

    def compute(self, row: Row) -> Any:
        arguments = [argument.compute(row) for argument in self.arguments]
        return None if any(argument is None for argument in arguments) else self.twin(*arguments)


@dataclass(frozen=True, eq=False)
class Split(Expression):
    of: Expression
    separator: str

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.of,)

    @property
    def sql(self) -> str:
        # Spark splits at a regular expression of Java's: \Q...\E takes the separator as it is
        quoted = "\\Q" + self.separator.replace("\\E", "\\E\\\\E\\Q") + "\\E"
        return f"split({self.of.sql}, {text_literal(quoted)})"

    def type_in(self, types: Types) -> str:
        if (of := self.of.type_in(types)) != "string":
            raise TopologyError(f"split wants a string, not {of}: {self.sql}")
        return "array<string>"

    def compute(self, row: Row) -> Any:
        of = self.of.compute(row)
        return None if of is None else of.split(self.separator)


@dataclass(frozen=True, eq=False)
class Cast(Expression):
    of: Expression
    type_name: str

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.of,)

    @property
    def sql(self) -> str:
        return f"CAST({self.of.sql} AS {self.type_name})"

    def type_in(self, types: Types) -> str:
        self.of.type_in(types)
        return self.type_name

    def compute(self, row: Row) -> Any:
        of = self.of.compute(row)
        return None if of is None else cast_to(of, self.type_name)
