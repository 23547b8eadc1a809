"""DeleteAcls. Generated from schema/delete_acls.txt by tools/generate_messages.py; do not edit."""

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


class DeleteAclsFilter:
    """Part of DeleteAclsRequest."""

    __slots__ = ("resource_type_filter", "resource_name_filter", "pattern_type_filter", "principal_filter", "host_filter", "operation", "permission_type")

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
        if not isinstance(other, DeleteAclsFilter):
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
        return f"DeleteAclsFilter(resource_type_filter={self.resource_type_filter!r}, resource_name_filter={self.resource_name_filter!r}, pattern_type_filter={self.pattern_type_filter!r}, principal_filter={self.principal_filter!r}, host_filter={self.host_filter!r}, operation={self.operation!r}, permission_type={self.permission_type!r})"

    def encode(self, out: Encoder, version: int) -> None:
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


def _read_DeleteAclsFilter(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteAclsFilter, int]:
    flexible = version >= 2
    self = DeleteAclsFilter.__new__(DeleteAclsFilter)
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
            raise length_read("DeleteAclsFilter.resource_name_filter", n, end - pos)
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
            raise length_read("DeleteAclsFilter.principal_filter", n, end - pos)
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
            raise length_read("DeleteAclsFilter.host_filter", n, end - pos)
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


class DeleteAclsRequest:
    """Versions 1 to 3, flexible from 2."""

    __slots__ = ("filters",)

    API_KEY: ClassVar[int] = 31
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    filters: list[DeleteAclsFilter]

    def __init__(
        self,
        *,
        filters: list[DeleteAclsFilter] = _EMPTY,
    ) -> None:
        self.filters = [] if filters is _EMPTY else filters

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteAclsRequest):
            return NotImplemented
        return (
            self.filters == other.filters
        )

    def __repr__(self) -> str:
        return f"DeleteAclsRequest(filters={self.filters!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 3:
            raise encode_failed("DeleteAclsRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            n = len(self.filters)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_filters in self.filters:
                i_filters.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DeleteAclsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DeleteAclsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 3:
            raise decode_failed("DeleteAclsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DeleteAclsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DeleteAclsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DeleteAclsRequest", version, error) from error
        if pos > end:
            raise decode_failed("DeleteAclsRequest", version, "truncated")
        return message, pos


def _read_DeleteAclsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteAclsRequest, int]:
    flexible = version >= 2
    self = DeleteAclsRequest.__new__(DeleteAclsRequest)
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
        raise null_read("DeleteAclsRequest.filters")
    if n * 8 > end - pos:
        raise length_read("DeleteAclsRequest.filters", n, end - pos)
    l_filters: list[DeleteAclsFilter] = []
    for _ in range(n):
        i_filters, pos = _read_DeleteAclsFilter(buf, pos, end, version)
        l_filters.append(i_filters)
    self.filters = l_filters
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DeleteAclsMatchingAcl:
    """Part of DeleteAclsResponse."""

    __slots__ = ("error_code", "error_message", "resource_type", "resource_name", "pattern_type", "principal", "host", "operation", "permission_type")

    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteAclsMatchingAcl):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.resource_type == other.resource_type
            and self.resource_name == other.resource_name
            and self.pattern_type == other.pattern_type
            and self.principal == other.principal
            and self.host == other.host
            and self.operation == other.operation
            and self.permission_type == other.permission_type
        )

    def __repr__(self) -> str:
        return f"DeleteAclsMatchingAcl(error_code={self.error_code!r}, error_message={self.error_message!r}, resource_type={self.resource_type!r}, resource_name={self.resource_name!r}, pattern_type={self.pattern_type!r}, principal={self.principal!r}, host={self.host!r}, operation={self.operation!r}, permission_type={self.permission_type!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
        buf += _pack_h(self.error_code)
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


def _read_DeleteAclsMatchingAcl(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteAclsMatchingAcl, int]:
    flexible = version >= 2
    self = DeleteAclsMatchingAcl.__new__(DeleteAclsMatchingAcl)
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
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
            raise length_read("DeleteAclsMatchingAcl.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
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
        raise null_read("DeleteAclsMatchingAcl.resource_name")
    stop = pos + n
    if stop > end:
        raise length_read("DeleteAclsMatchingAcl.resource_name", n, end - pos)
    self.resource_name = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.pattern_type,) = _unpack_b(buf, pos)
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
        raise null_read("DeleteAclsMatchingAcl.principal")
    stop = pos + n
    if stop > end:
        raise length_read("DeleteAclsMatchingAcl.principal", n, end - pos)
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
        raise null_read("DeleteAclsMatchingAcl.host")
    stop = pos + n
    if stop > end:
        raise length_read("DeleteAclsMatchingAcl.host", n, end - pos)
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


class DeleteAclsFilterResult:
    """Part of DeleteAclsResponse."""

    __slots__ = ("error_code", "error_message", "matching_acls")

    error_code: int
    error_message: str | None
    matching_acls: list[DeleteAclsMatchingAcl]

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        matching_acls: list[DeleteAclsMatchingAcl] = _EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.matching_acls = [] if matching_acls is _EMPTY else matching_acls

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteAclsFilterResult):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.matching_acls == other.matching_acls
        )

    def __repr__(self) -> str:
        return f"DeleteAclsFilterResult(error_code={self.error_code!r}, error_message={self.error_message!r}, matching_acls={self.matching_acls!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
        buf += _pack_h(self.error_code)
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
        n = len(self.matching_acls)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        for i_matching_acls in self.matching_acls:
            i_matching_acls.encode(out, version)
        if flexible:
            buf.append(0)


def _read_DeleteAclsFilterResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteAclsFilterResult, int]:
    flexible = version >= 2
    self = DeleteAclsFilterResult.__new__(DeleteAclsFilterResult)
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
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
            raise length_read("DeleteAclsFilterResult.error_message", n, end - pos)
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
        raise null_read("DeleteAclsFilterResult.matching_acls")
    if n * 11 > end - pos:
        raise length_read("DeleteAclsFilterResult.matching_acls", n, end - pos)
    l_matching_acls: list[DeleteAclsMatchingAcl] = []
    for _ in range(n):
        i_matching_acls, pos = _read_DeleteAclsMatchingAcl(buf, pos, end, version)
        l_matching_acls.append(i_matching_acls)
    self.matching_acls = l_matching_acls
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DeleteAclsResponse:
    """Versions 1 to 3, flexible from 2."""

    __slots__ = ("throttle_time_ms", "filter_results")

    API_KEY: ClassVar[int] = 31
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    throttle_time_ms: int
    filter_results: list[DeleteAclsFilterResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        filter_results: list[DeleteAclsFilterResult] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.filter_results = [] if filter_results is _EMPTY else filter_results

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteAclsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.filter_results == other.filter_results
        )

    def __repr__(self) -> str:
        return f"DeleteAclsResponse(throttle_time_ms={self.throttle_time_ms!r}, filter_results={self.filter_results!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 3:
            raise encode_failed("DeleteAclsResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            buf += _pack_i(self.throttle_time_ms)
            n = len(self.filter_results)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_filter_results in self.filter_results:
                i_filter_results.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DeleteAclsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DeleteAclsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 3:
            raise decode_failed("DeleteAclsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DeleteAclsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DeleteAclsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DeleteAclsResponse", version, error) from error
        if pos > end:
            raise decode_failed("DeleteAclsResponse", version, "truncated")
        return message, pos


def _read_DeleteAclsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteAclsResponse, int]:
    flexible = version >= 2
    self = DeleteAclsResponse.__new__(DeleteAclsResponse)
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
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
        raise null_read("DeleteAclsResponse.filter_results")
    if n * 5 > end - pos:
        raise length_read("DeleteAclsResponse.filter_results", n, end - pos)
    l_filter_results: list[DeleteAclsFilterResult] = []
    for _ in range(n):
        i_filter_results, pos = _read_DeleteAclsFilterResult(buf, pos, end, version)
        l_filter_results.append(i_filter_results)
    self.filter_results = l_filter_results
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
