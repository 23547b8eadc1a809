"""The producer without a shell: records go in by plain calls, everything that waits is a generator.

`try_append` is the way of every record and must stay short: find the partition's open batch, add to its
lists, hand out a `Delivery`. What is rare lies behind it: opening a batch (`_append_first`), waiting for
memory (`append`), for a topic (`await_topic`), for everything to be stored (`flush`, `close`). Batches leave
by `sender.py`; transactions are in `transactions.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ottla.client import log
from ottla.client.effects import ClientSteps, Wait
from ottla.client.errors import (
    BufferFull,
    ClientClosed,
    IllegalState,
    InvalidArgument,
    InvalidConfig,
)
from ottla.client.producing.batch import (
    HEADER_FIELD_BYTES,
    RECORD_BYTES,
    Callback,
    Delivery,
    EncodedBatch,
    Headers,
    record_size,
)
from ottla.client.producing.lane import Lane
from ottla.client.producing.sender import Sender
from ottla.client.producing.transactions import Transactions
from ottla.client.records import GroupMetadata, OffsetAndMetadata
from ottla.client.settings import ProducerSettings
from ottla.client.view import TopicView
from ottla.model.types import TopicPartition

if TYPE_CHECKING:
    from ottla.client.producing.borrowed import BorrowedTransaction
    from ottla.client.producing.shared_transaction import TransactionHandle
    from ottla.client.session import Session

TOPIC_USED_INTERVAL_MS: Final = 60_000
"""How often metadata is told that a topic is still written to."""
IN_FLIGHT_MAX_IDEMPOTENT: Final = 5
"""The broker remembers so many batches of a producer in a partition."""


def check_settings(settings: ProducerSettings) -> None:
    """Settings that contradict each other; InvalidConfig says which."""
    if settings.acks not in (-1, 0, 1):
        raise InvalidConfig(f"acks is {settings.acks}: write all, 1 or 0")
    if settings.transactional_id is not None and not settings.enable_idempotence:
        raise InvalidConfig("transactional.id needs enable.idempotence=true")
    if settings.enable_idempotence:
        if settings.acks != -1:
            raise InvalidConfig("enable.idempotence=true needs acks=all")
        if settings.retries == 0:
            raise InvalidConfig("enable.idempotence=true needs retries above 0")
        if settings.max_in_flight_requests_per_connection > IN_FLIGHT_MAX_IDEMPOTENT:
            raise InvalidConfig(
                "enable.idempotence=true needs max.in.flight.requests.per.connection of at most "
                f"{IN_FLIGHT_MAX_IDEMPOTENT}"
            )
    if settings.delivery_timeout_ms < settings.linger_ms + settings.request_timeout_ms:
        raise InvalidConfig(
            "delivery.timeout.ms must be at least linger.ms + request.timeout.ms "
            f"({settings.linger_ms:g} + {settings.request_timeout_ms})"
        )


class ProducerCore:
    def __init__(
        self,
        session: Session,
        settings: ProducerSettings,
        *,
        delivery_type: type[Delivery] = Delivery,
        owner: Any = None,
        borrowed: TransactionHandle | None = None,
    ) -> None:
        """`borrowed`: the identity of a transaction that somebody else owns, and this producer writes
        into.
        """
        check_settings(settings)
        self.session = session
        self._settings = settings
        self._clock = session.host.clock
        self._delivery = delivery_type
        self._sender = sender = Sender(session, settings, owner)
        self._accumulator = sender.accumulator
        self._memory = sender.accumulator.memory
        self._lanes = sender.accumulator.lanes
        self._topics = sender.accumulator.topics
        self.full_batches = 0
        """Grows whenever an append made something due: then it is worth to let the sender run."""
        self._accumulator.on_full = self._count_full
        self._closed = False
        self._shut = False
        """Appending is not allowed now; `_refuse` says why."""
        sender.on_fatal = self._update_shut
        self._transactions: Transactions | BorrowedTransaction | None = None
        if borrowed is not None:
            from ottla.client.producing.borrowed import BorrowedTransaction

            self._transactions = sender.transactions = BorrowedTransaction(borrowed, sender)
        elif settings.transactional_id is not None:
            self._transactions = Transactions(session, settings, sender, self._update_shut)
            sender.transactions = self._transactions
            self._update_shut()
        sender.start()

    def shield(self, by: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """For a shell whose users press Ctrl-C: has the plain calls that change more than a batch's lists go
        through `by`, which keeps them from being interrupted half-way.
        """
        self._append_first = by(self._append_first)  # type: ignore[method-assign]
        self.close_batch = by(self.close_batch)  # type: ignore[method-assign]
        self.begin_transaction = by(self.begin_transaction)  # type: ignore[method-assign]

    # --- what the front looks at ----------------------------------------------------------------------------

    @property
    def should_turn(self) -> bool:
        """Whether something can leave now that the sender has not seen yet."""
        return self._sender.should_turn

    @property
    def before_send(self) -> Callable[[str, int, int, int], None] | None:
        return self._sender.before_send

    @before_send.setter
    def before_send(self, hook: Callable[[str, int, int, int], None] | None) -> None:
        self._sender.before_send = hook

    def _count_full(self) -> None:
        self.full_batches += 1

    @property
    def unacknowledged(self) -> int:
        """How many records are not done; from any thread."""
        return sum(batch.count or len(batch.values) for batch in list(self._accumulator.incomplete))

    def topic(self, name: str) -> TopicView | None:
        """The topic, if it is known and can be written to."""
        return self._topics.get(name)

    def queued(self, topic: str, partition: int) -> int:
        """How many batches wait for the partition's leader."""
        lane = self._lane(topic, partition)
        return 0 if lane is None else len(lane.queue)

    def limit_bytes(self, topic: str, partition: int) -> int:
        """The size before compression at which a batch of the partition is full."""
        lane = self._lane(topic, partition)
        return self._settings.batch_size if lane is None else lane.limit_bytes

    def close_batch(self, topic: str, partition: int) -> None:
        """The partition's open batch takes no more records, and leaves."""
        lane = self._lane(topic, partition)
        if lane is not None:
            self._accumulator.close_open(lane)

    def _lane(self, topic: str, partition: int) -> Lane | None:
        lanes = self._lanes.get(topic)
        return None if lanes is None else lanes.get(partition)

    # --- records --------------------------------------------------------------------------------------------

    def try_append(
        self,
        topic: str,
        partition: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        timestamp: int,
        callback: Callback | None = None,
    ) -> Delivery | None:
        """Puts a record in line. None when that is not possible now: the topic is not known yet, or there is
        no memory; then `append` waits.
        """
        if self._shut:
            self._refuse()
        try:
            batch = self._lanes[topic][partition].open
        except KeyError:
            return None
        if batch is None:
            return self._append_first(topic, partition, key, value, headers, timestamp, callback, 0)
        size_bytes = batch.size_bytes + RECORD_BYTES
        if value is not None:
            size_bytes += len(value)
        if key is not None:
            size_bytes += len(key)
        if headers:
            for name, content in headers:
                size_bytes += HEADER_FIELD_BYTES + len(name)
                if content is not None:
                    size_bytes += len(content)
        if size_bytes > batch.limit_bytes:
            return self._append_first(topic, partition, key, value, headers, timestamp, callback, 0)
        batch.size_bytes = size_bytes
        values = batch.values
        index = len(values)
        if headers and batch.headers is None:
            batch.headers = [()] * index
        # From here on no function of Python's is called until the lists are as long as each other again:
        # that is where Ctrl-C could leave them.
        values.append(value)
        batch.keys.append(key)
        batch.timestamps.append(timestamp)
        if batch.headers is not None:
            batch.headers.append(headers)
        if callback is not None:
            if batch.callbacks is None:
                batch.callbacks = [(index, callback)]
            else:
                batch.callbacks.append((index, callback))
        return self._delivery(batch, index)

    def _append_first(
        self,
        topic: str,
        partition: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        timestamp: int,
        callback: Callback | None,
        granted_bytes: int,
    ) -> Delivery | None:
        """A record that needs a new batch, for which the memory was granted or has to be taken."""
        accumulator = self._accumulator
        lane = self._lanes[topic][partition]
        needed_bytes = granted_bytes or accumulator.needed_bytes(key, value, headers)
        accumulator.close_open(lane)
        if not granted_bytes and not self._memory.take(needed_bytes):
            return None
        if self._transactions is not None:
            self._transactions.add_lane(lane)
        size_bytes = record_size(key, value, headers)
        batch = accumulator.open_batch(lane, size_bytes, needed_bytes)
        batch.size_bytes += size_bytes
        batch.values.append(value)
        batch.keys.append(key)
        batch.timestamps.append(timestamp)
        if headers:
            batch.headers = [headers]
        if callback is not None:
            batch.callbacks = [(0, callback)]
        accumulator.begun(lane, batch)
        self._use_topic(lane, batch.created_ms)
        return self._delivery(batch, 0)

    def _use_topic(self, lane: Lane, now_ms: float) -> None:
        if now_ms - lane.used_ms > TOPIC_USED_INTERVAL_MS:
            lane.used_ms = now_ms
            self.session.metadata.want((lane.tp.topic,))

    def append(
        self,
        topic: str,
        partition: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        timestamp: int,
        callback: Callback | None = None,
    ) -> ClientSteps[Delivery]:
        """Puts a record in line, waiting up to `max.block.ms` for the topic to be known and for memory."""
        record = (topic, partition, key, value, headers, timestamp, callback)
        deadline_ms = self._clock.monotonic_ms() + self._settings.max_block_ms
        yield from self._await_partition(topic, partition, deadline_ms)
        delivery = self.try_append(*record)
        if delivery is not None:
            return delivery
        needed_bytes = self._accumulator.needed_bytes(key, value, headers)
        granted = yield from self._await_memory(needed_bytes, deadline_ms)
        try:
            if self._shut:
                self._refuse()
            lane = self._lanes[topic][partition]
            if lane.open is not None and lane.open.size_bytes + record_size(key, value, headers) <= (
                lane.open.limit_bytes
            ):
                # Somebody else opened a batch meanwhile: what was granted is not needed.
                delivery = self.try_append(*record)
            else:
                delivery = self._append_first(*record, granted)
                granted = 0
        finally:
            if granted:
                self._memory.release(granted)
        assert delivery is not None
        return delivery

    def append_encoded(self, tp: TopicPartition, encoded: EncodedBatch) -> ClientSteps[Delivery]:
        """Puts a whole batch in line; the delivery is that of its first record."""
        deadline_ms = self._clock.monotonic_ms() + self._settings.max_block_ms
        yield from self._await_partition(tp.topic, tp.partition, deadline_ms)
        needed_bytes = min(encoded.size_bytes, self._memory.total_bytes)
        if len(encoded.data) > self._settings.max_request_size:
            self._accumulator.checked_bytes(len(encoded.data))
        if not self._memory.take(needed_bytes):
            yield from self._await_memory(needed_bytes, deadline_ms)
        try:
            if self._shut:
                self._refuse()
            lane = self._lanes[tp.topic][tp.partition]
            if self._transactions is not None:
                self._transactions.add_lane(lane)
        except BaseException:
            self._memory.release(needed_bytes)
            raise
        batch = self._accumulator.add_encoded(lane, encoded, needed_bytes)
        self._use_topic(lane, batch.created_ms)
        return self._delivery(batch, 0)

    def _await_memory(self, needed_bytes: int, deadline_ms: float) -> ClientSteps[int]:
        """Waits in line for memory; gives how much was granted."""
        memory = self._memory
        began_ms = self._clock.monotonic_ms()
        ticket = memory.wait(needed_bytes)
        try:
            memory.serve()
            if not ticket.granted:
                self._accumulator.consider_all()  # nothing lingers while somebody waits for memory
            while not ticket.granted:
                if self._shut:
                    self._refuse()
                left_ms = deadline_ms - self._clock.monotonic_ms()
                if left_ms <= 0:
                    raise BufferFull(
                        f"buffer.memory={memory.total_bytes} is used up, and stayed so for "
                        f"max.block.ms={self._settings.max_block_ms}"
                    )
                yield Wait(ticket.called, left_ms)
        except BaseException:
            memory.leave(ticket)
            raise
        finally:
            waited_ms = self._clock.monotonic_ms() - began_ms
            self.session.metrics.count("producer-metrics", "bufferpool-wait-time-ns", waited_ms * 1e6)
        return ticket.needed_bytes

    def _refuse(self) -> None:
        """Raises why no record can be appended now."""
        if self._closed:
            raise ClientClosed("the producer is closed")
        if self._sender.fatal is not None:
            raise self._sender.fatal_error()
        if self._transactions is not None:
            self._transactions.check_append()

    def _update_shut(self) -> None:
        transactions = self._transactions
        self._shut = (
            self._closed
            or self._sender.fatal is not None
            or (transactions is not None and not transactions.appendable)
        )
        if self._shut:
            self._memory.call_everybody()

    # --- topics ---------------------------------------------------------------------------------------------

    def await_topic(self, name: str) -> ClientSteps[TopicView]:
        """The topic, waiting up to `max.block.ms` for it to be known."""
        deadline_ms = self._clock.monotonic_ms() + self._settings.max_block_ms
        return (yield from self._await_topic(name, deadline_ms))

    def _await_topic(self, name: str, deadline_ms: float) -> ClientSteps[TopicView]:
        if self._closed:
            raise ClientClosed("the producer is closed")
        self._sender.ask_identity()
        view = yield from self.session.metadata.await_topic(name, deadline_ms)
        self._accumulator.update(self.session.cluster.view, (name,))
        return view

    def _await_partition(self, topic: str, partition: int, deadline_ms: float) -> ClientSteps[None]:
        """Until the partition is known; a topic that has fewer is asked for once more: it may have grown."""
        if self._shut:
            self._refuse()
        if topic not in self._topics:
            yield from self._await_topic(topic, deadline_ms)
        if self._lane(topic, partition) is None:
            metadata = self.session.metadata
            while self._lane(topic, partition) is None:
                left_ms = deadline_ms - self._clock.monotonic_ms()
                if left_ms <= 0:
                    count = len(self._lanes.get(topic, {}))
                    raise InvalidArgument(f"topic {topic} has {count} partitions: there is no {partition}")
                metadata.request()
                yield Wait(metadata.updated, left_ms)
                self._accumulator.update(self.session.cluster.view, (topic,))

    # --- everything -----------------------------------------------------------------------------------------

    def flush(self) -> ClientSteps[None]:
        """Until all that was appended before is stored or has failed; what is appended meanwhile is not
        waited for. Errors are the deliveries'.
        """
        waiting = list(self._accumulator.incomplete)
        self._accumulator.close_all(waiting)
        for batch in waiting:
            while not batch.done and batch.parts is None:
                yield Wait(batch.finished)
            if batch.parts is not None:
                waiting.extend(part for _, part in batch.parts)

    def close(self, timeout_ms: float | None = None) -> ClientSteps[None]:
        """Sends what is left, for so long, and ends. What is not stored then fails with ClientClosed; an open
        transaction is aborted, as far as the time allows.
        """
        if self._closed:
            return
        self._closed = True
        self._update_shut()
        clock = self._clock
        limit_ms = self._settings.delivery_timeout_ms if timeout_ms is None else timeout_ms
        deadline_ms = clock.monotonic_ms() + limit_ms
        accumulator = self._accumulator
        accumulator.hurry = True
        accumulator.close_all(list(accumulator.incomplete))
        try:
            while accumulator.incomplete:
                left_ms = deadline_ms - clock.monotonic_ms()
                if left_ms <= 0:
                    break
                yield Wait(self._sender.completed, left_ms)
            if self._transactions is not None:
                yield from self._transactions.close(deadline_ms)
        finally:
            left = len(accumulator.incomplete)
            if left:
                log.warning("the producer closes before %d batches were acknowledged", left)
            if self._transactions is not None:
                self._transactions.stop()
            self._sender.stop()
            self._sender.fail_incomplete(ClientClosed("the producer was closed before the record was stored"))

    # --- transactions ---------------------------------------------------------------------------------------

    def _with_transactions(self) -> Transactions:
        if self._transactions is None:
            raise IllegalState("the producer has no transactional.id")
        if self._closed:
            raise ClientClosed("the producer is closed")
        if not isinstance(self._transactions, Transactions):
            raise self._transactions.owners()
        return self._transactions

    def init_transactions(self, timeout_ms: float | None = None) -> ClientSteps[None]:
        """Gets the transactional id for this producer: others that have it are fenced, what they left open is
        aborted. Once, before the first transaction.
        """
        yield from self._with_transactions().init(timeout_ms)

    def begin_transaction(self) -> None:
        self._with_transactions().begin()

    def send_offsets_to_transaction(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata], group: GroupMetadata | str
    ) -> ClientSteps[None]:
        """Commits a group's offsets with the transaction."""
        metadata = GroupMetadata(group) if isinstance(group, str) else group
        yield from self._with_transactions().send_offsets(offsets, metadata)

    def commit_transaction(self) -> ClientSteps[None]:
        """Until all records are stored and the transaction is committed."""
        yield from self._with_transactions().commit()

    def abort_transaction(self) -> ClientSteps[None]:
        """What was not sent yet is dropped, what was is aborted."""
        yield from self._with_transactions().abort()
