"""What may be said to a source, and what is refused: the rules of Spark's Kafka connector, and our own."""

from __future__ import annotations

import pytest

from ottla.client.errors import InvalidConfig
from ottla.model.types import TopicPartition
from ottla.pipelines.options import COLUMNS, InvalidOption, SourceOptions, client_settings, source_columns

BASE = {"kafka.bootstrap.servers": "localhost:9092", "subscribe": "clicks"}


def batch(**given: str) -> SourceOptions:
    return SourceOptions.parse({**BASE, **_named(given)}, streaming=False)


def stream(**given: str) -> SourceOptions:
    return SourceOptions.parse({**BASE, **_named(given)}, streaming=True)


def _named(given: dict[str, str]) -> dict[str, str]:
    return {name.replace("__", "."): value for name, value in given.items()}


def test_names_are_compared_without_regard_to_case_as_spark_does() -> None:
    parsed = SourceOptions.parse(
        {"KAFKA.bootstrap.servers": "h:1", "Subscribe": "b, a", "MINpartitions": "7"}, streaming=False
    )
    assert parsed.bootstrap_servers == "h:1"
    assert parsed.subscription.topics == ("a", "b")
    assert parsed.partitions_min == 7


def test_defaults_are_those_of_sparks_connector_but_for_read_committed() -> None:
    parsed = stream()
    assert (parsed.starting.kind, batch().starting.kind, batch().ending.kind) == (
        "latest",
        "earliest",
        "latest",
    )
    assert parsed.fail_on_data_loss and parsed.columns == COLUMNS[:-1]
    assert parsed.trigger_delay_max_ms == 15 * 60_000
    assert parsed.read_committed
    assert not batch(kafka__isolation__level="read_uncommitted").read_committed


@pytest.mark.parametrize("given", [{}, {"subscribe": "a", "assign": '{"a":[0]}'}])
def test_exactly_one_way_to_say_what_is_read(given: dict[str, str]) -> None:
    with pytest.raises(InvalidOption, match="exactly one of subscribe"):
        SourceOptions.parse({"kafka.bootstrap.servers": "h:1", **given}, streaming=True)


def test_partitions_are_assigned_in_json() -> None:
    given = {"kafka.bootstrap.servers": "h:1", "assign": '{"b":[1,0],"a":[2]}'}
    parsed = SourceOptions.parse(given, streaming=True)
    assert parsed.subscription.assigned == (
        TopicPartition("a", 2),
        TopicPartition("b", 0),
        TopicPartition("b", 1),
    )
    assert parsed.subscription.covers("a") and not parsed.subscription.covers("c")


def test_a_pattern_has_to_fit_the_whole_name() -> None:
    given = {"kafka.bootstrap.servers": "h:1", "subscribePattern": "click.*"}
    parsed = SourceOptions.parse(given, streaming=True)
    assert parsed.subscription.matching(["myclicks", "clicks-2", "click"]) == ["click", "clicks-2"]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("subscribe", " , ", "names no topic"),
        ("subscribePattern", "(", "not a regular expression"),
        ("subscribePattern", " ", "empty"),
        ("assign", '{"a":0}', "not a list"),
        ("assign", "{}", "no partition"),
        ("assign", '{"a":[-1]}', "not the number"),
    ],
)
def test_what_is_read_has_to_be_well_formed(name: str, value: str, said: str) -> None:
    with pytest.raises(InvalidOption, match=said):
        SourceOptions.parse({"kafka.bootstrap.servers": "h:1", name: value}, streaming=True)


def test_an_unknown_option_is_refused_with_the_name_that_was_probably_meant() -> None:
    with pytest.raises(InvalidOption, match="did you mean maxOffsetsPerTrigger"):
        stream(maxOffsetPerTrigger="10")
    with pytest.raises(InvalidOption, match=r"did you mean kafka\.bootstrap\.servers"):
        SourceOptions.parse({"bootstrap.servers": "h:1", "subscribe": "a"}, streaming=True)
    with pytest.raises(InvalidOption, match=r"did you mean kafka\.fetch\.max\.bytes"):
        stream(kafka__fetch__max__byte="1")
    with pytest.raises(InvalidOption, match="subscribe"):
        stream(topic="clicks")


def test_what_spark_adds_for_every_format_is_let_pass() -> None:
    assert batch(path="/somewhere").subscription.topics == ("clicks",)


@pytest.mark.parametrize(
    "name",
    [
        *("auto.offset.reset", "key.deserializer", "value.deserializer", "key.serializer"),
        *("value.serializer", "enable.auto.commit", "interceptor.classes"),
    ],
)
def test_settings_that_sparks_connector_refuses_are_refused_with_a_reason(name: str) -> None:
    with pytest.raises(InvalidOption, match="is not supported: "):
        client_settings({**BASE, f"kafka.{name}": "x"})


def test_settings_of_the_client_lose_their_prefix_and_are_checked() -> None:
    given = {**BASE, "kafka.sasl.jaas.config": "a B;", "kafka.linger.ms": "5", "topic": "t"}
    assert client_settings(given) == {
        "bootstrap.servers": "localhost:9092",
        "sasl.jaas.config": "a B;",
        "linger.ms": "5",
    }
    with pytest.raises(InvalidOption, match=r"kafka\.bootstrap\.servers is missing"):
        client_settings({"subscribe": "a"})
    with pytest.raises(InvalidConfig, match=r"fetch\.max\.bytes"):
        batch(kafka__fetch__max__bytes="many")


def test_starting_and_ending_offsets_are_read_as_sparks_connector_reads_them() -> None:
    parsed = batch(startingOffsets='{"clicks":{"0":23,"1":-2}}', endingOffsets='{"clicks":{"0":50,"1":-1}}')
    assert dict(parsed.starting.by_partition) == {
        TopicPartition("clicks", 0): 23,
        TopicPartition("clicks", 1): -2,
    }
    assert parsed.ending.kind == "offsets"
    assert stream(startingOffsets="EARLIEST").starting.kind == "earliest"
    # A time for all wins over times for each, and those over offsets.
    both = batch(startingTimestamp="5", startingOffsetsByTimestamp='{"clicks":{"0":7}}', startingOffsets="x")
    assert (both.starting.kind, both.starting.moment_ms) == ("timestamp", 5)
    assert batch(startingOffsetsByTimestamp='{"clicks":{"0":7}}').starting.kind == "timestamps"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"startingOffsets": "latest"}, "reads nothing"),
        ({"startingOffsets": '{"clicks":{"0":-1}}'}, "cannot begin at the end"),
        ({"endingOffsets": "earliest"}, "reads nothing"),
        ({"endingOffsets": '{"clicks":{"0":-2}}'}, "cannot end at the beginning"),
        ({"startingOffsets": "soon"}, "not JSON"),
        ({"startingOffsets": '{"clicks":{"0":-3}}'}, "clicks-0: -3"),
        ({"startingOffsets": '{"clicks":{"x":1}}'}, "not the number of a partition"),
        ({"startingOffsets": '{"clicks":{"0":1,"00":2}}'}, "twice"),
        ({"startingOffsets": "[]"}, "not a mapping"),
        ({"startingTimestamp": "now"}, "not a whole number"),
        ({"startingOffsetsByTimestampStrategy": "guess"}, "neither error nor latest"),
        ({"minPartitions": "0"}, "not positive"),
        ({"maxRecordsPerPartition": "-1"}, "not positive"),
        ({"failOnDataLoss": "maybe"}, "neither true nor false"),
        ({"maxTriggerDelay": "a while"}, "not a time"),
        ({"minOffsetsPerTrigger": "5", "maxOffsetsPerTrigger": "4"}, "no batch can be both"),
    ],
)
def test_what_cannot_be_is_refused_by_name(given: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidOption, match=said) as raised:
        batch(**given)
    assert next(iter(given)) in str(raised.value)


def test_a_stream_has_no_end() -> None:
    with pytest.raises(InvalidOption, match="endingOffsets is for batch queries"):
        stream(endingOffsets="latest")


@pytest.mark.parametrize(
    ("text", "wanted_ms"),
    [("250", 250), ("30s", 30_000), ("15m", 900_000), ("2 hours", 7_200_000), ("1d", 86_400_000)],
)
def test_a_delay_is_said_as_spark_says_times(text: str, wanted_ms: int) -> None:
    assert stream(maxTriggerDelay=text).trigger_delay_max_ms == wanted_ms


def test_columns_choose_names_and_order_of_the_schema() -> None:
    assert source_columns({**BASE, "columns": "offset, VALUE,timestamptype"}) == (
        "offset",
        "value",
        "timestampType",
    )
    assert source_columns({**BASE, "includeHeaders": "true"})[-1] == "headers"
    with pytest.raises(InvalidOption, match="did you mean value"):
        source_columns({**BASE, "columns": "vlaue"})
    with pytest.raises(InvalidOption, match="twice"):
        source_columns({**BASE, "columns": "key,key"})


def test_the_poll_timeout_is_how_long_a_task_waits_for_records() -> None:
    parsed = batch(**{"kafkaConsumer.pollTimeoutMs": "777"})
    assert dict(parsed.settings)["default.api.timeout.ms"] == "777"


def test_secrets_do_not_show_where_options_are_printed() -> None:
    assert "hunter2" not in repr(batch(kafka__sasl__jaas__config="user hunter2;"))
