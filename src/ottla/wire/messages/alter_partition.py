"""AlterPartition. Generated from schema/alter_partition.txt by tools/generate_messages.py; do not edit."""

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
    field_unsupported,
    length_read,
    null_read,
    read_uvarint_tail,
    skip_tagged_fields,
    uuid_written,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_u = Struct(">16s").pack
_unpack_u = Struct(">16s").unpack_from
_pack_bi = Struct(">bi").pack
_unpack_bi = Struct(">bi").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from
_pack_ih2i = Struct(">ihii").pack
_unpack_ih2i = Struct(">ihii").unpack_from
_pack_2i = Struct(">ii").pack
_unpack_2i = Struct(">ii").unpack_from
_pack_iq = Struct(">iq").pack
_unpack_iq = Struct(">iq").unpack_from


class BrokerState:
    """Part of AlterPartitionRequest."""

    __slots__ = ("broker_id", "broker_epoch")

    broker_id: int
    broker_epoch: int

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BrokerState):
            return NotImplemented
        return (
            self.broker_id == other.broker_id
            and self.broker_epoch == other.broker_epoch
        )

    def __repr__(self) -> str:
        return f"BrokerState(broker_id={self.broker_id!r}, broker_epoch={self.broker_epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_iq(self.broker_id, self.broker_epoch)
        buf.append(0)


def _read_BrokerState(buf: memoryview, pos: int, end: int, version: int) -> tuple[BrokerState, int]:
    self = BrokerState.__new__(BrokerState)
    self.broker_id, self.broker_epoch = _unpack_iq(buf, pos)
    pos += 12
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterPartitionRequestPartitionData:
    """Part of AlterPartitionRequest."""

    __slots__ = ("partition_index", "leader_epoch", "new_isr", "new_isr_with_epochs", "leader_recovery_state", "partition_epoch")

    partition_index: int
    leader_epoch: int
    new_isr: list[int]
    new_isr_with_epochs: list[BrokerState]
    leader_recovery_state: int
    partition_epoch: int

    def __init__(
        self,
        *,
        partition_index: int = 0,
        leader_epoch: int = 0,
        new_isr: list[int] = _EMPTY,
        new_isr_with_epochs: list[BrokerState] = _EMPTY,
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.leader_epoch = leader_epoch
        self.new_isr = [] if new_isr is _EMPTY else new_isr
        self.new_isr_with_epochs = [] if new_isr_with_epochs is _EMPTY else new_isr_with_epochs
        self.leader_recovery_state = leader_recovery_state
        self.partition_epoch = partition_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterPartitionRequestPartitionData):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.leader_epoch == other.leader_epoch
            and self.new_isr == other.new_isr
            and self.new_isr_with_epochs == other.new_isr_with_epochs
            and self.leader_recovery_state == other.leader_recovery_state
            and self.partition_epoch == other.partition_epoch
        )

    def __repr__(self) -> str:
        return f"AlterPartitionRequestPartitionData(partition_index={self.partition_index!r}, leader_epoch={self.leader_epoch!r}, new_isr={self.new_isr!r}, new_isr_with_epochs={self.new_isr_with_epochs!r}, leader_recovery_state={self.leader_recovery_state!r}, partition_epoch={self.partition_epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        if version > 2:
            if self.new_isr:
                raise field_unsupported("AlterPartitionRequestPartitionData.new_isr", version)
        if version < 3:
            if self.new_isr_with_epochs:
                raise field_unsupported("AlterPartitionRequestPartitionData.new_isr_with_epochs", version)
        buf = out.buf
        buf += _pack_2i(self.partition_index, self.leader_epoch)
        if version <= 2:
            n = len(self.new_isr)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            if n < INT32_ARRAY_SHORT:
                buf += INT32_PACK[n](*self.new_isr)
            else:
                buf += _pack_n(f">{n}i", *self.new_isr)
        if version >= 3:
            n = len(self.new_isr_with_epochs)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_new_isr_with_epochs in self.new_isr_with_epochs:
                i_new_isr_with_epochs.encode(out, version)
        buf += _pack_bi(self.leader_recovery_state, self.partition_epoch)
        buf.append(0)


def _read_AlterPartitionRequestPartitionData(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterPartitionRequestPartitionData, int]:
    self = AlterPartitionRequestPartitionData.__new__(AlterPartitionRequestPartitionData)
    self.partition_index, self.leader_epoch = _unpack_2i(buf, pos)
    pos += 8
    if version <= 2:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("AlterPartitionRequestPartitionData.new_isr")
        if n * 4 > end - pos:
            raise length_read("AlterPartitionRequestPartitionData.new_isr", n, end - pos)
        if n < INT32_ARRAY_SHORT:
            self.new_isr = list(INT32_UNPACK[n](buf, pos))
        else:
            self.new_isr = list(_unpack_n(f">{n}i", buf, pos))
        pos += n * 4
    else:
        self.new_isr = []
    if version >= 3:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("AlterPartitionRequestPartitionData.new_isr_with_epochs")
        if n * 13 > end - pos:
            raise length_read("AlterPartitionRequestPartitionData.new_isr_with_epochs", n, end - pos)
        l_new_isr_with_epochs: list[BrokerState] = []
        for _ in range(n):
            i_new_isr_with_epochs, pos = _read_BrokerState(buf, pos, end, version)
            l_new_isr_with_epochs.append(i_new_isr_with_epochs)
        self.new_isr_with_epochs = l_new_isr_with_epochs
    else:
        self.new_isr_with_epochs = []
    self.leader_recovery_state, self.partition_epoch = _unpack_bi(buf, pos)
    pos += 5
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterPartitionRequestTopicData:
    """Part of AlterPartitionRequest."""

    __slots__ = ("topic_id", "partitions")

    topic_id: bytes
    partitions: list[AlterPartitionRequestPartitionData]

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[AlterPartitionRequestPartitionData] = _EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterPartitionRequestTopicData):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"AlterPartitionRequestTopicData(topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("AlterPartitionRequestTopicData.topic_id")
        buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        buf.append(0)


def _read_AlterPartitionRequestTopicData(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterPartitionRequestTopicData, int]:
    self = AlterPartitionRequestTopicData.__new__(AlterPartitionRequestTopicData)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AlterPartitionRequestTopicData.partitions")
    if n * 15 > end - pos:
        raise length_read("AlterPartitionRequestTopicData.partitions", n, end - pos)
    l_partitions: list[AlterPartitionRequestPartitionData] = []
    for _ in range(n):
        i_partitions, pos = _read_AlterPartitionRequestPartitionData(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterPartitionRequest:
    """Versions 2 to 3."""

    __slots__ = ("broker_id", "broker_epoch", "topics")

    API_KEY: ClassVar[int] = 56
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    broker_id: int
    broker_epoch: int
    topics: list[AlterPartitionRequestTopicData]

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        topics: list[AlterPartitionRequestTopicData] = _EMPTY,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterPartitionRequest):
            return NotImplemented
        return (
            self.broker_id == other.broker_id
            and self.broker_epoch == other.broker_epoch
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"AlterPartitionRequest(broker_id={self.broker_id!r}, broker_epoch={self.broker_epoch!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 2 or version > 3:
            raise encode_failed("AlterPartitionRequest", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_iq(self.broker_id, self.broker_epoch)
            n = len(self.topics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_topics in self.topics:
                i_topics.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AlterPartitionRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AlterPartitionRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 2 or version > 3:
            raise decode_failed("AlterPartitionRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AlterPartitionRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AlterPartitionRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AlterPartitionRequest", version, error) from error
        if pos > end:
            raise decode_failed("AlterPartitionRequest", version, "truncated")
        return message, pos


def _read_AlterPartitionRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterPartitionRequest, int]:
    self = AlterPartitionRequest.__new__(AlterPartitionRequest)
    self.broker_id, self.broker_epoch = _unpack_iq(buf, pos)
    pos += 12
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AlterPartitionRequest.topics")
    if n * 18 > end - pos:
        raise length_read("AlterPartitionRequest.topics", n, end - pos)
    l_topics: list[AlterPartitionRequestTopicData] = []
    for _ in range(n):
        i_topics, pos = _read_AlterPartitionRequestTopicData(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterPartitionResponsePartitionData:
    """Part of AlterPartitionResponse."""

    __slots__ = ("partition_index", "error_code", "leader_id", "leader_epoch", "isr", "leader_recovery_state", "partition_epoch")

    partition_index: int
    error_code: int
    leader_id: int
    leader_epoch: int
    isr: list[int]
    leader_recovery_state: int
    partition_epoch: int

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        isr: list[int] = _EMPTY,
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.isr = [] if isr is _EMPTY else isr
        self.leader_recovery_state = leader_recovery_state
        self.partition_epoch = partition_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterPartitionResponsePartitionData):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.error_code == other.error_code
            and self.leader_id == other.leader_id
            and self.leader_epoch == other.leader_epoch
            and self.isr == other.isr
            and self.leader_recovery_state == other.leader_recovery_state
            and self.partition_epoch == other.partition_epoch
        )

    def __repr__(self) -> str:
        return f"AlterPartitionResponsePartitionData(partition_index={self.partition_index!r}, error_code={self.error_code!r}, leader_id={self.leader_id!r}, leader_epoch={self.leader_epoch!r}, isr={self.isr!r}, leader_recovery_state={self.leader_recovery_state!r}, partition_epoch={self.partition_epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_ih2i(self.partition_index, self.error_code, self.leader_id, self.leader_epoch)
        n = len(self.isr)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.isr)
        else:
            buf += _pack_n(f">{n}i", *self.isr)
        buf += _pack_bi(self.leader_recovery_state, self.partition_epoch)
        buf.append(0)


def _read_AlterPartitionResponsePartitionData(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterPartitionResponsePartitionData, int]:
    self = AlterPartitionResponsePartitionData.__new__(AlterPartitionResponsePartitionData)
    self.partition_index, self.error_code, self.leader_id, self.leader_epoch = _unpack_ih2i(buf, pos)
    pos += 14
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AlterPartitionResponsePartitionData.isr")
    if n * 4 > end - pos:
        raise length_read("AlterPartitionResponsePartitionData.isr", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.isr = list(INT32_UNPACK[n](buf, pos))
    else:
        self.isr = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    self.leader_recovery_state, self.partition_epoch = _unpack_bi(buf, pos)
    pos += 5
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterPartitionResponseTopicData:
    """Part of AlterPartitionResponse."""

    __slots__ = ("topic_id", "partitions")

    topic_id: bytes
    partitions: list[AlterPartitionResponsePartitionData]

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[AlterPartitionResponsePartitionData] = _EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterPartitionResponseTopicData):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"AlterPartitionResponseTopicData(topic_id={self.topic_id!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        if len(self.topic_id) != 16:
            raise uuid_written("AlterPartitionResponseTopicData.topic_id")
        buf += _pack_u(self.topic_id)
        n = len(self.partitions)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_partitions in self.partitions:
            i_partitions.encode(out, version)
        buf.append(0)


def _read_AlterPartitionResponseTopicData(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterPartitionResponseTopicData, int]:
    self = AlterPartitionResponseTopicData.__new__(AlterPartitionResponseTopicData)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AlterPartitionResponseTopicData.partitions")
    if n * 21 > end - pos:
        raise length_read("AlterPartitionResponseTopicData.partitions", n, end - pos)
    l_partitions: list[AlterPartitionResponsePartitionData] = []
    for _ in range(n):
        i_partitions, pos = _read_AlterPartitionResponsePartitionData(buf, pos, end, version)
        l_partitions.append(i_partitions)
    self.partitions = l_partitions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterPartitionResponse:
    """Versions 2 to 3."""

    __slots__ = ("throttle_time_ms", "error_code", "topics")

    API_KEY: ClassVar[int] = 56
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    topics: list[AlterPartitionResponseTopicData]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: list[AlterPartitionResponseTopicData] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterPartitionResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"AlterPartitionResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 2 or version > 3:
            raise encode_failed("AlterPartitionResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_ih(self.throttle_time_ms, self.error_code)
            n = len(self.topics)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_topics in self.topics:
                i_topics.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AlterPartitionResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AlterPartitionResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 2 or version > 3:
            raise decode_failed("AlterPartitionResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AlterPartitionResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AlterPartitionResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AlterPartitionResponse", version, error) from error
        if pos > end:
            raise decode_failed("AlterPartitionResponse", version, "truncated")
        return message, pos


def _read_AlterPartitionResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterPartitionResponse, int]:
    self = AlterPartitionResponse.__new__(AlterPartitionResponse)
    self.throttle_time_ms, self.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AlterPartitionResponse.topics")
    if n * 18 > end - pos:
        raise length_read("AlterPartitionResponse.topics", n, end - pos)
    l_topics: list[AlterPartitionResponseTopicData] = []
    for _ in range(n):
        i_topics, pos = _read_AlterPartitionResponseTopicData(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
