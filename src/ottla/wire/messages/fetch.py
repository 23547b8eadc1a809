"""Fetch. Generated from schema/fetch.txt by tools/generate_messages.py; do not edit."""

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
    Records,
    ZERO_UUID,
    decode_failed,
    encode_failed,
    field_unsupported,
    length_read,
    null_read,
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
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_hi = Struct(">hi").pack
_unpack_hi = Struct(">hi").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih2q = Struct(">ihqq").pack
_unpack_ih2q = Struct(">ihqq").unpack_from
_pack_2i = Struct(">ii").pack
_unpack_2i = Struct(">ii").unpack_from
_pack_3ib = Struct(">iiib").pack
_unpack_3ib = Struct(">iiib").unpack_from
_pack_iq = Struct(">iq").pack
_unpack_iq = Struct(">iq").unpack_from
_pack_q = Struct(">q").pack
_unpack_q = Struct(">q").unpack_from
_pack_qi = Struct(">qi").pack
_unpack_qi = Struct(">qi").unpack_from
_pack_2q = Struct(">qq").pack
_unpack_2q = Struct(">qq").unpack_from


class ReplicaState:
    """Part of FetchRequest."""

    __slots__ = ("replica_id", "replica_epoch")

    replica_id: int
    replica_epoch: int

    def __init__(
        self,
        *,
        replica_id: int = -1,
        replica_epoch: int = -1,
    ) -> None:
        self.replica_id = replica_id
        self.replica_epoch = replica_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReplicaState):
            return NotImplemented
        return (
            self.replica_id == other.replica_id
            and self.replica_epoch == other.replica_epoch
        )

    def __repr__(self) -> str:
        return f"ReplicaState(replica_id={self.replica_id!r}, replica_epoch={self.replica_epoch!r})"

    def _is_default(self) -> bool:
        return not ((self.replica_id != -1) or (self.replica_epoch != -1))

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_iq(self.replica_id, self.replica_epoch)
        buf.append(0)


def _read_ReplicaState(buf: memoryview, pos: int, end: int, version: int) -> tuple[ReplicaState, int]:
    self = ReplicaState.__new__(ReplicaState)
    self.replica_id, self.replica_epoch = _unpack_iq(buf, pos)
    pos += 12
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class FetchPartition:
    """Part of FetchRequest."""

    __slots__ = ("partition", "current_leader_epoch", "fetch_offset", "last_fetched_epoch", "log_start_offset", "partition_max_bytes", "replica_directory_id", "high_watermark")

    partition: int
    current_leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int
    log_start_offset: int
    partition_max_bytes: int
    replica_directory_id: bytes
    high_watermark: int

    def __init__(
        self,
        *,
        partition: int = 0,
        current_leader_epoch: int = -1,
        fetch_offset: int = 0,
        last_fetched_epoch: int = -1,
        log_start_offset: int = -1,
        partition_max_bytes: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        high_watermark: int = 9223372036854775807,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.fetch_offset = fetch_offset
        self.last_fetched_epoch = last_fetched_epoch
        self.log_start_offset = log_start_offset
        self.partition_max_bytes = partition_max_bytes
        self.replica_directory_id = replica_directory_id
        self.high_watermark = high_watermark

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FetchPartition):
            return NotImplemented
        return (
            self.partition == other.partition
            and self.current_leader_epoch == other.current_leader_epoch
            and self.fetch_offset == other.fetch_offset
            and self.last_fetched_epoch == other.last_fetched_epoch
            and self.log_start_offset == other.log_start_offset
            and self.partition_max_bytes == other.partition_max_bytes
            and self.replica_directory_id == other.replica_directory_id
            and self.high_watermark == other.high_watermark
        )

    def __repr__(self) -> str:
        return f"FetchPartition(partition={self.partition!r}, current_leader_epoch={self.current_leader_epoch!r}, fetch_offset={self.fetch_offset!r}, last_fetched_epoch={self.last_fetched_epoch!r}, log_start_offset={self.log_start_offset!r}, partition_max_bytes={self.partition_max_bytes!r}, replica_directory_id={self.replica_directory_id!r}, high_watermark={self.high_watermark!r})"

    def encode(self, out: Encoder, version: int) -> None:
        if version < 12:
            if self.last_fetched_epoch != -1:
                raise field_unsupported("FetchPartition.last_fetched_epoch", version)
        buf = out.buf
        flexible = version >= 12
        buf += _pack_i(self.partition)
        if version >= 9:
            buf += _pack_i(self.current_leader_epoch)
        buf += _pack_q(self.fetch_offset)
        if version >= 12:
            buf += _pack_i(self.last_fetched_epoch)
        if version >= 5:
            buf += _pack_q(self.log_start_offset)
        buf += _pack_i(self.partition_max_bytes)
        if flexible:
            count = 0
            if version >= 17 and (self.replica_directory_id != ZERO_UUID):
                count += 1
            if version >= 18 and (self.high_watermark != 9223372036854775807):
                count += 1
            buf.append(count)
            if count:
                if version >= 17 and (self.replica_directory_id != ZERO_UUID):
                    buf += b"\x00\x10"
                    if len(self.replica_directory_id) != 16:
                        raise uuid_written("FetchPartition.replica_directory_id")
                    buf += _pack_u(self.replica_directory_id)
                if version >= 18 and (self.high_watermark != 9223372036854775807):
                    buf += b"\x01\x08"
                    buf += _pack_q(self.high_watermark)


def _read_FetchPartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[FetchPartition, int]:
    flexible = version >= 12
    self = FetchPartition.__new__(FetchPartition)
    (self.partition,) = _unpack_i(buf, pos)
    pos += 4
    if version >= 9:
        (self.current_leader_epoch,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.current_leader_epoch = -1
    (self.fetch_offset,) = _unpack_q(buf, pos)
    pos += 8
    if version >= 12:
        (self.last_fetched_epoch,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.last_fetched_epoch = -1
    if version >= 5:
        (self.log_start_offset,) = _unpack_q(buf, pos)
        pos += 8
    else:
        self.log_start_offset = -1
    (self.partition_max_bytes,) = _unpack_i(buf, pos)
    pos += 4
    self.replica_directory_id = ZERO_UUID
    self.high_watermark = 9223372036854775807
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            count, pos = read_uvarint(buf, pos)
            if count * 2 > end - pos:
                raise length_read("FetchPartition tags", count, end - pos)
            for _ in range(count):
                tag, pos = read_uvarint(buf, pos)
                size, pos = read_uvarint(buf, pos)
                tag_end = pos + size
                if tag_end > end:
                    raise length_read("FetchPartition tag", size, end - pos)
                if tag == 0 and version >= 17:
                    (self.replica_directory_id,) = _unpack_u(buf, pos)
                    pos += 16
                elif tag == 1 and version >= 18:
                    (self.high_watermark,) = _unpack_q(buf, pos)
                    pos += 8
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise DecodeError(f"FetchPartition: tag {tag} does not fill its {size} bytes")
    return self, pos


class FetchTopic:
    """Part of FetchRequest."""

    __slots__ = ("topic", "topic_id", "partitions")

    topic: str
    topic_id: bytes
    partitions: list[FetchPartition]

    def __init__(
        self,
        *,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[FetchPartition] = _EMPTY,
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FetchTopic):
            return NotImplemented
        return (
            self.topic == other.topic
            and self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"FetchTopic(topic={self.topic!r}, topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 12
        if version <= 12:
            data = self.topic.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
        if version >= 13:
            if len(self.topic_id) != 16:
                raise uuid_written("FetchTopic.topic_id")
            buf += _pack_u(self.topic_id)
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


def _read_FetchTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[FetchTopic, int]:
    flexible = version >= 12
    self = FetchTopic.__new__(FetchTopic)
    if version <= 12:
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
            raise null_read("FetchTopic.topic")
        stop = pos + n
        if stop > end:
            raise length_read("FetchTopic.topic", n, end - pos)
        self.topic = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.topic = ""
    if version >= 13:
        (self.topic_id,) = _unpack_u(buf, pos)
        pos += 16
    else:
        self.topic_id = ZERO_UUID
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
        raise null_read("FetchTopic.partitions")
    if n * 16 > end - pos:
        raise length_read("FetchTopic.partitions", n, end - pos)
    l_partitions: list[FetchPartition] = []
    for _ in range(n):
        i_partitions, pos = _read_FetchPartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ForgottenTopic:
    """Part of FetchRequest."""

    __slots__ = ("topic", "topic_id", "partitions")

    topic: str
    topic_id: bytes
    partitions: list[int]

    def __init__(
        self,
        *,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = _EMPTY,
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ForgottenTopic):
            return NotImplemented
        return (
            self.topic == other.topic
            and self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"ForgottenTopic(topic={self.topic!r}, topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 12
        if version <= 12:
            data = self.topic.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
        if version >= 13:
            if len(self.topic_id) != 16:
                raise uuid_written("ForgottenTopic.topic_id")
            buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.partitions)
        else:
            buf += _pack_n(f">{n}i", *self.partitions)
        if flexible:
            buf.append(0)


def _read_ForgottenTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[ForgottenTopic, int]:
    flexible = version >= 12
    self = ForgottenTopic.__new__(ForgottenTopic)
    if version <= 12:
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
            raise null_read("ForgottenTopic.topic")
        stop = pos + n
        if stop > end:
            raise length_read("ForgottenTopic.topic", n, end - pos)
        self.topic = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.topic = ""
    if version >= 13:
        (self.topic_id,) = _unpack_u(buf, pos)
        pos += 16
    else:
        self.topic_id = ZERO_UUID
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
        raise null_read("ForgottenTopic.partitions")
    if n * 4 > end - pos:
        raise length_read("ForgottenTopic.partitions", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.partitions = list(INT32_UNPACK[n](buf, pos))
    else:
        self.partitions = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class FetchRequest:
    """Versions 4 to 18, flexible from 12."""

    __slots__ = ("cluster_id", "replica_id", "replica_state", "max_wait_ms", "min_bytes", "max_bytes", "isolation_level", "session_id", "session_epoch", "topics", "forgotten_topics_data", "rack_id")

    API_KEY: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 4
    MAX_VERSION: ClassVar[int] = 18
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 12

    cluster_id: str | None
    replica_id: int
    replica_state: ReplicaState
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    isolation_level: int
    session_id: int
    session_epoch: int
    topics: list[FetchTopic]
    forgotten_topics_data: list[ForgottenTopic]
    rack_id: str

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        replica_id: int = -1,
        replica_state: ReplicaState | None = None,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        isolation_level: int = 0,
        session_id: int = 0,
        session_epoch: int = -1,
        topics: list[FetchTopic] = _EMPTY,
        forgotten_topics_data: list[ForgottenTopic] = _EMPTY,
        rack_id: str = "",
    ) -> None:
        self.cluster_id = cluster_id
        self.replica_id = replica_id
        self.replica_state = ReplicaState() if replica_state is None else replica_state
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.isolation_level = isolation_level
        self.session_id = session_id
        self.session_epoch = session_epoch
        self.topics = [] if topics is _EMPTY else topics
        self.forgotten_topics_data = [] if forgotten_topics_data is _EMPTY else forgotten_topics_data
        self.rack_id = rack_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FetchRequest):
            return NotImplemented
        return (
            self.cluster_id == other.cluster_id
            and self.replica_id == other.replica_id
            and self.replica_state == other.replica_state
            and self.max_wait_ms == other.max_wait_ms
            and self.min_bytes == other.min_bytes
            and self.max_bytes == other.max_bytes
            and self.isolation_level == other.isolation_level
            and self.session_id == other.session_id
            and self.session_epoch == other.session_epoch
            and self.topics == other.topics
            and self.forgotten_topics_data == other.forgotten_topics_data
            and self.rack_id == other.rack_id
        )

    def __repr__(self) -> str:
        return f"FetchRequest(cluster_id={self.cluster_id!r}, replica_id={self.replica_id!r}, replica_state={self.replica_state!r}, max_wait_ms={self.max_wait_ms!r}, min_bytes={self.min_bytes!r}, max_bytes={self.max_bytes!r}, isolation_level={self.isolation_level!r}, session_id={self.session_id!r}, session_epoch={self.session_epoch!r}, topics={self.topics!r}, forgotten_topics_data={self.forgotten_topics_data!r}, rack_id={self.rack_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 4 or version > 18:
            raise encode_failed("FetchRequest", version, "no such version")
        try:
            if version > 14:
                if self.replica_id != -1:
                    raise field_unsupported("FetchRequest.replica_id", version)
            if version < 15:
                if not self.replica_state._is_default():
                    raise field_unsupported("FetchRequest.replica_state", version)
            if version < 7:
                if self.forgotten_topics_data:
                    raise field_unsupported("FetchRequest.forgotten_topics_data", version)
            buf = out.buf
            flexible = version >= 12
            if version <= 14:
                buf += _pack_i(self.replica_id)
            buf += _pack_3ib(self.max_wait_ms, self.min_bytes, self.max_bytes, self.isolation_level)
            if version >= 7:
                buf += _pack_2i(self.session_id, self.session_epoch)
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
            if version >= 7:
                n = len(self.forgotten_topics_data)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_uvarint(buf, n + 1)
                else:
                    buf += _pack_i(n)
                for i_forgotten_topics_data in self.forgotten_topics_data:
                    i_forgotten_topics_data.encode(out, version)
            if version >= 11:
                data = self.rack_id.encode()
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
                count = 0
                if self.cluster_id is not None:
                    count += 1
                if version >= 15 and (not self.replica_state._is_default()):
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
                    if version >= 15 and (not self.replica_state._is_default()):
                        sub = Encoder()
                        sub_buf = sub.buf
                        self.replica_state.encode(sub, version)
                        buf.append(1)
                        write_uvarint(buf, len(sub_buf))
                        buf += sub_buf
        except ENCODE_FAILURES as error:
            raise encode_failed("FetchRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[FetchRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 4 or version > 18:
            raise decode_failed("FetchRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("FetchRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_FetchRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("FetchRequest", version, error) from error
        if pos > end:
            raise decode_failed("FetchRequest", version, "truncated")
        return message, pos


def _read_FetchRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[FetchRequest, int]:
    flexible = version >= 12
    self = FetchRequest.__new__(FetchRequest)
    if version <= 14:
        (self.replica_id,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.replica_id = -1
    self.max_wait_ms, self.min_bytes, self.max_bytes, self.isolation_level = _unpack_3ib(buf, pos)
    pos += 13
    if version >= 7:
        self.session_id, self.session_epoch = _unpack_2i(buf, pos)
        pos += 8
    else:
        self.session_id = 0
        self.session_epoch = -1
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
        raise null_read("FetchRequest.topics")
    if n * 3 > end - pos:
        raise length_read("FetchRequest.topics", n, end - pos)
    l_topics: list[FetchTopic] = []
    for _ in range(n):
        i_topics, pos = _read_FetchTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if version >= 7:
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
            raise null_read("FetchRequest.forgotten_topics_data")
        if n * 3 > end - pos:
            raise length_read("FetchRequest.forgotten_topics_data", n, end - pos)
        l_forgotten_topics_data: list[ForgottenTopic] = []
        for _ in range(n):
            i_forgotten_topics_data, pos = _read_ForgottenTopic(buf, pos, end, version)
            l_forgotten_topics_data.append(i_forgotten_topics_data)
        self.forgotten_topics_data = l_forgotten_topics_data
    else:
        self.forgotten_topics_data = []
    if version >= 11:
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
            raise null_read("FetchRequest.rack_id")
        stop = pos + n
        if stop > end:
            raise length_read("FetchRequest.rack_id", n, end - pos)
        self.rack_id = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.rack_id = ""
    self.cluster_id = None
    self.replica_state = ReplicaState()
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            count, pos = read_uvarint(buf, pos)
            if count * 2 > end - pos:
                raise length_read("FetchRequest tags", count, end - pos)
            for _ in range(count):
                tag, pos = read_uvarint(buf, pos)
                size, pos = read_uvarint(buf, pos)
                tag_end = pos + size
                if tag_end > end:
                    raise length_read("FetchRequest tag", size, end - pos)
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
                            raise length_read("FetchRequest.cluster_id", n, end - pos)
                        self.cluster_id = str(buf[pos:stop], "utf-8")
                        pos = stop
                elif tag == 1 and version >= 15:
                    self.replica_state, pos = _read_ReplicaState(buf, pos, end, version)
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise DecodeError(f"FetchRequest: tag {tag} does not fill its {size} bytes")
    return self, pos


class EpochEndOffset:
    """Part of FetchResponse."""

    __slots__ = ("epoch", "end_offset")

    epoch: int
    end_offset: int

    def __init__(
        self,
        *,
        epoch: int = -1,
        end_offset: int = -1,
    ) -> None:
        self.epoch = epoch
        self.end_offset = end_offset

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EpochEndOffset):
            return NotImplemented
        return (
            self.epoch == other.epoch
            and self.end_offset == other.end_offset
        )

    def __repr__(self) -> str:
        return f"EpochEndOffset(epoch={self.epoch!r}, end_offset={self.end_offset!r})"

    def _is_default(self) -> bool:
        return not ((self.epoch != -1) or (self.end_offset != -1))

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_iq(self.epoch, self.end_offset)
        buf.append(0)


def _read_EpochEndOffset(buf: memoryview, pos: int, end: int, version: int) -> tuple[EpochEndOffset, int]:
    self = EpochEndOffset.__new__(EpochEndOffset)
    self.epoch, self.end_offset = _unpack_iq(buf, pos)
    pos += 12
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class LeaderIdAndEpoch:
    """Part of FetchResponse."""

    __slots__ = ("leader_id", "leader_epoch")

    leader_id: int
    leader_epoch: int

    def __init__(
        self,
        *,
        leader_id: int = -1,
        leader_epoch: int = -1,
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
        return not ((self.leader_id != -1) or (self.leader_epoch != -1))

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


class SnapshotId:
    """Part of FetchResponse."""

    __slots__ = ("end_offset", "epoch")

    end_offset: int
    epoch: int

    def __init__(
        self,
        *,
        end_offset: int = -1,
        epoch: int = -1,
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SnapshotId):
            return NotImplemented
        return (
            self.end_offset == other.end_offset
            and self.epoch == other.epoch
        )

    def __repr__(self) -> str:
        return f"SnapshotId(end_offset={self.end_offset!r}, epoch={self.epoch!r})"

    def _is_default(self) -> bool:
        return not ((self.end_offset != -1) or (self.epoch != -1))

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_qi(self.end_offset, self.epoch)
        buf.append(0)


def _read_SnapshotId(buf: memoryview, pos: int, end: int, version: int) -> tuple[SnapshotId, int]:
    self = SnapshotId.__new__(SnapshotId)
    self.end_offset, self.epoch = _unpack_qi(buf, pos)
    pos += 12
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AbortedTransaction:
    """Part of FetchResponse."""

    __slots__ = ("producer_id", "first_offset")

    producer_id: int
    first_offset: int

    def __init__(
        self,
        *,
        producer_id: int = 0,
        first_offset: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.first_offset = first_offset

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AbortedTransaction):
            return NotImplemented
        return (
            self.producer_id == other.producer_id
            and self.first_offset == other.first_offset
        )

    def __repr__(self) -> str:
        return f"AbortedTransaction(producer_id={self.producer_id!r}, first_offset={self.first_offset!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 12
        buf += _pack_2q(self.producer_id, self.first_offset)
        if flexible:
            buf.append(0)


def _read_AbortedTransaction(buf: memoryview, pos: int, end: int, version: int) -> tuple[AbortedTransaction, int]:
    flexible = version >= 12
    self = AbortedTransaction.__new__(AbortedTransaction)
    self.producer_id, self.first_offset = _unpack_2q(buf, pos)
    pos += 16
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class PartitionData:
    """Part of FetchResponse."""

    __slots__ = ("partition_index", "error_code", "high_watermark", "last_stable_offset", "log_start_offset", "diverging_epoch", "current_leader", "snapshot_id", "aborted_transactions", "preferred_read_replica", "records")

    partition_index: int
    error_code: int
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    diverging_epoch: EpochEndOffset
    current_leader: LeaderIdAndEpoch
    snapshot_id: SnapshotId
    aborted_transactions: list[AbortedTransaction] | None
    preferred_read_replica: int
    records: Records

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        high_watermark: int = 0,
        last_stable_offset: int = -1,
        log_start_offset: int = -1,
        diverging_epoch: EpochEndOffset | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        snapshot_id: SnapshotId | None = None,
        aborted_transactions: list[AbortedTransaction] | None = _EMPTY,
        preferred_read_replica: int = -1,
        records: Records = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.high_watermark = high_watermark
        self.last_stable_offset = last_stable_offset
        self.log_start_offset = log_start_offset
        self.diverging_epoch = EpochEndOffset() if diverging_epoch is None else diverging_epoch
        self.current_leader = LeaderIdAndEpoch() if current_leader is None else current_leader
        self.snapshot_id = SnapshotId() if snapshot_id is None else snapshot_id
        self.aborted_transactions = [] if aborted_transactions is _EMPTY else aborted_transactions
        self.preferred_read_replica = preferred_read_replica
        self.records = records

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionData):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.error_code == other.error_code
            and self.high_watermark == other.high_watermark
            and self.last_stable_offset == other.last_stable_offset
            and self.log_start_offset == other.log_start_offset
            and self.diverging_epoch == other.diverging_epoch
            and self.current_leader == other.current_leader
            and self.snapshot_id == other.snapshot_id
            and self.aborted_transactions == other.aborted_transactions
            and self.preferred_read_replica == other.preferred_read_replica
            and self.records == other.records
        )

    def __repr__(self) -> str:
        return f"PartitionData(partition_index={self.partition_index!r}, error_code={self.error_code!r}, high_watermark={self.high_watermark!r}, last_stable_offset={self.last_stable_offset!r}, log_start_offset={self.log_start_offset!r}, diverging_epoch={self.diverging_epoch!r}, current_leader={self.current_leader!r}, snapshot_id={self.snapshot_id!r}, aborted_transactions={self.aborted_transactions!r}, preferred_read_replica={self.preferred_read_replica!r}, records={size_of(self.records)})"

    def encode(self, out: Encoder, version: int) -> None:
        if version < 12:
            if not self.diverging_epoch._is_default():
                raise field_unsupported("PartitionData.diverging_epoch", version)
            if not self.current_leader._is_default():
                raise field_unsupported("PartitionData.current_leader", version)
            if not self.snapshot_id._is_default():
                raise field_unsupported("PartitionData.snapshot_id", version)
        if version < 11:
            if self.preferred_read_replica != -1:
                raise field_unsupported("PartitionData.preferred_read_replica", version)
        buf = out.buf
        flexible = version >= 12
        buf += _pack_ih2q(self.partition_index, self.error_code, self.high_watermark, self.last_stable_offset)
        if version >= 5:
            buf += _pack_q(self.log_start_offset)
        v_aborted_transactions = self.aborted_transactions
        if v_aborted_transactions is None:
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff\xff\xff"
        else:
            n = len(v_aborted_transactions)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_aborted_transactions in v_aborted_transactions:
                i_aborted_transactions.encode(out, version)
        if version >= 11:
            buf += _pack_i(self.preferred_read_replica)
        v_records = self.records
        if v_records is None:
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff\xff\xff"
        else:
            n = len(v_records)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            out.attach(v_records)
        if flexible:
            count = 0
            if not self.diverging_epoch._is_default():
                count += 1
            if not self.current_leader._is_default():
                count += 1
            if not self.snapshot_id._is_default():
                count += 1
            buf.append(count)
            if count:
                if not self.diverging_epoch._is_default():
                    sub = Encoder()
                    sub_buf = sub.buf
                    self.diverging_epoch.encode(sub, version)
                    buf.append(0)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
                if not self.current_leader._is_default():
                    sub = Encoder()
                    sub_buf = sub.buf
                    self.current_leader.encode(sub, version)
                    buf.append(1)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
                if not self.snapshot_id._is_default():
                    sub = Encoder()
                    sub_buf = sub.buf
                    self.snapshot_id.encode(sub, version)
                    buf.append(2)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf


def _read_PartitionData(buf: memoryview, pos: int, end: int, version: int) -> tuple[PartitionData, int]:
    flexible = version >= 12
    self = PartitionData.__new__(PartitionData)
    self.partition_index, self.error_code, self.high_watermark, self.last_stable_offset = _unpack_ih2q(buf, pos)
    pos += 22
    if version >= 5:
        (self.log_start_offset,) = _unpack_q(buf, pos)
        pos += 8
    else:
        self.log_start_offset = -1
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
        self.aborted_transactions = None
    else:
        if n * 16 > end - pos:
            raise length_read("PartitionData.aborted_transactions", n, end - pos)
        l_aborted_transactions: list[AbortedTransaction] = []
        for _ in range(n):
            i_aborted_transactions, pos = _read_AbortedTransaction(buf, pos, end, version)
            l_aborted_transactions.append(i_aborted_transactions)
        self.aborted_transactions = l_aborted_transactions
    if version >= 11:
        (self.preferred_read_replica,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.preferred_read_replica = -1
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
        self.records = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("PartitionData.records", n, end - pos)
        self.records = buf[pos:stop]
        pos = stop
    self.diverging_epoch = EpochEndOffset()
    self.current_leader = LeaderIdAndEpoch()
    self.snapshot_id = SnapshotId()
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            count, pos = read_uvarint(buf, pos)
            if count * 2 > end - pos:
                raise length_read("PartitionData tags", count, end - pos)
            for _ in range(count):
                tag, pos = read_uvarint(buf, pos)
                size, pos = read_uvarint(buf, pos)
                tag_end = pos + size
                if tag_end > end:
                    raise length_read("PartitionData tag", size, end - pos)
                if tag == 0:
                    self.diverging_epoch, pos = _read_EpochEndOffset(buf, pos, end, version)
                elif tag == 1:
                    self.current_leader, pos = _read_LeaderIdAndEpoch(buf, pos, end, version)
                elif tag == 2:
                    self.snapshot_id, pos = _read_SnapshotId(buf, pos, end, version)
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise DecodeError(f"PartitionData: tag {tag} does not fill its {size} bytes")
    return self, pos


class FetchableTopicResponse:
    """Part of FetchResponse."""

    __slots__ = ("topic", "topic_id", "partitions")

    topic: str
    topic_id: bytes
    partitions: list[PartitionData]

    def __init__(
        self,
        *,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionData] = _EMPTY,
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FetchableTopicResponse):
            return NotImplemented
        return (
            self.topic == other.topic
            and self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"FetchableTopicResponse(topic={self.topic!r}, topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 12
        if version <= 12:
            data = self.topic.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
        if version >= 13:
            if len(self.topic_id) != 16:
                raise uuid_written("FetchableTopicResponse.topic_id")
            buf += _pack_u(self.topic_id)
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


def _read_FetchableTopicResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[FetchableTopicResponse, int]:
    flexible = version >= 12
    self = FetchableTopicResponse.__new__(FetchableTopicResponse)
    if version <= 12:
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
            raise null_read("FetchableTopicResponse.topic")
        stop = pos + n
        if stop > end:
            raise length_read("FetchableTopicResponse.topic", n, end - pos)
        self.topic = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.topic = ""
    if version >= 13:
        (self.topic_id,) = _unpack_u(buf, pos)
        pos += 16
    else:
        self.topic_id = ZERO_UUID
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
        raise null_read("FetchableTopicResponse.partitions")
    if n * 30 > end - pos:
        raise length_read("FetchableTopicResponse.partitions", n, end - pos)
    l_partitions: list[PartitionData] = []
    for _ in range(n):
        i_partitions, pos = _read_PartitionData(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class NodeEndpoint:
    """Part of FetchResponse."""

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


class FetchResponse:
    """Versions 4 to 18, flexible from 12."""

    __slots__ = ("throttle_time_ms", "error_code", "session_id", "responses", "node_endpoints")

    API_KEY: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 4
    MAX_VERSION: ClassVar[int] = 18
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 12

    throttle_time_ms: int
    error_code: int
    session_id: int
    responses: list[FetchableTopicResponse]
    node_endpoints: list[NodeEndpoint]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        session_id: int = 0,
        responses: list[FetchableTopicResponse] = _EMPTY,
        node_endpoints: list[NodeEndpoint] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.session_id = session_id
        self.responses = [] if responses is _EMPTY else responses
        self.node_endpoints = [] if node_endpoints is _EMPTY else node_endpoints

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FetchResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.session_id == other.session_id
            and self.responses == other.responses
            and self.node_endpoints == other.node_endpoints
        )

    def __repr__(self) -> str:
        return f"FetchResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, session_id={self.session_id!r}, responses={self.responses!r}, node_endpoints={self.node_endpoints!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 4 or version > 18:
            raise encode_failed("FetchResponse", version, "no such version")
        try:
            if version < 7:
                if self.session_id != 0:
                    raise field_unsupported("FetchResponse.session_id", version)
            if version < 16:
                if self.node_endpoints:
                    raise field_unsupported("FetchResponse.node_endpoints", version)
            buf = out.buf
            flexible = version >= 12
            buf += _pack_i(self.throttle_time_ms)
            if version >= 7:
                buf += _pack_hi(self.error_code, self.session_id)
            n = len(self.responses)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_responses in self.responses:
                i_responses.encode(out, version)
            if flexible:
                count = 0
                if version >= 16 and (self.node_endpoints):
                    count += 1
                buf.append(count)
                if count:
                    if version >= 16 and (self.node_endpoints):
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
            raise encode_failed("FetchResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[FetchResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 4 or version > 18:
            raise decode_failed("FetchResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("FetchResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_FetchResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("FetchResponse", version, error) from error
        if pos > end:
            raise decode_failed("FetchResponse", version, "truncated")
        return message, pos


def _read_FetchResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[FetchResponse, int]:
    flexible = version >= 12
    self = FetchResponse.__new__(FetchResponse)
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    if version >= 7:
        self.error_code, self.session_id = _unpack_hi(buf, pos)
        pos += 6
    else:
        self.error_code = 0
        self.session_id = 0
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
        raise null_read("FetchResponse.responses")
    if n * 3 > end - pos:
        raise length_read("FetchResponse.responses", n, end - pos)
    l_responses: list[FetchableTopicResponse] = []
    for _ in range(n):
        i_responses, pos = _read_FetchableTopicResponse(buf, pos, end, version)
        l_responses.append(i_responses)
    self.responses = l_responses
    self.node_endpoints = []
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            count, pos = read_uvarint(buf, pos)
            if count * 2 > end - pos:
                raise length_read("FetchResponse tags", count, end - pos)
            for _ in range(count):
                tag, pos = read_uvarint(buf, pos)
                size, pos = read_uvarint(buf, pos)
                tag_end = pos + size
                if tag_end > end:
                    raise length_read("FetchResponse tag", size, end - pos)
                if tag == 0 and version >= 16:
                    n = buf[pos] - 1
                    pos += 1
                    if n > 126:
                        n, pos = read_uvarint_tail(n + 1, buf, pos)
                        n -= 1
                    if n < 0:
                        raise null_read("FetchResponse.node_endpoints")
                    if n * 11 > end - pos:
                        raise length_read("FetchResponse.node_endpoints", n, end - pos)
                    l_node_endpoints: list[NodeEndpoint] = []
                    for _ in range(n):
                        i_node_endpoints, pos = _read_NodeEndpoint(buf, pos, end, version)
                        l_node_endpoints.append(i_node_endpoints)
                    self.node_endpoints = l_node_endpoints
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise DecodeError(f"FetchResponse: tag {tag} does not fill its {size} bytes")
    return self, pos
