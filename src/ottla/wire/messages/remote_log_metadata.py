"""remote_log_metadata. Generated from schema/records/remote_log_metadata.txt by tools/generate_messages.py; do not edit."""

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
_pack_ui = Struct(">16si").pack
_unpack_ui = Struct(">16si").unpack_from
_pack_u2qi2q = Struct(">16sqqiqq").pack
_unpack_u2qi2q = Struct(">16sqqiqq").unpack_from
_pack_z = Struct(">?").pack
_unpack_z = Struct(">?").unpack_from
_pack_b = Struct(">b").pack
_unpack_b = Struct(">b").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_iq = Struct(">iq").pack
_unpack_iq = Struct(">iq").unpack_from
_pack_iqb = Struct(">iqb").pack
_unpack_iqb = Struct(">iqb").unpack_from
_pack_2qi2q = Struct(">qqiqq").pack
_unpack_2qi2q = Struct(">qqiqq").unpack_from


class RemoteLogSegmentMetadataRecordTopicIdPartitionEntry:
    """Part of RemoteLogSegmentMetadataRecord."""

    __slots__ = ("name", "id", "partition")

    name: str
    id: bytes
    partition: int

    def __init__(
        self,
        *,
        name: str = "",
        id: bytes = ZERO_UUID,
        partition: int = 0,
    ) -> None:
        self.name = name
        self.id = id
        self.partition = partition

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RemoteLogSegmentMetadataRecordTopicIdPartitionEntry):
            return NotImplemented
        return (
            self.name == other.name
            and self.id == other.id
            and self.partition == other.partition
        )

    def __repr__(self) -> str:
        return f"RemoteLogSegmentMetadataRecordTopicIdPartitionEntry(name={self.name!r}, id={self.id!r}, partition={self.partition!r})"

    def _is_default(self) -> bool:
        return not ((self.name != "") or (self.id != ZERO_UUID) or (self.partition != 0))

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        if len(self.id) != 16:
            raise uuid_written("RemoteLogSegmentMetadataRecordTopicIdPartitionEntry.id")
        buf += _pack_ui(self.id, self.partition)
        buf.append(0)


def _read_RemoteLogSegmentMetadataRecordTopicIdPartitionEntry(buf: memoryview, pos: int, end: int, version: int) -> tuple[RemoteLogSegmentMetadataRecordTopicIdPartitionEntry, int]:
    self = RemoteLogSegmentMetadataRecordTopicIdPartitionEntry.__new__(RemoteLogSegmentMetadataRecordTopicIdPartitionEntry)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("RemoteLogSegmentMetadataRecordTopicIdPartitionEntry.name")
    stop = pos + n
    if stop > end:
        raise length_read("RemoteLogSegmentMetadataRecordTopicIdPartitionEntry.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    self.id, self.partition = _unpack_ui(buf, pos)
    pos += 20
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class RemoteLogSegmentMetadataRecordRemoteLogSegmentIdEntry:
    """Part of RemoteLogSegmentMetadataRecord."""

    __slots__ = ("topic_id_partition", "id")

    topic_id_partition: RemoteLogSegmentMetadataRecordTopicIdPartitionEntry
    id: bytes

    def __init__(
        self,
        *,
        topic_id_partition: RemoteLogSegmentMetadataRecordTopicIdPartitionEntry | None = None,
        id: bytes = ZERO_UUID,
    ) -> None:
        self.topic_id_partition = RemoteLogSegmentMetadataRecordTopicIdPartitionEntry() if topic_id_partition is None else topic_id_partition
        self.id = id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RemoteLogSegmentMetadataRecordRemoteLogSegmentIdEntry):
            return NotImplemented
        return (
            self.topic_id_partition == other.topic_id_partition
            and self.id == other.id
        )

    def __repr__(self) -> str:
        return f"RemoteLogSegmentMetadataRecordRemoteLogSegmentIdEntry(topic_id_partition={self.topic_id_partition!r}, id={self.id!r})"

    def _is_default(self) -> bool:
        return not ((not self.topic_id_partition._is_default()) or (self.id != ZERO_UUID))

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        self.topic_id_partition.encode(out, version)
        if len(self.id) != 16:
            raise uuid_written("RemoteLogSegmentMetadataRecordRemoteLogSegmentIdEntry.id")
        buf += _pack_u(self.id)
        buf.append(0)


def _read_RemoteLogSegmentMetadataRecordRemoteLogSegmentIdEntry(buf: memoryview, pos: int, end: int, version: int) -> tuple[RemoteLogSegmentMetadataRecordRemoteLogSegmentIdEntry, int]:
    self = RemoteLogSegmentMetadataRecordRemoteLogSegmentIdEntry.__new__(RemoteLogSegmentMetadataRecordRemoteLogSegmentIdEntry)
    self.topic_id_partition, pos = _read_RemoteLogSegmentMetadataRecordTopicIdPartitionEntry(buf, pos, end, version)
    (self.id,) = _unpack_u(buf, pos)
    pos += 16
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class RemoteLogSegmentMetadataRecordSegmentLeaderEpochEntry:
    """Part of RemoteLogSegmentMetadataRecord."""

    __slots__ = ("leader_epoch", "offset")

    leader_epoch: int
    offset: int

    def __init__(
        self,
        *,
        leader_epoch: int = 0,
        offset: int = 0,
    ) -> None:
        self.leader_epoch = leader_epoch
        self.offset = offset

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RemoteLogSegmentMetadataRecordSegmentLeaderEpochEntry):
            return NotImplemented
        return (
            self.leader_epoch == other.leader_epoch
            and self.offset == other.offset
        )

    def __repr__(self) -> str:
        return f"RemoteLogSegmentMetadataRecordSegmentLeaderEpochEntry(leader_epoch={self.leader_epoch!r}, offset={self.offset!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_iq(self.leader_epoch, self.offset)
        buf.append(0)


def _read_RemoteLogSegmentMetadataRecordSegmentLeaderEpochEntry(buf: memoryview, pos: int, end: int, version: int) -> tuple[RemoteLogSegmentMetadataRecordSegmentLeaderEpochEntry, int]:
    self = RemoteLogSegmentMetadataRecordSegmentLeaderEpochEntry.__new__(RemoteLogSegmentMetadataRecordSegmentLeaderEpochEntry)
    self.leader_epoch, self.offset = _unpack_iq(buf, pos)
    pos += 12
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class RemoteLogSegmentMetadataRecord:
    """Version 0."""

    __slots__ = ("remote_log_segment_id", "start_offset", "end_offset", "broker_id", "max_timestamp_ms", "event_timestamp_ms", "segment_leader_epochs", "segment_size_in_bytes", "custom_metadata", "remote_log_segment_state", "txn_index_empty")

    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    remote_log_segment_id: RemoteLogSegmentMetadataRecordRemoteLogSegmentIdEntry
    start_offset: int
    end_offset: int
    broker_id: int
    max_timestamp_ms: int
    event_timestamp_ms: int
    segment_leader_epochs: list[RemoteLogSegmentMetadataRecordSegmentLeaderEpochEntry]
    segment_size_in_bytes: int
    custom_metadata: bytes | None
    remote_log_segment_state: int
    txn_index_empty: bool

    def __init__(
        self,
        *,
        remote_log_segment_id: RemoteLogSegmentMetadataRecordRemoteLogSegmentIdEntry | None = None,
        start_offset: int = 0,
        end_offset: int = 0,
        broker_id: int = 0,
        max_timestamp_ms: int = 0,
        event_timestamp_ms: int = 0,
        segment_leader_epochs: list[RemoteLogSegmentMetadataRecordSegmentLeaderEpochEntry] = _EMPTY,
        segment_size_in_bytes: int = 0,
        custom_metadata: bytes | None = None,
        remote_log_segment_state: int = 0,
        txn_index_empty: bool = False,
    ) -> None:
        self.remote_log_segment_id = RemoteLogSegmentMetadataRecordRemoteLogSegmentIdEntry() if remote_log_segment_id is None else remote_log_segment_id
        self.start_offset = start_offset
        self.end_offset = end_offset
        self.broker_id = broker_id
        self.max_timestamp_ms = max_timestamp_ms
        self.event_timestamp_ms = event_timestamp_ms
        self.segment_leader_epochs = [] if segment_leader_epochs is _EMPTY else segment_leader_epochs
        self.segment_size_in_bytes = segment_size_in_bytes
        self.custom_metadata = custom_metadata
        self.remote_log_segment_state = remote_log_segment_state
        self.txn_index_empty = txn_index_empty

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RemoteLogSegmentMetadataRecord):
            return NotImplemented
        return (
            self.remote_log_segment_id == other.remote_log_segment_id
            and self.start_offset == other.start_offset
            and self.end_offset == other.end_offset
            and self.broker_id == other.broker_id
            and self.max_timestamp_ms == other.max_timestamp_ms
            and self.event_timestamp_ms == other.event_timestamp_ms
            and self.segment_leader_epochs == other.segment_leader_epochs
            and self.segment_size_in_bytes == other.segment_size_in_bytes
            and self.custom_metadata == other.custom_metadata
            and self.remote_log_segment_state == other.remote_log_segment_state
            and self.txn_index_empty == other.txn_index_empty
        )

    def __repr__(self) -> str:
        return f"RemoteLogSegmentMetadataRecord(remote_log_segment_id={self.remote_log_segment_id!r}, start_offset={self.start_offset!r}, end_offset={self.end_offset!r}, broker_id={self.broker_id!r}, max_timestamp_ms={self.max_timestamp_ms!r}, event_timestamp_ms={self.event_timestamp_ms!r}, segment_leader_epochs={self.segment_leader_epochs!r}, segment_size_in_bytes={self.segment_size_in_bytes!r}, custom_metadata={self.custom_metadata!r}, remote_log_segment_state={self.remote_log_segment_state!r}, txn_index_empty={self.txn_index_empty!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("RemoteLogSegmentMetadataRecord", version, "no such version")
        try:
            buf = out.buf
            self.remote_log_segment_id.encode(out, version)
            buf += _pack_2qi2q(self.start_offset, self.end_offset, self.broker_id, self.max_timestamp_ms, self.event_timestamp_ms)
            n = len(self.segment_leader_epochs)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_segment_leader_epochs in self.segment_leader_epochs:
                i_segment_leader_epochs.encode(out, version)
            buf += _pack_i(self.segment_size_in_bytes)
            v_custom_metadata = self.custom_metadata
            if v_custom_metadata is None:
                buf.append(0)
            else:
                n = len(v_custom_metadata)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                buf += v_custom_metadata
            buf += _pack_b(self.remote_log_segment_state)
            count = 0
            if self.txn_index_empty:
                count += 1
            buf.append(count)
            if count:
                if self.txn_index_empty:
                    buf += b"\x00\x01"
                    buf += _pack_z(self.txn_index_empty)
        except ENCODE_FAILURES as error:
            raise encode_failed("RemoteLogSegmentMetadataRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[RemoteLogSegmentMetadataRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("RemoteLogSegmentMetadataRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("RemoteLogSegmentMetadataRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_RemoteLogSegmentMetadataRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("RemoteLogSegmentMetadataRecord", version, error) from error
        if pos > end:
            raise decode_failed("RemoteLogSegmentMetadataRecord", version, "truncated")
        return message, pos


def _read_RemoteLogSegmentMetadataRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[RemoteLogSegmentMetadataRecord, int]:
    self = RemoteLogSegmentMetadataRecord.__new__(RemoteLogSegmentMetadataRecord)
    self.remote_log_segment_id, pos = _read_RemoteLogSegmentMetadataRecordRemoteLogSegmentIdEntry(buf, pos, end, version)
    self.start_offset, self.end_offset, self.broker_id, self.max_timestamp_ms, self.event_timestamp_ms = _unpack_2qi2q(buf, pos)
    pos += 36
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("RemoteLogSegmentMetadataRecord.segment_leader_epochs")
    if n * 13 > end - pos:
        raise length_read("RemoteLogSegmentMetadataRecord.segment_leader_epochs", n, end - pos)
    l_segment_leader_epochs: list[RemoteLogSegmentMetadataRecordSegmentLeaderEpochEntry] = []
    for _ in range(n):
        i_segment_leader_epochs, pos = _read_RemoteLogSegmentMetadataRecordSegmentLeaderEpochEntry(buf, pos, end, version)
        l_segment_leader_epochs.append(i_segment_leader_epochs)
    self.segment_leader_epochs = l_segment_leader_epochs
    (self.segment_size_in_bytes,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.custom_metadata = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("RemoteLogSegmentMetadataRecord.custom_metadata", n, end - pos)
        self.custom_metadata = bytes(buf[pos:stop])
        pos = stop
    (self.remote_log_segment_state,) = _unpack_b(buf, pos)
    pos += 1
    self.txn_index_empty = False
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("RemoteLogSegmentMetadataRecord tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("RemoteLogSegmentMetadataRecord tag", size, end - pos)
            if tag == 0:
                self.txn_index_empty = buf[pos] != 0
                pos += 1
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"RemoteLogSegmentMetadataRecord: tag {tag} does not fill its {size} bytes")
    return self, pos


class RemoteLogSegmentMetadataUpdateRecordTopicIdPartitionEntry:
    """Part of RemoteLogSegmentMetadataUpdateRecord."""

    __slots__ = ("name", "id", "partition")

    name: str
    id: bytes
    partition: int

    def __init__(
        self,
        *,
        name: str = "",
        id: bytes = ZERO_UUID,
        partition: int = 0,
    ) -> None:
        self.name = name
        self.id = id
        self.partition = partition

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RemoteLogSegmentMetadataUpdateRecordTopicIdPartitionEntry):
            return NotImplemented
        return (
            self.name == other.name
            and self.id == other.id
            and self.partition == other.partition
        )

    def __repr__(self) -> str:
        return f"RemoteLogSegmentMetadataUpdateRecordTopicIdPartitionEntry(name={self.name!r}, id={self.id!r}, partition={self.partition!r})"

    def _is_default(self) -> bool:
        return not ((self.name != "") or (self.id != ZERO_UUID) or (self.partition != 0))

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        if len(self.id) != 16:
            raise uuid_written("RemoteLogSegmentMetadataUpdateRecordTopicIdPartitionEntry.id")
        buf += _pack_ui(self.id, self.partition)
        buf.append(0)


def _read_RemoteLogSegmentMetadataUpdateRecordTopicIdPartitionEntry(buf: memoryview, pos: int, end: int, version: int) -> tuple[RemoteLogSegmentMetadataUpdateRecordTopicIdPartitionEntry, int]:
    self = RemoteLogSegmentMetadataUpdateRecordTopicIdPartitionEntry.__new__(RemoteLogSegmentMetadataUpdateRecordTopicIdPartitionEntry)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("RemoteLogSegmentMetadataUpdateRecordTopicIdPartitionEntry.name")
    stop = pos + n
    if stop > end:
        raise length_read("RemoteLogSegmentMetadataUpdateRecordTopicIdPartitionEntry.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    self.id, self.partition = _unpack_ui(buf, pos)
    pos += 20
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class RemoteLogSegmentMetadataUpdateRecordRemoteLogSegmentIdEntry:
    """Part of RemoteLogSegmentMetadataUpdateRecord."""

    __slots__ = ("topic_id_partition", "id")

    topic_id_partition: RemoteLogSegmentMetadataUpdateRecordTopicIdPartitionEntry
    id: bytes

    def __init__(
        self,
        *,
        topic_id_partition: RemoteLogSegmentMetadataUpdateRecordTopicIdPartitionEntry | None = None,
        id: bytes = ZERO_UUID,
    ) -> None:
        self.topic_id_partition = RemoteLogSegmentMetadataUpdateRecordTopicIdPartitionEntry() if topic_id_partition is None else topic_id_partition
        self.id = id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RemoteLogSegmentMetadataUpdateRecordRemoteLogSegmentIdEntry):
            return NotImplemented
        return (
            self.topic_id_partition == other.topic_id_partition
            and self.id == other.id
        )

    def __repr__(self) -> str:
        return f"RemoteLogSegmentMetadataUpdateRecordRemoteLogSegmentIdEntry(topic_id_partition={self.topic_id_partition!r}, id={self.id!r})"

    def _is_default(self) -> bool:
        return not ((not self.topic_id_partition._is_default()) or (self.id != ZERO_UUID))

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        self.topic_id_partition.encode(out, version)
        if len(self.id) != 16:
            raise uuid_written("RemoteLogSegmentMetadataUpdateRecordRemoteLogSegmentIdEntry.id")
        buf += _pack_u(self.id)
        buf.append(0)


def _read_RemoteLogSegmentMetadataUpdateRecordRemoteLogSegmentIdEntry(buf: memoryview, pos: int, end: int, version: int) -> tuple[RemoteLogSegmentMetadataUpdateRecordRemoteLogSegmentIdEntry, int]:
    self = RemoteLogSegmentMetadataUpdateRecordRemoteLogSegmentIdEntry.__new__(RemoteLogSegmentMetadataUpdateRecordRemoteLogSegmentIdEntry)
    self.topic_id_partition, pos = _read_RemoteLogSegmentMetadataUpdateRecordTopicIdPartitionEntry(buf, pos, end, version)
    (self.id,) = _unpack_u(buf, pos)
    pos += 16
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class RemoteLogSegmentMetadataUpdateRecord:
    """Version 0."""

    __slots__ = ("remote_log_segment_id", "broker_id", "event_timestamp_ms", "custom_metadata", "remote_log_segment_state")

    RECORD_TYPE: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    remote_log_segment_id: RemoteLogSegmentMetadataUpdateRecordRemoteLogSegmentIdEntry
    broker_id: int
    event_timestamp_ms: int
    custom_metadata: bytes | None
    remote_log_segment_state: int

    def __init__(
        self,
        *,
        remote_log_segment_id: RemoteLogSegmentMetadataUpdateRecordRemoteLogSegmentIdEntry | None = None,
        broker_id: int = 0,
        event_timestamp_ms: int = 0,
        custom_metadata: bytes | None = None,
        remote_log_segment_state: int = 0,
    ) -> None:
        self.remote_log_segment_id = RemoteLogSegmentMetadataUpdateRecordRemoteLogSegmentIdEntry() if remote_log_segment_id is None else remote_log_segment_id
        self.broker_id = broker_id
        self.event_timestamp_ms = event_timestamp_ms
        self.custom_metadata = custom_metadata
        self.remote_log_segment_state = remote_log_segment_state

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RemoteLogSegmentMetadataUpdateRecord):
            return NotImplemented
        return (
            self.remote_log_segment_id == other.remote_log_segment_id
            and self.broker_id == other.broker_id
            and self.event_timestamp_ms == other.event_timestamp_ms
            and self.custom_metadata == other.custom_metadata
            and self.remote_log_segment_state == other.remote_log_segment_state
        )

    def __repr__(self) -> str:
        return f"RemoteLogSegmentMetadataUpdateRecord(remote_log_segment_id={self.remote_log_segment_id!r}, broker_id={self.broker_id!r}, event_timestamp_ms={self.event_timestamp_ms!r}, custom_metadata={self.custom_metadata!r}, remote_log_segment_state={self.remote_log_segment_state!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("RemoteLogSegmentMetadataUpdateRecord", version, "no such version")
        try:
            buf = out.buf
            self.remote_log_segment_id.encode(out, version)
            buf += _pack_iq(self.broker_id, self.event_timestamp_ms)
            v_custom_metadata = self.custom_metadata
            if v_custom_metadata is None:
                buf.append(0)
            else:
                n = len(v_custom_metadata)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                buf += v_custom_metadata
            buf += _pack_b(self.remote_log_segment_state)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("RemoteLogSegmentMetadataUpdateRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[RemoteLogSegmentMetadataUpdateRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("RemoteLogSegmentMetadataUpdateRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("RemoteLogSegmentMetadataUpdateRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_RemoteLogSegmentMetadataUpdateRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("RemoteLogSegmentMetadataUpdateRecord", version, error) from error
        if pos > end:
            raise decode_failed("RemoteLogSegmentMetadataUpdateRecord", version, "truncated")
        return message, pos


def _read_RemoteLogSegmentMetadataUpdateRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[RemoteLogSegmentMetadataUpdateRecord, int]:
    self = RemoteLogSegmentMetadataUpdateRecord.__new__(RemoteLogSegmentMetadataUpdateRecord)
    self.remote_log_segment_id, pos = _read_RemoteLogSegmentMetadataUpdateRecordRemoteLogSegmentIdEntry(buf, pos, end, version)
    self.broker_id, self.event_timestamp_ms = _unpack_iq(buf, pos)
    pos += 12
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.custom_metadata = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("RemoteLogSegmentMetadataUpdateRecord.custom_metadata", n, end - pos)
        self.custom_metadata = bytes(buf[pos:stop])
        pos = stop
    (self.remote_log_segment_state,) = _unpack_b(buf, pos)
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class RemotePartitionDeleteMetadataRecordTopicIdPartitionEntry:
    """Part of RemotePartitionDeleteMetadataRecord."""

    __slots__ = ("name", "id", "partition")

    name: str
    id: bytes
    partition: int

    def __init__(
        self,
        *,
        name: str = "",
        id: bytes = ZERO_UUID,
        partition: int = 0,
    ) -> None:
        self.name = name
        self.id = id
        self.partition = partition

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RemotePartitionDeleteMetadataRecordTopicIdPartitionEntry):
            return NotImplemented
        return (
            self.name == other.name
            and self.id == other.id
            and self.partition == other.partition
        )

    def __repr__(self) -> str:
        return f"RemotePartitionDeleteMetadataRecordTopicIdPartitionEntry(name={self.name!r}, id={self.id!r}, partition={self.partition!r})"

    def _is_default(self) -> bool:
        return not ((self.name != "") or (self.id != ZERO_UUID) or (self.partition != 0))

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        if len(self.id) != 16:
            raise uuid_written("RemotePartitionDeleteMetadataRecordTopicIdPartitionEntry.id")
        buf += _pack_ui(self.id, self.partition)
        buf.append(0)


def _read_RemotePartitionDeleteMetadataRecordTopicIdPartitionEntry(buf: memoryview, pos: int, end: int, version: int) -> tuple[RemotePartitionDeleteMetadataRecordTopicIdPartitionEntry, int]:
    self = RemotePartitionDeleteMetadataRecordTopicIdPartitionEntry.__new__(RemotePartitionDeleteMetadataRecordTopicIdPartitionEntry)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("RemotePartitionDeleteMetadataRecordTopicIdPartitionEntry.name")
    stop = pos + n
    if stop > end:
        raise length_read("RemotePartitionDeleteMetadataRecordTopicIdPartitionEntry.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    self.id, self.partition = _unpack_ui(buf, pos)
    pos += 20
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class RemotePartitionDeleteMetadataRecord:
    """Version 0."""

    __slots__ = ("topic_id_partition", "broker_id", "event_timestamp_ms", "remote_partition_delete_state")

    RECORD_TYPE: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    topic_id_partition: RemotePartitionDeleteMetadataRecordTopicIdPartitionEntry
    broker_id: int
    event_timestamp_ms: int
    remote_partition_delete_state: int

    def __init__(
        self,
        *,
        topic_id_partition: RemotePartitionDeleteMetadataRecordTopicIdPartitionEntry | None = None,
        broker_id: int = 0,
        event_timestamp_ms: int = 0,
        remote_partition_delete_state: int = 0,
    ) -> None:
        self.topic_id_partition = RemotePartitionDeleteMetadataRecordTopicIdPartitionEntry() if topic_id_partition is None else topic_id_partition
        self.broker_id = broker_id
        self.event_timestamp_ms = event_timestamp_ms
        self.remote_partition_delete_state = remote_partition_delete_state

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RemotePartitionDeleteMetadataRecord):
            return NotImplemented
        return (
            self.topic_id_partition == other.topic_id_partition
            and self.broker_id == other.broker_id
            and self.event_timestamp_ms == other.event_timestamp_ms
            and self.remote_partition_delete_state == other.remote_partition_delete_state
        )

    def __repr__(self) -> str:
        return f"RemotePartitionDeleteMetadataRecord(topic_id_partition={self.topic_id_partition!r}, broker_id={self.broker_id!r}, event_timestamp_ms={self.event_timestamp_ms!r}, remote_partition_delete_state={self.remote_partition_delete_state!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("RemotePartitionDeleteMetadataRecord", version, "no such version")
        try:
            buf = out.buf
            self.topic_id_partition.encode(out, version)
            buf += _pack_iqb(self.broker_id, self.event_timestamp_ms, self.remote_partition_delete_state)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("RemotePartitionDeleteMetadataRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[RemotePartitionDeleteMetadataRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("RemotePartitionDeleteMetadataRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("RemotePartitionDeleteMetadataRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_RemotePartitionDeleteMetadataRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("RemotePartitionDeleteMetadataRecord", version, error) from error
        if pos > end:
            raise decode_failed("RemotePartitionDeleteMetadataRecord", version, "truncated")
        return message, pos


def _read_RemotePartitionDeleteMetadataRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[RemotePartitionDeleteMetadataRecord, int]:
    self = RemotePartitionDeleteMetadataRecord.__new__(RemotePartitionDeleteMetadataRecord)
    self.topic_id_partition, pos = _read_RemotePartitionDeleteMetadataRecordTopicIdPartitionEntry(buf, pos, end, version)
    self.broker_id, self.event_timestamp_ms, self.remote_partition_delete_state = _unpack_iqb(buf, pos)
    pos += 13
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class RemoteLogSegmentMetadataSnapshotRecordSegmentLeaderEpochEntry:
    """Part of RemoteLogSegmentMetadataSnapshotRecord."""

    __slots__ = ("leader_epoch", "offset")

    leader_epoch: int
    offset: int

    def __init__(
        self,
        *,
        leader_epoch: int = 0,
        offset: int = 0,
    ) -> None:
        self.leader_epoch = leader_epoch
        self.offset = offset

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RemoteLogSegmentMetadataSnapshotRecordSegmentLeaderEpochEntry):
            return NotImplemented
        return (
            self.leader_epoch == other.leader_epoch
            and self.offset == other.offset
        )

    def __repr__(self) -> str:
        return f"RemoteLogSegmentMetadataSnapshotRecordSegmentLeaderEpochEntry(leader_epoch={self.leader_epoch!r}, offset={self.offset!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_iq(self.leader_epoch, self.offset)
        buf.append(0)


def _read_RemoteLogSegmentMetadataSnapshotRecordSegmentLeaderEpochEntry(buf: memoryview, pos: int, end: int, version: int) -> tuple[RemoteLogSegmentMetadataSnapshotRecordSegmentLeaderEpochEntry, int]:
    self = RemoteLogSegmentMetadataSnapshotRecordSegmentLeaderEpochEntry.__new__(RemoteLogSegmentMetadataSnapshotRecordSegmentLeaderEpochEntry)
    self.leader_epoch, self.offset = _unpack_iq(buf, pos)
    pos += 12
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class RemoteLogSegmentMetadataSnapshotRecord:
    """Version 0."""

    __slots__ = ("segment_id", "start_offset", "end_offset", "broker_id", "max_timestamp_ms", "event_timestamp_ms", "segment_leader_epochs", "segment_size_in_bytes", "custom_metadata", "remote_log_segment_state", "txn_index_empty")

    RECORD_TYPE: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    segment_id: bytes
    start_offset: int
    end_offset: int
    broker_id: int
    max_timestamp_ms: int
    event_timestamp_ms: int
    segment_leader_epochs: list[RemoteLogSegmentMetadataSnapshotRecordSegmentLeaderEpochEntry]
    segment_size_in_bytes: int
    custom_metadata: bytes | None
    remote_log_segment_state: int
    txn_index_empty: bool

    def __init__(
        self,
        *,
        segment_id: bytes = ZERO_UUID,
        start_offset: int = 0,
        end_offset: int = 0,
        broker_id: int = 0,
        max_timestamp_ms: int = 0,
        event_timestamp_ms: int = 0,
        segment_leader_epochs: list[RemoteLogSegmentMetadataSnapshotRecordSegmentLeaderEpochEntry] = _EMPTY,
        segment_size_in_bytes: int = 0,
        custom_metadata: bytes | None = None,
        remote_log_segment_state: int = 0,
        txn_index_empty: bool = False,
    ) -> None:
        self.segment_id = segment_id
        self.start_offset = start_offset
        self.end_offset = end_offset
        self.broker_id = broker_id
        self.max_timestamp_ms = max_timestamp_ms
        self.event_timestamp_ms = event_timestamp_ms
        self.segment_leader_epochs = [] if segment_leader_epochs is _EMPTY else segment_leader_epochs
        self.segment_size_in_bytes = segment_size_in_bytes
        self.custom_metadata = custom_metadata
        self.remote_log_segment_state = remote_log_segment_state
        self.txn_index_empty = txn_index_empty

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RemoteLogSegmentMetadataSnapshotRecord):
            return NotImplemented
        return (
            self.segment_id == other.segment_id
            and self.start_offset == other.start_offset
            and self.end_offset == other.end_offset
            and self.broker_id == other.broker_id
            and self.max_timestamp_ms == other.max_timestamp_ms
            and self.event_timestamp_ms == other.event_timestamp_ms
            and self.segment_leader_epochs == other.segment_leader_epochs
            and self.segment_size_in_bytes == other.segment_size_in_bytes
            and self.custom_metadata == other.custom_metadata
            and self.remote_log_segment_state == other.remote_log_segment_state
            and self.txn_index_empty == other.txn_index_empty
        )

    def __repr__(self) -> str:
        return f"RemoteLogSegmentMetadataSnapshotRecord(segment_id={self.segment_id!r}, start_offset={self.start_offset!r}, end_offset={self.end_offset!r}, broker_id={self.broker_id!r}, max_timestamp_ms={self.max_timestamp_ms!r}, event_timestamp_ms={self.event_timestamp_ms!r}, segment_leader_epochs={self.segment_leader_epochs!r}, segment_size_in_bytes={self.segment_size_in_bytes!r}, custom_metadata={self.custom_metadata!r}, remote_log_segment_state={self.remote_log_segment_state!r}, txn_index_empty={self.txn_index_empty!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("RemoteLogSegmentMetadataSnapshotRecord", version, "no such version")
        try:
            buf = out.buf
            if len(self.segment_id) != 16:
                raise uuid_written("RemoteLogSegmentMetadataSnapshotRecord.segment_id")
            buf += _pack_u2qi2q(self.segment_id, self.start_offset, self.end_offset, self.broker_id, self.max_timestamp_ms, self.event_timestamp_ms)
            n = len(self.segment_leader_epochs)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_segment_leader_epochs in self.segment_leader_epochs:
                i_segment_leader_epochs.encode(out, version)
            buf += _pack_i(self.segment_size_in_bytes)
            v_custom_metadata = self.custom_metadata
            if v_custom_metadata is None:
                buf.append(0)
            else:
                n = len(v_custom_metadata)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                buf += v_custom_metadata
            buf += _pack_b(self.remote_log_segment_state)
            count = 0
            if self.txn_index_empty:
                count += 1
            buf.append(count)
            if count:
                if self.txn_index_empty:
                    buf += b"\x00\x01"
                    buf += _pack_z(self.txn_index_empty)
        except ENCODE_FAILURES as error:
            raise encode_failed("RemoteLogSegmentMetadataSnapshotRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[RemoteLogSegmentMetadataSnapshotRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("RemoteLogSegmentMetadataSnapshotRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("RemoteLogSegmentMetadataSnapshotRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_RemoteLogSegmentMetadataSnapshotRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("RemoteLogSegmentMetadataSnapshotRecord", version, error) from error
        if pos > end:
            raise decode_failed("RemoteLogSegmentMetadataSnapshotRecord", version, "truncated")
        return message, pos


def _read_RemoteLogSegmentMetadataSnapshotRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[RemoteLogSegmentMetadataSnapshotRecord, int]:
    self = RemoteLogSegmentMetadataSnapshotRecord.__new__(RemoteLogSegmentMetadataSnapshotRecord)
    self.segment_id, self.start_offset, self.end_offset, self.broker_id, self.max_timestamp_ms, self.event_timestamp_ms = _unpack_u2qi2q(buf, pos)
    pos += 52
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("RemoteLogSegmentMetadataSnapshotRecord.segment_leader_epochs")
    if n * 13 > end - pos:
        raise length_read("RemoteLogSegmentMetadataSnapshotRecord.segment_leader_epochs", n, end - pos)
    l_segment_leader_epochs: list[RemoteLogSegmentMetadataSnapshotRecordSegmentLeaderEpochEntry] = []
    for _ in range(n):
        i_segment_leader_epochs, pos = _read_RemoteLogSegmentMetadataSnapshotRecordSegmentLeaderEpochEntry(buf, pos, end, version)
        l_segment_leader_epochs.append(i_segment_leader_epochs)
    self.segment_leader_epochs = l_segment_leader_epochs
    (self.segment_size_in_bytes,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.custom_metadata = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("RemoteLogSegmentMetadataSnapshotRecord.custom_metadata", n, end - pos)
        self.custom_metadata = bytes(buf[pos:stop])
        pos = stop
    (self.remote_log_segment_state,) = _unpack_b(buf, pos)
    pos += 1
    self.txn_index_empty = False
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("RemoteLogSegmentMetadataSnapshotRecord tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("RemoteLogSegmentMetadataSnapshotRecord tag", size, end - pos)
            if tag == 0:
                self.txn_index_empty = buf[pos] != 0
                pos += 1
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"RemoteLogSegmentMetadataSnapshotRecord: tag {tag} does not fill its {size} bytes")
    return self, pos


RECORD_TYPES: Final[dict[int, type[Any]]] = {
    0: RemoteLogSegmentMetadataRecord,
    1: RemoteLogSegmentMetadataUpdateRecord,
    2: RemotePartitionDeleteMetadataRecord,
    3: RemoteLogSegmentMetadataSnapshotRecord,
}
