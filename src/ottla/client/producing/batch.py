"""A batch of one partition's records, and what a caller holds for each of them.

A batch keeps its records as parallel lists: appending one is a few list appends, sealing turns the lists into
bytes in one go. The only object that a record costs is its `Delivery`, which is no more than (batch, index):
a batch completes once, for all of its records, and everything that a delivery says is read from it.

A batch that the broker finds too large is replaced by two (`split`); deliveries find their part on their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

from ottla.client.effects import Signal
from ottla.client.errors import IllegalState, OttlaError
from ottla.client.producing.spare_bytes import SpareBytes
from ottla.client.records import RecordMetadata
from ottla.wire.record_batch import HEADER_BYTES, Codec, decode_batch, encode_lists, seal_batch

if TYPE_CHECKING:
    from ottla.client.producing.lane import Lane

Callback: TypeAlias = Callable[[RecordMetadata | None, OttlaError | None], Any]
Headers: TypeAlias = tuple[tuple[str, bytes | None], ...]
Later: TypeAlias = Callable[[Callable[[], None]], None]

NO_SEQUENCE = -1
RECORD_BYTES = 12
"""What a record takes besides its key and value, about: lengths and deltas are varints."""
RECORD_BYTES_MAX = 21
HEADER_FIELD_BYTES = 4
SEQUENCE_MASK = 0x7FFFFFFF
"""Sequences go from 2^31 - 1 on to 0."""

SPLIT_BYTES_MAX = 256 * 1024 * 1024
"""How much a batch of ours that is split may expand to: no batch that `send_batch` makes comes near it."""


class EncodedBatch(Protocol):
    """A batch that was made elsewhere (`columns.py`): format 2, with no producer in its header yet."""

    @property
    def data(self) -> bytearray: ...

    @property
    def record_count(self) -> int: ...

    @property
    def size_bytes(self) -> int:
        """Uncompressed: what it counts for in `buffer.memory`."""
        ...

    @property
    def spares(self) -> SpareBytes | None:
        """Who gets the bytes once they are stored."""
        ...


def record_size(key: bytes | None, value: bytes | None, headers: Headers) -> int:
    """About what a record takes in a batch before compression."""
    size_bytes = RECORD_BYTES
    if key is not None:
        size_bytes += len(key)
    if value is not None:
        size_bytes += len(value)
    for name, content in headers:
        size_bytes += HEADER_FIELD_BYTES + len(name)
        if content is not None:
            size_bytes += len(content)
    return size_bytes


class Batch:
    """Records of one partition that travel together."""

    __slots__ = (
        "lane",
        "owner",
        "created_ms",
        "keys",
        "values",
        "headers",
        "timestamps",
        "size_bytes",
        "limit_bytes",
        "reserved_bytes",
        "count",
        "encoded",
        "encoded_bytes",
        "closed",
        "due_ms",
        "retry_ms",
        "attempts",
        "retries",
        "doubtful",
        "flying",
        "sent_epoch",
        "producer_id",
        "producer_epoch",
        "base_sequence",
        "sequence_reset",
        "callbacks",
        "parts",
        "done",
        "failure",
        "record_errors",
        "base_offset",
        "log_append_ms",
        "reason",
        "spares",
        "_finished",
    )

    def __init__(self, lane: Lane, created_ms: float, limit_bytes: int, reserved_bytes: int) -> None:
        self.lane = lane
        self.owner: Any = None
        self.created_ms = created_ms
        self.keys: list[bytes | None] = []
        self.values: list[bytes | None] = []
        self.headers: list[Headers] | None = None
        self.timestamps: list[int] = []
        self.size_bytes = HEADER_BYTES
        """About what the records take before compression."""
        self.limit_bytes = limit_bytes
        self.reserved_bytes = reserved_bytes
        """What it holds of `buffer.memory`."""
        self.count = 0
        """Records; known once it is closed."""
        self.encoded: bytearray | None = None
        self.encoded_bytes = 0
        self.closed = False
        """Takes no more records."""
        self.due_ms = 0.0
        """When a timer was set for it; 0 for none."""
        self.retry_ms = 0.0
        """Not before this time, if it is sent again."""
        self.attempts = 0
        """How often it was put in line again."""
        self.retries = 0
        """How often of these after it had left: what `retries` bounds."""
        self.doubtful = False
        """An attempt ended without an answer that says for sure that it was not stored."""
        self.flying = False
        self.sent_epoch = -1
        """The leader epoch that we knew when it was last sent."""
        self.producer_id = -1
        self.producer_epoch = -1
        self.base_sequence = NO_SEQUENCE
        self.sequence_reset = False
        self.callbacks: list[tuple[int, Callback]] | None = None
        self.parts: list[tuple[int, Batch]] | None = None
        self.done = False
        self.failure: OttlaError | None = None
        self.record_errors: dict[int, OttlaError] | None = None
        self.base_offset = -1
        self.log_append_ms = -1
        self.reason: OttlaError | None = None
        """Why the last attempt failed: the cause when the time is up."""
        self.spares: SpareBytes | None = None
        """Who gets the bytes once they are stored."""
        self._finished: Signal | None = None

    @classmethod
    def of_encoded(cls, lane: Lane, created_ms: float, given: EncodedBatch, reserved_bytes: int) -> Batch:
        batch = cls(lane, created_ms, 0, reserved_bytes)
        batch.encoded = given.data
        batch.encoded_bytes = len(given.data)
        batch.size_bytes = given.size_bytes + HEADER_BYTES
        batch.count = given.record_count
        batch.spares = given.spares
        batch.closed = True
        return batch

    def __repr__(self) -> str:
        return (
            f"Batch({self.lane.tp}, {self.count or len(self.values)} records, sequence {self.base_sequence})"
        )

    # --- filling and sealing --------------------------------------------------------------------------------

    def close(self) -> None:
        """No more records."""
        if not self.closed:
            self.closed = True
            self.count = len(self.values)

    @property
    def has_sequence(self) -> bool:
        return self.base_sequence >= 0

    @property
    def last_sequence(self) -> int:
        return (self.base_sequence + self.count - 1) & SEQUENCE_MASK

    @property
    def estimated_bytes(self) -> int:
        return self.encoded_bytes or self.size_bytes

    def seal(self, codec: Codec, level: int | None, *, transactional: bool) -> bytearray:
        """The bytes to send. What was sealed before stays as it is, byte for byte."""
        data = self.encoded
        if data is None:
            data = encode_lists(
                self.timestamps,
                self.keys,
                self.values,
                self.headers,
                codec=codec,
                level=level,
                producer_id=self.producer_id,
                producer_epoch=self.producer_epoch,
                base_sequence=self.base_sequence,
                transactional=transactional,
            )
            self.encoded = data
            self.encoded_bytes = len(data)
        return data

    def number(
        self, producer_id: int, producer_epoch: int, base_sequence: int, *, transactional: bool
    ) -> None:
        """Gives it its place, for the first time or (after the epoch was bumped) anew."""
        again = self.has_sequence
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.base_sequence = base_sequence
        self.sequence_reset = again
        self.doubtful = False  # a number is taken away only from what is surely not stored
        if self.encoded is not None:
            # A copy, where the bytes may still be in a queue on their way out under the old number.
            data = bytearray(self.encoded) if again else self.encoded
            seal_batch(data, producer_id, producer_epoch, base_sequence, transactional)
            self.encoded = data

    def split(self) -> list[Batch]:
        """The batch as two, for a broker that finds it too large; sequences go on from one to the other."""
        if not self.values:
            self._decode()
        middle = self.count // 2
        parts: list[tuple[int, Batch]] = []
        for start, end in ((0, middle), (middle, self.count)):
            part = Batch(self.lane, self.created_ms, 0, 0)
            part.owner = self.owner
            part.keys = self.keys[start:end]
            part.values = self.values[start:end]
            part.headers = None if self.headers is None else self.headers[start:end]
            part.timestamps = self.timestamps[start:end]
            part.size_bytes = HEADER_BYTES + (self.size_bytes - HEADER_BYTES) * (end - start) // self.count
            part.close()
            if self.has_sequence:
                part.producer_id = self.producer_id
                part.producer_epoch = self.producer_epoch
                part.base_sequence = (self.base_sequence + start) & SEQUENCE_MASK
            if self.callbacks is not None:
                part.callbacks = [(i - start, call) for i, call in self.callbacks if start <= i < end]
            parts.append((start, part))
        self.parts = parts
        self.callbacks = None
        self.keys, self.values, self.headers, self.encoded = [], [], None, None
        if self._finished is not None:
            self._finished.notify()  # who waits finds the part that has its record
        return [part for _, part in parts]

    def leaves(self, start: int = 0) -> Iterator[tuple[int, Batch]]:
        """What the batch has become: itself, or all that it was split into, with where each begins in it."""
        parts = self.parts
        if parts is None:
            yield start, self
        else:
            for offset, part in parts:
                yield from part.leaves(start + offset)

    def _decode(self) -> None:
        assert self.encoded is not None
        records = decode_batch(self.encoded, decompressed_bytes_max=SPLIT_BYTES_MAX)
        self.keys = [record.key for record in records]
        self.values = [record.value for record in records]
        if any(record.headers for record in records):
            self.headers = [record.headers for record in records]
        self.timestamps = [record.timestamp for record in records]

    # --- the end --------------------------------------------------------------------------------------------

    @property
    def finished(self) -> Signal:
        if self._finished is None:
            self._finished = Signal()
        return self._finished

    def complete(self, base_offset: int, log_append_ms: int, later: Later) -> None:
        self.base_offset = base_offset
        self.log_append_ms = log_append_ms
        if self.spares is not None and self.encoded is not None and base_offset >= 0 and not self.attempts:
            self.spares.give(self.encoded)
        self._finish(later)

    def fail(
        self, error: OttlaError, later: Later, record_errors: dict[int, OttlaError] | None = None
    ) -> None:
        self.close()
        self.failure = error
        self.record_errors = record_errors
        self._finish(later)

    def _finish(self, later: Later) -> None:
        self.done = True
        self.keys, self.values, self.headers = [], [], None
        if not self.flying:
            self.encoded = None
        callbacks, self.callbacks = self.callbacks, None
        if callbacks is not None:
            for index, callback in callbacks:
                later(partial(callback, *self.outcome(index)))
        if self._finished is not None:
            self._finished.notify()

    def outcome(self, index: int) -> tuple[RecordMetadata | None, OttlaError | None]:
        """What a callback is given for one record."""
        error = self.error_of(index)
        return (None, error) if error is not None else (self.metadata_of(index), None)

    def error_of(self, index: int) -> OttlaError | None:
        if self.record_errors is not None:
            return self.record_errors.get(index, self.failure)
        return self.failure

    def metadata_of(self, index: int) -> RecordMetadata:
        tp = self.lane.tp
        timestamp = self.log_append_ms
        if timestamp < 0 and self.timestamps:
            timestamp = self.timestamps[index]
        offset = self.base_offset + index if self.base_offset >= 0 else -1
        return RecordMetadata(tp.topic, tp.partition, offset, timestamp)


class Delivery:
    """The fate of one record: of the batch that it is in."""

    __slots__ = ("_batch", "_index")

    def __init__(self, batch: Batch, index: int) -> None:
        self._batch = batch
        self._index = index

    def _place(self) -> tuple[Batch, int]:
        """The batch that has the record now, and where. Only reads: any thread may ask."""
        batch, index = self._batch, self._index
        while batch.parts is not None:
            start, part = batch.parts[1] if index >= batch.parts[1][0] else batch.parts[0]
            batch, index = part, index - start
        return batch, index

    @property
    def owner(self) -> Any:
        """What the producer's front passed as `owner`."""
        return self._batch.owner

    @property
    def topic(self) -> str:
        return self._batch.lane.tp.topic

    @property
    def partition(self) -> int:
        return self._batch.lane.tp.partition

    def pieces(self) -> Iterator[tuple[int, int, Self]]:
        """For the delivery that stands for a whole batch: those of all that it was split into, each with
        where it begins in the batch and how many records it has.
        """
        for start, batch in self._batch.leaves():
            yield start, batch.count, self.__class__(batch, 0)

    def done(self) -> bool:
        return self._place()[0].done

    def error(self) -> OttlaError | None:
        """Why it was not stored; None if it was, or if that is not known yet."""
        batch, index = self._place()
        return batch.error_of(index) if batch.done else None

    def metadata(self) -> RecordMetadata:
        """Where it was stored; raises the error if it was not. Only once `done`."""
        batch, index = self._place()
        if not batch.done:
            raise IllegalState("the record is still on its way")
        error = batch.error_of(index)
        if error is not None:
            raise error.with_traceback(None)  # all records of the batch share it
        return batch.metadata_of(index)

    @property
    def finished(self) -> Signal:
        """Notified when the batch is done, and when it is split: look at `done()` again, and take `finished`
        anew.
        """
        return self._place()[0].finished

    def add_callback(self, callback: Callback) -> None:
        """Calls `callback(metadata, error)`, one of them None, when the fate is known; at once if it is."""
        batch, index = self._place()
        if batch.done:
            batch.lane.later(partial(callback, *batch.outcome(index)))
        elif batch.callbacks is None:
            batch.callbacks = [(index, callback)]
        else:
            batch.callbacks.append((index, callback))
