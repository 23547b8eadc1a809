"""The blocking connection over a real socket: deadlines, and peers that break off."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from ottla.client.blocking import Client
from ottla.client.errors import BrokerUnavailable, ProtocolError, RequestTimedOut


@contextmanager
def peer(behave: Callable[[socket.socket], None]) -> Iterator[str]:
    """A listener on a free port whose first connection is handled by `behave`."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                behave(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            thread.join(10)


def test_nobody_listening_is_broker_unavailable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    with Client(address) as client, pytest.raises(BrokerUnavailable) as caught:
        client.run(client.admin.list_topics())
    assert caught.value.address == address


def test_all_addresses_are_tried_and_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        addresses = [f"127.0.0.1:{server.getsockname()[1]}" for server in (one, two)]
    with Client(",".join(addresses)) as client, pytest.raises(BrokerUnavailable) as caught:
        client.run(client.admin.list_topics())
    assert caught.value.address == ",".join(addresses)


def test_a_peer_that_closes_the_connection_is_broker_unavailable() -> None:
    with (
        peer(lambda connection: None) as address,
        Client(address) as client,
        pytest.raises(BrokerUnavailable),
    ):
        client.run(client.admin.list_topics())


def test_a_peer_that_never_answers_is_timed_out() -> None:
    done = threading.Event()
    with peer(lambda connection: done.wait(10) and None) as address:
        with Client(address, request_timeout_ms=50) as client, pytest.raises(RequestTimedOut):
            client.run(client.cluster.refresh(()))
        done.set()


def test_a_web_server_is_recognised() -> None:
    def behave(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with (
        peer(behave) as address,
        Client(address) as client,
        pytest.raises(ProtocolError, match="it is a web server"),
    ):
        client.run(client.admin.list_topics())
