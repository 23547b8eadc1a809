"""What runs share whose broker dies and comes back: its lives, and the clients that go on through them.

A run says what happens (its story), when the broker is to die, and what it looks at after every event; this
keeps the clients running, starts the next life on what the disk held, and ends the run when a client has seen
a violation, when the broker gave up, or when nothing moves any more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from ottla.testing.clock import VirtualClock
from ottla.testing.cluster import SimBroker
from ottla.testing.disk import Survival
from ottla.testing.driver import SimDriver
from ottla.testing.ledger import Violation
from ottla.testing.network import SimNetwork
from ottla.testing.scheduler import Scheduler

NO_PROGRESS_MS: Final = 600_000.0


class BrokerLives(ABC):
    def __init__(
        self,
        scheduler: Scheduler,
        network: SimNetwork,
        broker: SimBroker,
        *,
        crashes: int,
        power_losses: bool,
    ) -> None:
        self.scheduler = scheduler
        self.random = scheduler.random
        self.network = network
        self.broker = broker
        self.power_losses = power_losses
        self.crashes_left = crashes
        self.report: Counter[str] = Counter()
        self._clock = VirtualClock(scheduler)
        self._clients = SimDriver(scheduler, self._clock)
        self._failure: BaseException | None = None
        self._calm = False
        self._operations = 0
        """What `_operate` began and has not come to its end."""

    # -- for a run to say --

    def _went_down(self) -> None:  # noqa: B027
        """The broker is down, and about to be started again."""

    @abstractmethod
    def _downtime_ms(self) -> float:
        """How long nobody is at the address."""

    @abstractmethod
    def _plan_crash(self) -> None:
        """Decides how this life ends, if it does."""

    def _event_over(self) -> None:  # noqa: B027
        """After every event; a broker that died in it is started again next."""

    # -- the clients --

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

    def _advance(self) -> None:
        self._step()
        if self.broker.fatal_errors:
            raise Violation(f"the broker gave up: {self.broker.fatal_errors[0]!r}")
        self._event_over()
        if not self.broker.up:
            self._restart()

    def _step(self) -> None:
        self.scheduler.step()
        if self._failure is not None:
            raise self._failure

    # -- the lives --

    def _start_broker(self) -> None:
        while not self.broker.start():
            self.report["crashes_at_start"] += 1
            self.broker.next_disk(power_loss=self.power_losses and self.random.random() < 0.8)
        if self.broker.fatal_errors:
            raise Violation(f"the broker gave up: {self.broker.fatal_errors[0]!r}")

    def _restart(self) -> None:
        rng = self.random
        self._count_compactions()
        self._went_down()
        self.broker.next_disk(
            power_loss=self.power_losses and rng.random() < 0.8,
            survival=Survival(bit_flips=rng.random() < 0.3),
        )
        if self.crashes_left > 0 and rng.random() < 0.2:
            # The next process does not get far.
            self.crashes_left -= 1
            self.broker.disk.crash_at(rng.randrange(60), "before")
        end_ms = self.scheduler.now_ms + self._downtime_ms()
        while (next_ms := self.scheduler.next_time_ms()) is not None and next_ms < end_ms:
            self._step()
        self._make_room()  # a broker that finds no room at its start says so and ends, which is another story
        self._start_broker()
        self._plan_crash()

    def _make_room(self) -> None:
        self.broker.disk.capacity_bytes = None

    def _end(self) -> None:
        self._clients.kill()
        if self.broker.up:
            self.broker.crash()

    def _count_compactions(self) -> None:
        cleaner = self.broker.node.cleaner if self.broker.node is not None else None
        if cleaner is not None:
            self.report["logs_cleaned"] += cleaner.cleaned_logs
            cleaner.cleaned_logs = 0
            if cleaner.uncleanable:
                raise Violation(f"compaction gave up {list(cleaner.uncleanable)}")

    def _sum_up(self) -> None:
        self._count_compactions()
        for counter in (self.network.stats, self.broker.disk.stats):
            self.report.update(counter)
        self.report["runs"] += 1
        self.report["virtual_seconds"] += int(self.scheduler.now_ms / 1000)
