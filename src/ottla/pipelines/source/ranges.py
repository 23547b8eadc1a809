"""Ranges of offsets: how much a trigger takes from each partition, and how a batch is cut into tasks.

The arithmetic is that of Spark's Kafka connector. A limit for a trigger is spread over the partitions in
proportion to what waits in them, so that none starves. One task reads one partition; where more tasks are
wanted (`minPartitions`, `maxRecordsPerPartition`), large ranges are cut and small ones left whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ottla.model.types import NO_TOPIC_ID, TopicPartition


@dataclass(frozen=True, slots=True, order=True)
class OffsetRange:
    """Offsets from `start` to before `end` of a partition; how many records that is, only reading tells."""

    tp: TopicPartition
    start: int
    end: int
    topic_id: bytes = field(default=NO_TOPIC_ID, compare=False)
    """Of the topic as it was planned; one with the same name may be another by the time of reading."""

    @property
    def size(self) -> int:
        return self.end - self.start

    def __str__(self) -> str:
        return f"{self.tp} [{self.start}, {self.end})"


def limited(
    begin: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int], offsets_max: int
) -> dict[TopicPartition, int]:
    """The ends of a batch of about so many offsets, in proportion to what waits between begin and end."""
    sizes = {tp: end[tp] - begin[tp] for tp in end if tp in begin and end[tp] > begin[tp]}
    total = sum(sizes.values())
    if total <= offsets_max:
        return dict(end)
    found = dict(end)
    for tp, size in sizes.items():
        share = offsets_max * size / total
        # Rounded up below one, or a partition with little in it would wait for the others to be done.
        take = math.ceil(share) if share < 1 else math.floor(share)
        found[tp] = min(begin[tp] + take, end[tp])
    return found


def split(
    ranges: Iterable[OffsetRange],
    *,
    partitions_min: int | None = None,
    records_per_partition_max: int | None = None,
) -> list[OffsetRange]:
    """What each task reads; ranges without offsets are left out."""
    found = [each for each in ranges if each.size > 0]
    if records_per_partition_max is not None:
        found = [piece for each in found for piece in _cut(each, -(-each.size // records_per_partition_max))]
    if partitions_min is None or partitions_min <= len(found):
        return found
    total = sum(each.size for each in found)
    small = {each for each in found if _parts(each.size, total, partitions_min) == 1}
    # The small ones stay whole, so that rounding does not take tasks from the large ones.
    large_total = total - sum(each.size for each in small)
    large_min = max(partitions_min - len(small), 1)
    return [
        piece
        for each in found
        for piece in (_cut(each, 1 if each in small else _parts(each.size, large_total, large_min)))
    ]


def _parts(size: int, total: int, partitions_min: int) -> int:
    return max(math.floor(size / total * partitions_min + 0.5), 1)


def _cut(whole: OffsetRange, parts: int) -> list[OffsetRange]:
    """Into so many of nearly the same size."""
    found: list[OffsetRange] = []
    start = whole.start
    for part in range(parts):
        end = start + (whole.end - start) // (parts - part)
        if end > start:
            found.append(replace(whole, start=start, end=end))
        start = end
    return found
