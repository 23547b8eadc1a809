"""AddOffsetsToTxn. Generated from schema/add_offsets_to_txn.txt by tools/generate_messages.py; do not edit."""

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


class AddOffsetsToTxnRequest:
    """Versions 0 to 4, flexible from 3."""

    __slots__ = ("transactional_id", "producer_id", "producer_epoch", "group_id")

    API_KEY: ClassVar[int] = 25
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 3

    transactional_id: str
    producer_id: int
    producer_epoch: int
    group_id: str

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        group_id: str = "",
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.group_id = group_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AddOffsetsToTxnRequest):
            return NotImplemented
        return (
            self.transactional_id == other.transactional_id
            and self.producer_id == other.producer_id
            and self.producer_epoch == other.producer_epoch
            and self.group_id == other.group_id
        )

    def __repr__(self) -> str:
        return f"AddOffsetsToTxnRequest(transactional_id={self.transactional_id!r}, producer_id={self.producer_id!r}, producer_epoch={self.producer_epoch!r}, group_id={self.group_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 4:
            raise encode_failed("AddOffsetsToTxnRequest", version, "no such version")
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
            buf += _pack_qh(self.producer_id, self.producer_epoch)
            data = self.group_id.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AddOffsetsToTxnRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AddOffsetsToTxnRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 4:
            raise decode_failed("AddOffsetsToTxnRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AddOffsetsToTxnRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AddOffsetsToTxnRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AddOffsetsToTxnRequest", version, error) from error
        if pos > end:
            raise decode_failed("AddOffsetsToTxnRequest", version, "truncated")
        return message, pos


def _read_AddOffsetsToTxnRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[AddOffsetsToTxnRequest, int]:
    flexible = version >= 3
    self = AddOffsetsToTxnRequest.__new__(AddOffsetsToTxnRequest)
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
        raise null_read("AddOffsetsToTxnRequest.transactional_id")
    stop = pos + n
    if stop > end:
        raise length_read("AddOffsetsToTxnRequest.transactional_id", n, end - pos)
    self.transactional_id = str(buf[pos:stop], "utf-8")
    pos = stop
    self.producer_id, self.producer_epoch = _unpack_qh(buf, pos)
    pos += 10
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
        raise null_read("AddOffsetsToTxnRequest.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("AddOffsetsToTxnRequest.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AddOffsetsToTxnResponse:
    """Versions 0 to 4, flexible from 3."""

    __slots__ = ("throttle_time_ms", "error_code")

    API_KEY: ClassVar[int] = 25
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 3

    throttle_time_ms: int
    error_code: int

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AddOffsetsToTxnResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
        )

    def __repr__(self) -> str:
        return f"AddOffsetsToTxnResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 4:
            raise encode_failed("AddOffsetsToTxnResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 3
            buf += _pack_ih(self.throttle_time_ms, self.error_code)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AddOffsetsToTxnResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AddOffsetsToTxnResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 4:
            raise decode_failed("AddOffsetsToTxnResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AddOffsetsToTxnResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AddOffsetsToTxnResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AddOffsetsToTxnResponse", version, error) from error
        if pos > end:
            raise decode_failed("AddOffsetsToTxnResponse", version, "truncated")
        return message, pos


def _read_AddOffsetsToTxnResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[AddOffsetsToTxnResponse, int]:
    flexible = version >= 3
    self = AddOffsetsToTxnResponse.__new__(AddOffsetsToTxnResponse)
    self.throttle_time_ms, self.error_code = _unpack_ih(buf, pos)
    pos += 6
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
