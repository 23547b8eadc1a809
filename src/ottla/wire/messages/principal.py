"""principal. Generated from schema/principal.txt by tools/generate_messages.py; do not edit."""

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
    skip_tagged_fields,
    write_string_length,
)

_pack_z = Struct(">?").pack
_unpack_z = Struct(">?").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from


class DefaultPrincipalData:
    """Version 0."""

    __slots__ = ("type", "name", "token_authenticated")

    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    type: str
    name: str
    token_authenticated: bool

    def __init__(
        self,
        *,
        type: str = "",
        name: str = "",
        token_authenticated: bool = False,
    ) -> None:
        self.type = type
        self.name = name
        self.token_authenticated = token_authenticated

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DefaultPrincipalData):
            return NotImplemented
        return (
            self.type == other.type
            and self.name == other.name
            and self.token_authenticated == other.token_authenticated
        )

    def __repr__(self) -> str:
        return f"DefaultPrincipalData(type={self.type!r}, name={self.name!r}, token_authenticated={self.token_authenticated!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("DefaultPrincipalData", version, "no such version")
        try:
            buf = out.buf
            data = self.type.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            data = self.name.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            buf += _pack_z(self.token_authenticated)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DefaultPrincipalData", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DefaultPrincipalData, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("DefaultPrincipalData", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DefaultPrincipalData", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DefaultPrincipalData(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DefaultPrincipalData", version, error) from error
        if pos > end:
            raise decode_failed("DefaultPrincipalData", version, "truncated")
        return message, pos


def _read_DefaultPrincipalData(buf: memoryview, pos: int, end: int, version: int) -> tuple[DefaultPrincipalData, int]:
    self = DefaultPrincipalData.__new__(DefaultPrincipalData)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DefaultPrincipalData.type")
    stop = pos + n
    if stop > end:
        raise length_read("DefaultPrincipalData.type", n, end - pos)
    self.type = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DefaultPrincipalData.name")
    stop = pos + n
    if stop > end:
        raise length_read("DefaultPrincipalData.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    self.token_authenticated = buf[pos] != 0
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
