"""Virtual time: one queue of events that a seed puts in order.

Nothing here waits. The time is a number that jumps to the next event; events due at the same moment run in
an order drawn from the seed, because real machines promise none. Everything random in a simulation comes
from `random`, so that one seed gives one run.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Callable
from typing import Protocol


class Event:
    """Something that will happen; `cancel` makes it nothing (it leaves the queue when its time comes)."""

    __slots__ = ("time_ms", "action")

    def __init__(self, time_ms: float, action: Callable[[], None]) -> None:
        self.time_ms = time_ms
        self.action: Callable[[], None] | None = action

    def cancel(self) -> None:
        self.action = None

    @property
    def pending(self) -> bool:
        return self.action is not None


class StuckError(AssertionError):
    """The simulation can never reach the state that was waited for: no event is left, or time ran out."""


class Turns(Protocol):
    """Where a process puts what it will do later: the scheduler itself, or a gate before it."""

    random: random.Random

    @property
    def now_ms(self) -> float: ...

    def call_at(self, time_ms: float, action: Callable[[], None]) -> Event: ...

    def call_after(self, delay_ms: float, action: Callable[[], None]) -> Event: ...


class Scheduler:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        self.now_ms = 0.0
        self.events_run = 0
        self._queue: list[tuple[float, float, int, Event]] = []
        self._sequence = 0

    def call_at(self, time_ms: float, action: Callable[[], None]) -> Event:
        event = Event(max(time_ms, self.now_ms), action)
        self._sequence += 1
        # The random number decides among equals; the sequence keeps the comparison away from Event.
        heapq.heappush(self._queue, (event.time_ms, self.random.random(), self._sequence, event))
        return event

    def call_after(self, delay_ms: float, action: Callable[[], None]) -> Event:
        return self.call_at(self.now_ms + max(0.0, delay_ms), action)

    def step(self) -> bool:
        """Runs the next event; False when there is none."""
        while self._queue:
            time_ms, _, _, event = heapq.heappop(self._queue)
            action = event.action
            if action is None:
                continue
            event.action = None
            self.now_ms = time_ms
            self.events_run += 1
            action()
            return True
        return False

    def next_time_ms(self) -> float | None:
        while self._queue and self._queue[0][3].action is None:
            heapq.heappop(self._queue)
        return self._queue[0][0] if self._queue else None

    def run_for(self, duration_ms: float) -> None:
        """Runs everything that falls due in the next `duration_ms`, and leaves the clock at the end of it."""
        end_ms = self.now_ms + duration_ms
        while (time_ms := self.next_time_ms()) is not None and time_ms <= end_ms:
            self.step()
        self.now_ms = end_ms

    def run_until(self, condition: Callable[[], bool], *, within_ms: float = 3_600_000.0) -> None:
        """Runs until the condition holds; `StuckError` when that takes more virtual time than `within_ms`."""
        end_ms = self.now_ms + within_ms
        while not condition():
            time_ms = self.next_time_ms()
            if time_ms is None:
                raise StuckError(f"seed {self.seed}: nothing left to happen at {self.now_ms:.3f} ms")
            if time_ms > end_ms:
                raise StuckError(f"seed {self.seed}: still waiting after {within_ms:.0f} virtual ms")
            self.step()


class GatedEvent(Event):
    """An event of one process: while that is stopped, it waits at the gate."""

    __slots__ = ("queued",)

    def __init__(self, time_ms: float, action: Callable[[], None]) -> None:
        super().__init__(time_ms, action)
        self.queued: Event | None = None

    def cancel(self) -> None:
        self.action = None
        if self.queued is not None:
            self.queued.cancel()


class Gate:
    """A scheduler for one process, which can be stopped (SIGSTOP) and go on: time passes meanwhile, and what
    fell due happens all at once afterwards, in its order.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self.random = scheduler.random
        self.is_shut = False
        self._scheduler = scheduler
        self._backlog: deque[Callable[[], None]] = deque()

    @property
    def now_ms(self) -> float:
        return self._scheduler.now_ms

    def call_at(self, time_ms: float, action: Callable[[], None]) -> Event:
        event = GatedEvent(time_ms, action)

        def happen() -> None:
            due, event.action = event.action, None
            if due is not None:
                due()

        event.queued = self._scheduler.call_at(time_ms, lambda: self.pass_through(happen))
        return event

    def call_after(self, delay_ms: float, action: Callable[[], None]) -> Event:
        return self.call_at(self.now_ms + max(0.0, delay_ms), action)

    def pass_through(self, action: Callable[[], None]) -> None:
        """Now, or when the gate is open."""
        if self.is_shut:
            self._backlog.append(action)
        else:
            action()

    def shut(self) -> None:
        self.is_shut = True

    def open(self) -> None:
        self.is_shut = False
        while self._backlog and not self.is_shut:
            self._backlog.popleft()()

    def clear(self) -> None:
        """The process has ended: nothing of it will happen any more."""
        self.is_shut = False
        self._backlog.clear()
