"""The classic groups of one shard: the door for requests, for records, and for the other kinds of groups.

Requests change soft state while they are decided, and write the group's record when a generation is complete
or the last member is gone (see `Outcome`: `replayed` and `soft_changed` are set). A shard that is loaded
replays those records, and `loaded` starts the sessions.
"""

from __future__ import annotations

from typing import Any

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.coordination.record import CoordinatorRecord
from ottla.groups.classic.answers import release
from ottla.groups.classic.group import ClassicGroup
from ottla.groups.classic.join import Joins
from ottla.groups.classic.leave import Leaves
from ottla.groups.classic.rebalance import Rebalances, changed
from ottla.groups.classic.record import group_of, group_record
from ottla.groups.classic.states import ClassicState
from ottla.groups.classic.sync import Syncs
from ottla.groups.group import Client
from ottla.groups.shard_state import ShardState
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.describe_groups import DescribedGroup, DescribedGroupMember
from ottla.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from ottla.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse


class ClassicGroups:
    __slots__ = ("_state", "_rebalances", "_joins", "_syncs", "_leaves")

    def __init__(self, state: ShardState) -> None:
        self._state = state
        self._rebalances = Rebalances(state)
        self._joins = Joins(state, self._rebalances)
        self._syncs = Syncs(state, self._rebalances)
        self._leaves = Leaves(state, self._rebalances)

    # --- members ----------------------------------------------------------------------------------------

    def join(self, request: JoinGroupRequest, client: Client, promise: Promise[JoinGroupResponse]) -> Outcome:
        """An empty group of another kind under this name is replaced; one with members is not for us."""
        return self._joins.join(request, client, promise)

    def sync(self, request: SyncGroupRequest, client: Client, promise: Promise[SyncGroupResponse]) -> Outcome:
        return self._syncs.sync(request, client, promise)

    def leave(
        self, request: LeaveGroupRequest, client: Client, promise: Promise[LeaveGroupResponse]
    ) -> Outcome:
        return self._leaves.leave(request, client, promise)

    def heartbeat(
        self, request: HeartbeatRequest, client: Client, promise: Promise[HeartbeatResponse]
    ) -> Outcome:
        outcome = Outcome()
        outcome.answer(promise, HeartbeatResponse(error_code=self._heartbeat(request)))
        return outcome

    def _heartbeat(self, request: HeartbeatRequest) -> ErrorCode:
        if not request.group_id:
            return ErrorCode.INVALID_GROUP_ID
        group = self._state.groups.get(request.group_id)
        if not isinstance(group, ClassicGroup):
            return ErrorCode.UNKNOWN_MEMBER_ID
        if group.state is ClassicState.DEAD:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        try:
            group.check_member(request.member_id, request.group_instance_id)
            group.check_generation(request.generation_id)
        except KafkaError as error:
            return error.code
        self._rebalances.prolong_session(group, group.members[request.member_id])
        if group.state is ClassicState.PREPARING_REBALANCE:
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    # --- the log ----------------------------------------------------------------------------------------

    def replay(self, record: CoordinatorRecord) -> None:
        """A group as of its last generation, or its end."""
        group_id: str = record.key.group
        existing = self._state.groups.get(group_id)
        if record.value is not None:
            group = group_of(group_id, record.value)
            if isinstance(existing, ClassicGroup):
                existing.count_in(None)
            self._state.groups[group_id] = group
            group.count_in(self._state.metadata)
        elif isinstance(existing, ClassicGroup):
            existing.count_in(None)
            if existing.state is not ClassicState.DEAD:
                self._rebalances.cancel_timers(existing)
                existing.transition_to(ClassicState.DEAD, self._state.env.clock.now_ms())
            del self._state.groups[group_id]

    def loaded(self) -> Outcome:
        """Every member gets a fresh session; a group that has become too large rebalances, so that its
        members may commit before some of them are turned away.
        """
        outcome = Outcome()
        max_size = self._state.env.settings.max_size
        for group in list(self._state.groups.values()):
            if isinstance(group, ClassicGroup):
                self._begin_sessions(group)
                if len(group.members) > max_size:
                    self._rebalances.prepare(group, f"loaded with more than {max_size} members", outcome)
        return outcome

    def _begin_sessions(self, group: ClassicGroup) -> None:
        for member in group.members.values():
            self._rebalances.begin_session(group, member)

    def parked(self, group_id: str | None = None) -> list[Promise[Any]]:
        """Every promise that waits in a JoinGroup or SyncGroup, of one group or of all."""
        groups = self._state.groups
        chosen = groups.values() if group_id is None else [groups.get(group_id)]
        return [promise for group in chosen if isinstance(group, ClassicGroup) for promise in group.parked()]

    # --- others -----------------------------------------------------------------------------------------

    def describe(self, group: ClassicGroup) -> DescribedGroup:
        """Metadata, and the name of the protocol, are shown of a stable group only, as Kafka does."""
        is_stable = group.state is ClassicState.STABLE
        return DescribedGroup(
            group_id=group.group_id,
            group_state=group.state_name,
            protocol_type=group.protocol_type,
            protocol_data=(group.protocol_name or "") if is_stable else "",
            members=[
                DescribedGroupMember(
                    member_id=member.member_id,
                    group_instance_id=member.instance_id,
                    client_id=member.client_id,
                    client_host=member.client_host,
                    member_metadata=member.metadata(group.protocol_name) if is_stable else b"",
                    member_assignment=member.assignment,
                )
                for member in group.members.values()
            ],
        )

    def create_for_offsets(self, group_id: str) -> ClassicGroup:
        """An empty group of no protocol type, for commits of consumers that assign themselves."""
        group = ClassicGroup(group_id, since_ms=self._state.env.clock.now_ms())
        self._state.groups[group_id] = group
        return group

    def begin_rebalance(self, group: ClassicGroup, reason: str) -> Outcome:
        """Asks every member to join again, where the group is not doing so already."""
        outcome = Outcome()
        self._rebalances.prepare_or_complete(group, reason, outcome)
        return outcome

    def adopt(self, group: ClassicGroup, rebalance_because: str | None = None) -> Outcome:
        """Takes in a group that was made from one of another kind: it is written as it is, its members'
        sessions begin, and with a reason given it rebalances at once. Whatever was under its name before has
        to be taken out, in records of the same outcome, by whoever put it there.
        """
        outcome = Outcome()
        changed(outcome)
        self._state.groups[group.group_id] = group
        group.count_in(self._state.metadata)
        outcome.records.append(group_record(group))
        self._begin_sessions(group)
        if rebalance_because is not None:
            self._rebalances.prepare_or_complete(group, rebalance_because, outcome)
        return outcome

    def dissolve(self, group: ClassicGroup, error: ErrorCode = ErrorCode.REBALANCE_IN_PROGRESS) -> Outcome:
        """The group ends, because it becomes one of another kind: everybody who waits is told, and its
        tombstone is to be replayed. Its members can be read until then.
        """
        outcome = Outcome()
        outcome.soft_changed = True
        for member in group.members.values():
            release(group, member, error, member.member_id, outcome)
        self._rebalances.cancel_timers(group)
        group.transition_to(ClassicState.DEAD, self._state.env.clock.now_ms())
        outcome.records += group.tombstones()
        return outcome
