"""Requests, responses and bytes of a client, counted under Kafka's names.

Totals are plain numbers, asked for by whoever looks; rates are brought up to date a few times a second, since
a look at the clock for each of them would be a tenth of what a small request costs.
"""

from __future__ import annotations

from typing import Final

from ottla.client.metrics import Metrics
from ottla.wire.primitives import Part

UPDATE_MS: Final = 200.0


class Traffic:
    __slots__ = (
        *("requests", "responses", "bytes_out", "bytes_in", "_latency", "_counters", "_noted", "_update_ms"),
    )

    def __init__(self, metrics: Metrics, group: str) -> None:
        self.requests = 0
        self.responses = 0
        self.bytes_out = 0
        self.bytes_in = 0
        self._latency = metrics.meter(group, "request-latency")
        names = ("request", "response", "outgoing-byte", "incoming-byte")
        self._counters = [metrics.counter(group, name) for name in names]
        self._noted = [0, 0, 0, 0]
        self._update_ms = 0.0
        metrics.before_snapshot(self._update)
        metrics.gauge(group, "request-total", lambda: self.requests)
        metrics.gauge(group, "response-total", lambda: self.responses)
        metrics.gauge(group, "outgoing-byte-total", lambda: self.bytes_out)
        metrics.gauge(group, "incoming-byte-total", lambda: self.bytes_in)

    def sent(self, parts: list[Part], now_ms: float) -> None:
        self.requests += 1
        self.bytes_out += len(parts[0]) if len(parts) == 1 else sum(map(len, parts))
        if now_ms >= self._update_ms:
            self._update_ms = now_ms + UPDATE_MS
            self._update()

    def received(self, size_bytes: int, latency_ms: float) -> None:
        self.responses += 1
        self.bytes_in += size_bytes + 4
        self._latency.observe(latency_ms)

    def _update(self) -> None:
        now = [self.requests, self.responses, self.bytes_out, self.bytes_in]
        for counter, total, before in zip(self._counters, now, self._noted, strict=True):
            counter.add(total - before)
        self._noted = now
