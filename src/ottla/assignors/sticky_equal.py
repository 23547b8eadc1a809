"""Sticky assignment where all members subscribed to the same topics.

Everybody ends with the quotient of partitions and members, and as many as the remainder with one more.
First members keep what they own up to that; then what is free is dealt in turn to those below the quotient,
then one each to those at it. With racks that matter a member keeps, and is first dealt, only partitions
with a replica in its rack (KIP-881).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ottla.assignors.claims import Settled
from ottla.assignors.racks import RackMap
from ottla.model.types import TopicPartition


class EqualAssignment(NamedTuple):
    partitions: dict[str, list[TopicPartition]]
    moving: dict[TopicPartition, str]
    """Partitions that another member may still be reading, with their new owners."""


def assign_equal(partition_counts: Mapping[str, int], settled: Settled, racks: RackMap) -> EqualAssignment:
    dealer = _Dealer(partition_counts, settled, racks)
    dealer.keep_owned()
    free = dealer.free_partitions()
    if racks:
        free.sort(key=racks.members_near)  # those that few members are near to choose first
        free = dealer.deal_within_racks(free)
    dealer.deal_in_turn(free)
    return EqualAssignment(dealer.assignment, dealer.moving)


class _Dealer:
    __slots__ = (
        "assignment",
        "moving",
        "_counts",
        "_settled",
        "_racks",
        "_low",
        "_high",
        "_extras_left",
        "_below",
        "_at_low",
        "_given_up",
    )

    def __init__(self, partition_counts: Mapping[str, int], settled: Settled, racks: RackMap) -> None:
        self.assignment: dict[str, list[TopicPartition]] = {member_id: [] for member_id in settled.owned}
        self.moving: dict[TopicPartition, str] = {}
        self._counts = partition_counts
        self._settled = settled
        self._racks = racks
        self._low, remainder = divmod(sum(partition_counts.values()), len(settled.owned))
        self._high = self._low + (remainder > 0)
        self._extras_left = remainder
        self._below: list[str] = []
        """Members with fewer than the quotient."""
        self._at_low: list[str] = []
        """Members with exactly the quotient, while some may still get one more."""
        self._given_up: dict[TopicPartition, str] = {}

    def keep_owned(self) -> None:
        for member_id, owned in self._settled.owned.items():
            kept = []
            for partition in owned:
                if self._racks.mismatch(member_id, partition):
                    self._given_up[partition] = member_id
                elif partition not in self._settled.contested:
                    kept.append(partition)
            kept.sort(key=lambda each: (each.partition, each.topic))
            if len(kept) < self._low:
                self._below.append(member_id)
                limit = self._low
            elif len(kept) >= self._high and self._extras_left:
                limit = self._high
                self._use_extra()
            else:
                limit = self._low
                if self._extras_left:
                    self._at_low.append(member_id)
            self.assignment[member_id] += kept[:limit]
            for partition in kept[limit:]:
                self._given_up[partition] = member_id
        # The members come in order, and so do the two lists.

    def _use_extra(self) -> None:
        self._extras_left -= 1
        if not self._extras_left:
            self._at_low.clear()

    def free_partitions(self) -> list[TopicPartition]:
        kept = {partition for partitions in self.assignment.values() for partition in partitions}
        everything = (
            TopicPartition(topic, number)
            for topic in sorted(self._counts)
            for number in range(self._counts[topic])
        )
        return [partition for partition in everything if partition not in kept]

    def deal_within_racks(self, free: list[TopicPartition]) -> list[TopicPartition]:
        """Gives what can be given within racks; returns the rest."""
        rest = []
        hand = 0
        for partition in free:
            place = self._near(partition, self._below, hand)
            if place is not None:
                member_id = self._below[place]
                if len(self.assignment[member_id]) + 1 >= self._low:
                    del self._below[place]
                    if self._low < self._high and self._extras_left:
                        self._at_low.append(member_id)
                else:
                    place += 1
                hand = place % len(self._below) if self._below else 0
            else:
                place = self._near(partition, self._at_low, 0)
                if place is None:
                    rest.append(partition)
                    continue
                member_id = self._at_low.pop(place)
                self._use_extra()
            self._give(partition, member_id)
        return rest

    def _near(self, partition: TopicPartition, members: list[str], first: int) -> int | None:
        for step in range(len(members)):
            place = (first + step) % len(members)
            if self._racks.together(members[place], partition):
                return place
        return None

    def deal_in_turn(self, free: list[TopicPartition]) -> None:
        hand = 0
        full = 0  # of _at_low, how many have got one more
        for partition in free:
            if self._below:
                hand %= len(self._below)
                member_id = self._below[hand]
                hand += 1
                self._give(partition, member_id)
                if len(self.assignment[member_id]) == self._low:
                    hand -= 1
                    del self._below[hand]
                    self._at_low.append(member_id)
            else:
                self._give(partition, self._at_low[full])
                full += 1

    def _give(self, partition: TopicPartition, member_id: str) -> None:
        self.assignment[member_id].append(partition)
        former = self._given_up.get(partition, member_id)
        if former != member_id or partition in self._settled.contested:
            self.moving[partition] = member_id
