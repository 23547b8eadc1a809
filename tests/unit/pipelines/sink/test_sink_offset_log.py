"""Spark's file of a batch's offsets: which of its lines are topics, and what they say."""

from __future__ import annotations

import json

from ottla.model.types import TopicPartition
from ottla.pipelines.sink.offset_log import topic_offsets

HEAD = 'v1\n{"batchWatermarkMs":0,"batchTimestampMs":1,"conf":{"spark.sql.shuffle.partitions":"2"}}\n'


def test_the_offsets_of_a_topic_are_found() -> None:
    """As Spark 4.3 has written them for our source."""
    found = topic_offsets(HEAD + '{"in": {"0": 2700, "1": 3900}}')
    assert found == {TopicPartition("in", 0): 2700, TopicPartition("in", 1): 3900}


def test_sources_that_are_no_topics_are_left_out() -> None:
    other = ["5", '{"logOffset":3}', "-", '{"path":{"file":"a"}}', "nonsense", '"text"', "null", "[]"]
    assert topic_offsets(HEAD + "\n".join(other)) == {}
    assert topic_offsets(HEAD + "\n".join([*other, '{"in":{"0":1}}'])) == {TopicPartition("in", 0): 1}


def test_of_two_sources_with_the_same_partition_the_earlier_offset_counts() -> None:
    found = topic_offsets(HEAD + '{"a":{"0":5}}\n{"a":{"0":3,"1":4}}')
    assert found == {TopicPartition("a", 0): 3, TopicPartition("a", 1): 4}


def test_sources_with_names_are_found_too() -> None:
    line = json.dumps({"0": json.dumps({"a": {"0": 5}}), "1": {"b": {"0": 6}}, "2": "7"})
    assert topic_offsets(HEAD + line) == {TopicPartition("a", 0): 5, TopicPartition("b", 0): 6}


def test_a_torn_file_says_nothing() -> None:
    assert topic_offsets("") == topic_offsets("v1") == topic_offsets("v1\n{}\n{") == {}
