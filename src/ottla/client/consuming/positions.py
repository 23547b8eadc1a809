"""Where reading stands in each assigned partition, as a state machine with Kafka's four states.

    INITIALIZING      assigned, nobody has said yet where to begin
    FETCHING          has a position that may be fetched from
    AWAIT_RESET       has no position: the leader is asked for one (`auto.offset.reset`, seek to a time)
    AWAIT_VALIDATION  has a position, but the leader changed since: it is asked whether its log still contains
                      what was read (KIP-320)

A position is the next offset to hand out. It carries the epoch of the record before it, by which a truncation
is found, and the leader it was last fetched from. This module decides about states only: it sends nothing and
buffers nothing. `Positions` keeps the partitions of each state apart, so that nobody has to search for those
that need something.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.client.consuming.reset_policy import ResetPolicy
from ottla.model.types import NO_TOPIC_ID, TopicPartition

if TYPE_CHECKING:
    from ottla.client.consuming.fetch_buffer import Chunk

NO_EPOCH: Final = -1
NO_NODE: Final = -1
UNKNOWN: Final = -1


class FetchState(Enum):
    INITIALIZING = "initializing"
    FETCHING = "fetching"
    AWAIT_RESET = "await_reset"
    AWAIT_VALIDATION = "await_validation"


class Position(NamedTuple):
    offset: int
    offset_epoch: int = NO_EPOCH
    """The epoch of the record before it; NO_EPOCH when it is not known, and then nothing can be validated."""
    leader: int = NO_NODE
    leader_epoch: int = NO_EPOCH


class Truncation(NamedTuple):
    """The log no longer contains what was read before the position."""

    position: Position
    diverges_at: int
    """The first offset that differs; UNKNOWN when the leader could not tell."""


class PartitionState:
    """One assigned partition. The fetcher keeps here, too, what it has buffered and where it fetches."""

    __slots__ = (
        "tp",
        "state",
        "position",
        "paused",
        "policy",
        "asking",
        "retry_at_ms",
        "preferred_replica",
        "preferred_until_ms",
        "high_watermark",
        "last_stable_offset",
        "log_start_offset",
        "topic_id",
        "chunks",
        "ahead",
        "node_id",
        "blocked",
    )

    def __init__(self, tp: TopicPartition) -> None:
        self.tp = tp
        self.state = FetchState.INITIALIZING
        self.position: Position | None = None
        self.paused = False
        self.policy: ResetPolicy | None = None
        """While AWAIT_RESET: where to."""
        self.asking = False
        """Whether a request about its position is on its way."""
        self.retry_at_ms = 0.0
        self.preferred_replica = NO_NODE
        self.preferred_until_ms = 0.0
        self.high_watermark = UNKNOWN
        self.last_stable_offset = UNKNOWN
        self.log_start_offset = UNKNOWN
        self.topic_id: bytes = NO_TOPIC_ID
        self.chunks: deque[Chunk] = deque()
        """Fetched and not handed out, in order; the first begins at the position."""
        self.ahead = UNKNOWN
        """Where the next fetch begins: behind what is buffered."""
        self.node_id = NO_NODE
        """The broker whose fetches it is part of; NO_NODE while it is part of none."""
        self.blocked = False
        """Left out of fetches for now: a failure is waited out, or waits to be raised."""

    @property
    def valid(self) -> bool:
        return self.state is FetchState.FETCHING

    def end_offset(self, read_committed: bool) -> int | None:
        """Up to where one could read, as of the last answer; None before the first."""
        end = self.last_stable_offset if read_committed else self.high_watermark
        return None if end == UNKNOWN else end

    def lag(self, read_committed: bool) -> int | None:
        end = self.end_offset(read_committed)
        if end is None or self.position is None:
            return None
        return max(0, end - self.position.offset)

    def prefer_replica(self, node_id: int, until_ms: float) -> bool:
        """Fetches from a replica that is nearer than the leader (KIP-392), for as long as metadata lives."""
        if self.preferred_replica == node_id:
            return False
        self.preferred_replica = node_id
        self.preferred_until_ms = until_ms
        return True

    def forget_replica(self) -> bool:
        had = self.preferred_replica != NO_NODE
        self.preferred_replica = NO_NODE
        return had


class Positions:
    """The assigned partitions and their transitions."""

    def __init__(self) -> None:
        self.partitions: dict[TopicPartition, PartitionState] = {}
        self.by_state: dict[FetchState, dict[TopicPartition, PartitionState]] = {s: {} for s in FetchState}

    def assign(self, wanted: Iterable[TopicPartition]) -> tuple[list[PartitionState], list[PartitionState]]:
        """Makes the assignment exactly this; gives those that are new and those that are gone."""
        keep = dict.fromkeys(sorted(wanted))  # a set has another order in every process
        gone = [state for tp, state in self.partitions.items() if tp not in keep]
        for state in gone:
            del self.partitions[state.tp]
            del self.by_state[state.state][state.tp]
        new = []
        for tp in keep:
            if tp not in self.partitions:
                state = self.partitions[tp] = PartitionState(tp)
                self.by_state[state.state][tp] = state
                new.append(state)
        return new, gone

    def seek(self, state: PartitionState, position: Position) -> None:
        """A position from outside. With the epoch of the record before it, it is validated first."""
        self._fetch(state, position)
        self._validate(state, position)

    def request_reset(self, state: PartitionState, policy: ResetPolicy) -> None:
        assert policy.resets
        state.policy = policy
        state.position = None
        state.asking = False
        state.retry_at_ms = 0.0
        self._enter(state, FetchState.AWAIT_RESET)

    def complete_reset(self, state: PartitionState, policy: ResetPolicy, position: Position) -> bool:
        """The answer to a reset; False when it is no longer wanted (sought, or reset to elsewhere)."""
        if state.state is not FetchState.AWAIT_RESET or state.policy != policy:
            return False
        self.seek(state, position)
        return True

    def leader_changed(self, state: PartitionState, leader: int, leader_epoch: int) -> bool:
        """Metadata names a leader; True when the position has to be validated against it."""
        position = state.position
        if position is None or leader == NO_NODE:
            return False
        if (position.leader, position.leader_epoch) == (leader, leader_epoch):
            return False
        state.preferred_replica = NO_NODE
        self._validate(state, position._replace(leader=leader, leader_epoch=leader_epoch))
        return state.state is FetchState.AWAIT_VALIDATION

    def complete_validation(
        self, state: PartitionState, asked: Position, epoch: int, end_offset: int, policy: ResetPolicy
    ) -> Truncation | None:
        """The leader's answer: up to where its log agrees in the position's epoch. A truncation is returned
        only where no policy says how to go on.
        """
        if state.state is not FetchState.AWAIT_VALIDATION or state.position != asked:
            return None
        state.asking = False
        if epoch == NO_EPOCH or end_offset == UNKNOWN:
            if not policy.resets:
                return Truncation(asked, UNKNOWN)
            self.request_reset(state, policy)
        elif end_offset < asked.offset:
            if not policy.resets:
                return Truncation(asked, end_offset)
            self._fetch(state, asked._replace(offset=end_offset, offset_epoch=epoch))
        else:
            self._fetch(state, asked)
        return None

    def skip_validation(self, state: PartitionState) -> None:
        """For brokers that cannot be asked."""
        if state.state is FetchState.AWAIT_VALIDATION:
            assert state.position is not None
            self._fetch(state, state.position)

    def advance(self, state: PartitionState, offset: int, offset_epoch: int) -> None:
        """Records before this offset were handed out."""
        position = state.position
        assert position is not None and state.valid
        state.position = Position(offset, offset_epoch, position.leader, position.leader_epoch)

    def _validate(self, state: PartitionState, position: Position) -> None:
        if position.offset_epoch == NO_EPOCH or position.leader_epoch == NO_EPOCH:
            self._fetch(state, position)
            return
        state.position = position
        state.policy = None
        state.asking = False
        state.retry_at_ms = 0.0
        self._enter(state, FetchState.AWAIT_VALIDATION)

    def _fetch(self, state: PartitionState, position: Position) -> None:
        state.position = position
        state.policy = None
        state.asking = False
        state.retry_at_ms = 0.0
        self._enter(state, FetchState.FETCHING)

    def _enter(self, state: PartitionState, to: FetchState) -> None:
        if state.state is not to:
            del self.by_state[state.state][state.tp]
            state.state = to
            self.by_state[to][state.tp] = state
