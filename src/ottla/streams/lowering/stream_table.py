"""Joins of a stream with a table: each record with what the table has of its key at that time.

Both sides go to one processor by key; its state is the table's value. Within a micro-batch records are
handled in the order in which Kafka Streams would take them, the table's first where times are equal. The
table's changes alone put nothing out. A null key joins nothing: the record is left out, or (left join,
KIP-962) joins None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ottla.streams.lowering import keyed
from ottla.streams.lowering.joiners import Join, join_of, of_pairs, paired
from ottla.streams.lowering.keyed import Clock, KeyedProcessor, Record
from ottla.streams.lowering.table_states import TABLE_SIDE, join_stream_with_table

if TYPE_CHECKING:
    from pyspark.sql import Row

    from ottla.streams.lowering.frames import Frame
    from ottla.streams.lowering.query import Lowering
    from ottla.streams.plan import StreamTableJoin


def lower(node: StreamTableJoin, inputs: tuple[Frame, ...], context: Lowering) -> Frame:
    stream, table = inputs
    types = (stream.value_type, table.value_type)
    processor = StreamTableProcessor(node.name, node.how, join_of(node.joiner, node.with_key, *types))
    frame = keyed.transform(
        (table, stream),
        processor,
        paired(node, node.joiner, *types),
        null_keys=node.how == "left" and not node.windowed,
        null_values=True,
        headers=True,
    )
    return of_pairs(node, node.joiner, frame)


class StreamTableProcessor(KeyedProcessor):
    def __init__(self, name: str, how: Literal["inner", "left"], join: Join) -> None:
        self._name = name
        self._how = how
        self._join = join

    def on_records(self, key: Any, records: list[Record], clock: Clock) -> list[Row]:
        of_table = key is not None and any(record[keyed.SIDE] == TABLE_SIDE for record in records)
        if key is None:
            records = [record for record in records if record[keyed.SIDE] != TABLE_SIDE]
        table = None if key is None else self.load()
        results, table = join_stream_with_table(self._how, records, table)
        if of_table:
            self.save(table)
        rows = []
        for result in results:
            try:
                value = self._join(key, result.left, result.right)
            except Exception as error:
                raise keyed.failed(self._name, result.cause, error) from error
            rows.append(self.shape.row(key, value, result.timestamp_ms, result.cause[keyed.HEADERS]))
        return rows
