"""How a transaction ends: EndTxn in both generations, the fence, the time-out, and the end of the markers.

A decision is one record, PrepareCommit or PrepareAbort; from then on the outcome is what it says, whatever
happens. Once that record is below the high watermark the producer has its answer and the markers are being
written (`Outcome.then`); when all are, `marked` decides the Complete record. Until then everybody else waits:
CONCURRENT_TRANSACTIONS.

The older generation (EndTxn up to version 4) keeps the producer's epoch; the same EndTxn again is answered
alike. The newer one (version 5, KIP-890) raises it, and goes on with a new producer id where it cannot be
raised; a retry is known by the epoch before. What it gets where nothing is open:

                  abort, again   abort, new   commit, again   commit, new
Empty             fenced         ends         fenced          INVALID_TXN_STATE
CompleteAbort     as before      ends         INVALID         INVALID
CompleteCommit    INVALID        ends         as before       INVALID

("ends": an abort of nothing, which raises the epoch. The producer may not know whether it had begun.)

Two answers differ from Kafka 4.2's. There, a producer of epoch 32766 that was fenced (a time-out) and aborts
is told epoch 32767, with which it can open a transaction that nobody can end; here it is fenced. And there,
whoever has the epoch before is taken for one that tries again, even after a transaction whose end did not
raise the epoch: a fenced producer would be given its successor's epoch.
"""

from __future__ import annotations

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.model.errors import ErrorCode, KafkaError
from ottla.transactions.markers import TxnToEnd
from ottla.transactions.record import SCAN_BYTES_MAX, record_bytes_about
from ottla.transactions.registry import Registry
from ottla.transactions.states import COMMITTED, State
from ottla.transactions.transaction import (
    EPOCH_BUMP_VERSION,
    EPOCH_MAX,
    LAST_CLIENT_EPOCH,
    NO_EPOCH,
    NO_ID,
    Transaction,
)
from ottla.wire.messages.end_txn import EndTxnRequest, EndTxnResponse


class Endings:
    __slots__ = ("_registry",)

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    # --- the producer decides -----------------------------------------------------------------------------

    def end(self, request: EndTxnRequest, client_version: int, promise: Promise[EndTxnResponse]) -> Outcome:
        if not request.transactional_id:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "A transactional id is never empty.")
        transaction = self._registry.get(request.transactional_id)
        if transaction is None:
            raise KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        if client_version >= EPOCH_BUMP_VERSION:
            return self._end_and_raise(transaction, request, promise)
        return self._end(transaction, request, promise)

    def _end(
        self, transaction: Transaction, request: EndTxnRequest, promise: Promise[EndTxnResponse]
    ) -> Outcome:
        if request.producer_id != transaction.producer_id:
            raise KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        if request.producer_epoch != transaction.producer_epoch:
            raise KafkaError(ErrorCode.PRODUCER_FENCED)
        if transaction.is_ending:
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
        outcome = Outcome()
        if transaction.state is State.ONGOING:
            after = transaction.prepared(
                _prepare(request.committed),
                0,
                self._registry.env.clock.now_ms(),
                producer_epoch=transaction.producer_epoch,
                last_epoch=transaction.last_producer_epoch,
            )
            self._registry.change(outcome, after)
        elif transaction.state is not _complete(request.committed):
            raise _wrong_state(transaction)
        outcome.answer(promise, EndTxnResponse())
        return outcome

    def _end_and_raise(
        self, transaction: Transaction, request: EndTxnRequest, promise: Promise[EndTxnResponse]
    ) -> Outcome:
        if transaction.is_ending:
            # Asked first: the producer may already use the producer id that takes over at the end.
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
        outcome = Outcome()
        if _is_retry(transaction, request):
            if transaction.state is not _complete(request.committed):
                raise _wrong_state(transaction)
            outcome.answer(promise, _go_on(transaction))
            return outcome
        if request.producer_id != transaction.producer_id:
            raise KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        if request.producer_epoch != transaction.producer_epoch or request.producer_epoch == EPOCH_MAX:
            raise KafkaError(ErrorCode.PRODUCER_FENCED)
        if request.committed and transaction.state is not State.ONGOING:
            raise _wrong_state(transaction)
        env = self._registry.env
        now_ms = env.clock.now_ms()
        after = transaction.prepared(
            _prepare(request.committed),
            EPOCH_BUMP_VERSION,
            now_ms,
            producer_epoch=transaction.producer_epoch + 1,
            last_epoch=transaction.producer_epoch,
            next_producer_id=env.take_producer_id() if transaction.is_epoch_exhausted else NO_ID,
        )
        self._registry.change(outcome, after)
        outcome.answer(promise, _go_on(after.completed(now_ms)))
        return outcome

    # --- the coordinator decides --------------------------------------------------------------------------

    def fence(self, outcome: Outcome, transaction: Transaction) -> None:
        """Aborts an open transaction with a higher epoch, so that its producer can add nothing to it."""
        assert transaction.state is State.ONGOING
        env = self._registry.env
        epoch = transaction.producer_epoch
        # Kafka can leave a transaction open under the last epoch of all. It cannot be raised, but the
        # markers of version 0 end it all the same.
        raised = min(epoch + 1, EPOCH_MAX)
        keeps_last = env.version >= EPOCH_BUMP_VERSION and raised > epoch
        after = transaction.prepared(
            State.PREPARE_ABORT,
            EPOCH_BUMP_VERSION if keeps_last else 0,
            env.clock.now_ms(),
            producer_epoch=raised,
            last_epoch=epoch if keeps_last else NO_EPOCH,
        )
        self._registry.change(outcome, after)

    def abort_timed_out(self, limit: int) -> tuple[Outcome, bool]:
        outcome = Outcome()
        overdue, more = self._registry.time_outs.due(self._registry.env.clock.now_ms(), limit)
        room_bytes = SCAN_BYTES_MAX
        for transactional_id in overdue:
            transaction = self._registry.get(transactional_id)
            assert transaction is not None
            room_bytes -= record_bytes_about(transaction)
            if room_bytes < 0 and outcome.records:
                return outcome, True
            self.fence(outcome, transaction)
        return outcome, more

    # --- the markers are written --------------------------------------------------------------------------

    def marked(self, job: TxnToEnd) -> Outcome:
        """Decides the Complete record; nothing, if the transaction is no longer the one that was marked."""
        outcome = Outcome()
        transaction = self._registry.get(job.transactional_id)
        if (
            transaction is not None
            and transaction.is_ending
            and job.coordinator_epoch == self._registry.coordinator_epoch
            and (job.producer_id, job.producer_epoch) == (transaction.producer_id, transaction.producer_epoch)
            and job.committed == (transaction.state in COMMITTED)
        ):
            self._registry.change(outcome, transaction.completed(self._registry.env.clock.now_ms()))
        return outcome


def _is_retry(transaction: Transaction, request: EndTxnRequest) -> bool:
    """Whether the request is one that was carried out, and whose answer was lost."""
    if transaction.state not in (State.COMPLETE_COMMIT, State.COMPLETE_ABORT):
        return False
    if transaction.client_version < EPOCH_BUMP_VERSION or transaction.producer_epoch == EPOCH_MAX:
        return False
    if request.producer_id == transaction.producer_id:
        return request.producer_epoch + 1 == transaction.producer_epoch
    return (
        request.producer_id == transaction.previous_producer_id
        and request.producer_epoch == LAST_CLIENT_EPOCH
        and transaction.producer_epoch == 0
    )


def _go_on(transaction: Transaction) -> EndTxnResponse:
    return EndTxnResponse(producer_id=transaction.producer_id, producer_epoch=transaction.producer_epoch)


def _prepare(committed: bool) -> State:
    return State.PREPARE_COMMIT if committed else State.PREPARE_ABORT


def _complete(committed: bool) -> State:
    return State.COMPLETE_COMMIT if committed else State.COMPLETE_ABORT


def _wrong_state(transaction: Transaction) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_TXN_STATE, f"The transaction is in state {transaction.state.label}.")
