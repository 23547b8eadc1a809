"""Vote. Generated from schema/vote.txt by tools/generate_messages.py; do not edit."""

from __future__ import annotations

from struct import Struct
from typing import Any, ClassVar, Final

from ottla.wire.primitives import (
    Buffer,
    DECODE_FAILURES,
    DecodeError,
    ENCODE_FAILURES,
    Encoder,
    ZERO_UUID,
    decode_failed,
    encode_failed,
    field_unsupported,
    length_read,
    null_read,
    read_string_length_tail,
    read_uvarint,
    read_uvarint_tail,
    skip_tagged_fields,
    uuid_written,
    write_string_length,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_2u = Struct(">16s16s").pack
_unpack_2u = Struct(">16s16s").unpack_from
_pack_z = Struct(">?").pack
_unpack_z = Struct(">?").unpack_from
_pack_H = Struct(">H").pack
_unpack_H = Struct(">H").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih2iz = Struct(">ihii?").pack
_unpack_ih2iz = Struct(">ihii?").unpack_from
_pack_3i = Struct(">iii").pack
_unpack_3i = Struct(">iii").unpack_from
_pack_iq = Struct(">iq").pack
_unpack_iq = Struct(">iq").unpack_from


class VoteRequestPartitionData:
    """Part of VoteRequest."""

    __slots__ = ("partition_index", "replica_epoch", "replica_id", "replica_directory_id", "voter_directory_id", "last_offset_epoch", "last_offset", "pre_vote")

    partition_index: int
    replica_epoch: int
    replica_id: int
    replica_directory_id: bytes
    voter_directory_id: bytes
    last_offset_epoch: int
    last_offset: int
    pre_vote: bool

    def __init__(
        self,
        *,
        partition_index: int = 0,
        replica_epoch: int = 0,
        replica_id: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        voter_directory_id: bytes = ZERO_UUID,
        last_offset_epoch: int = 0,
        last_offset: int = 0,
        pre_vote: bool = False,
    ) -> None:
        self.partition_index = partition_index
        self.replica_epoch = replica_epoch
        self.replica_id = replica_id
        self.replica_directory_id = replica_directory_id
        self.voter_directory_id = voter_directory_id
        self.last_offset_epoch = last_offset_epoch
        self.last_offset = last_offset
        self.pre_vote = pre_vote

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VoteRequestPartitionData):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.replica_epoch == other.replica_epoch
            and self.replica_id == other.replica_id
            and self.replica_directory_id == other.replica_directory_id
            and self.voter_directory_id == other.voter_directory_id
            and self.last_offset_epoch == other.last_offset_epoch
            and self.last_offset == other.last_offset
            and self.pre_vote == other.pre_vote
        )

    def __repr__(self) -> str:
        return f"VoteRequestPartitionData(partition_index={self.partition_index!r}, replica_epoch={self.replica_epoch!r}, replica_id={self.replica_id!r}, replica_directory_id={self.replica_directory_id!r}, voter_directory_id={self.voter_directory_id!r}, last_offset_epoch={self.last_offset_epoch!r}, last_offset={self.last_offset!r}, pre_vote={self.pre_vote!r})"

    def encode(self, out: Encoder, version: int) -> None:
        if version < 2:
            if self.pre_vote:
                raise field_unsupported("VoteRequestPartitionData.pre_vote", version)
        buf = out.buf
        buf += _pack_3i(self.partition_index, self.replica_epoch, self.replica_id)
        if version >= 1:
            if len(self.replica_directory_id) != 16:
                raise uuid_written("VoteRequestPartitionData.replica_directory_id")
            if len(self.voter_directory_id) != 16:
                raise uuid_written("VoteRequestPartitionData.voter_directory_id")
            buf += _pack_2u(self.replica_directory_id, self.voter_directory_id)
        buf += _pack_iq(self.last_offset_epoch, self.last_offset)
        if version >= 2:
            buf += _pack_z(self.pre_vote)
        buf.append(0)


def _read_VoteRequestPartitionData(buf: memoryview, pos: int, end: int, version: int) -> tuple[VoteRequestPartitionData, int]:
    self = VoteRequestPartitionData.__new__(VoteRequestPartitionData)
    self.partition_index, self.replica_epoch, self.replica_id = _unpack_3i(buf, pos)
    pos += 12
    if version >= 1:
        self.replica_directory_id, self.voter_directory_id = _unpack_2u(buf, pos)
        pos += 32
    else:
        self.replica_directory_id = ZERO_UUID
        self.voter_directory_id = ZERO_UUID
    self.last_offset_epoch, self.last_offset = _unpack_iq(buf, pos)
    pos += 12
    if version >= 2:
        self.pre_vote = buf[pos] != 0
        pos += 1
    else:
        self.pre_vote = False
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class VoteRequestTopicData:
    """Part of VoteRequest."""

    __slots__ = ("topic_name", "partitions")

    topic_name: str
    partitions: list[VoteRequestPartitionData]

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[VoteRequestPartitionData] = _EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VoteRequestTopicData):
            return NotImplemented
        return (
            self.topic_name == other.topic_name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"VoteRequestTopicData(topic_name={self.topic_name!r}, partitions={self.partitions!r})"

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


def _read_VoteRequestTopicData(buf: memoryview, pos: int, end: int, version: int) -> tuple[VoteRequestTopicData, int]:
    self = VoteRequestTopicData.__new__(VoteRequestTopicData)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("VoteRequestTopicData.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("VoteRequestTopicData.topic_name", n, end - pos)
    self.topic_name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("VoteRequestTopicData.partitions")
    if n * 25 > end - pos:
        raise length_read("VoteRequestTopicData.partitions", n, end - pos)
    l_partitions: list[VoteRequestPartitionData] = []
    for _ in range(n):
        i_partitions, pos = _read_VoteRequestPartitionData(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class VoteRequest:
    """Versions 0 to 2."""

    __slots__ = ("cluster_id", "voter_id", "topics")

    API_KEY: ClassVar[int] = 52
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    cluster_id: str | None
    voter_id: int
    topics: list[VoteRequestTopicData]

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        voter_id: int = -1,
        topics: list[VoteRequestTopicData] = _EMPTY,
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VoteRequest):
            return NotImplemented
        return (
            self.cluster_id == other.cluster_id
            and self.voter_id == other.voter_id
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"VoteRequest(cluster_id={self.cluster_id!r}, voter_id={self.voter_id!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("VoteRequest", version, "no such version")
        try:
            buf = out.buf
            v_cluster_id = self.cluster_id
            if v_cluster_id is None:
                buf.append(0)
            else:
                data = v_cluster_id.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            if version >= 1:
                buf += _pack_i(self.voter_id)
            n = len(self.topics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_topics in self.topics:
                i_topics.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("VoteRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[VoteRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("VoteRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("VoteRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_VoteRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("VoteRequest", version, error) from error
        if pos > end:
            raise decode_failed("VoteRequest", version, "truncated")
        return message, pos


def _read_VoteRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[VoteRequest, int]:
    self = VoteRequest.__new__(VoteRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.cluster_id = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("VoteRequest.cluster_id", n, end - pos)
        self.cluster_id = str(buf[pos:stop], "utf-8")
        pos = stop
    if version >= 1:
        (self.voter_id,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.voter_id = -1
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("VoteRequest.topics")
    if n * 3 > end - pos:
        raise length_read("VoteRequest.topics", n, end - pos)
    l_topics: list[VoteRequestTopicData] = []
    for _ in range(n):
        i_topics, pos = _read_VoteRequestTopicData(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class VoteResponsePartitionData:
    """Part of VoteResponse."""

    __slots__ = ("partition_index", "error_code", "leader_id", "leader_epoch", "vote_granted")

    partition_index: int
    error_code: int
    leader_id: int
    leader_epoch: int
    vote_granted: bool

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        vote_granted: bool = False,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.vote_granted = vote_granted

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VoteResponsePartitionData):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.error_code == other.error_code
            and self.leader_id == other.leader_id
            and self.leader_epoch == other.leader_epoch
            and self.vote_granted == other.vote_granted
        )

    def __repr__(self) -> str:
        return f"VoteResponsePartitionData(partition_index={self.partition_index!r}, error_code={self.error_code!r}, leader_id={self.leader_id!r}, leader_epoch={self.leader_epoch!r}, vote_granted={self.vote_granted!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_ih2iz(self.partition_index, self.error_code, self.leader_id, self.leader_epoch, self.vote_granted)
        buf.append(0)


def _read_VoteResponsePartitionData(buf: memoryview, pos: int, end: int, version: int) -> tuple[VoteResponsePartitionData, int]:
    self = VoteResponsePartitionData.__new__(VoteResponsePartitionData)
    self.partition_index, self.error_code, self.leader_id, self.leader_epoch, self.vote_granted = _unpack_ih2iz(buf, pos)
    pos += 15
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class VoteResponseTopicData:
    """Part of VoteResponse."""

    __slots__ = ("topic_name", "partitions")

    topic_name: str
    partitions: list[VoteResponsePartitionData]

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[VoteResponsePartitionData] = _EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VoteResponseTopicData):
            return NotImplemented
        return (
            self.topic_name == other.topic_name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"VoteResponseTopicData(topic_name={self.topic_name!r}, partitions={self.partitions!r})"

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


def _read_VoteResponseTopicData(buf: memoryview, pos: int, end: int, version: int) -> tuple[VoteResponseTopicData, int]:
    self = VoteResponseTopicData.__new__(VoteResponseTopicData)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("VoteResponseTopicData.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("VoteResponseTopicData.topic_name", n, end - pos)
    self.topic_name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("VoteResponseTopicData.partitions")
    if n * 16 > end - pos:
        raise length_read("VoteResponseTopicData.partitions", n, end - pos)
    l_partitions: list[VoteResponsePartitionData] = []
    for _ in range(n):
        i_partitions, pos = _read_VoteResponsePartitionData(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class NodeEndpoint:
    """Part of VoteResponse."""

    __slots__ = ("node_id", "host", "port")

    node_id: int
    host: str
    port: int

    def __init__(
        self,
        *,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NodeEndpoint):
            return NotImplemented
        return (
            self.node_id == other.node_id
            and self.host == other.host
            and self.port == other.port
        )

    def __repr__(self) -> str:
        return f"NodeEndpoint(node_id={self.node_id!r}, host={self.host!r}, port={self.port!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_i(self.node_id)
        data = self.host.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_H(self.port)
        buf.append(0)


def _read_NodeEndpoint(buf: memoryview, pos: int, end: int, version: int) -> tuple[NodeEndpoint, int]:
    self = NodeEndpoint.__new__(NodeEndpoint)
    (self.node_id,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("NodeEndpoint.host")
    stop = pos + n
    if stop > end:
        raise length_read("NodeEndpoint.host", n, end - pos)
    self.host = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.port,) = _unpack_H(buf, pos)
    pos += 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class VoteResponse:
    """Versions 0 to 2."""

    __slots__ = ("error_code", "topics", "node_endpoints")

    API_KEY: ClassVar[int] = 52
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    error_code: int
    topics: list[VoteResponseTopicData]
    node_endpoints: list[NodeEndpoint]

    def __init__(
        self,
        *,
        error_code: int = 0,
        topics: list[VoteResponseTopicData] = _EMPTY,
        node_endpoints: list[NodeEndpoint] = _EMPTY,
    ) -> None:
        self.error_code = error_code
        self.topics = [] if topics is _EMPTY else topics
        self.node_endpoints = [] if node_endpoints is _EMPTY else node_endpoints

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VoteResponse):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.topics == other.topics
            and self.node_endpoints == other.node_endpoints
        )

    def __repr__(self) -> str:
        return f"VoteResponse(error_code={self.error_code!r}, topics={self.topics!r}, node_endpoints={self.node_endpoints!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("VoteResponse", version, "no such version")
        try:
            if version < 1:
                if self.node_endpoints:
                    raise field_unsupported("VoteResponse.node_endpoints", version)
            buf = out.buf
            buf += _pack_h(self.error_code)
            n = len(self.topics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_topics in self.topics:
                i_topics.encode(out, version)
            count = 0
            if version >= 1 and (self.node_endpoints):
                count += 1
            buf.append(count)
            if count:
                if version >= 1 and (self.node_endpoints):
                    sub = Encoder()
                    sub_buf = sub.buf
                    n = len(self.node_endpoints)
                    if n < 127:
                        sub_buf.append(n + 1)
                    else:
                        write_uvarint(sub_buf, n + 1)
                    for i_node_endpoints in self.node_endpoints:
                        i_node_endpoints.encode(sub, version)
                    buf.append(0)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
        except ENCODE_FAILURES as error:
            raise encode_failed("VoteResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[VoteResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("VoteResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("VoteResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_VoteResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("VoteResponse", version, error) from error
        if pos > end:
            raise decode_failed("VoteResponse", version, "truncated")
        return message, pos


def _read_VoteResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[VoteResponse, int]:
    self = VoteResponse.__new__(VoteResponse)
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("VoteResponse.topics")
    if n * 3 > end - pos:
        raise length_read("VoteResponse.topics", n, end - pos)
    l_topics: list[VoteResponseTopicData] = []
    for _ in range(n):
        i_topics, pos = _read_VoteResponseTopicData(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    self.node_endpoints = []
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("VoteResponse tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("VoteResponse tag", size, end - pos)
            if tag == 0 and version >= 1:
                n = buf[pos] - 1
                pos += 1
                if n > 126:
                    n, pos = read_uvarint_tail(n + 1, buf, pos)
                    n -= 1
                if n < 0:
                    raise null_read("VoteResponse.node_endpoints")
                if n * 8 > end - pos:
                    raise length_read("VoteResponse.node_endpoints", n, end - pos)
                l_node_endpoints: list[NodeEndpoint] = []
                for _ in range(n):
                    i_node_endpoints, pos = _read_NodeEndpoint(buf, pos, end, version)
                    l_node_endpoints.append(i_node_endpoints)
                self.node_endpoints = l_node_endpoints
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"VoteResponse: tag {tag} does not fill its {size} bytes")
    return self, pos
