"""The test driver beyond the transcripts: steps, topics, times, processors, errors, what a user reads."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ottla.streams import (
    KStream,
    Processor,
    Record,
    RecordError,
    SessionWindows,
    SlidingWindows,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
    TopologyError,
    TopologyTestDriver,
    Windowed,
    avg_of,
    count_of,
    json,
    key,
    left,
    max_of,
    right,
    sql,
    struct,
    sum_of,
    timestamp,
    value,
    window_start,
)

TEN = TimeWindows.of_size_with_no_grace(10)


def results(
    stream: KStream, builder: StreamsBuilder, records: list[tuple[Any, ...]]
) -> list[tuple[Any, Any]]:
    """(key, value) of all that comes out of a stream for the records of topic `in`."""
    stream.to("out")
    driver = TopologyTestDriver(builder)
    driver.pipe_records("in", records)
    return [(record.key, record.value) for record in driver.read_output("out")]


def test_wordcount_counts_words() -> None:
    builder = StreamsBuilder()
    words = builder.stream("in").flat_map_values(lambda line: line.lower().split(" "))
    counts = words.group_by(lambda key, word: word).count()
    lines = [(None, "all streams lead to kafka"), (None, "hello kafka streams")]
    assert results(counts.to_stream(), builder, lines)[-3:] == [("hello", 1), ("kafka", 2), ("streams", 2)]


def test_what_comes_out_went_through_the_serdes() -> None:
    builder = StreamsBuilder()
    builder.stream("in", value_serde=json("delay int")).group_by(value["delay"]).count().to_stream().to("out")
    driver = TopologyTestDriver(builder)
    driver.pipe_input("in", "k", {"delay": 5, "unknown": 1}, 7)
    driver.pipe_input("in", "k", b'{"delay": 5}', 9)
    assert driver.read_output("out", raw=True)[1] == Record(b"\x00\x00\x00\x05", b"\x00" * 7 + b"\x02", 9)
    assert driver.read_output("out") == []


def test_expressions_run_as_in_spark() -> None:
    builder = StreamsBuilder()
    stream = builder.stream("in", value_serde=json("user string, delay int"))
    late = stream.filter(value["delay"] > 15).map(
        key=value["user"], value=struct(late=value["delay"], at=timestamp)
    )
    records = [
        ("k", {"user": "a", "delay": 20}, 0),
        ("k", {"user": "b"}, 1),
        ("k", {"user": "c", "delay": 3}, 2),
    ]
    assert [key for key, _ in results(late.map_values(value["late"]), builder, records)] == ["a"]


def test_built_in_aggregates_over_windows() -> None:
    builder = StreamsBuilder()
    stream = builder.stream("in", value_serde="long")
    table = (
        stream.group_by_key()
        .windowed_by(TEN)
        .aggregate(struct(n=count_of(), total=sum_of(value), mean=avg_of(value), high=max_of(value), who=key))
    )
    table.to_stream().to("out")
    driver = TopologyTestDriver(builder)
    driver.pipe_records("in", [("a", 1, 1), ("a", 5, 2), ("a", 7, 12)])
    assert driver.read_table(table) == {
        Windowed("a", 0, 10): {"n": 2, "total": 6, "mean": 3.0, "high": 5, "who": "a"},
        Windowed("a", 10, 20): {"n": 1, "total": 7, "mean": 7.0, "high": 7, "who": "a"},
    }


def test_built_in_aggregates_of_a_table_lose_what_the_table_loses() -> None:
    builder = StreamsBuilder()
    rows = builder.table("in", value_serde="long")
    totals = rows.group_by(lambda k, v: (k[0], v), key_type="string", value_type="bigint").aggregate(
        sum_of(value)
    )
    totals.to_stream().to("out")
    driver = TopologyTestDriver(builder)
    driver.pipe_records("in", [("a1", 5), ("a2", 7), ("b1", 1), ("a1", 6), ("a2", None)])
    assert driver.read_table(totals) == {"a": 6, "b": 1}


def test_final_results_of_sessions_and_sliding_windows_come_once_when_nothing_can_change_them() -> None:
    for windows, wanted in (
        (SessionWindows.of_inactivity_gap_with_no_grace(5), [(Windowed("a", 0, 4), 2)]),
        (
            SlidingWindows.of_time_difference_with_no_grace(5),
            [(Windowed("a", 0, 5), 2), (Windowed("a", 1, 6), 1)],
        ),
    ):
        builder = StreamsBuilder()
        table = builder.stream("in").group_by_key().windowed_by(windows).count()
        stream = table.suppress(Suppressed.until_window_closes()).to_stream()
        records = [("a", "x", 0), ("a", "y", 4), ("b", "z", 100), ("a", "late", 3)]
        assert results(stream, builder, records) == wanted


def test_a_filter_before_suppress_leaves_windows_out_without_a_deletion() -> None:
    builder = StreamsBuilder()
    counts = builder.stream("in").group_by_key().windowed_by(TEN).count()
    final = counts.filter(lambda k, n: n > 1).suppress(Suppressed.until_window_closes()).to_stream()
    records = [("a", "x", 0), ("b", "x", 1), ("a", "x", 2), ("c", "x", 50)]
    assert results(final, builder, records) == [(Windowed("a", 0, 10), 2)]


def test_windowed_keys_can_be_grouped_again() -> None:
    builder = StreamsBuilder()
    updates = builder.stream("in").group_by_key().windowed_by(TEN).count().to_stream()
    updates_per_window = updates.group_by_key().count()
    by_start = updates.map(key=window_start, value=value)
    by_start.to("starts", key_serde="json")
    driver_input = [("a", "x", 0), ("a", "y", 1), ("a", "z", 10)]
    assert results(updates_per_window.to_stream(), builder, driver_input)[-2:] == [
        (Windowed("a", 0, 10), 2),
        (Windowed("a", 10, 20), 1),
    ]


def test_branches_take_each_record_once() -> None:
    builder = StreamsBuilder()
    branches = (
        builder.stream("in").split().branch(value == "a", "a").branch(lambda k, v: v < "m").default_branch()
    )
    assert list(branches) == ["a", "2", "0"]
    for name, stream in branches.items():
        stream.to(f"out-{name}")
    driver = TopologyTestDriver(builder)
    driver.pipe_records("in", [("k", "a"), ("k", "b"), ("k", "z")])
    assert [driver.read_output(f"out-{name}")[0].value for name in branches] == ["a", "b", "z"]


def test_topics_that_the_topology_writes_and_reads_are_piped_on() -> None:
    builder = StreamsBuilder()
    builder.stream("in").through("middle").repartition().map_values(str.upper).to("next")
    builder.stream("next").merge(builder.stream(re.compile("mid.*"))).to("out")
    driver = TopologyTestDriver(builder)
    driver.pipe_input("in", "k", "v")
    assert sorted(record.value for record in driver.read_output("out")) == ["V", "v"]
    assert [record.value for record in driver.read_output("middle")] == ["v"]


def test_the_topic_can_depend_on_the_record() -> None:
    builder = StreamsBuilder()
    builder.stream("in").to(lambda k, v: f"out-{v}")
    driver = TopologyTestDriver(builder)
    driver.pipe_records("in", [("k", "a"), ("l", "b")])
    assert [record.key for record in driver.read_output("out-b")] == ["l"]


def test_timestamps_come_from_the_record_the_extractor_or_the_clock() -> None:
    builder = StreamsBuilder()
    builder.stream("plain").to("out")
    builder.stream("own", value_serde="long", timestamp_extractor=lambda k, v, ts: v).to("out")
    builder.stream("expression", value_serde="long", timestamp_extractor=value * 2).to("out")
    driver = TopologyTestDriver(builder, start_ms=1_000)
    driver.pipe_input("plain", "k", "v")
    driver.advance_time(500)
    driver.pipe_input("plain", "k", "v")
    driver.pipe_input("own", "k", 77, 5)
    driver.pipe_input("own", "k", -1, 5)  # a negative timestamp: the record is dropped
    driver.pipe_input("expression", "k", 21)
    assert [record.timestamp_ms for record in driver.read_output("out")] == [1_000, 1_500, 77, 42]
    assert driver.stream_time_ms == 1_500


def test_a_stream_becomes_a_table_without_the_records_that_have_no_key() -> None:
    builder = StreamsBuilder()
    table = builder.stream("in").to_table()
    assert results(table.to_stream(), builder, [("a", "x"), (None, "y"), ("a", None)]) == [
        ("a", "x"),
        ("a", None),
    ]


def test_headers_follow_the_record() -> None:
    builder = StreamsBuilder()
    builder.stream("in").flat_map_values(lambda v: v.split()).to("out")
    driver = TopologyTestDriver(builder)
    driver.pipe_input("in", "k", "a b", headers=[("trace", b"1")])
    assert [record.headers for record in driver.read_output("out")] == [(("trace", b"1"),)] * 2


def test_effects_are_called_once_per_record() -> None:
    builder = StreamsBuilder()
    seen: list[tuple[str, str, str]] = []
    stream = builder.stream("in").peek(lambda k, v: seen.append(("peek", k, v)))
    stream.for_each(lambda k, v: seen.append(("each", k, v)))
    TopologyTestDriver(builder).pipe_input("in", "k", "v")
    assert seen == [("peek", "k", "v"), ("each", "k", "v")]


def test_a_joiner_may_be_an_expression_or_take_the_key() -> None:
    builder = StreamsBuilder()
    stream, table = builder.stream("in"), builder.table("t")
    stream.join(table, struct(k=key, l=left, r=right)).to("expression")
    stream.join(table, lambda k, a, b: (k, a, b)).to("function")
    driver = TopologyTestDriver(builder)
    driver.pipe_input("t", "k", "row")
    driver.pipe_input("in", "k", "record")
    assert driver.read_output("expression")[0].value == {"k": "k", "l": "record", "r": "row"}
    assert driver.read_output("function")[0].value == ("k", "record", "row")


def test_a_function_that_changes_its_aggregate_changes_nothing_else() -> None:
    """In a store the aggregate is bytes: a list that is appended to must not leak into other windows."""
    builder = StreamsBuilder()
    windows = SlidingWindows.of_time_difference_with_no_grace(10)

    def add(key: str, value: str, aggregate: list[str]) -> list[str]:
        aggregate.append(value)
        return aggregate

    table = builder.stream("in").group_by_key().windowed_by(windows).aggregate(list, add)
    table.to_stream().to("out")
    driver = TopologyTestDriver(builder)
    driver.pipe_records("in", [("a", "x", 20), ("a", "y", 25)])
    assert driver.read_table(table) == {
        Windowed("a", 10, 20): ["x"],
        Windowed("a", 15, 25): ["x", "y"],
        Windowed("a", 21, 31): ["y"],
    }


# --- processors ---


class Sessionizer(Processor):
    """Sends the number of records of a key when there were none for 10 ms of the stream's time."""

    def init(self, context: Any) -> None:
        super().init(context)
        self.count = context.value_store("count")
        self.until = context.value_store("until")

    def process(self, record: Record) -> None:
        if self.until.get() is not None:
            self.context.cancel(self.until.get())
        self.count.put((self.count.get() or 0) + 1)
        self.until.put(record.timestamp_ms + 10)
        self.context.schedule(record.timestamp_ms + 10)

    def punctuate(self, timestamp_ms: int) -> None:
        self.context.forward(Record(self.context.key, self.count.get(), timestamp_ms))
        self.count.delete()
        self.until.delete()


def test_a_processor_has_state_and_timers_of_each_key() -> None:
    builder = StreamsBuilder()
    builder.stream("in").process(Sessionizer).to("out")
    driver = TopologyTestDriver(builder)
    driver.pipe_records("in", [("a", "x", 0), ("b", "x", 1), ("a", "x", 5), ("c", "x", 12), ("d", "x", 40)])
    assert driver.read_output("out") == [Record("b", 1, 11), Record("a", 2, 15), Record("c", 1, 22)]


class Batches(Processor):
    """Collects values and sends them by the clock."""

    punctuation = "wall_clock"

    def init(self, context: Any) -> None:
        super().init(context)
        self.values = context.list_store("values")
        self.seen = context.map_store("seen")

    def process(self, record: Record) -> None:
        if not self.values.get():
            self.context.schedule(100)
        self.values.append(record.value)
        self.seen.put(record.value, True)

    def punctuate(self, timestamp_ms: int) -> None:
        distinct = [name for name, _ in self.seen.items()]
        self.context.forward(Record(self.context.key, [self.values.get(), distinct], timestamp_ms))
        self.values.delete()

    def close(self) -> None:
        closed.append("closed")


closed: list[str] = []


def test_a_processor_with_the_clocks_timers_waits_for_advance_time() -> None:
    builder = StreamsBuilder()
    builder.stream("in").process(Batches).to("out")
    with TopologyTestDriver(builder) as driver:
        driver.pipe_records("in", [("a", "y", 1_000), ("a", "x", 2_000), ("a", "y", 3_000)])
        driver.advance_time(99)
        assert driver.read_output("out") == []
        driver.advance_time(1)
        assert driver.read_output("out") == [Record("a", [["y", "x", "y"], ["x", "y"]], 100)]
    assert closed == ["closed"]


class Late(Processor):
    def process(self, record: Record) -> None:
        self.context.value_store("too-late")


def test_stores_are_made_in_init() -> None:
    builder = StreamsBuilder()
    builder.stream("in").process(Late).to("out")
    with pytest.raises(RecordError, match="stores are made in init"):
        TopologyTestDriver(builder).pipe_input("in", "k", "v")


# --- what goes wrong ---


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (
            lambda s: s.map_values(int, name="to-int"),
            "to-int failed on the record of topic in, partition 0, offset 1",
        ),
        (
            lambda s: s.group_by_key().reduce(lambda a, v: a + int(v), name="sum").to_stream(),
            "sum failed on the record",
        ),
        (
            lambda s: (
                s.map_values(lambda v: {v} if v == "one" else v)
                .select_key(lambda k, v: v)
                .group_by_key()
                .count()
                .to_stream()
            ),
            "offset 1: {'one'} cannot be a key: a set has no canonical form",
        ),
    ],
)
def test_an_error_names_the_step_and_the_record(step: Any, said: str) -> None:
    builder = StreamsBuilder()
    step(builder.stream("in")).to("out")
    driver = TopologyTestDriver(builder)
    driver.pipe_input("in", "k", "1")
    with pytest.raises(RecordError, match=said):
        driver.pipe_input("in", "k", "one")


def test_bytes_that_a_serde_cannot_read_name_the_record() -> None:
    builder = StreamsBuilder()
    builder.stream("in", value_serde="long", name="source").to("out")
    driver = TopologyTestDriver(builder)
    with pytest.raises(RecordError, match="source cannot read the value of topic in, partition 0, offset 0"):
        driver.pipe_input("in", "k", b"abc")


def test_a_value_that_the_sinks_serde_does_not_write_is_an_error_of_the_record() -> None:
    builder = StreamsBuilder()
    builder.stream("in").map_values(lambda v: v).to("out", value_serde="long", name="sink")
    with pytest.raises(RecordError, match="sink cannot write what came of topic in, partition 0, offset 0"):
        TopologyTestDriver(builder).pipe_input("in", "k", "v")


def test_the_driver_says_what_it_cannot_do() -> None:
    builder = StreamsBuilder()
    unused = builder.table("elsewhere")
    stream = builder.stream("in").filter(sql("value = 'x'", returns="boolean"))
    stream.to("out")
    driver = TopologyTestDriver(builder)
    with pytest.raises(TopologyError, match="nothing in the topology reads the topic 'other'"):
        driver.pipe_input("other", "k", "v")
    with pytest.raises(RecordError, match="can only be computed by Spark"):
        driver.pipe_input("in", "k", "v")
    with pytest.raises(TopologyError, match="is not part of the topology"):
        driver.read_table(unused)
    with pytest.raises(TopologyError, match="is a stream, not a table"):
        driver.read_table(stream)
    sparks = StreamsBuilder()
    sparks.stream("in").process(object, output_schema="key string, value int").to("out")
    with pytest.raises(TopologyError, match=r"runs processors of ottla\.streams\.Processor"):
        TopologyTestDriver(sparks)
