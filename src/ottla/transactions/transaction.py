"""What the coordinator knows of one transactional id: who produces under it, and how far its transaction is.

A value, never changed in place: each method returns what would follow, a decision makes a record of that,
and only replaying the record puts it into the shard.

The producer's epoch goes up whenever a producer is fenced, and with clients of transaction version 2 at every
end of a transaction, so that nothing of an ended transaction can be taken for a part of the next (KIP-890).
Epochs end at 32767. That last one is for the coordinator alone, so that it can always fence; the producer
that has 32766 gets a new producer id instead of the next epoch.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from ottla.model.types import TopicPartition
from ottla.transactions.states import ENDING, State

EPOCH_MAX: Final = 32_767
LAST_CLIENT_EPOCH: Final = EPOCH_MAX - 1
"""The highest epoch that a producer is ever told."""

NO_ID: Final = -1
NO_EPOCH: Final = -1
NO_TIMEOUT_MS: Final = 2**31 - 1
"""The timeout of transactions in two phases: their end is somebody else's decision."""

NO_PARTITIONS: Final[Mapping[TopicPartition, None]] = MappingProxyType({})

EPOCH_BUMP_VERSION: Final = 2
"""The transaction version whose every end of a transaction raises the epoch."""


class Transaction(NamedTuple):
    transactional_id: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    state: State = State.EMPTY
    partitions: Mapping[TopicPartition, None] = NO_PARTITIONS
    """A set that keeps its order, so that two runs write the same bytes."""
    started_ms: int = -1
    updated_ms: int = -1
    client_version: int = 0
    """The transaction version (0 or 2) of whoever made the last change; markers are written by its rules."""
    previous_producer_id: int = NO_ID
    """Set by the change that gave the id a new producer id, gone with the next one: for retries."""
    next_producer_id: int = NO_ID
    """While a transaction is ending: the producer id that its producer goes on with, if its epochs are used
    up. The producer already knows it.
    """
    last_producer_epoch: int = NO_EPOCH
    """The epoch before the present one, where a retry with it is answered. In no record: it ends with the
    coordinator that gave the epoch out, as in Kafka.
    """

    @property
    def is_ending(self) -> bool:
        return self.state in ENDING

    @property
    def is_epoch_exhausted(self) -> bool:
        return self.producer_epoch >= LAST_CLIENT_EPOCH

    @property
    def times_out_ms(self) -> int | None:
        """The moment after which an open transaction is aborted."""
        if self.state is not State.ONGOING or self.timeout_ms == NO_TIMEOUT_MS:
            return None
        return self.started_ms + self.timeout_ms

    # --- what may follow ----------------------------------------------------------------------------------

    def initialized(
        self, producer_id: int, producer_epoch: int, last_epoch: int, timeout_ms: int, now_ms: int
    ) -> Transaction:
        """A producer has (again) been given the id."""
        is_new_id = producer_id != self.producer_id
        is_retry = (producer_id, producer_epoch) == (self.producer_id, self.producer_epoch)
        return self._replace(
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            last_producer_epoch=last_epoch,
            timeout_ms=timeout_ms,
            state=State.EMPTY,
            partitions=NO_PARTITIONS,
            started_ms=-1,
            updated_ms=now_ms,
            previous_producer_id=(
                self.producer_id if is_new_id else self.previous_producer_id if is_retry else NO_ID
            ),
        )

    def with_partitions(
        self, added: Collection[TopicPartition], client_version: int, now_ms: int
    ) -> Transaction:
        """The transaction has these partitions, too; the first ones begin it."""
        is_open = self.state is State.ONGOING
        partitions = dict(self.partitions) if is_open else {}
        partitions.update(dict.fromkeys(added))
        return self._replace(
            state=State.ONGOING,
            partitions=partitions,
            started_ms=self.started_ms if is_open else now_ms,
            updated_ms=now_ms,
            client_version=client_version,
            previous_producer_id=NO_ID,
        )

    def prepared(
        self,
        state: State,
        client_version: int,
        now_ms: int,
        *,
        producer_epoch: int,
        last_epoch: int,
        next_producer_id: int = NO_ID,
    ) -> Transaction:
        """The outcome is decided. A transaction in which nothing was open counts from now."""
        return self._replace(
            state=state,
            producer_epoch=producer_epoch,
            last_producer_epoch=last_epoch,
            next_producer_id=next_producer_id,
            started_ms=self.started_ms if self.state is State.ONGOING else now_ms,
            updated_ms=now_ms,
            client_version=client_version,
            previous_producer_id=NO_ID,
        )

    def completed(self, now_ms: int) -> Transaction:
        """Every marker is written. Where the epochs were used up, the new producer id takes over now; the
        last epoch stays the one that the producer saw.
        """
        rotates = self.next_producer_id != NO_ID
        return self._replace(
            state=State.COMPLETE_COMMIT if self.state is State.PREPARE_COMMIT else State.COMPLETE_ABORT,
            producer_id=self.next_producer_id if rotates else self.producer_id,
            producer_epoch=0 if rotates else self.producer_epoch,
            previous_producer_id=self.producer_id if rotates else NO_ID,
            next_producer_id=NO_ID,
            partitions=NO_PARTITIONS,
            updated_ms=now_ms,
        )
