"""ReadShareGroupState. Generated from schema/read_share_group_state.txt by tools/generate_messages.py; do not edit."""

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
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from
_pack_2i = Struct(">ii").pack
_unpack_2i = Struct(">ii").unpack_from
_pack_iq = Struct(">iq").pack
_unpack_iq = Struct(">iq").unpack_from
_pack_2qbh = Struct(">qqbh").pack
_unpack_2qbh = Struct(">qqbh").unpack_from


class PartitionData:
    """Part of ReadShareGroupStateRequest."""

    __slots__ = ("partition", "leader_epoch")

    partition: int
    leader_epoch: int

    def __init__(
        self,
        *,
        partition: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.partition = partition
        self.leader_epoch = leader_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionData):
            return NotImplemented
        return (
            self.partition == other.partition
            and self.leader_epoch == other.leader_epoch
        )

    def __repr__(self) -> str:
        return f"PartitionData(partition={self.partition!r}, leader_epoch={self.leader_epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_2i(self.partition, self.leader_epoch)
        buf.append(0)


def _read_PartitionData(buf: memoryview, pos: int, end: int, version: int) -> tuple[PartitionData, int]:
    self = PartitionData.__new__(PartitionData)
    self.partition, self.leader_epoch = _unpack_2i(buf, pos)
    pos += 8
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ReadStateData:
    """Part of ReadShareGroupStateRequest."""

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
        if not isinstance(other, ReadStateData):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"ReadStateData(topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("ReadStateData.topic_id")
        buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        buf.append(0)


def _read_ReadStateData(buf: memoryview, pos: int, end: int, version: int) -> tuple[ReadStateData, int]:
    self = ReadStateData.__new__(ReadStateData)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ReadStateData.partitions")
    if n * 9 > end - pos:
        raise length_read("ReadStateData.partitions", n, end - pos)
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


class ReadShareGroupStateRequest:
    """Version 0."""

    __slots__ = ("group_id", "topics")

    API_KEY: ClassVar[int] = 84
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    group_id: str
    topics: list[ReadStateData]

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[ReadStateData] = _EMPTY,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReadShareGroupStateRequest):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"ReadShareGroupStateRequest(group_id={self.group_id!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ReadShareGroupStateRequest", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
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
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ReadShareGroupStateRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ReadShareGroupStateRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ReadShareGroupStateRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ReadShareGroupStateRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ReadShareGroupStateRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ReadShareGroupStateRequest", version, error) from error
        if pos > end:
            raise decode_failed("ReadShareGroupStateRequest", version, "truncated")
        return message, pos


def _read_ReadShareGroupStateRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[ReadShareGroupStateRequest, int]:
    self = ReadShareGroupStateRequest.__new__(ReadShareGroupStateRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ReadShareGroupStateRequest.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("ReadShareGroupStateRequest.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ReadShareGroupStateRequest.topics")
    if n * 18 > end - pos:
        raise length_read("ReadShareGroupStateRequest.topics", n, end - pos)
    l_topics: list[ReadStateData] = []
    for _ in range(n):
        i_topics, pos = _read_ReadStateData(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class StateBatch:
    """Part of ReadShareGroupStateResponse."""

    __slots__ = ("first_offset", "last_offset", "delivery_state", "delivery_count")

    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int

    def __init__(
        self,
        *,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StateBatch):
            return NotImplemented
        return (
            self.first_offset == other.first_offset
            and self.last_offset == other.last_offset
            and self.delivery_state == other.delivery_state
            and self.delivery_count == other.delivery_count
        )

    def __repr__(self) -> str:
        return f"StateBatch(first_offset={self.first_offset!r}, last_offset={self.last_offset!r}, delivery_state={self.delivery_state!r}, delivery_count={self.delivery_count!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_2qbh(self.first_offset, self.last_offset, self.delivery_state, self.delivery_count)
        buf.append(0)


def _read_StateBatch(buf: memoryview, pos: int, end: int, version: int) -> tuple[StateBatch, int]:
    self = StateBatch.__new__(StateBatch)
    self.first_offset, self.last_offset, self.delivery_state, self.delivery_count = _unpack_2qbh(buf, pos)
    pos += 19
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class PartitionResult:
    """Part of ReadShareGroupStateResponse."""

    __slots__ = ("partition", "error_code", "error_message", "state_epoch", "start_offset", "state_batches")

    partition: int
    error_code: int
    error_message: str | None
    state_epoch: int
    start_offset: int
    state_batches: list[StateBatch]

    def __init__(
        self,
        *,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        state_epoch: int = 0,
        start_offset: int = 0,
        state_batches: list[StateBatch] = _EMPTY,
    ) -> None:
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message
        self.state_epoch = state_epoch
        self.start_offset = start_offset
        self.state_batches = [] if state_batches is _EMPTY else state_batches

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionResult):
            return NotImplemented
        return (
            self.partition == other.partition
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.state_epoch == other.state_epoch
            and self.start_offset == other.start_offset
            and self.state_batches == other.state_batches
        )

    def __repr__(self) -> str:
        return f"PartitionResult(partition={self.partition!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, state_epoch={self.state_epoch!r}, start_offset={self.start_offset!r}, state_batches={self.state_batches!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_ih(self.partition, self.error_code)
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
        buf += _pack_iq(self.state_epoch, self.start_offset)
        n = len(self.state_batches)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_state_batches in self.state_batches:
            i_state_batches.encode(out, version)
        buf.append(0)


def _read_PartitionResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[PartitionResult, int]:
    self = PartitionResult.__new__(PartitionResult)
    self.partition, self.error_code = _unpack_ih(buf, pos)
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
            raise length_read("PartitionResult.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    self.state_epoch, self.start_offset = _unpack_iq(buf, pos)
    pos += 12
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("PartitionResult.state_batches")
    if n * 20 > end - pos:
        raise length_read("PartitionResult.state_batches", n, end - pos)
    l_state_batches: list[StateBatch] = []
    for _ in range(n):
        i_state_batches, pos = _read_StateBatch(buf, pos, end, version)
        l_state_batches.append(i_state_batches)
    self.state_batches = l_state_batches
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ReadStateResult:
    """Part of ReadShareGroupStateResponse."""

    __slots__ = ("topic_id", "partitions")

    topic_id: bytes
    partitions: list[PartitionResult]

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionResult] = _EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReadStateResult):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"ReadStateResult(topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("ReadStateResult.topic_id")
        buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        buf.append(0)


def _read_ReadStateResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[ReadStateResult, int]:
    self = ReadStateResult.__new__(ReadStateResult)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ReadStateResult.partitions")
    if n * 21 > end - pos:
        raise length_read("ReadStateResult.partitions", n, end - pos)
    l_partitions: list[PartitionResult] = []
    for _ in range(n):
        i_partitions, pos = _read_PartitionResult(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ReadShareGroupStateResponse:
    """Version 0."""

    __slots__ = ("results",)

    API_KEY: ClassVar[int] = 84
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    results: list[ReadStateResult]

    def __init__(
        self,
        *,
        results: list[ReadStateResult] = _EMPTY,
    ) -> None:
        self.results = [] if results is _EMPTY else results

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReadShareGroupStateResponse):
            return NotImplemented
        return (
            self.results == other.results
        )

    def __repr__(self) -> str:
        return f"ReadShareGroupStateResponse(results={self.results!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ReadShareGroupStateResponse", version, "no such version")
        try:
            buf = out.buf
            n = len(self.results)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_results in self.results:
                i_results.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ReadShareGroupStateResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ReadShareGroupStateResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ReadShareGroupStateResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ReadShareGroupStateResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ReadShareGroupStateResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ReadShareGroupStateResponse", version, error) from error
        if pos > end:
            raise decode_failed("ReadShareGroupStateResponse", version, "truncated")
        return message, pos


def _read_ReadShareGroupStateResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ReadShareGroupStateResponse, int]:
    self = ReadShareGroupStateResponse.__new__(ReadShareGroupStateResponse)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ReadShareGroupStateResponse.results")
    if n * 18 > end - pos:
        raise length_read("ReadShareGroupStateResponse.results", n, end - pos)
    l_results: list[ReadStateResult] = []
    for _ in range(n):
        i_results, pos = _read_ReadStateResult(buf, pos, end, version)
        l_results.append(i_results)
    self.results = l_results
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
