"""Virtual time: one queue of events that a seed puts in order.

Nothing here waits. The time is a number that jumps to the next event; events due at the same moment run in
an order drawn from the seed, because real machines promise none. Everything random in a simulation comes
from `random`, so that one seed gives one run.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable


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
