"""The sinks' own classes with places for an ambush: in the tasks, and around every step of a commit.

They replace the real ones in the driver's process only while a run goes on, and do the same work: a task
stops in the middle of its rows (`begun`), or when all are written and none is reported (`written`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from chaos.pipeline_sink.ambush import Ambush
from ottla.client.sync.shared_transaction import TransactionOwner
from ottla.pipelines.loads.data_file import DataFile
from ottla.pipelines.loads.delta_table import DeltaLoadTable
from ottla.pipelines.loads.file_writing import FileWriting
from ottla.pipelines.loads.manifest_table import ManifestTable
from ottla.pipelines.sink.rows import RowSender
from ottla.pipelines.sink.task import TransactionalTask

IN_TASKS = ("begun", "written")
TOPIC_STEPS = (
    *("before init", "after init", "after add_partitions", "before send_offsets"),
    *("after send_offsets", "before commit", "after commit"),
)
TABLE_STEPS = ("before commit", "after commit")


def _around(ambush: Ambush, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def ambushed(*given: Any) -> Any:
        ambush.pass_by(f"before {name}")
        answer = call(*given)
        ambush.pass_by(f"after {name}")
        return answer

    return ambushed


def _note_retry(ambush: Ambush) -> None:
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is not None and context.attemptNumber() > 0:
        ambush.note()


def ambush_topic_sink(folder: Path) -> None:
    """From now on, in this process and in the tasks that it starts."""
    transaction: Any = import_module("ottla.pipelines.sink.transaction")
    _ship_by_value()
    ambush = Ambush(folder)
    for name in ("init", "add_partitions", "send_offsets", "commit"):
        setattr(TransactionOwner, name, _around(ambush, name, getattr(TransactionOwner, name)))

    class Task(TransactionalTask):
        def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
            _note_retry(ambush)
            yield from super().__call__(batches)

        def _send(self, sender: RowSender, table: Any, task: int) -> None:
            half = table.num_rows // 2
            super()._send(sender, table.slice(0, half), task)
            sender.stored()
            ambush.pass_by("begun")
            super()._send(sender, table.slice(half), task)

        def _write(self, batches: Iterator[Any], task: int) -> Any:
            stored = super()._write(batches, task)
            ambush.pass_by("written")
            return stored

    transaction.TransactionalTask = Task


def ambush_table_sink(folder: Path) -> None:
    table_writing: Any = import_module("ottla.pipelines.loads.table_writing")
    _ship_by_value()
    ambush = Ambush(folder)
    for table in (DeltaLoadTable, ManifestTable):
        table.commit = _around(ambush, "commit", table.commit)  # type: ignore[method-assign]

    class Writing(FileWriting):
        def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
            _note_retry(ambush)
            yield from super().__call__(batches)

        def write(self, batches: Iterable[Any]) -> list[DataFile]:
            files = super().write(self._halves(batches))
            ambush.pass_by("written")
            return files

        def _halves(self, batches: Iterable[Any]) -> Iterator[Any]:
            for batch in batches:
                half = batch.num_rows // 2
                yield batch.slice(0, half)
                ambush.pass_by("begun")
                yield batch.slice(half)

    table_writing.FileWriting = Writing


def _ship_by_value() -> None:
    """Workers cannot import this folder."""
    from pyspark import cloudpickle

    for module in (Ambush.__module__, __name__):
        cloudpickle.register_pickle_by_value(sys.modules[module])  # type: ignore[no-untyped-call]
