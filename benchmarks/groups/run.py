"""`make bench-groups`: hundreds of consumer groups rebalance at once beside a steady load.

    PYTHONPATH=benchmarks python -m groups.run [--quick] [--protocols classic,...] [--systems ottla,...]

Runs of Ottla and Apache Kafka alternate; Ottla runs a second time under another name, which is the null
test. How to read the results: docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import machine
import spread
from groups import page, steady, storms
from groups.brokers import CONSUMER_HEARTBEAT_MS, Broker, KeptKafka, TunedOttla
from groups.storms import KINDS, Missing, Plan
from peers.apache_kafka import PeerMissing, version

REPOSITORY = Path(__file__).resolve().parent.parent.parent
PROTOCOLS = ("classic", "consumer")
SYSTEMS = ("ottla", "kafka")

Figures = dict[str, Any]


def main() -> int:
    options = argparse.ArgumentParser(description="Measures rebalances of many groups at once.")
    options.add_argument("--quick", action="store_true", help="one run of each: about 1.5 minutes")
    options.add_argument("--protocols", default=",".join(PROTOCOLS), help="of classic,consumer")
    options.add_argument("--systems", default=",".join(SYSTEMS), help="of ottla,kafka")
    options.add_argument("--repeats", type=int, help="runs of each system (2; quick: 1)")
    options.add_argument("--groups", type=int, default=Plan().groups)
    options.add_argument("--processes", type=int, default=Plan().processes, help="that hold the members")
    options.add_argument("--data", type=Path, help="where brokers put their data (the temporary folder)")
    options.add_argument("--results", type=Path, default=REPOSITORY / "benchmarks" / "results")
    chosen = options.parse_args()
    plan = Plan(groups=chosen.groups, processes=chosen.processes)
    if chosen.quick:
        plan = replace(plan, rest_s=1.5, windows_s=False)
    protocols = chosen.protocols.split(",")
    repeats = chosen.repeats or (1 if chosen.quick else 2)
    program = steady.build(REPOSITORY / "build" / "benchmarks")
    began = time.monotonic()
    missing: dict[str, str] = {}
    systems: list[Broker] = []
    kafka: KeptKafka | None = None
    if "ottla" in chosen.systems:
        systems.append(TunedOttla(chosen.data))
    if "kafka" in chosen.systems:
        try:
            systems.append(kafka := KeptKafka(chosen.data))
        except PeerMissing as error:
            missing["kafka"] = str(error)
    result: Figures = {
        "machine": machine.facts(),
        "mode": "quick" if chosen.quick else "full",
        "kafka_version": version(),
        "repeats": repeats,
        "groups": plan.groups,
        "members": plan.members,
        "partitions": plan.partitions,
        "mb_per_s": plan.mb_per_s,
        "processes": plan.processes,
        "consumer_heartbeat_ms": CONSUMER_HEARTBEAT_MS,
        "warmed_up": not chosen.quick,
        "systems": [system.name for system in systems],
        "missing": missing,
        "load_average": {"begin": os.getloadavg()[0]},
        "protocols": {},
    }
    try:
        if kafka is not None and not chosen.quick:
            for protocol in protocols:
                warm_up = replace(plan, rest_s=0.5, paced=(), at_once=(1, -1, 1), windows_s=False)
                storms.run(kafka, program, warm_up, protocol, f"warm-{protocol}")
        for protocol in protocols:
            taking_part = [*systems]
            # The null test; the quick run makes it once.
            if "ottla" in chosen.systems and (protocol == protocols[0] or not chosen.quick):
                taking_part.append(TunedOttla(chosen.data, "ottla again"))
            result["protocols"][protocol] = measure(taking_part, program, plan, protocol, repeats, missing)
    finally:
        if kafka is not None:
            kafka.close()
    result["load_average"]["end"] = os.getloadavg()[0]
    result["took_s"] = round(time.monotonic() - began, 1)
    write(chosen.results, "groups-quick" if chosen.quick else "groups", result)
    return 0


def measure(
    systems: list[Broker], program: Path, plan: Plan, protocol: str, repeats: int, missing: dict[str, str]
) -> Figures:
    """A B A B ...; per system the figures of each period, summed up and run by run."""
    runs: dict[str, list[Figures]] = {system.name: [] for system in systems}
    for number in range(repeats):
        for system in systems:
            name = f"{protocol}-{number}"
            try:
                found = storms.run(system, program, plan, protocol, name)
            except Missing as error:
                missing[f"{system.name}, {protocol}"] = str(error)
                continue
            runs[system.name].append(found)
            note(protocol, system.name, found)
    return {name: {**summed_up(found), "runs": found} for name, found in runs.items() if found}


def summed_up(runs: list[Figures]) -> Figures:
    periods = {kind: [each for run in runs for each in run[kind]] for kind in KINDS}
    periods |= {period: [run[period] for run in runs] for period in ("form", "rest", "whole")}
    return {period: spread.summed_up(found) for period, found in periods.items() if found}


def note(protocol: str, system: str, found: Figures) -> None:
    """A line on the way."""
    for kind in KINDS:
        told = "; ".join(
            f"{each.get('stable_s', float('nan')):.2f} s, heartbeat {each.get('heartbeat_p99_ms', 0):.0f}, "
            f"ack {each['ack_p99_ms']:.0f} ms, {each['broker_cpu_s']:.2f} CPU-s"
            for each in found[kind]
        )
        print(f"{protocol:8} {system:11} {kind:7}: {told}", flush=True)


def write(folder: Path, name: str, result: Figures) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    written = page.markdown(result)
    for suffix, text in (("json", page.as_json(result)), ("md", written)):
        path = folder / f"{name}.{suffix}"
        path.write_text(text)
        print(f"wrote {os.path.relpath(path)}")
    print(written.split("\n## ")[1] if "\n## " in written else written)


if __name__ == "__main__":
    sys.exit(main())
