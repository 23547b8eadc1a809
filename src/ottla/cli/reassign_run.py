"""Reassignments on a cluster: what is where, throttles set and taken away, how far the copying is.

What `ottla reassign` and `kafka-reassign-partitions.sh` have in common. The throttle is Kafka's: a rate on
the brokers, and on the topics the list of the replicas that it is for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.cli.reassign_plan import Place, Replicas, Throttled
from ottla.model.types import TopicPartition

if TYPE_CHECKING:
    from ottla.client.admin import ConfigChange, ConfigResource, ConfigResourceType, LogDirDescription
    from ottla.client.admin_partitions import PartitionReassignment
    from ottla.client.blocking import Client

LEADER_RATE: Final = "leader.replication.throttled.rate"
FOLLOWER_RATE: Final = "follower.replication.throttled.rate"
DIRS_RATE: Final = "replica.alter.log.dirs.io.max.bytes.per.second"
LEADER_REPLICAS: Final = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS: Final = "follower.replication.throttled.replicas"


class Current(NamedTuple):
    replicas: dict[TopicPartition, Replicas]
    leaders: dict[TopicPartition, int]
    log_dirs: dict[tuple[TopicPartition, int], str]


def brokers_of(client: Client) -> dict[int, Place]:
    """The live brokers and where they stand."""
    described = client.run(client.admin.describe_cluster())
    return {broker.node_id: Place(broker.address.host, broker.rack) for broker in described.brokers}


def current_replicas(client: Client, topics: Iterable[str] | None) -> Current:
    """Where the partitions of topics (None: of all) are now. Raises for a topic that does not exist."""
    found = client.run(client.admin.describe_topics(None if topics is None else sorted(set(topics)))).all()
    replicas, leaders = {}, {}
    for topic in found.values():
        for p in topic.partitions:
            tp = TopicPartition(topic.name, p.partition)
            replicas[tp] = p.replicas
            leaders[tp] = p.leader
    return Current(replicas, leaders, {})


def with_log_dirs(client: Client, current: Current, partitions: Iterable[TopicPartition]) -> Current:
    """With the directory of each replica of these partitions, as far as their brokers tell."""
    log_dirs = {}
    wanted = set(partitions)
    nodes = sorted({node for tp in wanted for node in current.replicas[tp]})
    topics: dict[str, list[int]] = {}
    for tp in sorted(wanted):
        topics.setdefault(tp.topic, []).append(tp.partition)
    for node, directories in client.run(client.admin.describe_log_dirs(nodes, topics)).succeeded.items():
        for directory in directories:
            for p in directory.partitions:
                if not p.is_future:
                    log_dirs[p.topic_partition, node] = directory.path
    return current._replace(log_dirs=log_dirs)


# -- throttles


def set_topic_throttles(client: Client, throttled: Throttled) -> None:
    from ottla.client.admin import ConfigChange, ConfigOperation, ConfigResource, ConfigResourceType

    changes: dict[ConfigResource, list[ConfigChange]] = {}
    for key, texts in ((LEADER_REPLICAS, throttled.leaders), (FOLLOWER_REPLICAS, throttled.followers)):
        for topic, text in texts.items():
            change = ConfigChange(key, ConfigOperation.SET, text)
            changes.setdefault(ConfigResource(ConfigResourceType.TOPIC, topic), []).append(change)
    _alter(client, changes)


def set_broker_throttles(
    client: Client, brokers: Iterable[int], *, rate: int | None = None, dirs_rate: int | None = None
) -> None:
    from ottla.client.admin import ConfigChange, ConfigOperation, ConfigResource, ConfigResourceType

    rates = {LEADER_RATE: rate, FOLLOWER_RATE: rate, DIRS_RATE: dirs_rate}
    set_ = [ConfigChange(k, ConfigOperation.SET, str(v)) for k, v in rates.items() if v is not None]
    _alter(client, {ConfigResource(ConfigResourceType.BROKER, str(n)): set_ for n in sorted(brokers)})


def clear_broker_throttles(client: Client, brokers: Iterable[int]) -> None:
    from ottla.client.admin import ConfigChange, ConfigOperation, ConfigResource, ConfigResourceType

    keys = (LEADER_RATE, FOLLOWER_RATE, DIRS_RATE)
    gone = [ConfigChange(key, ConfigOperation.DELETE) for key in keys]
    _alter(client, {ConfigResource(ConfigResourceType.BROKER, str(node)): gone for node in sorted(brokers)})


def clear_topic_throttles(client: Client, topics: Iterable[str]) -> None:
    from ottla.client.admin import ConfigChange, ConfigOperation, ConfigResource, ConfigResourceType

    gone = [ConfigChange(key, ConfigOperation.DELETE) for key in (LEADER_REPLICAS, FOLLOWER_REPLICAS)]
    _alter(client, {ConfigResource(ConfigResourceType.TOPIC, topic): gone for topic in sorted(topics)})


def _alter(client: Client, changes: Mapping[ConfigResource, Sequence[ConfigChange]]) -> None:
    client.run(client.admin.incremental_alter_configs(changes)).all()


# -- how far it is


class PartitionProgress(NamedTuple):
    copied_bytes: int
    total_bytes: int


def progress_of(
    client: Client, ongoing: Mapping[TopicPartition, PartitionReassignment]
) -> dict[TopicPartition, PartitionProgress]:
    """What the new replicas of each partition have of what its leader has."""
    if not ongoing:
        return {}
    topics: dict[str, list[int]] = {}
    nodes: set[int] = set()
    for tp, moving in sorted(ongoing.items()):
        topics.setdefault(tp.topic, []).append(tp.partition)
        nodes.update(moving.replicas)
    described = client.run(client.admin.describe_log_dirs(sorted(nodes), topics)).succeeded
    sizes = replica_sizes(described)
    return {tp: partition_progress(tp, moving, sizes) for tp, moving in ongoing.items()}


def replica_sizes(
    described: Mapping[int, Sequence[LogDirDescription]],
) -> dict[tuple[TopicPartition, int], int]:
    return {
        (p.topic_partition, node): p.size_bytes
        for node, directories in described.items()
        for directory in directories
        for p in directory.partitions
        if not p.is_future
    }


def partition_progress(
    tp: TopicPartition, moving: PartitionReassignment, sizes: Mapping[tuple[TopicPartition, int], int]
) -> PartitionProgress:
    """Replicas of one log differ by what is still on its way, so the largest of the old ones is the whole."""
    old = [sizes.get((tp, node), 0) for node in moving.replicas if node not in moving.adding_replicas]
    whole = max(old, default=0)
    copied = [min(whole, sizes.get((tp, node), 0)) for node in moving.adding_replicas]
    return PartitionProgress(sum(copied), whole * len(moving.adding_replicas))


def throttled_brokers(client: Client, brokers: Iterable[int]) -> list[int]:
    """Those of the brokers that have a rate set."""
    from ottla.client.admin import ConfigResourceType

    names = [str(node) for node in sorted(brokers)]
    return [
        int(name) for name in _dynamic(client, ConfigResourceType.BROKER, names, (LEADER_RATE, FOLLOWER_RATE))
    ]


def throttled_topics(client: Client, topics: Iterable[str]) -> list[str]:
    """Those of the topics that have throttled replicas."""
    from ottla.client.admin import ConfigResourceType

    keys = (LEADER_REPLICAS, FOLLOWER_REPLICAS)
    return _dynamic(client, ConfigResourceType.TOPIC, sorted(topics), keys)


def _dynamic(
    client: Client, kind: ConfigResourceType, names: Sequence[str], keys: Sequence[str]
) -> list[str]:
    from ottla.client.admin import ConfigSource

    set_here = (ConfigSource.DYNAMIC_BROKER_CONFIG, ConfigSource.DYNAMIC_TOPIC_CONFIG)
    found = client.run(client.admin.describe_configs(kind, names, keys=keys, synonyms=False)).succeeded
    return [name for name, entries in found.items() if any(entry.source in set_here for entry in entries)]
