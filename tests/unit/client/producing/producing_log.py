"""A partition's log with Kafka's checks of producer epochs and sequences, for the scripted cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ottla.model.errors import ErrorCode
from ottla.wire.record_batch import check_crc, decode_batch

SEQUENCES = 2**31
REMEMBERED_BATCHES = 5


@dataclass
class ProducerEntry:
    epoch: int
    last_sequence: int
    batches: list[tuple[int, int, int]] = field(default_factory=list)
    """First and last sequence, and offset, of the newest."""


class Stored(NamedTuple):
    value: bytes | None
    producer_id: int
    producer_epoch: int
    transactional: bool


class PartitionLog:
    def __init__(self) -> None:
        self.records: list[Stored] = []
        self.producers: dict[int, ProducerEntry] = {}
        self.decided: dict[int, bool] = {}
        """Offset to whether its transaction was committed."""
        self.start_offset = 0

    def append(self, data: Any) -> tuple[int, int]:
        """Error code and base offset, by the rules of Kafka's ProducerStateManager."""
        header = check_crc(data, 0, len(data))
        records = decode_batch(data, decompressed_bytes_max=1 << 24)
        if header.producer_id >= 0:
            code, offset = self._check(header)
            if code != ErrorCode.NONE or offset >= 0:
                return code, offset
        base_offset = len(self.records)
        self.records += [
            Stored(r.value, header.producer_id, header.producer_epoch, header.is_transactional)
            for r in records
        ]
        if header.producer_id >= 0:
            entry = self.producers.get(header.producer_id)
            if entry is None or entry.epoch != header.producer_epoch:
                entry = self.producers[header.producer_id] = ProducerEntry(header.producer_epoch, -1)
            entry.last_sequence = header.last_sequence
            entry.batches.append((header.base_sequence, header.last_sequence, base_offset))
            del entry.batches[:-REMEMBERED_BATCHES]
        return ErrorCode.NONE, base_offset

    def _check(self, header: Any) -> tuple[int, int]:
        entry = self.producers.get(header.producer_id)
        if entry is None:
            return ErrorCode.NONE, -1  # nothing is known of the producer: any sequence will do
        if header.producer_epoch < entry.epoch:
            return ErrorCode.INVALID_PRODUCER_EPOCH, -1
        if header.producer_epoch > entry.epoch:
            return (
                ErrorCode.NONE if header.base_sequence == 0 else ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
            ), -1
        for first, last, offset in entry.batches:
            if (first, last) == (header.base_sequence, header.last_sequence):
                return ErrorCode.NONE, offset
        expected = (entry.last_sequence + 1) % SEQUENCES
        if header.base_sequence != expected:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1
        return ErrorCode.NONE, -1

    def mark(self, producer_id: int, epoch: int, next_epoch: int, *, committed: bool) -> None:
        """The end of a transaction."""
        for offset, record in enumerate(self.records):
            if record.producer_id == producer_id and record.transactional and offset not in self.decided:
                self.decided[offset] = committed
        entry = self.producers.get(producer_id)
        if entry is not None and next_epoch > entry.epoch:
            self.producers[producer_id] = ProducerEntry(next_epoch, -1)

    def values(self) -> list[bytes | None]:
        return [record.value for record in self.records]

    def committed(self) -> list[bytes | None]:
        """What a reader with read_committed gets."""
        return [
            record.value
            for offset, record in enumerate(self.records)
            if not record.transactional or self.decided.get(offset)
        ]
