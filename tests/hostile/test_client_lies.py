"""Brokers that lie within the protocol: addresses that cannot be, coordinators and partitions that were not
asked for, offsets that no log has, answers that leave things out. Each ends in an exception of Ottla's or is
passed over; nothing hangs, nothing is taken for done that is not.
"""

from __future__ import annotations

import asyncio
import itertools
import struct
import time
from collections.abc import Callable
from typing import Any

import pytest
from lying_broker import HOLD, Exchange, LyingBroker, lie_about

import ottla
import ottla.aio
from ottla import TopicPartition
from ottla.client.errors import (
    BrokerUnavailable,
    DeliveryTimedOut,
    OperationTimedOut,
    OttlaError,
    ProtocolError,
    RequestTimedOut,
    ServerError,
)
from ottla.wire.messages.index import ApiKey
from support.raw_client import RawClient

QUICK: dict[str, Any] = {
    "request_timeout_ms": 500,
    "retry_backoff_ms": 20,
    "retry_backoff_max_ms": 100,
    "reconnect_backoff_ms": 10,
    "reconnect_backoff_max_ms": 50,
}
PRODUCER: dict[str, Any] = {**QUICK, "delivery_timeout_ms": 1_200, "max_block_ms": 1_000}
CONSUMER: dict[str, Any] = {
    **QUICK,
    "default_api_timeout_ms": 1_200,
    "auto_offset_reset": "earliest",
    "fetch_max_wait_ms": 100,
}
TOPIC = "lies"
HELD = TopicPartition(TOPIC, 0)
BATCHES = 4
PER_BATCH = 5
LIMIT_S = 20.0

_groups = (f"lied-to-{number}" for number in itertools.count())


@pytest.fixture(scope="module", autouse=True)
def topic(liar_of_module: LyingBroker) -> None:
    """Four batches of five records."""
    with RawClient(liar_of_module.broker_port) as raw:
        raw.create_topic(TOPIC)
    with ottla.Producer(liar_of_module.bootstrap, linger_ms=1_000) as producer:
        for _ in range(BATCHES):
            for number in range(PER_BATCH):
                producer.send(TOPIC, b"%d" % number)
            producer.flush()


def reading(liar: LyingBroker, **settings: Any) -> ottla.Consumer:
    consumer = ottla.Consumer(bootstrap_servers=liar.bootstrap, **{**CONSUMER, **settings})
    consumer.assign([HELD])
    return consumer


def in_group(liar: LyingBroker, protocol: str = "classic", **settings: Any) -> ottla.Consumer:
    return ottla.Consumer(
        TOPIC,
        bootstrap_servers=liar.bootstrap,
        group_id=next(_groups),
        group_protocol=protocol,
        **{**CONSUMER, **settings},
    )


def until(consumer: ottla.Consumer, count: int) -> list[Any]:
    records: list[Any] = []
    deadline = time.monotonic() + LIMIT_S
    while len(records) < count and time.monotonic() < deadline:
        records += consumer.poll(0.2)
    return records


# --- where brokers are --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", -5), ("127.0.0.1", 700_000), ("a\0b", 9092)])
def test_an_address_that_cannot_be_is_an_unavailable_broker(liar: LyingBroker, host: str, port: int) -> None:
    def elsewhere(exchange: Exchange) -> None:
        for broker in exchange.response.brokers:
            broker.host, broker.port = host, port

    liar.lie = lie_about(ApiKey.METADATA, elsewhere)
    with ottla.Producer(liar.bootstrap, **PRODUCER) as producer:
        error = producer.send(TOPIC, b"x").exception(timeout=LIMIT_S)
    assert isinstance(error, DeliveryTimedOut) and isinstance(error.__cause__, BrokerUnavailable)
    with ottla.SimpleConsumer(liar.bootstrap, **CONSUMER) as simple:
        with pytest.raises(OperationTimedOut) as caught:
            simple.fetch(TOPIC, 0, 0)
        assert isinstance(caught.value.__cause__, BrokerUnavailable)

    async def work() -> None:
        async with ottla.aio.Producer(liar.bootstrap, **PRODUCER) as producer:
            with pytest.raises(DeliveryTimedOut):
                await asyncio.wait_for(producer.send_and_wait(TOPIC, b"x"), LIMIT_S)

    asyncio.run(work())


def test_a_broker_that_never_answers_is_not_an_empty_topic(liar: LyingBroker) -> None:
    liar.intercept = lambda api_key, request: HOLD
    with reading(liar) as consumer, pytest.raises(RequestTimedOut):
        until(consumer, 1)


# --- groups -------------------------------------------------------------------------------------------------


def another_key(exchange: Exchange) -> None:
    for coordinator in exchange.response.coordinators:
        coordinator.key = "somebody"


def no_coordinator(exchange: Exchange) -> None:
    exchange.response.coordinators = []


@pytest.mark.parametrize("change", [another_key, no_coordinator])
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_an_answer_about_another_group_than_the_one_asked_for_is_an_error(
    liar: LyingBroker, protocol: str, change: Callable[[Exchange], None]
) -> None:
    liar.lie = lie_about(ApiKey.FIND_COORDINATOR, change)
    with in_group(liar, protocol) as consumer, pytest.raises(ServerError, match="leaves it out"):
        until(consumer, 1)


def impossible_partitions(exchange: Exchange) -> None:
    if exchange.api_key == ApiKey.SYNC_GROUP:
        name = TOPIC.encode()
        exchange.response.assignment = struct.pack(
            f">hih{len(name)}siiiii", 1, 1, len(name), name, 3, 0, 7_777, -3, -1
        )
    elif exchange.api_key == ApiKey.CONSUMER_GROUP_HEARTBEAT and exchange.response.assignment is not None:
        for topic in exchange.response.assignment.topic_partitions:
            topic.partitions = [0, 7_777, -3]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_partitions_that_do_not_exist_do_not_keep_the_others_from_being_read(
    liar: LyingBroker, protocol: str
) -> None:
    liar.lie = impossible_partitions  # type: ignore[assignment]
    with in_group(liar, protocol, enable_auto_commit=False) as consumer:
        assert len(until(consumer, BATCHES * PER_BATCH)) == BATCHES * PER_BATCH


def test_a_negative_committed_offset_is_none(liar: LyingBroker) -> None:
    """As in Java, which takes only those from 0 on."""

    def negative(exchange: Exchange) -> None:
        for group in exchange.response.groups:
            for each in group.topics:
                for partition in each.partitions:
                    partition.committed_offset = -7

    liar.lie = lie_about(ApiKey.OFFSET_FETCH, negative)
    with in_group(liar) as consumer:
        assert until(consumer, 1)[0].offset == 0
        assert consumer.committed(HELD) == {HELD: None}


def test_what_the_broker_says_nothing_about_is_not_committed(liar: LyingBroker) -> None:
    def silent(exchange: Exchange) -> None:
        exchange.response.topics = []

    with in_group(liar, enable_auto_commit=False) as consumer:
        assert until(consumer, 1)
        liar.lie = lie_about(ApiKey.OFFSET_COMMIT, silent)
        with pytest.raises(ServerError, match="leaves it out"):
            consumer.commit()


# --- records ------------------------------------------------------------------------------------------------


def batches_of(change: Callable[[bytearray, list[int]], None]) -> Any:
    """Changes the batches of every answer to a fetch from offset 0; is given where each of them begins."""

    def spoil(exchange: Exchange) -> None:
        for each in exchange.response.responses:
            for partition in each.partitions:
                data = bytearray(partition.records or b"")
                starts: list[int] = []
                at = 0
                while at < len(data):
                    starts.append(at)
                    at += 12 + struct.unpack_from(">i", data, at + 8)[0]
                if len(starts) == BATCHES:
                    change(data, starts)
                    partition.records = bytes(data)

    return lie_about(ApiKey.FETCH, spoil)


def damage_the_third(data: bytearray, starts: list[int]) -> None:
    data[starts[2] + 62] ^= 0xFF


def test_what_lies_before_a_damaged_batch_is_handed_out_first_as_columns_too(liar: LyingBroker) -> None:
    liar.lie = batches_of(damage_the_third)
    good = list(range(2 * PER_BATCH))
    with reading(liar) as consumer:
        assert [record.offset for record in until(consumer, len(good))] == good
        with pytest.raises(ProtocolError) as caught:
            consumer.poll(LIMIT_S)
        assert caught.value.offset == len(good)
    with reading(liar) as consumer:
        assert consumer.poll_arrow(LIMIT_S)["offset"].to_pylist() == good
        with pytest.raises(ProtocolError) as caught:
            consumer.poll_arrow(LIMIT_S)
        assert caught.value.offset == len(good)


@pytest.mark.parametrize("offset", [-500, 2**63 - 1])
def test_offsets_that_no_log_has_are_never_handed_out(liar: LyingBroker, offset: int) -> None:
    """The base offset lies outside of a batch's CRC."""
    liar.lie = batches_of(lambda data, starts: struct.pack_into(">q", data, starts[0], offset))
    with reading(liar) as consumer:
        with pytest.raises(ProtocolError, match="offsets"):
            consumer.poll(LIMIT_S)
        assert consumer.position(HELD) == 0
    with reading(liar) as consumer, pytest.raises(ProtocolError, match="offsets"):
        consumer.poll_arrow(LIMIT_S)


def test_columns_never_go_backwards(liar: LyingBroker) -> None:
    def repeat(data: bytearray, starts: list[int]) -> None:
        data += data[: starts[1]]

    liar.lie = batches_of(repeat)
    whole = list(range(BATCHES * PER_BATCH))
    with reading(liar) as consumer:
        assert consumer.poll_arrow(LIMIT_S)["offset"].to_pylist() == whole


@pytest.mark.parametrize("name", ["magic", "length"])
def test_a_range_of_what_is_no_batch_is_an_error_at_once(liar: LyingBroker, name: str) -> None:
    def spoil(data: bytearray, starts: list[int]) -> None:
        if name == "magic":
            data[16] = 9
        else:
            struct.pack_into(">i", data, 8, 2**31 - 1)

    liar.lie = batches_of(spoil)
    with (
        ottla.SimpleConsumer(liar.bootstrap, **{**CONSUMER, "default_api_timeout_ms": 60_000}) as simple,
        pytest.raises(ProtocolError),
    ):
        list(simple.read_range(TOPIC, 0, 0, BATCHES * PER_BATCH))


def test_a_preferred_replica_that_nobody_knows_is_waited_for_no_longer_than_the_timeout(
    liar: LyingBroker,
) -> None:
    def elsewhere(exchange: Exchange) -> None:
        for each in exchange.response.responses:
            for partition in each.partitions:
                partition.preferred_read_replica = 99
                partition.records = b""

    liar.lie = lie_about(ApiKey.FETCH, elsewhere)
    before = liar.asked(ApiKey.FETCH)
    with ottla.SimpleConsumer(liar.bootstrap, **CONSUMER) as simple, pytest.raises(OperationTimedOut):
        simple.fetch(TOPIC, 0, 0)
    assert liar.asked(ApiKey.FETCH) - before < 100  # with pauses


# --- acknowledgements ---------------------------------------------------------------------------------------


def partitions_of(exchange: Exchange) -> list[Any]:
    return [p for each in exchange.response.responses for p in each.partition_responses]


@pytest.mark.parametrize("index", [-3, 55])
def test_an_acknowledgement_of_another_partition_is_none(liar: LyingBroker, index: int) -> None:
    def of_another(exchange: Exchange) -> None:
        for partition in partitions_of(exchange):
            partition.index = index

    liar.lie = lie_about(ApiKey.PRODUCE, of_another)
    with ottla.Producer(liar.bootstrap, **PRODUCER) as producer:
        error = producer.send(TOPIC, b"x").exception(timeout=LIMIT_S)
    assert isinstance(error, OttlaError)


def test_a_producer_id_that_cannot_be_is_not_used(liar: LyingBroker) -> None:
    def negative(exchange: Exchange) -> None:
        exchange.response.producer_id = -7

    liar.lie = lie_about(ApiKey.INIT_PRODUCER_ID, negative)
    before = liar.asked(ApiKey.PRODUCE)
    with ottla.Producer(liar.bootstrap, **PRODUCER) as producer:
        assert isinstance(producer.send(TOPIC, b"x").exception(timeout=LIMIT_S), OttlaError)
    assert liar.asked(ApiKey.PRODUCE) == before
