"""Records waiting to be sent, by partition; and which partition's turn it is.

A lane's first batch may leave when it is full, has lingered, waits to be sent again and has waited long
enough, or when there is a hurry (flush, close, commit, no memory left). `consider(lane)` looks at one lane
and puts it where it belongs: into the line of its leader, onto the heap of timers, or aside, until the event
comes that it waits for. Every event that changes a lane's prospects calls it; a lane in which nothing happens
costs nothing. Events that concern everybody (new metadata, a new producer id) look at all lanes that hold
something, and are rare.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import count
from typing import Any, Final

from ottla.client.errors import RecordTooLarge
from ottla.client.producing.batch import (
    RECORD_BYTES,
    RECORD_BYTES_MAX,
    Batch,
    EncodedBatch,
    Headers,
    Later,
    record_size,
)
from ottla.client.producing.lane import Lane
from ottla.client.producing.memory import MemoryPool
from ottla.client.settings import ProducerSettings
from ottla.client.view import NO_LEADER, ClusterView, TopicView
from ottla.model.types import TopicPartition
from ottla.ports.clock import Clock
from ottla.wire.record_batch import HEADER_BYTES, Codec

NEVER: Final = float("inf")


class Accumulator:
    def __init__(
        self,
        settings: ProducerSettings,
        clock: Clock,
        later: Later,
        may_send: Callable[[Lane, Batch], bool],
        wake: Callable[[], None],
        owner: Any = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._later = later
        self._may_send = may_send
        self._wake = wake
        self._owner = owner
        self._linger_ms = settings.linger_ms
        self._compressed = settings.compression_type != Codec.NONE
        self._limit_bytes_max = settings.max_request_size
        self._limit_bytes = min(settings.batch_size, settings.max_request_size)
        self._ordinal = count()
        self.memory = MemoryPool(settings.buffer_memory)
        self.topics: dict[str, TopicView] = {}
        """What can be written to."""
        self.lanes: dict[str, dict[int, Lane]] = {}
        self.active: dict[Lane, None] = {}
        """The lanes that have something in their queue."""
        self.ready: dict[int, deque[Lane]] = {}
        """By node: the lanes it leads whose first batch may leave, in the order of their turns."""
        self.leaderless: dict[Lane, None] = {}
        """Those whose first batch might leave if somebody led them."""
        self.incomplete: dict[Batch, None] = {}
        """All batches that are not done, those on their way included."""
        self.timers: list[tuple[float, int, Lane, Batch]] = []
        self.expiry_ms = NEVER
        """No batch's time is up before this."""
        self.sleeping_until_ms = -NEVER
        """When the sender looks again by itself."""
        self.hurry = False
        """Nothing lingers (the producer closes, or a transaction ends)."""
        self.on_full: Callable[[], None] = lambda: None
        """Told whenever an append has made something due."""

    # --- records --------------------------------------------------------------------------------------------

    def open_batch(
        self,
        lane: Lane,
        size_bytes: int,
        reserved_bytes: int,
    ) -> Batch:
        """A new batch at the end of a lane, for a first record of this size."""
        batch = Batch(lane, self._clock.monotonic_ms(), lane.limit_bytes, reserved_bytes)
        batch.owner = self._owner
        self._queue(lane, batch)
        if batch.size_bytes + size_bytes < batch.limit_bytes:
            lane.open = batch
        return batch

    def begun(self, lane: Lane, batch: Batch) -> None:
        """The batch has its first record."""
        if lane.open is not batch:
            batch.close()
        self._appended(lane)

    def add_encoded(self, lane: Lane, given: EncodedBatch, reserved_bytes: int) -> Batch:
        self.close_open(lane)
        batch = Batch.of_encoded(lane, self._clock.monotonic_ms(), given, reserved_bytes)
        batch.owner = self._owner
        self._queue(lane, batch)
        self._appended(lane)
        return batch

    def _queue(self, lane: Lane, batch: Batch) -> None:
        lane.queue.append(batch)
        self.active[lane] = None
        self.incomplete[batch] = None
        expiry_ms = batch.created_ms + self._settings.delivery_timeout_ms
        if expiry_ms < self.expiry_ms:
            self.expiry_ms = expiry_ms
            if expiry_ms < self.sleeping_until_ms:  # there may be nothing else that wakes the sender in time
                self._wake()

    def _appended(self, lane: Lane) -> None:
        if lane.listed_at is None and self.consider(lane):
            self.on_full()

    def close_open(self, lane: Lane) -> None:
        """The open batch takes no more records: it is full."""
        batch = lane.open
        if batch is not None:
            batch.close()
            lane.open = None
            self._appended(lane)

    def needed_bytes(self, key: bytes | None, value: bytes | None, headers: Headers) -> int:
        """What a record that needs a new batch takes of the memory; RecordTooLarge when it never fits."""
        size_bytes = HEADER_BYTES + RECORD_BYTES_MAX - RECORD_BYTES + record_size(key, value, headers)
        return self.checked_bytes(size_bytes)

    def checked_bytes(self, size_bytes: int) -> int:
        settings = self._settings
        if size_bytes > settings.max_request_size:
            raise RecordTooLarge(
                f"a record of {size_bytes} bytes exceeds max.request.size={settings.max_request_size}"
            )
        if size_bytes > settings.buffer_memory:
            raise RecordTooLarge(
                f"a record of {size_bytes} bytes exceeds buffer.memory={settings.buffer_memory}"
            )
        return max(size_bytes, settings.batch_size)

    # --- whose turn it is -----------------------------------------------------------------------------------

    def consider(self, lane: Lane) -> bool:
        """Puts a lane where its first batch belongs; True when that is its leader's line."""
        lane.listed_at = None  # where it stands in a line, it is passed over
        if not lane.queue:
            self.active.pop(lane, None)
            self.leaderless.pop(lane, None)
            return False
        head = lane.queue[0]
        now_ms = self._clock.monotonic_ms()
        if head.attempts:
            waits_until_ms = head.retry_ms if lane.leader_epoch <= head.sent_epoch else 0.0
        elif head.closed or self.hurry or self.memory.waiting:
            waits_until_ms = 0.0
        else:
            waits_until_ms = head.created_ms + self._linger_ms
        if waits_until_ms > now_ms:
            if head.due_ms != waits_until_ms:
                head.due_ms = waits_until_ms
                heappush(self.timers, (waits_until_ms, next(self._ordinal), lane, head))
                if waits_until_ms < self.sleeping_until_ms:
                    self._wake()
            return False
        if lane.leader == NO_LEADER:
            self.leaderless[lane] = None
            self._wake()
            return False
        self.leaderless.pop(lane, None)
        if self._may_send(lane, head):
            lane.listed_at = lane.leader
            line = self.ready.get(lane.leader)
            if line is None:
                self.ready[lane.leader] = deque((lane,))
            else:
                line.append(lane)
            self._wake()
            return True
        return False

    def consider_all(self) -> None:
        for lane in list(self.active):
            self.consider(lane)

    def run_timers(self, now_ms: float) -> None:
        timers = self.timers
        while timers and timers[0][0] <= now_ms:
            _, _, lane, batch = heappop(timers)
            batch.due_ms = 0.0
            if lane.listed_at is None and lane.queue and lane.queue[0] is batch:
                self.consider(lane)

    def next_lane(self, node_id: int) -> Lane | None:
        """Takes the first lane out of a node's line."""
        line = self.ready.get(node_id)
        while line:
            lane = line.popleft()
            if lane.listed_at == node_id and lane.queue:
                lane.listed_at = None
                if lane.leader == node_id and self._may_send(lane, lane.queue[0]):
                    return lane
                self.consider(lane)
        self.ready.pop(node_id, None)
        return None

    def put_back(self, lane: Lane, node_id: int) -> None:
        """Keeps its turn for a lane that did not fit."""
        lane.listed_at = node_id
        self.ready.setdefault(node_id, deque()).appendleft(lane)

    # --- batches that leave, come back, and end -------------------------------------------------------------

    def take(self, lane: Lane) -> Batch:
        """The first batch leaves."""
        batch = lane.queue.popleft()
        if lane.open is batch:
            lane.open = None
        batch.close()
        return batch

    def learn_size(self, batch: Batch) -> None:
        """A batch was sealed: how well did it compress?"""
        if self._compressed and batch.limit_bytes:
            ratio = batch.encoded_bytes / max(batch.size_bytes, 1)
            batch.lane.observe_ratio(ratio, self._limit_bytes, self._limit_bytes_max)

    def split(self, batch: Batch) -> None:
        """Puts two halves in the place of a batch that is too large, first in line."""
        lane = batch.lane
        lane.ratio = max(1.0, lane.ratio)
        parts = batch.split()
        lane.replace(batch, parts)
        for part in parts:
            self.incomplete[part] = None
            lane.requeue(part)
        self.active[lane] = None
        self.finished(batch)

    def send_again(self, batch: Batch) -> None:
        lane = batch.lane
        lane.requeue(batch)
        self.active[lane] = None

    def finished(self, batch: Batch) -> None:
        """The batch is done, in whatever way. Its memory is free once nothing of it is on its way."""
        self.incomplete.pop(batch, None)
        self.free(batch)

    def free(self, batch: Batch) -> None:
        if not batch.flying and batch.reserved_bytes:
            released_bytes, batch.reserved_bytes = batch.reserved_bytes, 0
            self.memory.release(released_bytes)

    def expired(self, now_ms: float) -> list[Batch]:
        """The batches whose `delivery.timeout.ms` is over."""
        if now_ms < self.expiry_ms:
            return []
        timeout_ms = self._settings.delivery_timeout_ms
        found: list[Batch] = []
        self.expiry_ms = NEVER
        for batch in self.incomplete:
            expiry_ms = batch.created_ms + timeout_ms
            if expiry_ms <= now_ms:
                found.append(batch)
            elif expiry_ms < self.expiry_ms:
                self.expiry_ms = expiry_ms
        return found

    def close_all(self, batches: Iterable[Batch]) -> None:
        """These take no more records, and so do not linger."""
        for batch in batches:
            lane = batch.lane
            if lane.open is batch:
                batch.close()
                lane.open = None
            if lane.listed_at is None and lane.queue:
                self.consider(lane)

    # --- partitions -----------------------------------------------------------------------------------------

    def update(self, view: ClusterView, wanted: Iterable[str] = ()) -> None:
        """Takes in what is known of the cluster now: new partitions, other leaders, topics that are gone."""
        for name in sorted({*self.lanes, *self.topics, *wanted}):
            found = view.topics.get(name)
            if found is None or found.error or not found.partitions:
                self.topics.pop(name, None)
                for lane in self.lanes.get(name, {}).values():
                    self._led_by(lane, NO_LEADER, lane.leader_epoch)
                continue
            self.topics[name] = found
            lanes = self.lanes.setdefault(name, {})
            present = set()
            for partition in found.partitions:
                index = partition.index
                present.add(index)
                if index not in lanes:
                    lanes[index] = Lane(TopicPartition(name, index), self._later, self._limit_bytes)
                leader = partition.leader if partition.leader in view.brokers else NO_LEADER
                self._led_by(lanes[index], leader, partition.leader_epoch)
            for index, lane in lanes.items():
                if index not in present:
                    self._led_by(lane, NO_LEADER, lane.leader_epoch)

    def _led_by(self, lane: Lane, leader: int, leader_epoch: int) -> None:
        if leader != lane.leader or leader_epoch != lane.leader_epoch:
            lane.leader = leader
            lane.leader_epoch = leader_epoch
            if lane.queue:
                self.consider(lane)
