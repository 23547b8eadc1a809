"""DeleteGroups. Generated from schema/delete_groups.txt by tools/generate_messages.py; do not edit."""

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
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from


class DeleteGroupsRequest:
    """Versions 0 to 2, flexible from 2."""

    __slots__ = ("groups_names",)

    API_KEY: ClassVar[int] = 42
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    groups_names: list[str]

    def __init__(
        self,
        *,
        groups_names: list[str] = _EMPTY,
    ) -> None:
        self.groups_names = [] if groups_names is _EMPTY else groups_names

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteGroupsRequest):
            return NotImplemented
        return (
            self.groups_names == other.groups_names
        )

    def __repr__(self) -> str:
        return f"DeleteGroupsRequest(groups_names={self.groups_names!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("DeleteGroupsRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            n = len(self.groups_names)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_groups_names in self.groups_names:
                data = i_groups_names.encode()
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
        except ENCODE_FAILURES as error:
            raise encode_failed("DeleteGroupsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DeleteGroupsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("DeleteGroupsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DeleteGroupsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DeleteGroupsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DeleteGroupsRequest", version, error) from error
        if pos > end:
            raise decode_failed("DeleteGroupsRequest", version, "truncated")
        return message, pos


def _read_DeleteGroupsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteGroupsRequest, int]:
    flexible = version >= 2
    self = DeleteGroupsRequest.__new__(DeleteGroupsRequest)
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
        raise null_read("DeleteGroupsRequest.groups_names")
    if n > end - pos:
        raise length_read("DeleteGroupsRequest.groups_names", n, end - pos)
    l_groups_names: list[str] = []
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
            raise null_read("DeleteGroupsRequest.groups_names")
        stop = pos + n
        if stop > end:
            raise length_read("DeleteGroupsRequest.groups_names", n, end - pos)
        l_groups_names.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.groups_names = l_groups_names
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DeletableGroupResult:
    """Part of DeleteGroupsResponse."""

    __slots__ = ("group_id", "error_code")

    group_id: str
    error_code: int

    def __init__(
        self,
        *,
        group_id: str = "",
        error_code: int = 0,
    ) -> None:
        self.group_id = group_id
        self.error_code = error_code

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeletableGroupResult):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.error_code == other.error_code
        )

    def __repr__(self) -> str:
        return f"DeletableGroupResult(group_id={self.group_id!r}, error_code={self.error_code!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
        data = self.group_id.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        buf += _pack_h(self.error_code)
        if flexible:
            buf.append(0)


def _read_DeletableGroupResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeletableGroupResult, int]:
    flexible = version >= 2
    self = DeletableGroupResult.__new__(DeletableGroupResult)
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
        raise null_read("DeletableGroupResult.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("DeletableGroupResult.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DeleteGroupsResponse:
    """Versions 0 to 2, flexible from 2."""

    __slots__ = ("throttle_time_ms", "results")

    API_KEY: ClassVar[int] = 42
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    throttle_time_ms: int
    results: list[DeletableGroupResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[DeletableGroupResult] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is _EMPTY else results

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteGroupsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.results == other.results
        )

    def __repr__(self) -> str:
        return f"DeleteGroupsResponse(throttle_time_ms={self.throttle_time_ms!r}, results={self.results!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("DeleteGroupsResponse", version, "no such version")
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
            raise encode_failed("DeleteGroupsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DeleteGroupsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("DeleteGroupsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DeleteGroupsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DeleteGroupsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DeleteGroupsResponse", version, error) from error
        if pos > end:
            raise decode_failed("DeleteGroupsResponse", version, "truncated")
        return message, pos


def _read_DeleteGroupsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteGroupsResponse, int]:
    flexible = version >= 2
    self = DeleteGroupsResponse.__new__(DeleteGroupsResponse)
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
        raise null_read("DeleteGroupsResponse.results")
    if n * 4 > end - pos:
        raise length_read("DeleteGroupsResponse.results", n, end - pos)
    l_results: list[DeletableGroupResult] = []
    for _ in range(n):
        i_results, pos = _read_DeletableGroupResult(buf, pos, end, version)
        l_results.append(i_results)
    self.results = l_results
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
