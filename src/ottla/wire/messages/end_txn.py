"""EndTxn. Generated from schema/end_txn.txt by tools/generate_messages.py; do not edit."""

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
    read_string_length_tail,
    skip_tagged_fields,
    write_string_length,
)

_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from
_pack_qh = Struct(">qh").pack
_unpack_qh = Struct(">qh").unpack_from
_pack_qhz = Struct(">qh?").pack
_unpack_qhz = Struct(">qh?").unpack_from


class EndTxnRequest:
    """Versions 0 to 5, flexible from 3."""

    __slots__ = ("transactional_id", "producer_id", "producer_epoch", "committed")

    API_KEY: ClassVar[int] = 26
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 3

    transactional_id: str
    producer_id: int
    producer_epoch: int
    committed: bool

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        committed: bool = False,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.committed = committed

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EndTxnRequest):
            return NotImplemented
        return (
            self.transactional_id == other.transactional_id
            and self.producer_id == other.producer_id
            and self.producer_epoch == other.producer_epoch
            and self.committed == other.committed
        )

    def __repr__(self) -> str:
        return f"EndTxnRequest(transactional_id={self.transactional_id!r}, producer_id={self.producer_id!r}, producer_epoch={self.producer_epoch!r}, committed={self.committed!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 5:
            raise encode_failed("EndTxnRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 3
            data = self.transactional_id.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
            buf += _pack_qhz(self.producer_id, self.producer_epoch, self.committed)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("EndTxnRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[EndTxnRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 5:
            raise decode_failed("EndTxnRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("EndTxnRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_EndTxnRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("EndTxnRequest", version, error) from error
        if pos > end:
            raise decode_failed("EndTxnRequest", version, "truncated")
        return message, pos


def _read_EndTxnRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[EndTxnRequest, int]:
    flexible = version >= 3
    self = EndTxnRequest.__new__(EndTxnRequest)
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
        raise null_read("EndTxnRequest.transactional_id")
    stop = pos + n
    if stop > end:
        raise length_read("EndTxnRequest.transactional_id", n, end - pos)
    self.transactional_id = str(buf[pos:stop], "utf-8")
    pos = stop
    self.producer_id, self.producer_epoch, self.committed = _unpack_qhz(buf, pos)
    pos += 11
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class EndTxnResponse:
    """Versions 0 to 5, flexible from 3."""

    __slots__ = ("throttle_time_ms", "error_code", "producer_id", "producer_epoch")

    API_KEY: ClassVar[int] = 26
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 3

    throttle_time_ms: int
    error_code: int
    producer_id: int
    producer_epoch: int

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EndTxnResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.producer_id == other.producer_id
            and self.producer_epoch == other.producer_epoch
        )

    def __repr__(self) -> str:
        return f"EndTxnResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, producer_id={self.producer_id!r}, producer_epoch={self.producer_epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 5:
            raise encode_failed("EndTxnResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 3
            buf += _pack_ih(self.throttle_time_ms, self.error_code)
            if version >= 5:
                buf += _pack_qh(self.producer_id, self.producer_epoch)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("EndTxnResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[EndTxnResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 5:
            raise decode_failed("EndTxnResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("EndTxnResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_EndTxnResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("EndTxnResponse", version, error) from error
        if pos > end:
            raise decode_failed("EndTxnResponse", version, "truncated")
        return message, pos


def _read_EndTxnResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[EndTxnResponse, int]:
    flexible = version >= 3
    self = EndTxnResponse.__new__(EndTxnResponse)
    self.throttle_time_ms, self.error_code = _unpack_ih(buf, pos)
    pos += 6
    if version >= 5:
        self.producer_id, self.producer_epoch = _unpack_qh(buf, pos)
        pos += 10
    else:
        self.producer_id = -1
        self.producer_epoch = -1
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
