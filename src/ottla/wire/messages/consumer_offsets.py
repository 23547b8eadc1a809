"""consumer_offsets. Generated from schema/records/consumer_offsets.txt by tools/generate_messages.py; do not edit."""

from __future__ import annotations

from struct import Struct
from struct import pack as _pack_n, unpack_from as _unpack_n
from typing import Any, ClassVar, Final

from ottla.wire.primitives import (
    Buffer,
    DECODE_FAILURES,
    DecodeError,
    ENCODE_FAILURES,
    Encoder,
    INT32_ARRAY_SHORT,
    INT32_PACK,
    INT32_UNPACK,
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
_pack_u = Struct(">16s").pack
_unpack_u = Struct(">16s").unpack_from
_pack_H = Struct(">H").pack
_unpack_H = Struct(">H").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from
_pack_2i = Struct(">ii").pack
_unpack_2i = Struct(">ii").unpack_from
_pack_2ib = Struct(">iib").pack
_unpack_2ib = Struct(">iib").unpack_from
_pack_iq = Struct(">iq").pack
_unpack_iq = Struct(">iq").unpack_from
_pack_q = Struct(">q").pack
_unpack_q = Struct(">q").unpack_from
_pack_2q = Struct(">qq").pack
_unpack_2q = Struct(">qq").unpack_from


class LegacyOffsetCommitKey:
    """Version 0."""

    __slots__ = ("group", "topic", "partition")

    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group: str
    topic: str
    partition: int

    def __init__(
        self,
        *,
        group: str = "",
        topic: str = "",
        partition: int = 0,
    ) -> None:
        self.group = group
        self.topic = topic
        self.partition = partition

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LegacyOffsetCommitKey):
            return NotImplemented
        return (
            self.group == other.group
            and self.topic == other.topic
            and self.partition == other.partition
        )

    def __repr__(self) -> str:
        return f"LegacyOffsetCommitKey(group={self.group!r}, topic={self.topic!r}, partition={self.partition!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("LegacyOffsetCommitKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
            data = self.topic.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
            buf += _pack_i(self.partition)
        except ENCODE_FAILURES as error:
            raise encode_failed("LegacyOffsetCommitKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[LegacyOffsetCommitKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("LegacyOffsetCommitKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("LegacyOffsetCommitKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_LegacyOffsetCommitKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("LegacyOffsetCommitKey", version, error) from error
        if pos > end:
            raise decode_failed("LegacyOffsetCommitKey", version, "truncated")
        return message, pos


def _read_LegacyOffsetCommitKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[LegacyOffsetCommitKey, int]:
    self = LegacyOffsetCommitKey.__new__(LegacyOffsetCommitKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("LegacyOffsetCommitKey.group")
    stop = pos + n
    if stop > end:
        raise length_read("LegacyOffsetCommitKey.group", n, end - pos)
    self.group = str(buf[pos:stop], "utf-8")
    pos = stop
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("LegacyOffsetCommitKey.topic")
    stop = pos + n
    if stop > end:
        raise length_read("LegacyOffsetCommitKey.topic", n, end - pos)
    self.topic = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.partition,) = _unpack_i(buf, pos)
    pos += 4
    return self, pos


class LegacyOffsetCommitValue:
    """Version 0."""

    __slots__ = ("offset", "metadata", "commit_timestamp")

    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    offset: int
    metadata: str
    commit_timestamp: int

    def __init__(
        self,
        *,
        offset: int = 0,
        metadata: str = "",
        commit_timestamp: int = 0,
    ) -> None:
        self.offset = offset
        self.metadata = metadata
        self.commit_timestamp = commit_timestamp

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LegacyOffsetCommitValue):
            return NotImplemented
        return (
            self.offset == other.offset
            and self.metadata == other.metadata
            and self.commit_timestamp == other.commit_timestamp
        )

    def __repr__(self) -> str:
        return f"LegacyOffsetCommitValue(offset={self.offset!r}, metadata={self.metadata!r}, commit_timestamp={self.commit_timestamp!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("LegacyOffsetCommitValue", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_q(self.offset)
            data = self.metadata.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
            buf += _pack_q(self.commit_timestamp)
        except ENCODE_FAILURES as error:
            raise encode_failed("LegacyOffsetCommitValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[LegacyOffsetCommitValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("LegacyOffsetCommitValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("LegacyOffsetCommitValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_LegacyOffsetCommitValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("LegacyOffsetCommitValue", version, error) from error
        if pos > end:
            raise decode_failed("LegacyOffsetCommitValue", version, "truncated")
        return message, pos


def _read_LegacyOffsetCommitValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[LegacyOffsetCommitValue, int]:
    self = LegacyOffsetCommitValue.__new__(LegacyOffsetCommitValue)
    (self.offset,) = _unpack_q(buf, pos)
    pos += 8
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("LegacyOffsetCommitValue.metadata")
    stop = pos + n
    if stop > end:
        raise length_read("LegacyOffsetCommitValue.metadata", n, end - pos)
    self.metadata = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.commit_timestamp,) = _unpack_q(buf, pos)
    pos += 8
    return self, pos


class OffsetCommitKey:
    """Version 0."""

    __slots__ = ("group", "topic", "partition")

    RECORD_TYPE: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group: str
    topic: str
    partition: int

    def __init__(
        self,
        *,
        group: str = "",
        topic: str = "",
        partition: int = 0,
    ) -> None:
        self.group = group
        self.topic = topic
        self.partition = partition

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetCommitKey):
            return NotImplemented
        return (
            self.group == other.group
            and self.topic == other.topic
            and self.partition == other.partition
        )

    def __repr__(self) -> str:
        return f"OffsetCommitKey(group={self.group!r}, topic={self.topic!r}, partition={self.partition!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("OffsetCommitKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
            data = self.topic.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
            buf += _pack_i(self.partition)
        except ENCODE_FAILURES as error:
            raise encode_failed("OffsetCommitKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[OffsetCommitKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("OffsetCommitKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("OffsetCommitKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_OffsetCommitKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("OffsetCommitKey", version, error) from error
        if pos > end:
            raise decode_failed("OffsetCommitKey", version, "truncated")
        return message, pos


def _read_OffsetCommitKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetCommitKey, int]:
    self = OffsetCommitKey.__new__(OffsetCommitKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("OffsetCommitKey.group")
    stop = pos + n
    if stop > end:
        raise length_read("OffsetCommitKey.group", n, end - pos)
    self.group = str(buf[pos:stop], "utf-8")
    pos = stop
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("OffsetCommitKey.topic")
    stop = pos + n
    if stop > end:
        raise length_read("OffsetCommitKey.topic", n, end - pos)
    self.topic = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.partition,) = _unpack_i(buf, pos)
    pos += 4
    return self, pos


class OffsetCommitValue:
    """Versions 0 to 4, flexible from 4."""

    __slots__ = ("offset", "leader_epoch", "metadata", "commit_timestamp", "expire_timestamp", "topic_id")

    RECORD_TYPE: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp: int
    expire_timestamp: int
    topic_id: bytes

    def __init__(
        self,
        *,
        offset: int = 0,
        leader_epoch: int = -1,
        metadata: str = "",
        commit_timestamp: int = 0,
        expire_timestamp: int = -1,
        topic_id: bytes = ZERO_UUID,
    ) -> None:
        self.offset = offset
        self.leader_epoch = leader_epoch
        self.metadata = metadata
        self.commit_timestamp = commit_timestamp
        self.expire_timestamp = expire_timestamp
        self.topic_id = topic_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetCommitValue):
            return NotImplemented
        return (
            self.offset == other.offset
            and self.leader_epoch == other.leader_epoch
            and self.metadata == other.metadata
            and self.commit_timestamp == other.commit_timestamp
            and self.expire_timestamp == other.expire_timestamp
            and self.topic_id == other.topic_id
        )

    def __repr__(self) -> str:
        return f"OffsetCommitValue(offset={self.offset!r}, leader_epoch={self.leader_epoch!r}, metadata={self.metadata!r}, commit_timestamp={self.commit_timestamp!r}, expire_timestamp={self.expire_timestamp!r}, topic_id={self.topic_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 4:
            raise encode_failed("OffsetCommitValue", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 4
            buf += _pack_q(self.offset)
            if version >= 3:
                buf += _pack_i(self.leader_epoch)
            data = self.metadata.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
            buf += _pack_q(self.commit_timestamp)
            if version >= 1 and version <= 1:
                buf += _pack_q(self.expire_timestamp)
            if flexible:
                count = 0
                if self.topic_id != ZERO_UUID:
                    count += 1
                buf.append(count)
                if count:
                    if self.topic_id != ZERO_UUID:
                        buf += b"\x00\x10"
                        if len(self.topic_id) != 16:
                            raise uuid_written("OffsetCommitValue.topic_id")
                        buf += _pack_u(self.topic_id)
        except ENCODE_FAILURES as error:
            raise encode_failed("OffsetCommitValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[OffsetCommitValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 4:
            raise decode_failed("OffsetCommitValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("OffsetCommitValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_OffsetCommitValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("OffsetCommitValue", version, error) from error
        if pos > end:
            raise decode_failed("OffsetCommitValue", version, "truncated")
        return message, pos


def _read_OffsetCommitValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[OffsetCommitValue, int]:
    flexible = version >= 4
    self = OffsetCommitValue.__new__(OffsetCommitValue)
    (self.offset,) = _unpack_q(buf, pos)
    pos += 8
    if version >= 3:
        (self.leader_epoch,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.leader_epoch = -1
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
        raise null_read("OffsetCommitValue.metadata")
    stop = pos + n
    if stop > end:
        raise length_read("OffsetCommitValue.metadata", n, end - pos)
    self.metadata = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.commit_timestamp,) = _unpack_q(buf, pos)
    pos += 8
    if version >= 1 and version <= 1:
        (self.expire_timestamp,) = _unpack_q(buf, pos)
        pos += 8
    else:
        self.expire_timestamp = -1
    self.topic_id = ZERO_UUID
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            count, pos = read_uvarint(buf, pos)
            if count * 2 > end - pos:
                raise length_read("OffsetCommitValue tags", count, end - pos)
            for _ in range(count):
                tag, pos = read_uvarint(buf, pos)
                size, pos = read_uvarint(buf, pos)
                tag_end = pos + size
                if tag_end > end:
                    raise length_read("OffsetCommitValue tag", size, end - pos)
                if tag == 0:
                    (self.topic_id,) = _unpack_u(buf, pos)
                    pos += 16
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise DecodeError(f"OffsetCommitValue: tag {tag} does not fill its {size} bytes")
    return self, pos


class GroupMetadataKey:
    """Version 0."""

    __slots__ = ("group",)

    RECORD_TYPE: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group: str

    def __init__(
        self,
        *,
        group: str = "",
    ) -> None:
        self.group = group

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupMetadataKey):
            return NotImplemented
        return (
            self.group == other.group
        )

    def __repr__(self) -> str:
        return f"GroupMetadataKey(group={self.group!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("GroupMetadataKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("GroupMetadataKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[GroupMetadataKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("GroupMetadataKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("GroupMetadataKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_GroupMetadataKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("GroupMetadataKey", version, error) from error
        if pos > end:
            raise decode_failed("GroupMetadataKey", version, "truncated")
        return message, pos


def _read_GroupMetadataKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[GroupMetadataKey, int]:
    self = GroupMetadataKey.__new__(GroupMetadataKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("GroupMetadataKey.group")
    stop = pos + n
    if stop > end:
        raise length_read("GroupMetadataKey.group", n, end - pos)
    self.group = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class MemberMetadata:
    """Part of GroupMetadataValue."""

    __slots__ = ("member_id", "group_instance_id", "client_id", "client_host", "rebalance_timeout", "session_timeout", "subscription", "assignment")

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout: int
    session_timeout: int
    subscription: bytes
    assignment: bytes

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout: int = -1,
        session_timeout: int = 0,
        subscription: bytes = b"",
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout = rebalance_timeout
        self.session_timeout = session_timeout
        self.subscription = subscription
        self.assignment = assignment

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemberMetadata):
            return NotImplemented
        return (
            self.member_id == other.member_id
            and self.group_instance_id == other.group_instance_id
            and self.client_id == other.client_id
            and self.client_host == other.client_host
            and self.rebalance_timeout == other.rebalance_timeout
            and self.session_timeout == other.session_timeout
            and self.subscription == other.subscription
            and self.assignment == other.assignment
        )

    def __repr__(self) -> str:
        return f"MemberMetadata(member_id={self.member_id!r}, group_instance_id={self.group_instance_id!r}, client_id={self.client_id!r}, client_host={self.client_host!r}, rebalance_timeout={self.rebalance_timeout!r}, session_timeout={self.session_timeout!r}, subscription={self.subscription!r}, assignment={self.assignment!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 4
        data = self.member_id.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        if version >= 3:
            v_group_instance_id = self.group_instance_id
            if v_group_instance_id is None:
                if flexible:
                    buf.append(0)
                else:
                    buf += b"\xff\xff"
            else:
                data = v_group_instance_id.encode()
                n = len(data)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                else:
                    buf += _pack_h(n)
                buf += data
        data = self.client_id.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        data = self.client_host.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        if version >= 1:
            buf += _pack_i(self.rebalance_timeout)
        buf += _pack_i(self.session_timeout)
        n = len(self.subscription)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        buf += self.subscription
        n = len(self.assignment)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        buf += self.assignment
        if flexible:
            buf.append(0)


def _read_MemberMetadata(buf: memoryview, pos: int, end: int, version: int) -> tuple[MemberMetadata, int]:
    flexible = version >= 4
    self = MemberMetadata.__new__(MemberMetadata)
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
        raise null_read("MemberMetadata.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("MemberMetadata.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
    if version >= 3:
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
            self.group_instance_id = None
        else:
            stop = pos + n
            if stop > end:
                raise length_read("MemberMetadata.group_instance_id", n, end - pos)
            self.group_instance_id = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.group_instance_id = None
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
        raise null_read("MemberMetadata.client_id")
    stop = pos + n
    if stop > end:
        raise length_read("MemberMetadata.client_id", n, end - pos)
    self.client_id = str(buf[pos:stop], "utf-8")
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
        raise null_read("MemberMetadata.client_host")
    stop = pos + n
    if stop > end:
        raise length_read("MemberMetadata.client_host", n, end - pos)
    self.client_host = str(buf[pos:stop], "utf-8")
    pos = stop
    if version >= 1:
        (self.rebalance_timeout,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.rebalance_timeout = -1
    (self.session_timeout,) = _unpack_i(buf, pos)
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
        raise null_read("MemberMetadata.subscription")
    stop = pos + n
    if stop > end:
        raise length_read("MemberMetadata.subscription", n, end - pos)
    self.subscription = bytes(buf[pos:stop])
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
        raise null_read("MemberMetadata.assignment")
    stop = pos + n
    if stop > end:
        raise length_read("MemberMetadata.assignment", n, end - pos)
    self.assignment = bytes(buf[pos:stop])
    pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class GroupMetadataValue:
    """Versions 0 to 4, flexible from 4."""

    __slots__ = ("protocol_type", "generation", "protocol", "leader", "current_state_timestamp", "members")

    RECORD_TYPE: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    current_state_timestamp: int
    members: list[MemberMetadata]

    def __init__(
        self,
        *,
        protocol_type: str = "",
        generation: int = 0,
        protocol: str | None = "",
        leader: str | None = "",
        current_state_timestamp: int = -1,
        members: list[MemberMetadata] = _EMPTY,
    ) -> None:
        self.protocol_type = protocol_type
        self.generation = generation
        self.protocol = protocol
        self.leader = leader
        self.current_state_timestamp = current_state_timestamp
        self.members = [] if members is _EMPTY else members

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupMetadataValue):
            return NotImplemented
        return (
            self.protocol_type == other.protocol_type
            and self.generation == other.generation
            and self.protocol == other.protocol
            and self.leader == other.leader
            and self.current_state_timestamp == other.current_state_timestamp
            and self.members == other.members
        )

    def __repr__(self) -> str:
        return f"GroupMetadataValue(protocol_type={self.protocol_type!r}, generation={self.generation!r}, protocol={self.protocol!r}, leader={self.leader!r}, current_state_timestamp={self.current_state_timestamp!r}, members={self.members!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 4:
            raise encode_failed("GroupMetadataValue", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 4
            data = self.protocol_type.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
            buf += _pack_i(self.generation)
            v_protocol = self.protocol
            if v_protocol is None:
                if flexible:
                    buf.append(0)
                else:
                    buf += b"\xff\xff"
            else:
                data = v_protocol.encode()
                n = len(data)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                else:
                    buf += _pack_h(n)
                buf += data
            v_leader = self.leader
            if v_leader is None:
                if flexible:
                    buf.append(0)
                else:
                    buf += b"\xff\xff"
            else:
                data = v_leader.encode()
                n = len(data)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                else:
                    buf += _pack_h(n)
                buf += data
            if version >= 2:
                buf += _pack_q(self.current_state_timestamp)
            n = len(self.members)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_members in self.members:
                i_members.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("GroupMetadataValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[GroupMetadataValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 4:
            raise decode_failed("GroupMetadataValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("GroupMetadataValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_GroupMetadataValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("GroupMetadataValue", version, error) from error
        if pos > end:
            raise decode_failed("GroupMetadataValue", version, "truncated")
        return message, pos


def _read_GroupMetadataValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[GroupMetadataValue, int]:
    flexible = version >= 4
    self = GroupMetadataValue.__new__(GroupMetadataValue)
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
        raise null_read("GroupMetadataValue.protocol_type")
    stop = pos + n
    if stop > end:
        raise length_read("GroupMetadataValue.protocol_type", n, end - pos)
    self.protocol_type = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.generation,) = _unpack_i(buf, pos)
    pos += 4
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
        self.protocol = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("GroupMetadataValue.protocol", n, end - pos)
        self.protocol = str(buf[pos:stop], "utf-8")
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
        self.leader = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("GroupMetadataValue.leader", n, end - pos)
        self.leader = str(buf[pos:stop], "utf-8")
        pos = stop
    if version >= 2:
        (self.current_state_timestamp,) = _unpack_q(buf, pos)
        pos += 8
    else:
        self.current_state_timestamp = -1
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
        raise null_read("GroupMetadataValue.members")
    if n * 15 > end - pos:
        raise length_read("GroupMetadataValue.members", n, end - pos)
    l_members: list[MemberMetadata] = []
    for _ in range(n):
        i_members, pos = _read_MemberMetadata(buf, pos, end, version)
        l_members.append(i_members)
    self.members = l_members
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ConsumerGroupMetadataKey:
    """Version 0."""

    __slots__ = ("group_id",)

    RECORD_TYPE: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id = group_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerGroupMetadataKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
        )

    def __repr__(self) -> str:
        return f"ConsumerGroupMetadataKey(group_id={self.group_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ConsumerGroupMetadataKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("ConsumerGroupMetadataKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ConsumerGroupMetadataKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ConsumerGroupMetadataKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ConsumerGroupMetadataKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ConsumerGroupMetadataKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ConsumerGroupMetadataKey", version, error) from error
        if pos > end:
            raise decode_failed("ConsumerGroupMetadataKey", version, "truncated")
        return message, pos


def _read_ConsumerGroupMetadataKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerGroupMetadataKey, int]:
    self = ConsumerGroupMetadataKey.__new__(ConsumerGroupMetadataKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ConsumerGroupMetadataKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("ConsumerGroupMetadataKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class ConsumerGroupMetadataValue:
    """Version 0."""

    __slots__ = ("epoch", "metadata_hash")

    RECORD_TYPE: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    epoch: int
    metadata_hash: int

    def __init__(
        self,
        *,
        epoch: int = 0,
        metadata_hash: int = 0,
    ) -> None:
        self.epoch = epoch
        self.metadata_hash = metadata_hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerGroupMetadataValue):
            return NotImplemented
        return (
            self.epoch == other.epoch
            and self.metadata_hash == other.metadata_hash
        )

    def __repr__(self) -> str:
        return f"ConsumerGroupMetadataValue(epoch={self.epoch!r}, metadata_hash={self.metadata_hash!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ConsumerGroupMetadataValue", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_i(self.epoch)
            count = 0
            if self.metadata_hash != 0:
                count += 1
            buf.append(count)
            if count:
                if self.metadata_hash != 0:
                    buf += b"\x00\x08"
                    buf += _pack_q(self.metadata_hash)
        except ENCODE_FAILURES as error:
            raise encode_failed("ConsumerGroupMetadataValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ConsumerGroupMetadataValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ConsumerGroupMetadataValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ConsumerGroupMetadataValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ConsumerGroupMetadataValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ConsumerGroupMetadataValue", version, error) from error
        if pos > end:
            raise decode_failed("ConsumerGroupMetadataValue", version, "truncated")
        return message, pos


def _read_ConsumerGroupMetadataValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerGroupMetadataValue, int]:
    self = ConsumerGroupMetadataValue.__new__(ConsumerGroupMetadataValue)
    (self.epoch,) = _unpack_i(buf, pos)
    pos += 4
    self.metadata_hash = 0
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("ConsumerGroupMetadataValue tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("ConsumerGroupMetadataValue tag", size, end - pos)
            if tag == 0:
                (self.metadata_hash,) = _unpack_q(buf, pos)
                pos += 8
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"ConsumerGroupMetadataValue: tag {tag} does not fill its {size} bytes")
    return self, pos


class ConsumerGroupPartitionMetadataKey:
    """Version 0."""

    __slots__ = ("group_id",)

    RECORD_TYPE: ClassVar[int] = 4
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id = group_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerGroupPartitionMetadataKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
        )

    def __repr__(self) -> str:
        return f"ConsumerGroupPartitionMetadataKey(group_id={self.group_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ConsumerGroupPartitionMetadataKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("ConsumerGroupPartitionMetadataKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ConsumerGroupPartitionMetadataKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ConsumerGroupPartitionMetadataKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ConsumerGroupPartitionMetadataKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ConsumerGroupPartitionMetadataKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ConsumerGroupPartitionMetadataKey", version, error) from error
        if pos > end:
            raise decode_failed("ConsumerGroupPartitionMetadataKey", version, "truncated")
        return message, pos


def _read_ConsumerGroupPartitionMetadataKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerGroupPartitionMetadataKey, int]:
    self = ConsumerGroupPartitionMetadataKey.__new__(ConsumerGroupPartitionMetadataKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ConsumerGroupPartitionMetadataKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("ConsumerGroupPartitionMetadataKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class PartitionMetadata:
    """Part of ConsumerGroupPartitionMetadataValue."""

    __slots__ = ("partition", "racks")

    partition: int
    racks: list[str]

    def __init__(
        self,
        *,
        partition: int = 0,
        racks: list[str] = _EMPTY,
    ) -> None:
        self.partition = partition
        self.racks = [] if racks is _EMPTY else racks

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionMetadata):
            return NotImplemented
        return (
            self.partition == other.partition
            and self.racks == other.racks
        )

    def __repr__(self) -> str:
        return f"PartitionMetadata(partition={self.partition!r}, racks={self.racks!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_i(self.partition)
        n = len(self.racks)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_racks in self.racks:
            data = i_racks.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
        buf.append(0)


def _read_PartitionMetadata(buf: memoryview, pos: int, end: int, version: int) -> tuple[PartitionMetadata, int]:
    self = PartitionMetadata.__new__(PartitionMetadata)
    (self.partition,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("PartitionMetadata.racks")
    if n > end - pos:
        raise length_read("PartitionMetadata.racks", n, end - pos)
    l_racks: list[str] = []
    for _ in range(n):
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("PartitionMetadata.racks")
        stop = pos + n
        if stop > end:
            raise length_read("PartitionMetadata.racks", n, end - pos)
        l_racks.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.racks = l_racks
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class TopicMetadata:
    """Part of ConsumerGroupPartitionMetadataValue."""

    __slots__ = ("topic_id", "topic_name", "num_partitions", "partition_metadata")

    topic_id: bytes
    topic_name: str
    num_partitions: int
    partition_metadata: list[PartitionMetadata]

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        num_partitions: int = 0,
        partition_metadata: list[PartitionMetadata] = _EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.num_partitions = num_partitions
        self.partition_metadata = [] if partition_metadata is _EMPTY else partition_metadata

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TopicMetadata):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.topic_name == other.topic_name
            and self.num_partitions == other.num_partitions
            and self.partition_metadata == other.partition_metadata
        )

    def __repr__(self) -> str:
        return f"TopicMetadata(topic_id={self.topic_id!r}, topic_name={self.topic_name!r}, num_partitions={self.num_partitions!r}, partition_metadata={self.partition_metadata!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("TopicMetadata.topic_id")
        buf += _pack_u(self.topic_id)
        data = self.topic_name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_i(self.num_partitions)
        n = len(self.partition_metadata)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_partition_metadata in self.partition_metadata:
            i_partition_metadata.encode(out, version)
        buf.append(0)


def _read_TopicMetadata(buf: memoryview, pos: int, end: int, version: int) -> tuple[TopicMetadata, int]:
    self = TopicMetadata.__new__(TopicMetadata)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicMetadata.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("TopicMetadata.topic_name", n, end - pos)
    self.topic_name = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.num_partitions,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicMetadata.partition_metadata")
    if n * 6 > end - pos:
        raise length_read("TopicMetadata.partition_metadata", n, end - pos)
    l_partition_metadata: list[PartitionMetadata] = []
    for _ in range(n):
        i_partition_metadata, pos = _read_PartitionMetadata(buf, pos, end, version)
        l_partition_metadata.append(i_partition_metadata)
    self.partition_metadata = l_partition_metadata
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ConsumerGroupPartitionMetadataValue:
    """Version 0."""

    __slots__ = ("topics",)

    RECORD_TYPE: ClassVar[int] = 4
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    topics: list[TopicMetadata]

    def __init__(
        self,
        *,
        topics: list[TopicMetadata] = _EMPTY,
    ) -> None:
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerGroupPartitionMetadataValue):
            return NotImplemented
        return (
            self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"ConsumerGroupPartitionMetadataValue(topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ConsumerGroupPartitionMetadataValue", version, "no such version")
        try:
            buf = out.buf
            n = len(self.topics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_topics in self.topics:
                i_topics.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ConsumerGroupPartitionMetadataValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ConsumerGroupPartitionMetadataValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ConsumerGroupPartitionMetadataValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ConsumerGroupPartitionMetadataValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ConsumerGroupPartitionMetadataValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ConsumerGroupPartitionMetadataValue", version, error) from error
        if pos > end:
            raise decode_failed("ConsumerGroupPartitionMetadataValue", version, "truncated")
        return message, pos


def _read_ConsumerGroupPartitionMetadataValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerGroupPartitionMetadataValue, int]:
    self = ConsumerGroupPartitionMetadataValue.__new__(ConsumerGroupPartitionMetadataValue)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ConsumerGroupPartitionMetadataValue.topics")
    if n * 23 > end - pos:
        raise length_read("ConsumerGroupPartitionMetadataValue.topics", n, end - pos)
    l_topics: list[TopicMetadata] = []
    for _ in range(n):
        i_topics, pos = _read_TopicMetadata(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ConsumerGroupMemberMetadataKey:
    """Version 0."""

    __slots__ = ("group_id", "member_id")

    RECORD_TYPE: ClassVar[int] = 5
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str
    member_id: str

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerGroupMemberMetadataKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.member_id == other.member_id
        )

    def __repr__(self) -> str:
        return f"ConsumerGroupMemberMetadataKey(group_id={self.group_id!r}, member_id={self.member_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ConsumerGroupMemberMetadataKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
            data = self.member_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("ConsumerGroupMemberMetadataKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ConsumerGroupMemberMetadataKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ConsumerGroupMemberMetadataKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ConsumerGroupMemberMetadataKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ConsumerGroupMemberMetadataKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ConsumerGroupMemberMetadataKey", version, error) from error
        if pos > end:
            raise decode_failed("ConsumerGroupMemberMetadataKey", version, "truncated")
        return message, pos


def _read_ConsumerGroupMemberMetadataKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerGroupMemberMetadataKey, int]:
    self = ConsumerGroupMemberMetadataKey.__new__(ConsumerGroupMemberMetadataKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ConsumerGroupMemberMetadataKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("ConsumerGroupMemberMetadataKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ConsumerGroupMemberMetadataKey.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("ConsumerGroupMemberMetadataKey.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class ClassicProtocol:
    """Part of ConsumerGroupMemberMetadataValue."""

    __slots__ = ("name", "metadata")

    name: str
    metadata: bytes

    def __init__(
        self,
        *,
        name: str = "",
        metadata: bytes = b"",
    ) -> None:
        self.name = name
        self.metadata = metadata

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClassicProtocol):
            return NotImplemented
        return (
            self.name == other.name
            and self.metadata == other.metadata
        )

    def __repr__(self) -> str:
        return f"ClassicProtocol(name={self.name!r}, metadata={self.metadata!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        n = len(self.metadata)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        buf += self.metadata
        buf.append(0)


def _read_ClassicProtocol(buf: memoryview, pos: int, end: int, version: int) -> tuple[ClassicProtocol, int]:
    self = ClassicProtocol.__new__(ClassicProtocol)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ClassicProtocol.name")
    stop = pos + n
    if stop > end:
        raise length_read("ClassicProtocol.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ClassicProtocol.metadata")
    stop = pos + n
    if stop > end:
        raise length_read("ClassicProtocol.metadata", n, end - pos)
    self.metadata = bytes(buf[pos:stop])
    pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ClassicMemberMetadata:
    """Part of ConsumerGroupMemberMetadataValue."""

    __slots__ = ("session_timeout_ms", "supported_protocols")

    session_timeout_ms: int
    supported_protocols: list[ClassicProtocol]

    def __init__(
        self,
        *,
        session_timeout_ms: int = 0,
        supported_protocols: list[ClassicProtocol] = _EMPTY,
    ) -> None:
        self.session_timeout_ms = session_timeout_ms
        self.supported_protocols = [] if supported_protocols is _EMPTY else supported_protocols

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClassicMemberMetadata):
            return NotImplemented
        return (
            self.session_timeout_ms == other.session_timeout_ms
            and self.supported_protocols == other.supported_protocols
        )

    def __repr__(self) -> str:
        return f"ClassicMemberMetadata(session_timeout_ms={self.session_timeout_ms!r}, supported_protocols={self.supported_protocols!r})"

    def _is_default(self) -> bool:
        return not ((self.session_timeout_ms != 0) or (self.supported_protocols))

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_i(self.session_timeout_ms)
        n = len(self.supported_protocols)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_supported_protocols in self.supported_protocols:
            i_supported_protocols.encode(out, version)
        buf.append(0)


def _read_ClassicMemberMetadata(buf: memoryview, pos: int, end: int, version: int) -> tuple[ClassicMemberMetadata, int]:
    self = ClassicMemberMetadata.__new__(ClassicMemberMetadata)
    (self.session_timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ClassicMemberMetadata.supported_protocols")
    if n * 3 > end - pos:
        raise length_read("ClassicMemberMetadata.supported_protocols", n, end - pos)
    l_supported_protocols: list[ClassicProtocol] = []
    for _ in range(n):
        i_supported_protocols, pos = _read_ClassicProtocol(buf, pos, end, version)
        l_supported_protocols.append(i_supported_protocols)
    self.supported_protocols = l_supported_protocols
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ConsumerGroupMemberMetadataValue:
    """Version 0."""

    __slots__ = ("instance_id", "rack_id", "client_id", "client_host", "subscribed_topic_names", "subscribed_topic_regex", "rebalance_timeout_ms", "server_assignor", "classic_member_metadata")

    RECORD_TYPE: ClassVar[int] = 5
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str | None
    rebalance_timeout_ms: int
    server_assignor: str | None
    classic_member_metadata: ClassicMemberMetadata | None

    def __init__(
        self,
        *,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = _EMPTY,
        subscribed_topic_regex: str | None = "",
        rebalance_timeout_ms: int = -1,
        server_assignor: str | None = "",
        classic_member_metadata: Any = ...,
    ) -> None:
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = [] if subscribed_topic_names is _EMPTY else subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.server_assignor = server_assignor
        self.classic_member_metadata = ClassicMemberMetadata() if classic_member_metadata is ... else classic_member_metadata

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerGroupMemberMetadataValue):
            return NotImplemented
        return (
            self.instance_id == other.instance_id
            and self.rack_id == other.rack_id
            and self.client_id == other.client_id
            and self.client_host == other.client_host
            and self.subscribed_topic_names == other.subscribed_topic_names
            and self.subscribed_topic_regex == other.subscribed_topic_regex
            and self.rebalance_timeout_ms == other.rebalance_timeout_ms
            and self.server_assignor == other.server_assignor
            and self.classic_member_metadata == other.classic_member_metadata
        )

    def __repr__(self) -> str:
        return f"ConsumerGroupMemberMetadataValue(instance_id={self.instance_id!r}, rack_id={self.rack_id!r}, client_id={self.client_id!r}, client_host={self.client_host!r}, subscribed_topic_names={self.subscribed_topic_names!r}, subscribed_topic_regex={self.subscribed_topic_regex!r}, rebalance_timeout_ms={self.rebalance_timeout_ms!r}, server_assignor={self.server_assignor!r}, classic_member_metadata={self.classic_member_metadata!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ConsumerGroupMemberMetadataValue", version, "no such version")
        try:
            buf = out.buf
            v_instance_id = self.instance_id
            if v_instance_id is None:
                buf.append(0)
            else:
                data = v_instance_id.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            v_rack_id = self.rack_id
            if v_rack_id is None:
                buf.append(0)
            else:
                data = v_rack_id.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            data = self.client_id.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            data = self.client_host.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            n = len(self.subscribed_topic_names)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_subscribed_topic_names in self.subscribed_topic_names:
                data = i_subscribed_topic_names.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            v_subscribed_topic_regex = self.subscribed_topic_regex
            if v_subscribed_topic_regex is None:
                buf.append(0)
            else:
                data = v_subscribed_topic_regex.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            buf += _pack_i(self.rebalance_timeout_ms)
            v_server_assignor = self.server_assignor
            if v_server_assignor is None:
                buf.append(0)
            else:
                data = v_server_assignor.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            count = 0
            if self.classic_member_metadata is None or not self.classic_member_metadata._is_default():
                count += 1
            buf.append(count)
            if count:
                if self.classic_member_metadata is None or not self.classic_member_metadata._is_default():
                    sub = Encoder()
                    sub_buf = sub.buf
                    v_classic_member_metadata = self.classic_member_metadata
                    if v_classic_member_metadata is None:
                        sub_buf.append(0)
                    else:
                        sub_buf.append(1)
                        v_classic_member_metadata.encode(sub, version)
                    buf.append(0)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
        except ENCODE_FAILURES as error:
            raise encode_failed("ConsumerGroupMemberMetadataValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ConsumerGroupMemberMetadataValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ConsumerGroupMemberMetadataValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ConsumerGroupMemberMetadataValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ConsumerGroupMemberMetadataValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ConsumerGroupMemberMetadataValue", version, error) from error
        if pos > end:
            raise decode_failed("ConsumerGroupMemberMetadataValue", version, "truncated")
        return message, pos


def _read_ConsumerGroupMemberMetadataValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerGroupMemberMetadataValue, int]:
    self = ConsumerGroupMemberMetadataValue.__new__(ConsumerGroupMemberMetadataValue)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.instance_id = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("ConsumerGroupMemberMetadataValue.instance_id", n, end - pos)
        self.instance_id = str(buf[pos:stop], "utf-8")
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.rack_id = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("ConsumerGroupMemberMetadataValue.rack_id", n, end - pos)
        self.rack_id = str(buf[pos:stop], "utf-8")
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ConsumerGroupMemberMetadataValue.client_id")
    stop = pos + n
    if stop > end:
        raise length_read("ConsumerGroupMemberMetadataValue.client_id", n, end - pos)
    self.client_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ConsumerGroupMemberMetadataValue.client_host")
    stop = pos + n
    if stop > end:
        raise length_read("ConsumerGroupMemberMetadataValue.client_host", n, end - pos)
    self.client_host = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ConsumerGroupMemberMetadataValue.subscribed_topic_names")
    if n > end - pos:
        raise length_read("ConsumerGroupMemberMetadataValue.subscribed_topic_names", n, end - pos)
    l_subscribed_topic_names: list[str] = []
    for _ in range(n):
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("ConsumerGroupMemberMetadataValue.subscribed_topic_names")
        stop = pos + n
        if stop > end:
            raise length_read("ConsumerGroupMemberMetadataValue.subscribed_topic_names", n, end - pos)
        l_subscribed_topic_names.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.subscribed_topic_names = l_subscribed_topic_names
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.subscribed_topic_regex = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("ConsumerGroupMemberMetadataValue.subscribed_topic_regex", n, end - pos)
        self.subscribed_topic_regex = str(buf[pos:stop], "utf-8")
        pos = stop
    (self.rebalance_timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.server_assignor = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("ConsumerGroupMemberMetadataValue.server_assignor", n, end - pos)
        self.server_assignor = str(buf[pos:stop], "utf-8")
        pos = stop
    self.classic_member_metadata = ClassicMemberMetadata()
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("ConsumerGroupMemberMetadataValue tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("ConsumerGroupMemberMetadataValue tag", size, end - pos)
            if tag == 0:
                if buf[pos] == 0:
                    pos += 1
                    self.classic_member_metadata = None
                else:
                    self.classic_member_metadata, pos = _read_ClassicMemberMetadata(buf, pos + 1, end, version)
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"ConsumerGroupMemberMetadataValue: tag {tag} does not fill its {size} bytes")
    return self, pos


class ConsumerGroupTargetAssignmentMetadataKey:
    """Version 0."""

    __slots__ = ("group_id",)

    RECORD_TYPE: ClassVar[int] = 6
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id = group_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerGroupTargetAssignmentMetadataKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
        )

    def __repr__(self) -> str:
        return f"ConsumerGroupTargetAssignmentMetadataKey(group_id={self.group_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ConsumerGroupTargetAssignmentMetadataKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("ConsumerGroupTargetAssignmentMetadataKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ConsumerGroupTargetAssignmentMetadataKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ConsumerGroupTargetAssignmentMetadataKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ConsumerGroupTargetAssignmentMetadataKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ConsumerGroupTargetAssignmentMetadataKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ConsumerGroupTargetAssignmentMetadataKey", version, error) from error
        if pos > end:
            raise decode_failed("ConsumerGroupTargetAssignmentMetadataKey", version, "truncated")
        return message, pos


def _read_ConsumerGroupTargetAssignmentMetadataKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerGroupTargetAssignmentMetadataKey, int]:
    self = ConsumerGroupTargetAssignmentMetadataKey.__new__(ConsumerGroupTargetAssignmentMetadataKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ConsumerGroupTargetAssignmentMetadataKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("ConsumerGroupTargetAssignmentMetadataKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class ConsumerGroupTargetAssignmentMetadataValue:
    """Version 0."""

    __slots__ = ("assignment_epoch",)

    RECORD_TYPE: ClassVar[int] = 6
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    assignment_epoch: int

    def __init__(
        self,
        *,
        assignment_epoch: int = 0,
    ) -> None:
        self.assignment_epoch = assignment_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerGroupTargetAssignmentMetadataValue):
            return NotImplemented
        return (
            self.assignment_epoch == other.assignment_epoch
        )

    def __repr__(self) -> str:
        return f"ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch={self.assignment_epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ConsumerGroupTargetAssignmentMetadataValue", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_i(self.assignment_epoch)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ConsumerGroupTargetAssignmentMetadataValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ConsumerGroupTargetAssignmentMetadataValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ConsumerGroupTargetAssignmentMetadataValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ConsumerGroupTargetAssignmentMetadataValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ConsumerGroupTargetAssignmentMetadataValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ConsumerGroupTargetAssignmentMetadataValue", version, error) from error
        if pos > end:
            raise decode_failed("ConsumerGroupTargetAssignmentMetadataValue", version, "truncated")
        return message, pos


def _read_ConsumerGroupTargetAssignmentMetadataValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerGroupTargetAssignmentMetadataValue, int]:
    self = ConsumerGroupTargetAssignmentMetadataValue.__new__(ConsumerGroupTargetAssignmentMetadataValue)
    (self.assignment_epoch,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ConsumerGroupTargetAssignmentMemberKey:
    """Version 0."""

    __slots__ = ("group_id", "member_id")

    RECORD_TYPE: ClassVar[int] = 7
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str
    member_id: str

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerGroupTargetAssignmentMemberKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.member_id == other.member_id
        )

    def __repr__(self) -> str:
        return f"ConsumerGroupTargetAssignmentMemberKey(group_id={self.group_id!r}, member_id={self.member_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ConsumerGroupTargetAssignmentMemberKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
            data = self.member_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("ConsumerGroupTargetAssignmentMemberKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ConsumerGroupTargetAssignmentMemberKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ConsumerGroupTargetAssignmentMemberKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ConsumerGroupTargetAssignmentMemberKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ConsumerGroupTargetAssignmentMemberKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ConsumerGroupTargetAssignmentMemberKey", version, error) from error
        if pos > end:
            raise decode_failed("ConsumerGroupTargetAssignmentMemberKey", version, "truncated")
        return message, pos


def _read_ConsumerGroupTargetAssignmentMemberKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerGroupTargetAssignmentMemberKey, int]:
    self = ConsumerGroupTargetAssignmentMemberKey.__new__(ConsumerGroupTargetAssignmentMemberKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ConsumerGroupTargetAssignmentMemberKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("ConsumerGroupTargetAssignmentMemberKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ConsumerGroupTargetAssignmentMemberKey.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("ConsumerGroupTargetAssignmentMemberKey.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class ConsumerGroupTargetAssignmentMemberValueTopicPartition:
    """Part of ConsumerGroupTargetAssignmentMemberValue."""

    __slots__ = ("topic_id", "partitions")

    topic_id: bytes
    partitions: list[int]

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = _EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerGroupTargetAssignmentMemberValueTopicPartition):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"ConsumerGroupTargetAssignmentMemberValueTopicPartition(topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("ConsumerGroupTargetAssignmentMemberValueTopicPartition.topic_id")
        buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.partitions)
        else:
            buf += _pack_n(f">{n}i", *self.partitions)
        buf.append(0)


def _read_ConsumerGroupTargetAssignmentMemberValueTopicPartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerGroupTargetAssignmentMemberValueTopicPartition, int]:
    self = ConsumerGroupTargetAssignmentMemberValueTopicPartition.__new__(ConsumerGroupTargetAssignmentMemberValueTopicPartition)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ConsumerGroupTargetAssignmentMemberValueTopicPartition.partitions")
    if n * 4 > end - pos:
        raise length_read("ConsumerGroupTargetAssignmentMemberValueTopicPartition.partitions", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.partitions = list(INT32_UNPACK[n](buf, pos))
    else:
        self.partitions = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ConsumerGroupTargetAssignmentMemberValue:
    """Version 0."""

    __slots__ = ("topic_partitions",)

    RECORD_TYPE: ClassVar[int] = 7
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    topic_partitions: list[ConsumerGroupTargetAssignmentMemberValueTopicPartition]

    def __init__(
        self,
        *,
        topic_partitions: list[ConsumerGroupTargetAssignmentMemberValueTopicPartition] = _EMPTY,
    ) -> None:
        self.topic_partitions = [] if topic_partitions is _EMPTY else topic_partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerGroupTargetAssignmentMemberValue):
            return NotImplemented
        return (
            self.topic_partitions == other.topic_partitions
        )

    def __repr__(self) -> str:
        return f"ConsumerGroupTargetAssignmentMemberValue(topic_partitions={self.topic_partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ConsumerGroupTargetAssignmentMemberValue", version, "no such version")
        try:
            buf = out.buf
            n = len(self.topic_partitions)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_topic_partitions in self.topic_partitions:
                i_topic_partitions.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ConsumerGroupTargetAssignmentMemberValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ConsumerGroupTargetAssignmentMemberValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ConsumerGroupTargetAssignmentMemberValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ConsumerGroupTargetAssignmentMemberValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ConsumerGroupTargetAssignmentMemberValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ConsumerGroupTargetAssignmentMemberValue", version, error) from error
        if pos > end:
            raise decode_failed("ConsumerGroupTargetAssignmentMemberValue", version, "truncated")
        return message, pos


def _read_ConsumerGroupTargetAssignmentMemberValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerGroupTargetAssignmentMemberValue, int]:
    self = ConsumerGroupTargetAssignmentMemberValue.__new__(ConsumerGroupTargetAssignmentMemberValue)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ConsumerGroupTargetAssignmentMemberValue.topic_partitions")
    if n * 18 > end - pos:
        raise length_read("ConsumerGroupTargetAssignmentMemberValue.topic_partitions", n, end - pos)
    l_topic_partitions: list[ConsumerGroupTargetAssignmentMemberValueTopicPartition] = []
    for _ in range(n):
        i_topic_partitions, pos = _read_ConsumerGroupTargetAssignmentMemberValueTopicPartition(buf, pos, end, version)
        l_topic_partitions.append(i_topic_partitions)
    self.topic_partitions = l_topic_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ConsumerGroupCurrentMemberAssignmentKey:
    """Version 0."""

    __slots__ = ("group_id", "member_id")

    RECORD_TYPE: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str
    member_id: str

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerGroupCurrentMemberAssignmentKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.member_id == other.member_id
        )

    def __repr__(self) -> str:
        return f"ConsumerGroupCurrentMemberAssignmentKey(group_id={self.group_id!r}, member_id={self.member_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ConsumerGroupCurrentMemberAssignmentKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
            data = self.member_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("ConsumerGroupCurrentMemberAssignmentKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ConsumerGroupCurrentMemberAssignmentKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ConsumerGroupCurrentMemberAssignmentKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ConsumerGroupCurrentMemberAssignmentKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ConsumerGroupCurrentMemberAssignmentKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ConsumerGroupCurrentMemberAssignmentKey", version, error) from error
        if pos > end:
            raise decode_failed("ConsumerGroupCurrentMemberAssignmentKey", version, "truncated")
        return message, pos


def _read_ConsumerGroupCurrentMemberAssignmentKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerGroupCurrentMemberAssignmentKey, int]:
    self = ConsumerGroupCurrentMemberAssignmentKey.__new__(ConsumerGroupCurrentMemberAssignmentKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ConsumerGroupCurrentMemberAssignmentKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("ConsumerGroupCurrentMemberAssignmentKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ConsumerGroupCurrentMemberAssignmentKey.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("ConsumerGroupCurrentMemberAssignmentKey.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class ConsumerGroupCurrentMemberAssignmentValueTopicPartitions:
    """Part of ConsumerGroupCurrentMemberAssignmentValue."""

    __slots__ = ("topic_id", "partitions")

    topic_id: bytes
    partitions: list[int]

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = _EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerGroupCurrentMemberAssignmentValueTopicPartitions):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"ConsumerGroupCurrentMemberAssignmentValueTopicPartitions(topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("ConsumerGroupCurrentMemberAssignmentValueTopicPartitions.topic_id")
        buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.partitions)
        else:
            buf += _pack_n(f">{n}i", *self.partitions)
        buf.append(0)


def _read_ConsumerGroupCurrentMemberAssignmentValueTopicPartitions(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerGroupCurrentMemberAssignmentValueTopicPartitions, int]:
    self = ConsumerGroupCurrentMemberAssignmentValueTopicPartitions.__new__(ConsumerGroupCurrentMemberAssignmentValueTopicPartitions)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ConsumerGroupCurrentMemberAssignmentValueTopicPartitions.partitions")
    if n * 4 > end - pos:
        raise length_read("ConsumerGroupCurrentMemberAssignmentValueTopicPartitions.partitions", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.partitions = list(INT32_UNPACK[n](buf, pos))
    else:
        self.partitions = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ConsumerGroupCurrentMemberAssignmentValue:
    """Version 0."""

    __slots__ = ("member_epoch", "previous_member_epoch", "state", "assigned_partitions", "partitions_pending_revocation")

    RECORD_TYPE: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    member_epoch: int
    previous_member_epoch: int
    state: int
    assigned_partitions: list[ConsumerGroupCurrentMemberAssignmentValueTopicPartitions]
    partitions_pending_revocation: list[ConsumerGroupCurrentMemberAssignmentValueTopicPartitions]

    def __init__(
        self,
        *,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        assigned_partitions: list[ConsumerGroupCurrentMemberAssignmentValueTopicPartitions] = _EMPTY,
        partitions_pending_revocation: list[ConsumerGroupCurrentMemberAssignmentValueTopicPartitions] = _EMPTY,
    ) -> None:
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch
        self.state = state
        self.assigned_partitions = [] if assigned_partitions is _EMPTY else assigned_partitions
        self.partitions_pending_revocation = [] if partitions_pending_revocation is _EMPTY else partitions_pending_revocation

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerGroupCurrentMemberAssignmentValue):
            return NotImplemented
        return (
            self.member_epoch == other.member_epoch
            and self.previous_member_epoch == other.previous_member_epoch
            and self.state == other.state
            and self.assigned_partitions == other.assigned_partitions
            and self.partitions_pending_revocation == other.partitions_pending_revocation
        )

    def __repr__(self) -> str:
        return f"ConsumerGroupCurrentMemberAssignmentValue(member_epoch={self.member_epoch!r}, previous_member_epoch={self.previous_member_epoch!r}, state={self.state!r}, assigned_partitions={self.assigned_partitions!r}, partitions_pending_revocation={self.partitions_pending_revocation!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ConsumerGroupCurrentMemberAssignmentValue", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_2ib(self.member_epoch, self.previous_member_epoch, self.state)
            n = len(self.assigned_partitions)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_assigned_partitions in self.assigned_partitions:
                i_assigned_partitions.encode(out, version)
            n = len(self.partitions_pending_revocation)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_partitions_pending_revocation in self.partitions_pending_revocation:
                i_partitions_pending_revocation.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ConsumerGroupCurrentMemberAssignmentValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ConsumerGroupCurrentMemberAssignmentValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ConsumerGroupCurrentMemberAssignmentValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ConsumerGroupCurrentMemberAssignmentValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ConsumerGroupCurrentMemberAssignmentValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ConsumerGroupCurrentMemberAssignmentValue", version, error) from error
        if pos > end:
            raise decode_failed("ConsumerGroupCurrentMemberAssignmentValue", version, "truncated")
        return message, pos


def _read_ConsumerGroupCurrentMemberAssignmentValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerGroupCurrentMemberAssignmentValue, int]:
    self = ConsumerGroupCurrentMemberAssignmentValue.__new__(ConsumerGroupCurrentMemberAssignmentValue)
    self.member_epoch, self.previous_member_epoch, self.state = _unpack_2ib(buf, pos)
    pos += 9
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ConsumerGroupCurrentMemberAssignmentValue.assigned_partitions")
    if n * 18 > end - pos:
        raise length_read("ConsumerGroupCurrentMemberAssignmentValue.assigned_partitions", n, end - pos)
    l_assigned_partitions: list[ConsumerGroupCurrentMemberAssignmentValueTopicPartitions] = []
    for _ in range(n):
        i_assigned_partitions, pos = _read_ConsumerGroupCurrentMemberAssignmentValueTopicPartitions(buf, pos, end, version)
        l_assigned_partitions.append(i_assigned_partitions)
    self.assigned_partitions = l_assigned_partitions
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ConsumerGroupCurrentMemberAssignmentValue.partitions_pending_revocation")
    if n * 18 > end - pos:
        raise length_read("ConsumerGroupCurrentMemberAssignmentValue.partitions_pending_revocation", n, end - pos)
    l_partitions_pending_revocation: list[ConsumerGroupCurrentMemberAssignmentValueTopicPartitions] = []
    for _ in range(n):
        i_partitions_pending_revocation, pos = _read_ConsumerGroupCurrentMemberAssignmentValueTopicPartitions(buf, pos, end, version)
        l_partitions_pending_revocation.append(i_partitions_pending_revocation)
    self.partitions_pending_revocation = l_partitions_pending_revocation
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ShareGroupMemberMetadataKey:
    """Version 0."""

    __slots__ = ("group_id", "member_id")

    RECORD_TYPE: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str
    member_id: str

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareGroupMemberMetadataKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.member_id == other.member_id
        )

    def __repr__(self) -> str:
        return f"ShareGroupMemberMetadataKey(group_id={self.group_id!r}, member_id={self.member_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ShareGroupMemberMetadataKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
            data = self.member_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareGroupMemberMetadataKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareGroupMemberMetadataKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ShareGroupMemberMetadataKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareGroupMemberMetadataKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareGroupMemberMetadataKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareGroupMemberMetadataKey", version, error) from error
        if pos > end:
            raise decode_failed("ShareGroupMemberMetadataKey", version, "truncated")
        return message, pos


def _read_ShareGroupMemberMetadataKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareGroupMemberMetadataKey, int]:
    self = ShareGroupMemberMetadataKey.__new__(ShareGroupMemberMetadataKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ShareGroupMemberMetadataKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("ShareGroupMemberMetadataKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ShareGroupMemberMetadataKey.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("ShareGroupMemberMetadataKey.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class ShareGroupMemberMetadataValue:
    """Version 0."""

    __slots__ = ("rack_id", "client_id", "client_host", "subscribed_topic_names")

    RECORD_TYPE: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]

    def __init__(
        self,
        *,
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = _EMPTY,
    ) -> None:
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = [] if subscribed_topic_names is _EMPTY else subscribed_topic_names

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareGroupMemberMetadataValue):
            return NotImplemented
        return (
            self.rack_id == other.rack_id
            and self.client_id == other.client_id
            and self.client_host == other.client_host
            and self.subscribed_topic_names == other.subscribed_topic_names
        )

    def __repr__(self) -> str:
        return f"ShareGroupMemberMetadataValue(rack_id={self.rack_id!r}, client_id={self.client_id!r}, client_host={self.client_host!r}, subscribed_topic_names={self.subscribed_topic_names!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ShareGroupMemberMetadataValue", version, "no such version")
        try:
            buf = out.buf
            v_rack_id = self.rack_id
            if v_rack_id is None:
                buf.append(0)
            else:
                data = v_rack_id.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            data = self.client_id.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            data = self.client_host.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            n = len(self.subscribed_topic_names)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_subscribed_topic_names in self.subscribed_topic_names:
                data = i_subscribed_topic_names.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareGroupMemberMetadataValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareGroupMemberMetadataValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ShareGroupMemberMetadataValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareGroupMemberMetadataValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareGroupMemberMetadataValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareGroupMemberMetadataValue", version, error) from error
        if pos > end:
            raise decode_failed("ShareGroupMemberMetadataValue", version, "truncated")
        return message, pos


def _read_ShareGroupMemberMetadataValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareGroupMemberMetadataValue, int]:
    self = ShareGroupMemberMetadataValue.__new__(ShareGroupMemberMetadataValue)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.rack_id = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("ShareGroupMemberMetadataValue.rack_id", n, end - pos)
        self.rack_id = str(buf[pos:stop], "utf-8")
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareGroupMemberMetadataValue.client_id")
    stop = pos + n
    if stop > end:
        raise length_read("ShareGroupMemberMetadataValue.client_id", n, end - pos)
    self.client_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareGroupMemberMetadataValue.client_host")
    stop = pos + n
    if stop > end:
        raise length_read("ShareGroupMemberMetadataValue.client_host", n, end - pos)
    self.client_host = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareGroupMemberMetadataValue.subscribed_topic_names")
    if n > end - pos:
        raise length_read("ShareGroupMemberMetadataValue.subscribed_topic_names", n, end - pos)
    l_subscribed_topic_names: list[str] = []
    for _ in range(n):
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("ShareGroupMemberMetadataValue.subscribed_topic_names")
        stop = pos + n
        if stop > end:
            raise length_read("ShareGroupMemberMetadataValue.subscribed_topic_names", n, end - pos)
        l_subscribed_topic_names.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.subscribed_topic_names = l_subscribed_topic_names
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ShareGroupMetadataKey:
    """Version 0."""

    __slots__ = ("group_id",)

    RECORD_TYPE: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id = group_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareGroupMetadataKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
        )

    def __repr__(self) -> str:
        return f"ShareGroupMetadataKey(group_id={self.group_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ShareGroupMetadataKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareGroupMetadataKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareGroupMetadataKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ShareGroupMetadataKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareGroupMetadataKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareGroupMetadataKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareGroupMetadataKey", version, error) from error
        if pos > end:
            raise decode_failed("ShareGroupMetadataKey", version, "truncated")
        return message, pos


def _read_ShareGroupMetadataKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareGroupMetadataKey, int]:
    self = ShareGroupMetadataKey.__new__(ShareGroupMetadataKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ShareGroupMetadataKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("ShareGroupMetadataKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class ShareGroupMetadataValue:
    """Version 0."""

    __slots__ = ("epoch", "metadata_hash")

    RECORD_TYPE: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    epoch: int
    metadata_hash: int

    def __init__(
        self,
        *,
        epoch: int = 0,
        metadata_hash: int = 0,
    ) -> None:
        self.epoch = epoch
        self.metadata_hash = metadata_hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareGroupMetadataValue):
            return NotImplemented
        return (
            self.epoch == other.epoch
            and self.metadata_hash == other.metadata_hash
        )

    def __repr__(self) -> str:
        return f"ShareGroupMetadataValue(epoch={self.epoch!r}, metadata_hash={self.metadata_hash!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ShareGroupMetadataValue", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_iq(self.epoch, self.metadata_hash)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareGroupMetadataValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareGroupMetadataValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ShareGroupMetadataValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareGroupMetadataValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareGroupMetadataValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareGroupMetadataValue", version, error) from error
        if pos > end:
            raise decode_failed("ShareGroupMetadataValue", version, "truncated")
        return message, pos


def _read_ShareGroupMetadataValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareGroupMetadataValue, int]:
    self = ShareGroupMetadataValue.__new__(ShareGroupMetadataValue)
    self.epoch, self.metadata_hash = _unpack_iq(buf, pos)
    pos += 12
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ShareGroupTargetAssignmentMetadataKey:
    """Version 0."""

    __slots__ = ("group_id",)

    RECORD_TYPE: ClassVar[int] = 12
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id = group_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareGroupTargetAssignmentMetadataKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
        )

    def __repr__(self) -> str:
        return f"ShareGroupTargetAssignmentMetadataKey(group_id={self.group_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ShareGroupTargetAssignmentMetadataKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareGroupTargetAssignmentMetadataKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareGroupTargetAssignmentMetadataKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ShareGroupTargetAssignmentMetadataKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareGroupTargetAssignmentMetadataKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareGroupTargetAssignmentMetadataKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareGroupTargetAssignmentMetadataKey", version, error) from error
        if pos > end:
            raise decode_failed("ShareGroupTargetAssignmentMetadataKey", version, "truncated")
        return message, pos


def _read_ShareGroupTargetAssignmentMetadataKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareGroupTargetAssignmentMetadataKey, int]:
    self = ShareGroupTargetAssignmentMetadataKey.__new__(ShareGroupTargetAssignmentMetadataKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ShareGroupTargetAssignmentMetadataKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("ShareGroupTargetAssignmentMetadataKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class ShareGroupTargetAssignmentMetadataValue:
    """Version 0."""

    __slots__ = ("assignment_epoch",)

    RECORD_TYPE: ClassVar[int] = 12
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    assignment_epoch: int

    def __init__(
        self,
        *,
        assignment_epoch: int = 0,
    ) -> None:
        self.assignment_epoch = assignment_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareGroupTargetAssignmentMetadataValue):
            return NotImplemented
        return (
            self.assignment_epoch == other.assignment_epoch
        )

    def __repr__(self) -> str:
        return f"ShareGroupTargetAssignmentMetadataValue(assignment_epoch={self.assignment_epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ShareGroupTargetAssignmentMetadataValue", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_i(self.assignment_epoch)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareGroupTargetAssignmentMetadataValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareGroupTargetAssignmentMetadataValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ShareGroupTargetAssignmentMetadataValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareGroupTargetAssignmentMetadataValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareGroupTargetAssignmentMetadataValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareGroupTargetAssignmentMetadataValue", version, error) from error
        if pos > end:
            raise decode_failed("ShareGroupTargetAssignmentMetadataValue", version, "truncated")
        return message, pos


def _read_ShareGroupTargetAssignmentMetadataValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareGroupTargetAssignmentMetadataValue, int]:
    self = ShareGroupTargetAssignmentMetadataValue.__new__(ShareGroupTargetAssignmentMetadataValue)
    (self.assignment_epoch,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ShareGroupTargetAssignmentMemberKey:
    """Version 0."""

    __slots__ = ("group_id", "member_id")

    RECORD_TYPE: ClassVar[int] = 13
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str
    member_id: str

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareGroupTargetAssignmentMemberKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.member_id == other.member_id
        )

    def __repr__(self) -> str:
        return f"ShareGroupTargetAssignmentMemberKey(group_id={self.group_id!r}, member_id={self.member_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ShareGroupTargetAssignmentMemberKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
            data = self.member_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareGroupTargetAssignmentMemberKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareGroupTargetAssignmentMemberKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ShareGroupTargetAssignmentMemberKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareGroupTargetAssignmentMemberKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareGroupTargetAssignmentMemberKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareGroupTargetAssignmentMemberKey", version, error) from error
        if pos > end:
            raise decode_failed("ShareGroupTargetAssignmentMemberKey", version, "truncated")
        return message, pos


def _read_ShareGroupTargetAssignmentMemberKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareGroupTargetAssignmentMemberKey, int]:
    self = ShareGroupTargetAssignmentMemberKey.__new__(ShareGroupTargetAssignmentMemberKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ShareGroupTargetAssignmentMemberKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("ShareGroupTargetAssignmentMemberKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ShareGroupTargetAssignmentMemberKey.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("ShareGroupTargetAssignmentMemberKey.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class ShareGroupTargetAssignmentMemberValueTopicPartition:
    """Part of ShareGroupTargetAssignmentMemberValue."""

    __slots__ = ("topic_id", "partitions")

    topic_id: bytes
    partitions: list[int]

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = _EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareGroupTargetAssignmentMemberValueTopicPartition):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"ShareGroupTargetAssignmentMemberValueTopicPartition(topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("ShareGroupTargetAssignmentMemberValueTopicPartition.topic_id")
        buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.partitions)
        else:
            buf += _pack_n(f">{n}i", *self.partitions)
        buf.append(0)


def _read_ShareGroupTargetAssignmentMemberValueTopicPartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareGroupTargetAssignmentMemberValueTopicPartition, int]:
    self = ShareGroupTargetAssignmentMemberValueTopicPartition.__new__(ShareGroupTargetAssignmentMemberValueTopicPartition)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareGroupTargetAssignmentMemberValueTopicPartition.partitions")
    if n * 4 > end - pos:
        raise length_read("ShareGroupTargetAssignmentMemberValueTopicPartition.partitions", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.partitions = list(INT32_UNPACK[n](buf, pos))
    else:
        self.partitions = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ShareGroupTargetAssignmentMemberValue:
    """Version 0."""

    __slots__ = ("topic_partitions",)

    RECORD_TYPE: ClassVar[int] = 13
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    topic_partitions: list[ShareGroupTargetAssignmentMemberValueTopicPartition]

    def __init__(
        self,
        *,
        topic_partitions: list[ShareGroupTargetAssignmentMemberValueTopicPartition] = _EMPTY,
    ) -> None:
        self.topic_partitions = [] if topic_partitions is _EMPTY else topic_partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareGroupTargetAssignmentMemberValue):
            return NotImplemented
        return (
            self.topic_partitions == other.topic_partitions
        )

    def __repr__(self) -> str:
        return f"ShareGroupTargetAssignmentMemberValue(topic_partitions={self.topic_partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ShareGroupTargetAssignmentMemberValue", version, "no such version")
        try:
            buf = out.buf
            n = len(self.topic_partitions)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_topic_partitions in self.topic_partitions:
                i_topic_partitions.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareGroupTargetAssignmentMemberValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareGroupTargetAssignmentMemberValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ShareGroupTargetAssignmentMemberValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareGroupTargetAssignmentMemberValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareGroupTargetAssignmentMemberValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareGroupTargetAssignmentMemberValue", version, error) from error
        if pos > end:
            raise decode_failed("ShareGroupTargetAssignmentMemberValue", version, "truncated")
        return message, pos


def _read_ShareGroupTargetAssignmentMemberValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareGroupTargetAssignmentMemberValue, int]:
    self = ShareGroupTargetAssignmentMemberValue.__new__(ShareGroupTargetAssignmentMemberValue)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareGroupTargetAssignmentMemberValue.topic_partitions")
    if n * 18 > end - pos:
        raise length_read("ShareGroupTargetAssignmentMemberValue.topic_partitions", n, end - pos)
    l_topic_partitions: list[ShareGroupTargetAssignmentMemberValueTopicPartition] = []
    for _ in range(n):
        i_topic_partitions, pos = _read_ShareGroupTargetAssignmentMemberValueTopicPartition(buf, pos, end, version)
        l_topic_partitions.append(i_topic_partitions)
    self.topic_partitions = l_topic_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ShareGroupCurrentMemberAssignmentKey:
    """Version 0."""

    __slots__ = ("group_id", "member_id")

    RECORD_TYPE: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str
    member_id: str

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareGroupCurrentMemberAssignmentKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.member_id == other.member_id
        )

    def __repr__(self) -> str:
        return f"ShareGroupCurrentMemberAssignmentKey(group_id={self.group_id!r}, member_id={self.member_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ShareGroupCurrentMemberAssignmentKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
            data = self.member_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareGroupCurrentMemberAssignmentKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareGroupCurrentMemberAssignmentKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ShareGroupCurrentMemberAssignmentKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareGroupCurrentMemberAssignmentKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareGroupCurrentMemberAssignmentKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareGroupCurrentMemberAssignmentKey", version, error) from error
        if pos > end:
            raise decode_failed("ShareGroupCurrentMemberAssignmentKey", version, "truncated")
        return message, pos


def _read_ShareGroupCurrentMemberAssignmentKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareGroupCurrentMemberAssignmentKey, int]:
    self = ShareGroupCurrentMemberAssignmentKey.__new__(ShareGroupCurrentMemberAssignmentKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ShareGroupCurrentMemberAssignmentKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("ShareGroupCurrentMemberAssignmentKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ShareGroupCurrentMemberAssignmentKey.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("ShareGroupCurrentMemberAssignmentKey.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class ShareGroupCurrentMemberAssignmentValueTopicPartitions:
    """Part of ShareGroupCurrentMemberAssignmentValue."""

    __slots__ = ("topic_id", "partitions")

    topic_id: bytes
    partitions: list[int]

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = _EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareGroupCurrentMemberAssignmentValueTopicPartitions):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"ShareGroupCurrentMemberAssignmentValueTopicPartitions(topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("ShareGroupCurrentMemberAssignmentValueTopicPartitions.topic_id")
        buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.partitions)
        else:
            buf += _pack_n(f">{n}i", *self.partitions)
        buf.append(0)


def _read_ShareGroupCurrentMemberAssignmentValueTopicPartitions(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareGroupCurrentMemberAssignmentValueTopicPartitions, int]:
    self = ShareGroupCurrentMemberAssignmentValueTopicPartitions.__new__(ShareGroupCurrentMemberAssignmentValueTopicPartitions)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareGroupCurrentMemberAssignmentValueTopicPartitions.partitions")
    if n * 4 > end - pos:
        raise length_read("ShareGroupCurrentMemberAssignmentValueTopicPartitions.partitions", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.partitions = list(INT32_UNPACK[n](buf, pos))
    else:
        self.partitions = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ShareGroupCurrentMemberAssignmentValue:
    """Version 0."""

    __slots__ = ("member_epoch", "previous_member_epoch", "state", "assigned_partitions")

    RECORD_TYPE: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    member_epoch: int
    previous_member_epoch: int
    state: int
    assigned_partitions: list[ShareGroupCurrentMemberAssignmentValueTopicPartitions]

    def __init__(
        self,
        *,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        assigned_partitions: list[ShareGroupCurrentMemberAssignmentValueTopicPartitions] = _EMPTY,
    ) -> None:
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch
        self.state = state
        self.assigned_partitions = [] if assigned_partitions is _EMPTY else assigned_partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareGroupCurrentMemberAssignmentValue):
            return NotImplemented
        return (
            self.member_epoch == other.member_epoch
            and self.previous_member_epoch == other.previous_member_epoch
            and self.state == other.state
            and self.assigned_partitions == other.assigned_partitions
        )

    def __repr__(self) -> str:
        return f"ShareGroupCurrentMemberAssignmentValue(member_epoch={self.member_epoch!r}, previous_member_epoch={self.previous_member_epoch!r}, state={self.state!r}, assigned_partitions={self.assigned_partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ShareGroupCurrentMemberAssignmentValue", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_2ib(self.member_epoch, self.previous_member_epoch, self.state)
            n = len(self.assigned_partitions)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_assigned_partitions in self.assigned_partitions:
                i_assigned_partitions.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareGroupCurrentMemberAssignmentValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareGroupCurrentMemberAssignmentValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ShareGroupCurrentMemberAssignmentValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareGroupCurrentMemberAssignmentValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareGroupCurrentMemberAssignmentValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareGroupCurrentMemberAssignmentValue", version, error) from error
        if pos > end:
            raise decode_failed("ShareGroupCurrentMemberAssignmentValue", version, "truncated")
        return message, pos


def _read_ShareGroupCurrentMemberAssignmentValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareGroupCurrentMemberAssignmentValue, int]:
    self = ShareGroupCurrentMemberAssignmentValue.__new__(ShareGroupCurrentMemberAssignmentValue)
    self.member_epoch, self.previous_member_epoch, self.state = _unpack_2ib(buf, pos)
    pos += 9
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareGroupCurrentMemberAssignmentValue.assigned_partitions")
    if n * 18 > end - pos:
        raise length_read("ShareGroupCurrentMemberAssignmentValue.assigned_partitions", n, end - pos)
    l_assigned_partitions: list[ShareGroupCurrentMemberAssignmentValueTopicPartitions] = []
    for _ in range(n):
        i_assigned_partitions, pos = _read_ShareGroupCurrentMemberAssignmentValueTopicPartitions(buf, pos, end, version)
        l_assigned_partitions.append(i_assigned_partitions)
    self.assigned_partitions = l_assigned_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ShareGroupStatePartitionMetadataKey:
    """Version 0."""

    __slots__ = ("group_id",)

    RECORD_TYPE: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id = group_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareGroupStatePartitionMetadataKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
        )

    def __repr__(self) -> str:
        return f"ShareGroupStatePartitionMetadataKey(group_id={self.group_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ShareGroupStatePartitionMetadataKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareGroupStatePartitionMetadataKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareGroupStatePartitionMetadataKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ShareGroupStatePartitionMetadataKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareGroupStatePartitionMetadataKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareGroupStatePartitionMetadataKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareGroupStatePartitionMetadataKey", version, error) from error
        if pos > end:
            raise decode_failed("ShareGroupStatePartitionMetadataKey", version, "truncated")
        return message, pos


def _read_ShareGroupStatePartitionMetadataKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareGroupStatePartitionMetadataKey, int]:
    self = ShareGroupStatePartitionMetadataKey.__new__(ShareGroupStatePartitionMetadataKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ShareGroupStatePartitionMetadataKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("ShareGroupStatePartitionMetadataKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class TopicPartitionsInfo:
    """Part of ShareGroupStatePartitionMetadataValue."""

    __slots__ = ("topic_id", "topic_name", "partitions")

    topic_id: bytes
    topic_name: str
    partitions: list[int]

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        partitions: list[int] = _EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TopicPartitionsInfo):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.topic_name == other.topic_name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"TopicPartitionsInfo(topic_id={self.topic_id!r}, topic_name={self.topic_name!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("TopicPartitionsInfo.topic_id")
        buf += _pack_u(self.topic_id)
        data = self.topic_name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.partitions)
        else:
            buf += _pack_n(f">{n}i", *self.partitions)
        buf.append(0)


def _read_TopicPartitionsInfo(buf: memoryview, pos: int, end: int, version: int) -> tuple[TopicPartitionsInfo, int]:
    self = TopicPartitionsInfo.__new__(TopicPartitionsInfo)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicPartitionsInfo.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("TopicPartitionsInfo.topic_name", n, end - pos)
    self.topic_name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicPartitionsInfo.partitions")
    if n * 4 > end - pos:
        raise length_read("TopicPartitionsInfo.partitions", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.partitions = list(INT32_UNPACK[n](buf, pos))
    else:
        self.partitions = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ShareGroupStatePartitionMetadataValueTopicInfo:
    """Part of ShareGroupStatePartitionMetadataValue."""

    __slots__ = ("topic_id", "topic_name")

    topic_id: bytes
    topic_name: str

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareGroupStatePartitionMetadataValueTopicInfo):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.topic_name == other.topic_name
        )

    def __repr__(self) -> str:
        return f"ShareGroupStatePartitionMetadataValueTopicInfo(topic_id={self.topic_id!r}, topic_name={self.topic_name!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("ShareGroupStatePartitionMetadataValueTopicInfo.topic_id")
        buf += _pack_u(self.topic_id)
        data = self.topic_name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf.append(0)


def _read_ShareGroupStatePartitionMetadataValueTopicInfo(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareGroupStatePartitionMetadataValueTopicInfo, int]:
    self = ShareGroupStatePartitionMetadataValueTopicInfo.__new__(ShareGroupStatePartitionMetadataValueTopicInfo)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareGroupStatePartitionMetadataValueTopicInfo.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("ShareGroupStatePartitionMetadataValueTopicInfo.topic_name", n, end - pos)
    self.topic_name = str(buf[pos:stop], "utf-8")
    pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ShareGroupStatePartitionMetadataValue:
    """Version 0."""

    __slots__ = ("initializing_topics", "initialized_topics", "deleting_topics")

    RECORD_TYPE: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    initializing_topics: list[TopicPartitionsInfo]
    initialized_topics: list[TopicPartitionsInfo]
    deleting_topics: list[ShareGroupStatePartitionMetadataValueTopicInfo]

    def __init__(
        self,
        *,
        initializing_topics: list[TopicPartitionsInfo] = _EMPTY,
        initialized_topics: list[TopicPartitionsInfo] = _EMPTY,
        deleting_topics: list[ShareGroupStatePartitionMetadataValueTopicInfo] = _EMPTY,
    ) -> None:
        self.initializing_topics = [] if initializing_topics is _EMPTY else initializing_topics
        self.initialized_topics = [] if initialized_topics is _EMPTY else initialized_topics
        self.deleting_topics = [] if deleting_topics is _EMPTY else deleting_topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareGroupStatePartitionMetadataValue):
            return NotImplemented
        return (
            self.initializing_topics == other.initializing_topics
            and self.initialized_topics == other.initialized_topics
            and self.deleting_topics == other.deleting_topics
        )

    def __repr__(self) -> str:
        return f"ShareGroupStatePartitionMetadataValue(initializing_topics={self.initializing_topics!r}, initialized_topics={self.initialized_topics!r}, deleting_topics={self.deleting_topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ShareGroupStatePartitionMetadataValue", version, "no such version")
        try:
            buf = out.buf
            n = len(self.initializing_topics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_initializing_topics in self.initializing_topics:
                i_initializing_topics.encode(out, version)
            n = len(self.initialized_topics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_initialized_topics in self.initialized_topics:
                i_initialized_topics.encode(out, version)
            n = len(self.deleting_topics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_deleting_topics in self.deleting_topics:
                i_deleting_topics.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareGroupStatePartitionMetadataValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareGroupStatePartitionMetadataValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ShareGroupStatePartitionMetadataValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareGroupStatePartitionMetadataValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareGroupStatePartitionMetadataValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareGroupStatePartitionMetadataValue", version, error) from error
        if pos > end:
            raise decode_failed("ShareGroupStatePartitionMetadataValue", version, "truncated")
        return message, pos


def _read_ShareGroupStatePartitionMetadataValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareGroupStatePartitionMetadataValue, int]:
    self = ShareGroupStatePartitionMetadataValue.__new__(ShareGroupStatePartitionMetadataValue)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareGroupStatePartitionMetadataValue.initializing_topics")
    if n * 19 > end - pos:
        raise length_read("ShareGroupStatePartitionMetadataValue.initializing_topics", n, end - pos)
    l_initializing_topics: list[TopicPartitionsInfo] = []
    for _ in range(n):
        i_initializing_topics, pos = _read_TopicPartitionsInfo(buf, pos, end, version)
        l_initializing_topics.append(i_initializing_topics)
    self.initializing_topics = l_initializing_topics
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareGroupStatePartitionMetadataValue.initialized_topics")
    if n * 19 > end - pos:
        raise length_read("ShareGroupStatePartitionMetadataValue.initialized_topics", n, end - pos)
    l_initialized_topics: list[TopicPartitionsInfo] = []
    for _ in range(n):
        i_initialized_topics, pos = _read_TopicPartitionsInfo(buf, pos, end, version)
        l_initialized_topics.append(i_initialized_topics)
    self.initialized_topics = l_initialized_topics
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareGroupStatePartitionMetadataValue.deleting_topics")
    if n * 18 > end - pos:
        raise length_read("ShareGroupStatePartitionMetadataValue.deleting_topics", n, end - pos)
    l_deleting_topics: list[ShareGroupStatePartitionMetadataValueTopicInfo] = []
    for _ in range(n):
        i_deleting_topics, pos = _read_ShareGroupStatePartitionMetadataValueTopicInfo(buf, pos, end, version)
        l_deleting_topics.append(i_deleting_topics)
    self.deleting_topics = l_deleting_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ConsumerGroupRegularExpressionKey:
    """Version 0."""

    __slots__ = ("group_id", "regular_expression")

    RECORD_TYPE: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str
    regular_expression: str

    def __init__(
        self,
        *,
        group_id: str = "",
        regular_expression: str = "",
    ) -> None:
        self.group_id = group_id
        self.regular_expression = regular_expression

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerGroupRegularExpressionKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.regular_expression == other.regular_expression
        )

    def __repr__(self) -> str:
        return f"ConsumerGroupRegularExpressionKey(group_id={self.group_id!r}, regular_expression={self.regular_expression!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ConsumerGroupRegularExpressionKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
            data = self.regular_expression.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("ConsumerGroupRegularExpressionKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ConsumerGroupRegularExpressionKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ConsumerGroupRegularExpressionKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ConsumerGroupRegularExpressionKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ConsumerGroupRegularExpressionKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ConsumerGroupRegularExpressionKey", version, error) from error
        if pos > end:
            raise decode_failed("ConsumerGroupRegularExpressionKey", version, "truncated")
        return message, pos


def _read_ConsumerGroupRegularExpressionKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerGroupRegularExpressionKey, int]:
    self = ConsumerGroupRegularExpressionKey.__new__(ConsumerGroupRegularExpressionKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ConsumerGroupRegularExpressionKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("ConsumerGroupRegularExpressionKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ConsumerGroupRegularExpressionKey.regular_expression")
    stop = pos + n
    if stop > end:
        raise length_read("ConsumerGroupRegularExpressionKey.regular_expression", n, end - pos)
    self.regular_expression = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class ConsumerGroupRegularExpressionValue:
    """Version 0."""

    __slots__ = ("topics", "version", "timestamp")

    RECORD_TYPE: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    topics: list[str]
    version: int
    timestamp: int

    def __init__(
        self,
        *,
        topics: list[str] = _EMPTY,
        version: int = 0,
        timestamp: int = 0,
    ) -> None:
        self.topics = [] if topics is _EMPTY else topics
        self.version = version
        self.timestamp = timestamp

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerGroupRegularExpressionValue):
            return NotImplemented
        return (
            self.topics == other.topics
            and self.version == other.version
            and self.timestamp == other.timestamp
        )

    def __repr__(self) -> str:
        return f"ConsumerGroupRegularExpressionValue(topics={self.topics!r}, version={self.version!r}, timestamp={self.timestamp!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ConsumerGroupRegularExpressionValue", version, "no such version")
        try:
            buf = out.buf
            n = len(self.topics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_topics in self.topics:
                data = i_topics.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            buf += _pack_2q(self.version, self.timestamp)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ConsumerGroupRegularExpressionValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ConsumerGroupRegularExpressionValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ConsumerGroupRegularExpressionValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ConsumerGroupRegularExpressionValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ConsumerGroupRegularExpressionValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ConsumerGroupRegularExpressionValue", version, error) from error
        if pos > end:
            raise decode_failed("ConsumerGroupRegularExpressionValue", version, "truncated")
        return message, pos


def _read_ConsumerGroupRegularExpressionValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerGroupRegularExpressionValue, int]:
    self = ConsumerGroupRegularExpressionValue.__new__(ConsumerGroupRegularExpressionValue)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ConsumerGroupRegularExpressionValue.topics")
    if n > end - pos:
        raise length_read("ConsumerGroupRegularExpressionValue.topics", n, end - pos)
    l_topics: list[str] = []
    for _ in range(n):
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("ConsumerGroupRegularExpressionValue.topics")
        stop = pos + n
        if stop > end:
            raise length_read("ConsumerGroupRegularExpressionValue.topics", n, end - pos)
        l_topics.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.topics = l_topics
    self.version, self.timestamp = _unpack_2q(buf, pos)
    pos += 16
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class StreamsGroupMetadataKey:
    """Version 0."""

    __slots__ = ("group_id",)

    RECORD_TYPE: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id = group_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsGroupMetadataKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
        )

    def __repr__(self) -> str:
        return f"StreamsGroupMetadataKey(group_id={self.group_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("StreamsGroupMetadataKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("StreamsGroupMetadataKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[StreamsGroupMetadataKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("StreamsGroupMetadataKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("StreamsGroupMetadataKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_StreamsGroupMetadataKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("StreamsGroupMetadataKey", version, error) from error
        if pos > end:
            raise decode_failed("StreamsGroupMetadataKey", version, "truncated")
        return message, pos


def _read_StreamsGroupMetadataKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupMetadataKey, int]:
    self = StreamsGroupMetadataKey.__new__(StreamsGroupMetadataKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("StreamsGroupMetadataKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupMetadataKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class LastAssignmentConfig:
    """Part of StreamsGroupMetadataValue."""

    __slots__ = ("key", "value")

    key: str
    value: str

    def __init__(
        self,
        *,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key = key
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LastAssignmentConfig):
            return NotImplemented
        return (
            self.key == other.key
            and self.value == other.value
        )

    def __repr__(self) -> str:
        return f"LastAssignmentConfig(key={self.key!r}, value={self.value!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.key.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        data = self.value.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf.append(0)


def _read_LastAssignmentConfig(buf: memoryview, pos: int, end: int, version: int) -> tuple[LastAssignmentConfig, int]:
    self = LastAssignmentConfig.__new__(LastAssignmentConfig)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("LastAssignmentConfig.key")
    stop = pos + n
    if stop > end:
        raise length_read("LastAssignmentConfig.key", n, end - pos)
    self.key = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("LastAssignmentConfig.value")
    stop = pos + n
    if stop > end:
        raise length_read("LastAssignmentConfig.value", n, end - pos)
    self.value = str(buf[pos:stop], "utf-8")
    pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class StreamsGroupMetadataValue:
    """Version 0."""

    __slots__ = ("epoch", "metadata_hash", "validated_topology_epoch", "last_assignment_configs")

    RECORD_TYPE: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    epoch: int
    metadata_hash: int
    validated_topology_epoch: int
    last_assignment_configs: list[LastAssignmentConfig] | None

    def __init__(
        self,
        *,
        epoch: int = 0,
        metadata_hash: int = 0,
        validated_topology_epoch: int = -1,
        last_assignment_configs: list[LastAssignmentConfig] | None = _EMPTY,
    ) -> None:
        self.epoch = epoch
        self.metadata_hash = metadata_hash
        self.validated_topology_epoch = validated_topology_epoch
        self.last_assignment_configs = [] if last_assignment_configs is _EMPTY else last_assignment_configs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsGroupMetadataValue):
            return NotImplemented
        return (
            self.epoch == other.epoch
            and self.metadata_hash == other.metadata_hash
            and self.validated_topology_epoch == other.validated_topology_epoch
            and self.last_assignment_configs == other.last_assignment_configs
        )

    def __repr__(self) -> str:
        return f"StreamsGroupMetadataValue(epoch={self.epoch!r}, metadata_hash={self.metadata_hash!r}, validated_topology_epoch={self.validated_topology_epoch!r}, last_assignment_configs={self.last_assignment_configs!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("StreamsGroupMetadataValue", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_iq(self.epoch, self.metadata_hash)
            count = 0
            if self.validated_topology_epoch != -1:
                count += 1
            if self.last_assignment_configs is None or self.last_assignment_configs:
                count += 1
            buf.append(count)
            if count:
                if self.validated_topology_epoch != -1:
                    buf += b"\x00\x04"
                    buf += _pack_i(self.validated_topology_epoch)
                if self.last_assignment_configs is None or self.last_assignment_configs:
                    sub = Encoder()
                    sub_buf = sub.buf
                    v_last_assignment_configs = self.last_assignment_configs
                    if v_last_assignment_configs is None:
                        sub_buf.append(0)
                    else:
                        n = len(v_last_assignment_configs)
                        if n < 127:
                            sub_buf.append(n + 1)
                        else:
                            write_uvarint(sub_buf, n + 1)
                        for i_last_assignment_configs in v_last_assignment_configs:
                            i_last_assignment_configs.encode(sub, version)
                    buf.append(1)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
        except ENCODE_FAILURES as error:
            raise encode_failed("StreamsGroupMetadataValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[StreamsGroupMetadataValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("StreamsGroupMetadataValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("StreamsGroupMetadataValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_StreamsGroupMetadataValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("StreamsGroupMetadataValue", version, error) from error
        if pos > end:
            raise decode_failed("StreamsGroupMetadataValue", version, "truncated")
        return message, pos


def _read_StreamsGroupMetadataValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupMetadataValue, int]:
    self = StreamsGroupMetadataValue.__new__(StreamsGroupMetadataValue)
    self.epoch, self.metadata_hash = _unpack_iq(buf, pos)
    pos += 12
    self.validated_topology_epoch = -1
    self.last_assignment_configs = []
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("StreamsGroupMetadataValue tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("StreamsGroupMetadataValue tag", size, end - pos)
            if tag == 0:
                (self.validated_topology_epoch,) = _unpack_i(buf, pos)
                pos += 4
            elif tag == 1:
                n = buf[pos] - 1
                pos += 1
                if n > 126:
                    n, pos = read_uvarint_tail(n + 1, buf, pos)
                    n -= 1
                if n < 0:
                    self.last_assignment_configs = None
                else:
                    if n * 3 > end - pos:
                        raise length_read("StreamsGroupMetadataValue.last_assignment_configs", n, end - pos)
                    l_last_assignment_configs: list[LastAssignmentConfig] = []
                    for _ in range(n):
                        i_last_assignment_configs, pos = _read_LastAssignmentConfig(buf, pos, end, version)
                        l_last_assignment_configs.append(i_last_assignment_configs)
                    self.last_assignment_configs = l_last_assignment_configs
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"StreamsGroupMetadataValue: tag {tag} does not fill its {size} bytes")
    return self, pos


class StreamsGroupMemberMetadataKey:
    """Version 0."""

    __slots__ = ("group_id", "member_id")

    RECORD_TYPE: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str
    member_id: str

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsGroupMemberMetadataKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.member_id == other.member_id
        )

    def __repr__(self) -> str:
        return f"StreamsGroupMemberMetadataKey(group_id={self.group_id!r}, member_id={self.member_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("StreamsGroupMemberMetadataKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
            data = self.member_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("StreamsGroupMemberMetadataKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[StreamsGroupMemberMetadataKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("StreamsGroupMemberMetadataKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("StreamsGroupMemberMetadataKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_StreamsGroupMemberMetadataKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("StreamsGroupMemberMetadataKey", version, error) from error
        if pos > end:
            raise decode_failed("StreamsGroupMemberMetadataKey", version, "truncated")
        return message, pos


def _read_StreamsGroupMemberMetadataKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupMemberMetadataKey, int]:
    self = StreamsGroupMemberMetadataKey.__new__(StreamsGroupMemberMetadataKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("StreamsGroupMemberMetadataKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupMemberMetadataKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("StreamsGroupMemberMetadataKey.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupMemberMetadataKey.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class Endpoint:
    """Part of StreamsGroupMemberMetadataValue."""

    __slots__ = ("host", "port")

    host: str
    port: int

    def __init__(
        self,
        *,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.host = host
        self.port = port

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Endpoint):
            return NotImplemented
        return (
            self.host == other.host
            and self.port == other.port
        )

    def __repr__(self) -> str:
        return f"Endpoint(host={self.host!r}, port={self.port!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
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


class KeyValue:
    """Part of StreamsGroupMemberMetadataValue."""

    __slots__ = ("key", "value")

    key: str
    value: str

    def __init__(
        self,
        *,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key = key
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeyValue):
            return NotImplemented
        return (
            self.key == other.key
            and self.value == other.value
        )

    def __repr__(self) -> str:
        return f"KeyValue(key={self.key!r}, value={self.value!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.key.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        data = self.value.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf.append(0)


def _read_KeyValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[KeyValue, int]:
    self = KeyValue.__new__(KeyValue)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("KeyValue.key")
    stop = pos + n
    if stop > end:
        raise length_read("KeyValue.key", n, end - pos)
    self.key = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("KeyValue.value")
    stop = pos + n
    if stop > end:
        raise length_read("KeyValue.value", n, end - pos)
    self.value = str(buf[pos:stop], "utf-8")
    pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class StreamsGroupMemberMetadataValue:
    """Version 0."""

    __slots__ = ("instance_id", "rack_id", "client_id", "client_host", "rebalance_timeout_ms", "topology_epoch", "process_id", "user_endpoint", "client_tags")

    RECORD_TYPE: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    topology_epoch: int
    process_id: str
    user_endpoint: Endpoint | None
    client_tags: list[KeyValue]

    def __init__(
        self,
        *,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout_ms: int = -1,
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: Endpoint | None = None,
        client_tags: list[KeyValue] = _EMPTY,
    ) -> None:
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology_epoch = topology_epoch
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = [] if client_tags is _EMPTY else client_tags

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsGroupMemberMetadataValue):
            return NotImplemented
        return (
            self.instance_id == other.instance_id
            and self.rack_id == other.rack_id
            and self.client_id == other.client_id
            and self.client_host == other.client_host
            and self.rebalance_timeout_ms == other.rebalance_timeout_ms
            and self.topology_epoch == other.topology_epoch
            and self.process_id == other.process_id
            and self.user_endpoint == other.user_endpoint
            and self.client_tags == other.client_tags
        )

    def __repr__(self) -> str:
        return f"StreamsGroupMemberMetadataValue(instance_id={self.instance_id!r}, rack_id={self.rack_id!r}, client_id={self.client_id!r}, client_host={self.client_host!r}, rebalance_timeout_ms={self.rebalance_timeout_ms!r}, topology_epoch={self.topology_epoch!r}, process_id={self.process_id!r}, user_endpoint={self.user_endpoint!r}, client_tags={self.client_tags!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("StreamsGroupMemberMetadataValue", version, "no such version")
        try:
            buf = out.buf
            v_instance_id = self.instance_id
            if v_instance_id is None:
                buf.append(0)
            else:
                data = v_instance_id.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            v_rack_id = self.rack_id
            if v_rack_id is None:
                buf.append(0)
            else:
                data = v_rack_id.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            data = self.client_id.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            data = self.client_host.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            buf += _pack_2i(self.rebalance_timeout_ms, self.topology_epoch)
            data = self.process_id.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            v_user_endpoint = self.user_endpoint
            if v_user_endpoint is None:
                buf.append(255)
            else:
                buf.append(1)
                v_user_endpoint.encode(out, version)
            n = len(self.client_tags)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_client_tags in self.client_tags:
                i_client_tags.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("StreamsGroupMemberMetadataValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[StreamsGroupMemberMetadataValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("StreamsGroupMemberMetadataValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("StreamsGroupMemberMetadataValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_StreamsGroupMemberMetadataValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("StreamsGroupMemberMetadataValue", version, error) from error
        if pos > end:
            raise decode_failed("StreamsGroupMemberMetadataValue", version, "truncated")
        return message, pos


def _read_StreamsGroupMemberMetadataValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupMemberMetadataValue, int]:
    self = StreamsGroupMemberMetadataValue.__new__(StreamsGroupMemberMetadataValue)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.instance_id = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("StreamsGroupMemberMetadataValue.instance_id", n, end - pos)
        self.instance_id = str(buf[pos:stop], "utf-8")
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.rack_id = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("StreamsGroupMemberMetadataValue.rack_id", n, end - pos)
        self.rack_id = str(buf[pos:stop], "utf-8")
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupMemberMetadataValue.client_id")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupMemberMetadataValue.client_id", n, end - pos)
    self.client_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupMemberMetadataValue.client_host")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupMemberMetadataValue.client_host", n, end - pos)
    self.client_host = str(buf[pos:stop], "utf-8")
    pos = stop
    self.rebalance_timeout_ms, self.topology_epoch = _unpack_2i(buf, pos)
    pos += 8
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupMemberMetadataValue.process_id")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupMemberMetadataValue.process_id", n, end - pos)
    self.process_id = str(buf[pos:stop], "utf-8")
    pos = stop
    if buf[pos] > 127:
        pos += 1
        self.user_endpoint = None
    else:
        self.user_endpoint, pos = _read_Endpoint(buf, pos + 1, end, version)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupMemberMetadataValue.client_tags")
    if n * 3 > end - pos:
        raise length_read("StreamsGroupMemberMetadataValue.client_tags", n, end - pos)
    l_client_tags: list[KeyValue] = []
    for _ in range(n):
        i_client_tags, pos = _read_KeyValue(buf, pos, end, version)
        l_client_tags.append(i_client_tags)
    self.client_tags = l_client_tags
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class StreamsGroupTargetAssignmentMetadataKey:
    """Version 0."""

    __slots__ = ("group_id",)

    RECORD_TYPE: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id = group_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsGroupTargetAssignmentMetadataKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
        )

    def __repr__(self) -> str:
        return f"StreamsGroupTargetAssignmentMetadataKey(group_id={self.group_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("StreamsGroupTargetAssignmentMetadataKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("StreamsGroupTargetAssignmentMetadataKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[StreamsGroupTargetAssignmentMetadataKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("StreamsGroupTargetAssignmentMetadataKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("StreamsGroupTargetAssignmentMetadataKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_StreamsGroupTargetAssignmentMetadataKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("StreamsGroupTargetAssignmentMetadataKey", version, error) from error
        if pos > end:
            raise decode_failed("StreamsGroupTargetAssignmentMetadataKey", version, "truncated")
        return message, pos


def _read_StreamsGroupTargetAssignmentMetadataKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupTargetAssignmentMetadataKey, int]:
    self = StreamsGroupTargetAssignmentMetadataKey.__new__(StreamsGroupTargetAssignmentMetadataKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("StreamsGroupTargetAssignmentMetadataKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupTargetAssignmentMetadataKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class StreamsGroupTargetAssignmentMetadataValue:
    """Version 0."""

    __slots__ = ("assignment_epoch",)

    RECORD_TYPE: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    assignment_epoch: int

    def __init__(
        self,
        *,
        assignment_epoch: int = 0,
    ) -> None:
        self.assignment_epoch = assignment_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsGroupTargetAssignmentMetadataValue):
            return NotImplemented
        return (
            self.assignment_epoch == other.assignment_epoch
        )

    def __repr__(self) -> str:
        return f"StreamsGroupTargetAssignmentMetadataValue(assignment_epoch={self.assignment_epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("StreamsGroupTargetAssignmentMetadataValue", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_i(self.assignment_epoch)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("StreamsGroupTargetAssignmentMetadataValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[StreamsGroupTargetAssignmentMetadataValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("StreamsGroupTargetAssignmentMetadataValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("StreamsGroupTargetAssignmentMetadataValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_StreamsGroupTargetAssignmentMetadataValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("StreamsGroupTargetAssignmentMetadataValue", version, error) from error
        if pos > end:
            raise decode_failed("StreamsGroupTargetAssignmentMetadataValue", version, "truncated")
        return message, pos


def _read_StreamsGroupTargetAssignmentMetadataValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupTargetAssignmentMetadataValue, int]:
    self = StreamsGroupTargetAssignmentMetadataValue.__new__(StreamsGroupTargetAssignmentMetadataValue)
    (self.assignment_epoch,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class StreamsGroupTargetAssignmentMemberKey:
    """Version 0."""

    __slots__ = ("group_id", "member_id")

    RECORD_TYPE: ClassVar[int] = 21
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str
    member_id: str

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsGroupTargetAssignmentMemberKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.member_id == other.member_id
        )

    def __repr__(self) -> str:
        return f"StreamsGroupTargetAssignmentMemberKey(group_id={self.group_id!r}, member_id={self.member_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("StreamsGroupTargetAssignmentMemberKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
            data = self.member_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("StreamsGroupTargetAssignmentMemberKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[StreamsGroupTargetAssignmentMemberKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("StreamsGroupTargetAssignmentMemberKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("StreamsGroupTargetAssignmentMemberKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_StreamsGroupTargetAssignmentMemberKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("StreamsGroupTargetAssignmentMemberKey", version, error) from error
        if pos > end:
            raise decode_failed("StreamsGroupTargetAssignmentMemberKey", version, "truncated")
        return message, pos


def _read_StreamsGroupTargetAssignmentMemberKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupTargetAssignmentMemberKey, int]:
    self = StreamsGroupTargetAssignmentMemberKey.__new__(StreamsGroupTargetAssignmentMemberKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("StreamsGroupTargetAssignmentMemberKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupTargetAssignmentMemberKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("StreamsGroupTargetAssignmentMemberKey.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupTargetAssignmentMemberKey.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class StreamsGroupTargetAssignmentMemberValueTaskIds:
    """Part of StreamsGroupTargetAssignmentMemberValue."""

    __slots__ = ("subtopology_id", "partitions")

    subtopology_id: str
    partitions: list[int]

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        partitions: list[int] = _EMPTY,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsGroupTargetAssignmentMemberValueTaskIds):
            return NotImplemented
        return (
            self.subtopology_id == other.subtopology_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"StreamsGroupTargetAssignmentMemberValueTaskIds(subtopology_id={self.subtopology_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.subtopology_id.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.partitions)
        else:
            buf += _pack_n(f">{n}i", *self.partitions)
        buf.append(0)


def _read_StreamsGroupTargetAssignmentMemberValueTaskIds(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupTargetAssignmentMemberValueTaskIds, int]:
    self = StreamsGroupTargetAssignmentMemberValueTaskIds.__new__(StreamsGroupTargetAssignmentMemberValueTaskIds)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupTargetAssignmentMemberValueTaskIds.subtopology_id")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupTargetAssignmentMemberValueTaskIds.subtopology_id", n, end - pos)
    self.subtopology_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupTargetAssignmentMemberValueTaskIds.partitions")
    if n * 4 > end - pos:
        raise length_read("StreamsGroupTargetAssignmentMemberValueTaskIds.partitions", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.partitions = list(INT32_UNPACK[n](buf, pos))
    else:
        self.partitions = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class StreamsGroupTargetAssignmentMemberValue:
    """Version 0."""

    __slots__ = ("active_tasks", "standby_tasks", "warmup_tasks")

    RECORD_TYPE: ClassVar[int] = 21
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    active_tasks: list[StreamsGroupTargetAssignmentMemberValueTaskIds]
    standby_tasks: list[StreamsGroupTargetAssignmentMemberValueTaskIds]
    warmup_tasks: list[StreamsGroupTargetAssignmentMemberValueTaskIds]

    def __init__(
        self,
        *,
        active_tasks: list[StreamsGroupTargetAssignmentMemberValueTaskIds] = _EMPTY,
        standby_tasks: list[StreamsGroupTargetAssignmentMemberValueTaskIds] = _EMPTY,
        warmup_tasks: list[StreamsGroupTargetAssignmentMemberValueTaskIds] = _EMPTY,
    ) -> None:
        self.active_tasks = [] if active_tasks is _EMPTY else active_tasks
        self.standby_tasks = [] if standby_tasks is _EMPTY else standby_tasks
        self.warmup_tasks = [] if warmup_tasks is _EMPTY else warmup_tasks

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsGroupTargetAssignmentMemberValue):
            return NotImplemented
        return (
            self.active_tasks == other.active_tasks
            and self.standby_tasks == other.standby_tasks
            and self.warmup_tasks == other.warmup_tasks
        )

    def __repr__(self) -> str:
        return f"StreamsGroupTargetAssignmentMemberValue(active_tasks={self.active_tasks!r}, standby_tasks={self.standby_tasks!r}, warmup_tasks={self.warmup_tasks!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("StreamsGroupTargetAssignmentMemberValue", version, "no such version")
        try:
            buf = out.buf
            n = len(self.active_tasks)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_active_tasks in self.active_tasks:
                i_active_tasks.encode(out, version)
            n = len(self.standby_tasks)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_standby_tasks in self.standby_tasks:
                i_standby_tasks.encode(out, version)
            n = len(self.warmup_tasks)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_warmup_tasks in self.warmup_tasks:
                i_warmup_tasks.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("StreamsGroupTargetAssignmentMemberValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[StreamsGroupTargetAssignmentMemberValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("StreamsGroupTargetAssignmentMemberValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("StreamsGroupTargetAssignmentMemberValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_StreamsGroupTargetAssignmentMemberValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("StreamsGroupTargetAssignmentMemberValue", version, error) from error
        if pos > end:
            raise decode_failed("StreamsGroupTargetAssignmentMemberValue", version, "truncated")
        return message, pos


def _read_StreamsGroupTargetAssignmentMemberValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupTargetAssignmentMemberValue, int]:
    self = StreamsGroupTargetAssignmentMemberValue.__new__(StreamsGroupTargetAssignmentMemberValue)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupTargetAssignmentMemberValue.active_tasks")
    if n * 3 > end - pos:
        raise length_read("StreamsGroupTargetAssignmentMemberValue.active_tasks", n, end - pos)
    l_active_tasks: list[StreamsGroupTargetAssignmentMemberValueTaskIds] = []
    for _ in range(n):
        i_active_tasks, pos = _read_StreamsGroupTargetAssignmentMemberValueTaskIds(buf, pos, end, version)
        l_active_tasks.append(i_active_tasks)
    self.active_tasks = l_active_tasks
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupTargetAssignmentMemberValue.standby_tasks")
    if n * 3 > end - pos:
        raise length_read("StreamsGroupTargetAssignmentMemberValue.standby_tasks", n, end - pos)
    l_standby_tasks: list[StreamsGroupTargetAssignmentMemberValueTaskIds] = []
    for _ in range(n):
        i_standby_tasks, pos = _read_StreamsGroupTargetAssignmentMemberValueTaskIds(buf, pos, end, version)
        l_standby_tasks.append(i_standby_tasks)
    self.standby_tasks = l_standby_tasks
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupTargetAssignmentMemberValue.warmup_tasks")
    if n * 3 > end - pos:
        raise length_read("StreamsGroupTargetAssignmentMemberValue.warmup_tasks", n, end - pos)
    l_warmup_tasks: list[StreamsGroupTargetAssignmentMemberValueTaskIds] = []
    for _ in range(n):
        i_warmup_tasks, pos = _read_StreamsGroupTargetAssignmentMemberValueTaskIds(buf, pos, end, version)
        l_warmup_tasks.append(i_warmup_tasks)
    self.warmup_tasks = l_warmup_tasks
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class StreamsGroupCurrentMemberAssignmentKey:
    """Version 0."""

    __slots__ = ("group_id", "member_id")

    RECORD_TYPE: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str
    member_id: str

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsGroupCurrentMemberAssignmentKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.member_id == other.member_id
        )

    def __repr__(self) -> str:
        return f"StreamsGroupCurrentMemberAssignmentKey(group_id={self.group_id!r}, member_id={self.member_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("StreamsGroupCurrentMemberAssignmentKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
            data = self.member_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("StreamsGroupCurrentMemberAssignmentKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[StreamsGroupCurrentMemberAssignmentKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("StreamsGroupCurrentMemberAssignmentKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("StreamsGroupCurrentMemberAssignmentKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_StreamsGroupCurrentMemberAssignmentKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("StreamsGroupCurrentMemberAssignmentKey", version, error) from error
        if pos > end:
            raise decode_failed("StreamsGroupCurrentMemberAssignmentKey", version, "truncated")
        return message, pos


def _read_StreamsGroupCurrentMemberAssignmentKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupCurrentMemberAssignmentKey, int]:
    self = StreamsGroupCurrentMemberAssignmentKey.__new__(StreamsGroupCurrentMemberAssignmentKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("StreamsGroupCurrentMemberAssignmentKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupCurrentMemberAssignmentKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("StreamsGroupCurrentMemberAssignmentKey.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupCurrentMemberAssignmentKey.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class StreamsGroupCurrentMemberAssignmentValueTaskIds:
    """Part of StreamsGroupCurrentMemberAssignmentValue."""

    __slots__ = ("subtopology_id", "partitions", "assignment_epochs")

    subtopology_id: str
    partitions: list[int]
    assignment_epochs: list[int] | None

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        partitions: list[int] = _EMPTY,
        assignment_epochs: list[int] | None = _EMPTY,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = [] if partitions is _EMPTY else partitions
        self.assignment_epochs = [] if assignment_epochs is _EMPTY else assignment_epochs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsGroupCurrentMemberAssignmentValueTaskIds):
            return NotImplemented
        return (
            self.subtopology_id == other.subtopology_id
            and self.partitions == other.partitions
            and self.assignment_epochs == other.assignment_epochs
        )

    def __repr__(self) -> str:
        return f"StreamsGroupCurrentMemberAssignmentValueTaskIds(subtopology_id={self.subtopology_id!r}, partitions={self.partitions!r}, assignment_epochs={self.assignment_epochs!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.subtopology_id.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.partitions)
        else:
            buf += _pack_n(f">{n}i", *self.partitions)
        count = 0
        if self.assignment_epochs is None or self.assignment_epochs:
            count += 1
        buf.append(count)
        if count:
            if self.assignment_epochs is None or self.assignment_epochs:
                sub = Encoder()
                sub_buf = sub.buf
                v_assignment_epochs = self.assignment_epochs
                if v_assignment_epochs is None:
                    sub_buf.append(0)
                else:
                    n = len(v_assignment_epochs)
                    if n < 127:
                        sub_buf.append(n + 1)
                    else:
                        write_uvarint(sub_buf, n + 1)
                    if n < INT32_ARRAY_SHORT:
                        sub_buf += INT32_PACK[n](*v_assignment_epochs)
                    else:
                        sub_buf += _pack_n(f">{n}i", *v_assignment_epochs)
                buf.append(0)
                write_uvarint(buf, len(sub_buf))
                buf += sub_buf


def _read_StreamsGroupCurrentMemberAssignmentValueTaskIds(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupCurrentMemberAssignmentValueTaskIds, int]:
    self = StreamsGroupCurrentMemberAssignmentValueTaskIds.__new__(StreamsGroupCurrentMemberAssignmentValueTaskIds)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupCurrentMemberAssignmentValueTaskIds.subtopology_id")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupCurrentMemberAssignmentValueTaskIds.subtopology_id", n, end - pos)
    self.subtopology_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupCurrentMemberAssignmentValueTaskIds.partitions")
    if n * 4 > end - pos:
        raise length_read("StreamsGroupCurrentMemberAssignmentValueTaskIds.partitions", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.partitions = list(INT32_UNPACK[n](buf, pos))
    else:
        self.partitions = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    self.assignment_epochs = []
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("StreamsGroupCurrentMemberAssignmentValueTaskIds tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("StreamsGroupCurrentMemberAssignmentValueTaskIds tag", size, end - pos)
            if tag == 0:
                n = buf[pos] - 1
                pos += 1
                if n > 126:
                    n, pos = read_uvarint_tail(n + 1, buf, pos)
                    n -= 1
                if n < 0:
                    self.assignment_epochs = None
                else:
                    if n * 4 > end - pos:
                        raise length_read("StreamsGroupCurrentMemberAssignmentValueTaskIds.assignment_epochs", n, end - pos)
                    if n < INT32_ARRAY_SHORT:
                        self.assignment_epochs = list(INT32_UNPACK[n](buf, pos))
                    else:
                        self.assignment_epochs = list(_unpack_n(f">{n}i", buf, pos))
                    pos += n * 4
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"StreamsGroupCurrentMemberAssignmentValueTaskIds: tag {tag} does not fill its {size} bytes")
    return self, pos


class StreamsGroupCurrentMemberAssignmentValue:
    """Version 0."""

    __slots__ = ("member_epoch", "previous_member_epoch", "state", "active_tasks", "standby_tasks", "warmup_tasks", "active_tasks_pending_revocation", "standby_tasks_pending_revocation", "warmup_tasks_pending_revocation")

    RECORD_TYPE: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    member_epoch: int
    previous_member_epoch: int
    state: int
    active_tasks: list[StreamsGroupCurrentMemberAssignmentValueTaskIds]
    standby_tasks: list[StreamsGroupCurrentMemberAssignmentValueTaskIds]
    warmup_tasks: list[StreamsGroupCurrentMemberAssignmentValueTaskIds]
    active_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValueTaskIds]
    standby_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValueTaskIds]
    warmup_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValueTaskIds]

    def __init__(
        self,
        *,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        active_tasks: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = _EMPTY,
        standby_tasks: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = _EMPTY,
        warmup_tasks: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = _EMPTY,
        active_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = _EMPTY,
        standby_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = _EMPTY,
        warmup_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = _EMPTY,
    ) -> None:
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch
        self.state = state
        self.active_tasks = [] if active_tasks is _EMPTY else active_tasks
        self.standby_tasks = [] if standby_tasks is _EMPTY else standby_tasks
        self.warmup_tasks = [] if warmup_tasks is _EMPTY else warmup_tasks
        self.active_tasks_pending_revocation = [] if active_tasks_pending_revocation is _EMPTY else active_tasks_pending_revocation
        self.standby_tasks_pending_revocation = [] if standby_tasks_pending_revocation is _EMPTY else standby_tasks_pending_revocation
        self.warmup_tasks_pending_revocation = [] if warmup_tasks_pending_revocation is _EMPTY else warmup_tasks_pending_revocation

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsGroupCurrentMemberAssignmentValue):
            return NotImplemented
        return (
            self.member_epoch == other.member_epoch
            and self.previous_member_epoch == other.previous_member_epoch
            and self.state == other.state
            and self.active_tasks == other.active_tasks
            and self.standby_tasks == other.standby_tasks
            and self.warmup_tasks == other.warmup_tasks
            and self.active_tasks_pending_revocation == other.active_tasks_pending_revocation
            and self.standby_tasks_pending_revocation == other.standby_tasks_pending_revocation
            and self.warmup_tasks_pending_revocation == other.warmup_tasks_pending_revocation
        )

    def __repr__(self) -> str:
        return f"StreamsGroupCurrentMemberAssignmentValue(member_epoch={self.member_epoch!r}, previous_member_epoch={self.previous_member_epoch!r}, state={self.state!r}, active_tasks={self.active_tasks!r}, standby_tasks={self.standby_tasks!r}, warmup_tasks={self.warmup_tasks!r}, active_tasks_pending_revocation={self.active_tasks_pending_revocation!r}, standby_tasks_pending_revocation={self.standby_tasks_pending_revocation!r}, warmup_tasks_pending_revocation={self.warmup_tasks_pending_revocation!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("StreamsGroupCurrentMemberAssignmentValue", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_2ib(self.member_epoch, self.previous_member_epoch, self.state)
            n = len(self.active_tasks)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_active_tasks in self.active_tasks:
                i_active_tasks.encode(out, version)
            n = len(self.standby_tasks)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_standby_tasks in self.standby_tasks:
                i_standby_tasks.encode(out, version)
            n = len(self.warmup_tasks)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_warmup_tasks in self.warmup_tasks:
                i_warmup_tasks.encode(out, version)
            n = len(self.active_tasks_pending_revocation)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_active_tasks_pending_revocation in self.active_tasks_pending_revocation:
                i_active_tasks_pending_revocation.encode(out, version)
            n = len(self.standby_tasks_pending_revocation)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_standby_tasks_pending_revocation in self.standby_tasks_pending_revocation:
                i_standby_tasks_pending_revocation.encode(out, version)
            n = len(self.warmup_tasks_pending_revocation)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_warmup_tasks_pending_revocation in self.warmup_tasks_pending_revocation:
                i_warmup_tasks_pending_revocation.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("StreamsGroupCurrentMemberAssignmentValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[StreamsGroupCurrentMemberAssignmentValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("StreamsGroupCurrentMemberAssignmentValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("StreamsGroupCurrentMemberAssignmentValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_StreamsGroupCurrentMemberAssignmentValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("StreamsGroupCurrentMemberAssignmentValue", version, error) from error
        if pos > end:
            raise decode_failed("StreamsGroupCurrentMemberAssignmentValue", version, "truncated")
        return message, pos


def _read_StreamsGroupCurrentMemberAssignmentValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupCurrentMemberAssignmentValue, int]:
    self = StreamsGroupCurrentMemberAssignmentValue.__new__(StreamsGroupCurrentMemberAssignmentValue)
    self.member_epoch, self.previous_member_epoch, self.state = _unpack_2ib(buf, pos)
    pos += 9
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupCurrentMemberAssignmentValue.active_tasks")
    if n * 3 > end - pos:
        raise length_read("StreamsGroupCurrentMemberAssignmentValue.active_tasks", n, end - pos)
    l_active_tasks: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = []
    for _ in range(n):
        i_active_tasks, pos = _read_StreamsGroupCurrentMemberAssignmentValueTaskIds(buf, pos, end, version)
        l_active_tasks.append(i_active_tasks)
    self.active_tasks = l_active_tasks
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupCurrentMemberAssignmentValue.standby_tasks")
    if n * 3 > end - pos:
        raise length_read("StreamsGroupCurrentMemberAssignmentValue.standby_tasks", n, end - pos)
    l_standby_tasks: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = []
    for _ in range(n):
        i_standby_tasks, pos = _read_StreamsGroupCurrentMemberAssignmentValueTaskIds(buf, pos, end, version)
        l_standby_tasks.append(i_standby_tasks)
    self.standby_tasks = l_standby_tasks
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupCurrentMemberAssignmentValue.warmup_tasks")
    if n * 3 > end - pos:
        raise length_read("StreamsGroupCurrentMemberAssignmentValue.warmup_tasks", n, end - pos)
    l_warmup_tasks: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = []
    for _ in range(n):
        i_warmup_tasks, pos = _read_StreamsGroupCurrentMemberAssignmentValueTaskIds(buf, pos, end, version)
        l_warmup_tasks.append(i_warmup_tasks)
    self.warmup_tasks = l_warmup_tasks
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupCurrentMemberAssignmentValue.active_tasks_pending_revocation")
    if n * 3 > end - pos:
        raise length_read("StreamsGroupCurrentMemberAssignmentValue.active_tasks_pending_revocation", n, end - pos)
    l_active_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = []
    for _ in range(n):
        i_active_tasks_pending_revocation, pos = _read_StreamsGroupCurrentMemberAssignmentValueTaskIds(buf, pos, end, version)
        l_active_tasks_pending_revocation.append(i_active_tasks_pending_revocation)
    self.active_tasks_pending_revocation = l_active_tasks_pending_revocation
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupCurrentMemberAssignmentValue.standby_tasks_pending_revocation")
    if n * 3 > end - pos:
        raise length_read("StreamsGroupCurrentMemberAssignmentValue.standby_tasks_pending_revocation", n, end - pos)
    l_standby_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = []
    for _ in range(n):
        i_standby_tasks_pending_revocation, pos = _read_StreamsGroupCurrentMemberAssignmentValueTaskIds(buf, pos, end, version)
        l_standby_tasks_pending_revocation.append(i_standby_tasks_pending_revocation)
    self.standby_tasks_pending_revocation = l_standby_tasks_pending_revocation
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupCurrentMemberAssignmentValue.warmup_tasks_pending_revocation")
    if n * 3 > end - pos:
        raise length_read("StreamsGroupCurrentMemberAssignmentValue.warmup_tasks_pending_revocation", n, end - pos)
    l_warmup_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = []
    for _ in range(n):
        i_warmup_tasks_pending_revocation, pos = _read_StreamsGroupCurrentMemberAssignmentValueTaskIds(buf, pos, end, version)
        l_warmup_tasks_pending_revocation.append(i_warmup_tasks_pending_revocation)
    self.warmup_tasks_pending_revocation = l_warmup_tasks_pending_revocation
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class StreamsGroupTopologyKey:
    """Version 0."""

    __slots__ = ("group_id",)

    RECORD_TYPE: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id = group_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsGroupTopologyKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
        )

    def __repr__(self) -> str:
        return f"StreamsGroupTopologyKey(group_id={self.group_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("StreamsGroupTopologyKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("StreamsGroupTopologyKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[StreamsGroupTopologyKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("StreamsGroupTopologyKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("StreamsGroupTopologyKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_StreamsGroupTopologyKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("StreamsGroupTopologyKey", version, error) from error
        if pos > end:
            raise decode_failed("StreamsGroupTopologyKey", version, "truncated")
        return message, pos


def _read_StreamsGroupTopologyKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupTopologyKey, int]:
    self = StreamsGroupTopologyKey.__new__(StreamsGroupTopologyKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("StreamsGroupTopologyKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupTopologyKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    return self, pos


class TopicConfig:
    """Part of StreamsGroupTopologyValue."""

    __slots__ = ("key", "value")

    key: str
    value: str

    def __init__(
        self,
        *,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key = key
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TopicConfig):
            return NotImplemented
        return (
            self.key == other.key
            and self.value == other.value
        )

    def __repr__(self) -> str:
        return f"TopicConfig(key={self.key!r}, value={self.value!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.key.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        data = self.value.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf.append(0)


def _read_TopicConfig(buf: memoryview, pos: int, end: int, version: int) -> tuple[TopicConfig, int]:
    self = TopicConfig.__new__(TopicConfig)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicConfig.key")
    stop = pos + n
    if stop > end:
        raise length_read("TopicConfig.key", n, end - pos)
    self.key = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicConfig.value")
    stop = pos + n
    if stop > end:
        raise length_read("TopicConfig.value", n, end - pos)
    self.value = str(buf[pos:stop], "utf-8")
    pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class StreamsGroupTopologyValueTopicInfo:
    """Part of StreamsGroupTopologyValue."""

    __slots__ = ("name", "partitions", "replication_factor", "topic_configs")

    name: str
    partitions: int
    replication_factor: int
    topic_configs: list[TopicConfig]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: list[TopicConfig] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = partitions
        self.replication_factor = replication_factor
        self.topic_configs = [] if topic_configs is _EMPTY else topic_configs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsGroupTopologyValueTopicInfo):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
            and self.replication_factor == other.replication_factor
            and self.topic_configs == other.topic_configs
        )

    def __repr__(self) -> str:
        return f"StreamsGroupTopologyValueTopicInfo(name={self.name!r}, partitions={self.partitions!r}, replication_factor={self.replication_factor!r}, topic_configs={self.topic_configs!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_ih(self.partitions, self.replication_factor)
        n = len(self.topic_configs)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_topic_configs in self.topic_configs:
            i_topic_configs.encode(out, version)
        buf.append(0)


def _read_StreamsGroupTopologyValueTopicInfo(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupTopologyValueTopicInfo, int]:
    self = StreamsGroupTopologyValueTopicInfo.__new__(StreamsGroupTopologyValueTopicInfo)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupTopologyValueTopicInfo.name")
    stop = pos + n
    if stop > end:
        raise length_read("StreamsGroupTopologyValueTopicInfo.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    self.partitions, self.replication_factor = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupTopologyValueTopicInfo.topic_configs")
    if n * 3 > end - pos:
        raise length_read("StreamsGroupTopologyValueTopicInfo.topic_configs", n, end - pos)
    l_topic_configs: list[TopicConfig] = []
    for _ in range(n):
        i_topic_configs, pos = _read_TopicConfig(buf, pos, end, version)
        l_topic_configs.append(i_topic_configs)
    self.topic_configs = l_topic_configs
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class CopartitionGroup:
    """Part of StreamsGroupTopologyValue."""

    __slots__ = ("source_topics", "source_topic_regex", "repartition_source_topics")

    source_topics: list[int]
    source_topic_regex: list[int]
    repartition_source_topics: list[int]

    def __init__(
        self,
        *,
        source_topics: list[int] = _EMPTY,
        source_topic_regex: list[int] = _EMPTY,
        repartition_source_topics: list[int] = _EMPTY,
    ) -> None:
        self.source_topics = [] if source_topics is _EMPTY else source_topics
        self.source_topic_regex = [] if source_topic_regex is _EMPTY else source_topic_regex
        self.repartition_source_topics = [] if repartition_source_topics is _EMPTY else repartition_source_topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CopartitionGroup):
            return NotImplemented
        return (
            self.source_topics == other.source_topics
            and self.source_topic_regex == other.source_topic_regex
            and self.repartition_source_topics == other.repartition_source_topics
        )

    def __repr__(self) -> str:
        return f"CopartitionGroup(source_topics={self.source_topics!r}, source_topic_regex={self.source_topic_regex!r}, repartition_source_topics={self.repartition_source_topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        n = len(self.source_topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n:
            buf += _pack_n(f">{n}h", *self.source_topics)
        n = len(self.source_topic_regex)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n:
            buf += _pack_n(f">{n}h", *self.source_topic_regex)
        n = len(self.repartition_source_topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n:
            buf += _pack_n(f">{n}h", *self.repartition_source_topics)
        buf.append(0)


def _read_CopartitionGroup(buf: memoryview, pos: int, end: int, version: int) -> tuple[CopartitionGroup, int]:
    self = CopartitionGroup.__new__(CopartitionGroup)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("CopartitionGroup.source_topics")
    if n * 2 > end - pos:
        raise length_read("CopartitionGroup.source_topics", n, end - pos)
    self.source_topics = list(_unpack_n(f">{n}h", buf, pos))
    pos += n * 2
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("CopartitionGroup.source_topic_regex")
    if n * 2 > end - pos:
        raise length_read("CopartitionGroup.source_topic_regex", n, end - pos)
    self.source_topic_regex = list(_unpack_n(f">{n}h", buf, pos))
    pos += n * 2
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("CopartitionGroup.repartition_source_topics")
    if n * 2 > end - pos:
        raise length_read("CopartitionGroup.repartition_source_topics", n, end - pos)
    self.repartition_source_topics = list(_unpack_n(f">{n}h", buf, pos))
    pos += n * 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class Subtopology:
    """Part of StreamsGroupTopologyValue."""

    __slots__ = ("subtopology_id", "source_topics", "source_topic_regex", "state_changelog_topics", "repartition_sink_topics", "repartition_source_topics", "copartition_groups")

    subtopology_id: str
    source_topics: list[str]
    source_topic_regex: list[str]
    state_changelog_topics: list[StreamsGroupTopologyValueTopicInfo]
    repartition_sink_topics: list[str]
    repartition_source_topics: list[StreamsGroupTopologyValueTopicInfo]
    copartition_groups: list[CopartitionGroup]

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        source_topics: list[str] = _EMPTY,
        source_topic_regex: list[str] = _EMPTY,
        state_changelog_topics: list[StreamsGroupTopologyValueTopicInfo] = _EMPTY,
        repartition_sink_topics: list[str] = _EMPTY,
        repartition_source_topics: list[StreamsGroupTopologyValueTopicInfo] = _EMPTY,
        copartition_groups: list[CopartitionGroup] = _EMPTY,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics = [] if source_topics is _EMPTY else source_topics
        self.source_topic_regex = [] if source_topic_regex is _EMPTY else source_topic_regex
        self.state_changelog_topics = [] if state_changelog_topics is _EMPTY else state_changelog_topics
        self.repartition_sink_topics = [] if repartition_sink_topics is _EMPTY else repartition_sink_topics
        self.repartition_source_topics = [] if repartition_source_topics is _EMPTY else repartition_source_topics
        self.copartition_groups = [] if copartition_groups is _EMPTY else copartition_groups

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Subtopology):
            return NotImplemented
        return (
            self.subtopology_id == other.subtopology_id
            and self.source_topics == other.source_topics
            and self.source_topic_regex == other.source_topic_regex
            and self.state_changelog_topics == other.state_changelog_topics
            and self.repartition_sink_topics == other.repartition_sink_topics
            and self.repartition_source_topics == other.repartition_source_topics
            and self.copartition_groups == other.copartition_groups
        )

    def __repr__(self) -> str:
        return f"Subtopology(subtopology_id={self.subtopology_id!r}, source_topics={self.source_topics!r}, source_topic_regex={self.source_topic_regex!r}, state_changelog_topics={self.state_changelog_topics!r}, repartition_sink_topics={self.repartition_sink_topics!r}, repartition_source_topics={self.repartition_source_topics!r}, copartition_groups={self.copartition_groups!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.subtopology_id.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        n = len(self.source_topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_source_topics in self.source_topics:
            data = i_source_topics.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
        n = len(self.source_topic_regex)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_source_topic_regex in self.source_topic_regex:
            data = i_source_topic_regex.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
        n = len(self.state_changelog_topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_state_changelog_topics in self.state_changelog_topics:
            i_state_changelog_topics.encode(out, version)
        n = len(self.repartition_sink_topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_repartition_sink_topics in self.repartition_sink_topics:
            data = i_repartition_sink_topics.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
        n = len(self.repartition_source_topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_repartition_source_topics in self.repartition_source_topics:
            i_repartition_source_topics.encode(out, version)
        n = len(self.copartition_groups)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_copartition_groups in self.copartition_groups:
            i_copartition_groups.encode(out, version)
        buf.append(0)


def _read_Subtopology(buf: memoryview, pos: int, end: int, version: int) -> tuple[Subtopology, int]:
    self = Subtopology.__new__(Subtopology)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Subtopology.subtopology_id")
    stop = pos + n
    if stop > end:
        raise length_read("Subtopology.subtopology_id", n, end - pos)
    self.subtopology_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Subtopology.source_topics")
    if n > end - pos:
        raise length_read("Subtopology.source_topics", n, end - pos)
    l_source_topics: list[str] = []
    for _ in range(n):
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("Subtopology.source_topics")
        stop = pos + n
        if stop > end:
            raise length_read("Subtopology.source_topics", n, end - pos)
        l_source_topics.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.source_topics = l_source_topics
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Subtopology.source_topic_regex")
    if n > end - pos:
        raise length_read("Subtopology.source_topic_regex", n, end - pos)
    l_source_topic_regex: list[str] = []
    for _ in range(n):
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("Subtopology.source_topic_regex")
        stop = pos + n
        if stop > end:
            raise length_read("Subtopology.source_topic_regex", n, end - pos)
        l_source_topic_regex.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.source_topic_regex = l_source_topic_regex
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Subtopology.state_changelog_topics")
    if n * 9 > end - pos:
        raise length_read("Subtopology.state_changelog_topics", n, end - pos)
    l_state_changelog_topics: list[StreamsGroupTopologyValueTopicInfo] = []
    for _ in range(n):
        i_state_changelog_topics, pos = _read_StreamsGroupTopologyValueTopicInfo(buf, pos, end, version)
        l_state_changelog_topics.append(i_state_changelog_topics)
    self.state_changelog_topics = l_state_changelog_topics
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Subtopology.repartition_sink_topics")
    if n > end - pos:
        raise length_read("Subtopology.repartition_sink_topics", n, end - pos)
    l_repartition_sink_topics: list[str] = []
    for _ in range(n):
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("Subtopology.repartition_sink_topics")
        stop = pos + n
        if stop > end:
            raise length_read("Subtopology.repartition_sink_topics", n, end - pos)
        l_repartition_sink_topics.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.repartition_sink_topics = l_repartition_sink_topics
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Subtopology.repartition_source_topics")
    if n * 9 > end - pos:
        raise length_read("Subtopology.repartition_source_topics", n, end - pos)
    l_repartition_source_topics: list[StreamsGroupTopologyValueTopicInfo] = []
    for _ in range(n):
        i_repartition_source_topics, pos = _read_StreamsGroupTopologyValueTopicInfo(buf, pos, end, version)
        l_repartition_source_topics.append(i_repartition_source_topics)
    self.repartition_source_topics = l_repartition_source_topics
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Subtopology.copartition_groups")
    if n * 4 > end - pos:
        raise length_read("Subtopology.copartition_groups", n, end - pos)
    l_copartition_groups: list[CopartitionGroup] = []
    for _ in range(n):
        i_copartition_groups, pos = _read_CopartitionGroup(buf, pos, end, version)
        l_copartition_groups.append(i_copartition_groups)
    self.copartition_groups = l_copartition_groups
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class StreamsGroupTopologyValue:
    """Version 0."""

    __slots__ = ("epoch", "subtopologies")

    RECORD_TYPE: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    epoch: int
    subtopologies: list[Subtopology]

    def __init__(
        self,
        *,
        epoch: int = 0,
        subtopologies: list[Subtopology] = _EMPTY,
    ) -> None:
        self.epoch = epoch
        self.subtopologies = [] if subtopologies is _EMPTY else subtopologies

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsGroupTopologyValue):
            return NotImplemented
        return (
            self.epoch == other.epoch
            and self.subtopologies == other.subtopologies
        )

    def __repr__(self) -> str:
        return f"StreamsGroupTopologyValue(epoch={self.epoch!r}, subtopologies={self.subtopologies!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("StreamsGroupTopologyValue", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_i(self.epoch)
            n = len(self.subtopologies)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_subtopologies in self.subtopologies:
                i_subtopologies.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("StreamsGroupTopologyValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[StreamsGroupTopologyValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("StreamsGroupTopologyValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("StreamsGroupTopologyValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_StreamsGroupTopologyValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("StreamsGroupTopologyValue", version, error) from error
        if pos > end:
            raise decode_failed("StreamsGroupTopologyValue", version, "truncated")
        return message, pos


def _read_StreamsGroupTopologyValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[StreamsGroupTopologyValue, int]:
    self = StreamsGroupTopologyValue.__new__(StreamsGroupTopologyValue)
    (self.epoch,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("StreamsGroupTopologyValue.subtopologies")
    if n * 8 > end - pos:
        raise length_read("StreamsGroupTopologyValue.subtopologies", n, end - pos)
    l_subtopologies: list[Subtopology] = []
    for _ in range(n):
        i_subtopologies, pos = _read_Subtopology(buf, pos, end, version)
        l_subtopologies.append(i_subtopologies)
    self.subtopologies = l_subtopologies
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


KEY_TYPES: Final[dict[int, type[Any]]] = {
    0: LegacyOffsetCommitKey,
    1: OffsetCommitKey,
    2: GroupMetadataKey,
    3: ConsumerGroupMetadataKey,
    4: ConsumerGroupPartitionMetadataKey,
    5: ConsumerGroupMemberMetadataKey,
    6: ConsumerGroupTargetAssignmentMetadataKey,
    7: ConsumerGroupTargetAssignmentMemberKey,
    8: ConsumerGroupCurrentMemberAssignmentKey,
    10: ShareGroupMemberMetadataKey,
    11: ShareGroupMetadataKey,
    12: ShareGroupTargetAssignmentMetadataKey,
    13: ShareGroupTargetAssignmentMemberKey,
    14: ShareGroupCurrentMemberAssignmentKey,
    15: ShareGroupStatePartitionMetadataKey,
    16: ConsumerGroupRegularExpressionKey,
    17: StreamsGroupMetadataKey,
    19: StreamsGroupMemberMetadataKey,
    20: StreamsGroupTargetAssignmentMetadataKey,
    21: StreamsGroupTargetAssignmentMemberKey,
    22: StreamsGroupCurrentMemberAssignmentKey,
    23: StreamsGroupTopologyKey,
}

VALUE_TYPES: Final[dict[int, type[Any]]] = {
    0: LegacyOffsetCommitValue,
    1: OffsetCommitValue,
    2: GroupMetadataValue,
    3: ConsumerGroupMetadataValue,
    4: ConsumerGroupPartitionMetadataValue,
    5: ConsumerGroupMemberMetadataValue,
    6: ConsumerGroupTargetAssignmentMetadataValue,
    7: ConsumerGroupTargetAssignmentMemberValue,
    8: ConsumerGroupCurrentMemberAssignmentValue,
    10: ShareGroupMemberMetadataValue,
    11: ShareGroupMetadataValue,
    12: ShareGroupTargetAssignmentMetadataValue,
    13: ShareGroupTargetAssignmentMemberValue,
    14: ShareGroupCurrentMemberAssignmentValue,
    15: ShareGroupStatePartitionMetadataValue,
    16: ConsumerGroupRegularExpressionValue,
    17: StreamsGroupMetadataValue,
    19: StreamsGroupMemberMetadataValue,
    20: StreamsGroupTargetAssignmentMetadataValue,
    21: StreamsGroupTargetAssignmentMemberValue,
    22: StreamsGroupCurrentMemberAssignmentValue,
    23: StreamsGroupTopologyValue,
}
