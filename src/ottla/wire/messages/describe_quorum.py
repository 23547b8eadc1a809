"""DescribeQuorum. Generated from schema/describe_quorum.txt by tools/generate_messages.py; do not edit."""

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
    field_unsupported,
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
_pack_H = Struct(">H").pack
_unpack_H = Struct(">H").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from
_pack_2iq = Struct(">iiq").pack
_unpack_2iq = Struct(">iiq").unpack_from
_pack_q = Struct(">q").pack
_unpack_q = Struct(">q").unpack_from
_pack_2q = Struct(">qq").pack
_unpack_2q = Struct(">qq").unpack_from


class DescribeQuorumRequestPartitionData:
    """Part of DescribeQuorumRequest."""

    __slots__ = ("partition_index",)

    partition_index: int

    def __init__(
        self,
        *,
        partition_index: int = 0,
    ) -> None:
        self.partition_index = partition_index

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeQuorumRequestPartitionData):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
        )

    def __repr__(self) -> str:
        return f"DescribeQuorumRequestPartitionData(partition_index={self.partition_index!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_i(self.partition_index)
        buf.append(0)


def _read_DescribeQuorumRequestPartitionData(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeQuorumRequestPartitionData, int]:
    self = DescribeQuorumRequestPartitionData.__new__(DescribeQuorumRequestPartitionData)
    (self.partition_index,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeQuorumRequestTopicData:
    """Part of DescribeQuorumRequest."""

    __slots__ = ("topic_name", "partitions")

    topic_name: str
    partitions: list[DescribeQuorumRequestPartitionData]

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[DescribeQuorumRequestPartitionData] = _EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeQuorumRequestTopicData):
            return NotImplemented
        return (
            self.topic_name == other.topic_name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"DescribeQuorumRequestTopicData(topic_name={self.topic_name!r}, partitions={self.partitions!r})"

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


def _read_DescribeQuorumRequestTopicData(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeQuorumRequestTopicData, int]:
    self = DescribeQuorumRequestTopicData.__new__(DescribeQuorumRequestTopicData)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeQuorumRequestTopicData.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeQuorumRequestTopicData.topic_name", n, end - pos)
    self.topic_name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeQuorumRequestTopicData.partitions")
    if n * 5 > end - pos:
        raise length_read("DescribeQuorumRequestTopicData.partitions", n, end - pos)
    l_partitions: list[DescribeQuorumRequestPartitionData] = []
    for _ in range(n):
        i_partitions, pos = _read_DescribeQuorumRequestPartitionData(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeQuorumRequest:
    """Versions 0 to 2."""

    __slots__ = ("topics",)

    API_KEY: ClassVar[int] = 55
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    topics: list[DescribeQuorumRequestTopicData]

    def __init__(
        self,
        *,
        topics: list[DescribeQuorumRequestTopicData] = _EMPTY,
    ) -> None:
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeQuorumRequest):
            return NotImplemented
        return (
            self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"DescribeQuorumRequest(topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("DescribeQuorumRequest", version, "no such version")
        try:
            buf = out.buf
            n = len(self.topics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_topics in self.topics:
                i_topics.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeQuorumRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeQuorumRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("DescribeQuorumRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeQuorumRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeQuorumRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeQuorumRequest", version, error) from error
        if pos > end:
            raise decode_failed("DescribeQuorumRequest", version, "truncated")
        return message, pos


def _read_DescribeQuorumRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeQuorumRequest, int]:
    self = DescribeQuorumRequest.__new__(DescribeQuorumRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeQuorumRequest.topics")
    if n * 3 > end - pos:
        raise length_read("DescribeQuorumRequest.topics", n, end - pos)
    l_topics: list[DescribeQuorumRequestTopicData] = []
    for _ in range(n):
        i_topics, pos = _read_DescribeQuorumRequestTopicData(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ReplicaState:
    """Part of DescribeQuorumResponse."""

    __slots__ = ("replica_id", "replica_directory_id", "log_end_offset", "last_fetch_timestamp", "last_caught_up_timestamp")

    replica_id: int
    replica_directory_id: bytes
    log_end_offset: int
    last_fetch_timestamp: int
    last_caught_up_timestamp: int

    def __init__(
        self,
        *,
        replica_id: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        log_end_offset: int = 0,
        last_fetch_timestamp: int = -1,
        last_caught_up_timestamp: int = -1,
    ) -> None:
        self.replica_id = replica_id
        self.replica_directory_id = replica_directory_id
        self.log_end_offset = log_end_offset
        self.last_fetch_timestamp = last_fetch_timestamp
        self.last_caught_up_timestamp = last_caught_up_timestamp

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReplicaState):
            return NotImplemented
        return (
            self.replica_id == other.replica_id
            and self.replica_directory_id == other.replica_directory_id
            and self.log_end_offset == other.log_end_offset
            and self.last_fetch_timestamp == other.last_fetch_timestamp
            and self.last_caught_up_timestamp == other.last_caught_up_timestamp
        )

    def __repr__(self) -> str:
        return f"ReplicaState(replica_id={self.replica_id!r}, replica_directory_id={self.replica_directory_id!r}, log_end_offset={self.log_end_offset!r}, last_fetch_timestamp={self.last_fetch_timestamp!r}, last_caught_up_timestamp={self.last_caught_up_timestamp!r})"

    def encode(self, out: Encoder, version: int) -> None:
        if version < 2:
            if self.replica_directory_id != ZERO_UUID:
                raise field_unsupported("ReplicaState.replica_directory_id", version)
        buf = out.buf
        buf += _pack_i(self.replica_id)
        if version >= 2:
            if len(self.replica_directory_id) != 16:
                raise uuid_written("ReplicaState.replica_directory_id")
            buf += _pack_u(self.replica_directory_id)
        buf += _pack_q(self.log_end_offset)
        if version >= 1:
            buf += _pack_2q(self.last_fetch_timestamp, self.last_caught_up_timestamp)
        buf.append(0)


def _read_ReplicaState(buf: memoryview, pos: int, end: int, version: int) -> tuple[ReplicaState, int]:
    self = ReplicaState.__new__(ReplicaState)
    (self.replica_id,) = _unpack_i(buf, pos)
    pos += 4
    if version >= 2:
        (self.replica_directory_id,) = _unpack_u(buf, pos)
        pos += 16
    else:
        self.replica_directory_id = ZERO_UUID
    (self.log_end_offset,) = _unpack_q(buf, pos)
    pos += 8
    if version >= 1:
        self.last_fetch_timestamp, self.last_caught_up_timestamp = _unpack_2q(buf, pos)
        pos += 16
    else:
        self.last_fetch_timestamp = -1
        self.last_caught_up_timestamp = -1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeQuorumResponsePartitionData:
    """Part of DescribeQuorumResponse."""

    __slots__ = ("partition_index", "error_code", "error_message", "leader_id", "leader_epoch", "high_watermark", "current_voters", "observers")

    partition_index: int
    error_code: int
    error_message: str | None
    leader_id: int
    leader_epoch: int
    high_watermark: int
    current_voters: list[ReplicaState]
    observers: list[ReplicaState]

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        leader_id: int = 0,
        leader_epoch: int = 0,
        high_watermark: int = 0,
        current_voters: list[ReplicaState] = _EMPTY,
        observers: list[ReplicaState] = _EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.high_watermark = high_watermark
        self.current_voters = [] if current_voters is _EMPTY else current_voters
        self.observers = [] if observers is _EMPTY else observers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeQuorumResponsePartitionData):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.leader_id == other.leader_id
            and self.leader_epoch == other.leader_epoch
            and self.high_watermark == other.high_watermark
            and self.current_voters == other.current_voters
            and self.observers == other.observers
        )

    def __repr__(self) -> str:
        return f"DescribeQuorumResponsePartitionData(partition_index={self.partition_index!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, leader_id={self.leader_id!r}, leader_epoch={self.leader_epoch!r}, high_watermark={self.high_watermark!r}, current_voters={self.current_voters!r}, observers={self.observers!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_ih(self.partition_index, self.error_code)
        if version >= 2:
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
        buf += _pack_2iq(self.leader_id, self.leader_epoch, self.high_watermark)
        n = len(self.current_voters)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_current_voters in self.current_voters:
            i_current_voters.encode(out, version)
        n = len(self.observers)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_observers in self.observers:
            i_observers.encode(out, version)
        buf.append(0)


def _read_DescribeQuorumResponsePartitionData(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeQuorumResponsePartitionData, int]:
    self = DescribeQuorumResponsePartitionData.__new__(DescribeQuorumResponsePartitionData)
    self.partition_index, self.error_code = _unpack_ih(buf, pos)
    pos += 6
    if version >= 2:
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
                raise length_read("DescribeQuorumResponsePartitionData.error_message", n, end - pos)
            self.error_message = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.error_message = ""
    self.leader_id, self.leader_epoch, self.high_watermark = _unpack_2iq(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeQuorumResponsePartitionData.current_voters")
    if n * 13 > end - pos:
        raise length_read("DescribeQuorumResponsePartitionData.current_voters", n, end - pos)
    l_current_voters: list[ReplicaState] = []
    for _ in range(n):
        i_current_voters, pos = _read_ReplicaState(buf, pos, end, version)
        l_current_voters.append(i_current_voters)
    self.current_voters = l_current_voters
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeQuorumResponsePartitionData.observers")
    if n * 13 > end - pos:
        raise length_read("DescribeQuorumResponsePartitionData.observers", n, end - pos)
    l_observers: list[ReplicaState] = []
    for _ in range(n):
        i_observers, pos = _read_ReplicaState(buf, pos, end, version)
        l_observers.append(i_observers)
    self.observers = l_observers
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeQuorumResponseTopicData:
    """Part of DescribeQuorumResponse."""

    __slots__ = ("topic_name", "partitions")

    topic_name: str
    partitions: list[DescribeQuorumResponsePartitionData]

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[DescribeQuorumResponsePartitionData] = _EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeQuorumResponseTopicData):
            return NotImplemented
        return (
            self.topic_name == other.topic_name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"DescribeQuorumResponseTopicData(topic_name={self.topic_name!r}, partitions={self.partitions!r})"

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


def _read_DescribeQuorumResponseTopicData(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeQuorumResponseTopicData, int]:
    self = DescribeQuorumResponseTopicData.__new__(DescribeQuorumResponseTopicData)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeQuorumResponseTopicData.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeQuorumResponseTopicData.topic_name", n, end - pos)
    self.topic_name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeQuorumResponseTopicData.partitions")
    if n * 25 > end - pos:
        raise length_read("DescribeQuorumResponseTopicData.partitions", n, end - pos)
    l_partitions: list[DescribeQuorumResponsePartitionData] = []
    for _ in range(n):
        i_partitions, pos = _read_DescribeQuorumResponsePartitionData(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class Listener:
    """Part of DescribeQuorumResponse."""

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
        if not isinstance(other, Listener):
            return NotImplemented
        return (
            self.name == other.name
            and self.host == other.host
            and self.port == other.port
        )

    def __repr__(self) -> str:
        return f"Listener(name={self.name!r}, host={self.host!r}, port={self.port!r})"

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


def _read_Listener(buf: memoryview, pos: int, end: int, version: int) -> tuple[Listener, int]:
    self = Listener.__new__(Listener)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Listener.name")
    stop = pos + n
    if stop > end:
        raise length_read("Listener.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Listener.host")
    stop = pos + n
    if stop > end:
        raise length_read("Listener.host", n, end - pos)
    self.host = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.port,) = _unpack_H(buf, pos)
    pos += 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class Node:
    """Part of DescribeQuorumResponse."""

    __slots__ = ("node_id", "listeners")

    node_id: int
    listeners: list[Listener]

    def __init__(
        self,
        *,
        node_id: int = 0,
        listeners: list[Listener] = _EMPTY,
    ) -> None:
        self.node_id = node_id
        self.listeners = [] if listeners is _EMPTY else listeners

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Node):
            return NotImplemented
        return (
            self.node_id == other.node_id
            and self.listeners == other.listeners
        )

    def __repr__(self) -> str:
        return f"Node(node_id={self.node_id!r}, listeners={self.listeners!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_i(self.node_id)
        n = len(self.listeners)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_listeners in self.listeners:
            i_listeners.encode(out, version)
        buf.append(0)


def _read_Node(buf: memoryview, pos: int, end: int, version: int) -> tuple[Node, int]:
    self = Node.__new__(Node)
    (self.node_id,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Node.listeners")
    if n * 5 > end - pos:
        raise length_read("Node.listeners", n, end - pos)
    l_listeners: list[Listener] = []
    for _ in range(n):
        i_listeners, pos = _read_Listener(buf, pos, end, version)
        l_listeners.append(i_listeners)
    self.listeners = l_listeners
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeQuorumResponse:
    """Versions 0 to 2."""

    __slots__ = ("error_code", "error_message", "topics", "nodes")

    API_KEY: ClassVar[int] = 55
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    error_code: int
    error_message: str | None
    topics: list[DescribeQuorumResponseTopicData]
    nodes: list[Node]

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        topics: list[DescribeQuorumResponseTopicData] = _EMPTY,
        nodes: list[Node] = _EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.topics = [] if topics is _EMPTY else topics
        self.nodes = [] if nodes is _EMPTY else nodes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeQuorumResponse):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.topics == other.topics
            and self.nodes == other.nodes
        )

    def __repr__(self) -> str:
        return f"DescribeQuorumResponse(error_code={self.error_code!r}, error_message={self.error_message!r}, topics={self.topics!r}, nodes={self.nodes!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("DescribeQuorumResponse", version, "no such version")
        try:
            if version < 2:
                if self.nodes:
                    raise field_unsupported("DescribeQuorumResponse.nodes", version)
            buf = out.buf
            buf += _pack_h(self.error_code)
            if version >= 2:
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
            if version >= 2:
                n = len(self.nodes)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_nodes in self.nodes:
                    i_nodes.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeQuorumResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeQuorumResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("DescribeQuorumResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeQuorumResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeQuorumResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeQuorumResponse", version, error) from error
        if pos > end:
            raise decode_failed("DescribeQuorumResponse", version, "truncated")
        return message, pos


def _read_DescribeQuorumResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeQuorumResponse, int]:
    self = DescribeQuorumResponse.__new__(DescribeQuorumResponse)
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
    if version >= 2:
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
                raise length_read("DescribeQuorumResponse.error_message", n, end - pos)
            self.error_message = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.error_message = ""
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeQuorumResponse.topics")
    if n * 3 > end - pos:
        raise length_read("DescribeQuorumResponse.topics", n, end - pos)
    l_topics: list[DescribeQuorumResponseTopicData] = []
    for _ in range(n):
        i_topics, pos = _read_DescribeQuorumResponseTopicData(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if version >= 2:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("DescribeQuorumResponse.nodes")
        if n * 6 > end - pos:
            raise length_read("DescribeQuorumResponse.nodes", n, end - pos)
        l_nodes: list[Node] = []
        for _ in range(n):
            i_nodes, pos = _read_Node(buf, pos, end, version)
            l_nodes.append(i_nodes)
        self.nodes = l_nodes
    else:
        self.nodes = []
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
