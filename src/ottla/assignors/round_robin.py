"""The `roundrobin` assignor: all partitions of all topics, in order, are dealt to the members in turn.

A member that did not subscribe to a partition's topic is passed over, and the next partition goes on from
where the last was dealt; with unequal subscriptions that can be far from even.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.assignors.subscription import Subscription, static_members_first, subscribed_counts
from ottla.model.types import TopicPartition

NAME: Final = "roundrobin"


def assign(
    partition_counts: Mapping[str, int], members: Mapping[str, Subscription]
) -> dict[str, list[TopicPartition]]:
    order = static_members_first(members)
    topics_of = [frozenset(members[member_id].topics) for member_id in order]
    result: dict[str, list[TopicPartition]] = {member_id: [] for member_id in order}
    hand = 0
    for topic, count in subscribed_counts(partition_counts, members).items():
        for number in range(count):
            while topic not in topics_of[hand]:
                hand = (hand + 1) % len(order)
            result[order[hand]].append(TopicPartition(topic, number))
            hand = (hand + 1) % len(order)
    return result
