"""What the coming and going of brokers means: the records of registration, fencing, unfencing, shutdown.

A broker registers fenced, with the offset of its record as its epoch; unfencing makes it visible and lets it
lead. Fencing takes it out of the in-sync sets and its leaderships away. A partition that loses its last
replica in sync has no leader until that one is back: nothing acknowledged may be lost. Who decides when is in
`registration.py` and `heartbeats.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ottla.metadata.config import ConfigView
from ottla.metadata.electorate import Electorate, directory_of
from ottla.metadata.image import NO_LEADER, BrokerImage, Endpoint, MetadataImage
from ottla.metadata.records import MetadataRecord
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.cluster_metadata import (
    BrokerEndpoint,
    BrokerFeature,
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
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
    check_features(image, f"Broker {node_id}", features)
    return [
        registration_record(
            node_id=node_id,
            broker_epoch=broker_epoch,
            incarnation_id=incarnation_id,
            endpoints=endpoints,
            features=features,
            rack=rack,
            log_dirs=log_dirs,
            fenced=fenced,
        )
    ]


def check_features(image: MetadataImage, who: str, features: Mapping[str, tuple[int, int]]) -> None:
    """Raises KafkaError(UNSUPPORTED_VERSION) unless a node can do what the cluster has agreed on."""
    for name, level in image.features.items():
        low, high = features.get(name, (0, 0))
        if not low <= level <= high:
            raise KafkaError(
                ErrorCode.UNSUPPORTED_VERSION,
                f"{who} supports {name} {low} to {high}, but the cluster uses {level}.",
            )


def registration_record(
    *,
    node_id: int,
    broker_epoch: int,
    incarnation_id: bytes,
    endpoints: Sequence[Endpoint],
    features: Mapping[str, tuple[int, int]],
    rack: str | None,
    log_dirs: Sequence[bytes],
    fenced: bool,
    in_controlled_shutdown: bool = False,
) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
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
        in_controlled_shutdown=in_controlled_shutdown,
        log_dirs=list(log_dirs),
    )


def unfence_broker(view: ConfigView, node_id: int) -> list[MetadataRecord]:
    """Lets the broker lead again, and gives it the partitions that waited for it."""
    broker = known_broker(view.image, node_id)
    if not broker.fenced:
        return []
    # One that is stopping stays so for the rest of its life, and leads nothing in it.
    joining = () if broker.in_controlled_shutdown else (node_id,)
    return [
        BrokerRegistrationChangeRecord(broker_id=node_id, broker_epoch=broker.epoch, fenced=-1),
        *Electorate(view, joining=joining).updates(lambda state: state.leader == NO_LEADER),
    ]


def fence_brokers(view: ConfigView, node_ids: Collection[int]) -> list[MetadataRecord]:
    """Takes the brokers out of every in-sync set, and their leaderships away: all at once, so that none of
    them is elected in the place of another.
    """
    brokers = [known_broker(view.image, each) for each in node_ids]
    return [
        *(
            BrokerRegistrationChangeRecord(broker_id=each.node_id, broker_epoch=each.epoch, fenced=1)
            for each in brokers
            if not each.fenced
        ),
        *_leave(view, frozenset(node_ids)),
    ]


def fence_broker(view: ConfigView, node_id: int) -> list[MetadataRecord]:
    return fence_brokers(view, (node_id,))


def begin_controlled_shutdown(view: ConfigView, node_id: int) -> list[MetadataRecord]:
    """The broker still serves what it leads until it has seen that others lead it now."""
    broker = known_broker(view.image, node_id)
    records: list[MetadataRecord] = []
    if not broker.in_controlled_shutdown:
        records.append(
            BrokerRegistrationChangeRecord(
                broker_id=node_id, broker_epoch=broker.epoch, in_controlled_shutdown=1
            )
        )
    return records + _leave(view, frozenset((node_id,)))


def earlier_life_ended(view: ConfigView, node_id: int, *, clean: bool) -> list[MetadataRecord]:
    """A broker comes back in another incarnation: what its earlier one was in sync with, it is not.

    After an unclean stop its disk may lack what it had acknowledged. It is not eligible then (KIP-966), and
    only the last of all replicas gets its partition back.
    """
    electorate = Electorate(view, without=(node_id,))
    gone = frozenset((node_id,))
    if clean or not electorate.elr_enabled:
        return electorate.updates(lambda state: node_id in state.isr, without=gone)
    return electorate.updates(
        lambda state: node_id in state.isr or node_id in state.eligible_leader_replicas,
        without=gone,
        unclean_shutdown=gone,
    )


def unregister_broker(view: ConfigView, node_id: int) -> list[MetadataRecord]:
    """Raises KafkaError for one that is not known, and for the only one that serves: nothing would be left
    that could take it back.
    """
    broker = known_broker(view.image, node_id)
    if [each.node_id for each in view.image.active_brokers()] == [node_id]:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"Broker {node_id} is the only one that serves, and has to stay."
        )
    return [
        *_leave(view, frozenset((node_id,))),
        UnregisterBrokerRecord(broker_id=node_id, broker_epoch=broker.epoch),
    ]


def directories_offline(view: ConfigView, node_id: int, offline: Collection[bytes]) -> list[MetadataRecord]:
    """Directories of a broker that goes on without them: the replicas in them are not in sync any more."""
    broker = known_broker(view.image, node_id)
    failed = frozenset(offline) & frozenset(broker.log_dirs)
    if not failed:
        return []
    left = [each for each in broker.log_dirs if each not in failed]
    # Without any directory left the record would mean "unchanged"; such a broker stops anyway.
    records: list[MetadataRecord] = []
    if left:
        records.append(
            BrokerRegistrationChangeRecord(broker_id=node_id, broker_epoch=broker.epoch, log_dirs=left)
        )
    records += Electorate(view, without=(node_id,)).updates(
        lambda state: node_id in state.isr and directory_of(state, node_id) in failed, without=(node_id,)
    )
    return records


def raise_leader_epochs(image: MetadataImage, node_id: int) -> list[MetadataRecord]:
    """A new leader epoch for every partition that the broker leads.

    After an unclean stop the log may end before what was once written under the old epoch; offsets given out
    again must not look like the same records.
    """
    return [
        PartitionChangeRecord(topic_id=topic.topic_id, partition_id=partition_id, leader=node_id)
        for topic in image.topics.values()
        for partition_id, state in topic.partitions.items()
        if state.leader == node_id
    ]


def leads_anything(image: MetadataImage, node_id: int) -> bool:
    return any(
        state.leader == node_id for topic in image.topics.values() for state in topic.partitions.values()
    )


def known_broker(image: MetadataImage, node_id: int, epoch: int | None = None) -> BrokerImage:
    """Raises KafkaError when there is no such broker, or not with this epoch."""
    broker = image.brokers.get(node_id)
    if broker is None:
        raise KafkaError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"No broker with id {node_id} found.")
    if epoch is not None and broker.epoch != epoch:
        raise KafkaError(
            ErrorCode.STALE_BROKER_EPOCH,
            f"Broker {node_id} is registered with epoch {broker.epoch}, not {epoch}.",
        )
    return broker


def _leave(view: ConfigView, node_ids: frozenset[int]) -> list[MetadataRecord]:
    return Electorate(view, without=node_ids).updates(
        lambda state: not node_ids.isdisjoint(state.isr), without=node_ids
    )
