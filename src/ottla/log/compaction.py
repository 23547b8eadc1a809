"""What of a log may be compacted, how much that would be, and how it is described to whoever does it.

A compacted log has a clean part, in which every key is there at most once, and after it a dirty one. Where
the dirty part begins is in the cleaner's checkpoint (`Log.first_dirty_offset`). It may be cleaned up to the
segment that holds the first of: the active segment, the last stable offset (and with it the high watermark),
a segment with a record younger than `min.compaction.lag.ms`. Also nothing is cleaned that is not durable:
what recovery would have to scan has no holes in it.

These are Kafka's rules (LogCleanerManager), and so are the numbers by which the dirtiest log is found: the
bytes that may be cleaned, over these and the clean ones; and whether `max.compaction.lag.ms` has passed for a
record that was not compacted yet. The functions only look; the loop swaps (`Log.replace_segments`).
"""

from __future__ import annotations

import logging
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Final

from ottla.log.cleaning_job import CleanedSegment, CleaningJob, SegmentToClean
from ottla.log.log import Log
from ottla.log.segment import Segment
from ottla.log.turn import Turn
from ottla.model.log_config import LONG_MAX
from ottla.ports.effects import Steps

logger = logging.getLogger(__name__)

MAP_BYTES_MAX: Final = 2**31 - 1
"""Kafka's bound for the table of keys of one cleaner."""


@dataclass(frozen=True, slots=True)
class CleaningLimits:
    """What one cleaner may use: the `log.cleaner.` keys, divided by the number of cleaners."""

    map_bytes: int = 134_217_728
    map_load_factor: float = 0.9
    io_buffer_bytes: int = 524_288
    io_bytes_per_s_max: float = 1.7976931348623157e308


@dataclass(frozen=True, slots=True)
class Candidate:
    """A log that may be cleaned, as it was when it was looked at."""

    log: Log
    generation: int
    segments: tuple[Segment, ...]
    """From the first to the last one that may be cleaned."""
    first_dirty_offset: int
    first_uncleanable_offset: int
    clean_bytes: int
    cleanable_bytes: int
    overdue: bool
    """Whether `max.compaction.lag.ms` has passed for something that was not cleaned."""
    settled: bool
    """Whether the numbers stay as they are until the log's segments or its configuration change."""

    @property
    def dirty_ratio(self) -> float:
        total_bytes = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total_bytes if total_bytes else 0.0

    @property
    def wanted(self) -> bool:
        return self.cleanable_bytes > 0 and (
            self.overdue or self.dirty_ratio > self.log.config.min_cleanable_dirty_ratio
        )


def candidate_of(log: Log, now_ms: int) -> Candidate:
    """What of the log may be cleaned. Brings a checkpoint down that cannot be true."""
    config = log.config
    first_dirty = valid_dirty_offset(log)
    active_base = log.active_segment.base_offset
    bases = bases_of(log)
    # The segment that holds an offset, or the first one that begins after it.
    dirty_at = max(0, bisect_right(bases, first_dirty) - 1)
    closed_at = len(bases) - 1

    held_back = min(log.last_stable_offset, log.recovery_point)
    upto = min(active_base, held_back)
    if config.min_compaction_lag_ms > 0:
        for segment in log.segments[dirty_at:closed_at]:
            if segment.base_offset >= upto:
                break
            if segment.largest_timestamp > now_ms - config.min_compaction_lag_ms:
                upto = min(upto, segment.base_offset)
                break
    upto = max(first_dirty, upto)
    # Whole segments only: the one that holds the offset is not touched.
    stop = min(closed_at, max(0, bisect_right(bases, upto) - 1))
    first_uncleanable = bases[stop]
    cleanable = log.segments[dirty_at:stop]
    overdue = False
    if config.max_compaction_lag_ms < LONG_MAX:
        clean_until_ms = now_ms - max(config.max_compaction_lag_ms, 0)
        overdue = any(
            0 < segment.first_timestamp < clean_until_ms for segment in log.segments[dirty_at:closed_at]
        )
    return Candidate(
        log,
        log.generation,
        log.segments[:stop],
        first_dirty,
        first_uncleanable,
        sum(segment.size for segment in log.segments[: bisect_left(bases, first_dirty)]),
        sum(segment.size for segment in cleanable),
        overdue,
        held_back >= active_base
        and config.min_compaction_lag_ms <= 0
        and config.max_compaction_lag_ms == LONG_MAX,
    )


def bases_of(log: Log) -> list[int]:
    return [segment.base_offset for segment in log.segments]


def valid_dirty_offset(log: Log) -> int:
    """Where the dirty part begins: a checkpoint below the log's start or above its end is wrong, and then all
    of the log counts as dirty, as in Kafka.
    """
    noted = log.first_dirty_offset
    start = log.log_start_offset
    if noted < 0:
        return start
    if noted < start:
        if not log.config.delete:
            logger.warning(
                "%s: the dirty part begins at the log start %d, the noted offset %d is gone",
                log.tp,
                start,
                noted,
            )
    elif noted > log.log_end_offset:
        logger.warning(
            "%s: compaction was noted up to %d and the log ends at %d; it is compacted again from %d on",
            log.tp,
            noted,
            log.log_end_offset,
            start,
        )
    else:
        return noted
    log.first_dirty_offset = start
    return start


def describe(candidate: Candidate, limits: CleaningLimits, now_ms: int, turn: Turn) -> Steps[CleaningJob]:
    """The job for the cleaner, made a slice at a time: there may be thousands of segments and producers."""
    log = candidate.log
    segments: list[SegmentToClean] = []
    ends = [*(segment.base_offset for segment in candidate.segments[1:]), candidate.first_uncleanable_offset]
    for segment, end_offset in zip(candidate.segments, ends, strict=True):
        if turn.over():
            yield turn.rest()
        segments.append(
            SegmentToClean(
                base_offset=segment.base_offset,
                end_offset=end_offset,
                size_bytes=segment.size,
                has_txn_index=segment.txn_index is not None,
            )
        )
    producers: dict[int, tuple[int, int]] = {}
    for entry in list(log.producers):
        if turn.over():
            yield turn.rest()
        # Whose last batch lies above needs nothing of what is cleaned. One that goes on writing meanwhile
        # keeps a batch more than it needs.
        if entry.last_offset < candidate.first_uncleanable_offset:
            producers[entry.producer_id] = (entry.last_offset, entry.epoch)
    later_aborted: list[tuple[int, int, int, int]] = []
    for segment in log.segments[bisect_left(bases_of(log), candidate.first_uncleanable_offset) :]:
        if turn.over():
            yield turn.rest()
        if segment.txn_index is None:
            continue
        segment.txn_index.load()
        aborted = segment.txn_index.all()
        later_aborted += [txn for txn in aborted if txn.first_offset < candidate.first_uncleanable_offset]
        if any(txn.last_stable_offset >= candidate.first_uncleanable_offset for txn in aborted):
            break  # all that began below was decided by then
    config = log.config
    return CleaningJob(
        topic=log.tp.topic,
        partition=log.tp.partition,
        dir_path=log.dir_path,
        segments=tuple(segments),
        log_start_offset=log.log_start_offset,
        first_dirty_offset=candidate.first_dirty_offset,
        first_uncleanable_offset=candidate.first_uncleanable_offset,
        last_offsets_of_producers=producers,
        now_ms=now_ms,
        delete_retention_ms=config.delete_retention_ms,
        segment_bytes_max=config.segment_bytes,
        index_bytes_max=config.segment_index_bytes,
        index_interval_bytes=config.index_interval_bytes,
        message_bytes_max=config.max_message_bytes,
        map_bytes=min(limits.map_bytes, MAP_BYTES_MAX),
        map_load_factor=limits.map_load_factor,
        io_buffer_bytes=limits.io_buffer_bytes,
        io_bytes_per_s_max=limits.io_bytes_per_s_max,
        later_aborted=tuple(later_aborted),
    )


def still_replaced_by(candidate: Candidate, cleaned: CleanedSegment) -> tuple[Segment, ...] | None:
    """The segments that a cleaned one stands for, if they are still the ones that were described: nothing was
    truncated, deleted, or replaced since.
    """
    log = candidate.log
    if log.failure is not None or log.generation != candidate.generation:
        return None
    wanted = frozenset(cleaned.replaced)
    described = tuple(segment for segment in candidate.segments if segment.base_offset in wanted)
    if not described or tuple(segment.base_offset for segment in described) != cleaned.replaced:
        return None
    at = next((n for n, segment in enumerate(log.segments) if segment is described[0]), -1)
    found = log.segments[at : at + len(described)] if at >= 0 else ()
    if found != described or log.active_segment in described:
        return None
    return described
