"""BeginQuorumEpoch. Generated from schema/begin_quorum_epoch.txt by tools/generate_messages.py; do not edit."""

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
_pack_u = Struct(">16s").pack
_unpack_u = Struct(">16s").unpack_from
_pack_H = Struct(">H").pack
_unpack_H = Struct(">H").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih2i = Struct(">ihii").pack
_unpack_ih2i = Struct(">ihii").unpack_from
_pack_2i = Struct(">ii").pack
_unpack_2i = Struct(">ii").unpack_from


class BeginQuorumEpochRequestPartitionData:
    """Part of BeginQuorumEpochRequest."""

    __slots__ = ("partition_index", "voter_directory_id", "leader_id", "leader_epoch")

    partition_index: int
    voter_directory_id: bytes
    leader_id: int
    leader_epoch: int

    def __init__(
        self,
        *,
        partition_index: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.voter_directory_id = voter_directory_id
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BeginQuorumEpochRequestPartitionData):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.voter_directory_id == other.voter_directory_id
            and self.leader_id == other.leader_id
            and self.leader_epoch == other.leader_epoch
        )

    def __repr__(self) -> str:
        return f"BeginQuorumEpochRequestPartitionData(partition_index={self.partition_index!r}, voter_directory_id={self.voter_directory_id!r}, leader_id={self.leader_id!r}, leader_epoch={self.leader_epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 1
        buf += _pack_i(self.partition_index)
        if version >= 1:
            if len(self.voter_directory_id) != 16:
                raise uuid_written("BeginQuorumEpochRequestPartitionData.voter_directory_id")
            buf += _pack_u(self.voter_directory_id)
        buf += _pack_2i(self.leader_id, self.leader_epoch)
        if flexible:
            buf.append(0)


def _read_BeginQuorumEpochRequestPartitionData(buf: memoryview, pos: int, end: int, version: int) -> tuple[BeginQuorumEpochRequestPartitionData, int]:
    flexible = version >= 1
    self = BeginQuorumEpochRequestPartitionData.__new__(BeginQuorumEpochRequestPartitionData)
    (self.partition_index,) = _unpack_i(buf, pos)
    pos += 4
    if version >= 1:
        (self.voter_directory_id,) = _unpack_u(buf, pos)
        pos += 16
    else:
        self.voter_directory_id = ZERO_UUID
    self.leader_id, self.leader_epoch = _unpack_2i(buf, pos)
    pos += 8
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class BeginQuorumEpochRequestTopicData:
    """Part of BeginQuorumEpochRequest."""

    __slots__ = ("topic_name", "partitions")

    topic_name: str
    partitions: list[BeginQuorumEpochRequestPartitionData]

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[BeginQuorumEpochRequestPartitionData] = _EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BeginQuorumEpochRequestTopicData):
            return NotImplemented
        return (
            self.topic_name == other.topic_name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"BeginQuorumEpochRequestTopicData(topic_name={self.topic_name!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 1
        data = self.topic_name.encode()
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


def _read_BeginQuorumEpochRequestTopicData(buf: memoryview, pos: int, end: int, version: int) -> tuple[BeginQuorumEpochRequestTopicData, int]:
    flexible = version >= 1
    self = BeginQuorumEpochRequestTopicData.__new__(BeginQuorumEpochRequestTopicData)
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
        raise null_read("BeginQuorumEpochRequestTopicData.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("BeginQuorumEpochRequestTopicData.topic_name", n, end - pos)
    self.topic_name = str(buf[pos:stop], "utf-8")
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
        raise null_read("BeginQuorumEpochRequestTopicData.partitions")
    if n * 12 > end - pos:
        raise length_read("BeginQuorumEpochRequestTopicData.partitions", n, end - pos)
    l_partitions: list[BeginQuorumEpochRequestPartitionData] = []
    for _ in range(n):
        i_partitions, pos = _read_BeginQuorumEpochRequestPartitionData(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class LeaderEndpoint:
    """Part of BeginQuorumEpochRequest."""

    __slots__ = ("name", "host", "port")

    name: str
    host: str
    port: int

    def __init__(
        self,
        *,
        name: str = "",
        host: str = "",
        port: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LeaderEndpoint):
            return NotImplemented
        return (
            self.name == other.name
            and self.host == other.host
            and self.port == other.port
        )

    def __repr__(self) -> str:
        return f"LeaderEndpoint(name={self.name!r}, host={self.host!r}, port={self.port!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        data = self.host.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_H(self.port)
        buf.append(0)


def _read_LeaderEndpoint(buf: memoryview, pos: int, end: int, version: int) -> tuple[LeaderEndpoint, int]:
    self = LeaderEndpoint.__new__(LeaderEndpoint)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("LeaderEndpoint.name")
    stop = pos + n
    if stop > end:
        raise length_read("LeaderEndpoint.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("LeaderEndpoint.host")
    stop = pos + n
    if stop > end:
        raise length_read("LeaderEndpoint.host", n, end - pos)
    self.host = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.port,) = _unpack_H(buf, pos)
    pos += 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class BeginQuorumEpochRequest:
    """Versions 0 to 1, flexible from 1."""

    __slots__ = ("cluster_id", "voter_id", "topics", "leader_endpoints")

    API_KEY: ClassVar[int] = 53
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1

    cluster_id: str | None
    voter_id: int
    topics: list[BeginQuorumEpochRequestTopicData]
    leader_endpoints: list[LeaderEndpoint]

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        voter_id: int = -1,
        topics: list[BeginQuorumEpochRequestTopicData] = _EMPTY,
        leader_endpoints: list[LeaderEndpoint] = _EMPTY,
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.topics = [] if topics is _EMPTY else topics
        self.leader_endpoints = [] if leader_endpoints is _EMPTY else leader_endpoints

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BeginQuorumEpochRequest):
            return NotImplemented
        return (
            self.cluster_id == other.cluster_id
            and self.voter_id == other.voter_id
            and self.topics == other.topics
            and self.leader_endpoints == other.leader_endpoints
        )

    def __repr__(self) -> str:
        return f"BeginQuorumEpochRequest(cluster_id={self.cluster_id!r}, voter_id={self.voter_id!r}, topics={self.topics!r}, leader_endpoints={self.leader_endpoints!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("BeginQuorumEpochRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 1
            v_cluster_id = self.cluster_id
            if v_cluster_id is None:
                if flexible:
                    buf.append(0)
                else:
                    buf += b"\xff\xff"
            else:
                data = v_cluster_id.encode()
                n = len(data)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                else:
                    buf += _pack_h(n)
                buf += data
            if version >= 1:
                buf += _pack_i(self.voter_id)
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
            if version >= 1:
                n = len(self.leader_endpoints)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_leader_endpoints in self.leader_endpoints:
                    i_leader_endpoints.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("BeginQuorumEpochRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[BeginQuorumEpochRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("BeginQuorumEpochRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("BeginQuorumEpochRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_BeginQuorumEpochRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("BeginQuorumEpochRequest", version, error) from error
        if pos > end:
            raise decode_failed("BeginQuorumEpochRequest", version, "truncated")
        return message, pos


def _read_BeginQuorumEpochRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[BeginQuorumEpochRequest, int]:
    flexible = version >= 1
    self = BeginQuorumEpochRequest.__new__(BeginQuorumEpochRequest)
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
        self.cluster_id = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("BeginQuorumEpochRequest.cluster_id", n, end - pos)
        self.cluster_id = str(buf[pos:stop], "utf-8")
        pos = stop
    if version >= 1:
        (self.voter_id,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.voter_id = -1
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
        raise null_read("BeginQuorumEpochRequest.topics")
    if n * 3 > end - pos:
        raise length_read("BeginQuorumEpochRequest.topics", n, end - pos)
    l_topics: list[BeginQuorumEpochRequestTopicData] = []
    for _ in range(n):
        i_topics, pos = _read_BeginQuorumEpochRequestTopicData(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if version >= 1:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("BeginQuorumEpochRequest.leader_endpoints")
        if n * 5 > end - pos:
            raise length_read("BeginQuorumEpochRequest.leader_endpoints", n, end - pos)
        l_leader_endpoints: list[LeaderEndpoint] = []
        for _ in range(n):
            i_leader_endpoints, pos = _read_LeaderEndpoint(buf, pos, end, version)
            l_leader_endpoints.append(i_leader_endpoints)
        self.leader_endpoints = l_leader_endpoints
    else:
        self.leader_endpoints = []
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class BeginQuorumEpochResponsePartitionData:
    """Part of BeginQuorumEpochResponse."""

    __slots__ = ("partition_index", "error_code", "leader_id", "leader_epoch")

    partition_index: int
    error_code: int
    leader_id: int
    leader_epoch: int

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BeginQuorumEpochResponsePartitionData):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.error_code == other.error_code
            and self.leader_id == other.leader_id
            and self.leader_epoch == other.leader_epoch
        )

    def __repr__(self) -> str:
        return f"BeginQuorumEpochResponsePartitionData(partition_index={self.partition_index!r}, error_code={self.error_code!r}, leader_id={self.leader_id!r}, leader_epoch={self.leader_epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 1
        buf += _pack_ih2i(self.partition_index, self.error_code, self.leader_id, self.leader_epoch)
        if flexible:
            buf.append(0)


def _read_BeginQuorumEpochResponsePartitionData(buf: memoryview, pos: int, end: int, version: int) -> tuple[BeginQuorumEpochResponsePartitionData, int]:
    flexible = version >= 1
    self = BeginQuorumEpochResponsePartitionData.__new__(BeginQuorumEpochResponsePartitionData)
    self.partition_index, self.error_code, self.leader_id, self.leader_epoch = _unpack_ih2i(buf, pos)
    pos += 14
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class BeginQuorumEpochResponseTopicData:
    """Part of BeginQuorumEpochResponse."""

    __slots__ = ("topic_name", "partitions")

    topic_name: str
    partitions: list[BeginQuorumEpochResponsePartitionData]

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[BeginQuorumEpochResponsePartitionData] = _EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BeginQuorumEpochResponseTopicData):
            return NotImplemented
        return (
            self.topic_name == other.topic_name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"BeginQuorumEpochResponseTopicData(topic_name={self.topic_name!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 1
        data = self.topic_name.encode()
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


def _read_BeginQuorumEpochResponseTopicData(buf: memoryview, pos: int, end: int, version: int) -> tuple[BeginQuorumEpochResponseTopicData, int]:
    flexible = version >= 1
    self = BeginQuorumEpochResponseTopicData.__new__(BeginQuorumEpochResponseTopicData)
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
        raise null_read("BeginQuorumEpochResponseTopicData.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("BeginQuorumEpochResponseTopicData.topic_name", n, end - pos)
    self.topic_name = str(buf[pos:stop], "utf-8")
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
        raise null_read("BeginQuorumEpochResponseTopicData.partitions")
    if n * 14 > end - pos:
        raise length_read("BeginQuorumEpochResponseTopicData.partitions", n, end - pos)
    l_partitions: list[BeginQuorumEpochResponsePartitionData] = []
    for _ in range(n):
        i_partitions, pos = _read_BeginQuorumEpochResponsePartitionData(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class NodeEndpoint:
    """Part of BeginQuorumEpochResponse."""

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


class BeginQuorumEpochResponse:
    """Versions 0 to 1, flexible from 1."""

    __slots__ = ("error_code", "topics", "node_endpoints")

    API_KEY: ClassVar[int] = 53
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1

    error_code: int
    topics: list[BeginQuorumEpochResponseTopicData]
    node_endpoints: list[NodeEndpoint]

    def __init__(
        self,
        *,
        error_code: int = 0,
        topics: list[BeginQuorumEpochResponseTopicData] = _EMPTY,
        node_endpoints: list[NodeEndpoint] = _EMPTY,
    ) -> None:
        self.error_code = error_code
        self.topics = [] if topics is _EMPTY else topics
        self.node_endpoints = [] if node_endpoints is _EMPTY else node_endpoints

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BeginQuorumEpochResponse):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.topics == other.topics
            and self.node_endpoints == other.node_endpoints
        )

    def __repr__(self) -> str:
        return f"BeginQuorumEpochResponse(error_code={self.error_code!r}, topics={self.topics!r}, node_endpoints={self.node_endpoints!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("BeginQuorumEpochResponse", version, "no such version")
        try:
            if version < 1:
                if self.node_endpoints:
                    raise field_unsupported("BeginQuorumEpochResponse.node_endpoints", version)
            buf = out.buf
            flexible = version >= 1
            buf += _pack_h(self.error_code)
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
                count = 0
                if self.node_endpoints:
                    count += 1
                buf.append(count)
                if count:
                    if self.node_endpoints:
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
            raise encode_failed("BeginQuorumEpochResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[BeginQuorumEpochResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("BeginQuorumEpochResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("BeginQuorumEpochResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_BeginQuorumEpochResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("BeginQuorumEpochResponse", version, error) from error
        if pos > end:
            raise decode_failed("BeginQuorumEpochResponse", version, "truncated")
        return message, pos


def _read_BeginQuorumEpochResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[BeginQuorumEpochResponse, int]:
    flexible = version >= 1
    self = BeginQuorumEpochResponse.__new__(BeginQuorumEpochResponse)
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
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
        raise null_read("BeginQuorumEpochResponse.topics")
    if n * 3 > end - pos:
        raise length_read("BeginQuorumEpochResponse.topics", n, end - pos)
    l_topics: list[BeginQuorumEpochResponseTopicData] = []
    for _ in range(n):
        i_topics, pos = _read_BeginQuorumEpochResponseTopicData(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    self.node_endpoints = []
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            count, pos = read_uvarint(buf, pos)
            if count * 2 > end - pos:
                raise length_read("BeginQuorumEpochResponse tags", count, end - pos)
            for _ in range(count):
                tag, pos = read_uvarint(buf, pos)
                size, pos = read_uvarint(buf, pos)
                tag_end = pos + size
                if tag_end > end:
                    raise length_read("BeginQuorumEpochResponse tag", size, end - pos)
                if tag == 0:
                    n = buf[pos] - 1
                    pos += 1
                    if n > 126:
                        n, pos = read_uvarint_tail(n + 1, buf, pos)
                        n -= 1
                    if n < 0:
                        raise null_read("BeginQuorumEpochResponse.node_endpoints")
                    if n * 8 > end - pos:
                        raise length_read("BeginQuorumEpochResponse.node_endpoints", n, end - pos)
                    l_node_endpoints: list[NodeEndpoint] = []
                    for _ in range(n):
                        i_node_endpoints, pos = _read_NodeEndpoint(buf, pos, end, version)
                        l_node_endpoints.append(i_node_endpoints)
                    self.node_endpoints = l_node_endpoints
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise DecodeError(f"BeginQuorumEpochResponse: tag {tag} does not fill its {size} bytes")
    return self, pos
