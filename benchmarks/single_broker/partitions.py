"""What partitions cost as they grow: memory, rest, a request, and a start, after a clean stop and after a
crash.

A start counts until every partition has a leader and tells its end, because a broker that answers and leads
nothing is of no use. After a kill Kafka also waits for its last session to be over, 9 s as it is shipped.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import machine
from kafka_socket import KafkaSocket, create_topics, metadata_of_all
from single_broker import requests
from single_broker.subjects import (
    START_S,
    Node,
    Subject,
    wait_until_back,
    wait_until_served,
)
from systems import RunningNode, wait_for_answer

PER_TOPIC = 100
TARGETS_MAX = 2000

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Partitions:
    count: int
    idle_s: float
    create_s_max: float = 240.0

    def measure(self, subject: Subject) -> Figures:
        each = min(self.count, PER_TOPIC)
        names = [f"topic-{number:05d}" for number in range(self.count // each)]
        folder = subject.node.new_folder()
        running = subject.node.launch(folder)
        try:
            wait_for_answer(running.address, START_S)
            figures = self._create(running, names, each)
            time.sleep(1)
            usage = machine.Usage.begin(running.pid)
            time.sleep(self.idle_s)
            figures["idle_cpu_percent"] = usage.end()["broker_cpu_s"] / self.idle_s * 100
            figures |= machine.memory_mb(running.pid)
            figures["open_files"] = machine.open_files(running.pid)
            targets = [(name, at) for name in names for at in range(each)][-TARGETS_MAX:]
            found = requests.send(
                subject.tools.connections,
                running.address,
                running.pid,
                targets,
                records=1,
                connections=10,
                per_s=1000,
                seconds=2.0,
            )
            figures |= {key: found[key] for key in ("cpu_s_per_1000_requests", "p50_ms", "p99_ms")}
            began = time.perf_counter()
            running.stop()
            figures["stop_ms"] = (time.perf_counter() - began) * 1000
            figures["restart_clean_ms"], running = _restart(subject.node, folder, names, each)
            figures["restart_rss_mb"] = machine.memory_mb(running.pid)["rss_mb"]
            running.kill()
            figures["restart_killed_ms"], running = _restart(subject.node, folder, names, each)
            return figures
        finally:
            # A clean end of thousands of partitions is not waited for: its data goes with it.
            running.kill()
            running.keep = False
            running.stop()

    def _create(self, running: RunningNode, names: list[str], each: int) -> Figures:
        usage, began = machine.Usage.begin(running.pid), time.perf_counter()
        with KafkaSocket(running.address) as connection:
            for first in range(0, len(names), 10):
                create_topics(connection, names[first : first + 10], each)
                if time.perf_counter() - began > self.create_s_max:
                    made = (first + 10) * each
                    raise TimeoutError(f"{made} partitions created in {self.create_s_max:.0f} s")
            wait_until_served(connection, names, each)
            figures = {
                "create_s": time.perf_counter() - began,
                "create_cpu_s": usage.end()["broker_cpu_s"],
                "metadata_first_ms": metadata_of_all(connection)[0],
                "metadata_again_ms": min(metadata_of_all(connection)[0] for _ in range(3)),
            }
        return figures


def _restart(node: Node, folder: Path, names: list[str], each: int) -> tuple[float, RunningNode]:
    began = time.perf_counter()
    running = node.launch(folder)
    try:
        wait_until_back(running, names, each)
    except BaseException:
        running.kill()
        raise
    return (time.perf_counter() - began) * 1000, running
