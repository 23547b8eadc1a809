"""The host of one shard of the group coordinator: what is special about `__consumer_offsets`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from ottla.broker.coordinator_host import CoordinatorHost, HostSettings
from ottla.coordination.record import CoordinatorRecord
from ottla.groups.environment import Environment
from ottla.groups.record import decode_record
from ottla.groups.shard import Shard
from ottla.log.append import AppendInfo
from ottla.log.append_origin import AppendOrigin
from ottla.model.errors import ErrorCode, KafkaError
from ottla.replication.partition import Partition
from ottla.wire.record_batch import Codec, EndTxnMarker, encode_end_txn_batch

if TYPE_CHECKING:
    from ottla.broker.coordinator_jobs import CoordinatorJobs
    from ottla.broker.node import Node

logger = logging.getLogger(__name__)


class GroupHost(CoordinatorHost[Shard]):
    __slots__ = ("_deleted_topics", "_env")

    def __init__(
        self,
        node: Node,
        env: Environment,
        partition: Partition,
        jobs: CoordinatorJobs,
        on_fault: Callable[[CoordinatorHost[Shard], BaseException | None], None],
    ) -> None:
        super().__init__(node, Shard(env), partition, jobs, on_fault)
        self._env = env
        self._deleted_topics: list[tuple[str, bytes]] = []

    @property
    def settings(self) -> HostSettings:
        groups = self._env.settings
        return HostSettings(
            groups.offsets_load_buffer_bytes,
            groups.offsets_commit_timeout_ms,
            Codec(self._node.settings.groups_codec),
        )

    def decode(self, key: bytes, value: bytes | None) -> CoordinatorRecord | None:
        return decode_record(key, value)

    def replay_marker(self, producer_id: int, committed: bool) -> None:
        self.shard.end_transaction(producer_id, committed)

    def write_marker(
        self, producer_id: int, producer_epoch: int, marker: EndTxnMarker, transaction_version: int
    ) -> AppendInfo:
        """Ends a producer's transaction here: with the marker in the log, the offsets that it committed
        count, or are forgotten. What is read from now on waits until the marker is below the high watermark.

        Raises KafkaError, also while the shard is loading: it would not see a marker behind what it reads.
        """
        if self.over:
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        if self.loading:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        now_ms = self._node.clock.now_ms()
        batch = encode_end_txn_batch(
            marker, producer_id=producer_id, producer_epoch=producer_epoch, timestamp=now_ms
        )
        try:
            info = self._node.append(
                self.partition,
                batch,
                now_ms,
                -1,
                origin=AppendOrigin.COORDINATOR,
                transaction_version=transaction_version,
            )
            self.last_offset = info.last_offset
            self.shard.end_transaction(producer_id, marker.committed)
        except KafkaError:
            raise  # nothing was written
        except Exception as error:
            self.give_up(error)
            raise
        return info

    def loaded(self, replayed: int, duration_ms: float) -> None:
        if replayed:
            logger.info(
                "%s: %d groups loaded from %d records in %.0f ms",
                self.partition.tp,
                len(self.shard.state.groups),
                replayed,
                duration_ms,
            )
        self.decide_alone(Shard.loaded)
        if not self.over:
            self.decide_alone(Shard.loaded_offsets)
        self.topics_changed([])

    def topics_changed(self, deleted: list[tuple[str, bytes]]) -> None:
        """Topics came, changed or went; a shard that is loading hears of it when it is there."""
        self._deleted_topics += deleted
        if not self.loading and not self.over:
            gone, self._deleted_topics = self._deleted_topics, []
            self.decide_alone(lambda shard: shard.topics_changed(gone))
