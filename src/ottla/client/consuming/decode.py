"""From the bytes of a fetch response to records or columns.

`FetchedRecords` is one partition's part of a response while it is being read: it holds the buffer and a place
in it, and every `take` goes on from there. A batch is checked and decompressed when its first record is
wanted, and once; the records themselves are made by one call in C (`RowReader`), deserializers included.
Control batches are stepped over, and with read_committed so are the batches of aborted transactions (KIP-98).

What a batch expands to is bounded. A batch that cannot be read, or a record whose deserializer raises, ends a
`take` before it: the records in front of it are handed out first, the next `take` raises, and so does every
other until the consumer seeks past it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Protocol

from ottla.client.errors import ProtocolError, SerializationFailed
from ottla.client.producing.serializers import deserializer
from ottla.client.records import ConsumerRecord
from ottla.client.settings import ConsumerSettings
from ottla.model.limits import DECOMPRESSED_BATCH_BYTES_MAX
from ottla.model.types import TopicPartition
from ottla.wire.record_batch import (
    MAGIC,
    MAGIC_AT,
    BatchHeader,
    ControlType,
    CorruptBatch,
    InvalidRecord,
    PendingColumns,
    ReadableBuffer,
    UnsupportedCodec,
    columns_of_batches,
    control_type,
    decode_batch,
    iter_headers,
    open_batch,
)
from ottla.wire.record_codec import RowReader

INT64_MAX: Final = 2**63 - 1
UNREADABLE = (CorruptBatch, InvalidRecord, UnsupportedCodec)


class AbortedTransaction(Protocol):
    """An entry of a response's list of aborted transactions."""

    producer_id: int
    first_offset: int


def _form(given: Any, setting: str) -> tuple[int, Callable[..., Any] | None]:
    """How `RowReader.take` wants to be told of a deserializer."""
    if given == "string":
        return -1, None  # texts are made where the records are, without a call for each
    found = deserializer(given, setting)
    return (0, None) if found is None else (found.arity, found.function)


class Decoder:
    """How a consumer wants its records: what every partition's `FetchedRecords` has in common."""

    __slots__ = (
        *("read_committed", "check_crcs", "decompressed_bytes_max"),
        *("key_form", "key_function", "value_form", "value_function"),
    )

    def __init__(
        self,
        *,
        key_deserializer: Callable[..., Any] | str | None = None,
        value_deserializer: Callable[..., Any] | str | None = None,
        read_committed: bool = False,
        check_crcs: bool = True,
        decompressed_bytes_max: int = DECOMPRESSED_BATCH_BYTES_MAX,
    ) -> None:
        self.read_committed = read_committed
        self.check_crcs = check_crcs
        self.decompressed_bytes_max = decompressed_bytes_max
        self.key_form, self.key_function = _form(key_deserializer, "key_deserializer")
        self.value_form, self.value_function = _form(value_deserializer, "value_deserializer")

    @classmethod
    def of(cls, settings: ConsumerSettings) -> Decoder:
        return cls(
            key_deserializer=settings.key_deserializer,
            value_deserializer=settings.value_deserializer,
            read_committed=settings.isolation_level == "read_committed",
            check_crcs=settings.check_crcs,
        )

    def fetched(
        self,
        tp: TopicPartition,
        buffer: ReadableBuffer | None,
        position: int,
        aborted: Iterable[AbortedTransaction] | None = None,
    ) -> FetchedRecords:
        """What a response has for one partition, to be read from `position` on; nothing is decoded yet."""
        return FetchedRecords(self, tp, b"" if buffer is None else buffer, position, aborted or ())


class FetchedRecords:
    """One partition's part of a response, while it is being read."""

    __slots__ = (
        *("tp", "position", "leader_epoch", "_decoder", "_buffer", "_at", "_end", "_whole"),
        *("_reader", "_header", "_aborted", "_aborting"),
    )

    def __init__(
        self,
        decoder: Decoder,
        tp: TopicPartition,
        buffer: ReadableBuffer,
        position: int,
        aborted: Iterable[AbortedTransaction],
    ) -> None:
        self.tp = tp
        self.position = position
        """The offset of the next record; after the last one, that after the last batch of the response."""
        self.leader_epoch = -1
        """That of the batch that was read last."""
        self._decoder = decoder
        self._buffer = buffer
        self._at = 0  # of the batch that is being read, or comes next
        self._end = len(buffer)
        self._whole = False  # whether the response has at least one whole batch
        self._reader: RowReader | None = None
        self._header: BatchHeader | None = None
        self._aborted = (
            sorted(((txn.first_offset, txn.producer_id) for txn in aborted), reverse=True)
            if decoder.read_committed
            else []
        )
        self._aborting: set[int] = set()

    @property
    def finished(self) -> bool:
        """Whether nothing is left: the next fetch begins at `position`."""
        return self._at >= self._end and self._reader is None

    @property
    def left_bytes(self) -> int:
        """How many bytes of the response are not read yet."""
        return self._end - self._at

    def take(self, count_max: int) -> list[ConsumerRecord]:
        """The next records, at most so many; [] when there are none left."""
        decoder = self._decoder
        topic, partition = self.tp
        records: list[ConsumerRecord] = []
        while len(records) < count_max:
            reader = self._reader
            if reader is None:
                try:
                    reader = self._open_next()
                except UNREADABLE as error:
                    if records:
                        break
                    raise self._unreadable(error) from error
                if reader is None:
                    break
            try:
                reader.take(
                    records,
                    count_max - len(records),
                    self.position,
                    topic,
                    partition,
                    self.leader_epoch,
                    ConsumerRecord,
                    decoder.key_form,
                    decoder.key_function,
                    decoder.value_form,
                    decoder.value_function,
                )
            except BaseException as error:
                if not isinstance(error, Exception):
                    self._reader = None  # a signal's, in mid-batch: whoever goes on begins at the position
                    raise
                self.position = max(self.position, reader.next_offset)
                if records:
                    break
                raise SerializationFailed(
                    f"{self.tp}: the record at offset {self.position} cannot be deserialized: {error}",
                    topic=topic,
                    partition=partition,
                    offset=self.position,
                ) from error
            if reader.left:
                self.position = max(self.position, reader.next_offset)
            else:
                self._step_over(self._header)
        return records

    def take_columns(self, bytes_max: int) -> PendingColumns:
        """The records of the next batches, to be made columns, ending after the batch with which `bytes_max`
        is reached. Without rows when there are none left.
        """
        self._reader = None  # a batch that take() has begun is read again, from the position on
        while True:
            before = self._at
            try:
                columns = columns_of_batches(
                    self._buffer,
                    self._at,
                    self._end,
                    self._batches(),
                    decompressed_bytes_max=self._decoder.decompressed_bytes_max,
                    start_offset=self.position,
                    check=self._decoder.check_crcs,
                    bytes_max=bytes_max,
                )
            except UNREADABLE as error:
                raise self._unreadable(error) from error
            self._at = columns.end_position
            self.position = max(self.position, columns.next_offset)
            if columns.row_count:
                return columns
            if self._at == before:
                self._at = self._end  # what follows is a batch that the response has cut off
                return columns

    def _open_next(self) -> RowReader | None:
        """Steps to the next batch with records for us and opens it; None at the end of the response."""
        for at, header, wanted in self._batches():
            self._at, self._header = at, header
            if wanted and header.record_count and header.last_offset >= self.position:
                self.leader_epoch = header.leader_epoch
                self._reader = open_batch(
                    self._buffer,
                    at,
                    self._end,
                    header,
                    decompressed_bytes_max=self._decoder.decompressed_bytes_max,
                    check=self._decoder.check_crcs,
                )
                return self._reader
            self._step_over(header)
        self._at = self._end  # what follows is a batch that the response has cut off
        return None

    def _step_over(self, header: BatchHeader | None) -> None:
        assert header is not None
        self._reader = None
        self._at += header.size_bytes
        self.position = max(self.position, header.next_offset)

    def _batches(self) -> Iterator[tuple[int, BatchHeader, bool]]:
        """Position and header of the batches from here on, and whether a consumer gets their records."""
        aborted, aborting = self._aborted, self._aborting
        if self._end - self._at > MAGIC_AT and self._buffer[self._at + MAGIC_AT] < MAGIC:
            raise CorruptBatch(
                f"it has message format {self._buffer[self._at + MAGIC_AT]}, which brokers before Kafka 0.11 "
                "wrote and 4.0 has given up; only format 2 is read here"
            )
        reached = 0
        for at, header in iter_headers(self._buffer, self._at, self._end):
            self._whole = True
            if header.base_offset < reached or header.last_offset_delta < 0 or header.next_offset > INT64_MAX:
                # Outside of the CRC, and never written by a log: each batch begins after the one before it.
                raise CorruptBatch(f"it has the offsets {header.base_offset} to {header.last_offset}")
            reached = header.next_offset
            while aborted and aborted[-1][0] <= header.last_offset:
                aborting.add(aborted.pop()[1])
            if header.is_control:
                if header.producer_id in aborting and self._is_abort_marker(at):
                    aborting.discard(header.producer_id)
                yield at, header, False
            else:
                yield at, header, not (header.is_transactional and header.producer_id in aborting)
                self.leader_epoch = header.leader_epoch
        if not self._whole and self._end:
            raise CorruptBatch("the broker sent only a part of a batch")

    def _is_abort_marker(self, at: int) -> bool:
        markers = decode_batch(self._buffer, at, decompressed_bytes_max=self._decoder.decompressed_bytes_max)
        return bool(markers) and control_type(markers[0].key) == ControlType.ABORT

    def _unreadable(self, error: Exception) -> ProtocolError:
        return ProtocolError(
            f"{self.tp} at offset {self.position}: the batch cannot be read: {error}",
            topic=self.tp.topic,
            partition=self.tp.partition,
            offset=self.position,
        )
