"""How long to wait before trying again: exponential with jitter, until a deadline.

Kafka's rule (KIP-580): `retry.backoff.ms` doubled per attempt up to `retry.backoff.max.ms`, each wait moved
by up to 20 % so that clients which failed together do not come back together.
"""

from __future__ import annotations

from collections.abc import Callable

RETRY_BACKOFF_MS = 100
RETRY_BACKOFF_MS_MAX = 1_000
JITTER = 0.2


class Backoff:
    """The waits of one operation. `chance()` gives a number in [0, 1)."""

    def __init__(
        self,
        deadline_ms: float,
        chance: Callable[[], float],
        *,
        first_ms: float = RETRY_BACKOFF_MS,
        max_ms: float = RETRY_BACKOFF_MS_MAX,
    ) -> None:
        self.deadline_ms = deadline_ms  # on the monotonic clock
        self._chance = chance
        self._first_ms = first_ms
        self._max_ms = max_ms
        self.attempts = 0

    def next_wait_ms(self, now_ms: float) -> float | None:
        """The next wait, cut at the deadline; None when the deadline has passed."""
        left_ms = self.deadline_ms - now_ms
        if left_ms <= 0:
            return None
        wait_ms = min(self._first_ms * 2.0**self.attempts, self._max_ms)
        wait_ms *= 1.0 + JITTER * (2.0 * self._chance() - 1.0)
        self.attempts = min(self.attempts + 1, 30)
        return min(wait_ms, left_ms)
