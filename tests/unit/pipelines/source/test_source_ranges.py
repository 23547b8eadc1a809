"""Limits of a trigger, and tasks of a batch: the arithmetic of Spark's KafkaOffsetRangeCalculator."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.model.types import TopicPartition
from ottla.pipelines.source.offsets import OffsetLimit, from_json, parse_offsets, to_json
from ottla.pipelines.source.ranges import OffsetRange, limited, split


def tp(partition: int, topic: str = "t") -> TopicPartition:
    return TopicPartition(topic, partition)


def ranges_of(*sizes: int) -> list[OffsetRange]:
    return [OffsetRange(tp(index), 10, 10 + size) for index, size in enumerate(sizes)]


def cut(ranges: list[OffsetRange], **wanted: int) -> list[tuple[int, int, int]]:
    return [(each.tp.partition, each.start, each.end) for each in split(ranges, **wanted)]


def test_one_task_reads_one_partition_and_empty_ranges_make_none() -> None:
    assert cut(ranges_of(5, 0, 3)) == [(0, 10, 15), (2, 10, 13)]
    assert cut(ranges_of(5, 3), partitions_min=2) == [(0, 10, 15), (1, 10, 13)]


def test_large_ranges_are_cut_until_there_are_enough_tasks() -> None:
    assert cut(ranges_of(100), partitions_min=4) == [(0, 10, 35), (0, 35, 60), (0, 60, 85), (0, 85, 110)]
    # The skewed partition is cut, the small one stays whole (SPARK-30656's example).
    assert cut(ranges_of(1, 100), partitions_min=3) == [(0, 10, 11), (1, 10, 60), (1, 60, 110)]


def test_a_task_reads_at_most_so_many_offsets() -> None:
    assert cut(ranges_of(7), records_per_partition_max=3) == [(0, 10, 12), (0, 12, 14), (0, 14, 17)]
    assert len(cut(ranges_of(7, 2), records_per_partition_max=3, partitions_min=6)) >= 6


@given(
    st.lists(st.integers(0, 10_000), min_size=1, max_size=8),
    st.integers(1, 40),
    st.none() | st.integers(1, 5_000),
)
def test_tasks_cover_every_offset_once(sizes: list[int], least: int, most: int | None) -> None:
    whole = ranges_of(*sizes)
    pieces = split(whole, partitions_min=least, records_per_partition_max=most)
    assert all(piece.size > 0 for piece in pieces)
    assert most is None or all(piece.size <= most for piece in pieces)
    for each in whole:
        at = each.start
        for piece in (piece for piece in pieces if piece.tp == each.tp):
            assert piece.start == at
            at = piece.end
        assert at == each.end


def test_a_limit_is_spread_in_proportion_to_what_waits() -> None:
    begin = {tp(0): 0, tp(1): 100, tp(2): 7}
    end = {tp(0): 900, tp(1): 200, tp(2): 7}
    assert limited(begin, end, 100) == {tp(0): 90, tp(1): 110, tp(2): 7}
    assert limited(begin, end, 1_000) == end


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=8), st.integers(1, 10_000))
def test_every_partition_with_records_gets_on_under_a_limit(sizes: list[int], most: int) -> None:
    begin = {tp(index): 5 for index in range(len(sizes))}
    end = {tp(index): 5 + size for index, size in enumerate(sizes)}
    found = limited(begin, end, most)
    for each in end:
        assert begin[each] <= found[each] <= end[each]
        assert found[each] > begin[each] or end[each] == begin[each] or most * (end[each] - begin[each]) < 1
    assert sum(found[each] - begin[each] for each in end) <= most + len(sizes)


def test_offsets_are_printed_in_one_order_since_spark_compares_texts() -> None:
    offsets = {tp(10): 1, tp(9): 2, tp(0, "a"): 3}
    text = json.dumps(to_json(offsets))
    assert text == '{"a": {"0": 3}, "t": {"9": 2, "10": 1}}'
    assert from_json(json.loads(text)) == offsets
    assert json.dumps(to_json(from_json(json.loads(text)))) == text


@pytest.mark.parametrize(
    "value", [{"index": 3}, [1], {"t": {"0": "5"}}, {"t": {"0": True}}, {"t": {"0": -1}}]
)
def test_offsets_of_another_source_are_not_taken_for_ours(value: object) -> None:
    with pytest.raises(ValueError):
        from_json(value)


def test_offsets_have_to_be_said_for_every_partition() -> None:
    limit = OffsetLimit.of(parse_offsets('{"t":{"0":5,"7":-1}}'))
    with pytest.raises(ValueError, match="is missing for t-1 and t-7 is not read"):
        limit.for_partitions([tp(0), tp(1)])
    assert limit.moves and not OffsetLimit.of({tp(0): -2}).moves
