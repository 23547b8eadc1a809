"""A pipeline's driver, a process of its own, killed with -9 where a commit is most delicate.

Between the commit and Spark's note of it: the batch must not be written a second time. `make pipelines-chaos`
does it at every step and at scale, with executors and tasks, and into tables.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import StreamingQueryException

import ottla
from chaos.pipeline_sink.application import counts_of
from chaos.pipeline_sink.input import Input
from chaos.pipeline_sink.outputs import OUTPUTS
from chaos.pipeline_sink.run import Kill, Run
from ottla.pipelines import read_load, table_sink
from support.broker_process import BrokerProcess
from support.spark_cluster import spark_home_of_links

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KILLS = [Kill("driver", "after commit")]


@pytest.mark.timeout(300)
def test_a_driver_killed_between_the_commit_and_sparks_note_of_it_leaves_every_row_exactly_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KIP-98: what a transaction holds is seen whole or not at all, whoever dies. The last driver, which is
    left alone, is this process: that saves a start."""
    monkeypatch.setenv("SPARK_HOME", str(spark_home_of_links(tmp_path / "spark-home")))
    given = Input("numbers", record_count=2_000, key_count=50, partition_count=2)
    run = Run(OUTPUTS["topic"], given, tmp_path, per_batch=1_000, master="local[1]")
    try:
        run.prepare()
        assert run.kill_by_plan(KILLS, random.Random(0), to_the_end=False) == []
        assert len(run.drivers) == len(KILLS)
        counts, batches = counts_of(spark, run.order()), list[int]()
        output = run.output.start(counts, run.broker.bootstrap, tmp_path / "output", batches.append)
        output.awaitTermination()
        assert batches == [1]  # 0 is known to be written
        assert run.check() == []
        assert sorted(run.kills) == sorted(KILLS)
        assert run.rows == 2 * 50
    finally:
        run.stop()


def test_a_stateful_stream_into_a_table_goes_on_after_a_commit_that_spark_never_heard_of(
    spark: SparkSession, shared_broker: BrokerProcess, tmp_path: Path, topic_name: str
) -> None:
    """The batch is skipped, but not its computing: Spark has to find the states of all its batches, and
    refuses to go on where one was not stored (`spark.sql.streaming.stateStore.commitValidation.enabled`).
    """
    counts = (
        spark.readStream.format("ottla")
        .option("kafka.bootstrap.servers", shared_broker.bootstrap)
        .option("subscribe", topic_name)
        .option("startingOffsets", "earliest")
        .load()
        .groupBy("key")
        .count()
        .selectExpr("cast(key as string) as key", "count")
    )
    sink = table_sink(tmp_path / "table", application_id="counts")

    def dying(frame: DataFrame, batch_id: int) -> None:
        sink(frame, batch_id)
        raise OSError("dead after the commit")

    def run(write: Callable[[DataFrame, int], None]) -> None:
        with ottla.Producer(shared_broker.bootstrap) as producer:
            for number in range(30):
                producer.send(topic_name, b"%d" % number, key=b"k%d" % (number % 3))
        writing = counts.writeStream.foreachBatch(write).outputMode("update").trigger(availableNow=True)
        writing.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()

    with ottla.Admin(shared_broker.bootstrap) as admin:
        admin.create_topics([ottla.NewTopic(topic_name, 2)]).all()
    with pytest.raises(StreamingQueryException, match="dead after the commit"):
        run(dying)
    run(sink)
    found = sorted((row["key"], row["count"]) for row in read_load(spark, tmp_path / "table").collect())
    assert found == [(f"k{key}", count) for key in range(3) for count in (10, 20)]
