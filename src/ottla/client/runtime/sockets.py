"""The bytes of the threaded shell: non-blocking sockets on one epoll.

Everything here is called with the runtime's lock held, except `wait`. Names that are not addresses are looked
up in a thread of their own, since the system's resolver blocks.
"""

from __future__ import annotations

import os
import select
import socket
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from errno import EINPROGRESS
from typing import Any, Final, NamedTuple

from ottla.client.errors import ProtocolError
from ottla.client.runtime.link import Link
from ottla.client.runtime.receiver import SCRATCH_BYTES, Receiver
from ottla.client.view import Address
from ottla.wire.primitives import Part

VECTOR_PARTS_MAX: Final = 256
"""Parts given to one sendmsg; the kernel takes at most 1024."""

JOINED_BYTES_MAX: Final = 4096
"""Frames in several parts up to this size are joined: one buffer is cheaper than a vector."""

READS_PER_TURN_MAX: Final = 16
"""So that one fast broker does not keep the others waiting."""

IMMEDIATE_HOSTS: Final = frozenset({"localhost", ""})
"""Names that the system answers from a file."""


class SocketAddress(NamedTuple):
    family: int
    address: Any


def literal(address: Address) -> SocketAddress | None:
    """The address, where the host is written as one."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, address.host)
        except (OSError, ValueError):
            continue
        return SocketAddress(family, (address.host, address.port))
    return None


def look_up(address: Address) -> list[SocketAddress] | OSError:
    """Every address of a name (`client.dns.lookup=use_all_dns_ips`)."""
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except UnicodeError:
        return OSError(f"{address.host!r} is not a host name")
    except OSError as error:
        return error
    return list(dict.fromkeys(SocketAddress(family, where) for family, _, _, _, where in found))


class Sockets:
    """Implements `link.Dialer`. `call_in(function)` has a function called later, with the lock held."""

    def __init__(
        self,
        *,
        send_buffer_bytes: int,
        receive_buffer_bytes: int,
        call_in: Callable[[Callable[[], None]], None],
    ) -> None:
        self._send_buffer_bytes = send_buffer_bytes
        self._receive_buffer_bytes = receive_buffer_bytes
        self._call_in = call_in
        self._transports: dict[int, SocketTransport] = {}
        self._scratch = memoryview(bytearray(SCRATCH_BYTES))
        self.epoll = select.epoll()
        self.changes = 0
        """Grows whenever a descriptor comes or goes: events that were waited for across that may speak of
        another socket than the one that has the number now.
        """
        self.woken = False
        self._wake_fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self.epoll.register(self._wake_fd, select.EPOLLIN)

    # -- the dialer --

    def resolve(self, address: Address, done: Callable[[Sequence[SocketAddress] | OSError], None]) -> None:
        found = literal(address)
        if found is not None:
            done([found])
            return
        if address.host in IMMEDIATE_HOSTS:
            done(look_up(address))
            return

        def work() -> None:
            outcome = look_up(address)
            self._call_in(lambda: done(outcome))

        threading.Thread(target=work, name=f"ottla-resolve-{address.host}", daemon=True).start()

    def dial(self, endpoint: SocketAddress, link: Link) -> SocketTransport:
        sock = socket.socket(endpoint.family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            if self._send_buffer_bytes >= 0:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self._send_buffer_bytes)
            if self._receive_buffer_bytes >= 0:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self._receive_buffer_bytes)
            code = sock.connect_ex(endpoint.address)
            if code not in (0, EINPROGRESS):
                raise OSError(code, os.strerror(code))
        except BaseException:
            sock.close()
            raise
        transport = SocketTransport(self, sock, link, self._scratch)
        self._transports[sock.fileno()] = transport
        self.changes += 1
        self.epoll.register(sock, select.EPOLLOUT)
        return transport

    # -- the loop's side --

    def wake(self) -> None:
        """Ends a `wait` in another thread."""
        self.woken = True
        os.eventfd_write(self._wake_fd, 1)

    def clear_wake(self) -> None:
        """By whoever was woken, and nobody else: one who only looks in would take the call from the one whom
        it was meant for, while that one has not heard it yet.
        """
        self.woken = False
        with suppress(BlockingIOError):
            os.eventfd_read(self._wake_fd)

    def wait(self, timeout_s: float) -> list[tuple[int, int]]:
        """What there is to do; waits without the lock. Negative: without end."""
        return self.epoll.poll(timeout_s)

    def carry_out(self, events: list[tuple[int, int]]) -> None:
        transports = self._transports
        for fd, mask in events:
            transport = transports.get(fd)
            if transport is not None:
                transport.on_event(mask)

    def forget(self, fd: int) -> None:
        del self._transports[fd]
        self.changes += 1

    def close(self) -> None:
        for transport in list(self._transports.values()):
            transport.close()
        if not self.epoll.closed:
            self.epoll.close()
            os.close(self._wake_fd)


class SocketTransport:
    __slots__ = ("_sockets", "_sock", "_fd", "_link", "_receiver", "_outgoing", "_connected", "_closed")

    def __init__(self, sockets: Sockets, sock: socket.socket, link: Link, scratch: memoryview) -> None:
        self._sockets = sockets
        self._sock = sock
        self._fd = sock.fileno()
        self._link = link
        self._receiver = Receiver(scratch)
        self._outgoing: deque[Part] = deque()
        self._connected = False
        self._closed = False

    def on_event(self, mask: int) -> None:
        if not self._connected:
            code = self._sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code:
                self._lost(os.strerror(code))
                return
            self._connected = True
            self._sockets.epoll.modify(self._fd, select.EPOLLIN)
            self._link.opened()
            return
        if mask & select.EPOLLOUT:
            self._flush()
        if mask & ~select.EPOLLOUT and not self._closed:
            self._read()

    def write(self, parts: list[Part]) -> None:
        if self._closed:
            return
        if self._outgoing:
            self._outgoing.extend(parts)
            return
        if len(parts) > 1 and sum(map(len, parts)) <= JOINED_BYTES_MAX:
            parts = [b"".join(parts)]
        try:
            if len(parts) == 1:
                part = parts[0]
                count = self._sock.send(part)
                if count == len(part):
                    return
            else:
                count = self._sock.sendmsg(parts[:VECTOR_PARTS_MAX])
        except BlockingIOError:
            count = 0
        except OSError as error:
            self._lost(error.strerror or str(error))
            return
        self._outgoing.extend(parts)
        self._sent(count)
        if self._outgoing:
            self._sockets.epoll.modify(self._fd, select.EPOLLIN | select.EPOLLOUT)

    @property
    def backed_up(self) -> bool:
        return bool(self._outgoing)

    def _flush(self) -> None:
        outgoing = self._outgoing
        while outgoing:
            parts = [outgoing[at] for at in range(min(len(outgoing), VECTOR_PARTS_MAX))]
            try:
                count = self._sock.sendmsg(parts)
            except BlockingIOError:
                return
            except OSError as error:
                self._lost(error.strerror or str(error))
                return
            self._sent(count)
        self._sockets.epoll.modify(self._fd, select.EPOLLIN)
        self._link.drained()

    def _sent(self, count: int) -> None:
        outgoing = self._outgoing
        while outgoing and count >= len(outgoing[0]):
            count -= len(outgoing.popleft())
        if count:
            outgoing[0] = memoryview(outgoing[0])[count:]

    def _read(self) -> None:
        receiver, link = self._receiver, self._link
        for _ in range(READS_PER_TURN_MAX):
            buffer = receiver.buffer()
            room = len(buffer)
            try:
                count = self._sock.recv_into(buffer)
            except BlockingIOError:
                return
            except OSError as error:
                self._lost(error.strerror or str(error))
                return
            if count == 0:
                self._lost("it closed the connection")
                return
            try:
                frames = receiver.received(count)
            except ProtocolError as error:
                link.broke(error)
                return
            for frame in frames:
                link.received(frame)
                if self._closed:
                    return
            if count < room:
                return  # most likely there is no more; epoll says so if there is

    def _lost(self, reason: str) -> None:
        if not self._closed:
            self.close()
            self._link.lost(reason)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._sockets.forget(self._fd)
            self._outgoing.clear()
            self._sock.close()
