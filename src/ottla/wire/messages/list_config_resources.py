"""ListConfigResources. Generated from schema/list_config_resources.txt by tools/generate_messages.py; do not edit."""

from __future__ import annotations

from struct import Struct
from struct import pack as _pack_n, unpack_from as _unpack_n
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
_pack_b = Struct(">b").pack
_unpack_b = Struct(">b").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from


class ListConfigResourcesRequest:
    """Versions 0 to 1."""

    __slots__ = ("resource_types",)

    API_KEY: ClassVar[int] = 74
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    resource_types: list[int]

    def __init__(
        self,
        *,
        resource_types: list[int] = _EMPTY,
    ) -> None:
        self.resource_types = [] if resource_types is _EMPTY else resource_types

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ListConfigResourcesRequest):
            return NotImplemented
        return (
            self.resource_types == other.resource_types
        )

    def __repr__(self) -> str:
        return f"ListConfigResourcesRequest(resource_types={self.resource_types!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("ListConfigResourcesRequest", version, "no such version")
        try:
            if version < 1:
                if self.resource_types:
                    raise field_unsupported("ListConfigResourcesRequest.resource_types", version)
            buf = out.buf
            if version >= 1:
                n = len(self.resource_types)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                if n:
                    buf += _pack_n(f">{n}b", *self.resource_types)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ListConfigResourcesRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ListConfigResourcesRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("ListConfigResourcesRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ListConfigResourcesRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ListConfigResourcesRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ListConfigResourcesRequest", version, error) from error
        if pos > end:
            raise decode_failed("ListConfigResourcesRequest", version, "truncated")
        return message, pos


def _read_ListConfigResourcesRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[ListConfigResourcesRequest, int]:
    self = ListConfigResourcesRequest.__new__(ListConfigResourcesRequest)
    if version >= 1:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("ListConfigResourcesRequest.resource_types")
        if n > end - pos:
            raise length_read("ListConfigResourcesRequest.resource_types", n, end - pos)
        self.resource_types = list(_unpack_n(f">{n}b", buf, pos))
        pos += n * 1
    else:
        self.resource_types = []
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ConfigResource:
    """Part of ListConfigResourcesResponse."""

    __slots__ = ("resource_name", "resource_type")

    resource_name: str
    resource_type: int

    def __init__(
        self,
        *,
        resource_name: str = "",
        resource_type: int = 16,
    ) -> None:
        self.resource_name = resource_name
        self.resource_type = resource_type

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConfigResource):
            return NotImplemented
        return (
            self.resource_name == other.resource_name
            and self.resource_type == other.resource_type
        )

    def __repr__(self) -> str:
        return f"ConfigResource(resource_name={self.resource_name!r}, resource_type={self.resource_type!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.resource_name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        if version >= 1:
            buf += _pack_b(self.resource_type)
        buf.append(0)


def _read_ConfigResource(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConfigResource, int]:
    self = ConfigResource.__new__(ConfigResource)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ConfigResource.resource_name")
    stop = pos + n
    if stop > end:
        raise length_read("ConfigResource.resource_name", n, end - pos)
    self.resource_name = str(buf[pos:stop], "utf-8")
    pos = stop
    if version >= 1:
        (self.resource_type,) = _unpack_b(buf, pos)
        pos += 1
    else:
        self.resource_type = 16
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ListConfigResourcesResponse:
    """Versions 0 to 1."""

    __slots__ = ("throttle_time_ms", "error_code", "config_resources")

    API_KEY: ClassVar[int] = 74
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    config_resources: list[ConfigResource]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        config_resources: list[ConfigResource] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.config_resources = [] if config_resources is _EMPTY else config_resources

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ListConfigResourcesResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.config_resources == other.config_resources
        )

    def __repr__(self) -> str:
        return f"ListConfigResourcesResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, config_resources={self.config_resources!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("ListConfigResourcesResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_ih(self.throttle_time_ms, self.error_code)
            n = len(self.config_resources)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_config_resources in self.config_resources:
                i_config_resources.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ListConfigResourcesResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ListConfigResourcesResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("ListConfigResourcesResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ListConfigResourcesResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ListConfigResourcesResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ListConfigResourcesResponse", version, error) from error
        if pos > end:
            raise decode_failed("ListConfigResourcesResponse", version, "truncated")
        return message, pos


def _read_ListConfigResourcesResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ListConfigResourcesResponse, int]:
    self = ListConfigResourcesResponse.__new__(ListConfigResourcesResponse)
    self.throttle_time_ms, self.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ListConfigResourcesResponse.config_resources")
    if n * 2 > end - pos:
        raise length_read("ListConfigResourcesResponse.config_resources", n, end - pos)
    l_config_resources: list[ConfigResource] = []
    for _ in range(n):
        i_config_resources, pos = _read_ConfigResource(buf, pos, end, version)
        l_config_resources.append(i_config_resources)
    self.config_resources = l_config_resources
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
