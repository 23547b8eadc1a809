"""CreateDelegationToken. Generated from schema/create_delegation_token.txt by tools/generate_messages.py; do not edit."""

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
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_q = Struct(">q").pack
_unpack_q = Struct(">q").unpack_from
_pack_3q = Struct(">qqq").pack
_unpack_3q = Struct(">qqq").unpack_from


class CreatableRenewers:
    """Part of CreateDelegationTokenRequest."""

    __slots__ = ("principal_type", "principal_name")

    principal_type: str
    principal_name: str

    def __init__(
        self,
        *,
        principal_type: str = "",
        principal_name: str = "",
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CreatableRenewers):
            return NotImplemented
        return (
            self.principal_type == other.principal_type
            and self.principal_name == other.principal_name
        )

    def __repr__(self) -> str:
        return f"CreatableRenewers(principal_type={self.principal_type!r}, principal_name={self.principal_name!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 2
        data = self.principal_type.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        data = self.principal_name.encode()
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


def _read_CreatableRenewers(buf: memoryview, pos: int, end: int, version: int) -> tuple[CreatableRenewers, int]:
    flexible = version >= 2
    self = CreatableRenewers.__new__(CreatableRenewers)
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
        raise null_read("CreatableRenewers.principal_type")
    stop = pos + n
    if stop > end:
        raise length_read("CreatableRenewers.principal_type", n, end - pos)
    self.principal_type = str(buf[pos:stop], "utf-8")
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
        raise null_read("CreatableRenewers.principal_name")
    stop = pos + n
    if stop > end:
        raise length_read("CreatableRenewers.principal_name", n, end - pos)
    self.principal_name = str(buf[pos:stop], "utf-8")
    pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class CreateDelegationTokenRequest:
    """Versions 1 to 3, flexible from 2."""

    __slots__ = ("owner_principal_type", "owner_principal_name", "renewers", "max_lifetime_ms")

    API_KEY: ClassVar[int] = 38
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    owner_principal_type: str | None
    owner_principal_name: str | None
    renewers: list[CreatableRenewers]
    max_lifetime_ms: int

    def __init__(
        self,
        *,
        owner_principal_type: str | None = "",
        owner_principal_name: str | None = "",
        renewers: list[CreatableRenewers] = _EMPTY,
        max_lifetime_ms: int = 0,
    ) -> None:
        self.owner_principal_type = owner_principal_type
        self.owner_principal_name = owner_principal_name
        self.renewers = [] if renewers is _EMPTY else renewers
        self.max_lifetime_ms = max_lifetime_ms

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CreateDelegationTokenRequest):
            return NotImplemented
        return (
            self.owner_principal_type == other.owner_principal_type
            and self.owner_principal_name == other.owner_principal_name
            and self.renewers == other.renewers
            and self.max_lifetime_ms == other.max_lifetime_ms
        )

    def __repr__(self) -> str:
        return f"CreateDelegationTokenRequest(owner_principal_type={self.owner_principal_type!r}, owner_principal_name={self.owner_principal_name!r}, renewers={self.renewers!r}, max_lifetime_ms={self.max_lifetime_ms!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 3:
            raise encode_failed("CreateDelegationTokenRequest", version, "no such version")
        try:
            if version < 3:
                if self.owner_principal_type != "":
                    raise field_unsupported("CreateDelegationTokenRequest.owner_principal_type", version)
                if self.owner_principal_name != "":
                    raise field_unsupported("CreateDelegationTokenRequest.owner_principal_name", version)
            buf = out.buf
            flexible = version >= 2
            if version >= 3:
                v_owner_principal_type = self.owner_principal_type
                if v_owner_principal_type is None:
                    buf.append(0)
                else:
                    data = v_owner_principal_type.encode()
                    n = len(data)
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                    buf += data
            if version >= 3:
                v_owner_principal_name = self.owner_principal_name
                if v_owner_principal_name is None:
                    buf.append(0)
                else:
                    data = v_owner_principal_name.encode()
                    n = len(data)
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_string_length(buf, n)
                    buf += data
            n = len(self.renewers)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_renewers in self.renewers:
                i_renewers.encode(out, version)
            buf += _pack_q(self.max_lifetime_ms)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("CreateDelegationTokenRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[CreateDelegationTokenRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 3:
            raise decode_failed("CreateDelegationTokenRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("CreateDelegationTokenRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_CreateDelegationTokenRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("CreateDelegationTokenRequest", version, error) from error
        if pos > end:
            raise decode_failed("CreateDelegationTokenRequest", version, "truncated")
        return message, pos


def _read_CreateDelegationTokenRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[CreateDelegationTokenRequest, int]:
    flexible = version >= 2
    self = CreateDelegationTokenRequest.__new__(CreateDelegationTokenRequest)
    if version >= 3:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            self.owner_principal_type = None
        else:
            stop = pos + n
            if stop > end:
                raise length_read("CreateDelegationTokenRequest.owner_principal_type", n, end - pos)
            self.owner_principal_type = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.owner_principal_type = ""
    if version >= 3:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            self.owner_principal_name = None
        else:
            stop = pos + n
            if stop > end:
                raise length_read("CreateDelegationTokenRequest.owner_principal_name", n, end - pos)
            self.owner_principal_name = str(buf[pos:stop], "utf-8")
            pos = stop
    else:
        self.owner_principal_name = ""
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
        raise null_read("CreateDelegationTokenRequest.renewers")
    if n * 3 > end - pos:
        raise length_read("CreateDelegationTokenRequest.renewers", n, end - pos)
    l_renewers: list[CreatableRenewers] = []
    for _ in range(n):
        i_renewers, pos = _read_CreatableRenewers(buf, pos, end, version)
        l_renewers.append(i_renewers)
    self.renewers = l_renewers
    (self.max_lifetime_ms,) = _unpack_q(buf, pos)
    pos += 8
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class CreateDelegationTokenResponse:
    """Versions 1 to 3, flexible from 2."""

    __slots__ = ("error_code", "principal_type", "principal_name", "token_requester_principal_type", "token_requester_principal_name", "issue_timestamp_ms", "expiry_timestamp_ms", "max_timestamp_ms", "token_id", "hmac", "throttle_time_ms")

    API_KEY: ClassVar[int] = 38
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    error_code: int
    principal_type: str
    principal_name: str
    token_requester_principal_type: str
    token_requester_principal_name: str
    issue_timestamp_ms: int
    expiry_timestamp_ms: int
    max_timestamp_ms: int
    token_id: str
    hmac: bytes
    throttle_time_ms: int

    def __init__(
        self,
        *,
        error_code: int = 0,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp_ms: int = 0,
        expiry_timestamp_ms: int = 0,
        max_timestamp_ms: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp_ms = issue_timestamp_ms
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.max_timestamp_ms = max_timestamp_ms
        self.token_id = token_id
        self.hmac = hmac
        self.throttle_time_ms = throttle_time_ms

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CreateDelegationTokenResponse):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.principal_type == other.principal_type
            and self.principal_name == other.principal_name
            and self.token_requester_principal_type == other.token_requester_principal_type
            and self.token_requester_principal_name == other.token_requester_principal_name
            and self.issue_timestamp_ms == other.issue_timestamp_ms
            and self.expiry_timestamp_ms == other.expiry_timestamp_ms
            and self.max_timestamp_ms == other.max_timestamp_ms
            and self.token_id == other.token_id
            and self.hmac == other.hmac
            and self.throttle_time_ms == other.throttle_time_ms
        )

    def __repr__(self) -> str:
        return f"CreateDelegationTokenResponse(error_code={self.error_code!r}, principal_type={self.principal_type!r}, principal_name={self.principal_name!r}, token_requester_principal_type={self.token_requester_principal_type!r}, token_requester_principal_name={self.token_requester_principal_name!r}, issue_timestamp_ms={self.issue_timestamp_ms!r}, expiry_timestamp_ms={self.expiry_timestamp_ms!r}, max_timestamp_ms={self.max_timestamp_ms!r}, token_id={self.token_id!r}, hmac=<hidden>, throttle_time_ms={self.throttle_time_ms!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 3:
            raise encode_failed("CreateDelegationTokenResponse", version, "no such version")
        try:
            if version < 3:
                if self.token_requester_principal_type != "":
                    raise field_unsupported("CreateDelegationTokenResponse.token_requester_principal_type", version)
                if self.token_requester_principal_name != "":
                    raise field_unsupported("CreateDelegationTokenResponse.token_requester_principal_name", version)
            buf = out.buf
            flexible = version >= 2
            buf += _pack_h(self.error_code)
            data = self.principal_type.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
            data = self.principal_name.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
            if version >= 3:
                data = self.token_requester_principal_type.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            if version >= 3:
                data = self.token_requester_principal_name.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            buf += _pack_3q(self.issue_timestamp_ms, self.expiry_timestamp_ms, self.max_timestamp_ms)
            data = self.token_id.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
            n = len(self.hmac)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            buf += self.hmac
            buf += _pack_i(self.throttle_time_ms)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("CreateDelegationTokenResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[CreateDelegationTokenResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 3:
            raise decode_failed("CreateDelegationTokenResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("CreateDelegationTokenResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_CreateDelegationTokenResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("CreateDelegationTokenResponse", version, error) from error
        if pos > end:
            raise decode_failed("CreateDelegationTokenResponse", version, "truncated")
        return message, pos


def _read_CreateDelegationTokenResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[CreateDelegationTokenResponse, int]:
    flexible = version >= 2
    self = CreateDelegationTokenResponse.__new__(CreateDelegationTokenResponse)
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
        raise null_read("CreateDelegationTokenResponse.principal_type")
    stop = pos + n
    if stop > end:
        raise length_read("CreateDelegationTokenResponse.principal_type", n, end - pos)
    self.principal_type = str(buf[pos:stop], "utf-8")
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
        raise null_read("CreateDelegationTokenResponse.principal_name")
    stop = pos + n
    if stop > end:
        raise length_read("CreateDelegationTokenResponse.principal_name", n, end - pos)
    self.principal_name = str(buf[pos:stop], "utf-8")
    pos = stop
    if version >= 3:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("CreateDelegationTokenResponse.token_requester_principal_type")
        stop = pos + n
        if stop > end:
            raise length_read("CreateDelegationTokenResponse.token_requester_principal_type", n, end - pos)
        self.token_requester_principal_type = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.token_requester_principal_type = ""
    if version >= 3:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("CreateDelegationTokenResponse.token_requester_principal_name")
        stop = pos + n
        if stop > end:
            raise length_read("CreateDelegationTokenResponse.token_requester_principal_name", n, end - pos)
        self.token_requester_principal_name = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.token_requester_principal_name = ""
    self.issue_timestamp_ms, self.expiry_timestamp_ms, self.max_timestamp_ms = _unpack_3q(buf, pos)
    pos += 24
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
        raise null_read("CreateDelegationTokenResponse.token_id")
    stop = pos + n
    if stop > end:
        raise length_read("CreateDelegationTokenResponse.token_id", n, end - pos)
    self.token_id = str(buf[pos:stop], "utf-8")
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
        raise null_read("CreateDelegationTokenResponse.hmac")
    stop = pos + n
    if stop > end:
        raise length_read("CreateDelegationTokenResponse.hmac", n, end - pos)
    self.hmac = bytes(buf[pos:stop])
    pos = stop
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
