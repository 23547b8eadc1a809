"""Workers with our own client: the same operations, through `ottla.Producer` and `ottla.Consumer`.

A client that crashes is abandoned in the middle of what it did, while the proxy lets nothing more of it pass,
as with the others; it is closed afterwards, which has to return although no broker ever answers again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import ottla
from chaos.kafka_workload.history import (
    OFFSET_UNKNOWN,
    Isolation,
    Micro,
    Operation,
    Outcome,
    Poll,
    Reset,
    Send,
)
from chaos.kafka_workload.shared import CALL_TIMEOUT_S, KEY_OF, KEYS, TOPICS, Shared
from chaos.kafka_workload.workload import SEND_TIMEOUT_S, Worker
from ottla.errors import OttlaError

CLOSE_S = 3.0
START_PAUSE_S = 0.3


class OttlaWorker(Worker):
    def settings(self) -> dict[str, Any]:
        return {
            "bootstrap_servers": self.shared.bootstrap,
            "client_id": self.process,
            "request_timeout_ms": 5_000,
            "retry_backoff_ms": 50,
            "reconnect_backoff_max_ms": 500,
        }

    def abandon(self, what: str, *clients: ottla.Producer | ottla.Consumer) -> None:
        self.crashed(what)
        for client in clients:
            threading.Thread(
                target=client.close, kwargs={"timeout": CLOSE_S}, name=f"end of {self.process}", daemon=True
            ).start()


def send_all(producer: ottla.Producer, operation: Operation, size: int) -> list[str]:
    """Sends what the operation holds and notes what came back; the errors."""
    sends = [micro for micro in operation.micros if isinstance(micro, Send)]
    errors: list[str] = []
    futures = []
    for send in sends:
        topic, partition = KEYS[send.key]
        try:
            futures.append(producer.send(topic, b"%d " % send.value + b"." * size, partition=partition))
        except OttlaError as error:
            errors.append(type(error).__name__)
            break
    for place, future in enumerate(futures):
        try:
            told = future.result(timeout=SEND_TIMEOUT_S)
        except OttlaError as error:
            errors.append(type(error).__name__)
        else:
            known = told.offset if told.offset >= 0 else OFFSET_UNKNOWN
            operation.micros[place] = sends[place]._replace(offset=known)
    return errors


class OttlaSender(OttlaWorker):
    def live(self) -> None:
        producer = ottla.Producer(
            **self.settings(),
            linger_ms=self.random.choice([0, 2, 10]),
            compression_type=self.random.choice(["none", "lz4", "zstd"]),
            delivery_timeout_ms=10_000,
            max_block_ms=10_000,
        )
        while not self.shared.stop.is_set():
            operation = self.history.invoke(self.process, "send", self.draw_sends())
            errors = send_all(producer, operation, self.random.randint(0, 300))
            self.history.complete(operation, "info" if errors else "ok", ", ".join(sorted(set(errors))))
            if self.happens(0.003):
                self.abandon("ottla sender", producer)
                return
            self.rest()
        producer.close(timeout=SEND_TIMEOUT_S)


class OttlaReader:
    """A consumer of ours that tells what it is handed in micro-operations."""

    def __init__(
        self, shared: Shared, settings: dict[str, Any], isolation: Isolation, group: str, protocol: str
    ) -> None:
        self.shared = shared
        self.where: dict[int, int] = {}
        self.pending: list[Micro] = []
        if group:
            settings |= {"group_id": group, "group_protocol": protocol}
            if protocol == "classic":
                settings |= {"session_timeout_ms": 6_000, "heartbeat_interval_ms": 500}
        self.consumer = ottla.Consumer(
            **settings,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level=f"read_{isolation}",
            fetch_max_wait_ms=100,
        )
        if group:
            self.consumer.subscribe(TOPICS, listener=self)

    def on_partitions_assigned(self, partitions: Iterable[ottla.TopicPartition]) -> None:
        self.shared.count("rebalances: assigned")
        self._moved(partitions, "assigned")

    def on_partitions_revoked(self, partitions: Iterable[ottla.TopicPartition]) -> None:
        self.shared.count("rebalances: revoked")
        self._moved(partitions, "revoked")

    def on_partitions_lost(self, partitions: Iterable[ottla.TopicPartition]) -> None:
        self.shared.count("rebalances: lost")
        self._moved(partitions, "lost")

    def _moved(self, partitions: Iterable[ottla.TopicPartition], why: str) -> None:
        keys = [KEY_OF[tp.topic, tp.partition] for tp in partitions]
        self.pending.append(Reset(keys, why))
        for key in keys:
            self.where.pop(key, None)

    def poll(self, records_max: int, timeout_s: float) -> list[Micro]:
        """What was handed out; what happened to the assignment meanwhile happened before it."""
        runs: list[tuple[int, list[int]]] = []
        try:
            records = self.consumer.poll(timeout=timeout_s, max_records=records_max)
        except OttlaError as error:
            self.shared.count(f"ottla poll error {type(error).__name__}")
            records = []
        for record in records:
            key = KEY_OF[record.topic, record.partition]
            if not runs or runs[-1][0] != key:
                runs.append((key, []))
            runs[-1][1].extend((record.offset, int(record.value.split()[0])))
            self.where[key] = record.offset + 1
        micros, self.pending = self.pending, []
        if runs:
            micros.append(Poll(runs, self.shared.history.stamp()))
        return micros


class OttlaPoller(OttlaWorker):
    def __init__(
        self, shared: Shared, name: str, isolation: Isolation, group: str = "", protocol: str = "classic"
    ) -> None:
        super().__init__(shared, name)
        self.isolation = isolation
        self.group = group
        self.protocol = protocol
        self.where: dict[int, int] = {}

    def live(self) -> None:
        reader = OttlaReader(self.shared, self.settings(), self.isolation, self.group, self.protocol)
        if not self.group:
            reader.where = self.where
            self._assign(reader)
        while not self.shared.stop.is_set():
            operation = self.history.invoke(self.process, "poll", isolation=self.isolation)
            operation.micros = reader.poll(self.random.randint(1, 200), 0.3)
            self.history.complete(operation, "ok")
            if self.happens(0.004):
                self.abandon("ottla poller", reader.consumer)
                return
            if self.group and self.random.random() < 0.1:
                with suppress(OttlaError):
                    reader.consumer.commit()
                    self.shared.count("commits of offsets")
            if not self.group and self.random.random() < 0.02:
                self._assign(reader)
            self.rest()
        reader.consumer.close(timeout=CALL_TIMEOUT_S)

    def _assign(self, reader: OttlaReader) -> None:
        keys = self.random.sample(range(len(KEYS)), self.random.randint(2, len(KEYS)))
        operation = self.history.invoke(self.process, "assign", [Reset(None, "assign")])
        reader.consumer.assign([ottla.TopicPartition(*KEYS[key]) for key in keys])
        for key in keys:
            offset = max(0, self.where.get(key, 0) - self.random.randint(0, 300))
            reader.consumer.seek(ottla.TopicPartition(*KEYS[key]), offset)
        self.history.complete(operation, "ok")


class OttlaTransactor(OttlaWorker):
    """Transactions; with `group`, a reader's offsets are part of them."""

    def __init__(self, shared: Shared, name: str, group: str = "") -> None:
        super().__init__(shared, name)
        self.group = group

    def live(self) -> None:
        producer = ottla.Producer(
            **self.settings(),
            transactional_id=self.name,
            transaction_timeout_ms=6_000,
            delivery_timeout_ms=6_000,
            linger_ms=self.random.choice([0, 2, 10]),
            max_block_ms=10_000,
        )
        try:
            producer.init_transactions()
        except OttlaError as error:
            self.shared.count(f"ottla init_transactions {type(error).__name__}")
            producer.close(timeout=0)
            self.shared.stop.wait(START_PAUSE_S)
            return
        reader = (
            OttlaReader(self.shared, self.settings(), "committed", self.group, "classic")
            if self.group
            else None
        )
        clients: list[Any] = [producer, *([reader.consumer] if reader is not None else [])]
        while not self.shared.stop.is_set():
            operation = self.history.invoke(
                self.process,
                "txn",
                self.draw_sends(),
                isolation="committed" if reader else "",
                transactional=True,
                group=self.group,
            )
            outcome, error_name, is_usable = self._transact(producer, reader, operation)
            self.history.complete(operation, outcome, error_name)
            if not is_usable or self.happens(0.005):
                self.abandon("ottla transactor", *clients)
                return
            if reader is not None and outcome != "ok" and not self._rewind(reader):
                self.abandon("ottla transactor that could not rewind", *clients)
                return
            self.rest()
        for client in clients:
            client.close(timeout=CALL_TIMEOUT_S)

    def _rewind(self, reader: OttlaReader) -> bool:
        """Back to the group's committed offsets."""
        operation = self.history.invoke(
            self.process, "assign", [Reset(None, "rewind")], isolation="committed"
        )
        try:
            partitions = reader.consumer.assignment()
            committed = reader.consumer.committed(*partitions)
            for tp in partitions:
                found = committed.get(tp)
                reader.consumer.seek(tp, 0 if found is None else found.offset)
        except OttlaError:
            return False
        finally:
            self.history.complete(operation, "ok")
        return True

    def _transact(
        self, producer: ottla.Producer, reader: OttlaReader | None, operation: Operation
    ) -> tuple[Outcome, str, bool]:
        """The outcome, the error, and whether the client can go on."""
        try:
            producer.begin_transaction()
            errors = send_all(producer, operation, self.random.randint(0, 300))
            polled: list[Micro] = []
            if reader is not None:
                polled = reader.poll(self.random.randint(1, 50), 0.2)
                operation.micros += polled
            is_to_commit = not errors and self.random.random() < 0.85
            is_to_commit &= not any(isinstance(micro, Reset) for micro in polled)
            if not is_to_commit:
                producer.abort_transaction()
                return "fail", ", ".join(sorted(set(errors))) or "aborted", True
            ends = {
                ottla.TopicPartition(*KEYS[key]): ottla.OffsetAndMetadata(flat[-2] + 1)
                for micro in polled
                if isinstance(micro, Poll)
                for key, flat in micro.runs
            }
            if reader is not None and ends:
                producer.send_offsets_to_transaction(ends, reader.consumer.group_metadata())
        except OttlaError as error:
            return "fail", type(error).__name__, self._abort(producer)
        operation.commit_at = self.history.stamp()
        try:
            producer.commit_transaction()
        except OttlaError as error:
            return "info", type(error).__name__, False
        return "ok", "", True

    def _abort(self, producer: ottla.Producer) -> bool:
        try:
            producer.abort_transaction()
        except OttlaError:
            return False
        return True


def make_ottla_workers(shared: Shared, *, is_small: bool = False) -> list[Worker]:
    workers: list[Worker] = [
        OttlaSender(shared, "ottla-sender"),
        OttlaTransactor(shared, "ottla-transactor-1"),
        OttlaTransactor(shared, "ottla-transactor-2", group="ottla-transactors"),
        OttlaPoller(shared, "ottla-poller", "committed"),
    ]
    if not is_small:
        workers += [
            OttlaPoller(shared, "ottla-classic", "committed", "classic-group"),
            OttlaPoller(shared, "ottla-consumer", "committed", "consumer-group", "consumer"),
            OttlaPoller(shared, "ottla-uncommitted", "uncommitted", "ottla-group"),
        ]
    return workers
