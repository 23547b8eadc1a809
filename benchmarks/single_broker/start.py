"""From the command to the first answer, on an empty data directory, and what the broker then takes at
rest.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import machine
from single_broker.subjects import START_S, Subject
from systems import wait_for_answer

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Start:
    """Kafka's storage is formatted before the clock starts; Ottla does it itself within it."""

    idle_s: float

    def measure(self, subject: Subject) -> Figures:
        folder = subject.node.new_folder()
        began = time.perf_counter()
        running = subject.node.launch(folder, keep=False)
        try:
            wait_for_answer(running.address, START_S)
            figures = {
                "start_ms": (time.perf_counter() - began) * 1000,
                "start_cpu_s": machine.process_cpu_s(running.pid),
            }
            time.sleep(self.idle_s / 2)  # what a start leaves to do is done by then
            usage = machine.Usage.begin(running.pid)
            time.sleep(self.idle_s / 2)
            figures["idle_cpu_percent"] = usage.end()["broker_cpu_s"] / (self.idle_s / 2) * 100
            figures["idle_rss_mb"] = machine.memory_mb(running.pid)["rss_mb"]
            return figures
        finally:
            running.stop()
