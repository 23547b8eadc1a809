"""Membership by the protocol of KIP-848: one request, ConsumerGroupHeartbeat, for everything.

    JOINING (epoch 0) -> STABLE <-> reconciling -> ... -> LEFT (epoch -1, or -2 for a static member)

The coordinator assigns. A heartbeat's answer may bring a target; what is owned beyond it is given up, what is
missing is taken (the coordinator offers only what nobody else holds), and the next heartbeat, at once, says
what is owned now. Fields that have not changed since an answered heartbeat are left out; after a lost one
everything is said again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Final

from ottla.assignors.racks import PartitionRacks
from ottla.client.coordinator import MOVED
from ottla.client.errors import OttlaError
from ottla.client.membership import (
    FOREVER,
    Assign,
    GroupSettings,
    Identity,
    Left,
    NameTopics,
    Pacing,
    Revoke,
    Send,
    Step,
    Wait,
    fatal,
)
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatRequestTopicPartitions,
    ConsumerGroupHeartbeatResponse,
)

JOIN_EPOCH: Final = 0
LEAVE_EPOCH: Final = -1
LEAVE_STATIC_EPOCH: Final = -2
"""A static member that goes away for a while: its partitions wait for it."""

UNCHANGED: Final = -1
UNNAMED_RETRY_MS: Final = 1_000
"""A topic that was just created, or just deleted, may be missing from the metadata for so long."""


class State(Enum):
    JOINING = "joining"
    STABLE = "stable"
    PARKED = "parked"
    LEFT = "left"
    FAILED = "failed"


class ConsumerMembership:
    """`member_id` is made by the member itself (KIP-1082): 22 characters of a random UUID."""

    def __init__(
        self,
        settings: GroupSettings,
        member_id: str,
        chance: Callable[[], float],
        *,
        topics: Iterable[str] = (),
        regex: str | None = None,
    ) -> None:
        self.settings = settings
        self.member_id = member_id
        self.topics = frozenset(topics)
        self.regex = regex
        self.state = State.JOINING
        self.epoch = JOIN_EPOCH
        self.owned: frozenset[TopicPartition] = frozenset()
        self._pacing = Pacing(chance)
        self._in_flight = ""
        self._callback: Revoke | Assign | None = None
        self._leaving = False
        self._remain: bool | None = None
        self._parking = False
        self._resumed = False  # while the coordinator was still being told that we leave
        self._lost = False
        self._known_to_coordinator = False  # perhaps: a heartbeat whose answer was lost may have arrived
        self._heartbeat_at_ms = 0.0
        self._target: dict[bytes, tuple[int, ...]] | None = None
        self._reconciled = True
        self._names: dict[bytes, str] = {}
        self._ids: dict[str, bytes] = {}
        self._ask_names_at_ms = 0.0
        self._renamed = 0
        """How often a name has got another id: a topic was deleted and created again while it was owned. What
        is owned has not changed then, but has to be said again."""
        self._said_owned: tuple[frozenset[TopicPartition], int] | None = None
        self._said_subscription: tuple[frozenset[str], str | None] | None = None
        self._saying: (
            tuple[tuple[frozenset[TopicPartition], int], tuple[frozenset[str], str | None]] | None
        ) = None

    # -- what a driver asks

    @property
    def identity(self) -> Identity:
        return Identity(self.member_id, self.epoch, self.settings.instance_id)

    @property
    def joined(self) -> bool:
        return self.state is State.STABLE and self._reconciled and self._target is not None

    @property
    def lost(self) -> bool:
        """Thrown out, or parked: what is owned may be with others already."""
        return self._lost

    def step(self, now_ms: float) -> Step:
        if self.state in (State.LEFT, State.FAILED):
            return Left()
        if self._in_flight:
            return Wait(FOREVER)
        if self._parking:
            return self._step_parking()
        if self._callback is not None:  # long callbacks must not cost the membership
            return self._heartbeat_or_wait(now_ms)
        if self._lost:
            if self.owned:
                return self._call(Revoke(self.owned, lost=True))
            self._lost = False
        if self._leaving:
            return self._step_leaving()
        if self.state is State.PARKED:
            return Wait(FOREVER)
        if self.state is State.STABLE and not self._reconciled:
            effect = self._reconcile(now_ms)
            if effect is not None:
                return effect
        return self._heartbeat_or_wait(now_ms)

    def subscribe(self, topics: Iterable[str], *, regex: str | None = None) -> None:
        """Changes the subscription; the next heartbeat, at once, says so."""
        self.topics, self.regex = frozenset(topics), regex

    def rejoin(self, reason: str) -> None:
        """The coordinator rebalances by itself: there is nothing to ask for, as in Java."""

    def leave(self, remain: bool | None = None) -> None:
        """Give everything up and leave; `step` goes on to `Left`. A static member whose partitions shall
        wait for it says epoch -2; that is also what it does where nothing else is said (KIP-1092). A dynamic
        member that remains says nothing and is missed when its session ends.
        """
        self._leaving = True
        self._remain = remain

    def park(self) -> None:
        """Nobody polls: leave at once, count what is owned as lost, and wait for `resume`."""
        self._parking = True
        self._resumed = False
        self._callback = None
        self._lost = True

    def resume(self) -> None:
        """Somebody polls again: join anew."""
        self._resumed = True
        if self.state is State.PARKED:
            self.state = State.JOINING

    def dismiss(self) -> None:
        """What `step` asked for last (to give partitions up, or to take them) is void: they are lost."""
        self._callback = None

    def heartbeat_now(self) -> None:
        self._heartbeat_at_ms = 0.0

    def abandon(self) -> None:
        """The driver stopped in the middle of an effect and will not report on it."""
        self._in_flight = ""
        self._callback = None
        self._forget_said()

    # -- what a driver reports

    def revoked(self, now_ms: float) -> None:
        assert isinstance(self._callback, Revoke)
        self.owned -= self._callback.partitions
        self._callback = None

    def assigned(self, now_ms: float) -> None:
        assert isinstance(self._callback, Assign)
        self.owned |= self._callback.partitions
        self._callback = None

    def topic_names(self, names: Mapping[bytes, str], now_ms: float) -> None:
        """The names of the topics that were asked for; those that are not there are left out."""
        self._in_flight = ""
        self._names.update(names)
        for topic_id, name in names.items():
            if self._ids.get(name, topic_id) != topic_id:
                self._names.pop(self._ids[name], None)
                self._renamed += 1
            self._ids[name] = topic_id
        self._ask_names_at_ms = now_ms + UNNAMED_RETRY_MS

    def partition_counts(
        self, counts: Mapping[str, int], now_ms: float, racks: PartitionRacks | None = None
    ) -> None:
        raise AssertionError("the coordinator assigns, nobody here counts partitions")

    def failed(self, error: OttlaError, now_ms: float) -> None:
        what, self._in_flight = self._in_flight, ""
        if what == "leave":
            self._gone()
            return
        if not error.retriable:
            self.state = State.FAILED
            self._lost = True
            raise error
        if what == "names":
            self._ask_names_at_ms = now_ms + UNNAMED_RETRY_MS
            return
        self._forget_said()
        self._pacing.back_off(now_ms, rediscover=True)

    def answered(self, response: ConsumerGroupHeartbeatResponse, now_ms: float) -> None:
        what, self._in_flight = self._in_flight, ""
        if what == "leave":
            self._gone()
        elif response.error_code:
            self._refused(response, now_ms)
        else:
            self._accepted(response, now_ms)

    def _accepted(self, response: ConsumerGroupHeartbeatResponse, now_ms: float) -> None:
        self._pacing.succeeded()
        self.state = State.STABLE
        self.epoch = response.member_epoch
        self.member_id = response.member_id or self.member_id
        self._heartbeat_at_ms = now_ms + response.heartbeat_interval_ms
        if self._saying is not None:
            self._said_owned, self._said_subscription = self._saying
        if response.assignment is not None:
            self._target = {
                bytes(t.topic_id): tuple(t.partitions) for t in response.assignment.topic_partitions
            }
            self._reconciled = False
            self._ask_names_at_ms = 0.0

    def _refused(self, response: ConsumerGroupHeartbeatResponse, now_ms: float) -> None:
        code = response.error_code
        self._forget_said()
        if code in MOVED or code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            self._pacing.back_off(now_ms, rediscover=code in MOVED)
        elif code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH) or (
            # The group of a member can only be gone when its records are: the offsets topic was deleted, or
            # a disk lost its end. One that joins is told so of a group of another type.
            code == ErrorCode.GROUP_ID_NOT_FOUND and self.epoch != JOIN_EPOCH
        ):
            self._thrown_out()
        elif code in (ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.REQUEST_TIMED_OUT):
            self._pacing.back_off(now_ms, rediscover=False)
        else:
            self.state = State.FAILED
            self._lost = True
            raise fatal(code, self.settings.group_id, response.error_message)

    def _thrown_out(self) -> None:
        """Others may have our partitions. Join again, with nothing, under the same name."""
        self.state = State.JOINING
        self.epoch = JOIN_EPOCH
        self._lost = True
        self._target = None
        self._reconciled = True
        self._heartbeat_at_ms = 0.0

    def _forget_said(self) -> None:
        """Whether the coordinator took in the last heartbeat is not known: say everything again."""
        self._said_owned = None
        self._said_subscription = None

    # -- reconciling

    def _call(self, effect: Revoke | Assign) -> Revoke | Assign:
        self._callback = effect
        return effect

    def _reconcile(self, now_ms: float) -> Step | None:
        """The next thing to do about the target; None when nothing can be done now."""
        assert self._target is not None
        unnamed = frozenset(topic_id for topic_id in self._target if topic_id not in self._names)
        if unnamed and now_ms >= self._ask_names_at_ms:
            self._in_flight = "names"
            return NameTopics(unnamed)
        target = frozenset(
            TopicPartition(self._names[topic_id], index)
            for topic_id, indexes in self._target.items()
            if topic_id in self._names
            for index in indexes
        )
        moved = self.owned - target
        if moved:
            return self._call(Revoke(moved))
        if target != self.owned:
            return self._call(Assign(target - self.owned))
        if not unnamed:
            self._reconciled = True
        return None

    # -- heartbeats

    def _heartbeat_or_wait(self, now_ms: float) -> Step:
        if self.state in (State.JOINING, State.PARKED) and self._callback is not None:
            return Wait(FOREVER)
        news = self._callback is None and (
            self._said_subscription != (self.topics, self.regex)
            or self._said_owned != (self.owned, self._renamed)
        )
        due_ms = 0.0 if news else self._heartbeat_at_ms
        due_ms = max(due_ms, self._pacing.not_before_ms)
        if now_ms < due_ms:
            if not self._reconciled and self._callback is None:
                due_ms = min(due_ms, max(self._ask_names_at_ms, now_ms + 1))
            return Wait(due_ms)
        return self._send_heartbeat(now_ms)

    def _send_heartbeat(self, now_ms: float) -> Send:
        settings = self.settings
        joining = self.epoch == JOIN_EPOCH
        everything = joining or self._said_subscription is None
        subscription = (self.topics, self.regex)
        request = ConsumerGroupHeartbeatRequest(
            group_id=settings.group_id,
            member_id=self.member_id,
            member_epoch=self.epoch,
            instance_id=settings.instance_id,
            rack_id=settings.rack_id if everything else None,
            rebalance_timeout_ms=settings.rebalance_timeout_ms if everything else UNCHANGED,
            server_assignor=settings.remote_assignor if everything else None,
        )
        if everything or self._said_subscription != subscription:
            request.subscribed_topic_names = sorted(self.topics)
            if self.regex is not None:
                request.subscribed_topic_regex = self.regex
            elif self._said_subscription is not None and self._said_subscription[1]:
                request.subscribed_topic_regex = ""  # how a regular expression is taken back
        if everything or self._said_owned != (self.owned, self._renamed):
            request.topic_partitions = self._owned_by_id()
        self._saying = ((self.owned, self._renamed), subscription)
        self._known_to_coordinator = True
        self._in_flight = "heartbeat"
        self._heartbeat_at_ms = now_ms + settings.heartbeat_interval_ms
        return Send(request, None, self._pacing.take_rediscover())

    def _owned_by_id(self) -> list[ConsumerGroupHeartbeatRequestTopicPartitions]:
        by_topic: dict[str, list[int]] = {}
        for tp in sorted(self.owned):
            by_topic.setdefault(tp.topic, []).append(tp.partition)
        return [
            ConsumerGroupHeartbeatRequestTopicPartitions(topic_id=self._ids[topic], partitions=indexes)
            for topic, indexes in by_topic.items()
        ]

    # -- leaving

    def _step_leaving(self) -> Step:
        if self.owned:
            return self._call(Revoke(self.owned))
        static = self.settings.instance_id is not None
        remain = static if self._remain is None else self._remain
        if not self._known_to_coordinator or (remain and not static):
            self.state = State.LEFT
            return Left()
        return self._send_leave(LEAVE_STATIC_EPOCH if remain else LEAVE_EPOCH)

    def _step_parking(self) -> Step:
        if self._known_to_coordinator:
            return self._send_leave(LEAVE_EPOCH if self.settings.instance_id is None else LEAVE_STATIC_EPOCH)
        self._gone()
        return Wait(FOREVER)

    def _gone(self) -> None:
        """The coordinator was told, as well as it could be."""
        if not self._parking:
            self.state = State.LEFT
            return
        self._parking = False
        self._known_to_coordinator = False
        self._forget_said()
        self._thrown_out()
        self.state = State.JOINING if self._resumed else State.PARKED

    def _send_leave(self, epoch: int) -> Step:
        self._in_flight = "leave"
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.settings.group_id,
            member_id=self.member_id,
            member_epoch=epoch,
            instance_id=self.settings.instance_id,
            rebalance_timeout_ms=UNCHANGED,
        )
        return Send(request, None, self._pacing.take_rediscover())
