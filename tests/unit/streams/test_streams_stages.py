"""Stages: where a topology is cut, and that nothing of the program is lost or done twice by it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.streams import KStream, KTable, StreamsBuilder, TopologyTestDriver
from ottla.streams.objects import encode
from ottla.streams.plan import Apply, Node, Repartition, Sink, Source, Stage, Step, Topology
from ottla.streams.stages import cut


def both(one: Any, two: Any) -> Any:
    return f"{one}+{two}"


def stages_of(builder: StreamsBuilder) -> list[Stage]:
    return cut(builder.build(), "app")


def names(stage: Stage) -> list[str]:
    return [node.name for node in Topology(ends=stage.ends).nodes()]


def test_a_changed_key_before_a_stateful_node_needs_no_topic() -> None:
    builder = StreamsBuilder()
    builder.stream("a").map(lambda k, v: (v, k)).group_by_key().count().to_stream().to("b")
    (stage,) = stages_of(builder)
    assert stage.internal_topics == ()
    assert stage.stateful is not None and stage.name == stage.stateful.name


def test_a_stateful_node_behind_another_reads_its_changelog() -> None:
    builder = StreamsBuilder()
    counts = builder.stream("a").group_by_key().count(name="counts")
    counts.join(builder.table("t"), both, name="join").to_stream().to("b")
    first, second = stages_of(builder)
    (topic,) = first.internal_topics
    assert (topic.name, topic.compacted, topic.partitions) == ("app-counts-changelog", True, None)
    (sink,) = first.ends
    assert isinstance(sink, Sink) and sink.internal and sink.topic == topic.name
    left, right = second.stateful.parents if second.stateful else ()
    assert isinstance(left, Source) and left.internal and left.table and left.topics == (topic.name,)
    assert (
        (left.key_type, left.value_type)
        == (left.key_serde.type, left.value_serde.type)
        == ("string", "bigint")
    )
    assert isinstance(right, Source) and right.topics == ("t",) and not right.internal


def test_the_cut_is_right_before_the_second_stateful_node_so_steps_between_run_once() -> None:
    builder = StreamsBuilder()
    stream = (
        builder.stream("a").group_by_key().count().to_stream().map_values(str, returns="string", name="text")
    )
    stream.to("b")
    stream.group_by_key().count().to_stream().to("c")
    first, second = stages_of(builder)
    assert [topic.name for topic in first.internal_topics] == ["app-text-repartition"]
    assert "text" in names(first) and "text" not in names(second)


def test_a_result_that_feeds_two_stages_is_written_once() -> None:
    builder = StreamsBuilder()
    counts = builder.stream("a").group_by_key().count()
    table = builder.table("t")
    counts.join(table, both).to_stream().to("b")
    counts.left_join(table, both).to_stream().to("c")
    first, second, third = stages_of(builder)
    assert len(first.internal_topics) == len(first.ends) == 1
    assert second.internal_topics == third.internal_topics == ()


def test_a_grouped_table_goes_through_a_topic_of_changes() -> None:
    builder = StreamsBuilder()
    builder.table("t").group_by(lambda k, v: (v, k), key_type="string").count().to_stream().to("b")
    first, second = stages_of(builder)
    (source,) = second.stateful.parents if second.stateful else ()
    assert isinstance(source, Source) and source.change and not source.table
    assert source.value_serde.name == "change of object"
    assert not first.internal_topics[0].compacted


def test_repartition_and_through_are_cuts() -> None:
    builder = StreamsBuilder()
    builder.stream("a").repartition(7, name="wide").through("mine").to("b")
    first, second, third = stages_of(builder)
    assert [(topic.name, topic.partitions) for topic in first.internal_topics] == [
        ("app-wide-repartition", 7)
    ]
    assert second.internal_topics == ()
    (end,) = second.ends
    assert isinstance(end, Sink) and end.topic == "mine" and not end.internal
    assert third.stateful is None


def test_ends_before_a_stateful_node_are_a_stage_of_their_own_and_share_what_they_read() -> None:
    builder = StreamsBuilder()
    stream = builder.stream("a").map_values(str.upper, returns="string")
    stream.group_by_key().count().to_stream().to("counts")
    stream.to("copy")
    stream.filter(lambda k, v: True).for_each(print)
    builder.stream("other").to("elsewhere")
    copy, counts, elsewhere = stages_of(builder)
    assert [stage.stateful is None for stage in (copy, counts, elsewhere)] == [True, False, True]
    assert len(copy.ends) == 2
    assert copy.name == "KSTREAM-SOURCE-0000000000" and elsewhere.name.startswith("KSTREAM-SOURCE")


def test_a_merge_behind_two_aggregates_is_in_both_stages_with_its_own_half() -> None:
    builder = StreamsBuilder()
    one = builder.stream("a").group_by_key().count(name="one").to_stream()
    two = builder.stream("b").group_by_key().count(name="two").to_stream()
    one.merge(two, name="both").map_values(str, returns="string").to("c", name="end")
    first, second = stages_of(builder)
    assert "one" in names(first) and "two" not in names(first)
    assert "both" in names(first) and "both" in names(second)
    assert first.ends[0].name == second.ends[0].name == "end"


def test_the_effect_of_a_peek_before_two_stages_happens_in_one_of_them() -> None:
    builder = StreamsBuilder()
    seen: list[str] = []
    stream = builder.stream("a").peek(lambda k, v: seen.append(v), name="peek")
    stream.group_by_key().count().to_stream().to("b")
    stream.to("c")
    stages = stages_of(builder)
    assert sorted("peek" in names(stage) for stage in stages) == [False, True]


def test_a_peek_behind_a_merge_of_two_aggregates_sees_both_halves() -> None:
    builder = StreamsBuilder()
    one = builder.stream("a").group_by_key().count().to_stream()
    two = builder.stream("b").group_by_key().count().to_stream()
    one.merge(two).peek(print, name="peek").to("c")
    assert all("peek" in names(stage) for stage in stages_of(builder))


def test_a_peek_behind_a_merge_of_a_topic_and_an_aggregate_sees_both() -> None:
    builder = StreamsBuilder()
    texts = builder.stream("a")
    counts = texts.group_by_key().count().to_stream().map_values(str, returns="string")
    texts.merge(counts).peek(print, name="peek").to("c")
    stages = stages_of(builder)
    assert [stage.stateful is None for stage in stages] == [True, False]
    assert all("peek" in names(stage) for stage in stages)


def test_of_a_merge_before_a_stateful_node_only_the_stateful_half_goes_through_a_topic() -> None:
    builder = StreamsBuilder()
    texts = builder.stream("a")
    counts = texts.group_by_key().count().to_stream().map_values(str, returns="string", name="text")
    builder.stream("b").merge(counts).group_by_key().count().to_stream().to("c")
    first, second = stages_of(builder)
    assert [topic.name for topic in first.internal_topics] == ["app-text-repartition"]
    sources = [node for node in Topology(ends=second.ends).nodes() if isinstance(node, Source)]
    assert {source.topics[0] for source in sources} == {"b", "app-text-repartition"}


def test_the_same_program_has_the_same_stages() -> None:
    def program() -> list[tuple[str, list[str]]]:
        builder = StreamsBuilder()
        counts = builder.stream("a").group_by_key().count()
        counts.join(builder.table("t"), both).to_stream().to("b")
        return [(stage.name, names(stage)) for stage in stages_of(builder)]

    assert program() == program()


# --- any program ---


class Program:
    """A random program. Streams are `exact` when the number of their records does not depend on timing; only
    those are counted, so that every order of processing ends with the same tables.
    """

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.builder = StreamsBuilder()
        self.exact: list[KStream] = [self.builder.stream("s0"), self.builder.stream("s1")]
        self.tables: list[KTable] = [self.builder.table("t0")]
        for _ in range(draw(st.integers(2, 9))):
            self.step()
        for number, table in enumerate(self.tables[1:][-3:]):
            table.to_stream().to(f"out-{number}")
        for number, stream in enumerate(self.exact[2:][-2:]):
            stream.to(f"copy-{number}")
        if not self.builder._ends:
            self.exact[0].to("copy")

    def pick(self, things: list[Any]) -> Any:
        return things[self.draw(st.integers(0, len(things) - 1))]

    def step(self) -> None:
        stream, table = self.pick(self.exact), self.pick(self.tables)
        match self.draw(st.integers(0, 9)):
            case 0:
                self.exact.append(stream.filter(lambda k, v: len(v) % 3 != 0))
            case 1:
                self.exact.append(stream.map_values(lambda v: v + "x", returns="string"))
            case 2:
                self.exact.append(stream.select_key(lambda k, v: v[:1], returns="string"))
            case 3:
                self.exact.append(stream.merge(self.pick(self.exact)))
            case 4:
                self.exact.append(stream.repartition())
            case 5 | 6:
                counted = stream.group_by_key().count().map_values(str, returns="string")
                self.tables.append(counted)
                self.exact.append(counted.to_stream())
            case 7:
                self.tables.append(table.filter(lambda k, v: len(v) % 2 == 1))
            case 8:
                self.tables.append(table.join(self.pick(self.tables), both, returns="string"))
            case 9:
                grouped = table.group_by(lambda k, v: (v[-1:], v), key_type="string", value_type="string")
                self.tables.append(grouped.count().map_values(str, returns="string"))


RECORDS = st.lists(
    st.tuples(
        st.sampled_from(["s0", "s1", "t0"]), st.sampled_from("ab"), st.sampled_from(["p", "qq", "rrr", "aa"])
    ),
    max_size=12,
)


def paths(ends: tuple[Node, ...]) -> set[tuple[str, ...]]:
    """Every way from a topic of the user's to an end, as names of steps, without what is between stages."""
    writers: dict[str, list[Sink]] = {}
    for end in ends:
        if isinstance(end, Sink) and end.internal:
            writers.setdefault(str(end.topic), []).append(end)

    def to(node: Node) -> set[tuple[str, ...]]:
        if isinstance(node, Source) and node.internal:
            return {path for sink in writers[node.topics[0]] for path in to(sink.parents[0])}
        if isinstance(node, Source):
            return {(*node.topics, node.name)}
        found = {path for parent in node.parents for path in to(parent)}
        return found if isinstance(node, Repartition) else {(*path, node.name) for path in found}

    return {path for end in ends if not (isinstance(end, Sink) and end.internal) for path in to(end)}


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_every_path_of_a_program_is_kept_and_each_stage_has_one_stateful_node_at_most(data: Any) -> None:
    topology = Program(data.draw).builder.build()
    stages = cut(topology, "app")
    written: set[str] = set()
    for number, stage in enumerate(stages):
        assert stage.number == number
        nodes = Topology(ends=stage.ends).nodes()
        stateful = [node for node in nodes if node.stateful]
        assert stateful == ([] if stage.stateful is None else [stage.stateful])
        assert not any(isinstance(node, Repartition) for node in nodes)
        if stage.stateful is not None:
            for end in stage.ends:
                assert stage.stateful in Topology(ends=(end,)).nodes()
        written |= {topic.name for topic in stage.internal_topics}
    read = {
        node.topics[0]
        for stage in stages
        for node in Topology(ends=stage.ends).nodes()
        if isinstance(node, Source) and node.internal
    }
    assert read == written
    assert len({stage.name for stage in stages}) == len(stages)
    assert paths(tuple(end for stage in stages for end in stage.ends)) == paths(topology.ends)


def last_values(driver: TopologyTestDriver, topology: Topology) -> dict[str, Any]:
    """Per topic: of a table the newest value of each key, of a stream all records in any order."""
    result: dict[str, Any] = {}
    for end in topology.ends:
        assert isinstance(end, Sink) and isinstance(end.topic, str)
        records = driver.read_output(end.topic)
        if end.topic.startswith("out"):
            newest = {record.key: record.value for record in records}
            result[end.topic] = {key: value for key, value in newest.items() if value is not None}
        else:
            result[end.topic] = sorted(encode((record.key, record.value)) for record in records)
    return result


@settings(max_examples=80, deadline=None)
@given(st.data(), RECORDS)
def test_the_stages_compute_what_the_program_computes(data: Any, records: list[tuple[str, str, str]]) -> None:
    topology = Program(data.draw).builder.build()
    stages = cut(topology, "app")
    whole = TopologyTestDriver(topology)
    # one driver runs all stages: it pipes what they write to internal topics into those that read them
    cut_up = TopologyTestDriver(Topology(ends=tuple(end for stage in stages for end in stage.ends)))
    for number, (topic, key, value) in enumerate(records):
        for driver in (whole, cut_up):
            if driver._readers(topic):
                driver.pipe_input(topic, key, value, number)
    assert last_values(cut_up, topology) == last_values(whole, topology)


def test_peeks_are_not_in_the_way_of_types() -> None:
    builder = StreamsBuilder()
    stream = builder.stream("a").peek(print)
    stream.group_by_key().count().to_stream().to("b")
    stream.select_key(lambda k, v: v).to("c")
    for stage in stages_of(builder):
        for node in Topology(ends=stage.ends).nodes():
            if isinstance(node, Apply) and node.step is Step.SELECT_KEY:
                assert node.parents[0].value_type == "string"


@pytest.mark.parametrize("application", ["a", "b"])
def test_internal_topics_carry_the_applications_name(application: str) -> None:
    builder = StreamsBuilder()
    builder.stream("a").repartition(name="r").to("b")
    (topic,) = cut(builder.build(), application)[0].internal_topics
    assert topic.name == f"{application}-r-repartition"
