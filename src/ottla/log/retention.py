"""Which segments may go: deletion policies, which can be plugged in.

A policy looks at the segments of a log, oldest first, and says how many from the front may be deleted. The
log asks its policies one after the other and keeps two rules itself: nothing at or above the high watermark
goes, and there is always an active segment (when even the active one has expired, the log rolls first, so
that an expired record does not stay because nobody writes any more).

The three of Kafka are here: by time (`retention.ms`), by size (`retention.bytes`) and by the log start
offset, which DeleteRecords moves. The last is not a matter of `cleanup.policy`: what was deleted on request
is gone for compacted topics too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ottla.log.segment import Segment
from ottla.model.log_config import LogConfig


class RetentionView(Protocol):
    """What a policy may know about the log."""

    @property
    def config(self) -> LogConfig: ...
    @property
    def size_bytes(self) -> int: ...
    @property
    def log_start_offset(self) -> int: ...


class DeletionPolicy(Protocol):
    def count_deletable(self, log: RetentionView, segments: Sequence[Segment], now_ms: int) -> int:
        """How many of `segments`, from the first on, may be deleted. The last one is the active segment."""
        ...


class DeleteByTime:
    """Segments whose newest record is older than `retention.ms` (-1: never)."""

    def count_deletable(self, log: RetentionView, segments: Sequence[Segment], now_ms: int) -> int:
        retention_ms = log.config.retention_ms
        if retention_ms < 0 or not log.config.delete:
            return 0
        count = 0
        for segment in segments:
            if now_ms - segment.largest_timestamp <= retention_ms:
                break
            count += 1
        return count


class DeleteBySize:
    """The oldest segments, as long as at least `retention.bytes` remain (-1: no limit)."""

    def count_deletable(self, log: RetentionView, segments: Sequence[Segment], now_ms: int) -> int:
        retention_bytes = log.config.retention_bytes
        if retention_bytes < 0 or not log.config.delete:
            return 0
        excess = log.size_bytes - retention_bytes
        count = 0
        for segment in segments:
            excess -= segment.size
            if excess < 0:
                break
            count += 1
        return count


class DeleteBeforeLogStart:
    """Segments all of whose records lie before the log start offset."""

    def count_deletable(self, log: RetentionView, segments: Sequence[Segment], now_ms: int) -> int:
        count = 0
        for following in segments[1:]:
            if following.base_offset > log.log_start_offset:
                break
            count += 1
        return count


KAFKA_POLICIES: tuple[DeletionPolicy, ...] = (DeleteBeforeLogStart(), DeleteBySize(), DeleteByTime())
