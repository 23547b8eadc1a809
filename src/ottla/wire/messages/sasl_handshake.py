"""SaslHandshake. Generated from schema/sasl_handshake.txt by tools/generate_messages.py; do not edit."""

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
    write_string_length,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from


class SaslHandshakeRequest:
    """Versions 0 to 1."""

    __slots__ = ("mechanism",)

    API_KEY: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    mechanism: str

    def __init__(
        self,
        *,
        mechanism: str = "",
    ) -> None:
        self.mechanism = mechanism

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SaslHandshakeRequest):
            return NotImplemented
        return (
            self.mechanism == other.mechanism
        )

    def __repr__(self) -> str:
        return f"SaslHandshakeRequest(mechanism={self.mechanism!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("SaslHandshakeRequest", version, "no such version")
        try:
            buf = out.buf
            data = self.mechanism.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("SaslHandshakeRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[SaslHandshakeRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("SaslHandshakeRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("SaslHandshakeRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_SaslHandshakeRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("SaslHandshakeRequest", version, error) from error
        if pos > end:
            raise decode_failed("SaslHandshakeRequest", version, "truncated")
        return message, pos


def _read_SaslHandshakeRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[SaslHandshakeRequest, int]:
    self = SaslHandshakeRequest.__new__(SaslHandshakeRequest)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("SaslHandshakeRequest.mechanism")
    stop = pos + n
    if stop > end:
        raise length_read("SaslHandshakeRequest.mechanism", n, end - pos)
    self.mechanism = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class SaslHandshakeResponse:
    """Versions 0 to 1."""

    __slots__ = ("error_code", "mechanisms")

    API_KEY: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    error_code: int
    mechanisms: list[str]

    def __init__(
        self,
        *,
        error_code: int = 0,
        mechanisms: list[str] = _EMPTY,
    ) -> None:
        self.error_code = error_code
        self.mechanisms = [] if mechanisms is _EMPTY else mechanisms

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SaslHandshakeResponse):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.mechanisms == other.mechanisms
        )

    def __repr__(self) -> str:
        return f"SaslHandshakeResponse(error_code={self.error_code!r}, mechanisms={self.mechanisms!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("SaslHandshakeResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_h(self.error_code)
            n = len(self.mechanisms)
            buf += _pack_i(n)
            for i_mechanisms in self.mechanisms:
                data = i_mechanisms.encode()
                n = len(data)
                buf += _pack_h(n)
                buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("SaslHandshakeResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[SaslHandshakeResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("SaslHandshakeResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("SaslHandshakeResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_SaslHandshakeResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("SaslHandshakeResponse", version, error) from error
        if pos > end:
            raise decode_failed("SaslHandshakeResponse", version, "truncated")
        return message, pos


def _read_SaslHandshakeResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[SaslHandshakeResponse, int]:
    self = SaslHandshakeResponse.__new__(SaslHandshakeResponse)
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_read("SaslHandshakeResponse.mechanisms")
    if n > end - pos:
        raise length_read("SaslHandshakeResponse.mechanisms", n, end - pos)
    l_mechanisms: list[str] = []
    for _ in range(n):
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_read("SaslHandshakeResponse.mechanisms")
        stop = pos + n
        if stop > end:
            raise length_read("SaslHandshakeResponse.mechanisms", n, end - pos)
        l_mechanisms.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.mechanisms = l_mechanisms
    return self, pos
