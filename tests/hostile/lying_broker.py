"""A broker that lies: a real one behind a proxy that understands the protocol and may change every answer.

The broker tells its clients the proxy's address, so everything goes through it. `lie(exchange)` is asked for
each answer; it changes `exchange.response` (a message of ours) in place or in whole, or gives:

- bytes: this is sent instead, as it is (with size and correlation id, or without: that is the lie);
- HOLD: no answer, the connection stays;
- DROP: the connection is closed instead.

`intercept(api_key, request)` sees requests first, and may answer without the broker.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ottla.wire.framing import decode_request, decode_request_header, decode_response, encode_response
from ottla.wire.messages.index import ApiKey
from support.broker_process import BrokerProcess


class Refusal(Enum):
    HOLD = "no answer"
    DROP = "the connection is closed"


HOLD, DROP = Refusal.HOLD, Refusal.DROP


@dataclass
class Exchange:
    api_key: int
    version: int
    correlation_id: int
    request: Any
    response: Any
    last: bool = False
    """The connection is closed after the answer."""

    def frame(self, response: Any = None) -> bytes:
        """The answer as it would be sent."""
        message = self.response if response is None else response
        return b"".join(encode_response(message, self.api_key, self.version, self.correlation_id))


Lie = Callable[[Exchange], "bytes | Refusal | None"]


def truth(exchange: Exchange) -> None:
    """Changes nothing."""


class LyingBroker:
    def __init__(self) -> None:
        self.lie: Lie = truth
        self.intercept: Callable[[int, Any], Any] = lambda api_key, request: None
        """May answer a request without the broker: gives a message, HOLD or DROP, or None to ask it."""
        self.seen: list[int] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.broker_port = 0
        self.broker: BrokerProcess | None = None
        self._sockets: list[socket.socket] = []
        self._closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    def put_before(self, broker: BrokerProcess) -> LyingBroker:
        """Starts the broker (which was not started yet) behind this proxy."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.broker_port = broker.port = free.getsockname()[1]
        broker.settings["advertised.listeners"] = f"PLAINTEXT://{self.bootstrap}"
        self.broker = broker.start()
        return self

    def asked(self, api_key: ApiKey) -> int:
        """How often an API was asked so far."""
        return self.seen.count(api_key)

    def break_connections(self) -> None:
        for each in list(self._sockets):
            _end(each)

    def close(self) -> None:
        self._closed = True
        _end(self._listener)
        self.break_connections()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._sockets.append(client)
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        """Requests of a connection are answered one after the other, as brokers do."""
        broker: socket.socket | None = None
        try:
            while True:
                frame = _frame(client)
                header, pos = decode_request_header(frame, 0, len(frame))
                api_key, version = header.api_key, header.api_version
                self.seen.append(api_key)
                request = decode_request(header, frame, pos, len(frame))
                response = self.intercept(api_key, request)
                if response is None:
                    if broker is None:
                        broker = socket.create_connection(("127.0.0.1", self.broker_port))
                        self._sockets.append(broker)
                    broker.sendall(struct.pack(">i", len(frame)) + frame)
                    if api_key == ApiKey.PRODUCE and request.acks == 0:
                        continue
                    _, response = decode_response(api_key, version, _frame(broker))
                answer: Any = response
                last = False
                if not isinstance(response, Refusal):
                    exchange = Exchange(api_key, version, header.correlation_id, request, response)
                    answer = self.lie(exchange)
                    last = exchange.last
                    if answer is None:
                        answer = exchange.frame()
                if answer is DROP:
                    return
                if answer is not HOLD:
                    client.sendall(answer)
                if last:
                    return
        except OSError:
            pass
        finally:
            if broker is not None:
                _end(broker)
            _end(client)


def lie_about(api_key: ApiKey, change: Lie) -> Lie:
    """Only the answers of one API are changed."""
    return lambda exchange: change(exchange) if exchange.api_key == api_key else None


def first(times: int, lie: Lie) -> Lie:
    """Lies so often, and then no more."""
    left = iter(range(times))
    return lambda exchange: None if next(left, None) is None else lie(exchange)


def _frame(source: socket.socket) -> bytes:
    return _read(source, struct.unpack(">i", _read(source, 4))[0])


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
