"""Administration of log directories: what lies in each broker's, and moving replicas between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ottla.client.admin_part import AdminPart, by_topic
from ottla.client.admin_results import Results, failure
from ottla.client.effects import ClientSteps
from ottla.client.errors import OttlaError, ServerError
from ottla.model.types import TopicPartition


class LogDirPartition(NamedTuple):
    topic_partition: TopicPartition
    size_bytes: int
    offset_lag: int
    """How far it is behind: a current replica behind the high watermark, a future one behind the current."""
    is_future: bool
    """On its way here from another directory of the same broker."""


class LogDirDescription(NamedTuple):
    path: str
    error: ServerError | None
    """Why the directory is offline."""
    total_bytes: int
    usable_bytes: int
    partitions: tuple[LogDirPartition, ...]


class TopicPartitionReplica(NamedTuple):
    """One replica: of a partition, on a broker."""

    topic: str
    partition: int
    broker_id: int

    @property
    def topic_partition(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition} on broker {self.broker_id}"


class ReplicaLogDir(NamedTuple):
    """Where a replica lies, and where it is moving to; None for what there is not."""

    current_path: str | None = None
    current_offset_lag: int = -1
    future_path: str | None = None
    future_offset_lag: int = -1


class LogDirAdmin(AdminPart):
    def describe_log_dirs(
        self,
        node_ids: Sequence[int] | None = None,
        topics: Mapping[str, Sequence[int]] | None = None,
    ) -> ClientSteps[Results[int, list[LogDirDescription]]]:
        """The log directories of each broker (None: all brokers; `topics` None: all partitions)."""
        asked = node_ids
        if asked is None:
            asked = sorted((yield from self._cluster.discover(())).brokers)
        found = yield from self._log_dirs(dict.fromkeys(asked, topics))
        return Results.of(asked, found)

    def describe_replica_log_dirs(
        self, replicas: Iterable[TopicPartitionReplica]
    ) -> ClientSteps[Results[TopicPartitionReplica, ReplicaLogDir]]:
        """In which directory of its broker each replica lies, and where it is being moved to."""
        asked = list(dict.fromkeys(replicas))
        by_broker: dict[int, list[TopicPartition]] = {}
        for replica in asked:
            by_broker.setdefault(replica.broker_id, []).append(replica.topic_partition)
        described = yield from self._log_dirs({node: by_topic(tps) for node, tps in by_broker.items()})
        found: dict[TopicPartitionReplica, ReplicaLogDir | OttlaError] = {}
        for replica in asked:
            directories = described[replica.broker_id]
            if isinstance(directories, OttlaError):
                found[replica] = directories
                continue
            place = ReplicaLogDir()
            for directory in directories:
                for p in directory.partitions:
                    if p.topic_partition != replica.topic_partition:
                        continue
                    if p.is_future:
                        place = place._replace(future_path=directory.path, future_offset_lag=p.offset_lag)
                    else:
                        place = place._replace(current_path=directory.path, current_offset_lag=p.offset_lag)
            found[replica] = place
        return Results.of(asked, found)

    def alter_replica_log_dirs(
        self, moves: Mapping[TopicPartitionReplica, str]
    ) -> ClientSteps[Results[TopicPartitionReplica, None]]:
        """Moves replicas to other directories of their brokers; the copying goes on after the answer."""
        from ottla.wire.messages.alter_replica_log_dirs import (
            AlterReplicaLogDir,
            AlterReplicaLogDirsRequest,
            AlterReplicaLogDirsResponse,
            AlterReplicaLogDirTopic,
        )

        by_broker: dict[int, dict[str, list[TopicPartition]]] = {}
        for replica, path in moves.items():
            by_broker.setdefault(replica.broker_id, {}).setdefault(path, []).append(replica.topic_partition)

        def build(node_id: int) -> AlterReplicaLogDirsRequest:
            return AlterReplicaLogDirsRequest(
                dirs=[
                    AlterReplicaLogDir(
                        path=path,
                        topics=[
                            AlterReplicaLogDirTopic(name=topic, partitions=indexes)
                            for topic, indexes in by_topic(tps).items()
                        ],
                    )
                    for path, tps in by_broker[node_id].items()
                ]
            )

        found: dict[TopicPartitionReplica, OttlaError | None] = {}
        for node_id, answer in (yield from self._ask_brokers(by_broker, build)).items():
            if isinstance(answer, OttlaError):
                found.update((replica, answer) for replica in moves if replica.broker_id == node_id)
                continue
            response: AlterReplicaLogDirsResponse = answer
            for t in response.results:
                for p in t.partitions:
                    replica = TopicPartitionReplica(t.topic_name, p.partition_index, node_id)
                    found[replica] = failure(p.error_code, subject=str(replica))
        return Results.of(moves, found)

    def _log_dirs(
        self, asked: Mapping[int, Mapping[str, Sequence[int]] | None]
    ) -> ClientSteps[dict[int, list[LogDirDescription] | OttlaError]]:
        from ottla.wire.messages.describe_log_dirs import (
            DescribableLogDirTopic,
            DescribeLogDirsRequest,
            DescribeLogDirsResponse,
        )

        def build(node_id: int) -> DescribeLogDirsRequest:
            topics = asked[node_id]
            return DescribeLogDirsRequest(
                topics=None
                if topics is None
                else [DescribableLogDirTopic(topic=t, partitions=list(p)) for t, p in topics.items()]
            )

        found: dict[int, list[LogDirDescription] | OttlaError] = {}
        for node_id, answer in (yield from self._ask_brokers(asked, build)).items():
            if isinstance(answer, OttlaError):
                found[node_id] = answer
                continue
            response: DescribeLogDirsResponse = answer
            found[node_id] = failure(response.error_code, subject=f"broker {node_id}") or [
                LogDirDescription(
                    result.log_dir,
                    failure(result.error_code),
                    result.total_bytes,
                    result.usable_bytes,
                    tuple(
                        LogDirPartition(
                            TopicPartition(topic.name, p.partition_index),
                            p.partition_size,
                            p.offset_lag,
                            p.is_future_key,
                        )
                        for topic in result.topics
                        for p in topic.partitions
                    ),
                )
                for result in response.results
            ]
        return found
