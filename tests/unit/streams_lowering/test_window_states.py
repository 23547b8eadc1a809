"""Windows of a key against their definitions, computed from all records at once.

The rules are those of Kafka Streams: KIP-450 (sliding windows), KIP-94 (sessions), hopping windows from
time 0.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ottla.streams.lowering.window_states import Window, WindowsOfKey, WindowState, window_state
from ottla.streams.windows import SessionWindows, SlidingWindows, TimeWindows

TIMES = st.lists(st.integers(0, 60), min_size=1, max_size=25)
NEVER_CLOSED = -(1 << 60)


def add_all(state: WindowState, times: list[int], close_ms: int = NEVER_CLOSED) -> WindowsOfKey:
    """Each window's aggregate is the list of its records' times, changed in place on purpose."""
    windows: WindowsOfKey = {}
    for time_ms in times:
        before = {start: list(window.aggregate) for start, window in windows.items()}

        def add(aggregate: Any, time_ms: int = time_ms) -> Any:
            aggregate = [] if aggregate is None else aggregate
            aggregate.append(time_ms)
            return aggregate

        changed = state.add(windows, time_ms, close_ms, add, lambda one, two: [*(one or ()), *two])
        now = {start: list(window.aggregate) for start, window in windows.items()}
        assert changed >= {start for start in before | now if before.get(start) != now.get(start)}
    return windows


def content(windows: WindowsOfKey) -> dict[tuple[int, int], list[int]]:
    for window in windows.values():
        assert window.timestamp_ms == max(window.aggregate)
    return {(start, window.end_ms): sorted(window.aggregate) for start, window in windows.items()}


@given(TIMES, st.integers(1, 12))
def test_sliding_windows_are_those_that_end_with_a_record_and_those_that_begin_after_one(
    times: list[int], difference: int
) -> None:
    """KIP-450; records before the first whole window share the one at 0, as in Kafka Streams."""
    starts = {max(0, time - difference) for time in times}
    starts |= {time + 1 for time in times if any(time < other <= time + 1 + difference for other in times)}
    expected = {
        (start, start + difference): sorted(time for time in times if start <= time <= start + difference)
        for start in starts
    }
    state = window_state(SlidingWindows(difference_ms=difference, grace_ms=0))
    assert content(add_all(state, times)) == expected


@given(TIMES, st.integers(1, 12))
def test_sessions_are_the_runs_without_a_longer_pause_whatever_the_order_of_arrival(
    times: list[int], gap: int
) -> None:
    """KIP-94: a record joins the sessions within the gap of it, both ends within."""
    runs: list[list[int]] = []
    for time in sorted(times):
        if runs and time - runs[-1][-1] <= gap:
            runs[-1].append(time)
        else:
            runs.append([time])
    state = window_state(SessionWindows(gap_ms=gap, grace_ms=0))
    assert content(add_all(state, times)) == {(run[0], run[-1]): run for run in runs}


@given(TIMES, st.integers(1, 6), st.integers(1, 4))
def test_hopping_windows_begin_at_multiples_of_the_advance(
    times: list[int], advance: int, overlaps: int
) -> None:
    size = advance * overlaps
    expected: dict[tuple[int, int], list[int]] = {}
    for start in range(0, 61, advance):
        inside = sorted(time for time in times if start <= time < start + size)
        if inside:
            expected[start, start + size] = inside
    state = window_state(TimeWindows(size_ms=size, advance_ms=advance, grace_ms=0))
    assert content(add_all(state, times)) == expected


def test_a_closed_window_takes_nothing_in_and_its_open_neighbour_does() -> None:
    """Kafka Streams: a window is closed when its end is not after the stream's time less the grace; the end
    of a sliding window and of a session is within, so they close one later (a session after its gap)."""
    hopping = window_state(TimeWindows(size_ms=10, advance_ms=5, grace_ms=0))
    assert content(add_all(hopping, [17], close_ms=20)) == {(15, 25): [17]}
    sliding = window_state(SlidingWindows(difference_ms=10, grace_ms=0))
    assert content(add_all(sliding, [20], close_ms=20)) == {(10, 20): [20]}
    assert content(add_all(sliding, [19], close_ms=20)) == {}
    session = window_state(SessionWindows(gap_ms=5, grace_ms=0))
    assert content(add_all(session, [15], close_ms=20)) == {(15, 15): [15]}
    assert content(add_all(session, [14], close_ms=20)) == {}
    for state, window in (
        (hopping, Window(25, [], 0)),
        (sliding, Window(20, [], 0)),
        (session, Window(15, [], 0)),
    ):
        at = state.closes_at(window)
        assert at == {id(hopping): 25, id(sliding): 21, id(session): 20}[id(state)]


def test_an_aggregate_that_becomes_null_deletes_its_window() -> None:
    """Kafka Streams writes a tombstone for an aggregator that returned null."""
    state = window_state(None)
    windows: WindowsOfKey = {}
    state.add(windows, 5, 0, lambda aggregate: 1, lambda one, two: two)
    assert windows == {0: Window(0, 1, 5)}
    assert state.add(windows, 6, 0, lambda aggregate: None, lambda one, two: two) == {0}
    assert windows == {}


@given(TIMES, st.integers(1, 9), st.integers(0, 70))
def test_sliding_windows_that_may_be_forgotten_make_no_difference_to_any_later_record(
    times: list[int], difference: int, closed_ms: int
) -> None:
    """A window may only go when no record that is still in time can begin with what was in it."""
    state = window_state(SlidingWindows(difference_ms=difference, grace_ms=0))
    kept, swept = add_all(state, times), add_all(state, times)
    for start in [start for start, window in swept.items() if state.forgets_at(window) <= closed_ms]:
        del swept[start]
    for time_ms in range(max(0, closed_ms - difference), 100):
        one, other = dict(kept), dict(swept)
        results = [
            state.add(windows, time_ms, closed_ms, lambda old, t=time_ms: [*(old or ()), t], lambda a, b: b)
            for windows in (one, other)
        ]
        assert results[0] == results[1]
        assert {s: one.get(s) for s in results[0]} == {s: other.get(s) for s in results[1]}


def test_a_closed_session_is_not_taken_up_by_a_record_that_is_just_in_time() -> None:
    """As Apache Kafka Streams 4.2 does it: a session is gone when its gap has passed before the close."""
    state = window_state(SessionWindows(gap_ms=5, grace_ms=0))
    assert state.forgets_at(Window(15, [], 15)) == 20
    assert state.forgets_at(Window(16, [], 16)) == 21
