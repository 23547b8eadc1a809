"""Decisions about brokers: registration, fencing, unfencing, and what they mean for partitions.

A broker registers fenced, with the offset of its record as its epoch; unfencing makes it visible and lets it
lead. Fencing takes its leaderships away. A partition without another in-sync replica keeps its in-sync set
and has no leader until that broker is back: nothing acknowledged may be lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ottla.metadata.image import (
    LEADER_UNCHANGED,
    NO_LEADER,
    BrokerImage,
    Endpoint,
    MetadataImage,
    PartitionState,
)
from ottla.metadata.records import MetadataRecord
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.cluster_metadata import (
    BrokerEndpoint,
    BrokerFeature,
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
    RegisterBrokerRecord,
)


def register_broker(
    image: MetadataImage,
    *,
    node_id: int,
    broker_epoch: int,
    incarnation_id: bytes,
    endpoints: Sequence[Endpoint],
    features: Mapping[str, tuple[int, int]],
    rack: str | None,
    log_dirs: Sequence[bytes],
    fenced: bool = True,
) -> list[MetadataRecord]:
    """`broker_epoch` is the offset that the first record will have.

    A running broker under the same id (not fenced, another incarnation) is refused; one that comes back takes
    the place of its earlier life. A node that is its own controller knows that its earlier life has ended: it
    registers with `fenced=False` and keeps what it leads. Raises KafkaError.
    """
    known = image.brokers.get(node_id)
    if known is not None and known.incarnation_id != incarnation_id and not known.fenced and fenced:
        raise KafkaError(
            ErrorCode.DUPLICATE_BROKER_REGISTRATION,
            f"Another broker is registered with id {node_id}: give this one an id of its own.",
        )
    for name, level in image.features.items():
        low, high = features.get(name, (0, 0))
        if not low <= level <= high:
            raise KafkaError(
                ErrorCode.UNSUPPORTED_VERSION,
                f"Broker {node_id} supports {name} {low} to {high}, but the cluster uses {level}.",
            )
    return [
        RegisterBrokerRecord(
            broker_id=node_id,
            incarnation_id=incarnation_id,
            broker_epoch=broker_epoch,
            end_points=[
                BrokerEndpoint(
                    name=each.name, host=each.host, port=each.port, security_protocol=each.security_protocol
                )
                for each in endpoints
            ],
            features=[
                BrokerFeature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in sorted(features.items())
            ],
            rack=rack,
            fenced=fenced,
            log_dirs=list(log_dirs),
        )
    ]


def unfence_broker(image: MetadataImage, node_id: int) -> list[MetadataRecord]:
    """Lets the broker lead again, and gives it the partitions that waited for it."""
    broker = _known(image, node_id)
    if not broker.fenced:
        return []
    records: list[MetadataRecord] = [
        BrokerRegistrationChangeRecord(broker_id=node_id, broker_epoch=broker.epoch, fenced=-1)
    ]
    for topic_id, partition_id, state in _partitions(image):
        if state.leader == NO_LEADER and node_id in state.isr:
            records.append(
                PartitionChangeRecord(topic_id=topic_id, partition_id=partition_id, leader=node_id)
            )
    return records


def fence_broker(image: MetadataImage, node_id: int) -> list[MetadataRecord]:
    """Takes the broker out of every in-sync set that has another member, and its leaderships away."""
    broker = _known(image, node_id)
    records: list[MetadataRecord] = []
    if not broker.fenced:
        records.append(BrokerRegistrationChangeRecord(broker_id=node_id, broker_epoch=broker.epoch, fenced=1))
    for topic_id, partition_id, state in _partitions(image):
        if node_id not in state.isr:
            continue
        rest = tuple(each for each in state.isr if each != node_id)
        if not rest:
            if state.leader == node_id:
                records.append(
                    PartitionChangeRecord(topic_id=topic_id, partition_id=partition_id, leader=NO_LEADER)
                )
            continue
        leader = LEADER_UNCHANGED
        if state.leader == node_id:
            leader = next(
                (each for each in state.replicas if each in rest and image.brokers[each].active), NO_LEADER
            )
        records.append(
            PartitionChangeRecord(topic_id=topic_id, partition_id=partition_id, isr=list(rest), leader=leader)
        )
    return records


def raise_leader_epochs(image: MetadataImage, node_id: int) -> list[MetadataRecord]:
    """A new leader epoch for every partition that the broker leads.

    After an unclean stop the log may end before what was once written under the old epoch; offsets given out
    again must not look like the same records.
    """
    return [
        PartitionChangeRecord(topic_id=topic_id, partition_id=partition_id, leader=node_id)
        for topic_id, partition_id, state in _partitions(image)
        if state.leader == node_id
    ]


def _partitions(image: MetadataImage) -> Iterator[tuple[bytes, int, PartitionState]]:
    for topic in image.topics.values():
        for partition_id, state in topic.partitions.items():
            yield topic.topic_id, partition_id, state


def _known(image: MetadataImage, node_id: int) -> BrokerImage:
    broker = image.brokers.get(node_id)
    if broker is None:
        raise KafkaError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"No broker with id {node_id} found.")
    return broker
