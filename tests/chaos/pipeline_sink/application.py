"""The driver's process of a run: reads the input, counts by key, writes to the output until all is written.

Started with its order as JSON. Tells, one JSON object to a line, which batch it is at and when it is done.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaos.pipeline_sink.outputs import OUTPUTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def tell(**event: Any) -> None:
    print(json.dumps(event), flush=True)


def counts_of(spark: SparkSession, order: dict[str, Any]) -> DataFrame:
    """The stateful pipeline: how many records every key had so far, and their sum."""
    return (
        spark.readStream.format("ottla")
        .option("kafka.bootstrap.servers", order["bootstrap"])
        .option("subscribe", order["topic"])
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", order["per_batch"])
        .load()
        .selectExpr("cast(key as string) as key", "cast(cast(value as string) as bigint) as number")
        .groupBy("key")
        .agg({"number": "sum", "*": "count"})
        .withColumnsRenamed({"sum(number)": "sum", "count(1)": "count"})
    )


def main(order: dict[str, Any]) -> None:
    from ottla.pipelines import session

    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s: %(message)s")
    logging.getLogger("ottla.pipelines").setLevel(logging.INFO)
    output = OUTPUTS[order["output"]]
    output.lay_places(Path(order["ambush"]))
    spark = session(
        order["master"],
        app_name="pipeline-sink",
        conf={
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.driver.memory": "1g",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
            "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
            "spark.excludeOnFailure.enabled": "false",
            "spark.deploy.maxExecutorRetries": "-1",
        },
    )
    spark.sparkContext.setLogLevel("ERROR")
    tell(started=os.getpid())
    query = output.start(
        counts_of(spark, order), order["bootstrap"], Path(order["folder"]), lambda batch: tell(batch=batch)
    )
    query.awaitTermination()
    tell(done=True)
    spark.stop()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
