"""LeaveGroup. Generated from schema/leave_group.txt by tools/generate_messages.py; do not edit."""

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


class MemberIdentity:
    """Part of LeaveGroupRequest."""

    __slots__ = ("member_id", "group_instance_id", "reason")

    member_id: str
    group_instance_id: str | None
    reason: str | None

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = None,
        reason: str | None = None,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.reason = reason

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemberIdentity):
            return NotImplemented
        return (
            self.member_id == other.member_id
            and self.group_instance_id == other.group_instance_id
            and self.reason == other.reason
        )

    def __repr__(self) -> str:
        return f"MemberIdentity(member_id={self.member_id!r}, group_instance_id={self.group_instance_id!r}, reason={self.reason!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 4
        data = self.member_id.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        v_group_instance_id = self.group_instance_id
        if v_group_instance_id is None:
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff"
        else:
            data = v_group_instance_id.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
        if version >= 5:
            v_reason = self.reason
            if v_reason is None:
                buf.append(0)
            else:
                data = v_reason.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
        if flexible:
            buf.append(0)


def _read_MemberIdentity(buf: memoryview, pos: int, end: int, version: int) -> tuple[MemberIdentity, int]:
    flexible = version >= 4
    self = MemberIdentity.__new__(MemberIdentity)
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
        raise null_read("MemberIdentity.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("MemberIdentity.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
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
        self.group_instance_id = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("MemberIdentity.group_instance_id", n, end - pos)
        self.group_instance_id = str(buf[pos:stop], "utf-8")
        pos = stop
    if version >= 5:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            self.reason = None
        else:
            stop = pos + n
            if stop > end:
                raise length_read("MemberIdentity.reason", n, end - pos)
            self.reason = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.reason = None
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class LeaveGroupRequest:
    """Versions 0 to 5, flexible from 4."""

    __slots__ = ("group_id", "member_id", "members")

    API_KEY: ClassVar[int] = 13
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4

    group_id: str
    member_id: str
    members: list[MemberIdentity]

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        members: list[MemberIdentity] = _EMPTY,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.members = [] if members is _EMPTY else members

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LeaveGroupRequest):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.member_id == other.member_id
            and self.members == other.members
        )

    def __repr__(self) -> str:
        return f"LeaveGroupRequest(group_id={self.group_id!r}, member_id={self.member_id!r}, members={self.members!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 5:
            raise encode_failed("LeaveGroupRequest", version, "no such version")
        try:
            if version > 2:
                if self.member_id != "":
                    raise field_unsupported("LeaveGroupRequest.member_id", version)
            if version < 3:
                if self.members:
                    raise field_unsupported("LeaveGroupRequest.members", version)
            buf = out.buf
            flexible = version >= 4
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
            if version <= 2:
                data = self.member_id.encode()
                n = len(data)
                buf += _pack_h(n)
                buf += data
            if version >= 3:
                n = len(self.members)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_uvarint(buf, n + 1)
                else:
                    buf += _pack_i(n)
                for i_members in self.members:
                    i_members.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("LeaveGroupRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[LeaveGroupRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 5:
            raise decode_failed("LeaveGroupRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("LeaveGroupRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_LeaveGroupRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("LeaveGroupRequest", version, error) from error
        if pos > end:
            raise decode_failed("LeaveGroupRequest", version, "truncated")
        return message, pos


def _read_LeaveGroupRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[LeaveGroupRequest, int]:
    flexible = version >= 4
    self = LeaveGroupRequest.__new__(LeaveGroupRequest)
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
        raise null_read("LeaveGroupRequest.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("LeaveGroupRequest.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    if version <= 2:
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_read("LeaveGroupRequest.member_id")
        stop = pos + n
        if stop > end:
            raise length_read("LeaveGroupRequest.member_id", n, end - pos)
        self.member_id = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.member_id = ""
    if version >= 3:
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
            raise null_read("LeaveGroupRequest.members")
        if n * 3 > end - pos:
            raise length_read("LeaveGroupRequest.members", n, end - pos)
        l_members: list[MemberIdentity] = []
        for _ in range(n):
            i_members, pos = _read_MemberIdentity(buf, pos, end, version)
            l_members.append(i_members)
        self.members = l_members
    else:
        self.members = []
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class MemberResponse:
    """Part of LeaveGroupResponse."""

    __slots__ = ("member_id", "group_instance_id", "error_code")

    member_id: str
    group_instance_id: str | None
    error_code: int

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.error_code = error_code

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemberResponse):
            return NotImplemented
        return (
            self.member_id == other.member_id
            and self.group_instance_id == other.group_instance_id
            and self.error_code == other.error_code
        )

    def __repr__(self) -> str:
        return f"MemberResponse(member_id={self.member_id!r}, group_instance_id={self.group_instance_id!r}, error_code={self.error_code!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 4
        data = self.member_id.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        v_group_instance_id = self.group_instance_id
        if v_group_instance_id is None:
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff"
        else:
            data = v_group_instance_id.encode()
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


def _read_MemberResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[MemberResponse, int]:
    flexible = version >= 4
    self = MemberResponse.__new__(MemberResponse)
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
        raise null_read("MemberResponse.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("MemberResponse.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
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
        self.group_instance_id = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("MemberResponse.group_instance_id", n, end - pos)
        self.group_instance_id = str(buf[pos:stop], "utf-8")
        pos = stop
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class LeaveGroupResponse:
    """Versions 0 to 5, flexible from 4."""

    __slots__ = ("throttle_time_ms", "error_code", "members")

    API_KEY: ClassVar[int] = 13
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4

    throttle_time_ms: int
    error_code: int
    members: list[MemberResponse]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        members: list[MemberResponse] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.members = [] if members is _EMPTY else members

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LeaveGroupResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.members == other.members
        )

    def __repr__(self) -> str:
        return f"LeaveGroupResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, members={self.members!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 5:
            raise encode_failed("LeaveGroupResponse", version, "no such version")
        try:
            if version < 3:
                if self.members:
                    raise field_unsupported("LeaveGroupResponse.members", version)
            buf = out.buf
            flexible = version >= 4
            if version >= 1:
                buf += _pack_i(self.throttle_time_ms)
            buf += _pack_h(self.error_code)
            if version >= 3:
                n = len(self.members)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_uvarint(buf, n + 1)
                else:
                    buf += _pack_i(n)
                for i_members in self.members:
                    i_members.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("LeaveGroupResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[LeaveGroupResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 5:
            raise decode_failed("LeaveGroupResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("LeaveGroupResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_LeaveGroupResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("LeaveGroupResponse", version, error) from error
        if pos > end:
            raise decode_failed("LeaveGroupResponse", version, "truncated")
        return message, pos


def _read_LeaveGroupResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[LeaveGroupResponse, int]:
    flexible = version >= 4
    self = LeaveGroupResponse.__new__(LeaveGroupResponse)
    if version >= 1:
        (self.throttle_time_ms,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.throttle_time_ms = 0
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
    if version >= 3:
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
            raise null_read("LeaveGroupResponse.members")
        if n * 5 > end - pos:
            raise length_read("LeaveGroupResponse.members", n, end - pos)
        l_members: list[MemberResponse] = []
        for _ in range(n):
            i_members, pos = _read_MemberResponse(buf, pos, end, version)
            l_members.append(i_members)
        self.members = l_members
    else:
        self.members = []
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
