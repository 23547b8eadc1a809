"""The test driver against Apache Kafka Streams: the same topologies and records give the same results.

`kafka_streams/transcripts.json` was written by Kafka Streams 4.2.1 (`Transcripts.java`): what comes out after
each record that goes in. Kafka Streams looks for closed windows of left and outer joins by an estimate of the
oldest record that waits, and may send it later than its window closes; here are inputs where it does not.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ottla.streams import (
    JoinWindows,
    KStream,
    KTable,
    SessionWindows,
    SlidingWindows,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
    TopologyTestDriver,
)

TRANSCRIPTS: dict[str, Any] = json.loads(
    (Path(__file__).parent / "kafka_streams" / "transcripts.json").read_text()
)
TUMBLING = TimeWindows.of_size_and_grace(10, 5)
WITHIN = JoinWindows.of_time_difference_and_grace(5, 3)


def joined(left: str | None, right: str | None) -> str:
    return f"{left or 'null'}+{right or 'null'}"


def nothing() -> str:
    return ""


def add(key: str, value: str, aggregate: str) -> str:
    return aggregate + value


def subtract(key: str, value: str, aggregate: str) -> str:
    return f"{aggregate}-{value}"


def merge(key: str, one: str, two: str) -> str:
    return f"{one}&{two}"


def value_of(value: str) -> str:
    return value


def swapped(key: str, value: str) -> tuple[str, str]:
    return value, key


def topology(name: str) -> StreamsBuilder:
    builder = StreamsBuilder()
    stream, table = builder.stream, builder.table
    result: KStream | KTable
    match name:
        case "aggregate":
            result = stream("a").group_by_key().aggregate(nothing, add)
        case "reduce":
            result = stream("a").group_by_key().reduce(lambda aggregate, value: aggregate + value)
        case "tumbling":
            result = stream("a").group_by_key().windowed_by(TUMBLING).aggregate(nothing, add)
        case "hopping":
            hopping = TimeWindows.of_size_and_grace(10, 3).advance_by(4)
            result = stream("a").group_by_key().windowed_by(hopping).aggregate(nothing, add)
        case "sliding":
            sliding = SlidingWindows.of_time_difference_and_grace(10, 8)
            result = stream("a").group_by_key().windowed_by(sliding).aggregate(nothing, add)
        case "sessions":
            sessions = SessionWindows.of_inactivity_gap_and_grace(5, 6)
            result = stream("a").group_by_key().windowed_by(sessions).aggregate(nothing, add, merge)
        case "final_tumbling":
            windows = stream("a").group_by_key().windowed_by(TUMBLING).aggregate(nothing, add)
            result = windows.suppress(Suppressed.until_window_closes())
        case "time_limit":
            result = table("a").suppress(Suppressed.until_time_limit(5))
        case "stream_inner":
            result = stream("a").join(stream("b"), joined, WITHIN)
        case "stream_left":
            result = stream("a").left_join(stream("b"), joined, WITHIN)
        case "stream_outer":
            result = stream("a").outer_join(stream("b"), joined, WITHIN)
        case "stream_table":
            result = stream("a").join(table("b"), joined)
        case "stream_table_left":
            result = stream("a").left_join(table("b"), joined)
        case "table_inner":
            result = table("a").join(table("b"), joined)
        case "table_left":
            result = table("a").left_join(table("b"), joined)
        case "table_outer":
            result = table("a").outer_join(table("b"), joined)
        case "table_filter":
            result = table("a").filter(lambda key, value: value != "x").map_values(lambda value: value + "!")
        case "foreign_inner":
            result = table("a").join(table("b"), joined, foreign_key=value_of)
        case "foreign_left":
            result = table("a").left_join(table("b"), joined, foreign_key=value_of)
        case "table_group":
            result = table("a").group_by(swapped).aggregate(nothing, add, subtract)
        case "table_count":
            result = table("a").group_by(swapped).count().map_values(str)
        case "global_inner":
            result = stream("a").join(builder.global_table("b"), joined, selector=lambda key, value: value)
        case "global_left":
            result = stream("a").left_join(
                builder.global_table("b"), joined, selector=lambda key, value: value
            )
        case "cogroup":
            other = stream("b").group_by_key()
            result = (
                stream("a")
                .group_by_key()
                .cogroup(add)
                .cogroup(other, lambda key, value, aggregate: f"{aggregate}({value})")
                .aggregate(nothing)
            )
    changes = result if isinstance(result, KStream) else result.to_stream()
    if changes.node.windowed:
        changes = changes.select_key(lambda window, value: f"{window.key}@{window.start_ms}/{window.end_ms}")
    changes.to("out")
    return builder


@pytest.mark.parametrize(
    ("name", "transcript"),
    [
        pytest.param(name, transcript, id=f"{name}-{number}")
        for name, transcripts in TRANSCRIPTS.items()
        for number, transcript in enumerate(transcripts)
    ],
)
def test_the_driver_gives_what_kafka_streams_gives(name: str, transcript: Any) -> None:
    driver = TopologyTestDriver(topology(name))
    for (topic, key, value, timestamp_ms), wanted in transcript:
        driver.pipe_input(topic, key, value, timestamp_ms)
        results = [[each.key, each.value, each.timestamp_ms] for each in driver.read_output("out")]
        assert results == wanted, f"after {topic} {key}={value} at {timestamp_ms}"
