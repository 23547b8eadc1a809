"""Spark's own Kafka connector for tests: its jars are those of the benchmarks (`benchmarks/peers`)."""

from __future__ import annotations

import sys

from support.tools import REPOSITORY, ToolMissing, machine_lock, tool


def connector_jars() -> str:
    """The value of `spark.jars`; fails with one clear sentence where the jars cannot be had."""
    sys.path.insert(0, str(REPOSITORY / "benchmarks"))
    try:
        from peers import spark_kafka
    finally:
        sys.path.pop(0)
    tool("mvn")
    with machine_lock("spark-kafka"):
        try:
            return spark_kafka.spark_jars()
        except spark_kafka.ConnectorMissing as error:
            raise ToolMissing(str(error)) from None
