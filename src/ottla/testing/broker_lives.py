"""What runs share whose broker dies and comes back: its lives, on a stage whose clients live through them.

A run says what happens (its story), when the broker is to die, and what it looks at after every event; this
starts the next life on what the disk held, and ends the run when the broker gave up.
"""

from __future__ import annotations

from abc import abstractmethod

from ottla.testing.cluster import SimBroker
from ottla.testing.disk import Survival
from ottla.testing.ledger import Violation
from ottla.testing.network import SimNetwork
from ottla.testing.scheduler import Scheduler
from ottla.testing.stage import Stage


class BrokerLives(Stage):
    def __init__(
        self,
        scheduler: Scheduler,
        network: SimNetwork,
        broker: SimBroker,
        *,
        crashes: int,
        power_losses: bool,
    ) -> None:
        super().__init__(scheduler, network)
        self.broker = broker
        self.power_losses = power_losses
        self.crashes_left = crashes

    # -- for a run to say --

    def _went_down(self) -> None:
        """The broker is down, and about to be started again."""

    @abstractmethod
    def _downtime_ms(self) -> float:
        """How long nobody is at the address."""

    @abstractmethod
    def _plan_crash(self) -> None:
        """Decides how this life ends, if it does."""

    def _event_over(self) -> None:
        """After every event; a broker that died in it is started again next."""

    def _advance(self) -> None:
        self._step()
        if self.broker.fatal_errors:
            raise Violation(f"the broker gave up: {self.broker.fatal_errors[0]!r}")
        self._event_over()
        if not self.broker.up:
            self._restart()

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
