"""ListGroups. Generated from schema/list_groups.txt by tools/generate_messages.py; do not edit."""

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
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from


class ListGroupsRequest:
    """Versions 0 to 5, flexible from 3."""

    __slots__ = ("states_filter", "types_filter")

    API_KEY: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 3

    states_filter: list[str]
    types_filter: list[str]

    def __init__(
        self,
        *,
        states_filter: list[str] = _EMPTY,
        types_filter: list[str] = _EMPTY,
    ) -> None:
        self.states_filter = [] if states_filter is _EMPTY else states_filter
        self.types_filter = [] if types_filter is _EMPTY else types_filter

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ListGroupsRequest):
            return NotImplemented
        return (
            self.states_filter == other.states_filter
            and self.types_filter == other.types_filter
        )

    def __repr__(self) -> str:
        return f"ListGroupsRequest(states_filter={self.states_filter!r}, types_filter={self.types_filter!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 5:
            raise encode_failed("ListGroupsRequest", version, "no such version")
        try:
            if version < 4:
                if self.states_filter:
                    raise field_unsupported("ListGroupsRequest.states_filter", version)
            if version < 5:
                if self.types_filter:
                    raise field_unsupported("ListGroupsRequest.types_filter", version)
            buf = out.buf
            flexible = version >= 3
            if version >= 4:
                n = len(self.states_filter)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_states_filter in self.states_filter:
                    data = i_states_filter.encode()
                    n = len(data)
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                    buf += data
            if version >= 5:
                n = len(self.types_filter)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_types_filter in self.types_filter:
                    data = i_types_filter.encode()
                    n = len(data)
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                    buf += data
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ListGroupsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ListGroupsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 5:
            raise decode_failed("ListGroupsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ListGroupsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ListGroupsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ListGroupsRequest", version, error) from error
        if pos > end:
            raise decode_failed("ListGroupsRequest", version, "truncated")
        return message, pos


def _read_ListGroupsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[ListGroupsRequest, int]:
    flexible = version >= 3
    self = ListGroupsRequest.__new__(ListGroupsRequest)
    if version >= 4:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("ListGroupsRequest.states_filter")
        if n > end - pos:
            raise length_read("ListGroupsRequest.states_filter", n, end - pos)
        l_states_filter: list[str] = []
        for _ in range(n):
            n = buf[pos] - 1
            pos += 1
            if n > 126:
                n, pos = read_string_length_tail(n + 1, buf, pos)
                n -= 1
            if n < 0:
                raise null_read("ListGroupsRequest.states_filter")
            stop = pos + n
            if stop > end:
                raise length_read("ListGroupsRequest.states_filter", n, end - pos)
            l_states_filter.append(str(buf[pos:stop], "utf-8"))
            pos = stop
        self.states_filter = l_states_filter
    else:
        self.states_filter = []
    if version >= 5:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("ListGroupsRequest.types_filter")
        if n > end - pos:
            raise length_read("ListGroupsRequest.types_filter", n, end - pos)
        l_types_filter: list[str] = []
        for _ in range(n):
            n = buf[pos] - 1
            pos += 1
            if n > 126:
                n, pos = read_string_length_tail(n + 1, buf, pos)
                n -= 1
            if n < 0:
                raise null_read("ListGroupsRequest.types_filter")
            stop = pos + n
            if stop > end:
                raise length_read("ListGroupsRequest.types_filter", n, end - pos)
            l_types_filter.append(str(buf[pos:stop], "utf-8"))
            pos = stop
        self.types_filter = l_types_filter
    else:
        self.types_filter = []
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ListedGroup:
    """Part of ListGroupsResponse."""

    __slots__ = ("group_id", "protocol_type", "group_state", "group_type")

    group_id: str
    protocol_type: str
    group_state: str
    group_type: str

    def __init__(
        self,
        *,
        group_id: str = "",
        protocol_type: str = "",
        group_state: str = "",
        group_type: str = "",
    ) -> None:
        self.group_id = group_id
        self.protocol_type = protocol_type
        self.group_state = group_state
        self.group_type = group_type

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ListedGroup):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.protocol_type == other.protocol_type
            and self.group_state == other.group_state
            and self.group_type == other.group_type
        )

    def __repr__(self) -> str:
        return f"ListedGroup(group_id={self.group_id!r}, protocol_type={self.protocol_type!r}, group_state={self.group_state!r}, group_type={self.group_type!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 3
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
        data = self.protocol_type.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        if version >= 4:
            data = self.group_state.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
        if version >= 5:
            data = self.group_type.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
        if flexible:
            buf.append(0)


def _read_ListedGroup(buf: memoryview, pos: int, end: int, version: int) -> tuple[ListedGroup, int]:
    flexible = version >= 3
    self = ListedGroup.__new__(ListedGroup)
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
        raise null_read("ListedGroup.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("ListedGroup.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
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
        raise null_read("ListedGroup.protocol_type")
    stop = pos + n
    if stop > end:
        raise length_read("ListedGroup.protocol_type", n, end - pos)
    self.protocol_type = str(buf[pos:stop], "utf-8")
    pos = stop
    if version >= 4:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("ListedGroup.group_state")
        stop = pos + n
        if stop > end:
            raise length_read("ListedGroup.group_state", n, end - pos)
        self.group_state = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.group_state = ""
    if version >= 5:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("ListedGroup.group_type")
        stop = pos + n
        if stop > end:
            raise length_read("ListedGroup.group_type", n, end - pos)
        self.group_type = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.group_type = ""
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ListGroupsResponse:
    """Versions 0 to 5, flexible from 3."""

    __slots__ = ("throttle_time_ms", "error_code", "groups")

    API_KEY: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 3

    throttle_time_ms: int
    error_code: int
    groups: list[ListedGroup]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        groups: list[ListedGroup] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.groups = [] if groups is _EMPTY else groups

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ListGroupsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.groups == other.groups
        )

    def __repr__(self) -> str:
        return f"ListGroupsResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, groups={self.groups!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 5:
            raise encode_failed("ListGroupsResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 3
            if version >= 1:
                buf += _pack_i(self.throttle_time_ms)
            buf += _pack_h(self.error_code)
            n = len(self.groups)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_groups in self.groups:
                i_groups.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ListGroupsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ListGroupsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 5:
            raise decode_failed("ListGroupsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ListGroupsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ListGroupsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ListGroupsResponse", version, error) from error
        if pos > end:
            raise decode_failed("ListGroupsResponse", version, "truncated")
        return message, pos


def _read_ListGroupsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ListGroupsResponse, int]:
    flexible = version >= 3
    self = ListGroupsResponse.__new__(ListGroupsResponse)
    if version >= 1:
        (self.throttle_time_ms,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.throttle_time_ms = 0
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
        raise null_read("ListGroupsResponse.groups")
    if n * 3 > end - pos:
        raise length_read("ListGroupsResponse.groups", n, end - pos)
    l_groups: list[ListedGroup] = []
    for _ in range(n):
        i_groups, pos = _read_ListedGroup(buf, pos, end, version)
        l_groups.append(i_groups)
    self.groups = l_groups
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
