"""Who may keep what it says it has: the claims of sticky members, settled before anything is assigned.

A partition claimed twice goes to the claim of the newer generation, since the other member slept through a
rebalance. Two claims of one generation cannot both be true, so neither counts, and the partition is
remembered as contested: under the cooperative protocol nobody gets it before both have let go. Claims of
partitions that do not exist are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ottla.assignors.subscription import UNKNOWN_GENERATION, member_ids_sorted
from ottla.assignors.user_data import PreviousAssignment
from ottla.model.types import TopicPartition


class Settled(NamedTuple):
    owned: dict[str, dict[TopicPartition, None]]
    """What each member has, for all members in order; the inner dict is an ordered set."""
    contested: set[TopicPartition]
    earlier: dict[TopicPartition, str]
    """Who had a partition by the newest claim of an older generation: the first choice when it moves
    anyway.
    """


def settle(claims: Mapping[str, PreviousAssignment], partition_counts: Mapping[str, int]) -> Settled:
    order = member_ids_sorted(claims)
    owned: dict[str, dict[TopicPartition, None]] = {member_id: {} for member_id in order}
    contested: set[TopicPartition] = set()
    claimant: dict[TopicPartition, str] = {}
    for member_id in order:
        claim = claims[member_id]
        for partition in claim.partitions:
            if not 0 <= partition.partition < partition_counts.get(partition.topic, 0):
                continue
            rival = claimant.get(partition)
            if rival is None:
                owned[member_id][partition] = None
                claimant[partition] = member_id
                continue
            rival_generation = claims[rival].generation
            if claim.generation < rival_generation:
                continue
            owned[rival].pop(partition, None)
            claimant[partition] = member_id
            if claim.generation == rival_generation:
                contested.add(partition)
            else:
                owned[member_id][partition] = None
    return Settled(owned, contested, _earlier(claims, order))


def _earlier(claims: Mapping[str, PreviousAssignment], order: list[str]) -> dict[TopicPartition, str]:
    newest = max((claim.generation for claim in claims.values()), default=UNKNOWN_GENERATION)
    found: dict[TopicPartition, str] = {}
    for member_id in order:
        generation = claims[member_id].generation
        if generation < newest:
            for partition in claims[member_id].partitions:
                known = found.get(partition)
                if known is None or generation > claims[known].generation:
                    found[partition] = member_id
    return found
