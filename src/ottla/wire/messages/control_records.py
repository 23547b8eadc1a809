"""control_records. Generated from schema/records/control_records.txt by tools/generate_messages.py; do not edit."""

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
_pack_H = Struct(">H").pack
_unpack_H = Struct(">H").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_2h = Struct(">hh").pack
_unpack_2h = Struct(">hh").unpack_from
_pack_hi = Struct(">hi").pack
_unpack_hi = Struct(">hi").unpack_from
_pack_hq = Struct(">hq").pack
_unpack_hq = Struct(">hq").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_iu = Struct(">i16s").pack
_unpack_iu = Struct(">i16s").unpack_from


class LeaderChangeMessageVoter:
    """Part of LeaderChangeMessage."""

    __slots__ = ("voter_id", "voter_directory_id")

    voter_id: int
    voter_directory_id: bytes

    def __init__(
        self,
        *,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
    ) -> None:
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LeaderChangeMessageVoter):
            return NotImplemented
        return (
            self.voter_id == other.voter_id
            and self.voter_directory_id == other.voter_directory_id
        )

    def __repr__(self) -> str:
        return f"LeaderChangeMessageVoter(voter_id={self.voter_id!r}, voter_directory_id={self.voter_directory_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        if version < 1:
            if self.voter_directory_id != ZERO_UUID:
                raise field_unsupported("LeaderChangeMessageVoter.voter_directory_id", version)
        buf = out.buf
        buf += _pack_i(self.voter_id)
        if version >= 1:
            if len(self.voter_directory_id) != 16:
                raise uuid_written("LeaderChangeMessageVoter.voter_directory_id")
            buf += _pack_u(self.voter_directory_id)
        buf.append(0)


def _read_LeaderChangeMessageVoter(buf: memoryview, pos: int, end: int, version: int) -> tuple[LeaderChangeMessageVoter, int]:
    self = LeaderChangeMessageVoter.__new__(LeaderChangeMessageVoter)
    (self.voter_id,) = _unpack_i(buf, pos)
    pos += 4
    if version >= 1:
        (self.voter_directory_id,) = _unpack_u(buf, pos)
        pos += 16
    else:
        self.voter_directory_id = ZERO_UUID
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class LeaderChangeMessage:
    """Versions 0 to 1."""

    __slots__ = ("version", "leader_id", "voters", "granting_voters")

    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    version: int
    leader_id: int
    voters: list[LeaderChangeMessageVoter]
    granting_voters: list[LeaderChangeMessageVoter]

    def __init__(
        self,
        *,
        version: int = 0,
        leader_id: int = 0,
        voters: list[LeaderChangeMessageVoter] = _EMPTY,
        granting_voters: list[LeaderChangeMessageVoter] = _EMPTY,
    ) -> None:
        self.version = version
        self.leader_id = leader_id
        self.voters = [] if voters is _EMPTY else voters
        self.granting_voters = [] if granting_voters is _EMPTY else granting_voters

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LeaderChangeMessage):
            return NotImplemented
        return (
            self.version == other.version
            and self.leader_id == other.leader_id
            and self.voters == other.voters
            and self.granting_voters == other.granting_voters
        )

    def __repr__(self) -> str:
        return f"LeaderChangeMessage(version={self.version!r}, leader_id={self.leader_id!r}, voters={self.voters!r}, granting_voters={self.granting_voters!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("LeaderChangeMessage", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_hi(self.version, self.leader_id)
            n = len(self.voters)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_voters in self.voters:
                i_voters.encode(out, version)
            n = len(self.granting_voters)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_granting_voters in self.granting_voters:
                i_granting_voters.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("LeaderChangeMessage", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[LeaderChangeMessage, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("LeaderChangeMessage", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("LeaderChangeMessage", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_LeaderChangeMessage(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("LeaderChangeMessage", version, error) from error
        if pos > end:
            raise decode_failed("LeaderChangeMessage", version, "truncated")
        return message, pos


def _read_LeaderChangeMessage(buf: memoryview, pos: int, end: int, version: int) -> tuple[LeaderChangeMessage, int]:
    self = LeaderChangeMessage.__new__(LeaderChangeMessage)
    self.version, self.leader_id = _unpack_hi(buf, pos)
    pos += 6
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("LeaderChangeMessage.voters")
    if n * 5 > end - pos:
        raise length_read("LeaderChangeMessage.voters", n, end - pos)
    l_voters: list[LeaderChangeMessageVoter] = []
    for _ in range(n):
        i_voters, pos = _read_LeaderChangeMessageVoter(buf, pos, end, version)
        l_voters.append(i_voters)
    self.voters = l_voters
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("LeaderChangeMessage.granting_voters")
    if n * 5 > end - pos:
        raise length_read("LeaderChangeMessage.granting_voters", n, end - pos)
    l_granting_voters: list[LeaderChangeMessageVoter] = []
    for _ in range(n):
        i_granting_voters, pos = _read_LeaderChangeMessageVoter(buf, pos, end, version)
        l_granting_voters.append(i_granting_voters)
    self.granting_voters = l_granting_voters
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class SnapshotHeaderRecord:
    """Version 0."""

    __slots__ = ("version", "last_contained_log_timestamp")

    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    version: int
    last_contained_log_timestamp: int

    def __init__(
        self,
        *,
        version: int = 0,
        last_contained_log_timestamp: int = 0,
    ) -> None:
        self.version = version
        self.last_contained_log_timestamp = last_contained_log_timestamp

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SnapshotHeaderRecord):
            return NotImplemented
        return (
            self.version == other.version
            and self.last_contained_log_timestamp == other.last_contained_log_timestamp
        )

    def __repr__(self) -> str:
        return f"SnapshotHeaderRecord(version={self.version!r}, last_contained_log_timestamp={self.last_contained_log_timestamp!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("SnapshotHeaderRecord", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_hq(self.version, self.last_contained_log_timestamp)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("SnapshotHeaderRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[SnapshotHeaderRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("SnapshotHeaderRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("SnapshotHeaderRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_SnapshotHeaderRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("SnapshotHeaderRecord", version, error) from error
        if pos > end:
            raise decode_failed("SnapshotHeaderRecord", version, "truncated")
        return message, pos


def _read_SnapshotHeaderRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[SnapshotHeaderRecord, int]:
    self = SnapshotHeaderRecord.__new__(SnapshotHeaderRecord)
    self.version, self.last_contained_log_timestamp = _unpack_hq(buf, pos)
    pos += 10
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class SnapshotFooterRecord:
    """Version 0."""

    __slots__ = ("version",)

    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    version: int

    def __init__(
        self,
        *,
        version: int = 0,
    ) -> None:
        self.version = version

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SnapshotFooterRecord):
            return NotImplemented
        return (
            self.version == other.version
        )

    def __repr__(self) -> str:
        return f"SnapshotFooterRecord(version={self.version!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("SnapshotFooterRecord", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_h(self.version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("SnapshotFooterRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[SnapshotFooterRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("SnapshotFooterRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("SnapshotFooterRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_SnapshotFooterRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("SnapshotFooterRecord", version, error) from error
        if pos > end:
            raise decode_failed("SnapshotFooterRecord", version, "truncated")
        return message, pos


def _read_SnapshotFooterRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[SnapshotFooterRecord, int]:
    self = SnapshotFooterRecord.__new__(SnapshotFooterRecord)
    (self.version,) = _unpack_h(buf, pos)
    pos += 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class KRaftVersionRecord:
    """Version 0."""

    __slots__ = ("version", "kraft_version")

    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    version: int
    kraft_version: int

    def __init__(
        self,
        *,
        version: int = 0,
        kraft_version: int = 0,
    ) -> None:
        self.version = version
        self.kraft_version = kraft_version

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KRaftVersionRecord):
            return NotImplemented
        return (
            self.version == other.version
            and self.kraft_version == other.kraft_version
        )

    def __repr__(self) -> str:
        return f"KRaftVersionRecord(version={self.version!r}, kraft_version={self.kraft_version!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("KRaftVersionRecord", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_2h(self.version, self.kraft_version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("KRaftVersionRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[KRaftVersionRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("KRaftVersionRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("KRaftVersionRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_KRaftVersionRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("KRaftVersionRecord", version, error) from error
        if pos > end:
            raise decode_failed("KRaftVersionRecord", version, "truncated")
        return message, pos


def _read_KRaftVersionRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[KRaftVersionRecord, int]:
    self = KRaftVersionRecord.__new__(KRaftVersionRecord)
    self.version, self.kraft_version = _unpack_2h(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class Endpoint:
    """Part of VotersRecord."""

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
        if not isinstance(other, Endpoint):
            return NotImplemented
        return (
            self.name == other.name
            and self.host == other.host
            and self.port == other.port
        )

    def __repr__(self) -> str:
        return f"Endpoint(name={self.name!r}, host={self.host!r}, port={self.port!r})"

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


def _read_Endpoint(buf: memoryview, pos: int, end: int, version: int) -> tuple[Endpoint, int]:
    self = Endpoint.__new__(Endpoint)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Endpoint.name")
    stop = pos + n
    if stop > end:
        raise length_read("Endpoint.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Endpoint.host")
    stop = pos + n
    if stop > end:
        raise length_read("Endpoint.host", n, end - pos)
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
    """Part of VotersRecord."""

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


class VotersRecordVoter:
    """Part of VotersRecord."""

    __slots__ = ("voter_id", "voter_directory_id", "endpoints", "kraft_version_feature")

    voter_id: int
    voter_directory_id: bytes
    endpoints: list[Endpoint]
    kraft_version_feature: KRaftVersionFeature

    def __init__(
        self,
        *,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        endpoints: list[Endpoint] = _EMPTY,
        kraft_version_feature: KRaftVersionFeature | None = None,
    ) -> None:
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.endpoints = [] if endpoints is _EMPTY else endpoints
        self.kraft_version_feature = KRaftVersionFeature() if kraft_version_feature is None else kraft_version_feature

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VotersRecordVoter):
            return NotImplemented
        return (
            self.voter_id == other.voter_id
            and self.voter_directory_id == other.voter_directory_id
            and self.endpoints == other.endpoints
            and self.kraft_version_feature == other.kraft_version_feature
        )

    def __repr__(self) -> str:
        return f"VotersRecordVoter(voter_id={self.voter_id!r}, voter_directory_id={self.voter_directory_id!r}, endpoints={self.endpoints!r}, kraft_version_feature={self.kraft_version_feature!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.voter_directory_id) != 16:
            raise uuid_written("VotersRecordVoter.voter_directory_id")
        buf += _pack_iu(self.voter_id, self.voter_directory_id)
        n = len(self.endpoints)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_endpoints in self.endpoints:
            i_endpoints.encode(out, version)
        self.kraft_version_feature.encode(out, version)
        buf.append(0)


def _read_VotersRecordVoter(buf: memoryview, pos: int, end: int, version: int) -> tuple[VotersRecordVoter, int]:
    self = VotersRecordVoter.__new__(VotersRecordVoter)
    self.voter_id, self.voter_directory_id = _unpack_iu(buf, pos)
    pos += 20
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("VotersRecordVoter.endpoints")
    if n * 5 > end - pos:
        raise length_read("VotersRecordVoter.endpoints", n, end - pos)
    l_endpoints: list[Endpoint] = []
    for _ in range(n):
        i_endpoints, pos = _read_Endpoint(buf, pos, end, version)
        l_endpoints.append(i_endpoints)
    self.endpoints = l_endpoints
    self.kraft_version_feature, pos = _read_KRaftVersionFeature(buf, pos, end, version)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class VotersRecord:
    """Version 0."""

    __slots__ = ("version", "voters")

    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    version: int
    voters: list[VotersRecordVoter]

    def __init__(
        self,
        *,
        version: int = 0,
        voters: list[VotersRecordVoter] = _EMPTY,
    ) -> None:
        self.version = version
        self.voters = [] if voters is _EMPTY else voters

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VotersRecord):
            return NotImplemented
        return (
            self.version == other.version
            and self.voters == other.voters
        )

    def __repr__(self) -> str:
        return f"VotersRecord(version={self.version!r}, voters={self.voters!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("VotersRecord", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_h(self.version)
            n = len(self.voters)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_voters in self.voters:
                i_voters.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("VotersRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[VotersRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("VotersRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("VotersRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_VotersRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("VotersRecord", version, error) from error
        if pos > end:
            raise decode_failed("VotersRecord", version, "truncated")
        return message, pos


def _read_VotersRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[VotersRecord, int]:
    self = VotersRecord.__new__(VotersRecord)
    (self.version,) = _unpack_h(buf, pos)
    pos += 2
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("VotersRecord.voters")
    if n * 27 > end - pos:
        raise length_read("VotersRecord.voters", n, end - pos)
    l_voters: list[VotersRecordVoter] = []
    for _ in range(n):
        i_voters, pos = _read_VotersRecordVoter(buf, pos, end, version)
        l_voters.append(i_voters)
    self.voters = l_voters
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class EndTxnMarker:
    """Version 0."""

    __slots__ = ("coordinator_epoch",)

    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    coordinator_epoch: int

    def __init__(
        self,
        *,
        coordinator_epoch: int = 0,
    ) -> None:
        self.coordinator_epoch = coordinator_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EndTxnMarker):
            return NotImplemented
        return (
            self.coordinator_epoch == other.coordinator_epoch
        )

    def __repr__(self) -> str:
        return f"EndTxnMarker(coordinator_epoch={self.coordinator_epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("EndTxnMarker", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_i(self.coordinator_epoch)
        except ENCODE_FAILURES as error:
            raise encode_failed("EndTxnMarker", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[EndTxnMarker, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("EndTxnMarker", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("EndTxnMarker", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_EndTxnMarker(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("EndTxnMarker", version, error) from error
        if pos > end:
            raise decode_failed("EndTxnMarker", version, "truncated")
        return message, pos


def _read_EndTxnMarker(buf: memoryview, pos: int, end: int, version: int) -> tuple[EndTxnMarker, int]:
    self = EndTxnMarker.__new__(EndTxnMarker)
    (self.coordinator_epoch,) = _unpack_i(buf, pos)
    pos += 4
    return self, pos
