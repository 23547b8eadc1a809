"""ElectLeaders. Generated from schema/elect_leaders.txt by tools/generate_messages.py; do not edit."""

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
_pack_b = Struct(">b").pack
_unpack_b = Struct(">b").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from


class TopicPartitions:
    """Part of ElectLeadersRequest."""

    __slots__ = ("topic", "partitions")

    topic: str
    partitions: list[int]

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = _EMPTY,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TopicPartitions):
            return NotImplemented
        return (
            self.topic == other.topic
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"TopicPartitions(topic={self.topic!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
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


def _read_TopicPartitions(buf: memoryview, pos: int, end: int, version: int) -> tuple[TopicPartitions, int]:
    flexible = version >= 2
    self = TopicPartitions.__new__(TopicPartitions)
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
        raise null_read("TopicPartitions.topic")
    stop = pos + n
    if stop > end:
        raise length_read("TopicPartitions.topic", n, end - pos)
    self.topic = str(buf[pos:stop], "utf-8")
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
        raise null_read("TopicPartitions.partitions")
    if n * 4 > end - pos:
        raise length_read("TopicPartitions.partitions", n, end - pos)
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


class ElectLeadersRequest:
    """Versions 0 to 2, flexible from 2."""

    __slots__ = ("election_type", "topic_partitions", "timeout_ms")

    API_KEY: ClassVar[int] = 43
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    election_type: int
    topic_partitions: list[TopicPartitions] | None
    timeout_ms: int

    def __init__(
        self,
        *,
        election_type: int = 0,
        topic_partitions: list[TopicPartitions] | None = _EMPTY,
        timeout_ms: int = 60000,
    ) -> None:
        self.election_type = election_type
        self.topic_partitions = [] if topic_partitions is _EMPTY else topic_partitions
        self.timeout_ms = timeout_ms

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ElectLeadersRequest):
            return NotImplemented
        return (
            self.election_type == other.election_type
            and self.topic_partitions == other.topic_partitions
            and self.timeout_ms == other.timeout_ms
        )

    def __repr__(self) -> str:
        return f"ElectLeadersRequest(election_type={self.election_type!r}, topic_partitions={self.topic_partitions!r}, timeout_ms={self.timeout_ms!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("ElectLeadersRequest", version, "no such version")
        try:
            if version < 1:
                if self.election_type != 0:
                    raise field_unsupported("ElectLeadersRequest.election_type", version)
            buf = out.buf
            flexible = version >= 2
            if version >= 1:
                buf += _pack_b(self.election_type)
            v_topic_partitions = self.topic_partitions
            if v_topic_partitions is None:
                if flexible:
                    buf.append(0)
                else:
                    buf += b"\xff\xff\xff\xff"
            else:
                n = len(v_topic_partitions)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_uvarint(buf, n + 1)
                else:
                    buf += _pack_i(n)
                for i_topic_partitions in v_topic_partitions:
                    i_topic_partitions.encode(out, version)
            buf += _pack_i(self.timeout_ms)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ElectLeadersRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ElectLeadersRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("ElectLeadersRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ElectLeadersRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ElectLeadersRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ElectLeadersRequest", version, error) from error
        if pos > end:
            raise decode_failed("ElectLeadersRequest", version, "truncated")
        return message, pos


def _read_ElectLeadersRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[ElectLeadersRequest, int]:
    flexible = version >= 2
    self = ElectLeadersRequest.__new__(ElectLeadersRequest)
    if version >= 1:
        (self.election_type,) = _unpack_b(buf, pos)
        pos += 1
    else:
        self.election_type = 0
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
        self.topic_partitions = None
    else:
        if n * 3 > end - pos:
            raise length_read("ElectLeadersRequest.topic_partitions", n, end - pos)
        l_topic_partitions: list[TopicPartitions] = []
        for _ in range(n):
            i_topic_partitions, pos = _read_TopicPartitions(buf, pos, end, version)
            l_topic_partitions.append(i_topic_partitions)
        self.topic_partitions = l_topic_partitions
    (self.timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class PartitionResult:
    """Part of ElectLeadersResponse."""

    __slots__ = ("partition_id", "error_code", "error_message")

    partition_id: int
    error_code: int
    error_message: str | None

    def __init__(
        self,
        *,
        partition_id: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_id = partition_id
        self.error_code = error_code
        self.error_message = error_message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionResult):
            return NotImplemented
        return (
            self.partition_id == other.partition_id
            and self.error_code == other.error_code
            and self.error_message == other.error_message
        )

    def __repr__(self) -> str:
        return f"PartitionResult(partition_id={self.partition_id!r}, error_code={self.error_code!r}, error_message={self.error_message!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
        buf += _pack_ih(self.partition_id, self.error_code)
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
            buf.append(0)


def _read_PartitionResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[PartitionResult, int]:
    flexible = version >= 2
    self = PartitionResult.__new__(PartitionResult)
    self.partition_id, self.error_code = _unpack_ih(buf, pos)
    pos += 6
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
            raise length_read("PartitionResult.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ReplicaElectionResult:
    """Part of ElectLeadersResponse."""

    __slots__ = ("topic", "partition_result")

    topic: str
    partition_result: list[PartitionResult]

    def __init__(
        self,
        *,
        topic: str = "",
        partition_result: list[PartitionResult] = _EMPTY,
    ) -> None:
        self.topic = topic
        self.partition_result = [] if partition_result is _EMPTY else partition_result

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReplicaElectionResult):
            return NotImplemented
        return (
            self.topic == other.topic
            and self.partition_result == other.partition_result
        )

    def __repr__(self) -> str:
        return f"ReplicaElectionResult(topic={self.topic!r}, partition_result={self.partition_result!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
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
        n = len(self.partition_result)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        for i_partition_result in self.partition_result:
            i_partition_result.encode(out, version)
        if flexible:
            buf.append(0)


def _read_ReplicaElectionResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[ReplicaElectionResult, int]:
    flexible = version >= 2
    self = ReplicaElectionResult.__new__(ReplicaElectionResult)
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
        raise null_read("ReplicaElectionResult.topic")
    stop = pos + n
    if stop > end:
        raise length_read("ReplicaElectionResult.topic", n, end - pos)
    self.topic = str(buf[pos:stop], "utf-8")
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
        raise null_read("ReplicaElectionResult.partition_result")
    if n * 8 > end - pos:
        raise length_read("ReplicaElectionResult.partition_result", n, end - pos)
    l_partition_result: list[PartitionResult] = []
    for _ in range(n):
        i_partition_result, pos = _read_PartitionResult(buf, pos, end, version)
        l_partition_result.append(i_partition_result)
    self.partition_result = l_partition_result
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ElectLeadersResponse:
    """Versions 0 to 2, flexible from 2."""

    __slots__ = ("throttle_time_ms", "error_code", "replica_election_results")

    API_KEY: ClassVar[int] = 43
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    throttle_time_ms: int
    error_code: int
    replica_election_results: list[ReplicaElectionResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        replica_election_results: list[ReplicaElectionResult] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.replica_election_results = [] if replica_election_results is _EMPTY else replica_election_results

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ElectLeadersResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.replica_election_results == other.replica_election_results
        )

    def __repr__(self) -> str:
        return f"ElectLeadersResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, replica_election_results={self.replica_election_results!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("ElectLeadersResponse", version, "no such version")
        try:
            if version < 1:
                if self.error_code != 0:
                    raise field_unsupported("ElectLeadersResponse.error_code", version)
            buf = out.buf
            flexible = version >= 2
            buf += _pack_i(self.throttle_time_ms)
            if version >= 1:
                buf += _pack_h(self.error_code)
            n = len(self.replica_election_results)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_replica_election_results in self.replica_election_results:
                i_replica_election_results.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ElectLeadersResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ElectLeadersResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("ElectLeadersResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ElectLeadersResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ElectLeadersResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ElectLeadersResponse", version, error) from error
        if pos > end:
            raise decode_failed("ElectLeadersResponse", version, "truncated")
        return message, pos


def _read_ElectLeadersResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ElectLeadersResponse, int]:
    flexible = version >= 2
    self = ElectLeadersResponse.__new__(ElectLeadersResponse)
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    if version >= 1:
        (self.error_code,) = _unpack_h(buf, pos)
        pos += 2
    else:
        self.error_code = 0
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
        raise null_read("ElectLeadersResponse.replica_election_results")
    if n * 3 > end - pos:
        raise length_read("ElectLeadersResponse.replica_election_results", n, end - pos)
    l_replica_election_results: list[ReplicaElectionResult] = []
    for _ in range(n):
        i_replica_election_results, pos = _read_ReplicaElectionResult(buf, pos, end, version)
        l_replica_election_results.append(i_replica_election_results)
    self.replica_election_results = l_replica_election_results
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
