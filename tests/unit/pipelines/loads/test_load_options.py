"""Options of loads: what a table was begun with, offsets and times as texts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ottla.model.types import TopicPartition
from ottla.pipelines.loads.errors import LoadRefused
from ottla.pipelines.loads.failures import reason
from ottla.pipelines.loads.offset_texts import parse_offsets, parse_time_ms
from ottla.pipelines.loads.spec import TableSpec, make_spec


def test_a_later_run_takes_the_options_of_the_first_one() -> None:
    first = make_spec(None, path="/d", format="json", partition_by=["topic", "day"], values="text")
    assert make_spec(first, path="/d") == first
    assert make_spec(first, path="/d", format="json", partition_by=["topic", "day"]) == first
    assert TableSpec.from_json(first.to_json()) == first


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"format": "csv"}, "begun with --format json, and this run asks for --format csv"),
        ({"values": "raw"}, "begun with --values text, and this run asks for --values raw"),
        (
            {"partition_by": ["hour"]},
            "begun with --partition-by day, and this run asks for --partition-by hour",
        ),
        ({"partition_by": []}, "asks for no --partition-by"),
        ({"headers": False}, "begun with --headers, and this run asks for --no-headers"),
        ({"format": "orc"}, "--format orc: write parquet, delta"),
    ],
)
def test_a_run_that_asks_for_something_else_is_refused_with_both_sides(
    options: dict[str, object], sentence: str
) -> None:
    first = make_spec(None, path="/d", format="json", partition_by=["day"], values="text")
    with pytest.raises(LoadRefused, match=sentence):
        make_spec(first, path="/d", **options)  # type: ignore[arg-type]


def test_typed_values_need_their_schema_and_others_have_none() -> None:
    with pytest.raises(LoadRefused, match="--values json needs --schema"):
        make_spec(None, path="/d", values="json")
    with pytest.raises(LoadRefused, match="add --values json"):
        make_spec(None, path="/d", value_schema="a int")
    with pytest.raises(LoadRefused, match="named twice"):
        make_spec(None, path="/d", partition_by=["day", "day"])


def test_offsets_come_as_json_or_as_lines() -> None:
    expected = {TopicPartition("a.b", 0): 12, TopicPartition("a.b", 1): -2}
    assert parse_offsets('{"a.b": {"0": 12, "1": -2}}', "f") == expected
    assert parse_offsets("# made by a tool\na.b:0:12\n\na.b:1:-2\n", "f") == expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "f names no offset"),
        ("{}", "f names no offset"),
        ('{"a"', "f is not JSON"),
        ('{"a": 3}', "write"),
        ('{"a": {"x": 3}}', "'x' is not the number of a partition"),
        ('{"a": {"0": 1.5}}', "1.5 is not an offset"),
        ('{"a": {"0": true}}', "True is not an offset"),
        ('{"a": {"0": null}}', "None is not an offset"),
        ('{"a": {"0": -3}}', "-3 is not an offset"),
        ('{"a": {"0": 99999999999999999999}}', "is not an offset"),
        ("a:0", "line 1: write topic:partition:offset"),
        ("a:0:1\na:x:1", "line 2: write topic"),
        ("a:0:many", "'many' is not an offset"),
    ],
)
def test_offsets_that_cannot_be_are_refused_with_their_place(text: str, sentence: str) -> None:
    with pytest.raises(LoadRefused, match=sentence):
        parse_offsets(text, "f")


def test_times_are_utc_unless_they_say_otherwise() -> None:
    expected = int(datetime(2024, 5, 1, 12, tzinfo=UTC).timestamp() * 1000)
    for value in ("2024-05-01T12:00:00Z", "2024-05-01T12:00:00", "2024-05-01T14:00:00+02:00", str(expected)):
        assert parse_time_ms(value, "--since") == expected
    assert parse_time_ms(datetime(2024, 5, 1, 12), "--since") == expected
    for millis in range(1000):  # a fraction in binary may lie below the millisecond that it stands for
        assert parse_time_ms(f"2024-05-01T12:00:00.{millis:03}Z", "--since") == expected + millis
    for wrong in ("yesterday", "", "1e99", "0001-01-01", "99999999999999999999"):
        with pytest.raises(LoadRefused, match="--since"):
            parse_time_ms(wrong, "--since")


def test_the_reason_of_a_failed_job_is_one_line() -> None:
    task = (
        "An exception was thrown from the Python worker. Please see the stack trace below.\n"
        "Traceback (most recent call last):\n"
        '  File "x.py", line 3, in write\n'
        "OSError: [Errno 28] No space left on device\n\n"
        "\tat org.apache.spark.api.python.Reader.run(x.scala:1)\n"
        "Caused by: java.lang.Exception: boo"
    )
    assert reason(task) == "[Errno 28] No space left on device"
    dead = (
        "An error occurred while calling o55.collectToPython.\n"
        ": org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 4 "
        "times, most recent failure: Lost task 0.3 in stage 1.0 (TID 7) (10.0.0.2 executor 1): {}\n"
        "Driver stacktrace:\n\tat org.apache.spark.scheduler.X.y(X.scala:1)"
    )
    lost = "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: gone"
    assert reason(dead.format(lost)) == lost
    crashed = "Python worker exited unexpectedly (crashed)"
    assert reason(dead.format(f"org.apache.spark.SparkException: {crashed}")) == crashed
    called = (
        f"An error occurred while calling o1.x.\n: org.apache.spark.SparkException: {crashed}\n\tat a.b(c)"
    )
    assert reason(called) == crashed
    assert (
        reason("[USER_RAISED_EXCEPTION] not a JSON object: x SQLSTATE: P0001\nmore") == "not a JSON object: x"
    )
    assert reason("[PATH_NOT_FOUND] Path does not exist: a. SQLSTATE: 42K03") == "Path does not exist: a."
    assert reason("") == "Spark does not say why"
