"""What is measured on one cluster: records produced with acks=all to partitions with three replicas.

CPU is that of all brokers together: the leader's work and the followers'. A request is one of the producer's;
what the brokers ask each other is part of its cost. MB is 10^6 bytes, GB 10^9, of record values, counted
once: each of them is written three times.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import load_generator
import machine
from produce import CARRIED_SHARE, Produce
from replication.clusters import Turn

SMALL, LARGE = 16 * 1024, 1 << 20
WARM_UP_S = 1.0
LOAD_TIMEOUT_S = 300.0
FASTEST_MB_PER_S = {SMALL: 180.0, LARGE: 360.0}
"""By the size of batches, of three replicas on two cores."""
QUEUE = "queue.buffering.max.kbytes=32768"

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One workload of the page."""

    produce: Produce

    @property
    def name(self) -> str:
        name = self.produce.name.replace("acks=all, ", "")
        return name if self.produce.unlimited else f"{name}, {self.produce.offered_mb_per_s:.0f} MB/s offered"

    def run(self, turn: Turn, load: Path, number: int) -> Figures:
        topic = f"bench-{number}"
        per_s = min(self.produce.mb_per_s_max, FASTEST_MB_PER_S[self.produce.batch_bytes])
        with turn.topic(topic, self.produce.partitions, per_s * (self.produce.seconds + WARM_UP_S)):
            return self._run(turn, load, topic)

    def _run(self, turn: Turn, load: Path, topic: str) -> Figures:
        produce = self.produce
        warm_up = replace(produce, seconds=WARM_UP_S)
        offer(turn, load, warm_up, topic)
        usages = [machine.Usage.begin(pid) for pid in turn.pids]
        said = offer(turn, load, produce, topic)
        used = [usage.end(said["client_cpu_s"]) for usage in usages]
        cpu_s = sum(each["broker_cpu_s"] for each in used)
        mb, requests = said["mb"], said["requests"]
        return {
            "mb_per_s": mb / said["seconds"],
            "mb": mb,
            "requests": requests,
            **({} if produce.unlimited else {key: said[key] for key in ("p50_ms", "p99_ms", "p999_ms")}),
            "cpu_s": cpu_s,
            "cpu_s_per_gb": cpu_s / mb * 1000,
            "cpu_s_per_1000_requests": cpu_s / requests * 1000 if requests else 0.0,
            "system_share": sum(each["broker_system_s"] for each in used) / cpu_s,
            "client_cpu_s": said["client_cpu_s"],
            # Each usage takes one broker off; the others' part is in it.
            "others_cores": max(
                0.0, used[0]["others_cores"] - (cpu_s - used[0]["broker_cpu_s"]) / said["seconds"]
            ),
            "carried": float(
                produce.unlimited or mb / said["seconds"] >= CARRIED_SHARE * produce.offered_mb_per_s
            ),
            "in_sync_after": float(turn.in_sync(topic, produce.partitions)),
        }


def offer(turn: Turn, load: Path, produce: Produce, topic: str) -> Figures:
    """Produces to the topic; what waits in the client is bounded, so that a load that is not carried ends."""
    arguments = [*produce.arguments(turn.address, topic), QUEUE]
    return load_generator.call(load, *arguments, timeout_s=LOAD_TIMEOUT_S)


def rows(*, quick: bool) -> list[Row]:
    """As fast as it goes, then at fixed loads."""
    seconds = 3.0 if quick else 4.0
    records = (1000,) if quick else (100, 1000)
    found = [
        Produce(record, batch, acks="all", partitions=partitions, seconds=seconds, unlimited=True)
        for record in records
        for batch in (SMALL, LARGE)
        for partitions in ((12,) if quick else (1, 12))
    ]
    found += [
        Produce(1000, batch, acks="all", partitions=12, seconds=seconds, offered_mb_per_s=offered)
        for offered in ((20.0,) if quick else (10.0, 20.0, 50.0))
        for batch in (SMALL, LARGE)
    ]
    return [Row(produce) for produce in found]
