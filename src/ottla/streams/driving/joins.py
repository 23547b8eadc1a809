"""Joins in the test driver: stream with stream, stream with table, table with table.

The rules are those of Kafka Streams. Of two streams, both sides are kept for as long as a partner may come;
a record of a left or outer join that found none is sent alone when its window has closed (KIP-633), and one
without a key at once (KIP-962). Tables join by what they have at that moment.
"""

from __future__ import annotations

from typing import Any, Final

from ottla.streams.driving.operators import Clock, Item, Operator, identity, joined
from ottla.streams.plan import StreamJoin, StreamTableJoin, TableJoin

_LEFT: Final = 0
_RIGHT: Final = 1


class StreamJoinOperator(Operator):
    def __init__(self, node: StreamJoin, clock: Clock) -> None:
        super().__init__(node, clock)
        self.join = node
        windows = node.windows
        self.reach_ms = ((windows.before_ms, windows.after_ms), (windows.after_ms, windows.before_ms))
        """For each side: how far before and behind its records a partner may be."""
        self.retention_ms = windows.before_ms + windows.after_ms + windows.grace_ms
        self.observed_ms = -1
        self.side_observed_ms = [-1, -1]
        self.kept: tuple[dict[bytes, list[Item]], dict[bytes, list[Item]]] = ({}, {})
        self.alone: dict[tuple[int, int, bytes], list[Item]] = {}
        """Records without a partner so far, by (time, 1 for the left side, key): the order in which they
        are sent.
        """

    def waits(self, side: int) -> bool:
        """Whether records of this side are sent alone, too."""
        return self.join.how == "outer" or (self.join.how == "left" and side == _LEFT)

    def receive(self, side: int, item: Item) -> None:
        time_ms = item.timestamp_ms
        self.observed_ms = max(self.observed_ms, time_ms)
        if item.key is not None:
            self.side_observed_ms[side] = max(self.side_observed_ms[side], time_ms)
        if item.value is None:
            return
        if item.key is None:
            if self.waits(side):
                self.send(side, item, None, time_ms)
            return
        place = identity(item.key)
        self.keep(side, place, item)
        if time_ms == self.observed_ms:
            self.send_closed()
        before_ms, after_ms = self.reach_ms[side]
        partners = self.partners(1 - side, place, max(0, time_ms - before_ms), max(0, time_ms + after_ms))
        for partner in partners:
            self.alone.pop((partner.timestamp_ms, int(1 - side == _LEFT), place), None)
            self.send(side, item, partner, max(time_ms, partner.timestamp_ms))
        if not partners and self.waits(side):
            if max(0, time_ms + after_ms) < self.observed_ms:
                self.send(side, item, None, time_ms)  # its window has passed already
            else:
                self.alone.setdefault((time_ms, int(side == _LEFT), place), []).append(item)

    def keep(self, side: int, place: bytes, item: Item) -> None:
        """Into this side's store, unless the store's time has left it behind."""
        if item.timestamp_ms > self.side_observed_ms[side] - self.retention_ms:
            self.kept[side].setdefault(place, []).append(item)

    def partners(self, side: int, place: bytes, from_ms: int, to_ms: int) -> list[Item]:
        from_ms = max(from_ms, self.side_observed_ms[side] - self.retention_ms + 1)
        found = [item for item in self.kept[side].get(place, ()) if from_ms <= item.timestamp_ms <= to_ms]
        return sorted(found, key=lambda item: item.timestamp_ms)

    def send_closed(self) -> None:
        windows = self.join.windows
        for place in sorted(self.alone):
            time_ms, is_left, _ = place
            reach_ms = windows.after_ms if is_left else windows.before_ms
            if time_ms + reach_ms + windows.grace_ms < self.observed_ms:
                for item in self.alone.pop(place):
                    self.send(_LEFT if is_left else _RIGHT, item, None, time_ms)

    def send(self, side: int, item: Item, partner: Item | None, time_ms: int) -> None:
        other = None if partner is None else partner.value
        left, right = (item.value, other) if side == _LEFT else (other, item.value)
        value = joined(self, self.join.joiner, self.join.with_key, item.key, left, right, time_ms)
        self.forward(item.but(value=value, timestamp_ms=time_ms))


class StreamTableJoinOperator(Operator):
    """Only records of the stream make results."""

    def __init__(self, node: StreamTableJoin, clock: Clock) -> None:
        super().__init__(node, clock)
        self.join = node
        self.rows: dict[bytes, Any] = {}

    def receive(self, side: int, item: Item) -> None:
        if side == _RIGHT:
            if item.key is not None:
                self.rows[identity(item.key)] = item.value
            return
        left_join = self.join.how == "left"
        if item.value is None or (item.key is None and not left_join):
            return
        found = None if item.key is None else self.rows.get(identity(item.key))
        if found is not None or left_join:
            value = joined(
                self, self.join.joiner, self.join.with_key, item.key, item.value, found, item.timestamp_ms
            )
            self.forward(item.but(value=value))


class TableJoinOperator(Operator):
    """Two tables of the same key."""

    def __init__(self, node: TableJoin, clock: Clock) -> None:
        super().__init__(node, clock)
        self.join = node
        self.rows: tuple[dict[bytes, Item], dict[bytes, Item]] = ({}, {})

    def receive(self, side: int, item: Item) -> None:
        if item.key is None:
            return
        place = identity(item.key)
        old = self.rows[side].pop(place, None)
        if item.value is not None:
            self.rows[side][place] = item
        other = self.rows[1 - side].get(place)
        how = self.join.how
        this_alone = how == "outer" or (how == "left" and side == _LEFT)
        other_alone = how == "outer" or (how == "left" and side == _RIGHT)
        if other is None and (not this_alone or (item.value is None and old is None)):
            return  # there was no result and there is none
        value = None
        if (other is not None or item.value is not None) and (item.value is not None or other_alone):
            values = (item.value, None if other is None else other.value)
            left, right = values if side == _LEFT else values[::-1]
            value = joined(self, self.join.joiner, False, item.key, left, right, item.timestamp_ms)
        time_ms = item.timestamp_ms if other is None else max(item.timestamp_ms, other.timestamp_ms)
        self.forward(item.but(value=value, timestamp_ms=time_ms))


class ForeignKeyJoinOperator(Operator):
    """A table with the rows of another that its values name. A deletion is only sent where there was a
    result.
    """

    def __init__(self, node: TableJoin, clock: Clock) -> None:
        super().__init__(node, clock)
        self.join = node
        self.left: dict[bytes, tuple[Item, bytes | None]] = {}
        self.right: dict[bytes, Item] = {}

    def receive(self, side: int, item: Item) -> None:
        if item.key is None:
            return
        place = identity(item.key)
        if side == _RIGHT:
            if item.value is None:
                self.right.pop(place, None)
            else:
                self.right[place] = item
            for _, (row, wanted) in sorted(self.left.items()):
                if wanted == place:
                    self.send(row, item, item.timestamp_ms)
            return
        assert self.join.foreign_key is not None
        before = self.left.pop(place, None)
        if item.value is None:
            if before is not None:
                self.send(item, None, item.timestamp_ms)
            return
        foreign = self.call(self.join.foreign_key, item.value)
        wanted = None if foreign is None else identity(foreign)
        self.left[place] = (item, wanted)
        other = None if wanted is None else self.right.get(wanted)
        moved = before is not None and before[1] != wanted
        if other is not None or moved or self.join.how == "left":
            time_ms = item.timestamp_ms if other is None else max(item.timestamp_ms, other.timestamp_ms)
            self.send(item, other, time_ms)

    def send(self, row: Item, other: Item | None, time_ms: int) -> None:
        partner = None if other is None else other.value
        value = None
        if row.value is not None and (partner is not None or self.join.how == "left"):
            value = joined(self, self.join.joiner, False, row.key, row.value, partner, row.timestamp_ms)
        self.forward(row.but(value=value, timestamp_ms=time_ms))
