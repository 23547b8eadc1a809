"""DescribeLogDirs. Generated from schema/describe_log_dirs.txt by tools/generate_messages.py; do not edit."""

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
_pack_i2qz = Struct(">iqq?").pack
_unpack_i2qz = Struct(">iqq?").unpack_from
_pack_2q = Struct(">qq").pack
_unpack_2q = Struct(">qq").unpack_from


class DescribableLogDirTopic:
    """Part of DescribeLogDirsRequest."""

    __slots__ = ("topic", "partitions")

    topic: str
    partitions: list[int]

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = _EMPTY,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribableLogDirTopic):
            return NotImplemented
        return (
            self.topic == other.topic
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"DescribableLogDirTopic(topic={self.topic!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
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
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.partitions)
        else:
            buf += _pack_n(f">{n}i", *self.partitions)
        if flexible:
            buf.append(0)


def _read_DescribableLogDirTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribableLogDirTopic, int]:
    flexible = version >= 2
    self = DescribableLogDirTopic.__new__(DescribableLogDirTopic)
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
        raise null_read("DescribableLogDirTopic.topic")
    stop = pos + n
    if stop > end:
        raise length_read("DescribableLogDirTopic.topic", n, end - pos)
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
        raise null_read("DescribableLogDirTopic.partitions")
    if n * 4 > end - pos:
        raise length_read("DescribableLogDirTopic.partitions", n, end - pos)
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


class DescribeLogDirsRequest:
    """Versions 1 to 4, flexible from 2."""

    __slots__ = ("topics",)

    API_KEY: ClassVar[int] = 35
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    topics: list[DescribableLogDirTopic] | None

    def __init__(
        self,
        *,
        topics: list[DescribableLogDirTopic] | None = _EMPTY,
    ) -> None:
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeLogDirsRequest):
            return NotImplemented
        return (
            self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"DescribeLogDirsRequest(topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 4:
            raise encode_failed("DescribeLogDirsRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            v_topics = self.topics
            if v_topics is None:
                if flexible:
                    buf.append(0)
                else:
                    buf += b"\xff\xff\xff\xff"
            else:
                n = len(v_topics)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_uvarint(buf, n + 1)
                else:
                    buf += _pack_i(n)
                for i_topics in v_topics:
                    i_topics.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeLogDirsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeLogDirsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 4:
            raise decode_failed("DescribeLogDirsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeLogDirsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeLogDirsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeLogDirsRequest", version, error) from error
        if pos > end:
            raise decode_failed("DescribeLogDirsRequest", version, "truncated")
        return message, pos


def _read_DescribeLogDirsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeLogDirsRequest, int]:
    flexible = version >= 2
    self = DescribeLogDirsRequest.__new__(DescribeLogDirsRequest)
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
        self.topics = None
    else:
        if n * 3 > end - pos:
            raise length_read("DescribeLogDirsRequest.topics", n, end - pos)
        l_topics: list[DescribableLogDirTopic] = []
        for _ in range(n):
            i_topics, pos = _read_DescribableLogDirTopic(buf, pos, end, version)
            l_topics.append(i_topics)
        self.topics = l_topics
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeLogDirsPartition:
    """Part of DescribeLogDirsResponse."""

    __slots__ = ("partition_index", "partition_size", "offset_lag", "is_future_key")

    partition_index: int
    partition_size: int
    offset_lag: int
    is_future_key: bool

    def __init__(
        self,
        *,
        partition_index: int = 0,
        partition_size: int = 0,
        offset_lag: int = 0,
        is_future_key: bool = False,
    ) -> None:
        self.partition_index = partition_index
        self.partition_size = partition_size
        self.offset_lag = offset_lag
        self.is_future_key = is_future_key

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeLogDirsPartition):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.partition_size == other.partition_size
            and self.offset_lag == other.offset_lag
            and self.is_future_key == other.is_future_key
        )

    def __repr__(self) -> str:
        return f"DescribeLogDirsPartition(partition_index={self.partition_index!r}, partition_size={self.partition_size!r}, offset_lag={self.offset_lag!r}, is_future_key={self.is_future_key!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
        buf += _pack_i2qz(self.partition_index, self.partition_size, self.offset_lag, self.is_future_key)
        if flexible:
            buf.append(0)


def _read_DescribeLogDirsPartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeLogDirsPartition, int]:
    flexible = version >= 2
    self = DescribeLogDirsPartition.__new__(DescribeLogDirsPartition)
    self.partition_index, self.partition_size, self.offset_lag, self.is_future_key = _unpack_i2qz(buf, pos)
    pos += 21
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeLogDirsTopic:
    """Part of DescribeLogDirsResponse."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[DescribeLogDirsPartition]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[DescribeLogDirsPartition] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeLogDirsTopic):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"DescribeLogDirsTopic(name={self.name!r}, partitions={self.partitions!r})"

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
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        if flexible:
            buf.append(0)


def _read_DescribeLogDirsTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeLogDirsTopic, int]:
    flexible = version >= 2
    self = DescribeLogDirsTopic.__new__(DescribeLogDirsTopic)
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
        raise null_read("DescribeLogDirsTopic.name")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeLogDirsTopic.name", n, end - pos)
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
        raise null_read("DescribeLogDirsTopic.partitions")
    if n * 21 > end - pos:
        raise length_read("DescribeLogDirsTopic.partitions", n, end - pos)
    l_partitions: list[DescribeLogDirsPartition] = []
    for _ in range(n):
        i_partitions, pos = _read_DescribeLogDirsPartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeLogDirsResult:
    """Part of DescribeLogDirsResponse."""

    __slots__ = ("error_code", "log_dir", "topics", "total_bytes", "usable_bytes")

    error_code: int
    log_dir: str
    topics: list[DescribeLogDirsTopic]
    total_bytes: int
    usable_bytes: int

    def __init__(
        self,
        *,
        error_code: int = 0,
        log_dir: str = "",
        topics: list[DescribeLogDirsTopic] = _EMPTY,
        total_bytes: int = -1,
        usable_bytes: int = -1,
    ) -> None:
        self.error_code = error_code
        self.log_dir = log_dir
        self.topics = [] if topics is _EMPTY else topics
        self.total_bytes = total_bytes
        self.usable_bytes = usable_bytes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeLogDirsResult):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.log_dir == other.log_dir
            and self.topics == other.topics
            and self.total_bytes == other.total_bytes
            and self.usable_bytes == other.usable_bytes
        )

    def __repr__(self) -> str:
        return f"DescribeLogDirsResult(error_code={self.error_code!r}, log_dir={self.log_dir!r}, topics={self.topics!r}, total_bytes={self.total_bytes!r}, usable_bytes={self.usable_bytes!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
        buf += _pack_h(self.error_code)
        data = self.log_dir.encode()
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
        if version >= 4:
            buf += _pack_2q(self.total_bytes, self.usable_bytes)
        if flexible:
            buf.append(0)


def _read_DescribeLogDirsResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeLogDirsResult, int]:
    flexible = version >= 2
    self = DescribeLogDirsResult.__new__(DescribeLogDirsResult)
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
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
        raise null_read("DescribeLogDirsResult.log_dir")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeLogDirsResult.log_dir", n, end - pos)
    self.log_dir = str(buf[pos:stop], "utf-8")
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
        raise null_read("DescribeLogDirsResult.topics")
    if n * 3 > end - pos:
        raise length_read("DescribeLogDirsResult.topics", n, end - pos)
    l_topics: list[DescribeLogDirsTopic] = []
    for _ in range(n):
        i_topics, pos = _read_DescribeLogDirsTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if version >= 4:
        self.total_bytes, self.usable_bytes = _unpack_2q(buf, pos)
        pos += 16
    else:
        self.total_bytes = -1
        self.usable_bytes = -1
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeLogDirsResponse:
    """Versions 1 to 4, flexible from 2."""

    __slots__ = ("throttle_time_ms", "error_code", "results")

    API_KEY: ClassVar[int] = 35
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    throttle_time_ms: int
    error_code: int
    results: list[DescribeLogDirsResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results: list[DescribeLogDirsResult] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results = [] if results is _EMPTY else results

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeLogDirsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.results == other.results
        )

    def __repr__(self) -> str:
        return f"DescribeLogDirsResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, results={self.results!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 4:
            raise encode_failed("DescribeLogDirsResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            buf += _pack_i(self.throttle_time_ms)
            if version >= 3:
                buf += _pack_h(self.error_code)
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
            raise encode_failed("DescribeLogDirsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeLogDirsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 4:
            raise decode_failed("DescribeLogDirsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeLogDirsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeLogDirsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeLogDirsResponse", version, error) from error
        if pos > end:
            raise decode_failed("DescribeLogDirsResponse", version, "truncated")
        return message, pos


def _read_DescribeLogDirsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeLogDirsResponse, int]:
    flexible = version >= 2
    self = DescribeLogDirsResponse.__new__(DescribeLogDirsResponse)
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    if version >= 3:
        (self.error_code,) = _unpack_h(buf, pos)
        pos += 2
    else:
        self.error_code = 0
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
        raise null_read("DescribeLogDirsResponse.results")
    if n * 5 > end - pos:
        raise length_read("DescribeLogDirsResponse.results", n, end - pos)
    l_results: list[DescribeLogDirsResult] = []
    for _ in range(n):
        i_results, pos = _read_DescribeLogDirsResult(buf, pos, end, version)
        l_results.append(i_results)
    self.results = l_results
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
