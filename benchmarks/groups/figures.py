"""What the members' process notes between two periods: how long requests took, errors, its own CPU and lag.

Times are kept one by one, because several processes of members are added up before percentiles are taken.
The process also notes how late its own event loop was: where that is not small against the latencies, they
measure the client.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from typing import Any

LAG_INTERVAL_S = 0.01


class Figures:
    """`take` returns what was noted since it was called last."""

    def __init__(self) -> None:
        self.took_ms: defaultdict[str, list[float]] = defaultdict(list)
        self.errors: Counter[str] = Counter()
        self.news_sent_at = 0.0
        self._lag_ms: list[float] = []
        self._cpu_s = time.process_time()
        self._began_at = time.monotonic()

    def watch_lag(self, loop: asyncio.AbstractEventLoop) -> None:
        due = loop.time() + LAG_INTERVAL_S

        def tick() -> None:
            nonlocal due
            now = loop.time()
            self._lag_ms.append((now - due) * 1000)
            due = now + LAG_INTERVAL_S
            loop.call_at(due, tick)

        loop.call_at(due, tick)

    def took(self, kind: str, sent_at: float) -> None:
        self.took_ms[kind].append((time.monotonic() - sent_at) * 1000)

    def news(self, sent_at: float) -> None:
        """A heartbeat sent then was answered with something to do: before it, the member could not know."""
        self.news_sent_at = max(self.news_sent_at, sent_at)

    def take(self) -> dict[str, Any]:
        now, cpu_s = time.monotonic(), time.process_time()
        taken = {
            "took_ms": {kind: [round(each, 3) for each in found] for kind, found in self.took_ms.items()},
            "errors": dict(self.errors),
            "news_sent_at": self.news_sent_at,
            "lag_ms": [round(each, 3) for each in self._lag_ms],
            "cpu_s": cpu_s - self._cpu_s,
            "seconds": now - self._began_at,
        }
        self.took_ms.clear()
        self.errors.clear()
        self.news_sent_at = 0.0
        self._lag_ms = []
        self._cpu_s, self._began_at = time.process_time(), time.monotonic()
        return taken
