"""`make bench-compaction`: what a compaction costs, and what a producer beside it feels.

    PYTHONPATH=benchmarks python -m compaction.run [--quick] [--systems ottla,kafka]

A compacted topic of 1 GB with a million keys is filled and left alone. A producer offers 50 MB/s to another
topic, first by itself, then while the table is compacted. Then the table is read back: the last value of
every key is there and no offset has changed, or the benchmark fails. Runs of Ottla, Ottla again (the null
test) and Apache Kafka alternate.

"MB/s cleaned" is the size of the closed segments over the time from the permission to compact to the
checkpoint that says that it is done: starting a process, two passes, swaps and syncs are in it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import threading
import time
from pathlib import Path
from typing import Any

import load_generator
import machine
from compaction import table as tables
from compaction.brokers import (
    CompactingOttla,
    children_usage,
    cleaned_upto,
    compact,
    compacting_kafka,
    create_table,
    segments,
)
from peers.apache_kafka import ApacheKafka, PeerMissing, version

REPOSITORY = Path(__file__).resolve().parent.parent.parent
TABLE = "table"
BESIDE = "beside"
RECORD_BYTES = 1_000
BATCH_BYTES = 65_536
CLEAN_S_MAX = 300.0

Figures = dict[str, Any]
System = CompactingOttla | ApacheKafka


class Watch(threading.Thread):
    """Waits for the end of the compaction, and notes the memory of the processes meanwhile."""

    def __init__(self, pid: int, data: Path, upto: int) -> None:
        super().__init__(daemon=True)
        self.took_s = 0.0
        self.worker_mb_max = self.worker_cpu_s = 0.0
        self._pid, self._data, self._upto = pid, data, upto
        self._began = time.monotonic()

    def run(self) -> None:
        while time.monotonic() - self._began < CLEAN_S_MAX:
            memory_mb, cpu_s = children_usage(self._pid)
            self.worker_mb_max = max(self.worker_mb_max, memory_mb)
            self.worker_cpu_s = max(self.worker_cpu_s, cpu_s)
            if cleaned_upto(self._data, TABLE) >= self._upto:
                self.took_s = time.monotonic() - self._began
                return
            time.sleep(0.02)


def main() -> int:
    options = argparse.ArgumentParser(description="Measures compaction beside a steady producer.")
    options.add_argument("--quick", action="store_true", help="200 MB, 200,000 keys, one run of each")
    options.add_argument("--systems", default="ottla,kafka")
    options.add_argument("--repeats", type=int)
    options.add_argument("--rate", type=float, default=50.0, help="MB/s of the producer beside it")
    options.add_argument("--seconds", type=float, help="of each period (20; quick: 8)")
    options.add_argument("--data", type=Path, help="where brokers put their data (the temporary folder)")
    options.add_argument("--results", type=Path, default=REPOSITORY / "benchmarks" / "results")
    chosen = options.parse_args()
    build = REPOSITORY / "build" / "benchmarks"
    program = load_generator.build(build)
    keys, megabytes = (200_000, 300) if chosen.quick else (1_000_000, 1_100)
    seconds = chosen.seconds or (8.0 if chosen.quick else 20.0)
    repeats = chosen.repeats or (1 if chosen.quick else 3)
    print(f"making a log of {megabytes} MB with {keys} keys ...", flush=True)
    table = tables.make(build, keys, megabytes)
    systems: list[System] = []
    missing: dict[str, str] = {}
    if "ottla" in chosen.systems:
        systems += [CompactingOttla(chosen.data), CompactingOttla(chosen.data, "ottla again")]
    if "kafka" in chosen.systems:
        try:
            systems.append(compacting_kafka(chosen.data))
        except PeerMissing as error:
            missing["kafka"] = str(error)
    runs: dict[str, list[Figures]] = {system.name: [] for system in systems}
    result: Figures = {
        "machine": machine.facts(),
        "mode": "quick" if chosen.quick else "full",
        "kafka_version": version(),
        "keys": keys,
        "table_mb": megabytes,
        "rate_mb_per_s": chosen.rate,
        "seconds": seconds,
        "repeats": repeats,
        "missing": missing,
        "load_average": {"begin": os.getloadavg()[0]},
        "runs": runs,
    }
    for _ in range(repeats):
        for system in systems:
            found = measure(system, program, table, chosen.rate, seconds)
            runs[system.name].append(found)
            print(f"{system.name:12} " + ", ".join(f"{k} {v:.2f}" for k, v in found.items()), flush=True)
    result["load_average"]["end"] = os.getloadavg()[0]
    chosen.results.mkdir(parents=True, exist_ok=True)
    name = "compaction-quick" if chosen.quick else "compaction"
    (chosen.results / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    written = page(result)
    (chosen.results / f"{name}.md").write_text(written)
    print(written)
    return 0


def measure(system: System, program: Path, table: tables.Table, rate: float, seconds: float) -> Figures:
    running = system.start(BESIDE, 1)
    is_ottla = isinstance(system, CompactingOttla)
    data = running.folder / "data"
    try:
        create_table(running.address, TABLE)
        tables.fill(running.address, TABLE, table)
        sizes = segments(data, TABLE)
        active = max(sizes)
        closed_mb = sum(size for base, size in sizes.items() if base < active) / 1e6
        found: Figures = {"closed_mb": closed_mb}

        def steady(period: str) -> None:
            usage = machine.Usage.begin(running.pid)
            got = load_generator.call(
                program, "produce", running.address, BESIDE, RECORD_BYTES, BATCH_BYTES, rate, seconds,
                "linger.ms=5",
            )  # fmt: skip
            found[f"{period}_mb_per_s"] = got["mb"] / got["seconds"]
            found[f"{period}_p50_ms"] = got["p50_ms"]
            found[f"{period}_p99_ms"] = got["p99_ms"]
            found[f"{period}_p999_ms"] = got["p999_ms"]
            found[f"{period}_broker_cpu_s"] = usage.end(got["client_cpu_s"])["broker_cpu_s"]
            found[f"{period}_others_cores"] = usage.end(got["client_cpu_s"])["others_cores"]

        def again(period: str | None) -> None:
            """A new life of the broker, whose last words are about the period before."""
            nonlocal running
            if isinstance(system, CompactingOttla):
                running.keep = True
                said = running.stop()
                if period is not None:
                    found[f"{period}_lag_p99_ms"] = said["lag_p99_ms"]
                    found[f"{period}_lag_max_ms"] = said["lag_max_ms"]
                (running.folder / "stderr").write_text("")
                running = system.resume(running.folder, keep=False)

        again(None)
        steady("without")
        again("without")
        watch = Watch(running.pid, data, active)
        compact(running.address, TABLE)
        watch.start()
        steady("with")
        watch.join()
        if not watch.took_s:
            raise RuntimeError(f"{system.name} did not compact the table within {CLEAN_S_MAX:.0f} s")
        found["clean_s"] = watch.took_s
        found["cleaned_mb_per_s"] = closed_mb / watch.took_s
        if is_ottla:
            found["worker_mb_max"] = watch.worker_mb_max
            found["worker_cpu_s"] = watch.worker_cpu_s
            found["cleaned_mb_per_cpu_s"] = closed_mb / max(watch.worker_cpu_s, 1e-9)
        found["broker_mb_max"] = machine.memory_mb(running.pid)["rss_mb_max"]
        again("with")
        found["left_mb"] = sum(segments(data, TABLE).values()) / 1e6
        found["records_left"] = tables.check(running.address, TABLE, table)
        return found
    finally:
        running.stop()


def page(result: Figures) -> str:
    facts = result["machine"]
    names = [name for name, runs in result["runs"].items() if runs]
    lines = [
        "# Compaction beside a producer, measured",
        "",
        "Written by `make bench-compaction`; how to read and repeat it: "
        "[docs/benchmarks.md](../../docs/benchmarks.md).",
        "",
        f"- Machine: {facts['cores']} cores ({facts['cpu']}), {facts['memory']} memory, Linux "
        f"{facts['kernel']}, Python {facts['python']}; client, broker and cleaner share it.",
        f"- A log of {result['table_mb']} MB with {result['keys']:,} keys in segments of 100 MiB; beside it "
        f"a producer at {result['rate_mb_per_s']:.0f} MB/s for {result['seconds']:.0f} s, without and with "
        "the compaction. After each run the log was read back: the last value of every key was there, no "
        "offset had changed.",
        f"- {result['repeats']} runs of each, interleaved; medians (lowest to highest). `ottla again` is the "
        f"null test. Apache Kafka {result['kafka_version']}. Load average at the beginning "
        f"{result['load_average']['begin']:.2f}, at the end {result['load_average']['end']:.2f}.",
        "",
        "| figure | " + " | ".join(names) + " |",
        "|---|" + "---|" * len(names),
    ]
    for key, told in FIGURES.items():
        cells = []
        for name in names:
            values = [run[key] for run in result["runs"][name] if key in run]
            if not values:
                cells.append("")
            elif len(values) == 1:
                cells.append(f"{values[0]:,.1f}")
            else:
                cells.append(f"{statistics.median(values):,.1f} ({min(values):,.1f} to {max(values):,.1f})")
        lines.append(f"| {told} | " + " | ".join(cells) + " |")
    lines += [f"\nNot measured: {name}: {why}." for name, why in result["missing"].items()]
    return "\n".join(lines) + "\n"


FIGURES = {
    "clean_s": "seconds to compact",
    "cleaned_mb_per_s": "MB/s cleaned",
    "cleaned_mb_per_cpu_s": "MB cleaned per CPU-second of the worker",
    "left_mb": "MB left",
    "records_left": "records left",
    "without_mb_per_s": "producer, MB/s without",
    "with_mb_per_s": "producer, MB/s with",
    "without_p50_ms": "producer p50, ms without",
    "with_p50_ms": "producer p50, ms with",
    "without_p99_ms": "producer p99, ms without",
    "with_p99_ms": "producer p99, ms with",
    "without_p999_ms": "producer p99.9, ms without",
    "with_p999_ms": "producer p99.9, ms with",
    "without_lag_p99_ms": "loop lag p99, ms without",
    "with_lag_p99_ms": "loop lag p99, ms with",
    "without_lag_max_ms": "loop lag at most, ms without",
    "with_lag_max_ms": "loop lag at most, ms with",
    "without_broker_cpu_s": "broker CPU-s without",
    "with_broker_cpu_s": "broker CPU-s with (Kafka: cleaner included)",
    "broker_mb_max": "broker memory, MB at most",
    "worker_mb_max": "worker memory, MB at most",
    "without_others_cores": "cores busy with other things, without",
    "with_others_cores": "cores busy with other things, with (Ottla: cleaner included)",
}


if __name__ == "__main__":
    sys.exit(main())
