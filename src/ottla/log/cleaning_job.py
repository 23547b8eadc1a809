"""What the loop asks of the cleaner and what it gets back: values only, so that they can cross to a process.

The loop describes closed segments and everything that decides what may go (`CleaningJob`); whoever cleans
reads those files, writes `.cleaned` files beside them and tells what they replace (`CleaningResult`). Nothing
is swapped by the cleaner: the loop does that, after it has looked again whether the log is still the one that
was described.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SegmentToClean:
    base_offset: int
    end_offset: int
    """One past the last offset that may be in it: the next segment's base offset."""
    size_bytes: int
    has_txn_index: bool


@dataclass(frozen=True, slots=True)
class CleaningJob:
    topic: str
    partition: int
    dir_path: str
    segments: tuple[SegmentToClean, ...]
    """From the first to the last one that may be cleaned; the active one is never among them."""
    log_start_offset: int
    first_dirty_offset: int
    """Below it every key is there at most once. It may lie inside a segment: where the
    map was full, a run ends between any two batches."""
    first_uncleanable_offset: int
    """Where the map of keys has to end at the latest: open transactions, `min.compaction.lag.ms`, the high
    watermark and the active segment lie at or above it."""
    last_offsets_of_producers: dict[int, tuple[int, int]]
    """By live producer id: the last offset of its last batch and its epoch. That batch stays, if need be
    empty, since its sequence would be forgotten with it. An offset of -1 says that only markers are known of
    the producer; then its marker of that epoch stays."""
    now_ms: int
    delete_retention_ms: int
    segment_bytes_max: int
    index_bytes_max: int
    index_interval_bytes: int
    message_bytes_max: int
    map_bytes: int
    """`log.cleaner.dedupe.buffer.size` over the number of cleaners."""
    map_load_factor: float
    """`log.cleaner.io.buffer.load.factor`."""
    io_buffer_bytes: int
    io_bytes_per_s_max: float
    """`log.cleaner.io.max.bytes.per.second`; infinite where there is none."""
    later_aborted: tuple[tuple[int, int, int, int], ...] = ()
    """The aborted transactions that began below the end of these segments and whose abort markers lie after
    them, as in a transaction index: producer id, first, last and last stable offset. Their records are here
    but their index entries are not, and a record that was aborted must not supersede anything."""


@dataclass(frozen=True, slots=True)
class CleanedSegment:
    """One new segment in place of one or more old ones; its files end in `.cleaned` and are synced."""

    base_offset: int
    replaced: tuple[int, ...]
    """Base offsets of the segments that it replaces, in order."""
    size_bytes: int
    largest_timestamp_ms: int
    offset_of_largest_timestamp: int
    has_txn_index: bool


@dataclass(frozen=True, slots=True)
class CleaningStats:
    bytes_read: int
    """Of the segments that were recopied, as Kafka counts; the pass that made the map is not in it."""
    bytes_written: int
    records_read: int
    records_written: int
    map_entries: int
    map_full: bool
    """The dirty part did not fit: another run is needed for the rest."""
    invalid_records: int
    """Without a key; they are dropped."""
    seconds: float
    map_bytes_read: int = 0
    map_seconds: float = 0.0
    map_utilization: float = 0.0
    """How much of what `log.cleaner.dedupe.buffer.size` has room for was needed, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class CleaningResult:
    cleaned: tuple[CleanedSegment, ...]
    next_dirty_offset: int
    """What the next run begins with; the checkpoint notes it."""
    stats: CleaningStats


class CleaningFailed(Exception):
    """The segments cannot be cleaned (damage, a full disk); the log is as it was and every `.cleaned` file
    is gone again. `corrupt_offset` is set where a batch made no sense: the partition is not cleaned any more.
    `errno` is set where the disk refused.
    """

    def __init__(self, message: str, corrupt_offset: int | None = None, errno: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.corrupt_offset = corrupt_offset
        self.errno = errno
