"""The DSL: which nodes and types a program makes, and the sentences for a program that cannot be."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ottla.streams import (
    JoinWindows,
    Processor,
    SessionWindows,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
    TopologyError,
    count_of,
    json,
    key,
    left,
    max_of,
    right,
    sum_of,
    time_windowed,
    value,
)
from ottla.streams.plan import Aggregate, Apply, Sink, Source, Step, ToTable
from ottla.streams.serdes import NaturalSerde, WindowedSerde

WINDOWS = TimeWindows.of_size_with_no_grace(1_000)
WITHIN = JoinWindows.of_time_difference_with_no_grace(1_000)


def test_names_count_up_and_say_the_kind_as_kafka_streams_does() -> None:
    builder = StreamsBuilder()
    stream = builder.stream("a").filter(lambda k, v: True).map_values(str)
    stream.group_by_key().count().to_stream().to("b")
    assert [node.name for node in builder.build().nodes()] == [
        "KSTREAM-SOURCE-0000000000",
        "KSTREAM-FILTER-0000000001",
        "KSTREAM-MAPVALUES-0000000002",
        "KSTREAM-AGGREGATE-0000000003",
        "KTABLE-TOSTREAM-0000000004",
        "KSTREAM-SINK-0000000005",
    ]


def test_a_name_of_ones_own_does_not_rename_the_steps_behind_it() -> None:
    """KIP-307: names are generated in any case, so that a topology stays compatible."""
    builder = StreamsBuilder()
    stream = builder.stream("a", name="in").filter(lambda k, v: True, name="only-good").peek(print)
    assert stream.node.name == "KSTREAM-PEEK-0000000002"
    with pytest.raises(TopologyError, match="two steps with the name 'only-good'"):
        stream.filter(lambda k, v: True, name="only-good")
    with pytest.raises(TopologyError, match="cannot be the name of a step"):
        stream.filter(lambda k, v: True, name="only good")


def test_types_follow_from_serdes_expressions_and_what_is_said_of_functions() -> None:
    stream = StreamsBuilder().stream("a", value_serde=json("user string, delay int"))
    assert (stream.node.key_type, stream.node.value_type) == ("string", "struct<user:string,delay:int>")
    assert stream.map_values(value["delay"] / 2).node.value_type == "double"
    assert stream.map_values(lambda v: v["delay"]).node.value_type == "object"
    assert stream.map_values(lambda v: v["delay"], returns="integer").node.value_type == "int"
    assert stream.map(key=value["user"], value=value["delay"]).node.key_type == "string"
    mapped = stream.map(lambda k, v: (v, k), key_type="long", value_type="a int")
    assert (mapped.node.key_type, mapped.node.value_type) == ("bigint", "struct<a:int>")
    assert stream.flat_map_values(value["user"].split(" ")).node.value_type == "string"
    assert stream.select_key(value["delay"]).node.key_type == "int"
    assert stream.filter(value["delay"] > 1).node.value_type == stream.node.value_type
    grouped = stream.group_by(value["user"])
    assert grouped.count().node.value_type == "bigint"
    assert grouped.reduce(lambda a, b: a).node.value_type == stream.node.value_type
    assert grouped.aggregate(sum_of(value["delay"])).node.value_type == "bigint"
    assert grouped.aggregate(list, lambda k, v, a: a).node.value_type == "object"
    assert grouped.windowed_by(WINDOWS).count().node.windowed
    assert stream.join(stream, left["delay"] + right["delay"], WITHIN).node.value_type == "int"


def test_a_function_of_values_takes_the_value_or_key_and_value() -> None:
    stream = StreamsBuilder().stream("a")

    def with_key(function: Any) -> bool:
        node = stream.map_values(function).node
        assert isinstance(node, Apply)
        return node.with_key

    assert not with_key(lambda v: v)
    assert with_key(lambda k, v: v)
    assert not with_key(lambda v, times=2: v * times)
    assert not with_key(str.lower)
    assert not with_key(len)
    assert not with_key(int)
    assert not with_key(lambda *parts: parts)


def test_a_sink_takes_the_natural_serde_of_the_type() -> None:
    builder = StreamsBuilder()
    stream = builder.stream("a")
    stream.group_by_key().count().to_stream().to("counts")
    stream.map_values(lambda v: {"v": v}).to("objects")
    stream.group_by_key().windowed_by(WINDOWS).count().to_stream().to("windows", key_serde="string")
    counts, objects, windows = builder.build().ends
    assert isinstance(counts, Sink) and isinstance(objects, Sink) and isinstance(windows, Sink)
    assert (counts.key_serde.name, counts.value_serde.name) == ("string", "long")
    assert isinstance(objects.value_serde, NaturalSerde)
    assert isinstance(windows.key_serde, WindowedSerde) and windows.key_serde.size_ms == 1_000


def test_a_topic_of_windowed_keys_can_be_read_again() -> None:
    table = StreamsBuilder().table("windows", key_serde=time_windowed("string", 1_000), value_serde="long")
    assert table.node.windowed
    assert table.to_stream(lambda windowed, v: windowed.key, returns="string").node.key_type == "string"


def test_topics_are_named_listed_or_matched() -> None:
    builder = StreamsBuilder()
    pattern = builder.stream(re.compile("metrics-.*")).node
    several = builder.stream(["a", "b"]).node
    assert isinstance(pattern, Source) and pattern.pattern == "metrics-.*"
    assert isinstance(several, Source) and several.topics == ("a", "b")
    for wrong in ("", "a b", "x" * 250, [], [5]):
        with pytest.raises(TopologyError):
            builder.stream(wrong)


def test_suppress_until_the_window_closes_makes_the_aggregate_final_and_repeats_the_steps_between() -> None:
    table = StreamsBuilder().stream("a").group_by_key().windowed_by(WINDOWS).count()
    final = table.filter(lambda k, v: v > 1).suppress(Suppressed.until_window_closes()).node
    assert isinstance(final, ToTable) and final.table and final.windowed
    step = final.parents[0]
    assert isinstance(step, Apply) and step.step is Step.FILTER and not step.table
    aggregate = step.parents[0]
    assert isinstance(aggregate, Aggregate) and aggregate.emit_final
    assert isinstance(table.node, Aggregate) and not table.node.emit_final


def test_keys_of_unknown_type_are_taken_for_the_tables_type_in_a_join() -> None:
    builder = StreamsBuilder()
    joined = builder.stream("a").select_key(lambda k, v: v).join(builder.table("t"), lambda a, b: a)
    converted = joined.node.parents[0]
    assert isinstance(converted, Apply) and converted.key_type == "string"


def test_merge_of_two_types_is_of_python_objects() -> None:
    builder = StreamsBuilder()
    texts, numbers = builder.stream("a"), builder.stream("b", value_serde="long")
    assert texts.merge(builder.stream("c")).node.value_type == "string"
    merged = texts.merge(numbers).node
    assert (merged.key_type, merged.value_type) == ("string", "object")
    assert {parent.value_type for parent in merged.parents} == {"object"}


def programs() -> dict[str, Any]:
    """Programs that cannot be, by what is said."""
    b = StreamsBuilder()
    stream, table = b.stream("a"), b.table("t")
    typed = b.stream("typed", value_serde=json("delay int"))
    globe = b.global_table("g")
    windowed = stream.group_by_key().windowed_by(WINDOWS)
    sessions = stream.group_by_key().windowed_by(SessionWindows.of_inactivity_gap_with_no_grace(5))
    return {
        r"filter takes a function of \(key, value\); this one takes \(v\)": lambda: stream.filter(
            lambda v: v
        ),
        r"map takes a function of \(key, value\); this one takes \(\)": lambda: stream.map(lambda: 1),
        r"map_values takes a function of \(value\) or \(key, value\); this one takes \(a, b, c\)": (
            lambda: stream.map_values(lambda a, b, c: 1)
        ),
        "map_values takes a function .* not 'upper'": lambda: stream.map_values("upper"),
        "this one needs strict= as well": lambda: stream.filter(lambda k, v, *, strict: True),
        "filter: the value is a Python object": lambda: stream.map_values(lambda v: 1).filter(value > 1),
        r"filter takes a condition; value\['delay'\] is of type int": lambda: typed.filter(value["delay"]),
        "flat_map_values takes an expression that is an array": lambda: stream.flat_map_values(value.lower()),
        "map_values: .* is an aggregate": lambda: typed.map_values(sum_of(value["delay"])),
        "map takes a function .* or the expressions": lambda: stream.map(),
        "map takes either": lambda: stream.map(lambda k, v: (k, v), key=key),
        "not a type that Spark's DDL has": lambda: stream.map_values(lambda v: 1, returns="intt"),
        "branch needs a predicate": lambda: stream.branch(),
        "'a b' cannot be the name of a branch": lambda: stream.split().branch(lambda k, v: 1, "a b"),
        "two branches with the name 'x'": lambda: (
            stream.split().branch(lambda k, v: 1, "x").branch(lambda k, v: 1, "x")
        ),
        "merge takes streams": lambda: stream.merge(table),
        "belong to different builders": lambda: stream.merge(StreamsBuilder().stream("a")),
        "merge: the keys of one stream are windowed": lambda: stream.merge(windowed.count().to_stream()),
        "number of partitions of at least 1": lambda: stream.repartition(0),
        "through: the type of the value is not known": lambda: stream.map_values(lambda v: 1).through("x"),
        "join of two streams needs windows": lambda: stream.join(stream, lambda a, b: a),
        "with a table has no windows": lambda: stream.join(table, lambda a, b: a, WITHIN),
        "needs selector=": lambda: stream.join(globe, lambda a, b: a),
        "selector= is for global tables": lambda: stream.join(table, lambda a, b: a, selector=lambda k, v: k),
        "the selector makes a int, but the table's keys are string": (
            lambda: typed.join(globe, lambda a, b: a, selector=value["delay"])
        ),
        "outer_join of a stream takes another stream": lambda: stream.outer_join(
            table, lambda a, b: a, WITHIN
        ),
        "keys of int never equal keys of string": (
            lambda: typed.select_key(value["delay"]).join(table, lambda a, b: a)
        ),
        "the keys of one side are windowed": lambda: windowed.count().to_stream().join(table, lambda a, b: a),
        "not co-partitioned: .* has 2 partitions, .* has 3": (
            lambda: stream.repartition(2).join(stream.repartition(3), lambda a, b: a, WITHIN)
        ),
        r"join takes a function of \(left value, right value\) or \(key, left value, right value\)": (
            lambda: stream.join(table, lambda a: a)
        ),
        "there is no 'value' here: this expression may use key, left and right": (
            lambda: stream.join(table, value)
        ),
        "of a table takes another table": lambda: table.join(stream, lambda a, b: a),
        "say their type with returns=": (
            lambda: table.join(stream.group_by(lambda k, v: v).count(), lambda a, b: a)
        ),
        r"suppress\(until_window_closes\) is for windowed tables": (
            lambda: stream.group_by_key().count().suppress(Suppressed.until_window_closes())
        ),
        "follows a windowed aggregate": (
            lambda: (
                windowed.count()
                .join(windowed.count(), lambda a, b: a)
                .suppress(Suppressed.until_window_closes())
            )
        ),
        "suppress takes Suppressed": lambda: table.suppress(5),
        "windowed_by takes TimeWindows": lambda: stream.group_by_key().windowed_by(WITHIN),
        "windowed_by is called once": lambda: windowed.windowed_by(WINDOWS),
        "the keys are windowed already": lambda: (
            windowed.count().to_stream().group_by_key().windowed_by(WINDOWS)
        ),
        "over sessions needs a merger": lambda: sessions.aggregate(list, lambda k, v, a: a),
        "only sessions are merged": lambda: windowed.aggregate(list, lambda k, v, a: a, lambda k, a, b: a),
        "as its adder, takes a function": lambda: stream.group_by_key().aggregate(list),
        "takes an expression with aggregates in it": lambda: typed.group_by_key().aggregate(value["delay"]),
        "value is used outside of an aggregate": (
            lambda: typed.group_by_key().aggregate(count_of() + value["delay"])
        ),
        "cannot be kept, since values also leave it": (
            lambda: table.group_by(lambda k, v: (k, v), value_type="int").aggregate(max_of(value))
        ),
        "cogroup comes first": lambda: windowed.cogroup(lambda k, v, a: a),
        "cogroup takes a grouped stream": (
            lambda: stream.group_by_key().cogroup(lambda k, v, a: a).cogroup(stream, lambda k, v, a: a)
        ),
        "which the serde 'string' does not write": (
            lambda: stream.group_by_key().count().to_stream().to("x", value_serde="string")
        ),
        "key_serde is for windowed keys": lambda: stream.to("x", key_serde=time_windowed("string", 5)),
        "there is no serde 'strong'": lambda: b.stream("x", value_serde="strong"),
        "cannot be the name of a topic": lambda: stream.to("x y"),
        "the serde 'natural' can only write": lambda: b.stream("x", value_serde=NaturalSerde()),
        "offset_reset is 'earliest' or 'latest'": lambda: b.stream("x", offset_reset="never"),
        "timestamp_extractor has to be a timestamp": lambda: b.stream("x", timestamp_extractor=value),
        "timestamp_extractor takes a function": lambda: b.stream("x", timestamp_extractor=lambda k: 1),
        "give each record a plain key first": lambda: windowed.count().to_stream().process(Processor),
        "output_schema needs the columns key and value": lambda: stream.process(
            object, output_schema="a int"
        ),
        "the program has no end": lambda: StreamsBuilder().build(),
    }


@pytest.mark.parametrize("said", list(programs()))
def test_a_program_that_cannot_be_is_refused_when_it_is_written(said: str) -> None:
    with pytest.raises(TopologyError, match=said):
        programs()[said]()
