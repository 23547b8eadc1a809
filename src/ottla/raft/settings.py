"""The times of the quorum: `controller.quorum.*` with Kafka's defaults."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RaftSettings:
    election_timeout_ms: int = 1000
    fetch_timeout_ms: int = 2000
    election_backoff_max_ms: int = 1000
    request_timeout_ms: int = 2000
    retry_backoff_ms: int = 20
    retry_backoff_max_ms: int = 1000
    discovery_interval_ms: int = 100
    """Between two questions of a node that knows no leader."""
    fetch_wait_max_ms: int = 500
    """How long a leader may hold a fetch that finds nothing new."""
    fetch_bytes_max: int = 8 * 1024 * 1024
    snapshot_bytes_max: int = 1024 * 1024
    add_voter_timeout_ms: int = 30_000

    @property
    def check_quorum_ms(self) -> float:
        """A leader that half of the voters did not ask for this long resigns (KIP-595)."""
        return self.fetch_timeout_ms * 1.5
