"""Whole runs of `load`, with a made-up cluster and tasks in this process: what others do meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import killed_load
import pytest
from killed_load import rows

from ottla.model.types import TopicPartition
from ottla.pipelines.loads import load as loads
from ottla.pipelines.loads.cluster import LoadTopic
from ottla.pipelines.loads.data_file import Commit, DataFile, position_mark
from ottla.pipelines.loads.errors import CommitConflict, LoadRefused
from ottla.pipelines.loads.file_writing import FileWriting
from ottla.pipelines.loads.inspection import verify_load
from ottla.pipelines.loads.load import LoadProgress, load
from ottla.pipelines.loads.plan import LogRange, Range
from ottla.pipelines.loads.spec import TableSpec
from ottla.pipelines.loads.tables import Table, create_table, open_table, require_table
from ottla.pipelines.loads.writers import only_load

MARK = position_mark("clicks", 0)


class Cluster:
    """Partition 0 has records of all times, partition 1 only old ones: before the time 1000."""

    def __init__(self) -> None:
        self.fingerprint = 7
        self.settings = {"bootstrap.servers": "nowhere:1"}
        self.ends = {0: 6, 1: 4}

    def topics(self, names: Sequence[str]) -> dict[str, LoadTopic]:
        return {"clicks": LoadTopic(self.fingerprint, tuple(self.ends))}

    def logs(self, topics: object) -> dict[TopicPartition, LogRange]:
        return {TopicPartition("clicks", index): LogRange(0, end) for index, end in self.ends.items()}

    def resolve(self, logs: Mapping[TopicPartition, LogRange], time_ms: int | None, offsets: Any) -> Any:
        if time_ms is None:
            return offsets
        return {tp: 3 if tp.partition == 0 else log.latest for tp, log in logs.items()}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """Runs of `load` go to this cluster; their frames are ranges, which one task writes."""
    from ottla.pipelines.loads import table_writing

    made = Cluster()
    monkeypatch.setattr(loads, "LoadCluster", lambda settings: made)
    monkeypatch.setattr(loads._Run, "frame", lambda self, ranges: ranges)

    def write_files(frame: list[Range], table: Table, format: str, **settings: Any) -> list[DataFile]:
        task = FileWriting(
            str(table.path), table.data_directory(), settings["writer_id"], killed_load.COLUMNS
        )
        return [file for each in frame for file in task.write([rows(each.start, each.end, each.partition)])]

    monkeypatch.setattr(table_writing, "write_files", write_files)
    return made


def made(path: Path, format: str) -> Table:
    return create_table(path, TableSpec(format, columns="{}"), killed_load.SCHEMA, ())


def test_the_next_run_begins_where_the_first_one_would_have_also_in_a_partition_without_records(
    tmp_path: Path, cluster: Cluster
) -> None:
    made(tmp_path / "t", "parquet")
    assert load("clicks", tmp_path / "t", since=1000).records == 3
    cluster.ends = {0: 7, 1: 5}
    result = load("clicks", tmp_path / "t")
    assert [(each.partition, each.start, each.end) for each in result.partitions] == [(0, 6, 7), (1, 4, 5)]
    cluster.ends[2] = 0  # a partition without records yet has a beginning, too
    assert load("clicks", tmp_path / "t").records == 0
    assert require_table(tmp_path / "t").mark(position_mark("clicks", 2)) == 0


class Meanwhile(LoadProgress):
    """Does something after the first commit."""

    def __init__(self, action: Callable[[], None]) -> None:
        self.action = action
        self.commits = 0

    def committed(self, ranges: Sequence[Range], records: int) -> None:
        self.commits += 1
        if self.commits == 1:
            self.action()


@pytest.mark.parametrize("format", ["parquet", "delta", "iceberg"])
def test_another_load_between_two_commits_is_noticed_whenever_the_table_was_looked_at(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    """Where locks do not reach. The table's own check sees what came after the last look at it; this run has
    looked after the other one's commit, and would load the same records again."""
    made(tmp_path / "t", format)
    cluster.ends = {0: 6}
    mine: list[Table] = []

    def remembered(path: Path) -> Table | None:
        found = open_table(path)
        if found is not None:
            mine.append(found)
        return found

    def others() -> None:
        other = require_table(tmp_path / "t")
        other.commit(Commit("load", added=killed_load.write(other, "other", 2, 6), marks={MARK: 6}))
        mine[-1].refresh()

    monkeypatch.setattr(loads, "open_table", remembered)
    monkeypatch.setattr(loads, "_watched", _unwatched)
    with pytest.raises(CommitConflict, match="has moved clicks-0 from 2 to 6 meanwhile"):
        load("clicks", tmp_path / "t", max_records_per_commit=2, progress=Meanwhile(others))
    found = verify_load(tmp_path / "t")
    assert found.problems == [] and found.records == 6 and found.strays == []


@contextmanager
def _unwatched(run: object, ranges: object) -> Iterator[None]:
    yield


def test_a_topic_that_is_created_anew_under_a_load_is_not_mixed_with_the_old_one(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path / "t", "parquet")

    def anew() -> None:
        cluster.fingerprint = 8

    monkeypatch.setattr(loads, "_watched", _unwatched)
    with pytest.raises(LoadRefused, match="topic clicks was deleted and created anew while it was loaded"):
        load("clicks", tmp_path / "t", max_records_per_commit=5, progress=Meanwhile(anew))
    assert verify_load(tmp_path / "t").records == 5


def test_a_table_that_was_made_while_waiting_for_the_lock_has_the_say(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def late(path: Path) -> Iterator[None]:
        made(path, "parquet")
        with only_load(path):
            yield

    monkeypatch.setattr(loads, "only_load", late)
    with pytest.raises(LoadRefused, match="begun with --format parquet, and this run asks for --format json"):
        load("clicks", tmp_path / "t", format="json")
    assert require_table(tmp_path / "t").files() == []
