"""WriteTxnMarkers. Generated from schema/write_txn_markers.txt by tools/generate_messages.py; do not edit."""

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
_pack_b = Struct(">b").pack
_unpack_b = Struct(">b").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from
_pack_q = Struct(">q").pack
_unpack_q = Struct(">q").unpack_from
_pack_qhz = Struct(">qh?").pack
_unpack_qhz = Struct(">qh?").unpack_from


class WritableTxnMarkerTopic:
    """Part of WriteTxnMarkersRequest."""

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
        if not isinstance(other, WritableTxnMarkerTopic):
            return NotImplemented
        return (
            self.name == other.name
            and self.partition_indexes == other.partition_indexes
        )

    def __repr__(self) -> str:
        return f"WritableTxnMarkerTopic(name={self.name!r}, partition_indexes={self.partition_indexes!r})"

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


def _read_WritableTxnMarkerTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[WritableTxnMarkerTopic, int]:
    self = WritableTxnMarkerTopic.__new__(WritableTxnMarkerTopic)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("WritableTxnMarkerTopic.name")
    stop = pos + n
    if stop > end:
        raise length_read("WritableTxnMarkerTopic.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("WritableTxnMarkerTopic.partition_indexes")
    if n * 4 > end - pos:
        raise length_read("WritableTxnMarkerTopic.partition_indexes", n, end - pos)
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


class WritableTxnMarker:
    """Part of WriteTxnMarkersRequest."""

    __slots__ = ("producer_id", "producer_epoch", "transaction_result", "topics", "coordinator_epoch", "transaction_version")

    producer_id: int
    producer_epoch: int
    transaction_result: bool
    topics: list[WritableTxnMarkerTopic]
    coordinator_epoch: int
    transaction_version: int

    def __init__(
        self,
        *,
        producer_id: int = 0,
        producer_epoch: int = 0,
        transaction_result: bool = False,
        topics: list[WritableTxnMarkerTopic] = _EMPTY,
        coordinator_epoch: int = 0,
        transaction_version: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.transaction_result = transaction_result
        self.topics = [] if topics is _EMPTY else topics
        self.coordinator_epoch = coordinator_epoch
        self.transaction_version = transaction_version

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WritableTxnMarker):
            return NotImplemented
        return (
            self.producer_id == other.producer_id
            and self.producer_epoch == other.producer_epoch
            and self.transaction_result == other.transaction_result
            and self.topics == other.topics
            and self.coordinator_epoch == other.coordinator_epoch
            and self.transaction_version == other.transaction_version
        )

    def __repr__(self) -> str:
        return f"WritableTxnMarker(producer_id={self.producer_id!r}, producer_epoch={self.producer_epoch!r}, transaction_result={self.transaction_result!r}, topics={self.topics!r}, coordinator_epoch={self.coordinator_epoch!r}, transaction_version={self.transaction_version!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_qhz(self.producer_id, self.producer_epoch, self.transaction_result)
        n = len(self.topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_topics in self.topics:
            i_topics.encode(out, version)
        buf += _pack_i(self.coordinator_epoch)
        if version >= 2:
            buf += _pack_b(self.transaction_version)
        buf.append(0)


def _read_WritableTxnMarker(buf: memoryview, pos: int, end: int, version: int) -> tuple[WritableTxnMarker, int]:
    self = WritableTxnMarker.__new__(WritableTxnMarker)
    self.producer_id, self.producer_epoch, self.transaction_result = _unpack_qhz(buf, pos)
    pos += 11
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("WritableTxnMarker.topics")
    if n * 3 > end - pos:
        raise length_read("WritableTxnMarker.topics", n, end - pos)
    l_topics: list[WritableTxnMarkerTopic] = []
    for _ in range(n):
        i_topics, pos = _read_WritableTxnMarkerTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    (self.coordinator_epoch,) = _unpack_i(buf, pos)
    pos += 4
    if version >= 2:
        (self.transaction_version,) = _unpack_b(buf, pos)
        pos += 1
    else:
        self.transaction_version = 0
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class WriteTxnMarkersRequest:
    """Versions 1 to 2."""

    __slots__ = ("markers",)

    API_KEY: ClassVar[int] = 27
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1

    markers: list[WritableTxnMarker]

    def __init__(
        self,
        *,
        markers: list[WritableTxnMarker] = _EMPTY,
    ) -> None:
        self.markers = [] if markers is _EMPTY else markers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WriteTxnMarkersRequest):
            return NotImplemented
        return (
            self.markers == other.markers
        )

    def __repr__(self) -> str:
        return f"WriteTxnMarkersRequest(markers={self.markers!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 2:
            raise encode_failed("WriteTxnMarkersRequest", version, "no such version")
        try:
            buf = out.buf
            n = len(self.markers)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_markers in self.markers:
                i_markers.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("WriteTxnMarkersRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[WriteTxnMarkersRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 2:
            raise decode_failed("WriteTxnMarkersRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("WriteTxnMarkersRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_WriteTxnMarkersRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("WriteTxnMarkersRequest", version, error) from error
        if pos > end:
            raise decode_failed("WriteTxnMarkersRequest", version, "truncated")
        return message, pos


def _read_WriteTxnMarkersRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[WriteTxnMarkersRequest, int]:
    self = WriteTxnMarkersRequest.__new__(WriteTxnMarkersRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("WriteTxnMarkersRequest.markers")
    if n * 17 > end - pos:
        raise length_read("WriteTxnMarkersRequest.markers", n, end - pos)
    l_markers: list[WritableTxnMarker] = []
    for _ in range(n):
        i_markers, pos = _read_WritableTxnMarker(buf, pos, end, version)
        l_markers.append(i_markers)
    self.markers = l_markers
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class WritableTxnMarkerPartitionResult:
    """Part of WriteTxnMarkersResponse."""

    __slots__ = ("partition_index", "error_code")

    partition_index: int
    error_code: int

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WritableTxnMarkerPartitionResult):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.error_code == other.error_code
        )

    def __repr__(self) -> str:
        return f"WritableTxnMarkerPartitionResult(partition_index={self.partition_index!r}, error_code={self.error_code!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_ih(self.partition_index, self.error_code)
        buf.append(0)


def _read_WritableTxnMarkerPartitionResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[WritableTxnMarkerPartitionResult, int]:
    self = WritableTxnMarkerPartitionResult.__new__(WritableTxnMarkerPartitionResult)
    self.partition_index, self.error_code = _unpack_ih(buf, pos)
    pos += 6
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class WritableTxnMarkerTopicResult:
    """Part of WriteTxnMarkersResponse."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[WritableTxnMarkerPartitionResult]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[WritableTxnMarkerPartitionResult] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WritableTxnMarkerTopicResult):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"WritableTxnMarkerTopicResult(name={self.name!r}, partitions={self.partitions!r})"

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


def _read_WritableTxnMarkerTopicResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[WritableTxnMarkerTopicResult, int]:
    self = WritableTxnMarkerTopicResult.__new__(WritableTxnMarkerTopicResult)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("WritableTxnMarkerTopicResult.name")
    stop = pos + n
    if stop > end:
        raise length_read("WritableTxnMarkerTopicResult.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("WritableTxnMarkerTopicResult.partitions")
    if n * 7 > end - pos:
        raise length_read("WritableTxnMarkerTopicResult.partitions", n, end - pos)
    l_partitions: list[WritableTxnMarkerPartitionResult] = []
    for _ in range(n):
        i_partitions, pos = _read_WritableTxnMarkerPartitionResult(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class WritableTxnMarkerResult:
    """Part of WriteTxnMarkersResponse."""

    __slots__ = ("producer_id", "topics")

    producer_id: int
    topics: list[WritableTxnMarkerTopicResult]

    def __init__(
        self,
        *,
        producer_id: int = 0,
        topics: list[WritableTxnMarkerTopicResult] = _EMPTY,
    ) -> None:
        self.producer_id = producer_id
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WritableTxnMarkerResult):
            return NotImplemented
        return (
            self.producer_id == other.producer_id
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"WritableTxnMarkerResult(producer_id={self.producer_id!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_q(self.producer_id)
        n = len(self.topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_topics in self.topics:
            i_topics.encode(out, version)
        buf.append(0)


def _read_WritableTxnMarkerResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[WritableTxnMarkerResult, int]:
    self = WritableTxnMarkerResult.__new__(WritableTxnMarkerResult)
    (self.producer_id,) = _unpack_q(buf, pos)
    pos += 8
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("WritableTxnMarkerResult.topics")
    if n * 3 > end - pos:
        raise length_read("WritableTxnMarkerResult.topics", n, end - pos)
    l_topics: list[WritableTxnMarkerTopicResult] = []
    for _ in range(n):
        i_topics, pos = _read_WritableTxnMarkerTopicResult(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class WriteTxnMarkersResponse:
    """Versions 1 to 2."""

    __slots__ = ("markers",)

    API_KEY: ClassVar[int] = 27
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1

    markers: list[WritableTxnMarkerResult]

    def __init__(
        self,
        *,
        markers: list[WritableTxnMarkerResult] = _EMPTY,
    ) -> None:
        self.markers = [] if markers is _EMPTY else markers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WriteTxnMarkersResponse):
            return NotImplemented
        return (
            self.markers == other.markers
        )

    def __repr__(self) -> str:
        return f"WriteTxnMarkersResponse(markers={self.markers!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 2:
            raise encode_failed("WriteTxnMarkersResponse", version, "no such version")
        try:
            buf = out.buf
            n = len(self.markers)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_markers in self.markers:
                i_markers.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("WriteTxnMarkersResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[WriteTxnMarkersResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 2:
            raise decode_failed("WriteTxnMarkersResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("WriteTxnMarkersResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_WriteTxnMarkersResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("WriteTxnMarkersResponse", version, error) from error
        if pos > end:
            raise decode_failed("WriteTxnMarkersResponse", version, "truncated")
        return message, pos


def _read_WriteTxnMarkersResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[WriteTxnMarkersResponse, int]:
    self = WriteTxnMarkersResponse.__new__(WriteTxnMarkersResponse)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("WriteTxnMarkersResponse.markers")
    if n * 10 > end - pos:
        raise length_read("WriteTxnMarkersResponse.markers", n, end - pos)
    l_markers: list[WritableTxnMarkerResult] = []
    for _ in range(n):
        i_markers, pos = _read_WritableTxnMarkerResult(buf, pos, end, version)
        l_markers.append(i_markers)
    self.markers = l_markers
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
