"""AlterClientQuotas. Generated from schema/alter_client_quotas.txt by tools/generate_messages.py; do not edit."""

from __future__ import annotations

from struct import Struct
from typing import Any, ClassVar, Final

from ottla.wire.primitives import (
    Buffer,
    DECODE_FAILURES,
    ENCODE_FAILURES,
    Encoder,
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
_pack_z = Struct(">?").pack
_unpack_z = Struct(">?").unpack_from
_pack_dz = Struct(">d?").pack
_unpack_dz = Struct(">d?").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from


class AlterClientQuotasRequestEntityData:
    """Part of AlterClientQuotasRequest."""

    __slots__ = ("entity_type", "entity_name")

    entity_type: str
    entity_name: str | None

    def __init__(
        self,
        *,
        entity_type: str = "",
        entity_name: str | None = "",
    ) -> None:
        self.entity_type = entity_type
        self.entity_name = entity_name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterClientQuotasRequestEntityData):
            return NotImplemented
        return (
            self.entity_type == other.entity_type
            and self.entity_name == other.entity_name
        )

    def __repr__(self) -> str:
        return f"AlterClientQuotasRequestEntityData(entity_type={self.entity_type!r}, entity_name={self.entity_name!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 1
        data = self.entity_type.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        v_entity_name = self.entity_name
        if v_entity_name is None:
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff"
        else:
            data = v_entity_name.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
        if flexible:
            buf.append(0)


def _read_AlterClientQuotasRequestEntityData(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterClientQuotasRequestEntityData, int]:
    flexible = version >= 1
    self = AlterClientQuotasRequestEntityData.__new__(AlterClientQuotasRequestEntityData)
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
        raise null_read("AlterClientQuotasRequestEntityData.entity_type")
    stop = pos + n
    if stop > end:
        raise length_read("AlterClientQuotasRequestEntityData.entity_type", n, end - pos)
    self.entity_type = str(buf[pos:stop], "utf-8")
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
        self.entity_name = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("AlterClientQuotasRequestEntityData.entity_name", n, end - pos)
        self.entity_name = str(buf[pos:stop], "utf-8")
        pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class OpData:
    """Part of AlterClientQuotasRequest."""

    __slots__ = ("key", "value", "remove")

    key: str
    value: float
    remove: bool

    def __init__(
        self,
        *,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
    ) -> None:
        self.key = key
        self.value = value
        self.remove = remove

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OpData):
            return NotImplemented
        return (
            self.key == other.key
            and self.value == other.value
            and self.remove == other.remove
        )

    def __repr__(self) -> str:
        return f"OpData(key={self.key!r}, value={self.value!r}, remove={self.remove!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 1
        data = self.key.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        buf += _pack_dz(self.value, self.remove)
        if flexible:
            buf.append(0)


def _read_OpData(buf: memoryview, pos: int, end: int, version: int) -> tuple[OpData, int]:
    flexible = version >= 1
    self = OpData.__new__(OpData)
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
        raise null_read("OpData.key")
    stop = pos + n
    if stop > end:
        raise length_read("OpData.key", n, end - pos)
    self.key = str(buf[pos:stop], "utf-8")
    pos = stop
    self.value, self.remove = _unpack_dz(buf, pos)
    pos += 9
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterClientQuotasRequestEntryData:
    """Part of AlterClientQuotasRequest."""

    __slots__ = ("entity", "ops")

    entity: list[AlterClientQuotasRequestEntityData]
    ops: list[OpData]

    def __init__(
        self,
        *,
        entity: list[AlterClientQuotasRequestEntityData] = _EMPTY,
        ops: list[OpData] = _EMPTY,
    ) -> None:
        self.entity = [] if entity is _EMPTY else entity
        self.ops = [] if ops is _EMPTY else ops

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterClientQuotasRequestEntryData):
            return NotImplemented
        return (
            self.entity == other.entity
            and self.ops == other.ops
        )

    def __repr__(self) -> str:
        return f"AlterClientQuotasRequestEntryData(entity={self.entity!r}, ops={self.ops!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 1
        n = len(self.entity)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        for i_entity in self.entity:
            i_entity.encode(out, version)
        n = len(self.ops)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        for i_ops in self.ops:
            i_ops.encode(out, version)
        if flexible:
            buf.append(0)


def _read_AlterClientQuotasRequestEntryData(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterClientQuotasRequestEntryData, int]:
    flexible = version >= 1
    self = AlterClientQuotasRequestEntryData.__new__(AlterClientQuotasRequestEntryData)
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
        raise null_read("AlterClientQuotasRequestEntryData.entity")
    if n * 3 > end - pos:
        raise length_read("AlterClientQuotasRequestEntryData.entity", n, end - pos)
    l_entity: list[AlterClientQuotasRequestEntityData] = []
    for _ in range(n):
        i_entity, pos = _read_AlterClientQuotasRequestEntityData(buf, pos, end, version)
        l_entity.append(i_entity)
    self.entity = l_entity
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
        raise null_read("AlterClientQuotasRequestEntryData.ops")
    if n * 11 > end - pos:
        raise length_read("AlterClientQuotasRequestEntryData.ops", n, end - pos)
    l_ops: list[OpData] = []
    for _ in range(n):
        i_ops, pos = _read_OpData(buf, pos, end, version)
        l_ops.append(i_ops)
    self.ops = l_ops
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterClientQuotasRequest:
    """Versions 0 to 1, flexible from 1."""

    __slots__ = ("entries", "validate_only")

    API_KEY: ClassVar[int] = 49
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1

    entries: list[AlterClientQuotasRequestEntryData]
    validate_only: bool

    def __init__(
        self,
        *,
        entries: list[AlterClientQuotasRequestEntryData] = _EMPTY,
        validate_only: bool = False,
    ) -> None:
        self.entries = [] if entries is _EMPTY else entries
        self.validate_only = validate_only

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterClientQuotasRequest):
            return NotImplemented
        return (
            self.entries == other.entries
            and self.validate_only == other.validate_only
        )

    def __repr__(self) -> str:
        return f"AlterClientQuotasRequest(entries={self.entries!r}, validate_only={self.validate_only!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("AlterClientQuotasRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 1
            n = len(self.entries)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_entries in self.entries:
                i_entries.encode(out, version)
            buf += _pack_z(self.validate_only)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AlterClientQuotasRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AlterClientQuotasRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("AlterClientQuotasRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AlterClientQuotasRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AlterClientQuotasRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AlterClientQuotasRequest", version, error) from error
        if pos > end:
            raise decode_failed("AlterClientQuotasRequest", version, "truncated")
        return message, pos


def _read_AlterClientQuotasRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterClientQuotasRequest, int]:
    flexible = version >= 1
    self = AlterClientQuotasRequest.__new__(AlterClientQuotasRequest)
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
        raise null_read("AlterClientQuotasRequest.entries")
    if n * 3 > end - pos:
        raise length_read("AlterClientQuotasRequest.entries", n, end - pos)
    l_entries: list[AlterClientQuotasRequestEntryData] = []
    for _ in range(n):
        i_entries, pos = _read_AlterClientQuotasRequestEntryData(buf, pos, end, version)
        l_entries.append(i_entries)
    self.entries = l_entries
    self.validate_only = buf[pos] != 0
    pos += 1
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterClientQuotasResponseEntityData:
    """Part of AlterClientQuotasResponse."""

    __slots__ = ("entity_type", "entity_name")

    entity_type: str
    entity_name: str | None

    def __init__(
        self,
        *,
        entity_type: str = "",
        entity_name: str | None = "",
    ) -> None:
        self.entity_type = entity_type
        self.entity_name = entity_name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterClientQuotasResponseEntityData):
            return NotImplemented
        return (
            self.entity_type == other.entity_type
            and self.entity_name == other.entity_name
        )

    def __repr__(self) -> str:
        return f"AlterClientQuotasResponseEntityData(entity_type={self.entity_type!r}, entity_name={self.entity_name!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 1
        data = self.entity_type.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        v_entity_name = self.entity_name
        if v_entity_name is None:
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff"
        else:
            data = v_entity_name.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
        if flexible:
            buf.append(0)


def _read_AlterClientQuotasResponseEntityData(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterClientQuotasResponseEntityData, int]:
    flexible = version >= 1
    self = AlterClientQuotasResponseEntityData.__new__(AlterClientQuotasResponseEntityData)
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
        raise null_read("AlterClientQuotasResponseEntityData.entity_type")
    stop = pos + n
    if stop > end:
        raise length_read("AlterClientQuotasResponseEntityData.entity_type", n, end - pos)
    self.entity_type = str(buf[pos:stop], "utf-8")
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
        self.entity_name = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("AlterClientQuotasResponseEntityData.entity_name", n, end - pos)
        self.entity_name = str(buf[pos:stop], "utf-8")
        pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterClientQuotasResponseEntryData:
    """Part of AlterClientQuotasResponse."""

    __slots__ = ("error_code", "error_message", "entity")

    error_code: int
    error_message: str | None
    entity: list[AlterClientQuotasResponseEntityData]

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        entity: list[AlterClientQuotasResponseEntityData] = _EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.entity = [] if entity is _EMPTY else entity

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterClientQuotasResponseEntryData):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.entity == other.entity
        )

    def __repr__(self) -> str:
        return f"AlterClientQuotasResponseEntryData(error_code={self.error_code!r}, error_message={self.error_message!r}, entity={self.entity!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 1
        buf += _pack_h(self.error_code)
        v_error_message = self.error_message
        if v_error_message is None:
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff"
        else:
            data = v_error_message.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
        n = len(self.entity)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        for i_entity in self.entity:
            i_entity.encode(out, version)
        if flexible:
            buf.append(0)


def _read_AlterClientQuotasResponseEntryData(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterClientQuotasResponseEntryData, int]:
    flexible = version >= 1
    self = AlterClientQuotasResponseEntryData.__new__(AlterClientQuotasResponseEntryData)
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
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
        self.error_message = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("AlterClientQuotasResponseEntryData.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
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
        raise null_read("AlterClientQuotasResponseEntryData.entity")
    if n * 3 > end - pos:
        raise length_read("AlterClientQuotasResponseEntryData.entity", n, end - pos)
    l_entity: list[AlterClientQuotasResponseEntityData] = []
    for _ in range(n):
        i_entity, pos = _read_AlterClientQuotasResponseEntityData(buf, pos, end, version)
        l_entity.append(i_entity)
    self.entity = l_entity
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterClientQuotasResponse:
    """Versions 0 to 1, flexible from 1."""

    __slots__ = ("throttle_time_ms", "entries")

    API_KEY: ClassVar[int] = 49
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1

    throttle_time_ms: int
    entries: list[AlterClientQuotasResponseEntryData]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        entries: list[AlterClientQuotasResponseEntryData] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.entries = [] if entries is _EMPTY else entries

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterClientQuotasResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.entries == other.entries
        )

    def __repr__(self) -> str:
        return f"AlterClientQuotasResponse(throttle_time_ms={self.throttle_time_ms!r}, entries={self.entries!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("AlterClientQuotasResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 1
            buf += _pack_i(self.throttle_time_ms)
            n = len(self.entries)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_entries in self.entries:
                i_entries.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AlterClientQuotasResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AlterClientQuotasResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("AlterClientQuotasResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AlterClientQuotasResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AlterClientQuotasResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AlterClientQuotasResponse", version, error) from error
        if pos > end:
            raise decode_failed("AlterClientQuotasResponse", version, "truncated")
        return message, pos


def _read_AlterClientQuotasResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterClientQuotasResponse, int]:
    flexible = version >= 1
    self = AlterClientQuotasResponse.__new__(AlterClientQuotasResponse)
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
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
        raise null_read("AlterClientQuotasResponse.entries")
    if n * 5 > end - pos:
        raise length_read("AlterClientQuotasResponse.entries", n, end - pos)
    l_entries: list[AlterClientQuotasResponseEntryData] = []
    for _ in range(n):
        i_entries, pos = _read_AlterClientQuotasResponseEntryData(buf, pos, end, version)
        l_entries.append(i_entries)
    self.entries = l_entries
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
