"""A question to the transaction coordinator that is under way: does this partition belong to the producer's
transaction? (KIP-890)

It is asked before the first batch of a transaction is appended, because a batch outside of one would never
get a marker and would hold the last stable offset back for ever. The object is the question's own ticket:
the append has to show it, and a marker takes it away. So an answer that was given before the transaction
ended, and arrives after it, opens nothing.

Batches that are refused for a moment come again, and later ones may come before them: a producer that is
not known here would be accepted with any of them. So the lowest sequence that was asked for is remembered,
and nothing above it may be the first.
"""

from __future__ import annotations

from typing import Final

from ottla.model.errors import ErrorCode, KafkaError


class Verification:
    __slots__ = ("epoch", "lowest_sequence", "bumps_epochs", "begun_ms")

    def __init__(self, epoch: int, sequence: int, *, bumps_epochs: bool, now_ms: int) -> None:
        self.epoch = epoch
        self.lowest_sequence = sequence
        self.bumps_epochs = bumps_epochs
        """A transaction of the second generation: every one has an epoch of its own."""
        self.begun_ms = now_ms

    def __repr__(self) -> str:
        return f"Verification(epoch={self.epoch}, lowest_sequence={self.lowest_sequence})"

    def asked_again(self, epoch: int, sequence: int) -> None:
        if epoch == self.epoch:
            self.lowest_sequence = min(self.lowest_sequence, sequence)
        elif epoch > self.epoch:
            self.epoch = epoch
            self.lowest_sequence = sequence

    def check_sequence(self, producer_id: int, first_sequence: int, *, is_known: bool) -> None:
        """Whether a batch may be the first of its transaction here; `is_known` says that the producer has
        batches of its present epoch in this partition.
        """
        if first_sequence != 0 and self.bumps_epochs and not is_known:
            raise KafkaError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"the first batch of epoch {self.epoch} of producer {producer_id} has sequence "
                f"{first_sequence} instead of 0",
            )
        if not is_known and first_sequence > self.lowest_sequence:
            raise KafkaError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"sequence {first_sequence} of producer {producer_id} comes before "
                f"{self.lowest_sequence}, which was seen and not appended",
            )


VERIFICATION_OFF: Final = Verification(-1, 0, bumps_epochs=False, now_ms=0)
"""What an append shows where `transaction.partition.verification.enable` is false."""
