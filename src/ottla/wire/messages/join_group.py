"""JoinGroup. Generated from schema/join_group.txt by tools/generate_messages.py; do not edit."""

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
    null_written,
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
_pack_hi = Struct(">hi").pack
_unpack_hi = Struct(">hi").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from


class JoinGroupRequestProtocol:
    """Part of JoinGroupRequest."""

    __slots__ = ("name", "metadata")

    name: str
    metadata: bytes

    def __init__(
        self,
        *,
        name: str = "",
        metadata: bytes = b"",
    ) -> None:
        self.name = name
        self.metadata = metadata

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JoinGroupRequestProtocol):
            return NotImplemented
        return (
            self.name == other.name
            and self.metadata == other.metadata
        )

    def __repr__(self) -> str:
        return f"JoinGroupRequestProtocol(name={self.name!r}, metadata={self.metadata!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 6
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
        n = len(self.metadata)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        buf += self.metadata
        if flexible:
            buf.append(0)


def _read_JoinGroupRequestProtocol(buf: memoryview, pos: int, end: int, version: int) -> tuple[JoinGroupRequestProtocol, int]:
    flexible = version >= 6
    self = JoinGroupRequestProtocol.__new__(JoinGroupRequestProtocol)
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
        raise null_read("JoinGroupRequestProtocol.name")
    stop = pos + n
    if stop > end:
        raise length_read("JoinGroupRequestProtocol.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
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
        raise null_read("JoinGroupRequestProtocol.metadata")
    stop = pos + n
    if stop > end:
        raise length_read("JoinGroupRequestProtocol.metadata", n, end - pos)
    self.metadata = bytes(buf[pos:stop])
    pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class JoinGroupRequest:
    """Versions 0 to 9, flexible from 6."""

    __slots__ = ("group_id", "session_timeout_ms", "rebalance_timeout_ms", "member_id", "group_instance_id", "protocol_type", "protocols", "reason")

    API_KEY: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 9
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 6

    group_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    member_id: str
    group_instance_id: str | None
    protocol_type: str
    protocols: list[JoinGroupRequestProtocol]
    reason: str | None

    def __init__(
        self,
        *,
        group_id: str = "",
        session_timeout_ms: int = 0,
        rebalance_timeout_ms: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str = "",
        protocols: list[JoinGroupRequestProtocol] = _EMPTY,
        reason: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocols = [] if protocols is _EMPTY else protocols
        self.reason = reason

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JoinGroupRequest):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.session_timeout_ms == other.session_timeout_ms
            and self.rebalance_timeout_ms == other.rebalance_timeout_ms
            and self.member_id == other.member_id
            and self.group_instance_id == other.group_instance_id
            and self.protocol_type == other.protocol_type
            and self.protocols == other.protocols
            and self.reason == other.reason
        )

    def __repr__(self) -> str:
        return f"JoinGroupRequest(group_id={self.group_id!r}, session_timeout_ms={self.session_timeout_ms!r}, rebalance_timeout_ms={self.rebalance_timeout_ms!r}, member_id={self.member_id!r}, group_instance_id={self.group_instance_id!r}, protocol_type={self.protocol_type!r}, protocols={self.protocols!r}, reason={self.reason!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 9:
            raise encode_failed("JoinGroupRequest", version, "no such version")
        try:
            if version < 5:
                if self.group_instance_id is not None:
                    raise field_unsupported("JoinGroupRequest.group_instance_id", version)
            buf = out.buf
            flexible = version >= 6
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
            buf += _pack_i(self.session_timeout_ms)
            if version >= 1:
                buf += _pack_i(self.rebalance_timeout_ms)
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
            if version >= 5:
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
            n = len(self.protocols)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_protocols in self.protocols:
                i_protocols.encode(out, version)
            if version >= 8:
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
        except ENCODE_FAILURES as error:
            raise encode_failed("JoinGroupRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[JoinGroupRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 9:
            raise decode_failed("JoinGroupRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("JoinGroupRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_JoinGroupRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("JoinGroupRequest", version, error) from error
        if pos > end:
            raise decode_failed("JoinGroupRequest", version, "truncated")
        return message, pos


def _read_JoinGroupRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[JoinGroupRequest, int]:
    flexible = version >= 6
    self = JoinGroupRequest.__new__(JoinGroupRequest)
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
        raise null_read("JoinGroupRequest.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("JoinGroupRequest.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.session_timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    if version >= 1:
        (self.rebalance_timeout_ms,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.rebalance_timeout_ms = -1
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
        raise null_read("JoinGroupRequest.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("JoinGroupRequest.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
    if version >= 5:
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
                raise length_read("JoinGroupRequest.group_instance_id", n, end - pos)
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
        raise null_read("JoinGroupRequest.protocol_type")
    stop = pos + n
    if stop > end:
        raise length_read("JoinGroupRequest.protocol_type", n, end - pos)
    self.protocol_type = str(buf[pos:stop], "utf-8")
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
        raise null_read("JoinGroupRequest.protocols")
    if n * 3 > end - pos:
        raise length_read("JoinGroupRequest.protocols", n, end - pos)
    l_protocols: list[JoinGroupRequestProtocol] = []
    for _ in range(n):
        i_protocols, pos = _read_JoinGroupRequestProtocol(buf, pos, end, version)
        l_protocols.append(i_protocols)
    self.protocols = l_protocols
    if version >= 8:
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
                raise length_read("JoinGroupRequest.reason", n, end - pos)
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


class JoinGroupResponseMember:
    """Part of JoinGroupResponse."""

    __slots__ = ("member_id", "group_instance_id", "metadata")

    member_id: str
    group_instance_id: str | None
    metadata: bytes

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = None,
        metadata: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.metadata = metadata

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JoinGroupResponseMember):
            return NotImplemented
        return (
            self.member_id == other.member_id
            and self.group_instance_id == other.group_instance_id
            and self.metadata == other.metadata
        )

    def __repr__(self) -> str:
        return f"JoinGroupResponseMember(member_id={self.member_id!r}, group_instance_id={self.group_instance_id!r}, metadata={self.metadata!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 6
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
        if version >= 5:
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
        n = len(self.metadata)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        buf += self.metadata
        if flexible:
            buf.append(0)


def _read_JoinGroupResponseMember(buf: memoryview, pos: int, end: int, version: int) -> tuple[JoinGroupResponseMember, int]:
    flexible = version >= 6
    self = JoinGroupResponseMember.__new__(JoinGroupResponseMember)
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
        raise null_read("JoinGroupResponseMember.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("JoinGroupResponseMember.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
    if version >= 5:
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
                raise length_read("JoinGroupResponseMember.group_instance_id", n, end - pos)
            self.group_instance_id = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.group_instance_id = None
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
        raise null_read("JoinGroupResponseMember.metadata")
    stop = pos + n
    if stop > end:
        raise length_read("JoinGroupResponseMember.metadata", n, end - pos)
    self.metadata = bytes(buf[pos:stop])
    pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class JoinGroupResponse:
    """Versions 0 to 9, flexible from 6."""

    __slots__ = ("throttle_time_ms", "error_code", "generation_id", "protocol_type", "protocol_name", "leader", "skip_assignment", "member_id", "members")

    API_KEY: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 9
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 6

    throttle_time_ms: int
    error_code: int
    generation_id: int
    protocol_type: str | None
    protocol_name: str | None
    leader: str
    skip_assignment: bool
    member_id: str
    members: list[JoinGroupResponseMember]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        generation_id: int = -1,
        protocol_type: str | None = None,
        protocol_name: str | None = "",
        leader: str = "",
        skip_assignment: bool = False,
        member_id: str = "",
        members: list[JoinGroupResponseMember] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.generation_id = generation_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.leader = leader
        self.skip_assignment = skip_assignment
        self.member_id = member_id
        self.members = [] if members is _EMPTY else members

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JoinGroupResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.generation_id == other.generation_id
            and self.protocol_type == other.protocol_type
            and self.protocol_name == other.protocol_name
            and self.leader == other.leader
            and self.skip_assignment == other.skip_assignment
            and self.member_id == other.member_id
            and self.members == other.members
        )

    def __repr__(self) -> str:
        return f"JoinGroupResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, generation_id={self.generation_id!r}, protocol_type={self.protocol_type!r}, protocol_name={self.protocol_name!r}, leader={self.leader!r}, skip_assignment={self.skip_assignment!r}, member_id={self.member_id!r}, members={self.members!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 9:
            raise encode_failed("JoinGroupResponse", version, "no such version")
        try:
            if version < 9:
                if self.skip_assignment:
                    raise field_unsupported("JoinGroupResponse.skip_assignment", version)
            buf = out.buf
            flexible = version >= 6
            if version >= 2:
                buf += _pack_i(self.throttle_time_ms)
            buf += _pack_hi(self.error_code, self.generation_id)
            if version >= 7:
                v_protocol_type = self.protocol_type
                if v_protocol_type is None:
                    buf.append(0)
                else:
                    data = v_protocol_type.encode()
                    n = len(data)
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                    buf += data
            v_protocol_name = self.protocol_name
            if v_protocol_name is None:
                if version < 7:
                    raise null_written("JoinGroupResponse.protocol_name", version)
                if flexible:
                    buf.append(0)
                else:
                    buf += b"\xff\xff"
            else:
                data = v_protocol_name.encode()
                n = len(data)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                else:
                    buf += _pack_h(n)
                buf += data
            data = self.leader.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
            if version >= 9:
                buf += _pack_z(self.skip_assignment)
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
            raise encode_failed("JoinGroupResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[JoinGroupResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 9:
            raise decode_failed("JoinGroupResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("JoinGroupResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_JoinGroupResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("JoinGroupResponse", version, error) from error
        if pos > end:
            raise decode_failed("JoinGroupResponse", version, "truncated")
        return message, pos


def _read_JoinGroupResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[JoinGroupResponse, int]:
    flexible = version >= 6
    self = JoinGroupResponse.__new__(JoinGroupResponse)
    if version >= 2:
        (self.throttle_time_ms,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.throttle_time_ms = 0
    self.error_code, self.generation_id = _unpack_hi(buf, pos)
    pos += 6
    if version >= 7:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            self.protocol_type = None
        else:
            stop = pos + n
            if stop > end:
                raise length_read("JoinGroupResponse.protocol_type", n, end - pos)
            self.protocol_type = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.protocol_type = None
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
        if version < 7:
            raise null_read("JoinGroupResponse.protocol_name")
        self.protocol_name = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("JoinGroupResponse.protocol_name", n, end - pos)
        self.protocol_name = str(buf[pos:stop], "utf-8")
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
        raise null_read("JoinGroupResponse.leader")
    stop = pos + n
    if stop > end:
        raise length_read("JoinGroupResponse.leader", n, end - pos)
    self.leader = str(buf[pos:stop], "utf-8")
    pos = stop
    if version >= 9:
        self.skip_assignment = buf[pos] != 0
        pos += 1
    else:
        self.skip_assignment = False
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
        raise null_read("JoinGroupResponse.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("JoinGroupResponse.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
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
        raise null_read("JoinGroupResponse.members")
    if n * 4 > end - pos:
        raise length_read("JoinGroupResponse.members", n, end - pos)
    l_members: list[JoinGroupResponseMember] = []
    for _ in range(n):
        i_members, pos = _read_JoinGroupResponseMember(buf, pos, end, version)
        l_members.append(i_members)
    self.members = l_members
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
