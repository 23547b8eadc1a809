"""DeleteShareGroupState. Generated from schema/delete_share_group_state.txt by tools/generate_messages.py; do not edit."""

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


class PartitionData:
    """Part of DeleteShareGroupStateRequest."""

    __slots__ = ("partition",)

    partition: int

    def __init__(
        self,
        *,
        partition: int = 0,
    ) -> None:
        self.partition = partition

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionData):
            return NotImplemented
        return (
            self.partition == other.partition
        )

    def __repr__(self) -> str:
        return f"PartitionData(partition={self.partition!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_i(self.partition)
        buf.append(0)


def _read_PartitionData(buf: memoryview, pos: int, end: int, version: int) -> tuple[PartitionData, int]:
    self = PartitionData.__new__(PartitionData)
    (self.partition,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DeleteStateData:
    """Part of DeleteShareGroupStateRequest."""

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
        if not isinstance(other, DeleteStateData):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"DeleteStateData(topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("DeleteStateData.topic_id")
        buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        buf.append(0)


def _read_DeleteStateData(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteStateData, int]:
    self = DeleteStateData.__new__(DeleteStateData)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DeleteStateData.partitions")
    if n * 5 > end - pos:
        raise length_read("DeleteStateData.partitions", n, end - pos)
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


class DeleteShareGroupStateRequest:
    """Version 0."""

    __slots__ = ("group_id", "topics")

    API_KEY: ClassVar[int] = 86
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    group_id: str
    topics: list[DeleteStateData]

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[DeleteStateData] = _EMPTY,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteShareGroupStateRequest):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"DeleteShareGroupStateRequest(group_id={self.group_id!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("DeleteShareGroupStateRequest", version, "no such version")
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
            raise encode_failed("DeleteShareGroupStateRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DeleteShareGroupStateRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("DeleteShareGroupStateRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DeleteShareGroupStateRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DeleteShareGroupStateRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DeleteShareGroupStateRequest", version, error) from error
        if pos > end:
            raise decode_failed("DeleteShareGroupStateRequest", version, "truncated")
        return message, pos


def _read_DeleteShareGroupStateRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteShareGroupStateRequest, int]:
    self = DeleteShareGroupStateRequest.__new__(DeleteShareGroupStateRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DeleteShareGroupStateRequest.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("DeleteShareGroupStateRequest.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DeleteShareGroupStateRequest.topics")
    if n * 18 > end - pos:
        raise length_read("DeleteShareGroupStateRequest.topics", n, end - pos)
    l_topics: list[DeleteStateData] = []
    for _ in range(n):
        i_topics, pos = _read_DeleteStateData(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class PartitionResult:
    """Part of DeleteShareGroupStateResponse."""

    __slots__ = ("partition", "error_code", "error_message")

    partition: int
    error_code: int
    error_message: str | None

    def __init__(
        self,
        *,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionResult):
            return NotImplemented
        return (
            self.partition == other.partition
            and self.error_code == other.error_code
            and self.error_message == other.error_message
        )

    def __repr__(self) -> str:
        return f"PartitionResult(partition={self.partition!r}, error_code={self.error_code!r}, error_message={self.error_message!r})"

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
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DeleteStateResult:
    """Part of DeleteShareGroupStateResponse."""

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
        if not isinstance(other, DeleteStateResult):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"DeleteStateResult(topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("DeleteStateResult.topic_id")
        buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        buf.append(0)


def _read_DeleteStateResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteStateResult, int]:
    self = DeleteStateResult.__new__(DeleteStateResult)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DeleteStateResult.partitions")
    if n * 8 > end - pos:
        raise length_read("DeleteStateResult.partitions", n, end - pos)
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


class DeleteShareGroupStateResponse:
    """Version 0."""

    __slots__ = ("results",)

    API_KEY: ClassVar[int] = 86
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    results: list[DeleteStateResult]

    def __init__(
        self,
        *,
        results: list[DeleteStateResult] = _EMPTY,
    ) -> None:
        self.results = [] if results is _EMPTY else results

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteShareGroupStateResponse):
            return NotImplemented
        return (
            self.results == other.results
        )

    def __repr__(self) -> str:
        return f"DeleteShareGroupStateResponse(results={self.results!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("DeleteShareGroupStateResponse", version, "no such version")
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
            raise encode_failed("DeleteShareGroupStateResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DeleteShareGroupStateResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("DeleteShareGroupStateResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DeleteShareGroupStateResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DeleteShareGroupStateResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DeleteShareGroupStateResponse", version, error) from error
        if pos > end:
            raise decode_failed("DeleteShareGroupStateResponse", version, "truncated")
        return message, pos


def _read_DeleteShareGroupStateResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteShareGroupStateResponse, int]:
    self = DeleteShareGroupStateResponse.__new__(DeleteShareGroupStateResponse)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DeleteShareGroupStateResponse.results")
    if n * 18 > end - pos:
        raise length_read("DeleteShareGroupStateResponse.results", n, end - pos)
    l_results: list[DeleteStateResult] = []
    for _ in range(n):
        i_results, pos = _read_DeleteStateResult(buf, pos, end, version)
        l_results.append(i_results)
    self.results = l_results
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
