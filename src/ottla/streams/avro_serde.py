"""Avro values with the schema in the program: the bytes are Avro's binary encoding and nothing else.

The type in Spark is that of the schema, so that expressions can look into the values. Spark reads and
writes them by its own functions where its distribution has them (see `ottla.pipelines.values`); this is the
Python side.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from ottla.streams.errors import SerdeError, TopologyError
from ottla.streams.serdes import Serde

_PRIMITIVES: Final = {
    "null": "void",
    "boolean": "boolean",
    "int": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "bytes": "binary",
    "string": "string",
}
_LOGICAL: Final = {
    "date": "date",
    "timestamp-millis": "timestamp",
    "timestamp-micros": "timestamp",
    "local-timestamp-millis": "timestamp_ntz",
    "local-timestamp-micros": "timestamp_ntz",
}


@lru_cache(maxsize=64)
def _parsed(schema: str) -> Any:
    try:
        from fastavro import parse_schema
        from fastavro.schema import SchemaParseException
    except ImportError as error:
        raise TopologyError("the serde avro(...) needs fastavro: install ottla[spark]") from error
    try:
        return parse_schema(json.loads(schema))
    except (ValueError, SchemaParseException, KeyError, TypeError) as error:
        raise TopologyError(f"this is not a schema of Avro: {error}") from error


@dataclass(frozen=True)
class AvroSerde(Serde):
    schema: str
    """The schema as JSON text."""

    name = "avro"

    @property
    def type(self) -> str:
        return _type_of(json.loads(self.schema), {})

    def to_bytes(self, thing: Any) -> bytes:
        from fastavro import schemaless_writer

        out = io.BytesIO()
        try:
            schemaless_writer(out, _parsed(self.schema), thing)
        except Exception as error:  # fastavro raises what the schema's part at hand raises
            raise SerdeError(
                f"the serde 'avro' cannot write {thing!r}: {type(error).__name__}: {error}"
            ) from error
        return out.getvalue()

    def from_bytes(self, data: bytes) -> Any:
        from fastavro import schemaless_reader

        stream = io.BytesIO(data)
        try:
            thing = schemaless_reader(stream, _parsed(self.schema), None)
        except Exception as error:
            raise SerdeError(
                f"the serde 'avro' cannot read these {len(data)} bytes: {type(error).__name__}: {error}"
            ) from error
        if stream.tell() != len(data):
            raise SerdeError(f"the serde 'avro' found {len(data) - stream.tell()} bytes behind the value")
        return thing


def _type_of(schema: Any, named: dict[str, str]) -> str:
    """The type that Spark's from_avro gives a schema."""
    if isinstance(schema, list):
        others = [part for part in schema if part != "null"]
        if len(others) == 1:
            return _type_of(others[0], named)
        raise TopologyError("avro: of unions, only those of null and one type have a type in Spark here")
    if isinstance(schema, str):
        found = _PRIMITIVES.get(schema) or named.get(schema)
        if found is None:
            raise TopologyError(f"avro: there is no type {schema!r} (or it contains itself)")
        return found
    kind = schema["type"]
    if isinstance(kind, (dict, list)):
        return _type_of(kind, named)
    if schema.get("logicalType") == "decimal":
        return f"decimal({schema['precision']},{schema.get('scale', 0)})"
    if schema.get("logicalType") in _LOGICAL:
        return _LOGICAL[schema["logicalType"]]
    if kind == "array":
        return f"array<{_type_of(schema['items'], named)}>"
    if kind == "map":
        return f"map<string,{_type_of(schema['values'], named)}>"
    if kind in ("record", "error"):
        from ottla.streams.ddl import type_of

        inside = ",".join(f"`{part['name']}`:{_type_of(part['type'], named)}" for part in schema["fields"])
        found = type_of(f"struct<{inside}>")
    elif kind in ("enum", "fixed"):
        found = "string" if kind == "enum" else "binary"
    else:
        return _type_of(kind, named)
    named[schema["name"]] = found
    return found


def avro(schema: str | dict[str, Any]) -> Serde:
    """Avro with this schema (JSON text, or the dict that it is)."""
    text = schema if isinstance(schema, str) else json.dumps(schema)
    _parsed(text)
    serde = AvroSerde(text)
    assert serde.type  # a schema without a type in Spark is refused here, not in the middle of a plan
    return serde
