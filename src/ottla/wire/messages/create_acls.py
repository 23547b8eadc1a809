"""CreateAcls. Generated from schema/create_acls.txt by tools/generate_messages.py; do not edit."""

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


class AclCreation:
    """Part of CreateAclsRequest."""

    __slots__ = ("resource_type", "resource_name", "resource_pattern_type", "principal", "host", "operation", "permission_type")

    resource_type: int
    resource_name: str
    resource_pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        resource_pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.resource_pattern_type = resource_pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AclCreation):
            return NotImplemented
        return (
            self.resource_type == other.resource_type
            and self.resource_name == other.resource_name
            and self.resource_pattern_type == other.resource_pattern_type
            and self.principal == other.principal
            and self.host == other.host
            and self.operation == other.operation
            and self.permission_type == other.permission_type
        )

    def __repr__(self) -> str:
        return f"AclCreation(resource_type={self.resource_type!r}, resource_name={self.resource_name!r}, resource_pattern_type={self.resource_pattern_type!r}, principal={self.principal!r}, host={self.host!r}, operation={self.operation!r}, permission_type={self.permission_type!r})"

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
        buf += _pack_b(self.resource_pattern_type)
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


def _read_AclCreation(buf: memoryview, pos: int, end: int, version: int) -> tuple[AclCreation, int]:
    flexible = version >= 2
    self = AclCreation.__new__(AclCreation)
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
        raise null_read("AclCreation.resource_name")
    stop = pos + n
    if stop > end:
        raise length_read("AclCreation.resource_name", n, end - pos)
    self.resource_name = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.resource_pattern_type,) = _unpack_b(buf, pos)
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
        raise null_read("AclCreation.principal")
    stop = pos + n
    if stop > end:
        raise length_read("AclCreation.principal", n, end - pos)
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
        raise null_read("AclCreation.host")
    stop = pos + n
    if stop > end:
        raise length_read("AclCreation.host", n, end - pos)
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


class CreateAclsRequest:
    """Versions 1 to 3, flexible from 2."""

    __slots__ = ("creations",)

    API_KEY: ClassVar[int] = 30
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    creations: list[AclCreation]

    def __init__(
        self,
        *,
        creations: list[AclCreation] = _EMPTY,
    ) -> None:
        self.creations = [] if creations is _EMPTY else creations

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CreateAclsRequest):
            return NotImplemented
        return (
            self.creations == other.creations
        )

    def __repr__(self) -> str:
        return f"CreateAclsRequest(creations={self.creations!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 3:
            raise encode_failed("CreateAclsRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            n = len(self.creations)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_creations in self.creations:
                i_creations.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("CreateAclsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[CreateAclsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 3:
            raise decode_failed("CreateAclsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("CreateAclsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_CreateAclsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("CreateAclsRequest", version, error) from error
        if pos > end:
            raise decode_failed("CreateAclsRequest", version, "truncated")
        return message, pos


def _read_CreateAclsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[CreateAclsRequest, int]:
    flexible = version >= 2
    self = CreateAclsRequest.__new__(CreateAclsRequest)
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
        raise null_read("CreateAclsRequest.creations")
    if n * 8 > end - pos:
        raise length_read("CreateAclsRequest.creations", n, end - pos)
    l_creations: list[AclCreation] = []
    for _ in range(n):
        i_creations, pos = _read_AclCreation(buf, pos, end, version)
        l_creations.append(i_creations)
    self.creations = l_creations
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AclCreationResult:
    """Part of CreateAclsResponse."""

    __slots__ = ("error_code", "error_message")

    error_code: int
    error_message: str | None

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AclCreationResult):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.error_message == other.error_message
        )

    def __repr__(self) -> str:
        return f"AclCreationResult(error_code={self.error_code!r}, error_message={self.error_message!r})"

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
        if flexible:
            buf.append(0)


def _read_AclCreationResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[AclCreationResult, int]:
    flexible = version >= 2
    self = AclCreationResult.__new__(AclCreationResult)
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
            raise length_read("AclCreationResult.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class CreateAclsResponse:
    """Versions 1 to 3, flexible from 2."""

    __slots__ = ("throttle_time_ms", "results")

    API_KEY: ClassVar[int] = 30
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    throttle_time_ms: int
    results: list[AclCreationResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[AclCreationResult] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is _EMPTY else results

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CreateAclsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.results == other.results
        )

    def __repr__(self) -> str:
        return f"CreateAclsResponse(throttle_time_ms={self.throttle_time_ms!r}, results={self.results!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 3:
            raise encode_failed("CreateAclsResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            buf += _pack_i(self.throttle_time_ms)
            n = len(self.results)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_results in self.results:
                i_results.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("CreateAclsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[CreateAclsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 3:
            raise decode_failed("CreateAclsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("CreateAclsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_CreateAclsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("CreateAclsResponse", version, error) from error
        if pos > end:
            raise decode_failed("CreateAclsResponse", version, "truncated")
        return message, pos


def _read_CreateAclsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[CreateAclsResponse, int]:
    flexible = version >= 2
    self = CreateAclsResponse.__new__(CreateAclsResponse)
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
        raise null_read("CreateAclsResponse.results")
    if n * 4 > end - pos:
        raise length_read("CreateAclsResponse.results", n, end - pos)
    l_results: list[AclCreationResult] = []
    for _ in range(n):
        i_results, pos = _read_AclCreationResult(buf, pos, end, version)
        l_results.append(i_results)
    self.results = l_results
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
