"""DescribeConfigs. Generated from schema/describe_configs.txt by tools/generate_messages.py; do not edit."""

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
_pack_zbz = Struct(">?b?").pack
_unpack_zbz = Struct(">?b?").unpack_from
_pack_b = Struct(">b").pack
_unpack_b = Struct(">b").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from


class DescribeConfigsResource:
    """Part of DescribeConfigsRequest."""

    __slots__ = ("resource_type", "resource_name", "configuration_keys")

    resource_type: int
    resource_name: str
    configuration_keys: list[str] | None

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        configuration_keys: list[str] | None = _EMPTY,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configuration_keys = [] if configuration_keys is _EMPTY else configuration_keys

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeConfigsResource):
            return NotImplemented
        return (
            self.resource_type == other.resource_type
            and self.resource_name == other.resource_name
            and self.configuration_keys == other.configuration_keys
        )

    def __repr__(self) -> str:
        return f"DescribeConfigsResource(resource_type={self.resource_type!r}, resource_name={self.resource_name!r}, configuration_keys={self.configuration_keys!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 4
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
        v_configuration_keys = self.configuration_keys
        if v_configuration_keys is None:
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff\xff\xff"
        else:
            n = len(v_configuration_keys)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_configuration_keys in v_configuration_keys:
                data = i_configuration_keys.encode()
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


def _read_DescribeConfigsResource(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeConfigsResource, int]:
    flexible = version >= 4
    self = DescribeConfigsResource.__new__(DescribeConfigsResource)
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
        raise null_read("DescribeConfigsResource.resource_name")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeConfigsResource.resource_name", n, end - pos)
    self.resource_name = str(buf[pos:stop], "utf-8")
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
        self.configuration_keys = None
    else:
        if n > end - pos:
            raise length_read("DescribeConfigsResource.configuration_keys", n, end - pos)
        l_configuration_keys: list[str] = []
        for _ in range(n):
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
                raise null_read("DescribeConfigsResource.configuration_keys")
            stop = pos + n
            if stop > end:
                raise length_read("DescribeConfigsResource.configuration_keys", n, end - pos)
            l_configuration_keys.append(str(buf[pos:stop], "utf-8"))
            pos = stop
        self.configuration_keys = l_configuration_keys
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeConfigsRequest:
    """Versions 1 to 4, flexible from 4."""

    __slots__ = ("resources", "include_synonyms", "include_documentation")

    API_KEY: ClassVar[int] = 32
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4

    resources: list[DescribeConfigsResource]
    include_synonyms: bool
    include_documentation: bool

    def __init__(
        self,
        *,
        resources: list[DescribeConfigsResource] = _EMPTY,
        include_synonyms: bool = False,
        include_documentation: bool = False,
    ) -> None:
        self.resources = [] if resources is _EMPTY else resources
        self.include_synonyms = include_synonyms
        self.include_documentation = include_documentation

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeConfigsRequest):
            return NotImplemented
        return (
            self.resources == other.resources
            and self.include_synonyms == other.include_synonyms
            and self.include_documentation == other.include_documentation
        )

    def __repr__(self) -> str:
        return f"DescribeConfigsRequest(resources={self.resources!r}, include_synonyms={self.include_synonyms!r}, include_documentation={self.include_documentation!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 4:
            raise encode_failed("DescribeConfigsRequest", version, "no such version")
        try:
            if version < 3:
                if self.include_documentation:
                    raise field_unsupported("DescribeConfigsRequest.include_documentation", version)
            buf = out.buf
            flexible = version >= 4
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
            buf += _pack_z(self.include_synonyms)
            if version >= 3:
                buf += _pack_z(self.include_documentation)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeConfigsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeConfigsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 4:
            raise decode_failed("DescribeConfigsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeConfigsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeConfigsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeConfigsRequest", version, error) from error
        if pos > end:
            raise decode_failed("DescribeConfigsRequest", version, "truncated")
        return message, pos


def _read_DescribeConfigsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeConfigsRequest, int]:
    flexible = version >= 4
    self = DescribeConfigsRequest.__new__(DescribeConfigsRequest)
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
        raise null_read("DescribeConfigsRequest.resources")
    if n * 4 > end - pos:
        raise length_read("DescribeConfigsRequest.resources", n, end - pos)
    l_resources: list[DescribeConfigsResource] = []
    for _ in range(n):
        i_resources, pos = _read_DescribeConfigsResource(buf, pos, end, version)
        l_resources.append(i_resources)
    self.resources = l_resources
    self.include_synonyms = buf[pos] != 0
    pos += 1
    if version >= 3:
        self.include_documentation = buf[pos] != 0
        pos += 1
    else:
        self.include_documentation = False
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeConfigsSynonym:
    """Part of DescribeConfigsResponse."""

    __slots__ = ("name", "value", "source")

    name: str
    value: str | None
    source: int

    def __init__(
        self,
        *,
        name: str = "",
        value: str | None = "",
        source: int = 0,
    ) -> None:
        self.name = name
        self.value = value
        self.source = source

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeConfigsSynonym):
            return NotImplemented
        return (
            self.name == other.name
            and self.value == other.value
            and self.source == other.source
        )

    def __repr__(self) -> str:
        return f"DescribeConfigsSynonym(name={self.name!r}, value={self.value!r}, source={self.source!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 4
        data = self.name.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        v_value = self.value
        if v_value is None:
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff"
        else:
            data = v_value.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
        buf += _pack_b(self.source)
        if flexible:
            buf.append(0)


def _read_DescribeConfigsSynonym(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeConfigsSynonym, int]:
    flexible = version >= 4
    self = DescribeConfigsSynonym.__new__(DescribeConfigsSynonym)
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
        raise null_read("DescribeConfigsSynonym.name")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeConfigsSynonym.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
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
        self.value = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("DescribeConfigsSynonym.value", n, end - pos)
        self.value = str(buf[pos:stop], "utf-8")
        pos = stop
    (self.source,) = _unpack_b(buf, pos)
    pos += 1
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeConfigsResourceResult:
    """Part of DescribeConfigsResponse."""

    __slots__ = ("name", "value", "read_only", "config_source", "is_sensitive", "synonyms", "config_type", "documentation")

    name: str
    value: str | None
    read_only: bool
    config_source: int
    is_sensitive: bool
    synonyms: list[DescribeConfigsSynonym]
    config_type: int
    documentation: str | None

    def __init__(
        self,
        *,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
        synonyms: list[DescribeConfigsSynonym] = _EMPTY,
        config_type: int = 0,
        documentation: str | None = "",
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive
        self.synonyms = [] if synonyms is _EMPTY else synonyms
        self.config_type = config_type
        self.documentation = documentation

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeConfigsResourceResult):
            return NotImplemented
        return (
            self.name == other.name
            and self.value == other.value
            and self.read_only == other.read_only
            and self.config_source == other.config_source
            and self.is_sensitive == other.is_sensitive
            and self.synonyms == other.synonyms
            and self.config_type == other.config_type
            and self.documentation == other.documentation
        )

    def __repr__(self) -> str:
        return f"DescribeConfigsResourceResult(name={self.name!r}, value={self.value!r}, read_only={self.read_only!r}, config_source={self.config_source!r}, is_sensitive={self.is_sensitive!r}, synonyms={self.synonyms!r}, config_type={self.config_type!r}, documentation={self.documentation!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 4
        data = self.name.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        v_value = self.value
        if v_value is None:
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff"
        else:
            data = v_value.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
        buf += _pack_zbz(self.read_only, self.config_source, self.is_sensitive)
        n = len(self.synonyms)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        for i_synonyms in self.synonyms:
            i_synonyms.encode(out, version)
        if version >= 3:
            buf += _pack_b(self.config_type)
        if version >= 3:
            v_documentation = self.documentation
            if v_documentation is None:
                if flexible:
                    buf.append(0)
                else:
                    buf += b"\xff\xff"
            else:
                data = v_documentation.encode()
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


def _read_DescribeConfigsResourceResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeConfigsResourceResult, int]:
    flexible = version >= 4
    self = DescribeConfigsResourceResult.__new__(DescribeConfigsResourceResult)
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
        raise null_read("DescribeConfigsResourceResult.name")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeConfigsResourceResult.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
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
        self.value = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("DescribeConfigsResourceResult.value", n, end - pos)
        self.value = str(buf[pos:stop], "utf-8")
        pos = stop
    self.read_only, self.config_source, self.is_sensitive = _unpack_zbz(buf, pos)
    pos += 3
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
        raise null_read("DescribeConfigsResourceResult.synonyms")
    if n * 4 > end - pos:
        raise length_read("DescribeConfigsResourceResult.synonyms", n, end - pos)
    l_synonyms: list[DescribeConfigsSynonym] = []
    for _ in range(n):
        i_synonyms, pos = _read_DescribeConfigsSynonym(buf, pos, end, version)
        l_synonyms.append(i_synonyms)
    self.synonyms = l_synonyms
    if version >= 3:
        (self.config_type,) = _unpack_b(buf, pos)
        pos += 1
    else:
        self.config_type = 0
    if version >= 3:
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
            self.documentation = None
        else:
            stop = pos + n
            if stop > end:
                raise length_read("DescribeConfigsResourceResult.documentation", n, end - pos)
            self.documentation = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.documentation = ""
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeConfigsResult:
    """Part of DescribeConfigsResponse."""

    __slots__ = ("error_code", "error_message", "resource_type", "resource_name", "configs")

    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str
    configs: list[DescribeConfigsResourceResult]

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        configs: list[DescribeConfigsResourceResult] = _EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = [] if configs is _EMPTY else configs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeConfigsResult):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.resource_type == other.resource_type
            and self.resource_name == other.resource_name
            and self.configs == other.configs
        )

    def __repr__(self) -> str:
        return f"DescribeConfigsResult(error_code={self.error_code!r}, error_message={self.error_message!r}, resource_type={self.resource_type!r}, resource_name={self.resource_name!r}, configs={self.configs!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 4
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
        n = len(self.configs)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        for i_configs in self.configs:
            i_configs.encode(out, version)
        if flexible:
            buf.append(0)


def _read_DescribeConfigsResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeConfigsResult, int]:
    flexible = version >= 4
    self = DescribeConfigsResult.__new__(DescribeConfigsResult)
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
            raise length_read("DescribeConfigsResult.error_message", n, end - pos)
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
        raise null_read("DescribeConfigsResult.resource_name")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeConfigsResult.resource_name", n, end - pos)
    self.resource_name = str(buf[pos:stop], "utf-8")
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
        raise null_read("DescribeConfigsResult.configs")
    if n * 9 > end - pos:
        raise length_read("DescribeConfigsResult.configs", n, end - pos)
    l_configs: list[DescribeConfigsResourceResult] = []
    for _ in range(n):
        i_configs, pos = _read_DescribeConfigsResourceResult(buf, pos, end, version)
        l_configs.append(i_configs)
    self.configs = l_configs
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeConfigsResponse:
    """Versions 1 to 4, flexible from 4."""

    __slots__ = ("throttle_time_ms", "results")

    API_KEY: ClassVar[int] = 32
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4

    throttle_time_ms: int
    results: list[DescribeConfigsResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[DescribeConfigsResult] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is _EMPTY else results

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeConfigsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.results == other.results
        )

    def __repr__(self) -> str:
        return f"DescribeConfigsResponse(throttle_time_ms={self.throttle_time_ms!r}, results={self.results!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 4:
            raise encode_failed("DescribeConfigsResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 4
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
            raise encode_failed("DescribeConfigsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeConfigsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 4:
            raise decode_failed("DescribeConfigsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeConfigsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeConfigsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeConfigsResponse", version, error) from error
        if pos > end:
            raise decode_failed("DescribeConfigsResponse", version, "truncated")
        return message, pos


def _read_DescribeConfigsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeConfigsResponse, int]:
    flexible = version >= 4
    self = DescribeConfigsResponse.__new__(DescribeConfigsResponse)
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
        raise null_read("DescribeConfigsResponse.results")
    if n * 7 > end - pos:
        raise length_read("DescribeConfigsResponse.results", n, end - pos)
    l_results: list[DescribeConfigsResult] = []
    for _ in range(n):
        i_results, pos = _read_DescribeConfigsResult(buf, pos, end, version)
        l_results.append(i_results)
    self.results = l_results
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
