"""Where a pipeline writes to: how the query is started, and how what it wrote is read back in the end.

An output has a name, the steps of its commit, `prepare` (before the first start), `lay_places` and `start`
(in the driver's process) and `rows` (after the run, without Spark). To hold another one to exactly-once, add
it to `OUTPUTS`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import ottla
from chaos.pipeline_sink.ambushed import TABLE_STEPS, TOPIC_STEPS, ambush_table_sink, ambush_topic_sink
from chaos.pipeline_sink.input import Row

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

TRIGGER = {"availableNow": True}


APPLICATION_ID = "pipeline-sink"


class Output(Protocol):
    name: str
    steps: tuple[str, ...]
    """Places in the driver for an ambush, in their order."""

    def prepare(self, bootstrap: str, folder: Path) -> None: ...

    def lay_places(self, ambush: Path) -> None: ...

    def start(self, counts: DataFrame, bootstrap: str, folder: Path, tell: Any) -> StreamingQuery:
        """`counts` has key, count and sum, in update mode; `tell(batch id)` is called with each batch."""
        ...

    def rows(self, bootstrap: str, folder: Path) -> list[Row]: ...


class TopicOutput:
    """A topic, through `write_stream(exactly_once=True)`, read with read_committed."""

    name = "topic"
    steps: tuple[str, ...] = TOPIC_STEPS
    topic = "counts"
    partition_count = 3

    def prepare(self, bootstrap: str, folder: Path) -> None:
        with ottla.Admin(bootstrap) as admin:
            admin.create_topics([ottla.NewTopic(self.topic, self.partition_count)]).all()

    def lay_places(self, ambush: Path) -> None:
        ambush_topic_sink(ambush)

    def start(self, counts: DataFrame, bootstrap: str, folder: Path, tell: Any) -> StreamingQuery:
        from ottla.pipelines import write_stream

        def with_batch(frame: DataFrame, batch_id: int) -> DataFrame:
            tell(batch_id)
            return frame.selectExpr(
                "key", f"to_json(named_struct('batch', {batch_id}, 'count', count, 'sum', sum)) as value"
            )

        return write_stream(
            counts,
            topic=self.topic,
            exactly_once=True,
            bootstrap_servers=bootstrap,
            checkpoint=str(folder / "checkpoint"),
            trigger=TRIGGER,
            output_mode="update",
            application_id=APPLICATION_ID,
            prepare=with_batch,
            options={"kafka.transaction.timeout.ms": 300_000},
        )

    def rows(self, bootstrap: str, folder: Path) -> list[Row]:
        found = []
        with ottla.SimpleConsumer(bootstrap, isolation_level="read_committed") as consumer:
            for partition in consumer.partitions(self.topic):
                offset, end = 0, consumer.latest(self.topic, partition)
                while offset < end:
                    fetched = consumer.fetch(self.topic, partition, offset)
                    for record in fetched:
                        value = json.loads(record.value)
                        found.append(Row(value["batch"], record.key.decode(), value["count"], value["sum"]))
                    offset = fetched.next_offset
        return found


class TableOutput:
    """A table, through `table_sink`, read without Spark: Delta by `deltalake`, Parquet by its manifest."""

    steps: tuple[str, ...] = TABLE_STEPS

    def __init__(self, name: str) -> None:
        self.name = name

    def prepare(self, bootstrap: str, folder: Path) -> None:
        """The sink makes the table."""

    def lay_places(self, ambush: Path) -> None:
        ambush_table_sink(ambush)

    def start(self, counts: DataFrame, bootstrap: str, folder: Path, tell: Any) -> StreamingQuery:
        from ottla.pipelines import table_sink

        sink = table_sink(folder / "table", format=self.name, application_id=APPLICATION_ID)

        def write(frame: DataFrame, batch_id: int) -> None:
            tell(batch_id)
            sink(frame.selectExpr(f"cast({batch_id} as bigint) as batch", "key", "count", "sum"), batch_id)

        return (
            counts.writeStream.foreachBatch(write)
            .outputMode("update")
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(**TRIGGER)
            .start()
        )

    def rows(self, bootstrap: str, folder: Path) -> list[Row]:
        found: list[Row] = []
        for rows in self._tables(folder / "table"):
            columns = [rows.column(name).to_pylist() for name in ("batch", "key", "count", "sum")]
            found += [Row(*values) for values in zip(*columns, strict=True)]
        return found

    def _tables(self, folder: Path) -> Iterator[Any]:
        import deltalake
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self.name == "delta":
            yield pa.table(deltalake.DeltaTable(str(folder)).to_pyarrow_table())
            return
        paths: set[str] = set()
        commits = sorted((folder / "_ottla" / "commits").glob("[0-9]*[0-9].json"))
        assert [int(path.stem) for path in commits] == list(range(len(commits)))
        for path in commits:
            commit = json.loads(path.read_text())
            paths -= set(commit["removed"])
            paths |= {each["path"] for each in commit["added"]}
        for name in sorted(paths):
            yield pq.ParquetFile(folder / name).read()


_ALL: tuple[Output, ...] = (TopicOutput(), TableOutput("delta"), TableOutput("parquet"))
OUTPUTS = {output.name: output for output in _ALL}
