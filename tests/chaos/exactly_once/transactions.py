"""A transactional producer of librdkafka, with its errors handled as its documentation demands.

Every call of the transaction may fail in one of three ways: retriable (make the same call again), in need of
an abort (abort, then do the work again in a new transaction), or fatal (this producer instance is over: it
was fenced, or the broker and it disagree). The first is dealt with here; the other two are exceptions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer

from chaos.exactly_once.ledger import Ledger

CALL_TIMEOUT_S = 5.0


class NeedsAbort(Exception):
    """The transaction can only be aborted."""


class Fatal(Exception):
    """The client instance can only be thrown away."""


def reason_of(error: KafkaError) -> str:
    return f"{error.name()}: {error.str()}"


class TransactionalProducer:
    def __init__(self, ledger: Ledger) -> None:
        order, self._ledger = ledger.order, ledger
        self._producer = Producer(
            {
                "bootstrap.servers": order["bootstrap"],
                "client.id": order["transactional_id"],
                "transactional.id": order["transactional_id"],
                "transaction.timeout.ms": order["timeout_ms"],
                "linger.ms": 5,
                "reconnect.backoff.ms": 20,
                "reconnect.backoff.max.ms": 300,
                "retry.backoff.ms": 50,
                # librdkafka forgets its brokers when it bootstraps again; send_offsets_to_transaction may
                # then wait for ever for a group coordinator that it has forgotten (its issues 5456, 5511).
                "metadata.recovery.strategy": "none",
                "log_level": 4,
            }
        )
        self._retrying(self._producer.init_transactions)

    def begin(self) -> None:
        self._retrying(lambda _: self._producer.begin_transaction())

    def produce(
        self, topic: str, partition: int, key: str, value: str, headers: list[tuple[str, str | bytes | None]]
    ) -> None:
        while True:
            try:
                self._producer.produce(
                    topic, partition=partition, key=key.encode(), value=value.encode(), headers=headers
                )
                return
            except BufferError:
                self._producer.poll(0.05)
            except KafkaException as error:
                # A transaction that has already failed takes no more records, and says no more than that.
                inner: KafkaError = error.args[0]
                raise (Fatal if inner.fatal() else NeedsAbort)(reason_of(inner)) from None

    def serve(self) -> None:
        self._producer.poll(0)

    def flush(self) -> None:
        self._producer.flush(CALL_TIMEOUT_S)

    def send_offsets(self, offsets: list[Any], group_metadata: Any) -> None:
        self._retrying(
            lambda timeout_s: self._producer.send_offsets_to_transaction(offsets, group_metadata, timeout_s)
        )

    def commit(self) -> None:
        self._retrying(self._producer.commit_transaction)

    def abort(self) -> None:
        self._retrying(self._producer.abort_transaction)

    def _retrying(self, call: Callable[[float], Any]) -> None:
        while True:
            try:
                call(CALL_TIMEOUT_S)
                return
            except KafkaException as error:
                inner: KafkaError = error.args[0]
                if inner.retriable():
                    self._ledger.tell("retrying", reason_of(inner))
                    continue
                if inner.txn_requires_abort():
                    raise NeedsAbort(reason_of(inner)) from None
                raise Fatal(reason_of(inner)) from None
