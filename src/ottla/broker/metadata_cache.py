"""Encoded topics for Metadata responses: made once per version, kept until the topic or the brokers
change.
"""

from __future__ import annotations

from collections.abc import Mapping

from ottla.metadata.image import BrokerImage, MetadataImage, TopicImage
from ottla.model.errors import ErrorCode
from ottla.model.types import INTERNAL_TOPICS
from ottla.wire.messages.metadata import MetadataResponsePartition, MetadataResponseTopic
from ottla.wire.primitives import Encoder


class TopicCache:
    """Encoded `MetadataResponseTopic`s, by version and topic; valid while the image's objects are the
    same.
    """

    __slots__ = ("_brokers", "_by_version")

    def __init__(self) -> None:
        self._brokers: object = None
        self._by_version: dict[int, dict[bytes, tuple[TopicImage, bytes]]] = {}

    def encoded(self, image: MetadataImage, topic: TopicImage, version: int) -> bytes:
        if image.brokers is not self._brokers:
            self._brokers = image.brokers
            self._by_version.clear()
        cache = self._by_version.setdefault(version, {})
        found = cache.get(topic.topic_id)
        if found is not None and found[0] is topic:
            return found[1]
        out = Encoder()
        topic_response(image, topic).encode(out, version)
        data = out.to_bytes()
        cache[topic.topic_id] = (topic, data)
        return data

    def forget(self, topic_id: bytes) -> None:
        for cache in self._by_version.values():
            cache.pop(topic_id, None)


def topic_response(image: MetadataImage, topic: TopicImage) -> MetadataResponseTopic:
    brokers = image.brokers
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=[
            MetadataResponsePartition(
                error_code=ErrorCode.NONE if state.leader >= 0 else ErrorCode.LEADER_NOT_AVAILABLE,
                partition_index=index,
                leader_id=state.leader,
                leader_epoch=state.leader_epoch,
                replica_nodes=list(state.replicas),
                isr_nodes=list(state.isr),
                offline_replicas=offline_replicas(brokers, state.replicas),
            )
            for index, state in topic.partitions.items()
        ],
    )


def offline_replicas(brokers: Mapping[int, BrokerImage], replicas: tuple[int, ...]) -> list[int]:
    offline = []
    for replica in replicas:
        broker = brokers.get(replica)
        if broker is None or broker.fenced:
            offline.append(replica)
    return offline
