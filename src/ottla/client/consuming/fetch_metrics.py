"""What the fetcher counts, under the names of Kafka's consumer: of all, per topic, and per partition.

Counting happens per answer and per `take`, never per record; lags are worked out only when somebody looks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ottla.client.consuming.positions import UNKNOWN, PartitionState, Positions

if TYPE_CHECKING:
    from ottla.client.metrics import Counter, Metrics

GROUP: Final = "consumer-fetch-manager-metrics"
"""Of a topic: `GROUP:topic`; of a partition: `GROUP:topic-0`."""

_NONE: Final = float("nan")


class FetchMetrics:
    def __init__(self, metrics: Metrics, positions: Positions, read_committed: bool) -> None:
        self._metrics = metrics
        self._positions = positions
        self._read_committed = read_committed
        self._records = metrics.counter(GROUP, "records-consumed")
        self._bytes = metrics.counter(GROUP, "bytes-consumed")
        self._by_topic: dict[str, tuple[Counter, Counter]] = {}
        metrics.gauge(GROUP, "assigned-partitions", lambda: len(positions.partitions))
        metrics.gauge(GROUP, "records-lag-max", self._lag_max)
        metrics.gauge(GROUP, "records-lead-min", self._lead_min)

    def assigned(self, state: PartitionState) -> None:
        group = f"{GROUP}:{state.tp}"
        self._metrics.gauge(group, "records-lag", lambda: self._lag(state))
        self._metrics.gauge(group, "records-lead", lambda: self._lead(state))
        self._metrics.gauge(group, "preferred-read-replica", lambda: state.preferred_replica)

    def revoked(self, state: PartitionState) -> None:
        self._metrics.forget(f"{GROUP}:{state.tp}")

    def answered(self, latency_ms: float, throttle_time_ms: int) -> None:
        metrics = self._metrics
        metrics.count(GROUP, "fetch")
        metrics.observe(GROUP, "fetch-latency", latency_ms)
        metrics.observe(GROUP, "fetch-throttle-time", throttle_time_ms)

    def fetched(self, size_bytes: int) -> None:
        self._metrics.observe(GROUP, "fetch-size", size_bytes)

    def consumed(self, state: PartitionState, count: int, size_bytes: int) -> None:
        self._records.add(count)
        self._bytes.add(size_bytes)
        topic = state.tp.topic
        counters = self._by_topic.get(topic)
        if counters is None:
            group = f"{GROUP}:{topic}"
            counters = self._by_topic[topic] = (
                self._metrics.counter(group, "records-consumed"),
                self._metrics.counter(group, "bytes-consumed"),
            )
        counters[0].add(count)
        counters[1].add(size_bytes)

    def used_up(self, records: int) -> None:
        """A response was handed out to its end."""
        self._metrics.observe(GROUP, "records-per-request", records)

    def _lag(self, state: PartitionState) -> float:
        lag = state.lag(self._read_committed)
        return _NONE if lag is None else lag

    def _lead(self, state: PartitionState) -> float:
        if state.position is None or state.log_start_offset == UNKNOWN:
            return _NONE
        return state.position.offset - state.log_start_offset

    def _lag_max(self) -> float:
        lags = [self._lag(state) for state in list(self._positions.partitions.values())]
        return max((lag for lag in lags if lag == lag), default=_NONE)

    def _lead_min(self) -> float:
        leads = [self._lead(state) for state in list(self._positions.partitions.values())]
        return min((lead for lead in leads if lead == lead), default=_NONE)
