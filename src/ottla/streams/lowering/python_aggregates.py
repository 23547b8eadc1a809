"""Aggregates in Python on transformWithState: reduce, aggregate, cogroup, sessions, sliding windows.

A key's state is all its windows (`window_states.py`). In a micro-batch all its records are taken in, in
order, and each window that changed comes out once, with its last aggregate; a session that was merged into
another, and a window whose aggregate became null, as a tombstone. A timer at the end of the earliest
window's grace removes what is closed; with `emit_final`, that is when results come out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ottla.streams.errors import RecordError
from ottla.streams.folds import Fold, copied
from ottla.streams.lowering import keyed
from ottla.streams.lowering.frames import Frame
from ottla.streams.lowering.window_states import Window, WindowsOfKey, window_state
from ottla.streams.plan import Aggregate
from ottla.streams.windows import SlidingWindows, TimeWindows, Windowed, Windows

if TYPE_CHECKING:
    from pyspark.sql import Row as SparkRow

    from ottla.streams.lowering.query import Lowering


def lower(node: Aggregate, inputs: tuple[Frame, ...], context: Lowering) -> Frame:
    from ottla.streams.lowering.aggregates import GRACE_MS_MAX

    watermark_ms = None if node.windows is None else min(node.windows.grace_ms, GRACE_MS_MAX)
    return keyed.transform(inputs, processor_of(node), node, watermark_ms=watermark_ms)


def processor_of(node: Aggregate) -> AggregateProcessor:
    folds = tuple(Fold(each) for each in node.aggregations)
    return AggregateProcessor(node.name, folds, node.windows, node.of_table, node.emit_final)


def overlapping(windows: Windows | None) -> bool:
    """Whether a record is in several windows, so that what is made of it in one must not be seen in
    another.
    """
    return isinstance(windows, SlidingWindows) or (
        isinstance(windows, TimeWindows) and windows.advance_ms < windows.size_ms
    )


def _as_it_is(value: Any) -> Any:
    return value


class KeyState:
    """All that is kept of a key."""

    def __init__(self, windows: WindowsOfKey, timer_ms: int | None, told: set[int]) -> None:
        self.windows = windows
        self.timer_ms = timer_ms
        """The earliest timer that is set."""
        self.told = told
        """With `emit_final`: the windows whose result has come out."""

    @classmethod
    def of(cls, kept: Any) -> KeyState:
        if kept is None:
            return cls({}, None, set())
        windows, timer_ms, told = kept
        return cls({start: Window(*window) for start, window in windows.items()}, timer_ms, set(told))

    @property
    def kept(self) -> Any:
        """As plain values, which are small when they are pickled; None when there is nothing to keep."""
        if not self.windows and self.timer_ms is None:
            return None
        windows = {start: tuple(window) for start, window in self.windows.items()}
        return windows, self.timer_ms, list(self.told)


class AggregateProcessor(keyed.KeyedProcessor):
    """The windows of each key; see the module."""

    def __init__(
        self, name: str, folds: tuple[Fold, ...], windows: Windows | None, of_table: bool, emit_final: bool
    ) -> None:
        self._name = name
        self._folds = folds
        self._windowed = windows is not None
        self._overlapping = overlapping(windows)
        self._of_table = of_table
        self._emit_final = emit_final
        self._rules = window_state(windows)

    def on_records(self, key: Any, records: list[keyed.Record], clock: keyed.Clock) -> Iterable[SparkRow]:
        state = KeyState.of(self.load())
        yield from self._close(key, state, clock.watermark_ms)
        before = dict(state.windows)
        changed: set[int] = set()
        for record in records:
            changed |= self._take(key, record, state.windows, clock.watermark_ms)
        state.told -= changed  # a session that was closed may still be taken up by a later one
        self._keep(state, clock.watermark_ms)
        if self._emit_final:
            return
        for start in sorted(changed):
            old, new = before.get(start), state.windows.get(start)
            if old is not None and (new is None or new.end_ms != old.end_ms):
                yield self._row(key, start, old, None)
            if new is not None:
                yield self._row(key, start, new, self._folds[0].result(key, new.aggregate))

    def _take(self, key: Any, record: keyed.Record, windows: WindowsOfKey, close_ms: int) -> set[int]:
        fold = self._folds[record[keyed.SIDE]]
        value = record[keyed.VALUE]
        change = fold.add
        if self._of_table:
            value, added = value
            change = fold.add if added else fold.subtract
        own = copied if self._overlapping else _as_it_is
        try:
            return self._rules.add(
                windows,
                record[keyed.TIME_MS],
                close_ms,
                lambda aggregate: change(key, own(value), aggregate, record[keyed.TIME_MS]),
                lambda one, two: fold.merge(key, one, two),
            )
        except RecordError:
            raise
        except Exception as error:
            raise keyed.failed(self._name, record, error) from error

    def _keep(self, state: KeyState, now_ms: int) -> None:
        if self._windowed and state.windows:
            # What was just in time for a window that closes now is looked at when time goes on.
            earliest_ms = max(now_ms + 1, min(self._next_ms(state, start) for start in state.windows))
            if state.timer_ms is None or earliest_ms < state.timer_ms:
                state.timer_ms = earliest_ms
                self.set_timer(earliest_ms)
        self.save(state.kept)

    def _next_ms(self, state: KeyState, start: int) -> int:
        """When something has to be done about a window."""
        window = state.windows[start]
        if self._emit_final and start not in state.told:
            return self._rules.closes_at(window)
        return self._rules.forgets_at(window)

    def on_timer(self, key: Any, time_ms: int, clock: keyed.Clock) -> Iterable[SparkRow]:
        state = KeyState.of(self.load())
        yield from self._close(key, state, max(clock.watermark_ms, time_ms))
        # This may not be the last timer that was set: one that comes later then finds nothing to do.
        if state.timer_ms is not None and state.timer_ms <= time_ms:
            state.timer_ms = None
        self._keep(state, clock.watermark_ms)

    def _close(self, key: Any, state: KeyState, close_ms: int) -> Iterable[SparkRow]:
        """Tells the results of windows that are closed, where that is asked for, and forgets old ones."""
        for start in sorted(state.windows):
            window = state.windows[start]
            if self._emit_final and start not in state.told and self._rules.closes_at(window) <= close_ms:
                state.told.add(start)
                yield self._row(key, start, window, self._folds[0].result(key, window.aggregate))
            if self._rules.forgets_at(window) <= close_ms:
                del state.windows[start]
                state.told.discard(start)

    def _row(self, key: Any, start_ms: int, window: Window, value: Any) -> SparkRow:
        out = Windowed(key, start_ms, window.end_ms) if self._windowed else key
        return self.shape.row(out, value, window.timestamp_ms)
