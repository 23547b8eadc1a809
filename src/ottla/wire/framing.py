"""Around a message: size, headers, and the prefixes of records that carry a message.

A request on the wire is a 4-byte size, a request header and a body; a response likewise. Which header version
goes with a body follows from the body's: flexible bodies have headers with tagged fields (request 2, response
1), the others have not (request 1, response 0). ApiVersions is the exception: its response header is always
version 0, because a client that asks for versions cannot know yet which one it will get.

Records of the coordinators' topics begin key and value with an int16: the key's says which type of record
it is, the value's its version. Records of `__cluster_metadata` begin with three varints: the frame's version,
the type and the version.

Sizes are not bounded here: `net` refuses a frame by its size before it reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from struct import error as StructError
from typing import Any, Final

from ottla.wire.messages.index import APIS, ApiKey, request_class, response_class
from ottla.wire.primitives import (
    Buffer,
    DecodeError,
    EncodeError,
    Encoder,
    Part,
    read_uvarint,
    skip_tagged_fields,
    write_uvarint,
)

_REQUEST_HEADER: Final = Struct(">hhih")
_FRAMED_REQUEST_HEADER: Final = Struct(">ihhi")
_FRAMED_RESPONSE_HEADER: Final = Struct(">ii")
_INT16: Final = Struct(">h")
_INT32: Final = Struct(">i")

_API_VERSIONS: Final = int(ApiKey.API_VERSIONS)

METADATA_FRAME_VERSION: Final = 1


class UnknownRecordType(DecodeError):
    """A record of a type that no schema has: written by a newer version, and most readers step over it."""

    def __init__(self, record_type: int) -> None:
        super().__init__(f"unknown record type {record_type}")
        self.record_type = record_type


class RequestHeader:
    """What precedes every request."""

    __slots__ = ("api_key", "api_version", "client_id", "correlation_id")

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None

    def __init__(self, api_key: int, api_version: int, correlation_id: int, client_id: str | None) -> None:
        self.api_key = api_key
        self.api_version = api_version
        self.correlation_id = correlation_id
        self.client_id = client_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RequestHeader):
            return NotImplemented
        return (
            self.api_key == other.api_key
            and self.api_version == other.api_version
            and self.correlation_id == other.correlation_id
            and self.client_id == other.client_id
        )

    def __repr__(self) -> str:
        return (
            f"RequestHeader(api_key={self.api_key}, api_version={self.api_version}, "
            f"correlation_id={self.correlation_id}, client_id={self.client_id!r})"
        )


def decode_request_header(buf: Buffer, pos: int, end: int) -> tuple[RequestHeader, int]:
    """The header of the request in buf[pos:end] and the position of its body.

    A key or version that does not exist is not an error here: the caller has an answer for it. For a version
    above the highest the header is the one that a flexible API keeps for ever; the header of an unknown API
    is read without tagged fields, and its body's position means nothing.
    """
    if pos < 0 or end > len(buf) or end - pos < 10:
        raise DecodeError(f"a request header in {end - pos} bytes")
    api_key, api_version, correlation_id, length = _REQUEST_HEADER.unpack_from(buf, pos)
    pos += 10
    client_id: str | None = None
    if length >= 0:
        stop = pos + length
        if stop > end:
            raise DecodeError(f"a client id of {length} bytes where {end - pos} remain")
        try:
            client_id = str(buf[pos:stop], "utf-8")
        except UnicodeDecodeError as error:
            raise DecodeError(f"the client id is not UTF-8: {error}") from error
        pos = stop
    api = APIS.get(api_key)
    if api is not None and api_version >= api.first_flexible_version:
        if pos < end and buf[pos] == 0:
            pos += 1
        else:
            pos = _skip_header_tags(buf, pos, end)
    return RequestHeader(api_key, api_version, correlation_id, client_id), pos


def _skip_header_tags(buf: Buffer, pos: int, end: int) -> int:
    try:
        pos = skip_tagged_fields(memoryview(buf), pos, end)
    except IndexError as error:
        raise DecodeError("truncated in the header's tagged fields") from error
    if pos > end:
        raise DecodeError("truncated in the header's tagged fields")
    return pos


def decode_request(header: RequestHeader, buf: Buffer, pos: int, end: int) -> Any:
    """The body that follows `header`; its records fields are views of `buf`."""
    message, _ = _class_of(request_class, header.api_key).decode(buf, pos, end, header.api_version)
    return message


def encode_request(request: Any, version: int, correlation_id: int, client_id: str | None) -> list[Part]:
    """A whole request frame, size first."""
    api_key: int = request.API_KEY
    out = Encoder()
    buf = out.buf
    try:
        buf += _FRAMED_REQUEST_HEADER.pack(0, api_key, version, correlation_id)
        if client_id is None:
            buf += b"\xff\xff"
        else:
            data = client_id.encode()
            buf += _INT16.pack(len(data))
            buf += data
    except (ValueError, StructError) as error:
        raise EncodeError(f"request header: {error}") from error
    if version >= APIS[api_key].first_flexible_version:
        buf.append(0)
    request.encode(out, version)
    return _finish_frame(out)


def encode_response(response: Any, api_key: int, version: int, correlation_id: int) -> list[Part]:
    """A whole response frame, size first; the size includes the lengths of attached file slices."""
    out = Encoder()
    out.buf += _FRAMED_RESPONSE_HEADER.pack(0, correlation_id)
    if version >= APIS[api_key].first_flexible_version and api_key != _API_VERSIONS:
        out.buf.append(0)
    response.encode(out, version)
    return _finish_frame(out)


def _finish_frame(out: Encoder) -> list[Part]:
    size_bytes = out.size_bytes - 4
    if size_bytes > 0x7FFFFFFF:
        raise EncodeError(f"a frame of {size_bytes} bytes exceeds its size field")
    parts = out.finish()
    _INT32.pack_into(parts[0], 0, size_bytes)
    return parts


def decode_response(api_key: int, version: int, frame: Buffer) -> tuple[int, Any]:
    """The correlation id and the message of a response frame, given without its 4-byte size."""
    end = len(frame)
    if end < 4:
        raise DecodeError(f"a response header in {end} bytes")
    (correlation_id,) = _INT32.unpack_from(frame, 0)
    pos = 4
    api = APIS.get(api_key)
    if api is not None and version >= api.first_flexible_version and api_key != _API_VERSIONS:
        pos = _skip_header_tags(frame, pos, end)
    message, _ = _class_of(response_class, api_key).decode(frame, pos, end, version)
    return correlation_id, message


def _class_of(find: Any, api_key: int) -> Any:
    try:
        return find(api_key)
    except KeyError as error:
        raise DecodeError(f"unknown API key {api_key}") from error


def encode_coordinator_key(key: Any) -> bytes:
    """The key of a record of `__consumer_offsets`, `__transaction_state` or `__share_group_state`."""
    out = Encoder()
    out.buf += _INT16.pack(key.RECORD_TYPE)
    key.encode(out, 0)
    return out.to_bytes()


def encode_coordinator_value(value: Any, version: int) -> bytes:
    """The value of such a record (a tombstone has none)."""
    out = Encoder()
    out.buf += _INT16.pack(version)
    value.encode(out, version)
    return out.to_bytes()


def decode_coordinator_key(key_types: Mapping[int, type[Any]], buf: Buffer) -> Any:
    """The key in `buf`; `key_types` is the KEY_TYPES of that topic's message module."""
    record_type = _prefix(buf)
    found = key_types.get(record_type)
    if found is None:
        raise UnknownRecordType(record_type)
    key, _ = found.decode(buf, 2, len(buf), 0)
    return key


def decode_coordinator_value(
    value_types: Mapping[int, type[Any]], record_type: int, buf: Buffer
) -> tuple[Any, int]:
    """The value in `buf`, of the type that its key has, and the version it was written in."""
    found = value_types.get(record_type)
    if found is None:
        raise UnknownRecordType(record_type)
    version = _prefix(buf)
    value, _ = found.decode(buf, 2, len(buf), version)
    return value, version


def _prefix(buf: Buffer) -> int:
    if len(buf) < 2:
        raise DecodeError(f"a record's int16 prefix in {len(buf)} bytes")
    prefix: int = _INT16.unpack_from(buf, 0)[0]
    return prefix


def encode_metadata_record(record: Any, version: int) -> bytes:
    """The value of a record of `__cluster_metadata` (its key is null) or the remote log metadata topic."""
    out = Encoder()
    write_uvarint(out.buf, METADATA_FRAME_VERSION)
    write_uvarint(out.buf, record.RECORD_TYPE)
    write_uvarint(out.buf, version)
    record.encode(out, version)
    return out.to_bytes()


def decode_metadata_record(
    buf: Buffer, record_types: Mapping[int, type[Any]] | None = None
) -> tuple[Any, int]:
    """The record in `buf` and its version; bytes after it are an error, as in Kafka.

    `record_types` defaults to the cluster metadata's.
    """
    if record_types is None:
        from ottla.wire.messages.cluster_metadata import RECORD_TYPES

        record_types = RECORD_TYPES
    end = len(buf)
    view = memoryview(buf)
    try:
        frame_version, pos = read_uvarint(view, 0)
        record_type, pos = read_uvarint(view, pos)
        version, pos = read_uvarint(view, pos)
    except IndexError as error:
        raise DecodeError("truncated in a metadata record's prefix") from error
    if frame_version != METADATA_FRAME_VERSION:
        raise DecodeError(f"unknown frame version {frame_version} of a metadata record")
    found = record_types.get(record_type)
    if found is None:
        raise UnknownRecordType(record_type)
    record, pos = found.decode(view, pos, end, version)
    if pos != end:
        raise DecodeError(f"{end - pos} bytes after a metadata record of type {record_type}")
    return record, version
