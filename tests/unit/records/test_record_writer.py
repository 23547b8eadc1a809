"""The record writer, in both forms: batches out of lists and of rows by index, and the partitions of keys."""

from __future__ import annotations

import random
from array import array
from types import ModuleType
from typing import Any

import pytest

from ottla.wire import record_batch as rb
from ottla.wire.compression import Codec
from ottla.wire.record_batch import Record

BOUND = 1 << 22
RECORDS = [
    Record(
        i,
        1_700_000_000_000 + (i * 7919) % 100_000 - 50_000,
        None if i % 3 == 0 else b"key-%d" % i,
        None if i % 7 == 6 else b"v" * (i * 5),
        (("trace", b"\x01" * (i % 4)), ("null", None), ("Größe", b"")) if i % 2 else (),
    )
    for i in range(150)
]


@pytest.fixture
def writer(codec_form: ModuleType) -> Any:
    return rb.record_writer


def lists(records: list[Record]) -> tuple[Any, Any, Any, Any]:
    return (
        [record.timestamp for record in records],
        [record.key for record in records],
        [record.value for record in records],
        [record.headers for record in records],
    )


@pytest.mark.usefixtures("codec_form")
@pytest.mark.parametrize("codec", list(Codec))
@pytest.mark.parametrize("count", [1, 2, 150])
def test_lists_become_the_batch_that_records_become(codec: Codec, count: int) -> None:
    options: Any = {"codec": codec, "producer_id": 7, "producer_epoch": 2, "base_sequence": 9}
    options["transactional"] = True
    made = rb.encode_lists(*lists(RECORDS[:count]), **options)
    assert made == rb.encode_batch(RECORDS[:count], **options)


@pytest.mark.usefixtures("codec_form")
def test_lists_that_are_absent_are_null_in_every_record() -> None:
    made = rb.encode_lists([5, 6], None, [b"a", None])
    assert rb.decode_batch(made, decompressed_bytes_max=BOUND) == [
        Record(0, 5, None, b"a"),
        Record(1, 6, None, None),
    ]
    made = rb.encode_lists([5], [b"k"], None, None)
    assert rb.decode_batch(made, decompressed_bytes_max=BOUND) == [Record(0, 5, b"k", None)]


@pytest.mark.usefixtures("codec_form")
def test_a_record_without_headers_after_one_with_some_gets_none_of_them() -> None:
    headers: Any = [(("a", b"1"),), (), (("b", None),)]
    made = rb.encode_lists([1, 2, 3], None, None, headers)
    found = rb.decode_batch(made, decompressed_bytes_max=BOUND)
    assert [record.headers for record in found] == headers
    assert [record.value for record in found] == [None] * 3


@pytest.mark.usefixtures("codec_form")
def test_lists_of_different_lengths_are_refused() -> None:
    for arguments in (([1], [b"a", b"b"], None), ([1], None, []), ([1], None, None, [])):
        with pytest.raises(ValueError, match="differ in length"):
            rb.encode_lists(*arguments)  # type: ignore[arg-type]


def test_what_is_not_bytes_is_refused_by_the_compiled_form() -> None:
    with pytest.raises(TypeError):
        rb.encode_lists([1], None, ["text"])  # type: ignore[list-item]


def test_a_batch_is_sealed_with_its_producer_and_a_new_crc() -> None:
    batch = rb.encode_lists(*lists(RECORDS), codec=Codec.LZ4)
    rb.seal_batch(batch, 5, 1, 300, transactional=True)
    header = rb.check_crc(batch, 0, len(batch))
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (5, 1, 300)
    assert header.is_transactional and header.codec == Codec.LZ4
    rb.seal_batch(batch, 6, 0, 0)
    assert not rb.check_crc(batch, 0, len(batch)).is_transactional


def bytes_column(values: list[bytes | None], *, wide: bool = False, first: int = 0) -> Any:
    """Buffers as Arrow has them, with so many rows in front that do not belong to the column."""
    padded = [b"not ours"] * first + values
    offsets, data, validity = [0], bytearray(), bytearray((len(padded) + 7) // 8)
    for i, value in enumerate(padded):
        data += value or b""
        offsets.append(len(data))
        if value is not None:
            validity[i >> 3] |= 1 << (i & 7)
    view = memoryview(array("q" if wide else "i", offsets))
    return view, memoryview(bytes(data)), memoryview(bytes(validity)), first


def source_of(writer: Any, records: list[Record], *, wide: bool = False, first: int = 0) -> Any:
    pairs = [pair for record in records for pair in record.headers]
    counts = [0]
    for record in records:
        counts.append(counts[-1] + len(record.headers))
    source = writer.ColumnSource(
        memoryview(array("q", [record.timestamp for record in records])),
        None,
        bytes_column([record.key for record in records], wide=wide, first=first),
        bytes_column([record.value for record in records], wide=not wide, first=2 * first),
        memoryview(array("i", [0] * first + counts)),
        bytes_column([name.encode() for name, _ in pairs], wide=wide),
        bytes_column([value for _, value in pairs], wide=not wide),
        first,
    )
    source.check(len(records))
    return source


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("first", [0, 3])
def test_rows_by_index_are_written_as_if_they_had_been_gathered(writer: Any, wide: bool, first: int) -> None:
    order = list(range(150))
    random.Random(1).shuffle(order)
    source = source_of(writer, RECORDS, wide=wide, first=first)
    source.use_index(memoryview(array("i", order)))
    place = 0
    limits = [10_000, 1_000, 40_000, 1 << 20]
    while place < 150:
        count = source.fit(place, 150, limits[0])
        if not count:
            limits.pop(0)
            continue
        made = rb.encode_places(source, place, count, codec=Codec.NONE)
        assert len(made) - rb.HEADER_BYTES <= limits[0]
        assert made == rb.encode_batch([RECORDS[row] for row in order[place : place + count]])
        assert source.row_at(place) == order[place]
        place += count
        if place > 60 and limits[0] == 10_000:
            limits.pop(0)


def test_fit_tells_the_size_of_a_row_that_does_not_fit(writer: Any) -> None:
    source = source_of(writer, [Record(0, 0, None, bytes(1_000))])
    assert source.fit(0, 1, 100) == 0
    assert source.size == len(rb.encode_batch([Record(0, 0, None, bytes(1_000))])) - rb.HEADER_BYTES
    assert source.fit(0, 1, source.size) == 1


def test_places_and_rows_that_are_not_there_are_refused(writer: Any) -> None:
    source = source_of(writer, RECORDS[:10])
    with pytest.raises(ValueError):
        source.fit(0, 11, 1_000)
    with pytest.raises(ValueError):
        source.fit(-1, 5, 1_000)
    for bad in ([0, 10], [-1]):
        with pytest.raises(ValueError, match="not there"):
            source.use_index(memoryview(array("i", bad)))
    with pytest.raises(ValueError):
        source.check(11)
    for at in (-1, 10):
        with pytest.raises(ValueError):
            source.timestamp_at(at)
        with pytest.raises(ValueError):
            source.row_at(at)
    count = source.fit(0, 5, 1 << 20)
    with pytest.raises(ValueError, match="not measured"):
        source.write(bytearray(1 << 20), 0, 1, count, source.timestamp_at(0))
    with pytest.raises(ValueError, match="too small"):
        source.write(bytearray(10), 0, 0, count, source.timestamp_at(0))


def test_offsets_that_lie_are_found_before_a_byte_is_read(writer: Any) -> None:
    data, none = memoryview(b"abcdef"), None
    for offsets in ([0, 4, 2], [-1, 2, 3], [0, 3, 7]):
        for kind in ("i", "q"):
            source = writer.ColumnSource(
                none, none, none, (memoryview(array(kind, offsets)), data, none, 0), none, none, none
            )
            with pytest.raises(ValueError, match="falls, is negative, or reaches beyond"):
                source.check(2)
    short = (memoryview(array("i", [0, 1, 2, 3, 4, 5, 6, 6, 6, 6])), data, memoryview(b"\xff"), 0)
    with pytest.raises(ValueError, match="bitmap"):
        writer.ColumnSource(none, none, short, none, none, none, none).check(9)


# Known values of Java's org.apache.kafka.common.utils.Utils.murmur2, as its own test has them.
MURMUR2 = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


@pytest.mark.parametrize("key", MURMUR2)
def test_murmur2_is_javas(writer: Any, key: bytes) -> None:
    assert writer.murmur2(key) == MURMUR2[key]
    assert writer.partition_of_key(key, 7) == (MURMUR2[key] & 0x7FFFFFFF) % 7


def test_keys_in_a_column_are_hashed_as_keys_alone_and_nulls_are_left_to_others(writer: Any) -> None:
    source = source_of(writer, RECORDS, wide=True, first=5)
    partitions = memoryview(array("i", bytes(4 * 150)))
    assert source.hash_keys(partitions, 11) == 50
    assert list(partitions) == [
        -1 if record.key is None else writer.partition_of_key(record.key, 11) for record in RECORDS
    ]
    with pytest.raises(ValueError):
        source.hash_keys(partitions, 0)
    with pytest.raises(ValueError):
        writer.partition_of_key(b"a", 0)


def test_rows_without_a_partition_go_to_the_choices_in_runs(writer: Any) -> None:
    source = source_of(writer, [Record(0, 0, None, bytes(90))] * 10)
    partitions = memoryview(array("i", [-1, -1, 8, -1, -1, -1, -1, -1, -1, -1]))
    # A row counts 100 bytes: 250 hold two of them, and one was there before.
    assert source.spread(partitions, memoryview(array("i", [4, 6])), 1, 100, 250) == (1, 200)
    assert list(partitions) == [6, 4, 8, 4, 6, 6, 4, 4, 6, 6]
    with pytest.raises(ValueError):
        source.spread(partitions, memoryview(array("i", [])), 0, 0, 1)


def test_rows_are_sorted_by_partition_and_keep_their_order(writer: Any) -> None:
    given = [random.Random(3).randrange(5) for _ in range(1)] + [2, 0, 2, 4, 0, 2, 2]
    partitions = memoryview(array("i", given))
    index, ends = memoryview(array("i", bytes(4 * 8))), memoryview(array("q", bytes(8 * 6)))
    assert writer.by_partition(partitions, 6, index, ends) == -1
    expected = [[row for row, p in enumerate(given) if p == partition] for partition in range(6)]
    assert list(index) == [row for rows in expected for row in rows]
    assert list(ends) == [sum(map(len, expected[: p + 1])) for p in range(6)]
    for bad in (6, -1):
        wrong = memoryview(array("i", [0, 1, bad, 2, 0, 0, 0, 0]))
        assert writer.by_partition(wrong, 6, index, ends) == 2
    with pytest.raises(ValueError):
        writer.by_partition(partitions, 5, index, ends)


@pytest.mark.parametrize("size", [0, 5, 100, 1_000])
def test_spare_bytes_are_made_to_fit_and_left_alone_while_somebody_looks_at_them(
    writer: Any, size: int
) -> None:
    spare = bytearray(100)
    made = writer.new_bytes(size, spare)
    assert made is spare and len(made) == size
    held = bytearray(100)
    with memoryview(held):
        made = writer.new_bytes(size, held)
    assert len(made) == size and (made is not held or size == 100)
