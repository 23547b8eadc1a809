"""Records offered to a topic by librdkafka: what they are, at which rate, and what the broker paid for them.

MB is 10^6 bytes, GB 10^9, of record values: what the user wanted moved, not what the protocol adds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SMALL_BATCH, LARGE_BATCH = 16 * 1024, 1 << 20
CARRIED_SHARE = 0.95
UNLIMITED_MB_PER_S = 100_000.0

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Produce:
    """Records offered at a fixed rate, or as fast as it goes, in batches of a size."""

    record_bytes: int
    batch_bytes: int
    acks: str = "1"
    partitions: int = 1
    offered_mb_per_s: float = 200.0
    seconds: float = 5.0
    unlimited: bool = False
    compression: str = "none"

    @property
    def name(self) -> str:
        size = (
            f"{self.batch_bytes // 1024} KB" if self.batch_bytes < 1 << 20 else f"{self.batch_bytes >> 20} MB"
        )
        record = f"{self.record_bytes} B" if self.record_bytes < 1000 else f"{self.record_bytes // 1000} KB"
        partitions = "1 partition" if self.partitions == 1 else f"{self.partitions} partitions"
        compression = "" if self.compression == "none" else f", {self.compression}"
        pace = ", as fast as it goes" if self.unlimited else ""
        return f"{record} records, {size} batches, acks={self.acks}, {partitions}{compression}{pace}"

    @property
    def mb_per_s_max(self) -> float:
        """About the most that will be written in a second."""
        if not self.unlimited:
            return self.offered_mb_per_s
        is_light = self.record_bytes >= 1000 and self.batch_bytes > SMALL_BATCH and self.compression == "none"
        return 1300.0 if is_light else 500.0

    def arguments(self, address: str, topic: str) -> list[object]:
        """For the load generator."""
        rate = UNLIMITED_MB_PER_S if self.unlimited else self.offered_mb_per_s
        conf = [f"request.required.acks={self.acks}", f"compression.codec={self.compression}"]
        if self.unlimited:
            # What waits in the client is bounded, so that the end of the run is not one long drain.
            conf.append("queue.buffering.max.kbytes=65536")
        return ["produce", address, topic, self.record_bytes, self.batch_bytes, rate, self.seconds, *conf]


def costs(used: Figures, mb: float, requests: int) -> Figures:
    """What the broker's CPU time comes to per GB and per 1,000 requests."""
    cpu_s = used["broker_cpu_s"]
    return {
        **used,
        "cpu_s_per_gb": cpu_s / mb * 1000 if mb else None,
        "cpu_s_per_1000_requests": cpu_s / requests * 1000 if requests else None,
        "system_share": used["broker_system_s"] / cpu_s if cpu_s else None,
    }
