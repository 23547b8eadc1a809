"""A consumer that reads what is no longer in memory, from the start, beside a producer that must not feel
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import load_generator
import machine
import page_cache
from produce import LARGE_BATCH, SMALL_BATCH, Produce, costs
from single_broker.subjects import Subject

WRITE_MB_PER_S = 100.0
PARTITIONS = 4

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CatchUp:
    megabytes: int
    beside_mb_per_s: float

    def measure(self, subject: Subject) -> Figures:
        load = subject.tools.load
        with subject.topic(PARTITIONS, self.megabytes) as old, subject.topic(1) as new:
            fill = Produce(
                1000, LARGE_BATCH, offered_mb_per_s=WRITE_MB_PER_S, seconds=self.megabytes / WRITE_MB_PER_S
            )
            filled = load_generator.call(load, *fill.arguments(old.address, old.topic))
            cold_share = page_cache.evict(subject.running().data.glob(f"{old.topic}-*/*.log"))
            beside = Produce(1000, SMALL_BATCH, offered_mb_per_s=self.beside_mb_per_s, seconds=120)
            producer = load_generator.Background(load, *beside.arguments(new.address, new.topic))
            try:
                usage = machine.Usage.begin(old.pid)
                read = load_generator.call(
                    load, "consume", old.address, old.topic, PARTITIONS, filled["delivered"]
                )
            finally:
                producer.finish()
                wrote = producer.result()
            used = usage.end(read["client_cpu_s"] + wrote["client_cpu_s"])
            requests = read["requests"] + wrote["requests"]
            return {
                "read_mb_per_s": read["mb"] / read["seconds"],
                "cold_share": cold_share,
                **{key: wrote[key] for key in ("p50_ms", "p99_ms", "p999_ms")},
                **costs(used, read["mb"] + wrote["mb"], requests),
                **machine.memory_mb(old.pid),
            }
