"""The bytes of the asyncio shell: connections as `BufferedProtocol`s, names looked up by the loop."""

from __future__ import annotations

import asyncio
import os
import socket
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

from ottla.client.errors import ProtocolError
from ottla.client.runtime.link import Endpoint, Link
from ottla.client.runtime.receiver import SCRATCH_BYTES, Receiver
from ottla.client.view import Address
from ottla.wire.primitives import Part

JOINED_BYTES_MAX: Final = 64 * 1024
"""Frames in several parts up to this size are joined and sent with one call; larger parts go one by one."""

PIECE_BYTES_MAX: Final = 256 * 1024
"""What the loop's transport is given at a time: it copies whatever the socket does not take at once."""


class LoopDialer:
    """Implements `link.Dialer` on a running loop."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, *, send_buffer_bytes: int, receive_buffer_bytes: int
    ) -> None:
        self._loop = loop
        self._send_buffer_bytes = send_buffer_bytes
        self._receive_buffer_bytes = receive_buffer_bytes
        self._jobs: set[asyncio.Task[None]] = set()
        self.scratch = memoryview(bytearray(SCRATCH_BYTES))

    def resolve(self, address: Address, done: Callable[[Sequence[Endpoint] | OSError], None]) -> None:
        for family in (socket.AF_INET, socket.AF_INET6):
            try:
                socket.inet_pton(family, address.host)
            except (OSError, ValueError):
                continue
            done([(family, (address.host, address.port))])
            return
        self._start(self._look_up(address, done))

    async def _look_up(self, address: Address, done: Callable[[Sequence[Endpoint] | OSError], None]) -> None:
        try:
            found = await self._loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        except UnicodeError:
            done(OSError(f"{address.host!r} is not a host name"))
        except OSError as error:
            done(error)
        else:
            done(list(dict.fromkeys((family, where) for family, _, _, _, where in found)))

    def dial(self, endpoint: Endpoint, link: Link) -> LoopTransport:
        family, where = endpoint
        sock = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            if self._send_buffer_bytes >= 0:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self._send_buffer_bytes)
            if self._receive_buffer_bytes >= 0:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self._receive_buffer_bytes)
        except BaseException:
            sock.close()
            raise
        transport = LoopTransport(link, self.scratch)
        transport.connecting = self._start(self._connect(sock, where, transport))
        return transport

    async def _connect(self, sock: socket.socket, where: Any, transport: LoopTransport) -> None:
        try:
            await self._loop.sock_connect(sock, where)
            await self._loop.create_connection(lambda: transport, sock=sock)
        except OSError as error:
            sock.close()
            transport.connect_failed(os.strerror(error.errno) if error.errno else str(error))
        except asyncio.CancelledError:
            sock.close()
            raise

    def _start(self, job: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = self._loop.create_task(job)
        self._jobs.add(task)
        task.add_done_callback(self._jobs.discard)
        return task

    def close(self) -> None:
        for job in list(self._jobs):
            job.cancel()


class LoopTransport(asyncio.BufferedProtocol):
    """Both sides of it: the link's transport and the loop's protocol."""

    def __init__(self, link: Link, scratch: memoryview) -> None:
        self.connecting: asyncio.Task[None] | None = None
        self._link = link
        self._receiver = Receiver(scratch)
        self._transport: asyncio.Transport | None = None
        self._outgoing: deque[Part] = deque()
        self._paused = False
        self._closed = False

    # -- the link's side --

    def write(self, parts: list[Part]) -> None:
        transport = self._transport
        if transport is None or self._closed:
            return
        if sum(map(len, parts)) <= JOINED_BYTES_MAX:
            self._outgoing.append(parts[0] if len(parts) == 1 else b"".join(parts))
        else:
            self._outgoing.extend(parts)
        self._feed()

    @property
    def backed_up(self) -> bool:
        return self._paused or bool(self._outgoing)

    def _feed(self) -> None:
        """Hands on what is to be sent, as long as the loop's transport holds nothing back."""
        outgoing, transport = self._outgoing, self._transport
        assert transport is not None
        while outgoing and not self._paused and not self._closed:
            part = outgoing.popleft()
            if len(part) > PIECE_BYTES_MAX:
                view = memoryview(part)
                outgoing.appendleft(view[PIECE_BYTES_MAX:])
                part = view[:PIECE_BYTES_MAX]
            transport.write(part)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._outgoing.clear()
        if self.connecting is not None:
            self.connecting.cancel()
        if self._transport is not None:
            self._transport.abort()

    def connect_failed(self, reason: str) -> None:
        self._lost(reason)

    def _lost(self, reason: str) -> None:
        if not self._closed:
            self._closed = True
            self._link.lost(reason)

    # -- the loop's side --

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.connecting = None
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none of asyncio's classes
        if self._closed:
            self._transport.abort()
            return
        self._transport.set_write_buffer_limits(high=0)
        self._link.opened()

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        self._feed()
        if not self._closed and not self.backed_up:
            self._link.drained()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._receiver.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        if self._closed:
            return
        try:
            frames = self._receiver.received(nbytes)
        except ProtocolError as error:
            self._link.broke(error)
            return
        for frame in frames:
            if not self._closed:
                self._link.received(frame)

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is None:  # they closed it
            self._lost("it closed the connection")
        else:
            self._lost((exc.strerror if isinstance(exc, OSError) else None) or str(exc))
