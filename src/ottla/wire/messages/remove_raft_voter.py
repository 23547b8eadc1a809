"""RemoveRaftVoter. Generated from schema/remove_raft_voter.txt by tools/generate_messages.py; do not edit."""

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
    read_string_length_tail,
    skip_tagged_fields,
    uuid_written,
    write_string_length,
)

_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_iu = Struct(">i16s").pack
_unpack_iu = Struct(">i16s").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from


class RemoveRaftVoterRequest:
    """Version 0."""

    __slots__ = ("cluster_id", "voter_id", "voter_directory_id")

    API_KEY: ClassVar[int] = 81
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    cluster_id: str | None
    voter_id: int
    voter_directory_id: bytes

    def __init__(
        self,
        *,
        cluster_id: str | None = "",
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RemoveRaftVoterRequest):
            return NotImplemented
        return (
            self.cluster_id == other.cluster_id
            and self.voter_id == other.voter_id
            and self.voter_directory_id == other.voter_directory_id
        )

    def __repr__(self) -> str:
        return f"RemoveRaftVoterRequest(cluster_id={self.cluster_id!r}, voter_id={self.voter_id!r}, voter_directory_id={self.voter_directory_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("RemoveRaftVoterRequest", version, "no such version")
        try:
            buf = out.buf
            v_cluster_id = self.cluster_id
            if v_cluster_id is None:
                buf.append(0)
            else:
                data = v_cluster_id.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            if len(self.voter_directory_id) != 16:
                raise uuid_written("RemoveRaftVoterRequest.voter_directory_id")
            buf += _pack_iu(self.voter_id, self.voter_directory_id)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("RemoveRaftVoterRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[RemoveRaftVoterRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("RemoveRaftVoterRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("RemoveRaftVoterRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_RemoveRaftVoterRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("RemoveRaftVoterRequest", version, error) from error
        if pos > end:
            raise decode_failed("RemoveRaftVoterRequest", version, "truncated")
        return message, pos


def _read_RemoveRaftVoterRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[RemoveRaftVoterRequest, int]:
    self = RemoveRaftVoterRequest.__new__(RemoveRaftVoterRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.cluster_id = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("RemoveRaftVoterRequest.cluster_id", n, end - pos)
        self.cluster_id = str(buf[pos:stop], "utf-8")
        pos = stop
    self.voter_id, self.voter_directory_id = _unpack_iu(buf, pos)
    pos += 20
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class RemoveRaftVoterResponse:
    """Version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message")

    API_KEY: ClassVar[int] = 81
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    error_message: str | None

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RemoveRaftVoterResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.error_message == other.error_message
        )

    def __repr__(self) -> str:
        return f"RemoveRaftVoterResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, error_message={self.error_message!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("RemoveRaftVoterResponse", version, "no such version")
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
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("RemoveRaftVoterResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[RemoveRaftVoterResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("RemoveRaftVoterResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("RemoveRaftVoterResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_RemoveRaftVoterResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("RemoveRaftVoterResponse", version, error) from error
        if pos > end:
            raise decode_failed("RemoveRaftVoterResponse", version, "truncated")
        return message, pos


def _read_RemoveRaftVoterResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[RemoveRaftVoterResponse, int]:
    self = RemoveRaftVoterResponse.__new__(RemoveRaftVoterResponse)
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
            raise length_read("RemoveRaftVoterResponse.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
