"""The pictures of the page: the goals as bars, and what partitions and connections cost as they grow."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from single_broker import svg
from single_broker.goals import judge
from single_broker.plan import AGAIN

CURVES = {
    # file: (title, rows, x axis, figure, y axis)
    "partitions-memory": ("Resident memory", r"(\d+) partitions", "partitions", "rss_mb", "MB"),
    "partitions-start": (
        "Start after a clean stop, until all partitions are led",
        r"(\d+) partitions",
        "partitions",
        "restart_clean_ms",
        "ms",
    ),
    "partitions-start-killed": (
        "Start after kill -9, until all partitions are led",
        r"(\d+) partitions",
        "partitions",
        "restart_killed_ms",
        "ms",
    ),
    "partitions-idle": ("CPU at rest", r"(\d+) partitions", "partitions", "idle_cpu_percent", "% of a core"),
    "partitions-request": (
        "Broker CPU of a produce request",
        r"(\d+) partitions",
        "partitions",
        "cpu_s_per_1000_requests",
        "CPU-s per 1,000 requests",
    ),
    "connections-request": (
        "Broker CPU of a produce request, 2,000 requests/s in all",
        r"(\d+) connections",
        "connections",
        "cpu_s_per_1000_requests",
        "CPU-s per 1,000 requests",
    ),
    "connections-latency": (
        "p99 at 2,000 requests/s in all",
        r"(\d+) connections",
        "connections",
        "p99_ms",
        "ms",
    ),
}
IDLE = "connections-memory"

Figures = dict[str, Any]


def draw(rows: dict[str, Figures]) -> dict[str, str]:
    """File name without suffix -> SVG; only what there are figures for."""
    found = {"goals": _goals(rows), IDLE: _idle_connections(rows)}
    for name, (title, pattern, x_words, figure, y_words) in CURVES.items():
        curves: dict[str, list[tuple[float, float]]] = {}
        for key, row in rows.items():
            match = re.fullmatch(pattern, key)
            for system, figures in row["systems"].items() if match else ():
                if figure in figures and system != AGAIN:
                    curves.setdefault(system, []).append((float(match[1]), figures[figure]["median"]))
        found[name] = _drawn(title, x_words, y_words, curves)
    return {name: picture for name, picture in found.items() if picture}


def write(folder: Path, name: str, rows: dict[str, Figures]) -> list[Path]:
    paths = []
    for what, picture in draw(rows).items():
        path = folder / f"{name}-{what}.svg"
        path.write_text(picture)
        paths.append(path)
    return paths


def _goals(rows: dict[str, Figures]) -> str:
    bars = [
        svg.Bar(goal.what, found.ratio, goal.limit, found.reached) for goal, found in judge(rows) if found
    ]
    return svg.ratio_bars("Ours : the better Kafka. The tick is the goal.", bars)


def _idle_connections(rows: dict[str, Figures]) -> str:
    curves: dict[str, list[tuple[float, float]]] = {}
    for system, figures in rows.get("idle connections", {"systems": {}})["systems"].items():
        for figure, value in figures.items():
            if figure.startswith("rss_mb_at_"):
                curves.setdefault(system, []).append((float(figure.rsplit("_", 1)[1]), value["median"]))
    return _drawn("Resident memory with connections at rest", "connections", "MB", curves)


def _drawn(title: str, x_words: str, y_words: str, curves: dict[str, list[tuple[float, float]]]) -> str:
    if not any(len(points) > 1 for points in curves.values()):
        return ""
    return svg.curves(
        title, x_words, y_words, [svg.Curve(name, sorted(points)) for name, points in curves.items()]
    )
