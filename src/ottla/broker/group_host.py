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
from ottla.replication.partition import Partition
from ottla.wire.record_batch import Codec

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
