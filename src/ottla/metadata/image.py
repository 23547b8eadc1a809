"""The state of the cluster at one offset of the metadata log, immutable.

An image is what all its records say together. `ImageBuilder(image)` replays a batch of records and `build()`
gives the next image with an `ImageDelta` that names what changed, so that a broker applies only that. The
builder copies two levels at most and only what it touches: the map of topics once per batch, and each changed
topic. The other topics are shared between images, by the thousand.

`to_records()` is the way back: replaying them on `EMPTY_IMAGE` gives an equal image. That is what a snapshot
holds. Records about things that this version does not use (delegation tokens, controllers ...) are kept as
they came, so that they survive it. An aborted metadata transaction is refused: nothing here writes one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from ottla.metadata.records import MetadataRecord
from ottla.model.topics import colliding_name
from ottla.wire.messages.cluster_metadata import (
    AccessControlEntryRecord,
    BeginTransactionRecord,
    BrokerEndpoint,
    BrokerFeature,
    BrokerRegistrationChangeRecord,
    ClearElrRecord,
    ClientQuotaRecord,
    ConfigRecord,
    DelegationTokenRecord,
    EndTransactionRecord,
    EntityData,
    FeatureLevelRecord,
    FenceBrokerRecord,
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
    UserScramCredentialRecord,
    ZkMigrationStateRecord,
)

NO_LEADER: Final = -1
LEADER_UNCHANGED: Final = -2
"""In a PartitionChangeRecord: everything else changes, the leader and its epoch stay."""
UNASSIGNED_DIRECTORY: Final = bytes(16)
"""The broker has several directories and has not said which one it chose."""
LOST_DIRECTORY: Final = bytes(15) + b"\x01"
MIGRATING_DIRECTORY: Final = bytes(15) + b"\x02"
LEADER_RECOVERED: Final = 0
LEADER_RECOVERING: Final = 1
"""The leader was elected without being in sync, and has not yet said that it has put its log in order."""

TOPIC_RESOURCE: Final = 2
BROKER_RESOURCE: Final = 4
BROKER_LOGGER_RESOURCE: Final = 8
CLIENT_METRICS_RESOURCE: Final = 16
GROUP_RESOURCE: Final = 32

ConfigResource: TypeAlias = tuple[int, str]
"""A resource type and a name; the name "" of a broker means all of them."""
QuotaEntity: TypeAlias = tuple[tuple[str, str | None], ...]

K = TypeVar("K")
V = TypeVar("V")


class ReplayError(Exception):
    """A record that contradicts the image: the log is damaged, or was written by something else."""


class PartitionState(NamedTuple):
    """One partition, as the controller last decided."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    directories: tuple[bytes, ...] = ()
    """By position in `replicas`, the id of the directory that holds it."""
    removing_replicas: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    leader_recovery_state: int = 0
    eligible_leader_replicas: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()


class TopicImage:
    __slots__ = ("name", "topic_id", "partitions")

    def __init__(self, name: str, topic_id: bytes, partitions: Mapping[int, PartitionState]) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = partitions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TopicImage):
            return NotImplemented
        return (self.name, self.topic_id, self.partitions) == (other.name, other.topic_id, other.partitions)

    def __repr__(self) -> str:
        return f"TopicImage({self.name!r}, {self.topic_id.hex()}, {self.partitions!r})"


class Endpoint(NamedTuple):
    name: str
    host: str
    port: int
    security_protocol: int


class BrokerImage(NamedTuple):
    """One registered broker. A fenced broker is known, but leads nothing and is not shown to clients."""

    node_id: int
    epoch: int
    incarnation_id: bytes
    listeners: Mapping[str, Endpoint]
    features: Mapping[str, tuple[int, int]]
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool
    log_dirs: tuple[bytes, ...]

    @property
    def active(self) -> bool:
        return not self.fenced and not self.in_controlled_shutdown

    def has_online(self, directory: bytes) -> bool:
        """Whether a replica in this directory can be served: the broker announces the directories that work,
        and has yet to say where a replica without a directory went.
        """
        return (
            directory in self.log_dirs
            or directory in (UNASSIGNED_DIRECTORY, MIGRATING_DIRECTORY)
            or not self.log_dirs
        )


class MetadataImage:
    """Compare with `==`; `last_offset` is where in the log it stands and does not count."""

    __slots__ = (
        "last_offset",
        "features",
        "brokers",
        "controllers",
        "topics",
        "topics_by_id",
        "configs",
        "next_producer_id",
        "producer_ids_record",
        "client_quotas",
        "scram_credentials",
        "acls",
        "delegation_tokens",
        "_colliding_names",
    )

    def __init__(
        self,
        *,
        last_offset: int = -1,
        features: Mapping[str, int],
        brokers: Mapping[int, BrokerImage],
        controllers: Mapping[int, RegisterControllerRecord],
        topics: Mapping[str, TopicImage],
        topics_by_id: Mapping[bytes, TopicImage],
        configs: Mapping[ConfigResource, Mapping[str, str]],
        producer_ids_record: ProducerIdsRecord | None,
        client_quotas: Mapping[QuotaEntity, Mapping[str, float]],
        scram_credentials: Mapping[tuple[str, int], UserScramCredentialRecord],
        acls: Mapping[bytes, AccessControlEntryRecord],
        delegation_tokens: Mapping[str, DelegationTokenRecord],
    ) -> None:
        self.last_offset = last_offset
        self.features = features
        self.brokers = brokers
        self.controllers = controllers
        self.topics = topics
        self.topics_by_id = topics_by_id
        self.configs = configs
        self.producer_ids_record = producer_ids_record
        self.next_producer_id = 0 if producer_ids_record is None else producer_ids_record.next_producer_id
        self.client_quotas = client_quotas
        self.scram_credentials = scram_credentials
        self.acls = acls
        self.delegation_tokens = delegation_tokens
        self._colliding_names: Mapping[str, str] | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MetadataImage):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _COMPARED)

    def __repr__(self) -> str:
        return (
            f"MetadataImage(at {self.last_offset}: {len(self.brokers)} brokers, {len(self.topics)} topics,"
            f" {len(self.configs)} configured resources)"
        )

    @property
    def metadata_version(self) -> int:
        return self.features.get("metadata.version", 0)

    def partition(self, topic: str, partition: int) -> PartitionState | None:
        found = self.topics.get(topic)
        return None if found is None else found.partitions.get(partition)

    def topic_name(self, topic_id: bytes) -> str | None:
        found = self.topics_by_id.get(topic_id)
        return None if found is None else found.name

    def config(self, resource_type: int, name: str) -> Mapping[str, str]:
        return self.configs.get((resource_type, name), _NO_CONFIG)

    def name_that_collides(self, name: str) -> str | None:
        """A topic that differs from `name` only in dots and underscores."""
        if "." not in name and "_" not in name:
            return None
        if self._colliding_names is None:
            # Only names with a dot or an underscore can collide, and most creations do not ask.
            self._colliding_names = {
                colliding_name(each): each for each in self.topics if "." in each or "_" in each
            }
        found = self._colliding_names.get(colliding_name(name))
        return None if found == name else found

    def active_brokers(self) -> list[BrokerImage]:
        return [broker for broker in self.brokers.values() if broker.active]

    def to_records(self) -> Iterator[MetadataRecord]:
        """Records that replay to this image: features first, since they decide how the rest is written."""
        for feature, level in sorted(self.features.items(), key=lambda each: each[0] != "metadata.version"):
            yield FeatureLevelRecord(name=feature, feature_level=level)
        for broker in self.brokers.values():
            yield _register_record(broker)
        yield from self.controllers.values()
        for topic in self.topics.values():
            yield TopicRecord(name=topic.name, topic_id=topic.topic_id)
            for partition_id, partition in topic.partitions.items():
                yield _partition_record(topic.topic_id, partition_id, partition)
        for (resource_type, resource), values in self.configs.items():
            for name, value in values.items():
                yield ConfigRecord(
                    resource_type=resource_type, resource_name=resource, name=name, value=value
                )
        if self.producer_ids_record is not None:
            yield self.producer_ids_record
        for entity, quotas in self.client_quotas.items():
            for key, quota in quotas.items():
                yield _quota_record(entity, key, quota)
        yield from self.scram_credentials.values()
        yield from self.acls.values()
        yield from self.delegation_tokens.values()


_COMPARED: Final = tuple(
    name for name in MetadataImage.__slots__ if name not in ("last_offset", "_colliding_names")
)
_NO_CONFIG: Final[Mapping[str, str]] = {}


def _register_record(broker: BrokerImage) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=broker.node_id,
        incarnation_id=broker.incarnation_id,
        broker_epoch=broker.epoch,
        end_points=[
            BrokerEndpoint(
                name=each.name, host=each.host, port=each.port, security_protocol=each.security_protocol
            )
            for each in broker.listeners.values()
        ],
        features=[
            BrokerFeature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in broker.features.items()
        ],
        rack=broker.rack,
        fenced=broker.fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown,
        log_dirs=list(broker.log_dirs),
    )


def _partition_record(topic_id: bytes, partition_id: int, state: PartitionState) -> PartitionRecord:
    return PartitionRecord(
        partition_id=partition_id,
        topic_id=topic_id,
        replicas=list(state.replicas),
        isr=list(state.isr),
        removing_replicas=list(state.removing_replicas),
        adding_replicas=list(state.adding_replicas),
        leader=state.leader,
        leader_recovery_state=state.leader_recovery_state,
        leader_epoch=state.leader_epoch,
        partition_epoch=state.partition_epoch,
        directories=list(state.directories),
        eligible_leader_replicas=list(state.eligible_leader_replicas) or None,
        last_known_elr=list(state.last_known_elr) or None,
    )


def _quota_record(entity: QuotaEntity, key: str, quota: float) -> ClientQuotaRecord:
    return ClientQuotaRecord(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
        key=key,
        value=quota,
        remove=False,
    )


EMPTY_IMAGE: Final = MetadataImage(
    features={},
    brokers={},
    controllers={},
    topics={},
    topics_by_id={},
    configs={},
    producer_ids_record=None,
    client_quotas={},
    scram_credentials={},
    acls={},
    delegation_tokens={},
)


class ImageDelta:
    """What a batch of records changed between two images."""

    __slots__ = (
        "before",
        "after",
        "created_topics",
        "changed_topics",
        "deleted_topics",
        "changed_configs",
        "changed_brokers",
        "features_changed",
        "producer_ids_changed",
        "security_changed",
    )

    def __init__(self, before: MetadataImage) -> None:
        self.before = before
        self.after = before
        self.created_topics: set[bytes] = set()
        """Ids; a topic created and deleted within the batch is in none of the sets."""
        self.changed_topics: set[bytes] = set()
        """Ids of topics that were there before, and of which partitions were added or changed."""
        self.deleted_topics: dict[bytes, str] = {}
        self.changed_configs: set[ConfigResource] = set()
        self.changed_brokers: set[int] = set()
        self.features_changed = False
        self.producer_ids_changed = False
        self.security_changed = False
        """Quotas, SCRAM credentials, access rules or delegation tokens."""

    @property
    def empty(self) -> bool:
        return not (
            self.created_topics
            or self.changed_topics
            or self.deleted_topics
            or self.changed_configs
            or self.changed_brokers
            or self.features_changed
            or self.producer_ids_changed
            or self.security_changed
        )


class ImageBuilder:
    """Replays records on top of an image. The image it began with never changes."""

    __slots__ = (
        "_base",
        "_delta",
        "_features",
        "_brokers",
        "_controllers",
        "_topics",
        "_topics_by_id",
        "_owned_topics",
        "_configs",
        "_owned_configs",
        "_producer_ids_record",
        "_client_quotas",
        "_scram_credentials",
        "_acls",
        "_delegation_tokens",
    )

    def __init__(self, base: MetadataImage) -> None:
        self._base = base
        self._delta = ImageDelta(base)
        # Each map is the base's own until something in it changes: `_own` copies it then.
        self._features = base.features
        self._brokers = base.brokers
        self._controllers = base.controllers
        self._topics = base.topics
        self._topics_by_id = base.topics_by_id
        self._owned_topics: dict[bytes, dict[int, PartitionState]] = {}
        self._configs = base.configs
        self._owned_configs: set[ConfigResource] = set()
        self._producer_ids_record = base.producer_ids_record
        self._client_quotas = base.client_quotas
        self._scram_credentials = base.scram_credentials
        self._acls = base.acls
        self._delegation_tokens = base.delegation_tokens

    def replay_all(self, records: Iterable[MetadataRecord]) -> ImageBuilder:
        for record in records:
            self.replay(record)
        return self

    def replay(self, record: MetadataRecord) -> None:
        """Raises ReplayError when the record cannot follow what came before."""
        replayer = _REPLAYERS.get(type(record))
        if replayer is None:
            raise ReplayError(f"no image can hold a {type(record).__name__}")
        replayer(self, record)

    def build(self, last_offset: int | None = None) -> tuple[MetadataImage, ImageDelta]:
        """The new image and what is new in it. The builder must not be used afterwards."""
        image = MetadataImage(
            last_offset=self._base.last_offset if last_offset is None else last_offset,
            features=self._features,
            brokers=self._brokers,
            controllers=self._controllers,
            topics=self._topics,
            topics_by_id=self._topics_by_id,
            configs=self._configs,
            producer_ids_record=self._producer_ids_record,
            client_quotas=self._client_quotas,
            scram_credentials=self._scram_credentials,
            acls=self._acls,
            delegation_tokens=self._delegation_tokens,
        )
        self._delta.after = image
        return image, self._delta

    # Features and brokers

    def _feature_level(self, record: FeatureLevelRecord) -> None:
        self._features = features = _own(self._features, self._base.features)
        if record.feature_level == 0:
            features.pop(record.name, None)
        else:
            features[record.name] = record.feature_level
        self._delta.features_changed = True

    def _register_broker(self, record: RegisterBrokerRecord) -> None:
        self._set_broker(
            BrokerImage(
                node_id=record.broker_id,
                epoch=record.broker_epoch,
                incarnation_id=bytes(record.incarnation_id),
                listeners={
                    each.name: Endpoint(each.name, each.host, each.port, each.security_protocol)
                    for each in record.end_points
                },
                features={
                    each.name: (each.min_supported_version, each.max_supported_version)
                    for each in record.features
                },
                rack=record.rack,
                fenced=record.fenced,
                in_controlled_shutdown=record.in_controlled_shutdown,
                log_dirs=tuple(bytes(each) for each in record.log_dirs),
            )
        )

    def _set_broker(self, broker: BrokerImage) -> None:
        self._brokers = brokers = _own(self._brokers, self._base.brokers)
        brokers[broker.node_id] = broker
        self._delta.changed_brokers.add(broker.node_id)

    def _known_broker(self, node_id: int, epoch: int, record: MetadataRecord) -> BrokerImage:
        broker = self._brokers.get(node_id)
        if broker is None or broker.epoch != epoch:
            raise ReplayError(
                f"{type(record).__name__} for broker {node_id} with epoch {epoch}: not registered"
            )
        return broker

    def _unregister_broker(self, record: UnregisterBrokerRecord) -> None:
        self._known_broker(record.broker_id, record.broker_epoch, record)
        self._brokers = brokers = _own(self._brokers, self._base.brokers)
        del brokers[record.broker_id]
        self._delta.changed_brokers.add(record.broker_id)

    def _fence_broker(self, record: FenceBrokerRecord) -> None:
        self._set_broker(self._known_broker(record.id, record.epoch, record)._replace(fenced=True))

    def _unfence_broker(self, record: UnfenceBrokerRecord) -> None:
        self._set_broker(self._known_broker(record.id, record.epoch, record)._replace(fenced=False))

    def _broker_registration_change(self, record: BrokerRegistrationChangeRecord) -> None:
        broker = self._known_broker(record.broker_id, record.broker_epoch, record)
        # 1 fences, -1 lifts it, 0 leaves it.
        fenced = record.fenced > 0 if record.fenced else broker.fenced
        stopping = record.in_controlled_shutdown > 0 or broker.in_controlled_shutdown
        log_dirs = tuple(bytes(each) for each in record.log_dirs) or broker.log_dirs
        self._set_broker(broker._replace(fenced=fenced, in_controlled_shutdown=stopping, log_dirs=log_dirs))

    def _register_controller(self, record: RegisterControllerRecord) -> None:
        self._controllers = controllers = _own(self._controllers, self._base.controllers)
        controllers[record.controller_id] = record

    # Topics

    def _topic(self, record: TopicRecord) -> None:
        topic_id = bytes(record.topic_id)
        if record.name in self._topics or topic_id in self._topics_by_id:
            raise ReplayError(f"a TopicRecord for {record.name!r}, which exists already")
        partitions = self._owned_topics[topic_id] = {}
        self._set_topic(TopicImage(record.name, topic_id, partitions))
        self._delta.created_topics.add(topic_id)

    def _set_topic(self, topic: TopicImage) -> None:
        self._topics = topics = _own(self._topics, self._base.topics)
        self._topics_by_id = by_id = _own(self._topics_by_id, self._base.topics_by_id)
        topics[topic.name] = topic
        by_id[topic.topic_id] = topic

    def _owned_partitions(self, topic_id: bytes, record: MetadataRecord) -> dict[int, PartitionState]:
        partitions = self._owned_topics.get(topic_id)
        if partitions is not None:
            return partitions
        topic = self._topics_by_id.get(topic_id)
        if topic is None:
            raise ReplayError(f"{type(record).__name__} for the unknown topic id {topic_id.hex()}")
        partitions = self._owned_topics[topic_id] = dict(topic.partitions)
        self._set_topic(TopicImage(topic.name, topic_id, partitions))
        self._delta.changed_topics.add(topic_id)
        return partitions

    def _partition(self, record: PartitionRecord) -> None:
        replicas = tuple(record.replicas)
        isr = tuple(record.isr)
        self._owned_partitions(bytes(record.topic_id), record)[record.partition_id] = PartitionState(
            replicas=replicas,
            isr=replicas if isr == replicas else isr,  # one tuple for both: there may be many partitions
            leader=record.leader,
            leader_epoch=record.leader_epoch,
            partition_epoch=record.partition_epoch,
            directories=tuple(bytes(each) for each in record.directories),
            removing_replicas=tuple(record.removing_replicas),
            adding_replicas=tuple(record.adding_replicas),
            leader_recovery_state=record.leader_recovery_state,
            eligible_leader_replicas=tuple(record.eligible_leader_replicas or ()),
            last_known_elr=tuple(record.last_known_elr or ()),
        )

    def _partition_change(self, record: PartitionChangeRecord) -> None:
        partitions = self._owned_partitions(bytes(record.topic_id), record)
        state = partitions.get(record.partition_id)
        if state is None:
            raise ReplayError(f"a change of the unknown partition {record.partition_id}")
        partitions[record.partition_id] = changed_partition(state, record)

    def _remove_topic(self, record: RemoveTopicRecord) -> None:
        topic_id = bytes(record.topic_id)
        topic = self._topics_by_id.get(topic_id)
        if topic is None:
            raise ReplayError(f"a RemoveTopicRecord for the unknown topic id {topic_id.hex()}")
        self._topics = topics = _own(self._topics, self._base.topics)
        self._topics_by_id = by_id = _own(self._topics_by_id, self._base.topics_by_id)
        del topics[topic.name], by_id[topic_id]
        self._owned_topics.pop(topic_id, None)
        delta = self._delta
        if topic_id in delta.created_topics:
            delta.created_topics.discard(topic_id)
        else:
            delta.changed_topics.discard(topic_id)
            delta.deleted_topics[topic_id] = topic.name
        resource = (TOPIC_RESOURCE, topic.name)
        if resource in self._configs:
            self._configs = configs = _own(self._configs, self._base.configs)
            del configs[resource]
            self._owned_configs.discard(resource)
            delta.changed_configs.add(resource)

    def _clear_elr(self, record: ClearElrRecord) -> None:
        names = [record.topic_name] if record.topic_name else list(self._topics)
        for name in names:
            topic = self._topics.get(name)
            if topic is None:
                raise ReplayError(f"a ClearElrRecord for the unknown topic {name!r}")
            if not any(
                each.eligible_leader_replicas or each.last_known_elr for each in topic.partitions.values()
            ):
                continue
            partitions = self._owned_partitions(topic.topic_id, record)
            for partition_id, state in partitions.items():
                partitions[partition_id] = state._replace(eligible_leader_replicas=(), last_known_elr=())

    # The rest

    def _config(self, record: ConfigRecord) -> None:
        resource = (record.resource_type, record.resource_name)
        self._configs = configs = _own(self._configs, self._base.configs)
        values: dict[str, str]
        if resource in self._owned_configs:
            values = configs[resource]  # type: ignore[assignment]
        else:
            values = configs[resource] = dict(configs.get(resource, _NO_CONFIG))
            self._owned_configs.add(resource)
        if record.value is None:
            values.pop(record.name, None)
        else:
            values[record.name] = record.value
        if not values:
            del configs[resource]
            self._owned_configs.discard(resource)
        self._delta.changed_configs.add(resource)

    def _producer_ids(self, record: ProducerIdsRecord) -> None:
        self._producer_ids_record = record
        self._delta.producer_ids_changed = True

    def _client_quota(self, record: ClientQuotaRecord) -> None:
        entity = tuple(sorted((each.entity_type, each.entity_name) for each in record.entity))
        self._client_quotas = quotas = _own(self._client_quotas, self._base.client_quotas)
        values = dict(quotas.get(entity, {}))
        if record.remove:
            values.pop(record.key, None)
        else:
            values[record.key] = record.value
        if values:
            quotas[entity] = values
        else:
            quotas.pop(entity, None)
        self._delta.security_changed = True

    def _scram(self, record: UserScramCredentialRecord) -> None:
        self._scram_credentials = scram = _own(self._scram_credentials, self._base.scram_credentials)
        scram[(record.name, record.mechanism)] = record
        self._delta.security_changed = True

    def _remove_scram(self, record: RemoveUserScramCredentialRecord) -> None:
        self._scram_credentials = scram = _own(self._scram_credentials, self._base.scram_credentials)
        scram.pop((record.name, record.mechanism), None)
        self._delta.security_changed = True

    def _acl(self, record: AccessControlEntryRecord) -> None:
        self._acls = acls = _own(self._acls, self._base.acls)
        acls[bytes(record.id)] = record
        self._delta.security_changed = True

    def _remove_acl(self, record: RemoveAccessControlEntryRecord) -> None:
        self._acls = acls = _own(self._acls, self._base.acls)
        acls.pop(bytes(record.id), None)
        self._delta.security_changed = True

    def _delegation_token(self, record: DelegationTokenRecord) -> None:
        self._delegation_tokens = tokens = _own(self._delegation_tokens, self._base.delegation_tokens)
        tokens[record.token_id] = record
        self._delta.security_changed = True

    def _remove_delegation_token(self, record: RemoveDelegationTokenRecord) -> None:
        self._delegation_tokens = tokens = _own(self._delegation_tokens, self._base.delegation_tokens)
        tokens.pop(record.token_id, None)
        self._delta.security_changed = True

    def _nothing(self, record: MetadataRecord) -> None:
        """Records that mark a place in the log, or that a cluster without ZooKeeper has no use for."""


def _own(current: Mapping[K, V], base: Mapping[K, V]) -> dict[K, V]:
    """The map to write to: `current` itself once it is not the base's any more."""
    return dict(base) if current is base else current  # type: ignore[return-value]


def changed_partition(state: PartitionState, record: PartitionChangeRecord) -> PartitionState:
    """The partition's state after the record."""
    leader, leader_epoch = state.leader, state.leader_epoch
    if record.leader != LEADER_UNCHANGED:
        # Naming the leader raises the epoch even when it stays the same: that is how it is raised.
        leader, leader_epoch = record.leader, leader_epoch + 1
    directories = state.directories
    if record.directories is not None:
        directories = tuple(bytes(each) for each in record.directories)
    recovery = record.leader_recovery_state
    return PartitionState(
        replicas=_changed(record.replicas, state.replicas),
        isr=_changed(record.isr, state.isr),
        leader=leader,
        leader_epoch=leader_epoch,
        partition_epoch=state.partition_epoch + 1,
        directories=directories,
        removing_replicas=_changed(record.removing_replicas, state.removing_replicas),
        adding_replicas=_changed(record.adding_replicas, state.adding_replicas),
        leader_recovery_state=state.leader_recovery_state if recovery == -1 else recovery,
        eligible_leader_replicas=_changed(record.eligible_leader_replicas, state.eligible_leader_replicas),
        last_known_elr=_changed(record.last_known_elr, state.last_known_elr),
    )


def _changed(new: list[int] | None, old: tuple[int, ...]) -> tuple[int, ...]:
    return old if new is None else tuple(new)


_REPLAYERS: Final[Mapping[type[Any], Callable[[ImageBuilder, Any], None]]] = {
    FeatureLevelRecord: ImageBuilder._feature_level,
    RegisterBrokerRecord: ImageBuilder._register_broker,
    UnregisterBrokerRecord: ImageBuilder._unregister_broker,
    FenceBrokerRecord: ImageBuilder._fence_broker,
    UnfenceBrokerRecord: ImageBuilder._unfence_broker,
    BrokerRegistrationChangeRecord: ImageBuilder._broker_registration_change,
    RegisterControllerRecord: ImageBuilder._register_controller,
    TopicRecord: ImageBuilder._topic,
    PartitionRecord: ImageBuilder._partition,
    PartitionChangeRecord: ImageBuilder._partition_change,
    RemoveTopicRecord: ImageBuilder._remove_topic,
    ClearElrRecord: ImageBuilder._clear_elr,
    ConfigRecord: ImageBuilder._config,
    ProducerIdsRecord: ImageBuilder._producer_ids,
    ClientQuotaRecord: ImageBuilder._client_quota,
    UserScramCredentialRecord: ImageBuilder._scram,
    RemoveUserScramCredentialRecord: ImageBuilder._remove_scram,
    AccessControlEntryRecord: ImageBuilder._acl,
    RemoveAccessControlEntryRecord: ImageBuilder._remove_acl,
    DelegationTokenRecord: ImageBuilder._delegation_token,
    RemoveDelegationTokenRecord: ImageBuilder._remove_delegation_token,
    NoOpRecord: ImageBuilder._nothing,
    ZkMigrationStateRecord: ImageBuilder._nothing,
    BeginTransactionRecord: ImageBuilder._nothing,
    EndTransactionRecord: ImageBuilder._nothing,
}
