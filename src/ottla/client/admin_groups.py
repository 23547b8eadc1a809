"""Administration of consumer groups: list, describe, offsets, delete, as operations of the core.

Requests go to each group's coordinator, several groups in one where they share it, in bounded pieces. As in
`admin.py`, what concerns one group or partition is in the results, and only a failure of the whole is raised.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ottla.client.cluster import MISSING_TOPIC, Cluster
from ottla.client.coordinator import MOVED, Coordinators, chunks
from ottla.client.effects import Answer, Call, CallMany, ClientSteps, Versioned
from ottla.client.errors import OttlaError, ProtocolError, ServerError, UnsupportedVersion, raise_for
from ottla.client.group_views import (
    NO_OFFSET,
    CommittedOffset,
    GroupDescription,
    GroupListing,
    GroupResult,
    MemberDescription,
)
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition

PARTITIONS_PER_REQUEST_MAX: Final = 2_000
"""Offsets that one OffsetCommit or OffsetDelete carries: well below what any broker takes in one request."""

NAMED_TOPICS: Final = 9
"""The last version of OffsetCommit and OffsetFetch that names topics instead of their ids: an admin also asks
about topics that are gone."""

PASSING: Final = MOVED | {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.UNSTABLE_OFFSET_COMMIT}


def raise_if_passing(code: int, subject: str = "") -> None:
    """Raises the errors that a retry cures; all others stay with the group or partition they belong to."""
    if code in PASSING:
        raise ServerError(code, subject=subject)


class GroupAdmin:
    def __init__(self, cluster: Cluster, coordinators: Coordinators) -> None:
        self._cluster = cluster
        self._coordinators = coordinators

    # -- which groups there are

    def list_groups(
        self, states: Iterable[str] = (), types: Iterable[str] = ()
    ) -> ClientSteps[list[GroupListing]]:
        """The groups of all brokers, sorted; filters are applied here too where a broker is too old to."""
        from ottla.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse

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
        ]

    # -- what they are

    def describe_groups(self, groups: Sequence[str]) -> ClientSteps[dict[str, GroupDescription | OttlaError]]:
        """Each group with its members, or why it cannot be described (GROUP_ID_NOT_FOUND). Asks with
        ConsumerGroupDescribe first, and with DescribeGroups about those that are not of KIP-848.
        """
        try:
            found = yield from self._coordinators.ask_each(groups, self._describe_consumer_groups)
        except UnsupportedVersion:
            found = {}
        classic = [
            group
            for group in groups
            if (error := found.get(group)) is None
            or isinstance(error, UnsupportedVersion)
            or (
                isinstance(error, ServerError)
                and error.code in (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION)
            )
        ]
        found.update((yield from self._coordinators.ask_each(classic, self._describe_classic_groups)))
        return {group: found[group] for group in groups}

    def describe_group(self, group: str) -> ClientSteps[GroupDescription]:
        found = (yield from self.describe_groups([group]))[group]
        if isinstance(found, OttlaError):
            raise found
        return found

    def _describe_consumer_groups(
        self, node_id: int, groups: list[str]
    ) -> ClientSteps[dict[str, GroupDescription | OttlaError]]:
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
            node_id, ConsumerGroupDescribeRequest(group_ids=groups)
        )
        broker = self._cluster.view.brokers.get(node_id)
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
                broker.address if broker else None,
                g.group_epoch,
                g.assignment_epoch,
            )
        return found

    def _describe_classic_groups(
        self, node_id: int, groups: list[str]
    ) -> ClientSteps[dict[str, GroupDescription | OttlaError]]:
        from ottla.wire.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse

        response: DescribeGroupsResponse = yield Call(node_id, DescribeGroupsRequest(groups=groups))
        broker = self._cluster.view.brokers.get(node_id)
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
                broker.address if broker else None,
            )
        return found

    # -- their offsets

    def committed_offsets(
        self,
        group: str,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        require_stable: bool = False,
    ) -> ClientSteps[dict[TopicPartition, CommittedOffset]]:
        """What the group has committed (for all partitions: None). Partitions without a commit are left out.
        `require_stable` waits for commits of transactions that are under way (KIP-447).
        """
        from ottla.wire.messages.offset_fetch import (
            OffsetFetchRequest,
            OffsetFetchRequestGroup,
            OffsetFetchRequestTopic,
            OffsetFetchRequestTopics,
        )

        by_topic = None if partitions is None else _by_topic(partitions)

        def build(version: int) -> OffsetFetchRequest:
            if version >= 8:
                entry = OffsetFetchRequestGroup(
                    group_id=group,
                    topics=None
                    if by_topic is None
                    else [OffsetFetchRequestTopics(name=t, partition_indexes=p) for t, p in by_topic.items()],
                )
                return OffsetFetchRequest(groups=[entry], require_stable=require_stable)
            return OffsetFetchRequest(
                group_id=group,
                topics=None
                if by_topic is None
                else [OffsetFetchRequestTopic(name=t, partition_indexes=p) for t, p in by_topic.items()],
                # Below version 7 nobody can be asked to wait for pending transactions (KIP-447).
                require_stable=require_stable and version >= 7,
            )

        def check(response: Any) -> None:
            raise_for(response.error_code, subject=f"group {group}")
            for entry in response.groups:
                raise_for(entry.error_code, subject=f"group {group}")
            for topic in _offset_topics(response):
                for p in topic.partitions:
                    raise_if_passing(p.error_code, f"{topic.name}-{p.partition_index}")

        request = Versioned(OffsetFetchRequest.API_KEY, build)
        response = yield from self._coordinators.ask(group, request, check=check, version_max=NAMED_TOPICS)
        found: dict[TopicPartition, CommittedOffset] = {}
        for topic in _offset_topics(response):
            for p in topic.partitions:
                tp = TopicPartition(topic.name, p.partition_index)
                raise_for(0 if p.error_code in MISSING_TOPIC else p.error_code, subject=str(tp))
                if p.committed_offset != NO_OFFSET and not p.error_code:
                    found[tp] = CommittedOffset(
                        p.committed_offset, p.committed_leader_epoch, p.metadata or ""
                    )
        return found

    def commit_offsets(
        self,
        group: str,
        offsets: Mapping[TopicPartition, CommittedOffset],
        *,
        member_id: str = "",
        generation_id: int = -1,
        instance_id: str | None = None,
        timeout_ms: float | None = None,
    ) -> ClientSteps[dict[TopicPartition, ServerError]]:
        """Commits for a member; without one, from outside, which only a group without members allows. Gives
        the partitions that were refused; raises what concerns the member or the group.
        """
        from ottla.wire.messages.offset_commit import (
            OffsetCommitRequest,
            OffsetCommitRequestPartition,
            OffsetCommitRequestTopic,
            OffsetCommitResponse,
        )

        def check(response: Any) -> None:
            for topic in response.topics:
                for p in topic.partitions:
                    if p.error_code in PASSING or p.error_code in OF_THE_GROUP:
                        raise ServerError(p.error_code, subject=f"group {group}")

        refused: dict[TopicPartition, ServerError] = {}
        for part in chunks(sorted(offsets.items()), PARTITIONS_PER_REQUEST_MAX):
            topics: dict[str, list[OffsetCommitRequestPartition]] = {}
            for tp, committed in part:
                topics.setdefault(tp.topic, []).append(
                    OffsetCommitRequestPartition(
                        partition_index=tp.partition,
                        committed_offset=committed.offset,
                        committed_leader_epoch=committed.leader_epoch,
                        committed_metadata=committed.metadata,
                    )
                )
            request = OffsetCommitRequest(
                group_id=group,
                generation_id_or_member_epoch=generation_id,
                member_id=member_id,
                group_instance_id=instance_id,
                topics=[OffsetCommitRequestTopic(name=t, partitions=ps) for t, ps in topics.items()],
            )
            response: OffsetCommitResponse = yield from self._coordinators.ask(
                group, request, check=check, version_max=NAMED_TOPICS, timeout_ms=timeout_ms
            )
            for t in response.topics:
                for p in t.partitions:
                    if p.error_code:
                        tp = TopicPartition(t.name, p.partition_index)
                        refused[tp] = ServerError(p.error_code, subject=str(tp))
        return refused

    def delete_offsets(
        self, group: str, partitions: Iterable[TopicPartition]
    ) -> ClientSteps[dict[TopicPartition, ServerError | None]]:
        """Forgets what the group committed for these partitions; says for each how it went."""
        from ottla.wire.messages.offset_delete import (
            OffsetDeleteRequest,
            OffsetDeleteRequestPartition,
            OffsetDeleteRequestTopic,
            OffsetDeleteResponse,
        )

        results: dict[TopicPartition, ServerError | None] = {}
        for part in chunks(sorted(partitions), PARTITIONS_PER_REQUEST_MAX):
            request = OffsetDeleteRequest(
                group_id=group,
                topics=[
                    OffsetDeleteRequestTopic(
                        name=topic,
                        partitions=[OffsetDeleteRequestPartition(partition_index=index) for index in indexes],
                    )
                    for topic, indexes in _by_topic(part).items()
                ],
            )

            def check(response: Any) -> None:
                raise_for(response.error_code, subject=f"group {group}")

            response: OffsetDeleteResponse = yield from self._coordinators.ask(group, request, check=check)
            for t in response.topics:
                for p in t.partitions:
                    tp = TopicPartition(t.name, p.partition_index)
                    results[tp] = ServerError(p.error_code, subject=str(tp)) if p.error_code else None
        return results

    # -- their end

    def delete_groups(self, groups: Sequence[str]) -> ClientSteps[list[GroupResult]]:
        found = yield from self._coordinators.ask_each(groups, self._delete_groups)
        results = []
        for group in groups:
            outcome = found[group]
            results.append(GroupResult(group, outcome if isinstance(outcome, OttlaError) else None))
        return results

    def _delete_groups(self, node_id: int, groups: list[str]) -> ClientSteps[dict[str, bool | OttlaError]]:
        from ottla.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse

        response: DeleteGroupsResponse = yield Call(node_id, DeleteGroupsRequest(groups_names=groups))
        return {
            r.group_id: ServerError(r.error_code, subject=f"group {r.group_id}") if r.error_code else True
            for r in response.results
        }

    def remove_members(
        self, group: str, instance_ids: Sequence[str], *, reason: str = ""
    ) -> ClientSteps[list[GroupResult]]:
        """Takes static members out of a group (KIP-345), so that the others need not wait for their session
        to end.
        """
        from ottla.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity

        def build(version: int) -> LeaveGroupRequest:
            if version < 3:
                raise UnsupportedVersion("the broker is too old to remove members by their instance id")
            return LeaveGroupRequest(
                group_id=group,
                members=[
                    MemberIdentity(
                        group_instance_id=instance_id, reason=(reason or None) if version >= 5 else None
                    )
                    for instance_id in instance_ids
                ],
            )

        def check(response: Any) -> None:
            raise_for(response.error_code, subject=f"group {group}")

        request = Versioned(LeaveGroupRequest.API_KEY, build)
        response: LeaveGroupResponse = yield from self._coordinators.ask(group, request, check=check)
        return [
            GroupResult(
                m.group_instance_id or m.member_id,
                ServerError(m.error_code, subject=f"member {m.group_instance_id}") if m.error_code else None,
            )
            for m in response.members
        ]


OF_THE_GROUP: Final = frozenset(
    {
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.REBALANCE_IN_PROGRESS,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.STALE_MEMBER_EPOCH,
        ErrorCode.INVALID_GROUP_ID,
        ErrorCode.GROUP_ID_NOT_FOUND,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
    }
)
"""Errors of a commit that are told with every partition and mean the whole of it."""


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for tp in sorted(partitions):
        found.setdefault(tp.topic, []).append(tp.partition)
    return found


def _offset_topics(response: Any) -> Iterable[Any]:
    """The topics of an OffsetFetch response of any version."""
    yield from response.topics
    for group in response.groups:
        yield from group.topics


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
