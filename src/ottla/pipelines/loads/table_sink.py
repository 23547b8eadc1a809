"""`ottla.pipelines.table_sink`: streams into tables, each micro-batch once.

    sink = table_sink("/data/delays", format="delta", application_id="delays")
    df.writeStream.foreachBatch(sink).option("checkpointLocation", ...).start()

The commit that adds a batch's files also stores the batch's number under the application's name. A batch
that Spark runs again after a crash is recognised by it, whether the crash came before the commit or after
it; a driver that was given up and still runs loses the race for the commit, and its files do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame

from ottla.pipelines.loads.columns import nullable
from ottla.pipelines.loads.data_file import Commit, fingerprint
from ottla.pipelines.loads.errors import CommitConflict, LoadRefused
from ottla.pipelines.loads.manifest_table import ManifestTable
from ottla.pipelines.loads.spec import FORMATS, TableSpec
from ottla.pipelines.loads.table_writing import arrow_schema, write_files
from ottla.pipelines.loads.tables import Table, create_table, open_table, table_path
from ottla.pipelines.loads.writers import Writer, clean_after_dead_writers, discard_uncommitted

COMMIT_ATTEMPTS: Final = 50
"""How often another application's commit may come in between before this one gives up."""


def table_sink(
    path: str | Path,
    *,
    format: str = "parquet",
    application_id: str | None = None,
    partition_by: str | Sequence[str] = (),
    compression: str | None = None,
) -> TableSink:
    """A function for `writeStream.foreachBatch` that writes into the table in a directory, exactly once.

    format: parquet, json, csv (read through their manifest: `read_load`), delta or iceberg.
    application_id: the stream's name in the table: the same over restarts, and one query at a time. By
        default the query's id, which is the same as long as its checkpoint is.
    partition_by: columns of the rows.
    """
    if format not in FORMATS:
        raise LoadRefused(f"format {format!r}: write {', '.join(FORMATS)}")
    if application_id is not None and (not application_id or application_id.startswith("ottla/")):
        raise LoadRefused(f"application_id {application_id!r}: choose another name")
    columns = (partition_by,) if isinstance(partition_by, str) else tuple(partition_by)
    return TableSink(table_path(path), format, application_id, columns, compression)


class TableSink:
    """Called with each micro-batch and its number; of a number that was committed nothing is written."""

    def __init__(
        self,
        path: Path,
        format: str,
        application_id: str | None,
        partition_by: tuple[str, ...],
        compression: str | None,
    ) -> None:
        self.path = path
        self.format = format
        self.application_id = application_id
        self.partition_by = partition_by
        self._compression = compression
        self._table: Table | None = None
        self._writer: Writer | None = None

    def __call__(self, df: DataFrame, batch_id: int) -> None:
        self.write_batch(df, batch_id)

    def write_batch(self, df: DataFrame, batch_id: int) -> None:
        query_id = df.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        application = self.application_id or (f"ottla-stream-{query_id}" if query_id else None)
        if application is None:
            raise LoadRefused("outside of a stream a table_sink needs an application_id")
        table = self._opened(df)
        if self._is_committed(table, application, batch_id, query_id):
            # Its states and its watermark still have to come of it, or Spark refuses the next batch.
            df.write.format("noop").mode("overwrite").save()
            return
        assert self._writer is not None
        self._writer.touch()
        files = write_files(
            df,
            table,
            self.format,
            writer_id=self._writer.id,
            partition_by=self.partition_by,
            by_source=False,
            compression=self._compression,
        )
        marks = {application: batch_id}
        if query_id:
            marks[_query_mark(application)] = fingerprint(query_id.encode())
        commit = Commit(
            "stream", added=files, marks=marks, details={"application": application, "batch": batch_id}
        )
        for attempt in range(COMMIT_ATTEMPTS):
            try:
                table.commit(commit)
                return
            except CommitConflict:
                table.refresh()
                if self._is_committed(table, application, batch_id, query_id):
                    discard_uncommitted(table, [each.path for each in files])
                    return
                if attempt == COMMIT_ATTEMPTS - 1:
                    raise

    def _is_committed(self, table: Table, application: str, batch_id: int, query_id: str | None) -> bool:
        table.refresh()
        last = table.mark(application)
        if last is None:
            return False
        known = table.mark(_query_mark(application))
        if query_id and known is not None and known != fingerprint(query_id.encode()):
            raise LoadRefused(
                f"{self.path} has batches up to {last} of the application {application!r}, written by a "
                "query with another checkpoint: go on with that, or choose another application_id (a new "
                "checkpoint counts its batches from 0, and they would be taken for those that are there)"
            )
        return batch_id <= last

    def _opened(self, df: DataFrame) -> Table:
        if self._table is None:
            for column in self.partition_by:
                if column not in df.columns:
                    raise LoadRefused(f"partition_by: there is no column {column!r}")
            table = open_table(self.path)
            if table is None:
                columns = nullable(df.schema).json()
                spec = TableSpec(
                    self.format, partition_by=self.partition_by, columns=columns, made_by="stream"
                )
                table = create_table(self.path, spec, arrow_schema(df), self.partition_by)
            self._check(table)
            self._writer = Writer(self.path)
            clean_after_dead_writers(table)
            self._table = table
        self._check_columns(self._table, df)
        return self._table

    def _check(self, table: Table) -> None:
        there = table.spec.format if table.spec is not None else _format_of(table)
        if there != self.format:
            raise LoadRefused(
                f"{self.path} holds a table of format {there}, and the sink writes {self.format}"
            )
        if table.spec is not None and table.spec.partition_by != self.partition_by:
            raise LoadRefused(
                f"{self.path} is partitioned by {','.join(table.spec.partition_by) or 'nothing'}, and the "
                f"sink by {','.join(self.partition_by) or 'nothing'}"
            )

    def _check_columns(self, table: Table, df: DataFrame) -> None:
        if isinstance(table, ManifestTable):
            same = table.spec.columns == nullable(df.schema).json()
            there = table.spec.columns
        else:
            wanted = arrow_schema(df)
            found = table.schema()  # type: ignore[attr-defined]
            same = [(each.name, _plain(each.type)) for each in wanted] == [
                (each.name, _plain(each.type)) for each in found
            ]
            there = ", ".join(f"{each.name} {each.type}" for each in found)
        if not same:
            raise LoadRefused(
                f"{self.path} has other columns than the stream: {df.schema.simpleString()} does not fit "
                f"{there}; write to another directory, or select the columns that the table has"
            )


def _plain(kind: object) -> str:
    """A type without what does not matter: large and view forms, names of list items, nullability."""
    text = str(kind).replace("large_", "").replace("string_view", "string").replace("binary_view", "binary")
    return text.replace(" not null", "").replace("<item: ", "<element: ")


def _format_of(table: Table) -> str:
    return "delta" if type(table).__name__.startswith("Delta") else "iceberg"


def _query_mark(application: str) -> str:
    return f"{application}/query"
