"""The aims of one broker against Apache Kafka, each with the row and the figure that it is judged by.

A ratio is ours over theirs, theirs being the better one of Kafka's two settings in that row. An aim that was
not reached is shown with its figure; the workload is never changed for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from single_broker.figures import FIGURES
from single_broker.plan import OURS, PEERS

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Goal:
    what: str
    row: str
    figure: str
    limit: float

    @property
    def words(self) -> str:
        return f"{'>=' if FIGURES[self.figure].more_is_better else '<='} {self.limit:g}x"

    def is_reached(self, ratio: float) -> bool:
        return ratio >= self.limit if FIGURES[self.figure].more_is_better else ratio <= self.limit


GOALS = (
    Goal("produce, librdkafka, 100 B, acks=1, MB/s", "100 B", "mb_per_s", 1.5),
    Goal("produce, librdkafka, 1 KB, acks=1, MB/s", "1 KB", "mb_per_s", 1.5),
    Goal("produce, Java with its defaults, 100 B, MB/s", "java 100 B", "mb_per_s", 1.0),
    Goal("produce, Java with its defaults, 1 KB, MB/s", "java 1 KB", "mb_per_s", 1.0),
    Goal("consume warm, librdkafka, 100 B, MB/s", "100 B", "read_mb_per_s", 1.2),
    Goal("consume warm, librdkafka, 1 KB, MB/s", "1 KB", "read_mb_per_s", 1.2),
    Goal("consume warm, Java, 100 B, MB/s", "java 100 B", "read_mb_per_s", 1.2),
    Goal("consume warm, Java, 1 KB, MB/s", "java 1 KB", "read_mb_per_s", 1.2),
    Goal("end to end at 1,000 records/s, p50, ms", "latency at 1000", "p50_ms", 0.8),
    Goal("end to end at 1,000 records/s, p99, ms", "latency at 1000", "p99_ms", 0.8),
    Goal("start to the first answer, ms", "start", "start_ms", 0.1),
    Goal("resident memory under load (1 KB at 50 MB/s), MB", "1 KB at 50 MB/s", "rss_mb", 0.2),
    Goal("10,000 partitions, resident memory, MB", "10000 partitions", "rss_mb", 1.0),
    Goal("10,000 partitions, start after a clean stop, ms", "10000 partitions", "restart_clean_ms", 1.0),
    Goal("10,000 partitions, start after kill -9, ms", "10000 partitions", "restart_killed_ms", 1.0),
    Goal("10,000 partitions, CPU at rest, %", "10000 partitions", "idle_cpu_percent", 1.0),
    Goal("recovery after kill -9, warm page cache, ms", "recovery warm", "recovered_ms", 0.5),
    Goal("recovery after kill -9, cold page cache, ms", "recovery cold", "recovered_ms", 0.5),
    Goal("broker CPU-s per GB, produce 1 KB at 50 MB/s", "1 KB at 50 MB/s", "cpu_s_per_gb", 0.7),
    Goal(
        "broker CPU-s per GB, produce 1 KB at 50 MB/s, 16 KB batches",
        "1 KB at 50 MB/s, 16 KB batches",
        "cpu_s_per_gb",
        0.7,
    ),
    Goal("broker CPU-s per GB, produce 100 B at 20 MB/s", "100 B at 20 MB/s", "cpu_s_per_gb", 0.7),
    Goal(
        "broker CPU-s per GB, produce 100 B at 20 MB/s, 16 KB batches",
        "100 B at 20 MB/s, 16 KB batches",
        "cpu_s_per_gb",
        0.7,
    ),
    Goal("broker CPU-s per GB, fetch 1 KB", "1 KB", "read_cpu_s_per_gb", 0.7),
    Goal("broker CPU-s per GB, fetch 100 B", "100 B", "read_cpu_s_per_gb", 0.7),
    Goal("broker CPU-s per GB, fetch 1 KB of 16 KB batches", "1 KB, 16 KB batches", "read_cpu_s_per_gb", 0.7),
)


@dataclass(frozen=True, slots=True)
class Judged:
    goal: Goal
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs if self.theirs else float("inf")

    @property
    def reached(self) -> bool:
        return self.goal.is_reached(self.ratio)


def judge(rows: dict[str, Figures]) -> Iterator[tuple[Goal, Judged | None]]:
    """Every goal, with its figures where they were measured."""
    for goal in GOALS:
        row = rows.get(goal.row)
        found = None if row is None else against_best_peer(row, goal.figure)
        yield goal, None if found is None else Judged(goal, *found)


def against_best_peer(row: Figures, figure: str) -> tuple[float, float] | None:
    """Our median and that of the peer that does best in this figure."""
    medians = {name: found[figure]["median"] for name, found in row["systems"].items() if figure in found}
    theirs = [medians[name] for name in PEERS if name in medians]
    if OURS not in medians or not theirs:
        return None
    return medians[OURS], max(theirs) if FIGURES[figure].more_is_better else min(theirs)
