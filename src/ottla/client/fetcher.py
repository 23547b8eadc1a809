"""Reading records from partitions that were chosen by hand.

Part of the core: positions live here, `poll` is a generator over effects. A fetch that finds nothing waits at
the broker (long poll). Batches are checked and decoded here; control batches are stepped over, and with
read_committed so are the batches of aborted transactions (KIP-98).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ottla.client.admin import EARLIEST, LATEST, Admin
from ottla.client.backoff import Backoff
from ottla.client.cluster import MISSING_TOPIC, Cluster
from ottla.client.effects import Answer, Call, CallMany, ClientSteps, Pause, Versioned
from ottla.client.errors import OttlaError, ProtocolError, ServerError
from ottla.client.records import ConsumedRecord
from ottla.model.errors import ErrorCode
from ottla.model.limits import DECOMPRESSED_BATCH_BYTES_MAX
from ottla.model.types import NO_TOPIC_ID, TopicPartition
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from ottla.wire.record_batch import (
    ControlType,
    CorruptBatch,
    InvalidRecord,
    UnsupportedCodec,
    control_type,
    decode_batch,
    iter_headers,
)

LOST_CLUSTER_TIMEOUT_MS = 60_000
"""How long `poll` keeps trying while no broker answers."""


@dataclass(frozen=True, slots=True)
class FetcherSettings:
    """Kafka's consumer keys, as far as they have a meaning here."""

    min_bytes: int = 1
    max_bytes: int = 50 * 1024 * 1024
    partition_bytes_max: int = 1024 * 1024
    read_committed: bool = False
    reset: int | None = None
    """Where to go on when the position has been deleted: EARLIEST, LATEST, or None to raise."""


class Fetcher:
    def __init__(self, cluster: Cluster, admin: Admin, settings: FetcherSettings) -> None:
        self._cluster = cluster
        self._admin = admin
        self._settings = settings
        self._positions: dict[TopicPartition, int] = {}
        self._ends: dict[TopicPartition, int] = {}

    @property
    def positions(self) -> Mapping[TopicPartition, int]:
        return self._positions

    @property
    def at_end(self) -> bool:
        """Whether, as of the last fetch, nothing is left to read in any partition."""
        return all(position >= self._ends.get(tp, 1 << 63) for tp, position in self._positions.items())

    def partitions(self, topic: str) -> ClientSteps[list[TopicPartition]]:
        """All partitions of a topic, which has to exist."""
        view = yield from self._cluster.discover([topic])
        return [TopicPartition(topic, p.index) for p in view.topic(topic).partitions]

    def seek(self, tp: TopicPartition, offset: int) -> None:
        """Takes the partition in (if it is new) and reads from this offset on."""
        self._positions[tp] = offset
        self._ends.pop(tp, None)

    def forget(self, tp: TopicPartition) -> None:
        """Reads no more from this partition."""
        self._positions.pop(tp, None)
        self._ends.pop(tp, None)

    def seek_by_time(self, when: Mapping[TopicPartition, int]) -> ClientSteps[None]:
        """Positions by timestamp, EARLIEST or LATEST. Where no record is that young: the end."""
        found = yield from self._offsets(when)
        late = {tp: LATEST for tp, offset in found.items() if offset < 0}
        if late:
            found.update((yield from self._offsets(late)))
        for tp, offset in found.items():
            self.seek(tp, offset)

    def seek_before_end(self, partitions: Iterable[TopicPartition], count: int) -> ClientSteps[None]:
        """Positions `count` offsets before the end, or at the beginning where there are fewer."""
        wanted = list(partitions)
        first = yield from self._offsets(dict.fromkeys(wanted, EARLIEST))
        last = yield from self._offsets(dict.fromkeys(wanted, LATEST))
        for tp in wanted:
            self.seek(tp, max(first[tp], last[tp] - count))

    def _offsets(self, when: Mapping[TopicPartition, int]) -> ClientSteps[dict[TopicPartition, int]]:
        def attempt() -> ClientSteps[dict[TopicPartition, int]]:
            results = yield from self._admin.list_offsets(when, read_committed=self._settings.read_committed)
            for result in results.values():
                if result.error is not None:
                    raise result.error
            return {tp: result.offset for tp, result in results.items()}

        return (yield from self._cluster.retrying(attempt))

    def poll(self, max_wait_ms: int) -> ClientSteps[list[ConsumedRecord]]:
        """What has come, in order within each partition; [] when nothing came within the time.

        Tries again over moved leaders and lost connections, and raises when no broker answers for a minute.
        """
        clock = self._cluster.clock
        backoff = Backoff(clock.monotonic_ms() + LOST_CLUSTER_TIMEOUT_MS, self._cluster.chance)
        while True:
            records, error = yield from self.poll_once(max_wait_ms)
            if records or error is None:
                return records
            wait_ms = backoff.next_wait_ms(clock.monotonic_ms())
            if wait_ms is None:
                raise error
            yield Pause(wait_ms)
            yield from self.recover()

    def recover(self) -> ClientSteps[None]:
        """After a fetch that failed: asks who leads the partitions now. Raises for a topic that is gone."""
        try:
            view = yield from self._cluster.refresh(sorted({tp.topic for tp in self._positions}))
        except OttlaError as refresh_error:
            if not refresh_error.retriable:
                raise
            return
        for tp in self._positions:  # a topic that was deleted meanwhile will not come back
            missing = view.topics.get(tp.topic)
            if missing is None or missing.error in MISSING_TOPIC:
                view.topic(tp.topic)

    def poll_once(self, max_wait_ms: int) -> ClientSteps[tuple[list[ConsumedRecord], OttlaError | None]]:
        """A single fetch: what came, and the passing failure of those partitions that could not be asked."""
        by_leader: dict[int, list[TopicPartition]] = {}
        failure: OttlaError | None = None
        for tp in self._positions:
            try:
                by_leader.setdefault(self._cluster.view.leader(*tp), []).append(tp)
            except ServerError as error:
                if not error.retriable:
                    raise
                failure = error
        calls = [self._call(leader, tps, max_wait_ms) for leader, tps in by_leader.items()]
        answers: list[Answer] = yield CallMany(calls)
        records: list[ConsumedRecord] = []
        for answer, tps in zip(answers, by_leader.values(), strict=True):
            try:
                response = answer.get()
                if response.error_code:
                    raise ServerError(response.error_code)
                names = {self._cluster.view.topic_id(tp.topic): tp.topic for tp in tps}
                for topic in response.responses:
                    name = topic.topic or names.get(bytes(topic.topic_id), "")
                    for data in topic.partitions:
                        tp = TopicPartition(name, data.partition_index)
                        if tp in self._positions:
                            records += yield from self._take(tp, data)
            except OttlaError as error:
                if not error.retriable:
                    raise
                failure = error
        return records, failure

    def _call(self, leader: int, tps: list[TopicPartition], max_wait_ms: int) -> Call:
        view = self._cluster.view
        settings = self._settings
        by_id = all(view.topic_id(tp.topic) != NO_TOPIC_ID for tp in tps)

        def build(version: int) -> FetchRequest:
            topics: dict[str, list[FetchPartition]] = {}
            for tp in tps:
                partition = FetchPartition(
                    partition=tp.partition,
                    current_leader_epoch=view.partition(*tp).leader_epoch,
                    fetch_offset=self._positions[tp],
                    partition_max_bytes=settings.partition_bytes_max,
                )
                topics.setdefault(tp.topic, []).append(partition)
            return FetchRequest(
                max_wait_ms=max_wait_ms,
                min_bytes=settings.min_bytes,
                max_bytes=settings.max_bytes,
                isolation_level=1 if settings.read_committed else 0,
                topics=[
                    FetchTopic(topic_id=view.topic_id(name), partitions=partitions)
                    if version >= 13
                    else FetchTopic(topic=name, partitions=partitions)
                    for name, partitions in topics.items()
                ],
            )

        return Call(
            leader,
            Versioned(FetchRequest.API_KEY, build),
            version_max=FetchRequest.MAX_VERSION if by_id else 12,
            timeout_ms=max_wait_ms + 30_000,
        )

    def _take(self, tp: TopicPartition, data: PartitionData) -> ClientSteps[list[ConsumedRecord]]:
        """One partition's part of a response: moves its position and gives its records."""
        if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            if self._settings.reset is None:
                raise ServerError(
                    data.error_code,
                    f"offset {self._positions[tp]} lies outside the log (deleted, or not written yet)",
                    subject=str(tp),
                )
            yield from self.seek_by_time({tp: self._settings.reset})
            return []
        if data.error_code:
            raise ServerError(data.error_code, subject=str(tp))
        records = self._decode(tp, data)
        self._ends[tp] = data.last_stable_offset if self._settings.read_committed else data.high_watermark
        if records:  # so that another partition is first in line next time
            self._positions[tp] = self._positions.pop(tp)
        return records

    def _decode(self, tp: TopicPartition, data: PartitionData) -> list[ConsumedRecord]:
        buffer = data.records
        if not buffer:
            return []
        found: list[ConsumedRecord] = []
        position = self._positions[tp]
        aborted = sorted(
            ((txn.first_offset, txn.producer_id) for txn in data.aborted_transactions or ()), reverse=True
        )
        aborting: set[int] = set()
        whole_batches = 0
        try:
            for at, header in iter_headers(buffer, 0, len(buffer)):
                whole_batches += 1
                while aborted and aborted[-1][0] <= header.last_offset:
                    aborting.add(aborted.pop()[1])
                if header.is_control:
                    if header.producer_id in aborting and self._ends_aborted(buffer, at):
                        aborting.discard(header.producer_id)
                elif header.is_transactional and header.producer_id in aborting:
                    pass
                elif header.last_offset >= position:
                    for record in decode_batch(
                        buffer, at, decompressed_bytes_max=DECOMPRESSED_BATCH_BYTES_MAX
                    ):
                        if record.offset >= position:
                            found.append(
                                ConsumedRecord(
                                    tp.topic,
                                    tp.partition,
                                    record.offset,
                                    record.timestamp,
                                    header.timestamp_type,
                                    record.key,
                                    record.value,
                                    record.headers,
                                    header.leader_epoch,
                                )
                            )
                position = max(position, header.next_offset)
        except (CorruptBatch, InvalidRecord, UnsupportedCodec) as error:
            raise ProtocolError(f"{tp} at offset {position}: the batch cannot be read: {error}") from error
        if not whole_batches:
            raise ProtocolError(f"{tp} at offset {position}: the broker sent only a part of a batch")
        self._positions[tp] = position
        return found

    @staticmethod
    def _ends_aborted(buffer: memoryview, at: int) -> bool:
        markers = decode_batch(buffer, at, decompressed_bytes_max=DECOMPRESSED_BATCH_BYTES_MAX)
        return bool(markers) and control_type(markers[0].key) == ControlType.ABORT
