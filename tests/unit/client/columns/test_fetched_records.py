"""Fetched records: what a consumer gets of a fetch response, in portions, as records and as columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from ottla.client.consuming.decode import Decoder
from ottla.client.errors import InvalidConfig, ProtocolError, SerializationFailed
from ottla.client.records import ConsumerRecord
from ottla.model.types import TopicPartition
from ottla.wire import record_batch as rb
from ottla.wire.compression import Codec
from ottla.wire.record_batch import EndTxnMarker, Record

TP = TopicPartition("clicks", 3)


class Aborted(NamedTuple):
    producer_id: int
    first_offset: int


def records(count: int) -> list[Record]:
    return [
        Record(
            i,
            1_000 + i,
            None if i % 3 == 0 else b"k%d" % i,
            None if i % 7 == 6 else b"v%d" % i,
            (("trace", b"\x01"), ("empty", None)) if i % 2 else (),
        )
        for i in range(count)
    ]


def batch(base_offset: int, count: int = 10, **options: Any) -> bytearray:
    return rb.encode_batch(records(count), base_offset=base_offset, leader_epoch=5, **options)


def marker(base_offset: int, producer_id: int, *, committed: bool) -> bytearray:
    return rb.encode_end_txn_batch(
        EndTxnMarker(committed, 0),
        producer_id=producer_id,
        producer_epoch=0,
        timestamp=1,
        base_offset=base_offset,
    )


def expected(base_offset: int, count: int = 10) -> list[ConsumerRecord]:
    return [
        ConsumerRecord(*TP, base_offset + r.offset, r.timestamp, 0, r.key, r.value, r.headers, 5)
        for r in records(count)
    ]


def column_offsets(columns: rb.PendingColumns) -> list[int]:
    return list(memoryview(columns.filled().offsets).cast("q"))


@pytest.mark.parametrize("codec", list(Codec))
def test_records_are_taken_in_portions_that_do_not_care_for_batches(codec: Codec) -> None:
    buffer = batch(100, codec=codec) + batch(110, codec=codec)
    fetched = Decoder().fetched(TP, memoryview(buffer), 100)
    portions = []
    while not fetched.finished:
        portions.append(fetched.take(7))
    assert [len(portion) for portion in portions] == [7, 7, 6]
    assert [record for portion in portions for record in portion] == expected(100) + expected(110)
    assert type(portions[0][0]) is ConsumerRecord
    assert (fetched.position, fetched.leader_epoch, fetched.left_bytes) == (120, 5, 0)
    assert fetched.take(7) == []


def test_a_compressed_batch_is_decompressed_once_however_small_the_portions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[int] = []
    decompress = rb.decompress

    def counted(*args: Any) -> Any:
        calls.append(1)
        return decompress(*args)

    monkeypatch.setattr(rb, "decompress", counted)
    fetched = Decoder().fetched(TP, bytes(batch(0, 100, codec=Codec.ZSTD)), 0)
    while not fetched.finished:
        assert len(fetched.take(3)) <= 3
    assert len(calls) == 1


def test_records_below_the_position_are_left_out_since_a_batch_is_sent_whole() -> None:
    fetched = Decoder().fetched(TP, bytes(batch(100)), 104)
    assert [record.offset for record in fetched.take(100)] == [104, 105, 106, 107, 108, 109]
    fetched = Decoder().fetched(TP, bytes(batch(100)), 104)
    assert column_offsets(fetched.take_columns(1 << 20)) == [104, 105, 106, 107, 108, 109]


def test_the_position_moves_with_what_was_handed_out_and_past_the_end_of_the_last_batch() -> None:
    fetched = Decoder().fetched(TP, bytes(batch(100) + marker(110, 1, committed=True)), 100)
    fetched.take(4)
    assert (fetched.position, fetched.finished) == (104, False)
    fetched.take(100)
    assert (fetched.position, fetched.finished) == (111, True)


def test_an_empty_batch_of_a_compacted_log_only_moves_the_position() -> None:
    kept = rb.empty_batch(rb.read_header(batch(100)))
    fetched = Decoder().fetched(TP, bytes(kept + batch(110)), 100)
    assert fetched.take(100) == expected(110)
    fetched = Decoder().fetched(TP, bytes(kept), 100)
    assert fetched.take(100) == [] and fetched.position == 110 and fetched.finished


def test_a_batch_that_is_cut_at_the_end_is_left_for_the_next_fetch() -> None:
    fetched = Decoder().fetched(TP, bytes(batch(100) + batch(110)[:-1]), 100)
    assert fetched.take(100) == expected(100)
    assert fetched.finished and fetched.position == 110
    fetched = Decoder().fetched(TP, bytes(batch(100) + batch(110)[:-1]), 100)
    assert len(column_offsets(fetched.take_columns(1 << 20))) == 10
    assert fetched.take_columns(1 << 20).row_count == 0
    assert fetched.finished and fetched.position == 110


def test_only_a_part_of_a_batch_is_a_broken_promise_of_the_broker() -> None:
    """KIP-74: the first batch is sent whole, however large."""
    fetched = Decoder().fetched(TP, bytes(batch(100))[:-1], 100)
    with pytest.raises(ProtocolError, match=r"clicks-3 at offset 100: .*only a part of a batch"):
        fetched.take(10)
    with pytest.raises(ProtocolError, match="only a part of a batch"):
        fetched.take_columns(10)


@pytest.mark.parametrize("buffer", [None, b""])
def test_no_bytes_are_no_records(buffer: bytes | None) -> None:
    fetched = Decoder().fetched(TP, buffer, 100)
    assert fetched.finished and fetched.take(10) == [] and fetched.position == 100


def aborted_log() -> bytes:
    """Producer 7 aborts 0 to 9 and commits 32 to 41, producer 8 commits 11 to 20; 22 to 31 are plain."""
    return bytes(
        batch(0, producer_id=7, producer_epoch=0, base_sequence=0, transactional=True)
        + marker(10, 7, committed=False)
        + batch(11, producer_id=8, producer_epoch=0, base_sequence=0, transactional=True)
        + marker(21, 8, committed=True)
        + batch(22)
        + batch(32, producer_id=7, producer_epoch=0, base_sequence=10, transactional=True)
        + marker(42, 7, committed=True)
    )


def test_read_committed_leaves_out_what_was_aborted_and_nothing_else() -> None:
    """KIP-98: an aborted range begins at its first offset and ends with the producer's abort marker."""
    decoder = Decoder(read_committed=True)
    wanted = expected(11) + expected(22) + expected(32)
    fetched = decoder.fetched(TP, aborted_log(), 0, [Aborted(7, 0)])
    got = []
    while not fetched.finished:
        got += fetched.take(4)
    assert got == wanted and fetched.position == 43
    fetched = decoder.fetched(TP, aborted_log(), 0, [Aborted(7, 0)])
    offsets = []
    while not fetched.finished:
        offsets += column_offsets(fetched.take_columns(1))
    assert offsets == [record.offset for record in wanted] and fetched.position == 43


def test_read_uncommitted_gets_everything_but_the_markers() -> None:
    fetched = Decoder().fetched(TP, aborted_log(), 0, [Aborted(7, 0)])
    assert [r.offset for r in fetched.take(100)] == [
        *range(10),
        *range(11, 21),
        *range(22, 32),
        *range(32, 42),
    ]


def test_damage_is_found_by_the_crc_and_the_records_before_it_come_first() -> None:
    bad = batch(110)
    bad[-1] ^= 1
    fetched = Decoder().fetched(TP, bytes(batch(100) + bad), 100)
    assert fetched.take(100) == expected(100)
    for _ in range(2):
        with pytest.raises(ProtocolError, match=r"clicks-3 at offset 110: .*CRC") as caught:
            fetched.take(100)
        assert (caught.value.partition, caught.value.offset) == (3, 110)
    assert fetched.position == 110 and not fetched.finished


def test_check_crcs_false_leaves_out_the_crc() -> None:
    bad = batch(100)
    bad[rb.CRC_AT] ^= 1
    assert Decoder(check_crcs=False).fetched(TP, bytes(bad), 100).take(100) == expected(100)
    with pytest.raises(ProtocolError):
        Decoder().fetched(TP, bytes(bad), 100).take(100)


def test_a_batch_may_not_expand_beyond_its_bound() -> None:
    bomb = rb.encode_batch([Record(0, 0, None, bytes(1_000_000))], codec=Codec.ZSTD)
    fetched = Decoder(decompressed_bytes_max=100_000).fetched(TP, bytes(bomb), 0)
    with pytest.raises(ProtocolError, match="bound"):
        fetched.take(10)
    with pytest.raises(ProtocolError, match="bound"):
        fetched.take_columns(1 << 20)


def test_columns_stop_before_the_bound_that_all_batches_share_would_be_passed() -> None:
    large = rb.encode_batch([Record(0, 0, None, bytes(60_000))], codec=Codec.ZSTD)
    other = rb.encode_batch([Record(0, 0, None, bytes(60_000))], base_offset=1, codec=Codec.ZSTD)
    fetched = Decoder(decompressed_bytes_max=100_000).fetched(TP, bytes(large + other), 0)
    assert column_offsets(fetched.take_columns(1 << 20)) == [0]
    assert column_offsets(fetched.take_columns(1 << 20)) == [1]
    assert fetched.finished


def test_columns_end_after_the_batch_with_which_the_bytes_are_reached() -> None:
    buffer = bytes(batch(0) + batch(10) + batch(20))
    fetched = Decoder().fetched(TP, buffer, 0)
    assert column_offsets(fetched.take_columns(1)) == list(range(10))
    assert column_offsets(fetched.take_columns(1 << 20)) == list(range(10, 30))
    assert fetched.finished and fetched.position == 30


def test_columns_go_on_where_take_stopped() -> None:
    fetched = Decoder().fetched(TP, bytes(batch(0, codec=Codec.LZ4) + batch(10)), 0)
    assert [record.offset for record in fetched.take(4)] == [0, 1, 2, 3]
    assert column_offsets(fetched.take_columns(1)) == [4, 5, 6, 7, 8, 9]
    assert [record.offset for record in fetched.take(100)] == list(range(10, 20))


@pytest.mark.parametrize("magic", [0, 1])
def test_the_message_formats_before_0_11_are_refused_by_name(magic: int) -> None:
    old = bytearray(40)
    old[16] = magic
    with pytest.raises(ProtocolError, match=f"message format {magic}"):
        Decoder().fetched(TP, bytes(old), 0).take(1)


def test_log_append_time_is_told_by_the_type_of_the_timestamp() -> None:
    stamped = rb.encode_batch(records(2), timestamp_type=rb.LOG_APPEND_TIME)
    rb.set_max_timestamp(stamped, 0, rb.LOG_APPEND_TIME, 9_999)
    taken = Decoder().fetched(TP, bytes(stamped), 0).take(2)
    assert [(record.timestamp, record.timestamp_type) for record in taken] == [(9_999, 1)] * 2


def test_deserializers_are_names_or_functions_and_see_no_nulls() -> None:
    buffer = bytes(
        rb.encode_batch(
            [
                Record(0, 0, b"a", b'{"n": 1}', (("h", b"1"),)),
                Record(1, 0, None, None),
            ]
        )
    )
    taken = Decoder(key_deserializer="string", value_deserializer="json").fetched(TP, buffer, 0).take(2)
    assert [(record.key, record.value) for record in taken] == [("a", {"n": 1}), (None, None)]
    decoder = Decoder(
        key_deserializer=lambda topic, data: (topic, data),
        value_deserializer=lambda topic, headers, data: (topic, headers, len(data)),
    )
    taken = decoder.fetched(TP, buffer, 0).take(2)
    assert taken[0].key == ("clicks", b"a")
    assert taken[0].value == ("clicks", [("h", b"1")], 8)
    assert Decoder(value_deserializer=len).fetched(TP, buffer, 0).take(1)[0].value == 8
    with pytest.raises(InvalidConfig):
        Decoder(value_deserializer="jsson")


def test_a_deserializer_that_raises_holds_up_its_record_and_no_other() -> None:
    """As with Java's RecordDeserializationException: the position stays, and a seek gets past it."""
    buffer = bytes(rb.encode_batch([Record(i, 0, None, b"%d" % i if i != 3 else b"?") for i in range(6)]))
    fetched = Decoder(value_deserializer=int).fetched(TP, buffer, 0)
    assert [record.value for record in fetched.take(100)] == [0, 1, 2]
    assert fetched.position == 3
    for _ in range(2):
        with pytest.raises(SerializationFailed, match="offset 3") as caught:
            fetched.take(100)
        assert isinstance(caught.value.__cause__, ValueError)
        assert (caught.value.topic, caught.value.partition, caught.value.offset) == ("clicks", 3, 3)
    assert [r.value for r in Decoder(value_deserializer=int).fetched(TP, buffer, 4).take(100)] == [4, 5]


def test_texts_that_are_not_utf_8_cannot_be_deserialized() -> None:
    buffer = bytes(rb.encode_batch([Record(0, 0, None, b"\xff")]))
    with pytest.raises(SerializationFailed, match="offset 0"):
        Decoder(value_deserializer="string").fetched(TP, buffer, 0).take(1)


def test_aborted_records_before_a_damaged_batch_stay_aborted_however_often_columns_are_taken() -> None:
    """KIP-98: what was learned from the marker counts only once the marker is behind us."""
    bad = batch(21)
    bad[-1] ^= 1
    aborted = batch(10, producer_id=7, producer_epoch=0, base_sequence=0, transactional=True)
    log = bytes(aborted + marker(20, 7, committed=False) + bad)
    fetched = Decoder(read_committed=True).fetched(TP, log, 10, [Aborted(7, 10)])
    for _ in range(3):
        with pytest.raises(ProtocolError, match="offset 21"):
            fetched.take_columns(1 << 20)
    assert fetched.position == 21
