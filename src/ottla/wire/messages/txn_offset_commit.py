"""TxnOffsetCommit. Generated from schema/txn_offset_commit.txt by tools/generate_messages.py; do not edit."""

from __future__ import annotations

from struct import Struct
from typing import Any, ClassVar, Final

from ottla.wire.primitives import (
    Buffer,
    DECODE_FAILURES,
    ENCODE_FAILURES,
    Encoder,
    decode_failed,
    encode_failed,
    field_unsupported,
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
_pack_iq = Struct(">iq").pack
_unpack_iq = Struct(">iq").unpack_from
_pack_qh = Struct(">qh").pack
_unpack_qh = Struct(">qh").unpack_from


class TxnOffsetCommitRequestPartition:
    """Part of TxnOffsetCommitRequest."""

    __slots__ = ("partition_index", "committed_offset", "committed_leader_epoch", "committed_metadata")

    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    committed_metadata: str | None

    def __init__(
        self,
        *,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        committed_metadata: str | None = "",
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.committed_metadata = committed_metadata

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TxnOffsetCommitRequestPartition):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.committed_offset == other.committed_offset
            and self.committed_leader_epoch == other.committed_leader_epoch
            and self.committed_metadata == other.committed_metadata
        )

    def __repr__(self) -> str:
        return f"TxnOffsetCommitRequestPartition(partition_index={self.partition_index!r}, committed_offset={self.committed_offset!r}, committed_leader_epoch={self.committed_leader_epoch!r}, committed_metadata={self.committed_metadata!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 3
        buf += _pack_iq(self.partition_index, self.committed_offset)
        if version >= 2:
            buf += _pack_i(self.committed_leader_epoch)
        v_committed_metadata = self.committed_metadata
        if v_committed_metadata is None:
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff"
        else:
            data = v_committed_metadata.encode()
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


def _read_TxnOffsetCommitRequestPartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[TxnOffsetCommitRequestPartition, int]:
    flexible = version >= 3
    self = TxnOffsetCommitRequestPartition.__new__(TxnOffsetCommitRequestPartition)
    self.partition_index, self.committed_offset = _unpack_iq(buf, pos)
    pos += 12
    if version >= 2:
        (self.committed_leader_epoch,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.committed_leader_epoch = -1
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
        self.committed_metadata = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("TxnOffsetCommitRequestPartition.committed_metadata", n, end - pos)
        self.committed_metadata = str(buf[pos:stop], "utf-8")
        pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class TxnOffsetCommitRequestTopic:
    """Part of TxnOffsetCommitRequest."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[TxnOffsetCommitRequestPartition]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[TxnOffsetCommitRequestPartition] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TxnOffsetCommitRequestTopic):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"TxnOffsetCommitRequestTopic(name={self.name!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 3
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


def _read_TxnOffsetCommitRequestTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[TxnOffsetCommitRequestTopic, int]:
    flexible = version >= 3
    self = TxnOffsetCommitRequestTopic.__new__(TxnOffsetCommitRequestTopic)
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
        raise null_read("TxnOffsetCommitRequestTopic.name")
    stop = pos + n
    if stop > end:
        raise length_read("TxnOffsetCommitRequestTopic.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
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
        raise null_read("TxnOffsetCommitRequestTopic.partitions")
    if n * 14 > end - pos:
        raise length_read("TxnOffsetCommitRequestTopic.partitions", n, end - pos)
    l_partitions: list[TxnOffsetCommitRequestPartition] = []
    for _ in range(n):
        i_partitions, pos = _read_TxnOffsetCommitRequestPartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class TxnOffsetCommitRequest:
    """Versions 0 to 5, flexible from 3."""

    __slots__ = ("transactional_id", "group_id", "producer_id", "producer_epoch", "generation_id", "member_id", "group_instance_id", "topics")

    API_KEY: ClassVar[int] = 28
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 3

    transactional_id: str
    group_id: str
    producer_id: int
    producer_epoch: int
    generation_id: int
    member_id: str
    group_instance_id: str | None
    topics: list[TxnOffsetCommitRequestTopic]

    def __init__(
        self,
        *,
        transactional_id: str = "",
        group_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        generation_id: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        topics: list[TxnOffsetCommitRequestTopic] = _EMPTY,
    ) -> None:
        self.transactional_id = transactional_id
        self.group_id = group_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TxnOffsetCommitRequest):
            return NotImplemented
        return (
            self.transactional_id == other.transactional_id
            and self.group_id == other.group_id
            and self.producer_id == other.producer_id
            and self.producer_epoch == other.producer_epoch
            and self.generation_id == other.generation_id
            and self.member_id == other.member_id
            and self.group_instance_id == other.group_instance_id
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"TxnOffsetCommitRequest(transactional_id={self.transactional_id!r}, group_id={self.group_id!r}, producer_id={self.producer_id!r}, producer_epoch={self.producer_epoch!r}, generation_id={self.generation_id!r}, member_id={self.member_id!r}, group_instance_id={self.group_instance_id!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 5:
            raise encode_failed("TxnOffsetCommitRequest", version, "no such version")
        try:
            if version < 3:
                if self.generation_id != -1:
                    raise field_unsupported("TxnOffsetCommitRequest.generation_id", version)
                if self.member_id != "":
                    raise field_unsupported("TxnOffsetCommitRequest.member_id", version)
                if self.group_instance_id is not None:
                    raise field_unsupported("TxnOffsetCommitRequest.group_instance_id", version)
            buf = out.buf
            flexible = version >= 3
            data = self.transactional_id.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
            data = self.group_id.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
            buf += _pack_qh(self.producer_id, self.producer_epoch)
            if version >= 3:
                buf += _pack_i(self.generation_id)
            if version >= 3:
                data = self.member_id.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            if version >= 3:
                v_group_instance_id = self.group_instance_id
                if v_group_instance_id is None:
                    buf.append(0)
                else:
                    data = v_group_instance_id.encode()
                    n = len(data)
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                    buf += data
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
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("TxnOffsetCommitRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[TxnOffsetCommitRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 5:
            raise decode_failed("TxnOffsetCommitRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("TxnOffsetCommitRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_TxnOffsetCommitRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("TxnOffsetCommitRequest", version, error) from error
        if pos > end:
            raise decode_failed("TxnOffsetCommitRequest", version, "truncated")
        return message, pos


def _read_TxnOffsetCommitRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[TxnOffsetCommitRequest, int]:
    flexible = version >= 3
    self = TxnOffsetCommitRequest.__new__(TxnOffsetCommitRequest)
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
        raise null_read("TxnOffsetCommitRequest.transactional_id")
    stop = pos + n
    if stop > end:
        raise length_read("TxnOffsetCommitRequest.transactional_id", n, end - pos)
    self.transactional_id = str(buf[pos:stop], "utf-8")
    pos = stop
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
        raise null_read("TxnOffsetCommitRequest.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("TxnOffsetCommitRequest.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    self.producer_id, self.producer_epoch = _unpack_qh(buf, pos)
    pos += 10
    if version >= 3:
        (self.generation_id,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.generation_id = -1
    if version >= 3:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("TxnOffsetCommitRequest.member_id")
        stop = pos + n
        if stop > end:
            raise length_read("TxnOffsetCommitRequest.member_id", n, end - pos)
        self.member_id = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.member_id = ""
    if version >= 3:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            self.group_instance_id = None
        else:
            stop = pos + n
            if stop > end:
                raise length_read("TxnOffsetCommitRequest.group_instance_id", n, end - pos)
            self.group_instance_id = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.group_instance_id = None
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
        raise null_read("TxnOffsetCommitRequest.topics")
    if n * 3 > end - pos:
        raise length_read("TxnOffsetCommitRequest.topics", n, end - pos)
    l_topics: list[TxnOffsetCommitRequestTopic] = []
    for _ in range(n):
        i_topics, pos = _read_TxnOffsetCommitRequestTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class TxnOffsetCommitResponsePartition:
    """Part of TxnOffsetCommitResponse."""

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
        if not isinstance(other, TxnOffsetCommitResponsePartition):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.error_code == other.error_code
        )

    def __repr__(self) -> str:
        return f"TxnOffsetCommitResponsePartition(partition_index={self.partition_index!r}, error_code={self.error_code!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 3
        buf += _pack_ih(self.partition_index, self.error_code)
        if flexible:
            buf.append(0)


def _read_TxnOffsetCommitResponsePartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[TxnOffsetCommitResponsePartition, int]:
    flexible = version >= 3
    self = TxnOffsetCommitResponsePartition.__new__(TxnOffsetCommitResponsePartition)
    self.partition_index, self.error_code = _unpack_ih(buf, pos)
    pos += 6
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class TxnOffsetCommitResponseTopic:
    """Part of TxnOffsetCommitResponse."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[TxnOffsetCommitResponsePartition]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[TxnOffsetCommitResponsePartition] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TxnOffsetCommitResponseTopic):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"TxnOffsetCommitResponseTopic(name={self.name!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 3
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


def _read_TxnOffsetCommitResponseTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[TxnOffsetCommitResponseTopic, int]:
    flexible = version >= 3
    self = TxnOffsetCommitResponseTopic.__new__(TxnOffsetCommitResponseTopic)
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
        raise null_read("TxnOffsetCommitResponseTopic.name")
    stop = pos + n
    if stop > end:
        raise length_read("TxnOffsetCommitResponseTopic.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
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
        raise null_read("TxnOffsetCommitResponseTopic.partitions")
    if n * 6 > end - pos:
        raise length_read("TxnOffsetCommitResponseTopic.partitions", n, end - pos)
    l_partitions: list[TxnOffsetCommitResponsePartition] = []
    for _ in range(n):
        i_partitions, pos = _read_TxnOffsetCommitResponsePartition(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class TxnOffsetCommitResponse:
    """Versions 0 to 5, flexible from 3."""

    __slots__ = ("throttle_time_ms", "topics")

    API_KEY: ClassVar[int] = 28
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 3

    throttle_time_ms: int
    topics: list[TxnOffsetCommitResponseTopic]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[TxnOffsetCommitResponseTopic] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TxnOffsetCommitResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"TxnOffsetCommitResponse(throttle_time_ms={self.throttle_time_ms!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 5:
            raise encode_failed("TxnOffsetCommitResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 3
            buf += _pack_i(self.throttle_time_ms)
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
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("TxnOffsetCommitResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[TxnOffsetCommitResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 5:
            raise decode_failed("TxnOffsetCommitResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("TxnOffsetCommitResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_TxnOffsetCommitResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("TxnOffsetCommitResponse", version, error) from error
        if pos > end:
            raise decode_failed("TxnOffsetCommitResponse", version, "truncated")
        return message, pos


def _read_TxnOffsetCommitResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[TxnOffsetCommitResponse, int]:
    flexible = version >= 3
    self = TxnOffsetCommitResponse.__new__(TxnOffsetCommitResponse)
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
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
        raise null_read("TxnOffsetCommitResponse.topics")
    if n * 3 > end - pos:
        raise length_read("TxnOffsetCommitResponse.topics", n, end - pos)
    l_topics: list[TxnOffsetCommitResponseTopic] = []
    for _ in range(n):
        i_topics, pos = _read_TxnOffsetCommitResponseTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
