"""AssignReplicasToDirs. Generated from schema/assign_replicas_to_dirs.txt by tools/generate_messages.py; do not edit."""

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
    length_read,
    null_read,
    read_uvarint_tail,
    skip_tagged_fields,
    uuid_written,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_u = Struct(">16s").pack
_unpack_u = Struct(">16s").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from
_pack_iq = Struct(">iq").pack
_unpack_iq = Struct(">iq").unpack_from


class AssignReplicasToDirsRequestPartitionData:
    """Part of AssignReplicasToDirsRequest."""

    __slots__ = ("partition_index",)

    partition_index: int

    def __init__(
        self,
        *,
        partition_index: int = 0,
    ) -> None:
        self.partition_index = partition_index

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AssignReplicasToDirsRequestPartitionData):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
        )

    def __repr__(self) -> str:
        return f"AssignReplicasToDirsRequestPartitionData(partition_index={self.partition_index!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_i(self.partition_index)
        buf.append(0)


def _read_AssignReplicasToDirsRequestPartitionData(buf: memoryview, pos: int, end: int, version: int) -> tuple[AssignReplicasToDirsRequestPartitionData, int]:
    self = AssignReplicasToDirsRequestPartitionData.__new__(AssignReplicasToDirsRequestPartitionData)
    (self.partition_index,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AssignReplicasToDirsRequestTopicData:
    """Part of AssignReplicasToDirsRequest."""

    __slots__ = ("topic_id", "partitions")

    topic_id: bytes
    partitions: list[AssignReplicasToDirsRequestPartitionData]

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[AssignReplicasToDirsRequestPartitionData] = _EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AssignReplicasToDirsRequestTopicData):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"AssignReplicasToDirsRequestTopicData(topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("AssignReplicasToDirsRequestTopicData.topic_id")
        buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        buf.append(0)


def _read_AssignReplicasToDirsRequestTopicData(buf: memoryview, pos: int, end: int, version: int) -> tuple[AssignReplicasToDirsRequestTopicData, int]:
    self = AssignReplicasToDirsRequestTopicData.__new__(AssignReplicasToDirsRequestTopicData)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AssignReplicasToDirsRequestTopicData.partitions")
    if n * 5 > end - pos:
        raise length_read("AssignReplicasToDirsRequestTopicData.partitions", n, end - pos)
    l_partitions: list[AssignReplicasToDirsRequestPartitionData] = []
    for _ in range(n):
        i_partitions, pos = _read_AssignReplicasToDirsRequestPartitionData(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AssignReplicasToDirsRequestDirectoryData:
    """Part of AssignReplicasToDirsRequest."""

    __slots__ = ("id", "topics")

    id: bytes
    topics: list[AssignReplicasToDirsRequestTopicData]

    def __init__(
        self,
        *,
        id: bytes = ZERO_UUID,
        topics: list[AssignReplicasToDirsRequestTopicData] = _EMPTY,
    ) -> None:
        self.id = id
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AssignReplicasToDirsRequestDirectoryData):
            return NotImplemented
        return (
            self.id == other.id
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"AssignReplicasToDirsRequestDirectoryData(id={self.id!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.id) != 16:
            raise uuid_written("AssignReplicasToDirsRequestDirectoryData.id")
        buf += _pack_u(self.id)
        n = len(self.topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_topics in self.topics:
            i_topics.encode(out, version)
        buf.append(0)


def _read_AssignReplicasToDirsRequestDirectoryData(buf: memoryview, pos: int, end: int, version: int) -> tuple[AssignReplicasToDirsRequestDirectoryData, int]:
    self = AssignReplicasToDirsRequestDirectoryData.__new__(AssignReplicasToDirsRequestDirectoryData)
    (self.id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AssignReplicasToDirsRequestDirectoryData.topics")
    if n * 18 > end - pos:
        raise length_read("AssignReplicasToDirsRequestDirectoryData.topics", n, end - pos)
    l_topics: list[AssignReplicasToDirsRequestTopicData] = []
    for _ in range(n):
        i_topics, pos = _read_AssignReplicasToDirsRequestTopicData(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AssignReplicasToDirsRequest:
    """Version 0."""

    __slots__ = ("broker_id", "broker_epoch", "directories")

    API_KEY: ClassVar[int] = 73
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    broker_id: int
    broker_epoch: int
    directories: list[AssignReplicasToDirsRequestDirectoryData]

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        directories: list[AssignReplicasToDirsRequestDirectoryData] = _EMPTY,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.directories = [] if directories is _EMPTY else directories

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AssignReplicasToDirsRequest):
            return NotImplemented
        return (
            self.broker_id == other.broker_id
            and self.broker_epoch == other.broker_epoch
            and self.directories == other.directories
        )

    def __repr__(self) -> str:
        return f"AssignReplicasToDirsRequest(broker_id={self.broker_id!r}, broker_epoch={self.broker_epoch!r}, directories={self.directories!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("AssignReplicasToDirsRequest", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_iq(self.broker_id, self.broker_epoch)
            n = len(self.directories)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_directories in self.directories:
                i_directories.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AssignReplicasToDirsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AssignReplicasToDirsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("AssignReplicasToDirsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AssignReplicasToDirsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AssignReplicasToDirsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AssignReplicasToDirsRequest", version, error) from error
        if pos > end:
            raise decode_failed("AssignReplicasToDirsRequest", version, "truncated")
        return message, pos


def _read_AssignReplicasToDirsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[AssignReplicasToDirsRequest, int]:
    self = AssignReplicasToDirsRequest.__new__(AssignReplicasToDirsRequest)
    self.broker_id, self.broker_epoch = _unpack_iq(buf, pos)
    pos += 12
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AssignReplicasToDirsRequest.directories")
    if n * 18 > end - pos:
        raise length_read("AssignReplicasToDirsRequest.directories", n, end - pos)
    l_directories: list[AssignReplicasToDirsRequestDirectoryData] = []
    for _ in range(n):
        i_directories, pos = _read_AssignReplicasToDirsRequestDirectoryData(buf, pos, end, version)
        l_directories.append(i_directories)
    self.directories = l_directories
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AssignReplicasToDirsResponsePartitionData:
    """Part of AssignReplicasToDirsResponse."""

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
        if not isinstance(other, AssignReplicasToDirsResponsePartitionData):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.error_code == other.error_code
        )

    def __repr__(self) -> str:
        return f"AssignReplicasToDirsResponsePartitionData(partition_index={self.partition_index!r}, error_code={self.error_code!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_ih(self.partition_index, self.error_code)
        buf.append(0)


def _read_AssignReplicasToDirsResponsePartitionData(buf: memoryview, pos: int, end: int, version: int) -> tuple[AssignReplicasToDirsResponsePartitionData, int]:
    self = AssignReplicasToDirsResponsePartitionData.__new__(AssignReplicasToDirsResponsePartitionData)
    self.partition_index, self.error_code = _unpack_ih(buf, pos)
    pos += 6
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AssignReplicasToDirsResponseTopicData:
    """Part of AssignReplicasToDirsResponse."""

    __slots__ = ("topic_id", "partitions")

    topic_id: bytes
    partitions: list[AssignReplicasToDirsResponsePartitionData]

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[AssignReplicasToDirsResponsePartitionData] = _EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AssignReplicasToDirsResponseTopicData):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"AssignReplicasToDirsResponseTopicData(topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("AssignReplicasToDirsResponseTopicData.topic_id")
        buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        buf.append(0)


def _read_AssignReplicasToDirsResponseTopicData(buf: memoryview, pos: int, end: int, version: int) -> tuple[AssignReplicasToDirsResponseTopicData, int]:
    self = AssignReplicasToDirsResponseTopicData.__new__(AssignReplicasToDirsResponseTopicData)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AssignReplicasToDirsResponseTopicData.partitions")
    if n * 7 > end - pos:
        raise length_read("AssignReplicasToDirsResponseTopicData.partitions", n, end - pos)
    l_partitions: list[AssignReplicasToDirsResponsePartitionData] = []
    for _ in range(n):
        i_partitions, pos = _read_AssignReplicasToDirsResponsePartitionData(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AssignReplicasToDirsResponseDirectoryData:
    """Part of AssignReplicasToDirsResponse."""

    __slots__ = ("id", "topics")

    id: bytes
    topics: list[AssignReplicasToDirsResponseTopicData]

    def __init__(
        self,
        *,
        id: bytes = ZERO_UUID,
        topics: list[AssignReplicasToDirsResponseTopicData] = _EMPTY,
    ) -> None:
        self.id = id
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AssignReplicasToDirsResponseDirectoryData):
            return NotImplemented
        return (
            self.id == other.id
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"AssignReplicasToDirsResponseDirectoryData(id={self.id!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.id) != 16:
            raise uuid_written("AssignReplicasToDirsResponseDirectoryData.id")
        buf += _pack_u(self.id)
        n = len(self.topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_topics in self.topics:
            i_topics.encode(out, version)
        buf.append(0)


def _read_AssignReplicasToDirsResponseDirectoryData(buf: memoryview, pos: int, end: int, version: int) -> tuple[AssignReplicasToDirsResponseDirectoryData, int]:
    self = AssignReplicasToDirsResponseDirectoryData.__new__(AssignReplicasToDirsResponseDirectoryData)
    (self.id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AssignReplicasToDirsResponseDirectoryData.topics")
    if n * 18 > end - pos:
        raise length_read("AssignReplicasToDirsResponseDirectoryData.topics", n, end - pos)
    l_topics: list[AssignReplicasToDirsResponseTopicData] = []
    for _ in range(n):
        i_topics, pos = _read_AssignReplicasToDirsResponseTopicData(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AssignReplicasToDirsResponse:
    """Version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "directories")

    API_KEY: ClassVar[int] = 73
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    directories: list[AssignReplicasToDirsResponseDirectoryData]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        directories: list[AssignReplicasToDirsResponseDirectoryData] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.directories = [] if directories is _EMPTY else directories

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AssignReplicasToDirsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.directories == other.directories
        )

    def __repr__(self) -> str:
        return f"AssignReplicasToDirsResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, directories={self.directories!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("AssignReplicasToDirsResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_ih(self.throttle_time_ms, self.error_code)
            n = len(self.directories)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_directories in self.directories:
                i_directories.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AssignReplicasToDirsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AssignReplicasToDirsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("AssignReplicasToDirsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AssignReplicasToDirsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AssignReplicasToDirsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AssignReplicasToDirsResponse", version, error) from error
        if pos > end:
            raise decode_failed("AssignReplicasToDirsResponse", version, "truncated")
        return message, pos


def _read_AssignReplicasToDirsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[AssignReplicasToDirsResponse, int]:
    self = AssignReplicasToDirsResponse.__new__(AssignReplicasToDirsResponse)
    self.throttle_time_ms, self.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AssignReplicasToDirsResponse.directories")
    if n * 18 > end - pos:
        raise length_read("AssignReplicasToDirsResponse.directories", n, end - pos)
    l_directories: list[AssignReplicasToDirsResponseDirectoryData] = []
    for _ in range(n):
        i_directories, pos = _read_AssignReplicasToDirsResponseDirectoryData(buf, pos, end, version)
        l_directories.append(i_directories)
    self.directories = l_directories
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
