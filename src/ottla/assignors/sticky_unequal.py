"""Sticky assignment where members subscribed to different topics.

1. Everybody keeps what it owns and may still have.
2. Free partitions, those with the fewest possible readers first, go to the least loaded member that may have
   them (with racks that matter, first within racks).
3. While some member could take a partition from one that has two or more above it, such a partition moves:
   back to its earlier owner where that helps, else to the least loaded. First only partitions that were free
   are tried, then all.
4. If the moves of step 3 made nothing better, they are undone.

A move of a partition that would reverse another move of the same topic between the same two members cancels
that one instead.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping

from ottla.assignors.claims import Settled
from ottla.assignors.racks import RackMap
from ottla.assignors.subscription import Subscription
from ottla.model.types import TopicPartition


def assign_unequal(
    partition_counts: Mapping[str, int],
    members: Mapping[str, Subscription],
    settled: Settled,
    racks: RackMap,
) -> dict[str, list[TopicPartition]]:
    balancer = _Balancer(partition_counts, members, settled, racks)
    balancer.run()
    return {member_id: list(balancer.held[member_id]) for member_id in settled.owned}


class _JavaSet:
    """Partitions of one topic in the order of Java's HashSet, by which it is decided which of several moves
    back: a leader of ours and a Java one come to the same result.
    """

    __slots__ = ("_items", "_buckets")

    def __init__(self) -> None:
        self._items: dict[TopicPartition, int] = {}
        self._buckets = 16

    def add(self, partition: TopicPartition) -> None:
        hash_code = (31 * (31 + partition.partition) + _java_hash(partition.topic)) & 0xFFFFFFFF
        self._items[partition] = hash_code ^ (hash_code >> 16)
        if len(self._items) > self._buckets * 3 // 4:
            self._buckets *= 2

    def remove(self, partition: TopicPartition) -> bool:
        """Whether it is empty now."""
        del self._items[partition]
        return not self._items

    def first(self) -> TopicPartition:
        mask = self._buckets - 1
        return min(self._items, key=lambda partition: self._items[partition] & mask)


def _java_hash(text: str) -> int:
    """`String.hashCode`, over UTF-16 units."""
    units = text.encode("utf-16-be", "surrogatepass")
    found = 0
    for at in range(0, len(units), 2):
        found = (31 * found + units[at] * 256 + units[at + 1]) & 0xFFFFFFFF
    return found


class _Moves:
    """The moves of step 3, from the owner before it to the owner now, so that no two of a topic run against
    each other.
    """

    __slots__ = ("_ends", "_by_pair")

    def __init__(self) -> None:
        self._ends: dict[TopicPartition, tuple[str, str]] = {}
        self._by_pair: dict[tuple[str, str, str], _JavaSet] = {}

    def better_choice(self, partition: TopicPartition, source: str, target: str) -> TopicPartition:
        """The partition to move instead of this one: one of its topic that came the opposite way, if there
        is one.
        """
        if partition in self._ends:
            source = self._ends[partition][0]
        opposite = self._by_pair.get((partition.topic, target, source))
        return opposite.first() if opposite is not None else partition

    def record(self, partition: TopicPartition, source: str, target: str) -> None:
        if partition in self._ends:
            first, last = self._ends.pop(partition)
            pair = (partition.topic, first, last)
            if self._by_pair[pair].remove(partition):
                del self._by_pair[pair]
            source = first
        if source != target:
            self._ends[partition] = (source, target)
            pair = (partition.topic, source, target)
            if pair not in self._by_pair:
                self._by_pair[pair] = _JavaSet()
            self._by_pair[pair].add(partition)


class _Balancer:
    __slots__ = (
        "held",
        "_order",
        "_rank",
        "_settled",
        "_racks",
        "_topics_of",
        "_partitions",
        "_readers",
        "_holder",
        "_by_load",
        "_shared",
        "_had_to_revoke",
        "_moves",
        "_unchecked_moves",
    )

    def __init__(
        self,
        partition_counts: Mapping[str, int],
        members: Mapping[str, Subscription],
        settled: Settled,
        racks: RackMap,
    ) -> None:
        self.held = settled.owned
        self._order = list(settled.owned)
        self._rank = {member_id: rank for rank, member_id in enumerate(self._order)}
        self._settled = settled
        self._racks = racks
        self._topics_of = {
            member_id: frozenset(topic for topic in members[member_id].topics if topic in partition_counts)
            for member_id in self._order
        }
        self._readers: dict[str, list[str]] = {topic: [] for topic in partition_counts}
        for member_id in self._order:
            for topic in self._topics_of[member_id]:
                self._readers[topic].append(member_id)
        topics = sorted(partition_counts, key=lambda topic: (len(self._readers[topic]), topic))
        self._partitions = [
            TopicPartition(topic, number) for topic in topics for number in range(partition_counts[topic])
        ]
        self._shared = {topic for topic, readers in self._readers.items() if len(readers) > 1}
        self._holder: dict[TopicPartition, str] = {}
        self._by_load: list[tuple[int, int]] = []
        """(number held, rank) of each member, ascending."""
        self._had_to_revoke = False
        self._moves = _Moves()
        self._unchecked_moves = len(self._partitions)

    def run(self) -> None:
        self._keep_owned()
        free = [partition for partition in self._partitions if partition not in self._holder]
        self._by_load = sorted(
            (len(self.held[member_id]), self._rank[member_id]) for member_id in self._order
        )
        starting = self._by_load[-1][0] == 0
        left: Iterable[TopicPartition] = free
        if self._racks:
            left = [partition for partition in free if not self._place(partition, within_rack=True)]
        for partition in left:
            self._place(partition, within_rack=False)

        # Members that share no topic with anybody have all they may have, and stay out of the balancing.
        self._by_load = [
            (load, rank)
            for load, rank in self._by_load
            if not self._shared.isdisjoint(self._topics_of[self._order[rank]])
        ]
        if not self._by_load:
            return
        before = {member_id: dict(held) for member_id, held in self.held.items()}
        score_before = self._imbalance()
        if not self._had_to_revoke:
            self._rebalance([partition for partition in free if partition.topic in self._shared])
        moved = self._rebalance(
            [partition for partition in self._partitions if partition.topic in self._shared]
        )
        if moved and not starting and self._imbalance() >= score_before:
            self.held = before

    def _keep_owned(self) -> None:
        for member_id, held in self.held.items():
            for partition in list(held):
                if partition.topic not in self._topics_of[member_id] or self._racks.mismatch(
                    member_id, partition
                ):
                    del held[partition]
                    self._had_to_revoke = True
                else:
                    self._holder[partition] = member_id

    def _least_loaded(self, partition: TopicPartition, within_rack: bool = False) -> str | None:
        for _, rank in self._by_load:
            member_id = self._order[rank]
            if partition.topic in self._topics_of[member_id] and not (
                within_rack and self._racks.mismatch(member_id, partition)
            ):
                return member_id
        return None

    def _place(self, partition: TopicPartition, within_rack: bool) -> bool:
        member_id = self._least_loaded(partition, within_rack)
        if member_id is None:
            return False
        self._change_load(member_id, add=partition)
        self._holder[partition] = member_id
        return True

    def _change_load(
        self, member_id: str, add: TopicPartition | None = None, remove: TopicPartition | None = None
    ) -> None:
        held, rank = self.held[member_id], self._rank[member_id]
        del self._by_load[bisect_left(self._by_load, (len(held), rank))]
        if add is not None:
            held[add] = None
        if remove is not None:
            del held[remove]
        insort(self._by_load, (len(held), rank))

    def _rebalance(self, partitions: list[TopicPartition]) -> bool:
        """Goes over the partitions until none of them can improve the balance; says whether any moved."""
        moved_any = False
        while True:
            moved = False
            balanced = self._balanced()
            for partition in partitions:
                if balanced:
                    break
                target = self._better_holder(partition)
                if target is not None:
                    self._move(partition, target)
                    moved = moved_any = True
                    balanced = self._balanced()
            if not moved:
                return moved_any

    def _better_holder(self, partition: TopicPartition) -> str | None:
        load = len(self.held[self._holder[partition]])
        earlier = self._settled.earlier.get(partition)
        if (
            earlier is not None
            and partition.topic in self._topics_of[earlier]
            and load > len(self.held[earlier]) + 1
        ):
            return earlier
        least = self._least_loaded(partition)
        return least if least is not None and load > len(self.held[least]) + 1 else None

    def _move(self, partition: TopicPartition, target: str) -> None:
        instead = self._moves.better_choice(partition, self._holder[partition], target)
        # In the end every move has to bring two loads nearer to each other, or the balancing might go round
        # in circles. Java does not look; nor do we, as long as this may still be a way that ends.
        self._unchecked_moves -= 1
        if self._unchecked_moves >= 0 or len(self.held[self._holder[instead]]) > len(self.held[target]) + 1:
            partition = instead
        source = self._holder[partition]
        self._moves.record(partition, source, target)
        self._change_load(source, remove=partition)
        self._change_load(target, add=partition)
        self._holder[partition] = target

    def _balanced(self) -> bool:
        """Whether no member could take a partition from one that has two or more above it."""
        if self._by_load[0][0] >= self._by_load[-1][0] - 1:
            return True
        most: dict[str, int] = {}  # by topic, the load of its most loaded holder
        for load, rank in self._by_load:
            for topic in {partition.topic for partition in self.held[self._order[rank]]}:
                most[topic] = load  # loads ascend, so the last one written is the greatest
        return not any(
            load + 1 < most[topic]
            for load, rank in self._by_load
            for topic in self._topics_of[self._order[rank]]
        )

    def _imbalance(self) -> int:
        """The sum of the differences of all pairs of members."""
        count = len(self._by_load)
        return sum(load * (2 * place + 1 - count) for place, (load, _) in enumerate(self._by_load))
