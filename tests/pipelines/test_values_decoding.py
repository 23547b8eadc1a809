"""Decoding and encoding on Spark: which records are bad, what they say, and where they go."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ottla import Admin, NewTopic, Producer, SimpleConsumer
from ottla.pipelines import write_stream
from ottla.pipelines.values.dead_letters import dead_letters
from ottla.pipelines.values.decoding import decode, from_avro, from_json, split
from ottla.pipelines.values.encoding import to_avro, to_json, to_primitive
from ottla.pipelines.values.formats import avro, json_text, primitive, text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, "
    "headers array<struct<key: string, value: binary>>"
)
NOON = datetime.datetime(2013, 1, 1, 12)
SCHEMA = "user string, delay int"

GOOD_JSON: list[tuple[bytes | None, Any]] = [
    (b'{"user":"a","delay":1}', ("a", 1)),
    (b' {"delay":2,"user":"b"}\n', ("b", 2)),
    (b'{"user":"a"}', ("a", None)),
    (b'{"user":"a","delay":null,"more":[1,{"x":2}]}', ("a", None)),
    (b'{"user":5,"delay":1}', ("5", 1)),
    (b'{"user":"Z\xc3\xbcrich \\u0000","delay":-1}', ("Zürich \0", -1)),
    (b"{}", (None, None)),
    (None, None),  # a tombstone is not bad
]
BAD_JSON: list[tuple[bytes, str]] = [
    (b'{"user":"a","delay":"x"}', "not of the type"),
    (b'{"user":"a","delay":99999999999}', "not of the type"),
    (b'{"user":"a","delay":1.5}', "not of the type"),
    (b"null", "not of the type"),
    (b'[{"user":"a","delay":1}]', "not of the type"),
    (b"5", "not of the type"),
    (b"", "empty"),
    (b" \n", "empty"),
    (b'{"user":"a","del', "not a JSON document"),
    (b"{'user':'a'}", "not a JSON document"),
    (b'{"user":"a\x00","delay":1}', "not a JSON document"),
    (b'{"more":' + b"[" * 3000 + b"]" * 3000 + b"}", "not a JSON document"),
    (b'{"user":"x","delay":' + b"1" * 2000 + b"}", "not a JSON document"),
    (b'{"user":"\xff","delay":1}', "not UTF-8"),
    (b'{"user":"a","delay":1} more', "more than one"),
    (b'{"user":"a","delay":1}{"user":"b"}', "more than one"),
    (b'{"user":"a","delay":1},{"user":"b"}', "more than one"),
    (b'{"user":"a","delay":1}}', "more than one"),
    (b'{"user":"a","delay":1},"x":1', "more than one"),
    (b'{"user":"a","delay":1}]', "not of the type"),
]


def records(spark: SparkSession, values: list[bytes | None], key: bytes | None = b"k") -> DataFrame:
    rows = [(key, value, "flights", 3, 100 + at, NOON, [("trace", b"t")]) for at, value in enumerate(values)]
    return spark.createDataFrame(rows, COLUMNS)


def headers_of(row: Any) -> dict[str, str]:
    return {header.key: bytes(header.value).decode() for header in row.headers}


def test_json_is_good_only_when_it_is_one_document_of_the_type(spark: SparkSession) -> None:
    values = [value for value, _ in GOOD_JSON] + [value for value, _ in BAD_JSON]
    parts = split(records(spark, values), value=json_text(SCHEMA), dead_letter_topic="flights-dlq")
    good = {row.offset: row.value and tuple(row.value) for row in parts.good.collect()}
    assert good == {100 + at: expected for at, (_, expected) in enumerate(GOOD_JSON)}

    bad = {int(headers_of(row)["__connect.errors.offset"]): row for row in parts.bad.collect()}
    for at, (value, reason) in enumerate(BAD_JSON, 100 + len(GOOD_JSON)):
        row = bad.pop(at)
        assert (row.topic, row.key, row.value, row.timestamp) == ("flights-dlq", b"k", value, NOON)
        headers = headers_of(row)
        assert headers.pop("__connect.errors.exception.class.name").endswith("Error")
        assert reason in headers.pop("__connect.errors.exception.message"), value
        assert headers == {
            "trace": "t",
            "__connect.errors.topic": "flights",
            "__connect.errors.partition": "3",
            "__connect.errors.offset": str(at),
            "__connect.errors.stage": "VALUE_CONVERTER",
        }
    assert not bad


def test_a_query_fails_at_a_bad_record_or_reads_null_as_the_user_chose(spark: SparkSession) -> None:
    from pyspark.errors import PySparkException

    df = records(spark, [b'{"user":"a","delay":1}', b'{"delay":2}', b"{"])
    # Nobody asks for the decoded column here, and Spark would leave it out.
    with pytest.raises(
        PySparkException, match="topic flights, partition 3, offset 102, ValueError: value: not a"
    ):
        from_json(df, SCHEMA).count()
    # NOT NULL is a promise about the data, which from_json of Spark does not check.
    with pytest.raises(PySparkException, match="offset 101, ValueError: value: user is missing"):
        from_json(df.limit(2), "user string not null, delay int").count()
    nulls = from_json(df, SCHEMA, on_error="null").select("offset", "value").collect()
    assert [(row.offset, row.value and tuple(row.value)) for row in nulls] == [
        (100, ("a", 1)),
        (101, (None, 2)),
        (102, None),
    ]
    assert [row.value for row in from_json(df.limit(1), "map<string, string>").collect()] == [
        {"user": "a", "delay": "1"}
    ]
    with pytest.raises(ValueError, match="on_error is 'fail', 'null' or dead_letters"):
        from_json(df, SCHEMA, on_error="ignore")  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match=r"the column value has to be binary .* it is struct<user:string,delay:int>"
    ):
        from_json(from_json(df, SCHEMA), SCHEMA)


FLIGHT = {
    "type": "record",
    "name": "Flight",
    "fields": [
        {"name": "carrier", "type": "string"},
        {"name": "delay", "type": ["null", "int"], "default": None},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {
            "name": "tags",
            "type": {"type": "map", "values": {"type": "array", "items": "long"}},
            "default": {},
        },
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
    ],
}


def test_avro_and_primitives_come_back_as_they_were_written_and_bad_ones_are_reported(
    spark: SparkSession,
) -> None:
    rows = spark.sql(
        "select id, if(id = 3, null, named_struct("
        "'carrier', concat('C', id), 'delay', if(id = 1, null, int(id)), "
        "'at', timestamp_millis(1357041600123 + id), 'tags', map('a', array(id, 7L)), "
        "'price', cast(id as decimal(9, 2)))) as value from range(4)"
    )
    expected = {row.id: row.value for row in rows.collect()}
    keyed = to_primitive(rows.withColumnRenamed("id", "key"), "long", into="key")
    written = to_avro(keyed, FLIGHT, schema_id=7).collect()
    assert {bytes(row.key) for row in written} == {at.to_bytes(8, "big") for at in range(4)}
    assert sorted(row.value is None for row in written) == [False, False, False, True]

    stored = [(row.key, row.value, "flights", 0, at, NOON, None) for at, row in enumerate(written)]
    sample = next(bytes(row.value) for row in written if row.value is not None)
    for key, value in ((b"\0" * 8, sample[:-3]), (b"\0" * 8, b"\0\0\0\0\x08" + sample[5:]), (b"\0", sample)):
        stored.append((key, value, "flights", 0, len(stored), NOON, None))
    parts = split(
        spark.createDataFrame(stored, COLUMNS),
        key=primitive("long"),
        value=avro(FLIGHT, writer_schemas={7: FLIGHT}),
        dead_letter_topic="flights-dlq",
    )
    assert {row.key: row.value for row in parts.good.collect()} == expected
    bad = {row["__connect.errors.offset"]: row for row in map(headers_of, parts.bad.collect())}
    assert {offset: row["__connect.errors.exception.message"] for offset, row in bad.items()} == {
        "4": "value: the value ends before it is complete",
        "5": "value: schema id 8 is not among those given",
        "6": "key: 1 bytes; a long has 8",
    }
    assert bad["6"]["__connect.errors.stage"] == "KEY_CONVERTER"
    from pyspark.errors import PySparkException

    with pytest.raises(
        PySparkException, match="topic flights, partition 0, offset 4, EOFError: value: the value ends"
    ):
        from_avro(spark.createDataFrame(stored[:5], COLUMNS), FLIGHT, writer_schemas={7: FLIGHT}).count()
    with pytest.raises(PySparkException, match=r"TypeError: value: .*carrier"):
        to_avro(
            spark.sql("select 1 as carrier, current_timestamp() as at"), FLIGHT, "carrier", "at"
        ).collect()


def test_good_output_and_dead_letters_are_the_rows_of_one_write(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    df = records(spark, [b'{"user":"a","delay":1}', b"?", b'{"user":"b","delay":50}'])
    parts = split(df, key=text(), value=json_text(SCHEMA), dead_letter_topic="flights-dlq")
    rows = parts.written(
        topic="delays", key=F.col("value.user"), value=F.to_json("value"), where=F.col("value.delay") > 10
    )
    found = {(row.topic, bytes(row.key), bytes(row.value)) for row in rows.collect()}
    assert found == {("delays", b"b", b'{"user":"b","delay":50}'), ("flights-dlq", b"k", b"?")}
    dead = next(row for row in rows.collect() if row.topic == "flights-dlq")
    assert headers_of(dead)["__connect.errors.offset"] == "101"
    assert dead.timestamp == NOON

    counts = parts.good.groupBy(F.col("value.user").alias("key")).count()
    output = to_json(counts.withColumn("topic", F.lit("counts")), "count")
    both = {
        (row.topic, bytes(row.key), bytes(row.value)) for row in parts.with_dead_letters(output).collect()
    }
    assert both == {
        ("counts", b"a", b'{"count":1}'),
        ("counts", b"b", b'{"count":1}'),
        ("flights-dlq", b"k", b"?"),
    }
    with pytest.raises(ValueError, match="needs a column topic"):
        parts.with_dead_letters(counts)


def test_tasks_send_dead_letters_before_they_hand_on_good_records(
    spark: SparkSession, shared_broker: Any
) -> None:
    servers = shared_broker.bootstrap
    topic = "values-dlq-by-tasks"
    with Admin(servers) as admin:
        admin.create_topics([NewTopic(topic, partitions=1, configs={"retention.ms": "-1"})])
    df = records(
        spark, [json.dumps({"user": str(at), "delay": at}).encode() for at in range(20)] + [b"?", b"!"]
    )
    good = decode(
        df.repartition(2), value=json_text(SCHEMA), on_error=dead_letters(topic, bootstrap_servers=servers)
    )
    assert good.columns == df.columns
    assert sorted(row.value.delay for row in good.collect()) == list(range(20))
    with SimpleConsumer(servers) as consumer:
        found = consumer.fetch(topic, 0, 0).records
    assert sorted(bytes(record.value) for record in found) == [b"!", b"?"]
    for record in found:
        headers = dict(record.headers)
        assert headers["__connect.errors.offset"] in (b"120", b"121")
        assert headers["trace"] == b"t"
        assert record.key == b"k"


def test_a_stream_writes_results_and_dead_letters_in_one_transaction(
    spark: SparkSession, shared_broker: Any, tmp_path: Path
) -> None:
    from pyspark.sql import functions as F

    servers = shared_broker.bootstrap
    with Admin(servers) as admin:
        admin.create_topics([NewTopic(f"values-{name}", partitions=1) for name in ("in", "out", "dlq")])
    with Producer(servers) as producer:
        for at in range(10):
            producer.send(
                "values-in", json.dumps({"user": f"u{at}", "delay": at}), key=b"k", headers={"h": b"1"}
            )
        producer.send("values-in", b'{"user":1,"delay":"late"}', key=b"k", headers={"h": b"1"})
    stream = (
        spark.readStream.format("ottla")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", "values-in")
        .option("startingOffsets", "earliest")
        .option("includeHeaders", "true")
        .load()
    )
    parts = split(stream, value=json_text(SCHEMA), dead_letter_topic="values-dlq")
    rows = parts.written(topic="values-out", key=F.col("value.user"), value=F.to_json("value"))
    query = write_stream(
        rows,
        exactly_once=True,
        bootstrap_servers=servers,
        checkpoint=str(tmp_path / "checkpoint"),
        application_id="values-in-to-out",
        trigger={"availableNow": True},
    )
    assert query.awaitTermination(60)
    with SimpleConsumer(servers, isolation_level="read_committed") as consumer:
        out = consumer.fetch("values-out", 0, 0).records
        (dead,) = consumer.fetch("values-dlq", 0, 0).records
    assert [json.loads(record.value) for record in out] == [
        {"user": f"u{at}", "delay": at} for at in range(10)
    ]
    assert dead.value == b'{"user":1,"delay":"late"}'
    headers = dict(dead.headers)
    assert headers["h"] == b"1"
    assert headers["__connect.errors.topic"] == b"values-in"
    assert headers["__connect.errors.offset"] == b"10"
