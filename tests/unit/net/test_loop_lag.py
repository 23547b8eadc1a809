"""The loop-lag monitor: percentiles, the maximum, and the log line above the limit."""

from __future__ import annotations

import asyncio
import logging
import time

import pytest
from net_serving import run, until

from ottla.net.loop_lag import LoopLag


def test_a_held_up_loop_is_seen_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        lag = LoopLag(asyncio.get_running_loop(), interval_ms=1, limit_ms=30)
        lag.start()
        await until(lambda: lag.samples > 3)
        time.sleep(0.06)  # the fault that is being looked for: the loop is held up
        await until(lambda: lag.over_limit > 0)
        assert lag.lag_ms_max >= 30
        lag.stop()
        samples = lag.samples
        await asyncio.sleep(0.01)
        assert lag.samples == samples

    with caplog.at_level(logging.WARNING):
        run(test)
    assert "the event loop was late" in caplog.text


def test_percentiles_are_right_within_a_factor_of_two() -> None:
    async def test() -> None:
        lag = LoopLag(asyncio.get_running_loop())
        assert lag.percentile_ms(0.99) == 0
        for _ in range(985):
            lag.record(0.3)
        for _ in range(15):
            lag.record(10.0)
        assert 0.3 <= lag.percentile_ms(0.5) <= 0.6
        assert 10.0 <= lag.percentile_ms(0.99) <= 20.0
        assert lag.lag_ms_max == 10.0 and lag.over_limit == 15
        lag.reset()
        assert lag.samples == 0 and lag.percentile_ms(0.99) == 0

    run(test)
