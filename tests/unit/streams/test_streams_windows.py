"""Windows: the constructors of Kafka Streams and which windows a record is in."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.streams import JoinWindows, SessionWindows, SlidingWindows, Suppressed, TimeWindows, TopologyError


def test_durations_are_milliseconds_or_timedeltas() -> None:
    assert TimeWindows.of_size_with_no_grace(timedelta(minutes=5)) == TimeWindows.of_size_and_grace(
        300_000, 0
    )
    assert TimeWindows.of_size_and_grace(10, timedelta(seconds=1)).grace_ms == 1_000
    assert SessionWindows.of_inactivity_gap_with_no_grace(5).gap_ms == 5
    assert SlidingWindows.of_time_difference_and_grace(5, 1) == SlidingWindows(difference_ms=5, grace_ms=1)
    assert JoinWindows.of_time_difference_with_no_grace(5).after(0) == JoinWindows(
        before_ms=5, after_ms=0, grace_ms=0
    )
    assert JoinWindows.of_time_difference_and_grace(5, 2).before(1) == JoinWindows(
        before_ms=1, after_ms=5, grace_ms=2
    )
    assert Suppressed.until_time_limit(timedelta(seconds=1)).wait_ms == 1_000
    assert Suppressed.until_window_closes().wait_ms is None


@pytest.mark.parametrize(
    "size", [0, -1, 1.5, float("nan"), float("inf"), "5 seconds", None, True, timedelta(microseconds=5)]
)
def test_a_size_that_is_none_is_refused(size: Any) -> None:
    with pytest.raises(TopologyError, match="the size of a window"):
        TimeWindows.of_size_with_no_grace(size)


def test_windows_that_make_no_sense_are_refused() -> None:
    with pytest.raises(TopologyError, match="would leave records out"):
        TimeWindows.of_size_with_no_grace(10).advance_by(11)
    with pytest.raises(TopologyError, match=r"the grace has to be .* not negative"):
        TimeWindows.of_size_and_grace(10, -1)
    with pytest.raises(TopologyError, match="ends before it begins"):
        JoinWindows.of_time_difference_with_no_grace(5).after(-6)


def test_hopping_windows_of_a_record_are_those_of_kafkas_documentation() -> None:
    """The developer guide: windows of 5000 ms that advance by 3000 ms are [0;5000), [3000;8000), ..."""
    windows = TimeWindows.of_size_with_no_grace(5_000).advance_by(3_000)
    assert list(windows.starts_for(4_000)) == [0, 3_000]
    assert list(windows.starts_for(5_000)) == [3_000]
    assert list(windows.starts_for(0)) == [0]


@given(st.integers(1, 1_000), st.integers(1, 1_000), st.integers(0, 1_000_000))
def test_a_record_is_in_exactly_the_windows_that_contain_it(
    size_ms: int, advance_ms: int, time_ms: int
) -> None:
    windows = TimeWindows.of_size_with_no_grace(max(size_ms, advance_ms)).advance_by(advance_ms)
    starts = list(windows.starts_for(time_ms))
    lowest = max(0, (time_ms - windows.size_ms) // advance_ms - 1)
    candidates = [number * advance_ms for number in range(lowest, time_ms // advance_ms + 2)]
    assert starts == [start for start in candidates if start <= time_ms < start + windows.size_ms]
