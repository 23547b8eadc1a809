"""The metadata image as the group coordinator's view of topics."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.metadata.image import MetadataImage, TopicImage
from ottla.ports.topic_view import TopicFacts


class ImageTopics:
    """Its version is the image's place in the metadata log: it goes on growing after a restart."""

    __slots__ = ("version", "_image")

    def __init__(self, image: MetadataImage) -> None:
        self.version = image.last_offset
        self._image = image

    def topic(self, name: str) -> TopicFacts | None:
        return _facts(self._image.topics.get(name))

    def topic_by_id(self, topic_id: bytes) -> TopicFacts | None:
        return _facts(self._image.topics_by_id.get(topic_id))

    def names(self) -> Iterable[str]:
        return self._image.topics.keys()

    def racks(self, name: str) -> tuple[frozenset[str], ...]:
        topic = self._image.topics[name]
        brokers = self._image.brokers
        return tuple(
            frozenset(
                rack
                for each in topic.partitions[index].replicas
                if each in brokers and (rack := brokers[each].rack) is not None
            )
            for index in range(len(topic.partitions))
        )


def _facts(topic: TopicImage | None) -> TopicFacts | None:
    return None if topic is None else TopicFacts(topic.name, topic.topic_id, len(topic.partitions))
