"""AlterUserScramCredentials. Generated from schema/alter_user_scram_credentials.txt by tools/generate_messages.py; do not edit."""

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
_pack_b = Struct(">b").pack
_unpack_b = Struct(">b").unpack_from
_pack_bi = Struct(">bi").pack
_unpack_bi = Struct(">bi").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from


class ScramCredentialDeletion:
    """Part of AlterUserScramCredentialsRequest."""

    __slots__ = ("name", "mechanism")

    name: str
    mechanism: int

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
    ) -> None:
        self.name = name
        self.mechanism = mechanism

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScramCredentialDeletion):
            return NotImplemented
        return (
            self.name == other.name
            and self.mechanism == other.mechanism
        )

    def __repr__(self) -> str:
        return f"ScramCredentialDeletion(name={self.name!r}, mechanism={self.mechanism!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_b(self.mechanism)
        buf.append(0)


def _read_ScramCredentialDeletion(buf: memoryview, pos: int, end: int, version: int) -> tuple[ScramCredentialDeletion, int]:
    self = ScramCredentialDeletion.__new__(ScramCredentialDeletion)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ScramCredentialDeletion.name")
    stop = pos + n
    if stop > end:
        raise length_read("ScramCredentialDeletion.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.mechanism,) = _unpack_b(buf, pos)
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ScramCredentialUpsertion:
    """Part of AlterUserScramCredentialsRequest."""

    __slots__ = ("name", "mechanism", "iterations", "salt", "salted_password")

    name: str
    mechanism: int
    iterations: int
    salt: bytes
    salted_password: bytes

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
        iterations: int = 0,
        salt: bytes = b"",
        salted_password: bytes = b"",
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.iterations = iterations
        self.salt = salt
        self.salted_password = salted_password

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScramCredentialUpsertion):
            return NotImplemented
        return (
            self.name == other.name
            and self.mechanism == other.mechanism
            and self.iterations == other.iterations
            and self.salt == other.salt
            and self.salted_password == other.salted_password
        )

    def __repr__(self) -> str:
        return f"ScramCredentialUpsertion(name={self.name!r}, mechanism={self.mechanism!r}, iterations={self.iterations!r}, salt=<hidden>, salted_password=<hidden>)"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_bi(self.mechanism, self.iterations)
        n = len(self.salt)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        buf += self.salt
        n = len(self.salted_password)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        buf += self.salted_password
        buf.append(0)


def _read_ScramCredentialUpsertion(buf: memoryview, pos: int, end: int, version: int) -> tuple[ScramCredentialUpsertion, int]:
    self = ScramCredentialUpsertion.__new__(ScramCredentialUpsertion)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ScramCredentialUpsertion.name")
    stop = pos + n
    if stop > end:
        raise length_read("ScramCredentialUpsertion.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    self.mechanism, self.iterations = _unpack_bi(buf, pos)
    pos += 5
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ScramCredentialUpsertion.salt")
    stop = pos + n
    if stop > end:
        raise length_read("ScramCredentialUpsertion.salt", n, end - pos)
    self.salt = bytes(buf[pos:stop])
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ScramCredentialUpsertion.salted_password")
    stop = pos + n
    if stop > end:
        raise length_read("ScramCredentialUpsertion.salted_password", n, end - pos)
    self.salted_password = bytes(buf[pos:stop])
    pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterUserScramCredentialsRequest:
    """Version 0."""

    __slots__ = ("deletions", "upsertions")

    API_KEY: ClassVar[int] = 51
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    deletions: list[ScramCredentialDeletion]
    upsertions: list[ScramCredentialUpsertion]

    def __init__(
        self,
        *,
        deletions: list[ScramCredentialDeletion] = _EMPTY,
        upsertions: list[ScramCredentialUpsertion] = _EMPTY,
    ) -> None:
        self.deletions = [] if deletions is _EMPTY else deletions
        self.upsertions = [] if upsertions is _EMPTY else upsertions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterUserScramCredentialsRequest):
            return NotImplemented
        return (
            self.deletions == other.deletions
            and self.upsertions == other.upsertions
        )

    def __repr__(self) -> str:
        return f"AlterUserScramCredentialsRequest(deletions={self.deletions!r}, upsertions={self.upsertions!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("AlterUserScramCredentialsRequest", version, "no such version")
        try:
            buf = out.buf
            n = len(self.deletions)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_deletions in self.deletions:
                i_deletions.encode(out, version)
            n = len(self.upsertions)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_upsertions in self.upsertions:
                i_upsertions.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AlterUserScramCredentialsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AlterUserScramCredentialsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("AlterUserScramCredentialsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AlterUserScramCredentialsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AlterUserScramCredentialsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AlterUserScramCredentialsRequest", version, error) from error
        if pos > end:
            raise decode_failed("AlterUserScramCredentialsRequest", version, "truncated")
        return message, pos


def _read_AlterUserScramCredentialsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterUserScramCredentialsRequest, int]:
    self = AlterUserScramCredentialsRequest.__new__(AlterUserScramCredentialsRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AlterUserScramCredentialsRequest.deletions")
    if n * 3 > end - pos:
        raise length_read("AlterUserScramCredentialsRequest.deletions", n, end - pos)
    l_deletions: list[ScramCredentialDeletion] = []
    for _ in range(n):
        i_deletions, pos = _read_ScramCredentialDeletion(buf, pos, end, version)
        l_deletions.append(i_deletions)
    self.deletions = l_deletions
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AlterUserScramCredentialsRequest.upsertions")
    if n * 9 > end - pos:
        raise length_read("AlterUserScramCredentialsRequest.upsertions", n, end - pos)
    l_upsertions: list[ScramCredentialUpsertion] = []
    for _ in range(n):
        i_upsertions, pos = _read_ScramCredentialUpsertion(buf, pos, end, version)
        l_upsertions.append(i_upsertions)
    self.upsertions = l_upsertions
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterUserScramCredentialsResult:
    """Part of AlterUserScramCredentialsResponse."""

    __slots__ = ("user", "error_code", "error_message")

    user: str
    error_code: int
    error_message: str | None

    def __init__(
        self,
        *,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterUserScramCredentialsResult):
            return NotImplemented
        return (
            self.user == other.user
            and self.error_code == other.error_code
            and self.error_message == other.error_message
        )

    def __repr__(self) -> str:
        return f"AlterUserScramCredentialsResult(user={self.user!r}, error_code={self.error_code!r}, error_message={self.error_message!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.user.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
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
        buf.append(0)


def _read_AlterUserScramCredentialsResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterUserScramCredentialsResult, int]:
    self = AlterUserScramCredentialsResult.__new__(AlterUserScramCredentialsResult)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AlterUserScramCredentialsResult.user")
    stop = pos + n
    if stop > end:
        raise length_read("AlterUserScramCredentialsResult.user", n, end - pos)
    self.user = str(buf[pos:stop], "utf-8")
    pos = stop
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
            raise length_read("AlterUserScramCredentialsResult.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AlterUserScramCredentialsResponse:
    """Version 0."""

    __slots__ = ("throttle_time_ms", "results")

    API_KEY: ClassVar[int] = 51
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    results: list[AlterUserScramCredentialsResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[AlterUserScramCredentialsResult] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is _EMPTY else results

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlterUserScramCredentialsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.results == other.results
        )

    def __repr__(self) -> str:
        return f"AlterUserScramCredentialsResponse(throttle_time_ms={self.throttle_time_ms!r}, results={self.results!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("AlterUserScramCredentialsResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_i(self.throttle_time_ms)
            n = len(self.results)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_results in self.results:
                i_results.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AlterUserScramCredentialsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AlterUserScramCredentialsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("AlterUserScramCredentialsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AlterUserScramCredentialsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AlterUserScramCredentialsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AlterUserScramCredentialsResponse", version, error) from error
        if pos > end:
            raise decode_failed("AlterUserScramCredentialsResponse", version, "truncated")
        return message, pos


def _read_AlterUserScramCredentialsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[AlterUserScramCredentialsResponse, int]:
    self = AlterUserScramCredentialsResponse.__new__(AlterUserScramCredentialsResponse)
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AlterUserScramCredentialsResponse.results")
    if n * 5 > end - pos:
        raise length_read("AlterUserScramCredentialsResponse.results", n, end - pos)
    l_results: list[AlterUserScramCredentialsResult] = []
    for _ in range(n):
        i_results, pos = _read_AlterUserScramCredentialsResult(buf, pos, end, version)
        l_results.append(i_results)
    self.results = l_results
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
