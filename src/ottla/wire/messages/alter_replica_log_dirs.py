"""AlterReplicaLogDirs. Generated from schema/alter_replica_log_dirs.txt by tools/generate_messages.py; do not edit."""

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
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from


class AlterReplicaLogDirTopic:
    """Part of AlterReplicaLogDirsRequest."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[int]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[int] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterReplicaLogDirTopic):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"AlterReplicaLogDirTopic(name={self.name!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
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
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.partitions)
        else:
            buf += _pack_n(f">{n}i", *self.partitions)
        if flexible:
            buf.append(0)


def _read_AlterReplicaLogDirTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterReplicaLogDirTopic, int]:
    flexible = version >= 2
    self = AlterReplicaLogDirTopic.__new__(AlterReplicaLogDirTopic)
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
        raise null_read("AlterReplicaLogDirTopic.name")
    stop = pos + n
    if stop > end:
        raise length_read("AlterReplicaLogDirTopic.name", n, end - pos)
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
        raise null_read("AlterReplicaLogDirTopic.partitions")
    if n * 4 > end - pos:
        raise length_read("AlterReplicaLogDirTopic.partitions", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.partitions = list(INT32_UNPACK[n](buf, pos))
    else:
        self.partitions = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterReplicaLogDir:
    """Part of AlterReplicaLogDirsRequest."""

    __slots__ = ("path", "topics")

    path: str
    topics: list[AlterReplicaLogDirTopic]

    def __init__(
        self,
        *,
        path: str = "",
        topics: list[AlterReplicaLogDirTopic] = _EMPTY,
    ) -> None:
        self.path = path
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterReplicaLogDir):
            return NotImplemented
        return (
            self.path == other.path
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"AlterReplicaLogDir(path={self.path!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
        data = self.path.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
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


def _read_AlterReplicaLogDir(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterReplicaLogDir, int]:
    flexible = version >= 2
    self = AlterReplicaLogDir.__new__(AlterReplicaLogDir)
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
        raise null_read("AlterReplicaLogDir.path")
    stop = pos + n
    if stop > end:
        raise length_read("AlterReplicaLogDir.path", n, end - pos)
    self.path = str(buf[pos:stop], "utf-8")
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
        raise null_read("AlterReplicaLogDir.topics")
    if n * 3 > end - pos:
        raise length_read("AlterReplicaLogDir.topics", n, end - pos)
    l_topics: list[AlterReplicaLogDirTopic] = []
    for _ in range(n):
        i_topics, pos = _read_AlterReplicaLogDirTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterReplicaLogDirsRequest:
    """Versions 1 to 2, flexible from 2."""

    __slots__ = ("dirs",)

    API_KEY: ClassVar[int] = 34
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    dirs: list[AlterReplicaLogDir]

    def __init__(
        self,
        *,
        dirs: list[AlterReplicaLogDir] = _EMPTY,
    ) -> None:
        self.dirs = [] if dirs is _EMPTY else dirs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterReplicaLogDirsRequest):
            return NotImplemented
        return (
            self.dirs == other.dirs
        )

    def __repr__(self) -> str:
        return f"AlterReplicaLogDirsRequest(dirs={self.dirs!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 2:
            raise encode_failed("AlterReplicaLogDirsRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            n = len(self.dirs)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_dirs in self.dirs:
                i_dirs.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AlterReplicaLogDirsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AlterReplicaLogDirsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 2:
            raise decode_failed("AlterReplicaLogDirsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AlterReplicaLogDirsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AlterReplicaLogDirsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AlterReplicaLogDirsRequest", version, error) from error
        if pos > end:
            raise decode_failed("AlterReplicaLogDirsRequest", version, "truncated")
        return message, pos


def _read_AlterReplicaLogDirsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterReplicaLogDirsRequest, int]:
    flexible = version >= 2
    self = AlterReplicaLogDirsRequest.__new__(AlterReplicaLogDirsRequest)
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
        raise null_read("AlterReplicaLogDirsRequest.dirs")
    if n * 3 > end - pos:
        raise length_read("AlterReplicaLogDirsRequest.dirs", n, end - pos)
    l_dirs: list[AlterReplicaLogDir] = []
    for _ in range(n):
        i_dirs, pos = _read_AlterReplicaLogDir(buf, pos, end, version)
        l_dirs.append(i_dirs)
    self.dirs = l_dirs
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterReplicaLogDirPartitionResult:
    """Part of AlterReplicaLogDirsResponse."""

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
        if not isinstance(other, AlterReplicaLogDirPartitionResult):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.error_code == other.error_code
        )

    def __repr__(self) -> str:
        return f"AlterReplicaLogDirPartitionResult(partition_index={self.partition_index!r}, error_code={self.error_code!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
        buf += _pack_ih(self.partition_index, self.error_code)
        if flexible:
            buf.append(0)


def _read_AlterReplicaLogDirPartitionResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterReplicaLogDirPartitionResult, int]:
    flexible = version >= 2
    self = AlterReplicaLogDirPartitionResult.__new__(AlterReplicaLogDirPartitionResult)
    self.partition_index, self.error_code = _unpack_ih(buf, pos)
    pos += 6
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterReplicaLogDirTopicResult:
    """Part of AlterReplicaLogDirsResponse."""

    __slots__ = ("topic_name", "partitions")

    topic_name: str
    partitions: list[AlterReplicaLogDirPartitionResult]

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[AlterReplicaLogDirPartitionResult] = _EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterReplicaLogDirTopicResult):
            return NotImplemented
        return (
            self.topic_name == other.topic_name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"AlterReplicaLogDirTopicResult(topic_name={self.topic_name!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
        data = self.topic_name.encode()
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


def _read_AlterReplicaLogDirTopicResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterReplicaLogDirTopicResult, int]:
    flexible = version >= 2
    self = AlterReplicaLogDirTopicResult.__new__(AlterReplicaLogDirTopicResult)
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
        raise null_read("AlterReplicaLogDirTopicResult.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("AlterReplicaLogDirTopicResult.topic_name", n, end - pos)
    self.topic_name = str(buf[pos:stop], "utf-8")
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
        raise null_read("AlterReplicaLogDirTopicResult.partitions")
    if n * 6 > end - pos:
        raise length_read("AlterReplicaLogDirTopicResult.partitions", n, end - pos)
    l_partitions: list[AlterReplicaLogDirPartitionResult] = []
    for _ in range(n):
        i_partitions, pos = _read_AlterReplicaLogDirPartitionResult(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterReplicaLogDirsResponse:
    """Versions 1 to 2, flexible from 2."""

    __slots__ = ("throttle_time_ms", "results")

    API_KEY: ClassVar[int] = 34
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    throttle_time_ms: int
    results: list[AlterReplicaLogDirTopicResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[AlterReplicaLogDirTopicResult] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is _EMPTY else results

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterReplicaLogDirsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.results == other.results
        )

    def __repr__(self) -> str:
        return f"AlterReplicaLogDirsResponse(throttle_time_ms={self.throttle_time_ms!r}, results={self.results!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 2:
            raise encode_failed("AlterReplicaLogDirsResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            buf += _pack_i(self.throttle_time_ms)
            n = len(self.results)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_results in self.results:
                i_results.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AlterReplicaLogDirsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AlterReplicaLogDirsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 2:
            raise decode_failed("AlterReplicaLogDirsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AlterReplicaLogDirsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AlterReplicaLogDirsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AlterReplicaLogDirsResponse", version, error) from error
        if pos > end:
            raise decode_failed("AlterReplicaLogDirsResponse", version, "truncated")
        return message, pos


def _read_AlterReplicaLogDirsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterReplicaLogDirsResponse, int]:
    flexible = version >= 2
    self = AlterReplicaLogDirsResponse.__new__(AlterReplicaLogDirsResponse)
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
        raise null_read("AlterReplicaLogDirsResponse.results")
    if n * 3 > end - pos:
        raise length_read("AlterReplicaLogDirsResponse.results", n, end - pos)
    l_results: list[AlterReplicaLogDirTopicResult] = []
    for _ in range(n):
        i_results, pos = _read_AlterReplicaLogDirTopicResult(buf, pos, end, version)
        l_results.append(i_results)
    self.results = l_results
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
