"""The `range` assignor: each topic's partitions are cut into runs, one for each subscriber in order.

Where the count does not divide, the first subscribers get one more. Topics with equal counts and equal
subscribers are therefore co-partitioned: whoever has partition 3 of one has partition 3 of all. With racks
that matter (KIP-881) partitions go first to subscribers in a rack with a replica, as far as the same
balance allows, and co-partitioned topics still move together; what is left over is cut into runs as before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Final

from ottla.assignors.racks import PartitionRacks, member_racks, racks_matter
from ottla.assignors.subscription import Subscription, static_members_first, subscribed_counts
from ottla.model.types import TopicPartition

NAME: Final = "range"


def assign(
    partition_counts: Mapping[str, int],
    members: Mapping[str, Subscription],
    partition_racks: PartitionRacks | None = None,
) -> dict[str, list[TopicPartition]]:
    order = static_members_first(members)
    counts = subscribed_counts(partition_counts, members)
    subscribers: dict[str, list[str]] = {name: [] for name in counts}
    for member_id in order:
        for name in dict.fromkeys(members[member_id].topics):
            if name in subscribers:
                subscribers[name].append(member_id)
    topics = [_Topic(name, count, subscribers[name]) for name, count in counts.items()]
    racks = member_racks(members)
    if racks and partition_racks:
        _match_racks(topics, racks, partition_racks)
    for topic in topics:
        topic.hand_out_runs(None)
    result: dict[str, list[TopicPartition]] = {member_id: [] for member_id in order}
    for topic in topics:
        for member_id, numbers in topic.taken.items():
            result[member_id] += [TopicPartition(topic.name, number) for number in sorted(numbers)]
    return result


class _Topic:
    """One topic: what is not handed out yet, and how much each subscriber may still take."""

    __slots__ = ("name", "count", "taken", "_left", "_quota", "_extras")

    def __init__(self, name: str, count: int, subscribers: list[str]) -> None:
        self.name = name
        self.count = count
        self.taken: dict[str, list[int]] = {member_id: [] for member_id in subscribers}
        self._left = dict.fromkeys(range(count))
        self._quota, self._extras = divmod(count, len(subscribers))

    def room(self, member_id: str) -> int:
        return max(0, self._quota + (self._extras > 0) - len(self.taken[member_id]))

    def take(self, member_id: str, numbers: list[int]) -> None:
        taken = self.taken[member_id]
        taken += numbers
        if len(taken) > self._quota:
            self._extras -= 1
        for number in numbers:
            del self._left[number]

    def hand_out_runs(self, allowed: Callable[[str, TopicPartition], bool] | None) -> None:
        for member_id in self.taken:
            if not self._left:
                return
            numbers = (
                number
                for number in self._left
                if allowed is None or allowed(member_id, TopicPartition(self.name, number))
            )
            found = list(islice(numbers, self.room(member_id)))
            if found:
                self.take(member_id, found)


def _match_racks(topics: list[_Topic], racks: Mapping[str, str], partition_racks: PartitionRacks) -> None:
    def near(member_id: str, partition: TopicPartition) -> bool:
        rack = racks.get(member_id)
        return rack is None or rack in partition_racks.get(partition, ())

    together: dict[tuple[int, tuple[str, ...]], list[_Topic]] = {}
    matters: dict[str, bool] = {}
    for topic in topics:
        of_subscribers = {racks[member_id] for member_id in topic.taken if member_id in racks}
        partitions = (TopicPartition(topic.name, number) for number in range(topic.count))
        matters[topic.name] = racks_matter(of_subscribers, partitions, partition_racks)
        if of_subscribers:  # a topic whose subscribers all lack a rack has nothing to match
            together.setdefault((topic.count, tuple(topic.taken)), []).append(topic)
    if not any(matters.values()):
        return
    for group in together.values():
        if len(group) > 1:
            _match_together(group, near)
        elif matters[group[0].name]:
            group[0].hand_out_runs(near)


def _match_together(topics: list[_Topic], near: Callable[[str, TopicPartition], bool]) -> None:
    """Gives each number to the first subscriber that is near that partition of every topic."""
    open_members = list(topics[0].taken)
    for number in range(topics[0].count):
        for member_id in open_members:
            if all(
                near(member_id, TopicPartition(topic.name, number)) and topic.room(member_id)
                for topic in topics
            ):
                for topic in topics:
                    topic.take(member_id, [number])
                if not any(topic.room(member_id) for topic in topics):
                    open_members.remove(member_id)
                break
