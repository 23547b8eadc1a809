"""Compaction of transactional data: what was aborted goes and supersedes nothing, markers outlive the records
of their transaction by `delete.retention.ms` (Kafka's CleanedTransactionMetadata, KIP-98 and KIP-534).
"""

from __future__ import annotations

import pytest

from ottla.wire.record_batch import Codec
from support.cleaning_bench import DAY_MS, NOW, CleaningBench

CODECS = [Codec.NONE, Codec.LZ4]


@pytest.mark.parametrize("codec", CODECS)
def test_aborted_records_go_and_supersede_nothing(codec: Codec) -> None:
    bench = CleaningBench()
    bench.put((b"a", b"1"), codec=codec)
    bench.put((b"a", b"aborted"), (b"b", b"aborted"), producer=7, txn=True, codec=codec)
    bench.end_txn(7, commit=False)
    bench.put((b"c", b"2"), codec=codec)
    result = bench.clean()
    assert bench.latest() == {b"a": (0, b"1"), b"c": (4, b"2")}
    assert result.stats.map_entries == 2


@pytest.mark.parametrize("codec", CODECS)
def test_committed_records_supersede(codec: Codec) -> None:
    bench = CleaningBench()
    bench.put((b"a", b"1"), codec=codec)
    bench.put((b"a", b"2"), (b"b", b"1"), producer=7, txn=True, codec=codec)
    bench.end_txn(7, commit=True)
    bench.clean()
    assert bench.latest() == {b"a": (1, b"2"), b"b": (2, b"1")}
    assert all(batch.header.is_transactional for batch in bench.batches())


def test_two_transactions_of_one_producer_end_differently() -> None:
    bench = CleaningBench()
    for value, commit in ((b"1", False), (b"2", True), (b"3", False), (b"4", True)):
        bench.put((b"a", value), (value, value), producer=7, txn=True)
        bench.end_txn(7, commit=commit)
    bench.clean()
    assert bench.latest() == {b"2": (4, b"2"), b"a": (9, b"4"), b"4": (10, b"4")}


def test_interleaved_transactions_are_told_apart() -> None:
    bench = CleaningBench()
    bench.put((b"a", b"7"), producer=7, txn=True)
    bench.put((b"a", b"8"), producer=8, txn=True)
    bench.put((b"a", b"plain"))
    bench.put((b"b", b"7"), producer=7, txn=True)
    bench.put((b"b", b"8"), producer=8, txn=True)
    bench.end_txn(8, commit=False)
    bench.end_txn(7, commit=True)
    bench.clean()
    assert bench.latest() == {b"a": (2, b"plain"), b"b": (3, b"7")}


@pytest.mark.parametrize("segment_bytes_max", [1, 1 << 30], ids=["apart", "grouped"])
def test_a_transaction_that_was_aborted_over_segment_boundaries_goes_whole(segment_bytes_max: int) -> None:
    bench = CleaningBench(segment_bytes_max=segment_bytes_max)
    bench.put((b"a", b"1"))
    bench.put((b"a", b"aborted"), producer=7, txn=True)
    bench.roll()
    bench.put((b"b", b"1"))
    bench.put((b"b", b"aborted"), producer=7, txn=True)
    bench.roll()
    marker = bench.end_txn(7, commit=False)
    bench.put((b"c", b"1"))
    bench.clean()
    assert bench.offsets() == [0, 2, 5]
    assert bench.markers() == [marker]
    assert [(txn.producer_id, txn.first_offset, txn.last_offset) for txn in bench.aborted()] == [(7, 1, 4)]


def test_a_transaction_whose_abort_marker_lies_behind_what_is_cleaned_goes_too() -> None:
    """Its index entry is in a segment that is not cleaned, so the job brings it."""
    bench = CleaningBench()
    bench.put((b"a", b"1"))
    bench.put((b"a", b"aborted"), producer=7, txn=True)
    bench.put((b"b", b"1"))
    job = bench.job(later_aborted=((7, 1, 9, 10),))
    bench.run(job)
    assert bench.offsets() == [0, 2]
    assert bench.aborted() == [], "the entry stays where its marker is"


def test_an_abort_below_the_dirty_part_does_not_touch_the_producers_next_transaction() -> None:
    """The map is made from the middle of the log, where the first transaction's marker is not seen."""
    bench = CleaningBench()
    bench.put((b"a", b"aborted"), producer=7, txn=True)
    bench.end_txn(7, commit=False)
    bench.roll()
    bench.put((b"b", b"1"))
    bench.put((b"b", b"2"), producer=7, txn=True)
    bench.end_txn(7, commit=True)
    bench.clean(first_dirty_offset=2)
    assert bench.offsets() == [3]


def test_records_of_an_open_transaction_are_not_cleaned() -> None:
    """The first uncleanable offset is at most the last stable one."""
    bench = CleaningBench()
    bench.put((b"a", b"1"))
    bench.put((b"a", b"2"))
    bench.put((b"a", b"open"), producer=7, txn=True)
    bench.put((b"a", b"3"))
    before = [batch.data for batch in bench.batches()][2:]
    bench.clean(first_uncleanable_offset=2)
    assert bench.offsets() == [1, 2, 3]
    assert [batch.data for batch in bench.batches()][1:] == before


@pytest.mark.parametrize(("end", "left"), [(3, [0, 2, 3]), (4, [0, 2])])
def test_a_transaction_that_reaches_past_the_map_keeps_marker_and_index_entry(
    end: int, left: list[int]
) -> None:
    bench = CleaningBench()
    bench.put((b"a", b"1"))
    bench.put((b"a", b"aborted"), producer=7, txn=True)
    bench.put((b"z", b"1"))
    bench.put((b"b", b"aborted"), producer=7, txn=True)
    marker = bench.end_txn(7, commit=False)
    bench.clean(first_uncleanable_offset=end)
    assert bench.offsets() == left, "what is past the map waits for the next run"
    assert bench.markers() == [marker]
    assert [txn.last_offset for txn in bench.aborted()] == [marker]
    bench.clean()
    assert bench.offsets() == [0, 2]


@pytest.mark.parametrize("commit", [True, False])
def test_a_marker_outlives_the_records_of_its_transaction_by_the_retention(commit: bool) -> None:
    bench = CleaningBench()
    bench.put((b"a", b"1"), producer=7, txn=True)
    marker = bench.end_txn(7, commit=commit)
    bench.put((b"a", b"2"))
    bench.clean()
    assert bench.offsets() == [2]
    assert bench.markers() == [marker], "its transaction had records until now"
    assert not bench.batches()[0].header.has_delete_horizon
    assert len(bench.aborted()) == (not commit)

    bench.now_ms += DAY_MS
    bench.clean()
    marked = bench.batches()[0]
    assert marked.header.has_delete_horizon and marked.header.base_timestamp == NOW + 2 * DAY_MS
    assert marked.header.is_control and marked.header.is_transactional
    assert marked.records[0].timestamp == NOW == marked.header.max_timestamp
    assert bench.aborted() == []

    bench.now_ms = NOW + 2 * DAY_MS - 1
    bench.clean()
    assert bench.batches()[0].data == marked.data
    bench.now_ms += 1
    bench.clean()
    assert bench.markers() == [] and [batch.header.base_offset for batch in bench.batches()] == [2]


def test_a_marker_stays_while_one_record_of_its_transaction_is_left() -> None:
    bench = CleaningBench()
    bench.put((b"a", b"1"), (b"kept", b"1"), producer=7, txn=True)
    marker = bench.end_txn(7, commit=True)
    bench.put((b"a", b"2"))
    for _ in range(4):
        bench.now_ms += 2 * DAY_MS
        bench.clean()
    assert bench.markers() == [marker]
    assert bench.offsets() == [1, 3]
    assert not any(batch.header.has_delete_horizon for batch in bench.batches())


@pytest.mark.parametrize("codec", CODECS)
def test_an_aborted_batch_of_a_live_producer_stays_empty_with_its_marker_and_entry(codec: Codec) -> None:
    bench = CleaningBench()
    bench.put((b"a", b"aborted"), (b"b", b"aborted"), producer=7, txn=True, codec=codec)
    marker = bench.end_txn(7, commit=False)
    bench.put((b"c", b"1"))
    for _ in range(3):
        bench.now_ms += 2 * DAY_MS
        bench.clean(last_offsets_of_producers={7: (1, 0)})
    empty = bench.batches()[0]
    assert empty.records == () and empty.header.is_transactional and empty.header.last_sequence == 1
    assert bench.markers() == [marker] and len(bench.aborted()) == 1
    for _ in range(3):
        bench.now_ms += 2 * DAY_MS
        bench.clean()
    assert [batch.header.base_offset for batch in bench.batches()] == [3]


def test_the_marker_of_a_producer_of_which_nothing_else_is_known_stays_empty() -> None:
    """It has the last epoch, which fences (Kafka: the third case of RETAIN_EMPTY)."""
    bench = CleaningBench()
    marker = bench.end_txn(7, commit=False, epoch=4)
    bench.put((b"a", b"1"))
    for _ in range(3):
        bench.now_ms += 2 * DAY_MS
        bench.clean(last_offsets_of_producers={7: (-1, 4)})
    first = bench.batches()[0]
    assert first.header.base_offset == marker and first.header.is_control and first.records == ()
    assert first.header.producer_epoch == 4
    bench.clean(last_offsets_of_producers={7: (-1, 5)})
    assert [batch.header.base_offset for batch in bench.batches()] == [1]


def test_a_marker_at_the_end_of_the_range_stays_empty() -> None:
    bench = CleaningBench(delete_retention_ms=0)
    bench.put((b"a", b"1"))
    marker = bench.end_txn(7, commit=True)
    for _ in range(3):
        bench.clean()
    last = bench.batches()[-1]
    assert last.header.last_offset == marker and last.records == ()


def test_tombstones_of_a_transaction_wait_for_their_horizon() -> None:
    bench = CleaningBench()
    bench.put((b"a", b"1"))
    bench.put((b"a", None), producer=7, txn=True)
    bench.end_txn(7, commit=True)
    bench.put((b"b", b"1"))
    bench.clean()
    assert bench.offsets() == [1, 3]
    bench.now_ms += DAY_MS
    bench.clean()
    assert bench.offsets() == [3]
    assert bench.markers() == [2]
