"""FetchSnapshot. Generated from schema/fetch_snapshot.txt by tools/generate_messages.py; do not edit."""

from __future__ import annotations

from struct import Struct
from typing import Any, ClassVar, Final

from ottla.wire.primitives import (
    Buffer,
    DECODE_FAILURES,
    DecodeError,
    ENCODE_FAILURES,
    Encoder,
    Records,
    ZERO_UUID,
    decode_failed,
    encode_failed,
    field_unsupported,
    length_read,
    null_read,
    null_written,
    read_string_length_tail,
    read_uvarint,
    read_uvarint_tail,
    size_of,
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
_pack_2i = Struct(">ii").pack
_unpack_2i = Struct(">ii").unpack_from
_pack_q = Struct(">q").pack
_unpack_q = Struct(">q").unpack_from
_pack_qi = Struct(">qi").pack
_unpack_qi = Struct(">qi").unpack_from
_pack_2q = Struct(">qq").pack
_unpack_2q = Struct(">qq").unpack_from


class FetchSnapshotRequestSnapshotId:
    """Part of FetchSnapshotRequest."""

    __slots__ = ("end_offset", "epoch")

    end_offset: int
    epoch: int

    def __init__(
        self,
        *,
        end_offset: int = 0,
        epoch: int = 0,
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FetchSnapshotRequestSnapshotId):
            return NotImplemented
        return (
            self.end_offset == other.end_offset
            and self.epoch == other.epoch
        )

    def __repr__(self) -> str:
        return f"FetchSnapshotRequestSnapshotId(end_offset={self.end_offset!r}, epoch={self.epoch!r})"

    def _is_default(self) -> bool:
        return not ((self.end_offset != 0) or (self.epoch != 0))

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_qi(self.end_offset, self.epoch)
        buf.append(0)


def _read_FetchSnapshotRequestSnapshotId(buf: memoryview, pos: int, end: int, version: int) -> tuple[FetchSnapshotRequestSnapshotId, int]:
    self = FetchSnapshotRequestSnapshotId.__new__(FetchSnapshotRequestSnapshotId)
    self.end_offset, self.epoch = _unpack_qi(buf, pos)
    pos += 12
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class FetchSnapshotRequestPartitionSnapshot:
    """Part of FetchSnapshotRequest."""

    __slots__ = ("partition", "current_leader_epoch", "snapshot_id", "position", "replica_directory_id")

    partition: int
    current_leader_epoch: int
    snapshot_id: FetchSnapshotRequestSnapshotId
    position: int
    replica_directory_id: bytes

    def __init__(
        self,
        *,
        partition: int = 0,
        current_leader_epoch: int = 0,
        snapshot_id: FetchSnapshotRequestSnapshotId | None = None,
        position: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.snapshot_id = FetchSnapshotRequestSnapshotId() if snapshot_id is None else snapshot_id
        self.position = position
        self.replica_directory_id = replica_directory_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FetchSnapshotRequestPartitionSnapshot):
            return NotImplemented
        return (
            self.partition == other.partition
            and self.current_leader_epoch == other.current_leader_epoch
            and self.snapshot_id == other.snapshot_id
            and self.position == other.position
            and self.replica_directory_id == other.replica_directory_id
        )

    def __repr__(self) -> str:
        return f"FetchSnapshotRequestPartitionSnapshot(partition={self.partition!r}, current_leader_epoch={self.current_leader_epoch!r}, snapshot_id={self.snapshot_id!r}, position={self.position!r}, replica_directory_id={self.replica_directory_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_2i(self.partition, self.current_leader_epoch)
        self.snapshot_id.encode(out, version)
        buf += _pack_q(self.position)
        count = 0
        if version >= 1 and (self.replica_directory_id != ZERO_UUID):
            count += 1
        buf.append(count)
        if count:
            if version >= 1 and (self.replica_directory_id != ZERO_UUID):
                buf += b"\x00\x10"
                if len(self.replica_directory_id) != 16:
                    raise uuid_written("FetchSnapshotRequestPartitionSnapshot.replica_directory_id")
                buf += _pack_u(self.replica_directory_id)


def _read_FetchSnapshotRequestPartitionSnapshot(buf: memoryview, pos: int, end: int, version: int) -> tuple[FetchSnapshotRequestPartitionSnapshot, int]:
    self = FetchSnapshotRequestPartitionSnapshot.__new__(FetchSnapshotRequestPartitionSnapshot)
    self.partition, self.current_leader_epoch = _unpack_2i(buf, pos)
    pos += 8
    self.snapshot_id, pos = _read_FetchSnapshotRequestSnapshotId(buf, pos, end, version)
    (self.position,) = _unpack_q(buf, pos)
    pos += 8
    self.replica_directory_id = ZERO_UUID
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("FetchSnapshotRequestPartitionSnapshot tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("FetchSnapshotRequestPartitionSnapshot tag", size, end - pos)
            if tag == 0 and version >= 1:
                (self.replica_directory_id,) = _unpack_u(buf, pos)
                pos += 16
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"FetchSnapshotRequestPartitionSnapshot: tag {tag} does not fill its {size} bytes")
    return self, pos


class FetchSnapshotRequestTopicSnapshot:
    """Part of FetchSnapshotRequest."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[FetchSnapshotRequestPartitionSnapshot]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[FetchSnapshotRequestPartitionSnapshot] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FetchSnapshotRequestTopicSnapshot):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"FetchSnapshotRequestTopicSnapshot(name={self.name!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
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


def _read_FetchSnapshotRequestTopicSnapshot(buf: memoryview, pos: int, end: int, version: int) -> tuple[FetchSnapshotRequestTopicSnapshot, int]:
    self = FetchSnapshotRequestTopicSnapshot.__new__(FetchSnapshotRequestTopicSnapshot)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("FetchSnapshotRequestTopicSnapshot.name")
    stop = pos + n
    if stop > end:
        raise length_read("FetchSnapshotRequestTopicSnapshot.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("FetchSnapshotRequestTopicSnapshot.partitions")
    if n * 30 > end - pos:
        raise length_read("FetchSnapshotRequestTopicSnapshot.partitions", n, end - pos)
    l_partitions: list[FetchSnapshotRequestPartitionSnapshot] = []
    for _ in range(n):
        i_partitions, pos = _read_FetchSnapshotRequestPartitionSnapshot(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class FetchSnapshotRequest:
    """Versions 0 to 1."""

    __slots__ = ("cluster_id", "replica_id", "max_bytes", "topics")

    API_KEY: ClassVar[int] = 59
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    cluster_id: str | None
    replica_id: int
    max_bytes: int
    topics: list[FetchSnapshotRequestTopicSnapshot]

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        replica_id: int = -1,
        max_bytes: int = 2147483647,
        topics: list[FetchSnapshotRequestTopicSnapshot] = _EMPTY,
    ) -> None:
        self.cluster_id = cluster_id
        self.replica_id = replica_id
        self.max_bytes = max_bytes
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FetchSnapshotRequest):
            return NotImplemented
        return (
            self.cluster_id == other.cluster_id
            and self.replica_id == other.replica_id
            and self.max_bytes == other.max_bytes
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"FetchSnapshotRequest(cluster_id={self.cluster_id!r}, replica_id={self.replica_id!r}, max_bytes={self.max_bytes!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("FetchSnapshotRequest", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_2i(self.replica_id, self.max_bytes)
            n = len(self.topics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_topics in self.topics:
                i_topics.encode(out, version)
            count = 0
            if self.cluster_id is not None:
                count += 1
            buf.append(count)
            if count:
                if self.cluster_id is not None:
                    sub = Encoder()
                    sub_buf = sub.buf
                    data = self.cluster_id.encode()
                    n = len(data)
                    if n < 127:
                        sub_buf.append(n + 1)
                    else:
                        write_string_length(sub_buf, n)
                    sub_buf += data
                    buf.append(0)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
        except ENCODE_FAILURES as error:
            raise encode_failed("FetchSnapshotRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[FetchSnapshotRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("FetchSnapshotRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("FetchSnapshotRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_FetchSnapshotRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("FetchSnapshotRequest", version, error) from error
        if pos > end:
            raise decode_failed("FetchSnapshotRequest", version, "truncated")
        return message, pos


def _read_FetchSnapshotRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[FetchSnapshotRequest, int]:
    self = FetchSnapshotRequest.__new__(FetchSnapshotRequest)
    self.replica_id, self.max_bytes = _unpack_2i(buf, pos)
    pos += 8
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("FetchSnapshotRequest.topics")
    if n * 3 > end - pos:
        raise length_read("FetchSnapshotRequest.topics", n, end - pos)
    l_topics: list[FetchSnapshotRequestTopicSnapshot] = []
    for _ in range(n):
        i_topics, pos = _read_FetchSnapshotRequestTopicSnapshot(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    self.cluster_id = None
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("FetchSnapshotRequest tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("FetchSnapshotRequest tag", size, end - pos)
            if tag == 0:
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
                        raise length_read("FetchSnapshotRequest.cluster_id", n, end - pos)
                    self.cluster_id = str(buf[pos:stop], "utf-8")
                    pos = stop
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"FetchSnapshotRequest: tag {tag} does not fill its {size} bytes")
    return self, pos


class FetchSnapshotResponseSnapshotId:
    """Part of FetchSnapshotResponse."""

    __slots__ = ("end_offset", "epoch")

    end_offset: int
    epoch: int

    def __init__(
        self,
        *,
        end_offset: int = 0,
        epoch: int = 0,
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FetchSnapshotResponseSnapshotId):
            return NotImplemented
        return (
            self.end_offset == other.end_offset
            and self.epoch == other.epoch
        )

    def __repr__(self) -> str:
        return f"FetchSnapshotResponseSnapshotId(end_offset={self.end_offset!r}, epoch={self.epoch!r})"

    def _is_default(self) -> bool:
        return not ((self.end_offset != 0) or (self.epoch != 0))

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_qi(self.end_offset, self.epoch)
        buf.append(0)


def _read_FetchSnapshotResponseSnapshotId(buf: memoryview, pos: int, end: int, version: int) -> tuple[FetchSnapshotResponseSnapshotId, int]:
    self = FetchSnapshotResponseSnapshotId.__new__(FetchSnapshotResponseSnapshotId)
    self.end_offset, self.epoch = _unpack_qi(buf, pos)
    pos += 12
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class LeaderIdAndEpoch:
    """Part of FetchSnapshotResponse."""

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


class FetchSnapshotResponsePartitionSnapshot:
    """Part of FetchSnapshotResponse."""

    __slots__ = ("index", "error_code", "snapshot_id", "current_leader", "size", "position", "unaligned_records")

    index: int
    error_code: int
    snapshot_id: FetchSnapshotResponseSnapshotId
    current_leader: LeaderIdAndEpoch
    size: int
    position: int
    unaligned_records: Records

    def __init__(
        self,
        *,
        index: int = 0,
        error_code: int = 0,
        snapshot_id: FetchSnapshotResponseSnapshotId | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        size: int = 0,
        position: int = 0,
        unaligned_records: Records = None,
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.snapshot_id = FetchSnapshotResponseSnapshotId() if snapshot_id is None else snapshot_id
        self.current_leader = LeaderIdAndEpoch() if current_leader is None else current_leader
        self.size = size
        self.position = position
        self.unaligned_records = unaligned_records

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FetchSnapshotResponsePartitionSnapshot):
            return NotImplemented
        return (
            self.index == other.index
            and self.error_code == other.error_code
            and self.snapshot_id == other.snapshot_id
            and self.current_leader == other.current_leader
            and self.size == other.size
            and self.position == other.position
            and self.unaligned_records == other.unaligned_records
        )

    def __repr__(self) -> str:
        return f"FetchSnapshotResponsePartitionSnapshot(index={self.index!r}, error_code={self.error_code!r}, snapshot_id={self.snapshot_id!r}, current_leader={self.current_leader!r}, size={self.size!r}, position={self.position!r}, unaligned_records={size_of(self.unaligned_records)})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_ih(self.index, self.error_code)
        self.snapshot_id.encode(out, version)
        buf += _pack_2q(self.size, self.position)
        v_unaligned_records = self.unaligned_records
        if v_unaligned_records is None:
            raise null_written("FetchSnapshotResponsePartitionSnapshot.unaligned_records", version)
        else:
            n = len(v_unaligned_records)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            out.attach(v_unaligned_records)
        count = 0
        if not self.current_leader._is_default():
            count += 1
        buf.append(count)
        if count:
            if not self.current_leader._is_default():
                sub = Encoder()
                sub_buf = sub.buf
                self.current_leader.encode(sub, version)
                buf.append(0)
                write_uvarint(buf, len(sub_buf))
                buf += sub_buf


def _read_FetchSnapshotResponsePartitionSnapshot(buf: memoryview, pos: int, end: int, version: int) -> tuple[FetchSnapshotResponsePartitionSnapshot, int]:
    self = FetchSnapshotResponsePartitionSnapshot.__new__(FetchSnapshotResponsePartitionSnapshot)
    self.index, self.error_code = _unpack_ih(buf, pos)
    pos += 6
    self.snapshot_id, pos = _read_FetchSnapshotResponseSnapshotId(buf, pos, end, version)
    self.size, self.position = _unpack_2q(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("FetchSnapshotResponsePartitionSnapshot.unaligned_records")
    stop = pos + n
    if stop > end:
        raise length_read("FetchSnapshotResponsePartitionSnapshot.unaligned_records", n, end - pos)
    self.unaligned_records = buf[pos:stop]
    pos = stop
    self.current_leader = LeaderIdAndEpoch()
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("FetchSnapshotResponsePartitionSnapshot tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("FetchSnapshotResponsePartitionSnapshot tag", size, end - pos)
            if tag == 0:
                self.current_leader, pos = _read_LeaderIdAndEpoch(buf, pos, end, version)
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"FetchSnapshotResponsePartitionSnapshot: tag {tag} does not fill its {size} bytes")
    return self, pos


class FetchSnapshotResponseTopicSnapshot:
    """Part of FetchSnapshotResponse."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[FetchSnapshotResponsePartitionSnapshot]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[FetchSnapshotResponsePartitionSnapshot] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FetchSnapshotResponseTopicSnapshot):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"FetchSnapshotResponseTopicSnapshot(name={self.name!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
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


def _read_FetchSnapshotResponseTopicSnapshot(buf: memoryview, pos: int, end: int, version: int) -> tuple[FetchSnapshotResponseTopicSnapshot, int]:
    self = FetchSnapshotResponseTopicSnapshot.__new__(FetchSnapshotResponseTopicSnapshot)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("FetchSnapshotResponseTopicSnapshot.name")
    stop = pos + n
    if stop > end:
        raise length_read("FetchSnapshotResponseTopicSnapshot.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("FetchSnapshotResponseTopicSnapshot.partitions")
    if n * 37 > end - pos:
        raise length_read("FetchSnapshotResponseTopicSnapshot.partitions", n, end - pos)
    l_partitions: list[FetchSnapshotResponsePartitionSnapshot] = []
    for _ in range(n):
        i_partitions, pos = _read_FetchSnapshotResponsePartitionSnapshot(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class NodeEndpoint:
    """Part of FetchSnapshotResponse."""

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


class FetchSnapshotResponse:
    """Versions 0 to 1."""

    __slots__ = ("throttle_time_ms", "error_code", "topics", "node_endpoints")

    API_KEY: ClassVar[int] = 59
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    topics: list[FetchSnapshotResponseTopicSnapshot]
    node_endpoints: list[NodeEndpoint]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: list[FetchSnapshotResponseTopicSnapshot] = _EMPTY,
        node_endpoints: list[NodeEndpoint] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.topics = [] if topics is _EMPTY else topics
        self.node_endpoints = [] if node_endpoints is _EMPTY else node_endpoints

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FetchSnapshotResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.topics == other.topics
            and self.node_endpoints == other.node_endpoints
        )

    def __repr__(self) -> str:
        return f"FetchSnapshotResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, topics={self.topics!r}, node_endpoints={self.node_endpoints!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("FetchSnapshotResponse", version, "no such version")
        try:
            if version < 1:
                if self.node_endpoints:
                    raise field_unsupported("FetchSnapshotResponse.node_endpoints", version)
            buf = out.buf
            buf += _pack_ih(self.throttle_time_ms, self.error_code)
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
            raise encode_failed("FetchSnapshotResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[FetchSnapshotResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("FetchSnapshotResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("FetchSnapshotResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_FetchSnapshotResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("FetchSnapshotResponse", version, error) from error
        if pos > end:
            raise decode_failed("FetchSnapshotResponse", version, "truncated")
        return message, pos


def _read_FetchSnapshotResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[FetchSnapshotResponse, int]:
    self = FetchSnapshotResponse.__new__(FetchSnapshotResponse)
    self.throttle_time_ms, self.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("FetchSnapshotResponse.topics")
    if n * 3 > end - pos:
        raise length_read("FetchSnapshotResponse.topics", n, end - pos)
    l_topics: list[FetchSnapshotResponseTopicSnapshot] = []
    for _ in range(n):
        i_topics, pos = _read_FetchSnapshotResponseTopicSnapshot(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    self.node_endpoints = []
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("FetchSnapshotResponse tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("FetchSnapshotResponse tag", size, end - pos)
            if tag == 0 and version >= 1:
                n = buf[pos] - 1
                pos += 1
                if n > 126:
                    n, pos = read_uvarint_tail(n + 1, buf, pos)
                    n -= 1
                if n < 0:
                    raise null_read("FetchSnapshotResponse.node_endpoints")
                if n * 8 > end - pos:
                    raise length_read("FetchSnapshotResponse.node_endpoints", n, end - pos)
                l_node_endpoints: list[NodeEndpoint] = []
                for _ in range(n):
                    i_node_endpoints, pos = _read_NodeEndpoint(buf, pos, end, version)
                    l_node_endpoints.append(i_node_endpoints)
                self.node_endpoints = l_node_endpoints
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"FetchSnapshotResponse: tag {tag} does not fill its {size} bytes")
    return self, pos
