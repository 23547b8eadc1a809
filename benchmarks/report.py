"""From runs to figures people can judge: medians and their spread, goals, a JSON file, a Markdown page."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Figures = dict[str, Any]


def summed_up(runs: list[Figures]) -> dict[str, dict[str, float]]:
    """Per figure: the median of the runs, and the lowest and highest."""
    found = {}
    for key in runs[0]:
        values = [run[key] for run in runs if isinstance(run.get(key), int | float)]
        if values:
            found[key] = {"median": statistics.median(values), "min": min(values), "max": max(values)}
    return found


def write(folder: Path, name: str, result: Figures) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    data, page = folder / f"{name}.json", folder / f"{name}.md"
    data.write_text(json.dumps(result, indent=1) + "\n")
    page.write_text(markdown(result))
    return [data, page]


def markdown(result: Figures) -> str:
    sections = [
        _heading(result),
        _goals(result),
        _produce(result),
        _fetch(result),
        _null_test(result),
        _partitions(result),
        _profile(result),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _heading(result: Figures) -> str:
    facts = result["machine"]
    return (
        "# One broker, measured\n\n"
        "Written by `make bench`; how to read and repeat it: "
        "[docs/benchmarks.md](../../docs/benchmarks.md).\n\n"
        f"- Machine: {facts['cores']} cores ({facts['cpu']}), {facts['memory']} memory, "
        f"Linux {facts['kernel']}, Python {facts['python']}; client and broker share it.\n"
        f"- {result['repeats']} runs of each system, interleaved after a warm-up; figures are medians "
        "(lowest to highest).\n"
        f"- Load average at the beginning {result['load_average']['begin']:.2f}, at the end "
        f"{result['load_average']['end']:.2f}. `others` is how many cores processes outside the "
        "measurement kept busy.\n"
        f"- Writing a file costs this machine, in CPU-s/GB: {_page_cache(result, 'begin')} at the beginning, "
        f"{_page_cache(result, 'end')} at the end.\n"
        f"- Mode: {result['mode']}."
    )


def _page_cache(result: Figures, when: str) -> str:
    cost = result["page_cache"][when]
    return (
        f"{cost['reused_cpu_s_per_gb']:.2f} (memory just used) and "
        f"{cost['forgotten_cpu_s_per_gb']:.2f} (memory that lay free)"
    )


def _goals(result: Figures) -> str:
    rows = [
        [name, goal, "missing" if value is None else f"{value:.4g} {unit}", _verdict(value, limit)]
        for name, goal, value, limit, unit in goals(result)
    ]
    return "## Goals\n\n" + _table(["what", "goal", "measured", ""], rows)


def _verdict(value: float | None, limit: float) -> str:
    return "" if value is None else "reached" if value <= limit else "not reached"


def goals(result: Figures) -> Iterable[tuple[str, str, float | None, float, str]]:
    """(what, goal, measured, limit, unit) for each aim of the single broker."""
    rows = [row for row in result["produce"] if not row["unlimited"]]

    def worst(rows: list[Figures], kind: str, key: str) -> float | None:
        found = [row["ottla"][kind][key]["median"] for row in rows if key in row["ottla"].get(kind, {})]
        return max(found, default=None)

    small = [row for row in rows if row["batch_bytes"] <= 16384]
    large = [row for row in rows if row["batch_bytes"] > 16384]
    for size in (1000, 100):
        picked = [row for row in large if row["record_bytes"] == size]
        name = "1 KB" if size == 1000 else "100 B"
        yield (
            f"produce, 1 MB batches, {name} records, worst row",
            "<= 1.0 CPU-s/GB",
            worst(picked, "produce", "cpu_s_per_gb"),
            1.0,
            "CPU-s/GB",
        )
        picked = [row for row in small if row["record_bytes"] == size]
        yield (
            f"produce, 16 KB batches, {name} records, worst row",
            "<= 60 µs a request",
            worst(picked, "produce", "us_per_request"),
            60,
            "µs",
        )
    yield (
        "fetch, 16 KB-batched topics, worst row",
        "<= 0.6 CPU-s/GB",
        worst(small, "fetch", "cpu_s_per_gb"),
        0.6,
        "CPU-s/GB",
    )
    yield (
        "fetch, 1 MB-batched topics, worst row",
        "<= 0.6 CPU-s/GB",
        worst(large, "fetch", "cpu_s_per_gb"),
        0.6,
        "CPU-s/GB",
    )
    lag = worst(rows, "produce", "lag_p99_ms")
    yield "loop lag p99 while producing and reading, worst row", "< 5 ms", lag, 5, "ms"
    memory = result.get("memory")
    yield "resident memory after producing 2 GB", "< 120 MB", memory and memory["rss_mb"], 120, "MB"
    start = result.get("start")
    yield (
        "`ottla start` to the first ApiVersions answer",
        "< 500 ms",
        start and start["start_ms"]["median"],
        500,
        "ms",
    )


def _produce(result: Figures) -> str:
    head = "system|offered MB/s|MB/s|CPU-s/GB|µs/request|in kernel|p50 ms|p99 ms|p99.9 ms|"
    head += "lag p99 ms|lag max ms|others"
    lines = ["## Produce"]
    for row in result["produce"]:
        rows = []
        for system in result["systems"]:
            found = row.get(system, {}).get("produce")
            if found is None:
                continue
            offered = found.get("offered_mb_per_s", {}).get("median")
            rows.append(
                [
                    system,
                    "all it takes" if offered is None else f"{offered:.0f}",
                    *(
                        _spread(found.get(key))
                        for key in ("mb_per_s", "cpu_s_per_gb", "us_per_request", "system_share")
                    ),
                    *(_median(found.get(key)) for key in ("p50_ms", "p99_ms", "p999_ms")),
                    *(_median(found.get(key)) for key in ("lag_p99_ms", "lag_max_ms", "others_cores")),
                ]
            )
        lines += [f"### {row['name']}", _table(head.split("|"), rows)]
    return "\n\n".join(lines)


def _fetch(result: Figures) -> str:
    head = ["system", "what", "MB/s", "CPU-s/GB", "µs/request", "KB/request", "in kernel", "others"]
    rows = []
    for row in [*result["produce"], *result["spread"]]:
        for system in result["systems"]:
            found = row.get(system, {}).get("fetch")
            if found is None or row.get("unlimited"):
                continue
            requests = found["requests"]["median"]
            rows.append(
                [
                    system,
                    row["name"],
                    *(_spread(found.get(key)) for key in ("mb_per_s", "cpu_s_per_gb", "us_per_request")),
                    f"{found['mb']['median'] * 1000 / requests:.0f}" if requests else "",
                    *(_median(found.get(key)) for key in ("system_share", "others_cores")),
                ]
            )
    return (
        "## Fetch, from the page cache\n\n"
        "The consumer starts at offset 0 of what was produced in the same run. The mock cluster keeps 5 MB "
        "of a partition, so it appears in the last rows only.\n\n" + _table(head, rows)
    )


def _null_test(result: Figures) -> str:
    rows = [
        [
            kind,
            key,
            _spread(row["ottla"][kind][key]),
            _spread(row["ottla again"][kind][key]),
            _ratio(row, kind, key),
        ]
        for row in result["produce"]
        if "ottla again" in row
        for kind, key in _NULL_FIGURES
    ]
    return (
        "## Null test: Ottla against itself\n\n"
        "From the first row. By how much the ratio differs from 1 is the machine's noise: a difference "
        "between two systems that is not larger says nothing.\n\n"
        + _table(["", "figure", "Ottla", "Ottla again", "ratio of medians"], rows)
    )


_NULL_FIGURES = [
    ("produce", "cpu_s_per_gb"),
    ("produce", "mb_per_s"),
    ("produce", "p99_ms"),
    ("fetch", "cpu_s_per_gb"),
    ("fetch", "mb_per_s"),
]


def _ratio(row: Figures, kind: str, key: str) -> str:
    return f"{row['ottla again'][kind][key]['median'] / row['ottla'][kind][key]['median']:.3f}"


_PARTITION_ROWS = {
    "create_s": "create, s",
    "create_cpu_s": "create, broker CPU-s",
    "rss_mb": "resident memory, MB",
    "open_files": "open files",
    "metadata_first_ms": "Metadata of all, first, ms",
    "metadata_cached_ms": "Metadata of all, cached, ms",
    "metadata_bytes": "Metadata of all, bytes",
    "idle_cpu_percent": "idle CPU, % of a core",
    "stop_ms": "clean stop, ms",
    "restart_clean_ms": "start after a clean stop, ms",
    "restart_rss_mb": "resident memory after that start, MB",
    "restart_killed_ms": "start after kill -9, ms",
}


def _partitions(result: Figures) -> str:
    found = result.get("partitions", [])
    if not found:
        return ""
    head = ["", *(f"{each['topics']:,} topics x {each['partitions'] // each['topics']}" for each in found)]
    rows = [
        [title, *(f"{each[key]:,.4g}" if each[key] < 1000 else f"{each[key]:,.0f}" for each in found)]
        for key, title in _PARTITION_ROWS.items()
    ]
    return "## 10,000 partitions on one broker\n\n" + _table(head, rows)


def _profile(result: Figures) -> str:
    profiles = result.get("profiles")
    if profiles is None:
        return "## Profile\n\nMissing: py-spy is not installed."
    lines = [
        "## Profile",
        "py-spy, self time per function in % of the samples in which the broker ran; a function that makes a "
        "system call is charged with it.",
    ]
    for name, parts in profiles.items():
        for kind, functions in parts.items():
            rows = [[f"{share * 100:.1f}", f"`{function}`"] for function, share in functions]
            lines += [f"### {kind}: {name}", _table(["%", "function"], rows)]
    return "\n\n".join(lines)


def _median(figure: dict[str, float] | None) -> str:
    return "" if figure is None else f"{figure['median']:.3g}"


def _spread(figure: dict[str, float] | None) -> str:
    if figure is None:
        return ""
    low, high = f"{figure['min']:.3g}", f"{figure['max']:.3g}"
    return f"{figure['median']:.3g}" if low == high else f"{figure['median']:.3g} ({low} to {high})"


def _table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(
        f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *([*row] for row in rows))
    )
