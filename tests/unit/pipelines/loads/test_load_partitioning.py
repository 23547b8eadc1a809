"""Tables partitioned by time, topic and partition: log, directories and rows agree."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ottla.pipelines.loads.data_file import Commit, DataFile
from ottla.pipelines.loads.file_writing import FileWriting
from ottla.pipelines.loads.inspection import verify_load
from ottla.pipelines.loads.spec import PARTITION_COLUMNS, TableSpec, record_columns
from ottla.pipelines.loads.tables import create_table, require_table

FORMS = {"year": "%Y", "month": "%Y-%m", "hour": "%Y-%m-%d-%H"}


def rows(time_column: str) -> pa.RecordBatch:
    """Of two topics and two partitions, over a new year."""
    old, new = datetime(2023, 12, 31, 23, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)
    times = [old.replace(minute=n) if n < 6 else new.replace(hour=n) for n in range(12)]
    texts = [each.strftime(FORMS[time_column]) for each in times]
    return pa.RecordBatch.from_pydict(
        {
            "topic": ["a-topic-with-a-name-of-many-characters-1" if n % 2 else "b" for n in range(12)],
            "partition": pa.array([n % 4 // 2 for n in range(12)], pa.int32()),
            "offset": list(range(12)),
            "timestamp": pa.array(times, pa.timestamp("us", "UTC")),
            time_column: [int(each) for each in texts] if time_column == "year" else texts,
        }
    )


def held(file: DataFile) -> tuple[object, ...]:
    return file.path, file.topic, file.partition, file.first_offset, file.last_offset, file.records


@pytest.mark.parametrize("format", ["parquet", "delta", "iceberg"])
@pytest.mark.parametrize(
    "partition_by", [("topic", "hour"), ("month",), ("partition", "year", "topic")], ids="-".join
)
def test_rows_come_back_from_their_partitions(
    tmp_path: Path, format: str, partition_by: tuple[str, ...]
) -> None:
    (time_column,) = (name for name in partition_by if name in PARTITION_COLUMNS)
    batch = rows(time_column)
    hidden = (time_column,) if format == "iceberg" else ()
    columns = tuple(name for name in batch.schema.names if name not in hidden)
    spec = TableSpec(format, partition_by=partition_by, columns=record_columns(TableSpec()))
    schema = pa.schema([field for field in batch.schema if field.name in columns])
    table = create_table(tmp_path / "t", spec, schema, partition_by)
    task = FileWriting(str(tmp_path / "t"), table.data_directory(), "w", columns, partition_by)
    files = task.write([batch])
    table.commit(Commit("load", added=files, marks={"ottla/b/0": 12, "ottla/b/1": 12}))
    found = require_table(tmp_path / "t").files()
    # Which offsets of which partition a file holds is what a reload goes by.
    assert sorted(map(held, found)) == sorted(map(held, files))
    assert all(each.traceable for each in found)
    assert verify_load(tmp_path / "t").problems == []
    expected = batch.select(columns).to_pylist()
    if format == "delta":
        import deltalake

        seen = deltalake.DeltaTable(str(tmp_path / "t")).to_pyarrow_table().select(columns).to_pylist()
        assert sorted(seen, key=lambda row: row["offset"]) == expected
    if format == "iceberg":
        from pyiceberg.table import StaticTable

        scan = StaticTable.from_metadata(str(tmp_path / "t")).scan("timestamp >= '2024-01-01T00:00:00+00:00'")
        assert sorted(row["offset"] for row in scan.to_arrow().to_pylist()) == list(range(6, 12))
        # Files of the old year are not even looked at: the hidden partitioning is in the manifests.
        assert sum(task.file.record_count for task in scan.plan_files()) == 6


@pytest.mark.parametrize("format", ["parquet", "delta", "iceberg"])
def test_a_streams_rows_may_be_partitioned_by_columns_of_any_type(tmp_path: Path, format: str) -> None:
    """Values with characters that paths do not like, and types that Delta's log writes in its own way."""
    noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    batch = pa.RecordBatch.from_pydict(
        {
            "n": [0, 1, 2, 3],
            "text": ["a/b=c%20 é:?*", "..", None, "x" * 300],
            "flag": [True, False, None, True],
            "at": pa.array([noon, noon, None, noon], pa.timestamp("us", "America/Sao_Paulo")),
        }
    )
    columns = ("text", "flag", "at")
    schema = batch.schema.set(3, pa.field("at", pa.timestamp("us", "UTC")))
    spec = TableSpec(format, partition_by=columns, columns="{}", made_by="stream")
    table = create_table(tmp_path / "t", spec, schema, columns)
    task = FileWriting(
        str(tmp_path / "t"), table.data_directory(), "w", tuple(batch.schema.names), columns, by_source=False
    )
    table.commit(Commit("stream", added=task.write([batch])))
    found = require_table(tmp_path / "t").files()
    assert len(found) == 4 and verify_load(tmp_path / "t").problems == []
    if format == "delta":
        import deltalake

        seen = deltalake.DeltaTable(str(tmp_path / "t")).to_pyarrow_table().to_pylist()
    elif format == "iceberg":
        from pyiceberg.table import StaticTable

        seen = StaticTable.from_metadata(str(tmp_path / "t")).scan().to_arrow().to_pylist()
    else:
        paths = [str(tmp_path / "t" / each.path) for each in found]
        seen = [row for path in paths for row in pq.read_table(path, partitioning=None).to_pylist()]
    assert sorted(seen, key=lambda row: row["n"]) == batch.to_pylist()
