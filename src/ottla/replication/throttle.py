"""A limit on the bytes per second that replicas under reassignment take, so that clients keep their share.

A bucket of one second's bytes: what is spent runs off at the rate, and while more than a second's worth is in
it nobody listed gets anything. A single batch may overfill it; then the pause is longer.
"""

from __future__ import annotations


class Throttle:
    __slots__ = ("rate_bytes_per_s", "_spent_bytes", "_at_ms")

    def __init__(self, rate_bytes_per_s: int) -> None:
        self.rate_bytes_per_s = rate_bytes_per_s
        self._spent_bytes = 0.0
        self._at_ms = 0.0

    def spend(self, size_bytes: int, now_ms: float) -> None:
        self._run_off(now_ms)
        self._spent_bytes += size_bytes

    def wait_ms(self, now_ms: float) -> float:
        """How long until something may be spent again; 0 when it may now."""
        self._run_off(now_ms)
        over_bytes = self._spent_bytes - self.rate_bytes_per_s
        if over_bytes < 0:
            return 0.0
        return 1000.0 if self.rate_bytes_per_s == 0 else max(1.0, over_bytes / self.rate_bytes_per_s * 1000)

    def _run_off(self, now_ms: float) -> None:
        elapsed_s = max(0.0, now_ms - self._at_ms) / 1000
        self._at_ms = now_ms
        self._spent_bytes = max(0.0, self._spent_bytes - elapsed_s * self.rate_bytes_per_s)


def is_listed(throttled_replicas: tuple[str, ...], partition: int, node_id: int) -> bool:
    """Whether a topic's list names the replica: as `partition:broker`, or all of them as `*`."""
    return "*" in throttled_replicas or f"{partition}:{node_id}" in throttled_replicas
