"""PushTelemetry. Generated from schema/push_telemetry.txt by tools/generate_messages.py; do not edit."""

from __future__ import annotations

from struct import Struct
from typing import Any, ClassVar, Final

from ottla.wire.primitives import (
    Buffer,
    DECODE_FAILURES,
    ENCODE_FAILURES,
    Encoder,
    ZERO_UUID,
    decode_failed,
    encode_failed,
    length_read,
    null_read,
    read_uvarint_tail,
    skip_tagged_fields,
    uuid_written,
    write_uvarint,
)

_pack_uizb = Struct(">16si?b").pack
_unpack_uizb = Struct(">16si?b").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from


class PushTelemetryRequest:
    """Version 0."""

    __slots__ = ("client_instance_id", "subscription_id", "terminating", "compression_type", "metrics")

    API_KEY: ClassVar[int] = 72
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    client_instance_id: bytes
    subscription_id: int
    terminating: bool
    compression_type: int
    metrics: bytes

    def __init__(
        self,
        *,
        client_instance_id: bytes = ZERO_UUID,
        subscription_id: int = 0,
        terminating: bool = False,
        compression_type: int = 0,
        metrics: bytes = b"",
    ) -> None:
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.terminating = terminating
        self.compression_type = compression_type
        self.metrics = metrics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PushTelemetryRequest):
            return NotImplemented
        return (
            self.client_instance_id == other.client_instance_id
            and self.subscription_id == other.subscription_id
            and self.terminating == other.terminating
            and self.compression_type == other.compression_type
            and self.metrics == other.metrics
        )

    def __repr__(self) -> str:
        return f"PushTelemetryRequest(client_instance_id={self.client_instance_id!r}, subscription_id={self.subscription_id!r}, terminating={self.terminating!r}, compression_type={self.compression_type!r}, metrics={self.metrics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("PushTelemetryRequest", version, "no such version")
        try:
            buf = out.buf
            if len(self.client_instance_id) != 16:
                raise uuid_written("PushTelemetryRequest.client_instance_id")
            buf += _pack_uizb(self.client_instance_id, self.subscription_id, self.terminating, self.compression_type)
            n = len(self.metrics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            buf += self.metrics
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("PushTelemetryRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[PushTelemetryRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("PushTelemetryRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("PushTelemetryRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_PushTelemetryRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("PushTelemetryRequest", version, error) from error
        if pos > end:
            raise decode_failed("PushTelemetryRequest", version, "truncated")
        return message, pos


def _read_PushTelemetryRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[PushTelemetryRequest, int]:
    self = PushTelemetryRequest.__new__(PushTelemetryRequest)
    self.client_instance_id, self.subscription_id, self.terminating, self.compression_type = _unpack_uizb(buf, pos)
    pos += 22
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("PushTelemetryRequest.metrics")
    stop = pos + n
    if stop > end:
        raise length_read("PushTelemetryRequest.metrics", n, end - pos)
    self.metrics = bytes(buf[pos:stop])
    pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class PushTelemetryResponse:
    """Version 0."""

    __slots__ = ("throttle_time_ms", "error_code")

    API_KEY: ClassVar[int] = 72
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

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
        if not isinstance(other, PushTelemetryResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
        )

    def __repr__(self) -> str:
        return f"PushTelemetryResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("PushTelemetryResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_ih(self.throttle_time_ms, self.error_code)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("PushTelemetryResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[PushTelemetryResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("PushTelemetryResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("PushTelemetryResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_PushTelemetryResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("PushTelemetryResponse", version, error) from error
        if pos > end:
            raise decode_failed("PushTelemetryResponse", version, "truncated")
        return message, pos


def _read_PushTelemetryResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[PushTelemetryResponse, int]:
    self = PushTelemetryResponse.__new__(PushTelemetryResponse)
    self.throttle_time_ms, self.error_code = _unpack_ih(buf, pos)
    pos += 6
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
