"""What is known of groups, as plain values: listings, descriptions, members, committed offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ottla.client.view import Address
from ottla.model.types import TopicPartition

if TYPE_CHECKING:
    from ottla.client.admin_acls import AclOperation

NO_OFFSET = -1

STATES = (
    "PreparingRebalance",
    "CompletingRebalance",
    "Stable",
    "Dead",
    "Empty",
    "Assigning",
    "Reconciling",
)
"""Every state that a group of either protocol can be in, as Kafka writes them."""

INACTIVE_STATES = frozenset({"Empty", "Dead"})
"""Without members: only then may offsets be set from outside."""


class GroupListing(NamedTuple):
    group_id: str
    protocol_type: str
    state: str
    """Empty where the broker is too old to tell (ListGroups below version 4)."""
    type: str
    """`classic`, `consumer`, `share` or `streams`; empty where the broker is too old (below version 5)."""

    @property
    def is_consumer_group(self) -> bool:
        """As Kafka's tools choose: consumers of either protocol, and groups that only ever committed."""
        if self.type.lower() in ("share", "streams"):
            return False
        return self.protocol_type in ("consumer", "")


class MemberDescription(NamedTuple):
    member_id: str
    client_id: str
    host: str
    assignment: tuple[TopicPartition, ...] = ()
    instance_id: str | None = None
    rack_id: str | None = None
    subscribed_topics: tuple[str, ...] = ()
    subscribed_regex: str | None = None
    epoch: int | None = None
    """The member epoch of KIP-848; None in a classic group."""
    target_assignment: tuple[TopicPartition, ...] | None = None
    """What the coordinator wants it to have; None in a classic group."""
    is_classic: bool | None = None
    """In a consumer group: whether this member still speaks the classic protocol (KIP-848 upgrade)."""


class GroupDescription(NamedTuple):
    group_id: str
    type: str
    """`classic`, `consumer` or `share`."""
    state: str
    protocol_type: str
    assignor: str
    members: tuple[MemberDescription, ...]
    coordinator_id: int
    coordinator: Address | None
    group_epoch: int | None = None
    assignment_epoch: int | None = None
    authorized_operations: frozenset[AclOperation] | None = None
    """What the caller may do with it; None where it was not asked for."""

    @property
    def is_active(self) -> bool:
        return self.state not in INACTIVE_STATES


class CommittedOffset(NamedTuple):
    offset: int
    leader_epoch: int = -1
    metadata: str = ""
