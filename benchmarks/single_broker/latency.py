"""From one application to another: a record's way from the moment it was due to the moment a reader has
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import load_generator
import machine
from produce import costs
from single_broker.subjects import Subject

RECORD_BYTES = 100

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class EndToEnd:
    """librdkafka without linger; a consumer that waits in a long poll."""

    records_per_s: int
    seconds: float

    def measure(self, subject: Subject) -> Figures:
        with subject.topic(1) as place:
            usage = machine.Usage.begin(place.pid)
            said = load_generator.call(
                subject.tools.load,
                *("latency", place.address, place.topic, RECORD_BYTES, self.records_per_s, self.seconds),
                "request.required.acks=1",
            )
            used = usage.end(said["client_cpu_s"])
            return {
                **{key: said[key] for key in ("p50_ms", "p99_ms", "p999_ms", "requests")},
                **costs(used, said["mb"], said["requests"]),
                **machine.memory_mb(place.pid),
            }
