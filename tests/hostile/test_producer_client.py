"""A producer whose broker is not there, dies, answers nonsense or does not answer: each ends in the
documented exception, nothing hangs, nothing acknowledged is lost, and close() always returns.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import random
import signal
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from broken_broker import METADATA, PRODUCE, Action, Proxy

from ottla.aio.producer import Producer as AioProducer
from ottla.client.errors import (
    BrokerUnavailable,
    BufferFull,
    ClientClosed,
    DeliveryTimedOut,
    OperationTimedOut,
    OttlaError,
    ProtocolError,
)
from ottla.client.producing.future import AwaitableRecord, RecordFuture
from ottla.client.sync.producer import Producer
from support.broker_process import BrokerFactory, BrokerProcess
from support.raw_client import RawClient
from support.waiting import wait_until

FAST = {
    "request_timeout_ms": 1_000,
    "delivery_timeout_ms": 3_000,
    "max_block_ms": 1_000,
    "retry_backoff_ms": 20,
    "retry_backoff_max_ms": 100,
    "reconnect_backoff_ms": 10,
    "reconnect_backoff_max_ms": 100,
}


@pytest.fixture
def proxy(start_broker: BrokerFactory) -> Iterator[Proxy]:
    """A proxy with a broker behind it that has the topic `t`."""
    proxy = Proxy()
    proxy.put_before(start_broker(start=False))
    with RawClient(proxy.broker_port) as raw:
        raw.create_topic("t")
    yield proxy
    proxy.close()


def stored(proxy: Proxy) -> list[bytes | None]:
    with RawClient(proxy.broker_port) as raw:
        return [None if record.value is None else bytes(record.value) for record in raw.read_all("t")]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def within(seconds: float, began: float) -> None:
    assert time.monotonic() - began < seconds


# --- nobody there ---------------------------------------------------------------------------------------


def test_with_no_broker_at_the_address_send_says_so_after_max_block_ms() -> None:
    began = time.monotonic()
    with Producer(f"127.0.0.1:{free_port()}", **FAST) as producer:
        with pytest.raises(OperationTimedOut, match="topic t") as caught:
            producer.send("t", b"x")
        assert isinstance(caught.value.__cause__, BrokerUnavailable)
        with pytest.raises(OperationTimedOut):
            producer.partitions_for("t")
    within(10, began)


def test_with_no_broker_at_the_address_a_coroutine_is_told_the_same() -> None:
    async def run() -> None:
        async with AioProducer(f"127.0.0.1:{free_port()}", **FAST) as producer:
            with pytest.raises(OperationTimedOut) as caught:
                await producer.send("t", b"x")
            assert isinstance(caught.value.__cause__, BrokerUnavailable)

    asyncio.run(asyncio.wait_for(run(), 20))


def test_init_transactions_ends_when_nobody_answers() -> None:
    with (
        Producer(f"127.0.0.1:{free_port()}", transactional_id="x", **FAST) as producer,
        pytest.raises(OttlaError),
    ):
        producer.init_transactions(timeout=1)


def test_a_name_that_does_not_resolve_is_an_error_and_no_hang() -> None:
    with Producer("no.such.host.invalid:9092", **FAST) as producer, pytest.raises(OttlaError):
        producer.send("t", b"x")


# --- dies, and comes back -------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["drop before", "drop after"])
def test_a_broker_that_dies_in_mid_request_costs_no_record_and_makes_none_twice(
    proxy: Proxy, action: Action
) -> None:
    # Idempotence (KIP-98): what was stored before the connection broke is recognised when it comes again.
    numbers = itertools.count()
    proxy.rule = lambda key: action if key == PRODUCE and next(numbers) % 3 == 1 else "pass"
    with Producer(proxy.bootstrap, batch_size=500, linger_ms=0, **FAST) as producer:
        futures = [producer.send("t", b"%d" % i) for i in range(300)]
        assert [future.result(timeout=20).offset for future in futures] == list(range(300))
    assert stored(proxy) == [b"%d" % i for i in range(300)]


def test_a_broker_that_is_killed_and_restarted_gets_what_was_sent_meanwhile(
    start_broker: BrokerFactory,
) -> None:
    broker = start_broker()
    with RawClient(broker.port) as raw:
        raw.create_topic("t")
    settings = {**FAST, "delivery_timeout_ms": 60_000, "max_block_ms": 60_000}
    with Producer(broker.bootstrap, **settings) as producer:
        first = [producer.send("t", b"%d" % i) for i in range(50)]
        producer.flush(timeout=20)
        broker.kill()
        second = [producer.send("t", b"%d" % i) for i in range(50, 100)]
        broker.start()
        offsets = [future.result(timeout=40).offset for future in first + second]
    assert offsets == list(range(100))


def test_a_broker_that_stays_away_fails_the_records_after_delivery_timeout_ms(proxy: Proxy) -> None:
    heard: list[Any] = []
    with Producer(proxy.bootstrap, **FAST) as producer:
        producer.send("t", b"kept").result(timeout=10)
        assert proxy.broker is not None
        proxy.broker.kill()
        began = time.monotonic()
        lost = producer.send("t", b"lost", on_delivery=lambda *outcome: heard.append(outcome))
        error = lost.exception(timeout=20)
        within(10, began)
        # As in Java, the error of the last try where that ends just when the time is up.
        assert isinstance(error, DeliveryTimedOut | BrokerUnavailable)
        wait_until(lambda: heard == [(None, error)], "the callback")
        with pytest.raises(type(error)):
            lost.result()


# --- answers nonsense, or nothing -----------------------------------------------------------------------


def test_a_peer_that_is_no_broker_is_an_error_within_max_block_ms() -> None:
    proxy = Proxy()
    proxy.rule = lambda key: "garbage"
    try:
        with Producer(proxy.bootstrap, **FAST) as producer, pytest.raises(OttlaError):
            producer.send("t", b"x")
    finally:
        proxy.close()


def test_garbage_in_answer_to_a_batch_fails_that_batch_and_the_next_one_is_stored(proxy: Proxy) -> None:
    numbers = itertools.count()
    proxy.rule = lambda key: "garbage" if key == PRODUCE and next(numbers) < 1 else "pass"
    with Producer(proxy.bootstrap, **{**FAST, "delivery_timeout_ms": 20_000}) as producer:
        with pytest.raises(ProtocolError):
            producer.send("t", b"x").result(timeout=20)
        assert producer.send("t", b"y").result(timeout=20).offset == 0
    assert stored(proxy) == [b"y"]


def test_a_peer_that_never_answers_is_given_up_after_request_timeout_ms() -> None:
    proxy = Proxy()
    proxy.rule = lambda key: "swallow"
    began = time.monotonic()
    try:
        with Producer(proxy.bootstrap, **FAST) as producer, pytest.raises(OperationTimedOut):
            producer.send("t", b"x")
        within(10, began)
    finally:
        proxy.close()


def test_metadata_that_comes_late_is_waited_for(proxy: Proxy) -> None:
    numbers = itertools.count()
    proxy.rule = lambda key: "drop before" if key == METADATA and next(numbers) < 3 else "pass"
    with Producer(proxy.bootstrap, **{**FAST, "max_block_ms": 20_000}) as producer:
        assert producer.send("t", b"x").result(timeout=10).offset == 0


# --- memory ---------------------------------------------------------------------------------------------


def test_a_full_buffer_blocks_for_max_block_ms_and_then_says_so(proxy: Proxy) -> None:
    silent = threading.Event()
    proxy.rule = lambda key: "swallow" if key == PRODUCE and silent.is_set() else "pass"
    settings = {**FAST, "max_block_ms": 300, "request_timeout_ms": 10_000, "delivery_timeout_ms": 30_000}
    producer = Producer(proxy.bootstrap, buffer_memory=40_000, **settings)
    producer.send("t", b"x").result(timeout=10)
    silent.set()
    began = time.monotonic()
    futures: list[RecordFuture] = []

    def fill() -> None:
        for _ in range(100):
            futures.append(producer.send("t", bytes(1_000)))

    with pytest.raises(BufferFull, match=r"buffer\.memory") as caught:
        fill()
    assert caught.value.retriable
    assert 10 < len(futures) < 60
    within(10, began)
    producer.close(timeout=0.2)
    assert all(isinstance(future.exception(), ClientClosed) for future in futures)


def test_a_thread_that_waits_for_memory_goes_on_when_there_is_some(proxy: Proxy) -> None:
    silent = threading.Event()
    silent.set()
    proxy.rule = lambda key: "swallow" if key == PRODUCE and silent.is_set() else "pass"
    settings = {**FAST, "max_block_ms": 30_000, "delivery_timeout_ms": 40_000, "request_timeout_ms": 1_500}
    with Producer(proxy.bootstrap, buffer_memory=40_000, **settings) as producer:
        sent: list[int] = []

        def work() -> None:
            for i in range(200):
                producer.send("t", b"%d" % i + bytes(1_000))
                sent.append(i)

        thread = threading.Thread(target=work)
        thread.start()
        wait_until(lambda: len(sent) >= 30, "the buffer to fill")
        silent.clear()
        thread.join(30)
        assert len(sent) == 200
    assert [int((value or b"").rstrip(b"\0")) for value in stored(proxy)] == list(range(200))


# --- leaving --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("timeout", [0, 0.3])
def test_close_returns_in_its_time_and_fails_what_was_not_acknowledged(proxy: Proxy, timeout: float) -> None:
    proxy.rule = lambda key: "swallow" if key == PRODUCE else "pass"
    producer = Producer(proxy.bootstrap, **FAST)
    future = producer.send("t", b"x")
    began = time.monotonic()
    producer.close(timeout=timeout)
    within(timeout + 5, began)
    with pytest.raises(ClientClosed):
        future.result()


def test_close_without_a_timeout_returns_after_delivery_timeout_ms_at_the_latest(proxy: Proxy) -> None:
    proxy.rule = lambda key: "swallow" if key == PRODUCE else "pass"
    producer = Producer(proxy.bootstrap, **FAST)
    future = producer.send("t", b"x")
    began = time.monotonic()
    producer.close()
    within(15, began)
    assert isinstance(future.exception(), OttlaError)


def test_close_ends_the_threads_that_still_wait(proxy: Proxy) -> None:
    proxy.rule = lambda key: "swallow" if key == PRODUCE else "pass"
    producer = Producer(proxy.bootstrap, **{**FAST, "delivery_timeout_ms": 60_000})
    future = producer.send("t", b"x")
    raised: list[BaseException] = []

    def wait(call: Any) -> None:
        try:
            call()
        except OttlaError as error:
            raised.append(error)

    threads = [threading.Thread(target=wait, args=(call,)) for call in (future.result, producer.flush)]
    for thread in threads:
        thread.start()
    wait_until(lambda: PRODUCE in proxy.seen, "the batch to be sent")
    producer.close(timeout=0.1)
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    assert [error for error in raised if not isinstance(error, ClientClosed)] == []


def test_flush_gives_up_after_its_timeout_and_the_records_go_on(proxy: Proxy) -> None:
    silent = threading.Event()
    silent.set()
    proxy.rule = lambda key: "swallow" if key == PRODUCE and silent.is_set() else "pass"
    with Producer(proxy.bootstrap, **{**FAST, "delivery_timeout_ms": 30_000}) as producer:
        future = producer.send("t", b"x")
        with pytest.raises(OperationTimedOut):
            producer.flush(timeout=0.2)
        silent.clear()
        assert future.result(timeout=20).offset == 0


def test_ctrl_c_during_flush_leaves_a_producer_that_works(proxy: Proxy) -> None:
    silent = threading.Event()
    silent.set()
    proxy.rule = lambda key: "swallow" if key == PRODUCE and silent.is_set() else "pass"

    def interrupt() -> None:
        wait_until(lambda: PRODUCE in proxy.seen, "the flush to be under way")
        os.kill(os.getpid(), signal.SIGINT)

    with Producer(proxy.bootstrap, **{**FAST, "delivery_timeout_ms": 30_000}) as producer:
        future = producer.send("t", b"x")
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            producer.flush()
        thread.join()
        assert not future.done()
        silent.clear()
        producer.flush(timeout=20)
        assert future.result().offset == 0
        assert producer.send("t", b"y").result(timeout=10).offset == 1


def test_ctrl_c_at_any_moment_of_a_loop_of_sends_loses_nothing_that_send_has_taken(proxy: Proxy) -> None:
    chance = random.Random(5)
    taken: list[tuple[int, RecordFuture]] = []
    interrupted: list[int] = []
    numbers = itertools.count()
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))

    def send_until_interrupted() -> None:
        try:
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.0002, 0.005))
            for number in itertools.islice(numbers, 2_000):
                headers = {"h": b"1"} if number % 3 else None
                taken.append((number, producer.send("t", b"%d" % number, headers=headers)))
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            interrupted.append(len(taken))

    gc.disable()  # Python ignores what is raised within a collection, where others may have callbacks
    try:
        with Producer(proxy.bootstrap, batch_size=1_000, buffer_memory=50_000) as producer:
            producer.partitions_for("t")
            for _ in range(300):
                send_until_interrupted()
            producer.flush(timeout=30)
            offsets = [(number, future.result().offset) for number, future in taken]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()
    assert len(interrupted) > 100
    values = stored(proxy)
    assert [values[offset] for _, offset in offsets] == [b"%d" % number for number, _ in offsets]
    assert len(set(values)) == len(values)


def test_a_coroutine_that_is_cancelled_while_it_flushes_leaves_a_producer_that_works(proxy: Proxy) -> None:
    silent = threading.Event()
    silent.set()
    proxy.rule = lambda key: "swallow" if key == PRODUCE and silent.is_set() else "pass"

    async def run() -> None:
        async with AioProducer(proxy.bootstrap, **{**FAST, "delivery_timeout_ms": 30_000}) as producer:
            future = await producer.send("t", b"x")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(producer.flush(), 0.2)
            with pytest.raises(OperationTimedOut):
                await producer.flush(timeout=0.1)
            silent.clear()
            assert (await asyncio.wait_for(future, 20)).offset == 0

    asyncio.run(asyncio.wait_for(run(), 40))


def test_a_full_buffer_under_asyncio_is_the_same_error(proxy: Proxy) -> None:
    proxy.rule = lambda key: "swallow" if key == PRODUCE else "pass"

    async def run() -> None:
        producer = AioProducer(proxy.bootstrap, buffer_memory=40_000, **{**FAST, "max_block_ms": 200})
        futures: list[AwaitableRecord] = []

        async def fill() -> None:
            for _ in range(100):
                futures.append(await producer.send("t", bytes(1_000)))

        with pytest.raises(BufferFull):
            await fill()
        await producer.close(timeout=0.1)
        for future in futures:
            with pytest.raises(ClientClosed):
                await future

    asyncio.run(asyncio.wait_for(run(), 30))


def test_a_child_of_a_fork_is_told_to_make_its_own(shared_broker: BrokerProcess) -> None:
    with RawClient(shared_broker.port) as raw:
        raw.create_topic("forked")
    with Producer(shared_broker.bootstrap) as producer:
        producer.send("forked", b"parent").result(timeout=10)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                producer.send("forked", b"child").result(timeout=5)
            except OttlaError:
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert producer.send("forked", b"parent").result(timeout=10).offset == 1
