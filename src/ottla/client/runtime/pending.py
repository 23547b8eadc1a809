"""A call that waits for its answer, and who is told of it: a task, or one place among many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ottla.client.effects import Answer, Call
from ottla.client.errors import OttlaError

if TYPE_CHECKING:
    from ottla.client.runtime.task import CoreTask


class CallWaiter(Protocol):
    def answered(self, response: Any) -> None: ...

    def failed(self, error: BaseException) -> None: ...


class PendingCall:
    __slots__ = ("call", "waiter", "deadline_ms", "sent_ms")

    def __init__(self, call: Call, waiter: CallWaiter, now_ms: float, timeout_ms: float) -> None:
        self.call = call
        self.waiter: CallWaiter | None = waiter
        """None once nobody wants the answer any more."""
        self.deadline_ms = now_ms + timeout_ms
        self.sent_ms = now_ms

    def abandon(self) -> None:
        self.waiter = None

    def answered(self, response: Any) -> None:
        waiter = self.waiter
        if waiter is not None:
            self.waiter = None
            waiter.answered(response)

    def failed(self, error: BaseException) -> None:
        waiter = self.waiter
        if waiter is not None:
            self.waiter = None
            waiter.failed(error)


class Gathering:
    """The answers of a `CallMany`, until the last one is there."""

    __slots__ = ("answers", "pending", "_open", "_task")

    def __init__(self, task: CoreTask[Any], count: int) -> None:
        self.answers = [Answer() for _ in range(count)]
        self.pending: list[PendingCall] = []
        self._open = count
        self._task: CoreTask[Any] | None = task

    def abandon(self) -> None:
        self._task = None
        for pending in self.pending:
            pending.abandon()

    def one_done(self) -> None:
        self._open -= 1
        task = self._task
        if self._open == 0 and task is not None:
            self._task = None
            task.gathering = None
            task.answered(self.answers)


class GatheringPlace:
    """One call's place in a gathering."""

    __slots__ = ("_gathering", "_answer")

    def __init__(self, gathering: Gathering, answer: Answer) -> None:
        self._gathering = gathering
        self._answer = answer

    def answered(self, response: Any) -> None:
        self._answer.response = response
        self._gathering.one_done()

    def failed(self, error: BaseException) -> None:
        if isinstance(error, OttlaError):
            self._answer.error = error
        else:  # a bug in a request of ours: an `Answer` is for what can happen to a call
            self._answer.error = OttlaError(f"the request could not be made: {error!r}")
            self._answer.error.__cause__ = error
        self._gathering.one_done()
