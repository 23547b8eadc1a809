"""DeleteTopics. Generated from schema/delete_topics.txt by tools/generate_messages.py; do not edit."""

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
    field_unsupported,
    length_read,
    null_read,
    null_written,
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


class DeleteTopicState:
    """Part of DeleteTopicsRequest."""

    __slots__ = ("name", "topic_id")

    name: str | None
    topic_id: bytes

    def __init__(
        self,
        *,
        name: str | None = None,
        topic_id: bytes = ZERO_UUID,
    ) -> None:
        self.name = name
        self.topic_id = topic_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteTopicState):
            return NotImplemented
        return (
            self.name == other.name
            and self.topic_id == other.topic_id
        )

    def __repr__(self) -> str:
        return f"DeleteTopicState(name={self.name!r}, topic_id={self.topic_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        v_name = self.name
        if v_name is None:
            buf.append(0)
        else:
            data = v_name.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
        if len(self.topic_id) != 16:
            raise uuid_written("DeleteTopicState.topic_id")
        buf += _pack_u(self.topic_id)
        buf.append(0)


def _read_DeleteTopicState(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteTopicState, int]:
    self = DeleteTopicState.__new__(DeleteTopicState)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.name = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("DeleteTopicState.name", n, end - pos)
        self.name = str(buf[pos:stop], "utf-8")
        pos = stop
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DeleteTopicsRequest:
    """Versions 1 to 6, flexible from 4."""

    __slots__ = ("topics", "topic_names", "timeout_ms")

    API_KEY: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 6
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4

    topics: list[DeleteTopicState]
    topic_names: list[str]
    timeout_ms: int

    def __init__(
        self,
        *,
        topics: list[DeleteTopicState] = _EMPTY,
        topic_names: list[str] = _EMPTY,
        timeout_ms: int = 0,
    ) -> None:
        self.topics = [] if topics is _EMPTY else topics
        self.topic_names = [] if topic_names is _EMPTY else topic_names
        self.timeout_ms = timeout_ms

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteTopicsRequest):
            return NotImplemented
        return (
            self.topics == other.topics
            and self.topic_names == other.topic_names
            and self.timeout_ms == other.timeout_ms
        )

    def __repr__(self) -> str:
        return f"DeleteTopicsRequest(topics={self.topics!r}, topic_names={self.topic_names!r}, timeout_ms={self.timeout_ms!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 6:
            raise encode_failed("DeleteTopicsRequest", version, "no such version")
        try:
            if version < 6:
                if self.topics:
                    raise field_unsupported("DeleteTopicsRequest.topics", version)
            buf = out.buf
            flexible = version >= 4
            if version >= 6:
                n = len(self.topics)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_topics in self.topics:
                    i_topics.encode(out, version)
            if version <= 5:
                n = len(self.topic_names)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_uvarint(buf, n + 1)
                else:
                    buf += _pack_i(n)
                for i_topic_names in self.topic_names:
                    data = i_topic_names.encode()
                    n = len(data)
                    if flexible:
                        if n < 127:
                            buf.append(n + 1)
                        else:
                            write_string_length(buf, n)
                    else:
                        buf += _pack_h(n)
                    buf += data
            buf += _pack_i(self.timeout_ms)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DeleteTopicsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DeleteTopicsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 6:
            raise decode_failed("DeleteTopicsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DeleteTopicsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DeleteTopicsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DeleteTopicsRequest", version, error) from error
        if pos > end:
            raise decode_failed("DeleteTopicsRequest", version, "truncated")
        return message, pos


def _read_DeleteTopicsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteTopicsRequest, int]:
    flexible = version >= 4
    self = DeleteTopicsRequest.__new__(DeleteTopicsRequest)
    if version >= 6:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("DeleteTopicsRequest.topics")
        if n * 18 > end - pos:
            raise length_read("DeleteTopicsRequest.topics", n, end - pos)
        l_topics: list[DeleteTopicState] = []
        for _ in range(n):
            i_topics, pos = _read_DeleteTopicState(buf, pos, end, version)
            l_topics.append(i_topics)
        self.topics = l_topics
    else:
        self.topics = []
    if version <= 5:
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
            raise null_read("DeleteTopicsRequest.topic_names")
        if n > end - pos:
            raise length_read("DeleteTopicsRequest.topic_names", n, end - pos)
        l_topic_names: list[str] = []
        for _ in range(n):
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
                raise null_read("DeleteTopicsRequest.topic_names")
            stop = pos + n
            if stop > end:
                raise length_read("DeleteTopicsRequest.topic_names", n, end - pos)
            l_topic_names.append(str(buf[pos:stop], "utf-8"))
            pos = stop
        self.topic_names = l_topic_names
    else:
        self.topic_names = []
    (self.timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DeletableTopicResult:
    """Part of DeleteTopicsResponse."""

    __slots__ = ("name", "topic_id", "error_code", "error_message")

    name: str | None
    topic_id: bytes
    error_code: int
    error_message: str | None

    def __init__(
        self,
        *,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeletableTopicResult):
            return NotImplemented
        return (
            self.name == other.name
            and self.topic_id == other.topic_id
            and self.error_code == other.error_code
            and self.error_message == other.error_message
        )

    def __repr__(self) -> str:
        return f"DeletableTopicResult(name={self.name!r}, topic_id={self.topic_id!r}, error_code={self.error_code!r}, error_message={self.error_message!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 4
        v_name = self.name
        if v_name is None:
            if version < 6:
                raise null_written("DeletableTopicResult.name", version)
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff"
        else:
            data = v_name.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
        if version >= 6:
            if len(self.topic_id) != 16:
                raise uuid_written("DeletableTopicResult.topic_id")
            buf += _pack_u(self.topic_id)
        buf += _pack_h(self.error_code)
        if version >= 5:
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
        if flexible:
            buf.append(0)


def _read_DeletableTopicResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeletableTopicResult, int]:
    flexible = version >= 4
    self = DeletableTopicResult.__new__(DeletableTopicResult)
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
        if version < 6:
            raise null_read("DeletableTopicResult.name")
        self.name = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("DeletableTopicResult.name", n, end - pos)
        self.name = str(buf[pos:stop], "utf-8")
        pos = stop
    if version >= 6:
        (self.topic_id,) = _unpack_u(buf, pos)
        pos += 16
    else:
        self.topic_id = ZERO_UUID
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
    if version >= 5:
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
                raise length_read("DeletableTopicResult.error_message", n, end - pos)
            self.error_message = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.error_message = None
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DeleteTopicsResponse:
    """Versions 1 to 6, flexible from 4."""

    __slots__ = ("throttle_time_ms", "responses")

    API_KEY: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 6
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4

    throttle_time_ms: int
    responses: list[DeletableTopicResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        responses: list[DeletableTopicResult] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = [] if responses is _EMPTY else responses

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteTopicsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.responses == other.responses
        )

    def __repr__(self) -> str:
        return f"DeleteTopicsResponse(throttle_time_ms={self.throttle_time_ms!r}, responses={self.responses!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 6:
            raise encode_failed("DeleteTopicsResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 4
            buf += _pack_i(self.throttle_time_ms)
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
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DeleteTopicsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DeleteTopicsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 6:
            raise decode_failed("DeleteTopicsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DeleteTopicsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DeleteTopicsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DeleteTopicsResponse", version, error) from error
        if pos > end:
            raise decode_failed("DeleteTopicsResponse", version, "truncated")
        return message, pos


def _read_DeleteTopicsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteTopicsResponse, int]:
    flexible = version >= 4
    self = DeleteTopicsResponse.__new__(DeleteTopicsResponse)
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
        raise null_read("DeleteTopicsResponse.responses")
    if n * 4 > end - pos:
        raise length_read("DeleteTopicsResponse.responses", n, end - pos)
    l_responses: list[DeletableTopicResult] = []
    for _ in range(n):
        i_responses, pos = _read_DeletableTopicResult(buf, pos, end, version)
        l_responses.append(i_responses)
    self.responses = l_responses
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
