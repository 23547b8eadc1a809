"""Workers with the clients that are written in Python: kafka-python and aiokafka.

They take other ways through the protocol than librdkafka: their own batching and retries, their own filter
of aborted records, aiokafka's fetches in the background of a loop. They assign partitions themselves; groups
are the others' business.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer  # type: ignore[import-untyped]
from aiokafka import TopicPartition as AioTopicPartition
from aiokafka.errors import KafkaError as AioKafkaError  # type: ignore[import-untyped]
from kafka import KafkaConsumer, KafkaProducer  # type: ignore[import-untyped]
from kafka import TopicPartition as PythonTopicPartition
from kafka.errors import KafkaError as PythonKafkaError  # type: ignore[import-untyped]

from chaos.kafka_workload.history import OFFSET_UNKNOWN, Isolation, Operation, Outcome, Poll, Reset, Send
from chaos.kafka_workload.shared import CALL_TIMEOUT_S, KEY_OF, KEYS, Shared
from chaos.kafka_workload.workload import SEND_TIMEOUT_S, Worker

START_PAUSE_S = 0.3

# They log every connection that ends, which here is what is being done to them.
for _name in ("kafka", "aiokafka"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


def _quieten() -> None:
    """aiokafka leaves futures behind whose errors nobody asks for."""
    asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)


def _known(offset: int) -> int:
    return offset if offset >= 0 else OFFSET_UNKNOWN


def _close(producer: Any, timeout_s: float) -> None:
    with suppress(PythonKafkaError):
        producer.close(timeout=timeout_s)


class KafkaPythonSender(Worker):
    """kafka-python's producer, idempotent."""

    def live(self) -> None:
        try:
            producer = KafkaProducer(
                bootstrap_servers=self.shared.bootstrap,
                client_id=self.process,
                acks="all",
                enable_idempotence=True,
                delivery_timeout_ms=10_000,
                request_timeout_ms=5_000,
                retry_backoff_ms=50,
                reconnect_backoff_max_ms=500,
                max_block_ms=10_000,
            )
        except PythonKafkaError as error:
            self.shared.count(f"kafka-python could not start: {type(error).__name__}")
            self.shared.stop.wait(START_PAUSE_S)
            return
        try:
            while not self.shared.stop.is_set():
                operation = self.history.invoke(self.process, "send", self.draw_sends())
                errors = self._send(producer, operation)
                self.history.complete(operation, "info" if errors else "ok", ", ".join(sorted(set(errors))))
                if errors or self.happens(0.003):
                    # A batch that failed leaves a gap in the sequence, so this producer is done.
                    self.crashed("kafka-python sender")
                    return
                self.rest()
        finally:
            _close(producer, SEND_TIMEOUT_S if self.shared.stop.is_set() else 0)

    def _send(self, producer: Any, operation: Operation) -> list[str]:
        sends = [micro for micro in operation.micros if isinstance(micro, Send)]
        futures: list[Any] = []
        errors: list[str] = []
        for send in sends:
            topic, partition = KEYS[send.key]
            try:
                futures.append(producer.send(topic, b"%d " % send.value, partition=partition))
            except PythonKafkaError as error:
                errors.append(type(error).__name__)
                break
        deadline_s = time.monotonic() + SEND_TIMEOUT_S
        for place, future in enumerate(futures):
            try:
                told = future.get(timeout=max(deadline_s - time.monotonic(), 0.001))
            except PythonKafkaError as error:
                errors.append(type(error).__name__)
            else:
                operation.micros[place] = sends[place]._replace(offset=_known(told.offset))
        return errors


class KafkaPythonTransactor(KafkaPythonSender):
    """kafka-python's producer with transactions."""

    def live(self) -> None:
        producer = None
        try:
            producer = KafkaProducer(
                bootstrap_servers=self.shared.bootstrap,
                client_id=self.process,
                transactional_id=self.name,
                transaction_timeout_ms=6_000,
                delivery_timeout_ms=6_000,
                request_timeout_ms=5_000,
                retry_backoff_ms=50,
                reconnect_backoff_max_ms=500,
                max_block_ms=10_000,
            )
            producer.init_transactions()
        except PythonKafkaError as error:
            self.shared.count(f"kafka-python could not start: {type(error).__name__}")
            if producer is not None:
                _close(producer, 0)
            self.shared.stop.wait(START_PAUSE_S)
            return
        try:
            while not self.shared.stop.is_set():
                operation = self.history.invoke(self.process, "txn", self.draw_sends(), transactional=True)
                outcome, error_name = self._transact(producer, operation)
                self.history.complete(operation, outcome, error_name)
                if error_name not in ("", "aborted") or self.happens(0.01):
                    self.crashed("kafka-python transactor")
                    return
                self.rest()
        finally:
            _close(producer, SEND_TIMEOUT_S if self.shared.stop.is_set() else 0)

    def _transact(self, producer: Any, operation: Operation) -> tuple[Outcome, str]:
        try:
            producer.begin_transaction()
            errors = self._send(producer, operation)
            if errors:
                return "fail", ", ".join(sorted(set(errors)))
            if self.random.random() < 0.15:
                producer.abort_transaction()
                return "fail", "aborted"
        except PythonKafkaError as error:
            return "fail", type(error).__name__
        operation.commit_at = self.history.stamp()
        try:
            producer.commit_transaction()
        except PythonKafkaError as error:
            return "info", type(error).__name__
        return "ok", ""


class KafkaPythonPoller(Worker):
    """kafka-python's consumer, with partitions of its own choice."""

    def __init__(self, shared: Shared, name: str, isolation: Isolation) -> None:
        super().__init__(shared, name)
        self.isolation = isolation
        self.where: dict[int, int] = {}

    def live(self) -> None:
        try:
            consumer = KafkaConsumer(
                bootstrap_servers=self.shared.bootstrap,
                client_id=self.process,
                group_id=None,
                isolation_level=f"read_{self.isolation}",
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                fetch_max_wait_ms=100,
                request_timeout_ms=10_000,
                reconnect_backoff_max_ms=500,
            )
        except PythonKafkaError as error:
            self.shared.count(f"kafka-python could not start: {type(error).__name__}")
            self.shared.stop.wait(START_PAUSE_S)
            return
        try:
            self._assign(consumer)
            while not self.shared.stop.is_set():
                operation = self.history.invoke(self.process, "poll", isolation=self.isolation)
                runs: list[tuple[int, list[int]]] = []
                error_name = ""
                try:
                    answer = consumer.poll(timeout_ms=300, max_records=self.random.randint(1, 200))
                except PythonKafkaError as error:
                    error_name = type(error).__name__
                    answer = {}
                for place, records in answer.items():
                    flat = [part for each in records for part in (each.offset, int(each.value.split()[0]))]
                    key = KEY_OF[place.topic, place.partition]
                    runs.append((key, flat))
                    self.where[key] = flat[-2] + 1
                operation.micros = [Poll(runs, self.history.stamp())] if runs else []
                self.history.complete(operation, "info" if error_name else "ok", error_name)
                if self.happens(0.004):
                    self.crashed("kafka-python poller")
                    return
                if self.random.random() < 0.02:
                    self._assign(consumer)
                self.rest()
        finally:
            consumer.close()

    def _assign(self, consumer: Any) -> None:
        keys = self.random.sample(range(len(KEYS)), self.random.randint(2, len(KEYS)))
        operation = self.history.invoke(self.process, "assign", [Reset(None, "assign")])
        consumer.assign([PythonTopicPartition(*KEYS[key]) for key in keys])
        for key in keys:
            offset = max(0, self.where.get(key, 0) - self.random.randint(0, 300))
            consumer.seek(PythonTopicPartition(*KEYS[key]), offset)
        self.history.complete(operation, "ok")


class AioPoller(Worker):
    """aiokafka's consumer, with partitions of its own choice."""

    def __init__(self, shared: Shared, name: str, isolation: Isolation) -> None:
        super().__init__(shared, name)
        self.isolation = isolation
        self.where: dict[int, int] = {}

    def live(self) -> None:
        asyncio.run(self._live())

    async def _live(self) -> None:
        _quieten()
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.shared.bootstrap,
            client_id=self.process,
            group_id=None,
            isolation_level=f"read_{self.isolation}",
            auto_offset_reset="earliest",
            fetch_max_wait_ms=100,
            request_timeout_ms=10_000,
        )
        try:
            try:
                await asyncio.wait_for(consumer.start(), CALL_TIMEOUT_S)
            except (AioKafkaError, TimeoutError) as error:
                self.shared.count(f"aiokafka could not start: {type(error).__name__}")
                await asyncio.sleep(START_PAUSE_S)
                return
            self._assign(consumer)
            while not self.shared.stop.is_set():
                operation = self.history.invoke(self.process, "poll", isolation=self.isolation)
                try:
                    answer = await consumer.getmany(timeout_ms=300, max_records=self.random.randint(1, 200))
                except AioKafkaError as error:
                    self.history.complete(operation, "info", type(error).__name__)
                    return
                runs = []
                for place, records in answer.items():
                    flat = [part for each in records for part in (each.offset, int(each.value.split()[0]))]
                    if flat:
                        key = KEY_OF[place.topic, place.partition]
                        runs.append((key, flat))
                        self.where[key] = flat[-2] + 1
                operation.micros = [Poll(runs, self.history.stamp())] if runs else []
                self.history.complete(operation, "ok")
                if self.happens(0.004):
                    self.crashed("aiokafka poller")
                    return
                if self.random.random() < 0.02:
                    self._assign(consumer)
                await asyncio.sleep(self.random.expovariate(1 / self.shared.pause_s))
        finally:
            # A fetch that was cancelled by `stop` tells so.
            with suppress(AioKafkaError, TimeoutError, asyncio.CancelledError):
                await asyncio.wait_for(consumer.stop(), CALL_TIMEOUT_S)

    def _assign(self, consumer: AIOKafkaConsumer) -> None:
        keys = self.random.sample(range(len(KEYS)), self.random.randint(2, len(KEYS)))
        operation = self.history.invoke(self.process, "assign", [Reset(None, "assign")])
        consumer.assign([AioTopicPartition(*KEYS[key]) for key in keys])
        for key in keys:
            offset = max(0, self.where.get(key, 0) - self.random.randint(0, 300))
            consumer.seek(AioTopicPartition(*KEYS[key]), offset)
        self.history.complete(operation, "ok")


class AioTransactor(Worker):
    """aiokafka's transactional producer."""

    def live(self) -> None:
        asyncio.run(self._live())

    async def _live(self) -> None:
        _quieten()
        producer = AIOKafkaProducer(
            bootstrap_servers=self.shared.bootstrap,
            client_id=self.process,
            transactional_id=self.name,
            transaction_timeout_ms=6_000,
            request_timeout_ms=5_000,
        )
        try:
            try:
                await asyncio.wait_for(producer.start(), CALL_TIMEOUT_S)
            except (AioKafkaError, TimeoutError) as error:
                self.shared.count(f"aiokafka could not start: {type(error).__name__}")
                await asyncio.sleep(START_PAUSE_S)
                return
            while not self.shared.stop.is_set():
                operation = self.history.invoke(self.process, "txn", self.draw_sends(), transactional=True)
                outcome, error_name = await self._transact(producer, operation)
                self.history.complete(operation, outcome, error_name)
                if error_name not in ("", "aborted"):
                    self.crashed("aiokafka transactor")
                    return
                await asyncio.sleep(self.random.expovariate(1 / self.shared.pause_s))
        finally:
            with suppress(AioKafkaError, TimeoutError):
                await asyncio.wait_for(producer.stop(), CALL_TIMEOUT_S)

    async def _transact(self, producer: AIOKafkaProducer, operation: Operation) -> tuple[Outcome, str]:
        sends = [micro for micro in operation.micros if isinstance(micro, Send)]
        try:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await producer.begin_transaction()
                waiting = []
                for send in sends:
                    topic, partition = KEYS[send.key]
                    waiting.append(await producer.send(topic, b"%d " % send.value, partition=partition))
                for place, future in enumerate(waiting):
                    told = await future
                    operation.micros[place] = sends[place]._replace(offset=_known(told.offset))
                if self.random.random() < 0.15:
                    await producer.abort_transaction()
                    return "fail", "aborted"
        except (AioKafkaError, TimeoutError) as error:
            return "fail", type(error).__name__
        operation.commit_at = self.history.stamp()
        try:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await producer.commit_transaction()
        except (AioKafkaError, TimeoutError) as error:
            return "info", type(error).__name__
        return "ok", ""


def make_other_workers(shared: Shared) -> list[Worker]:
    return [
        KafkaPythonSender(shared, "kafka-python-sender"),
        KafkaPythonTransactor(shared, "kafka-python-transactor"),
        KafkaPythonPoller(shared, "kafka-python-poller", "committed"),
        AioTransactor(shared, "aiokafka-transactor"),
        AioPoller(shared, "aiokafka-poller", "committed"),
    ]
