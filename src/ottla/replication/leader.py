"""What a leader knows of its followers, and how far all that count have come.

A follower's fetch says how much of the log it has: everything below its fetch offset. The high watermark is
the smallest such end over the *maximal* in-sync set: the committed set and whoever was proposed for it. Were
a proposed member not counted, the controller could make a leader of it that lacks acknowledged records.

A follower outside the set that keeps up is counted as well (as in Kafka): otherwise the high watermark of a
leader that is alone would run ahead of it with every append, and it would never reach it to be let in.

Idle partitions cost nothing. A follower that stands at the log's end is caught up, however long nothing was
heard of it; the moment at which the leader appends is the last one at which it was.
"""

from __future__ import annotations

from typing import Final

from ottla.log.log import Log
from ottla.model.errors import ErrorCode, KafkaError

UNKNOWN_OFFSET: Final = -1
NEVER_MS: Final = float("-inf")


def divergence(log: Log, offset: int, last_fetched_epoch: int) -> tuple[int, int] | None:
    """Whether another log, which ends at `offset` with a record of `last_fetched_epoch`, can be part of this
    not: the largest epoch of this log that is not above that one, and where it ends (KIP-595).

    Raises KafkaError(OFFSET_OUT_OF_RANGE) when this log cannot say.
    """
    epoch, end_offset = log.end_offset_for_epoch(last_fetched_epoch)
    if epoch < 0 or end_offset < 0 or offset < log.log_start_offset:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
    if epoch < last_fetched_epoch or end_offset < offset:
        return epoch, end_offset
    return None


class Follower:
    """One other replica, as its fetches show it."""

    __slots__ = (
        "node_id",
        "log_end_offset",
        "log_start_offset",
        "caught_up_ms",
        "broker_epoch",
        "in_isr",
        "keeps_up",
        "placed_by",
        "_asked_ms",
        "_asked_end_offset",
    )

    def __init__(self, node_id: int) -> None:
        self.node_id = node_id
        self.log_end_offset = UNKNOWN_OFFSET
        self.log_start_offset = UNKNOWN_OFFSET
        self.caught_up_ms = NEVER_MS
        """When it last had everything, on the monotonic clock; while it stands at the end: now."""
        self.broker_epoch = -1
        self.in_isr = False
        """In the maximal set."""
        self.keeps_up = False
        """Outside the set, and so close behind that it will soon be let in."""
        self.placed_by: object = None
        """Whose fetch said last where it stands: its session's note of the partition."""
        self._asked_ms = NEVER_MS
        self._asked_end_offset = UNKNOWN_OFFSET

    def __repr__(self) -> str:
        return f"Follower({self.node_id}, end={self.log_end_offset}, in_isr={self.in_isr})"

    def begin_epoch(self, now_ms: float, *, in_isr: bool) -> None:
        """Under a new epoch nothing is known of it, but a member of the set has its time to show itself."""
        self.log_end_offset = UNKNOWN_OFFSET
        self.log_start_offset = UNKNOWN_OFFSET
        self.caught_up_ms = now_ms if in_isr else NEVER_MS
        self.keeps_up = False
        self._asked_ms = NEVER_MS
        self._asked_end_offset = UNKNOWN_OFFSET

    def fetched(
        self,
        offset: int,
        log_start_offset: int,
        broker_epoch: int,
        leader_end_offset: int,
        now_ms: float,
    ) -> None:
        """It asks for what follows `offset`, so it has everything below."""
        if offset >= leader_end_offset:
            self.caught_up_ms = now_ms
        elif offset >= self._asked_end_offset > UNKNOWN_OFFSET and self._asked_ms > self.caught_up_ms:
            # It has what there was when it asked before: then it was caught up at that time, at least.
            self.caught_up_ms = self._asked_ms
        self._asked_ms = now_ms
        self._asked_end_offset = leader_end_offset
        self.log_end_offset = offset
        self.log_start_offset = log_start_offset
        self.broker_epoch = broker_epoch

    def fell_behind(self, now_ms: float) -> None:
        """It stood at the log's end, and the leader appends now."""
        self.caught_up_ms = now_ms
        self._asked_ms = now_ms
        self._asked_end_offset = self.log_end_offset

    def is_caught_up(self, leader_end_offset: int, now_ms: float, lag_max_ms: float) -> bool:
        return self.log_end_offset == leader_end_offset or now_ms - self.caught_up_ms <= lag_max_ms


class Leading:
    """The leader's side of a partition that has other replicas. A partition without has none of this."""

    __slots__ = ("followers", "counted", "epoch_start_offset", "own_end_offset", "held_bytes")

    def __init__(self) -> None:
        self.followers: dict[int, Follower] = {}
        self.counted: tuple[Follower, ...] = ()
        """Those whose progress the high watermark waits for."""
        self.epoch_start_offset = 0
        self.own_end_offset = 0
        """The leader's own end, or how far the flush policy lets it count."""
        self.held_bytes = 0
        """Appended, and not yet below the high watermark."""

    def take_replicas(self, others: tuple[int, ...]) -> None:
        """Keeps what is known of those that stay."""
        self.followers = {each: self.followers.get(each) or Follower(each) for each in others}

    def count(self) -> None:
        """After the set, or somebody's place in it, changed."""
        self.counted = tuple(
            follower for follower in self.followers.values() if follower.in_isr or follower.keeps_up
        )

    def committed_end_offset(self) -> int:
        end = self.own_end_offset
        for follower in self.counted:
            if follower.log_end_offset < end:
                end = follower.log_end_offset
        return end

    def low_watermark(self, log_start_offset: int, alive: frozenset[int]) -> int:
        """The smallest log start over the replicas whose brokers live."""
        return min(
            [
                log_start_offset,
                *(each.log_start_offset for each in self.followers.values() if each.node_id in alive),
            ]
        )
