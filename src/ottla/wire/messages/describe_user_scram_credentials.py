"""DescribeUserScramCredentials. Generated from schema/describe_user_scram_credentials.txt by tools/generate_messages.py; do not edit."""

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
_pack_bi = Struct(">bi").pack
_unpack_bi = Struct(">bi").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from


class UserName:
    """Part of DescribeUserScramCredentialsRequest."""

    __slots__ = ("name",)

    name: str

    def __init__(
        self,
        *,
        name: str = "",
    ) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UserName):
            return NotImplemented
        return (
            self.name == other.name
        )

    def __repr__(self) -> str:
        return f"UserName(name={self.name!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf.append(0)


def _read_UserName(buf: memoryview, pos: int, end: int, version: int) -> tuple[UserName, int]:
    self = UserName.__new__(UserName)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("UserName.name")
    stop = pos + n
    if stop > end:
        raise length_read("UserName.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeUserScramCredentialsRequest:
    """Version 0."""

    __slots__ = ("users",)

    API_KEY: ClassVar[int] = 50
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    users: list[UserName] | None

    def __init__(
        self,
        *,
        users: list[UserName] | None = _EMPTY,
    ) -> None:
        self.users = [] if users is _EMPTY else users

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeUserScramCredentialsRequest):
            return NotImplemented
        return (
            self.users == other.users
        )

    def __repr__(self) -> str:
        return f"DescribeUserScramCredentialsRequest(users={self.users!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("DescribeUserScramCredentialsRequest", version, "no such version")
        try:
            buf = out.buf
            v_users = self.users
            if v_users is None:
                buf.append(0)
            else:
                n = len(v_users)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_users in v_users:
                    i_users.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeUserScramCredentialsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeUserScramCredentialsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("DescribeUserScramCredentialsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeUserScramCredentialsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeUserScramCredentialsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeUserScramCredentialsRequest", version, error) from error
        if pos > end:
            raise decode_failed("DescribeUserScramCredentialsRequest", version, "truncated")
        return message, pos


def _read_DescribeUserScramCredentialsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeUserScramCredentialsRequest, int]:
    self = DescribeUserScramCredentialsRequest.__new__(DescribeUserScramCredentialsRequest)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.users = None
    else:
        if n * 2 > end - pos:
            raise length_read("DescribeUserScramCredentialsRequest.users", n, end - pos)
        l_users: list[UserName] = []
        for _ in range(n):
            i_users, pos = _read_UserName(buf, pos, end, version)
            l_users.append(i_users)
        self.users = l_users
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class CredentialInfo:
    """Part of DescribeUserScramCredentialsResponse."""

    __slots__ = ("mechanism", "iterations")

    mechanism: int
    iterations: int

    def __init__(
        self,
        *,
        mechanism: int = 0,
        iterations: int = 0,
    ) -> None:
        self.mechanism = mechanism
        self.iterations = iterations

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CredentialInfo):
            return NotImplemented
        return (
            self.mechanism == other.mechanism
            and self.iterations == other.iterations
        )

    def __repr__(self) -> str:
        return f"CredentialInfo(mechanism={self.mechanism!r}, iterations={self.iterations!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        buf += _pack_bi(self.mechanism, self.iterations)
        buf.append(0)


def _read_CredentialInfo(buf: memoryview, pos: int, end: int, version: int) -> tuple[CredentialInfo, int]:
    self = CredentialInfo.__new__(CredentialInfo)
    self.mechanism, self.iterations = _unpack_bi(buf, pos)
    pos += 5
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeUserScramCredentialsResult:
    """Part of DescribeUserScramCredentialsResponse."""

    __slots__ = ("user", "error_code", "error_message", "credential_infos")

    user: str
    error_code: int
    error_message: str | None
    credential_infos: list[CredentialInfo]

    def __init__(
        self,
        *,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
        credential_infos: list[CredentialInfo] = _EMPTY,
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message
        self.credential_infos = [] if credential_infos is _EMPTY else credential_infos

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeUserScramCredentialsResult):
            return NotImplemented
        return (
            self.user == other.user
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.credential_infos == other.credential_infos
        )

    def __repr__(self) -> str:
        return f"DescribeUserScramCredentialsResult(user={self.user!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, credential_infos={self.credential_infos!r})"

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
        n = len(self.credential_infos)
        if n < 127:
            buf.append(n + 1)
        else:
            write_uvarint(buf, n + 1)
        for i_credential_infos in self.credential_infos:
            i_credential_infos.encode(out, version)
        buf.append(0)


def _read_DescribeUserScramCredentialsResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeUserScramCredentialsResult, int]:
    self = DescribeUserScramCredentialsResult.__new__(DescribeUserScramCredentialsResult)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeUserScramCredentialsResult.user")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeUserScramCredentialsResult.user", n, end - pos)
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
            raise length_read("DescribeUserScramCredentialsResult.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeUserScramCredentialsResult.credential_infos")
    if n * 6 > end - pos:
        raise length_read("DescribeUserScramCredentialsResult.credential_infos", n, end - pos)
    l_credential_infos: list[CredentialInfo] = []
    for _ in range(n):
        i_credential_infos, pos = _read_CredentialInfo(buf, pos, end, version)
        l_credential_infos.append(i_credential_infos)
    self.credential_infos = l_credential_infos
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeUserScramCredentialsResponse:
    """Version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "results")

    API_KEY: ClassVar[int] = 50
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    results: list[DescribeUserScramCredentialsResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: list[DescribeUserScramCredentialsResult] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = [] if results is _EMPTY else results

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeUserScramCredentialsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.results == other.results
        )

    def __repr__(self) -> str:
        return f"DescribeUserScramCredentialsResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, results={self.results!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("DescribeUserScramCredentialsResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_ih(self.throttle_time_ms, self.error_code)
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
            n = len(self.results)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_results in self.results:
                i_results.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeUserScramCredentialsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeUserScramCredentialsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("DescribeUserScramCredentialsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeUserScramCredentialsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeUserScramCredentialsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeUserScramCredentialsResponse", version, error) from error
        if pos > end:
            raise decode_failed("DescribeUserScramCredentialsResponse", version, "truncated")
        return message, pos


def _read_DescribeUserScramCredentialsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeUserScramCredentialsResponse, int]:
    self = DescribeUserScramCredentialsResponse.__new__(DescribeUserScramCredentialsResponse)
    self.throttle_time_ms, self.error_code = _unpack_ih(buf, pos)
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
            raise length_read("DescribeUserScramCredentialsResponse.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DescribeUserScramCredentialsResponse.results")
    if n * 6 > end - pos:
        raise length_read("DescribeUserScramCredentialsResponse.results", n, end - pos)
    l_results: list[DescribeUserScramCredentialsResult] = []
    for _ in range(n):
        i_results, pos = _read_DescribeUserScramCredentialsResult(buf, pos, end, version)
        l_results.append(i_results)
    self.results = l_results
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
