"""ControllerRegistration. Generated from schema/controller_registration.txt by tools/generate_messages.py; do not edit."""

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
    read_string_length_tail,
    read_uvarint_tail,
    skip_tagged_fields,
    uuid_written,
    write_string_length,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_Hh = Struct(">Hh").pack
_unpack_Hh = Struct(">Hh").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_2h = Struct(">hh").pack
_unpack_2h = Struct(">hh").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_iuz = Struct(">i16s?").pack
_unpack_iuz = Struct(">i16s?").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from


class Listener:
    """Part of ControllerRegistrationRequest."""

    __slots__ = ("name", "host", "port", "security_protocol")

    name: str
    host: str
    port: int
    security_protocol: int

    def __init__(
        self,
        *,
        name: str = "",
        host: str = "",
        port: int = 0,
        security_protocol: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.security_protocol = security_protocol

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Listener):
            return NotImplemented
        return (
            self.name == other.name
            and self.host == other.host
            and self.port == other.port
            and self.security_protocol == other.security_protocol
        )

    def __repr__(self) -> str:
        return f"Listener(name={self.name!r}, host={self.host!r}, port={self.port!r}, security_protocol={self.security_protocol!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        data = self.host.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_Hh(self.port, self.security_protocol)
        buf.append(0)


def _read_Listener(buf: memoryview, pos: int, end: int, version: int) -> tuple[Listener, int]:
    self = Listener.__new__(Listener)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Listener.name")
    stop = pos + n
    if stop > end:
        raise length_read("Listener.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Listener.host")
    stop = pos + n
    if stop > end:
        raise length_read("Listener.host", n, end - pos)
    self.host = str(buf[pos:stop], "utf-8")
    pos = stop
    self.port, self.security_protocol = _unpack_Hh(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class Feature:
    """Part of ControllerRegistrationRequest."""

    __slots__ = ("name", "min_supported_version", "max_supported_version")

    name: str
    min_supported_version: int
    max_supported_version: int

    def __init__(
        self,
        *,
        name: str = "",
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.name = name
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Feature):
            return NotImplemented
        return (
            self.name == other.name
            and self.min_supported_version == other.min_supported_version
            and self.max_supported_version == other.max_supported_version
        )

    def __repr__(self) -> str:
        return f"Feature(name={self.name!r}, min_supported_version={self.min_supported_version!r}, max_supported_version={self.max_supported_version!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_2h(self.min_supported_version, self.max_supported_version)
        buf.append(0)


def _read_Feature(buf: memoryview, pos: int, end: int, version: int) -> tuple[Feature, int]:
    self = Feature.__new__(Feature)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Feature.name")
    stop = pos + n
    if stop > end:
        raise length_read("Feature.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    self.min_supported_version, self.max_supported_version = _unpack_2h(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ControllerRegistrationRequest:
    """Version 0."""

    __slots__ = ("controller_id", "incarnation_id", "zk_migration_ready", "listeners", "features")

    API_KEY: ClassVar[int] = 70
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    controller_id: int
    incarnation_id: bytes
    zk_migration_ready: bool
    listeners: list[Listener]
    features: list[Feature]

    def __init__(
        self,
        *,
        controller_id: int = 0,
        incarnation_id: bytes = ZERO_UUID,
        zk_migration_ready: bool = False,
        listeners: list[Listener] = _EMPTY,
        features: list[Feature] = _EMPTY,
    ) -> None:
        self.controller_id = controller_id
        self.incarnation_id = incarnation_id
        self.zk_migration_ready = zk_migration_ready
        self.listeners = [] if listeners is _EMPTY else listeners
        self.features = [] if features is _EMPTY else features

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ControllerRegistrationRequest):
            return NotImplemented
        return (
            self.controller_id == other.controller_id
            and self.incarnation_id == other.incarnation_id
            and self.zk_migration_ready == other.zk_migration_ready
            and self.listeners == other.listeners
            and self.features == other.features
        )

    def __repr__(self) -> str:
        return f"ControllerRegistrationRequest(controller_id={self.controller_id!r}, incarnation_id={self.incarnation_id!r}, zk_migration_ready={self.zk_migration_ready!r}, listeners={self.listeners!r}, features={self.features!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ControllerRegistrationRequest", version, "no such version")
        try:
            buf = out.buf
            if len(self.incarnation_id) != 16:
                raise uuid_written("ControllerRegistrationRequest.incarnation_id")
            buf += _pack_iuz(self.controller_id, self.incarnation_id, self.zk_migration_ready)
            n = len(self.listeners)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_listeners in self.listeners:
                i_listeners.encode(out, version)
            n = len(self.features)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_features in self.features:
                i_features.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ControllerRegistrationRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ControllerRegistrationRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ControllerRegistrationRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ControllerRegistrationRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ControllerRegistrationRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ControllerRegistrationRequest", version, error) from error
        if pos > end:
            raise decode_failed("ControllerRegistrationRequest", version, "truncated")
        return message, pos


def _read_ControllerRegistrationRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[ControllerRegistrationRequest, int]:
    self = ControllerRegistrationRequest.__new__(ControllerRegistrationRequest)
    self.controller_id, self.incarnation_id, self.zk_migration_ready = _unpack_iuz(buf, pos)
    pos += 21
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ControllerRegistrationRequest.listeners")
    if n * 7 > end - pos:
        raise length_read("ControllerRegistrationRequest.listeners", n, end - pos)
    l_listeners: list[Listener] = []
    for _ in range(n):
        i_listeners, pos = _read_Listener(buf, pos, end, version)
        l_listeners.append(i_listeners)
    self.listeners = l_listeners
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ControllerRegistrationRequest.features")
    if n * 6 > end - pos:
        raise length_read("ControllerRegistrationRequest.features", n, end - pos)
    l_features: list[Feature] = []
    for _ in range(n):
        i_features, pos = _read_Feature(buf, pos, end, version)
        l_features.append(i_features)
    self.features = l_features
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ControllerRegistrationResponse:
    """Version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message")

    API_KEY: ClassVar[int] = 70
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
        if not isinstance(other, ControllerRegistrationResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.error_message == other.error_message
        )

    def __repr__(self) -> str:
        return f"ControllerRegistrationResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, error_message={self.error_message!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ControllerRegistrationResponse", version, "no such version")
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
            raise encode_failed("ControllerRegistrationResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ControllerRegistrationResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ControllerRegistrationResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ControllerRegistrationResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ControllerRegistrationResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ControllerRegistrationResponse", version, error) from error
        if pos > end:
            raise decode_failed("ControllerRegistrationResponse", version, "truncated")
        return message, pos


def _read_ControllerRegistrationResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ControllerRegistrationResponse, int]:
    self = ControllerRegistrationResponse.__new__(ControllerRegistrationResponse)
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
            raise length_read("ControllerRegistrationResponse.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
