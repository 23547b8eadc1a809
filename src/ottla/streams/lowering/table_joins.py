"""Joins of two tables of the same key: inner, left and outer. (By a foreign key: `foreign_keys.py`.)

One processor by key keeps what both tables have of it, with their times. A micro-batch makes one update of
the joined table at most per key, as a cache in Kafka Streams would: the last one. What either side deletes,
or a joiner that returns None, is a tombstone of the joined table, put out only where the key had been
there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ottla.streams.errors import TopologyError
from ottla.streams.lowering import keyed
from ottla.streams.lowering.foreign_keys import ForeignKeyProcessor, in_one_group
from ottla.streams.lowering.joiners import Join, join_of, of_pairs, paired
from ottla.streams.lowering.keyed import Clock, KeyedProcessor, Record
from ottla.streams.lowering.table_states import Entry, TablePair, join_tables

if TYPE_CHECKING:
    from pyspark.sql import Row

    from ottla.streams.lowering.frames import Frame
    from ottla.streams.lowering.query import Lowering
    from ottla.streams.plan import How, TableJoin


def lower(node: TableJoin, inputs: tuple[Frame, ...], context: Lowering) -> Frame:
    left, right = inputs
    types = (left.value_type, right.value_type)
    join = join_of(node.joiner, False, *types)
    processor: KeyedProcessor = TableJoinProcessor(node.name, node.how, join)
    if node.foreign_key is not None:
        if node.how == "outer":
            raise TopologyError(f"{node.name}: a join by a foreign key is inner or left")
        processor = ForeignKeyProcessor(node.name, node.how, node.foreign_key, join)
        inputs = tuple(in_one_group(frame, node.name) for frame in inputs)
    frame = keyed.transform(
        inputs, processor, paired(node, node.joiner, *types), null_values=True, headers=True
    )
    return of_pairs(node, node.joiner, frame)


class TableJoinProcessor(KeyedProcessor):
    def __init__(self, name: str, how: How, join: Join) -> None:
        self._name = name
        self._how = how
        self._join = join

    def on_records(self, key: Any, records: list[Record], clock: Clock) -> list[Row]:
        state = self.load()
        # The state is of plain tuples: it must outlive the names of classes.
        before = TablePair() if state is None else TablePair(Entry(*state[0]), Entry(*state[1]))
        result, after = join_tables(self._how, records, before)
        if after != before:
            empty = after.left.value is None and after.right.value is None
            self.save(None if empty else (tuple(after.left), tuple(after.right)))
        if result is None:
            return []
        value = None
        if not result.tombstone:
            try:
                value = self._join(key, result.left, result.right)
            except Exception as error:
                raise keyed.failed(self._name, result.cause, error) from error
        return [self.shape.row(key, value, result.timestamp_ms, result.cause[keyed.HEADERS])]
