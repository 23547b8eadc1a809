"""LeaveGroup: one member (versions 0 to 2) or several (from 3), by member id or, for an administrator, by
instance id. Every one of them is answered for; the others rebalance once.
"""

from __future__ import annotations

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.groups.classic.group import ClassicGroup
from ottla.groups.classic.rebalance import Rebalances, changed
from ottla.groups.classic.states import ClassicState
from ottla.groups.group import Client
from ottla.groups.shard_state import ShardState
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import GROUP_LEAVING_MEMBERS_MAX, GROUP_REASON_CHARS_MAX
from ottla.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)

_BATCH_FROM = 3


class Leaves:
    __slots__ = ("_state", "_rebalances")

    def __init__(self, state: ShardState, rebalances: Rebalances) -> None:
        self._state = state
        self._rebalances = rebalances

    def leave(
        self, request: LeaveGroupRequest, client: Client, promise: Promise[LeaveGroupResponse]
    ) -> Outcome:
        outcome = Outcome()
        is_batch = client.api_version >= _BATCH_FROM
        leaving = request.members if is_batch else [MemberIdentity(member_id=request.member_id)]
        if not request.group_id:
            outcome.answer(promise, LeaveGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID))
            return outcome
        if len(leaving) > GROUP_LEAVING_MEMBERS_MAX:
            outcome.answer(promise, LeaveGroupResponse(error_code=ErrorCode.INVALID_REQUEST))
            return outcome
        group = self._state.groups.get(request.group_id)
        if isinstance(group, ClassicGroup) and group.state is ClassicState.DEAD:
            outcome.answer(promise, LeaveGroupResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE))
            return outcome
        member_count = 0
        if isinstance(group, ClassicGroup):
            member_count = len(group.members)
            errors = [self._leave(group, identity, outcome) for identity in leaving]
        else:
            errors = [ErrorCode.UNKNOWN_MEMBER_ID] * len(leaving)
        if is_batch:
            members = [
                MemberResponse(
                    member_id=identity.member_id,
                    group_instance_id=identity.group_instance_id,
                    error_code=error,
                )
                for identity, error in zip(leaving, errors, strict=True)
            ]
            outcome.answer(promise, LeaveGroupResponse(members=members))
        else:
            outcome.answer(promise, LeaveGroupResponse(error_code=errors[0]))
        if isinstance(group, ClassicGroup) and outcome.soft_changed:
            if group.state is ClassicState.PREPARING_REBALANCE:
                self._rebalances.complete_if_all_joined(group, outcome)
            elif len(group.members) < member_count:  # not just somebody who had an id and never joined
                reason = (leaving[0].reason or "not provided")[:GROUP_REASON_CHARS_MAX]
                self._rebalances.prepare(group, f"members have left; client reason: {reason!r}", outcome)
        return outcome

    def _leave(self, group: ClassicGroup, identity: MemberIdentity, outcome: Outcome) -> ErrorCode:
        member_id = identity.member_id
        instance_id = identity.group_instance_id
        if member_id and member_id in group.pending_join:
            group.remove(member_id)
            self._state.timers.cancel(("session", group.group_id, member_id))
            changed(outcome)
            return ErrorCode.NONE
        if not member_id:
            if instance_id is None or instance_id not in group.static_ids:
                return ErrorCode.UNKNOWN_MEMBER_ID
            member_id = group.static_ids[instance_id]
        try:
            group.check_member(member_id, instance_id)
        except KafkaError as error:
            return error.code
        self._rebalances.drop(group, group.members[member_id], outcome)
        changed(outcome)
        return ErrorCode.NONE
