"""ElectLeaders, and the elections that the controller holds by itself: preferred leaders, unclean ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ottla.metadata.config import ConfigView
from ottla.metadata.decision import Decision
from ottla.metadata.electorate import Electorate
from ottla.metadata.image import NO_LEADER, MetadataImage, TopicImage, changed_partition
from ottla.metadata.partition_change import Election
from ottla.metadata.records import MetadataRecord
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

PREFERRED_ELECTION: Final = 0
UNCLEAN_ELECTION: Final = 1
_ELECTIONS: Final = {PREFERRED_ELECTION: Election.PREFERRED, UNCLEAN_ELECTION: Election.UNCLEAN}


def elect_leaders(
    view: ConfigView, request: ElectLeadersRequest, version: int
) -> Decision[ElectLeadersResponse]:
    """Version 0 knows only preferred leaders. All partitions of the cluster when none are named; then those
    that need no election are left out of the answer.
    """
    election = _ELECTIONS.get(request.election_type if version > 0 else PREFERRED_ELECTION)
    if election is None:
        return Decision(ElectLeadersResponse(error_code=ErrorCode.INVALID_REQUEST), [])
    electorate = Electorate(view)
    records: list[MetadataRecord] = []
    results: list[ReplicaElectionResult] = []
    for name, partition_ids in _asked(view.image, request):
        answers: list[PartitionResult] = []
        for partition_id in partition_ids:
            code, message = ErrorCode.NONE, None
            try:
                records.append(_elect(electorate, name, partition_id, election))
            except KafkaError as error:
                code, message = error.code, error.message
                if code == ErrorCode.ELECTION_NOT_NEEDED and request.topic_partitions is None:
                    continue
            answers.append(PartitionResult(partition_id=partition_id, error_code=code, error_message=message))
        if answers:
            results.append(ReplicaElectionResult(topic=name, partition_result=answers))
    return Decision(ElectLeadersResponse(error_code=0, replica_election_results=results), records)


def _asked(image: MetadataImage, request: ElectLeadersRequest) -> Iterator[tuple[str, list[int]]]:
    if request.topic_partitions is None:
        for name, topic in image.topics.items():
            yield name, list(topic.partitions)
        return
    named: dict[str, dict[int, None]] = {}
    for wanted in request.topic_partitions:
        named.setdefault(wanted.topic, {}).update(dict.fromkeys(wanted.partitions))
    for name, partition_ids in named.items():
        yield name, list(partition_ids)


def _elect(electorate: Electorate, name: str, partition_id: int, election: Election) -> MetadataRecord:
    topic = electorate.image.topics.get(name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
    state = topic.partitions.get(partition_id)
    if state is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{partition_id}")
    preferred = state.replicas[0]
    if state.leader == preferred if election is Election.PREFERRED else state.leader != NO_LEADER:
        raise KafkaError(ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition.")
    record = electorate.change(topic, partition_id, state, election).build()
    leader = state.leader if record is None else changed_partition(state, record).leader
    if election is Election.PREFERRED and leader != preferred:
        raise KafkaError(
            ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
            f"The preferred leader {preferred} is not in sync, or not there.",
        )
    if record is None or leader == NO_LEADER:
        raise KafkaError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, "No replica of the partition is there.")
    return record


def preferred_leaders(view: ConfigView, records_max: int) -> list[MetadataRecord]:
    """Leadership goes back to the first replica of each list, where that is possible."""
    electorate = Electorate(view)
    records: list[MetadataRecord] = []
    for topic, partition_id in _partitions(view.image):
        state = topic.partitions[partition_id]
        preferred = state.replicas[0]
        if state.leader in (preferred, NO_LEADER) or preferred not in state.isr:
            continue
        record = electorate.change(topic, partition_id, state, Election.PREFERRED).build()
        if record is not None:
            records.append(record)
            if len(records) == records_max:
                break
    return records


def unclean_leaders(view: ConfigView, records_max: int) -> list[MetadataRecord]:
    """A leader for the partitions without one whose topics would rather lose records than wait."""
    electorate = Electorate(view)
    records: list[MetadataRecord] = []
    for topic, partition_id in _partitions(view.image):
        state = topic.partitions[partition_id]
        if state.leader != NO_LEADER:
            continue
        record = electorate.change(topic, partition_id, state).build()
        if record is not None:
            records.append(record)
            if len(records) == records_max:
                break
    return records


def _partitions(image: MetadataImage) -> Iterator[tuple[TopicImage, int]]:
    for topic in image.topics.values():
        for partition_id in topic.partitions:
            yield topic, partition_id
