"""What compaction promises: the latest value of every key remains, with its offset, in its order (Kafka's
documentation, "What guarantees does log compaction provide").
"""

from __future__ import annotations

import random

import pytest

from ottla.wire.record_batch import LOG_APPEND_TIME, Codec, Record
from support.cleaning_bench import DAY_MS, HOUR_MS, NOW, CleaningBench

CODECS = list(Codec)


def test_the_latest_value_of_every_key_remains_with_its_offset() -> None:
    bench = CleaningBench()
    bench.put((b"a", b"1"), (b"b", b"1"))
    bench.put((b"a", b"2"))
    bench.roll()
    bench.put((b"c", b"1"), (b"a", b"3"))
    result = bench.clean()
    assert bench.latest() == {b"b": (1, b"1"), b"c": (3, b"1"), b"a": (4, b"3")}
    assert bench.offsets() == [1, 3, 4]
    assert result.next_dirty_offset == 5
    assert (result.stats.records_read, result.stats.records_written, result.stats.map_entries) == (5, 3, 3)


@pytest.mark.parametrize("codec", CODECS)
def test_many_records_of_any_codec_keep_the_latest_of_each_key(codec: Codec, codec_form: str) -> None:
    chance = random.Random(codec)
    bench = CleaningBench(index_interval_bytes=4096, io_buffer_bytes=64 << 10)
    expected: dict[bytes, tuple[int, bytes]] = {}
    batches = 400 if codec_form == "compiled" else 40
    for n in range(batches):
        pairs = [
            (b"key %d" % chance.randrange(7 * batches), chance.randbytes(chance.randrange(80)))
            for _ in range(25)
        ]
        for offset, (key, value) in zip(bench.put(*pairs, codec=codec), pairs, strict=True):
            expected[key] = (offset, value)
        if n % (batches // 4) == 0:
            bench.roll()
    result = bench.clean(segment_bytes_max=100_000)
    assert bench.latest() == expected
    assert sorted(offset for offset, _ in expected.values()) == bench.offsets()
    assert result.stats.bytes_written < result.stats.bytes_read
    assert result.stats.map_bytes_read == result.stats.bytes_read
    assert {batch.header.codec for batch in bench.batches() if batch.records} == {codec}


@pytest.mark.parametrize("codec", CODECS)
def test_a_batch_of_which_everything_stays_keeps_its_bytes(codec: Codec) -> None:
    bench = CleaningBench()
    bench.put((b"a", b"1"), (b"b", b"2"), codec=codec, producer=7, epoch=2)
    before = [batch.data for batch in bench.batches()]
    bench.clean()
    assert [batch.data for batch in bench.batches()] == before


@pytest.mark.parametrize("codec", CODECS)
def test_a_batch_that_loses_records_keeps_every_other_field(codec: Codec) -> None:
    """Base offset, last offset delta and base sequence tell the sequence of the last record, which stays."""
    bench = CleaningBench()
    bench.put((b"a", b"1"), (b"b", b"2"), (b"a", b"3"), codec=codec, producer=7, epoch=2)
    before = bench.batches()[0].header
    bench.put((b"a", b"4"))
    bench.clean()
    after = bench.batches()[0].header
    assert after.record_count == 1
    assert after == before._replace(
        batch_length=after.batch_length, crc=after.crc, record_count=1, max_timestamp=after.max_timestamp
    )
    assert after.leader_epoch == 3 and after.last_sequence == 2


@pytest.mark.parametrize("codec", CODECS)
def test_timestamps_and_headers_of_what_stays_are_kept(codec: Codec) -> None:
    bench = CleaningBench()
    headers = (("trace", b"\x00\x01"), ("empty", b""), ("null", None))
    records = [
        Record(0, NOW - 5, b"gone", b"1"),
        Record(0, NOW + 90, b"kept", b"2", headers),
        Record(0, NOW + 95, b"gone", b"3"),
        Record(0, NOW - 70, b"also kept", b"", headers),
    ]
    bench.put(*records, codec=codec)
    bench.put((b"gone", b"later"), timestamps=[NOW])
    bench.clean()
    assert bench.records()[:2] == [
        records[1]._replace(offset=1),
        records[3]._replace(offset=3),
    ]
    header = bench.batches()[0].header
    assert header.max_timestamp == NOW + 90, "the largest of what stays"


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.ZSTD])
def test_log_append_time_stays_the_time_of_every_record(codec: Codec) -> None:
    bench = CleaningBench()
    bench.put(
        (b"a", b"1"),
        (b"b", b"2"),
        timestamps=[NOW - 50, NOW + 10],
        timestamp_type=LOG_APPEND_TIME,
        codec=codec,
    )
    bench.put((b"b", b"3"), timestamps=[NOW + 20])
    bench.clean()
    first = bench.batches()[0]
    assert first.header.timestamp_type == LOG_APPEND_TIME
    assert [(record.key, record.timestamp) for record in first.records] == [(b"a", NOW + 10)]


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.LZ4])
def test_a_batch_in_which_every_record_is_superseded_goes(codec: Codec) -> None:
    bench = CleaningBench()
    bench.put((b"a", b"1"), (b"b", b"1"), codec=codec)
    bench.put((b"a", b"2"), (b"b", b"2"), codec=codec)
    bench.put((b"c", b"3"), codec=codec)
    bench.clean()
    assert [batch.header.base_offset for batch in bench.batches()] == [2, 4]


def test_records_without_a_key_are_dropped_and_counted() -> None:
    bench = CleaningBench()
    bench.put((None, b"1"), (b"a", b"2"), (None, None))
    bench.put((None, b"3"), (b"b", b"4"), codec=Codec.GZIP)
    result = bench.clean()
    assert bench.offsets() == [1, 4]
    assert result.stats.invalid_records == 3


def test_an_empty_key_is_a_key() -> None:
    bench = CleaningBench()
    bench.put((b"", b"1"), (b"\x00", b"2"))
    bench.put((b"", b"3"))
    bench.clean()
    assert bench.offsets() == [1, 2]


def test_the_clean_part_loses_what_the_dirty_part_supersedes() -> None:
    """Only the dirty part is in the map; the clean one is recopied all the same."""
    bench = CleaningBench()
    bench.put((b"a", b"1"), (b"b", b"1"))
    bench.clean()
    bench.put((b"a", b"2"))
    result = bench.clean()
    assert bench.latest() == {b"b": (1, b"1"), b"a": (2, b"2")}
    assert result.stats.map_entries == 1
    assert result.stats.map_bytes_read < result.stats.bytes_read


def test_cleaning_begins_inside_a_segment_where_the_last_run_ended() -> None:
    bench = CleaningBench()
    for n in range(40):
        bench.put((b"key %d" % (n % 3), b"%d" % n))
    everything = bench.clean(first_dirty_offset=33)
    assert bench.offsets()[-3:] == [37, 38, 39]
    assert everything.stats.map_entries == 3
    assert everything.stats.map_bytes_read < everything.stats.bytes_read, "the index says where to begin"


def test_what_is_past_the_first_uncleanable_offset_is_copied_as_it_is() -> None:
    """Open transactions, records younger than min.compaction.lag.ms and so on lie there."""
    bench = CleaningBench()
    bench.put((b"a", b"1"))
    bench.put((b"a", b"2"))
    bench.put((b"a", b"3"), (b"b", None))
    bench.put((b"a", b"4"), (None, b"no key"))
    before = [batch.data for batch in bench.batches()][2:]
    result = bench.clean(first_uncleanable_offset=2)
    assert bench.offsets() == [1, 2, 3, 4, 5]
    assert [batch.data for batch in bench.batches()][1:] == before
    assert result.next_dirty_offset == 2


def test_a_batch_that_reaches_past_the_first_uncleanable_offset_is_not_cleaned() -> None:
    bench = CleaningBench()
    bench.put((b"a", b"1"))
    bench.put((b"a", b"2"), (b"a", b"3"))
    result = bench.clean(first_uncleanable_offset=2)
    assert bench.offsets() == [0, 1, 2]
    assert result.next_dirty_offset == 1


def test_cleaning_again_changes_nothing() -> None:
    bench = CleaningBench()
    for n in range(30):
        bench.put((b"key %d" % (n % 7), b"%d" % n), (b"once %d" % n, b"x"))
    bench.clean()
    before = [batch.data for batch in bench.batches()]
    bench.now_ms += 2 * DAY_MS
    bench.clean()
    assert [batch.data for batch in bench.batches()] == before


# --- tombstones (KIP-534)


@pytest.mark.parametrize("codec", CODECS)
def test_a_tombstone_stays_until_its_delete_horizon_and_then_goes(codec: Codec) -> None:
    bench = CleaningBench()
    bench.put((b"a", b"1"), (b"b", b"1"), codec=codec)
    bench.put((b"b", b"2"), (b"a", None), codec=codec, timestamps=[NOW - 3, NOW - 9])
    bench.put((b"z", b"last"))
    bench.clean()
    batch = bench.batches()[0]
    assert batch.header.has_delete_horizon and batch.header.base_timestamp == NOW + DAY_MS
    assert batch.header.max_timestamp == NOW - 3
    assert [(record.offset, record.key, record.value, record.timestamp) for record in batch.records] == [
        (2, b"b", b"2", NOW - 3),
        (3, b"a", None, NOW - 9),
    ]
    bench.now_ms = NOW + DAY_MS - 1
    bench.clean()
    assert bench.batches()[0].data == batch.data, "the horizon is set once"
    bench.now_ms = NOW + DAY_MS
    bench.clean()
    assert bench.offsets() == [2, 4]
    assert bench.records()[0].timestamp == NOW - 3
    assert bench.batches()[0].header.base_timestamp == NOW + DAY_MS


def test_a_tombstone_that_a_value_supersedes_goes_at_once() -> None:
    bench = CleaningBench()
    bench.put((b"a", None))
    bench.put((b"a", b"back"))
    bench.clean()
    assert bench.latest() == {b"a": (1, b"back")}
    assert not any(batch.header.has_delete_horizon for batch in bench.batches())


def test_with_no_retention_a_tombstone_goes_in_the_second_run() -> None:
    bench = CleaningBench(delete_retention_ms=0)
    bench.put((b"a", None))
    bench.put((b"b", b"1"))
    bench.clean()
    assert bench.offsets() == [0, 1]
    bench.clean()
    assert bench.offsets() == [1]


def test_a_retention_without_end_keeps_tombstones() -> None:
    bench = CleaningBench(delete_retention_ms=2**63 - 1)
    bench.put((b"a", None), timestamps=[NOW])
    for _ in range(3):
        bench.now_ms += 1000 * DAY_MS
        bench.clean()
    assert [(record.offset, record.timestamp) for record in bench.records()] == [(0, NOW)]


def test_a_tombstone_without_a_timestamp_keeps_none() -> None:
    bench = CleaningBench()
    bench.put((b"a", None), (b"b", b"1"), timestamps=[-1, -1])
    bench.clean()
    assert [record.timestamp for record in bench.records()] == [-1, -1]
    assert bench.batches()[0].header.max_timestamp == -1


@pytest.mark.parametrize("base", [-(2**63), 2**63 - 1])
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.LZ4])
def test_absurd_timestamps_survive_a_delete_horizon(base: int, codec: Codec) -> None:
    bench = CleaningBench()
    bench.put((b"a", None), (b"b", b"1"), timestamps=[base, NOW], codec=codec)
    bench.clean()
    assert [record.timestamp for record in bench.records()] == [base, NOW]


# --- what stays although it is empty


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.SNAPPY])
def test_the_last_batch_of_a_live_producer_stays_as_an_empty_batch(codec: Codec) -> None:
    """Otherwise its next sequence would be out of order after a restart (Kafka: RETAIN_EMPTY)."""
    bench = CleaningBench()
    bench.put((b"a", b"1"), (b"b", b"1"), producer=7, epoch=1, codec=codec)
    bench.put((b"a", b"2"), (b"b", b"2"), producer=7, epoch=1, codec=codec)
    last = bench.batches()[1].header
    bench.put((b"a", b"3"), (b"b", b"3"))
    bench.clean(last_offsets_of_producers={7: (3, 1), 8: (1, 0)})
    first, second = bench.batches()
    assert first.header.base_offset == 2 and first.records == ()
    assert first.header.record_count == 0 and first.header.codec == Codec.NONE
    assert first.header.last_offset == 3
    for field in ("leader_epoch", "producer_id", "producer_epoch", "base_sequence", "max_timestamp"):
        assert getattr(first.header, field) == getattr(last, field)
    assert first.header.last_sequence == 3
    assert second.header.base_offset == 4
    bench.clean(last_offsets_of_producers={7: (3, 1)})
    assert bench.batches()[0].data == first.data
    bench.clean()
    assert [batch.header.base_offset for batch in bench.batches()] == [4], "the producer has expired"


def test_the_last_batch_that_may_be_cleaned_stays_so_that_offsets_end_where_they_did() -> None:
    bench = CleaningBench()
    bench.put((b"a", b"1"))
    bench.put((None, b"dropped"), (None, b"dropped"))
    bench.clean()
    last = bench.batches()[-1]
    assert (last.header.last_offset, last.records) == (2, ())


def test_a_segment_of_which_nothing_stays_becomes_an_empty_one() -> None:
    bench = CleaningBench()
    bench.put((b"a", b"1"))
    bench.roll()
    bench.put((b"a", b"2"))
    result = bench.clean(segment_bytes_max=1)
    assert [segment.size_bytes for segment in result.cleaned] == [0, bench.segments[1].size_bytes]
    assert bench.offsets() == [1]
    bench.now_ms += HOUR_MS
    result = bench.clean()
    assert [segment.replaced for segment in result.cleaned] == [(0, 1)]
    assert bench.offsets() == [1]
