"""What is measured. A workload is run against one started system and returns a flat dict of figures.

MB is 10^6 bytes, GB 10^9, of record values: what the user wanted moved, not what the protocol adds.
"""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import load_generator
import machine
from kafka_socket import KafkaSocket, create_topics, metadata_of_all
from systems import Ottla, Running, RunningOttla, System, wait_for_answer

TOPIC = "bench"
OFFERED_MB_PER_S = (200.0, 150.0, 100.0, 50.0, 25.0)
"""The load of the goals, and what is offered where the machine, client and broker, cannot carry it."""
CARRIED_SHARE = 0.95
SPREAD_PARTITIONS, SPREAD_MB = 64, 200
"""About 3 MB each, which is less than the mock cluster keeps of a partition."""
UNLIMITED_MB_PER_S = 100_000.0

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Produce:
    """Records offered at a fixed rate, in batches of a size."""

    record_bytes: int
    batch_bytes: int
    acks: str = "1"
    partitions: int = 1
    offered_mb_per_s: float = OFFERED_MB_PER_S[0]
    seconds: float = 5.0
    unlimited: bool = False

    @property
    def name(self) -> str:
        size = (
            f"{self.batch_bytes // 1024} KB" if self.batch_bytes < 1 << 20 else f"{self.batch_bytes >> 20} MB"
        )
        record = f"{self.record_bytes} B" if self.record_bytes < 1000 else f"{self.record_bytes // 1000} KB"
        partitions = "1 partition" if self.partitions == 1 else f"{self.partitions} partitions"
        pace = ", as fast as it goes" if self.unlimited else ""
        return f"{record} records, {size} batches, acks={self.acks}, {partitions}{pace}"

    def arguments(self, address: str, topic: str = TOPIC) -> list[object]:
        rate = UNLIMITED_MB_PER_S if self.unlimited else self.offered_mb_per_s
        conf = [f"request.required.acks={self.acks}"]
        if self.unlimited:
            # What waits in the client is bounded, so that the end of the run is not one long drain.
            conf.append("queue.buffering.max.kbytes=65536")
        return ["produce", address, topic, self.record_bytes, self.batch_bytes, rate, self.seconds, *conf]

    def run(self, running: Running, load: Path) -> Figures:
        usage = machine.Usage.begin(running.pid)
        said = load_generator.call(load, *self.arguments(running.address))
        used = usage.end(said["client_cpu_s"])
        return {
            "offered_mb_per_s": None if self.unlimited else self.offered_mb_per_s,
            "mb_per_s": said["mb"] / said["seconds"],
            **{key: said[key] for key in ("requests", "mb", "delivered")},
            # Without a pace nothing has a moment at which it was due.
            **({} if self.unlimited else {key: said[key] for key in ("p50_ms", "p99_ms", "p999_ms")}),
            **_costs(used, said["mb"], said["requests"]),
            **machine.memory_mb(running.pid),
        }

    def carried(self, figures: Figures) -> bool:
        wanted_mb = self.offered_mb_per_s * self.seconds
        return bool(
            figures["mb"] >= CARRIED_SHARE * wanted_mb
            and figures["mb_per_s"] >= CARRIED_SHARE * self.offered_mb_per_s
        )

    def calibrated(self, system: System, load: Path) -> Produce:
        """With the highest offered load that this machine carries in a short trial."""
        for offered in OFFERED_MB_PER_S:
            trial = replace(self, offered_mb_per_s=offered, seconds=1.0)
            running = system.start(TOPIC, self.partitions)
            try:
                figures = trial.run(running, load)
            finally:
                running.stop()
            if trial.carried(figures):
                break
        return replace(self, offered_mb_per_s=offered)


def fetch(running: Running, load: Path, *, partitions: int, records: int) -> Figures:
    """Reads what was just produced, from the page cache, from offset 0."""
    usage = machine.Usage.begin(running.pid)
    said = load_generator.call(load, "consume", running.address, TOPIC, partitions, records)
    used = usage.end(said["client_cpu_s"])
    return {
        "mb_per_s": said["mb"] / said["seconds"],
        "requests": said["requests"],
        "mb": said["mb"],
        **_costs(used, said["mb"], said["requests"]),
    }


def _costs(used: Figures, mb: float, requests: int) -> Figures:
    cpu_s = used["broker_cpu_s"]
    return {
        **used,
        "cpu_s_per_gb": cpu_s / mb * 1000,
        "us_per_request": cpu_s / requests * 1e6 if requests else None,
        "system_share": used["broker_system_s"] / cpu_s if cpu_s else None,
    }


def produce_and_fetch(system: System, load: Path, produce: Produce) -> Figures:
    """One run on a fresh system: produce, then (where the system keeps the data) read it all back."""
    running = system.start(TOPIC, produce.partitions)
    try:
        began = load_generator.call(load, *replace(produce, seconds=0.3).arguments(running.address))
        figures = produce.run(running, load)
        found: Figures = {"produce": figures}
        if isinstance(system, Ottla):
            records = began["delivered"] + figures["delivered"]
            found["fetch"] = fetch(running, load, partitions=produce.partitions, records=records)
    finally:
        said = running.stop()
    found["produce"] |= said
    return found


def fetch_spread(system: System, load: Path, batch_bytes: int) -> Figures:
    """Many partitions of a few megabytes: a fetch that a system which keeps little can answer too."""
    running = system.start(TOPIC, SPREAD_PARTITIONS)
    try:
        produce = Produce(1000, batch_bytes, offered_mb_per_s=100, seconds=SPREAD_MB / 100)
        # Each record goes to a partition of its own choice, so that all get the same and batches still fill.
        spread = ["sticky.partitioning.linger.ms=0", "linger.ms=1000"]
        said = load_generator.call(load, *produce.arguments(running.address), *spread)
        figures = fetch(running, load, partitions=SPREAD_PARTITIONS, records=said["delivered"])
    finally:
        running.stop()
    return {"fetch": figures}


def memory_after(system: Ottla, load: Path, gigabytes: float) -> Figures:
    """Resident memory of a broker that took so much, half of it in small batches."""
    running = system.start(TOPIC, 4)
    idle = machine.memory_mb(running.pid)["rss_mb"]
    taken_mb = 0.0
    try:
        for batch_bytes in (16384, 1 << 20):
            half = taken_mb + gigabytes * 500
            while taken_mb < half:
                seconds = max(0.3, (half - taken_mb) / OFFERED_MB_PER_S[0])
                produce = Produce(1000, batch_bytes, seconds=seconds)
                taken_mb += load_generator.call(load, *produce.arguments(running.address))["mb"]
        return {"mb": taken_mb, "idle_rss_mb": idle, **machine.memory_mb(running.pid)}
    finally:
        running.stop()


def start(system: Ottla, folder: Path, *, keep: bool) -> tuple[float, RunningOttla]:
    """Milliseconds from the command to the first ApiVersions answer, and the broker that gave it."""
    with socket.create_server(("localhost", 0)) as probe:
        port = probe.getsockname()[1]
    address = f"localhost:{port}"
    began = time.perf_counter()
    process = system.spawn(folder, port)
    wait_for_answer(address)
    took_ms = (time.perf_counter() - began) * 1000
    return took_ms, RunningOttla(process, address, folder, keep=keep)


def start_empty(system: Ottla) -> Figures:
    took_ms, running = start(system, system.new_folder(), keep=False)
    figures = {"start_ms": took_ms, "start_cpu_ms": machine.process_cpu_s(running.pid) * 1000}
    figures |= machine.memory_mb(running.pid)
    running.stop()
    return figures


def many_partitions(system: Ottla, topics: int, partitions: int, idle_s: float) -> Figures:
    """Creates them, asks for all of them, lets the broker idle, restarts it after a clean stop and a kill."""
    folder = system.new_folder()
    _, running = start(system, folder, keep=True)
    names = [f"topic-{number:05d}" for number in range(topics)]
    figures: Figures = {"topics": topics, "partitions": topics * partitions}
    with KafkaSocket(running.address) as connection:
        usage, began = machine.Usage.begin(running.pid), time.perf_counter()
        for first in range(0, topics, 100):
            create_topics(connection, names[first : first + 100], partitions)
        figures["create_s"] = time.perf_counter() - began
        figures["create_cpu_s"] = usage.end()["broker_cpu_s"]
        figures["metadata_first_ms"], figures["metadata_bytes"] = metadata_of_all(connection)
        figures["metadata_cached_ms"] = min(metadata_of_all(connection)[0] for _ in range(5))
    figures |= machine.memory_mb(running.pid)
    figures["open_files"] = machine.open_files(running.pid)
    usage = machine.Usage.begin(running.pid)
    time.sleep(idle_s)
    figures["idle_cpu_percent"] = usage.end()["broker_cpu_s"] / idle_s * 100
    began = time.perf_counter()
    running.stop()
    figures["stop_ms"] = (time.perf_counter() - began) * 1000
    figures["restart_clean_ms"], running = start(system, folder, keep=True)
    figures["restart_rss_mb"] = machine.memory_mb(running.pid)["rss_mb"]
    running.kill()
    figures["restart_killed_ms"], running = start(system, folder, keep=False)
    running.stop()
    return figures
