"""What a handler may ask of its driver.

A handler is a function that returns its response, or a generator that yields effects and returns its
response. It never awaits and never calls the outside: one driver runs it under asyncio, another in the
simulator. Each `yield` gives back the effect's result.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeAlias, TypeVar

R = TypeVar("R")


class Waiter:
    """Yield one to pause until somebody calls `fire`, or until the deadline: the yield gives True when it
    was fired, False on the deadline.

    Whoever will fire it keeps it (a partition's list of waiters, a session); `done` lets that list be
    pruned lazily. `resume` belongs to the driver. A waiter fired before it is yielded is remembered: the
    yield returns at once.
    """

    __slots__ = ("deadline_ms", "done", "fired", "resume")

    def __init__(self, deadline_ms: float) -> None:
        self.deadline_ms = deadline_ms  # on the monotonic clock
        self.done = False
        self.fired = False
        self.resume: Callable[[Waiter], None] | None = None

    def fire(self) -> None:
        if not self.done:
            self.done = True
            self.fired = True
            if self.resume is not None:
                self.resume(self)

    def expire(self) -> None:
        if not self.done:
            self.done = True
            if self.resume is not None:
                self.resume(self)


class DiskJob:
    """Run one GIL-free call (fsync, pread, compress) off the loop; the yield gives its result or raises its
    exception.
    """

    __slots__ = ("call",)

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call = call


class Sleep:
    """Continue after this many milliseconds."""

    __slots__ = ("duration_ms",)

    def __init__(self, duration_ms: float) -> None:
        self.duration_ms = duration_ms


Effect: TypeAlias = Waiter | DiskJob | Sleep
Steps: TypeAlias = Generator[Effect, Any, R]
"""What a handler that waits returns: `def handle(...) -> Steps[ProduceResponse]`."""


def run_now(steps: Steps[R]) -> R:
    """Runs steps to their end on the spot, for the start and the end of a node when nobody is served.

    Disk jobs are done in place and sleeps are skipped; whoever waits for somebody else cannot be run so.
    """
    result: Any = None
    try:
        while True:
            effect = steps.send(result)
            result = None
            if isinstance(effect, DiskJob):
                result = effect.call()
            elif isinstance(effect, Waiter):
                raise RuntimeError("a step that nobody else can complete")
    except StopIteration as stop:
        value: R = stop.value
        return value
