"""The producer for threads: `ottla.Producer`.

A shell around the core: it takes the runtime's lock for the moment of an append, and lets the thread that
calls do what has to be done at once (write full batches to the socket, wait for memory, flush). Any number
of threads may use one producer.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from ottla.client import log
from ottla.client.config import producer_settings
from ottla.client.effects import ClientSteps
from ottla.client.errors import ClientClosed, TransactionFailed
from ottla.client.producing.core import ProducerCore
from ottla.client.producing.front import Front, OnDelivery, abort_quietly, check_topic, offsets_of
from ottla.client.producing.future import RecordFuture
from ottla.client.records import GroupMetadata, OffsetAndMetadata
from ottla.client.session import Session
from ottla.client.view import PartitionView
from ottla.model.types import TopicPartition

if TYPE_CHECKING:
    from ottla.client.producing.columns import BatchFuture, ColumnSender
    from ottla.client.runtime.threaded import ThreadedRuntime

TURN_MASK: Final = 63
"""A sender does the socket's work with the first record of a batch (the one before it is full then), and with
every 64th: so answers are read, and what is next can leave, while it goes on sending.
"""


class Producer:
    """Publishes records to the topics of a cluster.

        with ottla.Producer("localhost:9092", value_serializer="json") as producer:
            producer.send("clicks", {"user": 7}, key="7")                      # fire and forget
            metadata = producer.send("clicks", {"user": 8}).result(timeout=10) # wait for this one
            producer.send("clicks", {"user": 9}, on_delivery=print)            # be called
            producer.flush()                                                   # wait for all

    Settings are Kafka's, underscored as keywords (`linger_ms=20`) or dotted in a mapping
    (`config={"linger.ms": 20}`). Nothing is connected to before it is needed. Records are gathered into
    batches and sent in the background; the producer is idempotent unless told otherwise, so that nothing is
    stored twice and the order within a partition holds through retries. `close` (or the end of the `with`
    block, also when an exception ends it) sends what was not sent yet; a program that ends without it loses
    that, and a warning in the log says how much.
    """

    def __init__(
        self,
        bootstrap_servers: str | list[str] | None = None,
        *,
        config: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        if bootstrap_servers is not None:
            settings["bootstrap_servers"] = bootstrap_servers
        self._settings = producer_settings(config, settings)
        self._session = Session.threaded(self._settings)
        self._runtime = self._session.runtime
        try:
            with self._runtime.lock:
                self._core = self._make_core()
                self._core.shield(self._runtime.shielded)
                self._front = Front(self._core, self._settings, self._runtime.lock)
                self._runtime.on_fork = self._front.abandon
        except BaseException:
            self._session.close()
            raise
        self._closed = False
        self._columns: ColumnSender | None = None
        self._left_open = weakref.finalize(self, _tell_of_loss, self._core, self._runtime, repr(self))

    def _make_core(self) -> ProducerCore:
        return ProducerCore(self._session, self._settings, delivery_type=RecordFuture, owner=self._runtime)

    def __repr__(self) -> str:
        state = "closed " if self._closed else ""
        return f"<{state}ottla.Producer {self._settings.client_id} at {self._settings.bootstrap_servers}>"

    # --- sending ----------------------------------------------------------------------------------------

    def send(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        *,
        headers: Any = None,
        partition: int | None = None,
        timestamp: Any = None,
        on_delivery: OnDelivery | None = None,
    ) -> RecordFuture:
        """Puts a record in line and returns its future; the record leaves with its batch.

        value, key: what the serializers take; by default bytes, or a text (as UTF-8). None as a value is a
            tombstone, None as a key lets the record go to any partition.
        headers: a mapping, or a list of (name, value) pairs; values are bytes, texts or None.
        partition: instead of what the partitioner would choose.
        timestamp: milliseconds since 1970 or a datetime, instead of now.
        on_delivery: called as `on_delivery(metadata, error)`, one of them None, once the record was
            acknowledged or given up; in a thread that drives the producer, so it should be quick. It may
            call `send`.

        Waits only when the topic is not known yet or `buffer.memory` is full, up to `max.block.ms`. Raises
        SerializationFailed, InvalidArgument (also RecordTooLarge), OperationTimedOut (no metadata of the
        topic), BufferFull, ClientClosed, and in transactions IllegalState, TransactionFailed,
        ProducerFenced. What goes wrong later is raised by the future.
        """
        sent = self._front.send(topic, value, key, headers, partition, timestamp, on_delivery)
        if sent.__class__ is not RecordFuture:
            sent = self._runtime.run(sent)  # type: ignore[arg-type]
        if not sent._index & TURN_MASK:
            self._runtime.turn()
        return sent  # type: ignore[return-value]

    def send_batch(self, topic: str, table: Any) -> BatchFuture:
        """Sends the rows of a pyarrow Table or RecordBatch, without making a Python object of each.

            table = pyarrow.table({"key": ["a", "b"], "value": [b"1", b"2"]})
            stored = producer.send_batch("clicks", table).result(timeout=10)

        Columns are those it has of `key`, `value`, `headers`, `timestamp` and `partition`; they are bytes or
        texts already, so serializers and interceptors do not see them. A table with a wrong column or row is
        refused whole (InvalidArgument). Needs pyarrow: pip install ottla[arrow].
        """
        self._open()
        check_topic(topic)
        if self._columns is None:
            from ottla.client.producing.columns import ColumnSender

            front = self._front
            self._columns = ColumnSender(self._core, self._settings, front.partitioner, front.own_partitioner)
        return self._runtime.run(self._columns.send_batch(topic, table))  # type: ignore[return-value]

    def flush(self, timeout: float | None = None) -> None:
        """Sends everything now, and waits until every record sent so far was acknowledged or given up.

        OperationTimedOut after `timeout` seconds; what is under way goes on. Failures are in the futures.
        """
        self._run(self._core.flush(), timeout)

    def partitions_for(self, topic: str) -> tuple[PartitionView, ...]:
        """The topic's partitions with their leaders and replicas. Waits up to `max.block.ms`."""
        partitions: tuple[PartitionView, ...] = self._run(self._core.await_topic(topic)).partitions
        return partitions

    def metrics(self) -> dict[str, dict[str, float]]:
        """Statistics by group and name, as Kafka names them: `producer-metrics`, `record-send-total`."""
        return self._session.metrics.snapshot()

    # --- transactions -----------------------------------------------------------------------------------

    def init_transactions(self, timeout: float | None = None) -> None:
        """Takes possession of `transactional.id`: once, before the first transaction.

        Ends what an earlier producer with this id left open, and shuts it out.
        """
        self._run(self._core.init_transactions(None if timeout is None else timeout * 1000))

    def begin_transaction(self) -> None:
        self._open()
        with self._runtime.lock:
            self._core.begin_transaction()

    def send_offsets_to_transaction(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int], group: GroupMetadata | str
    ) -> None:
        """Makes a consumer's progress a part of the transaction: `offsets` are those of the next records to
        read, and `group` is what `consumer.group_metadata()` gives.
        """
        self._run(self._core.send_offsets_to_transaction(offsets_of(offsets), group))

    def commit_transaction(self) -> None:
        """Sends what was not sent yet, and makes all of it visible.

        TransactionFailed: it has to be aborted. ProducerFenced: another producer has the id, close this one.
        OperationTimedOut: nobody knows; call it again.
        """
        self._run(self._core.commit_transaction())

    def abort_transaction(self) -> None:
        """Takes everything back that was sent since `begin_transaction`."""
        self._run(self._core.abort_transaction())

    @contextmanager
    def transaction(self) -> Iterator[Producer]:
        """A transaction as a block: committed at its end, aborted by an exception (which goes on).

            producer.init_transactions()
            with producer.transaction():
                producer.send("orders", order)
                producer.send_offsets_to_transaction(offsets, consumer.group_metadata())

        A commit that fails in a way that only an abort can follow is aborted, too, before it raises: then
        the next transaction can begin.
        """
        self.begin_transaction()
        try:
            yield self
        except BaseException:
            self._run(abort_quietly(self._core))
            raise
        try:
            self.commit_transaction()
        except TransactionFailed:
            self._run(abort_quietly(self._core))
            raise

    # --- the end ----------------------------------------------------------------------------------------

    def close(self, timeout: float | None = None) -> None:
        """Sends what is in line, waits for it, and closes the connections. Always returns.

        Without a timeout everything has its chance until `delivery.timeout.ms`; with one, what was not
        acknowledged after `timeout` seconds fails. An open transaction is aborted. Closing twice does
        nothing.
        """
        with self._runtime.lock:
            if self._closed:
                return
            self._closed = True
            self._front.close()
        self._left_open.detach()
        try:
            if not self._runtime.gone:
                self._runtime.run(self._core.close(None if timeout is None else timeout * 1000))
        finally:
            self._session.close()
            self._front.closed()

    def __enter__(self) -> Producer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, steps: ClientSteps[Any], timeout: float | None = None) -> Any:
        if self._closed:
            steps.close()
        self._open()
        return self._runtime.run(steps, None if timeout is None else timeout * 1000)

    def _open(self) -> None:
        if self._closed:
            raise ClientClosed("the producer is closed")


def _tell_of_loss(core: ProducerCore, runtime: ThreadedRuntime, name: str) -> None:
    """The program ends, or nobody holds the producer any more, and it was not closed."""
    count = 0 if runtime.gone else core.unacknowledged
    if count:
        import logging

        logging.getLogger(log.NAME).warning(
            "%s was not closed: %d records may be lost; use a with block, close() or flush()", name, count
        )
