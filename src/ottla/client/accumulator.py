"""Records waiting to be sent, gathered into batches by partition. Pure: time is passed in.

A partition has a queue of batches, of which only the last is still open; `ready` says whose turn it is, and
`take` hands out one batch per partition, so that a partition never has two requests under way and order (and
with it the sequence of an idempotent producer) needs no further care.
"""

from __future__ import annotations

from collections import deque

from ottla.model.types import TopicPartition
from ottla.wire.record_batch import Record


class Batch:
    """Records of one partition that travel together. `base_sequence` is given when it first leaves."""

    __slots__ = ("tp", "records", "size_bytes", "opened_ms", "base_sequence", "encoded")

    def __init__(self, tp: TopicPartition, opened_ms: float) -> None:
        self.tp = tp
        self.records: list[Record] = []
        self.size_bytes = 0
        self.opened_ms = opened_ms  # on the monotonic clock
        self.base_sequence: int | None = None
        self.encoded: bytearray | None = None

    def halves(self) -> tuple[Batch, Batch]:
        """The batch as two, for a broker that finds it too large; sequences go on from one to the other."""
        middle = len(self.records) // 2
        first, second = Batch(self.tp, self.opened_ms), Batch(self.tp, self.opened_ms)
        first.records, second.records = self.records[:middle], self.records[middle:]
        first.size_bytes = second.size_bytes = self.size_bytes // 2
        if self.base_sequence is not None:
            first.base_sequence = self.base_sequence
            second.base_sequence = (self.base_sequence + middle) & 0x7FFFFFFF
        return first, second


class Accumulator:
    def __init__(self, batch_bytes: int, linger_ms: float) -> None:
        self._batch_bytes = batch_bytes
        self._linger_ms = linger_ms
        self._queues: dict[TopicPartition, deque[Batch]] = {}
        self.record_count = 0
        self.size_bytes = 0

    def add(self, tp: TopicPartition, record: Record, size_bytes: int, now_ms: float) -> None:
        queue = self._queues.get(tp)
        if queue is None:
            queue = self._queues[tp] = deque()
        if not queue or self._closed(queue[-1], size_bytes):
            queue.append(Batch(tp, now_ms))
        batch = queue[-1]
        batch.records.append(record)
        batch.size_bytes += size_bytes
        self.record_count += 1
        self.size_bytes += size_bytes

    def _closed(self, batch: Batch, more_bytes: int) -> bool:
        # A batch that has been sent once, and so has a sequence, must stay as it is.
        return batch.base_sequence is not None or batch.size_bytes + more_bytes > self._batch_bytes

    def ready(self, now_ms: float, *, everything: bool = False) -> bool:
        """Whether some partition has a batch that should leave now."""
        return any(self._due(queue, now_ms, everything) for queue in self._queues.values())

    def _due(self, queue: deque[Batch], now_ms: float, everything: bool) -> bool:
        return bool(queue) and (
            everything
            or len(queue) > 1
            or queue[0].size_bytes >= self._batch_bytes
            or now_ms - queue[0].opened_ms >= self._linger_ms
        )

    def take(self, now_ms: float, *, everything: bool = False) -> list[Batch]:
        """The first batch of every partition that is due."""
        taken = []
        for queue in self._queues.values():
            if self._due(queue, now_ms, everything):
                batch = queue.popleft()
                self.record_count -= len(batch.records)
                self.size_bytes -= batch.size_bytes
                taken.append(batch)
        return taken

    def put_back(self, batches: list[Batch]) -> None:
        """Batches of one partition that have to leave before anything else of it, in this order."""
        for batch in reversed(batches):
            self._queues.setdefault(batch.tp, deque()).appendleft(batch)
            self.record_count += len(batch.records)
            self.size_bytes += batch.size_bytes
