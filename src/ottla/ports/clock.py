"""Time from outside, so that a simulator can own it."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    def now_ms(self) -> int:
        """Wall-clock milliseconds since 1970: what goes into records and files. It may jump."""
        ...

    def monotonic_ms(self) -> float:
        """Milliseconds that never go back: what deadlines and intervals are measured with."""
        ...
