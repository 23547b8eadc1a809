"""OffsetDelete. Generated from schema/offset_delete.txt by tools/generate_messages.py; do not edit."""

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
    write_string_length,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_hi = Struct(">hi").pack
_unpack_hi = Struct(">hi").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from


class OffsetDeleteRequestPartition:
    """Part of OffsetDeleteRequest."""

    __slots__ = ("partition_index",)

    partition_index: int

    def __init__(
        self,
        *,
        partition_index: int = 0,
    ) -> None:
        self.partition_index = partition_index

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetDeleteRequestPartition):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
        )

    def __repr__(self) -> str:
        return f"OffsetDeleteRequestPartition(partition_index={self.partition_index!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_i(self.partition_index)


def _read_OffsetDeleteRequestPartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetDeleteRequestPartition, int]:
    self = OffsetDeleteRequestPartition.__new__(OffsetDeleteRequestPartition)
    (self.partition_index,) = _unpack_i(buf, pos)
    pos += 4
    return self, pos


class OffsetDeleteRequestTopic:
    """Part of OffsetDeleteRequest."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[OffsetDeleteRequestPartition]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[OffsetDeleteRequestPartition] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetDeleteRequestTopic):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"OffsetDeleteRequestTopic(name={self.name!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        buf += _pack_h(n)
        buf += data
        n = len(self.partitions)
        buf += _pack_i(n)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)


def _read_OffsetDeleteRequestTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetDeleteRequestTopic, int]:
    self = OffsetDeleteRequestTopic.__new__(OffsetDeleteRequestTopic)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("OffsetDeleteRequestTopic.name")
    stop = pos + n
    if stop > end:
        raise length_read("OffsetDeleteRequestTopic.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_read("OffsetDeleteRequestTopic.partitions")
    if n * 4 > end - pos:
        raise length_read("OffsetDeleteRequestTopic.partitions", n, end - pos)
    l_partitions: list[OffsetDeleteRequestPartition] = []
    for _ in range(n):
        i_partitions, pos = _read_OffsetDeleteRequestPartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    return self, pos


class OffsetDeleteRequest:
    """Version 0."""

    __slots__ = ("group_id", "topics")

    API_KEY: ClassVar[int] = 47
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str
    topics: list[OffsetDeleteRequestTopic]

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[OffsetDeleteRequestTopic] = _EMPTY,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetDeleteRequest):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"OffsetDeleteRequest(group_id={self.group_id!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("OffsetDeleteRequest", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
            n = len(self.topics)
            buf += _pack_i(n)
            for i_topics in self.topics:
                i_topics.encode(out, version)
        except ENCODE_FAILURES as error:
            raise encode_failed("OffsetDeleteRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[OffsetDeleteRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("OffsetDeleteRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("OffsetDeleteRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_OffsetDeleteRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("OffsetDeleteRequest", version, error) from error
        if pos > end:
            raise decode_failed("OffsetDeleteRequest", version, "truncated")
        return message, pos


def _read_OffsetDeleteRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetDeleteRequest, int]:
    self = OffsetDeleteRequest.__new__(OffsetDeleteRequest)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("OffsetDeleteRequest.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("OffsetDeleteRequest.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_read("OffsetDeleteRequest.topics")
    if n * 6 > end - pos:
        raise length_read("OffsetDeleteRequest.topics", n, end - pos)
    l_topics: list[OffsetDeleteRequestTopic] = []
    for _ in range(n):
        i_topics, pos = _read_OffsetDeleteRequestTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    return self, pos


class OffsetDeleteResponsePartition:
    """Part of OffsetDeleteResponse."""

    __slots__ = ("partition_index", "error_code")

    partition_index: int
    error_code: int

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetDeleteResponsePartition):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.error_code == other.error_code
        )

    def __repr__(self) -> str:
        return f"OffsetDeleteResponsePartition(partition_index={self.partition_index!r}, error_code={self.error_code!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_ih(self.partition_index, self.error_code)


def _read_OffsetDeleteResponsePartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetDeleteResponsePartition, int]:
    self = OffsetDeleteResponsePartition.__new__(OffsetDeleteResponsePartition)
    self.partition_index, self.error_code = _unpack_ih(buf, pos)
    pos += 6
    return self, pos


class OffsetDeleteResponseTopic:
    """Part of OffsetDeleteResponse."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[OffsetDeleteResponsePartition]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[OffsetDeleteResponsePartition] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetDeleteResponseTopic):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"OffsetDeleteResponseTopic(name={self.name!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        buf += _pack_h(n)
        buf += data
        n = len(self.partitions)
        buf += _pack_i(n)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)


def _read_OffsetDeleteResponseTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetDeleteResponseTopic, int]:
    self = OffsetDeleteResponseTopic.__new__(OffsetDeleteResponseTopic)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("OffsetDeleteResponseTopic.name")
    stop = pos + n
    if stop > end:
        raise length_read("OffsetDeleteResponseTopic.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_read("OffsetDeleteResponseTopic.partitions")
    if n * 6 > end - pos:
        raise length_read("OffsetDeleteResponseTopic.partitions", n, end - pos)
    l_partitions: list[OffsetDeleteResponsePartition] = []
    for _ in range(n):
        i_partitions, pos = _read_OffsetDeleteResponsePartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    return self, pos


class OffsetDeleteResponse:
    """Version 0."""

    __slots__ = ("error_code", "throttle_time_ms", "topics")

    API_KEY: ClassVar[int] = 47
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    error_code: int
    throttle_time_ms: int
    topics: list[OffsetDeleteResponseTopic]

    def __init__(
        self,
        *,
        error_code: int = 0,
        throttle_time_ms: int = 0,
        topics: list[OffsetDeleteResponseTopic] = _EMPTY,
    ) -> None:
        self.error_code = error_code
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetDeleteResponse):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.throttle_time_ms == other.throttle_time_ms
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"OffsetDeleteResponse(error_code={self.error_code!r}, throttle_time_ms={self.throttle_time_ms!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("OffsetDeleteResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_hi(self.error_code, self.throttle_time_ms)
            n = len(self.topics)
            buf += _pack_i(n)
            for i_topics in self.topics:
                i_topics.encode(out, version)
        except ENCODE_FAILURES as error:
            raise encode_failed("OffsetDeleteResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[OffsetDeleteResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("OffsetDeleteResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("OffsetDeleteResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_OffsetDeleteResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("OffsetDeleteResponse", version, error) from error
        if pos > end:
            raise decode_failed("OffsetDeleteResponse", version, "truncated")
        return message, pos


def _read_OffsetDeleteResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetDeleteResponse, int]:
    self = OffsetDeleteResponse.__new__(OffsetDeleteResponse)
    self.error_code, self.throttle_time_ms = _unpack_hi(buf, pos)
    pos += 6
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_read("OffsetDeleteResponse.topics")
    if n * 6 > end - pos:
        raise length_read("OffsetDeleteResponse.topics", n, end - pos)
    l_topics: list[OffsetDeleteResponseTopic] = []
    for _ in range(n):
        i_topics, pos = _read_OffsetDeleteResponseTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    return self, pos
