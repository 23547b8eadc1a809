"""The plan of a stream: from where to where each micro-batch reads, in the one process that plans a query.

Spark asks for the newest offsets, writes them to its log, asks for the ranges between two of them, and says
when it is done with them. A batch may be planned again by a later process, from the log alone: `ranges` needs
nothing that was remembered.

Partitions that appear while the query runs begin at their beginning. What disappears, and what is made anew
under the same name, is a loss (`loss`); how far it goes on depends on `failOnDataLoss`.

A query that begins at the end of its topics runs one batch without rows first. Spark's log has only the ends
of batches: were the first one to have rows and to be planned anew by another process, it would begin at the
end of that day, and its rows would be lost.

Topics are told from others of the same name by their ids, which tasks get with their ranges. Spark's log has
no room for them: a topic that was made anew between two runs of a query is noticed only where it ends before
the place that the query had reached, as by Spark's own connector.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ottla.client.errors import OttlaError
from ottla.model.types import NO_TOPIC_ID
from ottla.pipelines.options import InvalidOption
from ottla.pipelines.source import loss
from ottla.pipelines.source.cluster import SourceCluster, TopicMissing
from ottla.pipelines.source.group_progress import GroupProgress
from ottla.pipelines.source.offsets import Offsets, from_json, to_json
from ottla.pipelines.source.ranges import OffsetRange, limited, split

if TYPE_CHECKING:
    from ottla.model.types import TopicPartition
    from ottla.pipelines.options import SourceOptions

log = logging.getLogger("ottla.pipelines")


class ForeignCheckpoint(OttlaError):
    """A checkpoint that this query did not write, or not with this subscription."""


class StreamPlan:
    def __init__(self, options: SourceOptions, cluster: SourceCluster | None = None) -> None:
        self._options = options
        self._cluster = cluster or SourceCluster(options)
        self._progress = GroupProgress(options)
        self._initial: Offsets | None = None
        starting = options.starting
        self._moves = starting.moves or (bool(starting.said) and not options.fail_on_data_loss)
        """Whether another process might begin elsewhere: said offsets may be moved to where the log ends."""
        self._begun = False
        """Whether the batch without rows was planned."""
        self._fixed_end: Offsets | None = None
        self._latest: Offsets | None = None
        self._ids: dict[str, bytes] = {}
        """The topics' ids as they were seen last: another one is another topic with the same name."""
        self._anew: Offsets = {}
        """Partitions of topics that were made anew, and how far the old ones were read: the batch that starts
        there is read from the beginning.
        """
        self._last_batch_at_s = -math.inf
        """Never: the first batch does not wait for `minOffsetsPerTrigger`."""

    def initial(self) -> dict[str, dict[str, int]]:
        """Where a new query begins. Spark asks more than once for it, and has to be told the same."""
        if self._initial is None:
            partitions = self._cluster.required_partitions()
            self._remember(partitions)
            limit = self._options.starting
            try:
                self._initial = self._cluster.resolve(limit, partitions)
            except ValueError as error:
                kind = "OffsetsByTimestamp" if limit.kind == "timestamps" else "Offsets"
                raise InvalidOption(f"starting{kind}: {error}") from None
            self._initial |= self._corrected(limit.said)
            if self._fixed_end is not None:
                # What came since then is not there, and a query that begins behind it has nothing to read.
                ends = self._fixed_end
                self._initial = {tp: min(at, ends[tp]) for tp, at in self._initial.items() if tp in ends}
        return to_json(self._initial)

    def _corrected(self, said: Offsets) -> Offsets:
        """Offsets that a user said may lie outside of what is there."""
        earliest, latest = self._cluster.earliest(said), self._cluster.latest(said)
        for tp, offset in said.items():
            if not earliest[tp] <= offset <= latest[tp]:
                self._lost(
                    f"{tp}: startingOffsets says {offset}, and only {earliest[tp]} to {latest[tp]} are there"
                )
        return {tp: min(max(offset, earliest[tp]), latest[tp]) for tp, offset in said.items()}

    def fix_end(self) -> None:
        """From now on, what is there now is all there is (Trigger.AvailableNow)."""
        partitions = self._cluster.partitions()
        self._remember(partitions)
        self._fixed_end = self._still_there(self._cluster.latest, partitions)

    def known_latest(self) -> dict[str, dict[str, int]] | None:
        return None if self._latest is None else to_json(self._latest)

    def latest(
        self, start_json: Any, *, offsets_max: int | None = None, everything: bool = False
    ) -> dict[str, dict[str, int]]:
        """Where the next batch ends; where it begins when there is nothing to read.

        Spark asks when it is done with everything before `start`, and does not call `commit` for the last
        batch of a query: the progress is shown from here, too.
        """
        start = self._own(start_json)
        self._check_subscription(start)
        self._progress.commit(start)
        self._anew = {tp: at for tp, at in self._anew.items() if start.get(tp) == at}
        if not self._begun and self._first_batch(start):
            self._begun = True
            return to_json(start)
        end = self._newest(start)
        new = [tp for tp in end if tp not in start]
        begin = {**self._still_there(self._cluster.earliest, new), **start}
        end = {tp: offset for tp, offset in end.items() if tp in begin}
        for tp in end:
            if end[tp] < begin[tp]:
                self._anew[tp] = begin[tp]
                self._lost(
                    f"{tp}: the records up to offset {begin[tp] - 1} were read, and the partition ends at "
                    f"{end[tp] - 1} now: it was truncated, or the topic was deleted and created again"
                )
        if everything:
            return self._batch(end)
        waiting = sum(max(0, end[tp] - begin[tp]) for tp in end)
        least = self._options.offsets_per_trigger_min
        waited_ms = (time.monotonic() - self._last_batch_at_s) * 1000
        if (
            least is not None
            and waiting < least
            and waited_ms < self._options.trigger_delay_max_ms
            and self._fixed_end is None  # nobody would come for the rest
        ):
            return to_json(start)
        if offsets_max is not None:
            anew = [tp for tp in self._anew if tp in end]
            begin.update(self._still_there(self._cluster.earliest, anew))
            end = limited(begin, end, offsets_max)
        return self._batch(end)

    def _batch(self, end: Offsets) -> dict[str, dict[str, int]]:
        self._last_batch_at_s = time.monotonic()
        return to_json(end)

    def _newest(self, start: Offsets) -> Offsets:
        """The ends of all partitions, without those that are gone."""
        if self._fixed_end is not None:
            # What is gone since then, the ranges will find; nothing may be added.
            self._check_gone(start, self._fixed_end)
            self._latest = dict(self._fixed_end)
            return dict(self._fixed_end)
        partitions = self._cluster.partitions()
        for _ in range(self._options.fetch_offset_retries):
            if not start.keys() - partitions.keys():
                break
            self._cluster.pause()  # a broker that has just started may not know all of them yet
            partitions = self._cluster.partitions()
        self._check_gone(start, partitions)
        self._check_ids(partitions, start)
        self._remember(partitions)
        self._latest = self._still_there(self._cluster.latest, partitions)
        return dict(self._latest)

    def _check_gone(self, start: Offsets, there: Iterable[TopicPartition]) -> None:
        covers = self._options.subscription.covers
        gone = [tp for tp in sorted(start.keys() - set(there)) if covers(tp.topic)]
        if gone:
            said = ", ".join(f"{tp} (wanted from offset {start[tp]} on)" for tp in gone[:5])
            self._lost(f"{said}: the topic was deleted")

    def _check_ids(self, partitions: dict[TopicPartition, bytes], start: Offsets) -> None:
        for tp, topic_id in partitions.items():
            if tp in start and self._ids.get(tp.topic, topic_id) != topic_id:
                self._anew[tp] = start[tp]
                self._lost(
                    f"{tp}: read up to offset {start[tp] - 1}, then the topic was deleted and created again"
                )

    def ranges(self, start_json: Any, end_json: Any) -> list[OffsetRange]:
        """What the tasks of a batch read."""
        start, end = self._own(start_json), self._own(end_json)
        if not end:
            return []
        self._check_subscription(start)
        self._check_subscription(end)
        busy = [tp for tp in end if tp not in start or start[tp] != end[tp]]
        if any(tp.topic not in self._ids for tp in busy):
            self._remember(self._cluster.partitions())  # planned by a process before us
        earliest = self._still_there(self._cluster.earliest, busy)
        busy = list(earliest)
        end.update(self._reachable({tp: end[tp] for tp in busy}))
        found: list[OffsetRange] = []
        for tp in busy:
            begin = start.get(tp, earliest[tp])
            if tp not in start:
                if begin > 0:
                    self._lost(f"{tp}: it appeared while the query ran, and begins at offset {begin} already")
            elif self._anew.get(tp) == begin:
                begin = earliest[tp]
            elif begin > end[tp]:
                if self._first_batch(start):
                    continue  # planned by a process before us, which began earlier; it had no rows
                self._lost(f"{tp}: offset {begin} was read, and the partition ends at {end[tp]} now")
                begin = earliest[tp]
            elif begin < earliest[tp]:
                self._lost(
                    f"{tp}: offsets {begin} to {end[tp] - 1} are wanted, and the partition begins at "
                    f"{earliest[tp]} now"
                )
                begin = earliest[tp]
            found.append(OffsetRange(tp, begin, end[tp], self._ids.get(tp.topic, NO_TOPIC_ID)))
        return split(
            found,
            partitions_min=self._options.partitions_min,
            records_per_partition_max=self._options.records_per_partition_max,
        )

    def _first_batch(self, start: Offsets) -> bool:
        return self._moves and start == self._initial

    def _reachable(self, end: Offsets) -> Offsets:
        """A batch of an earlier process may reach over what is there now."""
        known = self._latest or {}
        if any(offset > known.get(tp, -1) for tp, offset in end.items()):
            known = self._still_there(self._cluster.latest, end)
        for tp, offset in end.items():
            if offset > known.get(tp, offset):
                self._lost(f"{tp}: offsets up to {offset - 1} are wanted, and it ends at {known[tp] - 1} now")
        return {tp: min(offset, known.get(tp, offset)) for tp, offset in end.items()}

    def _still_there(
        self, ask: Callable[[Iterable[TopicPartition]], Offsets], partitions: Iterable[TopicPartition]
    ) -> Offsets:
        """Offsets of partitions, without those of topics that were deleted since they were planned."""
        wanted = list(partitions)
        attempt = 0
        while True:
            try:
                return ask(wanted)
            except TopicMissing:
                there = self._cluster.partitions()
                gone = [tp for tp in wanted if tp not in there]
                if not gone:
                    attempt += 1
                    if attempt > self._options.fetch_offset_retries:
                        raise
                    self._cluster.pause()  # its leader does not know it yet
                    continue
                self._lost(f"{', '.join(map(str, gone[:5]))}: the topic was deleted while it was read")
                wanted = [tp for tp in wanted if tp in there]

    def commit(self, end_json: Any) -> None:
        """Spark is done with everything before these offsets."""
        self._progress.commit(self._own(end_json))

    def _own(self, value: Any) -> Offsets:
        try:
            return from_json(value)
        except ValueError as error:
            raise ForeignCheckpoint(
                f"the checkpoint was not written by the format ottla: its offsets are not those of topics "
                f"({error}). Give the query a checkpointLocation of its own"
            ) from None

    def _check_subscription(self, start: Offsets) -> None:
        """A checkpoint of other topics would silently begin these at their beginning."""
        subscription = self._options.subscription
        foreign = sorted({tp.topic for tp in start if not subscription.covers(tp.topic)})
        if subscription.assigned and not foreign:
            foreign = [str(tp) for tp in sorted(start) if tp not in subscription.assigned]
        if not foreign:
            return
        own = {tp.topic for tp in start if subscription.covers(tp.topic)}
        said = (
            f"the checkpoint is of another query: it has offsets of {', '.join(foreign[:5])}, and this one "
            f"reads {subscription}"
        )
        if self._options.fail_on_data_loss or not own:
            raise ForeignCheckpoint(
                f"{said}. Give the query a checkpointLocation of its own"
                + (
                    ", or set the option failOnDataLoss to false to go on without what is not read any more"
                    if own
                    else ""
                )
            )
        log.warning("%s; going on without them, as failOnDataLoss is false", said)

    def _remember(self, partitions: dict[TopicPartition, bytes]) -> None:
        for tp, topic_id in partitions.items():
            self._ids[tp.topic] = topic_id

    def _lost(self, what: str) -> None:
        loss.report(what, fail=self._options.fail_on_data_loss)
