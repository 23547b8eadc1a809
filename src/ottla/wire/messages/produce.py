"""Produce. Generated from schema/produce.txt by tools/generate_messages.py; do not edit."""

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
_pack_q = Struct(">q").pack
_unpack_q = Struct(">q").unpack_from


class PartitionProduceData:
    """Part of ProduceRequest."""

    __slots__ = ("index", "records")

    index: int
    records: Records

    def __init__(
        self,
        *,
        index: int = 0,
        records: Records = None,
    ) -> None:
        self.index = index
        self.records = records

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionProduceData):
            return NotImplemented
        return (
            self.index == other.index
            and self.records == other.records
        )

    def __repr__(self) -> str:
        return f"PartitionProduceData(index={self.index!r}, records={size_of(self.records)})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 9
        buf += _pack_i(self.index)
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
            buf.append(0)


def _read_PartitionProduceData(buf: memoryview, pos: int, end: int, version: int) -> tuple[PartitionProduceData, int]:
    flexible = version >= 9
    self = PartitionProduceData.__new__(PartitionProduceData)
    (self.index,) = _unpack_i(buf, pos)
    pos += 4
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
            raise length_read("PartitionProduceData.records", n, end - pos)
        self.records = buf[pos:stop]
        pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class TopicProduceData:
    """Part of ProduceRequest."""

    __slots__ = ("name", "topic_id", "partition_data")

    name: str
    topic_id: bytes
    partition_data: list[PartitionProduceData]

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_data: list[PartitionProduceData] = _EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_data = [] if partition_data is _EMPTY else partition_data

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TopicProduceData):
            return NotImplemented
        return (
            self.name == other.name
            and self.topic_id == other.topic_id
            and self.partition_data == other.partition_data
        )

    def __repr__(self) -> str:
        return f"TopicProduceData(name={self.name!r}, topic_id={self.topic_id!r}, partition_data={self.partition_data!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 9
        if version <= 12:
            data = self.name.encode()
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
                raise uuid_written("TopicProduceData.topic_id")
            buf += _pack_u(self.topic_id)
        n = len(self.partition_data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        for i_partition_data in self.partition_data:
            i_partition_data.encode(out, version)
        if flexible:
            buf.append(0)


def _read_TopicProduceData(buf: memoryview, pos: int, end: int, version: int) -> tuple[TopicProduceData, int]:
    flexible = version >= 9
    self = TopicProduceData.__new__(TopicProduceData)
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
            raise null_read("TopicProduceData.name")
        stop = pos + n
        if stop > end:
            raise length_read("TopicProduceData.name", n, end - pos)
        self.name = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.name = ""
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
        raise null_read("TopicProduceData.partition_data")
    if n * 6 > end - pos:
        raise length_read("TopicProduceData.partition_data", n, end - pos)
    l_partition_data: list[PartitionProduceData] = []
    for _ in range(n):
        i_partition_data, pos = _read_PartitionProduceData(buf, pos, end, version)
        l_partition_data.append(i_partition_data)
    self.partition_data = l_partition_data
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ProduceRequest:
    """Versions 3 to 13, flexible from 9."""

    __slots__ = ("transactional_id", "acks", "timeout_ms", "topic_data")

    API_KEY: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 3
    MAX_VERSION: ClassVar[int] = 13
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 9

    transactional_id: str | None
    acks: int
    timeout_ms: int
    topic_data: list[TopicProduceData]

    def __init__(
        self,
        *,
        transactional_id: str | None = None,
        acks: int = 0,
        timeout_ms: int = 0,
        topic_data: list[TopicProduceData] = _EMPTY,
    ) -> None:
        self.transactional_id = transactional_id
        self.acks = acks
        self.timeout_ms = timeout_ms
        self.topic_data = [] if topic_data is _EMPTY else topic_data

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProduceRequest):
            return NotImplemented
        return (
            self.transactional_id == other.transactional_id
            and self.acks == other.acks
            and self.timeout_ms == other.timeout_ms
            and self.topic_data == other.topic_data
        )

    def __repr__(self) -> str:
        return f"ProduceRequest(transactional_id={self.transactional_id!r}, acks={self.acks!r}, timeout_ms={self.timeout_ms!r}, topic_data={self.topic_data!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 3 or version > 13:
            raise encode_failed("ProduceRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 9
            v_transactional_id = self.transactional_id
            if v_transactional_id is None:
                if flexible:
                    buf.append(0)
                else:
                    buf += b"\xff\xff"
            else:
                data = v_transactional_id.encode()
                n = len(data)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                else:
                    buf += _pack_h(n)
                buf += data
            buf += _pack_hi(self.acks, self.timeout_ms)
            n = len(self.topic_data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_topic_data in self.topic_data:
                i_topic_data.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ProduceRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ProduceRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 3 or version > 13:
            raise decode_failed("ProduceRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ProduceRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ProduceRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ProduceRequest", version, error) from error
        if pos > end:
            raise decode_failed("ProduceRequest", version, "truncated")
        return message, pos


def _read_ProduceRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[ProduceRequest, int]:
    flexible = version >= 9
    self = ProduceRequest.__new__(ProduceRequest)
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
        self.transactional_id = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("ProduceRequest.transactional_id", n, end - pos)
        self.transactional_id = str(buf[pos:stop], "utf-8")
        pos = stop
    self.acks, self.timeout_ms = _unpack_hi(buf, pos)
    pos += 6
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
        raise null_read("ProduceRequest.topic_data")
    if n * 3 > end - pos:
        raise length_read("ProduceRequest.topic_data", n, end - pos)
    l_topic_data: list[TopicProduceData] = []
    for _ in range(n):
        i_topic_data, pos = _read_TopicProduceData(buf, pos, end, version)
        l_topic_data.append(i_topic_data)
    self.topic_data = l_topic_data
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class BatchIndexAndErrorMessage:
    """Part of ProduceResponse."""

    __slots__ = ("batch_index", "batch_index_error_message")

    batch_index: int
    batch_index_error_message: str | None

    def __init__(
        self,
        *,
        batch_index: int = 0,
        batch_index_error_message: str | None = None,
    ) -> None:
        self.batch_index = batch_index
        self.batch_index_error_message = batch_index_error_message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BatchIndexAndErrorMessage):
            return NotImplemented
        return (
            self.batch_index == other.batch_index
            and self.batch_index_error_message == other.batch_index_error_message
        )

    def __repr__(self) -> str:
        return f"BatchIndexAndErrorMessage(batch_index={self.batch_index!r}, batch_index_error_message={self.batch_index_error_message!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 9
        buf += _pack_i(self.batch_index)
        v_batch_index_error_message = self.batch_index_error_message
        if v_batch_index_error_message is None:
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff"
        else:
            data = v_batch_index_error_message.encode()
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


def _read_BatchIndexAndErrorMessage(buf: memoryview, pos: int, end: int, version: int) -> tuple[BatchIndexAndErrorMessage, int]:
    flexible = version >= 9
    self = BatchIndexAndErrorMessage.__new__(BatchIndexAndErrorMessage)
    (self.batch_index,) = _unpack_i(buf, pos)
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
        self.batch_index_error_message = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("BatchIndexAndErrorMessage.batch_index_error_message", n, end - pos)
        self.batch_index_error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class LeaderIdAndEpoch:
    """Part of ProduceResponse."""

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


class PartitionProduceResponse:
    """Part of ProduceResponse."""

    __slots__ = ("index", "error_code", "base_offset", "log_append_time_ms", "log_start_offset", "record_errors", "error_message", "current_leader")

    index: int
    error_code: int
    base_offset: int
    log_append_time_ms: int
    log_start_offset: int
    record_errors: list[BatchIndexAndErrorMessage]
    error_message: str | None
    current_leader: LeaderIdAndEpoch

    def __init__(
        self,
        *,
        index: int = 0,
        error_code: int = 0,
        base_offset: int = 0,
        log_append_time_ms: int = -1,
        log_start_offset: int = -1,
        record_errors: list[BatchIndexAndErrorMessage] = _EMPTY,
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.log_start_offset = log_start_offset
        self.record_errors = [] if record_errors is _EMPTY else record_errors
        self.error_message = error_message
        self.current_leader = LeaderIdAndEpoch() if current_leader is None else current_leader

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionProduceResponse):
            return NotImplemented
        return (
            self.index == other.index
            and self.error_code == other.error_code
            and self.base_offset == other.base_offset
            and self.log_append_time_ms == other.log_append_time_ms
            and self.log_start_offset == other.log_start_offset
            and self.record_errors == other.record_errors
            and self.error_message == other.error_message
            and self.current_leader == other.current_leader
        )

    def __repr__(self) -> str:
        return f"PartitionProduceResponse(index={self.index!r}, error_code={self.error_code!r}, base_offset={self.base_offset!r}, log_append_time_ms={self.log_append_time_ms!r}, log_start_offset={self.log_start_offset!r}, record_errors={self.record_errors!r}, error_message={self.error_message!r}, current_leader={self.current_leader!r})"

    def encode(self, out: Encoder, version: int) -> None:
        if version < 10:
            if not self.current_leader._is_default():
                raise field_unsupported("PartitionProduceResponse.current_leader", version)
        buf = out.buf
        flexible = version >= 9
        buf += _pack_ih2q(self.index, self.error_code, self.base_offset, self.log_append_time_ms)
        if version >= 5:
            buf += _pack_q(self.log_start_offset)
        if version >= 8:
            n = len(self.record_errors)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_record_errors in self.record_errors:
                i_record_errors.encode(out, version)
        if version >= 8:
            v_error_message = self.error_message
            if v_error_message is None:
                if flexible:
                    buf.append(0)
                else:
                    buf += b"\xff\xff"
            else:
                data = v_error_message.encode()
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
            if version >= 10 and (not self.current_leader._is_default()):
                count += 1
            buf.append(count)
            if count:
                if version >= 10 and (not self.current_leader._is_default()):
                    sub = Encoder()
                    sub_buf = sub.buf
                    self.current_leader.encode(sub, version)
                    buf.append(0)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf


def _read_PartitionProduceResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[PartitionProduceResponse, int]:
    flexible = version >= 9
    self = PartitionProduceResponse.__new__(PartitionProduceResponse)
    self.index, self.error_code, self.base_offset, self.log_append_time_ms = _unpack_ih2q(buf, pos)
    pos += 22
    if version >= 5:
        (self.log_start_offset,) = _unpack_q(buf, pos)
        pos += 8
    else:
        self.log_start_offset = -1
    if version >= 8:
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
            raise null_read("PartitionProduceResponse.record_errors")
        if n * 6 > end - pos:
            raise length_read("PartitionProduceResponse.record_errors", n, end - pos)
        l_record_errors: list[BatchIndexAndErrorMessage] = []
        for _ in range(n):
            i_record_errors, pos = _read_BatchIndexAndErrorMessage(buf, pos, end, version)
            l_record_errors.append(i_record_errors)
        self.record_errors = l_record_errors
    else:
        self.record_errors = []
    if version >= 8:
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
            self.error_message = None
        else:
            stop = pos + n
            if stop > end:
                raise length_read("PartitionProduceResponse.error_message", n, end - pos)
            self.error_message = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.error_message = None
    self.current_leader = LeaderIdAndEpoch()
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            count, pos = read_uvarint(buf, pos)
            if count * 2 > end - pos:
                raise length_read("PartitionProduceResponse tags", count, end - pos)
            for _ in range(count):
                tag, pos = read_uvarint(buf, pos)
                size, pos = read_uvarint(buf, pos)
                tag_end = pos + size
                if tag_end > end:
                    raise length_read("PartitionProduceResponse tag", size, end - pos)
                if tag == 0 and version >= 10:
                    self.current_leader, pos = _read_LeaderIdAndEpoch(buf, pos, end, version)
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise DecodeError(f"PartitionProduceResponse: tag {tag} does not fill its {size} bytes")
    return self, pos


class TopicProduceResponse:
    """Part of ProduceResponse."""

    __slots__ = ("name", "topic_id", "partition_responses")

    name: str
    topic_id: bytes
    partition_responses: list[PartitionProduceResponse]

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_responses: list[PartitionProduceResponse] = _EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_responses = [] if partition_responses is _EMPTY else partition_responses

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TopicProduceResponse):
            return NotImplemented
        return (
            self.name == other.name
            and self.topic_id == other.topic_id
            and self.partition_responses == other.partition_responses
        )

    def __repr__(self) -> str:
        return f"TopicProduceResponse(name={self.name!r}, topic_id={self.topic_id!r}, partition_responses={self.partition_responses!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 9
        if version <= 12:
            data = self.name.encode()
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
                raise uuid_written("TopicProduceResponse.topic_id")
            buf += _pack_u(self.topic_id)
        n = len(self.partition_responses)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        for i_partition_responses in self.partition_responses:
            i_partition_responses.encode(out, version)
        if flexible:
            buf.append(0)


def _read_TopicProduceResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[TopicProduceResponse, int]:
    flexible = version >= 9
    self = TopicProduceResponse.__new__(TopicProduceResponse)
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
            raise null_read("TopicProduceResponse.name")
        stop = pos + n
        if stop > end:
            raise length_read("TopicProduceResponse.name", n, end - pos)
        self.name = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.name = ""
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
        raise null_read("TopicProduceResponse.partition_responses")
    if n * 22 > end - pos:
        raise length_read("TopicProduceResponse.partition_responses", n, end - pos)
    l_partition_responses: list[PartitionProduceResponse] = []
    for _ in range(n):
        i_partition_responses, pos = _read_PartitionProduceResponse(buf, pos, end, version)
        l_partition_responses.append(i_partition_responses)
    self.partition_responses = l_partition_responses
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class NodeEndpoint:
    """Part of ProduceResponse."""

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


class ProduceResponse:
    """Versions 3 to 13, flexible from 9."""

    __slots__ = ("responses", "throttle_time_ms", "node_endpoints")

    API_KEY: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 3
    MAX_VERSION: ClassVar[int] = 13
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 9

    responses: list[TopicProduceResponse]
    throttle_time_ms: int
    node_endpoints: list[NodeEndpoint]

    def __init__(
        self,
        *,
        responses: list[TopicProduceResponse] = _EMPTY,
        throttle_time_ms: int = 0,
        node_endpoints: list[NodeEndpoint] = _EMPTY,
    ) -> None:
        self.responses = [] if responses is _EMPTY else responses
        self.throttle_time_ms = throttle_time_ms
        self.node_endpoints = [] if node_endpoints is _EMPTY else node_endpoints

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProduceResponse):
            return NotImplemented
        return (
            self.responses == other.responses
            and self.throttle_time_ms == other.throttle_time_ms
            and self.node_endpoints == other.node_endpoints
        )

    def __repr__(self) -> str:
        return f"ProduceResponse(responses={self.responses!r}, throttle_time_ms={self.throttle_time_ms!r}, node_endpoints={self.node_endpoints!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 3 or version > 13:
            raise encode_failed("ProduceResponse", version, "no such version")
        try:
            if version < 10:
                if self.node_endpoints:
                    raise field_unsupported("ProduceResponse.node_endpoints", version)
            buf = out.buf
            flexible = version >= 9
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
            buf += _pack_i(self.throttle_time_ms)
            if flexible:
                count = 0
                if version >= 10 and (self.node_endpoints):
                    count += 1
                buf.append(count)
                if count:
                    if version >= 10 and (self.node_endpoints):
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
            raise encode_failed("ProduceResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ProduceResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 3 or version > 13:
            raise decode_failed("ProduceResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ProduceResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ProduceResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ProduceResponse", version, error) from error
        if pos > end:
            raise decode_failed("ProduceResponse", version, "truncated")
        return message, pos


def _read_ProduceResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ProduceResponse, int]:
    flexible = version >= 9
    self = ProduceResponse.__new__(ProduceResponse)
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
        raise null_read("ProduceResponse.responses")
    if n * 3 > end - pos:
        raise length_read("ProduceResponse.responses", n, end - pos)
    l_responses: list[TopicProduceResponse] = []
    for _ in range(n):
        i_responses, pos = _read_TopicProduceResponse(buf, pos, end, version)
        l_responses.append(i_responses)
    self.responses = l_responses
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    self.node_endpoints = []
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            count, pos = read_uvarint(buf, pos)
            if count * 2 > end - pos:
                raise length_read("ProduceResponse tags", count, end - pos)
            for _ in range(count):
                tag, pos = read_uvarint(buf, pos)
                size, pos = read_uvarint(buf, pos)
                tag_end = pos + size
                if tag_end > end:
                    raise length_read("ProduceResponse tag", size, end - pos)
                if tag == 0 and version >= 10:
                    n = buf[pos] - 1
                    pos += 1
                    if n > 126:
                        n, pos = read_uvarint_tail(n + 1, buf, pos)
                        n -= 1
                    if n < 0:
                        raise null_read("ProduceResponse.node_endpoints")
                    if n * 11 > end - pos:
                        raise length_read("ProduceResponse.node_endpoints", n, end - pos)
                    l_node_endpoints: list[NodeEndpoint] = []
                    for _ in range(n):
                        i_node_endpoints, pos = _read_NodeEndpoint(buf, pos, end, version)
                        l_node_endpoints.append(i_node_endpoints)
                    self.node_endpoints = l_node_endpoints
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise DecodeError(f"ProduceResponse: tag {tag} does not fill its {size} bytes")
    return self, pos
