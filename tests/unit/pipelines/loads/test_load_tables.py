"""Tables of each kind: commits, marks, conflicts, replacing, strays; the formats' own libraries read them."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import killed_load
import pyarrow as pa
import pytest
from killed_load import SCHEMA, made, rows, write

from ottla.pipelines.loads.commit_log import COMMITS_PER_CHECKPOINT, CommitLog
from ottla.pipelines.loads.data_file import Commit, DataFile, position_mark
from ottla.pipelines.loads.errors import CommitConflict, LoadRefused, NotALoad, TableDamaged
from ottla.pipelines.loads.inspection import describe_load, verify_load
from ottla.pipelines.loads.tables import Table, kind_of, open_table, require_table, table_path
from ottla.pipelines.loads.writers import (
    Writer,
    clean_after_dead_writers,
    delete_replaced,
    discard_leftovers,
    discard_uncommitted,
    only_load,
    remember_replaced,
    stray_files,
)

FORMATS = ["parquet", "delta", "iceberg"]
MARK = position_mark(killed_load.TOPIC, killed_load.PARTITION)


def append(table: Table, start: int, end: int, writer: str = "w") -> list[DataFile]:
    files: list[DataFile] = write(table, writer, start, end)
    table.commit(Commit("load", added=files, marks={MARK: end}))
    return files


def foreign_rows(path: Path, format: str) -> list[dict[str, Any]]:
    """The table's rows as the format's own library reads them."""
    if format == "delta":
        import deltalake

        found = pa.table(deltalake.DeltaTable(str(path)).to_pyarrow_table())
    else:
        from pyiceberg.table import StaticTable

        found = StaticTable.from_metadata(str(path)).scan().to_arrow()
    return sorted(found.to_pylist(), key=lambda row: row["offset"])


@pytest.mark.parametrize("format", FORMATS)
def test_files_and_positions_appear_in_one_commit_and_survive(tmp_path: Path, format: str) -> None:
    table = made(tmp_path / "t", format)
    assert table.mark(MARK) is None and table.files() == []
    files = write(table, "w", 0, 3)
    assert require_table(tmp_path / "t").files() == []  # written, and not there before the commit
    table.commit(Commit("load", added=files, marks={MARK: 3, "stream": 7}))
    append(table, 3, 5)
    again = require_table(tmp_path / "t")
    assert again.mark(MARK) == 5 and again.mark("stream") == 7 and again.mark("nobody") is None
    assert sorted((f.first_offset, f.last_offset, f.records) for f in again.files()) == [(0, 2, 3), (3, 4, 2)]
    assert {(f.topic, f.partition) for f in again.files()} == {("clicks", 0)}
    assert verify_load(tmp_path / "t").problems == []
    content = describe_load(tmp_path / "t")
    (only,) = content.partitions
    assert (only.first_offset, only.last_offset, only.position, only.records) == (0, 4, 5, 5)
    assert content.format == format
    if format != "parquet":
        assert foreign_rows(tmp_path / "t", format) == rows(0, 5).to_pylist()


@pytest.mark.parametrize("format", FORMATS)
def test_of_two_loads_from_the_same_state_one_wins(tmp_path: Path, format: str) -> None:
    """The second one would write the same offsets again."""
    made(tmp_path / "t", format)
    one, other = require_table(tmp_path / "t"), require_table(tmp_path / "t")
    append(one, 0, 3, "one")
    with pytest.raises(CommitConflict, match="run it again to go on from there"):
        append(other, 0, 3, "other")
    other.refresh()
    assert other.mark(MARK) == 3 and len(other.files()) == 1
    append(other, 3, 6, "other")
    assert require_table(tmp_path / "t").mark(MARK) == 6


@pytest.mark.parametrize("format", FORMATS)
def test_a_reload_takes_files_out_and_puts_others_in_at_once(tmp_path: Path, format: str) -> None:
    table = made(tmp_path / "t", format)
    append(table, 0, 3)
    append(table, 3, 6)
    old = [each for each in table.files() if each.first_offset == 3]
    new = write(table, "w", 3, 8)
    table.commit(Commit("reload", added=new, removed=old, marks={MARK: 8}))
    found = require_table(tmp_path / "t")
    assert sorted((f.first_offset, f.last_offset) for f in found.files()) == [(0, 2), (3, 7)]
    assert found.mark(MARK) == 8
    assert verify_load(tmp_path / "t").problems == []
    if format != "parquet":
        assert foreign_rows(tmp_path / "t", format) == rows(0, 8).to_pylist()
    # What was replaced is history, which a reader that began before may still need for a while.
    assert stray_files(found) == []
    remember_replaced(found, old)
    assert delete_replaced(found) == []
    if format == "parquet":
        assert delete_replaced(found, age_s=0) == [each.path for each in old]
        assert not (tmp_path / "t" / old[0].path).exists()
    assert delete_replaced(found, age_s=0) == []
    assert verify_load(tmp_path / "t").problems == []


@pytest.mark.parametrize("format", FORMATS)
def test_a_commit_without_files_moves_the_position(tmp_path: Path, format: str) -> None:
    """A range may hold only markers of transactions, or what compaction has removed."""
    table = made(tmp_path / "t", format)
    table.commit(Commit("load", marks={MARK: 40}))
    assert require_table(tmp_path / "t").mark(MARK) == 40


@pytest.mark.parametrize("format", FORMATS)
def test_files_of_dead_writers_are_deleted_and_those_of_living_ones_are_not(
    tmp_path: Path, format: str
) -> None:
    path = tmp_path / "t"
    table = made(path, format)
    dead, living = Writer(path), Writer(path)
    committed = append(table, 0, 3, dead.id)
    lost = write(table, dead.id, 3, 6)
    busy = write(table, living.id, 3, 6)
    dead.close(clean=False)
    assert clean_after_dead_writers(require_table(path)) == [each.path for each in lost]
    assert (path / committed[0].path).exists() and (path / busy[0].path).exists()
    assert stray_files(require_table(path)) == [each.path for each in busy]
    living.close(clean=False)


def test_a_second_load_at_the_same_time_says_who_is_at_work(tmp_path: Path) -> None:
    with (
        only_load(tmp_path),
        pytest.raises(LoadRefused, match=f"another load is writing .*process {os.getpid()} on"),
        only_load(tmp_path),
    ):
        raise AssertionError("both have it")
    with only_load(tmp_path):
        pass


@pytest.mark.parametrize("format", FORMATS)
def test_verification_finds_what_is_missing_cut_or_doubled(tmp_path: Path, format: str) -> None:
    table = made(tmp_path / "t", format)
    first = append(table, 0, 3)
    second = append(table, 3, 6)
    third = write(table, "w", 2, 4)
    table.commit(Commit("load", added=third))
    os.unlink(tmp_path / "t" / first[0].path)
    with open(tmp_path / "t" / second[0].path, "ab") as file:
        file.write(b"x")
    problems = "\n".join(verify_load(tmp_path / "t").problems)
    assert f"{first[0].path}: is missing" in problems
    assert f"{second[0].path}: {second[0].size_bytes + 1} bytes, and {second[0].size_bytes} were" in problems
    append(table, 3, 6)
    assert "clicks-0: 1 offsets are there more than once" in "\n".join(verify_load(tmp_path / "t").problems)


def test_a_directory_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "photos").mkdir()
    with pytest.raises(NotALoad, match=r"holds other files \(notes.txt and 1 more\)"):
        kind_of(tmp_path)
    with pytest.raises(NotALoad, match="is not a directory"):
        kind_of(tmp_path / "notes.txt")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["notes.txt", "photos"]
    assert kind_of(tmp_path / "new") is None
    with pytest.raises(NotALoad, match="does not exist"):
        require_table(tmp_path / "new")
    for wrong in ("s3://bucket/t", "file://elsewhere/t"):
        with pytest.raises(LoadRefused, match="a shared file"):
            table_path(wrong)
    assert table_path("file:///tmp/a%20b") == Path("/tmp/a b")


def test_a_damaged_manifest_is_said_and_not_read_as_an_empty_table(tmp_path: Path) -> None:
    table = made(tmp_path / "t", "parquet")
    append(table, 0, 3)
    commit = tmp_path / "t" / "_ottla" / "commits" / f"{0:020d}.json"
    commit.write_text('{"added": [')
    with pytest.raises(TableDamaged, match=rf"{commit.name} cannot be read"):
        open_table(tmp_path / "t")
    commit.write_text('{"manifest": 99}')
    with pytest.raises(TableDamaged, match="newer version"):
        open_table(tmp_path / "t")


def test_checkpoints_of_the_manifest_spare_reading_old_commits(tmp_path: Path) -> None:
    log = CommitLog(tmp_path / "commits")
    state = log.read()
    count = 2 * COMMITS_PER_CHECKPOINT + 5
    for number in range(count):
        removed = [state.files[f"f{number - 1}"]] if number % 10 == 9 else []
        log.append(state, Commit("load", [DataFile(f"f{number}", 1, 1)], removed, {"n": number}), time_ms=0)
    expected = log.read()
    assert expected.version == count - 1 and expected.marks == {"n": count - 1}
    for number in range(2 * COMMITS_PER_CHECKPOINT):
        (tmp_path / "commits" / f"{number:020d}.json").unlink()  # they are not needed
    assert log.read() == expected
    (tmp_path / "commits" / "_last_checkpoint").write_text(json.dumps({"commit": 5}))  # a stale hint
    assert log.read() == expected
    (tmp_path / "commits" / "_last_checkpoint").unlink()
    assert log.read() == expected


def test_iceberg_goes_on_when_the_hint_was_not_written_before_a_crash(tmp_path: Path) -> None:
    """Version 3 is committed by its file; the hint is for readers, and is set right by the next writer."""
    table = made(tmp_path / "t", "iceberg")
    append(table, 0, 3)
    append(table, 3, 6)
    hint = tmp_path / "t" / "metadata" / "version-hint.text"
    hint.write_text("1")
    assert require_table(tmp_path / "t").mark(MARK) == 6
    assert hint.read_text() == "3"
    hint.unlink()
    assert require_table(tmp_path / "t").mark(MARK) == 6


def test_the_columns_of_a_table_are_those_of_its_files(tmp_path: Path) -> None:
    assert made(tmp_path / "t", "delta").schema().names == SCHEMA.names  # type: ignore[attr-defined]


@pytest.mark.parametrize("format", FORMATS)
def test_a_table_reached_by_another_path_is_the_same_table(tmp_path: Path, format: str) -> None:
    """What a dead writer has committed is found by its name in the table, and not taken for a leftover."""
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "t")
    table = made(tmp_path / "t", format)
    dead = Writer(tmp_path / "t")
    append(table, 0, 3, dead.id)
    lost = write(table, dead.id, 3, 6)
    dead.close(clean=False)
    again = require_table(link)
    assert clean_after_dead_writers(again) == [each.path for each in lost]
    old = again.files()
    again.commit(Commit("reload", added=write(again, "w", 0, 5), removed=old, marks={MARK: 5}))
    assert verify_load(tmp_path / "t").problems == [] and stray_files(again) == []
    assert [(f.first_offset, f.last_offset) for f in require_table(tmp_path / "t").files()] == [(0, 4)]


@pytest.mark.parametrize("format", FORMATS)
def test_a_table_is_moved_and_goes_on_or_says_that_it_cannot(tmp_path: Path, format: str) -> None:
    append(made(tmp_path / "old", format), 0, 3)
    (tmp_path / "old").rename(tmp_path / "t")
    if format == "iceberg":
        with pytest.raises(LoadRefused, match=f"was moved or copied from {tmp_path / 'old'}"):
            open_table(tmp_path / "t")
        (tmp_path / "old").symlink_to(tmp_path / "t")
    moved = require_table(tmp_path / "t")
    assert moved.mark(MARK) == 3
    append(moved, 3, 6)
    assert verify_load(tmp_path / "t").problems == [] and len(require_table(tmp_path / "t").files()) == 2


def test_leftovers_of_tasks_that_ran_twice_go_and_committed_files_stay(tmp_path: Path) -> None:
    table = made(tmp_path / "t", "delta")  # all files are in one directory
    files = [*append(table, 0, 3, "mine"), *append(table, 3, 6, "mine")]
    twice, others = write(table, "mine", 3, 6), write(table, "other", 6, 9)
    discard_leftovers(table.path, "mine", [each.path for each in files])
    there = {each.name for each in (tmp_path / "t").glob("*.parquet")}
    assert there == {each.path for each in (*files, *others)} and twice[0].path not in there


@pytest.mark.parametrize("format", FORMATS)
def test_a_refused_commits_files_are_kept_if_a_commit_names_them(tmp_path: Path, format: str) -> None:
    """A library may fail behind the commit, and call it a conflict."""
    table = made(tmp_path / "t", format)
    files, others = append(table, 0, 3), write(table, "w", 3, 6)
    discard_uncommitted(table, [each.path for each in (*files, *others)])
    assert (table.path / files[0].path).exists() and not (table.path / others[0].path).exists()


def test_without_locks_a_writer_lives_as_long_as_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some network file systems refuse to lock; files of a running load must not be taken for leftovers."""

    def refused(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr("fcntl.flock", refused)
    table = made(tmp_path / "t", "parquet")
    writer = Writer(tmp_path / "t")
    files = write(table, writer.id, 0, 3)
    assert clean_after_dead_writers(table) == []
    entry = tmp_path / "t" / "_ottla" / "writers" / f"{writer.id}.json"
    content = json.loads(entry.read_text())
    entry.write_text(json.dumps({**content, "host": "another machine"}))
    assert clean_after_dead_writers(table) == []
    os.utime(entry, (0, 0))
    writer.touch()
    assert clean_after_dead_writers(table) == []
    os.utime(entry, (0, 0))  # for days there was no sign of it
    assert clean_after_dead_writers(table) == [each.path for each in files]
    late = write(table, writer.id, 0, 3)  # its tasks may write a little longer
    assert clean_after_dead_writers(table) == [each.path for each in late] and entry.exists()
    writer.touch()  # a stream without records for a day: it lives, and has some again
    write(table, writer.id, 0, 3)
    assert clean_after_dead_writers(table) == []
    os.utime(entry, (0, 0))
    assert len(clean_after_dead_writers(table)) == 1
    writer.close(clean=True)
