"""Where replicas go: on different hosts first, then on different racks, then evenly.

Brokers on one machine share its fate, so the host counts before the rack that the operator declared. Among
equals the next broker in turn is taken, from a random start, so that leaders and followers spread evenly over
the partitions of a topic, and over topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from ottla.metadata.image import BrokerImage
from ottla.model.errors import ErrorCode, KafkaError


def place_replicas(
    brokers: Sequence[BrokerImage], partition_count: int, replication_factor: int, random: Random
) -> list[tuple[int, ...]]:
    """For each new partition its replicas, the preferred leader first.

    Fenced brokers may follow, so that a cluster whose nodes restart can still create topics, but never lead.
    Raises KafkaError(INVALID_REPLICATION_FACTOR) when there are too few brokers.
    """
    if replication_factor < 1:
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0.")
    if replication_factor > len(brokers):
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {replication_factor} time(s): The target replication factor"
            f" of {replication_factor} cannot be reached because only {len(brokers)} broker(s) are"
            " registered.",
        )
    active = sorted((each for each in brokers if each.active), key=lambda each: each.node_id)
    if not active:
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, "All brokers are currently fenced.")
    if replication_factor == 1:
        start = random.randrange(len(active)) if len(active) > 1 else 0
        return [(active[(start + index) % len(active)].node_id,) for index in range(partition_count)]
    return _place_several(
        active, sorted(brokers, key=_active_first), partition_count, replication_factor, random
    )


def _active_first(broker: BrokerImage) -> tuple[bool, int]:
    return (not broker.active, broker.node_id)


def _host(broker: BrokerImage) -> str:
    for endpoint in broker.listeners.values():
        return endpoint.host
    return str(broker.node_id)


def _place_several(
    active: Sequence[BrokerImage],
    everyone: Sequence[BrokerImage],
    partition_count: int,
    replication_factor: int,
    random: Random,
) -> list[tuple[int, ...]]:
    load = {broker.node_id: 0 for broker in everyone}
    start = random.randrange(len(active))
    placed: list[tuple[int, ...]] = []
    for index in range(partition_count):
        leader = active[(start + index) % len(active)]
        chosen = [leader]
        # After each round of leaders the followers shift by one, so that no two brokers always go together.
        shift = start + index + index // len(active)
        while len(chosen) < replication_factor:
            chosen.append(_next_replica(everyone, chosen, load, shift))
        for broker in chosen:
            load[broker.node_id] += 1
        placed.append(tuple(broker.node_id for broker in chosen))
    return placed


def _next_replica(
    everyone: Sequence[BrokerImage], chosen: Sequence[BrokerImage], load: dict[int, int], shift: int
) -> BrokerImage:
    hosts = {_host(broker) for broker in chosen}
    racks = {broker.rack for broker in chosen}
    taken = {broker.node_id for broker in chosen}
    best: BrokerImage | None = None
    best_cost: tuple[bool, bool, bool, int, int] | None = None
    for position, broker in enumerate(everyone):
        if broker.node_id in taken:
            continue
        cost = (
            not broker.active,
            _host(broker) in hosts,
            broker.rack is not None and broker.rack in racks,
            load[broker.node_id],
            (position - shift - 1) % len(everyone),
        )
        if best_cost is None or cost < best_cost:
            best, best_cost = broker, cost
    assert best is not None
    return best
