"""The figures of `bench-clients` as a page: goals first, then a table per case."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

Figures = dict[str, Any]

GOALS = (
    ("producing", "ottla send_batch", "confluent-kafka produce", 2.0),
    ("producing", "ottla send", "kafka-python send", 3.0),
    ("producing", "ottla send", "aiokafka send", 1.5),
    ("producing", "ottla.aio send", "aiokafka send", 1.5),
    ("consuming", "ottla poll_arrow", "confluent-kafka poll", 2.0),
    ("consuming", "ottla poll_arrow", "confluent-kafka consume", 2.0),
    ("consuming", "ottla iteration", "kafka-python iteration", 3.0),
    ("consuming", "ottla iteration", "aiokafka iteration", 1.5),
    ("consuming", "ottla.aio iteration", "aiokafka iteration", 1.5),
)
"""kind, ours, theirs, at least so many times their records per second."""


def markdown(result: Figures) -> str:
    facts = result["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    load = result["load_average"]
    lines = [
        "# Python clients side by side, measured",
        "",
        "Written by `make bench-clients`; how to read and repeat it: "
        "[docs/benchmarks.md](../../docs/benchmarks.md).",
        "",
        f"- Machine: {facts['cores']} cores ({facts['cpu']}), {facts['memory']} memory, Linux "
        f"{facts['kernel']}, Python {facts['python']}; client and broker share it, each in its own process.",
        f"- {versions}; one Ottla broker per case"
        + (
            ", its data in a file system in memory, so that no disk is measured."
            if result["in_memory"]
            else "."
        ),
        f"- Producers: {result['settings']['producers']}.",
        f"- Consumers: {result['settings']['consumers']}.",
        f"- {result['repeats']} runs of each way, interleaved; medians (lowest to highest). `again` is the "
        "null test: the same way once more in each turn. Every run checked that all records arrived.",
        f"- Load average at the beginning {load['begin']:.2f}, at the end {load['end']:.2f}. Mode: "
        f"{result['mode']}, {result['seconds']:.0f} s.",
        "",
        "## Goals",
        "",
        "| records per second | goal | " + " | ".join(_case(case) for case in result["cases"]) + " |",
        "|---|---|" + "---|" * len(result["cases"]),
    ]
    for kind, ours, theirs, goal in GOALS:
        ratios = [_ratio(case[kind], ours, theirs) for case in result["cases"]]
        if any(ratio is not None for ratio in ratios):
            cells = ["" if r is None else f"{r:.1f}x{'' if r >= goal else ' (missed)'}" for r in ratios]
            lines.append(f"| {ours} : {theirs} | {goal:g}x | " + " | ".join(cells) + " |")
    for case in result["cases"]:
        for kind in ("producing", "consuming"):
            if case[kind]:
                lines += ["", f"## {kind.capitalize()}, {_case(case)}", "", *_table(case[kind])]
    return "\n".join(lines) + "\n"


def _case(case: Figures) -> str:
    partitions = case["partitions"]
    return f"{case['value_bytes']} B, {partitions} partition{'s' if partitions > 1 else ''}"


def _median(runs: list[Figures], key: str) -> float:
    return statistics.median(run[key] for run in runs)


def _ratio(ways: dict[str, list[Figures]], ours: str, theirs: str) -> float | None:
    if ours not in ways or theirs not in ways:
        return None
    return _median(ways[ours], "records_per_s") / _median(ways[theirs], "records_per_s")


def _table(ways: dict[str, list[Figures]]) -> Iterator[str]:
    yield "| way | records/s | MB/s | client CPU-s per million records | broker CPU-s per GB |"
    yield "|---|---|---|---|---|"
    for way, runs in ways.items():
        rates = [run["records_per_s"] for run in runs]
        yield (
            f"| {way} | {statistics.median(rates):,.0f} ({min(rates):,.0f} to {max(rates):,.0f}) "
            f"| {_median(runs, 'mb_per_s'):,.0f} | {_median(runs, 'client_cpu_s_per_million'):.2f} "
            f"| {_median(runs, 'broker_cpu_s_per_gb'):.2f} |"
        )
