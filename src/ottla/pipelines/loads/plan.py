"""What a load will read: stored positions, the state of the logs and the options, made into ranges.

Pure: whoever calls it has asked the table and the cluster before. The rule for each partition:

    nothing stored        begin where the options say, or with the oldest record; the first commit stores the
                          beginning of every partition, also of those that have nothing to load yet
    a position stored     begin there; a start below it is a reload (asked for by name), one above it would
                          leave a gap (a reload goes on from the position then)
    records deleted       that were to be read next: refused, unless they may be skipped
    end                   the log's end (of what is committed), or where the options say
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ottla.model.types import TopicPartition
from ottla.pipelines.loads.data_file import DataFile
from ottla.pipelines.loads.errors import DataMissing, LoadRefused


@dataclass(frozen=True, slots=True)
class LogRange:
    """What a log has: from the oldest record to the end of what is committed."""

    earliest: int
    latest: int


@dataclass(frozen=True, slots=True)
class Range:
    """The records of one partition with start <= offset < end."""

    topic: str
    partition: int
    start: int
    end: int

    @property
    def tp(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(slots=True)
class LoadPlan:
    ranges: list[Range] = field(default_factory=list)
    """What is read and appended."""
    reloads: list[Range] = field(default_factory=list)
    """What is read again, up to the stored positions; it replaces `replaced`, in the first commit."""
    replaced: list[DataFile] = field(default_factory=list)
    gaps: list[Range] = field(default_factory=list)
    """What the log no longer has, or was told to leave out: skipped."""
    begun: dict[TopicPartition, int] = field(default_factory=dict)
    """Where partitions begin that had no position: stored, so that the next run knows it."""

    @property
    def records_max(self) -> int:
        return sum(len(each) for each in (*self.ranges, *self.reloads))

    @property
    def empty(self) -> bool:
        return not self.ranges and not self.reloads


def plan_load(
    logs: Mapping[TopicPartition, LogRange],
    stored: Mapping[TopicPartition, int],
    *,
    starts: Mapping[TopicPartition, int] | None = None,
    ends: Mapping[TopicPartition, int] | None = None,
    reload: bool = False,
    skip_missing: bool = False,
    files: Sequence[DataFile] = (),
) -> LoadPlan:
    """starts, ends: where the options say to begin and end (partitions they do not name: as without them);
    files: those of the table, needed for a reload.
    """
    if reload and starts is None:
        raise LoadRefused("--reload needs to know from where: add --since TIME or --from-offsets FILE")
    for what, named in (("from", starts or {}), ("until", ends or {})):
        for tp in named:
            if tp not in logs:
                raise LoadRefused(f"the offsets to load {what} name {tp}, which is not among the partitions")
    plan = LoadPlan()
    for tp, log in sorted(logs.items()):
        asked, begin = (starts or {}).get(tp), stored.get(tp)
        end = min(log.latest, (ends or {}).get(tp, log.latest))
        if begin is not None and begin > log.latest:
            raise LoadRefused(
                f"{tp}: the table holds offsets up to {begin - 1}, and the log ends at {log.latest}: the log "
                "was cut, or the topic was created anew; load into another directory"
            )
        if asked is not None and asked > log.latest:
            raise LoadRefused(f"{tp}: offset {asked} is beyond the end of the log, {log.latest}")
        if begin is None:
            start = log.earliest if asked is None else asked
        elif asked is None or asked == begin or (asked > begin and reload and not skip_missing):
            start = begin
        elif asked > begin:
            if not skip_missing:
                raise LoadRefused(
                    f"{tp}: the table ends before offset {begin}, and beginning at {asked} would leave out "
                    f"{asked - begin}: begin earlier, or add --skip-missing"
                )
            plan.gaps.append(Range(*tp, begin, asked))
            start = asked
        else:
            if not reload:
                raise LoadRefused(
                    f"{tp}: the table holds offsets up to {begin - 1} already, and this would begin at "
                    f"{asked}: add --reload to replace what is there, or leave the start out to go on"
                )
            _plan_reload(plan, tp, asked, begin, log, files)
            if end < begin:
                raise LoadRefused(
                    f"{tp}: a reload has to reach what the table holds, offset {begin - 1}, and would end "
                    f"before {end}: choose a later --until"
                )
            start = begin
        if start < log.earliest:
            if not skip_missing:
                raise DataMissing(
                    f"{tp}: the records from {start} to {log.earliest - 1} are to be loaded next, and were "
                    "deleted from the log (retention): add --skip-missing to go on without them"
                )
            plan.gaps.append(Range(*tp, start, log.earliest))
            start = log.earliest
        if begin is None:
            plan.begun[tp] = start
        if start < end:
            plan.ranges.append(Range(*tp, start, end))
    return plan


def _plan_reload(
    plan: LoadPlan, tp: TopicPartition, asked: int, begin: int, log: LogRange, files: Sequence[DataFile]
) -> None:
    start = asked
    for each in files:
        if not each.traceable:
            raise LoadRefused(
                f"{each.path} does not say which offsets it holds (it was rewritten, or a stream wrote it): "
                "a table with such files cannot be reloaded in place; load into another directory"
            )
        if (each.topic, each.partition) != tp or each.last_offset < asked:
            continue
        # Files are replaced whole: one that begins before the start moves the start to its beginning.
        start = min(start, each.first_offset)
    # The moved start may lie inside another file: partition-by makes files of one range overlap.
    moved = True
    while moved:
        moved = False
        for each in files:
            if (each.topic, each.partition) == tp and each.first_offset < start <= each.last_offset:
                start, moved = each.first_offset, True
    if start < log.earliest:
        raise DataMissing(
            f"{tp}: the reload would begin at {start} (files are replaced whole), and the log begins at "
            f"{log.earliest} by now: what would be replaced cannot be read again; begin later"
        )
    plan.replaced.extend(
        each for each in files if (each.topic, each.partition) == tp and each.last_offset >= start
    )
    plan.reloads.append(Range(*tp, start, begin))


def rounds(ranges: Sequence[Range], records_max: int) -> list[list[Range]]:
    """The ranges cut into commits of at most `records_max` offsets, all partitions by their shares."""
    if records_max < 1:
        raise LoadRefused("--max-records-per-commit must be at least 1")
    left = [each for each in ranges if len(each)]
    found: list[list[Range]] = []
    while left:
        total = sum(len(each) for each in left)
        if total <= records_max:
            found.append(left)
            break
        taken: list[Range] = []
        rest: list[Range] = []
        room = records_max
        for each in left:
            count = min(len(each), max(1, records_max * len(each) // total), room)
            room -= count
            if count:
                taken.append(Range(each.topic, each.partition, each.start, each.start + count))
            if count < len(each):
                rest.append(Range(each.topic, each.partition, each.start + count, each.end))
        found.append(taken)
        left = rest
    return found
