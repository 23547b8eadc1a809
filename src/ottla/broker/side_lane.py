"""Requests that may wait a turn: those of the coordinators, so that data need not wait for them.

One pass of the event loop serves every socket that has something. When a thousand members of groups have
(a rebalance of two hundred groups at once), a producer's next bytes come after all of them: 140 ms and more
per pass were measured. So a pass serves only some of these requests; the others stand in one line, in the
order in which they came, and each further pass takes some from its head. Nobody overtakes: while somebody
stands in the line, whoever comes goes to its end. A request in the line has its place among its connection's
replies already.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from ottla.ports.clock import Clock
from ottla.ports.driver import Driver
from ottla.ports.effects import Sleep, Steps

T = TypeVar("T")

PER_PASS_MIN: Final = 12
"""About a millisecond's work."""
PER_PASS_MAX: Final = 40
"""A pass that took long for other reasons gives the line a larger share, so that it is not starved."""
PER_MS: Final = 6.0

_NEXT_PASS: Final = Sleep(0)


class SideLane(Generic[T]):
    def __init__(
        self,
        driver: Driver,
        clock: Clock,
        serve: Callable[[T], None],
        *,
        per_pass_min: int = PER_PASS_MIN,
        per_pass_max: int = PER_PASS_MAX,
    ) -> None:
        self._driver = driver
        self._clock = clock
        self._serve = serve
        self._line: deque[T] = deque()
        self._least = per_pass_min
        self._most = per_pass_max
        self._room = per_pass_min
        self._counting = False

    def __len__(self) -> int:
        return len(self._line)

    def may_pass(self) -> bool:
        """Whether a request that comes now is served at once; else it has to be `put` into the line."""
        if self._line or self._room <= 0:
            return False
        self._room -= 1
        if not self._counting:
            self._counting = True
            self._driver.spawn(self._count_passes(), "requests in line")
        return True

    def put(self, request: T) -> None:
        self._line.append(request)

    def _count_passes(self) -> Steps[None]:
        """Runs for as long as there is something to count."""
        line = self._line
        while True:
            began_ms = self._clock.monotonic_ms()
            full = self._room
            yield _NEXT_PASS
            if self._room == full and not line:
                break
            elapsed_ms = self._clock.monotonic_ms() - began_ms
            self._room = max(self._least, min(int(elapsed_ms * PER_MS), self._most))
            while line and self._room > 0:
                self._room -= 1
                self._serve(line.popleft())
        self._room = self._least
        self._counting = False
