"""AlterPartition: a leader says who is in sync with it.

Each partition is answered alone, with its new state. A leader that knows less than the controller is told so
by an error that says what it lacks; one that seems to know more speaks of another controller's decisions, and
this one cannot be the active one any more.
"""

from __future__ import annotations

from collections.abc import Sequence

from ottla.metadata.brokers import known_broker
from ottla.metadata.config import ConfigView
from ottla.metadata.decision import Decision
from ottla.metadata.electorate import Electorate
from ottla.metadata.image import (
    LEADER_RECOVERED,
    LEADER_RECOVERING,
    MetadataImage,
    PartitionState,
    TopicImage,
    changed_partition,
)
from ottla.metadata.records import MetadataRecord
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    AlterPartitionResponseTopicData,
    BrokerState,
)

_EPOCH_UNKNOWN = -1
_FIRST_VERSION_WITH_BROKER_EPOCHS = 3


def alter_partition(
    view: ConfigView, request: AlterPartitionRequest, version: int
) -> Decision[AlterPartitionResponse]:
    try:
        known_broker(view.image, request.broker_id, request.broker_epoch)
    except KafkaError as error:
        return Decision(AlterPartitionResponse(error_code=error.code), [])
    electorate = Electorate(view)
    records: list[MetadataRecord] = []
    topics: list[AlterPartitionResponseTopicData] = []
    done: set[tuple[bytes, int]] = set()
    for wanted in request.topics:
        topic_id = bytes(wanted.topic_id)
        topic = view.image.topics_by_id.get(topic_id)
        answers: list[AlterPartitionResponsePartitionData] = []
        for partition in wanted.partitions:
            try:
                if topic is None:
                    raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
                if (topic_id, partition.partition_index) in done:
                    # Its partition epoch is that from before the first.
                    raise KafkaError(ErrorCode.INVALID_UPDATE_VERSION)
                answer = _alter(electorate, topic, request.broker_id, partition, version, records)
                done.add((topic_id, partition.partition_index))
            except KafkaError as error:
                answer = AlterPartitionResponsePartitionData(
                    partition_index=partition.partition_index, error_code=error.code
                )
            answers.append(answer)
        topics.append(AlterPartitionResponseTopicData(topic_id=topic_id, partitions=answers))
    return Decision(AlterPartitionResponse(error_code=0, topics=topics), records)


def _alter(
    electorate: Electorate,
    topic: TopicImage,
    leader_id: int,
    wanted: AlterPartitionRequestPartitionData,
    version: int,
    records: list[MetadataRecord],
) -> AlterPartitionResponsePartitionData:
    """Adds the record, if there is a change. It is added even when the answer is NEW_LEADER_ELECTED."""
    state = topic.partitions.get(wanted.partition_index)
    if state is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    new_isr: Sequence[BrokerState] = wanted.new_isr_with_epochs
    if version < _FIRST_VERSION_WITH_BROKER_EPOCHS:
        new_isr = [BrokerState(broker_id=each, broker_epoch=_EPOCH_UNKNOWN) for each in wanted.new_isr]
    isr = tuple(each.broker_id for each in new_isr)
    _check_epochs(state, leader_id, wanted)
    _check_isr(state, isr, wanted.leader_recovery_state)
    for each in new_isr:
        _check_eligible(electorate.image, each)
    change = electorate.change(topic, wanted.partition_index, state)
    change.isr = isr
    change.leader_recovery_state = wanted.leader_recovery_state
    record = change.build()
    after = state
    if record is not None:
        records.append(record)
        after = changed_partition(state, record)
    if after.leader != leader_id:
        # A reassignment is complete, and the leader was not to stay: it will learn the rest as a follower.
        raise KafkaError(ErrorCode.NEW_LEADER_ELECTED)
    return AlterPartitionResponsePartitionData(
        partition_index=wanted.partition_index,
        error_code=0,
        leader_id=after.leader,
        leader_epoch=after.leader_epoch,
        isr=list(after.isr),
        leader_recovery_state=after.leader_recovery_state,
        partition_epoch=after.partition_epoch,
    )


def _check_epochs(state: PartitionState, leader_id: int, wanted: AlterPartitionRequestPartitionData) -> None:
    if wanted.leader_epoch > state.leader_epoch or wanted.partition_epoch > state.partition_epoch:
        raise KafkaError(ErrorCode.NOT_CONTROLLER)
    if wanted.leader_epoch < state.leader_epoch:
        raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH)
    if leader_id != state.leader:
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    if wanted.partition_epoch < state.partition_epoch:
        raise KafkaError(ErrorCode.INVALID_UPDATE_VERSION)


def _check_isr(state: PartitionState, isr: tuple[int, ...], recovery_state: int) -> None:
    if len(set(isr)) != len(isr) or not set(isr) <= set(state.replicas) or state.leader not in isr:
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    if recovery_state not in (LEADER_RECOVERED, LEADER_RECOVERING):
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    if recovery_state == LEADER_RECOVERING and (
        len(isr) > 1 or state.leader_recovery_state == LEADER_RECOVERED
    ):
        # Nobody is in sync with a leader that does not know its own log; and it cannot go back to that.
        raise KafkaError(ErrorCode.INVALID_REQUEST)


def _check_eligible(image: MetadataImage, member: BrokerState) -> None:
    broker = image.brokers.get(member.broker_id)
    if broker is None or not broker.active or member.broker_epoch not in (_EPOCH_UNKNOWN, broker.epoch):
        raise KafkaError(ErrorCode.INELIGIBLE_REPLICA)
