"""The record of a transactional id in `__transaction_state`, written and read.

The bytes are Kafka 4.2's: version 0 of the value until `transaction.version` 1 is finalized, then version 1,
with the client's transaction version as a tagged field. Kafka 4.2 has fields for the previous and the next
producer id too and reads them, but never writes them: a producer whose epochs are used up at the moment of a
fail-over is lost there. Here they are written in just that case, when the producer id changes.
"""

from __future__ import annotations

from typing import Final

from ottla.coordination.record import CoordinatorRecord, decode_typed
from ottla.model.types import TopicPartition
from ottla.transactions.states import LOGGED, State
from ottla.transactions.transaction import NO_EPOCH, NO_ID, NO_PARTITIONS, Transaction
from ottla.wire.messages.transaction_state import (
    KEY_TYPES,
    VALUE_TYPES,
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)
from ottla.wire.primitives import Buffer, DecodeError

FIRST_FLEXIBLE_TRANSACTION_VERSION: Final = 1

SCAN_BYTES_MAX: Final = 64 * 1024
"""Of the records that a look at the clock decides at once: they are one batch, which `max.message.bytes`
would refuse for ever if it were too large. One record alone may have more.
"""


class DecidedValue(TransactionLogValue):
    """A value that was just decided. It takes along, to the replay, what the log does not hold."""

    __slots__ = ("last_producer_epoch",)

    last_producer_epoch: int


def decode_record(key: Buffer, value: Buffer | None) -> CoordinatorRecord | None:
    """As `decode_typed`, with the types of this topic."""
    return decode_typed(KEY_TYPES, VALUE_TYPES, key, value)


def transaction_record(transaction: Transaction, transaction_version: int) -> CoordinatorRecord:
    version = 1 if transaction_version >= FIRST_FLEXIBLE_TRANSACTION_VERSION else 0
    value = DecidedValue(
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=transaction.state.number,
        transaction_partitions=None if transaction.state is State.EMPTY else _by_topic(transaction),
        transaction_last_update_timestamp_ms=transaction.updated_ms,
        transaction_start_timestamp_ms=transaction.started_ms,
    )
    if version > 0:
        # Version 0 has no room for these; what it cannot hold is not in memory either, see `replay`.
        value.client_transaction_version = transaction.client_version
        value.previous_producer_id = transaction.previous_producer_id
        value.next_producer_id = transaction.next_producer_id
    value.last_producer_epoch = transaction.last_producer_epoch
    return CoordinatorRecord(_key(transaction.transactional_id), value, version)


def record_bytes_about(transaction: Transaction) -> int:
    """Not less than its record has."""
    names = sum(len(topic) + 12 for topic, _ in transaction.partitions)
    return 100 + 3 * len(transaction.transactional_id) + names


def tombstone(transactional_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(_key(transactional_id), None)


def transaction_of(transactional_id: str, value: TransactionLogValue) -> Transaction:
    """What a record says. Raises DecodeError for one that no coordinator can have written."""
    state = LOGGED.get(value.transaction_status)
    if state is None:
        raise DecodeError(f"a transaction cannot be in state {value.transaction_status} in the log")
    if value.producer_id < 0 or value.producer_epoch < 0:
        raise DecodeError(f"producer {value.producer_id} with epoch {value.producer_epoch} cannot exist")
    partitions = NO_PARTITIONS
    if value.transaction_partitions and state is not State.EMPTY:
        partitions = {
            TopicPartition(topic.topic, partition): None
            for topic in value.transaction_partitions
            for partition in topic.partition_ids
        }
    return Transaction(
        transactional_id,
        value.producer_id,
        value.producer_epoch,
        value.transaction_timeout_ms,
        state,
        partitions,
        value.transaction_start_timestamp_ms,
        value.transaction_last_update_timestamp_ms,
        value.client_transaction_version,
        value.previous_producer_id if value.previous_producer_id != value.producer_id else NO_ID,
        value.next_producer_id,
        value.last_producer_epoch if isinstance(value, DecidedValue) else NO_EPOCH,
    )


def _key(transactional_id: str) -> TransactionLogKey:
    return TransactionLogKey(transactional_id=transactional_id)


def _by_topic(transaction: Transaction) -> list[PartitionsSchema]:
    topics: dict[str, list[int]] = {}
    for topic, partition in transaction.partitions:
        topics.setdefault(topic, []).append(partition)
    return [PartitionsSchema(topic=topic, partition_ids=ids) for topic, ids in topics.items()]
