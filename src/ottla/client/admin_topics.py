"""Administration of topics: create, delete, grow, list, describe, as operations of the core."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from ottla.client.admin_part import ADMIN_TIMEOUT_MS, ITEMS_PER_REQUEST_MAX, AdminPart
from ottla.client.admin_results import Results, failure
from ottla.client.cluster import worth_retrying
from ottla.client.coordinator import chunks
from ottla.client.effects import ANY_BROKER, Call, ClientSteps, Versioned
from ottla.client.errors import InvalidArgument, OttlaError, ServerError, UnsupportedVersion, raise_for
from ottla.client.view import NO_LEADER
from ottla.model.types import NO_TOPIC_ID

if TYPE_CHECKING:
    from ottla.client.admin_acls import AclOperation
    from ottla.wire.messages.metadata import MetadataRequestTopic

Key = TypeVar("Key")

_NOTHING: Final[Mapping[Any, Any]] = MappingProxyType({})


class NewTopic(NamedTuple):
    name: str
    partitions: int = -1
    """-1: the cluster's `num.partitions`."""
    replication_factor: int = -1
    """-1: the cluster's `default.replication.factor`."""
    assignments: Mapping[int, Sequence[int]] = _NOTHING
    """Partition to the brokers of its replicas; then both numbers above are ignored."""
    configs: Mapping[str, str | None] = _NOTHING


class CreatedTopic(NamedTuple):
    """A new topic as the controller made it; -1 and the zero id where the broker is too old to tell."""

    name: str
    topic_id: bytes = NO_TOPIC_ID
    partitions: int = -1
    replication_factor: int = -1


class PartitionDescription(NamedTuple):
    partition: int
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline: tuple[int, ...]
    elr: tuple[int, ...] | None = None
    """Eligible leader replicas (KIP-966); None when the broker is too old to tell."""
    last_known_elr: tuple[int, ...] | None = None

    @property
    def has_leader(self) -> bool:
        return self.leader != NO_LEADER


class TopicDescription(NamedTuple):
    name: str
    topic_id: bytes
    internal: bool
    partitions: tuple[PartitionDescription, ...]
    authorized_operations: frozenset[AclOperation] | None = None
    """What the caller may do with it; None where it was not asked for."""

    @property
    def replication_factor(self) -> int:
        return len(self.partitions[0].replicas) if self.partitions else 0


class TopicCursor(NamedTuple):
    """Where the next page of a description begins."""

    topic: str
    partition: int


class TopicPage(NamedTuple):
    topics: Results[str, TopicDescription]
    """With the partitions that are in this page: a topic may go on in the next one."""
    next: TopicCursor | None
    """None on the last page."""


class TopicAdmin(AdminPart):
    def create_topics(
        self, topics: Iterable[NewTopic], *, validate_only: bool = False, timeout_ms: int = ADMIN_TIMEOUT_MS
    ) -> ClientSteps[Results[str, CreatedTopic]]:
        """Creates topics; with `validate_only` says only whether it could."""
        from ottla.wire.messages.create_topics import (
            CreatableReplicaAssignment,
            CreatableTopic,
            CreatableTopicConfig,
            CreateTopicsRequest,
            CreateTopicsResponse,
        )

        def build(part: list[tuple[str, NewTopic]]) -> CreateTopicsRequest:
            return CreateTopicsRequest(
                topics=[
                    CreatableTopic(
                        name=topic.name,
                        # With explicit assignments Kafka wants both numbers to be -1.
                        num_partitions=-1 if topic.assignments else topic.partitions,
                        replication_factor=-1 if topic.assignments else topic.replication_factor,
                        assignments=[
                            CreatableReplicaAssignment(partition_index=index, broker_ids=list(replicas))
                            for index, replicas in sorted(topic.assignments.items())
                        ],
                        configs=[CreatableTopicConfig(name=k, value=v) for k, v in topic.configs.items()],
                    )
                    for _, topic in part
                ],
                timeout_ms=timeout_ms,
                validate_only=validate_only,
            )

        def read(response: CreateTopicsResponse) -> dict[str, CreatedTopic | OttlaError]:
            return {
                t.name: failure(t.error_code, t.error_message)
                or CreatedTopic(t.name, bytes(t.topic_id), t.num_partitions, t.replication_factor)
                for t in response.topics
            }

        asked = {topic.name: topic for topic in topics}
        return Results.of(asked, (yield from self._change_each(asked, build, read)))

    def delete_topics(
        self, names: Iterable[str], *, timeout_ms: int = ADMIN_TIMEOUT_MS
    ) -> ClientSteps[Results[str, None]]:
        """Deletes topics with all their records."""
        from ottla.wire.messages.delete_topics import (
            DeleteTopicsRequest,
            DeleteTopicsResponse,
            DeleteTopicState,
        )

        def build(part: list[tuple[str, None]]) -> Versioned:
            wanted = [name for name, _ in part]

            def of_version(version: int) -> DeleteTopicsRequest:
                if version >= 6:
                    states = [DeleteTopicState(name=name) for name in wanted]
                    return DeleteTopicsRequest(topics=states, timeout_ms=timeout_ms)
                return DeleteTopicsRequest(topic_names=wanted, timeout_ms=timeout_ms)

            return Versioned(DeleteTopicsRequest.API_KEY, of_version)

        def read(response: DeleteTopicsResponse) -> dict[str, OttlaError | None]:
            return {r.name or "": failure(r.error_code, r.error_message) for r in response.responses}

        asked: dict[str, None] = dict.fromkeys(names)
        return Results.of(asked, (yield from self._change_each(asked, build, read)))

    def delete_topics_by_id(
        self, topic_ids: Iterable[bytes], *, timeout_ms: int = ADMIN_TIMEOUT_MS
    ) -> ClientSteps[Results[bytes, None]]:
        """Deletes topics by their ids (sixteen bytes): never one that was created anew under the name."""
        from ottla.wire.messages.delete_topics import (
            DeleteTopicsRequest,
            DeleteTopicsResponse,
            DeleteTopicState,
        )

        def build(part: list[tuple[bytes, None]]) -> Versioned:
            def of_version(version: int) -> DeleteTopicsRequest:
                if version < 6:
                    raise UnsupportedVersion("the broker is too old to delete topics by their id")
                states = [DeleteTopicState(topic_id=topic_id) for topic_id, _ in part]
                return DeleteTopicsRequest(topics=states, timeout_ms=timeout_ms)

            return Versioned(DeleteTopicsRequest.API_KEY, of_version)

        def read(response: DeleteTopicsResponse) -> dict[bytes, OttlaError | None]:
            return {bytes(r.topic_id): failure(r.error_code, r.error_message) for r in response.responses}

        asked: dict[bytes, None] = dict.fromkeys(_checked(topic_ids))
        return Results.of(asked, (yield from self._change_each(asked, build, read)))

    def create_partitions(
        self,
        counts: Mapping[str, int],
        assignments: Mapping[str, Sequence[Sequence[int]]] | None = None,
        *,
        validate_only: bool = False,
        timeout_ms: int = ADMIN_TIMEOUT_MS,
    ) -> ClientSteps[Results[str, None]]:
        """Raises the number of partitions of topics; `assignments` names the replicas of the new ones."""
        from ottla.wire.messages.create_partitions import (
            CreatePartitionsAssignment,
            CreatePartitionsRequest,
            CreatePartitionsResponse,
            CreatePartitionsTopic,
        )

        given = assignments or {}

        def build(part: list[tuple[str, int]]) -> CreatePartitionsRequest:
            return CreatePartitionsRequest(
                topics=[
                    CreatePartitionsTopic(
                        name=name,
                        count=count,
                        assignments=[CreatePartitionsAssignment(broker_ids=list(ids)) for ids in given[name]]
                        if name in given
                        else None,
                    )
                    for name, count in part
                ],
                timeout_ms=timeout_ms,
                validate_only=validate_only,
            )

        def read(response: CreatePartitionsResponse) -> dict[str, OttlaError | None]:
            return {r.name: failure(r.error_code, r.error_message) for r in response.results}

        return Results.of(counts, (yield from self._change_each(counts, build, read)))

    def list_topics(self, *, internal: bool = True) -> ClientSteps[list[str]]:
        """The names of all topics, sorted; without the internal ones if they are not wanted."""
        view = yield from self._cluster.discover(None)
        return sorted(
            name
            for name, topic in view.topics.items()
            if not topic.error and (internal or not topic.internal)
        )

    def describe_topics(
        self, names: Iterable[str] | None = None, *, include_authorized_operations: bool = False
    ) -> ClientSteps[Results[str, TopicDescription]]:
        """Topics with their partitions, leaders and replicas (None: all of them)."""
        from ottla.wire.messages.metadata import MetadataRequestTopic

        asked = None if names is None else list(dict.fromkeys(names))
        found: dict[str, TopicDescription | OttlaError] = {}
        # All of them come in one answer; of those that are named, some at a time.
        for part in [None] if asked is None else chunks(asked, ITEMS_PER_REQUEST_MAX):
            topics = None if part is None else [MetadataRequestTopic(name=name) for name in part]
            for name, _, outcome in (yield from self._describe(topics, include_authorized_operations)):
                found[name] = outcome
        return Results.of(sorted(found) if asked is None else asked, (yield from self._completed(found)))

    def describe_topics_by_id(
        self, topic_ids: Iterable[bytes], *, include_authorized_operations: bool = False
    ) -> ClientSteps[Results[bytes, TopicDescription]]:
        """As `describe_topics`, for topics by their ids (sixteen bytes)."""
        from ottla.wire.messages.metadata import MetadataRequestTopic

        asked = list(dict.fromkeys(_checked(topic_ids)))
        found: dict[bytes, TopicDescription | OttlaError] = {}
        for part in chunks(asked, ITEMS_PER_REQUEST_MAX):
            topics = [MetadataRequestTopic(name=None, topic_id=topic_id) for topic_id in part]
            for _, topic_id, outcome in (yield from self._describe(topics, include_authorized_operations)):
                found[topic_id] = outcome
        return Results.of(asked, (yield from self._completed(found)))

    def _describe(
        self, topics: list[MetadataRequestTopic] | None, include_authorized_operations: bool
    ) -> ClientSteps[list[tuple[str, bytes, TopicDescription | OttlaError]]]:
        """Name, id and description of each topic, by Metadata; waits for those that are just being made."""
        from ottla.client.admin_acls import operations_of
        from ottla.model.uuids import uuid_to_text
        from ottla.wire.messages.metadata import MetadataRequest, MetadataResponse

        def build(version: int) -> MetadataRequest:
            if version < 12 and any(topic.name is None for topic in topics or ()):
                raise UnsupportedVersion("the broker is too old to describe topics by their id")
            return MetadataRequest(
                topics=topics,
                allow_auto_topic_creation=False,
                include_topic_authorized_operations=include_authorized_operations and version >= 8,
            )

        found: list[tuple[str, bytes, TopicDescription | OttlaError]] = []

        def attempt() -> ClientSteps[None]:
            response: MetadataResponse = yield Call(ANY_BROKER, Versioned(MetadataRequest.API_KEY, build))
            self._cluster.contacted = True
            raise_for(response.error_code)
            found.clear()
            passing: ServerError | None = None
            for t in response.topics:
                name, topic_id = t.name or "", bytes(t.topic_id)
                if t.error_code:
                    error = ServerError(t.error_code, subject=f"topic {name or uuid_to_text(topic_id)}")
                    passing = error if worth_retrying(error) else passing
                    found.append((name, topic_id, error))
                    continue
                partitions = tuple(
                    PartitionDescription(
                        p.partition_index,
                        p.leader_id,
                        p.leader_epoch,
                        tuple(p.replica_nodes),
                        tuple(p.isr_nodes),
                        tuple(p.offline_replicas),
                    )
                    for p in sorted(t.partitions, key=lambda p: p.partition_index)
                )
                operations = operations_of(t.topic_authorized_operations)
                described = TopicDescription(name, topic_id, t.is_internal, partitions, operations)
                found.append((name, topic_id, described))
            if passing is not None:
                raise passing

        try:
            yield from self._cluster.retrying(attempt)
        except ServerError:
            if not found:  # else it is the error of one topic, which has it
                raise
        return found

    def _completed(
        self, found: dict[Key, TopicDescription | OttlaError]
    ) -> ClientSteps[dict[Key, TopicDescription | OttlaError]]:
        """Adds the eligible leader replicas, which Metadata does not tell."""
        names = sorted({topic.name for topic in found.values() if isinstance(topic, TopicDescription)})
        elrs = yield from self._eligible_leaders(names)
        for key, topic in found.items():
            if isinstance(topic, TopicDescription):
                partitions = tuple(
                    p._replace(elr=elr, last_known_elr=last)
                    for p in topic.partitions
                    for elr, last in [elrs.get((topic.name, p.partition), (None, None))]
                )
                found[key] = topic._replace(partitions=partitions)
        return found

    def _eligible_leaders(
        self, names: Sequence[str]
    ) -> ClientSteps[dict[tuple[str, int], tuple[tuple[int, ...] | None, tuple[int, ...] | None]]]:
        """By DescribeTopicPartitions, where the broker has it."""
        found: dict[tuple[str, int], tuple[tuple[int, ...] | None, tuple[int, ...] | None]] = {}
        cursor: TopicCursor | None = None
        left = sorted(names)
        while left:
            try:
                page = yield from self.describe_topic_partitions(left, cursor=cursor)
            except UnsupportedVersion:  # Metadata has told all that this broker knows
                return found
            for topic in page.topics.succeeded.values():
                found.update(((topic.name, p.partition), (p.elr, p.last_known_elr)) for p in topic.partitions)
            # A broker that names the same place again would be asked for ever.
            if page.next is None or (cursor is not None and page.next <= cursor):
                break
            cursor = page.next
            left = [name for name in left if name >= cursor.topic]
        return found

    def describe_topic_partitions(
        self,
        topics: Iterable[str] | None = None,
        *,
        limit: int = 2_000,
        cursor: TopicCursor | None = None,
    ) -> ClientSteps[TopicPage]:
        """One page of at most `limit` partitions of topics (None: of all), from `cursor` on, sorted."""
        from ottla.client.admin_acls import operations_of
        from ottla.wire.messages.describe_topic_partitions import (
            DescribeTopicPartitionsRequest,
            DescribeTopicPartitionsRequestCursor,
            DescribeTopicPartitionsResponse,
            TopicRequest,
        )

        request = DescribeTopicPartitionsRequest(
            topics=[TopicRequest(name=name) for name in sorted(set(topics or ()))],
            response_partition_limit=limit,
            cursor=None
            if cursor is None
            else DescribeTopicPartitionsRequestCursor(
                topic_name=cursor.topic, partition_index=cursor.partition
            ),
        )
        response: DescribeTopicPartitionsResponse = yield from self._cluster.ask_anyone(request)
        found: Results[str, TopicDescription] = Results()
        for t in response.topics:
            name = t.name or ""
            found[name] = failure(t.error_code, subject=f"topic {name}") or TopicDescription(
                name,
                bytes(t.topic_id),
                t.is_internal,
                tuple(
                    PartitionDescription(
                        p.partition_index,
                        p.leader_id,
                        p.leader_epoch,
                        tuple(p.replica_nodes),
                        tuple(p.isr_nodes),
                        tuple(p.offline_replicas),
                        tuple(p.eligible_leader_replicas or ()),
                        tuple(p.last_known_elr or ()),
                    )
                    for p in t.partitions
                ),
                operations_of(t.topic_authorized_operations),
            )
        after = response.next_cursor
        return TopicPage(
            found, None if after is None else TopicCursor(after.topic_name, after.partition_index)
        )


def _checked(topic_ids: Iterable[bytes]) -> Iterator[bytes]:
    for topic_id in topic_ids:
        if len(topic_id) != 16:
            raise InvalidArgument(f"a topic id is sixteen bytes, not {len(topic_id)}")
        yield topic_id
