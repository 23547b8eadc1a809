"""SyncGroup: the leader brings the assignment, everybody else waits for it.

With the leader's request the group is written and Stable; the answers leave when the record is committed.
"""

from __future__ import annotations

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.groups.classic.answers import sync_refusal, synced
from ottla.groups.classic.group import ClassicGroup
from ottla.groups.classic.member import ClassicMember
from ottla.groups.classic.rebalance import Rebalances, changed
from ottla.groups.classic.record import group_record, group_record_bytes
from ottla.groups.classic.states import ClassicState
from ottla.groups.group import Client
from ottla.groups.shard_state import ShardState
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import GROUP_RECORD_BYTES_MAX
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse


class Syncs:
    __slots__ = ("_state", "_rebalances")

    def __init__(self, state: ShardState, rebalances: Rebalances) -> None:
        self._state = state
        self._rebalances = rebalances

    def sync(self, request: SyncGroupRequest, client: Client, promise: Promise[SyncGroupResponse]) -> Outcome:
        outcome = Outcome()
        try:
            group, member = self._check(request)
        except KafkaError as error:
            outcome.answer(promise, sync_refusal(error.code))
            return outcome
        if group.state is ClassicState.STABLE:
            outcome.soft_changed = True
            self._rebalances.has_synced(group, member.member_id)
            outcome.answer(promise, synced(group, member))
        else:
            self._complete(request, group, member, promise, outcome)
        return outcome

    def _check(self, request: SyncGroupRequest) -> tuple[ClassicGroup, ClassicMember]:
        if not request.group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID)
        group = self._state.groups.get(request.group_id)
        if not isinstance(group, ClassicGroup) or group.is_empty:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
        if group.state is ClassicState.DEAD:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        group.check_member(request.member_id, request.group_instance_id)
        group.check_generation(request.generation_id)
        if request.protocol_type not in (None, group.protocol_type_or_none) or (
            request.protocol_name not in (None, group.protocol_name)
        ):
            raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        if group.state is ClassicState.PREPARING_REBALANCE:
            raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS)
        return group, group.members[request.member_id]

    def _complete(
        self,
        request: SyncGroupRequest,
        group: ClassicGroup,
        member: ClassicMember,
        promise: Promise[SyncGroupResponse],
        outcome: Outcome,
    ) -> None:
        changed(outcome)
        if member.parked_sync is not None:  # a retry while the first try waits
            outcome.answer(member.parked_sync, sync_refusal(ErrorCode.REBALANCE_IN_PROGRESS))
        member.parked_sync = promise
        self._rebalances.has_synced(group, member.member_id)
        if not group.is_leader(member.member_id):
            return
        assignments = {one.member_id: one.assignment for one in request.assignments}
        for each in group.members.values():
            each.assignment = assignments.get(each.member_id, b"")
        if group_record_bytes(group) > GROUP_RECORD_BYTES_MAX:
            self._rebalances.refuse_syncs(group, ErrorCode.UNKNOWN_SERVER_ERROR, outcome)
            self._rebalances.prepare(group, "its record would be too large for the log", outcome)
            return
        group.transition_to(ClassicState.STABLE, self._state.env.clock.now_ms())
        outcome.records.append(group_record(group))
        for each in group.members.values():
            if each.parked_sync is not None:
                outcome.answer(each.parked_sync, synced(group, each))
                each.parked_sync = None
                self._rebalances.begin_session(group, each)
