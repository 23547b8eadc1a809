"""The real clock: the one place, with `net/disk.py`, where the outside world enters."""

from __future__ import annotations

from time import monotonic_ns, time_ns


class SystemClock:
    """Implements `ports.clock.Clock` with the operating system's two clocks."""

    __slots__ = ()

    def now_ms(self) -> int:
        return time_ns() // 1_000_000

    def monotonic_ms(self) -> float:
        return monotonic_ns() / 1_000_000
