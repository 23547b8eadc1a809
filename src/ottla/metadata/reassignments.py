"""AlterPartitionReassignments and ListPartitionReassignments: replicas move from broker to broker (KIP-455).

A partition under reassignment lists the replicas it shall have and after them those it shall lose, and says
which of them are new and which are to go. The new ones follow the leader like all others; with the change of
the in-sync set that completes them, the old ones go (`PartitionChange`). A cancelled one gives up the new
ones. How fast replicas are copied is said by the throttle configs of topics and brokers, not here.
"""

from __future__ import annotations

from collections.abc import Iterator

from ottla.metadata.config import ConfigView
from ottla.metadata.decision import Decision
from ottla.metadata.electorate import Electorate
from ottla.metadata.image import MetadataImage, PartitionState, TopicImage
from ottla.metadata.partition_change import Election
from ottla.metadata.records import MetadataRecord
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from ottla.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)


def alter_partition_reassignments(
    view: ConfigView, request: AlterPartitionReassignmentsRequest
) -> Decision[AlterPartitionReassignmentsResponse]:
    electorate = Electorate(view)
    records: list[MetadataRecord] = []
    responses: list[ReassignableTopicResponse] = []
    seen: set[tuple[str, int]] = set()
    for topic in request.topics:
        answers: list[ReassignablePartitionResponse] = []
        for partition in topic.partitions:
            place = (topic.name, partition.partition_index)
            code, message = ErrorCode.NONE, None
            try:
                if place in seen:
                    raise KafkaError(ErrorCode.INVALID_REQUEST, "The partition is named twice.")
                seen.add(place)
                records += _reassign(
                    electorate, topic.name, partition, request.allow_replication_factor_change
                )
            except KafkaError as error:
                code, message = error.code, error.message
            answers.append(
                ReassignablePartitionResponse(
                    partition_index=partition.partition_index, error_code=code, error_message=message
                )
            )
        responses.append(ReassignableTopicResponse(name=topic.name, partitions=answers))
    response = AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_code=0,
        error_message=None,
        responses=responses,
    )
    return Decision(response, records)


def _reassign(
    electorate: Electorate, name: str, wanted: ReassignablePartition, allow_factor_change: bool
) -> list[MetadataRecord]:
    topic = electorate.image.topics.get(name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {name}.")
    state = topic.partitions.get(wanted.partition_index)
    if state is None:
        raise KafkaError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            f"The topic {name} has no partition {wanted.partition_index}.",
        )
    if wanted.replicas is None:
        return _cancel(electorate, topic, wanted.partition_index, state)
    target = tuple(wanted.replicas)
    _check_target(electorate.image, target)
    factor = len(state.replicas) - len(state.removing_replicas)
    if not allow_factor_change and len(target) != factor:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"The replication factor is {factor}, and may not become {len(target)} by this request.",
        )
    # All replicas that are there now may hold records, those of an earlier reassignment too.
    removing = tuple(sorted(set(state.replicas) - set(target)))
    change = electorate.change(topic, wanted.partition_index, state)
    change.replicas = target + removing
    change.removing_replicas = removing
    change.adding_replicas = tuple(sorted(set(target) - set(state.replicas)))
    record = change.build()
    return [] if record is None else [record]


def _check_target(image: MetadataImage, target: tuple[int, ...]) -> None:
    problem: str | None = None
    unknown = next((each for each in target if each not in image.brokers), None)
    if not target:
        problem = "the list of replicas is empty"
    elif len(set(target)) != len(target):
        problem = f"{list(target)} names a broker more than once"
    elif unknown is not None:
        problem = f"{list(target)} names broker {unknown}, and no such broker is registered"
    if problem is not None:
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"The assignment of replicas cannot be used: {problem}."
        )


def _cancel(
    electorate: Electorate, topic: TopicImage, partition_id: int, state: PartitionState
) -> list[MetadataRecord]:
    if not is_reassigning(state):
        raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    change = electorate.change(topic, partition_id, state)
    change.replicas = tuple(each for each in state.replicas if each not in state.adding_replicas)
    change.isr = tuple(each for each in state.isr if each not in state.adding_replicas)
    change.adding_replicas = change.removing_replicas = ()
    eligible = set(state.eligible_leader_replicas) - set(state.adding_replicas)
    if not change.isr and not eligible and change.election is not Election.UNCLEAN:
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "Only replicas of the new assignment are in sync: the old one could be had back only by an"
            " unclean leader election, which the topic does not allow.",
        )
    record = change.build()
    return [] if record is None else [record]


def is_reassigning(state: PartitionState) -> bool:
    return bool(state.adding_replicas or state.removing_replicas)


def list_partition_reassignments(
    image: MetadataImage, request: ListPartitionReassignmentsRequest
) -> Decision[ListPartitionReassignmentsResponse]:
    topics: list[OngoingTopicReassignment] = []
    for name, partitions in _asked(image, request):
        ongoing = [
            OngoingPartitionReassignment(
                partition_index=partition_id,
                replicas=list(state.replicas),
                adding_replicas=list(state.adding_replicas),
                removing_replicas=list(state.removing_replicas),
            )
            for partition_id, state in partitions
            if is_reassigning(state)
        ]
        if ongoing:
            topics.append(OngoingTopicReassignment(name=name, partitions=ongoing))
    return Decision(ListPartitionReassignmentsResponse(error_code=0, error_message=None, topics=topics), [])


def _asked(
    image: MetadataImage, request: ListPartitionReassignmentsRequest
) -> Iterator[tuple[str, list[tuple[int, PartitionState]]]]:
    """All partitions, or those that are named and exist."""
    if request.topics is None:
        for name, found in image.topics.items():
            yield name, list(found.partitions.items())
        return
    for wanted in request.topics:
        topic = image.topics.get(wanted.name)
        if topic is not None:
            indexes = dict.fromkeys(wanted.partition_indexes)
            yield (
                wanted.name,
                [(each, topic.partitions[each]) for each in indexes if each in topic.partitions],
            )
