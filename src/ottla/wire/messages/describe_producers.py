"""DescribeProducers. Generated from schema/describe_producers.txt by tools/generate_messages.py; do not edit."""

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
    decode_failed,
    encode_failed,
    length_read,
    null_read,
    read_string_length_tail,
    read_uvarint_tail,
    skip_tagged_fields,
    write_string_length,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from
_pack_q2iqiq = Struct(">qiiqiq").pack
_unpack_q2iqiq = Struct(">qiiqiq").unpack_from


class TopicRequest:
    """Part of DescribeProducersRequest."""

    __slots__ = ("name", "partition_indexes")

    name: str
    partition_indexes: list[int]

    def __init__(
        self,
        *,
        name: str = "",
        partition_indexes: list[int] = _EMPTY,
    ) -> None:
        self.name = name
        self.partition_indexes = [] if partition_indexes is _EMPTY else partition_indexes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TopicRequest):
            return NotImplemented
        return (
            self.name == other.name
            and self.partition_indexes == other.partition_indexes
        )

    def __repr__(self) -> str:
        return f"TopicRequest(name={self.name!r}, partition_indexes={self.partition_indexes!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        n = len(self.partition_indexes)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.partition_indexes)
        else:
            buf += _pack_n(f">{n}i", *self.partition_indexes)
        buf.append(0)


def _read_TopicRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[TopicRequest, int]:
    self = TopicRequest.__new__(TopicRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicRequest.name")
    stop = pos + n
    if stop > end:
        raise length_read("TopicRequest.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicRequest.partition_indexes")
    if n * 4 > end - pos:
        raise length_read("TopicRequest.partition_indexes", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.partition_indexes = list(INT32_UNPACK[n](buf, pos))
    else:
        self.partition_indexes = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeProducersRequest:
    """Version 0."""

    __slots__ = ("topics",)

    API_KEY: ClassVar[int] = 61
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    topics: list[TopicRequest]

    def __init__(
        self,
        *,
        topics: list[TopicRequest] = _EMPTY,
    ) -> None:
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeProducersRequest):
            return NotImplemented
        return (
            self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"DescribeProducersRequest(topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("DescribeProducersRequest", version, "no such version")
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
            raise encode_failed("DescribeProducersRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeProducersRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("DescribeProducersRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeProducersRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeProducersRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeProducersRequest", version, error) from error
        if pos > end:
            raise decode_failed("DescribeProducersRequest", version, "truncated")
        return message, pos


def _read_DescribeProducersRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeProducersRequest, int]:
    self = DescribeProducersRequest.__new__(DescribeProducersRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeProducersRequest.topics")
    if n * 3 > end - pos:
        raise length_read("DescribeProducersRequest.topics", n, end - pos)
    l_topics: list[TopicRequest] = []
    for _ in range(n):
        i_topics, pos = _read_TopicRequest(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ProducerState:
    """Part of DescribeProducersResponse."""

    __slots__ = ("producer_id", "producer_epoch", "last_sequence", "last_timestamp", "coordinator_epoch", "current_txn_start_offset")

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int
    current_txn_start_offset: int

    def __init__(
        self,
        *,
        producer_id: int = 0,
        producer_epoch: int = 0,
        last_sequence: int = -1,
        last_timestamp: int = -1,
        coordinator_epoch: int = 0,
        current_txn_start_offset: int = -1,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.last_sequence = last_sequence
        self.last_timestamp = last_timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_start_offset = current_txn_start_offset

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProducerState):
            return NotImplemented
        return (
            self.producer_id == other.producer_id
            and self.producer_epoch == other.producer_epoch
            and self.last_sequence == other.last_sequence
            and self.last_timestamp == other.last_timestamp
            and self.coordinator_epoch == other.coordinator_epoch
            and self.current_txn_start_offset == other.current_txn_start_offset
        )

    def __repr__(self) -> str:
        return f"ProducerState(producer_id={self.producer_id!r}, producer_epoch={self.producer_epoch!r}, last_sequence={self.last_sequence!r}, last_timestamp={self.last_timestamp!r}, coordinator_epoch={self.coordinator_epoch!r}, current_txn_start_offset={self.current_txn_start_offset!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_q2iqiq(self.producer_id, self.producer_epoch, self.last_sequence, self.last_timestamp, self.coordinator_epoch, self.current_txn_start_offset)
        buf.append(0)


def _read_ProducerState(buf: memoryview, pos: int, end: int, version: int) -> tuple[ProducerState, int]:
    self = ProducerState.__new__(ProducerState)
    self.producer_id, self.producer_epoch, self.last_sequence, self.last_timestamp, self.coordinator_epoch, self.current_txn_start_offset = _unpack_q2iqiq(buf, pos)
    pos += 36
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class PartitionResponse:
    """Part of DescribeProducersResponse."""

    __slots__ = ("partition_index", "error_code", "error_message", "active_producers")

    partition_index: int
    error_code: int
    error_message: str | None
    active_producers: list[ProducerState]

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        active_producers: list[ProducerState] = _EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.active_producers = [] if active_producers is _EMPTY else active_producers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionResponse):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.active_producers == other.active_producers
        )

    def __repr__(self) -> str:
        return f"PartitionResponse(partition_index={self.partition_index!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, active_producers={self.active_producers!r})"

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
        n = len(self.active_producers)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_active_producers in self.active_producers:
            i_active_producers.encode(out, version)
        buf.append(0)


def _read_PartitionResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[PartitionResponse, int]:
    self = PartitionResponse.__new__(PartitionResponse)
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
            raise length_read("PartitionResponse.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("PartitionResponse.active_producers")
    if n * 37 > end - pos:
        raise length_read("PartitionResponse.active_producers", n, end - pos)
    l_active_producers: list[ProducerState] = []
    for _ in range(n):
        i_active_producers, pos = _read_ProducerState(buf, pos, end, version)
        l_active_producers.append(i_active_producers)
    self.active_producers = l_active_producers
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class TopicResponse:
    """Part of DescribeProducersResponse."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[PartitionResponse]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[PartitionResponse] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TopicResponse):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"TopicResponse(name={self.name!r}, partitions={self.partitions!r})"

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


def _read_TopicResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[TopicResponse, int]:
    self = TopicResponse.__new__(TopicResponse)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicResponse.name")
    stop = pos + n
    if stop > end:
        raise length_read("TopicResponse.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicResponse.partitions")
    if n * 9 > end - pos:
        raise length_read("TopicResponse.partitions", n, end - pos)
    l_partitions: list[PartitionResponse] = []
    for _ in range(n):
        i_partitions, pos = _read_PartitionResponse(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeProducersResponse:
    """Version 0."""

    __slots__ = ("throttle_time_ms", "topics")

    API_KEY: ClassVar[int] = 61
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    topics: list[TopicResponse]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[TopicResponse] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeProducersResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"DescribeProducersResponse(throttle_time_ms={self.throttle_time_ms!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("DescribeProducersResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_i(self.throttle_time_ms)
            n = len(self.topics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_topics in self.topics:
                i_topics.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeProducersResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeProducersResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("DescribeProducersResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeProducersResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeProducersResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeProducersResponse", version, error) from error
        if pos > end:
            raise decode_failed("DescribeProducersResponse", version, "truncated")
        return message, pos


def _read_DescribeProducersResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeProducersResponse, int]:
    self = DescribeProducersResponse.__new__(DescribeProducersResponse)
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeProducersResponse.topics")
    if n * 3 > end - pos:
        raise length_read("DescribeProducersResponse.topics", n, end - pos)
    l_topics: list[TopicResponse] = []
    for _ in range(n):
        i_topics, pos = _read_TopicResponse(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
