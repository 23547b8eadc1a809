"""ApiVersions. Generated from schema/api_versions.txt by tools/generate_messages.py; do not edit."""

from __future__ import annotations

from struct import Struct
from typing import Any, ClassVar, Final

from ottla.wire.primitives import (
    Buffer,
    DECODE_FAILURES,
    DecodeError,
    ENCODE_FAILURES,
    Encoder,
    decode_failed,
    encode_failed,
    length_read,
    null_read,
    read_string_length_tail,
    read_uvarint,
    read_uvarint_tail,
    skip_tagged_fields,
    write_string_length,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_z = Struct(">?").pack
_unpack_z = Struct(">?").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_2h = Struct(">hh").pack
_unpack_2h = Struct(">hh").unpack_from
_pack_3h = Struct(">hhh").pack
_unpack_3h = Struct(">hhh").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_q = Struct(">q").pack
_unpack_q = Struct(">q").unpack_from


class ApiVersionsRequest:
    """Versions 0 to 4, flexible from 3."""

    __slots__ = ("client_software_name", "client_software_version")

    API_KEY: ClassVar[int] = 18
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 3

    client_software_name: str
    client_software_version: str

    def __init__(
        self,
        *,
        client_software_name: str = "",
        client_software_version: str = "",
    ) -> None:
        self.client_software_name = client_software_name
        self.client_software_version = client_software_version

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ApiVersionsRequest):
            return NotImplemented
        return (
            self.client_software_name == other.client_software_name
            and self.client_software_version == other.client_software_version
        )

    def __repr__(self) -> str:
        return f"ApiVersionsRequest(client_software_name={self.client_software_name!r}, client_software_version={self.client_software_version!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 4:
            raise encode_failed("ApiVersionsRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 3
            if version >= 3:
                data = self.client_software_name.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            if version >= 3:
                data = self.client_software_version.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ApiVersionsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ApiVersionsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 4:
            raise decode_failed("ApiVersionsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ApiVersionsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ApiVersionsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ApiVersionsRequest", version, error) from error
        if pos > end:
            raise decode_failed("ApiVersionsRequest", version, "truncated")
        return message, pos


def _read_ApiVersionsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[ApiVersionsRequest, int]:
    flexible = version >= 3
    self = ApiVersionsRequest.__new__(ApiVersionsRequest)
    if version >= 3:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("ApiVersionsRequest.client_software_name")
        stop = pos + n
        if stop > end:
            raise length_read("ApiVersionsRequest.client_software_name", n, end - pos)
        self.client_software_name = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.client_software_name = ""
    if version >= 3:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("ApiVersionsRequest.client_software_version")
        stop = pos + n
        if stop > end:
            raise length_read("ApiVersionsRequest.client_software_version", n, end - pos)
        self.client_software_version = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.client_software_version = ""
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ApiVersion:
    """Part of ApiVersionsResponse."""

    __slots__ = ("api_key", "min_version", "max_version")

    api_key: int
    min_version: int
    max_version: int

    def __init__(
        self,
        *,
        api_key: int = 0,
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.api_key = api_key
        self.min_version = min_version
        self.max_version = max_version

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ApiVersion):
            return NotImplemented
        return (
            self.api_key == other.api_key
            and self.min_version == other.min_version
            and self.max_version == other.max_version
        )

    def __repr__(self) -> str:
        return f"ApiVersion(api_key={self.api_key!r}, min_version={self.min_version!r}, max_version={self.max_version!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 3
        buf += _pack_3h(self.api_key, self.min_version, self.max_version)
        if flexible:
            buf.append(0)


def _read_ApiVersion(buf: memoryview, pos: int, end: int, version: int) -> tuple[ApiVersion, int]:
    flexible = version >= 3
    self = ApiVersion.__new__(ApiVersion)
    self.api_key, self.min_version, self.max_version = _unpack_3h(buf, pos)
    pos += 6
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class SupportedFeatureKey:
    """Part of ApiVersionsResponse."""

    __slots__ = ("name", "min_version", "max_version")

    name: str
    min_version: int
    max_version: int

    def __init__(
        self,
        *,
        name: str = "",
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.name = name
        self.min_version = min_version
        self.max_version = max_version

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SupportedFeatureKey):
            return NotImplemented
        return (
            self.name == other.name
            and self.min_version == other.min_version
            and self.max_version == other.max_version
        )

    def __repr__(self) -> str:
        return f"SupportedFeatureKey(name={self.name!r}, min_version={self.min_version!r}, max_version={self.max_version!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_2h(self.min_version, self.max_version)
        buf.append(0)


def _read_SupportedFeatureKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[SupportedFeatureKey, int]:
    self = SupportedFeatureKey.__new__(SupportedFeatureKey)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("SupportedFeatureKey.name")
    stop = pos + n
    if stop > end:
        raise length_read("SupportedFeatureKey.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    self.min_version, self.max_version = _unpack_2h(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class FinalizedFeatureKey:
    """Part of ApiVersionsResponse."""

    __slots__ = ("name", "max_version_level", "min_version_level")

    name: str
    max_version_level: int
    min_version_level: int

    def __init__(
        self,
        *,
        name: str = "",
        max_version_level: int = 0,
        min_version_level: int = 0,
    ) -> None:
        self.name = name
        self.max_version_level = max_version_level
        self.min_version_level = min_version_level

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FinalizedFeatureKey):
            return NotImplemented
        return (
            self.name == other.name
            and self.max_version_level == other.max_version_level
            and self.min_version_level == other.min_version_level
        )

    def __repr__(self) -> str:
        return f"FinalizedFeatureKey(name={self.name!r}, max_version_level={self.max_version_level!r}, min_version_level={self.min_version_level!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_2h(self.max_version_level, self.min_version_level)
        buf.append(0)


def _read_FinalizedFeatureKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[FinalizedFeatureKey, int]:
    self = FinalizedFeatureKey.__new__(FinalizedFeatureKey)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("FinalizedFeatureKey.name")
    stop = pos + n
    if stop > end:
        raise length_read("FinalizedFeatureKey.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    self.max_version_level, self.min_version_level = _unpack_2h(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ApiVersionsResponse:
    """Versions 0 to 4, flexible from 3."""

    __slots__ = ("error_code", "api_keys", "throttle_time_ms", "supported_features", "finalized_features_epoch", "finalized_features", "zk_migration_ready")

    API_KEY: ClassVar[int] = 18
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 3

    error_code: int
    api_keys: list[ApiVersion]
    throttle_time_ms: int
    supported_features: list[SupportedFeatureKey]
    finalized_features_epoch: int
    finalized_features: list[FinalizedFeatureKey]
    zk_migration_ready: bool

    def __init__(
        self,
        *,
        error_code: int = 0,
        api_keys: list[ApiVersion] = _EMPTY,
        throttle_time_ms: int = 0,
        supported_features: list[SupportedFeatureKey] = _EMPTY,
        finalized_features_epoch: int = -1,
        finalized_features: list[FinalizedFeatureKey] = _EMPTY,
        zk_migration_ready: bool = False,
    ) -> None:
        self.error_code = error_code
        self.api_keys = [] if api_keys is _EMPTY else api_keys
        self.throttle_time_ms = throttle_time_ms
        self.supported_features = [] if supported_features is _EMPTY else supported_features
        self.finalized_features_epoch = finalized_features_epoch
        self.finalized_features = [] if finalized_features is _EMPTY else finalized_features
        self.zk_migration_ready = zk_migration_ready

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ApiVersionsResponse):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.api_keys == other.api_keys
            and self.throttle_time_ms == other.throttle_time_ms
            and self.supported_features == other.supported_features
            and self.finalized_features_epoch == other.finalized_features_epoch
            and self.finalized_features == other.finalized_features
            and self.zk_migration_ready == other.zk_migration_ready
        )

    def __repr__(self) -> str:
        return f"ApiVersionsResponse(error_code={self.error_code!r}, api_keys={self.api_keys!r}, throttle_time_ms={self.throttle_time_ms!r}, supported_features={self.supported_features!r}, finalized_features_epoch={self.finalized_features_epoch!r}, finalized_features={self.finalized_features!r}, zk_migration_ready={self.zk_migration_ready!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 4:
            raise encode_failed("ApiVersionsResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 3
            buf += _pack_h(self.error_code)
            n = len(self.api_keys)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_api_keys in self.api_keys:
                i_api_keys.encode(out, version)
            if version >= 1:
                buf += _pack_i(self.throttle_time_ms)
            if flexible:
                count = 0
                if self.supported_features:
                    count += 1
                if self.finalized_features_epoch != -1:
                    count += 1
                if self.finalized_features:
                    count += 1
                if self.zk_migration_ready:
                    count += 1
                buf.append(count)
                if count:
                    if self.supported_features:
                        sub = Encoder()
                        sub_buf = sub.buf
                        n = len(self.supported_features)
                        if n < 127:
                            sub_buf.append(n + 1)
                        else:
                            write_uvarint(sub_buf, n + 1)
                        for i_supported_features in self.supported_features:
                            i_supported_features.encode(sub, version)
                        buf.append(0)
                        write_uvarint(buf, len(sub_buf))
                        buf += sub_buf
                    if self.finalized_features_epoch != -1:
                        buf += b"\x01\x08"
                        buf += _pack_q(self.finalized_features_epoch)
                    if self.finalized_features:
                        sub = Encoder()
                        sub_buf = sub.buf
                        n = len(self.finalized_features)
                        if n < 127:
                            sub_buf.append(n + 1)
                        else:
                            write_uvarint(sub_buf, n + 1)
                        for i_finalized_features in self.finalized_features:
                            i_finalized_features.encode(sub, version)
                        buf.append(2)
                        write_uvarint(buf, len(sub_buf))
                        buf += sub_buf
                    if self.zk_migration_ready:
                        buf += b"\x03\x01"
                        buf += _pack_z(self.zk_migration_ready)
        except ENCODE_FAILURES as error:
            raise encode_failed("ApiVersionsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ApiVersionsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 4:
            raise decode_failed("ApiVersionsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ApiVersionsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ApiVersionsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ApiVersionsResponse", version, error) from error
        if pos > end:
            raise decode_failed("ApiVersionsResponse", version, "truncated")
        return message, pos


def _read_ApiVersionsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ApiVersionsResponse, int]:
    flexible = version >= 3
    self = ApiVersionsResponse.__new__(ApiVersionsResponse)
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
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
        raise null_read("ApiVersionsResponse.api_keys")
    if n * 6 > end - pos:
        raise length_read("ApiVersionsResponse.api_keys", n, end - pos)
    l_api_keys: list[ApiVersion] = []
    for _ in range(n):
        i_api_keys, pos = _read_ApiVersion(buf, pos, end, version)
        l_api_keys.append(i_api_keys)
    self.api_keys = l_api_keys
    if version >= 1:
        (self.throttle_time_ms,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.throttle_time_ms = 0
    self.supported_features = []
    self.finalized_features_epoch = -1
    self.finalized_features = []
    self.zk_migration_ready = False
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            count, pos = read_uvarint(buf, pos)
            if count * 2 > end - pos:
                raise length_read("ApiVersionsResponse tags", count, end - pos)
            for _ in range(count):
                tag, pos = read_uvarint(buf, pos)
                size, pos = read_uvarint(buf, pos)
                tag_end = pos + size
                if tag_end > end:
                    raise length_read("ApiVersionsResponse tag", size, end - pos)
                if tag == 0:
                    n = buf[pos] - 1
                    pos += 1
                    if n > 126:
                        n, pos = read_uvarint_tail(n + 1, buf, pos)
                        n -= 1
                    if n < 0:
                        raise null_read("ApiVersionsResponse.supported_features")
                    if n * 6 > end - pos:
                        raise length_read("ApiVersionsResponse.supported_features", n, end - pos)
                    l_supported_features: list[SupportedFeatureKey] = []
                    for _ in range(n):
                        i_supported_features, pos = _read_SupportedFeatureKey(buf, pos, end, version)
                        l_supported_features.append(i_supported_features)
                    self.supported_features = l_supported_features
                elif tag == 1:
                    (self.finalized_features_epoch,) = _unpack_q(buf, pos)
                    pos += 8
                elif tag == 2:
                    n = buf[pos] - 1
                    pos += 1
                    if n > 126:
                        n, pos = read_uvarint_tail(n + 1, buf, pos)
                        n -= 1
                    if n < 0:
                        raise null_read("ApiVersionsResponse.finalized_features")
                    if n * 6 > end - pos:
                        raise length_read("ApiVersionsResponse.finalized_features", n, end - pos)
                    l_finalized_features: list[FinalizedFeatureKey] = []
                    for _ in range(n):
                        i_finalized_features, pos = _read_FinalizedFeatureKey(buf, pos, end, version)
                        l_finalized_features.append(i_finalized_features)
                    self.finalized_features = l_finalized_features
                elif tag == 3:
                    self.zk_migration_ready = buf[pos] != 0
                    pos += 1
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise DecodeError(f"ApiVersionsResponse: tag {tag} does not fill its {size} bytes")
    return self, pos
