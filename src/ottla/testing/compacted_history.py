"""What a compacted log may hold, and the check that it holds nothing else and lacks nothing that counts.

`CompactedHistory` is told of every batch. Compaction may take records away, so a log is not compared batch by
batch; what counts is this: every record that is found was written so, at that offset; the last committed
value of each key is there; where that is a tombstone, no older value is; and no offset has moved. After a
truncation that was not synced, what it cut off may come back with a crash, as in `LogHistory`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Written(NamedTuple):
    """One batch: its records by offset, or the marker that it is."""

    first_offset: int
    last_offset: int
    records: tuple[tuple[int, bytes, bytes | None], ...]
    producer_id: int = -1
    last_sequence: int = -1
    transactional: bool = False
    committed: bool | None = None
    """Set for a marker: whether it commits."""


class CompactedHistory:
    def __init__(self) -> None:
        self.batches: list[Written] = []
        self.start = 0
        """The highest log start that there was: what lies below may be gone."""
        self.flushed_end = 0
        self.under_way: Written | None = None
        self._ghosts: list[list[Written]] = []
        self._end_found = 0
        """Where the log ended when it was last opened: its last segments may be empty."""

    @property
    def end(self) -> int:
        return self.batches[-1].last_offset + 1 if self.batches else 0

    # -- what is done to the log --

    def append_begins(self, batch: Written) -> None:
        self.under_way = batch

    def append_ends(self, first_offset: int) -> None:
        batch = self.under_way
        assert batch is not None and first_offset == batch.first_offset
        self.batches.append(batch)
        self.under_way = None

    def truncation_begins(self, offset: int) -> None:
        self._ghosts.append(list(self.batches))
        while self.batches and self.batches[-1].last_offset >= offset:
            self.batches.pop()
        self.flushed_end = min(self.flushed_end, self.end)

    def flushed(self, upto: int) -> None:
        # Further than the end: a crash fell into a truncation, which nothing has made durable yet.
        if upto > self.flushed_end and upto == self.end:
            self._ghosts.clear()
        self.flushed_end = max(self.flushed_end, min(upto, self.end))

    # -- what is expected --

    def open_transactions(self) -> dict[int, int]:
        """Producer id -> first offset."""
        begun: dict[int, int] = {}
        for batch in self.batches:
            if batch.committed is not None:
                begun.pop(batch.producer_id, None)
            elif batch.transactional:
                begun.setdefault(batch.producer_id, batch.first_offset)
        return begun

    def last_sequences(self) -> dict[int, tuple[int, int]]:
        """Producer id -> last sequence and last offset of its last batch."""
        return {
            batch.producer_id: (batch.last_sequence, batch.last_offset)
            for batch in self.batches
            if batch.producer_id >= 0 and batch.committed is None
        }

    def latest(self, upto: int, from_offset: int = 0) -> dict[bytes, tuple[int, bytes | None]]:
        """The last committed record of each key below `upto`: offset and value."""
        aborted = self._aborted()
        found: dict[bytes, tuple[int, bytes | None]] = {}
        for batch in self.batches:
            if batch.first_offset in aborted:
                continue
            for offset, key, value in batch.records:
                if from_offset <= offset < upto:
                    found[key] = (offset, value)
        return found

    def _aborted(self) -> set[int]:
        """The first offsets of the batches that were aborted."""
        pending: dict[int, list[int]] = {}
        aborted: set[int] = set()
        for batch in self.batches:
            if batch.committed is not None:
                firsts = pending.pop(batch.producer_id, [])
                if not batch.committed:
                    aborted.update(firsts)
            elif batch.transactional:
                pending.setdefault(batch.producer_id, []).append(batch.first_offset)
        return aborted

    # -- what is found --

    def became(
        self, end: int, found: Iterable[tuple[int, bytes, bytes | None]], bases: frozenset[int]
    ) -> None:
        """The log was opened again and ends at `end`: that, and the history it agrees with, is the truth.

        `bases` are the first offsets of all batches. Above what was flushed, batches may be missing before
        others that are there (the tail of a segment, and the next segment is kept): holes mean nothing in a
        compacted log, so recovery cannot tell, in Kafka no more than here.
        """
        assert end >= self.flushed_end, (
            f"the log ends at {end}, everything below {self.flushed_end} was flushed"
        )
        records = list(found)
        tails = [self.batches, *self._ghosts]
        if self.under_way is not None:
            tails.insert(0, [*self.batches, self.under_way])
        reason = ""
        for candidate in tails:
            kept = [
                batch
                for batch in candidate
                if batch.first_offset < self.flushed_end
                or (batch.first_offset < end and batch.first_offset in bases)
            ]
            written_end = candidate[-1].last_offset + 1 if candidate else 0
            if end > max(self.start, self._end_found, written_end):
                reason = reason or f"nothing was ever written up to {end}"
                continue
            if kept and kept[-1].last_offset >= end:
                reason = reason or f"the log ends at {end}, inside a batch"
                continue
            wrong = _not_written(kept, records)
            if wrong is None:
                self.batches = kept
                self.under_way = None
                self._ghosts = []
                self._end_found = end
                self.flushed_end = min(self.flushed_end, end)
                return
            reason = reason or wrong
        raise AssertionError(reason)

    def check_visible(
        self, found: Iterable[tuple[int, bytes, bytes | None]], *, upto: int, tombstones_stay: bool
    ) -> None:
        """`found` is what a reader of committed records sees, in order, below `upto`."""
        seen: dict[bytes, tuple[int, bytes | None]] = {}
        last = -1
        for offset, key, value in found:
            assert offset > last, f"offset {offset} comes after {last}"
            last = offset
            seen[key] = (offset, value)
        for key, (offset, value) in self.latest(upto).items():
            if offset < self.start:
                continue
            there = seen.get(key)
            if there is None and value is None and not tombstones_stay:
                continue
            assert there == (offset, value), (
                f"the last of {key!r} was written at {offset} ({_kind(value)}), "
                f"found was {there if there is None else there[0]}"
            )


def _kind(value: bytes | None) -> str:
    return "a tombstone" if value is None else "a value"


def _not_written(batches: list[Written], found: list[tuple[int, bytes, bytes | None]]) -> str | None:
    written = {offset: (key, value) for batch in batches for offset, key, value in batch.records}
    for offset, key, value in found:
        if written.get(offset) != (key, value):
            return f"the record found at offset {offset} was not written there"
    return None
