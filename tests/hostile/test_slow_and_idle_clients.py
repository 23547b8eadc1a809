"""Clients that take their time: one that never reads, one that sends a byte now and then, thousands that
say nothing.
"""

from __future__ import annotations

import resource
import socket
import time
from collections.abc import Iterator

import pytest

from ottla.model.errors import ErrorCode
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.metadata import MetadataRequest
from support.broker_process import BrokerProcess
from support.raw_client import RawClient, batch_of, fetch_request, frame_of, records_of
from support.undisturbed import Undisturbed
from support.waiting import wait_until

IDLE_CONNECTIONS = 5_000


def push(client: RawClient, data: bytes, *, most_bytes: int, stalled_s: float = 0.3) -> int:
    """Sends `data` again and again without reading, until the broker takes no more; the bytes that it
    took.
    """
    client.socket.settimeout(stalled_s)
    sent = 0
    view = memoryview(data)
    at = 0
    while sent < most_bytes:
        try:
            count = client.socket.send(view[at:])
        except TimeoutError:
            return sent
        sent += count
        at = (at + count) % len(data)
    return sent


def test_a_client_that_fetches_and_never_reads_costs_no_memory(
    shared_broker: BrokerProcess, undisturbed: Undisturbed, topic_name: str
) -> None:
    with RawClient(shared_broker.port) as client:
        client.create_topic(topic_name)
        for _ in range(40):
            assert client.produce(topic_name, batch_of(bytes(900_000))).error_code == ErrorCode.NONE
    fetch = frame_of(fetch_request(topic_name, 0), 12)
    with undisturbed(peak_mb=48, lines=4):
        hoarders = [RawClient(shared_broker.port) for _ in range(4)]
        try:
            for hoarder in hoarders:
                # 8 MB a reply, thousands of them asked for: files cost nothing until they are read.
                push(hoarder, fetch * 50, most_bytes=2_000_000)
        finally:
            for hoarder in hoarders:
                hoarder.close()


def test_a_client_that_never_reads_its_replies_is_not_listened_to_any_more(
    shared_broker: BrokerProcess, undisturbed: Undisturbed, topic_name: str
) -> None:
    with RawClient(shared_broker.port) as client:
        client.create_topic(topic_name, partitions=400)
    metadata = frame_of(MetadataRequest(topics=None), 12)
    # One may hold 64 MB of replies; the allocator keeps part of that, and three in a row need no more.
    with undisturbed(peak_mb=130, grown_mb=100, lines=3):
        for _ in range(3):
            hoarder = RawClient(shared_broker.port)
            most_bytes = 64_000_000
            taken = push(hoarder, metadata * 500, most_bytes=most_bytes)
            assert taken < most_bytes, "the broker took every request of a client that reads no reply"
            # It is not cut off: what was asked for is there when it reads after all.
            hoarder.socket.settimeout(10)
            for _ in range(20):
                assert len(hoarder.read_frame()) > 400 * 10
            hoarder.close()


def test_replies_reach_a_client_that_reads_slowly(shared_broker: BrokerProcess, topic_name: str) -> None:
    with RawClient(shared_broker.port) as client:
        client.create_topic(topic_name)
        sent = [b"%d" % index * 1000 for index in range(200)]
        for value in sent:
            client.produce(topic_name, batch_of(value))
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 128 * 1024)
        request = fetch_request(topic_name, 0)
        for _ in range(20):
            client.send(request, 12)
        for _ in range(20):
            _, response = client.receive(request, 12)
            part = response.responses[0].partitions[0]
            assert [each.value for each in records_of(part.records)] == sent


@pytest.fixture(scope="module")
def impatient_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """One second instead of thirty and sixty."""
    limits = {"HANDSHAKE_TIMEOUT_MS": 1_000, "FRAME_TIMEOUT_MS": 1_000}
    broker = BrokerProcess(
        tmp_path_factory.mktemp("impatient") / "data",
        limits=limits,
        settings={"connections.max.idle.ms": "1500"},
    ).start()
    yield broker
    broker.kill()


@pytest.mark.parametrize("greeted", [False, True])
def test_a_client_that_drips_bytes_is_closed(impatient_broker: BrokerProcess, greeted: bool) -> None:
    """Before its first request (the handshake's time) and after it (a frame's)."""
    mark = impatient_broker.log_mark()
    with RawClient(impatient_broker.port) as client:
        port = client.socket.getsockname()[1]
        if greeted:
            client.call(ApiVersionsRequest(), 0)
        frame = frame_of(MetadataRequest(topics=None), 1, client_id="drip" * 100)
        began = time.monotonic()
        client.socket.settimeout(0.1)
        closed = False
        for byte in frame:
            try:
                client.socket.send(bytes([byte]))
                closed = client.socket.recv(1) == b""
            except TimeoutError:
                continue
            except OSError:
                closed = True
            if closed:
                break
        assert closed and 0.5 < time.monotonic() - began < 8
        wait_until(lambda: f":{port}" in impatient_broker.log_since(mark), "a line about it")


def test_a_client_that_says_nothing_for_long_is_closed_quietly(impatient_broker: BrokerProcess) -> None:
    """connections.max.idle.ms: nobody's fault, so no line; a client with a request under way is not
    idle.
    """
    with RawClient(impatient_broker.port) as waiting, RawClient(impatient_broker.port) as idle:
        waiting.create_topic("waited-for")
        idle.call(ApiVersionsRequest(), 0)
        request = fetch_request("waited-for", 0, max_wait_ms=3_500)
        waiting.send(request, 12)
        mark = impatient_broker.log_mark()
        assert idle.is_closed_by_broker(timeout_s=8)
        assert "closing the connection" not in impatient_broker.log_since(mark)
        _, response = waiting.receive(request, 12)
        assert response.error_code == ErrorCode.NONE


def test_five_thousand_idle_connections_are_held_and_cost_little(
    shared_broker: BrokerProcess, undisturbed: Undisturbed
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = IDLE_CONNECTIONS + 1_000
    assert hard == resource.RLIM_INFINITY or hard >= wanted, (
        f"this test needs {wanted} open files, {hard} are allowed"
    )
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    files_before = shared_broker.open_files()
    connections: list[socket.socket] = []
    try:
        before_kb = shared_broker.memory_kb()
        with undisturbed(grown_mb=60, peak_mb=60, lines=None):
            for _ in range(IDLE_CONNECTIONS):
                connections.append(socket.create_connection(("127.0.0.1", shared_broker.port), timeout=20))
            wait_until(
                lambda: shared_broker.open_files() >= files_before + IDLE_CONNECTIONS, "all to be accepted"
            )
            per_connection_kb = (shared_broker.memory_kb() - before_kb) / IDLE_CONNECTIONS
        assert per_connection_kb < 10, f"{per_connection_kb:.1f} KB for each connection"
        # Any of them may still begin to talk.
        assert (
            RawClient(shared_broker.port, connection=connections[1234])
            .call(ApiVersionsRequest(), 0)
            .error_code
            == ErrorCode.NONE
        )
    finally:
        for each in connections:
            each.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    wait_until(lambda: shared_broker.open_files() < files_before + 50, "all to be forgotten", timeout_s=20)
