"""Envelope. Generated from schema/envelope.txt by tools/generate_messages.py; do not edit."""

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
    read_uvarint_tail,
    skip_tagged_fields,
    write_uvarint,
)

_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from


class EnvelopeRequest:
    """Version 0."""

    __slots__ = ("request_data", "request_principal", "client_host_address")

    API_KEY: ClassVar[int] = 58
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    request_data: bytes
    request_principal: bytes | None
    client_host_address: bytes

    def __init__(
        self,
        *,
        request_data: bytes = b"",
        request_principal: bytes | None = b"",
        client_host_address: bytes = b"",
    ) -> None:
        self.request_data = request_data
        self.request_principal = request_principal
        self.client_host_address = client_host_address

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EnvelopeRequest):
            return NotImplemented
        return (
            self.request_data == other.request_data
            and self.request_principal == other.request_principal
            and self.client_host_address == other.client_host_address
        )

    def __repr__(self) -> str:
        return f"EnvelopeRequest(request_data=<hidden>, request_principal={self.request_principal!r}, client_host_address={self.client_host_address!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("EnvelopeRequest", version, "no such version")
        try:
            buf = out.buf
            n = len(self.request_data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            buf += self.request_data
            v_request_principal = self.request_principal
            if v_request_principal is None:
                buf.append(0)
            else:
                n = len(v_request_principal)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                buf += v_request_principal
            n = len(self.client_host_address)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            buf += self.client_host_address
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("EnvelopeRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[EnvelopeRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("EnvelopeRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("EnvelopeRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_EnvelopeRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("EnvelopeRequest", version, error) from error
        if pos > end:
            raise decode_failed("EnvelopeRequest", version, "truncated")
        return message, pos


def _read_EnvelopeRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[EnvelopeRequest, int]:
    self = EnvelopeRequest.__new__(EnvelopeRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("EnvelopeRequest.request_data")
    stop = pos + n
    if stop > end:
        raise length_read("EnvelopeRequest.request_data", n, end - pos)
    self.request_data = bytes(buf[pos:stop])
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.request_principal = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("EnvelopeRequest.request_principal", n, end - pos)
        self.request_principal = bytes(buf[pos:stop])
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("EnvelopeRequest.client_host_address")
    stop = pos + n
    if stop > end:
        raise length_read("EnvelopeRequest.client_host_address", n, end - pos)
    self.client_host_address = bytes(buf[pos:stop])
    pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class EnvelopeResponse:
    """Version 0."""

    __slots__ = ("response_data", "error_code")

    API_KEY: ClassVar[int] = 58
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    response_data: bytes | None
    error_code: int

    def __init__(
        self,
        *,
        response_data: bytes | None = None,
        error_code: int = 0,
    ) -> None:
        self.response_data = response_data
        self.error_code = error_code

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EnvelopeResponse):
            return NotImplemented
        return (
            self.response_data == other.response_data
            and self.error_code == other.error_code
        )

    def __repr__(self) -> str:
        return f"EnvelopeResponse(response_data=<hidden>, error_code={self.error_code!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("EnvelopeResponse", version, "no such version")
        try:
            buf = out.buf
            v_response_data = self.response_data
            if v_response_data is None:
                buf.append(0)
            else:
                n = len(v_response_data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                buf += v_response_data
            buf += _pack_h(self.error_code)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("EnvelopeResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[EnvelopeResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("EnvelopeResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("EnvelopeResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_EnvelopeResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("EnvelopeResponse", version, error) from error
        if pos > end:
            raise decode_failed("EnvelopeResponse", version, "truncated")
        return message, pos


def _read_EnvelopeResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[EnvelopeResponse, int]:
    self = EnvelopeResponse.__new__(EnvelopeResponse)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.response_data = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("EnvelopeResponse.response_data", n, end - pos)
        self.response_data = bytes(buf[pos:stop])
        pos = stop
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
