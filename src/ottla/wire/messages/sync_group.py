"""SyncGroup. Generated from schema/sync_group.txt by tools/generate_messages.py; do not edit."""

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


class SyncGroupRequestAssignment:
    """Part of SyncGroupRequest."""

    __slots__ = ("member_id", "assignment")

    member_id: str
    assignment: bytes

    def __init__(
        self,
        *,
        member_id: str = "",
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.assignment = assignment

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SyncGroupRequestAssignment):
            return NotImplemented
        return (
            self.member_id == other.member_id
            and self.assignment == other.assignment
        )

    def __repr__(self) -> str:
        return f"SyncGroupRequestAssignment(member_id={self.member_id!r}, assignment={self.assignment!r})"

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
        n = len(self.assignment)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        buf += self.assignment
        if flexible:
            buf.append(0)


def _read_SyncGroupRequestAssignment(buf: memoryview, pos: int, end: int, version: int) -> tuple[SyncGroupRequestAssignment, int]:
    flexible = version >= 4
    self = SyncGroupRequestAssignment.__new__(SyncGroupRequestAssignment)
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
        raise null_read("SyncGroupRequestAssignment.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("SyncGroupRequestAssignment.member_id", n, end - pos)
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
        raise null_read("SyncGroupRequestAssignment.assignment")
    stop = pos + n
    if stop > end:
        raise length_read("SyncGroupRequestAssignment.assignment", n, end - pos)
    self.assignment = bytes(buf[pos:stop])
    pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class SyncGroupRequest:
    """Versions 0 to 5, flexible from 4."""

    __slots__ = ("group_id", "generation_id", "member_id", "group_instance_id", "protocol_type", "protocol_name", "assignments")

    API_KEY: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4

    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None
    protocol_type: str | None
    protocol_name: str | None
    assignments: list[SyncGroupRequestAssignment]

    def __init__(
        self,
        *,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignments: list[SyncGroupRequestAssignment] = _EMPTY,
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignments = [] if assignments is _EMPTY else assignments

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SyncGroupRequest):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.generation_id == other.generation_id
            and self.member_id == other.member_id
            and self.group_instance_id == other.group_instance_id
            and self.protocol_type == other.protocol_type
            and self.protocol_name == other.protocol_name
            and self.assignments == other.assignments
        )

    def __repr__(self) -> str:
        return f"SyncGroupRequest(group_id={self.group_id!r}, generation_id={self.generation_id!r}, member_id={self.member_id!r}, group_instance_id={self.group_instance_id!r}, protocol_type={self.protocol_type!r}, protocol_name={self.protocol_name!r}, assignments={self.assignments!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 5:
            raise encode_failed("SyncGroupRequest", version, "no such version")
        try:
            if version < 3:
                if self.group_instance_id is not None:
                    raise field_unsupported("SyncGroupRequest.group_instance_id", version)
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
            buf += _pack_i(self.generation_id)
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
            if version >= 3:
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
            if version >= 5:
                v_protocol_name = self.protocol_name
                if v_protocol_name is None:
                    buf.append(0)
                else:
                    data = v_protocol_name.encode()
                    n = len(data)
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                    buf += data
            n = len(self.assignments)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_assignments in self.assignments:
                i_assignments.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("SyncGroupRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[SyncGroupRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 5:
            raise decode_failed("SyncGroupRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("SyncGroupRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_SyncGroupRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("SyncGroupRequest", version, error) from error
        if pos > end:
            raise decode_failed("SyncGroupRequest", version, "truncated")
        return message, pos


def _read_SyncGroupRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[SyncGroupRequest, int]:
    flexible = version >= 4
    self = SyncGroupRequest.__new__(SyncGroupRequest)
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
        raise null_read("SyncGroupRequest.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("SyncGroupRequest.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.generation_id,) = _unpack_i(buf, pos)
    pos += 4
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
        raise null_read("SyncGroupRequest.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("SyncGroupRequest.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
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
            self.group_instance_id = None
        else:
            stop = pos + n
            if stop > end:
                raise length_read("SyncGroupRequest.group_instance_id", n, end - pos)
            self.group_instance_id = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.group_instance_id = None
    if version >= 5:
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
                raise length_read("SyncGroupRequest.protocol_type", n, end - pos)
            self.protocol_type = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.protocol_type = None
    if version >= 5:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            self.protocol_name = None
        else:
            stop = pos + n
            if stop > end:
                raise length_read("SyncGroupRequest.protocol_name", n, end - pos)
            self.protocol_name = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.protocol_name = None
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
        raise null_read("SyncGroupRequest.assignments")
    if n * 3 > end - pos:
        raise length_read("SyncGroupRequest.assignments", n, end - pos)
    l_assignments: list[SyncGroupRequestAssignment] = []
    for _ in range(n):
        i_assignments, pos = _read_SyncGroupRequestAssignment(buf, pos, end, version)
        l_assignments.append(i_assignments)
    self.assignments = l_assignments
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class SyncGroupResponse:
    """Versions 0 to 5, flexible from 4."""

    __slots__ = ("throttle_time_ms", "error_code", "protocol_type", "protocol_name", "assignment")

    API_KEY: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4

    throttle_time_ms: int
    error_code: int
    protocol_type: str | None
    protocol_name: str | None
    assignment: bytes

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignment: bytes = b"",
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignment = assignment

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SyncGroupResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.protocol_type == other.protocol_type
            and self.protocol_name == other.protocol_name
            and self.assignment == other.assignment
        )

    def __repr__(self) -> str:
        return f"SyncGroupResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, protocol_type={self.protocol_type!r}, protocol_name={self.protocol_name!r}, assignment={self.assignment!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 5:
            raise encode_failed("SyncGroupResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 4
            if version >= 1:
                buf += _pack_i(self.throttle_time_ms)
            buf += _pack_h(self.error_code)
            if version >= 5:
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
            if version >= 5:
                v_protocol_name = self.protocol_name
                if v_protocol_name is None:
                    buf.append(0)
                else:
                    data = v_protocol_name.encode()
                    n = len(data)
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                    buf += data
            n = len(self.assignment)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            buf += self.assignment
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("SyncGroupResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[SyncGroupResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 5:
            raise decode_failed("SyncGroupResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("SyncGroupResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_SyncGroupResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("SyncGroupResponse", version, error) from error
        if pos > end:
            raise decode_failed("SyncGroupResponse", version, "truncated")
        return message, pos


def _read_SyncGroupResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[SyncGroupResponse, int]:
    flexible = version >= 4
    self = SyncGroupResponse.__new__(SyncGroupResponse)
    if version >= 1:
        (self.throttle_time_ms,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.throttle_time_ms = 0
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
    if version >= 5:
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
                raise length_read("SyncGroupResponse.protocol_type", n, end - pos)
            self.protocol_type = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.protocol_type = None
    if version >= 5:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            self.protocol_name = None
        else:
            stop = pos + n
            if stop > end:
                raise length_read("SyncGroupResponse.protocol_name", n, end - pos)
            self.protocol_name = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.protocol_name = None
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
        raise null_read("SyncGroupResponse.assignment")
    stop = pos + n
    if stop > end:
        raise length_read("SyncGroupResponse.assignment", n, end - pos)
    self.assignment = bytes(buf[pos:stop])
    pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
