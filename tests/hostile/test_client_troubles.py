"""What can go wrong around a client, for every kind of client, for threads and for asyncio: nobody there, a
broker that dies in mid-request, one that answers garbage, a leader that moves, a record that is too large, a
closed client, a serializer that raises, a poll that comes too late. Each ends in the exception that is
documented, nothing hangs, and close() returns. (More of the producer's is in test_producer_client.py.)
"""

from __future__ import annotations

import asyncio
import itertools
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from broken_broker import Proxy
from lying_broker import DROP, Exchange, LyingBroker, first, lie_about

import ottla
import ottla.aio
from ottla import TopicPartition
from ottla.client.errors import (
    BrokerUnavailable,
    ClientClosed,
    MaxPollExceeded,
    OperationTimedOut,
    OttlaError,
    ProtocolError,
    RecordTooLarge,
    SerializationFailed,
)
from ottla.model.errors import ErrorCode
from ottla.wire.messages.index import ApiKey
from support.raw_client import RawClient

QUICK: dict[str, Any] = {
    "request_timeout_ms": 1_000,
    "retry_backoff_ms": 20,
    "retry_backoff_max_ms": 100,
    "reconnect_backoff_ms": 10,
    "reconnect_backoff_max_ms": 100,
}
PRODUCER: dict[str, Any] = {**QUICK, "delivery_timeout_ms": 8_000, "max_block_ms": 1_000}
CONSUMER: dict[str, Any] = {
    **QUICK,
    "default_api_timeout_ms": 1_500,
    "auto_offset_reset": "earliest",
    "fetch_max_wait_ms": 100,
}
ADMIN: dict[str, Any] = {**QUICK, "default_api_timeout_ms": 1_500}

TOPIC = "troubles"
HELD = TopicPartition(TOPIC, 0)
POLL_TIMEOUT_S = 20.0
LIMIT_S = 30.0

_groups = (f"troubled-{number}" for number in itertools.count())


def in_loop(work: Callable[[], Awaitable[Any]]) -> Any:
    async def bounded() -> Any:
        return await asyncio.wait_for(work(), LIMIT_S)

    return asyncio.run(bounded())


# --- one question of each kind of client: what it gives shows that it reached the broker ------------------


def produce(address: str) -> Any:
    with ottla.Producer(address, **PRODUCER) as producer:
        return producer.send(TOPIC, b"x").result(timeout=LIMIT_S).offset >= 0


def produce_in_loop(address: str) -> Any:
    async def work() -> Any:
        async with ottla.aio.Producer(address, **PRODUCER) as producer:
            return (await producer.send_and_wait(TOPIC, b"x")).offset >= 0

    return in_loop(work)


def consume(address: str) -> Any:
    with ottla.Consumer(bootstrap_servers=address, **CONSUMER) as consumer:
        consumer.assign([HELD])
        deadline = time.monotonic() + POLL_TIMEOUT_S
        while time.monotonic() < deadline:
            if consumer.poll(1.0):
                return True
    return False


def consume_in_loop(address: str) -> Any:
    async def work() -> Any:
        async with ottla.aio.Consumer(bootstrap_servers=address, **CONSUMER) as consumer:
            consumer.assign([HELD])
            while not await consumer.poll(1.0):
                pass
            return True

    return in_loop(work)


def fetch(address: str) -> Any:
    with ottla.SimpleConsumer(address, **CONSUMER) as consumer:
        return len(consumer.fetch(TOPIC, 0, 0).records) > 0


def fetch_in_loop(address: str) -> Any:
    async def work() -> Any:
        async with ottla.aio.SimpleConsumer(address, **CONSUMER) as consumer:
            return len((await consumer.fetch(TOPIC, 0, 0)).records) > 0

    return in_loop(work)


def administer(address: str) -> Any:
    with ottla.Admin(address, **ADMIN) as admin:
        return len(admin.list_offsets({HELD: -1}).all()) == 1


def administer_in_loop(address: str) -> Any:
    async def work() -> Any:
        async with ottla.aio.Admin(address, **ADMIN) as admin:
            return len((await admin.list_offsets({HELD: -1})).all()) == 1

    return in_loop(work)


KINDS: dict[str, tuple[Callable[[str], Any], ApiKey]] = {
    "Producer": (produce, ApiKey.PRODUCE),
    "aio.Producer": (produce_in_loop, ApiKey.PRODUCE),
    "Consumer": (consume, ApiKey.FETCH),
    "aio.Consumer": (consume_in_loop, ApiKey.FETCH),
    "SimpleConsumer": (fetch, ApiKey.FETCH),
    "aio.SimpleConsumer": (fetch_in_loop, ApiKey.FETCH),
    "Admin": (administer, ApiKey.LIST_OFFSETS),
    "aio.Admin": (administer_in_loop, ApiKey.LIST_OFFSETS),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module", autouse=True)
def topic(liar_of_module: LyingBroker) -> None:
    with RawClient(liar_of_module.broker_port) as raw:
        raw.create_topic(TOPIC)
    produce(liar_of_module.bootstrap)


def free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"127.0.0.1:{listener.getsockname()[1]}"


def raised_by(kind: str, address: str) -> OttlaError:
    began = time.monotonic()
    with pytest.raises(OttlaError) as caught:
        KINDS[kind][0](address)
    assert time.monotonic() - began < LIMIT_S / 2
    return caught.value


# --- nobody, and nobody of Kafka's --------------------------------------------------------------------------


@every_kind
def test_with_no_broker_at_the_address_every_client_says_so(kind: str) -> None:
    error = raised_by(kind, free_address())
    if isinstance(error, OperationTimedOut):  # who waits for a broker to come tells what it waited for
        assert kind.endswith(("Producer", "SimpleConsumer"))
        error = error.__cause__  # type: ignore[assignment]
    assert isinstance(error, BrokerUnavailable)


@pytest.fixture
def web_server() -> Iterator[str]:
    proxy = Proxy()
    proxy.rule = lambda api_key: "garbage"
    yield proxy.bootstrap
    proxy.close()


@every_kind
def test_a_peer_that_answers_garbage_is_a_protocol_error_in_every_client(kind: str, web_server: str) -> None:
    error = raised_by(kind, web_server)
    assert isinstance(error, ProtocolError)
    assert "web server" in str(error)


# --- brokers that come and go -------------------------------------------------------------------------------


@every_kind
def test_a_broker_that_dies_in_mid_request_is_asked_again(kind: str, liar: LyingBroker) -> None:
    ask, api_key = KINDS[kind]
    before = liar.asked(api_key)
    liar.lie = lie_about(api_key, first(2, lambda exchange: DROP))
    assert ask(liar.bootstrap)
    assert liar.asked(api_key) >= before + 2  # one lie may have met the last words of the client before


@every_kind
def test_half_an_answer_is_as_none(kind: str, liar: LyingBroker) -> None:
    """The connection breaks within a frame."""
    ask, api_key = KINDS[kind]

    def half(exchange: Exchange) -> bytes:
        exchange.last = True
        return exchange.frame()[:-5]

    liar.lie = lie_about(api_key, first(1, half))
    assert ask(liar.bootstrap)


def not_leader(exchange: Exchange) -> None:
    response = exchange.response
    if exchange.api_key == ApiKey.PRODUCE:
        partitions = [p for t in response.responses for p in t.partition_responses]
    elif exchange.api_key == ApiKey.FETCH:
        partitions = [p for t in response.responses for p in t.partitions]
    else:
        partitions = [p for t in response.topics for p in t.partitions]
    for partition in partitions:
        partition.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        if exchange.api_key == ApiKey.FETCH:
            partition.records = b""


@every_kind
def test_a_leader_that_moves_is_looked_for_and_asked_again(kind: str, liar: LyingBroker) -> None:
    ask, api_key = KINDS[kind]
    asked, looked = liar.asked(api_key), liar.asked(ApiKey.METADATA)
    liar.lie = lie_about(api_key, first(2, not_leader))
    assert ask(liar.bootstrap)
    assert liar.asked(api_key) >= asked + 2
    assert liar.asked(ApiKey.METADATA) >= looked + 2  # the first one, and one because it moved


def test_a_leader_that_never_comes_back_costs_the_record_after_delivery_timeout_ms(liar: LyingBroker) -> None:
    liar.lie = lie_about(ApiKey.PRODUCE, not_leader)
    settings = {**PRODUCER, "delivery_timeout_ms": 1_500}
    with ottla.Producer(liar.bootstrap, **settings) as producer:
        error = producer.send(TOPIC, b"x").exception(timeout=LIMIT_S)
    assert isinstance(error, ottla.errors.DeliveryTimedOut)
    assert isinstance(error.__cause__, ottla.errors.NotLeader)


# --- records, serializers, closed clients -------------------------------------------------------------------


def test_a_record_larger_than_the_limit_is_refused_by_both_producers(liar: LyingBroker) -> None:
    with ottla.Producer(liar.bootstrap, max_request_size=1_000, **PRODUCER) as producer:
        with pytest.raises(RecordTooLarge):
            producer.send(TOPIC, bytes(1_001))
        assert producer.send(TOPIC, b"small").result(timeout=LIMIT_S).offset > 0

    async def work() -> None:
        async with ottla.aio.Producer(liar.bootstrap, max_request_size=1_000, **PRODUCER) as producer:
            with pytest.raises(RecordTooLarge):
                await producer.send(TOPIC, bytes(1_001))
            assert (await producer.send_and_wait(TOPIC, b"small")).offset > 0

    in_loop(work)


def refuse(value: Any) -> Any:
    raise RuntimeError("no")


def test_a_serializer_that_raises_is_the_failure_of_its_send(liar: LyingBroker) -> None:
    with (
        ottla.Producer(liar.bootstrap, value_serializer=refuse, **PRODUCER) as producer,
        pytest.raises(SerializationFailed) as caught,
    ):
        producer.send(TOPIC, b"x")
    assert isinstance(caught.value.__cause__, RuntimeError)

    async def work() -> None:
        async with ottla.aio.Producer(liar.bootstrap, value_serializer=refuse, **PRODUCER) as producer:
            with pytest.raises(SerializationFailed):
                await producer.send(TOPIC, b"x")

    in_loop(work)


def test_a_deserializer_that_raises_is_raised_with_its_place_and_holds_the_position(
    liar: LyingBroker,
) -> None:
    settings = {**CONSUMER, "value_deserializer": refuse}
    with ottla.Consumer(bootstrap_servers=liar.bootstrap, **settings) as consumer:
        consumer.assign([HELD])
        for _ in range(2):
            with pytest.raises(SerializationFailed) as caught:
                consumer.poll(LIMIT_S)
            assert (caught.value.topic, caught.value.partition, caught.value.offset) == (*HELD, 0)
        assert consumer.position(HELD) == 0
    with (
        ottla.SimpleConsumer(liar.bootstrap, **settings) as simple,
        pytest.raises(SerializationFailed),
    ):
        _ = simple.fetch(TOPIC, 0, 0).records

    async def work() -> None:
        async with ottla.aio.Consumer(bootstrap_servers=liar.bootstrap, **settings) as consumer:
            consumer.assign([HELD])
            with pytest.raises(SerializationFailed):
                await consumer.poll(LIMIT_S)
        async with ottla.aio.SimpleConsumer(liar.bootstrap, **settings) as simple:
            fetched = await simple.fetch(TOPIC, 0, 0)
            with pytest.raises(SerializationFailed):
                _ = fetched.records

    in_loop(work)


def test_closed_clients_for_threads_say_so_and_close_again(liar: LyingBroker) -> None:
    producer = ottla.Producer(liar.bootstrap, **PRODUCER)
    consumer = ottla.Consumer(bootstrap_servers=liar.bootstrap, group_id=next(_groups), **CONSUMER)
    consumer.assign([HELD])
    simple = ottla.SimpleConsumer(liar.bootstrap, **CONSUMER)
    admin = ottla.Admin(liar.bootstrap, **ADMIN)
    calls: list[Callable[[], Any]] = [
        lambda: producer.send(TOPIC, b"x"),
        producer.flush,
        lambda: producer.partitions_for(TOPIC),
        lambda: consumer.poll(1.0),
        consumer.commit,
        lambda: consumer.seek(HELD, 0),
        lambda: consumer.end_offsets([HELD]),
        lambda: simple.fetch(TOPIC, 0, 0),
        lambda: simple.latest(TOPIC, 0),
        admin.list_topics,
        lambda: admin.delete_topics([TOPIC]),
    ]
    for client in (producer, consumer, simple, admin):
        client.close()  # type: ignore[attr-defined]
        client.close()  # type: ignore[attr-defined]
    for call in calls:
        with pytest.raises(ClientClosed):
            call()


def test_closed_clients_for_asyncio_say_so_and_close_again(liar: LyingBroker) -> None:
    async def work() -> None:
        producer = ottla.aio.Producer(liar.bootstrap, **PRODUCER)
        consumer = ottla.aio.Consumer(bootstrap_servers=liar.bootstrap, group_id=next(_groups), **CONSUMER)
        consumer.assign([HELD])
        simple = ottla.aio.SimpleConsumer(liar.bootstrap, **CONSUMER)
        await simple.latest(TOPIC, 0)
        admin = ottla.aio.Admin(liar.bootstrap, **ADMIN)
        for client in (producer, consumer, simple, admin):
            await client.close()  # type: ignore[attr-defined]
            await client.close()  # type: ignore[attr-defined]
        calls: list[Callable[[], Awaitable[Any]]] = [
            lambda: producer.send(TOPIC, b"x"),
            producer.flush,
            lambda: producer.partitions_for(TOPIC),
            lambda: consumer.poll(1.0),
            consumer.commit,
            lambda: consumer.end_offsets([HELD]),
            lambda: simple.fetch(TOPIC, 0, 0),
            lambda: simple.latest(TOPIC, 0),
            admin.list_topics,
            lambda: admin.delete_topics([TOPIC]),
        ]
        for call in calls:
            with pytest.raises(ClientClosed):
                await call()

    in_loop(work)


# --- a poll that comes too late -----------------------------------------------------------------------------

LATE: dict[str, Any] = {**CONSUMER, "max_poll_interval_ms": 300, "enable_auto_commit": False}


def test_a_poll_that_comes_too_late_costs_the_partitions_and_the_next_one_joins_again(
    liar: LyingBroker,
) -> None:
    with ottla.Consumer(TOPIC, bootstrap_servers=liar.bootstrap, group_id=next(_groups), **LATE) as consumer:
        read = consumer.poll(timeout=None)
        deadline = time.monotonic() + LIMIT_S
        while consumer.joined() and time.monotonic() < deadline:
            time.sleep(0.02)
        with pytest.raises(MaxPollExceeded):
            consumer.commit()
        again = consumer.poll(timeout=None)
        assert again[0].offset == read[0].offset == 0
        consumer.commit()


def test_under_asyncio_a_poll_that_comes_too_late_is_the_same(liar: LyingBroker) -> None:
    async def work() -> None:
        group = next(_groups)
        async with ottla.aio.Consumer(
            TOPIC, bootstrap_servers=liar.bootstrap, group_id=group, **LATE
        ) as consumer:
            assert await consumer.poll(timeout=None)
            while consumer.joined():
                await asyncio.sleep(0.02)
            with pytest.raises(MaxPollExceeded):
                await consumer.commit()
            assert (await consumer.poll(timeout=None))[0].offset == 0
            await consumer.commit()

    in_loop(work)
