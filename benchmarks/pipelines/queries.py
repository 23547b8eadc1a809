"""The batch queries: a source into nothing, and into a count per key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pipelines.usage import Usage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SOURCES: dict[str, tuple[str, dict[str, str]]] = {
    "ottla": ("ottla", {}),
    "ottla again": ("ottla", {}),
    "ottla, columns=key": ("ottla", {"columns": "key"}),
    "kafka": ("kafka", {}),
    "kafka again": ("kafka", {}),
}
"""Name, and format with options: all else is equal. `again` is the null test."""


def read(spark: SparkSession, source: str, address: str, topic: str) -> DataFrame:
    format, options = SOURCES[source]
    reader = spark.read.format(format).option("kafka.bootstrap.servers", address).option("subscribe", topic)
    return reader.options(**options).load()


def into_noop(df: DataFrame, records: int) -> None:
    df.write.format("noop").mode("overwrite").save()


def into_counts(df: DataFrame, records: int) -> None:
    found = sum(row["count"] for row in df.groupBy("key").count().collect())
    if found != records:
        raise RuntimeError(f"{found} records counted, {records} are in the topic")


QUERIES: dict[str, Callable[[DataFrame, int], None]] = {"noop": into_noop, "count per key": into_counts}


def fits(query: str, source: str) -> bool:
    """Fewer columns are another question where all of them are asked for."""
    return "columns" not in source or query == "count per key"


def measured(
    spark: SparkSession, query: str, source: str, address: str, topic: str, records: int, usage: Usage
) -> dict[str, Any]:
    usage.begin()
    QUERIES[query](read(spark, source, address, topic), records)
    figures: dict[str, Any] = usage.end()
    figures["records_per_s"] = records / figures["seconds"]
    return figures
