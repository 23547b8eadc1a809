"""`ottla.pipelines.publish`: files into a topic, in parallel; the way back from a load.

    publish("flights/*.parquet", "flights", key="carrier", timestamp="time_hour")
    publish("/data/clicks", "clicks-restored", restore=True)            # a table that a load made

Files of any format become rows of the sink: `key`, `value`, `headers`, `timestamp`, `partition`. Without
--value, the value is the row as JSON; a line of a JSON or text file is sent as it is, byte by byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DateType,
    IntegralType,
    MapType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from ottla.client.errors import OttlaError, UnknownTopicOrPartition
from ottla.pipelines import connections
from ottla.pipelines.loads.columns import CSV_READ
from ottla.pipelines.loads.errors import LoadRefused
from ottla.pipelines.loads.failures import explained
from ottla.pipelines.loads.publish_files import PublishInput, find_input
from ottla.pipelines.loads.read_load import read_table, spark_path
from ottla.pipelines.loads.spec import TableSpec
from ottla.pipelines.options import client_settings

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

_LINE: Final = "__ottla_line"


@dataclass(slots=True)
class PublishResult:
    topic: str
    records: int = 0
    files: int = 0
    created_partitions: int = 0
    """Of the topic, where it was created."""


def publish(
    files: str | Path | Sequence[str | Path],
    topic: str,
    *,
    bootstrap_servers: str | None = None,
    format: str | None = None,
    key: str | None = None,
    value: str | None = None,
    timestamp: str | None = None,
    headers: Sequence[str] | Mapping[str, str] = (),
    partition: str | None = None,
    schema: str | None = None,
    restore: bool = False,
    from_topic: str | None = None,
    partitions: int | None = None,
    replication_factor: int = -1,
    topic_configs: Mapping[str, str] | None = None,
    exactly_once: bool = False,
    checkpoint: str | None = None,
    application_id: str | None = None,
    options: Mapping[str, str] | None = None,
    spark: SparkSession | Callable[[], SparkSession] | None = None,
) -> PublishResult:
    """Sends the rows of files to a topic, at least once (idempotent producers; a task that fails runs again).

    files: paths, directories or patterns; or one directory with a table (of a load, Delta, Iceberg).
    format: parquet, json, csv, text, avro, delta, iceberg; by default what the names or the directory say.
    key, value, timestamp, partition: columns. Without a value, the row as JSON. A load's table has them.
    headers: columns that become headers under their names, or a mapping from header to column.
    restore: a load's records as they were: also in their partitions, in their order.
    partitions: the topic is created with so many (and with `topic_configs`), if it does not exist.
    exactly_once: through a stream with a checkpoint, one transaction per micro-batch; run again, it goes on
        with the files that are new. For files, not tables.
    """
    settings = client_settings(
        {
            f"kafka.{name}": str(text)
            for name, text in {
                **(options or {}),
                "bootstrap.servers": bootstrap_servers or "localhost:9092",
            }.items()
        }
    )
    if exactly_once and checkpoint is None:
        raise LoadRefused(
            "--exactly-once needs --checkpoint DIR, which remembers the files that were published"
        )
    if checkpoint is not None and not exactly_once:
        raise LoadRefused("--checkpoint is for --exactly-once")
    found = find_input([files] if isinstance(files, str | Path) else list(files), format)
    chosen = _Columns(key, value, timestamp, partition, _header_columns(headers))
    spec = found.table.spec if found.table is not None else None
    if restore:
        _check_restore(found, spec, chosen)
    if exactly_once and found.format not in ("parquet", "json", "csv", "text"):
        raise LoadRefused(
            f"--exactly-once reads files as a stream, which {found.format} cannot be: leave it out"
        )
    result = PublishResult(topic, files=found.count)
    result.created_partitions = _ensure_topic(
        settings, topic, partitions, replication_factor, topic_configs or {}
    )
    session = _session(spark)
    with explained(f"{', '.join(found.given)[:200]} cannot be read"):
        rows = _read(session, found, schema, stream=exactly_once)
    if spec is not None and spec.made_by == "load":
        rows = _of_load(rows, found, spec, chosen, from_topic)
        if not restore and not chosen.any:
            rows = rows.drop("partition")
    else:
        if from_topic is not None:
            raise LoadRefused("--from-topic chooses among the topics of a load's table, and this is none")
        rows = _sink_rows(rows, chosen, found)
    if restore:
        _check_partitions(settings, topic, found, from_topic)
    with explained(f"publishing to {topic} failed"):
        if checkpoint is not None:
            result.records = _stream(rows, topic, settings, checkpoint, application_id)
        else:
            result.records = _write(rows, topic, settings)
    return result


@dataclass(frozen=True, slots=True)
class _Columns:
    key: str | None
    value: str | None
    timestamp: str | None
    partition: str | None
    headers: tuple[tuple[str, str], ...]

    @property
    def any(self) -> bool:
        return bool(self.key or self.value or self.timestamp or self.partition or self.headers)

    def named(self) -> list[str]:
        columns = [
            self.key,
            self.value,
            self.timestamp,
            self.partition,
            *(column for _, column in self.headers),
        ]
        return [column for column in columns if column is not None]


def _header_columns(headers: Sequence[str] | Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    if isinstance(headers, Mapping):
        return tuple(headers.items())
    return tuple((name, name) for name in headers)


def _session(spark: SparkSession | Callable[[], SparkSession] | None) -> SparkSession:
    if isinstance(spark, SparkSession):
        return spark
    if spark is None:
        from ottla.pipelines.spark_session import session

        return session()
    return spark()


# -- The topic


def _ensure_topic(
    settings: Mapping[str, str],
    topic: str,
    partitions: int | None,
    replication: int,
    configs: Mapping[str, str],
) -> int:
    from ottla.client.admin import NewTopic

    admin = connections.admin(settings)
    there = admin.describe_topics([topic])[topic]
    if isinstance(there, UnknownTopicOrPartition):
        if partitions is None:
            raise LoadRefused(f"topic {topic} does not exist: add --partitions N to create it")
        new = NewTopic(topic, partitions=partitions, replication_factor=replication, configs=dict(configs))
        admin.create_topics([new]).all()
        return partitions
    if isinstance(there, OttlaError):
        raise there
    if partitions is not None and partitions != len(there.partitions):
        raise LoadRefused(f"topic {topic} exists with {len(there.partitions)} partitions, not {partitions}")
    return 0


def _check_restore(found: PublishInput, spec: TableSpec | None, chosen: _Columns) -> None:
    if spec is None or spec.made_by != "load":
        raise LoadRefused("--restore needs a directory that a load has made")
    if not spec.restorable:
        raise LoadRefused(
            f"--restore: the table has values as {spec.values}, not the bytes that the records had: "
            "publish it without"
        )
    if chosen.any:
        raise LoadRefused("--restore sends records as they were: leave out the options that choose columns")


def _check_partitions(
    settings: Mapping[str, str], topic: str, found: PublishInput, from_topic: str | None
) -> None:
    there = connections.admin(settings).describe_topics([topic]).all()[topic]
    assert found.table is not None
    highest = max(
        (each.partition for each in found.table.files() if from_topic in (None, each.topic)), default=-1
    )
    if highest >= len(there.partitions):
        raise LoadRefused(
            f"--restore: the table has records of partition {highest}, and topic {topic} has "
            f"{len(there.partitions)} partitions"
        )


# -- Rows


def _read(spark: SparkSession, found: PublishInput, schema: str | None, *, stream: bool) -> DataFrame:
    if found.table is not None:
        return read_table(spark, found.table)
    reader: Any = spark.readStream if stream else spark.read
    paths: Any = [spark_path(each) for each in found.files]
    if stream:
        if len(found.given) != 1:
            raise LoadRefused("--exactly-once takes one directory or pattern, in which new files may appear")
        paths = found.stream_path
    if found.format == "text":
        return _loaded(reader.format("text"), paths)
    if found.format == "json":
        lines = _loaded(reader.format("text"), paths).where(F.length(F.trim("value")) > 0)
        return lines.withColumnRenamed("value", _LINE)
    if found.format == "csv":
        options = {**CSV_READ, "mode": "FAILFAST"}
        if schema is None:
            names = found.csv_header()
            schema = ", ".join(f"`{name.replace('`', '``')}` string" for name in names)
        return _loaded(reader.format("csv").options(**options).schema(schema), paths)
    if found.format == "avro":
        return _read_avro(spark, found)
    found.check_parquet()
    if schema is None and stream:
        schema_type: Any = spark.read.parquet(*[spark_path(each) for each in found.files[:1]]).schema
        return _loaded(reader.format("parquet").schema(schema_type), paths)
    return _loaded(reader.format("parquet").schema(schema) if schema else reader.format("parquet"), paths)


def _loaded(reader: Any, paths: Any) -> DataFrame:
    found: DataFrame = reader.load(paths)
    return found


def _read_avro(spark: SparkSession, found: PublishInput) -> DataFrame:
    from ottla.pipelines.loads.avro_files import AvroReading

    reading = AvroReading.of([str(each) for each in found.files])
    return (
        spark.createDataFrame([(str(each),) for each in found.files], "path string")
        .repartition(len(found.files))
        .mapInArrow(reading, reading.ddl)
    )


def _of_load(
    rows: DataFrame, found: PublishInput, spec: TableSpec, chosen: _Columns, from_topic: str | None
) -> DataFrame:
    """A load's table has the record's parts already; options choose others."""
    assert found.table is not None
    topics = sorted({each.topic for each in found.table.files() if each.topic is not None})
    if from_topic is not None:
        if from_topic not in topics:
            raise LoadRefused(
                f"--from-topic {from_topic}: the table has records of {', '.join(topics) or 'none'}"
            )
        rows = rows.where(F.col("topic") == from_topic)
    elif len(topics) > 1:
        raise LoadRefused(f"the table has records of {', '.join(topics)}: choose one with --from-topic")
    if chosen.any:
        return _sink_rows(rows, chosen, found)
    value = F.col("value")
    if spec.values not in ("raw", "text"):
        value = _as_json(value, rows.schema["value"].dataType)
    columns = [F.col("key"), value.alias("value"), F.col("timestamp"), F.col("partition"), F.col("offset")]
    if spec.headers:
        columns.append(F.col("headers"))
    # One task has all of a partition, in the order of the log.
    partitions = {(each.topic, each.partition) for each in found.table.files()}
    return (
        rows.select(*columns)
        .repartition(max(1, min(len(partitions), 1000)), "partition")
        .sortWithinPartitions("partition", "offset")
        .drop("offset")
    )


def _as_json(column: Column, kind: DataType) -> Column:
    if isinstance(kind, StructType | ArrayType | MapType):
        return F.to_json(column)
    # Spark makes JSON of these only as items: the brackets are taken off again.
    items = F.to_json(F.array(column))
    return F.when(column.isNotNull(), F.substring(items, F.lit(2), F.length(items) - 2))


def _sink_rows(rows: DataFrame, chosen: _Columns, found: PublishInput) -> DataFrame:
    as_lines = found.format == "json" and found.table is None
    if as_lines:
        names = found.json_names()
        kinds: dict[str, DataType] = {}
    elif found.format == "text":
        if chosen.any:
            raise LoadRefused("a text file has no columns: each line is a value")
        return rows.select(F.col("value"))
    else:
        names = list(rows.columns)
        kinds = {field.name: field.dataType for field in rows.schema.fields}
    for name in chosen.named():
        if names is not None and name not in names:
            raise LoadRefused(f"there is no column {name!r}: the files have {', '.join(names[:20])}")
        if as_lines and ("'" in name or "?" in name):
            raise LoadRefused(f"column {name!r}: Spark finds no names in JSON that have a ' or a ?")

    def column(name: str) -> Column:
        if as_lines:
            return F.get_json_object(F.col(_LINE), f"$['{name}']")
        return F.col("`" + name.replace("`", "``") + "`")

    def as_bytes(name: str) -> Column:
        kind = kinds.get(name, StringType())
        if isinstance(kind, StringType | BinaryType):
            return column(name)
        if isinstance(kind, StructType | ArrayType | MapType):
            return F.to_json(column(name))
        return column(name).cast("string")

    selected: list[Column] = []
    if as_lines:
        # A filter, so that it is asked of each line, whatever is made of it.
        wrong = F.raise_error(F.concat(F.lit("not a JSON object: "), F.substring(F.col(_LINE), 1, 100)))
        is_object = F.json_object_keys(F.col(_LINE)).isNotNull()
        rows = rows.where(F.when(is_object, F.lit(True)).otherwise(wrong.cast("boolean")))
    if chosen.key is not None:
        selected.append(as_bytes(chosen.key).alias("key"))
    if chosen.value is not None:
        selected.append(as_bytes(chosen.value).alias("value"))
    elif as_lines:
        selected.append(F.col(_LINE).alias("value"))
    else:
        selected.append(F.to_json(F.struct(*(column(name) for name in rows.columns))).alias("value"))
    if chosen.timestamp is not None:
        selected.append(_moment(column(chosen.timestamp), kinds.get(chosen.timestamp)).alias("timestamp"))
    if chosen.partition is not None:
        selected.append(column(chosen.partition).cast("int").alias("partition"))
    if chosen.headers:
        each = [
            F.struct(F.lit(header).alias("key"), as_bytes(name).cast("binary").alias("value"))
            for header, name in chosen.headers
        ]
        selected.append(F.array(*each).alias("headers"))
    return rows.select(*selected)


def _moment(column: Column, kind: DataType | None) -> Column:
    """A column as a record's time: a timestamp, a date, milliseconds since 1970, or a text of either."""
    if isinstance(kind, TimestampType | TimestampNTZType | DateType):
        return column.cast("timestamp")
    if isinstance(kind, IntegralType):
        return F.timestamp_millis(column.cast("long"))
    number = column.cast("string").try_cast("long")
    return F.when(number.isNotNull(), F.timestamp_millis(number)).otherwise(column.cast("timestamp"))


# -- Sending


def _write(rows: DataFrame, topic: str, settings: Mapping[str, str]) -> int:
    seen = Observation()
    writer = rows.observe(seen, F.count(F.lit(1)).alias("records")).write.format("ottla").mode("append")
    for name, text in settings.items():
        writer = writer.option(f"kafka.{name}", text)
    writer.option("topic", topic).save()
    return int(seen.get["records"])


def _stream(
    rows: DataFrame, topic: str, settings: Mapping[str, str], checkpoint: str, application_id: str | None
) -> int:
    from ottla.pipelines.sink.write_stream import write_stream

    query = write_stream(
        rows,
        topic=topic,
        exactly_once=True,
        checkpoint=checkpoint,
        trigger={"availableNow": True},
        options={f"kafka.{name}": text for name, text in settings.items()},
        application_id=application_id,
    )
    query.awaitTermination()
    return sum(int(json.loads(each.json)["numInputRows"]) for each in query.recentProgress)
