"""Rows for a consumer: the records of a batch taken a few at a time, in both forms of the codec."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from ottla.wire import record_batch as rb
from ottla.wire.compression import Codec
from ottla.wire.record_batch import Record

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
    for i in range(60)
]


class Row(NamedTuple):
    topic: str
    partition: int
    offset: int
    timestamp: int
    timestamp_type: int
    key: Any
    value: Any
    headers: Any
    leader_epoch: int


def reader_of(batch: bytes | bytearray) -> Any:
    header = rb.read_header(batch)
    return rb.open_batch(batch, 0, len(batch), header, decompressed_bytes_max=BOUND, check=True)


def take(reader: Any, count: int, start: int = 0, key: Any = (0, None), value: Any = (0, None)) -> list[Row]:
    rows: list[Row] = []
    reader.take(rows, count, start, "clicks", 3, 9, Row, *key, *value)
    return rows


def expected(record: Record, **changes: Any) -> Row:
    row = Row("clicks", 3, 500 + record.offset, record.timestamp, 0, *record[2:], 9)
    return row._replace(**changes)


@pytest.mark.parametrize("codec", list(Codec))
@pytest.mark.parametrize("portion", [1, 7, 60, 1000])
def test_portions_add_up_to_the_batch(codec: Codec, portion: int) -> None:
    reader = reader_of(rb.encode_batch(RECORDS, base_offset=500, codec=codec))
    rows: list[Row] = []
    while reader.left:
        rows += take(reader, portion)
        assert reader.next_offset == rows[-1].offset + 1
    assert rows == [expected(record) for record in RECORDS]
    assert type(rows[0]) is Row and take(reader, 1) == []


def test_rows_below_the_offset_are_passed_over() -> None:
    reader = reader_of(rb.encode_batch(RECORDS, base_offset=500))
    assert [row.offset for row in take(reader, 3, start=540)] == [540, 541, 542]
    assert take(reader, 100, start=10_000) == [] and reader.left == 0


def test_a_batch_with_gaps_keeps_its_offsets() -> None:
    kept = [record for record in RECORDS if record.offset % 3]
    reader = reader_of(rb.encode_batch(kept, base_offset=0, keep_offsets=True))
    assert [row.offset for row in take(reader, 100)] == [record.offset for record in kept]


def test_log_append_time_is_every_rows_time() -> None:
    batch = rb.encode_batch(RECORDS, base_offset=500)
    rb.set_max_timestamp(batch, 0, rb.LOG_APPEND_TIME, 77)
    assert take(reader_of(batch), 2) == [
        expected(record, timestamp=77, timestamp_type=1) for record in RECORDS[:2]
    ]


def test_keys_and_values_become_what_their_form_says_and_nulls_stay() -> None:
    batch = rb.encode_batch(RECORDS, base_offset=500)
    rows = take(reader_of(batch), 100, key=(-1, None), value=(1, len))
    assert [(row.key, row.value) for row in rows] == [
        (key if key is None else key.decode(), value if value is None else len(value))
        for _, _, key, value, _ in RECORDS
    ]
    rows = take(
        reader_of(batch),
        100,
        key=(2, lambda topic, data: (topic, data)),
        value=(3, lambda topic, headers, data: (topic, headers, data)),
    )
    assert [(row.key, row.value) for row in rows] == [
        (
            None if record.key is None else ("clicks", record.key),
            None if record.value is None else ("clicks", list(record.headers), record.value),
        )
        for record in RECORDS
    ]


def test_a_function_that_raises_leaves_the_reader_before_its_row() -> None:
    def odd(data: bytes) -> bytes:
        if len(data) == 25:
            raise LookupError("row 5")
        return data

    reader = reader_of(rb.encode_batch(RECORDS, base_offset=500))
    rows: list[Row] = []
    for _ in range(2):
        with pytest.raises(LookupError, match="row 5"):
            reader.take(rows, 100, 0, "clicks", 3, 9, Row, 0, None, 1, odd)
        assert (reader.next_offset, reader.left) == (505, 55)
    assert rows == [expected(record) for record in RECORDS[:5]]
    assert take(reader, 1) == [expected(RECORDS[5])]


def test_a_range_outside_of_the_buffer_is_refused() -> None:
    for pos, end in ((-1, 5), (0, 11), (6, 5)):
        with pytest.raises(ValueError, match="does not lie within"):
            rb.record_codec.RowReader(bytes(10), pos, end, 1, 0, 0, False, 0)
