"""ShareFetch. Generated from schema/share_fetch.txt by tools/generate_messages.py; do not edit."""

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
    Records,
    ZERO_UUID,
    decode_failed,
    encode_failed,
    field_unsupported,
    length_read,
    null_read,
    null_written,
    read_string_length_tail,
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
_pack_bz = Struct(">b?").pack
_unpack_bz = Struct(">b?").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from
_pack_2i = Struct(">ii").pack
_unpack_2i = Struct(">ii").unpack_from
_pack_6i = Struct(">iiiiii").pack
_unpack_6i = Struct(">iiiiii").unpack_from
_pack_2q = Struct(">qq").pack
_unpack_2q = Struct(">qq").unpack_from
_pack_2qh = Struct(">qqh").pack
_unpack_2qh = Struct(">qqh").unpack_from


class AcknowledgementBatch:
    """Part of ShareFetchRequest."""

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


class FetchPartition:
    """Part of ShareFetchRequest."""

    __slots__ = ("partition_index", "partition_max_bytes", "acknowledgement_batches")

    partition_index: int
    partition_max_bytes: int
    acknowledgement_batches: list[AcknowledgementBatch]

    def __init__(
        self,
        *,
        partition_index: int = 0,
        partition_max_bytes: int = 0,
        acknowledgement_batches: list[AcknowledgementBatch] = _EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.partition_max_bytes = partition_max_bytes
        self.acknowledgement_batches = [] if acknowledgement_batches is _EMPTY else acknowledgement_batches

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FetchPartition):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.partition_max_bytes == other.partition_max_bytes
            and self.acknowledgement_batches == other.acknowledgement_batches
        )

    def __repr__(self) -> str:
        return f"FetchPartition(partition_index={self.partition_index!r}, partition_max_bytes={self.partition_max_bytes!r}, acknowledgement_batches={self.acknowledgement_batches!r})"

    def encode(self, out: Encoder, version: int) -> None:
        if self.partition_max_bytes != 0:
            raise field_unsupported("FetchPartition.partition_max_bytes", version)
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


def _read_FetchPartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[FetchPartition, int]:
    self = FetchPartition.__new__(FetchPartition)
    (self.partition_index,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("FetchPartition.acknowledgement_batches")
    if n * 18 > end - pos:
        raise length_read("FetchPartition.acknowledgement_batches", n, end - pos)
    l_acknowledgement_batches: list[AcknowledgementBatch] = []
    for _ in range(n):
        i_acknowledgement_batches, pos = _read_AcknowledgementBatch(buf, pos, end, version)
        l_acknowledgement_batches.append(i_acknowledgement_batches)
    self.acknowledgement_batches = l_acknowledgement_batches
    self.partition_max_bytes = 0
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class FetchTopic:
    """Part of ShareFetchRequest."""

    __slots__ = ("topic_id", "partitions")

    topic_id: bytes
    partitions: list[FetchPartition]

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[FetchPartition] = _EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FetchTopic):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"FetchTopic(topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("FetchTopic.topic_id")
        buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        buf.append(0)


def _read_FetchTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[FetchTopic, int]:
    self = FetchTopic.__new__(FetchTopic)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("FetchTopic.partitions")
    if n * 6 > end - pos:
        raise length_read("FetchTopic.partitions", n, end - pos)
    l_partitions: list[FetchPartition] = []
    for _ in range(n):
        i_partitions, pos = _read_FetchPartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ForgottenTopic:
    """Part of ShareFetchRequest."""

    __slots__ = ("topic_id", "partitions")

    topic_id: bytes
    partitions: list[int]

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = _EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ForgottenTopic):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"ForgottenTopic(topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("ForgottenTopic.topic_id")
        buf += _pack_u(self.topic_id)
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


def _read_ForgottenTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[ForgottenTopic, int]:
    self = ForgottenTopic.__new__(ForgottenTopic)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ForgottenTopic.partitions")
    if n * 4 > end - pos:
        raise length_read("ForgottenTopic.partitions", n, end - pos)
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


class ShareFetchRequest:
    """Versions 1 to 2."""

    __slots__ = ("group_id", "member_id", "share_session_epoch", "max_wait_ms", "min_bytes", "max_bytes", "max_records", "batch_size", "share_acquire_mode", "is_renew_ack", "topics", "forgotten_topics_data")

    API_KEY: ClassVar[int] = 78
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    group_id: str | None
    member_id: str | None
    share_session_epoch: int
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    max_records: int
    batch_size: int
    share_acquire_mode: int
    is_renew_ack: bool
    topics: list[FetchTopic]
    forgotten_topics_data: list[ForgottenTopic]

    def __init__(
        self,
        *,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        max_records: int = 0,
        batch_size: int = 0,
        share_acquire_mode: int = 0,
        is_renew_ack: bool = False,
        topics: list[FetchTopic] = _EMPTY,
        forgotten_topics_data: list[ForgottenTopic] = _EMPTY,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.max_records = max_records
        self.batch_size = batch_size
        self.share_acquire_mode = share_acquire_mode
        self.is_renew_ack = is_renew_ack
        self.topics = [] if topics is _EMPTY else topics
        self.forgotten_topics_data = [] if forgotten_topics_data is _EMPTY else forgotten_topics_data

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareFetchRequest):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.member_id == other.member_id
            and self.share_session_epoch == other.share_session_epoch
            and self.max_wait_ms == other.max_wait_ms
            and self.min_bytes == other.min_bytes
            and self.max_bytes == other.max_bytes
            and self.max_records == other.max_records
            and self.batch_size == other.batch_size
            and self.share_acquire_mode == other.share_acquire_mode
            and self.is_renew_ack == other.is_renew_ack
            and self.topics == other.topics
            and self.forgotten_topics_data == other.forgotten_topics_data
        )

    def __repr__(self) -> str:
        return f"ShareFetchRequest(group_id={self.group_id!r}, member_id={self.member_id!r}, share_session_epoch={self.share_session_epoch!r}, max_wait_ms={self.max_wait_ms!r}, min_bytes={self.min_bytes!r}, max_bytes={self.max_bytes!r}, max_records={self.max_records!r}, batch_size={self.batch_size!r}, share_acquire_mode={self.share_acquire_mode!r}, is_renew_ack={self.is_renew_ack!r}, topics={self.topics!r}, forgotten_topics_data={self.forgotten_topics_data!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 2:
            raise encode_failed("ShareFetchRequest", version, "no such version")
        try:
            if version < 2:
                if self.is_renew_ack:
                    raise field_unsupported("ShareFetchRequest.is_renew_ack", version)
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
            buf += _pack_6i(self.share_session_epoch, self.max_wait_ms, self.min_bytes, self.max_bytes, self.max_records, self.batch_size)
            if version >= 2:
                buf += _pack_bz(self.share_acquire_mode, self.is_renew_ack)
            n = len(self.topics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_topics in self.topics:
                i_topics.encode(out, version)
            n = len(self.forgotten_topics_data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_forgotten_topics_data in self.forgotten_topics_data:
                i_forgotten_topics_data.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareFetchRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareFetchRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 2:
            raise decode_failed("ShareFetchRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareFetchRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareFetchRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareFetchRequest", version, error) from error
        if pos > end:
            raise decode_failed("ShareFetchRequest", version, "truncated")
        return message, pos


def _read_ShareFetchRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareFetchRequest, int]:
    self = ShareFetchRequest.__new__(ShareFetchRequest)
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
            raise length_read("ShareFetchRequest.group_id", n, end - pos)
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
            raise length_read("ShareFetchRequest.member_id", n, end - pos)
        self.member_id = str(buf[pos:stop], "utf-8")
        pos = stop
    self.share_session_epoch, self.max_wait_ms, self.min_bytes, self.max_bytes, self.max_records, self.batch_size = _unpack_6i(buf, pos)
    pos += 24
    if version >= 2:
        self.share_acquire_mode, self.is_renew_ack = _unpack_bz(buf, pos)
        pos += 2
    else:
        self.share_acquire_mode = 0
        self.is_renew_ack = False
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareFetchRequest.topics")
    if n * 18 > end - pos:
        raise length_read("ShareFetchRequest.topics", n, end - pos)
    l_topics: list[FetchTopic] = []
    for _ in range(n):
        i_topics, pos = _read_FetchTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareFetchRequest.forgotten_topics_data")
    if n * 18 > end - pos:
        raise length_read("ShareFetchRequest.forgotten_topics_data", n, end - pos)
    l_forgotten_topics_data: list[ForgottenTopic] = []
    for _ in range(n):
        i_forgotten_topics_data, pos = _read_ForgottenTopic(buf, pos, end, version)
        l_forgotten_topics_data.append(i_forgotten_topics_data)
    self.forgotten_topics_data = l_forgotten_topics_data
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class LeaderIdAndEpoch:
    """Part of ShareFetchResponse."""

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


class AcquiredRecords:
    """Part of ShareFetchResponse."""

    __slots__ = ("first_offset", "last_offset", "delivery_count")

    first_offset: int
    last_offset: int
    delivery_count: int

    def __init__(
        self,
        *,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_count = delivery_count

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AcquiredRecords):
            return NotImplemented
        return (
            self.first_offset == other.first_offset
            and self.last_offset == other.last_offset
            and self.delivery_count == other.delivery_count
        )

    def __repr__(self) -> str:
        return f"AcquiredRecords(first_offset={self.first_offset!r}, last_offset={self.last_offset!r}, delivery_count={self.delivery_count!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_2qh(self.first_offset, self.last_offset, self.delivery_count)
        buf.append(0)


def _read_AcquiredRecords(buf: memoryview, pos: int, end: int, version: int) -> tuple[AcquiredRecords, int]:
    self = AcquiredRecords.__new__(AcquiredRecords)
    self.first_offset, self.last_offset, self.delivery_count = _unpack_2qh(buf, pos)
    pos += 18
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class PartitionData:
    """Part of ShareFetchResponse."""

    __slots__ = ("partition_index", "error_code", "error_message", "acknowledge_error_code", "acknowledge_error_message", "current_leader", "records", "acquired_records")

    partition_index: int
    error_code: int
    error_message: str | None
    acknowledge_error_code: int
    acknowledge_error_message: str | None
    current_leader: LeaderIdAndEpoch
    records: Records
    acquired_records: list[AcquiredRecords]

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acknowledge_error_code: int = 0,
        acknowledge_error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        records: Records = None,
        acquired_records: list[AcquiredRecords] = _EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.acknowledge_error_code = acknowledge_error_code
        self.acknowledge_error_message = acknowledge_error_message
        self.current_leader = LeaderIdAndEpoch() if current_leader is None else current_leader
        self.records = records
        self.acquired_records = [] if acquired_records is _EMPTY else acquired_records

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionData):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.acknowledge_error_code == other.acknowledge_error_code
            and self.acknowledge_error_message == other.acknowledge_error_message
            and self.current_leader == other.current_leader
            and self.records == other.records
            and self.acquired_records == other.acquired_records
        )

    def __repr__(self) -> str:
        return f"PartitionData(partition_index={self.partition_index!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, acknowledge_error_code={self.acknowledge_error_code!r}, acknowledge_error_message={self.acknowledge_error_message!r}, current_leader={self.current_leader!r}, records={size_of(self.records)}, acquired_records={self.acquired_records!r})"

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
        buf += _pack_h(self.acknowledge_error_code)
        v_acknowledge_error_message = self.acknowledge_error_message
        if v_acknowledge_error_message is None:
            buf.append(0)
        else:
            data = v_acknowledge_error_message.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
        self.current_leader.encode(out, version)
        v_records = self.records
        if v_records is None:
            raise null_written("PartitionData.records", version)
        else:
            n = len(v_records)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            out.attach(v_records)
        n = len(self.acquired_records)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_acquired_records in self.acquired_records:
            i_acquired_records.encode(out, version)
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
    (self.acknowledge_error_code,) = _unpack_h(buf, pos)
    pos += 2
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.acknowledge_error_message = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("PartitionData.acknowledge_error_message", n, end - pos)
        self.acknowledge_error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    self.current_leader, pos = _read_LeaderIdAndEpoch(buf, pos, end, version)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("PartitionData.records")
    stop = pos + n
    if stop > end:
        raise length_read("PartitionData.records", n, end - pos)
    self.records = buf[pos:stop]
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("PartitionData.acquired_records")
    if n * 19 > end - pos:
        raise length_read("PartitionData.acquired_records", n, end - pos)
    l_acquired_records: list[AcquiredRecords] = []
    for _ in range(n):
        i_acquired_records, pos = _read_AcquiredRecords(buf, pos, end, version)
        l_acquired_records.append(i_acquired_records)
    self.acquired_records = l_acquired_records
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ShareFetchableTopicResponse:
    """Part of ShareFetchResponse."""

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
        if not isinstance(other, ShareFetchableTopicResponse):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"ShareFetchableTopicResponse(topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("ShareFetchableTopicResponse.topic_id")
        buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        buf.append(0)


def _read_ShareFetchableTopicResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareFetchableTopicResponse, int]:
    self = ShareFetchableTopicResponse.__new__(ShareFetchableTopicResponse)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareFetchableTopicResponse.partitions")
    if n * 22 > end - pos:
        raise length_read("ShareFetchableTopicResponse.partitions", n, end - pos)
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
    """Part of ShareFetchResponse."""

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


class ShareFetchResponse:
    """Versions 1 to 2."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "acquisition_lock_timeout_ms", "responses", "node_endpoints")

    API_KEY: ClassVar[int] = 78
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    acquisition_lock_timeout_ms: int
    responses: list[ShareFetchableTopicResponse]
    node_endpoints: list[NodeEndpoint]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: list[ShareFetchableTopicResponse] = _EMPTY,
        node_endpoints: list[NodeEndpoint] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.acquisition_lock_timeout_ms = acquisition_lock_timeout_ms
        self.responses = [] if responses is _EMPTY else responses
        self.node_endpoints = [] if node_endpoints is _EMPTY else node_endpoints

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareFetchResponse):
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
        return f"ShareFetchResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, acquisition_lock_timeout_ms={self.acquisition_lock_timeout_ms!r}, responses={self.responses!r}, node_endpoints={self.node_endpoints!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 2:
            raise encode_failed("ShareFetchResponse", version, "no such version")
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
            raise encode_failed("ShareFetchResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareFetchResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 2:
            raise decode_failed("ShareFetchResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareFetchResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareFetchResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareFetchResponse", version, error) from error
        if pos > end:
            raise decode_failed("ShareFetchResponse", version, "truncated")
        return message, pos


def _read_ShareFetchResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareFetchResponse, int]:
    self = ShareFetchResponse.__new__(ShareFetchResponse)
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
            raise length_read("ShareFetchResponse.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    (self.acquisition_lock_timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareFetchResponse.responses")
    if n * 18 > end - pos:
        raise length_read("ShareFetchResponse.responses", n, end - pos)
    l_responses: list[ShareFetchableTopicResponse] = []
    for _ in range(n):
        i_responses, pos = _read_ShareFetchableTopicResponse(buf, pos, end, version)
        l_responses.append(i_responses)
    self.responses = l_responses
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareFetchResponse.node_endpoints")
    if n * 11 > end - pos:
        raise length_read("ShareFetchResponse.node_endpoints", n, end - pos)
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
