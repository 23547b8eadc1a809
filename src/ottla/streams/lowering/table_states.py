"""What the records of one key do to tables that are joined: pure, without Spark.

A key's records of a micro-batch come in the order that `keyed.py` gives them, as tuples of which time,
side, value and headers count here. A joined pair of which both are None is a tombstone: the joiner is not
asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal, NamedTuple

from ottla.streams.plan import How

Record = tuple[int, int, str | None, int, int, Any, Any]
"""As in `keyed.py`: time in ms, side, topic, partition, offset, value, headers."""

TABLE_SIDE: Final = 0
"""Of a stream-table join: of two records of the same time, the table's comes first."""
LEFT_SIDE: Final = 0
RIGHT_SIDE: Final = 1


class Joined(NamedTuple):
    """A result: the values of both sides for the joiner, and the record that made it."""

    left: Any
    right: Any
    timestamp_ms: int
    cause: Record

    @property
    def tombstone(self) -> bool:
        return self.left is None and self.right is None


def join_stream_with_table(
    how: Literal["inner", "left"], records: Iterable[Record], table: Any
) -> tuple[list[Joined], Any]:
    """The results of a key's records, and what the table has of the key behind them (None: nothing). A null
    value in the stream is no record to join.
    """
    results = []
    for record in records:
        time_ms, side, _, _, _, value, _ = record
        if side == TABLE_SIDE:
            table = value
        elif value is not None and (how == "left" or table is not None):
            results.append(Joined(value, table, time_ms, record))
    return results, table


class Entry(NamedTuple):
    """A table's value of a key, or (None) that it has none, and since when."""

    value: Any
    timestamp_ms: int


ABSENT: Final = Entry(None, -1)


class TablePair(NamedTuple):
    """What both tables have of a key."""

    left: Entry = ABSENT
    right: Entry = ABSENT

    def with_side(self, side: int, entry: Entry) -> TablePair:
        return TablePair(entry, self.right) if side == LEFT_SIDE else TablePair(self.left, entry)

    def sees(self, how: How, side: int) -> bool:
        """Whether the joined table has to do with a change on this side, as the other side is now."""
        if how == "inner":
            return self[1 - side].value is not None
        return how == "outer" or side == LEFT_SIDE or self.left.value is not None

    def matches(self, how: How) -> bool:
        """Whether the joined table has the key."""
        if how == "inner":
            return self.left.value is not None and self.right.value is not None
        if how == "left":
            return self.left.value is not None
        return self.left.value is not None or self.right.value is not None


def join_tables(how: How, records: Iterable[Record], pair: TablePair) -> tuple[Joined | None, TablePair]:
    """The one update of the joined table that a key's records make (None: it has no news), and both tables
    behind them. Its time is the later one of the record that made it and the other side's; a tombstone is
    put out only if the key was there before.
    """
    was_there = pair.matches(how)
    cause: Record | None = None
    for record in records:
        time_ms, side, _, _, _, value, _ = record
        if pair.sees(how, side):
            cause = record
        # The time of what is gone says nothing: the next value of the key begins anew.
        pair = pair.with_side(side, ABSENT if value is None else Entry(value, time_ms))
    if cause is None or not (was_there or pair.matches(how)):
        return None, pair
    timestamp_ms = max(cause[0], pair.left.timestamp_ms, pair.right.timestamp_ms)
    if pair.matches(how):
        return Joined(pair.left.value, pair.right.value, timestamp_ms, cause), pair
    return Joined(None, None, timestamp_ms, cause), pair
