"""Offsets that nobody needs any more: expired ones, and those of deleted topics.

A shard may hold hundreds of thousands, so both walks go in slices. A walk is a generator of outcomes; its
caller carries each out before it asks for the next, and others get their turn in between. Whatever is due is
decided on the state of its own slice.

An offset expires `offsets.retention.minutes` after the moment that its group names (when it became empty, or
the commit itself), or when the retention that an old client asked for has passed; never while somebody in
the group reads the topic. An empty group that has no offsets left goes with its last one.

A tombstone takes away what open transactions have committed for its partition, too. So nothing expires where
a transaction is open, and a group that waits for one stays; offsets of deleted topics go with all of theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ottla.coordination.outcome import Outcome
from ottla.groups.offsets.pending import PendingOffsets
from ottla.groups.offsets.record import offset_tombstone
from ottla.groups.offsets.store import NO_EXPIRY, Committed, OffsetStore
from ottla.groups.shard_state import ShardState
from ottla.wire.primitives import ZERO_UUID

SLICE_VISITS_MAX: Final = 1_000
"""Offsets and groups that a slice looks at: about half a millisecond."""

SLICE_TOMBSTONES_MAX: Final = 200
"""Records of a slice (a group's own may come on top): to write and replay them takes a millisecond."""


class _Slice:
    """What one turn has done so far."""

    __slots__ = ("outcome", "visits", "group_tombstones")

    def __init__(self) -> None:
        self.outcome = Outcome()
        self.visits = 0
        self.group_tombstones = 0
        """Of the group that is being looked at: offsets that are in the store only until the replay."""

    @property
    def is_full(self) -> bool:
        return self.visits >= SLICE_VISITS_MAX or len(self.outcome.records) >= SLICE_TOMBSTONES_MAX

    def take(self) -> Outcome:
        outcome = self.outcome
        self.outcome = Outcome()
        self.visits = 0
        self.group_tombstones = 0
        return outcome


def expired(state: ShardState, store: OffsetStore, pending: PendingOffsets) -> Iterator[Outcome]:
    """One round over all groups: tombstones of what has expired, and of groups that are over."""
    piece = _Slice()
    for group_id in list(state.groups):
        if piece.is_full:
            yield piece.take()
        piece.visits += 1
        piece.group_tombstones = 0
        for topic in list(store.of_group(group_id)):
            indexes = list(store.of_group(group_id).get(topic, ()))
            done = 0
            while done < len(indexes):
                if piece.is_full:
                    yield piece.take()
                done += _expire_some(state, store, pending, group_id, topic, indexes, done, piece)
        group = state.groups.get(group_id)
        if (
            group is not None
            and group.is_empty
            and store.count(group_id) == piece.group_tombstones
            and group_id not in pending
        ):
            piece.outcome.records += group.tombstones()
    if piece.outcome.records:
        yield piece.take()


def _expire_some(
    state: ShardState,
    store: OffsetStore,
    pending: PendingOffsets,
    group_id: str,
    topic: str,
    indexes: list[int],
    begin: int,
    piece: _Slice,
) -> int:
    """Adds what is due of the topic's partitions from `begin` to the slice until it is full; returns how many
    partitions are done.
    """
    group = state.groups.get(group_id)
    partitions = store.of_group(group_id).get(topic)
    # Those of a deleted topic were taken away with it, unless that could not be written.
    is_gone = state.env.topics.topic(topic) is None
    if group is None or partitions is None or (group.is_subscribed_to(topic) and not is_gone):
        piece.visits += 1
        return len(indexes) - begin
    now_ms = state.env.clock.now_ms()
    retention_ms = state.env.settings.offsets_retention_ms
    records = piece.outcome.records
    room = min(SLICE_VISITS_MAX - piece.visits, SLICE_TOMBSTONES_MAX - len(records))
    some = indexes[begin : begin + room]
    for index in some:
        committed = partitions.get(index)
        if committed is None:
            continue
        _, _, _, commit_ms, expire_ms, _ = committed
        from_ms = group.expires_from_ms(commit_ms)
        if is_gone:
            is_due = True
        elif from_ms is None or pending.is_open(group_id, topic, index):
            is_due = False
        elif expire_ms != NO_EXPIRY:
            is_due = now_ms >= expire_ms
        else:
            is_due = now_ms - from_ms >= retention_ms
        if is_due:
            records.append(offset_tombstone(group_id, topic, index))
            piece.group_tombstones += 1
    piece.visits += len(some)
    return len(some)


def of_missing_topics(state: ShardState, store: OffsetStore, pending: PendingOffsets) -> Iterator[Outcome]:
    """Tombstones for the offsets of topics that are not there, or are others of the same name by now: a walk
    over those of a deleted topic may have been cut short by the end of the process.
    """
    topics = state.env.topics
    piece = _Slice()
    for group_id in _group_ids(store, pending):
        for topic in _topics_of(store, pending, group_id):
            if piece.is_full:
                yield piece.take()
            piece.visits += 1
            facts = topics.topic(topic)
            ids = () if facts is None else (ZERO_UUID, facts.topic_id)
            for index in _partitions_of(store, pending, group_id, topic):
                if piece.is_full:
                    yield piece.take()
                piece.visits += 1
                found = _offsets_for(store, pending, group_id, topic, index)
                if found and not any(each[5] in ids for each in found):
                    piece.outcome.records.append(offset_tombstone(group_id, topic, index))
    if piece.outcome.records:
        yield piece.take()


def of_deleted_topics(
    state: ShardState, store: OffsetStore, pending: PendingOffsets, deleted: Iterable[tuple[str, bytes]]
) -> Iterator[Outcome]:
    """Tombstones for the offsets of topics that are gone, given by name and id.

    A topic may have been made anew under the same name by now: its offsets carry another id, or, where they
    were committed by name, a later time. Where a transaction has committed such a one, the old one stays: a
    tombstone would take away both.
    """
    topics: dict[str, set[bytes]] = {}
    for name, topic_id in deleted:
        topics.setdefault(name, set()).add(topic_id)
    deleted_ms = state.env.clock.now_ms()
    piece = _Slice()
    for group_id in _group_ids(store, pending):
        if piece.is_full:
            yield piece.take()
        piece.visits += 1
        mine = store.of_group(group_id)
        few = len(topics) < len(mine) or group_id in pending
        for topic in topics if few else list(mine):
            gone_ids = topics.get(topic)
            if gone_ids is None:
                continue
            for index in _partitions_of(store, pending, group_id, topic):
                if piece.is_full:
                    yield piece.take()
                piece.visits += 1
                found = _offsets_for(store, pending, group_id, topic, index)
                if found and all(
                    topic_id in gone_ids or (topic_id == ZERO_UUID and commit_ms <= deleted_ms)
                    for _, _, _, commit_ms, _, topic_id in found
                ):
                    piece.outcome.records.append(offset_tombstone(group_id, topic, index))
    if piece.outcome.records:
        yield piece.take()


# --- committed and pending offsets together -----------------------------------------------------------------


def _group_ids(store: OffsetStore, pending: PendingOffsets) -> list[str]:
    found = list(store.group_ids())
    return found + [each for each in pending.group_ids() if each not in store]


def _topics_of(store: OffsetStore, pending: PendingOffsets, group_id: str) -> list[str]:
    mine = store.of_group(group_id)
    return [*mine, *(each for each in pending.topics_of(group_id) if each not in mine)]


def _partitions_of(store: OffsetStore, pending: PendingOffsets, group_id: str, topic: str) -> list[int]:
    mine = store.of_group(group_id).get(topic, {})
    return [*mine, *(each for each in pending.partitions_of(group_id, topic) if each not in mine)]


def _offsets_for(
    store: OffsetStore, pending: PendingOffsets, group_id: str, topic: str, partition: int
) -> list[Committed]:
    found = pending.offsets_for(group_id, topic, partition) if pending else []
    committed = store.get(group_id, topic, partition)
    if committed is not None:
        found.append(committed)
    return found
