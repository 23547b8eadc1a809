"""DeleteShareGroupOffsets. Generated from schema/delete_share_group_offsets.txt by tools/generate_messages.py; do not edit."""

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
_pack_uh = Struct(">16sh").pack
_unpack_uh = Struct(">16sh").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from


class DeleteShareGroupOffsetsRequestTopic:
    """Part of DeleteShareGroupOffsetsRequest."""

    __slots__ = ("topic_name",)

    topic_name: str

    def __init__(
        self,
        *,
        topic_name: str = "",
    ) -> None:
        self.topic_name = topic_name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteShareGroupOffsetsRequestTopic):
            return NotImplemented
        return (
            self.topic_name == other.topic_name
        )

    def __repr__(self) -> str:
        return f"DeleteShareGroupOffsetsRequestTopic(topic_name={self.topic_name!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.topic_name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf.append(0)


def _read_DeleteShareGroupOffsetsRequestTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteShareGroupOffsetsRequestTopic, int]:
    self = DeleteShareGroupOffsetsRequestTopic.__new__(DeleteShareGroupOffsetsRequestTopic)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DeleteShareGroupOffsetsRequestTopic.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("DeleteShareGroupOffsetsRequestTopic.topic_name", n, end - pos)
    self.topic_name = str(buf[pos:stop], "utf-8")
    pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DeleteShareGroupOffsetsRequest:
    """Version 0."""

    __slots__ = ("group_id", "topics")

    API_KEY: ClassVar[int] = 92
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    group_id: str
    topics: list[DeleteShareGroupOffsetsRequestTopic]

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[DeleteShareGroupOffsetsRequestTopic] = _EMPTY,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteShareGroupOffsetsRequest):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"DeleteShareGroupOffsetsRequest(group_id={self.group_id!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("DeleteShareGroupOffsetsRequest", version, "no such version")
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
            raise encode_failed("DeleteShareGroupOffsetsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DeleteShareGroupOffsetsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("DeleteShareGroupOffsetsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DeleteShareGroupOffsetsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DeleteShareGroupOffsetsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DeleteShareGroupOffsetsRequest", version, error) from error
        if pos > end:
            raise decode_failed("DeleteShareGroupOffsetsRequest", version, "truncated")
        return message, pos


def _read_DeleteShareGroupOffsetsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteShareGroupOffsetsRequest, int]:
    self = DeleteShareGroupOffsetsRequest.__new__(DeleteShareGroupOffsetsRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DeleteShareGroupOffsetsRequest.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("DeleteShareGroupOffsetsRequest.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DeleteShareGroupOffsetsRequest.topics")
    if n * 2 > end - pos:
        raise length_read("DeleteShareGroupOffsetsRequest.topics", n, end - pos)
    l_topics: list[DeleteShareGroupOffsetsRequestTopic] = []
    for _ in range(n):
        i_topics, pos = _read_DeleteShareGroupOffsetsRequestTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DeleteShareGroupOffsetsResponseTopic:
    """Part of DeleteShareGroupOffsetsResponse."""

    __slots__ = ("topic_name", "topic_id", "error_code", "error_message")

    topic_name: str
    topic_id: bytes
    error_code: int
    error_message: str | None

    def __init__(
        self,
        *,
        topic_name: str = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteShareGroupOffsetsResponseTopic):
            return NotImplemented
        return (
            self.topic_name == other.topic_name
            and self.topic_id == other.topic_id
            and self.error_code == other.error_code
            and self.error_message == other.error_message
        )

    def __repr__(self) -> str:
        return f"DeleteShareGroupOffsetsResponseTopic(topic_name={self.topic_name!r}, topic_id={self.topic_id!r}, error_code={self.error_code!r}, error_message={self.error_message!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.topic_name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        if len(self.topic_id) != 16:
            raise uuid_written("DeleteShareGroupOffsetsResponseTopic.topic_id")
        buf += _pack_uh(self.topic_id, self.error_code)
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


def _read_DeleteShareGroupOffsetsResponseTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteShareGroupOffsetsResponseTopic, int]:
    self = DeleteShareGroupOffsetsResponseTopic.__new__(DeleteShareGroupOffsetsResponseTopic)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DeleteShareGroupOffsetsResponseTopic.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("DeleteShareGroupOffsetsResponseTopic.topic_name", n, end - pos)
    self.topic_name = str(buf[pos:stop], "utf-8")
    pos = stop
    self.topic_id, self.error_code = _unpack_uh(buf, pos)
    pos += 18
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
            raise length_read("DeleteShareGroupOffsetsResponseTopic.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DeleteShareGroupOffsetsResponse:
    """Version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "responses")

    API_KEY: ClassVar[int] = 92
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    responses: list[DeleteShareGroupOffsetsResponseTopic]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        responses: list[DeleteShareGroupOffsetsResponseTopic] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.responses = [] if responses is _EMPTY else responses

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeleteShareGroupOffsetsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.responses == other.responses
        )

    def __repr__(self) -> str:
        return f"DeleteShareGroupOffsetsResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, responses={self.responses!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("DeleteShareGroupOffsetsResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_ih(self.throttle_time_ms, self.error_code)
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
            n = len(self.responses)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_responses in self.responses:
                i_responses.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DeleteShareGroupOffsetsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DeleteShareGroupOffsetsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("DeleteShareGroupOffsetsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DeleteShareGroupOffsetsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DeleteShareGroupOffsetsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DeleteShareGroupOffsetsResponse", version, error) from error
        if pos > end:
            raise decode_failed("DeleteShareGroupOffsetsResponse", version, "truncated")
        return message, pos


def _read_DeleteShareGroupOffsetsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[DeleteShareGroupOffsetsResponse, int]:
    self = DeleteShareGroupOffsetsResponse.__new__(DeleteShareGroupOffsetsResponse)
    self.throttle_time_ms, self.error_code = _unpack_ih(buf, pos)
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
            raise length_read("DeleteShareGroupOffsetsResponse.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DeleteShareGroupOffsetsResponse.responses")
    if n * 21 > end - pos:
        raise length_read("DeleteShareGroupOffsetsResponse.responses", n, end - pos)
    l_responses: list[DeleteShareGroupOffsetsResponseTopic] = []
    for _ in range(n):
        i_responses, pos = _read_DeleteShareGroupOffsetsResponseTopic(buf, pos, end, version)
        l_responses.append(i_responses)
    self.responses = l_responses
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
