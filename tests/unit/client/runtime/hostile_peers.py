"""Listeners that do not behave as brokers do, each in a thread of its own."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ottla.wire.framing import decode_request_header, encode_response
from ottla.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from ottla.wire.messages.index import APIS
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

Behaviour = Callable[[socket.socket], None]


@contextmanager
def peer(behave: Behaviour, *, receive_buffer_bytes: int | None = None) -> Iterator[str]:
    """Listens on a free port and treats every connection by `behave`; gives the address."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        if receive_buffer_bytes is not None:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
        threads: list[threading.Thread] = []
        connections: list[socket.socket] = []

        def treat(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                behave(connection)

        def accept() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                connection.settimeout(20)
                connections.append(connection)
                thread = threading.Thread(target=treat, args=(connection,))
                threads.append(thread)
                thread.start()

        acceptor = threading.Thread(target=accept)
        acceptor.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            server.close()
            acceptor.join(10)
            for connection in connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join(10)


def exactly(connection: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise OSError("the client closed the connection")
        data += part
    return bytes(data)


def read_request(connection: socket.socket) -> tuple[int, int, int, bytes]:
    """API key, version, correlation id and the whole frame."""
    frame = exactly(connection, int.from_bytes(exactly(connection, 4), "big"))
    header, _ = decode_request_header(frame, 0, len(frame))
    return header.api_key, header.api_version, header.correlation_id, frame


def large_request(size_bytes: int) -> ProduceRequest:
    """One to which there is no answer."""
    data = PartitionProduceData(index=0, records=bytearray(size_bytes))
    topics = [TopicProduceData(name="t", partition_data=[data])]
    return ProduceRequest(acks=0, timeout_ms=1, topic_data=topics)


def greet(connection: socket.socket) -> None:
    """Answers ApiVersions as a broker would."""
    api_key, version, correlation_id, _ = read_request(connection)
    ranges = [
        ApiVersion(api_key=key, min_version=api.min_version, max_version=api.max_version)
        for key, api in APIS.items()
    ]
    connection.sendall(
        b"".join(encode_response(ApiVersionsResponse(api_keys=ranges), api_key, version, correlation_id))
    )


def until_gone(connection: socket.socket) -> None:
    """Reads until the client goes away."""
    while connection.recv(65536):
        pass


# -- behaviours --


def close_at_once(connection: socket.socket) -> None:
    pass


def say_nothing(connection: socket.socket) -> None:
    until_gone(connection)


def greet_and_say_nothing(connection: socket.socket) -> None:
    greet(connection)
    until_gone(connection)


def close_in_mid_frame(connection: socket.socket) -> None:
    greet(connection)
    read_request(connection)
    connection.sendall(b"\x00\x00\x10\x00half of")


def talk_garbage(connection: socket.socket) -> None:
    greet(connection)
    _, _, correlation_id, _ = read_request(connection)
    connection.sendall(b"\x00\x00\x00\x10" + correlation_id.to_bytes(4, "big") + b"\xfe" * 12)
    until_gone(connection)


def answer_another_request(connection: socket.socket) -> None:
    greet(connection)
    read_request(connection)
    connection.sendall(b"\x00\x00\x00\x10" + (999_999).to_bytes(4, "big") + bytes(12))
    until_gone(connection)


def talk_http(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    until_gone(connection)


def talk_tls(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(b"\x15\x03\x03\x00\x02\x02\x32")
    until_gone(connection)


def announce_a_huge_frame(connection: socket.socket) -> None:
    greet(connection)
    read_request(connection)
    connection.sendall(b"\x7f\xff\xff\xff" + bytes(1000))
    until_gone(connection)
