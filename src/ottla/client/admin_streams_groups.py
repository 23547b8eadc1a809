"""Administration of streams groups (KIP-1071): what runs, on which tasks, of which topology.

Their offsets are those of consumer groups: `list_consumer_group_offsets` and its neighbours speak of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ottla.client.admin_acls import AclOperation, operations_of
from ottla.client.admin_part import CoordinatedPart
from ottla.client.admin_results import Results
from ottla.client.effects import Call, ClientSteps
from ottla.client.errors import OttlaError, ServerError
from ottla.client.view import Address


class StreamsTask(NamedTuple):
    subtopology_id: str
    partition: int


class StreamsAssignment(NamedTuple):
    active: tuple[StreamsTask, ...]
    standby: tuple[StreamsTask, ...]
    warmup: tuple[StreamsTask, ...]


class StreamsTopicInfo(NamedTuple):
    """An internal topic of a topology."""

    name: str
    partitions: int
    """0: as many as the source topics have."""
    replication_factor: int
    """0: the cluster's default."""
    configs: Mapping[str, str]


class StreamsSubtopology(NamedTuple):
    subtopology_id: str
    source_topics: tuple[str, ...]
    repartition_sink_topics: tuple[str, ...]
    state_changelog_topics: tuple[StreamsTopicInfo, ...]
    repartition_source_topics: tuple[StreamsTopicInfo, ...]


class StreamsMemberDescription(NamedTuple):
    member_id: str
    epoch: int
    instance_id: str | None
    rack_id: str | None
    client_id: str
    host: str
    topology_epoch: int
    process_id: str
    user_endpoint: Address | None
    client_tags: Mapping[str, str]
    task_offsets: Mapping[StreamsTask, int]
    task_end_offsets: Mapping[StreamsTask, int]
    assignment: StreamsAssignment
    target_assignment: StreamsAssignment
    is_classic: bool


class StreamsGroupDescription(NamedTuple):
    group_id: str
    state: str
    group_epoch: int
    assignment_epoch: int
    topology_epoch: int | None
    """None where the group has no topology yet."""
    subtopologies: tuple[StreamsSubtopology, ...]
    members: tuple[StreamsMemberDescription, ...]
    coordinator_id: int
    coordinator: Address | None
    authorized_operations: frozenset[AclOperation] | None = None
    """What the caller may do with it; None where it was not asked for."""


class StreamsGroupAdmin(CoordinatedPart):
    def describe_streams_groups(
        self, groups: Iterable[str], *, include_authorized_operations: bool = False
    ) -> ClientSteps[Results[str, StreamsGroupDescription]]:
        """Streams groups with their topology, members and tasks."""
        from ottla.wire.messages.streams_group_describe import (
            StreamsGroupDescribeRequest,
            StreamsGroupDescribeResponse,
        )

        def ask(
            node_id: int, part: list[str]
        ) -> ClientSteps[dict[str, StreamsGroupDescription | OttlaError]]:
            request = StreamsGroupDescribeRequest(
                group_ids=part, include_authorized_operations=include_authorized_operations
            )
            response: StreamsGroupDescribeResponse = yield Call(node_id, request)
            found: dict[str, StreamsGroupDescription | OttlaError] = {}
            for g in response.groups:
                if g.error_code:
                    subject = f"group {g.group_id}"
                    found[g.group_id] = ServerError(g.error_code, g.error_message, subject=subject)
                    continue
                topology = g.topology
                found[g.group_id] = StreamsGroupDescription(
                    g.group_id,
                    g.group_state,
                    g.group_epoch,
                    g.assignment_epoch,
                    topology.epoch if topology else None,
                    tuple(_subtopology(s) for s in (topology.subtopologies if topology else None) or ()),
                    tuple(_member(m) for m in g.members),
                    node_id,
                    self._address(node_id),
                    operations_of(g.authorized_operations),
                )
            return found

        return (yield from self._ask_each(groups, ask))


def _subtopology(s: Any) -> StreamsSubtopology:
    return StreamsSubtopology(
        s.subtopology_id,
        tuple(s.source_topics),
        tuple(s.repartition_sink_topics),
        tuple(_topic(t) for t in s.state_changelog_topics),
        tuple(_topic(t) for t in s.repartition_source_topics),
    )


def _topic(t: Any) -> StreamsTopicInfo:
    return StreamsTopicInfo(
        t.name, t.partitions, t.replication_factor, {c.key: c.value for c in t.topic_configs}
    )


def _member(m: Any) -> StreamsMemberDescription:
    endpoint = m.user_endpoint
    return StreamsMemberDescription(
        m.member_id,
        m.member_epoch,
        m.instance_id,
        m.rack_id,
        m.client_id,
        m.client_host,
        m.topology_epoch,
        m.process_id,
        Address(endpoint.host, endpoint.port) if endpoint else None,
        {tag.key: tag.value for tag in m.client_tags},
        {StreamsTask(o.subtopology_id, o.partition): o.offset for o in m.task_offsets},
        {StreamsTask(o.subtopology_id, o.partition): o.offset for o in m.task_end_offsets},
        _assignment(m.assignment),
        _assignment(m.target_assignment),
        m.is_classic,
    )


def _assignment(a: Any) -> StreamsAssignment:
    def tasks(entries: Any) -> tuple[StreamsTask, ...]:
        return tuple(StreamsTask(e.subtopology_id, index) for e in entries for index in e.partitions)

    return StreamsAssignment(tasks(a.active_tasks), tasks(a.standby_tasks), tasks(a.warmup_tasks))
