"""What changed between two images of which the second was not built from the first: after a snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from ottla.metadata.image import ImageDelta, MetadataImage

K = TypeVar("K")
V = TypeVar("V")


def difference(before: MetadataImage, after: MetadataImage) -> ImageDelta:
    delta = ImageDelta(before)
    delta.after = after
    for topic_id, topic in before.topics_by_id.items():
        now = after.topics_by_id.get(topic_id)
        if now is None:
            delta.deleted_topics[topic_id] = topic.name
        elif now != topic:
            delta.changed_topics.add(topic_id)
    delta.created_topics |= after.topics_by_id.keys() - before.topics_by_id.keys()
    delta.changed_configs |= _changed(before.configs, after.configs)
    delta.changed_brokers |= _changed(before.brokers, after.brokers)
    delta.features_changed = before.features != after.features
    delta.producer_ids_changed = before.producer_ids_record != after.producer_ids_record
    delta.security_changed = any(
        getattr(before, name) != getattr(after, name)
        for name in ("client_quotas", "scram_credentials", "acls", "delegation_tokens")
    )
    return delta


def _changed(before: Mapping[K, V], after: Mapping[K, V]) -> set[K]:
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
