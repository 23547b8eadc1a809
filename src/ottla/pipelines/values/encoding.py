"""Encode columns into a record's value (or key), for the sink: JSON, Avro, texts, Kafka's primitives.

    to_json(df, "user", "delay")            # these two columns become `value`, the others stay
    to_avro(df, schema)                     # the column `value`, a struct, becomes its bytes

A value that is null stays null: a tombstone. What a schema has no place for fails the query, with the
record's topic, partition and offset where the DataFrame has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ottla.pipelines.values.decoding import checked
from ottla.pipelines.values.formats import Format, JsonText, avro, primitive, text


def to_json(
    df: DataFrame, *columns: str, into: str = "value", options: Mapping[str, str] | None = None
) -> DataFrame:
    """The columns as one JSON document in `into`; without any, the column `into` itself.

    options: those of Spark's to_json ("ignoreNullFields": "false" writes nulls, too).
    """
    return _encoded(df, columns, into, JsonText("string", dict(options or {})))


def to_avro(
    df: DataFrame, schema: Any, *columns: str, into: str = "value", schema_id: int | None = None
) -> DataFrame:
    """The columns as one Avro value of this schema; without any, the column `into` itself.

    A field that there is no column for gets its default; a column that the schema does not have is an error.
    schema_id: begin each value with Confluent's frame and this id.
    """
    return _encoded(df, columns, into, avro(schema, schema_id=schema_id))


def to_text(df: DataFrame, *, into: str = "value") -> DataFrame:
    """The column as text in UTF-8."""
    return _encoded(df, (), into, text())


def to_primitive(df: DataFrame, name: str, *, into: str = "value") -> DataFrame:
    """The column as what Kafka's Serdes write for a "long", an "integer", ...; what does not fit fails."""
    return _encoded(df, (), into, primitive(name))


def _encoded(df: DataFrame, columns: tuple[str, ...], into: str, form: Format) -> DataFrame:
    source = F.struct(*columns) if columns else F.col(into)
    encoded = checked(df, form.encoded(source), into)
    return encoded.drop(*(column for column in columns if column != into))
