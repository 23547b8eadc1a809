"""DescribeShareGroupOffsets. Generated from schema/describe_share_group_offsets.txt by tools/generate_messages.py; do not edit."""

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
_pack_iqi = Struct(">iqi").pack
_unpack_iqi = Struct(">iqi").unpack_from
_pack_q = Struct(">q").pack
_unpack_q = Struct(">q").unpack_from


class DescribeShareGroupOffsetsRequestTopic:
    """Part of DescribeShareGroupOffsetsRequest."""

    __slots__ = ("topic_name", "partitions")

    topic_name: str
    partitions: list[int]

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[int] = _EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeShareGroupOffsetsRequestTopic):
            return NotImplemented
        return (
            self.topic_name == other.topic_name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"DescribeShareGroupOffsetsRequestTopic(topic_name={self.topic_name!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.topic_name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
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


def _read_DescribeShareGroupOffsetsRequestTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeShareGroupOffsetsRequestTopic, int]:
    self = DescribeShareGroupOffsetsRequestTopic.__new__(DescribeShareGroupOffsetsRequestTopic)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeShareGroupOffsetsRequestTopic.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeShareGroupOffsetsRequestTopic.topic_name", n, end - pos)
    self.topic_name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeShareGroupOffsetsRequestTopic.partitions")
    if n * 4 > end - pos:
        raise length_read("DescribeShareGroupOffsetsRequestTopic.partitions", n, end - pos)
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


class DescribeShareGroupOffsetsRequestGroup:
    """Part of DescribeShareGroupOffsetsRequest."""

    __slots__ = ("group_id", "topics")

    group_id: str
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[DescribeShareGroupOffsetsRequestTopic] | None = _EMPTY,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeShareGroupOffsetsRequestGroup):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"DescribeShareGroupOffsetsRequestGroup(group_id={self.group_id!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.group_id.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        v_topics = self.topics
        if v_topics is None:
            buf.append(0)
        else:
            n = len(v_topics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_topics in v_topics:
                i_topics.encode(out, version)
        buf.append(0)


def _read_DescribeShareGroupOffsetsRequestGroup(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeShareGroupOffsetsRequestGroup, int]:
    self = DescribeShareGroupOffsetsRequestGroup.__new__(DescribeShareGroupOffsetsRequestGroup)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeShareGroupOffsetsRequestGroup.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeShareGroupOffsetsRequestGroup.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.topics = None
    else:
        if n * 3 > end - pos:
            raise length_read("DescribeShareGroupOffsetsRequestGroup.topics", n, end - pos)
        l_topics: list[DescribeShareGroupOffsetsRequestTopic] = []
        for _ in range(n):
            i_topics, pos = _read_DescribeShareGroupOffsetsRequestTopic(buf, pos, end, version)
            l_topics.append(i_topics)
        self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeShareGroupOffsetsRequest:
    """Versions 0 to 1."""

    __slots__ = ("groups",)

    API_KEY: ClassVar[int] = 90
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    groups: list[DescribeShareGroupOffsetsRequestGroup]

    def __init__(
        self,
        *,
        groups: list[DescribeShareGroupOffsetsRequestGroup] = _EMPTY,
    ) -> None:
        self.groups = [] if groups is _EMPTY else groups

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeShareGroupOffsetsRequest):
            return NotImplemented
        return (
            self.groups == other.groups
        )

    def __repr__(self) -> str:
        return f"DescribeShareGroupOffsetsRequest(groups={self.groups!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("DescribeShareGroupOffsetsRequest", version, "no such version")
        try:
            buf = out.buf
            n = len(self.groups)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_groups in self.groups:
                i_groups.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeShareGroupOffsetsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeShareGroupOffsetsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("DescribeShareGroupOffsetsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeShareGroupOffsetsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeShareGroupOffsetsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeShareGroupOffsetsRequest", version, error) from error
        if pos > end:
            raise decode_failed("DescribeShareGroupOffsetsRequest", version, "truncated")
        return message, pos


def _read_DescribeShareGroupOffsetsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeShareGroupOffsetsRequest, int]:
    self = DescribeShareGroupOffsetsRequest.__new__(DescribeShareGroupOffsetsRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeShareGroupOffsetsRequest.groups")
    if n * 3 > end - pos:
        raise length_read("DescribeShareGroupOffsetsRequest.groups", n, end - pos)
    l_groups: list[DescribeShareGroupOffsetsRequestGroup] = []
    for _ in range(n):
        i_groups, pos = _read_DescribeShareGroupOffsetsRequestGroup(buf, pos, end, version)
        l_groups.append(i_groups)
    self.groups = l_groups
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeShareGroupOffsetsResponsePartition:
    """Part of DescribeShareGroupOffsetsResponse."""

    __slots__ = ("partition_index", "start_offset", "leader_epoch", "lag", "error_code", "error_message")

    partition_index: int
    start_offset: int
    leader_epoch: int
    lag: int
    error_code: int
    error_message: str | None

    def __init__(
        self,
        *,
        partition_index: int = 0,
        start_offset: int = 0,
        leader_epoch: int = 0,
        lag: int = -1,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.start_offset = start_offset
        self.leader_epoch = leader_epoch
        self.lag = lag
        self.error_code = error_code
        self.error_message = error_message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeShareGroupOffsetsResponsePartition):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.start_offset == other.start_offset
            and self.leader_epoch == other.leader_epoch
            and self.lag == other.lag
            and self.error_code == other.error_code
            and self.error_message == other.error_message
        )

    def __repr__(self) -> str:
        return f"DescribeShareGroupOffsetsResponsePartition(partition_index={self.partition_index!r}, start_offset={self.start_offset!r}, leader_epoch={self.leader_epoch!r}, lag={self.lag!r}, error_code={self.error_code!r}, error_message={self.error_message!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_iqi(self.partition_index, self.start_offset, self.leader_epoch)
        if version >= 1:
            buf += _pack_q(self.lag)
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


def _read_DescribeShareGroupOffsetsResponsePartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeShareGroupOffsetsResponsePartition, int]:
    self = DescribeShareGroupOffsetsResponsePartition.__new__(DescribeShareGroupOffsetsResponsePartition)
    self.partition_index, self.start_offset, self.leader_epoch = _unpack_iqi(buf, pos)
    pos += 16
    if version >= 1:
        (self.lag,) = _unpack_q(buf, pos)
        pos += 8
    else:
        self.lag = -1
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
            raise length_read("DescribeShareGroupOffsetsResponsePartition.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeShareGroupOffsetsResponseTopic:
    """Part of DescribeShareGroupOffsetsResponse."""

    __slots__ = ("topic_name", "topic_id", "partitions")

    topic_name: str
    topic_id: bytes
    partitions: list[DescribeShareGroupOffsetsResponsePartition]

    def __init__(
        self,
        *,
        topic_name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[DescribeShareGroupOffsetsResponsePartition] = _EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeShareGroupOffsetsResponseTopic):
            return NotImplemented
        return (
            self.topic_name == other.topic_name
            and self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"DescribeShareGroupOffsetsResponseTopic(topic_name={self.topic_name!r}, topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.topic_name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        if len(self.topic_id) != 16:
            raise uuid_written("DescribeShareGroupOffsetsResponseTopic.topic_id")
        buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        buf.append(0)


def _read_DescribeShareGroupOffsetsResponseTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeShareGroupOffsetsResponseTopic, int]:
    self = DescribeShareGroupOffsetsResponseTopic.__new__(DescribeShareGroupOffsetsResponseTopic)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeShareGroupOffsetsResponseTopic.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeShareGroupOffsetsResponseTopic.topic_name", n, end - pos)
    self.topic_name = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeShareGroupOffsetsResponseTopic.partitions")
    if n * 20 > end - pos:
        raise length_read("DescribeShareGroupOffsetsResponseTopic.partitions", n, end - pos)
    l_partitions: list[DescribeShareGroupOffsetsResponsePartition] = []
    for _ in range(n):
        i_partitions, pos = _read_DescribeShareGroupOffsetsResponsePartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeShareGroupOffsetsResponseGroup:
    """Part of DescribeShareGroupOffsetsResponse."""

    __slots__ = ("group_id", "topics", "error_code", "error_message")

    group_id: str
    topics: list[DescribeShareGroupOffsetsResponseTopic]
    error_code: int
    error_message: str | None

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[DescribeShareGroupOffsetsResponseTopic] = _EMPTY,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is _EMPTY else topics
        self.error_code = error_code
        self.error_message = error_message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeShareGroupOffsetsResponseGroup):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.topics == other.topics
            and self.error_code == other.error_code
            and self.error_message == other.error_message
        )

    def __repr__(self) -> str:
        return f"DescribeShareGroupOffsetsResponseGroup(group_id={self.group_id!r}, topics={self.topics!r}, error_code={self.error_code!r}, error_message={self.error_message!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.group_id.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        n = len(self.topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_topics in self.topics:
            i_topics.encode(out, version)
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


def _read_DescribeShareGroupOffsetsResponseGroup(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeShareGroupOffsetsResponseGroup, int]:
    self = DescribeShareGroupOffsetsResponseGroup.__new__(DescribeShareGroupOffsetsResponseGroup)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeShareGroupOffsetsResponseGroup.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeShareGroupOffsetsResponseGroup.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeShareGroupOffsetsResponseGroup.topics")
    if n * 19 > end - pos:
        raise length_read("DescribeShareGroupOffsetsResponseGroup.topics", n, end - pos)
    l_topics: list[DescribeShareGroupOffsetsResponseTopic] = []
    for _ in range(n):
        i_topics, pos = _read_DescribeShareGroupOffsetsResponseTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
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
            raise length_read("DescribeShareGroupOffsetsResponseGroup.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeShareGroupOffsetsResponse:
    """Versions 0 to 1."""

    __slots__ = ("throttle_time_ms", "groups")

    API_KEY: ClassVar[int] = 90
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    groups: list[DescribeShareGroupOffsetsResponseGroup]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: list[DescribeShareGroupOffsetsResponseGroup] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is _EMPTY else groups

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeShareGroupOffsetsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.groups == other.groups
        )

    def __repr__(self) -> str:
        return f"DescribeShareGroupOffsetsResponse(throttle_time_ms={self.throttle_time_ms!r}, groups={self.groups!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("DescribeShareGroupOffsetsResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_i(self.throttle_time_ms)
            n = len(self.groups)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_groups in self.groups:
                i_groups.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeShareGroupOffsetsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeShareGroupOffsetsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("DescribeShareGroupOffsetsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeShareGroupOffsetsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeShareGroupOffsetsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeShareGroupOffsetsResponse", version, error) from error
        if pos > end:
            raise decode_failed("DescribeShareGroupOffsetsResponse", version, "truncated")
        return message, pos


def _read_DescribeShareGroupOffsetsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeShareGroupOffsetsResponse, int]:
    self = DescribeShareGroupOffsetsResponse.__new__(DescribeShareGroupOffsetsResponse)
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeShareGroupOffsetsResponse.groups")
    if n * 6 > end - pos:
        raise length_read("DescribeShareGroupOffsetsResponse.groups", n, end - pos)
    l_groups: list[DescribeShareGroupOffsetsResponseGroup] = []
    for _ in range(n):
        i_groups, pos = _read_DescribeShareGroupOffsetsResponseGroup(buf, pos, end, version)
        l_groups.append(i_groups)
    self.groups = l_groups
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
