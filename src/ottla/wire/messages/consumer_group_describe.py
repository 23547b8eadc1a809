"""ConsumerGroupDescribe. Generated from schema/consumer_group_describe.txt by tools/generate_messages.py; do not edit."""

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
_pack_u = Struct(">16s").pack
_unpack_u = Struct(">16s").unpack_from
_pack_z = Struct(">?").pack
_unpack_z = Struct(">?").unpack_from
_pack_b = Struct(">b").pack
_unpack_b = Struct(">b").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_2i = Struct(">ii").pack
_unpack_2i = Struct(">ii").unpack_from


class ConsumerGroupDescribeRequest:
    """Versions 0 to 1."""

    __slots__ = ("group_ids", "include_authorized_operations")

    API_KEY: ClassVar[int] = 69
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    group_ids: list[str]
    include_authorized_operations: bool

    def __init__(
        self,
        *,
        group_ids: list[str] = _EMPTY,
        include_authorized_operations: bool = False,
    ) -> None:
        self.group_ids = [] if group_ids is _EMPTY else group_ids
        self.include_authorized_operations = include_authorized_operations

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerGroupDescribeRequest):
            return NotImplemented
        return (
            self.group_ids == other.group_ids
            and self.include_authorized_operations == other.include_authorized_operations
        )

    def __repr__(self) -> str:
        return f"ConsumerGroupDescribeRequest(group_ids={self.group_ids!r}, include_authorized_operations={self.include_authorized_operations!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("ConsumerGroupDescribeRequest", version, "no such version")
        try:
            buf = out.buf
            n = len(self.group_ids)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_group_ids in self.group_ids:
                data = i_group_ids.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            buf += _pack_z(self.include_authorized_operations)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ConsumerGroupDescribeRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ConsumerGroupDescribeRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("ConsumerGroupDescribeRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ConsumerGroupDescribeRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ConsumerGroupDescribeRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ConsumerGroupDescribeRequest", version, error) from error
        if pos > end:
            raise decode_failed("ConsumerGroupDescribeRequest", version, "truncated")
        return message, pos


def _read_ConsumerGroupDescribeRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerGroupDescribeRequest, int]:
    self = ConsumerGroupDescribeRequest.__new__(ConsumerGroupDescribeRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ConsumerGroupDescribeRequest.group_ids")
    if n > end - pos:
        raise length_read("ConsumerGroupDescribeRequest.group_ids", n, end - pos)
    l_group_ids: list[str] = []
    for _ in range(n):
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("ConsumerGroupDescribeRequest.group_ids")
        stop = pos + n
        if stop > end:
            raise length_read("ConsumerGroupDescribeRequest.group_ids", n, end - pos)
        l_group_ids.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.group_ids = l_group_ids
    self.include_authorized_operations = buf[pos] != 0
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class TopicPartitions:
    """Part of ConsumerGroupDescribeResponse."""

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
        if not isinstance(other, TopicPartitions):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.topic_name == other.topic_name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"TopicPartitions(topic_id={self.topic_id!r}, topic_name={self.topic_name!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("TopicPartitions.topic_id")
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


def _read_TopicPartitions(buf: memoryview, pos: int, end: int, version: int) -> tuple[TopicPartitions, int]:
    self = TopicPartitions.__new__(TopicPartitions)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicPartitions.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("TopicPartitions.topic_name", n, end - pos)
    self.topic_name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicPartitions.partitions")
    if n * 4 > end - pos:
        raise length_read("TopicPartitions.partitions", n, end - pos)
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


class Assignment:
    """Part of ConsumerGroupDescribeResponse."""

    __slots__ = ("topic_partitions",)

    topic_partitions: list[TopicPartitions]

    def __init__(
        self,
        *,
        topic_partitions: list[TopicPartitions] = _EMPTY,
    ) -> None:
        self.topic_partitions = [] if topic_partitions is _EMPTY else topic_partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Assignment):
            return NotImplemented
        return (
            self.topic_partitions == other.topic_partitions
        )

    def __repr__(self) -> str:
        return f"Assignment(topic_partitions={self.topic_partitions!r})"

    def _is_default(self) -> bool:
        return not ((self.topic_partitions))

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        n = len(self.topic_partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_topic_partitions in self.topic_partitions:
            i_topic_partitions.encode(out, version)
        buf.append(0)


def _read_Assignment(buf: memoryview, pos: int, end: int, version: int) -> tuple[Assignment, int]:
    self = Assignment.__new__(Assignment)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Assignment.topic_partitions")
    if n * 19 > end - pos:
        raise length_read("Assignment.topic_partitions", n, end - pos)
    l_topic_partitions: list[TopicPartitions] = []
    for _ in range(n):
        i_topic_partitions, pos = _read_TopicPartitions(buf, pos, end, version)
        l_topic_partitions.append(i_topic_partitions)
    self.topic_partitions = l_topic_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class Member:
    """Part of ConsumerGroupDescribeResponse."""

    __slots__ = ("member_id", "instance_id", "rack_id", "member_epoch", "client_id", "client_host", "subscribed_topic_names", "subscribed_topic_regex", "assignment", "target_assignment", "member_type")

    member_id: str
    instance_id: str | None
    rack_id: str | None
    member_epoch: int
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str | None
    assignment: Assignment
    target_assignment: Assignment
    member_type: int

    def __init__(
        self,
        *,
        member_id: str = "",
        instance_id: str | None = None,
        rack_id: str | None = None,
        member_epoch: int = 0,
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = _EMPTY,
        subscribed_topic_regex: str | None = None,
        assignment: Assignment | None = None,
        target_assignment: Assignment | None = None,
        member_type: int = -1,
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.member_epoch = member_epoch
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = [] if subscribed_topic_names is _EMPTY else subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.assignment = Assignment() if assignment is None else assignment
        self.target_assignment = Assignment() if target_assignment is None else target_assignment
        self.member_type = member_type

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Member):
            return NotImplemented
        return (
            self.member_id == other.member_id
            and self.instance_id == other.instance_id
            and self.rack_id == other.rack_id
            and self.member_epoch == other.member_epoch
            and self.client_id == other.client_id
            and self.client_host == other.client_host
            and self.subscribed_topic_names == other.subscribed_topic_names
            and self.subscribed_topic_regex == other.subscribed_topic_regex
            and self.assignment == other.assignment
            and self.target_assignment == other.target_assignment
            and self.member_type == other.member_type
        )

    def __repr__(self) -> str:
        return f"Member(member_id={self.member_id!r}, instance_id={self.instance_id!r}, rack_id={self.rack_id!r}, member_epoch={self.member_epoch!r}, client_id={self.client_id!r}, client_host={self.client_host!r}, subscribed_topic_names={self.subscribed_topic_names!r}, subscribed_topic_regex={self.subscribed_topic_regex!r}, assignment={self.assignment!r}, target_assignment={self.target_assignment!r}, member_type={self.member_type!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.member_id.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
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
        buf += _pack_i(self.member_epoch)
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
        self.assignment.encode(out, version)
        self.target_assignment.encode(out, version)
        if version >= 1:
            buf += _pack_b(self.member_type)
        buf.append(0)


def _read_Member(buf: memoryview, pos: int, end: int, version: int) -> tuple[Member, int]:
    self = Member.__new__(Member)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Member.member_id")
    stop = pos + n
    if stop > end:
        raise length_read("Member.member_id", n, end - pos)
    self.member_id = str(buf[pos:stop], "utf-8")
    pos = stop
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
            raise length_read("Member.instance_id", n, end - pos)
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
            raise length_read("Member.rack_id", n, end - pos)
        self.rack_id = str(buf[pos:stop], "utf-8")
        pos = stop
    (self.member_epoch,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Member.client_id")
    stop = pos + n
    if stop > end:
        raise length_read("Member.client_id", n, end - pos)
    self.client_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Member.client_host")
    stop = pos + n
    if stop > end:
        raise length_read("Member.client_host", n, end - pos)
    self.client_host = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Member.subscribed_topic_names")
    if n > end - pos:
        raise length_read("Member.subscribed_topic_names", n, end - pos)
    l_subscribed_topic_names: list[str] = []
    for _ in range(n):
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("Member.subscribed_topic_names")
        stop = pos + n
        if stop > end:
            raise length_read("Member.subscribed_topic_names", n, end - pos)
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
            raise length_read("Member.subscribed_topic_regex", n, end - pos)
        self.subscribed_topic_regex = str(buf[pos:stop], "utf-8")
        pos = stop
    self.assignment, pos = _read_Assignment(buf, pos, end, version)
    self.target_assignment, pos = _read_Assignment(buf, pos, end, version)
    if version >= 1:
        (self.member_type,) = _unpack_b(buf, pos)
        pos += 1
    else:
        self.member_type = -1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribedGroup:
    """Part of ConsumerGroupDescribeResponse."""

    __slots__ = ("error_code", "error_message", "group_id", "group_state", "group_epoch", "assignment_epoch", "assignor_name", "members", "authorized_operations")

    error_code: int
    error_message: str | None
    group_id: str
    group_state: str
    group_epoch: int
    assignment_epoch: int
    assignor_name: str
    members: list[Member]
    authorized_operations: int

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        assignor_name: str = "",
        members: list[Member] = _EMPTY,
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.assignor_name = assignor_name
        self.members = [] if members is _EMPTY else members
        self.authorized_operations = authorized_operations

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribedGroup):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.group_id == other.group_id
            and self.group_state == other.group_state
            and self.group_epoch == other.group_epoch
            and self.assignment_epoch == other.assignment_epoch
            and self.assignor_name == other.assignor_name
            and self.members == other.members
            and self.authorized_operations == other.authorized_operations
        )

    def __repr__(self) -> str:
        return f"DescribedGroup(error_code={self.error_code!r}, error_message={self.error_message!r}, group_id={self.group_id!r}, group_state={self.group_state!r}, group_epoch={self.group_epoch!r}, assignment_epoch={self.assignment_epoch!r}, assignor_name={self.assignor_name!r}, members={self.members!r}, authorized_operations={self.authorized_operations!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_h(self.error_code)
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
        data = self.group_id.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        data = self.group_state.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_2i(self.group_epoch, self.assignment_epoch)
        data = self.assignor_name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        n = len(self.members)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_members in self.members:
            i_members.encode(out, version)
        buf += _pack_i(self.authorized_operations)
        buf.append(0)


def _read_DescribedGroup(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribedGroup, int]:
    self = DescribedGroup.__new__(DescribedGroup)
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
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
            raise length_read("DescribedGroup.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribedGroup.group_id")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedGroup.group_id", n, end - pos)
    self.group_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribedGroup.group_state")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedGroup.group_state", n, end - pos)
    self.group_state = str(buf[pos:stop], "utf-8")
    pos = stop
    self.group_epoch, self.assignment_epoch = _unpack_2i(buf, pos)
    pos += 8
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribedGroup.assignor_name")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedGroup.assignor_name", n, end - pos)
    self.assignor_name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribedGroup.members")
    if n * 16 > end - pos:
        raise length_read("DescribedGroup.members", n, end - pos)
    l_members: list[Member] = []
    for _ in range(n):
        i_members, pos = _read_Member(buf, pos, end, version)
        l_members.append(i_members)
    self.members = l_members
    (self.authorized_operations,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ConsumerGroupDescribeResponse:
    """Versions 0 to 1."""

    __slots__ = ("throttle_time_ms", "groups")

    API_KEY: ClassVar[int] = 69
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    groups: list[DescribedGroup]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: list[DescribedGroup] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is _EMPTY else groups

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsumerGroupDescribeResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.groups == other.groups
        )

    def __repr__(self) -> str:
        return f"ConsumerGroupDescribeResponse(throttle_time_ms={self.throttle_time_ms!r}, groups={self.groups!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("ConsumerGroupDescribeResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_i(self.throttle_time_ms)
            n = len(self.groups)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_groups in self.groups:
                i_groups.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ConsumerGroupDescribeResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ConsumerGroupDescribeResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("ConsumerGroupDescribeResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ConsumerGroupDescribeResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ConsumerGroupDescribeResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ConsumerGroupDescribeResponse", version, error) from error
        if pos > end:
            raise decode_failed("ConsumerGroupDescribeResponse", version, "truncated")
        return message, pos


def _read_ConsumerGroupDescribeResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConsumerGroupDescribeResponse, int]:
    self = ConsumerGroupDescribeResponse.__new__(ConsumerGroupDescribeResponse)
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ConsumerGroupDescribeResponse.groups")
    if n * 20 > end - pos:
        raise length_read("ConsumerGroupDescribeResponse.groups", n, end - pos)
    l_groups: list[DescribedGroup] = []
    for _ in range(n):
        i_groups, pos = _read_DescribedGroup(buf, pos, end, version)
        l_groups.append(i_groups)
    self.groups = l_groups
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
