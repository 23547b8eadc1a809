"""Administration of where partitions live: reassigning their replicas, electing their leaders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from ottla.client.admin_part import ADMIN_TIMEOUT_MS, PARTITIONS_PER_REQUEST_MAX, AdminPart, by_topic
from ottla.client.admin_results import Results, failure
from ottla.client.coordinator import chunks
from ottla.client.effects import ClientSteps
from ottla.client.errors import OttlaError
from ottla.model.types import TopicPartition


class ElectionType(IntEnum):
    PREFERRED = 0
    """The first of the replicas leads, if it is in sync."""
    UNCLEAN = 1
    """A replica that is not in sync may lead, where none is: records may be lost."""


class PartitionReassignment(NamedTuple):
    replicas: tuple[int, ...]
    """All that there are at the moment, those that come and those that go included."""
    adding_replicas: tuple[int, ...]
    removing_replicas: tuple[int, ...]


class PartitionAdmin(AdminPart):
    def alter_partition_reassignments(
        self,
        reassignments: Mapping[TopicPartition, Sequence[int] | None],
        *,
        allow_replication_factor_change: bool = True,
        timeout_ms: int = ADMIN_TIMEOUT_MS,
    ) -> ClientSteps[Results[TopicPartition, None]]:
        """Gives partitions new replicas, by their brokers; None cancels what is under way. The copying goes
        on after the answer.
        """
        from ottla.wire.messages.alter_partition_reassignments import (
            AlterPartitionReassignmentsRequest,
            AlterPartitionReassignmentsResponse,
            ReassignablePartition,
            ReassignableTopic,
        )

        def target(tp: TopicPartition) -> list[int] | None:
            replicas = reassignments[tp]
            return None if replicas is None else list(replicas)

        found: dict[TopicPartition, OttlaError | None] = {}
        for part in chunks(reassignments, PARTITIONS_PER_REQUEST_MAX):
            request = AlterPartitionReassignmentsRequest(
                timeout_ms=timeout_ms,
                allow_replication_factor_change=allow_replication_factor_change,
                topics=[
                    ReassignableTopic(
                        name=topic,
                        partitions=[
                            ReassignablePartition(
                                partition_index=index, replicas=target(TopicPartition(topic, index))
                            )
                            for index in indexes
                        ],
                    )
                    for topic, indexes in by_topic(part).items()
                ],
            )
            response: AlterPartitionReassignmentsResponse = yield from self._ask_checked(
                request, controller=True
            )
            for t in response.responses:
                for p in t.partitions:
                    tp = TopicPartition(t.name, p.partition_index)
                    found[tp] = failure(p.error_code, p.error_message, subject=str(tp))
        return Results.of(reassignments, found)

    def list_partition_reassignments(
        self, partitions: Iterable[TopicPartition] | None = None, *, timeout_ms: int = ADMIN_TIMEOUT_MS
    ) -> ClientSteps[dict[TopicPartition, PartitionReassignment]]:
        """The reassignments under way (of these partitions; None: of all)."""
        from ottla.wire.messages.list_partition_reassignments import (
            ListPartitionReassignmentsRequest,
            ListPartitionReassignmentsResponse,
            ListPartitionReassignmentsTopics,
        )

        found: dict[TopicPartition, PartitionReassignment] = {}
        parts = [None] if partitions is None else chunks(sorted(set(partitions)), PARTITIONS_PER_REQUEST_MAX)
        for part in parts:
            request = ListPartitionReassignmentsRequest(
                timeout_ms=timeout_ms,
                topics=None
                if part is None
                else [
                    ListPartitionReassignmentsTopics(name=topic, partition_indexes=indexes)
                    for topic, indexes in by_topic(part).items()
                ],
            )
            response: ListPartitionReassignmentsResponse = yield from self._ask_checked(
                request, controller=True
            )
            for t in response.topics:
                for p in t.partitions:
                    found[TopicPartition(t.name, p.partition_index)] = PartitionReassignment(
                        tuple(p.replicas), tuple(p.adding_replicas), tuple(p.removing_replicas)
                    )
        return found

    def elect_leaders(
        self,
        election_type: ElectionType,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        timeout_ms: int = ADMIN_TIMEOUT_MS,
    ) -> ClientSteps[Results[TopicPartition, None]]:
        """Elects leaders anew (None: of all partitions; then only those that got one are told). One that
        leads already is ELECTION_NOT_NEEDED.
        """
        from ottla.wire.messages.elect_leaders import (
            ElectLeadersRequest,
            ElectLeadersResponse,
            TopicPartitions,
        )

        asked = None if partitions is None else list(dict.fromkeys(partitions))
        found: dict[TopicPartition, OttlaError | None] = {}
        for part in [None] if asked is None else chunks(asked, PARTITIONS_PER_REQUEST_MAX):
            request = ElectLeadersRequest(
                election_type=election_type,
                topic_partitions=None
                if part is None
                else [TopicPartitions(topic=t, partitions=indexes) for t, indexes in by_topic(part).items()],
                timeout_ms=timeout_ms,
            )
            response: ElectLeadersResponse = yield from self._ask_checked(request, controller=True)
            for t in response.replica_election_results:
                for p in t.partition_result:
                    tp = TopicPartition(t.topic, p.partition_id)
                    found[tp] = failure(p.error_code, p.error_message, subject=str(tp))
        return Results.of(sorted(found) if asked is None else asked, found)
