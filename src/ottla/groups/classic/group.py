"""A classic group: its state, generation, members and leader, and what it allows.

The group is data with rules. It changes by the methods below, which the deciding parts call (`join.py`,
`sync.py`, `leave.py`, `rebalance.py`); it has no clock and writes no records. What is in the group's record
(generation, protocol, leader, members with their assignments) is its hard state; who waits, who has an id but
has not joined, and a generation that is being formed are soft and die with the process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ottla.coordination.promise import Promise
from ottla.coordination.record import CoordinatorRecord
from ottla.groups.classic.member import ClassicMember, ParkedJoin
from ottla.groups.classic.states import TRANSITIONS, ClassicState
from ottla.groups.group import CLASSIC, CONSUMER_PROTOCOL_TYPE
from ottla.groups.shard_state import Meter
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.consumer_offsets import GroupMetadataKey
from ottla.wire.messages.join_group import JoinGroupResponseMember


class ClassicGroup:
    __slots__ = (
        "group_id",
        "state",
        "previous_state",
        "since_ms",
        "generation",
        "protocol_name",
        "leader_id",
        "members",
        "static_ids",
        "pending_join",
        "pending_sync",
        "new_member_added",
        "metadata_bytes",
        "_meter",
        "_protocol_type",
        "_supporters",
        "_waiting_to_join",
        "_subscribed_topics",
    )

    def __init__(
        self,
        group_id: str,
        *,
        state: ClassicState = ClassicState.EMPTY,
        since_ms: int | None,
        generation: int = 0,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        leader_id: str | None = None,
        members: Iterable[ClassicMember] = (),
    ) -> None:
        """With members the group is made whole: without a leader the first one leads, and a protocol name
        that is missing is chosen by their votes (which is what a group made from another kind needs).
        """
        self.group_id = group_id
        self.state = state
        self.previous_state = ClassicState.DEAD
        self.since_ms = since_ms
        """Wall time of the last change of state; unknown for a group that an old broker recorded."""
        self.generation = generation
        self.protocol_name = protocol_name
        self.leader_id = leader_id
        self.members: dict[str, ClassicMember] = {}
        self.static_ids: dict[str, str] = {}
        """Instance id to member id."""
        self.pending_join: set[str] = set()
        """Ids that were handed out and have not joined yet."""
        self.pending_sync: set[str] = set()
        """Members of this generation that have not asked for their assignment yet."""
        self.new_member_added = False
        """Somebody came during the initial delay, which is a reason to wait for more."""
        self.metadata_bytes = 0
        self._meter: Meter | None = None
        self._protocol_type = protocol_type or None
        self._supporters: dict[str, int] = {}
        self._waiting_to_join = 0
        self._subscribed_topics: frozenset[str] | None = None
        for member in members:
            self.add(member)
        if self.members and self.protocol_name is None:
            self.protocol_name = self.select_protocol()
        self.refresh_subscribed_topics()

    # --- what every kind of group offers ----------------------------------------------------------------

    @property
    def type(self) -> str:
        return CLASSIC

    @property
    def protocol_type(self) -> str:
        return self._protocol_type or ""

    @property
    def protocol_type_or_none(self) -> str | None:
        return self._protocol_type

    @property
    def state_name(self) -> str:
        return self.state.value

    @property
    def is_empty(self) -> bool:
        return self.state is ClassicState.EMPTY

    def check_offset_commit(
        self, member_id: str, instance_id: str | None, generation: int, api_version: int, *, is_txn: bool
    ) -> None:
        if self.state is ClassicState.DEAD:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        if generation < 0 and self.state is ClassicState.EMPTY:
            return  # the admin client, or a consumer that does not use group management
        if generation >= 0 or member_id or instance_id is not None:
            self.check_member(member_id, instance_id)
            self.check_generation(generation)
        elif not is_txn:
            # Transactional commits of old clients name no member, and are taken in any state.
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
        if not is_txn and self.state is ClassicState.COMPLETING_REBALANCE:
            raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS)

    def session_after_commit_ms(self, member_id: str) -> int | None:
        if self.state in (ClassicState.STABLE, ClassicState.PREPARING_REBALANCE):
            member = self.members.get(member_id)
            if member is not None:
                return member.session_timeout_ms
        return None

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        self._check_not_dead()

    def check_offset_delete(self) -> None:
        self._check_not_dead()
        if self.state is not ClassicState.EMPTY and not self.uses_consumer_protocol:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP)

    def check_delete(self) -> None:
        self._check_not_dead()
        if self.state is not ClassicState.EMPTY:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP)

    def tombstones(self) -> list[CoordinatorRecord]:
        return [CoordinatorRecord(GroupMetadataKey(group=self.group_id), None)]

    def is_subscribed_to(self, topic: str) -> bool:
        if self._subscribed_topics is None:
            return self.uses_consumer_protocol  # it reads something, and nobody knows what
        return topic in self._subscribed_topics

    def expires_from_ms(self, commit_timestamp_ms: int) -> int | None:
        if self._protocol_type is None:
            return commit_timestamp_ms
        if self.state is ClassicState.EMPTY:
            return commit_timestamp_ms if self.since_ms is None else self.since_ms
        if (
            self.state is ClassicState.STABLE
            and self.uses_consumer_protocol
            and self._subscribed_topics is not None
        ):
            return commit_timestamp_ms
        return None

    def _check_not_dead(self) -> None:
        if self.state is ClassicState.DEAD:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {self.group_id} is in dead state.")

    # --- rules ------------------------------------------------------------------------------------------

    def check_member(self, member_id: str, instance_id: str | None) -> None:
        """Raises UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID when another process has the instance id now."""
        if instance_id is not None:
            known_id = self.static_ids.get(instance_id)
            if known_id is None:
                raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
            if known_id != member_id:
                raise KafkaError(ErrorCode.FENCED_INSTANCE_ID)
        if member_id not in self.members:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)

    def check_generation(self, generation: int) -> None:
        if generation != self.generation:
            raise KafkaError(ErrorCode.ILLEGAL_GENERATION)

    @property
    def uses_consumer_protocol(self) -> bool:
        return self._protocol_type == CONSUMER_PROTOCOL_TYPE

    @property
    def can_rebalance(self) -> bool:
        return ClassicState.PREPARING_REBALANCE in TRANSITIONS[self.state]

    @property
    def waiting_to_join(self) -> int:
        """How many members wait in JoinGroup."""
        return self._waiting_to_join

    @property
    def all_have_joined(self) -> bool:
        return self._waiting_to_join == len(self.members) and not self.pending_join

    @property
    def rebalance_timeout_ms(self) -> int:
        """The patience of the most patient member."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def is_leader(self, member_id: str) -> bool:
        return member_id == self.leader_id

    def supports(self, protocol_type: str, protocols: Mapping[str, bytes]) -> bool:
        """Whether somebody with these protocols may join: all members have to speak one of them."""
        if self.state is ClassicState.EMPTY:
            return bool(protocol_type) and bool(protocols)
        if self._protocol_type != protocol_type:
            return False
        size = len(self.members)
        return any(self._supporters.get(name, 0) == size for name in protocols)

    def select_protocol(self) -> str:
        """Everybody votes for what it likes best among the protocols that all speak; most votes win, and of
        equals the one that the older member voted for.
        """
        size = len(self.members)
        candidates = {name for name, supporters in self._supporters.items() if supporters == size}
        votes: dict[str, int] = {}
        for member in self.members.values():
            name = member.vote(candidates)
            votes[name] = votes.get(name, 0) + 1
        return max(votes, key=votes.__getitem__)

    @property
    def subscribed_topics(self) -> frozenset[str] | None:
        """None when it is not known: another kind of group, or metadata that does not make sense."""
        return self._subscribed_topics

    # --- changes ----------------------------------------------------------------------------------------

    def transition_to(self, state: ClassicState, now_ms: int) -> None:
        assert state in TRANSITIONS[self.state], f"{self.group_id}: {self.state} -> {state}"
        self.previous_state = self.state
        self.state = state
        self.since_ms = now_ms

    def add(self, member: ClassicMember) -> None:
        if member.instance_id is not None:
            assert member.instance_id not in self.static_ids, f"{member.instance_id} is already a member"
            self.static_ids[member.instance_id] = member.member_id
        assert member.member_id not in self.members, f"{member.member_id} is already a member"
        if not self.members:
            self._protocol_type = member.protocol_type
        assert member.protocol_type == self._protocol_type
        if self.leader_id is None:
            self.leader_id = member.member_id
        self.members[member.member_id] = member
        self._count_protocols(member, 1)
        self.pending_join.discard(member.member_id)

    def remove(self, member_id: str) -> None:
        """The member must not wait for anything any more."""
        member = self.members.pop(member_id, None)
        if member is not None:
            assert member.parked_join is None and member.parked_sync is None
            self._count_protocols(member, -1)
            if member.instance_id is not None:
                del self.static_ids[member.instance_id]
        if self.leader_id == member_id:
            self.leader_id = next(iter(self.members), None)
        self.pending_join.discard(member_id)
        self.pending_sync.discard(member_id)

    def update(
        self,
        member: ClassicMember,
        protocols: Mapping[str, bytes],
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
    ) -> None:
        self._count_protocols(member, -1)
        member.protocols = protocols
        self._count_protocols(member, 1)
        member.rebalance_timeout_ms = rebalance_timeout_ms
        member.session_timeout_ms = session_timeout_ms

    def replace_static(self, instance_id: str, new_id: str) -> ClassicMember:
        """A static member came back with a new member id: it stays what it was, down to its assignment.

        The old process must not wait for anything any more.
        """
        old_id = self.static_ids[instance_id]
        old = self.members[old_id]
        assert old.parked_join is None and old.parked_sync is None
        new = ClassicMember(
            new_id,
            instance_id=instance_id,
            client_id=old.client_id,
            client_host=old.client_host,
            rebalance_timeout_ms=old.rebalance_timeout_ms,
            session_timeout_ms=old.session_timeout_ms,
            protocol_type=old.protocol_type,
            protocols=old.protocols,
            assignment=old.assignment,
        )
        # In its place: the order of the members decides between protocols with equal votes.
        self.members = {m.member_id: m for m in (new if m is old else m for m in self.members.values())}
        self.static_ids[instance_id] = new_id
        if self.leader_id == old_id:
            self.leader_id = new_id
        if old_id in self.pending_sync:
            self.pending_sync.remove(old_id)
            self.pending_sync.add(new_id)
        return new

    def park_join(self, member: ClassicMember, parked: ParkedJoin) -> ParkedJoin | None:
        """The member waits for the generation; returns an older request of it that still waited."""
        replaced = member.parked_join
        if replaced is None:
            self._waiting_to_join += 1
        member.parked_join = parked
        return replaced

    def take_join(self, member: ClassicMember) -> ParkedJoin | None:
        """The member waits no longer; the caller answers."""
        parked = member.parked_join
        if parked is not None:
            self._waiting_to_join -= 1
            member.parked_join = None
        return parked

    def elect_joined_leader(self) -> bool:
        """Makes sure that the leader is somebody who has joined; False when nobody has."""
        leader = None if self.leader_id is None else self.members.get(self.leader_id)
        if leader is not None and leader.parked_join is not None:
            return True
        for member in self.members.values():
            if member.parked_join is not None:
                self.leader_id = member.member_id
                return True
        return False

    def begin_generation(self, now_ms: int) -> None:
        self.generation += 1
        self.protocol_name = self.select_protocol() if self.members else None
        self.refresh_subscribed_topics()
        self.transition_to(ClassicState.COMPLETING_REBALANCE if self.members else ClassicState.EMPTY, now_ms)
        self.pending_sync.clear()

    def refresh_subscribed_topics(self) -> None:
        self._subscribed_topics = self._read_subscribed_topics()

    def _read_subscribed_topics(self) -> frozenset[str] | None:
        if not self.uses_consumer_protocol:
            return None
        if not self.members:
            return frozenset()
        if self.protocol_name is None:
            return None
        topics: set[str] = set()
        for member in self.members.values():
            of_member = member.subscribed_topics(self.protocol_name)
            if of_member is None:
                return None
            topics |= of_member
        return frozenset(topics)

    def _count_protocols(self, member: ClassicMember, change: int) -> None:
        supporters = self._supporters
        for name in member.protocols:
            count = supporters.get(name, 0) + change
            if count:
                supporters[name] = count
            else:
                del supporters[name]
        size_bytes = change * member.metadata_bytes
        self.metadata_bytes += size_bytes
        if self._meter is not None:
            self._meter.size_bytes += size_bytes

    def count_in(self, meter: Meter | None) -> None:
        """The shard that has the group counts its metadata; None when it has it no longer."""
        if self._meter is not None:
            self._meter.size_bytes -= self.metadata_bytes
        self._meter = meter
        if meter is not None:
            meter.size_bytes += self.metadata_bytes

    # --- views ------------------------------------------------------------------------------------------

    def for_leader(self) -> list[JoinGroupResponseMember]:
        """The members, with their metadata in the chosen protocol, as the leader's join response has them."""
        return [
            JoinGroupResponseMember(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                metadata=member.metadata(self.protocol_name),
            )
            for member in self.members.values()
        ]

    def parked(self) -> list[Promise[Any]]:
        """Every promise that waits here."""
        promises: list[Promise[Any]] = []
        for member in self.members.values():
            if member.parked_join is not None:
                promises.append(member.parked_join.promise)
            if member.parked_sync is not None:
                promises.append(member.parked_sync)
        return promises
