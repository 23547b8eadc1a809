"""The responses of the classic protocol, in the form that the asking version knows."""

from __future__ import annotations

from ottla.coordination.outcome import Outcome
from ottla.groups.classic.group import ClassicGroup
from ottla.groups.classic.member import ClassicMember
from ottla.model.errors import ErrorCode
from ottla.wire.messages.join_group import JoinGroupResponse
from ottla.wire.messages.sync_group import SyncGroupResponse

UNKNOWN_MEMBER_ID = ""
"""What a client sends that has no member id yet."""


def join_refusal(error: ErrorCode, member_id: str, api_version: int) -> JoinGroupResponse:
    return JoinGroupResponse(
        error_code=error, member_id=member_id, protocol_name=None if api_version >= 7 else ""
    )


def joined(group: ClassicGroup, member_id: str, *, leader_id: str | None = None) -> JoinGroupResponse:
    """The generation as it is; its leader also gets the members, to assign the partitions."""
    return JoinGroupResponse(
        generation_id=group.generation,
        protocol_type=group.protocol_type_or_none,
        protocol_name=group.protocol_name,
        leader=(group.leader_id if leader_id is None else leader_id) or "",
        member_id=member_id,
        members=group.for_leader() if leader_id is None and group.is_leader(member_id) else [],
    )


def sync_refusal(error: ErrorCode) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=error)


def synced(group: ClassicGroup, member: ClassicMember) -> SyncGroupResponse:
    return SyncGroupResponse(
        protocol_type=group.protocol_type_or_none,
        protocol_name=group.protocol_name,
        assignment=member.assignment,
    )


def release(
    group: ClassicGroup, member: ClassicMember, error: ErrorCode, name: str, outcome: Outcome
) -> None:
    """Whatever the member waits for is refused; a join response then names the member `name`."""
    parked_join = group.take_join(member)
    if parked_join is not None:
        outcome.answer(parked_join.promise, join_refusal(error, name, parked_join.api_version))
    if member.parked_sync is not None:
        outcome.answer(member.parked_sync, sync_refusal(error))
        member.parked_sync = None
