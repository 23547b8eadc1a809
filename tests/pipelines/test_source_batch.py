"""`spark.read.format("ottla")`: the rows are those that were produced, whatever was asked about them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

import ottla
from support.broker_process import BrokerProcess

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TOPIC = "rows"
TRANSACTED = "transacted"
FIRST_MS = 1_700_000_000_123
COUNT = 400

Row = tuple[Any, ...]


@pytest.fixture(scope="module")
def produced(shared_broker: BrokerProcess) -> dict[tuple[int, int], Row]:
    """What is in the topic, by partition and offset."""
    with ottla.Admin(shared_broker.bootstrap) as admin:
        configs = {"retention.ms": "-1"}
        admin.create_topics([ottla.NewTopic(TOPIC, partitions=3, configs=configs)]).all()
    found: dict[tuple[int, int], Row] = {}
    with ottla.Producer(shared_broker.bootstrap, compression_type="zstd") as producer:
        sent = []
        for index in range(COUNT):
            key = None if index % 3 == 0 else f"k{index % 7}".encode()
            value = None if index % 50 == 1 else f"value {index} äöü".encode()
            headers = [("n", str(index).encode()), ("n", None), ("ü", b"")] if index % 2 else []
            future = producer.send(
                TOPIC, value, key, headers=headers, partition=index % 3, timestamp=FIRST_MS + index
            )
            sent.append((future, (key, value, TOPIC), FIRST_MS + index, headers))
        for future, (key, value, topic), moment_ms, headers in sent:
            at = future.result(10)
            moment = datetime.fromtimestamp(moment_ms / 1000, UTC).replace(tzinfo=None)
            micros = moment.replace(microsecond=moment_ms % 1000 * 1000)
            found[at.partition, at.offset] = (
                *(key, value, topic, at.partition, at.offset, micros, 0),
                [(name, None if data is None else bytes(data)) for name, data in headers] or None,
            )
    return found


@pytest.fixture
def load(spark: SparkSession, shared_broker: BrokerProcess) -> Any:
    def load(topic: str = TOPIC, **options: str) -> DataFrame:
        named = {name.replace("__", "."): value for name, value in options.items()}
        named = {"kafka.bootstrap.servers": shared_broker.bootstrap, "subscribe": topic, **named}
        return spark.read.format("ottla").options(**named).load()

    return load


def rows_of(frame: DataFrame) -> list[Row]:
    """As the fixture has them: Spark gives times without a zone, in that of the session, which is UTC."""
    return [
        tuple(
            bytes(cell)
            if isinstance(cell, bytearray)
            else [(header.key, None if header.value is None else bytes(header.value)) for header in cell]
            if isinstance(cell, list)
            else cell.astimezone(UTC).replace(tzinfo=None)
            if isinstance(cell, datetime)
            else cell
            for cell in row
        )
        for row in frame.collect()
    ]


def test_every_row_is_what_was_produced(load: Any, produced: dict[tuple[int, int], Row]) -> None:
    frame = load(includeHeaders="true")
    # Types of the "structured streaming + Kafka" guide.
    assert frame.dtypes == [
        *(("key", "binary"), ("value", "binary"), ("topic", "string"), ("partition", "int")),
        *(("offset", "bigint"), ("timestamp", "timestamp"), ("timestampType", "int")),
        ("headers", "array<struct<key:string,value:binary>>"),
    ]
    rows = rows_of(frame)
    assert len(rows) == COUNT
    assert {(row[3], row[4]): row for row in rows} == produced
    for partition in range(3):
        offsets = [row[4] for row in rows if row[3] == partition]
        assert offsets == sorted(offsets)


def test_columns_and_tasks_are_as_many_as_asked_for(load: Any, produced: dict[tuple[int, int], Row]) -> None:
    frame = load(columns="offset,value", minPartitions="9")
    assert frame.columns == ["offset", "value"]
    assert frame.rdd.getNumPartitions() == 9
    assert sorted(map(repr, rows_of(frame))) == sorted(repr((row[4], row[1])) for row in produced.values())


def test_filters_reach_the_planning_and_change_no_result(
    spark: SparkSession, load: Any, produced: dict[tuple[int, int], Row]
) -> None:
    moment = datetime.fromtimestamp((FIRST_MS + 299) / 1000, UTC)
    condition = (
        f"partition IN (1, 2) AND offset > 20 AND timestamp > TIMESTAMP '{moment:%Y-%m-%d %H:%M:%S.%f}Z'"
    )
    limit = moment.replace(tzinfo=None)
    expected = sorted(key for key, row in produced.items() if key[0] in (1, 2) and row[5] > limit)
    frame = load(columns="partition,offset,timestamp").where(condition)
    assert sorted((row[0], row[1]) for row in frame.collect()) == expected
    assert frame.rdd.getNumPartitions() == 2, "partition 0 is not read at all"
    left = frame._jdf.queryExecution().executedPlan().toString()
    assert "timestamp" in left.split("Filter")[1] and "offset#" not in left.split("Filter")[1].split("\n")[0]
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "false")
    try:
        frame = load(columns="partition,offset,timestamp").where(condition)
        assert sorted((row[0], row[1]) for row in frame.collect()) == expected
        assert frame.rdd.getNumPartitions() == 3
    finally:
        spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")


def test_nothing_of_an_aborted_transaction_is_read_unless_asked_for(
    load: Any, shared_broker: BrokerProcess
) -> None:
    # KIP-98: markers and aborted records take offsets, so that ranges have gaps, also at their ends.
    with ottla.Admin(shared_broker.bootstrap) as admin:
        admin.create_topics([ottla.NewTopic(TRANSACTED, partitions=1)]).all()
    with ottla.Producer(shared_broker.bootstrap, transactional_id="source-batch") as producer:
        producer.init_transactions()
        for number in range(6):
            producer.begin_transaction()
            for index in range(10):
                producer.send(TRANSACTED, f"{number}-{index}")
            producer.flush()
            if number % 2:
                producer.abort_transaction()
            else:
                producer.commit_transaction()
        expected = [f"{number}-{index}".encode() for number in (0, 2, 4) for index in range(10)]
        assert [row[0] for row in rows_of(load(TRANSACTED, columns="value", minPartitions="5"))] == expected
        # An open transaction: its records are not there yet.
        producer.begin_transaction()
        producer.send(TRANSACTED, "open").result(10)
        assert [row[0] for row in rows_of(load(TRANSACTED, columns="value"))] == expected
        everything = rows_of(load(TRANSACTED, columns="value", kafka__isolation__level="read_uncommitted"))
        assert len(everything) == 61
        producer.abort_transaction()


def test_what_cannot_be_read_is_refused_in_words(
    spark: SparkSession, load: Any, shared_broker: BrokerProcess
) -> None:
    with pytest.raises(Exception, match=r"'nobody' does not exist at .*ottla topic create nobody"):
        load("nobody").count()
    with pytest.raises(Exception, match="did you mean startingOffsets"):
        load(startingOffset="earliest")
    with pytest.raises(Exception, match="has a schema of its own"):
        spark.read.format("ottla").schema("value string").options(
            **{"kafka.bootstrap.servers": shared_broker.bootstrap, "subscribe": TOPIC}
        ).load().count()
