"""`log.cleaner.io.max.bytes.per.second`: reads and writes together stay below it.

Every spent byte moves the time at which the next one is due; whoever is ahead of that time pauses. A cleaner
that was slow for a while may not make up for it with a burst of more than a moment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_BURST_S: Final = 0.3
"""Kafka's throttler looks at intervals of this length."""


class Throttle:
    __slots__ = ("_bytes_per_s", "_now", "_pause", "_due")

    def __init__(
        self, bytes_per_s_max: float, now: Callable[[], float], pause: Callable[[float], None]
    ) -> None:
        self._bytes_per_s = bytes_per_s_max
        self._now = now
        self._pause = pause
        self._due = now()

    def spend(self, count: int) -> None:
        """Accounts for bytes that were read or written, and pauses where there were too many."""
        now = self._now()
        self._due = max(self._due, now - _BURST_S) + count / self._bytes_per_s
        if self._due > now:
            self._pause(self._due - now)
