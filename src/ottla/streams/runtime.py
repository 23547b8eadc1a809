"""Runs a topology on Spark: `ottla.streams.run(builder, application_id=..., ...)`.

A topology is cut into stages (`stages.py`), and each stage becomes one streaming query
(`lowering/query.py`) with a checkpoint of its own, `<checkpoint>/<stage name>`. Before the first query
starts, the topics that are read and written have to be there, and those between the stages are made. With
`trigger={"availableNow": True}` the stages run one after the other, so that each sees all that the one
before it wrote; otherwise all run at once, and when one fails the others are stopped.
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from ottla.streams import plan
from ottla.streams.errors import TopologyError
from ottla.streams.running import application_file
from ottla.streams.running.by_value import ship_by_value
from ottla.streams.running.failures import ApplicationFailed, explained
from ottla.streams.running.purge import Committed, Purge, offsets_in
from ottla.streams.running.topics import prepare_topics
from ottla.streams.stages import cut

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from ottla.streams.lowering.query import Settings

log = logging.getLogger("ottla.streams")

GUARANTEES: Final = ("at_least_once", "exactly_once_v2")
_STATE_STORE: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_SPARKS_SHUFFLE_PARTITIONS: Final = "200"
_WATCH_S: Final = 0.2
_TRIGGER: Final = {"processingTime": "100 milliseconds"}
"""Without one Spark asks for new records a hundred times a second, of every stage."""
_STOP_S: Final = 60.0


class Builder(Protocol):
    def build(self) -> plan.Topology: ...


def run(
    program: Builder | plan.Topology,
    *,
    application_id: str,
    bootstrap_servers: str,
    checkpoint: str | Path,
    processing_guarantee: str = "at_least_once",
    trigger: Mapping[str, Any] | None = None,
    master: str | None = None,
    spark: SparkSession | None = None,
    conf: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
) -> StreamsApplication:
    """Starts the program and returns at once; `await_termination()` waits for its end.

    application_id: the application's name: of its consumer group, its transactions and its internal topics.
    checkpoint: a folder for the state of all its stages; it belongs to this application alone.
    processing_guarantee: "at_least_once", or "exactly_once_v2": each micro-batch of a stage is a transaction.
    trigger: as Spark's: `{"availableNow": True}` processes what is there and ends,
        `{"processingTime": "1 second"}` begins a micro-batch that often; by default one follows the other,
        and new records are looked for ten times a second.
    master: where Spark runs, when no `spark` is given.
    conf: settings of Spark.
    options: of the source and the sink: `kafka.*` for the clients, `maxOffsetsPerTrigger` and others.
    """
    topology = program if isinstance(program, plan.Topology) else program.build()
    if processing_guarantee not in GUARANTEES:
        raise TopologyError(
            f"processing_guarantee is one of {', '.join(GUARANTEES)}, not {processing_guarantee!r}"
        )
    if not application_id.strip():
        raise TopologyError("application_id is empty")
    given = {name: str(value) for name, value in (options or {}).items()}
    given["kafka.bootstrap.servers"] = bootstrap_servers

    from ottla.pipelines.options import client_settings
    from ottla.streams.lowering.query import Settings

    stages = cut(topology, application_id)
    # Asked before a JVM is started for it: a missing topic is found at once.
    prepare_topics(stages, client_settings(given))
    settings = Settings(
        application_id=application_id,
        bootstrap_servers=bootstrap_servers,
        options=given,
        processing_guarantee=processing_guarantee,
    )
    ship_by_value(topology)
    own = spark is None
    if spark is None:
        from pyspark import SparkContext

        from ottla.pipelines import session

        # Of the process: the active session is one of a thread, and another one may have started Spark.
        own = SparkContext._active_spark_context is None
        spark = session(master, app_name=application_id, conf=conf)
    try:
        application_file.check(spark, str(checkpoint), application_id, stages)
    except BaseException:
        if own:
            spark.stop()
        raise
    return StreamsApplication(
        topology,
        stages,
        spark,
        settings,
        str(checkpoint),
        dict(trigger) if trigger else None,
        dict(conf or {}),
        own,
        Purge(stages, client_settings(given)),
    )


class StreamsApplication:
    """A running program. `stop()` ends it between two micro-batches; it also ends at the end of a `with`
    block.
    """

    def __init__(
        self,
        topology: plan.Topology,
        stages: Sequence[plan.Stage],
        spark: SparkSession,
        settings: Settings,
        checkpoint: str,
        trigger: dict[str, Any] | None,
        conf: dict[str, Any],
        owns_spark: bool,
        purge: Purge,
    ) -> None:
        self.application_id = settings.application_id
        self._topology = topology
        self._stages = stages
        self._spark = spark
        self._settings = settings
        self._checkpoint = checkpoint
        self._trigger = trigger or _TRIGGER
        self._conf = conf
        self._owns_spark = owns_spark
        self._queries: dict[str, StreamingQuery] = {}
        self._purge = purge
        self._failure: ApplicationFailed | None = None
        self._stopping = threading.Event()
        """Nothing new is started; what runs may finish its micro-batch."""
        self._halted = threading.Event()
        """The queries have been stopped."""
        self._ended = threading.Event()
        self._in_turn = trigger is not None and ("availableNow" in trigger or "once" in trigger)
        if not self._in_turn:  # what cannot even start is said to the caller
            try:
                for stage in stages:
                    self._start(stage)
            except BaseException:
                self._stop_queries()
                self._close()
                raise
        work = self._run_in_turn if self._in_turn else self._watch
        self._thread = threading.Thread(
            target=self._work, args=(work,), name=f"{self.application_id}-watch", daemon=True
        )
        self._thread.start()

    # --- for the user ---

    @property
    def queries(self) -> list[StreamingQuery]:
        """Spark's queries, one for each stage that has begun."""
        return list(self._queries.values())

    def describe(self) -> str:
        """The program's plan, and how it is cut into stages."""
        from ottla.streams.describe import describe

        return describe(self._topology, self.application_id)

    def await_termination(self, timeout: float | None = None) -> bool:
        """Waits for the end (at most so many seconds) and raises what ended it; returns whether it has
        ended.
        """
        ended = self._ended.wait(timeout)
        if ended and self._failure is not None:
            raise self._failure
        return ended

    def exception(self) -> ApplicationFailed | None:
        """What ended the application, if it was an error."""
        return self._failure

    def stop(self, timeout: float = _STOP_S) -> None:
        """Ends all queries; each finishes the micro-batch it is in, if that takes no longer than the
        timeout.
        """
        self._stopping.set()
        deadline = time.monotonic() + timeout
        for query in self.queries:
            _finish_batch(query, deadline)
            _stop(query)
        self._halted.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(max(1.0, deadline - time.monotonic()))

    def progress(self) -> dict[str, dict[str, float]]:
        """Of each stage: the last micro-batch, rows read, rows per second, and how many records it is
        behind.
        """
        return {name: _progress(query) for name, query in self._queries.items()}

    def __enter__(self) -> StreamsApplication:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # --- its work ---

    def _work(self, work: Any) -> None:
        try:
            _make_active(self._spark)
            work()
        except BaseException as error:
            if not self._stopping.is_set():
                self._failure = error if isinstance(error, ApplicationFailed) else explained("start", error)
        finally:
            self._stop_queries()
            self._close()
            self._ended.set()

    def _close(self) -> None:
        if self._owns_spark:
            self._spark.stop()

    def _start(self, stage: plan.Stage) -> StreamingQuery:
        from ottla.streams.lowering import query as lowering

        with _configured(self._spark, self._stage_conf(stage)):
            started = lowering.start(
                stage,
                self._spark,
                self._settings,
                checkpoint=f"{self._checkpoint.rstrip('/')}/{stage.name}",
                trigger=self._trigger,
            )
        self._queries[stage.name] = started
        return started

    def _stage_conf(self, stage: plan.Stage) -> dict[str, str]:
        """What a query takes over from the session when it starts."""
        conf = {
            "spark.sql.streaming.stateStore.providerClass": _STATE_STORE,
            # With one stateful operator in a query, what is late is decided by the watermark of the batch
            # before. Spark otherwise takes the one before that, for operators behind one another.
            "spark.sql.streaming.statefulOperator.allowMultiple": "false",
        }
        if self._spark.conf.get("spark.sql.shuffle.partitions", None) == _SPARKS_SHUFFLE_PARTITIONS:
            # 200 tasks a micro-batch cost seconds; a stage's state is spread over as many as can run at once.
            conf["spark.sql.shuffle.partitions"] = str(self._spark.sparkContext.defaultParallelism)
        if self._in_turn and isinstance(stage.stateful, plan.Process):
            from ottla.streams.lowering.process import needs_no_empty_batches

            if needs_no_empty_batches(stage.stateful):  # they would follow one another for ever
                conf["spark.sql.streaming.noDataMicroBatches.enabled"] = "false"
        return conf | {
            name: str(value) for name, value in self._conf.items() if name.startswith("spark.sql.")
        }

    def _run_in_turn(self) -> None:
        for stage in self._stages:
            if self._stopping.is_set():
                return
            started = self._start(stage)
            if self._stopping.is_set():  # it may have begun behind the back of stop()
                return
            self._await(stage.name, started)
        self._empty_topics()

    def _empty_topics(self) -> None:
        """A progress is told when its batch is in Spark's commit log: what it read is not read again."""
        committed: dict[str, Committed] = {}
        for name, query in self._queries.items():
            last = query.lastProgress
            if last is not None:
                committed[name] = offsets_in([source.endOffset for source in last.sources])
        self._purge.run(committed)

    def _await(self, name: str, query: StreamingQuery) -> None:
        try:
            query.awaitTermination()
        except Exception as error:
            raise explained(name, error) from error

    def _watch(self) -> None:
        while not self._halted.wait(_WATCH_S):
            if self._purge.due:
                self._empty_topics()
            for name, query in self._queries.items():
                if not query.isActive and not self._stopping.is_set():
                    self._await(name, query)  # raises what it ended with
                    return

    def _stop_queries(self) -> None:
        for query in self.queries:
            _stop(query)


def _make_active(spark: SparkSession) -> None:
    """Spark looks for Python's data sources in the session that is active in a thread: none is in a new
    one.
    """
    from pyspark.sql import SparkSession

    java: Any = SparkSession._get_j_spark_session_class(spark._jvm)
    java.setActiveSession(spark._jsparkSession)


def _stop(query: StreamingQuery) -> None:
    with contextlib.suppress(Exception):  # Spark itself may be gone by now
        query.stop()


def _finish_batch(query: StreamingQuery, deadline: float) -> None:
    """Waits until the query is between two micro-batches."""
    with contextlib.suppress(Exception):
        before = query.lastProgress
        while query.isActive and query.status["isTriggerActive"] and time.monotonic() < deadline:
            now = query.lastProgress
            if now is not None and (before is None or now.batchId != before.batchId):
                return
            time.sleep(0.02)


def _progress(query: StreamingQuery) -> dict[str, float]:
    last = query.lastProgress
    if last is None:
        return {"batch": -1, "rows": 0, "rows_per_second": 0.0, "lag": 0}
    return {
        "batch": last.batchId,
        "rows": last.numInputRows,
        "rows_per_second": last.processedRowsPerSecond or 0.0,
        "lag": sum(_lag(source.endOffset, source.latestOffset) for source in last.sources),
    }


def _lag(read: str | None, there: str | None) -> int:
    """Records between two of the source's offsets, which are JSON: {"topic": {"0": 12}}."""
    try:
        begun: dict[str, dict[str, int]] = json.loads(read or "{}")
        latest: dict[str, dict[str, int]] = json.loads(there or "{}")
        return sum(
            max(0, end - begun.get(topic, {}).get(partition, 0))
            for topic, partitions in latest.items()
            for partition, end in partitions.items()
        )
    except (ValueError, AttributeError, TypeError):
        return 0


@contextlib.contextmanager
def _configured(spark: SparkSession, conf: Mapping[str, str]) -> Iterator[None]:
    """Settings that queries started within take over; afterwards the session is as it was."""
    before = {name: spark.conf.get(name, None) for name in conf}
    for name, value in conf.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)
