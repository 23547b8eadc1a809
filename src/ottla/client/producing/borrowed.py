"""A transaction that another process owns, as one who only writes into it sees it.

Stands where `Transactions` stands for a producer with a transaction of its own. Producer id and epoch are
given; the owner has added the partitions (`shared_transaction.py`), so nothing is asked of a coordinator, and
Produce is sent in the last version in which brokers verify that. Sequences begin at 0 in every partition:
only one producer may write to a partition in one transaction.

Nothing can be put right here: a batch that failed, or may have been stored twice or not at all, cannot be
taken back by somebody who cannot abort. So the first failure is the end (`fail_for_good`), everything that is
not stored fails with it, and the owner has to abort.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.client.effects import ClientSteps
from ottla.client.errors import IllegalState, OttlaError, ProducerFenced, ServerError, TransactionFailed
from ottla.client.producing.lane import Lane
from ottla.client.producing.shared_transaction import TransactionHandle
from ottla.model.errors import ErrorCode

if TYPE_CHECKING:
    from ottla.client.producing.sender import Sender

_FENCED = frozenset({ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED})


class BorrowedTransaction:
    implicit_adds = False
    """Brokers are to verify that the owner has added a partition, not to add it."""

    def __init__(self, handle: TransactionHandle, sender: Sender) -> None:
        assert sender.identity is not None and sender.identity.transactional
        self._handle = handle
        self._sender = sender
        sender.identity.set_producer(*handle.producer)
        sender.identity.on_gap = self._gap

    # --- what the sender and the core ask -------------------------------------------------------------------

    @property
    def appendable(self) -> bool:
        return self._sender.fatal is None

    def check_append(self) -> None:
        """Nothing to say that the sender has not said."""

    def admits(self, lane: Lane) -> bool:
        return True

    def add_lane(self, lane: Lane) -> None:
        """The owner has added it."""

    def batch_failed(self, error: OttlaError) -> None:
        name = self._handle.transactional_id
        if isinstance(error, ServerError) and error.code in _FENCED:
            fenced = ProducerFenced(
                f"transactional id {name}: the transaction with epoch {self._handle.producer_epoch} is over"
            )
            fenced.__cause__ = error
            error = fenced
        self._sender.fail_for_good(error)

    def _gap(self, lane: Lane) -> None:
        self.batch_failed(
            TransactionFailed(f"{lane.tp}: records were not acknowledged in time and cannot be sent again")
        )

    # --- what only the owner can do -------------------------------------------------------------------------

    def owners(self) -> IllegalState:
        """Why a call that begins or ends something cannot be made here."""
        return IllegalState(
            f"transactional id {self._handle.transactional_id}: the transaction belongs to another process, "
            "which begins and ends it"
        )

    def close(self, deadline_ms: float) -> ClientSteps[None]:
        yield from ()

    def stop(self) -> None:
        """There are no tasks."""
