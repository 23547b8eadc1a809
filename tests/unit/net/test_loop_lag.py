"""The loop-lag monitor: percentiles, the maximum, and the log line above the limit."""

from __future__ import annotations

import asyncio
import logging
import time

import pytest
from net_serving import run, until

from ottla.net.loop_lag import CALM_INTERVALS, LoopLag


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


def test_a_loop_with_little_to_do_is_asked_less_often() -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        lag = LoopLag(loop, interval_ms=2)

        async def asked_after(busy_share: float) -> float:
            """How many seconds ahead the next sample is, when the loop was that busy before the last one."""
            samples, began = lag.samples, time.thread_time()
            while lag.samples < samples + 3:
                if busy_share:
                    while time.thread_time() - began < 0.004:
                        pass
                    began = time.thread_time()
                await asyncio.sleep(0 if busy_share else 0.001)
            return lag._due - lag._asked_at

        lag.start()
        assert await asked_after(0.0) == pytest.approx(0.002 * CALM_INTERVALS)
        assert await asked_after(1.0) == pytest.approx(0.002)
        lag.stop()

    run(test)
