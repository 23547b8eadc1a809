"""The configuration of one partition's log, resolved and frozen.

`metadata` resolves the layers (default, static, dynamic broker, topic) to one of these; `log/` receives it
whole and never looks anything up. The field names are Kafka's topic-level keys with underscores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LONG_MAX: Final = 2**63 - 1

COMPRESSION_PRODUCER: Final = "producer"
"""`compression.type=producer`: keep whatever codec the producer chose."""


@dataclass(frozen=True, slots=True)
class LogConfig:
    segment_bytes: int = 1024 * 1024 * 1024
    segment_ms: int = 7 * 24 * 3600 * 1000
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 * 1024 * 1024
    index_interval_bytes: int = 4096
    flush_messages: int = LONG_MAX
    flush_ms: int = LONG_MAX
    retention_bytes: int = -1
    retention_ms: int = 7 * 24 * 3600 * 1000
    file_delete_delay_ms: int = 60_000
    cleanup_policy: frozenset[str] = frozenset({"delete"})
    """A subset of {"delete", "compact"}; empty keeps everything (KIP-1018)."""
    delete_retention_ms: int = 24 * 3600 * 1000
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = LONG_MAX
    min_cleanable_dirty_ratio: float = 0.5
    max_message_bytes: int = 1024 * 1024 + 12
    message_timestamp_type: str = "CreateTime"
    message_timestamp_before_max_ms: int = LONG_MAX
    message_timestamp_after_max_ms: int = 3600 * 1000
    compression_type: str = COMPRESSION_PRODUCER
    compression_gzip_level: int = -1
    compression_lz4_level: int = 9
    compression_zstd_level: int = 3
    preallocate: bool = False
    min_insync_replicas: int = 1
    unclean_leader_election_enable: bool = False

    @property
    def compact(self) -> bool:
        return "compact" in self.cleanup_policy

    @property
    def segment_ms_max(self) -> int:
        """How old an active segment may get: on a compacted topic what has to be compacted has to be rolled
        before.
        """
        if self.compact and self.max_compaction_lag_ms > 0:
            return min(self.max_compaction_lag_ms, self.segment_ms)
        return self.segment_ms

    @property
    def delete(self) -> bool:
        return "delete" in self.cleanup_policy
