"""Tells when a full socket has room again.

asyncio lets nobody watch the descriptor of one of its transports, and to register and forget a descriptor for
every reply that fills its socket was a third of the Python calls of such a fetch. So full sockets have an
epoll of their own, which the event loop watches as it watches any descriptor. A socket is registered there
once, armed for one event each time it is full, and forgotten before it is closed.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable
from contextlib import suppress
from typing import Final

_ROOM_ONCE: Final = select.EPOLLOUT | select.EPOLLONESHOT


class Writability:
    """One per event loop."""

    __slots__ = ("_loop", "_epoll", "_callbacks")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._epoll: select.epoll | None = None
        self._callbacks: dict[int, Callable[[], None]] = {}

    def tell_once(self, fd: int, callback: Callable[[], None]) -> None:
        """Calls back when the socket has room, or is broken, which a send will then say."""
        epoll = self._epoll
        if epoll is None:
            epoll = self._epoll = select.epoll()
            self._loop.add_reader(epoll.fileno(), self._look)
        if fd in self._callbacks:
            epoll.modify(fd, _ROOM_ONCE)
        else:
            epoll.register(fd, _ROOM_ONCE)
        self._callbacks[fd] = callback

    def forget(self, fd: int) -> None:
        """Before the descriptor is closed: its number will be another socket's."""
        if self._callbacks.pop(fd, None) is not None and self._epoll is not None:
            with suppress(OSError):
                self._epoll.unregister(fd)

    def close(self) -> None:
        self._callbacks.clear()
        if self._epoll is not None:
            self._loop.remove_reader(self._epoll.fileno())
            self._epoll.close()
            self._epoll = None

    def _look(self) -> None:
        if self._epoll is None:
            return
        for fd, _ in self._epoll.poll(0):
            # One callback may end the connection of another.
            callback = self._callbacks.get(fd)
            if callback is not None:
                callback()
