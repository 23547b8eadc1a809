"""Administration of groups: list, describe, delete, remove members, as operations of the core.

Requests go to each group's coordinator, several groups in one where they share it. Their offsets are in
`admin_group_offsets.py`, groups of other kinds in `admin_share_groups.py` and `admin_streams_groups.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ottla.client.admin_group_offsets import GroupOffsetAdmin
from ottla.client.admin_part import PARTITIONS_PER_REQUEST_MAX
from ottla.client.admin_results import Results, failure
from ottla.client.effects import Answer, Call, CallMany, ClientSteps, Versioned
from ottla.client.errors import OttlaError, ProtocolError, ServerError, UnsupportedVersion, raise_for
from ottla.client.group_views import GroupDescription, GroupListing, MemberDescription
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition

__all__ = ["PARTITIONS_PER_REQUEST_MAX", "GroupAdmin"]

OF_ANOTHER_KIND = (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION)
"""How a coordinator says that a group is not of the kind that was asked about, or that it cannot tell."""


class GroupAdmin(GroupOffsetAdmin):
    # -- which groups there are

    def list_groups(
        self,
        states: Iterable[str] = (),
        types: Iterable[str] = (),
        *,
        protocol_types: Iterable[str] = (),
    ) -> ClientSteps[list[GroupListing]]:
        """The groups of all brokers, sorted: by state (`Stable`, ...), type (`classic`, `consumer`, `share`,
        `streams`) and protocol type (`consumer`, ...); none named: every one.
        """
        from ottla.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse

        states, types, wanted_protocols = set(states), set(types), set(protocol_types)
        wanted_states = {state.lower() for state in states}
        wanted_types = {kind.lower() for kind in types}

        def build(version: int) -> ListGroupsRequest:
            return ListGroupsRequest(
                states_filter=sorted(states) if version >= 4 else [],
                types_filter=sorted(types) if version >= 5 else [],
            )

        def attempt() -> ClientSteps[list[GroupListing]]:
            view = yield from self._cluster.refresh(())
            request = Versioned(ListGroupsRequest.API_KEY, build)
            answers: list[Answer] = yield CallMany([Call(node_id, request) for node_id in view.brokers])
            found: dict[str, GroupListing] = {}
            for answer in answers:
                response: ListGroupsResponse = answer.get()
                raise_for(response.error_code)
                for g in response.groups:
                    found[g.group_id] = GroupListing(g.group_id, g.protocol_type, g.group_state, g.group_type)
            return [found[name] for name in sorted(found)]

        listed = yield from self._cluster.retrying(attempt)
        return [
            group
            for group in listed
            if (not wanted_states or group.state.lower() in wanted_states)
            and (not wanted_types or group.type.lower() in wanted_types)
            and (not wanted_protocols or group.protocol_type in wanted_protocols)
        ]

    # -- what they are

    def describe_groups(
        self, groups: Iterable[str], *, include_authorized_operations: bool = False
    ) -> ClientSteps[Results[str, GroupDescription]]:
        """Consumer groups of either protocol with their members. Asks with ConsumerGroupDescribe first, and
        with DescribeGroups about those that are not of KIP-848.
        """
        asked = list(dict.fromkeys(groups))
        wanted = {"include_authorized_operations": include_authorized_operations}
        found: dict[str, GroupDescription | OttlaError]
        try:
            found = yield from self.describe_consumer_groups(asked, **wanted)
        except UnsupportedVersion:  # from before KIP-848
            found = {}
        classic = [group for group in asked if _may_be_classic(found.get(group))]
        found.update((yield from self.describe_classic_groups(classic, **wanted)))
        return Results.of(asked, found)

    def describe_group(self, group: str) -> ClientSteps[GroupDescription]:
        """One consumer group of either protocol; raises."""
        return (yield from self.describe_groups([group])).all()[group]

    def describe_consumer_groups(
        self, groups: Iterable[str], *, include_authorized_operations: bool = False
    ) -> ClientSteps[Results[str, GroupDescription]]:
        """Groups of the protocol of KIP-848, with epochs and target assignments; none of the classic one."""

        def ask(node_id: int, part: list[str]) -> ClientSteps[dict[str, GroupDescription | OttlaError]]:
            return self._describe_consumer_groups(node_id, part, include_authorized_operations)

        return (yield from self._ask_each(groups, ask))

    def describe_classic_groups(
        self, groups: Iterable[str], *, include_authorized_operations: bool = False
    ) -> ClientSteps[Results[str, GroupDescription]]:
        """Groups of the classic protocol, whatever they are for (consumers, connectors, ...)."""

        def ask(node_id: int, part: list[str]) -> ClientSteps[dict[str, GroupDescription | OttlaError]]:
            return self._describe_classic_groups(node_id, part, include_authorized_operations)

        return (yield from self._ask_each(groups, ask))

    def _describe_consumer_groups(
        self, node_id: int, groups: list[str], include_authorized_operations: bool
    ) -> ClientSteps[dict[str, GroupDescription | OttlaError]]:
        from ottla.client.admin_acls import operations_of
        from ottla.wire.messages.consumer_group_describe import (
            Assignment,
            ConsumerGroupDescribeRequest,
            ConsumerGroupDescribeResponse,
        )

        def partitions(assignment: Assignment) -> tuple[TopicPartition, ...]:
            return tuple(
                TopicPartition(t.topic_name, index)
                for t in sorted(assignment.topic_partitions, key=lambda t: t.topic_name)
                for index in sorted(t.partitions)
            )

        response: ConsumerGroupDescribeResponse = yield Call(
            node_id,
            ConsumerGroupDescribeRequest(
                group_ids=groups, include_authorized_operations=include_authorized_operations
            ),
        )
        found: dict[str, GroupDescription | OttlaError] = {}
        for g in response.groups:
            if g.error_code:
                found[g.group_id] = ServerError(g.error_code, g.error_message, subject=f"group {g.group_id}")
                continue
            members = tuple(
                MemberDescription(
                    m.member_id,
                    m.client_id,
                    m.client_host,
                    partitions(m.assignment),
                    m.instance_id,
                    m.rack_id,
                    tuple(m.subscribed_topic_names),
                    m.subscribed_topic_regex or None,
                    m.member_epoch,
                    partitions(m.target_assignment),
                    {0: True, 1: False}.get(m.member_type),
                )
                for m in g.members
            )
            found[g.group_id] = GroupDescription(
                g.group_id,
                "consumer",
                g.group_state,
                "consumer",
                g.assignor_name,
                members,
                node_id,
                self._address(node_id),
                g.group_epoch,
                g.assignment_epoch,
                operations_of(g.authorized_operations),
            )
        return found

    def _describe_classic_groups(
        self, node_id: int, groups: list[str], include_authorized_operations: bool
    ) -> ClientSteps[dict[str, GroupDescription | OttlaError]]:
        from ottla.client.admin_acls import operations_of
        from ottla.wire.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse

        def build(version: int) -> DescribeGroupsRequest:
            return DescribeGroupsRequest(
                groups=groups,
                include_authorized_operations=include_authorized_operations and version >= 3,
            )

        request = Versioned(DescribeGroupsRequest.API_KEY, build)
        response: DescribeGroupsResponse = yield Call(node_id, request)
        found: dict[str, GroupDescription | OttlaError] = {}
        for g in response.groups:
            code, message = g.error_code, g.error_message
            if not code and g.group_state == "Dead":  # how it was said before version 6 (KIP-1043)
                code, message = ErrorCode.GROUP_ID_NOT_FOUND, f"Group {g.group_id} not found."
            if code:
                found[g.group_id] = ServerError(code, message, subject=f"group {g.group_id}")
                continue
            members = tuple(
                MemberDescription(
                    m.member_id,
                    m.client_id,
                    m.client_host,
                    decode_assignment(m.member_assignment) if g.protocol_type == "consumer" else (),
                    m.group_instance_id,
                    subscribed_topics=decode_topics(m.member_metadata)
                    if g.protocol_type == "consumer"
                    else (),
                )
                for m in g.members
            )
            found[g.group_id] = GroupDescription(
                g.group_id,
                "classic",
                g.group_state,
                g.protocol_type,
                g.protocol_data,
                members,
                node_id,
                self._address(node_id),
                authorized_operations=operations_of(g.authorized_operations),
            )
        return found

    # -- their end

    def delete_groups(self, groups: Iterable[str]) -> ClientSteps[Results[str, None]]:
        """Deletes groups without members, of any kind, with their offsets."""
        return (yield from self._ask_each(groups, self._delete_groups))

    def _delete_groups(self, node_id: int, groups: list[str]) -> ClientSteps[dict[str, OttlaError | None]]:
        from ottla.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse

        response: DeleteGroupsResponse = yield Call(node_id, DeleteGroupsRequest(groups_names=groups))
        return {r.group_id: failure(r.error_code, subject=f"group {r.group_id}") for r in response.results}

    def remove_members_from_consumer_group(
        self, group: str, instance_ids: Sequence[str] | None = None, *, reason: str = ""
    ) -> ClientSteps[Results[str, None]]:
        """Takes static members out of a group (KIP-345), so that the others need not wait for their session
        to end; None: every member, by its instance id or its member id.
        """
        from ottla.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity

        wanted: dict[str, tuple[str, str | None]] = {}
        if instance_ids is None:
            for member in (yield from self.describe_group(group)).members:
                name = member.instance_id or member.member_id
                wanted[name] = ("" if member.instance_id else member.member_id, member.instance_id)
        else:
            wanted = {instance_id: ("", instance_id) for instance_id in instance_ids}
        if not wanted:
            return Results()

        def build(version: int) -> LeaveGroupRequest:
            if version < 3:
                raise UnsupportedVersion("the broker is too old to remove members by their instance id")
            return LeaveGroupRequest(
                group_id=group,
                members=[
                    MemberIdentity(
                        member_id=member_id,
                        group_instance_id=instance_id,
                        reason=(reason or None) if version >= 5 else None,
                    )
                    for member_id, instance_id in wanted.values()
                ],
            )

        def check(response: Any) -> None:
            raise_for(response.error_code, subject=f"group {group}")

        request = Versioned(LeaveGroupRequest.API_KEY, build)
        response: LeaveGroupResponse = yield from self._coordinators.ask(group, request, check=check)
        found: dict[str, OttlaError | None] = {}
        for m in response.members:
            name = m.group_instance_id or m.member_id
            found[name] = failure(m.error_code, subject=f"member {name}")
        return Results.of(wanted, found)


def _may_be_classic(found: GroupDescription | OttlaError | None) -> bool:
    """Whether DescribeGroups may know more than ConsumerGroupDescribe did."""
    if isinstance(found, ServerError):
        return found.code in OF_ANOTHER_KIND
    return found is None or isinstance(found, UnsupportedVersion)


def decode_assignment(data: bytes) -> tuple[TopicPartition, ...]:
    """A classic member's assignment; empty while it has none."""
    from ottla.client.consumer_protocol import ForeignBytes, read_assignment

    if not data:
        return ()
    try:
        return tuple(sorted(read_assignment(data)))
    except ForeignBytes as error:
        raise ProtocolError(f"a member's assignment cannot be read: {error}") from error


def decode_topics(data: bytes) -> tuple[str, ...]:
    """The topics that a classic member subscribes to."""
    from ottla.client.consumer_protocol import ForeignBytes, read_subscription

    if not data:
        return ()
    try:
        return tuple(read_subscription(data).topics)
    except ForeignBytes as error:
        raise ProtocolError(f"a member's subscription cannot be read: {error}") from error
