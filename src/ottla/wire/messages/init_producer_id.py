"""InitProducerId. Generated from schema/init_producer_id.txt by tools/generate_messages.py; do not edit."""

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
    field_unsupported,
    length_read,
    read_string_length_tail,
    skip_tagged_fields,
    write_string_length,
)

_pack_2z = Struct(">??").pack
_unpack_2z = Struct(">??").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ihqh = Struct(">ihqh").pack
_unpack_ihqh = Struct(">ihqh").unpack_from
_pack_qh = Struct(">qh").pack
_unpack_qh = Struct(">qh").unpack_from


class InitProducerIdRequest:
    """Versions 0 to 6, flexible from 2."""

    __slots__ = ("transactional_id", "transaction_timeout_ms", "producer_id", "producer_epoch", "enable_2pc", "keep_prepared_txn")

    API_KEY: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    transactional_id: str | None
    transaction_timeout_ms: int
    producer_id: int
    producer_epoch: int
    enable_2pc: bool
    keep_prepared_txn: bool

    def __init__(
        self,
        *,
        transactional_id: str | None = "",
        transaction_timeout_ms: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        enable_2pc: bool = False,
        keep_prepared_txn: bool = False,
    ) -> None:
        self.transactional_id = transactional_id
        self.transaction_timeout_ms = transaction_timeout_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.enable_2pc = enable_2pc
        self.keep_prepared_txn = keep_prepared_txn

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, InitProducerIdRequest):
            return NotImplemented
        return (
            self.transactional_id == other.transactional_id
            and self.transaction_timeout_ms == other.transaction_timeout_ms
            and self.producer_id == other.producer_id
            and self.producer_epoch == other.producer_epoch
            and self.enable_2pc == other.enable_2pc
            and self.keep_prepared_txn == other.keep_prepared_txn
        )

    def __repr__(self) -> str:
        return f"InitProducerIdRequest(transactional_id={self.transactional_id!r}, transaction_timeout_ms={self.transaction_timeout_ms!r}, producer_id={self.producer_id!r}, producer_epoch={self.producer_epoch!r}, enable_2pc={self.enable_2pc!r}, keep_prepared_txn={self.keep_prepared_txn!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 6:
            raise encode_failed("InitProducerIdRequest", version, "no such version")
        try:
            if version < 3:
                if self.producer_id != -1:
                    raise field_unsupported("InitProducerIdRequest.producer_id", version)
                if self.producer_epoch != -1:
                    raise field_unsupported("InitProducerIdRequest.producer_epoch", version)
            if version < 6:
                if self.enable_2pc:
                    raise field_unsupported("InitProducerIdRequest.enable_2pc", version)
                if self.keep_prepared_txn:
                    raise field_unsupported("InitProducerIdRequest.keep_prepared_txn", version)
            buf = out.buf
            flexible = version >= 2
            v_transactional_id = self.transactional_id
            if v_transactional_id is None:
                if flexible:
                    buf.append(0)
                else:
                    buf += b"\xff\xff"
            else:
                data = v_transactional_id.encode()
                n = len(data)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                else:
                    buf += _pack_h(n)
                buf += data
            buf += _pack_i(self.transaction_timeout_ms)
            if version >= 3:
                buf += _pack_qh(self.producer_id, self.producer_epoch)
            if version >= 6:
                buf += _pack_2z(self.enable_2pc, self.keep_prepared_txn)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("InitProducerIdRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[InitProducerIdRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 6:
            raise decode_failed("InitProducerIdRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("InitProducerIdRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_InitProducerIdRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("InitProducerIdRequest", version, error) from error
        if pos > end:
            raise decode_failed("InitProducerIdRequest", version, "truncated")
        return message, pos


def _read_InitProducerIdRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[InitProducerIdRequest, int]:
    flexible = version >= 2
    self = InitProducerIdRequest.__new__(InitProducerIdRequest)
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
        self.transactional_id = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("InitProducerIdRequest.transactional_id", n, end - pos)
        self.transactional_id = str(buf[pos:stop], "utf-8")
        pos = stop
    (self.transaction_timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    if version >= 3:
        self.producer_id, self.producer_epoch = _unpack_qh(buf, pos)
        pos += 10
    else:
        self.producer_id = -1
        self.producer_epoch = -1
    if version >= 6:
        self.enable_2pc, self.keep_prepared_txn = _unpack_2z(buf, pos)
        pos += 2
    else:
        self.enable_2pc = False
        self.keep_prepared_txn = False
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class InitProducerIdResponse:
    """Versions 0 to 6, flexible from 2."""

    __slots__ = ("throttle_time_ms", "error_code", "producer_id", "producer_epoch", "ongoing_txn_producer_id", "ongoing_txn_producer_epoch")

    API_KEY: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    throttle_time_ms: int
    error_code: int
    producer_id: int
    producer_epoch: int
    ongoing_txn_producer_id: int
    ongoing_txn_producer_epoch: int

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = 0,
        ongoing_txn_producer_id: int = -1,
        ongoing_txn_producer_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.ongoing_txn_producer_id = ongoing_txn_producer_id
        self.ongoing_txn_producer_epoch = ongoing_txn_producer_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, InitProducerIdResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.producer_id == other.producer_id
            and self.producer_epoch == other.producer_epoch
            and self.ongoing_txn_producer_id == other.ongoing_txn_producer_id
            and self.ongoing_txn_producer_epoch == other.ongoing_txn_producer_epoch
        )

    def __repr__(self) -> str:
        return f"InitProducerIdResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, producer_id={self.producer_id!r}, producer_epoch={self.producer_epoch!r}, ongoing_txn_producer_id={self.ongoing_txn_producer_id!r}, ongoing_txn_producer_epoch={self.ongoing_txn_producer_epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 6:
            raise encode_failed("InitProducerIdResponse", version, "no such version")
        try:
            if version < 6:
                if self.ongoing_txn_producer_id != -1:
                    raise field_unsupported("InitProducerIdResponse.ongoing_txn_producer_id", version)
                if self.ongoing_txn_producer_epoch != -1:
                    raise field_unsupported("InitProducerIdResponse.ongoing_txn_producer_epoch", version)
            buf = out.buf
            flexible = version >= 2
            buf += _pack_ihqh(self.throttle_time_ms, self.error_code, self.producer_id, self.producer_epoch)
            if version >= 6:
                buf += _pack_qh(self.ongoing_txn_producer_id, self.ongoing_txn_producer_epoch)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("InitProducerIdResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[InitProducerIdResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 6:
            raise decode_failed("InitProducerIdResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("InitProducerIdResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_InitProducerIdResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("InitProducerIdResponse", version, error) from error
        if pos > end:
            raise decode_failed("InitProducerIdResponse", version, "truncated")
        return message, pos


def _read_InitProducerIdResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[InitProducerIdResponse, int]:
    flexible = version >= 2
    self = InitProducerIdResponse.__new__(InitProducerIdResponse)
    self.throttle_time_ms, self.error_code, self.producer_id, self.producer_epoch = _unpack_ihqh(buf, pos)
    pos += 16
    if version >= 6:
        self.ongoing_txn_producer_id, self.ongoing_txn_producer_epoch = _unpack_qh(buf, pos)
        pos += 10
    else:
        self.ongoing_txn_producer_id = -1
        self.ongoing_txn_producer_epoch = -1
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
