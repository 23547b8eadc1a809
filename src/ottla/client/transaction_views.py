"""What is known of transactions, as plain values: listings, descriptions, the producers of a partition."""

from __future__ import annotations

from typing import NamedTuple

from ottla.client.view import Address
from ottla.model.types import TopicPartition

STATES = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "PrepareEpochFence",
    "Dead",
)
"""Every state that a transaction's coordinator knows, as Kafka writes them."""

OPEN_STATES = ("Ongoing", "PrepareCommit", "PrepareAbort")
"""Those in which some partition still waits for the transaction's end."""


class TransactionListing(NamedTuple):
    transactional_id: str
    coordinator_id: int
    producer_id: int
    state: str


class TransactionDescription(NamedTuple):
    transactional_id: str
    coordinator_id: int
    coordinator: Address | None
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_time_ms: int | None
    """Of the last transaction, which may have ended; None where there was none."""
    partitions: tuple[TopicPartition, ...]
    """Those written to; once it is decided, those that still wait for their marker."""

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_STATES


class ProducerState(NamedTuple):
    """What a partition's leader remembers of a producer that has written to it lately."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp_ms: int
    coordinator_epoch: int | None
    """Of the last marker; None where none has been written yet."""
    txn_start_offset: int | None
    """Where the transaction that is open here begins; None when none is."""


class OpenTransaction(NamedTuple):
    topic_partition: TopicPartition
    producer: ProducerState


class TransactionToAbort(NamedTuple):
    """Enough to write the marker that ends a transaction in one partition (KIP-664)."""

    topic_partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int

    @classmethod
    def of(cls, topic_partition: TopicPartition, producer: ProducerState) -> TransactionToAbort:
        # Without a marker so far there is no epoch to name: 0 is not above any that a coordinator can have.
        return cls(
            topic_partition, producer.producer_id, producer.producer_epoch, producer.coordinator_epoch or 0
        )


class FencedProducer(NamedTuple):
    """What a transactional id has after its producers were fenced."""

    producer_id: int
    producer_epoch: int
