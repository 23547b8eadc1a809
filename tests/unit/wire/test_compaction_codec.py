"""The loops of the cleaner, one by one, in both forms of the codec."""

from __future__ import annotations

import random
import struct
from array import array
from types import ModuleType
from typing import Any

import pytest
from crc32c import crc32c

from ottla.wire.record_batch import Codec, Record, decode_batch, encode_batch, read_header
from support.compaction_codec_forms import FORMS, load_form

KEY = struct.unpack("<QQ", bytes(range(16)))
NO_PRODUCERS = memoryview(b"").cast("q")


@pytest.fixture(params=FORMS)
def codec(request: pytest.FixtureRequest) -> ModuleType:
    return load_form(request.param)


def table_of(codec: ModuleType, slots: int, capacity: int) -> Any:
    return codec.OffsetTable(memoryview(bytearray(24 * slots)).cast("Q"), capacity, *KEY)


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        # From the reference implementation's table for the key 00 01 … 0f and the message 00 01 02 …
        (0, "a3817f04ba25a8e66df67214c7550293"),
        (1, "da87c1d86b99af44347659119b22fc45"),
        (15, "5493e99933b0a8117e08ec0f97cfc3d9"),
        (16, "6ee2a4ca67b054bbfd3315bf85230577"),
        (63, "5150d1772f50834a503e069a973fbd7c"),
    ],
)
def test_keys_are_hashed_with_siphash_128(codec: ModuleType, length: int, expected: str) -> None:
    table = table_of(codec, 2, 1)
    assert struct.pack("<QQ", *table.hash(bytes(range(length)))).hex() == expected


def test_the_crc_is_the_one_of_batches(codec: ModuleType) -> None:
    data = random.Random(1).randbytes(300)
    for start in range(20):
        for end in (start, start + 1, start + 7, start + 8, start + 9, 263, 300):
            assert codec.crc(data, start, end) == crc32c(data[start:end])


def test_a_table_that_is_nearly_full_still_finds_every_key(codec: ModuleType) -> None:
    table = table_of(codec, 200, 199)
    for n in range(199):
        assert table.put(b"key %d" % n, n)
    assert table.entries == 199
    assert [table.get(b"key %d" % n) for n in range(199)] == list(range(199))
    assert table.get(b"another") == -1


def test_a_full_table_takes_new_offsets_of_its_keys_and_no_new_keys(codec: ModuleType) -> None:
    table = table_of(codec, 10, 2)
    assert table.put(b"a", 0) and table.put(b"b", 1)
    assert not table.put(b"c", 2)
    assert table.put(b"a", 2**62)
    assert (table.get(b"a"), table.get(b"b"), table.get(b"c"), table.entries) == (2**62, 1, -1, 2)


def test_a_table_without_a_free_slot_is_refused(codec: ModuleType) -> None:
    with pytest.raises(ValueError, match="free"):
        table_of(codec, 5, 5)


def test_the_hash_depends_on_the_secret_key(codec: ModuleType) -> None:
    """Whoever does not know it cannot choose keys that collide."""
    slots = memoryview(bytearray(48)).cast("Q")
    hashes = {codec.OffsetTable(slots, 1, key0, key1).hash(b"key") for key0 in (0, 1) for key1 in (0, 1)}
    assert len(hashes) == 4


def batch_of(*pairs: tuple[bytes | None, bytes | None], base_offset: int = 0, **options: Any) -> bytes:
    return bytes(
        encode_batch(
            [Record(0, 1000 + i, *pair) for i, pair in enumerate(pairs)], base_offset=base_offset, **options
        )
    )


def test_a_whole_buffer_of_batches_is_indexed_in_one_call(codec: ModuleType) -> None:
    data = b"".join(batch_of((b"key %d" % (n % 7), b"v"), (None, b"v"), base_offset=2 * n) for n in range(50))
    table = table_of(codec, 20, 19)
    indexer = codec.KeyIndexer(table, 0, 1000)
    indexer.begin_segment(0, 1000, 1 << 20)
    cut = len(data) - 10
    assert indexer.run(data, 0, cut) == codec.MORE
    assert indexer.position == len(data) - len(data) // 50 and indexer.next_offset == 98
    assert indexer.run(data, indexer.position, len(data)) == codec.MORE
    assert (indexer.position, indexer.records_read, table.entries) == (len(data), 100, 7)
    assert table.get(b"key 0") == 2 * 49


def test_the_caller_is_asked_about_compressed_transactional_and_control_batches(codec: ModuleType) -> None:
    for options in ({"codec": Codec.GZIP}, {"transactional": True}, {"control": True}):
        data = batch_of((b"a", b"1")) + batch_of((b"b", b"1"), base_offset=1, **options)
        table = table_of(codec, 20, 19)
        indexer = codec.KeyIndexer(table, 0, 1000)
        indexer.begin_segment(0, 1000, 1 << 20)
        assert indexer.run(data, 0, len(data)) == codec.ASK
        assert indexer.position == len(batch_of((b"a", b"1")))
        indexer.skip(data)
        assert (indexer.position, indexer.next_offset) == (len(data), 2)
        keep = codec.BatchFilter(table, 1000, 1000, 0, 0, NO_PRODUCERS, NO_PRODUCERS)
        keep.begin_segment(0, 1000, 1 << 20)
        out = bytearray(5000)
        assert keep.run(data, 0, len(data), out, 0) == codec.ASK
        assert out[: keep.written_to] == batch_of((b"a", b"1"))


def test_a_batch_that_does_not_fit_the_output_waits_for_a_flush(codec: ModuleType) -> None:
    data = batch_of((b"a", bytes(200))) + batch_of((b"b", bytes(200)), base_offset=1)
    size = len(data) // 2
    keep = codec.BatchFilter(table_of(codec, 2, 1), 1000, 1000, 0, 0, NO_PRODUCERS, NO_PRODUCERS)
    keep.begin_segment(0, 1000, 1 << 20)
    out = bytearray(codec.GROWTH_MAX * size)
    assert keep.run(data, 0, len(data), out, 0) == codec.FLUSH
    assert (keep.position, keep.written_to) == (size, size)
    assert keep.run(data, size, len(data), out, 0) == codec.MORE
    assert out[:size] == data[size:]


def test_timestamps_that_count_from_a_horizon_need_no_more_room_than_is_checked_for(
    codec: ModuleType,
) -> None:
    """The smallest records there are, all of them tombstones."""
    data = bytes(encode_batch([Record(0, 5, b"", None) for _ in range(120)]))
    keep = codec.BatchFilter(table_of(codec, 2, 1), 1000, 1000, 0, -(2**63) + 7, NO_PRODUCERS, NO_PRODUCERS)
    keep.begin_segment(0, 1000, 1 << 20)
    out = bytearray(codec.GROWTH_MAX * len(data))
    assert keep.run(data, 0, len(data), out, 0) == codec.MORE
    made = bytes(out[: keep.written_to])
    assert len(made) > 2 * len(data)
    assert read_header(made).base_timestamp == -(2**63) + 7
    assert decode_batch(made, decompressed_bytes_max=1 << 20) == decode_batch(
        data, decompressed_bytes_max=1 << 20
    )


def test_live_producers_are_matched_by_offset_and_id(codec: ModuleType) -> None:
    keep = codec.BatchFilter(
        table_of(codec, 2, 1),
        1000,
        91,
        0,
        0,
        memoryview(array("q", [-1, 4, 8])),
        memoryview(array("q", [70, 71, 72])),
    )
    assert not keep.stays_empty(0, 3, 71)
    assert keep.stays_empty(2, 2, 71)
    assert not keep.stays_empty(8, 0, 71)
    assert keep.stays_empty(8, 0, 72)
    assert not keep.stays_empty(9, 0, -1)
    assert keep.stays_empty(80, 10, -1), "the last batch before the end stays, whoever wrote it"


def test_index_points_are_those_of_appends(codec: ModuleType) -> None:
    """After more than the interval since the last entry, the next batch gets one, as in Kafka."""
    sizes = [(b"a", bytes(100)), (b"b", bytes(10)), (b"c", bytes(300)), (b"d", b""), (b"e", b"")]
    batches = [batch_of(pair, base_offset=n) for n, pair in enumerate(sizes)]
    data = b"".join(batches)
    points, since, largest, offset = codec.index_points(data, 0, len(data), 5000, 0, 200, -1, 0)
    starts = [5000 + len(b"".join(batches[:n])) for n in range(5)]
    assert points == [(2, starts[2], 1000, 0), (3, starts[3], 1000, 0)]
    assert (since, largest, offset) == (len(batches[3]) + len(batches[4]), 1000, 0)
    with pytest.raises(ValueError, match="end"):
        codec.index_points(data, 0, len(data) - 1, 0, 0, 200, -1, 0)


def test_ranges_outside_a_buffer_are_refused(codec: ModuleType) -> None:
    indexer = codec.KeyIndexer(table_of(codec, 2, 1), 0, 10)
    for pos, end in ((-1, 1), (2, 1), (0, 11)):
        with pytest.raises(ValueError, match="range"):
            indexer.run(bytes(10), pos, end)
        with pytest.raises(ValueError, match="range"):
            codec.crc(bytes(10), pos, end)
    with pytest.raises(ValueError, match="no batch"):
        indexer.skip(bytes(10))
