"""What a task writes: files by partition and day, rows in order, nothing left of an attempt that failed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ottla.pipelines.loads.file_writing import LINE_COLUMN, OPEN_FILES_MAX, FileWriting


def batch(rows: list[tuple[str, int, int, str | None]]) -> pa.RecordBatch:
    topics, partitions, offsets, days = (list(each) for each in zip(*rows, strict=True))
    return pa.RecordBatch.from_pydict(
        {
            "topic": topics,
            "partition": pa.array(partitions, pa.int32()),
            "offset": offsets,
            "day": days,
            LINE_COLUMN: [f"{t} {o}" for t, o in zip(topics, offsets, strict=True)],
        }
    )


def writing(path: Path, **settings: object) -> FileWriting:
    columns = ("topic", "partition", "offset", "day")
    return FileWriting(str(path), "b", "w", columns, ("day",), **settings)  # type: ignore[arg-type]


def test_rows_are_kept_apart_by_partition_and_day_and_stay_in_order(tmp_path: Path) -> None:
    rows = [("t", n % 2, n, None if n == 6 else f"2024-05-0{1 + n % 3}") for n in range(12)]
    files = writing(tmp_path).write([batch(rows[:5]), batch(rows[5:6]), batch(rows[6:])])
    seen = []
    for each in files:
        content = pq.read_table(tmp_path / each.path, partitioning=None).to_pylist()
        assert {row["partition"] for row in content} == {each.partition}
        assert {row["day"] for row in content} == {each.partition_values["day"]}
        offsets = [row["offset"] for row in content]
        assert offsets == sorted(offsets) and (offsets[0], offsets[-1]) == (
            each.first_offset,
            each.last_offset,
        )
        assert each.records == len(content) and each.size_bytes == (tmp_path / each.path).stat().st_size
        seen += offsets
    assert sorted(seen) == list(range(12))
    assert any("day=__HIVE_DEFAULT_PARTITION__" in each.path for each in files)


def test_lines_have_a_header_when_the_format_has_one(tmp_path: Path) -> None:
    task = writing(tmp_path, lines=True, header="a,b", suffix=".csv", compression="none")
    (file,) = task.write([batch([("t", 0, 1, "x"), ("t", 0, 2, "x")])])
    assert (tmp_path / file.path).read_bytes() == b"a,b\nt 1\nt 2\n"
    result = next(iter(task(iter([batch([("t", 0, 3, "x")])]))))
    assert json.loads(result.column(0)[0].as_py())["last_offset"] == 3


def test_a_task_that_fails_takes_its_files_away(tmp_path: Path) -> None:
    def failing() -> Iterator[pa.RecordBatch]:
        yield batch([("t", 0, 1, "x")])
        yield batch([("t", 1, 2, "y")])
        raise OSError("the log is gone")

    with pytest.raises(OSError, match="the log is gone"):
        writing(tmp_path, group_bytes=1).write(failing())
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == []


def test_two_attempts_of_a_task_never_write_the_same_file(tmp_path: Path) -> None:
    rows = batch([("t", 0, 1, "x")])
    one, other = writing(tmp_path).write([rows]), writing(tmp_path).write([rows])
    assert one[0].path != other[0].path


def test_late_records_of_many_days_do_not_keep_many_files_open(tmp_path: Path) -> None:
    rows = [("t", 0, n, f"day-{n % (2 * OPEN_FILES_MAX)}") for n in range(4 * OPEN_FILES_MAX)]
    files = writing(tmp_path).write([batch(rows)])
    assert sum(each.records for each in files) == len(rows)
    files = writing(tmp_path, file_bytes=1, group_bytes=1).write([batch(rows[:1]), batch(rows[:1])])
    assert len(files) == 2  # the first one was large enough


def test_odd_values_do_not_become_odd_directories(tmp_path: Path) -> None:
    files = writing(tmp_path).write([batch([("t", 0, 1, "../../etc"), ("t", 0, 2, "a/b=c%20é")])])
    for each in files:
        assert (tmp_path / each.path).resolve().is_relative_to(tmp_path)
        assert each.path.count("/") == 2
    assert {each.partition_values["day"] for each in files} == {"../../etc", "a/b=c%20é"}
