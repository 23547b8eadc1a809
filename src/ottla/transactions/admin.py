"""What administrators ask of transactions (KIP-664): which there are, and what is in one; and what time asks:
that ids nobody uses are forgotten.

ListTransactions filters by state and producer id from version 0, by duration from 1 and by a pattern of the
transactional id from 2 (KIP-1152). The filters are read once for all shards of a broker.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final, NamedTuple

from ottla.coordination.outcome import Outcome
from ottla.coordination.regex import compile_regex
from ottla.model.errors import ErrorCode
from ottla.transactions.record import SCAN_BYTES_MAX, record_bytes_about
from ottla.transactions.registry import Registry
from ottla.transactions.states import BY_LABEL, State
from ottla.transactions.transaction import Transaction
from ottla.wire.messages import describe_transactions, list_transactions
from ottla.wire.messages.list_transactions import ListTransactionsRequest

LISTED_AT_ONCE: Final = 200
"""Transactions that a piece of a list looks at: a fraction of a millisecond."""


class Filters(NamedTuple):
    states: frozenset[State] | None
    """None lets everything pass; so with the others."""
    producer_ids: frozenset[int] | None
    duration_ms: int
    """Transactions that have lasted longer; below 0 everything passes."""
    pattern: Any
    """A compiled expression that the whole id has to match, or None."""

    def let_pass(self, transaction: Transaction, now_ms: int) -> bool:
        return (
            (self.producer_ids is None or transaction.producer_id in self.producer_ids)
            and (self.states is None or transaction.state in self.states)
            and (self.duration_ms < 0 or now_ms - transaction.started_ms > self.duration_ms)
            and (self.pattern is None or self.pattern.fullmatch(transaction.transactional_id) is not None)
        )


def read_filters(request: ListTransactionsRequest) -> tuple[Filters, list[str]]:
    """The filters, and the names of states that do not exist (they match nothing; the answer lists them).
    Raises INVALID_REGULAR_EXPRESSION.
    """
    names = dict.fromkeys(request.state_filters)
    pattern = request.transactional_id_pattern
    filters = Filters(
        states=frozenset(BY_LABEL[name] for name in names if name in BY_LABEL) if names else None,
        producer_ids=frozenset(request.producer_id_filters) if request.producer_id_filters else None,
        duration_ms=request.duration_filter,
        pattern=compile_regex(pattern, "Transaction ID pattern") if pattern else None,
    )
    return filters, [name for name in names if name not in BY_LABEL]


class TransactionAdmin:
    __slots__ = ("_registry",)

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def describe(self, transactional_id: str) -> describe_transactions.TransactionState:
        described = describe_transactions.TransactionState(transactional_id=transactional_id)
        transaction = self._registry.get(transactional_id)
        if not transactional_id:
            described.error_code = ErrorCode.INVALID_REQUEST
        elif transaction is None:
            described.error_code = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
        else:
            described.producer_id = transaction.producer_id
            described.producer_epoch = transaction.producer_epoch
            described.transaction_state = transaction.state.label
            described.transaction_timeout_ms = transaction.timeout_ms
            described.transaction_start_time_ms = transaction.started_ms
            topics: dict[str, list[int]] = {}
            for topic, partition in transaction.partitions:
                topics.setdefault(topic, []).append(partition)
            described.topics = [
                describe_transactions.TopicData(topic=topic, partitions=partitions)
                for topic, partitions in topics.items()
            ]
        return described

    def matching(self, filters: Filters) -> list[list_transactions.TransactionState]:
        return list(chain.from_iterable(self.matching_in_pieces(filters)))

    def matching_in_pieces(self, filters: Filters) -> Iterator[list[list_transactions.TransactionState]]:
        """As of now, also when transactions come and go between two pieces."""
        now_ms = self._registry.env.clock.now_ms()
        transactions = list(self._registry)
        for at in range(0, len(transactions), LISTED_AT_ONCE):
            yield [
                list_transactions.TransactionState(
                    transactional_id=transaction.transactional_id,
                    producer_id=transaction.producer_id,
                    transaction_state=transaction.state.label,
                )
                for transaction in transactions[at : at + LISTED_AT_ONCE]
                if filters.let_pass(transaction, now_ms)
            ]

    def expire_ids(self, limit: int) -> tuple[Outcome, bool]:
        env = self._registry.env
        idle_since_ms = env.clock.now_ms() - env.settings.id_expiration_ms
        expired, more = self._registry.idle.due(idle_since_ms + 1, limit)
        outcome = Outcome()
        room_bytes = SCAN_BYTES_MAX
        for transactional_id in expired:
            transaction = self._registry.get(transactional_id)
            assert transaction is not None
            room_bytes -= record_bytes_about(transaction)
            if room_bytes < 0 and outcome.records:
                return outcome, True
            self._registry.forget(outcome, transactional_id)
        return outcome, more
