"""DescribeAcls. Generated from schema/describe_acls.txt by tools/generate_messages.py; do not edit."""

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

_EMPTY: Final[list[Any]] = []
_pack_b = Struct(">b").pack
_unpack_b = Struct(">b").unpack_from
_pack_2b = Struct(">bb").pack
_unpack_2b = Struct(">bb").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from


class DescribeAclsRequest:
    """Versions 1 to 3, flexible from 2."""

    __slots__ = ("resource_type_filter", "resource_name_filter", "pattern_type_filter", "principal_filter", "host_filter", "operation", "permission_type")

    API_KEY: ClassVar[int] = 29
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    resource_type_filter: int
    resource_name_filter: str | None
    pattern_type_filter: int
    principal_filter: str | None
    host_filter: str | None
    operation: int
    permission_type: int

    def __init__(
        self,
        *,
        resource_type_filter: int = 0,
        resource_name_filter: str | None = "",
        pattern_type_filter: int = 3,
        principal_filter: str | None = "",
        host_filter: str | None = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type_filter = resource_type_filter
        self.resource_name_filter = resource_name_filter
        self.pattern_type_filter = pattern_type_filter
        self.principal_filter = principal_filter
        self.host_filter = host_filter
        self.operation = operation
        self.permission_type = permission_type

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeAclsRequest):
            return NotImplemented
        return (
            self.resource_type_filter == other.resource_type_filter
            and self.resource_name_filter == other.resource_name_filter
            and self.pattern_type_filter == other.pattern_type_filter
            and self.principal_filter == other.principal_filter
            and self.host_filter == other.host_filter
            and self.operation == other.operation
            and self.permission_type == other.permission_type
        )

    def __repr__(self) -> str:
        return f"DescribeAclsRequest(resource_type_filter={self.resource_type_filter!r}, resource_name_filter={self.resource_name_filter!r}, pattern_type_filter={self.pattern_type_filter!r}, principal_filter={self.principal_filter!r}, host_filter={self.host_filter!r}, operation={self.operation!r}, permission_type={self.permission_type!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 3:
            raise encode_failed("DescribeAclsRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            buf += _pack_b(self.resource_type_filter)
            v_resource_name_filter = self.resource_name_filter
            if v_resource_name_filter is None:
                if flexible:
                    buf.append(0)
                else:
                    buf += b"\xff\xff"
            else:
                data = v_resource_name_filter.encode()
                n = len(data)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                else:
                    buf += _pack_h(n)
                buf += data
            buf += _pack_b(self.pattern_type_filter)
            v_principal_filter = self.principal_filter
            if v_principal_filter is None:
                if flexible:
                    buf.append(0)
                else:
                    buf += b"\xff\xff"
            else:
                data = v_principal_filter.encode()
                n = len(data)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                else:
                    buf += _pack_h(n)
                buf += data
            v_host_filter = self.host_filter
            if v_host_filter is None:
                if flexible:
                    buf.append(0)
                else:
                    buf += b"\xff\xff"
            else:
                data = v_host_filter.encode()
                n = len(data)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                else:
                    buf += _pack_h(n)
                buf += data
            buf += _pack_2b(self.operation, self.permission_type)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeAclsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeAclsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 3:
            raise decode_failed("DescribeAclsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeAclsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeAclsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeAclsRequest", version, error) from error
        if pos > end:
            raise decode_failed("DescribeAclsRequest", version, "truncated")
        return message, pos


def _read_DescribeAclsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeAclsRequest, int]:
    flexible = version >= 2
    self = DescribeAclsRequest.__new__(DescribeAclsRequest)
    (self.resource_type_filter,) = _unpack_b(buf, pos)
    pos += 1
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
        self.resource_name_filter = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("DescribeAclsRequest.resource_name_filter", n, end - pos)
        self.resource_name_filter = str(buf[pos:stop], "utf-8")
        pos = stop
    (self.pattern_type_filter,) = _unpack_b(buf, pos)
    pos += 1
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
        self.principal_filter = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("DescribeAclsRequest.principal_filter", n, end - pos)
        self.principal_filter = str(buf[pos:stop], "utf-8")
        pos = stop
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
        self.host_filter = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("DescribeAclsRequest.host_filter", n, end - pos)
        self.host_filter = str(buf[pos:stop], "utf-8")
        pos = stop
    self.operation, self.permission_type = _unpack_2b(buf, pos)
    pos += 2
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AclDescription:
    """Part of DescribeAclsResponse."""

    __slots__ = ("principal", "host", "operation", "permission_type")

    principal: str
    host: str
    operation: int
    permission_type: int

    def __init__(
        self,
        *,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AclDescription):
            return NotImplemented
        return (
            self.principal == other.principal
            and self.host == other.host
            and self.operation == other.operation
            and self.permission_type == other.permission_type
        )

    def __repr__(self) -> str:
        return f"AclDescription(principal={self.principal!r}, host={self.host!r}, operation={self.operation!r}, permission_type={self.permission_type!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
        data = self.principal.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        data = self.host.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        buf += _pack_2b(self.operation, self.permission_type)
        if flexible:
            buf.append(0)


def _read_AclDescription(buf: memoryview, pos: int, end: int, version: int) -> tuple[AclDescription, int]:
    flexible = version >= 2
    self = AclDescription.__new__(AclDescription)
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
        raise null_read("AclDescription.principal")
    stop = pos + n
    if stop > end:
        raise length_read("AclDescription.principal", n, end - pos)
    self.principal = str(buf[pos:stop], "utf-8")
    pos = stop
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
        raise null_read("AclDescription.host")
    stop = pos + n
    if stop > end:
        raise length_read("AclDescription.host", n, end - pos)
    self.host = str(buf[pos:stop], "utf-8")
    pos = stop
    self.operation, self.permission_type = _unpack_2b(buf, pos)
    pos += 2
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeAclsResource:
    """Part of DescribeAclsResponse."""

    __slots__ = ("resource_type", "resource_name", "pattern_type", "acls")

    resource_type: int
    resource_name: str
    pattern_type: int
    acls: list[AclDescription]

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        acls: list[AclDescription] = _EMPTY,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.acls = [] if acls is _EMPTY else acls

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeAclsResource):
            return NotImplemented
        return (
            self.resource_type == other.resource_type
            and self.resource_name == other.resource_name
            and self.pattern_type == other.pattern_type
            and self.acls == other.acls
        )

    def __repr__(self) -> str:
        return f"DescribeAclsResource(resource_type={self.resource_type!r}, resource_name={self.resource_name!r}, pattern_type={self.pattern_type!r}, acls={self.acls!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
        buf += _pack_b(self.resource_type)
        data = self.resource_name.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        buf += _pack_b(self.pattern_type)
        n = len(self.acls)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        for i_acls in self.acls:
            i_acls.encode(out, version)
        if flexible:
            buf.append(0)


def _read_DescribeAclsResource(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeAclsResource, int]:
    flexible = version >= 2
    self = DescribeAclsResource.__new__(DescribeAclsResource)
    (self.resource_type,) = _unpack_b(buf, pos)
    pos += 1
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
        raise null_read("DescribeAclsResource.resource_name")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeAclsResource.resource_name", n, end - pos)
    self.resource_name = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.pattern_type,) = _unpack_b(buf, pos)
    pos += 1
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
        raise null_read("DescribeAclsResource.acls")
    if n * 5 > end - pos:
        raise length_read("DescribeAclsResource.acls", n, end - pos)
    l_acls: list[AclDescription] = []
    for _ in range(n):
        i_acls, pos = _read_AclDescription(buf, pos, end, version)
        l_acls.append(i_acls)
    self.acls = l_acls
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeAclsResponse:
    """Versions 1 to 3, flexible from 2."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "resources")

    API_KEY: ClassVar[int] = 29
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    resources: list[DescribeAclsResource]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        resources: list[DescribeAclsResource] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.resources = [] if resources is _EMPTY else resources

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeAclsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.resources == other.resources
        )

    def __repr__(self) -> str:
        return f"DescribeAclsResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, resources={self.resources!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 3:
            raise encode_failed("DescribeAclsResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            buf += _pack_ih(self.throttle_time_ms, self.error_code)
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
            n = len(self.resources)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_resources in self.resources:
                i_resources.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeAclsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeAclsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 3:
            raise decode_failed("DescribeAclsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeAclsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeAclsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeAclsResponse", version, error) from error
        if pos > end:
            raise decode_failed("DescribeAclsResponse", version, "truncated")
        return message, pos


def _read_DescribeAclsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeAclsResponse, int]:
    flexible = version >= 2
    self = DescribeAclsResponse.__new__(DescribeAclsResponse)
    self.throttle_time_ms, self.error_code = _unpack_ih(buf, pos)
    pos += 6
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
            raise length_read("DescribeAclsResponse.error_message", n, end - pos)
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
        raise null_read("DescribeAclsResponse.resources")
    if n * 5 > end - pos:
        raise length_read("DescribeAclsResponse.resources", n, end - pos)
    l_resources: list[DescribeAclsResource] = []
    for _ in range(n):
        i_resources, pos = _read_DescribeAclsResource(buf, pos, end, version)
        l_resources.append(i_resources)
    self.resources = l_resources
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
