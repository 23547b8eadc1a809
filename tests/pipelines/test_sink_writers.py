"""`df.write.format("ottla")` and `df.writeStream.format("ottla")` against a broker: what arrives, what is
refused, with the options and the refusals of Spark's own connector.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from topic_reading import Found, records

import ottla
from ottla.pipelines import write_stream
from ottla.pipelines.options import InvalidOption
from support.broker_process import BrokerProcess

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def topics(shared_broker: BrokerProcess, topic_name: str) -> tuple[str, str]:
    names = f"{topic_name}-a", f"{topic_name}-b"
    with ottla.Admin(shared_broker.bootstrap) as admin:
        admin.create_topics([ottla.NewTopic(name, 3, configs={"retention.ms": "-1"}) for name in names]).all()
    return names


def write(rows: DataFrame, broker: BrokerProcess, **options: Any) -> None:
    options = {"kafka.bootstrap.servers": broker.bootstrap, **options}
    mode = options.pop("mode", "append")
    rows.write.format("ottla").options(**options).mode(mode).save()


def test_rows_arrive_with_all_that_their_columns_say(
    spark: SparkSession, shared_broker: BrokerProcess, topics: tuple[str, str]
) -> None:
    first, second = topics
    moment = datetime(2024, 5, 6, 7, 8, 9, 10_000, UTC)
    header = [("trace", b"\x01"), ("empty", None)]
    rows = spark.createDataFrame(
        [
            (b"k1", b"v1", first, header, 2, moment, 17),
            (None, b"v2", second, None, 0, moment, 18),
            (b"k3", None, first, [], 0, None, 19),
        ],
        "key binary, value binary, topic string, headers array<struct<key:string,value:binary>>, "
        "partition int, timestamp timestamp, offset bigint",
    )
    write(rows, shared_broker)
    moment_ms = int(moment.timestamp() * 1000)
    found = records(shared_broker.bootstrap, first)
    now = next(each for each in found if each.key == b"k3")
    assert now.timestamp_ms > moment_ms
    assert found == [
        Found(0, 0, now.timestamp_ms, b"k3", None, ()),
        Found(2, 0, moment_ms, b"k1", b"v1", (("trace", b"\x01"), ("empty", None))),
    ]
    assert records(shared_broker.bootstrap, second) == [Found(0, 0, moment_ms, None, b"v2", ())]
    numbers = spark.range(0, 30_000, 1, 2)
    write(
        numbers.selectExpr("cast(id % 50 as string) as key", "cast(id as string) as value"),
        shared_broker,
        topic=second,
    )
    many = [each for each in records(shared_broker.bootstrap, second) if each.key is not None]
    assert sorted(int(each.value or b"") for each in many) == list(range(30_000))
    by_key: dict[bytes | None, set[int]] = {}
    for each in many:
        by_key.setdefault(each.key, set()).add(each.partition)
    assert all(len(partitions) == 1 for partitions in by_key.values())


def test_what_cannot_be_written_is_refused_with_a_sentence(
    spark: SparkSession, shared_broker: BrokerProcess, topics: tuple[str, str]
) -> None:
    name, _ = topics
    rows = spark.range(1).selectExpr("'x' as value")
    refusals: list[tuple[DataFrame, dict[str, str], str]] = [
        (rows, {"topic": name, "mode": "overwrite"}, "Save mode Overwrite not allowed"),
        (rows, {"topic": name, "mode": "ignore"}, "(?i)ignore.*mode"),
        (rows, {}, "topic option required when no 'topic' attribute is present"),
        (rows.selectExpr("value", "cast(null as string) as topic"), {}, "null topic present in the data"),
        (rows.selectExpr("value", "7 as partition"), {"topic": name}, "partition 7: topic .* has 3"),
        (rows.selectExpr("repeat('x', 2000000) as value"), {"topic": name}, r"more than max\.request\.size"),
        (
            rows,
            {"topic": name, "kafka.bootstrap.servers": "127.0.0.1:1", "kafka.max.block.ms": "300"},
            f"topic {name}: there is no metadata in time",
        ),
    ]
    for frame, options, why in refusals:
        with pytest.raises(Exception, match=f"(?s){why}"):
            write(frame, shared_broker, **options)
    assert records(shared_broker.bootstrap, name) == []


def test_a_stream_is_written_at_least_once_through_a_broker_that_restarts(
    spark: SparkSession, start_broker: Any, topic_name: str, tmp_path: Path
) -> None:
    broker = start_broker()
    source, target = f"{topic_name}-in", f"{topic_name}-out"
    with ottla.Admin(broker.bootstrap) as admin:
        admin.create_topics([ottla.NewTopic(source, 2), ottla.NewTopic(target, 2)]).all()
    with ottla.Producer(broker.bootstrap) as producer:
        for number in range(1000):
            producer.send(source, b"%d" % number)
    rows = (
        spark.readStream.format("ottla")
        .option("kafka.bootstrap.servers", broker.bootstrap)
        .option("subscribe", source)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", 600)
        .load()
    )
    restarted: list[int] = []

    def restart(frame: DataFrame, batch_id: int) -> DataFrame:
        if batch_id == 1:
            broker.kill()
            broker.start()
            restarted.append(batch_id)
        return frame.drop("topic", "partition")

    query = write_stream(
        rows,
        topic=target,
        bootstrap_servers=broker.bootstrap,
        checkpoint=str(tmp_path / "checkpoint"),
        trigger={"availableNow": True},
        prepare=restart,
    )
    query.awaitTermination(120)
    assert restarted == [1] and not query.isActive
    found = [int(each.value or b"") for each in records(broker.bootstrap, target)]
    assert set(found) == set(range(1000))
    with pytest.raises(InvalidOption, match="application_id is for exactly_once=True"):
        write_stream(
            rows, topic=target, bootstrap_servers=broker.bootstrap, checkpoint="x", application_id="a"
        )
    with pytest.raises(InvalidOption, match="not a stream"):
        write_stream(spark.range(1), topic=target, bootstrap_servers=broker.bootstrap, checkpoint="x")
