"""The other pages of the benchmarks, each with a command of its own: how to run one, and what its newest
results say.

The headlines are read from the pages' JSON files; a page that has none is reported as missing.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).resolve().parent.parent

Figures = dict[str, Any]
Headline = tuple[str, float, float]
"""What, ours, theirs."""


def _clients(result: Figures) -> Iterator[Headline]:
    for case in result["cases"]:
        where = f"{case['value_bytes']} B, {case['partitions']} partition{'s' * (case['partitions'] > 1)}"
        for kind, prefix in (("producing", "ottla send"), ("consuming", "ottla iteration")):
            medians = {
                way: statistics.median(run["records_per_s"] for run in runs)
                for way, runs in case[kind].items()
            }
            others = {way: value for way, value in medians.items() if not way.startswith("ottla")}
            if prefix in medians and others:
                best = max(others, key=lambda way: others[way])
                yield f"{prefix} against {best}, {where}, records/s", medians[prefix], others[best]


def _pipelines(result: Figures) -> Iterator[Headline]:
    for query, systems in result["batch"].items():
        if "kafka" in systems:
            ours, theirs = (
                statistics.median(run["records_per_s"] for run in systems[name])
                for name in ("ottla", "kafka")
            )
            yield f"our source against Spark's connector, {query}, records/s", ours, theirs


def _groups(result: Figures) -> Iterator[Headline]:
    for protocol, systems in result["protocols"].items():
        if "kafka" in systems:
            for figure, words in (("stable_s", "all groups stable, s"), ("ack_p99_ms", "producer p99, ms")):
                ours, theirs = (systems[name]["at_once"][figure]["median"] for name in ("ottla", "kafka"))
                yield f"{protocol} groups that rebalance at once, {words}", ours, theirs


def _compaction(result: Figures) -> Iterator[Headline]:
    runs = result["runs"]
    if "kafka" in runs:
        for figure, words in (("cleaned_mb_per_s", "MB/s cleaned"), ("with_p99_ms", "producer p99, ms")):
            ours, theirs = (
                statistics.median(run[figure] for run in runs[name]) for name in ("ottla", "kafka")
            )
            yield f"compaction beside a producer, {words}", ours, theirs


def _replication(result: Figures) -> Iterator[Headline]:
    for row in result["rows"]:
        if {"ottla", "kafka"} <= row["systems"].keys():
            figure = "mb_per_s" if row["unlimited"] else "cpu_s_per_gb"
            words = "MB/s" if row["unlimited"] else "CPU-s per GB"
            ours, theirs = (row["systems"][name][figure]["median"] for name in ("ottla", "kafka"))
            yield f"three replicas, {row['name']}, {words}", ours, theirs


@dataclass(frozen=True, slots=True)
class FurtherPage:
    about: str
    headlines: Callable[[Figures], Iterator[Headline]]


PAGES = {
    "clients": FurtherPage("our client beside confluent-kafka, kafka-python and aiokafka", _clients),
    "pipelines": FurtherPage("our Spark source beside Spark's Kafka connector", _pipelines),
    "groups": FurtherPage("consumer groups that rebalance at once", _groups),
    "compaction": FurtherPage("compaction beside a producer", _compaction),
    "replication": FurtherPage("three brokers, three replicas", _replication),
}


def run(name: str, *, quick: bool) -> int:
    """The page's own command, with its output."""
    command = [sys.executable, "-m", f"{name}.run", *(["--quick"] if quick else [])]
    return subprocess.run(command, cwd=BENCHMARKS, check=False).returncode


def newest(name: str, results: Path) -> tuple[list[Headline], str]:
    """The headlines of a page's full results, and why there are none."""
    path = results / f"{name}.json"
    if not path.exists():
        return [], f"not measured here yet: `make bench-{name}`"
    return list(PAGES[name].headlines(json.loads(path.read_text()))), ""
