"""DescribeGroups. Generated from schema/describe_groups.txt by tools/generate_messages.py; do not edit."""

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
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from


class DescribeGroupsRequest:
    """Versions 0 to 6, flexible from 5."""

    __slots__ = ("groups", "include_authorized_operations")

    API_KEY: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 5

    groups: list[str]
    include_authorized_operations: bool

    def __init__(
        self,
        *,
        groups: list[str] = _EMPTY,
        include_authorized_operations: bool = False,
    ) -> None:
        self.groups = [] if groups is _EMPTY else groups
        self.include_authorized_operations = include_authorized_operations

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeGroupsRequest):
            return NotImplemented
        return (
            self.groups == other.groups
            and self.include_authorized_operations == other.include_authorized_operations
        )

    def __repr__(self) -> str:
        return f"DescribeGroupsRequest(groups={self.groups!r}, include_authorized_operations={self.include_authorized_operations!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 6:
            raise encode_failed("DescribeGroupsRequest", version, "no such version")
        try:
            if version < 3:
                if self.include_authorized_operations:
                    raise field_unsupported("DescribeGroupsRequest.include_authorized_operations", version)
            buf = out.buf
            flexible = version >= 5
            n = len(self.groups)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_groups in self.groups:
                data = i_groups.encode()
                n = len(data)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                else:
                    buf += _pack_h(n)
                buf += data
            if version >= 3:
                buf += _pack_z(self.include_authorized_operations)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeGroupsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeGroupsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 6:
            raise decode_failed("DescribeGroupsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeGroupsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeGroupsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeGroupsRequest", version, error) from error
        if pos > end:
            raise decode_failed("DescribeGroupsRequest", version, "truncated")
        return message, pos


def _read_DescribeGroupsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeGroupsRequest, int]:
    flexible = version >= 5
    self = DescribeGroupsRequest.__new__(DescribeGroupsRequest)
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
        raise null_read("DescribeGroupsRequest.groups")
    if n > end - pos:
        raise length_read("DescribeGroupsRequest.groups", n, end - pos)
    l_groups: list[str] = []
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
            raise null_read("DescribeGroupsRequest.groups")
        stop = pos + n
        if stop > end:
            raise length_read("DescribeGroupsRequest.groups", n, end - pos)
        l_groups.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.groups = l_groups
    if version >= 3:
        self.include_authorized_operations = buf[pos] != 0
        pos += 1
    else:
        self.include_authorized_operations = False
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribedGroupMember:
    """Part of DescribeGroupsResponse."""

    __slots__ = ("member_id", "group_instance_id", "client_id", "client_host", "member_metadata", "member_assignment")

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    member_metadata: bytes
    member_assignment: bytes

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        member_metadata: bytes = b"",
        member_assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.member_metadata = member_metadata
        self.member_assignment = member_assignment

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribedGroupMember):
            return NotImplemented
        return (
            self.member_id == other.member_id
            and self.group_instance_id == other.group_instance_id
            and self.client_id == other.client_id
            and self.client_host == other.client_host
            and self.member_metadata == other.member_metadata
            and self.member_assignment == other.member_assignment
        )

    def __repr__(self) -> str:
        return f"DescribedGroupMember(member_id={self.member_id!r}, group_instance_id={self.group_instance_id!r}, client_id={self.client_id!r}, client_host={self.client_host!r}, member_metadata={self.member_metadata!r}, member_assignment={self.member_assignment!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 5
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
        if version >= 4:
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
        data = self.client_id.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        data = self.client_host.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        n = len(self.member_metadata)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        buf += self.member_metadata
        n = len(self.member_assignment)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        buf += self.member_assignment
        if flexible:
            buf.append(0)


def _read_DescribedGroupMember(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribedGroupMember, int]:
    flexible = version >= 5
    self = DescribedGroupMember.__new__(DescribedGroupMember)
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
        raise null_read("DescribedGroupMember.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedGroupMember.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
    if version >= 4:
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
                raise length_read("DescribedGroupMember.group_instance_id", n, end - pos)
            self.group_instance_id = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.group_instance_id = None
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
        raise null_read("DescribedGroupMember.client_id")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedGroupMember.client_id", n, end - pos)
    self.client_id = str(buf[pos:stop], "utf-8")
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
        raise null_read("DescribedGroupMember.client_host")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedGroupMember.client_host", n, end - pos)
    self.client_host = str(buf[pos:stop], "utf-8")
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
        raise null_read("DescribedGroupMember.member_metadata")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedGroupMember.member_metadata", n, end - pos)
    self.member_metadata = bytes(buf[pos:stop])
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
        raise null_read("DescribedGroupMember.member_assignment")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedGroupMember.member_assignment", n, end - pos)
    self.member_assignment = bytes(buf[pos:stop])
    pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribedGroup:
    """Part of DescribeGroupsResponse."""

    __slots__ = ("error_code", "error_message", "group_id", "group_state", "protocol_type", "protocol_data", "members", "authorized_operations")

    error_code: int
    error_message: str | None
    group_id: str
    group_state: str
    protocol_type: str
    protocol_data: str
    members: list[DescribedGroupMember]
    authorized_operations: int

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        protocol_type: str = "",
        protocol_data: str = "",
        members: list[DescribedGroupMember] = _EMPTY,
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.protocol_type = protocol_type
        self.protocol_data = protocol_data
        self.members = [] if members is _EMPTY else members
        self.authorized_operations = authorized_operations

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribedGroup):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.group_id == other.group_id
            and self.group_state == other.group_state
            and self.protocol_type == other.protocol_type
            and self.protocol_data == other.protocol_data
            and self.members == other.members
            and self.authorized_operations == other.authorized_operations
        )

    def __repr__(self) -> str:
        return f"DescribedGroup(error_code={self.error_code!r}, error_message={self.error_message!r}, group_id={self.group_id!r}, group_state={self.group_state!r}, protocol_type={self.protocol_type!r}, protocol_data={self.protocol_data!r}, members={self.members!r}, authorized_operations={self.authorized_operations!r})"

    def encode(self, out: Encoder, version: int) -> None:
        if version < 6:
            if self.error_message is not None:
                raise field_unsupported("DescribedGroup.error_message", version)
        if version < 3:
            if self.authorized_operations != -2147483648:
                raise field_unsupported("DescribedGroup.authorized_operations", version)
        buf = out.buf
        flexible = version >= 5
        buf += _pack_h(self.error_code)
        if version >= 6:
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
        data = self.group_state.encode()
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
        data = self.protocol_data.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
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
        if version >= 3:
            buf += _pack_i(self.authorized_operations)
        if flexible:
            buf.append(0)


def _read_DescribedGroup(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribedGroup, int]:
    flexible = version >= 5
    self = DescribedGroup.__new__(DescribedGroup)
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
    if version >= 6:
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
                raise length_read("DescribedGroup.error_message", n, end - pos)
            self.error_message = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.error_message = None
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
        raise null_read("DescribedGroup.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedGroup.group_id", n, end - pos)
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
        raise null_read("DescribedGroup.group_state")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedGroup.group_state", n, end - pos)
    self.group_state = str(buf[pos:stop], "utf-8")
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
        raise null_read("DescribedGroup.protocol_type")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedGroup.protocol_type", n, end - pos)
    self.protocol_type = str(buf[pos:stop], "utf-8")
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
        raise null_read("DescribedGroup.protocol_data")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedGroup.protocol_data", n, end - pos)
    self.protocol_data = str(buf[pos:stop], "utf-8")
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
        raise null_read("DescribedGroup.members")
    if n * 7 > end - pos:
        raise length_read("DescribedGroup.members", n, end - pos)
    l_members: list[DescribedGroupMember] = []
    for _ in range(n):
        i_members, pos = _read_DescribedGroupMember(buf, pos, end, version)
        l_members.append(i_members)
    self.members = l_members
    if version >= 3:
        (self.authorized_operations,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.authorized_operations = -2147483648
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeGroupsResponse:
    """Versions 0 to 6, flexible from 5."""

    __slots__ = ("throttle_time_ms", "groups")

    API_KEY: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 5

    throttle_time_ms: int
    groups: list[DescribedGroup]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: list[DescribedGroup] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is _EMPTY else groups

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeGroupsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.groups == other.groups
        )

    def __repr__(self) -> str:
        return f"DescribeGroupsResponse(throttle_time_ms={self.throttle_time_ms!r}, groups={self.groups!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 6:
            raise encode_failed("DescribeGroupsResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 5
            if version >= 1:
                buf += _pack_i(self.throttle_time_ms)
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
            raise encode_failed("DescribeGroupsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeGroupsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 6:
            raise decode_failed("DescribeGroupsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeGroupsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeGroupsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeGroupsResponse", version, error) from error
        if pos > end:
            raise decode_failed("DescribeGroupsResponse", version, "truncated")
        return message, pos


def _read_DescribeGroupsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeGroupsResponse, int]:
    flexible = version >= 5
    self = DescribeGroupsResponse.__new__(DescribeGroupsResponse)
    if version >= 1:
        (self.throttle_time_ms,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.throttle_time_ms = 0
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
        raise null_read("DescribeGroupsResponse.groups")
    if n * 12 > end - pos:
        raise length_read("DescribeGroupsResponse.groups", n, end - pos)
    l_groups: list[DescribedGroup] = []
    for _ in range(n):
        i_groups, pos = _read_DescribedGroup(buf, pos, end, version)
        l_groups.append(i_groups)
    self.groups = l_groups
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
