"""The coordinator's `uniform` assignor (KIP-848): even loads, then as few moves as possible.

With equal subscriptions (`uniform_equal.py`) loads differ by one at most, and the partitions that move are
the fewest possible. With unequal ones (`uniform_unequal.py`) nobody could take a partition from a member
that has two or more above it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from ottla.assignors.group_spec import Assignment, GroupSpec
from ottla.assignors.steps import STEP_UNITS, drain, sort_in_steps
from ottla.assignors.subscription import java_order
from ottla.assignors.uniform_equal import assign_equal_steps
from ottla.assignors.uniform_unequal import assign_unequal_steps

NAME: Final = "uniform"


def assign(spec: GroupSpec) -> Assignment:
    return drain(assign_steps(spec))


def assign_steps(spec: GroupSpec) -> Generator[None, None, Assignment]:
    order = yield from sort_in_steps(spec.members, java_order)
    # Subscriptions without the topics that do not exist. Many members share few different ones.
    existing: dict[frozenset[bytes], frozenset[bytes]] = {}
    different: set[frozenset[bytes]] = set()
    topics_of: list[frozenset[bytes]] = []
    work = 0
    last: frozenset[bytes] | None = None
    for member_id in order:
        topic_ids = spec.members[member_id].topic_ids
        if topic_ids is not last:
            if topic_ids not in existing:
                known = frozenset(
                    topic_id for topic_id in topic_ids if spec.partition_counts.get(topic_id, 0) > 0
                )
                existing[topic_ids] = known
                different.add(known)
                work += 4 + 2 * len(topic_ids)
            work += len(topic_ids) // 4
            last = topic_ids
        topics_of.append(existing[topic_ids])
        work += 1
        if work >= STEP_UNITS:
            work = 0
            yield
    if not order:
        return {}
    if len(different) == 1:
        return (yield from assign_equal_steps(spec, order, different.pop()))
    return (yield from assign_unequal_steps(spec, order, topics_of))
