"""A member's connection to its coordinator: as little client as possible between the member and the socket.

A request that is sent again and again is encoded once (`Prepared`); sending it patches the correlation id.
Replies come in the order of the requests, so a queue knows what each one answers.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from struct import Struct
from typing import Any

from groups.figures import Figures
from ottla.wire.framing import decode_response, encode_request

CLIENT_ID = "groups-bench"
_INT32 = Struct(">i")
_CORRELATION_AT = 8

Done = Callable[[bytes, float], None]


class Prepared:
    """An encoded request, to be sent any number of times; `kind` is what its latencies are counted as."""

    __slots__ = ("kind", "api_key", "version", "frame", "quiet_answer")

    def __init__(self, kind: str, request: Any, version: int) -> None:
        self.kind = kind
        self.api_key: int = request.API_KEY
        self.version = version
        self.frame = bytearray().join(encode_request(request, version, 0, CLIENT_ID))
        # The answer, after its correlation id, that was read before and had nothing to act on: an equal one
        # need not be decoded.
        self.quiet_answer = b""

    def decode(self, answer: bytes) -> Any:
        return decode_response(self.api_key, self.version, answer)[1]


class Connection(asyncio.Protocol):
    """`lost` is called when the broker ends it, not when `close` does."""

    def __init__(self, figures: Figures, lost: Callable[[], None]) -> None:
        self._figures = figures
        self._lost: Callable[[], None] | None = lost
        self._transport: asyncio.Transport | None = None
        self._waiting: deque[tuple[int, Prepared, float, Done]] = deque()
        self._received = b""
        self._correlation_id = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self._lost is not None:
            self._lost()

    def close(self) -> None:
        self._lost = None
        if self._transport is not None:
            self._transport.close()

    def send(self, request: Prepared, done: Done) -> None:
        """`done` gets the answer without its size, and when the request was sent."""
        assert self._transport is not None
        self._correlation_id += 1
        _INT32.pack_into(request.frame, _CORRELATION_AT, self._correlation_id)
        self._waiting.append((self._correlation_id, request, time.monotonic(), done))
        self._transport.write(bytes(request.frame))

    def data_received(self, data: bytes) -> None:
        if self._received:
            data = self._received + data
        pos, end = 0, len(data)
        while end - pos >= 4:
            (size,) = _INT32.unpack_from(data, pos)
            if end - pos < 4 + size:
                break
            answer = data[pos + 4 : pos + 4 + size]
            pos += 4 + size
            correlation_id, request, sent_at, done = self._waiting.popleft()
            if _INT32.unpack_from(answer, 0)[0] != correlation_id:
                raise RuntimeError(f"an answer out of order to {request.kind}")
            self._figures.took(request.kind, sent_at)
            done(answer, sent_at)
        self._received = data[pos:]
