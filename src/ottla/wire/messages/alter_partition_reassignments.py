"""AlterPartitionReassignments. Generated from schema/alter_partition_reassignments.txt by tools/generate_messages.py; do not edit."""

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
_pack_z = Struct(">?").pack
_unpack_z = Struct(">?").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from


class ReassignablePartition:
    """Part of AlterPartitionReassignmentsRequest."""

    __slots__ = ("partition_index", "replicas")

    partition_index: int
    replicas: list[int] | None

    def __init__(
        self,
        *,
        partition_index: int = 0,
        replicas: list[int] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.replicas = replicas

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReassignablePartition):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.replicas == other.replicas
        )

    def __repr__(self) -> str:
        return f"ReassignablePartition(partition_index={self.partition_index!r}, replicas={self.replicas!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_i(self.partition_index)
        v_replicas = self.replicas
        if v_replicas is None:
            buf.append(0)
        else:
            n = len(v_replicas)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            if n < INT32_ARRAY_SHORT:
                buf += INT32_PACK[n](*v_replicas)
            else:
                buf += _pack_n(f">{n}i", *v_replicas)
        buf.append(0)


def _read_ReassignablePartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[ReassignablePartition, int]:
    self = ReassignablePartition.__new__(ReassignablePartition)
    (self.partition_index,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.replicas = None
    else:
        if n * 4 > end - pos:
            raise length_read("ReassignablePartition.replicas", n, end - pos)
        if n < INT32_ARRAY_SHORT:
            self.replicas = list(INT32_UNPACK[n](buf, pos))
        else:
            self.replicas = list(_unpack_n(f">{n}i", buf, pos))
        pos += n * 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ReassignableTopic:
    """Part of AlterPartitionReassignmentsRequest."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[ReassignablePartition]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[ReassignablePartition] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReassignableTopic):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"ReassignableTopic(name={self.name!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
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


def _read_ReassignableTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[ReassignableTopic, int]:
    self = ReassignableTopic.__new__(ReassignableTopic)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ReassignableTopic.name")
    stop = pos + n
    if stop > end:
        raise length_read("ReassignableTopic.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ReassignableTopic.partitions")
    if n * 6 > end - pos:
        raise length_read("ReassignableTopic.partitions", n, end - pos)
    l_partitions: list[ReassignablePartition] = []
    for _ in range(n):
        i_partitions, pos = _read_ReassignablePartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterPartitionReassignmentsRequest:
    """Versions 0 to 1."""

    __slots__ = ("timeout_ms", "allow_replication_factor_change", "topics")

    API_KEY: ClassVar[int] = 45
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    timeout_ms: int
    allow_replication_factor_change: bool
    topics: list[ReassignableTopic]

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        allow_replication_factor_change: bool = True,
        topics: list[ReassignableTopic] = _EMPTY,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterPartitionReassignmentsRequest):
            return NotImplemented
        return (
            self.timeout_ms == other.timeout_ms
            and self.allow_replication_factor_change == other.allow_replication_factor_change
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"AlterPartitionReassignmentsRequest(timeout_ms={self.timeout_ms!r}, allow_replication_factor_change={self.allow_replication_factor_change!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("AlterPartitionReassignmentsRequest", version, "no such version")
        try:
            if version < 1:
                if not self.allow_replication_factor_change:
                    raise field_unsupported("AlterPartitionReassignmentsRequest.allow_replication_factor_change", version)
            buf = out.buf
            buf += _pack_i(self.timeout_ms)
            if version >= 1:
                buf += _pack_z(self.allow_replication_factor_change)
            n = len(self.topics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_topics in self.topics:
                i_topics.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AlterPartitionReassignmentsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AlterPartitionReassignmentsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("AlterPartitionReassignmentsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AlterPartitionReassignmentsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AlterPartitionReassignmentsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AlterPartitionReassignmentsRequest", version, error) from error
        if pos > end:
            raise decode_failed("AlterPartitionReassignmentsRequest", version, "truncated")
        return message, pos


def _read_AlterPartitionReassignmentsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterPartitionReassignmentsRequest, int]:
    self = AlterPartitionReassignmentsRequest.__new__(AlterPartitionReassignmentsRequest)
    (self.timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    if version >= 1:
        self.allow_replication_factor_change = buf[pos] != 0
        pos += 1
    else:
        self.allow_replication_factor_change = True
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AlterPartitionReassignmentsRequest.topics")
    if n * 3 > end - pos:
        raise length_read("AlterPartitionReassignmentsRequest.topics", n, end - pos)
    l_topics: list[ReassignableTopic] = []
    for _ in range(n):
        i_topics, pos = _read_ReassignableTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ReassignablePartitionResponse:
    """Part of AlterPartitionReassignmentsResponse."""

    __slots__ = ("partition_index", "error_code", "error_message")

    partition_index: int
    error_code: int
    error_message: str | None

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReassignablePartitionResponse):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.error_code == other.error_code
            and self.error_message == other.error_message
        )

    def __repr__(self) -> str:
        return f"ReassignablePartitionResponse(partition_index={self.partition_index!r}, error_code={self.error_code!r}, error_message={self.error_message!r})"

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


def _read_ReassignablePartitionResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ReassignablePartitionResponse, int]:
    self = ReassignablePartitionResponse.__new__(ReassignablePartitionResponse)
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
            raise length_read("ReassignablePartitionResponse.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ReassignableTopicResponse:
    """Part of AlterPartitionReassignmentsResponse."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[ReassignablePartitionResponse]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[ReassignablePartitionResponse] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReassignableTopicResponse):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"ReassignableTopicResponse(name={self.name!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
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


def _read_ReassignableTopicResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ReassignableTopicResponse, int]:
    self = ReassignableTopicResponse.__new__(ReassignableTopicResponse)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ReassignableTopicResponse.name")
    stop = pos + n
    if stop > end:
        raise length_read("ReassignableTopicResponse.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ReassignableTopicResponse.partitions")
    if n * 8 > end - pos:
        raise length_read("ReassignableTopicResponse.partitions", n, end - pos)
    l_partitions: list[ReassignablePartitionResponse] = []
    for _ in range(n):
        i_partitions, pos = _read_ReassignablePartitionResponse(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterPartitionReassignmentsResponse:
    """Versions 0 to 1."""

    __slots__ = ("throttle_time_ms", "allow_replication_factor_change", "error_code", "error_message", "responses")

    API_KEY: ClassVar[int] = 45
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    allow_replication_factor_change: bool
    error_code: int
    error_message: str | None
    responses: list[ReassignableTopicResponse]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        allow_replication_factor_change: bool = True,
        error_code: int = 0,
        error_message: str | None = "",
        responses: list[ReassignableTopicResponse] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.error_code = error_code
        self.error_message = error_message
        self.responses = [] if responses is _EMPTY else responses

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterPartitionReassignmentsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.allow_replication_factor_change == other.allow_replication_factor_change
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.responses == other.responses
        )

    def __repr__(self) -> str:
        return f"AlterPartitionReassignmentsResponse(throttle_time_ms={self.throttle_time_ms!r}, allow_replication_factor_change={self.allow_replication_factor_change!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, responses={self.responses!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("AlterPartitionReassignmentsResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_i(self.throttle_time_ms)
            if version >= 1:
                buf += _pack_z(self.allow_replication_factor_change)
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
            n = len(self.responses)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_responses in self.responses:
                i_responses.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AlterPartitionReassignmentsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AlterPartitionReassignmentsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("AlterPartitionReassignmentsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AlterPartitionReassignmentsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AlterPartitionReassignmentsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AlterPartitionReassignmentsResponse", version, error) from error
        if pos > end:
            raise decode_failed("AlterPartitionReassignmentsResponse", version, "truncated")
        return message, pos


def _read_AlterPartitionReassignmentsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterPartitionReassignmentsResponse, int]:
    self = AlterPartitionReassignmentsResponse.__new__(AlterPartitionReassignmentsResponse)
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    if version >= 1:
        self.allow_replication_factor_change = buf[pos] != 0
        pos += 1
    else:
        self.allow_replication_factor_change = True
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
            raise length_read("AlterPartitionReassignmentsResponse.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AlterPartitionReassignmentsResponse.responses")
    if n * 3 > end - pos:
        raise length_read("AlterPartitionReassignmentsResponse.responses", n, end - pos)
    l_responses: list[ReassignableTopicResponse] = []
    for _ in range(n):
        i_responses, pos = _read_ReassignableTopicResponse(buf, pos, end, version)
        l_responses.append(i_responses)
    self.responses = l_responses
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
