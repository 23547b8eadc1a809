"""The numbers of partitions, and which one each row gets: as Java's default partitioner chooses by key."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ottla.client.producing.row_partitions import partitions_of_keys
from ottla.model.types import TopicPartition
from ottla.pipelines.sink.errors import UnwritableRow
from ottla.pipelines.sink.job_failure import is_cancelled, reason_in, unwritable_in
from ottla.pipelines.sink.slots import Slots

KEYS = [b"", b"a", b"orders", b"\xff\xfe", b"k17"]
JAVA = {b"21": -973932308, b"foobar": -790332482, b"a-little-bit-long-string": -985981536, b"abc": 479470107}
"""Hashes out of the tests of Kafka's own `Utils.murmur2`."""


def test_keys_have_the_partitions_that_javas_client_gives_them() -> None:
    found = partitions_of_keys(pa.array(list(JAVA), pa.binary()), 1000)
    assert list(found) == [(each & 0x7FFFFFFF) % 1000 for each in JAVA.values()]


def test_texts_and_bytes_are_the_same_keys() -> None:
    texts = pa.array(["a", "b", None, "ü"])
    assert partitions_of_keys(texts, 7) == partitions_of_keys(texts.cast(pa.binary()), 7)


def test_rows_without_a_key_take_turns() -> None:
    nulls = pa.nulls(5, pa.binary())
    assert list(partitions_of_keys(nulls, 3, 2)) == [2, 0, 1, 2, 0]
    slots = Slots.of({"t": 3})
    assert slots.of_rows(4, None, None, None, turn=1).to_pylist() == [1, 2, 0, 1]


def test_every_partition_of_every_topic_has_a_number_of_its_own() -> None:
    slots = Slots.of({"b": 2, "a": 3})
    assert slots.count == 5
    assert slots.partitions() == [TopicPartition("a", i) for i in range(3)] + [
        TopicPartition("b", i) for i in range(2)
    ]
    assert Slots.of({}).count == 0


def test_a_row_says_its_partition_itself_or_its_key_does() -> None:
    keys = pa.array(KEYS, pa.binary())
    by_key = list(partitions_of_keys(keys, 4))
    given = pa.array([None, 3, None, 0, None], pa.int32())
    found = Slots.of({"t": 4}).of_rows(5, keys, given, None, turn=0).to_pylist()
    assert found == [by_key[0], 3, by_key[2], 0, by_key[4]]


def test_rows_of_several_topics_are_counted_in_their_own() -> None:
    slots = Slots.of({"a": 3, "b": 2})
    keys = pa.array(KEYS, pa.binary())
    topics = pa.array(["b", "a", "b", "a", "b"])
    found = slots.of_rows(5, keys, None, topics, turn=0).to_pylist()
    by_a, by_b = partitions_of_keys(keys, 3), partitions_of_keys(keys, 2)
    assert found == [3 + by_b[0], by_a[1], 3 + by_b[2], by_a[3], 3 + by_b[4]]


@pytest.mark.parametrize("partition", [-1, 3])
def test_a_partition_that_is_not_there_is_refused(partition: int) -> None:
    with pytest.raises(UnwritableRow, match=f"a row has partition {partition}: topic t has 3"):
        Slots.of({"t": 3}).of_rows(2, None, pa.array([None, partition], pa.int32()), None, turn=0)


@pytest.mark.parametrize(
    ("topic", "why"), [(None, "null topic present in the data"), ("c", "topic c does not")]
)
def test_a_row_without_a_topic_is_refused(topic: str | None, why: str) -> None:
    with pytest.raises(UnwritableRow, match=why):
        Slots.of({"a": 3, "b": 2}).of_rows(2, None, None, pa.array(["a", topic]), turn=0)


def test_the_reason_is_found_in_what_spark_makes_of_it() -> None:
    """Spark hands on a text with tracebacks."""
    text = (
        "Job aborted due to stage failure: Task 1 in stage 3.0 failed 4 times\n"
        "Traceback (most recent call last):\n  File ...\n"
        "ottla.pipelines.sink.errors.UnwritableRow: topic t: row 3 takes 9 bytes\n\n\tat org.apache.spark"
    )
    assert unwritable_in(RuntimeError(text)) == "topic t: row 3 takes 9 bytes"
    assert unwritable_in(UnwritableRow("as it is")) == "as it is"
    assert unwritable_in(RuntimeError("ValueError: something else")) is None


@pytest.mark.parametrize(
    ("text", "cancelled"),
    [
        ("Job 4 cancelled part of cancelled job group 5a1f", True),
        ("[SPARK_JOB_CANCELLED] Job 7 cancelled Query [id = 1] was stopped SQLSTATE: XXKDA", True),
        ("Job 2 cancelled because SparkContext was shut down", True),
        ("org.apache.spark.SparkException: ExecutorLostFailure (executor 1 exited)", False),
    ],
)
def test_a_query_that_was_stopped_is_told_from_one_that_failed(text: str, cancelled: bool) -> None:
    assert is_cancelled(RuntimeError(text)) is cancelled


def test_the_reason_of_a_failed_batch_is_the_line_that_names_the_error() -> None:
    text = (
        "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
        '  File "task.py", line 3, in call\n    raise RetriedTask: no\n'
        "ottla.pipelines.sink.errors.RetriedTask: task 1 was tried before\n\nJVM stacktrace:\na.B: c\n\tat x"
    )
    assert reason_in(RuntimeError(text)) == (
        "ottla.pipelines.sink.errors.RetriedTask: task 1 was tried before"
    )
    assert reason_in(RuntimeError("Spark ran a stage\nValueError: not this")) == "Spark ran a stage"
    assert reason_in(RuntimeError("")) == ""
