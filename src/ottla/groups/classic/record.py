"""The record of a classic group in `__consumer_offsets`, written and read.

It holds one generation: what was agreed, and every member with its metadata and assignment. Only groups that
are Stable or Empty are written, so a group that is read back is one of both; its members then speak only the
protocol that was chosen, until they join again.
"""

from __future__ import annotations

from typing import Final

from ottla.coordination.record import CoordinatorRecord
from ottla.groups.classic.group import ClassicGroup
from ottla.groups.classic.member import ClassicMember
from ottla.groups.classic.states import ClassicState
from ottla.wire.messages.consumer_offsets import GroupMetadataKey, GroupMetadataValue, MemberMetadata

GROUP_METADATA_VERSION: Final = 3
"""Kafka 4.2 writes this one and reads 4 too, which adds nothing but room for tagged fields."""

_MEMBER_OVERHEAD_BYTES: Final = 40
_GROUP_OVERHEAD_BYTES: Final = 200


def group_record(group: ClassicGroup) -> CoordinatorRecord:
    members = [
        MemberMetadata(
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            rebalance_timeout=member.rebalance_timeout_ms,
            session_timeout=member.session_timeout_ms,
            subscription=member.metadata(group.protocol_name),
            assignment=member.assignment,
        )
        for member in group.members.values()
    ]
    value = GroupMetadataValue(
        protocol_type=group.protocol_type,
        generation=group.generation,
        protocol=group.protocol_name,
        leader=group.leader_id,
        current_state_timestamp=-1 if group.since_ms is None else group.since_ms,
        members=members,
    )
    return CoordinatorRecord(GroupMetadataKey(group=group.group_id), value, GROUP_METADATA_VERSION)


def new_group_record(group: ClassicGroup) -> CoordinatorRecord:
    """The first record of a group: nobody is in it as far as the log knows."""
    value = GroupMetadataValue(
        protocol=None,
        leader=None,
        current_state_timestamp=-1 if group.since_ms is None else group.since_ms,
    )
    return CoordinatorRecord(GroupMetadataKey(group=group.group_id), value, GROUP_METADATA_VERSION)


def group_record_bytes(group: ClassicGroup) -> int:
    """How large the group's record is at most; the assignments are those that the members have."""
    size = _GROUP_OVERHEAD_BYTES + len(group.group_id.encode()) + len(group.protocol_type.encode())
    size += len((group.protocol_name or "").encode()) + len((group.leader_id or "").encode())
    for member in group.members.values():
        size += _MEMBER_OVERHEAD_BYTES + len(member.metadata(group.protocol_name)) + len(member.assignment)
        size += len(member.member_id.encode()) + len((member.instance_id or "").encode())
        size += len(member.client_id.encode()) + len(member.client_host.encode())
    return size


def group_of(group_id: str, value: GroupMetadataValue) -> ClassicGroup:
    """The group that a record describes."""
    protocol_name = value.protocol
    if protocol_name is None and value.members:
        protocol_name = ""
    members = [
        ClassicMember(
            member.member_id,
            instance_id=member.group_instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            # Version 0 had no rebalance timeout: the session timeout was both.
            rebalance_timeout_ms=(
                member.session_timeout if member.rebalance_timeout == -1 else member.rebalance_timeout
            ),
            session_timeout_ms=member.session_timeout,
            protocol_type=value.protocol_type,
            protocols={protocol_name or "": member.subscription},
            assignment=member.assignment,
        )
        for member in value.members
    ]
    return ClassicGroup(
        group_id,
        state=ClassicState.STABLE if members else ClassicState.EMPTY,
        since_ms=None if value.current_state_timestamp == -1 else value.current_state_timestamp,
        generation=value.generation,
        protocol_type=value.protocol_type,
        protocol_name=protocol_name,
        leader_id=value.leader,
        members=members,
    )
