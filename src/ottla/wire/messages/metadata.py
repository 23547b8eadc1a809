"""Metadata. Generated from schema/metadata.txt by tools/generate_messages.py; do not edit."""

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
_pack_h2i = Struct(">hii").pack
_unpack_h2i = Struct(">hii").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from


class MetadataRequestTopic:
    """Part of MetadataRequest."""

    __slots__ = ("topic_id", "name")

    topic_id: bytes
    name: str | None

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        name: str | None = "",
    ) -> None:
        self.topic_id = topic_id
        self.name = name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MetadataRequestTopic):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.name == other.name
        )

    def __repr__(self) -> str:
        return f"MetadataRequestTopic(topic_id={self.topic_id!r}, name={self.name!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 9
        if version >= 10:
            if len(self.topic_id) != 16:
                raise uuid_written("MetadataRequestTopic.topic_id")
            buf += _pack_u(self.topic_id)
        v_name = self.name
        if v_name is None:
            if version < 10:
                raise null_written("MetadataRequestTopic.name", version)
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff"
        else:
            data = v_name.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
        if flexible:
            buf.append(0)


def _read_MetadataRequestTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[MetadataRequestTopic, int]:
    flexible = version >= 9
    self = MetadataRequestTopic.__new__(MetadataRequestTopic)
    if version >= 10:
        (self.topic_id,) = _unpack_u(buf, pos)
        pos += 16
    else:
        self.topic_id = ZERO_UUID
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
        if version < 10:
            raise null_read("MetadataRequestTopic.name")
        self.name = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("MetadataRequestTopic.name", n, end - pos)
        self.name = str(buf[pos:stop], "utf-8")
        pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class MetadataRequest:
    """Versions 0 to 13, flexible from 9."""

    __slots__ = ("topics", "allow_auto_topic_creation", "include_cluster_authorized_operations", "include_topic_authorized_operations")

    API_KEY: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 13
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 9

    topics: list[MetadataRequestTopic] | None
    allow_auto_topic_creation: bool
    include_cluster_authorized_operations: bool
    include_topic_authorized_operations: bool

    def __init__(
        self,
        *,
        topics: list[MetadataRequestTopic] | None = _EMPTY,
        allow_auto_topic_creation: bool = True,
        include_cluster_authorized_operations: bool = False,
        include_topic_authorized_operations: bool = False,
    ) -> None:
        self.topics = [] if topics is _EMPTY else topics
        self.allow_auto_topic_creation = allow_auto_topic_creation
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.include_topic_authorized_operations = include_topic_authorized_operations

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MetadataRequest):
            return NotImplemented
        return (
            self.topics == other.topics
            and self.allow_auto_topic_creation == other.allow_auto_topic_creation
            and self.include_cluster_authorized_operations == other.include_cluster_authorized_operations
            and self.include_topic_authorized_operations == other.include_topic_authorized_operations
        )

    def __repr__(self) -> str:
        return f"MetadataRequest(topics={self.topics!r}, allow_auto_topic_creation={self.allow_auto_topic_creation!r}, include_cluster_authorized_operations={self.include_cluster_authorized_operations!r}, include_topic_authorized_operations={self.include_topic_authorized_operations!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 13:
            raise encode_failed("MetadataRequest", version, "no such version")
        try:
            if version < 4:
                if not self.allow_auto_topic_creation:
                    raise field_unsupported("MetadataRequest.allow_auto_topic_creation", version)
            if version < 8 or version > 10:
                if self.include_cluster_authorized_operations:
                    raise field_unsupported("MetadataRequest.include_cluster_authorized_operations", version)
            if version < 8:
                if self.include_topic_authorized_operations:
                    raise field_unsupported("MetadataRequest.include_topic_authorized_operations", version)
            buf = out.buf
            flexible = version >= 9
            v_topics = self.topics
            if v_topics is None:
                if version < 1:
                    raise null_written("MetadataRequest.topics", version)
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
            if version >= 4:
                buf += _pack_z(self.allow_auto_topic_creation)
            if version >= 8 and version <= 10:
                buf += _pack_z(self.include_cluster_authorized_operations)
            if version >= 8:
                buf += _pack_z(self.include_topic_authorized_operations)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("MetadataRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[MetadataRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 13:
            raise decode_failed("MetadataRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("MetadataRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_MetadataRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("MetadataRequest", version, error) from error
        if pos > end:
            raise decode_failed("MetadataRequest", version, "truncated")
        return message, pos


def _read_MetadataRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[MetadataRequest, int]:
    flexible = version >= 9
    self = MetadataRequest.__new__(MetadataRequest)
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
        if version < 1:
            raise null_read("MetadataRequest.topics")
        self.topics = None
    else:
        if n * 2 > end - pos:
            raise length_read("MetadataRequest.topics", n, end - pos)
        l_topics: list[MetadataRequestTopic] = []
        for _ in range(n):
            i_topics, pos = _read_MetadataRequestTopic(buf, pos, end, version)
            l_topics.append(i_topics)
        self.topics = l_topics
    if version >= 4:
        self.allow_auto_topic_creation = buf[pos] != 0
        pos += 1
    else:
        self.allow_auto_topic_creation = True
    if version >= 8 and version <= 10:
        self.include_cluster_authorized_operations = buf[pos] != 0
        pos += 1
    else:
        self.include_cluster_authorized_operations = False
    if version >= 8:
        self.include_topic_authorized_operations = buf[pos] != 0
        pos += 1
    else:
        self.include_topic_authorized_operations = False
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class MetadataResponseBroker:
    """Part of MetadataResponse."""

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
        if not isinstance(other, MetadataResponseBroker):
            return NotImplemented
        return (
            self.node_id == other.node_id
            and self.host == other.host
            and self.port == other.port
            and self.rack == other.rack
        )

    def __repr__(self) -> str:
        return f"MetadataResponseBroker(node_id={self.node_id!r}, host={self.host!r}, port={self.port!r}, rack={self.rack!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 9
        buf += _pack_i(self.node_id)
        data = self.host.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        buf += _pack_i(self.port)
        if version >= 1:
            v_rack = self.rack
            if v_rack is None:
                if flexible:
                    buf.append(0)
                else:
                    buf += b"\xff\xff"
            else:
                data = v_rack.encode()
                n = len(data)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                else:
                    buf += _pack_h(n)
                buf += data
        if flexible:
            buf.append(0)


def _read_MetadataResponseBroker(buf: memoryview, pos: int, end: int, version: int) -> tuple[MetadataResponseBroker, int]:
    flexible = version >= 9
    self = MetadataResponseBroker.__new__(MetadataResponseBroker)
    (self.node_id,) = _unpack_i(buf, pos)
    pos += 4
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
        raise null_read("MetadataResponseBroker.host")
    stop = pos + n
    if stop > end:
        raise length_read("MetadataResponseBroker.host", n, end - pos)
    self.host = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.port,) = _unpack_i(buf, pos)
    pos += 4
    if version >= 1:
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
            self.rack = None
        else:
            stop = pos + n
            if stop > end:
                raise length_read("MetadataResponseBroker.rack", n, end - pos)
            self.rack = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.rack = None
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class MetadataResponsePartition:
    """Part of MetadataResponse."""

    __slots__ = ("error_code", "partition_index", "leader_id", "leader_epoch", "replica_nodes", "isr_nodes", "offline_replicas")

    error_code: int
    partition_index: int
    leader_id: int
    leader_epoch: int
    replica_nodes: list[int]
    isr_nodes: list[int]
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
        offline_replicas: list[int] = _EMPTY,
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = [] if replica_nodes is _EMPTY else replica_nodes
        self.isr_nodes = [] if isr_nodes is _EMPTY else isr_nodes
        self.offline_replicas = [] if offline_replicas is _EMPTY else offline_replicas

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MetadataResponsePartition):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.partition_index == other.partition_index
            and self.leader_id == other.leader_id
            and self.leader_epoch == other.leader_epoch
            and self.replica_nodes == other.replica_nodes
            and self.isr_nodes == other.isr_nodes
            and self.offline_replicas == other.offline_replicas
        )

    def __repr__(self) -> str:
        return f"MetadataResponsePartition(error_code={self.error_code!r}, partition_index={self.partition_index!r}, leader_id={self.leader_id!r}, leader_epoch={self.leader_epoch!r}, replica_nodes={self.replica_nodes!r}, isr_nodes={self.isr_nodes!r}, offline_replicas={self.offline_replicas!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 9
        buf += _pack_h2i(self.error_code, self.partition_index, self.leader_id)
        if version >= 7:
            buf += _pack_i(self.leader_epoch)
        n = len(self.replica_nodes)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.replica_nodes)
        else:
            buf += _pack_n(f">{n}i", *self.replica_nodes)
        n = len(self.isr_nodes)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.isr_nodes)
        else:
            buf += _pack_n(f">{n}i", *self.isr_nodes)
        if version >= 5:
            n = len(self.offline_replicas)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            if n < INT32_ARRAY_SHORT:
                buf += INT32_PACK[n](*self.offline_replicas)
            else:
                buf += _pack_n(f">{n}i", *self.offline_replicas)
        if flexible:
            buf.append(0)


def _read_MetadataResponsePartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[MetadataResponsePartition, int]:
    flexible = version >= 9
    self = MetadataResponsePartition.__new__(MetadataResponsePartition)
    self.error_code, self.partition_index, self.leader_id = _unpack_h2i(buf, pos)
    pos += 10
    if version >= 7:
        (self.leader_epoch,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.leader_epoch = -1
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
        raise null_read("MetadataResponsePartition.replica_nodes")
    if n * 4 > end - pos:
        raise length_read("MetadataResponsePartition.replica_nodes", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.replica_nodes = list(INT32_UNPACK[n](buf, pos))
    else:
        self.replica_nodes = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
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
        raise null_read("MetadataResponsePartition.isr_nodes")
    if n * 4 > end - pos:
        raise length_read("MetadataResponsePartition.isr_nodes", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.isr_nodes = list(INT32_UNPACK[n](buf, pos))
    else:
        self.isr_nodes = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if version >= 5:
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
            raise null_read("MetadataResponsePartition.offline_replicas")
        if n * 4 > end - pos:
            raise length_read("MetadataResponsePartition.offline_replicas", n, end - pos)
        if n < INT32_ARRAY_SHORT:
            self.offline_replicas = list(INT32_UNPACK[n](buf, pos))
        else:
            self.offline_replicas = list(_unpack_n(f">{n}i", buf, pos))
        pos += n * 4
    else:
        self.offline_replicas = []
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class MetadataResponseTopic:
    """Part of MetadataResponse."""

    __slots__ = ("error_code", "name", "topic_id", "is_internal", "partitions", "topic_authorized_operations")

    error_code: int
    name: str | None
    topic_id: bytes
    is_internal: bool
    partitions: list[MetadataResponsePartition]
    topic_authorized_operations: int

    def __init__(
        self,
        *,
        error_code: int = 0,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        is_internal: bool = False,
        partitions: list[MetadataResponsePartition] = _EMPTY,
        topic_authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = [] if partitions is _EMPTY else partitions
        self.topic_authorized_operations = topic_authorized_operations

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MetadataResponseTopic):
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
        return f"MetadataResponseTopic(error_code={self.error_code!r}, name={self.name!r}, topic_id={self.topic_id!r}, is_internal={self.is_internal!r}, partitions={self.partitions!r}, topic_authorized_operations={self.topic_authorized_operations!r})"

    def encode(self, out: Encoder, version: int) -> None:
        if version < 8:
            if self.topic_authorized_operations != -2147483648:
                raise field_unsupported("MetadataResponseTopic.topic_authorized_operations", version)
        buf = out.buf
        flexible = version >= 9
        buf += _pack_h(self.error_code)
        v_name = self.name
        if v_name is None:
            if version < 12:
                raise null_written("MetadataResponseTopic.name", version)
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff"
        else:
            data = v_name.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
        if version >= 10:
            if len(self.topic_id) != 16:
                raise uuid_written("MetadataResponseTopic.topic_id")
            buf += _pack_u(self.topic_id)
        if version >= 1:
            buf += _pack_z(self.is_internal)
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
        if version >= 8:
            buf += _pack_i(self.topic_authorized_operations)
        if flexible:
            buf.append(0)


def _read_MetadataResponseTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[MetadataResponseTopic, int]:
    flexible = version >= 9
    self = MetadataResponseTopic.__new__(MetadataResponseTopic)
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
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
        if version < 12:
            raise null_read("MetadataResponseTopic.name")
        self.name = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("MetadataResponseTopic.name", n, end - pos)
        self.name = str(buf[pos:stop], "utf-8")
        pos = stop
    if version >= 10:
        (self.topic_id,) = _unpack_u(buf, pos)
        pos += 16
    else:
        self.topic_id = ZERO_UUID
    if version >= 1:
        self.is_internal = buf[pos] != 0
        pos += 1
    else:
        self.is_internal = False
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
        raise null_read("MetadataResponseTopic.partitions")
    if n * 18 > end - pos:
        raise length_read("MetadataResponseTopic.partitions", n, end - pos)
    l_partitions: list[MetadataResponsePartition] = []
    for _ in range(n):
        i_partitions, pos = _read_MetadataResponsePartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if version >= 8:
        (self.topic_authorized_operations,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.topic_authorized_operations = -2147483648
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class MetadataResponse:
    """Versions 0 to 13, flexible from 9."""

    __slots__ = ("throttle_time_ms", "brokers", "cluster_id", "controller_id", "topics", "cluster_authorized_operations", "error_code")

    API_KEY: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 13
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 9

    throttle_time_ms: int
    brokers: list[MetadataResponseBroker]
    cluster_id: str | None
    controller_id: int
    topics: list[MetadataResponseTopic]
    cluster_authorized_operations: int
    error_code: int

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        brokers: list[MetadataResponseBroker] = _EMPTY,
        cluster_id: str | None = None,
        controller_id: int = -1,
        topics: list[MetadataResponseTopic] = _EMPTY,
        cluster_authorized_operations: int = -2147483648,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.brokers = [] if brokers is _EMPTY else brokers
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.topics = [] if topics is _EMPTY else topics
        self.cluster_authorized_operations = cluster_authorized_operations
        self.error_code = error_code

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MetadataResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.brokers == other.brokers
            and self.cluster_id == other.cluster_id
            and self.controller_id == other.controller_id
            and self.topics == other.topics
            and self.cluster_authorized_operations == other.cluster_authorized_operations
            and self.error_code == other.error_code
        )

    def __repr__(self) -> str:
        return f"MetadataResponse(throttle_time_ms={self.throttle_time_ms!r}, brokers={self.brokers!r}, cluster_id={self.cluster_id!r}, controller_id={self.controller_id!r}, topics={self.topics!r}, cluster_authorized_operations={self.cluster_authorized_operations!r}, error_code={self.error_code!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 13:
            raise encode_failed("MetadataResponse", version, "no such version")
        try:
            if version < 8 or version > 10:
                if self.cluster_authorized_operations != -2147483648:
                    raise field_unsupported("MetadataResponse.cluster_authorized_operations", version)
            buf = out.buf
            flexible = version >= 9
            if version >= 3:
                buf += _pack_i(self.throttle_time_ms)
            n = len(self.brokers)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_brokers in self.brokers:
                i_brokers.encode(out, version)
            if version >= 2:
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
                buf += _pack_i(self.controller_id)
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
            if version >= 8 and version <= 10:
                buf += _pack_i(self.cluster_authorized_operations)
            if version >= 13:
                buf += _pack_h(self.error_code)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("MetadataResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[MetadataResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 13:
            raise decode_failed("MetadataResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("MetadataResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_MetadataResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("MetadataResponse", version, error) from error
        if pos > end:
            raise decode_failed("MetadataResponse", version, "truncated")
        return message, pos


def _read_MetadataResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[MetadataResponse, int]:
    flexible = version >= 9
    self = MetadataResponse.__new__(MetadataResponse)
    if version >= 3:
        (self.throttle_time_ms,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.throttle_time_ms = 0
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
        raise null_read("MetadataResponse.brokers")
    if n * 10 > end - pos:
        raise length_read("MetadataResponse.brokers", n, end - pos)
    l_brokers: list[MetadataResponseBroker] = []
    for _ in range(n):
        i_brokers, pos = _read_MetadataResponseBroker(buf, pos, end, version)
        l_brokers.append(i_brokers)
    self.brokers = l_brokers
    if version >= 2:
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
                raise length_read("MetadataResponse.cluster_id", n, end - pos)
            self.cluster_id = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.cluster_id = None
    if version >= 1:
        (self.controller_id,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.controller_id = -1
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
        raise null_read("MetadataResponse.topics")
    if n * 8 > end - pos:
        raise length_read("MetadataResponse.topics", n, end - pos)
    l_topics: list[MetadataResponseTopic] = []
    for _ in range(n):
        i_topics, pos = _read_MetadataResponseTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if version >= 8 and version <= 10:
        (self.cluster_authorized_operations,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.cluster_authorized_operations = -2147483648
    if version >= 13:
        (self.error_code,) = _unpack_h(buf, pos)
        pos += 2
    else:
        self.error_code = 0
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
