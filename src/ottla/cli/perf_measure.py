"""Measuring a load while it runs: how many, how fast, how late.

`Latencies` counts values in buckets that grow by one percent, so that a billion of them take no more room
than a thousand and a percentile is right to one percent. `Measurement` takes what a loop has done, step by
step, and tells a `Display` once per interval: a bar on a terminal, lines elsewhere.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

BYTES_PER_MB: Final = 1_000_000
PERCENTILES: Final = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p99.9": 99.9}

_GROWTH: Final = math.log(1.01)
_SMALLEST_MS: Final = 0.001
"""Below a microsecond everything is in the first bucket."""


class Latencies:
    """Values in milliseconds: their count, sum, largest and percentiles."""

    def __init__(self) -> None:
        self.count = 0
        self.sum_ms = 0.0
        self.max_ms = 0.0
        self._buckets: dict[int, int] = {}

    def add(self, value_ms: float, count: int = 1) -> None:
        """So many things that took so long."""
        bucket = int(math.log(value_ms / _SMALLEST_MS) / _GROWTH) if value_ms > _SMALLEST_MS else 0
        self._buckets[bucket] = self._buckets.get(bucket, 0) + count
        self.count += count
        self.sum_ms += value_ms * count
        if value_ms > self.max_ms:
            self.max_ms = value_ms

    @property
    def average_ms(self) -> float:
        return self.sum_ms / self.count if self.count else 0.0

    def percentile(self, percent: float) -> float:
        """The value that so many percent do not exceed; 0 when nothing was seen."""
        wanted = math.ceil(self.count * percent / 100)
        seen = 0
        for bucket in sorted(self._buckets):
            seen += self._buckets[bucket]
            if seen >= wanted:
                return min(_SMALLEST_MS * math.exp((bucket + 1) * _GROWTH), self.max_ms)
        return 0.0

    def summary(self) -> dict[str, float]:
        values = {"avg": self.average_ms}
        values.update((name, self.percentile(percent)) for name, percent in PERCENTILES.items())
        values["max"] = self.max_ms
        return {name: round(value, 3) for name, value in values.items()}


@dataclass(slots=True)
class Interval:
    """What happened between two reports."""

    records: int
    bytes: int
    seconds: float
    latencies: Latencies
    all_records: int


class Display(Protocol):
    """Whoever is told how it goes."""

    def show(self, interval: Interval) -> None: ...

    def close(self) -> None: ...


class Silence:
    def show(self, interval: Interval) -> None:
        pass

    def close(self) -> None:
        pass


class Lines:
    """One line per interval on stderr."""

    def __init__(self, verb: str) -> None:
        self._verb = verb

    def show(self, interval: Interval) -> None:
        fast = speed(interval.records, interval.bytes, interval.seconds)
        text = f"{interval.records:,} records {self._verb}, {fast}"
        late = interval.latencies
        if late.count:
            text += f", latency {late.average_ms:.1f} ms avg, {late.max_ms:.1f} ms max"
        print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        pass


class Bar:
    """A progress bar on stderr, for people."""

    def __init__(self, verb: str, total: int | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn(verb),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %" if total else "{task.completed:,}"),
            TextColumn("{task.fields[speed]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task("", total=total, speed="")
        self._progress.start()

    def show(self, interval: Interval) -> None:
        text = speed(interval.records, interval.bytes, interval.seconds)
        if interval.latencies.count:
            text += f", {interval.latencies.average_ms:.1f} ms"
        self._progress.update(self._task, completed=interval.all_records, speed=text)

    def close(self) -> None:
        self._progress.stop()


BAR_INTERVAL_S: Final = 0.25


def display_for(verb: str, total: int | None, interval_s: float, *, quiet: bool) -> tuple[Display, float]:
    """What suits the terminal, and how often it wants to be told."""
    if quiet:
        return Silence(), math.inf
    if sys.stderr.isatty():
        return Bar(verb, total), min(interval_s, BAR_INTERVAL_S)
    return Lines(verb), interval_s


class Measurement:
    """What a load has done so far. `add` is for the loop; latencies may come from another thread."""

    def __init__(self, display: Display, interval_s: float) -> None:
        self.records = 0
        self.bytes = 0
        self.latencies = Latencies()
        self._display = display
        self._interval_s = interval_s
        self._recent = Latencies()
        self._began = self._reported = time.perf_counter()
        self._ended: float | None = None
        self._reported_records = 0
        self._reported_bytes = 0

    def start(self) -> None:
        """The clock begins to run here, not when the clients were made."""
        self._began = self._reported = time.perf_counter()

    def add(self, records: int, size_bytes: int) -> None:
        self.records += records
        self.bytes += size_bytes
        now = time.perf_counter()
        if now - self._reported >= self._interval_s:
            recent, self._recent = self._recent, Latencies()
            interval = Interval(
                self.records - self._reported_records,
                self.bytes - self._reported_bytes,
                now - self._reported,
                recent,
                self.records,
            )
            self._reported, self._reported_records, self._reported_bytes = now, self.records, self.bytes
            self._display.show(interval)

    def late(self, value_ms: float, count: int = 1) -> None:
        self.latencies.add(value_ms, count)
        self._recent.add(value_ms, count)

    def stop(self) -> None:
        if self._ended is None:
            self._ended = time.perf_counter()
            self._display.close()

    @property
    def seconds(self) -> float:
        return max((self._ended or time.perf_counter()) - self._began, 1e-9)


@dataclass(slots=True)
class Result:
    """What a load came to."""

    verb: str
    topic: str
    api: str
    measurement: Measurement
    failed: int = 0
    errors: dict[str, int] = field(default_factory=dict)
    interrupted: bool = False
    latency_name: str = "latency"
    more: Mapping[str, Any] = field(default_factory=dict)
    """What else was measured: percentiles under a name that ends in `_ms`, or single values."""
    metrics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def text(self) -> str:
        measured = self.measurement
        lines = [
            f"{measured.records:,} records {self.verb} in {measured.seconds:.2f} s: "
            f"{speed(measured.records, measured.bytes, measured.seconds)}"
            + (" (interrupted)" if self.interrupted else "")
        ]
        if measured.latencies.count:
            lines.append(f"{self.latency_name} in ms: {percentile_text(measured.latencies.summary())}")
        for name, value in self.more.items():
            words = name.replace("_", " ")
            if isinstance(value, dict):
                lines.append(f"{words.removesuffix(' ms')} in ms: {percentile_text(value)}")
            elif value is not None:
                lines.append(f"{words.removesuffix(' s')} {value:.3f} s")
        if self.failed:
            kinds = ", ".join(f"{name} ({count:,})" for name, count in sorted(self.errors.items()))
            lines.append(f"{self.failed:,} records failed: {kinds}")
        return "\n".join(lines)

    def json(self) -> dict[str, Any]:
        measured = self.measurement
        shown: dict[str, Any] = {
            "topic": self.topic,
            "api": self.api,
            "records": measured.records,
            "bytes": measured.bytes,
            "seconds": round(measured.seconds, 6),
            "records_per_second": round(measured.records / measured.seconds, 1),
            "mb_per_second": round(measured.bytes / BYTES_PER_MB / measured.seconds, 3),
            "failed": self.failed,
            "interrupted": self.interrupted,
        }
        if measured.latencies.count:
            shown[f"{self.latency_name.replace(' ', '_')}_ms"] = measured.latencies.summary()
        shown.update(self.more)
        if self.errors:
            shown["errors"] = self.errors
        return shown


def speed(records: int, size_bytes: int, seconds: float) -> str:
    return f"{records / seconds:,.0f} records/s, {size_bytes / BYTES_PER_MB / seconds:,.2f} MB/s"


def percentile_text(summary: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:,.2f}" for name, value in summary.items())
