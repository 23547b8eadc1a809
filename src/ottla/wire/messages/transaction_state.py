"""transaction_state. Generated from schema/records/transaction_state.txt by tools/generate_messages.py; do not edit."""

from __future__ import annotations

from struct import Struct
from struct import pack as _pack_n, unpack_from as _unpack_n
from typing import Any, ClassVar, Final

from ottla.wire.primitives import (
    Buffer,
    DECODE_FAILURES,
    DecodeError,
    ENCODE_FAILURES,
    Encoder,
    INT32_ARRAY_SHORT,
    INT32_PACK,
    INT32_UNPACK,
    decode_failed,
    encode_failed,
    field_unsupported,
    length_read,
    null_read,
    read_string_length_tail,
    read_uvarint,
    read_uvarint_tail,
    skip_tagged_fields,
    write_string_length,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_q = Struct(">q").pack
_unpack_q = Struct(">q").unpack_from
_pack_qhib = Struct(">qhib").pack
_unpack_qhib = Struct(">qhib").unpack_from
_pack_2q = Struct(">qq").pack
_unpack_2q = Struct(">qq").unpack_from


class TransactionLogKey:
    """Version 0."""

    __slots__ = ("transactional_id",)

    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    transactional_id: str

    def __init__(
        self,
        *,
        transactional_id: str = "",
    ) -> None:
        self.transactional_id = transactional_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TransactionLogKey):
            return NotImplemented
        return (
            self.transactional_id == other.transactional_id
        )

    def __repr__(self) -> str:
        return f"TransactionLogKey(transactional_id={self.transactional_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("TransactionLogKey", version, "no such version")
        try:
            buf = out.buf
            data = self.transactional_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("TransactionLogKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[TransactionLogKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("TransactionLogKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("TransactionLogKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_TransactionLogKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("TransactionLogKey", version, error) from error
        if pos > end:
            raise decode_failed("TransactionLogKey", version, "truncated")
        return message, pos


def _read_TransactionLogKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[TransactionLogKey, int]:
    self = TransactionLogKey.__new__(TransactionLogKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("TransactionLogKey.transactional_id")
    stop = pos + n
    if stop > end:
        raise length_read("TransactionLogKey.transactional_id", n, end - pos)
    self.transactional_id = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class PartitionsSchema:
    """Part of TransactionLogValue."""

    __slots__ = ("topic", "partition_ids")

    topic: str
    partition_ids: list[int]

    def __init__(
        self,
        *,
        topic: str = "",
        partition_ids: list[int] = _EMPTY,
    ) -> None:
        self.topic = topic
        self.partition_ids = [] if partition_ids is _EMPTY else partition_ids

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionsSchema):
            return NotImplemented
        return (
            self.topic == other.topic
            and self.partition_ids == other.partition_ids
        )

    def __repr__(self) -> str:
        return f"PartitionsSchema(topic={self.topic!r}, partition_ids={self.partition_ids!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 1
        data = self.topic.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        n = len(self.partition_ids)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.partition_ids)
        else:
            buf += _pack_n(f">{n}i", *self.partition_ids)
        if flexible:
            buf.append(0)


def _read_PartitionsSchema(buf: memoryview, pos: int, end: int, version: int) -> tuple[PartitionsSchema, int]:
    flexible = version >= 1
    self = PartitionsSchema.__new__(PartitionsSchema)
    if flexible:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
    else:
        (n,) = _unpack_h(buf, pos)
        pos += 2
    if n < 0:
        raise null_read("PartitionsSchema.topic")
    stop = pos + n
    if stop > end:
        raise length_read("PartitionsSchema.topic", n, end - pos)
    self.topic = str(buf[pos:stop], "utf-8")
    pos = stop
    if flexible:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
    else:
        (n,) = _unpack_i(buf, pos)
        pos += 4
    if n < 0:
        raise null_read("PartitionsSchema.partition_ids")
    if n * 4 > end - pos:
        raise length_read("PartitionsSchema.partition_ids", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.partition_ids = list(INT32_UNPACK[n](buf, pos))
    else:
        self.partition_ids = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class TransactionLogValue:
    """Versions 0 to 1, flexible from 1."""

    __slots__ = ("producer_id", "previous_producer_id", "next_producer_id", "producer_epoch", "next_producer_epoch", "transaction_timeout_ms", "transaction_status", "transaction_partitions", "transaction_last_update_timestamp_ms", "transaction_start_timestamp_ms", "client_transaction_version")

    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1

    producer_id: int
    previous_producer_id: int
    next_producer_id: int
    producer_epoch: int
    next_producer_epoch: int
    transaction_timeout_ms: int
    transaction_status: int
    transaction_partitions: list[PartitionsSchema] | None
    transaction_last_update_timestamp_ms: int
    transaction_start_timestamp_ms: int
    client_transaction_version: int

    def __init__(
        self,
        *,
        producer_id: int = 0,
        previous_producer_id: int = -1,
        next_producer_id: int = -1,
        producer_epoch: int = 0,
        next_producer_epoch: int = -1,
        transaction_timeout_ms: int = 0,
        transaction_status: int = 0,
        transaction_partitions: list[PartitionsSchema] | None = _EMPTY,
        transaction_last_update_timestamp_ms: int = 0,
        transaction_start_timestamp_ms: int = 0,
        client_transaction_version: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.previous_producer_id = previous_producer_id
        self.next_producer_id = next_producer_id
        self.producer_epoch = producer_epoch
        self.next_producer_epoch = next_producer_epoch
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_status = transaction_status
        self.transaction_partitions = [] if transaction_partitions is _EMPTY else transaction_partitions
        self.transaction_last_update_timestamp_ms = transaction_last_update_timestamp_ms
        self.transaction_start_timestamp_ms = transaction_start_timestamp_ms
        self.client_transaction_version = client_transaction_version

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TransactionLogValue):
            return NotImplemented
        return (
            self.producer_id == other.producer_id
            and self.previous_producer_id == other.previous_producer_id
            and self.next_producer_id == other.next_producer_id
            and self.producer_epoch == other.producer_epoch
            and self.next_producer_epoch == other.next_producer_epoch
            and self.transaction_timeout_ms == other.transaction_timeout_ms
            and self.transaction_status == other.transaction_status
            and self.transaction_partitions == other.transaction_partitions
            and self.transaction_last_update_timestamp_ms == other.transaction_last_update_timestamp_ms
            and self.transaction_start_timestamp_ms == other.transaction_start_timestamp_ms
            and self.client_transaction_version == other.client_transaction_version
        )

    def __repr__(self) -> str:
        return f"TransactionLogValue(producer_id={self.producer_id!r}, previous_producer_id={self.previous_producer_id!r}, next_producer_id={self.next_producer_id!r}, producer_epoch={self.producer_epoch!r}, next_producer_epoch={self.next_producer_epoch!r}, transaction_timeout_ms={self.transaction_timeout_ms!r}, transaction_status={self.transaction_status!r}, transaction_partitions={self.transaction_partitions!r}, transaction_last_update_timestamp_ms={self.transaction_last_update_timestamp_ms!r}, transaction_start_timestamp_ms={self.transaction_start_timestamp_ms!r}, client_transaction_version={self.client_transaction_version!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("TransactionLogValue", version, "no such version")
        try:
            if version < 1:
                if self.previous_producer_id != -1:
                    raise field_unsupported("TransactionLogValue.previous_producer_id", version)
                if self.next_producer_id != -1:
                    raise field_unsupported("TransactionLogValue.next_producer_id", version)
                if self.next_producer_epoch != -1:
                    raise field_unsupported("TransactionLogValue.next_producer_epoch", version)
                if self.client_transaction_version != 0:
                    raise field_unsupported("TransactionLogValue.client_transaction_version", version)
            buf = out.buf
            flexible = version >= 1
            buf += _pack_qhib(self.producer_id, self.producer_epoch, self.transaction_timeout_ms, self.transaction_status)
            v_transaction_partitions = self.transaction_partitions
            if v_transaction_partitions is None:
                if flexible:
                    buf.append(0)
                else:
                    buf += b"\xff\xff\xff\xff"
            else:
                n = len(v_transaction_partitions)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_uvarint(buf, n + 1)
                else:
                    buf += _pack_i(n)
                for i_transaction_partitions in v_transaction_partitions:
                    i_transaction_partitions.encode(out, version)
            buf += _pack_2q(self.transaction_last_update_timestamp_ms, self.transaction_start_timestamp_ms)
            if flexible:
                count = 0
                if self.previous_producer_id != -1:
                    count += 1
                if self.next_producer_id != -1:
                    count += 1
                if self.client_transaction_version != 0:
                    count += 1
                if self.next_producer_epoch != -1:
                    count += 1
                buf.append(count)
                if count:
                    if self.previous_producer_id != -1:
                        buf += b"\x00\x08"
                        buf += _pack_q(self.previous_producer_id)
                    if self.next_producer_id != -1:
                        buf += b"\x01\x08"
                        buf += _pack_q(self.next_producer_id)
                    if self.client_transaction_version != 0:
                        buf += b"\x02\x02"
                        buf += _pack_h(self.client_transaction_version)
                    if self.next_producer_epoch != -1:
                        buf += b"\x03\x02"
                        buf += _pack_h(self.next_producer_epoch)
        except ENCODE_FAILURES as error:
            raise encode_failed("TransactionLogValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[TransactionLogValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("TransactionLogValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("TransactionLogValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_TransactionLogValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("TransactionLogValue", version, error) from error
        if pos > end:
            raise decode_failed("TransactionLogValue", version, "truncated")
        return message, pos


def _read_TransactionLogValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[TransactionLogValue, int]:
    flexible = version >= 1
    self = TransactionLogValue.__new__(TransactionLogValue)
    self.producer_id, self.producer_epoch, self.transaction_timeout_ms, self.transaction_status = _unpack_qhib(buf, pos)
    pos += 15
    if flexible:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
    else:
        (n,) = _unpack_i(buf, pos)
        pos += 4
    if n < 0:
        self.transaction_partitions = None
    else:
        if n * 3 > end - pos:
            raise length_read("TransactionLogValue.transaction_partitions", n, end - pos)
        l_transaction_partitions: list[PartitionsSchema] = []
        for _ in range(n):
            i_transaction_partitions, pos = _read_PartitionsSchema(buf, pos, end, version)
            l_transaction_partitions.append(i_transaction_partitions)
        self.transaction_partitions = l_transaction_partitions
    self.transaction_last_update_timestamp_ms, self.transaction_start_timestamp_ms = _unpack_2q(buf, pos)
    pos += 16
    self.previous_producer_id = -1
    self.next_producer_id = -1
    self.next_producer_epoch = -1
    self.client_transaction_version = 0
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            count, pos = read_uvarint(buf, pos)
            if count * 2 > end - pos:
                raise length_read("TransactionLogValue tags", count, end - pos)
            for _ in range(count):
                tag, pos = read_uvarint(buf, pos)
                size, pos = read_uvarint(buf, pos)
                tag_end = pos + size
                if tag_end > end:
                    raise length_read("TransactionLogValue tag", size, end - pos)
                if tag == 0:
                    (self.previous_producer_id,) = _unpack_q(buf, pos)
                    pos += 8
                elif tag == 1:
                    (self.next_producer_id,) = _unpack_q(buf, pos)
                    pos += 8
                elif tag == 2:
                    (self.client_transaction_version,) = _unpack_h(buf, pos)
                    pos += 2
                elif tag == 3:
                    (self.next_producer_epoch,) = _unpack_h(buf, pos)
                    pos += 2
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise DecodeError(f"TransactionLogValue: tag {tag} does not fill its {size} bytes")
    return self, pos


KEY_TYPES: Final[dict[int, type[Any]]] = {
    0: TransactionLogKey,
}

VALUE_TYPES: Final[dict[int, type[Any]]] = {
    0: TransactionLogValue,
}
