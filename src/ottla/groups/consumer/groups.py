"""The consumer groups of a shard: the door to this package.

    heartbeat.py        ConsumerGroupHeartbeat: join, stay, leave
    classic_members.py  the requests of members that speak the classic protocol
    migration.py        a classic group becomes a consumer group, and the other way round
    settle.py           what follows from a member's change: epoch, target, the member's next step
    target.py           the target assignment, computed at once or as a job
    reconcile.py        one member's next step towards its target
    patterns.py         regular expressions matched against the topics, as a job (regex.py)
    fence.py            members that go, and the timers that say when
    group.py            the state, changed by records only (records.py, member.py)

Decisions return records and change nothing; `replay` changes the groups. The one exception is a group that
becomes a classic one, which is changed while deciding as classic groups are.
"""

from __future__ import annotations

from typing import Any

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.coordination.record import CoordinatorRecord
from ottla.groups.classic.groups import ClassicGroups
from ottla.groups.consumer import classic_members
from ottla.groups.consumer.context import Context
from ottla.groups.consumer.describe import describe
from ottla.groups.consumer.fence import begin_revocation, begin_session, cancel_timers
from ottla.groups.consumer.group import ConsumerGroup
from ottla.groups.consumer.heartbeat import heartbeat
from ottla.groups.consumer.member import MemberState
from ottla.groups.group import Client
from ottla.groups.shard_state import ShardState
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.consumer_group_describe import DescribedGroup
from ottla.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from ottla.wire.messages.consumer_offsets import ConsumerGroupMemberMetadataKey
from ottla.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from ottla.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse


class ConsumerGroups:
    __slots__ = ("_state", "_context")

    def __init__(self, state: ShardState, classic: ClassicGroups) -> None:
        self._state = state
        self._context = Context(state, classic)

    # --- requests -----------------------------------------------------------------------------------------

    def heartbeat(
        self,
        request: ConsumerGroupHeartbeatRequest,
        client: Client,
        promise: Promise[ConsumerGroupHeartbeatResponse],
    ) -> Outcome:
        return heartbeat(self._context, request, client, promise)

    def join(self, request: JoinGroupRequest, client: Client, promise: Promise[JoinGroupResponse]) -> Outcome:
        """An empty consumer group gives way to a classic one."""
        group = self._context.group(request.group_id)
        if group.is_empty:
            outcome = self._context.classic.join(request, client, promise)
            if self._context.find(request.group_id) is None:
                self._context.forget(request.group_id)
            return outcome
        return classic_members.join(self._context, group, request, client, promise)

    def sync(self, request: SyncGroupRequest, client: Client, promise: Promise[SyncGroupResponse]) -> Outcome:
        return classic_members.sync(self._context, self._with_members(request.group_id), request, promise)

    def classic_heartbeat(
        self, request: HeartbeatRequest, client: Client, promise: Promise[HeartbeatResponse]
    ) -> Outcome:
        return classic_members.heartbeat(
            self._context, self._with_members(request.group_id), request, promise
        )

    def leave(
        self, request: LeaveGroupRequest, client: Client, promise: Promise[LeaveGroupResponse]
    ) -> Outcome:
        return classic_members.leave(
            self._context, self._with_members(request.group_id), request, client, promise
        )

    def _with_members(self, group_id: str) -> ConsumerGroup:
        group = self._context.find(group_id)
        if group is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Group {group_id} not found.")
        return group

    def describe(self, group: ConsumerGroup) -> DescribedGroup:
        return describe(self._context, group)

    # --- the log ------------------------------------------------------------------------------------------

    def replay(self, record: CoordinatorRecord) -> None:
        """A record that says something makes the group it is about; a tombstone for one that is not there
        says nothing.
        """
        group_id: str = record.key.group_id
        group = self._state.groups.get(group_id)
        if not isinstance(group, ConsumerGroup):
            if record.value is None:
                return
            group = self._state.groups[group_id] = ConsumerGroup(group_id)
        if record.value is None and isinstance(record.key, ConsumerGroupMemberMetadataKey):
            cancel_timers(self._context, group_id, record.key.member_id)
        if not group.apply(record):
            del self._state.groups[group_id]
            self._context.forget(group_id)

    def loaded(self) -> Outcome:
        """Every member has a whole session, and whole time to give up partitions, from now."""
        context = self._context
        context.forget_all()
        for group in self._state.groups.values():
            if isinstance(group, ConsumerGroup):
                for member in group.members.values():
                    timeout_ms = None if member.classic is None else member.classic.session_timeout_ms
                    begin_session(context, group.group_id, member.member_id, timeout_ms)
                    if member.classic is None and member.state is MemberState.UNREVOKED_PARTITIONS:
                        begin_revocation(context, group.group_id, member)
        return Outcome()

    def topics_changed(self) -> None:
        """`env.topics` is a new view. Nothing is done for now: each group compares its topics at its next
        heartbeat, since the view's version is another one.
        """
        self._context.hashes.clear()

    def parked(self, group_id: str | None = None) -> list[Promise[Any]]:
        """Nobody ever waits in a consumer group."""
        return []
