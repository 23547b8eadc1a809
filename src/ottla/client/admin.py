"""Administration: topics, partitions, configurations, the cluster itself, as operations of the core.

Each method is a generator over effects. Requests about many things are answered thing by thing, so the
results carry their own errors (`result.error`) and the caller decides; only a failure of the whole request is
raised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from ottla.client.cluster import Cluster
from ottla.client.effects import Call, CallMany, ClientSteps
from ottla.client.errors import OttlaError, ServerError, raise_for
from ottla.client.view import NO_LEADER, Address
from ottla.model.errors import ErrorCode
from ottla.model.types import NO_TOPIC_ID, TopicPartition

ADMIN_TIMEOUT_MS = 30_000

EARLIEST = -2
LATEST = -1
MAX_TIMESTAMP = -3


_NOTHING: Final[Mapping[Any, Any]] = MappingProxyType({})


class ResourceType(IntEnum):
    """What a configuration belongs to."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigSource(IntEnum):
    """Where a configuration's value comes from."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    CLIENT_METRICS_CONFIG = 7
    DYNAMIC_GROUP_CONFIG = 8

    @classmethod
    def of(cls, number: int) -> ConfigSource:
        """The source, UNKNOWN for one that a newer broker invented."""
        return cls(number) if number in cls._value2member_map_ else cls.UNKNOWN


class ConfigOperation(IntEnum):
    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class NewTopic(NamedTuple):
    name: str
    partitions: int = -1
    """-1: the cluster's `num.partitions`."""
    replication_factor: int = -1
    assignments: Mapping[int, Sequence[int]] = _NOTHING
    configs: Mapping[str, str | None] = _NOTHING


class TopicResult(NamedTuple):
    """How one topic of a request fared."""

    name: str
    topic_id: bytes = NO_TOPIC_ID
    partitions: int = -1
    replication_factor: int = -1
    error: ServerError | None = None


class PartitionDescription(NamedTuple):
    partition: int
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline: tuple[int, ...]
    elr: tuple[int, ...] | None = None
    """Eligible leader replicas; None when the broker is too old to tell."""
    last_known_elr: tuple[int, ...] | None = None

    @property
    def has_leader(self) -> bool:
        return self.leader != NO_LEADER


class TopicDescription(NamedTuple):
    name: str
    topic_id: bytes
    internal: bool
    partitions: tuple[PartitionDescription, ...]

    @property
    def replication_factor(self) -> int:
        return len(self.partitions[0].replicas) if self.partitions else 0


class ConfigSynonym(NamedTuple):
    name: str
    value: str | None
    source: ConfigSource


class ConfigEntry(NamedTuple):
    name: str
    value: str | None
    source: ConfigSource
    read_only: bool
    sensitive: bool
    synonyms: tuple[ConfigSynonym, ...] = ()
    documentation: str | None = None

    @property
    def is_default(self) -> bool:
        return self.source == ConfigSource.DEFAULT_CONFIG


class ConfigChange(NamedTuple):
    name: str
    operation: ConfigOperation
    value: str | None = None


class BrokerDescription(NamedTuple):
    node_id: int
    address: Address
    rack: str | None
    fenced: bool = False


class ClusterDescription(NamedTuple):
    cluster_id: str
    controller_id: int
    brokers: tuple[BrokerDescription, ...]


class LogDirPartition(NamedTuple):
    topic_partition: TopicPartition
    size_bytes: int
    offset_lag: int
    is_future: bool


class LogDirDescription(NamedTuple):
    path: str
    error: ServerError | None
    total_bytes: int
    usable_bytes: int
    partitions: tuple[LogDirPartition, ...]


class FeatureDescription(NamedTuple):
    name: str
    supported_min: int
    supported_max: int
    finalized: int
    """The level in force; 0 when the feature is not in use."""


class OffsetResult(NamedTuple):
    offset: int
    timestamp_ms: int
    leader_epoch: int
    error: OttlaError | None = None


def _failure(code: int, message: str | None = None, subject: str = "") -> ServerError | None:
    return ServerError(code, message, subject=subject) if code else None


class Admin:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    # -- topics

    def create_topics(
        self, topics: Sequence[NewTopic], *, validate_only: bool = False, timeout_ms: int = ADMIN_TIMEOUT_MS
    ) -> ClientSteps[list[TopicResult]]:
        from ottla.wire.messages.create_topics import (
            CreatableReplicaAssignment,
            CreatableTopic,
            CreatableTopicConfig,
            CreateTopicsRequest,
            CreateTopicsResponse,
        )

        request = CreateTopicsRequest(
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
                for topic in topics
            ],
            timeout_ms=timeout_ms,
            validate_only=validate_only,
        )
        response: CreateTopicsResponse = yield from self._cluster.ask_controller(request)
        return [
            TopicResult(
                t.name,
                bytes(t.topic_id),
                t.num_partitions,
                t.replication_factor,
                _failure(t.error_code, t.error_message),
            )
            for t in response.topics
        ]

    def delete_topics(
        self, names: Sequence[str], *, timeout_ms: int = ADMIN_TIMEOUT_MS
    ) -> ClientSteps[list[TopicResult]]:
        from ottla.client.effects import Versioned
        from ottla.wire.messages.delete_topics import (
            DeleteTopicsRequest,
            DeleteTopicsResponse,
            DeleteTopicState,
        )

        def build(version: int) -> DeleteTopicsRequest:
            if version >= 6:
                return DeleteTopicsRequest(
                    topics=[DeleteTopicState(name=name) for name in names], timeout_ms=timeout_ms
                )
            return DeleteTopicsRequest(topic_names=list(names), timeout_ms=timeout_ms)

        request = Versioned(DeleteTopicsRequest.API_KEY, build)
        response: DeleteTopicsResponse = yield from self._cluster.ask_controller(request)
        return [
            TopicResult(r.name or "", bytes(r.topic_id), error=_failure(r.error_code, r.error_message))
            for r in response.responses
        ]

    def create_partitions(
        self,
        counts: Mapping[str, int],
        assignments: Mapping[str, Sequence[Sequence[int]]] | None = None,
        *,
        validate_only: bool = False,
        timeout_ms: int = ADMIN_TIMEOUT_MS,
    ) -> ClientSteps[list[TopicResult]]:
        """Raises the number of partitions; `assignments` names the replicas of the new ones."""
        from ottla.wire.messages.create_partitions import (
            CreatePartitionsAssignment,
            CreatePartitionsRequest,
            CreatePartitionsResponse,
            CreatePartitionsTopic,
        )

        given = assignments or {}
        request = CreatePartitionsRequest(
            topics=[
                CreatePartitionsTopic(
                    name=name,
                    count=count,
                    assignments=[CreatePartitionsAssignment(broker_ids=list(ids)) for ids in given[name]]
                    if name in given
                    else None,
                )
                for name, count in counts.items()
            ],
            timeout_ms=timeout_ms,
            validate_only=validate_only,
        )
        response: CreatePartitionsResponse = yield from self._cluster.ask_controller(request)
        return [
            TopicResult(r.name, partitions=counts[r.name], error=_failure(r.error_code, r.error_message))
            for r in response.results
        ]

    def list_topics(self) -> ClientSteps[list[str]]:
        """The names of all topics, sorted, internal ones too."""
        view = yield from self._cluster.discover(None)
        return sorted(name for name, topic in view.topics.items() if not topic.error)

    def describe_topics(self, names: Sequence[str] | None = None) -> ClientSteps[list[TopicDescription]]:
        """Raises for the first topic that does not exist. With DescribeTopicPartitions where the broker has
        it (it tells the eligible leader replicas), with Metadata where not.
        """
        view = yield from self._cluster.discover(names)
        wanted = sorted(view.topics) if names is None else list(dict.fromkeys(names))
        elrs = yield from self._eligible_leaders(wanted)
        found = []
        for name in wanted:
            topic = view.topic(name)
            partitions = tuple(
                PartitionDescription(
                    p.index,
                    p.leader,
                    p.leader_epoch,
                    p.replicas,
                    p.isr,
                    p.offline,
                    *elrs.get((name, p.index), (None, None)),
                )
                for p in topic.partitions
            )
            found.append(TopicDescription(name, topic.topic_id, topic.internal, partitions))
        return found

    def _eligible_leaders(
        self, names: Sequence[str]
    ) -> ClientSteps[dict[tuple[str, int], tuple[tuple[int, ...], tuple[int, ...]]]]:
        from ottla.client.errors import UnsupportedVersion
        from ottla.wire.messages.describe_topic_partitions import (
            DescribeTopicPartitionsRequest,
            DescribeTopicPartitionsRequestCursor,
            DescribeTopicPartitionsResponse,
            TopicRequest,
        )

        found: dict[tuple[str, int], tuple[tuple[int, ...], tuple[int, ...]]] = {}
        cursor: DescribeTopicPartitionsRequestCursor | None = None
        left = sorted(names)
        while left:
            request = DescribeTopicPartitionsRequest(
                topics=[TopicRequest(name=name) for name in left], cursor=cursor
            )
            try:
                response: DescribeTopicPartitionsResponse = yield from self._cluster.ask_anyone(request)
            except UnsupportedVersion:
                return {}
            for topic in response.topics:
                for p in topic.partitions:
                    found[topic.name or "", p.partition_index] = (
                        tuple(p.eligible_leader_replicas or ()),
                        tuple(p.last_known_elr or ()),
                    )
            if response.next_cursor is None:
                break
            cursor = DescribeTopicPartitionsRequestCursor(
                topic_name=response.next_cursor.topic_name,
                partition_index=response.next_cursor.partition_index,
            )
            left = [name for name in left if name >= response.next_cursor.topic_name]
        return found

    # -- configurations

    def describe_configs(
        self,
        resource: ResourceType,
        names: Sequence[str],
        *,
        keys: Sequence[str] | None = None,
        synonyms: bool = True,
        documentation: bool = False,
    ) -> ClientSteps[dict[str, list[ConfigEntry]]]:
        """The entries of each resource, sorted by name. Raises for the first that cannot be described.

        The broker defaults are the BROKER resource with an empty name; a broker's own are asked of itself.
        """
        from ottla.wire.messages.describe_configs import (
            DescribeConfigsRequest,
            DescribeConfigsResource,
            DescribeConfigsResponse,
        )

        def ask(node_names: Sequence[str]) -> DescribeConfigsRequest:
            return DescribeConfigsRequest(
                resources=[
                    DescribeConfigsResource(
                        resource_type=resource,
                        resource_name=name,
                        configuration_keys=None if keys is None else list(keys),
                    )
                    for name in node_names
                ],
                include_synonyms=synonyms,
                include_documentation=documentation,
            )

        found: dict[str, list[ConfigEntry]] = {}
        for node_id, node_names in (yield from self._by_owner(resource, names)).items():
            response: DescribeConfigsResponse
            if node_id is None:
                response = yield from self._cluster.ask_anyone(ask(node_names))
            else:
                response = yield Call(node_id, ask(node_names))
            for result in response.results:
                subject = f"{resource.name.lower()} {result.resource_name}"
                raise_for(result.error_code, result.error_message, subject=subject)
                entries = [
                    ConfigEntry(
                        c.name,
                        c.value,
                        ConfigSource.of(c.config_source),
                        c.read_only,
                        c.is_sensitive,
                        tuple(ConfigSynonym(s.name, s.value, ConfigSource.of(s.source)) for s in c.synonyms),
                        c.documentation,
                    )
                    for c in result.configs
                ]
                found[result.resource_name] = sorted(entries, key=lambda entry: entry.name)
        return {name: found[name] for name in names if name in found}

    def alter_configs(
        self,
        resource: ResourceType,
        name: str,
        changes: Sequence[ConfigChange],
        *,
        validate_only: bool = False,
    ) -> ClientSteps[None]:
        """IncrementalAlterConfigs: only what the changes name is touched."""
        from ottla.wire.messages.incremental_alter_configs import (
            AlterableConfig,
            AlterConfigsResource,
            IncrementalAlterConfigsRequest,
            IncrementalAlterConfigsResponse,
        )

        request = IncrementalAlterConfigsRequest(
            resources=[
                AlterConfigsResource(
                    resource_type=resource,
                    resource_name=name,
                    configs=[
                        AlterableConfig(name=c.name, config_operation=c.operation, value=c.value)
                        for c in changes
                    ],
                )
            ],
            validate_only=validate_only,
        )
        owners = yield from self._by_owner(resource, [name])
        response: IncrementalAlterConfigsResponse
        if None in owners:
            response = yield from self._cluster.ask_controller(request)
        else:
            response = yield Call(next(node_id for node_id in owners if node_id is not None), request)
        for answer in response.responses:
            raise_for(answer.error_code, answer.error_message)

    def _by_owner(
        self, resource: ResourceType, names: Sequence[str]
    ) -> ClientSteps[dict[int | None, list[str]]]:
        """Which broker has to be asked about each resource; None for those that any broker knows."""
        if resource not in (ResourceType.BROKER, ResourceType.BROKER_LOGGER):
            return {None: list(names)}
        view = yield from self._cluster.discover(())
        owners: dict[int | None, list[str]] = {}
        for name in names:
            if name == "":
                owners.setdefault(None, []).append(name)
                continue
            node_id = int(name) if name.isascii() and name.isdigit() else -1
            if node_id not in view.brokers:
                known = ", ".join(str(node_id) for node_id in sorted(view.brokers)) or "none"
                raise ServerError(ErrorCode.INVALID_REQUEST, f"there is no broker {name} (brokers: {known})")
            owners.setdefault(node_id, []).append(name)
        return owners

    # -- the cluster

    def describe_cluster(self) -> ClientSteps[ClusterDescription]:
        from ottla.client.errors import UnsupportedVersion
        from ottla.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse

        try:
            response: DescribeClusterResponse = yield from self._cluster.ask_anyone(DescribeClusterRequest())
        except UnsupportedVersion:  # before Kafka 2.8 Metadata says the same
            view = yield from self._cluster.discover(())
            known = (BrokerDescription(b.node_id, b.address, b.rack) for b in view.brokers.values())
            brokers = tuple(sorted(known, key=lambda b: b.node_id))
            return ClusterDescription(view.cluster_id or "", view.controller_id, brokers)
        raise_for(response.error_code, response.error_message)
        return ClusterDescription(
            response.cluster_id,
            response.controller_id,
            tuple(
                BrokerDescription(b.broker_id, Address(b.host, b.port), b.rack, b.is_fenced)
                for b in sorted(response.brokers, key=lambda b: b.broker_id)
            ),
        )

    def describe_log_dirs(
        self,
        node_ids: Sequence[int] | None = None,
        topics: Mapping[str, Sequence[int]] | None = None,
    ) -> ClientSteps[dict[int, list[LogDirDescription]]]:
        """The log directories of each broker (None: all brokers; `topics` None: all partitions)."""
        from ottla.wire.messages.describe_log_dirs import (
            DescribableLogDirTopic,
            DescribeLogDirsRequest,
            DescribeLogDirsResponse,
        )

        view = yield from self._cluster.discover(())
        asked = sorted(view.brokers) if node_ids is None else list(node_ids)
        request = DescribeLogDirsRequest(
            topics=None
            if topics is None
            else [DescribableLogDirTopic(topic=t, partitions=list(p)) for t, p in topics.items()]
        )
        answers = yield CallMany([Call(node_id, request) for node_id in asked])
        found = {}
        for node_id, answer in zip(asked, answers, strict=True):
            response: DescribeLogDirsResponse = answer.get()
            raise_for(response.error_code, subject=f"broker {node_id}")
            found[node_id] = [
                LogDirDescription(
                    result.log_dir,
                    _failure(result.error_code),
                    result.total_bytes,
                    result.usable_bytes,
                    tuple(
                        LogDirPartition(
                            TopicPartition(topic.name, p.partition_index),
                            p.partition_size,
                            p.offset_lag,
                            p.is_future_key,
                        )
                        for topic in result.topics
                        for p in topic.partitions
                    ),
                )
                for result in response.results
            ]
        return found

    def describe_features(self) -> ClientSteps[tuple[list[FeatureDescription], int]]:
        """The features that a broker supports with the levels in force, and the epoch of those."""
        from ottla.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse

        request = ApiVersionsRequest(client_software_name="ottla", client_software_version="1")
        response: ApiVersionsResponse = yield from self._cluster.ask_anyone(request)
        raise_for(response.error_code)
        levels = {f.name: f.max_version_level for f in response.finalized_features}
        features = [
            FeatureDescription(f.name, f.min_version, f.max_version, levels.get(f.name, 0))
            for f in sorted(response.supported_features, key=lambda f: f.name)
        ]
        return features, response.finalized_features_epoch

    def update_features(
        self, levels: Mapping[str, int], *, upgrade_type: int = 1, validate_only: bool = False
    ) -> ClientSteps[None]:
        """Sets finalized levels. `upgrade_type`: 1 upgrade, 2 safe downgrade, 3 unsafe downgrade."""
        from ottla.wire.messages.update_features import (
            FeatureUpdateKey,
            UpdateFeaturesRequest,
            UpdateFeaturesResponse,
        )

        request = UpdateFeaturesRequest(
            feature_updates=[
                FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=upgrade_type)
                for name, level in levels.items()
            ],
            timeout_ms=ADMIN_TIMEOUT_MS,
            validate_only=validate_only,
        )
        response: UpdateFeaturesResponse = yield from self._cluster.ask_controller(request)
        raise_for(response.error_code, response.error_message)
        for result in response.results:
            raise_for(result.error_code, result.error_message, subject=f"feature {result.feature}")

    # -- records

    def delete_records(
        self, before: Mapping[TopicPartition, int], *, timeout_ms: int = ADMIN_TIMEOUT_MS
    ) -> ClientSteps[dict[TopicPartition, OffsetResult]]:
        """Deletes the records before each offset (-1: all there are); gives each partition's new first
        offset.
        """
        from ottla.wire.messages.delete_records import (
            DeleteRecordsPartition,
            DeleteRecordsRequest,
            DeleteRecordsResponse,
            DeleteRecordsTopic,
        )

        results: dict[TopicPartition, OffsetResult] = {}
        by_leader = yield from self._by_leader(list(before), results)
        calls = [
            Call(
                leader,
                DeleteRecordsRequest(
                    topics=[
                        DeleteRecordsTopic(
                            name=topic,
                            partitions=[
                                DeleteRecordsPartition(
                                    partition_index=index, offset=before[TopicPartition(topic, index)]
                                )
                                for index in indexes
                            ],
                        )
                        for topic, indexes in topics.items()
                    ],
                    timeout_ms=timeout_ms,
                ),
            )
            for leader, topics in by_leader.items()
        ]
        for answer, topics in zip((yield CallMany(calls)), by_leader.values(), strict=True):
            if answer.error is not None:
                for topic, indexes in topics.items():
                    for index in indexes:
                        results[TopicPartition(topic, index)] = OffsetResult(-1, -1, -1, answer.error)
                continue
            response: DeleteRecordsResponse = answer.response
            for t in response.topics:
                for p in t.partitions:
                    results[TopicPartition(t.name, p.partition_index)] = OffsetResult(
                        p.low_watermark, -1, -1, _failure(p.error_code)
                    )
        return results

    def list_offsets(
        self, when: Mapping[TopicPartition, int], *, read_committed: bool = False
    ) -> ClientSteps[dict[TopicPartition, OffsetResult]]:
        """Offsets by time: a timestamp in milliseconds, or EARLIEST, LATEST, MAX_TIMESTAMP."""
        from ottla.wire.messages.list_offsets import (
            ListOffsetsPartition,
            ListOffsetsRequest,
            ListOffsetsResponse,
            ListOffsetsTopic,
        )

        results: dict[TopicPartition, OffsetResult] = {}
        by_leader = yield from self._by_leader(list(when), results)
        calls = [
            Call(
                leader,
                ListOffsetsRequest(
                    replica_id=-1,
                    isolation_level=1 if read_committed else 0,
                    topics=[
                        ListOffsetsTopic(
                            name=topic,
                            partitions=[
                                ListOffsetsPartition(
                                    partition_index=index, timestamp=when[TopicPartition(topic, index)]
                                )
                                for index in indexes
                            ],
                        )
                        for topic, indexes in topics.items()
                    ],
                    timeout_ms=ADMIN_TIMEOUT_MS,
                ),
            )
            for leader, topics in by_leader.items()
        ]
        for answer in (yield CallMany(calls)):
            response: ListOffsetsResponse = answer.get()
            for t in response.topics:
                for p in t.partitions:
                    results[TopicPartition(t.name, p.partition_index)] = OffsetResult(
                        p.offset, p.timestamp, p.leader_epoch, _failure(p.error_code)
                    )
        return results

    def _by_leader(
        self, partitions: Sequence[TopicPartition], failed: dict[TopicPartition, OffsetResult]
    ) -> ClientSteps[dict[int, dict[str, list[int]]]]:
        """The partitions grouped by the broker that leads them; those without one go into `failed`."""
        view = yield from self._cluster.discover(sorted({tp.topic for tp in partitions}))
        grouped: dict[int, dict[str, list[int]]] = {}
        for tp in partitions:
            try:
                leader = view.leader(tp.topic, tp.partition)
            except ServerError as error:
                failed[tp] = OffsetResult(-1, -1, -1, error)
                continue
            grouped.setdefault(leader, {}).setdefault(tp.topic, []).append(tp.partition)
        return grouped
