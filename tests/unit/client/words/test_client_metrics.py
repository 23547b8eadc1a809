"""What a client counts about itself (`ottla.client.metrics`): totals, rates, averages, maxima, gauges."""

from __future__ import annotations

import math

from ottla.client.metrics import WINDOW_MS, Metrics


class Hand:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.ms = 1_000.0

    def now_ms(self) -> int:
        return int(self.ms)

    def monotonic_ms(self) -> float:
        return self.ms


def test_a_count_is_shown_as_a_total_and_a_rate_per_second() -> None:
    clock = Hand()
    metrics = Metrics(clock)
    for _ in range(10):
        metrics.count("producer-metrics", "record-send", 30)
        clock.ms += 1_000
    shown = metrics.snapshot()["producer-metrics"]
    assert shown == {"record-send-rate": 30.0, "record-send-total": 300}


def test_a_rate_forgets_what_lies_more_than_two_windows_back_and_the_total_does_not() -> None:
    clock = Hand()
    metrics = Metrics(clock)
    metrics.count("g", "bytes", 6_000)
    clock.ms += WINDOW_MS + 10_000
    metrics.count("g", "bytes", 400)
    assert metrics.snapshot()["g"]["bytes-rate"] == 6_400 / 40  # both windows
    clock.ms += WINDOW_MS
    assert metrics.snapshot()["g"]["bytes-rate"] == 400 / 40
    clock.ms += 10 * WINDOW_MS
    assert metrics.snapshot()["g"] == {"bytes-rate": 0.0, "bytes-total": 6_400}


def test_the_first_count_alone_is_not_a_rate_of_thousands() -> None:
    metrics = Metrics(Hand())
    metrics.count("g", "requests", 5)
    assert metrics.snapshot()["g"]["requests-rate"] == 5.0


def test_observed_values_are_shown_as_average_and_maximum_of_the_last_windows() -> None:
    clock = Hand()
    metrics = Metrics(clock)
    for value in (3, 9, 6):
        metrics.observe("g", "request-latency", value)
    assert metrics.snapshot()["g"] == {"request-latency-avg": 6.0, "request-latency-max": 9}
    clock.ms += WINDOW_MS
    metrics.observe("g", "request-latency", 2)
    assert metrics.snapshot()["g"] == {"request-latency-avg": 5.0, "request-latency-max": 9}
    clock.ms += WINDOW_MS
    assert metrics.snapshot()["g"] == {"request-latency-avg": 2.0, "request-latency-max": 2}
    clock.ms += 2 * WINDOW_MS
    assert all(math.isnan(value) for value in metrics.snapshot()["g"].values())


def test_a_maximum_of_negative_values_is_one_of_them() -> None:
    metrics = Metrics(Hand())
    metrics.observe("g", "drift", -7)
    assert metrics.snapshot()["g"]["drift-max"] == -7


def test_a_gauge_is_asked_when_somebody_looks() -> None:
    metrics = Metrics(Hand())
    open_connections: list[int] = []
    metrics.gauge("g", "connection-count", lambda: len(open_connections))
    assert metrics.snapshot() == {"g": {"connection-count": 0}}
    open_connections.append(1)
    assert metrics.snapshot() == {"g": {"connection-count": 1}}


def test_a_counter_may_be_kept_and_its_name_written_with_or_without_total() -> None:
    metrics = Metrics(Hand())
    counter = metrics.counter("g", "record-send-total")
    counter.add(2)
    metrics.count("g", "record-send", 3)
    metrics.count("g", "record-send-total", 4)
    assert metrics.snapshot()["g"]["record-send-total"] == 9


def test_groups_are_shown_apart_in_order_and_can_be_forgotten() -> None:
    metrics = Metrics(Hand())
    metrics.count("b", "y")
    metrics.count("b", "x")
    metrics.observe("a", "z", 1)
    shown = metrics.snapshot()
    assert list(shown) == ["a", "b"]
    assert list(shown["b"]) == ["x-rate", "x-total", "y-rate", "y-total"]
    metrics.forget("b")
    metrics.forget("never there")
    assert list(metrics.snapshot()) == ["a"]


def test_who_counts_in_plain_numbers_hands_them_in_before_somebody_looks() -> None:
    metrics = Metrics(Hand())
    seen = [0]

    def hand_in() -> None:
        metrics.count("g", "requests", seen[0])
        seen[0] = 0

    metrics.before_snapshot(hand_in)
    seen[0] = 7
    assert metrics.snapshot()["g"]["requests-total"] == 7
    assert metrics.snapshot()["g"]["requests-total"] == 7
