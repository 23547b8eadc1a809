"""UnregisterBroker. Generated from schema/unregister_broker.txt by tools/generate_messages.py; do not edit."""

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
    read_string_length_tail,
    skip_tagged_fields,
    write_string_length,
)

_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from


class UnregisterBrokerRequest:
    """Version 0."""

    __slots__ = ("broker_id",)

    API_KEY: ClassVar[int] = 64
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    broker_id: int

    def __init__(
        self,
        *,
        broker_id: int = 0,
    ) -> None:
        self.broker_id = broker_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UnregisterBrokerRequest):
            return NotImplemented
        return (
            self.broker_id == other.broker_id
        )

    def __repr__(self) -> str:
        return f"UnregisterBrokerRequest(broker_id={self.broker_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("UnregisterBrokerRequest", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_i(self.broker_id)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("UnregisterBrokerRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[UnregisterBrokerRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("UnregisterBrokerRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("UnregisterBrokerRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_UnregisterBrokerRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("UnregisterBrokerRequest", version, error) from error
        if pos > end:
            raise decode_failed("UnregisterBrokerRequest", version, "truncated")
        return message, pos


def _read_UnregisterBrokerRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[UnregisterBrokerRequest, int]:
    self = UnregisterBrokerRequest.__new__(UnregisterBrokerRequest)
    (self.broker_id,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class UnregisterBrokerResponse:
    """Version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message")

    API_KEY: ClassVar[int] = 64
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    error_message: str | None

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UnregisterBrokerResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.error_message == other.error_message
        )

    def __repr__(self) -> str:
        return f"UnregisterBrokerResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, error_message={self.error_message!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("UnregisterBrokerResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_ih(self.throttle_time_ms, self.error_code)
            v_error_message = self.error_message
            if v_error_message is None:
                buf.append(0)
            else:
                data = v_error_message.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("UnregisterBrokerResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[UnregisterBrokerResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("UnregisterBrokerResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("UnregisterBrokerResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_UnregisterBrokerResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("UnregisterBrokerResponse", version, error) from error
        if pos > end:
            raise decode_failed("UnregisterBrokerResponse", version, "truncated")
        return message, pos


def _read_UnregisterBrokerResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[UnregisterBrokerResponse, int]:
    self = UnregisterBrokerResponse.__new__(UnregisterBrokerResponse)
    self.throttle_time_ms, self.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.error_message = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("UnregisterBrokerResponse.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
