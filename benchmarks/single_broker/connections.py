"""What connections cost: at rest, in memory; at work, in CPU and latency, at the same total load."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import machine
from kafka_socket import KafkaSocket, metadata_of_all
from single_broker import requests
from single_broker.subjects import START_S, Subject
from systems import wait_for_answer

SETTLE_S = 1.0

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class BusyConnections:
    """Requests of 16 KB, made beforehand, in turn over the connections."""

    connections: int
    per_s: float
    seconds: float
    partitions: int = 12

    def measure(self, subject: Subject) -> Figures:
        with subject.topic(self.partitions) as place:
            targets = [(place.topic, at) for at in range(self.partitions)]
            for seconds in (0.5, self.seconds):
                figures = requests.send(
                    subject.tools.connections,
                    place.address,
                    place.pid,
                    targets,
                    records=16,
                    connections=self.connections,
                    per_s=self.per_s,
                    seconds=seconds,
                )
            return figures | machine.memory_mb(place.pid)


@dataclass(frozen=True, slots=True)
class IdleConnections:
    """Connections that asked for the metadata once and stay; a fresh process."""

    counts: tuple[int, ...]

    def measure(self, subject: Subject) -> Figures:
        running = subject.node.launch(subject.node.new_folder(), keep=False)
        figures: Figures = {}
        try:
            wait_for_answer(running.address, START_S)
            time.sleep(2 * SETTLE_S)
            with ExitStack() as open_ones:
                before_mb = machine.memory_mb(running.pid)["rss_mb"]
                have = 0
                for count in self.counts:
                    while have < count:
                        connection = open_ones.enter_context(KafkaSocket(running.address))
                        metadata_of_all(connection)
                        have += 1
                    time.sleep(SETTLE_S)
                    figures[f"rss_mb_at_{count}"] = machine.memory_mb(running.pid)["rss_mb"]
                usage = machine.Usage.begin(running.pid)
                time.sleep(2 * SETTLE_S)
                figures["idle_cpu_percent"] = usage.end()["broker_cpu_s"] / (2 * SETTLE_S) * 100
            last = self.counts[-1]
            figures["kb_per_connection"] = (figures[f"rss_mb_at_{last}"] - before_mb) * 1000 / last
            return figures
        finally:
            running.stop()
