"""`KTable.group_by`: changes of a table as values that leave one group and enter another.

One processor by the table's key keeps its value. A change puts out the old value, taken away from the group
it was in, and then the new one, added to its own; an aggregate behind an internal topic does the sums. A
micro-batch makes one change of a key, from what it was before to what it is in the end. Values come as
struct<value, added>.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ottla.streams import objects
from ottla.streams.lowering import keyed
from ottla.streams.lowering.frames import Frame, spark_type
from ottla.streams.lowering.keyed import Clock, KeyedProcessor, Record
from ottla.streams.plan import OBJECT

if TYPE_CHECKING:
    from pyspark.sql import Row

    from ottla.streams.lowering.query import Lowering
    from ottla.streams.plan import Function, TableGroup


def lower(node: TableGroup, inputs: tuple[Frame, ...], context: Lowering) -> Frame:
    change_type = f"struct<value:{spark_type(node.value_type)},added:boolean>"
    processor = TableGroupProcessor(node.name, node.selector, encoded=node.value_type == OBJECT)
    frame = keyed.transform(
        inputs, processor, replace(node, value_type=change_type), null_values=True, headers=True
    )
    return Frame(df=frame.df, key_type=node.key_type, value_type=node.value_type, windowed=node.windowed)


class TableGroupProcessor(KeyedProcessor):
    def __init__(self, name: str, selector: Function, *, encoded: bool) -> None:
        self._name = name
        self._selector = selector
        self._encoded = encoded

    def on_records(self, key: Any, records: list[Record], clock: Clock) -> list[Row]:
        before = self.load()
        last = records[-1]
        after = last[keyed.VALUE]
        if before is None and after is None:
            return []
        self.save(after)
        rows = []
        for value, added in ((before, False), (after, True)):
            if value is None:
                continue
            try:
                group, selected = self._selector(key, value)
            except Exception as error:
                raise keyed.failed(self._name, last, error) from error
            if group is None or selected is None:
                continue  # as Kafka Streams: it is in no group
            change = {"value": objects.encode(selected) if self._encoded else selected, "added": added}
            rows.append(self.shape.row(group, change, last[keyed.TIME_MS], last[keyed.HEADERS]))
        return rows
