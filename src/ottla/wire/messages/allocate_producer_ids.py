"""AllocateProducerIds. Generated from schema/allocate_producer_ids.txt by tools/generate_messages.py; do not edit."""

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
    skip_tagged_fields,
)

_pack_ihqi = Struct(">ihqi").pack
_unpack_ihqi = Struct(">ihqi").unpack_from
_pack_iq = Struct(">iq").pack
_unpack_iq = Struct(">iq").unpack_from


class AllocateProducerIdsRequest:
    """Version 0."""

    __slots__ = ("broker_id", "broker_epoch")

    API_KEY: ClassVar[int] = 67
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    broker_id: int
    broker_epoch: int

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AllocateProducerIdsRequest):
            return NotImplemented
        return (
            self.broker_id == other.broker_id
            and self.broker_epoch == other.broker_epoch
        )

    def __repr__(self) -> str:
        return f"AllocateProducerIdsRequest(broker_id={self.broker_id!r}, broker_epoch={self.broker_epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("AllocateProducerIdsRequest", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_iq(self.broker_id, self.broker_epoch)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AllocateProducerIdsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AllocateProducerIdsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("AllocateProducerIdsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AllocateProducerIdsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AllocateProducerIdsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AllocateProducerIdsRequest", version, error) from error
        if pos > end:
            raise decode_failed("AllocateProducerIdsRequest", version, "truncated")
        return message, pos


def _read_AllocateProducerIdsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[AllocateProducerIdsRequest, int]:
    self = AllocateProducerIdsRequest.__new__(AllocateProducerIdsRequest)
    self.broker_id, self.broker_epoch = _unpack_iq(buf, pos)
    pos += 12
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AllocateProducerIdsResponse:
    """Version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "producer_id_start", "producer_id_len")

    API_KEY: ClassVar[int] = 67
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    throttle_time_ms: int
    error_code: int
    producer_id_start: int
    producer_id_len: int

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id_start: int = 0,
        producer_id_len: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id_start = producer_id_start
        self.producer_id_len = producer_id_len

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AllocateProducerIdsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.error_code == other.error_code
            and self.producer_id_start == other.producer_id_start
            and self.producer_id_len == other.producer_id_len
        )

    def __repr__(self) -> str:
        return f"AllocateProducerIdsResponse(throttle_time_ms={self.throttle_time_ms!r}, error_code={self.error_code!r}, producer_id_start={self.producer_id_start!r}, producer_id_len={self.producer_id_len!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("AllocateProducerIdsResponse", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_ihqi(self.throttle_time_ms, self.error_code, self.producer_id_start, self.producer_id_len)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AllocateProducerIdsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AllocateProducerIdsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("AllocateProducerIdsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AllocateProducerIdsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AllocateProducerIdsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AllocateProducerIdsResponse", version, error) from error
        if pos > end:
            raise decode_failed("AllocateProducerIdsResponse", version, "truncated")
        return message, pos


def _read_AllocateProducerIdsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[AllocateProducerIdsResponse, int]:
    self = AllocateProducerIdsResponse.__new__(AllocateProducerIdsResponse)
    self.throttle_time_ms, self.error_code, self.producer_id_start, self.producer_id_len = _unpack_ihqi(buf, pos)
    pos += 18
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos
