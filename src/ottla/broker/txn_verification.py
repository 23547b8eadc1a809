"""Asking the transaction coordinator before the first batches of a transaction are appended (KIP-890).

A producer of the first generation has added its partitions before it writes, and is asked after
(`transaction.partition.verification.enable`); for one of the second (Produce 12) the question itself adds
them. Each partition gives a ticket first (`log/verification.py`), so that an answer which a marker has
overtaken opens nothing. Often the answer is there at once; when it is not, the append waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.log.verification import VERIFICATION_OFF, Verification
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.types import TopicPartition
from ottla.ports.effects import Steps
from ottla.replication.partition import Partition

if TYPE_CHECKING:
    from ottla.broker.node import Node

_ADDS_SINCE: Final = 12
"""The Produce version from which on the broker adds a transaction's partitions itself."""
_ABORTABLE_SINCE: Final = 11
"""The Produce version whose clients know TRANSACTION_ABORTABLE."""

_COORDINATOR_IS_AWAY: Final = frozenset(
    (
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    )
)


class TxnBatch(NamedTuple):
    producer_id: int
    epoch: int
    first_sequence: int


class TxnVerification:
    """The transactional batches of one request, which are all of one producer."""

    __slots__ = ("_node", "_transactional_id", "_version", "_batches", "_tickets", "_errors", "_is_off")

    def __init__(
        self, node: Node, transactional_id: str, version: int, batches: Mapping[Partition, TxnBatch]
    ) -> None:
        self._node = node
        self._transactional_id = transactional_id
        self._version = version
        """Of the Produce request."""
        self._batches = batches
        self._tickets: dict[Partition, Verification] = {}
        self._errors: dict[Partition, KafkaError] = {}
        self._is_off = version < _ADDS_SINCE and not node.settings.transactions.partition_verification

    def begin(self) -> Steps[None] | None:
        """Asks; None when the answer is there already. Otherwise it is when the steps have come to their
        end.
        """
        found = self._ask()
        if isinstance(found, dict):
            self._take(found)
            return None
        return self._await(found)

    def ticket_for(self, partition: Partition) -> Verification | None:
        """What an append to the partition has to show. Raises KafkaError when it may not be."""
        error = self._errors.get(partition)
        if error is not None:
            raise error
        if partition not in self._batches:
            raise KafkaError(ErrorCode.INVALID_TXN_STATE, "a transactional batch has to have a producer id")
        return VERIFICATION_OFF if self._is_off else self._tickets.get(partition)

    def _ask(self) -> dict[TopicPartition, ErrorCode] | Steps[dict[TopicPartition, ErrorCode]]:
        if self._is_off:
            return {}
        now_ms = self._node.clock.now_ms()
        bumps_epochs = self._version >= _ADDS_SINCE
        batch = None
        for partition, batch in self._batches.items():
            try:
                ticket = partition.begin_verification(*batch, bumps_epochs=bumps_epochs, now_ms=now_ms)
            except KafkaError as error:
                self._errors[partition] = error
            else:
                if ticket is not None:
                    self._tickets[partition] = ticket
        if not self._tickets or batch is None:
            return {}
        return self._node.transactions.verify(
            self._transactional_id,
            batch.producer_id,
            batch.epoch,
            [partition.tp for partition in self._tickets],
            add=bumps_epochs,
        )

    def _take(self, found: Mapping[TopicPartition, ErrorCode]) -> None:
        for partition, ticket in self._tickets.items():
            code = found.get(partition.tp, ErrorCode.NONE)
            if code != ErrorCode.NONE:
                self._errors[partition] = self._error_for_producer(code)
                if code == ErrorCode.INVALID_PRODUCER_ID_MAPPING:
                    # Not a producer of this transactional id, perhaps of none: anybody can invent those.
                    producer_id = self._batches[partition].producer_id
                    partition.log.producers.give_up_verification(producer_id, ticket)

    def _await(self, steps: Steps[dict[TopicPartition, ErrorCode]]) -> Steps[None]:
        found = yield from steps
        self._take(found)

    def _error_for_producer(self, code: ErrorCode) -> KafkaError:
        """The coordinator's errors in words that a producer of this version understands."""
        if code in _COORDINATOR_IS_AWAY or (
            code == ErrorCode.CONCURRENT_TRANSACTIONS and self._version < _ADDS_SINCE
        ):
            # Producers send again after it, and do not ask for metadata that would tell them nothing.
            return KafkaError(
                ErrorCode.NOT_ENOUGH_REPLICAS,
                f"the coordinator cannot say whether the partition is in the transaction: {code.name}",
            )
        if code == ErrorCode.PRODUCER_FENCED:
            return KafkaError(ErrorCode.INVALID_PRODUCER_EPOCH, "a newer producer has this transactional id")
        if code == ErrorCode.TRANSACTION_ABORTABLE and self._version < _ABORTABLE_SINCE:
            code = ErrorCode.INVALID_TXN_STATE
        if code == ErrorCode.INVALID_TXN_STATE:
            return KafkaError(code, "the partition was not added to the transaction")
        return KafkaError(code)
