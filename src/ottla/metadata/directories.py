"""AssignReplicasToDirs: a broker with several directories says where it put its replicas (KIP-858).

With that the controller knows which replicas are lost when a directory fails. A replica that is assigned to a
directory which its broker does not have (any more) is out of sync at once; one that its broker has again, on
a new disk in the place of a lost one, may lead at once, if nobody else is left to.
"""

from __future__ import annotations

from ottla.metadata.brokers import known_broker
from ottla.metadata.config import ConfigView
from ottla.metadata.decision import Decision
from ottla.metadata.electorate import Electorate
from ottla.metadata.image import BrokerImage, MetadataImage, TopicImage
from ottla.metadata.records import MetadataRecord
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    AssignReplicasToDirsResponseDirectoryData,
    AssignReplicasToDirsResponsePartitionData,
    AssignReplicasToDirsResponseTopicData,
)


def assign_replicas_to_dirs(
    view: ConfigView, request: AssignReplicasToDirsRequest
) -> Decision[AssignReplicasToDirsResponse]:
    try:
        broker = known_broker(view.image, request.broker_id, request.broker_epoch)
    except KafkaError as error:
        return Decision(AssignReplicasToDirsResponse(error_code=error.code), [])
    present, gone = Electorate(view), Electorate(view, without=(broker.node_id,))
    records: list[MetadataRecord] = []
    directories: list[AssignReplicasToDirsResponseDirectoryData] = []
    seen: set[tuple[bytes, int]] = set()
    for directory in request.directories:
        directory_id = bytes(directory.id)
        online = broker.has_online(directory_id)
        topics: list[AssignReplicasToDirsResponseTopicData] = []
        for wanted in directory.topics:
            answers: list[AssignReplicasToDirsResponsePartitionData] = []
            for partition in wanted.partitions:
                index = partition.partition_index
                code = ErrorCode.NONE
                try:
                    topic = _replica_of(view.image, broker, bytes(wanted.topic_id), index)
                    if (topic.topic_id, index) in seen:
                        raise KafkaError(ErrorCode.INVALID_REQUEST, "A replica is in one directory only.")
                    seen.add((topic.topic_id, index))
                    change = (present if online else gone).change(
                        topic, index, topic.partitions[index], moved={broker.node_id: directory_id}
                    )
                    if not online:
                        change.isr = tuple(each for each in change.isr if each != broker.node_id)
                    record = change.build()
                    if record is not None:
                        records.append(record)
                except KafkaError as error:
                    code = error.code
                answers.append(
                    AssignReplicasToDirsResponsePartitionData(partition_index=index, error_code=code)
                )
            topics.append(AssignReplicasToDirsResponseTopicData(topic_id=wanted.topic_id, partitions=answers))
        directories.append(AssignReplicasToDirsResponseDirectoryData(id=directory_id, topics=topics))
    return Decision(AssignReplicasToDirsResponse(error_code=0, directories=directories), records)


def _replica_of(image: MetadataImage, broker: BrokerImage, topic_id: bytes, index: int) -> TopicImage:
    topic = image.topics_by_id.get(topic_id)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
    state = topic.partitions.get(index)
    if state is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if broker.node_id not in state.replicas:
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    return topic
