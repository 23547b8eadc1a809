"""Racks of members and partitions (KIP-881), and when they are worth looking at.

They are not when no member says its rack, when no replica is in any member's rack, or when every partition
has replicas in all racks: then every choice is as near as any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TypeAlias

from ottla.assignors.subscription import Subscription
from ottla.model.types import TopicPartition

PartitionRacks: TypeAlias = Mapping[TopicPartition, Set[str]]
"""The racks in which a partition has a replica; a partition that is missing has none that is known."""

_NOWHERE: frozenset[str] = frozenset()


def member_racks(members: Mapping[str, Subscription]) -> dict[str, str]:
    return {member_id: member.rack for member_id, member in members.items() if member.rack}


def racks_matter(
    racks_of_members: Set[str], partitions: Iterable[TopicPartition], partition_racks: PartitionRacks
) -> bool:
    sets = [partition_racks.get(partition, _NOWHERE) for partition in partitions]
    everywhere = _NOWHERE.union(*sets)
    if racks_of_members.isdisjoint(everywhere):
        return False
    return any(racks != everywhere for racks in sets)


class RackMap:
    """The racks of one assignment. Without any that matter it is empty, and then nothing mismatches."""

    __slots__ = ("_of_members", "_of_partitions", "_members_in_rack")

    def __init__(
        self,
        members: Mapping[str, Subscription],
        partition_counts: Mapping[str, int],
        partition_racks: PartitionRacks | None,
    ) -> None:
        self._of_members: dict[str, str] = {}
        self._of_partitions: PartitionRacks = {}
        self._members_in_rack: dict[str, int] = {}
        of_members = member_racks(members)
        if not of_members or not partition_racks:
            return
        partitions = [
            TopicPartition(topic, number)
            for topic, count in partition_counts.items()
            for number in range(count)
        ]
        if racks_matter(set(of_members.values()), partitions, partition_racks):
            self._of_members = of_members
            self._of_partitions = partition_racks
            for rack in of_members.values():
                self._members_in_rack[rack] = self._members_in_rack.get(rack, 0) + 1

    def __bool__(self) -> bool:
        return bool(self._of_members)

    def mismatch(self, member_id: str, partition: TopicPartition) -> bool:
        """Whether the member has a rack, and the partition no replica in it."""
        rack = self._of_members.get(member_id)
        return rack is not None and rack not in self._of_partitions.get(partition, _NOWHERE)

    def together(self, member_id: str, partition: TopicPartition) -> bool:
        """Whether the member is known to be in a rack with a replica."""
        rack = self._of_members.get(member_id)
        return rack is not None and rack in self._of_partitions.get(partition, _NOWHERE)

    def members_near(self, partition: TopicPartition) -> int:
        racks = self._of_partitions.get(partition, _NOWHERE)
        return sum(self._members_in_rack.get(rack, 0) for rack in racks)
