"""Offsets that nobody needs any more: expired ones, and those of deleted topics.

A shard may hold hundreds of thousands, so both walks go in slices. A walk is a generator of outcomes; its
caller carries each out before it asks for the next, and others get their turn in between. Whatever is due is
decided on the state of its own slice.

An offset expires `offsets.retention.minutes` after the moment that its group names (when it became empty, or
the commit itself), or when the retention that an old client asked for has passed; never while somebody in
the group reads the topic. An empty group that has no offsets left goes with its last one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ottla.coordination.outcome import Outcome
from ottla.groups.offsets.record import offset_tombstone
from ottla.groups.offsets.store import NO_EXPIRY, OffsetStore
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


def expired(state: ShardState, store: OffsetStore) -> Iterator[Outcome]:
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
                done += _expire_some(state, store, group_id, topic, indexes, done, piece)
        group = state.groups.get(group_id)
        if group is not None and group.is_empty and store.count(group_id) == piece.group_tombstones:
            piece.outcome.records += group.tombstones()
    if piece.outcome.records:
        yield piece.take()


def _expire_some(
    state: ShardState,
    store: OffsetStore,
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
        elif from_ms is None:
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


def of_missing_topics(state: ShardState, store: OffsetStore) -> Iterator[Outcome]:
    """Tombstones for the offsets of topics that are not there, or are others of the same name by now: a walk
    over those of a deleted topic may have been cut short by the end of the process.
    """
    topics = state.env.topics
    piece = _Slice()
    for group_id in list(store.group_ids()):
        for topic in list(store.of_group(group_id)):
            if piece.is_full:
                yield piece.take()
            piece.visits += 1
            facts = topics.topic(topic)
            ids = () if facts is None else (ZERO_UUID, facts.topic_id)
            for index in list(store.of_group(group_id).get(topic, ())):
                if piece.is_full:
                    yield piece.take()
                piece.visits += 1
                committed = store.get(group_id, topic, index)
                if committed is not None and committed[5] not in ids:
                    piece.outcome.records.append(offset_tombstone(group_id, topic, index))
    if piece.outcome.records:
        yield piece.take()


def of_deleted_topics(
    state: ShardState, store: OffsetStore, deleted: Iterable[tuple[str, bytes]]
) -> Iterator[Outcome]:
    """Tombstones for the offsets of topics that are gone, given by name and id.

    A topic may have been made anew under the same name by now: its offsets carry another id, or, where they
    were committed by name, a later time.
    """
    topics: dict[str, set[bytes]] = {}
    for name, topic_id in deleted:
        topics.setdefault(name, set()).add(topic_id)
    deleted_ms = state.env.clock.now_ms()
    piece = _Slice()
    for group_id in list(store.group_ids()):
        if piece.is_full:
            yield piece.take()
        piece.visits += 1
        mine = store.of_group(group_id)
        for topic in topics if len(topics) < len(mine) else list(mine):
            gone_ids = topics.get(topic)
            if gone_ids is None:
                continue
            for index in list(store.of_group(group_id).get(topic, ())):
                if piece.is_full:
                    yield piece.take()
                piece.visits += 1
                committed = store.get(group_id, topic, index)
                if committed is None:
                    continue
                _, _, _, commit_ms, _, committed_id = committed
                if committed_id in gone_ids or (committed_id == ZERO_UUID and commit_ms <= deleted_ms):
                    piece.outcome.records.append(offset_tombstone(group_id, topic, index))
    if piece.outcome.records:
        yield piece.take()
