"""ListOffsets. Generated from schema/list_offsets.txt by tools/generate_messages.py; do not edit."""

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
_pack_b = Struct(">b").pack
_unpack_b = Struct(">b").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih2q = Struct(">ihqq").pack
_unpack_ih2q = Struct(">ihqq").unpack_from
_pack_q = Struct(">q").pack
_unpack_q = Struct(">q").unpack_from


class ListOffsetsPartition:
    """Part of ListOffsetsRequest."""

    __slots__ = ("partition_index", "current_leader_epoch", "timestamp")

    partition_index: int
    current_leader_epoch: int
    timestamp: int

    def __init__(
        self,
        *,
        partition_index: int = 0,
        current_leader_epoch: int = -1,
        timestamp: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.current_leader_epoch = current_leader_epoch
        self.timestamp = timestamp

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ListOffsetsPartition):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.current_leader_epoch == other.current_leader_epoch
            and self.timestamp == other.timestamp
        )

    def __repr__(self) -> str:
        return f"ListOffsetsPartition(partition_index={self.partition_index!r}, current_leader_epoch={self.current_leader_epoch!r}, timestamp={self.timestamp!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 6
        buf += _pack_i(self.partition_index)
        if version >= 4:
            buf += _pack_i(self.current_leader_epoch)
        buf += _pack_q(self.timestamp)
        if flexible:
            buf.append(0)


def _read_ListOffsetsPartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[ListOffsetsPartition, int]:
    flexible = version >= 6
    self = ListOffsetsPartition.__new__(ListOffsetsPartition)
    (self.partition_index,) = _unpack_i(buf, pos)
    pos += 4
    if version >= 4:
        (self.current_leader_epoch,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.current_leader_epoch = -1
    (self.timestamp,) = _unpack_q(buf, pos)
    pos += 8
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ListOffsetsTopic:
    """Part of ListOffsetsRequest."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[ListOffsetsPartition]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[ListOffsetsPartition] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ListOffsetsTopic):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"ListOffsetsTopic(name={self.name!r}, partitions={self.partitions!r})"

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
        n = len(self.partitions)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        if flexible:
            buf.append(0)


def _read_ListOffsetsTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[ListOffsetsTopic, int]:
    flexible = version >= 6
    self = ListOffsetsTopic.__new__(ListOffsetsTopic)
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
        raise null_read("ListOffsetsTopic.name")
    stop = pos + n
    if stop > end:
        raise length_read("ListOffsetsTopic.name", n, end - pos)
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
        raise null_read("ListOffsetsTopic.partitions")
    if n * 12 > end - pos:
        raise length_read("ListOffsetsTopic.partitions", n, end - pos)
    l_partitions: list[ListOffsetsPartition] = []
    for _ in range(n):
        i_partitions, pos = _read_ListOffsetsPartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ListOffsetsRequest:
    """Versions 1 to 11, flexible from 6."""

    __slots__ = ("replica_id", "isolation_level", "topics", "timeout_ms")

    API_KEY: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 11
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 6

    replica_id: int
    isolation_level: int
    topics: list[ListOffsetsTopic]
    timeout_ms: int

    def __init__(
        self,
        *,
        replica_id: int = 0,
        isolation_level: int = 0,
        topics: list[ListOffsetsTopic] = _EMPTY,
        timeout_ms: int = 0,
    ) -> None:
        self.replica_id = replica_id
        self.isolation_level = isolation_level
        self.topics = [] if topics is _EMPTY else topics
        self.timeout_ms = timeout_ms

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ListOffsetsRequest):
            return NotImplemented
        return (
            self.replica_id == other.replica_id
            and self.isolation_level == other.isolation_level
            and self.topics == other.topics
            and self.timeout_ms == other.timeout_ms
        )

    def __repr__(self) -> str:
        return f"ListOffsetsRequest(replica_id={self.replica_id!r}, isolation_level={self.isolation_level!r}, topics={self.topics!r}, timeout_ms={self.timeout_ms!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 11:
            raise encode_failed("ListOffsetsRequest", version, "no such version")
        try:
            if version < 2:
                if self.isolation_level != 0:
                    raise field_unsupported("ListOffsetsRequest.isolation_level", version)
            buf = out.buf
            flexible = version >= 6
            buf += _pack_i(self.replica_id)
            if version >= 2:
                buf += _pack_b(self.isolation_level)
            n = len(self.topics)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_topics in self.topics:
                i_topics.encode(out, version)
            if version >= 10:
                buf += _pack_i(self.timeout_ms)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ListOffsetsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ListOffsetsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 11:
            raise decode_failed("ListOffsetsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ListOffsetsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ListOffsetsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ListOffsetsRequest", version, error) from error
        if pos > end:
            raise decode_failed("ListOffsetsRequest", version, "truncated")
        return message, pos


def _read_ListOffsetsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[ListOffsetsRequest, int]:
    flexible = version >= 6
    self = ListOffsetsRequest.__new__(ListOffsetsRequest)
    (self.replica_id,) = _unpack_i(buf, pos)
    pos += 4
    if version >= 2:
        (self.isolation_level,) = _unpack_b(buf, pos)
        pos += 1
    else:
        self.isolation_level = 0
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
        raise null_read("ListOffsetsRequest.topics")
    if n * 3 > end - pos:
        raise length_read("ListOffsetsRequest.topics", n, end - pos)
    l_topics: list[ListOffsetsTopic] = []
    for _ in range(n):
        i_topics, pos = _read_ListOffsetsTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if version >= 10:
        (self.timeout_ms,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.timeout_ms = 0
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ListOffsetsPartitionResponse:
    """Part of ListOffsetsResponse."""

    __slots__ = ("partition_index", "error_code", "timestamp", "offset", "leader_epoch")

    partition_index: int
    error_code: int
    timestamp: int
    offset: int
    leader_epoch: int

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        timestamp: int = -1,
        offset: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.timestamp = timestamp
        self.offset = offset
        self.leader_epoch = leader_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ListOffsetsPartitionResponse):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.error_code == other.error_code
            and self.timestamp == other.timestamp
            and self.offset == other.offset
            and self.leader_epoch == other.leader_epoch
        )

    def __repr__(self) -> str:
        return f"ListOffsetsPartitionResponse(partition_index={self.partition_index!r}, error_code={self.error_code!r}, timestamp={self.timestamp!r}, offset={self.offset!r}, leader_epoch={self.leader_epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        if version < 4:
            if self.leader_epoch != -1:
                raise field_unsupported("ListOffsetsPartitionResponse.leader_epoch", version)
        buf = out.buf
        flexible = version >= 6
        buf += _pack_ih2q(self.partition_index, self.error_code, self.timestamp, self.offset)
        if version >= 4:
            buf += _pack_i(self.leader_epoch)
        if flexible:
            buf.append(0)


def _read_ListOffsetsPartitionResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ListOffsetsPartitionResponse, int]:
    flexible = version >= 6
    self = ListOffsetsPartitionResponse.__new__(ListOffsetsPartitionResponse)
    self.partition_index, self.error_code, self.timestamp, self.offset = _unpack_ih2q(buf, pos)
    pos += 22
    if version >= 4:
        (self.leader_epoch,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.leader_epoch = -1
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ListOffsetsTopicResponse:
    """Part of ListOffsetsResponse."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[ListOffsetsPartitionResponse]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[ListOffsetsPartitionResponse] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ListOffsetsTopicResponse):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"ListOffsetsTopicResponse(name={self.name!r}, partitions={self.partitions!r})"

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
        n = len(self.partitions)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        if flexible:
            buf.append(0)


def _read_ListOffsetsTopicResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ListOffsetsTopicResponse, int]:
    flexible = version >= 6
    self = ListOffsetsTopicResponse.__new__(ListOffsetsTopicResponse)
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
        raise null_read("ListOffsetsTopicResponse.name")
    stop = pos + n
    if stop > end:
        raise length_read("ListOffsetsTopicResponse.name", n, end - pos)
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
        raise null_read("ListOffsetsTopicResponse.partitions")
    if n * 22 > end - pos:
        raise length_read("ListOffsetsTopicResponse.partitions", n, end - pos)
    l_partitions: list[ListOffsetsPartitionResponse] = []
    for _ in range(n):
        i_partitions, pos = _read_ListOffsetsPartitionResponse(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ListOffsetsResponse:
    """Versions 1 to 11, flexible from 6."""

    __slots__ = ("throttle_time_ms", "topics")

    API_KEY: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 11
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 6

    throttle_time_ms: int
    topics: list[ListOffsetsTopicResponse]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[ListOffsetsTopicResponse] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ListOffsetsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"ListOffsetsResponse(throttle_time_ms={self.throttle_time_ms!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 11:
            raise encode_failed("ListOffsetsResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 6
            if version >= 2:
                buf += _pack_i(self.throttle_time_ms)
            n = len(self.topics)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_topics in self.topics:
                i_topics.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ListOffsetsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ListOffsetsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 11:
            raise decode_failed("ListOffsetsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ListOffsetsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ListOffsetsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ListOffsetsResponse", version, error) from error
        if pos > end:
            raise decode_failed("ListOffsetsResponse", version, "truncated")
        return message, pos


def _read_ListOffsetsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ListOffsetsResponse, int]:
    flexible = version >= 6
    self = ListOffsetsResponse.__new__(ListOffsetsResponse)
    if version >= 2:
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
        raise null_read("ListOffsetsResponse.topics")
    if n * 3 > end - pos:
        raise length_read("ListOffsetsResponse.topics", n, end - pos)
    l_topics: list[ListOffsetsTopicResponse] = []
    for _ in range(n):
        i_topics, pos = _read_ListOffsetsTopicResponse(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
