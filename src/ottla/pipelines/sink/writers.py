"""`df.write.format("ottla")` and `df.writeStream.format("ottla")`: at least once, as Spark's own connector.

Every task sends its rows through the producer of its process and reports when they are stored. A task that is
run again, by a failure or by speculation, writes its rows again: `write_stream` is for those who cannot have
that. Spark makes a writer twice, in two processes, and pickles it into the tasks, so it holds nothing but
what it was told.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from ottla.client.errors import ProducerFailed
from ottla.model.types import TopicPartition
from ottla.pipelines import connections
from ottla.pipelines.options import InvalidOption
from ottla.pipelines.sink.columns import SinkColumns
from ottla.pipelines.sink.rows import RowSender, by_topic, gathered, renamed
from ottla.pipelines.sink.sink_options import SinkOptions

log = logging.getLogger("ottla.pipelines")


def batch_writer(options: Mapping[str, str], schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
    if overwrite:
        raise InvalidOption(
            "Save mode Overwrite not allowed for ottla: records are only ever added to a topic. "
            'Use mode("append")'
        )
    return BatchWriter(WriteTask.of(options, schema))


def stream_writer(
    options: Mapping[str, str], schema: StructType, overwrite: bool
) -> DataSourceStreamArrowWriter:
    """Every output mode is taken, as by Spark's connector: in complete mode all rows come each time."""
    return StreamWriter(WriteTask.of(options, schema))


@dataclass
class WrittenRows(WriterCommitMessage):
    """What a task reports: how many rows each partition got."""

    rows: dict[TopicPartition, int] = field(default_factory=dict)


@dataclass(frozen=True)
class WriteTask:
    settings: tuple[tuple[str, str], ...] = field(repr=False)  # there may be secrets among them
    columns: SinkColumns

    @classmethod
    def of(cls, options: Mapping[str, str], schema: StructType) -> WriteTask:
        given = SinkOptions.parse(options)
        fields = [(each.name, each.dataType.simpleString()) for each in schema.fields]
        return cls(given.settings, SinkColumns.check(fields, given.topic))

    def write(self, batches: Iterator[Any]) -> WrittenRows:
        settings = dict(self.settings)
        sender = RowSender(connections.producer(settings))
        try:
            for table in gathered(batches):
                rows = renamed(table, self.columns.names)
                if self.columns.topic is not None:
                    sender.send(self.columns.topic, rows)
                else:
                    for topic, part in by_topic(rows):
                        sender.send(topic, part)
            return WrittenRows({tp: each.row_count for tp, each in sender.stored().items()})
        except ProducerFailed:
            connections.forget("producer", settings)  # the next task needs one that works
            raise


def _tell(messages: list[WriterCommitMessage | None]) -> None:
    rows: dict[TopicPartition, int] = {}
    for message in messages:
        if isinstance(message, WrittenRows):
            for tp, count in message.rows.items():
                rows[tp] = rows.get(tp, 0) + count
    log.info("written: %s", ", ".join(f"{tp}: {rows[tp]}" for tp in sorted(rows)) or "no rows")


class BatchWriter(DataSourceArrowWriter):
    def __init__(self, task: WriteTask) -> None:
        self._task = task

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        return self._task.write(iterator)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        _tell(messages)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """What was written stays: at least once."""


class StreamWriter(DataSourceStreamArrowWriter):
    def __init__(self, task: WriteTask) -> None:
        self._task = task

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        return self._task.write(iterator)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        _tell(messages)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """What was written stays; Spark runs the batch again."""
