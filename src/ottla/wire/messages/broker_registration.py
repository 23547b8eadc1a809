"""BrokerRegistration. Generated from schema/broker_registration.txt by tools/generate_messages.py; do not edit."""

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
    field_unsupported,
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
_pack_z = Struct(">?").pack
_unpack_z = Struct(">?").unpack_from
_pack_Hh = Struct(">Hh").pack
_unpack_Hh = Struct(">Hh").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_2h = Struct(">hh").pack
_unpack_2h = Struct(">hh").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ihq = Struct(">ihq").pack
_unpack_ihq = Struct(">ihq").unpack_from
_pack_q = Struct(">q").pack
_unpack_q = Struct(">q").unpack_from


class Listener:
    """Part of BrokerRegistrationRequest."""

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
    """Part of BrokerRegistrationRequest."""

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


class BrokerRegistrationRequest:
    """Versions 0 to 4."""

    __slots__ = ("broker_id", "cluster_id", "incarnation_id", "listeners", "features", "rack", "is_migrating_zk_broker", "log_dirs", "previous_broker_epoch")

    API_KEY: ClassVar[int] = 62
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    broker_id: int
    cluster_id: str
    incarnation_id: bytes
    listeners: list[Listener]
    features: list[Feature]
    rack: str | None
    is_migrating_zk_broker: bool
    log_dirs: list[bytes]
    previous_broker_epoch: int

    def __init__(
        self,
        *,
        broker_id: int = 0,
        cluster_id: str = "",
        incarnation_id: bytes = ZERO_UUID,
        listeners: list[Listener] = _EMPTY,
        features: list[Feature] = _EMPTY,
        rack: str | None = "",
        is_migrating_zk_broker: bool = False,
        log_dirs: list[bytes] = _EMPTY,
        previous_broker_epoch: int = -1,
    ) -> None:
        self.broker_id = broker_id
        self.cluster_id = cluster_id
        self.incarnation_id = incarnation_id
        self.listeners = [] if listeners is _EMPTY else listeners
        self.features = [] if features is _EMPTY else features
        self.rack = rack
        self.is_migrating_zk_broker = is_migrating_zk_broker
        self.log_dirs = [] if log_dirs is _EMPTY else log_dirs
        self.previous_broker_epoch = previous_broker_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BrokerRegistrationRequest):
            return NotImplemented
        return (
            self.broker_id == other.broker_id
            and self.cluster_id == other.cluster_id
            and self.incarnation_id == other.incarnation_id
            and self.listeners == other.listeners
            and self.features == other.features
            and self.rack == other.rack
            and self.is_migrating_zk_broker == other.is_migrating_zk_broker
            and self.log_dirs == other.log_dirs
            and self.previous_broker_epoch == other.previous_broker_epoch
        )

    def __repr__(self) -> str:
        return f"BrokerRegistrationRequest(broker_id={self.broker_id!r}, cluster_id={self.cluster_id!r}, incarnation_id={self.incarnation_id!r}, listeners={self.listeners!r}, features={self.features!r}, rack={self.rack!r}, is_migrating_zk_broker={self.is_migrating_zk_broker!r}, log_dirs={self.log_dirs!r}, previous_broker_epoch={self.previous_broker_epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 4:
            raise encode_failed("BrokerRegistrationRequest", version, "no such version")
        try:
            if version < 1:
                if self.is_migrating_zk_broker:
                    raise field_unsupported("BrokerRegistrationRequest.is_migrating_zk_broker", version)
            buf = out.buf
            buf += _pack_i(self.broker_id)
            data = self.cluster_id.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            if len(self.incarnation_id) != 16:
                raise uuid_written("BrokerRegistrationRequest.incarnation_id")
            buf += _pack_u(self.incarnation_id)
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
            v_rack = self.rack
            if v_rack is None:
                buf.append(0)
            else:
                data = v_rack.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            if version >= 1:
                buf += _pack_z(self.is_migrating_zk_broker)
            if version >= 2:
                n = len(self.log_dirs)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_log_dirs in self.log_dirs:
                    if len(i_log_dirs) != 16:
                        raise uuid_written("BrokerRegistrationRequest.log_dirs")
                    buf += i_log_dirs
            if version >= 3:
                buf += _pack_q(self.previous_broker_epoch)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("BrokerRegistrationRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[BrokerRegistrationRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 4:
            raise decode_failed("BrokerRegistrationRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("BrokerRegistrationRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_BrokerRegistrationRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("BrokerRegistrationRequest", version, error) from error
        if pos > end:
            raise decode_failed("BrokerRegistrationRequest", version, "truncated")
        return message, pos


def _read_BrokerRegistrationRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[BrokerRegistrationRequest, int]:
    self = BrokerRegistrationRequest.__new__(BrokerRegistrationRequest)
    (self.broker_id,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("BrokerRegistrationRequest.cluster_id")
    stop = pos + n
    if stop > end:
        raise length_read("BrokerRegistrationRequest.cluster_id", n, end - pos)
    self.cluster_id = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.incarnation_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("BrokerRegistrationRequest.listeners")
    if n * 7 > end - pos:
        raise length_read("BrokerRegistrationRequest.listeners", n, end - pos)
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
        raise null_read("BrokerRegistrationRequest.features")
    if n * 6 > end - pos:
        raise length_read("BrokerRegistrationRequest.features", n, end - pos)
    l_features: list[Feature] = []
    for _ in range(n):
        i_features, pos = _read_Feature(buf, pos, end, version)
        l_features.append(i_features)
    self.features = l_features
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.rack = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("BrokerRegistrationRequest.rack", n, end - pos)
        self.rack = str(buf[pos:stop], "utf-8")
        pos = stop
    if version >= 1:
        self.is_migrating_zk_broker = buf[pos] != 0
        pos += 1
    else:
        self.is_migrating_zk_broker = False
    if version >= 2:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("BrokerRegistrationRequest.log_dirs")
        if n * 16 > end - pos:
            raise length_read("BrokerRegistrationRequest.log_dirs", n, end - pos)
        l_log_dirs: list[bytes] = []
        for _ in range(n):
            l_log_dirs.append(bytes(buf[pos : pos + 16]))
            pos += 16
        self.log_dirs = l_log_dirs
    else:
        self.log_dirs = []
    if version >= 3:
        (self.previous_broker_epoch,) = _unpack_q(buf, pos)
        pos += 8
    else:
        self.previous_broker_epoch = -1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class BrokerRegistrationResponse:
    """Versions 0 to 4."""

    __slots__ = ("throttle_time_ms", "error_code", "broker_epoch")

    API_KEY: ClassVar[int] = 62
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    broker_epoch: int

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.broker_epoch = broker_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BrokerRegistrationResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.broker_epoch == other.broker_epoch
        )

    def __repr__(self) -> str:
        return f"BrokerRegistrationResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, broker_epoch={self.broker_epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 4:
            raise encode_failed("BrokerRegistrationResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_ihq(self.throttle_time_ms, self.error_code, self.broker_epoch)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("BrokerRegistrationResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[BrokerRegistrationResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 4:
            raise decode_failed("BrokerRegistrationResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("BrokerRegistrationResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_BrokerRegistrationResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("BrokerRegistrationResponse", version, error) from error
        if pos > end:
            raise decode_failed("BrokerRegistrationResponse", version, "truncated")
        return message, pos


def _read_BrokerRegistrationResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[BrokerRegistrationResponse, int]:
    self = BrokerRegistrationResponse.__new__(BrokerRegistrationResponse)
    self.throttle_time_ms, self.error_code, self.broker_epoch = _unpack_ihq(buf, pos)
    pos += 14
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
