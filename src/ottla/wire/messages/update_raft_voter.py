"""UpdateRaftVoter. Generated from schema/update_raft_voter.txt by tools/generate_messages.py; do not edit."""

from __future__ import annotations

from struct import Struct
from typing import Any, ClassVar, Final

from ottla.wire.primitives import (
    Buffer,
    DECODE_FAILURES,
    DecodeError,
    ENCODE_FAILURES,
    Encoder,
    ZERO_UUID,
    decode_failed,
    encode_failed,
    length_read,
    null_read,
    read_string_length_tail,
    read_uvarint,
    read_uvarint_tail,
    skip_tagged_fields,
    uuid_written,
    write_string_length,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_H = Struct(">H").pack
_unpack_H = Struct(">H").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_2h = Struct(">hh").pack
_unpack_2h = Struct(">hh").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from
_pack_2i = Struct(">ii").pack
_unpack_2i = Struct(">ii").unpack_from
_pack_2iu = Struct(">ii16s").pack
_unpack_2iu = Struct(">ii16s").unpack_from


class Listener:
    """Part of UpdateRaftVoterRequest."""

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


class KRaftVersionFeature:
    """Part of UpdateRaftVoterRequest."""

    __slots__ = ("min_supported_version", "max_supported_version")

    min_supported_version: int
    max_supported_version: int

    def __init__(
        self,
        *,
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KRaftVersionFeature):
            return NotImplemented
        return (
            self.min_supported_version == other.min_supported_version
            and self.max_supported_version == other.max_supported_version
        )

    def __repr__(self) -> str:
        return f"KRaftVersionFeature(min_supported_version={self.min_supported_version!r}, max_supported_version={self.max_supported_version!r})"

    def _is_default(self) -> bool:
        return not ((self.min_supported_version != 0) or (self.max_supported_version != 0))

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_2h(self.min_supported_version, self.max_supported_version)
        buf.append(0)


def _read_KRaftVersionFeature(buf: memoryview, pos: int, end: int, version: int) -> tuple[KRaftVersionFeature, int]:
    self = KRaftVersionFeature.__new__(KRaftVersionFeature)
    self.min_supported_version, self.max_supported_version = _unpack_2h(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class UpdateRaftVoterRequest:
    """Version 0."""

    __slots__ = ("cluster_id", "current_leader_epoch", "voter_id", "voter_directory_id", "listeners", "kraft_version_feature")

    API_KEY: ClassVar[int] = 82
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    cluster_id: str | None
    current_leader_epoch: int
    voter_id: int
    voter_directory_id: bytes
    listeners: list[Listener]
    kraft_version_feature: KRaftVersionFeature

    def __init__(
        self,
        *,
        cluster_id: str | None = "",
        current_leader_epoch: int = 0,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        listeners: list[Listener] = _EMPTY,
        kraft_version_feature: KRaftVersionFeature | None = None,
    ) -> None:
        self.cluster_id = cluster_id
        self.current_leader_epoch = current_leader_epoch
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.listeners = [] if listeners is _EMPTY else listeners
        self.kraft_version_feature = KRaftVersionFeature() if kraft_version_feature is None else kraft_version_feature

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UpdateRaftVoterRequest):
            return NotImplemented
        return (
            self.cluster_id == other.cluster_id
            and self.current_leader_epoch == other.current_leader_epoch
            and self.voter_id == other.voter_id
            and self.voter_directory_id == other.voter_directory_id
            and self.listeners == other.listeners
            and self.kraft_version_feature == other.kraft_version_feature
        )

    def __repr__(self) -> str:
        return f"UpdateRaftVoterRequest(cluster_id={self.cluster_id!r}, current_leader_epoch={self.current_leader_epoch!r}, voter_id={self.voter_id!r}, voter_directory_id={self.voter_directory_id!r}, listeners={self.listeners!r}, kraft_version_feature={self.kraft_version_feature!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("UpdateRaftVoterRequest", version, "no such version")
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
                raise uuid_written("UpdateRaftVoterRequest.voter_directory_id")
            buf += _pack_2iu(self.current_leader_epoch, self.voter_id, self.voter_directory_id)
            n = len(self.listeners)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_listeners in self.listeners:
                i_listeners.encode(out, version)
            self.kraft_version_feature.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("UpdateRaftVoterRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[UpdateRaftVoterRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("UpdateRaftVoterRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("UpdateRaftVoterRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_UpdateRaftVoterRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("UpdateRaftVoterRequest", version, error) from error
        if pos > end:
            raise decode_failed("UpdateRaftVoterRequest", version, "truncated")
        return message, pos


def _read_UpdateRaftVoterRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[UpdateRaftVoterRequest, int]:
    self = UpdateRaftVoterRequest.__new__(UpdateRaftVoterRequest)
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
            raise length_read("UpdateRaftVoterRequest.cluster_id", n, end - pos)
        self.cluster_id = str(buf[pos:stop], "utf-8")
        pos = stop
    self.current_leader_epoch, self.voter_id, self.voter_directory_id = _unpack_2iu(buf, pos)
    pos += 24
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("UpdateRaftVoterRequest.listeners")
    if n * 5 > end - pos:
        raise length_read("UpdateRaftVoterRequest.listeners", n, end - pos)
    l_listeners: list[Listener] = []
    for _ in range(n):
        i_listeners, pos = _read_Listener(buf, pos, end, version)
        l_listeners.append(i_listeners)
    self.listeners = l_listeners
    self.kraft_version_feature, pos = _read_KRaftVersionFeature(buf, pos, end, version)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class CurrentLeader:
    """Part of UpdateRaftVoterResponse."""

    __slots__ = ("leader_id", "leader_epoch", "host", "port")

    leader_id: int
    leader_epoch: int
    host: str
    port: int

    def __init__(
        self,
        *,
        leader_id: int = -1,
        leader_epoch: int = -1,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.host = host
        self.port = port

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CurrentLeader):
            return NotImplemented
        return (
            self.leader_id == other.leader_id
            and self.leader_epoch == other.leader_epoch
            and self.host == other.host
            and self.port == other.port
        )

    def __repr__(self) -> str:
        return f"CurrentLeader(leader_id={self.leader_id!r}, leader_epoch={self.leader_epoch!r}, host={self.host!r}, port={self.port!r})"

    def _is_default(self) -> bool:
        return not ((self.leader_id != -1) or (self.leader_epoch != -1) or (self.host != "") or (self.port != 0))

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_2i(self.leader_id, self.leader_epoch)
        data = self.host.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_i(self.port)
        buf.append(0)


def _read_CurrentLeader(buf: memoryview, pos: int, end: int, version: int) -> tuple[CurrentLeader, int]:
    self = CurrentLeader.__new__(CurrentLeader)
    self.leader_id, self.leader_epoch = _unpack_2i(buf, pos)
    pos += 8
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("CurrentLeader.host")
    stop = pos + n
    if stop > end:
        raise length_read("CurrentLeader.host", n, end - pos)
    self.host = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.port,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class UpdateRaftVoterResponse:
    """Version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "current_leader")

    API_KEY: ClassVar[int] = 82
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    current_leader: CurrentLeader

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        current_leader: CurrentLeader | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.current_leader = CurrentLeader() if current_leader is None else current_leader

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UpdateRaftVoterResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.current_leader == other.current_leader
        )

    def __repr__(self) -> str:
        return f"UpdateRaftVoterResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, current_leader={self.current_leader!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("UpdateRaftVoterResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_ih(self.throttle_time_ms, self.error_code)
            count = 0
            if not self.current_leader._is_default():
                count += 1
            buf.append(count)
            if count:
                if not self.current_leader._is_default():
                    sub = Encoder()
                    sub_buf = sub.buf
                    self.current_leader.encode(sub, version)
                    buf.append(0)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
        except ENCODE_FAILURES as error:
            raise encode_failed("UpdateRaftVoterResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[UpdateRaftVoterResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("UpdateRaftVoterResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("UpdateRaftVoterResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_UpdateRaftVoterResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("UpdateRaftVoterResponse", version, error) from error
        if pos > end:
            raise decode_failed("UpdateRaftVoterResponse", version, "truncated")
        return message, pos


def _read_UpdateRaftVoterResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[UpdateRaftVoterResponse, int]:
    self = UpdateRaftVoterResponse.__new__(UpdateRaftVoterResponse)
    self.throttle_time_ms, self.error_code = _unpack_ih(buf, pos)
    pos += 6
    self.current_leader = CurrentLeader()
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("UpdateRaftVoterResponse tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("UpdateRaftVoterResponse tag", size, end - pos)
            if tag == 0:
                self.current_leader, pos = _read_CurrentLeader(buf, pos, end, version)
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"UpdateRaftVoterResponse: tag {tag} does not fill its {size} bytes")
    return self, pos
