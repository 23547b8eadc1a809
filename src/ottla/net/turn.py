"""The end of a turn of the event loop: what has to happen soon, but not inside the caller.

A handler that appends records wakes waiting fetches, and a step that answers a request makes another
connection's replies ready. Neither may run inside the call that caused it (re-entrancy, deep recursion), and
neither should wait for another pass of the loop (about 10 µs of epoll each). So they are put aside with
`defer` and run when the current callback is done: at the end of `Connection.buffer_updated`, of a timer, of
a delivery from a thread. Outside of any such callback one `call_soon` does it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

ROUNDS_MAX: Final = 16
"""Work that defers more work is run at once this many times; then the loop gets to look at its sockets."""

_log = logging.getLogger(__name__)


class Turn:
    """`active` is True while somebody up the stack promises to call `finish`. `woken` is how many handlers
    have what they waited for and have not gone on yet; who resumes them keeps count.
    """

    __slots__ = ("active", "deferred", "woken", "_loop", "_scheduled")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.active = False
        self.woken = 0
        self.deferred: list[Callable[[], None]] = []
        self._loop = loop
        self._scheduled = False

    def defer(self, callback: Callable[[], None]) -> None:
        """Runs the callback at the end of this turn. Whoever defers sees to it that it does so once."""
        self.deferred.append(callback)
        if not self.active and not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._finish_scheduled)

    def finish(self) -> None:
        self.active = True  # what is deferred from here on is run by the loop below
        try:
            for _ in range(ROUNDS_MAX):
                if not self.deferred:
                    return
                callbacks = self.deferred
                self.deferred = []
                for callback in callbacks:
                    try:
                        callback()
                    except Exception:
                        # One broken callback must not take the others of this turn with it.
                        _log.exception("a deferred callback failed")
        finally:
            self.active = False
            if self.deferred and not self._scheduled:
                self._scheduled = True
                self._loop.call_soon(self._finish_scheduled)

    def _finish_scheduled(self) -> None:
        self._scheduled = False
        self.finish()
