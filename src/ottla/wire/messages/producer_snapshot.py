"""producer_snapshot. Generated from schema/records/producer_snapshot.txt by tools/generate_messages.py; do not edit."""

from __future__ import annotations

from struct import Struct
from typing import Any, ClassVar, Final

from ottla.wire.primitives import (
    Buffer,
    DECODE_FAILURES,
    ENCODE_FAILURES,
    Encoder,
    decode_failed,
    encode_failed,
    length_read,
    null_read,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_I = Struct(">I").pack
_unpack_I = Struct(">I").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_qhiqiqiq = Struct(">qhiqiqiq").pack
_unpack_qhiqiqiq = Struct(">qhiqiqiq").unpack_from


class ProducerEntry:
    """Part of ProducerSnapshot."""

    __slots__ = ("producer_id", "epoch", "last_sequence", "last_offset", "offset_delta", "timestamp", "coordinator_epoch", "current_txn_first_offset")

    producer_id: int
    epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    current_txn_first_offset: int

    def __init__(
        self,
        *,
        producer_id: int = 0,
        epoch: int = 0,
        last_sequence: int = 0,
        last_offset: int = 0,
        offset_delta: int = 0,
        timestamp: int = 0,
        coordinator_epoch: int = 0,
        current_txn_first_offset: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.epoch = epoch
        self.last_sequence = last_sequence
        self.last_offset = last_offset
        self.offset_delta = offset_delta
        self.timestamp = timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_first_offset = current_txn_first_offset

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProducerEntry):
            return NotImplemented
        return (
            self.producer_id == other.producer_id
            and self.epoch == other.epoch
            and self.last_sequence == other.last_sequence
            and self.last_offset == other.last_offset
            and self.offset_delta == other.offset_delta
            and self.timestamp == other.timestamp
            and self.coordinator_epoch == other.coordinator_epoch
            and self.current_txn_first_offset == other.current_txn_first_offset
        )

    def __repr__(self) -> str:
        return f"ProducerEntry(producer_id={self.producer_id!r}, epoch={self.epoch!r}, last_sequence={self.last_sequence!r}, last_offset={self.last_offset!r}, offset_delta={self.offset_delta!r}, timestamp={self.timestamp!r}, coordinator_epoch={self.coordinator_epoch!r}, current_txn_first_offset={self.current_txn_first_offset!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_qhiqiqiq(self.producer_id, self.epoch, self.last_sequence, self.last_offset, self.offset_delta, self.timestamp, self.coordinator_epoch, self.current_txn_first_offset)


def _read_ProducerEntry(buf: memoryview, pos: int, end: int, version: int) -> tuple[ProducerEntry, int]:
    self = ProducerEntry.__new__(ProducerEntry)
    self.producer_id, self.epoch, self.last_sequence, self.last_offset, self.offset_delta, self.timestamp, self.coordinator_epoch, self.current_txn_first_offset = _unpack_qhiqiqiq(buf, pos)
    pos += 46
    return self, pos


class ProducerSnapshot:
    """Version 1."""

    __slots__ = ("crc", "producer_entries")

    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    crc: int
    producer_entries: list[ProducerEntry]

    def __init__(
        self,
        *,
        crc: int = 0,
        producer_entries: list[ProducerEntry] = _EMPTY,
    ) -> None:
        self.crc = crc
        self.producer_entries = [] if producer_entries is _EMPTY else producer_entries

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProducerSnapshot):
            return NotImplemented
        return (
            self.crc == other.crc
            and self.producer_entries == other.producer_entries
        )

    def __repr__(self) -> str:
        return f"ProducerSnapshot(crc={self.crc!r}, producer_entries={self.producer_entries!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 1:
            raise encode_failed("ProducerSnapshot", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_I(self.crc)
            n = len(self.producer_entries)
            buf += _pack_i(n)
            for i_producer_entries in self.producer_entries:
                i_producer_entries.encode(out, version)
        except ENCODE_FAILURES as error:
            raise encode_failed("ProducerSnapshot", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ProducerSnapshot, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 1:
            raise decode_failed("ProducerSnapshot", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ProducerSnapshot", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ProducerSnapshot(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ProducerSnapshot", version, error) from error
        if pos > end:
            raise decode_failed("ProducerSnapshot", version, "truncated")
        return message, pos


def _read_ProducerSnapshot(buf: memoryview, pos: int, end: int, version: int) -> tuple[ProducerSnapshot, int]:
    self = ProducerSnapshot.__new__(ProducerSnapshot)
    (self.crc,) = _unpack_I(buf, pos)
    pos += 4
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_read("ProducerSnapshot.producer_entries")
    if n * 46 > end - pos:
        raise length_read("ProducerSnapshot.producer_entries", n, end - pos)
    l_producer_entries: list[ProducerEntry] = []
    for _ in range(n):
        i_producer_entries, pos = _read_ProducerEntry(buf, pos, end, version)
        l_producer_entries.append(i_producer_entries)
    self.producer_entries = l_producer_entries
    return self, pos
