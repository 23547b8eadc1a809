"""The `sticky` assignor (KIP-54): as even as possible, then with as few moves as possible.

It is for the eager protocol. What a member had comes from its user data (`user_data.py`), since under the
eager protocol it owns nothing when it joins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from ottla.assignors.claims import settle
from ottla.assignors.racks import PartitionRacks, RackMap
from ottla.assignors.sticky_equal import assign_equal
from ottla.assignors.sticky_unequal import assign_unequal
from ottla.assignors.subscription import Subscription, subscribed_counts
from ottla.assignors.user_data import PreviousAssignment, decode_previous_assignment
from ottla.model.types import TopicPartition

NAME: Final = "sticky"


def assign(
    partition_counts: Mapping[str, int],
    members: Mapping[str, Subscription],
    partition_racks: PartitionRacks | None = None,
) -> dict[str, list[TopicPartition]]:
    claims = {
        member_id: decode_previous_assignment(member.user_data) for member_id, member in members.items()
    }
    return assign_sticky(partition_counts, members, claims, partition_racks).partitions


class StickyAssignment(NamedTuple):
    partitions: dict[str, list[TopicPartition]]
    moving: dict[TopicPartition, str] | None
    """What has to be revoked by another member first; None where it has to be worked out from the
    subscriptions.
    """


def assign_sticky(
    partition_counts: Mapping[str, int],
    members: Mapping[str, Subscription],
    claims: Mapping[str, PreviousAssignment],
    partition_racks: PartitionRacks | None,
) -> StickyAssignment:
    """The logic of both sticky assignors, given what each member claims to have had."""
    if not members:
        return StickyAssignment({}, {})
    counts = subscribed_counts(partition_counts, members)
    settled = settle(claims, counts)
    racks = RackMap(members, counts, partition_racks)
    if len({frozenset(member.topics) for member in members.values()}) == 1:
        return StickyAssignment(*assign_equal(counts, settled, racks))
    return StickyAssignment(assign_unequal(counts, members, settled, racks), None)
