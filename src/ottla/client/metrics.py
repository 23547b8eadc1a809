"""What a client counts about itself, under Kafka's metric names, for `client.metrics()`.

Three kinds, each in a group (`producer-metrics`, `consumer-fetch-manager-metrics`, ...):

- `count` adds up: `record-send` is shown as `record-send-total` and, per second, `record-send-rate`;
- `observe` notes single values: `request-latency` is shown as `request-latency-avg` and
  `request-latency-max`;
- `gauge` asks a function when somebody looks, and is shown under its own name (`connection-count`).

A rate, average or maximum is that of the last 30 to 60 seconds: two windows are kept, the one that runs and
the one before it, as in Kafka. One call costs two dictionary lookups and a look at the clock, so call it per
batch or request and never per record; who counts often keeps the object (`counter`, `meter`) and calls that.
Nothing is locked: the core's state is touched by one flow at a time, and a snapshot taken beside it is at
worst one call old.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from ottla.ports.clock import Clock

WINDOW_MS: Final = 30_000
"""`metrics.sample.window.ms` of Kafka's clients."""
ELAPSED_MS_MIN: Final = 1_000
"""A rate over less than this would be a guess: the first call alone would show as thousands per second."""

Snapshot: TypeAlias = dict[str, dict[str, float]]
"""Values by name, by group."""


class Counter:
    """A number that only grows, and how fast it grew lately."""

    __slots__ = ("total", "_clock", "_started_ms", "_current", "_before_started_ms", "_before")

    def __init__(self, clock: Clock) -> None:
        self.total: float = 0
        self._clock = clock
        self._started_ms = self._before_started_ms = clock.monotonic_ms()
        self._current: float = 0
        self._before: float = 0

    def add(self, amount: float = 1) -> None:
        self.total += amount
        now_ms = self._clock.monotonic_ms()
        if now_ms - self._started_ms >= WINDOW_MS:
            self._roll(now_ms)
        self._current += amount

    def rate(self) -> float:
        """Per second."""
        now_ms = self._clock.monotonic_ms()
        if now_ms - self._started_ms >= WINDOW_MS:
            self._roll(now_ms)
        elapsed_ms = max(now_ms - self._before_started_ms, ELAPSED_MS_MIN)
        return (self._before + self._current) * 1000 / elapsed_ms

    def _roll(self, now_ms: float) -> None:
        elapsed_ms = now_ms - self._started_ms
        if elapsed_ms >= 2 * WINDOW_MS:  # nothing happened in the whole window before this one
            self._before = 0
            self._before_started_ms = now_ms - WINDOW_MS
            self._started_ms = now_ms
        else:
            self._before = self._current
            self._before_started_ms = self._started_ms
            self._started_ms += WINDOW_MS
        self._current = 0


class Meter:
    """The average and the largest of the values seen lately."""

    __slots__ = ("_clock", "_started_ms", "_sum", "_count", "_max", "_before")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._started_ms = clock.monotonic_ms()
        self._sum: float = 0
        self._count = 0
        self._max: float = 0
        self._before: tuple[float, int, float] = (0, 0, 0)

    def observe(self, value: float) -> None:
        now_ms = self._clock.monotonic_ms()
        if now_ms - self._started_ms >= WINDOW_MS:
            self._roll(now_ms)
        if not self._count or value > self._max:
            self._max = value
        self._sum += value
        self._count += 1

    def average_and_max(self) -> tuple[float, float]:
        """Both NaN where nothing was seen lately, as Kafka shows it."""
        now_ms = self._clock.monotonic_ms()
        if now_ms - self._started_ms >= WINDOW_MS:
            self._roll(now_ms)
        before_sum, before_count, before_max = self._before
        count = before_count + self._count
        if not count:
            return float("nan"), float("nan")
        largest = [at_most for at_most, of in ((self._max, self._count), (before_max, before_count)) if of]
        return (before_sum + self._sum) / count, max(largest)

    def _roll(self, now_ms: float) -> None:
        if now_ms - self._started_ms >= 2 * WINDOW_MS:
            self._before = (0, 0, 0)
            self._started_ms = now_ms
        else:
            self._before = (self._sum, self._count, self._max)
            self._started_ms += WINDOW_MS
        self._sum = self._count = 0
        self._max = 0


class Metrics:
    """All that one client counts. A group may be any text; groups of a topic or a broker are named
    `producer-topic-metrics:clicks`, `producer-node-metrics:1`.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._counters: dict[str, dict[str, Counter]] = {}
        self._meters: dict[str, dict[str, Meter]] = {}
        self._gauges: dict[str, dict[str, Callable[[], float]]] = {}
        self._before: list[Callable[[], None]] = []

    def counter(self, group: str, name: str) -> Counter:
        """The counter itself; `record-send` and `record-send-total` are the same one."""
        counters = self._counters.setdefault(group, {})
        name = name.removesuffix("-total")
        counter = counters.get(name)
        if counter is None:
            counter = counters[name] = Counter(self._clock)
        return counter

    def meter(self, group: str, name: str) -> Meter:
        meters = self._meters.setdefault(group, {})
        meter = meters.get(name)
        if meter is None:
            meter = meters[name] = Meter(self._clock)
        return meter

    def count(self, group: str, name: str, n: float = 1) -> None:
        """Adds: shown as `<name>-total` and `<name>-rate`."""
        try:
            counter = self._counters[group][name]
        except KeyError:
            counter = self.counter(group, name)
        counter.add(n)

    def observe(self, group: str, name: str, value: float) -> None:
        """Notes one value: shown as `<name>-avg` and `<name>-max`."""
        try:
            meter = self._meters[group][name]
        except KeyError:
            meter = self.meter(group, name)
        meter.observe(value)

    def gauge(self, group: str, name: str, value: Callable[[], float]) -> None:
        """Shows what the function gives, under just this name; a second one takes the first one's place."""
        self._gauges.setdefault(group, {})[name] = value

    def before_snapshot(self, function: Callable[[], None]) -> None:
        """Called before anybody looks: whoever counts in plain numbers hands them in then."""
        self._before.append(function)

    def forget(self, group: str) -> None:
        """Drops a group whose subject is gone (a broker that left, a partition that was revoked)."""
        for kind in (self._counters, self._meters, self._gauges):
            kind.pop(group, None)

    def snapshot(self) -> Snapshot:
        """Everything as it is now: {group: {name: value}}, both in order."""
        for function in self._before:
            function()
        shown: Snapshot = {}
        # Copies: whoever looks may be another thread than the one that counts.
        for group, counters in list(self._counters.items()):
            values = shown.setdefault(group, {})
            for name, counter in list(counters.items()):
                values[f"{name}-total"] = counter.total
                values[f"{name}-rate"] = counter.rate()
        for group, meters in list(self._meters.items()):
            values = shown.setdefault(group, {})
            for name, meter in list(meters.items()):
                values[f"{name}-avg"], values[f"{name}-max"] = meter.average_and_max()
        for group, gauges in list(self._gauges.items()):
            values = shown.setdefault(group, {})
            for name, value in list(gauges.items()):
                values[name] = value()
        return {group: dict(sorted(values.items())) for group, values in sorted(shown.items())}
