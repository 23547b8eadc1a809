"""`poll_arrow`: what Arrow shows of fetched records is what was written, partition by partition."""

from __future__ import annotations

import sys

import pyarrow as pa
import pytest

from ottla.client.consuming import arrow
from ottla.client.consuming.decode import Decoder
from ottla.client.extras import pyarrow_for
from ottla.model.types import TopicPartition
from ottla.wire import record_batch as rb
from ottla.wire.compression import Codec
from ottla.wire.record_batch import DecompressedTooLarge, PendingColumns, Record

NAMES = ["key", "value", "topic", "partition", "offset", "timestamp", "timestamp_type", "headers"]


def pending(tp: TopicPartition, records: list[Record], base_offset: int, codec: Codec) -> PendingColumns:
    half = len(records) // 2
    buffer = rb.encode_batch(records[:half], base_offset=base_offset, codec=codec) + rb.encode_batch(
        records[half:], base_offset=base_offset + half
    )
    return Decoder().fetched(tp, bytes(buffer), base_offset).take_columns(1 << 20)


def records(count: int, salt: int) -> list[Record]:
    return [
        Record(
            i,
            1_700_000_000_000 + i * salt,
            None if i % 3 == salt % 3 else b"k%d" % i,
            None if i % 5 == salt % 5 else b"v" * (i * salt % 90),
            (("trace", b"%d" % salt), ("null", None)) if i % 4 == salt % 4 else (),
        )
        for i in range(count)
    ]


def test_records_of_several_partitions_follow_each_other_in_one_batch() -> None:
    parts = [
        (TopicPartition("clicks", 3), records(41, 1), 100, Codec.NONE),
        (TopicPartition("größer", 0), records(7, 2), 0, Codec.ZSTD),
        (TopicPartition("clicks", 0), records(20, 3), 5_000_000_000, Codec.LZ4),
    ]
    batch = arrow.record_batch([(part[0], pending(*part)) for part in parts])
    batch.validate(full=True)
    assert batch.schema.names == NAMES
    assert batch.schema.equals(arrow.schema())
    times = batch.column("timestamp").cast(pa.int64()).to_pylist()
    rows = batch.to_pylist()
    at = 0
    for tp, written, base_offset, _ in parts:
        for record in written:
            row = rows[at]
            assert (row["topic"], row["partition"], row["offset"]) == (*tp, base_offset + record.offset)
            assert (row["key"], row["value"], times[at]) == (record.key, record.value, record.timestamp)
            assert tuple((pair["key"], pair["value"]) for pair in row["headers"]) == record.headers
            assert row["timestamp_type"] == 0
            at += 1
    assert at == batch.num_rows == 68


def test_nothing_fetched_is_a_batch_without_rows_and_with_all_columns() -> None:
    empty = Decoder().fetched(TopicPartition("clicks", 0), b"", 0).take_columns(1)
    for fetched in ([], [(TopicPartition("clicks", 0), empty)]):
        batch = arrow.record_batch(fetched)
        assert batch.num_rows == 0 and batch.schema.equals(arrow.schema())


def test_a_record_without_a_timestamp_has_none() -> None:
    tp = TopicPartition("clicks", 0)
    written = [Record(0, -1, None, b"a"), Record(1, 5, None, b"b")]
    batch = arrow.record_batch([(tp, pending(tp, written, 0, Codec.NONE))])
    assert batch.column("timestamp").cast(pa.int64()).to_pylist() == [None, 5]


def test_log_append_time_is_told_by_the_type() -> None:
    tp = TopicPartition("clicks", 0)
    stamped = rb.encode_batch(records(3, 1))
    rb.set_max_timestamp(stamped, 0, rb.LOG_APPEND_TIME, 77)
    batch = arrow.record_batch([(tp, Decoder().fetched(tp, bytes(stamped), 0).take_columns(1))])
    assert batch.column("timestamp_type").to_pylist() == [1, 1, 1]
    assert batch.column("timestamp").cast(pa.int64()).to_pylist() == [77, 77, 77]


def test_header_names_that_are_not_utf_8_are_read_as_javas_client_reads_them() -> None:
    tp = TopicPartition("clicks", 0)
    buffer = bytearray(rb.encode_batch([Record(0, 0, None, None, (("ab", b"1"),))]))
    at = buffer.index(b"ab")
    buffer[at : at + 2] = b"\xff\xfe"
    rb._write_crc(buffer, 0, len(buffer))
    batch = arrow.record_batch([(tp, Decoder().fetched(tp, bytes(buffer), 0).take_columns(1))])
    batch.validate(full=True)
    assert batch.column("headers").to_pylist() == [[{"key": "\ufffd\ufffd", "value": b"1"}]]


def test_more_than_columns_can_hold_is_refused_before_memory_is_asked_for() -> None:
    tp = TopicPartition("clicks", 0)
    large = pending(tp, records(4, 1), 0, Codec.NONE)
    large._value_bytes = 1 << 30  # stands for that many bytes
    with pytest.raises(DecompressedTooLarge):
        rb.joined_columns([large, large, large])


def test_without_pyarrow_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.compute", None)
    with pytest.raises(ImportError, match=r"poll_arrow needs pyarrow: pip install 'ottla\[arrow\]'"):
        pyarrow_for("poll_arrow")
