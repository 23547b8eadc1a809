"""Which filters of a batch query save reading, and which of them Spark has to apply again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringStartsWith,
)

from ottla.model.types import TopicPartition
from ottla.pipelines.source.filters import Pruning

MOMENT = datetime(2024, 5, 1, 12, 30, 0, 123_456, tzinfo=UTC)
MOMENT_MS = 1_714_566_600_123


def pushed(*filters: Any) -> tuple[Pruning, list[Any]]:
    pruning = Pruning()
    return pruning, pruning.push(filters)


def test_partitions_and_topics_are_chosen_exactly() -> None:
    pruning, left = pushed(
        EqualTo(("topic",), "a"),
        In(("partition",), (1, 2)),
        Not(EqualTo(("partition",), 2)),
        IsNotNull(("topic",)),
    )
    assert left == []
    wanted = [tp for tp in (TopicPartition(t, p) for t in "ab" for p in range(4)) if pruning.wants(tp)]
    assert wanted == [TopicPartition("a", 1)]


def test_offsets_cut_ranges_exactly() -> None:
    pruning, left = pushed(GreaterThan(("offset",), 10), LessThan(("offset",), 20), IsNotNull(("offset",)))
    assert left == []
    assert (pruning.offset_min, pruning.offset_max) == (11, 19)
    pruning, left = pushed(GreaterThanOrEqual(("offset",), 10), LessThanOrEqual(("offset",), 20))
    assert (pruning.offset_min, pruning.offset_max, left) == (10, 20, [])
    assert pushed(EqualTo(("offset",), 7))[0].offset_max == 7


def test_offsets_out_of_a_list_are_only_bounded() -> None:
    several = In(("offset",), (5, 9))
    pruning, left = pushed(several)
    assert (pruning.offset_min, pruning.offset_max, left) == (5, 9, [several])


def test_a_time_only_says_where_to_begin_since_timestamps_need_not_be_in_order() -> None:
    since, until = GreaterThanOrEqual(("timestamp",), MOMENT), LessThan(("timestamp",), MOMENT)
    pruning, left = pushed(since, until)
    assert left == [since, until]
    assert pruning.moment_min_ms == MOMENT_MS
    assert (pruning.offset_min, pruning.offset_max) == (0, 2**63 - 1)
    assert pushed(until)[0].moment_min_ms is None
    assert pushed(Not(GreaterThan(("timestamp",), MOMENT)))[0].moment_min_ms is None
    assert pushed(EqualTo(("timestamp",), MOMENT))[0].moment_min_ms == MOMENT_MS


def test_a_time_before_1970_excludes_nothing_since_records_may_be_as_old() -> None:
    """A broker is asked for times from 0 on, and a producer may write any timestamp."""
    before = datetime(1969, 12, 1, tzinfo=UTC)
    assert pushed(GreaterThanOrEqual(("timestamp",), before))[0].moment_min_ms is None
    both = GreaterThanOrEqual(("timestamp",), before), GreaterThan(("timestamp",), MOMENT)
    assert pushed(*both)[0].moment_min_ms == MOMENT_MS


def test_what_says_nothing_of_offsets_goes_back_to_spark() -> None:
    filters = [
        EqualTo(("value",), b"x"),
        StringStartsWith(("topic",), "a"),
        EqualNullSafe(("offset",), 3),
        Not(LessThan(("offset",), 3)),
        IsNotNull(("key",)),
        IsNotNull(("timestamp",)),
        EqualTo(("headers", "element"), 1),
    ]
    pruning, left = pushed(*filters)
    assert left == filters
    assert pruning == Pruning()
