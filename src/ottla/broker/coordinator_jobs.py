"""The long work of all groups of a node, a turn at a time.

Many groups may have work at once: every group with an expression, when a topic is created. They take turns of
about a millisecond, and only one of them runs in a pass of the loop, so that their number is nobody's delay.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from ottla.coordination.outcome import Job
from ottla.log.turn import Turn
from ottla.ports.clock import Clock
from ottla.ports.driver import Driver
from ottla.ports.effects import Steps

if TYPE_CHECKING:
    from ottla.broker.coordinator_host import CoordinatorHost


class CoordinatorJobs:
    def __init__(self, driver: Driver, clock: Clock) -> None:
        self._driver = driver
        self._clock = clock
        self._line: deque[tuple[CoordinatorHost[Any], Job]] = deque()
        self._running = False

    def add(self, host: CoordinatorHost[Any], job: Job) -> None:
        self._line.append((host, job))
        if not self._running:
            self._running = True
            self._driver.spawn(self._run(), "long work of groups")

    def _run(self) -> Steps[None]:
        turn = Turn(self._clock)
        line = self._line
        while line:
            # Never within the decision that asked for it: a job may end in one that asks for the next.
            yield turn.rest()
            host, job = line.popleft()
            if host.run_some(job, turn):
                line.append((host, job))
        self._running = False
