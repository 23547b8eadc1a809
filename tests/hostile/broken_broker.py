"""A broker that misbehaves towards its clients: a real one behind a proxy that drops, holds or spoils what
passes.

The broker tells its clients the proxy's address, so everything goes through it. For each request the proxy
asks `rule(api_key)` what to do.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from support.broker_process import BrokerProcess

Action = Literal["pass", "drop before", "drop after", "garbage", "swallow"]
PRODUCE = 0
METADATA = 3

GARBAGE = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"


class Proxy:
    """Listens at once; forwards to the broker once that is known."""

    def __init__(self) -> None:
        self.rule: Callable[[int], Action] = lambda api_key: "pass"
        self.seen: list[int] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.broker: BrokerProcess | None = None
        self.broker_port = 0
        """Where the broker listens; its own word is the proxy's address."""
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    def put_before(self, broker: BrokerProcess) -> None:
        """Starts the broker (which was not started yet) behind this proxy."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.broker_port = broker.port = free.getsockname()[1]
        broker.settings["advertised.listeners"] = f"PLAINTEXT://{self.bootstrap}"
        self.broker = broker.start()

    def close(self) -> None:
        self._listener.close()
        for each in self._sockets:
            each.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        self._sockets.append(client)
        broker: socket.socket | None = None
        held = threading.Event()  # the answer to what was just forwarded is not to be passed on
        try:
            while True:
                frame = _frame(client)
                (api_key,) = struct.unpack_from(">h", frame, 4)
                self.seen.append(api_key)
                action = self.rule(api_key)
                if action == "drop before":
                    return
                if action == "garbage":
                    client.sendall(GARBAGE)
                    continue
                if action == "swallow":
                    continue
                if broker is None:
                    broker = socket.create_connection(("127.0.0.1", self.broker_port))
                    self._sockets.append(broker)
                    threading.Thread(target=self._answer, args=(broker, client, held), daemon=True).start()
                if action == "drop after":
                    held.set()
                broker.sendall(frame)
        except OSError:
            pass
        finally:
            if broker is not None:
                _end(broker)
            _end(client)

    def _answer(self, broker: socket.socket, client: socket.socket, held: threading.Event) -> None:
        try:
            while True:
                frame = _frame(broker)
                if held.is_set():
                    return
                client.sendall(frame)
        except OSError:
            pass
        finally:
            _end(client)
            _end(broker)


def _frame(source: socket.socket) -> bytes:
    size = _read(source, 4)
    return size + _read(source, struct.unpack(">i", size)[0])


def _read(source: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        more = source.recv(count - len(data))
        if not more:
            raise ConnectionResetError
        data += more
    return bytes(data)


def _end(each: socket.socket) -> None:
    with suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()
