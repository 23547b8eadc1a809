"""The host of one shard of the transaction coordinator: what is special about `__transaction_state`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ottla.broker.coordinator_host import CoordinatorHost, HostSettings
from ottla.coordination.record import CoordinatorRecord
from ottla.replication.partition import Partition
from ottla.transactions.environment import Environment
from ottla.transactions.markers import TxnToEnd
from ottla.transactions.record import decode_record
from ottla.transactions.shard import TransactionShard
from ottla.wire.record_batch import Codec, Record

if TYPE_CHECKING:
    from ottla.broker.coordinator_jobs import CoordinatorJobs
    from ottla.broker.node import Node

logger = logging.getLogger(__name__)

COMMIT_TIMEOUT_MS = 5_000
"""How long a request waits until what was decided about it is replicated, as in Kafka."""


class TransactionHost(CoordinatorHost[TransactionShard]):
    __slots__ = ("_end", "_latest")

    def __init__(
        self,
        node: Node,
        env: Environment,
        partition: Partition,
        jobs: CoordinatorJobs,
        on_fault: Callable[[CoordinatorHost[TransactionShard], BaseException | None], None],
        end: Callable[[TransactionHost, TxnToEnd], None],
    ) -> None:
        """`end` writes a transaction's markers and completes it."""
        super().__init__(node, TransactionShard(env, partition.leader_epoch), partition, jobs, on_fault)
        self._end = end
        self._latest: dict[bytes, Record] = {}
        """While the log is loaded: by key, the last record."""

    @property
    def settings(self) -> HostSettings:
        return HostSettings(self._node.settings.transaction_load_buffer_bytes, COMMIT_TIMEOUT_MS, Codec.NONE)

    def decode(self, key: bytes, value: bytes | None) -> CoordinatorRecord | None:
        return decode_record(key, value)

    def replay_bytes(self, record: Record, producer_id: int) -> bool:
        """Puts it off: only the last record of an id counts, and a log that was not compacted lately may hold
        thousands of each.
        """
        if record.key is None:
            return False
        self._latest[record.key] = record
        return True

    def replay_put_off(self) -> Iterator[bool]:
        latest, self._latest = self._latest, {}
        for record in latest.values():
            yield super().replay_bytes(record, -1)

    def loaded(self, replayed: int, duration_ms: float) -> None:
        if replayed:
            logger.info("%s: loaded from %d records in %.0f ms", self.partition.tp, replayed, duration_ms)
        self.decide_alone(TransactionShard.loaded)

    def begin(self, work: object) -> None:
        assert isinstance(work, TxnToEnd)
        self._end(self, work)
