"""Runs handlers (generators of effects) on virtual time: the simulator's twin of the broker's asyncio driver.

A disk job takes a random time. Its call is made at a random moment within that time, often the first one: an
fsync in a thread may or may not cover what the loop writes meanwhile, and the pessimistic answer is the
likely one. Two jobs under way at once may finish in either order.

`kill` ends the node as a crash does: nothing resumes any more, and every generator is closed at once while
its disk already refuses, so that no cleanup code can do good after death.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar

from ottla.ports.effects import DiskJob, Sleep, Steps, Waiter
from ottla.testing.clock import VirtualClock
from ottla.testing.disk import SimulatedCrash
from ottla.testing.scheduler import Event, Turns

R = TypeVar("R")
Done = Callable[[Any, BaseException | None], None]


class _Task:
    __slots__ = ("steps", "done", "name", "timer")

    def __init__(self, steps: Steps[Any], done: Done, name: str) -> None:
        self.steps = steps
        self.done = done
        self.name = name
        self.timer: Event | None = None


class SimDriver:
    def __init__(
        self,
        scheduler: Turns,
        clock: VirtualClock,
        *,
        disk_ms_max: float = 20.0,
        on_fatal: Callable[[str, BaseException], None] | None = None,
        on_crash: Callable[[SimulatedCrash], None] | None = None,
    ) -> None:
        self._scheduler = scheduler
        self._clock = clock
        self._disk_ms_max = disk_ms_max
        self._on_fatal = on_fatal
        self._on_crash = on_crash
        self._tasks: dict[_Task, None] = {}  # a dict, not a set: its order does not depend on addresses
        self.dead = False
        self.disk_jobs = 0

    def run(self, steps: Steps[R], done: Done) -> None:
        if self.dead:
            steps.close()
            return
        task = _Task(steps, done, getattr(steps, "__name__", "handler"))
        self._tasks[task] = None
        self._advance(task, None, None)

    def spawn(self, steps: Steps[None], name: str) -> None:
        def ended(_: Any, error: BaseException | None) -> None:
            if error is not None:
                self._fatal(name, error)

        self.run(steps, ended)

    def guard(self, action: Callable[[], None]) -> None:
        """Runs one turn of the node (a frame that arrived, a timer): nothing once it is dead, and a simulated
        crash inside it ends the node instead of the simulation.
        """
        if self.dead:
            return
        try:
            action()
        except SimulatedCrash as crash:
            if self._on_crash is None:
                raise
            self._on_crash(crash)

    def kill(self) -> None:
        self.dead = True
        tasks, self._tasks = self._tasks, {}
        for task in tasks:
            if task.timer is not None:
                task.timer.cancel()
            # What a generator's `finally` raises after death is of no interest; a generator that is running
            # right now (it is the one that crashed) ends by itself.
            with contextlib.suppress(SimulatedCrash, Exception):
                task.steps.close()

    @property
    def tasks_waiting(self) -> int:
        return len(self._tasks)

    def _fatal(self, name: str, error: BaseException) -> None:
        if self._on_fatal is None:
            raise AssertionError(f"background task {name!r} failed") from error
        self._on_fatal(name, error)

    def _later(self, delay_ms: float, task: _Task, action: Callable[[], None]) -> None:
        def due() -> None:
            task.timer = None
            self.guard(action)

        task.timer = self._scheduler.call_after(delay_ms, due)

    def _advance(self, task: _Task, value: Any, error: BaseException | None) -> None:
        while True:
            if self.dead:
                return
            try:
                if error is not None:
                    effect: object = task.steps.throw(error)
                else:
                    effect = task.steps.send(value)
            except StopIteration as stop:
                self._tasks.pop(task, None)
                task.done(stop.value, None)
                return
            except SimulatedCrash:
                self._tasks.pop(task, None)
                raise
            except Exception as failure:
                self._tasks.pop(task, None)
                task.done(None, failure)
                return
            value, error = None, None
            if isinstance(effect, Waiter):
                if effect.done:
                    value = effect.fired
                    continue
                self._wait(task, effect)
            elif isinstance(effect, Sleep):
                self._later(
                    effect.duration_ms / (1.0 + self._clock.drift),
                    task,
                    lambda: self._advance(task, None, None),
                )
            elif isinstance(effect, DiskJob):
                self._disk_job(task, effect)
            else:
                error = TypeError(f"{task.name} yielded {effect!r}, which is no effect")
                continue
            return

    def _wait(self, task: _Task, waiter: Waiter) -> None:
        def resume(fired: Waiter) -> None:
            if self.dead or task not in self._tasks:
                return
            if task.timer is not None:
                task.timer.cancel()
            # Not within the caller that fired it: its own work comes to an end first, as on a real loop.
            self._later(0.0, task, lambda: self._advance(task, fired.fired, None))

        waiter.resume = resume

        def expire() -> None:
            task.timer = None
            self.guard(waiter.expire)

        if waiter.deadline_ms != float("inf"):
            task.timer = self._scheduler.call_at(self._clock.virtual_time_of(waiter.deadline_ms), expire)

    def _disk_job(self, task: _Task, job: DiskJob) -> None:
        self.disk_jobs += 1
        rng = self._scheduler.random
        duration_ms = rng.choice((0.01, 1.0, self._disk_ms_max)) * rng.random()
        starts_ms = 0.0 if rng.random() < 0.5 else duration_ms * rng.random()

        def call() -> None:
            result: Any = None
            failure: BaseException | None = None
            try:
                result = job.call()
            except SimulatedCrash:
                raise
            except Exception as raised:
                failure = raised
            self._later(duration_ms - starts_ms, task, lambda: self._advance(task, result, failure))

        self._later(starts_ms, task, call)
