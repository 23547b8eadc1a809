"""quorum_state. Generated from schema/records/quorum_state.txt by tools/generate_messages.py; do not edit."""

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
_pack_u = Struct(">16s").pack
_unpack_u = Struct(">16s").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_3i = Struct(">iii").pack
_unpack_3i = Struct(">iii").unpack_from
_pack_q = Struct(">q").pack
_unpack_q = Struct(">q").unpack_from


class Voter:
    """Part of QuorumStateData."""

    __slots__ = ("voter_id",)

    voter_id: int

    def __init__(
        self,
        *,
        voter_id: int = 0,
    ) -> None:
        self.voter_id = voter_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Voter):
            return NotImplemented
        return (
            self.voter_id == other.voter_id
        )

    def __repr__(self) -> str:
        return f"Voter(voter_id={self.voter_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_i(self.voter_id)
        buf.append(0)


def _read_Voter(buf: memoryview, pos: int, end: int, version: int) -> tuple[Voter, int]:
    self = Voter.__new__(Voter)
    (self.voter_id,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class QuorumStateData:
    """Versions 0 to 1."""

    __slots__ = ("cluster_id", "leader_id", "leader_epoch", "voted_id", "voted_directory_id", "applied_offset", "current_voters")

    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    cluster_id: str
    leader_id: int
    leader_epoch: int
    voted_id: int
    voted_directory_id: bytes
    applied_offset: int
    current_voters: list[Voter] | None

    def __init__(
        self,
        *,
        cluster_id: str = "",
        leader_id: int = -1,
        leader_epoch: int = -1,
        voted_id: int = -1,
        voted_directory_id: bytes = ZERO_UUID,
        applied_offset: int = 0,
        current_voters: list[Voter] | None = _EMPTY,
    ) -> None:
        self.cluster_id = cluster_id
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.voted_id = voted_id
        self.voted_directory_id = voted_directory_id
        self.applied_offset = applied_offset
        self.current_voters = [] if current_voters is _EMPTY else current_voters

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, QuorumStateData):
            return NotImplemented
        return (
            self.cluster_id == other.cluster_id
            and self.leader_id == other.leader_id
            and self.leader_epoch == other.leader_epoch
            and self.voted_id == other.voted_id
            and self.voted_directory_id == other.voted_directory_id
            and self.applied_offset == other.applied_offset
            and self.current_voters == other.current_voters
        )

    def __repr__(self) -> str:
        return f"QuorumStateData(cluster_id={self.cluster_id!r}, leader_id={self.leader_id!r}, leader_epoch={self.leader_epoch!r}, voted_id={self.voted_id!r}, voted_directory_id={self.voted_directory_id!r}, applied_offset={self.applied_offset!r}, current_voters={self.current_voters!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("QuorumStateData", version, "no such version")
        try:
            if version > 0:
                if self.cluster_id != "":
                    raise field_unsupported("QuorumStateData.cluster_id", version)
                if self.applied_offset != 0:
                    raise field_unsupported("QuorumStateData.applied_offset", version)
                if self.current_voters is None or self.current_voters:
                    raise field_unsupported("QuorumStateData.current_voters", version)
            if version < 1:
                if self.voted_directory_id != ZERO_UUID:
                    raise field_unsupported("QuorumStateData.voted_directory_id", version)
            buf = out.buf
            if version <= 0:
                data = self.cluster_id.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            buf += _pack_3i(self.leader_id, self.leader_epoch, self.voted_id)
            if version >= 1:
                if len(self.voted_directory_id) != 16:
                    raise uuid_written("QuorumStateData.voted_directory_id")
                buf += _pack_u(self.voted_directory_id)
            if version <= 0:
                buf += _pack_q(self.applied_offset)
            if version <= 0:
                v_current_voters = self.current_voters
                if v_current_voters is None:
                    buf.append(0)
                else:
                    n = len(v_current_voters)
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_uvarint(buf, n + 1)
                    for i_current_voters in v_current_voters:
                        i_current_voters.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("QuorumStateData", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[QuorumStateData, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("QuorumStateData", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("QuorumStateData", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_QuorumStateData(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("QuorumStateData", version, error) from error
        if pos > end:
            raise decode_failed("QuorumStateData", version, "truncated")
        return message, pos


def _read_QuorumStateData(buf: memoryview, pos: int, end: int, version: int) -> tuple[QuorumStateData, int]:
    self = QuorumStateData.__new__(QuorumStateData)
    if version <= 0:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("QuorumStateData.cluster_id")
        stop = pos + n
        if stop > end:
            raise length_read("QuorumStateData.cluster_id", n, end - pos)
        self.cluster_id = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.cluster_id = ""
    self.leader_id, self.leader_epoch, self.voted_id = _unpack_3i(buf, pos)
    pos += 12
    if version >= 1:
        (self.voted_directory_id,) = _unpack_u(buf, pos)
        pos += 16
    else:
        self.voted_directory_id = ZERO_UUID
    if version <= 0:
        (self.applied_offset,) = _unpack_q(buf, pos)
        pos += 8
    else:
        self.applied_offset = 0
    if version <= 0:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            self.current_voters = None
        else:
            if n * 5 > end - pos:
                raise length_read("QuorumStateData.current_voters", n, end - pos)
            l_current_voters: list[Voter] = []
            for _ in range(n):
                i_current_voters, pos = _read_Voter(buf, pos, end, version)
                l_current_voters.append(i_current_voters)
            self.current_voters = l_current_voters
    else:
        self.current_voters = []
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
