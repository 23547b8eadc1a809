"""FindCoordinator. Generated from schema/find_coordinator.txt by tools/generate_messages.py; do not edit."""

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
_pack_b = Struct(">b").pack
_unpack_b = Struct(">b").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from


class FindCoordinatorRequest:
    """Versions 0 to 6, flexible from 3."""

    __slots__ = ("key", "key_type", "coordinator_keys")

    API_KEY: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 3

    key: str
    key_type: int
    coordinator_keys: list[str]

    def __init__(
        self,
        *,
        key: str = "",
        key_type: int = 0,
        coordinator_keys: list[str] = _EMPTY,
    ) -> None:
        self.key = key
        self.key_type = key_type
        self.coordinator_keys = [] if coordinator_keys is _EMPTY else coordinator_keys

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FindCoordinatorRequest):
            return NotImplemented
        return (
            self.key == other.key
            and self.key_type == other.key_type
            and self.coordinator_keys == other.coordinator_keys
        )

    def __repr__(self) -> str:
        return f"FindCoordinatorRequest(key={self.key!r}, key_type={self.key_type!r}, coordinator_keys={self.coordinator_keys!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 6:
            raise encode_failed("FindCoordinatorRequest", version, "no such version")
        try:
            if version > 3:
                if self.key != "":
                    raise field_unsupported("FindCoordinatorRequest.key", version)
            if version < 1:
                if self.key_type != 0:
                    raise field_unsupported("FindCoordinatorRequest.key_type", version)
            if version < 4:
                if self.coordinator_keys:
                    raise field_unsupported("FindCoordinatorRequest.coordinator_keys", version)
            buf = out.buf
            flexible = version >= 3
            if version <= 3:
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
            if version >= 1:
                buf += _pack_b(self.key_type)
            if version >= 4:
                n = len(self.coordinator_keys)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_coordinator_keys in self.coordinator_keys:
                    data = i_coordinator_keys.encode()
                    n = len(data)
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                    buf += data
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("FindCoordinatorRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[FindCoordinatorRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 6:
            raise decode_failed("FindCoordinatorRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("FindCoordinatorRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_FindCoordinatorRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("FindCoordinatorRequest", version, error) from error
        if pos > end:
            raise decode_failed("FindCoordinatorRequest", version, "truncated")
        return message, pos


def _read_FindCoordinatorRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[FindCoordinatorRequest, int]:
    flexible = version >= 3
    self = FindCoordinatorRequest.__new__(FindCoordinatorRequest)
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
            raise null_read("FindCoordinatorRequest.key")
        stop = pos + n
        if stop > end:
            raise length_read("FindCoordinatorRequest.key", n, end - pos)
        self.key = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.key = ""
    if version >= 1:
        (self.key_type,) = _unpack_b(buf, pos)
        pos += 1
    else:
        self.key_type = 0
    if version >= 4:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("FindCoordinatorRequest.coordinator_keys")
        if n > end - pos:
            raise length_read("FindCoordinatorRequest.coordinator_keys", n, end - pos)
        l_coordinator_keys: list[str] = []
        for _ in range(n):
            n = buf[pos] - 1
            pos += 1
            if n > 126:
                n, pos = read_string_length_tail(n + 1, buf, pos)
                n -= 1
            if n < 0:
                raise null_read("FindCoordinatorRequest.coordinator_keys")
            stop = pos + n
            if stop > end:
                raise length_read("FindCoordinatorRequest.coordinator_keys", n, end - pos)
            l_coordinator_keys.append(str(buf[pos:stop], "utf-8"))
            pos = stop
        self.coordinator_keys = l_coordinator_keys
    else:
        self.coordinator_keys = []
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class Coordinator:
    """Part of FindCoordinatorResponse."""

    __slots__ = ("key", "node_id", "host", "port", "error_code", "error_message")

    key: str
    node_id: int
    host: str
    port: int
    error_code: int
    error_message: str | None

    def __init__(
        self,
        *,
        key: str = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.key = key
        self.node_id = node_id
        self.host = host
        self.port = port
        self.error_code = error_code
        self.error_message = error_message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Coordinator):
            return NotImplemented
        return (
            self.key == other.key
            and self.node_id == other.node_id
            and self.host == other.host
            and self.port == other.port
            and self.error_code == other.error_code
            and self.error_message == other.error_message
        )

    def __repr__(self) -> str:
        return f"Coordinator(key={self.key!r}, node_id={self.node_id!r}, host={self.host!r}, port={self.port!r}, error_code={self.error_code!r}, error_message={self.error_message!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.key.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_i(self.node_id)
        data = self.host.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_ih(self.port, self.error_code)
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
        buf.append(0)


def _read_Coordinator(buf: memoryview, pos: int, end: int, version: int) -> tuple[Coordinator, int]:
    self = Coordinator.__new__(Coordinator)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Coordinator.key")
    stop = pos + n
    if stop > end:
        raise length_read("Coordinator.key", n, end - pos)
    self.key = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.node_id,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("Coordinator.host")
    stop = pos + n
    if stop > end:
        raise length_read("Coordinator.host", n, end - pos)
    self.host = str(buf[pos:stop], "utf-8")
    pos = stop
    self.port, self.error_code = _unpack_ih(buf, pos)
    pos += 6
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
            raise length_read("Coordinator.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class FindCoordinatorResponse:
    """Versions 0 to 6, flexible from 3."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "node_id", "host", "port", "coordinators")

    API_KEY: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 3

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    node_id: int
    host: str
    port: int
    coordinators: list[Coordinator]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        coordinators: list[Coordinator] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.node_id = node_id
        self.host = host
        self.port = port
        self.coordinators = [] if coordinators is _EMPTY else coordinators

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FindCoordinatorResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.node_id == other.node_id
            and self.host == other.host
            and self.port == other.port
            and self.coordinators == other.coordinators
        )

    def __repr__(self) -> str:
        return f"FindCoordinatorResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, node_id={self.node_id!r}, host={self.host!r}, port={self.port!r}, coordinators={self.coordinators!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 6:
            raise encode_failed("FindCoordinatorResponse", version, "no such version")
        try:
            if version > 3:
                if self.error_code != 0:
                    raise field_unsupported("FindCoordinatorResponse.error_code", version)
                if self.node_id != 0:
                    raise field_unsupported("FindCoordinatorResponse.node_id", version)
                if self.host != "":
                    raise field_unsupported("FindCoordinatorResponse.host", version)
                if self.port != 0:
                    raise field_unsupported("FindCoordinatorResponse.port", version)
            if version < 4:
                if self.coordinators:
                    raise field_unsupported("FindCoordinatorResponse.coordinators", version)
            buf = out.buf
            flexible = version >= 3
            if version >= 1:
                buf += _pack_i(self.throttle_time_ms)
            if version <= 3:
                buf += _pack_h(self.error_code)
            if version >= 1 and version <= 3:
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
            if version <= 3:
                buf += _pack_i(self.node_id)
            if version <= 3:
                data = self.host.encode()
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
                buf += _pack_i(self.port)
            if version >= 4:
                n = len(self.coordinators)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_coordinators in self.coordinators:
                    i_coordinators.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("FindCoordinatorResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[FindCoordinatorResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 6:
            raise decode_failed("FindCoordinatorResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("FindCoordinatorResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_FindCoordinatorResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("FindCoordinatorResponse", version, error) from error
        if pos > end:
            raise decode_failed("FindCoordinatorResponse", version, "truncated")
        return message, pos


def _read_FindCoordinatorResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[FindCoordinatorResponse, int]:
    flexible = version >= 3
    self = FindCoordinatorResponse.__new__(FindCoordinatorResponse)
    if version >= 1:
        (self.throttle_time_ms,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.throttle_time_ms = 0
    if version <= 3:
        (self.error_code,) = _unpack_h(buf, pos)
        pos += 2
    else:
        self.error_code = 0
    if version >= 1 and version <= 3:
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
                raise length_read("FindCoordinatorResponse.error_message", n, end - pos)
            self.error_message = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.error_message = ""
    if version <= 3:
        (self.node_id,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.node_id = 0
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
            raise null_read("FindCoordinatorResponse.host")
        stop = pos + n
        if stop > end:
            raise length_read("FindCoordinatorResponse.host", n, end - pos)
        self.host = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.host = ""
    if version <= 3:
        (self.port,) = _unpack_i(buf, pos)
        pos += 4
    else:
        self.port = 0
    if version >= 4:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("FindCoordinatorResponse.coordinators")
        if n * 14 > end - pos:
            raise length_read("FindCoordinatorResponse.coordinators", n, end - pos)
        l_coordinators: list[Coordinator] = []
        for _ in range(n):
            i_coordinators, pos = _read_Coordinator(buf, pos, end, version)
            l_coordinators.append(i_coordinators)
        self.coordinators = l_coordinators
    else:
        self.coordinators = []
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
