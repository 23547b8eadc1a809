"""The plan of a batch query: which ranges of offsets are read, found once, when Spark plans.

Beginning and end come from the options, are compared with what the partitions have, narrowed by the filters
that Spark pushed, and cut into tasks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ottla.pipelines.options import InvalidOption
from ottla.pipelines.source import loss
from ottla.pipelines.source.cluster import SourceCluster
from ottla.pipelines.source.filters import Pruning
from ottla.pipelines.source.ranges import OffsetRange, split

if TYPE_CHECKING:
    from ottla.model.types import TopicPartition
    from ottla.pipelines.options import SourceOptions
    from ottla.pipelines.source.offsets import OffsetLimit, Offsets


class BatchPlan:
    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._pruning = Pruning()

    def push(self, filters: Iterable[Any]) -> list[Any]:
        """Takes in what a query filters by; gives back what Spark has to apply itself."""
        return self._pruning.push(filters)

    def ranges(self) -> list[OffsetRange]:
        options, pruning = self._options, self._pruning
        cluster = SourceCluster(options)
        there = cluster.required_partitions()
        for limit, name in ((options.starting, "starting"), (options.ending, "ending")):
            self._check_named(limit, name, list(there))
        wanted = [tp for tp in there if pruning.wants(tp)]
        end = cluster.resolve(_narrowed(options.ending, wanted), wanted)
        start = cluster.resolve(_narrowed(options.starting, wanted), wanted)
        self._check_said(cluster, start, end)
        for tp in wanted:
            start[tp] = max(start[tp], pruning.offset_min)
            end[tp] = min(end[tp], pruning.offset_max + 1)
        if pruning.moment_min_ms is not None:
            left = [tp for tp in wanted if start[tp] < end[tp]]
            for tp, offset in cluster.at(dict.fromkeys(left, pruning.moment_min_ms)).items():
                start[tp] = end[tp] if offset < 0 else max(start[tp], offset)
        return split(
            (OffsetRange(tp, start[tp], end[tp], there[tp]) for tp in wanted),
            partitions_min=options.partitions_min,
            records_per_partition_max=options.records_per_partition_max,
        )

    def _check_named(self, limit: OffsetLimit, name: str, there: list[TopicPartition]) -> None:
        try:
            limit.for_partitions(there)
        except ValueError as error:
            kind = "OffsetsByTimestamp" if limit.kind == "timestamps" else "Offsets"
            raise InvalidOption(f"{name}{kind}: {error}") from None

    def _check_said(self, cluster: SourceCluster, start: Offsets, end: Offsets) -> None:
        """Offsets that were said may lie outside of what is there, and are moved into it. Those that were
        found need no second look: what has come or gone since then would be taken for a loss.
        """
        starts, ends = self._options.starting.said, self._options.ending.said
        said = [tp for tp in start if tp in starts or tp in ends]
        earliest, latest = cluster.earliest(said), cluster.latest(said)
        for tp in said:
            first, behind = earliest[tp], latest[tp]
            if (tp in starts and not first <= start[tp] <= behind) or (tp in ends and end[tp] > behind):
                loss.report(
                    f"{tp}: offsets {start[tp]} to {end[tp] - 1} are wanted, and {first} to {behind - 1} "
                    "are there",
                    fail=self._options.fail_on_data_loss,
                )
            start[tp], end[tp] = min(max(start[tp], first), behind), min(end[tp], behind)


def _narrowed(limit: OffsetLimit, wanted: Iterable[TopicPartition]) -> OffsetLimit:
    """Without the partitions that filters have excluded."""
    if not limit.by_partition:
        return limit
    kept = set(wanted)
    return replace(limit, by_partition=tuple(each for each in limit.by_partition if each[0] in kept))
