"""One partition as a producer sees it: the line of its batches, who leads it, and where its sequence stands.

`queue` holds what is to be sent: batches that have to be sent again first, in their order, then those that
never left, of which the last may still be open. `pending` holds, in the order of their sequences, all that
left at least once and are not done: those on their way and those that wait to be sent again.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from ottla.client.producing.batch import SEQUENCE_MASK, Batch, Later
from ottla.client.view import NO_LEADER
from ottla.model.types import TopicPartition

NOBODY: Final = (-1, -1)
"""As producer id and epoch: none."""

NOTHING_ACKED: Final = -1

RATIO_BETTER_STEP: Final = 0.005
RATIO_WORSE_STEP: Final = 0.05
RATIO_MARGIN: Final = 1.05
"""Kafka's estimate of what compression saves: slow to hope, quick to doubt."""


class Lane:
    __slots__ = (
        "tp",
        "later",
        "open",
        "queue",
        "pending",
        "flying",
        "listed_at",
        "leader",
        "leader_epoch",
        "ratio",
        "limit_bytes",
        "used_ms",
        "producer",
        "next_sequence",
        "acked_sequence",
        "acked_offset",
        "unresolved",
    )

    def __init__(self, tp: TopicPartition, later: Later, limit_bytes: int) -> None:
        self.tp = tp
        self.later = later
        self.open: Batch | None = None
        """The last of the queue, while it takes records."""
        self.queue: deque[Batch] = deque()
        self.pending: list[Batch] = []
        self.flying = 0
        """How many of its batches are in requests that were not answered yet."""
        self.listed_at: int | None = None
        """The node in whose line of ready lanes it stands."""
        self.leader = NO_LEADER
        self.leader_epoch = -1
        self.ratio = 1.0
        self.limit_bytes = limit_bytes
        """A batch is full at this size before compression."""
        self.used_ms = float("-inf")
        """When metadata was last told that the topic is in use."""
        self.producer: tuple[int, int] = NOBODY
        """The producer id and epoch under which its batches are numbered."""
        self.next_sequence = 0
        self.acked_sequence = NOTHING_ACKED
        self.acked_offset = -1
        self.unresolved: set[int] = set()
        """The sequences that follow batches which were given up and may have been stored: nothing new is
        numbered until it is known whether what was sent after them arrived."""

    def __repr__(self) -> str:
        return f"Lane({self.tp}, {len(self.queue)} queued, {len(self.pending)} pending)"

    def requeue(self, batch: Batch) -> None:
        """Puts a batch that has to be sent again before all that left after it."""
        rank = {id(pending): i for i, pending in enumerate(self.pending)}
        own = rank[id(batch)]
        at = 0
        for queued in self.queue:
            if rank.get(id(queued), len(rank)) > own:
                break
            at += 1
        self.queue.insert(at, batch)

    def replace(self, batch: Batch, parts: list[Batch]) -> None:
        """Two batches in the place of one that is no longer on its way; they are not in the queue yet."""
        at = self.pending.index(batch)
        self.pending[at : at + 1] = parts

    def discard(self, batch: Batch) -> None:
        """Takes a batch out of the line, wherever it is."""
        if batch in self.pending:
            self.pending.remove(batch)
        if batch in self.queue:
            self.queue.remove(batch)
        if self.open is batch:
            self.open = None

    # --- sequences ------------------------------------------------------------------------------------------

    def restart(self, producer: tuple[int, int], *, transactional: bool) -> None:
        """Numbers what is pending from 0 on, under another id or epoch."""
        sequence = 0
        for batch in self.pending:
            batch.number(*producer, sequence, transactional=transactional)
            sequence = (sequence + batch.count) & SEQUENCE_MASK
        self.producer = producer
        self.next_sequence = sequence
        self.acked_sequence = NOTHING_ACKED
        self.unresolved.clear()

    def forget_sequences(self) -> None:
        """As if nothing had ever been sent: the next batch is number 0 of whoever the producer is then."""
        self.producer = NOBODY
        self.next_sequence = 0
        self.acked_sequence = NOTHING_ACKED
        self.acked_offset = -1
        self.unresolved.clear()

    def close_gap(self, failed: Batch, *, transactional: bool) -> None:
        """Moves up what follows a batch that the broker has refused for good."""
        if self.producer != (failed.producer_id, failed.producer_epoch):
            return
        self.next_sequence = (self.next_sequence - failed.count) & SEQUENCE_MASK
        for batch in self.pending:
            if sequence_distance(failed.base_sequence, batch.base_sequence) >= 0:
                sequence = (batch.base_sequence - failed.count) & SEQUENCE_MASK
                batch.number(*self.producer, sequence, transactional=transactional)

    def acked(self, last_sequence: int) -> None:
        if self.acked_sequence == NOTHING_ACKED or sequence_distance(self.acked_sequence, last_sequence) > 0:
            self.acked_sequence = last_sequence

    def is_next(self, sequence: int) -> bool:
        """Whether the sequence is the one right after the last that was acknowledged."""
        return sequence == (self.acked_sequence + 1) & SEQUENCE_MASK

    # --- sizes ----------------------------------------------------------------------------------------------

    def observe_ratio(self, ratio: float, batch_size: int, limit_bytes_max: int) -> None:
        """Learns from a batch how well the partition's records compress."""
        if ratio > self.ratio:
            self.ratio = max(self.ratio + RATIO_WORSE_STEP, ratio)
        else:
            self.ratio = max(self.ratio - RATIO_BETTER_STEP, ratio)
        self.limit_bytes = min(int(batch_size / (self.ratio * RATIO_MARGIN)), limit_bytes_max)


def sequence_distance(earlier: int, later: int) -> int:
    """How far one sequence is after another, over the wrap; negative when it is before it."""
    distance = (later - earlier) & SEQUENCE_MASK
    return distance if distance <= SEQUENCE_MASK >> 1 else distance - SEQUENCE_MASK - 1
