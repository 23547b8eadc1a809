"""share_group_state. Generated from schema/records/share_group_state.txt by tools/generate_messages.py; do not edit."""

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
    read_uvarint,
    read_uvarint_tail,
    skip_tagged_fields,
    uuid_written,
    write_string_length,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_ui = Struct(">16si").pack
_unpack_ui = Struct(">16si").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_3i3q = Struct(">iiiqqq").pack
_unpack_3i3q = Struct(">iiiqqq").unpack_from
_pack_2iq = Struct(">iiq").pack
_unpack_2iq = Struct(">iiq").unpack_from
_pack_2qbh = Struct(">qqbh").pack
_unpack_2qbh = Struct(">qqbh").unpack_from


class ShareSnapshotKey:
    """Version 0."""

    __slots__ = ("group_id", "topic_id", "partition")

    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str
    topic_id: bytes
    partition: int

    def __init__(
        self,
        *,
        group_id: str = "",
        topic_id: bytes = ZERO_UUID,
        partition: int = 0,
    ) -> None:
        self.group_id = group_id
        self.topic_id = topic_id
        self.partition = partition

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareSnapshotKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.topic_id == other.topic_id
            and self.partition == other.partition
        )

    def __repr__(self) -> str:
        return f"ShareSnapshotKey(group_id={self.group_id!r}, topic_id={self.topic_id!r}, partition={self.partition!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ShareSnapshotKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
            if len(self.topic_id) != 16:
                raise uuid_written("ShareSnapshotKey.topic_id")
            buf += _pack_ui(self.topic_id, self.partition)
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareSnapshotKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareSnapshotKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ShareSnapshotKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareSnapshotKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareSnapshotKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareSnapshotKey", version, error) from error
        if pos > end:
            raise decode_failed("ShareSnapshotKey", version, "truncated")
        return message, pos


def _read_ShareSnapshotKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareSnapshotKey, int]:
    self = ShareSnapshotKey.__new__(ShareSnapshotKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ShareSnapshotKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("ShareSnapshotKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    self.topic_id, self.partition = _unpack_ui(buf, pos)
    pos += 20
    return self, pos


class ShareSnapshotValueStateBatch:
    """Part of ShareSnapshotValue."""

    __slots__ = ("first_offset", "last_offset", "delivery_state", "delivery_count")

    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int

    def __init__(
        self,
        *,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareSnapshotValueStateBatch):
            return NotImplemented
        return (
            self.first_offset == other.first_offset
            and self.last_offset == other.last_offset
            and self.delivery_state == other.delivery_state
            and self.delivery_count == other.delivery_count
        )

    def __repr__(self) -> str:
        return f"ShareSnapshotValueStateBatch(first_offset={self.first_offset!r}, last_offset={self.last_offset!r}, delivery_state={self.delivery_state!r}, delivery_count={self.delivery_count!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_2qbh(self.first_offset, self.last_offset, self.delivery_state, self.delivery_count)
        buf.append(0)


def _read_ShareSnapshotValueStateBatch(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareSnapshotValueStateBatch, int]:
    self = ShareSnapshotValueStateBatch.__new__(ShareSnapshotValueStateBatch)
    self.first_offset, self.last_offset, self.delivery_state, self.delivery_count = _unpack_2qbh(buf, pos)
    pos += 19
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ShareSnapshotValue:
    """Version 0."""

    __slots__ = ("snapshot_epoch", "state_epoch", "leader_epoch", "start_offset", "delivery_complete_count", "create_timestamp", "write_timestamp", "state_batches")

    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    create_timestamp: int
    write_timestamp: int
    state_batches: list[ShareSnapshotValueStateBatch]

    def __init__(
        self,
        *,
        snapshot_epoch: int = 0,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
        create_timestamp: int = 0,
        write_timestamp: int = 0,
        state_batches: list[ShareSnapshotValueStateBatch] = _EMPTY,
    ) -> None:
        self.snapshot_epoch = snapshot_epoch
        self.state_epoch = state_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count
        self.create_timestamp = create_timestamp
        self.write_timestamp = write_timestamp
        self.state_batches = [] if state_batches is _EMPTY else state_batches

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareSnapshotValue):
            return NotImplemented
        return (
            self.snapshot_epoch == other.snapshot_epoch
            and self.state_epoch == other.state_epoch
            and self.leader_epoch == other.leader_epoch
            and self.start_offset == other.start_offset
            and self.delivery_complete_count == other.delivery_complete_count
            and self.create_timestamp == other.create_timestamp
            and self.write_timestamp == other.write_timestamp
            and self.state_batches == other.state_batches
        )

    def __repr__(self) -> str:
        return f"ShareSnapshotValue(snapshot_epoch={self.snapshot_epoch!r}, state_epoch={self.state_epoch!r}, leader_epoch={self.leader_epoch!r}, start_offset={self.start_offset!r}, delivery_complete_count={self.delivery_complete_count!r}, create_timestamp={self.create_timestamp!r}, write_timestamp={self.write_timestamp!r}, state_batches={self.state_batches!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ShareSnapshotValue", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_3i3q(self.snapshot_epoch, self.state_epoch, self.leader_epoch, self.start_offset, self.create_timestamp, self.write_timestamp)
            n = len(self.state_batches)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_state_batches in self.state_batches:
                i_state_batches.encode(out, version)
            count = 0
            if self.delivery_complete_count != -1:
                count += 1
            buf.append(count)
            if count:
                if self.delivery_complete_count != -1:
                    buf += b"\x00\x04"
                    buf += _pack_i(self.delivery_complete_count)
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareSnapshotValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareSnapshotValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ShareSnapshotValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareSnapshotValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareSnapshotValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareSnapshotValue", version, error) from error
        if pos > end:
            raise decode_failed("ShareSnapshotValue", version, "truncated")
        return message, pos


def _read_ShareSnapshotValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareSnapshotValue, int]:
    self = ShareSnapshotValue.__new__(ShareSnapshotValue)
    self.snapshot_epoch, self.state_epoch, self.leader_epoch, self.start_offset, self.create_timestamp, self.write_timestamp = _unpack_3i3q(buf, pos)
    pos += 36
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareSnapshotValue.state_batches")
    if n * 20 > end - pos:
        raise length_read("ShareSnapshotValue.state_batches", n, end - pos)
    l_state_batches: list[ShareSnapshotValueStateBatch] = []
    for _ in range(n):
        i_state_batches, pos = _read_ShareSnapshotValueStateBatch(buf, pos, end, version)
        l_state_batches.append(i_state_batches)
    self.state_batches = l_state_batches
    self.delivery_complete_count = -1
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("ShareSnapshotValue tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("ShareSnapshotValue tag", size, end - pos)
            if tag == 0:
                (self.delivery_complete_count,) = _unpack_i(buf, pos)
                pos += 4
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"ShareSnapshotValue: tag {tag} does not fill its {size} bytes")
    return self, pos


class ShareUpdateKey:
    """Version 0."""

    __slots__ = ("group_id", "topic_id", "partition")

    RECORD_TYPE: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    group_id: str
    topic_id: bytes
    partition: int

    def __init__(
        self,
        *,
        group_id: str = "",
        topic_id: bytes = ZERO_UUID,
        partition: int = 0,
    ) -> None:
        self.group_id = group_id
        self.topic_id = topic_id
        self.partition = partition

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareUpdateKey):
            return NotImplemented
        return (
            self.group_id == other.group_id
            and self.topic_id == other.topic_id
            and self.partition == other.partition
        )

    def __repr__(self) -> str:
        return f"ShareUpdateKey(group_id={self.group_id!r}, topic_id={self.topic_id!r}, partition={self.partition!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ShareUpdateKey", version, "no such version")
        try:
            buf = out.buf
            data = self.group_id.encode()
            n = len(data)
            buf += _pack_h(n)
            buf += data
            if len(self.topic_id) != 16:
                raise uuid_written("ShareUpdateKey.topic_id")
            buf += _pack_ui(self.topic_id, self.partition)
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareUpdateKey", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareUpdateKey, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ShareUpdateKey", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareUpdateKey", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareUpdateKey(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareUpdateKey", version, error) from error
        if pos > end:
            raise decode_failed("ShareUpdateKey", version, "truncated")
        return message, pos


def _read_ShareUpdateKey(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareUpdateKey, int]:
    self = ShareUpdateKey.__new__(ShareUpdateKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ShareUpdateKey.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("ShareUpdateKey.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    self.topic_id, self.partition = _unpack_ui(buf, pos)
    pos += 20
    return self, pos


class ShareUpdateValueStateBatch:
    """Part of ShareUpdateValue."""

    __slots__ = ("first_offset", "last_offset", "delivery_state", "delivery_count")

    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int

    def __init__(
        self,
        *,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareUpdateValueStateBatch):
            return NotImplemented
        return (
            self.first_offset == other.first_offset
            and self.last_offset == other.last_offset
            and self.delivery_state == other.delivery_state
            and self.delivery_count == other.delivery_count
        )

    def __repr__(self) -> str:
        return f"ShareUpdateValueStateBatch(first_offset={self.first_offset!r}, last_offset={self.last_offset!r}, delivery_state={self.delivery_state!r}, delivery_count={self.delivery_count!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_2qbh(self.first_offset, self.last_offset, self.delivery_state, self.delivery_count)
        buf.append(0)


def _read_ShareUpdateValueStateBatch(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareUpdateValueStateBatch, int]:
    self = ShareUpdateValueStateBatch.__new__(ShareUpdateValueStateBatch)
    self.first_offset, self.last_offset, self.delivery_state, self.delivery_count = _unpack_2qbh(buf, pos)
    pos += 19
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ShareUpdateValue:
    """Version 0."""

    __slots__ = ("snapshot_epoch", "leader_epoch", "start_offset", "delivery_complete_count", "state_batches")

    RECORD_TYPE: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    snapshot_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    state_batches: list[ShareUpdateValueStateBatch]

    def __init__(
        self,
        *,
        snapshot_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
        state_batches: list[ShareUpdateValueStateBatch] = _EMPTY,
    ) -> None:
        self.snapshot_epoch = snapshot_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count
        self.state_batches = [] if state_batches is _EMPTY else state_batches

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShareUpdateValue):
            return NotImplemented
        return (
            self.snapshot_epoch == other.snapshot_epoch
            and self.leader_epoch == other.leader_epoch
            and self.start_offset == other.start_offset
            and self.delivery_complete_count == other.delivery_complete_count
            and self.state_batches == other.state_batches
        )

    def __repr__(self) -> str:
        return f"ShareUpdateValue(snapshot_epoch={self.snapshot_epoch!r}, leader_epoch={self.leader_epoch!r}, start_offset={self.start_offset!r}, delivery_complete_count={self.delivery_complete_count!r}, state_batches={self.state_batches!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ShareUpdateValue", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_2iq(self.snapshot_epoch, self.leader_epoch, self.start_offset)
            n = len(self.state_batches)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_state_batches in self.state_batches:
                i_state_batches.encode(out, version)
            count = 0
            if self.delivery_complete_count != -1:
                count += 1
            buf.append(count)
            if count:
                if self.delivery_complete_count != -1:
                    buf += b"\x00\x04"
                    buf += _pack_i(self.delivery_complete_count)
        except ENCODE_FAILURES as error:
            raise encode_failed("ShareUpdateValue", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ShareUpdateValue, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ShareUpdateValue", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ShareUpdateValue", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ShareUpdateValue(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ShareUpdateValue", version, error) from error
        if pos > end:
            raise decode_failed("ShareUpdateValue", version, "truncated")
        return message, pos


def _read_ShareUpdateValue(buf: memoryview, pos: int, end: int, version: int) -> tuple[ShareUpdateValue, int]:
    self = ShareUpdateValue.__new__(ShareUpdateValue)
    self.snapshot_epoch, self.leader_epoch, self.start_offset = _unpack_2iq(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ShareUpdateValue.state_batches")
    if n * 20 > end - pos:
        raise length_read("ShareUpdateValue.state_batches", n, end - pos)
    l_state_batches: list[ShareUpdateValueStateBatch] = []
    for _ in range(n):
        i_state_batches, pos = _read_ShareUpdateValueStateBatch(buf, pos, end, version)
        l_state_batches.append(i_state_batches)
    self.state_batches = l_state_batches
    self.delivery_complete_count = -1
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("ShareUpdateValue tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("ShareUpdateValue tag", size, end - pos)
            if tag == 0:
                (self.delivery_complete_count,) = _unpack_i(buf, pos)
                pos += 4
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"ShareUpdateValue: tag {tag} does not fill its {size} bytes")
    return self, pos


KEY_TYPES: Final[dict[int, type[Any]]] = {
    0: ShareSnapshotKey,
    1: ShareUpdateKey,
}

VALUE_TYPES: Final[dict[int, type[Any]]] = {
    0: ShareSnapshotValue,
    1: ShareUpdateValue,
}
