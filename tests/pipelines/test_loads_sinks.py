"""Streams into tables by `table_sink`: each micro-batch once, however often Spark runs it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ottla
from ottla.pipelines.loads.errors import LoadRefused
from ottla.pipelines.loads.inspection import describe_load, verify_load
from ottla.pipelines.loads.load import load
from ottla.pipelines.loads.read_load import read_load
from ottla.pipelines.loads.table_sink import TableSink, table_sink
from support.broker_process import BrokerProcess

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def send(broker: BrokerProcess, topic: str, first: int, last: int) -> None:
    with ottla.Producer(broker.bootstrap) as producer:
        for n in range(first, last):
            producer.send(topic, b"%d" % n)


class Crash(Exception):
    """What a driver would die of."""


class CrashingSink:
    """Lets the real one work, and fails before or after its commit."""

    def __init__(self, sink: TableSink, *, after: bool) -> None:
        self._sink, self._after = sink, after

    def __call__(self, df: Any, batch_id: int) -> None:
        if self._after:
            self._sink(df, batch_id)
        raise Crash


@pytest.mark.timeout(300)
def test_a_stream_into_tables_is_there_once_after_crashes_before_and_after_the_commit(
    spark: SparkSession, shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    with ottla.Admin(shared_broker.bootstrap) as admin:
        admin.create_topics([ottla.NewTopic("sinks", partitions=2)]).all()
    lines = (
        spark.readStream.format("ottla")
        .option("kafka.bootstrap.servers", shared_broker.bootstrap)
        .option("subscribe", "sinks")
        .option("startingOffsets", "earliest")
        .load()
        .selectExpr("cast(cast(value as string) as long) as n", "cast(value as string) as text")
        .selectExpr("n", "n % 3 as third", "text")
    )

    def run(sink: Any, name: str) -> None:
        query = (
            lines.writeStream.foreachBatch(sink)
            .option("checkpointLocation", str(tmp_path / f"{name}.checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    def numbers(name: str) -> list[int]:
        return sorted(row["n"] for row in read_load(spark, tmp_path / name).collect())

    count = 0
    for format, application in (("parquet", "numbers"), ("delta", None)):

        def sink(format: str = format, application: str | None = application) -> TableSink:
            return table_sink(
                tmp_path / format, format=format, application_id=application, partition_by="third"
            )

        send(shared_broker, "sinks", count, count + 20)
        run(sink(), format)
        send(shared_broker, "sinks", count + 20, count + 30)
        with pytest.raises(Exception, match="Crash"):
            run(CrashingSink(sink(), after=format == "parquet"), format)
        send(shared_broker, "sinks", count + 30, count + 40)
        run(sink(), format)
        count += 40
        assert numbers(format) == list(range(count))
        assert verify_load(tmp_path / format).problems == []
    assert describe_load(tmp_path / "parquet").made_by == "stream"
    # The same name with another checkpoint: its batches 0, 1, ... are not those that are there.
    with pytest.raises(Exception, match="written by a query with another checkpoint"):
        run(table_sink(tmp_path / "parquet", application_id="numbers", partition_by="third"), "fresh")
    # Another application is welcome, and counts for itself.
    other = table_sink(tmp_path / "parquet", application_id="other", partition_by="third")
    more = spark.sql("select 100L as n, 1L as third, 'more' as text")
    other(more, 0)
    other(more, 0)
    assert numbers("parquet") == [*range(40), 100]
    rows = spark.createDataFrame([(1, 2)], "m long, third long")
    with pytest.raises(LoadRefused, match="has other columns than the stream"):
        table_sink(tmp_path / "delta", format="delta", application_id="x", partition_by="third")(rows, 0)
    with pytest.raises(LoadRefused, match="holds a table of format delta, and the sink writes json"):
        table_sink(tmp_path / "delta", format="json", application_id="x")(rows, 0)
    with pytest.raises(LoadRefused, match="outside of a stream"):
        table_sink(tmp_path / "new")(rows, 0)
    with pytest.raises(LoadRefused, match="no load has made"):
        load("sinks", tmp_path / "parquet", bootstrap_servers=shared_broker.bootstrap)
    sink = table_sink(tmp_path / "iceberg", format="iceberg", application_id="x")
    for batch in (0, 1, 1, 0):
        sink(rows, batch)
    assert read_load(spark, tmp_path / "iceberg").count() == 2
