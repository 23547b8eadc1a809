"""StreamsGroupHeartbeat. Generated from schema/streams_group_heartbeat.txt by tools/generate_messages.py; do not edit."""

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
_pack_b = Struct(">b").pack
_unpack_b = Struct(">b").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from
_pack_2i = Struct(">ii").pack
_unpack_2i = Struct(">ii").unpack_from
_pack_4i = Struct(">iiii").pack
_unpack_4i = Struct(">iiii").unpack_from
_pack_iq = Struct(">iq").pack
_unpack_iq = Struct(">iq").unpack_from


class KeyValue:
    """Part of StreamsGroupHeartbeatRequest."""

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
    """Part of StreamsGroupHeartbeatRequest."""

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


class CopartitionGroup:
    """Part of StreamsGroupHeartbeatRequest."""

    __slots__ = ("source_topics", "source_topic_regex", "repartition_source_topics")

    source_topics: list[int]
    source_topic_regex: list[int]
    repartition_source_topics: list[int]

    def __init__(
        self,
        *,
        source_topics: list[int] = _EMPTY,
        source_topic_regex: list[int] = _EMPTY,
        repartition_source_topics: list[int] = _EMPTY,
    ) -> None:
        self.source_topics = [] if source_topics is _EMPTY else source_topics
        self.source_topic_regex = [] if source_topic_regex is _EMPTY else source_topic_regex
        self.repartition_source_topics = [] if repartition_source_topics is _EMPTY else repartition_source_topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CopartitionGroup):
            return NotImplemented
        return (
            self.source_topics == other.source_topics
            and self.source_topic_regex == other.source_topic_regex
            and self.repartition_source_topics == other.repartition_source_topics
        )

    def __repr__(self) -> str:
        return f"CopartitionGroup(source_topics={self.source_topics!r}, source_topic_regex={self.source_topic_regex!r}, repartition_source_topics={self.repartition_source_topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        n = len(self.source_topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n:
            buf += _pack_n(f">{n}h", *self.source_topics)
        n = len(self.source_topic_regex)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n:
            buf += _pack_n(f">{n}h", *self.source_topic_regex)
        n = len(self.repartition_source_topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n:
            buf += _pack_n(f">{n}h", *self.repartition_source_topics)
        buf.append(0)


def _read_CopartitionGroup(buf: memoryview, pos: int, end: int, version: int) -> tuple[CopartitionGroup, int]:
    self = CopartitionGroup.__new__(CopartitionGroup)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("CopartitionGroup.source_topics")
    if n * 2 > end - pos:
        raise length_read("CopartitionGroup.source_topics", n, end - pos)
    self.source_topics = list(_unpack_n(f">{n}h", buf, pos))
    pos += n * 2
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("CopartitionGroup.source_topic_regex")
    if n * 2 > end - pos:
        raise length_read("CopartitionGroup.source_topic_regex", n, end - pos)
    self.source_topic_regex = list(_unpack_n(f">{n}h", buf, pos))
    pos += n * 2
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("CopartitionGroup.repartition_source_topics")
    if n * 2 > end - pos:
        raise length_read("CopartitionGroup.repartition_source_topics", n, end - pos)
    self.repartition_source_topics = list(_unpack_n(f">{n}h", buf, pos))
    pos += n * 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class Subtopology:
    """Part of StreamsGroupHeartbeatRequest."""

    __slots__ = ("subtopology_id", "source_topics", "source_topic_regex", "state_changelog_topics", "repartition_sink_topics", "repartition_source_topics", "copartition_groups")

    subtopology_id: str
    source_topics: list[str]
    source_topic_regex: list[str]
    state_changelog_topics: list[TopicInfo]
    repartition_sink_topics: list[str]
    repartition_source_topics: list[TopicInfo]
    copartition_groups: list[CopartitionGroup]

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        source_topics: list[str] = _EMPTY,
        source_topic_regex: list[str] = _EMPTY,
        state_changelog_topics: list[TopicInfo] = _EMPTY,
        repartition_sink_topics: list[str] = _EMPTY,
        repartition_source_topics: list[TopicInfo] = _EMPTY,
        copartition_groups: list[CopartitionGroup] = _EMPTY,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics = [] if source_topics is _EMPTY else source_topics
        self.source_topic_regex = [] if source_topic_regex is _EMPTY else source_topic_regex
        self.state_changelog_topics = [] if state_changelog_topics is _EMPTY else state_changelog_topics
        self.repartition_sink_topics = [] if repartition_sink_topics is _EMPTY else repartition_sink_topics
        self.repartition_source_topics = [] if repartition_source_topics is _EMPTY else repartition_source_topics
        self.copartition_groups = [] if copartition_groups is _EMPTY else copartition_groups

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Subtopology):
            return NotImplemented
        return (
            self.subtopology_id == other.subtopology_id
            and self.source_topics == other.source_topics
            and self.source_topic_regex == other.source_topic_regex
            and self.state_changelog_topics == other.state_changelog_topics
            and self.repartition_sink_topics == other.repartition_sink_topics
            and self.repartition_source_topics == other.repartition_source_topics
            and self.copartition_groups == other.copartition_groups
        )

    def __repr__(self) -> str:
        return f"Subtopology(subtopology_id={self.subtopology_id!r}, source_topics={self.source_topics!r}, source_topic_regex={self.source_topic_regex!r}, state_changelog_topics={self.state_changelog_topics!r}, repartition_sink_topics={self.repartition_sink_topics!r}, repartition_source_topics={self.repartition_source_topics!r}, copartition_groups={self.copartition_groups!r})"

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
        n = len(self.source_topic_regex)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_source_topic_regex in self.source_topic_regex:
            data = i_source_topic_regex.encode()
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
        n = len(self.repartition_source_topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_repartition_source_topics in self.repartition_source_topics:
            i_repartition_source_topics.encode(out, version)
        n = len(self.copartition_groups)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_copartition_groups in self.copartition_groups:
            i_copartition_groups.encode(out, version)
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
        raise null_read("Subtopology.source_topic_regex")
    if n > end - pos:
        raise length_read("Subtopology.source_topic_regex", n, end - pos)
    l_source_topic_regex: list[str] = []
    for _ in range(n):
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("Subtopology.source_topic_regex")
        stop = pos + n
        if stop > end:
            raise length_read("Subtopology.source_topic_regex", n, end - pos)
        l_source_topic_regex.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.source_topic_regex = l_source_topic_regex
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
        raise null_read("Subtopology.repartition_source_topics")
    if n * 9 > end - pos:
        raise length_read("Subtopology.repartition_source_topics", n, end - pos)
    l_repartition_source_topics: list[TopicInfo] = []
    for _ in range(n):
        i_repartition_source_topics, pos = _read_TopicInfo(buf, pos, end, version)
        l_repartition_source_topics.append(i_repartition_source_topics)
    self.repartition_source_topics = l_repartition_source_topics
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Subtopology.copartition_groups")
    if n * 4 > end - pos:
        raise length_read("Subtopology.copartition_groups", n, end - pos)
    l_copartition_groups: list[CopartitionGroup] = []
    for _ in range(n):
        i_copartition_groups, pos = _read_CopartitionGroup(buf, pos, end, version)
        l_copartition_groups.append(i_copartition_groups)
    self.copartition_groups = l_copartition_groups
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class Topology:
    """Part of StreamsGroupHeartbeatRequest."""

    __slots__ = ("epoch", "subtopologies")

    epoch: int
    subtopologies: list[Subtopology]

    def __init__(
        self,
        *,
        epoch: int = 0,
        subtopologies: list[Subtopology] = _EMPTY,
    ) -> None:
        self.epoch = epoch
        self.subtopologies = [] if subtopologies is _EMPTY else subtopologies

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
        n = len(self.subtopologies)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_subtopologies in self.subtopologies:
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
        raise null_read("Topology.subtopologies")
    if n * 8 > end - pos:
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


class StreamsGroupHeartbeatRequestTaskIds:
    """Part of StreamsGroupHeartbeatRequest."""

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
        if not isinstance(other, StreamsGroupHeartbeatRequestTaskIds):
            return NotImplemented
        return (
            self.subtopology_id == other.subtopology_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"StreamsGroupHeartbeatRequestTaskIds(subtopology_id={self.subtopology_id!r}, partitions={self.partitions!r})"

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


def _read_StreamsGroupHeartbeatRequestTaskIds(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupHeartbeatRequestTaskIds, int]:
    self = StreamsGroupHeartbeatRequestTaskIds.__new__(StreamsGroupHeartbeatRequestTaskIds)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupHeartbeatRequestTaskIds.subtopology_id")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupHeartbeatRequestTaskIds.subtopology_id", n, end - pos)
    self.subtopology_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupHeartbeatRequestTaskIds.partitions")
    if n * 4 > end - pos:
        raise length_read("StreamsGroupHeartbeatRequestTaskIds.partitions", n, end - pos)
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


class StreamsGroupHeartbeatRequestEndpoint:
    """Part of StreamsGroupHeartbeatRequest."""

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
        if not isinstance(other, StreamsGroupHeartbeatRequestEndpoint):
            return NotImplemented
        return (
            self.host == other.host
            and self.port == other.port
        )

    def __repr__(self) -> str:
        return f"StreamsGroupHeartbeatRequestEndpoint(host={self.host!r}, port={self.port!r})"

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


def _read_StreamsGroupHeartbeatRequestEndpoint(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupHeartbeatRequestEndpoint, int]:
    self = StreamsGroupHeartbeatRequestEndpoint.__new__(StreamsGroupHeartbeatRequestEndpoint)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupHeartbeatRequestEndpoint.host")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupHeartbeatRequestEndpoint.host", n, end - pos)
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
    """Part of StreamsGroupHeartbeatRequest."""

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


class StreamsGroupHeartbeatRequest:
    """Version 0."""

    __slots__ = ("group_id", "member_id", "member_epoch", "endpoint_information_epoch", "instance_id", "rack_id", "rebalance_timeout_ms", "topology", "active_tasks", "standby_tasks", "warmup_tasks", "process_id", "user_endpoint", "client_tags", "task_offsets", "task_end_offsets", "shutdown_application")

    API_KEY: ClassVar[int] = 88
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    group_id: str
    member_id: str
    member_epoch: int
    endpoint_information_epoch: int
    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int
    topology: Topology | None
    active_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None
    standby_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None
    warmup_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None
    process_id: str | None
    user_endpoint: StreamsGroupHeartbeatRequestEndpoint | None
    client_tags: list[KeyValue] | None
    task_offsets: list[TaskOffset] | None
    task_end_offsets: list[TaskOffset] | None
    shutdown_application: bool

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        endpoint_information_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        topology: Topology | None = None,
        active_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None = None,
        standby_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None = None,
        warmup_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None = None,
        process_id: str | None = None,
        user_endpoint: StreamsGroupHeartbeatRequestEndpoint | None = None,
        client_tags: list[KeyValue] | None = None,
        task_offsets: list[TaskOffset] | None = None,
        task_end_offsets: list[TaskOffset] | None = None,
        shutdown_application: bool = False,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.endpoint_information_epoch = endpoint_information_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology = topology
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = client_tags
        self.task_offsets = task_offsets
        self.task_end_offsets = task_end_offsets
        self.shutdown_application = shutdown_application

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsGroupHeartbeatRequest):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.member_id == other.member_id
            and self.member_epoch == other.member_epoch
            and self.endpoint_information_epoch == other.endpoint_information_epoch
            and self.instance_id == other.instance_id
            and self.rack_id == other.rack_id
            and self.rebalance_timeout_ms == other.rebalance_timeout_ms
            and self.topology == other.topology
            and self.active_tasks == other.active_tasks
            and self.standby_tasks == other.standby_tasks
            and self.warmup_tasks == other.warmup_tasks
            and self.process_id == other.process_id
            and self.user_endpoint == other.user_endpoint
            and self.client_tags == other.client_tags
            and self.task_offsets == other.task_offsets
            and self.task_end_offsets == other.task_end_offsets
            and self.shutdown_application == other.shutdown_application
        )

    def __repr__(self) -> str:
        return f"StreamsGroupHeartbeatRequest(group_id={self.group_id!r}, member_id={self.member_id!r}, member_epoch={self.member_epoch!r}, endpoint_information_epoch={self.endpoint_information_epoch!r}, instance_id={self.instance_id!r}, rack_id={self.rack_id!r}, rebalance_timeout_ms={self.rebalance_timeout_ms!r}, topology={self.topology!r}, active_tasks={self.active_tasks!r}, standby_tasks={self.standby_tasks!r}, warmup_tasks={self.warmup_tasks!r}, process_id={self.process_id!r}, user_endpoint={self.user_endpoint!r}, client_tags={self.client_tags!r}, task_offsets={self.task_offsets!r}, task_end_offsets={self.task_end_offsets!r}, shutdown_application={self.shutdown_application!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("StreamsGroupHeartbeatRequest", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            data = self.member_id.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            buf += _pack_2i(self.member_epoch, self.endpoint_information_epoch)
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
            buf += _pack_i(self.rebalance_timeout_ms)
            v_topology = self.topology
            if v_topology is None:
                buf.append(255)
            else:
                buf.append(1)
                v_topology.encode(out, version)
            v_active_tasks = self.active_tasks
            if v_active_tasks is None:
                buf.append(0)
            else:
                n = len(v_active_tasks)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_active_tasks in v_active_tasks:
                    i_active_tasks.encode(out, version)
            v_standby_tasks = self.standby_tasks
            if v_standby_tasks is None:
                buf.append(0)
            else:
                n = len(v_standby_tasks)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_standby_tasks in v_standby_tasks:
                    i_standby_tasks.encode(out, version)
            v_warmup_tasks = self.warmup_tasks
            if v_warmup_tasks is None:
                buf.append(0)
            else:
                n = len(v_warmup_tasks)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_warmup_tasks in v_warmup_tasks:
                    i_warmup_tasks.encode(out, version)
            v_process_id = self.process_id
            if v_process_id is None:
                buf.append(0)
            else:
                data = v_process_id.encode()
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
            v_client_tags = self.client_tags
            if v_client_tags is None:
                buf.append(0)
            else:
                n = len(v_client_tags)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_client_tags in v_client_tags:
                    i_client_tags.encode(out, version)
            v_task_offsets = self.task_offsets
            if v_task_offsets is None:
                buf.append(0)
            else:
                n = len(v_task_offsets)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_task_offsets in v_task_offsets:
                    i_task_offsets.encode(out, version)
            v_task_end_offsets = self.task_end_offsets
            if v_task_end_offsets is None:
                buf.append(0)
            else:
                n = len(v_task_end_offsets)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_task_end_offsets in v_task_end_offsets:
                    i_task_end_offsets.encode(out, version)
            buf += _pack_z(self.shutdown_application)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("StreamsGroupHeartbeatRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[StreamsGroupHeartbeatRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("StreamsGroupHeartbeatRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("StreamsGroupHeartbeatRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_StreamsGroupHeartbeatRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("StreamsGroupHeartbeatRequest", version, error) from error
        if pos > end:
            raise decode_failed("StreamsGroupHeartbeatRequest", version, "truncated")
        return message, pos


def _read_StreamsGroupHeartbeatRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupHeartbeatRequest, int]:
    self = StreamsGroupHeartbeatRequest.__new__(StreamsGroupHeartbeatRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupHeartbeatRequest.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupHeartbeatRequest.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupHeartbeatRequest.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupHeartbeatRequest.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
    self.member_epoch, self.endpoint_information_epoch = _unpack_2i(buf, pos)
    pos += 8
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
            raise length_read("StreamsGroupHeartbeatRequest.instance_id", n, end - pos)
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
            raise length_read("StreamsGroupHeartbeatRequest.rack_id", n, end - pos)
        self.rack_id = str(buf[pos:stop], "utf-8")
        pos = stop
    (self.rebalance_timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
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
        self.active_tasks = None
    else:
        if n * 3 > end - pos:
            raise length_read("StreamsGroupHeartbeatRequest.active_tasks", n, end - pos)
        l_active_tasks: list[StreamsGroupHeartbeatRequestTaskIds] = []
        for _ in range(n):
            i_active_tasks, pos = _read_StreamsGroupHeartbeatRequestTaskIds(buf, pos, end, version)
            l_active_tasks.append(i_active_tasks)
        self.active_tasks = l_active_tasks
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.standby_tasks = None
    else:
        if n * 3 > end - pos:
            raise length_read("StreamsGroupHeartbeatRequest.standby_tasks", n, end - pos)
        l_standby_tasks: list[StreamsGroupHeartbeatRequestTaskIds] = []
        for _ in range(n):
            i_standby_tasks, pos = _read_StreamsGroupHeartbeatRequestTaskIds(buf, pos, end, version)
            l_standby_tasks.append(i_standby_tasks)
        self.standby_tasks = l_standby_tasks
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.warmup_tasks = None
    else:
        if n * 3 > end - pos:
            raise length_read("StreamsGroupHeartbeatRequest.warmup_tasks", n, end - pos)
        l_warmup_tasks: list[StreamsGroupHeartbeatRequestTaskIds] = []
        for _ in range(n):
            i_warmup_tasks, pos = _read_StreamsGroupHeartbeatRequestTaskIds(buf, pos, end, version)
            l_warmup_tasks.append(i_warmup_tasks)
        self.warmup_tasks = l_warmup_tasks
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.process_id = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("StreamsGroupHeartbeatRequest.process_id", n, end - pos)
        self.process_id = str(buf[pos:stop], "utf-8")
        pos = stop
    if buf[pos] > 127:
        pos += 1
        self.user_endpoint = None
    else:
        self.user_endpoint, pos = _read_StreamsGroupHeartbeatRequestEndpoint(buf, pos + 1, end, version)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.client_tags = None
    else:
        if n * 3 > end - pos:
            raise length_read("StreamsGroupHeartbeatRequest.client_tags", n, end - pos)
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
        self.task_offsets = None
    else:
        if n * 14 > end - pos:
            raise length_read("StreamsGroupHeartbeatRequest.task_offsets", n, end - pos)
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
        self.task_end_offsets = None
    else:
        if n * 14 > end - pos:
            raise length_read("StreamsGroupHeartbeatRequest.task_end_offsets", n, end - pos)
        l_task_end_offsets: list[TaskOffset] = []
        for _ in range(n):
            i_task_end_offsets, pos = _read_TaskOffset(buf, pos, end, version)
            l_task_end_offsets.append(i_task_end_offsets)
        self.task_end_offsets = l_task_end_offsets
    self.shutdown_application = buf[pos] != 0
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class Status:
    """Part of StreamsGroupHeartbeatResponse."""

    __slots__ = ("status_code", "status_detail")

    status_code: int
    status_detail: str

    def __init__(
        self,
        *,
        status_code: int = 0,
        status_detail: str = "",
    ) -> None:
        self.status_code = status_code
        self.status_detail = status_detail

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Status):
            return NotImplemented
        return (
            self.status_code == other.status_code
            and self.status_detail == other.status_detail
        )

    def __repr__(self) -> str:
        return f"Status(status_code={self.status_code!r}, status_detail={self.status_detail!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_b(self.status_code)
        data = self.status_detail.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf.append(0)


def _read_Status(buf: memoryview, pos: int, end: int, version: int) -> tuple[Status, int]:
    self = Status.__new__(Status)
    (self.status_code,) = _unpack_b(buf, pos)
    pos += 1
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Status.status_detail")
    stop = pos + n
    if stop > end:
        raise length_read("Status.status_detail", n, end - pos)
    self.status_detail = str(buf[pos:stop], "utf-8")
    pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class StreamsGroupHeartbeatResponseTaskIds:
    """Part of StreamsGroupHeartbeatResponse."""

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
        if not isinstance(other, StreamsGroupHeartbeatResponseTaskIds):
            return NotImplemented
        return (
            self.subtopology_id == other.subtopology_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"StreamsGroupHeartbeatResponseTaskIds(subtopology_id={self.subtopology_id!r}, partitions={self.partitions!r})"

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


def _read_StreamsGroupHeartbeatResponseTaskIds(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupHeartbeatResponseTaskIds, int]:
    self = StreamsGroupHeartbeatResponseTaskIds.__new__(StreamsGroupHeartbeatResponseTaskIds)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupHeartbeatResponseTaskIds.subtopology_id")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupHeartbeatResponseTaskIds.subtopology_id", n, end - pos)
    self.subtopology_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupHeartbeatResponseTaskIds.partitions")
    if n * 4 > end - pos:
        raise length_read("StreamsGroupHeartbeatResponseTaskIds.partitions", n, end - pos)
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


class StreamsGroupHeartbeatResponseEndpoint:
    """Part of StreamsGroupHeartbeatResponse."""

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
        if not isinstance(other, StreamsGroupHeartbeatResponseEndpoint):
            return NotImplemented
        return (
            self.host == other.host
            and self.port == other.port
        )

    def __repr__(self) -> str:
        return f"StreamsGroupHeartbeatResponseEndpoint(host={self.host!r}, port={self.port!r})"

    def _is_default(self) -> bool:
        return not ((self.host != "") or (self.port != 0))

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


def _read_StreamsGroupHeartbeatResponseEndpoint(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupHeartbeatResponseEndpoint, int]:
    self = StreamsGroupHeartbeatResponseEndpoint.__new__(StreamsGroupHeartbeatResponseEndpoint)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupHeartbeatResponseEndpoint.host")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupHeartbeatResponseEndpoint.host", n, end - pos)
    self.host = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.port,) = _unpack_H(buf, pos)
    pos += 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class TopicPartition:
    """Part of StreamsGroupHeartbeatResponse."""

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
        if not isinstance(other, TopicPartition):
            return NotImplemented
        return (
            self.topic == other.topic
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"TopicPartition(topic={self.topic!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.topic.encode()
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


def _read_TopicPartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[TopicPartition, int]:
    self = TopicPartition.__new__(TopicPartition)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicPartition.topic")
    stop = pos + n
    if stop > end:
        raise length_read("TopicPartition.topic", n, end - pos)
    self.topic = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicPartition.partitions")
    if n * 4 > end - pos:
        raise length_read("TopicPartition.partitions", n, end - pos)
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


class EndpointToPartitions:
    """Part of StreamsGroupHeartbeatResponse."""

    __slots__ = ("user_endpoint", "active_partitions", "standby_partitions")

    user_endpoint: StreamsGroupHeartbeatResponseEndpoint
    active_partitions: list[TopicPartition]
    standby_partitions: list[TopicPartition]

    def __init__(
        self,
        *,
        user_endpoint: StreamsGroupHeartbeatResponseEndpoint | None = None,
        active_partitions: list[TopicPartition] = _EMPTY,
        standby_partitions: list[TopicPartition] = _EMPTY,
    ) -> None:
        self.user_endpoint = StreamsGroupHeartbeatResponseEndpoint() if user_endpoint is None else user_endpoint
        self.active_partitions = [] if active_partitions is _EMPTY else active_partitions
        self.standby_partitions = [] if standby_partitions is _EMPTY else standby_partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EndpointToPartitions):
            return NotImplemented
        return (
            self.user_endpoint == other.user_endpoint
            and self.active_partitions == other.active_partitions
            and self.standby_partitions == other.standby_partitions
        )

    def __repr__(self) -> str:
        return f"EndpointToPartitions(user_endpoint={self.user_endpoint!r}, active_partitions={self.active_partitions!r}, standby_partitions={self.standby_partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        self.user_endpoint.encode(out, version)
        n = len(self.active_partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_active_partitions in self.active_partitions:
            i_active_partitions.encode(out, version)
        n = len(self.standby_partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_standby_partitions in self.standby_partitions:
            i_standby_partitions.encode(out, version)
        buf.append(0)


def _read_EndpointToPartitions(buf: memoryview, pos: int, end: int, version: int) -> tuple[EndpointToPartitions, int]:
    self = EndpointToPartitions.__new__(EndpointToPartitions)
    self.user_endpoint, pos = _read_StreamsGroupHeartbeatResponseEndpoint(buf, pos, end, version)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("EndpointToPartitions.active_partitions")
    if n * 3 > end - pos:
        raise length_read("EndpointToPartitions.active_partitions", n, end - pos)
    l_active_partitions: list[TopicPartition] = []
    for _ in range(n):
        i_active_partitions, pos = _read_TopicPartition(buf, pos, end, version)
        l_active_partitions.append(i_active_partitions)
    self.active_partitions = l_active_partitions
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("EndpointToPartitions.standby_partitions")
    if n * 3 > end - pos:
        raise length_read("EndpointToPartitions.standby_partitions", n, end - pos)
    l_standby_partitions: list[TopicPartition] = []
    for _ in range(n):
        i_standby_partitions, pos = _read_TopicPartition(buf, pos, end, version)
        l_standby_partitions.append(i_standby_partitions)
    self.standby_partitions = l_standby_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class StreamsGroupHeartbeatResponse:
    """Version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "member_id", "member_epoch", "heartbeat_interval_ms", "acceptable_recovery_lag", "task_offset_interval_ms", "status", "active_tasks", "standby_tasks", "warmup_tasks", "endpoint_information_epoch", "partitions_by_user_endpoint")

    API_KEY: ClassVar[int] = 88
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    member_id: str
    member_epoch: int
    heartbeat_interval_ms: int
    acceptable_recovery_lag: int
    task_offset_interval_ms: int
    status: list[Status] | None
    active_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None
    standby_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None
    warmup_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None
    endpoint_information_epoch: int
    partitions_by_user_endpoint: list[EndpointToPartitions] | None

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str = "",
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        acceptable_recovery_lag: int = 0,
        task_offset_interval_ms: int = 0,
        status: list[Status] | None = _EMPTY,
        active_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None = None,
        standby_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None = None,
        warmup_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None = None,
        endpoint_information_epoch: int = 0,
        partitions_by_user_endpoint: list[EndpointToPartitions] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.acceptable_recovery_lag = acceptable_recovery_lag
        self.task_offset_interval_ms = task_offset_interval_ms
        self.status = [] if status is _EMPTY else status
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.endpoint_information_epoch = endpoint_information_epoch
        self.partitions_by_user_endpoint = partitions_by_user_endpoint

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsGroupHeartbeatResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.member_id == other.member_id
            and self.member_epoch == other.member_epoch
            and self.heartbeat_interval_ms == other.heartbeat_interval_ms
            and self.acceptable_recovery_lag == other.acceptable_recovery_lag
            and self.task_offset_interval_ms == other.task_offset_interval_ms
            and self.status == other.status
            and self.active_tasks == other.active_tasks
            and self.standby_tasks == other.standby_tasks
            and self.warmup_tasks == other.warmup_tasks
            and self.endpoint_information_epoch == other.endpoint_information_epoch
            and self.partitions_by_user_endpoint == other.partitions_by_user_endpoint
        )

    def __repr__(self) -> str:
        return f"StreamsGroupHeartbeatResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, member_id={self.member_id!r}, member_epoch={self.member_epoch!r}, heartbeat_interval_ms={self.heartbeat_interval_ms!r}, acceptable_recovery_lag={self.acceptable_recovery_lag!r}, task_offset_interval_ms={self.task_offset_interval_ms!r}, status={self.status!r}, active_tasks={self.active_tasks!r}, standby_tasks={self.standby_tasks!r}, warmup_tasks={self.warmup_tasks!r}, endpoint_information_epoch={self.endpoint_information_epoch!r}, partitions_by_user_endpoint={self.partitions_by_user_endpoint!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("StreamsGroupHeartbeatResponse", version, "no such version")
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
            data = self.member_id.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            buf += _pack_4i(self.member_epoch, self.heartbeat_interval_ms, self.acceptable_recovery_lag, self.task_offset_interval_ms)
            v_status = self.status
            if v_status is None:
                buf.append(0)
            else:
                n = len(v_status)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_status in v_status:
                    i_status.encode(out, version)
            v_active_tasks = self.active_tasks
            if v_active_tasks is None:
                buf.append(0)
            else:
                n = len(v_active_tasks)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_active_tasks in v_active_tasks:
                    i_active_tasks.encode(out, version)
            v_standby_tasks = self.standby_tasks
            if v_standby_tasks is None:
                buf.append(0)
            else:
                n = len(v_standby_tasks)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_standby_tasks in v_standby_tasks:
                    i_standby_tasks.encode(out, version)
            v_warmup_tasks = self.warmup_tasks
            if v_warmup_tasks is None:
                buf.append(0)
            else:
                n = len(v_warmup_tasks)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_warmup_tasks in v_warmup_tasks:
                    i_warmup_tasks.encode(out, version)
            buf += _pack_i(self.endpoint_information_epoch)
            v_partitions_by_user_endpoint = self.partitions_by_user_endpoint
            if v_partitions_by_user_endpoint is None:
                buf.append(0)
            else:
                n = len(v_partitions_by_user_endpoint)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_partitions_by_user_endpoint in v_partitions_by_user_endpoint:
                    i_partitions_by_user_endpoint.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("StreamsGroupHeartbeatResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[StreamsGroupHeartbeatResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("StreamsGroupHeartbeatResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("StreamsGroupHeartbeatResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_StreamsGroupHeartbeatResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("StreamsGroupHeartbeatResponse", version, error) from error
        if pos > end:
            raise decode_failed("StreamsGroupHeartbeatResponse", version, "truncated")
        return message, pos


def _read_StreamsGroupHeartbeatResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupHeartbeatResponse, int]:
    self = StreamsGroupHeartbeatResponse.__new__(StreamsGroupHeartbeatResponse)
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
            raise length_read("StreamsGroupHeartbeatResponse.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupHeartbeatResponse.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupHeartbeatResponse.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
    self.member_epoch, self.heartbeat_interval_ms, self.acceptable_recovery_lag, self.task_offset_interval_ms = _unpack_4i(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.status = None
    else:
        if n * 3 > end - pos:
            raise length_read("StreamsGroupHeartbeatResponse.status", n, end - pos)
        l_status: list[Status] = []
        for _ in range(n):
            i_status, pos = _read_Status(buf, pos, end, version)
            l_status.append(i_status)
        self.status = l_status
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.active_tasks = None
    else:
        if n * 3 > end - pos:
            raise length_read("StreamsGroupHeartbeatResponse.active_tasks", n, end - pos)
        l_active_tasks: list[StreamsGroupHeartbeatResponseTaskIds] = []
        for _ in range(n):
            i_active_tasks, pos = _read_StreamsGroupHeartbeatResponseTaskIds(buf, pos, end, version)
            l_active_tasks.append(i_active_tasks)
        self.active_tasks = l_active_tasks
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.standby_tasks = None
    else:
        if n * 3 > end - pos:
            raise length_read("StreamsGroupHeartbeatResponse.standby_tasks", n, end - pos)
        l_standby_tasks: list[StreamsGroupHeartbeatResponseTaskIds] = []
        for _ in range(n):
            i_standby_tasks, pos = _read_StreamsGroupHeartbeatResponseTaskIds(buf, pos, end, version)
            l_standby_tasks.append(i_standby_tasks)
        self.standby_tasks = l_standby_tasks
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.warmup_tasks = None
    else:
        if n * 3 > end - pos:
            raise length_read("StreamsGroupHeartbeatResponse.warmup_tasks", n, end - pos)
        l_warmup_tasks: list[StreamsGroupHeartbeatResponseTaskIds] = []
        for _ in range(n):
            i_warmup_tasks, pos = _read_StreamsGroupHeartbeatResponseTaskIds(buf, pos, end, version)
            l_warmup_tasks.append(i_warmup_tasks)
        self.warmup_tasks = l_warmup_tasks
    (self.endpoint_information_epoch,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.partitions_by_user_endpoint = None
    else:
        if n * 7 > end - pos:
            raise length_read("StreamsGroupHeartbeatResponse.partitions_by_user_endpoint", n, end - pos)
        l_partitions_by_user_endpoint: list[EndpointToPartitions] = []
        for _ in range(n):
            i_partitions_by_user_endpoint, pos = _read_EndpointToPartitions(buf, pos, end, version)
            l_partitions_by_user_endpoint.append(i_partitions_by_user_endpoint)
        self.partitions_by_user_endpoint = l_partitions_by_user_endpoint
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
