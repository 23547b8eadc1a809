"""EndQuorumEpoch. Generated from schema/end_quorum_epoch.txt by tools/generate_messages.py; do not edit."""

from __future__ import annotations

from struct import Struct
from struct import pack as _pack_n, unpack_from as _unpack_n
from typing import Any, ClassVar, Final

from ottla.wire.primitives import (
    Buffer,
    DECODE_FAILURES,
    DecodeError,
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
    read_string_length_tail,
    read_uvarint,
    read_uvarint_tail,
    skip_tagged_fields,
    uuid_written,
    write_string_length,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_H = Struct(">H").pack
_unpack_H = Struct(">H").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_iu = Struct(">i16s").pack
_unpack_iu = Struct(">i16s").unpack_from
_pack_ih2i = Struct(">ihii").pack
_unpack_ih2i = Struct(">ihii").unpack_from
_pack_3i = Struct(">iii").pack
_unpack_3i = Struct(">iii").unpack_from


class ReplicaInfo:
    """Part of EndQuorumEpochRequest."""

    __slots__ = ("candidate_id", "candidate_directory_id")

    candidate_id: int
    candidate_directory_id: bytes

    def __init__(
        self,
        *,
        candidate_id: int = 0,
        candidate_directory_id: bytes = ZERO_UUID,
    ) -> None:
        self.candidate_id = candidate_id
        self.candidate_directory_id = candidate_directory_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReplicaInfo):
            return NotImplemented
        return (
            self.candidate_id == other.candidate_id
            and self.candidate_directory_id == other.candidate_directory_id
        )

    def __repr__(self) -> str:
        return f"ReplicaInfo(candidate_id={self.candidate_id!r}, candidate_directory_id={self.candidate_directory_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.candidate_directory_id) != 16:
            raise uuid_written("ReplicaInfo.candidate_directory_id")
        buf += _pack_iu(self.candidate_id, self.candidate_directory_id)
        buf.append(0)


def _read_ReplicaInfo(buf: memoryview, pos: int, end: int, version: int) -> tuple[ReplicaInfo, int]:
    self = ReplicaInfo.__new__(ReplicaInfo)
    self.candidate_id, self.candidate_directory_id = _unpack_iu(buf, pos)
    pos += 20
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class EndQuorumEpochRequestPartitionData:
    """Part of EndQuorumEpochRequest."""

    __slots__ = ("partition_index", "leader_id", "leader_epoch", "preferred_successors", "preferred_candidates")

    partition_index: int
    leader_id: int
    leader_epoch: int
    preferred_successors: list[int]
    preferred_candidates: list[ReplicaInfo]

    def __init__(
        self,
        *,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        preferred_successors: list[int] = _EMPTY,
        preferred_candidates: list[ReplicaInfo] = _EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.preferred_successors = [] if preferred_successors is _EMPTY else preferred_successors
        self.preferred_candidates = [] if preferred_candidates is _EMPTY else preferred_candidates

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EndQuorumEpochRequestPartitionData):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.leader_id == other.leader_id
            and self.leader_epoch == other.leader_epoch
            and self.preferred_successors == other.preferred_successors
            and self.preferred_candidates == other.preferred_candidates
        )

    def __repr__(self) -> str:
        return f"EndQuorumEpochRequestPartitionData(partition_index={self.partition_index!r}, leader_id={self.leader_id!r}, leader_epoch={self.leader_epoch!r}, preferred_successors={self.preferred_successors!r}, preferred_candidates={self.preferred_candidates!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 1
        buf += _pack_3i(self.partition_index, self.leader_id, self.leader_epoch)
        if version <= 0:
            n = len(self.preferred_successors)
            buf += _pack_i(n)
            if n < INT32_ARRAY_SHORT:
                buf += INT32_PACK[n](*self.preferred_successors)
            else:
                buf += _pack_n(f">{n}i", *self.preferred_successors)
        if version >= 1:
            n = len(self.preferred_candidates)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_preferred_candidates in self.preferred_candidates:
                i_preferred_candidates.encode(out, version)
        if flexible:
            buf.append(0)


def _read_EndQuorumEpochRequestPartitionData(buf: memoryview, pos: int, end: int, version: int) -> tuple[EndQuorumEpochRequestPartitionData, int]:
    flexible = version >= 1
    self = EndQuorumEpochRequestPartitionData.__new__(EndQuorumEpochRequestPartitionData)
    self.partition_index, self.leader_id, self.leader_epoch = _unpack_3i(buf, pos)
    pos += 12
    if version <= 0:
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_read("EndQuorumEpochRequestPartitionData.preferred_successors")
        if n * 4 > end - pos:
            raise length_read("EndQuorumEpochRequestPartitionData.preferred_successors", n, end - pos)
        if n < INT32_ARRAY_SHORT:
            self.preferred_successors = list(INT32_UNPACK[n](buf, pos))
        else:
            self.preferred_successors = list(_unpack_n(f">{n}i", buf, pos))
        pos += n * 4
    else:
        self.preferred_successors = []
    if version >= 1:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("EndQuorumEpochRequestPartitionData.preferred_candidates")
        if n * 21 > end - pos:
            raise length_read("EndQuorumEpochRequestPartitionData.preferred_candidates", n, end - pos)
        l_preferred_candidates: list[ReplicaInfo] = []
        for _ in range(n):
            i_preferred_candidates, pos = _read_ReplicaInfo(buf, pos, end, version)
            l_preferred_candidates.append(i_preferred_candidates)
        self.preferred_candidates = l_preferred_candidates
    else:
        self.preferred_candidates = []
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class EndQuorumEpochRequestTopicData:
    """Part of EndQuorumEpochRequest."""

    __slots__ = ("topic_name", "partitions")

    topic_name: str
    partitions: list[EndQuorumEpochRequestPartitionData]

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[EndQuorumEpochRequestPartitionData] = _EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EndQuorumEpochRequestTopicData):
            return NotImplemented
        return (
            self.topic_name == other.topic_name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"EndQuorumEpochRequestTopicData(topic_name={self.topic_name!r}, partitions={self.partitions!r})"

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


def _read_EndQuorumEpochRequestTopicData(buf: memoryview, pos: int, end: int, version: int) -> tuple[EndQuorumEpochRequestTopicData, int]:
    flexible = version >= 1
    self = EndQuorumEpochRequestTopicData.__new__(EndQuorumEpochRequestTopicData)
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
        raise null_read("EndQuorumEpochRequestTopicData.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("EndQuorumEpochRequestTopicData.topic_name", n, end - pos)
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
        raise null_read("EndQuorumEpochRequestTopicData.partitions")
    if n * 14 > end - pos:
        raise length_read("EndQuorumEpochRequestTopicData.partitions", n, end - pos)
    l_partitions: list[EndQuorumEpochRequestPartitionData] = []
    for _ in range(n):
        i_partitions, pos = _read_EndQuorumEpochRequestPartitionData(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class LeaderEndpoint:
    """Part of EndQuorumEpochRequest."""

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


class EndQuorumEpochRequest:
    """Versions 0 to 1, flexible from 1."""

    __slots__ = ("cluster_id", "topics", "leader_endpoints")

    API_KEY: ClassVar[int] = 54
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1

    cluster_id: str | None
    topics: list[EndQuorumEpochRequestTopicData]
    leader_endpoints: list[LeaderEndpoint]

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        topics: list[EndQuorumEpochRequestTopicData] = _EMPTY,
        leader_endpoints: list[LeaderEndpoint] = _EMPTY,
    ) -> None:
        self.cluster_id = cluster_id
        self.topics = [] if topics is _EMPTY else topics
        self.leader_endpoints = [] if leader_endpoints is _EMPTY else leader_endpoints

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EndQuorumEpochRequest):
            return NotImplemented
        return (
            self.cluster_id == other.cluster_id
            and self.topics == other.topics
            and self.leader_endpoints == other.leader_endpoints
        )

    def __repr__(self) -> str:
        return f"EndQuorumEpochRequest(cluster_id={self.cluster_id!r}, topics={self.topics!r}, leader_endpoints={self.leader_endpoints!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("EndQuorumEpochRequest", version, "no such version")
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
            raise encode_failed("EndQuorumEpochRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[EndQuorumEpochRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("EndQuorumEpochRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("EndQuorumEpochRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_EndQuorumEpochRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("EndQuorumEpochRequest", version, error) from error
        if pos > end:
            raise decode_failed("EndQuorumEpochRequest", version, "truncated")
        return message, pos


def _read_EndQuorumEpochRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[EndQuorumEpochRequest, int]:
    flexible = version >= 1
    self = EndQuorumEpochRequest.__new__(EndQuorumEpochRequest)
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
            raise length_read("EndQuorumEpochRequest.cluster_id", n, end - pos)
        self.cluster_id = str(buf[pos:stop], "utf-8")
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
        raise null_read("EndQuorumEpochRequest.topics")
    if n * 3 > end - pos:
        raise length_read("EndQuorumEpochRequest.topics", n, end - pos)
    l_topics: list[EndQuorumEpochRequestTopicData] = []
    for _ in range(n):
        i_topics, pos = _read_EndQuorumEpochRequestTopicData(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if version >= 1:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("EndQuorumEpochRequest.leader_endpoints")
        if n * 5 > end - pos:
            raise length_read("EndQuorumEpochRequest.leader_endpoints", n, end - pos)
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


class EndQuorumEpochResponsePartitionData:
    """Part of EndQuorumEpochResponse."""

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
        if not isinstance(other, EndQuorumEpochResponsePartitionData):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.error_code == other.error_code
            and self.leader_id == other.leader_id
            and self.leader_epoch == other.leader_epoch
        )

    def __repr__(self) -> str:
        return f"EndQuorumEpochResponsePartitionData(partition_index={self.partition_index!r}, error_code={self.error_code!r}, leader_id={self.leader_id!r}, leader_epoch={self.leader_epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 1
        buf += _pack_ih2i(self.partition_index, self.error_code, self.leader_id, self.leader_epoch)
        if flexible:
            buf.append(0)


def _read_EndQuorumEpochResponsePartitionData(buf: memoryview, pos: int, end: int, version: int) -> tuple[EndQuorumEpochResponsePartitionData, int]:
    flexible = version >= 1
    self = EndQuorumEpochResponsePartitionData.__new__(EndQuorumEpochResponsePartitionData)
    self.partition_index, self.error_code, self.leader_id, self.leader_epoch = _unpack_ih2i(buf, pos)
    pos += 14
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class EndQuorumEpochResponseTopicData:
    """Part of EndQuorumEpochResponse."""

    __slots__ = ("topic_name", "partitions")

    topic_name: str
    partitions: list[EndQuorumEpochResponsePartitionData]

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[EndQuorumEpochResponsePartitionData] = _EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EndQuorumEpochResponseTopicData):
            return NotImplemented
        return (
            self.topic_name == other.topic_name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"EndQuorumEpochResponseTopicData(topic_name={self.topic_name!r}, partitions={self.partitions!r})"

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


def _read_EndQuorumEpochResponseTopicData(buf: memoryview, pos: int, end: int, version: int) -> tuple[EndQuorumEpochResponseTopicData, int]:
    flexible = version >= 1
    self = EndQuorumEpochResponseTopicData.__new__(EndQuorumEpochResponseTopicData)
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
        raise null_read("EndQuorumEpochResponseTopicData.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("EndQuorumEpochResponseTopicData.topic_name", n, end - pos)
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
        raise null_read("EndQuorumEpochResponseTopicData.partitions")
    if n * 14 > end - pos:
        raise length_read("EndQuorumEpochResponseTopicData.partitions", n, end - pos)
    l_partitions: list[EndQuorumEpochResponsePartitionData] = []
    for _ in range(n):
        i_partitions, pos = _read_EndQuorumEpochResponsePartitionData(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class NodeEndpoint:
    """Part of EndQuorumEpochResponse."""

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


class EndQuorumEpochResponse:
    """Versions 0 to 1, flexible from 1."""

    __slots__ = ("error_code", "topics", "node_endpoints")

    API_KEY: ClassVar[int] = 54
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1

    error_code: int
    topics: list[EndQuorumEpochResponseTopicData]
    node_endpoints: list[NodeEndpoint]

    def __init__(
        self,
        *,
        error_code: int = 0,
        topics: list[EndQuorumEpochResponseTopicData] = _EMPTY,
        node_endpoints: list[NodeEndpoint] = _EMPTY,
    ) -> None:
        self.error_code = error_code
        self.topics = [] if topics is _EMPTY else topics
        self.node_endpoints = [] if node_endpoints is _EMPTY else node_endpoints

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EndQuorumEpochResponse):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.topics == other.topics
            and self.node_endpoints == other.node_endpoints
        )

    def __repr__(self) -> str:
        return f"EndQuorumEpochResponse(error_code={self.error_code!r}, topics={self.topics!r}, node_endpoints={self.node_endpoints!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("EndQuorumEpochResponse", version, "no such version")
        try:
            if version < 1:
                if self.node_endpoints:
                    raise field_unsupported("EndQuorumEpochResponse.node_endpoints", version)
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
            raise encode_failed("EndQuorumEpochResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[EndQuorumEpochResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("EndQuorumEpochResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("EndQuorumEpochResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_EndQuorumEpochResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("EndQuorumEpochResponse", version, error) from error
        if pos > end:
            raise decode_failed("EndQuorumEpochResponse", version, "truncated")
        return message, pos


def _read_EndQuorumEpochResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[EndQuorumEpochResponse, int]:
    flexible = version >= 1
    self = EndQuorumEpochResponse.__new__(EndQuorumEpochResponse)
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
        raise null_read("EndQuorumEpochResponse.topics")
    if n * 3 > end - pos:
        raise length_read("EndQuorumEpochResponse.topics", n, end - pos)
    l_topics: list[EndQuorumEpochResponseTopicData] = []
    for _ in range(n):
        i_topics, pos = _read_EndQuorumEpochResponseTopicData(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    self.node_endpoints = []
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            count, pos = read_uvarint(buf, pos)
            if count * 2 > end - pos:
                raise length_read("EndQuorumEpochResponse tags", count, end - pos)
            for _ in range(count):
                tag, pos = read_uvarint(buf, pos)
                size, pos = read_uvarint(buf, pos)
                tag_end = pos + size
                if tag_end > end:
                    raise length_read("EndQuorumEpochResponse tag", size, end - pos)
                if tag == 0:
                    n = buf[pos] - 1
                    pos += 1
                    if n > 126:
                        n, pos = read_uvarint_tail(n + 1, buf, pos)
                        n -= 1
                    if n < 0:
                        raise null_read("EndQuorumEpochResponse.node_endpoints")
                    if n * 8 > end - pos:
                        raise length_read("EndQuorumEpochResponse.node_endpoints", n, end - pos)
                    l_node_endpoints: list[NodeEndpoint] = []
                    for _ in range(n):
                        i_node_endpoints, pos = _read_NodeEndpoint(buf, pos, end, version)
                        l_node_endpoints.append(i_node_endpoints)
                    self.node_endpoints = l_node_endpoints
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise DecodeError(f"EndQuorumEpochResponse: tag {tag} does not fill its {size} bytes")
    return self, pos
