"""Expressions made of several others: texts joined, the first that is not null, structs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ottla.streams import ddl
from ottla.streams.errors import TopologyError
from ottla.streams.expressions import Call, Expression, Row, Types, expression, text_literal


def concat(*parts: Any) -> Expression:
    """Texts, one behind the other."""
    return Call(
        "concat",
        tuple(map(expression, parts)),
        "string",
        ("string",) * len(parts),
        lambda *texts: "".join(texts),
    )


@dataclass(frozen=True, eq=False)
class Coalesce(Expression):
    choices: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.choices

    @property
    def sql(self) -> str:
        return f"coalesce({', '.join(choice.sql for choice in self.choices)})"

    def type_in(self, types: Types) -> str:
        found = {choice.type_in(types) for choice in self.choices} - {"void"}
        if len(found) == 1:
            return found.pop()
        if found and all(ddl.numeric(name) and not ddl.decimal(name) for name in found):
            names = sorted(found)
            widest = names[0]
            for name in names[1:]:
                widest = ddl.wider(widest, name)
            return widest
        raise TopologyError(
            f"coalesce wants choices of one type, not {', '.join(sorted(found)) or 'only nulls'}"
        )

    def compute(self, row: Row) -> Any:
        for choice in self.choices:
            if (found := choice.compute(row)) is not None:
                return found
        return None


def coalesce(*choices: Any) -> Expression:
    """The first of them that is not null."""
    return Coalesce(tuple(map(expression, choices)))


@dataclass(frozen=True, eq=False)
class Struct(Expression):
    names: tuple[str, ...]
    parts: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.parts

    @property
    def sql(self) -> str:
        pairs = (
            f"{text_literal(name)}, {part.sql}" for name, part in zip(self.names, self.parts, strict=True)
        )
        return f"named_struct({', '.join(pairs)})"

    def type_in(self, types: Types) -> str:
        inside = ",".join(f"`{n}`:{p.type_in(types)}" for n, p in zip(self.names, self.parts, strict=True))
        return ddl.type_of(f"struct<{inside}>")

    def compute(self, row: Row) -> Any:
        return {name: part.compute(row) for name, part in zip(self.names, self.parts, strict=True)}


def struct(**parts: Any) -> Expression:
    """Several values as one: `struct(airport=key, late=value["delay"] > 15)`."""
    if not parts:
        raise TopologyError("struct needs at least one field: struct(name=expression)")
    return Struct(tuple(parts), tuple(map(expression, parts.values())))
