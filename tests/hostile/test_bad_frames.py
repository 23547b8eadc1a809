"""Bytes that are no request: each ends its own connection with one line in the log, and nobody else
notices.
"""

from __future__ import annotations

import socket
import struct
import time

import pytest

from ottla.model.errors import ErrorCode
from ottla.wire.framing import decode_response
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.index import APIS, ApiKey
from ottla.wire.messages.metadata import MetadataRequest
from ottla.wire.messages.produce import ProduceRequest
from support.broker_process import BrokerProcess
from support.raw_client import RawClient, batch_of, frame_of, produce_request
from support.undisturbed import Undisturbed
from support.waiting import wait_until


def header(api_key: int, version: int, *, flexible: bool = False) -> bytes:
    """A request header with the client id `x`."""
    return struct.pack(">hhih", api_key, version, 7, 1) + b"x" + (b"\0" if flexible else b"")


TLS_HELLO = bytes.fromhex("16030100f8010000f40303") + bytes(range(200))
NOT_FRAMES = {
    "a negative length": struct.pack(">i", -1),
    "the smallest length": struct.pack(">i", -(2**31)),
    "the largest length": struct.pack(">i", 2**31 - 1),
    "a length just above the limit": struct.pack(">i", 100 * 1024 * 1024 + 1) + header(3, 1),
    "an empty frame": struct.pack(">i", 0),
    "a frame too short for a header": struct.pack(">i", 4) + b"abcd",
    "a TLS hello": TLS_HELLO,
    "an HTTP request": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "an SSH greeting": b"SSH-2.0-OpenSSH_9.2\r\n",
}

METADATA_ARRAY = struct.Struct(">i")
NOT_REQUESTS = {
    "an unknown API key": header(9999, 0),
    "a negative API key": header(-5, 0),
    "an API of the controllers": header(ApiKey.VOTE, 0),
    "a version that does not exist": header(ApiKey.METADATA, 99, flexible=True),
    "a negative version": header(ApiKey.METADATA, -1),
    "an old version that was removed": header(ApiKey.FETCH, 3) + bytes(40),
    "an array larger than its frame": header(ApiKey.METADATA, 1) + METADATA_ARRAY.pack(2**31 - 1),
    "an array of a million in a small frame": header(ApiKey.METADATA, 1)
    + METADATA_ARRAY.pack(10**6)
    + bytes(100),
    "a compact array larger than its frame": header(ApiKey.METADATA, 9, flexible=True)
    + b"\xff\xff\xff\xff\x0f",
    "a varint without an end": header(ApiKey.METADATA, 9, flexible=True) + b"\xff" * 40,
    "a string longer than its frame": header(ApiKey.METADATA, 1) + struct.pack(">ih", 1, 30000) + b"short",
    "a client id longer than its frame": struct.pack(">hhih", ApiKey.METADATA, 1, 7, 30000) + b"short",
    "a client id that is no UTF-8": struct.pack(">hhih", ApiKey.METADATA, 1, 7, 2) + b"\xff\xfe" + bytes(4),
    "a topic name that is no UTF-8": header(ApiKey.METADATA, 1) + struct.pack(">ih", 1, 2) + b"\xc3\x28",
    "a truncated request": header(ApiKey.PRODUCE, 3) + b"\xff\xff\x00",
    "a tagged field larger than its frame": header(ApiKey.METADATA, 9) + b"\x01\x05\xff\xff\x7f",
}


def closed_with_one_line(broker: BrokerProcess, data: bytes) -> str:
    """Sends bytes to the broker, which has to close the connection; the line that it wrote about it.

    Lines about peers are limited to some per second, so a quick test may have to misbehave again to see
    one.
    """
    deadline = time.monotonic() + 5
    while True:
        mark = broker.log_mark()
        with RawClient(broker.port) as client:
            port = client.socket.getsockname()[1]
            client.send_bytes(data)
            assert client.is_closed_by_broker(), "the connection is still open"
        lines = [line for line in broker.log_lines_since(mark) if f"127.0.0.1:{port}:" in line]
        assert len(lines) <= 1, "\n".join(lines)
        if lines:
            return lines[0]
        assert time.monotonic() < deadline, "no line in the log"


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


@pytest.mark.parametrize("kind", NOT_FRAMES)
def test_what_is_no_frame_closes_its_connection(
    shared_broker: BrokerProcess, undisturbed: Undisturbed, kind: str
) -> None:
    with undisturbed(lines=None):
        closed_with_one_line(shared_broker, NOT_FRAMES[kind])


def test_a_tls_client_on_a_plain_port_is_recognised(shared_broker: BrokerProcess) -> None:
    assert "TLS" in closed_with_one_line(shared_broker, TLS_HELLO)


@pytest.mark.parametrize("kind", NOT_REQUESTS)
def test_what_is_no_request_closes_its_connection(
    shared_broker: BrokerProcess, undisturbed: Undisturbed, kind: str
) -> None:
    with undisturbed(lines=None):
        closed_with_one_line(shared_broker, framed(NOT_REQUESTS[kind]))


@pytest.mark.parametrize("version", [0, 1, 2])
def test_the_oldest_produce_versions_are_advertised_and_refused(
    shared_broker: BrokerProcess, undisturbed: Undisturbed, version: int
) -> None:
    """KIP-896 removed them, and left the range announced: librdkafka stops compressing otherwise
    (KAFKA-18659).
    """
    with RawClient(shared_broker.port) as client:
        ranges = {each.api_key: each for each in client.call(ApiVersionsRequest(), 0).api_keys}
        assert ranges[ApiKey.PRODUCE].min_version == 0
    with undisturbed(lines=None):
        closed_with_one_line(
            shared_broker, framed(header(ApiKey.PRODUCE, version) + struct.pack(">hii", -1, 1000, 0))
        )


def test_an_unknown_version_of_api_versions_gets_error_35_in_a_version_0_body(
    shared_broker: BrokerProcess,
) -> None:
    """KIP-511: a client that is too new learns what it may say."""
    with RawClient(shared_broker.port) as client:
        client.send_frame(header(ApiKey.API_VERSIONS, 127, flexible=True) + b"\x05ours\x041.0\0")
        frame = client.read_frame()
        correlation_id, answer = decode_response(ApiKey.API_VERSIONS, 0, frame)
        assert correlation_id == 7
        assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
        ranges = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
        assert ranges[ApiKey.API_VERSIONS] == (0, APIS[ApiKey.API_VERSIONS].max_version)
        assert len(frame) == 4 + 2 + 4 + 6 * len(answer.api_keys), "nothing but a version 0 body"
        # The same connection goes on.
        named = ApiVersionsRequest(client_software_name="ours", client_software_version="1.0")
        assert client.call(named, 4).error_code == ErrorCode.NONE
        unnamed = ApiVersionsRequest(client_software_name="", client_software_version="?")
        assert client.call(unnamed, 4).error_code == ErrorCode.INVALID_REQUEST


def test_bytes_after_a_request_are_ignored(shared_broker: BrokerProcess) -> None:
    """As Kafka does: librdkafka sends some after Metadata v13."""
    with RawClient(shared_broker.port) as client:
        frame = frame_of(MetadataRequest(topics=[]), 12, correlation_id=7)
        client.send_frame(frame[4:] + b"and more")
        correlation_id, answer = decode_response(ApiKey.METADATA, 12, client.read_frame())
        assert correlation_id == 7 and answer.topics == []


def test_a_frame_cut_at_any_byte_is_forgotten_with_its_connection(
    shared_broker: BrokerProcess, undisturbed: Undisturbed
) -> None:
    frame = frame_of(produce_request("bystander", batch_of(b"never whole")), 9)
    with RawClient(shared_broker.port) as client, undisturbed(lines=None):
        end_before = client.end_offset("bystander")
        for cut in range(0, len(frame), 3):
            with RawClient(shared_broker.port) as torn:
                torn.send_bytes(frame[:cut])
        values = {record.value for record in client.read_all("bystander")[end_before:]}
        assert b"never whole" not in values


def test_a_client_that_resets_its_connection_in_the_middle_is_forgotten(
    shared_broker: BrokerProcess, undisturbed: Undisturbed
) -> None:
    files_before = shared_broker.open_files()
    with undisturbed(lines=None):
        for _ in range(50):
            client = RawClient(shared_broker.port)
            client.send(MetadataRequest(topics=None), 12)
            # Linger 0: the kernel sends a reset instead of an orderly end.
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()
    wait_until(lambda: shared_broker.open_files() <= files_before + 4, "all descriptors to be closed")


def test_an_answer_to_acks_0_never_comes_and_an_error_closes(
    shared_broker: BrokerProcess, undisturbed: Undisturbed, topic_name: str
) -> None:
    with undisturbed(), RawClient(shared_broker.port) as client:
        client.create_topic(topic_name)
        client.send(produce_request(topic_name, batch_of(b"fine"), acks=0), 9)
        # The next answer is to the next request: nothing was sent for acks=0.
        assert client.call(ApiVersionsRequest(), 0).error_code == ErrorCode.NONE
        client.send(produce_request("no-such-topic", batch_of(b"lost"), acks=0), 9)
        assert client.is_closed_by_broker()


def test_unknown_acks_are_refused(shared_broker: BrokerProcess, undisturbed: Undisturbed) -> None:
    with undisturbed(lines=0), RawClient(shared_broker.port) as client:
        answer = client.produce("bystander", batch_of(b"x"), acks=7)
        assert answer.error_code == ErrorCode.INVALID_REQUIRED_ACKS
        assert client.call(ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[]), 9).responses == []
