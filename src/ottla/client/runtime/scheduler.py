"""Runs the core's generators: who may take a step now, and what each of the others waits for.

Pure: the time comes from a clock, calls go to a `Caller`, and nothing here blocks. A shell calls `run_ready`
and `run_timers`, and waits in between, for its sockets and until `next_timer_ms`. `on_ready` tells the shell
that somebody can go on, `on_timer` that a timer comes before all others: it may be waiting just then.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from typing import Any, Final, Protocol, TypeVar

from ottla.client import log
from ottla.client.effects import Call, CallMany, ClientSteps, Invoke, Pause, Wait
from ottla.client.errors import ClientClosed, IllegalState
from ottla.client.runtime.pending import CallWaiter, Gathering, GatheringPlace, PendingCall
from ottla.client.runtime.task import CoreTask, TaskCancelled
from ottla.ports.clock import Clock

R = TypeVar("R")

ROUNDS_MAX: Final = 4
"""A task spawns another, which sends a request: that is all in one turn."""

CANCELLED_TIMERS_MAX: Final = 1_000
"""The heap is swept when so many cancelled timers, and more than there are live ones, lie in it."""


class Caller(Protocol):
    """What carries calls to brokers."""

    def start(self, call: Call, waiter: CallWaiter) -> PendingCall:
        """Tells the waiter the outcome later, never within this call's own step."""
        ...


class Timer:
    """Something that happens at a time; cancelling leaves a hollow entry in the heap."""

    __slots__ = ("at_ms", "action", "_scheduler")

    def __init__(self, scheduler: Scheduler, at_ms: float, action: Callable[[], None]) -> None:
        self.at_ms = at_ms
        self.action: Callable[[], None] | None = action
        self._scheduler = scheduler

    def cancel(self) -> None:
        if self.action is not None:
            self.action = None
            self._scheduler.timer_cancelled()


def _ignore() -> None:
    pass


def _ignore_time(at_ms: float) -> None:
    pass


class Scheduler:
    def __init__(
        self,
        clock: Clock,
        *,
        on_ready: Callable[[], None] = _ignore,
        on_timer: Callable[[float], None] = _ignore_time,
    ) -> None:
        self.clock = clock
        self.caller: Caller | None = None
        self._on_ready = on_ready
        self._on_timer = on_timer
        self.closed = False
        self.stepping: CoreTask[Any] | None = None
        """Whose step is being taken."""
        self.ready: deque[CoreTask[Any]] = deque()
        """Who can go on, in order; for shells to look at."""
        self._tasks: dict[int, CoreTask[Any]] = {}
        self._timers: list[tuple[float, int, Timer]] = []
        self._cancelled_timers = 0
        self._count = 0
        self._carry_out: dict[type[Any], Callable[[CoreTask[Any], Any], None]] = {
            Call: self._call,
            CallMany: self._call_many,
            Pause: self._pause,
            Wait: self._wait,
            Invoke: self._invoke,
        }

    # -- tasks --

    def start(self, steps: ClientSteps[R], name: str) -> CoreTask[R]:
        """A task whose first step is due."""
        if self.closed:
            steps.close()
            raise ClientClosed("the client is closed")
        self._count += 1
        number = self._count
        task = CoreTask(self, number, steps, name)
        self._tasks[number] = task
        self.make_ready(task)
        return task

    def spawn(self, steps: ClientSteps[R], name: str) -> CoreTask[R]:
        """A task that nobody need wait for: an exception that leaves it is logged."""
        task = self.start(steps, name)
        task.on_done = lambda: _log_failure(task)
        return task

    @property
    def task_count(self) -> int:
        return len(self._tasks)

    def make_ready(self, task: CoreTask[Any]) -> None:
        task.ready = True
        ready = self.ready
        ready.append(task)
        if len(ready) == 1:
            self._on_ready()

    def run_ready(self) -> None:
        """Everybody who can go on takes a step, and those who can go on because of that; but not without end,
        lest two who keep waking each other keep the shell from its sockets.
        """
        ready = self.ready
        for _ in range(ROUNDS_MAX):
            for _ in range(len(ready)):
                if not ready:  # closed meanwhile
                    return
                self.step(ready.popleft())
            if not ready:
                return

    def step(self, task: CoreTask[Any]) -> None:
        if not task.ready:  # cancelled while it stood in the queue
            return
        task.ready = False
        steps = task.steps
        assert steps is not None
        value, error = task.value, task.error
        task.value = task.error = None
        task.running = True
        before = self.stepping
        self.stepping = task
        try:
            effect = steps.send(value) if error is None else steps.throw(error)
        except StopIteration as stop:
            self._finish(task, stop.value, None)
            return
        except BaseException as failure:
            self._finish(task, None, failure)
            if not isinstance(failure, Exception):
                raise
            return
        finally:
            task.running = False
            self.stepping = before
        if task.doomed:
            self.cancel(task, TaskCancelled(f"{task.name} was cancelled"))
            return
        carry_out = self._carry_out.get(type(effect))
        if carry_out is None:
            task.failed(TypeError(f"{task.name} yielded {effect!r}, which is no effect"))
        else:
            carry_out(task, effect)

    def cancel(self, task: CoreTask[Any], why: BaseException) -> None:
        """Ends a task where it waits."""
        if task.done:
            return
        if task.running:
            task.doomed = True
            return
        task.ready = False
        task.stop_waiting()
        steps = task.steps
        assert steps is not None
        before = self.stepping
        self.stepping = task
        task.running = True
        try:
            steps.close()
        except Exception as failure:
            log.failure(failure, "%s failed while it was cancelled", task.name)
        finally:
            task.running = False
            self.stepping = before
        self._finish(task, None, why)

    def close(self) -> None:
        """Cancels everything; whoever waits for a result gets ClientClosed."""
        if self.closed:
            return
        self.closed = True
        for task in list(self._tasks.values()):
            self.cancel(task, ClientClosed("the client was closed"))
        self.ready.clear()
        self._timers.clear()

    def _finish(self, task: CoreTask[Any], value: Any, error: BaseException | None) -> None:
        task.done = True
        task.value = value
        task.error = error
        task.steps = None
        self._tasks.pop(task.number, None)
        if task.on_done is not None:
            task.on_done()
            task.on_done = None
        if task._finished is not None:
            task._finished.notify()

    # -- effects --

    def _call(self, task: CoreTask[Any], call: Call) -> None:
        caller = self.caller
        assert caller is not None
        pending = caller.start(call, task)
        if not task.ready:
            task.call = pending

    def _call_many(self, task: CoreTask[Any], many: CallMany) -> None:
        caller = self.caller
        assert caller is not None
        gathering = Gathering(task, len(many.calls))
        if not many.calls:
            task.answered([])
            return
        task.gathering = gathering
        for call, answer in zip(many.calls, gathering.answers, strict=True):
            gathering.pending.append(caller.start(call, GatheringPlace(gathering, answer)))

    def _pause(self, task: CoreTask[Any], pause: Pause) -> None:
        if pause.duration_ms <= 0:
            self.make_ready(task)
        else:
            task.timer = self.timer(self.clock.monotonic_ms() + pause.duration_ms, task.time_up)

    def _wait(self, task: CoreTask[Any], wait: Wait) -> None:
        timeout_ms = wait.timeout_ms
        if timeout_ms is not None:
            if timeout_ms <= 0:
                task.value = False
                self.make_ready(task)
                return
            task.timer = self.timer(self.clock.monotonic_ms() + timeout_ms, task.time_up)
        task.wait_for(wait.signal)

    def _invoke(self, task: CoreTask[Any], invoke: Invoke) -> None:
        if task.on_invoke is None:
            task.failed(IllegalState(f"{task.name} is a task: nobody is there to call {invoke.function!r}"))
        else:
            task.invoke = invoke
            task.on_invoke()

    # -- timers --

    def timer(self, at_ms: float, action: Callable[[], None]) -> Timer:
        timer = Timer(self, at_ms, action)
        self._count += 1
        heapq.heappush(self._timers, (at_ms, self._count, timer))
        if self._timers[0][2] is timer:
            self._on_timer(at_ms)
        return timer

    def timer_cancelled(self) -> None:
        self._cancelled_timers += 1
        if self._cancelled_timers > CANCELLED_TIMERS_MAX and 2 * self._cancelled_timers > len(self._timers):
            self._timers = [entry for entry in self._timers if entry[2].action is not None]
            heapq.heapify(self._timers)
            self._cancelled_timers = 0

    def next_timer_ms(self) -> float | None:
        """When the next timer is due, on the monotonic clock."""
        timers = self._timers
        while timers:
            if timers[0][2].action is not None:
                return timers[0][0]
            heapq.heappop(timers)
            self._cancelled_timers -= 1
        return None

    def run_timers(self) -> None:
        """Everything that is due now."""
        timers = self._timers
        if not timers:
            return
        now_ms = self.clock.monotonic_ms()
        while timers and timers[0][0] <= now_ms:
            timer = heapq.heappop(timers)[2]
            action = timer.action
            if action is None:
                self._cancelled_timers -= 1
                continue
            timer.action = None
            action()
            timers = self._timers  # may have been swept


def _log_failure(task: CoreTask[Any]) -> None:
    error = task.error
    if error is not None and not isinstance(error, TaskCancelled | ClientClosed):
        log.failure(error, "%s failed", task.name)
