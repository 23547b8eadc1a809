"""The producer's core on the threaded runtime against a real broker that is killed with -9: nothing
acknowledged is lost, nothing is stored twice, order is kept; and transactions stay all or nothing.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import confluent_kafka
import pytest

from ottla.client.errors import OperationTimedOut, TransactionFailed
from ottla.client.producing.batch import Delivery
from ottla.client.producing.core import ProducerCore
from ottla.client.session import Session, ThreadedSession
from ottla.client.settings import ProducerSettings
from support.broker_process import BrokerFactory, BrokerProcess
from support.waiting import wait_until

PARTITIONS = 3


@contextmanager
def producing(broker: BrokerProcess, **settings: Any) -> Iterator[tuple[ThreadedSession, ProducerCore]]:
    options = ProducerSettings(bootstrap_servers=broker.bootstrap, **settings)
    session = Session.threaded(options)
    try:
        with session.runtime.lock:
            core = ProducerCore(session, options)
        yield session, core
        session.runtime.run(core.close(10_000))
    finally:
        session.close()


def send(session: ThreadedSession, core: ProducerCore, topic: str, partition: int, value: bytes) -> Delivery:
    runtime = session.runtime
    full = core.full_batches
    with runtime.lock:
        delivery = core.try_append(topic, partition, None, value, (), 1)
    if delivery is None:
        delivery = runtime.run(core.append(topic, partition, None, value, (), 1))
    if core.full_batches != full:
        runtime.turn()
    return delivery


def metric(session: ThreadedSession, name: str) -> float:
    return session.metrics.snapshot()["producer-metrics"][name]


def under_way(session: ThreadedSession) -> bool:
    session.runtime.turn()
    return metric(session, "requests-in-flight") > 0


def read_all(broker: BrokerProcess, topic: str) -> list[list[bytes]]:
    """What another project's client reads, by partition, with read_committed."""
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "reader",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    found: list[list[bytes]] = [[] for _ in range(PARTITIONS)]
    consumer.assign([confluent_kafka.TopicPartition(topic, p, 0) for p in range(PARTITIONS)])
    ended: set[int] = set()
    deadline = time.monotonic() + 60
    while len(ended) < PARTITIONS and time.monotonic() < deadline:
        for message in consumer.consume(5_000, 0.2):
            error = message.error()
            if error is None:
                found[message.partition()].append(message.value())
            elif error.code() == confluent_kafka.KafkaError._PARTITION_EOF:
                ended.add(message.partition())
    consumer.close()
    assert len(ended) == PARTITIONS
    return found


@pytest.mark.timeout(180)
def test_a_hundred_thousand_records_survive_a_broker_that_is_killed_twice(
    start_broker: BrokerFactory,
) -> None:
    count = 100_000
    broker = start_broker(settings={"num.partitions": str(PARTITIONS)})
    sent: list[list[tuple[bytes, Delivery]]] = [[] for _ in range(PARTITIONS)]
    with producing(broker, linger_ms=2) as (session, core):
        for i in range(count):
            partition = i % PARTITIONS
            value = b"%08d" % i
            sent[partition].append((value, send(session, core, "t", partition, value)))
            if i in (29_000, 69_000):
                # From here on it answers nothing: what leaves now is on its way when it dies.
                os.kill(broker.pid, signal.SIGSTOP)
            if i in (30_000, 70_000):
                wait_until(lambda: under_way(session), "a request on its way")
                broker.kill()
                broker.start()
        session.runtime.run(core.flush(), timeout_ms=60_000)
        assert core._memory.free_bytes == core._memory.total_bytes
        retried = metric(session, "record-retry-total")
    found = read_all(broker, "t")
    for partition in range(PARTITIONS):
        assert found[partition] == [value for value, _ in sent[partition]]
        for offset, (_, delivery) in enumerate(sent[partition]):
            metadata = delivery.metadata()
            assert metadata.offset in (offset, -1)
    assert retried > 0


@pytest.mark.timeout(180)
def test_transactions_are_all_or_nothing_when_the_broker_is_killed(start_broker: BrokerFactory) -> None:
    broker = start_broker(settings={"num.partitions": str(PARTITIONS)})
    committed: list[list[bytes]] = [[] for _ in range(PARTITIONS)]
    with producing(broker, transactional_id="tx", max_block_ms=5_000, linger_ms=1) as (session, core):
        run = session.runtime.run

        def insist(steps: Any) -> None:
            for _ in range(10):
                try:
                    run(steps())
                    return
                except OperationTimedOut:
                    continue
            raise AssertionError("it never ended")

        insist(core.init_transactions)
        for number in range(40):
            values = [[b"%d-%d-%d" % (number, p, i) for i in range(20)] for p in range(PARTITIONS)]
            with session.runtime.lock:
                core.begin_transaction()
            try:
                for partition, line in enumerate(values):
                    for value in line:
                        send(session, core, "t", partition, value)
                if number in (10, 25):
                    broker.kill()
                    broker.start()
                if number % 5 == 4:
                    insist(core.abort_transaction)
                    continue
                insist(core.commit_transaction)
            except TransactionFailed:
                insist(core.abort_transaction)
                continue
            for partition in range(PARTITIONS):
                committed[partition] += values[partition]
    assert len(committed[0]) >= 28 * 20
    assert read_all(broker, "t") == committed
