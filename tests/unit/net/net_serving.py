"""A listener on a free port with a client beside it, for the tests of this folder."""

from __future__ import annotations

import asyncio
import os
import ssl
import struct
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sized
from contextlib import asynccontextmanager
from typing import Any

from ottla.net.connection import Connection, Handler
from ottla.net.hub import Hub
from ottla.net.listener import Listener
from ottla.net.memory import FrameMemory
from ottla.net.settings import NetSettings
from ottla.ports.disk import FileSlice

DEADLINE_S = 20.0


def loop_factories() -> list[Any]:
    """Stock asyncio, and uvloop where it is installed (it is optional): the same tests run over both."""
    factories: list[Any] = [asyncio.new_event_loop]
    try:
        import uvloop
    except ImportError:
        return factories
    return [*factories, uvloop.new_event_loop]


def run(test: Callable[[], Coroutine[Any, Any, None]], factory: Any = asyncio.new_event_loop) -> None:
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(asyncio.wait_for(test(), DEADLINE_S))


async def until(condition: Callable[[], bool]) -> None:
    """Waits for a condition, at most DEADLINE_S."""
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end, "the condition did not come true"
        await asyncio.sleep(0.002)


async def until_more(items: Sized, than: int) -> None:
    await until(lambda: len(items) > than)


def frame(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    (length,) = struct.unpack(">i", await reader.readexactly(4))
    return await reader.readexactly(length)


def echo(connection: Connection, payload: memoryview) -> None:
    connection.open_slot().complete([frame(bytes(payload))])


class PinnedFile:
    """A file of the disk port that counts its pins; the descriptor is closed at the last unpin."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.pins = 0
        self.unpins = 0
        self._fd = -1

    def pin(self) -> int:
        if self.pins == self.unpins:
            self._fd = os.open(self.path, os.O_RDONLY)
        self.pins += 1
        return self._fd

    def unpin(self) -> None:
        self.unpins += 1
        assert self.unpins <= self.pins, "a slice was released more than once"
        if self.pins == self.unpins:
            os.close(self._fd)
            self._fd = -1

    def pread(self, length: int, position: int) -> bytes:
        return os.pread(self._fd, length, position)

    def newest(self, length: int, position: int) -> bytes | None:
        return None

    def slice(self, position: int, length: int) -> FileSlice:
        return FileSlice(self, position, length)  # type: ignore[arg-type]

    @property
    def pinned(self) -> int:
        return self.pins - self.unpins


class Serving:
    def __init__(self, hub: Hub, listener: Listener, client_ssl: ssl.SSLContext | None) -> None:
        self.hub = hub
        self.listener = listener
        self._client_ssl = client_ssl

    async def connect(self, limit: int = 2**20) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(
            "127.0.0.1", self.listener.port, ssl=self._client_ssl, limit=limit
        )

    @property
    def connection(self) -> Connection:
        (only,) = self.listener.connections
        return only


@asynccontextmanager
async def serving(
    handler: Handler = echo,
    *,
    settings: NetSettings | None = None,
    memory: FrameMemory | None = None,
    server_ssl: ssl.SSLContext | None = None,
    client_ssl: ssl.SSLContext | None = None,
) -> AsyncIterator[Serving]:
    hub = Hub(asyncio.get_running_loop(), settings, memory=memory)
    listener = Listener(hub, "PLAINTEXT" if server_ssl is None else "SSL", handler, ssl_context=server_ssl)
    await listener.start("127.0.0.1", 0)
    try:
        yield Serving(hub, listener, client_ssl)
    finally:
        await listener.stop(drain_ms=0)
        hub.close()
        assert hub.connections == 0
        assert hub.reply_bytes == 0
        assert hub.memory.reserved_bytes == 0
        assert hub.memory.partial_bytes == 0
        assert hub.memory.held_bytes == 0


async def closed_by_peer(reader: asyncio.StreamReader) -> bytes:
    """What still came before the peer closed the connection."""
    try:
        return await reader.read()
    except ConnectionError:
        return b""
