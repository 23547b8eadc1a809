"""Programs that treat their clients badly: signal handlers that raise, listeners that poll, event loops that
are closed or mixed up, forks, clients that nobody closes.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import logging
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

import ottla
import ottla.aio
from ottla import TopicPartition
from ottla.client.errors import ClientClosed, IllegalState
from support.broker_process import BrokerProcess
from support.raw_client import RawClient
from support.waiting import wait_until

LIMIT_S = 20.0
_numbers = itertools.count()


@pytest.fixture
def topic(shared_broker: BrokerProcess) -> str:
    name = f"programs-{next(_numbers)}"
    with RawClient(shared_broker.port) as raw:
        raw.create_topic(name)
    return name


def stored(broker: BrokerProcess, topic: str) -> list[bytes]:
    with RawClient(broker.port) as raw:
        return [bytes(record.value or b"") for record in raw.read_all(topic)]


# --- signals ------------------------------------------------------------------------------------------------


class Interrupted(Exception):
    pass


@contextmanager
def interrupting(every_s: float) -> Iterator[Callable[[], int]]:
    """A handler of the program's own that raises, wherever the client is, as a worker's soft time limit
    does. Gives the number of interruptions.
    """
    count = 0

    def handler(number: int, frame: Any) -> None:
        nonlocal count
        while frame is not None:
            if f"{os.sep}ottla{os.sep}" in frame.f_code.co_filename:  # the test itself goes on
                count += 1
                raise Interrupted
            frame = frame.f_back

    ended = threading.Event()
    main = threading.main_thread().ident
    assert main is not None

    def shoot() -> None:
        while not ended.wait(every_s):
            signal.pthread_kill(main, signal.SIGUSR1)

    gc.collect()
    gc.disable()  # Python ignores what is raised within a collection, where weak references have callbacks
    before = signal.signal(signal.SIGUSR1, handler)
    thread = threading.Thread(target=shoot)
    thread.start()
    try:
        yield lambda: count
    finally:
        ended.set()
        thread.join()
        signal.signal(signal.SIGUSR1, before)
        gc.enable()


def test_a_signal_handler_that_raises_anywhere_in_the_producer_loses_nothing_that_was_acknowledged(
    shared_broker: BrokerProcess, topic: str
) -> None:
    with ottla.Producer(shared_broker.bootstrap, linger_ms=1) as producer:
        futures: dict[bytes, Any] = {}
        with interrupting(0.0013) as interruptions:
            number = 0
            deadline = time.monotonic() + LIMIT_S
            while interruptions() < 300 and time.monotonic() < deadline:
                number += 1
                value = b"%d" % number
                with suppress(Interrupted):
                    futures[value] = producer.send(topic, value)
                    if number % 50 == 0:
                        producer.flush()
                    elif number % 10 == 0:
                        futures[value].result()
        assert interruptions() >= 300
        producer.flush(timeout=LIMIT_S)
        offsets = {value: future.result(timeout=0).offset for value, future in futures.items()}
    values = stored(shared_broker, topic)
    assert all(values[offset] == value for value, offset in offsets.items())
    assert len(set(values)) == len(values)


def test_a_signal_handler_that_raises_anywhere_in_the_consumer_leaves_it_reading(
    shared_broker: BrokerProcess, topic: str
) -> None:
    count = 20_000
    with ottla.Producer(shared_broker.bootstrap) as producer:
        for number in range(count):
            producer.send(topic, b"%d" % number)
    with ottla.Consumer(
        topic,
        bootstrap_servers=shared_broker.bootstrap,
        group_id=f"{topic}-readers",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    ) as consumer:
        read: list[int] = []
        with interrupting(0.0013) as interruptions:
            deadline = time.monotonic() + LIMIT_S
            while interruptions() < 200 and time.monotonic() < deadline:
                with suppress(Interrupted):
                    read += [record.offset for record in consumer.poll(0.2, max_records=20)]
                    if random.random() < 0.1 and read:
                        consumer.commit(timeout=5)
        assert interruptions() >= 200
        deadline = time.monotonic() + LIMIT_S
        while not consumer.at_end() and time.monotonic() < deadline:
            read += [record.offset for record in consumer.poll(0.2)]
        assert read == sorted(set(read))
        assert read[-1] == count - 1
        consumer.commit(timeout=5)


def test_a_signal_handler_that_only_takes_note_is_called_while_the_client_waits(
    shared_broker: BrokerProcess, topic: str
) -> None:
    noted = threading.Event()
    before = signal.signal(signal.SIGUSR1, lambda number, frame: noted.set())
    try:
        with ottla.Consumer(bootstrap_servers=shared_broker.bootstrap) as consumer:
            consumer.assign([TopicPartition(topic, 0)])
            consumer.poll(0.1)
            timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGUSR1))
            timer.start()
            began = time.monotonic()
            while not noted.is_set() and time.monotonic() - began < LIMIT_S:
                consumer.poll(1.0)
            timer.join()
        assert noted.is_set()
    finally:
        signal.signal(signal.SIGUSR1, before)


# --- calls at the wrong place -------------------------------------------------------------------------------


def test_a_listener_that_polls_is_told_not_to(shared_broker: BrokerProcess, topic: str) -> None:
    said: list[BaseException | None] = []
    with ottla.Consumer(bootstrap_servers=shared_broker.bootstrap, group_id=f"{topic}-readers") as consumer:

        def listen(partitions: list[TopicPartition]) -> None:
            try:
                consumer.poll(0.1)
            except IllegalState as error:
                said.append(error)

        consumer.subscribe([topic], on_assigned=listen)
        deadline = time.monotonic() + LIMIT_S
        while not said and time.monotonic() < deadline:
            consumer.poll(0.2)
        assert len(said) == 1
        consumer.poll(0.1)  # the real one may


def test_a_listener_may_close_its_consumer(shared_broker: BrokerProcess, topic: str) -> None:
    consumer = ottla.Consumer(bootstrap_servers=shared_broker.bootstrap, group_id=f"{topic}-readers")
    consumer.subscribe([topic], on_assigned=lambda partitions: consumer.close(timeout=5))

    def poll_on() -> None:
        for _ in range(100):
            consumer.poll(0.2)

    with pytest.raises(ClientClosed):
        poll_on()
    consumer.close()


# --- event loops --------------------------------------------------------------------------------------------


def test_an_asyncio_client_cannot_be_made_without_a_loop(shared_broker: BrokerProcess) -> None:
    for make in (ottla.aio.Producer, ottla.aio.Admin):
        with pytest.raises(IllegalState):
            make(shared_broker.bootstrap)
    with pytest.raises(IllegalState):
        ottla.aio.Consumer(bootstrap_servers=shared_broker.bootstrap)


def test_an_asyncio_client_used_in_another_loop_says_so_and_stays_whole(
    shared_broker: BrokerProcess, topic: str
) -> None:
    async def make() -> tuple[ottla.aio.Producer, ottla.aio.Consumer]:
        producer = ottla.aio.Producer(shared_broker.bootstrap)
        await producer.send_and_wait(topic, b"first")
        consumer = ottla.aio.Consumer(bootstrap_servers=shared_broker.bootstrap)
        consumer.assign([TopicPartition(topic, 0)])
        await consumer.poll(0.1)
        return producer, consumer

    async def misuse(producer: ottla.aio.Producer, consumer: ottla.aio.Consumer) -> None:
        calls: list[Callable[[], Any]] = [
            lambda: producer.send(topic, b"second"),
            producer.flush,
            producer.close,
            lambda: consumer.poll(1.0),
            consumer.close,
        ]
        for call in calls:
            with pytest.raises(IllegalState, match="another event loop"):
                await call()

    async def go_on(producer: ottla.aio.Producer, consumer: ottla.aio.Consumer) -> None:
        await producer.send_and_wait(topic, b"third")
        await consumer.close()
        await producer.close()

    loop = asyncio.new_event_loop()
    try:
        clients = loop.run_until_complete(make())
        asyncio.run(misuse(*clients))
        loop.run_until_complete(go_on(*clients))
    finally:
        loop.close()
    assert stored(shared_broker, topic) == [b"first", b"third"]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_client_whose_loop_was_closed_can_be_closed(shared_broker: BrokerProcess, topic: str) -> None:
    async def make() -> list[Any]:
        producer = ottla.aio.Producer(shared_broker.bootstrap, linger_ms=10_000)
        await producer.send(topic, b"lost")
        consumer = ottla.aio.Consumer(bootstrap_servers=shared_broker.bootstrap)
        consumer.assign([TopicPartition(topic, 0)])
        await consumer.poll(0.1)
        admin = ottla.aio.Admin(shared_broker.bootstrap)
        await admin.list_topics()
        return [producer, consumer, admin]

    loop = asyncio.new_event_loop()
    clients = loop.run_until_complete(make())
    loop.close()

    async def close() -> None:
        for client in clients:
            await client.close()

    asyncio.run(close())
    gc.collect()


# --- processes and leftovers --------------------------------------------------------------------------------


def test_in_a_forked_child_close_returns_and_leaves_the_parents_clients_alone(
    shared_broker: BrokerProcess, topic: str
) -> None:
    with (
        ottla.Producer(shared_broker.bootstrap, linger_ms=10_000) as producer,
        ottla.Consumer(bootstrap_servers=shared_broker.bootstrap) as consumer,
        ottla.SimpleConsumer(shared_broker.bootstrap) as simple,
        ottla.Admin(shared_broker.bootstrap) as admin,
    ):
        future = producer.send(topic, b"parent's")
        consumer.assign([TopicPartition(topic, 0)])
        consumer.poll(0.1)
        assert simple.latest(topic, 0) == 0
        assert topic in admin.list_topics()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                for client in (producer, consumer, simple, admin):
                    client.close()  # type: ignore[attr-defined]
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        producer.flush(timeout=LIMIT_S)
        assert future.result(timeout=0).offset == 0
        assert simple.latest(topic, 0) == 1
        assert topic in admin.list_topics()


def test_a_program_that_ends_without_close_is_told_how_many_records_it_may_have_lost(
    shared_broker: BrokerProcess, topic: str
) -> None:
    settings = f"{shared_broker.bootstrap!r}, linger_ms=60_000, delivery_timeout_ms=120_000"
    program = (
        "import ottla\n"
        f"producer = ottla.Producer({settings})\n"
        f"producer.send({topic!r}, b'x')\n"
        f"producer.send({topic!r}, b'y')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=LIMIT_S, check=True
    )
    assert "was not closed: 2 records may be lost" in ended.stderr


def test_a_producer_that_nobody_holds_any_more_says_the_same_and_a_closed_one_nothing(
    shared_broker: BrokerProcess, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    def leave() -> None:
        ottla.Producer(shared_broker.bootstrap, linger_ms=60_000, delivery_timeout_ms=120_000).send(
            topic, b"x"
        )

    with caplog.at_level(logging.WARNING, logger="ottla.client"):
        leave()
        gc.collect()
        assert "1 records may be lost" in caplog.text
        caplog.clear()
        ottla.Producer(shared_broker.bootstrap).close()
        gc.collect()
        assert caplog.text == ""


def test_clients_that_come_and_go_leave_no_descriptor_and_no_thread(
    shared_broker: BrokerProcess, topic: str
) -> None:
    def once(number: int) -> None:
        closes = number % 2 == 0
        producer = ottla.Producer(shared_broker.bootstrap)
        producer.send(topic, b"x").result(timeout=LIMIT_S)
        consumer = ottla.Consumer(bootstrap_servers=shared_broker.bootstrap, auto_offset_reset="earliest")
        consumer.assign([TopicPartition(topic, 0)])
        consumer.poll(LIMIT_S)
        simple = ottla.SimpleConsumer(shared_broker.bootstrap)
        simple.latest(topic, 0)
        admin = ottla.Admin(shared_broker.bootstrap)
        admin.list_topics()
        if closes:
            for client in (producer, consumer, simple, admin):
                client.close()  # type: ignore[attr-defined]

    def held() -> tuple[int, int]:
        gc.collect()
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    for number in range(4):
        once(number)
    before = held()
    for number in range(20):
        once(number)
    wait_until(lambda: held() <= before, f"descriptors and threads to be back at {before}")
