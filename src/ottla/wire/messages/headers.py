"""headers. Generated from schema/headers.txt by tools/generate_messages.py; do not edit."""

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
    skip_tagged_fields,
    write_string_length,
)

_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_2hi = Struct(">hhi").pack
_unpack_2hi = Struct(">hhi").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from


class RequestHeader:
    """Versions 1 to 2, flexible from 2."""

    __slots__ = ("request_api_key", "request_api_version", "correlation_id", "client_id")

    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    request_api_key: int
    request_api_version: int
    correlation_id: int
    client_id: str | None

    def __init__(
        self,
        *,
        request_api_key: int = 0,
        request_api_version: int = 0,
        correlation_id: int = 0,
        client_id: str | None = "",
    ) -> None:
        self.request_api_key = request_api_key
        self.request_api_version = request_api_version
        self.correlation_id = correlation_id
        self.client_id = client_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RequestHeader):
            return NotImplemented
        return (
            self.request_api_key == other.request_api_key
            and self.request_api_version == other.request_api_version
            and self.correlation_id == other.correlation_id
            and self.client_id == other.client_id
        )

    def __repr__(self) -> str:
        return f"RequestHeader(request_api_key={self.request_api_key!r}, request_api_version={self.request_api_version!r}, correlation_id={self.correlation_id!r}, client_id={self.client_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 2:
            raise encode_failed("RequestHeader", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            buf += _pack_2hi(self.request_api_key, self.request_api_version, self.correlation_id)
            v_client_id = self.client_id
            if v_client_id is None:
                buf += b"\xff\xff"
            else:
                data = v_client_id.encode()
                n = len(data)
                buf += _pack_h(n)
                buf += data
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("RequestHeader", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[RequestHeader, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 2:
            raise decode_failed("RequestHeader", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("RequestHeader", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_RequestHeader(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("RequestHeader", version, error) from error
        if pos > end:
            raise decode_failed("RequestHeader", version, "truncated")
        return message, pos


def _read_RequestHeader(buf: memoryview, pos: int, end: int, version: int) -> tuple[RequestHeader, int]:
    flexible = version >= 2
    self = RequestHeader.__new__(RequestHeader)
    self.request_api_key, self.request_api_version, self.correlation_id = _unpack_2hi(buf, pos)
    pos += 8
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        self.client_id = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("RequestHeader.client_id", n, end - pos)
        self.client_id = str(buf[pos:stop], "utf-8")
        pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ResponseHeader:
    """Versions 0 to 1, flexible from 1."""

    __slots__ = ("correlation_id",)

    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1

    correlation_id: int

    def __init__(
        self,
        *,
        correlation_id: int = 0,
    ) -> None:
        self.correlation_id = correlation_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ResponseHeader):
            return NotImplemented
        return (
            self.correlation_id == other.correlation_id
        )

    def __repr__(self) -> str:
        return f"ResponseHeader(correlation_id={self.correlation_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("ResponseHeader", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 1
            buf += _pack_i(self.correlation_id)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ResponseHeader", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ResponseHeader, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("ResponseHeader", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ResponseHeader", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ResponseHeader(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ResponseHeader", version, error) from error
        if pos > end:
            raise decode_failed("ResponseHeader", version, "truncated")
        return message, pos


def _read_ResponseHeader(buf: memoryview, pos: int, end: int, version: int) -> tuple[ResponseHeader, int]:
    flexible = version >= 1
    self = ResponseHeader.__new__(ResponseHeader)
    (self.correlation_id,) = _unpack_i(buf, pos)
    pos += 4
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
