"""What a key's records do to joined tables, against Kafka Streams' rules record by record; no Spark here."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.streams.lowering.keyed import VALUE, ordered
from ottla.streams.lowering.table_states import (
    LEFT_SIDE,
    RIGHT_SIDE,
    TABLE_SIDE,
    Record,
    TablePair,
    join_stream_with_table,
    join_tables,
)

STREAM_SIDE = 1


def _record(side: int, value: Any, time_ms: int, offset: int = 0, headers: Any = None) -> Record:
    return (time_ms, side, f"topic-{side}", 0, offset, value, headers)


def test_a_partition_keeps_its_order_and_the_oldest_head_goes_first_of_two_equal_ones_the_tables() -> None:
    """Kafka Streams' PartitionGroup: the queue with the smallest head timestamp; offsets stay in order."""
    stream = [_record(STREAM_SIDE, f"s{i}", time, i) for i, time in enumerate([10, 30, 20, 40])]
    table = [_record(TABLE_SIDE, f"t{i}", time, i) for i, time in enumerate([30, 5, 40])]
    rows = [{"records": pickle.dumps(part)} for part in (stream[2:], table, stream[:2])]
    assert [record[VALUE] for record in ordered(rows)] == ["s0", "t0", "t1", "s1", "s2", "t2", "s3"]
    made_of_one = [_record(STREAM_SIDE, place, 1, 7) for place in range(4)]
    rows = [{"records": pickle.dumps(made_of_one)}, {"records": pickle.dumps(table[:1])}]
    assert [record[VALUE] for record in ordered(rows)] == [0, 1, 2, 3, "t0"]


def test_a_stream_record_sees_the_table_of_its_time_and_a_null_value_is_no_record() -> None:
    records = [
        _record(STREAM_SIDE, "early", 1),
        _record(TABLE_SIDE, "one", 2),
        _record(STREAM_SIDE, "a", 3, 9),
        _record(STREAM_SIDE, None, 3),
        _record(TABLE_SIDE, None, 4),
        _record(STREAM_SIDE, "b", 5),
        _record(TABLE_SIDE, "two", 1),
    ]
    inner, table = join_stream_with_table("inner", records, None)
    assert inner == [("a", "one", 3, records[2])]
    assert table == "two"
    left, _ = join_stream_with_table("left", records, None)
    assert [result[:3] for result in left] == [("early", None, 1), ("a", "one", 3), ("b", None, 5)]
    assert join_stream_with_table("inner", records[:1], "kept")[0] == [("early", "kept", 1, records[0])]


def _record_by_record(how: str, records: list[Record], tables: list[Any], joined: dict[str, Any]) -> None:
    """KTableKTable{Inner,Left,Outer}Join, one record at a time, into what a reader of the topic has."""
    for record in records:
        time_ms, side, value = record[0], record[1], record[VALUE]
        tables[side] = None if value is None else (value, time_ms)
        left, right = tables
        other = tables[1 - side]
        if how == "inner" and other is None:
            continue
        if how == "left" and side == RIGHT_SIDE and left is None:
            continue
        there = {"inner": left and right, "left": left, "outer": left or right}[how]
        time_ms = max(time_ms, -1 if other is None else other[1])
        joined["k"] = ((left and left[0], right and right[0]), time_ms) if there else None


_RECORDS = st.lists(
    st.builds(
        _record,
        st.sampled_from([LEFT_SIDE, RIGHT_SIDE]),
        st.sampled_from([None, "a", "b"]),
        st.integers(0, 9),
    ),
    max_size=6,
)


@pytest.mark.parametrize("how", ["inner", "left", "outer"])
@given(batches=st.lists(_RECORDS, max_size=4))
def test_joined_tables_have_after_each_batch_what_kafka_streams_has_after_its_last_record(
    how: Any, batches: list[list[Record]]
) -> None:
    """One update per key and batch at most, and no tombstone of what was never there."""
    tables: list[Any] = [None, None]
    expected: dict[str, Any] = {}
    pair = TablePair()
    seen: Any = None
    for records in batches:
        _record_by_record(how, records, tables, expected)
        result, pair = join_tables(how, records, pair)
        if result is not None:
            assert seen is not None or not result.tombstone
            seen = None if result.tombstone else ((result.left, result.right), result.timestamp_ms)
        assert seen == expected.get("k")
        assert [entry.value for entry in pair] == [table and table[0] for table in tables]
