"""The simulator's scheduler, clock and driver: one seed is one run, effects keep the driver's contract."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.ports.effects import DiskJob, Sleep, Steps, Waiter
from ottla.testing.clock import VirtualClock
from ottla.testing.disk import SimulatedCrash, VirtualDisk
from ottla.testing.driver import SimDriver
from ottla.testing.scheduler import Scheduler, StuckError


def world(seed: int = 1) -> tuple[Scheduler, VirtualClock, SimDriver]:
    scheduler = Scheduler(seed)
    clock = VirtualClock(scheduler, boot_ms=500.0)
    return scheduler, clock, SimDriver(scheduler, clock)


class Outcome:
    """Takes a driver's `done`."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, BaseException | None]] = []

    def __call__(self, result: Any, error: BaseException | None) -> None:
        self.calls.append((result, error))


def order_of_equals(seed: int) -> list[int]:
    scheduler = Scheduler(seed)
    order: list[int] = []
    for number in range(8):
        scheduler.call_at(10.0, lambda number=number: order.append(number))  # type: ignore[misc]
    scheduler.run_for(10.0)
    return order


def test_events_run_in_the_order_of_time_and_equals_in_the_order_of_the_seed() -> None:
    scheduler = Scheduler(3)
    order: list[str] = []
    scheduler.call_at(20.0, lambda: order.append("late"))
    scheduler.call_at(10.0, lambda: order.append("early"))
    scheduler.call_at(15.0, lambda: order.append("never")).cancel()
    scheduler.run_for(30.0)
    assert order == ["early", "late"] and scheduler.now_ms == 30.0
    assert order_of_equals(1) == order_of_equals(1)
    assert len({tuple(order_of_equals(seed)) for seed in range(10)}) > 5


def test_waiting_for_what_cannot_happen_names_the_seed() -> None:
    with pytest.raises(StuckError, match="seed 42"):
        Scheduler(42).run_until(lambda: False)


def test_the_wall_clock_can_be_skewed_and_set_and_the_monotonic_one_cannot() -> None:
    scheduler = Scheduler(0)
    clock = VirtualClock(scheduler, skew_ms=-5_000, drift=0.5, boot_ms=100.0)
    before, monotonic = clock.now_ms(), clock.monotonic_ms()
    scheduler.run_for(1000.0)
    assert clock.now_ms() - before == 1500 and clock.monotonic_ms() - monotonic == 1500.0
    clock.jump(-60_000)
    assert clock.now_ms() - before == -58_500 and clock.monotonic_ms() - monotonic == 1500.0


def test_a_generator_that_never_waits_is_done_before_run_returns() -> None:
    _, _, driver = world()

    def steps() -> Steps[str]:
        fired = Waiter(1e9)
        fired.fire()
        return f"fired {(yield fired)}"

    outcome = Outcome()
    driver.run(steps(), outcome)
    assert outcome.calls == [("fired True", None)]


def test_a_waiter_gives_true_when_fired_and_false_at_its_deadline_on_the_monotonic_clock() -> None:
    scheduler, clock, driver = world()
    waiters = [Waiter(clock.monotonic_ms() + 100.0) for _ in range(2)]

    def steps(waiter: Waiter) -> Steps[tuple[bool, float]]:
        fired = yield waiter
        return fired, scheduler.now_ms

    outcomes = [Outcome(), Outcome()]
    for waiter, outcome in zip(waiters, outcomes, strict=True):
        driver.run(steps(waiter), outcome)
    scheduler.call_at(40.0, waiters[0].fire)
    scheduler.run_for(1000.0)
    assert outcomes[0].calls == [((True, 40.0), None)]
    assert outcomes[1].calls == [((False, 100.0), None)]
    assert driver.tasks_waiting == 0


def test_a_disk_job_takes_time_and_gives_its_result_or_raises_its_error() -> None:
    scheduler, _, driver = world()

    def steps() -> Steps[str]:
        yield Sleep(5.0)
        result = yield DiskJob(lambda: "synced")
        try:
            yield DiskJob(lambda: VirtualDisk().open("/nothing"))
        except FileNotFoundError:
            return f"{result}, then refused at {scheduler.now_ms > 5.0}"
        return "not refused"

    outcome = Outcome()
    driver.run(steps(), outcome)
    assert outcome.calls == []
    scheduler.run_for(1000.0)
    assert outcome.calls == [("synced, then refused at True", None)]


def test_disk_jobs_finish_in_an_order_that_depends_on_the_seed_only() -> None:
    def order(seed: int) -> list[int]:
        scheduler, _, driver = world(seed)
        finished: list[int] = []

        def steps(number: int) -> Steps[None]:
            yield DiskJob(lambda: None)
            finished.append(number)

        for number in range(5):
            driver.spawn(steps(number), "job")
        scheduler.run_for(1000.0)
        return finished

    assert order(4) == order(4)
    assert len({tuple(order(seed)) for seed in range(10)}) > 5


def test_an_error_in_a_background_task_is_fatal_and_named() -> None:
    scheduler = Scheduler(0)
    fatal: list[str] = []
    driver = SimDriver(
        scheduler, VirtualClock(scheduler), on_fatal=lambda name, error: fatal.append(f"{name}: {error}")
    )

    def steps() -> Steps[None]:
        yield Sleep(1.0)
        raise ValueError("broken")

    driver.spawn(steps(), "retention")
    scheduler.run_for(10.0)
    assert fatal == ["retention: broken"]


def test_a_killed_node_resumes_nothing_and_its_cleanup_cannot_disturb_the_simulation() -> None:
    scheduler, _, driver = world()
    reached: list[str] = []

    def steps() -> Steps[None]:
        try:
            yield Sleep(1.0)
            reached.append("resumed")
        finally:
            reached.append("cleanup")
            raise SimulatedCrash("the disk is off")

    outcome = Outcome()
    driver.run(steps(), outcome)
    driver.kill()
    scheduler.run_for(100.0)
    assert reached == ["cleanup"] and outcome.calls == []
