"""The processors of aggregates and of `suppress` on Spark's own tester, which needs no JVM: against what
Apache Kafka Streams gave (its transcripts), and against our test driver for whatever programs and records.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester

from ottla.streams import (
    SessionWindows,
    SlidingWindows,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
    TopologyTestDriver,
    avg_of,
    count_of,
    max_of,
    struct,
    sum_of,
    value,
)
from ottla.streams import json as json_serde
from ottla.streams.lowering.keyed import Shape
from ottla.streams.lowering.python_aggregates import processor_of
from ottla.streams.lowering.suppress import SuppressProcessor
from ottla.streams.plan import Aggregate

TRANSCRIPTS: dict[str, list[Any]] = json.loads(
    (Path(__file__).parents[1] / "unit/streams/kafka_streams/transcripts.json").read_text()
)
Put = tuple[str, Any, int]
"""Key, value, time in ms."""


class Bench:
    """A processor with records by key, in batches, and a watermark between them, as a query has it."""

    def __init__(self, processor: Any, *, windowed: bool, grace_ms: int = 0) -> None:
        processor.shape = Shape("string", "string", "value", False, windowed)
        self.tester = TwsTester(processor, timeMode="eventTime", eventTimeExtractor=lambda row: 1 << 62)
        self.grace_ms = grace_ms
        self.newest_ms = self.watermark_ms = 0
        self.offset = 0

    def batch(self, *records: tuple[int, str, Any, int]) -> list[Any]:
        """(side, key, value, time) each. What comes out, also when the watermark has moved behind them."""
        by_key: dict[str, list[Any]] = {}
        for side, key, content, time_ms in records:
            self.offset += 1
            by_key.setdefault(key, []).append((time_ms, side, f"t{side}", 0, self.offset, content, None))
            self.newest_ms = max(self.newest_ms, time_ms)
        rows = [
            row
            for key, packed in by_key.items()
            for row in self.tester.test(key, [Row(records=pickle.dumps(packed))])
        ]
        if self.newest_ms - self.grace_ms > self.watermark_ms:
            self.watermark_ms = self.newest_ms - self.grace_ms
            rows += self.tester.setWatermark(self.watermark_ms)
        return [(_key(row), row.value, row.timestamp // 1000) for row in rows]


def _key(row: Any) -> Any:
    if "window" not in row:
        return row.key
    return f"{row.key}@{row.window['start'] // 1000}/{row.window['end'] // 1000}"


def _aggregate(builder: StreamsBuilder) -> Aggregate:
    (found,) = (node for node in builder.build().nodes() if isinstance(node, Aggregate))
    return found


def _bench_of(node: Aggregate) -> Bench:
    grace_ms = 0 if node.windows is None else node.windows.grace_ms
    return Bench(processor_of(node), windowed=node.windowed, grace_ms=grace_ms)


# --- Apache Kafka Streams ----------------------------------------------------------------------------------


def _add(key: str, item: str, aggregate: str) -> str:
    return aggregate + item


def _program(name: str) -> StreamsBuilder:
    """As in test_streams_transcripts.py."""
    builder = StreamsBuilder()
    grouped = builder.stream("a").group_by_key()
    tumbling = TimeWindows.of_size_and_grace(10, 5)
    result: Any
    match name:
        case "aggregate":
            result = grouped.aggregate(str, _add)
        case "reduce":
            result = grouped.reduce(lambda one, two: one + two)
        case "cogroup":
            other = builder.stream("b").group_by_key()
            both = grouped.cogroup(_add).cogroup(other, lambda key, item, all_: f"{all_}({item})")
            result = both.aggregate(str)
        case "tumbling":
            result = grouped.windowed_by(tumbling).aggregate(str, _add)
        case "final_tumbling":
            windows = grouped.windowed_by(tumbling).aggregate(str, _add)
            result = windows.suppress(Suppressed.until_window_closes())
        case "sliding":
            sliding = SlidingWindows.of_time_difference_and_grace(10, 8)
            result = grouped.windowed_by(sliding).aggregate(str, _add)
        case "sessions":
            sessions = SessionWindows.of_inactivity_gap_and_grace(5, 6)
            result = grouped.windowed_by(sessions).aggregate(str, _add, lambda key, a, b: f"{a}&{b}")
    result.to_stream().to("out")
    return builder


@pytest.mark.parametrize(
    "name",
    ["aggregate", "reduce", "cogroup", "tumbling", "final_tumbling", "sliding", "sessions"],
)
def test_record_by_record_the_aggregates_are_those_of_kafka_streams(name: str) -> None:
    """Each record is a micro-batch. The order of updates of different windows is not part of it."""
    assert TRANSCRIPTS[name]
    for transcript in TRANSCRIPTS[name]:
        bench = _bench_of(_aggregate(_program(name)))
        for (topic, key, content, time_ms), wanted in transcript:
            if key is None or content is None:  # does not get as far as a processor
                assert wanted == []
                continue
            results = bench.batch(("ab".index(topic), key, content, time_ms))
            # Kafka Streams deletes a session that grows before it writes it again: one update is enough.
            last = {name: (name, *rest) for name, *rest in wanted}
            assert sorted(results, key=str) == sorted(last.values(), key=str), (key, content, time_ms)


def test_updates_that_wait_for_a_time_limit_come_out_as_in_kafka_streams() -> None:
    for transcript in TRANSCRIPTS["time_limit"]:
        bench = Bench(SuppressProcessor(5), windowed=False)
        for (_, key, content, time_ms), wanted in transcript:
            if key is not None:
                results = bench.batch((0, key, content, time_ms))
                assert sorted(results, key=str) == sorted(map(tuple, wanted), key=str)


# --- the test driver ---------------------------------------------------------------------------------------


def _grown(one: list[Any], two: list[Any]) -> list[Any]:
    one += two  # changed in place: nobody else may see it
    return one


def _joined(key: str, item: list[Any], all_: list[Any]) -> list[Any]:
    all_.append(item)
    return all_


AGGREGATIONS: dict[str, Callable[[Any], Any]] = {
    "count": lambda grouped: grouped.count(),
    "reduce": lambda grouped: grouped.reduce(_grown),
    "aggregate": lambda grouped: grouped.aggregate(list, _joined),
    "built in": lambda grouped: grouped.aggregate(
        struct(n=count_of(), s=sum_of(value["n"]), m=max_of(value["n"]), a=avg_of(value["n"]))
    ),
}
WINDOWS: list[Callable[[int], Any]] = [
    lambda grace_ms: None,
    lambda grace_ms: TimeWindows.of_size_and_grace(10, grace_ms),
    lambda grace_ms: TimeWindows.of_size_and_grace(10, grace_ms).advance_by(3),
    lambda grace_ms: SlidingWindows.of_time_difference_and_grace(7, grace_ms),
    lambda grace_ms: SessionWindows.of_inactivity_gap_and_grace(4, grace_ms),
]
NEVER_MS = 10_000
PUTS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 9), st.integers(0, 60)), min_size=1, max_size=30
)


def _built(kind: str, windows: Any, *, final: bool = False) -> StreamsBuilder:
    """The values are lists for functions, {"n": ...} for expressions, so that both can be changed."""
    builder = StreamsBuilder()
    serde = json_serde("n int") if kind == "built in" else "json"
    grouped: Any = builder.stream("in", value_serde=serde).group_by_key()
    if windows is not None:
        grouped = grouped.windowed_by(windows)
    if isinstance(windows, SessionWindows) and kind == "aggregate":
        table = grouped.aggregate(list, _joined, lambda key, one, two: _grown(one, two))
    else:
        table = AGGREGATIONS[kind](grouped)
    if final:
        table = table.suppress(Suppressed.until_window_closes())
    table.to_stream().to("out", value_serde="json")
    return builder


def _value(kind: str, number: int) -> Any:
    return {"n": number} if kind == "built in" else [number]


def _told_by_driver(builder: StreamsBuilder, kind: str, puts: list[Put]) -> list[Any]:
    driver = TopologyTestDriver(builder)
    for key, number, time_ms in puts:
        driver.pipe_input("in", key, _value(kind, number), time_ms)
    told = []
    for each in driver.read_output("out"):
        key = each.key
        name = key if isinstance(key, str) else f"{key.key}@{key.start_ms}/{key.end_ms}"
        told.append((name, each.value, each.timestamp_ms))
    return told


def _last(told: list[Any]) -> dict[str, Any]:
    """The table: of what was told of each key, the last."""
    table = {key: (content, time_ms) for key, content, time_ms in told}
    return {key: entry for key, entry in table.items() if entry[0] is not None}


@settings(max_examples=25)
@given(PUTS, st.data())
@pytest.mark.parametrize("kind", AGGREGATIONS)
@pytest.mark.parametrize("windows", WINDOWS)
def test_in_whatever_batches_the_table_is_that_of_the_driver(
    kind: str, windows: Callable[[int], Any], puts: list[Put], data: st.DataObject
) -> None:
    """Nothing is late: then batches make no difference to what a key or window has in the end."""
    bench = _bench_of(_aggregate(_built(kind, windows(NEVER_MS))))
    told: list[Any] = []
    rest = list(puts)
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        batch, rest = rest[:size], rest[size:]
        told += bench.batch(*((0, key, _value(kind, number), time_ms) for key, number, time_ms in batch))
    assert _last(told) == _last(_told_by_driver(_built(kind, windows(NEVER_MS)), kind, puts))


@settings(max_examples=25)
@given(PUTS, st.integers(0, 12))
@pytest.mark.parametrize("final", [False, True])
@pytest.mark.parametrize("windows", WINDOWS[1:])
def test_record_by_record_what_is_late_and_what_is_final_is_that_of_the_driver(
    windows: Callable[[int], Any], final: bool, puts: list[Put], grace_ms: int
) -> None:
    """Final results come once for each window; the driver may tell those of the last records later."""
    bench = _bench_of(_aggregate(_built("aggregate", windows(grace_ms), final=final)))
    puts = [*puts, ("end", 0, 1_000), ("end", 1, 2_000)]
    told = [row for key, number, time_ms in puts for row in bench.batch((0, key, [number], time_ms))]
    wanted = _told_by_driver(_built("aggregate", windows(grace_ms), final=final), "aggregate", puts)
    if not final:
        assert _last(told) == _last(wanted)
        return
    ours, theirs = ([each for each in all_ if not each[0].startswith("end")] for all_ in (told, wanted))
    assert sorted(ours) == sorted(theirs)
    assert len({key for key, _, _ in ours}) == len(ours)
