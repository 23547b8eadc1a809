"""Which replica a consumer reads from (KIP-392): one in its own rack, where `replica.selector.class` asks for
it, otherwise the leader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ottla.replication.partition import Partition

if TYPE_CHECKING:
    from ottla.broker.node import Node

RACK_AWARE_SELECTOR: Final = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
"""Kafka's own name for it; it is the only selector there is."""


def selects_by_rack(selector_class: object) -> bool:
    return isinstance(selector_class, str) and selector_class.rpartition(".")[2] == "RackAwareReplicaSelector"


def closest_replica(node: Node, partition: Partition, offset: int, rack: str) -> int:
    """The id of the broker that a consumer in this rack should ask for what follows `offset`.

    The leader, if it is in the rack, or if no live replica in the rack has the offset; of several, the one
    that has most.
    """
    brokers = node.image.brokers
    leading = partition.leading
    own = brokers.get(node.node_id)
    if leading is None or own is None or own.rack == rack:
        return node.node_id
    best, best_end_offset = node.node_id, -1
    for follower in leading.followers.values():
        broker = brokers.get(follower.node_id)
        if (
            broker is not None
            and broker.rack == rack
            and not broker.fenced
            and follower.log_start_offset <= offset <= follower.log_end_offset
            and follower.log_end_offset > best_end_offset
        ):
            best, best_end_offset = follower.node_id, follower.log_end_offset
    return best
