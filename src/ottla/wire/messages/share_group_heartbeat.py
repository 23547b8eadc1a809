"""ShareGroupHeartbeat. Generated from schema/share_group_heartbeat.txt by tools/generate_messages.py; do not edit."""

from __future__ import annotations

from struct import Struct
from struct import pack as _pack_n, unpack_from as _unpack_n
from typing import Any, ClassVar, Final

from ottla.wire.primitives import (
    Buffer,
    DECODE_FAILURES,
    ENCODE_FAILURES,
    Encoder,
    INT32_ARRAY_SHORT,
    INT32_PACK,
    INT32_UNPACK,
    ZERO_UUID,
    decode_failed,
    encode_failed,
    length_read,
    null_read,
    read_string_length_tail,
    read_uvarint_tail,
    skip_tagged_fields,
    uuid_written,
    write_string_length,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_u = Struct(">16s").pack
_unpack_u = Struct(">16s").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from
_pack_2i = Struct(">ii").pack
_unpack_2i = Struct(">ii").unpack_from


class ShareGroupHeartbeatRequest:
    """Version 1."""

    __slots__ = ("group_id", "member_id", "member_epoch", "rack_id", "subscribed_topic_names")

    API_KEY: ClassVar[int] = 76
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    group_id: str
    member_id: str
    member_epoch: int
    rack_id: str | None
    subscribed_topic_names: list[str] | None

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        rack_id: str | None = None,
        subscribed_topic_names: list[str] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.rack_id = rack_id
        self.subscribed_topic_names = subscribed_topic_names

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareGroupHeartbeatRequest):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.member_id == other.member_id
            and self.member_epoch == other.member_epoch
            and self.rack_id == other.rack_id
            and self.subscribed_topic_names == other.subscribed_topic_names
        )

    def __repr__(self) -> str:
        return f"ShareGroupHeartbeatRequest(group_id={self.group_id!r}, member_id={self.member_id!r}, member_epoch={self.member_epoch!r}, rack_id={self.rack_id!r}, subscribed_topic_names={self.subscribed_topic_names!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 1:
            raise encode_failed("ShareGroupHeartbeatRequest", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            data = self.member_id.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            buf += _pack_i(self.member_epoch)
            v_rack_id = self.rack_id
            if v_rack_id is None:
                buf.append(0)
            else:
                data = v_rack_id.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            v_subscribed_topic_names = self.subscribed_topic_names
            if v_subscribed_topic_names is None:
                buf.append(0)
            else:
                n = len(v_subscribed_topic_names)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_subscribed_topic_names in v_subscribed_topic_names:
                    data = i_subscribed_topic_names.encode()
                    n = len(data)
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                    buf += data
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareGroupHeartbeatRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareGroupHeartbeatRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 1:
            raise decode_failed("ShareGroupHeartbeatRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareGroupHeartbeatRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareGroupHeartbeatRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareGroupHeartbeatRequest", version, error) from error
        if pos > end:
            raise decode_failed("ShareGroupHeartbeatRequest", version, "truncated")
        return message, pos


def _read_ShareGroupHeartbeatRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareGroupHeartbeatRequest, int]:
    self = ShareGroupHeartbeatRequest.__new__(ShareGroupHeartbeatRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareGroupHeartbeatRequest.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("ShareGroupHeartbeatRequest.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareGroupHeartbeatRequest.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("ShareGroupHeartbeatRequest.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.member_epoch,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.rack_id = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("ShareGroupHeartbeatRequest.rack_id", n, end - pos)
        self.rack_id = str(buf[pos:stop], "utf-8")
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.subscribed_topic_names = None
    else:
        if n > end - pos:
            raise length_read("ShareGroupHeartbeatRequest.subscribed_topic_names", n, end - pos)
        l_subscribed_topic_names: list[str] = []
        for _ in range(n):
            n = buf[pos] - 1
            pos += 1
            if n > 126:
                n, pos = read_string_length_tail(n + 1, buf, pos)
                n -= 1
            if n < 0:
                raise null_read("ShareGroupHeartbeatRequest.subscribed_topic_names")
            stop = pos + n
            if stop > end:
                raise length_read("ShareGroupHeartbeatRequest.subscribed_topic_names", n, end - pos)
            l_subscribed_topic_names.append(str(buf[pos:stop], "utf-8"))
            pos = stop
        self.subscribed_topic_names = l_subscribed_topic_names
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class TopicPartitions:
    """Part of ShareGroupHeartbeatResponse."""

    __slots__ = ("topic_id", "partitions")

    topic_id: bytes
    partitions: list[int]

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = _EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TopicPartitions):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"TopicPartitions(topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("TopicPartitions.topic_id")
        buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.partitions)
        else:
            buf += _pack_n(f">{n}i", *self.partitions)
        buf.append(0)


def _read_TopicPartitions(buf: memoryview, pos: int, end: int, version: int) -> tuple[TopicPartitions, int]:
    self = TopicPartitions.__new__(TopicPartitions)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicPartitions.partitions")
    if n * 4 > end - pos:
        raise length_read("TopicPartitions.partitions", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.partitions = list(INT32_UNPACK[n](buf, pos))
    else:
        self.partitions = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class Assignment:
    """Part of ShareGroupHeartbeatResponse."""

    __slots__ = ("topic_partitions",)

    topic_partitions: list[TopicPartitions]

    def __init__(
        self,
        *,
        topic_partitions: list[TopicPartitions] = _EMPTY,
    ) -> None:
        self.topic_partitions = [] if topic_partitions is _EMPTY else topic_partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Assignment):
            return NotImplemented
        return (
            self.topic_partitions == other.topic_partitions
        )

    def __repr__(self) -> str:
        return f"Assignment(topic_partitions={self.topic_partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        n = len(self.topic_partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_topic_partitions in self.topic_partitions:
            i_topic_partitions.encode(out, version)
        buf.append(0)


def _read_Assignment(buf: memoryview, pos: int, end: int, version: int) -> tuple[Assignment, int]:
    self = Assignment.__new__(Assignment)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Assignment.topic_partitions")
    if n * 18 > end - pos:
        raise length_read("Assignment.topic_partitions", n, end - pos)
    l_topic_partitions: list[TopicPartitions] = []
    for _ in range(n):
        i_topic_partitions, pos = _read_TopicPartitions(buf, pos, end, version)
        l_topic_partitions.append(i_topic_partitions)
    self.topic_partitions = l_topic_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ShareGroupHeartbeatResponse:
    """Version 1."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "member_id", "member_epoch", "heartbeat_interval_ms", "assignment")

    API_KEY: ClassVar[int] = 76
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    member_id: str | None
    member_epoch: int
    heartbeat_interval_ms: int
    assignment: Assignment | None

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str | None = None,
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        assignment: Assignment | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.assignment = assignment

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareGroupHeartbeatResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.member_id == other.member_id
            and self.member_epoch == other.member_epoch
            and self.heartbeat_interval_ms == other.heartbeat_interval_ms
            and self.assignment == other.assignment
        )

    def __repr__(self) -> str:
        return f"ShareGroupHeartbeatResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, member_id={self.member_id!r}, member_epoch={self.member_epoch!r}, heartbeat_interval_ms={self.heartbeat_interval_ms!r}, assignment={self.assignment!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 1:
            raise encode_failed("ShareGroupHeartbeatResponse", version, "no such version")
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
            v_member_id = self.member_id
            if v_member_id is None:
                buf.append(0)
            else:
                data = v_member_id.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            buf += _pack_2i(self.member_epoch, self.heartbeat_interval_ms)
            v_assignment = self.assignment
            if v_assignment is None:
                buf.append(255)
            else:
                buf.append(1)
                v_assignment.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareGroupHeartbeatResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareGroupHeartbeatResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 1:
            raise decode_failed("ShareGroupHeartbeatResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareGroupHeartbeatResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareGroupHeartbeatResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareGroupHeartbeatResponse", version, error) from error
        if pos > end:
            raise decode_failed("ShareGroupHeartbeatResponse", version, "truncated")
        return message, pos


def _read_ShareGroupHeartbeatResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareGroupHeartbeatResponse, int]:
    self = ShareGroupHeartbeatResponse.__new__(ShareGroupHeartbeatResponse)
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
            raise length_read("ShareGroupHeartbeatResponse.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.member_id = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("ShareGroupHeartbeatResponse.member_id", n, end - pos)
        self.member_id = str(buf[pos:stop], "utf-8")
        pos = stop
    self.member_epoch, self.heartbeat_interval_ms = _unpack_2i(buf, pos)
    pos += 8
    if buf[pos] > 127:
        pos += 1
        self.assignment = None
    else:
        self.assignment, pos = _read_Assignment(buf, pos + 1, end, version)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
