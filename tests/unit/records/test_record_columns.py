"""Columns: what decode_columns gives is what Arrow reads, and encode_columns takes what Arrow holds."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

from ottla.wire import record_batch as rb
from ottla.wire.compression import Codec
from ottla.wire.record_batch import BinaryColumn, Columns, HeaderColumn, Record

pytestmark = pytest.mark.usefixtures("codec_form")

BOUND = 1 << 22
RECORDS = [
    Record(
        i,
        1_700_000_000_000 - i * i,
        None if i % 3 == 0 else b"key-%d" % i,
        None if i % 7 == 6 else b"v" * (i * 5),
        (("trace", b"\x01" * (i % 4)), ("null", None)) if i % 2 else (),
    )
    for i in range(90)
]


def arrow_binary(kind: Any, column: BinaryColumn, rows: int) -> Any:
    validity = None if column.validity is None else pa.py_buffer(column.validity)
    return pa.Array.from_buffers(
        kind, rows, [validity, pa.py_buffer(column.offsets), pa.py_buffer(column.data)], column.null_count
    )


def arrow_rows(columns: Columns) -> list[Record]:
    """The records, read through Arrow arrays made from the buffers without a copy."""
    rows = columns.row_count
    offsets = pa.Array.from_buffers(pa.int64(), rows, [None, pa.py_buffer(columns.offsets)])
    timestamps = pa.Array.from_buffers(pa.int64(), rows, [None, pa.py_buffer(columns.timestamps)])
    keys = arrow_binary(pa.binary(), columns.keys, rows)
    values = arrow_binary(pa.binary(), columns.values, rows)
    header_keys = arrow_binary(pa.string(), columns.headers.keys, columns.header_count)
    header_values = arrow_binary(pa.binary(), columns.headers.values, columns.header_count)
    pairs = pa.StructArray.from_arrays([header_keys, header_values], names=["key", "value"])
    headers = pa.Array.from_buffers(
        pa.list_(pairs.type), rows, [None, pa.py_buffer(columns.headers.offsets)], children=[pairs]
    )
    for array in (offsets, timestamps, keys, values, headers):
        array.validate(full=True)
    assert keys.null_count == columns.keys.null_count
    assert values.null_count == columns.values.null_count
    return [
        Record(offset, timestamp, key, value, tuple((pair["key"], pair["value"]) for pair in pairs_of_row))
        for offset, timestamp, key, value, pairs_of_row in zip(
            offsets.to_pylist(),
            timestamps.to_pylist(),
            keys.to_pylist(),
            values.to_pylist(),
            headers.to_pylist(),
            strict=True,
        )
    ]


def log_of_batches() -> bytes:
    """Three batches of 30 records from offset 1000 on, each with another codec and a marker after it."""
    log = bytearray()
    for i, codec in enumerate((Codec.NONE, Codec.LZ4, Codec.ZSTD)):
        log += rb.encode_batch(RECORDS[30 * i : 30 * i + 30], base_offset=1000 + 31 * i, codec=codec)
        log += rb.encode_end_txn_batch(
            rb.EndTxnMarker(True, 1), producer_id=1, producer_epoch=0, timestamp=1, base_offset=1030 + 31 * i
        )
    return bytes(log)


def expected_rows(start_offset: int = 0) -> list[Record]:
    rows = [record._replace(offset=1000 + i + i // 30) for i, record in enumerate(RECORDS)]
    return [record for record in rows if record.offset >= start_offset]


def test_several_batches_become_one_set_of_columns_that_arrow_reads() -> None:
    log = log_of_batches()
    columns = rb.decode_columns(log, 0, len(log), decompressed_bytes_max=BOUND)
    assert arrow_rows(columns) == expected_rows()
    assert (columns.end_position, columns.next_offset) == (len(log), 1093)


@pytest.mark.parametrize("start_offset", [0, 1000, 1001, 1029, 1030, 1031, 1055, 1092, 1093, 5000])
def test_records_below_the_start_offset_are_left_out(start_offset: int) -> None:
    log = log_of_batches()
    columns = rb.decode_columns(log, 0, len(log), decompressed_bytes_max=BOUND, start_offset=start_offset)
    assert arrow_rows(columns) == expected_rows(start_offset)
    assert columns.next_offset == max(1093, start_offset)


def test_a_batch_that_is_cut_is_left_for_the_next_fetch() -> None:
    log = log_of_batches()
    headers = list(rb.iter_headers(log, 0, len(log)))
    last_data = headers[4][0]
    columns = rb.decode_columns(log, 0, headers[5][0] - 1, decompressed_bytes_max=BOUND)
    assert columns.end_position == last_data
    assert arrow_rows(columns) == [row for row in expected_rows() if row.offset < 1062]


def test_the_caller_decides_which_batches_are_kept() -> None:
    log = log_of_batches()
    columns = rb.decode_columns(
        log, 0, len(log), decompressed_bytes_max=BOUND, keep=lambda header: header.base_offset == 1031
    )
    assert arrow_rows(columns) == [row for row in expected_rows() if 1031 <= row.offset < 1061]
    assert columns.next_offset == 1093


def test_the_bound_on_decompressed_bytes_holds_for_all_batches_together() -> None:
    one = rb.encode_batch([Record(0, 0, None, bytes(10_000))], codec=Codec.ZSTD)
    rb.decode_columns(bytes(one) * 3, 0, 3 * len(one), decompressed_bytes_max=30_100)
    with pytest.raises(rb.DecompressedTooLarge):
        rb.decode_columns(bytes(one) * 3, 0, 3 * len(one), decompressed_bytes_max=30_000)


def test_damage_is_noticed_by_the_crc_or_by_the_records() -> None:
    log = bytearray(log_of_batches())
    log[rb.HEADER_BYTES] ^= 0x01
    with pytest.raises(rb.CorruptBatch):
        rb.decode_columns(log, 0, len(log), decompressed_bytes_max=BOUND)
    with pytest.raises(rb.InvalidRecord):
        rb.decode_columns(log, 0, len(log), decompressed_bytes_max=BOUND, check=False)


def test_no_bytes_give_no_rows() -> None:
    columns = rb.decode_columns(b"", 0, 0, decompressed_bytes_max=BOUND)
    assert arrow_rows(columns) == []


def columns_of_arrow(keys: Any, values: Any, headers: Any) -> tuple[BinaryColumn, BinaryColumn, HeaderColumn]:
    pairs = headers.values
    return (
        BinaryColumn(keys.buffers()[1], keys.buffers()[2], keys.buffers()[0]),
        BinaryColumn(values.buffers()[1], values.buffers()[2], values.buffers()[0]),
        HeaderColumn(
            headers.buffers()[1],
            BinaryColumn(pairs.field(0).buffers()[1], pairs.field(0).buffers()[2]),
            BinaryColumn(
                pairs.field(1).buffers()[1], pairs.field(1).buffers()[2], pairs.field(1).buffers()[0]
            ),
        ),
    )


@pytest.mark.parametrize(("start", "count"), [(0, 90), (0, 1), (13, 40), (89, 1), (90, 0)])
@pytest.mark.parametrize("codec", list(Codec))
def test_arrow_arrays_are_encoded_in_slices_without_a_copy(codec: Codec, start: int, count: int) -> None:
    times = pa.array([record.timestamp for record in RECORDS], pa.int64())
    keys = pa.array([record.key for record in RECORDS], pa.binary())
    values = pa.array([record.value for record in RECORDS], pa.binary())
    header_type = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    headers = pa.array([[{"key": k, "value": v} for k, v in r.headers] for r in RECORDS], header_type)
    key, value, header = columns_of_arrow(keys, values, headers)
    batch = rb.encode_columns(
        times.buffers()[1], key, value, header, start=start, count=count, base_offset=start, codec=codec
    )
    expected = rb.encode_batch(RECORDS[start : start + count], base_offset=start, codec=codec)
    assert batch == expected
    assert rb.decode_batch(batch, decompressed_bytes_max=BOUND) == RECORDS[start : start + count]


def test_absent_columns_are_null_in_every_row() -> None:
    times = pa.array([1, 2, 3], pa.int64()).buffers()[1]
    batch = rb.encode_columns(times, None, None, count=3)
    assert rb.decode_batch(batch, decompressed_bytes_max=BOUND) == [
        Record(i, i + 1, None, None) for i in range(3)
    ]


def test_decoded_columns_encode_to_the_batch_they_came_from() -> None:
    batch = rb.encode_batch(RECORDS)
    made = rb.decode_columns(batch, 0, len(batch), decompressed_bytes_max=BOUND)
    assert rb.encode_columns(made.timestamps, made.keys, made.values, made.headers) == batch


def test_the_columns_of_both_forms_are_equal_byte_for_byte(
    codec_form: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ottla.wire import record_codec

    log = log_of_batches()
    mine = rb.decode_columns(log, 0, len(log), decompressed_bytes_max=BOUND, start_offset=1011)
    monkeypatch.setattr(rb, "record_codec", record_codec)
    assert mine == rb.decode_columns(log, 0, len(log), decompressed_bytes_max=BOUND, start_offset=1011)
