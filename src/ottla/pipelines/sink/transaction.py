"""The driver's side of the exactly-once sink: one Kafka transaction for each micro-batch.

    init            a new epoch: whoever wrote before is fenced, what was left open is aborted
    committed       (first batch of a run) what the group says of earlier batches: was this one written?
    add_partitions  of the target topics
    the tasks       write with the driver's identity, each to partitions of its own
    send_offsets    the sources' offsets with the batch's marker, for the group of the application
    commit          records, offsets and marker become visible at once

The driver may be killed anywhere in this. Before the commit is decided, the next run's `init` aborts all of
it, and the batch is written anew. After that, `init` waits until the commit is complete, the marker says that
the batch was written, and it is skipped, although Spark does not know that it was done. A batch that is
skipped is still computed: the state of aggregations and the watermark come from there.

A failed task ends the attempt: the transaction is aborted and the batch runs again under a new epoch, so that
whatever the first attempt still sends is refused. Once a commit was sent, nothing is tried again: only the
next run, which asks the cluster, can know.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf

from ottla.client.errors import (
    InvalidTransactionTimeout,
    OttlaError,
    ProducerFenced,
    TransactionFailed,
)
from ottla.client.producing.shared_transaction import TransactionHandle
from ottla.client.sync.shared_transaction import TransactionOwner
from ottla.model.types import TopicPartition
from ottla.pipelines.sink.checkpoint import Checkpoint, CheckpointIdentity
from ottla.pipelines.sink.columns import SinkColumns
from ottla.pipelines.sink.errors import (
    ApplicationFenced,
    BatchFailed,
    ForeignCheckpoint,
    OutcomeUnknown,
    SinkError,
    UnwritableRow,
)
from ottla.pipelines.sink.job_failure import is_cancelled, reason_in, unwritable_in
from ottla.pipelines.sink.markers import BatchMarker, Progress, Verdict, offsets_with
from ottla.pipelines.sink.sink_options import SinkOptions
from ottla.pipelines.sink.slots import Slots
from ottla.pipelines.sink.stage_attempts import was_retried
from ottla.pipelines.sink.task import REPORT_TYPE, SLOT, SlotChooser, TransactionalTask

log = logging.getLogger("ottla.pipelines")

Prepare = Callable[[DataFrame, int], DataFrame]

TASKS_PER_CORE = 2
TASKS_MAX = 200
"""Up to so many, Spark's shuffle keeps the rows of one task in their order (its bypass-merge writer)."""


@dataclass(frozen=True)
class TransactionalSink:
    """What a query writes, and for whom."""

    options: SinkOptions
    topics: tuple[str, ...] | None
    """The topics that rows may have in their column; None: each batch is looked through."""
    prepare: Prepare | None
    checkpoint: Checkpoint
    identity: CheckpointIdentity
    release: Callable[[], None] | None = None
    """Called when a batch was written, or given up: `prepare` may have kept something of it."""


class TransactionalWriter:
    """`write` is the function of `foreachBatch`."""

    def __init__(self, sink: TransactionalSink, owner: TransactionOwner) -> None:
        self._sink = sink
        self._owner = owner
        self._handle: TransactionHandle | None = None
        """The newest identity of this run."""
        self._progress: Progress | None = None
        self._unfinished: int | None = None
        """The batch that an earlier run has left."""
        self._written: int | None = None
        """The last batch that this run has committed."""

    # --- before the query starts ----------------------------------------------------------------------------

    def check(self) -> None:
        """Refuses what can be known to be wrong before anything runs."""
        sink = self._sink
        self._unfinished = sink.checkpoint.unfinished_batch()
        # What an earlier driver left open is not waited for: it ends with our first batch.
        progress = self._look_up_progress(stable=False)
        last = progress.last_batch(sink.identity.checkpoint_id)
        finished = sink.checkpoint.finished_batch()
        if last is not None and self._unfinished is None and last > finished:
            raise progress.too_old(f"batch {last}, and its checkpoint ends with {finished}")
        self._partition_counts(self._fixed_topics() or ())

    def _look_up_progress(self, *, stable: bool) -> Progress:
        application_id = self._sink.identity.application_id
        progress = Progress.read(application_id, self._owner.committed(application_id, stable=stable))
        progress.check(self._sink.identity.checkpoint_id)
        return progress

    def _check_known(self, progress: Progress) -> None:
        """Refuses to run a batch again of which nobody can tell whether it was written."""
        sink, unfinished = self._sink, self._unfinished
        if unfinished is None or unfinished <= sink.identity.first_batch or progress.entries:
            return
        raise ForeignCheckpoint(
            f"the checkpoint {sink.checkpoint.location} has a batch {unfinished} that may or may not be "
            f"written, and the cluster knows nothing of application {sink.identity.application_id} (its "
            "group was deleted, or expired after offsets.retention.minutes, or this is another cluster). "
            "Look into the topic whether the batch is there; then begin with a new checkpoint, and say with "
            "startingOffsets where to go on"
        )

    def _fixed_topics(self) -> tuple[str, ...] | None:
        return self._sink.topics if self._sink.options.topic is None else (self._sink.options.topic,)

    # --- a batch --------------------------------------------------------------------------------------------

    def write(self, frame: DataFrame, batch_id: int) -> None:
        try:
            self._write(frame, batch_id)
        finally:
            if self._sink.release is not None:
                self._sink.release()

    def _write(self, frame: DataFrame, batch_id: int) -> None:
        attempts = self._sink.options.batch_attempts
        for attempt in range(1, attempts + 1):
            began_s = time.monotonic()
            try:
                self._write_once(frame, batch_id)
                return
            except ProducerFenced as error:
                raise self._fenced(error, batch_id, time.monotonic() - began_s) from error
            except SinkError:
                raise
            except Exception as error:
                self._after_failure(error, batch_id, attempt, attempts, time.monotonic() - began_s)

    def _after_failure(
        self, error: Exception, batch_id: int, attempt: int, attempts: int, took_s: float
    ) -> None:
        """Aborts; returns if the batch is to be tried again."""
        try:
            self._abort()
        except ProducerFenced as fenced:
            raise self._fenced(fenced, batch_id, took_s) from error
        if isinstance(error, InvalidTransactionTimeout):
            raise BatchFailed(
                f"the cluster does not allow transactions of {self._owner.transaction_timeout_ms} ms: lower "
                "kafka.transaction.timeout.ms, or raise transaction.max.timeout.ms on the brokers"
            ) from error
        if is_cancelled(error):
            raise error
        if (row := unwritable_in(error)) is not None:
            raise UnwritableRow(f"batch {batch_id}: {row}") from error
        if isinstance(error, OttlaError) and not error.retriable and not isinstance(error, TransactionFailed):
            raise BatchFailed(f"batch {batch_id} cannot be written: {error}") from error
        if attempt == attempts:
            raise BatchFailed(
                f"batch {batch_id} failed {attempts} times (batchAttempts); nothing of it is visible. "
                f"Last: {error}"
            ) from error
        log.warning(
            "application %s: batch %d failed and is run again (%d of %d): %s",
            *(self._sink.identity.application_id, batch_id, attempt, attempts, reason_in(error)),
        )

    def _write_once(self, frame: DataFrame, batch_id: int) -> None:
        sink, owner = self._sink, self._owner
        application_id, checkpoint_id = sink.identity.application_id, sink.identity.checkpoint_id
        handle = self._handle = owner.init(self._handle)
        if self._progress is None:
            # Only now nobody else can write any more, and what was decided is complete.
            self._progress = self._look_up_progress(stable=True)
            self._check_known(self._progress)
        assert self._progress is not None
        source = sink.checkpoint.source_offsets(batch_id)
        if self._written is None and self._progress.verdict(checkpoint_id, batch_id, source) is Verdict.SKIP:
            log.info("application %s: batch %d was written before", application_id, batch_id)
            _compute(frame)
            self._written = batch_id
            return
        rows = frame if sink.prepare is None else sink.prepare(frame, batch_id)
        columns = SinkColumns.check(
            [(each.name, each.dataType.simpleString()) for each in rows.schema.fields], sink.options.topic
        )
        topics = self._fixed_topics()
        kept: DataFrame | None = None
        try:
            if topics is None:
                rows = kept = rows.persist()
                topics = _topics_in(rows, columns)
            slots = Slots.of(self._partition_counts(topics))
            owner.add_partitions(handle, slots.partitions())
            self._run_tasks(rows, columns, slots, handle)
        finally:
            if kept is not None:
                kept.unpersist()
        self._commit(handle, batch_id, source, topics)

    def _run_tasks(
        self, rows: DataFrame, columns: SinkColumns, slots: Slots, handle: TransactionHandle
    ) -> None:
        spark = rows.sparkSession
        if not slots.topics:
            _compute(rows)  # no row has a topic: there are none
            return
        task_count = min(slots.count, TASKS_PER_CORE * spark.sparkContext.defaultParallelism, TASKS_MAX)
        deciding = [name for name in columns.names if name.lower() in ("key", "partition", "topic")]
        chooser = SlotChooser(slots, tuple(name.lower() for name in deciding) or ("row",))
        given = [F.col(f"`{name}`") for name in deciding] or [F.lit(True)]
        number = arrow_udf(chooser.__call__, "int").asNondeterministic()  # type: ignore[call-overload]
        slot = number(*given)
        sent = [
            F.col(f"`{name}`").alias(name.lower())
            for name in columns.names
            if name.lower() not in ("topic", "partition")
        ]
        task = TransactionalTask(handle, dict(self._sink.options.settings), slots, task_count)
        reports = (
            rows.select(*sent, slot.alias(SLOT))
            .repartitionById(task_count, F.col(SLOT))
            .mapInArrow(task.__call__, REPORT_TYPE)
            .collect()
        )
        if was_retried(spark, {report["stage"] for report in reports}):
            raise TransactionFailed("Spark ran a stage of the batch for a second time")
        log.debug(
            "application %s: %d rows into %d partitions",
            *(self._sink.identity.application_id, sum(each["row_count"] for each in reports), len(reports)),
        )

    def _commit(
        self,
        handle: TransactionHandle,
        batch_id: int,
        source: dict[TopicPartition, int],
        topics: tuple[str, ...],
    ) -> None:
        sink, owner = self._sink, self._owner
        # A source of another cluster may have topics that this one has not.
        known = owner.partition_counts({tp.topic for tp in source}) if source else {}
        source = {tp: offset for tp, offset in source.items() if tp.partition < known.get(tp.topic, 0)}
        marker = BatchMarker(sink.identity.checkpoint_id, batch_id)
        owner.send_offsets(
            handle,
            offsets_with(marker, source, min(topics, default=None)),
            sink.identity.application_id,
        )
        try:
            owner.commit(handle)
        except (TransactionFailed, ProducerFenced):
            raise  # surely not committed
        except OttlaError as error:
            raise OutcomeUnknown(
                f"batch {batch_id}: the commit was not confirmed ({error}). Start the query again: it will "
                "find out whether the batch was written"
            ) from error
        self._written = batch_id

    def _abort(self) -> None:
        if self._handle is not None:
            try:
                self._owner.abort(self._handle)
            except ProducerFenced:
                raise
            except OttlaError as error:
                log.warning("the transaction could not be aborted; the next one will do it: %s", error)
                self._handle = self._progress = None  # takes over from itself

    # --- what can be wrong ----------------------------------------------------------------------------------

    def _fenced(self, error: OttlaError, batch_id: int, took_s: float) -> SinkError:
        limit_ms = self._owner.transaction_timeout_ms
        if took_s * 1000 >= limit_ms:
            return BatchFailed(
                f"batch {batch_id} took {took_s:.0f} s, and its transaction was ended after {limit_ms} ms: "
                "raise kafka.transaction.timeout.ms (and transaction.max.timeout.ms on the brokers), or make "
                "batches smaller with maxOffsetsPerTrigger. Nothing of the batch is visible"
            )
        return ApplicationFenced(
            f"another driver with application_id {self._sink.identity.application_id} has taken over: this "
            "query ends, and wrote nothing of its open batch. Only one query may run for an application"
        )

    def _partition_counts(self, topics: Any) -> dict[str, int]:
        wanted = list(topics)
        counts = self._owner.partition_counts(wanted, create_missing=True) if wanted else {}
        for name in wanted:
            if name not in counts:
                raise UnwritableRow(
                    f"topic {name} does not exist: create it with `ottla topic create {name}`"
                )
        return counts

    def close(self) -> None:
        self._owner.close()


def _compute(frame: DataFrame) -> None:
    """Runs a batch for what comes of it besides its rows: states and watermarks."""
    frame.write.format("noop").mode("overwrite").save()


def _topics_in(rows: DataFrame, columns: SinkColumns) -> tuple[str, ...]:
    column = next(name for name in columns.names if name.lower() == "topic")
    found = [row[0] for row in rows.select(F.col(f"`{column}`")).distinct().collect()]
    if None in found:
        raise UnwritableRow("null topic present in the data. Use the topic option for setting a topic.")
    return tuple(sorted(found))
