"""What the client knows of a cluster: brokers, topics, partitions and their leaders, as one immutable value.

A view is built from a Metadata response and replaced whole, or merged with an older one when the response
speaks of a few topics only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from ottla.client.errors import ServerError
from ottla.model.errors import ErrorCode
from ottla.model.types import NO_TOPIC_ID

if TYPE_CHECKING:
    from ottla.wire.messages.metadata import MetadataResponse

NO_LEADER = -1


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class BrokerView(NamedTuple):
    node_id: int
    address: Address
    rack: str | None = None


@dataclass(frozen=True, slots=True)
class PartitionView:
    index: int
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline: tuple[int, ...]
    error: int


class TopicView(NamedTuple):
    name: str
    topic_id: bytes
    internal: bool
    partitions: tuple[PartitionView, ...]
    error: int

    def available(self) -> list[int]:
        """The partitions that have a leader."""
        return [p.index for p in self.partitions if p.leader != NO_LEADER]


@dataclass(frozen=True, slots=True)
class ClusterView:
    cluster_id: str | None = None
    controller_id: int = -1
    brokers: Mapping[int, BrokerView] = field(default_factory=dict)
    topics: Mapping[str, TopicView] = field(default_factory=dict)

    @classmethod
    def from_response(cls, response: MetadataResponse) -> ClusterView:
        brokers = {
            b.node_id: BrokerView(b.node_id, Address(b.host, b.port), b.rack) for b in response.brokers
        }
        topics = {}
        for topic in response.topics:
            name = topic.name or ""
            partitions = [
                PartitionView(
                    p.partition_index,
                    p.leader_id,
                    p.leader_epoch,
                    tuple(p.replica_nodes),
                    tuple(p.isr_nodes),
                    tuple(p.offline_replicas),
                    p.error_code,
                )
                for p in sorted(topic.partitions, key=lambda p: p.partition_index)
            ]
            topics[name] = TopicView(
                name, bytes(topic.topic_id), topic.is_internal, tuple(partitions), topic.error_code
            )
        return cls(response.cluster_id, response.controller_id, brokers, topics)

    def merged(self, newer: ClusterView) -> ClusterView:
        """This view with what a newer, partial one says in its place."""
        return replace(newer, topics={**self.topics, **newer.after(self).topics})

    def after(self, older: ClusterView) -> ClusterView:
        """This view, in which no partition's leader is one of before the older view: a broker that is behind
        the others may have answered.
        """
        changed: dict[str, TopicView] = {}
        for name, topic in self.topics.items():
            known = older.topics.get(name)
            if known is None or known is topic or known.topic_id != topic.topic_id or topic.error:
                continue
            newest = {p.index: p for p in known.partitions}
            if any(
                p.index in newest and newest[p.index].leader_epoch > p.leader_epoch >= 0
                for p in topic.partitions
            ):
                partitions = tuple(
                    newest[p.index]
                    if p.index in newest and newest[p.index].leader_epoch > p.leader_epoch >= 0
                    else p
                    for p in topic.partitions
                )
                changed[name] = topic._replace(partitions=partitions)
        return replace(self, topics={**self.topics, **changed}) if changed else self

    def with_leader(self, topic: str, index: int, leader: int, leader_epoch: int) -> ClusterView | None:
        """This view with a partition's new leader; None when that is no news here."""
        known = self.topics.get(topic)
        if known is None:
            return None
        partitions = list(known.partitions)
        for at, partition in enumerate(partitions):
            if partition.index == index:
                if partition.leader_epoch >= leader_epoch:
                    return None
                partitions[at] = replace(partition, leader=leader, leader_epoch=leader_epoch, error=0)
                updated = known._replace(partitions=tuple(partitions))
                return replace(self, topics={**self.topics, topic: updated})
        return None

    def topic(self, name: str) -> TopicView:
        """Raises ServerError with the reason when the topic cannot be used."""
        found = self.topics.get(name)
        if found is None:
            raise ServerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, subject=f"topic {name}")
        if found.error:
            raise ServerError(found.error, subject=f"topic {name}")
        return found

    def partition(self, topic: str, index: int) -> PartitionView:
        partitions = self.topic(topic).partitions
        if 0 <= index < len(partitions) and partitions[index].index == index:
            return partitions[index]
        for partition in partitions:
            if partition.index == index:
                return partition
        raise ServerError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            f"there is no partition {index}, the topic has {len(partitions)}",
            subject=f"topic {topic}",
        )

    def knows(self, topic: str, index: int) -> bool:
        """Whether the partition was there when the view was made; one that is not may have been added."""
        found = self.topics.get(topic)
        return found is not None and not found.error and any(p.index == index for p in found.partitions)

    def leader(self, topic: str, index: int) -> int:
        """The node that leads the partition; a retriable ServerError when it has no leader."""
        partition = self.partition(topic, index)
        if partition.leader == NO_LEADER or partition.leader not in self.brokers:
            raise ServerError(ErrorCode.LEADER_NOT_AVAILABLE, subject=f"{topic}-{index}")
        return partition.leader

    def topic_id(self, name: str) -> bytes:
        found = self.topics.get(name)
        return NO_TOPIC_ID if found is None else found.topic_id

    def topic_name(self, topic_id: bytes) -> str | None:
        for topic in self.topics.values():
            if topic.topic_id == topic_id:
                return topic.name
        return None
