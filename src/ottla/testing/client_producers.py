"""Applications that write with the real producer core: plain ones, and ones that write in transactions.

A plain writer gives records at its own pace, flushes at times, and closes. A patient one has a delivery
timeout longer than the run: nothing it gives may fail. A hasty one gives up soon, so that the core has to go
on over gaps; what it is told has failed may be there or not, but never twice and never out of its order.

A transactional writer commits some transactions and aborts others, dawdles past its transaction's timeout,
and is fenced by whoever gets its id. It keeps to what the errors say: abort after TransactionFailed, call
again after OperationTimedOut, begin anew with another producer after ProducerFailed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

from ottla.client.effects import ClientSteps
from ottla.client.errors import (
    BrokerUnavailable,
    ClientClosed,
    DeliveryTimedOut,
    OperationTimedOut,
    OttlaError,
    ProducerFailed,
    ProducerFenced,
    RequestTimedOut,
    ServerError,
    TransactionFailed,
)
from ottla.client.producing.batch import Delivery
from ottla.client.producing.core import ProducerCore
from ottla.client.settings import ProducerSettings
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.ports.effects import Steps
from ottla.testing.client_books import ClientBooks, Outcome, Transaction
from ottla.testing.client_host import Abandoned, SimSession
from ottla.testing.ledger import Violation
from ottla.testing.network import SimNetwork
from ottla.wire.codec import Codec

PATIENCE_MS: Final = 900_000
"""Longer than any run."""
CLOSE_SLACK_MS: Final = 50.0
"""How much later than its timeout a close may return: clocks drift, turns take their time."""
SHORT_CLOSES_MS: Final = (0.0, 100.0, 2_000.0)
LATE_MS_MAX: Final = 6_000.0
REFUSED_IN_TRANSACTIONS: Final = frozenset(
    {ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.INVALID_TXN_STATE, ErrorCode.TRANSACTION_ABORTABLE}
)
TRANSACTION_TIMEOUTS_MS: Final = (2_500, 6_000)


def producer_settings(rng: Random, name: str, **given: Any) -> ProducerSettings:
    """Small buffers and short times, so that something goes on in them."""
    return ProducerSettings(
        **{
            "client_id": name,
            "request_timeout_ms": rng.choice((800, 1_500, 5_000)),
            "retry_backoff_ms": rng.choice((5, 50, 100)),
            "retry_backoff_max_ms": rng.choice((100, 400)),
            "reconnect_backoff_ms": rng.choice((5, 50)),
            "reconnect_backoff_max_ms": 300,
            "connections_max_idle_ms": rng.choice((300, 540_000)),
            "metadata_max_age_ms": rng.choice((700, 300_000)),
            "batch_size": rng.choice((0, 300, 700, 2_000)),
            "linger_ms": rng.choice((0, 3, 40)),
            "buffer_memory": rng.choice((2_500, 10_000, 1_000_000)),
            "max_block_ms": PATIENCE_MS,
            "max_request_size": rng.choice((2_500, 1_048_576)),
            "max_in_flight_requests_per_connection": rng.choice((1, 2, 5, 5, 5)),
            "delivery_timeout_ms": PATIENCE_MS,
            "compression_type": rng.choice((Codec.NONE, Codec.NONE, Codec.LZ4, Codec.GZIP)),
            **given,
        }
    )


class Writer:
    """What both kinds have: a core that comes and goes, and records of which the fate is asked for."""

    def __init__(
        self, network: SimNetwork, books: ClientBooks, report: Counter[str], name: str, **given: Any
    ) -> None:
        self.name = name
        self.done = False
        self.stopping = False
        self.calm = False
        self.random = network.scheduler.random
        self.settings = producer_settings(
            self.random, name, **{"bootstrap_servers": network.bootstrap, **given}
        )
        self._network = network
        self._books = books
        self._report = report
        self._number = 0
        self._callbacks: Counter[bytes] = Counter()
        self._open()

    def _open(self) -> None:
        self.session = SimSession(self._network, self.settings, self._report)
        self.runtime = self.session.runtime
        self.core = ProducerCore(self.session, self.settings)
        self._given: list[tuple[TopicPartition, bytes, Delivery, bool]] = []

    @property
    def over(self) -> bool:
        return self.done or self.runtime.dead

    def die(self, *, unseen: bool) -> None:
        self._report["producers_killed"] += 1
        self.runtime.kill(unseen=unseen)

    def _value(self) -> bytes:
        self._number += 1
        return f"{self.name}:{self._number}".encode()

    def _give(self, tp: TopicPartition, key: bytes | None) -> Steps[bytes]:
        """One record, as `send` does it."""
        rng, core = self.random, self.core
        value = self._value()
        self._books.sent(tp, value)
        headers = (("h", b"x" * rng.randrange(20)),) if rng.random() < 0.1 else ()
        callback = self._callback(value) if rng.random() < 0.3 else None
        record = (tp.topic, tp.partition, key, value, headers, self.runtime.clock.now_ms(), callback)
        delivery = core.try_append(*record)
        if delivery is None:
            self._report["appends_that_waited"] += 1
            delivery = yield from self.runtime.run(core.append(*record), f"{self.name} append")
        self._given.append((tp, value, delivery, callback is not None))
        self._check_memory()
        if rng.random() < 0.1:
            self.runtime.turn()
        return value

    def _callback(self, value: bytes) -> Callable[[Any, Any], None]:
        callbacks = self._callbacks

        def called(metadata: Any, error: Any) -> None:
            callbacks[value] += 1
            if (metadata is None) == (error is None):
                raise Violation(f"{value!r}: the callback was given {metadata} and {error}")

        return called

    def _check_memory(self) -> None:
        memory = self.core._sender.accumulator.memory
        if not 0 <= memory.free_bytes <= memory.total_bytes:
            raise Violation(f"{self.name}: {memory.free_bytes} of {memory.total_bytes} bytes are free")

    def _check_memory_is_back(self) -> None:
        memory = self.core._sender.accumulator.memory
        if memory.free_bytes != memory.total_bytes or memory.waiting:
            raise Violation(
                f"{self.name}: with nothing under way, {memory.free_bytes} of {memory.total_bytes} bytes are "
                f"free and {len(memory.waiting)} wait"
            )

    def _flush(self) -> Steps[None]:
        yield from self.runtime.run(self.core.flush(), f"{self.name} flush")
        for tp, value, delivery, _ in self._given:
            if not delivery.done():
                raise Violation(f"{tp}: {value!r} is not done after flush")
        self._report["flushes"] += 1

    def _settle(self, may_fail: Callable[[OttlaError], bool]) -> None:
        """What has become of everything that was given to this core so far and is done."""
        left = []
        for entry in self._given:
            tp, value, delivery, _ = entry
            if not delivery.done():
                left.append(entry)
                continue
            error = delivery.error()
            if error is None:
                metadata = delivery.metadata()
                if (metadata.topic, metadata.partition) != tp:
                    raise Violation(f"{value!r} was given for {tp} and stored as {metadata}")
                self._books.acked(tp, metadata.offset, value)
            elif not may_fail(error):
                raise Violation(f"{self.name}: {tp} {value!r} failed: {error!r}") from error
            else:
                self._report["records_failed"] += 1
        self._given = left

    def _close(self, timeout_ms: float | None, may_fail: Callable[[OttlaError], bool]) -> Steps[None]:
        clock = self.runtime.clock
        began_ms = clock.monotonic_ms()
        yield from self.runtime.run(self.core.close(timeout_ms), f"{self.name} close")
        took_ms = clock.monotonic_ms() - began_ms
        if timeout_ms is not None and took_ms > timeout_ms + CLOSE_SLACK_MS:
            raise Violation(f"{self.name}: close({timeout_ms:.0f} ms) took {took_ms:.0f} ms")
        called = [value for _, value, _, with_callback in self._given if with_callback]
        self._settle(may_fail)
        if self._given:
            raise Violation(f"{self.name}: {self._given[0][1]!r} is not done after close")
        self._check_memory_is_back()
        yield from self.runtime.sleep(5.0)
        for value in called:
            if self._callbacks[value] != 1:
                raise Violation(f"{value!r}: its callback was called {self._callbacks[value]} times")
        self._count()
        self.session.close()
        self._report["producers_closed"] += 1

    def _count(self) -> None:
        counted = self.session.metrics.snapshot()["producer-metrics"]
        for name, metric in (("records_sent_again", "record-retry"), ("batches_split", "batch-split")):
            self._report[name] += int(counted.get(f"{metric}-total", 0))
        identity = self.core._sender.identity
        if identity is not None:
            self._report["epochs_beyond_the_first"] += max(0, identity.producer[1])


class PlainWriter(Writer):
    def __init__(
        self,
        network: SimNetwork,
        books: ClientBooks,
        report: Counter[str],
        name: str,
        *,
        hasty: bool,
        keyed: bool = False,
        **given: Any,
    ) -> None:
        """`keyed`: every record has a key, as compacted topics want it."""
        self.hasty = hasty
        self.keyed = keyed
        if hasty:
            given.update(request_timeout_ms=800, delivery_timeout_ms=1_000, linger_ms=3)
        super().__init__(network, books, report, name, **given)

    def run(self, partitions: Sequence[TopicPartition], count: int) -> Steps[None]:
        try:
            yield from self._write(partitions, count)
        except Abandoned:
            self._report["producers_abandoned"] += 1
        self.done = True

    def _write(self, partitions: Sequence[TopicPartition], count: int) -> Steps[None]:
        rng = self.random
        pace_ms = rng.choice((1.0, 20.0, 60.0))
        while count > 0 and not self.stopping:
            for _ in range(rng.choice((1, 1, 5, 20))):
                count -= 1
                key = b"k" * rng.randrange(60) if rng.random() < 0.8 or self.keyed else None
                yield from self._give(rng.choice(partitions), key)
            yield from self.runtime.sleep(rng.random() * pace_ms * 2)
            if rng.random() < 0.04:
                yield from self._flush()
                self._settle(self._may_fail)
                if not self.core._sender._requests:
                    self._check_memory_is_back()
            elif rng.random() < 0.05:
                yield from self.runtime.sleep(rng.random() * 1_500.0)
        if self.hasty:
            yield from self._recover(partitions)
        elif rng.random() < 0.5:
            yield from self._flush()
        short = rng.random() < 0.3
        yield from (
            self._close(
                rng.choice(SHORT_CLOSES_MS) if short else None,
                lambda error: isinstance(error, ClientClosed) if short else self._may_fail(error),
            )
            if not (short and self.hasty)
            else self._close(None, self._may_fail)
        )

    def _recover(self, partitions: Sequence[TopicPartition]) -> Steps[None]:
        """However much was given up: once the faults are over, everything is stored again."""
        while not self.calm:
            yield from self.runtime.sleep(200.0)
        yield from self.runtime.sleep(LATE_MS_MAX)  # what was late before still stands in the way
        yield from self._flush()
        self._settle(self._may_fail)
        for _ in range(2):
            for tp in partitions:
                yield from self._give(tp, None)
            yield from self._flush()
            self._settle(lambda error: False)
        self._report["recoveries"] += 1

    def _may_fail(self, error: OttlaError) -> bool:
        return self.hasty and isinstance(error, (DeliveryTimedOut, BrokerUnavailable, RequestTimedOut))


class TransactionalWriter(Writer):
    """`fenced_by` says that another has this id: then it may be fenced at any time."""

    def __init__(
        self,
        network: SimNetwork,
        books: ClientBooks,
        report: Counter[str],
        name: str,
        transactional_id: str,
        **given: Any,
    ) -> None:
        self.transactional_id = transactional_id
        self.has_rival = False
        self.transaction: Transaction | None = None
        self.last_committed = False
        """Whether the last transaction was, for sure."""
        rng = network.scheduler.random
        super().__init__(
            network,
            books,
            report,
            name,
            transactional_id=transactional_id,
            transaction_timeout_ms=rng.choice(TRANSACTION_TIMEOUTS_MS),
            **given,
        )

    def run(self, partitions: Sequence[TopicPartition], count: int) -> Steps[None]:
        try:
            yield from self._live(partitions, count)
        except Abandoned:
            self._report["producers_abandoned"] += 1
        self.done = True

    def _live(self, partitions: Sequence[TopicPartition], count: int) -> Steps[None]:
        rng = self.random
        ready = yield from self._begin_life()
        while ready and count > 0 and not self.stopping:
            count -= 1
            ready = yield from self._in_transaction(
                lambda: self._write(partitions), commit=rng.random() < 0.65
            )
            yield from self.runtime.sleep(rng.random() * 200.0)
        if ready:
            if rng.random() < 0.3:
                self._begin()
                try:
                    yield from self._write(partitions)
                except (TransactionFailed, ProducerFenced, ProducerFailed) as error:
                    self._note(error)
            # What is open, it aborts.
            yield from self._close(None if rng.random() < 0.7 else 2_000.0, lambda error: True)

    def _write(self, partitions: Sequence[TopicPartition]) -> Steps[None]:
        rng = self.random
        for _ in range(rng.choice((0, 1, 3, 8, 20))):
            tp = rng.choice(partitions)
            value = yield from self._give(tp, b"k" * rng.randrange(40))
            assert self.transaction is not None
            self.transaction.records.append((tp, value))
            if rng.random() < 0.1:
                yield from self.runtime.sleep(rng.random() * 100.0)
        if rng.random() < 0.06:
            yield from self.runtime.sleep(rng.random() * 8_000.0)  # longer than it may last

    # -- lives and transactions --

    def _begin_life(self) -> Steps[bool]:
        """Gets the id for itself; False when it cannot go on."""
        while True:
            try:
                yield from self._insist(self.core.init_transactions, "init")
                return True
            except (ProducerFenced, ProducerFailed) as error:
                if not (yield from self._new_life(error)):
                    return False

    def _new_life(self, error: OttlaError) -> Steps[bool]:
        """The producer can do nothing more. Only where a rival took the id, that is the end."""
        fenced = isinstance(error, ProducerFenced)
        self._report["producers_fenced" if fenced else "producers_failed"] += 1
        self.transaction = None
        yield from self._close(5_000.0, lambda error: True)
        if fenced and self.has_rival:
            return False
        self._open()
        return True

    def _begin(self) -> None:
        self.core.begin_transaction()
        self.transaction = Transaction(f"{self.name} transaction before {self._number + 1}")
        self._books.transactions.append(self.transaction)

    def _in_transaction(self, work: Callable[[], Steps[None]], *, commit: bool) -> Steps[bool]:
        """One transaction, to whatever end; False when the producer has no more life in it."""
        self.last_committed = False
        try:
            self._begin()
            transaction = self.transaction
            assert transaction is not None
            try:
                yield from work()
                if commit:
                    transaction.outcome = Outcome.UNKNOWN
                    yield from self._insist(self.core.commit_transaction, "commit")
                    transaction.outcome = Outcome.COMMITTED
                    self.last_committed = True
                    self._settle(lambda error: False)
                    self._check_memory_is_back()
                    self._report["commits"] += 1
                    return True
            except TransactionFailed as error:
                self._report["transactions_failed"] += 1
                self._note(error)
            yield from self._insist(self.core.abort_transaction, "abort")
            transaction.outcome = Outcome.ABORTED
            self._settle(_ends_with_transaction)
            self._check_memory_is_back()
            self._report["aborts"] += 1
            return True
        except (ProducerFenced, ProducerFailed) as error:
            self._note(error)
            return (yield from self._new_life(error)) and (yield from self._begin_life())

    def _note(self, error: OttlaError) -> None:
        self._report[f"because_of_{type(error.__cause__ or error).__name__}"] += 1

    def _insist(self, operation: Callable[[], ClientSteps[None]], name: str) -> Steps[None]:
        """Calls again what did not end in time, as it says."""
        while True:
            try:
                timeout_ms = self.random.choice((300.0, 3_000.0)) if self.random.random() < 0.1 else None
                yield from self.runtime.run(operation(), f"{self.name} {name}", timeout_ms)
                return
            except OperationTimedOut:
                self._report["calls_repeated"] += 1


def _ends_with_transaction(error: OttlaError) -> bool:
    """Aborted here or by the coordinator (its timeout), whose new epoch the partitions know."""
    if isinstance(error, ServerError):
        return error.code in REFUSED_IN_TRANSACTIONS
    return isinstance(error, (TransactionFailed, ClientClosed))
