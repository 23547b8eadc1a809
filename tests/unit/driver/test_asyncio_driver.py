"""The driver's semantics (ports/driver.py, ports/effects.py; DESIGN.md, Waiting)."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine
from math import inf
from typing import Any

import pytest

from ottla.broker.driver import DEAD_ENTRIES_MIN, READY_PER_TURN_MAX, AsyncioDriver
from ottla.ports.effects import DiskJob, Sleep, Steps, Waiter

DEADLINE_S = 20.0


class MonotonicClock:
    def now_ms(self) -> int:
        return int(time.time() * 1000)

    def monotonic_ms(self) -> float:
        return time.monotonic() * 1000


CLOCK = MonotonicClock()


def in_ms(delay_ms: float) -> float:
    return CLOCK.monotonic_ms() + delay_ms


def run(test: Callable[[AsyncioDriver], Coroutine[Any, Any, None]], **kwargs: Any) -> None:
    async def whole() -> None:
        driver = AsyncioDriver(asyncio.get_running_loop(), CLOCK, **kwargs)
        try:
            await asyncio.wait_for(test(driver), DEADLINE_S)
        finally:
            driver.close()
            assert driver.waiting == 0

    asyncio.run(whole())


async def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end, "the condition did not come true"
        await asyncio.sleep(0.001)


class Outcome:
    def __init__(self) -> None:
        self.calls: list[tuple[Any, BaseException | None]] = []

    def __call__(self, result: Any, error: BaseException | None) -> None:
        self.calls.append((result, error))

    @property
    def result(self) -> Any:
        ((result, error),) = self.calls
        assert error is None
        return result


def test_a_generator_that_never_waits_is_done_before_run_returns() -> None:
    def steps() -> Steps[int]:
        return 42
        yield

    async def test(driver: AsyncioDriver) -> None:
        outcome = Outcome()
        driver.run(steps(), outcome)
        assert outcome.result == 42

    run(test)


def test_it_is_stepped_at_once_until_it_first_waits() -> None:
    seen: list[str] = []
    waiter = Waiter(inf)

    def steps() -> Steps[bool]:
        seen.append("before")
        fired = yield waiter
        seen.append("after")
        return bool(fired)

    async def test(driver: AsyncioDriver) -> None:
        outcome = Outcome()
        driver.run(steps(), outcome)
        assert seen == ["before"] and driver.waiting == 1
        waiter.fire()
        assert seen == ["before"], "firing does not run the waiting handler inside the caller"
        await asyncio.sleep(0)
        assert outcome.result is True
        assert driver.waiting == 0

    run(test)


def test_a_waiter_fired_before_it_is_yielded_returns_at_once() -> None:
    def steps() -> Steps[tuple[Any, Any]]:
        fired, expired = Waiter(inf), Waiter(inf)
        fired.fire()
        expired.expire()
        first = yield fired
        second = yield expired
        return first, second

    async def test(driver: AsyncioDriver) -> None:
        outcome = Outcome()
        driver.run(steps(), outcome)
        assert outcome.result == (True, False)

    run(test)


def test_deadlines_expire_in_their_order_and_ties_in_the_order_of_yields() -> None:
    ended: list[tuple[str, bool]] = []

    def steps(name: str, deadline_ms: float) -> Steps[None]:
        ended.append((name, (yield Waiter(deadline_ms))))

    async def test(driver: AsyncioDriver) -> None:
        base = in_ms(5)
        for name, delay in [("c", 20), ("a", 0), ("d", 30), ("b1", 10), ("b2", 10), ("past", -100)]:
            driver.run(steps(name, base + delay), Outcome())
        await until(lambda: len(ended) == 6)
        assert ended == [(name, False) for name in ("past", "a", "b1", "b2", "c", "d")]
        assert CLOCK.monotonic_ms() >= base + 30

    run(test)


def test_a_deadline_is_never_early() -> None:
    late: list[float] = []

    def steps(deadline_ms: float) -> Steps[None]:
        yield Waiter(deadline_ms)
        late.append(CLOCK.monotonic_ms() - deadline_ms)

    async def test(driver: AsyncioDriver) -> None:
        for i in range(30):
            driver.run(steps(in_ms(i * 1.3)), Outcome())
        await until(lambda: len(late) == 30)
        assert min(late) >= 0

    run(test)


def test_what_is_fired_in_one_turn_is_resumed_in_its_order_in_the_same_pass_of_the_loop() -> None:
    waiters = [Waiter(in_ms(10_000)) for _ in range(5)]
    order: list[int] = []

    def steps(index: int) -> Steps[None]:
        yield waiters[index]
        order.append(index)

    async def test(driver: AsyncioDriver) -> None:
        for index in range(5):
            driver.run(steps(index), Outcome())
        driver.turn.active = True  # as in Connection.buffer_updated
        for index in (3, 1, 4, 0, 2):
            waiters[index].fire()
        assert order == []
        driver.turn.finish()
        assert order == [3, 1, 4, 0, 2]

    run(test)


def test_a_chain_of_handlers_that_wake_each_other_neither_recurses_nor_starves_the_loop() -> None:
    length = 5_000
    waiters = [Waiter(inf) for _ in range(length + 1)]
    reached: list[int] = []

    def steps(index: int) -> Steps[None]:
        yield waiters[index]
        reached.append(index)
        waiters[index + 1].fire()

    async def test(driver: AsyncioDriver) -> None:
        for index in range(length):
            driver.run(steps(index), Outcome())
        waiters[0].fire()
        passes = 0
        while len(reached) < length:
            await asyncio.sleep(0)
            passes += 1
        assert reached == list(range(length))
        assert passes > 10, "the loop was looked at in between"

    run(test)


def test_many_ready_at_once_are_resumed_in_portions() -> None:
    many = 3 * READY_PER_TURN_MAX + 5
    waiters = [Waiter(in_ms(60_000)) for _ in range(many)]
    resumed: list[int] = []

    def steps(index: int) -> Steps[None]:
        yield waiters[index]
        resumed.append(index)

    async def test(driver: AsyncioDriver) -> None:
        for index in range(many):
            driver.run(steps(index), Outcome())
        for waiter in waiters:
            waiter.fire()
        await until(lambda: len(resumed) == many)
        assert resumed == list(range(many))

    run(test)


def test_errors_of_a_handler_go_to_done_whether_it_waited_or_not() -> None:
    waiter = Waiter(inf)

    def steps(wait: bool) -> Steps[None]:
        if wait:
            yield waiter
        raise ValueError("broken")

    async def test(driver: AsyncioDriver) -> None:
        at_once, later = Outcome(), Outcome()
        driver.run(steps(False), at_once)
        driver.run(steps(True), later)
        waiter.fire()
        await asyncio.sleep(0)
        for outcome in (at_once, later):
            ((result, error),) = outcome.calls
            assert result is None and isinstance(error, ValueError)
        assert driver.waiting == 0

    run(test)


def test_a_done_that_raises_does_not_stop_the_others(caplog: pytest.LogCaptureFixture) -> None:
    waiters = [Waiter(inf), Waiter(inf)]
    good = Outcome()

    def steps(index: int) -> Steps[int]:
        yield waiters[index]
        return index

    def bad(result: Any, error: BaseException | None) -> None:
        raise RuntimeError("done is broken")

    async def test(driver: AsyncioDriver) -> None:
        driver.run(steps(0), bad)
        driver.run(steps(1), good)
        for waiter in waiters:
            waiter.fire()
        await asyncio.sleep(0)
        assert good.result == 1

    run(test)
    assert "done is broken" in caplog.text


def test_yielding_something_else_is_an_error_at_the_yield() -> None:
    def steps() -> Steps[str]:
        try:
            yield "no effect"  # type: ignore[misc]
        except TypeError as error:
            return str(error)
        return "nothing was raised"

    async def test(driver: AsyncioDriver) -> None:
        outcome = Outcome()
        driver.run(steps(), outcome)
        assert "no effect" in outcome.result

    run(test)


def test_two_handlers_may_not_wait_for_one_waiter() -> None:
    waiter = Waiter(inf)

    def steps() -> Steps[None]:
        yield waiter

    async def test(driver: AsyncioDriver) -> None:
        outcome = Outcome()
        driver.run(steps(), Outcome())
        driver.run(steps(), outcome)
        assert isinstance(outcome.calls[0][1], RuntimeError)

    run(test)


def test_a_disk_job_runs_in_a_thread_and_gives_its_result_or_raises_its_error() -> None:
    def fail() -> None:
        raise OSError(28, "no space left")

    def steps() -> Steps[list[Any]]:
        name = yield DiskJob(lambda: threading.current_thread().name)
        try:
            yield DiskJob(fail)
        except OSError as error:
            return [name, error.errno, threading.current_thread() is threading.main_thread()]
        return []

    async def test(driver: AsyncioDriver) -> None:
        outcome = Outcome()
        driver.run(steps(), outcome)
        await until(lambda: bool(outcome.calls))
        name, errno, on_loop = outcome.result
        assert name.startswith("worker-")
        assert errno == 28 and on_loop

    run(test)


def test_disk_jobs_run_beside_each_other_and_their_results_arrive_together() -> None:
    barrier = threading.Barrier(4)

    def steps() -> Steps[int]:
        return (yield DiskJob(lambda: barrier.wait(DEADLINE_S)))

    async def test(driver: AsyncioDriver) -> None:
        outcomes = [Outcome() for _ in range(12)]
        for outcome in outcomes:
            driver.run(steps(), outcome)
        await until(lambda: all(outcome.calls for outcome in outcomes))
        assert sorted(outcome.result for outcome in outcomes) == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]

    run(test)


def test_sleep_gives_none_after_its_time_and_sleep_0_after_one_turn() -> None:
    def steps() -> Steps[tuple[Any, float]]:
        start = CLOCK.monotonic_ms()
        result = yield Sleep(20)
        return result, CLOCK.monotonic_ms() - start

    turns: list[int] = []

    def yielding() -> Steps[None]:
        for turn in range(3):
            turns.append(turn)
            yield Sleep(0)

    async def test(driver: AsyncioDriver) -> None:
        outcome = Outcome()
        driver.run(steps(), outcome)
        driver.run(yielding(), Outcome())
        assert turns == [0]
        await asyncio.sleep(0)
        assert turns in ([0], [0, 1]), "other callbacks come in between"
        await until(lambda: bool(outcome.calls))
        result, slept_ms = outcome.result
        assert result is None and slept_ms >= 20
        assert turns == [0, 1, 2]

    run(test)


@pytest.mark.parametrize("kind", ["waiter", "sleep", "sleep 0", "job"])
def test_a_cancelled_handler_is_closed_where_it_waits_and_done_is_not_called(kind: str) -> None:
    cleaned: list[str] = []
    release = threading.Event()
    effect: Any = {
        "waiter": Waiter(in_ms(50_000)),
        "sleep": Sleep(50_000),
        "sleep 0": Sleep(0),
        "job": DiskJob(lambda: release.wait(DEADLINE_S)),
    }[kind]

    def steps() -> Steps[None]:
        try:
            yield effect
        finally:
            cleaned.append(kind)

    async def test(driver: AsyncioDriver) -> None:
        outcome = Outcome()
        running = driver.start(steps(), outcome)
        running.cancel()
        running.cancel()
        assert cleaned == [kind] and running.finished and driver.waiting == 0
        release.set()
        if kind == "waiter":
            assert effect.done
            effect.fire()
        await until(lambda: driver._workers.under_way == 0)
        await asyncio.sleep(0)
        assert outcome.calls == []

    run(test)


def test_a_handler_cancelled_between_its_wake_up_and_its_turn_is_not_resumed() -> None:
    waiter = Waiter(inf)
    seen: list[str] = []

    def steps() -> Steps[None]:
        try:
            yield waiter
            seen.append("resumed")
        finally:
            seen.append("closed")

    async def test(driver: AsyncioDriver) -> None:
        running = driver.start(steps(), Outcome())
        waiter.fire()
        running.cancel()
        await asyncio.sleep(0)
        assert seen == ["closed"]

    run(test)


def test_a_handler_may_be_cancelled_by_what_it_does_itself() -> None:
    """A handler that closes its own connection, whose callbacks cancel it."""
    handles: list[Any] = []
    seen: list[str] = []
    second = Waiter(in_ms(60_000))

    def steps() -> Steps[None]:
        try:
            yield Waiter(in_ms(0))
            handles[0].cancel()
            yield second
            seen.append("went on")
        finally:
            seen.append("closed")

    async def test(driver: AsyncioDriver) -> None:
        outcome = Outcome()
        handles.append(driver.start(steps(), outcome))
        await until(lambda: bool(seen))
        assert seen == ["closed"] and outcome.calls == [] and second.done
        assert driver._heap_dead <= len(driver._heap)

    run(test)


def test_the_heap_does_not_grow_with_waits_that_end_early() -> None:
    def steps(waiter: Waiter) -> Steps[None]:
        yield waiter

    async def test(driver: AsyncioDriver) -> None:
        lasting = [Waiter(in_ms(60_000)) for _ in range(10)]
        for waiter in lasting:
            driver.run(steps(waiter), Outcome())
        largest = 0
        for _ in range(20_000):
            waiter = Waiter(in_ms(60_000))
            driver.run(steps(waiter), Outcome())
            waiter.fire()
            largest = max(largest, len(driver._heap))
        await asyncio.sleep(0)
        assert largest <= 2 * DEAD_ENTRIES_MIN + 50
        for waiter in lasting:
            assert not waiter.done
            waiter.expire()  # as a connection does that is gone
        await until(lambda: driver.waiting == 0)

    run(test)


def test_dead_entries_are_counted_right_whichever_way_they_ended() -> None:
    def steps(waiter: Waiter) -> Steps[None]:
        yield waiter

    async def test(driver: AsyncioDriver) -> None:
        waiters = [Waiter(in_ms(15)) for _ in range(40)]
        runnings = [driver.start(steps(waiter), Outcome()) for waiter in waiters]
        for index in range(0, 30, 3):
            waiters[index].fire()
            waiters[index + 1].expire()
            runnings[index + 2].cancel()
        assert driver._heap_dead == 30
        await until(lambda: not driver._heap)
        assert driver._heap_dead == 0
        assert driver.waiting == 0
        assert driver._timer is None

    run(test)


def test_a_background_task_that_fails_is_logged_and_fatal(caplog: pytest.LogCaptureFixture) -> None:
    fatal: list[tuple[str, BaseException]] = []

    def steps() -> Steps[None]:
        yield Sleep(1)
        raise ValueError("the disk is gone")

    async def test(driver: AsyncioDriver) -> None:
        driver.spawn(steps(), "retention")
        await until(lambda: bool(fatal))

    with caplog.at_level(logging.CRITICAL):
        run(test, fatal=lambda name, error: fatal.append((name, error)))
    assert fatal[0][0] == "retention" and isinstance(fatal[0][1], ValueError)
    assert "retention" in caplog.text


def test_closing_cancels_everything_and_waits_for_calls_in_threads() -> None:
    closed: list[str] = []
    started = threading.Event()
    ended: list[str] = []

    def slow() -> None:
        started.set()
        time.sleep(0.05)  # the call that must not be abandoned
        ended.append("job")

    def steps(effect: Any) -> Steps[None]:
        try:
            yield effect
        finally:
            closed.append("x")

    async def whole() -> None:
        driver = AsyncioDriver(asyncio.get_running_loop(), CLOCK)
        for effect in (Waiter(in_ms(60_000)), Sleep(60_000), DiskJob(slow)):
            driver.run(steps(effect), Outcome())
        started.wait(DEADLINE_S)
        driver.close()
        assert closed == ["x"] * 3 and ended == ["job"]
        late = Outcome()
        driver.run(steps(Sleep(1)), late)
        await asyncio.sleep(0.01)
        assert late.calls == []

    asyncio.run(whole())
