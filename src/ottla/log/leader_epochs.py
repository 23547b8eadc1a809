"""Which leader epoch began at which offset: the history by which replicas find out where they parted.

The cache is two short parallel lists, both rising strictly. It is kept in `leader-epoch-checkpoint` (Kafka's
text: version 0, a count, then `epoch start_offset` lines). The file is not written at every change: every
batch carries its epoch, so what a crash loses is read again from the batches past the recovery point. Hence
the one rule that `Log` keeps: the file is written before the recovery point moves past an epoch's start.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Final

UNDEFINED_EPOCH: Final = -1
UNDEFINED_EPOCH_OFFSET: Final = -1

_VERSION: Final = 0


class LeaderEpochCache:
    __slots__ = ("_epochs", "_starts", "dirty")

    def __init__(self) -> None:
        self._epochs: list[int] = []
        self._starts: list[int] = []
        self.dirty = False
        """Whether the cache differs from the file."""

    def __len__(self) -> int:
        return len(self._epochs)

    def entries(self) -> list[tuple[int, int]]:
        """`(epoch, start offset)`, oldest first."""
        return list(zip(self._epochs, self._starts, strict=True))

    @property
    def latest_epoch(self) -> int:
        """-1 when nothing was ever assigned."""
        return self._epochs[-1] if self._epochs else UNDEFINED_EPOCH

    @property
    def latest_start_offset(self) -> int:
        return self._starts[-1] if self._starts else UNDEFINED_EPOCH_OFFSET

    def assign(self, epoch: int, start_offset: int) -> None:
        """Notes that `epoch` began at `start_offset`. What contradicts it (a later epoch, or one that began
        at or after this offset) was never committed and goes.
        """
        epochs, starts = self._epochs, self._starts
        if epochs and epochs[-1] == epoch and start_offset >= starts[-1]:
            return
        while epochs and (epochs[-1] >= epoch or starts[-1] >= start_offset):
            epochs.pop()
            starts.pop()
        epochs.append(epoch)
        starts.append(start_offset)
        self.dirty = True

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """KIP-101 and KIP-279: the largest known epoch that is not above the asked one, and where it ended.

        `(-1, -1)` when it cannot be said: no epoch asked, or one above all that are known.
        """
        epochs = self._epochs
        if epoch == UNDEFINED_EPOCH or not epochs:
            return UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET
        if epoch == epochs[-1]:
            return epoch, log_end_offset
        above = bisect_right(epochs, epoch)
        if above == len(epochs):
            return UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET
        if above == 0:
            # Older than all that is kept: whatever it wrote lies before the first known epoch.
            return epoch, self._starts[0]
        return epochs[above - 1], self._starts[above]

    def epoch_for_offset(self, offset: int) -> int:
        """The epoch under which the record at `offset` was written, -1 when it is before all known ones."""
        found = bisect_right(self._starts, offset)
        return self._epochs[found - 1] if found else UNDEFINED_EPOCH

    def truncate_from_end(self, end_offset: int) -> None:
        """Forgets epochs that began at or after `end_offset`."""
        keep = bisect_left(self._starts, end_offset)
        if keep < len(self._starts):
            del self._epochs[keep:]
            del self._starts[keep:]
            self.dirty = True

    def truncate_from_start(self, start_offset: int) -> None:
        """Forgets epochs that ended before `start_offset`; the one that it lies in now begins there."""
        drop = bisect_right(self._starts, start_offset) - 1
        if drop < 0 or (drop == 0 and self._starts[0] == start_offset):
            return
        del self._epochs[:drop]
        del self._starts[:drop]
        self._starts[0] = start_offset
        self.dirty = True

    def clear(self) -> None:
        if self._epochs:
            self._epochs.clear()
            self._starts.clear()
            self.dirty = True

    def to_text(self) -> str:
        lines = [str(_VERSION), str(len(self._epochs))]
        lines += [f"{epoch} {start}" for epoch, start in zip(self._epochs, self._starts, strict=True)]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_text(cls, text: str) -> LeaderEpochCache:
        """Raises ValueError when the text is not a checkpoint of rising epochs."""
        lines = text.split("\n")
        if len(lines) < 2 or lines[0].strip() != str(_VERSION):
            raise ValueError("a leader epoch checkpoint begins with version 0 and a count")
        count = int(lines[1])
        rows = [line for line in lines[2:] if line.strip()]
        if count != len(rows):
            raise ValueError(f"the leader epoch checkpoint promises {count} entries and holds {len(rows)}")
        cache = cls()
        for row in rows:
            epoch_text, start_text = row.split()
            epoch, start = int(epoch_text), int(start_text)
            if epoch < 0 or start < 0:
                raise ValueError(f"the leader epoch entry {row!r} is negative")
            cache.assign(epoch, start)
        cache.dirty = len(cache) != count
        return cache
