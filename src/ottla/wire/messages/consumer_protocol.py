"""consumer_protocol. Generated from schema/consumer_protocol.txt by tools/generate_messages.py; do not edit."""

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
    write_string_length,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from


class ConsumerProtocolSubscriptionTopicPartition:
    """Part of ConsumerProtocolSubscription."""

    __slots__ = ("topic", "partitions")

    topic: str
    partitions: list[int]

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = _EMPTY,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerProtocolSubscriptionTopicPartition):
            return NotImplemented
        return (
            self.topic == other.topic
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"ConsumerProtocolSubscriptionTopicPartition(topic={self.topic!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.topic.encode()
        n = len(data)
        buf += _pack_h(n)
        buf += data
        n = len(self.partitions)
        buf += _pack_i(n)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.partitions)
        else:
            buf += _pack_n(f">{n}i", *self.partitions)


def _read_ConsumerProtocolSubscriptionTopicPartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerProtocolSubscriptionTopicPartition, int]:
    self = ConsumerProtocolSubscriptionTopicPartition.__new__(ConsumerProtocolSubscriptionTopicPartition)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ConsumerProtocolSubscriptionTopicPartition.topic")
    stop = pos + n
    if stop > end:
        raise length_read("ConsumerProtocolSubscriptionTopicPartition.topic", n, end - pos)
    self.topic = str(buf[pos:stop], "utf-8")
    pos = stop
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_read("ConsumerProtocolSubscriptionTopicPartition.partitions")
    if n * 4 > end - pos:
        raise length_read("ConsumerProtocolSubscriptionTopicPartition.partitions", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.partitions = list(INT32_UNPACK[n](buf, pos))
    else:
        self.partitions = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    return self, pos


class ConsumerProtocolSubscription:
    """Versions 0 to 3."""

    __slots__ = ("topics", "user_data", "owned_partitions", "generation_id", "rack_id")

    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    topics: list[str]
    user_data: bytes | None
    owned_partitions: list[ConsumerProtocolSubscriptionTopicPartition]
    generation_id: int
    rack_id: str | None

    def __init__(
        self,
        *,
        topics: list[str] = _EMPTY,
        user_data: bytes | None = None,
        owned_partitions: list[ConsumerProtocolSubscriptionTopicPartition] = _EMPTY,
        generation_id: int = -1,
        rack_id: str | None = None,
    ) -> None:
        self.topics = [] if topics is _EMPTY else topics
        self.user_data = user_data
        self.owned_partitions = [] if owned_partitions is _EMPTY else owned_partitions
        self.generation_id = generation_id
        self.rack_id = rack_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerProtocolSubscription):
            return NotImplemented
        return (
            self.topics == other.topics
            and self.user_data == other.user_data
            and self.owned_partitions == other.owned_partitions
            and self.generation_id == other.generation_id
            and self.rack_id == other.rack_id
        )

    def __repr__(self) -> str:
        return f"ConsumerProtocolSubscription(topics={self.topics!r}, user_data={self.user_data!r}, owned_partitions={self.owned_partitions!r}, generation_id={self.generation_id!r}, rack_id={self.rack_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 3:
            raise encode_failed("ConsumerProtocolSubscription", version, "no such version")
        try:
            buf = out.buf
            n = len(self.topics)
            buf += _pack_i(n)
            for i_topics in self.topics:
                data = i_topics.encode()
                n = len(data)
                buf += _pack_h(n)
                buf += data
            v_user_data = self.user_data
            if v_user_data is None:
                buf += b"\xff\xff\xff\xff"
            else:
                n = len(v_user_data)
                buf += _pack_i(n)
                buf += v_user_data
            if version >= 1:
                n = len(self.owned_partitions)
                buf += _pack_i(n)
                for i_owned_partitions in self.owned_partitions:
                    i_owned_partitions.encode(out, version)
            if version >= 2:
                buf += _pack_i(self.generation_id)
            if version >= 3:
                v_rack_id = self.rack_id
                if v_rack_id is None:
                    buf += b"\xff\xff"
                else:
                    data = v_rack_id.encode()
                    n = len(data)
                    buf += _pack_h(n)
                    buf += data
        except ENCODE_FAILURES as error:
            raise encode_failed("ConsumerProtocolSubscription", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ConsumerProtocolSubscription, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 3:
            raise decode_failed("ConsumerProtocolSubscription", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ConsumerProtocolSubscription", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ConsumerProtocolSubscription(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ConsumerProtocolSubscription", version, error) from error
        if pos > end:
            raise decode_failed("ConsumerProtocolSubscription", version, "truncated")
        return message, pos


def _read_ConsumerProtocolSubscription(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerProtocolSubscription, int]:
    self = ConsumerProtocolSubscription.__new__(ConsumerProtocolSubscription)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_read("ConsumerProtocolSubscription.topics")
    if n > end - pos:
        raise length_read("ConsumerProtocolSubscription.topics", n, end - pos)
    l_topics: list[str] = []
    for _ in range(n):
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_read("ConsumerProtocolSubscription.topics")
        stop = pos + n
        if stop > end:
            raise length_read("ConsumerProtocolSubscription.topics", n, end - pos)
        l_topics.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.topics = l_topics
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        self.user_data = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("ConsumerProtocolSubscription.user_data", n, end - pos)
        self.user_data = bytes(buf[pos:stop])
        pos = stop
    if version >= 1:
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_read("ConsumerProtocolSubscription.owned_partitions")
        if n * 6 > end - pos:
            raise length_read("ConsumerProtocolSubscription.owned_partitions", n, end - pos)
        l_owned_partitions: list[ConsumerProtocolSubscriptionTopicPartition] = []
        for _ in range(n):
            i_owned_partitions, pos = _read_ConsumerProtocolSubscriptionTopicPartition(buf, pos, end, version)
            l_owned_partitions.append(i_owned_partitions)
        self.owned_partitions = l_owned_partitions
    else:
        self.owned_partitions = []
    if version >= 2:
        (self.generation_id,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.generation_id = -1
    if version >= 3:
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            self.rack_id = None
        else:
            stop = pos + n
            if stop > end:
                raise length_read("ConsumerProtocolSubscription.rack_id", n, end - pos)
            self.rack_id = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.rack_id = None
    return self, pos


class ConsumerProtocolAssignmentTopicPartition:
    """Part of ConsumerProtocolAssignment."""

    __slots__ = ("topic", "partitions")

    topic: str
    partitions: list[int]

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = _EMPTY,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerProtocolAssignmentTopicPartition):
            return NotImplemented
        return (
            self.topic == other.topic
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"ConsumerProtocolAssignmentTopicPartition(topic={self.topic!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.topic.encode()
        n = len(data)
        buf += _pack_h(n)
        buf += data
        n = len(self.partitions)
        buf += _pack_i(n)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.partitions)
        else:
            buf += _pack_n(f">{n}i", *self.partitions)


def _read_ConsumerProtocolAssignmentTopicPartition(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerProtocolAssignmentTopicPartition, int]:
    self = ConsumerProtocolAssignmentTopicPartition.__new__(ConsumerProtocolAssignmentTopicPartition)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_read("ConsumerProtocolAssignmentTopicPartition.topic")
    stop = pos + n
    if stop > end:
        raise length_read("ConsumerProtocolAssignmentTopicPartition.topic", n, end - pos)
    self.topic = str(buf[pos:stop], "utf-8")
    pos = stop
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_read("ConsumerProtocolAssignmentTopicPartition.partitions")
    if n * 4 > end - pos:
        raise length_read("ConsumerProtocolAssignmentTopicPartition.partitions", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.partitions = list(INT32_UNPACK[n](buf, pos))
    else:
        self.partitions = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    return self, pos


class ConsumerProtocolAssignment:
    """Versions 0 to 3."""

    __slots__ = ("assigned_partitions", "user_data")

    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767

    assigned_partitions: list[ConsumerProtocolAssignmentTopicPartition]
    user_data: bytes | None

    def __init__(
        self,
        *,
        assigned_partitions: list[ConsumerProtocolAssignmentTopicPartition] = _EMPTY,
        user_data: bytes | None = None,
    ) -> None:
        self.assigned_partitions = [] if assigned_partitions is _EMPTY else assigned_partitions
        self.user_data = user_data

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerProtocolAssignment):
            return NotImplemented
        return (
            self.assigned_partitions == other.assigned_partitions
            and self.user_data == other.user_data
        )

    def __repr__(self) -> str:
        return f"ConsumerProtocolAssignment(assigned_partitions={self.assigned_partitions!r}, user_data={self.user_data!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 3:
            raise encode_failed("ConsumerProtocolAssignment", version, "no such version")
        try:
            buf = out.buf
            n = len(self.assigned_partitions)
            buf += _pack_i(n)
            for i_assigned_partitions in self.assigned_partitions:
                i_assigned_partitions.encode(out, version)
            v_user_data = self.user_data
            if v_user_data is None:
                buf += b"\xff\xff\xff\xff"
            else:
                n = len(v_user_data)
                buf += _pack_i(n)
                buf += v_user_data
        except ENCODE_FAILURES as error:
            raise encode_failed("ConsumerProtocolAssignment", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ConsumerProtocolAssignment, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 3:
            raise decode_failed("ConsumerProtocolAssignment", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ConsumerProtocolAssignment", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ConsumerProtocolAssignment(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ConsumerProtocolAssignment", version, error) from error
        if pos > end:
            raise decode_failed("ConsumerProtocolAssignment", version, "truncated")
        return message, pos


def _read_ConsumerProtocolAssignment(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerProtocolAssignment, int]:
    self = ConsumerProtocolAssignment.__new__(ConsumerProtocolAssignment)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_read("ConsumerProtocolAssignment.assigned_partitions")
    if n * 6 > end - pos:
        raise length_read("ConsumerProtocolAssignment.assigned_partitions", n, end - pos)
    l_assigned_partitions: list[ConsumerProtocolAssignmentTopicPartition] = []
    for _ in range(n):
        i_assigned_partitions, pos = _read_ConsumerProtocolAssignmentTopicPartition(buf, pos, end, version)
        l_assigned_partitions.append(i_assigned_partitions)
    self.assigned_partitions = l_assigned_partitions
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        self.user_data = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("ConsumerProtocolAssignment.user_data", n, end - pos)
        self.user_data = bytes(buf[pos:stop])
        pos = stop
    return self, pos
