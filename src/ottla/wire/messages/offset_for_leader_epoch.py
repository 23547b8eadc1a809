"""OffsetForLeaderEpoch. Generated from schema/offset_for_leader_epoch.txt by tools/generate_messages.py; do not edit."""

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
    read_string_length_tail,
    read_uvarint_tail,
    skip_tagged_fields,
    write_string_length,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_h2iq = Struct(">hiiq").pack
_unpack_h2iq = Struct(">hiiq").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_3i = Struct(">iii").pack
_unpack_3i = Struct(">iii").unpack_from


class OffsetForLeaderPartition:
    """Part of OffsetForLeaderEpochRequest."""

    __slots__ = ("partition", "current_leader_epoch", "leader_epoch")

    partition: int
    current_leader_epoch: int
    leader_epoch: int

    def __init__(
        self,
        *,
        partition: int = 0,
        current_leader_epoch: int = -1,
        leader_epoch: int = 0,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.leader_epoch = leader_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetForLeaderPartition):
            return NotImplemented
        return (
            self.partition == other.partition
            and self.current_leader_epoch == other.current_leader_epoch
            and self.leader_epoch == other.leader_epoch
        )

    def __repr__(self) -> str:
        return f"OffsetForLeaderPartition(partition={self.partition!r}, current_leader_epoch={self.current_leader_epoch!r}, leader_epoch={self.leader_epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 4
        buf += _pack_3i(self.partition, self.current_leader_epoch, self.leader_epoch)
        if flexible:
            buf.append(0)


def _read_OffsetForLeaderPartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetForLeaderPartition, int]:
    flexible = version >= 4
    self = OffsetForLeaderPartition.__new__(OffsetForLeaderPartition)
    self.partition, self.current_leader_epoch, self.leader_epoch = _unpack_3i(buf, pos)
    pos += 12
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OffsetForLeaderTopic:
    """Part of OffsetForLeaderEpochRequest."""

    __slots__ = ("topic", "partitions")

    topic: str
    partitions: list[OffsetForLeaderPartition]

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[OffsetForLeaderPartition] = _EMPTY,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetForLeaderTopic):
            return NotImplemented
        return (
            self.topic == other.topic
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"OffsetForLeaderTopic(topic={self.topic!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 4
        data = self.topic.encode()
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


def _read_OffsetForLeaderTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetForLeaderTopic, int]:
    flexible = version >= 4
    self = OffsetForLeaderTopic.__new__(OffsetForLeaderTopic)
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
        raise null_read("OffsetForLeaderTopic.topic")
    stop = pos + n
    if stop > end:
        raise length_read("OffsetForLeaderTopic.topic", n, end - pos)
    self.topic = str(buf[pos:stop], "utf-8")
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
        raise null_read("OffsetForLeaderTopic.partitions")
    if n * 12 > end - pos:
        raise length_read("OffsetForLeaderTopic.partitions", n, end - pos)
    l_partitions: list[OffsetForLeaderPartition] = []
    for _ in range(n):
        i_partitions, pos = _read_OffsetForLeaderPartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OffsetForLeaderEpochRequest:
    """Versions 2 to 4, flexible from 4."""

    __slots__ = ("replica_id", "topics")

    API_KEY: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4

    replica_id: int
    topics: list[OffsetForLeaderTopic]

    def __init__(
        self,
        *,
        replica_id: int = -2,
        topics: list[OffsetForLeaderTopic] = _EMPTY,
    ) -> None:
        self.replica_id = replica_id
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetForLeaderEpochRequest):
            return NotImplemented
        return (
            self.replica_id == other.replica_id
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"OffsetForLeaderEpochRequest(replica_id={self.replica_id!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 2 or version > 4:
            raise encode_failed("OffsetForLeaderEpochRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 4
            if version >= 3:
                buf += _pack_i(self.replica_id)
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
            raise encode_failed("OffsetForLeaderEpochRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[OffsetForLeaderEpochRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 2 or version > 4:
            raise decode_failed("OffsetForLeaderEpochRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("OffsetForLeaderEpochRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_OffsetForLeaderEpochRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("OffsetForLeaderEpochRequest", version, error) from error
        if pos > end:
            raise decode_failed("OffsetForLeaderEpochRequest", version, "truncated")
        return message, pos


def _read_OffsetForLeaderEpochRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetForLeaderEpochRequest, int]:
    flexible = version >= 4
    self = OffsetForLeaderEpochRequest.__new__(OffsetForLeaderEpochRequest)
    if version >= 3:
        (self.replica_id,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.replica_id = -2
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
        raise null_read("OffsetForLeaderEpochRequest.topics")
    if n * 3 > end - pos:
        raise length_read("OffsetForLeaderEpochRequest.topics", n, end - pos)
    l_topics: list[OffsetForLeaderTopic] = []
    for _ in range(n):
        i_topics, pos = _read_OffsetForLeaderTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class EpochEndOffset:
    """Part of OffsetForLeaderEpochResponse."""

    __slots__ = ("error_code", "partition", "leader_epoch", "end_offset")

    error_code: int
    partition: int
    leader_epoch: int
    end_offset: int

    def __init__(
        self,
        *,
        error_code: int = 0,
        partition: int = 0,
        leader_epoch: int = -1,
        end_offset: int = -1,
    ) -> None:
        self.error_code = error_code
        self.partition = partition
        self.leader_epoch = leader_epoch
        self.end_offset = end_offset

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EpochEndOffset):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.partition == other.partition
            and self.leader_epoch == other.leader_epoch
            and self.end_offset == other.end_offset
        )

    def __repr__(self) -> str:
        return f"EpochEndOffset(error_code={self.error_code!r}, partition={self.partition!r}, leader_epoch={self.leader_epoch!r}, end_offset={self.end_offset!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 4
        buf += _pack_h2iq(self.error_code, self.partition, self.leader_epoch, self.end_offset)
        if flexible:
            buf.append(0)


def _read_EpochEndOffset(buf: memoryview, pos: int, end: int, version: int) -> tuple[EpochEndOffset, int]:
    flexible = version >= 4
    self = EpochEndOffset.__new__(EpochEndOffset)
    self.error_code, self.partition, self.leader_epoch, self.end_offset = _unpack_h2iq(buf, pos)
    pos += 18
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OffsetForLeaderTopicResult:
    """Part of OffsetForLeaderEpochResponse."""

    __slots__ = ("topic", "partitions")

    topic: str
    partitions: list[EpochEndOffset]

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[EpochEndOffset] = _EMPTY,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetForLeaderTopicResult):
            return NotImplemented
        return (
            self.topic == other.topic
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"OffsetForLeaderTopicResult(topic={self.topic!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 4
        data = self.topic.encode()
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


def _read_OffsetForLeaderTopicResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetForLeaderTopicResult, int]:
    flexible = version >= 4
    self = OffsetForLeaderTopicResult.__new__(OffsetForLeaderTopicResult)
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
        raise null_read("OffsetForLeaderTopicResult.topic")
    stop = pos + n
    if stop > end:
        raise length_read("OffsetForLeaderTopicResult.topic", n, end - pos)
    self.topic = str(buf[pos:stop], "utf-8")
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
        raise null_read("OffsetForLeaderTopicResult.partitions")
    if n * 18 > end - pos:
        raise length_read("OffsetForLeaderTopicResult.partitions", n, end - pos)
    l_partitions: list[EpochEndOffset] = []
    for _ in range(n):
        i_partitions, pos = _read_EpochEndOffset(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OffsetForLeaderEpochResponse:
    """Versions 2 to 4, flexible from 4."""

    __slots__ = ("throttle_time_ms", "topics")

    API_KEY: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4

    throttle_time_ms: int
    topics: list[OffsetForLeaderTopicResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[OffsetForLeaderTopicResult] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetForLeaderEpochResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"OffsetForLeaderEpochResponse(throttle_time_ms={self.throttle_time_ms!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 2 or version > 4:
            raise encode_failed("OffsetForLeaderEpochResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 4
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
            raise encode_failed("OffsetForLeaderEpochResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[OffsetForLeaderEpochResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 2 or version > 4:
            raise decode_failed("OffsetForLeaderEpochResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("OffsetForLeaderEpochResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_OffsetForLeaderEpochResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("OffsetForLeaderEpochResponse", version, error) from error
        if pos > end:
            raise decode_failed("OffsetForLeaderEpochResponse", version, "truncated")
        return message, pos


def _read_OffsetForLeaderEpochResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetForLeaderEpochResponse, int]:
    flexible = version >= 4
    self = OffsetForLeaderEpochResponse.__new__(OffsetForLeaderEpochResponse)
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
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
        raise null_read("OffsetForLeaderEpochResponse.topics")
    if n * 3 > end - pos:
        raise length_read("OffsetForLeaderEpochResponse.topics", n, end - pos)
    l_topics: list[OffsetForLeaderTopicResult] = []
    for _ in range(n):
        i_topics, pos = _read_OffsetForLeaderTopicResult(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
