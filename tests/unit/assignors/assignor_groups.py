"""Short words for groups and results: `"T0P1"` is a partition, `members(C0="T0 T1")` a group."""

from __future__ import annotations

from ottla.assignors.subscription import Subscription
from ottla.assignors.user_data import encode_previous_assignment
from ottla.model.types import TopicPartition


def partition(text: str) -> TopicPartition:
    topic, _, number = text.rpartition("P")
    return TopicPartition(topic, int(number))


def partitions(text: str) -> list[TopicPartition]:
    return [partition(each) for each in text.split()]


def result(**of_members: str) -> dict[str, list[TopicPartition]]:
    return {member_id: partitions(text) for member_id, text in of_members.items()}


def members(**topics: str) -> dict[str, Subscription]:
    return {member_id: Subscription(tuple(text.split())) for member_id, text in topics.items()}


def with_history(
    group: dict[str, Subscription], before: dict[str, list[TopicPartition]], generation: int = 1
) -> dict[str, Subscription]:
    """The group as members of `sticky` and `cooperative-sticky` would join again after `before`."""
    return {
        member_id: Subscription(
            member.topics,
            owned=tuple(before.get(member_id, ())),
            generation=generation,
            rack=member.rack,
            group_instance_id=member.group_instance_id,
            user_data=encode_previous_assignment(before.get(member_id, ()), generation),
        )
        for member_id, member in group.items()
    }
