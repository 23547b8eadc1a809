"""Topics as Metadata responses show them: encoded once per version and listener, kept until the topic or the
brokers change.

What a client is told depends on the listener it has come to: a broker that has no endpoint there is of no use
to it, and neither is a partition that such a broker leads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ottla.metadata.image import BrokerImage, MetadataImage, PartitionState, TopicImage
from ottla.model.errors import ErrorCode
from ottla.model.types import INTERNAL_TOPICS
from ottla.model.uuids import is_reserved
from ottla.wire.messages.metadata import MetadataResponsePartition, MetadataResponseTopic
from ottla.wire.primitives import Encoder

if TYPE_CHECKING:
    from ottla.broker.node import Node

LOST_DIRECTORY: Final = bytes(15) + b"\x01"
"""Kafka's id for a directory that failed."""

NO_LEADER: Final = -1
LISTENER_NOT_FOUND_SINCE: Final = 6
"""The version of Metadata whose clients know LISTENER_NOT_FOUND."""


class TopicCache:
    """Encoded `MetadataResponseTopic`s, by version, listener and topic; valid while the image's objects are
    the same.
    """

    __slots__ = ("_brokers", "_cached")

    def __init__(self) -> None:
        self._brokers: object = None
        self._cached: dict[tuple[int, str], dict[bytes, tuple[TopicImage, bytes]]] = {}

    def encoded(self, image: MetadataImage, topic: TopicImage, version: int, listener_name: str) -> bytes:
        if image.brokers is not self._brokers:
            self._brokers = image.brokers
            self._cached.clear()
        cache = self._cached.setdefault((version, listener_name), {})
        found = cache.get(topic.topic_id)
        if found is not None and found[0] is topic:
            return found[1]
        out = Encoder()
        topic_response(image, topic, version, listener_name).encode(out, version)
        data = out.to_bytes()
        cache[topic.topic_id] = (topic, data)
        return data

    def forget(self, topic_id: bytes) -> None:
        for cache in self._cached.values():
            cache.pop(topic_id, None)


def topic_response(
    image: MetadataImage, topic: TopicImage, version: int, listener_name: str
) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=[
            _partition_response(image.brokers, index, state, version, listener_name)
            for index, state in topic.partitions.items()
        ],
    )


def _partition_response(
    brokers: Mapping[int, BrokerImage], index: int, state: PartitionState, version: int, listener_name: str
) -> MetadataResponsePartition:
    replicas, isr = list(state.replicas), list(state.isr)
    error = ErrorCode.NONE
    if version == 0:
        # Its clients look up every id in the list of brokers.
        replicas = [each for each in replicas if is_reachable(brokers, each, listener_name)]
        isr = [each for each in isr if is_reachable(brokers, each, listener_name)]
        if len(replicas) < len(state.replicas) or len(isr) < len(state.isr):
            error = ErrorCode.REPLICA_NOT_AVAILABLE
    leader = reachable_leader(brokers, state, listener_name)
    if leader == NO_LEADER:
        error = ErrorCode.LEADER_NOT_AVAILABLE
        if state.leader in brokers and version >= LISTENER_NOT_FOUND_SINCE:
            error = ErrorCode.LISTENER_NOT_FOUND
    return MetadataResponsePartition(
        error_code=error,
        partition_index=index,
        leader_id=leader,
        leader_epoch=state.leader_epoch,
        replica_nodes=replicas,
        isr_nodes=isr,
        offline_replicas=offline_replicas(brokers, state, listener_name),
    )


def reachable_leader(brokers: Mapping[int, BrokerImage], state: PartitionState, listener_name: str) -> int:
    """The leader, or NO_LEADER when clients of the listener cannot reach it."""
    broker = brokers.get(state.leader)
    return NO_LEADER if broker is None or listener_name not in broker.listeners else state.leader


def is_reachable(brokers: Mapping[int, BrokerImage], broker_id: int, listener_name: str) -> bool:
    broker = brokers.get(broker_id)
    return broker is not None and not broker.fenced and listener_name in broker.listeners


def offline_replicas(
    brokers: Mapping[int, BrokerImage], state: PartitionState, listener_name: str
) -> list[int]:
    """Replicas of brokers that are away, fenced or without this listener, and those in a directory that
    failed.
    """
    return [
        replica
        for place, replica in enumerate(state.replicas)
        if not is_reachable(brokers, replica, listener_name)
        or not _is_online(state.directories[place : place + 1], brokers[replica].log_dirs)
    ]


def _is_online(directories: tuple[bytes, ...], log_dirs: tuple[bytes, ...]) -> bool:
    """A broker's registration names its directories that work; `directories` is the replica's, if it has one.
    Ids that name no directory yet are reserved ones.
    """
    if not directories or not log_dirs:
        return True
    directory = directories[0]
    return directory != LOST_DIRECTORY and (is_reserved(directory) or directory in log_dirs)


def shown_controller(node: Node) -> int:
    """Whom clients are told to be the controller: any broker takes the controller's requests, so the active
    controller if it is a broker, to save a way, and some broker otherwise. -1 when there is none.
    """
    brokers = node.image.brokers
    controller_id = node.quorum.leader_id
    if controller_id in brokers and not brokers[controller_id].fenced:
        return controller_id
    alive = [broker.node_id for broker in brokers.values() if not broker.fenced]
    return node.chance.choice(alive) if alive else -1
