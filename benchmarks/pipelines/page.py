"""The figures of `bench-pipelines` as a page: the ratios first, then what each run took."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

Figures = dict[str, Any]
GOAL = 1.0
"""Our source has to be at least so many times as fast as Spark's connector."""


def markdown(result: Figures) -> str:
    facts = result["machine"]
    load = result["load_average"]
    lines = [
        "# Spark pipelines: our source beside Spark's own Kafka connector, measured",
        "",
        "Written by `make bench-pipelines`; how to read and repeat it: "
        "[docs/benchmarks.md](../../docs/benchmarks.md).",
        "",
        f"- Machine: {facts['cores']} cores ({facts['cpu']}), {facts['memory']} memory, Linux "
        f"{facts['kernel']}, Python {facts['python']}; Spark and the broker share it.",
        f"- {result['versions']}; one Ottla broker"
        + (", its data in a file system in memory." if result["in_memory"] else "."),
        f"- One Spark session (local[2]) with both formats; a topic of {result['records']:,} records of "
        f"{result['value_bytes']} bytes with keys, in {result['partitions']} partitions; default options.",
        f"- {result['repeats']} runs of each, interleaved, after one that is not counted; medians (lowest to "
        "highest). `again` is the null test: the same once more in each turn.",
        f"- Load average at the beginning {load['begin']:.2f}, at the end {load['end']:.2f}. Mode: "
        f"{result['mode']}, {result['seconds']:.0f} s.",
    ]
    if result["connector_missing"]:
        lines += ["", f"Spark's connector was not measured: {result['connector_missing']}"]
    lines += ["", "## Ratios", "", *_ratios(result["batch"])]
    for query, sources in result["batch"].items():
        lines += ["", f"## Batch: {query}", "", *_table(sources, result["records"])]
    lines += ["", *_latencies(result)]
    return "\n".join(lines) + "\n"


def _median(runs: list[Figures], key: str) -> float:
    return statistics.median(run[key] for run in runs)


def _ratios(batch: Figures) -> Iterator[str]:
    yield "| records per second | ratio | null test (ours, theirs) | goal |"
    yield "|---|---|---|---|"
    for query, sources in batch.items():
        if "kafka" not in sources:
            continue
        rates = {name: _median(runs, "records_per_s") for name, runs in sources.items()}
        nulls = f"{rates['ottla again'] / rates['ottla']:.2f}x, {rates['kafka again'] / rates['kafka']:.2f}x"
        for name in sources:
            if name.startswith("ottla") and not name.endswith("again"):
                ratio = rates[name] / rates["kafka"]
                missed = "" if ratio >= GOAL else " (missed)"
                yield f"| {query}: {name} : kafka | {ratio:.2f}x{missed} | {nulls} | {GOAL:g}x |"


def _table(sources: Figures, records: int) -> Iterator[str]:
    yield "| source | records/s | seconds | CPU-s: JVM | Python workers | broker | others, cores |"
    yield "|---|---|---|---|---|---|---|"
    for name, runs in sources.items():
        rates = [run["records_per_s"] for run in runs]
        yield (
            f"| {name} | {statistics.median(rates):,.0f} ({min(rates):,.0f} to {max(rates):,.0f}) "
            f"| {_median(runs, 'seconds'):.2f} | {_median(runs, 'jvm_cpu_s'):.2f} "
            f"| {_median(runs, 'python_cpu_s'):.2f} | {_median(runs, 'broker_cpu_s'):.2f} "
            f"| {_median(runs, 'others_cores'):.2f} |"
        )


def _latencies(result: Figures) -> Iterator[str]:
    yield "## Streaming: from publishing to reading the pipeline's answer"
    yield ""
    yield (
        f"{result['latency_rate']} records/s into a query that reads, changes and writes them, micro-batch "
        f"after micro-batch; {result['repeats']} runs of {result['latency_s']:g} s each, interleaved. "
        "The p50 and p99 of all records, and of the runs alone in brackets (lowest to highest)."
    )
    yield ""
    yield "| pipeline | p50 ms | p99 ms | records |"
    yield "|---|---|---|---|"
    for way, runs in result["latency"].items():
        p50, p99 = ([_percentile(run, share) for run in runs] for share in (0.5, 0.99))
        together = [late for run in runs for late in run]
        yield (
            f"| {way} | {_percentile(together, 0.5):,.0f} ({min(p50):,.0f} to {max(p50):,.0f}) "
            f"| {_percentile(together, 0.99):,.0f} ({min(p99):,.0f} to {max(p99):,.0f}) | {len(together):,} |"
        )


def _percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
