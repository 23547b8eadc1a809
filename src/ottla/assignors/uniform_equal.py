"""`uniform` where all members subscribed to the same topics.

Everybody gets the quotient of partitions and members, and as many as the remainder one more. That one goes
first to members that own more than the quotient, or partitions would move that need not. Members above their
share give up their last partitions; what is free, in order, fills the others up.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

from ottla.assignors.group_spec import Assignment, GroupSpec
from ottla.assignors.steps import STEP_UNITS, sort_in_steps


def assign_equal_steps(
    spec: GroupSpec, order: list[str], topic_ids: frozenset[bytes]
) -> Generator[None, None, Assignment]:
    counts = spec.partition_counts
    topics = yield from sort_in_steps(topic_ids, lambda topic_id: topic_id)
    taken = {topic_id: bytearray(counts[topic_id]) for topic_id in topics}
    quotient, extras = divmod(sum(counts[topic_id] for topic_id in topics), len(order))

    result: Assignment = {}
    sizes: dict[str, int] = {}
    shares: dict[str, int] = {}
    work = 0
    for member_id in order:
        kept, size, cost = _keep(spec.members[member_id].owned, taken)
        result[member_id] = kept
        sizes[member_id] = size
        shares[member_id] = quotient
        work += cost
        if work >= STEP_UNITS:
            work = 0
            yield

    for wants_more in (True, False):
        for member_id in order if extras else ():
            if extras and shares[member_id] == quotient and (sizes[member_id] > quotient) == wants_more:
                shares[member_id] += 1
                extras -= 1
            work += 1
            if work >= STEP_UNITS:
                work = 0
                yield

    for member_id in order:
        surplus = sizes[member_id] - shares[member_id]
        if surplus > 0:
            work += _give_up(result[member_id], surplus, taken)
        work += 1
        if work >= STEP_UNITS:
            work = 0
            yield

    free = _Free(topics, taken)
    for member_id in order:
        missing = shares[member_id] - sizes[member_id]
        while missing > 0:
            topic_id, numbers = free.take(min(missing, STEP_UNITS))
            mine = result[member_id]
            mine[topic_id] = mine.get(topic_id, frozenset()).union(numbers)
            missing -= len(numbers)
            work += 4 + 2 * len(numbers)
            if work >= STEP_UNITS:
                work = 0
                yield
        work += 1
    return result


def _keep(
    owned: Mapping[bytes, frozenset[int]], taken: dict[bytes, bytearray]
) -> tuple[dict[bytes, frozenset[int]], int, int]:
    """What of it exists, is subscribed to and was not claimed by a member before; how much that is, and the
    work.
    """
    kept: dict[bytes, frozenset[int]] = {}
    size = 0
    work = 1
    for topic_id, numbers in owned.items():
        work += 2 + len(numbers)
        marks = taken.get(topic_id)
        if marks is None:
            continue
        count = len(marks)
        wrong = []
        for number in numbers:
            if 0 <= number < count and not marks[number]:
                marks[number] = 1
            else:
                wrong.append(number)
        if wrong:
            numbers = numbers.difference(wrong)
        if numbers:
            kept[topic_id] = numbers
            size += len(numbers)
    return kept, size, work


def _give_up(mine: dict[bytes, frozenset[int]], surplus: int, taken: dict[bytes, bytearray]) -> int:
    work = 0
    for topic_id in sorted(mine, reverse=True):
        numbers = sorted(mine[topic_id])
        work += 2 + 2 * len(numbers)
        kept, given_up = numbers[:-surplus], numbers[-surplus:]
        for number in given_up:
            taken[topic_id][number] = 0
        if kept:
            mine[topic_id] = frozenset(kept)
        else:
            del mine[topic_id]
        surplus -= len(given_up)
        if not surplus:
            break
    return work


class _Free:
    """The partitions that nobody has, topic by topic in order."""

    __slots__ = ("_topics", "_taken", "_place", "_number")

    def __init__(self, topics: list[bytes], taken: dict[bytes, bytearray]) -> None:
        self._topics = topics
        self._taken = taken
        self._place = 0
        self._number = 0

    def take(self, count_max: int) -> tuple[bytes, list[int]]:
        """Some partitions of one topic. To be asked only while there are any."""
        while True:
            topic_id = self._topics[self._place]
            find = self._taken[topic_id].find
            numbers: list[int] = []
            number = find(0, self._number)
            while number >= 0:
                numbers.append(number)
                if len(numbers) == count_max:
                    break
                number = find(0, number + 1)
            if number < 0:
                self._place += 1
                self._number = 0
            else:
                self._number = number + 1
            if numbers:
                return topic_id, numbers
