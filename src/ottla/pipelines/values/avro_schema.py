"""Avro schemas, checked and translated: what columns a schema becomes in Arrow and in Spark.

Pure: no Spark, and of fastavro only its parser of schemas. The types are those that Spark's own Avro
functions choose (records are structs, enums strings, `["null", T]` a nullable T, `["int", "long"]` a bigint,
any other union a struct with `member0`, `member1`, ... of which one is set).

Two kinds of schema are refused, because bytes from outside could do harm through them: recursive ones (a
record within itself needs as much stack as the bytes ask for, and Spark has no type for it), and arrays whose
items take no bytes (eight bytes would claim any number of them).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
from fastavro.schema import SchemaParseException, parse_schema

Json = Any  # a schema as json.loads gives it: a name, a union (list), or a dict

_PRIMITIVES: Final[dict[str, pa.DataType]] = {
    "null": pa.string(),  # a column that is always null needs some type
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
}
# Arrow takes the plain number for these, so no Python object is made for a point in time; what differs from
# Spark's type (milliseconds, no zone) is cast afterwards, a column at once.
_LOGICAL_NUMBERS: Final[dict[tuple[str, str], tuple[pa.DataType, pa.DataType]]] = {
    ("int", "date"): (pa.date32(), pa.date32()),
    ("long", "timestamp-millis"): (pa.timestamp("ms", "UTC"), pa.timestamp("us", "UTC")),
    ("long", "timestamp-micros"): (pa.timestamp("us", "UTC"), pa.timestamp("us", "UTC")),
    ("long", "local-timestamp-millis"): (pa.timestamp("ms"), pa.timestamp("us")),
    ("long", "local-timestamp-micros"): (pa.timestamp("us"), pa.timestamp("us")),
}
_DECIMAL_DIGITS_MAX: Final = 38  # Spark's, and that of Arrow's decimal128
_RECORDS: Final = ("record", "error")

_DDL: Final[dict[pa.DataType, str]] = {
    pa.string(): "STRING",
    pa.binary(): "BINARY",
    pa.bool_(): "BOOLEAN",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.date32(): "DATE",
    pa.timestamp("us", "UTC"): "TIMESTAMP",
    pa.timestamp("us"): "TIMESTAMP_NTZ",
}


class AvroSchemaError(ValueError):
    """The schema is not one of Avro's, or one that cannot be read safely or into Spark's types."""


@dataclass(frozen=True)
class Shape:
    """What a schema's values become: `read` is what Arrow builds of Python values, `column` is handed on.

    `shape` and `unshape` bring values of unions into the form of their struct and back; they are None where
    the schema has no such union, which is nearly always: then values are taken as fastavro gives them.
    """

    read: pa.DataType
    column: pa.DataType
    shape: Callable[[Any], Any] | None = None
    unshape: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class AvroSchema:
    """A checked schema: `bare` decodes (without logical types besides decimals), `full` encodes.

    `strict` is `bare` for values that were written with it: with the lists of `StrictList`.
    """

    text: str
    bare: Json
    strict: Json
    full: Json
    named: Mapping[str, Json]
    shape: Shape


def parsed(schema: str | Json) -> AvroSchema:
    """A schema given as JSON text, as the name of a primitive type, or as Python dicts and lists."""
    if isinstance(schema, str) and schema.strip() not in _PRIMITIVES:
        try:
            schema = json.loads(schema)
        except ValueError as error:
            raise AvroSchemaError(f"this Avro schema is not JSON: {error}") from None
    elif isinstance(schema, str):
        schema = schema.strip()
    named: dict[str, Json] = {}
    try:
        full = parse_schema(schema, named_schemas=named, _write_hint=False)
        bare_named: dict[str, Json] = {}
        bare = parse_schema(_without_logical_types(schema), named_schemas=bare_named, _write_hint=False)
    except (SchemaParseException, KeyError, TypeError, AttributeError, RecursionError, ValueError) as error:
        raise AvroSchemaError(f"not an Avro schema: {type(error).__name__}: {error}") from None
    shape = _Translator(named, with_names=False).shape_of(full, ())
    if shape.shape is not None:
        shape = _Translator(named, with_names=True).shape_of(full, ())
    return AvroSchema(json.dumps(schema), bare, _strict(bare, bare_named), full, named, shape)


def ddl(schema: str | Json) -> str:
    """The Spark type of a schema's values, as Spark's DDL writes it: `STRUCT<user: STRING, delay: INT>`."""
    return ddl_of(parsed(schema).shape.column)


def ddl_of(kind: pa.DataType) -> str:
    if pa.types.is_struct(kind):
        fields = ", ".join(f"{_quoted(field.name)}: {ddl_of(field.type)}" for field in kind)
        return f"STRUCT<{fields}>"
    if pa.types.is_map(kind):
        return f"MAP<{ddl_of(kind.key_type)}, {ddl_of(kind.item_type)}>"
    if pa.types.is_list(kind):
        return f"ARRAY<{ddl_of(kind.value_type)}>"
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    return _DDL[kind]


def check_times(writer: AvroSchema, reader: AvroSchema) -> None:
    """Refuse a writer whose points in time the reader would misread.

    Avro resolves by the underlying number and says nothing about its unit: milliseconds read as microseconds
    would be wrong by a factor of a thousand, without an error anywhere.
    """
    _check_times(writer.full, reader.full, writer.named, reader.named, "value")


def _check_times(
    writer: Json, reader: Json, writers: Mapping[str, Json], readers: Mapping[str, Json], path: str
) -> None:
    if isinstance(writer, str):
        writer = writers.get(writer, writer)
    if isinstance(reader, str):
        reader = readers.get(reader, reader)
    if isinstance(writer, list) or isinstance(reader, list):
        for one in writer if isinstance(writer, list) else [writer]:
            for other in reader if isinstance(reader, list) else [reader]:
                if _kind(one, writers) == _kind(other, readers):
                    _check_times(one, other, writers, readers, path)
        return
    kinds = _kind(writer, writers), _kind(reader, readers)
    if kinds[0] in ("int", "long") and kinds[1] in ("int", "long"):
        theirs, ours = _logical_of(writer), _logical_of(reader)
        if theirs != ours and "date" not in (theirs, ours) and (theirs or ours):
            raise AvroSchemaError(
                f"{path} is written as {theirs or kinds[0]} and read as {ours or kinds[1]}: "
                "Avro would take the number as it is, in the wrong unit"
            )
    elif kinds[0] != kinds[1]:
        return  # fastavro says so for each record, or promotes it
    elif kinds[0] == "array":
        _check_times(writer["items"], reader["items"], writers, readers, f"{path}[]")
    elif kinds[0] == "map":
        _check_times(writer["values"], reader["values"], writers, readers, f"{path}[]")
    elif kinds[0] in _RECORDS:
        theirs_by_name = {field["name"]: field["type"] for field in writer["fields"]}
        for field in reader["fields"]:
            for name in (field["name"], *field.get("aliases", ())):
                if name in theirs_by_name:
                    _check_times(
                        theirs_by_name[name], field["type"], writers, readers, f"{path}.{field['name']}"
                    )


def _kind(schema: Json, named: Mapping[str, Json]) -> str:
    if isinstance(schema, str):
        schema = named.get(schema, schema)
    if isinstance(schema, list):
        return "union"
    return str(schema["type"] if isinstance(schema, dict) else schema)


def _logical_of(schema: Json) -> str | None:
    if not isinstance(schema, dict):
        return None
    logical = schema.get("logicalType")
    return logical if (schema["type"], logical) in _LOGICAL_NUMBERS else None


class StrictList(list[Any]):
    """A union's members, or an enum's symbols, that cannot be counted from the end.

    The bytes say the place in the list, and fastavro takes a negative one as Python does: -1 is the last. Its
    compiled reader adds the length to such a number before it asks for the item; with this length the sum
    lies behind every list.
    """

    def __len__(self) -> int:
        return sys.maxsize

    def __getitem__(self, place: Any) -> Any:
        if place < 0:
            raise IndexError("list index out of range")
        return super().__getitem__(place)


def _strict(schema: Json, named: Mapping[str, Json]) -> Json:
    """With fastavro's marks of a parsed schema: or it would parse it again for each value, and copy lists."""
    if isinstance(schema, list):
        return [_strict(branch, named) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    names = {name: _with_strict_lists(each) for name, each in named.items()}
    return {**_with_strict_lists(schema), "__fastavro_parsed": True, "__named_schemas": names}


def _with_strict_lists(schema: Json) -> Json:
    if isinstance(schema, list):
        return StrictList(_with_strict_lists(branch) for branch in schema)
    if not isinstance(schema, dict):
        return schema
    found = dict(schema)
    for key in ("type", "items", "values"):
        if key in found:
            found[key] = _with_strict_lists(found[key])
    if "symbols" in found:
        found["symbols"] = StrictList(found["symbols"])
    if "fields" in found:
        found["fields"] = [_with_strict_lists(field) for field in found["fields"]]
    return found


def _without_logical_types(schema: Json) -> Json:
    if isinstance(schema, list):
        return [_without_logical_types(branch) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: value
        for key, value in schema.items()
        if key != "logicalType" or (value == "decimal" and schema.get("type") in ("bytes", "fixed"))
    }
    for key in ("type", "items", "values"):
        if isinstance(kept.get(key), (dict, list)):
            kept[key] = _without_logical_types(kept[key])
    if isinstance(kept.get("fields"), list):
        kept["fields"] = [_without_logical_types(field) for field in kept["fields"]]
    return kept


def _quoted(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else "`" + name.replace("`", "``") + "`"


class _Translator:
    """One walk over a schema: its Arrow types, its unions, and what is wrong with it."""

    def __init__(self, named: Mapping[str, Json], *, with_names: bool) -> None:
        self._named = named
        # Whether fastavro is asked to say which named type of a union a value is; it then does so everywhere.
        self._with_names = with_names

    def shape_of(self, schema: Json, within: tuple[str, ...]) -> Shape:
        if isinstance(schema, list):
            return self._union(schema, within)
        if isinstance(schema, str):
            if schema in _PRIMITIVES:
                return Shape(_PRIMITIVES[schema], _PRIMITIVES[schema])
            schema = self._named[schema]
        kind = schema["type"]
        if kind in _RECORDS:
            return self._record(schema, within)
        if kind == "array":
            return self._array(schema, within)
        if kind == "map":
            return self._map(schema, within)
        if kind == "enum":
            return Shape(pa.string(), pa.string())
        logical = schema.get("logicalType")
        if logical == "decimal" and kind in ("bytes", "fixed"):
            return self._decimal(schema)
        if kind == "fixed":
            return Shape(pa.binary(), pa.binary())
        if (kind, logical) in _LOGICAL_NUMBERS:
            return Shape(*_LOGICAL_NUMBERS[kind, logical])
        return self.shape_of(kind, within)

    def _decimal(self, schema: Json) -> Shape:
        precision, scale = schema.get("precision", 0), schema.get("scale", 0)
        if not (0 < precision <= _DECIMAL_DIGITS_MAX and 0 <= scale <= precision):
            raise AvroSchemaError(f"decimal({precision}, {scale}) is not one of Spark's (up to 38 digits)")
        return Shape(pa.decimal128(precision, scale), pa.decimal128(precision, scale))

    def _record(self, schema: Json, within: tuple[str, ...]) -> Shape:
        name = schema["name"]
        if name in within:
            raise AvroSchemaError(f"{name} contains itself: Spark has no type for a recursive record")
        inner = {field["name"]: self.shape_of(field["type"], (*within, name)) for field in schema["fields"]}
        if not inner:
            raise AvroSchemaError(f"{name} has no fields: Spark has no column for it")
        shapes = {field: shape.shape for field, shape in inner.items() if shape.shape}
        unshapes = {field: shape.unshape for field, shape in inner.items() if shape.unshape}

        def shape(value: Any) -> Any:
            if value is not None:
                for field, inner_shape in shapes.items():
                    value[field] = inner_shape(value[field])
            return value

        def unshape(value: Any) -> Any:
            if value is not None:
                for field, inner_unshape in unshapes.items():
                    if field in value:
                        value[field] = inner_unshape(value[field])
            return value

        return Shape(
            pa.struct([(field, inner_shape.read) for field, inner_shape in inner.items()]),
            pa.struct([(field, inner_shape.column) for field, inner_shape in inner.items()]),
            shape if shapes else None,
            unshape if unshapes else None,
        )

    def _array(self, schema: Json, within: tuple[str, ...]) -> Shape:
        items = schema["items"]
        inner = self.shape_of(items, within)
        if self._takes_no_bytes(items):
            raise AvroSchemaError("an array whose items take no bytes can claim any length: not read")
        shape, unshape = inner.shape, inner.unshape
        return Shape(
            pa.list_(inner.read),
            pa.list_(inner.column),
            (lambda value: value and [shape(item) for item in value]) if shape else None,
            (lambda value: value and [unshape(item) for item in value]) if unshape else None,
        )

    def _map(self, schema: Json, within: tuple[str, ...]) -> Shape:
        inner = self.shape_of(schema["values"], within)
        shape, unshape = inner.shape, inner.unshape
        return Shape(
            pa.map_(pa.string(), inner.read),
            pa.map_(pa.string(), inner.column),
            (lambda value: value and {key: shape(item) for key, item in value.items()}) if shape else None,
            (lambda value: value and {key: unshape(item) for key, item in value.items()})
            if unshape
            else None,
        )

    def _takes_no_bytes(self, schema: Json) -> bool:
        if isinstance(schema, str):
            schema = self._named.get(schema, schema)
        if isinstance(schema, dict):
            if schema["type"] in _RECORDS:
                return all(self._takes_no_bytes(field["type"]) for field in schema["fields"])
            if schema["type"] == "fixed":
                return bool(schema["size"] == 0)
            return bool(schema["type"] == "null")
        return bool(schema == "null")

    def _union(self, branches: list[Json], within: tuple[str, ...]) -> Shape:
        rest = [branch for branch in branches if _kind(branch, self._named) != "null"]
        if not rest:
            return Shape(pa.string(), pa.string())
        if len(rest) == 1:
            only = self.shape_of(rest[0], within)
            if not self._with_names:
                return only
            inner = only.shape or (lambda value: value)
            return Shape(only.read, only.column, lambda value: inner(_unnamed(value)), only.unshape)
        if all(branch in ("int", "long") for branch in rest):
            return self.shape_of("long", within)
        if all(branch in ("float", "double") for branch in rest):
            return self.shape_of("double", within)
        return _Members(rest, [self.shape_of(branch, within) for branch in rest], self._named).shape()


class _Members:
    """A union of several types: which of them a value is, and the struct that says so."""

    def __init__(self, branches: list[Json], inner: list[Shape], named: Mapping[str, Json]) -> None:
        self._inner = inner
        self._names: list[str | None] = []
        self._by_name: dict[str, int] = {}
        self._by_type: dict[type, int] = {}
        self._records: list[tuple[frozenset[str], int]] = []
        for at, branch in enumerate(branches):
            schema = named.get(branch, branch) if isinstance(branch, str) else branch
            name = schema.get("name") if isinstance(schema, dict) else None
            self._names.append(name)
            if name is not None:
                self._by_name[name] = at
            if name is not None and schema["type"] in _RECORDS:
                self._records.append((frozenset(field["name"] for field in schema["fields"]), at))
                continue
            python = _python_type(inner[at].read)
            if name is None and python in self._by_type and self._names[self._by_type[python]] is None:
                raise AvroSchemaError(f"the members of {branches} cannot be told apart")
            if name is None or python not in self._by_type:
                self._by_type[python] = at

    def shape(self) -> Shape:
        members = [f"member{at}" for at in range(len(self._inner))]
        return Shape(
            pa.struct([(name, inner.read) for name, inner in zip(members, self._inner, strict=True)]),
            pa.struct([(name, inner.column) for name, inner in zip(members, self._inner, strict=True)]),
            self._into_struct,
            self._out_of_struct,
        )

    def _into_struct(self, value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, tuple):
            at, value = self._by_name[value[0]], value[1]
        elif isinstance(value, dict) and any(value.keys() == fields for fields, _ in self._records):
            at = next(place for fields, place in self._records if value.keys() == fields)
        else:
            at = self._by_type[type(value)]
        shape = self._inner[at].shape
        return {f"member{at}": shape(value) if shape else value}

    def _out_of_struct(self, value: Any) -> Any:
        if value is None:
            return None
        for at, (inner, name) in enumerate(zip(self._inner, self._names, strict=True)):
            member = value.get(f"member{at}")
            if member is not None:
                member = inner.unshape(member) if inner.unshape else member
                return member if name is None else (name, member)
        return None


def _unnamed(value: Any) -> Any:
    """A named type within a union comes with its name, where names were asked for."""
    return value[1] if isinstance(value, tuple) else value


def _python_type(kind: pa.DataType) -> type:
    """The type of what fastavro gives for values of this type, with logical types left out."""
    if pa.types.is_decimal(kind):
        return Decimal
    if pa.types.is_boolean(kind):
        return bool
    if pa.types.is_floating(kind):
        return float
    if pa.types.is_string(kind):
        return str
    if pa.types.is_binary(kind):
        return bytes
    if pa.types.is_map(kind) or pa.types.is_struct(kind):
        return dict
    if pa.types.is_list(kind):
        return list
    return int
