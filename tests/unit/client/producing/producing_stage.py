"""A producer's core on a scripted cluster, in virtual time."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from producing_cluster import ScriptedCluster, VirtualClock
from producing_log import PartitionLog

from ottla.client.bootstrap import Directory
from ottla.client.effects import ClientSteps
from ottla.client.metrics import Metrics
from ottla.client.producing.batch import Delivery
from ottla.client.producing.core import ProducerCore
from ottla.client.runtime.scheduler import Scheduler
from ottla.client.session import Session
from ottla.client.settings import ProducerSettings
from ottla.client.view import Address
from ottla.model.types import TopicPartition


class Stage:
    """A producer's core on a scripted cluster. It is the core's `Host`."""

    def __init__(self, *, seed: int = 0, start: bool = True, **settings: Any) -> None:
        self.clock = VirtualClock()
        self.cluster = ScriptedCluster(self.clock, seed=seed)
        self.scheduler = Scheduler(self.clock)
        self.scheduler.caller = self.cluster
        self._random = random.Random(seed)
        self._later: list[Callable[[], None]] = []
        self.settings = ProducerSettings(bootstrap_servers="host1:9092", **settings)
        self.cluster.request_timeout_ms = self.settings.request_timeout_ms
        directory = Directory([Address("host1", 9092)])
        self.session = Session(self.settings, directory, Metrics(self.clock), self)
        if start:
            self.core = ProducerCore(self.session, self.settings)
            """The producer."""

    def chance(self) -> float:
        return self._random.random()

    def spawn(self, steps: ClientSteps[Any], name: str) -> Any:
        return self.scheduler.spawn(steps, name)

    def later(self, function: Callable[[], None]) -> None:
        self._later.append(function)

    # --- time ---------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Everything that can happen without time passing."""
        while self.scheduler.ready or self._later:
            self.scheduler.run_ready()
            later, self._later = self._later, []
            for function in later:
                function()

    def step(self, until_ms: float) -> bool:
        """On to the next thing that happens; False when that lies after the given time."""
        self.settle()
        times = [self.scheduler.next_timer_ms(), self.cluster.next_event_ms()]
        known = [time_ms for time_ms in times if time_ms is not None]
        next_ms = min(known, default=float("inf"))
        if next_ms > until_ms:
            self.clock.elapsed_ms = max(self.clock.elapsed_ms, until_ms)
            return False
        self.clock.elapsed_ms = max(self.clock.elapsed_ms, next_ms)
        self.cluster.run_due()
        self.scheduler.run_timers()
        self.settle()
        return True

    def advance(self, duration_ms: float) -> None:
        until_ms = self.clock.elapsed_ms + duration_ms
        while self.step(until_ms):
            pass
        self.settle()

    def until(self, condition: Callable[[], bool], limit_ms: float = 600_000) -> None:
        until_ms = self.clock.elapsed_ms + limit_ms
        self.settle()
        while not condition():
            assert self.step(until_ms), f"not within {limit_ms:.0f} ms"

    def run(self, steps: ClientSteps[Any], limit_ms: float = 600_000) -> Any:
        task = self.scheduler.start(steps, "the operation")
        self.until(lambda: task.done, limit_ms)
        return task.result()

    def begin(self, steps: ClientSteps[Any]) -> Any:
        """Starts an operation and leaves it alone."""
        task = self.scheduler.start(steps, "the operation")
        self.settle()
        return task

    # --- records ------------------------------------------------------------------------------------------

    def send(self, partition: int, value: bytes, topic: str = "t", **extra: Any) -> Delivery:
        """One record, waiting for the topic if need be."""
        timestamp = self.clock.now_ms()
        key, headers, callback = extra.get("key"), extra.get("headers", ()), extra.get("callback")
        delivery = self.core.try_append(topic, partition, key, value, headers, timestamp, callback)
        if delivery is None:
            delivery = self.run(self.core.append(topic, partition, key, value, headers, timestamp, callback))
        return delivery

    @property
    def memory_used(self) -> int:
        memory = self.core._memory
        return memory.total_bytes - memory.free_bytes

    def log(self, partition: int = 0, topic: str = "t") -> PartitionLog:
        return self.cluster.logs[TopicPartition(topic, partition)]
