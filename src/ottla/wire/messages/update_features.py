"""UpdateFeatures. Generated from schema/update_features.txt by tools/generate_messages.py; do not edit."""

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


class FeatureUpdateKey:
    """Part of UpdateFeaturesRequest."""

    __slots__ = ("feature", "max_version_level", "allow_downgrade", "upgrade_type")

    feature: str
    max_version_level: int
    allow_downgrade: bool
    upgrade_type: int

    def __init__(
        self,
        *,
        feature: str = "",
        max_version_level: int = 0,
        allow_downgrade: bool = False,
        upgrade_type: int = 1,
    ) -> None:
        self.feature = feature
        self.max_version_level = max_version_level
        self.allow_downgrade = allow_downgrade
        self.upgrade_type = upgrade_type

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FeatureUpdateKey):
            return NotImplemented
        return (
            self.feature == other.feature
            and self.max_version_level == other.max_version_level
            and self.allow_downgrade == other.allow_downgrade
            and self.upgrade_type == other.upgrade_type
        )

    def __repr__(self) -> str:
        return f"FeatureUpdateKey(feature={self.feature!r}, max_version_level={self.max_version_level!r}, allow_downgrade={self.allow_downgrade!r}, upgrade_type={self.upgrade_type!r})"

    def encode(self, out: Encoder, version: int) -> None:
        if version > 0:
            if self.allow_downgrade:
                raise field_unsupported("FeatureUpdateKey.allow_downgrade", version)
        if version < 1:
            if self.upgrade_type != 1:
                raise field_unsupported("FeatureUpdateKey.upgrade_type", version)
        buf = out.buf
        data = self.feature.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_h(self.max_version_level)
        if version <= 0:
            buf += _pack_z(self.allow_downgrade)
        if version >= 1:
            buf += _pack_b(self.upgrade_type)
        buf.append(0)


def _read_FeatureUpdateKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[FeatureUpdateKey, int]:
    self = FeatureUpdateKey.__new__(FeatureUpdateKey)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("FeatureUpdateKey.feature")
    stop = pos + n
    if stop > end:
        raise length_read("FeatureUpdateKey.feature", n, end - pos)
    self.feature = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.max_version_level,) = _unpack_h(buf, pos)
    pos += 2
    if version <= 0:
        self.allow_downgrade = buf[pos] != 0
        pos += 1
    else:
        self.allow_downgrade = False
    if version >= 1:
        (self.upgrade_type,) = _unpack_b(buf, pos)
        pos += 1
    else:
        self.upgrade_type = 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class UpdateFeaturesRequest:
    """Versions 0 to 2."""

    __slots__ = ("timeout_ms", "feature_updates", "validate_only")

    API_KEY: ClassVar[int] = 57
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    timeout_ms: int
    feature_updates: list[FeatureUpdateKey]
    validate_only: bool

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        feature_updates: list[FeatureUpdateKey] = _EMPTY,
        validate_only: bool = False,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.feature_updates = [] if feature_updates is _EMPTY else feature_updates
        self.validate_only = validate_only

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UpdateFeaturesRequest):
            return NotImplemented
        return (
            self.timeout_ms == other.timeout_ms
            and self.feature_updates == other.feature_updates
            and self.validate_only == other.validate_only
        )

    def __repr__(self) -> str:
        return f"UpdateFeaturesRequest(timeout_ms={self.timeout_ms!r}, feature_updates={self.feature_updates!r}, validate_only={self.validate_only!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("UpdateFeaturesRequest", version, "no such version")
        try:
            if version < 1:
                if self.validate_only:
                    raise field_unsupported("UpdateFeaturesRequest.validate_only", version)
            buf = out.buf
            buf += _pack_i(self.timeout_ms)
            n = len(self.feature_updates)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_feature_updates in self.feature_updates:
                i_feature_updates.encode(out, version)
            if version >= 1:
                buf += _pack_z(self.validate_only)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("UpdateFeaturesRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[UpdateFeaturesRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("UpdateFeaturesRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("UpdateFeaturesRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_UpdateFeaturesRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("UpdateFeaturesRequest", version, error) from error
        if pos > end:
            raise decode_failed("UpdateFeaturesRequest", version, "truncated")
        return message, pos


def _read_UpdateFeaturesRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[UpdateFeaturesRequest, int]:
    self = UpdateFeaturesRequest.__new__(UpdateFeaturesRequest)
    (self.timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("UpdateFeaturesRequest.feature_updates")
    if n * 5 > end - pos:
        raise length_read("UpdateFeaturesRequest.feature_updates", n, end - pos)
    l_feature_updates: list[FeatureUpdateKey] = []
    for _ in range(n):
        i_feature_updates, pos = _read_FeatureUpdateKey(buf, pos, end, version)
        l_feature_updates.append(i_feature_updates)
    self.feature_updates = l_feature_updates
    if version >= 1:
        self.validate_only = buf[pos] != 0
        pos += 1
    else:
        self.validate_only = False
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class UpdatableFeatureResult:
    """Part of UpdateFeaturesResponse."""

    __slots__ = ("feature", "error_code", "error_message")

    feature: str
    error_code: int
    error_message: str | None

    def __init__(
        self,
        *,
        feature: str = "",
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.feature = feature
        self.error_code = error_code
        self.error_message = error_message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UpdatableFeatureResult):
            return NotImplemented
        return (
            self.feature == other.feature
            and self.error_code == other.error_code
            and self.error_message == other.error_message
        )

    def __repr__(self) -> str:
        return f"UpdatableFeatureResult(feature={self.feature!r}, error_code={self.error_code!r}, error_message={self.error_message!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.feature.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_h(self.error_code)
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


def _read_UpdatableFeatureResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[UpdatableFeatureResult, int]:
    self = UpdatableFeatureResult.__new__(UpdatableFeatureResult)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("UpdatableFeatureResult.feature")
    stop = pos + n
    if stop > end:
        raise length_read("UpdatableFeatureResult.feature", n, end - pos)
    self.feature = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
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
            raise length_read("UpdatableFeatureResult.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class UpdateFeaturesResponse:
    """Versions 0 to 2."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "results")

    API_KEY: ClassVar[int] = 57
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    results: list[UpdatableFeatureResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: list[UpdatableFeatureResult] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = [] if results is _EMPTY else results

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UpdateFeaturesResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.results == other.results
        )

    def __repr__(self) -> str:
        return f"UpdateFeaturesResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, results={self.results!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("UpdateFeaturesResponse", version, "no such version")
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
            if version <= 1:
                n = len(self.results)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_results in self.results:
                    i_results.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("UpdateFeaturesResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[UpdateFeaturesResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("UpdateFeaturesResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("UpdateFeaturesResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_UpdateFeaturesResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("UpdateFeaturesResponse", version, error) from error
        if pos > end:
            raise decode_failed("UpdateFeaturesResponse", version, "truncated")
        return message, pos


def _read_UpdateFeaturesResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[UpdateFeaturesResponse, int]:
    self = UpdateFeaturesResponse.__new__(UpdateFeaturesResponse)
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
            raise length_read("UpdateFeaturesResponse.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if version <= 1:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("UpdateFeaturesResponse.results")
        if n * 5 > end - pos:
            raise length_read("UpdateFeaturesResponse.results", n, end - pos)
        l_results: list[UpdatableFeatureResult] = []
        for _ in range(n):
            i_results, pos = _read_UpdatableFeatureResult(buf, pos, end, version)
            l_results.append(i_results)
        self.results = l_results
    else:
        self.results = []
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
