"""The coordinator's `range` assignor (KIP-848): each topic is cut into runs, one for each subscriber.

The order is that of the static members by instance id, then of the others by member id, so a static member
that returns under another member id gets the same run. Topics with equal counts and equal subscribers are
co-partitioned. As in Kafka, what members own does not matter: runs stay where they are as long as members,
subscriptions and counts do.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from ottla.assignors.group_spec import Assignment, GroupSpec
from ottla.assignors.steps import STEP_UNITS, drain, sort_in_steps
from ottla.assignors.subscription import java_order

NAME: Final = "range"


def assign(spec: GroupSpec) -> Assignment:
    return drain(assign_steps(spec))


def assign_steps(spec: GroupSpec) -> Generator[None, None, Assignment]:
    members, counts = spec.members, spec.partition_counts

    def place(member_id: str) -> tuple[bool, bytes, bytes]:
        instance_id = members[member_id].instance_id
        own = java_order(member_id)
        return (instance_id is None, own if instance_id is None else java_order(instance_id), own)

    order = yield from sort_in_steps(members, place)
    work = 0
    subscribers: dict[bytes, int] = {}
    for member_id in order:
        for topic_id in members[member_id].topic_ids:
            subscribers[topic_id] = subscribers.get(topic_id, 0) + 1
        work += 1 + len(members[member_id].topic_ids)
        if work >= STEP_UNITS:
            work = 0
            yield
    # The run of the subscriber numbered i begins at count * i / subscribers with the remainder spent on the
    # first ones.
    seen = dict.fromkeys(subscribers, 0)
    result: Assignment = {}
    for member_id in order:
        runs: dict[bytes, frozenset[int]] = {}
        for topic_id in members[member_id].topic_ids:
            quota, extras = divmod(counts.get(topic_id, 0), subscribers[topic_id])
            number = seen[topic_id]
            seen[topic_id] = number + 1
            length = quota + (number < extras)
            if length > 0:
                start = quota * number + min(number, extras)
                runs[topic_id] = frozenset(range(start, start + length))
            work += 2 + length // 4
            if work >= STEP_UNITS:
                work = 0
                yield
        result[member_id] = runs
        work += 1
    return result
