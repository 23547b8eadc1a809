"""What the sender counts, under Kafka's names (`producer-metrics`, by topic in `producer-topic-metrics`): per
batch and per request, never per record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from ottla.client.metrics import Metrics
from ottla.client.producing.batch import Batch

if TYPE_CHECKING:
    from ottla.client.producing.accumulator import Accumulator

GROUP: Final = "producer-metrics"


class SenderMetrics:
    def __init__(self, metrics: Metrics, accumulator: Accumulator, in_flight: Callable[[], int]) -> None:
        self._metrics = metrics
        self._sent = metrics.counter(GROUP, "record-send")
        self._retries = metrics.counter(GROUP, "record-retry")
        self._errors = metrics.counter(GROUP, "record-error")
        self._splits = metrics.counter(GROUP, "batch-split")
        self._bytes = metrics.counter(GROUP, "byte")
        self._batch_size = metrics.meter(GROUP, "batch-size")
        self._compression = metrics.meter(GROUP, "compression-rate")
        self._queue_time = metrics.meter(GROUP, "record-queue-time")
        self._records_per_request = metrics.meter(GROUP, "records-per-request")
        self._record_size = metrics.meter(GROUP, "record-size")
        self._latency = metrics.meter(GROUP, "request-latency")
        self._throttle = metrics.meter(GROUP, "produce-throttle-time")
        memory = accumulator.memory
        metrics.gauge(GROUP, "requests-in-flight", in_flight)
        metrics.gauge(GROUP, "buffer-total-bytes", lambda: memory.total_bytes)
        metrics.gauge(GROUP, "buffer-available-bytes", lambda: memory.free_bytes)
        metrics.gauge(GROUP, "waiting-threads", lambda: len(memory.waiting))

    def left(self, batches: Sequence[Batch], size_bytes: int, now_ms: float) -> None:
        """A request leaves."""
        records = 0
        for batch in batches:
            records += batch.count
            self._batch_size.observe(batch.encoded_bytes)
            self._compression.observe(batch.encoded_bytes / max(batch.size_bytes, 1))
            self._queue_time.observe(now_ms - batch.created_ms)
            self._record_size.observe(batch.size_bytes / max(batch.count, 1))
        self._sent.add(records)
        self._bytes.add(size_bytes)
        self._records_per_request.observe(records)

    def answered(self, latency_ms: float, throttle_ms: int) -> None:
        self._latency.observe(latency_ms)
        self._throttle.observe(throttle_ms)

    def retried(self, batch: Batch) -> None:
        self._retries.add(batch.count)
        self._metrics.count(f"producer-topic-metrics:{batch.lane.tp.topic}", "record-retry", batch.count)

    def failed(self, batch: Batch) -> None:
        self._errors.add(batch.count)
        self._metrics.count(f"producer-topic-metrics:{batch.lane.tp.topic}", "record-error", batch.count)

    def split(self) -> None:
        self._splits.add(1)
