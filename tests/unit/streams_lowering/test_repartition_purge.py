"""What of internal topics may be deleted: only what every reader has in its commit log."""

from __future__ import annotations

from ottla.model.types import TopicPartition
from ottla.streams import StreamsBuilder
from ottla.streams.running.purge import deletable, offsets_in, readers_of
from ottla.streams.stages import cut

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def test_records_are_deletable_when_the_slowest_reader_has_committed_them() -> None:
    readers = {"t": {"a", "b"}}
    other = TopicPartition("input", 0)
    assert deletable(readers, {"a": {T0: 9, T1: 3, other: 7}, "b": {T0: 4}}) == {T0: 4}
    assert deletable(readers, {"a": {T0: 9}}) == {}
    assert deletable({}, {"a": {T0: 9}}) == {}


def test_offsets_are_those_that_spark_tells_the_lower_ones_of_a_topic_that_is_read_twice() -> None:
    assert offsets_in([None, '{"t": {"0": 5, "1": 2}}', '{"t": {"0": 3}}']) == {T0: 3, T1: 2}


def test_only_repartition_topics_are_emptied_not_changelogs_nor_topics_of_the_user() -> None:
    """Kafka Streams deletes records of repartition topics alone; a changelog is what a table is read from."""
    builder = StreamsBuilder()
    repartitioned = builder.stream("in").repartition(3, name="wide")
    counted = repartitioned.group_by_key().count(name="counted")
    repartitioned.group_by_key().reduce(max, name="largest").to_stream().to("out")
    joined = builder.table("rows").join(counted, lambda row, count: f"{row}{count}", name="joined")
    joined.to_stream().through("mine", value_serde="string").to("end")
    stages = cut(builder.build(), "app")
    names = {topic.name for stage in stages for topic in stage.internal_topics}
    assert names == {"app-wide-repartition", "app-counted-changelog"}
    assert readers_of(stages) == {"app-wide-repartition": {"counted", "largest"}}
