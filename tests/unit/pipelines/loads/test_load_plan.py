"""What a load reads, from stored positions, the logs' state and the options (seed 000: batch loads)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.model.types import TopicPartition
from ottla.pipelines.loads.data_file import DataFile
from ottla.pipelines.loads.errors import DataMissing, LoadRefused
from ottla.pipelines.loads.plan import LogRange, Range, plan_load, rounds

TP = TopicPartition("clicks", 0)
OTHER = TopicPartition("clicks", 1)


def file(first: int, last: int, name: str = "f", tp: TopicPartition = TP) -> DataFile:
    return DataFile(f"{name}-{first}.parquet", 10, last - first + 1, {}, *tp, first, last)


def test_a_first_load_takes_everything_and_the_next_one_what_is_new() -> None:
    plan = plan_load({TP: LogRange(5, 20), OTHER: LogRange(0, 0)}, {})
    assert plan.ranges == [Range("clicks", 0, 5, 20)]
    assert plan_load({TP: LogRange(5, 30)}, {TP: 20}).ranges == [Range("clicks", 0, 20, 30)]
    assert plan_load({TP: LogRange(5, 30)}, {TP: 30}).empty


def test_a_new_partition_of_a_known_topic_is_loaded_from_its_beginning() -> None:
    plan = plan_load({TP: LogRange(0, 10), OTHER: LogRange(0, 4)}, {TP: 10})
    assert plan.ranges == [Range("clicks", 1, 0, 4)]


def test_every_partition_has_a_beginning_also_one_with_nothing_to_load() -> None:
    """Or the next run would begin with the oldest record there is then: before --since, or behind a gap."""
    plan = plan_load({TP: LogRange(0, 10), OTHER: LogRange(0, 4)}, {}, starts={TP: 6, OTHER: 4})
    assert plan.ranges == [Range("clicks", 0, 6, 10)]
    assert plan.begun == {TP: 6, OTHER: 4}
    assert plan_load({TP: LogRange(0, 10), OTHER: LogRange(3, 3)}, {TP: 10}).begun == {OTHER: 3}


def test_a_reload_goes_on_where_a_partition_has_not_reached_the_start() -> None:
    logs = {TP: LogRange(0, 20), OTHER: LogRange(0, 20)}
    starts = {TP: 4, OTHER: 12}
    plan = plan_load(logs, {TP: 10, OTHER: 8}, starts=starts, reload=True, files=[file(4, 9)])
    assert plan.reloads == [Range("clicks", 0, 4, 10)] and plan.gaps == []
    assert plan.ranges == [Range("clicks", 0, 10, 20), Range("clicks", 1, 8, 20)]


def test_options_say_where_an_empty_table_begins_and_ends() -> None:
    plan = plan_load({TP: LogRange(5, 20)}, {}, starts={TP: 8}, ends={TP: 12})
    assert plan.ranges == [Range("clicks", 0, 8, 12)]
    assert plan_load({TP: LogRange(5, 20)}, {}, ends={TP: 50}).ranges == [Range("clicks", 0, 5, 20)]
    assert plan_load({TP: LogRange(5, 20)}, {TP: 15}, ends={TP: 12}).empty


def test_retention_that_overtook_the_position_is_named_and_skipped_only_when_asked() -> None:
    with pytest.raises(DataMissing, match=r"clicks-0: the records from 3 to 4 .* --skip-missing"):
        plan_load({TP: LogRange(5, 20)}, {TP: 3})
    plan = plan_load({TP: LogRange(5, 20)}, {TP: 3}, skip_missing=True)
    assert plan.gaps == [Range("clicks", 0, 3, 5)]
    assert plan.ranges == [Range("clicks", 0, 5, 20)]


def test_everything_deleted_is_a_gap_too() -> None:
    with pytest.raises(DataMissing, match="from 3 to 19"):
        plan_load({TP: LogRange(20, 20)}, {TP: 3})
    plan = plan_load({TP: LogRange(20, 20)}, {TP: 3}, skip_missing=True)
    assert plan.empty and plan.gaps == [Range("clicks", 0, 3, 20)]


def test_a_log_that_ends_before_the_position_is_another_log() -> None:
    with pytest.raises(LoadRefused, match="holds offsets up to 99, and the log ends at 20"):
        plan_load({TP: LogRange(0, 20)}, {TP: 100})


def test_a_start_below_the_position_needs_reload_and_one_above_it_would_leave_a_gap() -> None:
    logs = {TP: LogRange(0, 20)}
    with pytest.raises(LoadRefused, match="up to 9 already, and this would begin at 4: add --reload"):
        plan_load(logs, {TP: 10}, starts={TP: 4})
    with pytest.raises(LoadRefused, match="would leave out 3"):
        plan_load(logs, {TP: 10}, starts={TP: 13})
    plan = plan_load(logs, {TP: 10}, starts={TP: 13}, skip_missing=True)
    assert plan.gaps == [Range("clicks", 0, 10, 13)] and plan.ranges == [Range("clicks", 0, 13, 20)]
    assert plan_load(logs, {TP: 10}, starts={TP: 10}).ranges == [Range("clicks", 0, 10, 20)]


def test_a_start_beyond_the_end_and_unknown_partitions_are_refused() -> None:
    with pytest.raises(LoadRefused, match="offset 21 is beyond the end of the log, 20"):
        plan_load({TP: LogRange(0, 20)}, {}, starts={TP: 21})
    with pytest.raises(LoadRefused, match="name clicks-1, which is not among"):
        plan_load({TP: LogRange(0, 20)}, {}, starts={OTHER: 1})
    with pytest.raises(LoadRefused, match="needs to know from where"):
        plan_load({TP: LogRange(0, 20)}, {}, reload=True)


def test_a_reload_replaces_whole_files_and_then_goes_on() -> None:
    files = [file(0, 4), file(5, 9), file(10, 14), file(3, 20, "other", OTHER)]
    logs = {TP: LogRange(0, 20)}
    plan = plan_load(logs, {TP: 15}, starts={TP: 7}, reload=True, files=files)
    assert plan.reloads == [Range("clicks", 0, 5, 15)]
    assert [each.first_offset for each in plan.replaced] == [5, 10]
    assert plan.ranges == [Range("clicks", 0, 15, 20)]


def test_files_that_overlap_by_partition_by_are_replaced_together() -> None:
    files = [file(0, 6, "monday"), file(2, 9, "tuesday"), file(8, 14, "wednesday")]
    plan = plan_load({TP: LogRange(0, 15)}, {TP: 15}, starts={TP: 9}, reload=True, files=files)
    assert plan.reloads == [Range("clicks", 0, 0, 15)]
    assert len(plan.replaced) == 3


def test_a_reload_of_what_the_log_no_longer_has_is_refused() -> None:
    with pytest.raises(DataMissing, match=r"would begin at 5 .* the log begins at 6"):
        plan_load(
            {TP: LogRange(6, 20)},
            {TP: 15},
            starts={TP: 7},
            reload=True,
            skip_missing=True,
            files=[file(5, 14)],
        )
    with pytest.raises(LoadRefused, match="choose a later --until"):
        plan_load(
            {TP: LogRange(0, 20)}, {TP: 15}, starts={TP: 7}, ends={TP: 9}, reload=True, files=[file(0, 14)]
        )


def test_a_table_with_files_that_do_not_say_their_offsets_is_not_reloaded() -> None:
    with pytest.raises(LoadRefused, match="does not say which offsets"):
        plan_load({TP: LogRange(0, 9)}, {TP: 9}, starts={TP: 1}, reload=True, files=[DataFile("x", 1, 1)])


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 60)), max_size=6),
    st.integers(1, 40),
)
def test_rounds_cover_every_offset_once_in_order_within_the_limit(
    spans: list[tuple[int, int]], records_max: int
) -> None:
    ranges = [Range("t", number, start, start + count) for number, (start, count) in enumerate(spans)]
    found = rounds(ranges, records_max)
    seen: dict[int, list[int]] = {each.partition: [] for each in ranges}
    for each in found:
        assert 0 < sum(len(one) for one in each) <= records_max
        assert len({one.partition for one in each}) == len(each)
        for one in each:
            seen[one.partition].extend(range(one.start, one.end))
    assert seen == {each.partition: list(range(each.start, each.end)) for each in ranges}
