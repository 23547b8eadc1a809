"""One SparkSession for all tests of a worker: starting one takes longer than most tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.spark_cluster import JVM_OPTIONS, spark_home_of_links

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# For sessions that tests start in other processes: Spark reads it from its environment.
os.environ.setdefault("SPARK_SUBMIT_OPTS", JVM_OPTIONS)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    base: Path = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SPARK_HOME", str(spark_home_of_links(base / "home")))
        spark = _started(base)
    spark.sparkContext.setLogLevel("ERROR")
    yield spark
    spark.stop()


def _started(base: Path) -> SparkSession:
    from ottla.pipelines import session

    return session(
        "local[2]",
        app_name="ottla-tests",
        conf={
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.driver.memory": "1g",
            "spark.driver.extraJavaOptions": JVM_OPTIONS,
            "spark.local.dir": str(base / "local"),
            "spark.sql.warehouse.dir": str(base / "warehouse"),
            "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
        },
    )
