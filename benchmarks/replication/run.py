"""`make bench-replication`: three brokers, replication factor 3, acks=all, Ottla beside Apache Kafka.

    PYTHONPATH=benchmarks python -m replication.run [--quick] [--systems ottla,kafka] [--rounds 3]

A round is a turn of each system: three fresh processes, a warm-up, every row of the page, and a clean stop
before the next system starts. Ottla has a second turn under another name, which is the null test. How to read
the results: docs/benchmarks.md.
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
import spread
from ballast import Ballast
from peers.apache_kafka import PeerMissing, jars, version
from produce import Produce
from replication import page, workloads
from replication.clusters import Turn
from replication.workloads import Row

REPOSITORY = Path(__file__).resolve().parent.parent.parent
SYSTEMS = ("ottla", "kafka", "ottla again")
BALLAST_MB = 5500
"""About what the fastest row writes, three times over."""
WARM_UP_S = {False: 30.0, True: 10.0}
"""A JVM compiles its own code at first; every system is given the same time, by whether the run is quick."""

Figures = dict[str, Any]


def main() -> int:
    options = argparse.ArgumentParser(description="Measures three brokers with three replicas.")
    options.add_argument("--quick", action="store_true", help="fewer and shorter workloads")
    options.add_argument("--systems", default=",".join(SYSTEMS), help=f"of {','.join(SYSTEMS)}")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--rows", default="", help="only rows whose name contains this")
    options.add_argument("--data", type=Path, help="where brokers put their data (the temporary folder)")
    options.add_argument("--results", type=Path, default=REPOSITORY / "benchmarks" / "results")
    chosen = options.parse_args()
    from chaos.cluster import own_world

    # Whatever ends this, also ends every broker.
    own_world.enter(network=False)
    systems = chosen.systems.split(",")
    missing: dict[str, str] = {}
    if "kafka" in systems:
        try:
            jars()
        except PeerMissing as error:
            missing["kafka"] = str(error)
            systems.remove("kafka")
    rows = [row for row in workloads.rows(quick=chosen.quick) if chosen.rows in row.name]
    load = load_generator.build(REPOSITORY / "build" / "benchmarks")
    began = time.monotonic()
    result: Figures = {
        "machine": machine.facts(),
        "page_cache": {"begin": page_cache.write_cost(chosen.data)},
        "mode": "quick" if chosen.quick else "full",
        "kafka_version": version(),
        "rounds": chosen.rounds,
        "systems": systems,
        "missing": missing,
        "load_average": {"begin": os.getloadavg()[0]},
    }
    runs: dict[str, list[Figures]] = {name: [] for name in systems}
    ballast = Ballast(BALLAST_MB)
    for _ in range(chosen.rounds):
        for name in systems:
            runs[name].append(take_turn(name, rows, load, chosen.data, ballast, quick=chosen.quick))
    result["rows"] = [
        {
            "name": row.name,
            "unlimited": row.produce.unlimited,
            "offered_mb_per_s": None if row.produce.unlimited else row.produce.offered_mb_per_s,
            "systems": {
                name: spread.summed_up([run["rows"][at] for run in found]) for name, found in runs.items()
            },
            "runs": {name: [run["rows"][at] for run in found] for name, found in runs.items()},
        }
        for at, row in enumerate(rows)
    ]
    result["memory"] = {
        name: spread.summed_up([run["memory"] for run in found]) for name, found in runs.items()
    }
    result["page_cache"]["end"] = page_cache.write_cost(chosen.data)
    result["load_average"]["end"] = os.getloadavg()[0]
    result["took_s"] = round(time.monotonic() - began, 1)
    write(chosen.results, "replication-quick" if chosen.quick else "replication", result)
    return 0


def take_turn(
    name: str, rows: list[Row], load: Path, data: Path | None, ballast: Ballast, *, quick: bool
) -> Figures:
    with Turn(name, data, ballast) as turn:
        idle = turn.memory_mb()["rss_mb"]
        warm_up = Produce(1000, workloads.SMALL, acks="all", seconds=WARM_UP_S[quick], unlimited=True)
        with turn.topic("warm-up", 12, 2000):
            workloads.offer(turn, load, warm_up, "warm-up")
        found = []
        for number, row in enumerate(rows):
            figures = row.run(turn, load, number)
            found.append(figures)
            told = ", ".join(
                f"{key} {figures[key]:.4g}"
                for key in ("mb_per_s", "cpu_s_per_gb", "p99_ms")
                if key in figures
            )
            print(f"{name:11} {row.name}: {told}", flush=True)
        memory = {"idle_rss_mb": idle, **turn.memory_mb()}
    return {"rows": found, "memory": memory}


def write(folder: Path, name: str, result: Figures) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    written = page.markdown(result)
    for suffix, text in (("json", page.as_json(result)), ("md", written)):
        path = folder / f"{name}.{suffix}"
        path.write_text(text)
        print(f"wrote {os.path.relpath(path)}")
    print(written.split("\n## ")[1])


if __name__ == "__main__":
    sys.exit(main())
