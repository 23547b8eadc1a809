"""`spark.readStream.format("ottla")`: every record once, while topics, brokers and checkpoints change."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ottla
from support.broker_process import BrokerFactory, BrokerProcess
from support.waiting import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

PATIENCE_S = 40.0


class Stream:
    """A query from topics into a table in memory, started again and again on one checkpoint."""

    def __init__(self, spark: SparkSession, bootstrap: str, checkpoint: Path, name: str) -> None:
        self._spark = spark
        self._bootstrap = bootstrap
        self._checkpoint = checkpoint
        self._name = name
        self._runs = 0
        self.seen: list[tuple[Any, ...]] = []

    def start(self, options: dict[str, str], *, available_now: bool = False) -> StreamingQuery:
        named = {"kafka.bootstrap.servers": self._bootstrap, "startingOffsets": "earliest", **options}
        frame = self._spark.readStream.format("ottla").options(**named).load()
        trigger: dict[str, Any] = {"availableNow": True} if available_now else {"processingTime": "0 seconds"}
        return (
            frame.writeStream.foreachBatch(self._take)
            .option("checkpointLocation", str(self._checkpoint))
            .trigger(**trigger)
            .start()
        )

    def _take(self, frame: Any, batch_id: int) -> None:
        rows = frame.select("topic", "partition", "offset", "value").collect()
        self.seen += [(row[0], row[1], row[2], bytes(row[3]).decode()) for row in rows]

    @contextmanager
    def running(self, **options: str) -> Iterator[StreamingQuery]:
        query = self.start(options)
        try:
            yield query
        finally:
            query.stop()

    def run(self, **options: str) -> StreamingQuery:
        query = self.start(options, available_now=True)
        assert query.awaitTermination(int(PATIENCE_S))
        return query

    @property
    def values(self) -> Counter[str]:
        return Counter(row[3] for row in self.seen)

    def wait_for(self, count: int, query: StreamingQuery | None = None) -> None:
        def done() -> bool:
            error = query.exception() if query is not None else None
            assert error is None, error
            return len(self.seen) >= count

        wait_until(done, f"{count} rows", timeout_s=PATIENCE_S, pause_s=0.05)


@pytest.fixture
def stream(spark: SparkSession, shared_broker: BrokerProcess, tmp_path: Path, topic_name: str) -> Stream:
    return Stream(spark, shared_broker.bootstrap, tmp_path / "checkpoint", topic_name)


def produce(bootstrap: str, topic: str, values: range, **settings: Any) -> None:
    with ottla.Producer(bootstrap, **settings) as producer:
        for value in values:
            producer.send(topic, str(value), key=str(value))


def create(admin: ottla.Admin, topic: str, partitions: int = 2) -> None:
    admin.create_topics([ottla.NewTopic(topic, partitions=partitions)]).all()


@pytest.fixture
def admin(shared_broker: BrokerProcess) -> Iterator[ottla.Admin]:
    with ottla.Admin(shared_broker.bootstrap) as admin:
        yield admin


def expected(*ranges: range) -> Counter[str]:
    return Counter(str(value) for values in ranges for value in values)


def test_available_now_reads_what_is_there_in_limited_batches_and_goes_on_from_there(
    stream: Stream, admin: ottla.Admin, shared_broker: BrokerProcess, topic_name: str
) -> None:
    create(admin, topic_name, 3)
    produce(shared_broker.bootstrap, topic_name, range(500))
    options = {"subscribe": topic_name, "maxOffsetsPerTrigger": "200", "kafka.group.id": f"{topic_name}-lag"}
    query = stream.run(**options)
    assert stream.values == expected(range(500))
    progress = query.recentProgress
    assert [p["numInputRows"] for p in progress if p["numInputRows"]] == pytest.approx([200, 200, 100], abs=4)
    # Spark's own form of offsets, so that its tools, and a checkpoint of its connector, are understood.
    ends = json.loads(progress[-1]["sources"][0]["endOffset"])
    assert sum(ends[topic_name].values()) == 500
    assert progress[-1]["sources"][0]["latestOffset"] is not None
    (lag,) = admin.describe_group_lags([f"{topic_name}-lag"]).all().values()
    assert [each.committed and each.committed.offset for each in lag.partitions] == [
        ends[topic_name][str(partition)] for partition in range(3)
    ], "the last batch is shown, too"
    produce(shared_broker.bootstrap, topic_name, range(500, 520))
    stream.run(**options)
    assert stream.values == expected(range(520)), "each row once over both runs"


def test_partitions_and_topics_that_appear_are_read_and_a_broker_may_restart_under_the_query(
    spark: SparkSession, start_broker: BrokerFactory, tmp_path: Path
) -> None:
    broker = start_broker()
    stream = Stream(spark, broker.bootstrap, tmp_path / "checkpoint", "growing")
    with ottla.Admin(broker.bootstrap) as admin:
        create(admin, "grow-1", 1)
        with stream.running(subscribePattern="grow-.*", failOnDataLoss="true") as query:
            produce(broker.bootstrap, "grow-1", range(10))
            stream.wait_for(10, query)
            admin.create_partitions({"grow-1": 3}).all()
            create(admin, "grow-2")
            produce(broker.bootstrap, "grow-1", range(10, 60))
            produce(broker.bootstrap, "grow-2", range(60, 90))
            stream.wait_for(90, query)
            assert {row[:2] for row in stream.seen} >= {("grow-1", 2), ("grow-2", 1)}
            assert broker.stop() == 0
            broker.start()
            produce(broker.bootstrap, "grow-1", range(90, 100))
            stream.wait_for(100, query)
            assert query.isActive
    assert stream.values == expected(range(100))


def test_a_stream_begins_at_the_end_and_rows_of_its_first_batch_survive_a_restart(
    stream: Stream, admin: ottla.Admin, shared_broker: BrokerProcess, topic_name: str, tmp_path: Path
) -> None:
    create(admin, topic_name, 1)
    produce(shared_broker.bootstrap, topic_name, range(5))
    options = {"subscribe": topic_name, "startingOffsets": "latest"}
    with stream.running(**options) as query:
        wait_until(lambda: query.lastProgress, "the first batch", timeout_s=PATIENCE_S)
    produce(shared_broker.bootstrap, topic_name, range(5, 9))
    # As if the process had died before the first batch was done: Spark plans it again, from its end alone.
    for done in (tmp_path / "checkpoint" / "commits").glob("*0*"):
        done.unlink()
    stream.run(**options)
    assert stream.values == expected(range(5, 9))


def test_records_that_retention_took_stop_the_query_or_are_skipped(
    stream: Stream, admin: ottla.Admin, shared_broker: BrokerProcess, topic_name: str
) -> None:
    create(admin, topic_name, 1)
    produce(shared_broker.bootstrap, topic_name, range(10))
    stream.run(subscribe=topic_name)
    produce(shared_broker.bootstrap, topic_name, range(10, 30))
    admin.delete_records({ottla.TopicPartition(topic_name, 0): 15}).all()
    with pytest.raises(Exception, match=rf"{topic_name}-0: offsets 10 to 29 are wanted.*begins at 15"):
        stream.run(subscribe=topic_name)
    assert stream.values == expected(range(10))
    stream.run(subscribe=topic_name, failOnDataLoss="false")
    assert stream.values == expected(range(10), range(15, 30))


def test_a_deleted_topic_and_a_foreign_checkpoint_end_the_query_with_an_explanation(
    stream: Stream, admin: ottla.Admin, shared_broker: BrokerProcess, topic_name: str
) -> None:
    other = f"{topic_name}-other"
    create(admin, topic_name, 1)
    create(admin, other, 1)
    produce(shared_broker.bootstrap, topic_name, range(3))
    retries = {"fetchOffset.numRetries": "1", "fetchOffset.retryIntervalMs": "10"}
    query = stream.start({"subscribe": topic_name, **retries})
    try:
        stream.wait_for(3, query)
        admin.delete_topics([topic_name]).all()
        gone = rf"{topic_name}-0 \(wanted from offset 3 on\): the topic was deleted"
        with pytest.raises(Exception, match=gone):
            query.awaitTermination(int(PATIENCE_S))
    finally:
        query.stop()
    with pytest.raises(Exception, match=rf"offsets of {topic_name}, and this one reads {other}"):
        stream.run(subscribe=other)
