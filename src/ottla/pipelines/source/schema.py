"""The rows' types, as Spark names them: those of Spark's Kafka connector, as many as `columns` names."""

from __future__ import annotations

from typing import Final

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from ottla.pipelines.options import InvalidOption

_TYPES: Final[dict[str, DataType]] = {
    "key": BinaryType(),
    "value": BinaryType(),
    "topic": StringType(),
    "partition": IntegerType(),
    "offset": LongType(),
    "timestamp": TimestampType(),
    "timestampType": IntegerType(),
    "headers": ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())])),
}


def row_type(columns: tuple[str, ...]) -> StructType:
    return StructType([StructField(name, _TYPES[name]) for name in columns])


def check_schema(given: StructType, columns: tuple[str, ...]) -> None:
    """A schema that the user gave has to be ours: rows are not converted on the way."""
    own = row_type(columns)
    if [(field.name, field.dataType) for field in given] != [(field.name, field.dataType) for field in own]:
        raise InvalidOption(
            "the format ottla has a schema of its own, so leave .schema(...) out. Its columns are "
            f"{own.simpleString()}; the option columns chooses among them, and values are decoded afterwards "
            "with functions on the column value"
        )
