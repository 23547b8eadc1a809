"""IncrementalAlterConfigs. Generated from schema/incremental_alter_configs.txt by tools/generate_messages.py; do not edit."""

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
_pack_z = Struct(">?").pack
_unpack_z = Struct(">?").unpack_from
_pack_b = Struct(">b").pack
_unpack_b = Struct(">b").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from


class AlterableConfig:
    """Part of IncrementalAlterConfigsRequest."""

    __slots__ = ("name", "config_operation", "value")

    name: str
    config_operation: int
    value: str | None

    def __init__(
        self,
        *,
        name: str = "",
        config_operation: int = 0,
        value: str | None = "",
    ) -> None:
        self.name = name
        self.config_operation = config_operation
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterableConfig):
            return NotImplemented
        return (
            self.name == other.name
            and self.config_operation == other.config_operation
            and self.value == other.value
        )

    def __repr__(self) -> str:
        return f"AlterableConfig(name={self.name!r}, config_operation={self.config_operation!r}, value=<hidden>)"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 1
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
        buf += _pack_b(self.config_operation)
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
        if flexible:
            buf.append(0)


def _read_AlterableConfig(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterableConfig, int]:
    flexible = version >= 1
    self = AlterableConfig.__new__(AlterableConfig)
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
        raise null_read("AlterableConfig.name")
    stop = pos + n
    if stop > end:
        raise length_read("AlterableConfig.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.config_operation,) = _unpack_b(buf, pos)
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
        self.value = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("AlterableConfig.value", n, end - pos)
        self.value = str(buf[pos:stop], "utf-8")
        pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterConfigsResource:
    """Part of IncrementalAlterConfigsRequest."""

    __slots__ = ("resource_type", "resource_name", "configs")

    resource_type: int
    resource_name: str
    configs: list[AlterableConfig]

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        configs: list[AlterableConfig] = _EMPTY,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = [] if configs is _EMPTY else configs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterConfigsResource):
            return NotImplemented
        return (
            self.resource_type == other.resource_type
            and self.resource_name == other.resource_name
            and self.configs == other.configs
        )

    def __repr__(self) -> str:
        return f"AlterConfigsResource(resource_type={self.resource_type!r}, resource_name={self.resource_name!r}, configs={self.configs!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 1
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


def _read_AlterConfigsResource(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterConfigsResource, int]:
    flexible = version >= 1
    self = AlterConfigsResource.__new__(AlterConfigsResource)
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
        raise null_read("AlterConfigsResource.resource_name")
    stop = pos + n
    if stop > end:
        raise length_read("AlterConfigsResource.resource_name", n, end - pos)
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
        raise null_read("AlterConfigsResource.configs")
    if n * 4 > end - pos:
        raise length_read("AlterConfigsResource.configs", n, end - pos)
    l_configs: list[AlterableConfig] = []
    for _ in range(n):
        i_configs, pos = _read_AlterableConfig(buf, pos, end, version)
        l_configs.append(i_configs)
    self.configs = l_configs
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class IncrementalAlterConfigsRequest:
    """Versions 0 to 1, flexible from 1."""

    __slots__ = ("resources", "validate_only")

    API_KEY: ClassVar[int] = 44
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1

    resources: list[AlterConfigsResource]
    validate_only: bool

    def __init__(
        self,
        *,
        resources: list[AlterConfigsResource] = _EMPTY,
        validate_only: bool = False,
    ) -> None:
        self.resources = [] if resources is _EMPTY else resources
        self.validate_only = validate_only

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IncrementalAlterConfigsRequest):
            return NotImplemented
        return (
            self.resources == other.resources
            and self.validate_only == other.validate_only
        )

    def __repr__(self) -> str:
        return f"IncrementalAlterConfigsRequest(resources={self.resources!r}, validate_only={self.validate_only!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("IncrementalAlterConfigsRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 1
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
            buf += _pack_z(self.validate_only)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("IncrementalAlterConfigsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[IncrementalAlterConfigsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("IncrementalAlterConfigsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("IncrementalAlterConfigsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_IncrementalAlterConfigsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("IncrementalAlterConfigsRequest", version, error) from error
        if pos > end:
            raise decode_failed("IncrementalAlterConfigsRequest", version, "truncated")
        return message, pos


def _read_IncrementalAlterConfigsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[IncrementalAlterConfigsRequest, int]:
    flexible = version >= 1
    self = IncrementalAlterConfigsRequest.__new__(IncrementalAlterConfigsRequest)
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
        raise null_read("IncrementalAlterConfigsRequest.resources")
    if n * 4 > end - pos:
        raise length_read("IncrementalAlterConfigsRequest.resources", n, end - pos)
    l_resources: list[AlterConfigsResource] = []
    for _ in range(n):
        i_resources, pos = _read_AlterConfigsResource(buf, pos, end, version)
        l_resources.append(i_resources)
    self.resources = l_resources
    self.validate_only = buf[pos] != 0
    pos += 1
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterConfigsResourceResponse:
    """Part of IncrementalAlterConfigsResponse."""

    __slots__ = ("error_code", "error_message", "resource_type", "resource_name")

    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterConfigsResourceResponse):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.resource_type == other.resource_type
            and self.resource_name == other.resource_name
        )

    def __repr__(self) -> str:
        return f"AlterConfigsResourceResponse(error_code={self.error_code!r}, error_message={self.error_message!r}, resource_type={self.resource_type!r}, resource_name={self.resource_name!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 1
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
        if flexible:
            buf.append(0)


def _read_AlterConfigsResourceResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterConfigsResourceResponse, int]:
    flexible = version >= 1
    self = AlterConfigsResourceResponse.__new__(AlterConfigsResourceResponse)
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
            raise length_read("AlterConfigsResourceResponse.error_message", n, end - pos)
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
        raise null_read("AlterConfigsResourceResponse.resource_name")
    stop = pos + n
    if stop > end:
        raise length_read("AlterConfigsResourceResponse.resource_name", n, end - pos)
    self.resource_name = str(buf[pos:stop], "utf-8")
    pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class IncrementalAlterConfigsResponse:
    """Versions 0 to 1, flexible from 1."""

    __slots__ = ("throttle_time_ms", "responses")

    API_KEY: ClassVar[int] = 44
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1

    throttle_time_ms: int
    responses: list[AlterConfigsResourceResponse]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        responses: list[AlterConfigsResourceResponse] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = [] if responses is _EMPTY else responses

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IncrementalAlterConfigsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.responses == other.responses
        )

    def __repr__(self) -> str:
        return f"IncrementalAlterConfigsResponse(throttle_time_ms={self.throttle_time_ms!r}, responses={self.responses!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("IncrementalAlterConfigsResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 1
            buf += _pack_i(self.throttle_time_ms)
            n = len(self.responses)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_responses in self.responses:
                i_responses.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("IncrementalAlterConfigsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[IncrementalAlterConfigsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("IncrementalAlterConfigsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("IncrementalAlterConfigsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_IncrementalAlterConfigsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("IncrementalAlterConfigsResponse", version, error) from error
        if pos > end:
            raise decode_failed("IncrementalAlterConfigsResponse", version, "truncated")
        return message, pos


def _read_IncrementalAlterConfigsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[IncrementalAlterConfigsResponse, int]:
    flexible = version >= 1
    self = IncrementalAlterConfigsResponse.__new__(IncrementalAlterConfigsResponse)
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
        raise null_read("IncrementalAlterConfigsResponse.responses")
    if n * 6 > end - pos:
        raise length_read("IncrementalAlterConfigsResponse.responses", n, end - pos)
    l_responses: list[AlterConfigsResourceResponse] = []
    for _ in range(n):
        i_responses, pos = _read_AlterConfigsResourceResponse(buf, pos, end, version)
        l_responses.append(i_responses)
    self.responses = l_responses
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
