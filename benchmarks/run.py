"""`make bench`: measures one Ottla broker beside librdkafka's mock cluster, and writes the results.

    python benchmarks/run.py [--quick] [--only produce,fetch,start,memory,partitions,profile] [--data FOLDER]

Runs of the systems alternate, so that what the machine does meanwhile meets both; every run is on a fresh
process with a fresh data directory. How to read the results: docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import load_generator
import machine
import page_cache
import report
import workloads
from hot_spots import profile
from systems import MockCluster, Ottla, System
from workloads import Produce

REPOSITORY = Path(__file__).resolve().parent.parent
PARTS = ("produce", "fetch", "start", "memory", "partitions", "profile")
SMALL, LARGE = 16 * 1024, 1 << 20
MEMORY_GB = 2.0
STARTS = 10

Figures = dict[str, Any]


class Plan:
    """What a quick and a full run do."""

    def __init__(self, *, quick: bool) -> None:
        self.name = "single-broker-quick" if quick else "single-broker"
        self.repeats = 3
        seconds = 1.5 if quick else 5.0
        self.produce = [
            Produce(record, batch, seconds=seconds) for batch in (SMALL, LARGE) for record in (1000, 100)
        ]
        self.spread_batches = [SMALL] if quick else [SMALL, LARGE]
        self.partitions = [(100, 100)]
        self.idle_s = 5.0 if quick else 10.0
        if not quick:
            self.produce += [Produce(1000, batch, acks="all", seconds=seconds) for batch in (SMALL, LARGE)]
            self.produce += [Produce(1000, batch, partitions=4, seconds=seconds) for batch in (SMALL, LARGE)]
            self.produce += [
                Produce(1000, batch, seconds=seconds, unlimited=True) for batch in (SMALL, LARGE)
            ]
            self.partitions.append((10_000, 1))
        self.profiles = [Produce(1000, batch, seconds=seconds) for batch in (SMALL, LARGE)]


def main() -> int:
    options = argparse.ArgumentParser(description="Measures one Ottla broker.")
    options.add_argument(
        "--quick", action="store_true", help="fewer workloads and shorter runs: about 3 minutes"
    )
    options.add_argument("--only", default=",".join(PARTS), help=f"parts to measure, of {','.join(PARTS)}")
    options.add_argument(
        "--data", type=Path, help="where brokers put their data (the system's temporary folder)"
    )
    options.add_argument("--results", type=Path, default=REPOSITORY / "benchmarks" / "results")
    chosen = options.parse_args()
    parts = set(chosen.only.split(","))
    plan = Plan(quick=chosen.quick)
    load = load_generator.build(REPOSITORY / "build" / "benchmarks")
    ottla = Ottla(chosen.data)
    systems: list[System] = [ottla, MockCluster(load)]
    began = time.monotonic()
    result: Figures = {
        "machine": machine.facts(),
        "page_cache": {"begin": page_cache.write_cost(chosen.data)},
        "mode": "quick" if chosen.quick else "full",
        "repeats": plan.repeats,
        "systems": [system.name for system in systems],
        "load_average": {"begin": os.getloadavg()[0]},
        "produce": [],
        "spread": [],
    }
    if "produce" in parts:
        again = Ottla(chosen.data, "ottla again")
        for number, produce in enumerate(plan.produce):
            # The null test, the same system under two names, is part of the first row.
            taking_part = [*systems, again] if number == 0 else systems
            result["produce"].append(measure_produce(taking_part, load, produce, plan.repeats))
    if "fetch" in parts:
        result["spread"] = [
            measure_fetch_spread(systems, load, batch, plan.repeats) for batch in plan.spread_batches
        ]
    if "start" in parts:
        result["start"] = report.summed_up([workloads.start_empty(ottla) for _ in range(STARTS)])
        print(f"start to first answer: {result['start']['start_ms']['median']:.0f} ms", flush=True)
    if "memory" in parts:
        result["memory"] = workloads.memory_after(ottla, load, MEMORY_GB)
        print(
            f"resident after {result['memory']['mb']:.0f} MB: {result['memory']['rss_mb']:.0f} MB", flush=True
        )
    if "partitions" in parts:
        result["partitions"] = [
            workloads.many_partitions(ottla, topics, each, plan.idle_s) for topics, each in plan.partitions
        ]
        print(f"partitions: {result['partitions']}", flush=True)
    if "profile" in parts:
        profiles = {each.name: profile(ottla, load, each) for each in plan.profiles}
        result["profiles"] = None if None in profiles.values() else profiles
    result["page_cache"]["end"] = page_cache.write_cost(chosen.data)
    result["load_average"]["end"] = os.getloadavg()[0]
    result["took_s"] = round(time.monotonic() - began, 1)
    for path in report.write(chosen.results, plan.name, result):
        print(f"wrote {os.path.relpath(path)}")
    print(report.markdown(result).split("## Produce")[0])
    return 0


def interleaved(systems: list[System], repeats: int, run: Any) -> Figures:
    """A B A B ...; per system the figures of each kind (produce, fetch), summed up and run by run."""
    runs: dict[str, list[Figures]] = {system.name: [] for system in systems}
    for _ in range(repeats):
        for system in systems:
            runs[system.name].append(run(system))
    return {
        name: {kind: report.summed_up([each[kind] for each in found]) for kind in found[0]} | {"runs": found}
        for name, found in runs.items()
    }


def measure_produce(systems: list[System], load: Path, produce: Produce, repeats: int) -> Figures:
    if not produce.unlimited:
        produce = produce.calibrated(systems[0], load)
    found = interleaved(systems, repeats, lambda system: workloads.produce_and_fetch(system, load, produce))
    note(
        produce.name,
        found,
        "produce",
        "offered_mb_per_s",
        "mb_per_s",
        "cpu_s_per_gb",
        "us_per_request",
        "p99_ms",
    )
    note(produce.name, found, "fetch", "mb_per_s", "cpu_s_per_gb", "us_per_request")
    return {
        "name": produce.name,
        "record_bytes": produce.record_bytes,
        "batch_bytes": produce.batch_bytes,
        "unlimited": produce.unlimited,
        **found,
    }


def measure_fetch_spread(systems: list[System], load: Path, batch_bytes: int, repeats: int) -> Figures:
    batches = "16 KB" if batch_bytes == SMALL else "1 MB"
    where = f"{workloads.SPREAD_MB} MB in {workloads.SPREAD_PARTITIONS} partitions"
    name = f"{where}, 1 KB records, {batches} batches"
    found = interleaved(systems, repeats, lambda each: workloads.fetch_spread(each, load, batch_bytes))
    note(name, found, "fetch", "mb_per_s", "cpu_s_per_gb", "us_per_request")
    return {"name": name, **found}


def note(name: str, found: Figures, kind: str, *keys: str) -> None:
    """A line on the way."""
    for system, figures in found.items():
        if isinstance(figures, dict) and kind in figures:
            told = (f"{key} {figures[kind][key]['median']:.4g}" for key in keys if key in figures[kind])
            print(f"{kind:8} {system:6} {name}: {', '.join(told)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
