"""A DataFrame written into files of a table, by Spark's tasks. Loads and sinks share it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from ottla.pipelines.loads.columns import csv_header, with_lines
from ottla.pipelines.loads.data_file import DataFile
from ottla.pipelines.loads.errors import LoadError, LoadRefused
from ottla.pipelines.loads.failures import explained
from ottla.pipelines.loads.file_writing import RESULT_SCHEMA, SOURCE_COLUMNS, FileWriting
from ottla.pipelines.loads.tables import Table
from ottla.pipelines.loads.writers import discard

if TYPE_CHECKING:
    import pyarrow as pa

LINE_FORMATS = ("json", "csv")
COMPRESSIONS = {"parquet": ("zstd", "snappy", "gzip", "none"), "lines": ("none", "gzip")}


def file_columns(df: DataFrame, hidden: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in df.columns if name not in hidden)


def arrow_schema(df: DataFrame, hidden: Sequence[str] = ()) -> pa.Schema:
    """What the data files of a table of these rows have."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    from ottla.pipelines.loads.columns import nullable

    schema = to_arrow_schema(nullable(df.schema), timezone="UTC")
    return pa.schema([each for each in schema if each.name not in hidden])


def write_files(
    df: DataFrame,
    table: Table,
    format: str,
    *,
    writer_id: str,
    partition_by: Sequence[str],
    hidden: Sequence[str] = (),
    by_source: bool,
    compression: str | None = None,
) -> list[DataFile]:
    """Runs the tasks; gives the files of those that succeeded, each checked to be there.

    hidden: columns that choose a file and are not in it. by_source: see `FileWriting`.
    """
    lines = format in LINE_FORMATS
    chosen = compression or ("none" if lines else "zstd")
    if chosen not in COMPRESSIONS["lines" if lines else "parquet"]:
        known = ", ".join(COMPRESSIONS["lines" if lines else "parquet"])
        raise LoadRefused(f"--compression {chosen}: with --format {format} write {known}")
    keys = [
        *(SOURCE_COLUMNS if by_source else ()),
        *(p for p in partition_by if p not in SOURCE_COLUMNS or not by_source),
    ]
    task = FileWriting(
        str(table.path),
        table.data_directory(),
        writer_id,
        file_columns(df, hidden),
        tuple(partition_by),
        by_source,
        lines,
        csv_header(file_columns(df, hidden)) if format == "csv" else "",
        {"json": ".json", "csv": ".csv"}.get(format, ".parquet")
        + (".gz" if lines and chosen == "gzip" else ""),
        chosen,
    )
    rows = with_lines(df, format, keys) if lines else df
    with explained(f"writing to {table.path} failed, and nothing of this commit counts"):
        found = rows.mapInArrow(task, RESULT_SCHEMA).collect()
    files = [DataFile.from_json(json.loads(row[0])) for row in found]
    check_there(table, files)
    return files


def check_there(table: Table, files: Sequence[DataFile]) -> None:
    for each in files:
        path = table.path / each.path
        try:
            size_bytes = path.stat().st_size
        except FileNotFoundError:
            raise LoadError(
                f"a worker has written {path}, and it is not there for the driver: the table's directory has "
                "to be on a file system that all of them share"
            ) from None
        if size_bytes != each.size_bytes:
            discard(table.path, [file.path for file in files])
            raise LoadError(f"{path} has {size_bytes} bytes, and the worker wrote {each.size_bytes}")
