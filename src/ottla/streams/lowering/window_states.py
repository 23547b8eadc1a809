"""How a record changes the windows of its key: pure, without Spark.

A key's windows are a dict from a window's start to its end, aggregate and highest timestamp. `add` takes one
record into it and returns the starts of the windows that changed; the rules are those of Kafka Streams for
tumbling and hopping windows, sliding windows and sessions. A window is closed, and takes nothing in any more,
once `close_ms` (the stream's time less the grace) has passed it.

Aggregates are replaced and never shared between two windows: a function may change the one it was given.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from ottla.streams.windows import SessionWindows, SlidingWindows, TimeWindows, Windows


class Window(NamedTuple):
    end_ms: int
    aggregate: Any
    timestamp_ms: int
    """The highest timestamp of its records."""


WindowsOfKey = dict[int, Window]
Add = Callable[[Any], Any]
"""The aggregate (None: there is none yet) with the record added."""
Merge = Callable[[Any, Any], Any]
"""The aggregate of two sessions that meet (None for the first: that of no session)."""


class WindowState(Protocol):
    """What each kind of windows can do."""

    def add(self, windows: WindowsOfKey, time_ms: int, close_ms: int, add: Add, merge: Merge) -> set[int]:
        """Take a record in; returns the starts of the windows that are new, changed or gone."""

    def closes_at(self, window: Window) -> int:
        """The `close_ms` from which on `suppress` takes the window for closed."""

    def forgets_at(self, window: Window) -> int:
        """The `close_ms` from which on no record has to do with the window."""


def window_state(windows: Windows | None) -> WindowState:
    """The rules for these windows; None: one aggregate for all time."""
    match windows:
        case None:
            return Unwindowed()
        case TimeWindows():
            return TimeWindowState(windows)
        case SlidingWindows():
            return SlidingState(windows)
        case SessionWindows():
            return SessionState(windows)
        case _:
            raise TypeError(f"no aggregate over {type(windows).__name__}")


def _put(windows: WindowsOfKey, start: int, end: int, add: Add, time_ms: int, changed: set[int]) -> None:
    old = windows.get(start)
    aggregate = add(None if old is None else old.aggregate)
    changed.add(start)
    if aggregate is None:  # as in Kafka Streams, a null aggregate deletes the window
        windows.pop(start, None)
        return
    windows[start] = Window(end, aggregate, time_ms if old is None else max(time_ms, old.timestamp_ms))


class Unwindowed:
    """One aggregate, kept for ever."""

    def add(self, windows: WindowsOfKey, time_ms: int, close_ms: int, add: Add, merge: Merge) -> set[int]:
        changed: set[int] = set()
        _put(windows, 0, 0, add, time_ms, changed)
        return changed

    def closes_at(self, window: Window) -> int:
        return 1 << 62

    def forgets_at(self, window: Window) -> int:
        return 1 << 62


class TimeWindowState:
    """Tumbling and hopping windows: [start, start + size), a start every `advance`."""

    def __init__(self, windows: TimeWindows) -> None:
        self._size, self._advance = windows.size_ms, windows.advance_ms

    def add(self, windows: WindowsOfKey, time_ms: int, close_ms: int, add: Add, merge: Merge) -> set[int]:
        changed: set[int] = set()
        start = max(0, time_ms - self._size + self._advance) // self._advance * self._advance
        while start <= time_ms:
            if start + self._size > close_ms:
                _put(windows, start, start + self._size, add, time_ms, changed)
            start += self._advance
        return changed

    def closes_at(self, window: Window) -> int:
        return window.end_ms

    def forgets_at(self, window: Window) -> int:
        return window.end_ms


class SlidingState:
    """Windows [start, start + difference], both ends within.

    Each record has the window that ends with it (its left one), and, once there are records in it, the one
    that begins one millisecond after it (its right one). A new window begins with the records that the
    windows before it already know to lie in it.
    """

    def __init__(self, windows: SlidingWindows) -> None:
        self._difference = windows.difference_ms

    def add(self, windows: WindowsOfKey, time_ms: int, close_ms: int, add: Add, merge: Merge) -> set[int]:
        difference = self._difference
        changed: set[int] = set()
        if time_ms + 1 + difference <= close_ms:
            return changed

        def put(start: int) -> None:
            if start + difference >= close_ms:
                _put(windows, start, start + difference, add, time_ms, changed)

        # There is no time before 0: all records before the first whole window share the one at 0.
        left_start = max(0, time_ms - difference)
        near = sorted(start for start in windows if time_ms - 2 * difference <= start <= time_ms + 1)
        left: Window | None = None  # the last one that ends before the record
        right: Window | None = None  # the last one that has the record in it
        previous_ms: int | None = None  # the time of the record before, where its right window may be missing
        for start in near:
            window = windows[start]
            if start < left_start:
                left, previous_ms = window, window.timestamp_ms
            elif start == left_start and window.timestamp_ms < time_ms:
                previous_ms = window.timestamp_ms
            elif start <= time_ms:
                right = window
        later = None
        if time_ms + 1 not in windows and right is not None and right.timestamp_ms > time_ms:
            later = right._replace(end_ms=time_ms + 1 + difference, aggregate=copy.deepcopy(right.aggregate))
        if (
            left_start not in windows
            and left is not None
            and left_start <= left.timestamp_ms
            and left_start + difference >= close_ms
        ):
            windows[left_start] = left._replace(
                end_ms=left_start + difference, aggregate=copy.deepcopy(left.aggregate)
            )
        starts = {left_start, *(start for start in near if left_start < start <= time_ms)}
        if (
            previous_ms is not None
            and time_ms <= previous_ms + 1 + difference
            and previous_ms + 1 not in near
        ):
            starts.add(previous_ms + 1)
        for start in sorted(starts):
            put(start)
        if later is not None:
            windows[time_ms + 1] = later
            changed.add(time_ms + 1)
        return changed

    def closes_at(self, window: Window) -> int:
        return window.end_ms + 1  # its end is within: until then a record may still come in

    def forgets_at(self, window: Window) -> int:
        # The earliest record that is taken in is `difference` before the close; its left window may begin
        # with what is in one that begins twice the difference before it.
        return window.end_ms + 2 * self._difference + 1


class SessionState:
    """Sessions: a record joins those within the gap of it, and joins them with each other."""

    def __init__(self, windows: SessionWindows) -> None:
        self._gap = windows.gap_ms

    def add(self, windows: WindowsOfKey, time_ms: int, close_ms: int, add: Add, merge: Merge) -> set[int]:
        met = sorted(
            start
            for start, window in windows.items()
            if start - self._gap <= time_ms <= window.end_ms + self._gap
        )
        start = min([time_ms, *met])
        end = max([time_ms, *(windows[one].end_ms for one in met)])
        if end + self._gap < close_ms:
            return set()
        aggregate: Any = None
        for one in met:
            aggregate = merge(aggregate, windows.pop(one).aggregate)
        aggregate = add(aggregate)
        if aggregate is not None:
            windows[start] = Window(end, aggregate, end)
        return {*met, start}

    def closes_at(self, window: Window) -> int:
        return window.end_ms + self._gap

    def forgets_at(self, window: Window) -> int:
        # A closed session stays as it is, even if a record that is just in time lies within its gap.
        return window.end_ms + self._gap
