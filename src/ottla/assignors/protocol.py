"""The client's assignors by name, and the rebalance protocols that each of them supports (KIP-429).

A consumer offers the names in its `partition.assignment.strategy`; the coordinator picks one that all
members offer, and the leader runs it. A consumer follows the highest protocol that all of its assignors
support.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypeAlias

from ottla.assignors import cooperative_sticky, range, round_robin, sticky
from ottla.assignors.racks import PartitionRacks
from ottla.assignors.subscription import Subscription
from ottla.assignors.user_data import encode_generation, encode_previous_assignment
from ottla.model.types import TopicPartition


class RebalanceProtocol(IntEnum):
    EAGER = 0
    """A member gives up everything before it joins."""
    COOPERATIVE = 1
    """A member keeps what it owns while it joins, and gives up only what the new assignment lacks."""


AssignPartitions: TypeAlias = Callable[
    [Mapping[str, int], Mapping[str, Subscription], PartitionRacks | None], dict[str, list[TopicPartition]]
]


@dataclass(frozen=True, slots=True)
class ClientAssignor:
    name: str
    java_class: str
    """What `partition.assignment.strategy` calls it in a configuration made for Java."""
    assign: AssignPartitions
    protocols: tuple[RebalanceProtocol, ...] = (RebalanceProtocol.EAGER,)
    user_data: Callable[[Sequence[TopicPartition], int], bytes] | None = None
    """From the partitions and the generation of the last assignment, what to send with the next
    subscription.
    """


def _without_racks(
    partition_counts: Mapping[str, int],
    members: Mapping[str, Subscription],
    partition_racks: PartitionRacks | None,
) -> dict[str, list[TopicPartition]]:
    return round_robin.assign(partition_counts, members)


_JAVA_PACKAGE: Final = "org.apache.kafka.clients.consumer."

RANGE: Final = ClientAssignor(range.NAME, _JAVA_PACKAGE + "RangeAssignor", range.assign)
ROUND_ROBIN: Final = ClientAssignor(round_robin.NAME, _JAVA_PACKAGE + "RoundRobinAssignor", _without_racks)
STICKY: Final = ClientAssignor(
    sticky.NAME, _JAVA_PACKAGE + "StickyAssignor", sticky.assign, user_data=encode_previous_assignment
)
COOPERATIVE_STICKY: Final = ClientAssignor(
    cooperative_sticky.NAME,
    _JAVA_PACKAGE + "CooperativeStickyAssignor",
    cooperative_sticky.assign,
    (RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER),
    lambda partitions, generation: encode_generation(generation),
)

CLIENT_ASSIGNORS: Final[Mapping[str, ClientAssignor]] = {
    each.name: each for each in (RANGE, ROUND_ROBIN, STICKY, COOPERATIVE_STICKY)
}


def client_assignor(name: str) -> ClientAssignor | None:
    """The assignor of that name, which may also be that of its class in Java."""
    for each in CLIENT_ASSIGNORS.values():
        if name in (each.name, each.java_class):
            return each
    return None


def common_protocol(assignors: Collection[ClientAssignor]) -> RebalanceProtocol:
    """The highest protocol that all of them support; each supports EAGER."""
    return max(
        protocol for protocol in RebalanceProtocol if all(protocol in each.protocols for each in assignors)
    )
