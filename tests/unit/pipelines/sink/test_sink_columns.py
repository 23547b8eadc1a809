"""Which columns and options a sink takes, with the refusals of Spark's own connector."""

from __future__ import annotations

import pytest

from ottla.client.errors import InvalidConfig
from ottla.pipelines.options import InvalidOption
from ottla.pipelines.sink.columns import SinkColumns
from ottla.pipelines.sink.sink_options import BATCH_ATTEMPTS, TRANSACTION_TIMEOUT_MS, SinkOptions

SERVERS = {"kafka.bootstrap.servers": "localhost:9092"}
VALUE = ("value", "binary")


def test_the_columns_of_the_source_can_be_written_back_and_others_are_left_out() -> None:
    found = SinkColumns.check(
        [
            ("key", "binary"),
            VALUE,
            ("topic", "string"),
            ("partition", "int"),
            ("offset", "bigint"),
            ("timestamp", "timestamp"),
            ("timestampType", "int"),
            ("headers", "array<struct<key:string,value:binary>>"),
        ],
        None,
    )
    assert found.names == ("key", "value", "topic", "headers", "partition", "timestamp")


def test_the_option_topic_wins_over_the_column() -> None:
    found = SinkColumns.check([VALUE, ("topic", "string")], "all")
    assert found == SinkColumns(("value",), "all")


def test_names_are_found_whatever_their_case() -> None:
    """As Spark resolves columns."""
    assert SinkColumns.check([("VALUE", "string"), ("Key", "string")], "t").names == ("Key", "VALUE")


@pytest.mark.parametrize(
    ("fields", "topic", "refused"),
    [
        ([("key", "binary")], "t", "Required attribute 'value' not found"),
        ([VALUE], None, "topic option required when no 'topic' attribute is present"),
        ([("value", "int")], "t", "value attribute type must be a string or binary, not int"),
        ([VALUE, ("key", "double")], "t", "key attribute type must be a string or binary, not double"),
        ([VALUE, ("topic", "binary")], None, "topic attribute type must be a string, not binary"),
        ([VALUE, ("partition", "bigint")], "t", "partition attribute type must be a int, not bigint"),
        ([VALUE, ("headers", "map<string,binary>")], "t", "headers attribute type must be array<struct<"),
        ([VALUE, ("Value", "binary")], "t", "several columns named 'value'"),
    ],
)
def test_what_cannot_be_written_is_refused_when_spark_plans(
    fields: list[tuple[str, str]], topic: str | None, refused: str
) -> None:
    with pytest.raises(InvalidOption, match=refused):
        SinkColumns.check(fields, topic)


def test_options_are_read_and_have_their_defaults() -> None:
    found = SinkOptions.parse({**SERVERS, "Topic": "t", "kafka.linger.ms": "7", "kafka.group.id": "g"})
    assert found.topic == "t" and found.batch_attempts == BATCH_ATTEMPTS
    assert dict(found.settings) == {"bootstrap.servers": "localhost:9092", "linger.ms": "7"}
    exact = SinkOptions.parse({**SERVERS, "batchAttempts": "2"}, exactly_once=True)
    assert exact.batch_attempts == 2
    assert dict(exact.settings)["transaction.timeout.ms"] == str(TRANSACTION_TIMEOUT_MS)


@pytest.mark.parametrize(
    ("options", "exactly_once", "refused"),
    [
        ({"kafka.transactional.id": "x"}, False, "application_id"),
        ({"kafka.enable.idempotence": "false"}, True, "not possible with exactly_once"),
        ({"kafka.acks": "1"}, True, "has to be all"),
        ({"topc": "x"}, False, "did you mean topic"),
        ({"topic": "a/b"}, False, "topic: "),
        ({"batchAttempts": "0"}, True, "from 1 to 1000"),
        ({"kafka.linger.ms": "soon"}, False, "linger"),
        ({"kafka.key.serializer": "x"}, False, r"kafka\.key\.serializer is not supported"),
    ],
)
def test_options_that_cannot_be_are_refused(
    options: dict[str, str], exactly_once: bool, refused: str
) -> None:
    with pytest.raises(InvalidConfig, match=refused):
        SinkOptions.parse({**SERVERS, **options}, exactly_once=exactly_once)
