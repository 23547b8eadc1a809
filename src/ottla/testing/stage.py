"""Where a simulated story is played: virtual time, the network, and clients that run on their own.

A run says what happens and what it looks at after every event; this keeps the clients going, and ends the
story when one of them has seen a violation, or when nothing moves any more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from ottla.testing.clock import VirtualClock
from ottla.testing.driver import SimDriver
from ottla.testing.ledger import Violation
from ottla.testing.network import SimNetwork
from ottla.testing.scheduler import Scheduler

NO_PROGRESS_MS: Final = 600_000.0


class Stage(ABC):
    def __init__(self, scheduler: Scheduler, network: SimNetwork) -> None:
        self.scheduler = scheduler
        self.random = scheduler.random
        self.network = network
        self.report: Counter[str] = Counter()
        self._clock = VirtualClock(scheduler)
        self._clients = SimDriver(scheduler, self._clock)
        self._failure: BaseException | None = None
        self._calm = False
        self._operations = 0
        """What `_operate` began and has not come to its end."""

    @abstractmethod
    def _advance(self) -> None:
        """One event, and whatever the run does after each."""

    def _go(self, steps: Any) -> list[Any]:
        """Runs a client; the list holds its result when it has one."""
        finished: list[Any] = []

        def done(result: Any, error: BaseException | None) -> None:
            if error is not None:
                self._failure = self._failure or error
            else:
                finished.append(result)

        self._clients.run(steps, done)
        return finished

    def _operate(self, steps: Any) -> None:
        """Runs what nobody waits for; the run ends when it has."""
        self._operations += 1

        def done(_: Any, error: BaseException | None) -> None:
            self._operations -= 1
            if error is not None:
                self._failure = self._failure or error

        self._clients.run(steps, done)

    def _run_for(self, duration_ms: float) -> None:
        end_ms = self.scheduler.now_ms + duration_ms
        while (next_ms := self.scheduler.next_time_ms()) is not None and next_ms <= end_ms:
            self._advance()
        self.scheduler.now_ms = max(self.scheduler.now_ms, end_ms)

    def _result(self, steps: Any) -> Any:
        finished = self._go(steps)
        self._wait(lambda: bool(finished))
        return finished[0]

    def _wait(self, condition: Callable[[], bool]) -> None:
        end_ms = self.scheduler.now_ms + NO_PROGRESS_MS
        while not condition():
            self._advance()
            if self.scheduler.now_ms > end_ms:
                raise Violation("the clients make no progress")

    def _step(self) -> None:
        self.scheduler.step()
        if self._failure is not None:
            raise self._failure
