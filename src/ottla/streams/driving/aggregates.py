"""Aggregates in the test driver: without windows, in time windows, sliding windows and sessions, and of
tables.

Each keeps the highest timestamp that it has seen; a window is closed when that has passed its end by the
grace. The records of a closed window are dropped, and with `emit_final` closing is what sends the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ottla.streams.driving.operators import Change, Clock, Item, Operator, identity
from ottla.streams.folds import Fold
from ottla.streams.plan import Aggregate
from ottla.streams.windows import SessionWindows, SlidingWindows, TimeWindows, Windowed


@dataclass(slots=True)
class Stored:
    """An aggregate and the highest timestamp of its records."""

    state: Any
    timestamp_ms: int


class AggregateOperator(Operator):
    """Without windows."""

    def __init__(self, node: Aggregate, clock: Clock) -> None:
        super().__init__(node, clock)
        self.aggregate = node
        self.folds = [Fold(aggregation, copying=True) for aggregation in node.aggregations]
        self.stored: dict[bytes, Stored] = {}

    def receive(self, side: int, item: Item) -> None:
        if item.key is None or item.value is None:
            return
        fold, place = self.folds[side], identity(item.key)
        old = self.stored.get(place)
        state = None if old is None else old.state
        time_ms = item.timestamp_ms if old is None else max(item.timestamp_ms, old.timestamp_ms)
        state = self.call(fold.add, item.key, item.value, state, item.timestamp_ms)
        self.put(fold, place, item, Stored(state, time_ms))

    def put(self, fold: Fold, place: bytes, item: Item, new: Stored) -> None:
        value = None if new.state is None else self.call(fold.result, item.key, new.state)
        if new.state is None:
            self.stored.pop(place, None)
        else:
            self.stored[place] = new
        self.forward(item.but(value=value, timestamp_ms=new.timestamp_ms))


class TableAggregateOperator(AggregateOperator):
    """Of a grouped table: the old value leaves before the new one comes."""

    def receive(self, side: int, item: Item) -> None:
        change: Change = item.value
        fold, place = self.folds[0], identity(item.key)
        old = self.stored.get(place)
        state = None if old is None else old.state
        if change.old is not None:
            state = self.call(fold.subtract, item.key, change.old, state, item.timestamp_ms)
        if change.new is not None:
            state = self.call(fold.add, item.key, change.new, state, item.timestamp_ms)
        time_ms = item.timestamp_ms if old is None else max(item.timestamp_ms, old.timestamp_ms)
        self.put(fold, place, item, Stored(state, time_ms))


class WindowOperator(Operator):
    """What all kinds of windows share: the time, and results that wait for their window to close."""

    def __init__(self, node: Aggregate, clock: Clock) -> None:
        super().__init__(node, clock)
        self.aggregate = node
        self.folds = [Fold(aggregation, copying=True) for aggregation in node.aggregations]
        self.observed_ms = -1
        self.waiting: dict[tuple[bytes, int], Item] = {}
        """With `emit_final`: the newest result of each window that is still open."""

    def update(self, item: Item, window: tuple[int, int], value: Any, timestamp_ms: int) -> None:
        """The window of the item's key has a new value."""
        key = Windowed(item.key, *window)
        result = Item(key, value, timestamp_ms, item.headers)
        if not self.aggregate.emit_final:
            self.forward(result)
        elif value is None:
            self.waiting.pop((identity(item.key), window[0]), None)
        else:
            self.waiting[identity(item.key), window[0]] = result

    def close(self, before_ms: int) -> None:
        """Sends the results of windows that end before that time."""
        closed = [place for place, item in self.waiting.items() if item.key.end_ms < before_ms]
        for place in sorted(closed, key=lambda place: (self.waiting[place].key.end_ms, place)):
            self.forward(self.waiting.pop(place))


class TimeWindowOperator(WindowOperator):
    """Tumbling and hopping: a window is from its start up to, but without, its end."""

    def __init__(self, node: Aggregate, clock: Clock) -> None:
        super().__init__(node, clock)
        assert isinstance(node.windows, TimeWindows)
        self.windows = node.windows
        self.stored: dict[tuple[bytes, int], Stored] = {}

    def receive(self, side: int, item: Item) -> None:
        if item.key is None or item.value is None:
            return
        time_ms = item.timestamp_ms
        self.observed_ms = max(self.observed_ms, time_ms)
        close_ms = self.observed_ms - self.windows.grace_ms
        fold = self.folds[side]
        for start_ms in self.windows.starts_for(time_ms):
            end_ms = start_ms + self.windows.size_ms
            if end_ms <= close_ms:
                continue
            place = (identity(item.key), start_ms)
            old = self.stored.get(place)
            state = None if old is None else old.state
            state = self.call(fold.add, item.key, item.value, state, time_ms)
            new_ms = time_ms if old is None else max(time_ms, old.timestamp_ms)
            if state is None:
                self.stored.pop(place, None)
            else:
                self.stored[place] = Stored(state, new_ms)
            value = None if state is None else self.call(fold.result, item.key, state)
            self.update(item, (start_ms, end_ms), value, new_ms)
        self.close(close_ms + 1)


class SessionOperator(WindowOperator):
    """Sessions: a record joins all that are no further away than the gap, and makes one of them."""

    def __init__(self, node: Aggregate, clock: Clock) -> None:
        super().__init__(node, clock)
        assert isinstance(node.windows, SessionWindows)
        self.windows = node.windows
        self.sessions: dict[bytes, dict[tuple[int, int], Any]] = {}
        self.latest_end_ms = -1

    def receive(self, side: int, item: Item) -> None:
        if item.key is None or item.value is None:
            return
        time_ms, gap_ms, fold = item.timestamp_ms, self.windows.gap_ms, self.folds[side]
        self.observed_ms = max(self.observed_ms, time_ms)
        close_ms = self.observed_ms - self.windows.grace_ms - gap_ms
        sessions = self.sessions.setdefault(identity(item.key), {})
        # what is closed has left the store: a record that is just in time does not join it any more
        alive_ms = max(time_ms - gap_ms, self.latest_end_ms - self.windows.grace_ms - gap_ms + 1)
        met = sorted(
            (session for session in sessions if session[1] >= alive_ms and session[0] <= time_ms + gap_ms),
            key=lambda session: (session[1], session[0]),
        )
        state = None
        start_ms = end_ms = time_ms
        for session in met:
            state = self.call(fold.merge, item.key, state, sessions[session])
            start_ms, end_ms = min(start_ms, session[0]), max(end_ms, session[1])
        if end_ms >= close_ms:
            if (start_ms, end_ms) != (time_ms, time_ms):
                for session in met:
                    del sessions[session]
                    self.update(item, session, None, session[1])
            state = self.call(fold.add, item.key, item.value, state, time_ms)
            if state is None:
                sessions.pop((start_ms, end_ms), None)
            else:
                sessions[start_ms, end_ms] = state
                self.latest_end_ms = max(self.latest_end_ms, end_ms)
            value = None if state is None else self.call(fold.result, item.key, state)
            self.update(item, (start_ms, end_ms), value, end_ms)
        self.close(close_ms)


class SlidingOperator(WindowOperator):
    """Sliding: windows exist where their contents change, at [time - difference, time] of each record and
    behind each record at [time + 1, time + 1 + difference], where that one is not empty.
    """

    def __init__(self, node: Aggregate, clock: Clock) -> None:
        super().__init__(node, clock)
        assert isinstance(node.windows, SlidingWindows)
        self.windows = node.windows
        self.retention_ms = 2 * node.windows.difference_ms + node.windows.grace_ms
        self.latest_start_ms = -1
        self.stored: dict[bytes, dict[int, Stored]] = {}

    def receive(self, side: int, item: Item) -> None:
        if item.key is None or item.value is None:
            return
        time_ms, size_ms = item.timestamp_ms, self.windows.difference_ms
        self.observed_ms = max(self.observed_ms, time_ms)
        close_ms = self.observed_ms - self.windows.grace_ms
        if time_ms + size_ms < close_ms:
            return
        work = _Sliding(self, self.folds[side], item, close_ms)
        if time_ms < size_ms:
            work.early()
        else:
            work.usual()
        self.close(close_ms)


class _Sliding:
    """One record's way through the windows of its key."""

    def __init__(self, operator: SlidingOperator, fold: Fold, item: Item, close_ms: int) -> None:
        self.operator = operator
        self.fold = fold
        self.item = item
        self.time_ms = item.timestamp_ms
        self.size_ms = operator.windows.difference_ms
        self.close_ms = close_ms
        stored = operator.stored.setdefault(identity(item.key), {})
        for start_ms in [
            start for start in stored if start <= operator.latest_start_ms - operator.retention_ms
        ]:
            del stored[start_ms]  # no window that is still open needs them
        self.stored = stored

    def usual(self) -> None:
        time_ms, size_ms = self.time_ms, self.size_ms
        near = [start for start in self.stored if max(0, time_ms - 2 * size_ms) <= start <= time_ms + 1]
        before: Stored | None = None
        behind: Stored | None = None
        left_is_there = right_is_there = False
        previous_ms: int | None = None
        seen: set[int] = set()
        for start_ms in sorted(near, reverse=True):
            seen.add(start_ms)
            found = self.stored[start_ms]
            end_ms = start_ms + size_ms
            if start_ms == time_ms + 1:
                right_is_there = True
            elif end_ms > time_ms:
                behind = behind or found
                self.add_to(start_ms, found)
            elif end_ms == time_ms:
                left_is_there = True
                self.add_to(start_ms, found)
                if found.timestamp_ms >= time_ms:
                    return  # a record of this very time was here: all windows exist
                previous_ms = found.timestamp_ms
            else:
                before, previous_ms = found, found.timestamp_ms
                break
        if previous_ms is not None and previous_ms + 1 not in seen and previous_ms + 1 + size_ms >= time_ms:
            self.add_to(previous_ms + 1, None)
        if not left_is_there:
            inside = previous_ms is not None and time_ms - size_ms <= previous_ms
            self.add_to(time_ms - size_ms, before if inside else None)
        if not right_is_there:
            self.make_right(behind)

    def early(self) -> None:
        """Before the first whole window: one window from 0 stands for all that would begin below it."""
        time_ms = self.time_ms
        whole = self.stored.get(0)
        behind: Stored | None = None
        right_is_there = False
        previous_ms = None if whole is None or whole.timestamp_ms >= time_ms else whole.timestamp_ms
        seen = {start for start in self.stored if start <= time_ms + 1}
        for start_ms in sorted(seen - {0}):
            if start_ms == time_ms + 1:
                right_is_there = True
            else:
                behind = self.stored[start_ms]
                self.add_to(start_ms, behind)
        if behind is None and whole is not None and whole.timestamp_ms > time_ms:
            behind = whole
        if not right_is_there:
            self.make_right(behind)
        if previous_ms is not None and previous_ms + 1 not in seen:
            self.add_to(previous_ms + 1, None)
        self.add_to(0, whole)

    def add_to(self, start_ms: int, found: Stored | None) -> None:
        """The record comes into the window, which has what was found, or begins."""
        end_ms = start_ms + self.size_ms
        if end_ms < self.close_ms:
            return
        operator, fold, item = self.operator, self.fold, self.item
        state = None if found is None else found.state
        new_ms = self.time_ms if found is None else max(self.time_ms, found.timestamp_ms)
        state = operator.call(fold.add, item.key, item.value, state, self.time_ms)
        self.put(start_ms, Stored(state, new_ms))

    def make_right(self, behind: Stored | None) -> None:
        """The window behind the record, of what is in there already."""
        if behind is not None and behind.timestamp_ms > self.time_ms:
            self.put(self.time_ms + 1, Stored(behind.state, behind.timestamp_ms))

    def put(self, start_ms: int, new: Stored) -> None:
        value = None
        if new.state is None:
            self.stored.pop(start_ms, None)
        else:
            if start_ms > self.operator.latest_start_ms - self.operator.retention_ms:
                self.stored[start_ms] = new
            self.operator.latest_start_ms = max(self.operator.latest_start_ms, start_ms)
            value = self.operator.call(self.fold.result, self.item.key, new.state)
        self.operator.update(self.item, (start_ms, start_ms + self.size_ms), value, new.timestamp_ms)


def aggregate_operator(node: Aggregate, clock: Clock) -> Operator:
    match node.windows:
        case TimeWindows():
            return TimeWindowOperator(node, clock)
        case SlidingWindows():
            return SlidingOperator(node, clock)
        case SessionWindows():
            return SessionOperator(node, clock)
    return TableAggregateOperator(node, clock) if node.of_table else AggregateOperator(node, clock)
