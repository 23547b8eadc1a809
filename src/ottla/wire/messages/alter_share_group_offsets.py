"""AlterShareGroupOffsets. Generated from schema/alter_share_group_offsets.txt by tools/generate_messages.py; do not edit."""

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


class AlterShareGroupOffsetsRequestPartition:
    """Part of AlterShareGroupOffsetsRequest."""

    __slots__ = ("partition_index", "start_offset")

    partition_index: int
    start_offset: int

    def __init__(
        self,
        *,
        partition_index: int = 0,
        start_offset: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.start_offset = start_offset

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterShareGroupOffsetsRequestPartition):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.start_offset == other.start_offset
        )

    def __repr__(self) -> str:
        return f"AlterShareGroupOffsetsRequestPartition(partition_index={self.partition_index!r}, start_offset={self.start_offset!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_iq(self.partition_index, self.start_offset)
        buf.append(0)


def _read_AlterShareGroupOffsetsRequestPartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterShareGroupOffsetsRequestPartition, int]:
    self = AlterShareGroupOffsetsRequestPartition.__new__(AlterShareGroupOffsetsRequestPartition)
    self.partition_index, self.start_offset = _unpack_iq(buf, pos)
    pos += 12
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterShareGroupOffsetsRequestTopic:
    """Part of AlterShareGroupOffsetsRequest."""

    __slots__ = ("topic_name", "partitions")

    topic_name: str
    partitions: list[AlterShareGroupOffsetsRequestPartition]

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[AlterShareGroupOffsetsRequestPartition] = _EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterShareGroupOffsetsRequestTopic):
            return NotImplemented
        return (
            self.topic_name == other.topic_name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"AlterShareGroupOffsetsRequestTopic(topic_name={self.topic_name!r}, partitions={self.partitions!r})"

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
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        buf.append(0)


def _read_AlterShareGroupOffsetsRequestTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterShareGroupOffsetsRequestTopic, int]:
    self = AlterShareGroupOffsetsRequestTopic.__new__(AlterShareGroupOffsetsRequestTopic)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AlterShareGroupOffsetsRequestTopic.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("AlterShareGroupOffsetsRequestTopic.topic_name", n, end - pos)
    self.topic_name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AlterShareGroupOffsetsRequestTopic.partitions")
    if n * 13 > end - pos:
        raise length_read("AlterShareGroupOffsetsRequestTopic.partitions", n, end - pos)
    l_partitions: list[AlterShareGroupOffsetsRequestPartition] = []
    for _ in range(n):
        i_partitions, pos = _read_AlterShareGroupOffsetsRequestPartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterShareGroupOffsetsRequest:
    """Version 0."""

    __slots__ = ("group_id", "topics")

    API_KEY: ClassVar[int] = 91
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    group_id: str
    topics: list[AlterShareGroupOffsetsRequestTopic]

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[AlterShareGroupOffsetsRequestTopic] = _EMPTY,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterShareGroupOffsetsRequest):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"AlterShareGroupOffsetsRequest(group_id={self.group_id!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("AlterShareGroupOffsetsRequest", version, "no such version")
        try:
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
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AlterShareGroupOffsetsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AlterShareGroupOffsetsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("AlterShareGroupOffsetsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AlterShareGroupOffsetsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AlterShareGroupOffsetsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AlterShareGroupOffsetsRequest", version, error) from error
        if pos > end:
            raise decode_failed("AlterShareGroupOffsetsRequest", version, "truncated")
        return message, pos


def _read_AlterShareGroupOffsetsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterShareGroupOffsetsRequest, int]:
    self = AlterShareGroupOffsetsRequest.__new__(AlterShareGroupOffsetsRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AlterShareGroupOffsetsRequest.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("AlterShareGroupOffsetsRequest.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AlterShareGroupOffsetsRequest.topics")
    if n * 3 > end - pos:
        raise length_read("AlterShareGroupOffsetsRequest.topics", n, end - pos)
    l_topics: list[AlterShareGroupOffsetsRequestTopic] = []
    for _ in range(n):
        i_topics, pos = _read_AlterShareGroupOffsetsRequestTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterShareGroupOffsetsResponsePartition:
    """Part of AlterShareGroupOffsetsResponse."""

    __slots__ = ("partition_index", "error_code", "error_message")

    partition_index: int
    error_code: int
    error_message: str | None

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterShareGroupOffsetsResponsePartition):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.error_code == other.error_code
            and self.error_message == other.error_message
        )

    def __repr__(self) -> str:
        return f"AlterShareGroupOffsetsResponsePartition(partition_index={self.partition_index!r}, error_code={self.error_code!r}, error_message={self.error_message!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_ih(self.partition_index, self.error_code)
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


def _read_AlterShareGroupOffsetsResponsePartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterShareGroupOffsetsResponsePartition, int]:
    self = AlterShareGroupOffsetsResponsePartition.__new__(AlterShareGroupOffsetsResponsePartition)
    self.partition_index, self.error_code = _unpack_ih(buf, pos)
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
            raise length_read("AlterShareGroupOffsetsResponsePartition.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterShareGroupOffsetsResponseTopic:
    """Part of AlterShareGroupOffsetsResponse."""

    __slots__ = ("topic_name", "topic_id", "partitions")

    topic_name: str
    topic_id: bytes
    partitions: list[AlterShareGroupOffsetsResponsePartition]

    def __init__(
        self,
        *,
        topic_name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[AlterShareGroupOffsetsResponsePartition] = _EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterShareGroupOffsetsResponseTopic):
            return NotImplemented
        return (
            self.topic_name == other.topic_name
            and self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"AlterShareGroupOffsetsResponseTopic(topic_name={self.topic_name!r}, topic_id={self.topic_id!r}, partitions={self.partitions!r})"

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
            raise uuid_written("AlterShareGroupOffsetsResponseTopic.topic_id")
        buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        buf.append(0)


def _read_AlterShareGroupOffsetsResponseTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterShareGroupOffsetsResponseTopic, int]:
    self = AlterShareGroupOffsetsResponseTopic.__new__(AlterShareGroupOffsetsResponseTopic)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AlterShareGroupOffsetsResponseTopic.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("AlterShareGroupOffsetsResponseTopic.topic_name", n, end - pos)
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
        raise null_read("AlterShareGroupOffsetsResponseTopic.partitions")
    if n * 8 > end - pos:
        raise length_read("AlterShareGroupOffsetsResponseTopic.partitions", n, end - pos)
    l_partitions: list[AlterShareGroupOffsetsResponsePartition] = []
    for _ in range(n):
        i_partitions, pos = _read_AlterShareGroupOffsetsResponsePartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterShareGroupOffsetsResponse:
    """Version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "responses")

    API_KEY: ClassVar[int] = 91
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    responses: list[AlterShareGroupOffsetsResponseTopic]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        responses: list[AlterShareGroupOffsetsResponseTopic] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.responses = [] if responses is _EMPTY else responses

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterShareGroupOffsetsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.responses == other.responses
        )

    def __repr__(self) -> str:
        return f"AlterShareGroupOffsetsResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, responses={self.responses!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("AlterShareGroupOffsetsResponse", version, "no such version")
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
            n = len(self.responses)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_responses in self.responses:
                i_responses.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AlterShareGroupOffsetsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AlterShareGroupOffsetsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("AlterShareGroupOffsetsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AlterShareGroupOffsetsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AlterShareGroupOffsetsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AlterShareGroupOffsetsResponse", version, error) from error
        if pos > end:
            raise decode_failed("AlterShareGroupOffsetsResponse", version, "truncated")
        return message, pos


def _read_AlterShareGroupOffsetsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterShareGroupOffsetsResponse, int]:
    self = AlterShareGroupOffsetsResponse.__new__(AlterShareGroupOffsetsResponse)
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
            raise length_read("AlterShareGroupOffsetsResponse.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AlterShareGroupOffsetsResponse.responses")
    if n * 19 > end - pos:
        raise length_read("AlterShareGroupOffsetsResponse.responses", n, end - pos)
    l_responses: list[AlterShareGroupOffsetsResponseTopic] = []
    for _ in range(n):
        i_responses, pos = _read_AlterShareGroupOffsetsResponseTopic(buf, pos, end, version)
        l_responses.append(i_responses)
    self.responses = l_responses
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
