"""DescribeTopicPartitions. Generated from schema/describe_topic_partitions.txt by tools/generate_messages.py; do not edit."""

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
_pack_uz = Struct(">16s?").pack
_unpack_uz = Struct(">16s?").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_h3i = Struct(">hiii").pack
_unpack_h3i = Struct(">hiii").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from


class TopicRequest:
    """Part of DescribeTopicPartitionsRequest."""

    __slots__ = ("name",)

    name: str

    def __init__(
        self,
        *,
        name: str = "",
    ) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TopicRequest):
            return NotImplemented
        return (
            self.name == other.name
        )

    def __repr__(self) -> str:
        return f"TopicRequest(name={self.name!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf.append(0)


def _read_TopicRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[TopicRequest, int]:
    self = TopicRequest.__new__(TopicRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicRequest.name")
    stop = pos + n
    if stop > end:
        raise length_read("TopicRequest.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeTopicPartitionsRequestCursor:
    """Part of DescribeTopicPartitionsRequest."""

    __slots__ = ("topic_name", "partition_index")

    topic_name: str
    partition_index: int

    def __init__(
        self,
        *,
        topic_name: str = "",
        partition_index: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeTopicPartitionsRequestCursor):
            return NotImplemented
        return (
            self.topic_name == other.topic_name
            and self.partition_index == other.partition_index
        )

    def __repr__(self) -> str:
        return f"DescribeTopicPartitionsRequestCursor(topic_name={self.topic_name!r}, partition_index={self.partition_index!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.topic_name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_i(self.partition_index)
        buf.append(0)


def _read_DescribeTopicPartitionsRequestCursor(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeTopicPartitionsRequestCursor, int]:
    self = DescribeTopicPartitionsRequestCursor.__new__(DescribeTopicPartitionsRequestCursor)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeTopicPartitionsRequestCursor.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeTopicPartitionsRequestCursor.topic_name", n, end - pos)
    self.topic_name = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.partition_index,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeTopicPartitionsRequest:
    """Version 0."""

    __slots__ = ("topics", "response_partition_limit", "cursor")

    API_KEY: ClassVar[int] = 75
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    topics: list[TopicRequest]
    response_partition_limit: int
    cursor: DescribeTopicPartitionsRequestCursor | None

    def __init__(
        self,
        *,
        topics: list[TopicRequest] = _EMPTY,
        response_partition_limit: int = 2000,
        cursor: DescribeTopicPartitionsRequestCursor | None = None,
    ) -> None:
        self.topics = [] if topics is _EMPTY else topics
        self.response_partition_limit = response_partition_limit
        self.cursor = cursor

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeTopicPartitionsRequest):
            return NotImplemented
        return (
            self.topics == other.topics
            and self.response_partition_limit == other.response_partition_limit
            and self.cursor == other.cursor
        )

    def __repr__(self) -> str:
        return f"DescribeTopicPartitionsRequest(topics={self.topics!r}, response_partition_limit={self.response_partition_limit!r}, cursor={self.cursor!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("DescribeTopicPartitionsRequest", version, "no such version")
        try:
            buf = out.buf
            n = len(self.topics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_topics in self.topics:
                i_topics.encode(out, version)
            buf += _pack_i(self.response_partition_limit)
            v_cursor = self.cursor
            if v_cursor is None:
                buf.append(255)
            else:
                buf.append(1)
                v_cursor.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeTopicPartitionsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeTopicPartitionsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("DescribeTopicPartitionsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeTopicPartitionsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeTopicPartitionsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeTopicPartitionsRequest", version, error) from error
        if pos > end:
            raise decode_failed("DescribeTopicPartitionsRequest", version, "truncated")
        return message, pos


def _read_DescribeTopicPartitionsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeTopicPartitionsRequest, int]:
    self = DescribeTopicPartitionsRequest.__new__(DescribeTopicPartitionsRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeTopicPartitionsRequest.topics")
    if n * 2 > end - pos:
        raise length_read("DescribeTopicPartitionsRequest.topics", n, end - pos)
    l_topics: list[TopicRequest] = []
    for _ in range(n):
        i_topics, pos = _read_TopicRequest(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    (self.response_partition_limit,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] > 127:
        pos += 1
        self.cursor = None
    else:
        self.cursor, pos = _read_DescribeTopicPartitionsRequestCursor(buf, pos + 1, end, version)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeTopicPartitionsResponsePartition:
    """Part of DescribeTopicPartitionsResponse."""

    __slots__ = ("error_code", "partition_index", "leader_id", "leader_epoch", "replica_nodes", "isr_nodes", "eligible_leader_replicas", "last_known_elr", "offline_replicas")

    error_code: int
    partition_index: int
    leader_id: int
    leader_epoch: int
    replica_nodes: list[int]
    isr_nodes: list[int]
    eligible_leader_replicas: list[int] | None
    last_known_elr: list[int] | None
    offline_replicas: list[int]

    def __init__(
        self,
        *,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: list[int] = _EMPTY,
        isr_nodes: list[int] = _EMPTY,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
        offline_replicas: list[int] = _EMPTY,
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = [] if replica_nodes is _EMPTY else replica_nodes
        self.isr_nodes = [] if isr_nodes is _EMPTY else isr_nodes
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.offline_replicas = [] if offline_replicas is _EMPTY else offline_replicas

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeTopicPartitionsResponsePartition):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.partition_index == other.partition_index
            and self.leader_id == other.leader_id
            and self.leader_epoch == other.leader_epoch
            and self.replica_nodes == other.replica_nodes
            and self.isr_nodes == other.isr_nodes
            and self.eligible_leader_replicas == other.eligible_leader_replicas
            and self.last_known_elr == other.last_known_elr
            and self.offline_replicas == other.offline_replicas
        )

    def __repr__(self) -> str:
        return f"DescribeTopicPartitionsResponsePartition(error_code={self.error_code!r}, partition_index={self.partition_index!r}, leader_id={self.leader_id!r}, leader_epoch={self.leader_epoch!r}, replica_nodes={self.replica_nodes!r}, isr_nodes={self.isr_nodes!r}, eligible_leader_replicas={self.eligible_leader_replicas!r}, last_known_elr={self.last_known_elr!r}, offline_replicas={self.offline_replicas!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_h3i(self.error_code, self.partition_index, self.leader_id, self.leader_epoch)
        n = len(self.replica_nodes)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.replica_nodes)
        else:
            buf += _pack_n(f">{n}i", *self.replica_nodes)
        n = len(self.isr_nodes)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.isr_nodes)
        else:
            buf += _pack_n(f">{n}i", *self.isr_nodes)
        v_eligible_leader_replicas = self.eligible_leader_replicas
        if v_eligible_leader_replicas is None:
            buf.append(0)
        else:
            n = len(v_eligible_leader_replicas)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            if n < INT32_ARRAY_SHORT:
                buf += INT32_PACK[n](*v_eligible_leader_replicas)
            else:
                buf += _pack_n(f">{n}i", *v_eligible_leader_replicas)
        v_last_known_elr = self.last_known_elr
        if v_last_known_elr is None:
            buf.append(0)
        else:
            n = len(v_last_known_elr)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            if n < INT32_ARRAY_SHORT:
                buf += INT32_PACK[n](*v_last_known_elr)
            else:
                buf += _pack_n(f">{n}i", *v_last_known_elr)
        n = len(self.offline_replicas)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.offline_replicas)
        else:
            buf += _pack_n(f">{n}i", *self.offline_replicas)
        buf.append(0)


def _read_DescribeTopicPartitionsResponsePartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeTopicPartitionsResponsePartition, int]:
    self = DescribeTopicPartitionsResponsePartition.__new__(DescribeTopicPartitionsResponsePartition)
    self.error_code, self.partition_index, self.leader_id, self.leader_epoch = _unpack_h3i(buf, pos)
    pos += 14
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeTopicPartitionsResponsePartition.replica_nodes")
    if n * 4 > end - pos:
        raise length_read("DescribeTopicPartitionsResponsePartition.replica_nodes", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.replica_nodes = list(INT32_UNPACK[n](buf, pos))
    else:
        self.replica_nodes = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeTopicPartitionsResponsePartition.isr_nodes")
    if n * 4 > end - pos:
        raise length_read("DescribeTopicPartitionsResponsePartition.isr_nodes", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.isr_nodes = list(INT32_UNPACK[n](buf, pos))
    else:
        self.isr_nodes = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.eligible_leader_replicas = None
    else:
        if n * 4 > end - pos:
            raise length_read("DescribeTopicPartitionsResponsePartition.eligible_leader_replicas", n, end - pos)
        if n < INT32_ARRAY_SHORT:
            self.eligible_leader_replicas = list(INT32_UNPACK[n](buf, pos))
        else:
            self.eligible_leader_replicas = list(_unpack_n(f">{n}i", buf, pos))
        pos += n * 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.last_known_elr = None
    else:
        if n * 4 > end - pos:
            raise length_read("DescribeTopicPartitionsResponsePartition.last_known_elr", n, end - pos)
        if n < INT32_ARRAY_SHORT:
            self.last_known_elr = list(INT32_UNPACK[n](buf, pos))
        else:
            self.last_known_elr = list(_unpack_n(f">{n}i", buf, pos))
        pos += n * 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeTopicPartitionsResponsePartition.offline_replicas")
    if n * 4 > end - pos:
        raise length_read("DescribeTopicPartitionsResponsePartition.offline_replicas", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.offline_replicas = list(INT32_UNPACK[n](buf, pos))
    else:
        self.offline_replicas = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeTopicPartitionsResponseTopic:
    """Part of DescribeTopicPartitionsResponse."""

    __slots__ = ("error_code", "name", "topic_id", "is_internal", "partitions", "topic_authorized_operations")

    error_code: int
    name: str | None
    topic_id: bytes
    is_internal: bool
    partitions: list[DescribeTopicPartitionsResponsePartition]
    topic_authorized_operations: int

    def __init__(
        self,
        *,
        error_code: int = 0,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        is_internal: bool = False,
        partitions: list[DescribeTopicPartitionsResponsePartition] = _EMPTY,
        topic_authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = [] if partitions is _EMPTY else partitions
        self.topic_authorized_operations = topic_authorized_operations

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeTopicPartitionsResponseTopic):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.name == other.name
            and self.topic_id == other.topic_id
            and self.is_internal == other.is_internal
            and self.partitions == other.partitions
            and self.topic_authorized_operations == other.topic_authorized_operations
        )

    def __repr__(self) -> str:
        return f"DescribeTopicPartitionsResponseTopic(error_code={self.error_code!r}, name={self.name!r}, topic_id={self.topic_id!r}, is_internal={self.is_internal!r}, partitions={self.partitions!r}, topic_authorized_operations={self.topic_authorized_operations!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_h(self.error_code)
        v_name = self.name
        if v_name is None:
            buf.append(0)
        else:
            data = v_name.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
        if len(self.topic_id) != 16:
            raise uuid_written("DescribeTopicPartitionsResponseTopic.topic_id")
        buf += _pack_uz(self.topic_id, self.is_internal)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        buf += _pack_i(self.topic_authorized_operations)
        buf.append(0)


def _read_DescribeTopicPartitionsResponseTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeTopicPartitionsResponseTopic, int]:
    self = DescribeTopicPartitionsResponseTopic.__new__(DescribeTopicPartitionsResponseTopic)
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.name = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("DescribeTopicPartitionsResponseTopic.name", n, end - pos)
        self.name = str(buf[pos:stop], "utf-8")
        pos = stop
    self.topic_id, self.is_internal = _unpack_uz(buf, pos)
    pos += 17
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeTopicPartitionsResponseTopic.partitions")
    if n * 20 > end - pos:
        raise length_read("DescribeTopicPartitionsResponseTopic.partitions", n, end - pos)
    l_partitions: list[DescribeTopicPartitionsResponsePartition] = []
    for _ in range(n):
        i_partitions, pos = _read_DescribeTopicPartitionsResponsePartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    (self.topic_authorized_operations,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeTopicPartitionsResponseCursor:
    """Part of DescribeTopicPartitionsResponse."""

    __slots__ = ("topic_name", "partition_index")

    topic_name: str
    partition_index: int

    def __init__(
        self,
        *,
        topic_name: str = "",
        partition_index: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeTopicPartitionsResponseCursor):
            return NotImplemented
        return (
            self.topic_name == other.topic_name
            and self.partition_index == other.partition_index
        )

    def __repr__(self) -> str:
        return f"DescribeTopicPartitionsResponseCursor(topic_name={self.topic_name!r}, partition_index={self.partition_index!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.topic_name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_i(self.partition_index)
        buf.append(0)


def _read_DescribeTopicPartitionsResponseCursor(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeTopicPartitionsResponseCursor, int]:
    self = DescribeTopicPartitionsResponseCursor.__new__(DescribeTopicPartitionsResponseCursor)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeTopicPartitionsResponseCursor.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeTopicPartitionsResponseCursor.topic_name", n, end - pos)
    self.topic_name = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.partition_index,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeTopicPartitionsResponse:
    """Version 0."""

    __slots__ = ("throttle_time_ms", "topics", "next_cursor")

    API_KEY: ClassVar[int] = 75
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    topics: list[DescribeTopicPartitionsResponseTopic]
    next_cursor: DescribeTopicPartitionsResponseCursor | None

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[DescribeTopicPartitionsResponseTopic] = _EMPTY,
        next_cursor: DescribeTopicPartitionsResponseCursor | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is _EMPTY else topics
        self.next_cursor = next_cursor

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeTopicPartitionsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.topics == other.topics
            and self.next_cursor == other.next_cursor
        )

    def __repr__(self) -> str:
        return f"DescribeTopicPartitionsResponse(throttle_time_ms={self.throttle_time_ms!r}, topics={self.topics!r}, next_cursor={self.next_cursor!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("DescribeTopicPartitionsResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_i(self.throttle_time_ms)
            n = len(self.topics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_topics in self.topics:
                i_topics.encode(out, version)
            v_next_cursor = self.next_cursor
            if v_next_cursor is None:
                buf.append(255)
            else:
                buf.append(1)
                v_next_cursor.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeTopicPartitionsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeTopicPartitionsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("DescribeTopicPartitionsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeTopicPartitionsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeTopicPartitionsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeTopicPartitionsResponse", version, error) from error
        if pos > end:
            raise decode_failed("DescribeTopicPartitionsResponse", version, "truncated")
        return message, pos


def _read_DescribeTopicPartitionsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeTopicPartitionsResponse, int]:
    self = DescribeTopicPartitionsResponse.__new__(DescribeTopicPartitionsResponse)
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeTopicPartitionsResponse.topics")
    if n * 26 > end - pos:
        raise length_read("DescribeTopicPartitionsResponse.topics", n, end - pos)
    l_topics: list[DescribeTopicPartitionsResponseTopic] = []
    for _ in range(n):
        i_topics, pos = _read_DescribeTopicPartitionsResponseTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] > 127:
        pos += 1
        self.next_cursor = None
    else:
        self.next_cursor, pos = _read_DescribeTopicPartitionsResponseCursor(buf, pos + 1, end, version)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
