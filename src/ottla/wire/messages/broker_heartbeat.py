"""BrokerHeartbeat. Generated from schema/broker_heartbeat.txt by tools/generate_messages.py; do not edit."""

from __future__ import annotations

from struct import Struct
from typing import Any, ClassVar, Final

from ottla.wire.primitives import (
    Buffer,
    DECODE_FAILURES,
    DecodeError,
    ENCODE_FAILURES,
    Encoder,
    decode_failed,
    encode_failed,
    field_unsupported,
    length_read,
    null_read,
    read_uvarint,
    read_uvarint_tail,
    skip_tagged_fields,
    uuid_written,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_ih3z = Struct(">ih???").pack
_unpack_ih3z = Struct(">ih???").unpack_from
_pack_i2q2z = Struct(">iqq??").pack
_unpack_i2q2z = Struct(">iqq??").unpack_from


class BrokerHeartbeatRequest:
    """Versions 0 to 1."""

    __slots__ = ("broker_id", "broker_epoch", "current_metadata_offset", "want_fence", "want_shut_down", "offline_log_dirs")

    API_KEY: ClassVar[int] = 63
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    broker_id: int
    broker_epoch: int
    current_metadata_offset: int
    want_fence: bool
    want_shut_down: bool
    offline_log_dirs: list[bytes]

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        current_metadata_offset: int = 0,
        want_fence: bool = False,
        want_shut_down: bool = False,
        offline_log_dirs: list[bytes] = _EMPTY,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.current_metadata_offset = current_metadata_offset
        self.want_fence = want_fence
        self.want_shut_down = want_shut_down
        self.offline_log_dirs = [] if offline_log_dirs is _EMPTY else offline_log_dirs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BrokerHeartbeatRequest):
            return NotImplemented
        return (
            self.broker_id == other.broker_id
            and self.broker_epoch == other.broker_epoch
            and self.current_metadata_offset == other.current_metadata_offset
            and self.want_fence == other.want_fence
            and self.want_shut_down == other.want_shut_down
            and self.offline_log_dirs == other.offline_log_dirs
        )

    def __repr__(self) -> str:
        return f"BrokerHeartbeatRequest(broker_id={self.broker_id!r}, broker_epoch={self.broker_epoch!r}, current_metadata_offset={self.current_metadata_offset!r}, want_fence={self.want_fence!r}, want_shut_down={self.want_shut_down!r}, offline_log_dirs={self.offline_log_dirs!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("BrokerHeartbeatRequest", version, "no such version")
        try:
            if version < 1:
                if self.offline_log_dirs:
                    raise field_unsupported("BrokerHeartbeatRequest.offline_log_dirs", version)
            buf = out.buf
            buf += _pack_i2q2z(self.broker_id, self.broker_epoch, self.current_metadata_offset, self.want_fence, self.want_shut_down)
            count = 0
            if version >= 1 and (self.offline_log_dirs):
                count += 1
            buf.append(count)
            if count:
                if version >= 1 and (self.offline_log_dirs):
                    sub = Encoder()
                    sub_buf = sub.buf
                    n = len(self.offline_log_dirs)
                    if n < 127:
                        sub_buf.append(n + 1)
                    else:
                        write_uvarint(sub_buf, n + 1)
                    for i_offline_log_dirs in self.offline_log_dirs:
                        if len(i_offline_log_dirs) != 16:
                            raise uuid_written("BrokerHeartbeatRequest.offline_log_dirs")
                        sub_buf += i_offline_log_dirs
                    buf.append(0)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
        except ENCODE_FAILURES as error:
            raise encode_failed("BrokerHeartbeatRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[BrokerHeartbeatRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("BrokerHeartbeatRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("BrokerHeartbeatRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_BrokerHeartbeatRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("BrokerHeartbeatRequest", version, error) from error
        if pos > end:
            raise decode_failed("BrokerHeartbeatRequest", version, "truncated")
        return message, pos


def _read_BrokerHeartbeatRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[BrokerHeartbeatRequest, int]:
    self = BrokerHeartbeatRequest.__new__(BrokerHeartbeatRequest)
    self.broker_id, self.broker_epoch, self.current_metadata_offset, self.want_fence, self.want_shut_down = _unpack_i2q2z(buf, pos)
    pos += 22
    self.offline_log_dirs = []
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("BrokerHeartbeatRequest tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("BrokerHeartbeatRequest tag", size, end - pos)
            if tag == 0 and version >= 1:
                n = buf[pos] - 1
                pos += 1
                if n > 126:
                    n, pos = read_uvarint_tail(n + 1, buf, pos)
                    n -= 1
                if n < 0:
                    raise null_read("BrokerHeartbeatRequest.offline_log_dirs")
                if n * 16 > end - pos:
                    raise length_read("BrokerHeartbeatRequest.offline_log_dirs", n, end - pos)
                l_offline_log_dirs: list[bytes] = []
                for _ in range(n):
                    l_offline_log_dirs.append(bytes(buf[pos : pos + 16]))
                    pos += 16
                self.offline_log_dirs = l_offline_log_dirs
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"BrokerHeartbeatRequest: tag {tag} does not fill its {size} bytes")
    return self, pos


class BrokerHeartbeatResponse:
    """Versions 0 to 1."""

    __slots__ = ("throttle_time_ms", "error_code", "is_caught_up", "is_fenced", "should_shut_down")

    API_KEY: ClassVar[int] = 63
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    is_caught_up: bool
    is_fenced: bool
    should_shut_down: bool

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        is_caught_up: bool = False,
        is_fenced: bool = True,
        should_shut_down: bool = False,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.is_caught_up = is_caught_up
        self.is_fenced = is_fenced
        self.should_shut_down = should_shut_down

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BrokerHeartbeatResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.is_caught_up == other.is_caught_up
            and self.is_fenced == other.is_fenced
            and self.should_shut_down == other.should_shut_down
        )

    def __repr__(self) -> str:
        return f"BrokerHeartbeatResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, is_caught_up={self.is_caught_up!r}, is_fenced={self.is_fenced!r}, should_shut_down={self.should_shut_down!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 1:
            raise encode_failed("BrokerHeartbeatResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_ih3z(self.throttle_time_ms, self.error_code, self.is_caught_up, self.is_fenced, self.should_shut_down)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("BrokerHeartbeatResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[BrokerHeartbeatResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 1:
            raise decode_failed("BrokerHeartbeatResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("BrokerHeartbeatResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_BrokerHeartbeatResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("BrokerHeartbeatResponse", version, error) from error
        if pos > end:
            raise decode_failed("BrokerHeartbeatResponse", version, "truncated")
        return message, pos


def _read_BrokerHeartbeatResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[BrokerHeartbeatResponse, int]:
    self = BrokerHeartbeatResponse.__new__(BrokerHeartbeatResponse)
    self.throttle_time_ms, self.error_code, self.is_caught_up, self.is_fenced, self.should_shut_down = _unpack_ih3z(buf, pos)
    pos += 9
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
