"""Writes the numbered records of some input partitions, at a pace, and goes on where a killed loader stopped.

    python -m chaos.exactly_once.loader '{"name": …, "bootstrap": …, "partitions": [0, 1], "records": 200000,
        "rate": 300, "transactional_id": null, "timeout_ms": 10000, "abort_share": 0.1, "seed": 1}'

Without a transactional id the producer is idempotent: within its life no record is lost or doubled, and each
partition holds a prefix of what it has to hold; a resumed loader reads the last record of each partition and
goes on behind it. (That everything a dead loader had sent has arrived by then is the driver's business.) With
a transactional id the new life fences the old one and its open transaction is aborted, and some transactions
are aborted on purpose: then the input, too, has records that nobody may see.

The pace knows no debts: what an outage has cost is not made up for, so that loading spans all that is done to
it.
"""

from __future__ import annotations

import random
import time
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from chaos.exactly_once.ledger import FATAL_EXIT, Ledger
from chaos.exactly_once.records import DOOMED, INPUT, PARTITIONS, TRANSACTION, key_of, number_in, value_of
from chaos.exactly_once.transactions import Fatal, NeedsAbort, TransactionalProducer, reason_of

TELL_EVERY_S = 0.1
LOOK_BACK = 2_000
QUERY_TIMEOUT_S = 5.0
BURST_S = 1.0
TRANSACTION_S = 0.1
"""Between the beginnings of two transactions, where the loader has a pace."""
TURN_RECORDS_MAX = 1_000
"""Records of one turn at most: a transaction, where the loader has them."""


def next_number(bootstrap: str, partition: int) -> int:
    """The first number that is not in the partition yet, going by its last committed record."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "loader-unused",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "reconnect.backoff.max.ms": 300,
            "log_level": 4,
        }
    )
    try:
        while True:
            try:
                low, high = consumer.get_watermark_offsets(
                    TopicPartition(INPUT, partition), timeout=QUERY_TIMEOUT_S
                )
                break
            except KafkaException as error:
                if error.args[0].fatal():
                    raise
        back = LOOK_BACK
        while True:
            start = max(low, high - back)
            consumer.assign([TopicPartition(INPUT, partition, start)])
            last = _last_number(consumer)
            if last is not None:
                return last + PARTITIONS
            if start == low:
                return partition
            back *= 4
    finally:
        consumer.close()


def _last_number(consumer: Consumer) -> int | None:
    last = None
    while True:
        message = consumer.poll(QUERY_TIMEOUT_S)
        if message is None:
            continue
        error = message.error()
        if error is None:
            last = number_in((message.value() or b"").decode())
            assert last is not None
        elif error.code() == KafkaError._PARTITION_EOF:
            return last
        elif error.fatal():
            raise KafkaException(error)


class Pace:
    """Which of the loader's numbers are due."""

    def __init__(self, order: dict[str, Any], next_numbers: list[int]) -> None:
        self.records: int = order["records"]
        self.next = dict(zip(order["partitions"], next_numbers, strict=True))
        self._rate: float | None = order["rate"]
        self._allowed, self._at_s = 0.0, time.monotonic()

    def due(self) -> list[tuple[int, int]]:
        """Partition and number of each, interleaved. Whoever sends them says so with `sent`."""
        if self._rate is not None:
            now_s = time.monotonic()
            self._allowed = min(self._allowed + (now_s - self._at_s) * self._rate, self._rate * BURST_S)
            self._at_s = now_s
        allowed = TURN_RECORDS_MAX if self._rate is None else min(int(self._allowed), TURN_RECORDS_MAX)
        ahead = dict(self.next)
        found: list[tuple[int, int]] = []
        while len(found) < allowed:
            partition = min(ahead, key=lambda each: ahead[each])
            if ahead[partition] >= self.records:
                break
            found.append((partition, ahead[partition]))
            ahead[partition] += PARTITIONS
        return found

    def sent(self, partition: int, number: int) -> None:
        self.next[partition] = number + PARTITIONS
        self._allowed -= 1

    def loaded(self) -> int:
        """Records that lie before the next ones."""
        return sum(
            len(range(partition, min(number, self.records), PARTITIONS))
            for partition, number in self.next.items()
        )

    @property
    def over(self) -> bool:
        return all(number >= self.records for number in self.next.values())


class Progress:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._told_at_s, self._told = ledger, 0.0, -1

    def tell(self, loaded: int, *, now: bool = False) -> None:
        if loaded != self._told and (now or time.monotonic() - self._told_at_s >= TELL_EVERY_S):
            self._told_at_s, self._told = time.monotonic(), loaded
            self._ledger.tell("loaded", loaded)


def load_idempotently(ledger: Ledger) -> None:
    order = ledger.order
    pace = Pace(order, [next_number(order["bootstrap"], partition) for partition in order["partitions"]])
    ledger.tell("ready", pace.next)
    progress, failed = Progress(ledger), []
    acknowledged = pace.loaded()
    producer = Producer(
        {
            "bootstrap.servers": order["bootstrap"],
            "client.id": order["name"],
            "enable.idempotence": True,
            "linger.ms": 5,
            "message.timeout.ms": 600_000,
            "reconnect.backoff.ms": 20,
            "reconnect.backoff.max.ms": 300,
            "retry.backoff.ms": 50,
            "log_level": 4,
        }
    )

    def delivered(error: KafkaError | None, _: Any) -> None:
        nonlocal acknowledged
        if error is None:
            acknowledged += 1
        else:
            failed.append(reason_of(error))

    while (not pace.over or len(producer)) and not ledger.stopping:
        for partition, number in pace.due():
            try:
                producer.produce(
                    INPUT,
                    partition=partition,
                    key=key_of(number).encode(),
                    value=value_of(number).encode(),
                    on_delivery=delivered,
                )
            except BufferError:
                break
            pace.sent(partition, number)
        producer.poll(0.01)
        progress.tell(acknowledged)
        if failed:
            # A gap in the order must not be filled later: the next life looks what is there.
            raise Fatal(failed[0])
    progress.tell(acknowledged, now=True)


def load_in_transactions(ledger: Ledger) -> None:
    order, chance = ledger.order, random.Random(ledger.order["seed"])
    producer = TransactionalProducer(ledger)
    # Only now can nobody else add to the partitions, and what was open is aborted.
    pace = Pace(order, [next_number(order["bootstrap"], partition) for partition in order["partitions"]])
    ledger.tell("ready", pace.next)
    progress, count, next_at_s = Progress(ledger), 0, 0.0
    while not pace.over and not ledger.stopping:
        due = pace.due()
        if not due or time.monotonic() < next_at_s:
            producer.serve()
            time.sleep(0.01)
            continue
        next_at_s = time.monotonic() + (TRANSACTION_S if order["rate"] else 0)
        count += 1
        transaction = f"{order['name']}/{count}"
        doomed = chance.random() < order["abort_share"]
        headers: list[tuple[str, str | bytes | None]] = [(TRANSACTION, transaction.encode())]
        headers += [(DOOMED, b"1")] * doomed
        try:
            producer.begin()
            for partition, number in due:
                producer.produce(INPUT, partition, key_of(number), value_of(number), headers)
            if doomed:
                producer.flush()
            ledger.tell("ending", [transaction, len(due), "abort" if doomed else "commit"])
            if doomed:
                producer.abort()
                ledger.tell("aborted", [transaction, "on purpose"])
            else:
                producer.commit()
                ledger.tell("committed", [transaction, len(due)])
                for partition, number in due:
                    pace.sent(partition, number)
                progress.tell(pace.loaded())
        except NeedsAbort as error:
            producer.abort()
            ledger.tell("aborted", [transaction, str(error)])
    progress.tell(pace.loaded(), now=True)


def main() -> None:
    ledger = Ledger()
    try:
        if ledger.order["transactional_id"]:
            load_in_transactions(ledger)
        else:
            load_idempotently(ledger)
    except (Fatal, NeedsAbort) as error:
        ledger.tell("fatal", str(error))
        raise SystemExit(FATAL_EXIT) from None
    ledger.tell("closed" if ledger.stopping else "done")


if __name__ == "__main__":
    main()
