"""Time and CPU time of a part of this process, all threads included."""

from __future__ import annotations

import resource
import time


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Stopwatch:
    def __init__(self, broker_pid: int) -> None:
        self.seconds = self.cpu_s = self.broker_cpu_s = 0.0
        self._clock = (~broker_pid << 3) | 2  # the kernel's CPU clock of that process

    def begin(self) -> None:
        self.broker_cpu_s = -time.clock_gettime(self._clock)
        self.cpu_s = -_cpu_s()
        self.seconds = -time.perf_counter()

    def end(self) -> None:
        self.seconds += time.perf_counter()
        self.cpu_s += _cpu_s()
        self.broker_cpu_s += time.clock_gettime(self._clock)
