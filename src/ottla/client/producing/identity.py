"""Who an idempotent producer is, and which sequence each batch has (KIP-98, KIP-360).

The broker accepts a batch of (producer id, epoch) only as the next one of its partition, and answers a batch
that it already has without storing it again. So a batch keeps its number over all attempts, batches that have
to be sent again go one at a time and in order, and whatever leaves a gap for good (a batch that was given up,
state that the broker has lost) is answered with a new epoch, in which the partition begins at 0 again.

A partition of which nothing is acknowledged yet has one batch under way only: a broker without any state of
the producer accepts every sequence, so the second batch might get in before the first.

For transactions the same rules hold, except that the coordinator bumps the epoch: `transactions.py` sets
`on_gap`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ottla.client.errors import OttlaError, ServerError
from ottla.client.producing.batch import SEQUENCE_MASK, Batch
from ottla.client.producing.lane import NOBODY, NOTHING_ACKED, Lane
from ottla.model.errors import ErrorCode

BATCHES_REMEMBERED: Final = 5
"""Of each producer and partition a broker knows the last five batches, and tells a retry by them."""
EPOCH_MAX: Final = 32767


class Identity:
    def __init__(self, *, transactional: bool = False) -> None:
        self.producer: tuple[int, int] = NOBODY
        """Producer id and epoch."""
        self.transactional = transactional
        self.bump_required = False
        self.on_gap: Callable[[Lane], None] = self.request_bump
        """Told of a lane whose sequence has a gap that nothing will fill."""
        self._to_restart: dict[Lane, None] = {}
        self._unresolved: dict[Lane, None] = {}

    @property
    def known(self) -> bool:
        return self.producer[0] >= 0

    # --- sending --------------------------------------------------------------------------------------------

    def may_send(self, lane: Lane, head: Batch) -> bool:
        """Whether the head of a lane may leave now."""
        if self.producer[0] < 0:
            return False
        pending = lane.pending
        if not pending:
            return head.base_sequence >= 0 or not lane.unresolved
        if head.base_sequence >= 0:
            # It is sent again: only the earliest one, until it is done.
            return head is pending[0] and (lane.acked_sequence != NOTHING_ACKED or lane.flying == 0)
        if len(pending) >= BATCHES_REMEMBERED:
            # More would leave than the broker remembers, when the leader has changed and what went to the old
            # one is not answered: sent again, the first of them would not be known as stored.
            return False
        return lane.producer == self.producer and not lane.unresolved and lane.acked_sequence != NOTHING_ACKED

    def assign(self, lane: Lane, batch: Batch) -> None:
        """Gives a batch that leaves for the first time its number."""
        if lane.producer != self.producer:
            assert not lane.pending
            lane.restart(self.producer, transactional=self.transactional)
        sequence = lane.next_sequence
        batch.number(*self.producer, sequence, transactional=self.transactional)
        lane.next_sequence = (sequence + batch.count) & SEQUENCE_MASK

    # --- answers --------------------------------------------------------------------------------------------

    def stored(self, batch: Batch, base_offset: int) -> None:
        """The broker has the batch (which may have been given up here meanwhile)."""
        lane = batch.lane
        if lane.producer == (batch.producer_id, batch.producer_epoch):
            lane.acked(batch.last_sequence)
            if base_offset >= 0:
                lane.acked_offset = max(lane.acked_offset, base_offset + batch.count - 1)

    def can_retry(self, batch: Batch, error: OttlaError, log_start_offset: int) -> bool:
        """Whether the batch is to be sent again after this answer; may ask for a new epoch."""
        code = error.code if isinstance(error, ServerError) else None
        lane = batch.lane
        first = lane.pending[0] is batch
        """Only then nothing is before it that may be stored under its present number."""
        if code == ErrorCode.UNKNOWN_PRODUCER_ID:
            if log_start_offset == -1 or batch.sequence_reset:
                return True
            if lane.acked_offset < log_start_offset:
                # What the broker knew of us went with the log's old records: nothing is missing.
                if first and self.transactional:
                    lane.restart(self.producer, transactional=True)
                elif first:
                    self.request_bump(lane)
                return True
            if not self.transactional:
                if first:
                    self.request_bump(lane)
                return True
        elif code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
            unresolved = lane.unresolved
            if not unresolved and (batch.sequence_reset or not lane.is_next(batch.base_sequence)):
                # Something before it is to be sent again; or it was numbered anew while it was on its way.
                return True
            if not self.transactional:
                if first and (not unresolved or batch.base_sequence in unresolved):
                    self.request_bump(lane)
                return True
        return error.retriable

    def refused(self, batch: Batch, error: OttlaError) -> None:
        """A batch is not stored and will not be sent again; what follows takes its place. Nothing that left
        before it is pending: numbers may be taken only from what is surely not stored.
        """
        lane = batch.lane
        if isinstance(error, ServerError) and error.code == ErrorCode.UNKNOWN_PRODUCER_ID:
            lane.forget_sequences()
            self._unresolved.pop(lane, None)
        elif self.transactional:
            lane.close_gap(batch, transactional=True)
        else:
            self.request_bump(lane)

    def given_up(self, batch: Batch) -> None:
        """A batch that may have been stored will not be sent again (its time was up), or one that is not
        stored while others before it are still pending.
        """
        lane = batch.lane
        if lane.producer == (batch.producer_id, batch.producer_epoch):
            lane.unresolved.add((batch.last_sequence + 1) & SEQUENCE_MASK)
            self._unresolved[lane] = None

    # --- gaps -----------------------------------------------------------------------------------------------

    def resolve(self) -> list[Lane]:
        """The lanes of which it has become clear whether what was given up had arrived."""
        if not self._unresolved:
            return []
        resolved = [lane for lane in self._unresolved if not lane.pending]
        for lane in resolved:
            del self._unresolved[lane]
            lane.unresolved.clear()
            if not lane.is_next(lane.next_sequence):
                self.on_gap(lane)
        return resolved

    def forget_gaps(self) -> None:
        """The transaction has ended: what was in it is of no more concern."""
        for lane in self._unresolved:
            lane.unresolved.clear()
        self._unresolved.clear()
        self._to_restart.clear()

    def request_bump(self, lane: Lane) -> None:
        self.bump_required = True
        self._to_restart[lane] = None

    def bump(self) -> None:
        """A new epoch for an idempotent producer, which needs nobody's permission; past the last epoch, a
        new id has to be asked for.
        """
        producer_id, epoch = self.producer
        self.bump_required = False
        if not self.known:
            return  # the id that is being asked for restarts them all
        if epoch >= EPOCH_MAX:
            self.producer = NOBODY
        else:
            self.set_producer(producer_id, epoch + 1)

    def set_producer(self, producer_id: int, epoch: int) -> None:
        self.producer = (producer_id, epoch)
        lanes, self._to_restart = self._to_restart, {}
        for lane in lanes:
            lane.restart(self.producer, transactional=self.transactional)
            self._unresolved.pop(lane, None)
