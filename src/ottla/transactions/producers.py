"""InitProducerId: a producer asks for a transactional id, and whoever had it before is fenced.

A producer that comes with nothing gets the next epoch of the id's producer id, or a new producer id when the
epochs are used up. One that comes with the producer id and epoch it had (KIP-360: it goes on after an error)
gets the next epoch only if nobody has asked since; an epoch that it was given, but whose answer was lost, is
given again.

If a transaction is open, it is aborted first with a raised epoch, and the producer is told
CONCURRENT_TRANSACTIONS until that has come to its end.
"""

from __future__ import annotations

from typing import NamedTuple

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.model.errors import ErrorCode, KafkaError
from ottla.transactions.endings import Endings
from ottla.transactions.registry import Registry
from ottla.transactions.states import State
from ottla.transactions.transaction import (
    EPOCH_MAX,
    LAST_CLIENT_EPOCH,
    NO_EPOCH,
    NO_ID,
    NO_TIMEOUT_MS,
    Transaction,
)
from ottla.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse


class Expected(NamedTuple):
    """The producer id and epoch that a producer says it has."""

    producer_id: int
    epoch: int


def expected_of(request: InitProducerIdRequest) -> Expected | None:
    """Raises INVALID_REQUEST for half a pair; also requests without a transactional id are asked this."""
    if request.producer_id == NO_ID and request.producer_epoch == NO_EPOCH:
        return None
    if request.producer_id == NO_ID or request.producer_epoch == NO_EPOCH:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, "A producer id and its epoch come together or not at all."
        )
    return Expected(request.producer_id, request.producer_epoch)


class Producers:
    __slots__ = ("_registry", "_endings")

    def __init__(self, registry: Registry, endings: Endings) -> None:
        self._registry = registry
        self._endings = endings

    def init(self, request: InitProducerIdRequest, promise: Promise[InitProducerIdResponse]) -> Outcome:
        expected = expected_of(request)
        transactional_id = request.transactional_id
        if not transactional_id:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "A transactional id is never empty.")
        timeout_ms = self._timeout_ms(request)
        env = self._registry.env
        now_ms = env.clock.now_ms()
        outcome = Outcome()
        transaction = self._registry.get(transactional_id)
        if transaction is None:
            after = Transaction(transactional_id, env.take_producer_id(), 0, timeout_ms, updated_ms=now_ms)
        else:
            if transaction.is_ending:
                raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
            if expected is not None and not _may_ask(transaction, expected):
                raise KafkaError(ErrorCode.PRODUCER_FENCED)
            if transaction.state is State.ONGOING:
                self._endings.fence(outcome, transaction)
                # The fence's epoch is never given out: the producer asks again and gets the one after it.
                outcome.refuse(promise, KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS))
                return outcome
            after = self._next(transaction, expected, timeout_ms, now_ms)
        self._registry.change(outcome, after)
        outcome.answer(
            promise,
            InitProducerIdResponse(producer_id=after.producer_id, producer_epoch=after.producer_epoch),
        )
        return outcome

    def _timeout_ms(self, request: InitProducerIdRequest) -> int:
        """The fields of two-phase commit (KIP-939) are in version 6, which Kafka 4.2 does not yet offer."""
        settings = self._registry.env.settings
        if request.enable_2pc and not settings.two_phase_commit_enable:
            raise KafkaError(
                ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "Two-phase commit is switched off here."
            )
        if request.keep_prepared_txn:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, "A prepared transaction cannot be kept yet.")
        if request.enable_2pc:
            return NO_TIMEOUT_MS
        if not 0 < request.transaction_timeout_ms <= settings.max_timeout_ms:
            raise KafkaError(
                ErrorCode.INVALID_TRANSACTION_TIMEOUT,
                f"The timeout of a transaction is 1 to {settings.max_timeout_ms} ms.",
            )
        return request.transaction_timeout_ms

    def _next(
        self, transaction: Transaction, expected: Expected | None, timeout_ms: int, now_ms: int
    ) -> Transaction:
        """What a new producer, or one that goes on, is given. Raises PRODUCER_FENCED."""
        producer_id, epoch = transaction.producer_id, transaction.producer_epoch
        if expected is None:
            last_epoch = NO_EPOCH  # nobody who had an earlier epoch may go on
        elif expected == (producer_id, epoch):
            last_epoch = epoch
        elif expected.epoch == transaction.last_producer_epoch:
            if epoch < EPOCH_MAX:
                return transaction.initialized(producer_id, epoch, expected.epoch, timeout_ms, now_ms)
            # The fence took the last epoch of all, which nobody is given.
            last_epoch = expected.epoch
        else:
            raise KafkaError(ErrorCode.PRODUCER_FENCED)
        if transaction.is_epoch_exhausted:
            new_id = self._registry.env.take_producer_id()
            return transaction.initialized(new_id, 0, last_epoch, timeout_ms, now_ms)
        return transaction.initialized(producer_id, epoch + 1, last_epoch, timeout_ms, now_ms)


def _may_ask(transaction: Transaction, expected: Expected) -> bool:
    """Its producer id is the one in use (the epoch is looked at later), or the one before, whose epochs were
    used up: the answer that brought the new one may have been lost.
    """
    return expected.producer_id == transaction.producer_id or (
        expected.producer_id == transaction.previous_producer_id and expected.epoch >= LAST_CLIENT_EPOCH
    )
