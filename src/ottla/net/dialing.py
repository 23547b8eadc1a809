"""Connections to other nodes on asyncio: bytes out, whole frames in.

Small answers are copied out of a scratch that all connections share. A large one (a replica's fetch) is
received into a buffer of its own, which the connection uses again once nobody holds a view of it: a fresh
one would cost a page fault for every 4 KiB that a follower copies.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Final, cast

from ottla.model.limits import REQUEST_BYTES_MAX
from ottla.net.peers import WireEvents
from ottla.net.turn import Turn
from ottla.ports.peers import Address
from ottla.wire.primitives import Buffer, Part

SCRATCH_BYTES: Final = 256 * 1024
LARGE_FRAME_BYTES: Final = 64 * 1024
SPARE_BYTES_MAX: Final = 16 * 1024 * 1024
"""A larger buffer is not kept for the next answer."""


class SocketDialer:
    """Implements `net.peers.Dialer`."""

    def __init__(self, loop: asyncio.AbstractEventLoop, turn: Turn) -> None:
        self._loop = loop
        self._turn = turn
        self._scratch = memoryview(bytearray(SCRATCH_BYTES))
        self._dialling: set[asyncio.Task[None]] = set()

    def dial(self, address: Address, events: WireEvents) -> SocketWire:
        wire = SocketWire(self._turn, self._scratch, events)
        task = self._loop.create_task(self._connect(address, wire))
        wire.connecting = task
        self._dialling.add(task)
        task.add_done_callback(self._dialling.discard)
        return wire

    async def _connect(self, address: Address, wire: SocketWire) -> None:
        try:
            await self._loop.create_connection(lambda: wire, address.host, address.port)
        except (OSError, UnicodeError) as error:
            wire.failed(f"cannot connect: {getattr(error, 'strerror', None) or error}")


class SocketWire(asyncio.BufferedProtocol):
    """One connection, both the link's wire and the loop's protocol."""

    def __init__(self, turn: Turn, scratch: memoryview, events: WireEvents) -> None:
        self.connecting: asyncio.Task[None] | None = None
        self._turn = turn
        self._scratch = scratch
        self._events = events
        self._transport: asyncio.Transport | None = None
        self._closed = False
        self._rest = b""
        """The beginning of a small frame that is not whole yet."""
        self._large: memoryview | None = None
        self._large_end = 0
        self._spare: bytearray | None = None

    # -- the link's side --

    def send(self, parts: list[Part]) -> None:
        if self._transport is not None and not self._closed:
            self._transport.write(parts[0] if len(parts) == 1 else b"".join(cast(list[bytes], parts)))

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._large = None
        if self.connecting is not None:
            self.connecting.cancel()
        if self._transport is not None:
            self._transport.abort()

    def failed(self, reason: str) -> None:
        if not self._closed:
            self._closed = True
            self._large = None
            self._in_turn(lambda: self._events.lost(reason))

    def _in_turn(self, action: Callable[[], None]) -> None:
        turn = self._turn
        turn.active = True
        try:
            action()
        finally:
            turn.finish()

    # -- the loop's side --

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.connecting = None
        self._transport = cast(asyncio.Transport, transport)
        if self._closed:
            self._transport.abort()
            return
        sock = self._transport.get_extra_info("socket")
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        except OSError:
            pass  # the other end is gone already; connection_lost follows
        self._in_turn(self._events.opened)

    def get_buffer(self, sizehint: int) -> memoryview:
        large = self._large
        return self._scratch if large is None else large[self._large_end :]

    def buffer_updated(self, nbytes: int) -> None:
        if self._closed:
            return
        turn = self._turn
        turn.active = True
        try:
            large = self._large
            if large is None:
                self._take(nbytes)
            else:
                self._large_end += nbytes
                if self._large_end == len(large):
                    self._large = None
                    self._events.received(large)
        finally:
            turn.finish()

    def _take(self, nbytes: int) -> None:
        window = self._scratch[:nbytes]
        if self._rest:
            window = memoryview(self._rest + bytes(window))
            self._rest = b""
        position, end = 0, len(window)
        while end - position >= 4 and not self._closed:
            length = int.from_bytes(window[position : position + 4], "big", signed=True)
            if not 4 <= length <= REQUEST_BYTES_MAX:
                self._broken(f"an answer claims {length} bytes")
                return
            start, stop = position + 4, position + 4 + length
            if stop > end:
                if length >= LARGE_FRAME_BYTES:
                    self._large = self._buffer_for(length)
                    self._large_end = end - start
                    self._large[: end - start] = window[start:]
                    return
                break
            # The scratch is the next connection's in a moment.
            frame: Buffer = bytes(window[start:stop])
            position = stop
            self._events.received(frame)
        self._rest = bytes(window[position:])

    def _buffer_for(self, length: int) -> memoryview:
        spare = self._spare
        if spare is not None and len(spare) >= length and _is_free(spare):
            return memoryview(spare)[:length]
        made = bytearray(max(length, min(2 * length, 1 << 20)))
        if len(made) <= SPARE_BYTES_MAX:
            self._spare = made
        return memoryview(made)[:length]

    def _broken(self, reason: str) -> None:
        self._closed = True
        if self._transport is not None:
            self._transport.abort()
        self._events.lost(reason)

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self.failed("it closed the connection" if error is None else str(error))


def _is_free(buffer: bytearray) -> bool:
    """Whether no view of it is left: one that has views cannot change its size."""
    try:
        buffer.append(0)
    except BufferError:
        return False
    buffer.pop()
    return True
