"""A system while it is measured: kept running and warm across the rows of a part, or started anew for a row.

All systems that take part in a row run at the same time and take turns; the ones whose turn it is not do
nothing. So what the machine does in these minutes meets all of them, and a JVM is warmed up once. A topic
lives for one run: it is deleted, files and all, before the next system's turn, so that nobody's unwritten
data is written back to disk in another's run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import load_generator
from ballast import Ballast
from kafka_socket import KafkaSocket, create_topics, delete_topics, end_offsets, led_partitions
from produce import LARGE_BATCH, SMALL_BATCH, Produce
from systems import Running, RunningNode, wait_for_answer, wait_until_gone

START_S = 180.0
SERVED_S = 240.0
GONE_S = 3.0
ASKING_SHARE = 5.0
"""How long a question is rested from, in times of what it took."""
SHORT_SESSION = {"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500"}
"""For a start after a kill: Kafka lets a node register again when its last session is over, 9 s by default.
That wait has nothing to do with how much there is to load and to check, so it is made short; not shorter,
because a JVM that starts on busy cores misses its first heartbeats.
"""

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tools:
    """What workloads are made with."""

    load: Path
    connections: Path
    java: list[str]
    """The command of a JVM with Kafka's tools in its class path; empty where it cannot be had."""
    warm_up_s: float
    ballast: Ballast


class Node(Protocol):
    """A system with a data directory that can be started again on it."""

    name: str

    def new_folder(self) -> Path: ...

    def launch(self, folder: Path, *, keep: bool = True) -> RunningNode: ...


class Ceiling(Protocol):
    """A system that is gone with its process."""

    name: str

    def start(self, topic: str, partitions: int) -> Running: ...


@dataclass(frozen=True, slots=True)
class Place:
    """A topic on a running system."""

    running: Running
    topic: str

    @property
    def address(self) -> str:
        return self.running.address

    @property
    def pid(self) -> int:
        return self.running.pid


class Subject:
    """A node under test."""

    keeps_data = True

    def __init__(self, make: Callable[[dict[str, str]], Node], tools: Tools) -> None:
        self._make = make
        self.node = make({})
        self.name = self.node.name
        self.tools = tools
        self._kept: RunningNode | None = None
        self._topics = 0

    def with_settings(self, settings: dict[str, str]) -> Node:
        """The same system with settings of a row's own."""
        return self._make(settings)

    def running(self) -> RunningNode:
        """The process that is kept for several rows; started and warmed up when it is not there."""
        if self._kept is not None and self._kept.process.poll() is not None:
            self._kept = None  # it died in another row, which has told so
        if self._kept is None:
            self._kept = self.node.launch(self.node.new_folder(), keep=False)
            wait_for_answer(self._kept.address, START_S)
            self._warm_up()
        return self._kept

    @contextmanager
    def topic(self, partitions: int, writes_mb: float = 0, writes_s: float = 0) -> Iterator[Place]:
        """A topic for one run. `writes_mb`: about how much will be written to it, where that is much, and
        `writes_s` in which time, where that is known.
        """
        running = self.running()
        with self.tools.ballast.handed_over(writes_mb, writes_s), self._topic(running, partitions) as place:
            yield place

    @contextmanager
    def _topic(self, running: RunningNode, partitions: int) -> Iterator[Place]:
        self._topics += 1
        name = f"bench-{self._topics}"
        with KafkaSocket(running.address) as connection:
            create_topics(connection, [name], partitions)
            wait_until_served(connection, [name], partitions)
        try:
            yield Place(running, name)
        finally:
            with suppress(OSError), KafkaSocket(running.address) as connection:
                delete_topics(connection, [name])
            wait_until_gone([running.data], name, GONE_S)

    def end(self) -> Figures:
        """Ends the process that was kept; what it said about itself."""
        kept, self._kept = self._kept, None
        return kept.stop() if kept is not None else {}

    def _warm_up(self) -> None:
        seconds = self.tools.warm_up_s / 3
        with self.topic(4, 200 * seconds) as place:
            delivered = 0
            for batch_bytes in (SMALL_BATCH, LARGE_BATCH):
                produce = Produce(1000, batch_bytes, seconds=seconds, offered_mb_per_s=100)
                said = load_generator.call(self.tools.load, *produce.arguments(place.address, place.topic))
                delivered += said["delivered"]
            consume = ["consume", place.address, place.topic, 4, delivered]
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                load_generator.call(self.tools.load, *consume)


class CeilingSubject:
    """A system that has nothing to warm up and nothing to keep: a process for each run."""

    keeps_data = False

    def __init__(self, system: Ceiling, tools: Tools) -> None:
        self._system = system
        self.name = system.name
        self.tools = tools

    @contextmanager
    def topic(self, partitions: int, writes_mb: float = 0, writes_s: float = 0) -> Iterator[Place]:
        running = self._system.start("bench", partitions)
        try:
            yield Place(running, "bench")
        finally:
            running.stop()

    def end(self) -> Figures:
        return {}


def wait_until_served(
    connection: KafkaSocket, names: list[str], each: int, deadline_s: float = SERVED_S
) -> list[int]:
    """Returns when all partitions of the topics have leaders that tell their end: these offsets. A leader
    alone is not enough, since Kafka names it before it has made the partition.
    """
    until = time.monotonic() + deadline_s
    while (asked_at := time.monotonic()) < until:
        if led_partitions(connection, names) == len(names) * each:
            offsets = end_offsets(connection, names, each)
            if min(offsets) >= 0:
                return offsets
        # Asking about thousands of partitions must not be what a starting broker is busy with.
        time.sleep(ASKING_SHARE * (time.monotonic() - asked_at) + 0.002)
    raise TimeoutError(f"not all of {len(names) * each} partitions are served after {deadline_s:.0f} s")


def wait_until_back(running: RunningNode, names: list[str], each: int) -> list[int]:
    """The same for a broker that is being started."""
    until = time.monotonic() + SERVED_S
    while time.monotonic() < until:
        if running.process.poll() is not None:
            raise RuntimeError(f"the broker ended by itself, with {running.process.returncode}")
        with suppress(OSError), KafkaSocket(running.address) as connection:
            return wait_until_served(connection, names, each, until - time.monotonic())
        time.sleep(0.002)
    raise TimeoutError(f"nobody answers on {running.address} after {SERVED_S:.0f} s")
