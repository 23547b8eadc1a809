"""Administration of share groups (KIP-932): describe them, read, set and forget their start offsets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ottla.client.admin_acls import operations_of
from ottla.client.admin_part import CoordinatedPart, by_topic
from ottla.client.admin_results import Results, failure
from ottla.client.effects import Call, ClientSteps
from ottla.client.errors import OttlaError, ServerError, raise_for
from ottla.client.group_views import GroupDescription, MemberDescription
from ottla.model.types import TopicPartition

NO_START_OFFSET = -1


class SharePartitionOffset(NamedTuple):
    """Where a share group's partition begins: everything before it was dealt with."""

    start_offset: int
    leader_epoch: int
    lag: int | None
    """How many records are still to be delivered; None where the broker does not tell."""


class ShareGroupAdmin(CoordinatedPart):
    def describe_share_groups(
        self, groups: Iterable[str], *, include_authorized_operations: bool = False
    ) -> ClientSteps[Results[str, GroupDescription]]:
        """Share groups with their members."""
        from ottla.wire.messages.share_group_describe import (
            ShareGroupDescribeRequest,
            ShareGroupDescribeResponse,
        )

        def ask(node_id: int, part: list[str]) -> ClientSteps[dict[str, GroupDescription | OttlaError]]:
            request = ShareGroupDescribeRequest(
                group_ids=part, include_authorized_operations=include_authorized_operations
            )
            response: ShareGroupDescribeResponse = yield Call(node_id, request)
            found: dict[str, GroupDescription | OttlaError] = {}
            for g in response.groups:
                if g.error_code:
                    subject = f"group {g.group_id}"
                    found[g.group_id] = ServerError(g.error_code, g.error_message, subject=subject)
                    continue
                members = tuple(
                    MemberDescription(
                        m.member_id,
                        m.client_id,
                        m.client_host,
                        tuple(
                            sorted(
                                TopicPartition(t.topic_name, index)
                                for t in m.assignment.topic_partitions
                                for index in t.partitions
                            )
                        ),
                        rack_id=m.rack_id,
                        subscribed_topics=tuple(m.subscribed_topic_names),
                        epoch=m.member_epoch,
                    )
                    for m in g.members
                )
                found[g.group_id] = GroupDescription(
                    g.group_id,
                    "share",
                    g.group_state,
                    "share",
                    g.assignor_name,
                    members,
                    node_id,
                    self._address(node_id),
                    g.group_epoch,
                    g.assignment_epoch,
                    operations_of(g.authorized_operations),
                )
            return found

        return (yield from self._ask_each(groups, ask))

    def list_share_group_offsets(
        self, groups: Mapping[str, Iterable[TopicPartition] | None] | Iterable[str]
    ) -> ClientSteps[Results[str, Results[TopicPartition, SharePartitionOffset]]]:
        """Where share groups begin: in all partitions, or in those that a mapping names for each group."""
        from ottla.wire.messages.describe_share_group_offsets import (
            DescribeShareGroupOffsetsRequest,
            DescribeShareGroupOffsetsRequestGroup,
            DescribeShareGroupOffsetsRequestTopic,
            DescribeShareGroupOffsetsResponse,
        )

        named = groups if isinstance(groups, Mapping) else dict.fromkeys(groups)
        wanted = {g: None if tps is None else by_topic(sorted(tps)) for g, tps in named.items()}

        def entry(group: str) -> DescribeShareGroupOffsetsRequestGroup:
            topics = wanted[group]
            return DescribeShareGroupOffsetsRequestGroup(
                group_id=group,
                topics=None
                if topics is None
                else [
                    DescribeShareGroupOffsetsRequestTopic(topic_name=t, partitions=p)
                    for t, p in topics.items()
                ],
            )

        def ask(
            node_id: int, part: list[str]
        ) -> ClientSteps[dict[str, Results[TopicPartition, SharePartitionOffset] | OttlaError]]:
            request = DescribeShareGroupOffsetsRequest(groups=[entry(group) for group in part])
            response: DescribeShareGroupOffsetsResponse = yield Call(node_id, request)
            found: dict[str, Results[TopicPartition, SharePartitionOffset] | OttlaError] = {}
            for g in response.groups:
                if g.error_code:
                    subject = f"group {g.group_id}"
                    found[g.group_id] = ServerError(g.error_code, g.error_message, subject=subject)
                    continue
                offsets: Results[TopicPartition, SharePartitionOffset] = Results()
                for t in g.topics:
                    for p in t.partitions:
                        tp = TopicPartition(t.topic_name, p.partition_index)
                        error = failure(p.error_code, p.error_message, subject=str(tp))
                        if error is not None:
                            offsets[tp] = error
                        elif p.start_offset != NO_START_OFFSET:
                            lag = p.lag if p.lag >= 0 else None
                            offsets[tp] = SharePartitionOffset(p.start_offset, p.leader_epoch, lag)
                found[g.group_id] = offsets
            return found

        return (yield from self._ask_each(wanted, ask))

    def alter_share_group_offsets(
        self, group: str, offsets: Mapping[TopicPartition, int]
    ) -> ClientSteps[Results[TopicPartition, None]]:
        """Sets where a share group without members begins. Raises what concerns the group."""
        from ottla.wire.messages.alter_share_group_offsets import (
            AlterShareGroupOffsetsRequest,
            AlterShareGroupOffsetsRequestPartition,
            AlterShareGroupOffsetsRequestTopic,
            AlterShareGroupOffsetsResponse,
        )

        request = AlterShareGroupOffsetsRequest(
            group_id=group,
            topics=[
                AlterShareGroupOffsetsRequestTopic(
                    topic_name=topic,
                    partitions=[
                        AlterShareGroupOffsetsRequestPartition(
                            partition_index=index, start_offset=offsets[TopicPartition(topic, index)]
                        )
                        for index in indexes
                    ],
                )
                for topic, indexes in by_topic(offsets).items()
            ],
        )

        def check(response: AlterShareGroupOffsetsResponse) -> None:
            raise_for(response.error_code, response.error_message, subject=f"group {group}")

        response = yield from self._coordinators.ask(group, request, check=check)
        found: dict[TopicPartition, OttlaError | None] = {}
        for t in response.responses:
            for p in t.partitions:
                tp = TopicPartition(t.topic_name, p.partition_index)
                found[tp] = failure(p.error_code, p.error_message, subject=str(tp))
        return Results.of(offsets, found)

    def delete_share_group_offsets(
        self, group: str, topics: Iterable[str]
    ) -> ClientSteps[Results[str, None]]:
        """Lets a share group without members forget topics. Raises what concerns the group."""
        from ottla.wire.messages.delete_share_group_offsets import (
            DeleteShareGroupOffsetsRequest,
            DeleteShareGroupOffsetsRequestTopic,
            DeleteShareGroupOffsetsResponse,
        )

        asked = list(dict.fromkeys(topics))
        request = DeleteShareGroupOffsetsRequest(
            group_id=group,
            topics=[DeleteShareGroupOffsetsRequestTopic(topic_name=topic) for topic in asked],
        )

        def check(response: DeleteShareGroupOffsetsResponse) -> None:
            raise_for(response.error_code, response.error_message, subject=f"group {group}")

        response = yield from self._coordinators.ask(group, request, check=check)
        return Results.of(
            asked,
            {
                t.topic_name: failure(t.error_code, t.error_message, subject=f"topic {t.topic_name}")
                for t in response.responses
            },
        )
