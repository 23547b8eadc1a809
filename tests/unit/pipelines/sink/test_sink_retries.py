"""Spark runs things twice: a task after a failure, a stage after a shuffle was lost. Neither may write a
second time into a transaction that may hold what the first run wrote.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from pyspark import TaskContext

from ottla.client.producing.shared_transaction import TransactionHandle
from ottla.pipelines.sink import stage_attempts
from ottla.pipelines.sink.errors import RetriedTask
from ottla.pipelines.sink.slots import Slots
from ottla.pipelines.sink.stage_attempts import was_retried
from ottla.pipelines.sink.task import SlotChooser, TransactionalTask

SLOTS = Slots.of({"t": 4})


def in_task(monkeypatch: pytest.MonkeyPatch, attempt: int, partition: int = 0) -> None:
    context = SimpleNamespace(attemptNumber=lambda: attempt, partitionId=lambda: partition, stageId=lambda: 5)
    monkeypatch.setattr(TaskContext, "get", classmethod(lambda cls: context))


def task() -> TransactionalTask:
    return TransactionalTask(TransactionHandle("app", 1, 2), {"bootstrap.servers": "127.0.0.1:1"}, SLOTS, 2)


def test_a_task_that_runs_for_the_second_time_refuses_before_it_reads_or_writes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    in_task(monkeypatch, attempt=1)

    def untouched() -> Any:
        raise AssertionError("the rows were asked for")
        yield

    with pytest.raises(RetriedTask, match="was tried before"):
        list(task()(untouched()))


def test_a_task_without_rows_connects_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    in_task(monkeypatch, attempt=0)
    (report,) = task()(iter([]))
    assert report.num_rows == 0


def test_rows_without_keys_go_on_in_turn_from_batch_to_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    in_task(monkeypatch, attempt=0, partition=3)
    chooser = SlotChooser(SLOTS, ("key",))
    nulls = pa.nulls(3, pa.string())
    assert chooser(nulls).to_pylist() + chooser(nulls).to_pylist() == [3, 0, 1, 2, 3, 0]


class StageInfo(NamedTuple):
    currentAttemptId: int
    numTasks: int
    numCompletedTasks: int


class Tracker:
    """Spark's books, in which the events arrive one after the other."""

    def __init__(self, *states: StageInfo | None) -> None:
        self._states = list(states)

    def getStageInfo(self, stage: int) -> StageInfo | None:
        return self._states.pop(0) if len(self._states) > 1 else self._states[0]


def asked(tracker: Tracker) -> bool:
    session: Any = SimpleNamespace(sparkContext=SimpleNamespace(statusTracker=lambda: tracker))
    return was_retried(session, {7})


def test_a_stage_that_ran_once_is_found_to_have_done_so_when_its_events_have_come() -> None:
    assert not asked(Tracker(None, StageInfo(0, 2, 1), StageInfo(0, 2, 2)))


def test_a_stage_that_ran_twice_is_found_out() -> None:
    """DAGScheduler: FetchFailed makes a new attempt of the stage, whose tasks have attempt number 0."""
    assert asked(Tracker(StageInfo(0, 2, 1), StageInfo(1, 1, 0)))


def test_what_cannot_be_found_out_counts_as_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage_attempts, "EVENTS_TIMEOUT_S", 0.02)
    assert asked(Tracker(None))
    assert asked(Tracker(StageInfo(0, 2, 1)))
