"""OffsetCommit. Generated from schema/offset_commit.txt by tools/generate_messages.py; do not edit."""

from __future__ import annotations

from struct import Struct
from typing import Any, ClassVar, Final

from ottla.wire.primitives import (
    Buffer,
    DECODE_FAILURES,
    ENCODE_FAILURES,
    Encoder,
    ZERO_UUID,
    decode_failed,
    encode_failed,
    field_unsupported,
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
_pack_iq = Struct(">iq").pack
_unpack_iq = Struct(">iq").unpack_from
_pack_q = Struct(">q").pack
_unpack_q = Struct(">q").unpack_from


class OffsetCommitRequestPartition:
    """Part of OffsetCommitRequest."""

    __slots__ = ("partition_index", "committed_offset", "committed_leader_epoch", "committed_metadata")

    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    committed_metadata: str | None

    def __init__(
        self,
        *,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        committed_metadata: str | None = "",
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.committed_metadata = committed_metadata

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetCommitRequestPartition):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.committed_offset == other.committed_offset
            and self.committed_leader_epoch == other.committed_leader_epoch
            and self.committed_metadata == other.committed_metadata
        )

    def __repr__(self) -> str:
        return f"OffsetCommitRequestPartition(partition_index={self.partition_index!r}, committed_offset={self.committed_offset!r}, committed_leader_epoch={self.committed_leader_epoch!r}, committed_metadata={self.committed_metadata!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 8
        buf += _pack_iq(self.partition_index, self.committed_offset)
        if version >= 6:
            buf += _pack_i(self.committed_leader_epoch)
        v_committed_metadata = self.committed_metadata
        if v_committed_metadata is None:
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff"
        else:
            data = v_committed_metadata.encode()
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


def _read_OffsetCommitRequestPartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetCommitRequestPartition, int]:
    flexible = version >= 8
    self = OffsetCommitRequestPartition.__new__(OffsetCommitRequestPartition)
    self.partition_index, self.committed_offset = _unpack_iq(buf, pos)
    pos += 12
    if version >= 6:
        (self.committed_leader_epoch,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.committed_leader_epoch = -1
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
        self.committed_metadata = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("OffsetCommitRequestPartition.committed_metadata", n, end - pos)
        self.committed_metadata = str(buf[pos:stop], "utf-8")
        pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OffsetCommitRequestTopic:
    """Part of OffsetCommitRequest."""

    __slots__ = ("name", "topic_id", "partitions")

    name: str
    topic_id: bytes
    partitions: list[OffsetCommitRequestPartition]

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[OffsetCommitRequestPartition] = _EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetCommitRequestTopic):
            return NotImplemented
        return (
            self.name == other.name
            and self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"OffsetCommitRequestTopic(name={self.name!r}, topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 8
        if version <= 9:
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
        if version >= 10:
            if len(self.topic_id) != 16:
                raise uuid_written("OffsetCommitRequestTopic.topic_id")
            buf += _pack_u(self.topic_id)
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


def _read_OffsetCommitRequestTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetCommitRequestTopic, int]:
    flexible = version >= 8
    self = OffsetCommitRequestTopic.__new__(OffsetCommitRequestTopic)
    if version <= 9:
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
            raise null_read("OffsetCommitRequestTopic.name")
        stop = pos + n
        if stop > end:
            raise length_read("OffsetCommitRequestTopic.name", n, end - pos)
        self.name = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.name = ""
    if version >= 10:
        (self.topic_id,) = _unpack_u(buf, pos)
        pos += 16
    else:
        self.topic_id = ZERO_UUID
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
        raise null_read("OffsetCommitRequestTopic.partitions")
    if n * 14 > end - pos:
        raise length_read("OffsetCommitRequestTopic.partitions", n, end - pos)
    l_partitions: list[OffsetCommitRequestPartition] = []
    for _ in range(n):
        i_partitions, pos = _read_OffsetCommitRequestPartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OffsetCommitRequest:
    """Versions 2 to 10, flexible from 8."""

    __slots__ = ("group_id", "generation_id_or_member_epoch", "member_id", "group_instance_id", "retention_time_ms", "topics")

    API_KEY: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 10
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 8

    group_id: str
    generation_id_or_member_epoch: int
    member_id: str
    group_instance_id: str | None
    retention_time_ms: int
    topics: list[OffsetCommitRequestTopic]

    def __init__(
        self,
        *,
        group_id: str = "",
        generation_id_or_member_epoch: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        retention_time_ms: int = -1,
        topics: list[OffsetCommitRequestTopic] = _EMPTY,
    ) -> None:
        self.group_id = group_id
        self.generation_id_or_member_epoch = generation_id_or_member_epoch
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.retention_time_ms = retention_time_ms
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetCommitRequest):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.generation_id_or_member_epoch == other.generation_id_or_member_epoch
            and self.member_id == other.member_id
            and self.group_instance_id == other.group_instance_id
            and self.retention_time_ms == other.retention_time_ms
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"OffsetCommitRequest(group_id={self.group_id!r}, generation_id_or_member_epoch={self.generation_id_or_member_epoch!r}, member_id={self.member_id!r}, group_instance_id={self.group_instance_id!r}, retention_time_ms={self.retention_time_ms!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 2 or version > 10:
            raise encode_failed("OffsetCommitRequest", version, "no such version")
        try:
            if version < 7:
                if self.group_instance_id is not None:
                    raise field_unsupported("OffsetCommitRequest.group_instance_id", version)
            buf = out.buf
            flexible = version >= 8
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
            buf += _pack_i(self.generation_id_or_member_epoch)
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
            if version >= 7:
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
            if version <= 4:
                buf += _pack_q(self.retention_time_ms)
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
            raise encode_failed("OffsetCommitRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[OffsetCommitRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 2 or version > 10:
            raise decode_failed("OffsetCommitRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("OffsetCommitRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_OffsetCommitRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("OffsetCommitRequest", version, error) from error
        if pos > end:
            raise decode_failed("OffsetCommitRequest", version, "truncated")
        return message, pos


def _read_OffsetCommitRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetCommitRequest, int]:
    flexible = version >= 8
    self = OffsetCommitRequest.__new__(OffsetCommitRequest)
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
        raise null_read("OffsetCommitRequest.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("OffsetCommitRequest.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.generation_id_or_member_epoch,) = _unpack_i(buf, pos)
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
        raise null_read("OffsetCommitRequest.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("OffsetCommitRequest.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
    if version >= 7:
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
                raise length_read("OffsetCommitRequest.group_instance_id", n, end - pos)
            self.group_instance_id = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.group_instance_id = None
    if version <= 4:
        (self.retention_time_ms,) = _unpack_q(buf, pos)
        pos += 8
    else:
        self.retention_time_ms = -1
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
        raise null_read("OffsetCommitRequest.topics")
    if n * 3 > end - pos:
        raise length_read("OffsetCommitRequest.topics", n, end - pos)
    l_topics: list[OffsetCommitRequestTopic] = []
    for _ in range(n):
        i_topics, pos = _read_OffsetCommitRequestTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OffsetCommitResponsePartition:
    """Part of OffsetCommitResponse."""

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
        if not isinstance(other, OffsetCommitResponsePartition):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.error_code == other.error_code
        )

    def __repr__(self) -> str:
        return f"OffsetCommitResponsePartition(partition_index={self.partition_index!r}, error_code={self.error_code!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 8
        buf += _pack_ih(self.partition_index, self.error_code)
        if flexible:
            buf.append(0)


def _read_OffsetCommitResponsePartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetCommitResponsePartition, int]:
    flexible = version >= 8
    self = OffsetCommitResponsePartition.__new__(OffsetCommitResponsePartition)
    self.partition_index, self.error_code = _unpack_ih(buf, pos)
    pos += 6
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OffsetCommitResponseTopic:
    """Part of OffsetCommitResponse."""

    __slots__ = ("name", "topic_id", "partitions")

    name: str
    topic_id: bytes
    partitions: list[OffsetCommitResponsePartition]

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[OffsetCommitResponsePartition] = _EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetCommitResponseTopic):
            return NotImplemented
        return (
            self.name == other.name
            and self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"OffsetCommitResponseTopic(name={self.name!r}, topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 8
        if version <= 9:
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
        if version >= 10:
            if len(self.topic_id) != 16:
                raise uuid_written("OffsetCommitResponseTopic.topic_id")
            buf += _pack_u(self.topic_id)
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


def _read_OffsetCommitResponseTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetCommitResponseTopic, int]:
    flexible = version >= 8
    self = OffsetCommitResponseTopic.__new__(OffsetCommitResponseTopic)
    if version <= 9:
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
            raise null_read("OffsetCommitResponseTopic.name")
        stop = pos + n
        if stop > end:
            raise length_read("OffsetCommitResponseTopic.name", n, end - pos)
        self.name = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.name = ""
    if version >= 10:
        (self.topic_id,) = _unpack_u(buf, pos)
        pos += 16
    else:
        self.topic_id = ZERO_UUID
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
        raise null_read("OffsetCommitResponseTopic.partitions")
    if n * 6 > end - pos:
        raise length_read("OffsetCommitResponseTopic.partitions", n, end - pos)
    l_partitions: list[OffsetCommitResponsePartition] = []
    for _ in range(n):
        i_partitions, pos = _read_OffsetCommitResponsePartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OffsetCommitResponse:
    """Versions 2 to 10, flexible from 8."""

    __slots__ = ("throttle_time_ms", "topics")

    API_KEY: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 10
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 8

    throttle_time_ms: int
    topics: list[OffsetCommitResponseTopic]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[OffsetCommitResponseTopic] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetCommitResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"OffsetCommitResponse(throttle_time_ms={self.throttle_time_ms!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 2 or version > 10:
            raise encode_failed("OffsetCommitResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 8
            if version >= 3:
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
            raise encode_failed("OffsetCommitResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[OffsetCommitResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 2 or version > 10:
            raise decode_failed("OffsetCommitResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("OffsetCommitResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_OffsetCommitResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("OffsetCommitResponse", version, error) from error
        if pos > end:
            raise decode_failed("OffsetCommitResponse", version, "truncated")
        return message, pos


def _read_OffsetCommitResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetCommitResponse, int]:
    flexible = version >= 8
    self = OffsetCommitResponse.__new__(OffsetCommitResponse)
    if version >= 3:
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
        raise null_read("OffsetCommitResponse.topics")
    if n * 3 > end - pos:
        raise length_read("OffsetCommitResponse.topics", n, end - pos)
    l_topics: list[OffsetCommitResponseTopic] = []
    for _ in range(n):
        i_topics, pos = _read_OffsetCommitResponseTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
