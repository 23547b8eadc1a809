"""Random messages, made from the same schema text that the classes are generated from.

A field that a version lacks keeps its default; all others get values that like the edges: nulls, empty and
long strings, extreme integers. The random source is given, so a seed reproduces a message.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "tools"))

from message_schema import Field, Message, SchemaFile, Struct, read_schema_directory  # noqa: E402

SCHEMA_FILES: list[SchemaFile] = read_schema_directory(REPOSITORY / "schema")

INTEGER_RANGES = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
}

Narrow = Callable[[tuple[str, ...], Field, random.Random], Any]


@cache
def class_of(stem: str, class_name: str) -> Any:
    """The generated class."""
    return getattr(import_module(f"ottla.wire.messages.{stem}"), class_name)


def make_message(
    schema: SchemaFile, message: Message, version: int, rng: random.Random, narrow: Narrow | None = None
) -> Any:
    """A random message of one version.

    `narrow` may return a value for the field at a path, or NotImplemented to leave the choice here.
    """
    return _make_struct(schema.path.stem, message.root, version, rng, narrow, ())


def _make_struct(
    stem: str, struct: Struct, version: int, rng: random.Random, narrow: Narrow | None, path: tuple[str, ...]
) -> Any:
    made = class_of(stem, struct.class_name)()
    for field in struct.fields:
        if version not in field.versions or (field.tag is not None and rng.random() < 0.4):
            continue
        field_path = (*path, field.attribute)
        if version in field.nullable and rng.random() < 0.2:
            value: Any = None
        elif field.array:
            count = rng.choice((0, 1, 1, 2, 3)) if field.struct is not None else rng.choice((0, 1, 2, 5, 130))
            value = [_make_item(stem, field, version, rng, narrow, field_path) for _ in range(count)]
        else:
            value = _make_item(stem, field, version, rng, narrow, field_path)
        setattr(made, field.attribute, value)
    return made


def _make_item(
    stem: str, field: Field, version: int, rng: random.Random, narrow: Narrow | None, path: tuple[str, ...]
) -> Any:
    if field.struct is not None:
        return _make_struct(stem, field.struct, version, rng, narrow, path)
    if narrow is not None:
        value = narrow(path, field, rng)
        if value is not NotImplemented:
            return value
    return make_scalar(field.type, rng)


def make_scalar(type_name: str, rng: random.Random) -> Any:
    """A random value of a scalar type."""
    if type_name in INTEGER_RANGES:
        low, high = INTEGER_RANGES[type_name]
        return rng.choice((low, high, 0, 1, max(low, -1), rng.randint(low, high), rng.randint(0, 100)))
    if type_name == "bool":
        return rng.random() < 0.5
    if type_name == "float64":
        return rng.choice((0.0, -1.5, rng.uniform(-1e300, 1e300)))
    if type_name == "uuid":
        return rng.choice((bytes(16), rng.randbytes(16)))
    if type_name == "string":
        return rng.choice(("", "a", "orders", "z" * 126, "z" * 127, "ž€😀" * rng.randint(0, 50)))
    return rng.randbytes(rng.choice((0, 1, 20, 126, 127, 128, 300)))
