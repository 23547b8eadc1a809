"""A shard with offsets in a world that a test controls: time, topics, and groups that say what they are told.

`Ward` is a group with no protocol of its own. `World.run` carries an outcome out as the coordinator's shell
does: the records go through their bytes into a log, are replayed, and answers are completed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from random import Random
from typing import Final, TypeAlias

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.coordination.record import CoordinatorRecord
from ottla.groups.environment import Environment
from ottla.groups.group import CLASSIC, Client
from ottla.groups.offsets.commit import refusal as commit_refusal
from ottla.groups.offsets.delete import refusal as delete_refusal
from ottla.groups.offsets.offsets import Offsets
from ottla.groups.offsets.txn_commit import refusal as txn_commit_refusal
from ottla.groups.record import decode_record
from ottla.groups.settings import GroupSettings
from ottla.groups.shard_state import ShardState
from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.topic_view import TopicFacts
from ottla.wire.messages.consumer_offsets import GroupMetadataKey
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from ottla.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

BEGIN_MS = 1_700_000_000_000
RETENTION_MS = 60_000

Entry: TypeAlias = tuple[bytes, bytes | None, int]
"""Of the log: key, value, and the producer whose transaction it is part of (-1: none)."""
MARKER: Final = b"marker"
"""The key of an entry that ends a producer's transaction."""


def topic_id_of(number: int) -> bytes:
    return number.to_bytes(16, "big")


class ManualClock:
    def __init__(self) -> None:
        self.wall_ms = BEGIN_MS
        self.since_boot_ms = 5_000.0

    def now_ms(self) -> int:
        return self.wall_ms

    def monotonic_ms(self) -> float:
        return self.since_boot_ms

    def advance(self, by_ms: int) -> None:
        self.wall_ms += by_ms
        self.since_boot_ms += by_ms


class Topics:
    """A view of topics, given as (name, id, partition count)."""

    def __init__(self, *topics: tuple[str, bytes, int]) -> None:
        self._by_name = {name: TopicFacts(name, topic_id, count) for name, topic_id, count in topics}
        self._by_id = {each.topic_id: each for each in self._by_name.values()}

    @property
    def version(self) -> int:
        return 1

    def topic(self, name: str) -> TopicFacts | None:
        return self._by_name.get(name)

    def topic_by_id(self, topic_id: bytes) -> TopicFacts | None:
        return self._by_id.get(topic_id)

    def names(self) -> Iterable[str]:
        return self._by_name

    def racks(self, name: str) -> tuple[frozenset[str], ...]:
        return ()


class Ward:
    """A group that accepts everything unless it was told otherwise, and notes what it was asked."""

    def __init__(self, group_id: str, *, type: str = CLASSIC) -> None:
        self.group_id = group_id
        self.type = type
        self.protocol_type = ""
        self.state_name = "Empty"
        self.is_empty = True
        self.subscribed: set[str] = set()
        self.commit_error: ErrorCode | None = None
        self.fetch_error: ErrorCode | None = None
        self.offset_delete_error: ErrorCode | None = None
        self.delete_error: ErrorCode | None = None
        self.session_ms: int | None = None
        self.may_expire = True
        self.empty_since_ms: int | None = None
        self.asked: list[tuple[object, ...]] = []

    def check_offset_commit(
        self, member_id: str, instance_id: str | None, generation: int, api_version: int, *, is_txn: bool
    ) -> None:
        self.asked.append((member_id, instance_id, generation, api_version, is_txn))
        self._raise(self.commit_error)

    def session_after_commit_ms(self, member_id: str) -> int | None:
        return self.session_ms

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        self.asked.append((member_id, member_epoch))
        self._raise(self.fetch_error)

    def check_offset_delete(self) -> None:
        self._raise(self.offset_delete_error)

    def check_delete(self) -> None:
        self._raise(self.delete_error)

    def tombstones(self) -> list[CoordinatorRecord]:
        return [CoordinatorRecord(GroupMetadataKey(group=self.group_id), None)]

    def is_subscribed_to(self, topic: str) -> bool:
        return topic in self.subscribed

    def expires_from_ms(self, commit_timestamp_ms: int) -> int | None:
        if not self.may_expire:
            return None
        return max(commit_timestamp_ms, self.empty_since_ms or 0)

    @staticmethod
    def _raise(code: ErrorCode | None) -> None:
        if code is not None:
            raise KafkaError(code)


class World:
    def __init__(self, *, retention_ms: int = RETENTION_MS, metadata_max: int = 4_096) -> None:
        self.clock = ManualClock()
        self.topics = Topics(("orders", topic_id_of(1), 4), ("clicks", topic_id_of(2), 2))
        settings = GroupSettings(offsets_retention_ms=retention_ms, offset_metadata_max_bytes=metadata_max)
        self.state = ShardState(Environment(self.clock, Random(1), self.topics, settings))
        self.offsets = Offsets(self.state, self.new_group)
        self.log: list[Entry] = []

    def new_group(self, group_id: str) -> Ward:
        group = self.state.groups[group_id] = Ward(group_id)
        return group

    def set_topics(self, *topics: tuple[str, bytes, int]) -> None:
        self.state.env.topics = self.topics = Topics(*topics)

    # --- the shell ----------------------------------------------------------------------------------------

    def run(self, outcome: Outcome) -> None:
        assert not outcome.replayed and not outcome.soft_changed
        producer_id = -1 if outcome.producer is None else outcome.producer[0]
        for record in outcome.records:
            self.log.append((record.key_bytes(), record.value_bytes(), producer_id))
            self.replay(record, len(self.log) - 1, producer_id)
        for promise, response in outcome.answers:
            promise.complete(response)
        for job in outcome.jobs:
            try:
                while True:
                    next(job)
            except StopIteration as stop:
                self.run(stop.value)

    def replay(self, record: CoordinatorRecord, offset: int | None = None, producer_id: int = -1) -> None:
        """At the end of the log, unless the offset is given."""
        if isinstance(record.key, GroupMetadataKey):
            assert record.value is None
            self.state.groups.pop(record.key.group, None)
        else:
            self.offsets.replay(record, len(self.log) if offset is None else offset, producer_id)

    def end(self, producer_id: int, *, committed: bool) -> None:
        """The marker that ends a producer's transaction."""
        self.log.append((MARKER, b"commit" if committed else b"abort", producer_id))
        self.offsets.end_transaction(producer_id, committed)

    def reloaded(self, *, without: Collection[int] = ()) -> World:
        """Another world that knows nothing but the log of this one, perhaps less some of its records."""
        other = World()
        for offset, (key, value, producer_id) in enumerate(self.log):
            if offset in without:
                continue
            if key == MARKER:
                other.offsets.end_transaction(producer_id, value == b"commit")
                continue
            record = decode_record(key, value)
            assert record is not None
            other.replay(record, offset, producer_id)
        return other

    # --- requests -----------------------------------------------------------------------------------------

    def commit_outcome(
        self, request: OffsetCommitRequest, *, version: int = 9
    ) -> tuple[Outcome, OffsetCommitResponse]:
        promise: Promise[OffsetCommitResponse] = Promise(lambda error: commit_refusal(request, error))
        outcome = self.offsets.commit(request, Client("c", "/127.0.0.1", version), promise)
        ((answered, response),) = outcome.answers
        assert answered is promise
        return outcome, response

    def commit(self, request: OffsetCommitRequest, *, version: int = 9) -> list[tuple[str, int, int]]:
        """Commits, and gives (topic, partition, error code) in the order of the response."""
        outcome, response = self.commit_outcome(request, version=version)
        self.run(outcome)
        return errors_of(response)

    def txn_commit_outcome(
        self, request: TxnOffsetCommitRequest, *, version: int = 5
    ) -> tuple[Outcome, list[tuple[str, int, int]]]:
        promise: Promise[TxnOffsetCommitResponse] = Promise(lambda error: txn_commit_refusal(request, error))
        outcome = self.offsets.commit_in_transaction(request, Client("c", "/127.0.0.1", version), promise)
        ((answered, response),) = outcome.answers
        assert answered is promise
        return outcome, [
            (topic.name, each.partition_index, each.error_code)
            for topic in response.topics
            for each in topic.partitions
        ]

    def txn_commit(self, request: TxnOffsetCommitRequest, *, version: int = 5) -> list[tuple[str, int, int]]:
        outcome, errors = self.txn_commit_outcome(request, version=version)
        self.run(outcome)
        return errors

    def txn_put(self, producer_id: int, group_id: str, topic: str, partition: int, offset: int) -> None:
        """A transactional commit that has to be accepted."""
        request = txn_commit_of(producer_id, group_id, (topic, partition, offset))
        assert self.txn_commit(request) == [(topic, partition, 0)]

    def put(self, group_id: str, topic: str, partition: int, offset: int) -> None:
        """A simple commit that has to succeed."""
        assert self.commit(commit_of(group_id, (topic, partition, offset))) == [(topic, partition, 0)]

    def offset(self, group_id: str, topic: str, partition: int) -> int | None:
        committed = self.offsets.store.get(group_id, topic, partition)
        return None if committed is None else committed[0]

    def delete(self, request: OffsetDeleteRequest) -> OffsetDeleteResponse:
        promise: Promise[OffsetDeleteResponse] = Promise(delete_refusal)
        try:
            self.run(self.offsets.delete(request, promise))
        except KafkaError as error:
            promise.refuse(error)
        assert promise.response is not None
        return promise.response

    def expire(self) -> int:
        """A whole round of expiry; how many slices it took."""
        slices = 0
        while True:
            outcome, more = self.offsets.expire()
            self.run(outcome)
            if not more:
                return slices
            slices += 1


def commit_of(
    group_id: str,
    *offsets: tuple[str, int, int],
    member_id: str = "",
    generation: int = -1,
    retention_time_ms: int = -1,
    metadata: str | None = None,
    leader_epoch: int = -1,
    instance_id: str | None = None,
) -> OffsetCommitRequest:
    """A request that names topics, one entry for each offset."""
    return OffsetCommitRequest(
        group_id=group_id,
        member_id=member_id,
        generation_id_or_member_epoch=generation,
        retention_time_ms=retention_time_ms,
        group_instance_id=instance_id,
        topics=[
            OffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=partition,
                        committed_offset=offset,
                        committed_leader_epoch=leader_epoch,
                        committed_metadata=metadata,
                    )
                ],
            )
            for topic, partition, offset in offsets
        ],
    )


def txn_commit_of(
    producer_id: int,
    group_id: str,
    *offsets: tuple[str, int, int],
    member_id: str = "",
    generation: int = -1,
    instance_id: str | None = None,
    metadata: str | None = None,
    leader_epoch: int = -1,
    epoch: int = 0,
) -> TxnOffsetCommitRequest:
    return TxnOffsetCommitRequest(
        transactional_id="t",
        group_id=group_id,
        producer_id=producer_id,
        producer_epoch=epoch,
        generation_id=generation,
        member_id=member_id,
        group_instance_id=instance_id,
        topics=[
            TxnOffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    TxnOffsetCommitRequestPartition(
                        partition_index=partition,
                        committed_offset=offset,
                        committed_leader_epoch=leader_epoch,
                        committed_metadata=metadata,
                    )
                ],
            )
            for topic, partition, offset in offsets
        ],
    )


def commit_by_id(group_id: str, topic_id: bytes, partition: int, offset: int) -> OffsetCommitRequest:
    request = commit_of(group_id, ("", partition, offset))
    request.topics[0].topic_id = topic_id
    return request


def errors_of(response: OffsetCommitResponse) -> list[tuple[str, int, int]]:
    return [
        (topic.name, each.partition_index, each.error_code)
        for topic in response.topics
        for each in topic.partitions
    ]


def delete_of(group_id: str, *partitions: tuple[str, int]) -> OffsetDeleteRequest:
    return OffsetDeleteRequest(
        group_id=group_id,
        topics=[
            OffsetDeleteRequestTopic(
                name=topic, partitions=[OffsetDeleteRequestPartition(partition_index=partition)]
            )
            for topic, partition in partitions
        ],
    )
