"""Formats of keys and values on Spark: a column of bytes in, a column of (value, error) out, and back.

JSON and texts are read in the JVM by Spark's own functions; Avro and Kafka's primitives in one Arrow pass
through Python, in which only the column itself travels.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, cast

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import DataType, StructType

from ottla.pipelines.values import primitives
from ottla.pipelines.values.avro import AvroForm, decoder_of, encoder_of
from ottla.pipelines.values.avro_schema import ddl_of
from ottla.pipelines.values.avro_schema import parsed as parsed_schema
from ottla.pipelines.values.bad_values import ERROR_DDL

_NOTHING: Final = f"CAST(NULL AS {ERROR_DDL})"
_MALFORMED: Final = "_ottla_malformed"


class Format(Protocol):
    """Columns to columns. Decoding takes two steps, each a column of its own: `parsed`, which is expensive
    and done once, and `judged`, which makes a (value, error) of it wherever that is asked for.
    """

    def parsed(self, column: Column) -> Column: ...

    def judged(self, parsed: Column) -> Column: ...

    def encoded(self, column: Column) -> Column:
        """A (value, error), too."""


def _result(value: Column, error: Column) -> Column:
    return F.struct(value.alias("value"), error.alias("error"))


def _error(exception: str, message: str) -> Column:
    return F.struct(F.lit(exception).alias("exception"), F.lit(message).alias("message"))


def _first_error(*checks: tuple[Column, Column]) -> Column:
    """The error of the first condition that is true, or null."""
    found = F.when(checks[0][0], checks[0][1])
    for condition, error in checks[1:]:
        found = found.when(condition, error)
    return found.otherwise(F.expr(_NOTHING))


_NOT_TEXT: Final = ("UnicodeDecodeError", "the bytes are not UTF-8")


@dataclass(frozen=True)
class Text:
    """UTF-8."""

    def parsed(self, column: Column) -> Column:
        return column.cast("string")

    def judged(self, parsed: Column) -> Column:
        text = parsed
        wrong = ~F.is_valid_utf8(text)
        return _result(F.when(~wrong, text), _first_error((wrong, _error(*_NOT_TEXT))))

    def encoded(self, column: Column) -> Column:
        return _result(column.cast("string").cast("binary"), F.expr(_NOTHING))


@dataclass(frozen=True)
class JsonText:
    """JSON documents of one type, read by Spark's from_json.

    Left to itself, from_json reads the first document of a text and ignores what follows. Here the text is
    put into an object, `{"v":...}`, and into an array, `[...]`: whatever follows the document breaks one of
    the two, and only white space breaks none.
    """

    schema: DataType | str
    options: Mapping[str, str] = field(default_factory=dict)

    def _type(self) -> DataType:
        if isinstance(self.schema, DataType):
            return self.schema
        return DataType.fromDDL(self.schema)

    def parsed(self, column: Column) -> Column:
        text = _once(column.cast("string"))
        options = {"allowSingleQuotes": "false", **self.options}
        as_object = F.from_json(
            F.concat(F.lit('{"v":'), text, F.lit("}")),
            StructType().add("v", self._type()).add(_MALFORMED, "string"),
            {**options, "mode": "PERMISSIVE", "columnNameOfCorruptRecord": _MALFORMED},
        )
        documents = F.json_array_length(F.concat(F.lit("["), text, F.lit("]")))
        return F.struct(text.alias("text"), as_object.alias("object"), documents.alias("documents"))

    def judged(self, parsed: Column) -> Column:
        kind = self._type()
        text, value = parsed["text"], parsed["object"]["v"]
        one_document = F.coalesce(parsed["documents"] == 1, F.lit(False))
        malformed = parsed["object"][_MALFORMED].isNotNull() | ~one_document
        name = kind.simpleString()
        checks = [
            (~F.is_valid_utf8(text), _error(*_NOT_TEXT)),
            (
                malformed & (F.btrim(text, F.lit(" \t\r\n")) == ""),
                _error("ValueError", "empty, and not a JSON document"),
            ),
            (
                malformed & F.try_parse_json(text).isNull(),
                _error("ValueError", "not a JSON document"),
            ),
            (
                ~one_document,
                _error("ValueError", "more than one JSON document"),
            ),
            (malformed | value.isNull(), _error("ValueError", f"JSON, but not of the type {name}")),
        ]
        for path in _required(kind):
            inner = value
            for part in path:
                inner = inner[part]
            missing = f"{'.'.join(path)} is missing; the type is {name}"
            checks.append((inner.isNull(), _error("ValueError", missing)))
        error = F.when(text.isNotNull(), _first_error(*checks))
        return _result(F.when(error.isNull(), value), error)

    def encoded(self, column: Column) -> Column:
        return _result(F.to_json(column, dict(self.options)).cast("binary"), F.expr(_NOTHING))


def _required(kind: DataType, path: tuple[str, ...] = ()) -> Sequence[tuple[str, ...]]:
    """The paths of fields that are NOT NULL, outermost first; those in nullable structs are not asked for."""
    if not isinstance(kind, StructType):
        return []
    found: list[tuple[str, ...]] = []
    for entry in kind.fields:
        if not entry.nullable:
            found.append((*path, entry.name))
            found.extend(_required(entry.dataType, (*path, entry.name)))
    return found


@dataclass(frozen=True)
class Avro:
    """Avro's binary encoding; `form` decodes. Encoding takes its schema, and the frame with `schema_id`."""

    form: AvroForm
    schema_id: int | None = None

    def parsed(self, column: Column) -> Column:
        form = self.form
        kind = ddl_of(decoder_of(form).type)  # here too, so that a bad schema is found before anything runs

        def decode(values: pa.Array) -> pa.Array:
            return _pair(decoder_of(form).decode(values))

        return _arrow_pass(decode, kind)(column.cast("binary"))

    def judged(self, parsed: Column) -> Column:
        return parsed

    def encoded(self, column: Column) -> Column:
        schema, schema_id = self.form.schema, self.schema_id
        encoder_of(schema, schema_id)

        def encode(values: pa.Array) -> pa.Array:
            return _pair(encoder_of(schema, schema_id).encode(values))

        return _arrow_pass(encode, "BINARY")(column)


@dataclass(frozen=True)
class KafkaPrimitive:
    """What Kafka's Serdes write for a Long, an Integer, ...: big-endian."""

    name: str

    def parsed(self, column: Column) -> Column:
        kind = primitives.primitive(self.name)

        def decode(values: pa.Array) -> pa.Array:
            return _pair(primitives.decode(kind, values))

        return _arrow_pass(decode, ddl_of(kind.arrow))(column.cast("binary"))

    def judged(self, parsed: Column) -> Column:
        return parsed

    def encoded(self, column: Column) -> Column:
        kind = primitives.primitive(self.name)

        def encode(values: pa.Array) -> pa.Array:
            return _pair(primitives.encode(kind, values))

        return _arrow_pass(encode, "BINARY")(column)


def json_text(schema: DataType | str, options: Mapping[str, str] | None = None) -> JsonText:
    """JSON of a type: Spark's DDL ("user string, delay int not null", "array<int>") or one of its types."""
    return JsonText(schema, dict(options or {}))


def avro(
    schema: Any,
    *,
    writer_schema: Any = None,
    writer_schemas: Mapping[int, Any] | None = None,
    schema_id: int | None = None,
) -> Avro:
    """Avro: `schema` is the reader's (and the writer's unless given), as JSON text or Python dicts.

    writer_schema: what all values were written with, where it differs.
    writer_schemas: by id, for values in Confluent's framing.
    schema_id: encoded values get that frame with this id.
    """
    if writer_schema is not None and writer_schemas is not None:
        raise ValueError("either one writer_schema, or writer_schemas by id")
    if writer_schemas is not None and not writer_schemas:
        raise ValueError("writer_schemas is empty: no framed value could be read")
    writers = tuple(sorted((int(key), _schema_text(value)) for key, value in (writer_schemas or {}).items()))
    writer = None if writer_schema is None else _schema_text(writer_schema)
    return Avro(AvroForm(_schema_text(schema), writer, writers), schema_id)


def text() -> Text:
    """Texts in UTF-8."""
    return Text()


def primitive(name: str) -> KafkaPrimitive:
    """One of Kafka's primitives: "short", "integer", "long", "float", "double", "boolean", "uuid"."""
    primitives.primitive(name)
    return KafkaPrimitive(name)


def _schema_text(schema: Any) -> str:
    return parsed_schema(schema).text if isinstance(schema, str) else json.dumps(schema)


def _pair(columns: tuple[pa.Array, pa.Array]) -> pa.Array:
    return pa.StructArray.from_arrays(list(columns), names=["value", "error"])


def _once(column: Column) -> Column:
    """The column, in a way that Spark computes what is made of it in one place only.

    Spark may compute a deterministic expression again wherever its result is named, in a filter and in every
    branch of a CASE; parsing would take ten times as long. It leaves a nondeterministic one where it is.
    """
    return F.when(F.spark_partition_id() >= 0, column)


def _arrow_pass(function: Callable[[pa.Array], pa.Array], kind: str) -> Callable[[Column], Column]:
    # Spark finds the kind of function in its annotations, but its overloads do not know that.
    passed = arrow_udf(function, returnType=f"value {kind}, error {ERROR_DDL}")  # type: ignore[call-overload]
    # Nondeterministic for the same reason as in `_once`.
    return cast("Callable[[Column], Column]", passed.asNondeterministic())
