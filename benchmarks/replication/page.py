"""From figures to a page: the goals, a table per workload, memory, the null test."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Figures = dict[str, Any]
Figure = dict[str, float] | None

COLUMNS = {
    "mb_per_s": "MB/s",
    "cpu_s_per_gb": "CPU-s/GB",
    "cpu_s_per_1000_requests": "CPU-s/1,000 requests",
    "p50_ms": "p50 ms",
    "p99_ms": "p99 ms",
    "p999_ms": "p99.9 ms",
    "system_share": "in kernel",
    "others_cores": "others",
}
MEMORY = {"idle_rss_mb": "after the start", "rss_mb": "after all rows", "rss_mb_max": "at most"}
NULL_FIGURES = ("mb_per_s", "cpu_s_per_gb", "p99_ms")


def as_json(result: Figures) -> str:
    return json.dumps(_rounded(result), indent=1) + "\n"


def markdown(result: Figures) -> str:
    sections = [_heading(result), _goals(result), _rows(result), _memory(result), _null_test(result)]
    return "\n\n".join(section for section in sections if section) + "\n"


def _heading(result: Figures) -> str:
    facts, cost = result["machine"], result["page_cache"]
    missing = "".join(f"\n- Missing: {name}: {why}" for name, why in result["missing"].items())
    return (
        "# Three brokers, three replicas, measured\n\n"
        "Written by `make bench-replication`; how to read and repeat it: "
        "[docs/benchmarks.md](../../docs/benchmarks.md).\n\n"
        f"- Machine: {facts['cores']} cores ({facts['cpu']}), {facts['memory']} memory, "
        f"Linux {facts['kernel']}, Python {facts['python']}; the client and all three brokers share it.\n"
        f"- Replication factor 3, acks=all, min.insync.replicas=2; Apache Kafka {result['kafka_version']} "
        "with the JVM options of its start script; every node is broker and controller.\n"
        f"- {result['rounds']} rounds; in each, every system has a turn of its own with fresh processes, "
        "after the one before has ended. Figures are medians (lowest to highest). CPU is that of all three "
        "brokers.\n"
        f"- Load average at the beginning {result['load_average']['begin']:.2f}, at the end "
        f"{result['load_average']['end']:.2f}. `others` is how many cores processes outside the measurement "
        "kept busy.\n"
        f"- Writing a file costs this machine, in CPU-s/GB: {_page_cache(cost['begin'])} at the beginning, "
        f"{_page_cache(cost['end'])} at the end.\n"
        f"- Mode: {result['mode']}, {result['took_s']:.0f} s." + missing
    )


def _page_cache(cost: dict[str, float]) -> str:
    return (
        f"{cost['reused_cpu_s_per_gb']:.2f} (memory just used) and "
        f"{cost['forgotten_cpu_s_per_gb']:.2f} (memory that lay free)"
    )


def goals(result: Figures) -> Iterable[tuple[str, str, float, bool]]:
    """(row, goal, Ottla's figure over Kafka's, whether it is reached)."""
    if not {"ottla", "kafka"} <= set(result["systems"]):
        return
    for row in result["rows"]:
        ottla, kafka = row["systems"]["ottla"], row["systems"]["kafka"]
        wanted = (
            [("mb_per_s", "throughput >= 1.0x Kafka", True)]
            if row["unlimited"]
            else [("p99_ms", "p99 <= Kafka's", False)]
        )
        for key, goal, is_more_better in [*wanted, ("cpu_s_per_gb", "CPU per GB <= Kafka's", False)]:
            ratio = ottla[key]["median"] / kafka[key]["median"]
            yield row["name"], goal, ratio, ratio >= 1.0 if is_more_better else ratio <= 1.0


def _goals(result: Figures) -> str:
    rows = [
        [name, goal, f"{ratio:.2f}x", "reached" if reached else "not reached"]
        for name, goal, ratio, reached in goals(result)
    ]
    text = (
        _table(["what", "goal", "Ottla / Kafka", ""], rows) if rows else "Both systems are needed for them."
    )
    return "## Goals\n\n" + text


def _rows(result: Figures) -> str:
    lines = ["## Produce"]
    for row in result["rows"]:
        table = []
        for name in result["systems"]:
            found = row["systems"][name]
            offered = "" if found["carried"]["min"] == 1.0 else " (not carried)"
            synced = "" if found["in_sync_after"]["min"] == 1.0 else " (a replica fell behind)"
            table.append([name + offered + synced, *(_spread(found.get(key)) for key in COLUMNS)])
        lines += [f"### {row['name']}", _table(["system", *COLUMNS.values()], table)]
    return "\n\n".join(lines)


def _memory(result: Figures) -> str:
    rows = [
        [name, *(_spread(result["memory"][name].get(key)) for key in MEMORY)] for name in result["systems"]
    ]
    return "## Resident memory of the three brokers together, MB\n\n" + _table(
        ["system", *MEMORY.values()], rows
    )


def _null_test(result: Figures) -> str:
    if not {"ottla", "ottla again"} <= set(result["systems"]):
        return ""
    rows = []
    for row in result["rows"]:
        ours, again = row["systems"]["ottla"], row["systems"]["ottla again"]
        for key in NULL_FIGURES:
            if key in ours:
                ratio = again[key]["median"] / ours[key]["median"]
                rows.append(
                    [row["name"], COLUMNS[key], _spread(ours[key]), _spread(again[key]), f"{ratio:.3f}"]
                )
    return (
        "## Null test: Ottla against itself\n\n"
        "By how much the ratio differs from 1 is the machine's noise: a difference between two systems that "
        "is not larger says nothing.\n\n"
        + _table(["", "figure", "Ottla", "Ottla again", "ratio of medians"], rows)
    )


def _spread(figure: Figure) -> str:
    if figure is None:
        return ""
    low, high = f"{figure['min']:.3g}", f"{figure['max']:.3g}"
    return f"{figure['median']:.3g}" if low == high else f"{figure['median']:.3g} ({low} to {high})"


def _table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows))


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value
