"""Numbers for the partitions of all target topics, and the number of each row.

Rows are brought to tasks by these numbers, so that one task alone writes to a partition. A row's partition is
the one that it says itself, else the one that Java's client would choose for its key (murmur2); rows without
either are dealt out in turn. All of it happens column by column.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ottla.client.producing.row_partitions import partitions_of_keys
from ottla.model.types import TopicPartition
from ottla.pipelines.sink.errors import UnwritableRow


@dataclass(frozen=True, slots=True)
class Slots:
    topics: tuple[tuple[str, int, int], ...]
    """Name, number of the first partition, how many partitions."""

    @classmethod
    def of(cls, partition_counts: Mapping[str, int]) -> Slots:
        found = []
        first = 0
        for name in sorted(partition_counts):
            found.append((name, first, partition_counts[name]))
            first += partition_counts[name]
        return cls(tuple(found))

    @property
    def count(self) -> int:
        return self.topics[-1][1] + self.topics[-1][2] if self.topics else 0

    def partitions(self) -> list[TopicPartition]:
        return [TopicPartition(name, i) for name, _, count in self.topics for i in range(count)]

    def of_rows(self, rows: int, keys: Any, partitions: Any, topics: Any, *, turn: int) -> Any:
        """The number of each row, as an Arrow array: from columns, each of which may be missing (None).
        `turn` is where rows without a key begin.
        """
        if topics is None:
            ((name, _, count),) = self.topics
            return self._in_topic(keys, partitions, rows, name, count, turn)
        if topics.null_count:
            raise UnwritableRow("null topic present in the data. Use the topic option for setting a topic.")
        found = pa.nulls(rows, pa.int32())
        for name, first, count in self.topics:
            mask = pc.equal(topics, name)
            if pc.any(mask).as_py():
                chosen = [None if column is None else column.filter(mask) for column in (keys, partitions)]
                own = self._in_topic(chosen[0], chosen[1], pc.sum(mask).as_py(), name, count, turn)
                found = pc.replace_with_mask(found, mask, pc.add(own, pa.scalar(first, pa.int32())))
        if found.null_count:
            missing = topics.filter(pc.is_null(found))[0].as_py()
            raise UnwritableRow(
                f"topic {missing} does not exist, or was not named among the topics of the sink"
            )
        return found

    @staticmethod
    def _in_topic(keys: Any, partitions: Any, rows: int, topic: str, count: int, turn: int) -> Any:
        if keys is None:
            found = pa.array(array("i", [(turn + row) % count for row in range(rows)]), pa.int32())
        else:
            found = pa.array(partitions_of_keys(keys, count, turn), pa.int32())
        if partitions is not None:
            bounds = pc.min_max(partitions).as_py()
            for partition in (bounds["min"], bounds["max"]):
                if partition is not None and not 0 <= partition < count:
                    raise UnwritableRow(
                        f"a row has partition {partition}: topic {topic} has {count} (from 0)"
                    )
            found = pc.coalesce(partitions.cast(pa.int32()), found)
        return found
