"""What every generated message stands on: the output buffer, variable-length integers, and the two errors.

Decoding is done by position: a reader is a function `(buf, pos, end, ...) -> (value, new position)` over a
memoryview, with no reader object, because a Produce or Fetch request is decoded some ten thousand times a
second. Fixed-size fields are read with `struct` without looking at `end` first: running off the buffer
raises, positions only grow, and every message compares its last position with `end`. Whatever would allocate
or slice (strings, bytes, arrays) is compared with the bytes that remain before it does so.

Encoding appends to one `Encoder`. Record data is not copied through it: `Encoder.attach` makes a large piece,
or a file slice that `sendfile` will send later, a part of its own.
"""

from __future__ import annotations

import struct
from typing import Any, Final, TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview

# A `records` field. Decoding gives a memoryview of the input (no copy), or None. Encoding takes None,
# anything bytes-like, or any object with a length (a slice of a segment file); only its length is looked at.
Records: TypeAlias = Any

# What `Encoder.finish` returns a list of: bytes-like pieces, and the objects given to `attach`.
Part: TypeAlias = Any

ZERO_UUID: Final = bytes(16)

# Attached pieces below this size are copied into the buffer: an entry of its own in a vector write costs more
# than copying a page.
ATTACH_BYTES_MIN: Final = 4096

# Kafka's readers refuse longer strings, in compact encodings too.
STRING_BYTES_MAX: Final = 0x7FFF

# Short arrays of int32 (replicas, partitions) are packed and unpacked by these, indexed by their count, which
# saves making a format and looking it up: a Metadata response of 100 partitions takes 84 µs instead of 122.
INT32_ARRAY_SHORT: Final = 12
_int32_arrays: Final = [struct.Struct(f">{count}i") for count in range(INT32_ARRAY_SHORT)]
INT32_PACK: Final = [each.pack for each in _int32_arrays]
INT32_UNPACK: Final = [each.unpack_from for each in _int32_arrays]


class DecodeError(Exception):
    """The bytes are not what they claim to be: truncated, corrupt, or of a version that does not exist."""


class EncodeError(Exception):
    """The message cannot be written in a version: it lacks a field that is set, or a value does not fit."""


# What generated decoders let escape internally; their public entry points turn these into DecodeError.
DECODE_FAILURES: Final = (struct.error, IndexError, ValueError, OverflowError)
# The same for encoders: a value of the wrong type or out of range.
ENCODE_FAILURES: Final = (struct.error, TypeError, AttributeError, ValueError, OverflowError)


class Encoder:
    """Collects an encoded message as a list of parts, most often a single one.

    `buf` is the part being written and stays the same object for the encoder's whole life, so that generated
    code may hold it in a local. An encoder is finished once, and is of no use after an EncodeError.
    """

    __slots__ = ("buf", "parts", "_closed_bytes")

    buf: bytearray
    parts: list[Part]
    _closed_bytes: int

    def __init__(self) -> None:
        self.buf = bytearray()
        self.parts = []
        self._closed_bytes = 0

    @property
    def size_bytes(self) -> int:
        """The size of all that was written, attached pieces included."""
        return self._closed_bytes + len(self.buf)

    def attach(self, part: Part) -> None:
        """Put `part` next in the output, as a part of its own unless it is bytes-like and small."""
        size_bytes = len(part)
        if size_bytes < ATTACH_BYTES_MIN and isinstance(part, bytes | bytearray | memoryview):
            self.buf += part
            return
        buf = self.buf
        if buf:
            # A copy of what precedes the piece (tens of bytes), which keeps `buf` one object.
            self.parts.append(buf[:])
            self._closed_bytes += len(buf)
            buf.clear()
        self.parts.append(part)
        self._closed_bytes += size_bytes

    def finish(self) -> list[Part]:
        """The parts in order; the first of a framed message is always a bytearray."""
        if self.buf or not self.parts:
            self.parts.append(self.buf)
            self._closed_bytes += len(self.buf)
            self.buf = bytearray()
        return self.parts

    def to_bytes(self) -> bytes:
        """Everything in one piece, for records and tests; only where all parts are bytes-like."""
        return b"".join(self.parts) + bytes(self.buf)


def write_uvarint(buf: bytearray, value: int) -> None:
    """Append an unsigned varint, seven bits a byte, lowest first."""
    while value > 0x7F:
        buf.append(value & 0x7F | 0x80)
        value >>= 7
    buf.append(value)


def write_string_length(buf: bytearray, length: int) -> None:
    """Append a compact string's length of 127 or more (the caller writes shorter ones itself)."""
    if length > STRING_BYTES_MAX:
        raise EncodeError(f"a string of {length} bytes exceeds {STRING_BYTES_MAX}")
    write_uvarint(buf, length + 1)


def read_uvarint(buf: memoryview, pos: int) -> tuple[int, int]:
    """Read an unsigned varint of at most 32 bits."""
    value = buf[pos]
    if value < 0x80:
        return value, pos + 1
    return read_uvarint_tail(value, buf, pos + 1)


def read_uvarint_tail(first: int, buf: memoryview, pos: int) -> tuple[int, int]:
    """Read the rest of a varint whose first byte had its high bit set (the caller handles the others)."""
    value = first & 0x7F
    shift = 7
    while shift < 35:
        byte = buf[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value > 0xFFFFFFFF:
                break
            return value, pos
        shift += 7
    raise DecodeError("a varint is longer than 32 bits")


def read_string_length_tail(first: int, buf: memoryview, pos: int) -> tuple[int, int]:
    """The same for a compact string's length, which is bounded."""
    value, pos = read_uvarint_tail(first, buf, pos)
    if value > STRING_BYTES_MAX + 1:
        raise DecodeError(f"a string of {value - 1} bytes exceeds {STRING_BYTES_MAX}")
    return value, pos


def skip_tagged_fields(buf: memoryview, pos: int, end: int) -> int:
    """Step over a section of tagged fields none of which this version knows."""
    count, pos = read_uvarint(buf, pos)
    if count * 2 > end - pos:
        raise DecodeError(f"{count} tagged fields in {end - pos} bytes")
    for _ in range(count):
        _, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if size > end - pos:
            raise DecodeError(f"a tagged field of {size} bytes where {end - pos} remain")
        pos += size
    return pos


def null_read(field: str) -> DecodeError:
    """The error for a null where the version allows none."""
    return DecodeError(f"{field} is null")


def length_read(field: str, length: int, left_bytes: int) -> DecodeError:
    """The error for a length or an element count that the remaining bytes cannot hold."""
    return DecodeError(f"{field} claims a length of {length} where {left_bytes} bytes remain")


def decode_failed(message: str, version: int, cause: object) -> DecodeError:
    """The error that a message's entry point raises for whatever went wrong inside."""
    return DecodeError(f"{message} version {version}: {cause}")


def encode_failed(message: str, version: int, cause: object) -> EncodeError:
    """The counterpart for encoding."""
    return EncodeError(f"{message} version {version}: {cause}")


def null_written(field: str, version: int) -> EncodeError:
    """The error for None in a field that may not be null in this version."""
    return EncodeError(f"{field} may not be null in version {version}")


def field_unsupported(field: str, version: int) -> EncodeError:
    """The error for a field set to something that this version cannot carry and the peer must not miss."""
    return EncodeError(f"{field} is set, and version {version} cannot carry it")


def uuid_written(field: str) -> EncodeError:
    """The error for a UUID that is not 16 bytes."""
    return EncodeError(f"{field} is not a UUID of 16 bytes")


def size_of(records: Records) -> str:
    """How a records field shows in a repr: by size, since its bytes may be a file's."""
    return "None" if records is None else f"<{len(records)} bytes>"
