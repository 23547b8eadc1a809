"""How late the event loop is: what every client of the broker feels when something holds the loop up.

A timer asks to be called every few milliseconds and notes how late it was called. The counts go to buckets
whose bounds double, so a sample costs a few hundred nanoseconds and the percentiles are right within a factor
of two (the maximum is exact). asyncio rounds timers up to the next millisecond, so up to 1 ms is not lag.

A loop with little to do is asked less often: waking a process that sleeps costs it a tenth of a millisecond,
which at fifty times a second was an eighth of the CPU of a broker that is sent 50 MB/s.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Final

from ottla.model.limits import LOOP_LAG_MS_MAX

INTERVAL_MS: Final = 20
CALM_INTERVALS: Final = 5
"""How many intervals pass between two samples of a loop that has little to do."""
BUSY_SHARE: Final = 0.25
"""Of a core, from which on a loop is not calm."""
LOG_INTERVAL_S: Final = 10
_BUCKET_MS: Final = 0.0625  # the upper bound of the first bucket
_BUCKETS: Final = 24

_log = logging.getLogger(__name__)


class LoopLag:
    """`start` it once; read `percentile_ms(0.99)` and `lag_ms_max` any time; `reset` begins a new period."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        interval_ms: float = INTERVAL_MS,
        limit_ms: float = LOOP_LAG_MS_MAX,
    ) -> None:
        self.samples = 0
        self.lag_ms_max = 0.0
        self.over_limit = 0
        self._loop = loop
        self._interval_s = interval_ms / 1000
        self._limit_ms = limit_ms
        self._buckets = [0] * _BUCKETS
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._asked_at = 0.0
        self._cpu_s = 0.0
        self._log_at = 0.0
        self._unlogged = 0
        self._unlogged_ms_max = 0.0

    def start(self) -> None:
        self._cpu_s = time.thread_time()
        self._ask_again(self._loop.time(), 1)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def reset(self) -> None:
        self.samples = self.over_limit = 0
        self.lag_ms_max = 0.0
        self._buckets = [0] * _BUCKETS

    def percentile_ms(self, fraction: float) -> float:
        """The upper bound of the bucket that holds this fraction of the samples; 0 when there are none."""
        wanted = fraction * self.samples
        seen = 0
        for index, count in enumerate(self._buckets):
            seen += count
            if count and seen >= wanted:
                return min(_BUCKET_MS * 2.0**index, self.lag_ms_max)
        return 0.0

    def record(self, lag_ms: float) -> None:
        self.samples += 1
        index = max(int(lag_ms / _BUCKET_MS), 0).bit_length()
        self._buckets[min(index, _BUCKETS - 1)] += 1
        if lag_ms > self.lag_ms_max:
            self.lag_ms_max = lag_ms
        if lag_ms > self._limit_ms:
            self.over_limit += 1
            self._unlogged += 1
            self._unlogged_ms_max = max(self._unlogged_ms_max, lag_ms)

    def _tick(self) -> None:
        now = self._loop.time()
        self.record((now - self._due) * 1000)
        if self._unlogged and now >= self._log_at:
            _log.warning(
                "the event loop was late %d times, by %.1f ms at most (limit %g ms; p99 %.2f ms)",
                self._unlogged,
                self._unlogged_ms_max,
                self._limit_ms,
                self.percentile_ms(0.99),
            )
            self._log_at = now + LOG_INTERVAL_S
            self._unlogged = 0
            self._unlogged_ms_max = 0.0
        cpu_s = time.thread_time()
        is_busy = cpu_s - self._cpu_s > BUSY_SHARE * (now - self._asked_at)
        self._cpu_s = cpu_s
        self._ask_again(now, 1 if is_busy else CALM_INTERVALS)

    def _ask_again(self, now: float, intervals: int) -> None:
        self._asked_at = now
        self._due = now + intervals * self._interval_s
        self._timer = self._loop.call_at(self._due, self._tick)
