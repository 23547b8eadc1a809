"""Decisions about topics: CreateTopics, DeleteTopics, CreatePartitions, automatic creation.

Each topic of a request succeeds or fails alone; what the earlier ones take (their names) counts for the
later ones. Sizes are checked before anything of that size is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Final

from ottla.metadata.config import ConfigView
from ottla.metadata.configs import check_configs
from ottla.metadata.decision import Decision
from ottla.metadata.electorate import new_directory
from ottla.metadata.image import (
    NO_LEADER,
    TOPIC_RESOURCE,
    MetadataImage,
    TopicImage,
)
from ottla.metadata.placement import place_replicas
from ottla.metadata.records import MetadataRecord
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import CREATE_PARTITIONS_MAX
from ottla.model.topics import colliding_name, topic_name_problem
from ottla.model.types import (
    CONSUMER_OFFSETS_TOPIC,
    METADATA_TOPIC,
    NO_TOPIC_ID,
    TRANSACTION_STATE_TOPIC,
)
from ottla.model.uuids import is_reserved, uuid_to_text
from ottla.wire.messages.cluster_metadata import (
    ConfigRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from ottla.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from ottla.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)

FROM_CONFIG: Final = -1
"""As number of partitions or replicas: take the broker's default."""
_LIMIT_MESSAGE: Final = (
    f"Excessively large number of partitions per request: {CREATE_PARTITIONS_MAX} can be created at once."
)


# CreateTopics


def create_topics(
    view: ConfigView, request: CreateTopicsRequest, random: Random
) -> Decision[CreateTopicsResponse]:
    topics = request.topics
    times = Counter(topic.name for topic in topics)
    too_many = _partitions_asked(view, topics) > CREATE_PARTITIONS_MAX
    results: dict[str, CreatableTopicResult] = {}
    records: list[MetadataRecord] = []
    names = _NewNames(view.image)
    descriptions = _Descriptions(view)
    for topic in topics:
        try:
            if times[topic.name] > 1:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            if too_many:
                raise KafkaError(ErrorCode.POLICY_VIOLATION, _LIMIT_MESSAGE)
            names.check(topic.name)
            result, created = _create_topic(view, topic, random, descriptions, request.validate_only)
        except KafkaError as error:
            results[topic.name] = CreatableTopicResult(
                name=topic.name, error_code=error.code, error_message=error.message, configs=[]
            )
            continue
        names.add(topic.name)
        results[topic.name] = result
        records += created
    response = CreateTopicsResponse(topics=list(results.values()))
    return Decision(response, [] if request.validate_only else records)


class _NewNames:
    """Whether a name may be given to a topic, considering those that the same request has given already."""

    def __init__(self, image: MetadataImage) -> None:
        self._image = image
        self._given: dict[str, str] = {}

    def check(self, name: str) -> None:
        if name == METADATA_TOPIC:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"Creation of internal topic {METADATA_TOPIC} is prohibited."
            )
        problem = topic_name_problem(name)
        if problem is not None:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")
        if name in self._image.topics:
            raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        other = self._image.name_that_collides(name) or self._given.get(colliding_name(name))
        if other is not None:
            raise KafkaError(
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                f"Topic '{name}' collides with existing topic: {other}. They differ only in '.' and '_'.",
            )

    def add(self, name: str) -> None:
        self._given[colliding_name(name)] = name


class _Descriptions:
    """The configs that new topics will have. A request's topics mostly ask for the same, so each set is
    described once.
    """

    def __init__(self, view: ConfigView) -> None:
        self._view = view
        self._made: dict[frozenset[tuple[str, str]], list[CreatableTopicConfigs]] = {}

    def of(self, configs: Mapping[str, str]) -> list[CreatableTopicConfigs]:
        key = frozenset(configs.items())
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = [
                CreatableTopicConfigs(
                    name=entry.name,
                    value=entry.value,
                    read_only=entry.read_only,
                    config_source=entry.source,
                    is_sensitive=entry.sensitive,
                )
                for entry in self._view.describe_topic_configs(configs)
            ]
        return made


def _partitions_asked(view: ConfigView, topics: Iterable[CreatableTopic]) -> int:
    total = 0
    for topic in topics:
        if topic.assignments:
            total += len(topic.assignments)
        elif topic.num_partitions == FROM_CONFIG:
            total += view.get_int("num.partitions")
        else:
            total += max(topic.num_partitions, 0)
    return total


def _create_topic(
    view: ConfigView,
    topic: CreatableTopic,
    random: Random,
    descriptions: _Descriptions,
    validate_only: bool,
) -> tuple[CreatableTopicResult, list[MetadataRecord]]:
    image = view.image
    configs = _checked_topic_configs(topic.configs)
    if topic.assignments:
        replica_lists = _manual_assignments(image, topic)
    else:
        replica_lists = _automatic_assignments(view, topic, random)
    topic_id = new_topic_id(image, random)
    records: list[MetadataRecord] = [TopicRecord(name=topic.name, topic_id=topic_id)]
    records += [
        ConfigRecord(resource_type=TOPIC_RESOURCE, resource_name=topic.name, name=name, value=value)
        for name, value in configs.items()
    ]
    records += [
        _partition_record(image, topic_id, partition_id, replicas)
        for partition_id, replicas in enumerate(replica_lists)
    ]
    result = CreatableTopicResult(
        name=topic.name,
        topic_id=NO_TOPIC_ID if validate_only else topic_id,
        error_code=0,
        error_message=None,
        num_partitions=len(replica_lists),
        replication_factor=len(replica_lists[0]),
        configs=descriptions.of(configs),
    )
    return result, records


def _checked_topic_configs(given: Sequence[CreatableTopicConfig]) -> dict[str, str]:
    configs: dict[str, str] = {}
    for config in given:
        if config.value is None:
            raise KafkaError(
                ErrorCode.INVALID_CONFIG, f"Null value not supported for topic configs: {config.name}"
            )
        configs[config.name] = config.value
    check_configs(TOPIC_RESOURCE, "", configs, configs)
    return configs


def _automatic_assignments(view: ConfigView, topic: CreatableTopic, random: Random) -> list[tuple[int, ...]]:
    replication_factor = topic.replication_factor
    if replication_factor == FROM_CONFIG:
        replication_factor = view.get_int("default.replication.factor")
    elif replication_factor < 1:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    partition_count = topic.num_partitions
    if partition_count == FROM_CONFIG:
        partition_count = view.get_int("num.partitions")
    elif partition_count < 1:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS,
            "Number of partitions must be larger than 0, or -1 to use the default value.",
        )
    return place_replicas(list(view.image.brokers.values()), partition_count, replication_factor, random)


def _manual_assignments(image: MetadataImage, topic: CreatableTopic) -> list[tuple[int, ...]]:
    if topic.replication_factor != FROM_CONFIG:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but replication factor was not set to -1.",
        )
    if topic.num_partitions != FROM_CONFIG:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but numPartitions was not set to -1.",
        )
    by_partition: dict[int, CreatableReplicaAssignment] = {}
    for assignment in topic.assignments:
        if assignment.partition_index in by_partition:
            raise KafkaError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Found multiple manual partition assignments for partition {assignment.partition_index}.",
            )
        by_partition[assignment.partition_index] = assignment
    replica_lists: list[tuple[int, ...]] = []
    for partition_id in range(len(by_partition)):
        if partition_id not in by_partition:
            raise KafkaError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Partitions must be a consecutive sequence from 0, but partition {partition_id} is missing.",
            )
        factor = len(replica_lists[0]) if replica_lists else None
        replica_lists.append(_checked_replicas(image, by_partition[partition_id].broker_ids, factor))
    return replica_lists


def _checked_replicas(image: MetadataImage, broker_ids: Sequence[int], factor: int | None) -> tuple[int, ...]:
    """One partition's replicas as a request gives them."""
    problem: str | None = None
    missing = next((each for each in broker_ids if each not in image.brokers), None)
    if not broker_ids:
        problem = "The manual partition assignment includes an empty replica list."
    elif missing is not None:
        problem = (
            f"The manual partition assignment includes broker {missing}, but no such broker is registered."
        )
    elif len(set(broker_ids)) != len(broker_ids):
        problem = f"The manual partition assignment {list(broker_ids)} includes a broker more than once."
    elif factor is not None and len(broker_ids) != factor:
        problem = (
            f"The manual partition assignment includes a partition with {len(broker_ids)} replica(s), but"
            f" others of the topic have {factor}."
        )
    elif not any(image.brokers[each].active for each in broker_ids):
        problem = (
            f"All brokers of the manual partition assignment {list(broker_ids)} are fenced or shutting down."
        )
    if problem is not None:
        raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, problem)
    return tuple(broker_ids)


def new_topic_id(image: MetadataImage, random: Random) -> bytes:
    """A random UUID (version 4) that is neither reserved nor taken."""
    while True:
        raw = bytearray(random.randbytes(16))
        raw[6] = (raw[6] & 0x0F) | 0x40
        raw[8] = (raw[8] & 0x3F) | 0x80
        topic_id = bytes(raw)
        if not is_reserved(topic_id) and topic_id not in image.topics_by_id:
            return topic_id


def _partition_record(
    image: MetadataImage, topic_id: bytes, partition_id: int, replicas: tuple[int, ...]
) -> PartitionRecord:
    isr = [each for each in replicas if image.brokers[each].active]
    return PartitionRecord(
        partition_id=partition_id,
        topic_id=topic_id,
        replicas=list(replicas),
        isr=isr,
        leader=isr[0] if isr else NO_LEADER,
        leader_epoch=0,
        partition_epoch=0,
        directories=[new_directory(image, each) for each in replicas],
    )


# Automatic creation


def auto_create_topics(
    view: ConfigView, names: Sequence[str], random: Random
) -> Decision[CreateTopicsResponse]:
    """Creates topics that a client asked for and that do not exist, as the broker's defaults say.

    The caller has looked at `auto.create.topics.enable`; internal topics are created regardless of it.
    """
    request = CreateTopicsRequest(topics=automatic_topics(view, names), validate_only=False)
    return create_topics(view, request, random)


def automatic_topics(view: ConfigView, names: Sequence[str]) -> list[CreatableTopic]:
    """What a broker asks the controller for, when somebody asked it for topics that do not exist."""
    return [_automatic_topic(view, name) for name in dict.fromkeys(names)]


def _automatic_topic(view: ConfigView, name: str) -> CreatableTopic:
    if name == CONSUMER_OFFSETS_TOPIC:
        factor = _internal_replication_factor(view, "offsets.topic.replication.factor")
        configs = {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": str(max(view.get_int("offsets.topic.segment.bytes"), _SEGMENT_BYTES_MIN)),
        }
        return _internal_topic(name, view.get_int("offsets.topic.num.partitions"), factor, configs)
    if name == TRANSACTION_STATE_TOPIC:
        factor = _internal_replication_factor(view, "transaction.state.log.replication.factor")
        configs = {
            "cleanup.policy": "compact",
            "compression.type": "uncompressed",
            "unclean.leader.election.enable": "false",
            "min.insync.replicas": str(min(view.get_int("transaction.state.log.min.isr"), factor)),
            "segment.bytes": str(
                max(view.get_int("transaction.state.log.segment.bytes"), _SEGMENT_BYTES_MIN)
            ),
        }
        return _internal_topic(name, view.get_int("transaction.state.log.num.partitions"), factor, configs)
    return CreatableTopic(name=name, num_partitions=FROM_CONFIG, replication_factor=FROM_CONFIG)


_SEGMENT_BYTES_MIN: Final = 1024 * 1024
"""The bound of the topic's key; the broker's keys for internal topics allow less."""


def _internal_replication_factor(view: ConfigView, key: str) -> int:
    """A factor that somebody has set is what it is: creation waits until there are that many brokers. The
    default is as many as there are brokers, up to it, so that a cluster of one or two works with no
    configuration; but brokers that are known to come (the voters that are brokers, too) are waited for
    instead of settling for too few replicas.
    """
    server = view.server
    if server.is_alone:
        return 1
    factor = view.get_int(key)
    if view.is_set(key):
        return factor
    voters = len(server.voters) if server.is_broker and server.is_controller else 0
    return min(factor, max(len(view.image.brokers), voters))


def _internal_topic(name: str, partitions: int, factor: int, configs: Mapping[str, str]) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
    )


# DeleteTopics


def delete_topics(
    view: ConfigView, request: DeleteTopicsRequest, version: int
) -> Decision[DeleteTopicsResponse]:
    """By name, and from version 6 on by name or id."""
    targets: list[tuple[str | None, bytes]]
    if version >= 6:
        targets = [(each.name, bytes(each.topic_id)) for each in request.topics]
    else:
        targets = [(name, NO_TOPIC_ID) for name in request.topic_names]
    enabled = view.get_bool("delete.topic.enable")
    disabled_code = ErrorCode.TOPIC_DELETION_DISABLED if version >= 3 else ErrorCode.INVALID_REQUEST
    times = Counter(_resolved(view.image, name, topic_id) for name, topic_id in targets)
    responses: list[DeletableTopicResult] = []
    records: list[MetadataRecord] = []
    answered: set[tuple[str | None, bytes]] = set()
    for name, topic_id in targets:
        if (name, topic_id) in answered:
            continue
        answered.add((name, topic_id))
        try:
            if not enabled:
                raise KafkaError(disabled_code, "Topic deletion is disabled: delete.topic.enable is false.")
            topic = _topic_to_delete(view.image, name, topic_id)
            if times[_resolved(view.image, name, topic_id)] > 1:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic name or id.")
        except KafkaError as error:
            responses.append(
                DeletableTopicResult(
                    name=name, topic_id=topic_id, error_code=error.code, error_message=error.message
                )
            )
            continue
        records.append(RemoveTopicRecord(topic_id=topic.topic_id))
        responses.append(
            DeletableTopicResult(name=topic.name, topic_id=topic.topic_id, error_code=0, error_message=None)
        )
    return Decision(DeleteTopicsResponse(responses=responses), records)


def _resolved(image: MetadataImage, name: str | None, topic_id: bytes) -> tuple[str | None, bytes]:
    """One key for a topic, however the request names it."""
    topic = image.topics_by_id.get(topic_id) if name is None else image.topics.get(name)
    return (name, topic_id) if topic is None else (topic.name, topic.topic_id)


def _topic_to_delete(image: MetadataImage, name: str | None, topic_id: bytes) -> TopicImage:
    if name is not None and topic_id != NO_TOPIC_ID:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "You may not specify both topic name and topic id.")
    if name is None and topic_id == NO_TOPIC_ID:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Neither topic name nor id were specified.")
    if name is None:
        topic = image.topics_by_id.get(topic_id)
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID, f"There is no topic {uuid_to_text(topic_id)}.")
        return topic
    topic = image.topics.get(name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
    return topic


# CreatePartitions


def create_partitions(
    view: ConfigView, request: CreatePartitionsRequest, random: Random
) -> Decision[CreatePartitionsResponse]:
    times = Counter(topic.name for topic in request.topics)
    results: dict[str, CreatePartitionsTopicResult] = {}
    records: list[MetadataRecord] = []
    for topic in request.topics:
        try:
            if times[topic.name] > 1:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            added = _add_partitions(view.image, topic, random, CREATE_PARTITIONS_MAX - len(records))
        except KafkaError as error:
            results[topic.name] = CreatePartitionsTopicResult(
                name=topic.name, error_code=error.code, error_message=error.message
            )
            continue
        results[topic.name] = CreatePartitionsTopicResult(name=topic.name, error_code=0, error_message=None)
        records += added
    response = CreatePartitionsResponse(results=list(results.values()))
    return Decision(response, [] if request.validate_only else records)


def _add_partitions(
    image: MetadataImage, request: CreatePartitionsTopic, random: Random, allowed: int
) -> list[MetadataRecord]:
    topic = image.topics.get(request.name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{request.name}' does not exist.")
    current = len(topic.partitions)
    additional = request.count - current
    if additional == 0:
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {current} partition(s).")
    if additional < 0:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {request.name} currently has {current} partition(s); {request.count} would not be an"
            " increase.",
        )
    if additional > allowed:
        raise KafkaError(ErrorCode.POLICY_VIOLATION, _LIMIT_MESSAGE)
    first = topic.partitions[0]
    # A reassignment in progress lists both the old replicas and the new ones.
    factor = len(first.replicas) - len(first.removing_replicas)
    if request.assignments is None:
        replica_lists = place_replicas(list(image.brokers.values()), additional, factor, random)
    else:
        if len(request.assignments) != additional:
            raise KafkaError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Attempted to add {additional} additional partition(s), but {len(request.assignments)}"
                " assignment(s) were specified.",
            )
        replica_lists = [_checked_replicas(image, each.broker_ids, factor) for each in request.assignments]
    return [
        _partition_record(image, topic.topic_id, current + index, replicas)
        for index, replicas in enumerate(replica_lists)
    ]
