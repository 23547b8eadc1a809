"""A decided transaction, as the writer of its markers needs to know it."""

from __future__ import annotations

from typing import NamedTuple

from ottla.model.types import TopicPartition
from ottla.transactions.states import COMMITTED
from ottla.transactions.transaction import Transaction


class TxnToEnd(NamedTuple):
    """Work for `Outcome.then`: write one marker to each partition, then tell the shard (`marked`). A
    transaction without partitions has nothing to write; the shard is told at once.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    committed: bool
    partitions: tuple[TopicPartition, ...]
    transaction_version: int
    """Of the markers: from 2 on, their epoch is above that of the transaction's records (KIP-890)."""


def to_end(transaction: Transaction, coordinator_epoch: int) -> TxnToEnd:
    """`transaction` is in one of the Prepare states."""
    assert transaction.is_ending
    return TxnToEnd(
        transaction.transactional_id,
        transaction.producer_id,
        transaction.producer_epoch,
        coordinator_epoch,
        transaction.state in COMMITTED,
        tuple(transaction.partitions),
        transaction.client_version,
    )
