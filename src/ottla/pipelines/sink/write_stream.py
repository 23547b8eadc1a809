"""`ottla.pipelines.write_stream`: a streaming DataFrame into topics, exactly once if asked for.

    query = write_stream(
        counts, topic="counts", exactly_once=True, bootstrap_servers="localhost:9092",
        checkpoint="/data/checkpoints/counts", trigger={"availableNow": True}, application_id="counts",
    )
    query.awaitTermination()

How a batch becomes a transaction is in `transaction.py`.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from ottla.client.sync.shared_transaction import TransactionOwner
from ottla.pipelines.options import InvalidOption
from ottla.pipelines.sink.checkpoint import Checkpoint
from ottla.pipelines.sink.columns import SinkColumns
from ottla.pipelines.sink.sink_options import SinkOptions
from ottla.pipelines.sink.transaction import TransactionalSink, TransactionalWriter

log = logging.getLogger("ottla.pipelines")


def write_stream(
    df: DataFrame,
    *,
    checkpoint: str,
    topic: str | None = None,
    exactly_once: bool = False,
    bootstrap_servers: str | None = None,
    trigger: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    application_id: str | None = None,
    query_name: str | None = None,
    output_mode: str = "append",
    prepare: Callable[[DataFrame, int], DataFrame] | None = None,
    release: Callable[[], None] | None = None,
    topics: Sequence[str] | None = None,
) -> StreamingQuery:
    """Starts a query that writes a streaming DataFrame into topics, and returns it.

    df: has the columns of the sink: `value`, and as many as wanted of `key`, `headers`, `partition` and
        `timestamp`; `topic`, unless all goes to one. Others are left out.
    checkpoint: where Spark keeps the query's progress; each query has one of its own.
    topic: where all rows go, instead of a column `topic`.
    exactly_once: every micro-batch is one transaction, which also holds the sources' offsets. Readers with
        `read_committed` see each row once, whatever is killed and whenever. Otherwise at least once.
    bootstrap_servers: the cluster; or `kafka.bootstrap.servers` in options.
    trigger: as the arguments of Spark's `trigger`: `{"availableNow": True}`,
        `{"processingTime": "1 second"}`.
    options: `kafka.*` settings of the producer (`kafka.transaction.timeout.ms`: in this time a micro-batch
        has to be done, 10 minutes by default), and `batchAttempts`: how often a failed batch is tried, 4.
    application_id: the application's name: of its transactions, and of the group whose offsets show its lag.
        It has to stay the same over restarts, and only one query may run under it: of two, the older one
        fails. By default a name that is made up and kept in the checkpoint.
    prepare: called with each micro-batch and its number; gives the rows to write in place of the batch.
    release: called when the rows of a micro-batch are written, or given up: for what `prepare` has persisted.
    topics: those that the column `topic` may name. Without them every batch is kept in memory, or on disk,
        and looked through before it is written.
    """
    given = {name: str(value) for name, value in (options or {}).items()}
    if bootstrap_servers is not None:
        given["kafka.bootstrap.servers"] = bootstrap_servers
    if topic is not None:
        given["topic"] = topic
    if not df.isStreaming:
        raise InvalidOption('the DataFrame is not a stream: use df.write.format("ottla")')
    parsed = SinkOptions.parse(given, exactly_once=exactly_once)
    if prepare is None:
        fields = [(each.name, each.dataType.simpleString()) for each in df.schema.fields]
        SinkColumns.check(fields, parsed.topic)
    writing = df.writeStream.outputMode(output_mode).option("checkpointLocation", checkpoint)
    if query_name is not None:
        writing = writing.queryName(query_name)
    if trigger is not None:
        writing = writing.trigger(**trigger)
    if exactly_once:
        writer = _transactional(df, parsed, checkpoint, application_id, prepare, release, topics)
        try:
            query = writing.foreachBatch(writer.write).start()
        except BaseException:
            writer.close()
            raise
        _close_at_the_end(writer, query)
        return query
    if application_id is not None:
        raise InvalidOption("application_id is for exactly_once=True: without it there are no transactions")
    if prepare is None and output_mode == "append":
        return writing.format("ottla").options(**given).start()

    def write(frame: DataFrame, batch_id: int) -> None:  # Spark's sinks in Python take no other output mode
        try:
            rows = frame if prepare is None else prepare(frame, batch_id)
            rows.write.format("ottla").options(**given).mode("append").save()
        finally:
            if release is not None:
                release()

    return writing.foreachBatch(write).start()


def _close_at_the_end(writer: TransactionalWriter, query: StreamingQuery) -> None:
    """Spark holds on to the function of a query that has ended: without this, a driver that starts one every
    minute would have the connections of all of them.
    """

    def wait() -> None:
        with contextlib.suppress(Exception):  # how it ended is told to who asks the query
            query.awaitTermination()
        writer.close()

    threading.Thread(target=wait, name="ottla-sink-end", daemon=True).start()


def _transactional(
    df: DataFrame,
    options: SinkOptions,
    checkpoint: str,
    application_id: str | None,
    prepare: Callable[[DataFrame, int], DataFrame] | None,
    release: Callable[[], None] | None,
    topics: Sequence[str] | None,
) -> TransactionalWriter:
    spark = df.sparkSession
    if application_id is not None and not application_id.strip():
        raise InvalidOption("application_id is empty")
    files = Checkpoint(spark, checkpoint)
    if spark.sparkContext.getConf().get("spark.speculation", "false") == "true":
        raise InvalidOption(
            "spark.speculation=true: a task that runs twice at once would write its rows twice into one "
            "transaction. Turn speculation off for exactly_once"
        )
    identity = files.claim(application_id)
    named = None if topics is None else tuple(topics)
    sink = TransactionalSink(options, named, prepare, files, identity, release)
    owner = TransactionOwner(identity.application_id, config=dict(options.settings))
    writer = TransactionalWriter(sink, owner)
    try:
        writer.check()
    except BaseException:
        writer.close()
        raise
    return writer
