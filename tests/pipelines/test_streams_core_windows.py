"""Windowed aggregates with late data, run on Spark, against windows computed from the list of all records.

The records come in phases, each a micro-batch of its own: what is late in a phase is decided by the highest
timestamp of the phases before it. A record is left out of a window that was closed by then, and counts in
those that were not. (Every kind of windows against Kafka Streams itself: test_streams_core_processors.py.)
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from streams_program import Program, Put, number, session_key, windowed_key

from ottla.streams import SessionWindows, StreamsBuilder, Suppressed, TimeWindows
from support.broker_process import BrokerProcess

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(600)  # several queries each; seconds on a machine that is not busy

T0 = 1_700_000_000_000
SIZE, ADVANCE, GAP, GRACE = 10_000, 4_000, 2_000, 5_000


def phases() -> list[list[Put]]:
    """Two, the later one with records from long before, from just before, and on edges of windows."""
    choose = random.Random(11)
    spans = ((0, 30), (4, 60))
    made = [
        [
            (
                choose.choice("abc"),
                str(choose.randrange(100)),
                T0 + 1000 * choose.randrange(low, high) + choose.choice((0, 0, 1, 999)),
            )
            for _ in range(60)
        ]
        for low, high in spans
    ]
    for phase in made:
        phase += [
            (None, "7", T0 + 29_000),
            ("a", None, T0 + 29_000),
        ]  # neither is counted: as in Kafka Streams
    return made


Record = tuple[str, int, int]
"""Key, value, time."""


def starts(time: int, size: int, advance: int) -> list[int]:
    return [
        start
        for start in range((time - size) // advance * advance, time + 1, advance)
        if start <= time < start + size
    ]


def time_windows(made: list[list[Put]], size: int, advance: int) -> list[dict[tuple[str, int], list[int]]]:
    """By phase: all values so far of each window that the phase changed."""
    windows: dict[tuple[str, int], list[int]] = {}
    result = []
    close = 0
    for phase in made:
        changed = set()
        for key, value, time in phase:
            if key is None or value is None:
                continue
            for start in starts(time, size, advance):
                if start + size > close:
                    windows.setdefault((key, start), []).append(int(value))
                    changed.add((key, start))
        close = max(
            close, max(time for key, value, time in phase if key is not None and value is not None) - GRACE
        )
        result.append({window: list(windows[window]) for window in changed})
    return result


def runs(records: list[Record], gap: int) -> list[list[Record]]:
    """Records of one key without a longer pause."""
    found: list[list[Record]] = []
    for record in sorted(records, key=lambda record: record[2]):
        if found and record[2] - found[-1][-1][2] <= gap:
            found[-1].append(record)
        else:
            found.append([record])
    return found


def sessions_of(records: list[Record]) -> dict[tuple[str, int, int], list[int]]:
    return {
        (key, run[0][2], run[-1][2]): [len(run), sum(value for _, value, _ in run)]
        for key in "abc"
        for run in runs([record for record in records if record[0] == key], GAP)
    }


def session_changes(made: list[list[Put]]) -> list[dict[Any, Any]]:
    """By phase: the sessions that are new or changed, and (None) those that became part of another."""
    kept: list[Record] = []
    close = 0
    result = []
    for phase in made:
        # What was closed stays as it is, and is not gone on with.
        before = {session: total for session, total in sessions_of(kept).items() if session[2] + GAP > close}
        kept = [
            record
            for record in kept
            if any(key == record[0] and start <= record[2] <= end for key, start, end in before)
        ]
        records = [
            (key, int(value), time) for key, value, time in phase if key is not None and value is not None
        ]
        for record in records:
            own = [one for one in [*kept, record] if one[0] == record[0]]
            if any(record in run and run[-1][2] + GAP >= close for run in runs(own, GAP)):
                kept.append(record)
        now = sessions_of(kept)
        changes: dict[Any, Any] = {gone: None for gone in before if gone not in now}
        changes |= {session: total for session, total in now.items() if before.get(session) != total}
        result.append(changes)
        close = max(time for _, _, time in records) - GRACE
    return result


def test_windows_with_late_data_are_those_of_the_records_that_came_in_time(
    spark: SparkSession, shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    """Kafka Streams: a record is late for a window that ended the grace before the stream's time, and only
    then. KIP-94: a session that becomes part of another one is deleted by a tombstone.
    """
    program = Program(spark, shared_broker.bootstrap, tmp_path / "checkpoint", "windows")
    source = program.topic("in", 1)  # one partition: a phase is so many offsets
    outs = {name: program.topic(name, 1) for name in ("hopping", "final", "sessions")}
    builder = StreamsBuilder()
    grouped = builder.stream(source).group_by_key()
    tumbling = TimeWindows.of_size_and_grace(SIZE, GRACE)
    grouped.windowed_by(tumbling.advance_by(ADVANCE)).count().to_stream().to(outs["hopping"])
    final = grouped.windowed_by(tumbling).count().suppress(Suppressed.until_window_closes())
    final.to_stream().to(outs["final"])
    there = builder.stream(source).filter(lambda key, value: value is not None)
    sessions = there.map_values(int).group_by_key()
    sessions.windowed_by(SessionWindows.of_inactivity_gap_and_grace(GAP, GRACE)).aggregate(
        lambda: [0, 0],
        lambda key, value, total: [total[0] + 1, total[1] + value],
        lambda key, one, two: [one[0] + two[0], one[1] + two[1]],
    ).to_stream().to(outs["sessions"], value_serde="json")

    made = phases()
    for phase in made:
        program.put(source, phase)
    assert len({len(phase) for phase in made}) == 1
    program.run(builder, options={"maxOffsetsPerTrigger": len(made[0])})

    hopping = time_windows(made, SIZE, ADVANCE)
    got = program.all(outs["hopping"])
    for counted in hopping:
        fresh, got = got[: len(counted)], got[len(counted) :]
        assert {windowed_key(each.key): number(each.value) for each in fresh} == {
            window: len(values) for window, values in counted.items()
        }
    assert got == []
    in_time = {(key, start) for key, _, time in made[1] if key for start in starts(time, SIZE, ADVANCE)}
    assert len(hopping[1]) < len(in_time)  # something was late

    told = {windowed_key(each.key): number(each.value) for each in program.all(outs["final"])}
    assert len(told) == len(program.all(outs["final"]))  # one result per window
    stream_time = max(
        time for phase in made for key, value, time in phase if key is not None and value is not None
    )
    every = {
        window: values for changed in time_windows(made, SIZE, SIZE) for window, values in changed.items()
    }
    assert told == {
        window: len(values) for window, values in every.items() if window[1] + SIZE + GRACE <= stream_time
    }

    got = program.all(outs["sessions"])
    for changes in session_changes(made):
        fresh, got = got[: len(changes)], got[len(changes) :]
        assert {session_key(each.key): each.value and json.loads(each.value) for each in fresh} == changes
    assert got == []
    assert None in changes.values()  # in the last phase, of sessions that were merged
