"""A task: one generator of the core, with where it stands.

The scheduler takes its steps; whatever it waits for resumes it by putting the outcome here and the task into
the scheduler's queue. A task waits for one thing at a time, and keeps what it needs to stop waiting.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ottla.client.effects import ClientSteps, Invoke, Signal
from ottla.client.errors import OttlaError

if TYPE_CHECKING:
    from ottla.client.runtime.pending import PendingCall
    from ottla.client.runtime.scheduler import Scheduler, Timer

R = TypeVar("R")


class TaskCancelled(OttlaError):
    """The task was cancelled before it had a result."""


class CoreTask(Generic[R]):
    """Implements `effects.Task`. An operation is a task whose result somebody waits for (`on_done`)."""

    __slots__ = (
        *("name", "done", "steps", "value", "error", "ready", "running", "doomed", "wake_on", "_finished"),
        *("timer", "call", "gathering", "invoke", "on_done", "on_invoke", "number", "_scheduler"),
    )

    def __init__(self, scheduler: Scheduler, number: int, steps: ClientSteps[R], name: str) -> None:
        self.name = name
        self.done = False
        self._finished: Signal | None = None
        self.steps: ClientSteps[R] | None = steps
        self.value: Any = None
        """What the next step is sent; the result once `done`."""
        self.error: BaseException | None = None
        """What the next step is thrown; why there is no result once `done`."""
        self.ready = False
        self.running = False
        self.doomed = False
        """Cancelled by itself, in the middle of a step."""
        self.wake_on: Signal | None = None
        self.timer: Timer | None = None
        self.call: PendingCall | None = None
        self.gathering: Any = None
        self.invoke: Invoke | None = None
        """A function that the shell has to call for this operation before it goes on."""
        self.on_done: Callable[[], None] | None = None
        self.on_invoke: Callable[[], None] | None = None
        self.number = number
        self._scheduler = scheduler

    def __repr__(self) -> str:
        return f"<task {self.name}{' done' if self.done else ''}>"

    @property
    def finished(self) -> Signal:
        """Notified at its end; made when first asked for, since most operations are only run."""
        if self._finished is None:
            self._finished = Signal()
        return self._finished

    def result(self) -> R:
        assert self.done, "the task has not ended"
        if self.error is not None:
            raise self.error
        value: R = self.value
        return value

    def cancel(self) -> None:
        self._scheduler.cancel(self, TaskCancelled(f"{self.name} was cancelled"))

    # -- what resumes it --

    def answered(self, response: Any) -> None:
        """The response to its call."""
        self.call = None
        self.value = response
        self._scheduler.make_ready(self)

    def failed(self, error: BaseException) -> None:
        """Its call, or the user's function, failed."""
        self.call = None
        self.error = error
        self._scheduler.make_ready(self)

    def wait_for(self, signal: Signal) -> None:
        self.wake_on = signal
        signal.waiters[self.number] = self._wake

    def _wake(self) -> None:
        """Its signal was notified."""
        self.wake_on = None
        timer = self.timer
        if timer is not None:
            self.timer = None
            timer.cancel()
        self.value = True
        self._scheduler.make_ready(self)

    def time_up(self) -> None:
        """Its pause is over, or its signal did not come in time."""
        self.timer = None
        signal = self.wake_on
        if signal is not None:
            self.wake_on = None
            signal.waiters.pop(self.number, None)
            self.value = False
        self._scheduler.make_ready(self)

    def stop_waiting(self) -> None:
        """Takes it out of everything that could resume it."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        if self.wake_on is not None:
            self.wake_on.waiters.pop(self.number, None)
            self.wake_on = None
        if self.call is not None:
            self.call.abandon()
            self.call = None
        if self.gathering is not None:
            self.gathering.abandon()
            self.gathering = None
        self.invoke = None
