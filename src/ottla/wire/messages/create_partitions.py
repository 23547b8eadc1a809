"""CreatePartitions. Generated from schema/create_partitions.txt by tools/generate_messages.py; do not edit."""

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
_pack_iz = Struct(">i?").pack
_unpack_iz = Struct(">i?").unpack_from


class CreatePartitionsAssignment:
    """Part of CreatePartitionsRequest."""

    __slots__ = ("broker_ids",)

    broker_ids: list[int]

    def __init__(
        self,
        *,
        broker_ids: list[int] = _EMPTY,
    ) -> None:
        self.broker_ids = [] if broker_ids is _EMPTY else broker_ids

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CreatePartitionsAssignment):
            return NotImplemented
        return (
            self.broker_ids == other.broker_ids
        )

    def __repr__(self) -> str:
        return f"CreatePartitionsAssignment(broker_ids={self.broker_ids!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
        n = len(self.broker_ids)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.broker_ids)
        else:
            buf += _pack_n(f">{n}i", *self.broker_ids)
        if flexible:
            buf.append(0)


def _read_CreatePartitionsAssignment(buf: memoryview, pos: int, end: int, version: int) -> tuple[CreatePartitionsAssignment, int]:
    flexible = version >= 2
    self = CreatePartitionsAssignment.__new__(CreatePartitionsAssignment)
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
        raise null_read("CreatePartitionsAssignment.broker_ids")
    if n * 4 > end - pos:
        raise length_read("CreatePartitionsAssignment.broker_ids", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.broker_ids = list(INT32_UNPACK[n](buf, pos))
    else:
        self.broker_ids = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class CreatePartitionsTopic:
    """Part of CreatePartitionsRequest."""

    __slots__ = ("name", "count", "assignments")

    name: str
    count: int
    assignments: list[CreatePartitionsAssignment] | None

    def __init__(
        self,
        *,
        name: str = "",
        count: int = 0,
        assignments: list[CreatePartitionsAssignment] | None = _EMPTY,
    ) -> None:
        self.name = name
        self.count = count
        self.assignments = [] if assignments is _EMPTY else assignments

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CreatePartitionsTopic):
            return NotImplemented
        return (
            self.name == other.name
            and self.count == other.count
            and self.assignments == other.assignments
        )

    def __repr__(self) -> str:
        return f"CreatePartitionsTopic(name={self.name!r}, count={self.count!r}, assignments={self.assignments!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
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
        buf += _pack_i(self.count)
        v_assignments = self.assignments
        if v_assignments is None:
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff\xff\xff"
        else:
            n = len(v_assignments)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_assignments in v_assignments:
                i_assignments.encode(out, version)
        if flexible:
            buf.append(0)


def _read_CreatePartitionsTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[CreatePartitionsTopic, int]:
    flexible = version >= 2
    self = CreatePartitionsTopic.__new__(CreatePartitionsTopic)
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
        raise null_read("CreatePartitionsTopic.name")
    stop = pos + n
    if stop > end:
        raise length_read("CreatePartitionsTopic.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.count,) = _unpack_i(buf, pos)
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
        self.assignments = None
    else:
        if n * 2 > end - pos:
            raise length_read("CreatePartitionsTopic.assignments", n, end - pos)
        l_assignments: list[CreatePartitionsAssignment] = []
        for _ in range(n):
            i_assignments, pos = _read_CreatePartitionsAssignment(buf, pos, end, version)
            l_assignments.append(i_assignments)
        self.assignments = l_assignments
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class CreatePartitionsRequest:
    """Versions 0 to 3, flexible from 2."""

    __slots__ = ("topics", "timeout_ms", "validate_only")

    API_KEY: ClassVar[int] = 37
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    topics: list[CreatePartitionsTopic]
    timeout_ms: int
    validate_only: bool

    def __init__(
        self,
        *,
        topics: list[CreatePartitionsTopic] = _EMPTY,
        timeout_ms: int = 0,
        validate_only: bool = False,
    ) -> None:
        self.topics = [] if topics is _EMPTY else topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CreatePartitionsRequest):
            return NotImplemented
        return (
            self.topics == other.topics
            and self.timeout_ms == other.timeout_ms
            and self.validate_only == other.validate_only
        )

    def __repr__(self) -> str:
        return f"CreatePartitionsRequest(topics={self.topics!r}, timeout_ms={self.timeout_ms!r}, validate_only={self.validate_only!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 3:
            raise encode_failed("CreatePartitionsRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
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
            buf += _pack_iz(self.timeout_ms, self.validate_only)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("CreatePartitionsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[CreatePartitionsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 3:
            raise decode_failed("CreatePartitionsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("CreatePartitionsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_CreatePartitionsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("CreatePartitionsRequest", version, error) from error
        if pos > end:
            raise decode_failed("CreatePartitionsRequest", version, "truncated")
        return message, pos


def _read_CreatePartitionsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[CreatePartitionsRequest, int]:
    flexible = version >= 2
    self = CreatePartitionsRequest.__new__(CreatePartitionsRequest)
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
        raise null_read("CreatePartitionsRequest.topics")
    if n * 7 > end - pos:
        raise length_read("CreatePartitionsRequest.topics", n, end - pos)
    l_topics: list[CreatePartitionsTopic] = []
    for _ in range(n):
        i_topics, pos = _read_CreatePartitionsTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    self.timeout_ms, self.validate_only = _unpack_iz(buf, pos)
    pos += 5
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class CreatePartitionsTopicResult:
    """Part of CreatePartitionsResponse."""

    __slots__ = ("name", "error_code", "error_message")

    name: str
    error_code: int
    error_message: str | None

    def __init__(
        self,
        *,
        name: str = "",
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name = name
        self.error_code = error_code
        self.error_message = error_message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CreatePartitionsTopicResult):
            return NotImplemented
        return (
            self.name == other.name
            and self.error_code == other.error_code
            and self.error_message == other.error_message
        )

    def __repr__(self) -> str:
        return f"CreatePartitionsTopicResult(name={self.name!r}, error_code={self.error_code!r}, error_message={self.error_message!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
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
        buf += _pack_h(self.error_code)
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


def _read_CreatePartitionsTopicResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[CreatePartitionsTopicResult, int]:
    flexible = version >= 2
    self = CreatePartitionsTopicResult.__new__(CreatePartitionsTopicResult)
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
        raise null_read("CreatePartitionsTopicResult.name")
    stop = pos + n
    if stop > end:
        raise length_read("CreatePartitionsTopicResult.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
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
            raise length_read("CreatePartitionsTopicResult.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class CreatePartitionsResponse:
    """Versions 0 to 3, flexible from 2."""

    __slots__ = ("throttle_time_ms", "results")

    API_KEY: ClassVar[int] = 37
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    throttle_time_ms: int
    results: list[CreatePartitionsTopicResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[CreatePartitionsTopicResult] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is _EMPTY else results

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CreatePartitionsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.results == other.results
        )

    def __repr__(self) -> str:
        return f"CreatePartitionsResponse(throttle_time_ms={self.throttle_time_ms!r}, results={self.results!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 3:
            raise encode_failed("CreatePartitionsResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            buf += _pack_i(self.throttle_time_ms)
            n = len(self.results)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_results in self.results:
                i_results.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("CreatePartitionsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[CreatePartitionsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 3:
            raise decode_failed("CreatePartitionsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("CreatePartitionsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_CreatePartitionsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("CreatePartitionsResponse", version, error) from error
        if pos > end:
            raise decode_failed("CreatePartitionsResponse", version, "truncated")
        return message, pos


def _read_CreatePartitionsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[CreatePartitionsResponse, int]:
    flexible = version >= 2
    self = CreatePartitionsResponse.__new__(CreatePartitionsResponse)
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
        raise null_read("CreatePartitionsResponse.results")
    if n * 5 > end - pos:
        raise length_read("CreatePartitionsResponse.results", n, end - pos)
    l_results: list[CreatePartitionsTopicResult] = []
    for _ in range(n):
        i_results, pos = _read_CreatePartitionsTopicResult(buf, pos, end, version)
        l_results.append(i_results)
    self.results = l_results
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
