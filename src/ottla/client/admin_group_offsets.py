"""Administration of groups' offsets: read, set, forget, as operations of the core.

Requests go to each group's coordinator, several groups in one where they share it, in bounded pieces. Topics
are named, not identified: an admin also asks about topics that are gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ottla.client.admin_part import PARTITIONS_PER_REQUEST_MAX, CoordinatedPart, by_topic
from ottla.client.admin_results import Results, failure
from ottla.client.cluster import MISSING_TOPIC
from ottla.client.coordinator import MOVED, chunks
from ottla.client.effects import Call, ClientSteps, Versioned
from ottla.client.errors import OttlaError, ServerError, raise_for
from ottla.client.group_views import NO_OFFSET, CommittedOffset
from ottla.client.records import OffsetAndMetadata
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition

NAMED_TOPICS: Final = 9
"""The last version of OffsetCommit and OffsetFetch that names topics instead of their ids."""

BATCHED: Final = 8
"""The first version of OffsetFetch that speaks of several groups (KIP-709)."""

PASSING: Final = MOVED | {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.UNSTABLE_OFFSET_COMMIT}
"""Errors of a partition that a retry cures, and that concern the group."""

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


class GroupOffsetAdmin(CoordinatedPart):
    def list_consumer_group_offsets(
        self,
        groups: Mapping[str, Iterable[TopicPartition] | None] | Iterable[str],
        *,
        require_stable: bool = False,
    ) -> ClientSteps[Results[str, dict[TopicPartition, OffsetAndMetadata]]]:
        """What groups have committed: of all partitions, or of those that a mapping names for each group.

        Partitions without a commit are left out. `require_stable` waits for commits of transactions that are
        under way (KIP-447). Streams groups are asked about in the same way.
        """
        found = yield from self._committed(groups, require_stable=require_stable)
        return Results(
            (
                group,
                offsets
                if isinstance(offsets, OttlaError)
                else {
                    tp: OffsetAndMetadata(c.offset, c.metadata, c.leader_epoch) for tp, c in offsets.items()
                },
            )
            for group, offsets in found.items()
        )

    def alter_consumer_group_offsets(
        self, group: str, offsets: Mapping[TopicPartition, OffsetAndMetadata | int]
    ) -> ClientSteps[Results[TopicPartition, None]]:
        """Sets the offsets of a group without members. Raises what concerns the group (UNKNOWN_MEMBER_ID:
        it has members). Streams groups are changed in the same way.
        """
        wanted = {}
        for tp, given in offsets.items():
            at = OffsetAndMetadata(given) if isinstance(given, int) else given
            wanted[tp] = CommittedOffset(at.offset, at.leader_epoch, at.metadata)
        refused = yield from self.commit_offsets(group, wanted)
        return Results((tp, refused.get(tp)) for tp in offsets)

    def delete_consumer_group_offsets(
        self, group: str, partitions: Iterable[TopicPartition]
    ) -> ClientSteps[Results[TopicPartition, None]]:
        """Forgets what a group has committed for partitions; none that its members subscribe to. Raises what
        concerns the group.
        """
        from ottla.wire.messages.offset_delete import (
            OffsetDeleteRequest,
            OffsetDeleteRequestPartition,
            OffsetDeleteRequestTopic,
            OffsetDeleteResponse,
        )

        def check(response: OffsetDeleteResponse) -> None:
            raise_for(response.error_code, subject=f"group {group}")

        asked = sorted(set(partitions))
        found: dict[TopicPartition, OttlaError | None] = {}
        for part in chunks(asked, PARTITIONS_PER_REQUEST_MAX):
            request = OffsetDeleteRequest(
                group_id=group,
                topics=[
                    OffsetDeleteRequestTopic(
                        name=topic,
                        partitions=[OffsetDeleteRequestPartition(partition_index=index) for index in indexes],
                    )
                    for topic, indexes in by_topic(part).items()
                ],
            )
            response: OffsetDeleteResponse = yield from self._coordinators.ask(group, request, check=check)
            for t in response.topics:
                for p in t.partitions:
                    tp = TopicPartition(t.name, p.partition_index)
                    found[tp] = failure(p.error_code, subject=str(tp))
        return Results.of(asked, found)

    # -- as members and tools need it

    def committed_offsets(
        self,
        group: str,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        require_stable: bool = False,
    ) -> ClientSteps[dict[TopicPartition, CommittedOffset]]:
        """What one group has committed (for all partitions: None). Partitions without a commit are left out.
        `require_stable` waits for commits of transactions that are under way (KIP-447).
        """
        found = yield from self._committed({group: partitions}, require_stable=require_stable)
        return found.all()[group]

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

    def _committed(
        self,
        groups: Mapping[str, Iterable[TopicPartition] | None] | Iterable[str],
        *,
        require_stable: bool,
    ) -> ClientSteps[Results[str, dict[TopicPartition, CommittedOffset]]]:
        from ottla.wire.messages.offset_fetch import (
            OffsetFetchRequest,
            OffsetFetchRequestGroup,
            OffsetFetchRequestTopic,
            OffsetFetchRequestTopics,
        )

        named = groups if isinstance(groups, Mapping) else dict.fromkeys(groups)
        wanted = {
            group: None if partitions is None else by_topic(sorted(partitions))
            for group, partitions in named.items()
        }

        def together(part: list[str]) -> OffsetFetchRequest:
            entries = []
            for group in part:
                topics = wanted[group]
                entries.append(
                    OffsetFetchRequestGroup(
                        group_id=group,
                        topics=None
                        if topics is None
                        else [
                            OffsetFetchRequestTopics(name=t, partition_indexes=p) for t, p in topics.items()
                        ],
                    )
                )
            return OffsetFetchRequest(groups=entries, require_stable=require_stable)

        def alone(group: str, version: int) -> OffsetFetchRequest:
            topics = wanted[group]
            return OffsetFetchRequest(
                group_id=group,
                topics=None
                if topics is None
                else [OffsetFetchRequestTopic(name=t, partition_indexes=p) for t, p in topics.items()],
                # Below version 7 nobody can be asked to wait for pending transactions (KIP-447).
                require_stable=require_stable and version >= 7,
            )

        def ask(
            node_id: int, part: list[str]
        ) -> ClientSteps[dict[str, dict[TopicPartition, CommittedOffset] | OttlaError]]:
            versions: list[int] = []

            def build(version: int) -> OffsetFetchRequest:
                versions.append(version)
                return together(part) if version >= BATCHED else alone(part[0], version)

            request = Versioned(OffsetFetchRequest.API_KEY, build)
            response = yield Call(node_id, request, version_max=NAMED_TOPICS)
            if versions[-1] >= BATCHED:
                return {g.group_id: _offsets(g.group_id, g.error_code, g.topics) for g in response.groups}
            answers = {part[0]: _offsets(part[0], response.error_code, response.topics)}
            for group in part[1:]:  # an old broker answers for one group at a time
                response = yield Call(node_id, alone(group, versions[-1]), version_max=BATCHED - 1)
                answers[group] = _offsets(group, response.error_code, response.topics)
            return answers

        return (yield from self._ask_each(wanted, ask))


def _offsets(
    group: str, error_code: int, topics: Iterable[Any]
) -> dict[TopicPartition, CommittedOffset] | OttlaError:
    """What one group's part of an answer says; an error where any of it is one, but for topics that are
    gone.
    """
    if error_code:
        return ServerError(error_code, subject=f"group {group}")
    found = {}
    for topic in topics:
        for p in topic.partitions:
            tp = TopicPartition(topic.name, p.partition_index)
            if p.error_code and p.error_code not in MISSING_TOPIC:
                return ServerError(p.error_code, subject=str(tp))
            if p.committed_offset != NO_OFFSET and not p.error_code:
                found[tp] = CommittedOffset(p.committed_offset, p.committed_leader_epoch, p.metadata or "")
    return found
