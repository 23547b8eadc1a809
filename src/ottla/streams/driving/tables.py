"""Tables in the test driver: grouped by another key, and with updates held back for a time."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.streams.driving.operators import Change, Clock, Item, Operator, identity
from ottla.streams.plan import SuppressTime, TableGroup


class TableGroupOperator(Operator):
    """Sends the old value to the group that it was in and the new one to its own; to the same group, both
    at once.
    """

    def __init__(self, node: TableGroup, clock: Clock) -> None:
        super().__init__(node, clock)
        self.group = node
        self.rows: dict[bytes, Item] = {}

    def receive(self, side: int, item: Item) -> None:
        if item.key is None:
            return
        place = identity(item.key)
        before = self.rows.pop(place, None)
        if item.value is not None:
            self.rows[place] = item
        old = None if before is None else self.selected(before)
        new = None if item.value is None else self.selected(item)
        if old is not None and new is not None and identity(old.key) == identity(new.key):
            self.forward(new.but(value=Change(new.value, old.value)))
            return
        if old is not None:
            self.forward(old.but(value=Change(None, old.value), timestamp_ms=item.timestamp_ms))
        if new is not None:
            self.forward(new.but(value=Change(new.value, None)))

    def selected(self, item: Item) -> Item | None:
        key, value = self.call(self.group.selector, item.key, item.value)
        return None if key is None or value is None else item.but(key=key, value=value)


@dataclass(slots=True)
class _Held:
    since_ms: int
    newest: Item


class SuppressOperator(Operator):
    """The first update of a key starts its time; when that is over, the newest one is sent."""

    def __init__(self, node: SuppressTime, clock: Clock) -> None:
        super().__init__(node, clock)
        self.wait_ms = node.wait_ms
        self.observed_ms = -1
        self.held: dict[bytes, _Held] = {}

    def receive(self, side: int, item: Item) -> None:
        if item.key is None:
            return
        self.observed_ms = max(self.observed_ms, item.timestamp_ms)
        place = identity(item.key)
        since_ms = self.held[place].since_ms if place in self.held else item.timestamp_ms
        self.held[place] = _Held(since_ms, item)
        due = [place for place, held in self.held.items() if held.since_ms <= self.observed_ms - self.wait_ms]
        for place in sorted(due, key=lambda place: (self.held[place].since_ms, place)):
            self.forward(self.held.pop(place).newest)
