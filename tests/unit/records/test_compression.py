"""The four codecs: framings of Kafka's clients, and bounds that hold against hostile input."""

from __future__ import annotations

import gzip
import os
import struct
import subprocess
import sys
from pathlib import Path

import cramjam
import pytest

from ottla.wire import compression
from ottla.wire.compression import (
    Codec,
    DecompressedTooLarge,
    InvalidRecord,
    ReadableBuffer,
    compress,
    decompress,
    look_into,
)

CODECS = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]
SAMPLES = [b"", b"a", b"abc" * 50_000, os.urandom(100_000), bytes(3_000_000)]


@pytest.mark.parametrize("codec", list(Codec))
@pytest.mark.parametrize("data", SAMPLES, ids=["empty", "one", "text", "random", "zeros"])
def test_data_round_trips_within_its_exact_size(codec: Codec, data: bytes) -> None:
    packed = compress(codec, data)
    assert bytes(decompress(codec, packed, len(data) + 1)) == data
    if data:
        assert bytes(decompress(codec, packed, len(data))) == data
        with pytest.raises(DecompressedTooLarge):
            decompress(codec, packed, len(data) - 1)


@pytest.mark.parametrize(
    ("codec", "levels"),
    [
        (Codec.GZIP, [None, -1, 1, 6, 9]),
        (Codec.LZ4, [None, 1, 9, 12, 17]),
        (Codec.ZSTD, [None, -5, 1, 3, 19, 22]),
    ],
)
def test_every_level_of_kafka_is_accepted(codec: Codec, levels: list[int | None]) -> None:
    data = os.urandom(1000) * 20
    for level in levels:
        assert bytes(decompress(codec, compress(codec, data, level), len(data))) == data


@pytest.mark.parametrize("codec", CODECS)
def test_garbage_raises(codec: Codec) -> None:
    for data in (
        b"",
        b"\x00",
        b"garbage",
        os.urandom(200),
        b"\xff" * 100,
        b"\x82SNAPPY\x00",
        b"\x82SNAPPY\x00" + bytes(9),
    ):
        if codec == Codec.SNAPPY and data == b"\x00":
            continue  # a raw block that says that it is empty
        with pytest.raises(InvalidRecord):
            decompress(codec, data, 1 << 20)


@pytest.mark.parametrize("codec", CODECS)
def test_compressed_data_cut_anywhere_raises(codec: Codec) -> None:
    packed = bytes(compress(codec, b"one two three " * 20))
    # A xerial stream may end after any block; here there is one, so the header alone is a whole stream.
    whole = {16} if codec == Codec.SNAPPY else set()
    for end in range(len(packed)):
        if end not in whole:
            with pytest.raises(InvalidRecord):
                decompress(codec, packed[:end], 1 << 20)


@pytest.mark.parametrize("codec", CODECS)
def test_streams_that_follow_one_another_are_one(codec: Codec) -> None:
    packed = (
        bytes(compress(codec, b"one ")) + bytes(compress(codec, b"two ")) + bytes(compress(codec, b"three"))
    )
    assert bytes(decompress(codec, packed, 100)) == b"one two three"


def test_snappy_is_written_in_xerial_blocks_of_32_kib() -> None:
    data = os.urandom(70_000)
    packed = bytes(compress(Codec.SNAPPY, data))
    assert packed[:16] == b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"
    at, blocks = 16, []
    while at < len(packed):
        (length,) = struct.unpack_from(">i", packed, at)
        blocks.append(bytes(cramjam.snappy.decompress_raw(packed[at + 4 : at + 4 + length])))
        at += 4 + length
    assert [len(block) for block in blocks] == [32768, 32768, 4464]
    assert b"".join(blocks) == data


def test_raw_snappy_is_read_because_librdkafka_sends_it() -> None:
    data = b"raw" * 1000
    assert bytes(decompress(Codec.SNAPPY, bytes(cramjam.snappy.compress_raw(data)), 3000)) == data


@pytest.mark.parametrize("level", [None, 12])
def test_lz4_frames_have_independent_blocks_because_java_rejects_linked_ones(level: int | None) -> None:
    packed = bytes(compress(Codec.LZ4, b"x" * 300_000, level))
    assert packed[:4] == b"\x04\x22\x4d\x18"
    assert packed[4] & 0b11100000 == 0b01100000  # version 01, blocks independent


def test_lz4_frames_with_linked_blocks_are_read() -> None:
    compressor = cramjam.lz4.Compressor(level=1, block_linked=True)
    data = os.urandom(5000) * 100
    compressor.compress(data)
    packed = bytes(compressor.finish())
    assert packed[4] & 0b00100000 == 0
    assert bytes(decompress(Codec.LZ4, packed, len(data))) == data


def test_gzip_of_another_maker_is_read() -> None:
    assert bytes(decompress(Codec.GZIP, gzip.compress(b"abc" * 100), 300)) == b"abc" * 100


def test_a_snappy_block_that_claims_more_than_it_can_hold_is_refused_before_allocation() -> None:
    # Preamble: 1 GiB; then nothing that could make so much.
    block = b"\x80\x80\x80\x80\x04" + b"\x00a"
    with pytest.raises(InvalidRecord):
        decompress(Codec.SNAPPY, block, 2**31)
    with pytest.raises(DecompressedTooLarge):
        decompress(Codec.SNAPPY, block, 1 << 20)


BOMB = """
import resource, sys
import cramjam
from ottla.wire.compression import Codec, DecompressedTooLarge, decompress
codec, packed = Codec[sys.argv[1]], open(sys.argv[2], "rb").read()
before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    decompress(codec, packed, 4 << 20)
except DecompressedTooLarge:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib)
"""


@pytest.mark.parametrize("codec", CODECS)
def test_a_bomb_is_refused_and_takes_no_more_memory_than_the_bound(codec: Codec, tmp_path: Path) -> None:
    zeros = bytes(256 << 20)
    packed = bytes(compress(codec, zeros))
    if codec == Codec.SNAPPY:
        packed = bytes(cramjam.snappy.compress_raw(zeros))
    file = tmp_path / "bomb"
    file.write_bytes(packed)
    source = str(Path(compression.__file__).parents[2])
    run = subprocess.run(
        [sys.executable, "-c", BOMB, codec.name, str(file)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    grown_kib = int(run.stdout)
    # 4 MiB of output, what the decoder itself needs, and nothing near the 256 MiB that are inside.
    assert grown_kib < 24 * 1024


@pytest.mark.parametrize("codec", CODECS)
def test_looks_use_memory_again_and_two_at_a_time_never_the_same(codec: Codec) -> None:
    first, second = os.urandom(1000) * 1500, os.urandom(500) * 4000
    packed, other = compress(codec, first), compress(codec, second)

    def look(found: ReadableBuffer) -> bytes:
        inner = look_into(codec, other, 1 << 22, bytes)
        assert inner == second and bytes(found) == first
        return bytes(found)

    assert look_into(codec, packed, 1 << 22, look) == first
    kept = len(compression._idle)
    assert kept >= 2
    for _ in range(5):
        assert look_into(codec, other, 1 << 22, bytes) == second
    assert len(compression._idle) == kept


@pytest.mark.parametrize("codec", CODECS)
def test_a_look_is_bounded_and_gives_its_memory_back_when_it_fails(codec: Codec) -> None:
    look_into(codec, compress(codec, b"abc"), 10, bytes)
    kept = len(compression._idle)
    with pytest.raises(DecompressedTooLarge):
        look_into(codec, compress(codec, bytes(100_000)), 99_999, bytes)
    with pytest.raises(InvalidRecord):
        look_into(codec, b"garbage", 1 << 20, bytes)
    with pytest.raises(ZeroDivisionError):
        look_into(codec, compress(codec, b"abc"), 10, lambda found: 1 // 0)
    assert len(compression._idle) == kept
    assert look_into(codec, compress(codec, bytes(9_000_000)), 1 << 24, len) == 9_000_000  # too much to keep
    assert len(compression._idle) == kept
