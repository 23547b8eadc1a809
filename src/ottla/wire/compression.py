"""Compression of record batches: the four codecs of Kafka, each with the framing that Kafka's clients use.

The bytes come from peers, so reading is bounded: ``decompress`` gives at most ``bytes_max`` bytes, begins
with a buffer that the input's size justifies and grows it only when the data really is larger. What is larger
than the bound raises ``DecompressedTooLarge``, garbage raises ``InvalidRecord``.

Framings:

* gzip: one or more members.
* snappy: written as snappy-java ("xerial") does, a header and then blocks of 32 KiB with their lengths. Read
  in that form, or as one raw block, which is what librdkafka sends.
* lz4: LZ4 frames with independent blocks, because Kafka's Java client rejects linked ones.
* zstd: one or more frames.

The work happens inside single C calls that do not hold the GIL.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, TypeVar

import cramjam

from ottla.wire.codec import Codec as Codec
from ottla.wire.mapped_memory import mapped_memory

# What the struct, memoryview and crc32c functions accept; typing has no name for it before Python 3.12.
ReadableBuffer = bytes | bytearray | memoryview


class InvalidRecord(ValueError):
    """The contents of a batch are wrong although its CRC is right (Kafka: INVALID_RECORD)."""


class DecompressedTooLarge(InvalidRecord):
    """A batch's records exceed the bound on decompressed bytes."""


class UnsupportedCodec(ValueError):
    """The codec bits name no codec (Kafka: UNSUPPORTED_COMPRESSION_TYPE)."""


# Kafka's defaults and bounds of compression.gzip.level, compression.lz4.level and compression.zstd.level.
GZIP_LEVEL_DEFAULT = -1
LZ4_LEVEL_DEFAULT = 9
ZSTD_LEVEL_DEFAULT = 3
GZIP_LEVEL_MIN, GZIP_LEVEL_MAX = 1, 9
LZ4_LEVEL_MIN, LZ4_LEVEL_MAX = 1, 17
ZSTD_LEVEL_MIN, ZSTD_LEVEL_MAX = -131072, 22

# zlib's "default" (-1) is this level; cramjam takes no negative one.
_ZLIB_DEFAULT_LEVEL = 6
# LZ4 frames know fast (below 3) and high compression (3 to 12). Kafka's default level stands for the fast
# one.
_LZ4_FAST = 1
_LZ4_HIGH_MIN, _LZ4_HIGH_MAX = 3, 12

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)
_XERIAL_BLOCK_BYTES = 32 * 1024
_BLOCK_LENGTH = struct.Struct(">i")
# A snappy block grows at most 64 bytes from 3 (a copy with a 2-byte offset); beyond that its preamble lies.
_SNAPPY_RATIO_MAX = 22

# The first buffer, when the bound allows it: most batches are smaller, or compress less well than this.
_FIRST_BYTES_MIN = 128 * 1024
_MAPPED_BYTES_MIN = 1024 * 1024
# What is kept for looks into batches: a fresh page costs more than to decompress into it.
_KEPT_BYTES_MAX = 4 * 1024 * 1024
_FIRST_RATIO = 8
_GROWTH = 4


def codec_of(attributes: int) -> Codec:
    """The codec that a batch's attributes name."""
    bits = attributes & 0x07
    if bits > Codec.ZSTD:
        raise UnsupportedCodec(f"compression codec {bits} is not known")
    return Codec(bits)


def compress(codec: Codec, data: ReadableBuffer, level: int | None = None) -> ReadableBuffer:
    """The data compressed with a codec; level None means Kafka's default."""
    if codec == Codec.NONE:
        return data
    if codec == Codec.GZIP:
        if level is None or level < 0:
            level = _ZLIB_DEFAULT_LEVEL
        return memoryview(cramjam.gzip.compress(data, level=level))
    if codec == Codec.SNAPPY:
        return _compress_xerial(data)
    if codec == Codec.LZ4:
        if level is None or level == LZ4_LEVEL_DEFAULT:
            level = _LZ4_FAST
        else:
            level = max(_LZ4_HIGH_MIN, min(level, _LZ4_HIGH_MAX))
        compressor = cramjam.lz4.Compressor(level=level, block_linked=False)
        compressor.compress(bytes(data))  # a copy: this one call takes nothing but bytes
        return memoryview(compressor.finish())
    return memoryview(cramjam.zstd.compress(data, level=ZSTD_LEVEL_DEFAULT if level is None else level))


R = TypeVar("R")
Room = Callable[[int], memoryview]


def decompress(codec: Codec, data: ReadableBuffer, bytes_max: int) -> ReadableBuffer:
    """The data decompressed, at most bytes_max bytes of it."""
    return _decompress(codec, data, bytes_max, _scratch, bytes_max)


_idle: list[memoryview] = []
"""Memory that looks have used: as many pieces as there were looks at the same time."""


def look_into(codec: Codec, data: ReadableBuffer, bytes_max: int, look: Callable[[ReadableBuffer], R]) -> R:
    """What `look` says of the data decompressed, which it may not keep: its memory is used again."""
    try:
        memory = _idle.pop()  # one step, so that two threads never get the same
    except IndexError:
        memory = mapped_memory(_KEPT_BYTES_MAX)

    def room(size: int) -> memoryview:
        return memory[:size] if size <= _KEPT_BYTES_MAX else _scratch(size)

    try:
        return look(_decompress(codec, data, bytes_max, room, _KEPT_BYTES_MAX))
    finally:
        _idle.append(memory)


def _decompress(
    codec: Codec, data: ReadableBuffer, bytes_max: int, room: Room, first_bytes_max: int
) -> ReadableBuffer:
    if codec == Codec.NONE:
        if len(data) > bytes_max:
            raise DecompressedTooLarge(f"{len(data)} bytes of records exceed the bound of {bytes_max}")
        return data
    if codec == Codec.GZIP:
        return _decompress_growing(cramjam.gzip.decompress_into, data, bytes_max, room, first_bytes_max)
    if codec == Codec.SNAPPY:
        return _decompress_snappy(memoryview(data), bytes_max, room)
    if codec == Codec.LZ4:
        return _decompress_growing(cramjam.lz4.decompress_into, data, bytes_max, room, first_bytes_max)
    if codec == Codec.ZSTD:
        return _decompress_growing(cramjam.zstd.decompress_into, data, bytes_max, room, first_bytes_max)
    raise UnsupportedCodec(f"compression codec {codec} is not known")


def _decompress_growing(
    decompress_into: Callable[[Any, Any], int],
    data: ReadableBuffer,
    bytes_max: int,
    room: Room,
    first_bytes_max: int,
) -> ReadableBuffer:
    """Decompress into a buffer of a justified size first, and of four times that after every overflow.

    Starting over costs at most a third of the last attempt, and most batches fit the first one.
    """
    size = min(bytes_max, first_bytes_max, max(_FIRST_BYTES_MIN, _FIRST_RATIO * len(data)))
    while True:
        out = room(size)
        try:
            length = decompress_into(data, out)
        except cramjam.DecompressionError as error:
            # cramjam has one exception for all; this text is the one for an output buffer that is full.
            if "failed to write whole buffer" not in str(error):
                raise InvalidRecord(f"compressed records are damaged: {error}") from error
            if size >= bytes_max:
                raise DecompressedTooLarge(
                    f"records exceed the bound of {bytes_max} bytes when decompressed"
                ) from error
        else:
            return out[:length]
        del out
        size = min(bytes_max, size * _GROWTH)


def _scratch(size: int) -> memoryview:
    """Room for `size` bytes. A large bytearray would be filled with zeros while the GIL is held; the pages of
    a map are made when the codec, which has let go of the GIL, first touches them.
    """
    return memoryview(bytearray(size)) if size < _MAPPED_BYTES_MIN else mapped_memory(size)


def _compress_xerial(data: ReadableBuffer) -> bytearray:
    view = memoryview(data)
    out = bytearray(_XERIAL_HEADER)
    for start in range(0, len(view), _XERIAL_BLOCK_BYTES):
        block = memoryview(cramjam.snappy.compress_raw(view[start : start + _XERIAL_BLOCK_BYTES]))
        out += _BLOCK_LENGTH.pack(len(block))
        out += block
    return out


def _decompress_snappy(data: memoryview, bytes_max: int, room: Room) -> ReadableBuffer:
    blocks = _xerial_blocks(data) if data[: len(_XERIAL_MAGIC)] == _XERIAL_MAGIC else [data]
    sizes = []
    total = 0
    for block in blocks:
        try:
            size = cramjam.snappy.decompress_raw_len(block)
        except cramjam.DecompressionError as error:
            raise InvalidRecord(f"compressed records are damaged: {error}") from error
        total += size
        if total > bytes_max:
            raise DecompressedTooLarge(f"records exceed the bound of {bytes_max} bytes when decompressed")
        if size > _SNAPPY_RATIO_MAX * len(block):
            raise InvalidRecord("compressed records are damaged: a snappy block claims more than it can hold")
        sizes.append(size)
    view = room(total)
    at = 0
    for block, size in zip(blocks, sizes, strict=True):
        try:
            length = cramjam.snappy.decompress_raw_into(block, view[at : at + size])
        except cramjam.DecompressionError as error:
            raise InvalidRecord(f"compressed records are damaged: {error}") from error
        if length != size:
            raise InvalidRecord("compressed records are damaged: a snappy block is shorter than it claims")
        at += size
    return view


def _xerial_blocks(data: memoryview) -> list[memoryview]:
    """The raw blocks of a xerial stream; streams may follow one another, each with its header."""
    blocks = []
    at = 0
    end = len(data)
    while at < end:
        if data[at : at + len(_XERIAL_MAGIC)] == _XERIAL_MAGIC:
            # The two version numbers that follow are not looked at: no writer ever used others.
            at += len(_XERIAL_HEADER)
            if at > end:
                raise InvalidRecord("compressed records are damaged: a snappy stream header is cut short")
            continue
        if end - at < 4:
            raise InvalidRecord("compressed records are damaged: a snappy block length is cut short")
        (length,) = _BLOCK_LENGTH.unpack_from(data, at)
        at += 4
        if length <= 0 or length > end - at:
            raise InvalidRecord("compressed records are damaged: a snappy block reaches beyond the batch")
        blocks.append(data[at : at + length])
        at += length
    return blocks
