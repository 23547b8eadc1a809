"""A clock that a simulation owns: wall time and monotonic time, read from the scheduler's virtual time.

Each node has its own. The wall clock may be wrong (`skew_ms`), run fast or slow (`drift`: 0.001 gains one
millisecond a second) and be set (`jump`); the monotonic clock runs at the same rate but never jumps, and
starts at another value on each boot, as on a real machine.
"""

from __future__ import annotations

from math import inf, nextafter
from typing import Final

from ottla.testing.scheduler import Scheduler

SIMULATION_BEGINS_MS: Final = 1_700_000_000_000
"""Wall time at the start of a simulation: any fixed recent date, so that runs repeat to the byte."""


class VirtualClock:
    def __init__(
        self,
        scheduler: Scheduler,
        *,
        skew_ms: float = 0.0,
        drift: float = 0.0,
        boot_ms: float = 0.0,
        begins_ms: int = SIMULATION_BEGINS_MS,
    ) -> None:
        self._scheduler = scheduler
        self.skew_ms = skew_ms
        self.drift = drift
        self.boot_ms = boot_ms
        self.begins_ms = begins_ms

    def now_ms(self) -> int:
        return self.begins_ms + int(self.skew_ms + self._elapsed_ms())

    def monotonic_ms(self) -> float:
        return self.boot_ms + self._elapsed_ms()

    def jump(self, by_ms: float) -> None:
        """Sets the wall clock forward or back, as an operator or a time daemon does."""
        self.skew_ms += by_ms

    def virtual_time_of(self, monotonic_ms: float) -> float:
        """The scheduler's time at which `monotonic_ms()` will give this value: where a deadline falls."""
        time_ms = (monotonic_ms - self.boot_ms) / (1.0 + self.drift)
        # Rounded down it would be a moment before the deadline: who waits would wake up there for ever.
        while self.boot_ms + time_ms * (1.0 + self.drift) < monotonic_ms:
            time_ms = nextafter(time_ms, inf)
        return time_ms

    def _elapsed_ms(self) -> float:
        return self._scheduler.now_ms * (1.0 + self.drift)
