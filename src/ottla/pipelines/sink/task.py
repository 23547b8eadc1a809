"""What runs in executors for the exactly-once sink: the number of each row's partition, and the writing.

A task writes with the identity that the driver has, which only works as long as nobody else writes to the
same partitions with it. So a task that runs for a second time refuses: nobody knows what the first run has
written. The driver aborts the transaction then, and runs the whole batch under a new epoch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ottla.client.producing.shared_transaction import TransactionHandle
from ottla.model.types import TopicPartition
from ottla.pipelines.sink.errors import RetriedTask
from ottla.pipelines.sink.rows import RowSender, Stored, gathered
from ottla.pipelines.sink.slots import Slots

SLOT = "ottla_slot"
"""The column with the number of the partition."""
REPORT_TYPE = "topic string, partition int, row_count long, first_offset long, last_offset long, stage int"


class SlotChooser:
    """The number of each row's partition: the function of an Arrow UDF."""

    def __init__(self, slots: Slots, names: tuple[str, ...]) -> None:
        self._slots = slots
        self._names = names
        """The columns it is given, of key, partition and topic."""
        self._turn: int | None = None

    def __call__(self, *columns: pa.Array) -> pa.Array:  # by its hints Spark knows what kind of UDF it is
        from pyspark import TaskContext

        given = dict(zip(self._names, columns, strict=True))
        context = TaskContext.get()
        if self._turn is None:
            self._turn = 0 if context is None else context.partitionId()
        found = self._slots.of_rows(
            len(columns[0]), given.get("key"), given.get("partition"), given.get("topic"), turn=self._turn
        )
        self._turn += len(found)
        return found


class TransactionalTask:
    """Writes the rows of one task into the driver's transaction: the function of `mapInArrow`."""

    def __init__(
        self, handle: TransactionHandle, settings: Mapping[str, str], slots: Slots, task_count: int
    ) -> None:
        self._handle = handle
        self._settings = dict(settings)
        self._slots = slots
        self._task_count = task_count

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        if context.attemptNumber() > 0:
            raise RetriedTask(
                f"task {context.partitionId()} was tried before, and what it wrote then may be in the "
                "transaction: the driver has to abort it and run the batch again"
            )
        yield self._report(self._write(batches, context.partitionId()), context.stageId())

    def _write(self, batches: Iterator[Any], task: int) -> dict[TopicPartition, Stored]:
        from ottla.client.sync.shared_transaction import BorrowingProducer

        tables = gathered(batches)
        first = next(tables, None)
        if first is None:
            return {}  # nothing to connect for
        with BorrowingProducer(self._handle, config=self._settings) as producer:
            sender = RowSender(producer)
            self._send(sender, first, task)
            for table in tables:
                self._send(sender, table, task)
            return sender.stored()

    def _send(self, sender: RowSender, table: Any, task: int) -> None:
        slots = table.column(SLOT)
        rows = table.drop_columns([SLOT])
        for name, first, count in self._slots.topics:
            if len(self._slots.topics) == 1:
                own, mine = rows, slots
            else:
                mask = pc.and_(pc.greater_equal(slots, first), pc.less(slots, first + count))
                own, mine = rows.filter(mask), slots.filter(mask)
            if not own.num_rows:
                continue
            for slot in pc.unique(mine).to_pylist():
                # Two tasks on one partition would pass for one another's retries at the broker.
                assert slot % self._task_count == task, f"slot {slot} in task {task} of {self._task_count}"
            sender.send(name, own.append_column("partition", pc.subtract(mine, first).cast(pa.int32())))

    @staticmethod
    def _report(stored: dict[TopicPartition, Stored], stage: int) -> Any:
        return pa.record_batch(
            {
                "topic": pa.array([tp.topic for tp in stored], pa.string()),
                "partition": pa.array([tp.partition for tp in stored], pa.int32()),
                "row_count": pa.array([each.row_count for each in stored.values()], pa.int64()),
                "first_offset": pa.array([each.first_offset for each in stored.values()], pa.int64()),
                "last_offset": pa.array([each.last_offset for each in stored.values()], pa.int64()),
                "stage": pa.array([stage] * len(stored), pa.int32()),
            }
        )
