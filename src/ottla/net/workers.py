"""Threads for single calls that release the GIL (fsync, pread, compress), with their results on the loop.

Python code beside the loop costs it dearly (a thread that computes takes the loop from 150,000 to 600 writes
a second), so the machinery is as small as it can be: a C queue in, a deque out, and one wake-up of the loop
for all the results that are there by then. Threads are started when work finds none idle.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final, TypeAlias

from ottla.net.turn import Turn

THREADS_MAX: Final = 4

Call: TypeAlias = Callable[[], Any]
Done: TypeAlias = Callable[[Any, BaseException | None], None]

_log = logging.getLogger(__name__)


class Workers:
    """`submit` is called on the loop, and `done` is called on the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, turn: Turn, threads_max: int = THREADS_MAX) -> None:
        self._loop = loop
        self._turn = turn
        self._threads_max = threads_max
        self._threads: list[threading.Thread] = []
        self._calls: SimpleQueue[tuple[Call, Done] | None] = SimpleQueue()
        self._results: deque[tuple[Done, Any, BaseException | None]] = deque()
        self._wake_sent = False
        self._under_way = 0
        self._closed = False

    @property
    def under_way(self) -> int:
        """Calls submitted whose `done` was not called yet."""
        return self._under_way

    def submit(self, call: Call, done: Done) -> None:
        if self._closed:
            raise RuntimeError("the workers are closed")
        self._under_way += 1
        if self._under_way > len(self._threads) and len(self._threads) < self._threads_max:
            thread = threading.Thread(target=self._work, name=f"worker-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        self._calls.put((call, done))

    def close(self) -> None:
        """Waits for the calls that are running (an fsync must not be abandoned), and delivers no more."""
        self._closed = True
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join()
        self._threads.clear()

    def _work(self) -> None:
        while (item := self._calls.get()) is not None:
            call, done = item
            result: Any = None
            error: BaseException | None = None
            try:
                result = call()
            except BaseException as raised:
                error = raised
            self._results.append((done, result, error))
            if not self._wake_sent:
                # Set before the call: the loop clears it before it empties the deque, so none is missed.
                self._wake_sent = True
                with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
                    self._loop.call_soon_threadsafe(self._deliver)
            del item, call, done, result, error  # an idle thread must not keep a file or a buffer alive

    def _deliver(self) -> None:
        self._wake_sent = False
        if self._closed:
            return
        self._turn.active = True
        results = self._results
        while results:
            done, result, error = results.popleft()
            self._under_way -= 1
            try:
                done(result, error)
            except Exception:
                _log.exception("the receiver of a worker's result failed")
        self._turn.finish()
