"""A listening address: accepts connections, watches their timeouts, and stops in good order.

Timeouts are watched by one sweep for all connections, a slice of them at each tick, instead of a timer for
each: five thousand idle connections cost five thousand comparisons every few seconds. While there are no
connections there are no ticks.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from typing import Final

from ottla.net.connection import Connection, Handler
from ottla.net.hub import Hub

SWEEP_MS_MAX: Final = 5_000
"""Each connection is looked at this often at least; more often when a timeout is short."""

LISTEN_QUEUE_MIN: Final = 1024
"""Kafka's 50 is soon full when all clients come back after a restart, and each that finds it full waits a
second for its next SYN. So `socket.listen.backlog.size` can only ask for more than this."""

SWEEP_TICKS: Final = 20
"""The slices that one sweep is cut into."""

_log = logging.getLogger(__name__)


class Listener:
    """One address of the broker, with its name (`PLAINTEXT`, `CONTROLLER` …) and its handler."""

    def __init__(
        self,
        hub: Hub,
        name: str,
        handler: Handler,
        *,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self.name = name
        self.host = ""
        self.port = 0
        self.connections: dict[Connection, None] = {}
        self._hub = hub
        self._handler = handler
        self._ssl_context = ssl_context
        self._server: asyncio.Server | None = None
        self._sweep_timer: asyncio.TimerHandle | None = None
        self._sweep_line: list[Connection] = []
        self._empty: asyncio.Future[None] | None = None
        self._stopping = False

    async def start(self, host: str, port: int) -> tuple[str, int]:
        """Binds (port 0 takes a free one) and accepts from now on. Raises OSError, e.g. EADDRINUSE."""
        loop = self._hub.loop
        settings = self._hub.settings
        sock = await self._bind(host, port)
        try:
            if self._ssl_context is None:
                self._server = await loop.create_server(
                    self._connection, sock=sock, backlog=settings.listen_backlog
                )
            else:
                self._server = await loop.create_server(
                    self._connection,
                    sock=sock,
                    backlog=settings.listen_backlog,
                    ssl=self._ssl_context,
                    ssl_handshake_timeout=settings.handshake_timeout_ms / 1000,
                )
        except BaseException:
            sock.close()
            raise
        # asyncio accepts `backlog` connections a turn, which should stay few; the kernel's queue should not.
        sock.listen(max(settings.listen_backlog, LISTEN_QUEUE_MIN))
        self.host, self.port = sock.getsockname()[:2]
        return self.host, self.port

    def stop_accepting(self) -> None:
        self._stopping = True
        if self._server is not None:
            self._server.close()
            self._server = None

    async def stop(self, drain_ms: float = 5_000) -> None:
        """Accepts no more, lets the requests under way be answered until the deadline, then closes."""
        self.stop_accepting()
        for connection in list(self.connections):
            connection.drain_and_close()
        if self.connections:
            self._empty = self._hub.loop.create_future()
            try:
                await asyncio.wait_for(self._empty, drain_ms / 1000)
            except TimeoutError:
                for connection in list(self.connections):
                    connection.close_quietly("stopping: the time to drain is over")
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
            self._sweep_timer = None
        await asyncio.sleep(0)  # the transports close their sockets in their next turn

    async def _bind(self, host: str, port: int) -> socket.socket:
        """The listening socket. The first address that the name has is taken; an empty name is every
        address, IPv6 included where the machine has it.
        """
        settings = self._hub.settings
        if host:
            infos = await self._hub.loop.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )
            family, _, _, _, address = infos[0]
        elif socket.has_dualstack_ipv6():
            family, address = socket.AF_INET6, ("::", port)
        else:
            family, address = socket.AF_INET, ("0.0.0.0", port)
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0 if not host else 1)
            # Accepted sockets inherit these, and the window scale is settled by them before accept.
            if settings.send_buffer_bytes >= 0:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, settings.send_buffer_bytes)
            if settings.receive_buffer_bytes >= 0:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, settings.receive_buffer_bytes)
            sock.setblocking(False)
            sock.bind(address)
        except BaseException:
            sock.close()
            raise
        return sock

    def _connection(self) -> Connection:
        return Connection(self._hub, self.name, self._handler, self._opened, self._lost)

    def _opened(self, connection: Connection) -> None:
        self.connections[connection] = None
        if self._stopping:
            connection.close_quietly("stopping")
        elif self._sweep_timer is None:
            self._sweep_timer = self._hub.loop.call_later(self._tick_s(), self._sweep)

    def _lost(self, connection: Connection) -> None:
        del self.connections[connection]
        if not self.connections and self._empty is not None and not self._empty.done():
            self._empty.set_result(None)

    def _tick_s(self) -> float:
        settings = self._hub.settings
        timeouts_ms = [settings.handshake_timeout_ms, settings.frame_timeout_ms, settings.reply_timeout_ms]
        if settings.idle_timeout_ms >= 0:
            timeouts_ms.append(settings.idle_timeout_ms)
        return min(SWEEP_MS_MAX, *(timeout / 4 for timeout in timeouts_ms)) / SWEEP_TICKS / 1000

    def _sweep(self) -> None:
        """One tick: the next slice of the connections that were there when this round began."""
        self._sweep_timer = None
        if not self._sweep_line:
            self._sweep_line = list(self.connections)
            self._hub.memory.trim()
        now = self._hub.loop.time()
        line = self._sweep_line
        for _ in range(min(len(line), -(-len(self.connections) // SWEEP_TICKS))):
            line.pop().check_timeouts(now)
        if self.connections:
            self._sweep_timer = self._hub.loop.call_later(max(self._tick_s(), 0.001), self._sweep)
        else:
            self._sweep_line = []
            while not self._hub.connections and self._hub.memory.pooled_bytes:
                self._hub.memory.trim()
