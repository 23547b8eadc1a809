"""`uniform` where members subscribed to different topics.

1. Everybody keeps what it owns and is still subscribed to.
2. Free partitions go to the least loaded subscriber, topics with the most partitions per subscriber first:
   the others can then even out what those made uneven.
3. Topic after topic, partitions go from the most loaded owner to the least loaded subscriber while these
   differ by two or more; again over all topics until nothing moves. Each move brings two loads
   nearer to each other, so this ends.
"""

from __future__ import annotations

from collections.abc import Generator
from heapq import heapify, heappop, heappush, heapreplace
from typing import Final

from ottla.assignors.group_spec import Assignment, GroupSpec
from ottla.assignors.steps import STEP_UNITS, sort_in_steps

ROUNDS_MAX: Final = 100
"""Rounds over all topics. Nearly all groups need two; only where topics overlap in a long chain of members
does a load wander one link per round. There the limit bounds the work, and the next assignment goes on from
where this one stopped.
"""

_NOBODY: Final = -1


def assign_unequal_steps(
    spec: GroupSpec, order: list[str], topics_of: list[frozenset[bytes]]
) -> Generator[None, None, Assignment]:
    group = _Group(spec, order, topics_of)
    yield from group.find_subscribers()
    yield from group.keep_owned()
    yield from group.place_free()
    for _ in range(ROUNDS_MAX):
        if not (yield from group.balance()):
            break
    return (yield from group.result())


class _Group:
    """Members are numbers (their places in the order). A heap entry is load * members + member: cheaper
    than a pair.
    """

    __slots__ = ("_spec", "_order", "_topics_of", "_subscribers", "_owners", "_loads", "_topics")

    def __init__(self, spec: GroupSpec, order: list[str], topics_of: list[frozenset[bytes]]) -> None:
        self._spec = spec
        self._order = order
        self._topics_of = topics_of
        self._subscribers: dict[bytes, list[int]] = {}
        self._owners: dict[bytes, list[int]] = {}
        self._loads = [0] * len(order)
        self._topics: list[bytes] = []

    def find_subscribers(self) -> Generator[None, None, None]:
        subscribers, counts = self._subscribers, self._spec.partition_counts
        work = 0
        for member, topic_ids in enumerate(self._topics_of):
            for topic_id in topic_ids:
                known = subscribers.get(topic_id)
                if known is None:
                    subscribers[topic_id] = [member]
                    self._owners[topic_id] = [_NOBODY] * counts[topic_id]
                else:
                    known.append(member)
            work += 1 + len(topic_ids)
            if work >= STEP_UNITS:
                work = 0
                yield

        def heaviest_first(topic_id: bytes) -> tuple[float, int, bytes]:
            readers = len(subscribers[topic_id])
            return (-counts[topic_id] / readers, readers, topic_id)

        self._topics = yield from sort_in_steps(subscribers, heaviest_first)

    def keep_owned(self) -> Generator[None, None, None]:
        work = 0
        for member, member_id in enumerate(self._order):
            for topic_id, numbers in self._spec.members[member_id].owned.items():
                work += 2 + len(numbers)
                if topic_id not in self._topics_of[member]:
                    continue
                owners = self._owners[topic_id]
                for number in numbers:
                    if 0 <= number < len(owners) and owners[number] == _NOBODY:
                        owners[number] = member
                        self._loads[member] += 1
            work += 1
            if work >= STEP_UNITS:
                work = 0
                yield

    def place_free(self) -> Generator[None, None, None]:
        loads, members = self._loads, len(self._order)
        work = 0
        for topic_id in self._topics:
            owners = self._owners[topic_id]
            work += 2
            if _NOBODY not in owners:
                work += len(owners) // 8
                if work >= STEP_UNITS:
                    work = 0
                    yield
                continue
            heap: list[int] = []
            for member in self._subscribers[topic_id]:
                heappush(heap, loads[member] * members + member)
                work += 1
                if work >= STEP_UNITS:
                    work = 0
                    yield
            for number, owner in enumerate(owners):
                if owner == _NOBODY:
                    member = heap[0] % members
                    owners[number] = member
                    loads[member] += 1
                    heapreplace(heap, heap[0] + members)
                    work += 1
                work += 1
                if work >= STEP_UNITS:
                    work = 0
                    yield

    def balance(self) -> Generator[None, None, bool]:
        """One round; says whether anything moved."""
        moved = False
        work = 0
        load_of = self._loads.__getitem__
        for topic_id in self._topics:
            owners, subscribers = self._owners[topic_id], self._subscribers[topic_id]
            most = 0
            for start in range(0, len(owners), STEP_UNITS):
                most = max(most, max(map(load_of, owners[start : start + STEP_UNITS])))
                work += min(len(owners), STEP_UNITS) // 4
                if work >= STEP_UNITS:
                    work = 0
                    yield
            least = most
            for start in range(0, len(subscribers), STEP_UNITS):
                least = min(least, min(map(load_of, subscribers[start : start + STEP_UNITS])))
                work += min(len(subscribers), STEP_UNITS) // 4
                if work >= STEP_UNITS:
                    work = 0
                    yield
            work += 4
            if most - least >= 2:
                moved |= yield from self._balance_topic(owners, subscribers, least + 1)
        return moved

    def _balance_topic(
        self, owners: list[int], subscribers: list[int], load_kept: int
    ) -> Generator[None, None, bool]:
        loads, members = self._loads, len(self._order)
        work = 0
        held: dict[int, list[int]] = {}
        for number, member in enumerate(owners):
            if loads[member] > load_kept:  # the others are too near to the least loaded to give anything
                held.setdefault(member, []).append(number)
            work += 1
            if work >= STEP_UNITS:
                work = 0
                yield
        takers: list[int] = []
        for member in subscribers:
            heappush(takers, loads[member] * members + member)
            work += 1
            if work >= STEP_UNITS:
                work = 0
                yield
        # Negative, so that the most loaded is on top. A giver's entry among the takers goes stale, which
        # does no harm: who gave was the most loaded, and stays too near to the top to be given anything
        # here.
        givers = [-(loads[member] * members + member) for member in held]
        heapify(givers)
        while givers:
            giver, taker = -givers[0] % members, takers[0] % members
            if loads[giver] - loads[taker] < 2:
                break
            numbers = held[giver]
            owners[numbers.pop()] = taker
            loads[giver] -= 1
            loads[taker] += 1
            heapreplace(takers, takers[0] + members)
            if numbers:
                heapreplace(givers, givers[0] + members)
            else:
                heappop(givers)
            work += 4
            if work >= STEP_UNITS:
                work = 0
                yield
        return True

    def result(self) -> Generator[None, None, Assignment]:
        found: list[dict[bytes, list[int]]] = []
        work = 0
        for _ in self._order:
            found.append({})
            work += 1
            if work >= STEP_UNITS:
                work = 0
                yield
        for topic_id, owners in self._owners.items():
            for number, member in enumerate(owners):
                mine = found[member]
                if topic_id in mine:
                    mine[topic_id].append(number)
                else:
                    mine[topic_id] = [number]
                work += 1
                if work >= STEP_UNITS:
                    work = 0
                    yield
        result: Assignment = {}
        found.reverse()
        for member_id in self._order:
            topics = found.pop()  # freed one by one: all at the end would take as long as many steps
            mine_frozen: dict[bytes, frozenset[int]] = {}
            for topic_id, numbers in topics.items():
                mine_frozen[topic_id] = frozenset(numbers)
                work += 2 + len(numbers) // 4
                if work >= STEP_UNITS:
                    work = 0
                    yield
            result[member_id] = mine_frozen
            work += 1
        return result
