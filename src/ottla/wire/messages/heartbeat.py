"""Heartbeat. Generated from schema/heartbeat.txt by tools/generate_messages.py; do not edit."""

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
    skip_tagged_fields,
    write_string_length,
)

_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from


class HeartbeatRequest:
    """Versions 0 to 4, flexible from 4."""

    __slots__ = ("group_id", "generation_id", "member_id", "group_instance_id")

    API_KEY: ClassVar[int] = 12
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4

    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None

    def __init__(
        self,
        *,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HeartbeatRequest):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.generation_id == other.generation_id
            and self.member_id == other.member_id
            and self.group_instance_id == other.group_instance_id
        )

    def __repr__(self) -> str:
        return f"HeartbeatRequest(group_id={self.group_id!r}, generation_id={self.generation_id!r}, member_id={self.member_id!r}, group_instance_id={self.group_instance_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 4:
            raise encode_failed("HeartbeatRequest", version, "no such version")
        try:
            if version < 3:
                if self.group_instance_id is not None:
                    raise field_unsupported("HeartbeatRequest.group_instance_id", version)
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
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("HeartbeatRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[HeartbeatRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 4:
            raise decode_failed("HeartbeatRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("HeartbeatRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_HeartbeatRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("HeartbeatRequest", version, error) from error
        if pos > end:
            raise decode_failed("HeartbeatRequest", version, "truncated")
        return message, pos


def _read_HeartbeatRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[HeartbeatRequest, int]:
    flexible = version >= 4
    self = HeartbeatRequest.__new__(HeartbeatRequest)
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
        raise null_read("HeartbeatRequest.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("HeartbeatRequest.group_id", n, end - pos)
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
        raise null_read("HeartbeatRequest.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("HeartbeatRequest.member_id", n, end - pos)
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
                raise length_read("HeartbeatRequest.group_instance_id", n, end - pos)
            self.group_instance_id = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.group_instance_id = None
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class HeartbeatResponse:
    """Versions 0 to 4, flexible from 4."""

    __slots__ = ("throttle_time_ms", "error_code")

    API_KEY: ClassVar[int] = 12
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4

    throttle_time_ms: int
    error_code: int

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HeartbeatResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
        )

    def __repr__(self) -> str:
        return f"HeartbeatResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 4:
            raise encode_failed("HeartbeatResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 4
            if version >= 1:
                buf += _pack_i(self.throttle_time_ms)
            buf += _pack_h(self.error_code)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("HeartbeatResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[HeartbeatResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 4:
            raise decode_failed("HeartbeatResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("HeartbeatResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_HeartbeatResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("HeartbeatResponse", version, error) from error
        if pos > end:
            raise decode_failed("HeartbeatResponse", version, "truncated")
        return message, pos


def _read_HeartbeatResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[HeartbeatResponse, int]:
    flexible = version >= 4
    self = HeartbeatResponse.__new__(HeartbeatResponse)
    if version >= 1:
        (self.throttle_time_ms,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.throttle_time_ms = 0
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
