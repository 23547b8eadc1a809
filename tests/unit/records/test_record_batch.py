"""Record batches v2, as in Kafka's "Message format" documentation, over both forms of the codec."""

from __future__ import annotations

import struct
from array import array
from types import ModuleType

import pytest

from ottla.wire import record_batch as rb
from ottla.wire.compression import Codec
from ottla.wire.record_batch import CorruptBatch, InvalidRecord, Record

pytestmark = pytest.mark.usefixtures("codec_form")

BOUND = 1 << 22
RECORDS = [
    Record(
        i,
        1_700_000_000_000 + (i * 7919) % 1000,
        None if i % 3 == 0 else b"key-%d" % i,
        None if i % 7 == 6 else b"v" * (i * 5),
        (("trace", b"\x01" * (i % 4)), ("empty", b""), ("null", None), ("ключ", b"x")) if i % 2 else (),
    )
    for i in range(120)
]


def zigzag(value: int, width: int = 0) -> bytes:
    """A zigzag varint, made longer than needed when a width is asked for."""
    bits = (value << 1) ^ (value >> 63)
    bits &= (1 << 64) - 1
    out = bytearray()
    while bits > 0x7F or len(out) + 1 < width:
        out.append(bits & 0x7F | 0x80)
        bits >>= 7
    out.append(bits)
    return bytes(out)


def record_bytes(
    delta: int = 0, key: bytes = b"\x01", value: bytes = b"\x02v", headers: bytes = b"\x00"
) -> bytes:
    """One record from the raw bytes of its fields."""
    body = b"\x00" + zigzag(0) + zigzag(delta) + key + value + headers
    return zigzag(len(body)) + body


def batch_of(
    body: bytes, count: int = 1, last_offset_delta: int | None = None, attributes: int = 0
) -> bytearray:
    """A batch with a right CRC around any bytes."""
    header = rb.BatchHeader(
        0, 0, -1, 2, 0, attributes, count - 1 if last_offset_delta is None else last_offset_delta,
        1000, 1000, -1, -1, -1, count,
    )  # fmt: skip
    return rb._assemble(header, body)


def check(batch: bytes | bytearray, **options: bool) -> rb.CheckedBatch:
    return rb.check_batch(batch, 0, len(batch), decompressed_bytes_max=BOUND, **options)


def sealed(batch: bytearray) -> bytearray:
    """The batch with its CRC made right again."""
    rb._write_crc(batch, 0, len(batch))
    return batch


@pytest.mark.parametrize("codec", list(Codec))
def test_records_come_back_as_they_were_written(codec: Codec) -> None:
    batch = rb.encode_batch(RECORDS, codec=codec)
    assert rb.decode_batch(batch, decompressed_bytes_max=BOUND) == RECORDS
    checked = check(batch)
    assert checked.header.codec == codec
    assert checked.header.record_count == len(RECORDS)
    timestamps = [record.timestamp for record in RECORDS]
    assert checked.min_timestamp == min(timestamps)
    assert checked.max_timestamp == checked.header.max_timestamp == max(timestamps)
    assert checked.offset_of_max_timestamp == timestamps.index(max(timestamps))


def test_the_header_has_the_documented_fields_at_the_documented_places() -> None:
    batch = rb.encode_batch(
        RECORDS[:3],
        base_offset=77,
        producer_id=5,
        producer_epoch=6,
        base_sequence=9,
        transactional=True,
        leader_epoch=4,
    )
    header = rb.read_header(batch)
    assert rb.HEADER.size == rb.HEADER_BYTES == 61
    assert struct.unpack_from(">qi", batch) == (77, len(batch) - 12)
    assert batch[16] == 2
    assert header == rb.BatchHeader(
        77, len(batch) - 12, 4, 2, header.crc, 0x10, 2, RECORDS[0].timestamp,
        max(r.timestamp for r in RECORDS[:3]), 5, 6, 9, 3,
    )  # fmt: skip
    assert (header.last_offset, header.next_offset, header.size_bytes) == (79, 80, len(batch))
    assert header.is_transactional and not header.is_control and not header.has_delete_horizon


@pytest.mark.parametrize(
    ("base", "delta", "last"),
    [(0, 0, 0), (5, 3, 8), (2**31 - 1, 0, 2**31 - 1), (2**31 - 1, 1, 0), (2**31 - 3, 5, 2), (-1, 4, -1)],
)
def test_sequences_wrap_to_zero_after_the_largest_int32(base: int, delta: int, last: int) -> None:
    header = rb.BatchHeader(0, 49, 0, 2, 0, 0, delta, 0, 0, 1, 0, base, delta + 1)
    assert header.last_sequence == last


@pytest.mark.parametrize("codec", list(Codec))
def test_every_flipped_bit_is_noticed(codec: Codec) -> None:
    batch = rb.encode_batch(RECORDS[:5], codec=codec)
    for position in [*range(8, 12), *range(16, len(batch))]:
        for bit in range(8):
            batch[position] ^= 1 << bit
            with pytest.raises(CorruptBatch):
                check(batch)
            batch[position] ^= 1 << bit
    check(batch)


@pytest.mark.parametrize("codec", list(Codec))
def test_a_batch_cut_anywhere_is_corrupt(codec: Codec) -> None:
    batch = rb.encode_batch(RECORDS[:5], codec=codec)
    for end in range(len(batch)):
        with pytest.raises(CorruptBatch):
            rb.check_batch(batch, 0, end, decompressed_bytes_max=BOUND)
        with pytest.raises(CorruptBatch):
            rb.check_crc(bytes(batch[:end]), 0, end)


@pytest.mark.parametrize("codec", list(Codec))
def test_records_cut_anywhere_are_invalid_even_with_a_right_length_and_crc(codec: Codec) -> None:
    whole = rb.encode_batch(RECORDS[:5], codec=codec)
    for end in range(rb.HEADER_BYTES, len(whole)):
        cut = bytearray(whole[:end])
        struct.pack_into(">i", cut, rb.BATCH_LENGTH_AT, end - rb.LOG_OVERHEAD)
        with pytest.raises(InvalidRecord):
            check(sealed(cut))


@pytest.mark.parametrize("magic", [0, 1, 3, -1])
def test_another_magic_is_refused(magic: int) -> None:
    batch = rb.encode_batch(RECORDS[:1])
    struct.pack_into(">b", batch, rb.MAGIC_AT, magic)
    with pytest.raises(CorruptBatch, match="magic"):
        check(sealed(batch))


@pytest.mark.parametrize("length", [-(2**31), -1, 0, 48, 2**31 - 1])
def test_an_impossible_batch_length_is_refused(length: int) -> None:
    batch = rb.encode_batch(RECORDS[:1])
    struct.pack_into(">i", batch, rb.BATCH_LENGTH_AT, length)
    with pytest.raises(CorruptBatch, match="length"):
        check(batch)
    assert rb.record_codec.scan_batches(batch, 0, len(batch)) == (0, 0, 0)


@pytest.mark.parametrize("bits", [5, 6, 7])
def test_an_unknown_codec_is_unsupported(bits: int) -> None:
    with pytest.raises(rb.UnsupportedCodec):
        check(batch_of(record_bytes(), attributes=bits))


@pytest.mark.parametrize(("count", "last"), [(1, 1), (2, 0), (0, -1), (0, 0), (-1, -2), (-(2**31), 0)])
def test_a_record_count_that_disagrees_with_the_last_offset_delta_is_invalid(count: int, last: int) -> None:
    with pytest.raises(InvalidRecord, match="record count"):
        check(batch_of(record_bytes(), count, last))


def test_a_count_of_more_records_than_there_are_is_invalid_and_one_of_fewer_too() -> None:
    body = record_bytes(0) + record_bytes(1) + record_bytes(2)
    check(batch_of(body, 3))
    with pytest.raises(InvalidRecord, match="record 3"):
        check(batch_of(body, 4))
    with pytest.raises(InvalidRecord, match="bytes follow"):
        check(batch_of(body, 2))
    with pytest.raises(InvalidRecord):
        check(batch_of(body, 2**31 - 1))


@pytest.mark.parametrize("deltas", [(1,), (0, 0), (0, 2), (1, 0), (-1,), (0, -1)])
def test_offset_deltas_of_a_producer_are_dense_and_in_order(deltas: tuple[int, ...]) -> None:
    body = b"".join(record_bytes(delta) for delta in deltas)
    with pytest.raises(InvalidRecord, match="out of order"):
        check(batch_of(body, len(deltas)))


@pytest.mark.parametrize(
    ("field", "raw"),
    [
        ("key", zigzag(-2)),
        ("key", zigzag(-(2**31))),
        ("key", zigzag(2**31 - 1)),
        ("key", zigzag(100)),
        ("key", b"\xff\xff\xff\xff\xff\x01"),
        ("value", zigzag(-2)),
        ("value", zigzag(2**31 - 1)),
        ("value", zigzag(3) + b"v"),
        ("value", b"\x80\x80\x80\x80\x80\x00"),
        ("headers", zigzag(-1)),
        ("headers", zigzag(1)),
        ("headers", zigzag(2**31 - 1)),
        ("headers", zigzag(1) + zigzag(-1) + zigzag(-1)),
        ("headers", zigzag(1) + zigzag(0) + zigzag(-2)),
        ("headers", zigzag(1) + zigzag(5) + zigzag(0)),
        ("headers", zigzag(1) + zigzag(0) + zigzag(1)),
        ("headers", zigzag(0) + b"\x00"),
        ("headers", b""),
        ("headers", b"\x80"),
    ],
)
def test_lengths_that_are_negative_too_large_or_malformed_are_invalid(field: str, raw: bytes) -> None:
    with pytest.raises(InvalidRecord):
        check(batch_of(record_bytes(**{field: raw})))  # type: ignore[arg-type]


def test_a_record_whose_length_covers_the_next_one_too_is_invalid() -> None:
    first, second = record_bytes(0), record_bytes(1)
    body = zigzag(len(first) - 1 + len(second)) + first[1:] + second
    with pytest.raises(InvalidRecord, match="record 0: its fields end before its length does"):
        check(batch_of(body, 2))


def test_a_header_without_a_key_is_invalid_and_one_without_a_value_is_not() -> None:
    with pytest.raises(InvalidRecord, match="record 0: a header key is null"):
        check(batch_of(record_bytes(headers=zigzag(1) + zigzag(-1) + zigzag(0))))
    check(batch_of(record_bytes(headers=zigzag(1) + zigzag(0) + zigzag(-1))))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        zigzag(0),
        zigzag(-1),
        zigzag(1) + b"\x00",
        zigzag(2) + b"\x00\x80",
        zigzag(2**31 - 1),
        b"\xff" * 4,
        b"\xff" * 20,
        zigzag(12) + b"\x00" + b"\xff" * 11,
        record_bytes()[:-1] + b"\x00\x00",
    ],
)
def test_a_body_that_is_no_record_is_invalid(body: bytes) -> None:
    with pytest.raises(InvalidRecord):
        check(batch_of(body))


def test_overlong_varints_are_read_as_kafka_reads_them() -> None:
    # Java's readVarint takes up to five bytes and drops the bits above the 32nd; readVarlong up to ten.
    body = b"\x00" + zigzag(5, 10) + zigzag(0, 5) + zigzag(-1, 3) + zigzag(1, 2) + b"v" + zigzag(0, 4)
    batch = batch_of(zigzag(len(body), 5) + body)
    check(batch)
    assert rb.decode_batch(batch, decompressed_bytes_max=BOUND) == [Record(0, 1005, None, b"v")]
    # The tenth byte has room for one bit of the 64; the others are dropped.
    tenth = b"\x00" + b"\x80" * 9 + b"\x7e" + zigzag(0) + b"\x01\x01\x00"
    (record,) = rb.decode_batch(batch_of(zigzag(len(tenth)) + tenth), decompressed_bytes_max=BOUND)
    assert record.timestamp == 1000
    eleven = b"\x00" + b"\x80" * 10 + b"\x00" + zigzag(0) + b"\x01\x01\x00"
    with pytest.raises(InvalidRecord, match="timestamp"):
        check(batch_of(zigzag(len(eleven)) + eleven))
    high_bits = b"\x00" + zigzag(0) + zigzag(0) + b"\x80\x80\x80\x80\x70" + b"\x80\x80\x80\x80\x10" + b"\x00"
    assert rb.decode_batch(batch_of(zigzag(len(high_bits)) + high_bits), decompressed_bytes_max=BOUND) == [
        Record(0, 1000, b"", b"")
    ]


@pytest.mark.parametrize(
    "delta", [0, 1, -1, 63, 64, -64, -65, 2**31, -(2**31), 2**62, 2**63 - 1001, 2**63 - 1, -(2**63)]
)
def test_timestamp_deltas_of_every_size_are_added_with_wrap_around(delta: int) -> None:
    body = b"\x00" + zigzag(delta) + zigzag(0) + b"\x01\x01\x00"
    expected = (1000 + delta + 2**63) % 2**64 - 2**63
    (record,) = rb.decode_batch(batch_of(zigzag(len(body)) + body), decompressed_bytes_max=BOUND)
    assert record.timestamp == expected
    checked = check(batch_of(zigzag(len(body)) + body))
    assert checked.max_timestamp == max(-1, expected)


@pytest.mark.parametrize("timestamp", [-(2**63), -1, 0, 1, 2**40, 2**63 - 1])
def test_timestamps_of_every_size_round_trip(timestamp: int) -> None:
    records = [Record(0, 0, None, b"a"), Record(1, timestamp, None, b"b")]
    assert rb.decode_batch(rb.encode_batch(records), decompressed_bytes_max=BOUND) == records


def test_records_without_a_timestamp_do_not_count_for_the_bounds() -> None:
    checked = check(
        rb.encode_batch([Record(0, -1, None, b"a"), Record(1, 50, None, b"b"), Record(2, 40, None, b"c")])
    )
    assert (checked.min_timestamp, checked.max_timestamp, checked.offset_of_max_timestamp) == (40, 50, 1)
    checked = check(
        rb.encode_batch([Record(0, 50, None, b"a"), Record(1, 60, None, b"b"), Record(2, -1, None, b"c")])
    )
    assert (checked.min_timestamp, checked.max_timestamp, checked.offset_of_max_timestamp) == (50, 60, 1)
    checked = check(rb.encode_batch([Record(0, -1, None, b"a")]))
    assert (checked.min_timestamp, checked.max_timestamp, checked.offset_of_max_timestamp) == (-1, -1, -1)


def test_a_max_timestamp_that_disagrees_is_reported_and_can_be_corrected() -> None:
    # Kafka's LogValidator corrects the header instead of rejecting the batch.
    batch = rb.encode_batch(RECORDS)
    struct.pack_into(">q", batch, rb.MAX_TIMESTAMP_AT, 12)
    checked = check(sealed(batch))
    assert checked.header.max_timestamp == 12 != checked.max_timestamp
    header = rb.set_max_timestamp(batch, 0, rb.CREATE_TIME, checked.max_timestamp)
    again = check(batch)
    assert header == again.header
    assert again.header.max_timestamp == again.max_timestamp


@pytest.mark.parametrize("codec", list(Codec))
def test_compacted_topics_refuse_a_record_without_key(codec: Codec) -> None:
    keyed = rb.encode_batch([Record(0, 1, b"", b"v"), Record(1, 1, b"k", None)], codec=codec)
    check(keyed, require_keys=True)
    batch = rb.encode_batch([Record(0, 1, b"k", b"v"), Record(1, 1, None, b"v")], codec=codec)
    check(batch)
    with pytest.raises(InvalidRecord, match="record 1: it has no key"):
        check(batch, require_keys=True)


def test_a_producer_may_not_send_control_batches_delete_horizons_or_a_base_offset() -> None:
    for attributes in (rb.CONTROL_BIT, rb.DELETE_HORIZON_BIT):
        batch = batch_of(record_bytes(), attributes=attributes)
        with pytest.raises(InvalidRecord):
            check(batch)
        check(batch, from_client=False)
    batch = rb.encode_batch(RECORDS, base_offset=1)
    with pytest.raises(InvalidRecord, match="base offset"):
        check(batch)
    assert check(batch, from_client=False).header.base_offset == 1


def in_one_call(module: ModuleType, buf: bytes | bytearray | memoryview, pos: int, end: int) -> object:
    return module.check_plain_batch(buf, pos, end, False, True, rb.crc32c, rb.BatchHeader, rb.CheckedBatch)


@pytest.mark.parametrize("value_bytes", [10, 3000], ids=["gil-held", "gil-released"])
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_right_plain_batch_is_checked_in_one_call(
    codec_form: ModuleType, value_bytes: int, kind: type[bytes]
) -> None:
    records = [Record(0, 50 - i, b"k", b"v" * value_bytes, (("h", None),)) for i in range(20)]
    batch = rb.encode_batch(records, producer_id=2**40, producer_epoch=9, base_sequence=4, leader_epoch=3)
    buf = kind(b"before" + bytes(batch) + b"after")
    checked = in_one_call(codec_form, buf, 6, 6 + len(batch))
    assert type(checked) is rb.CheckedBatch
    assert type(checked.header) is rb.BatchHeader
    assert checked == (rb.read_header(batch), 31, 50, 0)
    assert checked == rb.check_batch(buf, 6, len(buf), decompressed_bytes_max=BOUND)


def test_the_one_call_leaves_compressed_and_wrong_batches_to_the_checks_that_name_them(
    codec_form: ModuleType,
) -> None:
    plain = rb.encode_batch(RECORDS)
    flipped = bytearray(plain)
    flipped[rb.HEADER_BYTES] ^= 2  # the length of the first record
    for batch in (rb.encode_batch(RECORDS, codec=Codec.LZ4), flipped, sealed(flipped[:]), plain[:60]):
        assert in_one_call(codec_form, batch, 0, len(batch)) is None
    # A range outside the buffer is never read.
    for pos, end in [(-1, 61), (0, len(plain) + 1), (len(plain), len(plain)), (1, 0)]:
        assert in_one_call(codec_form, plain, pos, end) is None


def test_base_offset_and_leader_epoch_are_patched_outside_the_crc() -> None:
    batch = rb.encode_batch(RECORDS)
    joined = bytearray(b"\xaa" * 10) + batch
    rb.patch_base_offset_and_epoch(joined, 10, 2**40, 17)
    header = rb.check_crc(joined, 10, len(joined))
    assert (header.base_offset, header.leader_epoch) == (2**40, 17)
    assert header.crc == rb.read_header(batch).crc
    assert joined[:10] == b"\xaa" * 10


@pytest.mark.parametrize("codec", list(Codec))
def test_log_append_time_is_set_in_place_and_every_record_takes_it(codec: Codec) -> None:
    batch = rb.encode_batch(RECORDS, codec=codec)
    rb.set_max_timestamp(batch, 0, rb.LOG_APPEND_TIME, 9_000_000_000_000)
    checked = check(batch)
    assert checked.header.timestamp_type == rb.LOG_APPEND_TIME
    assert checked.min_timestamp == checked.max_timestamp == 9_000_000_000_000
    assert rb.decode_batch(batch, decompressed_bytes_max=BOUND) == [
        record._replace(timestamp=9_000_000_000_000) for record in RECORDS
    ]
    columns = rb.decode_columns(batch, 0, len(batch), decompressed_bytes_max=BOUND)
    assert set(memoryview(columns.timestamps).cast("q")) == {9_000_000_000_000}
    assert set(memoryview(columns.timestamp_types).cast("i")) == {1}


@pytest.mark.parametrize("source", list(Codec))
@pytest.mark.parametrize("target", list(Codec))
def test_a_batch_is_rewritten_with_another_codec_and_nothing_else_changes(
    source: Codec, target: Codec
) -> None:
    batch = rb.encode_batch(
        RECORDS, codec=source, producer_id=3, producer_epoch=2, base_sequence=8, transactional=True
    )
    made = rb.rewrite_batch(batch, 0, codec=target, decompressed_bytes_max=BOUND)
    before, after = check(batch).header, check(made).header
    assert after.codec == target
    same = {"batch_length": 0, "crc": 0, "attributes": 0}
    assert after._replace(**same) == before._replace(**same)
    assert after.attributes & ~rb.CODEC_MASK == before.attributes & ~rb.CODEC_MASK
    assert rb.decode_batch(made, decompressed_bytes_max=BOUND) == RECORDS


def test_an_empty_batch_keeps_its_producer_and_its_last_sequence() -> None:
    batch = rb.encode_batch(
        RECORDS, base_offset=40, codec=Codec.ZSTD, producer_id=3, producer_epoch=2, base_sequence=8
    )
    empty = rb.empty_batch(rb.read_header(batch))
    header = rb.check_crc(empty, 0, len(empty))
    assert header.size_bytes == rb.HEADER_BYTES
    assert (header.base_offset, header.last_offset, header.record_count) == (40, 159, 0)
    assert (header.producer_id, header.producer_epoch, header.last_sequence) == (3, 2, 127)
    assert rb.decode_batch(empty, decompressed_bytes_max=BOUND) == []


def test_a_batch_with_gaps_keeps_the_offsets_of_its_records() -> None:
    kept = [RECORDS[3]._replace(offset=103), RECORDS[90]._replace(offset=190)]
    batch = rb.encode_batch(kept, base_offset=100, keep_offsets=True)
    assert rb.read_header(batch).last_offset == 190
    assert rb.decode_batch(batch, decompressed_bytes_max=BOUND) == kept
    with pytest.raises(InvalidRecord):
        check(batch, from_client=False)
    with pytest.raises(ValueError, match="rise"):
        rb.encode_batch(kept[::-1], base_offset=100, keep_offsets=True)


@pytest.mark.parametrize("deltas", [(0, 0), (3, 3), (5, 2), (-1, 0), (0, 8)])
def test_a_batch_from_a_log_may_have_gaps_but_its_deltas_rise_within_the_last_one(
    deltas: tuple[int, ...],
) -> None:
    good = batch_of(record_bytes(2) + record_bytes(7), 2, last_offset_delta=7)
    assert [record.offset for record in rb.decode_batch(good, decompressed_bytes_max=BOUND)] == [2, 7]
    bad = batch_of(b"".join(record_bytes(delta) for delta in deltas), 2, last_offset_delta=7)
    with pytest.raises(InvalidRecord, match="out of order"):
        rb.decode_batch(bad, decompressed_bytes_max=BOUND)


def test_the_uncompressed_size_is_bounded_when_a_batch_is_read() -> None:
    for codec in (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD):
        batch = rb.encode_batch(RECORDS, codec=codec)
        size = len(rb.encode_batch(RECORDS)) - rb.HEADER_BYTES
        rb.check_batch(batch, 0, len(batch), decompressed_bytes_max=size)
        with pytest.raises(rb.DecompressedTooLarge):
            rb.check_batch(batch, 0, len(batch), decompressed_bytes_max=size - 1)


# --- several batches ----------------------------------------------------------------------------------------


def log_of(counts: list[int], first: int = 100) -> tuple[bytes, list[int]]:
    out, starts, offset = bytearray(b"\x00" * 5), [], first
    for i, count in enumerate(counts):
        starts.append(len(out))
        records = [Record(0, 1000 * i + j, b"k", b"v" * i) for j in range(count)]
        out += rb.encode_batch(records, base_offset=offset, codec=Codec(i % 5))
        offset += count
    return bytes(out), starts


def test_headers_are_iterated_up_to_the_first_batch_that_is_cut(codec_form: ModuleType) -> None:
    log, starts = log_of([1, 5, 3, 7])
    assert [at for at, _ in rb.iter_headers(log, 5, len(log))] == starts
    assert [at for at, _ in rb.iter_headers(log, 5, len(log) - 1)] == starts[:-1]
    assert codec_form.scan_batches(log, 5, len(log)) == (4, len(log), starts[3])
    for end in range(starts[3], len(log)):
        assert codec_form.scan_batches(log, 5, end) == (3, starts[3], starts[2])
        assert codec_form.last_batch_end(log, 5, end) == starts[3]
    assert codec_form.scan_batches(log, 5, starts[1] - 1) == (0, 5, 5)
    damaged = bytearray(log)
    damaged[starts[2] + rb.MAGIC_AT] = 1
    with pytest.raises(CorruptBatch):
        list(rb.iter_headers(damaged, 5, len(log)))
    assert codec_form.scan_batches(damaged, 5, len(log))[:2] == (2, starts[2])


def test_a_batch_is_found_by_an_offset_inside_it(codec_form: ModuleType) -> None:
    counts = [1, 5, 3, 7]
    log, starts = log_of(counts)
    owner = [start for start, count in zip(starts, counts, strict=True) for _ in range(count)]
    for i, start in enumerate(owner):
        assert codec_form.find_batch(log, 5, len(log), 100 + i) == start
    assert codec_form.find_batch(log, 5, len(log), -5) == starts[0]
    assert codec_form.find_batch(log, 5, len(log), 100 + len(owner)) == -1
    # Only the header need be there.
    assert codec_form.find_batch(log, 5, starts[3] + rb.HEADER_BYTES, 115) == starts[3]
    assert codec_form.find_batch(log, 5, starts[3] + rb.HEADER_BYTES - 1, 115) == -1


def test_a_batch_is_found_by_its_max_timestamp(codec_form: ModuleType) -> None:
    log, starts = log_of([1, 5, 3, 7])
    for timestamp, start in [(-1, 0), (0, 0), (1, 1), (1004, 1), (1005, 2), (3006, 3)]:
        assert codec_form.find_batch_by_timestamp(log, 5, len(log), timestamp) == starts[start]
    assert codec_form.find_batch_by_timestamp(log, 5, len(log), 3007) == -1


@pytest.mark.parametrize(("pos", "end"), [(-1, 5), (5, 4), (0, 71), (71, 72)])
def test_a_range_outside_the_buffer_is_refused(codec_form: ModuleType, pos: int, end: int) -> None:
    buf = bytes(70)
    for call in (codec_form.scan_batches, codec_form.last_batch_end):
        with pytest.raises(ValueError, match="range"):
            call(buf, pos, end)
    for call in (codec_form.find_batch, codec_form.find_batch_by_timestamp):
        with pytest.raises(ValueError, match="range"):
            call(buf, pos, end, 0)
    with pytest.raises(ValueError, match="range"):
        codec_form.walk(buf, pos, end, 1, 0, 0, True, False, 0)


def test_column_buffers_that_contradict_each_other_are_refused() -> None:
    times = array("q", [1, 2, 3])
    good = rb.BinaryColumn(memoryview(array("i", [0, 1, 2, 3])), b"abc")
    rb.encode_columns(memoryview(times), good, good)
    bad = [
        rb.BinaryColumn(memoryview(array("i", [0, 1, 2])), b"abc"),
        rb.BinaryColumn(memoryview(array("i", [0, 1, 2, 4])), b"abc"),
        rb.BinaryColumn(memoryview(array("i", [0, 2, 1, 3])), b"abc"),
        rb.BinaryColumn(memoryview(array("i", [-1, 1, 2, 3])), b"abc"),
        rb.BinaryColumn(memoryview(array("i", [0, 1, 2, 3])), b"abc", b""),
    ]
    for column in bad:
        with pytest.raises(ValueError):
            rb.encode_columns(memoryview(times), column, good)
        with pytest.raises(ValueError):
            rb.encode_columns(memoryview(times), good, column)
        with pytest.raises(ValueError):
            rb.encode_columns(
                memoryview(times),
                None,
                good,
                rb.HeaderColumn(memoryview(array("i", [0, 1, 2, 3])), good, column),
            )
    for lists in ([0, 1, 2], [0, 1, 2, 4], [0, 2, 1, 3], [-1, 0, 0, 0]):
        with pytest.raises(ValueError):
            rb.encode_columns(
                memoryview(times), None, good, rb.HeaderColumn(memoryview(array("i", lists)), good, good)
            )
    rb.encode_columns(memoryview(times), None, good, rb.HeaderColumn(good.offsets, good, good))
    with pytest.raises(ValueError):
        rb.encode_columns(memoryview(times), good, good, start=1, count=3)
    with pytest.raises(ValueError):
        rb.encode_columns(memoryview(times), good, good, start=-1, count=1)


# --- control batches ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("committed", [True, False])
def test_a_transaction_marker_is_a_control_batch_with_the_coordinators_epoch(committed: bool) -> None:
    batch = rb.encode_end_txn_batch(
        rb.EndTxnMarker(committed, 12),
        producer_id=5,
        producer_epoch=1,
        timestamp=77,
        base_offset=9,
        leader_epoch=2,
    )
    header = check(batch, from_client=False).header
    assert header.is_control and header.is_transactional
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (5, 1, -1)
    (record,) = rb.decode_batch(batch, decompressed_bytes_max=BOUND)
    assert record.key == struct.pack(">hh", 0, 1 if committed else 0)
    assert record.value == struct.pack(">hi", 0, 12)
    assert rb.decode_end_txn_marker(record) == rb.EndTxnMarker(committed, 12)
    with pytest.raises(InvalidRecord):
        rb.decode_leader_change(record)


@pytest.mark.parametrize("version", [0, 1])
def test_a_leader_change_message_round_trips(version: int) -> None:
    ids = [bytes([i]) * 16 if version else bytes(16) for i in range(3)]
    change = rb.LeaderChange(
        1, tuple(rb.Voter(i, ids[i]) for i in range(3)), (rb.Voter(1, ids[1]), rb.Voter(2, ids[2])), version
    )
    batch = rb.encode_leader_change_batch(change, timestamp=5, base_offset=3, leader_epoch=8)
    (record,) = rb.decode_batch(batch, decompressed_bytes_max=BOUND)
    assert rb.decode_leader_change(record) == change
    assert record.value is not None
    for cut in range(len(record.value)):
        with pytest.raises(InvalidRecord):
            rb.decode_leader_change(record._replace(value=record.value[:cut]))
    with pytest.raises(InvalidRecord):
        rb.decode_end_txn_marker(record)
