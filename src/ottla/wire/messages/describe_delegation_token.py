"""DescribeDelegationToken. Generated from schema/describe_delegation_token.txt by tools/generate_messages.py; do not edit."""

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
_pack_3q = Struct(">qqq").pack
_unpack_3q = Struct(">qqq").unpack_from


class DescribeDelegationTokenOwner:
    """Part of DescribeDelegationTokenRequest."""

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
        if not isinstance(other, DescribeDelegationTokenOwner):
            return NotImplemented
        return (
            self.principal_type == other.principal_type
            and self.principal_name == other.principal_name
        )

    def __repr__(self) -> str:
        return f"DescribeDelegationTokenOwner(principal_type={self.principal_type!r}, principal_name={self.principal_name!r})"

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


def _read_DescribeDelegationTokenOwner(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeDelegationTokenOwner, int]:
    flexible = version >= 2
    self = DescribeDelegationTokenOwner.__new__(DescribeDelegationTokenOwner)
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
        raise null_read("DescribeDelegationTokenOwner.principal_type")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeDelegationTokenOwner.principal_type", n, end - pos)
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
        raise null_read("DescribeDelegationTokenOwner.principal_name")
    stop = pos + n
    if stop > end:
        raise length_read("DescribeDelegationTokenOwner.principal_name", n, end - pos)
    self.principal_name = str(buf[pos:stop], "utf-8")
    pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeDelegationTokenRequest:
    """Versions 1 to 3, flexible from 2."""

    __slots__ = ("owners",)

    API_KEY: ClassVar[int] = 41
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    owners: list[DescribeDelegationTokenOwner] | None

    def __init__(
        self,
        *,
        owners: list[DescribeDelegationTokenOwner] | None = _EMPTY,
    ) -> None:
        self.owners = [] if owners is _EMPTY else owners

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeDelegationTokenRequest):
            return NotImplemented
        return (
            self.owners == other.owners
        )

    def __repr__(self) -> str:
        return f"DescribeDelegationTokenRequest(owners={self.owners!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 3:
            raise encode_failed("DescribeDelegationTokenRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            v_owners = self.owners
            if v_owners is None:
                if flexible:
                    buf.append(0)
                else:
                    buf += b"\xff\xff\xff\xff"
            else:
                n = len(v_owners)
                if flexible:
                    if n < 127:
                        buf.append(n + 1)
                    else:
                        write_uvarint(buf, n + 1)
                else:
                    buf += _pack_i(n)
                for i_owners in v_owners:
                    i_owners.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeDelegationTokenRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeDelegationTokenRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 3:
            raise decode_failed("DescribeDelegationTokenRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeDelegationTokenRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeDelegationTokenRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeDelegationTokenRequest", version, error) from error
        if pos > end:
            raise decode_failed("DescribeDelegationTokenRequest", version, "truncated")
        return message, pos


def _read_DescribeDelegationTokenRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeDelegationTokenRequest, int]:
    flexible = version >= 2
    self = DescribeDelegationTokenRequest.__new__(DescribeDelegationTokenRequest)
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
        self.owners = None
    else:
        if n * 3 > end - pos:
            raise length_read("DescribeDelegationTokenRequest.owners", n, end - pos)
        l_owners: list[DescribeDelegationTokenOwner] = []
        for _ in range(n):
            i_owners, pos = _read_DescribeDelegationTokenOwner(buf, pos, end, version)
            l_owners.append(i_owners)
        self.owners = l_owners
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribedDelegationTokenRenewer:
    """Part of DescribeDelegationTokenResponse."""

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
        if not isinstance(other, DescribedDelegationTokenRenewer):
            return NotImplemented
        return (
            self.principal_type == other.principal_type
            and self.principal_name == other.principal_name
        )

    def __repr__(self) -> str:
        return f"DescribedDelegationTokenRenewer(principal_type={self.principal_type!r}, principal_name={self.principal_name!r})"

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


def _read_DescribedDelegationTokenRenewer(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribedDelegationTokenRenewer, int]:
    flexible = version >= 2
    self = DescribedDelegationTokenRenewer.__new__(DescribedDelegationTokenRenewer)
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
        raise null_read("DescribedDelegationTokenRenewer.principal_type")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedDelegationTokenRenewer.principal_type", n, end - pos)
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
        raise null_read("DescribedDelegationTokenRenewer.principal_name")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedDelegationTokenRenewer.principal_name", n, end - pos)
    self.principal_name = str(buf[pos:stop], "utf-8")
    pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribedDelegationToken:
    """Part of DescribeDelegationTokenResponse."""

    __slots__ = ("principal_type", "principal_name", "token_requester_principal_type", "token_requester_principal_name", "issue_timestamp", "expiry_timestamp", "max_timestamp", "token_id", "hmac", "renewers")

    principal_type: str
    principal_name: str
    token_requester_principal_type: str
    token_requester_principal_name: str
    issue_timestamp: int
    expiry_timestamp: int
    max_timestamp: int
    token_id: str
    hmac: bytes
    renewers: list[DescribedDelegationTokenRenewer]

    def __init__(
        self,
        *,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp: int = 0,
        expiry_timestamp: int = 0,
        max_timestamp: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        renewers: list[DescribedDelegationTokenRenewer] = _EMPTY,
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp = issue_timestamp
        self.expiry_timestamp = expiry_timestamp
        self.max_timestamp = max_timestamp
        self.token_id = token_id
        self.hmac = hmac
        self.renewers = [] if renewers is _EMPTY else renewers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribedDelegationToken):
            return NotImplemented
        return (
            self.principal_type == other.principal_type
            and self.principal_name == other.principal_name
            and self.token_requester_principal_type == other.token_requester_principal_type
            and self.token_requester_principal_name == other.token_requester_principal_name
            and self.issue_timestamp == other.issue_timestamp
            and self.expiry_timestamp == other.expiry_timestamp
            and self.max_timestamp == other.max_timestamp
            and self.token_id == other.token_id
            and self.hmac == other.hmac
            and self.renewers == other.renewers
        )

    def __repr__(self) -> str:
        return f"DescribedDelegationToken(principal_type={self.principal_type!r}, principal_name={self.principal_name!r}, token_requester_principal_type={self.token_requester_principal_type!r}, token_requester_principal_name={self.token_requester_principal_name!r}, issue_timestamp={self.issue_timestamp!r}, expiry_timestamp={self.expiry_timestamp!r}, max_timestamp={self.max_timestamp!r}, token_id={self.token_id!r}, hmac=<hidden>, renewers={self.renewers!r})"

    def encode(self, out: Encoder, version: int) -> None:
        if version < 3:
            if self.token_requester_principal_type != "":
                raise field_unsupported("DescribedDelegationToken.token_requester_principal_type", version)
            if self.token_requester_principal_name != "":
                raise field_unsupported("DescribedDelegationToken.token_requester_principal_name", version)
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
        buf += _pack_3q(self.issue_timestamp, self.expiry_timestamp, self.max_timestamp)
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
        if flexible:
            buf.append(0)


def _read_DescribedDelegationToken(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribedDelegationToken, int]:
    flexible = version >= 2
    self = DescribedDelegationToken.__new__(DescribedDelegationToken)
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
        raise null_read("DescribedDelegationToken.principal_type")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedDelegationToken.principal_type", n, end - pos)
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
        raise null_read("DescribedDelegationToken.principal_name")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedDelegationToken.principal_name", n, end - pos)
    self.principal_name = str(buf[pos:stop], "utf-8")
    pos = stop
    if version >= 3:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("DescribedDelegationToken.token_requester_principal_type")
        stop = pos + n
        if stop > end:
            raise length_read("DescribedDelegationToken.token_requester_principal_type", n, end - pos)
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
            raise null_read("DescribedDelegationToken.token_requester_principal_name")
        stop = pos + n
        if stop > end:
            raise length_read("DescribedDelegationToken.token_requester_principal_name", n, end - pos)
        self.token_requester_principal_name = str(buf[pos:stop], "utf-8")
        pos = stop
    else:
        self.token_requester_principal_name = ""
    self.issue_timestamp, self.expiry_timestamp, self.max_timestamp = _unpack_3q(buf, pos)
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
        raise null_read("DescribedDelegationToken.token_id")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedDelegationToken.token_id", n, end - pos)
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
        raise null_read("DescribedDelegationToken.hmac")
    stop = pos + n
    if stop > end:
        raise length_read("DescribedDelegationToken.hmac", n, end - pos)
    self.hmac = bytes(buf[pos:stop])
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
        raise null_read("DescribedDelegationToken.renewers")
    if n * 3 > end - pos:
        raise length_read("DescribedDelegationToken.renewers", n, end - pos)
    l_renewers: list[DescribedDelegationTokenRenewer] = []
    for _ in range(n):
        i_renewers, pos = _read_DescribedDelegationTokenRenewer(buf, pos, end, version)
        l_renewers.append(i_renewers)
    self.renewers = l_renewers
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DescribeDelegationTokenResponse:
    """Versions 1 to 3, flexible from 2."""

    __slots__ = ("error_code", "tokens", "throttle_time_ms")

    API_KEY: ClassVar[int] = 41
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2

    error_code: int
    tokens: list[DescribedDelegationToken]
    throttle_time_ms: int

    def __init__(
        self,
        *,
        error_code: int = 0,
        tokens: list[DescribedDelegationToken] = _EMPTY,
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.tokens = [] if tokens is _EMPTY else tokens
        self.throttle_time_ms = throttle_time_ms

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DescribeDelegationTokenResponse):
            return NotImplemented
        return (
            self.error_code == other.error_code
            and self.tokens == other.tokens
            and self.throttle_time_ms == other.throttle_time_ms
        )

    def __repr__(self) -> str:
        return f"DescribeDelegationTokenResponse(error_code={self.error_code!r}, tokens={self.tokens!r}, throttle_time_ms={self.throttle_time_ms!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 1 or version > 3:
            raise encode_failed("DescribeDelegationTokenResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 2
            buf += _pack_h(self.error_code)
            n = len(self.tokens)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_tokens in self.tokens:
                i_tokens.encode(out, version)
            buf += _pack_i(self.throttle_time_ms)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DescribeDelegationTokenResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DescribeDelegationTokenResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 1 or version > 3:
            raise decode_failed("DescribeDelegationTokenResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DescribeDelegationTokenResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DescribeDelegationTokenResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DescribeDelegationTokenResponse", version, error) from error
        if pos > end:
            raise decode_failed("DescribeDelegationTokenResponse", version, "truncated")
        return message, pos


def _read_DescribeDelegationTokenResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[DescribeDelegationTokenResponse, int]:
    flexible = version >= 2
    self = DescribeDelegationTokenResponse.__new__(DescribeDelegationTokenResponse)
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
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
        raise null_read("DescribeDelegationTokenResponse.tokens")
    if n * 30 > end - pos:
        raise length_read("DescribeDelegationTokenResponse.tokens", n, end - pos)
    l_tokens: list[DescribedDelegationToken] = []
    for _ in range(n):
        i_tokens, pos = _read_DescribedDelegationToken(buf, pos, end, version)
        l_tokens.append(i_tokens)
    self.tokens = l_tokens
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
