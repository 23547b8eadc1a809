"""A blocking connection to one broker: a socket with a `Conversation` on it.

Everything waits with a deadline. After a time-out or any error in mid-frame the two sides no longer agree on
where a response begins, so the connection is closed and never reused.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ottla.client.conversation import Conversation, frame_size
from ottla.client.effects import Call
from ottla.client.errors import BrokerUnavailable, ProtocolError, RequestTimedOut
from ottla.client.view import Address
from ottla.wire.primitives import Part

JOINED_BYTES_MAX = 64 * 1024
"""Frames up to this size are joined and sent with one call; the parts of larger ones go one by one."""


class Connection:
    def __init__(self, address: Address, sock: socket.socket, conversation: Conversation) -> None:
        self.address = address
        self.conversation = conversation
        self._sock = sock
        self.closed = False

    @classmethod
    def open(
        cls, address: Address, conversation: Conversation, *, connect_timeout_ms: int, request_timeout_ms: int
    ) -> Connection:
        """Connects and agrees on versions."""
        try:
            sock = socket.create_connection(address, connect_timeout_ms / 1000)
        except TimeoutError:
            raise BrokerUnavailable(str(address), "the connection timed out") from None
        except OSError as error:
            raise BrokerUnavailable(str(address), error.strerror or str(error)) from error
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = cls(address, sock, conversation)
        deadline = time.monotonic() + request_timeout_ms / 1000
        parts = conversation.hello()
        while True:
            connection._send(parts, deadline)
            version = conversation.hello_answer(connection._frame(deadline))
            if version is None:
                return connection
            parts = conversation.hello(version)

    def send(self, call: Call, timeout_ms: int) -> None:
        self._send(self.conversation.request(call), time.monotonic() + timeout_ms / 1000)

    def receive(self, timeout_ms: int) -> Any:
        """The response to the oldest request that has none yet."""
        frame = self._frame(time.monotonic() + timeout_ms / 1000)
        try:
            return self.conversation.answer(frame)
        except ProtocolError:
            self.close()
            raise

    def close(self) -> None:
        self.closed = True
        self._sock.close()

    def _send(self, parts: list[Part], deadline: float) -> None:
        if len(parts) > 1 and sum(len(part) for part in parts) <= JOINED_BYTES_MAX:
            parts = [b"".join(parts)]
        with self._closing_on_failure():
            for part in parts:
                self._sock.settimeout(self._left(deadline))
                self._sock.sendall(part)

    def _frame(self, deadline: float) -> bytearray:
        with self._closing_on_failure():
            size = frame_size(self._exactly(4, deadline))
            return self._exactly(size, deadline)

    def _exactly(self, size: int, deadline: float) -> bytearray:
        buffer = bytearray(size)
        view = memoryview(buffer)
        filled = 0
        while filled < size:
            self._sock.settimeout(self._left(deadline))
            count = self._sock.recv_into(view[filled:])
            if count == 0:
                raise BrokerUnavailable(str(self.address), "it closed the connection")
            filled += count
        return buffer

    def _left(self, deadline: float) -> float:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    @contextmanager
    def _closing_on_failure(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            self.close()
            raise RequestTimedOut(f"{self.address} did not answer in time") from None
        except OSError as error:
            self.close()
            raise BrokerUnavailable(str(self.address), error.strerror or str(error)) from error
        except ProtocolError as error:
            self.close()
            raise ProtocolError(f"{self.address}: {error}") from None
        except BaseException:
            self.close()
            raise
