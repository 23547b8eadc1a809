"""ShareAcknowledge. Generated from schema/share_acknowledge.txt by tools/generate_messages.py; do not edit."""

from __future__ import annotations

from struct import Struct
from struct import pack as _pack_n, unpack_from as _unpack_n
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
_pack_z = Struct(">?").pack
_unpack_z = Struct(">?").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from
_pack_2i = Struct(">ii").pack
_unpack_2i = Struct(">ii").unpack_from
_pack_2q = Struct(">qq").pack
_unpack_2q = Struct(">qq").unpack_from


class AcknowledgementBatch:
    """Part of ShareAcknowledgeRequest."""

    __slots__ = ("first_offset", "last_offset", "acknowledge_types")

    first_offset: int
    last_offset: int
    acknowledge_types: list[int]

    def __init__(
        self,
        *,
        first_offset: int = 0,
        last_offset: int = 0,
        acknowledge_types: list[int] = _EMPTY,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.acknowledge_types = [] if acknowledge_types is _EMPTY else acknowledge_types

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AcknowledgementBatch):
            return NotImplemented
        return (
            self.first_offset == other.first_offset
            and self.last_offset == other.last_offset
            and self.acknowledge_types == other.acknowledge_types
        )

    def __repr__(self) -> str:
        return f"AcknowledgementBatch(first_offset={self.first_offset!r}, last_offset={self.last_offset!r}, acknowledge_types={self.acknowledge_types!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_2q(self.first_offset, self.last_offset)
        n = len(self.acknowledge_types)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n:
            buf += _pack_n(f">{n}b", *self.acknowledge_types)
        buf.append(0)


def _read_AcknowledgementBatch(buf: memoryview, pos: int, end: int, version: int) -> tuple[AcknowledgementBatch, int]:
    self = AcknowledgementBatch.__new__(AcknowledgementBatch)
    self.first_offset, self.last_offset = _unpack_2q(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AcknowledgementBatch.acknowledge_types")
    if n > end - pos:
        raise length_read("AcknowledgementBatch.acknowledge_types", n, end - pos)
    self.acknowledge_types = list(_unpack_n(f">{n}b", buf, pos))
    pos += n * 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AcknowledgePartition:
    """Part of ShareAcknowledgeRequest."""

    __slots__ = ("partition_index", "acknowledgement_batches")

    partition_index: int
    acknowledgement_batches: list[AcknowledgementBatch]

    def __init__(
        self,
        *,
        partition_index: int = 0,
        acknowledgement_batches: list[AcknowledgementBatch] = _EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.acknowledgement_batches = [] if acknowledgement_batches is _EMPTY else acknowledgement_batches

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AcknowledgePartition):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.acknowledgement_batches == other.acknowledgement_batches
        )

    def __repr__(self) -> str:
        return f"AcknowledgePartition(partition_index={self.partition_index!r}, acknowledgement_batches={self.acknowledgement_batches!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_i(self.partition_index)
        n = len(self.acknowledgement_batches)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_acknowledgement_batches in self.acknowledgement_batches:
            i_acknowledgement_batches.encode(out, version)
        buf.append(0)


def _read_AcknowledgePartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[AcknowledgePartition, int]:
    self = AcknowledgePartition.__new__(AcknowledgePartition)
    (self.partition_index,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AcknowledgePartition.acknowledgement_batches")
    if n * 18 > end - pos:
        raise length_read("AcknowledgePartition.acknowledgement_batches", n, end - pos)
    l_acknowledgement_batches: list[AcknowledgementBatch] = []
    for _ in range(n):
        i_acknowledgement_batches, pos = _read_AcknowledgementBatch(buf, pos, end, version)
        l_acknowledgement_batches.append(i_acknowledgement_batches)
    self.acknowledgement_batches = l_acknowledgement_batches
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AcknowledgeTopic:
    """Part of ShareAcknowledgeRequest."""

    __slots__ = ("topic_id", "partitions")

    topic_id: bytes
    partitions: list[AcknowledgePartition]

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[AcknowledgePartition] = _EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AcknowledgeTopic):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"AcknowledgeTopic(topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("AcknowledgeTopic.topic_id")
        buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        buf.append(0)


def _read_AcknowledgeTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[AcknowledgeTopic, int]:
    self = AcknowledgeTopic.__new__(AcknowledgeTopic)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AcknowledgeTopic.partitions")
    if n * 6 > end - pos:
        raise length_read("AcknowledgeTopic.partitions", n, end - pos)
    l_partitions: list[AcknowledgePartition] = []
    for _ in range(n):
        i_partitions, pos = _read_AcknowledgePartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ShareAcknowledgeRequest:
    """Versions 1 to 2."""

    __slots__ = ("group_id", "member_id", "share_session_epoch", "is_renew_ack", "topics")

    API_KEY: ClassVar[int] = 79
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    group_id: str | None
    member_id: str | None
    share_session_epoch: int
    is_renew_ack: bool
    topics: list[AcknowledgeTopic]

    def __init__(
        self,
        *,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        is_renew_ack: bool = False,
        topics: list[AcknowledgeTopic] = _EMPTY,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.is_renew_ack = is_renew_ack
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareAcknowledgeRequest):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.member_id == other.member_id
            and self.share_session_epoch == other.share_session_epoch
            and self.is_renew_ack == other.is_renew_ack
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"ShareAcknowledgeRequest(group_id={self.group_id!r}, member_id={self.member_id!r}, share_session_epoch={self.share_session_epoch!r}, is_renew_ack={self.is_renew_ack!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 2:
            raise encode_failed("ShareAcknowledgeRequest", version, "no such version")
        try:
            if version < 2:
                if self.is_renew_ack:
                    raise field_unsupported("ShareAcknowledgeRequest.is_renew_ack", version)
            buf = out.buf
            v_group_id = self.group_id
            if v_group_id is None:
                buf.append(0)
            else:
                data = v_group_id.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
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
            buf += _pack_i(self.share_session_epoch)
            if version >= 2:
                buf += _pack_z(self.is_renew_ack)
            n = len(self.topics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_topics in self.topics:
                i_topics.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareAcknowledgeRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareAcknowledgeRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 2:
            raise decode_failed("ShareAcknowledgeRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareAcknowledgeRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareAcknowledgeRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareAcknowledgeRequest", version, error) from error
        if pos > end:
            raise decode_failed("ShareAcknowledgeRequest", version, "truncated")
        return message, pos


def _read_ShareAcknowledgeRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareAcknowledgeRequest, int]:
    self = ShareAcknowledgeRequest.__new__(ShareAcknowledgeRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.group_id = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("ShareAcknowledgeRequest.group_id", n, end - pos)
        self.group_id = str(buf[pos:stop], "utf-8")
        pos = stop
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
            raise length_read("ShareAcknowledgeRequest.member_id", n, end - pos)
        self.member_id = str(buf[pos:stop], "utf-8")
        pos = stop
    (self.share_session_epoch,) = _unpack_i(buf, pos)
    pos += 4
    if version >= 2:
        self.is_renew_ack = buf[pos] != 0
        pos += 1
    else:
        self.is_renew_ack = False
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareAcknowledgeRequest.topics")
    if n * 18 > end - pos:
        raise length_read("ShareAcknowledgeRequest.topics", n, end - pos)
    l_topics: list[AcknowledgeTopic] = []
    for _ in range(n):
        i_topics, pos = _read_AcknowledgeTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class LeaderIdAndEpoch:
    """Part of ShareAcknowledgeResponse."""

    __slots__ = ("leader_id", "leader_epoch")

    leader_id: int
    leader_epoch: int

    def __init__(
        self,
        *,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LeaderIdAndEpoch):
            return NotImplemented
        return (
            self.leader_id == other.leader_id
            and self.leader_epoch == other.leader_epoch
        )

    def __repr__(self) -> str:
        return f"LeaderIdAndEpoch(leader_id={self.leader_id!r}, leader_epoch={self.leader_epoch!r})"

    def _is_default(self) -> bool:
        return not ((self.leader_id != 0) or (self.leader_epoch != 0))

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_2i(self.leader_id, self.leader_epoch)
        buf.append(0)


def _read_LeaderIdAndEpoch(buf: memoryview, pos: int, end: int, version: int) -> tuple[LeaderIdAndEpoch, int]:
    self = LeaderIdAndEpoch.__new__(LeaderIdAndEpoch)
    self.leader_id, self.leader_epoch = _unpack_2i(buf, pos)
    pos += 8
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class PartitionData:
    """Part of ShareAcknowledgeResponse."""

    __slots__ = ("partition_index", "error_code", "error_message", "current_leader")

    partition_index: int
    error_code: int
    error_message: str | None
    current_leader: LeaderIdAndEpoch

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.current_leader = LeaderIdAndEpoch() if current_leader is None else current_leader

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionData):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.current_leader == other.current_leader
        )

    def __repr__(self) -> str:
        return f"PartitionData(partition_index={self.partition_index!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, current_leader={self.current_leader!r})"

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
        self.current_leader.encode(out, version)
        buf.append(0)


def _read_PartitionData(buf: memoryview, pos: int, end: int, version: int) -> tuple[PartitionData, int]:
    self = PartitionData.__new__(PartitionData)
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
            raise length_read("PartitionData.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    self.current_leader, pos = _read_LeaderIdAndEpoch(buf, pos, end, version)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ShareAcknowledgeTopicResponse:
    """Part of ShareAcknowledgeResponse."""

    __slots__ = ("topic_id", "partitions")

    topic_id: bytes
    partitions: list[PartitionData]

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionData] = _EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareAcknowledgeTopicResponse):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"ShareAcknowledgeTopicResponse(topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("ShareAcknowledgeTopicResponse.topic_id")
        buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        buf.append(0)


def _read_ShareAcknowledgeTopicResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareAcknowledgeTopicResponse, int]:
    self = ShareAcknowledgeTopicResponse.__new__(ShareAcknowledgeTopicResponse)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareAcknowledgeTopicResponse.partitions")
    if n * 17 > end - pos:
        raise length_read("ShareAcknowledgeTopicResponse.partitions", n, end - pos)
    l_partitions: list[PartitionData] = []
    for _ in range(n):
        i_partitions, pos = _read_PartitionData(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class NodeEndpoint:
    """Part of ShareAcknowledgeResponse."""

    __slots__ = ("node_id", "host", "port", "rack")

    node_id: int
    host: str
    port: int
    rack: str | None

    def __init__(
        self,
        *,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NodeEndpoint):
            return NotImplemented
        return (
            self.node_id == other.node_id
            and self.host == other.host
            and self.port == other.port
            and self.rack == other.rack
        )

    def __repr__(self) -> str:
        return f"NodeEndpoint(node_id={self.node_id!r}, host={self.host!r}, port={self.port!r}, rack={self.rack!r})"

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
        buf += _pack_i(self.port)
        v_rack = self.rack
        if v_rack is None:
            buf.append(0)
        else:
            data = v_rack.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
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
    (self.port,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.rack = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("NodeEndpoint.rack", n, end - pos)
        self.rack = str(buf[pos:stop], "utf-8")
        pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ShareAcknowledgeResponse:
    """Versions 1 to 2."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "acquisition_lock_timeout_ms", "responses", "node_endpoints")

    API_KEY: ClassVar[int] = 79
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    acquisition_lock_timeout_ms: int
    responses: list[ShareAcknowledgeTopicResponse]
    node_endpoints: list[NodeEndpoint]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: list[ShareAcknowledgeTopicResponse] = _EMPTY,
        node_endpoints: list[NodeEndpoint] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.acquisition_lock_timeout_ms = acquisition_lock_timeout_ms
        self.responses = [] if responses is _EMPTY else responses
        self.node_endpoints = [] if node_endpoints is _EMPTY else node_endpoints

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareAcknowledgeResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.acquisition_lock_timeout_ms == other.acquisition_lock_timeout_ms
            and self.responses == other.responses
            and self.node_endpoints == other.node_endpoints
        )

    def __repr__(self) -> str:
        return f"ShareAcknowledgeResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, acquisition_lock_timeout_ms={self.acquisition_lock_timeout_ms!r}, responses={self.responses!r}, node_endpoints={self.node_endpoints!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 2:
            raise encode_failed("ShareAcknowledgeResponse", version, "no such version")
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
            if version >= 2:
                buf += _pack_i(self.acquisition_lock_timeout_ms)
            n = len(self.responses)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_responses in self.responses:
                i_responses.encode(out, version)
            n = len(self.node_endpoints)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_node_endpoints in self.node_endpoints:
                i_node_endpoints.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareAcknowledgeResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareAcknowledgeResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 2:
            raise decode_failed("ShareAcknowledgeResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareAcknowledgeResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareAcknowledgeResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareAcknowledgeResponse", version, error) from error
        if pos > end:
            raise decode_failed("ShareAcknowledgeResponse", version, "truncated")
        return message, pos


def _read_ShareAcknowledgeResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareAcknowledgeResponse, int]:
    self = ShareAcknowledgeResponse.__new__(ShareAcknowledgeResponse)
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
            raise length_read("ShareAcknowledgeResponse.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if version >= 2:
        (self.acquisition_lock_timeout_ms,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.acquisition_lock_timeout_ms = 0
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareAcknowledgeResponse.responses")
    if n * 18 > end - pos:
        raise length_read("ShareAcknowledgeResponse.responses", n, end - pos)
    l_responses: list[ShareAcknowledgeTopicResponse] = []
    for _ in range(n):
        i_responses, pos = _read_ShareAcknowledgeTopicResponse(buf, pos, end, version)
        l_responses.append(i_responses)
    self.responses = l_responses
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareAcknowledgeResponse.node_endpoints")
    if n * 11 > end - pos:
        raise length_read("ShareAcknowledgeResponse.node_endpoints", n, end - pos)
    l_node_endpoints: list[NodeEndpoint] = []
    for _ in range(n):
        i_node_endpoints, pos = _read_NodeEndpoint(buf, pos, end, version)
        l_node_endpoints.append(i_node_endpoints)
    self.node_endpoints = l_node_endpoints
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
