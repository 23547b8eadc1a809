"""What is in a table: for `ottla load --list` and `--verify`. Needs no Spark."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ottla.pipelines.loads.data_file import DataFile, parse_position_mark
from ottla.pipelines.loads.tables import Table, require_table
from ottla.pipelines.loads.writers import stray_files

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(slots=True)
class PartitionContent:
    topic: str
    partition: int
    position: int | None = None
    """The next offset to load."""
    first_offset: int | None = None
    last_offset: int | None = None
    records: int = 0
    bytes: int = 0
    files: int = 0


@dataclass(slots=True)
class TableContent:
    path: Path
    format: str
    made_by: str
    version: int
    partitions: list[PartitionContent] = field(default_factory=list)
    untraced_files: int = 0
    """Files of streams, or of others: they do not say which offsets they hold."""
    untraced_records: int = 0
    marks: dict[str, int] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Verification:
    files: int = 0
    records: int = 0
    problems: list[str] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    """Files that no commit names: of a run at work, or of a killed one; the next load deletes those."""


def describe_load(path: str | Path) -> TableContent:
    """What the table in a directory holds, partition by partition."""
    table = require_table(path)
    spec = table.spec
    content = TableContent(
        table.path,
        spec.format if spec is not None else type(table).__name__.removesuffix("LoadTable").lower(),
        spec.made_by if spec is not None else "others",
        table.version,
        marks=table.marks(),
        history=table.history(),
    )
    found: dict[tuple[str, int], PartitionContent] = {}
    for name, value in content.marks.items():
        if (place := parse_position_mark(name)) is not None:
            found[place] = PartitionContent(*place, position=value)
    for file in table.files():
        if not file.traceable or file.topic is None:
            content.untraced_files += 1
            content.untraced_records += file.records
            continue
        key = (file.topic, file.partition)
        each = found.setdefault(key, PartitionContent(*key))
        each.records += file.records
        each.bytes += file.size_bytes
        each.files += 1
        low, high = each.first_offset, each.last_offset
        each.first_offset = file.first_offset if low is None else min(low, file.first_offset)
        each.last_offset = file.last_offset if high is None else max(high, file.last_offset)
    content.partitions = [found[key] for key in sorted(found)]
    return content


def verify_load(path: str | Path) -> Verification:
    """Reads every file: is it there, as large as it was, with its records, each of them once?"""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = require_table(path)
    result = Verification()
    by_partition: dict[tuple[str, int], list[DataFile]] = {}
    for file in table.files():
        result.files += 1
        if _check_size(table, file, result) and file.traceable and file.topic is not None:
            by_partition.setdefault((file.topic, file.partition), []).append(file)
        elif not file.traceable:
            result.records += file.records
    marks = table.marks()
    positions = {parse_position_mark(name): value for name, value in marks.items()}
    for place, files in sorted(by_partition.items()):
        chunks: list[pa.Array] = []
        for file in files:
            try:
                offsets = _offsets(table, file)
            except Exception as error:  # whatever a damaged file does to its reader
                result.problems.append(f"{file.path}: cannot be read: {' '.join(str(error).split())[:200]}")
                continue
            if len(offsets) != file.records:
                result.problems.append(
                    f"{file.path}: {len(offsets)} records, and {file.records} were committed"
                )
            chunks.append(offsets)
        if not chunks:
            continue
        offsets = pa.chunked_array(chunks, pa.int64())
        result.records += len(offsets)
        doubles = len(offsets) - len(pc.unique(offsets))
        if doubles:
            result.problems.append(f"{place[0]}-{place[1]}: {doubles} offsets are there more than once")
        position, last = positions.get(place), pc.max(offsets).as_py()
        if last is not None and position is not None and last >= position:
            result.problems.append(
                f"{place[0]}-{place[1]}: offset {last} is there, and the position is {position}"
            )
    result.strays = stray_files(table)
    return result


def _check_size(table: Table, file: DataFile, result: Verification) -> bool:
    path = table.path / file.path
    try:
        size_bytes = path.stat().st_size
    except FileNotFoundError:
        result.problems.append(f"{file.path}: is missing")
        return False
    if size_bytes != file.size_bytes:
        result.problems.append(f"{file.path}: {size_bytes} bytes, and {file.size_bytes} were committed")
        return False
    return True


def _offsets(table: Table, file: DataFile) -> pa.Array:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = table.path / file.path
    if path.name.removesuffix(".gz").endswith(".json"):
        with _text(path) as lines:
            return pa.array([json.loads(line)["offset"] for line in lines], pa.int64())
    if path.name.removesuffix(".gz").endswith(".csv"):
        with _text(path) as lines:
            return pa.array([int(row["offset"]) for row in _rows(lines)], pa.int64())
    return pq.read_table(path, columns=["offset"], partitioning=None).column(0).combine_chunks()


def _rows(lines: IO[str]) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(2**31 - 1)
    return iter(csv.DictReader(lines))


def _text(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline="")
    return open(path, encoding="utf-8", newline="")
