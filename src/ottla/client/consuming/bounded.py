"""Steps that are given so much time and no more.

A request has a deadline of its own (`request.timeout.ms`), which may lie far behind that of the operation
that sends it: whoever has to be back in time carries the steps out as a task, and leaves it when time is up.
"""

from __future__ import annotations

from typing import TypeVar

from ottla.client.effects import Answer, ClientSteps, Host, Wait
from ottla.client.errors import OperationTimedOut

R = TypeVar("R")


def within(host: Host, timeout_ms: float, steps: ClientSteps[R], name: str) -> ClientSteps[R]:
    """What the steps give, or raise; OperationTimedOut when the time is up before that."""
    deadline_ms = host.clock.monotonic_ms() + timeout_ms
    task = host.spawn(outcome(steps), name)
    try:
        while not task.done:
            left_ms = deadline_ms - host.clock.monotonic_ms()
            if left_ms <= 0:
                raise OperationTimedOut(f"{name}: not within {timeout_ms:g} ms")
            yield Wait(task.finished, left_ms)
    finally:
        if not task.done:
            task.cancel()
    found: R = task.result().get()
    return found


def outcome(steps: ClientSteps[R]) -> ClientSteps[Answer]:
    """A task's result, an error included: one that somebody waits for is not logged as unhandled."""
    try:
        return Answer(response=(yield from steps))
    except Exception as error:
        return Answer(error=error)
