"""What a member of a classic group tells the leader, and the orders that its assignor keeps.

The results depend on nothing but the arguments: where Kafka's Java client walks a hash map of members or
topics, these assignors walk them sorted. Everything else, ties included, is decided as in Java.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ottla.model.types import TopicPartition

UNKNOWN_GENERATION: Final = -1


@dataclass(frozen=True, slots=True)
class Subscription:
    """One member's side of a rebalance (the fields of Kafka's ConsumerProtocolSubscription, and the static
    member's name).
    """

    topics: tuple[str, ...]
    owned: tuple[TopicPartition, ...] = ()
    generation: int = UNKNOWN_GENERATION
    rack: str | None = None
    group_instance_id: str | None = None
    user_data: bytes | None = None


def java_order(text: str) -> bytes:
    """A sort key that orders as Java's `String.compareTo` does: by UTF-16 units, not by code points."""
    return text.encode("utf-16-be", "surrogatepass")


def member_ids_sorted(member_ids: Iterable[str]) -> list[str]:
    return sorted(member_ids, key=java_order)


def static_members_first(members: Mapping[str, Subscription]) -> list[str]:
    """Static members by `group.instance.id`, then dynamic ones by member id: a static member that returns
    under a new member id keeps its place, and so its partitions (KIP-345).
    """

    def place(member_id: str) -> tuple[bool, bytes, bytes]:
        instance_id = members[member_id].group_instance_id
        own = java_order(member_id)
        return (instance_id is None, own if instance_id is None else java_order(instance_id), own)

    return sorted(members, key=place)


def subscribed_counts(
    partition_counts: Mapping[str, int], members: Mapping[str, Subscription]
) -> dict[str, int]:
    """The topics that somebody subscribed to and that exist, by name, with their numbers of partitions."""
    topics = {topic for member in members.values() for topic in member.topics}
    return {topic: partition_counts[topic] for topic in sorted(topics) if partition_counts.get(topic, 0) > 0}
