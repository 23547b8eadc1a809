"""`ottla.pipelines.load`: topics into a table, in parallel, each record once.

A run is a row of commits. Each takes ranges of offsets, lets Spark's tasks write them to files (one task
or more for each partition), and commits the files together with the positions behind them. So the table
itself says where the next run begins: after a crash at any step the ranges are either in the table, with the
position behind them, or they are read again. Nothing else remembers anything; a consumer group can be told,
for tools.
"""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ottla.model.types import TopicPartition
from ottla.pipelines.loads.cluster import LoadCluster
from ottla.pipelines.loads.data_file import Commit, DataFile, parse_position_mark, position_mark, topic_mark
from ottla.pipelines.loads.errors import CommitConflict, LoadRefused
from ottla.pipelines.loads.offset_texts import parse_offsets, parse_time_ms
from ottla.pipelines.loads.plan import LoadPlan, Range, plan_load, rounds
from ottla.pipelines.loads.spec import TableSpec, make_spec
from ottla.pipelines.loads.tables import Table, create_table, open_table, table_path
from ottla.pipelines.loads.writers import (
    Writer,
    clean_after_dead_writers,
    delete_replaced,
    discard_leftovers,
    discard_uncommitted,
    only_load,
    remember_replaced,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ottla.pipelines.values.dead_letters import OnError

RECORDS_PER_COMMIT: Final = 5_000_000
"""About a minute of work on a small machine: what a crash costs at most."""


@dataclass(slots=True)
class PartitionLoad:
    """What was done with one partition: offsets from start to end (not included), and what they became."""

    topic: str
    partition: int
    start: int
    end: int
    records: int = 0
    bytes: int = 0
    files: int = 0


@dataclass(slots=True)
class LoadResult:
    path: Path
    format: str
    partitions: list[PartitionLoad] = field(default_factory=list)
    commits: int = 0
    replaced_files: int = 0
    cleaned_files: int = 0
    gaps: list[Range] = field(default_factory=list)
    """Offsets that were left out, because the log no longer has them (`skip_missing`)."""
    group_error: str = ""
    """Why the consumer group could not be told, if so; the table is right nevertheless."""
    interrupted: bool = False
    seconds: float = 0.0

    @property
    def records(self) -> int:
        return sum(each.records for each in self.partitions)


class LoadProgress:
    """Told what happens, on the driver's threads. Does nothing; the command line shows it."""

    def planned(self, plan: LoadPlan) -> None: ...

    def written(self, offsets: float) -> None:
        """So many offsets of the commit at hand were written."""

    def committed(self, ranges: Sequence[Range], records: int) -> None: ...


def load(
    topics: str | Sequence[str],
    to: str | Path,
    *,
    bootstrap_servers: str | None = None,
    format: str | None = None,
    values: str | None = None,
    keys: str | None = None,
    schema: str | None = None,
    headers: bool | None = None,
    partition_by: str | Sequence[str] | None = None,
    since: str | int | datetime | None = None,
    from_offsets: Mapping[str, Mapping[int | str, int]] | str | None = None,
    until: str | int | datetime | None = None,
    until_offsets: Mapping[str, Mapping[int | str, int]] | str | None = None,
    reload: bool = False,
    skip_missing: bool = False,
    on_error: OnError = "fail",
    max_records_per_commit: int = RECORDS_PER_COMMIT,
    min_partitions: int | None = None,
    compression: str | None = None,
    group: str | None = None,
    dry_run: bool = False,
    options: Mapping[str, str] | None = None,
    spark: SparkSession | Callable[[], SparkSession] | None = None,
    progress: LoadProgress | None = None,
) -> LoadResult:
    """Loads the records of topics into the table in the directory `to`, from where the last run ended.

    format: parquet (default), json, csv (read through their manifest: `read_load`), delta or iceberg.
    values, keys: raw (default), text; values also json or avro with `schema`. An earlier run's choice stays.
    partition_by: year, month, day, hour (of the timestamp, UTC), topic, partition; several by commas.
    since, until: times; from_offsets, until_offsets: `{"clicks": {"0": 12}}` or text of the same.
    reload: a start below what the table holds replaces those files, in one commit.
    skip_missing: go on where the log no longer has the records that come next.
    on_error: what becomes of a value that cannot be decoded, see `from_json`.
    group: a consumer group that is told the positions after each commit, so that lag tools see them.
    options: settings of the client with Kafka's names (security, ...).
    spark: the session to use, or a function that makes one (called only if there is something to do).
    """
    began = time.monotonic()
    names = [topics] if isinstance(topics, str) else list(dict.fromkeys(topics))
    if not names:
        raise LoadRefused("name at least one topic")
    if since is not None and from_offsets is not None:
        raise LoadRefused("--since and --from-offsets exclude each other")
    if until is not None and until_offsets is not None:
        raise LoadRefused("--until and --until-offsets exclude each other")
    if max_records_per_commit < 1:
        raise LoadRefused("--max-records-per-commit must be at least 1")
    path = table_path(to)
    table = open_table(path)
    settings = {**(options or {}), "bootstrap.servers": bootstrap_servers or "localhost:9092"}
    asked: dict[str, Any] = {
        "format": format,
        "values": values,
        "keys": keys,
        "partition_by": partition_by.split(",") if isinstance(partition_by, str) else partition_by,
        "headers": headers,
        "value_schema": schema,
    }
    run = _Run(
        path,
        asked,
        _agreed(path, table, asked),
        LoadCluster(settings),
        LoadResult(path, ""),
        progress or LoadProgress(),
        on_error,
        min_partitions,
        compression,
        group,
        spark,
    )
    run.result.format = run.spec.format
    limits = _Limits(
        _time(since, "--since"),
        _time(until, "--until"),
        _offsets(from_offsets, "--from-offsets"),
        _offsets(until_offsets, "--until-offsets"),
        reload,
        skip_missing,
    )
    try:
        if dry_run:
            plan = run.plan(names, table, limits)
            run.note_plan(plan)
            return run.result
        # Nothing is made, not even a directory, for a load that is refused or has nothing to do.
        if table is None and run.plan(names, None, limits).empty:
            return run.result
        with only_load(path):
            _load(run, names, limits, max_records_per_commit)
    finally:
        run.result.seconds = time.monotonic() - began
    return run.result


def _agreed(path: Path, table: Table | None, asked: Mapping[str, Any]) -> TableSpec:
    """The layout that the table and the options agree on."""
    if table is not None and (table.spec is None or table.spec.made_by != "load"):
        raise LoadRefused(f"{path} holds a table that no load has made: load into another directory")
    return make_spec(None if table is None else table.spec, path=str(path), **asked)


@dataclass(frozen=True, slots=True)
class _Limits:
    since_ms: int | None
    until_ms: int | None
    starts: dict[TopicPartition, int] | None
    ends: dict[TopicPartition, int] | None
    reload: bool
    skip_missing: bool


@dataclass(slots=True)
class _Run:
    path: Path
    asked: Mapping[str, Any]
    spec: TableSpec
    cluster: LoadCluster
    result: LoadResult
    progress: LoadProgress
    on_error: OnError
    min_partitions: int | None
    compression: str | None
    group: str | None
    spark: Any
    table: Table | None = None
    topic_marks: dict[str, int] = field(default_factory=dict)
    positions: dict[TopicPartition, int] = field(default_factory=dict)
    """What the table said when the plan was made, and each commit since."""
    noted: dict[TopicPartition, PartitionLoad] = field(default_factory=dict)
    committed: list[str] = field(default_factory=list)
    """The paths of the files that this run has committed."""

    def plan(self, names: Sequence[str], table: Table | None, limits: _Limits) -> LoadPlan:
        found = self.cluster.topics(names)
        self.topic_marks = {topic_mark(name): each.fingerprint for name, each in found.items()}
        logs = self.cluster.logs(found)
        stored: dict[TopicPartition, int] = {}
        for tp in logs if table is not None else ():
            known = table.mark(topic_mark(tp.topic)) if table is not None else None
            if known is not None and known != found[tp.topic].fingerprint:
                raise LoadRefused(
                    f"{self.path} holds records of another topic with the name {tp.topic}, which was deleted "
                    "and created anew since: load into another directory"
                )
            position = table.mark(position_mark(*tp)) if table is not None else None
            if position is not None:
                stored[tp] = position
        self.positions = stored
        starts = self.cluster.resolve(logs, limits.since_ms, limits.starts)
        ends = self.cluster.resolve(logs, limits.until_ms, limits.ends)
        return plan_load(
            logs,
            stored,
            starts=starts,
            ends=ends,
            reload=limits.reload,
            skip_missing=limits.skip_missing,
            files=table.files() if table is not None and limits.reload else (),
        )

    def note_plan(self, plan: LoadPlan) -> None:
        self.result.gaps = plan.gaps
        self.result.replaced_files = len(plan.replaced)
        for each in sorted(
            (*plan.reloads, *plan.ranges), key=lambda one: (one.topic, one.partition, one.start)
        ):
            self.note(each)

    def note(self, each: Range) -> PartitionLoad:
        known = self.noted.get(each.tp)
        if known is None:
            known = self.noted[each.tp] = PartitionLoad(*each.tp, each.start, each.end)
            self.result.partitions.append(known)
        known.start, known.end = min(known.start, each.start), max(known.end, each.end)
        return known

    def session(self) -> SparkSession:
        if self.spark is None or callable(self.spark):
            from ottla.pipelines import session

            self.spark = session() if self.spark is None else self.spark()
        found: SparkSession = self.spark
        return found

    def frame(self, ranges: Sequence[Range]) -> DataFrame:
        from ottla.pipelines.loads.columns import shaped
        from ottla.pipelines.loads.failures import explained

        reader = self.session().read.format("ottla")
        for name, value in self.cluster.settings.items():
            reader = reader.option(f"kafka.{name}", value)
        assign: dict[str, list[int]] = {}
        starting: dict[str, dict[str, int]] = {}
        ending: dict[str, dict[str, int]] = {}
        for each in ranges:
            assign.setdefault(each.topic, []).append(each.partition)
            starting.setdefault(each.topic, {})[str(each.partition)] = each.start
            ending.setdefault(each.topic, {})[str(each.partition)] = each.end
        reader = (
            reader.option("assign", json.dumps(assign))
            .option("startingOffsets", json.dumps(starting))
            .option("endingOffsets", json.dumps(ending))
            # Dead letters have the headers of their records, whether or not the table has them.
            .option("includeHeaders", str(self.spec.headers or not isinstance(self.on_error, str)).lower())
            .option("failOnDataLoss", "true")
        )
        if self.min_partitions is not None:
            reader = reader.option("minPartitions", str(self.min_partitions))
        with explained("Spark cannot read the topics"):
            return shaped(reader.load(), self.spec, self.on_error)

    def check_unchanged(self, table: Table, ranges: Sequence[Range]) -> None:
        """The commit is refused where somebody else changed the table; and where this looks now, the table is
        as the commit will find it. So what was read is what comes next, and of the same topic.
        """
        for each in ranges:
            known, there = self.positions.get(each.tp), table.mark(position_mark(*each.tp))
            if known != there:
                raise CommitConflict(
                    f"{self.path}: another load has moved {each.tp} from {known} to {there} meanwhile: "
                    "nothing of this commit counts; run it again to go on from there"
                )
        found = self.cluster.topics(sorted({each.topic for each in ranges}))
        for name, topic in found.items():
            if topic.fingerprint != self.topic_marks[topic_mark(name)]:
                raise LoadRefused(
                    f"topic {name} was deleted and created anew while it was loaded: nothing of this commit "
                    "counts"
                )

    @property
    def hidden(self) -> tuple[str, ...]:
        """Iceberg partitions by the timestamp itself; no column is made for it."""
        from ottla.pipelines.loads.columns import time_columns

        return time_columns(self.spec) if self.spec.format == "iceberg" else ()

    def ensure_table(self, ranges: Sequence[Range]) -> Table:
        from ottla.pipelines.loads.columns import nullable
        from ottla.pipelines.loads.table_writing import arrow_schema

        if self.table is None:
            frame = self.frame(ranges)
            shown = frame.drop(*self.hidden)
            self.spec = replace(self.spec, columns=nullable(shown.schema).json())
            self.table = create_table(
                self.path, self.spec, arrow_schema(frame, self.hidden), self.spec.partition_by
            )
        return self.table


def _load(run: _Run, names: Sequence[str], limits: _Limits, records_max: int) -> None:
    # Under the lock: what the table says now is what the first commit builds on.
    run.table = open_table(run.path)
    run.spec = _agreed(run.path, run.table, run.asked)
    run.result.format = run.spec.format
    if run.table is not None:
        run.result.cleaned_files = len(clean_after_dead_writers(run.table)) + len(delete_replaced(run.table))
    plan = run.plan(names, run.table, limits)
    run.result.gaps = plan.gaps
    run.progress.planned(plan)
    begun = {position_mark(*tp): start for tp, start in plan.begun.items()}
    skipped = {**begun, **{position_mark(*each.tp): each.end for each in plan.gaps}}
    if plan.empty and run.table is not None and skipped:
        # Only the gap is behind us now; or it would be met, and have to be allowed, again.
        run.table.commit(Commit("load", marks={**skipped, **run.topic_marks}))
    steps = [([*plan.reloads], plan.replaced)] if plan.reloads else []
    steps += [(each, []) for each in rounds(plan.ranges, records_max)]
    if steps:
        with Writer(run.path) as writer:
            try:
                for ranges, replaced in steps:
                    _commit_round(run, writer, ranges, replaced, skipped)
                    skipped = {}
                    _tell_group(run)
            except KeyboardInterrupt:
                run.result.interrupted = True
                raise
            # A task that ran twice has written the same records twice, into the same directories.
            discard_leftovers(run.path, writer.id, run.committed)
    _tell_group(run)


def _commit_round(
    run: _Run, writer: Writer, ranges: list[Range], replaced: list[DataFile], skipped: Mapping[str, int]
) -> None:
    from ottla.pipelines.loads.table_writing import write_files

    table = run.ensure_table(ranges)
    writer.touch()
    with _watched(run, ranges):
        files = write_files(
            run.frame(ranges),
            table,
            run.spec.format,
            writer_id=writer.id,
            partition_by=run.spec.partition_by,
            hidden=run.hidden,
            by_source=True,
            compression=run.compression,
        )
    commit = Commit(
        "reload" if replaced else "load",
        added=files,
        removed=replaced,
        marks={**run.topic_marks, **skipped, **{position_mark(*each.tp): each.end for each in ranges}},
        details={
            "ranges": [
                {"topic": each.topic, "partition": each.partition, "from": each.start, "to": each.end}
                for each in ranges
            ]
        },
    )
    try:
        run.check_unchanged(table, ranges)
        with _uninterrupted():
            table.commit(commit)
            _note_commit(run, table, commit, ranges)
    except CommitConflict:
        discard_uncommitted(table, [each.path for each in files])
        raise


def _note_commit(run: _Run, table: Table, commit: Commit, ranges: Sequence[Range]) -> None:
    for name, value in commit.marks.items():
        if (place := parse_position_mark(name)) is not None:
            run.positions[TopicPartition(*place)] = value
    run.committed.extend(each.path for each in commit.added)
    remember_replaced(table, commit.removed)
    run.result.commits += 1
    run.result.replaced_files += len(commit.removed)
    for each in ranges:
        run.note(each)
    for file in commit.added:
        noted = run.noted[TopicPartition(str(file.topic), file.partition)]
        noted.records += file.records
        noted.bytes += file.size_bytes
        noted.files += 1
    run.progress.committed(ranges, sum(file.records for file in commit.added))


def _tell_group(run: _Run) -> None:
    """Where the group cannot be told, the load goes on: the table's own positions are what counts."""
    if run.group is None or run.table is None:
        return
    positions = {
        TopicPartition(topic, partition): offset
        for (topic, partition), offset in run.cluster.positions(run.table).items()
    }
    run.result.group_error = run.cluster.commit_group(run.group, positions)


@contextmanager
def _watched(run: _Run, ranges: Sequence[Range]) -> Iterator[None]:
    """Tells the progress how many of the tasks are done, while they run."""
    if type(run.progress) is LoadProgress:
        yield
        return
    context = run.session().sparkContext
    name = f"ottla-load-{id(run)}-{run.result.commits}"
    context.setJobGroup(name, f"ottla load into {run.path}", interruptOnCancel=True)
    done, total = threading.Event(), sum(len(each) for each in ranges)

    def watch() -> None:
        tracker = context.statusTracker()
        while not done.wait(0.3):
            tasks = finished = 0
            for job in tracker.getJobIdsForGroup(name):
                info = tracker.getJobInfo(job)
                for stage in info.stageIds if info is not None else ():
                    found = tracker.getStageInfo(stage)
                    if found is not None:
                        tasks, finished = tasks + found.numTasks, finished + found.numCompletedTasks
            if tasks:
                run.progress.written(total * finished / tasks)

    thread = threading.Thread(target=watch, name="ottla-load-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the commit is through: nobody should have to guess whether it was."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {each: signal.signal(each, lambda number, frame: came.append(number)) for each in numbers}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        if came:
            signal.raise_signal(came[0])


def _time(value: str | int | datetime | None, option: str) -> int | None:
    return None if value is None else parse_time_ms(value, option)


def _offsets(
    value: Mapping[str, Mapping[int | str, int]] | str | None, option: str
) -> dict[TopicPartition, int] | None:
    if value is None:
        return None
    if isinstance(value, str):
        return parse_offsets(value, option)
    content = {topic: {str(index): offset for index, offset in each.items()} for topic, each in value.items()}
    return parse_offsets(json.dumps(content), option)
