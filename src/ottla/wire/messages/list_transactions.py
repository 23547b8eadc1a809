"""ListTransactions. Generated from schema/list_transactions.txt by tools/generate_messages.py; do not edit."""

from __future__ import annotations

from struct import Struct
from struct import pack as _pack_n, unpack_from as _unpack_n
from typing import Any, ClassVar, Final

from ottla.wire.primitives import (
    Buffer,
    DECODE_FAILURES,
    ENCODE_FAILURES,
    Encoder,
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
_pack_q = Struct(">q").pack
_unpack_q = Struct(">q").unpack_from


class ListTransactionsRequest:
    """Versions 0 to 2."""

    __slots__ = ("state_filters", "producer_id_filters", "duration_filter", "transactional_id_pattern")

    API_KEY: ClassVar[int] = 66
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    state_filters: list[str]
    producer_id_filters: list[int]
    duration_filter: int
    transactional_id_pattern: str | None

    def __init__(
        self,
        *,
        state_filters: list[str] = _EMPTY,
        producer_id_filters: list[int] = _EMPTY,
        duration_filter: int = -1,
        transactional_id_pattern: str | None = None,
    ) -> None:
        self.state_filters = [] if state_filters is _EMPTY else state_filters
        self.producer_id_filters = [] if producer_id_filters is _EMPTY else producer_id_filters
        self.duration_filter = duration_filter
        self.transactional_id_pattern = transactional_id_pattern

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ListTransactionsRequest):
            return NotImplemented
        return (
            self.state_filters == other.state_filters
            and self.producer_id_filters == other.producer_id_filters
            and self.duration_filter == other.duration_filter
            and self.transactional_id_pattern == other.transactional_id_pattern
        )

    def __repr__(self) -> str:
        return f"ListTransactionsRequest(state_filters={self.state_filters!r}, producer_id_filters={self.producer_id_filters!r}, duration_filter={self.duration_filter!r}, transactional_id_pattern={self.transactional_id_pattern!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("ListTransactionsRequest", version, "no such version")
        try:
            if version < 1:
                if self.duration_filter != -1:
                    raise field_unsupported("ListTransactionsRequest.duration_filter", version)
            if version < 2:
                if self.transactional_id_pattern is not None:
                    raise field_unsupported("ListTransactionsRequest.transactional_id_pattern", version)
            buf = out.buf
            n = len(self.state_filters)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_state_filters in self.state_filters:
                data = i_state_filters.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            n = len(self.producer_id_filters)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            if n:
                buf += _pack_n(f">{n}q", *self.producer_id_filters)
            if version >= 1:
                buf += _pack_q(self.duration_filter)
            if version >= 2:
                v_transactional_id_pattern = self.transactional_id_pattern
                if v_transactional_id_pattern is None:
                    buf.append(0)
                else:
                    data = v_transactional_id_pattern.encode()
                    n = len(data)
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                    buf += data
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ListTransactionsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ListTransactionsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("ListTransactionsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ListTransactionsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ListTransactionsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ListTransactionsRequest", version, error) from error
        if pos > end:
            raise decode_failed("ListTransactionsRequest", version, "truncated")
        return message, pos


def _read_ListTransactionsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[ListTransactionsRequest, int]:
    self = ListTransactionsRequest.__new__(ListTransactionsRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ListTransactionsRequest.state_filters")
    if n > end - pos:
        raise length_read("ListTransactionsRequest.state_filters", n, end - pos)
    l_state_filters: list[str] = []
    for _ in range(n):
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("ListTransactionsRequest.state_filters")
        stop = pos + n
        if stop > end:
            raise length_read("ListTransactionsRequest.state_filters", n, end - pos)
        l_state_filters.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.state_filters = l_state_filters
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ListTransactionsRequest.producer_id_filters")
    if n * 8 > end - pos:
        raise length_read("ListTransactionsRequest.producer_id_filters", n, end - pos)
    self.producer_id_filters = list(_unpack_n(f">{n}q", buf, pos))
    pos += n * 8
    if version >= 1:
        (self.duration_filter,) = _unpack_q(buf, pos)
        pos += 8
    else:
        self.duration_filter = -1
    if version >= 2:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            self.transactional_id_pattern = None
        else:
            stop = pos + n
            if stop > end:
                raise length_read("ListTransactionsRequest.transactional_id_pattern", n, end - pos)
            self.transactional_id_pattern = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.transactional_id_pattern = None
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class TransactionState:
    """Part of ListTransactionsResponse."""

    __slots__ = ("transactional_id", "producer_id", "transaction_state")

    transactional_id: str
    producer_id: int
    transaction_state: str

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        transaction_state: str = "",
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.transaction_state = transaction_state

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TransactionState):
            return NotImplemented
        return (
            self.transactional_id == other.transactional_id
            and self.producer_id == other.producer_id
            and self.transaction_state == other.transaction_state
        )

    def __repr__(self) -> str:
        return f"TransactionState(transactional_id={self.transactional_id!r}, producer_id={self.producer_id!r}, transaction_state={self.transaction_state!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.transactional_id.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_q(self.producer_id)
        data = self.transaction_state.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf.append(0)


def _read_TransactionState(buf: memoryview, pos: int, end: int, version: int) -> tuple[TransactionState, int]:
    self = TransactionState.__new__(TransactionState)
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
    (self.producer_id,) = _unpack_q(buf, pos)
    pos += 8
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
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ListTransactionsResponse:
    """Versions 0 to 2."""

    __slots__ = ("throttle_time_ms", "error_code", "unknown_state_filters", "transaction_states")

    API_KEY: ClassVar[int] = 66
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    unknown_state_filters: list[str]
    transaction_states: list[TransactionState]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_state_filters: list[str] = _EMPTY,
        transaction_states: list[TransactionState] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_state_filters = [] if unknown_state_filters is _EMPTY else unknown_state_filters
        self.transaction_states = [] if transaction_states is _EMPTY else transaction_states

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ListTransactionsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.unknown_state_filters == other.unknown_state_filters
            and self.transaction_states == other.transaction_states
        )

    def __repr__(self) -> str:
        return f"ListTransactionsResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, unknown_state_filters={self.unknown_state_filters!r}, transaction_states={self.transaction_states!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("ListTransactionsResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_ih(self.throttle_time_ms, self.error_code)
            n = len(self.unknown_state_filters)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_unknown_state_filters in self.unknown_state_filters:
                data = i_unknown_state_filters.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            n = len(self.transaction_states)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_transaction_states in self.transaction_states:
                i_transaction_states.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ListTransactionsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ListTransactionsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("ListTransactionsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ListTransactionsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ListTransactionsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ListTransactionsResponse", version, error) from error
        if pos > end:
            raise decode_failed("ListTransactionsResponse", version, "truncated")
        return message, pos


def _read_ListTransactionsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[ListTransactionsResponse, int]:
    self = ListTransactionsResponse.__new__(ListTransactionsResponse)
    self.throttle_time_ms, self.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ListTransactionsResponse.unknown_state_filters")
    if n > end - pos:
        raise length_read("ListTransactionsResponse.unknown_state_filters", n, end - pos)
    l_unknown_state_filters: list[str] = []
    for _ in range(n):
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("ListTransactionsResponse.unknown_state_filters")
        stop = pos + n
        if stop > end:
            raise length_read("ListTransactionsResponse.unknown_state_filters", n, end - pos)
        l_unknown_state_filters.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.unknown_state_filters = l_unknown_state_filters
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ListTransactionsResponse.transaction_states")
    if n * 11 > end - pos:
        raise length_read("ListTransactionsResponse.transaction_states", n, end - pos)
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
