"""ListPartitionReassignments. Generated from schema/list_partition_reassignments.txt by tools/generate_messages.py; do not edit."""

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


class ListPartitionReassignmentsTopics:
    """Part of ListPartitionReassignmentsRequest."""

    __slots__ = ("name", "partition_indexes")

    name: str
    partition_indexes: list[int]

    def __init__(
        self,
        *,
        name: str = "",
        partition_indexes: list[int] = _EMPTY,
    ) -> None:
        self.name = name
        self.partition_indexes = [] if partition_indexes is _EMPTY else partition_indexes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ListPartitionReassignmentsTopics):
            return NotImplemented
        return (
            self.name == other.name
            and self.partition_indexes == other.partition_indexes
        )

    def __repr__(self) -> str:
        return f"ListPartitionReassignmentsTopics(name={self.name!r}, partition_indexes={self.partition_indexes!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        n = len(self.partition_indexes)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.partition_indexes)
        else:
            buf += _pack_n(f">{n}i", *self.partition_indexes)
        buf.append(0)


def _read_ListPartitionReassignmentsTopics(buf: memoryview, pos: int, end: int, version: int) -> tuple[ListPartitionReassignmentsTopics, int]:
    self = ListPartitionReassignmentsTopics.__new__(ListPartitionReassignmentsTopics)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ListPartitionReassignmentsTopics.name")
    stop = pos + n
    if stop > end:
        raise length_read("ListPartitionReassignmentsTopics.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ListPartitionReassignmentsTopics.partition_indexes")
    if n * 4 > end - pos:
        raise length_read("ListPartitionReassignmentsTopics.partition_indexes", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.partition_indexes = list(INT32_UNPACK[n](buf, pos))
    else:
        self.partition_indexes = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ListPartitionReassignmentsRequest:
    """Version 0."""

    __slots__ = ("timeout_ms", "topics")

    API_KEY: ClassVar[int] = 46
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    timeout_ms: int
    topics: list[ListPartitionReassignmentsTopics] | None

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        topics: list[ListPartitionReassignmentsTopics] | None = None,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.topics = topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ListPartitionReassignmentsRequest):
            return NotImplemented
        return (
            self.timeout_ms == other.timeout_ms
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"ListPartitionReassignmentsRequest(timeout_ms={self.timeout_ms!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ListPartitionReassignmentsRequest", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_i(self.timeout_ms)
            v_topics = self.topics
            if v_topics is None:
                buf.append(0)
            else:
                n = len(v_topics)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_topics in v_topics:
                    i_topics.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ListPartitionReassignmentsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ListPartitionReassignmentsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ListPartitionReassignmentsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ListPartitionReassignmentsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ListPartitionReassignmentsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ListPartitionReassignmentsRequest", version, error) from error
        if pos > end:
            raise decode_failed("ListPartitionReassignmentsRequest", version, "truncated")
        return message, pos


def _read_ListPartitionReassignmentsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[ListPartitionReassignmentsRequest, int]:
    self = ListPartitionReassignmentsRequest.__new__(ListPartitionReassignmentsRequest)
    (self.timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.topics = None
    else:
        if n * 3 > end - pos:
            raise length_read("ListPartitionReassignmentsRequest.topics", n, end - pos)
        l_topics: list[ListPartitionReassignmentsTopics] = []
        for _ in range(n):
            i_topics, pos = _read_ListPartitionReassignmentsTopics(buf, pos, end, version)
            l_topics.append(i_topics)
        self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OngoingPartitionReassignment:
    """Part of ListPartitionReassignmentsResponse."""

    __slots__ = ("partition_index", "replicas", "adding_replicas", "removing_replicas")

    partition_index: int
    replicas: list[int]
    adding_replicas: list[int]
    removing_replicas: list[int]

    def __init__(
        self,
        *,
        partition_index: int = 0,
        replicas: list[int] = _EMPTY,
        adding_replicas: list[int] = _EMPTY,
        removing_replicas: list[int] = _EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.replicas = [] if replicas is _EMPTY else replicas
        self.adding_replicas = [] if adding_replicas is _EMPTY else adding_replicas
        self.removing_replicas = [] if removing_replicas is _EMPTY else removing_replicas

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OngoingPartitionReassignment):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.replicas == other.replicas
            and self.adding_replicas == other.adding_replicas
            and self.removing_replicas == other.removing_replicas
        )

    def __repr__(self) -> str:
        return f"OngoingPartitionReassignment(partition_index={self.partition_index!r}, replicas={self.replicas!r}, adding_replicas={self.adding_replicas!r}, removing_replicas={self.removing_replicas!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_i(self.partition_index)
        n = len(self.replicas)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.replicas)
        else:
            buf += _pack_n(f">{n}i", *self.replicas)
        n = len(self.adding_replicas)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.adding_replicas)
        else:
            buf += _pack_n(f">{n}i", *self.adding_replicas)
        n = len(self.removing_replicas)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.removing_replicas)
        else:
            buf += _pack_n(f">{n}i", *self.removing_replicas)
        buf.append(0)


def _read_OngoingPartitionReassignment(buf: memoryview, pos: int, end: int, version: int) -> tuple[OngoingPartitionReassignment, int]:
    self = OngoingPartitionReassignment.__new__(OngoingPartitionReassignment)
    (self.partition_index,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("OngoingPartitionReassignment.replicas")
    if n * 4 > end - pos:
        raise length_read("OngoingPartitionReassignment.replicas", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.replicas = list(INT32_UNPACK[n](buf, pos))
    else:
        self.replicas = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("OngoingPartitionReassignment.adding_replicas")
    if n * 4 > end - pos:
        raise length_read("OngoingPartitionReassignment.adding_replicas", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.adding_replicas = list(INT32_UNPACK[n](buf, pos))
    else:
        self.adding_replicas = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("OngoingPartitionReassignment.removing_replicas")
    if n * 4 > end - pos:
        raise length_read("OngoingPartitionReassignment.removing_replicas", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.removing_replicas = list(INT32_UNPACK[n](buf, pos))
    else:
        self.removing_replicas = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OngoingTopicReassignment:
    """Part of ListPartitionReassignmentsResponse."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[OngoingPartitionReassignment]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[OngoingPartitionReassignment] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OngoingTopicReassignment):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"OngoingTopicReassignment(name={self.name!r}, partitions={self.partitions!r})"

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


def _read_OngoingTopicReassignment(buf: memoryview, pos: int, end: int, version: int) -> tuple[OngoingTopicReassignment, int]:
    self = OngoingTopicReassignment.__new__(OngoingTopicReassignment)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("OngoingTopicReassignment.name")
    stop = pos + n
    if stop > end:
        raise length_read("OngoingTopicReassignment.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("OngoingTopicReassignment.partitions")
    if n * 8 > end - pos:
        raise length_read("OngoingTopicReassignment.partitions", n, end - pos)
    l_partitions: list[OngoingPartitionReassignment] = []
    for _ in range(n):
        i_partitions, pos = _read_OngoingPartitionReassignment(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ListPartitionReassignmentsResponse:
    """Version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "topics")

    API_KEY: ClassVar[int] = 46
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    topics: list[OngoingTopicReassignment]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        topics: list[OngoingTopicReassignment] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ListPartitionReassignmentsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"ListPartitionReassignmentsResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ListPartitionReassignmentsResponse", version, "no such version")
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
            n = len(self.topics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_topics in self.topics:
                i_topics.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ListPartitionReassignmentsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ListPartitionReassignmentsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ListPartitionReassignmentsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ListPartitionReassignmentsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ListPartitionReassignmentsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ListPartitionReassignmentsResponse", version, error) from error
        if pos > end:
            raise decode_failed("ListPartitionReassignmentsResponse", version, "truncated")
        return message, pos


def _read_ListPartitionReassignmentsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ListPartitionReassignmentsResponse, int]:
    self = ListPartitionReassignmentsResponse.__new__(ListPartitionReassignmentsResponse)
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
            raise length_read("ListPartitionReassignmentsResponse.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ListPartitionReassignmentsResponse.topics")
    if n * 3 > end - pos:
        raise length_read("ListPartitionReassignmentsResponse.topics", n, end - pos)
    l_topics: list[OngoingTopicReassignment] = []
    for _ in range(n):
        i_topics, pos = _read_OngoingTopicReassignment(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
