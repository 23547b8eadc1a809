"""What the coordinator's assignors (KIP-848) are given, and what they return.

A spec is a snapshot: nothing in it may change while an assignor works through it in steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

Assignment: TypeAlias = dict[str, dict[bytes, frozenset[int]]]
"""By member and topic id, the partitions; each member of the spec is there, and no empty set."""


@dataclass(frozen=True, slots=True)
class MemberSpec:
    instance_id: str | None
    rack_id: str | None
    topic_ids: frozenset[bytes]
    """What it subscribed to. Members with equal subscriptions best share one object: comparing it is then
    free.
    """
    owned: Mapping[bytes, frozenset[int]]
    """Its target assignment so far."""


@dataclass(frozen=True, slots=True)
class GroupSpec:
    members: Mapping[str, MemberSpec]
    partition_counts: Mapping[bytes, int]
    """Of the topics that exist; a subscription to any other topic brings nothing."""
