"""Records produced by librdkafka, at a fixed load or as fast as it goes, and the same records read back,
warm.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import load_generator
import machine
from produce import CARRIED_SHARE, LARGE_BATCH, Produce, costs
from single_broker.subjects import Place, Subject, Tools

FIRST_S = 0.5
"""Connections are made and the first segments written before anything counts."""
READ_S_MIN = 1.0
READS_MAX = 8

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Throughput:
    produce: Produce
    read_back: bool = True

    def measure(self, subject: Subject) -> Figures:
        seconds = self.produce.seconds + FIRST_S
        writes_mb = self.produce.mb_per_s_max * seconds
        writes_s = 0.0 if self.produce.unlimited else seconds
        with subject.topic(self.produce.partitions, writes_mb, writes_s) as place:
            first = load_generator.call(
                subject.tools.load,
                *replace(self.produce, seconds=FIRST_S).arguments(place.address, place.topic),
            )
            figures = produced(self.produce, place, subject.tools)
            # What keeps only the end of a partition cannot be asked for all of it.
            if self.read_back and subject.keeps_data:
                records = first["delivered"] + figures["delivered"]
                found = consumed(place, subject.tools, self.produce.partitions, records)
                figures |= {f"read_{key}": value for key, value in found.items()}
            return figures


@dataclass(frozen=True, slots=True)
class SpreadRead:
    """Many partitions of a few megabytes each: a read that a system which keeps little can answer, too."""

    record_bytes: int
    partitions: int = 64
    megabytes: int = 200

    def measure(self, subject: Subject) -> Figures:
        with subject.topic(self.partitions, self.megabytes) as place:
            produce = Produce(
                self.record_bytes, LARGE_BATCH, offered_mb_per_s=100, seconds=self.megabytes / 100
            )
            # Each record goes to a partition of its own choice, so that all get the same and batches fill.
            spread = ["sticky.partitioning.linger.ms=0", "linger.ms=1000"]
            said = load_generator.call(
                subject.tools.load, *produce.arguments(place.address, place.topic), *spread
            )
            found = consumed(place, subject.tools, self.partitions, said["delivered"])
            return {f"read_{key}": value for key, value in found.items()}


def produced(produce: Produce, place: Place, tools: Tools) -> Figures:
    usage = machine.Usage.begin(place.pid)
    said = load_generator.call(tools.load, *produce.arguments(place.address, place.topic))
    used = usage.end(said["client_cpu_s"])
    figures = {
        "mb_per_s": said["mb"] / said["seconds"],
        "records_per_s": said["delivered"] / said["seconds"],
        "client_cpu_s_per_gb": said["client_cpu_s"] / said["mb"] * 1000,
        **{key: said[key] for key in ("requests", "mb", "delivered")},
        **costs(used, said["mb"], said["requests"]),
        **machine.memory_mb(place.pid),
    }
    if not produce.unlimited:
        # Without a pace nothing has a moment at which it was due.
        figures |= {key: said[key] for key in ("p50_ms", "p99_ms", "p999_ms")}
        figures["carried"] = int(figures["mb_per_s"] >= CARRIED_SHARE * produce.offered_mb_per_s)
    return figures


def consumed(place: Place, tools: Tools, partitions: int, records: int) -> Figures:
    """Reads everything from offset 0, as often as it takes for the time to mean something."""
    usage = machine.Usage.begin(place.pid)
    seconds = mb = client_cpu_s = 0.0
    requests = reads = 0
    while reads == 0 or (seconds < READ_S_MIN and reads < READS_MAX):
        said = load_generator.call(tools.load, "consume", place.address, place.topic, partitions, records)
        seconds, mb, requests = seconds + said["seconds"], mb + said["mb"], requests + said["requests"]
        client_cpu_s += said["client_cpu_s"]
        reads += 1
    return {
        "mb_per_s": mb / seconds,
        "requests": requests,
        "mb": mb,
        "client_cpu_s_per_gb": client_cpu_s / mb * 1000,
        **costs(usage.end(client_cpu_s), mb, requests),
        **machine.memory_mb(place.pid),
    }
