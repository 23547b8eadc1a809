"""DescribeTransactions. Generated from schema/describe_transactions.txt by tools/generate_messages.py; do not edit."""

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
    read_string_length_tail,
    read_uvarint_tail,
    skip_tagged_fields,
    write_string_length,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_i2qh = Struct(">iqqh").pack
_unpack_i2qh = Struct(">iqqh").unpack_from


class DescribeTransactionsRequest:
    """Version 0."""

    __slots__ = ("transactional_ids",)

    API_KEY: ClassVar[int] = 65
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    transactional_ids: list[str]

    def __init__(
        self,
        *,
        transactional_ids: list[str] = _EMPTY,
    ) -> None:
        self.transactional_ids = [] if transactional_ids is _EMPTY else transactional_ids

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeTransactionsRequest):
            return NotImplemented
        return (
            self.transactional_ids == other.transactional_ids
        )

    def __repr__(self) -> str:
        return f"DescribeTransactionsRequest(transactional_ids={self.transactional_ids!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("DescribeTransactionsRequest", version, "no such version")
        try:
            buf = out.buf
            n = len(self.transactional_ids)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_transactional_ids in self.transactional_ids:
                data = i_transactional_ids.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeTransactionsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeTransactionsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("DescribeTransactionsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeTransactionsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeTransactionsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeTransactionsRequest", version, error) from error
        if pos > end:
            raise decode_failed("DescribeTransactionsRequest", version, "truncated")
        return message, pos


def _read_DescribeTransactionsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeTransactionsRequest, int]:
    self = DescribeTransactionsRequest.__new__(DescribeTransactionsRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeTransactionsRequest.transactional_ids")
    if n > end - pos:
        raise length_read("DescribeTransactionsRequest.transactional_ids", n, end - pos)
    l_transactional_ids: list[str] = []
    for _ in range(n):
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("DescribeTransactionsRequest.transactional_ids")
        stop = pos + n
        if stop > end:
            raise length_read("DescribeTransactionsRequest.transactional_ids", n, end - pos)
        l_transactional_ids.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.transactional_ids = l_transactional_ids
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class TopicData:
    """Part of DescribeTransactionsResponse."""

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
        if not isinstance(other, TopicData):
            return NotImplemented
        return (
            self.topic == other.topic
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"TopicData(topic={self.topic!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.topic.encode()
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


def _read_TopicData(buf: memoryview, pos: int, end: int, version: int) -> tuple[TopicData, int]:
    self = TopicData.__new__(TopicData)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicData.topic")
    stop = pos + n
    if stop > end:
        raise length_read("TopicData.topic", n, end - pos)
    self.topic = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicData.partitions")
    if n * 4 > end - pos:
        raise length_read("TopicData.partitions", n, end - pos)
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


class TransactionState:
    """Part of DescribeTransactionsResponse."""

    __slots__ = ("error_code", "transactional_id", "transaction_state", "transaction_timeout_ms", "transaction_start_time_ms", "producer_id", "producer_epoch", "topics")

    error_code: int
    transactional_id: str
    transaction_state: str
    transaction_timeout_ms: int
    transaction_start_time_ms: int
    producer_id: int
    producer_epoch: int
    topics: list[TopicData]

    def __init__(
        self,
        *,
        error_code: int = 0,
        transactional_id: str = "",
        transaction_state: str = "",
        transaction_timeout_ms: int = 0,
        transaction_start_time_ms: int = 0,
        producer_id: int = 0,
        producer_epoch: int = 0,
        topics: list[TopicData] = _EMPTY,
    ) -> None:
        self.error_code = error_code
        self.transactional_id = transactional_id
        self.transaction_state = transaction_state
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_start_time_ms = transaction_start_time_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TransactionState):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.transactional_id == other.transactional_id
            and self.transaction_state == other.transaction_state
            and self.transaction_timeout_ms == other.transaction_timeout_ms
            and self.transaction_start_time_ms == other.transaction_start_time_ms
            and self.producer_id == other.producer_id
            and self.producer_epoch == other.producer_epoch
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"TransactionState(error_code={self.error_code!r}, transactional_id={self.transactional_id!r}, transaction_state={self.transaction_state!r}, transaction_timeout_ms={self.transaction_timeout_ms!r}, transaction_start_time_ms={self.transaction_start_time_ms!r}, producer_id={self.producer_id!r}, producer_epoch={self.producer_epoch!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_h(self.error_code)
        data = self.transactional_id.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        data = self.transaction_state.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_i2qh(self.transaction_timeout_ms, self.transaction_start_time_ms, self.producer_id, self.producer_epoch)
        n = len(self.topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_topics in self.topics:
            i_topics.encode(out, version)
        buf.append(0)


def _read_TransactionState(buf: memoryview, pos: int, end: int, version: int) -> tuple[TransactionState, int]:
    self = TransactionState.__new__(TransactionState)
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TransactionState.transactional_id")
    stop = pos + n
    if stop > end:
        raise length_read("TransactionState.transactional_id", n, end - pos)
    self.transactional_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TransactionState.transaction_state")
    stop = pos + n
    if stop > end:
        raise length_read("TransactionState.transaction_state", n, end - pos)
    self.transaction_state = str(buf[pos:stop], "utf-8")
    pos = stop
    self.transaction_timeout_ms, self.transaction_start_time_ms, self.producer_id, self.producer_epoch = _unpack_i2qh(buf, pos)
    pos += 22
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TransactionState.topics")
    if n * 3 > end - pos:
        raise length_read("TransactionState.topics", n, end - pos)
    l_topics: list[TopicData] = []
    for _ in range(n):
        i_topics, pos = _read_TopicData(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeTransactionsResponse:
    """Version 0."""

    __slots__ = ("throttle_time_ms", "transaction_states")

    API_KEY: ClassVar[int] = 65
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    transaction_states: list[TransactionState]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        transaction_states: list[TransactionState] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.transaction_states = [] if transaction_states is _EMPTY else transaction_states

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeTransactionsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.transaction_states == other.transaction_states
        )

    def __repr__(self) -> str:
        return f"DescribeTransactionsResponse(throttle_time_ms={self.throttle_time_ms!r}, transaction_states={self.transaction_states!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("DescribeTransactionsResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_i(self.throttle_time_ms)
            n = len(self.transaction_states)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_transaction_states in self.transaction_states:
                i_transaction_states.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeTransactionsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeTransactionsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("DescribeTransactionsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeTransactionsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeTransactionsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeTransactionsResponse", version, error) from error
        if pos > end:
            raise decode_failed("DescribeTransactionsResponse", version, "truncated")
        return message, pos


def _read_DescribeTransactionsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeTransactionsResponse, int]:
    self = DescribeTransactionsResponse.__new__(DescribeTransactionsResponse)
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeTransactionsResponse.transaction_states")
    if n * 28 > end - pos:
        raise length_read("DescribeTransactionsResponse.transaction_states", n, end - pos)
    l_transaction_states: list[TransactionState] = []
    for _ in range(n):
        i_transaction_states, pos = _read_TransactionState(buf, pos, end, version)
        l_transaction_states.append(i_transaction_states)
    self.transaction_states = l_transaction_states
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
