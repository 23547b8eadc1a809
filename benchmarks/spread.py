"""Several runs as one figure: the median, and the lowest and highest beside it; and tables of such
figures.
"""

from __future__ import annotations

import statistics
from typing import Any

Figures = dict[str, Any]


def summed_up(runs: list[Figures]) -> dict[str, dict[str, float]]:
    """Per figure: the median of the runs, and the lowest and highest."""
    found = {}
    for key in dict.fromkeys(key for run in runs for key in run):
        values = [run[key] for run in runs if isinstance(run.get(key), int | float)]
        if values:
            found[key] = {"median": statistics.median(values), "min": min(values), "max": max(values)}
    return found


def words(figure: dict[str, float] | None) -> str:
    """12.3 (11.9 to 12.8)"""
    if figure is None:
        return ""
    median, low, high = (_short(figure[key]) for key in ("median", "min", "max"))
    return median if low == high else f"{median} ({low} to {high})"


def table(head: list[str], rows: list[list[str]]) -> str:
    """In Markdown."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows))


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
