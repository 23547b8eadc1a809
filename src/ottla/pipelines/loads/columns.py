"""Rows of the source made into rows of a table, and lines of JSON and CSV made of them and back: as Spark's
expressions, so none of it runs in Python.

In JSON and CSV binary columns are base64. CSV has one more rule for what it has no cells for: arrays, maps
and structs are JSON inside of a cell. What `from_rows` gives is what went in, in every format.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BinaryType, DataType, MapType, StringType, StructField, StructType

from ottla.pipelines.loads.errors import LoadRefused
from ottla.pipelines.loads.file_writing import LINE_COLUMN
from ottla.pipelines.loads.spec import PARTITION_COLUMNS, TableSpec
from ottla.pipelines.values.dead_letters import OnError
from ottla.pipelines.values.decoding import decode
from ottla.pipelines.values.formats import Format, avro, json_text, text

CSV_WRITE: Final[Mapping[str, str]] = {
    # Spark's own defaults trim what is written, and escape quotes in a way that no other reader knows.
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
    "escape": '"',
}
CSV_READ: Final[Mapping[str, str]] = {
    **CSV_WRITE,
    "multiLine": "true",
    "header": "true",
    # A null is nothing between two commas, an empty text is "". Spark takes both for null unless the text
    # that stands for null is another one: no text has this, since it is no character.
    "nullValue": "\ufffe",
}
JSON_OPTIONS: Final[Mapping[str, str]] = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}


def shaped(df: DataFrame, spec: TableSpec, on_error: OnError = "fail") -> DataFrame:
    """The source's rows with keys and values as the table has them, and its partition columns."""
    key = text() if spec.keys == "text" else None
    value: Format | None = None
    if spec.values == "text":
        value = text()
    elif spec.values == "json":
        value = json_text(_value_type(spec))
    elif spec.values == "avro":
        value = avro(spec.value_schema)
    frame = df
    if key is not None or value is not None:
        frame = decode(df, key=key, value=value, on_error=on_error)
    if not spec.headers and "headers" in frame.columns:
        frame = frame.drop("headers")
    return frame.select(*frame.columns, *(_partition_column(name) for name in time_columns(spec)))


def time_columns(spec: TableSpec) -> tuple[str, ...]:
    """The partition columns that are made of the timestamp."""
    return tuple(name for name in spec.partition_by if name in PARTITION_COLUMNS)


def _partition_column(name: str) -> Column:
    """Of the timestamp in UTC, whatever the zone of a session that others have made."""
    seconds = F.unix_seconds(F.col("timestamp"))
    day = F.date_from_unix_date(F.floor(seconds / 86_400).cast("int"))
    if name == "year":
        return F.year(day).alias(name)
    if name == "month":
        return F.date_format(day, "yyyy-MM").alias(name)
    if name == "day":
        return day.alias(name)
    hour = F.pmod(F.floor(seconds / 3600), F.lit(24)).cast("string")
    return F.concat(F.date_format(day, "yyyy-MM-dd"), F.lit("-"), F.lpad(hour, 2, "0")).alias(name)


def _value_type(spec: TableSpec) -> DataType:
    said = (spec.value_schema or "").strip()
    try:
        found = StructType.fromJson(json.loads(said)) if said.startswith("{") else DataType.fromDDL(said)
    except Exception as error:  # Spark's parsers raise many kinds
        first = str(error).strip().splitlines()[0][:200]
        raise LoadRefused(f"--schema is neither Spark's DDL nor its JSON of a schema: {first}") from None
    return found


def schema_of(columns: str) -> StructType:
    return StructType.fromJson(json.loads(columns))


def nullable(schema: StructType) -> StructType:
    """The same columns, each of which may be null: what is stored with a table."""
    return StructType([StructField(each.name, _nullable(each.dataType), True) for each in schema.fields])


def _nullable(kind: DataType) -> DataType:
    if isinstance(kind, StructType):
        return nullable(kind)
    if isinstance(kind, ArrayType):
        return ArrayType(_nullable(kind.elementType), True)
    if isinstance(kind, MapType):
        return MapType(_nullable(kind.keyType), _nullable(kind.valueType), True)
    return kind


def with_lines(df: DataFrame, format: str, keep: Sequence[str]) -> DataFrame:
    """The whole row as text in one column, beside those that the task needs to choose a file."""
    if format == "json":
        line = F.to_json(F.struct(*(F.col(_quoted(name)) for name in df.columns)), dict(JSON_OPTIONS))
    else:
        cells = [_cell(field).alias(field.name) for field in df.schema.fields]
        line = F.to_csv(F.struct(*cells), {**CSV_WRITE, **JSON_OPTIONS})
    return df.select(line.alias(LINE_COLUMN), *(F.col(_quoted(name)) for name in keep))


def _cell(field: StructField) -> Column:
    column, kind = F.col(_quoted(field.name)), field.dataType
    if isinstance(kind, BinaryType):
        return F.base64(column)
    if isinstance(kind, StructType | ArrayType | MapType):
        return F.to_json(column, dict(JSON_OPTIONS))
    return column


def csv_header(names: Sequence[str]) -> str:
    return ",".join('"' + name.replace('"', '""') + '"' for name in names)


def from_rows(spark: SparkSession, format: str, files: Sequence[str], schema: StructType) -> DataFrame:
    """The rows of these files, with the columns that they were written from."""
    if not files:
        return spark.createDataFrame([], schema)
    if format == "json":
        return spark.read.schema(schema).options(**JSON_OPTIONS).option("mode", "FAILFAST").json(list(files))
    if format == "csv":
        cells = StructType([_cell_field(each) for each in schema.fields])
        reader = (
            spark.read.schema(cells)
            .options(**CSV_READ, **JSON_OPTIONS, lineSep="\n")
            .option("mode", "FAILFAST")
        )
        rows = reader.csv(list(files))
        return rows.select(*(_uncelled(each).alias(each.name) for each in schema.fields))
    return spark.read.schema(schema).parquet(*files)


def _cell_field(field: StructField) -> StructField:
    inside = isinstance(field.dataType, BinaryType | StructType | ArrayType | MapType)
    return StructField(field.name, StringType() if inside else field.dataType)


def _uncelled(field: StructField) -> Column:
    column, kind = F.col(_quoted(field.name)), field.dataType
    if isinstance(kind, BinaryType):
        return F.unbase64(column)
    if isinstance(kind, StructType | ArrayType | MapType):
        return F.from_json(column, kind, dict(JSON_OPTIONS))
    return column


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
