"""AddPartitionsToTxn and AddOffsetsToTxn: which partitions are part of an open transaction.

The first ones open it. `verify` is the question of a partition's leader that is about to append a
transactional batch (KIP-890): is the partition in?
"""

from __future__ import annotations

from collections.abc import Collection

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.types import TopicPartition
from ottla.transactions.registry import Registry
from ottla.transactions.states import State
from ottla.transactions.transaction import EPOCH_MAX, Transaction


class Memberships:
    __slots__ = ("_registry",)

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def add(
        self,
        transactional_id: str,
        producer_id: int,
        epoch: int,
        partitions: Collection[TopicPartition],
        client_version: int,
        promise: Promise[dict[TopicPartition, ErrorCode]],
    ) -> Outcome:
        transaction = self._find(transactional_id)
        if transaction.is_ending:
            # Asked first: the producer may already use the producer id that takes over at the end.
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
        _check_producer(transaction, producer_id, epoch)
        outcome = Outcome()
        is_open = transaction.state is State.ONGOING
        if not is_open or any(partition not in transaction.partitions for partition in partitions):
            env = self._registry.env
            after = transaction.with_partitions(partitions, client_version, env.clock.now_ms())
            self._registry.change(outcome, after)
        outcome.answer(promise, dict.fromkeys(partitions, ErrorCode.NONE))
        return outcome

    def verify(
        self,
        transactional_id: str,
        producer_id: int,
        epoch: int,
        partitions: Collection[TopicPartition],
        promise: Promise[dict[TopicPartition, ErrorCode]],
    ) -> Outcome:
        transaction = self._find(transactional_id)
        _check_producer(transaction, producer_id, epoch)
        if transaction.is_ending:
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
        members = transaction.partitions
        outcome = Outcome()
        outcome.answer(
            promise,
            {
                each: ErrorCode.NONE if each in members else ErrorCode.TRANSACTION_ABORTABLE
                for each in partitions
            },
        )
        return outcome

    def _find(self, transactional_id: str) -> Transaction:
        if not transactional_id:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "A transactional id is never empty.")
        transaction = self._registry.get(transactional_id)
        if transaction is None:
            raise KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        return transaction


def _check_producer(transaction: Transaction, producer_id: int, epoch: int) -> None:
    if producer_id != transaction.producer_id:
        raise KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if epoch != transaction.producer_epoch or epoch == EPOCH_MAX:  # nobody was given the last one
        raise KafkaError(ErrorCode.PRODUCER_FENCED)
