"""Membership by the classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

    UNJOINED -> JOINING -> (leader: COUNTING ->) SYNCING -> STABLE -> UNJOINED ...

Members send their subscriptions to the coordinator; the one it makes leader gets them all, assigns with an
assignor that every member offers, and SyncGroup hands the parts out. Eager assignors give everything up
before they join again; cooperative ones (KIP-429) keep reading, give up after SyncGroup only what has moved,
and then join once more so that it can be handed on. An error of the coordinator that ends the membership is
raised out of `answered`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, Final, Protocol

from ottla.assignors.racks import PartitionRacks
from ottla.assignors.subscription import Subscription
from ottla.client.consumer_protocol import (
    PROTOCOL_TYPE,
    ForeignBytes,
    read_assignment,
    read_subscription,
    write_assignment,
    write_subscription,
)
from ottla.client.coordinator import MOVED
from ottla.client.effects import Versioned
from ottla.client.errors import InvalidArgument, OttlaError, ProtocolError
from ottla.client.membership import (
    FOREVER,
    NO_GENERATION,
    Assign,
    CountPartitions,
    GroupSettings,
    Identity,
    Left,
    Pacing,
    Revoke,
    Send,
    Step,
    Wait,
    fatal,
)
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from ottla.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse

ASSIGNORS: Final[Mapping[str, str]] = {
    "range": "ottla.assignors.range",
    "roundrobin": "ottla.assignors.round_robin",
    "sticky": "ottla.assignors.sticky",
    "cooperative-sticky": "ottla.assignors.cooperative_sticky",
}
"""The built-in assignors by the names that they have on the wire, and where they are."""

COOPERATIVE: Final = frozenset({"cooperative-sticky"})

MISSING_RECOUNT_MS: Final = 1_000
"""While a topic that somebody subscribed to does not exist, the leader looks for it so often."""

JOIN_GRACE_MS: Final = 5_000
"""A JoinGroup is held until all members have joined or the rebalance timeout is over; so much later, as in
Java, it counts as lost."""


class State(Enum):
    UNJOINED = "unjoined"
    JOINING = "joining"
    COUNTING = "counting"
    SYNCING = "syncing"
    STABLE = "stable"
    PARKED = "parked"
    LEFT = "left"
    FAILED = "failed"


class OwnAssignor(Protocol):
    """An assignor that is not among the built-in ones (`client/consuming/assignors.py`)."""

    cooperative: bool

    def user_data(self, topics: frozenset[str]) -> bytes | None: ...

    def assign(
        self, partition_counts: Mapping[str, int], members: Mapping[str, Subscription]
    ) -> dict[str, list[TopicPartition]]: ...


class ClassicMembership:
    def __init__(
        self,
        settings: GroupSettings,
        topics: Iterable[str],
        chance: Callable[[], float],
        own: Mapping[str, OwnAssignor] | None = None,
    ) -> None:
        self._own = dict(own or {})
        for name in settings.assignors:
            if name not in ASSIGNORS and name not in self._own:
                raise InvalidArgument(f"there is no assignor {name!r} (assignors: {', '.join(ASSIGNORS)})")
        self.settings = settings
        self.topics = frozenset(topics)
        self.state = State.UNJOINED
        self.member_id = ""
        self.generation = NO_GENERATION
        self.owned: frozenset[TopicPartition] = frozenset()
        self.is_leader = False
        self.protocol = ""
        self.cooperative = all(
            self._own[name].cooperative if name in self._own else name in COOPERATIVE
            for name in settings.assignors
        )
        """As in Java: cooperative only when every assignor that we offer is."""
        self._pacing = Pacing(chance)
        self._in_flight = ""
        self._callback: Revoke | Assign | None = None
        self._leaving = False
        self._remain: bool | None = None
        self._parking = False
        self._resumed = False  # while the coordinator was still being told that we leave
        self._lost = False
        self._rejoin = False
        self._reason = ""
        self._heartbeat_at_ms = 0.0
        self._previous: frozenset[TopicPartition] = frozenset()  # what `sticky` tells the leader
        self._previous_generation = NO_GENERATION
        self._join: JoinGroupResponse | None = None
        self._assignments: dict[str, list[TopicPartition]] = {}
        self._counts: dict[str, int] = {}
        self._count_at_ms = FOREVER
        self._target: frozenset[TopicPartition] | None = None

    # -- what a driver asks

    @property
    def identity(self) -> Identity:
        return Identity(self.member_id, self.generation, self.settings.instance_id)

    @property
    def joined(self) -> bool:
        return self.state is State.STABLE and self._target is None

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
            return self._step_leaving(now_ms)
        if self.state is State.PARKED:
            return Wait(FOREVER)
        if self._target is not None:
            return self._reconcile(self._target)
        if now_ms < self._pacing.not_before_ms:
            return Wait(self._pacing.not_before_ms)
        if self.state is State.STABLE and self._rejoin:
            self.state = State.UNJOINED
        if self.state is State.UNJOINED:
            if self.owned and not self.cooperative:
                return self._call(Revoke(self.owned))
            return self._send_join()
        if self.state is State.COUNTING:
            self._in_flight = "count"
            return CountPartitions(self._subscribed())
        if self.state is State.SYNCING:
            return self._send_sync()
        assert self.state is State.STABLE
        if self.is_leader and now_ms >= self._count_at_ms:
            self._count_at_ms = now_ms + self.settings.metadata_max_age_ms
            self._in_flight = "count"
            return CountPartitions(self._subscribed())
        return self._heartbeat_or_wait(now_ms)

    def subscribe(self, topics: Iterable[str]) -> None:
        """Changes the subscription; the group is told by joining again."""
        wanted = frozenset(topics)
        if wanted != self.topics:
            self.topics = wanted
            self._want_rejoin("the subscription changed")

    def rejoin(self, reason: str) -> None:
        """Makes the group rebalance (KIP-568), once what is under way is over."""
        self._want_rejoin(reason)

    def leave(self, remain: bool | None = None) -> None:
        """Give everything up and leave; `step` goes on to `Left`. The coordinator is told so unless we
        `remain` until our session ends, as static members do where nothing else is said (KIP-1092).
        """
        self._leaving = True
        self._remain = remain

    def park(self) -> None:
        """Nobody polls: leave at once (a static member goes silent), count what is owned as lost, and wait
        for `resume`.
        """
        self._parking = True
        self._resumed = False
        self._callback = None
        self._lost = True

    def resume(self) -> None:
        """Somebody polls again: join anew."""
        self._resumed = True
        if self.state is State.PARKED:
            self.state = State.UNJOINED

    def dismiss(self) -> None:
        """What `step` asked for last (to give partitions up, or to take them) is void: they are lost."""
        self._callback = None

    def heartbeat_now(self) -> None:
        self._heartbeat_at_ms = 0.0

    def abandon(self) -> None:
        """The driver stopped in the middle of an effect and will not report on it."""
        self._in_flight = ""
        self._callback = None

    # -- what a driver reports

    def revoked(self, now_ms: float) -> None:
        assert isinstance(self._callback, Revoke)
        self.owned -= self._callback.partitions
        self._callback = None

    def assigned(self, now_ms: float) -> None:
        assert isinstance(self._callback, Assign)
        self.owned |= self._callback.partitions
        self._callback = None
        if self.owned == self._target:
            self._target = None

    def partition_counts(
        self, counts: Mapping[str, int], now_ms: float, racks: PartitionRacks | None = None
    ) -> None:
        """How many partitions each topic has; topics that are not there are left out."""
        self._in_flight = ""
        known = {topic: counts[topic] for topic in self._subscribed() if topic in counts}
        recount_ms: float = self.settings.metadata_max_age_ms
        if len(known) < len(self._subscribed()):
            recount_ms = min(recount_ms, MISSING_RECOUNT_MS)
        if self.state is State.STABLE:
            self._count_at_ms = now_ms + recount_ms
            if known != self._counts:
                self._want_rejoin("the topics' partitions changed")
            return
        if self.state is not State.COUNTING:
            return
        self._counts = known
        self._count_at_ms = now_ms + recount_ms
        assert self._join is not None
        self.state = State.SYNCING
        if self._join.skip_assignment:  # KIP-814: a static leader came back, the assignment stands
            return
        members = {
            m.member_id: read_subscription(bytes(m.metadata), group_instance_id=m.group_instance_id)
            for m in self._join.members
        }
        own = self._own.get(self.protocol)
        try:
            if own is not None:
                self._assignments = own.assign(known, members)
            else:
                from ottla.assignors.protocol import CLIENT_ASSIGNORS

                self._assignments = CLIENT_ASSIGNORS[self.protocol].assign(known, members, racks)
        except Exception:
            self.state = State.FAILED
            self._lost = True
            raise

    def topic_names(self, names: Mapping[bytes, str], now_ms: float) -> None:
        raise AssertionError("the classic protocol names topics itself")

    def failed(self, error: OttlaError, now_ms: float) -> None:
        """The request, or the question about the cluster, could not be carried out."""
        what, self._in_flight = self._in_flight, ""
        if what == "leave":
            self._gone()
            return
        if not error.retriable:
            self.state = State.FAILED
            self._lost = True
            raise error
        self._back_off(now_ms, rediscover=what != "count")
        if what in ("join", "sync"):
            self.state = State.UNJOINED

    def answered(self, response: Any, now_ms: float) -> None:
        what, self._in_flight = self._in_flight, ""
        code = response.error_code
        if what == "leave":
            self._gone()
        elif code:
            self._refused(what, response, now_ms)
        elif what == "join":
            self._pacing.succeeded()
            self._took_join(response, now_ms)
        elif what == "sync":
            self._pacing.succeeded()
            self._took_sync(response, now_ms)
        else:
            self._pacing.succeeded()

    # -- refusals

    def _refused(
        self, what: str, response: JoinGroupResponse | SyncGroupResponse | HeartbeatResponse, now_ms: float
    ) -> None:
        code = response.error_code
        if code == ErrorCode.MEMBER_ID_REQUIRED and isinstance(response, JoinGroupResponse):
            self.member_id = response.member_id  # KIP-394: join again under this name
            self.state = State.UNJOINED
        elif code in MOVED or code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            self._back_off(now_ms, rediscover=code in MOVED)
            if what != "heartbeat":
                self.state = State.UNJOINED
        elif code == ErrorCode.REBALANCE_IN_PROGRESS:
            if what == "heartbeat":
                self._want_rejoin("the group is rebalancing")
            else:
                self._back_off(now_ms, rediscover=False)
                self.state = State.UNJOINED
        elif code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION):
            if code == ErrorCode.UNKNOWN_MEMBER_ID:
                self.member_id = ""
            if what == "join":
                self._back_off(now_ms, rediscover=False)
            self._thrown_out()
        else:
            self._fail(code)

    def _back_off(self, now_ms: float, *, rediscover: bool) -> None:
        self._pacing.back_off(now_ms, rediscover=rediscover)
        self._heartbeat_at_ms = 0.0  # one that was lost is made up for as soon as that is over

    def _fail(self, code: int) -> None:
        self.state = State.FAILED
        self.generation = NO_GENERATION
        self._lost = True
        raise fatal(code, self.settings.group_id)

    def _thrown_out(self) -> None:
        """The coordinator no longer knows us: others may have our partitions."""
        self.generation = NO_GENERATION
        self.is_leader = False
        self.state = State.UNJOINED
        self._lost = True
        self._target = None
        self._rejoin = False
        self._previous = frozenset()

    def _want_rejoin(self, reason: str) -> None:
        self._rejoin = True
        self._reason = reason

    # -- joining

    def _send_join(self) -> Send:
        self.state = State.JOINING
        self._in_flight = "join"
        self._rejoin = False
        settings = self.settings
        request = JoinGroupRequest(
            group_id=settings.group_id,
            session_timeout_ms=settings.session_timeout_ms,
            rebalance_timeout_ms=settings.rebalance_timeout_ms,
            member_id=self.member_id,
            group_instance_id=settings.instance_id,
            protocol_type=PROTOCOL_TYPE,
            protocols=[
                JoinGroupRequestProtocol(name=name, metadata=self._subscription(name))
                for name in settings.assignors
            ],
            reason=self._reason or None,
        )
        self._reason = ""
        timeout_ms = settings.rebalance_timeout_ms + JOIN_GRACE_MS
        return Send(request, timeout_ms, self._pacing.take_rediscover())

    def _subscription(self, assignor: str) -> bytes:
        from ottla.assignors.user_data import encode_generation, encode_previous_assignment

        user_data = None
        if assignor in self._own:
            user_data = self._own[assignor].user_data(self.topics)
        elif assignor == "sticky" and self._previous:
            user_data = encode_previous_assignment(sorted(self._previous), self._previous_generation)
        elif assignor == "cooperative-sticky":
            user_data = encode_generation(self.generation)
        return write_subscription(
            sorted(self.topics),
            self.owned,
            generation=self.generation,
            rack=self.settings.rack_id,
            user_data=user_data,
        )

    def _took_join(self, response: JoinGroupResponse, now_ms: float) -> None:
        self.member_id = response.member_id
        self.generation = response.generation_id
        self.protocol = response.protocol_name or ""
        self.is_leader = response.leader == response.member_id
        self._heartbeat_at_ms = now_ms + self.settings.heartbeat_interval_ms
        self._assignments = {}
        self._join = None
        self.state = State.SYNCING
        if self.protocol not in self.settings.assignors:
            self.state = State.FAILED
            raise ProtocolError(
                f"the coordinator chose the assignor {self.protocol!r}, which was not offered"
            )
        if not self.is_leader:
            return
        try:
            for member in response.members:
                read_subscription(bytes(member.metadata))
        except ForeignBytes as error:
            self.state = State.FAILED
            raise ProtocolError(f"a member's subscription cannot be read: {error}") from error
        self._join = response
        self.state = State.COUNTING

    def _subscribed(self) -> frozenset[str]:
        """The topics of all members, as far as we know them: the leader knows them all."""
        if self._join is None:
            return self.topics
        return frozenset(
            topic for m in self._join.members for topic in read_subscription(bytes(m.metadata)).topics
        )

    def _send_sync(self) -> Send:
        self._in_flight = "sync"
        request = SyncGroupRequest(
            group_id=self.settings.group_id,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.settings.instance_id,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=self.protocol,
            assignments=[
                SyncGroupRequestAssignment(member_id=member_id, assignment=write_assignment(partitions))
                for member_id, partitions in self._assignments.items()
            ],
        )
        timeout_ms = self.settings.rebalance_timeout_ms + JOIN_GRACE_MS
        return Send(request, timeout_ms, self._pacing.take_rediscover())

    def _took_sync(self, response: SyncGroupResponse, now_ms: float) -> None:
        try:
            given = frozenset(read_assignment(bytes(response.assignment)))
        except ForeignBytes as error:
            self.state = State.FAILED
            raise ProtocolError(f"the leader's assignment cannot be read: {error}") from error
        self.state = State.STABLE
        self._target = given
        self._previous, self._previous_generation = given, self.generation
        if self.cooperative and self.owned - given:
            self._want_rejoin("partitions were given up and can be handed on")

    def _reconcile(self, target: frozenset[TopicPartition]) -> Step:
        moved = self.owned - target
        return self._call(Revoke(moved) if moved else Assign(target - self.owned))

    def _call(self, effect: Revoke | Assign) -> Revoke | Assign:
        self._callback = effect
        return effect

    # -- staying and leaving

    def _heartbeat_or_wait(self, now_ms: float) -> Step:
        if self.generation == NO_GENERATION or not self.member_id:
            return Wait(FOREVER)
        due_ms = max(self._heartbeat_at_ms, self._pacing.not_before_ms)
        if self.is_leader and self.state is State.STABLE and self._callback is None:
            due_ms = min(due_ms, max(self._count_at_ms, self._pacing.not_before_ms))
        if now_ms < due_ms:
            return Wait(due_ms)
        self._heartbeat_at_ms = now_ms + self.settings.heartbeat_interval_ms
        self._in_flight = "heartbeat"
        request = HeartbeatRequest(
            group_id=self.settings.group_id,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.settings.instance_id,
        )
        return Send(request, self.settings.session_timeout_ms, self._pacing.take_rediscover())

    def _step_leaving(self, now_ms: float) -> Step:
        if self.owned:
            self._target = None
            return self._call(Revoke(self.owned))
        remain = self.settings.instance_id is not None if self._remain is None else self._remain
        if not self.member_id or remain:
            self.state = State.LEFT  # a static member stays until its session ends (KIP-345)
            return Left()
        return self._send_leave(self.settings.leave_reason)

    def _step_parking(self) -> Step:
        if self.member_id and self.settings.instance_id is None:
            return self._send_leave("nobody polled for max.poll.interval.ms")
        self._gone()
        return Wait(FOREVER)

    def _gone(self) -> None:
        """The coordinator was told, as well as it could be."""
        if not self._parking:
            self.state = State.LEFT
            return
        self._parking = False
        self._thrown_out()
        self.member_id = ""
        self.state = State.UNJOINED if self._resumed else State.PARKED

    def _send_leave(self, why: str) -> Step:
        self._in_flight = "leave"

        def build(version: int) -> LeaveGroupRequest:
            if version < 3:
                return LeaveGroupRequest(group_id=self.settings.group_id, member_id=self.member_id)
            me = MemberIdentity(
                member_id=self.member_id,
                group_instance_id=self.settings.instance_id,
                reason=why if version >= 5 else None,
            )
            return LeaveGroupRequest(group_id=self.settings.group_id, members=[me])

        request = Versioned(LeaveGroupRequest.API_KEY, build)
        return Send(request, None, self._pacing.take_rediscover())
