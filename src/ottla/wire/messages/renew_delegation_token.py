"""RenewDelegationToken. Generated from schema/renew_delegation_token.txt by tools/generate_messages.py; do not edit."""

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


class RenewDelegationTokenRequest:
    """Versions 1 to 2, flexible from 2."""

    __slots__ = ("hmac", "renew_period_ms")

    API_KEY: ClassVar[int] = 39
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    hmac: bytes
    renew_period_ms: int

    def __init__(
        self,
        *,
        hmac: bytes = b"",
        renew_period_ms: int = 0,
    ) -> None:
        self.hmac = hmac
        self.renew_period_ms = renew_period_ms

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RenewDelegationTokenRequest):
            return NotImplemented
        return (
            self.hmac == other.hmac
            and self.renew_period_ms == other.renew_period_ms
        )

    def __repr__(self) -> str:
        return f"RenewDelegationTokenRequest(hmac=<hidden>, renew_period_ms={self.renew_period_ms!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 2:
            raise encode_failed("RenewDelegationTokenRequest", version, "no such version")
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
            buf += _pack_q(self.renew_period_ms)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("RenewDelegationTokenRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[RenewDelegationTokenRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 2:
            raise decode_failed("RenewDelegationTokenRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("RenewDelegationTokenRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_RenewDelegationTokenRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("RenewDelegationTokenRequest", version, error) from error
        if pos > end:
            raise decode_failed("RenewDelegationTokenRequest", version, "truncated")
        return message, pos


def _read_RenewDelegationTokenRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[RenewDelegationTokenRequest, int]:
    flexible = version >= 2
    self = RenewDelegationTokenRequest.__new__(RenewDelegationTokenRequest)
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
        raise null_read("RenewDelegationTokenRequest.hmac")
    stop = pos + n
    if stop > end:
        raise length_read("RenewDelegationTokenRequest.hmac", n, end - pos)
    self.hmac = bytes(buf[pos:stop])
    pos = stop
    (self.renew_period_ms,) = _unpack_q(buf, pos)
    pos += 8
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class RenewDelegationTokenResponse:
    """Versions 1 to 2, flexible from 2."""

    __slots__ = ("error_code", "expiry_timestamp_ms", "throttle_time_ms")

    API_KEY: ClassVar[int] = 39
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
        if not isinstance(other, RenewDelegationTokenResponse):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.expiry_timestamp_ms == other.expiry_timestamp_ms
            and self.throttle_time_ms == other.throttle_time_ms
        )

    def __repr__(self) -> str:
        return f"RenewDelegationTokenResponse(error_code={self.error_code!r}, expiry_timestamp_ms={self.expiry_timestamp_ms!r}, throttle_time_ms={self.throttle_time_ms!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 2:
            raise encode_failed("RenewDelegationTokenResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            buf += _pack_hqi(self.error_code, self.expiry_timestamp_ms, self.throttle_time_ms)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("RenewDelegationTokenResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[RenewDelegationTokenResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 2:
            raise decode_failed("RenewDelegationTokenResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("RenewDelegationTokenResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_RenewDelegationTokenResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("RenewDelegationTokenResponse", version, error) from error
        if pos > end:
            raise decode_failed("RenewDelegationTokenResponse", version, "truncated")
        return message, pos


def _read_RenewDelegationTokenResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[RenewDelegationTokenResponse, int]:
    flexible = version >= 2
    self = RenewDelegationTokenResponse.__new__(RenewDelegationTokenResponse)
    self.error_code, self.expiry_timestamp_ms, self.throttle_time_ms = _unpack_hqi(buf, pos)
    pos += 14
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
