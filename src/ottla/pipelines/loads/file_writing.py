"""What runs in Spark's tasks: rows come as Arrow batches, and leave as files of the table.

Every attempt of a task writes files with names of its own, so a task that runs twice, whole or half, leaves
files that no commit names, and nothing else. Rows are split by topic-partition (in a load) and by the table's
partition columns; a file is synced with its directory before the task says that it is there.

`FileWriting` is given to `mapInArrow`; the driver gets one row of JSON for each file.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ottla.pipelines.loads.data_file import NO_PARTITION, DataFile
from ottla.pipelines.loads.durable import make_directory, sync_directory, sync_file

if TYPE_CHECKING:
    import pyarrow as pa

RESULT_SCHEMA: Final = "file string"
LINE_COLUMN: Final = "__line"
"""The column that has the whole row as text, in formats of lines."""
SOURCE_COLUMNS: Final = ("topic", "partition", "offset")

OPEN_FILES_MAX: Final = 64
"""Late records can belong to many hours: the file that waits longest for more is closed then."""
GROUP_BYTES: Final = 64 * 1024 * 1024
"""How much is gathered before a row group is written; small ones make large and slow files."""
FILE_BYTES: Final = 1024 * 1024 * 1024
"""About how large a file gets before the next one is begun."""


@dataclass(frozen=True)
class FileWriting:
    """All that a task needs to know; travels to the workers as it is."""

    path: str
    directory: str
    writer_id: str
    columns: tuple[str, ...]
    """What is in the files (Parquet); for lines, what makes the header is in `header`."""
    partition_columns: tuple[str, ...] = ()
    by_source: bool = True
    """Whether rows have topic, partition and offset, and files are kept apart by them."""
    lines: bool = False
    header: str = ""
    suffix: str = ".parquet"
    compression: str = "zstd"
    group_bytes: int = GROUP_BYTES
    file_bytes: int = FILE_BYTES

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        files = [json.dumps(each.to_json()) for each in self.write(batches)]
        yield pa.RecordBatch.from_arrays([pa.array(files, pa.string())], names=["file"])

    def write(self, batches: Iterable[pa.RecordBatch]) -> list[DataFile]:
        done: list[DataFile] = []
        opened: dict[tuple[Any, ...], _Bucket] = {}
        started: list[Path] = []
        try:
            for batch in batches:
                for key, part in self._split(batch):
                    bucket = opened.pop(key, None)
                    if bucket is None:
                        if len(opened) >= OPEN_FILES_MAX:
                            done.append(opened.pop(next(iter(opened))).close())
                        bucket = _Bucket(self, key)
                        started.append(bucket.file_path)
                    bucket.add(part)
                    if bucket.written_bytes >= self.file_bytes:
                        done.append(bucket.close())
                    else:
                        opened[key] = bucket
                while sum(each.held_bytes for each in opened.values()) > 2 * self.group_bytes:
                    max(opened.values(), key=lambda each: each.held_bytes).flush()
            done.extend(each.close() for each in opened.values())
        except BaseException:
            for path in started:
                path.unlink(missing_ok=True)
            raise
        return done

    @property
    def _key_columns(self) -> tuple[str, ...]:
        return (*(SOURCE_COLUMNS[:2] if self.by_source else ()), *self.partition_columns)

    def _split(self, batch: pa.RecordBatch) -> Iterator[tuple[tuple[Any, ...], pa.RecordBatch]]:
        """The batch in parts that belong to one file each, rows in their order."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not batch.num_rows:
            return
        codes: Any = None
        values: list[list[Any]] = []
        for name in self._key_columns:
            encoded = batch.column(name).dictionary_encode(null_encoding="encode")
            values.append(encoded.dictionary.to_pylist())
            if codes is None:
                codes = encoded.indices.cast(pa.int64())
            else:
                codes = pc.add(pc.multiply(codes, len(values[-1])), encoded.indices.cast(pa.int64()))
        if codes is None:
            yield (), batch
            return
        found = pc.unique(codes).to_pylist()
        for code in found:
            key: list[Any] = []
            rest = code
            for known in reversed(values):
                rest, index = divmod(rest, len(known))
                key.append(known[index])
            part = batch if len(found) == 1 else batch.filter(pc.equal(codes, code))
            yield tuple(reversed(key)), part


class _Bucket:
    """One file that is being written."""

    def __init__(self, settings: FileWriting, key: tuple[Any, ...]) -> None:
        self._settings = settings
        sources = 2 if settings.by_source else 0
        self._topic, self._partition = key[:2] if sources else (None, NO_PARTITION)
        self._values = {
            name: _partition_text(value)
            for name, value in zip(settings.partition_columns, key[sources:], strict=True)
        }
        folders = [f"{name}={_folder_name(value)}" for name, value in self._values.items()]
        name = f"part-{settings.writer_id}-{uuid.uuid4().hex[:16]}{settings.suffix}"
        self.path = "/".join(each for each in (settings.directory, *folders, name) if each)
        self.file_path = Path(settings.path, self.path)
        make_directory(self.file_path.parent)
        self._held: list[pa.RecordBatch] = []
        self.held_bytes = 0
        self.written_bytes = 0
        self._records = 0
        self._first = self._last = -1
        self._sink: Any = None

    def add(self, batch: pa.RecordBatch) -> None:
        import pyarrow.compute as pc

        if self._settings.by_source:
            ends = pc.min_max(batch.column("offset")).as_py()
            self._first = ends["min"] if self._first < 0 else min(self._first, ends["min"])
            self._last = max(self._last, ends["max"])
        self._records += batch.num_rows
        columns = (LINE_COLUMN,) if self._settings.lines else self._settings.columns
        part = batch.select(list(columns))
        self._held.append(part)
        self.held_bytes += part.nbytes
        if self.held_bytes >= self._settings.group_bytes:
            self.flush()

    def flush(self) -> None:
        import pyarrow as pa

        if not self._held:
            return
        table = pa.Table.from_batches(self._held)
        self._held.clear()
        self.held_bytes = 0
        if self._settings.lines:
            self._write_lines(table)
        else:
            self._write_rows(table)

    def _write_lines(self, table: pa.Table) -> None:
        import pyarrow as pa

        if self._sink is None:
            compression = None if self._settings.compression == "none" else self._settings.compression
            self._sink = pa.output_stream(str(self.file_path), compression=compression)
            if self._settings.header:
                self._sink.write(f"{self._settings.header}\n".encode())
        text = ("\n".join(table.column(0).to_pylist()) + "\n").encode()
        self._sink.write(text)
        self.written_bytes += len(text)

    def _write_rows(self, table: pa.Table) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        # Spark says of some columns that they are never null; a table's columns may be, for who comes later.
        schema = pa.schema([pa.field(each.name, _in_utc(each.type)) for each in table.schema])
        if self._sink is None:
            self._sink = pq.ParquetWriter(self.file_path, schema, compression=self._settings.compression)
        self._sink.write_table(table.cast(schema))
        self.written_bytes = self.file_path.stat().st_size

    def close(self) -> DataFile:
        self.flush()
        self._sink.close()
        sync_file(self.file_path)
        sync_directory(self.file_path.parent)
        return DataFile(
            self.path,
            os.path.getsize(self.file_path),
            self._records,
            self._values,
            self._topic,
            self._partition,
            self._first,
            self._last,
        )


def _partition_text(value: Any) -> str | None:
    """As Delta's protocol writes the values of partition columns."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        moment = value if value.tzinfo is None else value.astimezone(UTC)
        return moment.strftime("%Y-%m-%d %H:%M:%S.%f")
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return str(value)


def _in_utc(kind: pa.DataType) -> pa.DataType:
    """The same type with times in UTC: the zone of the session is nothing that files should tell."""
    import pyarrow as pa

    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, "UTC")
    if pa.types.is_struct(kind):
        return pa.struct([each.with_type(_in_utc(each.type)) for each in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_in_utc(kind.value_type)))
    if pa.types.is_map(kind):
        return pa.map_(
            kind.key_field.with_type(_in_utc(kind.key_type)),
            kind.item_field.with_type(_in_utc(kind.item_type)),
        )
    return kind


def _folder_name(value: str | None) -> str:
    """For people: the value itself is in the table's log. (Delta would want other characters escaped.)"""
    if value is None:
        return "__HIVE_DEFAULT_PARTITION__"
    safe = "".join(each if each.isascii() and (each.isalnum() or each in "._-") else "_" for each in value)
    return safe[:100] or "_"
