"""DescribeCluster. Generated from schema/describe_cluster.txt by tools/generate_messages.py; do not edit."""

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
    field_unsupported,
    length_read,
    null_read,
    read_string_length_tail,
    read_uvarint_tail,
    skip_tagged_fields,
    write_string_length,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_z = Struct(">?").pack
_unpack_z = Struct(">?").unpack_from
_pack_b = Struct(">b").pack
_unpack_b = Struct(">b").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from


class DescribeClusterRequest:
    """Versions 0 to 2."""

    __slots__ = ("include_cluster_authorized_operations", "endpoint_type", "include_fenced_brokers")

    API_KEY: ClassVar[int] = 60
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    include_cluster_authorized_operations: bool
    endpoint_type: int
    include_fenced_brokers: bool

    def __init__(
        self,
        *,
        include_cluster_authorized_operations: bool = False,
        endpoint_type: int = 1,
        include_fenced_brokers: bool = False,
    ) -> None:
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.endpoint_type = endpoint_type
        self.include_fenced_brokers = include_fenced_brokers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeClusterRequest):
            return NotImplemented
        return (
            self.include_cluster_authorized_operations == other.include_cluster_authorized_operations
            and self.endpoint_type == other.endpoint_type
            and self.include_fenced_brokers == other.include_fenced_brokers
        )

    def __repr__(self) -> str:
        return f"DescribeClusterRequest(include_cluster_authorized_operations={self.include_cluster_authorized_operations!r}, endpoint_type={self.endpoint_type!r}, include_fenced_brokers={self.include_fenced_brokers!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("DescribeClusterRequest", version, "no such version")
        try:
            if version < 1:
                if self.endpoint_type != 1:
                    raise field_unsupported("DescribeClusterRequest.endpoint_type", version)
            if version < 2:
                if self.include_fenced_brokers:
                    raise field_unsupported("DescribeClusterRequest.include_fenced_brokers", version)
            buf = out.buf
            buf += _pack_z(self.include_cluster_authorized_operations)
            if version >= 1:
                buf += _pack_b(self.endpoint_type)
            if version >= 2:
                buf += _pack_z(self.include_fenced_brokers)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeClusterRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeClusterRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("DescribeClusterRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeClusterRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeClusterRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeClusterRequest", version, error) from error
        if pos > end:
            raise decode_failed("DescribeClusterRequest", version, "truncated")
        return message, pos


def _read_DescribeClusterRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeClusterRequest, int]:
    self = DescribeClusterRequest.__new__(DescribeClusterRequest)
    self.include_cluster_authorized_operations = buf[pos] != 0
    pos += 1
    if version >= 1:
        (self.endpoint_type,) = _unpack_b(buf, pos)
        pos += 1
    else:
        self.endpoint_type = 1
    if version >= 2:
        self.include_fenced_brokers = buf[pos] != 0
        pos += 1
    else:
        self.include_fenced_brokers = False
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeClusterBroker:
    """Part of DescribeClusterResponse."""

    __slots__ = ("broker_id", "host", "port", "rack", "is_fenced")

    broker_id: int
    host: str
    port: int
    rack: str | None
    is_fenced: bool

    def __init__(
        self,
        *,
        broker_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
        is_fenced: bool = False,
    ) -> None:
        self.broker_id = broker_id
        self.host = host
        self.port = port
        self.rack = rack
        self.is_fenced = is_fenced

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeClusterBroker):
            return NotImplemented
        return (
            self.broker_id == other.broker_id
            and self.host == other.host
            and self.port == other.port
            and self.rack == other.rack
            and self.is_fenced == other.is_fenced
        )

    def __repr__(self) -> str:
        return f"DescribeClusterBroker(broker_id={self.broker_id!r}, host={self.host!r}, port={self.port!r}, rack={self.rack!r}, is_fenced={self.is_fenced!r})"

    def encode(self, out: Encoder, version: int) -> None:
        if version < 2:
            if self.is_fenced:
                raise field_unsupported("DescribeClusterBroker.is_fenced", version)
        buf = out.buf
        buf += _pack_i(self.broker_id)
        data = self.host.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_i(self.port)
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
        if version >= 2:
            buf += _pack_z(self.is_fenced)
        buf.append(0)


def _read_DescribeClusterBroker(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeClusterBroker, int]:
    self = DescribeClusterBroker.__new__(DescribeClusterBroker)
    (self.broker_id,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeClusterBroker.host")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeClusterBroker.host", n, end - pos)
    self.host = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.port,) = _unpack_i(buf, pos)
    pos += 4
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
            raise length_read("DescribeClusterBroker.rack", n, end - pos)
        self.rack = str(buf[pos:stop], "utf-8")
        pos = stop
    if version >= 2:
        self.is_fenced = buf[pos] != 0
        pos += 1
    else:
        self.is_fenced = False
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeClusterResponse:
    """Versions 0 to 2."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "endpoint_type", "cluster_id", "controller_id", "brokers", "cluster_authorized_operations")

    API_KEY: ClassVar[int] = 60
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    endpoint_type: int
    cluster_id: str
    controller_id: int
    brokers: list[DescribeClusterBroker]
    cluster_authorized_operations: int

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        endpoint_type: int = 1,
        cluster_id: str = "",
        controller_id: int = -1,
        brokers: list[DescribeClusterBroker] = _EMPTY,
        cluster_authorized_operations: int = -2147483648,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.endpoint_type = endpoint_type
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.brokers = [] if brokers is _EMPTY else brokers
        self.cluster_authorized_operations = cluster_authorized_operations

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeClusterResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.endpoint_type == other.endpoint_type
            and self.cluster_id == other.cluster_id
            and self.controller_id == other.controller_id
            and self.brokers == other.brokers
            and self.cluster_authorized_operations == other.cluster_authorized_operations
        )

    def __repr__(self) -> str:
        return f"DescribeClusterResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, endpoint_type={self.endpoint_type!r}, cluster_id={self.cluster_id!r}, controller_id={self.controller_id!r}, brokers={self.brokers!r}, cluster_authorized_operations={self.cluster_authorized_operations!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("DescribeClusterResponse", version, "no such version")
        try:
            if version < 1:
                if self.endpoint_type != 1:
                    raise field_unsupported("DescribeClusterResponse.endpoint_type", version)
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
            if version >= 1:
                buf += _pack_b(self.endpoint_type)
            data = self.cluster_id.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            buf += _pack_i(self.controller_id)
            n = len(self.brokers)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_brokers in self.brokers:
                i_brokers.encode(out, version)
            buf += _pack_i(self.cluster_authorized_operations)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeClusterResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeClusterResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("DescribeClusterResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeClusterResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeClusterResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeClusterResponse", version, error) from error
        if pos > end:
            raise decode_failed("DescribeClusterResponse", version, "truncated")
        return message, pos


def _read_DescribeClusterResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeClusterResponse, int]:
    self = DescribeClusterResponse.__new__(DescribeClusterResponse)
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
            raise length_read("DescribeClusterResponse.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if version >= 1:
        (self.endpoint_type,) = _unpack_b(buf, pos)
        pos += 1
    else:
        self.endpoint_type = 1
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeClusterResponse.cluster_id")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeClusterResponse.cluster_id", n, end - pos)
    self.cluster_id = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.controller_id,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeClusterResponse.brokers")
    if n * 11 > end - pos:
        raise length_read("DescribeClusterResponse.brokers", n, end - pos)
    l_brokers: list[DescribeClusterBroker] = []
    for _ in range(n):
        i_brokers, pos = _read_DescribeClusterBroker(buf, pos, end, version)
        l_brokers.append(i_brokers)
    self.brokers = l_brokers
    (self.cluster_authorized_operations,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
