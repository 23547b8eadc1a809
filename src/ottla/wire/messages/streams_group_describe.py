"""StreamsGroupDescribe. Generated from schema/streams_group_describe.txt by tools/generate_messages.py; do not edit."""

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
_pack_z = Struct(">?").pack
_unpack_z = Struct(">?").unpack_from
_pack_H = Struct(">H").pack
_unpack_H = Struct(">H").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from
_pack_2i = Struct(">ii").pack
_unpack_2i = Struct(">ii").unpack_from
_pack_iq = Struct(">iq").pack
_unpack_iq = Struct(">iq").unpack_from


class StreamsGroupDescribeRequest:
    """Version 0."""

    __slots__ = ("group_ids", "include_authorized_operations")

    API_KEY: ClassVar[int] = 89
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    group_ids: list[str]
    include_authorized_operations: bool

    def __init__(
        self,
        *,
        group_ids: list[str] = _EMPTY,
        include_authorized_operations: bool = False,
    ) -> None:
        self.group_ids = [] if group_ids is _EMPTY else group_ids
        self.include_authorized_operations = include_authorized_operations

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsGroupDescribeRequest):
            return NotImplemented
        return (
            self.group_ids == other.group_ids
            and self.include_authorized_operations == other.include_authorized_operations
        )

    def __repr__(self) -> str:
        return f"StreamsGroupDescribeRequest(group_ids={self.group_ids!r}, include_authorized_operations={self.include_authorized_operations!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("StreamsGroupDescribeRequest", version, "no such version")
        try:
            buf = out.buf
            n = len(self.group_ids)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_group_ids in self.group_ids:
                data = i_group_ids.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            buf += _pack_z(self.include_authorized_operations)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("StreamsGroupDescribeRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[StreamsGroupDescribeRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("StreamsGroupDescribeRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("StreamsGroupDescribeRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_StreamsGroupDescribeRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("StreamsGroupDescribeRequest", version, error) from error
        if pos > end:
            raise decode_failed("StreamsGroupDescribeRequest", version, "truncated")
        return message, pos


def _read_StreamsGroupDescribeRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupDescribeRequest, int]:
    self = StreamsGroupDescribeRequest.__new__(StreamsGroupDescribeRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupDescribeRequest.group_ids")
    if n > end - pos:
        raise length_read("StreamsGroupDescribeRequest.group_ids", n, end - pos)
    l_group_ids: list[str] = []
    for _ in range(n):
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("StreamsGroupDescribeRequest.group_ids")
        stop = pos + n
        if stop > end:
            raise length_read("StreamsGroupDescribeRequest.group_ids", n, end - pos)
        l_group_ids.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.group_ids = l_group_ids
    self.include_authorized_operations = buf[pos] != 0
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class KeyValue:
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("key", "value")

    key: str
    value: str

    def __init__(
        self,
        *,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key = key
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeyValue):
            return NotImplemented
        return (
            self.key == other.key
            and self.value == other.value
        )

    def __repr__(self) -> str:
        return f"KeyValue(key={self.key!r}, value={self.value!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.key.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        data = self.value.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf.append(0)


def _read_KeyValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[KeyValue, int]:
    self = KeyValue.__new__(KeyValue)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("KeyValue.key")
    stop = pos + n
    if stop > end:
        raise length_read("KeyValue.key", n, end - pos)
    self.key = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("KeyValue.value")
    stop = pos + n
    if stop > end:
        raise length_read("KeyValue.value", n, end - pos)
    self.value = str(buf[pos:stop], "utf-8")
    pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class TopicInfo:
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("name", "partitions", "replication_factor", "topic_configs")

    name: str
    partitions: int
    replication_factor: int
    topic_configs: list[KeyValue]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: list[KeyValue] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = partitions
        self.replication_factor = replication_factor
        self.topic_configs = [] if topic_configs is _EMPTY else topic_configs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TopicInfo):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
            and self.replication_factor == other.replication_factor
            and self.topic_configs == other.topic_configs
        )

    def __repr__(self) -> str:
        return f"TopicInfo(name={self.name!r}, partitions={self.partitions!r}, replication_factor={self.replication_factor!r}, topic_configs={self.topic_configs!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_ih(self.partitions, self.replication_factor)
        n = len(self.topic_configs)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_topic_configs in self.topic_configs:
            i_topic_configs.encode(out, version)
        buf.append(0)


def _read_TopicInfo(buf: memoryview, pos: int, end: int, version: int) -> tuple[TopicInfo, int]:
    self = TopicInfo.__new__(TopicInfo)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicInfo.name")
    stop = pos + n
    if stop > end:
        raise length_read("TopicInfo.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    self.partitions, self.replication_factor = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicInfo.topic_configs")
    if n * 3 > end - pos:
        raise length_read("TopicInfo.topic_configs", n, end - pos)
    l_topic_configs: list[KeyValue] = []
    for _ in range(n):
        i_topic_configs, pos = _read_KeyValue(buf, pos, end, version)
        l_topic_configs.append(i_topic_configs)
    self.topic_configs = l_topic_configs
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class Subtopology:
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("subtopology_id", "source_topics", "repartition_sink_topics", "state_changelog_topics", "repartition_source_topics")

    subtopology_id: str
    source_topics: list[str]
    repartition_sink_topics: list[str]
    state_changelog_topics: list[TopicInfo]
    repartition_source_topics: list[TopicInfo]

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        source_topics: list[str] = _EMPTY,
        repartition_sink_topics: list[str] = _EMPTY,
        state_changelog_topics: list[TopicInfo] = _EMPTY,
        repartition_source_topics: list[TopicInfo] = _EMPTY,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics = [] if source_topics is _EMPTY else source_topics
        self.repartition_sink_topics = [] if repartition_sink_topics is _EMPTY else repartition_sink_topics
        self.state_changelog_topics = [] if state_changelog_topics is _EMPTY else state_changelog_topics
        self.repartition_source_topics = [] if repartition_source_topics is _EMPTY else repartition_source_topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Subtopology):
            return NotImplemented
        return (
            self.subtopology_id == other.subtopology_id
            and self.source_topics == other.source_topics
            and self.repartition_sink_topics == other.repartition_sink_topics
            and self.state_changelog_topics == other.state_changelog_topics
            and self.repartition_source_topics == other.repartition_source_topics
        )

    def __repr__(self) -> str:
        return f"Subtopology(subtopology_id={self.subtopology_id!r}, source_topics={self.source_topics!r}, repartition_sink_topics={self.repartition_sink_topics!r}, state_changelog_topics={self.state_changelog_topics!r}, repartition_source_topics={self.repartition_source_topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.subtopology_id.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        n = len(self.source_topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_source_topics in self.source_topics:
            data = i_source_topics.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
        n = len(self.repartition_sink_topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_repartition_sink_topics in self.repartition_sink_topics:
            data = i_repartition_sink_topics.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
        n = len(self.state_changelog_topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_state_changelog_topics in self.state_changelog_topics:
            i_state_changelog_topics.encode(out, version)
        n = len(self.repartition_source_topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_repartition_source_topics in self.repartition_source_topics:
            i_repartition_source_topics.encode(out, version)
        buf.append(0)


def _read_Subtopology(buf: memoryview, pos: int, end: int, version: int) -> tuple[Subtopology, int]:
    self = Subtopology.__new__(Subtopology)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Subtopology.subtopology_id")
    stop = pos + n
    if stop > end:
        raise length_read("Subtopology.subtopology_id", n, end - pos)
    self.subtopology_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Subtopology.source_topics")
    if n > end - pos:
        raise length_read("Subtopology.source_topics", n, end - pos)
    l_source_topics: list[str] = []
    for _ in range(n):
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("Subtopology.source_topics")
        stop = pos + n
        if stop > end:
            raise length_read("Subtopology.source_topics", n, end - pos)
        l_source_topics.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.source_topics = l_source_topics
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Subtopology.repartition_sink_topics")
    if n > end - pos:
        raise length_read("Subtopology.repartition_sink_topics", n, end - pos)
    l_repartition_sink_topics: list[str] = []
    for _ in range(n):
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("Subtopology.repartition_sink_topics")
        stop = pos + n
        if stop > end:
            raise length_read("Subtopology.repartition_sink_topics", n, end - pos)
        l_repartition_sink_topics.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.repartition_sink_topics = l_repartition_sink_topics
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Subtopology.state_changelog_topics")
    if n * 9 > end - pos:
        raise length_read("Subtopology.state_changelog_topics", n, end - pos)
    l_state_changelog_topics: list[TopicInfo] = []
    for _ in range(n):
        i_state_changelog_topics, pos = _read_TopicInfo(buf, pos, end, version)
        l_state_changelog_topics.append(i_state_changelog_topics)
    self.state_changelog_topics = l_state_changelog_topics
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Subtopology.repartition_source_topics")
    if n * 9 > end - pos:
        raise length_read("Subtopology.repartition_source_topics", n, end - pos)
    l_repartition_source_topics: list[TopicInfo] = []
    for _ in range(n):
        i_repartition_source_topics, pos = _read_TopicInfo(buf, pos, end, version)
        l_repartition_source_topics.append(i_repartition_source_topics)
    self.repartition_source_topics = l_repartition_source_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class Topology:
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("epoch", "subtopologies")

    epoch: int
    subtopologies: list[Subtopology] | None

    def __init__(
        self,
        *,
        epoch: int = 0,
        subtopologies: list[Subtopology] | None = None,
    ) -> None:
        self.epoch = epoch
        self.subtopologies = subtopologies

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Topology):
            return NotImplemented
        return (
            self.epoch == other.epoch
            and self.subtopologies == other.subtopologies
        )

    def __repr__(self) -> str:
        return f"Topology(epoch={self.epoch!r}, subtopologies={self.subtopologies!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_i(self.epoch)
        v_subtopologies = self.subtopologies
        if v_subtopologies is None:
            buf.append(0)
        else:
            n = len(v_subtopologies)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_subtopologies in v_subtopologies:
                i_subtopologies.encode(out, version)
        buf.append(0)


def _read_Topology(buf: memoryview, pos: int, end: int, version: int) -> tuple[Topology, int]:
    self = Topology.__new__(Topology)
    (self.epoch,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.subtopologies = None
    else:
        if n * 6 > end - pos:
            raise length_read("Topology.subtopologies", n, end - pos)
        l_subtopologies: list[Subtopology] = []
        for _ in range(n):
            i_subtopologies, pos = _read_Subtopology(buf, pos, end, version)
            l_subtopologies.append(i_subtopologies)
        self.subtopologies = l_subtopologies
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class Endpoint:
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("host", "port")

    host: str
    port: int

    def __init__(
        self,
        *,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.host = host
        self.port = port

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Endpoint):
            return NotImplemented
        return (
            self.host == other.host
            and self.port == other.port
        )

    def __repr__(self) -> str:
        return f"Endpoint(host={self.host!r}, port={self.port!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.host.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_H(self.port)
        buf.append(0)


def _read_Endpoint(buf: memoryview, pos: int, end: int, version: int) -> tuple[Endpoint, int]:
    self = Endpoint.__new__(Endpoint)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Endpoint.host")
    stop = pos + n
    if stop > end:
        raise length_read("Endpoint.host", n, end - pos)
    self.host = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.port,) = _unpack_H(buf, pos)
    pos += 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class TaskOffset:
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("subtopology_id", "partition", "offset")

    subtopology_id: str
    partition: int
    offset: int

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        partition: int = 0,
        offset: int = 0,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partition = partition
        self.offset = offset

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TaskOffset):
            return NotImplemented
        return (
            self.subtopology_id == other.subtopology_id
            and self.partition == other.partition
            and self.offset == other.offset
        )

    def __repr__(self) -> str:
        return f"TaskOffset(subtopology_id={self.subtopology_id!r}, partition={self.partition!r}, offset={self.offset!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.subtopology_id.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_iq(self.partition, self.offset)
        buf.append(0)


def _read_TaskOffset(buf: memoryview, pos: int, end: int, version: int) -> tuple[TaskOffset, int]:
    self = TaskOffset.__new__(TaskOffset)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TaskOffset.subtopology_id")
    stop = pos + n
    if stop > end:
        raise length_read("TaskOffset.subtopology_id", n, end - pos)
    self.subtopology_id = str(buf[pos:stop], "utf-8")
    pos = stop
    self.partition, self.offset = _unpack_iq(buf, pos)
    pos += 12
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class TaskIds:
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("subtopology_id", "partitions")

    subtopology_id: str
    partitions: list[int]

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        partitions: list[int] = _EMPTY,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TaskIds):
            return NotImplemented
        return (
            self.subtopology_id == other.subtopology_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"TaskIds(subtopology_id={self.subtopology_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.subtopology_id.encode()
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
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.partitions)
        else:
            buf += _pack_n(f">{n}i", *self.partitions)
        buf.append(0)


def _read_TaskIds(buf: memoryview, pos: int, end: int, version: int) -> tuple[TaskIds, int]:
    self = TaskIds.__new__(TaskIds)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TaskIds.subtopology_id")
    stop = pos + n
    if stop > end:
        raise length_read("TaskIds.subtopology_id", n, end - pos)
    self.subtopology_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TaskIds.partitions")
    if n * 4 > end - pos:
        raise length_read("TaskIds.partitions", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.partitions = list(INT32_UNPACK[n](buf, pos))
    else:
        self.partitions = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class Assignment:
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("active_tasks", "standby_tasks", "warmup_tasks")

    active_tasks: list[TaskIds]
    standby_tasks: list[TaskIds]
    warmup_tasks: list[TaskIds]

    def __init__(
        self,
        *,
        active_tasks: list[TaskIds] = _EMPTY,
        standby_tasks: list[TaskIds] = _EMPTY,
        warmup_tasks: list[TaskIds] = _EMPTY,
    ) -> None:
        self.active_tasks = [] if active_tasks is _EMPTY else active_tasks
        self.standby_tasks = [] if standby_tasks is _EMPTY else standby_tasks
        self.warmup_tasks = [] if warmup_tasks is _EMPTY else warmup_tasks

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Assignment):
            return NotImplemented
        return (
            self.active_tasks == other.active_tasks
            and self.standby_tasks == other.standby_tasks
            and self.warmup_tasks == other.warmup_tasks
        )

    def __repr__(self) -> str:
        return f"Assignment(active_tasks={self.active_tasks!r}, standby_tasks={self.standby_tasks!r}, warmup_tasks={self.warmup_tasks!r})"

    def _is_default(self) -> bool:
        return not ((self.active_tasks) or (self.standby_tasks) or (self.warmup_tasks))

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        n = len(self.active_tasks)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_active_tasks in self.active_tasks:
            i_active_tasks.encode(out, version)
        n = len(self.standby_tasks)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_standby_tasks in self.standby_tasks:
            i_standby_tasks.encode(out, version)
        n = len(self.warmup_tasks)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_warmup_tasks in self.warmup_tasks:
            i_warmup_tasks.encode(out, version)
        buf.append(0)


def _read_Assignment(buf: memoryview, pos: int, end: int, version: int) -> tuple[Assignment, int]:
    self = Assignment.__new__(Assignment)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Assignment.active_tasks")
    if n * 3 > end - pos:
        raise length_read("Assignment.active_tasks", n, end - pos)
    l_active_tasks: list[TaskIds] = []
    for _ in range(n):
        i_active_tasks, pos = _read_TaskIds(buf, pos, end, version)
        l_active_tasks.append(i_active_tasks)
    self.active_tasks = l_active_tasks
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Assignment.standby_tasks")
    if n * 3 > end - pos:
        raise length_read("Assignment.standby_tasks", n, end - pos)
    l_standby_tasks: list[TaskIds] = []
    for _ in range(n):
        i_standby_tasks, pos = _read_TaskIds(buf, pos, end, version)
        l_standby_tasks.append(i_standby_tasks)
    self.standby_tasks = l_standby_tasks
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Assignment.warmup_tasks")
    if n * 3 > end - pos:
        raise length_read("Assignment.warmup_tasks", n, end - pos)
    l_warmup_tasks: list[TaskIds] = []
    for _ in range(n):
        i_warmup_tasks, pos = _read_TaskIds(buf, pos, end, version)
        l_warmup_tasks.append(i_warmup_tasks)
    self.warmup_tasks = l_warmup_tasks
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class Member:
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("member_id", "member_epoch", "instance_id", "rack_id", "client_id", "client_host", "topology_epoch", "process_id", "user_endpoint", "client_tags", "task_offsets", "task_end_offsets", "assignment", "target_assignment", "is_classic")

    member_id: str
    member_epoch: int
    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    topology_epoch: int
    process_id: str
    user_endpoint: Endpoint | None
    client_tags: list[KeyValue]
    task_offsets: list[TaskOffset]
    task_end_offsets: list[TaskOffset]
    assignment: Assignment
    target_assignment: Assignment
    is_classic: bool

    def __init__(
        self,
        *,
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: Endpoint | None = None,
        client_tags: list[KeyValue] = _EMPTY,
        task_offsets: list[TaskOffset] = _EMPTY,
        task_end_offsets: list[TaskOffset] = _EMPTY,
        assignment: Assignment | None = None,
        target_assignment: Assignment | None = None,
        is_classic: bool = False,
    ) -> None:
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.topology_epoch = topology_epoch
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = [] if client_tags is _EMPTY else client_tags
        self.task_offsets = [] if task_offsets is _EMPTY else task_offsets
        self.task_end_offsets = [] if task_end_offsets is _EMPTY else task_end_offsets
        self.assignment = Assignment() if assignment is None else assignment
        self.target_assignment = Assignment() if target_assignment is None else target_assignment
        self.is_classic = is_classic

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Member):
            return NotImplemented
        return (
            self.member_id == other.member_id
            and self.member_epoch == other.member_epoch
            and self.instance_id == other.instance_id
            and self.rack_id == other.rack_id
            and self.client_id == other.client_id
            and self.client_host == other.client_host
            and self.topology_epoch == other.topology_epoch
            and self.process_id == other.process_id
            and self.user_endpoint == other.user_endpoint
            and self.client_tags == other.client_tags
            and self.task_offsets == other.task_offsets
            and self.task_end_offsets == other.task_end_offsets
            and self.assignment == other.assignment
            and self.target_assignment == other.target_assignment
            and self.is_classic == other.is_classic
        )

    def __repr__(self) -> str:
        return f"Member(member_id={self.member_id!r}, member_epoch={self.member_epoch!r}, instance_id={self.instance_id!r}, rack_id={self.rack_id!r}, client_id={self.client_id!r}, client_host={self.client_host!r}, topology_epoch={self.topology_epoch!r}, process_id={self.process_id!r}, user_endpoint={self.user_endpoint!r}, client_tags={self.client_tags!r}, task_offsets={self.task_offsets!r}, task_end_offsets={self.task_end_offsets!r}, assignment={self.assignment!r}, target_assignment={self.target_assignment!r}, is_classic={self.is_classic!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.member_id.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_i(self.member_epoch)
        v_instance_id = self.instance_id
        if v_instance_id is None:
            buf.append(0)
        else:
            data = v_instance_id.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
        v_rack_id = self.rack_id
        if v_rack_id is None:
            buf.append(0)
        else:
            data = v_rack_id.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
        data = self.client_id.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        data = self.client_host.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_i(self.topology_epoch)
        data = self.process_id.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        v_user_endpoint = self.user_endpoint
        if v_user_endpoint is None:
            buf.append(255)
        else:
            buf.append(1)
            v_user_endpoint.encode(out, version)
        n = len(self.client_tags)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_client_tags in self.client_tags:
            i_client_tags.encode(out, version)
        n = len(self.task_offsets)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_task_offsets in self.task_offsets:
            i_task_offsets.encode(out, version)
        n = len(self.task_end_offsets)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_task_end_offsets in self.task_end_offsets:
            i_task_end_offsets.encode(out, version)
        self.assignment.encode(out, version)
        self.target_assignment.encode(out, version)
        buf += _pack_z(self.is_classic)
        buf.append(0)


def _read_Member(buf: memoryview, pos: int, end: int, version: int) -> tuple[Member, int]:
    self = Member.__new__(Member)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Member.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("Member.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.member_epoch,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.instance_id = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("Member.instance_id", n, end - pos)
        self.instance_id = str(buf[pos:stop], "utf-8")
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.rack_id = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("Member.rack_id", n, end - pos)
        self.rack_id = str(buf[pos:stop], "utf-8")
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Member.client_id")
    stop = pos + n
    if stop > end:
        raise length_read("Member.client_id", n, end - pos)
    self.client_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Member.client_host")
    stop = pos + n
    if stop > end:
        raise length_read("Member.client_host", n, end - pos)
    self.client_host = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.topology_epoch,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Member.process_id")
    stop = pos + n
    if stop > end:
        raise length_read("Member.process_id", n, end - pos)
    self.process_id = str(buf[pos:stop], "utf-8")
    pos = stop
    if buf[pos] > 127:
        pos += 1
        self.user_endpoint = None
    else:
        self.user_endpoint, pos = _read_Endpoint(buf, pos + 1, end, version)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Member.client_tags")
    if n * 3 > end - pos:
        raise length_read("Member.client_tags", n, end - pos)
    l_client_tags: list[KeyValue] = []
    for _ in range(n):
        i_client_tags, pos = _read_KeyValue(buf, pos, end, version)
        l_client_tags.append(i_client_tags)
    self.client_tags = l_client_tags
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Member.task_offsets")
    if n * 14 > end - pos:
        raise length_read("Member.task_offsets", n, end - pos)
    l_task_offsets: list[TaskOffset] = []
    for _ in range(n):
        i_task_offsets, pos = _read_TaskOffset(buf, pos, end, version)
        l_task_offsets.append(i_task_offsets)
    self.task_offsets = l_task_offsets
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Member.task_end_offsets")
    if n * 14 > end - pos:
        raise length_read("Member.task_end_offsets", n, end - pos)
    l_task_end_offsets: list[TaskOffset] = []
    for _ in range(n):
        i_task_end_offsets, pos = _read_TaskOffset(buf, pos, end, version)
        l_task_end_offsets.append(i_task_end_offsets)
    self.task_end_offsets = l_task_end_offsets
    self.assignment, pos = _read_Assignment(buf, pos, end, version)
    self.target_assignment, pos = _read_Assignment(buf, pos, end, version)
    self.is_classic = buf[pos] != 0
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribedGroup:
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("error_code", "error_message", "group_id", "group_state", "group_epoch", "assignment_epoch", "topology", "members", "authorized_operations")

    error_code: int
    error_message: str | None
    group_id: str
    group_state: str
    group_epoch: int
    assignment_epoch: int
    topology: Topology | None
    members: list[Member]
    authorized_operations: int

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        topology: Topology | None = None,
        members: list[Member] = _EMPTY,
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.topology = topology
        self.members = [] if members is _EMPTY else members
        self.authorized_operations = authorized_operations

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribedGroup):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.group_id == other.group_id
            and self.group_state == other.group_state
            and self.group_epoch == other.group_epoch
            and self.assignment_epoch == other.assignment_epoch
            and self.topology == other.topology
            and self.members == other.members
            and self.authorized_operations == other.authorized_operations
        )

    def __repr__(self) -> str:
        return f"DescribedGroup(error_code={self.error_code!r}, error_message={self.error_message!r}, group_id={self.group_id!r}, group_state={self.group_state!r}, group_epoch={self.group_epoch!r}, assignment_epoch={self.assignment_epoch!r}, topology={self.topology!r}, members={self.members!r}, authorized_operations={self.authorized_operations!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
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
        data = self.group_id.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        data = self.group_state.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_2i(self.group_epoch, self.assignment_epoch)
        v_topology = self.topology
        if v_topology is None:
            buf.append(255)
        else:
            buf.append(1)
            v_topology.encode(out, version)
        n = len(self.members)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_members in self.members:
            i_members.encode(out, version)
        buf += _pack_i(self.authorized_operations)
        buf.append(0)


def _read_DescribedGroup(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribedGroup, int]:
    self = DescribedGroup.__new__(DescribedGroup)
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
            raise length_read("DescribedGroup.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribedGroup.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedGroup.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribedGroup.group_state")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedGroup.group_state", n, end - pos)
    self.group_state = str(buf[pos:stop], "utf-8")
    pos = stop
    self.group_epoch, self.assignment_epoch = _unpack_2i(buf, pos)
    pos += 8
    if buf[pos] > 127:
        pos += 1
        self.topology = None
    else:
        self.topology, pos = _read_Topology(buf, pos + 1, end, version)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribedGroup.members")
    if n * 28 > end - pos:
        raise length_read("DescribedGroup.members", n, end - pos)
    l_members: list[Member] = []
    for _ in range(n):
        i_members, pos = _read_Member(buf, pos, end, version)
        l_members.append(i_members)
    self.members = l_members
    (self.authorized_operations,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class StreamsGroupDescribeResponse:
    """Version 0."""

    __slots__ = ("throttle_time_ms", "groups")

    API_KEY: ClassVar[int] = 89
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    groups: list[DescribedGroup]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: list[DescribedGroup] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is _EMPTY else groups

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsGroupDescribeResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.groups == other.groups
        )

    def __repr__(self) -> str:
        return f"StreamsGroupDescribeResponse(throttle_time_ms={self.throttle_time_ms!r}, groups={self.groups!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("StreamsGroupDescribeResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_i(self.throttle_time_ms)
            n = len(self.groups)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_groups in self.groups:
                i_groups.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("StreamsGroupDescribeResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[StreamsGroupDescribeResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("StreamsGroupDescribeResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("StreamsGroupDescribeResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_StreamsGroupDescribeResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("StreamsGroupDescribeResponse", version, error) from error
        if pos > end:
            raise decode_failed("StreamsGroupDescribeResponse", version, "truncated")
        return message, pos


def _read_StreamsGroupDescribeResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupDescribeResponse, int]:
    self = StreamsGroupDescribeResponse.__new__(StreamsGroupDescribeResponse)
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupDescribeResponse.groups")
    if n * 20 > end - pos:
        raise length_read("StreamsGroupDescribeResponse.groups", n, end - pos)
    l_groups: list[DescribedGroup] = []
    for _ in range(n):
        i_groups, pos = _read_DescribedGroup(buf, pos, end, version)
        l_groups.append(i_groups)
    self.groups = l_groups
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
