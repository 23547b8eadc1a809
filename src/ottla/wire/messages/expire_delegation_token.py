"""ExpireDelegationToken. Generated from schema/expire_delegation_token.txt by tools/generate_messages.py; do not edit."""

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

_pack_hqi = Struct(">hqi").pack
_unpack_hqi = Struct(">hqi").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_q = Struct(">q").pack
_unpack_q = Struct(">q").unpack_from


class ExpireDelegationTokenRequest:
    """Versions 1 to 2, flexible from 2."""

    __slots__ = ("hmac", "expiry_time_period_ms")

    API_KEY: ClassVar[int] = 40
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    hmac: bytes
    expiry_time_period_ms: int

    def __init__(
        self,
        *,
        hmac: bytes = b"",
        expiry_time_period_ms: int = 0,
    ) -> None:
        self.hmac = hmac
        self.expiry_time_period_ms = expiry_time_period_ms

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExpireDelegationTokenRequest):
            return NotImplemented
        return (
            self.hmac == other.hmac
            and self.expiry_time_period_ms == other.expiry_time_period_ms
        )

    def __repr__(self) -> str:
        return f"ExpireDelegationTokenRequest(hmac=<hidden>, expiry_time_period_ms={self.expiry_time_period_ms!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 2:
            raise encode_failed("ExpireDelegationTokenRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            n = len(self.hmac)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            buf += self.hmac
            buf += _pack_q(self.expiry_time_period_ms)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ExpireDelegationTokenRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ExpireDelegationTokenRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 2:
            raise decode_failed("ExpireDelegationTokenRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ExpireDelegationTokenRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ExpireDelegationTokenRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ExpireDelegationTokenRequest", version, error) from error
        if pos > end:
            raise decode_failed("ExpireDelegationTokenRequest", version, "truncated")
        return message, pos


def _read_ExpireDelegationTokenRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[ExpireDelegationTokenRequest, int]:
    flexible = version >= 2
    self = ExpireDelegationTokenRequest.__new__(ExpireDelegationTokenRequest)
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
        raise null_read("ExpireDelegationTokenRequest.hmac")
    stop = pos + n
    if stop > end:
        raise length_read("ExpireDelegationTokenRequest.hmac", n, end - pos)
    self.hmac = bytes(buf[pos:stop])
    pos = stop
    (self.expiry_time_period_ms,) = _unpack_q(buf, pos)
    pos += 8
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ExpireDelegationTokenResponse:
    """Versions 1 to 2, flexible from 2."""

    __slots__ = ("error_code", "expiry_timestamp_ms", "throttle_time_ms")

    API_KEY: ClassVar[int] = 40
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    error_code: int
    expiry_timestamp_ms: int
    throttle_time_ms: int

    def __init__(
        self,
        *,
        error_code: int = 0,
        expiry_timestamp_ms: int = 0,
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.throttle_time_ms = throttle_time_ms

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExpireDelegationTokenResponse):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.expiry_timestamp_ms == other.expiry_timestamp_ms
            and self.throttle_time_ms == other.throttle_time_ms
        )

    def __repr__(self) -> str:
        return f"ExpireDelegationTokenResponse(error_code={self.error_code!r}, expiry_timestamp_ms={self.expiry_timestamp_ms!r}, throttle_time_ms={self.throttle_time_ms!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 2:
            raise encode_failed("ExpireDelegationTokenResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            buf += _pack_hqi(self.error_code, self.expiry_timestamp_ms, self.throttle_time_ms)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ExpireDelegationTokenResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ExpireDelegationTokenResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 2:
            raise decode_failed("ExpireDelegationTokenResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ExpireDelegationTokenResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ExpireDelegationTokenResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ExpireDelegationTokenResponse", version, error) from error
        if pos > end:
            raise decode_failed("ExpireDelegationTokenResponse", version, "truncated")
        return message, pos


def _read_ExpireDelegationTokenResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ExpireDelegationTokenResponse, int]:
    flexible = version >= 2
    self = ExpireDelegationTokenResponse.__new__(ExpireDelegationTokenResponse)
    self.error_code, self.expiry_timestamp_ms, self.throttle_time_ms = _unpack_hqi(buf, pos)
    pos += 14
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
