"""`ottla.pipelines.read_load`: what is committed in a table of a load or a sink, as a DataFrame."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ottla.pipelines.loads.columns import from_rows, schema_of
from ottla.pipelines.loads.data_file import DataFile
from ottla.pipelines.loads.errors import LoadRefused
from ottla.pipelines.loads.manifest_table import ManifestTable
from ottla.pipelines.loads.tables import Table, require_table

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

UNIONS_MAX = 200
"""Delta tables of others have partition values in their log only: one plan for each combination."""


def read_load(spark: SparkSession, path: str | Path) -> DataFrame:
    """The records that are committed in the table in a directory, whatever its format.

    Plain files (Parquet, JSON, CSV) are read through the manifest: what a killed run left behind, or a
    running one has not committed yet, is not seen. Columns have the types with which they were written.
    """
    return read_table(spark, require_table(path))


def read_table(spark: SparkSession, table: Table) -> DataFrame:
    files = table.files()
    if isinstance(table, ManifestTable):
        schema = schema_of(table.spec.columns)
        return from_rows(spark, table.spec.format, _paths(table, files), schema)
    from ottla.pipelines.loads.delta_table import DeltaLoadTable
    from ottla.pipelines.loads.iceberg_table import IcebergLoadTable

    if isinstance(table, DeltaLoadTable):
        table.check_readable()
        schema = _from_arrow(table)
        if table.spec is None and table.partition_columns:
            return _with_partition_values(spark, table, files, schema)
        return from_rows(spark, "parquet", _paths(table, files), schema)
    assert isinstance(table, IcebergLoadTable)
    table.check_readable()
    return from_rows(spark, "parquet", _paths(table, files), _from_arrow(table))


def _paths(table: Table, files: list[DataFile]) -> list[str]:
    return [spark_path(table.path / each.path) for each in files]


def spark_path(path: Path) -> str:
    """A path for Spark's readers, which take what they are given for a pattern."""
    return "file://" + re.sub(r"([*?\[\]{}\\])", r"\\\1", str(path))


def _from_arrow(table: Table) -> StructType:
    import pyarrow as pa
    from pyspark.sql.pandas.types import from_arrow_schema

    found: pa.Schema = table.schema()  # type: ignore[attr-defined]
    return from_arrow_schema(found)


def _with_partition_values(
    spark: SparkSession, table: Table, files: list[DataFile], schema: StructType
) -> DataFrame:
    groups: dict[tuple[tuple[str, str | None], ...], list[DataFile]] = {}
    for each in files:
        groups.setdefault(tuple(sorted(each.partition_values.items())), []).append(each)
    if len(groups) > UNIONS_MAX:
        raise LoadRefused(
            f"{table.path}: {len(groups)} partitions are more than {UNIONS_MAX}, which can be read"
        )
    found: DataFrame | None = None
    for values, own in groups.items():
        rows = from_rows(spark, "parquet", _paths(table, own), schema)
        for name, value in values:
            rows = rows.withColumn(name, F.lit(value).cast(schema[name].dataType))
        found = rows if found is None else found.unionByName(rows)
    return from_rows(spark, "parquet", [], schema) if found is None else found
