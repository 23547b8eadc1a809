"""The offsets of one shard: the one door to committing, fetching, deleting and expiring them.

Decisions read the store and return records; only `replay` changes it, whether the record was decided just
now or comes from the log at start. A commit without a generation to an unknown group makes a group too, one
that only holds offsets: also that happens in `replay`, through the `new_group` that the classic groups offer.

Offsets of a transaction are in `pending` until `end_transaction`, which is to a marker what `replay` is to a
record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ottla.coordination.outcome import Job, Outcome
from ottla.coordination.promise import Promise
from ottla.coordination.record import CoordinatorRecord
from ottla.groups.group import Client, Group
from ottla.groups.offsets.commit import decide_commit
from ottla.groups.offsets.delete import decide_delete
from ottla.groups.offsets.expiry import expired, of_deleted_topics, of_missing_topics
from ottla.groups.offsets.fetch import fetch_group, pieces
from ottla.groups.offsets.pending import PendingOffsets
from ottla.groups.offsets.record import offset_tombstone
from ottla.groups.offsets.store import Committed, OffsetStore
from ottla.groups.offsets.txn_commit import decide_txn_commit
from ottla.groups.shard_state import ShardState
from ottla.wire.messages.consumer_offsets import OffsetCommitValue
from ottla.wire.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from ottla.wire.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from ottla.wire.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchResponseGroup
from ottla.wire.messages.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse
from ottla.wire.primitives import ZERO_UUID


class Offsets:
    __slots__ = ("store", "pending", "_state", "_new_group", "_expiry")

    def __init__(self, state: ShardState, new_group: Callable[[str], Group]) -> None:
        """`new_group` makes an empty group for offsets alone and puts it among the state's groups."""
        self.store = OffsetStore()
        self.pending = PendingOffsets()
        self._state = state
        self._new_group = new_group
        self._expiry: Iterator[Outcome] | None = None

    def commit(
        self, request: OffsetCommitRequest, client: Client, promise: Promise[OffsetCommitResponse]
    ) -> Outcome:
        """Cut large requests with `commit.chunks` first. Errors are in the response, by partition."""
        return decide_commit(self._state, request, client, promise)

    def commit_in_transaction(
        self, request: TxnOffsetCommitRequest, client: Client, promise: Promise[TxnOffsetCommitResponse]
    ) -> Outcome:
        """Cut large requests with `txn_commit.chunks` first. Errors are in the response, by partition."""
        return decide_txn_commit(self._state, request, client, promise)

    def fetch(
        self, asked: OffsetFetchRequestGroup, api_version: int, *, require_stable: bool = False
    ) -> OffsetFetchResponseGroup:
        """`fetch.groups_of` and `fetch.response_of` are for the versions with a single group."""
        unstable = self.pending if require_stable else None
        return fetch_group(self._state, self.store, unstable, asked, api_version)

    def fetch_pieces(
        self, asked: OffsetFetchRequestGroup, api_version: int, partitions_max: int
    ) -> list[OffsetFetchRequestGroup]:
        """The question as several; `fetch.merge` puts their answers together."""
        return pieces(self._state, self.store, asked, api_version, partitions_max)

    def delete(self, request: OffsetDeleteRequest, promise: Promise[OffsetDeleteResponse]) -> Outcome:
        """Raises the KafkaError that refuses the whole request."""
        return decide_delete(self._state, self.store, self.pending, request, promise)

    def tombstones_of(self, group_id: str) -> Iterator[CoordinatorRecord]:
        """The tombstones of all offsets of a group, for who deletes the group. Those of open transactions go,
        too, and will not come back with a marker.
        """
        for topic, partitions in self.store.of_group(group_id).items():
            for partition in partitions:
                yield offset_tombstone(group_id, topic, partition)
        for topic in self.pending.topics_of(group_id):
            for partition in self.pending.partitions_of(group_id, topic):
                if self.store.get(group_id, topic, partition) is None:
                    yield offset_tombstone(group_id, topic, partition)

    def expire(self) -> tuple[Outcome, bool]:
        """The next slice of a round of expiry, and whether the round goes on: then carry the outcome out and
        call again in another turn. After the end of a round a call begins the next one.
        """
        if self._expiry is None:
            self._expiry = expired(self._state, self.store, self.pending)
        outcome = next(self._expiry, None)
        if outcome is None:
            self._expiry = None
            return Outcome(), False
        return outcome, True

    def topics_deleted(self, deleted: Iterable[tuple[str, bytes]]) -> Outcome:
        """Topics that are gone, by name and id. What does not fit in this turn is a job of the outcome."""
        deleted = list(deleted)
        if not deleted:
            return Outcome()
        for _, topic_id in deleted:
            self.store.forget_topic_id(topic_id)
        walk = of_deleted_topics(self._state, self.store, self.pending, deleted)
        return _slice_of(walk)

    def loaded(self) -> Outcome:
        """Offsets of topics that are gone go, too. The view of the topics is as new as every commit here:
        the node that wrote both is the one that reads them.
        """
        return _slice_of(of_missing_topics(self._state, self.store, self.pending))

    def replay(self, record: CoordinatorRecord, offset: int, producer_id: int) -> None:
        """An OffsetCommit record, of the present or of the oldest key, or its tombstone, at this offset of
        the log; `producer_id` is -1 unless it is part of a transaction.
        """
        key = record.key
        value = record.value
        group_id = key.group
        if value is None:
            self.store.remove(group_id, key.topic, key.partition)
            if self.pending:
                self.pending.remove((group_id, key.topic, key.partition))
            return
        if group_id not in self._state.groups:
            self._new_group(group_id)
        if isinstance(value, OffsetCommitValue):
            committed: Committed = (
                value.offset,
                value.leader_epoch,
                value.metadata,
                value.commit_timestamp,
                value.expire_timestamp,
                value.topic_id,
            )
        else:
            committed = (value.offset, -1, value.metadata, value.commit_timestamp, -1, ZERO_UUID)
        if producer_id >= 0:
            self.pending.put(producer_id, (group_id, key.topic, key.partition), offset, committed)
            return
        self.store.put(group_id, key.topic, key.partition, committed)
        if self.pending:
            self.pending.overtaken((group_id, key.topic, key.partition), offset)

    def end_transaction(self, producer_id: int, committed: bool) -> None:
        """A marker: what the producer's transaction committed counts from now on, or never."""
        for (group_id, topic, partition), value in self.pending.end(producer_id, committed):
            if group_id not in self._state.groups:
                self._new_group(group_id)
            self.store.put(group_id, topic, partition, value)


def _slice_of(walk: Iterator[Outcome]) -> Outcome:
    """The next outcome of a walk; it brings the rest of the walk with it, as a job."""
    outcome = next(walk, None)
    if outcome is None:
        return Outcome()
    outcome.jobs.append(_rest_of(walk))
    return outcome


def _rest_of(walk: Iterator[Outcome]) -> Job:
    yield  # another turn
    return _slice_of(walk)
