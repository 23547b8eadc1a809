"""Serdes as SQL: bytes of a topic to columns and back, inside the JVM.

What Spark has functions for is done by them; `read` and `write` return None for the rest, which is then
done in Python by the serde itself, in the same pass as the functions of the program. Both sides write the
same bytes.
"""

from __future__ import annotations

from typing import Final

from ottla.streams import ddl
from ottla.streams.expressions import text_literal
from ottla.streams.serdes import (
    BytesSerde,
    JsonSerde,
    NumberSerde,
    ObjectSerde,
    Serde,
    StringSerde,
    WindowedSerde,
)

_SIZES: Final = {"short": (2, "smallint"), "integer": (4, "int"), "long": (8, "bigint")}
_CORRUPT: Final = "_ottla_corrupt"
_ORIGIN: Final = "concat('topic ', topic, ', partition ', partition, ', offset ', offset)"


def read(serde: Serde, column: str, name: str) -> str | None:
    """SQL of the value that these bytes are; for windowed keys, that of the key within."""
    match serde:
        case StringSerde():
            # A cast takes the bytes as they are; like Java's decoder, broken ones become U+FFFD.
            return f"make_valid_utf8(cast({column} as string))"
        case BytesSerde() | ObjectSerde():
            return column
        case NumberSerde(format_name="short" | "integer" | "long" as format_name):
            size, type_name = _SIZES[format_name]
            # Sign-extended to 16 digits, which conv reads as a signed number when asked for base -10.
            sign = f"if(substr(hex({column}), 1, 1) >= '8', 'F', '0')"
            digits = f"lpad(hex({column}), 16, {sign})"
            problem = text_literal(
                f"{name} cannot be read: the serde {format_name!r} reads {size} bytes, not "
            )
            return (
                f"case when {column} is null then null when length({column}) <> {size} then "
                f"raise_error(concat({problem}, length({column}), ' of ', {_ORIGIN})) "
                f"else cast(conv({digits}, 16, -10) as {type_name}) end"
            )
        case JsonSerde(schema=str(schema)) if ddl.fields(schema) is not None:
            return _read_json(schema, column, name)
        case WindowedSerde():
            return read(serde.inner, f"substr({column}, 1, length({column}) - {serde_tail(serde)})", name)
    return None


def serde_tail(serde: WindowedSerde) -> int:
    """The bytes of time behind a windowed key."""
    return 16 if serde.size_ms is None else 8


def read_window(serde: WindowedSerde, column: str) -> str:
    """SQL of the window of a windowed key."""
    start = f"cast(conv(hex(substr({column}, -8)), 16, -10) as bigint)"
    if serde.size_ms is None:
        end = f"cast(conv(hex(substr({column}, -16, 8)), 16, -10) as bigint)"
    else:
        end = f"{start} + {serde.size_ms}"
    return f"named_struct('start', timestamp_millis({start}), 'end', timestamp_millis({end}))"


def _read_json(schema: str, column: str, name: str) -> str:
    """A field that is absent or of another type is null; what is no JSON at all is an error with its
    offset.
    """
    fields = ddl.fields(schema) or {}
    with_corrupt = f"{schema[:-1]},{_CORRUPT}:string>"
    text = f"cast({column} as string)"
    parsed = (
        f"from_json({text}, {text_literal(with_corrupt)}, "
        f"map('mode', 'PERMISSIVE', 'columnNameOfCorruptRecord', '{_CORRUPT}'))"
    )
    names = ", ".join(f"{text_literal(field)}, j.`{field.replace('`', '``')}`" for field in fields)
    message = text_literal(f"{name} cannot be read: the serde 'json' cannot read ")
    # transform over an array of one: the only way in SQL to name a parsed value without parsing it twice
    return (
        f"transform(array({parsed}), j -> case when {column} is null then null "
        f"when j.{_CORRUPT} is not null and try_parse_json({text}) is null then "
        f"raise_error(concat({message}, left({text}, 60), ' of ', {_ORIGIN})) "
        f"else cast(named_struct({names}) as {schema}) end)[0]"
    )


def write(serde: Serde, column: str, type_name: str, *, windowed: bool) -> str | None:
    """SQL of the bytes of a column of this type."""
    if isinstance(serde, WindowedSerde):
        if not windowed:
            return None
        inner = write(serde.inner, column, type_name, windowed=False)
        end = "" if serde.size_ms is not None else f"{_big_endian('unix_millis(window.end)', 8)}, "
        return (
            None if inner is None else f"concat({inner}, {end}{_big_endian('unix_millis(window.start)', 8)})"
        )
    if windowed:
        return None
    match serde:
        case StringSerde() if type_name == "string":
            return f"cast({column} as binary)"
        case BytesSerde() if type_name == "binary":
            return column
        case ObjectSerde() if type_name == "object":
            return column
        case NumberSerde(format_name="short" | "integer" | "long" as format_name) if ddl.integral(type_name):
            return _big_endian(column, _SIZES[format_name][0])
        case JsonSerde() if type_name.startswith(("struct<", "array<", "map<")):
            return f"cast(to_json({column}, map('ignoreNullFields', 'false')) as binary)"
    return None


def _big_endian(number: str, size: int) -> str:
    """hex() of a negative number has 16 digits, of others as many as they need."""
    return f"unhex(right(lpad(hex(cast({number} as bigint)), 16, '0'), {2 * size}))"
