"""DeleteRecords. Generated from schema/delete_records.txt by tools/generate_messages.py; do not edit."""

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
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_iq = Struct(">iq").pack
_unpack_iq = Struct(">iq").unpack_from
_pack_iqh = Struct(">iqh").pack
_unpack_iqh = Struct(">iqh").unpack_from


class DeleteRecordsPartition:
    """Part of DeleteRecordsRequest."""

    __slots__ = ("partition_index", "offset")

    partition_index: int
    offset: int

    def __init__(
        self,
        *,
        partition_index: int = 0,
        offset: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.offset = offset

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteRecordsPartition):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.offset == other.offset
        )

    def __repr__(self) -> str:
        return f"DeleteRecordsPartition(partition_index={self.partition_index!r}, offset={self.offset!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
        buf += _pack_iq(self.partition_index, self.offset)
        if flexible:
            buf.append(0)


def _read_DeleteRecordsPartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteRecordsPartition, int]:
    flexible = version >= 2
    self = DeleteRecordsPartition.__new__(DeleteRecordsPartition)
    self.partition_index, self.offset = _unpack_iq(buf, pos)
    pos += 12
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DeleteRecordsTopic:
    """Part of DeleteRecordsRequest."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[DeleteRecordsPartition]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[DeleteRecordsPartition] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteRecordsTopic):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"DeleteRecordsTopic(name={self.name!r}, partitions={self.partitions!r})"

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


def _read_DeleteRecordsTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteRecordsTopic, int]:
    flexible = version >= 2
    self = DeleteRecordsTopic.__new__(DeleteRecordsTopic)
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
        raise null_read("DeleteRecordsTopic.name")
    stop = pos + n
    if stop > end:
        raise length_read("DeleteRecordsTopic.name", n, end - pos)
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
        raise null_read("DeleteRecordsTopic.partitions")
    if n * 12 > end - pos:
        raise length_read("DeleteRecordsTopic.partitions", n, end - pos)
    l_partitions: list[DeleteRecordsPartition] = []
    for _ in range(n):
        i_partitions, pos = _read_DeleteRecordsPartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DeleteRecordsRequest:
    """Versions 0 to 2, flexible from 2."""

    __slots__ = ("topics", "timeout_ms")

    API_KEY: ClassVar[int] = 21
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    topics: list[DeleteRecordsTopic]
    timeout_ms: int

    def __init__(
        self,
        *,
        topics: list[DeleteRecordsTopic] = _EMPTY,
        timeout_ms: int = 0,
    ) -> None:
        self.topics = [] if topics is _EMPTY else topics
        self.timeout_ms = timeout_ms

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteRecordsRequest):
            return NotImplemented
        return (
            self.topics == other.topics
            and self.timeout_ms == other.timeout_ms
        )

    def __repr__(self) -> str:
        return f"DeleteRecordsRequest(topics={self.topics!r}, timeout_ms={self.timeout_ms!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("DeleteRecordsRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
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
            buf += _pack_i(self.timeout_ms)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DeleteRecordsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DeleteRecordsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("DeleteRecordsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DeleteRecordsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DeleteRecordsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DeleteRecordsRequest", version, error) from error
        if pos > end:
            raise decode_failed("DeleteRecordsRequest", version, "truncated")
        return message, pos


def _read_DeleteRecordsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteRecordsRequest, int]:
    flexible = version >= 2
    self = DeleteRecordsRequest.__new__(DeleteRecordsRequest)
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
        raise null_read("DeleteRecordsRequest.topics")
    if n * 3 > end - pos:
        raise length_read("DeleteRecordsRequest.topics", n, end - pos)
    l_topics: list[DeleteRecordsTopic] = []
    for _ in range(n):
        i_topics, pos = _read_DeleteRecordsTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    (self.timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DeleteRecordsPartitionResult:
    """Part of DeleteRecordsResponse."""

    __slots__ = ("partition_index", "low_watermark", "error_code")

    partition_index: int
    low_watermark: int
    error_code: int

    def __init__(
        self,
        *,
        partition_index: int = 0,
        low_watermark: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.low_watermark = low_watermark
        self.error_code = error_code

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteRecordsPartitionResult):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.low_watermark == other.low_watermark
            and self.error_code == other.error_code
        )

    def __repr__(self) -> str:
        return f"DeleteRecordsPartitionResult(partition_index={self.partition_index!r}, low_watermark={self.low_watermark!r}, error_code={self.error_code!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
        buf += _pack_iqh(self.partition_index, self.low_watermark, self.error_code)
        if flexible:
            buf.append(0)


def _read_DeleteRecordsPartitionResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteRecordsPartitionResult, int]:
    flexible = version >= 2
    self = DeleteRecordsPartitionResult.__new__(DeleteRecordsPartitionResult)
    self.partition_index, self.low_watermark, self.error_code = _unpack_iqh(buf, pos)
    pos += 14
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DeleteRecordsTopicResult:
    """Part of DeleteRecordsResponse."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[DeleteRecordsPartitionResult]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[DeleteRecordsPartitionResult] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteRecordsTopicResult):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"DeleteRecordsTopicResult(name={self.name!r}, partitions={self.partitions!r})"

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


def _read_DeleteRecordsTopicResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteRecordsTopicResult, int]:
    flexible = version >= 2
    self = DeleteRecordsTopicResult.__new__(DeleteRecordsTopicResult)
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
        raise null_read("DeleteRecordsTopicResult.name")
    stop = pos + n
    if stop > end:
        raise length_read("DeleteRecordsTopicResult.name", n, end - pos)
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
        raise null_read("DeleteRecordsTopicResult.partitions")
    if n * 14 > end - pos:
        raise length_read("DeleteRecordsTopicResult.partitions", n, end - pos)
    l_partitions: list[DeleteRecordsPartitionResult] = []
    for _ in range(n):
        i_partitions, pos = _read_DeleteRecordsPartitionResult(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DeleteRecordsResponse:
    """Versions 0 to 2, flexible from 2."""

    __slots__ = ("throttle_time_ms", "topics")

    API_KEY: ClassVar[int] = 21
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    throttle_time_ms: int
    topics: list[DeleteRecordsTopicResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[DeleteRecordsTopicResult] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteRecordsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"DeleteRecordsResponse(throttle_time_ms={self.throttle_time_ms!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("DeleteRecordsResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
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
            raise encode_failed("DeleteRecordsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DeleteRecordsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("DeleteRecordsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DeleteRecordsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DeleteRecordsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DeleteRecordsResponse", version, error) from error
        if pos > end:
            raise decode_failed("DeleteRecordsResponse", version, "truncated")
        return message, pos


def _read_DeleteRecordsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteRecordsResponse, int]:
    flexible = version >= 2
    self = DeleteRecordsResponse.__new__(DeleteRecordsResponse)
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
        raise null_read("DeleteRecordsResponse.topics")
    if n * 3 > end - pos:
        raise length_read("DeleteRecordsResponse.topics", n, end - pos)
    l_topics: list[DeleteRecordsTopicResult] = []
    for _ in range(n):
        i_topics, pos = _read_DeleteRecordsTopicResult(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
