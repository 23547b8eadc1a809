"""AddPartitionsToTxn. Generated from schema/add_partitions_to_txn.txt by tools/generate_messages.py; do not edit."""

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
    field_unsupported,
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
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from
_pack_qh = Struct(">qh").pack
_unpack_qh = Struct(">qh").unpack_from
_pack_qhz = Struct(">qh?").pack
_unpack_qhz = Struct(">qh?").unpack_from


class AddPartitionsToTxnTopic:
    """Part of AddPartitionsToTxnRequest."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[int]

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[int] = _EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is _EMPTY else partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AddPartitionsToTxnTopic):
            return NotImplemented
        return (
            self.name == other.name
            and self.partitions == other.partitions
        )

    def __repr__(self) -> str:
        return f"AddPartitionsToTxnTopic(name={self.name!r}, partitions={self.partitions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 3
        data = self.name.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        n = len(self.partitions)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.partitions)
        else:
            buf += _pack_n(f">{n}i", *self.partitions)
        if flexible:
            buf.append(0)


def _read_AddPartitionsToTxnTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[AddPartitionsToTxnTopic, int]:
    flexible = version >= 3
    self = AddPartitionsToTxnTopic.__new__(AddPartitionsToTxnTopic)
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
        raise null_read("AddPartitionsToTxnTopic.name")
    stop = pos + n
    if stop > end:
        raise length_read("AddPartitionsToTxnTopic.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
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
        raise null_read("AddPartitionsToTxnTopic.partitions")
    if n * 4 > end - pos:
        raise length_read("AddPartitionsToTxnTopic.partitions", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.partitions = list(INT32_UNPACK[n](buf, pos))
    else:
        self.partitions = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AddPartitionsToTxnTransaction:
    """Part of AddPartitionsToTxnRequest."""

    __slots__ = ("transactional_id", "producer_id", "producer_epoch", "verify_only", "topics")

    transactional_id: str
    producer_id: int
    producer_epoch: int
    verify_only: bool
    topics: list[AddPartitionsToTxnTopic]

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        verify_only: bool = False,
        topics: list[AddPartitionsToTxnTopic] = _EMPTY,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.verify_only = verify_only
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AddPartitionsToTxnTransaction):
            return NotImplemented
        return (
            self.transactional_id == other.transactional_id
            and self.producer_id == other.producer_id
            and self.producer_epoch == other.producer_epoch
            and self.verify_only == other.verify_only
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"AddPartitionsToTxnTransaction(transactional_id={self.transactional_id!r}, producer_id={self.producer_id!r}, producer_epoch={self.producer_epoch!r}, verify_only={self.verify_only!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.transactional_id.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_qhz(self.producer_id, self.producer_epoch, self.verify_only)
        n = len(self.topics)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_topics in self.topics:
            i_topics.encode(out, version)
        buf.append(0)


def _read_AddPartitionsToTxnTransaction(buf: memoryview, pos: int, end: int, version: int) -> tuple[AddPartitionsToTxnTransaction, int]:
    self = AddPartitionsToTxnTransaction.__new__(AddPartitionsToTxnTransaction)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AddPartitionsToTxnTransaction.transactional_id")
    stop = pos + n
    if stop > end:
        raise length_read("AddPartitionsToTxnTransaction.transactional_id", n, end - pos)
    self.transactional_id = str(buf[pos:stop], "utf-8")
    pos = stop
    self.producer_id, self.producer_epoch, self.verify_only = _unpack_qhz(buf, pos)
    pos += 11
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AddPartitionsToTxnTransaction.topics")
    if n * 3 > end - pos:
        raise length_read("AddPartitionsToTxnTransaction.topics", n, end - pos)
    l_topics: list[AddPartitionsToTxnTopic] = []
    for _ in range(n):
        i_topics, pos = _read_AddPartitionsToTxnTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AddPartitionsToTxnRequest:
    """Versions 0 to 5, flexible from 3."""

    __slots__ = ("transactions", "v3_and_below_transactional_id", "v3_and_below_producer_id", "v3_and_below_producer_epoch", "v3_and_below_topics")

    API_KEY: ClassVar[int] = 24
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 3

    transactions: list[AddPartitionsToTxnTransaction]
    v3_and_below_transactional_id: str
    v3_and_below_producer_id: int
    v3_and_below_producer_epoch: int
    v3_and_below_topics: list[AddPartitionsToTxnTopic]

    def __init__(
        self,
        *,
        transactions: list[AddPartitionsToTxnTransaction] = _EMPTY,
        v3_and_below_transactional_id: str = "",
        v3_and_below_producer_id: int = 0,
        v3_and_below_producer_epoch: int = 0,
        v3_and_below_topics: list[AddPartitionsToTxnTopic] = _EMPTY,
    ) -> None:
        self.transactions = [] if transactions is _EMPTY else transactions
        self.v3_and_below_transactional_id = v3_and_below_transactional_id
        self.v3_and_below_producer_id = v3_and_below_producer_id
        self.v3_and_below_producer_epoch = v3_and_below_producer_epoch
        self.v3_and_below_topics = [] if v3_and_below_topics is _EMPTY else v3_and_below_topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AddPartitionsToTxnRequest):
            return NotImplemented
        return (
            self.transactions == other.transactions
            and self.v3_and_below_transactional_id == other.v3_and_below_transactional_id
            and self.v3_and_below_producer_id == other.v3_and_below_producer_id
            and self.v3_and_below_producer_epoch == other.v3_and_below_producer_epoch
            and self.v3_and_below_topics == other.v3_and_below_topics
        )

    def __repr__(self) -> str:
        return f"AddPartitionsToTxnRequest(transactions={self.transactions!r}, v3_and_below_transactional_id={self.v3_and_below_transactional_id!r}, v3_and_below_producer_id={self.v3_and_below_producer_id!r}, v3_and_below_producer_epoch={self.v3_and_below_producer_epoch!r}, v3_and_below_topics={self.v3_and_below_topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 5:
            raise encode_failed("AddPartitionsToTxnRequest", version, "no such version")
        try:
            if version < 4:
                if self.transactions:
                    raise field_unsupported("AddPartitionsToTxnRequest.transactions", version)
            if version > 3:
                if self.v3_and_below_transactional_id != "":
                    raise field_unsupported("AddPartitionsToTxnRequest.v3_and_below_transactional_id", version)
                if self.v3_and_below_producer_id != 0:
                    raise field_unsupported("AddPartitionsToTxnRequest.v3_and_below_producer_id", version)
                if self.v3_and_below_producer_epoch != 0:
                    raise field_unsupported("AddPartitionsToTxnRequest.v3_and_below_producer_epoch", version)
                if self.v3_and_below_topics:
                    raise field_unsupported("AddPartitionsToTxnRequest.v3_and_below_topics", version)
            buf = out.buf
            flexible = version >= 3
            if version >= 4:
                n = len(self.transactions)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_transactions in self.transactions:
                    i_transactions.encode(out, version)
            if version <= 3:
                data = self.v3_and_below_transactional_id.encode()
                n = len(data)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                else:
                    buf += _pack_h(n)
                buf += data
            if version <= 3:
                buf += _pack_qh(self.v3_and_below_producer_id, self.v3_and_below_producer_epoch)
            if version <= 3:
                n = len(self.v3_and_below_topics)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_uvarint(buf, n + 1)
                else:
                    buf += _pack_i(n)
                for i_v3_and_below_topics in self.v3_and_below_topics:
                    i_v3_and_below_topics.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AddPartitionsToTxnRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AddPartitionsToTxnRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 5:
            raise decode_failed("AddPartitionsToTxnRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AddPartitionsToTxnRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AddPartitionsToTxnRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AddPartitionsToTxnRequest", version, error) from error
        if pos > end:
            raise decode_failed("AddPartitionsToTxnRequest", version, "truncated")
        return message, pos


def _read_AddPartitionsToTxnRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[AddPartitionsToTxnRequest, int]:
    flexible = version >= 3
    self = AddPartitionsToTxnRequest.__new__(AddPartitionsToTxnRequest)
    if version >= 4:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("AddPartitionsToTxnRequest.transactions")
        if n * 14 > end - pos:
            raise length_read("AddPartitionsToTxnRequest.transactions", n, end - pos)
        l_transactions: list[AddPartitionsToTxnTransaction] = []
        for _ in range(n):
            i_transactions, pos = _read_AddPartitionsToTxnTransaction(buf, pos, end, version)
            l_transactions.append(i_transactions)
        self.transactions = l_transactions
    else:
        self.transactions = []
    if version <= 3:
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
            raise null_read("AddPartitionsToTxnRequest.v3_and_below_transactional_id")
        stop = pos + n
        if stop > end:
            raise length_read("AddPartitionsToTxnRequest.v3_and_below_transactional_id", n, end - pos)
        self.v3_and_below_transactional_id = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.v3_and_below_transactional_id = ""
    if version <= 3:
        self.v3_and_below_producer_id, self.v3_and_below_producer_epoch = _unpack_qh(buf, pos)
        pos += 10
    else:
        self.v3_and_below_producer_id = 0
        self.v3_and_below_producer_epoch = 0
    if version <= 3:
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
            raise null_read("AddPartitionsToTxnRequest.v3_and_below_topics")
        if n * 3 > end - pos:
            raise length_read("AddPartitionsToTxnRequest.v3_and_below_topics", n, end - pos)
        l_v3_and_below_topics: list[AddPartitionsToTxnTopic] = []
        for _ in range(n):
            i_v3_and_below_topics, pos = _read_AddPartitionsToTxnTopic(buf, pos, end, version)
            l_v3_and_below_topics.append(i_v3_and_below_topics)
        self.v3_and_below_topics = l_v3_and_below_topics
    else:
        self.v3_and_below_topics = []
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AddPartitionsToTxnPartitionResult:
    """Part of AddPartitionsToTxnResponse."""

    __slots__ = ("partition_index", "partition_error_code")

    partition_index: int
    partition_error_code: int

    def __init__(
        self,
        *,
        partition_index: int = 0,
        partition_error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.partition_error_code = partition_error_code

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AddPartitionsToTxnPartitionResult):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.partition_error_code == other.partition_error_code
        )

    def __repr__(self) -> str:
        return f"AddPartitionsToTxnPartitionResult(partition_index={self.partition_index!r}, partition_error_code={self.partition_error_code!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 3
        buf += _pack_ih(self.partition_index, self.partition_error_code)
        if flexible:
            buf.append(0)


def _read_AddPartitionsToTxnPartitionResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[AddPartitionsToTxnPartitionResult, int]:
    flexible = version >= 3
    self = AddPartitionsToTxnPartitionResult.__new__(AddPartitionsToTxnPartitionResult)
    self.partition_index, self.partition_error_code = _unpack_ih(buf, pos)
    pos += 6
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AddPartitionsToTxnTopicResult:
    """Part of AddPartitionsToTxnResponse."""

    __slots__ = ("name", "results_by_partition")

    name: str
    results_by_partition: list[AddPartitionsToTxnPartitionResult]

    def __init__(
        self,
        *,
        name: str = "",
        results_by_partition: list[AddPartitionsToTxnPartitionResult] = _EMPTY,
    ) -> None:
        self.name = name
        self.results_by_partition = [] if results_by_partition is _EMPTY else results_by_partition

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AddPartitionsToTxnTopicResult):
            return NotImplemented
        return (
            self.name == other.name
            and self.results_by_partition == other.results_by_partition
        )

    def __repr__(self) -> str:
        return f"AddPartitionsToTxnTopicResult(name={self.name!r}, results_by_partition={self.results_by_partition!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 3
        data = self.name.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        n = len(self.results_by_partition)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        for i_results_by_partition in self.results_by_partition:
            i_results_by_partition.encode(out, version)
        if flexible:
            buf.append(0)


def _read_AddPartitionsToTxnTopicResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[AddPartitionsToTxnTopicResult, int]:
    flexible = version >= 3
    self = AddPartitionsToTxnTopicResult.__new__(AddPartitionsToTxnTopicResult)
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
        raise null_read("AddPartitionsToTxnTopicResult.name")
    stop = pos + n
    if stop > end:
        raise length_read("AddPartitionsToTxnTopicResult.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
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
        raise null_read("AddPartitionsToTxnTopicResult.results_by_partition")
    if n * 6 > end - pos:
        raise length_read("AddPartitionsToTxnTopicResult.results_by_partition", n, end - pos)
    l_results_by_partition: list[AddPartitionsToTxnPartitionResult] = []
    for _ in range(n):
        i_results_by_partition, pos = _read_AddPartitionsToTxnPartitionResult(buf, pos, end, version)
        l_results_by_partition.append(i_results_by_partition)
    self.results_by_partition = l_results_by_partition
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AddPartitionsToTxnResult:
    """Part of AddPartitionsToTxnResponse."""

    __slots__ = ("transactional_id", "topic_results")

    transactional_id: str
    topic_results: list[AddPartitionsToTxnTopicResult]

    def __init__(
        self,
        *,
        transactional_id: str = "",
        topic_results: list[AddPartitionsToTxnTopicResult] = _EMPTY,
    ) -> None:
        self.transactional_id = transactional_id
        self.topic_results = [] if topic_results is _EMPTY else topic_results

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AddPartitionsToTxnResult):
            return NotImplemented
        return (
            self.transactional_id == other.transactional_id
            and self.topic_results == other.topic_results
        )

    def __repr__(self) -> str:
        return f"AddPartitionsToTxnResult(transactional_id={self.transactional_id!r}, topic_results={self.topic_results!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.transactional_id.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        n = len(self.topic_results)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_topic_results in self.topic_results:
            i_topic_results.encode(out, version)
        buf.append(0)


def _read_AddPartitionsToTxnResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[AddPartitionsToTxnResult, int]:
    self = AddPartitionsToTxnResult.__new__(AddPartitionsToTxnResult)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AddPartitionsToTxnResult.transactional_id")
    stop = pos + n
    if stop > end:
        raise length_read("AddPartitionsToTxnResult.transactional_id", n, end - pos)
    self.transactional_id = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AddPartitionsToTxnResult.topic_results")
    if n * 3 > end - pos:
        raise length_read("AddPartitionsToTxnResult.topic_results", n, end - pos)
    l_topic_results: list[AddPartitionsToTxnTopicResult] = []
    for _ in range(n):
        i_topic_results, pos = _read_AddPartitionsToTxnTopicResult(buf, pos, end, version)
        l_topic_results.append(i_topic_results)
    self.topic_results = l_topic_results
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AddPartitionsToTxnResponse:
    """Versions 0 to 5, flexible from 3."""

    __slots__ = ("throttle_time_ms", "error_code", "results_by_transaction", "results_by_topic_v3_and_below")

    API_KEY: ClassVar[int] = 24
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 3

    throttle_time_ms: int
    error_code: int
    results_by_transaction: list[AddPartitionsToTxnResult]
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results_by_transaction: list[AddPartitionsToTxnResult] = _EMPTY,
        results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results_by_transaction = [] if results_by_transaction is _EMPTY else results_by_transaction
        self.results_by_topic_v3_and_below = [] if results_by_topic_v3_and_below is _EMPTY else results_by_topic_v3_and_below

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AddPartitionsToTxnResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.results_by_transaction == other.results_by_transaction
            and self.results_by_topic_v3_and_below == other.results_by_topic_v3_and_below
        )

    def __repr__(self) -> str:
        return f"AddPartitionsToTxnResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, results_by_transaction={self.results_by_transaction!r}, results_by_topic_v3_and_below={self.results_by_topic_v3_and_below!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 5:
            raise encode_failed("AddPartitionsToTxnResponse", version, "no such version")
        try:
            if version < 4:
                if self.results_by_transaction:
                    raise field_unsupported("AddPartitionsToTxnResponse.results_by_transaction", version)
            if version > 3:
                if self.results_by_topic_v3_and_below:
                    raise field_unsupported("AddPartitionsToTxnResponse.results_by_topic_v3_and_below", version)
            buf = out.buf
            flexible = version >= 3
            buf += _pack_i(self.throttle_time_ms)
            if version >= 4:
                buf += _pack_h(self.error_code)
            if version >= 4:
                n = len(self.results_by_transaction)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_results_by_transaction in self.results_by_transaction:
                    i_results_by_transaction.encode(out, version)
            if version <= 3:
                n = len(self.results_by_topic_v3_and_below)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_uvarint(buf, n + 1)
                else:
                    buf += _pack_i(n)
                for i_results_by_topic_v3_and_below in self.results_by_topic_v3_and_below:
                    i_results_by_topic_v3_and_below.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AddPartitionsToTxnResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AddPartitionsToTxnResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 5:
            raise decode_failed("AddPartitionsToTxnResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AddPartitionsToTxnResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AddPartitionsToTxnResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AddPartitionsToTxnResponse", version, error) from error
        if pos > end:
            raise decode_failed("AddPartitionsToTxnResponse", version, "truncated")
        return message, pos


def _read_AddPartitionsToTxnResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[AddPartitionsToTxnResponse, int]:
    flexible = version >= 3
    self = AddPartitionsToTxnResponse.__new__(AddPartitionsToTxnResponse)
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    if version >= 4:
        (self.error_code,) = _unpack_h(buf, pos)
        pos += 2
    else:
        self.error_code = 0
    if version >= 4:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("AddPartitionsToTxnResponse.results_by_transaction")
        if n * 3 > end - pos:
            raise length_read("AddPartitionsToTxnResponse.results_by_transaction", n, end - pos)
        l_results_by_transaction: list[AddPartitionsToTxnResult] = []
        for _ in range(n):
            i_results_by_transaction, pos = _read_AddPartitionsToTxnResult(buf, pos, end, version)
            l_results_by_transaction.append(i_results_by_transaction)
        self.results_by_transaction = l_results_by_transaction
    else:
        self.results_by_transaction = []
    if version <= 3:
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
            raise null_read("AddPartitionsToTxnResponse.results_by_topic_v3_and_below")
        if n * 3 > end - pos:
            raise length_read("AddPartitionsToTxnResponse.results_by_topic_v3_and_below", n, end - pos)
        l_results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = []
        for _ in range(n):
            i_results_by_topic_v3_and_below, pos = _read_AddPartitionsToTxnTopicResult(buf, pos, end, version)
            l_results_by_topic_v3_and_below.append(i_results_by_topic_v3_and_below)
        self.results_by_topic_v3_and_below = l_results_by_topic_v3_and_below
    else:
        self.results_by_topic_v3_and_below = []
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
