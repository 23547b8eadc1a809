"""SaslAuthenticate. Generated from schema/sasl_authenticate.txt by tools/generate_messages.py; do not edit."""

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
    read_uvarint_tail,
    skip_tagged_fields,
    write_string_length,
    write_uvarint,
)

_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_q = Struct(">q").pack
_unpack_q = Struct(">q").unpack_from


class SaslAuthenticateRequest:
    """Versions 0 to 2, flexible from 2."""

    __slots__ = ("auth_bytes",)

    API_KEY: ClassVar[int] = 36
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    auth_bytes: bytes

    def __init__(
        self,
        *,
        auth_bytes: bytes = b"",
    ) -> None:
        self.auth_bytes = auth_bytes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SaslAuthenticateRequest):
            return NotImplemented
        return (
            self.auth_bytes == other.auth_bytes
        )

    def __repr__(self) -> str:
        return "SaslAuthenticateRequest(auth_bytes=<hidden>)"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("SaslAuthenticateRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            n = len(self.auth_bytes)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            buf += self.auth_bytes
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("SaslAuthenticateRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[SaslAuthenticateRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("SaslAuthenticateRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("SaslAuthenticateRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_SaslAuthenticateRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("SaslAuthenticateRequest", version, error) from error
        if pos > end:
            raise decode_failed("SaslAuthenticateRequest", version, "truncated")
        return message, pos


def _read_SaslAuthenticateRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[SaslAuthenticateRequest, int]:
    flexible = version >= 2
    self = SaslAuthenticateRequest.__new__(SaslAuthenticateRequest)
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
        raise null_read("SaslAuthenticateRequest.auth_bytes")
    stop = pos + n
    if stop > end:
        raise length_read("SaslAuthenticateRequest.auth_bytes", n, end - pos)
    self.auth_bytes = bytes(buf[pos:stop])
    pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class SaslAuthenticateResponse:
    """Versions 0 to 2, flexible from 2."""

    __slots__ = ("error_code", "error_message", "auth_bytes", "session_lifetime_ms")

    API_KEY: ClassVar[int] = 36
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    error_code: int
    error_message: str | None
    auth_bytes: bytes
    session_lifetime_ms: int

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        auth_bytes: bytes = b"",
        session_lifetime_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.auth_bytes = auth_bytes
        self.session_lifetime_ms = session_lifetime_ms

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SaslAuthenticateResponse):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.auth_bytes == other.auth_bytes
            and self.session_lifetime_ms == other.session_lifetime_ms
        )

    def __repr__(self) -> str:
        return f"SaslAuthenticateResponse(error_code={self.error_code!r}, error_message={self.error_message!r}, auth_bytes=<hidden>, session_lifetime_ms={self.session_lifetime_ms!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("SaslAuthenticateResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            buf += _pack_h(self.error_code)
            v_error_message = self.error_message
            if v_error_message is None:
                if flexible:
                    buf.append(0)
                else:
                    buf += b"\xff\xff"
            else:
                data = v_error_message.encode()
                n = len(data)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                else:
                    buf += _pack_h(n)
                buf += data
            n = len(self.auth_bytes)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            buf += self.auth_bytes
            if version >= 1:
                buf += _pack_q(self.session_lifetime_ms)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("SaslAuthenticateResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[SaslAuthenticateResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("SaslAuthenticateResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("SaslAuthenticateResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_SaslAuthenticateResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("SaslAuthenticateResponse", version, error) from error
        if pos > end:
            raise decode_failed("SaslAuthenticateResponse", version, "truncated")
        return message, pos


def _read_SaslAuthenticateResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[SaslAuthenticateResponse, int]:
    flexible = version >= 2
    self = SaslAuthenticateResponse.__new__(SaslAuthenticateResponse)
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
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
        self.error_message = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("SaslAuthenticateResponse.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
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
        raise null_read("SaslAuthenticateResponse.auth_bytes")
    stop = pos + n
    if stop > end:
        raise length_read("SaslAuthenticateResponse.auth_bytes", n, end - pos)
    self.auth_bytes = bytes(buf[pos:stop])
    pos = stop
    if version >= 1:
        (self.session_lifetime_ms,) = _unpack_q(buf, pos)
        pos += 8
    else:
        self.session_lifetime_ms = 0
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
