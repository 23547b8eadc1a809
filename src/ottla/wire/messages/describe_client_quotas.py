"""DescribeClientQuotas. Generated from schema/describe_client_quotas.txt by tools/generate_messages.py; do not edit."""

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
_pack_b = Struct(">b").pack
_unpack_b = Struct(">b").unpack_from
_pack_d = Struct(">d").pack
_unpack_d = Struct(">d").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from


class ComponentData:
    """Part of DescribeClientQuotasRequest."""

    __slots__ = ("entity_type", "match_type", "match")

    entity_type: str
    match_type: int
    match: str | None

    def __init__(
        self,
        *,
        entity_type: str = "",
        match_type: int = 0,
        match: str | None = "",
    ) -> None:
        self.entity_type = entity_type
        self.match_type = match_type
        self.match = match

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ComponentData):
            return NotImplemented
        return (
            self.entity_type == other.entity_type
            and self.match_type == other.match_type
            and self.match == other.match
        )

    def __repr__(self) -> str:
        return f"ComponentData(entity_type={self.entity_type!r}, match_type={self.match_type!r}, match={self.match!r})"

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
        buf += _pack_b(self.match_type)
        v_match = self.match
        if v_match is None:
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff"
        else:
            data = v_match.encode()
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


def _read_ComponentData(buf: memoryview, pos: int, end: int, version: int) -> tuple[ComponentData, int]:
    flexible = version >= 1
    self = ComponentData.__new__(ComponentData)
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
        raise null_read("ComponentData.entity_type")
    stop = pos + n
    if stop > end:
        raise length_read("ComponentData.entity_type", n, end - pos)
    self.entity_type = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.match_type,) = _unpack_b(buf, pos)
    pos += 1
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
        self.match = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("ComponentData.match", n, end - pos)
        self.match = str(buf[pos:stop], "utf-8")
        pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeClientQuotasRequest:
    """Versions 0 to 1, flexible from 1."""

    __slots__ = ("components", "strict")

    API_KEY: ClassVar[int] = 48
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1

    components: list[ComponentData]
    strict: bool

    def __init__(
        self,
        *,
        components: list[ComponentData] = _EMPTY,
        strict: bool = False,
    ) -> None:
        self.components = [] if components is _EMPTY else components
        self.strict = strict

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeClientQuotasRequest):
            return NotImplemented
        return (
            self.components == other.components
            and self.strict == other.strict
        )

    def __repr__(self) -> str:
        return f"DescribeClientQuotasRequest(components={self.components!r}, strict={self.strict!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("DescribeClientQuotasRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 1
            n = len(self.components)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_components in self.components:
                i_components.encode(out, version)
            buf += _pack_z(self.strict)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeClientQuotasRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeClientQuotasRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("DescribeClientQuotasRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeClientQuotasRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeClientQuotasRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeClientQuotasRequest", version, error) from error
        if pos > end:
            raise decode_failed("DescribeClientQuotasRequest", version, "truncated")
        return message, pos


def _read_DescribeClientQuotasRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeClientQuotasRequest, int]:
    flexible = version >= 1
    self = DescribeClientQuotasRequest.__new__(DescribeClientQuotasRequest)
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
        raise null_read("DescribeClientQuotasRequest.components")
    if n * 4 > end - pos:
        raise length_read("DescribeClientQuotasRequest.components", n, end - pos)
    l_components: list[ComponentData] = []
    for _ in range(n):
        i_components, pos = _read_ComponentData(buf, pos, end, version)
        l_components.append(i_components)
    self.components = l_components
    self.strict = buf[pos] != 0
    pos += 1
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class EntityData:
    """Part of DescribeClientQuotasResponse."""

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
        if not isinstance(other, EntityData):
            return NotImplemented
        return (
            self.entity_type == other.entity_type
            and self.entity_name == other.entity_name
        )

    def __repr__(self) -> str:
        return f"EntityData(entity_type={self.entity_type!r}, entity_name={self.entity_name!r})"

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


def _read_EntityData(buf: memoryview, pos: int, end: int, version: int) -> tuple[EntityData, int]:
    flexible = version >= 1
    self = EntityData.__new__(EntityData)
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
        raise null_read("EntityData.entity_type")
    stop = pos + n
    if stop > end:
        raise length_read("EntityData.entity_type", n, end - pos)
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
            raise length_read("EntityData.entity_name", n, end - pos)
        self.entity_name = str(buf[pos:stop], "utf-8")
        pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ValueData:
    """Part of DescribeClientQuotasResponse."""

    __slots__ = ("key", "value")

    key: str
    value: float

    def __init__(
        self,
        *,
        key: str = "",
        value: float = 0.0,
    ) -> None:
        self.key = key
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ValueData):
            return NotImplemented
        return (
            self.key == other.key
            and self.value == other.value
        )

    def __repr__(self) -> str:
        return f"ValueData(key={self.key!r}, value={self.value!r})"

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
        buf += _pack_d(self.value)
        if flexible:
            buf.append(0)


def _read_ValueData(buf: memoryview, pos: int, end: int, version: int) -> tuple[ValueData, int]:
    flexible = version >= 1
    self = ValueData.__new__(ValueData)
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
        raise null_read("ValueData.key")
    stop = pos + n
    if stop > end:
        raise length_read("ValueData.key", n, end - pos)
    self.key = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.value,) = _unpack_d(buf, pos)
    pos += 8
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class EntryData:
    """Part of DescribeClientQuotasResponse."""

    __slots__ = ("entity", "values")

    entity: list[EntityData]
    values: list[ValueData]

    def __init__(
        self,
        *,
        entity: list[EntityData] = _EMPTY,
        values: list[ValueData] = _EMPTY,
    ) -> None:
        self.entity = [] if entity is _EMPTY else entity
        self.values = [] if values is _EMPTY else values

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EntryData):
            return NotImplemented
        return (
            self.entity == other.entity
            and self.values == other.values
        )

    def __repr__(self) -> str:
        return f"EntryData(entity={self.entity!r}, values={self.values!r})"

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
        n = len(self.values)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        for i_values in self.values:
            i_values.encode(out, version)
        if flexible:
            buf.append(0)


def _read_EntryData(buf: memoryview, pos: int, end: int, version: int) -> tuple[EntryData, int]:
    flexible = version >= 1
    self = EntryData.__new__(EntryData)
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
        raise null_read("EntryData.entity")
    if n * 3 > end - pos:
        raise length_read("EntryData.entity", n, end - pos)
    l_entity: list[EntityData] = []
    for _ in range(n):
        i_entity, pos = _read_EntityData(buf, pos, end, version)
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
        raise null_read("EntryData.values")
    if n * 10 > end - pos:
        raise length_read("EntryData.values", n, end - pos)
    l_values: list[ValueData] = []
    for _ in range(n):
        i_values, pos = _read_ValueData(buf, pos, end, version)
        l_values.append(i_values)
    self.values = l_values
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeClientQuotasResponse:
    """Versions 0 to 1, flexible from 1."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "entries")

    API_KEY: ClassVar[int] = 48
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    entries: list[EntryData] | None

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        entries: list[EntryData] | None = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.entries = [] if entries is _EMPTY else entries

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeClientQuotasResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.entries == other.entries
        )

    def __repr__(self) -> str:
        return f"DescribeClientQuotasResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, entries={self.entries!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("DescribeClientQuotasResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 1
            buf += _pack_ih(self.throttle_time_ms, self.error_code)
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
            v_entries = self.entries
            if v_entries is None:
                if flexible:
                    buf.append(0)
                else:
                    buf += b"\xff\xff\xff\xff"
            else:
                n = len(v_entries)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_uvarint(buf, n + 1)
                else:
                    buf += _pack_i(n)
                for i_entries in v_entries:
                    i_entries.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeClientQuotasResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeClientQuotasResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("DescribeClientQuotasResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeClientQuotasResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeClientQuotasResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeClientQuotasResponse", version, error) from error
        if pos > end:
            raise decode_failed("DescribeClientQuotasResponse", version, "truncated")
        return message, pos


def _read_DescribeClientQuotasResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeClientQuotasResponse, int]:
    flexible = version >= 1
    self = DescribeClientQuotasResponse.__new__(DescribeClientQuotasResponse)
    self.throttle_time_ms, self.error_code = _unpack_ih(buf, pos)
    pos += 6
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
            raise length_read("DescribeClientQuotasResponse.error_message", n, end - pos)
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
        self.entries = None
    else:
        if n * 3 > end - pos:
            raise length_read("DescribeClientQuotasResponse.entries", n, end - pos)
        l_entries: list[EntryData] = []
        for _ in range(n):
            i_entries, pos = _read_EntryData(buf, pos, end, version)
            l_entries.append(i_entries)
        self.entries = l_entries
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
