"""Joins of two tables by a foreign key: rows of the left table name the row of the right that they belong to.

Kafka Streams sends subscriptions and answers between the two tables' tasks, and has to find out which
answers are out of date. Here one processor has both tables whole, with the left keys that each right key
has, and sees all changes in their order: nothing can be out of date. The price is that this one step is one
task, whatever the number of partitions.

A micro-batch makes one update of a left key at most. A left row without a foreign key, or whose right row is
missing, is left out, or (left join) joins None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ottla.streams import objects
from ottla.streams.fused import FusedStep
from ottla.streams.lowering import keyed
from ottla.streams.lowering.chains import chain_of
from ottla.streams.lowering.frames import Frame
from ottla.streams.lowering.keyed import Clock, KeyedProcessor, Record
from ottla.streams.lowering.process_stores import NAME_SCHEMA, SCHEMA, MapStateStore
from ottla.streams.lowering.table_states import LEFT_SIDE
from ottla.streams.plan import OBJECT, Step

if TYPE_CHECKING:
    from pyspark.sql import Row
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

    from ottla.streams.lowering.joiners import Join
    from ottla.streams.plan import Function

_ONE_GROUP = 0


def _as_pair(key: Any, value: Any) -> tuple[int, tuple[Any, Any]]:
    return _ONE_GROUP, (key, value)


def in_one_group(frame: Frame, name: str) -> Frame:
    """The frame's records as (key, value) pairs of a single group."""
    step = FusedStep(name, Step.MAP, (_as_pair,), with_key=True, table=False)
    return Frame(
        chain=chain_of(frame).then(step),
        key_type="int",
        value_type=OBJECT,
        windowed=False,
        origin=frame.origin,
    )


class _Touched(NamedTuple):
    key: Any
    was_there: bool
    """Whether the joined table had the key before this micro-batch."""
    cause: Record


class ForeignKeyProcessor(KeyedProcessor):
    def __init__(self, name: str, how: Literal["inner", "left"], foreign_key: Function, join: Join) -> None:
        self._name = name
        self._how = how
        self._foreign_key = foreign_key
        self._join = join

    def init(self, handle: StatefulProcessorHandle) -> None:
        def store(name: str) -> MapStateStore:
            return MapStateStore(handle.getMapState(name, NAME_SCHEMA, SCHEMA))

        self._lefts = store("lefts")
        """Left key: (value, time, foreign key)."""
        self._rights = store("rights")
        """Right key: (value, time)."""
        self._members = store("members")
        """Right key: the left keys that name it, in a list."""

    def on_records(self, key: Any, records: list[Record], clock: Clock) -> list[Row]:
        touched: dict[bytes, _Touched] = {}
        for record in records:
            own_key, value = record[keyed.VALUE]
            if own_key is None:
                continue
            try:
                if record[keyed.SIDE] == LEFT_SIDE:
                    self._touch(touched, own_key, record)
                    self._change_left(own_key, value, record[keyed.TIME_MS])
                else:
                    for member in self._members.get(own_key) or ():
                        self._touch(touched, member, record)
                    self._rights.put(own_key, None if value is None else (value, record[keyed.TIME_MS]))
            except Exception as error:
                raise keyed.failed(self._name, record, error) from error
        rows = [row for each in touched.values() if (row := self._row(each)) is not None]
        for store in (self._lefts, self._rights, self._members):
            store.end_turn()
        return rows

    def _touch(self, touched: dict[bytes, _Touched], key: Any, cause: Record) -> None:
        encoded = objects.encode_key(key)
        before = touched.get(encoded)
        was_there = self._pair(key) is not None if before is None else before.was_there
        touched[encoded] = _Touched(key, was_there, cause)

    def _change_left(self, key: Any, value: Any, time_ms: int) -> None:
        old = self._lefts.get(key)
        foreign = None if value is None else self._foreign_key(value)
        if old is not None and old[2] is not None:
            self._members.put(
                old[2], [member for member in self._members.get(old[2]) if member != key] or None
            )
        if foreign is not None:
            self._members.put(foreign, [*(self._members.get(foreign) or ()), key])
        self._lefts.put(key, None if value is None else (value, time_ms, foreign))

    def _pair(self, key: Any) -> tuple[Any, Any, int] | None:
        """Both values and the later time, or that the joined table does not have the key."""
        left = self._lefts.get(key)
        if left is None:
            return None
        value, time_ms, foreign = left
        right = None if foreign is None else self._rights.get(foreign)
        if right is None:
            return None if self._how == "inner" else (value, None, time_ms)
        return value, right[0], max(time_ms, right[1])

    def _row(self, touched: _Touched) -> Row | None:
        pair = self._pair(touched.key)
        headers = touched.cause[keyed.HEADERS]
        if pair is None:
            time_ms = touched.cause[keyed.TIME_MS]
            return self.shape.row(touched.key, None, time_ms, headers) if touched.was_there else None
        left, right, time_ms = pair
        if touched.cause[keyed.SIDE] != LEFT_SIDE:
            time_ms = touched.cause[
                keyed.TIME_MS
            ]  # Kafka Streams takes the right row's time, not the later one
        try:
            value = self._join(touched.key, left, right)
        except Exception as error:
            raise keyed.failed(self._name, touched.cause, error) from error
        return self.shape.row(touched.key, value, time_ms, headers)
