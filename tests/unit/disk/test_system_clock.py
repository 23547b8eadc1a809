"""The real clock counts in milliseconds."""

from __future__ import annotations

import time

from ottla.net.clock import SystemClock
from ottla.ports.clock import Clock


def test_wall_time_is_unix_milliseconds() -> None:
    clock: Clock = SystemClock()
    before = int(time.time() * 1000) - 1
    assert before <= clock.now_ms() <= int(time.time() * 1000) + 1


def test_monotonic_time_is_milliseconds_that_never_go_back() -> None:
    clock = SystemClock()
    start = time.monotonic() * 1000
    readings = [clock.monotonic_ms() for _ in range(1000)]
    assert readings == sorted(readings)
    assert start <= readings[0] <= start + 60_000
