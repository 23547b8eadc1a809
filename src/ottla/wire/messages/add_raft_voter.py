"""AddRaftVoter. Generated from schema/add_raft_voter.txt by tools/generate_messages.py; do not edit."""

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
    read_string_length_tail,
    read_uvarint_tail,
    skip_tagged_fields,
    uuid_written,
    write_string_length,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_z = Struct(">?").pack
_unpack_z = Struct(">?").unpack_from
_pack_H = Struct(">H").pack
_unpack_H = Struct(">H").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from
_pack_2iu = Struct(">ii16s").pack
_unpack_2iu = Struct(">ii16s").unpack_from


class Listener:
    """Part of AddRaftVoterRequest."""

    __slots__ = ("name", "host", "port")

    name: str
    host: str
    port: int

    def __init__(
        self,
        *,
        name: str = "",
        host: str = "",
        port: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Listener):
            return NotImplemented
        return (
            self.name == other.name
            and self.host == other.host
            and self.port == other.port
        )

    def __repr__(self) -> str:
        return f"Listener(name={self.name!r}, host={self.host!r}, port={self.port!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        data = self.host.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_H(self.port)
        buf.append(0)


def _read_Listener(buf: memoryview, pos: int, end: int, version: int) -> tuple[Listener, int]:
    self = Listener.__new__(Listener)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Listener.name")
    stop = pos + n
    if stop > end:
        raise length_read("Listener.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Listener.host")
    stop = pos + n
    if stop > end:
        raise length_read("Listener.host", n, end - pos)
    self.host = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.port,) = _unpack_H(buf, pos)
    pos += 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AddRaftVoterRequest:
    """Versions 0 to 1."""

    __slots__ = ("cluster_id", "timeout_ms", "voter_id", "voter_directory_id", "listeners", "ack_when_committed")

    API_KEY: ClassVar[int] = 80
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    cluster_id: str | None
    timeout_ms: int
    voter_id: int
    voter_directory_id: bytes
    listeners: list[Listener]
    ack_when_committed: bool

    def __init__(
        self,
        *,
        cluster_id: str | None = "",
        timeout_ms: int = 0,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        listeners: list[Listener] = _EMPTY,
        ack_when_committed: bool = True,
    ) -> None:
        self.cluster_id = cluster_id
        self.timeout_ms = timeout_ms
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.listeners = [] if listeners is _EMPTY else listeners
        self.ack_when_committed = ack_when_committed

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AddRaftVoterRequest):
            return NotImplemented
        return (
            self.cluster_id == other.cluster_id
            and self.timeout_ms == other.timeout_ms
            and self.voter_id == other.voter_id
            and self.voter_directory_id == other.voter_directory_id
            and self.listeners == other.listeners
            and self.ack_when_committed == other.ack_when_committed
        )

    def __repr__(self) -> str:
        return f"AddRaftVoterRequest(cluster_id={self.cluster_id!r}, timeout_ms={self.timeout_ms!r}, voter_id={self.voter_id!r}, voter_directory_id={self.voter_directory_id!r}, listeners={self.listeners!r}, ack_when_committed={self.ack_when_committed!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("AddRaftVoterRequest", version, "no such version")
        try:
            if version < 1:
                if not self.ack_when_committed:
                    raise field_unsupported("AddRaftVoterRequest.ack_when_committed", version)
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
                raise uuid_written("AddRaftVoterRequest.voter_directory_id")
            buf += _pack_2iu(self.timeout_ms, self.voter_id, self.voter_directory_id)
            n = len(self.listeners)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_listeners in self.listeners:
                i_listeners.encode(out, version)
            if version >= 1:
                buf += _pack_z(self.ack_when_committed)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AddRaftVoterRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AddRaftVoterRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("AddRaftVoterRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AddRaftVoterRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AddRaftVoterRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AddRaftVoterRequest", version, error) from error
        if pos > end:
            raise decode_failed("AddRaftVoterRequest", version, "truncated")
        return message, pos


def _read_AddRaftVoterRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[AddRaftVoterRequest, int]:
    self = AddRaftVoterRequest.__new__(AddRaftVoterRequest)
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
            raise length_read("AddRaftVoterRequest.cluster_id", n, end - pos)
        self.cluster_id = str(buf[pos:stop], "utf-8")
        pos = stop
    self.timeout_ms, self.voter_id, self.voter_directory_id = _unpack_2iu(buf, pos)
    pos += 24
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AddRaftVoterRequest.listeners")
    if n * 5 > end - pos:
        raise length_read("AddRaftVoterRequest.listeners", n, end - pos)
    l_listeners: list[Listener] = []
    for _ in range(n):
        i_listeners, pos = _read_Listener(buf, pos, end, version)
        l_listeners.append(i_listeners)
    self.listeners = l_listeners
    if version >= 1:
        self.ack_when_committed = buf[pos] != 0
        pos += 1
    else:
        self.ack_when_committed = True
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AddRaftVoterResponse:
    """Versions 0 to 1."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message")

    API_KEY: ClassVar[int] = 80
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
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
        if not isinstance(other, AddRaftVoterResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.error_message == other.error_message
        )

    def __repr__(self) -> str:
        return f"AddRaftVoterResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, error_message={self.error_message!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("AddRaftVoterResponse", version, "no such version")
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
            raise encode_failed("AddRaftVoterResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AddRaftVoterResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("AddRaftVoterResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AddRaftVoterResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AddRaftVoterResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AddRaftVoterResponse", version, error) from error
        if pos > end:
            raise decode_failed("AddRaftVoterResponse", version, "truncated")
        return message, pos


def _read_AddRaftVoterResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[AddRaftVoterResponse, int]:
    self = AddRaftVoterResponse.__new__(AddRaftVoterResponse)
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
            raise length_read("AddRaftVoterResponse.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
