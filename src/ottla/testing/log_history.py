"""What a partition's log may hold after a crash, and the check that it holds nothing else.

`LogHistory` is told of everything that is about to be done to a log and of what came of it. From that it
knows which batches must be there after a crash (all that a finished flush covered), which may be (the rest,
and the one under way), and which must not (anything else: a batch that a flushed truncation cut off, a batch
that nobody wrote). `check` compares a recovered log with it, byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ottla.testing.disk import VirtualDisk
from ottla.wire.record_batch import BatchHeader, check_crc, iter_headers, read_header


class StoredBatch(NamedTuple):
    """A batch as it lies in the log."""

    data: bytes
    header: BatchHeader

    @classmethod
    def of(cls, data: bytes) -> StoredBatch:
        return cls(data, read_header(data))


@dataclass(slots=True)
class Found:
    """A recovered log."""

    start: int
    end: int
    batches: Sequence[StoredBatch]


class LogHistory:
    def __init__(self) -> None:
        self.batches: list[StoredBatch] = []
        self.end = 0
        self.flushed_end = 0
        """Everything below survives any crash."""
        self.start = 0
        """The log start as it is, or is about to be."""
        self.start_kept = 0
        """The log start that was made durable: it never goes back below."""
        self._under_way: bytearray | None = None
        self._ghosts: list[list[StoredBatch]] = []
        """What the log held before truncations that were not flushed since: it may all come back."""

    # -- what is done to the log --

    def append_begins(self, buffer: bytearray) -> None:
        """The log will patch the buffer in place and then write it, so it is looked at when it matters."""
        self._under_way = buffer

    def append_ends(self, first_offset: int, last_offset: int) -> StoredBatch:
        assert self._under_way is not None
        assert first_offset == self.end, f"appended at {first_offset}, the log ended at {self.end}"
        batch = StoredBatch.of(bytes(self._under_way))
        assert batch.header.base_offset == first_offset and batch.header.last_offset == last_offset
        self.batches.append(batch)
        self.end = last_offset + 1
        self._under_way = None
        return batch

    def append_refused(self) -> None:
        self._under_way = None

    def truncation_begins(self, offset: int) -> None:
        self._ghosts.append(list(self.batches))
        while self.batches and self.batches[-1].header.last_offset >= offset:
            self.end = self.batches.pop().header.base_offset
        self.flushed_end = min(self.flushed_end, self.end)

    def believed_durable(self, upto_offset: int) -> None:
        """What the log itself calls durable (its recovery point) has to be."""
        self.flushed_end = max(self.flushed_end, min(upto_offset, self.end))

    def flush_ends(self, upto_offset: int) -> None:
        """A flush that found nothing to do leaves an unsynced truncation as it is."""
        if upto_offset > self.flushed_end and upto_offset >= self.end:
            self._ghosts.clear()
        self.believed_durable(upto_offset)

    def start_moves(self, offset: int) -> None:
        self.start = max(self.start, offset)

    def start_is_kept(self, offset: int) -> None:
        self.start_kept = max(self.start_kept, offset)

    def became(self, found: Found) -> None:
        """The log was reopened after a crash: what was found is the truth from now on."""
        # What was deleted before it stays in mind: its files may come back with a later crash.
        first = found.batches[0].header.base_offset if found.batches else found.end
        self.batches = [b for b in self.batches if b.header.last_offset < first] + list(found.batches)
        self.start = found.start
        self.end = found.end
        self.flushed_end = min(self.flushed_end, found.end)
        self._under_way = None
        self._ghosts = []

    # -- what may be found --

    def check(self, found: Found, *, bits_may_have_flipped: bool) -> None:
        assert self.start_kept <= found.start <= max(self.start, self.start_kept), (
            f"the log start is {found.start}, it must lie between {self.start_kept} and {self.start}"
        )
        assert found.end >= self.flushed_end, (
            f"the log ends at {found.end}, everything below {self.flushed_end} was flushed"
        )
        expected = max(found.start, 0)
        for batch in found.batches:
            header = batch.header
            if header.last_offset < found.start:
                continue
            assert (
                header.base_offset <= expected if expected == found.start else header.base_offset == expected
            ), f"offsets are not dense: a batch begins at {header.base_offset}, {expected} is next"
            expected = header.next_offset
        assert expected == found.end or not found.batches, (
            f"the last batch ends at {expected}, the log says {found.end}"
        )
        if not found.batches:
            assert self.flushed_end <= found.start, f"nothing was found, up to {self.flushed_end} was flushed"
        current = list(self.batches)
        if self._under_way is not None:
            current.append(StoredBatch.of(bytes(self._under_way)))
        reasons = []
        for candidate in (current, *self._ghosts):
            reason = _difference(found.batches, candidate, bits_may_have_flipped, self.flushed_end)
            if reason is None:
                return
            reasons.append(reason)
        raise AssertionError(reasons[0])


def _difference(
    found: Sequence[StoredBatch],
    candidate: Sequence[StoredBatch],
    bits_may_have_flipped: bool,
    flushed_end: int,
) -> str | None:
    at = {batch.header.base_offset: batch for batch in candidate}
    for batch in found:
        offset = batch.header.base_offset
        written = at.get(offset)
        if written is None:
            return f"a batch at offset {offset} was found and none was written there"
        if batch.data == written.data:
            continue
        if (
            bits_may_have_flipped
            and offset >= flushed_end
            and batch.data[:12] + batch.data[16:] == written.data[:12] + written.data[16:]
        ):
            continue  # a leader epoch lies outside the CRC: a flipped bit there cannot be seen
        return f"the batch at offset {offset} is not the one that was written"
    return None


def scan(disk: VirtualDisk, dir_path: str, start: int, end: int) -> Found:
    """Every batch in a log's segment files, read without the log's help; `start` and `end` are its word."""
    batches: list[StoredBatch] = []
    for name in disk.list_dir(dir_path):
        if not name.endswith(".log"):
            continue
        data = disk.read_file(f"{dir_path}/{name}")
        at = 0
        for position, header in iter_headers(data, 0, len(data)):
            check_crc(data, position, len(data))
            assert header.base_offset >= int(name[:-4]), f"{name} holds offset {header.base_offset}"
            batches.append(StoredBatch(data[position : position + header.size_bytes], header))
            at = position + header.size_bytes
        assert at == len(data), f"{name}: {len(data) - at} bytes after the last whole batch"
    return Found(start, end, batches)
