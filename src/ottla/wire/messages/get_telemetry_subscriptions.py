"""GetTelemetrySubscriptions. Generated from schema/get_telemetry_subscriptions.txt by tools/generate_messages.py; do not edit."""

from __future__ import annotations

from struct import Struct
from struct import pack as _pack_n, unpack_from as _unpack_n
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
    read_string_length_tail,
    read_uvarint_tail,
    skip_tagged_fields,
    uuid_written,
    write_string_length,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_u = Struct(">16s").pack
_unpack_u = Struct(">16s").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ihui = Struct(">ih16si").pack
_unpack_ihui = Struct(">ih16si").unpack_from
_pack_2iz = Struct(">ii?").pack
_unpack_2iz = Struct(">ii?").unpack_from


class GetTelemetrySubscriptionsRequest:
    """Version 0."""

    __slots__ = ("client_instance_id",)

    API_KEY: ClassVar[int] = 71
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    client_instance_id: bytes

    def __init__(
        self,
        *,
        client_instance_id: bytes = ZERO_UUID,
    ) -> None:
        self.client_instance_id = client_instance_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GetTelemetrySubscriptionsRequest):
            return NotImplemented
        return (
            self.client_instance_id == other.client_instance_id
        )

    def __repr__(self) -> str:
        return f"GetTelemetrySubscriptionsRequest(client_instance_id={self.client_instance_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("GetTelemetrySubscriptionsRequest", version, "no such version")
        try:
            buf = out.buf
            if len(self.client_instance_id) != 16:
                raise uuid_written("GetTelemetrySubscriptionsRequest.client_instance_id")
            buf += _pack_u(self.client_instance_id)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("GetTelemetrySubscriptionsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[GetTelemetrySubscriptionsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("GetTelemetrySubscriptionsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("GetTelemetrySubscriptionsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_GetTelemetrySubscriptionsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("GetTelemetrySubscriptionsRequest", version, error) from error
        if pos > end:
            raise decode_failed("GetTelemetrySubscriptionsRequest", version, "truncated")
        return message, pos


def _read_GetTelemetrySubscriptionsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[GetTelemetrySubscriptionsRequest, int]:
    self = GetTelemetrySubscriptionsRequest.__new__(GetTelemetrySubscriptionsRequest)
    (self.client_instance_id,) = _unpack_u(buf, pos)
    pos += 16
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class GetTelemetrySubscriptionsResponse:
    """Version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "client_instance_id", "subscription_id", "accepted_compression_types", "push_interval_ms", "telemetry_max_bytes", "delta_temporality", "requested_metrics")

    API_KEY: ClassVar[int] = 71
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    client_instance_id: bytes
    subscription_id: int
    accepted_compression_types: list[int]
    push_interval_ms: int
    telemetry_max_bytes: int
    delta_temporality: bool
    requested_metrics: list[str]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        client_instance_id: bytes = ZERO_UUID,
        subscription_id: int = 0,
        accepted_compression_types: list[int] = _EMPTY,
        push_interval_ms: int = 0,
        telemetry_max_bytes: int = 0,
        delta_temporality: bool = False,
        requested_metrics: list[str] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.accepted_compression_types = [] if accepted_compression_types is _EMPTY else accepted_compression_types
        self.push_interval_ms = push_interval_ms
        self.telemetry_max_bytes = telemetry_max_bytes
        self.delta_temporality = delta_temporality
        self.requested_metrics = [] if requested_metrics is _EMPTY else requested_metrics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GetTelemetrySubscriptionsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.client_instance_id == other.client_instance_id
            and self.subscription_id == other.subscription_id
            and self.accepted_compression_types == other.accepted_compression_types
            and self.push_interval_ms == other.push_interval_ms
            and self.telemetry_max_bytes == other.telemetry_max_bytes
            and self.delta_temporality == other.delta_temporality
            and self.requested_metrics == other.requested_metrics
        )

    def __repr__(self) -> str:
        return f"GetTelemetrySubscriptionsResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, client_instance_id={self.client_instance_id!r}, subscription_id={self.subscription_id!r}, accepted_compression_types={self.accepted_compression_types!r}, push_interval_ms={self.push_interval_ms!r}, telemetry_max_bytes={self.telemetry_max_bytes!r}, delta_temporality={self.delta_temporality!r}, requested_metrics={self.requested_metrics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("GetTelemetrySubscriptionsResponse", version, "no such version")
        try:
            buf = out.buf
            if len(self.client_instance_id) != 16:
                raise uuid_written("GetTelemetrySubscriptionsResponse.client_instance_id")
            buf += _pack_ihui(self.throttle_time_ms, self.error_code, self.client_instance_id, self.subscription_id)
            n = len(self.accepted_compression_types)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            if n:
                buf += _pack_n(f">{n}b", *self.accepted_compression_types)
            buf += _pack_2iz(self.push_interval_ms, self.telemetry_max_bytes, self.delta_temporality)
            n = len(self.requested_metrics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_requested_metrics in self.requested_metrics:
                data = i_requested_metrics.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("GetTelemetrySubscriptionsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[GetTelemetrySubscriptionsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("GetTelemetrySubscriptionsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("GetTelemetrySubscriptionsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_GetTelemetrySubscriptionsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("GetTelemetrySubscriptionsResponse", version, error) from error
        if pos > end:
            raise decode_failed("GetTelemetrySubscriptionsResponse", version, "truncated")
        return message, pos


def _read_GetTelemetrySubscriptionsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[GetTelemetrySubscriptionsResponse, int]:
    self = GetTelemetrySubscriptionsResponse.__new__(GetTelemetrySubscriptionsResponse)
    self.throttle_time_ms, self.error_code, self.client_instance_id, self.subscription_id = _unpack_ihui(buf, pos)
    pos += 26
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("GetTelemetrySubscriptionsResponse.accepted_compression_types")
    if n > end - pos:
        raise length_read("GetTelemetrySubscriptionsResponse.accepted_compression_types", n, end - pos)
    self.accepted_compression_types = list(_unpack_n(f">{n}b", buf, pos))
    pos += n * 1
    self.push_interval_ms, self.telemetry_max_bytes, self.delta_temporality = _unpack_2iz(buf, pos)
    pos += 9
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("GetTelemetrySubscriptionsResponse.requested_metrics")
    if n > end - pos:
        raise length_read("GetTelemetrySubscriptionsResponse.requested_metrics", n, end - pos)
    l_requested_metrics: list[str] = []
    for _ in range(n):
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("GetTelemetrySubscriptionsResponse.requested_metrics")
        stop = pos + n
        if stop > end:
            raise length_read("GetTelemetrySubscriptionsResponse.requested_metrics", n, end - pos)
        l_requested_metrics.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.requested_metrics = l_requested_metrics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
