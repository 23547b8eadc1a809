"""OffsetFetch. Generated from schema/offset_fetch.txt by tools/generate_messages.py; do not edit."""

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
    field_unsupported,
    length_read,
    null_read,
    null_written,
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
_pack_z = Struct(">?").pack
_unpack_z = Struct(">?").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_iq = Struct(">iq").pack
_unpack_iq = Struct(">iq").unpack_from
_pack_iqi = Struct(">iqi").pack
_unpack_iqi = Struct(">iqi").unpack_from


class OffsetFetchRequestTopic:
    """Part of OffsetFetchRequest."""

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
        if not isinstance(other, OffsetFetchRequestTopic):
            return NotImplemented
        return (
            self.name == other.name
            and self.partition_indexes == other.partition_indexes
        )

    def __repr__(self) -> str:
        return f"OffsetFetchRequestTopic(name={self.name!r}, partition_indexes={self.partition_indexes!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 6
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
        n = len(self.partition_indexes)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.partition_indexes)
        else:
            buf += _pack_n(f">{n}i", *self.partition_indexes)
        if flexible:
            buf.append(0)


def _read_OffsetFetchRequestTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetFetchRequestTopic, int]:
    flexible = version >= 6
    self = OffsetFetchRequestTopic.__new__(OffsetFetchRequestTopic)
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
        raise null_read("OffsetFetchRequestTopic.name")
    stop = pos + n
    if stop > end:
        raise length_read("OffsetFetchRequestTopic.name", n, end - pos)
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
        raise null_read("OffsetFetchRequestTopic.partition_indexes")
    if n * 4 > end - pos:
        raise length_read("OffsetFetchRequestTopic.partition_indexes", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.partition_indexes = list(INT32_UNPACK[n](buf, pos))
    else:
        self.partition_indexes = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OffsetFetchRequestTopics:
    """Part of OffsetFetchRequest."""

    __slots__ = ("name", "topic_id", "partition_indexes")

    name: str
    topic_id: bytes
    partition_indexes: list[int]

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_indexes: list[int] = _EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_indexes = [] if partition_indexes is _EMPTY else partition_indexes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetFetchRequestTopics):
            return NotImplemented
        return (
            self.name == other.name
            and self.topic_id == other.topic_id
            and self.partition_indexes == other.partition_indexes
        )

    def __repr__(self) -> str:
        return f"OffsetFetchRequestTopics(name={self.name!r}, topic_id={self.topic_id!r}, partition_indexes={self.partition_indexes!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if version <= 9:
            data = self.name.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
        if version >= 10:
            if len(self.topic_id) != 16:
                raise uuid_written("OffsetFetchRequestTopics.topic_id")
            buf += _pack_u(self.topic_id)
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


def _read_OffsetFetchRequestTopics(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetFetchRequestTopics, int]:
    self = OffsetFetchRequestTopics.__new__(OffsetFetchRequestTopics)
    if version <= 9:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("OffsetFetchRequestTopics.name")
        stop = pos + n
        if stop > end:
            raise length_read("OffsetFetchRequestTopics.name", n, end - pos)
        self.name = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.name = ""
    if version >= 10:
        (self.topic_id,) = _unpack_u(buf, pos)
        pos += 16
    else:
        self.topic_id = ZERO_UUID
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("OffsetFetchRequestTopics.partition_indexes")
    if n * 4 > end - pos:
        raise length_read("OffsetFetchRequestTopics.partition_indexes", n, end - pos)
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


class OffsetFetchRequestGroup:
    """Part of OffsetFetchRequest."""

    __slots__ = ("group_id", "member_id", "member_epoch", "topics")

    group_id: str
    member_id: str | None
    member_epoch: int
    topics: list[OffsetFetchRequestTopics] | None

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str | None = None,
        member_epoch: int = -1,
        topics: list[OffsetFetchRequestTopics] | None = _EMPTY,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetFetchRequestGroup):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.member_id == other.member_id
            and self.member_epoch == other.member_epoch
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"OffsetFetchRequestGroup(group_id={self.group_id!r}, member_id={self.member_id!r}, member_epoch={self.member_epoch!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.group_id.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        if version >= 9:
            v_member_id = self.member_id
            if v_member_id is None:
                buf.append(0)
            else:
                data = v_member_id.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
        if version >= 9:
            buf += _pack_i(self.member_epoch)
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


def _read_OffsetFetchRequestGroup(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetFetchRequestGroup, int]:
    self = OffsetFetchRequestGroup.__new__(OffsetFetchRequestGroup)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("OffsetFetchRequestGroup.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("OffsetFetchRequestGroup.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    if version >= 9:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            self.member_id = None
        else:
            stop = pos + n
            if stop > end:
                raise length_read("OffsetFetchRequestGroup.member_id", n, end - pos)
            self.member_id = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.member_id = None
    if version >= 9:
        (self.member_epoch,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.member_epoch = -1
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.topics = None
    else:
        if n * 3 > end - pos:
            raise length_read("OffsetFetchRequestGroup.topics", n, end - pos)
        l_topics: list[OffsetFetchRequestTopics] = []
        for _ in range(n):
            i_topics, pos = _read_OffsetFetchRequestTopics(buf, pos, end, version)
            l_topics.append(i_topics)
        self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OffsetFetchRequest:
    """Versions 1 to 10, flexible from 6."""

    __slots__ = ("group_id", "topics", "groups", "require_stable")

    API_KEY: ClassVar[int] = 9
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 10
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 6

    group_id: str
    topics: list[OffsetFetchRequestTopic] | None
    groups: list[OffsetFetchRequestGroup]
    require_stable: bool

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[OffsetFetchRequestTopic] | None = _EMPTY,
        groups: list[OffsetFetchRequestGroup] = _EMPTY,
        require_stable: bool = False,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is _EMPTY else topics
        self.groups = [] if groups is _EMPTY else groups
        self.require_stable = require_stable

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetFetchRequest):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.topics == other.topics
            and self.groups == other.groups
            and self.require_stable == other.require_stable
        )

    def __repr__(self) -> str:
        return f"OffsetFetchRequest(group_id={self.group_id!r}, topics={self.topics!r}, groups={self.groups!r}, require_stable={self.require_stable!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 10:
            raise encode_failed("OffsetFetchRequest", version, "no such version")
        try:
            if version > 7:
                if self.group_id != "":
                    raise field_unsupported("OffsetFetchRequest.group_id", version)
                if self.topics is None or self.topics:
                    raise field_unsupported("OffsetFetchRequest.topics", version)
            if version < 8:
                if self.groups:
                    raise field_unsupported("OffsetFetchRequest.groups", version)
            if version < 7:
                if self.require_stable:
                    raise field_unsupported("OffsetFetchRequest.require_stable", version)
            buf = out.buf
            flexible = version >= 6
            if version <= 7:
                data = self.group_id.encode()
                n = len(data)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                else:
                    buf += _pack_h(n)
                buf += data
            if version <= 7:
                v_topics = self.topics
                if v_topics is None:
                    if version < 2:
                        raise null_written("OffsetFetchRequest.topics", version)
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
            if version >= 8:
                n = len(self.groups)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_groups in self.groups:
                    i_groups.encode(out, version)
            if version >= 7:
                buf += _pack_z(self.require_stable)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("OffsetFetchRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[OffsetFetchRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 10:
            raise decode_failed("OffsetFetchRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("OffsetFetchRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_OffsetFetchRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("OffsetFetchRequest", version, error) from error
        if pos > end:
            raise decode_failed("OffsetFetchRequest", version, "truncated")
        return message, pos


def _read_OffsetFetchRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetFetchRequest, int]:
    flexible = version >= 6
    self = OffsetFetchRequest.__new__(OffsetFetchRequest)
    if version <= 7:
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
            raise null_read("OffsetFetchRequest.group_id")
        stop = pos + n
        if stop > end:
            raise length_read("OffsetFetchRequest.group_id", n, end - pos)
        self.group_id = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.group_id = ""
    if version <= 7:
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
            if version < 2:
                raise null_read("OffsetFetchRequest.topics")
            self.topics = None
        else:
            if n * 3 > end - pos:
                raise length_read("OffsetFetchRequest.topics", n, end - pos)
            l_topics: list[OffsetFetchRequestTopic] = []
            for _ in range(n):
                i_topics, pos = _read_OffsetFetchRequestTopic(buf, pos, end, version)
                l_topics.append(i_topics)
            self.topics = l_topics
    else:
        self.topics = []
    if version >= 8:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("OffsetFetchRequest.groups")
        if n * 3 > end - pos:
            raise length_read("OffsetFetchRequest.groups", n, end - pos)
        l_groups: list[OffsetFetchRequestGroup] = []
        for _ in range(n):
            i_groups, pos = _read_OffsetFetchRequestGroup(buf, pos, end, version)
            l_groups.append(i_groups)
        self.groups = l_groups
    else:
        self.groups = []
    if version >= 7:
        self.require_stable = buf[pos] != 0
        pos += 1
    else:
        self.require_stable = False
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OffsetFetchResponsePartition:
    """Part of OffsetFetchResponse."""

    __slots__ = ("partition_index", "committed_offset", "committed_leader_epoch", "metadata", "error_code")

    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    metadata: str | None
    error_code: int

    def __init__(
        self,
        *,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetFetchResponsePartition):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.committed_offset == other.committed_offset
            and self.committed_leader_epoch == other.committed_leader_epoch
            and self.metadata == other.metadata
            and self.error_code == other.error_code
        )

    def __repr__(self) -> str:
        return f"OffsetFetchResponsePartition(partition_index={self.partition_index!r}, committed_offset={self.committed_offset!r}, committed_leader_epoch={self.committed_leader_epoch!r}, metadata={self.metadata!r}, error_code={self.error_code!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 6
        buf += _pack_iq(self.partition_index, self.committed_offset)
        if version >= 5:
            buf += _pack_i(self.committed_leader_epoch)
        v_metadata = self.metadata
        if v_metadata is None:
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff"
        else:
            data = v_metadata.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
        buf += _pack_h(self.error_code)
        if flexible:
            buf.append(0)


def _read_OffsetFetchResponsePartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetFetchResponsePartition, int]:
    flexible = version >= 6
    self = OffsetFetchResponsePartition.__new__(OffsetFetchResponsePartition)
    self.partition_index, self.committed_offset = _unpack_iq(buf, pos)
    pos += 12
    if version >= 5:
        (self.committed_leader_epoch,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.committed_leader_epoch = -1
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
        self.metadata = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("OffsetFetchResponsePartition.metadata", n, end - pos)
        self.metadata = str(buf[pos:stop], "utf-8")
        pos = stop
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OffsetFetchResponseTopic:
    """Part of OffsetFetchResponse."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[OffsetFetchResponsePartition]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[OffsetFetchResponsePartition] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetFetchResponseTopic):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"OffsetFetchResponseTopic(name={self.name!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 6
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


def _read_OffsetFetchResponseTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetFetchResponseTopic, int]:
    flexible = version >= 6
    self = OffsetFetchResponseTopic.__new__(OffsetFetchResponseTopic)
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
        raise null_read("OffsetFetchResponseTopic.name")
    stop = pos + n
    if stop > end:
        raise length_read("OffsetFetchResponseTopic.name", n, end - pos)
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
        raise null_read("OffsetFetchResponseTopic.partitions")
    if n * 16 > end - pos:
        raise length_read("OffsetFetchResponseTopic.partitions", n, end - pos)
    l_partitions: list[OffsetFetchResponsePartition] = []
    for _ in range(n):
        i_partitions, pos = _read_OffsetFetchResponsePartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OffsetFetchResponsePartitions:
    """Part of OffsetFetchResponse."""

    __slots__ = ("partition_index", "committed_offset", "committed_leader_epoch", "metadata", "error_code")

    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    metadata: str | None
    error_code: int

    def __init__(
        self,
        *,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetFetchResponsePartitions):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.committed_offset == other.committed_offset
            and self.committed_leader_epoch == other.committed_leader_epoch
            and self.metadata == other.metadata
            and self.error_code == other.error_code
        )

    def __repr__(self) -> str:
        return f"OffsetFetchResponsePartitions(partition_index={self.partition_index!r}, committed_offset={self.committed_offset!r}, committed_leader_epoch={self.committed_leader_epoch!r}, metadata={self.metadata!r}, error_code={self.error_code!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_iqi(self.partition_index, self.committed_offset, self.committed_leader_epoch)
        v_metadata = self.metadata
        if v_metadata is None:
            buf.append(0)
        else:
            data = v_metadata.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
        buf += _pack_h(self.error_code)
        buf.append(0)


def _read_OffsetFetchResponsePartitions(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetFetchResponsePartitions, int]:
    self = OffsetFetchResponsePartitions.__new__(OffsetFetchResponsePartitions)
    self.partition_index, self.committed_offset, self.committed_leader_epoch = _unpack_iqi(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.metadata = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("OffsetFetchResponsePartitions.metadata", n, end - pos)
        self.metadata = str(buf[pos:stop], "utf-8")
        pos = stop
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OffsetFetchResponseTopics:
    """Part of OffsetFetchResponse."""

    __slots__ = ("name", "topic_id", "partitions")

    name: str
    topic_id: bytes
    partitions: list[OffsetFetchResponsePartitions]

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[OffsetFetchResponsePartitions] = _EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetFetchResponseTopics):
            return NotImplemented
        return (
            self.name == other.name
            and self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"OffsetFetchResponseTopics(name={self.name!r}, topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if version <= 9:
            data = self.name.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
        if version >= 10:
            if len(self.topic_id) != 16:
                raise uuid_written("OffsetFetchResponseTopics.topic_id")
            buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        buf.append(0)


def _read_OffsetFetchResponseTopics(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetFetchResponseTopics, int]:
    self = OffsetFetchResponseTopics.__new__(OffsetFetchResponseTopics)
    if version <= 9:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("OffsetFetchResponseTopics.name")
        stop = pos + n
        if stop > end:
            raise length_read("OffsetFetchResponseTopics.name", n, end - pos)
        self.name = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.name = ""
    if version >= 10:
        (self.topic_id,) = _unpack_u(buf, pos)
        pos += 16
    else:
        self.topic_id = ZERO_UUID
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("OffsetFetchResponseTopics.partitions")
    if n * 20 > end - pos:
        raise length_read("OffsetFetchResponseTopics.partitions", n, end - pos)
    l_partitions: list[OffsetFetchResponsePartitions] = []
    for _ in range(n):
        i_partitions, pos = _read_OffsetFetchResponsePartitions(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OffsetFetchResponseGroup:
    """Part of OffsetFetchResponse."""

    __slots__ = ("group_id", "topics", "error_code")

    group_id: str
    topics: list[OffsetFetchResponseTopics]
    error_code: int

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[OffsetFetchResponseTopics] = _EMPTY,
        error_code: int = 0,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is _EMPTY else topics
        self.error_code = error_code

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetFetchResponseGroup):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.topics == other.topics
            and self.error_code == other.error_code
        )

    def __repr__(self) -> str:
        return f"OffsetFetchResponseGroup(group_id={self.group_id!r}, topics={self.topics!r}, error_code={self.error_code!r})"

    def encode(self, out: Encoder, version: int) -> None:
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
        buf += _pack_h(self.error_code)
        buf.append(0)


def _read_OffsetFetchResponseGroup(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetFetchResponseGroup, int]:
    self = OffsetFetchResponseGroup.__new__(OffsetFetchResponseGroup)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("OffsetFetchResponseGroup.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("OffsetFetchResponseGroup.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("OffsetFetchResponseGroup.topics")
    if n * 3 > end - pos:
        raise length_read("OffsetFetchResponseGroup.topics", n, end - pos)
    l_topics: list[OffsetFetchResponseTopics] = []
    for _ in range(n):
        i_topics, pos = _read_OffsetFetchResponseTopics(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OffsetFetchResponse:
    """Versions 1 to 10, flexible from 6."""

    __slots__ = ("throttle_time_ms", "topics", "error_code", "groups")

    API_KEY: ClassVar[int] = 9
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 10
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 6

    throttle_time_ms: int
    topics: list[OffsetFetchResponseTopic]
    error_code: int
    groups: list[OffsetFetchResponseGroup]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[OffsetFetchResponseTopic] = _EMPTY,
        error_code: int = 0,
        groups: list[OffsetFetchResponseGroup] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is _EMPTY else topics
        self.error_code = error_code
        self.groups = [] if groups is _EMPTY else groups

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetFetchResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.topics == other.topics
            and self.error_code == other.error_code
            and self.groups == other.groups
        )

    def __repr__(self) -> str:
        return f"OffsetFetchResponse(throttle_time_ms={self.throttle_time_ms!r}, topics={self.topics!r}, error_code={self.error_code!r}, groups={self.groups!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 10:
            raise encode_failed("OffsetFetchResponse", version, "no such version")
        try:
            if version > 7:
                if self.topics:
                    raise field_unsupported("OffsetFetchResponse.topics", version)
            if version < 8:
                if self.groups:
                    raise field_unsupported("OffsetFetchResponse.groups", version)
            buf = out.buf
            flexible = version >= 6
            if version >= 3:
                buf += _pack_i(self.throttle_time_ms)
            if version <= 7:
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
            if version >= 2 and version <= 7:
                buf += _pack_h(self.error_code)
            if version >= 8:
                n = len(self.groups)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_groups in self.groups:
                    i_groups.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("OffsetFetchResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[OffsetFetchResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 10:
            raise decode_failed("OffsetFetchResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("OffsetFetchResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_OffsetFetchResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("OffsetFetchResponse", version, error) from error
        if pos > end:
            raise decode_failed("OffsetFetchResponse", version, "truncated")
        return message, pos


def _read_OffsetFetchResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetFetchResponse, int]:
    flexible = version >= 6
    self = OffsetFetchResponse.__new__(OffsetFetchResponse)
    if version >= 3:
        (self.throttle_time_ms,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.throttle_time_ms = 0
    if version <= 7:
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
            raise null_read("OffsetFetchResponse.topics")
        if n * 3 > end - pos:
            raise length_read("OffsetFetchResponse.topics", n, end - pos)
        l_topics: list[OffsetFetchResponseTopic] = []
        for _ in range(n):
            i_topics, pos = _read_OffsetFetchResponseTopic(buf, pos, end, version)
            l_topics.append(i_topics)
        self.topics = l_topics
    else:
        self.topics = []
    if version >= 2 and version <= 7:
        (self.error_code,) = _unpack_h(buf, pos)
        pos += 2
    else:
        self.error_code = 0
    if version >= 8:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("OffsetFetchResponse.groups")
        if n * 5 > end - pos:
            raise length_read("OffsetFetchResponse.groups", n, end - pos)
        l_groups: list[OffsetFetchResponseGroup] = []
        for _ in range(n):
            i_groups, pos = _read_OffsetFetchResponseGroup(buf, pos, end, version)
            l_groups.append(i_groups)
        self.groups = l_groups
    else:
        self.groups = []
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
