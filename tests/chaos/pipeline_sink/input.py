"""The input of a run, and what has to come of it: computed in plain Python, without Spark.

Record n has the key `k<n mod keys>`, the value n, and lies in partition n mod partitions: so everything about
a range of offsets is known without reading it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa

import ottla

SEND_ROWS = 50_000


class Row(NamedTuple):
    """What the pipeline says of a key after a batch: how many records it had so far, and their sum."""

    batch_id: int
    key: str
    count: int  # type: ignore[assignment]  # tuples have a method of this name, which nobody needs here
    sum: int


@dataclass(frozen=True)
class Input:
    topic: str
    record_count: int
    key_count: int
    partition_count: int

    def load(self, bootstrap: str) -> None:
        with ottla.Admin(bootstrap) as admin:
            admin.create_topics([ottla.NewTopic(self.topic, self.partition_count)]).all()
        with ottla.Producer(bootstrap) as producer:
            for first in range(0, self.record_count, SEND_ROWS):
                numbers = range(first, min(first + SEND_ROWS, self.record_count))
                table = pa.table(
                    {
                        "key": [f"k{n % self.key_count}" for n in numbers],
                        "value": [str(n) for n in numbers],
                        "partition": pa.array([n % self.partition_count for n in numbers], pa.int32()),
                    }
                )
                producer.send_batch(self.topic, table).result(60)

    def numbers(self, partition: int, start: int, end: int) -> Iterator[int]:
        return iter(
            range(
                partition + start * self.partition_count,
                partition + end * self.partition_count,
                self.partition_count,
            )
        )

    def expected(self, ends: Mapping[int, Mapping[int, int]]) -> list[Row]:
        """All rows of a running count by key, for batches that read up to these offsets by partition."""
        counts: dict[str, int] = {}
        sums: dict[str, int] = {}
        rows = []
        before: Mapping[int, int] = {}
        for batch_id in sorted(ends):
            touched = set()
            for partition, end in ends[batch_id].items():
                for number in self.numbers(partition, before.get(partition, 0), end):
                    key = f"k{number % self.key_count}"
                    counts[key] = counts.get(key, 0) + 1
                    sums[key] = sums.get(key, 0) + number
                    touched.add(key)
            rows += [Row(batch_id, key, counts[key], sums[key]) for key in touched]
            before = {**before, **ends[batch_id]}
        return rows
