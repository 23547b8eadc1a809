"""Message streams: the records of one consumer, spread over several readers. Without threads and locks.

Each partition belongs to one stream, the one with the fewest, so that its order holds. A lane is what waits
for a stream: lists of records in line, and the list whose records are being handed on. A lane that is full
has its partitions paused until half of it was read. A record counts as consumed once its reader asked for the
next one; `progress` is what may be committed.

The shell (`client/sync/streams.py`) calls all of this under one lock, except for the one step that must be
fast: a reader takes records from `Lane.rest` without it. A list iterator moves in one step of the
interpreter, and whatever is read here of its place can only be behind.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from operator import length_hint

from ottla.client.consuming.consumed import first_offsets
from ottla.client.records import ConsumerRecord, OffsetAndMetadata
from ottla.model.types import TopicPartition


class Lane:
    """What waits for one stream."""

    __slots__ = ("topic", "partitions", "held", "queue", "queued_count", "batch", "rest")

    def __init__(self, topic: str | None = None) -> None:
        self.topic = topic
        """The only topic that it carries; None: any."""
        self.partitions: set[TopicPartition] = set()
        self.held: set[TopicPartition] = set()
        """Those that are paused because the lane is full."""
        self.queue: deque[list[ConsumerRecord]] = deque()
        self.queued_count = 0
        self.batch: Sequence[ConsumerRecord] = ()
        self.rest: Iterator[ConsumerRecord] = iter(())

    def put(self, records: list[ConsumerRecord]) -> None:
        self.queue.append(records)
        self.queued_count += len(records)

    def advance(self) -> bool:
        """The reader has asked beyond the list it had; whether there is another one."""
        if length_hint(self.rest):
            return True  # what was left of it after partitions went away
        self.batch, self.rest = (), iter(())
        if not self.queue:
            return False
        self.batch = self.queue.popleft()
        self.queued_count -= len(self.batch)
        self.rest = iter(self.batch)
        return True

    def open_records(self) -> list[ConsumerRecord]:
        """What its reader has not moved past: the record in hand, and all that wait behind it."""
        in_hand = max(0, len(self.batch) - length_hint(self.rest) - 1)
        found = list(self.batch[in_hand:])
        for records in self.queue:
            found += records
        return found

    def drop(self, partitions: Collection[TopicPartition]) -> None:
        """Takes what waits of these partitions out of the lane; a record in hand stays in hand."""

        def kept(records: Iterable[ConsumerRecord]) -> list[ConsumerRecord]:
            return [r for r in records if TopicPartition(r.topic, r.partition) not in partitions]

        left = list(self.rest)  # in one step: from now on the reader comes to an end and asks for more
        in_hand = self.batch[len(self.batch) - len(left) - 1] if len(self.batch) > len(left) else None
        if left:
            remaining = kept(left)
            self.batch = remaining if in_hand is None else [in_hand, *remaining]
            self.rest = iter(self.batch)
            if in_hand is not None:
                next(self.rest)
        queue = [kept(records) for records in self.queue]
        self.queue = deque(records for records in queue if records)
        self.queued_count = sum(map(len, self.queue))

    def clear(self) -> None:
        """Nothing more is handed on."""
        left = list(self.rest)
        self.batch = self.batch[: len(self.batch) - len(left)]
        self.rest = iter(())
        self.queue.clear()
        self.queued_count = 0


class Spread:
    def __init__(self, lanes: Sequence[Lane], records_max: int) -> None:
        self.lanes = list(lanes)
        self._records_max = records_max
        self._lane_of: dict[TopicPartition, Lane] = {}
        self._floor: dict[TopicPartition, OffsetAndMetadata] = {}
        self.arriving: Sequence[ConsumerRecord] = ()
        """What poll has taken and nobody has put into the lanes yet: it is not consumed."""

    def put(self, records: Sequence[ConsumerRecord], assignment: Collection[TopicPartition]) -> None:
        """Puts what poll gave into the lanes."""
        self.arriving = ()
        for tp in [tp for tp in self._lane_of if tp not in assignment]:
            self._forget(tp)
        parts: dict[int, tuple[Lane, list[ConsumerRecord]]] = {}
        last: tuple[str, int] | None = None
        part: list[ConsumerRecord] = []
        for record in records:
            place = (record.topic, record.partition)
            if place != last:
                last = place
                lane = self._lane(TopicPartition(*place))
                part = parts.setdefault(id(lane), (lane, []))[1]
            part.append(record)
        for lane, taken in parts.values():
            lane.put(taken)

    def _lane(self, tp: TopicPartition) -> Lane:
        lane = self._lane_of.get(tp)
        if lane is None:
            fitting = [each for each in self.lanes if each.topic in (None, tp.topic)]
            lane = min(fitting, key=lambda each: len(each.partitions))
            self._lane_of[tp] = lane
            lane.partitions.add(tp)
        return lane

    def given(self, partitions: Iterable[TopicPartition]) -> None:
        """These are new here: somebody else may have read on in them."""
        for tp in partitions:
            self._floor.pop(tp, None)

    def _forget(self, tp: TopicPartition) -> None:
        lane = self._lane_of.pop(tp)
        lane.partitions.discard(tp)
        lane.held.discard(tp)

    def to_pause(self) -> set[TopicPartition]:
        """The partitions of lanes that have become full."""
        found: set[TopicPartition] = set()
        for lane in self.lanes:
            if lane.queued_count >= self._records_max:
                found |= lane.partitions - lane.held
                lane.held = set(lane.partitions)
        return found

    def to_resume(self, lane: Lane) -> set[TopicPartition]:
        """The partitions of a lane that is full no longer."""
        if not lane.held or lane.queued_count > self._records_max // 2:
            return set()
        held, lane.held = lane.held, set()
        return held

    def revoking(self, partitions: Collection[TopicPartition]) -> None:
        """These go to another member: what waits of them is dropped, and not committed."""
        for lane in self.lanes:
            affected = lane.partitions.intersection(partitions)
            if affected:
                open_offsets = first_offsets(lane.open_records())
                self._floor.update((tp, open_offsets[tp]) for tp in affected if tp in open_offsets)
                lane.drop(affected)
        for tp in partitions:
            if tp in self._lane_of:
                self._forget(tp)

    def progress(
        self,
        assignment: Iterable[TopicPartition],
        position: Callable[[TopicPartition], OffsetAndMetadata | None],
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """How far each partition may be committed: up to the first record that nobody has moved past."""
        waiting = {**first_offsets(self.arriving), **self._floor}
        for lane in self.lanes:
            waiting.update(first_offsets(lane.open_records()))
        found: dict[TopicPartition, OffsetAndMetadata] = {}
        for tp in assignment:
            at = waiting.get(tp) or position(tp)
            if at is not None:
                found[tp] = at
        return found

    def end(self) -> None:
        """Nothing more is handed on; what was not, counts as not consumed."""
        for lane in self.lanes:
            for tp, at in first_offsets(lane.open_records()).items():
                if tp not in self._floor:
                    self._floor[tp] = at
            lane.clear()
        self._floor = {**first_offsets(self.arriving), **self._floor}
