"""The `cooperative-sticky` assignor (KIP-429): `sticky`, in two rounds, and nobody stops what it keeps.

A partition that goes from one member to another is left out of the first round's assignment. Its old owner
sees it missing, revokes it and joins again; in the second round nobody owns it and the new owner gets it.
Two members never own one partition. With unequal subscriptions the second round may find more to move, and a
third follows, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.assignors.racks import PartitionRacks
from ottla.assignors.sticky import assign_sticky
from ottla.assignors.subscription import Subscription
from ottla.assignors.user_data import PreviousAssignment, decode_generation
from ottla.model.types import TopicPartition

NAME: Final = "cooperative-sticky"


def assign(
    partition_counts: Mapping[str, int],
    members: Mapping[str, Subscription],
    partition_racks: PartitionRacks | None = None,
) -> dict[str, list[TopicPartition]]:
    claims = {member_id: _claim(member) for member_id, member in members.items()}
    wanted, moving = assign_sticky(partition_counts, members, claims, partition_racks)
    if moving is None:
        moving = _changing_hands(members, wanted)
    return {
        member_id: [partition for partition in partitions if moving.get(partition) != member_id]
        for member_id, partitions in wanted.items()
    }


def _claim(member: Subscription) -> PreviousAssignment:
    """The generation stands in the subscription from its version 2 on, before that in the user data."""
    generation = member.generation if member.generation >= 0 else decode_generation(member.user_data)
    return PreviousAssignment(member.owned, generation)


def _changing_hands(
    members: Mapping[str, Subscription], wanted: Mapping[str, list[TopicPartition]]
) -> dict[TopicPartition, str]:
    added: dict[TopicPartition, str] = {}
    revoked: set[TopicPartition] = set()
    for member_id, partitions in wanted.items():
        owned = set(members[member_id].owned)
        added.update((partition, member_id) for partition in partitions if partition not in owned)
        revoked |= owned.difference(partitions)
    return {partition: member_id for partition, member_id in added.items() if partition in revoked}
