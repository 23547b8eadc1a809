"""Runs handlers' generators under asyncio.

A generator is stepped at once until it first waits. What resumes it (a fired waiter, a deadline, the result
of a disk job) never runs it on the spot, because that would be inside whoever fired it: it is put in the
ready line, which is run at the end of the current turn (`net/turn.py`), in the same pass of the loop.

All deadlines are in one heap with one timer for the earliest. Most waits end before their deadline; their
entries stay in the heap until they come to its top or outnumber the live ones, and then they are thrown
away in one go.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections import deque
from collections.abc import Callable
from math import inf
from typing import Any, Final, TypeAlias, TypeVar

from ottla.net.turn import Turn
from ottla.net.workers import Workers
from ottla.ports.clock import Clock
from ottla.ports.effects import DiskJob, Effect, Sleep, Steps, Waiter

R = TypeVar("R")

Done: TypeAlias = Callable[[Any, BaseException | None], None]

DEAD_ENTRIES_MIN: Final = 256
"""Fewer dead heap entries than this are not worth a compaction."""

READY_PER_TURN_MAX: Final = 1_000
"""Generators resumed before the loop gets to look at its sockets."""

_log = logging.getLogger(__name__)


class Running:
    """A generator under way. `cancel` closes it where it waits; its `done` is then never called."""

    __slots__ = ("_driver", "_steps", "_done", "_effect", "_cancelled", "_stepping", "_result", "_error")

    def __init__(self, driver: AsyncioDriver, steps: Steps[Any], done: Done) -> None:
        self._driver = driver
        self._steps = steps
        self._done: Done | None = done  # None when it is over
        self._effect: Effect | None = None  # what it waits for
        self._stepping = False
        self._cancelled = False
        self._result: Any = None  # what the next step is given
        self._error: BaseException | None = None

    @property
    def finished(self) -> bool:
        return self._done is None

    def cancel(self) -> None:
        if self._done is None or self._cancelled:
            return
        self._cancelled = True
        if not self._stepping:  # else it is up the stack, and closed when it next yields
            self._close()

    def _close(self) -> None:
        self._done = None
        driver = self._driver
        driver._waiting.pop(self, None)
        effect, self._effect = self._effect, None
        if isinstance(effect, Waiter) and not effect.done:
            effect.resume = None
            effect.done = True  # whoever keeps it sees that nobody waits any more
            driver._entry_died(effect)
        try:
            self._steps.close()
        except Exception:
            _log.exception("a cancelled handler failed in its clean-up")

    def _waiter_resumed(self, waiter: Waiter) -> None:
        waiter.resume = None
        if not self._driver._expiring:  # fired, or ended by its connection, before its deadline
            self._driver._entry_died(waiter)
        self._ready(waiter.fired, None)

    def _slept(self, _: Waiter) -> None:
        self._ready(None, None)

    def _job_done(self, result: Any, error: BaseException | None) -> None:
        if self._done is not None:
            self._ready(result, error)

    def _ready(self, result: Any, error: BaseException | None) -> None:
        self._result = result
        self._error = error
        self._effect = None
        driver = self._driver
        driver._ready.append(self)
        driver.turn.woken += 1
        if not driver._drain_deferred:
            driver._drain_deferred = True
            driver.turn.defer(driver._drain)

    def _next_turn(self) -> None:
        """After Sleep(0)."""
        if self._done is not None:
            self._ready(None, None)


class AsyncioDriver:
    """Implements `ports.driver.Driver`. `turn` and `workers` are shared with `net`'s Hub in a broker; left
    out, the driver has its own. `fatal` is told of a background task that died; without it, it is logged.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        clock: Clock,
        *,
        turn: Turn | None = None,
        workers: Workers | None = None,
        fatal: Callable[[str, BaseException], None] | None = None,
    ) -> None:
        self.turn = turn or Turn(loop)
        self._loop = loop
        self._clock = clock
        self._own_workers = workers is None
        self._workers = workers or Workers(loop, self.turn)
        self._fatal = fatal
        self._waiting: dict[Running, None] = {}
        self._ready: deque[Running] = deque()
        self._drain_deferred = False
        self._heap: list[tuple[float, int, Waiter]] = []
        self._heap_dead = 0
        self._pushed = 0  # breaks ties: equal deadlines expire in the order of their yields
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at_ms = inf
        self._expiring = False
        self._closed = False

    @property
    def waiting(self) -> int:
        """How many generators wait for something."""
        return len(self._waiting)

    def run(self, steps: Steps[R], done: Done) -> None:
        self.start(steps, done)

    def start(self, steps: Steps[R], done: Done) -> Running:
        """As `run`, and gives a handle with which it can be cancelled."""
        running = Running(self, steps, done)
        if self._closed:
            running.cancel()
        else:
            self._advance(running)
        return running

    def spawn(self, steps: Steps[None], name: str) -> None:
        def done(_: Any, error: BaseException | None) -> None:
            if error is None:
                return
            _log.critical("background task %s failed", name, exc_info=error)
            if self._fatal is not None:
                self._fatal(name, error)

        self.start(steps, done)

    def close(self) -> None:
        """Cancels everything that waits. Calls in worker threads are waited for."""
        self._closed = True
        for running in list(self._waiting):
            running.cancel()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._heap.clear()
        self._heap_dead = 0
        if self._own_workers:
            self._workers.close()

    def _advance(self, running: Running) -> None:
        """Steps the generator until it waits or ends."""
        steps = running._steps
        effect: Any
        result, error = running._result, running._error
        running._result = running._error = None
        running._stepping = True
        try:
            while True:
                if error is not None:
                    raised, error = error, None
                    effect = steps.throw(raised)
                else:
                    effect = steps.send(result)
                if running._cancelled:
                    running._stepping = False
                    if isinstance(effect, Waiter):
                        effect.done = True
                    running._close()
                    return
                if isinstance(effect, Waiter):
                    if effect.done:
                        result = effect.fired
                        continue
                    if effect.resume is not None:
                        error = RuntimeError("two handlers wait for one waiter")
                        continue
                    effect.resume = running._waiter_resumed
                    self._push(effect)
                elif isinstance(effect, DiskJob):
                    self._workers.submit(effect.call, running._job_done)
                elif isinstance(effect, Sleep):
                    if effect.duration_ms <= 0:
                        self._loop.call_soon(running._next_turn)
                    else:
                        waiter = Waiter(self._clock.monotonic_ms() + effect.duration_ms)
                        waiter.resume = running._slept
                        self._push(waiter)
                        effect = waiter  # so that cancelling takes it out of the heap
                else:
                    error = TypeError(f"a handler yielded {effect!r}, which is no effect")
                    continue
                running._stepping = False
                running._effect = effect
                self._waiting[running] = None
                return
        except StopIteration as stop:
            outcome: tuple[Any, BaseException | None] = (stop.value, None)
        except Exception as raised:
            outcome = (None, raised)
        running._stepping = False
        self._waiting.pop(running, None)
        done, running._done = running._done, None
        if done is not None and not running._cancelled:
            done(*outcome)

    def _drain(self) -> None:
        """Resumes what is ready; what becomes ready meanwhile is for the next round of the turn."""
        ready = self._ready
        for _ in range(min(len(ready), READY_PER_TURN_MAX)):
            running = ready.popleft()
            self.turn.woken -= 1
            if running._done is None:
                continue  # cancelled since
            try:
                self._advance(running)
            except Exception:
                _log.exception("the receiver of a handler's result failed")
        self._drain_deferred = False
        if ready:
            self._drain_deferred = True
            self.turn.defer(self._drain)

    def _push(self, waiter: Waiter) -> None:
        deadline_ms = waiter.deadline_ms
        if deadline_ms == inf:
            return
        self._pushed += 1
        heapq.heappush(self._heap, (deadline_ms, self._pushed, waiter))
        if deadline_ms < self._timer_at_ms:
            self._set_timer(deadline_ms)

    def _set_timer(self, deadline_ms: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at_ms = deadline_ms
        delay_ms = max(deadline_ms - self._clock.monotonic_ms(), 0)
        self._timer = self._loop.call_later(delay_ms / 1000, self._expire_due)

    def _expire_due(self) -> None:
        self._timer = None
        self._timer_at_ms = inf
        heap = self._heap
        now_ms = self._clock.monotonic_ms()
        turn = self.turn
        turn.active = True
        self._expiring = True
        while heap:
            deadline_ms, _, waiter = heap[0]
            if waiter.done:
                self._heap_dead -= 1
            elif deadline_ms > now_ms:
                break
            heapq.heappop(heap)
            waiter.expire()  # only puts its generator in the ready line
        self._expiring = False
        if heap:
            self._set_timer(heap[0][0])
        turn.finish()

    def _entry_died(self, waiter: Waiter) -> None:
        if waiter.deadline_ms == inf:
            return
        self._heap_dead += 1
        if self._heap_dead > DEAD_ENTRIES_MIN and self._heap_dead * 2 > len(self._heap):
            self._heap = [entry for entry in self._heap if not entry[2].done]
            heapq.heapify(self._heap)
            self._heap_dead = 0
