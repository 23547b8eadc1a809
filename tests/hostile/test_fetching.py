"""Fetch and order, byte by byte: offsets inside a batch, limits, long polls, sessions (KIP-227),
pipelining.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from ottla.model.errors import ErrorCode
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.metadata import MetadataRequest
from ottla.wire.record_batch import read_header
from support.broker_process import BrokerProcess
from support.raw_client import RawClient, batch_of, fetch_request, frame_of, produce_request, records_of


@pytest.fixture
def topic(raw: RawClient, topic_name: str) -> str:
    raw.create_topic(topic_name, partitions=3)
    return topic_name


def test_a_fetch_inside_a_batch_gets_the_whole_batch(raw: RawClient, topic: str) -> None:
    raw.produce(topic, batch_of(b"0", b"1", b"2", b"3"))
    raw.produce(topic, batch_of(b"4", b"5"))
    for offset in range(6):
        part = raw.fetch(topic, offset)
        got = [each.offset for each in records_of(part.records)]
        assert got == list(range(0 if offset < 4 else 4, 6))
    assert not raw.fetch(topic, 6).records
    assert raw.fetch(topic, 7).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert raw.fetch(topic, -1).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_limits_cut_the_answer_but_never_the_first_batch(raw: RawClient, topic: str) -> None:
    """KIP-74: one batch is sent whole, however small the limits; after that they hold."""
    for _ in range(10):
        raw.produce(topic, batch_of(bytes(50_000)))
    part = raw.fetch(topic, 0, partition_max_bytes=1, max_bytes=1)
    assert read_header(bytes(part.records)).size_bytes == len(part.records)
    part = raw.fetch(topic, 0, partition_max_bytes=120_000)
    assert 100_000 <= len(part.records) <= 120_000
    part = raw.fetch(topic, 0, max_bytes=170_000)
    assert 150_000 <= len(part.records) <= 170_000


def test_a_long_poll_ends_when_data_comes(shared_broker: BrokerProcess, raw: RawClient, topic: str) -> None:
    with RawClient(shared_broker.port) as waiting:
        request = fetch_request(topic, 0, max_wait_ms=20_000, min_bytes=1)
        waiting.send(request, 12)
        waiting.socket.settimeout(0.15)
        with pytest.raises(TimeoutError):
            waiting.socket.recv(1)
        waiting.socket.settimeout(10)
        began = time.monotonic()
        raw.produce(topic, batch_of(b"news"))
        _, response = waiting.receive(request, 12)
        assert time.monotonic() - began < 1.0
        assert [each.value for each in records_of(response.responses[0].partitions[0].records)] == [b"news"]


def test_a_long_poll_waits_for_min_bytes_and_not_longer_than_asked(
    shared_broker: BrokerProcess, raw: RawClient, topic: str
) -> None:
    raw.produce(topic, batch_of(b"a little"))
    began = time.monotonic()
    part = raw.fetch(topic, 0, max_wait_ms=400, min_bytes=100_000)
    assert 0.35 < time.monotonic() - began < 3
    assert len(records_of(part.records)) == 1
    with RawClient(shared_broker.port) as waiting:
        request = fetch_request(topic, 0, max_wait_ms=20_000, min_bytes=100_000)
        waiting.send(request, 12)
        for _ in range(4):
            raw.produce(topic, batch_of(bytes(30_000)))
        _, response = waiting.receive(request, 12)
        assert len(response.responses[0].partitions[0].records) >= 100_000


def test_a_long_poll_ends_when_its_topic_is_deleted(
    shared_broker: BrokerProcess, raw: RawClient, topic: str
) -> None:
    with RawClient(shared_broker.port) as waiting:
        request = fetch_request(topic, 0, max_wait_ms=20_000)
        waiting.send(request, 12)
        # The request is there when a later one on another connection has been answered after it was seen.
        waiting.socket.settimeout(0.1)
        with pytest.raises(TimeoutError):
            waiting.socket.recv(1)
        waiting.socket.settimeout(10)
        raw.call(DeleteTopicsRequest(topics=[DeleteTopicState(name=topic)], timeout_ms=5000), 6)
        _, response = waiting.receive(request, 12)
        assert response.responses[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_pipelined_requests_are_answered_in_order(
    shared_broker: BrokerProcess, raw: RawClient, topic: str
) -> None:
    with RawClient(shared_broker.port) as client:
        requests: list[tuple[Any, int]] = []
        for index in range(300):
            kinds: list[tuple[Any, int]] = [
                (produce_request(topic, batch_of(b"%d" % index)), 9),
                (fetch_request(topic, 0, max_wait_ms=30, min_bytes=10**6), 12),
                (MetadataRequest(topics=None), 12),
                (ApiVersionsRequest(), 0),
            ]
            requests.append(kinds[index % 4 if index % 50 else 1])
        data = b"".join(
            frame_of(request, version, 1000 + at) for at, (request, version) in enumerate(requests)
        )
        sender = threading.Thread(target=client.socket.sendall, args=(data,))
        sender.start()
        answered = [client.receive(request, version)[0] for request, version in requests]
        sender.join()
        assert answered == list(range(1000, 1300))
    values = [int(each.value or b"") for each in raw.read_all(topic)]
    assert values == sorted(values), "the appends of one connection keep its order"


def test_a_request_waits_for_the_topic_that_the_one_before_it_creates(
    shared_broker: BrokerProcess, topic_name: str
) -> None:
    with RawClient(shared_broker.port) as client:
        asked = CreatableTopic(name=topic_name, num_partitions=1, replication_factor=1)
        create = CreateTopicsRequest(topics=[asked], timeout_ms=5000)
        produce = produce_request(topic_name, batch_of(b"at once"))
        client.send_bytes(frame_of(create, 7, 1) + frame_of(produce, 9, 2))
        assert client.receive(create, 7)[1].topics[0].error_code == ErrorCode.NONE
        assert client.receive(produce, 9)[1].responses[0].partition_responses[0].error_code == ErrorCode.NONE


# --- sessions
# -----------------------------------------------------------------------------------------------


def session_fetch(
    session_id: int,
    epoch: int,
    positions: dict[tuple[str, int], int] | None = None,
    forgotten: dict[str, list[int]] | None = None,
) -> FetchRequest:
    topics: dict[str, list[FetchPartition]] = {}
    for (topic, partition), offset in (positions or {}).items():
        topics.setdefault(topic, []).append(
            FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=1_000_000)
        )
    return FetchRequest(
        max_wait_ms=0,
        min_bytes=1,
        max_bytes=10_000_000,
        session_id=session_id,
        session_epoch=epoch,
        topics=[FetchTopic(topic=name, partitions=parts) for name, parts in topics.items()],
        forgotten_topics_data=[
            ForgottenTopic(topic=name, partitions=parts) for name, parts in (forgotten or {}).items()
        ],
    )


def partitions_in(response: Any) -> dict[tuple[str, int], list[bytes | None]]:
    return {
        (each.topic, part.partition_index): [record.value for record in records_of(part.records)]
        for each in response.responses
        for part in each.partitions
    }


def test_a_session_tells_only_what_is_new(raw: RawClient, topic: str) -> None:
    everything = {(topic, index): 0 for index in range(3)}
    first = raw.call(session_fetch(0, 0, everything), 12)
    assert first.error_code == ErrorCode.NONE and first.session_id != 0
    assert set(partitions_in(first)) == set(everything)
    session = first.session_id

    assert partitions_in(raw.call(session_fetch(session, 1), 12)) == {}
    raw.produce(topic, batch_of(b"x"), partition=1)
    assert partitions_in(raw.call(session_fetch(session, 2), 12)) == {(topic, 1): [b"x"]}
    # Until the reader moves on, the same data is there again.
    assert partitions_in(raw.call(session_fetch(session, 3), 12)) == {(topic, 1): [b"x"]}
    assert partitions_in(raw.call(session_fetch(session, 4, {(topic, 1): 1}), 12)) == {}

    raw.produce(topic, batch_of(b"y"), partition=1)
    raw.produce(topic, batch_of(b"z"), partition=2)
    told = partitions_in(raw.call(session_fetch(session, 5, forgotten={topic: [1]}), 12))
    assert told == {(topic, 2): [b"z"]}, "a forgotten partition is not told about"
    back = partitions_in(raw.call(session_fetch(session, 6, {(topic, 1): 1}), 12))
    assert back == {(topic, 1): [b"y"], (topic, 2): [b"z"]}


def test_a_session_knows_its_epochs(raw: RawClient, topic: str) -> None:
    session = raw.call(session_fetch(0, 0, {(topic, 0): 0}), 12).session_id
    assert raw.call(session_fetch(session, 7), 12).error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    assert raw.call(session_fetch(session, 1), 12).error_code == ErrorCode.NONE
    assert raw.call(session_fetch(session, 1), 12).error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    assert raw.call(session_fetch(session + 1, 1), 12).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    # The final epoch ends it, and is answered like a fetch without one.
    last = raw.call(session_fetch(session, -1, {(topic, 0): 0}), 12)
    assert (last.error_code, last.session_id) == (ErrorCode.NONE, 0)
    assert raw.call(session_fetch(session, 2), 12).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_full_fetch_replaces_a_session(raw: RawClient, topic: str) -> None:
    first = raw.call(session_fetch(0, 0, {(topic, 0): 0}), 12).session_id
    second = raw.call(session_fetch(first, 0, {(topic, 0): 0}), 12).session_id
    assert second not in (0, first)
    assert raw.call(session_fetch(first, 1), 12).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_session_sees_a_topic_that_was_made_anew(raw: RawClient, topic: str) -> None:
    """By id (v13 on): the id of the old topic is not known any more."""
    old = raw.topic_id(topic)
    raw.call(DeleteTopicsRequest(topics=[DeleteTopicState(name=topic)], timeout_ms=5000), 6)
    raw.create_topic(topic)
    raw.produce(topic, batch_of(b"new"))
    answer = raw.call(fetch_request("", 0, topic_id=old), 16)
    assert answer.responses[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID
    answer = raw.call(fetch_request("", 0, topic_id=raw.topic_id(topic)), 16)
    assert [each.value for each in records_of(answer.responses[0].partitions[0].records)] == [b"new"]


def test_more_sessions_than_there_is_room_for_are_answered_without(
    shared_broker: BrokerProcess, raw: RawClient, topic: str
) -> None:
    """max.incremental.fetch.session.cache.slots is 1,000: the rest gets session id 0, which every client
    accepts.
    """
    ids = [raw.call(session_fetch(0, 0, {(topic, 0): 0}), 12).session_id for _ in range(1_100)]
    assert 0 in ids and len(set(ids) - {0}) <= 1_000
    assert raw.call(session_fetch(0, 0, {(topic, 0): 0}), 12).error_code == ErrorCode.NONE


# --- idempotence on the wire
# --------------------------------------------------------------------------------


def test_sequences_are_checked_and_duplicates_answered_with_their_first_offset(
    raw: RawClient, topic: str
) -> None:
    """KIP-98: the last five batches of a producer are remembered."""
    got = raw.call(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000), 4)
    pid = got.producer_id

    def send(sequence: int, epoch: int = 0, count: int = 2) -> tuple[int, int]:
        batch = batch_of(
            *(b"%d" % (sequence + i) for i in range(count)),
            producer_id=pid,
            producer_epoch=epoch,
            base_sequence=sequence,
        )
        answer = raw.produce(topic, batch)
        return answer.error_code, answer.base_offset

    for number in range(7):
        assert send(number * 2) == (ErrorCode.NONE, number * 2)
    for number in range(2, 7):
        assert send(number * 2) == (ErrorCode.NONE, number * 2), "one of the last five"
    assert send(20)[0] == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(0)[0] in (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.DUPLICATE_SEQUENCE_NUMBER)
    assert send(0, epoch=1) == (ErrorCode.NONE, 14), "a new epoch begins at 0"
    assert send(14, epoch=0)[0] == ErrorCode.INVALID_PRODUCER_EPOCH
    assert send(5, epoch=2)[0] == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert raw.end_offset(topic) == 16
