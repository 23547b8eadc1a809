"""Lets a few in at a time, in the order they came."""

from __future__ import annotations

from collections import deque
from math import inf

from ottla.ports.effects import Steps, Waiter


class Turnstile:
    """`yield from enter()`, and `leave()` in a finally."""

    __slots__ = ("_free", "_line")

    def __init__(self, places: int) -> None:
        self._free = places
        self._line: deque[Waiter] = deque()

    def enter(self) -> Steps[None]:
        if self._free:
            self._free -= 1
            return
        waiter = Waiter(inf)
        self._line.append(waiter)
        entered = False
        try:
            yield waiter
            entered = True
        finally:
            if not entered and waiter.fired:
                self.leave()  # let in and cancelled at the same moment

    def leave(self) -> None:
        while self._line:
            waiter = self._line.popleft()
            if not waiter.done:
                waiter.fire()
                return
        self._free += 1
