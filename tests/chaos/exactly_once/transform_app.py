"""The application of an exactly-once run on confluent-kafka: consumes, transforms, produces, in transactions.

    python -m chaos.exactly_once.transform_app '{"name": …, "bootstrap": …, "transactional_id": …, …}'

It reads `input` as a member of a group, read_committed, and writes what it makes of it to `output` together
with the offsets it has read, in one transaction of a random size. A share of the transactions is aborted on
purpose, at different points, and done again with the records at hand. Records of a partition that is taken
away are dropped: the next owner has them from the committed offset. The group's metadata is taken right after
the last poll, so that it speaks of the generation in which the records were polled. `TransformApp.java` does
the same on Kafka's own clients, which rewind the consumer instead.
"""

from __future__ import annotations

import random
import time
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from chaos.exactly_once.ledger import FATAL_EXIT, Ledger
from chaos.exactly_once.records import (
    DOOMED,
    GROUP,
    INPUT,
    OUTPUT,
    SOURCE,
    TRANSACTION,
    output_partition_of,
    source_of,
    transform,
)
from chaos.exactly_once.transactions import Fatal, NeedsAbort, TransactionalProducer, reason_of

LINGER_S = 0.05
"""How long a transaction waits for more records after its first."""
AFTER_ERROR_S = 0.05


def consumer_of(order: dict[str, Any]) -> Consumer:
    config: dict[str, Any] = {
        "bootstrap.servers": order["bootstrap"],
        "client.id": order["name"],
        "group.id": GROUP,
        "group.protocol": order["protocol"],
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
        "fetch.wait.max.ms": 100,
        "reconnect.backoff.ms": 20,
        "reconnect.backoff.max.ms": 300,
        "topic.metadata.refresh.interval.ms": 1000,
        "log_level": 4,
    }
    if order.get("instance_id"):
        config["group.instance.id"] = order["instance_id"]
    if order["protocol"] == "classic":
        config["partition.assignment.strategy"] = order["assignor"]
        config["session.timeout.ms"] = order["session_ms"]
        config["heartbeat.interval.ms"] = order["heartbeat_ms"]
    return Consumer(config)


class TransformApp:
    def __init__(self, ledger: Ledger) -> None:
        order = ledger.order
        self._ledger, self._name = ledger, order["name"]
        self._chance = random.Random(order["seed"])
        self._records_max, self._abort_share = order["records_max"], order["abort_share"]
        self._batch: list[Message] = []
        self._count = 0
        self._producer = TransactionalProducer(ledger)
        ledger.tell("ready")
        self._consumer = consumer_of(order)
        callbacks: dict[str, Any] = {
            "on_assign": lambda _, partitions: ledger.tell("assigned", numbers(partitions)),
            "on_revoke": lambda _, partitions: self._gone("revoked", partitions),
            "on_lost": lambda _, partitions: self._gone("lost", partitions),
        }
        self._consumer.subscribe([INPUT], **callbacks)

    def _gone(self, kind: str, partitions: list[TopicPartition]) -> None:
        gone = numbers(partitions)
        self._batch = [message for message in self._batch if message.partition() not in gone]
        self._ledger.tell(kind, gone)

    def run(self) -> None:
        while not self._ledger.stopping:
            self._collect()
            if self._batch:
                self._transact()
        self._consumer.close()

    def _collect(self) -> None:
        """Polls until there is a transaction's worth of records, or no more for a moment. Polls at least
        once, even with records at hand: this is where the group speaks.
        """
        wanted = self._chance.randint(1, self._records_max)
        until_s = 0.0
        self._take(self._consumer.poll(0 if self._batch else 0.1))
        while 0 < len(self._batch) < wanted:
            until_s = until_s or time.monotonic() + LINGER_S
            left_s = until_s - time.monotonic()
            if left_s <= 0:
                break
            self._take(self._consumer.poll(left_s))

    def _take(self, message: Message | None) -> None:
        if message is None:
            return
        error = message.error()
        if error is None:
            self._batch.append(message)
        elif error.fatal():
            raise Fatal(reason_of(error))

    def _transact(self) -> None:
        metadata = self._consumer.consumer_group_metadata()
        self._count += 1
        transaction = f"{self._name}/{self._count}"
        doomed = self._chance.random() < self._abort_share
        try:
            self._producer.begin()
            self._write(transaction, metadata, doomed=doomed)
            self._ledger.tell("ending", [transaction, len(self._batch), "abort" if doomed else "commit"])
            if doomed:
                self._producer.abort()
                self._ledger.tell("aborted", [transaction, "on purpose"])
            else:
                self._producer.commit()
                self._ledger.tell("committed", [transaction, len(self._batch)])
                self._batch.clear()
        except NeedsAbort as error:
            self._producer.abort()
            self._ledger.tell("aborted", [transaction, str(error)])
            time.sleep(AFTER_ERROR_S)

    def _write(self, transaction: str, metadata: Any, *, doomed: bool) -> None:
        next_offsets: dict[int, int] = {}
        for message in self._batch:
            partition, offset = message.partition(), message.offset()
            assert partition is not None and offset is not None
            key, value = (message.key() or b"").decode(), (message.value() or b"").decode()
            headers: list[tuple[str, str | bytes | None]] = [
                (SOURCE, source_of(partition, offset).encode()),
                (TRANSACTION, transaction.encode()),
            ]
            self._producer.produce(
                OUTPUT,
                output_partition_of(key),
                key,
                transform(value),
                headers + [(DOOMED, b"1")] * doomed,
            )
            next_offsets[partition] = offset + 1
        if doomed:
            # Otherwise the abort would find records still in the client, and throw them away there.
            self._producer.flush()
            if self._chance.random() < 0.5:
                return
        offsets = [TopicPartition(INPUT, partition, offset) for partition, offset in next_offsets.items()]
        self._producer.send_offsets(offsets, metadata)


def numbers(partitions: list[TopicPartition]) -> list[int]:
    return sorted(each.partition for each in partitions)


def main() -> None:
    ledger = Ledger()
    try:
        TransformApp(ledger).run()
    except (Fatal, NeedsAbort) as error:
        ledger.tell("fatal", str(error))
        raise SystemExit(FATAL_EXIT) from None
    except KafkaException as error:
        ledger.tell("fatal", reason_of(error.args[0]))
        raise SystemExit(FATAL_EXIT) from None
    ledger.tell("closed")


if __name__ == "__main__":
    main()
