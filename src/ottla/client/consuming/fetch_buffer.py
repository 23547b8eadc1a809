"""What was fetched and not handed out yet: chunks in the order of their arrival, and the memory they hold.

A chunk is one partition's part of a fetch response. Chunks stand in one line, so that partitions take turns;
those of paused partitions stand aside until they are resumed. The records of a response are views of one
receive buffer, which lives as long as any of its chunks: so memory is counted by whole responses (`Frame`),
while `waiting_bytes` of a broker counts what its next answer would add to.

`take` moves positions. Records in front of an error are handed out first, and then the error is raised, with
the position before the bad record.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from ottla.client.consuming.positions import UNKNOWN, PartitionState, Positions
from ottla.client.errors import ProtocolError

if TYPE_CHECKING:
    from ottla.client.consuming.broker_fetches import BrokerFetches
    from ottla.client.consuming.decode import FetchedRecords
    from ottla.client.records import ConsumerRecord
    from ottla.model.types import TopicPartition
    from ottla.wire.record_batch import PendingColumns


class FetchedColumns(NamedTuple):
    """Records of one partition, ready to be made columns."""

    topic_partition: TopicPartition
    columns: PendingColumns


class Frame:
    """The receive buffer behind one response's chunks, and what came out of them."""

    __slots__ = ("broker", "size_bytes", "live", "records")

    def __init__(self, broker: BrokerFetches, size_bytes: int) -> None:
        self.broker = broker
        self.size_bytes = size_bytes
        self.live = 0
        self.records = 0


class Chunk:
    """One partition's part of a response."""

    __slots__ = ("state", "frame", "data", "start", "left_bytes")

    def __init__(self, state: PartitionState, frame: Frame, data: FetchedRecords, size_bytes: int) -> None:
        self.state = state
        self.frame = frame
        self.data = data
        self.start = data.position
        self.left_bytes = size_bytes


class FetchBuffer:
    def __init__(
        self,
        positions: Positions,
        *,
        refetch: Callable[[PartitionState], None],
        room: Callable[[BrokerFetches], None],
        consumed: Callable[[PartitionState, int, int], None],
        used_up: Callable[[int], None],
    ) -> None:
        self._positions = positions
        self._refetch = refetch
        """A partition fetches from its position again, because what was buffered is dropped."""
        self._room = room
        """A broker's chunks take less room than before."""
        self._consumed = consumed
        """So many records and bytes were handed out of a partition."""
        self._used_up = used_up
        """A response gave so many records in all."""
        self._line: deque[Chunk] = deque()
        self.held_bytes = 0
        """The memory of all responses of which something is left."""

    def __bool__(self) -> bool:
        return bool(self._line)

    def add(self, chunk: Chunk, end_offset: int) -> None:
        """A chunk that continues its partition; the next fetch begins at `end_offset`."""
        state, frame = chunk.state, chunk.frame
        if not frame.live:
            self.held_bytes += frame.size_bytes
            frame.broker.held_bytes += frame.size_bytes
        frame.live += 1
        state.chunks.append(chunk)
        state.ahead = end_offset
        if not state.paused:
            self._line.append(chunk)
            frame.broker.waiting_bytes += chunk.left_bytes

    def drop(self, states: Iterable[PartitionState]) -> None:
        """Forgets what is buffered of these partitions."""
        dropped = {state for state in states if state.chunks}
        if not dropped:
            return
        self._line = deque(chunk for chunk in self._line if chunk.state not in dropped)
        for state in dropped:
            for chunk in state.chunks:
                if not state.paused:
                    chunk.frame.broker.waiting_bytes -= chunk.left_bytes
                self._release(chunk)
                self._room(chunk.frame.broker)
            state.chunks.clear()
            state.ahead = UNKNOWN

    def put_aside(self, states: Iterable[PartitionState]) -> None:
        """These partitions were just paused."""
        aside = {state for state in states if state.chunks}
        if aside:
            self._line = deque(chunk for chunk in self._line if chunk.state not in aside)
            for state in aside:
                for chunk in state.chunks:
                    chunk.frame.broker.waiting_bytes -= chunk.left_bytes
                    self._room(chunk.frame.broker)

    def put_back(self, state: PartitionState) -> None:
        """This partition was just resumed."""
        for chunk in state.chunks:
            self._line.append(chunk)
            chunk.frame.broker.waiting_bytes += chunk.left_bytes

    def take(self, count_max: int) -> list[ConsumerRecord]:
        taken: list[ConsumerRecord] = []
        line = self._line
        while line and len(taken) < count_max:
            chunk = line[0]
            if not self._in_place(chunk):
                line = self._line
                continue
            try:
                records = chunk.data.take(count_max - len(taken))
            except ProtocolError:
                if taken:
                    break
                self._give_up(chunk.state)
                raise
            except Exception:
                if taken:
                    break
                raise
            taken = taken + records if taken else records
            self._moved(chunk, len(records))
            if not records and not chunk.data.finished:
                break  # the decoder keeps an error back for the next call
        return taken

    def take_columns(self, bytes_max: int) -> list[FetchedColumns]:
        taken: list[FetchedColumns] = []
        left_bytes = bytes_max
        while self._line and left_bytes > 0:
            chunk = self._line[0]
            if not self._in_place(chunk):
                continue
            before_bytes = chunk.left_bytes
            try:
                columns = chunk.data.take_columns(left_bytes)
            except ProtocolError:
                if taken:
                    break
                self._give_up(chunk.state)
                raise
            if columns.row_count:
                taken.append(FetchedColumns(chunk.state.tp, columns))
            self._moved(chunk, columns.row_count)
            # What is compressed may be many times as large in the columns.
            left_bytes -= max(before_bytes - chunk.left_bytes, columns.size_bytes)
        return taken

    def _in_place(self, chunk: Chunk) -> bool:
        """Whether a chunk still continues its partition; otherwise the partition begins anew."""
        state = chunk.state
        if state.valid and state.position is not None and chunk.data.position == state.position.offset:
            return True
        self._give_up(state)
        return False

    def _give_up(self, state: PartitionState) -> None:
        self.drop([state])
        self._refetch(state)

    def _moved(self, chunk: Chunk, count: int) -> None:
        """Takes note of what a chunk gave."""
        state, data, frame = chunk.state, chunk.data, chunk.frame
        self._positions.advance(state, data.position, data.leader_epoch)
        left_bytes = 0 if data.finished else data.left_bytes
        size_bytes = chunk.left_bytes - left_bytes
        chunk.left_bytes = left_bytes
        frame.broker.waiting_bytes -= size_bytes
        frame.records += count
        if count or size_bytes:
            self._consumed(state, count, size_bytes)
        if data.finished:
            self._line.popleft()
            state.chunks.popleft()
            if not state.chunks and state.ahead != data.position:
                # the decoder knows better where the chunk ends than its headers told
                state.ahead = data.position
                self._refetch(state)
            self._release(chunk)
        self._room(frame.broker)

    def _release(self, chunk: Chunk) -> None:
        frame = chunk.frame
        frame.live -= 1
        if not frame.live:
            self.held_bytes -= frame.size_bytes
            frame.broker.held_bytes -= frame.size_bytes
            self._used_up(frame.records)
