"""Types of keys and values by Spark's names of them, as far as the plan has to understand them.

`type_of("a int, b array<string>")` is "struct<a:int,b:array<string>>": one spelling per type, so that two
types are equal when their texts are. Parts of a type (fields of a struct, the element of an array) are found
by `fields` and `element`, and `numeric` says what can be counted with.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ottla.streams.errors import TopologyError
from ottla.streams.plan import OBJECT

_NAMES: Final = {
    **{
        name: name
        for name in ("string", "boolean", "tinyint", "smallint", "int", "bigint", "float", "double")
    },
    **{name: name for name in ("binary", "date", "timestamp", "timestamp_ntz", "variant")},
    "integer": "int",
    "long": "bigint",
    "short": "smallint",
    "byte": "tinyint",
    "real": "float",
    "bytes": "binary",
    "bool": "boolean",
    "str": "string",
    "timestamp_ltz": "timestamp",
    "decimal": "decimal(10,0)",
    "numeric": "decimal(10,0)",
    "object": OBJECT,
}
_INTEGERS: Final = ("tinyint", "smallint", "int", "bigint")
_NUMBERS: Final = (*_INTEGERS, "float", "double")
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<word>[A-Za-z_][A-Za-z0-9_]*)|`(?P<quoted>(?:[^`]|``)+)`|(?P<mark>[<>:,()]|\d+))"
)
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_DEPTH_MAX: Final = 50
"""Deeper than any schema that somebody means; the parser is recursive."""


def type_of(text: str) -> str:
    """The one spelling of a type, or of a list of fields (a struct), given in Spark's DDL."""
    if not isinstance(text, str):
        raise TopologyError(
            f"a type is given as text, such as 'bigint' or 'user string, delay int', not as {text!r}"
        )
    return _type_of(text)


@lru_cache(maxsize=512)
def _type_of(text: str) -> str:
    parser = _Parser(text)
    if len(parser.tokens) > 1 and parser.tokens[1][1] not in ("<", "("):
        parsed = parser.struct_fields(None)
    else:
        parsed = parser.type(0)
    parser.end()
    return parsed


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str]] = []
        self.at = 0
        position = 0
        while position < len(text.rstrip()):
            match = _TOKEN.match(text, position)
            if match is None:
                raise self.problem(f"{text[position:].strip()[:20]!r} was not expected")
            kind = str(match.lastgroup)
            self.tokens.append((kind, match.group(kind).replace("``", "`")))
            position = match.end()
        if not self.tokens:
            raise self.problem("it is empty")

    def problem(self, why: str) -> TopologyError:
        return TopologyError(f"{self.text!r} is not a type that Spark's DDL has: {why}")

    def take(self, wanted: str | None = None) -> tuple[str, str]:
        if self.at == len(self.tokens):
            raise self.problem(f"it ends where {wanted or 'a name'!r} was expected")
        token = self.tokens[self.at]
        if wanted is not None and token != ("mark", wanted):
            raise self.problem(f"{token[1]!r} stands where {wanted!r} was expected")
        self.at += 1
        return token

    def next_is(self, mark: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at] == ("mark", mark)

    def end(self) -> None:
        if self.at != len(self.tokens):
            raise self.problem(f"{self.tokens[self.at][1]!r} was not expected")

    def type(self, depth: int) -> str:
        if depth > _DEPTH_MAX:
            raise self.problem(f"it is nested more than {_DEPTH_MAX} deep")
        kind, word = self.take()
        name = word.lower()
        if kind != "word":
            raise self.problem(f"{word!r} stands where the name of a type was expected")
        if name == "array":
            self.take("<")
            inner = self.type(depth + 1)
            self.take(">")
            return f"array<{inner}>"
        if name == "map":
            self.take("<")
            of_key = self.type(depth + 1)
            self.take(",")
            of_value = self.type(depth + 1)
            self.take(">")
            return f"map<{of_key},{of_value}>"
        if name == "struct":
            self.take("<")
            inner = self.struct_fields(">", depth)
            self.take(">")
            return inner
        if name in ("decimal", "dec", "numeric") and self.next_is("("):
            return self.decimal()
        if name not in _NAMES:
            raise self.problem(f"there is no type {word!r}")
        if name == "object" and depth:
            raise self.problem("a Python object cannot be inside of another type")
        return _NAMES[name]

    def decimal(self) -> str:
        self.take("(")
        precision, scale = self.take()[1], "0"
        if self.next_is(","):
            self.take(",")
            scale = self.take()[1]
        self.take(")")
        if not (
            precision.isdigit()
            and scale.isdigit()
            and 1 <= int(precision) <= 38
            and int(scale) <= int(precision)
        ):
            raise self.problem("a decimal has 1 to 38 digits, and at most as many behind the point")
        return f"decimal({int(precision)},{int(scale)})"

    def struct_fields(self, closing: str | None, depth: int = 0) -> str:
        parts: list[str] = []
        names: set[str] = set()
        while not (closing is not None and not parts and self.next_is(closing)):
            kind, name = self.take()
            if kind == "mark":
                raise self.problem(f"{name!r} stands where the name of a field was expected")
            if self.next_is(":"):
                self.take(":")
            if name.lower() in names:
                raise self.problem(f"the field {name!r} is there twice")
            names.add(name.lower())
            parts.append(f"{_written(name)}:{self.type(depth + 1)}")
            while self.at < len(self.tokens) and self.tokens[self.at][1].upper() in ("NOT", "NULL"):
                self.take()  # whether a field may be null is no part of the type: Python cannot promise it
            if not self.next_is(","):
                break
            self.take(",")
        return f"struct<{','.join(parts)}>"


def _written(name: str) -> str:
    return name if _PLAIN_NAME.match(name) else "`" + name.replace("`", "``") + "`"


def _split(inner: str) -> list[str]:
    """The parts of "a:int,b:map<c,d>" between the commas of the outermost level."""
    parts, depth, begin, quoted = [], 0, 0, False
    for position, character in enumerate(inner):
        if character == "`":
            quoted = not quoted
        elif quoted:
            continue
        elif character in "<(":
            depth += 1
        elif character in ">)":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(inner[begin:position])
            begin = position + 1
    return [*parts, inner[begin:]] if inner else []


@lru_cache(maxsize=512)
def fields(type_name: str) -> dict[str, str] | None:
    """The fields of a struct with their types; None for any other type. Not to be changed by the caller."""
    if not type_name.startswith("struct<"):
        return None
    found = {}
    for part in _split(type_name[7:-1]):
        if part.startswith("`"):
            end = re.match(r"`((?:[^`]|``)+)`:", part)
            assert end is not None
            found[end.group(1).replace("``", "`")] = part[end.end() :]
        else:
            name, _, of = part.partition(":")
            found[name] = of
    return found


def element(type_name: str) -> str | None:
    """The type of an array's elements; None for any other type."""
    return type_name[6:-1] if type_name.startswith("array<") else None


def map_types(type_name: str) -> tuple[str, str] | None:
    """The types of a map's keys and values; None for any other type."""
    if not type_name.startswith("map<"):
        return None
    of_key, of_value = _split(type_name[4:-1])
    return of_key, of_value


def numeric(type_name: str) -> bool:
    return type_name in _NUMBERS or type_name.startswith("decimal(")


def integral(type_name: str) -> bool:
    return type_name in _INTEGERS


def decimal(type_name: str) -> tuple[int, int] | None:
    """The digits of a decimal, in all and behind the point; None for any other type."""
    if not type_name.startswith("decimal("):
        return None
    precision, _, scale = type_name[8:-1].partition(",")
    return int(precision), int(scale)


def wider(left: str, right: str) -> str:
    """The type of a sum of two numbers, decimals aside (each operation gives those digits of its own)."""
    if left == right:
        return left
    found = max(left, right, key=_NUMBERS.index)
    return "double" if found == "float" else found  # an integer and a float: a float would lose digits
